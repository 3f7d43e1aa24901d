"""Working days and working hours: a calendar as tables, and bounds that are counted on it (W entries).

A day knows how many working days went before it, a span of working hours how much working time. One as-of
join finds where a count begins and one join finds where it ends, however long it is: linear in instances.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cached_property
from math import ceil
from operator import itemgetter
from typing import Literal, NamedTuple

from gnrs_ppl.audit.sql import SqlStatement
from gnrs_ppl.audit.types import LEFT_UNCOUNTED
from gnrs_ppl.context.limits import YEARS
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import WEEKDAYS, Calendar, PublicHolidays, RecordLayer
from gnrs_ppl.context.zone import zone_of
from gnrs_ppl.rule.types import Structure, durations_of

_DAY, _MICROSECOND = timedelta(days=1), timedelta(microseconds=1)
_FARTHEST = timedelta(days=200 * 366)
"""How far from the records a calendar is laid out: as far as a duration may reach."""


def clock_of_calendar(records: RecordLayer) -> tzinfo:
    """The clock by which the working days and hours of some records are told (W1)."""
    zone = records.calendar.zone if records.calendar else None
    return zone_of(zone) if zone is not None else records.clock


@dataclass(frozen=True)
class WorkingTime:
    """The calendar of some records, laid out as far as a rule can reach from their rows.

    Attributes
    ----------
    records : RecordLayer
        The record layer; nothing is counted where it declares no calendar.
    extent : tuple of datetime or None
        The earliest and the latest row, naive UTC; None where no row has a time.
    durations : tuple of Duration
        Those of the rule, which may follow one another; none where none is working time.
    """

    records: RecordLayer
    extent: tuple[datetime, datetime] | None
    durations: tuple[Duration, ...]

    @classmethod
    def of(
        cls, structure: Structure, records: RecordLayer, extent: tuple[datetime, datetime] | None
    ) -> WorkingTime:
        """What a rule needs of a calendar on records whose rows lie in some extent."""
        durations = durations_of(structure)
        return cls(records, extent, durations if any(d.working for d in durations) else ())

    @property
    def uncounted(self) -> str | None:
        """Why working time that the rule states can be counted nowhere, and leaves verdicts open; None
        where it can be, or none is stated.
        """
        calendar = self.records.calendar
        if self.durations and calendar is None:
            return f"working time is {LEFT_UNCOUNTED}: the records declare no calendar (records.calendar)"
        if calendar and not calendar.hours and any(d.working_hours for d in self.durations):
            return f"working hours are {LEFT_UNCOUNTED}: the calendar declares none (records.calendar.hours)"
        return None

    @property
    def assumption(self) -> str | None:
        """What the reader of a verdict must know of the calendar; None where no working time is counted."""
        calendar = self.records.calendar
        if not self.durations or calendar is None or self.uncounted:
            return self.uncounted
        holidays = calendar.holidays
        if isinstance(holidays, PublicHolidays):
            off = f"the holidays of {'-'.join(filter(None, (holidays.country, holidays.subdivision)))}"
        else:
            off = f"{len(holidays)} listed holidays" if holidays else "no holidays"
        hours = f", {' and '.join(calendar.hours)}" if any(d.working_hours for d in self.durations) else ""
        return (
            f"working time is counted on {', '.join(calendar.weekdays)}{hours} by the clocks of {self.clock}, "
            f"with {off}"
        )

    @property
    def clock(self) -> tzinfo:
        """The clock of its days and hours."""
        return clock_of_calendar(self.records)

    @cached_property
    def days(self) -> list[tuple[date, bool]]:
        """Every local day that a count may touch and of which the calendar knows whether it is worked (W2)."""
        calendar = self.records.calendar
        if calendar is None or self.extent is None or not self.durations:
            return []
        known = _known_days(calendar)
        shift = _DAY * (2 + sum(31 * d.months + d.days + d.seconds // 86400 for d in self.durations))
        wanted = 2 + sum(d.working_days for d in self.durations) + self._days_of_hours(calendar)
        before = _passed(calendar, known, self.extent[0].date() - shift, -_DAY, wanted)
        after = _passed(calendar, known, self.extent[1].date() + shift, _DAY, wanted)
        days = _range(max(before, known[0]), min(after, known[1]))
        return [(day, _worked(calendar, day)) for day in days]

    def _days_of_hours(self, calendar: Calendar) -> int:
        """How many working days hold all working hours of the rule, with those that clocks leave out."""
        length = sum((end - start).total_seconds() for start, end in _spans(calendar, date(2000, 1, 3)))
        hours = sum(d.working_hours for d in self.durations)
        return ceil(1.1 * 3600 * hours / length) if length else 0

    @cached_property
    def pieces(self) -> list[tuple[datetime, timedelta]]:
        """From when (UTC) on the calendar's clocks stand how far ahead, over its days."""
        if not self.days:
            return []
        first, last = self.days[0][0], self.days[-1][0]
        begins = self._midnight(first)
        found = changes(self.clock, first, last)
        return [(begins, _ahead(begins, self.clock))] + [(c.at, c.after) for c in found if c.at > begins]

    @cached_property
    def offsets(self) -> list[tuple[datetime, int]]:
        """The same in whole minutes east of UTC."""
        return [(at, round(ahead.total_seconds() / 60)) for at, ahead in self.pieces]

    @property
    def shifts(self) -> set[int]:
        """Every offset that its bounds may have, in minutes."""
        return {ahead for _, ahead in self.offsets}

    @cached_property
    def hours(self) -> list[tuple[datetime, datetime]]:
        """When the local clocks show working hours, in UTC (W5)."""
        found: list[tuple[datetime, datetime]] = []
        pieces, place = [*self.pieces, (datetime.max, timedelta())], 0
        for day, worked in self.days:
            begins, ends = self._midnight(day), self._midnight(day + _DAY)
            while pieces[place + 1][0] <= begins:
                place += 1
            at = place
            while worked and pieces[at][0] < ends:
                (low, ahead), high = pieces[at], pieces[at + 1][0]
                for start, end in _spans(self.records.calendar, day):
                    span = max(start - ahead, low, begins), min(end - ahead, high, ends)
                    found += [span] if span[0] < span[1] else []
                at += 1
        return found

    @cached_property
    def twice(self) -> list[tuple[datetime, datetime]]:
        """When the clocks that the log is read by show what comes twice, in UTC (W7)."""
        if self.records.zone is None:
            return []
        found = changes(zone_of(self.records.zone), self.days[0][0], self.days[-1][0])
        return [
            (at - (before - after), at + (before - after)) for at, before, after in found if after < before
        ]

    def _midnight(self, day: date) -> datetime:
        """The first instant of a local day; where clocks leave midnight out, an hour on."""
        return datetime(day.year, day.month, day.day, tzinfo=self.clock).astimezone(UTC).replace(tzinfo=None)

    def ends(self, duration: Duration, begins: datetime) -> datetime | None:
        """When a count of working time ends, both in naive UTC and uncut; None where it cannot be counted (W3,
        W5).
        """
        if duration.working_days:
            day = begins.replace(tzinfo=UTC).astimezone(self.clock).date()
            worked = [d for d, works in self.days if works]
            place = bisect_right(worked, day) + duration.working_days - 1
            if place >= len(worked) or day < self.days[0][0]:
                return None
            return self._midnight(worked[place] + _DAY) - _MICROSECOND
        left = timedelta(hours=duration.working_hours)
        for start, end in self.hours[bisect_right(self.hours, begins, key=itemgetter(1)) :]:
            since = max(start, begins)
            if left <= end - since:
                return since + left
            left -= end - since
        return None

    # As SQL

    def bound(
        self,
        st: SqlStatement,
        name: str,
        source: str,
        prefix: str,
        duration: Duration,
        sign: Literal["+", "-"],
    ) -> str:
        """Add a table of bounds, working time after or before the instants of a source, and give its name.

        It has a row (inst, bound_ts, bound_off, bound_grain) for each instance of the source whose bound can be counted.
        """
        if not self.days:
            columns = ", ".join(f"{prefix}{part} AS bound_{part}" for part in ("ts", "off", "grain"))
            empty = f"SELECT inst, {columns} FROM {source} WHERE FALSE"
            return st.add(name, "W6: without a calendar nothing is counted", empty)
        self._add_clock(st)
        count = self._count_days if duration.working_days else self._count_hours
        ends = count(st, name, source, prefix, duration, sign)
        off = "CASE WHEN u.grain = 'day' THEN u.off ELSE k.ahead END"
        local = "b.ts + to_minutes(b.off)"
        cut = " ".join(f"WHEN '{grain}' THEN date_trunc('{grain}', {local})" for grain in st.grains)
        return st.add(
            name,
            "W4: at the calendar's offset, at the grain of the activation",
            f"""SELECT b.inst, CASE b.grain {cut} END - to_minutes(b.off) AS bound_ts, b.off AS bound_off, b.grain AS bound_grain
                FROM (SELECT u.inst, u.ts, {off} AS off, u.grain
                      FROM {ends} AS u ASOF LEFT JOIN calendar_clock AS k ON u.ts >= k.since) AS b""",
        )

    def _add_clock(self, st: SqlStatement) -> None:
        if "calendar_clock" in st:
            return
        since, ahead = zip(*self.offsets, strict=True)
        add_values(
            st,
            "calendar_clock",
            "W1: how the calendar's clocks stand",
            {"since": ("TIMESTAMP", since), "ahead": ("INTEGER", ahead)},
        )

    def _add_days(self, st: SqlStatement) -> None:
        if "calendar_days" in st:
            return
        begins = [self._midnight(day) for day, _ in self.days]
        ends = [*begins[1:], self._midnight(self.days[-1][0] + _DAY)]
        before, so_far = [], 0
        for _, worked in self.days:
            before.append(so_far)
            so_far += worked
        add_values(
            st,
            "calendar_days",
            "W1: each local day, whether it is worked, and the working days before it",
            {
                "day": ("TIMESTAMP", [datetime(d.year, d.month, d.day) for d, _ in self.days]),
                "begins": ("TIMESTAMP", begins),
                "ends": ("TIMESTAMP", ends),
                "worked": ("INTEGER", [int(worked) for _, worked in self.days]),
                "before": ("INTEGER", before),
            },
        )
        st.add(
            "calendar_starts",
            "W3: a day by its instants, and by its date for what is recorded as a date",
            """SELECT 'instant' AS scale, begins, ends, worked, before FROM calendar_days
               UNION ALL SELECT 'date' AS scale, day AS begins, day + to_days(1) AS ends, worked, before FROM calendar_days""",
            keep=True,
        )

    def _count_days(
        self,
        st: SqlStatement,
        name: str,
        source: str,
        prefix: str,
        duration: Duration,
        sign: Literal["+", "-"],
    ) -> str:
        self._add_days(st)
        amount = st.bind(f"{name}_days", duration.working_days)
        number = f"d.before + d.worked + {amount}" if sign == "+" else f"d.before - {amount} + 1"
        st.add(
            f"{name}_counted",
            "W3: the number of the working day on which the count ends; the activation's own day does not count",
            f"""SELECT a.inst, a.off, a.grain, {number} AS number
                FROM (SELECT inst, {prefix}off AS off, {prefix}grain AS grain,
                             CASE {prefix}grain WHEN 'day' THEN 'date' ELSE 'instant' END AS scale,
                             CASE {prefix}grain WHEN 'day' THEN {prefix}ts + to_minutes({prefix}off) ELSE {prefix}ts END AS probe
                      FROM {source}) AS a
                ASOF JOIN calendar_starts AS d ON d.scale = a.scale AND a.probe >= d.begins
                WHERE a.probe < d.ends""",
        )
        instant = "w.ends - to_microseconds(1)" if sign == "+" else "w.begins"
        return st.add(
            f"{name}_ended",
            f"W3: the {'end' if sign == '+' else 'beginning'} of that day",
            f"""SELECT s.inst, CASE s.grain WHEN 'day' THEN w.day - to_minutes(s.off) ELSE {instant} END AS ts, s.off, s.grain
                FROM {name}_counted AS s JOIN calendar_days AS w ON w.worked = 1 AND w.before + 1 = s.number""",
        )

    def _add_hours(self, st: SqlStatement) -> None:
        if "calendar_hours" in st:
            return
        begins = [start for start, _ in self.hours]
        lengths = [(end - start) // _MICROSECOND for start, end in self.hours]
        before, so_far = [], 0
        for length in lengths:
            before.append(so_far)
            so_far += length
        add_values(
            st,
            "calendar_hours",
            "W5: each span of working hours, its length and the working time before it, in microseconds",
            {
                "begins": ("TIMESTAMP", begins),
                "length": ("BIGINT", lengths),
                "before": ("BIGINT", before),
            },
        )
        if self.twice:
            since, ends = zip(*self.twice, strict=True)
            add_values(
                st,
                "calendar_twice",
                "W7: local times that come twice",
                {"since": ("TIMESTAMP", since), "ends": ("TIMESTAMP", ends)},
            )

    def _count_hours(
        self,
        st: SqlStatement,
        name: str,
        source: str,
        prefix: str,
        duration: Duration,
        sign: Literal["+", "-"],
    ) -> str:
        self._add_hours(st)
        amount = st.bind(f"{name}_hours", 3_600_000_000 * duration.working_hours)
        low = st.bind("calendar_first", self._midnight(self.days[0][0]))
        high = st.bind("calendar_last", self._midnight(self.days[-1][0] + _DAY))
        unclear = (
            " ASOF LEFT JOIN calendar_twice AS t ON a.ts >= t.since",
            " AND coalesce(a.ts >= t.ends, TRUE)",
        )
        join, certain = unclear if self.twice else ("", "")
        st.add(
            f"{name}_counted",
            "W5: the working time up to the bound",
            f"""SELECT a.inst, a.off, a.grain,
                       coalesce(s.before + least(epoch_us(a.ts) - epoch_us(s.begins), s.length), 0) {sign} {amount} AS target
                FROM (SELECT inst, {prefix}ts AS ts, {prefix}off AS off, {prefix}grain AS grain FROM {source}) AS a
                ASOF LEFT JOIN calendar_hours AS s ON a.ts >= s.begins{join}
                WHERE a.grain <> 'day' AND a.ts >= CAST({low} AS TIMESTAMP) AND a.ts < CAST({high} AS TIMESTAMP){certain}""",
        )
        reached, inside = (">", "<=") if sign == "+" else (">=", "<")
        return st.add(
            f"{name}_ended",
            f"W5: the {'earliest' if sign == '+' else 'latest'} instant at which that much working time "
            "lies between",
            f"""SELECT s.inst, w.begins + to_microseconds(s.target - w.before) AS ts, s.off, s.grain
                FROM {name}_counted AS s ASOF JOIN calendar_hours AS w ON s.target {reached} w.before
                WHERE s.target - w.before {inside} w.length""",
        )


def add_values(
    st: SqlStatement, name: str, about: str, columns: dict[str, tuple[str, Sequence[datetime | int]]]
) -> None:
    """Add a table of bound values, a list for each column."""
    unnested = (
        f"unnest(CAST({st.bind(f'{name}_{column}', list(values))} AS {kind}[])) AS {column}"  # type: ignore[arg-type]
        for column, (kind, values) in columns.items()
    )
    st.add(name, about, f"SELECT {', '.join(unnested)}", keep=True)


class _Change(NamedTuple):
    """When (UTC) clocks are put to another offset, and both offsets."""

    at: datetime
    before: timedelta
    after: timedelta


def _ahead(at: datetime, clock: tzinfo) -> timedelta:
    return at.replace(tzinfo=UTC).astimezone(clock).utcoffset() or timedelta()


def changes(clock: tzinfo, first: date, last: date) -> Iterator[_Change]:
    """Every change of a clock, from the day before some days to the day after them."""
    low = datetime(first.year, first.month, first.day) - _DAY
    while low.date() <= last + _DAY:
        high, before = low + _DAY, _ahead(low, clock)
        after = _ahead(high, clock)
        if before != after:
            seconds, at = 86400, low
            while seconds > 1:  # halved until a second is left
                seconds, rest = seconds // 2, seconds % 2
                if _ahead(at + timedelta(seconds=seconds), clock) == before:
                    at += timedelta(seconds=seconds)
                    seconds += rest
            yield _Change(at + timedelta(seconds=1), before, after)
        low = high


def _spans(calendar: Calendar | None, day: date) -> Iterator[tuple[datetime, datetime]]:
    """The working hours of a day on the local clock."""
    midnight = datetime(day.year, day.month, day.day)
    for span in calendar.hours if calendar else ():
        start, end = (
            midnight + timedelta(hours=int(text[:2]), minutes=int(text[3:])) for text in span.split("-")
        )
        yield start, end


def _range(first: date, last: date) -> list[date]:
    return [first + i * _DAY for i in range((last - first).days + 1)]


def _passed(calendar: Calendar, known: tuple[date, date], day: date, step: timedelta, wanted: int) -> date:
    """The day on which so many working days have passed, or the calendar's knowledge ends."""
    passed, start = 0, day
    while passed < wanted and known[0] <= day <= known[1] and abs(day - start) < _FARTHEST:
        passed += _worked(calendar, day)
        day += step
    return day


def _worked(calendar: Calendar, day: date) -> bool:
    return WEEKDAYS[day.weekday()] in calendar.weekdays and day not in _free(calendar, day.year)


def _free(calendar: Calendar, year: int) -> Collection[date]:
    """The holidays of a year."""
    if not isinstance(calendar.holidays, PublicHolidays):
        return calendar.holidays
    from gnrs_ppl.context.holidays import holidays_of

    return holidays_of(calendar.holidays.country, calendar.holidays.subdivision, year)


def _known_days(calendar: Calendar) -> tuple[date, date]:
    """First and last day of which a calendar knows whether it is a holiday (W2)."""
    if isinstance(calendar.holidays, PublicHolidays):
        from gnrs_ppl.context.holidays import known_years

        first, last = known_years(calendar.holidays.country)
    elif calendar.holidays:
        first, last = min(calendar.holidays).year, max(calendar.holidays).year
    else:
        first, last = YEARS
    return date(first, 1, 1), date(last, 12, 31)
