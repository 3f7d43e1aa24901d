"""Every short case that two rules may tell apart: what is done by whom, in which order, and on which side of
each deadline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import combinations, product
from typing import NamedTuple

from gnrs_ppl.context.log import EventLog, open_connection
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import COLUMNS
from gnrs_ppl.errors import InputError
from gnrs_ppl.rule.types import COUNTING, MUTUAL, Act, Structure, durations_of
from gnrs_ppl.rulebook.imagined import EVERYTHING, START, Happening, Imagined, Trace
from gnrs_ppl.rulebook.vocabulary import Kind, Vocabulary, vocabulary


class Deed(NamedTuple):
    """Something done, and the logs that record it."""

    activity: str
    channels: tuple[str, ...]
    role: str | None = None
    object: str | None = None
    location: str | None = None


class Case(NamedTuple):
    """A case: deeds by their numbers, who did each, and when."""

    deeds: tuple[int, ...]
    people: tuple[int, ...]
    times: tuple[datetime, ...]

    @property
    def ties(self) -> int:
        """How many deeds are recorded at the instant of the one before."""
        return len(self.times) - len(set(self.times))


@dataclass(frozen=True)
class Words:
    """What cases of some rules are made of.

    Attributes
    ----------
    structures : tuple of Structure
    imagined : Imagined
        Complete records.
    vocabulary : Vocabulary
        Kinds of rows, people and durations that make a difference to one of the rules.
    """

    structures: tuple[Structure, ...]
    imagined: Imagined
    vocabulary: Vocabulary

    @classmethod
    def of(cls, structures: Sequence[Structure], imagined: Imagined) -> Words:
        """What the rules look at."""
        for structure in structures:
            for duration in durations_of(structure):
                if duration.working:
                    raise InputError(
                        f"{duration} is working time, for which no cases are imagined",
                        "audit both rules on one log",
                    )
        unquiet = Imagined(imagined.records.model_copy(update={"quiet_after": None}))
        return cls(tuple(structures), imagined, vocabulary(structures, unquiet))

    @cached_property
    def deeds(self) -> tuple[Deed, ...]:
        """Each is recorded in every log that can record it; in each of them alone too, where the rules do
        not ask the same logs for it.
        """
        channels: dict[tuple[str | None, ...], list[str]] = {}
        for kind in self.vocabulary.kinds:
            channels.setdefault(_fields(kind), []).append(kind.channel)
        found: dict[Deed, None] = {}
        for (activity, *fields), logs in channels.items():
            apart = len(logs) > 1 and self._asked_apart(str(activity))
            for some in [tuple(logs), *((log,) for log in logs if apart)]:
                found[Deed(str(activity), some, *fields)] = None
        return tuple(found)

    def _asked_apart(self, activity: str) -> bool:
        asked = set()
        for structure in self.structures:
            policy = structure.evidence
            for constraint in structure.norm.constraints:
                for act in (constraint.target, constraint.unless):
                    if act is not None and activity in act.activities:
                        logs = frozenset(self.imagined.recorders(activity, policy.channels))
                        asked.add((logs, policy.needed(len(logs))))
                        if constraint.template in COUNTING and len(logs) > 1:
                            return True
                if constraint.after is not None and activity in constraint.after.act.activities:
                    asked.add((frozenset((constraint.after.channel,)), 1))
            opener = structure.trigger
            if opener.act is not None and opener.channel is not None and activity in opener.act.activities:
                asked.add((frozenset((opener.channel,)), 1))
        return len(asked) > 1

    def numbers(self, *acts: Act | None) -> frozenset[int]:
        """The deeds that have an activity of one of some acts."""
        names = {name for act in acts if act is not None for name in act.activities}
        return frozenset(i for i, deed in enumerate(self.deeds) if deed.activity in names)

    def openers(self, structure: Structure) -> frozenset[int]:
        """The deeds that may call a rule up; all where the start of a case does."""
        if structure.trigger.act is None:
            return frozenset(range(len(self.deeds)))
        mutual = (c.target for c in structure.norm.constraints if c.template in MUTUAL)
        return self.numbers(structure.trigger.act, *mutual)

    @cached_property
    def _related(self) -> list[tuple[frozenset[int] | None, frozenset[int], Duration]]:
        """Durations that count from some deeds (None: from the first of a case) to others, or back."""
        found = []
        for structure in self.structures:
            trigger = structure.trigger
            opened = self.numbers(trigger.act) if trigger.act else None
            for constraint in structure.norm.constraints:
                after = constraint.after.act if constraint.after else None
                sought = self.numbers(constraint.target, constraint.unless, after)
                if trigger.window is not None:
                    found.append((opened, sought, trigger.window))
                if constraint.deadline is not None:
                    found.append((self.numbers(after) if after else opened, sought, constraint.deadline))
                within = self.imagined.records.match_within
                if within is not None and structure.evidence.operator != "any":
                    found.append((sought, sought, within))
        return found

    def between(self, deeds: tuple[int, ...], i: int, j: int) -> tuple[Duration, ...]:
        """The durations for which it matters how far two deeds of a case lie apart."""
        one, other = deeds[i], deeds[j]
        found = dict.fromkeys(
            duration
            for opened, sought, duration in self._related
            if (other in sought and (i == 0 if opened is None else one in opened))
            or (one in sought and opened is not None and other in opened)
        )
        return tuple(found)

    def trace(self, case: Case) -> Trace:
        """The rows of a case."""
        return tuple(
            Happening(
                deed.activity, channel, at, self.vocabulary.people[who], deed.role, deed.object, deed.location
            )
            for deed, who, at in (
                (self.deeds[number], who, at) for number, who, at in zip(*case, strict=True)
            )
            for channel in deed.channels
        )

    def log(self, cases: Sequence[Case]) -> EventLog:
        """One log of them, each named by its number, and of a case in which everything is done."""
        connection = open_connection()
        flat = [
            (case, f"{case}#{place}.{row}", number, row, who, at)
            for case, one in enumerate(cases)
            for place, (number, who, at) in enumerate(zip(*one, strict=True))
            for row in range(len(self.deeds[number].channels))
        ]
        records = [
            (i, row, deed, channel)
            for i, deed in enumerate(self.deeds)
            for row, channel in enumerate(deed.channels)
        ]
        connection.execute(
            """INSERT INTO events
               WITH told AS (SELECT unnest($case::INTEGER[]) AS c, unnest($event::VARCHAR[]) AS event,
                                    unnest($deed::INTEGER[]) AS d, unnest($row::INTEGER[]) AS r,
                                    unnest($who::INTEGER[]) AS w, unnest($instant::TIMESTAMP[]) AS instant),
                    deeds AS (SELECT unnest($number::INTEGER[]) AS d, unnest($place::INTEGER[]) AS r,
                                     unnest($activity::VARCHAR[]) AS activity,
                                     unnest($channel::VARCHAR[]) AS channel,
                                     unnest($grain::VARCHAR[]) AS grain,
                                     unnest($role::VARCHAR[]) AS role, unnest($object::VARCHAR[]) AS "object",
                                     unnest($location::VARCHAR[]) AS "location")
               SELECT event, c::VARCHAR, activity, date_trunc(grain, instant) - to_minutes($offset), $offset,
                      grain, $people[w + 1], role, "object", "location", channel, NULL
               FROM told JOIN deeds USING (d, r)""",
            {
                **dict(
                    zip(
                        ("case", "event", "deed", "row", "who", "instant"),
                        map(list, zip(*flat, strict=True)),
                        strict=True,
                    )
                ),
                "number": [i for i, *_ in records],
                "place": [row for _, row, *_ in records],
                "channel": [channel for *_, channel in records],
                "grain": [self.imagined.grain(channel) for *_, channel in records],
                **{
                    f: [getattr(d, f) for _, _, d, _ in records]
                    for f in ("activity", "role", "object", "location")
                },
                "people": list(self.vocabulary.people),
                "offset": self.imagined.records.offset or 0,
            },
        )
        everything = tuple(
            Happening(kind.activity, kind.channel, START, who, kind.role, kind.object, kind.location)
            for kind in self.vocabulary.kinds
            for who in self.vocabulary.people
        )
        rows = [row[: len(COLUMNS)] for row in self.imagined.rows(EVERYTHING, everything)]
        connection.executemany(f"INSERT INTO events VALUES ({', '.join('?' * len(rows[0]))})", rows)
        return EventLog.sealed(connection, "", self.imagined.records)


def _fields(kind: Kind) -> tuple[str | None, ...]:
    return kind.activity, kind.role, kind.object, kind.location


def cases(
    words: Words, events: int, wanted: Sequence[Callable[[frozenset[int]], bool]], most: int
) -> list[Case] | None:
    """Every case of exactly so many deeds that are wanted for something, the plainest first; None where
    they would be more than ``most``.

    Of deeds at one instant every set is taken once. Of instants that lie in the same order, at the same
    places together, and on the same side of each deadline that counts between two of them, one is taken.
    """
    people = range(len(words.vocabulary.people))
    who = [p for p in product(people, repeat=events) if p[0] == 0]
    regions = Regions(words)
    found: list[Case] = []
    for deeds in product(range(len(words.deeds)), repeat=events):
        if not any(one(frozenset(deeds)) for one in wanted):
            continue
        for times in regions.of(deeds):
            if any(times[i] == times[i - 1] and deeds[i] < deeds[i - 1] for i in range(1, events)):
                continue
            found += [Case(deeds, persons, times) for persons in who]
        if len(found) > most:
            return None
    return sorted(found, key=lambda case: (case.ties, len(set(case.people)), case.times[-1] - case.times[0]))


Sides = tuple[int, ...]
"""Where a case begins, and the order and the sides of deadlines of its instants, one after the other."""


class Regions:
    """Instants of cases: one sequence of each order and side of deadlines."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.starts = starts(words.vocabulary.durations)
        self.known: dict[tuple[tuple[Duration, ...], ...], list[tuple[datetime, ...]]] = {}

    def of(self, deeds: tuple[int, ...]) -> list[tuple[datetime, ...]]:
        """Of a case of some deeds in this order."""
        pairs = list(combinations(range(len(deeds)), 2))
        related = tuple(self.words.between(deeds, i, j) for i, j in pairs)
        if related not in self.known:
            between = dict(zip(pairs, related, strict=True))
            chosen: dict[Sides, tuple[datetime, ...]] = {}
            for number, start in enumerate(self.starts):
                for times in self._further((start,), len(deeds), between):
                    chosen.setdefault((number, *_sides(times, between)), times)
            self.known[related] = list(chosen.values())
        return self.known[related]

    def like(self, deeds: tuple[int, ...], sides: Sides) -> tuple[datetime, ...]:
        """The instants that have these sides."""
        return next(times for times in self.of(deeds) if self.sides(deeds, times) == sides)

    def sides(self, deeds: tuple[int, ...], times: tuple[datetime, ...]) -> Sides:
        """Order and sides of deadlines, and where a case begins."""
        pairs = combinations(range(len(deeds)), 2)
        between = {(i, j): self.words.between(deeds, i, j) for i, j in pairs}
        return self.starts.index(times[0]), *_sides(times, between)

    def _further(
        self, so_far: tuple[datetime, ...], events: int, between: dict[tuple[int, int], tuple[Duration, ...]]
    ) -> Iterator[tuple[datetime, ...]]:
        if len(so_far) == events:
            yield so_far
            return
        place, moment = len(so_far), self.words.imagined.moment
        bases = {so_far[-1]}
        for i, before in enumerate(so_far):
            bases |= {d.after(before) for d in between[i, place]}
            # where a later deed lies just beyond one deadline and within another that starts here
            for later in range(place + 1, events):
                bases |= {
                    before + (far.after(before) - near.after(before))
                    for far in between[i, later]
                    for near in between[place, later]
                }
        for at in sorted({at for base in bases for at in (base, base + moment) if at >= so_far[-1]}):
            yield from self._further((*so_far, at), events, between)


def _sides(
    times: tuple[datetime, ...], between: dict[tuple[int, int], tuple[Duration, ...]]
) -> Iterator[int]:
    for (i, j), durations in between.items():
        yield times[i] == times[j]
        for duration in durations:
            yield times[j] <= duration.after(times[i])
            yield duration.before(times[j]) <= times[i]


def starts(durations: Sequence[Duration]) -> list[datetime]:
    """Days on which cases begin: one, and where a month is named, others on which it has another length.

    Of any two durations of which now one and now the other is longer, there is a start for each.
    """
    found = [START]
    days = [START + timedelta(days=d) for d in range(1461)]
    for one, other in combinations(durations, 2):
        if one.months or other.months:
            known = {_order(one, other, day) for day in found}
            for day in days:
                if (order := _order(one, other, day)) not in known:
                    known.add(order)
                    found.append(day)
    return found


def _order(one: Duration, other: Duration, day: datetime) -> int:
    first, second = one.after(day), other.after(day)
    return (first > second) - (first < second)
