"""Speed and worth of every kernel: steps per second, yardsticks, and the cost of an optimum, of marginals and of good charters.

Run ``python perf/inference.py`` (``--quick`` for a smoke run of all parts). Writes ``perf/results/<device>.json``. What a part needs and is
not installed is reported as such and skipped: numba, OR-Tools, PyMC (which pins numba and ArviZ to older versions: ``--pymc PYTHON`` names
an interpreter that has it). Seconds never contain compiling, which stands beside them, nor building a model.

- ``kernels``: steps and energy evaluations per second by number of chains; of metropolis, gibbs and informed nothing is recorded
- ``yardsticks``: the Metropolis kernel beside numba, plain Python, and its random bits alone
- ``libraries``: PyMC and NumPyro
- ``sweep``: enumeration
- ``goals``: the 16 dev goals, to the optimum and to good marginals
- ``charters``: to within 1 % of CP-SAT's bound
- ``graded``: charters whose bound is weak, to within 1 % of the best score that any method found
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs without an installation too

import jax
import jax.numpy as jnp
import numpy as np
import scalar

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.benchmarks.gnrs_bench import goals
from gnrs_ppl.calibration.weights import DEFAULT_WEIGHTS
from gnrs_ppl.candidates.build import pools_of
from gnrs_ppl.errors import InputError
from gnrs_ppl.experiments.search_budget import coordinate_ascent
from gnrs_ppl.inference.chains import STEPPERS, advance_of, frozen, observe_chains, run_chains, run_many
from gnrs_ppl.inference.cpsat import solve
from gnrs_ppl.inference.exact import enumerate_space, exact_posterior, number_of_states, slot_marginals
from gnrs_ppl.inference.metropolis import State, init
from gnrs_ppl.inference.moves import WORDS
from gnrs_ppl.inference.observe import best
from gnrs_ppl.inference.result import Chains
from gnrs_ppl.inference.starts import draw_prior, draw_starts
from gnrs_ppl.inference.sweep import sweep
from gnrs_ppl.models.charters import charter
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE as TAU
from gnrs_ppl.models.energy import Tables, contract, log_prior, padded
from gnrs_ppl.models.graph import compile_graph
from gnrs_ppl.versions import versions

ROOT = Path(__file__).resolve().parent
GOALS = ("GNRS-005", "GNRS-052")  # dev goals: an ordinary one, and the one with most structures
REACHED = 1e-5  # chains score in float32
MARGINAL_ERROR = 0.02
NEAR = 0.01  # how far from the bound is near enough on a charter


class Size(NamedTuple):
    """How much is measured."""

    chains: tuple[int, ...]
    repeats: int
    second: float  # how long one timed run should take, in seconds
    longest: float  # combinations that would take longer are skipped
    goals: int
    seeds: tuple[int, ...]
    charters: tuple[tuple[int, int], ...]
    graded: tuple[tuple[int, int], ...]
    patience: float  # seconds after which a method is not started again on a charter; the last run may take longer
    patience_others: float  # of the methods that trials showed to be slower
    solver: float
    solver_graded: float


FULL = Size(
    chains=(64, 1024, 4096, 65536, 10**6),
    repeats=3,
    second=0.5,
    longest=60.0,
    goals=16,
    seeds=(0, 1, 2),
    charters=((2, 32), (8, 32), (16, 32), (32, 32), (2, 256), (8, 256)),
    graded=((8, 32), (16, 32)),
    patience=6.0,
    patience_others=1.5,
    solver=60.0,
    solver_graded=8.0,
)
QUICK = Size((64, 1024), 2, 0.05, 1.0, 2, (0,), ((2, 32), (8, 32)), ((2, 32),), 1.0, 0.5, 5.0, 2.0)

Row = dict[str, Any]


# ---- tables


@cache
def goal_tables() -> dict[str, Tables]:
    """The 16 dev goals at the default weights."""
    found = {}
    for goal in goals():
        if goal.split == "dev":
            context = load_context(goal.id)
            found[goal.id] = contract(compile_graph(context, pools_of(context).pools).space, DEFAULT_WEIGHTS.array())
    return found


def alike(spaces: Sequence[Tables]) -> list[Tables]:
    """Padded to one shape, so that all of them share compiled programs."""
    options, pairs = max(t.unary.shape[1] for t in spaces), max(len(t.pairs) for t in spaces)
    return [padded(t, options, pairs) for t in spaces]


def seconds_of(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    jax.block_until_ready(work())
    return time.perf_counter() - began


# ---- kernels


class Run(NamedTuple):
    """One timed run: chain steps, energy evaluations, seconds running and compiling."""

    steps: int
    evaluations: int
    wall: float
    compile: float


def observed(tables: Tables, kernel: str, chains: int, steps: int) -> Run:
    found = observe_chains(tables, {"best": best()}, chains=chains, steps=steps, temperature=TAU, seed=0, kernel=kernel)
    return Run(chains * steps, found.energy_evaluations, found.wall_seconds, found.compile_seconds)


def recorded(tables: Tables, kernel: str, chains: int, steps: int) -> Run:
    found = run_chains(tables, chains=chains, steps=steps, temperature=TAU, seed=0, kernel=kernel)
    return Run(chains * steps, found.energy_evaluations, found.wall_seconds, found.compile_seconds)


RUNS: dict[str, tuple[Callable[[Tables, str, int, int], Run], str]] = {
    "metropolis": (observed, "chain steps"),
    "gibbs": (observed, "chain steps"),
    "informed": (observed, "chain steps"),
    "tempering": (recorded, "steps of ladders of 8"),
    "smc": (recorded, "particles"),
    "exact": (recorded, "independent draws"),
}
"""How a kernel is timed, and what its steps are: of smc every particle counts once, with 8 mutations at each of its temperatures."""
FIRST_RATE = 1e5


def kernel_speeds(size: Size) -> Iterator[Row]:
    tables = goal_tables()[GOALS[1]]
    for kernel, (run, unit) in RUNS.items():
        rate = FIRST_RATE
        for chains in size.chains:
            steps = {"smc": 8, "exact": 1}.get(kernel) or min(200, max(4, round(size.second * rate / chains)))
            counted = chains if kernel == "smc" else chains * steps
            row: Row = {"kernel": kernel, "chains": chains, "steps": steps, "unit": unit}
            if counted / rate > size.longest:
                yield row | {"status": f"skipped: would take {counted / rate:.0f} s"}
                continue
            try:
                first = run(tables, kernel, chains, steps)
                runs = [run(tables, kernel, chains, steps) for _ in range(size.repeats if first.wall < 5 else 1)]
            except InputError as refusal:
                yield row | {"status": f"refused: {refusal}"}
                continue
            wall = statistics.median(r.wall for r in runs)
            rate = counted / wall
            yield row | {"steps/s": rate, "evaluations/s": first.evaluations / wall, "seconds": wall, "compile": first.compile}


# ---- yardsticks


@lru_cache
def bits_alone(chains: int, steps: int) -> Callable[[jax.Array], jax.Array]:
    """Steps that are nothing but their random words."""

    def step(kept: jax.Array, key: jax.Array) -> tuple[jax.Array, None]:
        return kept ^ jax.random.bits(key, (WORDS, chains), jnp.uint32), None

    return jax.jit(lambda keys: jax.lax.scan(step, jnp.zeros((WORDS, chains), jnp.uint32), keys)[0])


def yardsticks(size: Size) -> Iterator[Row]:
    if scalar.numba:
        scalar.numba.set_num_threads(min(os.cpu_count() or 1, scalar.numba.config.NUMBA_NUM_THREADS))
        yield {"what": "numba, greatest error of its slot marginals", "value": max(map(scalar.marginals_off, scalar.SMALL_SPACES))}
    else:
        yield {"what": "numba", "status": "not installed"}
    yield {"what": "words a step", "value": WORDS, "aim": 3, "met": WORDS <= 3}
    for goal in GOALS[-1:] if size is QUICK else GOALS:
        for row in compared(goal_tables()[goal], 3 * size.repeats):
            yield {"goal": goal} | row
    for chains in (4096, 65536):
        yield two_devices(chains)


def compared(tables: Tables, rounds: int) -> Iterator[Row]:
    """Timed in turn, so that a busy moment of the machine hits all alike; ratios are medians of the rounds' ratios."""
    steps, python_steps = 200, 2000
    given, keys = scalar.flat(tables), jax.random.split(jax.random.key(0), steps)
    works: dict[str, tuple[int, Callable[[], float]]] = {}

    def add(chains: int) -> None:
        starts, words = draw_prior(tables, chains, np.random.default_rng(0)), scalar.first_words(chains, 0)
        number = chains * steps
        works[f"metropolis, {chains} chains"] = (number, lambda: recorded(tables, "metropolis", chains, steps).wall)
        works[f"bits alone, {chains} chains"] = (number, lambda: seconds_of(lambda: bits_alone(chains, steps)(keys)))
        if scalar.numba:
            works[f"numba, {chains} chains"] = (number, lambda: seconds_of(lambda: scalar.walk_all(given, TAU, steps, words, starts)))

    add(64)
    add(4096)
    works["plain Python, 1 chain"] = (
        python_steps,
        lambda: seconds_of(lambda: scalar.walk_in_python(tables, [0] * len(tables.sizes), python_steps)),
    )
    taken = [{what: work() for what, (_, work) in works.items()} for _ in range(rounds + 1)][1:]
    rates = {what: [number / each[what] for each in taken] for what, (number, _) in works.items()}
    for what, found in rates.items():
        yield {"what": what, "steps/s": statistics.median(found), "fastest": max(found)}
    ours = rates["metropolis, 4096 chains"]
    for what, aim in (("numba", 0.7), ("bits alone", 0.4)):
        theirs = rates.get(f"{what}, 4096 chains")
        if theirs:
            ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
            row: Row = {"what": f"metropolis / {what}, 4096 chains", "value": ratio, "of the fastest": max(ours) / max(theirs)}
            yield row | {"aim": aim, "met": ratio >= aim}


