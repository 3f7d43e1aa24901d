"""Overdispersed starts: few distinct structures from p0, each shared by many chains, as nested R-hat needs
them.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Int
from numpy.typing import NDArray

from gnrs_ppl.models.energy import Tables
from gnrs_ppl.models.space import PADDING

ENUMERABLE = 100_000
"""Spaces up to this size are drawn from without replacement by listing them; in larger ones repeats are
drawn again."""


def draw_prior(
    tables: Tables, count: int, generator: np.random.Generator
) -> Int[NDArray[np.int32], "count V"]:
    """Independent draws from p0: per variable a candidate, then one of its parameter tuples, uniformly; or as
    a conditioned p0 says.
    """
    if not uniform_prior(tables):
        log_prior = np.asarray(tables.log_prior, np.float64)
        p0 = [np.exp(log_prior[v, :size]) for v, size in enumerate(np.asarray(tables.sizes))]
        drawn = [generator.choice(len(p), size=count, p=p / p.sum()) for p in p0]
        return np.stack(drawn, axis=-1).astype(np.int32)
    lookup, variables = tables.lookup, np.arange(tables.sizes.shape[0])
    candidate = generator.integers(0, lookup.candidates, size=(count, len(variables)))
    chosen = generator.integers(0, np.asarray(lookup.tuples)[variables, candidate])
    return (np.asarray(lookup.start)[variables, candidate] + chosen).astype(np.int32)


def uniform_prior(tables: Tables) -> bool:
    """Whether p0 is uniform over candidates, then over their parameter tuples, as that of a space nobody
    conditioned.
    """
    tuples = np.take_along_axis(np.asarray(tables.lookup.tuples), np.asarray(tables.candidate), 1)
    uniform = -np.log(np.asarray(tables.lookup.candidates))[:, None] - np.log(tuples)
    there = np.asarray(tables.log_prior) > PADDING
    return bool(np.allclose(np.asarray(tables.log_prior)[there], uniform[there]))


def draw_starts(
    tables: Tables, superchains: int, seed: int, stream: int = 0
) -> Int[NDArray[np.int32], "superchains V"]:
    """Distinct structures drawn from p0 without replacement; ``stream`` sets spaces of one seed apart.

    A space with fewer structures than superchains gives each of them once, and then again from the first.
    """
    generator = np.random.default_rng([seed, superchains, stream])
    sizes = [int(size) for size in tables.sizes]
    states = math.prod(sizes)
    if states <= max(ENUMERABLE, 2 * superchains):
        table = np.asarray(tables.log_prior)
        log_prior = np.zeros(1, table.dtype)
        for v, size in enumerate(sizes):  # of every structure, last variable fastest
            log_prior = (log_prior[:, None] + table[v, :size]).ravel()
        prior = np.exp(log_prior)
        chosen = generator.choice(states, size=min(superchains, states), replace=False, p=prior / prior.sum())
        positions = np.stack(unravel(sizes, chosen), axis=-1).astype(np.int32)
        return np.resize(positions, (superchains, len(sizes)))
    kept: dict[tuple[int, ...], None] = {}
    while len(kept) < superchains:
        kept.update((tuple(row), None) for row in draw_prior(tables, superchains, generator).tolist())
    return np.array([*kept][:superchains], np.int32)


def unravel(sizes: list[int], index: Int[NDArray[np.int64], ...]) -> list[Int[NDArray[np.int64], ...]]:
    """Option of each variable from the number of a structure, last variable fastest, for any number of
    variables.
    """
    columns = []
    for size in reversed(sizes):
        index, column = np.divmod(index, size)
        columns.append(column)
    return columns[::-1]
