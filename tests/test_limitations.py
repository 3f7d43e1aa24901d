"""docs/limitations.md claims by code what fails where: its blocks run as printed, one after the other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "limitations.md").read_text()
SECTIONS = 9


@pytest.mark.slow
def test_the_blocks_of_the_page_run(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ortools")
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 1 + SECTIONS
    assert all("assert " in block for block in blocks[1:])
    names: dict[str, object] = {}
    for block in blocks:
        # of the page's line, for the traceback
        before = PAGE[: PAGE.index(block)].count("\n")
        exec(compile("\n" * before + block, "docs/limitations.md", "exec"), names)
