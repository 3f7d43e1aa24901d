"""The exact posterior in bounded memory: the space is swept block by block, and what is kept does not grow
with it.

A block fixes the options of the leading variables and leaves the next one a range; it is enumerated like a
space of its own and summed up in its place:

    log Z = log sum_b Z_b,    p(option) = sum_b (Z_b / Z) p_b(option)
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference import exact
from gnrs_ppl.inference.exact import (
    TIE,
    Enumeration,
    Posterior,
    enumerate_block,
    exact_posterior,
    number_of_states,
)
from gnrs_ppl.inference.result import NO_MOVE, Chains, Ranked, check_request, require_finite, superchain_ids
from gnrs_ppl.inference.starts import unravel
from gnrs_ppl.models.energy import Tables

SWEEP_LIMIT = 100_000_000
"""Most structures that are swept: a minute on one core."""
BLOCK = 2_000_000
"""Most structures in memory at once: 33 bytes each, 66 MB."""
KEPT = 64
"""How many structures are kept by score, and how many by probability."""

Floats = NDArray[np.float64]
Block = tuple[slice, ...]
"""Which options of each variable."""


class Exact(NamedTuple):
    """p(a | x) of a whole space at one temperature, summed up.

    Attributes
    ----------
    sizes : tuple of int
    temperature : float
    states, feasible_states, optimal_states : int
        All structures, those that pass h, and those that share the greatest s_search.
    log_normalizer : float
        log Z.
    infeasible_mass : float
        Probability of breaking a hard condition.
    marginals : tuple of (n_v,) float64
        p(option) of every variable.
    pair_marginals : {(left, right): (n_left, n_right) float64}
        p of two options, for every two variables, left < right.
    best, top : tuple of Ranked
        The structures of greatest s_search, the more probable first among ties, and the most probable ones;
        64 of each at most.
    """

    sizes: tuple[int, ...]
    temperature: float
    states: int
    feasible_states: int
    optimal_states: int
    log_normalizer: float
    infeasible_mass: float
    marginals: tuple[Float[Floats, " n"], ...]
    pair_marginals: dict[tuple[int, int], Float[Floats, "n m"]]
    best: tuple[Ranked, ...]
    top: tuple[Ranked, ...]

    @property
    def optimum(self) -> float:
        """Greatest s_search of the space."""
        return self.best[0].score

    def probability(self, score: float, log_prior: float) -> float:
        """Probability of a structure of this s_search and log p0."""
        return math.exp(log_prior + score / self.temperature - self.log_normalizer)


class _Sum:
    """Sums over blocks, all in units of exp(``log_unit``), the greatest normaliser so far."""

    def __init__(self, sizes: tuple[int, ...], pairs: bool) -> None:
        self.log_unit, self.total, self.infeasible = -math.inf, 0.0, 0.0
        self.feasible_states = self.optimal_states = 0
        self.greatest = -math.inf
        self.marginals = [np.zeros(n) for n in sizes]
        variables = range(len(sizes)) if pairs else ()
        self.pairs = {(i, j): np.zeros((sizes[i], sizes[j])) for i, j in itertools.combinations(variables, 2)}
        self.best: list[Ranked] = []
        self.top: list[Ranked] = []

    def add(self, options: Block, block: Posterior) -> None:
        enumeration = block.enumeration
        if block.log_normalizer > self.log_unit:
            self._scale(math.exp(self.log_unit - block.log_normalizer))
            self.log_unit = block.log_normalizer
        weight = math.exp(block.log_normalizer - self.log_unit)
        self.total += weight
        self.infeasible += weight * block.infeasible_mass
        self.feasible_states += int(enumeration.feasible.sum())
        self._count_optimal(enumeration)
        for table, kept, marginal in zip(self.marginals, options, exact.slot_marginals(block), strict=True):
            table[kept] += weight * marginal
        for (left, right), marginal in exact.pair_marginals(block).items() if self.pairs else ():
            self.pairs[left, right][options[left], options[right]] += weight * marginal

        def placed(found: list[Ranked]) -> list[Ranked]:
            """With the options numbered as in the space, and p in units of log_unit."""
            first = _first(options)
            return [
                r._replace(position=first + r.position, probability=weight * r.probability) for r in found
            ]

        self.best = sorted(
            self.best + placed(exact.best(block, KEPT)), key=lambda r: (-round(r.score, 9), -r.probability)
        )[:KEPT]
        self.top = sorted(
            self.top + placed(exact.top(block, KEPT)), key=lambda r: (-r.probability, -r.score)
        )[:KEPT]

    def _count_optimal(self, enumeration: Enumeration) -> None:
        greatest = max(self.greatest, float(enumeration.score.max()))
        if greatest > self.greatest + TIE:
            self.optimal_states = 0
        self.greatest = greatest
        self.optimal_states += int((enumeration.score >= greatest - TIE).sum())

    def _scale(self, factor: float) -> None:
        self.total *= factor
        self.infeasible *= factor
        for table in (*self.marginals, *self.pairs.values()):
            table *= factor
        self.best, self.top = (
            [r._replace(probability=factor * r.probability) for r in kept] for kept in (self.best, self.top)
        )


def sweep(tables: Tables, temperature: float, *, pairs: bool = True, limit: int = SWEEP_LIMIT) -> Exact:
    """Sum up the exact posterior; memory is that of one block, whatever the size of the space.

    Parameters
    ----------
    tables : Tables
    temperature : float
        tau.
    pairs : bool
        Whether to sum up pair marginals.
    limit : int
        Most structures.

    Raises
    ------
    InputError
        When the space has more structures than ``limit``, where the line names the alternatives, and for
        scores that are not finite.
    """
    sizes = _sizes(tables, limit)
    require_finite(tables)
    total = _Sum(sizes, pairs)
    for options in _blocks(sizes):
        total.add(options, exact_posterior(enumerate_block(tables, options), temperature))
    share = 1 / total.total
    total._scale(share)
    return Exact(
        sizes=sizes,
        temperature=temperature,
        states=math.prod(sizes),
        feasible_states=total.feasible_states,
        optimal_states=total.optimal_states,
        log_normalizer=total.log_unit - math.log(share),
        infeasible_mass=total.infeasible,
        marginals=tuple(total.marginals),
        pair_marginals=total.pairs,
        best=tuple(total.best),
        top=tuple(total.top),
    )


def exact_chains(
    tables: Tables,
    *,
    chains: int,
    steps: int,
    temperature: float,
    seed: int,
    superchains: int | None = None,
    stream: int = 0,
) -> Chains:
    """Independent draws from p(a | x) in the shape of chains: what a perfect sampler would record.

    One sweep gives the mass of every block, a second draws inside those that were hit. Every "start" is one
    more independent draw; superchains only group the chains.

    Raises
    ------
    InputError
        As :func:`sweep`, and for more draws than fit.
    """
    groups = check_request(
        tables, chains=chains, steps=steps, temperature=temperature, seed=seed, superchains=superchains
    )
    began = time.perf_counter()
    sizes, generator = _sizes(tables, SWEEP_LIMIT), np.random.default_rng([seed, stream])
    number = chains * (steps + 1)
    log_mass = np.array(
        [
            exact_posterior(enumerate_block(tables, options), temperature).log_normalizer
            for options in _blocks(sizes)
        ]
    )
    share = np.exp(log_mass - log_mass.max())
    drawn = generator.multinomial(number, share / share.sum())
    positions, score, feasible = (
        np.empty((number, len(sizes)), np.int32),
        np.empty(number),
        np.empty(number, bool),
    )
    at = 0
    for count, options in zip(drawn.tolist(), _blocks(sizes), strict=True):
        if count:
            posterior = exact_posterior(enumerate_block(tables, options), temperature)
            cumulative = np.cumsum(posterior.probability)
            uniform = generator.random(count) * cumulative[-1]
            index = np.minimum(np.searchsorted(cumulative, uniform, side="right"), len(cumulative) - 1)
            here = slice(at, at + count)
            positions[here] = _first(options) + np.stack(
                unravel([*posterior.enumeration.sizes], index), axis=-1
            )
            score[here], feasible[here] = (
                posterior.enumeration.score[index],
                posterior.enumeration.feasible[index],
            )
            at += count
    order = generator.permutation(number).reshape(chains, steps + 1)
    positions, score, feasible = positions[order], score[order], feasible[order]
    return Chains(
        positions=positions[:, 1:],
        score=score[:, 1:],
        feasible=feasible[:, 1:],
        move=np.full((chains, steps), NO_MOVE, np.int8),
        accepted=np.ones((chains, steps), bool),
        starts=positions[:, 0],
        start_score=score[:, 0],
        start_feasible=feasible[:, 0],
        superchain=superchain_ids(chains, groups),
        kernel="exact",
        temperature=temperature,
        seed=seed,
        energy_evaluations=math.prod(sizes),
        wall_seconds=time.perf_counter() - began,
        compile_seconds=0.0,
    )


def _sizes(tables: Tables, limit: int) -> tuple[int, ...]:
    states = number_of_states(tables)
    if states > limit:
        remedy = "use --kernel metropolis, or --kernel cpsat for the optimum or a bound"
        raise InputError(f"{states} structures, more than the {limit} that are swept", remedy)
    return tuple(int(size) for size in tables.sizes)


def _blocks(sizes: tuple[int, ...]) -> Iterator[Block]:
    """Parts of the space that fit, in the order of their structures."""
    ranged = next(v for v in range(len(sizes)) if math.prod(sizes[v + 1 :]) <= BLOCK)
    width = min(max(1, BLOCK // math.prod(sizes[ranged + 1 :])), sizes[ranged])
    starts = [range(n) for n in sizes[:ranged]] + [range(0, sizes[ranged], width)]
    for firsts in itertools.product(*starts):
        leading = [slice(first, first + 1) for first in firsts[:-1]]
        yield (
            *leading,
            slice(firsts[-1], min(firsts[-1] + width, sizes[ranged])),
            *(slice(0, n) for n in sizes[ranged + 1 :]),
        )


def _first(options: Block) -> Int[NDArray[np.int32], " V"]:
    """First option of each variable."""
    return np.array([kept.start for kept in options], np.int32)
