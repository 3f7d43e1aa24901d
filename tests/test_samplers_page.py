"""The blocks of docs/samplers.md and docs/factor-graph.md run as printed, one after the other, and the first
names every kernel and setting."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gnrs_ppl.inference.kernels import KERNELS

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = (DOCS / "samplers.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("name, count", [("samplers.md", 7), ("factor-graph.md", 5)])
def test_the_blocks_of_the_page_run(
    name: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a block writes a file
    (tmp_path / "examples").symlink_to(DOCS.parent / "examples")
    page = (DOCS / name).read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == count
    names: dict[str, object] = {}
    for block in blocks:
        assert "assert" in block
        # of the page's line, for the traceback
        before = page[: page.index(block)].count("\n")
        exec(compile("\n" * before + block, f"docs/{name}", "exec"), names)


def test_the_table_has_every_kernel_and_setting() -> None:
    rows = {row[0]: row[1] for row in re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", PAGE, re.MULTILINE)}
    assert [*rows] == [*KERNELS]
    for name, kernel in KERNELS.items():
        assert all(f"`{setting}`" in rows[name] for setting in kernel.settings), name
