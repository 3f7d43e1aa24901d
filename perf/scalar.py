"""The walk of the Metropolis kernel as a scalar program: in plain Python, and compiled by numba for all cores
where numba is installed.

A yardstick for ``gnrs_ppl/inference/moves.py``: the four moves with the same probabilities and Hastings
terms, one evaluation of every factor a step, the same five things recorded. It differs where scalar code is
better off: only the move that was drawn is computed, the evidence of a joint edit is found by walking along
its row (with a word of its own), and words come from xorshift128. ``marginals_off`` holds its slot marginals
on small spaces against the exact posterior.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))  # its small spaces
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs without an installation too

import numpy as np
from spaces import ragged, weights

from gnrs_ppl.inference.exact import enumerate_space, exact_posterior, slot_marginals
from gnrs_ppl.inference.moves import MOVE_PROBABILITIES
from gnrs_ppl.inference.starts import draw_prior
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, Tables, contract
from gnrs_ppl.models.space import ROW_UNITS, build_space

try:
    import numba
    from numba.extending import register_jitable
except ImportError:
    numba = None

SMALL_SPACES = range(6)  # seeds of tests/spaces.py
CHAINS, STEPS = 4096, 200
MOVE_ENDS = tuple(int(end) for end in np.rint(np.cumsum(MOVE_PROBABILITIES)[:-1] * 2**16))
WORD = 2**32 - 1
STATE_WORDS = 4  # of xorshift128, one for each thing to decide: move and entry, option, evidence, acceptance

# Compiled where compiled code calls it, plain Python elsewhere. Nothing here allocates, so numba need not
# count references to the tables: counting them in every call makes the kernel several times slower.
scalar_code = register_jitable(_nrt=False) if numba else lambda function: function


class Flat(NamedTuple):
    """Contracted tables in one dimension: NumPy arrays for numba, lists for Python; n-dimensional ones have
    rows of ``options``."""

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
    arrays = {
        name: getattr(tables, name)
        for name in Flat._fields
        if name in Tables._fields and name not in ("swaps", "joints", "penalty")
    }
    arrays |= {name: getattr(lookup, name) for name in ("candidates", "start", "tuples")}
    arrays |= {
        name: getattr(swaps, name) for name in ("partners", "order", "group_start", "own_offset", "own_size")
    }
    arrays |= {
        "swaps": swaps.variables,
        "joints": joints.variables,
        "log_table": joints.log_table,
        "cumulative": cumulative(tables),
    }
    counts = {
        "variables": len(tables.sizes),
        "options": tables.unary.shape[1],
        "number_of_pairs": len(tables.pairs),
        "number_of_swaps": len(swaps.variables),
        "number_of_joints": len(joints.variables),
    }
    ravelled = {
        name: np.ravel(a.astype(np.float32) if a.dtype == np.float64 else a) for name, a in arrays.items()
    }
    return Flat(**counts, penalty=float(tables.penalty), **ravelled)


def cumulative(tables: Tables) -> np.ndarray:
    """ROW_UNITS times the sum of a joint row up to and including e, the greatest word from the last e on."""
    ends = np.minimum(np.rint(np.cumsum(tables.joints.table, axis=2) * ROW_UNITS), WORD)
    for end, (_, e) in zip(ends, tables.joints.variables, strict=True):
        end[:, tables.sizes[e] - 1 :] = WORD
    return ends.astype(np.uint32)


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
    """Where a move leads: two variables (one of them twice where one changes), their options, and the
    Hastings term."""
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
    old, new = (
        (entry * tables.options + old_trigger) * tables.options,
        (entry * tables.options + new_trigger) * tables.options,
    )
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


def walk_each(tables, temperature, steps, words, starts):
    """Every chain, shared among the threads; records in the types ours are in."""
    chains, variables = starts.shape
    positions = np.empty((chains, (steps + 1) * variables), np.int32)
    score = np.empty((chains, steps), np.float32)
    feasible = np.empty((chains, steps), np.bool_)
    move = np.empty((chains, steps), np.int8)
    accepted = np.empty((chains, steps), np.bool_)
    for chain in parallel(chains):
        positions[chain, :variables] = starts[chain]
        walk(
            tables,
            temperature,
            steps,
            words[chain],
            positions[chain],
            score[chain],
            feasible[chain],
            move[chain],
            accepted[chain],
        )
    return positions.reshape(chains, steps + 1, variables), score, feasible, move, accepted


parallel = numba.prange if numba else range
walk_all = numba.njit(parallel=True, error_model="numpy")(walk_each) if numba else walk_each


def first_words(chains: int, seed: int) -> np.ndarray:
    """A generator's state for every chain."""
    return np.random.default_rng(seed).integers(1, 2**32, size=(chains, STATE_WORDS))


def marginals_off(seed: int) -> float:
    """Greatest difference of a slot marginal from the exact one, and of the shares of moves from theirs, on
    a small random space."""
    arguments = ragged(seed)
    tables = contract(build_space(**arguments), weights(seed))
    starts = draw_prior(tables, CHAINS, np.random.default_rng(seed))
    positions, *_, move, _ = walk_all(
        flat(tables), SEARCH_TEMPERATURE, STEPS, first_words(CHAINS, seed), starts
    )
    shares = np.bincount(move.ravel(), minlength=len(MOVE_PROBABILITIES)) / move.size
    tried_off = float(np.abs(shares - MOVE_PROBABILITIES).max())
    settled = positions[:, STEPS // 2 :].reshape(-1, positions.shape[-1])
    exact = slot_marginals(exact_posterior(enumerate_space(tables), SEARCH_TEMPERATURE))
    return max(
        tried_off,
        *(
            float(np.abs(np.bincount(settled[:, v], minlength=len(p)) / len(settled) - p).max())
            for v, p in enumerate(exact)
        ),
    )


def walk_in_python(tables: Tables, start: list[int], steps: int) -> None:
    """The same loop in plain Python, on lists, one chain."""
    lists = Flat(*(part.tolist() if isinstance(part, np.ndarray) else part for part in flat(tables)))
    positions = start + [0] * (lists.variables * steps)
    recorded = [[0] * steps for _ in range(4)]
    walk(lists, SEARCH_TEMPERATURE, steps, first_words(1, 0)[0].tolist(), positions, *recorded)
