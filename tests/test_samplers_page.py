"""The blocks of docs/samplers.md run as printed, one after the other, and the page names every kernel and
setting."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gnrs_ppl.inference.kernels import KERNELS

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "samplers.md").read_text()


@pytest.mark.slow
def test_the_blocks_of_the_page_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 6
    names: dict[str, object] = {}
    for block in blocks:
        assert "assert" in block
        # of the page's line, for the traceback
        before = PAGE[: PAGE.index(block)].count("\n")
        exec(compile("\n" * before + block, "docs/samplers.md", "exec"), names)


def test_the_table_has_every_kernel_and_setting() -> None:
    rows = {row[0]: row[1] for row in re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", PAGE, re.MULTILINE)}
    assert [*rows] == [*KERNELS]
    for name, kernel in KERNELS.items():
        assert all(f"`{setting}`" in rows[name] for setting in kernel.settings), name
