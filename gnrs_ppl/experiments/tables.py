"""Tables of results as Markdown, CSV and LaTeX, the paper's columns apart and what can be compared said
above.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from gnrs_ppl.errors import one_line
from gnrs_ppl.safe_text import to_csv, visible

if TYPE_CHECKING:
    from rich.console import Console

    from gnrs_ppl.experiments.statistics import ConfidenceInterval, MeanEstimate

Thing = TypeVar("Thing")
CellValue = str | float | int | None
"""A number keeps all its digits in CSV; None is what was not measured."""
ABSENT, BREAK = "–", "\n"
LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "ρ": r"$\rho$",
    "ε": r"$\varepsilon$",
    "λ": r"$\lambda$",
    "τ": r"$\tau$",
    "φ": r"$\varphi$",
    "α": r"$\alpha$",
    "Δ": r"$\Delta$",
    "−": r"$-$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "×": r"$\times$",
    "→": r"$\rightarrow$",
    "–": "--",
}


class Column(NamedTuple):
    """A column: heading, decimals shown in Markdown and LaTeX (None: as it is), whether its cells are the
    paper's.
    """

    name: str
    digits: int | None = None
    paper: bool = False

    @property
    def heading(self) -> str:
        """The heading; the paper's columns say so."""
        return one_line(f"paper: {self.name}" if self.paper else self.name)


def heads(own: str, paper: str = "") -> tuple[Column, ...]:
    """Columns from their headings, parted by bars and followed by a colon and decimals where cells are
    numbers (``goal | audit F1:3``); the paper's come last.
    """
    parts = [(one.strip(), False) for one in own.split("|")] if own else []
    parts += [(one.strip(), True) for one in paper.split("|")] if paper else []
    found = []
    for text, printed in parts:
        name, colon, digits = text.rpartition(":")
        found.append(Column(name, int(digits), printed) if colon else Column(text, None, printed))
    return tuple(found)


class ResultTable(NamedTuple):
    """Rows under headings.

    Attributes
    ----------
    name : str
        Stem of its files.
    title : str
    says : str
        What can be compared with what, above the table.
    columns : tuple of Column
    rows : sequence of tuples, one cell per column
    """

    name: str
    title: str
    says: str
    columns: tuple[Column, ...]
    rows: Sequence[tuple[CellValue, ...]]

    def ordered(self) -> ResultTable:
        """The same with the paper's columns last."""
        order = sorted(range(len(self.columns)), key=lambda i: self.columns[i].paper)
        return self._replace(
            columns=tuple(self.columns[i] for i in order),
            rows=[tuple(row[i] for i in order) for row in self.rows],
        )


class ColumnGroup(NamedTuple, Generic[Thing]):
    """Some columns of a table and what stands in them for each thing that the table has a row for."""

    columns: tuple[Column, ...]
    cells: Callable[[Thing], Sequence[CellValue]]


def part(
    name: str, digits: int | None, cell: Callable[[Thing], CellValue], paper: bool = False
) -> ColumnGroup[Thing]:
    """One column; arguments as for :class:`Column`."""
    return ColumnGroup((Column(name, digits, paper),), lambda thing: (cell(thing),))


def specified(
    name: str, title: str, says: str, things: Iterable[Thing], parts: Sequence[ColumnGroup[Thing]]
) -> ResultTable:
    """The table that some parts describe, a row for each thing."""
    rows = [tuple(entry for part in parts for entry in part.cells(thing)) for thing in things]
    return ResultTable(name, title, says, tuple(column for part in parts for column in part.columns), rows)


def between(found: ConfidenceInterval | None, digits: int = 3) -> str | None:
    """An interval in words."""
    return None if found is None else f"{shown(found.low, digits)} to {shown(found.high, digits)}"


def ends(found: MeanEstimate | None, digits: int = 3) -> tuple[str | None, str | None]:
    """The intervals over goals and over families in words."""
    return (between(found.percentile, digits), between(found.families, digits)) if found else (None, None)


def shown(cell: CellValue, digits: int | None) -> str:
    """A cell as people read it."""
    if cell is None:
        return ABSENT
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        text = f"{cell:,.{digits}f}" if digits is not None else f"{cell:g}"
        return text.lstrip("-") if not float(text.replace(",", "")) else text.replace("-", "−")
    return f"{cell:,}" if isinstance(cell, int) else one_line(cell, 2000)


def _printed(table: ResultTable) -> list[list[str]]:
    return [
        [shown(cell, column.digits) for cell, column in zip(row, table.columns, strict=True)]
        for row in table.rows
    ]


def markdown(table: ResultTable, level: int = 2) -> str:
    """Title, sentence and table as Markdown."""
    table = table.ordered()
    head = [column.heading.replace("|", "\\|") for column in table.columns]
    rule = ["---:" if column.digits is not None else "---" for column in table.columns]
    rows = [[cell.replace("|", "\\|") for cell in row] for row in _printed(table)]
    lines = [f"| {' | '.join(cells)} |" for cells in (head, rule, *rows)]
    return on_page(f"{'#' * level} {one_line(table.title)}\n\n{table.says}\n\n" + "\n".join(lines) + "\n")


def on_page(text: str) -> str:
    """Markdown without HTML, and as :func:`~gnrs_ppl.safe_text.visible` has it."""
    return visible(text, keep=BREAK).replace("<", "&lt;")


def comma_separated(table: ResultTable) -> str:
    """The table as CSV with all digits; an empty cell is what was not measured."""
    table = table.ordered()
    return to_csv([[column.heading for column in table.columns], *table.rows])


def latex(table: ResultTable) -> str:
    """The table as LaTeX with booktabs; a bar stands before the paper's columns."""
    table = table.ordered()
    kinds = ["r" if column.digits is not None else "l" for column in table.columns]
    first = next((i for i, column in enumerate(table.columns) if column.paper), len(kinds))
    layout = "".join(kinds[:first]) + ("|" if first < len(kinds) else "") + "".join(kinds[first:])
    lines = [
        " & ".join(_escaped(cell) for cell in cells) + r" \\"
        for cells in ([c.heading for c in table.columns], *_printed(table))
    ]
    body = "\n".join([lines[0], r"\midrule", *lines[1:]])
    caption = _escaped(f"{table.title}. {table.says}")
    return "\n".join(
        [
            "% needs booktabs",
            r"\begin{table}",
            r"\centering",
            rf"\begin{{tabular}}{{{layout}}}",
            r"\toprule",
            body,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{caption}}}",
            r"\end{table}",
            "",
        ]
    )


def _escaped(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in visible(text, keep=BREAK))


def files(table: ResultTable) -> list[tuple[str, bytes]]:
    """File name and content of the three forms."""
    forms = (("md", markdown(table)), ("csv", comma_separated(table)), ("tex", latex(table)))
    return [(f"{table.name}.{suffix}", text.encode()) for suffix, text in forms]


def show(table: ResultTable, console: Console) -> None:
    """The table on a terminal."""
    from gnrs_ppl import terminal

    table = table.ordered()
    drawn = terminal.table(
        "",
        *(c.heading for c in table.columns),
        right=tuple(c.heading for c in table.columns if c.digits is not None),
    )
    for row in _printed(table):
        terminal.row(drawn, *row)
    console.print(terminal.shown(table.title, style="bold"))
    console.print(terminal.shown(table.says, style="dim"))
    console.print(drawn)
