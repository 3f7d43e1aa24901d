"""Search at the paper's budget on the 16 dev goals: ``python -m gnrs_ppl.experiments.search_budget
[--json]``.

How hard the spaces are (states, local optima), and how often 200 Metropolis steps find the exact optimum,
beside two searches that may score as many structures: restarted coordinate ascent and independent draws from
p0. It reports; nothing passes or fails.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.benchmarks.gnrs_bench import benchmark_goal, goals
from gnrs_ppl.calibration.weights import DEFAULT_WEIGHTS
from gnrs_ppl.candidates.build import pools_of
from gnrs_ppl.errors import InputError
from gnrs_ppl.evaluate.hard_ok import hard_ok
from gnrs_ppl.experiments.command import show_tables
from gnrs_ppl.experiments.tables import CellValue, Column, ResultTable, heads
from gnrs_ppl.inference.chains import run_many
from gnrs_ppl.inference.exact import TIE, Enumeration, enumerate_space, exact_posterior
from gnrs_ppl.inference.result import Chains, best_visited
from gnrs_ppl.inference.starts import draw_prior
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, Tables, contract
from gnrs_ppl.models.graph import AndOrGraph, compile_graph

STEPS = 200
"""The paper's steps; a start is scored too, so a chain of n steps makes n + 1 energy evaluations."""
SHORT = 100
CHAINS = 64
"""What ``gnrs draft`` runs."""
SEEDS = (0, 1, 2)
RUNS = 100
"""Runs of a single chain and of the other searches, for shares with a standard error of at most 0.05 a goal.
"""
REACHED = 1e-6
"""A run reached the optimum when its best score is this near; chains score in float32."""


class Landscape(NamedTuple):
    """What the space of one goal is like to a search that changes one slot at a time.

    Attributes
    ----------
    states, feasible : int
        Structures, and those of them that pass h.
    optimal : int
        Structures that share the greatest score.
    optimal_mass : float
        Their probability under p(a | x) at the search temperature: the share of its steps that a perfect
        sampler spends on them.
    local_optima : int
        Structures that no change of a single slot's option improves, ties included.
    feasible_local_optima : int
        Those that pass h. Leaving the infeasible out of the space changes nothing for them: lambda puts every
        infeasible structure below every feasible one.
    plateaus : int
        Connected sets of local optima; single-slot changes at equal score connect.
    open_plateaus : int
        Those that touch a structure of equal score from which a further change improves, so that a search
        that takes ties can leave.
    """

    states: int
    feasible: int
    optimal: int
    optimal_mass: float
    local_optima: int
    feasible_local_optima: int
    plateaus: int
    open_plateaus: int


class Ascents(NamedTuple):
    """Ascents from one start after another, as structure numbers, and the energy evaluations that they took
    together.
    """

    paths: tuple[tuple[int, ...], ...]
    evaluations: int


class MethodAtBudget(NamedTuple):
    """What the runs of one method at one budget found.

    Attributes
    ----------
    method : str
    evaluations : int
        Energy evaluations of one run.
    runs : int
        On each goal.
    reached : float
        Share of runs whose best structure scores within ``REACHED`` of the optimum.
    epsilon : float
        Mean epsilon_S: exact optimum minus best score visited, with lambda in it where no feasible structure
        was.
    feasible : float
        Share of runs whose best structure passes h (in the JSON only).
    hard_ok : float
        Share of runs whose best structure passes HARD-OK.
    """

    method: str
    evaluations: int
    runs: int
    reached: float
    epsilon: float
    feasible: float
    hard_ok: float


class GoalBudget(NamedTuple):
    """One goal."""

    goal: str
    landscape: Landscape
    found: tuple[MethodAtBudget, ...]

    def as_dict(self) -> dict[str, Any]:
        """JSON."""
        return {
            "goal": self.goal,
            "landscape": self.landscape._asdict(),
            "found": [f._asdict() for f in self.found],
        }


def landscape(enumeration: Enumeration) -> Landscape:
    """Count local optima over the whole space; scores within ``TIE`` are one score."""
    score = enumeration.score.reshape(enumeration.sizes)
    axes = range(score.ndim)
    tops = [score >= score.max(axis, keepdims=True) - TIE for axis in axes]
    local = np.logical_and.reduce(tops)
    # The local optima on one line all have the line's greatest score, so they are one plateau: the greatest
    # number on it spreads.
    plateau, before = np.where(local, np.arange(score.size).reshape(score.shape), -1), None
    while before is None or not np.array_equal(plateau, before):
        before = plateau
        for axis in axes:
            plateau = np.where(local, plateau.max(axis, keepdims=True), -1)
    left = np.logical_or.reduce(
        [local & (top & ~local).any(axis, keepdims=True) for axis, top in enumerate(tops)]
    )
    mass = exact_posterior(enumeration, SEARCH_TEMPERATURE).probability
    return Landscape(
        states=score.size,
        feasible=int(enumeration.feasible.sum()),
        optimal=enumeration.optimal,
        optimal_mass=float(mass[enumeration.score >= enumeration.score.max() - TIE].sum()),
        local_optima=int(local.sum()),
        feasible_local_optima=int(local.reshape(-1)[enumeration.feasible].sum()),
        plateaus=len(np.unique(plateau[local])),
        open_plateaus=len(np.unique(plateau[left])),
    )


