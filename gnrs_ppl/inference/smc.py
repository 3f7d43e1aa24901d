"""Adaptive tempered sequential Monte Carlo: BlackJAX's, with our kernel as its mutation step (Dai et al.
2022).

    p_k(a) proportional to p0(a) exp(x_k s_search(a) / tau), 0 = x_0 < x_1 < ... = 1,  log Z = sum_k log
    mean_i exp((x_k - x_k-1) s_i / tau)

Particles start as draws from p0. A stage resamples them, chooses the next exponent x so that the weights keep
a share ``target_ess`` of effective particles, mutates each particle by Metropolis steps at the exponent that
it stands at, and weighs it for the next one. Once the exponent is 1, one more stage resamples and mutates,
and leaves equal weights.

BlackJAX's step takes a key and uses as many random words as there are particles and mutations, so there is no
``WORDS`` here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from blackjax.smc import adaptive_tempered, resampling
from blackjax.smc.tempered import TemperedSMCState
from jax.stages import Compiled
from jaxtyping import Float, Int, Key

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference import metropolis
from gnrs_ppl.inference.moves import WORDS
from gnrs_ppl.inference.result import LARGEST_RESULT, NO_MOVE, Chains, Stages, check_request
from gnrs_ppl.inference.starts import draw_prior
from gnrs_ppl.models.energy import Tables, log_prior, padded, room_for, score
from gnrs_ppl.models.space import AnyArray

TARGET_ESS = 0.5
STAGES = 1000
"""Most stages: at the search temperature a target of 0.5 takes fewer than ten, and one of 0.999 about a
hundred."""


class Mutation(NamedTuple):
    """Our kernel in BlackJAX's shape: ``init(position, logdensity_fn)`` and ``step(key, state,
    logdensity_fn)``.

    Neither calls ``logdensity_fn``: they hold the tables and the temperature, and with them the same density.
    """

    init: Callable[[Int[AnyArray, " V"], Any], metropolis.State]
    step: Callable[[Key[jax.Array, ""], metropolis.State, Any], tuple[metropolis.State, metropolis.Info]]


class Info(NamedTuple):
    """What happened in a stage.

    Attributes
    ----------
    log_increment : () float
        log of the mean weight: estimate of log Z at the new exponent less that at the old.
    ess : () float
        Effective number of particles of the new weights, 1 to N.
    acceptance : () float
        Share of mutations that were accepted.
    """

    log_increment: Float[jax.Array, ""]
    ess: Float[jax.Array, ""]
    acceptance: Float[jax.Array, ""]


Stage = Callable[
    [Key[jax.Array, ""], TemperedSMCState, Tables, float | jax.Array], tuple[TemperedSMCState, Info]
]


def mutation(
    tables: Tables,
    temperature: float | jax.Array,
    move_probabilities: tuple[float, float, float, float] | None = None,
) -> Mutation:
    """The Metropolis kernel as BlackJAX's SMC takes one (``mcmc_init_fn``, ``mcmc_step_fn``)."""
    transition = metropolis.build_kernel(move_probabilities)

    def init(position: Int[AnyArray, " V"], logdensity_fn: Any) -> metropolis.State:
        return metropolis.init(position, tables, temperature)

    def step(
        key: Key[jax.Array, ""], state: metropolis.State, logdensity_fn: Any
    ) -> tuple[metropolis.State, metropolis.Info]:
        return transition(jax.random.bits(key, (WORDS,), jnp.uint32), state, tables, temperature)

    return Mutation(init, step)


def init(positions: Int[AnyArray, "N V"]) -> TemperedSMCState:
    """Draws from p0 as particles of equal weight at exponent 0."""
    count = positions.shape[0]
    return TemperedSMCState(
        jnp.asarray(positions, jnp.int32), jnp.full(count, 1 / count, float), jnp.zeros((), float)
    )


