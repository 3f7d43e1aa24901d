"""Make and run a notebook from its source: ``python docs/notebooks/build.py`` writes mixing.ipynb beside mixing.py.

The source is Python with cells marked by ``# %%`` and ``# %% [markdown]``. Running it needs nbformat, nbclient and ipykernel, which
nothing else here does: ``pip install nbformat nbclient ipykernel``.
"""

from __future__ import annotations

import re
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


def main() -> None:
    """Run mixing.py cell by cell and write it with its outputs."""
    import nbformat
    from nbclient import NotebookClient

    make = {"markdown": nbformat.v4.new_markdown_cell, "code": nbformat.v4.new_code_cell}
    parts = cells((FOLDER / "mixing.py").read_text())
    notebook = nbformat.v4.new_notebook(cells=[make[kind](text, id=f"cell-{n}") for n, (kind, text) in enumerate(parts)])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    NotebookClient(notebook, timeout=600, kernel_name="python3", record_timing=False).execute()
    nbformat.write(notebook, FOLDER / "mixing.ipynb")


if __name__ == "__main__":
    main()
