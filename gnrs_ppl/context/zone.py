"""The clock of an institution: a fixed offset from UTC, or a named zone with its summer times (G6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo


class Since(NamedTuple):
    """From local time ``since`` on clocks stand ``minutes`` east of UTC.

    Where clocks are put back, times come twice: the earlier is meant, ``other`` is the offset of the later.
    Where they are put forward, times are left out: they are read with the offset before, and ``other`` is the
    one after.
    """

    since: datetime
    minutes: int
    other: int


def zone_of(name: str) -> ZoneInfo:
    """The zone of an IANA name; raises ValueError where there is none."""
    try:
        return ZoneInfo(name)
    except Exception:  # what zoneinfo raises for odd names differs by system
        raise ValueError(f"{name!r} is no time zone; write one such as Europe/Amsterdam") from None


def clock_of(offset: int | None, zone: str | None) -> tzinfo:
    """The clock that times without offset are read by: a zone, else an offset in minutes, else UTC."""
    return zone_of(zone) if zone is not None else timezone(timedelta(minutes=offset or 0))


def span(moment: datetime | date, clock: tzinfo) -> tuple[datetime, datetime]:
    """First and last microsecond of a declared instant or local day, in naive UTC (G6, E7)."""
    if isinstance(moment, datetime):
        utc = _utc(moment if moment.tzinfo else moment.replace(tzinfo=clock))
        return utc, utc
    start = datetime(moment.year, moment.month, moment.day, tzinfo=clock)
    return _utc(start), _utc(start + timedelta(days=1)) - timedelta(microseconds=1)


def instant(local: datetime, clock: tzinfo) -> tuple[datetime, int]:
    """A local time in naive UTC, with its minutes east of it: the earlier of what clocks show twice, by the
    offset before of what they leave out (G8).
    """
    ahead = _minutes(local, clock)[0]
    return local - timedelta(minutes=ahead), ahead


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None)


def offsets(zone: str, days: Iterable[date]) -> Iterator[Since]:
    """How a zone's clocks stand at the start of each of some days, and every change within them."""
    clock = zone_of(zone)
    for day in days:
        at = datetime(day.year, day.month, day.day)
        end = at + timedelta(days=1)
        yield Since(at, *_minutes(at, clock))
        while _minutes(at, clock) != _minutes(
            end, clock
        ):  # a day may hold two: into and out of the hour that comes twice
            at = _change(at, end, clock)
            yield Since(at, *_minutes(at, clock))


def _change(low: datetime, high: datetime, clock: ZoneInfo) -> datetime:
    """The first second after ``low`` from which clocks stand differently."""
    before = _minutes(low, clock)
    seconds = int((high - low).total_seconds())
    while seconds > 1:
        half = seconds // 2
        if _minutes(low + timedelta(seconds=half), clock) == before:
            low += timedelta(seconds=half)
            seconds -= half
        else:
            seconds = half
    return low + timedelta(seconds=1)


def _minutes(local: datetime, clock: tzinfo) -> tuple[int, int]:
    """Whole minutes east of UTC at a local time, as it comes first and as it comes again."""
    both = (local.replace(tzinfo=clock, fold=fold).utcoffset() or timedelta() for fold in (0, 1))
    earlier, later = (round(ahead.total_seconds() / 60) for ahead in both)
    return earlier, later
