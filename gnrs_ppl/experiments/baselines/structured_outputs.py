"""Structured Outputs: the five slots as JSON of a fixed schema, then the text (paper, Evaluation Setup; Willard and Louf 2023)."""

from __future__ import annotations

from gnrs_ppl.context.load import Context
from gnrs_ppl.experiments.baselines.common import Ask, BaselineResult, structured, written

PROMPT = "b2_schema.v1.txt"


async def structured_outputs(context: Context, ask: Ask, *, seed: int) -> BaselineResult:
    """One call for structure and text."""
    (answer,) = await ask([structured(PROMPT, context, seed)])
    return written(answer)
