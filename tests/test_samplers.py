"""Every sampler against the same exact posteriors: NumPyro's Gibbs beside ours, how errors fall, UAI
networks, BlackJAX's own loops.

Means share one budget of false alarms, BUDGET. Slopes have an interval of their own (SLOPE).
"""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import Any

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import spaces
import tiers
from blackjax.smc import resampling
from blackjax.util import run_inference_algorithm
from budget import Budget
from numpy.typing import NDArray
from numpyro.infer import MCMC, DiscreteGibbs
from scipy import stats
from test_cpsat_uai import NETWORKS, Network, network
from tiers import mostly_slow

from gnrs_ppl.inference import samplers, smc
from gnrs_ppl.inference.chains import run_chains
from gnrs_ppl.inference.metropolis import Info, State
from gnrs_ppl.inference.result import Chains
from gnrs_ppl.inference.starts import draw_prior
from gnrs_ppl.inference.sweep import Exact, sweep
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, Tables, contract, log_prior, score
from gnrs_ppl.models.program import rule_program
from gnrs_ppl.models.space import build_space
from gnrs_ppl.models.uai import ZERO_MASS, log_states, read_uai

BUDGET = Budget(
    1e-4,
    {
        "test_numpyros_gibbs_has_the_exact_marginals": (1, 1),
        "test_our_kernels_have_the_exact_marginals_and_numpyros": (5, 2),
        "test_local_kernels_have_a_networks_marginals": (2, 1),
        "test_samplers_that_go_everywhere_have_all_networks_marginals": (2, 1),
        "test_smc_has_the_networks_log_z_and_marginals": (1, 1),
        "test_blackjax_runs_the_kernel_as_it_is": (1, 1),
        "test_blackjaxs_adaptive_smc_runs_the_kernel_as_it_is": (1, 1),
    },
)
MUTANT_LEVEL = 1e-8
"""A wrong posterior has to be this improbable before a test is said to see it."""
SLOPE = (-0.6, -0.4)
"""0.1 on either side is five standard errors: four groups of 128 chains, whose errors are known within 3 %
each (1 / sqrt(2 * 128 * 4))."""

Floats = NDArray[np.float64]


def test_the_budget_covers_every_case(request: pytest.FixtureRequest):
    BUDGET.assert_covers(case for case in request.session.items if case.path == request.path)


def centred(errors: Floats, what: str) -> None:
    """Pass with chance 1 - BUDGET.level if the columns of independent rows have mean zero."""
    BUDGET.spend()
    p = off_centre(errors)
    assert p > BUDGET.level, (what, p)


def off_centre(errors: Floats) -> float:
    """Student's t, Bonferroni over the columns."""
    deviation = errors.std(0, ddof=1)
    assert deviation.max() > 0
    t = np.abs(errors.mean(0)) / np.maximum(deviation, 1e-12) * math.sqrt(len(errors))
    return float(min(1.0, errors.shape[1] * 2 * stats.t.sf(t, len(errors) - 1).min()))


def shares(positions: NDArray[np.int32], sizes: Any) -> Floats:
    """Share of every option but a variable's last, chain by chain: (C, draws, V) to (C, options)."""
    return np.stack(
        [(positions[..., v] == o).mean(1) for v, size in enumerate(sizes) for o in range(size - 1)], axis=1
    )


def particle_shares(runs: list[Chains], sizes: Any) -> Floats:
    """Shares among each run's particles, a row a run."""
    return np.concatenate([shares(run.positions[:, 0][None], sizes) for run in runs])


def due(marginals: Any) -> Floats:
    return np.concatenate([np.asarray(marginal)[:-1] for marginal in marginals])


# ---- a rule space at the search temperature

KERNELS = ["metropolis", "gibbs", "informed", "tempering", "exact"]
WARM, LENGTHS, GROUP = 256, [256, 512, 1024, 2048], 128
"""Steps that are left out, lengths that errors are compared at, chains of each length."""


@cache
def tables() -> Tables:
    """Four variables, flags on one and on two, a few hundred structures."""
    return contract(build_space(**spaces.ragged(2)), spaces.weights(2))


@cache
def exact() -> Exact:
    return sweep(tables(), SEARCH_TEMPERATURE)


@cache
def drawn(kernel: str) -> NDArray[np.int32]:
    request: dict[str, Any] = {
        "chains": GROUP * len(LENGTHS),
        "steps": WARM + LENGTHS[-1],
        "temperature": SEARCH_TEMPERATURE,
        "seed": 31,
    }
    return run_chains(tables(), **request, kernel=kernel).positions[:, WARM:]


@cache
def numpyros() -> Floats:
    """Shares of 64 chains of NumPyro's own Gibbs on the NumPyro program; ``modified`` freezes in float32 at
    gaps that lambda makes."""
    sampler = MCMC(
        DiscreteGibbs(rule_program, modified=False),
        num_warmup=30,
        num_samples=200,
        num_chains=64,
        chain_method=jax.vmap,
        progress_bar=False,
    )
    sampler.run(jax.random.key(17), tables(), SEARCH_TEMPERATURE)
    samples = sampler.get_samples(group_by_chain=True)
    return shares(
        np.stack([np.asarray(samples[f"variable_{v}"]) for v in range(len(tables().sizes))], -1),
        tables().sizes,
    )


