"""How chains fare while they run: best score, nested R-hat and marginals after every few steps.

It is made of what a run records anyway, so the draws are the same whether anybody watches or not. What is
said of chains that have run is :mod:`gnrs_ppl.inference.diagnostics`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray

from gnrs_ppl import progress

POINTS = 40
"""Most times that the course of a run is told."""
TOP = 6
"""Options of a slot that are told each time, those drawn most often."""


class Course:
    """What a run of chains on one space has come to.

    Parameters
    ----------
    name : str
        Of the space; a goal's id.
    superchain : int (C,)
        Whose start each chain has.
    steps : int
        Of the whole run.
    """

    def __init__(self, name: str, superchain: Int[NDArray[Any], " C"], steps: int) -> None:
        self.name, self.superchain, self.steps = name, superchain, steps
        self.positions: list[Int[NDArray[Any], "n C V"]] = []
        self.score: list[Float[NDArray[Any], "n C"]] = []

    def add(self, positions: Int[NDArray[Any], "n C V"], score: Float[NDArray[Any], "n C"]) -> None:
        """Take the draws of the next steps and tell of them, :data:`POINTS` times in the whole run."""
        done = sum(map(len, self.score))
        self.positions.append(positions)
        self.score.append(score)
        drawn, scores = np.concatenate(self.positions), np.concatenate(self.score)
        every = max(1, math.ceil(self.steps / POINTS))
        for step in range(done + 1, len(scores) + 1):
            if step % every == 0 or step == self.steps:
                self._tell(drawn[:step], scores[:step])

    def _tell(self, positions: Int[NDArray[Any], "n C V"], score: Float[NDArray[Any], "n C"]) -> None:
        late = slice(len(score) // 2, None)  # the first half still remembers the starts
        r_hat = nested_r_hat(score[late].T, self.superchain)
        progress.tell(
            "chains",
            space=self.name,
            step=len(score),
            steps=self.steps,
            best=float(score.max()),
            r_hat=r_hat if r_hat is not None and math.isfinite(r_hat) else None,
            marginals=[_top(positions[late, :, v]) for v in range(positions.shape[2])],
        )


def _top(drawn: Int[NDArray[Any], "n C"]) -> list[list[float]]:
    """Options by their share of the draws, greatest first: pairs of option and share."""
    counts = np.bincount(drawn.ravel())
    order = np.argsort(-counts, kind="stable")[:TOP]
    return [[int(o), round(float(counts[o] / drawn.size), 4)] for o in order if counts[o]]


def nested_r_hat(values: Float[NDArray[Any], "C n"], superchain: Int[NDArray[Any], " C"]) -> float | None:
    """Nested R-hat of one quantity, sqrt(1 + B / W) (Margossian et al., Bayesian Analysis 2024).

    :func:`gnrs_ppl.inference.diagnostics.diagnose` computes the same of many quantities at once, and of each
    what chains dealt out at random would give; a course has no time for that.

    Parameters
    ----------
    values : float (C, n)
    superchain : int (C,)
        All of one size.

    Returns
    -------
    float or None
        Infinite where chains of a superchain never differ while superchains do; None for fewer than two
        superchains.
    """
    names, sizes = np.unique(superchain, return_counts=True)
    if len(names) < 2 or (sizes != sizes[0]).any():
        return None
    means = values.mean(1, dtype=np.float64)
    groups = np.stack([means[superchain == name] for name in names])
    between = float(groups.mean(1).var(ddof=1))
    within = float(values.var(1, ddof=1, dtype=np.float64).mean()) if values.shape[1] > 1 else 0.0
    within += float(groups.var(1, ddof=1).mean()) if groups.shape[1] > 1 else 0.0
    return math.sqrt(1 + between / within) if within else math.inf if between else 1.0
