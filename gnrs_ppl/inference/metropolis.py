"""Metropolis-Hastings over structures, in BlackJAX's shape (paper, Structured search).

    accept a' with probability min(1, p(a') / p(a) * q(a | a') / q(a' | a))

The transition is a deterministic function of a few random words (their layout stands in
:mod:`gnrs_ppl.inference.moves`), so that many chains can take theirs from one call per step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int, Int32, UInt32

from gnrs_ppl.inference.moves import MoveProposal, acting_shares, apart, propose, require_probabilities
from gnrs_ppl.models.energy import (
    Tables,
    checked_position,
    log_prior,
    marked,
    marked_score,
    parts,
    rows,
    unmarked,
)
from gnrs_ppl.models.packed import fits, pack, unpack
from gnrs_ppl.models.space import AnyArray, look_up

LARGE = 16
"""A pair of a variable that changes takes about as long as so many look-ups of a whole evaluation."""


class Kept(NamedTuple):
    """What a step changes instead of evaluating anew: w . phi, the number of raised flags, log p0."""

    worth: Float[jax.Array, ""]
    raised: Int32[jax.Array, ""]
    log_prior: Float[jax.Array, ""]


class State(NamedTuple):
    """A structure and its density.

    Attributes
    ----------
    position : (V,) int32
        Option of each variable. Inside the driver's loop a structure of a small space is packed, () uint32.
    score : () float
        s_search, with lambda subtracted where a hard condition breaks.
    feasible : () bool
    logdensity : () float
        log p0 + s_search / tau.
    kept : Kept, optional
        Where steps change it (:func:`is_large`, and Gibbs). Sums of floats drift by a rounding a step; what
        is accepted does not, as it goes by the change alone.
    """

    position: Int[jax.Array, "*V"]
    score: Float[jax.Array, ""]
    feasible: Bool[jax.Array, ""]
    logdensity: Float[jax.Array, ""]
    kept: Kept | None = None


class Info(NamedTuple):
    """What happened in a step of any kernel; what only some kernels can tell is None for the others.

    Attributes
    ----------
    accepted : () bool
        Whether the proposal was taken; a self-loop always is, and what Gibbs draws.
    acceptance_rate : () float
        min(1, density ratio times Hastings ratio).
    proposal : State
        What was proposed, whether or not it was taken. Of a ladder the cold rung's, before the swaps.
    energy_evaluations : () int32
        How many structures were weighed.
    move : () int32, optional
        Number of the move in ``MOVES``.
    block : () int32, optional
        Of Gibbs: number of the variable, or V plus the number of the joint entry.
    ladder : optional
        Of tempering: :class:`gnrs_ppl.inference.tempering.Ladder`.
    """

    accepted: Bool[jax.Array, ""]
    acceptance_rate: Float[jax.Array, ""]
    proposal: State
    energy_evaluations: Int32[jax.Array, ""]
    move: Int32[jax.Array, ""] | None = None
    block: Int32[jax.Array, ""] | None = None
    ladder: Any = None


Transition = Callable[[UInt32[jax.Array, " 3"], State, Tables, float | jax.Array], tuple[State, Info]]


def init(position: Int[AnyArray, " V"], tables: Tables, temperature: float | jax.Array) -> State:
    """Evaluate a position.

    Raises
    ------
    InputError
        When there is not one whole number for each variable, and, where they are known, for options that
        there are not.
    """
    position = checked_position(tables, position)
    if is_large(tables):
        return changing(tables, position, temperature)
    return _whole(tables, position, temperature)


def _whole(tables: Tables, position: Int[jax.Array, "*V"], temperature: float | jax.Array) -> State:
    entries = marked(tables) if tables.merged is None else None
    score = apart(marked_score, tables, position, entries)
    return State(position, score, unmarked(score), log_prior(tables, position) + score / temperature)


def packs(tables: Tables) -> bool:
    """Whether the structures of a space are packed where many steps are taken."""
    return fits(*tables.unary.shape) and not is_large(tables)


def packed(states: Any, tables: Tables) -> Any:
    """Many states, or ladders of them, with every structure as one integer, for the transition to step."""
    return states._replace(position=pack(states.position, tables.unary.shape[1]))


def unpacked(states: Any, tables: Tables) -> Any:
    """States with their structures as vectors."""
    return states._replace(position=unpack(states.position, *tables.unary.shape))


def changing(tables: Tables, position: Int[AnyArray, " V"], temperature: float | jax.Array) -> State:
    """Evaluate a position, with what steps change of it."""
    position = checked_position(tables, position)
    worth, raised = parts(tables, position)
    return of_kept(tables, position, Kept(worth, raised, log_prior(tables, position)), temperature)


def of_kept(
    tables: Tables, position: Int32[jax.Array, " V"], kept: Kept, temperature: float | jax.Array
) -> State:
    """The state of what is kept."""
    score = kept.worth - jnp.where(kept.raised > 0, tables.penalty, 0.0).astype(kept.worth.dtype)
    return State(position, score, kept.raised == 0, kept.log_prior + score / temperature, kept)


def is_large(tables: Tables) -> bool:
    """Whether a change of a variable or two reads much less than all tables: V + P > ``LARGE`` (D + 1)."""
    variables, degree = tables.beside.pairs.shape
    return bool(variables + tables.pairs.shape[0] > LARGE * (degree + 1))


def accept(
    word: UInt32[jax.Array, ""], log_ratio: Float[jax.Array, ""]
) -> tuple[Bool[jax.Array, ""], Float[jax.Array, ""]]:
    """Whether log(u) < min(0, log_ratio), in log space so that nothing overflows, and the acceptance rate.

    u = (word + 1/2) / 2^32, kept below one; acceptance probabilities below 2^-33 are never met.
    """
    log_ratio = jnp.minimum(0.0, log_ratio)
    return apart(_below, word, log_ratio), jnp.exp(log_ratio)


def chosen(which: Bool[jax.Array, ""], one: Any, other: Any) -> Any:
    """Leaf by leaf the one where ``which`` holds, else the other."""
    return jax.tree.map(lambda a, b: jnp.where(which, a, b), one, other)


def _below(word: UInt32[jax.Array, ""], log_ratio: Float[jax.Array, ""]) -> Bool[jax.Array, ""]:
    u = jnp.minimum((word.astype(log_ratio.dtype) + 0.5) * 2.0**-32, 1 - 2.0**-24)
    return jnp.log(u) < log_ratio


def build_kernel(move_probabilities: tuple[float, float, float, float] | None = None) -> Transition:
    """Mixture of the four moves as ``transition(words, state, tables, temperature)``, for one chain;
    ``jax.vmap`` it for many.

    Every chain draws its own move; the look-ups are the same whichever it is.

    Parameters
    ----------
    move_probabilities : tuple of float, optional
        How often each of ``MOVES`` is tried, rounded to whole 2^-16; unless given, as
        :func:`~gnrs_ppl.inference.moves.acting_shares` of the space.

    Raises
    ------
    InputError
        Not four probabilities that sum to one.
    """
    if move_probabilities is not None:
        require_probabilities(move_probabilities)

    def transition(
        words: UInt32[jax.Array, " 3"], state: State, tables: Tables, temperature: float | jax.Array
    ) -> tuple[State, Info]:
        tables = jax.tree.map(jnp.asarray, tables)
        shares = acting_shares(tables.edits) if move_probabilities is None else np.array(move_probabilities)
        ends = jnp.rint(shares.cumsum()[:-1] * 2**16).astype(jnp.uint32)
        move = sum([(words[0] >> 16 >= end).astype(jnp.int32) for end in ends], jnp.int32(0))
        proposed = propose(words, tables, state.position, move)
        if state.kept is None:
            proposal = _whole(tables, proposed.position, temperature)
            gain = proposal.score - state.score
        else:
            proposal, gain = _changed(tables, state, state.kept, proposed, temperature)
        # log p0 is in log_ratio already: where nobody asks for logdensity, nothing looks it up
        log_ratio = gain / temperature + proposed.log_ratio
        accepted, rate = accept(words[2], log_ratio)
        told = unpacked(proposal, tables)
        return chosen(accepted, proposal, state), Info(
            accepted, rate, told, jnp.ones((), jnp.int32), move=move
        )

    return transition


def _changed(
    tables: Tables, state: State, kept: Kept, proposed: MoveProposal, temperature: float | jax.Array
) -> tuple[State, Float[jax.Array, ""]]:
    """The proposal and what it gains, from the tables of the variables that change."""
    first, second = proposed.variables
    before, after = state.position, proposed.position
    new = jax.tree.map(jnp.add, kept, _change(tables, before, after, first, before))
    if tables.joints.variables.shape[0]:  # then the other, as the first stands now
        one, other = second == first, _change(tables, before, after, second, after)
        new = jax.tree.map(lambda a, b: a + jnp.where(one, jnp.zeros((), b.dtype), b), new, other)
    fines = (new.raised > 0).astype(new.worth.dtype) - (kept.raised > 0).astype(new.worth.dtype)
    gain = new.worth - kept.worth - fines * jnp.asarray(tables.penalty).astype(new.worth.dtype)
    return of_kept(tables, after, new, temperature), gain


def _change(
    tables: Tables,
    before: Int32[jax.Array, " V"],
    after: Int32[jax.Array, " V"],
    variable: Int32[jax.Array, ""],
    others: Int32[jax.Array, " V"],
) -> Kept:
    """As one variable takes its new option, the others standing as they are in ``others``."""
    options = jnp.stack([look_up(before, variable), look_up(after, variable)])
    worth, raised = rows(tables, others, variable, options)
    prior = look_up(tables.log_prior, variable, options)
    return Kept(worth[1] - worth[0], raised[1] - raised[0], prior[1] - prior[0])
