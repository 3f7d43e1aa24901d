"""The gradient of the cross-entropy where no sweep goes: its model term from chains (only large spaces need
it).

dL/dbeta = E_beta[phi] - mean over R of phi,   E_beta[phi] over the feasible set at temperature 1 / sum(beta)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference.chains import run_chains
from gnrs_ppl.models.energy import contract
from gnrs_ppl.models.space import RuleSpace

Floats = NDArray[np.float64]


class Expectation(NamedTuple):
    """E_beta[phi] as chains have it: mean (F,), its standard error between superchains (F,), and the share
    of infeasible draws.
    """

    mean: Float[Floats, " F"]
    error: Float[Floats, " F"]
    infeasible: float


def chain_expectation(
    space: RuleSpace, beta: Floats, *, chains: int = 1024, steps: int = 400, seed: int = 0
) -> Expectation:
    """Mean features under p_beta on the feasible set, from the second half of independent chains; infeasible
    draws are left out.

    Parameters
    ----------
    space : RuleSpace
    beta : (F,) float
        Not all zero.
    chains, steps, seed
        As for :func:`~gnrs_ppl.inference.run_chains`; every chain has a start of its own.

    Raises
    ------
    InputError
        When no draw is feasible, and as ``run_chains``.
    """
    total = float(beta.sum())
    tables = contract(space, beta / total)
    drawn = run_chains(
        tables, chains=chains, steps=steps, temperature=1 / total, seed=seed, superchains=chains
    )
    half = steps // 2
    positions, feasible = drawn.positions[:, half:], drawn.feasible[:, half:]
    if not feasible.any():
        raise InputError(
            "no draw is feasible", "run more or longer chains", source="arguments", field="chains"
        )
    features = _features(space, positions) * feasible[..., None]
    mean = features.sum((0, 1)) / feasible.sum()
    # of a ratio: each chain's sum less what the mean says it should be
    residual = features.sum(1) - mean * feasible.sum(1)[:, None]
    error = np.sqrt((residual**2).sum(0)) / feasible.sum()
    return Expectation(mean, error, float(1 - feasible.mean()))


def _features(space: RuleSpace, positions: NDArray[np.int32]) -> Float[Floats, "C n F"]:
    """Features of many structures, added up in float64."""
    found = np.zeros((*positions.shape[:-1], space.unary.shape[-1]))
    for v in range(positions.shape[-1]):
        found += np.asarray(space.unary)[v][positions[..., v]]
    for p, (left, right) in enumerate(np.asarray(space.pairs).tolist()):
        found += np.asarray(space.pairwise)[p][positions[..., left], positions[..., right]]
    return found
