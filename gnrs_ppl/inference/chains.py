"""Many chains on many spaces at once: one compiled loop over steps of a vmapped transition (paper, Structured
search: 200 steps).

Every kernel that steps runs here, whoever watches: to record the draws is an observer like any other, and to
keep none of them, so that a million chains fit, is to leave it out.

Examples
--------
>>> import numpy as np
>>> from gnrs_ppl.inference.observe import best, option_counts
>>> from gnrs_ppl.models.energy import contract
>>> from gnrs_ppl.models.space import build_space
>>> tables = contract(build_space([[0, 1], [0, 0]], unary=[[[0.5], [0.0]], [[0.5], [0.25]]]), np.array([1.0]))
>>> run_chains(tables, chains=64, steps=50, temperature=0.08, seed=0).positions.shape
(64, 50, 2)
>>> observers = {"counts": option_counts(), "best": best()}
>>> found = observe_chains(tables, observers, chains=64, steps=50, temperature=0.08, seed=0)
>>> int(found.observed["counts"].sum()) == 64 * 50 * 2, found.observed["best"].position.tolist()
(True, [0, 0])
"""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.multihost_utils import process_allgather
from jax.sharding import Mesh, NamedSharding, PartitionSpec, Sharding
from jax.stages import ArgInfo, Compiled, Lowered
from jaxtyping import Int
from numpy.typing import NDArray

from gnrs_ppl import progress
from gnrs_ppl.errors import InputError
from gnrs_ppl.inference import gibbs, informed, metropolis, moves, tempering, threefry
from gnrs_ppl.inference.cache import kept_program, use_compilation_cache
from gnrs_ppl.inference.course import Course
from gnrs_ppl.inference.cpsat import solver_chains
from gnrs_ppl.inference.kernels import KERNELS
from gnrs_ppl.inference.metropolis import State
from gnrs_ppl.inference.observe import Observed, Observer, evaluations, recording
from gnrs_ppl.inference.result import LARGEST_RESULT, Chains, check_request, require_finite, superchain_ids
from gnrs_ppl.inference.starts import draw_starts
from gnrs_ppl.inference.sweep import exact_chains
from gnrs_ppl.models.energy import (
    SPAN,
    Merged,
    Tables,
    adds_exactly,
    merge,
    padded,
    room_for,
    windows,
    without_sources,
)
from gnrs_ppl.models.packed import width
from gnrs_ppl.models.space import AnyArray

STRETCH = 100
"""Most steps of a compiled program: a run is so many stretches, and a longer one compiles nothing. Chains go
into a stretch by their positions: what they carry is evaluated anew, at steps that no setting moves."""
MOST_MERGED = 2**20
"""Most entries that the tables of all spaces of a run are merged to: 4 MiB, which a processor's cache still
holds. A goal of 17 to 32 options a variable has 98,304, one of 9 to 16 an eighth of that."""
MOST_DRAWS = 2**31 - 1
"""Draws an int32 can count."""

Settings = dict[str, Any]


