"""Every trace up to some length over a vocabulary, at the instants where rules change their mind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product
from math import prod

from gnrs_ppl.context.log import EventLog, open_connection
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import COLUMNS
from gnrs_ppl.rulebook.imagined import EVERYTHING, START, Happening, Imagined, Trace
from gnrs_ppl.rulebook.vocabulary import FIELDS, Vocabulary

Ends = Callable[[Duration, datetime], datetime | None]
"""When a length of time ends that begins at a local time; None where no calendar can count it."""


def starts(durations: Sequence[Duration], ends: Ends) -> list[datetime]:
    """Days on which traces begin: one, and where a month or working time is named, others on which it has
    another length.

    Of any two durations that differ somewhere on the calendar there is a start on which they do; of working
    time in the year that begins with the first.
    """
    found = [START]
    for i, one in enumerate(durations):
        for other in durations[:i]:
            working = one.working or other.working
            if (one.months or other.months or working) and all(ends(one, s) == ends(other, s) for s in found):
                days = (START + timedelta(days=d) for d in range(366 if working else 1461))
                found += [day for day in days if ends(one, day) != ends(other, day)][:1]
    return found


def instants(
    start: datetime, events: int, durations: Sequence[Duration], moment: timedelta, ends: Ends
) -> Iterator[tuple[datetime, ...]]:
    """Every sequence of instants of some length.

    Each lies, after one that went before it, at no distance, a moment, a duration, or a moment more than it.
    """

    def further(so_far: tuple[datetime, ...]) -> Iterator[tuple[datetime, ...]]:
        if len(so_far) == events:
            yield so_far
            return
        reached = {
            at
            for before in so_far
            for base in (before, *filter(None, (ends(duration, before) for duration in durations)))
            for at in (base, base + moment)
            if at >= so_far[-1]
        }
        for at in sorted(reached):
            yield from further((*so_far, at))

    return further((start,))


@dataclass(frozen=True)
class Block:
    """The traces of one length whose rows tie at the same places: every sequence of instants with every row
    of kinds and every row of people.
    """

    times: tuple[tuple[datetime, ...], ...]
    kinds: tuple[tuple[int, ...], ...]
    people: tuple[tuple[str, ...], ...]

    @property
    def traces(self) -> int:
        """How many there are."""
        return len(self.times) * len(self.kinds) * len(self.people)


def blocks(words: Vocabulary, events: int, imagined: Imagined) -> list[Block]:
    """Every trace of exactly so many events in which a rule may be called up.

    The first to act is the first person; of rows at one instant every set is taken once.
    """
    people = tuple(p for p in product(words.people, repeat=events) if p[0] == words.people[0])
    places = range(len(words.kinds))
    opening = {i for i in places if words.kinds[i] in words.openers} if words.openers else set(places)
    chosen = [c for c in product(places, repeat=events) if opening & set(c)]
    by_ties: dict[tuple[int, ...], list[tuple[datetime, ...]]] = {}
    for start in starts(words.durations, imagined.ends):
        for times in instants(start, events, words.durations, imagined.moment, imagined.ends):
            by_ties.setdefault(tuple(i for i in range(1, events) if times[i] == times[i - 1]), []).append(
                times
            )
    return [
        Block(tuple(times), tuple(c for c in chosen if all(c[i] >= c[i - 1] for i in ties)), people)
        for ties, times in by_ties.items()
    ]


def at_most(words: Vocabulary, events: int) -> int:
    """A bound on the traces that :func:`blocks` gives, without making them."""
    times = prod(2 * place * (1 + len(words.durations)) for place in range(1, events))
    choices = len(words.kinds) * len(words.people)
    return times * prod([choices] * events)


FIELDS_OF_A_KIND = ("activity", "channel", *FIELDS)


@dataclass(frozen=True)
class Space:
    """Blocks of traces, each trace a case of one log."""

    words: Vocabulary
    blocks: tuple[Block, ...]

    @property
    def traces(self) -> int:
        """How many there are."""
        return sum(block.traces for block in self.blocks)

    def trace(self, case: str) -> Trace:
        """The trace of a case of :meth:`log`."""
        number, times, kinds, who = map(int, case.split("."))
        block = self.blocks[number]
        return tuple(
            self._happening(kind, at, person)
            for at, kind, person in zip(
                block.times[times], block.kinds[kinds], block.people[who], strict=True
            )
        )

    def everything(self) -> Trace:
        """Each kind of row once by each person."""
        kinds, people = range(len(self.words.kinds)), self.words.people
        return tuple(self._happening(kind, START, person) for kind in kinds for person in people)

    def _happening(self, kind: int, at: datetime, person: str) -> Happening:
        of = self.words.kinds[kind]
        return Happening(of.activity, of.channel, at, person, of.role, of.object, of.location)

    def log(self, imagined: Imagined) -> EventLog:
        """All of them, written by the database itself."""
        connection = open_connection()
        connection.execute(
            "CREATE TABLE kinds AS SELECT unnest(range($many)) AS kind, "
            "unnest($activity::VARCHAR[]) AS activity, unnest($channel::VARCHAR[]) AS channel, "
            'unnest($role::VARCHAR[]) AS role, unnest($object::VARCHAR[]) AS "object", '
            'unnest($location::VARCHAR[]) AS "location", '
            "unnest($grain::VARCHAR[]) AS grain",
            {
                "many": len(self.words.kinds),
                "grain": [imagined.grain(kind.channel) for kind in self.words.kinds],
                **{f: [getattr(k, f) for k in self.words.kinds] for f in FIELDS_OF_A_KIND},
            },
        )
        for number, block in enumerate(self.blocks):
            connection.execute(
                """INSERT INTO events
                   WITH t AS (SELECT unnest(range(len($times))) AS t, unnest($times::TIMESTAMP[][]) AS times),
                        k AS (SELECT unnest(range(len($kinds))) AS k,
                                     unnest($kinds::INTEGER[][]) AS kinds),
                        p AS (SELECT unnest(range(len($people))) AS p,
                                     unnest($people::VARCHAR[][]) AS people)
                   SELECT format('{}.{}.{}.{}#{}', $number, t, k, p, place),
                          format('{}.{}.{}.{}', $number, t, k, p), kinds.activity,
                          date_trunc(kinds.grain, times[place]) - to_minutes($offset), $offset, kinds.grain,
                          people[place], kinds.role, kinds."object", kinds."location", kinds.channel, NULL
                   FROM t CROSS JOIN k CROSS JOIN p
                        CROSS JOIN (SELECT unnest(range(1, $events + 1)) AS place) AS e
                   JOIN kinds ON kinds.kind = k.kinds[place]""",
                {
                    "times": [list(times) for times in block.times],
                    "kinds": [list(kinds) for kinds in block.kinds],
                    "people": [list(people) for people in block.people],
                    "number": number,
                    "offset": imagined.records.offset or 0,
                    "events": len(block.times[0]),
                },
            )
        connection.execute("DROP TABLE kinds")
        rows = [row[: len(COLUMNS)] for row in imagined.rows(EVERYTHING, self.everything())]
        connection.executemany(f"INSERT INTO events VALUES ({', '.join('?' * len(rows[0]))})", rows)
        return EventLog.sealed(connection, "", imagined.records)
