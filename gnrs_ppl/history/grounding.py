"""What a log records day by day, as the store keeps it beside the verdicts: the ground a rule stands on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Final, NamedTuple

from gnrs_ppl.context.log import EventLog, attribute_column
from gnrs_ppl.context.zone import span

if TYPE_CHECKING:
    import duckdb

CELLS: Final = ("resource", "role", "object", "location", "channel", "value")
"""Columns of the event table whose empty cells are counted, beside the record layer's attributes."""
_DAY: Final = """CAST("timestamp" + to_minutes(coalesce("offset", 0)) AS DATE)"""


class Recorded(NamedTuple):
    """A log by local days.

    Attributes
    ----------
    first, last : date
        The days it covers: to the declared end of observation, else to its last row.
    rows : mapping
        (channel, activity) -> day -> rows.
    cells : mapping
        Column or attribute -> day -> rows, and those of them with an empty cell.
    """

    first: date
    last: date
    rows: Mapping[tuple[str, str], Mapping[date, int]]
    cells: Mapping[str, Mapping[date, tuple[int, int]]]


def days_of(log: EventLog) -> tuple[date | None, date | None]:
    """First and last day that a log covers; None where no row is dated."""
    first, last = log.one(
        f'SELECT min({_DAY}), max({_DAY}) FROM events WHERE "timestamp" IS NOT NULL AND {log.reach.holds()}'
    )
    declared = log.records.end_of_observation
    if declared is not None and last is not None:
        last = max(last, span(declared, log.records.clock)[1].date())
    return first, last


def daily_rows(log: EventLog) -> list[tuple[str, str, date, int]]:
    """Rows of each channel, activity and day."""
    return log.connection.execute(
        f"""SELECT channel, activity, {_DAY}, count(*) FROM events
            WHERE channel IS NOT NULL AND activity IS NOT NULL AND "timestamp" IS NOT NULL GROUP BY ALL ORDER BY ALL"""
    ).fetchall()


def daily_cells(log: EventLog) -> list[tuple[str, date, int, int]]:
    """Rows of each day, and how many of them are empty in a column; columns that are empty throughout are
    left out.
    """
    columns = {name: f'"{name}"' for name in CELLS}
    columns |= {a.name: attribute_column(i) for i, a in enumerate(log.records.attributes)}
    found: list[tuple[str, date, int, int]] = []
    for name, column in columns.items():
        days = log.connection.execute(
            f"""SELECT {_DAY}, count(*), count(*) - count({column}) FROM events
                WHERE "timestamp" IS NOT NULL GROUP BY ALL ORDER BY ALL"""
        ).fetchall()
        if any(empty < rows for _, rows, empty in days):
            found += [(name, *day) for day in days]
    return found


def recorded(connection: duckdb.DuckDBPyConnection, run: int) -> Recorded | None:
    """What a store holds of a run's log; None where no row was dated."""
    first, last = connection.execute(
        "SELECT first_day, last_day FROM runs WHERE run = $run", {"run": run}
    ).fetchone() or (None, None)
    if first is None:
        return None
    rows: dict[tuple[str, str], dict[date, int]] = {}
    for channel, activity, day, count in connection.execute(
        "SELECT channel, activity, day, events FROM daily_rows WHERE run = $run", {"run": run}
    ).fetchall():
        rows.setdefault((channel, activity), {})[day] = count
    cells: dict[str, dict[date, tuple[int, int]]] = {}
    for name, day, count, empty in connection.execute(
        "SELECT name, day, events, empty FROM daily_cells WHERE run = $run", {"run": run}
    ).fetchall():
        cells.setdefault(name, {})[day] = (count, empty)
    return Recorded(first, last, rows, cells)
