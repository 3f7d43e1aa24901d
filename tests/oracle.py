"""What a rule means on a log, event by event: the plain-Python oracle of SEMANTICS line 25.

It follows the 25 numbered lines and docs/semantics.md (G, M, E, I, V, A, T, L, N, P, D and W entries) and shares
nothing with the SQL compiler but the types. Clear rather than fast: every constraint looks at every row of
its case. A match is True, False or None (unknown; line 1).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import working_oracle

from gnrs_ppl.audit.types import Due, InstanceVerdict, Reason, Verdict
from gnrs_ppl.context.log import Event
from gnrs_ppl.context.time import GRAIN_LENGTH, Duration, Grain, coarsest
from gnrs_ppl.context.types import AttributeType, RecordLayer
from gnrs_ppl.rule.types import (
    ALTERNATE,
    BESIDE,
    LOOK_BACK,
    MUTUAL,
    NEIGHBOURS,
    TWO_SIDED,
    Act,
    Condition,
    Constraint,
    Correlation,
    EvidencePolicy,
    Norm,
    Office,
    Structure,
    Trigger,
)

MICROSECOND = timedelta(microseconds=1)
DAY = timedelta(days=1)

# ---- instants (line 19, G1 to G6)


class At(NamedTuple):
    """An instant: naive UTC, minutes east of UTC, grain (G1)."""

    utc: datetime
    offset: int
    grain: Grain


def local(at: At) -> datetime:
    return at.utc + timedelta(minutes=at.offset)


def truncate(wall: datetime, grain: Grain) -> datetime:
    """Cut to the grain; the local clock matters for days only, since offsets are whole minutes."""
    if grain == "day":
        return wall.replace(hour=0, minute=0, second=0, microsecond=0)
    if grain == "minute":
        return wall.replace(second=0, microsecond=0)
    return wall.replace(microsecond=0) if grain == "second" else wall


def at_local(wall: datetime, offset: int, grain: Grain) -> At:
    """The instant of a local wall time, truncated to its grain (G4)."""
    return At(truncate(wall, grain) - timedelta(minutes=offset), offset, grain)


def at_of(row: Event, grain: Grain | None = None) -> At | None:
    """The row's instant, at its own grain or (E4) at another; a day row without offset has offset 0 (G1)."""
    if row.timestamp is None or row.grain is None:
        return None
    at = At(row.timestamp, row.offset or 0, row.grain)
    return at if grain is None else at_local(local(at), at.offset, grain)


def end_of_grain(at: At) -> datetime:
    return at.utc + GRAIN_LENGTH[at.grain] - MICROSECOND  # G3


def difference(a: At, b: At) -> timedelta:
    """``a`` − ``b`` at the coarser of their grains: local dates where either is a day, else truncated
    instants (G2, V6)."""
    grain = coarsest((a.grain, b.grain))
    if grain == "day":
        return truncate(local(a), grain) - truncate(local(b), grain)
    return truncate(a.utc, grain) - truncate(b.utc, grain)


def compare(a: At, b: At) -> int:
    """−1, 0 (a tie) or 1 (G2)."""
    return (difference(a, b) > timedelta(0)) - (difference(a, b) < timedelta(0))


def plus(at: At, duration: Duration, log: Log) -> At:
    if duration.working:
        return counted(at, duration, log, forward=True)
    if log.zone is not None:
        return in_zone(at, duration, log.zone, forward=True)
    return at_local(duration.after(local(at)), at.offset, at.grain)  # line 14, G4


def minus(at: At, duration: Duration, log: Log) -> At:
    if duration.working:
        return counted(at, duration, log, forward=False)
    if log.zone is not None:
        return in_zone(at, duration, log.zone, forward=False)
    return at_local(duration.before(local(at)), at.offset, at.grain)  # line 14, G4


def in_zone(at: At, duration: Duration, zone: ZoneInfo, *, forward: bool) -> At:
    """Months and days on the zone's clocks, hours as they go by; of a date all of it on the calendar (G4)."""

    def moved(wall: datetime, by: Duration) -> datetime:
        return by.after(wall) if forward else by.before(wall)

    if at.grain == "day":
        day = truncate(moved(local(at), duration), "day")
        return at_local(day, ahead(day.replace(tzinfo=zone)), "day")
    utc = at.utc
    if duration.months or duration.days:
        shown = utc + timedelta(minutes=ahead(utc.replace(tzinfo=UTC).astimezone(zone)))
        wall = moved(shown, Duration(duration.months, duration.days))
        utc = wall - timedelta(minutes=ahead(wall.replace(tzinfo=zone)))  # the earlier, the offset before
    utc += timedelta(seconds=duration.seconds) * (1 if forward else -1)
    offset = ahead(utc.replace(tzinfo=UTC).astimezone(zone))
    return at_local(utc + timedelta(minutes=offset), offset, at.grain)


def ahead(shown: datetime) -> int:
    east = shown.utcoffset()
    assert east is not None
    return round(east.total_seconds() / 60)


def counted(at: At, duration: Duration, log: Log, *, forward: bool) -> At:
    utc, offset = working_oracle.moved(log.records, *at, duration, forward)
    return at_local(utc + timedelta(minutes=offset), offset, at.grain)  # W4


# ---- matching (lines 1 and 13, M1 to M3)


def both(*parts: bool | None) -> bool | None:
    """Three-valued AND."""
    if any(p is False for p in parts):
        return False
    return None if any(p is None for p in parts) else True


def either(*parts: bool | None) -> bool | None:
    """Three-valued OR."""
    return negated(both(*(negated(part) for part in parts)))


def negated(part: bool | None) -> bool | None:
    return None if part is None else not part


def equal(value: str | None, *stated: str | None) -> bool | None:
    """Whether a field is one of the stated values; a null field is unknown."""
    return None if value is None else value in stated


def matches(row: Event, act: Act, log: Log, activation: Event | None = None) -> bool | None:
    """Whether the row is the act, by any of its patterns (line 1, A1)."""
    return either(*(matches_pattern(row, pattern, log, activation) for pattern in act.patterns))


def matches_pattern(row: Event, act: Act, log: Log, activation: Event | None) -> bool | None:
    fields = [
        (row.activity, act.activity),
        (row.location, act.location),
        (row.object, act.object),
        (row.role, act.role),
    ]
    stated_fields = (equal(value, stated) for value, stated in fields if stated is not None)
    return both(*stated_fields, *(meets(log, row, condition, activation) for condition in act.where))