TWO_DEVICES = """
import sys; sys.path[:0] = sys.argv[1:2]
import inference
runs = [inference.recorded(inference.goal_tables()[inference.GOALS[1]], "metropolis", int(sys.argv[2]), 50) for _ in range(5)]
print(sorted(r.steps / r.wall for r in runs[1:])[len(runs) // 2])
"""


def two_devices(chains: int) -> Row:
    """The same chains where JAX is told to take two cores for two devices."""
    environment = os.environ | {"JAX_NUM_CPU_DEVICES": "2", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", TWO_DEVICES, str(ROOT), str(chains)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    row: Row = {"goal": GOALS[1], "what": f"metropolis, {chains} chains, JAX_NUM_CPU_DEVICES=2"}
    return row | ({"steps/s": float(done.stdout)} if done.returncode == 0 else {"status": f"failed: {done.stderr[-200:]}"})


# ---- libraries


def libraries(size: Size, pymc_python: str) -> Iterator[Row]:
    tables, chains, draws = goal_tables()[GOALS[1]], 64, 10 if size is QUICK else 500
    yield from isolated("NumPyro DiscreteGibbs", lambda: numpyro_speed(tables, chains, draws))
    yield from isolated("PyMC CategoricalGibbsMetropolis", lambda: pymc_speed(tables, pymc_python, 20 if size is QUICK else 500))


def numpyro_speed(tables: Tables, chains: int, draws: int) -> Iterator[Row]:
    from numpyro.infer import MCMC, DiscreteGibbs

    from gnrs_ppl.models.program import rule_program

    def seconds(number: int) -> float:
        sampler = MCMC(
            DiscreteGibbs(rule_program, modified=False),
            num_warmup=0,
            num_samples=number,
            num_chains=chains,
            chain_method=jax.vmap,
            progress_bar=False,
        )
        return seconds_of(lambda: (sampler.run(jax.random.key(0), tables, TAU), sampler.get_samples())[1])

    # It compiles at every call, so that running takes what more draws take longer.
    seconds(draws)
    few, many = (min(seconds(number) for _ in range(2)) for number in (draws, 11 * draws))
    row: Row = {"what": f"NumPyro DiscreteGibbs, {chains} chains", "compile": few}
    if many < 1.2 * few:
        yield row | {"status": f"compiling hides the running: {many:.2f} s for eleven times the draws"}
        return
    sweeps_a_second = 10 * chains * draws / (many - few)
    rates = {"slot updates/s": sweeps_a_second * len(tables.sizes), "evaluations/s": sweeps_a_second * int(tables.sizes.sum())}
    yield row | rates


def pymc_speed(tables: Tables, python: str, draws: int) -> Iterator[Row]:
    arrays = {name: getattr(tables, name) for name in ("sizes", "log_prior", "unary", "unary_flags", "pairs", "pairwise", "pair_flags")}
    path = Path(os.environ.get("TMPDIR", "/tmp")) / f"pymc_tables_{os.getpid()}.npz"
    np.savez(path, penalty=tables.penalty, temperature=TAU, draws=draws, **arrays)
    try:
        done = subprocess.run([python, str(ROOT / "pymc_gibbs.py"), str(path)], capture_output=True, text=True, check=False)
    finally:
        path.unlink()
    if "No module named 'pymc'" in done.stderr:
        raise ImportError(name="pymc")
    if done.returncode:
        raise RuntimeError(done.stderr[-300:])
    yield {"what": "PyMC CategoricalGibbsMetropolis, 1 chain"} | json.loads(done.stdout.splitlines()[-1])


# ---- exact


def sweeps(size: Size) -> Iterator[Row]:
    for name, tables in islice(goal_tables().items(), size.goals):
        enumerating = statistics.median(seconds_of(lambda t=tables: enumerate_space(t)) for _ in range(size.repeats))
        sweeping = statistics.median(seconds_of(lambda t=tables: sweep(t, TAU)) for _ in range(size.repeats))
        states = number_of_states(tables)
        yield {
            "goal": name,
            "states": states,
            "enumerate, ms": 1e3 * enumerating,
            "sweep, ms": 1e3 * sweeping,
            "states/s": states / sweeping,
        }
    yield large_sweep(20 if size is QUICK else 49)


LARGE_SWEEP = """
import json, re, sys; sys.path[:0] = sys.argv[1:2]
import inference
def peak():  # of this process alone; getrusage would hand on the parent's
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
tables = inference.charter(1, int(sys.argv[2]), 0)
inference.sweep(inference.charter(1, 8, 0), inference.TAU)
before = peak()
seconds = inference.seconds_of(lambda: inference.sweep(tables, inference.TAU))
print(json.dumps({"states": inference.number_of_states(tables), "sweep, ms": 1e3 * seconds, "MiB before": before, "MiB at most": peak()}))
"""


def large_sweep(options: int) -> Row:
    """A rule of five slots with pair marginals, in a process of its own, whose peak memory tells what the sweep took."""
    row: Row = {"goal": f"charter of one rule, {options} options a slot"}
    done = subprocess.run([sys.executable, "-c", LARGE_SWEEP, str(ROOT), str(options)], capture_output=True, text=True, check=False)
    return row | (json.loads(done.stdout) if done.returncode == 0 else {"status": f"failed: {done.stderr[-200:]}"})


# ---- goals


GOAL_STEPS = {"metropolis": 400, "gibbs": 100, "informed": 100, "tempering": 100}
PARTICLES = (1024, 16384)


def cost_of(found: Chains, step: int) -> tuple[float, float]:
    """Energy evaluations and seconds up to a step, of all chains together."""
    steps = found.score.shape[1]
    chains = found.score.shape[0]
    return chains + (found.energy_evaluations - chains) * step / steps, found.wall_seconds * step / steps


def on_goals(kernel: str, spaces: dict[str, Tables], chains: int, seed: int) -> list[Chains]:
    request: Row = {"chains": chains, "steps": GOAL_STEPS[kernel], "temperature": TAU, "seed": seed, "names": list(spaces)}
    run_many(list(spaces.values()), **request, kernel=kernel)  # once to compile
    return run_many(list(spaces.values()), **request, kernel=kernel)


def first_step(found: Chains, optimum: float) -> int | None:
    """Step at which the first chain stood on an optimum; 0 for its start."""
    there = np.concatenate([found.start_score[:, None], found.score], 1).max(0) >= optimum - REACHED
    return int(there.argmax()) if there.any() else None


def marginal_error(positions: np.ndarray, marginals: Sequence[np.ndarray]) -> float:
    """Greatest total variation of a slot's shares from the exact ones."""
    flat = positions.reshape(-1, positions.shape[-1])
    shares = [np.bincount(flat[:, v], minlength=len(exact))[: len(exact)] / len(flat) for v, exact in enumerate(marginals)]
    return max(float(np.abs(share - exact).sum() / 2) for share, exact in zip(shares, marginals, strict=True))


def first_good_marginals(found: Chains, marginals: Sequence[np.ndarray]) -> int | None:
    """First of the steps 1, 2, 4, ... (and halfway) whose second half, all chains together, is within ``MARGINAL_ERROR``."""
    steps = found.score.shape[1]
    looked_at = sorted({round(2 ** (k / 2)) for k in range(2 * math.ceil(math.log2(steps)) + 1)} & set(range(1, steps + 1)) | {steps})
    return next((s for s in looked_at if marginal_error(found.positions[:, s // 2 : s], marginals) <= MARGINAL_ERROR), None)


def summary(kernel: str, what: str, detail: str, costs: Sequence[tuple[float, float] | None]) -> Row:
    """Medians over runs that got there; where less than half did, the median is not known."""
    got = sorted(cost if cost else (math.inf, math.inf) for cost in costs)
    evaluations, seconds = (statistics.median(cost[i] for cost in got) for i in (0, 1))
    row: Row = {"kernel": kernel, "to": what, "setting": detail, "runs": len(got), "reached": sum(c is not None for c in costs) / len(got)}
    known = math.isfinite(evaluations)
    return row | {"evaluations, median": evaluations if known else None, "ms, median": 1e3 * seconds if known else None}


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
        swept.append((float(number_of_states(tables)), statistics.median(seconds_of(lambda t=tables: sweep(t, TAU)) for _ in range(3))))
        climbed += [climb_cost(known[name], tables, optima[name], seed) for seed in size.seeds]
    yield summary("exact", optimum, "sweep", swept)
    yield summary("exact", good, "sweep, no error", swept)
    yield summary("restarted coordinate ascent", optimum, "in Python, scores looked up", climbed)


def particle_costs(size: Size, spaces: dict[str, Tables], optima: dict[str, float], marginals: dict[str, Any]) -> Iterator[Row]:
    """The least number of particles that does it."""
    hit: dict[tuple[str, int], tuple[float, float] | None] = {(name, seed): None for seed in size.seeds for name in spaces}
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
            if first and good[name] is None and marginal_error(found.positions, marginals[name]) <= MARGINAL_ERROR:
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


# ---- charters


class Timeline(NamedTuple):
    """The best score so far against seconds and energy evaluations; what compiling took."""

    seconds: np.ndarray
    evaluations: np.ndarray
    score: np.ndarray
    compile: float

    def reaches(self, target: float) -> tuple[float, float] | None:
        there = self.score >= target - REACHED
        return (float(self.evaluations[there.argmax()]), float(self.seconds[there.argmax()])) if there.any() else None


@lru_cache(maxsize=8)
def annealing(kernel: str, settings: Any, shapes: Any) -> Any:
    """Steps of one of our kernels, each at its own temperature: where the chains end, and after each step the best score and its cost."""
    advance = advance_of(kernel, settings)

    def run(tables: Tables, positions: jax.Array, keys: jax.Array, temperatures: jax.Array) -> tuple[jax.Array, Any]:
        def step(states: State, now: tuple[jax.Array, jax.Array]) -> tuple[State, Any]:
            if kernel == "informed":  # it reads the density of where it stands, which changes with the temperature
                density = jax.vmap(log_prior, (None, 0))(tables, states.position) + states.score / now[1]
                states = states._replace(logdensity=density)
            states, info = advance(now[0], states, tables, now[1])
            return states, (states.score.max(), info.energy_evaluations.sum(dtype=jnp.int32))

        states, told = jax.lax.scan(step, jax.vmap(init, (0, None, None))(positions, tables, temperatures[0]), (keys, temperatures))
        return states.position, told

    return jax.jit(run).lower(*shapes).compile()


class Anneal(NamedTuple):
    """Chains, sweeps of the first run (steps over the number of variables; every restart has twice as many), temperatures, settings."""

    chains: int
    sweeps: float
    hot: float
    cold: float
    settings: tuple[tuple[str, Any], ...] = ()


ANNEALS = {  # chosen on charters of other seeds than those measured
    "gibbs": Anneal(2, 40, 0.04, 0.005, (("block_probability", 0.0),)),
    "metropolis": Anneal(16, 250, 0.05, 0.003),
    "informed": Anneal(8, 4, 0.05, 0.005),
}
LARGEST = {"informed": (8, 32), "tempering": (16, 32), "smc": (8, 32)}  # larger ones take longer than the others by far


Searcher = Callable[[int], Timeline]
"""A method made ready for one charter: a run by seed."""


def annealer(kernel: str) -> Callable[[Tables, Sequence[Tables]], Searcher]:
    def ready(tables: Tables, spaces: Sequence[Tables]) -> Searcher:
        plan = ANNEALS[kernel]
        steps = round(plan.sweeps * len(tables.sizes))
        settings = frozen(kernel, STEPPERS[kernel].complete(dict(plan.settings), spaces, plan.chains, plan.hot))
        device_tables = jax.tree.map(jnp.asarray, tables)

        def run(seed: int) -> Timeline:
            parts = 2**seed
            temperatures = jnp.asarray(np.geomspace(plan.hot, plan.cold, parts * steps).reshape(parts, steps))
            keys = jax.random.split(jax.random.key(seed), (parts, steps))
            positions, told = jnp.asarray(draw_starts(tables, plan.chains, seed)), []
            began = time.perf_counter()
            shapes = jax.eval_shape(lambda *leaves: leaves, device_tables, positions, keys[0], temperatures[0])
            compiled = annealing(kernel, settings, shapes)
            started = time.perf_counter()
            for part in range(parts):
                positions, found = jax.block_until_ready(compiled(device_tables, positions, keys[part], temperatures[part]))
                told.append(found)
            wall = time.perf_counter() - started
            score, evaluations = (np.concatenate(leaves) for leaves in zip(*told, strict=True))
            spent = plan.chains + np.cumsum(evaluations, dtype=np.int64)
            return Timeline(wall * np.arange(1, len(score) + 1) / len(score), spent, np.maximum.accumulate(score), started - began)

        return run

    return ready


def temperer(tables: Tables, spaces: Sequence[Tables]) -> Searcher:
    request: Row = {"chains": 4, "steps": 60 * len(tables.sizes), "temperature": 0.01, "replicas": 8, "hottest": 0.1}
    return lambda seed: recorded_timeline(run_chains(tables, **request, seed=seed, kernel="tempering"))


def particles(tables: Tables, spaces: Sequence[Tables]) -> Searcher:
    request: Row = {"chains": 512, "steps": 4 * len(tables.sizes), "temperature": 0.01}
    return lambda seed: recorded_timeline(run_chains(tables, **request, seed=seed, kernel="smc"))


def recorded_timeline(found: Chains) -> Timeline:
    share = np.arange(1, found.score.shape[1] + 1) / found.score.shape[1]
    highest = np.maximum.accumulate(found.score.max(0))
    return Timeline(found.wall_seconds * share, found.energy_evaluations * share, highest, found.compile_seconds)


class Beside(NamedTuple):
    """What a variable's score depends on: pairs, the other variables, and their tables (pairs, options of it, options of the other)."""

    pairs: np.ndarray
    others: np.ndarray
    values: np.ndarray
    flags: np.ndarray


def beside(tables: Tables, variable: int) -> Beside:
    left, right = tables.pairs.T
    upright, turned = np.flatnonzero((left == variable) & (right != variable)), np.flatnonzero((right == variable) & (left != variable))
    return Beside(
        np.concatenate([upright, turned]),
        np.concatenate([right[upright], left[turned]]),
        np.concatenate([tables.pairwise[upright], tables.pairwise[turned].swapaxes(1, 2)]),
        np.concatenate([tables.pair_flags[upright], tables.pair_flags[turned].swapaxes(1, 2)]),
    )


def climber(tables: Tables, spaces: Sequence[Tables]) -> Searcher:
    """Coordinate ascent from one start of p0, in NumPy: every variable in random order takes its best option, until none improves."""
    neighbours, sizes = [beside(tables, v) for v in range(len(tables.sizes))], tables.sizes.tolist()
    every, numbers = np.arange(len(tables.sizes)), np.arange(len(tables.pairs))

    def run(seed: int) -> Timeline:
        generator = np.random.default_rng(seed)
        position = draw_prior(tables, 1, generator)[0]
        began, evaluations, improved = time.perf_counter(), 1, True
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
        return Timeline(np.array([time.perf_counter() - began]), np.array([evaluations]), np.array([score_of(tables, position)]), 0.0)

    return run


def score_of(tables: Tables, position: np.ndarray) -> float:
    """s_search in float64."""
    every, pairs = np.arange(len(position)), np.arange(len(tables.pairs))
    left, right = position[tables.pairs[:, 0]], position[tables.pairs[:, 1]]
    raised = tables.unary_flags[every, position].any() or tables.pair_flags[pairs, left, right].any()
    return float(tables.unary[every, position].sum() + tables.pairwise[pairs, left, right].sum() - tables.penalty * raised)


METHODS: dict[str, Callable[[Tables, Sequence[Tables]], Searcher]] = {
    **{kernel: annealer(kernel) for kernel in ANNEALS},
    "tempering": temperer,
    "smc": particles,
    "coordinate ascent": climber,
}
FIRST_CHOICES = ("gibbs", "coordinate ascent")
OURS = ("gibbs", "metropolis", "informed", "tempering", "smc")


def how(method: str) -> str:
    if method in ANNEALS:
        plan = ANNEALS[method]
        schedule = f"tau {plan.hot:g} to {plan.cold:g} geometrically"
        return f"{plan.chains} chains, {plan.sweeps:g} sweeps and twice as many each restart, {schedule}"
    if method == "tempering":
        return "restarts of 4 ladders of 8, 60 sweeps, tau 0.01 to 0.1"
    return {"smc": "restarts of 512 particles, 4 sweeps of mutations, tau 0.01", "coordinate ascent": "restarts, NumPy"}.get(method, "")


def search(run: Searcher, target: float, patience: float) -> Timeline:
    """Restarts one after another until the target is met or patience is over."""
    parts: list[Timeline] = []
    seconds, evaluations, highest = 0.0, 0.0, -math.inf
    while highest < target - REACHED and seconds <= patience:
        part = run(len(parts))
        parts.append(part._replace(seconds=part.seconds + seconds, evaluations=part.evaluations + evaluations))
        seconds, evaluations = float(parts[-1].seconds[-1]), float(parts[-1].evaluations[-1])
        highest = max(highest, float(part.score.max()))
    joined = [np.concatenate([getattr(part, name) for part in parts]) for name in ("seconds", "evaluations", "score")]
    return Timeline(joined[0], joined[1], np.maximum.accumulate(joined[2]), max(part.compile for part in parts))


def charter_costs(size: Size, shapes: Sequence[tuple[int, int]], grading: float, limit: float) -> Iterator[Row]:
    """One row for each charter and method; the solver's own first incumbent that is near enough stands for it."""
    for rules, options in shapes:
        seeds = size.seeds[:2] if grading else size.seeds
        spaces = alike([charter(rules, options, seed, grading=grading) for seed in seeds])
        for seed, tables in zip(seeds, spaces, strict=True):
            building = seconds_of(lambda seed=seed, shape=(rules, options): charter(*shape, seed, grading=grading))
            for row in one_charter(size, tables, spaces, (rules, options), bool(grading), limit):
                extra = {"tables": building} if row["method"] == "cpsat" else {}
                yield {"rules": rules, "options": options, "seed": seed, "grading": grading} | row | extra


def one_charter(size: Size, tables: Tables, spaces: Sequence[Tables], shape: tuple[int, int], graded: bool, limit: float) -> Iterator[Row]:
    solved = solve(tables, seconds=limit)
    target = solved.bound - NEAR * abs(solved.bound)
    # Where the bound is weak, the best score that anyone found is the mark, and everyone gets the same time.
    mark = math.inf if graded else target
    methods = [m for m in METHODS if m not in LARGEST or (shape[0] <= LARGEST[m][0] and shape[1] <= LARGEST[m][1])]
    patience = {method: size.patience if method in FIRST_CHOICES else size.patience_others for method in methods}
    found = {method: search(METHODS[method](tables, spaces), mark, patience[method]) for method in methods}
    incumbents = np.array(solved.incumbents).reshape(-1, 2)
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
        made: Row = {"method": method, "seconds": seconds, "best": float(line.score.max()), "evaluations": evaluations}
        yield made | {"compile": line.compile, "setting": how(method)} | row


def charter_summary(rows: Sequence[Row]) -> Iterator[Row]:
    """Per shape and method the median over seeds; the best of our kernels on each charter beside CP-SAT."""

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
                "evaluations, median": median([r.get("evaluations") for r in of]) if method != "cpsat" else None,
                "best / target": statistics.median(r["best"] / r["target"] for r in of),
                "model or compile": max(r.get("model") or r.get("compile") or 0.0 for r in of),
            }
    large = [r for r in rows if r["rules"] >= 8]
    if large:
        charters = dict.fromkeys((r["rules"], r["options"], r["seed"]) for r in large)
        ours = [min((r["seconds"] or math.inf for r in large if key(r) == c and r["method"] in OURS), default=math.inf) for c in charters]
        theirs = [next(r["seconds"] or math.inf for r in large if key(r) == c and r["method"] == "cpsat") for c in charters]
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


# ---- the report


def isolated(name: str, work: Callable[[], Iterator[Row]]) -> Iterator[Row]:
    """Rows as they come; what stops them becomes one."""
    try:
        yield from work()
    except ImportError as missing:
        yield {"what": name, "status": f"not installed: {missing.name}"}
    except Exception as failure:  # one part must not stop the others
        yield {"what": name, "status": f"failed: {type(failure).__name__}: {str(failure)[-300:]}"}


def cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return "-" if value is None else str(value)


def show(name: str, row: Row) -> None:
    print(f"{name}: " + ", ".join(f"{what} {cell(value)}" for what, value in row.items()), flush=True)


def cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())


def place(load: float) -> dict[str, Any]:
    """What it runs on; ``load`` is the machine's before it began."""
    device = jax.devices()[0]
    return {
        "platform": platform.platform(),
        "cpu": cpu(),
        "cores": os.cpu_count(),
        "device": f"{device.platform} {device.device_kind}",
        "devices": jax.device_count(),
        "load before": round(load, 2),
    }


def package_versions() -> dict[str, str]:
    found = versions()
    for package in ("jaxlib", "numba", "ortools", "pymc", "numpyro"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def main() -> None:
    began, load = time.perf_counter(), os.getloadavg()[0]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="a smoke run: few chains, short runs; nothing is written unless --out is given"
    )
    parser.add_argument("--parts", nargs="+", metavar="PART", help="only these")
    parser.add_argument("--pymc", default=sys.executable, metavar="PYTHON", help="interpreter that has PyMC")
    parser.add_argument("--out", type=Path, metavar="PATH", help="default: perf/results/<device>.json")
    asked = parser.parse_args()
    size = QUICK if asked.quick else FULL
    parts: dict[str, Callable[[], Iterator[Row]]] = {
        "kernels": lambda: kernel_speeds(size),
        "yardsticks": lambda: yardsticks(size),
        "libraries": lambda: libraries(size, asked.pymc),
        "sweep": lambda: sweeps(size),
        "goals": lambda: goal_costs(size),
        "charters": lambda: charter_costs(size, size.charters, 0.0, size.solver),
        "graded": lambda: charter_costs(size, size.graded, 0.5, size.solver_graded),
    }
    where = place(load)
    show("device", where)
    results: dict[str, list[Row]] = {}
    took: dict[str, float] = {}
    for name in asked.parts or parts:
        started = time.perf_counter()
        results[name] = []
        for row in isolated(name, parts[name]):
            results[name].append(row)
            show(name, row)
        if name in ("charters", "graded"):
            rows = [row for row in results[name] if "method" in row]
            results[f"{name}, summary"] = list(charter_summary(rows))
            for row in results[f"{name}, summary"]:
                show(f"{name}, summary", row)
        took[name] = time.perf_counter() - started
        show(name, {"seconds in all": took[name]})
    where |= {"load after": round(os.getloadavg()[0], 2), "seconds": time.perf_counter() - began}
    show("device", where)
    device = jax.devices()[0]
    named = re.sub(r"\W+", "-", f"{device.platform}-{cpu() if device.platform == 'cpu' else device.device_kind}").strip("-").lower()
    path = asked.out or (None if asked.quick else ROOT / "results" / f"{named}.json")
    if path:
        path.parent.mkdir(exist_ok=True)
        result = {"device": where, "versions": package_versions(), "kernels": list(STEPPERS), "results": results, "seconds": took}
        path.write_text(json.dumps(result, indent=1) + "\n")
        print(f"written to {path}")


if __name__ == "__main__":
    main()
