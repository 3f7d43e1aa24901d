"""s_search and h of a structure that need not be in any pool, the slow readable way: features and flags from
its contents.
"""

from __future__ import annotations

from typing import NamedTuple

from jaxtyping import Float

from gnrs_ppl.models.energy import hard_penalty
from gnrs_ppl.models.features import FEATURES, Facts, feature_vector
from gnrs_ppl.models.flags import raised
from gnrs_ppl.models.space import AnyArray
from gnrs_ppl.rule.canonical import canonical
from gnrs_ppl.rule.types import Structure


class Worth(NamedTuple):
    """s_search = w . phi - lambda * 1[not h] (paper, Structured search), at most 1 and below 0 where h
    fails; and h.
    """

    s_search: float
    feasible: bool


def worth(structure: Structure, facts: Facts, weights: Float[AnyArray, " F"]) -> Worth:
    """Score a structure on a context; it is read canonically, as options of a pool are."""
    rule = canonical(structure)
    phi = feature_vector(rule, facts)
    value = sum(float(weight) * phi[name] for weight, name in zip(weights, FEATURES, strict=True))
    feasible = not raised(rule, facts)
    return Worth(value if feasible else value - hard_penalty(weights), feasible)
