"""Weights of s_search: the documented defaults until a fit on the dev split replaces them."""

from gnrs_ppl.calibration.weights import DEFAULT_WEIGHTS, Weights

__all__ = ["DEFAULT_WEIGHTS", "Weights"]
