"""Score by execution: run a rule on held-out logs and compare its verdicts, case by case, with the held-out
labels.

The unit is the case. A case in the grey band of its goal is not scored. *Against the record* the labels are
the verdicts the records entitle an auditor to; *against the truth* they are what really was, which no auditor
can reach wholly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.result import roll_up
from gnrs_ppl.audit.run import evaluate
from gnrs_ppl.audit.types import Verdict
from gnrs_ppl.benchmarks.gnrs_bench import benchmark_goal, load
from gnrs_ppl.context.log import EventLog
from gnrs_ppl.context.types import Goal
from gnrs_ppl.errors import GnrsError
from gnrs_ppl.evaluate.held_out.labels import HeldOut, Labels, held_out
from gnrs_ppl.rule.types import (
    COUNTING,
    DRAFTED,
    NEGATIVE,
    Act,
    Constraint,
    EvidencePolicy,
    Norm,
    Procedure,
    Step,
    Structure,
    Trigger,
)

SCORED: tuple[Verdict, ...] = ("satisfied", "violated", "indeterminate", "pending", "excused")
"""The five verdicts of the macro mean; a case where the norm never applied is nobody's hit, and a miss where
a label says otherwise."""

Predicted = Mapping[str, Verdict]


class F1(NamedTuple):
    """Macro F1 over the verdicts that occur in labels or predictions, F1 of *violated* alone, and the number
    of scored cases.

    ``violation`` is None where neither labels nor predictions hold a violation.
    """

    macro: float
    violation: float | None
    cases: int


class AuditScore(NamedTuple):
    """Scores of one rule on one goal: against what the record entitles one to say, and against what really
    was.
    """

    record: F1
    truth: F1
    refused: str = ""


def f1(pairs: Iterable[tuple[Predicted, Labels]]) -> F1:
    """Scores over several logs; a case without a prediction counts as predicted *not activated*.

    Parameters
    ----------
    pairs : iterable of (predicted, labels)
        Case id -> verdict of each log; None among the labels is not scored.
    """
    hits, predicted_as, labelled_as = Counter[Verdict](), Counter[Verdict](), Counter[Verdict]()
    cases = 0
    for predicted, labels in pairs:
        for case, label in labels.items():
            if label is None:
                continue
            verdict = predicted.get(case, "not_activated")
            cases += 1
            predicted_as[verdict] += 1
            labelled_as[label] += 1
            hits[label] += verdict == label
    scores = {v: 2 * hits[v] / total for v in SCORED if (total := predicted_as[v] + labelled_as[v])}
    return F1(float(np.mean(list(scores.values()))) if scores else 0.0, scores.get("violated"), cases)


class Executed(NamedTuple):
    """A rule run on a goal's held-out logs: the verdict of every scored case, log by log, and the scores."""

    predictions: tuple[dict[str, Verdict], ...]
    score: AuditScore

    @property
    def activated(self) -> float:
        """Share of the scored cases in which the norm applied."""
        return _share(verdict != "not_activated" for verdict in self._all())

    def changed(self, other: Executed, only_active: bool = False) -> float | None:
        """Share of cases whose verdict is another; ``only_active``: of those in which both rules apply. None
        where there are none.
        """
        pairs = zip(self._all(), other._all(), strict=True)
        kept = [a != b for a, b in pairs if not only_active or "not_activated" not in (a, b)]
        return _share(kept) if kept else None

    def _all(self) -> list[Verdict]:
        return [verdict for prediction in self.predictions for verdict in prediction.values()]


def execute(structure: Structure | None, goal_id: str, *, revealed: bool = False) -> Executed:
    """Run a rule on a goal's held-out logs; one that is refused, that contradicts itself, or that is none
    recalls nothing there.

    Raises
    ------
    InputError
        A test or OOD goal without ``revealed``.
    """
    worlds = held_out(goal_id, revealed=revealed)
    predictions: list[dict[str, Verdict]] = []
    refused = "" if structure is not None else "no whole structure was read"
    for world in worlds:
        predicted: dict[str, Verdict] = {}
        if structure is not None:
            try:
                predicted = verdicts(structure, world.log)
            except GnrsError as error:
                refused = str(error)
        predictions.append(predicted)
    scored = [
        {
            case: predicted.get(case, "not_activated")
            for case, label in world.entitled.items()
            if label is not None
        }
        for world, predicted in zip(worlds, predictions, strict=True)
    ]
    return Executed(tuple(scored), _scores(worlds, predictions, refused))


def audit_score(structure: Structure | None, goal_id: str, *, revealed: bool = False) -> AuditScore:
    """Audit F1 of a rule on a goal's held-out logs, as :func:`execute` has it.

    Raises
    ------
    InputError
        A test or OOD goal without ``revealed``.
    """
    return execute(structure, goal_id, revealed=revealed).score


