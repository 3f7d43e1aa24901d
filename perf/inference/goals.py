"""What the 16 dev goals cost: to the optimum, and to good marginals."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from gnrs_ppl.experiments.search_budget import coordinate_ascent
from gnrs_ppl.inference.chains import run_chains, run_many
from gnrs_ppl.inference.exact import enumerate_space, exact_posterior, number_of_states, slot_marginals
from gnrs_ppl.inference.result import Chains
from gnrs_ppl.inference.sweep import sweep
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE as TAU
from gnrs_ppl.models.energy import Tables
from inference.common import MARGINAL_ERROR, QUICK, REACHED, Row, Size, alike, goal_tables, seconds_of

GOAL_STEPS = {"metropolis": 400, "gibbs": 100, "informed": 100, "tempering": 100}
PARTICLES = (1024, 16384)


def cost_of(found: Chains, step: int) -> tuple[float, float]:
    """Energy evaluations and seconds up to a step, of all chains together."""
    steps = found.score.shape[1]
    chains = found.score.shape[0]
    return chains + (found.energy_evaluations - chains) * step / steps, found.wall_seconds * step / steps


def on_goals(kernel: str, spaces: dict[str, Tables], chains: int, seed: int) -> list[Chains]:
    request: Row = {
        "chains": chains,
        "steps": GOAL_STEPS[kernel],
        "temperature": TAU,
        "seed": seed,
        "names": list(spaces),
    }
    run_many(list(spaces.values()), **request, kernel=kernel)  # once to compile
    return run_many(list(spaces.values()), **request, kernel=kernel)


def first_step(found: Chains, optimum: float) -> int | None:
    """Step at which the first chain stood on an optimum; 0 for its start."""
    there = np.concatenate([found.start_score[:, None], found.score], 1).max(0) >= optimum - REACHED
    return int(there.argmax()) if there.any() else None


def marginal_error(positions: np.ndarray, marginals: Sequence[np.ndarray]) -> float:
    """Greatest total variation of a slot's shares from the exact ones."""
    flat = positions.reshape(-1, positions.shape[-1])
    shares = [
        np.bincount(flat[:, v], minlength=len(exact))[: len(exact)] / len(flat)
        for v, exact in enumerate(marginals)
    ]
    return max(float(np.abs(share - exact).sum() / 2) for share, exact in zip(shares, marginals, strict=True))


def first_good_marginals(found: Chains, marginals: Sequence[np.ndarray]) -> int | None:
    """First of the steps 1, 2, 4, ... (and halfway) whose second half, all chains together, is within
    ``MARGINAL_ERROR``."""
    steps = found.score.shape[1]
    looked_at = sorted(
        {round(2 ** (k / 2)) for k in range(2 * math.ceil(math.log2(steps)) + 1)} & set(range(1, steps + 1))
        | {steps}
    )
    return next(
        (s for s in looked_at if marginal_error(found.positions[:, s // 2 : s], marginals) <= MARGINAL_ERROR),
        None,
    )


def summary(kernel: str, what: str, detail: str, costs: Sequence[tuple[float, float] | None]) -> Row:
    """Medians over runs that got there; where less than half did, the median is not known."""
    got = sorted(cost if cost else (math.inf, math.inf) for cost in costs)
    evaluations, seconds = (statistics.median(cost[i] for cost in got) for i in (0, 1))
    row: Row = {
        "kernel": kernel,
        "to": what,
        "setting": detail,
        "runs": len(got),
        "reached": sum(c is not None for c in costs) / len(got),
    }
    known = math.isfinite(evaluations)
    return row | {
        "evaluations, median": evaluations if known else None,
        "ms, median": 1e3 * seconds if known else None,
    }


def goal_costs(size: Size) -> Iterator[Row]:
    chosen = dict(islice(goal_tables().items(), size.goals))
    spaces = dict(zip(chosen, alike(list(chosen.values())), strict=True))
    known = {name: enumerate_space(tables) for name, tables in chosen.items()}
    optima = {name: float(found.score.max()) for name, found in known.items()}
    marginals = {name: slot_marginals(exact_posterior(found, TAU)) for name, found in known.items()}
    optimum, good = "optimum", f"slot marginals within {MARGINAL_ERROR}"
    for kernel, steps in GOAL_STEPS.items():
        costs = []
        for seed in size.seeds:
            for name, found in zip(spaces, on_goals(kernel, spaces, 64, seed), strict=True):
                step = first_step(found, optima[name])
                costs.append(None if step is None else cost_of(found, step))
        yield summary(kernel, optimum, f"64 chains, at most {steps} steps", costs)
        costs = []
        for name, found in zip(spaces, on_goals(kernel, spaces, 1024, 0), strict=True):
            step = first_good_marginals(found, marginals[name])
            costs.append(None if step is None else cost_of(found, step))
        yield summary(kernel, good, f"1024 chains, second half of at most {steps} steps", costs)
    yield from particle_costs(size, spaces, optima, marginals)
    swept, climbed = [], []
    for name, tables in chosen.items():
        swept.append(
            (
                float(number_of_states(tables)),
                statistics.median(seconds_of(lambda t=tables: sweep(t, TAU)) for _ in range(3)),
            )
        )
        climbed += [climb_cost(known[name], tables, optima[name], seed) for seed in size.seeds]
    yield summary("exact", optimum, "sweep", swept)
    yield summary("exact", good, "sweep, no error", swept)
    yield summary("restarted coordinate ascent", optimum, "in Python, scores looked up", climbed)


def particle_costs(
    size: Size, spaces: dict[str, Tables], optima: dict[str, float], marginals: dict[str, Any]
) -> Iterator[Row]:
    """The least number of particles that does it."""
    hit: dict[tuple[str, int], tuple[float, float] | None] = {
        (name, seed): None for seed in size.seeds for name in spaces
    }
    good: dict[str, tuple[float, float] | None] = dict.fromkeys(spaces)
    for number in PARTICLES[:1] if size is QUICK else PARTICLES:
        for name, seed in hit:
            first = seed == size.seeds[0]
            if hit[name, seed] and (good[name] or not first):
                continue
            found = run_chains(spaces[name], chains=number, steps=8, temperature=TAU, seed=seed, kernel="smc")
            cost = (float(found.energy_evaluations), found.wall_seconds)
            if hit[name, seed] is None and found.score.max() >= optima[name] - REACHED:
                hit[name, seed] = cost
            if (
                first
                and good[name] is None
                and marginal_error(found.positions, marginals[name]) <= MARGINAL_ERROR
            ):
                good[name] = cost
    detail = f"least of {' and '.join(map(str, PARTICLES))} particles, 8 mutations"
    yield summary("smc", "optimum", detail, list(hit.values()))
    yield summary("smc", f"slot marginals within {MARGINAL_ERROR}", detail, list(good.values()))


def climb_cost(known: Any, tables: Tables, optimum: float, seed: int) -> tuple[float, float]:
    """Fewest evaluations that reach the optimum: a run of fewer is the beginning of a run of more."""

    def best_of(evaluations: int) -> float:
        paths = coordinate_ascent(known, tables, evaluations, np.random.default_rng(seed)).paths
        return max(float(known.score[path[-1]]) for path in paths)

    enough = next(2**k for k in range(30) if best_of(2**k) >= optimum - REACHED)
    short = enough // 2
    while enough - short > 1:
        middle = (short + enough) // 2
        short, enough = (short, middle) if best_of(middle) >= optimum - REACHED else (middle, enough)
    return float(enough), seconds_of(lambda: best_of(enough))
