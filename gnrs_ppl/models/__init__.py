"""The And-Or Graph as a probabilistic program: features, rule space, energy, and the NumPyro face of the
same density.
"""

from typing import TYPE_CHECKING

from gnrs_ppl.lazy import exports

if TYPE_CHECKING:
    from gnrs_ppl.models.energy import (
        SEARCH_TEMPERATURE,
        Tables,
        contract,
        feasible,
        hard_penalty,
        log_prior,
        logdensity,
        score,
    )
    from gnrs_ppl.models.features import FEATURES
    from gnrs_ppl.models.graph import AndOrGraph, compile_graph
    from gnrs_ppl.models.program import rule_program
    from gnrs_ppl.models.space import RuleSpace, build_space
    from gnrs_ppl.models.synthetic import coupled_rules
    from gnrs_ppl.models.uai import from_factors, log_states, read_uai
else:
    __getattr__, __dir__ = exports(
        __name__,
        features=("FEATURES",),
        graph=("AndOrGraph", "compile_graph"),
        space=("RuleSpace", "build_space"),
        energy=(
            "SEARCH_TEMPERATURE",
            "Tables",
            "contract",
            "feasible",
            "hard_penalty",
            "log_prior",
            "logdensity",
            "score",
        ),
        program=("rule_program",),
        synthetic=("coupled_rules",),
        uai=("from_factors", "log_states", "read_uai"),
    )

__all__ = [
    "FEATURES",
    "SEARCH_TEMPERATURE",
    "AndOrGraph",
    "RuleSpace",
    "Tables",
    "build_space",
    "compile_graph",
    "contract",
    "coupled_rules",
    "feasible",
    "from_factors",
    "hard_penalty",
    "log_prior",
    "log_states",
    "logdensity",
    "read_uai",
    "rule_program",
    "score",
]
