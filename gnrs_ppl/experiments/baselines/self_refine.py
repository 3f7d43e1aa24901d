"""Self-Refine: a Structured Output, then objections to it and a rule that meets them (paper, Evaluation Setup; Madaan et al. 2023)."""

from __future__ import annotations

from gnrs_ppl.context.load import Context
from gnrs_ppl.experiments.baselines.common import Ask, BaselineResult, stated, structured, written
from gnrs_ppl.experiments.baselines.structured_outputs import PROMPT
from gnrs_ppl.llm.answers import RefinedRule, StructuredRule
from gnrs_ppl.llm.material import request

ROUNDS = 2
"""Most refinements; the paper does not say how many it made."""


async def self_refine(context: Context, ask: Ask, *, seed: int) -> BaselineResult:
    """One call for the draft and one for each refinement, until there is no objection; a refinement that fails leaves the last rule."""
    (first,) = await ask([structured(PROMPT, context, seed)])
    result = written(first)
    rule: StructuredRule | RefinedRule | None = first.parsed
    for _ in range(ROUNDS):
        if rule is None:
            break
        shown = {"structure": rule.structure.model_dump_json(), "clause": rule.clause}
        (answer,) = await ask([request("b2_refine.v1.txt", "generator", context, RefinedRule, shown, seed=seed)])
        result, rule = result._replace(calls=(*result.calls, answer)), answer.parsed
        if rule is None or not rule.critique:
            break
        result = BaselineResult(rule.clause, stated(rule), result.calls)
    return result
