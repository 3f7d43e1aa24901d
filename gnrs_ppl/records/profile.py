"""``gnrs profile``: volumes, variants, delays, who does what, empty cells, silences and twins of a log."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any, NamedTuple

from gnrs_ppl.context.log import EventLog
from gnrs_ppl.context.types import COLUMNS, RecordLayer
from gnrs_ppl.context.zone import span

if TYPE_CHECKING:
    import duckdb

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
VARIANTS = 20
STEPS = 50
PEOPLE = 30
"""Roles, or people where no row holds a role, that are listed; the others are counted."""
SILENCES = 3
TWINS_WITHIN = 3600.0
"""Seconds within which two rows of one act in two logs are taken for twins."""
_UNITS = (("day", 45), ("week", 3 * 366), ("month", 20 * 366))
"""Unit of volumes, and the days of records up to which it is taken; years beyond."""
_LOCAL = '("timestamp" + to_minutes(coalesce("offset", 0)))'


class Volume(NamedTuple):
    """Rows of a channel in one day, week, month or year of local time."""

    start: datetime
    channel: str
    rows: int


class Variant(NamedTuple):
    """A sequence of acts and the cases that show it."""

    acts: tuple[str, ...]
    cases: int


class Step(NamedTuple):
    """Two acts that directly follow one another in a case, and the seconds between them at ``QUANTILES``."""

    before: str
    after: str
    rows: int
    seconds: tuple[float, ...]


class Act(NamedTuple):
    """Rows, cases and different people of an act, and its rows by role (by person where no row holds a
    role).
    """

    name: str
    rows: int
    cases: int
    people: int
    by: Mapping[str, int]


class Cells(NamedTuple):
    """A column of the event table: empty cells, and how many different values the others hold."""

    column: str
    empty: int
    distinct: int


class Silence(NamedTuple):
    """A time in which a channel has no row."""

    start: datetime
    end: datetime

    @property
    def days(self) -> float:
        """Its length."""
        return (self.end - self.start).total_seconds() / 86400


class Coverage(NamedTuple):
    """What a channel covers: rows, first and last local time, the coverage that is declared, and its longest
    silences.

    ``unusual`` is the length in days from which a silence is longer than chance explains at the channel's
    pace.
    """

    channel: str
    rows: int
    first: datetime | None
    last: datetime | None
    declared: tuple[tuple[datetime, datetime], ...] | None
    silences: tuple[Silence, ...]
    unusual: float


class Twins(NamedTuple):
    """Rows of one case and act in two logs, equal where both say something, at most an hour apart.

    ``of`` is the number of the act's rows in the log that has fewer.
    """

    activity: str
    channels: tuple[str, str]
    pairs: int
    of: int
    median: float
    nine_in_ten: float


@dataclass(frozen=True)
class Overview:
    """What is in a log.

    Attributes
    ----------
    unit : str
        Of ``volumes``: day, week, month or year.
    by : str
        Whether acts are counted by role or by resource.
    variants, steps
        The most frequent; ``all_variants`` and ``all_steps`` count them all.
    doubled : int
        Rows that are equal to another one in all but their id.
    """

    fingerprint: str
    events: int
    cases: int
    first: datetime | None
    last: datetime | None
    unit: str
    volumes: tuple[Volume, ...]
    variants: tuple[Variant, ...]
    all_variants: int
    steps: tuple[Step, ...]
    all_steps: int
    by: str
    acts: tuple[Act, ...]
    columns: tuple[Cells, ...]
    coverage: tuple[Coverage, ...]
    twins: tuple[Twins, ...]
    doubled: int
    said: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The JSON of ``gnrs profile``; times are local."""
        found: dict[str, Any] = _plain(asdict(self))
        parts = {
            "volumes": Volume,
            "variants": Variant,
            "steps": Step,
            "acts": Act,
            "columns": Cells,
            "twins": Twins,
        }
        for part in parts:
            found[part] = [_plain(one._asdict()) for one in getattr(self, part)]
        for step in found["steps"]:
            step["seconds"] = dict(zip(map(str, QUANTILES), step["seconds"], strict=True))
        found["coverage"] = [
            _plain(c._asdict() | {"silences": [s._asdict() | {"days": s.days} for s in c.silences]})
            for c in self.coverage
        ]
        return found


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def overview(log: EventLog) -> Overview:
    """What is in a log, in one pass for each question.

    Parameters
    ----------
    log : EventLog
    """
    rows = log.connection.execute
    first, last = rows(
        f'SELECT min({_LOCAL}), max({_LOCAL}) FROM events WHERE "timestamp" IS NOT NULL AND {log.reach.holds()}'
    ).fetchone() or (None, None)
    unit = unit_of(first, last)
    volumes = rows(
        f"SELECT date_trunc('{unit}', {_LOCAL}) AS start, coalesce(channel, ''), count(*) FROM events "
        f'WHERE "timestamp" IS NOT NULL AND {log.reach.holds()} GROUP BY ALL ORDER BY ALL'
    ).fetchall()
    cells = ", ".join(f'count(*) - count("{c}"), count(DISTINCT "{c}")' for c in COLUMNS)
    counted = rows(f"SELECT {cells} FROM events").fetchone() or ()
    columns = tuple(Cells(c, counted[2 * i], counted[2 * i + 1]) for i, c in enumerate(COLUMNS))
    variants, all_variants = _variants(log.connection)
    steps, all_steps = _steps(log.connection)
    by = "role" if next(c for c in columns if c.column == "role").distinct else "resource"
    return Overview(
        log.fingerprint,
        log.events,
        log.cases,
        first,
        last,
        unit,
        tuple(Volume(datetime(d.year, d.month, d.day), channel, n) for d, channel, n in volumes),
        variants,
        all_variants,
        steps,
        all_steps,
        by,
        _acts(log.connection, by),
        columns,
        coverage_of(log, log.records),
        twins_of(log),
        doubled_rows(log)[0],
        (*log.findings, *log.reach.findings),
    )


