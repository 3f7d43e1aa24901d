"""What the paper prints, as data: a CSV per table, one for the schematic figure, one for figures given in
running text.

Cells are strings with the paper's decimals; prose cells, headings and captions are in our words. Measured
figures never stand in these files. Where the printed figures do not agree with each other:
docs/paper-inconsistencies.md.
"""

from __future__ import annotations

import csv
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Literal

from gnrs_ppl.context.files import read_data, validated
from gnrs_ppl.context.types import Frozen
from gnrs_ppl.errors import InputError

HERE = Path(__file__).parent


class PaperEntry(Frozen):
    """One table or figure of the paper, or the figures of its running text.

    Attributes
    ----------
    label : str
        As the paper's source has it (``tab:main``, ``fig:teaser``); ``text`` for the running text.
    caption : str
        What it shows, with units.
    csv : str or None
        File beside this module; None where the source prints no data.
    comparable : str
        What a reconstruction run without a model can be held against, and what not.
    covered_by : str
        Name of the experiment module, or the reason why there is none.
    """

    label: str
    kind: Literal["table", "figure", "text"]
    caption: str
    csv: str | None
    comparable: str
    covered_by: str


class _Index(Frozen):
    entries: list[PaperEntry]


@cache
def index() -> tuple[PaperEntry, ...]:
    """All 22 tables and 6 figures in the paper's order, then its running text."""
    path = HERE / "index.yaml"
    return tuple(validated(_Index, read_data(path), source=path.name).entries)


@cache
def published(label: str) -> tuple[dict[str, str], ...]:
    """Rows of one table, as printed.

    Parameters
    ----------
    label : str
        The table's label without ``tab:`` (``"main"``), ``"figure_aog-case-study"`` or ``"text"``.

    Returns
    -------
    tuple of dict
        Column heading -> cell. Cached: do not change them.

    Raises
    ------
    InputError
        No data of that name; the line names the nearest.
    """
    known = [entry.csv.removesuffix(".csv") for entry in index() if entry.csv]
    if label not in known:
        near = get_close_matches(label, known, 1)
        remedy = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(known)}"
        raise InputError("the paper prints no such data", remedy, source=label)
    with (HERE / f"{label}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file, strict=True))


LONG = {
    "Direct": "Direct Prompting",
    "Structured": "Structured Outputs",
    "Grounding": "In-Context Grounding",
    "Norm Synth.": "Norm Synthesis",
    "No record": "No record grounding",
    "No LLM": "No LLM candidates",
}
"""Names of methods that the paper shortens in some tables."""


def by_method(label: str) -> dict[str, dict[str, str]]:
    """Rows of a table of methods by their names in full."""
    return {LONG.get(row["method"], row["method"]): row for row in published(label)}


def printed_numbers(section: str = "", start: str = "") -> dict[str, float]:
    """Numbers of the running text by quantity: those of a section, or whose name begins so."""
    rows = published("text")
    return {
        row["quantity"]: float(row["value"])
        for row in rows
        if section in ("", row["section"]) and row["quantity"].startswith(start)
    }