def verdicts(structure: Structure, log: EventLog) -> dict[str, Verdict]:
    """Case id -> verdict of a rule on a log.

    Raises
    ------
    Refused
        The rule cannot be checked on it.
    """
    return {case.case_id: case.verdict for case in roll_up(tuple(evaluate(structure, log.records, log)), log)}


def floors(goal_id: str, *, revealed: bool = False) -> dict[str, AuditScore]:
    """What needs no rule: everything violated, nothing violated, the required actions exist in the case, a
    random checkable rule.
    """
    worlds = held_out(goal_id, revealed=revealed)
    goal = benchmark_goal(goal_id).goal
    random = [audit_score(rule, goal_id, revealed=revealed) for rule in random_structures(goal_id, 4)]

    def every(verdict: Verdict) -> AuditScore:
        return _scores(worlds, [dict.fromkeys(world.entitled, verdict) for world in worlds])

    return {
        "all violated": every("violated"),
        "none violated": every("satisfied"),
        "required acts exist": _scores(worlds, [_acts_exist(goal, world.log) for world in worlds]),
        "random rule": AuditScore(mean_f1([s.record for s in random]), mean_f1([s.truth for s in random])),
    }


def first_world(goal_id: str) -> HeldOut:
    """The first log of a dev goal that no fit and no draft sees, with what its hidden norm says of it."""
    return held_out(goal_id)[0]


def ceiling(goal_id: str, *, revealed: bool = False) -> F1:
    """The hidden norm itself, seeing the records only, against the truth; no bound: it says *indeterminate*
    where a guess may score.
    """
    return f1((_known(world.entitled), world.truth) for world in held_out(goal_id, revealed=revealed))


def random_structures(goal_id: str, n: int, seed: int = 0) -> list[Structure]:
    """Rules drawn from the names the grounding log holds, kept when the audit would check them."""
    context = load(goal_id)
    rng = np.random.default_rng(seed)
    pairs = sorted(context.profile.pairs)
    activities = sorted({activity for _, activity in pairs})
    channels = sorted({channel for channel, _ in pairs})
    roles = [term.name for term in context.schema.roles if context.profile.counts.get(("role", term.name))]

    def one_of(items: list[Any]) -> Any:
        return items[int(rng.integers(len(items)))]

    rules: list[Structure] = []
    while len(rules) < n:
        channel, activity = one_of(pairs)
        template = one_of(list(DRAFTED))
        constraint = Constraint.model_validate(
            {"template": template, "target": one_of([a for a in activities if a != activity])}
            | ({"deadline": one_of(["PT10M", "PT30M", "PT2H", "PT12H"])} if template not in COUNTING else {})
            # bans on whoever opened the instance, as the floor was first drawn
            | ({"correlate": "same_resource"} if template in NEGATIVE else {})
        )
        structure = Structure(
            trigger=Trigger(act=Act(activity=activity), channel=channel),
            norm=Norm(constraints=(constraint,)),
            evidence=EvidencePolicy(channels=tuple(channels), operator="any"),
            procedure=Procedure(steps=(Step(stage="review", name="manager_review", role=one_of(roles)),)),
        )
        try:
            check(structure, context.records, context.log)
        except GnrsError:
            continue
        rules.append(structure)
    return rules


def _acts_exist(goal: Goal, log: EventLog) -> Predicted:
    """Satisfied where every required activity is recorded in the case and no forbidden one, else violated."""
    rows = log.connection.execute(
        "SELECT case_id, list(DISTINCT activity) FROM events GROUP BY case_id"
    ).fetchall()
    return {
        case: "satisfied"
        if set(goal.required) <= set(acts) and not set(goal.forbidden) & set(acts)
        else "violated"
        for case, acts in rows
    }


def _scores(worlds: Iterable[HeldOut], predictions: Iterable[Predicted], refused: str = "") -> AuditScore:
    both = list(zip(worlds, predictions, strict=True))
    return AuditScore(f1((p, w.entitled) for w, p in both), f1((p, w.truth) for w, p in both), refused)


def _known(labels: Labels) -> dict[str, Verdict]:
    return {case: verdict for case, verdict in labels.items() if verdict is not None}


def mean_f1(scores: Sequence[F1]) -> F1:
    """Mean of scores; violation F1 over those that have one."""
    violations = [s.violation for s in scores if s.violation is not None]
    return F1(
        float(np.mean([s.macro for s in scores])),
        float(np.mean(violations)) if violations else None,
        sum(s.cases for s in scores),
    )


def _share(hits: Any) -> float:
    each = [bool(hit) for hit in hits]
    return sum(each) / len(each) if each else 0.0
