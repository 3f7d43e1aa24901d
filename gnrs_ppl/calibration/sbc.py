"""Simulation-based calibration of the posterior over weights (Talts et al. 2018): ``python -m
gnrs_ppl.calibration.sbc``.

Draw weights from the prior and cells from the weights, sample the posterior, and rank the weights among its
draws: the ranks are uniform when model and sampler fit each other.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from jaxtyping import Int
from numpy.typing import NDArray
from scipy import stats

from gnrs_ppl.calibration.posterior import observed, sample_posterior, simulate
from gnrs_ppl.calibration.problem import GoalData, dev_data
from gnrs_ppl.models.features import FEATURES


def ranks(
    data: Sequence[GoalData],
    rounds: int,
    *,
    kappa: float = 1.0,
    warmup: int = 200,
    draws: int = 127,
    thin: int = 2,
    seed: int = 0,
) -> Int[NDArray[np.int64], "rounds F"]:
    """Rank of each true beta among ``draws`` thinned posterior draws of one chain: 0 to ``draws``, uniform
    if all is right.
    """
    generator, found = np.random.default_rng(seed), []
    names = [str(f) for f in range(data[0].features.shape[1])]
    for round_ in range(rounds):
        beta, cells = simulate(data, kappa, generator)
        fit = sample_posterior(
            observed(data, cells),
            kappa,
            names,
            warmup=warmup,
            draws=draws * thin,
            chains=1,
            seed=seed + round_,
        )
        found.append((fit.beta[::thin] < beta).sum(0))
    return np.array(found)


def uniformity(found: Int[NDArray[np.int64], "rounds F"], draws: int, bins: int = 8) -> NDArray[np.float64]:
    """Chi-square p-value of each feature's ranks in some bins."""
    return np.array(
        [stats.chisquare(np.histogram(column, bins, (0, draws + 1))[0]).pvalue for column in found.T]
    )


def main() -> None:
    """The full run, on the dev goals."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    p = uniformity(ranks(dev_data(), rounds), 127)
    for name, value in zip(FEATURES, p, strict=True):
        print(f"{name}: p = {value:.3f}")
    print(f"{rounds} rounds; least of {len(p)} p-values {p.min():.3f}")


if __name__ == "__main__":
    main()