def unit_of(first: datetime | None, last: datetime | None) -> str:
    """Day, week, month or year: the unit in which a span of time is told in a picture's worth of parts."""
    days = (last - first).days if first is not None and last is not None else 0
    return next((unit for unit, most in _UNITS if days <= most), "year")


def _variants(connection: duckdb.DuckDBPyConnection) -> tuple[tuple[Variant, ...], int]:
    found = connection.execute(
        """SELECT acts, count(*) AS cases, count(*) OVER () AS variants FROM (
               SELECT list(activity ORDER BY "timestamp", rowid) AS acts FROM events WHERE activity IS NOT NULL GROUP BY case_id)
           GROUP BY acts ORDER BY cases DESC, acts LIMIT $most""",
        {"most": VARIANTS},
    ).fetchall()
    return tuple(Variant(tuple(acts), cases) for acts, cases, _ in found), found[0][2] if found else 0


def _steps(connection: duckdb.DuckDBPyConnection) -> tuple[tuple[Step, ...], int]:
    found = connection.execute(
        """WITH placed AS (
               SELECT activity, "timestamp" AS instant, lag(activity) OVER w AS earlier, lag("timestamp") OVER w AS since
               FROM events WHERE activity IS NOT NULL AND "timestamp" IS NOT NULL
               WINDOW w AS (PARTITION BY case_id ORDER BY "timestamp", rowid))
           SELECT earlier, activity, count(*) AS n, quantile_cont(epoch(instant) - epoch(since), $quantiles), count(*) OVER ()
           FROM placed WHERE earlier IS NOT NULL GROUP BY earlier, activity ORDER BY n DESC, earlier, activity LIMIT $most""",
        {"quantiles": list(QUANTILES), "most": STEPS},
    ).fetchall()
    return tuple(Step(a, b, n, tuple(seconds)) for a, b, n, seconds, _ in found), found[0][4] if found else 0


def _acts(connection: duckdb.DuckDBPyConnection, by: str) -> tuple[Act, ...]:
    """Acts by frequency, each with its most frequent doers."""
    doers: dict[str, dict[str, int]] = {}
    for activity, name, n in connection.execute(
        f"""SELECT activity, "{by}", count(*) AS n FROM events WHERE activity IS NOT NULL AND "{by}" IN (
                SELECT "{by}" FROM events WHERE "{by}" IS NOT NULL GROUP BY ALL ORDER BY count(*) DESC, "{by}" LIMIT $most)
            GROUP BY ALL ORDER BY activity, n DESC, "{by}" """,
        {"most": PEOPLE},
    ).fetchall():
        doers.setdefault(activity, {})[name] = n
    found = connection.execute(
        "SELECT activity, count(*) AS n, count(DISTINCT case_id), count(DISTINCT resource) FROM events "
        "WHERE activity IS NOT NULL "
        "GROUP BY activity ORDER BY n DESC, activity"
    ).fetchall()
    return tuple(
        Act(activity, n, cases, people, doers.get(activity, {})) for activity, n, cases, people in found
    )


