"""From logits to meanings with their probabilities: a product of choices, conditioned on what a language allows.

Every head is one choice of a small factor graph: what is stated of an act, how two acts are related, who must act.
Hard facts tie them (nothing is both asked and banned of everybody; a sentence that is refused states nothing; what is
said of nothing that is stated does not exist). The most probable joint choices are listed, those less probable than
``NEGLIGIBLE`` of the best left out, which bounds what is missing; equal meanings are added up and the sum is made one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from gnrs_ppl.reading.network import REFUSED, RELATIONS, SYMMETRIC, UNARY, Array, Logits

NEGLIGIBLE = 1e-3
"""Share of the best joint choice below which another is left out."""
BOTH = 0.3
"""Share of a meaning that reads two acts from the same words."""
MOST = 100
"""Joint choices that are kept at most while they are listed."""
BACKWARD = ("precedence", "chain_precedence", "alternate_precedence")
"""Relations whose first act is the one that is asked for."""
NEGATIVE = ("not_response", "not_chain", "not_together")


class Related(NamedTuple):
    """A duty between two acts: the one that opens it, those any of which it asks or bans."""

    relation: str
    opener: int
    targets: tuple[int, ...]
    times: int = 1

    @property
    def backward(self) -> bool:
        """Whether what is asked for lies before what opens it."""
        return self.relation in BACKWARD

    @property
    def later(self) -> tuple[int, ...]:
        """The acts on the right of the arrow, to which excuses, deadlines and force are tied."""
        return (self.opener,) if self.backward else self.targets

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The ordered pairs of acts it consists of, left of the arrow first."""
        return tuple((t, self.opener) if self.backward else (self.opener, t) for t in self.targets)


class Alone(NamedTuple):
    """What is stated of one act, or of any of several: a number of times, a ban, first or last."""

    kind: str
    acts: tuple[int, ...]
    times: int = 1


class Meaning(NamedTuple):
    """All that a sentence states.

    Attributes
    ----------
    related, alone : frozenset
    excused : frozenset of (int, int, bool)
        Act that excuses, act whose duty it excuses, whether only since the duty was opened.
    persons : frozenset of (int, int, str)
        Act, act, ``same`` or ``other``.
    by : frozenset of (int, int, bool)
        Act, role, whether by that role (else by everybody else).
    deadlines : frozenset of (int, int)
        Duration, act whose duty it limits.
    should : frozenset of int
        Acts that are recommended only.
    refused : str
        Why nothing is to be drafted, of REFUSED.
    """

    related: frozenset[Related] = frozenset()
    alone: frozenset[Alone] = frozenset()
    excused: frozenset[tuple[int, int, bool]] = frozenset()
    persons: frozenset[tuple[int, int, str]] = frozenset()
    by: frozenset[tuple[int, int, bool]] = frozenset()
    deadlines: frozenset[tuple[int, int]] = frozenset()
    should: frozenset[int] = frozenset()
    refused: str = ""


class Weighed(NamedTuple):
    """A meaning and its probability."""

    meaning: Meaning
    probability: float


class _Choice(NamedTuple):
    """A variable, its values with the log probabilities of each, likeliest first."""

    name: tuple[str, int, int]
    values: tuple[tuple[int, float], ...]


def meanings(logits: Logits, temperature: float = 1.0) -> list[Weighed]:
    """Meanings of a sentence, most probable first.

    Parameters
    ----------
    logits : Logits
    temperature : float
        By which logits are divided, as fitted on domains that the weights were not.
    """
    sums: dict[Meaning, float] = {}
    for chosen, weight in _joint(*_choices(logits, temperature)):
        meaning = meaning_of(dict(chosen))
        if meaning is not None:
            sums[meaning] = sums.get(meaning, 0.0) + math.exp(weight)
    total = sum(sums.values())
    ordered = sorted(sums.items(), key=lambda item: -item[1])
    return [Weighed(meaning, weight / total) for meaning, weight in ordered]


def _choices(logits: Logits, temperature: float) -> tuple[list[_Choice], _Second]:
    """Choices of what is stated, then of what is said of it."""
    relation = logits.relation.copy()
    for kind in map(RELATIONS.index, SYMMETRIC):
        relation[..., kind] = (logits.relation[..., kind] + logits.relation[..., kind].T) / 2

    def flags(values: Array) -> Array:
        return np.stack([np.zeros_like(values), values], -1)

    def of(kind: str, values: Array) -> list[_Choice]:
        return _of_head(kind, values / temperature)

    first = of("refused", logits.refused[None, None])
    first += of("unary", logits.unary[:, None])
    first += [choice for choice in of("relation", relation) if choice.name[1] != choice.name[2]]
    second = _Second({}, {}, {})
    second.add(of("count", logits.counts[:, None]), 1)
    second.add(of("should", flags(logits.should[:, None])), 1)
    second.add(of("by", logits.by), 1)
    second.add(of("excused", logits.excused), 2)
    second.add(of("deadline", flags(logits.deadline)), 2)
    second.pairs.update(((c.name[1], c.name[2]), c) for c in of("person", logits.person))
    second.ways.update(
        ((c.name[1], c.name[2]), c) for c in of("ways", flags(logits.ways + logits.ways.T) / np.float32(2))
    )
    return first, second


