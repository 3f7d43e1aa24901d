"""Random words: published vectors, JAX's own implementation, and what they may depend on."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import spaces
from jax.extend.random import threefry2x32_p
from tiers import mostly_slow

from gnrs_ppl.inference import chains as driver
from gnrs_ppl.inference import metropolis
from gnrs_ppl.inference.chains import STRETCH, observe_chains, run_chains
from gnrs_ppl.inference.observe import Observer
from gnrs_ppl.inference.threefry import threefry, word_of, word_of_step
from gnrs_ppl.models.energy import (
    SEARCH_TEMPERATURE,
    Tables,
    contract,
    evaluate,
    merge,
    padded,
    room_for,
    windows,
)
from gnrs_ppl.models.packed import fits, option_of, pack, unpack, unpack_all, with_options
from gnrs_ppl.models.space import FEW_VARIABLES, build_space
from gnrs_ppl.models.uai import from_factors

PUBLISHED = [
    ("00000000 00000000", "00000000 00000000", "6b200159 99ba4efe"),
    ("ffffffff ffffffff", "ffffffff ffffffff", "1cb996fc bb002be7"),
    ("243f6a88 85a308d3", "13198a2e 03707344", "c4923a9c 483df7a0"),
]
"""Counter, key and words of Random123's known answers (kat_vectors, threefry2x32 with 20 rounds)."""


def numbers(text: str) -> list[int]:
    return [int(word, 16) for word in text.split()]


@pytest.mark.parametrize("counter, key, words", PUBLISHED)
def test_published_vectors(counter: str, key: str, words: str):
    first, second = (np.uint32(word) for word in numbers(key))
    drawn = threefry((first, second), tuple(np.uint32(word) for word in numbers(counter)))
    assert [int(word) for word in drawn] == numbers(words)


def test_words_are_those_of_jax_with_the_keys_and_counters_that_are_named():
    """Both words of a block, block after block, and none twice."""
    run, chains, step = (np.uint32(2**32 - 1), np.uint32(7)), np.arange(64, dtype=np.uint32), np.uint32(12)
    found = np.stack([word_of(run, chains, step, number) for number in range(5)])
    assert found.shape == (5, 64)
    assert len(np.unique(found)) == found.size
    every = []
    for block in range(3):
        key = threefry2x32_p.bind(*map(jnp.uint32, run), jnp.uint32(block), jnp.uint32(0))
        every += threefry2x32_p.bind(*key, jnp.asarray(chains), jnp.full(64, step))
    np.testing.assert_array_equal(found, np.stack(every)[:5])
    shared = np.asarray(word_of_step(np.uint32(2**32 - 1), step))
    seed, nought, one = (jnp.uint32(n) for n in (2**32 - 1, 0, 1))
    np.testing.assert_array_equal(shared, threefry2x32_p.bind(seed, nought, jnp.asarray(step), one)[0])
    assert shared not in found


def tables() -> Tables:
    return contract(build_space(**spaces.ragged(2)), spaces.weights(2))


REQUEST: dict[str, Any] = {"temperature": SEARCH_TEMPERATURE, "seed": 5, "superchains": 4}


@pytest.mark.parametrize("kernel", mostly_slow(["metropolis", "gibbs", "tempering"], but=["metropolis"]))
def test_a_chain_draws_the_same_in_a_longer_run_and_in_a_larger_one_step_for_step(kernel: str):
    """Past a stretch too. Chains that stand at one start in both runs are compared."""
    short = run_chains(tables(), chains=8, steps=STRETCH + 20, kernel=kernel, **REQUEST)
    compiled = driver._compiled.cache_info().misses
    longer = run_chains(tables(), chains=8, steps=2 * STRETCH + 1, kernel=kernel, **REQUEST)
    assert driver._compiled.cache_info().misses == compiled, "a longer run compiles nothing"
    np.testing.assert_array_equal(longer.positions[:, : STRETCH + 20], short.positions)
    np.testing.assert_array_equal(longer.score[:, : STRETCH + 20], short.score)
    assert (longer.positions[:, STRETCH] != longer.positions[:, -1]).any()
    larger = run_chains(tables(), chains=16, steps=10, kernel=kernel, **REQUEST)
    assert larger.superchain[0] == short.superchain[0] == 0
    np.testing.assert_array_equal(larger.positions[:2], short.positions[:2, :10])


@pytest.mark.parametrize("variables, largest", [(2, 6), (3, 4), (4, 4), (5, 4)])
def test_merged_tables_give_the_scores_that_are_looked_up(variables: int, largest: int):
    """To the bit, flags too, padded or not; and what they give is the score."""
    made = spaces.ragged(2, variables=variables, largest=largest)
    alone, weights = contract(build_space(**made), spaces.weights(2)), spaces.weights(2)
    pairs = tuple(map(tuple, alone.pairs.tolist()))
    room = padded(alone, room_for(alone.unary.shape[1] + 8), len(pairs))
    positions = spaces.some_positions(made, 200)
    of_all = jax.jit(jax.vmap(evaluate, in_axes=(None, 0)))
    due, allowed = of_all(alone, positions)
    true = [spaces.score(made, weights, alone.penalty, tuple(position)) for position in positions]
    np.testing.assert_allclose(due, true, atol=1e-6)
    assert 0 < np.asarray(allowed).mean() < 1
    for given in (alone, room):
        at_hand = given._replace(merged=jax.jit(merge, static_argnums=1)(given, pairs))
        assert len(at_hand.merged.entries) == len(windows(pairs, variables))
        for structures in (positions, pack(positions, given.unary.shape[1])):
            for tables in (given, at_hand):
                score, feasible = of_all(tables, structures)
                np.testing.assert_array_equal(score, due)
                np.testing.assert_array_equal(feasible, allowed)


