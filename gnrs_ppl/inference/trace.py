"""Chains as an ArviZ DataTree, saved as netCDF (DESIGN section 4), and the tree's arrays back from it."""

from __future__ import annotations

import itertools
import json
import math
import mmap
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

import h5py  # type: ignore[import-untyped]
import numpy as np
import xarray as xr
from arviz_base import from_dict
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray

from gnrs_ppl.context.files import open_regular, require_regular
from gnrs_ppl.context.limits import DRAWS_BYTES, GROUPS, HEAP_ENTRIES, TEXT_BYTES, VARIABLES
from gnrs_ppl.context.output import check_written, write_all
from gnrs_ppl.errors import InputError, one_line
from gnrs_ppl.inference.kernels import traits
from gnrs_ppl.inference.moves import MOVES
from gnrs_ppl.inference.result import NO_MOVE, SAME_SCORE, Chains, Exchange
from gnrs_ppl.models.energy import hard_penalty
from gnrs_ppl.models.features import FEATURES
from gnrs_ppl.models.space import SUM_TOLERANCE
from gnrs_ppl.versions import versions

ENGINE: Final = "h5netcdf"
REMEDY: Final = "name a file that gnrs sample wrote"
SCORE: Final = "s_search"
HEAP: Final = b"GCOL\x01\0\0\0"
"""How a global heap of HDF5 begins: text of any length stands in it."""
PARTS: Final = ("_option", "_start", "_candidate")
"""What constant_data holds of every variable of the posterior."""
JOINT: Final = [*MOVES].index("trigger-evidence edit")
SCORE_TOLERANCE: Final = 1e-4
"""How far float32 sums of features may be from [0, 1]."""
LARGEST_PAIR: Final = 4096
"""Most cells of an exact pair marginal that a tree keeps."""


class Marginals(NamedTuple):
    """Exact marginals of a posterior.

    Attributes
    ----------
    slots : tuple of (n_v,) float64
        Of every slot.
    pairs : {(left, right): (n_left, n_right) float64}
        Of two slots, left < right; perhaps not of all.
    """

    slots: tuple[Float[NDArray[np.float64], " n"], ...]
    pairs: dict[tuple[int, int], Float[NDArray[np.float64], "n m"]] = {}  # noqa: RUF012 (nobody writes to it)


class Trace(NamedTuple):
    """A tree's arrays: C chains of n draws; ``options`` are the labels of each slot, ``step`` numbers the
    draws from 1.

    ``source`` is the file that they come from, for messages.
    """

    source: str
    options: dict[str, list[str]]
    drawn: dict[str, Int[NDArray[np.int64], "C n"]]
    starts: dict[str, Int[NDArray[np.int64], " C"]]
    score: Float[NDArray[np.float64], "C n"]
    feasible: Bool[NDArray[np.bool_], "C n"]
    move: Int[NDArray[np.int64], "C n"]
    accepted: Bool[NDArray[np.bool_], "C n"]
    superchain: Int[NDArray[np.int64], " C"]
    weights: Float[NDArray[np.float64], " F"]
    step: Int[NDArray[np.int64], " n"]
    moves: list[str]
    kernel: str
    exchange: Exchange | None


