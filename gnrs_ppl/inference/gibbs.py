"""Gibbs sampling: one variable, or a joint pair of them, drawn anew from its exact conditional (Geman and
Geman 1984, random scan).

    p(a_v | rest) is proportional to p0(a_v) * exp(s_search(a_v, rest) / tau)

Blocks are numbered: every variable, then every entry of ``tables.joints.variables`` as a block of two. A step
draws its block without looking at the state, then the block's options given the rest. Nothing is proposed
that could be refused.

Random bits: a step takes ``WORDS`` = 2 independent uint32 words, and no bit decides two things.

====  =====================================================================================
word  decides
====  =====================================================================================
0     high half: a variable or a pair. Low half: which one.
1     the option, or the pair of options, through the inverse of the distribution function.
====  =====================================================================================

Bias. :func:`draw` gives an alternative of probability p, one of n, p within p * (2^-19 + n * 2^-31) + 2^-30;
what is rarer than that may never come (metropolis: 2^-33). In all a draw is off by at most 2^-19 + n * 2^-30
in total variation, 2.4e-6 for a pair of 24 options each. The block is chosen from two times 16 bits, within
2^-16 of its due, which changes nothing of what is sampled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int, Int32, UInt32

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference.metropolis import Info, State, chosen, init
from gnrs_ppl.models.energy import Tables
from gnrs_ppl.models.space import AnyArray, look_up

__all__ = [
    "WORDS",
    "Info",
    "State",
    "Transition",
    "build_kernel",
    "complete",
    "conditional",
    "draw",
    "init",
    "joint_conditional",
    "most_pairs",
]

WORDS = 2
"""uint32 words a step takes."""


Transition = Callable[[UInt32[jax.Array, " 2"], State, Tables, float | jax.Array], tuple[State, Info]]


def build_kernel(block_probability: float | None = None, pairs_per_variable: int | None = None) -> Transition:
    """Random scan over the blocks as ``transition(words, state, tables, temperature)``, for one chain;
    ``jax.vmap`` it for many.

    Under ``vmap`` a chain pays for both kinds of block, O options and O * O pairs of them, unless only one
    kind is ever chosen.

    Parameters
    ----------
    block_probability : float, optional
        How often a step takes a pair, 0 to 1, rounded to whole 2^-16; then all pairs, or all variables, are
        equally likely. Unless given, all blocks are. Without joints every step takes a variable. Pairs alone
        need not reach every structure.
    pairs_per_variable : int, optional
        Most pairs that any variable stands in, :func:`most_pairs` of the tables; work for a variable then
        grows with this instead of with P. Unless given, any number will do. Where it turns out too small,
        score and logdensity become NaN.

    Raises
    ------
    InputError
        For a block probability that is none.
    """
    if block_probability is not None and not 0 <= block_probability <= 1:
        raise InputError(
            f"{block_probability} is no probability",
            "give a number from 0 to 1",
            source="arguments",
            field="block_probability",
        )

    def transition(
        words: UInt32[jax.Array, " 2"], state: State, tables: Tables, temperature: float | jax.Array
    ) -> tuple[State, Info]:
        tables = jax.tree.map(jnp.asarray, tables)
        position, sizes = state.position, tables.sizes.astype(jnp.int32)
        variables, joints = position.shape[0], tables.joints.variables.shape[0]
        share = joints / (variables + joints) if block_probability is None else block_probability
        pairs_below = round(share * 2**16) if joints else 0
        numbers, low = np.arange(variables, dtype=np.int32), words[0] & 0xFFFF

        def one_variable() -> _Drawn:
            variable = ((low * np.uint32(variables)) >> 16).astype(jnp.int32)
            table = conditional(tables, position, variable, temperature, pairs_per_variable)
            moved = jnp.where(numbers == variable, draw(words[1], table), position)
            return _Drawn(variable, moved, look_up(sizes, variable), jnp.isnan(table).any())

        def one_pair() -> _Drawn:
            entry = ((low * np.uint32(joints)) >> 16).astype(jnp.int32)
            first, second = (look_up(tables.joints.variables, entry, end).astype(jnp.int32) for end in (0, 1))
            table = joint_conditional(tables, position, first, second, temperature, pairs_per_variable)
            left, right = jnp.divmod(draw(words[1], table), np.int32(table.shape[1]))
            moved = jnp.where(numbers == first, left, jnp.where(numbers == second, right, position))
            looked_at = look_up(sizes, first) * look_up(sizes, second)
            return _Drawn(entry + np.int32(variables), moved, looked_at, jnp.isnan(table).any())

        if pairs_below == 0:
            drawn = one_variable()
        elif pairs_below == 2**16:
            drawn = one_pair()
        else:
            paired = words[0] >> 16 < pairs_below
            drawn = chosen(paired, one_pair(), one_variable())
        after = init(drawn.position, tables, temperature)
        spoilt = jnp.where(drawn.spoilt, jnp.nan, 0.0).astype(after.logdensity.dtype)
        after = after._replace(score=after.score + spoilt, logdensity=after.logdensity + spoilt)
        always = jnp.ones((), after.logdensity.dtype)
        return after, Info(jnp.ones((), bool), always, after, drawn.options, block=drawn.block)

    return transition


class _Drawn(NamedTuple):
    """A block's number, the position with the block drawn anew, how many options the block has, whether a
    density was NaN.
    """

    block: Int32[jax.Array, ""]
    position: Int32[jax.Array, " V"]
    options: Int32[jax.Array, ""]
    spoilt: Bool[jax.Array, ""]


def conditional(
    tables: Tables,
    position: Int[AnyArray, " V"],
    variable: int | Int[AnyArray, ""],
    temperature: float | jax.Array,
    pairs_per_variable: int | None = None,
) -> Float[jax.Array, " O"]:
    """Log density of every option of one variable, the others standing as they are, up to what they
    contribute alone.

    Parameters
    ----------
    tables : Tables
    position : (V,) int
        The variable's own entry has no influence.
    variable : () int
    temperature : float
        tau.
    pairs_per_variable : int, optional
        As for :func:`build_kernel`.

    Returns
    -------
    (O,) float
        Differences are those of :func:`gnrs_ppl.models.energy.logdensity`; ``PADDING`` or below where there
        is no option.
    """
    position, variable = jnp.asarray(position, jnp.int32), jnp.asarray(variable, jnp.int32)
    score, flags = _row(tables, position, variable, None, pairs_per_variable)
    raised = flags | _raised_outside(tables, position, (variable,))
    # paper, Structured search: lambda is subtracted once, so what the rest raises already covers every option
    score -= jnp.where(raised, tables.penalty, 0.0).astype(score.dtype)
    return look_up(tables.log_prior, variable) + score / temperature


def joint_conditional(
    tables: Tables,
    position: Int[AnyArray, " V"],
    first: int | Int[AnyArray, ""],
    second: int | Int[AnyArray, ""],
    temperature: float | jax.Array,
    pairs_per_variable: int | None = None,
) -> Float[jax.Array, "O O"]:
    """Log density of every pair of options of two different variables, the others standing as they are.

    At most one of ``tables.pairs`` may join the two, as :func:`~gnrs_ppl.models.build_space` sees to.

    Returns
    -------
    (O, O) float
        Option of ``first``, option of ``second``; otherwise as for :func:`conditional`.
    """
    position = jnp.asarray(position, jnp.int32)
    first, second = jnp.asarray(first, jnp.int32), jnp.asarray(second, jnp.int32)
    first_score, first_flags = _row(tables, position, first, second, pairs_per_variable)
    second_score, second_flags = _row(tables, position, second, first, pairs_per_variable)
    score, raised = first_score[:, None] + second_score[None], first_flags[:, None] | second_flags[None]
    if tables.pairs.shape[0]:
        pairs = jnp.asarray(tables.pairs)
        upright = (pairs[:, 0] == first) & (pairs[:, 1] == second)
        turned = (pairs[:, 0] == second) & (pairs[:, 1] == first)
        joining = upright | turned
        pair, joined, transposed = joining.argmax(), joining.any(), turned.any()
        between, flags = look_up(tables.pairwise, pair), look_up(tables.pair_flags, pair)
        score += jnp.where(joined, jnp.where(transposed, between.T, between), 0.0)
        raised |= joined & jnp.where(transposed, flags.T, flags)
    raised |= _raised_outside(tables, position, (first, second))
    score -= jnp.where(raised, tables.penalty, 0.0).astype(score.dtype)
    prior = look_up(tables.log_prior, first)[:, None] + look_up(tables.log_prior, second)[None]
    return prior + score / temperature


def most_pairs(tables: Tables) -> int:
    """Most pairs that any variable stands in, on the host; padding pairs do not count."""
    pairs = np.asarray(tables.pairs).reshape(-1, 2)
    return int(np.bincount(pairs[pairs[:, 0] != pairs[:, 1]].ravel(), minlength=1).max())


def complete(settings: dict[str, Any], spaces: Sequence[Tables], *_: Any) -> dict[str, Any]:
    """The settings with the pairs that a variable stands in at most: less work where that is known."""
    return settings | {"pairs_per_variable": max(map(most_pairs, spaces))}


def draw(word: UInt32[jax.Array, ""], logdensity: Float[jax.Array, ...]) -> Int32[jax.Array, ""]:
    """One entry of a table of log densities, by inverse distribution function in whole numbers; its number in
    the flattened table.

    Densities become whole parts of about 2^31, less a part at most, and the word, times their sum, divided by
    2^32, falls on one of them. Sums of whole numbers are exact, so an entry gets its own rounding alone and
    not what was added up before it. An entry without parts, such as ``PADDING``, is never drawn. Where a
    density is NaN the first entry is.

    Parameters
    ----------
    word : () uint32
    logdensity : (..., C) float
        Up to a constant; fewer than 2^23 entries, so that rounding of their sum stays below a half.
    """
    table = logdensity.reshape(-1, logdensity.shape[-1])
    weight = jnp.exp(table - table.max())
    parts = weight * (2.0**31 / weight.sum())
    units = jnp.where(parts >= 0, parts, 0.0).astype(jnp.uint32)  # NaN is nothing
    rows = jnp.cumsum(units.sum(1, dtype=jnp.uint32), dtype=jnp.uint32)
    mark = _high_product(word, rows[-1])
    row = _passed(rows, mark)
    mark -= jnp.where(row == 0, np.uint32(0), look_up(rows, jnp.maximum(row - 1, 0)))
    column = _passed(jnp.cumsum(look_up(units, row), dtype=jnp.uint32), mark)
    return row * np.int32(table.shape[1]) + column


def _passed(ends: UInt32[jax.Array, " n"], mark: UInt32[jax.Array, ""]) -> Int32[jax.Array, ""]:
    """Number of the stretch that the mark falls in; the first where there are none."""
    return jnp.where(ends[-1] > 0, (ends <= mark).sum(dtype=jnp.int32), 0)


def _high_product(a: UInt32[jax.Array, ""], b: UInt32[jax.Array, ""]) -> UInt32[jax.Array, ""]:
    """floor(a * b / 2^32), by halves: there are no 64-bit integers without x64."""
    a_high, a_low, b_high, b_low = a >> 16, a & 0xFFFF, b >> 16, b & 0xFFFF
    middle = a_high * b_low + (a_low * b_low >> 16)
    other = a_low * b_high + (middle & 0xFFFF)
    return a_high * b_high + (middle >> 16) + (other >> 16)


def _row(
    tables: Tables,
    position: Int32[jax.Array, " V"],
    variable: Int32[jax.Array, ""],
    without: Int32[jax.Array, ""] | None,
    most: int | None,
) -> tuple[Float[jax.Array, " O"], Bool[jax.Array, " O"]]:
    """What every option of a variable adds to w . phi, and whether it raises a flag; pairs with the variable
    ``without`` left out.
    """
    score, flags = look_up(tables.unary, variable), look_up(tables.unary_flags, variable)
    pairs = jnp.asarray(tables.pairs)
    if pairs.shape[0] == 0:
        return score, flags
    touched = (pairs[:, 0] == variable) ^ (pairs[:, 1] == variable)  # a padding pair holds its variable twice
    if most is None or most >= pairs.shape[0]:
        which, counts = jnp.arange(pairs.shape[0], dtype=jnp.int32), touched
    else:
        # The n-th pair of the variable is the first up to which n have been counted.
        counted = jnp.cumsum(touched, dtype=jnp.int32)
        wanted = jnp.arange(1, most + 1, dtype=jnp.int32)
        which = jnp.minimum((counted[None] < wanted[:, None]).sum(1, dtype=jnp.int32), pairs.shape[0] - 1)
        counts = wanted <= counted[-1]
        score += jnp.where(counted[-1] > most, jnp.nan, 0.0)
    left, right = look_up(pairs, which, 0), look_up(pairs, which, 1)
    if without is not None:
        counts &= (left != without) & (right != without)
    options = np.arange(score.shape[0], dtype=np.int32)[None]
    at_left = jnp.where(left[:, None] == variable, options, look_up(position, left)[:, None])
    at_right = jnp.where(right[:, None] == variable, options, look_up(position, right)[:, None])
    index = (which[:, None], at_left, at_right)
    score += jnp.where(counts[:, None], look_up(tables.pairwise, *index), 0.0).sum(0)
    flags |= (counts[:, None] & look_up(tables.pair_flags, *index)).any(0)
    return score, flags


def _raised_outside(
    tables: Tables, position: Int32[jax.Array, " V"], inside: tuple[Int32[jax.Array, ""], ...]
) -> Bool[jax.Array, ""]:
    """Whether a flag is up that no variable of the block has a part in."""
    numbers = jnp.arange(position.shape[0], dtype=jnp.int32)
    standing = look_up(tables.unary_flags, numbers, position)
    for variable in inside:
        standing &= numbers != variable
    raised = standing.any()
    if tables.pairs.shape[0]:
        pairs = jnp.asarray(tables.pairs)
        up = look_up(
            tables.pair_flags,
            np.arange(pairs.shape[0]),
            look_up(position, pairs[:, 0]),
            look_up(position, pairs[:, 1]),
        )
        for variable in inside:
            up &= (pairs[:, 0] != variable) & (pairs[:, 1] != variable)
        raised |= up.any()
    return raised