def meets(log: Log, row: Event, condition: Condition, activation: Event | None = None) -> bool | None:
    """Whether a row meets a condition; unknown where a value it needs is not there, or cannot be read (D3)."""
    mine = log.value(row, condition.attribute)
    if condition.test == "recorded":
        return None if mine is UNREADABLE else mine is not None
    if condition.other is None:
        kind = next(a.type for a in log.records.attributes if a.name == condition.attribute)
        values = [read_cell(str(value), kind) for value in condition.value]
    else:
        source = row if condition.other.of == "row" else activation
        assert source is not None
        values = [log.value(source, condition.other.attribute)]
    if mine in (None, UNREADABLE) or any(value in (None, UNREADABLE) for value in values):
        return None
    first: Any = values[0]
    known: Any = mine
    if condition.test == "one_of":
        return known in values
    if condition.test == "between":
        upper: Any = values[1]
        return bool(first <= known <= upper)
    sign = (known > first) - (known < first)
    return (
        sign
        in {
            "equal": (0,),
            "not_equal": (-1, 1),
            "less": (-1,),
            "at_most": (-1, 0),
            "more": (1,),
            "at_least": (0, 1),
        }[condition.test]
    )


def key_of(row: Event | None, correlation: Correlation, log: Log) -> str | None:
    """The correlation key of an activation; nothing to compare under same_case; null for case start otherwise
    (M3). Of nobody no row can be by the same person (D7)."""
    if correlation == "same_case":
        return ""
    if row is None:
        return None
    if correlation == "same_resource" and row.resource in log.records.automatic:
        return None
    return row.object if correlation == "same_object" else row.resource


def key_agrees(row: Event, key: str | None, correlation: Correlation, log: Log) -> bool | None:
    """Whether a row has the activation's key, or under different_resource is another person's (M3, D7)."""
    if key is None:
        return None
    if correlation == "same_case":
        return True
    if correlation == "same_object":
        return equal(row.object, key)
    if correlation == "same_resource":
        return equal(row.resource, key)
    return negated(equal(row.resource, key, *log.records.automatic))


# ---- intervals (line 14, I3)


class Span(NamedTuple):
    """An interval; a bound of None is infinite; ``*_tie`` is what a tie at it is: True is in, None unknown,
    False out (I3, T1)."""

    lower: At | None
    lower_tie: bool | None
    upper: At | None
    upper_tie: bool | None

    @property
    def empty(self) -> bool:
        return self.lower is not None and self.upper is not None and compare(self.upper, self.lower) < 0  # E7

    def holds(self, at: At | None) -> bool | None:
        """Whether an instant lies inside, bound by bound at the coarser grain (G2); a null timestamp is
        unknown (M2)."""
        if self.empty:
            return False
        if at is None:
            return None
        above = (
            True if self.lower is None else {1: True, 0: self.lower_tie, -1: False}[compare(at, self.lower)]
        )
        below = (
            True if self.upper is None else {-1: True, 0: self.upper_tie, 1: False}[compare(at, self.upper)]
        )
        return both(above, below)


# ---- conditions on data (D1, D2)

Cell = Decimal | str | bool | date | object | None
UNREADABLE = object()
"""What stands in a cell that holds no value of its attribute's type, and for a case that holds two."""


def read_cell(text: str | None, kind: AttributeType) -> Cell:
    """The value of a cell; None where it is empty (D1)."""
    if text is None or kind == "text":
        return text
    if kind == "boolean":
        return {"true": True, "false": False}.get(text.lower(), UNREADABLE)
    if kind == "date":
        day, rest = text[:10], text[10:]
        try:
            plain = day[4:5] == day[7:8] == "-" and day.replace("-", "", 2).isdecimal()
            return date.fromisoformat(day) if plain and rest[:1] in ("", "T", " ") else UNREADABLE
        except ValueError:
            return UNREADABLE
    whole, _, decimals = (text[1:] if text[:1] in "+-" else text).partition(".")
    digits = f"{whole}{decimals}"
    fits = whole and len(whole.lstrip("0")) <= 20 and len(decimals[:18] + decimals[18:].rstrip("0")) <= 18
    return Decimal(text) if fits and digits.isascii() and digits.isdigit() else UNREADABLE


# ---- the log and its channels (lines 2 to 4)


def within_reach(times: Sequence[datetime], written: datetime | None) -> set[datetime]:
    """The times that what is observed may rest on: none after the log was written, unless most are, and none far
    from all others (G9). Every way to cut off both ends is tried; of those that hold, the one that leaves least."""
    late = [] if written is None else [at for at in times if at > written + DAY]
    kept = sorted(times if 2 * len(late) > len(times) else (at for at in times if at not in late))
    total = len(kept)
    places = [i for i in range(1, total) if kept[i] - kept[i - 1] > 366 * DAY]
    best = (0, total)
    for low in [0, *places]:
        for high in [*places, total]:
            rest = kept[low:high]
            if not rest:
                continue
            ends = [(low, rest[0] - kept[low - 1])] if low else []
            ends += [(total - high, kept[high] - rest[-1])] if high < total else []
            far = all(
                gap > rest[-1] - rest[0]
                and (100 * rows <= total or (3 * rows <= total > 3 >= rows and gap > 5 * 366 * DAY))
                for rows, gap in ends
            )
            if far and high - low < best[1] - best[0]:
                best = (low, high)
    return set(kept[best[0] : best[1]])


