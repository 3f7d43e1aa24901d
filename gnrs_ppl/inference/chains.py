"""Many chains at once: one compiled scan over steps of a vmapped transition (paper, Structured search: 200 steps)."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.stages import Compiled

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference.exact import exact_chains
from gnrs_ppl.inference.metropolis import State, Transition, build_kernel, init
from gnrs_ppl.inference.moves import WORDS
from gnrs_ppl.inference.result import Chains, check_request, superchain_ids
from gnrs_ppl.inference.starts import draw_starts
from gnrs_ppl.models.energy import Tables

KERNELS: dict[str, Callable[[], Transition]] = {"metropolis": build_kernel}
"""Kernels by name; besides them ``exact`` draws independently from the enumerated posterior."""


def run_chains(
    tables: Tables,
    *,
    chains: int,
    steps: int,
    temperature: float,
    seed: int,
    kernel: str = "metropolis",
    superchains: int | None = None,
) -> Chains:
    """Run chains from overdispersed starts and record every step.

    Parameters
    ----------
    tables : Tables
    chains, steps : int
        At least 1 each. Tables are arguments of the compiled function, so contexts padded alike share it.
    temperature : float
        tau.
    seed : int
        0 to 2^32 - 1; one seed gives one result for a number of chains and steps on one kind of device.
    kernel : {"metropolis", "exact"}
    superchains : int, optional
        Number of distinct starts, a divisor of ``chains``; unless given, the greatest common divisor of ``chains`` and 8.

    Raises
    ------
    InputError
        For an unknown kernel, numbers out of range, and more draws than fit (with the bytes).
    """
    if kernel == "exact":
        return exact_chains(tables, chains=chains, steps=steps, temperature=temperature, seed=seed, superchains=superchains)
    if kernel not in KERNELS:
        raise InputError(f"no kernel {kernel!r}", f"choose one of {', '.join([*KERNELS, 'exact'])}", source="arguments", field="kernel")
    groups = check_request(tables, chains=chains, steps=steps, temperature=temperature, seed=seed, superchains=superchains)
    superchain = superchain_ids(chains, groups)
    starts = draw_starts(tables, groups, seed)[superchain]
    arguments = jax.tree.map(jnp.asarray, (tables, starts, jax.random.key(seed), temperature))

    began = time.perf_counter()
    run = _compiled(kernel, steps, jax.eval_shape(lambda *leaves: leaves, *arguments))
    compiled = time.perf_counter()
    first, drawn = jax.block_until_ready(run(*arguments))  # type: ignore[no-untyped-call]
    ended = time.perf_counter()

    positions, score, feasible, move, accepted = (np.moveaxis(np.asarray(leaf), 0, 1) for leaf in drawn)
    return Chains(
        positions=positions,
        score=score,
        feasible=feasible,
        move=move,
        accepted=accepted,
        starts=starts,
        start_score=np.asarray(first.score),
        start_feasible=np.asarray(first.feasible),
        superchain=superchain,
        kernel=kernel,
        temperature=temperature,
        seed=seed,
        wall_seconds=ended - compiled,
        compile_seconds=compiled - began,
    )


@lru_cache(maxsize=16)
def _compiled(kernel: str, steps: int, shapes: Any) -> Compiled:
    """Compile once per kernel, number of steps and shapes."""
    transition = KERNELS[kernel]()

    def run(tables: Tables, starts: jax.Array, key: jax.Array, temperature: jax.Array) -> tuple[State, Any]:
        first = jax.vmap(init, in_axes=(0, None, None))(starts, tables, temperature)

        def step(states: State, step_key: jax.Array) -> tuple[State, Any]:
            words = jax.random.bits(step_key, (WORDS, starts.shape[0]), jnp.uint32)
            states, info = jax.vmap(transition, in_axes=(1, 0, None, None))(words, states, tables, temperature)
            return states, (states.position, states.score, states.feasible, info.move.astype(jnp.int8), info.accepted)

        return first, jax.lax.scan(step, first, jax.random.split(key, steps))[1]

    return jax.jit(run).lower(*shapes).compile()
