"""Pictures of every page of ``gnrs serve`` and of the report, light, dark and on a phone, from the real
server and a real browser: ``PYTHONPATH=tests python tools/serve_pictures.py docs/pictures [NAME …]``.

They are looked at before they are committed.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, sync_playwright
from served import entrance, on_a_port
from walk import LOOKS, PAGES, REPORT, TAKEN, at_work, everything, to_page

from gnrs_ppl.report.rule_page import write_report

COLOURS = 256
"""Of a picture, enough for text and bars as they look; a file is then a third as large."""


def take(browser: Browser, address: str, report: Path, folder: Path, names: list[str]) -> None:
    """Every picture of the pages named, into a folder."""
    pages = {f"serve-{name}": page for name, page in PAGES.items()}
    pages |= {name: page._replace(path=report.as_uri()) for name, page in REPORT.items()}
    for look in TAKEN:
        opened = browser.new_context(**LOOKS[look], reduced_motion="reduce")
        tab = opened.new_page()
        tab.goto(entrance(address))
        for name, page in pages.items():
            if names and name not in names:
                continue
            to_page(tab, address, page)
            save(tab, page.head, folder / f"{name}-{look}.png")
        opened.close()


def save(tab: Any, head: str, path: Path) -> None:
    """What a window shows from a part of the page on, in few colours."""
    tab.locator(head).first.evaluate("one => one.scrollIntoView({ behavior: 'instant', block: 'start' })")
    picture = Image.open(BytesIO(tab.screenshot())).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> None:
    """Serve a folder in which everything was done, and take the pictures."""
    with tempfile.TemporaryDirectory() as place:
        folder = everything(Path(place) / "office", "--chains", "64")
        report = write_report(folder / "rule", Path(place) / "report.html")
        with on_a_port(folder) as (address, site), sync_playwright() as playwright:
            at_work(site)
            found = shutil.which("chromium") or shutil.which("chromium-browser")
            browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
            take(browser, address, report, Path(sys.argv[1]), sys.argv[2:])
            browser.close()


if __name__ == "__main__":
    main()
