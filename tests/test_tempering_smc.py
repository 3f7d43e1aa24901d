"""Replica exchange against the transition matrix of the whole ladder, tempered SMC against enumeration.

The matrices come from the definitions (transition.py, and the loops below); nothing here shares code with the
kernels. Frequencies and means share one budget of false alarms, BUDGET.
"""

from __future__ import annotations

import itertools
import zlib
from functools import cache, reduce
from typing import Any, NamedTuple

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from blackjax.smc import resampling
from budget import Budget
from numpy.typing import NDArray
from scipy import stats
from scipy.sparse.csgraph import connected_components
from test_metropolis import (
    BARE,
    EXACT,
    FIGURE,
    IRREGULAR,
    MUTANT_LEVEL,
    SHARES,
    WORD_RANGE,
    Disagreement,
    compile_tables,
    disagreement,
)
from test_metropolis import grammar as build_grammar
from tiers import mostly_slow, tier
from transition import Grammar, transition_matrix, ways

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference import chains as driver
from gnrs_ppl.inference import metropolis, smc, tempering
from gnrs_ppl.inference.chains import run_chains, run_many
from gnrs_ppl.inference.exact import Posterior, enumerate_space, exact_posterior, slot_marginals
from gnrs_ppl.inference.moves import MOVE_PROBABILITIES
from gnrs_ppl.inference.result import NO_MOVE, Chains, Stages
from gnrs_ppl.inference.smc import mutation
from gnrs_ppl.inference.starts import draw_prior, draw_starts
from gnrs_ppl.inference.tempering import words_needed
from gnrs_ppl.inference.threefry import word_of
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, Tables, log_prior, score

BUDGET = Budget(
    1e-4,
    {
        "test_one_step_frequencies_of_ladders": (2, 8),
        "test_stationary_ladders_stay_stationary": (1, 14),
        "test_the_cold_rung_agrees_with_exact_after_a_run": (1, 2),
        "test_every_stage_holds_its_weighted_target": (1, 7),
        "test_log_normalizer_and_marginals_over_20_seeds": (2, 2),
        "test_blackjax_takes_the_kernel_as_it_is": (1, 1),
    },
)
LEVEL = BUDGET.level

Floats = NDArray[np.float64]

PAIRED = build_grammar(
    5,
    candidates=[[0, 1], [0], [0, 0, 1]],
    pairs=[(0, 2)],
    pair_flags={(0, 2): [[False, False, True], [False, False, False]]},
    swaps={2: [0, 1, 0]},
    joints=[(0, 2)],
)
"""Slots of 2, 1 and 3 options, 6 structures, one of them flagged; in padded tables."""


class Case(NamedTuple):
    """A grammar and the temperatures of a ladder on it, written down here and not taken from the kernel."""

    grammar: Grammar
    padding: dict[str, int]
    temperatures: list[float]

    @property
    def replicas(self) -> int:
        return len(self.temperatures)

    @property
    def tables(self) -> Tables:
        return compile_tables(self.grammar, **self.padding)

    @property
    def hottest(self) -> float | None:
        return self.temperatures[-2] if self.replicas > 2 else None

    @property
    def joint(self) -> list[tuple[int, ...]]:
        """Every ladder of structure numbers, the last rung fastest."""
        return list(itertools.product(range(len(self.grammar.structures)), repeat=self.replicas))

    @property
    def target(self) -> Floats:
        """Product of the tempered densities."""
        return reduce(np.kron, [self.grammar.target(temperature) for temperature in self.temperatures])


CASES = {
    "two rungs": Case(BARE, {}, [0.3, np.inf]),
    "three rungs": Case(PAIRED, {"pad_options": 5, "pad_pairs": 3}, [0.2, 0.5, np.inf]),
}
cases = pytest.mark.parametrize("name", CASES)
LADDERS = tier(2**16, 2**18)
"""Ladders of a turn that step at once, all their random words and proposals in memory together."""


def feasible(built: Grammar) -> NDArray[np.bool_]:
    return np.array([not built.flagged(a) for a in built.structures])


def test_the_budget_covers_every_case(request: pytest.FixtureRequest):
    BUDGET.assert_covers(case for case in request.session.items if case.path == request.path)


def agree(counts: NDArray[np.int64], matrix: Floats, what: str) -> Disagreement:
    """Pass with chance 1 - 2 LEVEL if the counts were drawn from the matrix."""
    BUDGET.spend(2)  # cells and Pearson
    found = disagreement(counts, matrix)
    assert found.p > LEVEL, (what, found)
    return found


def centred(errors: Floats, what: str) -> float:
    """Pass with chance 1 - LEVEL if columns of independent rows have mean zero (Student's t, Bonferroni over
    the columns)."""
    BUDGET.spend()
    p = off_centre(errors)
    assert p > LEVEL, (what, p)
    return p


