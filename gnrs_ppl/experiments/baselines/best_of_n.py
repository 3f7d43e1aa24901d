"""Best-of-N: several Structured Outputs, of which the search score picks one (paper, Evaluation Setup; Nakano et al. 2021)."""

from __future__ import annotations

import math

from gnrs_ppl.context.load import Context
from gnrs_ppl.experiments.baselines.common import Ask, BaselineResult, structured, written
from gnrs_ppl.experiments.baselines.search_score import s_search
from gnrs_ppl.experiments.baselines.structured_outputs import PROMPT

SAMPLES = 8
"""N of the paper."""
SEED_STEP = 1000
"""Sample i is asked for with seed + 1000 i, lest a server that honours seeds says the same N times; sample 0 is Structured Outputs' own."""


async def best_of_n(context: Context, ask: Ask, *, seed: int) -> BaselineResult:
    """N calls; the text whose structure has the greatest s_search, the first of equals.

    The selector sees neither rubric nor gate nor label. A sample that states no whole structure is taken only where none does.
    """
    answers = await ask([structured(PROMPT, context, seed + SEED_STEP * i) for i in range(SAMPLES)])
    samples = [written(answer) for answer in answers]

    def merit(sample: BaselineResult) -> tuple[float, bool]:
        return s_search(sample.structure, context) if sample.structure else -math.inf, bool(sample.text)

    return max(samples, key=merit)._replace(calls=tuple(answers))
