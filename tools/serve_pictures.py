"""Pictures of the pages of ``gnrs serve``, from the real server and a real browser: ``PYTHONPATH=tests python
tools/serve_pictures.py docs/pictures``. They are looked at before they are committed.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright
from served import KEY, on_a_port, running, worked_in

DESKTOP, PHONE = (1000, 640), (360, 740)
PICTURES = (
    ("serve-job", "/jobs/9", DESKTOP, "light", "#job"),
    ("serve-draft", "/rule?of=rule/draft.json", DESKTOP, "light", "#graph"),
    ("serve-ask", "/asked?job=1", DESKTOP, "light", "section:has(.moment)"),
    ("serve-verdicts", "/verdicts?of=rule/audit.json&verdict=violated", DESKTOP, "dark", "#main"),
    ("serve-compare", "/compared?job=2", DESKTOP, "dark", "#main"),
    ("serve-job-phone", "/jobs/9", PHONE, "dark", "#chains"),
    ("serve-verdicts-phone", "/verdicts?of=rule/audit.json&verdict=violated", PHONE, "light", "form"),
)
"""Name of the file, address, size, colours, and what stands at the head."""


def take(browser: Browser, address: str, folder: Path) -> None:
    """Every picture, into a folder."""
    for name, path, (width, height), colours, head in PICTURES:
        opened = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if colours == "dark" else "light",
            reduced_motion="reduce",
        )
        tab = opened.new_page()
        tab.goto(f"{address}/?key={KEY}")
        tab.goto(address + path)
        if "/jobs/" in path:
            tab.wait_for_selector("#chains .shares")
        else:
            tab.wait_for_load_state("networkidle")
        tab.evaluate(
            "document.querySelectorAll('.graph details, form > details').forEach((one, n) => "
            "{ one.open = n == 0 })"
        )
        tab.locator(head).first.evaluate("one => one.scrollIntoView({ behavior: 'instant', block: 'start' })")
        tab.screenshot(path=folder / f"{name}.png")
        opened.close()


def main() -> None:
    """Serve a folder in which everything was done, and take the pictures."""
    with (
        tempfile.TemporaryDirectory() as place,
        on_a_port(worked_in(Path(place) / "office", "--chains", "64")) as (address, site),
    ):
        running(site)
        with sync_playwright() as playwright:
            found = shutil.which("chromium") or shutil.which("chromium-browser")
            browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
            take(browser, address, Path(sys.argv[1]))
            browser.close()


if __name__ == "__main__":
    main()
