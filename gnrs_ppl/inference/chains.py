"""Many chains on many spaces at once: one compiled scan over steps of a vmapped transition (paper, Structured search: 200 steps)."""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jax.stages import Compiled

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference import gibbs, informed, metropolis, moves
from gnrs_ppl.inference.exact import exact_chains
from gnrs_ppl.inference.metropolis import State, init
from gnrs_ppl.inference.result import NO_MOVE, Chains, check_request, superchain_ids
from gnrs_ppl.inference.smc import run_smc
from gnrs_ppl.inference.starts import draw_starts
from gnrs_ppl.inference.tempering import run_tempering
from gnrs_ppl.models.energy import Tables, padded, room_for


class Method(NamedTuple):
    """A kernel: what builds its transition, and how many random words a step takes."""

    build: Callable[[], Callable[..., Any]]
    words: int


KERNELS = {
    "metropolis": Method(metropolis.build_kernel, moves.WORDS),
    "gibbs": Method(gibbs.build_kernel, gibbs.WORDS),
    "informed": Method(informed.build_kernel, informed.WORDS),
}
"""Kernels by name: transitions of one chain."""


def _tempered(tables: Tables, **request: Any) -> Chains:
    return run_tempering(tables, **request)[0]


def _particles(tables: Tables, *, chains: int, steps: int, superchains: int | None, **request: Any) -> Chains:
    """Every chain is a particle and has one draw; steps are the mutations at each temperature. Superchains have no meaning here."""
    return run_smc(tables, particles=chains, mutations=steps, **request)[0]


