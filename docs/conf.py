"""The site: ``make docs``. Markdown pages, numpydoc docstrings, nothing fetched while it is built or read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from myst_parser.parsers.sphinx_ import MystParser
from sphinx.application import Sphinx

import gnrs_ppl

project, author, release = "gnrs-ppl", "The gnrs-ppl maintainers", gnrs_ppl.__version__
project_copyright = "The gnrs-ppl maintainers, Apache-2.0"
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["results/*/*/tables"]
html_theme = "furo"
html_title = f"gnrs-ppl {release}"
html_copy_source = False

myst_heading_anchors = 3
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
nitpicky = True  # a name in a docstring that leads nowhere is a broken link,
nitpick_ignore_regex = [("py:class", ".*")]  # a type of another package is none
suppress_warnings = ["ref.python"]  # two kernels have a State


class Notebook(MystParser):
    """A notebook as it was run: its cells as Markdown, its pictures inside the page."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: Any) -> None:
        """Hand the notebook's Markdown on."""
        super().parse(
            "\n\n".join(part for cell in json.loads(inputstring)["cells"] for part in parts(cell)), document
        )


def parts(cell: dict[str, Any]) -> list[str]:
    """A cell and its outputs as blocks of Markdown."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return [source]
    blocks = [f"```python\n{source}\n```"]
    for output in cell["outputs"]:
        if "text" in output:
            blocks.append(f"```text\n{''.join(output['text'])}```")
        elif "image/png" in output["data"]:
            name = output["data"]["text/plain"][0]
            blocks.append(f"![{name}](data:image/png;base64,{output['data']['image/png'].strip()})")
    return blocks


def from_docs(app: Sphinx, path: Path, page: str, text: list[str]) -> None:
    """Files of the root are pages too: their links as seen from docs/."""
    if path.parent == Path(".."):
        here = re.sub(r"\]\((?!#|\w+:)", "](../", text[0]).replace("](../docs/", "](")
        text[0] = here.replace("](../CONTRIBUTING.md", "](contributing.md")


def skipped(app: Sphinx, kind: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Fields of named tuples stand under Attributes already; how pydantic is set up is nobody's concern."""
    return (
        True
        if name == "model_config"
        or (getattr(member, "__doc__", "") or "").startswith("Alias for field number")
        else None
    )


def setup(app: Sphinx) -> None:
    """Register what stands above."""
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(Notebook)
    app.connect("include-read", from_docs)
    app.connect("autodoc-skip-member", skipped)
