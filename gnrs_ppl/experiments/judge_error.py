"""How far s_search is from a judge's marks, and what Proposition 1 then guarantees: ε_C of a judge, where
:mod:`gnrs_ppl.experiments.calibration_error` has that of audit F1.

G is Avg of rubric v1 as a share. Rules are those of judged rows that have a structure of their own which
passes h: of main, ablations and slots, each text once. What stands in the place of s_search is mapped to G by
the monotone map that the other goals give, so that nothing is measured on what it was fitted to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from gnrs_ppl.calibration.weights import frozen_weights
from gnrs_ppl.errors import InputError
from gnrs_ppl.evaluate.calibration_error import Map, ScoredRules, bound, fit_map
from gnrs_ppl.experiments.bench import GoalBench
from gnrs_ppl.experiments.judging import of_main, text_id
from gnrs_ppl.experiments.methods import OURS
from gnrs_ppl.experiments.rows import Row
from gnrs_ppl.experiments.runner import Experiment, Report, Run
from gnrs_ppl.experiments.tables import ColumnGroup, ResultTable, part, specified
from gnrs_ppl.models.features import FEATURES, feature_vector
from gnrs_ppl.rule.canonical import canonical
from gnrs_ppl.rule.types import Structure

Floats = NDArray[np.float64]


class Marked(NamedTuple):
    """Marked rules of one goal, the one that GNRS-Search drafted first.

    Attributes
    ----------
    goal : str
    phi : (n, F) float64
    worth : (n,) float64
        Avg as a share.
    epsilon : float
        What the search left to the greatest s_search.
    """

    goal: str
    phi: Floats
    worth: Floats
    epsilon: float


def frozen(others: Sequence[Marked]) -> Floats:
    """The frozen weights, whatever the marks say."""
    return frozen_weights().array()


def of_marks(others: Sequence[Marked]) -> Floats:
    """The non-negative weights of least squares between features and the marks of some goals."""
    phi, worth = (
        np.concatenate(each) for each in zip(*((one.phi, one.worth) for one in others), strict=True)
    )
    return np.asarray(nnls(phi, worth)[0], np.float64)


SCORES: dict[str, Callable[[Sequence[Marked]], Floats]] = {
    "s_search, frozen weights": frozen,
    "φ, weights fitted to the marks of the other goals": of_marks,
}


class Bounded(NamedTuple):
    """One goal under one score.

    Attributes
    ----------
    goal : Marked
    error : float
        Greatest distance of the mapped score from G.
    left : float
        What the search left, mapped.
    """

    goal: Marked
    error: float
    left: float

    @property
    def regret(self) -> float:
        """Greatest G less that of the drafted rule."""
        return float(self.goal.worth.max() - self.goal.worth[0])


def bounded(goals: Sequence[Marked], weights: Callable[[Sequence[Marked]], Floats]) -> list[Bounded]:
    """Every goal, with weights and map of the others."""
    found = []
    for goal in goals:
        others = [one for one in goals if one is not goal]
        w = weights(others)
        mapped: Map = fit_map([ScoredRules(one.goal, one.phi @ w, one.worth) for one in others])
        score = goal.phi @ w
        left = float(mapped(score[0] + goal.epsilon) - mapped(score[0]))
        found.append(Bounded(goal, float(np.abs(mapped(score) - goal.worth).max()), left))
    return found


def marked(rows: Sequence[Row], seed: int) -> list[Marked]:
    """Marked rules by goal; a goal without a marked rule of GNRS-Search has no chosen one and is left out."""
    found = []
    for goal in sorted({row["goal"] for row in rows}):
        own = [row for row in rows if row["goal"] == goal and row.get("feasible") and row["avg"] is not None]
        drafted = [row for row in own if row["method"] == OURS and row["seed"] == seed]
        if drafted:
            facts = GoalBench(goal).facts
            each: dict[str, Row] = {}
            for row in (drafted[0], *own):
                each.setdefault(text_id(row), row)
            rules = [canonical(Structure.model_validate(row["structure"])) for row in each.values()]
            phi = [[feature_vector(rule, facts)[name] for name in FEATURES] for rule in rules]
            worth = [row["avg"] / 100 for row in each.values()]
            found.append(Marked(goal, np.array(phi), np.array(worth), drafted[0]["epsilon"] or 0.0))
    return found


def report(run: Run) -> Report:
    """ε_C by score, and Proposition 1 goal by goal.

    Raises
    ------
    InputError
        Fewer than two goals have marked rules.
    """
    goals = marked([*of_main(run), *run.judged("slots")], run.request.seeds[0])
    if len(goals) < 2:
        raise InputError(
            f"{len(goals)} goals have marked rules of {OURS}; at least 2 are needed",
            "run gnrs experiment main --llm on more goals",
            source=str(run.out),
        )
    found = {name: bounded(goals, weights) for name, weights in SCORES.items()}
    return Report([errors(found), by_goal(found["s_search, frozen weights"])])


def errors(found: dict[str, list[Bounded]]) -> ResultTable:
    """ε_C, and what the proposition takes off."""
    parts: list[ColumnGroup[str]] = [
        part("score", None, str),
        part("goals", 0, lambda name: len(found[name])),
        part("rules", 0, lambda name: sum(len(one.goal.worth) for one in found[name])),
        part("ε_C", 3, lambda name: error_of(found[name])),
        part("2 ε_C", 3, lambda name: 2 * error_of(found[name])),
        part("vacuous", None, lambda name: 2 * error_of(found[name]) >= 1),
        part("mean regret", 3, lambda name: float(np.mean([one.regret for one in found[name]]))),
    ]
    says = (
        "G is Avg of rubric v1 as a share, marks of 1 to 5 being 0.2 to 1. ε_C is the greatest distance of "
        "the mapped score from G over all judged rules, map and fitted weights those of the other goals; "
        "regret is that of the rule GNRS-Search drafted, against the best judged one."
    )
    return specified("judge_error", "ε_C of the judge", says, found, parts)


def error_of(found: Sequence[Bounded]) -> float:
    """ε_C over goals."""
    return max(one.error for one in found)


def by_goal(found: Sequence[Bounded]) -> ResultTable:
    """Proposition 1 on every goal."""
    error = error_of(found)

    def guaranteed(one: Bounded) -> float:
        return bound(float(one.goal.worth.max()), one.left, error, 0.0)

    parts: list[ColumnGroup[Bounded]] = [
        part("goal", None, lambda one: one.goal.goal),
        part("rules", 0, lambda one: len(one.goal.worth)),
        part("greatest G", 3, lambda one: float(one.goal.worth.max())),
        part("G of the drafted rule", 3, lambda one: float(one.goal.worth[0])),
        part("regret", 3, lambda one: one.regret),
        part("ε_S, mapped", 4, lambda one: one.left),
        part("ε_C here", 3, lambda one: one.error),
        part("Proposition 1: at least", 3, guaranteed),
        part("holds", None, lambda one: float(one.goal.worth[0]) >= guaranteed(one) - 1e-9),
    ]
    says = (
        "F ≥ max G − ε_S − 2 ε_C − ε_R with the frozen weights, the ε_C of all goals and the greatest G of "
        "the judged rules; ε_R is taken as 0, since the guard reads the whole structure from a polished "
        "text. Over judged rules it has to hold; what it is worth shows in regret against 2 ε_C."
    )
    return specified("proposition", "Proposition 1 by goal", says, found, parts)


WITH_MODEL = Experiment(
    "judge_error", "How far is the score from the judge, and what does Proposition 1 then say?", report
)
