"""Metropolis-Hastings over structures, in BlackJAX's shape (paper, Structured search).

    accept a' with probability min(1, p(a') / p(a) * q(a | a') / q(a' | a))

``step(key, state)`` is ``transition(jax.random.bits(key, (WORDS,)), state)``: the transition is a deterministic function of a few
random words (their layout stands in :mod:`gnrs_ppl.inference.moves`), so that many chains can take theirs from one call per step.

Examples
--------
>>> import jax, numpy as np
>>> from gnrs_ppl.models.energy import contract
>>> from gnrs_ppl.models.space import build_space
>>> tables = contract(build_space([[0, 1], [0, 0]], unary=[[[0.5], [0.0]], [[0.5], [0.25]]]), np.array([1.0]))
>>> algorithm = metropolis(tables, temperature=0.08)
>>> state, info = algorithm.step(jax.random.key(0), algorithm.init(np.array([1, 1])))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int, Int32, Key, UInt32

from gnrs_ppl.inference.moves import MOVE_PROBABILITIES, MOVES, WORDS
from gnrs_ppl.models.energy import Tables, evaluate, log_prior
from gnrs_ppl.models.space import AnyArray, look_up


class State(NamedTuple):
    """A structure and its density.

    Attributes
    ----------
    position : (V,) int32
        Option of each variable.
    score : () float
        s_search, with lambda subtracted where a hard condition breaks.
    feasible : () bool
    logdensity : () float
        log p0 + s_search / tau.
    """

    position: Int32[jax.Array, " V"]
    score: Float[jax.Array, ""]
    feasible: Bool[jax.Array, ""]
    logdensity: Float[jax.Array, ""]


class Info(NamedTuple):
    """What happened in a step.

    Attributes
    ----------
    move : () int32
        Number of the move in ``MOVES``.
    accepted : () bool
        Whether the proposal was taken; a self-loop always is.
    acceptance_rate : () float
        min(1, density ratio times Hastings ratio).
    proposal : State
        What was proposed, whether or not it was taken.
    energy_evaluations : () int32
    """

    move: Int32[jax.Array, ""]
    accepted: Bool[jax.Array, ""]
    acceptance_rate: Float[jax.Array, ""]
    proposal: State
    energy_evaluations: Int32[jax.Array, ""]


Transition = Callable[[UInt32[jax.Array, " 4"], State, Tables, float | jax.Array], tuple[State, Info]]


class SamplingAlgorithm(NamedTuple):
    """``init(position) -> State`` and ``step(key, state) -> (State, Info)``, as BlackJAX has them."""

    init: Callable[[Int[AnyArray, " V"]], State]
    step: Callable[[Key[jax.Array, ""], State], tuple[State, Info]]


def init(position: Int[AnyArray, " V"], tables: Tables, temperature: float | jax.Array) -> State:
    """Evaluate a position."""
    position = jnp.asarray(position, jnp.int32)
    score, feasible = evaluate(tables, position)
    return State(position, score, feasible, log_prior(tables, position) + score / temperature)


def accept(
    word: UInt32[jax.Array, ""], state: State, proposal: State, log_hastings: Float[jax.Array, ""]
) -> tuple[State, Bool[jax.Array, ""], Float[jax.Array, ""]]:
    """The one accept step: log(u) < min(0, difference of logdensity + Hastings term), in log space so that nothing overflows.

    u = (word + 1/2) / 2^32, kept below one; acceptance probabilities below 2^-33 are never met.
    """
    log_ratio = jnp.minimum(0.0, proposal.logdensity - state.logdensity + log_hastings)
    u = jnp.minimum((word.astype(log_ratio.dtype) + 0.5) * 2.0**-32, 1 - 2.0**-24)
    accepted = jnp.log(u) < log_ratio
    taken = jax.tree.map(lambda new, old: jnp.where(accepted, new, old), proposal, state)
    return taken, accepted, jnp.exp(log_ratio)


def build_kernel(move_probabilities: tuple[float, float, float, float] = MOVE_PROBABILITIES) -> Transition:
    """Mixture of the four moves as ``transition(words, state, tables, temperature)``, for one chain; ``jax.vmap`` it for many.

    Every chain draws its own move. Under ``vmap`` all four proposals are computed and one is kept (a few look-ups each); the
    density is evaluated once, at the kept one.
    """
    if len(move_probabilities) != len(MOVES) or min(move_probabilities) < 0 or abs(sum(move_probabilities) - 1) > 1e-9:
        raise ValueError(f"move_probabilities: {move_probabilities} are not {len(MOVES)} probabilities that sum to one")
    ends = np.rint(np.cumsum(move_probabilities)[:-1] * 2**16).astype(np.uint32)

    def transition(words: UInt32[jax.Array, " 4"], state: State, tables: Tables, temperature: float | jax.Array) -> tuple[State, Info]:
        tables = jax.tree.map(jnp.asarray, tables)
        move = (words[0] >> 16 >= ends).sum(dtype=jnp.int32)
        proposals = [propose(words, tables, state.position) for propose in MOVES.values()]
        kept = jax.tree.map(lambda *parts: look_up(jnp.stack(parts), move), *proposals)
        proposal = init(kept.position, tables, temperature)
        taken, accepted, rate = accept(words[3], state, proposal, kept.log_hastings)
        return taken, Info(move, accepted, rate, proposal, jnp.ones((), jnp.int32))

    return transition


def metropolis(
    tables: Tables, temperature: float, move_probabilities: tuple[float, float, float, float] = MOVE_PROBABILITIES
) -> SamplingAlgorithm:
    """The paper's sampler for one chain: ``init(position)`` and ``step(key, state)``."""
    transition = build_kernel(move_probabilities)

    def step(key: Key[jax.Array, ""], state: State) -> tuple[State, Info]:
        return transition(jax.random.bits(key, (WORDS,), jnp.uint32), state, tables, temperature)

    return SamplingAlgorithm(lambda position: init(position, tables, temperature), step)