def build_kernel(
    mutations: int,
    target_ess: float | jax.Array = TARGET_ESS,
    move_probabilities: tuple[float, float, float, float] | None = None,
) -> Stage:
    """One stage as ``stage(key, state, tables, temperature)``; at exponent 1 it resamples, mutates, and
    leaves equal weights.

    Parameters
    ----------
    mutations : int
        Metropolis steps of each particle.
    target_ess : float
        Share of the particles, in (0, 1).
    """

    def stage(
        key: Key[jax.Array, ""], state: TemperedSMCState, tables: Tables, temperature: float | jax.Array
    ) -> tuple[TemperedSMCState, Info]:
        tables = jax.tree.map(jnp.asarray, tables)
        resampling_key, mutation_key = jax.random.split(key)
        count = state.weights.shape[0]
        # BlackJAX 1.7.1 resamples inside its step, after it has chosen the exponent from the particles
        # without their weights: the choice is one stage late, and on the paper's figure keeps 0.96 where 0.5
        # is asked for. So the particles are resampled here, by its own function, and its step gets equal
        # weights and keeps the particles it is given.
        chosen = resampling.systematic(resampling_key, state.weights, count)
        equal = TemperedSMCState(
            state.particles[chosen], jnp.full_like(state.weights, 1 / count), state.tempering_param
        )
        # BlackJAX mutates at the exponent that the particles stand at, 0 (an infinite temperature) in the
        # first stage.
        ours = mutation(tables, temperature / state.tempering_param, move_probabilities)
        step = adaptive_tempered.build_kernel(
            logprior_fn=lambda position: log_prior(tables, position),
            loglikelihood_fn=lambda position: score(tables, position) / temperature,
            mcmc_step_fn=ours.step,
            mcmc_init_fn=ours.init,
            resampling_fn=lambda _, __, kept: jnp.arange(kept),
            target_ess=target_ess,
        )
        state, info = step(mutation_key, equal, mutations, {})
        return state, Info(
            info.log_likelihood_increment,
            1 / (state.weights**2).sum(),
            info.update_info.accepted.mean(dtype=float),
        )

    return stage


def particle_chains(
    tables: Tables,
    *,
    chains: int,
    steps: int,
    temperature: float,
    seed: int,
    superchains: int | None = None,
    stream: int = 0,
    target_ess: float = TARGET_ESS,
    move_probabilities: tuple[float, float, float, float] | None = None,
) -> Chains:
    """Carry particles from p0 to p(a | x) and give each as a chain of one draw; steps are the mutations at
    each temperature.

    ``starts`` are the draws from p0 that the run began with. Particles are copied from one another on the
    way, so they are not independent: they make one superchain, whatever was asked for, and no R-hat can be
    had from one run.

    Raises
    ------
    InputError
        For numbers out of range, scores that are not finite, and a run that does not fit (with the bytes).
    """
    particles, mutations = chains, steps
    _check(tables, particles, mutations, target_ess)
    check_request(tables, chains=particles, steps=1, temperature=temperature, seed=seed, superchains=1)
    starts = draw_prior(tables, particles, np.random.default_rng([seed, particles, stream]))
    space = padded(tables, room_for(tables.unary.shape[1]), tables.pairs.shape[0])
    key = jax.random.fold_in(jax.random.key(seed), np.uint32(stream))
    space, tau, target = jax.tree.map(jnp.asarray, (space, temperature, target_ess))
    state = init(starts)

    began = time.perf_counter()
    evaluate, stage = _compiled(
        mutations, move_probabilities, jax.eval_shape(lambda *leaves: leaves, key, state, space, tau, target)
    )
    compiled = time.perf_counter()
    first = evaluate(state.particles, space, tau)
    exponents: list[float] = []
    infos: list[tuple[float, ...]] = []
    arrived = False
    while not arrived:
        if len(infos) == STAGES:
            problem = f"exponent {exponents[-1]:g} after {STAGES} stages"
            raise InputError(
                problem, "give more particles or a smaller target_ess", source="arguments", field="target_ess"
            )
        arrived = exponents[-1:] == [1.0]
        state, info = stage(jax.random.fold_in(key, np.uint32(len(infos))), state, space, tau, target)
        infos.append(tuple(float(leaf) for leaf in info))
        exponents += [] if arrived else [float(state.tempering_param)]
    last = jax.block_until_ready(evaluate(state.particles, space, tau))  # type: ignore[no-untyped-call]
    ended = time.perf_counter()

    increments, ess, acceptance = np.array(infos, np.float64).T
    if not np.isfinite(increments).all():
        raise InputError(
            "some scores are not finite",
            "look for NaN among the weights and features",
            source="arguments",
            field="tables",
        )
    exponent = np.array(exponents)
    return Chains(
        positions=np.asarray(last.position)[:, None],
        score=np.asarray(last.score)[:, None],
        feasible=np.asarray(last.feasible)[:, None],
        move=np.full((particles, 1), NO_MOVE, np.int8),
        accepted=np.ones((particles, 1), bool),
        starts=starts,
        start_score=np.asarray(first.score),
        start_feasible=np.asarray(first.feasible),
        superchain=np.zeros(particles, np.int32),
        kernel="smc",
        temperature=temperature,
        seed=seed,
        # A stage asks for every particle's score to choose the exponent, to begin to mutate, at every
        # mutation, and to weigh.
        energy_evaluations=particles * (2 + len(infos) * (mutations + 3)),
        wall_seconds=ended - compiled,
        compile_seconds=compiled - began,
        stages=Stages(
            exponents=exponent, temperatures=temperature / exponent, ess=ess[:-1], acceptance=acceptance
        ),
        log_normalizer=float(increments[:-1].sum()),
    )


