"""What can be measured without a judge of a rule as it was read from its text: HARD-OK with rho, s_search, audit F1."""

from __future__ import annotations

from typing import NamedTuple

from gnrs_ppl.calibration.weights import Weights
from gnrs_ppl.context.load import Context
from gnrs_ppl.evaluate.audit_f1 import AuditScore, audit_score
from gnrs_ppl.evaluate.hard_ok import HardOk, hard_ok_partial
from gnrs_ppl.evaluate.model_parser import Parsed
from gnrs_ppl.experiments.baselines.search_score import s_search


class Measured(NamedTuple):
    """Gate, search score (None where no whole structure was read) and audit F1 of one rule."""

    gate: HardOk
    s_search: float | None
    audit: AuditScore


def measured(parsed: Parsed, context: Context, *, weights: Weights | None = None, revealed: bool = False) -> Measured:
    """Measure a rule on the benchmark goal of its context; the same for every method.

    Raises
    ------
    InputError
        A test or OOD goal without ``revealed``.
    """
    score = s_search(parsed.structure, context, weights) if parsed.structure else None
    return Measured(hard_ok_partial(parsed.slots, context), score, audit_score(parsed.structure, context.goal.id, revealed=revealed))
