"""A draft that does not pretend to know the weights: the posterior of structures averaged over posterior
draws of beta.

p(a | x) = mean over draws of p0(a) exp(beta . phi(a, x) - lambda_beta * 1[not h]) / Z_beta
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gnrs_ppl.inference.exact import enumerate_space, exact_posterior
from gnrs_ppl.inference.result import Ranked
from gnrs_ppl.models.energy import contract
from gnrs_ppl.models.space import RuleSpace


class Averaged(NamedTuple):
    """The most probable feasible structure on average, with its mean score and probability; the share of
    draws that another wins.
    """

    best: Ranked
    changes: float


def average(space: RuleSpace, draws: Sequence[Sequence[float]]) -> Averaged:
    """Enumerate the space once per draw.

    Raises
    ------
    InputError
        When the space is too large to enumerate.
    """
    mean, winners, mean_score = None, [], None
    for beta in np.asarray(draws, np.float64):
        found = enumerate_space(contract(space, beta / beta.sum()))
        probability = exact_posterior(found, 1 / float(beta.sum())).probability
        feasible = np.where(found.feasible, probability, 0.0)
        winners.append(int(feasible.argmax()))
        mean = feasible if mean is None else mean + feasible
        mean_score = found.score if mean_score is None else mean_score + found.score
    assert mean is not None
    assert mean_score is not None
    best = int(mean.argmax())
    score, share = float(mean_score[best]) / len(winners), float(mean[best]) / len(winners)
    return Averaged(
        Ranked(found.position(best), score, bool(found.feasible[best]), share),
        float(np.mean(np.array(winners) != best)),
    )
