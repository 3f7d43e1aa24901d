"""Constrained Decoding: Structured Outputs whose names come from closed lists (paper, list of prompts; none of its tables has this row).

The lists are closed by the prompt. The schema that a server enforces fixes fields and closed lists of words, not the names of a context.
"""

from __future__ import annotations

from gnrs_ppl.context.load import Context
from gnrs_ppl.experiments.baselines.common import Ask, BaselineResult, structured, written


async def constrained_decoding(context: Context, ask: Ask, *, seed: int) -> BaselineResult:
    """One call for structure and text."""
    (answer,) = await ask([structured("b6_constrained.v1.txt", context, seed)])
    return written(answer)
