"""One goal of GNRS-Bench on the bench: what a structure is worth there, executed once per check however often it is chosen."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any, NamedTuple

from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.types import Verdict
from gnrs_ppl.benchmarks.gnrs_bench import BenchmarkGoal, benchmark_goal, load
from gnrs_ppl.calibration.weights import frozen_weights
from gnrs_ppl.context.load import Context
from gnrs_ppl.errors import GnrsError
from gnrs_ppl.evaluate.audit_f1 import AuditScore, execute
from gnrs_ppl.evaluate.hard_ok import hard_ok
from gnrs_ppl.models.energy import hard_penalty
from gnrs_ppl.models.features import FEATURES, Facts, feature_vector
from gnrs_ppl.models.flags import raised
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.text import render
from gnrs_ppl.rule.canonical import canonical, dumps, signature
from gnrs_ppl.rule.types import Structure


class Executed(NamedTuple):
    """Verdicts of a rule on the held-out logs, nothing on one that refuses it, and their scores."""

    predictions: tuple[dict[str, Verdict], ...]
    score: AuditScore

    @property
    def activated(self) -> float:
        """Share of the scored cases in which the norm applied."""
        return _share(verdict != "not_activated" for verdict in self._all())

    def changed(self, other: Executed, only_active: bool = False) -> float | None:
        """Share of cases whose verdict is another; ``only_active``: of those in which both rules apply. None where there are none."""
        pairs = zip(self._all(), other._all(), strict=True)
        kept = [a != b for a, b in pairs if not only_active or "not_activated" not in (a, b)]
        return _share(kept) if kept else None

    def _all(self) -> list[Verdict]:
        return [verdict for prediction in self.predictions for verdict in prediction.values()]


def _share(hits: Any) -> float:
    each = [bool(hit) for hit in hits]
    return sum(each) / len(each) if each else 0.0


class Bench:
    """A goal with its held-out logs.

    Parameters
    ----------
    goal_id : str
    revealed : bool
        Needed for test and OOD goals.
    """

    def __init__(self, goal_id: str, *, revealed: bool = False) -> None:
        self.goal: BenchmarkGoal = benchmark_goal(goal_id)
        self.context: Context = load(goal_id)
        self.revealed = revealed
        self._executed: dict[str, Executed] = {}

    @cached_property
    def facts(self) -> Facts:
        """What features and hard conditions read."""
        return Facts.of(self.context)

    @cached_property
    def lexicon(self) -> Lexicon:
        """The institution's words."""
        return Lexicon.of(self.context.schema, self.context.records)

    def execute(self, structure: Structure) -> Executed:
        """Verdicts and scores on the held-out logs; rules that differ in procedure or in objects only the text names run once."""
        rule = canonical(structure)
        key = dumps(rule.trigger) + dumps(rule.norm) + dumps(rule.evidence) + dumps(rule.scope.model_copy(update={"concerns": ()}))
        if key not in self._executed:
            self._executed[key] = Executed(*execute(structure, self.goal.id, revealed=self.revealed))
        return self._executed[key]

    def refusal(self, structure: Structure) -> str:
        """Why the rule cannot be rendered, or checked on the grounding log; empty where it can."""
        try:
            self.text(structure)
            check(structure, self.context.records, self.context.log)
        except (GnrsError, ValueError) as error:
            return str(error)
        return ""

    def text(self, structure: Structure) -> str:
        """The rule in the template's words."""
        return render(structure, self.lexicon, dates_only=self.context.records.dates_only)

    def worded(self, structure: Structure) -> str:
        """The rule in words, also where no log can check it; blank where the template has no words for it."""
        try:
            return self.text(structure)
        except (GnrsError, ValueError):
            return ""

    def s_search(self, structure: Structure) -> tuple[float, bool]:
        """s_search with the frozen weights, and h; of any structure, from pools of this goal or not."""
        rule, weights = canonical(structure), frozen_weights().array()
        phi = feature_vector(rule, self.facts)
        value = sum(float(w) * phi[name] for w, name in zip(weights, FEATURES, strict=True))
        feasible = not raised(rule, self.facts)
        return (value if feasible else value - hard_penalty(weights)), feasible

    @property
    def place(self) -> dict[str, Any]:
        """Where the goal belongs."""
        return {"family": self.goal.family, "category": self.goal.category}

    def measured(self, structure: Structure) -> dict[str, Any]:
        """Everything that can be said of a rule here without a model."""
        gate, score = hard_ok(structure, self.context), self.execute(structure).score
        value, feasible = self.s_search(structure)
        refusal = self.refusal(structure)
        return {
            **self.place,
            "failed": "",
            "signature": signature(structure),
            "structure": json.loads(dumps(structure)),
            "text": self.worded(structure),
            "feasible": feasible,
            "checkable": not refusal,
            "refusal": refusal,
            "hard_ok": gate.passed,
            "failures": list(gate.failures),
            "rho": gate.rho,
            **{str(support): count for support, count in gate.supports.items()},
            "s_search": value,
            "audit_f1": score.record.macro,
            "audit_violated": score.record.violation,
            "audit_truth": score.truth.macro,
            "activated": self.execute(structure).activated,
            "refused": score.refused,
        }

    def failed(self, reason: str) -> dict[str, Any]:
        """What stands in place of a rule that was not found: it fails the gate and recalls nothing."""
        nothing, truth, _ = execute(None, self.goal.id, revealed=self.revealed).score
        return {
            **self.place,
            "failed": reason,
            "feasible": False,
            "checkable": False,
            "hard_ok": False,
            "failures": ["no rule was found"],
            "rho": 0.0,
            "audit_f1": nothing.macro,
            "audit_violated": nothing.violation,
            "audit_truth": truth.macro,
            "activated": 0.0,
        }
