"""Choosing the rules of a charter together, and how likely each is given the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnrs_ppl import progress
from gnrs_ppl.charter.pairs import PairRelation
from gnrs_ppl.charter.relations import Relations
from gnrs_ppl.charter.space import RulePool, charter_tables
from gnrs_ppl.inference.exact import STATE_LIMIT, TIE, number_of_states
from gnrs_ppl.models.energy import Tables

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Choice:
    """What was chosen of the pools of a charter.

    Attributes
    ----------
    position : tuple of int
        The structure of each rule, by its place in the rule's pool.
    score : float
        s of the charter.
    feasible : bool
        Whether no two of its rules conflict.
    bound : float or None
        No charter of these pools scores higher; None where nothing bounds it.
    method : str
        How it was found.
    pairs : {(rule, rule): PairRelation}
        How every two chosen rules relate.
    marginals : per rule, (K,) float64
        Probability of each structure of its pool, whatever the others are.
    given_others : per rule, (K,) float64
        The same given the chosen structures of all others.
    decided : int
        Of how many pairs it was decided how they relate, on the way.
    """

    position: tuple[int, ...]
    score: float
    feasible: bool
    bound: float | None
    method: str
    pairs: dict[tuple[int, int], PairRelation]
    marginals: tuple[Floats, ...]
    given_others: tuple[Floats, ...]
    decided: int

    @property
    def certificate(self) -> str:
        """How good the choice is, in words."""
        if self.bound is None:
            return "ε_S: not certified; install OR-Tools for a bound (pip install 'gnrs-ppl[solver]')"
        if self.bound - self.score < TIE:
            return f"ε_S = 0 by {self.method}: no charter of these pools scores higher"
        return f"ε_S ≤ {self.bound - self.score:.2g}, bounded by {self.method}"


def choose(
    pools: Sequence[RulePool],
    relations: Relations,
    *,
    temperature: float,
    chains: int,
    steps: int,
    seed: int,
    kernel: str,
    seconds: float = 10.0,
) -> Choice:
    """The charter of greatest score, and its posterior.

    How two rules relate takes a search each, so only pairs that are about to be chosen are searched: a pair
    that was not is taken for independent, which only ever scores too high. When all pairs of the best charter
    are known, no other charter can be better.

    Parameters
    ----------
    pools : sequence of RulePool
    relations : Relations
        What is known of pairs; more is known afterwards.
    temperature : float
        Of the probabilities.
    chains, steps, seed, kernel
        Of the sampler, where the charters are too many to enumerate.
    seconds : float
        CP-SAT's time for each bound.
    """
    while True:
        tables = charter_tables(pools, relations)
        found = _search(tables, temperature, seconds, chains=chains, steps=steps, seed=seed, kernel=kernel)
        known = len(relations)
        pairs = _related(pools, found.position, relations)
        if len(relations) == known:
            break
    score, feasible = _score(tables, found.position)
    return Choice(
        tuple(map(int, found.position)),
        score,
        feasible,
        None if found.bound is None else max(found.bound, score),
        found.method,
        pairs,
        found.marginals,
        tuple(given_others(tables, found.position, v, temperature) for v in range(len(pools))),
        len(relations),
    )


def _related(
    pools: Sequence[RulePool], position: NDArray[Any], relations: Relations
) -> dict[tuple[int, int], PairRelation]:
    """How every two rules of a charter relate."""
    pairs = {}
    for left, right in combinations(range(len(pools)), 2):
        progress.stage(f"comparing {pools[left].name} and {pools[right].name}")
        one, other = (pools[r].members[int(position[r])].structure for r in (left, right))
        pairs[left, right] = relations.between(one, other)
    return pairs


class _Found(NamedTuple):
    """The best charter that was found, no smaller bound than the best there is, how, and p(structure) of
    every rule.
    """

    position: NDArray[Any]
    bound: float | None
    method: str
    marginals: tuple[Floats, ...]


def _search(tables: Tables, temperature: float, seconds: float, **run: Any) -> _Found:
    """Exactly where the charters can be enumerated; else by chains, and CP-SAT where it is installed."""
    if number_of_states(tables) <= STATE_LIMIT:
        from gnrs_ppl.inference.sweep import sweep

        exact = sweep(tables, temperature, pairs=False)
        return _Found(exact.best[0].position, exact.optimum, "exact enumeration", exact.marginals)
    from gnrs_ppl.inference.chains import run_chains
    from gnrs_ppl.inference.result import best_visited

    chains = run_chains(tables, temperature=temperature, **run)
    drawn = chains.positions[:, chains.positions.shape[1] // 2 :].reshape(-1, len(tables.sizes))
    marginals = tuple(
        np.bincount(drawn[:, v], minlength=int(size)) / len(drawn) for v, size in enumerate(tables.sizes)
    )
    position = best_visited(chains).position
    if find_spec("ortools") is None:
        return _Found(position, chains.bound, chains.kernel, marginals)
    from gnrs_ppl.inference.cpsat import solve

    solved = solve(tables, seconds=seconds, workers=1, seed=run["seed"] % 2**31)
    if solved.score > _score(tables, position)[0]:
        position = solved.position
    return _Found(position, solved.bound, "CP-SAT", marginals)


def _score(tables: Tables, position: Sequence[int] | NDArray[Any]) -> tuple[float, bool]:
    """The score of a charter in float64, and whether no two of its rules conflict."""
    at = np.asarray(position)
    alone = np.asarray(tables.unary)[np.arange(len(at)), at].sum()
    pairs = np.asarray(tables.pairs)
    cells = np.arange(len(pairs)), at[pairs[:, 0]], at[pairs[:, 1]]
    raised = bool(np.asarray(tables.pair_flags)[cells].any())
    together = np.asarray(tables.pairwise)[cells].sum()
    return float(alone + together - float(tables.penalty) * raised), not raised


def given_others(
    tables: Tables, position: Sequence[int] | NDArray[Any], variable: int, temperature: float
) -> Floats:
    """How likely each structure of one rule is given those of all others, exactly."""
    size = int(tables.sizes[variable])
    every = np.tile(np.asarray(position), (size, 1))
    every[:, variable] = np.arange(size)
    log = np.array([_score(tables, one)[0] for one in every]) / temperature
    log += np.asarray(tables.log_prior)[variable, :size]
    likely: Floats = np.exp(log - log.max())
    return np.asarray(likely / likely.sum())
