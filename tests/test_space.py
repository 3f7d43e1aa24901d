"""Rule spaces and their scores: fast equals slow, padding changes nothing, bad tables are refused by name."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import spaces
from tiers import few

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference.metropolis import build_kernel, init
from gnrs_ppl.inference.moves import WORDS
from gnrs_ppl.models.energy import (
    SEARCH_TEMPERATURE,
    contract,
    energy,
    evaluate,
    feasible,
    features,
    hard_penalty,
    log_prior,
    logdensity,
    score,
    slow_score,
)
from gnrs_ppl.models.space import PADDING, build_space

EXACT = 1e-12
"""Float64 sums of some twenty terms below one."""
FLOAT32 = 5e-6
"""Some twenty float32 additions below three, each within 2^-24 of its result: 3.6e-6."""
SEEDS = range(8)


ROOM = {"pad_options": 20, "pad_pairs": 9}
STARTS = 500
"""Room and starts of those who take steps, so that one compiled step serves them."""

evaluate_all = jax.jit(jax.vmap(evaluate, in_axes=(None, 0)))
features_of_all = jax.jit(jax.vmap(features, in_axes=(None, 0)))
start_all = jax.jit(jax.vmap(init, in_axes=(0, None, None)))
prior_of_all = jax.jit(jax.vmap(log_prior, in_axes=(None, 0)))
step_all = jax.jit(jax.vmap(build_kernel(), in_axes=(1, 0, None, None)))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_score_is_the_plain_loop_and_the_definition(seed: int):
    tables, w = spaces.ragged(seed), spaces.weights(seed)
    space, penalty = build_space(**tables, **spaces.PADDING), hard_penalty(w)
    some = spaces.some_positions(tables)
    defined = np.array([spaces.score(tables, w, penalty, tuple(a)) for a in some])
    plain = np.array([slow_score(space, w, penalty, a) for a in some])
    np.testing.assert_allclose(plain, defined, rtol=0, atol=EXACT)
    with jax.enable_x64(True):
        fast, passed = evaluate_all(contract(space, w), some)
        vectors = features_of_all(space, some)
    np.testing.assert_allclose(fast, defined, rtol=0, atol=EXACT)
    np.testing.assert_allclose(vectors, [spaces.phi(tables, tuple(a)) for a in some], rtol=0, atol=EXACT)
    assert passed.tolist() == [not spaces.raised(tables, tuple(a)) for a in some]
    single, _ = evaluate_all(contract(space, w), some)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, defined, rtol=0, atol=FLOAT32)


def test_faces_of_the_density_agree():
    tables, w = spaces.ragged(3), spaces.weights(3)
    compiled, a = contract(build_space(**tables), w), np.array(spaces.positions(tables)[-1])
    with jax.enable_x64(True):
        scored, cost, passed, density, state = jax.jit(
            lambda: (
                score(compiled, a),
                energy(compiled, a),
                feasible(compiled, a),
                logdensity(compiled, a, SEARCH_TEMPERATURE),
                init(a, compiled, SEARCH_TEMPERATURE),
            )
        )()
    assert cost == -scored
    assert bool(passed) == (not spaces.raised(tables, tuple(a)))
    expected = spaces.log_prior(tables, tuple(a)) + float(scored) / SEARCH_TEMPERATURE
    assert float(density) == pytest.approx(expected, abs=EXACT / SEARCH_TEMPERATURE)
    assert float(state.logdensity) == float(density)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_prior_is_uniform_over_candidates_then_tuples(seed: int):
    tables = spaces.ragged(seed)
    space = build_space(**tables, **spaces.PADDING)
    for v, owners in enumerate(tables["candidates"]):
        probability = np.exp(space.log_prior[v])
        assert probability.sum() == pytest.approx(1, abs=EXACT)
        shares = np.bincount(owners, weights=probability[: len(owners)])
        np.testing.assert_allclose(shares, 1 / len(shares), rtol=0, atol=EXACT)
    assert space.log_prior.min() >= PADDING
    some = [tuple(a) for a in spaces.some_positions(tables, 5)]
    with jax.enable_x64(True):
        found = prior_of_all(contract(space, spaces.weights(0)), np.array(some, np.int32))
    np.testing.assert_allclose(found, [spaces.log_prior(tables, a) for a in some], rtol=0, atol=EXACT)


@pytest.mark.parametrize("seed", few([0, 7], 1))
def test_padding_changes_no_step(seed: int):
    tables, w = spaces.ragged(seed), spaces.weights(seed)
    small = contract(build_space(**tables), w)
    large = contract(build_space(**tables, **ROOM), w)
    assert large.unary.shape == (4, 20)
    assert large.pairwise.shape == (9, 20, 20)
    some = spaces.some_positions(tables, STARTS)
    words = jax.random.bits(jax.random.key(seed), (WORDS, len(some)), jnp.uint32)
    steps = [
        step_all(words, start_all(some, chosen, SEARCH_TEMPERATURE), chosen, SEARCH_TEMPERATURE)
        for chosen in (small, large)
    ]
    jax.tree.map(np.testing.assert_array_equal, *steps)
    assert (np.asarray(steps[0][1].proposal.position) < small.sizes).all()


def test_spaces_are_pytrees():
    tables = spaces.ragged(5)
    space = build_space(**tables)
    leaves, structure = jax.tree.flatten(space)
    assert jax.tree.all(jax.tree.map(np.array_equal, structure.unflatten(leaves), space))
    several = jnp.stack([spaces.weights(seed) for seed in range(3)])
    a = np.array(spaces.positions(tables)[7])
    weighed = jax.jit(lambda w: score(contract(space, w, 2.0), a))
    stacked = jax.vmap(weighed)(several)
    alone = [weighed(w) for w in several]
    np.testing.assert_allclose(stacked, alone, rtol=0, atol=FLOAT32)
    # the gradient in w is phi: calibration may differentiate through the contraction
    slope = jax.jit(jax.grad(weighed))(several[0])
    np.testing.assert_allclose(slope, spaces.phi(tables, tuple(a)), rtol=0, atol=FLOAT32)


def test_no_silent_promotion_of_types_or_ranks():
    tables = jax.tree.map(jnp.asarray, contract(build_space(**spaces.ragged(1), **ROOM), spaces.weights(1)))
    words = jax.random.bits(jax.random.key(1), (WORDS, STARTS), jnp.uint32)
    with jax.numpy_dtype_promotion("strict"), jax.numpy_rank_promotion("raise"):
        start = start_all(jnp.zeros((STARTS, 4), jnp.int32), tables, jnp.float32(0.08))
        state, info = step_all(words, start, tables, jnp.float32(0.08))
    assert state.position.dtype == jnp.int32
    assert info.proposal.score.dtype == jnp.float32


def test_a_single_option_never_moves():
    tables = contract(
        build_space(
            candidates=[[0]] * 4,
            unary=[[[0.25]], [[0.5]], [[0.0]], [[0.0]]],
            swaps={3: [0]},
            joints={(0, 3): [[1.0]]},
            **ROOM,
        ),
        np.ones(1),
    )
    start = start_all(np.zeros((STARTS, 4), np.int32), tables, SEARCH_TEMPERATURE)
    words = jax.random.bits(jax.random.key(0), (WORDS, STARTS), jnp.uint32)
    state, info = step_all(words, start, tables, SEARCH_TEMPERATURE)
    assert not state.position.any()
    assert info.accepted.all()
    assert sorted(set(info.move.tolist())) == [0, 1, 2, 3]
    assert float(start.score[0]) == pytest.approx(0.75)
    assert float(start.logdensity[0]) == pytest.approx(0.75 / SEARCH_TEMPERATURE)


def test_the_penalty_exceeds_every_gap_and_stays_small():
    assert hard_penalty(spaces.weights(0)) == pytest.approx(2)
    assert (hard_penalty(spaces.weights(0)) + 1) / SEARCH_TEMPERATURE < 88 / 2


GOOD: dict[str, Any] = {
    "candidates": [[0, 1], [0, 0, 1]],
    "unary": [np.zeros((2, 1)), np.zeros((3, 1))],
    "pairwise": {(0, 1): np.zeros((2, 3, 1))},
    "unary_flags": {0: np.zeros(2, bool)},
    "pair_flags": {(0, 1): np.zeros((2, 3), bool)},
    "swaps": {1: [0, 1, 0]},
    "joints": {(0, 1): np.full((2, 3), 1 / 3)},
}
NAN, HIGH = np.full((3, 1), np.nan), np.full((2, 3, 1), 1.5)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"unary": [np.zeros((2, 1)), NAN]}, r"unary\[1\]: nan at \(0, 0\)"),
        ({"unary": [np.zeros((2, 1)), np.zeros((3, 2))]}, r"unary\[1\]: shape \(3, 2\), expected \(3, 1\)"),
        ({"unary": [np.zeros(2), np.zeros((3, 1))]}, r"unary\[0\]: shape \(2,\), expected \(2, features\)"),
        (
            {"unary": [[[0.0], [0.0, 0.0]], np.zeros((3, 1))]},
            r"unary\[0\]: .*; give one number for each entry",
        ),
        ({"unary": [np.zeros((2, 1))]}, r"candidates: 2 variable\(s\), but unary has 1; give both"),
        ({"pairwise": {(0, 1): np.full((2, 3, 1), np.inf)}}, r"pairwise\[0, 1\]: inf"),
        ({"pairwise": {(0, 1): np.zeros((3, 2, 1))}}, r"pairwise\[0, 1\]: shape"),
        (
            {"pairwise": {(1, 0): np.zeros((3, 2, 1))}},
            r"pair \(1, 0\): there are 2 variables; name two of them, the smaller first",
        ),
        ({"pairwise": {(0, 2): np.zeros((2, 2, 1))}}, r"pair \(0, 2\): there are 2 variables"),
        (
            {"pairwise": {(0, 1): HIGH}},
            r"feature 0: the tables add up to between 1.5 and 1.5, outside \[0, 1\]",
        ),
        ({"unary": [np.full((2, 1), -0.1), np.zeros((3, 1))]}, r"feature 0: .* outside"),
        ({"unary_flags": {0: np.zeros(3, bool)}}, r"unary_flags\[0\]: shape"),
        ({"unary_flags": {0: np.zeros(2)}}, r"unary_flags\[0\]: .* of float64, expected \(2,\) of bool"),
        ({"unary_flags": {5: np.zeros(2, bool)}}, r"unary_flags\[5\]: there are 2 variables"),
        ({"pair_flags": {(0, 1): np.zeros((2, 2), bool)}}, r"pair_flags\[0, 1\]: shape"),
        ({"candidates": [[0, 1], [0, 1, 0]]}, r"candidates\[1\]: .*; number candidates"),
        ({"candidates": [[0, 2], [0, 0, 1]]}, r"candidates\[0\]: .*; number candidates"),
        ({"candidates": [[], [0, 0, 1]]}, r"candidates\[0\]: 0 options"),
        ({"candidates": [], "unary": []}, r"candidates: 0 variable"),
        ({"swaps": {1: [0, 1]}}, r"swaps\[1\]: 2 groups; name a variable"),
        ({"swaps": {1: [0, -1, 0]}}, r"swaps\[1\]: a group is -1; number groups from 0"),
        ({"joints": {(0, 0): np.full((2, 2), 0.5)}}, r"joints\[0, 0\]: .*; name two different ones"),
        ({"joints": {(0, 1): np.full((2, 3), 0.3)}}, r"joints\[0, 1\]: row 0 does not sum to one"),
        ({"joints": {(0, 1): [[1, 0, 0], [0.5, 0.25, 0.25]]}}, r"joints\[0, 1\]: an entry is too small"),
        ({"joints": {(0, 1): np.full((2, 3), np.nan)}}, r"joints\[0, 1\]: nan"),
        ({"pad_options": 2}, "pad_options: 2 asked for, 3 needed"),
        ({"pad_pairs": 0}, "pad_pairs: 0 asked for, 1 needed"),
    ],
)
def test_bad_tables_are_refused_by_name(change: dict[str, Any], message: str):
    build_space(**GOOD)
    with pytest.raises(InputError, match=message):
        build_space(**(GOOD | change))


def test_weights_of_another_length_are_refused():
    with pytest.raises(InputError, match=r"weights: shape \(2,\), expected \(1,\)"):
        contract(build_space(**GOOD), np.ones(2))


def test_rows_are_cut_at_whole_words_and_kept():
    given = np.array([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])
    joints = build_space(**(GOOD | {"joints": {(0, 1): given}})).joints
    kept = joints.table[0, :2]
    np.testing.assert_allclose(kept, given, rtol=0, atol=2.0**-31)
    assert (kept.sum(axis=1) == 1).all()
    assert (kept * 2**32 % 1 == 0).all()
    np.testing.assert_allclose(np.exp(joints.log_table[0, :2]), kept, rtol=EXACT, atol=0)
