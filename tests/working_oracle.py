"""When working time ends or begins, day by day and quarter of an hour by quarter of an hour: the oracle's own
count (W entries). It shares nothing with the compiler; hours and changes of clocks lie on whole quarters.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

import holidays

from gnrs_ppl.context.time import Duration, Grain
from gnrs_ppl.context.types import Calendar, RecordLayer

DAY, QUARTER, MICROSECOND = timedelta(days=1), timedelta(minutes=15), timedelta(microseconds=1)
NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class Uncounted(Exception):
    """The calendar cannot count (W6)."""


def moved(
    records: RecordLayer, utc: datetime, offset: int, grain: Grain, duration: Duration, forward: bool
) -> tuple[datetime, int]:
    """The instant in naive UTC that lies so much working time on or back, and its offset; untruncated."""
    calendar = records.calendar
    if calendar is None:
        raise Uncounted
    clock = ZoneInfo(calendar.zone) if calendar.zone else records.clock
    if duration.working_days:
        if grain == "day":
            day = (utc + timedelta(minutes=offset)).date()
            found = nth_working_day(calendar, day, duration.working_days, forward)
            return datetime(found.year, found.month, found.day) - timedelta(minutes=offset), offset
        day = showing(utc, clock).date()
        found = nth_working_day(calendar, day, duration.working_days, forward)
        instant = midnight(found + DAY, clock) - MICROSECOND if forward else midnight(found, clock)
    else:
        if grain == "day" or (records.zone and comes_twice(utc, ZoneInfo(records.zone))):
            raise Uncounted
        instant = hours_on(calendar, clock, utc, duration.working_hours, forward)
    ahead = instant.replace(tzinfo=UTC).astimezone(clock).utcoffset()
    assert ahead is not None
    return instant, round(ahead.total_seconds() / 60)


def worked(calendar: Calendar, day: date) -> bool:
    """Whether a day is worked; Uncounted where the calendar does not say (W2)."""
    stated = calendar.holidays
    if isinstance(stated, tuple):
        if stated and not min(stated).year <= day.year <= max(stated).year:
            raise Uncounted
        free = day in stated
    else:
        library = country(stated.country, stated.subdivision)
        if not library.start_year <= day.year <= library.end_year:
            raise Uncounted
        free = day in library
    return NAMES[day.weekday()] in calendar.weekdays and not free


@lru_cache
def country(code: str, part: str | None) -> holidays.HolidayBase:
    return holidays.country_holidays(code, subdiv=part)


def nth_working_day(calendar: Calendar, day: date, n: int, forward: bool) -> date:
    worked(calendar, day)  # the day itself must be known, and does not count
    while n:
        day += DAY if forward else -DAY
        n -= worked(calendar, day)
    return day


def hours_on(calendar: Calendar, clock: tzinfo, utc: datetime, n: int, forward: bool) -> datetime:
    """Add up quarters whose local clock shows working hours until there are enough of them (W5)."""
    if not calendar.hours:
        raise Uncounted
    left, at = timedelta(hours=n), utc
    while True:
        since = (at - datetime(1970, 1, 1)) % QUARTER
        if forward:
            low, high = at, at - since + QUARTER
        else:
            low, high = at - (since or QUARTER), at
        shows = showing(low - (low - datetime(1970, 1, 1)) % QUARTER, clock)
        now = f"{shows:%H:%M}"
        if worked(calendar, shows.date()) and any(h[:5] <= now < h[6:] for h in calendar.hours):
            if left <= high - low:
                return low + left if forward else high - left
            left -= high - low
        at = high if forward else low


def showing(utc: datetime, clock: tzinfo) -> datetime:
    return utc.replace(tzinfo=UTC).astimezone(clock)


def midnight(day: date, clock: tzinfo) -> datetime:
    """The first instant of a local day."""
    at = datetime(day.year, day.month, day.day) - timedelta(days=1)
    while showing(at, clock).date() < day:
        at += QUARTER
    return at


def comes_twice(utc: datetime, clock: tzinfo) -> bool:
    shows = showing(utc, clock)
    other = shows.replace(fold=1 - shows.fold)
    before, after = shows.replace(fold=0).utcoffset(), shows.replace(fold=1).utcoffset()
    assert before is not None
    assert after is not None
    return other.utcoffset() != shows.utcoffset() and before > after