class Stepper(NamedTuple):
    """How a kernel of :data:`~gnrs_ppl.inference.kernels.KERNELS` steps, for the one driver; the defaults are
    those of plain chains.

    Attributes
    ----------
    build : callable
        ``build(**settings)`` makes ``transition(words, state, tables, temperature)``, for one chain.
    words : callable
        uint32 words that a step takes, by the states of many chains.
    init : callable
        ``init(position, tables, temperature)`` makes a chain's state.
    draw_starts : callable
        ``draw_starts(tables, superchains, seed, stream, settings)`` gives the start of each superchain.
    complete : callable
        ``complete(settings, spaces, chains, temperature)`` adds what was not given, and refuses what cannot
        be run.
    traced : tuple of str
        Settings that are arguments of the compiled program, so that other values need no compiling.
    seen : callable
        ``seen(states, temperature)`` is what observers see of the states.
    keep, resume : callable
        ``keep(state)`` is what a chain takes from one stretch of steps to the next, ``resume(kept, tables,
        temperature)`` its state made of that.
    exchange : callable, optional
        ``exchange(settings)`` makes the observer of the replicas.
    weighs : callable
        How many log densities a chain has in memory at once, on some tables.
    packs : bool
        Whether its transition takes packed structures too (:mod:`gnrs_ppl.models.packed`).
    shares : bool
        Whether the first of its words is one for all chains.
    """

    build: Callable[..., Callable[..., Any]]
    words: Callable[[Any], int]
    init: Callable[..., Any] = metropolis.init
    draw_starts: Callable[..., Int[NDArray[np.int32], "superchains *R V"]] = (
        lambda tables, count, seed, stream, _: draw_starts(tables, count, seed, stream)
    )
    complete: Callable[[Settings, Sequence[Tables], int, float], Settings] = lambda settings, *_: settings
    traced: tuple[str, ...] = ()
    seen: Callable[[Any, Any], State] = lambda states, _: states
    keep: Callable[[Any], Any] = lambda states: states.position
    resume: Callable[..., Any] = metropolis.init
    exchange: Callable[[Settings], Observer] | None = None
    weighs: Callable[[Tables], int] = lambda _: 0
    packs: bool = False
    shares: bool = False


STEPPERS = {
    "metropolis": Stepper(metropolis.build_kernel, lambda _: moves.WORDS, packs=True),
    "gibbs": Stepper(
        gibbs.build_kernel,
        lambda _: gibbs.WORDS,
        init=gibbs.init,
        resume=gibbs.init,
        weighs=lambda tables: tables.unary.shape[1] ** (2 if len(tables.joints.variables) else 1),
        shares=True,
    ),
    "informed": Stepper(
        informed.build_kernel, lambda _: informed.WORDS, weighs=lambda tables: math.prod(tables.unary.shape)
    ),
    "tempering": Stepper(
        lambda replicas, **settings: tempering.build_kernel(**settings),
        lambda ladders: tempering.words_needed(ladders.score.shape[1]),
        init=tempering.init,
        draw_starts=tempering.draw_starts,
        complete=tempering.complete,
        traced=("hottest",),
        seen=tempering.cold,
        keep=tempering.keep,
        resume=tempering.resume,
        exchange=lambda settings: tempering.exchange(settings["replicas"]),
        packs=True,
    ),
}


def _particles(*arguments: Any, **settings: Any) -> Chains:
    from gnrs_ppl.inference.smc import particle_chains  # BlackJAX, a second that no other sampler waits for

    return particle_chains(*arguments, **settings)


def _program(*arguments: Any, **settings: Any) -> Chains:
    from gnrs_ppl.inference.program import program_chains  # NumPyro, likewise

    return program_chains(*arguments, **settings)


RUNNERS: dict[str, Callable[..., Chains]] = {
    "smc": _particles,
    "exact": exact_chains,
    "numpyro": _program,
    "cpsat": solver_chains,
}
"""Samplers that have a driver of their own."""


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _are_probabilities(value: Any) -> bool:
    given = isinstance(value, tuple) and len(value) == len(moves.MOVES) and all(map(_is_number, value))
    return given and all(0 <= share <= 1 for share in value) and abs(sum(value) - 1) <= 1e-9


VALUES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "move_probabilities": (
        _are_probabilities,
        f"give {len(moves.MOVES)} numbers from 0 to 1 that sum to one",
    ),
    "block_probability": (
        lambda share: share is None or (_is_number(share) and 0 <= share <= 1),
        "give a number from 0 to 1",
    ),
    "balancing": (
        lambda name: isinstance(name, str) and name in informed.BALANCING,
        f"choose one of {', '.join(informed.BALANCING)}",
    ),
    "replicas": (_is_whole, "give a whole number"),
    "hottest": (lambda temperature: temperature is None or _is_number(temperature), "give a number"),
    "target_ess": (_is_number, "give a number"),
    "seconds": (_is_number, "give a number"),
    "workers": (_is_whole, "give a whole number"),
}
"""What values a setting takes, and what to say of others; who takes the setting checks the range where it is
not checked here."""