class Log:
    """The rows of D by case, with coverage and end of observation.

    Rows with null channel are rows of D: they count for the end of observation, case start, closure and the
    last row of a case (G5, M7, I1, I4), never for a channel's coverage (E7).
    """

    def __init__(
        self,
        records: RecordLayer,
        events: Sequence[Event],
        written: datetime | None = None,
        aside: Sequence[Event] = (),
    ) -> None:
        self.records = records
        self.zone = ZoneInfo(records.zone) if records.zone else None
        # line 1: a row set aside is a row of its case of which no time is known, or one of every case
        known = [row._replace(timestamp=None, offset=None, grain=None) for row in aside if row.case_id]
        self.of_any_case = [
            Event(f"any {i}", "", row.activity, None, None, None)
            for i, row in enumerate(aside)
            if not row.case_id
        ]
        self._not_understood = {row.event_id for row in known}
        self.events = [*events, *known]
        self.cases: dict[str, list[Event]] = {}
        for row in self.events:
            self.cases.setdefault(row.case_id, []).append(row)
        self._cells = {row.event_id: self._read(row) for row in self.events}
        self.dated = [row for row in self.events if at_of(row) is not None]
        counting = within_reach([row.timestamp for row in self.dated if row.timestamp is not None], written)
        self.within = [row for row in self.dated if row.timestamp in counting]
        self.end = self._end_of_observation()
        self.coverage = {channel.name: self._coverage(channel.name) for channel in records.channels}

    def _read(self, row: Event) -> dict[str, Cell]:
        """Its own cell of each attribute of events, the one value of its case of each of cases (D2)."""
        found: dict[str, Cell] = {}
        for position, attribute in enumerate(self.records.attributes):
            rows = self.cases[row.case_id] if attribute.of == "case" else [row]
            cells = {
                read_cell(other.attributes[position] if other.attributes else None, attribute.type)
                for other in rows
            } - {None}
            # that a cell is empty is not known of a row set aside
            empty = UNREADABLE if {other.event_id for other in rows} <= self._not_understood else None
            found[attribute.name] = empty if not cells else cells.pop() if len(cells) == 1 else UNREADABLE
        return found

    def value(self, row: Event, name: str) -> Cell:
        return self._cells[row.event_id][name] if row.event_id in self._cells else UNREADABLE

    def _utc(self, moment: datetime | date, *, end: bool) -> datetime:
        """A declared instant as UTC, or the first or last microsecond of a declared local day (G6, E7)."""
        zone, shift = self.records.zone, timedelta(minutes=self.records.offset or 0)
        clock: tzinfo = ZoneInfo(zone) if zone else timezone(shift)
        if isinstance(moment, datetime):
            at = moment if moment.tzinfo else moment.replace(tzinfo=clock)
            return at.astimezone(UTC).replace(tzinfo=None)
        midnight = datetime(moment.year, moment.month, moment.day)
        if end:
            return self._utc(midnight + DAY, end=True) - MICROSECOND
        return self._utc(midnight, end=False)

    def _end_of_observation(self) -> datetime | None:
        """Declared, else the last end-of-grain of any dated row of D that is not far off (line 4, G5, G9)."""
        if self.records.end_of_observation is not None:
            return self._utc(self.records.end_of_observation, end=True)
        return max((self.passed(at) for row in self.within if (at := at_of(row))), default=None)

    def passed(self, at: At) -> datetime:
        """End-of-grain, of a date of the zone the end of that local day, 23 or 25 hours on (G5)."""
        if self.zone is None or at.grain != "day":
            return end_of_grain(at)
        day, after = local(at), local(at) + DAY
        if at.offset != ahead(day.replace(tzinfo=self.zone)):
            return end_of_grain(at)
        return after - timedelta(minutes=ahead(after.replace(tzinfo=self.zone))) - MICROSECOND

    def _coverage(self, name: str) -> list[tuple[datetime, datetime]]:
        """When the channel is complete: declared, else first to last row; clipped and merged (line 4, E7)."""
        channel = self.records.channel(name)
        if channel is not None and channel.coverage is not None:
            stated = [(self._utc(i.start, end=False), self._utc(i.end, end=True)) for i in channel.coverage]
        else:
            own = [at for row in self.within if row.channel == name and (at := at_of(row))]
            stated = [(min(at.utc for at in own), max(self.passed(at) for at in own))] if own else []
        clipped = [(start, end if self.end is None else min(end, self.end)) for start, end in stated]
        merged: list[tuple[datetime, datetime]] = []
        for start, end in sorted(c for c in clipped if c[0] <= c[1]):
            if merged and start <= merged[-1][1] + MICROSECOND:
                merged[-1] = (merged[-1][0], max(merged[-1][1], end))
            else:
                merged.append((start, end))
        return merged

    def recorders(self, act: Act, among: Collection[str] | None = None) -> list[str]:
        """rel: the durable channels (of the policy's, where given) that can record one of its activities
        (line 2, E1, A2)."""
        able = [
            c.name
            for c in self.records.channels
            if c.durable and set(act.activities) & set(c.activities or ())
        ]
        return [name for name in able if among is None or name in among]

    def covers(self, channel: str, span: Span) -> bool:
        """Whether one coverage interval holds the whole span; −∞ is never covered, an empty span always
        (E7)."""
        if span.empty:
            return True
        if span.lower is None or span.upper is None:
            return False
        return any(
            start <= span.lower.utc and self.passed(span.upper) <= end
            for start, end in self.coverage[channel]
        )

    def over(self, span: Span) -> bool:
        return span.upper is not None and self.end is not None and self.passed(span.upper) <= self.end  # G5

    def common_grain(self, rel: Collection[str]) -> Grain:
        """G, the same for every instance: the coarsest grain of rel's channels, as declared, else as seen in
        their rows in the log (E4)."""
        declared = {c.name: c.grain for c in self.records.channels if c.name in rel and c.grain is not None}
        seen = {
            row.grain
            for row in self.dated
            if row.channel in rel and row.channel not in declared and row.grain is not None
        }
        return coarsest({*declared.values(), *seen, "microsecond"})


def in_order(rows: Sequence[Event]) -> list[Event]:
    """Dated rows by (end-of-grain, event_id) (G3)."""
    ends = {row.event_id: end_of_grain(at) for row in rows if (at := at_of(row))}
    return sorted(
        (row for row in rows if row.event_id in ends), key=lambda row: (ends[row.event_id], row.event_id)
    )


def case_start(log: Log, case: Sequence[Event], rel: Collection[str], before: At | None) -> At | None:
    """The start of the case where it is known to a look-back from ``before`` (None: from an end that is not
    known) for an act of rel (line 16, I4)."""
    opening = in_order([row for row in case if row.activity in log.records.case_start])
    first = at_of((opening or in_order(case))[0])  # the case has an activation, so it has a dated row
    known = bool(opening) or (
        first is not None and all(log.coverage[c] and first.utc > log.coverage[c][0][0] for c in rel)
    )
    if not known or first is None:
        return None
    return first if before is None or end_of_grain(first) <= end_of_grain(before) else None


def interval_end(
    log: Log, case: Sequence[Event], t0: At, activation: At, window: Duration | None
) -> At | None:
    """The end of an interval without deadline: t0 + window, else a closing row, else quiet_after (line 9,
    I1)."""
    if window is not None:
        return plus(t0, window, log)
    for row in in_order(case):
        at = at_of(row)
        if at is not None and row.activity in log.records.case_end and compare(at, activation) >= 0:
            return at
    if log.records.quiet_after is None:
        return None
    last = max(log.passed(at) for row in case if (at := at_of(row)))
    return plus(At(last, activation.offset, "microsecond"), log.records.quiet_after, log)


# ---- an act over an interval (line 5, E1 to E7)


@dataclass(frozen=True)
class Sight:
    """What the channels of rel show of one act over one interval.

    ``definite`` holds each channel's definite rows in order, ``possible`` counts definite and unknown ones,
    ``silent`` are the closed-world channels that cover the interval. ``grain`` is E4's G where k > 1, else
    None: every row at its own grain.
    """

    k: int
    key_known: bool
    grain: Grain | None
    within: timedelta
    definite: dict[str, list[Event]]
    possible: dict[str, int]
    tied: dict[str, int]
    closed: list[str]
    silent: list[str]

    def at(self, row: Event) -> At:
        at = at_of(row, self.grain)
        assert at is not None  # only dated rows are definite
        return at

    def order(self, row: Event) -> tuple[datetime, str]:
        return end_of_grain(self.at(row)), row.event_id  # G3; at G for k > 1 (E4)

    @property
    def rows(self) -> list[Event]:
        return sorted((row for rows in self.definite.values() for row in rows), key=self.order)

    @property
    def enough(self) -> int:
        """How many channels must be silent before the act is refuted: n_rel − k + 1 (line 5)."""
        return len(self.definite) - self.k + 1


