"""Gibbs sampling: one variable, or a joint pair of them, drawn anew from its exact conditional (Geman and
Geman 1984, random scan).

    p(a_v | rest) is proportional to p0(a_v) * exp(s_search(a_v, rest) / tau)

Blocks are numbered: every variable, then every entry of ``tables.joints.variables`` as a block of two. A step
draws its block without looking at the state, then the block's options given the rest. Nothing is proposed
that could be refused.

Random bits: a step takes ``WORDS`` = 3 independent uint32 words, and no bit decides two things.

====  =====================================================================================
word  decides
====  =====================================================================================
0     a variable or a pair (its high half). The driver hands all chains the same.
1     which variable, or which pair (its high half).
2     the option, or the pair of options, through the inverse of the distribution function.
====  =====================================================================================

The kind of block is drawn without looking at any chain, so each chain's transition matrix is that of a kind
of its own, and the chains are independent given the kinds. At the target every kind leaves it in place: a
chain's draw then owes nothing to the kinds, draws of two chains are independent, and between-chain variances,
R-hat and nested R-hat mean what they mean with chains that share nothing. Before, chains share the kinds'
luck, as they do in any scan of a fixed order; their starts are their own.

Bias. :func:`draw` gives an alternative of probability p, one of n, p within p * (2^-19 + n * 2^-31) + 2^-30;
what is rarer than that may never come (metropolis: 2^-33). In all a draw is off by at most 2^-19 + n * 2^-30
in total variation, 2.4e-6 for a pair of 24 options each. The block is chosen from two times 16 bits, within
2^-16 of its due, which changes nothing of what is sampled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int, Int32, UInt32

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference.metropolis import Info, Kept, State, changing, of_kept
from gnrs_ppl.inference.moves import choose
from gnrs_ppl.models.energy import Tables, rows
from gnrs_ppl.models.space import AnyArray, look_up

__all__ = [
    "WORDS",
    "Block",
    "Info",
    "State",
    "Transition",
    "build_kernel",
    "draw",
    "init",
    "one_block",
    "pair_block",
]

WORDS = 3
"""uint32 words a step takes; the first may be one for all chains."""


Words: TypeAlias = UInt32[jax.Array, " 3"] | tuple[UInt32[jax.Array, ""], ...]
Transition = Callable[[Words, State, Tables, float | jax.Array], tuple[State, Info]]


def init(position: Int[AnyArray, " V"], tables: Tables, temperature: float | jax.Array) -> State:
    """Evaluate a position; errors are those of :func:`gnrs_ppl.inference.metropolis.init`."""
    return changing(tables, position, temperature)


def build_kernel(block_probability: float | None = None) -> Transition:
    """Random scan over the blocks as ``transition(words, state, tables, temperature)``, for one chain;
    ``jax.vmap`` it for many: with the first word shared (``in_axes`` None) chains pay for the kind of block
    that it decides, O options or O * O pairs of them; with one for each chain they pay for both.

    Parameters
    ----------
    block_probability : float, optional
        How often a step takes a pair, 0 to 1, rounded to whole 2^-16; then all pairs, or all variables, are
        equally likely. Unless given, all blocks are. Without joints every step takes a variable. Pairs alone
        need not reach every structure.

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
        words: Words, state: State, tables: Tables, temperature: float | jax.Array
    ) -> tuple[State, Info]:
        tables = jax.tree.map(jnp.asarray, tables)
        position, kept, sizes = state.position, state.kept, tables.sizes.astype(jnp.int32)
        assert kept is not None, "a state of gibbs.init"
        variables, joints = position.shape[0], tables.joints.variables.shape[0]
        share = joints / (variables + joints) if block_probability is None else block_probability
        pairs_below = round(share * 2**16) if joints else 0
        numbers, which = np.arange(variables, dtype=np.int32), words[1] >> 16

        def drawn(block: Block, *before: jax.Array) -> tuple[jax.Array, Kept]:
            """The number of an entry of the block, and what is kept there; NaN where a density was."""
            table = block.logdensity(
                kept.raised - look_up(block.raised, *before), tables.penalty, temperature
            )
            number = draw(words[2], table)
            worth, raised, prior = (look_up(leaf.ravel(), number) - look_up(leaf, *before) for leaf in block)
            worth += jnp.where(jnp.isnan(table).any(), jnp.nan, 0.0).astype(worth.dtype)
            return number, Kept(kept.worth + worth, kept.raised + raised, kept.log_prior + prior)

        def one_variable() -> _Drawn:
            variable = ((which * np.uint32(variables)) >> 16).astype(jnp.int32)
            option, new = drawn(one_block(tables, position, variable), look_up(position, variable))
            moved = jnp.where(numbers == variable, option, position)
            return _Drawn(variable, moved, look_up(sizes, variable), new)

        def one_pair() -> _Drawn:
            entry = ((which * np.uint32(joints)) >> 16).astype(jnp.int32)
            first, second = (look_up(tables.joints.variables, entry, end).astype(jnp.int32) for end in (0, 1))
            block = pair_block(tables, position, first, second)
            number, new = drawn(block, look_up(position, first), look_up(position, second))
            left, right = jnp.divmod(number, np.int32(block.worth.shape[1]))
            moved = jnp.where(numbers == first, left, jnp.where(numbers == second, right, position))
            looked_at = look_up(sizes, first) * look_up(sizes, second)
            return _Drawn(entry + np.int32(variables), moved, looked_at, new)

        if pairs_below == 0:
            taken = one_variable()
        elif pairs_below == 2**16:
            taken = one_pair()
        else:
            taken = jax.lax.cond(words[0] >> 16 < pairs_below, one_pair, one_variable)
        after = of_kept(tables, taken.position, taken.kept, temperature)
        always = jnp.ones((), after.logdensity.dtype)
        return after, Info(jnp.ones((), bool), always, after, taken.options, block=taken.block)

    return transition


