"""Additions to records, and the records with them: what a changed copy would let an auditor see."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from gnrs_ppl.context.log import COLUMNS_QUOTED, EventLog
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import Channel, Interval, RecordLayer
from gnrs_ppl.rulebook.imagined import COMPLETE

if TYPE_CHECKING:
    import duckdb

_COLUMNS = ", ".join(COLUMNS_QUOTED)
ELSEWHERE = "a case elsewhere"
"""The case that holds one row of what is added, so that none of it counts as never recorded."""
Variant = Literal["as named", "otherwise"]
VARIANTS: tuple[Variant, ...] = ("as named", "otherwise")
"""Two opposite contents of what is added: what the rule names, and something else or nothing."""


@dataclass(frozen=True)
class Keep:
    """A log that records an act, with the fields that a rule looks at, and for each a value that it names."""

    channel: str
    activity: str
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def says(self) -> str:
        """The addition in words."""
        named = " and ".join(f"{field}, such as {value!r}" for field, value in self.fields)
        return f"keep a record of {self.activity!r} in {self.channel!r}" + (
            f", with {named}" if named else ""
        )


@dataclass(frozen=True)
class Fill:
    """A field of an act's rows; ``value`` is the one that the rule names, None where it only compares."""

    field: Literal["role", "object", "location", "resource", "timestamp"]
    activity: str
    channel: str
    value: str | None

    @property
    def says(self) -> str:
        """The addition in words."""
        named = f", such as {self.value!r}," if self.value else ""
        what = {"resource": "who acts", "timestamp": "the time"}.get(self.field, f"the {self.field}{named}")
        return f"fill in {what} on every {self.activity!r} in {self.channel!r}"


@dataclass(frozen=True)
class Finer:
    """A clock that shows seconds."""

    channel: str

    @property
    def says(self) -> str:
        """The addition in words."""
        return f"record the time of day, to the second, in {self.channel!r}"


@dataclass(frozen=True)
class Cover:
    """A log that is declared complete for all the time in question."""

    channel: str

    @property
    def says(self) -> str:
        """The addition in words."""
        return f"declare {self.channel!r} complete for the whole time (records.channels, coverage)"


@dataclass(frozen=True)
class Close:
    """A log whose silence means absence."""

    channel: str

    @property
    def says(self) -> str:
        """The addition in words."""
        return f"declare that silence of {self.channel!r} means absence (closed_world)"


@dataclass(frozen=True)
class EndCases:
    """When a case is over."""

    quiet: Duration

    @property
    def says(self) -> str:
        """The addition in words."""
        return f"say when a case is over (records.case_end, or quiet_after such as {self.quiet})"


Addition = Keep | Fill | Finer | Cover | Close | EndCases


@dataclass(frozen=True)
class Records:
    """A record layer with its rows."""

    layer: RecordLayer
    log: EventLog

    def pinned(self) -> Records:
        """The same with the end of observation and the default coverage stated, so that they stay as they
        are when rows change.
        """
        ends = self.layer.end_of_observation
        spans = {
            channel: (first, last)
            for channel, first, last in self.log.connection.execute(
                'SELECT channel, min("timestamp"), max("timestamp" + CASE "grain" WHEN \'day\' THEN '
                "to_days(1) WHEN 'minute' THEN to_minutes(1) WHEN 'second' THEN to_seconds(1) ELSE "
                'to_microseconds(1) END - to_microseconds(1)) FROM events WHERE "timestamp" IS NOT NULL '
                f"AND {self.log.reach.holds()} GROUP BY channel"
            ).fetchall()
        }
        if ends is None and spans:
            ends = _utc(max(last for _, last in spans.values()))
        channels = tuple(
            c
            if c.coverage is not None or c.name not in spans
            else c.model_copy(update={"coverage": (_span(*spans[c.name]),)})
            for c in self.layer.channels
        )
        return Records(
            self.layer.model_copy(update={"channels": channels, "end_of_observation": ends}), self.log
        )

    def with_additions(
        self, additions: Iterable[Addition], variant: Variant, cases: Collection[str] | None = None
    ) -> Records:
        """A changed copy, of all rows or those of some cases; the rows here stay as they are."""
        layer, connection = self.layer, self.log.connection.cursor()
        connection.execute(  # a cursor's own table goes before the one that it shadows
            "CREATE TEMP TABLE events AS SELECT * FROM main.events "
            "WHERE $cases IS NULL OR list_contains($cases::VARCHAR[], case_id)",
            {"cases": None if cases is None else sorted(cases)},
        )
        for addition in additions:
            layer = _layer(layer, addition)
            _change(connection, addition, variant)
        events, many = connection.execute(
            "SELECT count(*), count(DISTINCT case_id) FROM events"
        ).fetchone() or (
            0,
            0,
        )
        return Records(layer, EventLog(connection, self.log.fingerprint, events, many, (), layer))


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC)


def _span(start: datetime, end: datetime) -> Interval:
    return Interval.model_construct(start=_utc(start), end=_utc(end))