def datatree(
    chains: Chains,
    labels: Mapping[str, Sequence[str]],
    weights: Float[NDArray[np.float64], " F"] | None = None,
    goal: str = "",
    *,
    candidates: Mapping[str, Sequence[str]] | None = None,
    features: Sequence[str] | None = None,
    exact: Marginals | None = None,
) -> xr.DataTree:
    """Put every draw into ArviZ's groups.

    Parameters
    ----------
    chains : Chains
    labels : {slot: sequence of str}
        Name of every option of every variable, in the variables' order.
    weights : (F,) float, optional
        One of 1 unless given, for a graph that is no rule.
    goal : str, optional
        What the rule is for; kept as an attribute.
    candidates : {slot: sequence of str}, optional
        Candidate id of every option; the labels unless given.
    features : sequence of str, optional
        Names of the weights; numbers unless given.
    exact : Marginals, optional
        At the chains' temperature, where the space was enumerated; pairs of at most ``LARGEST_PAIR`` cells
        are kept.

    Returns
    -------
    xarray.DataTree
        ``posterior``: an option index per slot, and s_search, (chain, draw). ``sample_stats``: move,
        accepted, feasible, (chain, draw). ``constant_data``: weights (feature,); superchain (chain,); per
        slot its start (chain,) and its pool, the coordinate ``<slot>_option`` of option labels with
        ``<slot>_candidate`` and, where known, ``<slot>_exact`` and ``<left>_<right>_exact`` beside it. From
        replica exchange: temperature_ladder (rung,), swap_rate (pair,), round_trips (chain,). Root
        attributes: kernel, chains, steps, temperature, seed, goal, moves, energy_evaluations, seconds,
        versions and, where known, settings (JSON), log_normalizer and bound. Options are names, not
        quantities: no mean or R-hat of an index means anything.
    """
    pools: dict[str, Any] = {
        f"{slot}_candidate": np.array((candidates or labels)[slot], str) for slot in labels
    }
    weights = np.ones(1) if weights is None else weights
    known, known_dims = _known(list(labels), exact, chains.exchange)
    data: dict[str, dict[str, Any]] = {
        "posterior": {slot: chains.positions[..., v] for v, slot in enumerate(labels)}
        | {SCORE: chains.score},
        "sample_stats": {"move": chains.move, "accepted": chains.accepted, "feasible": chains.feasible},
        "constant_data": {
            "weights": weights,
            "superchain": chains.superchain,
            **{f"{slot}_start": chains.starts[:, v] for v, slot in enumerate(labels)},
            **known,
            **pools,
        },
    }
    count, steps = chains.score.shape
    estimates = {"log_normalizer": chains.log_normalizer, "bound": chains.bound}
    coords: dict[str, Any] = {f"{slot}_option": np.array(names, str) for slot, names in labels.items()}
    coords |= {"feature": list(features or range(len(weights))), "chain": np.arange(count)}
    tree = from_dict(
        data,
        # it warns of more chains than draws, which is how this sampler is meant to run
        check_conventions=False,
        coords=coords,
        dims={
            "weights": ["feature"],
            "superchain": ["chain"],
            **{f"{slot}_start": ["chain"] for slot in labels},
            **{f"{slot}_candidate": [f"{slot}_option"] for slot in labels},
            **known_dims,
        },
        attrs={
            "/": {
                "kernel": chains.kernel,
                "chains": count,
                "steps": steps,
                "temperature": chains.temperature,
                "seed": chains.seed,
                "goal": goal,
                "moves": json.dumps([*MOVES]),
                "energy_evaluations": chains.energy_evaluations,
                **{name: value for name, value in estimates.items() if value is not None},
                **({"settings": json.dumps(dict(chains.settings))} if chains.settings else {}),
                "wall_seconds": chains.wall_seconds,
                "compile_seconds": chains.compile_seconds,
                "versions": json.dumps(versions()),
            }
        },
    )
    tree["constant_data"] = xr.DataTree(tree["constant_data"].to_dataset().set_coords([*pools]))
    return tree


def _known(
    slots: list[str], exact: Marginals | None, exchange: Exchange | None
) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """What only some runs have, by name, and its dimensions."""
    values: dict[str, Any] = {}
    dims: dict[str, list[str]] = {}
    if exact is not None:
        for slot, marginal in zip(slots, exact.slots, strict=True):
            values[f"{slot}_exact"], dims[f"{slot}_exact"] = marginal, [f"{slot}_option"]
        for (left, right), table in exact.pairs.items():
            if table.size <= LARGEST_PAIR:
                name = f"{slots[left]}_{slots[right]}_exact"
                values[name], dims[name] = table, [f"{slots[left]}_option", f"{slots[right]}_option"]
    if exchange is not None:
        values |= {
            "temperature_ladder": exchange.ladder,
            "swap_rate": exchange.swap_rates,
            "round_trips": exchange.round_trips,
        }
        dims |= {"temperature_ladder": ["rung"], "swap_rate": ["pair"], "round_trips": ["chain"]}
    return values, dims


