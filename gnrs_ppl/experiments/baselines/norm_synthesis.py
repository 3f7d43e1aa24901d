"""Norm Synthesis: CRSEC's creation and representation of norms, in a single shot (paper, Evaluation Setup; Ren et al. 2024).

Their spreading, checking and long-term synthesis of norms among agents have no counterpart here.
"""

from __future__ import annotations

from gnrs_ppl.context.load import Context
from gnrs_ppl.experiments.baselines.common import Ask, BaselineResult
from gnrs_ppl.llm.answers import NormSynthesis
from gnrs_ppl.llm.material import request


async def norm_synthesis(context: Context, ask: Ask, *, seed: int) -> BaselineResult:
    """One call for norms and the rule they come to; the rule is text only."""
    (answer,) = await ask([request("b7_crsec.v1.txt", "generator", context, NormSynthesis, seed=seed)])
    return BaselineResult(answer.parsed.clause if answer.parsed else "", None, (answer,))
