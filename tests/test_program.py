"""Three faces of one density: table look-up in the kernel, NumPyro program, enumeration; and NumPyro's own
Gibbs and enumeration on the program."""

from __future__ import annotations

import functools
import itertools
from functools import partial
from typing import Any

import jax
import numpy as np
import numpyro
import pytest
import spaces
from numpyro.infer.util import log_density
from scipy import stats
from tiers import few
from transition import Grammar

from gnrs_ppl.inference.chains import run_chains
from gnrs_ppl.inference.exact import enumerate_space, exact_posterior, slot_marginals
from gnrs_ppl.inference.metropolis import init
from gnrs_ppl.inference.sweep import sweep
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, Tables, contract, hard_penalty
from gnrs_ppl.models.program import rule_program
from gnrs_ppl.models.space import build_space, restricted
from gnrs_ppl.models.uai import from_factors

EXACT = 1e-9
FLOAT32 = 2e-4
"""Scores within 3 rounded to 2^-22 some twenty times, over tau = 0.08: 6e-5 a side."""
SEEDS = [0, 1, 4]
FAILURE_RATE = 1e-5
"""Chance that right samplers fail a test of frequencies here, nine of them; seeds are fixed."""


def built(seed: int) -> tuple[dict[str, Any], Tables]:
    tables = spaces.ragged(seed)
    return tables, contract(build_space(**tables), spaces.weights(seed))


