"""One goal of GNRS-Bench on the bench: what a structure is worth there, executed once per check however
often it is chosen.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from gnrs_ppl.audit.checkable import check
from gnrs_ppl.benchmarks.gnrs_bench import BenchmarkGoal, benchmark_goal, load
from gnrs_ppl.calibration.weights import frozen_weights
from gnrs_ppl.context.load import Context
from gnrs_ppl.errors import GnrsError
from gnrs_ppl.evaluate.audit_f1 import F1, AuditScore, Executed, audit_score, execute
from gnrs_ppl.evaluate.hard_ok import HardOk, hard_ok, hard_ok_partial
from gnrs_ppl.evaluate.model_parser import Parsed
from gnrs_ppl.models.features import Facts
from gnrs_ppl.models.worth import Worth, worth
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.text import render
from gnrs_ppl.rule.canonical import canonical, dumps, signature
from gnrs_ppl.rule.types import Structure


class GoalBench:
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
        return Lexicon.of_context(self.context)

    def execute(self, structure: Structure) -> Executed:
        """Verdicts and scores on the held-out logs; rules that differ in procedure or in objects only the
        text names run once.
        """
        rule = canonical(structure)
        key = (
            dumps(rule.trigger)
            + dumps(rule.norm)
            + dumps(rule.evidence)
            + dumps(rule.scope.model_copy(update={"concerns": ()}))
        )
        if key not in self._executed:
            self._executed[key] = execute(structure, self.goal.id, revealed=self.revealed)
        return self._executed[key]

    def best_of(self, structures: Iterable[Structure]) -> F1:
        """The greatest F1 against the record among some rules; 0 where there are none."""
        scores = (self.execute(structure).score.record for structure in structures)
        return max(scores, key=lambda score: score.macro, default=F1(0.0, None, 0))

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

    def worth(self, structure: Structure) -> Worth:
        """s_search with the frozen weights, and h; of any structure, from pools of this goal or not."""
        return worth(structure, self.facts, frozen_weights().array())

    @property
    def place(self) -> dict[str, Any]:
        """Where the goal belongs."""
        return {"family": self.goal.family, "category": self.goal.category}

    def measured(self, structure: Structure) -> dict[str, Any]:
        """Everything that can be said of a rule here without a model."""
        gate, score = hard_ok(structure, self.context), self.execute(structure).score
        value, feasible = self.worth(structure)
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
            **_gated(gate),
            "s_search": value,
            **_scored(score),
            "activated": self.execute(structure).activated,
            "refused": score.refused,
        }

    def read_back(self, text: str, parsed: Parsed) -> dict[str, Any]:
        """What can be said of a rule that was read from a text, whole or not; the gate takes the slots that
        were read.

        Raises
        ------
        InputError
            A test or OOD goal that was not revealed.
        """
        gate, score = (
            hard_ok_partial(parsed.slots, self.context),
            audit_score(parsed.structure, self.goal.id, revealed=self.revealed),
        )
        return {
            **self.place,
            "failed": "",
            "structure": json.loads(dumps(parsed.structure)) if parsed.structure else None,
            "text": text,
            "read_by": parsed.how,
            "empty_slots": parsed.empty,
            **_gated(gate),
            "s_search": self.worth(parsed.structure).s_search if parsed.structure else None,
            **_scored(score),
            "refused": score.refused,
        }

    def failed(self, reason: str) -> dict[str, Any]:
        """What stands in place of a rule that was not found: it fails the gate and recalls nothing."""
        return {
            **self.place,
            "failed": reason,
            "feasible": False,
            "checkable": False,
            "hard_ok": False,
            "failures": ["no rule was found"],
            "rho": 0.0,
            **_scored(audit_score(None, self.goal.id, revealed=self.revealed)),
            "activated": 0.0,
        }


def _gated(gate: HardOk) -> dict[str, Any]:
    supports = {str(support): count for support, count in gate.supports.items()}
    return {"hard_ok": gate.passed, "failures": list(gate.failures), "rho": gate.rho, **supports}


def _scored(score: AuditScore) -> dict[str, Any]:
    return {
        "audit_f1": score.record.macro,
        "audit_violated": score.record.violation,
        "audit_truth": score.truth.macro,
    }
