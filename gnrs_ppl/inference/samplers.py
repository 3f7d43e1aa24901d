"""Kernels in BlackJAX's shape: one function a kernel, giving ``init(position)`` and ``step(key, state)`` for
one chain.

BlackJAX's loops run them as they run its own, and ``jax.vmap`` makes many chains of one. Every ``step`` gives
the state and the same :class:`~gnrs_ppl.inference.metropolis.Info`.

Examples
--------
>>> from gnrs_ppl.models.energy import contract
>>> from gnrs_ppl.models.space import build_space
>>> space = build_space([[0, 1], [0, 0]], unary=[[[0.5], [0.0]], [[0.5], [0.25]]])
>>> tables = contract(space, np.array([1.0]))
>>> init, step = gibbs(tables, temperature=0.08)
>>> state, info = step(jax.random.key(0), init([1, 1]))
>>> int(info.energy_evaluations)
2
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Key

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference.cache import use_compilation_cache
from gnrs_ppl.inference.chains import STEPPERS, checked_settings
from gnrs_ppl.inference.kernels import KERNELS
from gnrs_ppl.inference.metropolis import Info
from gnrs_ppl.inference.result import require_temperature
from gnrs_ppl.models.energy import Tables


class SamplingAlgorithm(NamedTuple):
    """``init(position, rng_key=None)`` gives a state, ``step(key, state)`` the next one and what happened.

    ``init`` refuses a position of another shape or type, and options that there are not where the position is
    no tracer; ``step`` a state of another kernel or of tables of another shape.
    """

    init: Callable[..., Any]
    step: Callable[[Key[jax.Array, ""], Any], tuple[Any, Info]]


def metropolis(tables: Tables, temperature: float | jax.Array, **settings: Any) -> SamplingAlgorithm:
    """The paper's four edits (:mod:`gnrs_ppl.inference.metropolis`).

    Parameters
    ----------
    tables : Tables
        On the host (NumPy).
    temperature : float
        tau, above 0.
    **settings
        ``move_probabilities``.

    Raises
    ------
    InputError
        For settings and a temperature that will not do.
    """
    return _algorithm("metropolis", tables, temperature, settings)


def gibbs(tables: Tables, temperature: float | jax.Array, **settings: Any) -> SamplingAlgorithm:
    """A variable, or a joint pair, drawn anew (:mod:`gnrs_ppl.inference.gibbs`); setting
    ``block_probability``, otherwise as :func:`metropolis`.
    """
    return _algorithm("gibbs", tables, temperature, settings)


def informed(tables: Tables, temperature: float | jax.Array, **settings: Any) -> SamplingAlgorithm:
    """Locally balanced proposals (:mod:`gnrs_ppl.inference.informed`); setting ``balancing``, otherwise as
    :func:`metropolis`.
    """
    return _algorithm("informed", tables, temperature, settings)


def tempering(tables: Tables, temperature: float | jax.Array, **settings: Any) -> SamplingAlgorithm:
    """Replica exchange (:mod:`gnrs_ppl.inference.tempering`); settings ``replicas``, ``hottest`` and
    ``move_probabilities``, otherwise as :func:`metropolis`.

    A state is a ladder: ``init`` takes the positions of all replicas, (R, V), the cold one first.
    """
    return _algorithm("tempering", tables, temperature, settings)


def _algorithm(
    kernel: str, tables: Tables, temperature: float | jax.Array, given: dict[str, Any]
) -> SamplingAlgorithm:
    if not isinstance(temperature, jax.core.Tracer):
        require_temperature(temperature)
    use_compilation_cache()
    stepper = STEPPERS[kernel]
    settings = stepper.complete(checked_settings(kernel, given), [tables], 1, cast(float, temperature))
    transition = stepper.build(**settings)

    def made(position: Any) -> Any:
        return stepper.init(position, tables, temperature)

    # BlackJAX's loops hand it a key
    def init(position: Any, rng_key: Key[jax.Array, ""] | None = None) -> Any:
        state = made(position)
        if len(position) != given.get("replicas", len(position)):
            raise InputError(
                f"positions of {len(position)} replicas",
                f"give those of {given['replicas']}",
                source="arguments",
                field="position",
            )
        return state

    def step(key: Key[jax.Array, ""], state: Any) -> tuple[Any, Info]:
        shape = np.shape(getattr(state, "position", ()))
        rungs = [max([2, *shape[:1]])] if KERNELS[kernel].exchanges else []
        wanted = jax.eval_shape(lambda: made(jnp.zeros((*rungs, len(tables.sizes)), jnp.int32)))
        if _shapes(state) != _shapes(wanted):
            raise InputError(
                f"not a state of {kernel} on these tables",
                "give one that its init or step has made",
                source="arguments",
                field="state",
            )
        one = jax.tree.map(lambda leaf: leaf[None], state)
        words = jax.random.bits(key, (stepper.words(one),), jnp.uint32)
        moved: tuple[Any, Info] = transition(words, state, tables, temperature)
        return moved

    return SamplingAlgorithm(init, step)


def _shapes(state: Any) -> tuple[Any, list[tuple[int, ...]]]:
    leaves, structure = jax.tree.flatten(state)
    return structure, [np.shape(leaf) for leaf in leaves]
