"""What a good structure of coupled rules costs: every method against the bound, or against the best score
that anyone found."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from gnrs_ppl.inference.chains import STEPPERS, advance_of, frozen
from gnrs_ppl.inference.cpsat import solve
from gnrs_ppl.inference.metropolis import State
from gnrs_ppl.inference.starts import draw_prior, draw_starts
from gnrs_ppl.models.energy import Tables, without_sources
from gnrs_ppl.models.synthetic import coupled_rules
from inference.common import NEAR, REACHED, Row, Size, alike, clock, seconds_of


class Timeline(NamedTuple):
    """The best score so far against seconds and energy evaluations; what compiling took."""

    seconds: np.ndarray
    evaluations: np.ndarray
    score: np.ndarray
    compile: float

    def reaches(self, target: float) -> tuple[float, float] | None:
        there = self.score >= target - REACHED
        return (
            (float(self.evaluations[there.argmax()]), float(self.seconds[there.argmax()]))
            if there.any()
            else None
        )


@lru_cache(maxsize=8)
def annealing(kernel: str, settings: Any, shapes: Any) -> Any:
    """Steps of one of our kernels, each at its own temperature: where the chains end, and after each step
    the best score and its cost."""
    advance, stepper = advance_of(kernel, settings), STEPPERS[kernel]

    def run(
        tables: Tables,
        positions: jax.Array,
        key: tuple[jax.Array, jax.Array],
        numbers: jax.Array,
        temperatures: jax.Array,
    ) -> tuple[jax.Array, Any]:
        chains = jnp.arange(len(positions), dtype=jnp.uint32)

        def step(states: State, now: tuple[jax.Array, jax.Array]) -> tuple[State, Any]:
            states, info = advance(key, chains, now[0], states, tables, now[1])
            return states, (states.score.max(), info.energy_evaluations.sum(dtype=jnp.int32))

        states = jax.vmap(stepper.init, (0, None, None))(positions, tables, temperatures[0])
        states, told = jax.lax.scan(step, states, (numbers, temperatures))
        return states.position, told

    return jax.jit(run).lower(*shapes).compile()


class Anneal(NamedTuple):
    """Chains, sweeps of the first run (steps over the number of variables; every restart has twice as many),
    temperatures, settings."""

    chains: int
    sweeps: float
    hot: float
    cold: float
    settings: tuple[tuple[str, Any], ...] = ()


WORKERS = 2
"""Of the solver. Its seconds are divided by them, as if they never waited; our kernels run on one thread."""
ANNEALS = {  # chosen on sets of other seeds than those measured
    "gibbs": Anneal(2, 5, 0.02, 0.003, (("block_probability", 0.0),)),
    "metropolis": Anneal(16, 250, 0.05, 0.003),
}


Searcher = Callable[[int], Timeline]
"""A method made ready for one set of coupled rules: a run by seed."""


def annealer(kernel: str) -> Callable[[Tables, Sequence[Tables]], Searcher]:
    def ready(tables: Tables, spaces: Sequence[Tables]) -> Searcher:
        plan = ANNEALS[kernel]
        steps = round(plan.sweeps * len(tables.sizes))
        settings = frozen(
            kernel, STEPPERS[kernel].complete(dict(plan.settings), spaces, plan.chains, plan.hot)
        )
        device_tables = jax.tree.map(jnp.asarray, without_sources(tables))

        def run(seed: int) -> Timeline:
            parts = 2**seed
            temperatures = jnp.asarray(np.geomspace(plan.hot, plan.cold, parts * steps).reshape(parts, steps))
            numbers = jnp.arange(parts * steps, dtype=jnp.int32).reshape(parts, steps)
            key = (jnp.uint32(seed), jnp.uint32(0))
            positions, told = jnp.asarray(draw_starts(tables, plan.chains, seed)), []
            began = clock()
            shapes = jax.eval_shape(
                lambda *leaves: leaves, device_tables, positions, key, numbers[0], temperatures[0]
            )
            compiled = annealing(kernel, settings, shapes)
            started = clock()
            for part in range(parts):
                positions, found = jax.block_until_ready(
                    compiled(device_tables, positions, key, numbers[part], temperatures[part])
                )
                told.append(found)
            wall = clock() - started
            score, evaluations = (np.concatenate(leaves) for leaves in zip(*told, strict=True))
            spent = plan.chains + np.cumsum(evaluations, dtype=np.int64)
            return Timeline(
                wall * np.arange(1, len(score) + 1) / len(score),
                spent,
                np.maximum.accumulate(score),
                started - began,
            )

        return run

    return ready


class Beside(NamedTuple):
    """What a variable's score depends on: pairs, the other variables, and their tables (pairs, options of
    it, options of the other)."""

    pairs: np.ndarray
    others: np.ndarray
    values: np.ndarray
    flags: np.ndarray


def beside(tables: Tables, variable: int) -> Beside:
    left, right = tables.pairs.T
    upright, turned = (
        np.flatnonzero((left == variable) & (right != variable)),
        np.flatnonzero((right == variable) & (left != variable)),
    )
    return Beside(
        np.concatenate([upright, turned]),
        np.concatenate([right[upright], left[turned]]),
        np.concatenate([tables.pairwise[upright], tables.pairwise[turned].swapaxes(1, 2)]),
        np.concatenate([tables.pair_flags[upright], tables.pair_flags[turned].swapaxes(1, 2)]),
    )


def climber(tables: Tables, spaces: Sequence[Tables]) -> Searcher:
    """Coordinate ascent from one start of p0, in NumPy: every variable in random order takes its best
    option, until none improves."""
    neighbours, sizes = [beside(tables, v) for v in range(len(tables.sizes))], tables.sizes.tolist()
    every, numbers = np.arange(len(tables.sizes)), np.arange(len(tables.pairs))

    def run(seed: int) -> Timeline:
        generator = np.random.default_rng(seed)
        position = draw_prior(tables, 1, generator)[0]
        began, evaluations, improved = clock(), 1, True
        while improved:
            improved = False
            alone = tables.unary_flags[every, position]
            together = tables.pair_flags[numbers, position[tables.pairs[:, 0]], position[tables.pairs[:, 1]]]
            for v in generator.permutation(len(sizes)).tolist():
                near = neighbours[v]
                which, chosen = np.arange(len(near.pairs)), position[near.others]
                score = tables.unary[v] + near.values[which, :, chosen].sum(0)
                flags = near.flags[which, :, chosen]
                outside = alone.sum() - alone[v] + together.sum() - together[near.pairs].sum() > 0
                score -= tables.penalty * (tables.unary_flags[v] | flags.any(0) | outside)
                evaluations += sizes[v] - 1
                top = int(score[: sizes[v]].argmax())
                if score[top] > score[position[v]] + 1e-12:
                    position[v], improved = top, True
                    alone[v], together[near.pairs] = tables.unary_flags[v, top], flags[:, top]
        return Timeline(
            np.array([clock() - began]),
            np.array([evaluations]),
            np.array([score_of(tables, position)]),
            0.0,
        )

    return run


def score_of(tables: Tables, position: np.ndarray) -> float:
    """s_search in float64."""
    every, pairs = np.arange(len(position)), np.arange(len(tables.pairs))
    left, right = position[tables.pairs[:, 0]], position[tables.pairs[:, 1]]
    raised = tables.unary_flags[every, position].any() or tables.pair_flags[pairs, left, right].any()
    return float(
        tables.unary[every, position].sum()
        + tables.pairwise[pairs, left, right].sum()
        - tables.penalty * raised
    )


METHODS: dict[str, Callable[[Tables, Sequence[Tables]], Searcher]] = {
    **{kernel: annealer(kernel) for kernel in ANNEALS},
    "coordinate ascent": climber,
}
OURS = ("gibbs", "metropolis")


def how(method: str) -> str:
    if method in ANNEALS:
        plan = ANNEALS[method]
        schedule = f"tau {plan.hot:g} to {plan.cold:g} geometrically"
        return f"{plan.chains} chains, {plan.sweeps:g} sweeps and twice as many each restart, {schedule}"
    return "restarts, NumPy"


def search(run: Searcher, target: float, patience: float) -> Timeline:
    """Restarts one after another until the target is met or patience is over."""
    parts: list[Timeline] = []
    seconds, evaluations, highest = 0.0, 0.0, -math.inf
    while highest < target - REACHED and seconds <= patience:
        part = run(len(parts))
        parts.append(
            part._replace(seconds=part.seconds + seconds, evaluations=part.evaluations + evaluations)
        )
        seconds, evaluations = float(parts[-1].seconds[-1]), float(parts[-1].evaluations[-1])
        highest = max(highest, float(part.score.max()))
    joined = [
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("seconds", "evaluations", "score")
    ]
    return Timeline(
        joined[0], joined[1], np.maximum.accumulate(joined[2]), max(part.compile for part in parts)
    )


def coupled_costs(
    size: Size, shapes: Sequence[tuple[int, int]], grading: float, limit: float
) -> Iterator[Row]:
    """One row for each set of rules and method; the solver's own first incumbent that is near enough stands
    for it."""
    for rules, options in shapes:
        seeds = size.seeds[:2] if grading else size.seeds
        spaces = alike([coupled_rules(rules, options, seed, grading=grading) for seed in seeds])
        for seed, tables in zip(seeds, spaces, strict=True):
            building = seconds_of(
                lambda seed=seed, shape=(rules, options): coupled_rules(*shape, seed, grading=grading)
            )
            for row in one_set(size, tables, spaces, bool(grading), limit):
                extra = {"tables": building} if row["method"] == "cpsat" else {}
                yield {"rules": rules, "options": options, "seed": seed, "grading": grading} | row | extra


def one_set(
    size: Size, tables: Tables, spaces: Sequence[Tables], graded: bool, limit: float
) -> Iterator[Row]:
    solved = solve(tables, seconds=limit, workers=WORKERS)
    target = solved.bound - NEAR * abs(solved.bound)
    # Where the bound is weak, the best score that anyone found is the mark, and everyone gets the same time.
    mark = math.inf if graded else target
    found = {method: search(ready(tables, spaces), mark, size.patience) for method, ready in METHODS.items()}
    incumbents = np.array(solved.incumbents).reshape(-1, 2) / [WORKERS, 1]
    found_by_solver = Timeline(incumbents[:, 0], np.zeros(len(incumbents)), incumbents[:, 1], 0.0)
    best_known = max(solved.score, *(float(line.score.max()) for line in found.values()))
    if graded:
        target = best_known - NEAR * abs(best_known)
    row: Row = {"bound": solved.bound, "best known": best_known, "target": target}
    reached = found_by_solver.reaches(target)
    status = f"{solved.status} after {solved.solve_seconds:.1f} s"
    yield {
        "method": "cpsat",
        "seconds": reached and reached[1],
        "best": solved.score,
        "model": solved.build_seconds,
        "status": status,
    } | row
    for method, line in found.items():
        evaluations, seconds = line.reaches(target) or (None, None)
        made: Row = {
            "method": method,
            "seconds": seconds,
            "best": float(line.score.max()),
            "evaluations": evaluations,
        }
        yield made | {"compile": line.compile, "setting": how(method)} | row


def coupled_summary(rows: Sequence[Row]) -> Iterator[Row]:
    """Per shape and method the median over seeds; the best of our kernels on each set beside CP-SAT."""

    def median(values: Sequence[float | None]) -> float | None:
        middle = statistics.median([math.inf if v is None else v for v in values])
        return middle if math.isfinite(middle) else None

    shapes = dict.fromkeys((r["rules"], r["options"]) for r in rows)
    for shape in shapes:
        here = [r for r in rows if (r["rules"], r["options"]) == shape]
        for method in dict.fromkeys(r["method"] for r in here):
            of = [r for r in here if r["method"] == method]
            line: Row = {
                "rules": shape[0],
                "options": shape[1],
                "method": method,
                "reached": f"{sum(r['seconds'] is not None for r in of)}/{len(of)}",
            }
            yield line | {
                "seconds, median": median([r["seconds"] for r in of]),
                "evaluations, median": median([r.get("evaluations") for r in of])
                if method != "cpsat"
                else None,
                "best / target": statistics.median(r["best"] / r["target"] for r in of),
                "model or compile": max(r.get("model") or r.get("compile") or 0.0 for r in of),
            }
    large = [r for r in rows if r["rules"] >= 8]
    if large:
        sets = dict.fromkeys((r["rules"], r["options"], r["seed"]) for r in large)
        ours = [
            min(
                (r["seconds"] or math.inf for r in large if key(r) == c and r["method"] in OURS),
                default=math.inf,
            )
            for c in sets
        ]
        theirs = [
            next(r["seconds"] or math.inf for r in large if key(r) == c and r["method"] == "cpsat")
            for c in sets
        ]
        ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
        yield {
            "what": "8 rules or more: best of our kernels, median s",
            "value": statistics.median(ours),
            "cpsat": statistics.median(theirs),
            "sooner on": f"{sum(a < b for a, b in zip(ours, theirs, strict=True))}/{len(ours)}",
            "ours / cpsat, median": ratio,
            "met": ratio < 1 and statistics.median(ours) < statistics.median(theirs),
        }


def key(row: Row) -> tuple[int, int, int]:
    return row["rules"], row["options"], row["seed"]
