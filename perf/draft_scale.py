"""Speed of the search: our sampler beside the same kernel in numba and in plain Python, the random bits alone, and the exact sweep.

Run ``python perf/draft_scale.py [--json PATH]``; needs numba (``pip install numba``), which nothing else here uses.

The yardsticks walk with the four moves of ``gnrs_ppl/inference/moves.py``: same probabilities, same layout of a step's words, same
Hastings terms, one evaluation of every factor a step, the same five things recorded. They differ where scalar code is better off: only
the move that was drawn is computed, and words come from xorshift128. Before anything is timed, their slot marginals on small spaces
are held against the exact posterior. What is compared is timed in turn, so that a busy moment of the machine hits all alike; beside
each median stands the figure of the fastest round, which other work on the machine slows least.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))  # its small spaces
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs without an installation too

import jax
import jax.numpy as jnp
import numba
import numpy as np
from numba.extending import register_jitable
from spaces import ragged, weights

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.benchmarks.gnrs_bench import goals
from gnrs_ppl.calibration.weights import DEFAULT_WEIGHTS
from gnrs_ppl.candidates.build import build_pools
from gnrs_ppl.inference.chains import _compiled, run_chains, run_many
from gnrs_ppl.inference.exact import enumerate_space, exact_posterior, number_of_states, slot_marginals
from gnrs_ppl.inference.moves import MOVE_PROBABILITIES, MOVES, WORDS
from gnrs_ppl.inference.starts import draw_prior
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, Tables, contract
from gnrs_ppl.models.graph import compile_graph
from gnrs_ppl.models.space import build_space
from gnrs_ppl.versions import versions

GOALS = ("GNRS-005", "GNRS-052")  # dev goals: an ordinary one, and the one with most structures
FEW, MANY, STEPS, PYTHON_STEPS = 64, 4096, 200, 5000
SEEDS = (0, 1, 2)
MEDIAN, FASTEST = "", " fastest"
STATISTICS: dict[str, Callable[[Sequence[float]], float]] = {MEDIAN: statistics.median, FASTEST: min}
COLUMNS = tuple(of + statistic for of in (*GOALS, "all") for statistic in STATISTICS)
REPEATS = 5
SMALL_SPACES = range(6)  # seeds of tests/spaces.py
MARGINAL_TOLERANCE = 0.02
MOVE_ENDS = tuple(int(end) for end in np.rint(np.cumsum(MOVE_PROBABILITIES)[:-1] * 2**16))
WORD = 2**32 - 1

# Compiled where compiled code calls it, plain Python elsewhere. Nothing here allocates, so numba need not count references to the tables:
# counting them in every call makes the kernel several times slower.
scalar_code = register_jitable(_nrt=False)


class Flat(NamedTuple):
    """Contracted tables in one dimension: NumPy arrays for numba, lists for Python; n-dimensional ones have rows of ``options``."""

    variables: int
    options: int
    number_of_pairs: int
    number_of_swaps: int
    number_of_joints: int
    penalty: float
    sizes: Any
    candidate: Any
    log_prior: Any
    unary: Any
    unary_flags: Any
    pairs: Any
    pairwise: Any
    pair_flags: Any
    candidates: Any
    start: Any
    tuples: Any
    swaps: Any
    partners: Any
    order: Any
    group_start: Any
    own_offset: Any
    own_size: Any
    joints: Any
    log_table: Any
    cumulative: Any


def flat(tables: Tables) -> Flat:
    """Tables for numba, in the types ours run in: float32, int32, uint32, bool."""
    swaps, joints, lookup = tables.swaps, tables.joints, tables.lookup
    arrays = {name: getattr(tables, name) for name in Flat._fields if name in Tables._fields and name not in ("swaps", "joints", "penalty")}
    arrays |= {name: getattr(lookup, name) for name in ("candidates", "start", "tuples")}
    arrays |= {name: getattr(swaps, name) for name in ("partners", "order", "group_start", "own_offset", "own_size")}
    arrays |= {"swaps": swaps.variables, "joints": joints.variables, "log_table": joints.log_table, "cumulative": joints.cumulative}
    counts = {
        "variables": len(tables.sizes),
        "options": tables.unary.shape[1],
        "number_of_pairs": len(tables.pairs),
        "number_of_swaps": len(swaps.variables),
        "number_of_joints": len(joints.variables),
    }
    ravelled = {name: np.ravel(a.astype(np.float32) if a.dtype == np.float64 else a) for name, a in arrays.items()}
    return Flat(**counts, penalty=float(tables.penalty), **ravelled)


@scalar_code
def next_words(a, b, c, d):
    """Four steps of xorshift128 (Marsaglia 2003): its state is its last four words."""
    a = scrambled(d, a)
    b = scrambled(a, b)
    c = scrambled(b, c)
    d = scrambled(c, d)
    return a, b, c, d


@scalar_code
def scrambled(latest, oldest):
    mixed = (oldest ^ (oldest << 11)) & WORD
    return latest ^ (latest >> 19) ^ mixed ^ (mixed >> 8)


@scalar_code
def choose(word, count):
    """One of ``count`` alternatives, and what is left of the word."""
    product = word * count
    return product >> 32, product & WORD


@scalar_code
def entry_of(word, count):
    return ((word & 0xFFFF) * count) >> 16


@scalar_code
def evaluate(tables, positions, at):
    """Score, feasibility and log p0 of the structure at ``positions[at:]``."""
    score, log_prior, raised = 0.0, 0.0, False
    for variable in range(tables.variables):
        place = variable * tables.options + positions[at + variable]
        score += tables.unary[place]
        log_prior += tables.log_prior[place]
        raised |= tables.unary_flags[place]
    for pair in range(tables.number_of_pairs):
        left, right = positions[at + tables.pairs[2 * pair]], positions[at + tables.pairs[2 * pair + 1]]
        place = (pair * tables.options + left) * tables.options + right
        score += tables.pairwise[place]
        raised |= tables.pair_flags[place]
    if raised:
        score -= tables.penalty
    return score, not raised, log_prior


@scalar_code
def replace_option(tables, positions, at, a, b):
    """Where a move leads: two variables (one of them twice where one changes), their options, and the Hastings term."""
    variable = entry_of(a, tables.variables)
    option, row = positions[at + variable], variable * tables.options
    current, others = tables.candidate[row + option], tables.candidates[variable] - 1
    if others == 0:
        return variable, option, variable, option, 0.0
    other, rest = choose(b, others)
    if other >= current:
        other += 1
    tuples = tables.tuples[row + other]
    chosen, _ = choose(rest, tuples)
    option = tables.start[row + other] + chosen
    return variable, option, variable, option, math.log(tuples / tables.tuples[row + current])


@scalar_code
def edit_parameters(tables, positions, at, a, b):
    variable = entry_of(a, tables.variables)
    option, row = positions[at + variable], variable * tables.options
    current = row + tables.candidate[row + option]
    others = tables.tuples[current] - 1
    if others == 0:
        return variable, option, variable, option, 0.0
    edited = tables.start[current] + choose(b, others)[0]
    if edited >= option:
        edited += 1
    return variable, edited, variable, edited, 0.0


@scalar_code
def swap_evidence(tables, positions, at, a, b):
    if tables.number_of_swaps == 0:
        return 0, positions[at], 0, positions[at], 0.0
    entry = entry_of(a, tables.number_of_swaps)
    variable, row = tables.swaps[entry], entry * tables.options
    option = positions[at + variable]
    place = row + option
    partners = tables.partners[place]
    if partners == 0:
        return variable, option, variable, option, 0.0
    skipping, _ = choose(b, partners)
    if skipping >= tables.own_offset[place]:
        skipping += tables.own_size[place]
    other = tables.order[row + tables.group_start[place] + skipping]
    return variable, other, variable, other, math.log(partners / tables.partners[row + other])


@scalar_code
def edit_jointly(tables, positions, at, a, b, c):
    if tables.number_of_joints == 0:
        return 0, positions[at], 0, positions[at], 0.0
    entry = entry_of(a, tables.number_of_joints)
    trigger, evidence = tables.joints[2 * entry], tables.joints[2 * entry + 1]
    row = trigger * tables.options
    old_trigger, old_evidence = positions[at + trigger], positions[at + evidence]
    candidate, rest = choose(b, tables.candidates[trigger])
    new_trigger = tables.start[row + candidate] + choose(rest, tables.tuples[row + candidate])[0]
    old, new = (entry * tables.options + old_trigger) * tables.options, (entry * tables.options + new_trigger) * tables.options
    new_evidence, last = 0, tables.sizes[evidence] - 1
    while new_evidence < last and tables.cumulative[new + new_evidence] <= c:
        new_evidence += 1
    log_hastings = (
        tables.log_prior[row + old_trigger]
        + tables.log_table[old + old_evidence]
        - tables.log_prior[row + new_trigger]
        - tables.log_table[new + new_evidence]
    )
    return trigger, new_trigger, evidence, new_evidence, log_hastings


@scalar_code
def walk(tables, temperature, steps, words, positions, score, feasible, move, accepted):
    """One chain: ``positions`` begins with its start and has a row for every step."""
    a, b, c, d = words[0], words[1], words[2], words[3]
    now_score, now_feasible, log_prior = evaluate(tables, positions, 0)
    now_density = log_prior + now_score / temperature
    for step in range(steps):
        at = (step + 1) * tables.variables
        for variable in range(tables.variables):
            positions[at + variable] = positions[at - tables.variables + variable]
        a, b, c, d = next_words(a, b, c, d)
        draw = a >> 16
        if draw < MOVE_ENDS[0]:
            number = 0
            first, option, second, other, log_hastings = replace_option(tables, positions, at, a, b)
        elif draw < MOVE_ENDS[1]:
            number = 1
            first, option, second, other, log_hastings = edit_parameters(tables, positions, at, a, b)
        elif draw < MOVE_ENDS[2]:
            number = 2
            first, option, second, other, log_hastings = swap_evidence(tables, positions, at, a, b)
        else:
            number = 3
            first, option, second, other, log_hastings = edit_jointly(tables, positions, at, a, b, c)
        old_option, old_other = positions[at + first], positions[at + second]
        positions[at + first] = option
        positions[at + second] = other
        new_score, new_feasible, log_prior = evaluate(tables, positions, at)
        new_density = log_prior + new_score / temperature
        log_ratio = new_density - now_density + log_hastings
        taken = log_ratio >= 0 or math.log((d + 0.5) * 2.0**-32) < log_ratio
        if taken:
            now_score, now_feasible, now_density = new_score, new_feasible, new_density
        else:
            positions[at + first] = old_option
            positions[at + second] = old_other
        score[step] = now_score
        feasible[step] = now_feasible
        move[step] = number
        accepted[step] = taken


@numba.njit(parallel=True, error_model="numpy")
def walk_all(tables, temperature, steps, words, starts):
    """Every chain, shared among the threads; records in the types ours are in."""
    chains, variables = starts.shape
    positions = np.empty((chains, (steps + 1) * variables), np.int32)
    score = np.empty((chains, steps), np.float32)
    feasible = np.empty((chains, steps), np.bool_)
    move = np.empty((chains, steps), np.int8)
    accepted = np.empty((chains, steps), np.bool_)
    for chain in numba.prange(chains):
        positions[chain, :variables] = starts[chain]
        walk(tables, temperature, steps, words[chain], positions[chain], score[chain], feasible[chain], move[chain], accepted[chain])
    return positions.reshape(chains, steps + 1, variables), score, feasible, move, accepted


def first_words(chains: int, seed: int) -> np.ndarray:
    """A generator's state for every chain."""
    return np.random.default_rng(seed).integers(1, 2**32, size=(chains, WORDS))


