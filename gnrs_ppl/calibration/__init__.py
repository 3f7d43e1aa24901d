"""Weights of s_search: fitted on the dev goals, set by hand, or read from a file."""

from gnrs_ppl.calibration.weights import (
    DEFAULT_WEIGHTS,
    UNIFORM_WEIGHTS,
    Weights,
    frozen_weights,
    read_weights,
    weights_named,
)

__all__ = ["DEFAULT_WEIGHTS", "UNIFORM_WEIGHTS", "Weights", "frozen_weights", "read_weights", "weights_named"]
