"""Weights of s_search: fitted on the dev goals, set by hand, or read from a file; and the model they were
fitted by as a NumPyro program.
"""

from typing import TYPE_CHECKING

from gnrs_ppl.lazy import exports

if TYPE_CHECKING:
    from gnrs_ppl.calibration.problem import GoalData, dev_data
    from gnrs_ppl.calibration.program import RulePlate, rule_plate, weights_program
    from gnrs_ppl.calibration.weights import (
        DEFAULT_WEIGHTS,
        UNIFORM_WEIGHTS,
        Weights,
        frozen_weights,
        read_weights,
        weights_named,
    )
else:
    __getattr__, __dir__ = exports(
        __name__,
        weights=(
            "DEFAULT_WEIGHTS",
            "UNIFORM_WEIGHTS",
            "Weights",
            "frozen_weights",
            "read_weights",
            "weights_named",
        ),
        problem=("GoalData", "dev_data"),
        program=("RulePlate", "rule_plate", "weights_program"),
    )

__all__ = [
    "DEFAULT_WEIGHTS",
    "UNIFORM_WEIGHTS",
    "GoalData",
    "RulePlate",
    "Weights",
    "dev_data",
    "frozen_weights",
    "read_weights",
    "rule_plate",
    "weights_named",
    "weights_program",
]