def exact_marginals(tree: xr.DataTree) -> Marginals | None:
    """The exact marginals of slots and pairs, in the order of the slots; None where the tree keeps none.

    Parameters
    ----------
    tree : xarray.DataTree
        As :func:`datatree` makes it.

    Raises
    ------
    InputError
        When they are over something else than options, or only of some slots.
    """
    constant = tree["constant_data"].to_dataset()

    def table(*slots: str) -> NDArray[np.float64]:
        name, dims = f"{'_'.join(slots)}_exact", [f"{slot}_option" for slot in slots]
        if {*constant[name].dims} != {*dims}:
            raise InputError(
                f"constant_data/{name} has shape {dict(constant[name].sizes)}", REMEDY, source=_source(tree)
            )
        return constant[name].transpose(*dims).to_numpy()

    slots = _slots(tree)
    known = [slot for slot in slots if f"{slot}_exact" in constant]
    if not known:
        return None
    if lost := [slot for slot in slots if slot not in known]:
        raise InputError(f"holds no constant_data/{lost[0]}_exact", REMEDY, source=_source(tree))
    pairs = itertools.combinations(enumerate(slots), 2)
    return Marginals(
        tuple(table(slot) for slot in slots),
        {
            (i, j): table(left, right)
            for (i, left), (j, right) in pairs
            if f"{left}_{right}_exact" in constant
        },
    )


def _source(tree: xr.DataTree) -> str:
    """The file that a tree came from, for messages."""
    return str(tree.encoding.get("source", "draws"))


def _slots(tree: xr.DataTree) -> list[str]:
    """Variables of the posterior that have a pool or a start; :func:`read_trace` asks for both."""
    constant = tree["constant_data"].to_dataset().variables
    return [
        str(name)
        for name in tree["posterior"].to_dataset().data_vars
        if {f"{name}_option", f"{name}_start"} & {*constant}
    ]


def read_trace(tree: xr.DataTree) -> Trace:
    """The arrays of a tree, checked; what else it holds is left alone.

    Raises
    ------
    InputError
        When the tree lacks something or holds what is no draw.
    """

    def take(group: str, name: str, dtype: type, *dims: str) -> NDArray[Any]:
        try:
            variable = tree[group][name]
        except KeyError:
            raise InputError(f"holds no {group}/{name}", REMEDY, source=source) from None
        if {*variable.dims} != {*dims} or any(
            variable.sizes[dim] != sizes.get(dim, variable.sizes[dim]) for dim in dims
        ):
            raise InputError(f"{group}/{name} has shape {dict(variable.sizes)}", REMEDY, source=source)
        try:
            return np.asarray(variable.transpose(*dims).to_numpy().astype(dtype, casting="same_kind"))
        except TypeError:
            raise InputError(f"{group}/{name} holds {variable.dtype}", REMEDY, source=source) from None

    def truth(name: str) -> NDArray[np.bool_]:
        values = take("sample_stats", name, np.int64, "chain", "draw")
        if not np.isin(values, (0, 1)).all():
            raise InputError(
                "holds other numbers than 0 and 1", REMEDY, source=source, field=f"sample_stats/{name}"
            )
        return np.asarray(values.astype(bool))

    source, sizes = _source(tree), dict[str, int]()
    score = take("posterior", SCORE, np.float64, "chain", "draw")
    sizes |= {"chain": score.shape[0], "draw": score.shape[1]}
    slots, constant = _slots(tree), tree["constant_data"].to_dataset().variables
    if not slots or not score.size:
        raise InputError("holds no draws", REMEDY, source=source)
    named = {str(name).removesuffix(part) for part in PARTS for name in constant if str(name).endswith(part)}
    if lost := sorted(named.difference(slots)):
        raise InputError(f"holds no posterior/{lost[0]}", REMEDY, source=source)
    kernel = str(tree.attrs.get("kernel", ""))
    run = Trace(
        source=source,
        options={
            slot: [str(name) for name in take("constant_data", f"{slot}_option", object, f"{slot}_option")]
            for slot in slots
        },
        drawn={slot: take("posterior", slot, np.int64, "chain", "draw") for slot in slots},
        starts={slot: take("constant_data", f"{slot}_start", np.int64, "chain") for slot in slots},
        score=score,
        feasible=truth("feasible"),
        move=take("sample_stats", "move", np.int64, "chain", "draw"),
        accepted=truth("accepted"),
        superchain=take("constant_data", "superchain", np.int64, "chain"),
        weights=take("constant_data", "weights", np.float64, "feature"),
        step=take("posterior", "draw", np.int64, "draw") + 1,
        moves=_moves(tree, source),
        kernel=kernel,
        exchange=Exchange(
            take("constant_data", "temperature_ladder", np.float64, "rung"),
            take("constant_data", "swap_rate", np.float64, "pair"),
            take("constant_data", "round_trips", np.int64, "chain"),
        )
        if traits(kernel).exchanges or {"temperature_ladder", "swap_rate", "round_trips"} & {*constant}
        else None,
    )
    if not np.isfinite(score).all():
        share = 1 - float(np.isfinite(score).mean())
        raise InputError(
            f"{100 * share:.3g} % are no finite numbers",
            "sample again with finite weights",
            source=source,
            field=SCORE,
        )
    for values, part in ((run.drawn, ""), (run.starts, "_start")):
        for slot, drawn in values.items():
            if drawn.min() < 0 or drawn.max() >= len(run.options[slot]):
                raise InputError(
                    f"an option outside its pool of {len(run.options[slot])}",
                    REMEDY,
                    source=source,
                    field=slot + part,
                )
    _require_sense(run, tree.attrs)
    return run


