"""Three faces of one density: table look-up in the kernel, NumPyro program, enumeration; and NumPyro's own
Gibbs as an oracle."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import numpyro
import pytest
import spaces
from numpyro.infer import MCMC, DiscreteGibbs
from numpyro.infer.util import log_density
from tiers import few

from gnrs_ppl.inference.exact import enumerate_space, exact_posterior, slot_marginals
from gnrs_ppl.inference.metropolis import init
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, Tables, contract
from gnrs_ppl.models.program import rule_program
from gnrs_ppl.models.space import build_space

EXACT = 1e-9
FLOAT32 = 2e-4
"""Scores within 3 rounded to 2^-22 some twenty times, over tau = 0.08: 6e-5 a side."""
STANDARD_ERRORS = 5.0
"""A right sampler goes further than this in one of a million tries, for the some twenty indicators below."""
SEEDS = [0, 1, 4]


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
    ragged, tables = built(1)
    names = [f"rule1.{slot}" for slot in "abcd"]
    told = list[str]()

    def draw() -> dict[str, jax.Array]:
        with numpyro.handlers.seed(rng_seed=0):
            trace = numpyro.handlers.trace(rule_program).get_trace(tables, SEARCH_TEMPERATURE, names)
        told.extend(trace)
        return {name: site["value"] for name, site in trace.items()}

    drawn = jax.jit(draw)()
    assert told == [*names, "s_search"]
    assert all(
        0 <= int(drawn[name]) < len(owners) for name, owners in zip(names, ragged["candidates"], strict=True)
    )


@pytest.mark.slow
def test_numpyros_gibbs_agrees_with_the_enumeration():
    """A mild space (s / tau spans two nats), one variable of one option; 64 chains, so every indicator has
    its standard error."""
    rng = np.random.default_rng(3)
    sizes = [3, 1, 4]
    space = build_space(
        candidates=[[0, 0, 1], [0], [0, 1, 2, 2]],
        unary=[rng.random((n, 1)) / 4 for n in sizes],
        pairwise={(0, 2): rng.random((3, 4, 1)) / 4},
        unary_flags={0: np.array([False, False, True])},
    )
    tables, temperature = contract(space, np.ones(1), penalty=0.5), 0.4
    sampler = MCMC(
        DiscreteGibbs(rule_program, modified=False),
        num_warmup=20,
        num_samples=150,
        num_chains=64,
        chain_method=jax.vmap,
        progress_bar=False,
    )
    sampler.run(jax.random.key(11), tables, temperature)
    drawn = sampler.get_samples(group_by_chain=True)
    marginals = slot_marginals(exact_posterior(enumerate_space(tables), temperature))
    for v, marginal in enumerate(marginals):
        for option, probability in enumerate(marginal):
            share = (np.asarray(drawn[f"variable_{v}"]) == option).mean(axis=1)
            error = share.std(ddof=1) / np.sqrt(len(share))
            assert abs(share.mean() - probability) <= STANDARD_ERRORS * error + 1e-12, (v, option)


def test_the_program_is_summed_over_and_conditioned():
    """Every site holds all its options, along a dimension of its own, as NumPyro enumerates: the sum
    is exp(log Z), and with a site pinned the mass of the pin."""
    tables = built(1)[1]
    exact = exact_posterior(enumerate_space(tables), SEARCH_TEMPERATURE)
    sizes = tables.sizes.tolist()
    every = {
        f"variable_{v}": np.arange(size).reshape(-1, *[1] * (len(sizes) - 1 - v))
        for v, size in enumerate(sizes)
    }

    @jax.jit
    def log_sum(sites: dict[str, jax.Array]) -> jax.Array:
        with numpyro.handlers.trace() as told, numpyro.handlers.condition(data=sites):
            rule_program(tables, SEARCH_TEMPERATURE)
        densities = [site["fn"].log_prob(site["value"]) for site in told.values()]
        return jax.nn.logsumexp(sum(densities[1:], densities[0]))

    def mass(sites: dict[str, np.ndarray]) -> float:
        with jax.enable_x64(True), jax.numpy_rank_promotion("allow"):
            return float(log_sum(sites))

    assert mass(every) == pytest.approx(exact.log_normalizer, abs=EXACT)
    for option, probability in enumerate(slot_marginals(exact)[0]):
        pinned = mass(every | {"variable_0": np.array(option)})
        assert np.exp(pinned - exact.log_normalizer) == pytest.approx(probability, abs=EXACT)
