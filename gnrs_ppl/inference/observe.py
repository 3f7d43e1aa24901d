"""Chains whose draws are not kept: observers see every step and carry what they need on, so that a million chains fit.

An observer is a pair of pure functions on all chains at once; whatever arrays it carries stand in for the draws.

Examples
--------
>>> import numpy as np
>>> from gnrs_ppl.models.energy import contract
>>> from gnrs_ppl.models.space import build_space
>>> tables = contract(build_space([[0, 1], [0, 0]], unary=[[[0.5], [0.0]], [[0.5], [0.25]]]), np.array([1.0]))
>>> found = observe_chains(tables, {"counts": option_counts(), "best": best()}, chains=64, steps=50, temperature=0.08, seed=0)
>>> int(found.observed["counts"].sum()) == 64 * 50 * 2, found.observed["best"].position.tolist()
(True, [0, 0])
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.stages import Compiled
from jaxtyping import Float, Int32

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference.chains import STEPPERS, Settings, advance_of, checked_settings, frozen
from gnrs_ppl.inference.metropolis import State, init
from gnrs_ppl.inference.moves import MOVES
from gnrs_ppl.inference.result import LARGEST_RESULT, SAME_SCORE, check_request, superchain_ids
from gnrs_ppl.inference.starts import draw_starts
from gnrs_ppl.models.energy import Tables
from gnrs_ppl.models.space import AnyArray

MOST_DRAWS = 2**31 - 1
"""Draws an int32 can count."""


class Observer(NamedTuple):
    """What is carried along with the chains.

    Attributes
    ----------
    init : callable
        ``init(tables, states)`` makes the carry; states are those of the starts, leaves of shape (C, ...).
    update : callable
        ``update(carry, before, states, info)`` gives the next carry; called after every step, inside the compiled program.
    finish : callable
        ``finish(carry)`` makes the result of the last carry, in NumPy.
    """

    init: Callable[[Tables, State], Any]
    update: Callable[[Any, State, State, Any], Any]
    finish: Callable[[Any], Any] = lambda carry: carry


class Best(NamedTuple):
    """The best structure of each chain so far, (C,) and (C, V); at the end that of all chains, () and (V,)."""

    score: Float[AnyArray, "*C"]
    position: Int32[AnyArray, "*C V"]


class Moments(NamedTuple):
    """Of s_search per chain: number of draws (), mean (C,), sum of squared deviations from it (C,)."""

    draws: Int32[jax.Array, ""]
    mean: Float[jax.Array, " C"]
    squares: Float[jax.Array, " C"]


class Hits(NamedTuple):
    """Step number (), and the step at which each chain first met the target (C,): 0 at its start, -1 for not yet."""

    step: Int32[jax.Array, ""]
    first: Int32[jax.Array, " C"]


@cache
def option_counts() -> Observer:
    """How often each option was drawn, (V, O) int32; divided by chains times steps these are the marginals."""

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
        return Best(jnp.maximum(states.score, so_far.score), jnp.where(better[:, None], states.position, so_far.position))

    def overall(each: Best) -> Best:
        chain = np.argmax(each.score)
        return Best(each.score[chain], each.position[chain])

    return Observer(lambda tables, states: Best(states.score, states.position), keep, overall)


@cache
def first_hit(target: float) -> Observer:
    """When each chain first had s_search of at least ``target``, to float32's precision of a score: :class:`Hits`."""
    target -= SAME_SCORE

    def begin(tables: Tables, states: State) -> Hits:
        return Hits(jnp.zeros((), jnp.int32), jnp.where(states.score >= target, 0, -1).astype(jnp.int32))

    def look(so_far: Hits, before: State, states: State, info: Any) -> Hits:
        step = so_far.step + 1
        return Hits(step, jnp.where((so_far.first < 0) & (states.score >= target), step, so_far.first))

    return Observer(begin, look)


@cache
def move_counts() -> Observer:
    """Per move of the paper, (4, 3) int32: tried, accepted (staying counts), changed. For the kernel ``metropolis``."""

    def count(counts: jax.Array, before: State, states: State, info: Any) -> jax.Array:
        changed = (before.position != states.position).any(1)
        seen = jnp.stack([jnp.ones_like(changed), info.accepted, changed], 1).astype(jnp.int32)
        return counts.at[info.move].add(seen, mode="promise_in_bounds")

    return Observer(lambda tables, states: jnp.zeros((len(MOVES), 3), jnp.int32), count)


class Observed(NamedTuple):
    """What the observers carried at the end (NumPy), and what it cost; times as in :class:`~gnrs_ppl.inference.result.Chains`."""

    observed: dict[str, Any]
    energy_evaluations: int
    wall_seconds: float
    compile_seconds: float