def off_centre(errors: Floats) -> float:
    errors = errors.reshape(len(errors), -1)
    t = errors.mean(0) / (errors.std(0, ddof=1) / np.sqrt(len(errors)))
    return float(min(1.0, errors.shape[1] * 2 * stats.t.sf(np.abs(t), len(errors) - 1).min()))


# ---- replica exchange: the matrix of the whole ladder


@cache
def within_matrix(name: str) -> Floats:
    """One Metropolis step of every rung at its own temperature."""
    case = CASES[name]
    found = ways(case.grammar, SHARES["mixture"])
    return reduce(
        np.kron,
        [
            transition_matrix(found, case.grammar.log_densities(temperature))
            for temperature in case.temperatures
        ],
    )


def swap_rate(case: Case, pair: int, ladder: tuple[int, ...], sign: float = 1.0) -> float:
    """min(1, exp((1/tau_i - 1/tau_j) (s_j - s_i)))."""
    i, j = pair, pair + 1
    gap = case.grammar.scores[ladder[j]] - case.grammar.scores[ladder[i]]
    return float(np.exp(min(0.0, sign * (1 / case.temperatures[i] - 1 / case.temperatures[j]) * gap)))


def turn_of(case: Case, odd: bool) -> list[int]:
    return list(range(int(odd), case.replicas - 1, 2))


def swap_matrix(case: Case, odd: bool, sign: float = 1.0) -> Floats:
    """The swaps of one turn; its pairs share no rung, so their order does not matter."""
    joint, matrix = case.joint, np.eye(len(case.joint))
    index = {ladder: i for i, ladder in enumerate(joint)}
    for pair in turn_of(case, odd):
        one = np.zeros_like(matrix)
        for i, ladder in enumerate(joint):
            swapped = [*ladder]
            swapped[pair], swapped[pair + 1] = swapped[pair + 1], swapped[pair]
            rate = swap_rate(case, pair, ladder, sign)
            one[i, index[tuple(swapped)]] += rate
            one[i, i] += 1 - rate
        matrix = matrix @ one
    return matrix


@cases
def test_both_parts_of_a_step_leave_the_joint_target_in_place(name: str):
    case, target = CASES[name], CASES[name].target
    parts = {"within": within_matrix(name)} | {f"odd {odd}": swap_matrix(case, odd) for odd in (False, True)}
    for part, matrix in parts.items():
        np.testing.assert_allclose(matrix.sum(1), 1, atol=1e-12, err_msg=part)
        flow = target[:, None] * matrix
        np.testing.assert_allclose(flow, flow.T, rtol=1e-9, atol=1e-300, err_msg=part)
        np.testing.assert_allclose(target @ matrix, target, atol=1e-12, err_msg=part)
    for odd in (False, True):  # a wrong sign would show
        wrong = np.abs(target @ swap_matrix(case, odd, -1.0) - target).max()
        assert (wrong > 1e-4) == bool(turn_of(case, odd)), odd
    cycle = parts["within"] @ parts["odd False"] @ parts["within"] @ parts["odd True"]
    assert connected_components(cycle > 0, connection="strong")[0] == 1
    rates = [swap_rate(case, pair, ladder) for pair in range(case.replicas - 1) for ladder in case.joint]
    assert min(rates) < 0.5, "swaps that are always accepted prove nothing"


class Drawn(NamedTuple):
    """Ladders of structure numbers: where chains were after the Metropolis steps, and after the swaps."""

    between: NDArray[np.int64]
    after: NDArray[np.int64]
    state: tempering.State
    info: metropolis.Info


@cache
def jitted(hottest: float | None) -> Any:
    kernel = tempering.build_kernel(
        hottest, MOVE_PROBABILITIES
    )  # those of the matrices, also where a move goes nowhere

    def step(
        words: jax.Array, positions: jax.Array, odd: jax.Array, tables: Tables, temperature: float
    ) -> Any:
        state = tempering.init(positions, tables, temperature)._replace(odd=odd)
        return state, *kernel(words, state, tables, temperature)

    return jax.jit(jax.vmap(step, (0, 0, 0, None, None)))


def take_steps(
    case: Case, ladders: NDArray[np.int64], odd: NDArray[np.bool_], words: NDArray[np.uint32]
) -> Drawn:
    positions = np.array(case.grammar.structures, np.int32)[ladders]
    first, state, info = jax.device_get(
        jitted(case.hottest)(words, positions, odd, case.tables, case.temperatures[0])
    )
    between = np.where(
        info.ladder.within.accepted[..., None], info.ladder.within.proposal.position, first.position
    )
    numbers = [
        np.ravel_multi_index(np.moveaxis(where, -1, 0), case.grammar.sizes)
        for where in (between, state.position)
    ]
    return Drawn(*numbers, state, info)


