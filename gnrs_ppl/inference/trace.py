"""Chains as an ArviZ DataTree, saved as netCDF (DESIGN section 4)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import xarray as xr
from arviz_base import from_dict
from jaxtyping import Float
from numpy.typing import NDArray

from gnrs_ppl.context.files import write_all
from gnrs_ppl.errors import InputError
from gnrs_ppl.inference.moves import MOVES
from gnrs_ppl.inference.result import Chains
from gnrs_ppl.versions import versions

ENGINE: Final = "h5netcdf"
REMEDY: Final = "name a file that gnrs sample wrote"


def datatree(
    chains: Chains,
    labels: Mapping[str, Sequence[str]],
    weights: Float[NDArray[np.float64], " F"],
    goal: str,
    *,
    candidates: Mapping[str, Sequence[str]] | None = None,
    features: Sequence[str] | None = None,
    exact: Sequence[Float[NDArray[np.float64], " n"]] | None = None,
) -> xr.DataTree:
    """Put every draw into ArviZ's groups.

    Parameters
    ----------
    chains : Chains
    labels : {slot: sequence of str}
        Name of every option of every variable, in the variables' order.
    weights : (F,) float
    goal : str
        What the rule is for; kept as an attribute.
    candidates : {slot: sequence of str}, optional
        Candidate id of every option; the labels unless given.
    features : sequence of str, optional
        Names of the weights; numbers unless given.
    exact : sequence of (n_v,) arrays, optional
        Exact marginal of every slot at the chains' temperature, where the space was enumerated.

    Returns
    -------
    xarray.DataTree
        ``posterior``: an option index per slot, and s_search, (chain, draw). ``sample_stats``: move, accepted, feasible, (chain,
        draw). ``constant_data``: weights (feature,); superchain (chain,); per slot its start (chain,) and its pool, the coordinate
        ``<slot>_option`` of option labels with ``<slot>_candidate`` and, where known, ``<slot>_exact`` beside it.
        Root attributes: kernel, chains, steps, temperature, seed, goal, moves, seconds, versions. Options are names,
        not quantities: no mean or R-hat of an index means anything.
    """
    pools: dict[str, Any] = {f"{slot}_candidate": np.array((candidates or labels)[slot], str) for slot in labels}
    data: dict[str, dict[str, Any]] = {
        "posterior": {slot: chains.positions[..., v] for v, slot in enumerate(labels)} | {"s_search": chains.score},
        "sample_stats": {"move": chains.move, "accepted": chains.accepted, "feasible": chains.feasible},
        "constant_data": {
            "weights": weights,
            "superchain": chains.superchain,
            **{f"{slot}_start": chains.starts[:, v] for v, slot in enumerate(labels)},
            **({f"{slot}_exact": marginal for slot, marginal in zip(labels, exact, strict=True)} if exact is not None else {}),
            **pools,
        },
    }
    count, steps = chains.score.shape
    coords: dict[str, Any] = {f"{slot}_option": np.array(names, str) for slot, names in labels.items()}
    coords |= {"feature": list(features or range(len(weights))), "chain": np.arange(count)}
    tree = from_dict(
        data,
        check_conventions=False,  # it warns of more chains than draws, which is how this sampler is meant to run
        coords=coords,
        dims={
            "weights": ["feature"],
            "superchain": ["chain"],
            **{f"{slot}_start": ["chain"] for slot in labels},
            **{f"{slot}_candidate": [f"{slot}_option"] for slot in labels},
            **({f"{slot}_exact": [f"{slot}_option"] for slot in labels} if exact is not None else {}),
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
                "wall_seconds": chains.wall_seconds,
                "compile_seconds": chains.compile_seconds,
                "versions": json.dumps(versions()),
            }
        },
    )
    tree["constant_data"] = xr.DataTree(tree["constant_data"].to_dataset().set_coords([*pools]))
    return tree


def exact_marginals(tree: xr.DataTree) -> list[Float[NDArray[np.float64], " n"]] | None:
    """The exact marginals of the slots, in the order of their pools; None where the tree keeps none."""
    constant = tree["constant_data"].to_dataset()
    slots = [str(name).removesuffix("_option") for name in constant.dims if str(name).endswith("_option")]
    if not all(f"{slot}_exact" in constant for slot in slots):
        return None
    return [constant[f"{slot}_exact"].to_numpy() for slot in tree["posterior"].to_dataset().data_vars if slot in slots]


def to_bytes(tree: xr.DataTree) -> bytes:
    """The tree as a netCDF file's content."""
    return bytes(tree.to_netcdf(engine=ENGINE))


def save(tree: xr.DataTree, path: Path) -> None:
    """Write netCDF: the old file or the new one, never half of it.

    Raises
    ------
    InputError
        When the place cannot be written.
    """
    write_all(path.parent, [(path.name, to_bytes(tree))])


def load(path: Path) -> xr.DataTree:
    """Read a saved tree into memory.

    Raises
    ------
    InputError
        When the file is missing or holds no draws.
    """
    try:
        with xr.open_datatree(path, engine=ENGINE) as stored:
            tree: xr.DataTree = stored.load()
    except (OSError, ValueError) as error:
        raise InputError(
            f"is no readable netCDF file ({type(error).__name__})", "name a file that gnrs sample wrote", source=str(path)
        ) from None
    if missing := [group for group in ("posterior", "sample_stats", "constant_data") if group not in tree.children]:
        raise InputError(f"holds no group {missing[0]}", REMEDY, source=str(path))
    return tree