def checked_settings(kernel: str, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings, sequences as tuples; an unknown kernel, settings it does not take and values that they do
    not take are refused.

    Raises
    ------
    InputError
    """
    if kernel not in KERNELS:
        raise InputError(
            f"no kernel {kernel!r}", f"choose one of {', '.join(KERNELS)}", source="arguments", field="kernel"
        )
    takes = KERNELS[kernel].settings
    for name in settings:
        if name not in takes:
            remedy = f"it takes {', '.join(takes) or 'none'}"
            raise InputError(f"{kernel} has no setting {name!r}", remedy, source="arguments", field=name)
    plain = {
        name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in settings.items()
    }
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()}
    for name, value in given.items():
        fits, remedy = VALUES[name]
        if not fits(value):
            raise InputError(f"{value!r} will not do", remedy, source="arguments", field=name)
    return given


def _check_types(request: Mapping[str, Any]) -> None:
    """Whole numbers all but the temperature; ranges are checked where the kernel begins."""
    for name, value in request.items():
        is_right, remedy = (
            (_is_number, "give a number") if name == "temperature" else (_is_whole, "give a whole number")
        )
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
    kernel : {"metropolis", "gibbs", "informed", "tempering", "smc", "exact", "numpyro", "cpsat"}
    superchains : int, optional
        Number of distinct starts, a divisor of ``chains``; unless given, the greatest common divisor of
        ``chains`` and 8.
    **settings
        Of the kernel. ``move_probabilities`` (metropolis, tempering, smc): how often each of the paper's
        moves is tried. ``balancing`` (informed). ``block_probability`` (gibbs). ``replicas``, ``hottest``
        (tempering). ``target_ess`` (smc). ``seconds``, ``workers`` (cpsat). What builds the kernel says what
        they mean.

    Raises
    ------
    InputError
        For an unknown kernel or setting, numbers that are none or out of range, and more draws than fit (with
        the bytes).
    """
    request: dict[str, Any] = {
        "chains": chains,
        "steps": steps,
        "temperature": temperature,
        "superchains": superchains,
    }
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

    The spaces are padded to one shape, so that one compiled kernel serves them all; padding changes no draw.
    A named space gives the same chains alone and in company.

    Parameters
    ----------
    spaces : sequence of Tables
        With the same number of variables, swaps and joints.
    names : sequence of str, optional
        One per space; its random numbers follow from the seed and its name, so that spaces are independent of
        one another.
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
    request: dict[str, Any] = {
        "chains": chains,
        "steps": steps,
        "temperature": temperature,
        "superchains": superchains,
    }
    _check_types(request | {"seed": seed})
    if not spaces:
        raise InputError("no space to run on", "give at least one", source="arguments", field="spaces")
    if names and len(names) != len(spaces):
        raise InputError(
            f"{len(names)} for {len(spaces)} spaces",
            "give one per space, or none",
            source="arguments",
            field="names",
        )
    streams = [zlib.crc32(name.encode()) for name in names] or [0] * len(spaces)
    settings = checked_settings(kernel, settings)
    if kernel in RUNNERS:
        run_one = RUNNERS[kernel]
        runs = [
            run_one(tables, **request, **settings, seed=seed, stream=s)
            for tables, s in zip(spaces, streams, strict=True)
        ]
        courses = _courses(spaces, names, runs[0].superchain, runs[0].score.shape[1])
        for course, run in zip(courses, runs, strict=bool(courses)):
            course.add(np.swapaxes(run.positions, 0, 1), run.score.T)
        return [run._replace(settings=tuple(settings.items())) for run in runs]
    groups = check_request(spaces[0], **request, seed=seed, spaces=len(spaces))
    for tables in spaces[1:]:
        require_finite(tables)
    stepper, superchain = STEPPERS[kernel], superchain_ids(chains, groups)
    given, settings = settings, stepper.complete(settings, spaces, chains, temperature)
    starts = [
        stepper.draw_starts(t, groups, seed, s, settings)[superchain]
        for t, s in zip(spaces, streams, strict=True)
    ]
    options = room_for(max(tables.unary.shape[1] for tables in spaces))
    pairs = max(tables.pairs.shape[0] for tables in spaces)
    beside = max(tables.beside.pairs.shape[1] for tables in spaces)
    alike = [padded(without_sources(tables), options, pairs, beside) for tables in spaces]
    watching, courses = _recording(kernel, settings), _courses(spaces, names, superchain, steps)
    driven = _drive(kernel, alike, starts, watching, steps, temperature, seed, streams, settings, courses)
    return [
        Chains(
            **drawn._asdict(),
            superchain=superchain,
            kernel=kernel,
            temperature=temperature,
            seed=seed,
            energy_evaluations=math.prod(started.shape[:-1]) + evaluated,
            wall_seconds=driven.wall_seconds / len(spaces),
            compile_seconds=driven.compile_seconds / len(spaces),
            settings=tuple(given.items()),
            exchange=next(iter(exchange), None),
        )
        for started, (drawn, evaluated, *exchange) in zip(starts, driven.results, strict=True)
    ]


def _courses(
    spaces: Sequence[Tables], names: Sequence[str], superchain: Int[NDArray[Any], " C"], steps: int
) -> list[Course]:
    """What is told of each space's chains while they run; nothing where nobody watches, or where several
    processes hold a part of them each.
    """
    if not progress.is_watched() or jax.process_count() > 1:
        return []
    return [Course(name, superchain, steps) for name in names or [""] * len(spaces)]


def _recording(kernel: str, settings: Settings) -> tuple[Observer, ...]:
    """The observers of a run that is recorded."""
    exchange = STEPPERS[kernel].exchange
    return (recording(), evaluations(), *([] if exchange is None else [exchange(settings)]))


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
    """Run chains as :func:`run_chains` does, same draws for the same seed, and keep what is observed.

    Parameters
    ----------
    tables : Tables
    observers : {name: Observer}
        They begin with the tables as the kernels read them: without the sources of the edits.
    chains, steps, temperature, seed, kernel, superchains, **settings
        As for ``run_chains``; kernels that go step by step.

    Raises
    ------
    InputError
        As ``run_chains``; for other kernels; for more chains than fit (with the bytes) and more draws than
        can be counted.
    """
    settings = checked_settings(kernel, settings)
    stepper = _stepper(kernel)
    _check_observed(stepper, tables, chains, steps)
    # Of the draws only those of one step stand in memory.
    groups = check_request(
        tables,
        chains=chains,
        steps=min(steps, 1),
        temperature=temperature,
        seed=seed,
        superchains=superchains,
    )
    settings = stepper.complete(settings, [tables], chains, temperature)
    starts = stepper.draw_starts(tables, groups, seed, 0, settings)[superchain_ids(chains, groups)]
    driven = _drive(
        kernel,
        [tables],
        [starts],
        [*observers.values(), evaluations()],
        steps,
        temperature,
        seed,
        [0],
        settings,
    )
    *results, evaluated = driven.results[0]
    return Observed(
        dict(zip(observers, results, strict=True)),
        math.prod(starts.shape[:-1]) + evaluated,
        driven.wall_seconds,
        driven.compile_seconds,
    )


def _stepper(kernel: str) -> Stepper:
    if kernel not in STEPPERS:
        raise InputError(
            f"{kernel} cannot be observed",
            f"choose one of {', '.join(STEPPERS)}",
            source="arguments",
            field="kernel",
        )
    return STEPPERS[kernel]


def _check_observed(stepper: Stepper, tables: Tables, chains: int, steps: int) -> None:
    """A chain's structure and scores, its proposal, its random words, and what its kernel weighs; observers
    carry no more than that.

    Measured on a benchmark goal of 15 options a slot, one million chains take 0.3 GB (metropolis), 1.8 GB
    (informed) and 3.0 GB (gibbs).
    """
    variables = len(tables.sizes)
    each = (
        3 * (4 * variables + 3 * np.asarray(tables.unary).dtype.itemsize) + 16 + 16 * stepper.weighs(tables)
    )
    if chains * each > LARGEST_RESULT:
        problem = f"{chains} chains need {chains * each} bytes, more than the {LARGEST_RESULT} allowed"
        raise InputError(
            problem, f"ask for at most {LARGEST_RESULT // each} chains", source="arguments", field="chains"
        )
    if chains * steps > MOST_DRAWS:
        remedy = f"ask for at most {MOST_DRAWS // max(chains, 1)} steps, and run again with another seed"
        raise InputError(
            f"{chains * steps} draws are more than can be counted", remedy, source="arguments", field="steps"
        )


class _Driven(NamedTuple):
    """What each observer found, by space; seconds of all spaces together."""

    results: list[list[Any]]
    wall_seconds: float
    compile_seconds: float


def _drive(
    kernel: str,
    spaces: Sequence[Tables],
    starts: Sequence[Int[NDArray[np.int32], "C *R V"]],
    observers: Sequence[Observer],
    steps: int,
    temperature: float,
    seed: int,
    streams: Sequence[int],
    settings: Settings,
    courses: Sequence[Course] = (),
) -> _Driven:
    """Step the chains of every space from its starts, a stretch of steps after the other; the spaces are
    padded alike. Courses are told of what the first observer, :func:`recording`, keeps.
    """
    traced = [settings[name] for name in STEPPERS[kernel].traced]
    arguments = _Arguments(
        tables=jax.tree.map(lambda *leaves: np.stack(leaves), *map(without_sources, spaces)),
        starts=np.stack(starts),
        seed=np.uint32(seed),
        streams=np.asarray(streams, np.uint32),
        chains=np.arange(len(starts[0]), dtype=np.uint32),
        temperature=np.asarray(temperature, float),
        traced=tuple(np.asarray(value) for value in traced),
    )
    mesh = _mesh(*np.shape(starts)[:2])
    use_compilation_cache()
    began = time.perf_counter()
    pairs = _pairs_to_merge(spaces, len(starts[0]) * steps) if STEPPERS[kernel].packs else ()
    if pairs:
        larger = arguments.tables._replace(merged=_merged(arguments.tables, pairs))
        arguments = arguments._replace(tables=larger)
    arguments = _placed(arguments, mesh)
    room = min(STRETCH, 1 << (steps - 1).bit_length())
    if courses:
        progress.stage("preparing the chains")
    run = _compiled(
        kernel, frozen(kernel, settings), tuple(observers), room, jax.tree.map(_shape, arguments), mesh
    )
    compiled = time.perf_counter()
    if courses:
        progress.stage("running the chains")
    so_far = jax.tree.map(_blank, run.args_info[0][1], run.input_shardings[0][1])
    stretches = []
    for first in range(0, steps, room):
        count = min(room, steps - first)
        so_far, records = run(arguments, so_far, np.int32(first), np.int32(count))
        stretches.append(records)
        for g, course in enumerate(courses):
            begun = jax.tree.map(lambda leaf, g=g: np.asarray(leaf[g]), so_far[1][0])
            steps_taken = jax.tree.map(lambda leaf, g=g, n=count: np.asarray(leaf[g, :n]), records[0])
            draws = observers[0].finish(begun, steps_taken)
            course.add(np.swapaxes(draws.positions, 0, 1), draws.score.T)
    carried = jax.tree.map(_gathered, so_far[1])
    recorded = jax.tree.map(lambda *leaves: _joined(leaves, steps), *stretches)
    ended = time.perf_counter()

    results = [
        [
            observer.finish(*jax.tree.map(lambda leaf, g=g: leaf[g], seen))
            for observer, *seen in zip(observers, carried, recorded, strict=True)
        ]
        for g in range(len(spaces))
    ]
    return _Driven(results, ended - compiled, compiled - began)


def _pairs_to_merge(spaces: Sequence[Tables], evaluations: int) -> tuple[tuple[int, int], ...]:
    """The pairs of all spaces where their tables are merged: structures are packed, pairs are the same, and
    the entries add up exactly, are few, and are asked for often enough. Else none.
    """
    first, *others = (np.asarray(tables.pairs) for tables in spaces)
    if not metropolis.packs(spaces[0]) or not all(np.array_equal(first, pairs) for pairs in others):
        return ()
    pairs = tuple((int(left), int(right)) for left, right in first)
    variables, options = spaces[0].unary.shape
    entries = len(windows(pairs, variables)) << SPAN * width(options)
    pays = 0 < len(spaces) * entries <= MOST_MERGED and evaluations >= 2 * entries
    return pairs if pays and all(map(adds_exactly, spaces)) else ()


@partial(jax.jit, static_argnums=1)
def _merged(tables: Tables, pairs: tuple[tuple[int, int], ...]) -> Merged:
    return jax.vmap(lambda one: merge(one, pairs))(tables)


class _Arguments(NamedTuple):
    """What a program is given: G spaces, their starts (G, C, ...), the seed (), the stream of each (G,),
    numbers of the chains (C,), temperature, and settings that are traced.
    """

    tables: Any
    starts: Any
    seed: Any
    streams: Any
    chains: Any
    temperature: Any
    traced: tuple[Any, ...]


def _mesh(spaces: int, chains: int) -> Mesh:
    """The devices that chains, and then spaces, divide by evenly, as a grid (spaces, chains).

    All devices of all processes where they divide; otherwise every process runs everything on devices of its
    own, and one process uses as many of its devices as divide.
    """
    for devices in (jax.devices(), jax.local_devices()):
        columns = math.gcd(chains, len(devices))
        rows = math.gcd(spaces, len(devices) // columns)
        if rows * columns == len(devices):
            break
    return Mesh(np.array(devices[: rows * columns]).reshape(rows, columns), ("spaces", "chains"))


def _placed(arguments: _Arguments, mesh: Mesh) -> _Arguments:
    """The arguments on the devices: spaces and chains are dealt out evenly, the rest stands on each of
    them.
    """
    axes = _Arguments(
        tables=jax.tree.map(lambda _: ("spaces",), arguments.tables),
        starts=("spaces", "chains"),
        seed=(),
        streams=("spaces",),
        chains=("chains",),
        temperature=(),
        traced=tuple(() for _ in arguments.traced),
    )
    if mesh.size == 1:
        given: _Arguments = jax.device_put(arguments)
        return given

    def put(host: AnyArray, where: tuple[str, ...]) -> jax.Array:
        # every process holds all of it and hands over its devices' parts; jnp.asarray would compile for each
        host = np.asarray(host, jax.dtypes.canonicalize_dtype(host.dtype))
        return _handed(host, _dealt(mesh, *where))

    dealt: _Arguments = jax.tree.map(put, arguments, axes)
    return dealt


def _dealt(mesh: Mesh, *axes: str) -> NamedSharding:
    return NamedSharding(mesh, PartitionSpec(*axes))  # type: ignore[no-untyped-call]


def _handed(host: NDArray[Any], sharding: Sharding) -> jax.Array:
    return jax.make_array_from_callback(host.shape, sharding, host.__getitem__)


def _blank(shape: ArgInfo, sharding: Sharding) -> jax.Array:
    return _handed(np.zeros(shape.shape, shape.dtype), sharding)


def _gathered(array: jax.Array) -> NDArray[Any]:
    """The whole array on this host, whichever process made its parts."""
    return np.asarray(array if array.is_fully_addressable else process_allgather(array, tiled=True))


def _joined(stretches: Sequence[jax.Array], steps: int) -> NDArray[Any]:
    """The records of all stretches, (G, steps, ...), on this host; each device's part is copied once."""
    spaces, room, *rest = stretches[0].shape
    joined = np.empty((spaces, steps, *rest), stretches[0].dtype)
    for number, stretch in enumerate(stretches):
        here = joined[:, number * room : (number + 1) * room]
        if not stretch.is_fully_addressable:
            here[...] = _gathered(stretch)[:, : here.shape[1]]
            continue
        for shard in stretch.addressable_shards:
            part = here[shard.index[0], :, *shard.index[2:]]
            part[...] = np.asarray(shard.data)[:, : part.shape[1]]
    return joined


def _shape(array: jax.Array) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=array.sharding)  # type: ignore[no-untyped-call]


Frozen = tuple[tuple[str, Any], ...]


def frozen(kernel: str, settings: Settings) -> Frozen:
    """What a program is compiled for: the settings that are no arguments of it."""
    return tuple(
        sorted((name, value) for name, value in settings.items() if name not in STEPPERS[kernel].traced)
    )


def advance_of(kernel: str, settings: Frozen, traced: Sequence[Any] = ()) -> Callable[..., tuple[Any, Any]]:
    """One step of many chains on one space, ``advance(run, chains, step, states, tables, temperature)``: seed
    and stream, numbers of the chains and of the step give the random words. What all chains share does not
    depend on the stream, so that it is one for many spaces too.
    """
    stepper = STEPPERS[kernel]
    transition = stepper.build(**dict(settings), **dict(zip(stepper.traced, traced, strict=True)))

    def advance(
        run: threefry.Pair,
        chains: jax.Array,
        step: jax.Array,
        states: Any,
        tables: Tables,
        temperature: jax.Array,
    ) -> tuple[Any, Any]:
        own = range(stepper.words(states) - stepper.shares)
        # or every reader makes them anew; one by one, as XLA leaves constants of large loops in memory
        words: Any = [moves.apart(_word(number), run, chains, step) for number in own]
        axes: Any = [0] * len(words)
        if stepper.shares:
            words, axes = [threefry.word_of_step(run[0], step), *words], [None, *axes]
        moved: tuple[Any, Any] = jax.vmap(transition, in_axes=(axes, 0, None, None))(
            words, states, tables, temperature
        )
        return moved

    return advance


@cache
def _word(number: int) -> Callable[..., jax.Array]:
    return partial(threefry.word_of, number=number)


def _over_spaces(run: Callable[..., Any], axes: tuple[Any, ...], spaces: int) -> Callable[..., Any]:
    """``vmap``; of one space without it, as a batched loop is traced for a third longer."""
    if spaces > 1:
        return jax.vmap(run, in_axes=axes)

    def alone(given: _Arguments, so_far: Any, *others: jax.Array) -> Any:
        def first(axis: int | None, leaves: Any) -> Any:
            return leaves if axis is None else jax.tree.map(lambda leaf: leaf[0], leaves)

        one = jax.tree.map(first, axes[0], given, is_leaf=lambda axis: axis is None)
        return jax.tree.map(lambda leaf: leaf[None], run(one, first(0, so_far), *others))

    return alone


def _written(n: jax.Array, records: jax.Array, one: jax.Array) -> jax.Array:
    """The records with the n-th in its place; ``at`` would look whether there is one, at every step."""
    written: jax.Array = jax.lax.dynamic_update_index_in_dim(records, one, n, 0, allow_negative_indices=False)
    return written


@lru_cache(maxsize=16)
def _compiled(
    kernel: str, settings: Frozen, observers: tuple[Observer, ...], room: int, shapes: _Arguments, mesh: Mesh
) -> Compiled:
    """The program of a stretch of up to ``room`` steps; compiled once per kernel, settings, observers, room
    and shapes, however many steps there are.

    The programs of recorded runs are kept on disk; what other observers do has no name that would last.
    """
    if observers != _recording(kernel, dict(settings)):
        return _lowered(kernel, settings, observers, room, shapes, mesh).compile()
    leaves, tree = jax.tree.flatten(shapes)
    return kept_program(
        lambda: _lowered(kernel, settings, observers, room, shapes, mesh),
        mesh.devices.flatten().tolist(),
        [kernel, settings, room, mesh.axis_sizes, tree, leaves],
    )


def _lowered(
    kernel: str, settings: Frozen, observers: tuple[Observer, ...], room: int, shapes: _Arguments, mesh: Mesh
) -> Lowered:
    """The program of :func:`_compiled`, traced and lowered."""
    stepper = STEPPERS[kernel]

    def begin(tables: Tables, starts: jax.Array, temperature: jax.Array) -> Any:
        states = jax.vmap(stepper.init, in_axes=(0, None, None))(starts, tables, temperature)
        seen = stepper.seen(states, temperature)
        carried = [observer.init(tables, seen) for observer in observers]
        return jax.tree.map(jnp.asarray, (stepper.keep(states), carried))

    def run(given: _Arguments, so_far: Any, first: jax.Array, count: jax.Array) -> Any:
        tables, temperature = given.tables, given.temperature
        advance, keys = advance_of(kernel, settings, given.traced), (given.seed, given.streams)
        kept, carried = metropolis.chosen(first == 0, begin(tables, given.starts, temperature), so_far)
        states = jax.vmap(stepper.resume, in_axes=(0, None, None))(kept, tables, temperature)
        packs = stepper.packs and metropolis.packs(tables)
        states = metropolis.packed(states, tables) if packs else states

        def step(n: jax.Array, so_far: Any) -> Any:
            before, carried, records = so_far
            states, info = advance(keys, given.chains, first + n, before, tables, temperature)
            raw = stepper.seen(states, temperature)
            was, now = (
                metropolis.unpacked(each, tables) for each in (stepper.seen(before, temperature), raw)
            )
            carried = [
                observer.update(own, was, now, info) for observer, own in zip(observers, carried, strict=True)
            ]
            told = [observer.record(raw if observer.packed else now, info) for observer in observers]
            if records is None:  # only to learn the shapes
                return told
            records = jax.tree.map(partial(_written, n), records, told)
            return states, carried, records

        shapes = jax.eval_shape(lambda: step(first, (states, carried, None)))
        records = jax.tree.map(lambda one: jnp.zeros((room, *one.shape), one.dtype), shapes)
        states, carried, records = jax.lax.fori_loop(0, count, step, (states, carried, records))
        return (stepper.keep(metropolis.unpacked(states, tables)), carried), records

    of_space = _Arguments(0, 0, None, 0, None, None, tuple(None for _ in shapes.traced))
    nothing = jax.eval_shape(
        jax.vmap(begin, in_axes=(0, 0, None)), shapes.tables, shapes.starts, shapes.temperature
    )
    if mesh.size > 1:
        chains = shapes.chains.shape[0]

        def dealt(one: jax.ShapeDtypeStruct) -> jax.ShapeDtypeStruct:
            axes = ("spaces", "chains") if one.shape[1:2] == (chains,) else ("spaces",)
            return jax.ShapeDtypeStruct(one.shape, one.dtype, sharding=_dealt(mesh, *axes))  # type: ignore[no-untyped-call]

        nothing = jax.tree.map(dealt, nothing)
    number = jax.eval_shape(lambda: jnp.int32(0))
    program = jax.jit(
        _over_spaces(run, (of_space, 0, None, None), len(shapes.streams)),
        out_shardings=(jax.tree.map(lambda one: one.sharding, nothing), None) if mesh.size > 1 else None,
    )
    return program.lower(shapes, nothing, number, number)
