"""How fine the clocks of a log are, as its times show: dates that were written as midnights, whole minutes
(SEMANTICS line 19, G7). What chance would hardly give counts, for few rows as for many.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import log
from typing import NamedTuple

from gnrs_ppl.context.time import Grain

UNLIKELY = 1e-10
"""What chance gives more seldom than that is none. Small, as times made up by hand are often midnights too."""

ENOUGH_MINUTES = 30
"""So many times that are all whole minutes make a clock of minutes; fewer are written so by hand too."""
DOUBTFUL = 1e-2
"""Midnights that chance gives more seldom than that may be dates."""


class Clock(NamedTuple):
    """The dated rows of an activity in a channel that state no grain.

    Attributes
    ----------
    times, dates : int
        Those with a time of day, and those that are written as dates.
    midnights, hours, minutes, seconds : int
        Times at local midnight, on a whole hour, on a whole minute, on a whole second.
    """

    channel: str | None
    activity: str | None
    times: int
    dates: int
    midnights: int
    hours: int
    minutes: int
    seconds: int


class Doubt(NamedTuple):
    """Times of an activity in a channel that are dates or are none, as they are taken.

    Attributes
    ----------
    what : str
        Which times, and what they show.
    dates : bool
        Whether they are taken as dates.
    at_midnight : bool
        Whether it is about midnights alone.
    """

    channel: str
    activity: str
    what: str
    dates: bool
    at_midnight: bool = True


class Clocks(NamedTuple):
    """What the clocks of a log show.

    Attributes
    ----------
    grains : mapping
        Channel -> grain of its times.
    dated : tuple of Clock
        Activities whose midnights are dates, in channels whose other times are finer.
    findings : tuple of str
    doubts : tuple of Doubt
        What may be meant otherwise.
    """

    grains: Mapping[str | None, Grain]
    dated: tuple[Clock, ...]
    findings: tuple[str, ...]
    doubts: tuple[Doubt, ...]


def counted_clocks(local: str) -> str:
    """SQL of the last four counts of :class:`Clock`, for a local time; a bare date is none."""
    whole = (
        f"count(*) FILTER (WHERE NOT date_only AND {local} = date_trunc('{g}', {local}))"
        for g in ("day", "hour", "minute", "second")
    )
    return ", ".join(whole)


def no_chance(hits: int, rows: int, chance: float, unlikely: float = UNLIKELY) -> bool:
    """Whether so many hits among some rows are too many for chance, by Chernoff's bound on the binomial."""
    if not hits:
        return False
    apart = hits * log(hits / (rows * chance))
    if hits < rows:
        apart += (rows - hits) * log((rows - hits) / (rows * (1 - chance)))
    return hits > rows * chance and apart >= -log(unlikely)


def are_dates(midnights: int, rows: int, chance: float) -> bool:
    """Whether rows at midnight are dates: they are at least half of all, and too many for chance."""
    return 2 * midnights >= rows and no_chance(midnights, rows, chance)


def clocks_of(found: Iterable[Clock], declared: Mapping[str, Grain]) -> Clocks:
    """What the clocks of a log show; those of ``declared`` channels show what is declared.

    A channel all of whose times are midnight shows days. In another, an activity's midnights are dates where
    they are at least half of its rows and too many for chance, those of the activity or those of the channel.
    """
    channels: dict[str | None, list[Clock]] = {}
    for clock in found:
        channels.setdefault(clock.channel, []).append(clock)
    grains: dict[str | None, Grain] = {}
    dated, findings, doubts = list[Clock](), list[str](), list[Doubt]()
    for channel, clocks in sorted(channels.items(), key=lambda item: item[0] or ""):
        times, dates, midnights, hours, minutes, seconds = (
            sum(getattr(clock, part) for clock in clocks) for part in Clock._fields[2:]
        )
        if not times:
            continue
        grain: Grain = "microsecond" if seconds < times else "second"
        if channel is not None and channel in declared:
            grains[channel] = declared[channel]
            continue
        chance = 1 / 24 if hours == times > midnights else 1 / 1440
        if midnights == times and are_dates(times + dates, times + dates, chance):
            grain = "day"
        elif minutes == times >= ENOUGH_MINUTES:
            grain = "minute"
        grains[channel] = grain
        if grain in ("day", "minute"):
            findings.append(
                f"every time in {channel!r} is a whole {grain}; its clock is taken to show {grain}s"
            )
        of_dates = are_dates(midnights + dates, times + dates, chance)
        for clock in sorted(clocks, key=lambda c: c.activity or ""):
            if not clock.midnights or clock.activity is None or channel is None:
                continue
            hits, rows = clock.midnights + clock.dates, clock.times + clock.dates
            share = (
                f"all {clock.times}"
                if clock.midnights == clock.times > 1
                else f"{clock.midnights} of {clock.times}"
            )
            what = f"{share} times of {clock.activity!r} in {channel!r} are midnight"
            days = grain == "day" or (2 * hits >= rows and (of_dates or are_dates(hits, rows, chance)))
            if days and grain != "day":
                dated.append(clock)
                findings.append(f"{what}; they are taken as dates")
            if not clock.dates and (days or no_chance(hits, rows, chance, DOUBTFUL)):
                doubts.append(Doubt(channel, clock.activity, what, days))
    return Clocks(grains, tuple(dated), tuple(findings), tuple(doubts))
