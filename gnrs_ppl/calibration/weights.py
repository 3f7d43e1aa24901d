"""The weight vector w of s_search: on the simplex, in the order of the features, with its origin (DESIGN
section 5).

``weights.json`` beside this page is the frozen fit on the dev goals. It holds for the features and hard
conditions it was fitted with: when their definitions change, it is refused until ``gnrs fit`` has been run
again.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, ConfigDict, Field

import gnrs_ppl.models.features as features_module
import gnrs_ppl.models.flags as flags_module
import gnrs_ppl.models.statements as statements_module
from gnrs_ppl.context.files import parse_json, read_text, validated
from gnrs_ppl.context.limits import TEMPERATURE
from gnrs_ppl.context.output import check_written
from gnrs_ppl.context.types import Frozen, _listed
from gnrs_ppl.errors import InputError
from gnrs_ppl.models.features import FEATURES

FROZEN = Path(__file__).parent / "weights.json"
POSTERIOR = Path(__file__).parent / "posterior.json"
REMEDY = "write it with gnrs fit --out"
SHARE_TOLERANCE = 1e-9


class _File(Frozen):
    """What is used of a weights file; the rest says where it comes from."""

    model_config = ConfigDict(extra="ignore")

    weights: dict[str, float]
    beta: dict[str, float]
    temperature: Annotated[float, Field(ge=TEMPERATURE[0], le=TEMPERATURE[1])]
    goals: Annotated[tuple[str, ...], BeforeValidator(_listed)]


class Weights(NamedTuple):
    """w >= 0 with sum one, one per feature.

    Attributes
    ----------
    values : tuple of float
        w, in the order of ``FEATURES``.
    origin : str
        Where they come from, for people.
    temperature : float or None
        tau_fit; None for weights that were not fitted.
    draws : tuple of tuples of float
        beta of draws from the posterior over weights, where a draft averages over them.
    """

    values: tuple[float, ...]
    origin: str
    temperature: float | None = None
    draws: tuple[tuple[float, ...], ...] = ()

    def array(self) -> NDArray[np.float64]:
        """W as a float64 array of shape (F,).

        Raises
        ------
        InputError
            Off the simplex.
        """
        w = np.asarray(self.values, dtype=np.float64)
        if (
            w.shape != (len(FEATURES),)
            or not np.all(np.isfinite(w))
            or np.any(w < 0)
            or abs(w.sum() - 1) > 1e-9
        ):
            problem = (
                f"weights must be {len(FEATURES)} non-negative numbers that sum to one, got {self.values}"
            )
            raise InputError(problem, "take those of weights_named", source="arguments", field="weights")
        return w


DEFAULT_WEIGHTS = Weights((0.30, 0.10, 0.20, 0.20, 0.10, 0.10), "default, set by hand")
"""Intent first, then what records show and where a violation leads; schema, values and language break ties.

Set before any structure was scored and not fitted to anything.
"""
UNIFORM_WEIGHTS = Weights((1 / len(FEATURES),) * len(FEATURES), "uniform")


@cache
def frozen_weights() -> Weights:
    """The weights fitted on the dev goals."""
    return read_weights(FROZEN)


def weights_named(name: str | Path) -> Weights:
    """Weights by name (``fitted``, ``uniform``, ``default``, ``posterior``) or from a file that ``gnrs fit
    --out`` wrote.

    Parameters
    ----------
    name : str or Path

    Raises
    ------
    InputError
        As :func:`read_weights`.
    """
    if name == "fitted":
        return frozen_weights()
    if name == "uniform":
        return UNIFORM_WEIGHTS
    if name == "default":
        return DEFAULT_WEIGHTS
    if name == "posterior":
        fitted = frozen_weights()
        draws = tuple(
            tuple(map(float, beta)) for beta in json.loads(POSTERIOR.read_text(encoding="utf-8"))["beta"]
        )
        mean = np.mean([np.array(beta) / sum(beta) for beta in draws], axis=0)
        return fitted._replace(
            values=tuple((mean / mean.sum()).tolist()),
            origin=f"mean of {len(draws)} posterior draws",
            draws=draws,
        )
    return read_weights(Path(name))


def read_weights(path: Path) -> Weights:
    """Frozen weights of a file.

    Parameters
    ----------
    path : Path
        As ``gnrs fit --out`` wrote it.

    Raises
    ------
    InputError
        Not readable, not such a file, half written, off the simplex, or fitted with other features or hard
        conditions; the line says to refit.
    """
    check_written(path, REMEDY)
    data = parse_json(read_text(path, form="JSON"), str(path), REMEDY)
    if not isinstance(data, dict):
        raise InputError("holds no mapping", REMEDY, source=str(path))
    values = data.get("weights")
    if not isinstance(values, dict) or tuple(values) != FEATURES:
        raise InputError("holds no weights of these features", REMEDY, source=str(path), field="weights")
    if data.get("feature_hash") != feature_hash():
        raise InputError(
            "was fitted with other feature definitions",
            "run gnrs fit again",
            source=str(path),
            field="feature_hash",
        )
    file = validated(_File, data, source=str(path))
    found = Weights(tuple(file.weights.values()), f"fitted on {len(file.goals)} dev goals", file.temperature)
    try:
        found.array()
    except InputError as error:
        raise InputError(error.problem, REMEDY, source=str(path), field="weights") from None
    if file.beta.keys() != file.weights.keys():
        raise InputError("names other features than weights", REMEDY, source=str(path), field="beta")
    off = (
        name
        for name, weight in file.weights.items()
        if abs(file.beta[name] * file.temperature - weight) > SHARE_TOLERANCE
    )
    if (name := next(off, None)) is not None:
        raise InputError(
            "is not its beta times the temperature", REMEDY, source=str(path), field=f"weights.{name}"
        )
    return found


@cache
def feature_hash() -> str:
    """SHA-256 of the files that define features and hard conditions: what a fit is valid for."""
    digest = hashlib.sha256()
    for module in (features_module, flags_module, statements_module):
        digest.update(Path(str(module.__file__)).read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()
