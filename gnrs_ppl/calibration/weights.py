"""The weight vector w of s_search: on the simplex, in the order of the features, with its origin (DESIGN §5)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnrs_ppl.models.features import FEATURES


class Weights(NamedTuple):
    """w ≥ 0 with Σw = 1, one per feature; ``temperature`` is τ_fit, None until a fit exists."""

    values: tuple[float, ...]
    origin: str
    temperature: float | None = None

    def array(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """W as a float64 array of shape (F,); raises ValueError off the simplex."""
        w = np.asarray(self.values, dtype=np.float64)
        if w.shape != (len(FEATURES),) or not np.all(np.isfinite(w)) or np.any(w < 0) or abs(w.sum() - 1) > 1e-9:
            raise ValueError(f"weights must be {len(FEATURES)} non-negative numbers that sum to one, got {self.values}")
        return w


DEFAULT_WEIGHTS = Weights((0.30, 0.10, 0.20, 0.20, 0.10, 0.10), "default, set by hand")
"""Intent first, then what records show and where a violation leads; schema, values and language break ties.

Set before any structure was scored and not fitted to anything.
"""
