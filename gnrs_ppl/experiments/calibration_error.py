"""Measure regret and epsilon_C on the dev goals and freeze them: ``python -m
gnrs_ppl.experiments.calibration_error``.

A goal has too many structures that compile to different checks to run them all. Scored are the best structure
of each of the ``PROMISING`` best (trigger, norm) pairs under weights fitted to the other goals, the chosen
one first, and as many feasible structures drawn uniformly over their (trigger, norm) pairs.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.calibration.objective import problem_of
from gnrs_ppl.calibration.problem import dev_data, dev_goals
from gnrs_ppl.calibration.validation import chosen_kappa, fitted_to_others
from gnrs_ppl.calibration.weights import feature_hash
from gnrs_ppl.candidates.build import pools_of
from gnrs_ppl.context.output import write_all
from gnrs_ppl.evaluate.audit_f1 import audit_score
from gnrs_ppl.evaluate.calibration_error import FILE, CalibrationError, ScoredRules, as_json, measure
from gnrs_ppl.experiments.methods import by_pair
from gnrs_ppl.inference.exact import enumerate_space
from gnrs_ppl.models.energy import contract
from gnrs_ppl.models.graph import compile_graph

PROMISING = 20
SEED = 0


def run(workers: int = 2) -> CalibrationError:
    """Fit sixteen times, score the rules, measure."""
    data = dev_data()
    kappa, _ = chosen_kappa(data)
    weights = [beta / beta.sum() for beta in fitted_to_others(problem_of(data), len(data), kappa)]
    with ProcessPoolExecutor(
        workers, mp_context=get_context("spawn")
    ) as pool:  # JAX runs threads, which a fork would cut off
        return measure([*pool.map(scored, dev_goals(), weights)])


def scored(goal: str, weights: NDArray[np.float64]) -> ScoredRules:
    """s_search and audit F1 of a sample of a goal's structures."""
    context = load_context(goal)
    graph = compile_graph(context, pools_of(context).pools)
    found = enumerate_space(contract(graph.space, weights))
    pairs, index = by_pair(found)
    possible = np.flatnonzero(np.isfinite(pairs.max(1)))
    ranked = possible[np.argsort(-pairs[possible].max(1), kind="stable")]
    chosen = [int(index[p, pairs[p].argmax()]) for p in ranked[:PROMISING]]
    generator = np.random.default_rng(SEED)
    for p in generator.choice(possible, min(PROMISING, len(possible)), replace=False):
        chosen.append(int(index[p, generator.choice(np.flatnonzero(np.isfinite(pairs[p])))]))
    worth = [audit_score(graph.structure(found.position(i)), goal).record.macro for i in chosen]
    return ScoredRules(goal, found.score[chosen], np.array(worth))


def main() -> None:
    """Measure, print and freeze."""
    found = run()
    print(f"{found.rules} rules of {len(found.regrets)} dev goals, leave one goal out")
    print(f"regret: mean {found.mean_regret:.3f}, greatest {max(found.regrets.values()):.3f}")
    use = "vacuous" if 2 * found.error >= 1 else "informative"
    print(f"ε_C = {found.error:.3f}; Proposition 1 takes 2 ε_C = {2 * found.error:.3f} off: {use}")
    provenance = {
        "feature_hash": feature_hash(),
        "promising": PROMISING,
        "drawn": PROMISING,
        "seed": SEED,
        "worth": "audit F1, macro, against the record",
    }
    write_all(FILE.parent, [(FILE.name, as_json(found, provenance).encode())])
    print(f"wrote {FILE.name}")


if __name__ == "__main__":
    main()
