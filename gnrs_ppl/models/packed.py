"""A structure of a small space as one integer: every option is a field of a uint32, the first variable's
lowest.

To read or change an option is then a shift, whichever variable it is, where a vector of options is compared
and copied entry by entry. What reads structures takes both: uint32 is packed, other whole numbers are
options.

Examples
--------
>>> packed = pack(jnp.array([3, 0, 2]), options=4)
>>> int(packed), unpack(packed, 3, options=4).tolist(), int(option_of(packed, 2, options=4))
(35, [3, 0, 2], 2)
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int, UInt32
from numpy.typing import NDArray

from gnrs_ppl.models.space import AnyArray, look_up

WORD = 32
"""Bits of a packed structure."""
COMPARED = 32
"""Of up to so many variables it is faster to compare than to look up."""


def width(options: int) -> int:
    """Bits of a field."""
    return (options - 1).bit_length()


def fits(variables: int, options: int) -> bool:
    """Whether a structure of so many variables, of up to so many options each, is packed."""
    return variables * width(options) <= WORD


def pack(positions: AnyArray, options: int) -> UInt32[jax.Array, "*C"]:
    """Structures as one integer each; those that are stay as they are."""
    positions = jnp.asarray(positions)
    if positions.dtype == jnp.uint32:
        return positions
    shifts = _shifts(positions.ndim, positions.shape[-1], options)
    return (positions.astype(jnp.uint32) << shifts).sum(-1, dtype=jnp.uint32)


def unpack(positions: AnyArray, variables: int, options: int) -> Int[jax.Array, "*C V"]:
    """Structures as vectors of options, int32; those that are vectors stay as they are."""
    positions = jnp.asarray(positions)
    if positions.dtype != jnp.uint32:
        return positions
    shifts = _shifts(positions.ndim + 1, variables, options)
    return (positions[..., None] >> shifts & _field(options)).astype(jnp.int32)


def unpack_all(
    positions: UInt32[NDArray[np.uint32], ...], variables: int, options: int
) -> Int[NDArray[np.int32], "... V"]:
    """Many structures as vectors, on the host; in memory variable by variable, as is fastest to write."""
    found = np.empty((variables, *positions.shape), np.uint32)
    for column, shift in zip(found, _shifts(1, variables, options), strict=True):
        np.right_shift(positions, shift, out=column)
        np.bitwise_and(column, _field(options), out=column)
    return np.moveaxis(found.view(np.int32), 0, -1)


def option_of(position: AnyArray, variable: Int[AnyArray, "*n"], options: int) -> Int[jax.Array, "*n"]:
    """The option of a variable, or of each of several, in one structure."""
    position = jnp.asarray(position)
    if position.dtype == jnp.uint32:
        return (position >> _shift(variable, options) & _field(options)).astype(jnp.int32)
    return picked(position, variable)


def picked(values: AnyArray, number: Int[AnyArray, "*n"]) -> jax.Array:
    """``values[number]``, compared where that is faster."""
    values = jnp.asarray(values)
    if np.ndim(number) or len(values) > COMPARED or not isinstance(number, jax.core.Tracer):
        return look_up(values, number)
    value = values[0]
    for n in range(1, len(values)):
        value = jnp.where(number == n, values[n], value)
    return value


def with_options(
    position: AnyArray,
    variables: tuple[Int[AnyArray, ""], Int[AnyArray, ""]],
    new: tuple[Int[AnyArray, ""], Int[AnyArray, ""]],
    options: int,
) -> Int[jax.Array, "*V"]:
    """One structure with new options of two variables, or of one that is named twice."""
    position = jnp.asarray(position)
    if position.dtype == jnp.uint32:
        for variable, option in zip(variables, new, strict=True):
            shift = _shift(variable, options)
            position = position & ~(_field(options) << shift) | option.astype(jnp.uint32) << shift
        return position
    numbers = np.arange(position.shape[0], dtype=np.int32)
    (first, second), (option, other) = variables, new
    return jnp.where(numbers == first, option, jnp.where(numbers == second, other, position))


def _shift(variable: Int[AnyArray, "*n"], options: int) -> UInt32[jax.Array, "*n"]:
    return jnp.asarray(variable).astype(jnp.uint32) * np.uint32(width(options))


def _shifts(axes: int, variables: int, options: int) -> UInt32[NDArray[np.uint32], "... V"]:
    """Where the options begin, along the last of so many axes."""
    shifts = np.arange(variables, dtype=np.uint32) * np.uint32(width(options))
    return shifts.reshape((1,) * (axes - 1) + (variables,))


def _field(options: int) -> np.uint32:
    return np.uint32((1 << width(options)) - 1)