def _require_sense(run: Trace, attributes: Mapping[Any, Any]) -> None:
    """Refuse numbers that no run has."""

    def refuse(field: str, problem: str) -> NoReturn:
        raise InputError(problem, REMEDY, source=run.source, field=field)

    chains = len(run.score)
    known = len(run.moves) or len(MOVES)
    if run.move.min() < NO_MOVE or run.move.max() >= known:
        refuse("move", f"a number other than {NO_MOVE} to {known - 1}")
    if run.step[0] < 1 or (np.diff(run.step) < 1).any():
        refuse("draw", "draws that are not numbered upwards from 0")
    for name, least in (("chains", chains), ("steps", int(run.step[-1]))):
        given = attributes.get(name, least)
        if not isinstance(given, int | np.integer) or given < least:
            refuse(f"attribute {name}", f"is {one_line(repr(given), 40)}, but there are {least}")
    temperature = attributes.get("temperature", 1.0)
    if not (isinstance(temperature, float | np.floating) and math.isfinite(temperature) and temperature > 0):
        refuse("attribute temperature", f"{one_line(repr(temperature), 40)} is no temperature")
    if (exchange := run.exchange) is not None:
        ladder, rates = exchange.ladder, exchange.swap_rates
        if not (len(ladder) == len(rates) + 1 and ladder[0] > 0 and (ladder[1:] > ladder[:-1]).all()):
            refuse("temperature_ladder", "temperatures that do not rise, or not one more than swap rates")
        if ((rates < 0) | (rates > 1)).any() or (exchange.round_trips < 0).any():
            refuse("swap_rate", "shares outside 0 to 1, or fewer round trips than none")


def _require_steps(run: Trace) -> None:
    """Refuse steps that the kernel does not take."""

    def refuse(field: str, problem: str) -> NoReturn:
        raise InputError(problem, REMEDY, source=run.source, field=field)

    kernel = traits(run.kernel)
    if not kernel.steps:
        return
    if kernel.moves != bool((run.move != NO_MOVE).all()):
        refuse("move", f"no kernel {run.kernel} makes such moves")
    drawn, starts = np.stack([*run.drawn.values()], -1), np.stack([*run.starts.values()], -1)
    firsts = np.unique(run.superchain, return_index=True, return_inverse=True)[1:]
    if (starts != starts[firsts[0][firsts[1]]]).any():
        refuse("superchain", "chains of one superchain that start apart")
    if kernel.exchanges:  # swaps move the cold chain too
        return
    before = np.concatenate([starts[:, None], drawn[:, :-1]], 1)
    changed = (before != drawn).sum(-1)[:, np.diff(run.step, prepend=0) == 1]
    accepted, move = (values[:, np.diff(run.step, prepend=0) == 1] for values in (run.accepted, run.move))
    if changed[~accepted].any():
        refuse("accepted", "a step that was refused leads elsewhere")
    if (changed > np.where(move == JOINT, 2, drawn.shape[-1] if kernel.blocks else 1)).any():
        refuse("move", "a step changes more variables than its move")


