"""Random words as a function of seed, stream, chain and step: threefry-2x32-20 (Salmon et al. 2011), written
out.

    key of block b = threefry(key (seed, stream), counter (b, 0)),   words of block b = threefry(key of b,
    counter (chain, step));   word of a step = threefry(key (seed, 0), counter (step, 1)), of all chains alike

A block is two words, and both are used. Nothing else enters, so that a chain draws the same numbers however
many chains, steps, devices or observers there are. Written out they are made in the loop that uses them;
JAX's own bits are a rolled loop on CPUs, and use one word of the two.

Examples
--------
>>> [hex(int(word)) for word in threefry((0, 0), (0, 0))]
['0x6b200159', '0x99ba4efe']
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int, UInt32

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
"""Of four rounds each, by turns (Salmon et al. 2011, table 2)."""
PARITY = 0x1BD11BDA

Pair = tuple[Any, Any]
"""Two uint32 words, or arrays of them."""


def threefry(key: Pair, counter: Pair) -> Pair:
    """Two words of twenty rounds."""
    keys = [jnp.asarray(part, jnp.uint32) for part in key]
    keys.append(keys[0] ^ keys[1] ^ np.uint32(PARITY))
    first, second = (jnp.asarray(part, jnp.uint32) for part in counter)
    first, second = first + keys[0], second + keys[1]
    for turn in range(5):
        for bits in ROTATIONS[turn % 2]:
            first = first + second
            second = (second << np.uint32(bits) | second >> np.uint32(32 - bits)) ^ first
        first = first + keys[(turn + 1) % 3]
        second = second + keys[(turn + 2) % 3] + np.uint32(turn + 1)
    return first, second


def word_of(
    run: Pair, chains: UInt32[jax.Array, " C"], step: Int[jax.Array, ""], number: int
) -> UInt32[jax.Array, " C"]:
    """A word that a step of each chain takes.

    Parameters
    ----------
    run : two of () uint32
        Seed and stream.
    chains : (C,) uint32
        Numbers of the chains.
    step : () int
        Number of the step.
    number : int
        Which of a chain's words.
    """
    block, half = divmod(number, 2)
    word: jax.Array = threefry(threefry(run, (np.uint32(block), np.uint32(0))), (chains, step))[half]
    return word


def word_of_step(seed: UInt32[jax.Array, ""], step: Int[jax.Array, ""]) -> UInt32[jax.Array, ""]:
    """The word that every chain of every space of a run reads alike in a step."""
    word: jax.Array = threefry((seed, np.uint32(0)), (step, np.uint32(1)))[0]
    return word
