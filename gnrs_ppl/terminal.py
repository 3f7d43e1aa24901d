"""Text and tables on a terminal: never read as markup, and nothing in them steers the terminal."""

from __future__ import annotations

import sys

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gnrs_ppl.safe_text import visible


def console(width: int = 110) -> Console:
    """Standard output, ``width`` columns wide where it is no terminal."""
    return Console(width=None if sys.stdout.isatty() else width, highlight=False, markup=False, emoji=False)


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