def test_tables_of_a_wide_range_are_not_rounded_and_not_merged():
    """Or what is small beside the greatest entry would be lost."""
    wide = from_factors([3, 3], {0: [1.0, 2.0, 3.0]}, {(0, 1): [[1, 1, 1e-30], [1, 1, 1], [1, 1, 1]]})
    wide = wide._replace(pairwise=np.where(wide.pairwise < -10, -1e6, wide.pairwise))
    assert driver._pairs_to_merge([wide], 10**6) == ()
    found = [float(evaluate(wide, np.array([one, 0]))[0]) for one in range(3)]
    np.testing.assert_allclose(np.diff(found), np.log([2, 1.5]), atol=1e-6)
    tiny = tables()._replace(**{name: 1e-36 * getattr(tables(), name) for name in ("unary", "pairwise")})
    assert np.isfinite(evaluate(tiny, np.zeros(4, int))[0])


def test_chains_on_merged_tables_draw_what_others_draw():
    few, many = (run_chains(tables(), chains=c, steps=10, **REQUEST) for c in (8, 4096))
    assert driver._pairs_to_merge([tables()], 80) == () != driver._pairs_to_merge([tables()], 40960)
    np.testing.assert_array_equal(many.positions[:2], few.positions[:2])
    np.testing.assert_array_equal(many.score[:2], few.score[:2])


def test_tables_are_merged_by_as_few_look_ups_as_hold_all_pairs():
    everything = [*combinations(range(5), 2)]
    assert windows([(0, 1), (0, 2), (0, 4), (1, 2), (1, 3), (2, 3), (3, 4)], 5) == (0, 1, 3)  # of a goal
    assert windows(everything, 5) == (0, 1, 2, 3, 4)
    assert windows([(0, 0)], 1) == windows([(0, 1)], 2) == windows([(0, 2)], 3) == (0,)
    assert windows([(0, 3)], 6) == windows([], FEW_VARIABLES + 1) == ()


@pytest.mark.parametrize("kernel", mostly_slow(["metropolis", "tempering"], but=["metropolis"]))
def test_packed_structures_are_stepped_as_vectors_are(kernel: str, monkeypatch: pytest.MonkeyPatch):
    """To the bit, what is told of them too."""
    proposed = Observer(
        lambda tables, states: (),
        lambda own, before, states, info: own,
        lambda _, records: records,
        lambda states, info: (info.proposal.position, states.position, states.logdensity),
    )
    request = REQUEST | {"chains": 8, "steps": 40, "kernel": kernel}
    assert metropolis.packs(tables())
    found = observe_chains(tables(), {"proposed": proposed}, **request).observed["proposed"]
    monkeypatch.setattr(metropolis, "packs", lambda _: False)
    driver._compiled.cache_clear()
    vectors = observe_chains(tables(), {"proposed": proposed}, **request).observed["proposed"]
    driver._compiled.cache_clear()
    assert found[0].shape == vectors[0].shape == (40, 8, 4)
    for one, other in zip(found, vectors, strict=True):
        np.testing.assert_array_equal(one, other)
    assert (found[0] != found[1]).any()


def test_packing_keeps_every_option():
    positions = np.stack(np.meshgrid(*[[0, 1, 22, 63]] * 5), -1).reshape(-1, 5)
    packed = pack(jnp.asarray(positions), 64)
    assert packed.dtype == jnp.uint32
    assert len(np.unique(packed)) == len(positions)
    np.testing.assert_array_equal(unpack(packed, 5, 64), positions)
    np.testing.assert_array_equal(unpack_all(np.asarray(packed), 5, 64), positions)
    changed = jax.vmap(lambda one: with_options(one, (1, 4), (jnp.int32(7), jnp.int32(63)), 64))(packed)
    expected = positions.copy()
    expected[:, [1, 4]] = 7, 63
    np.testing.assert_array_equal(unpack(changed, 5, 64), expected)
    assert [int(option_of(changed[3], v, 64)) for v in range(5)] == expected[3].tolist()
    assert fits(5, 64)
    assert not fits(6, 64)
    assert fits(8, 16)
    assert not fits(8, 17)
    assert fits(1000, 1)


def test_evaluations_are_counted_past_a_word():
    """Four chains whose every step weighs 2^31 structures."""
    count = Observer(*driver.evaluations())
    info = type("Info", (), {"energy_evaluations": jnp.full(4, 2**31 - 1, jnp.int32)})
    carry = count.init(None, type("States", (), {"score": jnp.zeros(4)}))
    for _ in range(5):
        carry = count.update(carry, None, None, info)
    assert count.finish(jax.device_get(carry), None) == 4 * 5 * (2**31 - 1)


def test_observed_chains_are_the_recorded_ones_past_a_stretch():
    last = Observer(lambda tables, states: states.position, lambda own, before, states, info: states.position)
    request = REQUEST | {"chains": 8, "steps": STRETCH + 3}
    seen = observe_chains(tables(), {"last": last}, **request).observed["last"]
    np.testing.assert_array_equal(seen, run_chains(tables(), **request).positions[:, -1])