def _check(tables: Tables, particles: int, mutations: int, target_ess: float) -> None:
    for name, what, value, least in (
        ("chains", "particles", particles, 2),
        ("steps", "mutations", mutations, 1),
    ):
        if value < least:
            raise InputError(
                f"{value} {what} asked for", f"ask for at least {least}", source="arguments", field=name
            )
    if not 0 < target_ess < 1:
        raise InputError(
            f"{target_ess} is no share of the particles",
            "give a number between 0 and 1",
            source="arguments",
            field="target_ess",
        )
    # A particle's structure and scores, again when it is copied, and a key and an answer for each of its
    # mutations.
    each = 2 * (4 * tables.sizes.shape[0] + 3 * np.asarray(tables.unary).dtype.itemsize) + 9 * mutations
    if particles * each > LARGEST_RESULT:
        problem = (
            f"{particles} particles of {mutations} mutations need {particles * each} bytes, more than "
            f"the {LARGEST_RESULT} allowed"
        )
        raise InputError(
            problem, f"ask for at most {LARGEST_RESULT // each} particles", source="arguments", field="chains"
        )


@lru_cache(maxsize=16)
def _compiled(
    mutations: int, move_probabilities: tuple[float, float, float, float] | None, shapes: Any
) -> tuple[Compiled, Compiled]:
    """Evaluation of the particles, and a stage, compiled once per number of mutations, move probabilities
    and shapes.
    """
    key, state, tables, temperature, target_ess = shapes

    def evaluate(positions: jax.Array, tables: Tables, temperature: jax.Array) -> metropolis.State:
        return jax.vmap(metropolis.init, (0, None, None))(positions, tables, temperature)

    def stage(
        key: jax.Array, state: TemperedSMCState, tables: Tables, temperature: jax.Array, target_ess: jax.Array
    ) -> tuple[TemperedSMCState, Info]:
        return build_kernel(mutations, target_ess, move_probabilities)(key, state, tables, temperature)

    evaluation = jax.jit(evaluate).lower(state.particles, tables, temperature).compile()
    return evaluation, jax.jit(stage).lower(key, state, tables, temperature, target_ess).compile()
