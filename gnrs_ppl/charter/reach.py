"""How far lengths of time reach on imagined records: on any calendar, or on that of the institution."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from itertools import accumulate

from gnrs_ppl.audit.calendar import WorkingTime
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.errors import InputError
from gnrs_ppl.rulebook.imagined import START

SEARCHED = timedelta(days=1461)
"""How long after the first start cases may begin."""
TOGETHER = 8
"""How often a length of time may follow upon another in a case."""
MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class Reach:
    """Instants that lie some length of time on or back, as an audit counts them (W entries).

    Attributes
    ----------
    records : RecordLayer
        The imagined records; they show local time at one offset.
    durations : tuple of Duration
        Those that are asked for.
    moment : timedelta
        The shortest time that every clock shows.
    """

    records: RecordLayer
    durations: tuple[Duration, ...]
    moment: timedelta

    def __post_init__(self) -> None:
        if any(d.working for d in self.durations) and self._working.uncounted:
            raise InputError(self._working.uncounted, "declare records.calendar")

    def after(self, at: datetime, duration: Duration) -> datetime:
        """The last instant within a length of time from an instant."""
        if not duration.working:
            return duration.after(at)
        return self._local(self._counted(self._on, at - self._offset, duration))

    def before(self, at: datetime, duration: Duration) -> datetime:
        """The first instant from which a length of time reaches an instant."""
        if not duration.working:
            return duration.before(at)
        return self._local(self._counted(self._back, at - self._offset, duration))

    def _counted(
        self, count: Callable[[datetime, Duration], datetime], at: datetime, duration: Duration
    ) -> datetime:
        try:
            return count(at, duration)
        except IndexError:
            raise InputError(
                f"{duration} passes the days that the calendar knows of", "list holidays of more years"
            ) from None

    def _on(self, at: datetime, duration: Duration) -> datetime:
        days = self._days
        if duration.working_days:
            day = days[bisect_right(days, self._day(at)) + duration.working_days - 1]
            return self._midnight(day + timedelta(days=1)) - MICROSECOND
        wanted = self._worked_until(at) + timedelta(hours=duration.working_hours)
        place = bisect_left(self._worked, wanted)
        return self._working.hours[place][1] - (self._worked[place] - wanted)

    def _back(self, at: datetime, duration: Duration) -> datetime:
        days = self._days
        if duration.working_days:
            place = bisect_left(days, self._day(at)) - duration.working_days
            if place < 0:
                raise IndexError
            return self._midnight(days[place])
        wanted = self._worked_until(at) - timedelta(hours=duration.working_hours)
        if wanted < timedelta(0):
            raise IndexError
        place = bisect_right(self._worked, wanted)
        return self._working.hours[place][1] - (self._worked[place] - wanted)

    def _worked_until(self, at: datetime) -> timedelta:
        """The working time that has passed by an instant."""
        place = bisect_right(self._working.hours, (at, datetime.max)) - 1
        ends = self._working.hours[place][1]
        return self._worked[place] - (ends - min(at, ends)) if place >= 0 else timedelta(0)

    @cached_property
    def _working(self) -> WorkingTime:
        begins = START - self._offset
        return WorkingTime(self.records, (begins, begins + SEARCHED), self.durations * TOGETHER)

    @cached_property
    def _days(self) -> list[date]:
        return [day for day, worked in self._working.days if worked]

    @cached_property
    def _worked(self) -> list[timedelta]:
        """Working time that has passed when each span of it ends."""
        return list(accumulate(ends - begins for begins, ends in self._working.hours))

    @property
    def _offset(self) -> timedelta:
        return timedelta(minutes=self.records.offset or 0)

    def _day(self, at: datetime) -> date:
        return at.replace(tzinfo=UTC).astimezone(self._working.clock).date()

    def _midnight(self, day: date) -> datetime:
        local = datetime(day.year, day.month, day.day, tzinfo=self._working.clock)
        return local.astimezone(UTC).replace(tzinfo=None)

    def _local(self, at: datetime) -> datetime:
        """As clocks show it."""
        local = at + self._offset
        return local - (local - datetime.min) % self.moment