class _Second(NamedTuple):
    """Choices that say something of what is stated: by the act they concern, the pair, the two ways of a duty."""

    acts: dict[int, list[_Choice]]
    pairs: dict[tuple[int, int], _Choice]
    ways: dict[tuple[int, int], _Choice]

    def add(self, choices: Iterable[_Choice], place: int) -> None:
        """Enter choices of which one number of the name is the act they concern."""
        for choice in choices:
            if choice.name[0] != "excused" or choice.name[1] != choice.name[2]:
                self.acts.setdefault(int(choice.name[place]), []).append(choice)

    def concerning(self, chosen: _Chosen) -> Iterator[_Choice]:
        """The choices that can say something of what is stated."""
        pairs = [(i, j) for (what, i, j), _ in chosen if what == "relation"]
        alone = {i for (what, i, _), _ in chosen if what == "unary"}
        acts = sorted({a for pair in pairs for a in pair} | alone)
        for act in acts:
            yield from self.acts.get(act, ())
        yield from (self.pairs[pair] for pair in pairs)
        yield from (self.ways[i, j] for i in acts for j in acts if i < j)


def _of_head(kind: str, values: Array) -> list[_Choice]:
    """Choices of a head with two places, (n, m, values), what is negligible left out."""
    logs = values.astype(np.float64)
    logs -= logs.max(-1, keepdims=True)
    logs -= np.log(np.exp(logs).sum(-1, keepdims=True))
    order = np.argsort(-logs, -1, kind="stable")
    logs = np.take_along_axis(logs, order, -1)
    sizes = (logs > logs[..., :1] + _LEAST).sum(-1)
    listed = zip(order.tolist(), logs.tolist(), sizes.tolist(), strict=True)
    return [
        _Choice((kind, i, j), tuple(zip(o[:size], w[:size], strict=True)))
        for i, row in enumerate(listed)
        for j, (o, w, size) in enumerate(zip(*row, strict=True))
    ]


_LEAST = math.log(NEGLIGIBLE)
_Chosen = tuple[tuple[tuple[str, int, int], int], ...]


def _joint(first: Iterable[_Choice], second: _Second) -> Iterator[tuple[_Chosen, float]]:
    """Joint choices with their log probabilities, what is negligible left out; values of 0 are not listed."""
    likeliest = _listed(first)
    for chosen, weight in likeliest:
        if chosen and chosen[0][0][0] == "refused":  # what it states is not looked at
            yield chosen[:1], weight
            continue
        for more, further in _listed(second.concerning(chosen)):
            if weight + further > likeliest[0][1] + _LEAST:
                yield chosen + more, weight + further


def _listed(choices: Iterable[_Choice]) -> list[tuple[_Chosen, float]]:
    """The likeliest values of some independent choices together, likeliest first."""
    beam: list[tuple[_Chosen, float]] = [((), 0.0)]
    for name, values in choices:
        if len(values) == 1:
            value, weight = values[0]
            more = ((name, value),) if value else ()
            beam = [(chosen + more, total + weight) for chosen, total in beam]
            continue
        longer = [
            (chosen + (((name, value),) if value else ()), total + weight)
            for chosen, total in beam
            for value, weight in values
        ]
        longer.sort(key=lambda one: -one[1])
        beam = [one for one in longer[:MOST] if one[1] > longer[0][1] + _LEAST]
    return beam


def meaning_of(chosen: dict[tuple[str, int, int], int]) -> Meaning | None:
    """What joint choices state; None where a language does not allow them together."""
    refused = REFUSED[chosen.get(("refused", 0, 0), 0)]
    related = {(i, j): RELATIONS[v] for (what, i, j), v in chosen.items() if what == "relation"}
    unary = {i: UNARY[v] for (what, i, _), v in chosen.items() if what == "unary"}
    if refused:
        return Meaning(refused=refused)
    if not related and not unary:
        return None
    banned = {i for i, kind in unary.items() if kind == "ban"}
    limited = {i for what, i, _ in chosen if what == "by"}
    for (i, j), relation in related.items():
        target = i if relation in BACKWARD else j
        if relation not in NEGATIVE and relation not in SYMMETRIC and target in banned - limited:
            return None
        if relation in BACKWARD and j in banned - limited:  # what may come after something is not banned
            return None
        if relation in SYMMETRIC and related.get((j, i)) not in (relation, None):
            return None
    ways = {(i, j) for what, i, j in chosen if what == "ways"}
    counts = {i: v + 1 for (what, i, _), v in chosen.items() if what == "count"}
    stated = {a for pair in related for a in pair} | set(unary)
    return Meaning(
        frozenset(_related(related, counts, ways)),
        frozenset(_alone(unary, counts, ways)),
        frozenset((i, j, v == 2) for (what, i, j), v in chosen.items() if what == "excused" and j in stated),
        frozenset(
            (*(sorted((i, j)) if related[i, j] in SYMMETRIC else (i, j)), "same" if v == 1 else "other")
            for (what, i, j), v in chosen.items()
            if what == "person" and (i, j) in related
        ),
        frozenset((i, r, v == 1) for (what, i, r), v in chosen.items() if what == "by" and i in stated),
        frozenset((d, j) for what, d, j in chosen if what == "deadline" and j in stated),
        frozenset(i for what, i, _ in chosen if what == "should" and i in stated),
    )


