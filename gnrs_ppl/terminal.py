"""Text and tables on a terminal: never read as markup, and nothing in them steers the terminal."""

from __future__ import annotations

import os
import re
import sys
from typing import IO, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gnrs_ppl.safe_text import visible

WIDTH = 110
"""Columns of text that goes into a pipe or a file, where ``COLUMNS`` does not say otherwise."""


class Unpadded:
    """A stream to a pipe or a file: lines end with their last sign, not with the spaces that fill a
    column.
    """

    def __init__(self, stream: IO[str]) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write text without white space before its line breaks."""
        return self.stream.write(re.sub(r"[ \t]+(?=\n)", "", text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def console(width: int = WIDTH) -> Console:
    """Standard output: as wide as the terminal or as ``COLUMNS`` says, ``width`` columns where neither is
    there; a pipe gets no padding.
    """
    if sys.stdout.isatty():
        return Console(highlight=False, markup=False, emoji=False)
    told = os.environ.get("COLUMNS", "")
    width = int(told) if told.isdecimal() and int(told) > 0 else width
    unpadded: Any = Unpadded(sys.stdout)
    return Console(file=unpadded, width=width, highlight=False, markup=False, emoji=False)


def shown(text: object, style: str = "", keep: str = "") -> Text:
    """Text as :func:`~gnrs_ppl.safe_text.visible` has it, in one style."""
    return Text(visible(str(text), keep), style=style)


def table(title: str, *columns: str, right: tuple[str, ...] = ()) -> Table:
    """An empty table; columns in ``right`` are flush right."""
    drawn = Table(title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    drawn.title = shown(title) if title else None
    for column in columns:
        drawn.add_column(shown(column), justify="right" if column in right else "left", overflow="fold")
    return drawn


def row(drawn: Table, *cells: object) -> None:
    """Add a row of cells, each shown as it stands."""
    drawn.add_row(*map(shown, cells))