class _Drawn(NamedTuple):
    """A block's number, the position with the block drawn anew, how many options the block has, and what is
    kept.
    """

    block: Int32[jax.Array, ""]
    position: Int32[jax.Array, " V"]
    options: Int32[jax.Array, ""]
    kept: Kept


class Block(NamedTuple):
    """What the entries of a block, options or pairs of them, add to w . phi, to the number of raised flags,
    and to log p0 (``PADDING`` or below where there is none), the other variables standing as they are.
    """

    worth: Float[jax.Array, ...]
    raised: Int32[jax.Array, ...]
    log_prior: Float[jax.Array, ...]

    def logdensity(
        self, outside: Int32[jax.Array, ""], penalty: Float[AnyArray, ""], temperature: float | jax.Array
    ) -> Float[jax.Array, ...]:
        """Of every entry, up to what the others contribute alone; ``outside`` is how many flags are up that
        the block has no part in.
        """
        # paper, Structured search: lambda is subtracted once, however many conditions break
        fine = jnp.where(self.raised + outside > 0, penalty, 0.0).astype(self.worth.dtype)
        return self.log_prior + (self.worth - fine) / temperature


def one_block(tables: Tables, position: Int[AnyArray, " V"], variable: Int[AnyArray, ""]) -> Block:
    """Of one variable, (O,); its own entry in the position has no influence."""
    options = np.arange(tables.unary.shape[1], dtype=np.int32)
    return Block(*rows(tables, position, variable, options), look_up(tables.log_prior, variable))


def pair_block(
    tables: Tables, position: Int[AnyArray, " V"], first: Int[AnyArray, ""], second: Int[AnyArray, ""]
) -> Block:
    """Of two different variables, (O, O).

    At most one of ``tables.pairs`` may join the two, as :func:`~gnrs_ppl.models.build_space` sees to.
    """
    options = np.arange(tables.unary.shape[1], dtype=np.int32)
    a = Block(*rows(tables, position, first, options, second), look_up(tables.log_prior, first))
    b = Block(*rows(tables, position, second, options, first), look_up(tables.log_prior, second))
    both = Block(*(one[:, None] + other[None] for one, other in zip(a, b, strict=True)))
    if tables.beside.pairs.shape[1] == 0:
        return both
    pairs, others, turned, there = (look_up(leaf, first) for leaf in tables.beside)
    joining = there & (others == second)
    place, joined = joining.argmax(), joining.any()
    pair, transposed = look_up(pairs, place), look_up(turned, place)
    worth, flags = look_up(tables.pairwise, pair), look_up(tables.pair_flags, pair)
    worth, flags = (jnp.where(transposed, table.T, table) for table in (worth, flags))
    return both._replace(
        worth=both.worth + jnp.where(joined, worth, jnp.zeros((), worth.dtype)),
        raised=both.raised + (joined & flags).astype(jnp.int32),
    )


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
    mark, _ = choose(word, rows[-1])
    row = _passed(rows, mark)
    mark -= jnp.where(row == 0, np.uint32(0), look_up(rows, jnp.maximum(row - 1, 0)))
    column = _passed(jnp.cumsum(look_up(units, row), dtype=jnp.uint32), mark)
    return row * np.int32(table.shape[1]) + column


def _passed(ends: UInt32[jax.Array, " n"], mark: UInt32[jax.Array, ""]) -> Int32[jax.Array, ""]:
    """Number of the stretch that the mark falls in; the first where there are none."""
    return jnp.where(ends[-1] > 0, (ends <= mark).sum(dtype=jnp.int32), 0)
