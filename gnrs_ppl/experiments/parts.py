"""Columns that tables by method share, each with what stands in it; a table is a list of these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gnrs_ppl.experiments.published import published
from gnrs_ppl.experiments.rows import Line, Row, Rows
from gnrs_ppl.experiments.statistics import MeanEstimate
from gnrs_ppl.experiments.tables import CellValue, Column, ColumnGroup, ResultTable, ends, heads, part

METHOD: ColumnGroup[Line] = ColumnGroup(
    (Column("method"), Column("chains", 0)), lambda line: (line.method, line.why or line.chains)
)
RUNS: ColumnGroup[Line] = part("runs", 0, lambda line: len(line.own.rows))


def held(name: str, heading: str = "", digits: int | None = None) -> ColumnGroup[Row]:
    """What a row holds under a name; the heading is the name unless given."""
    return part(heading or name, digits, lambda row: row.get(name))


def mean(measure: str, name: str, digits: int, scale: float | None = None) -> ColumnGroup[Line]:
    """Mean over goals of a measure."""

    def cell(line: Line) -> float | None:
        value = line.own.mean(measure)
        return value if value is None or scale is None else scale * value

    return part(name, digits, cell)


def estimated(measure: str, name: str, digits: int) -> ColumnGroup[Line]:
    """Mean over goals of a measure with its intervals."""

    return ColumnGroup(
        (Column(name, digits), Column("95 % over goals"), Column("95 % over families")),
        lambda line: told(line.own.estimate(measure), digits),
    )


class Changed(NamedTuple):
    """Rows before and after something was changed, and what that was."""

    what: tuple[CellValue, ...]
    before: Rows
    own: Rows


def mean_change(measure: str, heading: str, digits: int, scale: float = 1.0) -> ColumnGroup[Changed]:
    """Mean over goals of what changed."""
    return part(heading, digits, lambda one: one.before.mean_change(one.own, measure, scale))


def estimated_change(
    measure: str, heading: str, digits: int, scale: float = 1.0, name: str = ""
) -> ColumnGroup[Changed]:
    """The same with its intervals; the headings of these begin with a name."""
    columns = (Column(heading, digits), Column(f"{name}95 % over goals"), Column(f"{name}95 % over families"))
    return ColumnGroup(columns, lambda one: told(one.before.change(one.own, measure, scale), digits))


def share(measure: str, heading: str) -> ColumnGroup[Changed]:
    """Percent of runs after the change, or of cases."""

    def cell(one: Changed) -> float | None:
        value = one.own.mean(measure)
        return None if value is None else 100 * value

    return part(heading, 1, cell)


RUBRIC_CHANGE: tuple[ColumnGroup[Changed], ...] = (
    part("texts", 0, lambda one: len(one.own.rows)),
    estimated_change("avg", "Avg, points", 2),
    mean_change("v2_avg", "v2 Avg, points", 2),
    mean_change("overall", "OVERALL, points", 2),
    part("unmarked", 0, lambda one: sum(row["unmarked"] for row in one.own.rows)),
)
"""What a judge's marks changed by."""


def cited(
    paper: Mapping[str, Mapping[str, str]], columns: Iterable[tuple[str, str, int]]
) -> list[ColumnGroup[Line]]:
    """The paper's figures of a method, where it has any: column of its table, heading, decimals."""

    def printed(column: str, heading: str, digits: int) -> ColumnGroup[Line]:
        return part(
            heading,
            digits,
            lambda line: float(paper[line.method][column]) if line.method in paper else None,
            paper=True,
        )

    return [printed(*one) for one in columns]


def as_printed(name: str, title: str, says: str, label: str, shown: str = "") -> ResultTable:
    """A table of the paper, or some columns of it, parted by bars."""
    rows = published(label)
    columns = heads("", shown or " | ".join(rows[0]))
    cells = [tuple(row[column.name] for column in columns) for row in rows]
    return ResultTable(name, title, says, columns, cells)


def told(found: MeanEstimate | None, digits: int = 3) -> tuple[float | None, str | None, str | None]:
    """A mean and its intervals over goals and over families."""
    return (found.mean if found else None, *ends(found, digits))