def joint_index(case: Case, ladders: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.ravel_multi_index(np.moveaxis(ladders, -1, 0), (len(case.grammar.structures),) * case.replicas)


@pytest.mark.parametrize("name", mostly_slow(CASES, but=["three rungs"]))
def test_one_step_frequencies_of_ladders(name: str):
    """Neighbours in a batch in different ladders and turns: a step against the rows of its matrix, swaps
    against their rates.

    Two rungs in float32, three in float64, where the next test finds the function compiled.
    """
    case, count = CASES[name], len(CASES[name].joint)
    draws = LADDERS // count
    source, odd = np.arange(2 * draws * count) % count, np.arange(2 * draws * count) // count % 2 == 1
    words = np.array(
        jax.random.bits(jax.random.key(61), (len(source), words_needed(case.replicas)), jnp.uint32)
    )
    with jax.enable_x64(name == "three rungs"):
        drawn = take_steps(case, np.array(case.joint)[source], odd, words)
    between, after = joint_index(case, drawn.between), joint_index(case, drawn.after)
    for turn in (False, True):
        which = odd == turn
        counts = np.bincount(source[which] * count + after[which], minlength=count**2).reshape(count, count)
        agree(counts, within_matrix(name) @ swap_matrix(case, turn), f"{name}, odd {turn}: steps")
        if not turn_of(case, turn):
            assert not drawn.info.ladder.swapped[which].any()
            continue
        for wrong in (np.eye(count), swap_matrix(case, turn, -1.0)):
            assert disagreement(counts, within_matrix(name) @ wrong).p < MUTANT_LEVEL
        for pair in turn_of(case, turn):
            swaps = np.zeros((count, 2), np.int64)
            np.add.at(swaps, (between[which], drawn.info.ladder.swapped[which, pair].astype(int)), 1)
            rates = np.array([swap_rate(case, pair, ladder) for ladder in case.joint])
            met = swaps.sum(1) > 0
            assert met.mean() > 0.9
            agree(
                swaps[met], np.stack([1 - rates, rates], 1)[met], f"{name}, odd {turn}: swaps of pair {pair}"
            )


def test_swaps_are_exact_in_float64():
    """Rates and verdicts are the definition's; what a state carries along is what stands there."""
    case = CASES["three rungs"]
    joint, pairs = np.array(case.joint), case.replicas - 1
    draws = (
        2 * (LADDERS // len(joint)) * len(joint)
    )  # as many as there, so that one compiled function serves both
    source, odd = np.arange(draws) % len(joint), np.arange(draws) // len(joint) % 2 == 1
    words = np.array(
        jax.random.bits(jax.random.key(67), (len(source), words_needed(case.replicas)), jnp.uint32)
    )
    words[:4000] = np.random.default_rng(0).choice(
        np.array([0, 2**31, WORD_RANGE - 1], np.uint32), words[:4000].shape
    )
    with jax.enable_x64(True):
        drawn = take_steps(case, joint[source], odd, words)
    assert drawn.info.ladder.swap_rate.dtype == np.float64
    rates = np.array(
        [[swap_rate(case, pair, tuple(ladder)) for pair in range(pairs)] for ladder in case.joint]
    )
    tried = np.stack([~odd, odd], 1)
    np.testing.assert_array_equal(drawn.info.ladder.tried, tried)
    due = np.where(tried, rates[joint_index(case, drawn.between)], 0.0)
    np.testing.assert_allclose(drawn.info.ladder.swap_rate, due, atol=EXACT)
    u = np.minimum((words[:, -1] + 0.5) / WORD_RANGE, 1 - 2.0**-24)
    swapped = tried & (u[:, None] < due)
    np.testing.assert_array_equal(drawn.info.ladder.swapped, swapped)
    order = np.tile(np.arange(case.replicas), (len(source), 1))
    for pair in range(pairs):
        order[swapped[:, pair], pair : pair + 2] = [pair + 1, pair]
    np.testing.assert_array_equal(drawn.state.replica, order)
    np.testing.assert_array_equal(drawn.after, np.take_along_axis(drawn.between, order, 1))
    np.testing.assert_allclose(drawn.state.score, case.grammar.scores[drawn.after], atol=EXACT)
    np.testing.assert_allclose(drawn.state.log_prior, case.grammar.log_priors[drawn.after], atol=EXACT)
    np.testing.assert_array_equal(drawn.state.feasible, feasible(case.grammar)[drawn.after])
    np.testing.assert_array_equal(drawn.state.odd, ~odd)
    assert (drawn.info.energy_evaluations == case.replicas).all()


def test_the_ladder():
    tau = SEARCH_TEMPERATURE
    default, four, two = jax.jit(
        lambda: (tempering.ladder(tau), tempering.ladder(tau, 4, 0.32), tempering.ladder(tau, 2))
    )()
    np.testing.assert_allclose(default, [*(tau * 20 ** (np.arange(5) / 4)), np.inf], rtol=1e-6)
    np.testing.assert_allclose(four, [0.08, 0.16, 0.32, np.inf], rtol=1e-6)
    np.testing.assert_allclose(two, [0.08, np.inf], rtol=1e-6)
    with pytest.raises(InputError, match="at least 2"):
        tempering.ladder(tau, 1)


@pytest.mark.slow
def test_stationary_ladders_stay_stationary():
    """2^14 ladders of four rungs from exact draws, 31 steps: every rung holds exact draws of its
    temperature, swaps have their rates."""
    chains, steps, temperatures = 2**14, 31, [0.08, 0.16, 0.32, np.inf]
    tables, structures = (
        compile_tables(IRREGULAR, pad_options=9, pad_pairs=7),
        np.array(IRREGULAR.structures, np.int32),
    )
    rng, targets = np.random.default_rng(71), [IRREGULAR.target(temperature) for temperature in temperatures]
    start = np.stack([rng.choice(len(structures), chains, p=target) for target in targets], 1)
    kernel = tempering.build_kernel(0.32)

    @jax.jit
    def run(key: jax.Array, positions: jax.Array) -> tuple[tempering.State, jax.Array, jax.Array]:
        def body(
            states: tempering.State, key: jax.Array
        ) -> tuple[tempering.State, tuple[jax.Array, jax.Array]]:
            words = jax.random.bits(key, (chains, words_needed(4)), jnp.uint32)
            states, info = jax.vmap(kernel, (0, 0, None, None))(words, states, tables, 0.08)
            return states, (info.ladder.tried, info.ladder.swapped)

        states = jax.vmap(tempering.init, (0, None, None))(positions, tables, 0.08)
        last, (tried, swapped) = jax.lax.scan(body, states, jax.random.split(key, steps))
        return last, tried[-2:], swapped[-2:]

    last, tried, swapped = jax.device_get(run(jax.random.key(73), structures[start]))
    final = np.ravel_multi_index(np.moveaxis(last.position, -1, 0), IRREGULAR.sizes)
    assert (final != start).any(1).mean() > 0.9, "the ladders have to go somewhere for this to mean anything"
    for rung, target in enumerate(targets):
        agree(
            np.bincount(final[:, rung], minlength=len(target))[None], target[None], f"stationary, rung {rung}"
        )
    for turn, pair in (
        (1, 0),
        (0, 1),
        (1, 2),
    ):  # the thirtieth step is the odd pairs' turn, the last one the even pairs'
        assert tried[turn, :, pair].all()
        ratio = (1 / temperatures[pair] - 1 / temperatures[pair + 1]) * (
            IRREGULAR.scores[None] - IRREGULAR.scores[:, None]
        )
        rate = targets[pair] @ np.exp(np.minimum(0.0, ratio)) @ targets[pair + 1]
        k = int(swapped[turn, :, pair].sum())
        agree(np.array([[chains - k, k]]), np.array([[1 - rate, rate]]), f"stationary, swaps of pair {pair}")
    np.testing.assert_array_equal(np.sort(last.replica, 1), np.tile(np.arange(4), (chains, 1)))
    np.testing.assert_allclose(last.score, IRREGULAR.scores[final], atol=1e-5)
    np.testing.assert_allclose(last.log_prior, IRREGULAR.log_priors[final], atol=1e-5)


# ---- replica exchange: the runner

REQUEST: dict[str, Any] = {
    "kernel": "tempering",
    "chains": 2**12,
    "steps": 80,
    "temperature": 0.2,
    "seed": 3,
    "replicas": 3,
    "hottest": 0.5,
}


@cache
def tempered_run() -> Chains:
    return run_chains(compile_tables(PAIRED), **REQUEST)


def test_the_cold_rung_agrees_with_exact_after_a_run():
    """Chains end independently: their last draws are exact draws once no start is remembered, which the
    matrix says."""
    case = CASES["three rungs"]
    cycle = (
        within_matrix("three rungs")
        @ swap_matrix(case, False)
        @ within_matrix("three rungs")
        @ swap_matrix(case, True)
    )
    law = np.linalg.matrix_power(cycle, REQUEST["steps"] // 2)
    remembered = np.abs(law - case.target).sum(1).max() / 2
    assert remembered < 1e-6
    chains = tempered_run()
    final = np.ravel_multi_index(chains.positions[:, -1].T, PAIRED.sizes)
    exact = exact_posterior(enumerate_space(case.tables), 0.2).probability
    agree(np.bincount(final, minlength=6)[None], exact[None], "run, cold rung")
    assert disagreement(np.bincount(final, minlength=6)[None], PAIRED.target(0.5)[None]).p < MUTANT_LEVEL


def test_a_run_is_the_kernel_stepped_and_its_counts_are_those_of_the_history():
    """The same words one step at a time; round trips and swaps counted again by plain loops over where each
    replica stood."""
    tables, chains, steps, replicas = (
        compile_tables(PAIRED),
        REQUEST["chains"],
        REQUEST["steps"],
        REQUEST["replicas"],
    )
    result = run_many([tables], **REQUEST, names=["ladders"], superchains=4)[0]
    exchange, stream = result.exchange, zlib.crc32(b"ladders")
    assert exchange is not None
    starts = tempering.draw_starts(tables, 4, 3, stream, {"replicas": replicas})[result.superchain]
    np.testing.assert_array_equal(result.starts, draw_starts(tables, 4, 3, stream)[result.superchain])
    np.testing.assert_array_equal(result.starts, starts[:, 0])
    assert len({tuple(ladder.ravel()) for ladder in starts}) == 4
    kernel = tempering.build_kernel(0.5)

    begin = jax.jit(lambda positions: jax.vmap(tempering.init, (0, None, None))(positions, tables, 0.2))
    key, numbers = (np.uint32(REQUEST["seed"]), np.uint32(stream)), jnp.arange(chains, dtype=jnp.uint32)

    @jax.jit
    def step(number: jax.Array, states: tempering.State) -> tuple[tempering.State, metropolis.Info]:
        words = jnp.stack([word_of(key, numbers, number, word) for word in range(words_needed(replicas))])
        return jax.vmap(kernel, (1, 0, None, None))(words, states, tables, 0.2)

    state = begin(starts)
    history, tried, swapped = [np.asarray(state.replica)], np.zeros(2), np.zeros(2)
    for t in range(steps):
        state, info = step(jnp.int32(t), state)
        np.testing.assert_array_equal(state.position[:, 0], result.positions[:, t])
        np.testing.assert_array_equal(info.ladder.within.accepted[:, 0], result.accepted[:, t])
        history.append(np.asarray(state.replica))
        tried, swapped = (
            tried + np.asarray(info.ladder.tried).sum(0),
            swapped + np.asarray(info.ladder.swapped).sum(0),
        )
    trips = np.zeros(64, int)
    for c, replica in itertools.product(range(64), range(replicas)):
        rungs = [int(np.flatnonzero(standing[c] == replica)[0]) for standing in history]
        ends = [rung for rung in rungs if rung in (0, replicas - 1)]
        visits = [end for end, _ in itertools.groupby(ends)]
        visits = visits[visits.index(0) :] if 0 in visits else []
        trips[c] += max(0, (len(visits) - 1) // 2)
    np.testing.assert_array_equal(exchange.round_trips[:64], trips)
    assert trips.min() > 0
    np.testing.assert_array_equal(exchange.swap_rates, swapped / tried)
    assert result.energy_evaluations == chains * replicas * (steps + 1)


def test_what_a_tempering_run_gives_back():
    chains = tempered_run()
    assert chains.kernel == "tempering"
    assert chains.exchange is not None
    assert chains.positions.shape == (2**12, 80, 3)
    assert chains.positions.dtype == np.int32
    assert (chains.move == NO_MOVE).all()
    assert chains.move.dtype == np.int8
    assert np.unique(chains.superchain).tolist() == [*range(8)]
    np.testing.assert_allclose(chains.exchange.ladder, [0.2, 0.5, np.inf], rtol=1e-6)
    number = np.ravel_multi_index(np.moveaxis(chains.positions, -1, 0), PAIRED.sizes)
    np.testing.assert_allclose(chains.score, PAIRED.scores[number], atol=1e-6)
    np.testing.assert_array_equal(chains.feasible, feasible(PAIRED)[number])
    np.testing.assert_allclose(
        chains.start_score, PAIRED.scores[np.ravel_multi_index(chains.starts.T, PAIRED.sizes)], atol=1e-6
    )
    compiled = driver._compiled.cache_info().misses
    again = run_chains(compile_tables(PAIRED, pad_options=8), **REQUEST)
    np.testing.assert_array_equal(again.positions, chains.positions)
    assert driver._compiled.cache_info().misses == compiled, "padded alike, the compiled kernel is at hand"
    for change in ({"seed": 4}, {"names": ["another"]}):
        other = run_many([compile_tables(PAIRED)], **(REQUEST | change))[0]
        assert (other.positions != chains.positions).any()


def test_swaps_that_were_not_tried_have_no_rate():
    """As those of the odd pairs in a run of one step."""
    np.testing.assert_array_equal(
        tempering._shares(np.array([[1, 0], [0, 0]]), np.array([[1, 0], [1, 0]])), [0.5, np.nan]
    )


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"replicas": 1}, "replicas"),
        ({"hottest": 0.2}, "hottest"),
        ({"hottest": np.inf}, "hottest"),
        ({"replicas": 10**6}, "replicas"),
        ({"steps": 10**7}, "chains"),
        ({"temperature": 0.0}, "temperature"),
        ({"superchains": 3}, "superchains"),
    ],
)
def test_a_ladder_that_cannot_be_run_is_refused(change: dict[str, Any], field: str):
    with pytest.raises(InputError) as refused:
        run_chains(compile_tables(BARE), **(REQUEST | change))
    assert refused.value.field == field