def coordinate_ascent(
    enumeration: Enumeration, tables: Tables, evaluations: int, generator: np.random.Generator
) -> Ascents:
    """Climb from starts drawn from p0 until the energy evaluations are spent.

    A sweep visits the slots in random order and gives each its best option, the others as they stand. A start
    counts as one evaluation, a slot as one for each option but the current one, whose score is known. After a
    sweep that improved nothing comes a new start.

    Parameters
    ----------
    enumeration : Enumeration
        Scores, looked up by number.
    tables : Tables
        Of the same space, for p0.
    evaluations : int
        At least 1; the last slot is looked at as far as they reach.
    generator : numpy.random.Generator

    Returns
    -------
    Ascents
        Every path begins at its start, and each further structure scores higher than the one before.
    """
    score, sizes = enumeration.score, enumeration.sizes
    strides = [math.prod(sizes[v + 1 :]) for v in range(len(sizes))]
    paths: list[tuple[int, ...]] = []
    left = evaluations
    while left:
        path = [int(_numbers(draw_prior(tables, 1, generator), enumeration)[0])]
        left -= 1
        improved = True
        while improved and left:
            improved = False
            for v in generator.permutation(len(sizes)).tolist():
                size, stride = sizes[v], strides[v]
                option = path[-1] // stride % size
                first = path[-1] - option * stride
                looked = score[first : first + size * stride : stride][: left + (option < left)]
                left -= min(left, size - 1)
                best = int(looked.argmax()) if looked.size else option
                if score[first + best * stride] > score[path[-1]] + TIE:
                    path.append(first + best * stride)
                    improved = True
        paths.append(tuple(path))
    return Ascents(tuple(paths), evaluations - left)


def random_search(
    enumeration: Enumeration, tables: Tables, evaluations: int, generator: np.random.Generator
) -> int:
    """Number of the best of independent draws from p0, the first of those that tie."""
    return _best(_numbers(draw_prior(tables, evaluations, generator), enumeration), enumeration)


def search_budget(goal_ids: Sequence[str]) -> list[GoalBudget]:
    """Landscape and every method at every budget for some dev goals; the chains of all goals run in one
    program.

    A chain's first ``SHORT`` steps are the run of ``SHORT`` steps of the same seed. The ``RUNS`` chains have
    a seed of their own and as many superchains, so that each has its own start (drawn without replacement).

    Raises
    ------
    InputError
        A goal that is not a dev goal.
    """
    for goal in goal_ids:
        if benchmark_goal(goal).split != "dev":
            raise InputError("is no dev goal", "see gnrs goals --split dev", source=goal)
    contexts = [load_context(goal) for goal in goal_ids]
    graphs = [compile_graph(context, pools_of(context).pools) for context in contexts]
    spaces = [contract(graph.space, DEFAULT_WEIGHTS.array()) for graph in graphs]
    request: dict[str, Any] = {"steps": STEPS, "temperature": SEARCH_TEMPERATURE, "names": list(goal_ids)}
    single = [run_many(spaces, chains=1, seed=seed, **request) for seed in SEEDS]
    many = run_many(spaces, chains=RUNS, superchains=RUNS, seed=len(SEEDS), **request)
    together = [run_many(spaces, chains=CHAINS, seed=seed, **request) for seed in SEEDS]
    rows = []
    for number, (goal, graph, tables) in enumerate(zip(goal_ids, graphs, spaces, strict=True)):
        enumeration = enumerate_space(tables)
        passed = _gate(graph, enumeration)
        hundred = [_part(many[number], chain, STEPS) for chain in range(RUNS)]
        alone = [runs[number] for runs in single]
        found = []
        for steps in (SHORT, STEPS):
            for kept in (alone, hundred):
                best = [_visited(_part(chains, 0, steps), enumeration) for chains in kept]
                found.append(_found("1 chain", steps + 1, best, enumeration, passed))
            found += _baselines(goal, steps + 1, tables, enumeration, passed)
        best = [_visited(runs[number], enumeration) for runs in together]
        found.append(_found(f"{CHAINS} chains", CHAINS * (STEPS + 1), best, enumeration, passed))
        found += _baselines(goal, CHAINS * (STEPS + 1), tables, enumeration, passed)
        rows.append(GoalBudget(goal, landscape(enumeration), tuple(found)))
    return rows


def mean_landscape(rows: Sequence[GoalBudget]) -> dict[str, float]:
    """Mean of every count over goals."""
    return dict(zip(Landscape._fields, np.mean([r.landscape for r in rows], axis=0).tolist(), strict=True))


def mean_found(rows: Sequence[GoalBudget]) -> tuple[MethodAtBudget, ...]:
    """Mean of every method's shares over goals."""
    means = []
    for same in zip(*(r.found for r in rows), strict=True):
        reached, epsilon, feasible, passed = np.mean([f[3:] for f in same], axis=0).tolist()
        means.append(same[0]._replace(reached=reached, epsilon=epsilon, feasible=feasible, hard_ok=passed))
    return tuple(means)


