"""Evaluation: HARD-OK and grounding; in the modules audit F1 on held-out logs, texts read and judged, cards.

Nothing before draft imports it.
"""

from gnrs_ppl.evaluate.grounding import Grounding, GroundingQuery, grounding
from gnrs_ppl.evaluate.hard_ok import HardOk, hard_ok, rho

__all__ = ["Grounding", "GroundingQuery", "HardOk", "grounding", "hard_ok", "rho"]
