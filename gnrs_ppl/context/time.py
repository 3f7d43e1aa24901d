"""Time as the records hold it: grains, offsets and calendar durations (SEMANTICS lines 9, 14, 19)."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from math import inf
from typing import Any, Literal, get_args

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

Grain = Literal["microsecond", "second", "minute", "day"]
"""Resolution of a recorded instant, finest first."""

GRAINS: tuple[Grain, ...] = get_args(Grain)
GRAIN_LENGTH: dict[Grain, timedelta] = {
    "microsecond": timedelta(microseconds=1),
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "day": timedelta(days=1),
}

_DURATION = re.compile(
    r"P(?:(?P<years>\d+)Y)?(?:(?P<months>\d+)M)?(?:(?P<weeks>\d+)W)?(?:(?P<days>\d+)D)?"
    r"(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+)S)?)?"
)
_WORKING = re.compile(r"(?P<amount>\d+)W(?P<unit>[DH])")
_LONGEST_WORKING = {"D": 2_000, "H": 20_000}
ISO_DURATION: dict[str, Any] = {"type": "string", "format": "duration", "examples": ["PT15M", "P3D", "P2M"]}
"""What editors are told of a duration that is no working time."""
_CYCLE = [datetime(2000, 1, 1) + timedelta(days=d) for d in range(1461)] + [
    datetime(1900, 1, 29),
    datetime(1900, 2, 28),
]


@dataclass(frozen=True)
class Duration:
    """ISO 8601 duration on the calendar: months, then days, then seconds; ``P2M`` is not ``P60D``.

    Working time is written ``5WD`` or ``8WH`` and has neither of these parts: only the records' calendar tells
    when it ends (W entries).

    Attributes
    ----------
    months, days, seconds : int
        Non-negative parts; years are 12 months, weeks 7 days, hours and minutes are seconds.
    working_days, working_hours : int
        One of them, where the duration is working time.
    """

    months: int = 0
    days: int = 0
    seconds: int = 0
    working_days: int = 0
    working_hours: int = 0

    @classmethod
    def parse(cls, text: str) -> Duration:
        """Read ``P[nY][nM][nW][nD][T[nH][nM][nS]]``, ``nWD`` or ``nWH``; raises ValueError on anything else,
        zero and negatives included.
        """
        working = _WORKING.fullmatch(text.strip()) if isinstance(text, str) and len(text) <= 40 else None
        if working:
            return cls._of_working_time(text, int(working["amount"]), working["unit"])
        match = _DURATION.fullmatch(text.strip()) if isinstance(text, str) and len(text) <= 40 else None
        parts = {k: int(v) for k, v in match.groupdict().items() if v is not None} if match else {}
        if not parts or text.strip().endswith("T"):
            raise ValueError(f"{text!r} is not a positive ISO 8601 duration such as PT15M, P3D or P2M")
        duration = cls(
            12 * parts.get("years", 0) + parts.get("months", 0),
            7 * parts.get("weeks", 0) + parts.get("days", 0),
            3600 * parts.get("hours", 0) + 60 * parts.get("minutes", 0) + parts.get("seconds", 0),
        )
        if duration == cls():
            raise ValueError(f"{text!r} is a zero duration; leave the field out instead")
        if max(duration.months, duration.days // 30, duration.seconds // (30 * 86400)) > 12 * 200:
            raise ValueError(f"{text!r} is longer than 200 years")
        return duration

    @classmethod
    def _of_working_time(cls, text: str, amount: int, unit: str) -> Duration:
        if not amount:
            raise ValueError(f"{text!r} is a zero duration; leave the field out instead")
        if amount > _LONGEST_WORKING[unit]:
            what = "working days" if unit == "D" else "working hours"
            raise ValueError(f"{text!r} is longer than {_LONGEST_WORKING[unit]:,} {what}")
        return cls(working_days=amount) if unit == "D" else cls(working_hours=amount)

    @property
    def working(self) -> bool:
        """Whether it is working time, which only a calendar can count."""
        return bool(self.working_days or self.working_hours)

    def isoformat(self) -> str:
        """Canonical text: ``PT90M`` and ``PT1H30M`` both give ``PT1H30M``; working time stands as it is
        read.
        """
        if self.working:
            return f"{self.working_days}WD" if self.working_days else f"{self.working_hours}WH"
        hours, rest = divmod(self.seconds, 3600)
        minutes, seconds = divmod(rest, 60)
        date = (f"{self.months}M" if self.months else "") + (f"{self.days}D" if self.days else "")
        time = "".join(f"{n}{unit}" for n, unit in ((hours, "H"), (minutes, "M"), (seconds, "S")) if n)
        return "P" + date + ("T" + time if time else "")

    __str__ = isoformat

    def after(self, local: datetime) -> datetime:
        """``local`` plus this duration on the wall clock, clamped to the end of the month (line 14); raises
        ValueError where it is working time.
        """
        self._on_any_calendar()
        return _add_months(local, self.months) + timedelta(days=self.days, seconds=self.seconds)

    def before(self, local: datetime) -> datetime:
        """``local`` minus this duration on the wall clock, months first, clamped likewise."""
        self._on_any_calendar()
        return _add_months(local, -self.months) - timedelta(days=self.days, seconds=self.seconds)

    def _on_any_calendar(self) -> None:
        if self.working:
            raise ValueError(f"{self} is working time, which only the calendar of the records can count")

    def shortest_seconds(self) -> float:
        """Shortest real length over all start dates, in seconds (``P1M`` counts as 28 days, a working day as
        24 hours: each ends at midnight).
        """
        return _extreme_seconds(self)[0]

    def fits_within(self, other: Duration) -> bool:
        """Whether this ends no later than ``other`` for every start date (line 9)."""
        return _fits(self, other)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Pydantic: what editors are told of it."""
        working = {"type": "string", "format": "working-time", "pattern": "^[0-9]+W[DH]$"}
        return {"anyOf": [ISO_DURATION, working], "examples": [*ISO_DURATION["examples"], "5WD"]}

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Pydantic: durations are read from and written to text."""

        def read(value: object) -> Duration:
            if isinstance(value, Duration):
                return value
            if isinstance(value, str):
                return cls.parse(value)
            raise ValueError(f"{value!r} is not an ISO 8601 duration; write text such as PT15M, P3D or P2M")

        return core_schema.no_info_plain_validator_function(
            read,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda d: d.isoformat(), return_schema=core_schema.str_schema()
            ),
        )


def _add_months(local: datetime, months: int) -> datetime:
    if not months:
        return local
    index = local.year * 12 + local.month - 1 + months
    year, month = divmod(index, 12)
    return local.replace(
        year=year, month=month + 1, day=min(local.day, calendar.monthrange(year, month + 1)[1])
    )


@lru_cache(maxsize=4096)
def _extreme_seconds(duration: Duration) -> tuple[float, float]:
    if duration.working:
        return 86400.0 * duration.working_days + 3600.0 * duration.working_hours, inf
    lengths = [(duration.after(start) - start).total_seconds() for start in _CYCLE]
    return min(lengths), max(lengths)


@lru_cache(maxsize=4096)
def _fits(inner: Duration, outer: Duration) -> bool:
    if inner.working and outer.working:
        return inner.working_days <= outer.working_days and inner.working_hours <= outer.working_hours
    if inner.working or outer.working:  # no number of days holds working time, for any run of holidays
        return _extreme_seconds(inner)[1] < _extreme_seconds(outer)[0]
    if inner.months == outer.months:  # the same months lead to the same day
        return timedelta(days=inner.days, seconds=inner.seconds) <= timedelta(
            days=outer.days, seconds=outer.seconds
        )
    (shortest, longest), (least, most) = _extreme_seconds(inner), _extreme_seconds(outer)
    if longest <= least or shortest > most:
        return longest <= least
    return all(inner.after(start) <= outer.after(start) for start in _CYCLE)


def coarsest(grains: set[Grain] | tuple[Grain, ...]) -> Grain:
    """The coarsest of some grains; raises ValueError when there is none."""
    return max(grains, key=GRAINS.index)
