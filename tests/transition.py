"""The four edits and their Metropolis transition matrix from the definitions alone: plain loops, NumPy
float64.

Nothing here is shared with the kernel. Each edit is a list of *ways*: from structure i, with probability q,
to structure j, with Hastings term h. Two ways may join the same pair of structures (two joint entries that
share a variable), so acceptance is decided way by way, as a Metropolis sampler does, and the matrix adds them
up.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Structure = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Grammar:
    """Ragged tables of an And-Or Graph, as the definitions name them."""

    candidates: Sequence[Sequence[int]]
    unary: Sequence[Floats]
    pairwise: Mapping[tuple[int, int], Floats]
    unary_flags: Mapping[int, Sequence[bool]]
    pair_flags: Mapping[tuple[int, int], Sequence[Sequence[bool]]]
    weights: Floats
    penalty: float
    swaps: Mapping[int, Sequence[int]] = field(default_factory=dict)
    joints: Mapping[tuple[int, int], Floats] = field(default_factory=dict)

    @cached_property
    def sizes(self) -> Structure:
        return tuple(len(owners) for owners in self.candidates)

    @cached_property
    def structures(self) -> list[Structure]:
        """All structures, the last variable fastest; a structure's index is its place here."""
        return list(itertools.product(*(range(size) for size in self.sizes)))

    @cached_property
    def index(self) -> dict[Structure, int]:
        return {structure: i for i, structure in enumerate(self.structures)}

    def tuples(self, variable: int, candidate: int) -> list[int]:
        return [o for o, owner in enumerate(self.candidates[variable]) if owner == candidate]

    def prior(self, variable: int, option: int) -> float:
        """p0: uniform over the candidates, then over the candidate's parameter tuples."""
        owners = self.candidates[variable]
        return 1 / len(set(owners)) / len(self.tuples(variable, owners[option]))

    def flagged(self, a: Structure) -> bool:
        alone = any(flags[a[v]] for v, flags in self.unary_flags.items())
        return alone or any(flags[a[left]][a[right]] for (left, right), flags in self.pair_flags.items())

    def score(self, a: Structure) -> float:
        phi = sum(table[option] for table, option in zip(self.unary, a, strict=True))
        phi = phi + sum(table[a[left], a[right]] for (left, right), table in self.pairwise.items())
        return float(self.weights @ phi) - (self.penalty if self.flagged(a) else 0.0)

    @cached_property
    def scores(self) -> Floats:
        return np.array([self.score(a) for a in self.structures])

    @cached_property
    def log_priors(self) -> Floats:
        return np.array(
            [sum(np.log(self.prior(v, option)) for v, option in enumerate(a)) for a in self.structures]
        )

    def log_densities(self, temperature: float) -> Floats:
        return self.log_priors + self.scores / temperature

    def target(self, temperature: float) -> Floats:
        weights = np.exp(self.log_densities(temperature) - self.log_densities(temperature).max())
        return weights / weights.sum()


class Ways(NamedTuple):
    """Row k: from structure ``source[k]`` to ``target[k]`` with probability ``probability[k]`` and Hastings
    term."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    probability: Floats
    log_hastings: Floats


Step = tuple[Structure, float, float]
Edit = Callable[[Grammar, Structure], Iterator[Step]]


def with_options(a: Structure, changes: Mapping[int, int]) -> Structure:
    return tuple(changes.get(v, option) for v, option in enumerate(a))


def single_slot_replacement(grammar: Grammar, a: Structure) -> Iterator[Step]:
    chance = 1 / len(a)
    for v, option in enumerate(a):
        own = grammar.candidates[v][option]
        others = sorted(set(grammar.candidates[v]) - {own})
        if not others:
            yield a, chance, 0.0
        for other in others:
            tuples = grammar.tuples(v, other)
            for replacement in tuples:
                log_hastings = np.log(len(tuples)) - np.log(len(grammar.tuples(v, own)))
                yield with_options(a, {v: replacement}), chance / len(others) / len(tuples), log_hastings


def parameter_only_edit(grammar: Grammar, a: Structure) -> Iterator[Step]:
    chance = 1 / len(a)
    for v, option in enumerate(a):
        others = [o for o in grammar.tuples(v, grammar.candidates[v][option]) if o != option]
        if not others:
            yield a, chance, 0.0
        for replacement in others:
            yield with_options(a, {v: replacement}), chance / len(others), 0.0


def evidence_policy_swap(grammar: Grammar, a: Structure) -> Iterator[Step]:
    if not grammar.swaps:
        yield a, 1.0, 0.0
    for v, groups in grammar.swaps.items():
        chance, owners = 1 / len(grammar.swaps), grammar.candidates[v]

        def partners(
            option: int, groups: Sequence[int] = groups, owners: Sequence[int] = owners
        ) -> list[int]:
            return [
                o for o in range(len(owners)) if groups[o] == groups[option] and owners[o] != owners[option]
            ]

        found = partners(a[v])
        if not found:
            yield a, chance, 0.0
        for replacement in found:
            yield (
                with_options(a, {v: replacement}),
                chance / len(found),
                np.log(len(found)) - np.log(len(partners(replacement))),
            )


def trigger_evidence_edit(grammar: Grammar, a: Structure) -> Iterator[Step]:
    if not grammar.joints:
        yield a, 1.0, 0.0
    for (t, e), rows in grammar.joints.items():
        chance = 1 / len(grammar.joints)
        forgotten = grammar.prior(t, a[t]) * rows[a[t], a[e]]
        for trigger, evidence in itertools.product(range(grammar.sizes[t]), range(grammar.sizes[e])):
            drawn = grammar.prior(t, trigger) * rows[trigger, evidence]
            yield (
                with_options(a, {t: trigger, e: evidence}),
                chance * drawn,
                np.log(forgotten) - np.log(drawn),
            )


EDITS: dict[str, Edit] = {
    "single-slot replacement": single_slot_replacement,
    "parameter-only edit": parameter_only_edit,
    "evidence-policy swap": evidence_policy_swap,
    "trigger-evidence edit": trigger_evidence_edit,
}


def ways(grammar: Grammar, probabilities: Mapping[str, float]) -> Ways:
    """Every way of the mixture that draws each edit with its probability."""
    rows = [
        (grammar.index[a], grammar.index[b], share * probability, log_hastings)
        for name, share in probabilities.items()
        for a in grammar.structures
        for b, probability, log_hastings in EDITS[name](grammar, a)
    ]
    source, target, probability, log_hastings = zip(*rows, strict=True)
    return Ways(np.array(source), np.array(target), np.array(probability), np.array(log_hastings))


def acceptance(found: Ways, log_densities: Floats) -> Floats:
    """min(1, density ratio times Hastings ratio) of each way."""
    return np.exp(
        np.minimum(0.0, log_densities[found.target] - log_densities[found.source] + found.log_hastings)
    )


def proposal_matrix(found: Ways, count: int) -> Floats:
    matrix = np.zeros((count, count))
    np.add.at(matrix, (found.source, found.target), found.probability)
    return matrix


def transition_matrix(found: Ways, log_densities: Floats) -> Floats:
    """P: what is accepted goes to the target of the way, what is rejected stays at its source."""
    accepted = found.probability * acceptance(found, log_densities)
    matrix = np.zeros((len(log_densities), len(log_densities)))
    np.add.at(matrix, (found.source, found.target), accepted)
    np.add.at(matrix, (found.source, found.source), found.probability - accepted)
    return matrix
