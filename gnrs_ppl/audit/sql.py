"""One readable SELECT out of small named parts: bound parameters, common table expressions, instants
(SEMANTICS line 19).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from textwrap import indent
from typing import NamedTuple

import duckdb
import sqlglot
from sqlglot import exp

from gnrs_ppl.context.log import ATTRIBUTE_TYPES, TYPES, attribute_column
from gnrs_ppl.context.time import GRAINS, Duration, Grain
from gnrs_ppl.context.types import Attribute
from gnrs_ppl.rule.types import Condition, Test

Value = str | int | datetime | list[str | datetime] | list[int] | list[datetime]

_UNIT: dict[Grain, str] = {
    "microsecond": "to_microseconds(1)",
    "second": "to_seconds(1)",
    "minute": "to_minutes(1)",
    "day": "to_days(1)",
}

_SIGNS: dict[Test, str] = {
    "equal": "=",
    "not_equal": "<>",
    "less": "<",
    "at_most": "<=",
    "more": ">",
    "at_least": ">=",
}


class Part(NamedTuple):
    """A common table expression of a check."""

    name: str
    select: str
    materialized: bool


@dataclass(frozen=True)
class Query:
    """A compiled check.

    Attributes
    ----------
    sql : str
        Exactly one SELECT over ``events`` in DuckDB's dialect, with a comment on every common table
        expression.
    parameters : mapping
        Value of every ``$name`` in it; no value of a rule or a record layer is text in the SQL.
    parts : tuple of Part
        Its common table expressions.
    last : str
        Its SELECT over them.
    """

    sql: str
    parameters: Mapping[str, Value]
    parts: tuple[Part, ...] = ()
    last: str = ""

    def __post_init__(self) -> None:
        """Refuse anything but one SELECT whose parameters are all bound."""
        statements = duckdb.extract_statements(self.sql)
        if [s.type for s in statements] != [duckdb.StatementType.SELECT]:
            raise ValueError("a compiled check is exactly one SELECT")
        unbound = statements[0].named_parameters ^ set(self.parameters)
        if unbound:
            raise ValueError(
                f"a compiled check binds every parameter it names, and no other: {', '.join(sorted(unbound))}"
            )


class SqlStatement:
    """A SELECT under construction.

    Parameters
    ----------
    grains : tuple of Grain
        Every grain that a row or a bound of this check may have; comparisons name no other.
    offsets : tuple of int
        Every offset of a row, in minutes.
    attributes : tuple of Attribute
        Those of the log, in the order of their columns.
    automatic : tuple of str
        Resources that are nobody (D7).
    uneven : mapping
        Length in minutes -> first instants of the local days of the zone that are so long, and not 24 hours.
    """

    def __init__(
        self,
        grains: set[Grain],
        offsets: tuple[int, ...],
        attributes: tuple[Attribute, ...] = (),
        automatic: tuple[str, ...] = (),
        uneven: Mapping[int, list[datetime]] | None = None,
    ) -> None:
        self.grains = tuple(g for g in GRAINS if g in grains)
        self.offsets = offsets
        self.automatic = automatic
        self._uneven = uneven or {}
        marks = (attribute_column(i) for i in range(len(attributes)))
        self.columns = (*TYPES, *(column for mark in marks for column in (mark, f"{mark}_unclear")))
        """The columns of the event table."""
        self._attributes = {a.name: (attribute_column(i), a) for i, a in enumerate(attributes)}
        self.dates = "day" in self.grains
        self.events = "events"
        """The table of rows that acts are looked for in."""
        self.of_any_case = 0
        """How many rows that may be of any case are looked at; more would decide nothing else."""
        self._parameters: dict[str, Value] = {}
        self._parts: dict[str, str] = {}
        self._selects: list[Part] = []

    @property
    def parameters(self) -> dict[str, Value]:
        """What is bound so far."""
        return dict(self._parameters)

    def bind(self, name: str, value: Value) -> str:
        """Bind a value to a name and give the text that stands for it."""
        if self._parameters.setdefault(name, value) != value:
            raise ValueError(f"parameter {name} is bound twice")
        return f"${name}"

    def bind_all(self, name: str, values: tuple[str, ...]) -> str:
        """Bind some values and give the text of their list: ``$name_1, $name_2``."""
        return ", ".join(self.bind(f"{name}_{i}", v) for i, v in enumerate(values, 1))

    def add(self, name: str, comment: str, select: str, *, keep: bool = False) -> str:
        """Add a common table expression and give its name.

        ``keep`` materializes it: where ids are handed out they must be handed out once.
        """
        if name in self._parts:
            raise ValueError(f"{name} is defined twice")
        read = _read_only(select)
        self._selects.append(Part(name, read, keep))
        text = indent(read, "  ")
        self._parts[name] = f'"{name}" /* {comment} */ AS {"MATERIALIZED " if keep else ""}(\n{text}\n)'
        return name

    def __contains__(self, name: str) -> bool:
        return name in self._parts

    def query(self, select: str) -> Query:
        """The finished check: the parts so far, and a last SELECT over them."""
        last = _read_only(select)
        within = "WITH " + ", ".join(self._parts.values()) + "\n"
        return Query(within + last, dict(self._parameters), tuple(self._selects), last)

    # Conditions on data (D entries)

    def attribute(self, name: str) -> str:
        """The column of an attribute."""
        return self._attributes[name][0]

    def condition(self, name: str, condition: Condition) -> str:
        """Whether a row meets a condition, three-valued: unknown where a value is (D3)."""
        column, attribute = self._attributes[condition.attribute]
        if condition.test == "recorded":
            return f"CASE WHEN {column} IS NOT NULL THEN TRUE WHEN NOT {column}_unclear THEN FALSE END"
        if condition.other is not None:
            other = self.attribute(condition.other.attribute)
            return f"{column} {_SIGNS[condition.test]} {'its_' if condition.other.of == 'activation' else ''}{other}"
        kind = ATTRIBUTE_TYPES[attribute.type]
        values = [
            f"CAST({self.bind(f'{name}_{i}', str(value))} AS {kind})"
            for i, value in enumerate(condition.value, 1)
        ]
        if condition.test == "one_of":
            return f"{column} IN ({', '.join(values)})"
        if condition.test == "between":
            return f"{column} BETWEEN {values[0]} AND {values[1]}"
        return f"{column} {_SIGNS[condition.test]} {values[0]}"

    # Instants. A bound is a prefix such as p.lower_ of the columns ts (UTC), off (minutes) and grain; a row's
    # clock is a table with the column grain and, where dates occur, off. Both are truncated to their own
    # grain already.

    def tie(self, bound: str, clock: str, *, after: bool = False) -> str:
        """First instant on a row's clock that ties with a bound, or with ``after`` the first that is later
        (G2).

        A row is earlier than the bound before the one, later from the other on, and ties in between.
        """

        def at(grain: Grain) -> str:
            if grain == "day":
                first = f"date_trunc('day', {bound}ts + to_minutes({bound}off)) - to_minutes({clock}.off)"
            elif grain == self.grains[0]:
                first = f"{bound}ts"
            else:
                first = f"date_trunc('{grain}', {bound}ts)"
            return f"{first} + {_UNIT[grain]}" if after else first

        return self._by_coarser(f"{bound}grain", f"{clock}.grain", at)

    def earlier(self, a: str, b: str) -> str:
        """Whether bound ``a`` is earlier than bound ``b`` (G2)."""

        def at(grain: Grain) -> str:
            if grain == "day":
                return f"{self.day(a)} < {self.day(b)}"
            return f"date_trunc('{grain}', {a}ts) < date_trunc('{grain}', {b}ts)"

        return self._by_coarser(f"{a}grain", f"{b}grain", at)

    def seconds_between(self, a: str, b: str) -> str:
        """Seconds from instant ``b`` to instant ``a`` at the coarser grain, whole days if either is a date
        (V6).
        """

        def at(grain: Grain) -> str:
            if grain == "day":
                return f"CAST(86400 AS BIGINT) * ({self.day(a)} - {self.day(b)})"
            return (
                f"(epoch_us(date_trunc('{grain}', {a}ts)) - epoch_us(date_trunc('{grain}', {b}ts))) / 1000000"
            )

        return f"CAST({self._by_coarser(f'{a}grain', f'{b}grain', at)} AS DOUBLE)"

    @staticmethod
    def day(bound: str) -> str:
        """Local date of an instant."""
        return f"CAST({bound}ts + to_minutes({bound}off) AS DATE)"

    def end_of(self, ts: str, grain: str) -> str:
        """End-of-grain of an instant (G3)."""
        if self.grains == ("microsecond",):
            return ts
        return f"{ts} + {self.unit(grain)} - to_microseconds(1)"

    def passed(self, ts: str, grain: str) -> str:
        """Last microsecond of what an instant stands for: end-of-grain, of a date that of its local day (G5)."""
        if not self.dates or not self._uneven:
            return self.end_of(ts, grain)
        lengths = (
            f"WHEN {grain} = 'day' AND list_contains(CAST({self.bind(f'days_of_{minutes}', days)} AS "
            f"TIMESTAMP[]), {ts}) THEN to_minutes({minutes})"
            for minutes, days in sorted(self._uneven.items())
        )
        return f"{ts} + CASE {' '.join(lengths)} ELSE {self.unit(grain)} END - to_microseconds(1)"

    def unit(self, grain: str) -> str:
        """Length of a grain."""
        if len(self.grains) == 1:
            return _UNIT[self.grains[0]]
        return f"CASE {grain} " + " ".join(f"WHEN '{g}' THEN {_UNIT[g]}" for g in self.grains) + " END"

    def truncated(self, local: str, grain: str) -> str:
        """A local wall time truncated to a grain; durations hold whole seconds, so only coarser grains can
        be missed.
        """
        coarse = [g for g in self.grains if g in ("minute", "day")]
        if not coarse:
            return local
        return (
            f"CASE {grain} "
            + " ".join(f"WHEN '{g}' THEN date_trunc('{g}', {local})" for g in coarse)
            + f" ELSE {local} END"
        )

    def moved(self, name: str, duration: Duration, local: str, sign: str) -> str:
        """A local wall time moved by a duration: months, then days, then time, clamped to month end (line
        14).
        """
        for part, function in (("months", "to_months"), ("days", "to_days"), ("seconds", "to_seconds")):
            if amount := getattr(duration, part):
                local = f"({local} {sign} {function}({self.bind(f'{name}_{part}', amount)}))"
        return local

    def _by_coarser(self, a: str, b: str, at: Callable[[Grain], str]) -> str:
        finest, *coarser = self.grains
        branches = [f"WHEN {a} = '{g}' OR {b} = '{g}' THEN {at(g)}" for g in reversed(coarser)]
        return f"CASE {' '.join(branches)} ELSE {at(finest)} END" if branches else at(finest)


@lru_cache(maxsize=4096)
def _read_only(select: str) -> str:
    """A part, which may only read, parsed and written out again with every identifier quoted; rules of one
    context share most parts.
    """
    parsed = sqlglot.parse_one(select, dialect="duckdb")
    if not isinstance(parsed, exp.Query) or parsed.find(
        exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Into, exp.Command
    ):
        raise ValueError("a part of a compiled check only reads")
    return parsed.sql("duckdb", pretty=True, identify=True, copy=False)


def struct(fields: dict[str, str]) -> str:
    """Several values as one, compared in the order given."""
    return "{" + ", ".join(f"'{name}': {value}" for name, value in fields.items()) + "}"