def _require_scores(run: Trace, features: tuple[str, ...]) -> None:
    """Refuse weights off the simplex, two scores of one structure, and scores that the weights cannot
    give.
    """
    weights = run.weights
    if not (np.isfinite(weights).all() and (weights >= 0).all() and abs(weights.sum() - 1) < SUM_TOLERANCE):
        raise InputError(
            "are not numbers of at least 0 that sum to one", REMEDY, source=run.source, field="weights"
        )
    if {*features} & {*FEATURES} and features != FEATURES:
        raise InputError("are of other features", "sample again", source=run.source, field="weights")
    structure = np.zeros(run.score.size, np.int64)
    for slot, labels in run.options.items():
        structure = np.unique(structure * len(labels) + run.drawn[slot].ravel(), return_inverse=True)[1]
    order = np.argsort(structure, kind="stable")
    same = np.diff(structure[order]) == 0
    for field, values in ((SCORE, run.score), ("feasible", run.feasible)):
        if (np.abs(np.diff(values.ravel()[order].astype(np.float64)))[same] > SAME_SCORE).any():
            raise InputError("differs between draws of one structure", REMEDY, source=run.source, field=field)
    plain = run.score + np.where(run.feasible, 0, hard_penalty(weights))
    if features == FEATURES and (plain.min() < -SCORE_TOLERANCE or plain.max() > 1 + SCORE_TOLERANCE):
        raise InputError("is no score that these weights can give", REMEDY, source=run.source, field=SCORE)


def _features(tree: xr.DataTree) -> tuple[str, ...]:
    """What the weights are called, empty where nobody says."""
    named = tree["constant_data"].to_dataset().variables.get("feature")
    return () if named is None else tuple(map(str, named.to_numpy().ravel()))


def require_marginals(run: Trace, exact: Marginals) -> None:
    """Refuse marginals that are not those of the run's slots.

    Raises
    ------
    InputError
    """
    sizes = [len(labels) for labels in run.options.values()]
    given = [len(marginal) for marginal in exact.slots]
    remedy = "give those of the space that was sampled"
    if given != sizes:
        raise InputError(
            f"exact marginals over {given} options for slots of {sizes}", remedy, source=run.source
        )
    for (left, right), table in exact.pairs.items():
        if not 0 <= left < right < len(sizes) or table.shape != (sizes[left], sizes[right]):
            raise InputError(
                f"exact marginals of pair ({left}, {right}) over {table.shape} options",
                remedy,
                source=run.source,
            )
    for table in (*exact.slots, *exact.pairs.values()):
        if not (
            np.issubdtype(table.dtype, np.floating)
            and (table >= 0).all()
            and abs(table.sum() - 1) < SUM_TOLERANCE
        ):
            raise InputError("exact marginals that are no probabilities", remedy, source=run.source)


def _moves(tree: xr.DataTree, source: str) -> list[str]:
    """Names of the moves by their numbers; none where the tree does not say."""
    try:
        named = json.loads(tree.attrs.get("moves", "[]"))
    except (TypeError, ValueError, RecursionError):
        named = None
    if not isinstance(named, list) or not all(isinstance(name, str) for name in named):
        raise InputError("attribute moves is no JSON list", REMEDY, source=source)
    return named


def to_bytes(tree: xr.DataTree) -> bytes:
    """The tree as a netCDF file's content."""
    return bytes(tree.to_netcdf(engine=ENGINE))


