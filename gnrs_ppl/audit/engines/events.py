"""A table of a database as the event table, in one SELECT: what reading a file does in steps.

Columns have types here, so that a cell either is a time, a number, a date, or the column is refused. Grains
are found as they are in files (docs/semantics.md, G1 and G7).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import groupby, starmap
from typing import TYPE_CHECKING, Any

from gnrs_ppl.audit.calendar import changes
from gnrs_ppl.context.clocks import Clock, clocks_of, counted_clocks
from gnrs_ppl.context.columns import ChosenColumns
from gnrs_ppl.context.log import ATTRIBUTE_TYPES, DAY, attribute_column, beyond_years
from gnrs_ppl.context.numbers import DECIMALS, WHOLE
from gnrs_ppl.context.time import GRAINS
from gnrs_ppl.context.types import COLUMNS, Attribute, Column, RecordLayer
from gnrs_ppl.context.zone import offsets, span, zone_of
from gnrs_ppl.errors import InputError, one_line

if TYPE_CHECKING:
    from gnrs_ppl.audit.engines.base import Engine

_WORDS: tuple[Column, ...] = (
    "case_id",
    "activity",
    "resource",
    "role",
    "object",
    "location",
    "channel",
    "value",
)
_OFFSET = "(Z|[+-]((0[0-9]|1[0-3]):?[0-5][0-9]|14:?00))"
"""How a text writes an offset, in files too."""


@dataclass(frozen=True)
class EventTable:
    """The event table over an engine's table.

    Attributes
    ----------
    parts : tuple of (str, str)
        Names and SELECTs in DuckDB's dialect, each over those before it; ``events`` is the last.
    parameters : mapping
        Value of every ``$name`` in them.
    findings : tuple of str
        What was noticed.
    instants : bool
        Whether its times are instants.
    """

    parts: tuple[tuple[str, str], ...]
    parameters: Mapping[str, object]
    findings: tuple[str, ...]
    instants: bool

    @classmethod
    def of(cls, engine: Engine, records: RecordLayer) -> EventTable:
        """Look at an engine's table and say how to read it.

        Raises
        ------
        InputError
            A column is missing or holds what it may not.
        """
        return _Reading(engine, records).table()


class _Reading:
    def __init__(self, engine: Engine, records: RecordLayer) -> None:
        self.engine, self.records = engine, records
        self.kinds = engine.columns()
        self.chosen = ChosenColumns(records, list(self.kinds), engine.address)
        self.parameters: dict[str, object] = {}
        self.instants = False

    def table(self) -> EventTable:
        raw = self._raw()
        self._check(raw)
        clock = self._clock(raw)
        cut = " ".join(f"WHEN '{grain}' THEN date_trunc('{grain}', local)" for grain in GRAINS)
        durable = ""
        if self.records.channels:
            names = [c.name for c in self.records.channels if c.durable]
            bound = ", ".join(self._bind(f"durable_{i}", name) for i, name in enumerate(names)) or "NULL"
            durable = f" AND (channel IS NULL OR channel IN ({bound}))"
        attributes = self._attribute_names()
        kept = f"""SELECT event_id, case_id, activity,
                          CASE grain {cut} END - to_minutes(coalesce(minutes, 0)) AS "timestamp",
                          CASE WHEN local IS NOT NULL THEN minutes END AS "offset",
                          grain, resource, role, object, location, channel, value{attributes}
                   FROM (SELECT event_id, {", ".join(_WORDS)}, local, minutes{attributes},
                                CASE WHEN local IS NULL THEN NULL WHEN dated THEN 'day' ELSE coalesce(stated_grain, {clock}) END AS grain
                         FROM ({raw}) AS r) AS e
                   WHERE case_id IS NOT NULL{durable}"""
        parts = [("events", kept)]
        if any(a.of == "case" for a in self.records.attributes):
            parts = [("events_as_recorded", kept), ("events", self._by_case())]
        return EventTable(tuple(parts), self.parameters, self._findings(raw, parts), self.instants)

    # Columns

    def _raw(self) -> str:
        """The table's cells as the event table has them, but for the grain and the bound of D."""
        named = {column: self.chosen.of(column) for column in COLUMNS}
        if named["event_id"] is None and self.engine.row_id is None:
            raise self._error(
                "has no column 'event_id'",
                "map one that tells rows apart under records.columns.event_id, or --column event_id=NAME",
            )
        columns = [
            f"{self._text('event_id', named['event_id']) if named['event_id'] else self.engine.row_id} AS event_id"
        ]
        columns += [f"{self._text(column, named[column])} AS {column}" for column in _WORDS]
        columns += [f"{self._text('grain', named['grain'])} AS stated_grain"]
        columns += self._time(named["timestamp"], named["offset"])
        for i, attribute in enumerate(self.records.attributes):
            columns += self._attribute(attribute_column(i), attribute, self.chosen.of_attribute(attribute))
        raw = f"SELECT {', '.join(columns)} FROM {self.engine.table} AS t"
        raw = self._without_sentinels(raw)
        self._check_offsets(named["offset"])
        self.instants = self.kinds.get(named["timestamp"] or "") == "instant"
        return self._zoned(raw) if self.records.zone is not None else raw

    def _text(self, column: str, name: str | None) -> str:
        if name is None:
            if column in self.chosen.constants:
                return f"CAST({self._bind(f'constant_{column}', self.chosen.constants[column])} AS VARCHAR)"
            return "CAST(NULL AS VARCHAR)"
        if self.kinds[name] == "other":
            raise self._error(f"{column}: column {name!r} holds no plain values", "map one that does")
        return f"nullif(CAST({_quoted(name)} AS VARCHAR), '')"

    def _time(self, name: str | None, offset: str | None) -> list[str]:
        if name is None:
            raise self._error("timestamp is a constant", "map a column under records.columns.timestamp")
        cell, kind = _quoted(name), self.kinds[name]
        if kind == "instant":
            minutes = "0" if self.records.zone is None else "CAST(NULL AS INTEGER)"
            return [f"make_timestamp(epoch_us({cell})) AS local", "FALSE AS dated", f"{minutes} AS minutes"]
        if kind not in ("timestamp", "date"):
            raise self._error(
                f"timestamp: column {name!r} holds {kind}",
                "give a column of type timestamp or date, such as a view has that casts it",
            )
        declared = "CAST(NULL AS INTEGER)"
        if self.records.offset is not None:
            declared = f"CAST({self._bind('declared_offset', self.records.offset)} AS INTEGER)"
        stated = ""
        if offset is not None:
            stated = _quoted(offset)
            if self.kinds[offset] == "text":
                sign = f"CASE WHEN substring({stated}, 1, 1) = '-' THEN -1 ELSE 1 END"
                hours, minutes = (
                    f"CAST({part} AS INTEGER)"
                    for part in (f"substring({stated}, 2, 2)", f"right({stated}, 2)")
                )
                stated = f"CASE WHEN {stated} = 'Z' THEN 0 WHEN {stated} <> '' THEN {sign} * (60 * {hours} + {minutes}) END"
            elif self.kinds[offset] != "integer":
                raise self._error(
                    f"offset: column {offset!r} holds {self.kinds[offset]}", "write +01:00, or minutes"
                )
            stated = f"CAST({stated} AS INTEGER), "
        return [
            f"CAST({cell} AS TIMESTAMP) AS local",
            f"{'TRUE' if kind == 'date' else 'FALSE'} AS dated",
            f"coalesce({stated}{declared}) AS minutes" if stated else f"{declared} AS minutes",
        ]

    def _without_sentinels(self, raw: str) -> str:
        """The rows, where a time of a year that no time is of is an unknown one, as in a file."""
        fits = "local >= TIMESTAMP '1000-01-01 00:00:00' AND local < TIMESTAMP '9001-01-01 00:00:00'"
        found = self._rows(
            f"""SELECT CAST(local AS VARCHAR), count(*), CAST(min(event_id) AS VARCHAR) FROM ({raw}) AS r WHERE NOT ({fits})
                GROUP BY local ORDER BY 2 DESC, 1"""
        )
        if not found:
            return raw
        self.chosen.findings.append(beyond_years(found))
        return f"SELECT {self._but_times()}, CASE WHEN {fits} THEN w.local END AS local, w.minutes FROM ({raw}) AS w"

    def _check_offsets(self, offset: str | None) -> None:
        """Refuse the offsets that are none in a file."""
        if offset is None:
            return
        cell = _quoted(offset)
        fits = (
            f"{cell} = '' OR regexp_matches({cell}, '^{_OFFSET}$')"
            if self.kinds[offset] == "text"
            else f"{cell} BETWEEN -840 AND 840"
        )
        (odd,) = self._one(
            f"SELECT min(CAST({cell} AS VARCHAR)) FROM {self.engine.table} AS t WHERE NOT ({fits})"
        )
        if odd is not None:
            raise self._error(
                f"offset {one_line(str(odd), 40)!r} is not like +01:00",
                "write texts as +01:00 or Z, integers as minutes, at most 14 hours",
                "offset",
            )

    def _zoned(self, raw: str) -> str:
        """The rows with the offset of each time that states none, as the clocks of the zone stand; an instant
        shows its local time by them.
        """
        zone = self.records.zone or ""
        first, last = self._one(f"SELECT min(local), max(local) FROM ({raw}) AS r WHERE minutes IS NULL")
        if first is None:
            return raw
        if self.instants:
            since = list(_standing(zone_of(zone), first, last))
        else:
            days = ((first + timedelta(days=i)).date() for i in range((last - first).days + 2))
            stands = groupby(offsets(zone, days), key=lambda entry: entry[1:])
            since = [next(entries)[:2] for _, entries in stands]
        starts = self._bind("zone_since", [at for at, _ in since])
        ahead = self._bind("zone_ahead", [minutes for _, minutes in since])
        local = "w.local + to_minutes(z.ahead)" if self.instants else "w.local"
        return f"""SELECT {self._but_times()}, {local} AS local, coalesce(w.minutes, z.ahead) AS minutes
                   FROM ({raw}) AS w ASOF LEFT JOIN (
                       SELECT unnest(CAST({starts} AS TIMESTAMP[])) AS since, unnest(CAST({ahead} AS INTEGER[])) AS ahead
                   ) AS z ON w.local >= z.since"""

    def _but_times(self) -> str:
        names = ["event_id", *_WORDS, "stated_grain", "dated"]
        return ", ".join(f"w.{name}" for name in names) + self._attribute_names().replace(", ", ", w.")

    def _attribute_names(self) -> str:
        names = [attribute_column(i) for i in range(len(self.records.attributes))]
        return "".join(f", {name}, {name}_unclear" for name in names)

    def _attribute(self, column: str, attribute: Attribute, name: str | None) -> list[str]:
        """A cell in its attribute's type, and whether it holds something else (D1)."""
        kind = ATTRIBUTE_TYPES[attribute.type]
        if name is None:
            return [f"CAST(NULL AS {kind}) AS {column}", f"FALSE AS {column}_unclear"]
        cell, held = _quoted(name), self.kinds[name]
        text = f"nullif(CAST({cell} AS VARCHAR), '')"
        if attribute.type == "number" and held in ("integer", "number"):  # NaN lies above all numbers
            looks = f"{cell} > -1e{WHOLE} AND {cell} < 1e{WHOLE}"
            number = f"CAST(CAST({cell} AS VARCHAR) AS {kind})"  # a float as it is written, not as it is held
            return [
                f"CASE WHEN {looks} THEN {number} END AS {column}",
                f"{cell} IS NOT NULL AND NOT ({looks}) AS {column}_unclear",
            ]
        if attribute.type == "text":
            return [f"{text} AS {column}", f"FALSE AS {column}_unclear"]
        if held in {"boolean": ("boolean",), "date": ("date", "timestamp")}.get(attribute.type, ()):
            return [f"CAST({cell} AS {kind}) AS {column}", f"FALSE AS {column}_unclear"]
        if held != "text":
            raise self._error(
                f"{attribute.name}: column {name!r} holds {held}, which is no {attribute.type}",
                "correct the attribute's type",
            )
        looks = {
            "number": f"regexp_matches({cell}, '^[+-]?0*[0-9]{{1,{WHOLE}}}([.][0-9]{{0,{DECIMALS}}}0*)?$')",
            "boolean": f"lower({cell}) IN ('true', 'false')",
            "date": f"regexp_matches({cell}, '^({DAY})([T ].*)?$')",
        }[attribute.type]
        value = f"CASE WHEN {looks} THEN CAST({f'left({cell}, 10)' if attribute.type == 'date' else cell} AS {kind}) END"
        return [f"{value} AS {column}", f"{text} IS NOT NULL AND NOT ({looks}) AS {column}_unclear"]

    def _by_case(self) -> str:
        """Every row with its case's value of what is recorded of the case (D2)."""
        own, read = [f'e."{c}"' for c in COLUMNS], []
        for i, attribute in enumerate(self.records.attributes):
            name, of_case = attribute_column(i), attribute.of == "case"
            least, most = ("bool_and", "bool_or") if attribute.type == "boolean" else ("min", "max")
            unclear = f"bool_or({name}_unclear) OR coalesce({least}({name}) <> {most}({name}), FALSE)"
            if of_case:
                read += [
                    f"CASE WHEN NOT ({unclear}) THEN {least}({name}) END AS {name}, {unclear} AS {name}_unclear"
                ]
            own += [f"{'c' if of_case else 'e'}.{column}" for column in (name, f"{name}_unclear")]
        return f"""SELECT {", ".join(own)} FROM events_as_recorded AS e
                   JOIN (SELECT case_id, {", ".join(read)} FROM events_as_recorded GROUP BY case_id) AS c ON c.case_id = e.case_id"""

    # What the rows say

    def _check(self, raw: str) -> None:
        known = ", ".join(f"'{grain}'" for grain in GRAINS)
        rows, nameless, naked, grain = self._one(
            f"""SELECT count(*), count(*) - count(event_id), count(*) FILTER (WHERE local IS NOT NULL AND NOT dated AND minutes IS NULL),
                       min(stated_grain) FILTER (WHERE stated_grain NOT IN ({known}))
                FROM ({raw}) AS r"""
        )
        if not rows:
            raise self._error("has no rows", "give a table with events in it")
        if nameless:
            raise self._error(f"{nameless} rows have no event id", "give each row one", "event_id")
        if naked:
            raise self._error(
                f"{naked} rows carry a time without offset",
                "state records.zone, such as Europe/Amsterdam, or records.offset, such as +01:00",
                "timestamp",
            )
        if grain is not None:
            raise self._error(
                f"grain {one_line(str(grain), 40)!r} is unknown", f"use one of {', '.join(GRAINS)}", "grain"
            )
        doubled = self._rows(
            f"SELECT event_id, count(*) FROM ({raw}) AS r GROUP BY event_id HAVING count(*) > 1 ORDER BY event_id LIMIT 1"
        )
        if doubled:
            raise self._error(
                f"event id {doubled[0][0]!r} stands on {doubled[0][1]} rows",
                "make event ids unique",
                "event_id",
            )

    def _clock(self, raw: str) -> str:
        """The grain of rows that state none: the channel's declared clock, or what its times show (G7)."""
        counts = counted_clocks("local").replace("date_only", "dated")
        found = self._rows(
            f"""SELECT channel, activity, count(*) FILTER (WHERE NOT dated), count(*) FILTER (WHERE dated), {counts}
                FROM ({raw}) AS r WHERE local IS NOT NULL AND stated_grain IS NULL GROUP BY channel, activity"""
        )
        declared = {c.name: c.grain for c in self.records.channels if c.grain is not None}
        clocks = clocks_of(starmap(Clock, found), declared)
        self.chosen.findings += clocks.findings
        branches = []
        for i, clock in enumerate(clocks.dated):
            here = self._bind(f"dated_channel_{i}", clock.channel or "")
            what = self._bind(f"dated_activity_{i}", clock.activity or "")
            midnight = "local = date_trunc('day', local)"
            branches.append(f"WHEN channel = {here} AND activity = {what} AND {midnight} THEN 'day'")
        for i, (channel, grain) in enumerate(clocks.grains.items()):
            which = "channel IS NULL" if channel is None else f"channel = {self._bind(f'clock_{i}', channel)}"
            branches.append(f"WHEN {which} THEN '{grain}'")
        return f"CASE {' '.join(branches)} END" if branches else "CAST(NULL AS VARCHAR)"

    def _findings(self, raw: str, parts: list[tuple[str, str]]) -> tuple[str, ...]:
        rows, caseless = self._one(f"SELECT count(*), count(*) - count(case_id) FROM ({raw}) AS r")
        below = ", ".join(f'"{name}" AS ({select})' for name, select in parts)
        kept, first, last = self._one(
            f'WITH {below} SELECT count(*), min("timestamp"), max("timestamp") FROM events'
        )
        if not kept:
            raise self._error(
                "holds no row with a case id in a declared durable channel",
                "check records.columns and records.channels",
            )
        aside = {"without a case id": caseless, "in channels that are not evidence": rows - caseless - kept}
        told = [f"{kept:,} events", *(f"{n:,} {why}" for why, n in aside.items() if n)]
        declared = self.records.end_of_observation
        if declared is not None and first is not None:
            end = span(declared, self.records.clock)[1]
            if first > end:
                raise self._error(
                    f"{declared} lies before the first event, at {first} UTC",
                    "state when the log was extracted",
                    "records.end_of_observation",
                )
            if last > end:
                self.chosen.findings.append(f"some events stand after the end of observation, {declared}")
        return (f"the table's {rows:,} rows: {', '.join(told)}", *self.chosen.findings)

    # Asking

    def _bind(self, name: str, value: str | int | list[datetime] | list[int]) -> str:
        self.parameters[f"events_{name}"] = value
        return f"$events_{name}"

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self.engine.rows(sql, named_in(sql, self.parameters))

    def _one(self, sql: str) -> tuple[Any, ...]:
        return self._rows(sql)[0]

    def _error(self, problem: str, remedy: str, field: str = "") -> InputError:
        return InputError(problem, remedy, source=self.engine.address, field=field)


def _standing(clock: tzinfo, first: datetime, last: datetime) -> Iterator[tuple[datetime, int]]:
    """From when (UTC) on a clock stands how many minutes ahead, over the instants from the first to the last."""

    def minutes(ahead: timedelta | None) -> int:
        return round((ahead or timedelta()) / timedelta(minutes=1))

    yield first, minutes(first.replace(tzinfo=UTC).astimezone(clock).utcoffset())
    for at, _, after in changes(clock, first.date(), last.date()):
        if at > first:
            yield at, minutes(after)


def named_in(sql: str, parameters: Mapping[str, object]) -> dict[str, object]:
    """Those parameters that a SELECT names."""
    names = set(re.findall(r"\$(\w+)", sql))
    return {name: value for name, value in parameters.items() if name in names}


def _quoted(name: str) -> str:
    """A name of the database's own, as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'
