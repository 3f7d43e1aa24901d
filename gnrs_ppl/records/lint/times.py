"""Findings about times: G201 to G212."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from gnrs_ppl.context.log import _ISO, BEYOND, beyond_years, iso_parts
from gnrs_ppl.context.zone import span
from gnrs_ppl.errors import one_line
from gnrs_ppl.records.lint.findings import ENOUGH, Found, Material, some_of
from gnrs_ppl.records.mend import State

CLOCK_CHANGES = 2
"""Days in a year on which a clock may be set forward or back."""
_BEGINS = re.compile(r"(?:time)?(?:start|begin|started|begun)(?:time|timestamp|date|at|ed)?")


def unreadable_times(m: Material) -> Iterator[Found]:
    """Timestamps that are no ISO 8601 times."""
    if m.cells is None:
        return
    cell = m.cells.of("timestamp")
    parts = iso_parts(cell)
    instant = (
        f"try_cast({parts}.date || ' ' || CASE WHEN {parts}.time = '' THEN '00:00' ELSE "
        f"replace({parts}.time, ',', '.') END AS TIMESTAMP)"
    )
    bad = m.cells.rows(
        f"SELECT count(*), min(row), arg_min({cell}, row) FROM raw WHERE {cell} IS NOT NULL AND "
        f"coalesce(year({instant}), 0) NOT BETWEEN 1000 AND 9000 AND NOT regexp_matches({cell}, $beyond)",
        {"iso": _ISO, "beyond": BEYOND},
    )[0]
    if bad[0]:
        yield Found(
            "timestamp",
            f"{bad[0]:,} timestamps are no ISO 8601 times of the years 1000 to 9000",
            bad[0],
            f"row {bad[1]}: {one_line(str(bad[2]), 60)}",
            "write them as 2024-05-31T09:15:00+02:00; gnrs import reads other ways to write a time",
        )


def sentinels(m: Material) -> Iterator[Found]:
    """Times of years that no time is of, such as 9999-12-31."""
    if m.cells is None:
        return
    cell = m.cells.of("timestamp")
    found = m.cells.rows(
        f"SELECT {cell}, count(*), 'row ' || min(row) FROM raw WHERE regexp_matches({cell}, $beyond) "
        "GROUP BY ALL ORDER BY count(*) DESC, 1",
        {"beyond": BEYOND},
    )
    if found:
        yield Found(
            "timestamp",
            beyond_years(found),
            sum(count for _, count, _ in found),
            f"{found[0][2]}: {one_line(str(found[0][0]), 60)}",
            "leave a time that is not known empty, and correct one that is mistyped",
            frozenset({("column", "timestamp")}),
        )


def times_without_offset(m: Material) -> Iterator[Found]:
    """Times of day that carry no offset where none is declared, and logs in which some carry one and others
    do not.
    """
    carried = _offsets_carried(m)
    if carried is not None and carried.bare and m.records.offset is None and m.records.zone is None:
        yield Found(
            "timestamp",
            f"{carried.bare:,} times carry no offset, and neither offset nor zone is declared",
            carried.bare,
            f"row {carried.first_bare}",
            "state records.zone, such as Europe/Amsterdam, or records.offset, such as +01:00",
        )


def offsets_on_some(m: Material) -> Iterator[Found]:
    """Logs in which some times carry an offset and others take the declared one."""
    carried = _offsets_carried(m)
    if carried is not None and carried.bare and carried.told and m.records.offset is not None:
        yield Found(
            "timestamp",
            f"{carried.told:,} times carry an offset, {carried.bare:,} do not and take records.offset",
            carried.bare,
            f"row {carried.first_bare}",
            "write the offset on every row, or state records.zone: a local time in summer is an hour off "
            "otherwise",
            frozenset({("column", "timestamp")}),
        )


class _Carried(NamedTuple):
    told: int
    bare: int
    first_bare: int | None


def _offsets_carried(m: Material) -> _Carried | None:
    """Times of day with an offset of their own or beside them, those without, and the first of these."""
    if m.cells is None:
        return None
    cell, beside = m.cells.of("timestamp"), m.cells.of("offset")
    constant = "true" if "offset" in m.records.constants else "false"
    parts = iso_parts(cell)
    has = f"({parts}.suffix <> '' OR {beside} IS NOT NULL OR {constant})"
    timed = f"coalesce({parts}.time, '') <> ''"
    return _Carried(
        *m.cells.rows(
            f"SELECT count(*) FILTER ({has}), count(*) FILTER (NOT {has}), min(row) FILTER (NOT {has}) FROM "
            f"raw WHERE {timed}",
            {"iso": _ISO},
        )[0]
    )


def mixed_offsets(m: Material) -> Iterator[Found]:
    """More days with several offsets than clocks are set forward and back; it is about the logs that differ
    from most rows of a day.
    """
    found = m.rows(
        """WITH counted AS (
               SELECT date_trunc('day', "timestamp") AS day, channel, "offset" AS minutes, count(*) AS n FROM events
               WHERE "timestamp" IS NOT NULL AND "offset" IS NOT NULL AND grain <> 'day' GROUP BY ALL),
           usual AS (SELECT day, arg_max(minutes, n) AS minutes FROM (
                         SELECT day, minutes, sum(n) - minutes / 1e6 AS n FROM counted GROUP BY day, minutes) GROUP BY day),
           differing AS (
               SELECT c.channel, c.n, c.day, c.minutes, u.minutes AS most FROM counted c JOIN usual u USING (day)
               WHERE c.minutes <> u.minutes)
           SELECT channel, count(DISTINCT day), sum(n), min(day), min_by(minutes, day), min_by(most, day), max(abs(minutes - most)),
                  (SELECT date_diff('day', min(day), max(day)) FROM counted) FROM differing GROUP BY channel ORDER BY channel"""
    )
    for channel, days, rows, first, minutes, most, apart, length in found:
        if days > CLOCK_CHANGES * (1 + length / 365) or apart > 60:
            yield Found(
                str(channel or "timestamp"),
                f"{rows:,} rows, on {days:,} days, carry another offset than most rows of their day",
                rows,
                f"{_offset(minutes)} on {first.date()}, where most have {_offset(most)}",
                "write all times of a place at the offset it had that day: days and deadlines are counted "
                "on the local clock",
                frozenset({("channel", channel)}),
            )


def dates_alone(m: Material) -> Iterator[Found]:
    """Channels whose times are all dates and that do not say so."""
    for channel, dates, dated in _dates(m):
        declared = m.records.channel(channel)
        if dates == dated and dated >= ENOUGH and declared is not None and declared.grain is None:
            place = next(
                (
                    i
                    for i, c in enumerate(m.data["records"]["channels"])
                    if isinstance(c, dict) and c.get("name") == channel
                ),
                None,
            )
            yield Found(
                f"records.channels.{channel}",
                f"all {dates:,} times are dates without time of day",
                dates,
                channel,
                "state grain: day",
                frozenset({("channel", channel)}),
                (State(("records", "channels", place), "grain", "day"),) if place is not None else (),
            )


def some_dates_alone(m: Material) -> Iterator[Found]:
    """Channels in which some times are dates: what is compared with them is compared by day."""
    for channel, dates, dated in _dates(m):
        if 0 < dates < dated:
            acts = m.rows(
                "SELECT activity, count(*) AS n FROM events WHERE channel = $channel AND grain = 'day' "
                "GROUP BY ALL ORDER BY n DESC, activity",
                {"channel": channel},
            )
            yield Found(
                channel,
                f"{dates:,} of {dated:,} times are dates without time of day: "
                f"{some_of([str(a) for a, _ in acts])}",
                dates,
                f"{acts[0][0]} on {acts[0][1]:,} rows",
                "record the time of day too; until then these acts are compared by day",
                frozenset(("action", activity) for activity, _ in acts if activity is not None),
            )


def _dates(m: Material) -> list[tuple[Any, ...]]:
    return m.rows(
        "SELECT channel, count(*) FILTER (grain = 'day'), count(*) FROM events "
        'WHERE channel IS NOT NULL AND "timestamp" IS NOT NULL GROUP BY ALL ORDER BY ALL'
    )


def ends_before_start(m: Material) -> Iterator[Found]:
    """Rows whose column of starts is later than their timestamp."""
    if m.cells is None:
        return
    stamp = m.records.columns.get("timestamp", "timestamp")
    for name in m.cells.header:
        if name == stamp or not _BEGINS.fullmatch("".join(c for c in name.casefold() if c.isalnum())):
            continue
        start, end = (
            f"try_cast(replace({cell}, ',', '.') AS TIMESTAMPTZ)"
            for cell in (m.cells.named(name), m.cells.of("timestamp"))
        )
        count, row = m.cells.rows(f"SELECT count(*), min(row) FROM raw WHERE {start} > {end}")[0]
        if count:
            yield Found(
                name,
                f"on {count:,} rows {name!r} is later than {stamp!r}",
                count,
                f"row {row}",
                "correct the two columns",
            )


def closes_before_opening(m: Material) -> Iterator[Found]:
    """Cases whose last closing act stands before their first opening act."""
    found = m.rows(
        """SELECT count(*), min(case_id) FROM (
               SELECT case_id, min("timestamp") FILTER (list_contains($opens::VARCHAR[], activity)) AS opened,
                      max("timestamp") FILTER (list_contains($closes::VARCHAR[], activity)) AS closed
               FROM events GROUP BY case_id) WHERE closed < opened""",
        {"opens": list(m.records.case_start), "closes": list(m.records.case_end)},
    )
    if found and found[0][0]:
        yield Found(
            "records.case_end",
            f"in {found[0][0]:,} cases the closing act stands before the opening act",
            found[0][0],
            f"case {one_line(str(found[0][1]), 60)}",
            "correct records.case_start and records.case_end, or the times",
            frozenset(("action", name) for name in (*m.records.case_start, *m.records.case_end)),
        )


def after_observation(m: Material) -> Iterator[Found]:
    """Rows after the end of observation."""
    if m.records.end_of_observation is None:
        return
    end = span(m.records.end_of_observation, m.records.clock)[1]
    found = m.rows(
        'SELECT count(*), arg_max(event_id, "timestamp") FROM events WHERE "timestamp" > $end', {"end": end}
    )
    if found and found[0][0]:
        yield Found(
            "records.end_of_observation",
            f"{found[0][0]:,} rows stand after it",
            found[0][0],
            f"event {found[0][1]}",
            "state when the log was extracted",
            frozenset({("column", "timestamp")}),
        )


def far_off_rows(m: Material) -> Iterator[Found]:
    """Rows far from all others, or dated after the file was written: what is observed does not rest on them."""
    if m.log is not None and m.log.reach.rows:
        yield Found(
            "timestamp",
            "; ".join(m.log.reach.lines),
            m.log.reach.rows,
            m.log.reach.example,
            "correct their times, or state records.end_of_observation and the channels' coverage",
            frozenset({("column", "timestamp")}),
        )


def planned_rows(m: Material) -> Iterator[Found]:
    """Logs most of which is dated after their file was written."""
    if m.log is not None and m.log.reach.planned:
        yield Found(
            "timestamp",
            m.log.reach.planned.partition(";")[0],
            1,
            "timestamp",
            "state records.end_of_observation if they are not",
            frozenset({("column", "timestamp")}),
        )


def _offset(minutes: int) -> str:
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"
