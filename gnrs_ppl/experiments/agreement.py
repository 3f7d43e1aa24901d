"""Agreement between people, and of people with a judge (paper, Table human-agreement)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, Literal

Kind = Literal["pearson", "spearman", "kendall"]


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
