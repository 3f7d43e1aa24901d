"""Make and run notebooks from their sources: ``python docs/notebooks/build.py`` writes mixing.ipynb beside mixing.py,
weights.ipynb beside weights.py; with names, only those.

The source is Python with cells marked by ``# %%`` and ``# %% [markdown]``. Running it needs nbformat, nbclient, ipykernel and ipywidgets,
which nothing else here does: ``pip install nbformat nbclient ipykernel ipywidgets``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def cells(source: str) -> list[tuple[str, str]]:
    """Kind (``markdown`` or ``code``) and text of every cell."""
    found = []
    for mark, body in re.findall(r"^# %%(.*)\n((?:(?!# %%).*\n?)*)", source, re.MULTILINE):
        kind = "markdown" if mark.strip() == "[markdown]" else "code"
        lines = [re.sub("^# ?", "", line) if kind == "markdown" else line for line in body.strip("\n").split("\n")]
        found.append((kind, "\n".join(lines)))
    return found


def build(source: Path) -> None:
    """Run a source cell by cell and write the notebook with its outputs."""
    import nbformat
    from nbclient import NotebookClient

    make = {"markdown": nbformat.v4.new_markdown_cell, "code": nbformat.v4.new_code_cell}
    parts = cells(source.read_text())
    notebook = nbformat.v4.new_notebook(cells=[make[kind](text, id=f"cell-{n}") for n, (kind, text) in enumerate(parts)])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    NotebookClient(notebook, timeout=600, kernel_name="python3", record_timing=False).execute()
    nbformat.write(notebook, source.with_suffix(".ipynb"))


if __name__ == "__main__":
    for name in sys.argv[1:] or ("mixing", "weights"):
        build(FOLDER / f"{name}.py")
