"""s_search of a structure that need not be in any pool, the slow readable way: features and flags from its contents."""

from __future__ import annotations

from gnrs_ppl.calibration.weights import Weights, frozen_weights
from gnrs_ppl.context.load import Context
from gnrs_ppl.rule.canonical import canonical
from gnrs_ppl.rule.types import Structure


def s_search(structure: Structure, context: Context, weights: Weights | None = None) -> float:
    """s_search = w . phi - lambda * 1[not h] (paper, Structured search).

    Parameters
    ----------
    structure : Structure
        Read canonically, as options of a pool are.
    context : Context
    weights : Weights, optional
        The frozen ones unless given, as for every draft.

    Returns
    -------
    float
        At most 1; below 0 where a hard condition is broken.
    """
    from gnrs_ppl.models.energy import hard_penalty
    from gnrs_ppl.models.features import FEATURES, Facts, feature_vector
    from gnrs_ppl.models.flags import raised

    facts, rule, w = Facts.of(context), canonical(structure), (weights or frozen_weights()).array()
    phi = feature_vector(rule, facts)
    value = sum(float(weight) * phi[name] for weight, name in zip(w, FEATURES, strict=True))
    return value - hard_penalty(w) if raised(rule, facts) else value
