"""How far s_search is from audit F1 on dev, and what Proposition 1 of the paper then guarantees.

    regret(x) = max_a G(a; x) - G(a_hat; x),    epsilon_C = max over x, a of |m(s_search(a; x)) - G(a; x)|
    Proposition 1:  F >= max_a G - epsilon_S - 2 epsilon_C - epsilon_R

G is audit F1 against the record. m is the monotone map of s_search to G that least squares give (isotonic
regression over the dev goals, piecewise linear between its knots); a monotone map changes no ranking. Weights
and map are those of the other goals (leave one out), so that nothing is measured on what it was fitted to.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FILE = Path(__file__).with_suffix(".json")


class ScoredRules(NamedTuple):
    """Rules of one goal: s_search and G of each, the one the search chose first."""

    goal: str
    score: Float[Floats, " n"]
    worth: Float[Floats, " n"]

    @property
    def regret(self) -> float:
        """Greatest G of the rules less that of the chosen one."""
        return float(self.worth.max() - self.worth[0])


class Map(NamedTuple):
    """A monotone map of s_search to G: straight between knots, flat beyond them."""

    score: tuple[float, ...]
    worth: tuple[float, ...]

    def __call__(self, score: float | Floats) -> Floats:
        """Audit F1 that some scores stand for."""
        return np.asarray(np.interp(score, self.score, self.worth))


class CalibrationError(NamedTuple):
    """What was measured on dev.

    Attributes
    ----------
    regrets : {goal: float}
    error : float
        epsilon_C, in units of audit F1.
    rules : int
        How many rules were scored.
    map : Map
        m over all dev goals, for goals that are not among them.
    """

    regrets: dict[str, float]
    error: float
    rules: int
    map: Map

    @property
    def mean_regret(self) -> float:
        """Over the dev goals."""
        return float(np.mean([*self.regrets.values()]))


def fit_map(scored: Sequence[ScoredRules]) -> Map:
    """The isotonic least-squares map of the rules of some goals, each goal weighing the same."""
    from scipy.optimize import isotonic_regression  # half a second that a certificate need not wait for

    score = np.concatenate([s.score for s in scored])
    order = np.argsort(score, kind="stable")
    weights = np.concatenate([np.full(len(s.score), 1 / len(s.score)) for s in scored])
    fitted = isotonic_regression(np.concatenate([s.worth for s in scored])[order], weights=weights[order]).x
    steps, first = np.unique(score[order], return_index=True)
    return Map(tuple(steps.tolist()), tuple(np.maximum.reduceat(fitted, first).tolist()))


def measure(scored: Sequence[ScoredRules]) -> CalibrationError:
    """Regret of every goal, and epsilon_C with the map of the other goals."""
    errors = []
    for left_out, goal in enumerate(scored):
        others = [s for g, s in enumerate(scored) if g != left_out]
        errors.append(float(np.abs(fit_map(others)(goal.score) - goal.worth).max()))
    regrets = {s.goal: s.regret for s in scored}
    return CalibrationError(regrets, max(errors), sum(len(s.score) for s in scored), fit_map(scored))


def bound(greatest: float, epsilon_search: float, error: float, epsilon_realization: float) -> float:
    """Proposition 1: no faithful realization of the chosen structure is worth less."""
    return greatest - epsilon_search - 2 * error - epsilon_realization


@cache
def measured() -> CalibrationError | None:
    """The frozen measurement; None before there is one."""
    if not FILE.exists():
        return None
    data = json.loads(FILE.read_text(encoding="utf-8"))
    return CalibrationError(
        data["regrets"],
        data["error"],
        data["rules"],
        Map(*(tuple(data["map"][k]) for k in ("score", "worth"))),
    )


def as_json(calibration: CalibrationError, provenance: dict[str, object]) -> str:
    """Text of the data file."""
    data = {
        **calibration._asdict(),
        "map": calibration.map._asdict(),
        "mean_regret": calibration.mean_regret,
        "provenance": provenance,
    }
    return json.dumps(data, indent=2) + "\n"
