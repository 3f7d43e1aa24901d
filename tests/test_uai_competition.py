"""An instance of the UAI competitions: its published log Z by an elimination that shares no code with ours,
and what CP-SAT and SMC make of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gnrs_ppl.inference import cpsat, run_chains
from gnrs_ppl.models import log_states
from gnrs_ppl.models.uai import read_uai

GRID = Path(__file__).parent.parent / "examples" / "networks" / "grid10x10.f10.uai"
PUBLISHED = 303.09
"""log10 Z, as examples/networks/README.md says."""

Factor = tuple[tuple[int, ...], NDArray[np.float64]]


def factors() -> list[Factor]:
    """Scopes, the smaller variable first, and logs of the tables; all variables have two options."""
    tokens = iter(GRID.read_text().split()[1:])
    assert {next(tokens) for _ in range(int(next(tokens)))} == {"2"}
    scopes = [tuple(int(next(tokens)) for _ in range(int(next(tokens)))) for _ in range(int(next(tokens)))]
    found = []
    for scope in scopes:
        entries = [float(next(tokens)) for _ in range(int(next(tokens)))]
        found.append((scope, np.log(entries).reshape([2] * len(scope))))
    assert all([*scope] == sorted(scope) for scope in scopes)
    assert next(tokens, None) is None
    return found


def eliminated(
    left: list[Factor], together: Callable[[NDArray[np.float64], int], NDArray[np.float64]]
) -> float:
    """The factors' product with one variable after the other summed, or maximised, out of it."""
    for variable in range(100):
        touching = [scope for scope, _ in left if variable in scope]
        union = sorted({v for scope in touching for v in scope})
        joined = np.zeros([2] * len(union))
        for scope, table in left:
            if variable in scope:
                joined = joined + table.reshape([2 if v in scope else 1 for v in union])
        rest = (tuple(union[1:]), together(joined, 0))
        left = [*(factor for factor in left if variable not in factor[0]), rest]
    return float(sum(table for _, table in left))


def summed(table: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    return np.asarray(np.logaddexp.reduce(table, axis=axis))


def test_the_published_log_z_is_that_of_the_file_and_cpsat_finds_the_most_probable_structure() -> None:
    assert round(eliminated(factors(), summed) / math.log(10), 2) == PUBLISHED
    greatest = eliminated(factors(), np.max)
    solved = cpsat.solve(read_uai(GRID))
    assert solved.score == pytest.approx(greatest, abs=1e-6)
    ours = [table[tuple(solved.position[v] for v in scope)] for scope, table in factors()]
    assert sum(ours) == pytest.approx(greatest, abs=1e-6), "of this structure, in the file's factors"
    assert greatest - 1e-6 <= solved.bound <= greatest + 1e-3


@pytest.mark.slow
def test_smc_meets_log_z_and_the_marginals() -> None:
    tables, log_z = read_uai(GRID), eliminated(factors(), summed)
    run = run_chains(tables, chains=2048, steps=400, temperature=1.0, seed=0, kernel="smc", target_ess=0.95)
    assert run.log_normalizer is not None
    assert run.log_normalizer + log_states(tables) == pytest.approx(log_z, abs=0.5)
    exact = [
        math.exp(eliminated([*factors(), ((v,), np.array([-np.inf, 0]))], summed) - log_z) for v in range(100)
    ]
    assert np.abs((run.positions[:, -1] == 1).mean(0) - exact).max() < 0.15
