"""What can be measured without a judge of a rule as it was read from its text: HARD-OK with rho, s_search, audit F1."""

from __future__ import annotations

from typing import NamedTuple

from gnrs_ppl.calibration.weights import DEFAULT_WEIGHTS, Weights
from gnrs_ppl.context.load import Context
from gnrs_ppl.errors import InputError
from gnrs_ppl.evaluate.audit_f1 import AuditScore, audit_score, f1
from gnrs_ppl.evaluate.hard_ok import HardOk, hard_ok_partial
from gnrs_ppl.evaluate.held_out.labels import held_out
from gnrs_ppl.evaluate.model_parser import Parsed
from gnrs_ppl.experiments.baselines.search_score import s_search
from gnrs_ppl.rule.types import Structure


class Measured(NamedTuple):
    """Gate, search score (None where no whole structure was read) and audit F1 of one rule."""

    gate: HardOk
    s_search: float | None
    audit: AuditScore


def measured(parsed: Parsed, context: Context, *, weights: Weights = DEFAULT_WEIGHTS, revealed: bool = False) -> Measured:
    """Measure a rule on the benchmark goal of its context; the same for every method.

    Raises
    ------
    InputError
        A test or OOD goal without ``revealed``.
    """
    score = s_search(parsed.structure, context, weights) if parsed.structure else None
    return Measured(hard_ok_partial(parsed.slots, context), score, _audit(parsed.structure, context.goal.id, revealed))


def _audit(structure: Structure | None, goal: str, revealed: bool) -> AuditScore:
    """Audit F1; a rule that was not read, or that contradicts itself, recalls nothing."""
    worlds = held_out(goal, revealed=revealed)
    reason = "no whole structure was read"
    if structure is not None:
        try:
            return audit_score(structure, goal, revealed=revealed)
        except InputError as error:
            reason = str(error)
    return AuditScore(f1(({}, world.entitled) for world in worlds), f1(({}, world.truth) for world in worlds), reason)