class Sought(NamedTuple):
    """An act looked for in a case, under a correlation key; ``own`` are rows that cannot be their own target
    (M4)."""

    act: Act
    case: Sequence[Event]
    key: str | None
    by: Correlation
    log: Log
    own: Collection[str] = ()
    activation: Event | None = None

    def match(self, row: Event) -> bool | None:
        if row.event_id in self.own:
            return False
        keys = key_agrees(row, self.key, self.by, self.log)
        return both(matches(row, self.act, self.log, self.activation), keys)


def look(log: Log, policy: EvidencePolicy, sought: Sought, span: Span) -> Sight:
    """Gather the evidence of an act over an interval."""
    rel = log.recorders(sought.act, policy.channels)
    k = policy.needed(len(rel))
    grain = log.common_grain(rel) if k > 1 else None
    stated, length = log.records.match_within, GRAIN_LENGTH[grain or "microsecond"]
    within = (
        timedelta(days=30 * stated.months + stated.days, seconds=stated.seconds) if stated else length
    )  # E4
    definite: dict[str, list[Event]] = {channel: [] for channel in rel}
    possible, tied = dict.fromkeys(rel, 0), dict.fromkeys(rel, 0)
    for row in sought.case:
        inside, at = span.holds(at_of(row, grain)), at_of(row, grain)
        match = both(sought.match(row), inside)
        for channel in rel:  # a row with null channel is an unknown match for every one of them (M2)
            in_channel = both(match, equal(row.channel, channel))
            possible[channel] += in_channel is not False
            certain = both(sought.match(row), equal(row.channel, channel))
            tied[channel] += bool(certain) and at is not None and inside is None
            if in_channel:
                definite[channel].append(row)
    closed = [c.name for c in log.records.channels if c.name in rel and c.closed_world]
    silent = [channel for channel in closed if log.covers(channel, span)]
    sight = Sight(k, sought.key is not None, grain, within, definite, possible, tied, closed, silent)
    for rows in definite.values():
        rows.sort(key=sight.order)
    return sight


def proven(sight: Sight, n: int) -> Event | None:
    """The row that completes the proof of n such acts, or None (E3, E4)."""
    if sight.k > 1:
        return corroborated(sight)
    nth = [rows[n - 1] for rows in sight.definite.values() if len(rows) >= n]
    return min(nth, key=sight.order, default=None)


def corroborated(sight: Sight) -> Event | None:
    """The earliest row that completes k rows of k channels, no two of them further apart than match_within
    (E4)."""

    def position(row: Event) -> datetime:  # on a common scale: local days at day grain, else instants
        return local(sight.at(row)) if sight.grain == "day" else sight.at(row).utc

    rows = sight.rows
    for count, last in enumerate(rows, start=1):
        for first in rows[:count]:
            near = [
                row for row in rows[:count] if timedelta(0) <= position(row) - position(first) <= sight.within
            ]
            if last in near and len({row.channel for row in near}) >= sight.k:
                return last
    return None


def refuted(sight: Sight, n: int) -> bool:
    """Enough closed-world channels cover the interval and hold fewer than n rows, and so do all together
    (line 5, E5)."""
    empty = [channel for channel in sight.silent if sight.possible[channel] < n]
    return sight.key_known and len(sight.rows) < n and len(empty) >= sight.enough


def unknown(sight: Sight, n: int) -> Reason:
    """Why n such acts are neither proven nor refuted: the first reason that applies (E6)."""
    if not sight.key_known:
        return "unknown_key"
    if len(sight.rows) >= n:
        holding = sum(bool(rows) for rows in sight.definite.values())
        return "uncorroborated" if sight.k > 1 and holding < sight.k else "split"
    if any(count - sight.tied[channel] >= n for channel, count in sight.possible.items()):
        return "unknown_match"
    if any(count >= n for count in sight.possible.values()):
        return "unknown_tie"  # T2
    return "open_world" if len(sight.closed) < sight.enough else "uncovered"


# ---- instances (lines 6 to 8, M5 to M8)


class Opening(NamedTuple):
    """An instance: its case, its trigger row (None for case start), and t0 (None where an unknown match
    opened it)."""

    case_id: str
    case: list[Event]
    instance: str
    bearer: str | None
    row: Event | None
    t0: At | None
    opener: Trigger | None = None
    of_target: bool = False


def openings(structure: Structure, log: Log) -> Iterator[Opening]:
    """The instances of a rule; case start may be borne by nobody (N6)."""
    trigger, bearer = structure.trigger, structure.norm.bearer
    office = bearer.role if isinstance(bearer, Office) else None
    for case_id, mine in log.cases.items():
        case = [*mine, *log.of_any_case]
        if trigger.act is None or trigger.channel is None:  # case start (M7)
            first = in_order(case)
            in_scope = both(*(meets(log, case[0], condition) for condition in structure.scope.where))  # D6
            if in_scope is not False:
                t0 = at_of(first[0]) if first and in_scope else None
                yield Opening(case_id, case, case_id, office, None, t0)
            continue
        opened: set[str | None] = set()
        for row in in_order(mine) + [row for row in mine if at_of(row) is None]:
            match = triggers(row, trigger.act, trigger.channel, structure, log)
            if match is False:
                continue
            t0 = at_of(row) if match else None  # an unknown match, or no instant: line 6
            if t0 is not None and trigger.once == "first":  # among definite rows, per bearer (M6)
                borne_by = None if office else row.resource
                if borne_by in opened:
                    continue
                opened.add(borne_by)
            yield Opening(case_id, case, row.event_id, office or row.resource, row, t0, trigger)


def triggers(row: Event, act: Act, channel: str, structure: Structure, log: Log) -> bool | None:
    """Whether the row opens an instance: channel, act and scope (M5); scope.roles only where the bearer is
    the trigger's (line 8)."""
    scope = structure.scope
    filters = [(row.location, scope.locations), (row.object, scope.objects)]
    if structure.norm.bearer == "trigger":
        filters.append((row.role, scope.roles))
    in_scope = both(*(equal(value, *stated) for value, stated in filters if stated))
    of_case = (meets(log, row, condition) for condition in scope.where)
    return both(equal(row.channel, channel), matches(row, act, log), in_scope, *of_case)


# ---- verdicts (lines 9 to 20, V1 to V8)


class Finding(NamedTuple):
    """A verdict on one instance × constraint; ``instant`` is where a violation activates the procedure (line
    23)."""

    verdict: Verdict
    reason: Reason
    witnesses: tuple[str, ...] = ()
    due: At | None = None
    slack: float | None = None
    instant: At | None = None


def judge(*about: Any) -> Finding:
    """One instance × constraint; where a bound cannot be counted nothing is said (W6)."""
    try:
        return weighed(*about)
    except working_oracle.Uncounted:
        return Finding("indeterminate", "uncounted")