def marginals_off(seed: int) -> float:
    """Greatest difference of a slot marginal of the numba kernel from the exact one, on a small random space."""
    arguments = ragged(seed)
    tables = contract(build_space(**arguments), weights(seed))
    starts = draw_prior(tables, MANY, np.random.default_rng(seed))
    positions, *_, move, _ = walk_all(flat(tables), SEARCH_TEMPERATURE, STEPS, first_words(MANY, seed), starts)
    shares = np.bincount(move.ravel(), minlength=len(MOVES)) / move.size
    if np.abs(shares - MOVE_PROBABILITIES).max() > MARGINAL_TOLERANCE:
        sys.exit(f"numba tries the moves with shares {shares}")
    settled = positions[:, STEPS // 2 :].reshape(-1, positions.shape[-1])
    exact = slot_marginals(exact_posterior(enumerate_space(tables), SEARCH_TEMPERATURE))
    return max(float(np.abs(np.bincount(settled[:, v], minlength=len(p)) / len(settled) - p).max()) for v, p in enumerate(exact))


def seconds_of(work: Callable[[], Any]) -> float:
    """Wall seconds of the work."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def chain_seconds(tables: Tables, chains: int) -> float:
    """Wall seconds of our kernel, without compiling."""
    return run_chains(tables, chains=chains, steps=STEPS, temperature=SEARCH_TEMPERATURE, seed=0).wall_seconds


def python_seconds(lists: Flat, start: list[int], words: list[int]) -> float:
    """Wall seconds of the same loop in plain Python, on lists, one chain."""
    positions = start + [0] * (lists.variables * PYTHON_STEPS)
    recorded = [[0] * PYTHON_STEPS for _ in range(4)]
    return seconds_of(lambda: walk(lists, SEARCH_TEMPERATURE, PYTHON_STEPS, words, positions, *recorded))


@jax.jit
def bits_alone(keys: jax.Array) -> jax.Array:
    """Steps that are nothing but their random words."""

    def step(kept: jax.Array, key: jax.Array) -> tuple[jax.Array, None]:
        return kept ^ jax.random.bits(key, (WORDS, MANY), jnp.uint32), None

    return jax.lax.scan(step, jnp.zeros((WORDS, MANY), jnp.uint32), keys)[0]


def rounds_of(tables: Tables) -> dict[str, list[float]]:
    """Seconds of each piece of work, ``REPEATS`` times in turn after once to warm up."""
    given, lists = flat(tables), Flat(*(part.tolist() if isinstance(part, np.ndarray) else part for part in flat(tables)))
    ours = run_chains(tables, chains=MANY, steps=STEPS, temperature=SEARCH_TEMPERATURE, seed=0)
    starts, words, keys = ours.starts, first_words(MANY, 0), jax.random.split(jax.random.key(0), STEPS)
    few = np.ascontiguousarray(starts[:: MANY // FEW])
    *_, accepted = walk_all(given, SEARCH_TEMPERATURE, STEPS, words, starts)
    if abs(accepted.mean() - ours.accepted.mean()) > MARGINAL_TOLERANCE:
        sys.exit(f"ours accepts {ours.accepted.mean():.3f} of its steps, numba {accepted.mean():.3f}")
    works: dict[str, Callable[[], float]] = {
        "ours, few": lambda: chain_seconds(tables, FEW),
        "numba, few": lambda: seconds_of(lambda: walk_all(given, SEARCH_TEMPERATURE, STEPS, words[:FEW], few)),
        "ours, many": lambda: chain_seconds(tables, MANY),
        "numba, many": lambda: seconds_of(lambda: walk_all(given, SEARCH_TEMPERATURE, STEPS, words, starts)),
        "bits": lambda: seconds_of(lambda: bits_alone(keys).block_until_ready()),
        "python": lambda: python_seconds(lists, starts[0].tolist(), words[0].tolist()),
        "sweep": lambda: seconds_of(lambda: exact_posterior(enumerate_space(tables), SEARCH_TEMPERATURE)),
    }
    rounds = [{what: work() for what, work in works.items()} for _ in range(REPEATS + 1)]
    return {what: [taken[what] for taken in rounds[1:]] for what in works}


class Row(NamedTuple):
    """A figure for some of the columns, with its aim where it has one."""

    what: str
    figures: dict[str, float]
    form: str = ",.0f"
    aim: float | None = None

    def verdict(self) -> str:
        """The aim, and whether the median meets it."""
        return "" if self.aim is None else f"aim {self.aim:g}: {'met' if self.figures['all'] <= self.aim else 'missed'}"


def kernel_rows(spaces: dict[str, Tables], rounds: dict[str, dict[str, list[float]]]) -> list[Row]:
    """Our kernel and its yardsticks on a few goals."""
    steps = {"few": FEW * STEPS, "many": MANY * STEPS, "bits": MANY * STEPS, "python": PYTHON_STEPS}
    found: dict[str, dict[str, float]] = {}
    for goal, statistic in itertools.product(rounds, STATISTICS):
        seconds = {what: STATISTICS[statistic](each) for what, each in rounds[goal].items()}
        rate = {what: steps[what.split(", ")[-1]] / seconds[what] for what in seconds if what != "sweep"}
        states = number_of_states(spaces[goal])
        found[goal + statistic] = {
            f"ours, steps/s, {FEW} chains": rate["ours, few"],
            f"ours, steps/s, {MANY:,} chains": rate["ours, many"],
            f"numba, steps/s, {FEW} chains": rate["numba, few"],
            f"numba, steps/s, {MANY:,} chains": rate["numba, many"],
            "plain Python, steps/s, 1 chain": rate["python"],
            f"random bits alone ({WORDS * 32} a step), steps/s, {MANY:,} chains": rate["bits"],
            f"ours / numba, {FEW} chains": rate["ours, few"] / rate["numba, few"],
            f"ours / numba, {MANY:,} chains": rate["ours, many"] / rate["numba, many"],
            f"ours / bits alone, {MANY:,} chains": rate["ours, many"] / rate["bits"],
            f"ours / plain Python, {MANY:,} chains": rate["ours, many"] / rate["python"],
            "exact sweep, states": states,
            "exact sweep, ms": seconds["sweep"] * 1e3,
            "exact sweep, states/s": states / seconds["sweep"],
        }
    forms = {"ours /": ".2f", "exact sweep, ms": ".2f"}
    return [
        Row(what, {of: found[of][what] for of in found}, next((f for start, f in forms.items() if what.startswith(start)), ",.0f"))
        for what in found[GOALS[0]]
    ]


def build_all() -> tuple[dict[str, Tables], list[float], list[float]]:
    """Tables of every goal, and the milliseconds of candidate construction and graph compilation (median of 3); looks at no truth."""
    spaces, construction, compilation = {}, [], []
    for goal in goals():
        context = load_context(goal.id)
        _ = context.profile  # read once for a family
        taken = []
        for _ in range(3):
            began = time.perf_counter()
            pools = build_pools(context).pools
            built = time.perf_counter()
            graph = compile_graph(context, pools)
            taken.append((built - began, time.perf_counter() - built))
        construction.append(1e3 * statistics.median(seconds for seconds, _ in taken))
        compilation.append(1e3 * statistics.median(seconds for _, seconds in taken))
        spaces[goal.id] = contract(graph.space, DEFAULT_WEIGHTS.array())
    return spaces, construction, compilation


def batch_rows(spaces: dict[str, Tables]) -> list[Row]:
    """Every goal with every seed, one ``run_many`` per seed, and how often the sampler was compiled for it."""

    def run(seed: int) -> float:
        request = {"chains": FEW, "steps": STEPS, "temperature": SEARCH_TEMPERATURE, "names": [*spaces]}
        return sum(chains.wall_seconds for chains in run_many([*spaces.values()], **request, seed=seed))

    _compiled.cache_clear()
    first = seconds_of(lambda: run(SEEDS[0]))
    kernel: list[float] = []
    seconds = [seconds_of(lambda: kernel.append(sum(run(seed) for seed in SEEDS))) for _ in range(3)]
    steps = len(spaces) * len(SEEDS) * FEW * STEPS
    title = f"{len(spaces)} goals x {len(SEEDS)} seeds x {FEW} chains x {STEPS} steps"
    return [
        Row(f"{title}, s", {"all" + name: statistic(seconds) for name, statistic in STATISTICS.items()}, ".2f", 1.5),
        Row("  of these in the compiled sampler, s", {"all" + name: statistic(kernel) for name, statistic in STATISTICS.items()}, ".2f"),
        Row("  steps/s in the compiled sampler", {"all" + name: steps / statistic(kernel) for name, statistic in STATISTICS.items()}),
        Row("  compilations of the sampler", {"all": _compiled.cache_info().misses}, ".0f", 4),
        Row("  first call of one seed, with compilation, s", {"all": first}, ".2f"),
    ]


def time_rows(what: str, milliseconds: Sequence[float], aim: float | None = None) -> list[Row]:
    """Median and greatest over goals."""
    return [
        Row(f"{what}, ms, median of goals", {"all": statistics.median(milliseconds)}, ".1f", aim),
        Row(f"{what}, ms, greatest", {"all": max(milliseconds)}, ".1f", aim),
    ]


def device(load: float) -> dict[str, Any]:
    """What it ran on; ``load`` is the machine's load before it began."""
    model = Path("/proc/cpuinfo")
    lines = model.read_text().splitlines() if model.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return {
        "platform": platform.platform(),
        "processor": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
        "jax_device": f"{jax.devices()[0].platform} {jax.devices()[0].device_kind}",
        "numba_threads": numba.get_num_threads(),
        "load_before": round(load, 2),
        "load_after": round(os.getloadavg()[0], 2),
    }


def main() -> None:
    began, load = time.perf_counter(), os.getloadavg()[0]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the figures there too")
    path = parser.parse_args().json
    numba.set_num_threads(min(os.cpu_count() or 2, numba.config.NUMBA_NUM_THREADS))

    off = max(marginals_off(seed) for seed in SMALL_SPACES)
    if off > MARGINAL_TOLERANCE:
        sys.exit(f"the numba kernel's slot marginals are {off:.3f} off the exact ones, more than {MARGINAL_TOLERANCE}")
    spaces, construction, compilation = build_all()
    rounds = {goal: rounds_of(spaces[goal]) for goal in GOALS}
    rows = [
        Row(f"numba kernel, slot marginals off by, {len(SMALL_SPACES)} small spaces", {"all": off}, ".4f", MARGINAL_TOLERANCE),
        *kernel_rows(spaces, rounds),
        *batch_rows(spaces),
        *time_rows("candidate construction", construction, 50.0),
        *time_rows("graph compilation", compilation),
    ]
    where = device(load)
    print(", ".join(f"{name} {value}" for name, value in where.items()))
    print(f"{'median of rounds, and fastest round':<62}" + "".join(f"{column:>18}" for column in COLUMNS))
    for row in rows:
        cells = "".join(f"{format(row.figures[column], row.form) if column in row.figures else '':>18}" for column in COLUMNS)
        print(f"{row.what:<62}{cells}  {row.verdict()}".rstrip())
    seconds = time.perf_counter() - began
    print(f"{'the whole of this script, s':<62}{seconds:>90.0f}")
    if path is not None:
        figures = [{"what": r.what.strip(), "figures": r.figures, "aim": r.aim, "verdict": r.verdict() or None} for r in rows]
        result = {
            "device": where,
            "versions": versions() | {"numba": numba.__version__},
            "rows": figures,
            "rounds_in_seconds": rounds,
            "seconds": seconds,
        }
        path.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
