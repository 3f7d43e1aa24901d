"""Intervals of means over goals and over families, paired differences (paper, Additional Result Details:
resampled goals), and agreement between people, and of people with a judge (paper, Table human-agreement).
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Kind = Literal["pearson", "spearman", "kendall"]
DRAWS = 9_999
"""Bootstrap samples."""
LEVEL = 0.95


class ConfidenceInterval(NamedTuple):
    """Ends of a 95 % interval."""

    low: float
    high: float


class MeanEstimate(NamedTuple):
    """A mean over goals with its intervals.

    Attributes
    ----------
    mean : float
    percentile : ConfidenceInterval
        Goals resampled, quantiles of the means: what the paper does.
    bca : ConfidenceInterval or None
        The same samples, corrected for bias and skewness; None where the correction is not defined (all
        samples on one side).
    families : ConfidenceInterval or None
        Scene families resampled whole, quantiles; goals of a family share a log, so this is the honest one
        where there are enough. None where there is one family, which says nothing of others.
    goals : int
    """

    mean: float
    percentile: ConfidenceInterval
    bca: ConfidenceInterval | None
    families: ConfidenceInterval | None
    goals: int


def estimate(values: Sequence[float], families: Sequence[str], seed: int = 0) -> MeanEstimate:
    """Mean of one value per goal with its three intervals.

    Parameters
    ----------
    values, families : sequences of equal length, at least 1
        Value and family of each goal.
    seed : int
    """
    each = np.asarray(values, np.float64)
    sums, sizes = _grouped(each, families)
    return MeanEstimate(
        float(each.mean()),
        percentile(each, seed),
        bca(each, seed),
        _resampled((sums, sizes), "percentile", seed) if len(sums) > 1 else None,
        len(each),
    )


def percentile(values: Float[Floats, " n"], seed: int = 0) -> ConfidenceInterval:
    """Percentile bootstrap of a mean."""
    return _resampled((values, np.ones_like(values)), "percentile", seed) or _point(values)


def bca(values: Float[Floats, " n"], seed: int = 0) -> ConfidenceInterval | None:
    """Bias-corrected and accelerated bootstrap of a mean (Efron 1987, as in SciPy); None where it is not
    defined.
    """
    return _resampled((values, np.ones_like(values)), "BCa", seed)


def paired(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    """Second less first on every goal that both have, in the order of the first."""
    return {goal: second[goal] - value for goal, value in first.items() if goal in second}


def _grouped(values: Floats, families: Sequence[str]) -> tuple[Floats, Floats]:
    names = list(dict.fromkeys(families))
    which = np.array([names.index(family) for family in families])
    return np.bincount(which, values).astype(np.float64), np.bincount(which).astype(np.float64)


def _resampled(groups: tuple[Floats, Floats], method: Any, seed: int) -> ConfidenceInterval | None:
    """Interval of sum(sums) / sum(sizes) with the groups resampled; SciPy refuses or warns where all groups
    have one mean.
    """
    from scipy.stats import bootstrap

    sums, sizes = groups
    means = sums / sizes
    if len(sums) < 2 or np.allclose(means, means[0], rtol=0, atol=1e-12):
        return ConfidenceInterval(float(means[0]), float(means[0])) if len(sums) else None

    def mean(numerator: Floats, denominator: Floats, axis: int = -1) -> Any:
        return numerator.sum(axis) / denominator.sum(axis)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = bootstrap(
            groups,
            mean,
            paired=True,
            n_resamples=DRAWS,
            confidence_level=LEVEL,
            method=method,
            rng=np.random.default_rng(seed),
        ).confidence_interval
    low, high = float(found.low), float(found.high)
    return ConfidenceInterval(low, high) if math.isfinite(low) and math.isfinite(high) else None


def _point(values: Floats) -> ConfidenceInterval:
    return ConfidenceInterval(float(values.mean()), float(values.mean()))


# Agreement


def correlation(kind: Kind, first: Sequence[float], second: Sequence[float]) -> float | None:
    """Pearson's r, Spearman's rho with mean ranks, or Kendall's tau-b.

    Parameters
    ----------
    kind : {"pearson", "spearman", "kendall"}
    first, second : sequences of equal length

    Returns
    -------
    float or None
        None where it is not defined: fewer than two pairs, or one side without variation.
    """
    from scipy import stats

    if len(first) < 2 or len(set(first)) < 2 or len(set(second)) < 2:
        return None
    of: Any = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}[kind]
    value = float(of(first, second).statistic)
    return value if math.isfinite(value) else None


def pairwise_spearman(people: Sequence[Sequence[float]]) -> float | None:
    """Mean of Spearman's rho over the pairs of people; None where no pair has one."""
    found = [correlation("spearman", a, b) for a, b in itertools.combinations(people, 2)]
    known = [value for value in found if value is not None]
    return sum(known) / len(known) if known else None


def within_one(people: Sequence[Sequence[int]]) -> float | None:
    """Percent of labels that two people give no more than a point apart, over all pairs of people; None
    without two people.
    """
    pairs = [abs(x - y) <= 1 for a, b in itertools.combinations(people, 2) for x, y in zip(a, b, strict=True)]
    return 100 * sum(pairs) / len(pairs) if pairs else None


def kappa(first: Sequence[bool], second: Sequence[bool]) -> float | None:
    """Cohen's kappa of two yes-or-no labels; None where chance alone makes them agree."""
    n = len(first)
    if not n:
        return None
    agree = sum(a == b for a, b in zip(first, second, strict=True)) / n
    p, q = sum(first) / n, sum(second) / n
    chance = p * q + (1 - p) * (1 - q)
    return None if chance == 1 else (agree - chance) / (1 - chance)
