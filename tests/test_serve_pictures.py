"""The pictures of the pages are all there and small; ``tools/serve_pictures.py`` takes them."""

from __future__ import annotations

from pathlib import Path

from walk import PICTURES

ROOT = Path(__file__).resolve().parent.parent


def test_a_picture_of_every_page_is_there_small_and_shown() -> None:
    folder = ROOT / "docs" / "pictures"
    sizes = {name: (folder / name).stat().st_size for name in PICTURES}
    assert max(sizes.values()) < 60_000
    assert sum(sizes.values()) < 4_000_000
    assert {path.name for path in folder.glob("*.png")} == set(sizes)
    gallery = (ROOT / "docs" / "gallery.md").read_text()
    assert [name for name in PICTURES if f"(pictures/{name})" not in gallery] == []
