"""Rows of experiments: a line each in rows.jsonl, read back by cell, and their means.

A row is appended when its goal is done; nothing is averaged on disk. What was killed in the middle of a line
loses that line alone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from gnrs_ppl.context.files import literally, parse_json, read_bytes
from gnrs_ppl.context.limits import ROWS_BYTES
from gnrs_ppl.errors import InputError
from gnrs_ppl.experiments.statistics import MeanEstimate, estimate, paired
from gnrs_ppl.safe_text import to_json

if TYPE_CHECKING:
    from gnrs_ppl.llm.client import Answer

ROWS = "rows.jsonl"

Row = dict[str, Any]
"""A row: the fields of its cell, then what was measured."""


class Cell(NamedTuple):
    """What one row is about; ``chains`` is None where the method runs none."""

    method: str
    chains: int | None
    goal: str
    seed: int


class RowWithAnswers(NamedTuple):
    """A row and the answers of models behind it."""

    row: Row
    answers: tuple[Answer[Any], ...] = ()

    @property
    def scripted(self) -> bool:
        """Whether the scripted server had a part in it: then it is no result."""
        return any(answer.scripted for answer in self.answers)

    @property
    def unanswered(self) -> list[Answer[Any]]:
        """Requests that were never answered: then the row says nothing about its method."""
        from gnrs_ppl.evaluate.rubrics import unanswered

        return unanswered(self.answers)


def append(file: BinaryIO, rows: Iterable[Row]) -> None:
    """Write rows so that they are on disk, a line each."""
    file.write("".join(to_json(row, None, allow_nan=False) + "\n" for row in rows).encode())
    file.flush()
    os.fsync(file.fileno())


def drop_half_line(path: Path) -> None:
    """Cut off what follows the last line break: the run was killed while it wrote."""
    if path.is_file():
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            with path.open("r+b") as file:
                file.truncate(whole)


def cell_of(row: Row) -> Cell:
    """The cell a row is about."""
    return Cell(row["method"], row["chains"], row["goal"], row["seed"])


def read_rows(folder: Path) -> list[Row]:
    """Rows of a run, by cell, so that nothing depends on the order in which they were made.

    Raises
    ------
    InputError
        A line that is no row.
    """
    path, rows, remedy = folder / ROWS, [], "delete that line; it will be made again"
    kinds: dict[str, str] = {}
    lines = read_bytes(path, ROWS_BYTES).split(b"\n") if path.exists() else []
    for number, line in enumerate(lines[:-1], 1):
        source = f"{path}, line {number}"
        row = parse_json(line, source, remedy)
        cell = [row.get(name, ...) for name in Cell._fields] if isinstance(row, dict) else []
        if [type(value) for value in cell] not in ([str, int, str, int], [str, NoneType, str, int]):
            raise InputError("is no row", remedy, source=source)
        for name, kind in ((name, _kind(value)) for name, value in row.items() if value is not None):
            if kinds.setdefault(name, kind) != kind:
                raise InputError(
                    f"is {kind} here and {kinds[name]} in rows before", remedy, source=source, field=name
                )
        rows.append((cell_of(row), row))
    return [
        row
        for _, row in sorted(
            rows, key=lambda pair: (pair[0].method, pair[0].chains or 0, pair[0].goal, pair[0].seed)
        )
    ]


def _kind(value: Any) -> str:
    """What a measure is; truth values are averaged as numbers."""
    if isinstance(value, int | float):
        return "a number"
    return "text" if isinstance(value, str) else f"a {type(value).__name__}"


@contextmanager
def progress(what: str, total: int, done: int) -> Iterator[Callable[[int], None]]:
    """Rows done and time left on a terminal's standard error, silent elsewhere."""
    if not sys.stderr.isatty() or total == done:
        yield lambda rows: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("rows, left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=total, completed=done)
        yield lambda rows: bar.advance(task, rows)


def means(folder: Path) -> list[dict[str, Any]]:
    """Means of every number in the rows: seeds within a goal first, then goals; by method and chains.

    A row where something was not measured does not count for it.
    """
    import duckdb

    if not read_rows(folder):
        return []
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(
        "CREATE TABLE rows AS SELECT * FROM read_json(?, format = 'newline_delimited', sample_size = -1, "
        "maximum_depth = 2)",
        [literally(folder / ROWS)],
    )
    described = connection.execute("DESCRIBE rows").fetchall()
    measured = [
        name
        for name, kind, *_ in described
        if kind in ("BOOLEAN", "BIGINT", "DOUBLE") and name not in ("chains", "seed")
    ]
    quoted = ['"' + name.replace('"', '""') + '"' for name in measured]
    inner = ", ".join(f"favg({name}::DOUBLE) AS {name}" for name in quoted)
    outer = ", ".join(f"round(favg({name}), 12) AS {name}" for name in quoted)
    found = connection.execute(
        f"SELECT method, chains, count(*) AS goals, {outer} FROM (SELECT method, chains, goal, {inner} FROM "
        "rows GROUP BY ALL) GROUP BY ALL ORDER BY method, chains NULLS FIRST"
    )
    names = [column[0] for column in found.description or ()]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


class Rows(NamedTuple):
    """Rows of one method and number of chains, as reports ask for them."""

    rows: list[Row]

    def by_goal(self, measure: str) -> dict[str, float]:
        """Mean over seeds of a measure on each goal; goals where it was not measured are left out."""
        found: dict[str, list[float]] = {}
        for row in self.rows:
            if row.get(measure) is not None:
                if _kind(row[measure]) != "a number":
                    remedy = f"delete the lines of {row['goal']}; they will be made again"
                    raise InputError(
                        f"is {_kind(row[measure])}, no number", remedy, source=ROWS, field=measure
                    )
                found.setdefault(row["goal"], []).append(float(row[measure]))
        return {goal: sum(values) / len(values) for goal, values in found.items()}

    def mean(self, measure: str) -> float | None:
        """Mean over goals of the means over seeds; None where nothing was measured."""
        each = self.by_goal(measure)
        return sum(each.values()) / len(each) if each else None

    def within(self, family: str) -> Rows:
        """The rows of a family's goals."""
        return Rows([row for row in self.rows if row["family"] == family])

    def families(self) -> dict[str, str]:
        """Family of each goal."""
        return {row["goal"]: row["family"] for row in self.rows}

    def estimate(self, measure: str, scale: float = 1.0) -> MeanEstimate | None:
        """The mean with its intervals; None where nothing was measured."""
        return self._estimate(self.by_goal(measure), scale)

    def change(self, other: Rows, measure: str, scale: float = 1.0) -> MeanEstimate | None:
        """Another method's rows less these, paired by goal, with intervals; None where no goal has both."""
        return self._estimate(paired(self.by_goal(measure), other.by_goal(measure)), scale)

    def mean_change(self, other: Rows, measure: str, scale: float = 1.0) -> float | None:
        """Mean over goals of another method's rows less these; None where no goal has both."""
        each = paired(self.by_goal(measure), other.by_goal(measure))
        return scale * sum(each.values()) / len(each) if each else None

    def _estimate(self, each: dict[str, float], scale: float) -> MeanEstimate | None:
        families = self.families()
        return (
            estimate([scale * value for value in each.values()], [families[goal] for goal in each])
            if each
            else None
        )


class Line(NamedTuple):
    """A line of a table: a method, its number of chains and its rows, or why it has none."""

    method: str
    chains: int | None
    own: Rows
    why: str = ""


def of(rows: Sequence[Row], method: str, chains: int | None = None) -> Rows:
    """The rows of a method at a number of chains."""
    return Rows([row for row in rows if row["method"] == method and row["chains"] == chains])


def lines(rows: Sequence[Row], names: Iterable[str], chains: Sequence[int]) -> list[Line]:
    """Lines of methods by chains, where there are rows."""
    found = [Line(name, number, of(rows, name, number)) for name in names for number in (None, *chains)]
    return [line for line in found if line.own.rows]
