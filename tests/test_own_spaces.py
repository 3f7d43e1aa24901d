"""The blocks of docs/own-spaces.md run as printed, one after the other."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "own-spaces.md"


def test_the_blocks_of_the_page_run() -> None:
    text = PAGE.read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == text.count("\n## ")
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile("\n" * text[: text.index(block)].count("\n") + block, PAGE.name, "exec"), names)