# ---- tempered SMC


class Population(NamedTuple):
    """Stages of many independent runs: leading axes (stage, run)."""

    positions: NDArray[np.int32]
    weights: Floats
    exponents: Floats
    increments: Floats


RUNS, PARTICLES = tier(16, 32), tier(1024, 2048)


@cache
def population() -> tuple[Posterior, Population]:
    """Runs of our stages side by side on the irregular grammar, until the slowest has arrived and mutated
    once more."""
    tables, temperature = compile_tables(IRREGULAR, pad_options=9, pad_pairs=7), 0.04
    stage = jax.jit(jax.vmap(smc.build_kernel(6, 0.6), (0, 0, None, None)))
    starts = draw_prior(tables, RUNS * PARTICLES, np.random.default_rng(79)).reshape(RUNS, PARTICLES, -1)
    state, stages = jax.vmap(smc.init)(starts), []
    for keys in jax.random.split(jax.random.key(83), (12, RUNS)):
        arrived = bool((state.tempering_param == 1).all())
        state, info = stage(keys, state, tables, temperature)
        stages.append(
            jax.device_get((state.particles, state.weights, state.tempering_param, info.log_increment))
        )
        if arrived:
            break
    assert arrived
    return exact_posterior(enumerate_space(tables), temperature), Population(
        *(np.stack(leaves) for leaves in zip(*stages, strict=True))
    )