def weighed(
    log: Log,
    norm: Norm,
    policy: EvidencePolicy,
    constraint: Constraint,
    window: Duration | None,
    opening: Opening,
    exceptions: EvidencePolicy | None = None,
) -> Finding:
    """One instance × constraint, in the order of V1; ``exceptions`` is the policy of ``unless`` where it is
    another (P1)."""
    if opening.t0 is None:
        return Finding("indeterminate", "scope")  # line 6
    by = norm.correlation(constraint)
    if constraint.template in NEIGHBOURS:
        return beside(log, norm, policy, constraint, window, opening, exceptions or policy)
    key = key_of(opening.row, by, log)
    own, activation = ([opening.row] if opening.row else []), opening.t0
    if constraint.after is not None:  # the second activation (line 10)
        sought = Sought(constraint.after.act, opening.case, key, by, log, {row.event_id for row in own})
        episode = Span(opening.t0, True, plus(opening.t0, window, log) if window else None, True)
        found = second_activation(sought, constraint.after.channel, episode)
        if isinstance(found, Finding):
            return found
        own, activation = [*own, found], at_of(found) or activation
    started = own[-1] if own else None
    sought = Sought(
        norm.target(constraint), opening.case, key, by, log, {row.event_id for row in own}, started
    )
    span = span_of(log, constraint, opening, activation, window, log.recorders(sought.act, policy.channels))
    over = constraint.template in LOOK_BACK or log.over(span)
    sight = look(log, policy, sought, span)
    if constraint.template == "exclusive_choice":
        each = [look(log, policy, sought._replace(act=one), span) for one in sought.act.patterns]
        verdict, reason, last = weigh_choice(each, over)
        seen = [row for one in each for row in nearest(one, constraint.template, activation)]
    else:
        verdict, reason, last = weigh(constraint, sight, over, activation)
        seen = nearest(
            sight,
            "both" if constraint.template in TWO_SIDED or constraint.earlier_counts else constraint.template,
            activation,
        )
    if verdict == "pending":  # X2
        pardon = excused(
            log,
            exceptions or policy,
            constraint,
            opening,
            key,
            by,
            span.upper,
            seen,
            span.upper,
            activation,
            started,
        )
        if pardon is not None and pardon.verdict == "excused":
            return pardon
    if verdict != "violated":
        return Finding(
            verdict, reason, named(seen), span.upper, slack(constraint, verdict, span.upper, sight, last)
        )
    instant = moment(constraint, span, activation, own, last)
    pardon = excused(
        log,
        exceptions or policy,
        constraint,
        opening,
        key,
        by,
        instant,
        seen,
        span.upper,
        activation,
        started,
    )
    if pardon is not None:
        return pardon
    beyond = constraint.template in LOOK_BACK and span.upper_tie is False  # T1: a tie that is out lies beyond
    late = late_row(sought, sight, span.upper, tie=beyond) if reason in ("absent", "too_few") else None
    late_at = (
        at_of(late) if late else None
    )  # at its own grain: k, and with it G, is not applied to the late row (V5)
    if late is None or late_at is None or span.upper is None:
        return Finding("violated", reason, named(seen), span.upper, None, instant)
    looks_back = constraint.template in LOOK_BACK
    behind = None if looks_back else difference(span.upper, late_at).total_seconds()  # V6
    return Finding(
        "violated",
        "late" if reason == "absent" else reason,
        named([*seen, late]),
        span.upper,
        behind,
        instant,
    )


def excused(
    log: Log,
    policy: EvidencePolicy,
    constraint: Constraint,
    opening: Opening,
    key: str | None,
    by: Correlation,
    instant: At | None,
    seen: list[Event],
    due: At | None,
    activation: At,
    started: Event | None = None,
) -> Finding | None:
    """What the exception makes of a violation, or None where it stays one; no row is excluded, no office
    asked (line 18, V4, M4)."""
    if constraint.unless is None:
        return None
    start = case_start(log, opening.case, log.recorders(constraint.unless, policy.channels), instant)
    if constraint.in_the_meantime:  # X1
        start = activation
    excuse = look(
        log,
        policy,
        Sought(constraint.unless, opening.case, key, by, log, (), started),
        Span(start, True, instant, None),
    )
    if proven(excuse, 1):
        return Finding(
            "excused", "exception", named(seen + [rows[0] for rows in excuse.definite.values() if rows]), due
        )
    return None if refuted(excuse, 1) else Finding("indeterminate", "exception_unknown", named(seen), due)


def second_activation(sought: Sought, channel: str, episode: Span) -> Event | Finding:
    """The earliest definite row of ``after`` in the episode [t0, t0 + window], or why there is none (line
    10, I2)."""
    found = {
        row: both(sought.match(row), equal(row.channel, channel), episode.holds(at_of(row)))
        for row in sought.case
    }
    definite = in_order([row for row, match in found.items() if match])
    if definite and sought.key is not None:
        return definite[0]
    unclear = sought.key is None or None in found.values()
    return Finding("indeterminate", "after_unknown") if unclear else Finding("not_activated", "no_after")


def span_of(
    log: Log,
    constraint: Constraint,
    opening: Opening,
    activation: At,
    window: Duration | None,
    rel: Collection[str],
) -> Span:
    """The interval the target is looked for in (line 14, I3); its upper bound is the due shown (I5)."""
    template, deadline, case = constraint.template, constraint.deadline, opening.case
    if template in LOOK_BACK:
        lower = minus(activation, deadline, log) if deadline else case_start(log, case, rel, activation)
        return Span(lower, True, activation, tie_at_activation(constraint))
    # t0 + window is computed from t0 and keeps t0's offset and grain, also under `after` (I1). A two-sided
    # constraint without deadline ends where any other does: line 9's order, window first.
    end = (
        plus(activation, deadline, log)
        if deadline
        else interval_end(log, case, opening.t0 or activation, activation, window)
    )
    if template in TWO_SIDED:
        return Span(
            minus(activation, deadline, log) if deadline else case_start(log, case, rel, activation),
            True,
            end,
            True,
        )
    if constraint.earlier_counts:  # L1
        return Span(case_start(log, case, rel, activation), True, end, True)
    return Span(activation, tie_at_activation(constraint), end, True)


def tie_at_activation(constraint: Constraint) -> bool | None:
    """What a row at the activation's own instant is: in (True), unknown (None) or out (False) (I3's table,
    T1)."""
    if constraint.ties is None:
        return None if constraint.template in ("not_response", "not_chain_response", *LOOK_BACK) else True
    if constraint.ties == "unknown":
        return None
    return (constraint.ties == "fulfil") == constraint.positive