def faces(tables: Tables, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Logdensities by the kernel's state and by the NumPyro program."""

    def program(position: jax.Array) -> jax.Array:
        sites = {f"variable_{v}": position[v] for v in range(positions.shape[1])}
        density: jax.Array = log_density(rule_program, (tables, SEARCH_TEMPERATURE), {}, sites)[0]
        return density

    def kernel(position: jax.Array) -> jax.Array:
        return init(position, tables, SEARCH_TEMPERATURE).logdensity

    found = jax.jit(lambda every: (jax.vmap(kernel)(every), jax.vmap(program)(every)))(positions)
    return np.asarray(found[0], np.float64), np.asarray(found[1], np.float64)


def enumerated(tables: Tables, positions: np.ndarray) -> np.ndarray:
    found = enumerate_space(tables)
    index = np.ravel_multi_index(tuple(positions.T), found.sizes)
    return found.log_prior[index] + found.score[index] / SEARCH_TEMPERATURE


def differences(logdensity: np.ndarray) -> np.ndarray:
    return logdensity - logdensity[0]


@pytest.mark.parametrize("seed", few(SEEDS, 1))
def test_three_faces_agree_in_float64(seed: int):
    ragged, tables = built(seed)
    positions = spaces.some_positions(ragged, 20)
    with jax.enable_x64(True):
        kernel, program = faces(tables, positions)
    sweep = enumerated(tables, positions)
    for face in (kernel, program):
        np.testing.assert_allclose(differences(face), differences(sweep), rtol=0, atol=EXACT)
        # p0 is normalised in all of them, so they agree without differences too
        np.testing.assert_allclose(face, sweep, rtol=0, atol=EXACT)


@pytest.mark.parametrize("seed", few(SEEDS, 1))
def test_three_faces_agree_in_float32(seed: int):
    ragged, tables = built(seed)
    positions = spaces.some_positions(ragged, 20)
    kernel, program = faces(tables, positions)
    sweep = enumerated(tables, positions)
    for face in (kernel, program):
        np.testing.assert_allclose(differences(face), differences(sweep), rtol=0, atol=2 * FLOAT32)


def test_sites_and_draws():
    """One site a variable, one factor a table, one for hard conditions; of one option nothing is drawn."""
    ragged, tables = built(1)
    names = [f"rule1.{slot}" for slot in "abcd"]
    kinds: dict[str, str] = {}

    def values() -> dict[str, jax.Array]:
        with numpyro.handlers.seed(rng_seed=0):
            trace = numpyro.handlers.trace(rule_program).get_trace(tables, SEARCH_TEMPERATURE, names)
        kinds.update({name: site["type"] for name, site in trace.items()})
        return {name: trace[name]["value"] for name in names}

    drawn = jax.jit(values)()
    pairs = [f"score_{names[i]}_{names[j]}" for i, j in sorted(ragged["pairwise"])]
    assert sorted(kinds) == sorted([*names, *(f"score_{name}" for name in names), *pairs, "penalty"])
    assert [name for name in names if kinds[name] == "sample"] == [*names[:2], names[3]]
    assert all(
        0 <= int(drawn[name]) < len(owners) for name, owners in zip(names, ragged["candidates"], strict=True)
    )


def test_weights_may_be_traced():
    """Contracted inside: the gradient of the log density by the weights is phi / tau."""
    ragged = spaces.ragged(0)
    space, at = build_space(**ragged), spaces.positions(ragged)[-1]
    sites = {f"variable_{v}": np.array(option) for v, option in enumerate(at)}

    def density(weights: jax.Array) -> jax.Array:
        return log_density(rule_program, (contract(space, weights, 2.0), SEARCH_TEMPERATURE), {}, sites)[0]

    with jax.enable_x64(True):
        gradient = jax.jit(jax.grad(density))(jax.numpy.asarray(spaces.weights(0)))
    np.testing.assert_allclose(gradient, spaces.phi(ragged, at) / SEARCH_TEMPERATURE, rtol=0, atol=EXACT)


def sweep_matrix(grammar: Grammar, temperature: float) -> np.ndarray:
    """Transition matrix of a sweep in a random order, by NumPy from the definitions: each variable from its
    conditional, all orders alike."""
    density = np.exp(grammar.log_densities(temperature))
    updates = []
    for v in range(len(grammar.sizes)):
        rest = [a[:v] + a[v + 1 :] for a in grammar.structures]
        joined = np.array(
            [[density[j] * (rest[i] == rest[j]) for j in range(len(rest))] for i in range(len(rest))]
        )
        updates.append(joined / joined.sum(1, keepdims=True))
    orders = [*itertools.permutations(updates)]
    return sum(functools.reduce(np.matmul, order) for order in orders) / len(orders)


def test_numpyros_sweeps_are_those_of_the_matrix():
    """Its frequencies after one step from eight starts, a variable of one option among the four; the matrix
    keeps p(a | x) and is reversible."""
    ragged, temperature = spaces.ragged(1), 0.3
    grammar = Grammar(
        *(ragged[name] for name in ("candidates", "unary", "pairwise", "unary_flags", "pair_flags")),
        weights=spaces.weights(1),
        penalty=hard_penalty(spaces.weights(1)),
    )
    matrix, target = sweep_matrix(grammar, temperature), grammar.target(temperature)
    np.testing.assert_allclose(target @ matrix, target, rtol=0, atol=1e-12)
    flow = target[:, None] * matrix
    np.testing.assert_allclose(flow, flow.T, rtol=0, atol=1e-12)

    found = run_chains(built(1)[1], chains=8000, steps=1, temperature=temperature, seed=0, kernel="numpyro")
    assert found.energy_evaluations == 8000 * (1 + sum(size for size in grammar.sizes if size > 1))
    begun, ended = (
        np.ravel_multi_index(positions.T, grammar.sizes)
        for positions in (found.starts, found.positions[:, 0])
    )
    chances = []
    for start in np.unique(begun):
        counts = np.bincount(ended[begun == start], minlength=len(matrix))
        chances.append(fits(counts, matrix[start]))
    assert len(chances) == 8
    assert min(chances) > FAILURE_RATE / 10


def fits(counts: np.ndarray, probabilities: np.ndarray) -> float:
    """p value of the frequencies, cells of fewer than five pooled."""
    due = probabilities * counts.sum()
    often = due >= 5
    pooled = [np.append(x[often], x[~often].sum()) for x in (counts, due)]
    kept = pooled[1] > 0
    assert not pooled[0][~kept].any()
    return float(stats.chisquare(pooled[0][kept], pooled[1][kept]).pvalue)


@pytest.mark.slow
def test_the_program_as_a_kernel():
    """Records what any kernel does; one structure is there without NumPyro; runs are not observed."""
    tables = built(1)[1]
    request: dict[str, Any] = {"chains": 8, "steps": 3, "temperature": 0.3, "seed": 0, "kernel": "numpyro"}
    found = run_chains(tables, **request)
    exact = enumerate_space(tables)
    place = np.ravel_multi_index(tuple(np.moveaxis(found.positions, -1, 0)), exact.sizes)
    np.testing.assert_allclose(found.score, exact.score[place], rtol=0, atol=1e-5)
    np.testing.assert_array_equal(found.feasible, exact.feasible[place])
    again, other = run_chains(tables, **request), run_chains(tables, **(request | {"seed": 1}))
    np.testing.assert_array_equal(again.positions, found.positions)
    assert (other.positions != found.positions).any()
    lone = contract(build_space([[0], [0]], [[[0.1]], [[0.2]]]), np.ones(1))
    assert not run_chains(lone, **request).positions.any()


def test_the_program_is_summed_over_and_conditioned():
    """Every site holds all its options, along a dimension of its own, as NumPyro enumerates: the sum
    is exp(log Z), and with a site pinned the mass of the pin: that of the space restricted to the option,
    whose p0 is normalised anew."""
    ragged = spaces.ragged(1)
    space, tables = build_space(**ragged), built(1)[1]
    exact = exact_posterior(enumerate_space(tables), SEARCH_TEMPERATURE)
    sizes = tables.sizes.tolist()
    every = {
        f"variable_{v}": np.arange(size).reshape(-1, *[1] * (len(sizes) - 1 - v))
        for v, size in enumerate(sizes)
    }

    @jax.jit
    def log_mass(sites: dict[str, jax.Array]) -> jax.Array:
        with numpyro.handlers.trace() as told, numpyro.handlers.condition(data=sites):
            rule_program(tables, SEARCH_TEMPERATURE)
        drawn = [site for site in told.values() if site["type"] == "sample"]
        densities = [site["fn"].log_prob(site["value"]) for site in drawn]
        return jax.nn.logsumexp(sum(densities[1:], densities[0]))

    def mass(sites: dict[str, np.ndarray]) -> float:
        with jax.enable_x64(True), jax.numpy_rank_promotion("allow"):
            return float(log_mass(sites))

    assert mass(every) == pytest.approx(exact.log_normalizer, abs=EXACT)
    for option, probability in enumerate(slot_marginals(exact)[0]):
        pinned = mass(every | {"variable_0": np.array(option)})
        assert np.exp(pinned - exact.log_normalizer) == pytest.approx(probability, abs=EXACT)
        kept = contract(restricted(space, [[option], *map(range, sizes[1:])]), spaces.weights(1))
        alone = exact_posterior(enumerate_space(kept), SEARCH_TEMPERATURE).log_normalizer
        assert pinned == pytest.approx(alone + tables.log_prior[0, option], abs=EXACT)


@pytest.fixture
def funsor() -> Any:
    """``numpyro.contrib.funsor``."""
    pytest.importorskip("funsor", reason="pip install 'gnrs-ppl[enumeration]'")
    from numpyro.contrib import funsor

    return funsor


def summed(funsor: Any, tables: Tables, temperature: float) -> float:
    """Log Z as NumPyro's enumeration has it."""
    program = funsor.enum(funsor.config_enumerate(rule_program), first_available_dim=-1)
    with jax.enable_x64(True), jax.numpy_rank_promotion("allow"):
        found = jax.jit(lambda: funsor.log_density(program, (tables, temperature), {}, {})[0])()
    return float(found)


def test_numpyro_sums_over_every_site(funsor: Any):
    tables = built(1)[1]
    exact = exact_posterior(enumerate_space(tables), SEARCH_TEMPERATURE)
    assert summed(funsor, tables, SEARCH_TEMPERATURE) == pytest.approx(exact.log_normalizer, abs=EXACT)


@pytest.mark.slow
def test_numpyro_eliminates_the_sites_of_a_graph_one_after_the_other(funsor: Any):
    """An Ising model on a strip, of 2^24 structures, whose energies would take 128 MiB."""
    sites = np.arange(24).reshape(2, 12)
    edges = [*zip(sites[:-1].ravel(), sites[1:].ravel(), strict=True)]
    edges += zip(sites[:, :-1].ravel(), sites[:, 1:].ravel(), strict=True)
    agree = 0.4 * np.array([[1, -1], [-1, 1]])
    ising = from_factors([2] * sites.size, pairwise=dict.fromkeys(edges, agree), logarithms=True)
    assert summed(funsor, ising, 1.0) == pytest.approx(sweep(ising, 1.0).log_normalizer, abs=EXACT)


@pytest.mark.slow
def test_numpyro_infers_the_sites(funsor: Any):
    """Its mode is the most probable structure, and its draws are independent ones from p(a | x)."""
    tables = built(1)[1]
    exact = exact_posterior(enumerate_space(tables), SEARCH_TEMPERATURE)

    def inferred(key: jax.Array, temperature: int) -> jax.Array:
        program = funsor.infer_discrete(
            funsor.config_enumerate(rule_program), -1, temperature=temperature, rng_key=key
        )
        return jax.numpy.stack(program(tables, SEARCH_TEMPERATURE))

    with jax.numpy_rank_promotion("allow"):
        mode = jax.jit(partial(inferred, temperature=0))(jax.random.key(0))
        keys = jax.random.split(jax.random.key(1), 4000)
        drawn = np.asarray(jax.jit(jax.vmap(partial(inferred, temperature=1)))(keys))
    np.testing.assert_array_equal(mode, exact.enumeration.position(int(exact.probability.argmax())))
    place = np.ravel_multi_index(drawn.T, exact.enumeration.sizes)
    assert fits(np.bincount(place, minlength=len(exact.probability)), exact.probability) > FAILURE_RATE / 10