def tables(rows: Sequence[GoalBudget]) -> list[ResultTable]:
    """One table of the spaces, and one for each budget; means over goals stand last."""
    spaces: list[tuple[CellValue, ...]] = [(r.goal, *r.landscape) for r in rows]
    spaces.append(("mean", *mean_landscape(rows).values()))
    columns = heads(
        "goal | states:1 | feasible:1 | optimal:1 | their mass:4 | local optima:1 | of them feasible:1 | "
        "plateaus:1 | of them open:1"
    )
    title, says = f"Spaces; mass at τ = {SEARCH_TEMPERATURE}", "Single-slot changes connect."
    found = [ResultTable("spaces", title, says, columns, spaces)]
    means = mean_found(rows)
    every = [*((r.goal, r.found) for r in rows), ("mean", means)]
    for budget in dict.fromkeys(f.evaluations for f in means):
        names = [f"{f.method}, {f.runs} runs" for f in means if f.evaluations == budget]
        cells = [(goal, *(_shares(f) for f in some if f.evaluations == budget)) for goal, some in every]
        columns = tuple(map(Column, ("goal", *names)))
        title = f"{budget:,} energy evaluations"
        found.append(ResultTable(f"budget_{budget}", title, SHARES, columns, cells))
    return found


SHARES = "Share that reach the optimum / mean ε_S / share HARD-OK."


def _shares(found: MethodAtBudget) -> str:
    return f"{found.reached:.2f} / {found.epsilon:.4f} / {found.hard_ok:.2f}"


def main(as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False) -> None:
    """Search at the paper's budget on the dev goals of GNRS-Bench."""
    rows = search_budget([g.id for g in goals() if g.split == "dev"])
    if as_json:
        means = {"landscape": mean_landscape(rows), "found": [f._asdict() for f in mean_found(rows)]}
        typer.echo(json.dumps({"goals": [r.as_dict() for r in rows], "means": means}, indent=2))
    else:
        show_tables(tables(rows))


def _baselines(
    goal: str, evaluations: int, tables: Tables, enumeration: Enumeration, passed: Callable[[int], bool]
) -> tuple[MethodAtBudget, MethodAtBudget]:
    """Coordinate ascent and random search, ``RUNS`` runs each; a run's random numbers follow from its number
    and the goal.
    """
    climbed, drawn = [], []
    for run in range(RUNS):
        stream = [run, zlib.crc32(goal.encode())]
        paths = coordinate_ascent(enumeration, tables, evaluations, np.random.default_rng(stream)).paths
        climbed.append(_best(np.array([path[-1] for path in paths]), enumeration))
        drawn.append(random_search(enumeration, tables, evaluations, np.random.default_rng(stream)))
    return (
        _found("coordinate ascent", evaluations, climbed, enumeration, passed),
        _found("random search", evaluations, drawn, enumeration, passed),
    )


def _found(
    method: str,
    evaluations: int,
    best: Sequence[int],
    enumeration: Enumeration,
    passed: Callable[[int], bool],
) -> MethodAtBudget:
    """Shares over the best structures of some runs."""
    numbers = np.array(best)
    gap = float(enumeration.score.max()) - enumeration.score[numbers]
    return MethodAtBudget(
        method=method,
        evaluations=evaluations,
        runs=len(best),
        reached=float((gap <= REACHED).mean()),
        epsilon=float(np.where(gap < TIE, 0.0, gap).mean()),
        feasible=float(enumeration.feasible[numbers].mean()),
        hard_ok=float(np.mean([passed(number) for number in best])),
    )


def _gate(graph: AndOrGraph, enumeration: Enumeration) -> Callable[[int], bool]:
    """HARD-OK by structure number, asked once for each."""
    return cache(
        lambda number: hard_ok(graph.structure(enumeration.position(number)), graph.facts.context).passed
    )


def _part(chains: Chains, chain: int, steps: int) -> Chains:
    """The first steps of one of the chains."""
    own = slice(chain, chain + 1)
    drawn = {
        name: getattr(chains, name)[own, :steps]
        for name in ("positions", "score", "feasible", "move", "accepted")
    }
    once = {
        name: getattr(chains, name)[own] for name in ("starts", "start_score", "start_feasible", "superchain")
    }
    return chains._replace(**drawn, **once)


def _visited(chains: Chains, enumeration: Enumeration) -> int:
    return int(_numbers(best_visited(chains).position[None], enumeration)[0])


def _numbers(positions: NDArray[np.int32], enumeration: Enumeration) -> NDArray[np.int64]:
    """Structure number of each position, shape (n, V)."""
    numbers: NDArray[np.int64] = np.ravel_multi_index(tuple(positions.T), enumeration.sizes)
    return numbers


def _best(numbers: NDArray[np.int64], enumeration: Enumeration) -> int:
    """The first of the structures that share the greatest score."""
    score = enumeration.score[numbers]
    return int(numbers[(score >= score.max() - TIE).argmax()])


if __name__ == "__main__":
    typer.run(main)