def _layer(layer: RecordLayer, addition: Addition) -> RecordLayer:
    """The record layer that declares an addition."""
    if isinstance(addition, Fill):
        return layer
    if isinstance(addition, EndCases):
        return layer.model_copy(update={"quiet_after": addition.quiet})
    known = layer.channel(addition.channel) or Channel.model_construct(name=addition.channel)
    update: dict[str, object] = {}
    match addition:
        case Keep():
            update = {"durable": True, "activities": tuple({*(known.activities or ()), addition.activity})}
        case Finer():
            update = {"grain": "second"}
        case Cover():
            update = {"coverage": (_span(*COMPLETE),)}
        case Close():
            update = {"closed_world": True}
    others = tuple(channel for channel in layer.channels if channel.name != addition.channel)
    return layer.model_copy(update={"channels": (*others, known.model_copy(update=update))})


def _change(connection: duckdb.DuckDBPyConnection, addition: Addition, variant: Variant) -> None:
    """The rows that hold an addition."""
    named = variant == "as named"
    if isinstance(addition, Keep):
        if named:  # a twin of each row of the act elsewhere, else one of the first row of each case
            connection.execute(
                f"""INSERT INTO events ({_COLUMNS})
                   WITH act AS (SELECT * FROM events WHERE activity = $activity
                                QUALIFY dense_rank() OVER (PARTITION BY case_id ORDER BY channel) = 1),
                        rest AS (SELECT * FROM events WHERE NOT EXISTS (SELECT 1 FROM act)
                                 QUALIFY row_number() OVER (
                                     PARTITION BY case_id ORDER BY "timestamp", event_id) = 1)
                   SELECT event_id || '+' || $channel, case_id, $activity, "timestamp", "offset", "grain",
                          resource, role, "object", "location", $channel, value
                   FROM (SELECT * FROM act UNION ALL SELECT * FROM rest)""",
                {"channel": addition.channel, "activity": addition.activity},
            )
        _elsewhere(connection, addition.channel, addition.activity, addition.fields)
    elif isinstance(addition, Fill):
        column, place = f'"{addition.field}"', {"channel": addition.channel, "activity": addition.activity}
        here = "activity = $activity AND channel = $channel"
        if addition.field == "timestamp":
            which = "max" if named else "min"
            connection.execute(
                f"""UPDATE events SET "timestamp" = t.at, "offset" = t."offset", "grain" = t."grain"
                    FROM (SELECT case_id, {which}("timestamp") AS at,
                                 arg_{which}("offset", "timestamp") AS "offset",
                                 arg_{which}("grain", "timestamp") AS "grain"
                          FROM events GROUP BY case_id) AS t
                    WHERE {here} AND events.case_id = t.case_id AND events."timestamp" IS NULL""",
                place,
            )
            return
        # where nobody is named, or everybody is the same, what stands there tells nothing and is written anew
        anew = connection.execute(
            f"SELECT count(DISTINCT {column}) < 2 AND count(DISTINCT case_id) > 1 OR "
            f"coalesce(bool_and({column} <> $value), FALSE) FROM events WHERE {here}",
            {**place, "value": addition.value},
        ).fetchone() or (False,)
        empty = "" if anew[0] else f"AND {column} IS NULL"
        if addition.value is not None:
            text, values = "$text", {"text": addition.value if named else "something else"}
        else:
            text, values = ("'of ' || case_id" if named else "'of ' || event_id"), {}
        connection.execute(f"UPDATE events SET {column} = {text} WHERE {here} {empty}", {**place, **values})
        if addition.value is not None:
            named_so = ((addition.field, addition.value),)
            _elsewhere(connection, addition.channel, addition.activity, named_so)
    elif isinstance(addition, Finer):
        order = "event_id" if named else "event_id DESC"
        connection.execute(
            f"""UPDATE events SET "grain" = 'second',
                       "timestamp" = date_trunc('minute', events."timestamp") + to_seconds(t.nr)
                FROM (SELECT event_id,
                             row_number() OVER (PARTITION BY case_id ORDER BY "timestamp", {order}) % 50 AS nr
                      FROM events WHERE channel = $channel) AS t
                WHERE events.event_id = t.event_id AND events."timestamp" IS NOT NULL""",
            {"channel": addition.channel},
        )


def _elsewhere(
    connection: duckdb.DuckDBPyConnection, channel: str, activity: str, fields: tuple[tuple[str, str], ...]
) -> None:
    """A row of what is added in a case of its own."""
    named = {"role": None, "object": None, "location": None} | dict(fields)
    connection.execute(
        f"""INSERT INTO events ({_COLUMNS})
           SELECT $case || ' ' || count(*), $case, $activity, min("timestamp"), any_value("offset"),
                  any_value("grain"), NULL, $role, $object, $location, $channel, NULL FROM events""",
        {"case": ELSEWHERE, "activity": activity, "channel": channel, **named},
    )
