"""Metropolis-Hastings over structures, in BlackJAX's shape (paper, Structured search).

    accept a' with probability min(1, p(a') / p(a) * q(a | a') / q(a' | a))

The transition is a deterministic function of a few random words (their layout stands in
:mod:`gnrs_ppl.inference.moves`), so that many chains can take theirs from one call per step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int, Int32, UInt32

from gnrs_ppl.inference.moves import MOVE_PROBABILITIES, apart, propose, require_probabilities
from gnrs_ppl.models.energy import Tables, evaluate, log_prior
from gnrs_ppl.models.space import AnyArray


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


Transition = Callable[[UInt32[jax.Array, " 3"], State, Tables, float | jax.Array], tuple[State, Info]]


def init(position: Int[AnyArray, " V"], tables: Tables, temperature: float | jax.Array) -> State:
    """Evaluate a position."""
    position = jnp.asarray(position, jnp.int32)
    score, feasible = evaluate(tables, position)
    return State(position, score, feasible, log_prior(tables, position) + score / temperature)


def accept(
    word: UInt32[jax.Array, ""], state: State, proposal: State, log_hastings: Float[jax.Array, ""]
) -> tuple[State, Bool[jax.Array, ""], Float[jax.Array, ""]]:
    """The one accept step, on the difference of logdensity + Hastings term."""
    return _accept(word, state, proposal, proposal.logdensity - state.logdensity + log_hastings)


def _accept(
    word: UInt32[jax.Array, ""], state: State, proposal: State, log_ratio: Float[jax.Array, ""]
) -> tuple[State, Bool[jax.Array, ""], Float[jax.Array, ""]]:
    """Accept if log(u) < min(0, log_ratio), in log space so that nothing overflows.

    u = (word + 1/2) / 2^32, kept below one; acceptance probabilities below 2^-33 are never met.
    """
    log_ratio = jnp.minimum(0.0, log_ratio)
    accepted = apart(_below, word, log_ratio)
    taken = jax.tree.map(lambda new, old: jnp.where(accepted, new, old), proposal, state)
    return taken, accepted, jnp.exp(log_ratio)


def _below(word: UInt32[jax.Array, ""], log_ratio: Float[jax.Array, ""]) -> Bool[jax.Array, ""]:
    u = jnp.minimum((word.astype(log_ratio.dtype) + 0.5) * 2.0**-32, 1 - 2.0**-24)
    return jnp.log(u) < log_ratio


def build_kernel(move_probabilities: tuple[float, float, float, float] = MOVE_PROBABILITIES) -> Transition:
    """Mixture of the four moves as ``transition(words, state, tables, temperature)``, for one chain;
    ``jax.vmap`` it for many.

    Every chain draws its own move; the look-ups are the same whichever it is.

    Parameters
    ----------
    move_probabilities : tuple of float
        How often each of ``MOVES`` is tried, rounded to whole 2^-16.

    Raises
    ------
    InputError
        Not four probabilities that sum to one.
    """
    require_probabilities(move_probabilities)
    ends = np.rint(np.cumsum(move_probabilities)[:-1] * 2**16).astype(np.uint32)

    def transition(
        words: UInt32[jax.Array, " 3"], state: State, tables: Tables, temperature: float | jax.Array
    ) -> tuple[State, Info]:
        tables = jax.tree.map(jnp.asarray, tables)
        move = (words[0] >> 16 >= ends).sum(dtype=jnp.int32)
        kept = propose(words, tables, state.position, move)
        proposal = init(kept.position, tables, temperature)
        # log p0 is in log_ratio already: where nobody asks for logdensity, nothing looks it up
        log_ratio = (proposal.score - state.score) / temperature + kept.log_ratio
        taken, accepted, rate = _accept(words[2], state, proposal, log_ratio)
        return taken, Info(move, accepted, rate, proposal, jnp.ones((), jnp.int32))

    return transition
