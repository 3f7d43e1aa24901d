"""Random ragged tables for rule spaces, and the definitions of score and p0 by plain loops over them."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

Position = tuple[int, ...]
FEATURES = 3


def ragged(seed: int, *, variables: int = 4, largest: int = 4) -> dict[str, Any]:
    """Arguments of ``build_space``: 1 to ``largest`` candidates and 1 to 3 parameter tuples each, so some
    variables have one option."""
    rng = np.random.default_rng(seed)
    candidates = [
        [
            c
            for c in range(rng.integers(1, largest + 1))
            for _ in range(1 if v % 2 else int(rng.integers(1, 4)))
        ]
        for v in range(variables)
    ]
    sizes = [len(owners) for owners in candidates]
    pairs = [pair for pair in itertools.combinations(range(variables), 2) if rng.random() < 0.7]
    terms = variables + len(pairs)
    trigger, evidence = 0, variables - 1
    return {
        "candidates": candidates,
        "unary": [rng.random((n, FEATURES)) ** 3 / terms for n in sizes],
        "pairwise": {(i, j): rng.random((sizes[i], sizes[j], FEATURES)) ** 3 / terms for i, j in pairs},
        "unary_flags": {v: rng.random(sizes[v]) < 0.1 for v in range(0, variables, 2)},
        "pair_flags": {(i, j): rng.random((sizes[i], sizes[j])) < 0.15 for i, j in pairs[::2]},
        "swaps": {evidence: [int(g) for g in rng.integers(0, 2, sizes[evidence])]},
        "joints": {
            (trigger, evidence): rng.dirichlet(np.ones(sizes[evidence]), sizes[trigger]) * 0.9
            + 0.1 / sizes[evidence]
        },
    }


def weights(seed: int) -> np.ndarray:
    """A point of the simplex."""
    return np.random.default_rng(seed).dirichlet(np.ones(FEATURES))


PADDING = {"pad_options": 12, "pad_pairs": 6}
"""Room for every space above, so that one compiled function serves them all."""


def some_positions(tables: dict[str, Any], count: int = 60) -> np.ndarray:
    """``count`` structures spread over the space, again from the first where it has fewer."""
    every = np.array(positions(tables), np.int32)
    return np.resize(every[:: max(1, len(every) // count)], (count, every.shape[1]))


def positions(tables: dict[str, Any]) -> list[Position]:
    """Every structure, the last variable fastest."""
    return list(itertools.product(*(range(len(owners)) for owners in tables["candidates"])))


def phi(tables: dict[str, Any], a: Position) -> np.ndarray:
    alone = sum(table[a[v]] for v, table in enumerate(tables["unary"]))
    return alone + sum(table[a[i], a[j]] for (i, j), table in tables["pairwise"].items())


def raised(tables: dict[str, Any], a: Position) -> list[tuple[int, ...]]:
    """Variables of every hard flag that is up."""
    alone = [(v,) for v, flags in tables["unary_flags"].items() if flags[a[v]]]
    return alone + [pair for pair, flags in tables["pair_flags"].items() if flags[a[pair[0]], a[pair[1]]]]


def score(tables: dict[str, Any], w: np.ndarray, penalty: float, a: Position) -> float:
    return float(w @ phi(tables, a)) - penalty * bool(raised(tables, a))


def log_prior(tables: dict[str, Any], a: Position) -> float:
    return -sum(
        math.log(len(set(owners))) + math.log(owners.count(owners[option]))
        for owners, option in zip(tables["candidates"], a, strict=True)
    )
