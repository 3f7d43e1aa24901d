"""How many examples a fuzzer draws: few in the fast tier, more in the whole suite, many in ``make fuzz``."""

from __future__ import annotations

import os

from tiers import tier

SCALE = 40 if os.environ.get("GNRS_FUZZ") == "1" else 1
"""What a long run multiplies the count of examples by."""


def examples(suite: int) -> int:
    """The number of examples to draw where the whole suite draws ``suite``; a fifth of them in the fast tier."""
    return tier(-(-suite // 5), suite * SCALE)
