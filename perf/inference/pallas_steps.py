"""The Metropolis step of an enumerable goal as one Pallas kernel, for GPUs: a chain's structure and score stay
in registers for all steps, its words are made in the kernel, and the tables are read where they lie.

Its draws are those of ``run_chains``. It goes to Triton, which reads a table at an array of places;
``interpret`` runs it anywhere, slowly.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from gnrs_ppl.inference.exact import number_of_states
from gnrs_ppl.inference.metropolis import accept
from gnrs_ppl.inference.moves import WORDS, _halves, _low_half, _of_move, acting_shares, choose
from gnrs_ppl.inference.threefry import threefry
from gnrs_ppl.models.energy import Tables, marked_score
from gnrs_ppl.models.packed import option_of, pack, with_options

BLOCK = 64
"""Chains of a program, two warps; 10^6 is a multiple of it."""


class Walk:
    """Many steps of many chains on one goal."""

    def __init__(self, tables: Tables, temperature: float, interpret: bool = False) -> None:
        edits, swaps = tables.edits, max(len(tables.swaps.variables), 1)
        assert len(edits.cells), "a goal has joint edits"
        self.options, self.interpret, self.of_one = tables.unary.shape[1], interpret, len(edits.offers)
        variables = (self.of_one - swaps) // 2
        self.entries = [variables, variables, swaps, len(edits.cells)]
        self.move_ends = [np.uint32(end) for end in np.rint(acting_shares(edits).cumsum()[:-1] * 2**16)]
        self.strides = [math.prod(tables.sizes[v + 1 :].tolist()) for v in range(len(tables.sizes))]
        leaves = edits.ends, edits.offers, edits.left_out, edits.cells, edits.threshold, edits.targets
        every = np.stack(np.unravel_index(np.arange(number_of_states(tables)), tables.sizes), 1)
        scores = jax.jit(jax.vmap(partial(marked_score, tables)))(every)
        leaves = *leaves, edits.log_weight, scores, np.float32([temperature])
        self.tables = [jnp.asarray(leaf).ravel() for leaf in leaves]

    def __call__(self, seed: int, starts: Any, steps: int, recorded: bool = False) -> list[jax.Array]:
        """Last structures, packed, and best scores of a multiple of ``BLOCK`` chains from ``starts`` (C, V);
        where recorded, every draw (steps, C).
        """
        return self.walk(*self.given(seed, starts), steps, recorded)

    def lowered(self, starts: Any, steps: int) -> str:
        """The program for NVIDIA's GPUs, none of which is needed."""
        traced = Walk.walk.trace(self, *self.given(0, starts), steps, True)
        return str(traced.lower(lowering_platforms=("cuda",)).as_text())

    def given(self, seed: int, starts: Any) -> tuple[Any, ...]:
        keys = [threefry((seed, 0), (block, 0)) for block in range(-(-WORDS // 2))]
        return pack(jnp.asarray(starts), self.options), jnp.ravel(jnp.array(keys)), self.tables

    @partial(jax.jit, static_argnums=(0, 4, 5))
    def walk(self, starts: Any, keys: Any, tables: Any, steps: int, recorded: bool) -> list[jax.Array]:
        one, of_chain = jax.ShapeDtypeStruct(starts.shape, jnp.uint32), pl.BlockSpec((BLOCK,), lambda i: (i,))
        written = one.update(shape=(steps, *starts.shape))
        found: list[jax.Array] = pl.pallas_call(
            partial(self._kernel, steps),
            out_shape=[one, one.update(dtype=jnp.float32), *[written] * recorded],
            grid=len(starts) // BLOCK,
            in_specs=[of_chain, *[pl.BlockSpec()] * (1 + len(tables))],
            out_specs=[of_chain, of_chain, *[pl.BlockSpec((steps, BLOCK), lambda i: (0, i))] * recorded],
            interpret=self.interpret,
            compiler_params=triton.CompilerParams(num_warps=BLOCK // 32),
        )(starts, keys, *tables)
        return found

    def _kernel(self, steps: int, start: Any, keys: Any, *refs: Any) -> None:
        *tables, scores, temperature = refs[: len(self.tables)]
        last, best, *draws = refs[len(self.tables) :]
        chain = (pl.program_id(0) * BLOCK + jnp.arange(BLOCK)).astype(jnp.uint32)

        def score(position: jax.Array) -> jax.Array:
            each = enumerate(self.strides)
            return scores[sum(option_of(position, np.int32(v), self.options) * apart for v, apart in each)]

        def step(n: jax.Array, state: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
            position, here, highest = state
            counter = chain, jnp.full((BLOCK,), n).astype(jnp.uint32)
            first, second = threefry((keys[0], keys[1]), counter)
            third, _ = threefry((keys[2], keys[3]), counter)
            there, log_ratio = self._propose(first, second, position, *tables)
            new = score(there)
            accepted, _ = accept(third, (new - here) / temperature[0] + log_ratio)
            position, here = jnp.where(accepted, there, position), jnp.where(accepted, new, here)
            for draw in draws:
                draw[n, :] = position
            return position, here, jnp.maximum(highest, here)

        begin = start[...]
        last[...], _, best[...] = jax.lax.fori_loop(0, steps, step, (begin, score(begin), score(begin)))

    def _propose(self, first: jax.Array, second: jax.Array, position: jax.Array, *tables: Any) -> Any:
        """As ``gnrs_ppl.inference.moves.propose``, for a block of chains and tables that are references."""
        ends, offers, left_outs, cells, threshold, targets, log_weight = tables
        options, pairs = self.options, self.of_one * self.options
        move = sum((first >> 16 >= end).astype(jnp.int32) for end in self.move_ends)
        firsts = np.cumsum([0, *self.entries[:-1]]).tolist()
        entry = _of_move(move, firsts) + _low_half(first, _of_move(move, self.entries))
        two = entry >= self.of_one
        ends = _halves(ends[entry])

        def place_of(structure: jax.Array) -> tuple[jax.Array, jax.Array]:
            alone = entry * options + option_of(structure, ends[0], options)
            together = pairs + (alone - pairs) * options + option_of(structure, ends[1], options)
            return jnp.where(two, 0, alone), jnp.where(two, together, alone)

        place, before = place_of(position)
        count, column = _halves(offers[place])
        after, left_out = _halves(left_outs[place])
        joint = jnp.where(two, entry - self.of_one, 0)
        count = jnp.where(two, cells[joint].astype(jnp.int32), count)
        column = jnp.where(two, joint * (options - 1) * options, column)
        after = jnp.where(two, count, after)
        drawn, rest = choose(second, count.astype(jnp.uint32), options**2)
        drawn = drawn.astype(jnp.int32)
        column = column + entry * options + drawn + jnp.where(drawn >= after, left_out, 0)
        high, low = _halves(targets[2 * column + (second >= threshold[column]).astype(jnp.int32)])
        option = high + choose(rest, low.astype(jnp.uint32), options)[0].astype(jnp.int32)
        new = jnp.where(two, high, option), jnp.where(two, low, option)
        there = jnp.where(count == 0, position, with_options(position, ends, new, options))
        return there, log_weight[before] - log_weight[place_of(there)[1]]
