"""Durations on the clocks of a zone (G4): months and days lead to the same local time, across changes of its
clocks, and hours go by. As-of joins with the few changes that the rows can reach: linear in instances.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

from gnrs_ppl.audit.calendar import add_values, changes
from gnrs_ppl.audit.sql import SqlStatement
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.zone import instant, zone_of

_DAY = timedelta(days=1)


class _Piece(NamedTuple):
    """From an instant (UTC), and from a local time, on clocks stand so many minutes east of UTC."""

    since: datetime
    wall: datetime
    ahead: int


@dataclass(frozen=True)
class ZoneTime:
    """The clocks of a zone in the years that a rule can reach from its rows.

    Attributes
    ----------
    zone : str
        IANA name.
    years : frozenset of int
    """

    zone: str
    years: frozenset[int]

    @classmethod
    def of(cls, zone: str, years: Iterable[int], durations: Iterable[Duration]) -> ZoneTime:
        """The clocks of a zone as far as durations, one after the other, reach from some years."""
        reach = 1 + sum(31 * d.months + d.days + d.seconds // 86400 + 1 for d in durations) // 365
        return cls(
            zone,
            frozenset(y for year in years for y in range(max(2, year - reach), min(9998, year + reach) + 1)),
        )

    @cached_property
    def pieces(self) -> list[_Piece]:
        """How its clocks stand, over those years."""
        found = []
        for year in sorted(self.years):
            if year - 1 not in self.years:
                begins = datetime(year, 1, 1) - _DAY
                ahead = instant(begins, zone_of(self.zone))[1]
                found.append(_Piece(begins, begins, ahead))
            found += _changes(self.zone, year)
        return found

    @property
    def shifts(self) -> set[int]:
        """Every offset of its clocks, in minutes."""
        return {piece.ahead for piece in self.pieces}

    @cached_property
    def uneven(self) -> dict[int, list[datetime]]:
        """Length in minutes -> first instants (UTC) of the local days that are so long, and not 24 hours."""
        clock = zone_of(self.zone)
        near = {piece.wall.date() + i * _DAY for piece in self.pieces for i in (-1, 0, 1)}
        found: dict[int, list[datetime]] = {}
        for day in sorted(near):
            begins, ends = (instant(datetime(d.year, d.month, d.day), clock)[0] for d in (day, day + _DAY))
            if ends - begins != _DAY:
                found.setdefault((ends - begins) // timedelta(minutes=1), []).append(begins)
        return found

    def bound(
        self,
        st: SqlStatement,
        name: str,
        source: str,
        key: str,
        prefix: str,
        duration: Duration | None,
        sign: Literal["+", "-"],
    ) -> str:
        """Add a table of bounds, a duration after or before the instants of a source, and give its name.

        It has a row (key, bound_ts, bound_off, bound_grain) for each row of the source.

        Parameters
        ----------
        st : SqlStatement
        name : str
            Of the table; what is bound in it begins with it.
        source : str
        key : str
            Column by which its rows are told apart.
        prefix : str
            Of its columns ts, off and grain.
        duration : Duration or None
            None where each row has its own: grid_months, grid_days and grid_seconds.
        sign : "+" or "-"
        """
        self._add_clock(st)
        columns = "" if duration else ", grid_months, grid_days, grid_seconds"
        amounts = {part: f"a.grid_{part}" for part in ("months", "days", "seconds")}
        if duration is not None:
            stated = {part: getattr(duration, part) for part in amounts}
            amounts = {part: st.bind(f"{name}_{part}", n) for part, n in stated.items() if n}
        calendar = [f"{sign} to_{part}({amounts[part]})" for part in ("months", "days") if part in amounts]
        seconds = f"{sign} to_seconds({amounts['seconds']})" if "seconds" in amounts else ""
        wall, date_ = "a.ts + to_minutes(k.ahead)", "a.ts + to_minutes(a.off)"
        for step in calendar:
            wall, date_ = f"({wall} {step})", f"({date_} {step})"
        if st.dates:
            wall = f"CASE a.grain WHEN 'day' THEN date_trunc('day', {date_} {seconds}) ELSE {wall} END"
        st.add(
            f"{name}_wall",
            "G4: the local time in the zone to which months and days lead",
            f"""SELECT a.*, {wall} AS wall
                FROM (SELECT {key}, {prefix}ts AS ts, {prefix}off AS off, {prefix}grain AS grain{columns} FROM {source}) AS a
                ASOF LEFT JOIN zone_clock AS k ON a.ts >= k.since""",
        )
        resolved = "a.wall - to_minutes(w.ahead)"
        if duration is None:
            resolved = f"CASE WHEN a.grid_months + a.grid_days > 0 THEN {resolved} ELSE a.ts END"
        elif not calendar:
            resolved = "a.ts"
        moved = f"{resolved} {seconds}"
        if "minute" in st.grains:
            moved = f"CASE a.grain WHEN 'minute' THEN date_trunc('minute', {moved}) ELSE {moved} END"
        if st.dates:
            moved = f"CASE a.grain WHEN 'day' THEN a.wall - to_minutes(w.ahead) ELSE {moved} END"
        st.add(
            f"{name}_instant",
            "G4: the instant at which clocks show it first, and hours after that",
            f"""SELECT a.{key}, a.grain, w.ahead, {moved} AS ts
                FROM {name}_wall AS a ASOF LEFT JOIN zone_local AS w ON a.wall >= w.since""",
        )
        return st.add(
            name,
            "G4: at the offset of the zone's clocks there",
            f"""SELECT b.{key}, b.ts AS bound_ts, CASE b.grain WHEN 'day' THEN b.ahead ELSE k.ahead END AS bound_off, b.grain AS bound_grain
                FROM {name}_instant AS b ASOF LEFT JOIN zone_clock AS k ON b.ts >= k.since""",
        )

    def _add_clock(self, st: SqlStatement) -> None:
        if "zone_clock" in st:
            return
        for name, about, column in (
            ("zone_clock", "G4: from which instant on the zone's clocks stand how far ahead", "since"),
            ("zone_local", "G4: the same by local time; what comes twice is the earlier", "wall"),
        ):
            since = [getattr(piece, column) for piece in self.pieces]
            ahead = [piece.ahead for piece in self.pieces]
            add_values(st, name, about, {"since": ("TIMESTAMP", since), "ahead": ("INTEGER", ahead)})


@lru_cache(maxsize=4096)
def _changes(zone: str, year: int) -> tuple[_Piece, ...]:
    """The changes of a zone's clocks in a year of UTC."""
    found = []
    for at, *shifts in changes(zone_of(zone), date(year, 1, 1), date(year, 12, 31)):
        before, after = (round(shift / timedelta(minutes=1)) for shift in shifts)
        if at.year == year and before != after:
            found.append(_Piece(at, at + timedelta(minutes=max(before, after)), after))
    return tuple(found)
