"""A calendar that a log suggests, as a comment to complete: the days and hours on which its rows fall."""

from __future__ import annotations

from typing import Any

from gnrs_ppl.context.types import WEEKDAYS, Weekday
from gnrs_ppl.importing.events import Events

ENOUGH = 100
"""Rows, and with a tenth of them days, below which a log says nothing of its week."""
HARDLY = 0.02
"""Share of all rows up to which a day of the week is hardly worked."""
NEARLY = 0.95
"""Share of the timed rows that the hours hold."""


def calendar_suggested(events: Events) -> list[str]:
    """Lines that propose ``records.calendar`` where hardly a row falls on some days of the week; none
    where the log is of every day, or too short to say.
    """
    local = "TRY_CAST(left(timestamp, 10) AS DATE)"
    found: dict[int, tuple[int, int]] = {
        day: (rows, days)
        for day, rows, days in events.staging.rows_of(
            f"SELECT isodow({local}) AS day, count(*), count(DISTINCT {local}) FROM seen WHERE {local} IS NOT NULL GROUP BY 1"
        )
    }
    rows, days = (sum(counts[i] for counts in found.values()) for i in (0, 1))
    worked = [name for n, name in enumerate(WEEKDAYS, 1) if found.get(n, (0, 0))[0] > HARDLY * rows]
    if rows < ENOUGH or days < ENOUGH / 10 or not 3 <= len(worked) < 7:
        return []
    held = sum(found[n][0] for n, name in enumerate(WEEKDAYS, 1) if name in worked)
    hours, told = _hours(events)
    shown = ", ".join([f"weekdays: {_days(worked)}", *([f'hours: ["{hours}"]'] if hours else [])])
    return [
        f"{held:,} of {rows:,} rows fall on {len(worked)} days of the week{told}. For rules in working time:",
        f"calendar: {{{shown}, holidays: {{country: ??}}}}  (the country is for you to say, and a zone)",
    ]


def _days(worked: list[Weekday]) -> str:
    return f"[{', '.join(worked)}]"


def _hours(events: Events) -> tuple[str, str]:
    """The whole hours that hold nearly all times of the day, and what to tell of them; empty where rows have
    none, or come round the clock.
    """
    counts: dict[int, int] = dict(
        events.staging.rows_of(
            "SELECT TRY_CAST(substring(timestamp, 12, 2) AS INTEGER) AS hour, count(*) FROM seen "
            "WHERE length(timestamp) > 10 AND substring(timestamp, 12, 2) BETWEEN '00' AND '23' GROUP BY 1"
        )
    )
    timed = sum(counts.values())
    spans: list[tuple[int, Any]] = [
        (end - begin, (begin, end))
        for begin in range(24)
        for end in range(begin + 1, 25)
        if timed and sum(counts.get(hour, 0) for hour in range(begin, end)) >= NEARLY * timed
    ]
    if timed < ENOUGH or not 2 <= min(spans)[0] <= 14:
        return "", ""
    begin, end = min(spans)[1]
    held = sum(counts.get(hour, 0) for hour in range(begin, end))
    hours = f"{begin:02d}:00-{end:02d}:00"
    return hours, f", {held:,} of {timed:,} times between {hours[:5]} and {hours[6:]}"