def weigh_choice(each: Sequence[Sight], over: bool) -> tuple[Verdict, Reason, Event | None]:
    """Verdict on one of two acts and not the other, before ``unless`` and the late row (C2)."""
    proofs = [row for sight in each if (row := proven(sight, 1))]
    if len(proofs) == 2:
        return "violated", "too_many", in_order(proofs)[-1]
    if not over:
        return "pending", "open", None
    undecided = [unknown(sight, 1) for sight in each if not proven(sight, 1) and not refuted(sight, 1)]
    if undecided:
        order: list[Reason] = ["unknown_key", "split", "unknown_match", "open_world", "uncovered"]
        return "indeterminate", min(undecided, key=order.index), None
    return ("satisfied", "proven", proofs[0]) if proofs else ("violated", "absent", None)


def weigh(
    constraint: Constraint, sight: Sight, over: bool, activation: At
) -> tuple[Verdict, Reason, Event | None]:
    """Verdict before ``unless`` and the late row, with the row that completed the proof, if any (V1 to
    V3).
    """
    n, template = constraint.count, constraint.template
    last = proven(sight, n)
    if not constraint.positive:  # line 17, V3
        if last:
            return "violated", "seen_forbidden", last
        if not over:
            return "pending", "seen" if sight.rows else "unseen", None
        return (
            ("satisfied", "refuted", None)
            if refuted(sight, n)
            else ("indeterminate", unknown(sight, n), None)
        )
    if template == "exactly":  # line 15, V2
        extra = proven(sight, n + 1)
        if extra:
            return "violated", "too_many", extra
        if not over:
            return "pending", "open", None
        if refuted(sight, n):
            return "violated", "too_few", None
        if last and refuted(sight, n + 1):
            return "satisfied", "proven", last
        return "indeterminate", unknown(sight, n + 1 if last else n), None
    if last:  # line 15, V1
        tie = (
            template == "response"
            and not constraint.earlier_counts
            and compare(sight.at(last), activation) == 0
        )
        return "satisfied", "tie" if tie else "proven", last
    if not over:
        return "pending", "open", None
    if refuted(sight, n):
        return "violated", "absent", None
    return "indeterminate", unknown(sight, n), None


def moment(
    constraint: Constraint, span: Span, activation: At, own: Sequence[Event], last: Event | None
) -> At:
    """e, the instant of the violation: up to it an exception counts (V4), from it the procedure runs (line
    23)."""
    if constraint.template in LOOK_BACK:
        return activation
    if last is None:  # a positive constraint that was refuted: its due
        assert span.upper is not None
        return span.upper
    completion = at_of(last)  # e carries the row's own offset and grain
    assert completion is not None
    start = (end_of_grain(activation), own[-1].event_id if own else "")
    return completion if (end_of_grain(completion), last.event_id) > start else activation


def late_row(sought: Sought, sight: Sight, due: At | None, *, tie: bool) -> Event | None:
    """The earliest definite row of rel after due, or at it where ``tie`` (V5)."""
    later = Span(due, tie, None, True)
    rows = [
        row
        for row in sought.case
        if row.channel in sight.definite and sought.match(row) and later.holds(at_of(row))
    ]
    return next(iter(in_order(rows)), None)


def slack(
    constraint: Constraint, verdict: Verdict, due: At | None, sight: Sight, last: Event | None
) -> float | None:
    """due − completion of a satisfied positive constraint, null for precedence (line 20, V6); G is kept
    where k > 1."""
    if (
        verdict != "satisfied"
        or not constraint.positive
        or constraint.template in LOOK_BACK
        or due is None
        or last is None
    ):
        return None
    return difference(due, sight.at(last)).total_seconds()


def nearest(sight: Sight, template: str, activation: At) -> list[Event]:
    """Per channel the definite row nearest the activation (line 20, V7)."""

    def distance(row: Event) -> tuple[timedelta, datetime, str]:
        end, event_id = sight.order(row)
        if template in (*LOOK_BACK, "end"):
            return datetime.max - end, end, event_id
        return (abs(end - end_of_grain(activation)) if template == "both" else timedelta(0)), end, event_id

    return [min(rows, key=distance) for rows in sight.definite.values() if rows]


def named(rows: Sequence[Event]) -> tuple[str, ...]:
    return tuple(sorted({row.event_id for row in rows}))


# ---- neighbours (N1 to N6)


@dataclass(frozen=True)
class Others:
    """Which rows of a case are another event than the target (N1): yes, no, or unknown."""

    log: Log
    policy: EvidencePolicy
    sought: Sought
    template: str
    activation: Event | None
    repeated: Act | None
    """The activation's act, for the chains."""
    here: str | None
    """The channel it is recorded in."""

    def is_other(self, row: Event) -> bool | None:
        if (
            self.template in BESIDE
            and self.activation is not None
            and row.event_id == self.activation.event_id
        ):
            return False
        if self.template in ALTERNATE:  # N8
            assert self.repeated is not None
            key = key_agrees(row, self.sought.key, self.sought.by, self.log)
            return both(matches(row, self.repeated, self.log), key, equal(row.channel, self.here or ""))
        durable = [c.name for c in self.log.records.channels if c.durable and c.name in self.policy.channels]
        key = key_agrees(row, self.sought.key, self.sought.by, self.log)
        parts = [negated(matches(row, self.sought.act, self.log)), key, equal(row.channel, *durable)]
        if self.template == "end":
            parts.append(
                negated(equal(row.activity, *self.log.records.case_end))
                if self.log.records.case_end
                else True
            )
        elif self.repeated is not None:
            again = equal(row.activity, *self.repeated.activities)
            elsewhere = negated(equal(row.channel, self.here or ""))
            twin = both(again, elsewhere)  # perhaps the activation's second record, and perhaps not
            parts.append(True if twin is False else None)
        return both(*parts)

    def definite(self, span: Span) -> list[Event]:
        """The definite other events in an interval, in order (G3)."""
        return in_order([row for row in self.sought.case if self.is_other(row) and span.holds(at_of(row))])

    def last(self, span: Span) -> Event | None:
        """The definite one with the greatest end-of-grain, then the smallest event_id (N3)."""
        rows = self.definite(span)
        return min(rows, key=last_first, default=None)

    def between(self, lower: At, upper: At) -> bool:
        """Whether any, definite or unknown, may lie in the closed interval."""
        span = Span(lower, True, upper, True)
        return any(both(self.is_other(row), span.holds(at_of(row))) is not False for row in self.sought.case)


def last_first(row: Event) -> tuple[timedelta, str]:
    at = at_of(row)
    assert at is not None
    return datetime.max - end_of_grain(at), row.event_id


def first_row(log: Log, case: Sequence[Event], rel: Collection[str]) -> At | None:
    """The instant of the case's first row, where it is known to be the first (N4)."""
    rows = in_order(case)
    first = at_of(rows[0])
    assert first is not None
    opening = in_order([row for row in case if row.activity in log.records.case_start])
    opened = at_of(opening[0]) if opening else None
    by_act = opened is not None and end_of_grain(opened) == end_of_grain(first)
    by_coverage = all(log.coverage[c] and first.utc > log.coverage[c][0][0] for c in rel)
    return first if by_act or by_coverage else None


