"""The rules of a charter as one factor graph: a variable for each rule, its pool of structures as options,
and a table for every two of them.

    s(a_1 … a_m) = Σ_r s_search(a_r) + Σ_{q<r} Σ_t w_t t(a_q, a_r)
                   − R · #{q < r: one implies the other} − λ · 1[two conflict]

p0 of a structure is what it is in its own rule, scaled to the pool: without the pair terms each rule is drawn
from its own posterior, restricted to its pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from gnrs_ppl.charter.relations import Relations, meaning
from gnrs_ppl.charter.terms import REDUNDANCY, TERMS, Member
from gnrs_ppl.errors import InputError, NoFeasibleStructure
from gnrs_ppl.inference.exact import STATE_LIMIT, enumerate_space, number_of_states
from gnrs_ppl.models.energy import Tables, contract
from gnrs_ppl.models.graph import AndOrGraph
from gnrs_ppl.models.space import build_space
from gnrs_ppl.rule.types import SLOTS, Structure

Floats = NDArray[np.float64]
NORMS_AT_LEAST = 4
"""Of a pool at most one in so many structures share trigger and norm, so that a rule that conflicts with
another has something else to say."""
LARGEST_PAIRS = 2**31
"""Bytes of pair tables that are made."""
IMPLIED = ("equivalent", "first_implies_second", "second_implies_first")


@dataclass(frozen=True)
class RulePool:
    """The structures one rule is chosen from, the best first.

    Attributes
    ----------
    name : str
        What the rule is called: its goal's id, with a number where the goal states several rules.
    members : tuple of Member
    score : (K,) float64
        s_search of each.
    log_prior : (K,) float64
        log p0 of each.
    """

    name: str
    members: tuple[Member, ...]
    score: Floats
    log_prior: Floats

    @cached_property
    def meanings(self) -> list[str]:
        """What each says of cases."""
        return [meaning(member.structure) for member in self.members]


def best_structures(graph: AndOrGraph, tables: Tables, size: int) -> tuple[list[Structure], Floats, Floats]:
    """The feasible structures of greatest s_search, with it and their log p0: at most ``size``, of which at
    most one in ``NORMS_AT_LEAST`` share trigger and norm while there are others.

    Raises
    ------
    InputError
        More structures than are enumerated at once.
    NoFeasibleStructure
        Every one breaks a hard condition.
    """
    if number_of_states(tables) > STATE_LIMIT:
        raise InputError(
            f"the candidates of {graph.facts.context.goal.id} make {number_of_states(tables):,} structures, "
            f"and a charter ranks at most {STATE_LIMIT:,} of a rule",
            "pin a slot of this rule with --fix",
        )
    every = enumerate_space(tables)
    feasible = np.flatnonzero(every.feasible)
    if not len(feasible):
        raise NoFeasibleStructure("every structure breaks a hard condition; gnrs draft says which")
    order = feasible[np.lexsort((-every.log_prior[feasible], -np.round(every.score[feasible], 9)))]
    room = -(-size // NORMS_AT_LEAST)
    shape = [int(n) for n in tables.sizes]
    options = np.unravel_index(order, shape)
    seen: dict[tuple[int, int], int] = {}
    kept, spare = list[int](), list[int]()
    trigger, norm = (options[SLOTS.index(slot)] for slot in ("trigger", "norm"))
    for place, pair in enumerate(zip(trigger.tolist(), norm.tolist(), strict=True)):
        seen[pair] = seen.get(pair, 0) + 1
        (kept if seen[pair] <= room else spare).append(place)
        if len(kept) == size:
            break
    kept = sorted(kept + spare[: size - len(kept)])
    chosen = order[kept]
    structures = [graph.structure([int(slot[place]) for slot in options]) for place in kept]
    return structures, every.score[chosen], every.log_prior[chosen]


def charter_tables(pools: Sequence[RulePool], relations: Relations) -> Tables:
    """The tables of a charter, of what is known of its pairs: a pair that was not searched is taken for
    independent, so that no true score is above its score here.

    Parameters
    ----------
    pools : sequence of RulePool
        Two or more.
    relations : Relations

    Raises
    ------
    InputError
        Tables that would not fit.
    """
    sizes = [len(pool.members) for pool in pools]
    largest = 8 * max(sizes) ** 2 * len(pools) * (len(pools) - 1) // 2
    if largest > LARGEST_PAIRS:
        raise InputError(
            f"{len(pools)} pools of {max(sizes)} structures make {largest / 2**30:.1f} GiB of pair tables",
            "ask for smaller pools",
            source="arguments",
            field="--pool",
        )
    pairwise, conflicts = {}, {}
    for left, right in combinations(range(len(pools)), 2):
        pairwise[left, right], conflicts[left, right] = pair_tables(
            pools[left], pools[right], relations, len(pools)
        )
    # build_space wants features in [0, 1]: divide by what all tables could add up to, and weigh by that
    total = sum(float(pool.score.max()) for pool in pools) + sum(float(t.max()) for t in pairwise.values())
    space = build_space(
        [range(size) for size in sizes],
        [pool.score[:, None] / total for pool in pools],
        {pair: table[..., None] / total for pair, table in pairwise.items()},
        pair_flags=conflicts,
        prior=[np.exp(pool.log_prior - pool.log_prior.max()) for pool in pools],
    )
    return contract(space, np.array([total]))


def pair_tables(
    left: RulePool, right: RulePool, relations: Relations, rules: int
) -> tuple[Floats, NDArray[np.bool_]]:
    """What two pools are worth to one another, and which of their structures conflict."""
    worth = sum(term.worth(rules) * term.table(left.members, right.members) for term in TERMS)
    implied = np.zeros((len(left.members), len(right.members)), bool)
    conflict = implied.copy()
    rows, columns = _places(left.meanings), _places(right.meanings)
    for one, in_rows in rows.items():
        for other, in_columns in columns.items():
            found = relations.known(one, other)
            if found is not None:
                cells = np.ix_(in_rows, in_columns)
                implied[cells] = found.kind in IMPLIED
                conflict[cells] = found.kind == "conflict"
    return worth + REDUNDANCY * ~implied, conflict


def _places(meanings: Sequence[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, one in enumerate(meanings):
        places.setdefault(one, []).append(place)
    return places