def option_shares(positions: NDArray[np.int32], weights: Floats, sizes: tuple[int, ...]) -> Floats:
    """Weighted share of every option of every slot, slot by slot."""
    return np.concatenate(
        [np.bincount(positions[:, v], weights=weights, minlength=size) for v, size in enumerate(sizes)]
    )


def exact_shares(posterior: Posterior, exponent: float) -> tuple[Floats, float]:
    at = exact_posterior(posterior.enumeration, posterior.temperature / exponent)
    return np.concatenate(slot_marginals(at)), at.log_normalizer


def common(shares: Floats) -> NDArray[np.bool_]:
    """Options frequent enough for Student's t, and not certain; the last of a slot follows from the others
    and costs nothing."""
    return (shares > 0.02) & (shares < 0.98)


def test_every_stage_holds_its_weighted_target():
    """Weighted particles are draws of p0 exp(x s / tau) at each run's own exponent x; the log mean weights
    are the steps of log Z."""
    posterior, found = population()
    assert (found.exponents[-1] == 1).all()
    assert (np.diff(found.exponents, axis=0, prepend=0.0) >= 0).all()
    assert len(found.exponents) >= 4
    zeros, wrong = np.zeros(RUNS), []
    for number, (positions, weights, exponents, increments) in enumerate(zip(*found, strict=True)):
        exact, normalizers = zip(*(exact_shares(posterior, exponent) for exponent in exponents), strict=True)
        kept = common(np.mean(exact, 0))
        np.testing.assert_allclose(weights.sum(1), 1, atol=1e-5)
        shares = np.array(
            [option_shares(*run, IRREGULAR.sizes) for run in zip(positions, weights, strict=True)]
        )
        centred((shares - exact)[:, kept], f"stage {number}: weighted shares")
        equal = np.array(
            [option_shares(run, np.full(PARTICLES, 1 / PARTICLES), IRREGULAR.sizes) for run in positions]
        )
        wrong.append(off_centre((equal - exact)[:, kept]))
        if number + 1 < len(found.exponents):
            previous = (
                zeros
                if number == 0
                else np.array([exact_shares(posterior, x)[1] for x in found.exponents[number - 1]])
            )
            moving = exponents > (0 if number == 0 else found.exponents[number - 1])
            if moving.all():
                centred(increments - (np.array(normalizers) - previous), f"stage {number}: increment")
    assert wrong[0] < 1e-12, "without their weights the particles are those of the exponent before"
    np.testing.assert_allclose(found.weights[-1], 1 / PARTICLES, rtol=1e-5)
    np.testing.assert_allclose(found.increments[-1], 0, atol=1e-5)


