"""Many chains on many spaces at once: one compiled scan over steps of a vmapped transition (paper, Structured search: 200 steps)."""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.multihost_utils import process_allgather
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jax.stages import Compiled
from numpy.typing import NDArray

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference import gibbs, informed, metropolis, moves
from gnrs_ppl.inference.cpsat import solver_chains
from gnrs_ppl.inference.kernels import KERNELS
from gnrs_ppl.inference.metropolis import State, init
from gnrs_ppl.inference.result import NO_MOVE, Chains, check_request, require_finite, superchain_ids
from gnrs_ppl.inference.smc import run_smc
from gnrs_ppl.inference.starts import draw_starts
from gnrs_ppl.inference.sweep import exact_chains
from gnrs_ppl.inference.tempering import run_tempering
from gnrs_ppl.models.energy import Tables, padded, room_for


class Stepper(NamedTuple):
    """A kernel that is a transition of one chain: what builds it, and how many random words a step takes."""

    build: Callable[..., Callable[..., Any]]
    words: int


STEPPERS = {
    "metropolis": Stepper(metropolis.build_kernel, moves.WORDS),
    "gibbs": Stepper(gibbs.build_kernel, gibbs.WORDS),
    "informed": Stepper(informed.build_kernel, informed.WORDS),
}


def _tempered(tables: Tables, **request: Any) -> Chains:
    chains, exchange = run_tempering(tables, **request)
    return chains._replace(exchange=exchange)


def _particles(tables: Tables, *, chains: int, steps: int, superchains: int | None, **request: Any) -> Chains:
    """Every chain is a particle and has one draw; steps are the mutations at each temperature. Superchains have no meaning here."""
    particles, result = run_smc(tables, particles=chains, mutations=steps, **request)
    return particles._replace(log_normalizer=result.log_normalizer)


RUNNERS: dict[str, Callable[..., Chains]] = {
    "tempering": _tempered,
    "smc": _particles,
    "exact": exact_chains,
    "cpsat": solver_chains,
}
"""Samplers that are more than a transition of one chain."""


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _are_probabilities(value: Any) -> bool:
    given = isinstance(value, tuple) and len(value) == len(moves.MOVES) and all(map(_is_number, value))
    return given and all(0 <= share <= 1 for share in value) and abs(sum(value) - 1) <= 1e-9


VALUES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "move_probabilities": (_are_probabilities, f"give {len(moves.MOVES)} numbers from 0 to 1 that sum to one"),
    "block_probability": (lambda share: share is None or (_is_number(share) and 0 <= share <= 1), "give a number from 0 to 1"),
    "pairs_per_variable": (lambda most: most is None or (_is_whole(most) and most >= 0), "give a whole number"),
    "balancing": (lambda name: isinstance(name, str) and name in informed.BALANCING, f"choose one of {', '.join(informed.BALANCING)}"),
    "replicas": (_is_whole, "give a whole number"),
    "hottest": (lambda temperature: temperature is None or _is_number(temperature), "give a number"),
    "target_ess": (_is_number, "give a number"),
    "seconds": (_is_number, "give a number"),
    "workers": (_is_whole, "give a whole number"),
}
"""What values a setting takes, and what to say of others; who takes the setting checks the range where it is not checked here."""