def save(tree: xr.DataTree, path: Path) -> None:
    """Write netCDF: the old file or the new one, never half of it.

    Parameters
    ----------
    tree : xarray.DataTree
        As :func:`datatree` makes it.
    path : Path

    Raises
    ------
    InputError
        When the place cannot be written.
    """
    write_all(path.parent, [(path.name, to_bytes(tree))])


def _require_heaps_that_end(path: Path) -> None:
    """Refuse a global heap with free space of no size, through which HDF5 2.0 walks for ever (and Python
    cannot stop it).
    """
    with open_regular(path) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        heap, entries = content.find(HEAP), 0
        while heap >= 0:
            at, end = (
                heap + 16,
                min(heap + int.from_bytes(content[heap + 8 : heap + 16], "little"), len(content)),
            )
            while at + 16 <= end:
                number, size = (
                    int.from_bytes(content[at : at + 2], "little"),
                    int.from_bytes(content[at + 8 : at + 16], "little"),
                )
                entries += 1
                if number == size == 0 or entries > HEAP_ENTRIES:
                    raise InputError(
                        "is no readable netCDF file (a heap that does not end)", REMEDY, source=str(path)
                    )
                at += size if number == 0 else 16 + -(-size // 8) * 8
            heap = content.find(HEAP, heap + 1)


def _inspect(path: Path) -> None:
    """Walk the file before anything is read: what it declares may not fit, and what it links to may be
    itself, or another file.

    A damaged one fails here, where h5netcdf would print a traceback of its own besides.
    """

    def refuse(problem: str) -> NoReturn:
        raise InputError(one_line(problem), REMEDY, source=str(path))

    def place(item: Any) -> tuple[int, int]:
        found = h5py.h5o.get_info(item.id)
        return found.fileno, found.addr

    with h5py.File(path, "r") as file:
        seen, left, groups, declared, text = {place(file)}, [file], 0, 0, 0
        while left:
            group = left.pop()
            groups += 1
            dict(group.attrs)
            for name in group:
                if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                    refuse(f"{name!r} is a link to elsewhere")
                item = group[name]
                if place(item) in seen:
                    refuse(f"{name!r} is a second link to the same thing")
                seen.add(place(item))
                dict(item.attrs)
                if len(seen) > VARIABLES or groups + len(left) > GROUPS:
                    refuse(f"holds more than {GROUPS} groups or {VARIABLES:,} variables")
                if isinstance(item, h5py.Group):
                    left.append(item)
                elif isinstance(item, h5py.Dataset):
                    if item.external or item.is_virtual:
                        refuse(f"{name!r} stands in another file")
                    declared += item.size * item.dtype.itemsize
                    if declared > DRAWS_BYTES:
                        refuse(f"declares more than {DRAWS_BYTES:,} bytes")
                    for index in np.ndindex(item.shape) if item.dtype.kind == "O" else ():
                        text += len(item[index])
                        if text > TEXT_BYTES:
                            refuse(f"holds more than {TEXT_BYTES:,} bytes of text")


def load(path: Path) -> xr.DataTree:
    """Read a saved tree into memory.

    Parameters
    ----------
    path : Path
        A file that :func:`save` wrote.

    Raises
    ------
    InputError
        When the file is missing, is no regular file, is too large, links to elsewhere, is of a half-written
        folder or holds no draws, and when what it holds is no run: steps that the kernel does not take,
        scores that the weights do not give.
    """
    require_regular(path, DRAWS_BYTES, REMEDY)
    check_written(path, REMEDY)
    try:
        _require_heaps_that_end(path)
        _inspect(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of strange attributes
            with xr.open_datatree(path, engine=ENGINE, decode_times=False) as stored:
                tree: xr.DataTree = stored.load()
    except InputError:
        raise
    except Exception as error:  # whatever the libraries stumble over in a damaged file
        raise InputError(
            f"is no readable netCDF file ({type(error).__name__})", REMEDY, source=str(path)
        ) from None
    if missing := [
        group for group in ("posterior", "sample_stats", "constant_data") if group not in tree.children
    ]:
        raise InputError(f"holds no group {missing[0]}", REMEDY, source=str(path))
    run = read_trace(tree)
    _require_steps(run)
    _require_scores(run, _features(tree))
    return tree