SEEDS = range(20)


@pytest.mark.parametrize("temperature", mostly_slow([SEARCH_TEMPERATURE, 0.02], but=[SEARCH_TEMPERATURE]))
def test_log_normalizer_and_marginals_over_20_seeds(temperature: float):
    tables, particles = compile_tables(FIGURE), 4096
    posterior = exact_posterior(enumerate_space(tables), temperature)
    exact = np.concatenate(slot_marginals(posterior))
    estimates, shares = [], []
    for seed in SEEDS:
        chains = run_chains(
            tables, kernel="smc", chains=particles, steps=8, temperature=temperature, seed=seed
        )
        assert chains.stages is not None
        estimates.append(chains.log_normalizer)
        shares.append(option_shares(chains.positions[:, 0], np.full(particles, 1 / particles), FIGURE.sizes))
        check_stages(chains.stages, particles, temperature)
    errors = np.array(estimates) - posterior.log_normalizer
    assert errors.std(ddof=1) < 0.07, "a wide spread would excuse everything"
    centred(errors, f"figure, tau {temperature}: log normalizer")
    assert off_centre(errors + 0.1) < LEVEL, "a tenth more would have been seen"
    kept = common(exact)
    centred((np.array(shares) - exact)[:, kept], f"figure, tau {temperature}: marginals")
    assert np.abs(np.mean(shares, 0) - exact)[~kept].max() < 0.01