def beside(
    log: Log,
    norm: Norm,
    policy: EvidencePolicy,
    constraint: Constraint,
    window: Duration | None,
    opening: Opening,
    exceptions: EvidencePolicy,
) -> Finding:
    """One instance of a neighbour template (N2 to N7); other events and exceptions keep the whole policy
    (P2)."""
    template, case, by = constraint.template, opening.case, norm.correlation(constraint)
    key, row, activation = key_of(opening.row, by, log), opening.row, opening.t0
    assert activation is not None
    own = [opening.row] if opening.row else []
    if constraint.after is not None:
        episode = Span(activation, True, plus(activation, window, log) if window else None, True)
        ids = {r.event_id for r in own}
        found = second_activation(
            Sought(constraint.after.act, case, key, by, log, ids), constraint.after.channel, episode
        )
        if isinstance(found, Finding):
            return found
        row, activation, own = found, at_of(found) or activation, [*own, found]
    sought = Sought(norm.target(constraint), case, key, by, log, {r.event_id for r in own})
    rel = log.recorders(sought.act, policy.channels)
    repeated, here = (
        (None, None) if constraint.after is None else (constraint.after.act, constraint.after.channel)
    )
    if constraint.after is None and opening.opener is not None:
        repeated, here = opening.opener.act, opening.opener.channel
    others = Others(log, exceptions, sought, template, row, repeated if template in BESIDE else None, here)
    span, bounding = bounded(log, others, constraint, opening, activation, window, rel)
    over = template in LOOK_BACK or log.over(span)
    sight = look(log, policy, sought, span)
    seen = nearest(sight, template, activation)
    proof = proven(sight, 1)
    waiting = Finding("pending", "open" if constraint.positive else "unseen", named(seen), span.upper)
    early = excused(log, exceptions, constraint, opening, key, by, span.upper, seen, span.upper, activation)
    if early is not None and early.verdict == "excused":  # X2
        waiting = early
    if template == "init" and span.lower is None:
        return Finding("indeterminate", "unknown_key" if key is None else "uncovered", named(seen))
    if template == "end" and not over:
        return waiting
    if proof is not None:
        last = min((r for rows in sight.definite.values() for r in rows), key=last_first)
        if template in LOOK_BACK or template == "end":
            first_side, last_side = at_of(last), span.upper if template == "end" else activation
        else:
            first_side, last_side = span.lower if template == "init" else activation, at_of(proof)
        assert first_side is not None
        assert last_side is not None
        if others.between(first_side, last_side):
            return Finding("indeterminate", "unknown_order", named(seen), span.upper)
        if not constraint.positive:  # N7
            instant = moment(constraint, span, activation, own, proof)
            pardon = excused(
                log, exceptions, constraint, opening, key, by, instant, seen, span.upper, activation
            )
            return pardon or Finding("violated", "seen_forbidden", named(seen), span.upper, None, instant)
        tie = (
            template in ("chain_response", "alternate_response") and compare(sight.at(proof), activation) == 0
        )
        return Finding("satisfied", "tie" if tie else "proven", named(seen), span.upper)
    if not over:
        return waiting
    if not refuted(sight, 1):
        return Finding("indeterminate", unknown(sight, 1), named(seen), span.upper)
    if not constraint.positive:
        return Finding("satisfied", "refuted", named(seen), span.upper)
    instant = activation if template in LOOK_BACK else span.upper
    assert instant is not None
    pardon = excused(log, exceptions, constraint, opening, key, by, instant, seen, span.upper, activation)
    if pardon is not None:
        return pardon
    instead = [bounding] if bounding else []
    reason: Reason = "not_preceded" if template in LOOK_BACK else "absent"
    return Finding("violated", reason, named([*seen, *instead]), span.upper, None, instant)


def bounded(
    log: Log,
    others: Others,
    constraint: Constraint,
    opening: Opening,
    activation: At,
    window: Duration | None,
    rel: Collection[str],
) -> tuple[Span, Event | None]:
    """The interval of a neighbour template, and the other event that bounds it, if one does (N2 to N5)."""
    template, case, tie = constraint.template, opening.case, tie_at_activation(constraint)
    if template == "init":
        start = first_row(log, case, rel)
        if start is None:
            return Span(None, True, None, True), None
        following = next(iter(others.definite(Span(start, True, None, True))), None)
        return Span(start, True, at_of(following) if following else None, True), following
    if template in BESIDE and template not in LOOK_BACK:
        end = plus(activation, constraint.deadline, log) if constraint.deadline else None
        if end is None:
            end = interval_end(log, case, opening.t0 or activation, activation, window)
        following = next(iter(others.definite(Span(activation, False, None, True))), None)
        at = at_of(following) if following else None
        if at is not None and (end is None or compare(at, end) < 0):
            return Span(activation, tie, at, True), following
        return Span(activation, tie, end, True), None
    if template in LOOK_BACK:
        lower = (
            minus(activation, constraint.deadline, log)
            if constraint.deadline
            else case_start(log, case, rel, activation)
        )
        preceding = others.last(Span(None, True, activation, False))
        at = at_of(preceding) if preceding else None
        if at is not None and (lower is None or compare(at, lower) > 0):
            return Span(at, True, activation, None), preceding
        return Span(lower, True, activation, None), None
    closure = interval_end(log, case, activation, activation, None)
    preceding = others.last(Span(None, True, closure, False)) if closure else None
    at = at_of(preceding) if preceding else None
    if at is not None and compare(at, activation) > 0:
        return Span(at, True, closure, True), preceding
    return Span(activation, True, closure, True), None


# ---- mutual templates (P1, P2)

HALVES = {
    "coexistence": ("responded_existence", "responded_existence"),
    "succession": ("response", "precedence"),
    "alternate_succession": ("alternate_response", "alternate_precedence"),
    "not_succession": ("not_response", "not_precedence"),
    "chain_succession": ("chain_response", "chain_precedence"),
    "not_chain_succession": ("not_chain_response", "not_chain_precedence"),
}
"""What a mutual template asks at the trigger's rows, and what at the target's."""


def second_half(
    structure: Structure, log: Log, constraint: Constraint, first: Collection[str]
) -> Iterator[tuple[Opening, Finding]]:
    """The instances that the target's rows open, and what becomes of them; ``first`` are the rows that open
    the first half."""
    norm, trigger = structure.norm, structure.trigger
    assert trigger.act is not None
    assert trigger.channel is not None
    _, template = HALVES[constraint.template]
    wanted = constraint.model_copy(
        update={"template": template, "target": trigger.act, "correlate": norm.correlation(constraint)}
    )
    (channel,) = log.recorders(constraint.target, structure.evidence.channels)
    reversed_rule = structure.model_copy(
        update={"scope": structure.scope.model_copy(update={"roles": (), "locations": (), "objects": ()})}
        | {"trigger": Trigger(act=norm.target(constraint), channel=channel, window=trigger.window)}
    )
    anyone = norm.model_copy(
        update={"bearer": "trigger", "constraints": (wanted,)}
    )  # the trigger's act is nobody's office
    for opening in openings(reversed_rule, log):
        if opening.instance not in first:
            here = EvidencePolicy(channels=(trigger.channel,))
            yield opening, judge(log, anyone, here, wanted, trigger.window, opening, structure.evidence)


