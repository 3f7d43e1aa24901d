"""Every short case that two rules may tell apart: what is done by whom, in which order, and on which side of
each deadline.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import combinations, product
from typing import NamedTuple

from gnrs_ppl.charter.reach import SEARCHED
from gnrs_ppl.charter.words import Words
from gnrs_ppl.context.log import EventLog, attribute_column, open_connection, with_attributes
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import COLUMNS
from gnrs_ppl.rulebook.imagined import EVERYTHING, START, Happening, Trace

MOST_WORDS = 300_000
"""Sequences of deeds that are gone through at most, wanted or not."""


class Case(NamedTuple):
    """A case: deeds by their numbers, who did each, and when; by its number, what is recorded of the case."""

    deeds: tuple[int, ...]
    people: tuple[int, ...]
    times: tuple[datetime, ...]
    of_case: int = 0

    @property
    def done(self) -> list[tuple[int, int, datetime]]:
        """Each deed, who did it, and when."""
        return list(zip(self.deeds, self.people, self.times, strict=True))

    @property
    def ties(self) -> int:
        """How many deeds are recorded at the instant of the one before."""
        return len(self.times) - len(set(self.times))


def trace(words: Words, case: Case) -> Trace:
    """The rows of a case."""
    return tuple(
        Happening(
            deed.activity,
            channel,
            at,
            words.vocabulary.people[who],
            deed.role,
            deed.object,
            deed.location,
            deed.cells + words.of_case[case.of_case],
        )
        for deed, who, at in ((words.deeds[number], who, at) for number, who, at in case.done)
        for channel in deed.channels
        for _ in range(deed.times)
    )


def log_of(words: Words, cases: Sequence[Case]) -> EventLog:
    """One log of them, each named by its number, and of a case in which everything is done."""
    attributes = words.imagined.records.attributes
    connection = open_connection(attributes)
    flat = [
        (case, f"{case}#{place}.{row}.{copy}", number, row, who, at)
        for case, one in enumerate(cases)
        for place, (number, who, at) in enumerate(one.done)
        for row in range(len(words.deeds[number].channels))
        for copy in range(words.deeds[number].times)
    ]
    held = [
        dict(words.deeds[number].cells + words.of_case[cases[case].of_case])
        for case, _, number, *_ in (flat if attributes else ())
    ]
    cells = {attribute_column(i): [cell.get(a.name) for cell in held] for i, a in enumerate(attributes)}
    columns = (
        "event AS event_id, c::VARCHAR AS case_id, activity, "
        'date_trunc(grain, instant) - to_minutes($offset) AS "timestamp", $offset AS "offset", grain, '
        '$people[w + 1] AS resource, role, "object", "location", channel, NULL AS "value"'
    )
    records = [
        (i, row, deed, channel)
        for i, deed in enumerate(words.deeds)
        for row, channel in enumerate(deed.channels)
    ]
    connection.execute(
        f"""INSERT INTO events
           WITH told AS (SELECT unnest($case::INTEGER[]) AS c, unnest($event::VARCHAR[]) AS event,
                                unnest($deed::INTEGER[]) AS d, unnest($row::INTEGER[]) AS r,
                                unnest($who::INTEGER[]) AS w, unnest($instant::TIMESTAMP[]) AS instant
                                {"".join(f", unnest(${name}::VARCHAR[]) AS {name}" for name in cells)}),
                deeds AS (SELECT unnest($number::INTEGER[]) AS d, unnest($place::INTEGER[]) AS r,
                                 unnest($activity::VARCHAR[]) AS activity,
                                 unnest($channel::VARCHAR[]) AS channel,
                                 unnest($grain::VARCHAR[]) AS grain,
                                 unnest($role::VARCHAR[]) AS role, unnest($object::VARCHAR[]) AS "object",
                                 unnest($location::VARCHAR[]) AS "location")
           SELECT {with_attributes(columns, attributes)} FROM told JOIN deeds USING (d, r)""",
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
            "grain": [words.imagined.grain(channel) for *_, channel in records],
            **{
                f: [getattr(d, f) for _, _, d, _ in records]
                for f in ("activity", "role", "object", "location")
            },
            "people": list(words.vocabulary.people),
            "offset": words.imagined.records.offset or 0,
            **cells,
        },
    )
    everything = tuple(
        Happening(
            kind.activity,
            kind.channel,
            START,
            who,
            kind.role,
            kind.object,
            kind.location,
            kind.cells + words.of_case[0],
        )
        for kind in words.vocabulary.kinds
        for who in words.vocabulary.people
    )
    rows = [(*row[: len(COLUMNS)], *row.attributes) for row in words.imagined.rows(EVERYTHING, everything)]
    names = [f'"{name}"' for name in (*COLUMNS, *cells)]
    connection.executemany(
        f"INSERT INTO events SELECT {with_attributes(', '.join(names[: len(COLUMNS)]), attributes)} "
        f"FROM (VALUES ({', '.join('?' * len(names))})) AS r({', '.join(names)})",
        rows,
    )
    return EventLog.sealed(connection, "", words.imagined.records)


def cases(
    words: Words, events: int, wanted: Sequence[Callable[[frozenset[int]], bool]], most: int
) -> list[Case] | None:
    """Every case of exactly so many deeds that are wanted for something, the plainest first; None where
    they would be more than ``most``.

    Of deeds at one instant every set is taken once. Of instants that lie in the same order, at the same
    places together, and on the same side of each deadline that counts between two of them, one is taken.
    """
    if len(words.deeds) ** events > MOST_WORDS:
        return None
    regions = Regions(words)
    found: list[Case] = []
    for deeds in product(range(len(words.deeds)), repeat=events):
        if not any(one(frozenset(deeds)) for one in wanted):
            continue
        persons = list(_persons(words, deeds))
        for times in regions.of(deeds):
            if all(times[i] != times[i - 1] or deeds[i] >= deeds[i - 1] for i in range(1, events)):
                found += [
                    Case(deeds, people, times, recorded)
                    for people in persons
                    for recorded in range(len(words.of_case))
                ]
        if len(found) > most:
            return None
    return plainest_first(found)


def _persons(words: Words, deeds: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Who may have done each; the first of whom it matters is the first person."""
    matters = [place for place, deed in enumerate(deeds) if deed in words.personal]
    for others in product(range(len(words.vocabulary.people)), repeat=max(0, len(matters) - 1)):
        persons = dict(zip(matters[1:], others, strict=True))
        yield tuple(persons.get(place, 0) for place in range(len(deeds)))