def check_stages(result: Stages, particles: int, temperature: float) -> None:
    assert (np.diff(result.exponents, prepend=0.0) > 0).all()
    assert result.exponents[-1] == 1
    np.testing.assert_allclose(result.temperatures, temperature / result.exponents)
    assert result.temperatures[-1] == temperature
    # The exponent is chosen on the particles before they are mutated, which have the same law; so is the
    # share only about 0.5.
    np.testing.assert_allclose(result.ess[:-1] / particles, 0.5, atol=0.05)
    assert result.ess[-1] / particles > 0.45
    stages = len(result.exponents)
    assert result.acceptance.shape == (stages + 1,)
    assert (result.acceptance > 0).all()


class Answer(NamedTuple):
    """Estimates of log Z and the greatest difference between our density and the one BlackJAX hands over."""

    log_normalizer: Floats
    difference: float


@jax.jit
def blackjax_stage(
    keys: jax.Array, states: Any, tables: Tables, temperature: jax.Array, tempered: jax.Array
) -> tuple[Any, jax.Array, jax.Array]:
    """A stage of many runs of BlackJAX's adaptive SMC as it is, its own resampling inside, with our
    mutation."""

    def stage(key: jax.Array, state: Any) -> tuple[Any, jax.Array, jax.Array]:
        ours = mutation(tables, jnp.where(tempered, temperature / state.tempering_param, temperature))

        def step(key: jax.Array, before: Any, logdensity_fn: Any) -> tuple[Any, jax.Array]:
            after, _ = ours.step(key, before, logdensity_fn)
            return after, jnp.abs(after.logdensity - logdensity_fn(after.position))

        kernel = blackjax.adaptive_tempered_smc.build_kernel(
            lambda position: log_prior(tables, position),
            lambda position: score(tables, position) / temperature,
            step,
            ours.init,
            resampling.systematic,
            0.5,
        )
        state, info = kernel(key, state, 5, {})
        return state, info.log_likelihood_increment, info.update_info.max()

    return jax.vmap(stage)(keys, states)


def blackjax_alone(tempered: bool) -> Answer:
    """24 runs on the paired grammar; untempered, the mutation keeps to tau where BlackJAX means the
    exponent's temperature."""
    tables, runs, particles = compile_tables(PAIRED), 24, 1024
    starts = draw_prior(tables, runs * particles, np.random.default_rng(89)).reshape(runs, particles, -1)
    with jax.enable_x64(True):
        tables, temperature = jax.tree.map(jnp.asarray, (tables, 0.08))
        state, total, differences = jax.jit(jax.vmap(smc.init))(starts), np.zeros(runs), []
        for keys in jax.random.split(jax.random.key(97), (20, runs)):
            state, increment, difference = blackjax_stage(keys, state, tables, temperature, tempered)
            total += np.asarray(increment)
            differences.append(float(difference.max()))
            if (state.tempering_param == 1).all():
                break
        assert state.particles.dtype == jnp.int32
        assert (state.tempering_param == 1).all()
    return Answer(total, max(differences))


@pytest.mark.slow
def test_blackjax_takes_the_kernel_as_it_is():
    """Integer particles, our steps, float64: the density is the one it expects, and log Z is right; at a
    wrong temperature it is not."""
    right, wrong = blackjax_alone(True), blackjax_alone(False)
    assert right.difference < EXACT
    assert wrong.difference > 0.1
    exact = exact_posterior(enumerate_space(compile_tables(PAIRED)), 0.08).log_normalizer
    centred(right.log_normalizer - exact, "BlackJAX alone: log normalizer")
    assert off_centre(wrong.log_normalizer - exact) < 1e-8