def test_the_space_is_worth_sampling():
    assert 100 < exact().states < 1000
    assert 0.3 < exact().feasible_states / exact().states < 0.9
    assert max(marginal.max() for marginal in exact().marginals if len(marginal) > 1) < 0.9


@pytest.mark.slow
def test_numpyros_gibbs_has_the_exact_marginals():
    centred(numpyros() - due(exact().marginals), "NumPyro")
    warmer = sweep(tables(), 1.25 * SEARCH_TEMPERATURE)
    assert off_centre(numpyros() - due(warmer.marginals)) < MUTANT_LEVEL, "a quarter warmer would be seen"


@pytest.mark.parametrize("kernel", mostly_slow(KERNELS, but=["metropolis", "exact"]))
def test_our_kernels_have_the_exact_marginals_and_numpyros(kernel: str):
    found = shares(drawn(kernel)[:, -1024:], tables().sizes)
    centred(found - due(exact().marginals), kernel)
    if (
        not tiers.fast
    ):  # rows of ours less rows of NumPyro's are independent, and their mean is that of the difference
        centred(found[:64] - numpyros(), f"{kernel} less NumPyro")


def slope(lengths: list[int], errors: list[float]) -> float:
    return float(stats.linregress(np.log(lengths), np.log(errors)).slope)


@pytest.mark.parametrize("kernel", mostly_slow(KERNELS, but=["metropolis", "exact"]))
def test_the_error_falls_with_the_root_of_the_length(kernel: str):
    """Each length has chains of its own, so that the four errors are independent."""
    errors = []
    for number, length in enumerate(LENGTHS):
        found = shares(drawn(kernel)[number * GROUP : (number + 1) * GROUP, :length], tables().sizes)
        errors.append(float(np.sqrt(((found - due(exact().marginals)) ** 2).mean())))
    assert SLOPE[0] < slope(LENGTHS, errors) < SLOPE[1], errors


# ---- the UAI networks

NAMES = ["chain", "loops", "zeros"]


def beside(networks: list[Network]) -> Network:
    """Networks side by side as one, so that a sampler is compiled once for all of them; nothing joins them,
    and Z is the product."""
    firsts = np.cumsum([0, *(len(one.sizes) for one in networks)]).tolist()
    factors = [
        (tuple(first + v for v in scope), table)
        for first, one in zip(firsts[:-1], networks, strict=True)
        for scope, table in one.factors
    ]
    return Network([size for one in networks for size in one.sizes], factors)


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """All three, written and read again in the UAI format."""
    every = beside([network(name) for name in NAMES])
    lines = ["MARKOV", str(len(every.sizes)), " ".join(map(str, every.sizes)), str(len(every.factors))]
    lines += [" ".join(map(str, (len(scope), *scope))) for scope, _ in every.factors]
    lines += [" ".join(map(str, (table.size, *table.ravel().tolist()))) for _, table in every.factors]
    path = tmp_path_factory.mktemp("uai") / "beside.uai"
    path.write_text("\n".join(lines))
    return read_uai(path)


@cache
def truth() -> tuple[float, list[Floats]]:
    """Log Z and marginals by the definition."""
    every = [network(name) for name in NAMES]
    return sum(math.log(one.weights().sum()) for one in every), [
        one.marginal(v) for one in every for v in range(len(one.sizes))
    ]


def test_the_sweep_has_the_networks_log_z_and_marginals(networks: Tables):
    found, (log_z, marginals) = sweep(networks, 1.0), truth()
    assert found.log_normalizer + log_states(networks) == pytest.approx(log_z, abs=1e-8)
    for ours, theirs in zip(found.marginals, marginals, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=4 * ZERO_MASS)
    for name in NAMES:
        alone = sweep(read_uai(NETWORKS / f"{name}.uai"), 1.0)
        assert alone.log_normalizer + log_states(read_uai(NETWORKS / f"{name}.uai")) == pytest.approx(
            math.log(network(name).weights().sum()), abs=1e-8
        )


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["gibbs", "informed"])
def test_local_kernels_have_a_networks_marginals(kernel: str):
    """Metropolis has its own test on these networks, in test_cpsat_uai."""
    loops, expected = read_uai(NETWORKS / "loops.uai"), due([network("loops").marginal(v) for v in range(6)])
    run = run_chains(loops, chains=256, steps=1000, temperature=1.0, seed=5, kernel=kernel, superchains=32)
    found = shares(run.positions[:, 300:], loops.sizes)
    centred(found - expected, f"loops, {kernel}")
    assert off_centre(found - 0.9 * expected) < MUTANT_LEVEL, "a tenth less would be seen"


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["tempering", "exact"])
def test_samplers_that_go_everywhere_have_all_networks_marginals(networks: Tables, kernel: str):
    """Zeros cut the third network into three parts that no change of one variable joins."""
    run = run_chains(networks, chains=256, steps=1000, temperature=1.0, seed=5, kernel=kernel, superchains=64)
    found = shares(run.positions[:, 300:], networks.sizes)
    centred(found - due(truth()[1]), f"networks, {kernel}")
    assert off_centre(found - 0.9 * due(truth()[1])) < MUTANT_LEVEL, "a tenth less would be seen"