def some_cases(words: Words, wanted: Sequence[Sequence[frozenset[int]]], most: int) -> list[Case]:
    """Some cases where there are too many: of each deed that is wanted one kind or none, and now and then
    another deed.
    """
    rng, regions = random.Random(0), Regions(words)
    found: dict[Case, None] = {}
    for _ in range(most):
        chosen = [rng.choice(sorted(some)) for some in rng.choice(wanted) if some and rng.random() < 0.9]
        chosen += [rng.randrange(len(words.deeds))] * (rng.random() < 0.2)
        rng.shuffle(chosen)
        if chosen:
            deeds = tuple(chosen)
            persons = list(_persons(words, deeds))
            people = rng.choice(persons) if rng.random() < 0.3 else persons[0]
            recorded = rng.randrange(len(words.of_case)) if len(words.of_case) > 1 else 0
            found[Case(deeds, people, regions.drawn(deeds, rng), recorded)] = None
    return plainest_first(list(found))


def plainest_first(found: list[Case]) -> list[Case]:
    """Those of few events first, then those without ties, of one person, in a short time."""
    return sorted(
        found,
        key=lambda case: (len(case.deeds), case.ties, len(set(case.people)), case.times[-1] - case.times[0]),
    )


Path = tuple[int, ...]
"""Which of the instants that may begin a case, or come next in it, each of its instants is."""


