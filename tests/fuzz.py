"""How many examples a fuzzer draws: few in the suite, many in ``make fuzz``."""

from __future__ import annotations

import os

SCALE = 40 if os.environ.get("GNRS_FUZZ") == "1" else 1
"""What a long run multiplies the count of examples by."""


def examples(suite: int) -> int:
    """The number of examples to draw where the suite draws ``suite``."""
    return suite * SCALE
