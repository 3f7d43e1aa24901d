"""How far the rows of a log reach in time: what is observed, and when a channel is complete, rests neither on
rows that lie far from all others nor on rows dated after their file was written (SEMANTICS line 4, G9).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from gnrs_ppl.errors import one_line

if TYPE_CHECKING:
    import duckdb

SHARE = 100
"""One row in so many may lie apart, by more than a year."""
FEW = 3
"""So many rows of a log of more than so many may lie apart, by more than five years, and at most a third."""
YEAR, YEARS = timedelta(days=366), timedelta(days=5 * 366)
LATE = timedelta(days=1)
"""By how much a row may be dated after its file: a clock or an offset may be wrong."""
LISTED = 3


class Reach(NamedTuple):
    """From when to when the rows of a log count for what is observed; those outside stay rows of their cases.

    Attributes
    ----------
    since, until : datetime or None
        UTC; rows before the one do not count, nor those from the other on.
    lines : tuple of str
        Which rows do not count, what follows, and what mends it.
    planned : str
        That most rows are dated after their file was written, and count for it; empty where they are not.
    rows : int
        How many rows do not count.
    example : str
        One of them.
    """

    since: datetime | None = None
    until: datetime | None = None
    lines: tuple[str, ...] = ()
    planned: str = ""
    rows: int = 0
    example: str = ""

    def holds(self, at: str = '"timestamp"') -> str:
        """SQL: whether an instant is one of a row that counts."""
        terms = [f"{at} >= TIMESTAMP '{self.since}'"] if self.since is not None else []
        terms += [f"{at} < TIMESTAMP '{self.until}'"] if self.until is not None else []
        return " AND ".join(terms) or "TRUE"

    @property
    def findings(self) -> tuple[str, ...]:
        """What to tell of it."""
        return (*self.lines, self.planned) if self.planned else self.lines


class Year(NamedTuple):
    """The rows of a year: how many, the first and the last."""

    rows: int
    first: datetime
    last: datetime


def reach_of(
    connection: duckdb.DuckDBPyConnection, written: datetime | None, events: str = "events"
) -> Reach:
    """How far the rows of a log reach.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
    written : datetime or None
        When their file was written, UTC; None where there is none.
    events : str, optional
        The relation of its rows.
    """
    years = _years(connection, events, Reach())
    if not years:
        return Reach()
    found = Reach()
    if written is not None and years[-1].last > written + LATE:
        after = f"\"timestamp\" > TIMESTAMP '{written + LATE}'"
        rows, first = connection.execute(
            f'SELECT count(*), min("timestamp") FROM {events} WHERE {after}'
        ).fetchall()[0]
        dated = sum(year.rows for year in years)
        when = f"dated after the file was written ({written:%Y-%m-%d})"
        if 2 * rows > dated:
            planned = (
                f"{rows:,} of {dated:,} rows are {when}: they are taken as planned or simulated, and observed until "
                "the last of them; state records.end_of_observation if they are not"
            )
            found = found._replace(planned=planned)
        else:
            found = _without(connection, events, found, after, when, until=first)
            years = _years(connection, events, found)
    below, above = far_off(years)
    if above:
        first, last = years[-above].first, years[-above - 1].last
        after, so_far = f"\"timestamp\" >= TIMESTAMP '{first}'", found.holds()
        when = f"far after all others, which end on {last:%Y-%m-%d}"
        found = _without(connection, events, found, f"{after} AND {so_far}", when, until=first)
    if below:
        first = years[below].first
        when = f"far before all others, which begin on {first:%Y-%m-%d}"
        found = _without(connection, events, found, f"\"timestamp\" < TIMESTAMP '{first}'", when, since=first)
    return found


def far_off(years: Sequence[Year]) -> tuple[int, int]:
    """How many years at the begin and at the end hold nothing but rows far from all others.

    Rows at an end of the log are far off where the silence between them and the rest is longer than the rest
    lasts, and longer than a year if they are at most one row in a hundred; of a log of four rows or more also up
    to three, and a third of them, where it is longer than five years.

    Parameters
    ----------
    years : sequence of Year
        In order; a silence of more than a year begins and ends in two of them.
    """
    total = sum(year.rows for year in years)
    few = min(FEW, total // 3) if total > FEW else 0

    def cuts(ordered: Sequence[Year]) -> list[tuple[int, timedelta]]:
        """Years outside of each place where an end may be cut off, and the silence there; none first."""
        found, rows = [(0, timedelta())], 0
        for place, (outer, inner) in enumerate(pairwise(ordered), 1):
            rows += outer.rows
            silence = max(inner.first - outer.last, outer.first - inner.last)
            if (rows * SHARE <= total and silence > YEAR) or (rows <= few and silence > YEARS):
                found.append((place, silence))
        return found

    below, above = cuts(years), cuts(years[::-1])
    while True:  # from the least that may be left outwards, until the silences are long enough
        (low, before), (high, after) = below[-1], above[-1]
        lasts = years[-high - 1].last - years[low].first
        if low and before <= lasts:
            below.pop()
        elif high and after <= lasts:
            above.pop()
        else:
            return low, high


def _years(connection: duckdb.DuckDBPyConnection, events: str, reach: Reach) -> list[Year]:
    return [
        Year(*row)
        for row in connection.execute(
            f'SELECT count(*), min("timestamp"), max("timestamp") FROM {events} '
            f'WHERE "timestamp" IS NOT NULL AND {reach.holds()} GROUP BY date_trunc(\'year\', "timestamp") ORDER BY 2'
        ).fetchall()
    ]


def _without(
    connection: duckdb.DuckDBPyConnection,
    events: str,
    found: Reach,
    where: str,
    when: str,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Reach:
    """A reach without some more rows, with a line on them."""
    rows = connection.execute(
        'SELECT activity, case_id, event_id, "timestamp" + to_minutes(coalesce("offset", 0)) AS local, count(*) OVER () '
        f'FROM {events} WHERE {where} ORDER BY "timestamp", event_id LIMIT {LISTED}'
    ).fetchall()
    shown = [
        f"{one_line(str(activity), 60)!r} of case {one_line(str(case), 40)} on {local:%Y-%m-%d %H:%M:%S} "
        f"(event {one_line(str(event), 40)})"
        for activity, case, event, local, _ in rows
    ]
    count = rows[0][-1]
    more = f" and {count - len(shown):,} more" if count > len(shown) else ""
    what = "1 row is" if count == 1 else f"{count:,} rows are"
    begun = "begins" if since is not None else "ends"
    mends = "the channels' coverage" if since is not None else "records.end_of_observation"
    line = (
        f"{what} {when}: {', '.join(shown)}{more}; what is observed {begun} without "
        f"{'it' if count == 1 else 'them'}: correct the time, or state {mends}"
    )
    return found._replace(
        since=since or found.since,
        until=until or found.until,
        lines=(*found.lines, line),
        rows=found.rows + count,
        example=found.example or shown[0],
    )