def observe_chains(
    tables: Tables,
    observers: Mapping[str, Observer],
    *,
    chains: int,
    steps: int,
    temperature: float,
    seed: int,
    kernel: str = "metropolis",
    superchains: int | None = None,
    **settings: Any,
) -> Observed:
    """Run chains as :func:`~gnrs_ppl.inference.run_chains` does, same draws for the same seed, and keep what is observed.

    Parameters
    ----------
    tables : Tables
    observers : {name: Observer}
    chains, steps, temperature, seed, kernel, superchains, **settings
        As for ``run_chains``; kernels that are transitions of one chain.

    Raises
    ------
    InputError
        As ``run_chains``; for other kernels; for more chains than fit (with the bytes) and more draws than can be counted.
    """
    settings = checked_settings(kernel, settings)
    if kernel not in STEPPERS:
        raise InputError(f"{kernel} keeps no chains to observe", f"choose one of {', '.join(STEPPERS)}", source="arguments", field="kernel")
    _check(kernel, tables, chains, steps)
    # Of the draws only those of one step stand in memory.
    groups = check_request(tables, chains=chains, steps=min(steps, 1), temperature=temperature, seed=seed, superchains=superchains)
    starts = draw_starts(tables, groups, seed, 0)[superchain_ids(chains, groups)]
    key = jax.random.fold_in(jax.random.key(seed), np.uint32(0))
    arguments = jax.tree.map(jnp.asarray, (tables, starts, key, temperature))

    began = time.perf_counter()
    shapes = jax.eval_shape(lambda *leaves: leaves, *arguments)
    run = _compiled(kernel, frozen(kernel, settings, [tables]), tuple(observers.items()), steps, shapes)
    compiled = time.perf_counter()
    carried, evaluations = jax.block_until_ready(run(*arguments))  # type: ignore[no-untyped-call]
    ended = time.perf_counter()

    results = [observer.finish(carry) for observer, carry in zip(observers.values(), jax.tree.map(np.asarray, carried), strict=True)]
    return Observed(
        dict(zip(observers, results, strict=True)),
        chains + int(np.asarray(evaluations, np.int64).sum()),
        ended - compiled,
        compiled - began,
    )


def _check(kernel: str, tables: Tables, chains: int, steps: int) -> None:
    """A chain's structure and scores, its proposal, its random words, and what its kernel weighs; observers carry no more than that.

    Measured on a benchmark goal of 15 options a slot, one million chains take 0.3 GB (metropolis), 1.8 GB (informed) and 3.0 GB (gibbs).
    """
    variables, options = tables.unary.shape
    weighed = {"metropolis": 0, "gibbs": options ** (2 if len(tables.joints.variables) else 1), "informed": variables * options}[kernel]
    each = 3 * (4 * variables + 3 * np.asarray(tables.unary).dtype.itemsize) + 16 + 16 * weighed
    if chains * each > LARGEST_RESULT:
        problem = f"{chains} chains need {chains * each} bytes, more than the {LARGEST_RESULT} allowed"
        raise InputError(problem, f"ask for at most {LARGEST_RESULT // each} chains", source="arguments", field="chains")
    if chains * steps > MOST_DRAWS:
        remedy = f"ask for at most {MOST_DRAWS // max(chains, 1)} steps, and run again with another seed"
        raise InputError(f"{chains * steps} draws are more than can be counted", remedy, source="arguments", field="steps")


@lru_cache(maxsize=16)
def _compiled(kernel: str, settings: Settings, observers: tuple[tuple[str, Observer], ...], steps: int, shapes: Any) -> Compiled:
    """Compile once per kernel, settings, observers, number of steps and shapes."""
    advance = advance_of(kernel, settings)
    watching = [observer for _, observer in observers]

    def run(tables: Tables, starts: jax.Array, key: jax.Array, temperature: jax.Array) -> Any:
        first = jax.vmap(init, in_axes=(0, None, None))(starts, tables, temperature)

        def step(carry: tuple[State, list[Any]], key: jax.Array) -> tuple[tuple[State, list[Any]], jax.Array]:
            before, carried = carry
            states, info = advance(key, before, tables, temperature)
            carried = [observer.update(own, before, states, info) for observer, own in zip(watching, carried, strict=True)]
            return (states, carried), info.energy_evaluations.sum(dtype=jnp.int32)

        begun = [observer.init(tables, first) for observer in watching]
        (_, carried), evaluations = jax.lax.scan(step, (first, begun), jax.random.split(key, steps))
        return carried, evaluations

    return jax.jit(run).lower(*shapes).compile()
