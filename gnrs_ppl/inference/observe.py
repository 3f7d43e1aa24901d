"""What is kept of a run: observers see every step of all chains at once, and carry or record what they want
of it.

An observer is a few pure functions; whatever arrays it carries stand in for the draws. :func:`recording` is
the one that keeps them all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int, Int32
from numpy.typing import NDArray

from gnrs_ppl.inference.metropolis import State
from gnrs_ppl.inference.moves import MOVES
from gnrs_ppl.inference.result import NO_MOVE, SAME_SCORE
from gnrs_ppl.models.energy import Tables
from gnrs_ppl.models.packed import unpack_all
from gnrs_ppl.models.space import AnyArray


class Observer(NamedTuple):
    """What is carried along with the chains, and what is recorded of each step.

    Attributes
    ----------
    init : callable
        ``init(tables, states)`` makes the carry; states are those of the starts, leaves of shape (C, ...).
    update : callable
        ``update(carry, before, states, info)`` gives the next carry; called after every step, inside the
        compiled program.
    finish : callable
        ``finish(carry, records)`` makes the result of the last carry and of the records, stacked by step, in
        NumPy; the last carry unless given.
    record : callable
        ``record(states, info)`` is kept of every step; nothing unless given.
    packed : bool
        Whether structures come to ``record`` as one integer each where they are stepped so.
    """

    init: Callable[[Tables, State], Any]
    update: Callable[[Any, State, State, Any], Any]
    finish: Callable[[Any, Any], Any] = lambda carry, records: carry
    record: Callable[[State, Any], Any] = lambda states, info: None
    packed: bool = False


class Best(NamedTuple):
    """The best structure of each chain so far, (C,) and (C, V); at the end that of all chains, () and
    (V,).
    """

    score: Float[AnyArray, "*C"]
    position: Int32[AnyArray, "*C V"]


class Moments(NamedTuple):
    """Of s_search per chain: number of draws (), mean (C,), sum of squared deviations from it (C,)."""

    draws: Int32[jax.Array, ""]
    mean: Float[jax.Array, " C"]
    squares: Float[jax.Array, " C"]


class Hits(NamedTuple):
    """Step number (), and the step at which each chain first met the target (C,): 0 at its start, -1 for not
    yet.
    """

    step: Int32[jax.Array, ""]
    first: Int32[jax.Array, " C"]


@cache
def option_counts() -> Observer:
    """How often each option was drawn, (V, O) int32; divided by chains times steps these are the
    marginals.
    """

    def count(counts: jax.Array, before: State, states: State, info: Any) -> jax.Array:
        variables = jnp.arange(states.position.shape[1])[None]
        return counts.at[variables, states.position].add(1, mode="promise_in_bounds")

    return Observer(lambda tables, states: jnp.zeros(tables.unary.shape, jnp.int32), count)


@cache
def moments() -> Observer:
    """Mean and spread of s_search per chain (Welford's recursion), as nested R-hat needs them."""

    def begin(tables: Tables, states: State) -> Moments:
        return Moments(jnp.zeros((), jnp.int32), jnp.zeros_like(states.score), jnp.zeros_like(states.score))

    def add(so_far: Moments, before: State, states: State, info: Any) -> Moments:
        draws = so_far.draws + 1
        off = states.score - so_far.mean
        mean = so_far.mean + off / draws.astype(off.dtype)
        return Moments(draws, mean, so_far.squares + off * (states.score - mean))

    return Observer(begin, add)


@cache
def best() -> Observer:
    """The structure of greatest s_search that any chain stood on, starts included: :class:`Best`."""

    def keep(so_far: Best, before: State, states: State, info: Any) -> Best:
        better = states.score > so_far.score
        return Best(
            jnp.maximum(states.score, so_far.score),
            jnp.where(better[:, None], states.position, so_far.position),
        )

    def overall(each: Best, _: None) -> Best:
        chain = np.argmax(each.score)
        return Best(each.score[chain], each.position[chain])

    return Observer(lambda tables, states: Best(states.score, states.position), keep, overall)


@cache
def first_hit(target: float) -> Observer:
    """When each chain first had s_search of at least ``target``, to float32's precision of a score:
    :class:`Hits`.
    """
    target -= SAME_SCORE

    def begin(tables: Tables, states: State) -> Hits:
        return Hits(jnp.zeros((), jnp.int32), jnp.where(states.score >= target, 0, -1).astype(jnp.int32))

    def look(so_far: Hits, before: State, states: State, info: Any) -> Hits:
        step = so_far.step + 1
        return Hits(step, jnp.where((so_far.first < 0) & (states.score >= target), step, so_far.first))

    return Observer(begin, look)


@cache
def move_counts() -> Observer:
    """Per move of the paper, (4, 3) int32: tried, accepted (staying counts), changed. For the kernel
    ``metropolis``.
    """

    def count(counts: jax.Array, before: State, states: State, info: Any) -> jax.Array:
        changed = (before.position != states.position).any(1)
        seen = jnp.stack([jnp.ones_like(changed), info.accepted, changed], 1).astype(jnp.int32)
        return counts.at[info.move].add(seen, mode="promise_in_bounds")

    return Observer(lambda tables, states: jnp.zeros((len(MOVES), 3), jnp.int32), count)


class Draws(NamedTuple):
    """Every draw of C chains, as :class:`~gnrs_ppl.inference.result.Chains` has them."""

    positions: Int[NDArray[np.int32], "C draws V"]
    score: Float[NDArray[np.floating], "C draws"]
    feasible: Bool[NDArray[np.bool_], "C draws"]
    move: Int[NDArray[np.int8], "C draws"]
    accepted: Bool[NDArray[np.bool_], "C draws"]
    starts: Int[NDArray[np.int32], "C V"]
    start_score: Float[NDArray[np.floating], " C"]
    start_feasible: Bool[NDArray[np.bool_], " C"]


@cache
def recording() -> Observer:
    """Every draw: :class:`Draws`. As little is written at each step as can be: structures that are packed as
    they are, and move, acceptance and feasibility as one byte.
    """

    def begin(tables: Tables, states: State) -> tuple[jax.Array, ...]:
        return states.position, states.score, states.feasible, jnp.int32(tables.unary.shape[1])

    def keep(states: State, info: Any) -> tuple[jax.Array, ...]:
        position, move = states.position, jnp.int32(NO_MOVE) if info.move is None else info.move
        if position.dtype != jnp.uint32:
            position = position.astype(jnp.uint16)  # LARGEST_VARIABLE
        told = move * 4 + info.accepted.astype(jnp.int32) * 2 + states.feasible.astype(jnp.int32)
        return position, states.score, told.astype(jnp.int8)

    def drawn(start: tuple[Any, ...], steps: tuple[Any, ...]) -> Draws:
        *starts, options = start
        positions, score, told = steps
        if positions.dtype == np.uint32:
            positions = unpack_all(positions, starts[0].shape[-1], int(options))
        drawn = positions.astype(np.int32, copy=False), score, told & 1 == 1, told >> 2, told & 2 == 2
        return Draws(*(np.moveaxis(leaf, 0, 1) for leaf in drawn), *starts)

    return Observer(begin, lambda start, *_: start, drawn, keep, packed=True)


@cache
def evaluations() -> Observer:
    """How many structures were scored, starts not counted: int.

    Counted chain by chain, low and high word, so that devices need not meet at every step.
    """

    def count(so_far: tuple[jax.Array, jax.Array], before: State, states: State, info: Any) -> Any:
        low = so_far[0] + info.energy_evaluations.astype(jnp.uint32)
        return low, so_far[1] + (low < so_far[0]).astype(jnp.uint32)

    def total(so_far: Any, _: None) -> int:
        low, high = (int(words.sum(dtype=np.uint64)) for words in so_far)
        return low + (high << 32)

    return Observer(
        lambda tables, states: (jnp.zeros(states.score.shape, jnp.uint32),) * 2,
        count,
        total,
    )


class Observed(NamedTuple):
    """What the observers carried at the end (NumPy), and what it cost; times as in
    :class:`~gnrs_ppl.inference.result.Chains`.
    """

    observed: dict[str, Any]
    energy_evaluations: int
    wall_seconds: float
    compile_seconds: float
