"""Large graphs: what a step changes is what a whole evaluation gives, and the draws are those of whole
evaluations.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.typing import NDArray
from tiers import mostly_slow

from gnrs_ppl.inference import gibbs, metropolis, tempering
from gnrs_ppl.inference.moves import WORDS
from gnrs_ppl.inference.starts import draw_prior
from gnrs_ppl.models.energy import Tables, evaluate, log_prior, rows
from gnrs_ppl.models.space import build_beside
from gnrs_ppl.models.synthetic import coupled_rules
from gnrs_ppl.models.uai import from_factors

STEPS, CHAINS = 40, 24
FLOAT32 = 2e-4
"""Of scores up to 30 with a penalty up to 90, summed in another order, over STEPS changes."""


def potts(side: int, states: int, seed: int) -> Tables:
    """A torus of Potts spins with random couplings; on some edges two states exclude one another."""
    rng = np.random.default_rng(seed)
    number = np.arange(side * side).reshape(side, side)
    edges = [
        (int(a), int(b))
        for axis in (0, 1)
        for a, b in zip(number.flat, np.roll(number, -1, axis).flat, strict=True)
    ]
    pairwise = {}
    for edge in edges:
        table = np.exp(rng.normal(size=(states, states)) / 2)
        if rng.random() < 0.1:
            table[0, 1] = 0.0
        pairwise[edge] = table
    return from_factors([states] * side * side, pairwise=pairwise)


LARGE = {
    "potts": lambda: potts(6, 3, 0),
    "rules": lambda: coupled_rules(16, 5, seed=3, density=0.02, strict=0.5),
}


@cache
def space(name: str) -> Tables:
    return LARGE[name]()


def small(tables: Tables) -> Tables:
    """The same tables with room for so many pairs of a variable that nobody takes them for large."""
    return tables._replace(beside=build_beside(tables.pairs, len(tables.sizes), len(tables.pairs)))


@pytest.mark.parametrize("name", LARGE)
def test_the_lists_hold_every_pair_twice(name: str):
    tables = space(name)
    beside, pairs = tables.beside, np.asarray(tables.pairs)
    assert beside.there.sum() == 2 * len(pairs)
    for v, d in np.argwhere(beside.there):
        ends = pairs[beside.pairs[v, d]]
        assert ends[int(beside.turned[v, d])] == v
        assert ends[1 - int(beside.turned[v, d])] == beside.others[v, d]


@pytest.mark.parametrize("name", LARGE)
def test_rows_are_what_a_slow_sum_gives(name: str):
    tables, found = space(name), jax.jit(rows)
    for position in draw_prior(tables, 2, np.random.default_rng(1)):
        for v in (0, len(position) // 2, len(position) - 1):
            size = int(tables.sizes[v])
            worth, raised = (np.asarray(leaf) for leaf in found(tables, position, v, np.arange(size)))
            for option in range(size):
                own, up = float(tables.unary[v, option]), int(tables.unary_flags[v, option])
                for p, (left, right) in enumerate(tables.pairs):
                    if v in (left, right):
                        here = [option if w == v else int(position[w]) for w in (left, right)]
                        own += float(tables.pairwise[p, here[0], here[1]])
                        up += int(tables.pair_flags[p, here[0], here[1]])
                assert worth[option] == pytest.approx(own, abs=1e-4)
                assert raised[option] == up


def walk(kernel: Any, words: int, tables: Tables, temperature: float) -> tuple[Any, NDArray[np.int32]]:
    """States after STEPS steps, positions of every step."""
    module, build = kernel
    transition = build()
    starts = draw_prior(tables, CHAINS, np.random.default_rng(2))
    if module is tempering:
        starts = np.stack([starts, starts[::-1], np.roll(starts, 1, 0)], 1)

    @jax.jit
    def run(key: jax.Array, starts: jax.Array) -> Any:
        def step(states: Any, key: jax.Array) -> Any:
            drawn = jax.random.bits(key, (CHAINS, words), jnp.uint32)
            states, _ = jax.vmap(transition, (0, 0, None, None))(drawn, states, tables, temperature)
            return states, states.position

        states = jax.vmap(module.init, (0, None, None))(starts, tables, temperature)
        return jax.lax.scan(step, states, jax.random.split(key, STEPS))

    last, path = jax.device_get(run(jax.random.key(3), starts))
    return last, np.asarray(path)


KERNELS: dict[str, Any] = {
    "metropolis": ((metropolis, metropolis.build_kernel), WORDS, 0.3),
    "tempering": ((tempering, tempering.build_kernel), tempering.words_needed(3), 0.3),
}


@pytest.mark.parametrize("kernel", mostly_slow(KERNELS, but=["metropolis"]))
@pytest.mark.parametrize("name", LARGE)
def test_positions_are_those_of_whole_evaluations(name: str, kernel: str):
    """The same words, step after step; and what is carried is what an evaluation gives."""
    tables, (module, words, temperature) = space(name), KERNELS[kernel]
    assert metropolis.is_large(tables)
    assert not metropolis.is_large(small(tables))
    quick, path = walk(module, words, tables, temperature)
    slow, slow_path = walk(module, words, small(tables), temperature)
    np.testing.assert_array_equal(path, slow_path)
    assert (path[0] != path[-1]).any(-1).mean() > 0.8, "chains have to go somewhere for this to mean anything"
    np.testing.assert_array_equal(quick.feasible, slow.feasible)
    assert 0 < quick.feasible.mean() < 1 or name == "rules"
    np.testing.assert_allclose(quick.score, slow.score, atol=FLOAT32)
    assert quick.kept is not None
    assert slow.kept is None


@pytest.mark.parametrize("name", LARGE)
def test_what_gibbs_carries_is_what_an_evaluation_gives(name: str):
    tables = space(name)
    last, path = walk((gibbs, lambda: gibbs.build_kernel(0.3)), gibbs.WORDS, tables, 0.3)
    whole = jax.jit(jax.vmap(lambda p: (evaluate(tables, p), log_prior(tables, p))))
    (score, feasible), prior = whole(last.position)
    np.testing.assert_allclose(last.score, score, atol=FLOAT32)
    np.testing.assert_array_equal(last.feasible, feasible)
    np.testing.assert_allclose(last.logdensity, prior + score / 0.3, rtol=1e-4)
    assert (path[0] != path[-1]).any(-1).all()
