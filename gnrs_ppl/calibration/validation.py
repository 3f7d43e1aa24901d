"""Leave one dev goal out: does the fit rank the references of a goal it has not seen better than weights
nobody fitted?
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from gnrs_ppl.calibration.objective import Problem, cross_entropies, minimise, problem_of
from gnrs_ppl.calibration.problem import GoalData
from gnrs_ppl.calibration.weights import DEFAULT_WEIGHTS, UNIFORM_WEIGHTS

Floats = NDArray[np.float64]
KAPPAS = (0.001, 0.01, 0.1, 1.0, 10.0)
"""Strengths of the prior that are tried."""
SHUFFLES = 5
TIE = 1e-9
RESAMPLES = 10_000
SCALE_KAPPA = 1e-6
"""Of the temperature that is fitted to given weights: next to none."""


class Held(NamedTuple):
    """How some weights do on the goals they were not fitted to.

    Attributes
    ----------
    log_score : (G,) float64
        Mean log p of each goal's references under the exact distribution on its feasible set.
    rank : (G,) float64
        Rank of the best reference among the feasible structures by beta . phi, ties broken at random
        (expected rank).
    """

    log_score: Float[Floats, " G"]
    rank: Float[Floats, " G"]

    def summary(self, base: Held, seed: int = 0) -> dict[str, float | list[float]]:
        """Means, and the 95 % bootstrap interval over goals of the log score less that of ``base``."""
        off = self.log_score - base.log_score
        drawn = np.random.default_rng(seed).integers(0, len(off), (RESAMPLES, len(off)))
        low, high = np.quantile(off[drawn].mean(1), [0.025, 0.975])
        return {
            "log_score": float(self.log_score.mean()),
            "mean_rank": float(self.rank.mean()),
            "median_rank": float(np.median(self.rank)),
            "interval": [float(low), float(high)],
        }


def leave_one_out(data: Sequence[GoalData], kappa: float, seed: int = 0) -> dict[str, Held]:
    """Held-out scores of weights that are fitted, uniform, default, and fitted to shuffled references; each
    with a fitted temperature.
    """
    problem = problem_of(data)
    found = {
        "fitted": left_out_scores(data, problem, problem, kappa),
        "uniform": _given(data, problem, UNIFORM_WEIGHTS.array()),
        "default": _given(data, problem, DEFAULT_WEIGHTS.array()),
    }
    generator = np.random.default_rng(seed)
    each = [
        left_out_scores(data, problem, problem_of(data, [_shuffled(d, generator) for d in data]), kappa)
        for _ in range(SHUFFLES)
    ]
    found["shuffled"] = Held(
        np.mean([e.log_score for e in each], axis=0), np.mean([e.rank for e in each], axis=0)
    )
    return found


def chosen_kappa(data: Sequence[GoalData]) -> tuple[float, dict[float, float]]:
    """The strength of the prior, and the mean held-out log score of each that was tried.

    The strongest whose score is within one standard error (of the paired difference over goals) of the best:
    sixteen goals do not tell weaker ones apart, and these leave the posterior without a hold.
    """
    problem = problem_of(data)
    each = {kappa: left_out_scores(data, problem, problem, kappa).log_score for kappa in KAPPAS}
    scores = {kappa: float(found.mean()) for kappa, found in each.items()}
    best = each[max(scores, key=scores.__getitem__)]
    near = [
        k
        for k, found in each.items()
        if (best - found).mean() <= (best - found).std(ddof=1) / np.sqrt(len(data))
    ]
    return max(near), scores


def left_out_scores(data: Sequence[GoalData], truth: Problem, fitted_to: Problem, kappa: float) -> Held:
    """Fit to all goals but one, score that one; for each goal."""
    betas, start = [], None
    for left_out in range(len(data)):
        share = np.ones(len(data))
        share[left_out] = 0.0
        found = minimise(fitted_to, share, kappa, start=start)
        start = found.beta
        betas.append(found.beta)
    return _scored(data, truth, betas)


def _given(data: Sequence[GoalData], problem: Problem, weights: Floats) -> Held:
    """Weights as they stand; the other goals fit their temperature."""
    along = problem._replace(features=np.asarray(problem.features) @ weights[:, None])
    betas = [scale[0] * weights for scale in fitted_to_others(along, len(data), SCALE_KAPPA)]
    return _scored(data, problem, betas)


def fitted_to_others(problem: Problem, goals: int, kappa: float) -> Iterator[Floats]:
    """Beta of each of the problem's goals, fitted to the others from the prior's centre."""
    for left_out in range(goals):
        share = np.ones(goals)
        share[left_out] = 0.0
        yield minimise(problem, share, kappa).beta


def _scored(data: Sequence[GoalData], problem: Problem, betas: Sequence[Floats]) -> Held:
    """One beta per goal, the one it was left out of."""
    with jax.enable_x64(True):
        arguments = jax.tree.map(jnp.asarray, problem)
        score = [
            -float(cross_entropies(jnp.asarray(beta), arguments, len(data))[g])
            for g, beta in enumerate(betas)
        ]
    return Held(
        np.array(score), np.array([rank_of_best(d, beta) for d, beta in zip(data, betas, strict=True)])
    )


def rank_of_best(data: GoalData, beta: Floats) -> float:
    """Expected rank of the best reference: among t structures of one score, k of them references, the first
    comes at (t + 1) / (k + 1).
    """
    score = data.features @ beta
    greatest = score[data.cell == 0].max()
    tied = np.abs(score - greatest) <= TIE
    above = int(data.structures[(score > greatest) & ~tied].sum())
    of_references = int(data.structures[tied & (data.cell == 0)].sum())
    return above + (int(data.structures[tied].sum()) + 1) / (of_references + 1)


def _shuffled(data: GoalData, generator: np.random.Generator) -> Floats:
    """A reference set of the same size, of feasible structures taken at random."""
    drawn = generator.multivariate_hypergeometric(data.structures, data.references, method="marginals")
    return np.asarray(drawn / drawn.sum(), np.float64)