def test_what_an_smc_run_gives_back():
    tables = compile_tables(FIGURE)
    request: dict[str, Any] = {"kernel": "smc", "chains": 4096, "steps": 8, "temperature": 0.08}
    chains = run_chains(tables, **request, seed=0)
    assert chains.stages is not None
    assert chains.kernel == "smc"
    assert chains.positions.shape == (4096, 1, 5)
    assert chains.positions.dtype == np.int32
    assert (chains.move == NO_MOVE).all()
    assert (chains.superchain == 0).all()
    number = np.ravel_multi_index(chains.positions[:, 0].T, FIGURE.sizes)
    np.testing.assert_allclose(chains.score[:, 0], FIGURE.scores[number], atol=1e-6)
    np.testing.assert_array_equal(chains.feasible[:, 0], feasible(FIGURE)[number])
    np.testing.assert_allclose(
        chains.start_score, FIGURE.scores[np.ravel_multi_index(chains.starts.T, FIGURE.sizes)], atol=1e-6
    )
    compiled = smc._compiled.cache_info().misses
    again = run_chains(compile_tables(FIGURE, pad_options=7), **request, seed=0)
    np.testing.assert_array_equal(again.positions, chains.positions)
    assert again.log_normalizer == chains.log_normalizer
    assert smc._compiled.cache_info().misses == compiled, "padded alike, the compiled stage is at hand"
    for change in ({"seed": 1}, {"seed": 0, "names": ["another"]}):
        assert (run_many([tables], **request, **change)[0].positions != chains.positions).any()
    assert chains.energy_evaluations == 4096 * (2 + (len(chains.stages.exponents) + 1) * (8 + 3))
    careful = run_chains(tables, **request, seed=0, target_ess=0.9).stages
    assert careful is not None
    assert len(careful.exponents) > len(chains.stages.exponents)
    np.testing.assert_allclose(careful.ess[:-1] / 4096, 0.9, atol=0.03)
    warm = run_chains(tables, **(request | {"temperature": 1e3}), seed=0).stages
    assert warm is not None
    assert warm.exponents.tolist() == [1.0]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"chains": 1}, "chains"),
        ({"steps": 0}, "steps"),
        ({"target_ess": 1.0}, "target_ess"),
        ({"target_ess": 0.0}, "target_ess"),
        ({"target_ess": np.nan}, "target_ess"),
        ({"chains": 10**8}, "chains"),
        ({"temperature": -1.0}, "temperature"),
        ({"seed": -1}, "seed"),
    ],
)
def test_a_population_that_cannot_be_run_is_refused(change: dict[str, Any], field: str):
    request: dict[str, Any] = {"kernel": "smc", "chains": 64, "steps": 8, "temperature": 0.08, "seed": 0}
    with pytest.raises(InputError) as refused:
        run_chains(compile_tables(FIGURE), **(request | change))
    assert refused.value.field == field


def test_scores_that_are_not_finite_are_refused():
    tables = compile_tables(FIGURE)
    with pytest.raises(InputError, match="not finite"):
        run_chains(
            tables._replace(unary=np.full_like(tables.unary, np.nan)),
            kernel="smc",
            chains=4096,
            steps=8,
            temperature=0.08,
            seed=0,
        )


def test_too_many_stages_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(smc, "STAGES", 1)
    with pytest.raises(InputError, match="after 1 stages"):
        run_chains(compile_tables(FIGURE), kernel="smc", chains=4096, steps=8, temperature=0.08, seed=0)


def test_a_space_where_nothing_is_feasible_is_sampled_all_the_same():
    """lambda is subtracted everywhere, so it only shifts log Z and moves no draw of a ladder."""
    paired, figure = (
        tables._replace(unary_flags=np.ones_like(tables.unary_flags))
        for tables in (compile_tables(PAIRED), compile_tables(FIGURE))
    )
    chains = run_chains(paired, **REQUEST)
    assert chains.exchange is not None
    assert not chains.feasible.any()
    assert not chains.start_feasible.any()
    assert chains.accepted.any()
    assert chains.exchange.round_trips.min() > 0
    particles = run_chains(figure, kernel="smc", chains=4096, steps=8, temperature=SEARCH_TEMPERATURE, seed=0)
    assert not particles.feasible.any()
    exact = exact_posterior(enumerate_space(figure), SEARCH_TEMPERATURE).log_normalizer
    assert exact < -15
    assert particles.log_normalizer is not None
    assert abs(particles.log_normalizer - exact) < 0.2