def split_mentions(weighed: Sequence[Weighed], mentions: Array) -> list[Weighed]:
    """The meanings, those that read two acts from the same words also with either act alone.

    One mention mostly names one act. What two acts share so keeps ``BOTH`` of its probability, each alone gets half
    of the rest.

    Parameters
    ----------
    weighed : sequence of Weighed
    mentions : array of shape (acts, pieces)
        Logits that a piece of the sentence names an act.
    """
    peaks = mentions.argmax(1) if mentions.size else []
    sums: dict[Meaning, float] = {}
    for meaning, probability in weighed:
        acts = sorted({a for d in meaning.related for pair in d.pairs for a in pair})
        acts += sorted({a for d in meaning.alone for a in d.acts} - set(acts))
        pair = next(((i, j) for i, j in combinations(acts, 2) if peaks[i] == peaks[j]), None)
        alone = [one for act in pair or () if (one := without(meaning, act)).related or one.alone]
        shares = [(meaning, BOTH if alone else 1.0), *((one, (1 - BOTH) / len(alone)) for one in alone)]
        for one, share in shares:
            sums[one] = sums.get(one, 0.0) + share * probability
    return sorted((Weighed(*item) for item in sums.items()), key=lambda one: -one.probability)


def without(meaning: Meaning, act: int) -> Meaning:
    """A meaning that says nothing of an act."""
    related = (d._replace(targets=tuple(t for t in d.targets if t != act)) for d in meaning.related)
    alone = (d._replace(acts=tuple(a for a in d.acts if a != act)) for d in meaning.alone)
    return meaning._replace(
        related=frozenset(d for d in related if d.targets and d.opener != act),
        alone=frozenset(d for d in alone if d.acts),
        excused=frozenset(x for x in meaning.excused if act not in x[:2]),
        persons=frozenset(x for x in meaning.persons if act not in x[:2]),
        by=frozenset(x for x in meaning.by if x[0] != act),
        deadlines=frozenset(x for x in meaning.deadlines if x[1] != act),
        should=meaning.should - {act},
    )


def _related(
    related: dict[tuple[int, int], str], counts: dict[int, int], ways: set[tuple[int, int]]
) -> Iterator[Related]:
    """Duties between acts, any of several ways as one."""
    by_opener: dict[tuple[str, int], list[int]] = {}
    for (i, j), relation in related.items():
        for part in relation.split("+"):
            if part in SYMMETRIC:
                i, j = min(i, j), max(i, j)
            opener, target = (j, i) if part in BACKWARD else (i, j)
            if target not in by_opener.setdefault((part, opener), []):
                by_opener[part, opener].append(target)
    for (part, opener), targets in by_opener.items():
        # ways of a ban are two bans
        either = set() if part in NEGATIVE else ways
        for group in _groups(targets, either):
            yield Related(part, opener, group, counts.get(group[0], 1) if part == "response" else 1)


def _alone(unary: dict[int, str], counts: dict[int, int], ways: set[tuple[int, int]]) -> Iterator[Alone]:
    kinds: dict[tuple[str, int], list[int]] = {}
    for act, kind in unary.items():
        count = counts.get(act, 1) if kind in ("at_least", "at_most", "exactly") else 1
        kinds.setdefault((kind, count), []).append(act)
    for (kind, count), acts in kinds.items():
        if kind in ("first", "last"):  # a case has one
            yield Alone(kind, tuple(sorted(acts)), count)
            continue
        either = ways if kind == "at_least" else set()
        yield from (Alone(kind, group, count) for group in _groups(acts, either))


def _groups(acts: Sequence[int], ways: set[tuple[int, int]]) -> Iterator[tuple[int, ...]]:
    """Acts joined where either will do."""
    left = sorted(acts)
    while left:
        group = [left.pop(0)]
        for act in list(left):
            if any((min(a, act), max(a, act)) in ways for a in group):
                group.append(act)
                left.remove(act)
        yield tuple(group)