def coverage_of(log: EventLog, records: RecordLayer) -> tuple[Coverage, ...]:
    """Each channel's rows, reach and longest silences, declared channels without rows too.

    Parameters
    ----------
    log : EventLog
    records : RecordLayer
        As declared.
    """
    found: dict[str, Coverage] = {}
    local = f"CASE WHEN {log.reach.holds()} THEN {_LOCAL} END"
    for channel, n, first, last, silences in log.connection.execute(
        f"""SELECT channel, count(*), min(instant), max(instant),
                   max({{'length': instant - before, 'start': before, 'end': instant}}, $most) FILTER (instant > before)
            FROM (SELECT channel, {local} AS instant, lag({local}) OVER (PARTITION BY channel ORDER BY "timestamp") AS before
                  FROM events WHERE channel IS NOT NULL) GROUP BY channel ORDER BY channel""",
        {"most": SILENCES},
    ).fetchall():
        days = (last - first).total_seconds() / 86400 if first is not None else 0.0
        unusual = max(4.0, 3 * math.log(max(n, 2)) * days / n)
        longest = tuple(Silence(s["start"], s["end"]) for s in silences or () if s["start"] is not None)
        found[channel] = Coverage(channel, n, first, last, None, longest, unusual)
    clock = records.clock
    for declared in records.channels:
        known = found.get(declared.name, Coverage(declared.name, 0, None, None, None, (), 4.0))
        if declared.coverage is not None:
            told = tuple(
                (_local(span(i.start, clock)[0], clock), _local(span(i.end, clock)[1], clock))
                for i in declared.coverage
            )
            known = known._replace(declared=told)
        found[declared.name] = known
    return tuple(found[name] for name in sorted(found))


def twins_of(log: EventLog) -> tuple[Twins, ...]:
    """Acts that two logs show within an hour, most frequent first: neighbouring rows of a case and act that
    differ in the channel.

    Parameters
    ----------
    log : EventLog
    """
    alike = " AND ".join(
        f'coalesce("{c}" = other."{c}", true)' for c in ("resource", "role", "object", "location")
    )
    found = log.connection.execute(
        f"""WITH shared AS (
                SELECT activity FROM events WHERE activity IS NOT NULL GROUP BY activity HAVING count(DISTINCT channel) > 1),
            placed AS (
                SELECT *, lag(struct_pack(channel, at := "timestamp", resource, role, object, location))
                       OVER (PARTITION BY case_id, activity ORDER BY "timestamp", rowid) AS other
                FROM events SEMI JOIN shared USING (activity) WHERE channel IS NOT NULL AND "timestamp" IS NOT NULL),
            paired AS (
                SELECT activity, least(channel, other.channel) AS one, greatest(channel, other.channel) AS two,
                       epoch("timestamp") - epoch(other.at) AS apart
                FROM placed WHERE channel <> other.channel AND {alike} AND epoch("timestamp") - epoch(other.at) <= $within)
            SELECT activity, one, two, count(*) AS n, median(apart), quantile_cont(apart, 0.9)
            FROM paired GROUP BY activity, one, two ORDER BY n DESC, activity, one, two""",
        {"within": TWINS_WITHIN},
    ).fetchall()
    return tuple(
        Twins(activity, (one, two), n, min(log.seen[one, activity], log.seen[two, activity]), median, most)
        for activity, one, two, n, median, most in found
    )


def doubled_rows(log: EventLog) -> tuple[int, str | None, dict[str, int]]:
    """Rows that are equal to an earlier one in all but their id, the id of one, and their number by activity.

    Parameters
    ----------
    log : EventLog
    """
    others = ", ".join(f'"{c}"' for c in COLUMNS if c != "event_id")
    found = log.connection.execute(
        f"""SELECT activity, sum(n - 1)::BIGINT, min(again) FROM (
                SELECT {others}, count(*) AS n, max(event_id) AS again FROM events GROUP BY ALL HAVING count(*) > 1)
            GROUP BY activity ORDER BY ALL"""
    ).fetchall()
    return (
        sum(n for _, n, _ in found),
        min((again for *_, again in found), default=None),
        {str(a): n for a, n, _ in found},
    )


def _local(utc: datetime, clock: tzinfo) -> datetime:
    return utc.replace(tzinfo=UTC).astimezone(clock).replace(tzinfo=None)
