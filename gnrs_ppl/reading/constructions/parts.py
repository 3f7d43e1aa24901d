"""What constructions are made of: acts found in some words, main clauses, readings in the making."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gnrs_ppl.reading.clauses import Clause
from gnrs_ppl.reading.constructions.binding import Bound
from gnrs_ppl.reading.quantities import Count
from gnrs_ppl.reading.types import ActRead, Named, Reading, Span, Timed
from gnrs_ppl.reading.vocabulary import Match
from gnrs_ppl.rule.types import Template


class Found(NamedTuple):
    """An act some tokens say, the tokens, the rivals they may say as well, and the acts "or" puts beside
    it.
    """

    act: ActRead
    positions: tuple[int, ...]
    rivals: tuple[ActRead, ...] = ()
    choices: tuple[ActRead, ...] = ()
    exact: bool = False

    @property
    def ways(self) -> list[tuple[float, ActRead]]:
        """What the tokens may say, with shares that fall steeply with the score."""
        acts = (self.act, *self.rivals)
        total = sum(a.score**8 for a in acts)
        return [(a.score**8 / total, a) for a in acts]


class Way(NamedTuple):
    """One reading in the making, with its weight."""

    weight: float
    reading: Reading


class Frame(NamedTuple):
    """A main clause, its words, those of everything around it, how it binds and whom."""

    clause: Clause
    text: str
    whole: str
    bound: Bound
    subject: tuple[Named, ...]


def reach(clause: Clause) -> tuple[int, int]:
    """Where the words of a clause are; a relative clause's stand in what opens it ("that has been cut")."""
    return (clause.opened, clause.start) if clause.kind == "who" else (clause.start, clause.end)


def distinct(left: Sequence[Match], right: Sequence[Match]) -> tuple[Match, Match] | None:
    """The best pair of different acts."""
    pairs = [(a.score + b.score, a, b) for a in left[:8] for b in right[:8] if a.name != b.name]
    return max(pairs, key=lambda p: p[0])[1:] if pairs else None


def spans_of(acts: Sequence[ActRead]) -> tuple[Span, ...]:
    """Everything the acts were read from."""
    named = [n.span for a in acts for n in (a.role, a.object, a.location) if n is not None]
    return tuple(dict.fromkeys((*(a.span for a in acts), *named)))


def time_and_people(time: Timed | None, subject: Sequence[Named]) -> tuple[Span, ...]:
    """The words a time and the roles were read from."""
    return (*((time.span,) if time else ()), *(n.span for n in subject))


def counted(count: Count, bound: Bound) -> tuple[Template, int, str]:
    """Template and number of a count that is told, and its words."""
    n, why = count.times, f"'{count.words}'"
    if count.limit == "most":
        return "absence", n + 1, why
    if count.limit == "least":
        return "existence", n + count.above, why
    return ("absence", n + 1, why) if bound.permitted else ("exactly", n, why)
