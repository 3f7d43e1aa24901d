"""Two ways to work in a page: by mouse, and by keyboard alone, where the focus must be seen wherever it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class Mouse:
    """Somebody who clicks."""

    def __init__(self, tab: Any) -> None:
        self.tab = tab

    def press(self, there: Any) -> None:
        there.click()

    def write(self, there: Any, text: str) -> None:
        there.fill(text)

    def choose(self, there: Any, value: str) -> None:
        there.select_option(value)

    def hand_in(self, there: Any, path: Path) -> None:
        """A file, by the browser's own dialog."""
        with self.tab.expect_file_chooser() as chooser:
            self.press(there)
        chooser.value.set_files(str(path))


class Keyboard(Mouse):
    """Somebody who has Tab, Enter, the arrows and letters."""

    MOST = 600
    """Tabs to any place of a page."""

    def to(self, there: Any) -> None:
        """Move the focus there, and see it."""
        there.first.wait_for()
        wanted = there.first.element_handle()
        back = wanted.evaluate(
            "one => !!(document.activeElement.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_PRECEDING)"
        )
        for _ in range(self.MOST):
            if wanted.evaluate("one => one === document.activeElement"):
                seen = wanted.evaluate(
                    "one => { const style = getComputedStyle(one); "
                    "return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 }"
                )
                assert seen, f"the focus on {there} is not seen"
                return
            self.tab.keyboard.press("Shift+Tab" if back else "Tab")
        raise AssertionError(f"Tab never came to {there}")

    def press(self, there: Any) -> None:
        self.to(there)
        self.tab.keyboard.press("Enter")

    def write(self, there: Any, text: str) -> None:
        self.to(there)
        self.tab.keyboard.press("Control+A")
        self.tab.keyboard.type(text)

    def choose(self, there: Any, value: str) -> None:
        self.to(there)
        values = there.evaluate("one => [...one.options].map(option => option.value)")
        steps = values.index(value) - there.evaluate("one => one.selectedIndex")
        for _ in range(abs(steps)):
            self.tab.keyboard.press("ArrowDown" if steps > 0 else "ArrowUp")
        assert there.input_value() == value