@pytest.mark.slow
def test_smc_has_the_networks_log_z_and_marginals(networks: Tables):
    log_z, marginals = truth()
    runs = [
        run_chains(networks, chains=2048, steps=10, temperature=1.0, seed=seed, kernel="smc")
        for seed in range(24)
    ]
    excess = np.array([run.log_normalizer for run in runs], np.float64) + log_states(networks) - log_z
    assert excess.std(ddof=1) < 0.2, "a wide spread would excuse everything"
    centred(
        np.column_stack([np.expm1(excess), particle_shares(runs, networks.sizes) - due(marginals)]),
        "networks, smc",
    )
    assert off_centre((excess + 0.2)[:, None]) < 1e-4, "a fifth more would be seen"


# ---- a small space, for what is compiled often


@cache
def few() -> tuple[Tables, Exact]:
    """Two variables of three and four options, no pair, one option flagged."""
    unary = [np.array([[0.5], [0.4], [0.2]]), np.array([[0.5], [0.45], [0.3], [0.5]])]
    small = contract(
        build_space([[0, 1, 1], [0, 0, 1, 2]], unary, unary_flags={1: np.array([False, False, False, True])}),
        np.ones(1),
    )
    return small, sweep(small, SEARCH_TEMPERATURE)


@pytest.mark.slow
def test_the_error_of_particles_falls_with_the_root_of_their_number():
    """24 runs at each of two numbers; errors are known within 1 / sqrt(2 * 24 * 3) = 8 % each, the slope
    within 0.04: five of them."""
    (small, posterior), numbers, errors = few(), [64, 1024], []
    for number in numbers:
        runs = [
            run_chains(small, chains=number, steps=6, temperature=SEARCH_TEMPERATURE, seed=seed, kernel="smc")
            for seed in range(24)
        ]
        errors.append(
            float(np.sqrt(((particle_shares(runs, small.sizes) - due(posterior.marginals)) ** 2).mean()))
        )
    assert -0.7 < slope(numbers, errors) < -0.3, errors


# ---- BlackJAX's loops


@pytest.mark.slow
def test_blackjax_runs_the_kernel_as_it_is():
    """Its plain loop, from a position and from a state."""
    small, posterior = few()
    sampler = samplers.metropolis(small, SEARCH_TEMPERATURE)

    def keep(state: State, info: Info) -> tuple[jax.Array, jax.Array]:
        return state.position, info.accepted

    def one(key: jax.Array, position: jax.Array) -> Any:
        last, _ = run_inference_algorithm(key, sampler, 100, initial_position=position)
        return run_inference_algorithm(key, sampler, 300, initial_state=last, transform=keep)

    starts = draw_prior(small, 256, np.random.default_rng(3))
    last, (path, accepted) = jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(1), 256), starts)
    assert path.shape == (256, 300, 2)
    assert 0.1 < accepted.mean() < 0.95
    np.testing.assert_array_equal(last.position, path[:, -1])
    centred(shares(np.asarray(path), small.sizes) - due(posterior.marginals), "BlackJAX's loop")


@pytest.mark.slow
def test_blackjaxs_adaptive_smc_runs_the_kernel_as_it_is():
    """``blackjax.adaptive_tempered_smc`` with our init and step, at the temperature of the exponent where
    the particles stand."""
    small, posterior = few()
    space, runs, particles = jax.tree.map(jnp.asarray, small), 16, 512
    starts = draw_prior(small, runs * particles, np.random.default_rng(5)).reshape(runs, particles, -1)

    @jax.jit
    @jax.vmap
    def stage(key: jax.Array, state: Any) -> Any:
        ours = smc.mutation(space, SEARCH_TEMPERATURE / state.tempering_param)
        algorithm = blackjax.adaptive_tempered_smc(
            lambda position: log_prior(space, position),
            lambda position: score(space, position) / SEARCH_TEMPERATURE,
            ours.step,
            ours.init,
            {},
            resampling.systematic,
            0.5,
            num_mcmc_steps=5,
        )
        state, info = algorithm.step(key, state)
        return state, info.log_likelihood_increment

    state, total = jax.vmap(smc.init)(starts), np.zeros(runs)
    for number in itertools.count():
        state, increment = stage(jax.random.split(jax.random.key(number), runs), state)
        total += np.asarray(increment)
        if (state.tempering_param == 1).all():
            break
    assert state.particles.dtype == jnp.int32
    centred((total - posterior.log_normalizer)[:, None], "BlackJAX's adaptive SMC")
    assert off_centre((total - posterior.log_normalizer + 0.5)[:, None]) < MUTANT_LEVEL