class Regions:
    """Instants of cases: one sequence of each order and side of deadlines."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.starts = self._starts()
        self.known: dict[tuple[tuple[Duration, ...], ...], list[tuple[datetime, ...]]] = {}

    def of(self, deeds: tuple[int, ...]) -> list[tuple[datetime, ...]]:
        """Of a case of some deeds in this order."""
        between = self._between(deeds)
        related = tuple(between.values())
        if related not in self.known:
            chosen: dict[tuple[int, ...], tuple[datetime, ...]] = {}
            for number, start in enumerate(self.starts):
                for times in self._further((start,), len(deeds), between):
                    chosen.setdefault((number, *self._sides(times, between)), times)
            self.known[related] = list(chosen.values())
        return self.known[related]

    def path(self, case: Case) -> Path:
        """The instants of a case by their places, which pairs that are alike share."""
        between = self._between(case.deeds)
        return self.starts.index(case.times[0]), *(
            self._next(case.times[:place], len(case.deeds), between).index(case.times[place])
            for place in range(1, len(case.deeds))
        )

    def along(self, deeds: tuple[int, ...], path: Path) -> tuple[datetime, ...]:
        """The instants of a case of some deeds by their places."""
        between = self._between(deeds)
        times: tuple[datetime, ...] = (self.starts[path[0]],)
        for place in path[1:]:
            times += (self._next(times, len(deeds), between)[place],)
        return times

    def _between(self, deeds: tuple[int, ...]) -> dict[tuple[int, int], tuple[Duration, ...]]:
        pairs = combinations(range(len(deeds)), 2)
        return {(i, j): self.words.between[deeds[i], deeds[j], i == 0] for i, j in pairs}

    def drawn(self, deeds: tuple[int, ...], rng: random.Random) -> tuple[datetime, ...]:
        """Some instants of a case of some deeds in this order."""
        between = self._between(deeds)
        times: tuple[datetime, ...] = (rng.choice(self.starts),)
        while len(times) < len(deeds):
            times += (rng.choice(self._next(times, len(deeds), between)),)
        return times

    def _further(
        self, so_far: tuple[datetime, ...], events: int, between: dict[tuple[int, int], tuple[Duration, ...]]
    ) -> Iterator[tuple[datetime, ...]]:
        if len(so_far) == events:
            yield so_far
            return
        for at in self._next(so_far, events, between):
            yield from self._further((*so_far, at), events, between)

    def _next(
        self, so_far: tuple[datetime, ...], events: int, between: dict[tuple[int, int], tuple[Duration, ...]]
    ) -> list[datetime]:
        """When the next event may be: at once, a moment later, at a deadline, a moment beyond it, or where a
        later event lies just beyond one deadline and within another that starts here.
        """
        place, reach = len(so_far), self.words.reach
        bases = {so_far[-1]}
        for i, before in enumerate(so_far):
            bases |= {reach.after(before, d) for d in between[i, place]}
            for later in range(place + 1, events):
                bases |= {
                    before + (reach.after(before, far) - reach.after(before, near))
                    for far in between[i, later]
                    for near in between[place, later]
                }
        return sorted({at for base in bases for at in (base, base + reach.moment) if at >= so_far[-1]})

    def _sides(
        self, times: tuple[datetime, ...], between: dict[tuple[int, int], tuple[Duration, ...]]
    ) -> Iterator[int]:
        reach = self.words.reach
        for (i, j), durations in between.items():
            yield times[i] == times[j]
            for duration in durations:
                yield times[j] <= reach.after(times[i], duration)
                yield reach.before(times[j], duration) <= times[i]

    def _starts(self) -> list[datetime]:
        """Days on which cases begin: one, and where a calendar says how long a duration is, others.

        Of any two durations of which now one and now the other is longer, there is a start for each.
        """
        durations, found = self.words.vocabulary.durations, [START]
        days = [START + timedelta(days=d) for d in range(SEARCHED.days)]
        for one, other in combinations(durations, 2):
            if any(d.months or d.working for d in (one, other)):
                known = {self._order(one, other, day) for day in found}
                for day in days:
                    if (order := self._order(one, other, day)) not in known:
                        known.add(order)
                        found.append(day)
        return found

    def _order(self, one: Duration, other: Duration, day: datetime) -> int:
        first, second = self.words.reach.after(day, one), self.words.reach.after(day, other)
        return (first > second) - (first < second)
