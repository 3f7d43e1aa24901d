"""What two rules of a charter are worth to one another, term by term (docs/charters.md).

Every term is a number in [0, 1] of two rules, 1 where they go together best, and reads one part of each rule:
rules with the same part share it, so a table over two pools is a small table over their distinct parts. The
weights are set by hand: no charter with a known right answer is there to fit them on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnrs_ppl.context.time import Duration
from gnrs_ppl.models.statements import says
from gnrs_ppl.reading.types import Reading
from gnrs_ppl.rule.types import Structure


class Term(NamedTuple):
    """One cross-rule term.

    Attributes
    ----------
    name : str
    weight : float
        In units of s_search, of which a rule has at most 1.
    shared_out : bool
        Whether the weight is that of a rule with all others together (their mean) or of each pair.
    part : callable
        What the term reads of a rule.
    value : callable
        Its value for the parts of two rules.
    """

    name: str
    weight: float
    shared_out: bool
    part: Callable[[Member], Hashable]
    value: Callable[[Any, Any], float]

    def of(self, first: Member, second: Member) -> float:
        """Its value for two rules."""
        return self.value(self.part(first), self.part(second))

    def worth(self, rules: int) -> float:
        """What one pair's value is multiplied by in a charter of so many rules."""
        return self.weight * (2 / (rules - 1) if self.shared_out else 1.0)

    def table(self, first: Sequence[Member], second: Sequence[Member]) -> NDArray[np.float64]:
        """Its value for each rule of one pool with each of another."""
        rows, row_of = _numbered([self.part(member) for member in first])
        columns, column_of = _numbered([self.part(member) for member in second])
        values = np.array([[self.value(row, column) for column in columns] for row in rows])
        return values[np.ix_(row_of, column_of)]


class Member(NamedTuple):
    """A rule as the terms see it.

    Attributes
    ----------
    structure : Structure
    own : frozenset of int
        The statements it is there for, by their numbers in the charter.
    said : frozenset of int
        The statements of the whole charter that it says.
    """

    structure: Structure
    own: frozenset[int]
    said: frozenset[int]


def member(structure: Structure, own: frozenset[int], statements: Sequence[Reading]) -> Member:
    """A rule with the statements it says."""
    said = (i for i, reading in enumerate(statements) if says(structure.trigger, structure.norm, reading))
    return Member(structure, own, frozenset(said))


def _numbered(parts: Sequence[Hashable]) -> tuple[list[Hashable], NDArray[np.int64]]:
    numbers: dict[Hashable, int] = {}
    where = np.array([numbers.setdefault(part, len(numbers)) for part in parts], np.int64)
    return list(numbers), where


def _coverage_part(member: Member) -> Hashable:
    return member.own, member.said


Covered = tuple[frozenset[int], frozenset[int]]


def coverage(first: Covered, second: Covered) -> float:
    """Of the statements that two rules are there for, the share that exactly one of them says.

    Why: what two rules say, two offices check and two appeals follow; what none says, the charter lost.
    """
    (own, said), (other_own, other_said) = first, second
    asked = own | other_own
    return len((said ^ other_said) & asked) / len(asked) if asked else 1.0


class Spoken(NamedTuple):
    """How a rule writes its acts, where its trigger is recorded, and its deadlines."""

    acts: frozenset[tuple[str, str]]
    opener: tuple[tuple[str, ...], str | None]
    durations: frozenset[Duration]


def _spoken(member: Member) -> Hashable:
    trigger, norm = member.structure.trigger, member.structure.norm
    acts = [
        act
        for act in (trigger.act, *(a for c in norm.constraints for a in (c.target, c.unless)))
        if act is not None
    ]
    patterns = frozenset(
        (pattern.activity, pattern.model_dump_json()) for act in acts for pattern in act.patterns
    )
    stated = (trigger.window, *(c.deadline for c in norm.constraints))
    return Spoken(
        patterns,
        (trigger.act.activities if trigger.act else (), trigger.channel),
        frozenset(duration for duration in stated if duration is not None),
    )


def vocabulary(first: Spoken, second: Spoken) -> float:
    """The mean of what applies of three: the share of their common activities that both write alike, whether
    an opening that both share is read in the same log, and the share of their deadlines that both state.

    Why: a reader who meets "within three days" and "within 72 hours", or a payment in two logs, looks for a
    difference that nobody meant.
    """
    shares = []
    if common := {name for name, _ in first.acts} & {name for name, _ in second.acts}:
        one, other = (
            {name: {p for n, p in rule.acts if n == name} for name in common} for rule in (first, second)
        )
        shares.append(sum(one[name] == other[name] for name in common) / len(common))
    if set(first.opener[0]) & set(second.opener[0]):
        shares.append(float(first.opener[1] == second.opener[1]))
    if first.durations and second.durations:
        shares.append(_dice(first.durations, second.durations))
    return sum(shares) / len(shares) if shares else 1.0


def _burdened(member: Member) -> Hashable:
    rule = member.structure
    logs = {("log", name) for name in rule.evidence.channels}
    logs |= {("log", rule.trigger.channel)} if rule.trigger.channel else set()
    return frozenset(logs | {("office", step.role) for step in rule.procedure.steps})


def burden(first: frozenset[Any], second: frozenset[Any]) -> float:
    """The share of logs and reviewing offices of two rules that both use (2 |A ∩ B| / (|A| + |B|)).

    Why: each further log has to be kept and each further office has to be staffed.
    """
    return _dice(first, second)


def _dice(first: frozenset[Any], second: frozenset[Any]) -> float:
    return 2 * len(first & second) / (len(first) + len(second))


TERMS = (
    Term("coverage", 0.2, False, _coverage_part, coverage),
    Term("shared vocabulary", 0.05, True, _spoken, vocabulary),
    Term("burden", 0.05, True, _burdened, burden),
)
"""The terms that two rules show by themselves."""
REDUNDANCY = 0.2
"""What a pair loses of which one rule implies the other."""
