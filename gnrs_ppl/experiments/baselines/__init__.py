"""The paper's baselines, one page each. All get the same context, and none sees evaluator, gate or label."""

from gnrs_ppl.experiments.baselines.best_of_n import best_of_n
from gnrs_ppl.experiments.baselines.common import Ask, Baseline, BaselineResult
from gnrs_ppl.experiments.baselines.constrained_decoding import constrained_decoding
from gnrs_ppl.experiments.baselines.direct_prompting import direct_prompting
from gnrs_ppl.experiments.baselines.in_context_grounding import in_context_grounding
from gnrs_ppl.experiments.baselines.norm_synthesis import norm_synthesis
from gnrs_ppl.experiments.baselines.run import Task, write_rules
from gnrs_ppl.experiments.baselines.self_refine import self_refine
from gnrs_ppl.experiments.baselines.structured_outputs import structured_outputs

METHODS: dict[str, Baseline] = {
    "Direct Prompting": direct_prompting,
    "Structured Outputs": structured_outputs,
    "Best-of-N": best_of_n,
    "Self-Refine": self_refine,
    "In-Context Grounding": in_context_grounding,
    "Norm Synthesis": norm_synthesis,
    "Constrained Decoding": constrained_decoding,
}
"""Names as in the paper's main table, in its order; the last has a prompt there and no row."""

__all__ = ["METHODS", "Ask", "Baseline", "BaselineResult", "Task", "write_rules"]