# ---- the two selections


def judged(structure: Structure, log: Log) -> Iterator[tuple[Opening, int, Finding]]:
    if structure.norm.force == "may":  # line 12, V8
        return
    opened = list(openings(structure, log))
    for index, constraint in enumerate(structure.norm.constraints):
        first = constraint.model_copy(
            update={"template": HALVES.get(constraint.template, (constraint.template,))[0]}
        )
        for opening in opened:
            yield (
                opening,
                index,
                judge(log, structure.norm, structure.evidence, first, structure.trigger.window, opening),
            )
        if constraint.template in MUTUAL:
            for opening, finding in second_half(structure, log, constraint, {o.instance for o in opened}):
                yield opening._replace(of_target=True), index, finding


def shown(opening: Opening, instance: str, index: int, finding: Finding) -> InstanceVerdict:
    due = Due(local(finding.due), finding.due.offset, finding.due.grain) if finding.due else None  # I5
    verdict, reason, witnesses = finding[:3]
    half = opening.of_target
    return InstanceVerdict(
        opening.case_id, instance, index, verdict, reason, witnesses, opening.bearer, due, finding.slack, half
    )


Row = tuple[int, InstanceVerdict]
"""A verdict with the number of the reading that gives it."""


def evaluate(
    structure: Structure,
    records: RecordLayer,
    events: Sequence[Event],
    written: datetime | None = None,
    aside: Sequence[Event] = (),
) -> list[InstanceVerdict]:
    """A verdict for every instance × constraint, sorted by (case_id, instance, constraint); ``aside`` are rows
    set aside, with an empty case where it is not known."""
    rows = [
        (number, shown(opening, opening.instance, index, finding))
        for number, log in readings(records, events, written, aside)
        for opening, index, finding in judged(structure, log)
    ]
    return settled(rows, records, events, everywhere=False)


def evaluate_procedure(
    structure: Structure,
    records: RecordLayer,
    events: Sequence[Event],
    norm_verdicts: Sequence[InstanceVerdict],
    written: datetime | None = None,
    aside: Sequence[Event] = (),
) -> list[InstanceVerdict]:
    """Verdicts on the recorded steps after each violation (line 23); the activation is an instant, so no row
    is its own target."""
    violated = {v[:3] for v in norm_verdicts if v.verdict == "violated"}
    rows = []
    for reading, log in readings(records, events, written, aside):
        for opening, index, finding in judged(structure, log):
            if (opening.case_id, opening.instance, index) not in violated or finding.instant is None:
                continue
            for number, step in enumerate(structure.procedure.steps):
                able = log.recorders(Act(activity=step.activity)) if step.activity else []
                if not able or step.activity is None:
                    continue
                duty = Constraint(
                    template="response",
                    target=Act(activity=step.activity),
                    correlate="same_case",
                    deadline=structure.procedure.response_time,
                )
                norm = Norm(bearer=Office(role=step.role), constraints=(duty,))
                policy = EvidencePolicy(channels=tuple(able), operator="any")
                violation = opening._replace(row=None, t0=finding.instant, bearer=step.role, of_target=False)
                done = judge(log, norm, policy, duty, None, violation)
                rows.append((reading, shown(violation, f"{opening.instance}#{index}", number, done)))
    return settled(rows, records, events, everywhere=True)


# ---- local times that come twice (G8)

MOST_TWICE = 4


def later(records: RecordLayer, row: Event) -> Event | None:
    """The row as it stands an hour on, where its local time comes again and its offset is the first's."""
    if records.zone is None or row.timestamp is None or row.grain == "day":
        return None
    zone, shows = ZoneInfo(records.zone), row.timestamp + timedelta(minutes=row.offset or 0)
    first, again = (shows.replace(tzinfo=zone, fold=fold).utcoffset() for fold in (0, 1))
    assert first is not None
    assert again is not None
    if again >= first or first != timedelta(minutes=row.offset or 0):
        return None
    minutes = round((first - again) / timedelta(minutes=1))
    return row._replace(timestamp=row.timestamp + (first - again), offset=(row.offset or 0) - minutes)


def doubtful(records: RecordLayer, events: Sequence[Event]) -> dict[str, list[str]]:
    """Per case the rows that may stand at either of two instants."""
    found: dict[str, list[str]] = {}
    for row in events:
        if later(records, row) is not None:
            found.setdefault(row.case_id, []).append(row.event_id)
    return {case: sorted(rows) for case, rows in found.items()}


def readings(
    records: RecordLayer,
    events: Sequence[Event],
    written: datetime | None = None,
    aside: Sequence[Event] = (),
) -> Iterator[tuple[int, Log]]:
    """The log in each reading of its cases, all of them as written in the first; of a case that has fewer
    readings later logs hold nothing."""
    as_written = Log(records, events, written, aside)
    yield 0, as_written
    doubt = {case: rows for case, rows in doubtful(records, events).items() if len(rows) <= MOST_TWICE}
    for number in range(1, 2 ** max(map(len, doubt.values()), default=0)):
        rows = []
        for row in events:
            mine = doubt.get(row.case_id, [])
            if number < 2 ** len(mine):
                on = row.event_id in mine and number >> mine.index(row.event_id) & 1
                rows.append((later(records, row) or row) if on else row)
        here = [row for row in aside if not row.case_id or number < 2 ** len(doubt.get(row.case_id, []))]
        log = Log(records, rows, aside=here)
        log.end, log.coverage, log.common_grain = as_written.end, as_written.coverage, as_written.common_grain  # type: ignore[method-assign]
        yield number, log


def settled(
    rows: Sequence[Row], records: RecordLayer, events: Sequence[Event], *, everywhere: bool
) -> list[InstanceVerdict]:
    """What every reading of a case says, as the first tells it; the rest is undecided. ``everywhere`` leaves out
    what only some readings have."""
    doubt = doubtful(records, events)
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault((*row[1][:3], row[1].of_target), []).append(row)
    verdicts = []
    for (case, *_), each in found.items():
        first, many = min(each)[1], len(doubt.get(case, ()))
        whole = len(each) == (2**many if many <= MOST_TWICE else 1)
        if whole and many <= MOST_TWICE and len({v.verdict for _, v in each}) == 1:
            verdicts.append(first)
        elif whole or not everywhere:
            told = first._replace(verdict="indeterminate", reason="twice", witnesses=(), due=None)
            verdicts.append(told._replace(slack_seconds=None))
    return sorted(verdicts, key=lambda v: v[:3])
