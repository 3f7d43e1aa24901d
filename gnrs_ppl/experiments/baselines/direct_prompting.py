"""Direct Prompting: the rule in one step, as text (paper, Evaluation Setup)."""

from __future__ import annotations

from gnrs_ppl.context.load import Context
from gnrs_ppl.experiments.baselines.common import Ask, BaselineResult
from gnrs_ppl.llm.material import request


async def direct_prompting(context: Context, ask: Ask, *, seed: int) -> BaselineResult:
    """One call; the answer is the rule."""
    (answer,) = await ask([request("b1_vanilla.v1.txt", "generator", context, seed=seed)])
    good = answer.error is None and not answer.refusal
    return BaselineResult(answer.text.strip() if good else "", None, (answer,))