RUNNERS: dict[str, Callable[..., Chains]] = {"tempering": _tempered, "smc": _particles, "exact": exact_chains}
"""Samplers that are more than a transition of one chain: replica exchange, tempered particles, independent draws."""


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
    kernel : {"metropolis", "gibbs", "informed", "tempering", "smc", "exact"}
    superchains : int, optional
        Number of distinct starts, a divisor of ``chains``; unless given, the greatest common divisor of ``chains`` and 8.

    Raises
    ------
    InputError
        For an unknown kernel, numbers out of range, and more draws than fit (with the bytes).
    """
    request: dict[str, Any] = {"chains": chains, "steps": steps, "temperature": temperature, "superchains": superchains}
    return run_many([tables], **request, seed=seed, kernel=kernel)[0]


def run_many(
    spaces: Sequence[Tables],
    *,
    chains: int,
    steps: int,
    temperature: float,
    seed: int,
    names: Sequence[str] = (),
    kernel: str = "metropolis",
    superchains: int | None = None,
) -> list[Chains]:
    """Run the same number of chains on each of several spaces, in one program.

    The spaces are padded to one shape, so that one compiled kernel serves them all; padding changes no draw. A named space gives the
    same chains alone and in company.

    Parameters
    ----------
    spaces : sequence of Tables
        With the same number of variables, swaps and joints.
    names : sequence of str, optional
        One per space; its random numbers follow from the seed and its name, so that spaces are independent of one another.
    chains, steps, temperature, seed, kernel, superchains
        As for :func:`run_chains`.

    Returns
    -------
    list of Chains
        One per space; ``wall_seconds`` is its share of the whole.

    Raises
    ------
    InputError
        As :func:`run_chains`.
    """
    request: dict[str, Any] = {"chains": chains, "steps": steps, "temperature": temperature, "superchains": superchains}
    streams = [zlib.crc32(name.encode()) for name in names] or [0] * len(spaces)
    if kernel in RUNNERS:
        return [RUNNERS[kernel](tables, **request, seed=seed, stream=s) for tables, s in zip(spaces, streams, strict=True)]
    if kernel not in KERNELS:
        remedy = f"choose one of {', '.join([*KERNELS, *RUNNERS])}"
        raise InputError(f"no kernel {kernel!r}", remedy, source="arguments", field="kernel")
    groups = check_request(spaces[0], **request, seed=seed, spaces=len(spaces))
    superchain = superchain_ids(chains, groups)
    starts = np.stack([draw_starts(tables, groups, seed, s)[superchain] for tables, s in zip(spaces, streams, strict=True)])
    options = room_for(max(tables.unary.shape[1] for tables in spaces))
    pairs = max(tables.pairs.shape[0] for tables in spaces)
    stacked = jax.tree.map(lambda *leaves: np.stack(leaves), *[padded(tables, options, pairs) for tables in spaces])
    keys = jax.vmap(jax.random.fold_in, in_axes=(None, 0))(jax.random.key(seed), jnp.asarray(streams, jnp.uint32))
    arguments = _placed(jax.tree.map(jnp.asarray, (stacked, starts, keys, temperature)), chains)

    began = time.perf_counter()
    run = _compiled(kernel, steps, jax.tree.map(_shape, arguments))
    compiled = time.perf_counter()
    first, drawn = jax.block_until_ready(run(*arguments))  # type: ignore[no-untyped-call]
    ended = time.perf_counter()

    # (steps, spaces, chains, ...) -> (spaces, chains, steps, ...)
    positions, score, feasible, move, accepted, evaluations = (np.moveaxis(np.asarray(leaf), 0, 2) for leaf in drawn)
    return [
        Chains(
            positions=positions[g],
            score=score[g],
            feasible=feasible[g],
            move=move[g],
            accepted=accepted[g],
            starts=starts[g],
            start_score=np.asarray(first.score)[g],
            start_feasible=np.asarray(first.feasible)[g],
            superchain=superchain,
            kernel=kernel,
            temperature=temperature,
            seed=seed,
            energy_evaluations=chains + int(evaluations[g].sum(dtype=np.int64)),
            wall_seconds=(ended - compiled) / len(spaces),
            compile_seconds=(compiled - began) / len(spaces),
        )
        for g in range(len(spaces))
    ]


def _placed(arguments: Any, chains: int) -> Any:
    """Tables, starts, keys and temperature on the devices: chains are dealt out evenly, the rest stands on each of them.

    Random numbers are made per chain whatever the number of devices, so that a seed gives the same draws on one and on many.
    """
    devices = jax.devices()[: math.gcd(chains, jax.device_count())]
    if len(devices) == 1:
        return arguments
    mesh = Mesh(devices, ("chains",))
    everywhere, dealt = (NamedSharding(mesh, PartitionSpec(*axes)) for axes in ((), (None, "chains")))  # type: ignore[no-untyped-call]
    tables, starts, keys, temperature = arguments
    return jax.device_put((tables, starts, keys, temperature), (everywhere, dealt, everywhere, everywhere))


def _shape(array: jax.Array) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=array.sharding)  # type: ignore[no-untyped-call]


@lru_cache(maxsize=16)
def _compiled(kernel: str, steps: int, shapes: Any) -> Compiled:
    """Compile once per kernel, number of steps and shapes."""
    method = KERNELS[kernel]
    transition = method.build()

    def run(tables: Tables, starts: jax.Array, keys: jax.Array, temperature: jax.Array) -> tuple[State, Any]:
        first = jax.vmap(jax.vmap(init, in_axes=(0, None, None)), in_axes=(0, 0, None))(starts, tables, temperature)

        def advance(key: jax.Array, states: State, tables: Tables) -> tuple[State, Any]:
            words = jax.random.bits(key, (method.words, starts.shape[1]), jnp.uint32)
            moved: tuple[State, Any] = jax.vmap(transition, in_axes=(1, 0, None, None))(words, states, tables, temperature)
            return moved

        def step(states: State, step_keys: jax.Array) -> tuple[State, Any]:
            states, info = jax.vmap(advance)(step_keys, states, tables)
            move = getattr(info, "move", jnp.full(starts.shape[:2], NO_MOVE)).astype(jnp.int8)
            return states, (states.position, states.score, states.feasible, move, info.accepted, info.energy_evaluations)

        step_keys = jax.vmap(jax.random.split, in_axes=(0, None), out_axes=1)(keys, steps)
        return first, jax.lax.scan(step, first, step_keys)[1]

    return jax.jit(run).lower(*shapes).compile()