def checked_settings(kernel: str, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings, sequences as tuples; an unknown kernel, settings it does not take and values that they do not take are refused.

    Raises
    ------
    InputError
    """
    if kernel not in KERNELS:
        raise InputError(f"no kernel {kernel!r}", f"choose one of {', '.join(KERNELS)}", source="arguments", field="kernel")
    takes = KERNELS[kernel].settings
    for name in settings:
        if name not in takes:
            remedy = f"it takes {', '.join(takes) or 'none'}"
            raise InputError(f"{kernel} has no setting {name!r}", remedy, source="arguments", field=name)
    plain = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in settings.items()}
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()}
    for name, value in given.items():
        fits, remedy = VALUES[name]
        if not fits(value):
            raise InputError(f"{value!r} will not do", remedy, source="arguments", field=name)
    return given


def _check_types(request: Mapping[str, Any]) -> None:
    """Whole numbers all but the temperature; ranges are checked where the kernel begins."""
    for name, value in request.items():
        is_right, remedy = (_is_number, "give a number") if name == "temperature" else (_is_whole, "give a whole number")
        if not is_right(value) and not (name == "superchains" and value is None):
            raise InputError(f"{value!r} will not do", remedy, source="arguments", field=name)


def run_chains(
    tables: Tables,
    *,
    chains: int,
    steps: int,
    temperature: float,
    seed: int,
    kernel: str = "metropolis",
    superchains: int | None = None,
    **settings: Any,
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
    kernel : {"metropolis", "gibbs", "informed", "tempering", "smc", "exact", "cpsat"}
    superchains : int, optional
        Number of distinct starts, a divisor of ``chains``; unless given, the greatest common divisor of ``chains`` and 8.
    **settings
        Of the kernel. ``move_probabilities`` (metropolis, tempering, smc): how often each of the paper's moves is tried.
        ``balancing`` (informed). ``block_probability``, ``pairs_per_variable`` (gibbs). ``replicas``, ``hottest`` (tempering).
        ``target_ess`` (smc). ``seconds``, ``workers`` (cpsat). What builds the kernel says what they mean.

    Raises
    ------
    InputError
        For an unknown kernel or setting, numbers that are none or out of range, and more draws than fit (with the bytes).
    """
    request: dict[str, Any] = {"chains": chains, "steps": steps, "temperature": temperature, "superchains": superchains}
    return run_many([tables], **request, seed=seed, kernel=kernel, **settings)[0]


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
    **settings: Any,
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
    chains, steps, temperature, seed, kernel, superchains, **settings
        As for :func:`run_chains`.

    Returns
    -------
    list of Chains
        One per space; ``wall_seconds`` is its share of the whole.

    Raises
    ------
    InputError
        As :func:`run_chains`; no spaces, or not a name for each.
    """
    request: dict[str, Any] = {"chains": chains, "steps": steps, "temperature": temperature, "superchains": superchains}
    _check_types(request | {"seed": seed})
    if not spaces:
        raise InputError("no space to run on", "give at least one", source="arguments", field="spaces")
    if names and len(names) != len(spaces):
        raise InputError(f"{len(names)} for {len(spaces)} spaces", "give one per space, or none", source="arguments", field="names")
    streams = [zlib.crc32(name.encode()) for name in names] or [0] * len(spaces)
    settings = checked_settings(kernel, settings)
    if kernel in RUNNERS:
        run_one = RUNNERS[kernel]
        return [run_one(tables, **request, **settings, seed=seed, stream=s) for tables, s in zip(spaces, streams, strict=True)]
    groups = check_request(spaces[0], **request, seed=seed, spaces=len(spaces))
    for tables in spaces[1:]:
        require_finite(tables)
    superchain = superchain_ids(chains, groups)
    starts = np.stack([draw_starts(tables, groups, seed, s)[superchain] for tables, s in zip(spaces, streams, strict=True)])
    options = room_for(max(tables.unary.shape[1] for tables in spaces))
    pairs = max(tables.pairs.shape[0] for tables in spaces)
    stacked = jax.tree.map(lambda *leaves: np.stack(leaves), *[padded(tables, options, pairs) for tables in spaces])
    keys = jax.vmap(jax.random.fold_in, in_axes=(None, 0))(jax.random.key(seed), jnp.asarray(streams, jnp.uint32))
    arguments = _placed(jax.tree.map(jnp.asarray, (stacked, starts, keys, temperature)), _mesh(len(spaces), chains))

    began = time.perf_counter()
    run = _compiled(kernel, frozen(kernel, settings, spaces), steps, jax.tree.map(_shape, arguments))
    compiled = time.perf_counter()
    first, drawn = jax.block_until_ready(run(*arguments))  # type: ignore[no-untyped-call]
    ended = time.perf_counter()

    # (steps, spaces, chains, ...) -> (spaces, chains, steps, ...)
    positions, score, feasible, move, accepted, evaluations = (np.moveaxis(_gathered(leaf), 0, 2) for leaf in drawn)
    start_score, start_feasible = _gathered(first.score), _gathered(first.feasible)
    return [
        Chains(
            positions=positions[g],
            score=score[g],
            feasible=feasible[g],
            move=move[g],
            accepted=accepted[g],
            starts=starts[g],
            start_score=start_score[g],
            start_feasible=start_feasible[g],
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


def _mesh(spaces: int, chains: int) -> Mesh:
    """The devices that chains, and then spaces, divide by evenly, as a grid (spaces, chains).

    All devices of all processes where they divide; otherwise every process runs everything on devices of its own, and one process uses
    as many of its devices as divide.
    """
    for devices in (jax.devices(), jax.local_devices()):
        columns = math.gcd(chains, len(devices))
        rows = math.gcd(spaces, len(devices) // columns)
        if rows * columns == len(devices):
            break
    return Mesh(np.array(devices[: rows * columns]).reshape(rows, columns), ("spaces", "chains"))


def _placed(arguments: Any, mesh: Mesh) -> Any:
    """Tables, starts, keys and temperature on the devices: spaces and chains are dealt out evenly, the rest stands on each of them.

    Random numbers are made per chain whatever the number of devices, so that a seed gives the same draws on one and on many.
    """
    if mesh.size == 1:
        return arguments

    def put(array: jax.Array, *axes: str) -> jax.Array:
        host = np.asarray(array)  # every process holds all of it and hands over its devices' parts
        return jax.make_array_from_callback(host.shape, NamedSharding(mesh, PartitionSpec(*axes)), host.__getitem__)  # type: ignore[no-untyped-call]

    tables, starts, keys, temperature = arguments
    dealt_keys = jax.random.wrap_key_data(put(jax.random.key_data(keys), "spaces"))
    return jax.tree.map(lambda leaf: put(leaf, "spaces"), tables), put(starts, "spaces", "chains"), dealt_keys, put(temperature)


def _gathered(array: jax.Array) -> NDArray[Any]:
    """The whole array on this host, whichever process made its parts."""
    return np.asarray(array if array.is_fully_addressable else process_allgather(array, tiled=True))


def _shape(array: jax.Array) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=array.sharding)  # type: ignore[no-untyped-call]


Settings = tuple[tuple[str, Any], ...]


def frozen(kernel: str, settings: dict[str, Any], spaces: Sequence[Tables]) -> Settings:
    """The settings as a key of the compiled kernels; Gibbs does less work where it knows how many pairs a variable stands in."""
    if kernel == "gibbs":
        most = max(map(gibbs.most_pairs, spaces))
        settings = {"pairs_per_variable": most} | settings
        if settings["pairs_per_variable"] is not None and settings["pairs_per_variable"] < most:
            problem = f"{settings['pairs_per_variable']} is fewer than the {most} pairs that a variable stands in"
            raise InputError(problem, f"give at least {most}, or leave it out", source="arguments", field="pairs_per_variable")
    return tuple(sorted(settings.items()))


def advance_of(kernel: str, settings: Settings) -> Callable[..., tuple[State, Any]]:
    """One step of many chains on one space, ``advance(key, states, tables, temperature)``."""
    stepper = STEPPERS[kernel]
    transition = stepper.build(**dict(settings))

    def advance(key: jax.Array, states: State, tables: Tables, temperature: jax.Array) -> tuple[State, Any]:
        words = jax.random.bits(key, (stepper.words, states.score.shape[0]), jnp.uint32)
        moved: tuple[State, Any] = jax.vmap(transition, in_axes=(1, 0, None, None))(words, states, tables, temperature)
        return moved

    return advance


@lru_cache(maxsize=16)
def _compiled(kernel: str, settings: Settings, steps: int, shapes: Any) -> Compiled:
    """Compile once per kernel, settings, number of steps and shapes."""
    advance = advance_of(kernel, settings)

    def run(tables: Tables, starts: jax.Array, keys: jax.Array, temperature: jax.Array) -> tuple[State, Any]:
        first = jax.vmap(jax.vmap(init, in_axes=(0, None, None)), in_axes=(0, 0, None))(starts, tables, temperature)

        def step(states: State, step_keys: jax.Array) -> tuple[State, Any]:
            states, info = jax.vmap(advance, in_axes=(0, 0, 0, None))(step_keys, states, tables, temperature)
            move = getattr(info, "move", jnp.full(starts.shape[:2], NO_MOVE)).astype(jnp.int8)
            return states, (states.position, states.score, states.feasible, move, info.accepted, info.energy_evaluations)

        step_keys = jax.vmap(jax.random.split, in_axes=(0, None), out_axes=1)(keys, steps)
        return first, jax.lax.scan(step, first, step_keys)[1]

    return jax.jit(run).lower(*shapes).compile()
