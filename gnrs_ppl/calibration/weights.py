"""The weight vector w of s_search: on the simplex, in the order of the features, with its origin (DESIGN section 5).

``weights.json`` beside this page is the frozen fit on the dev goals. It holds for the features it was fitted with: when their definition
changes, it is refused until ``gnrs fit`` has been run again.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

import gnrs_ppl.models.features as features_module
import gnrs_ppl.models.flags as flags_module
from gnrs_ppl.context.output import as_written
from gnrs_ppl.errors import InputError
from gnrs_ppl.models.features import FEATURES

FROZEN = Path(__file__).parent / "weights.json"
POSTERIOR = Path(__file__).parent / "posterior.json"
NAMES = ("fitted", "uniform", "default", "posterior")
"""Weights that go by name; anything else is a file."""


class Weights(NamedTuple):
    """w >= 0 with sum one, one per feature.

    Attributes
    ----------
    values : tuple of float
        w, in the order of ``FEATURES``.
    origin : str
        Where they come from, for people.
    temperature : float or None
        tau_fit; None until a fit exists.
    draws : tuple of tuples of float
        beta of draws from the posterior over weights, where a draft averages over them.
    """

    values: tuple[float, ...]
    origin: str
    temperature: float | None = None
    draws: tuple[tuple[float, ...], ...] = ()

    def array(self) -> NDArray[np.float64]:
        """W as a float64 array of shape (F,); raises ValueError off the simplex."""
        w = np.asarray(self.values, dtype=np.float64)
        if w.shape != (len(FEATURES),) or not np.all(np.isfinite(w)) or np.any(w < 0) or abs(w.sum() - 1) > 1e-9:
            raise ValueError(f"weights must be {len(FEATURES)} non-negative numbers that sum to one, got {self.values}")
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
    """Weights by name (``fitted``, ``uniform``, ``default``, ``posterior``) or from a file that ``gnrs fit --out`` wrote.

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
        draws = tuple(tuple(map(float, beta)) for beta in _read(POSTERIOR)["beta"])
        mean = np.mean([np.array(beta) / sum(beta) for beta in draws], axis=0)
        return fitted._replace(values=tuple((mean / mean.sum()).tolist()), origin=f"mean of {len(draws)} posterior draws", draws=draws)
    return read_weights(Path(name))


def read_weights(path: Path) -> Weights:
    """Frozen weights of a file.

    Raises
    ------
    InputError
        Not readable, not such a file, half written, off the simplex, or fitted with other features; the line says to refit.
    """
    as_written(path)
    data = _read(path)
    values, beta = data.get("weights"), data.get("beta")
    if not isinstance(values, dict) or not isinstance(beta, dict) or tuple(values) != FEATURES:
        raise InputError("holds no weights of these features", "write it with gnrs fit --out", source=str(path), field="weights")
    if data.get("feature_hash") != feature_hash():
        raise InputError("was fitted with other feature definitions", "run gnrs fit again", source=str(path), field="feature_hash")
    found = Weights(tuple(map(float, values.values())), f"fitted on {len(data['goals'])} dev goals", float(data["temperature"]))
    try:
        found.array()
    except ValueError as error:
        raise InputError(str(error), "write it with gnrs fit --out", source=str(path), field="weights") from None
    return found


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", "check the path; gnrs fit writes such files", source=str(path)) from None
    except ValueError as error:
        raise InputError(f"is not JSON: {error}", "write it with gnrs fit --out", source=str(path)) from None
    if not isinstance(data, dict):
        raise InputError("holds no mapping", "write it with gnrs fit --out", source=str(path))
    return data


@cache
def feature_hash() -> str:
    """SHA-256 of the files that define features and hard conditions: what a fit is valid for."""
    digest = hashlib.sha256()
    for module in (features_module, flags_module):
        digest.update(Path(str(module.__file__)).read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()


def shares(beta: Float[NDArray[np.float64], " F"]) -> dict[str, float]:
    """W of a beta, by feature."""
    return dict(zip(FEATURES, (beta / beta.sum()).tolist(), strict=True))
