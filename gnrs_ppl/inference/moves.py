"""The paper's four edits of a structure, each with its own Hastings term (paper, Structured search; DESIGN section 4).

A move is a function of (words, tables, position) that returns a candidate position and log q(reverse) - log q(forward) for that
move alone. It is pure, works under ``jax.vmap``, and never leaves the space; where it has nowhere to go it returns the position.

Random bits: a step takes ``WORDS`` = 4 independent uint32 words, and no bit decides two things.

====  =============================================================================================
word  decides
====  =============================================================================================
0     high half: which move. Low half: which variable, swap entry or joint entry ("entry" below).
1     which option: the candidate first, then (what is left of the word) its parameter tuple.
2     which e in the row of a joint table.
3     acceptance.
====  =============================================================================================

Bias. A choice among n takes the high part of word * n and leaves the low part, so each option (each pair of candidate and tuple,
n being the candidates times that candidate's tuples) has a probability within 2^-32 of its due: relative error n * 2^-32, 2.4e-6 at
n = 10^4. Rows of joint tables are whole multiples of 2^-32 and drawn exactly. Move and entry are chosen from 16 bits, within 2^-16
of their due; they do not look at the state, so this changes how often an edit is tried and nothing of what is sampled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int, UInt32

from gnrs_ppl.models.energy import Tables
from gnrs_ppl.models.space import look_up

WORDS = 4
"""uint32 words a step takes."""


class Proposal(NamedTuple):
    """Where a move wants to go: position (V,) int32, log_hastings () float = log q(reverse) - log q(forward)."""

    position: Int[jax.Array, " V"]
    log_hastings: Float[jax.Array, ""]


Move = Callable[[UInt32[jax.Array, " 4"], Tables, Int[jax.Array, " V"]], Proposal]


def choose(word: UInt32[jax.Array, ""], count: Int[jax.Array, ""]) -> tuple[Int[jax.Array, ""], UInt32[jax.Array, ""]]:
    """One of ``count`` (1 to 65535) alternatives, floor(word * count / 2^32), and the rest of the product as a word to go on with."""
    n = count.astype(jnp.uint32)
    high = ((word >> 16) * n + (((word & 0xFFFF) * n) >> 16)) >> 16
    return high.astype(jnp.int32), word * n


def _entry(words: UInt32[jax.Array, " 4"], count: int) -> Int[jax.Array, ""]:
    """One of ``count`` entries, from the low half of the first word."""
    return (((words[0] & 0xFFFF) * np.uint32(count)) >> 16).astype(jnp.int32)


def _set(position: Int[jax.Array, " V"], variable: Int[jax.Array, ""], option: Int[jax.Array, ""]) -> Int[jax.Array, " V"]:
    return jnp.where(np.arange(position.shape[0], dtype=np.int32) == variable, option, position)


def _log_ratio(numerator: Int[jax.Array, ""], denominator: Int[jax.Array, ""]) -> Float[jax.Array, ""]:
    return jnp.log(numerator.astype(float)) - jnp.log(denominator.astype(float))


def _stay(position: Int[jax.Array, " V"]) -> Proposal:
    return Proposal(position, jnp.zeros((), float))


def replace_option(words: UInt32[jax.Array, " 4"], tables: Tables, position: Int[jax.Array, " V"]) -> Proposal:
    """Single-slot replacement: a variable, another candidate of it, one of that candidate's parameter tuples, each uniformly.

    q(forward) = 1/V * 1/(C - 1) * 1/n(c'), so the Hastings term is log n(c') - log n(c), n counting parameter tuples.
    """
    lookup = tables.lookup
    variable = _entry(words, position.shape[0])
    option = look_up(position, variable)
    current = look_up(tables.candidate, variable, option)
    others = look_up(lookup.candidates, variable) - 1
    skipping, rest = choose(words[1], jnp.maximum(others, 1))
    other = jnp.where(others == 0, current, skipping + (skipping >= current).astype(jnp.int32))
    tuples = look_up(lookup.tuples, variable, other)
    chosen, _ = choose(rest, tuples)
    replacement = jnp.where(others == 0, option, look_up(lookup.start, variable, other) + chosen)
    return Proposal(_set(position, variable, replacement), _log_ratio(tuples, look_up(lookup.tuples, variable, current)))


def edit_parameters(words: UInt32[jax.Array, " 4"], tables: Tables, position: Int[jax.Array, " V"]) -> Proposal:
    """Parameter-only edit: a variable, another parameter tuple of the same candidate, both uniformly; symmetric."""
    variable = _entry(words, position.shape[0])
    option = look_up(position, variable)
    current = look_up(tables.candidate, variable, option)
    start, others = look_up(tables.lookup.start, variable, current), look_up(tables.lookup.tuples, variable, current) - 1
    skipping, _ = choose(words[1], jnp.maximum(others, 1))
    edited = start + skipping + (start + skipping >= option).astype(jnp.int32)
    return Proposal(_set(position, variable, jnp.where(others == 0, option, edited)), jnp.zeros((), float))


def swap_evidence(words: UInt32[jax.Array, " 4"], tables: Tables, position: Int[jax.Array, " V"]) -> Proposal:
    """Evidence-policy swap: a swap entry, another option of the same group that belongs to another candidate, both uniformly.

    Hastings: log partners(o) - log partners(o'); zero where every candidate has one option a group.
    """
    swaps = tables.swaps
    if swaps.variables.shape[0] == 0:
        return _stay(position)
    entry = _entry(words, swaps.variables.shape[0])
    variable = look_up(swaps.variables, entry)
    option = look_up(position, variable)
    partners, own_offset = look_up(swaps.partners, entry, option), look_up(swaps.own_offset, entry, option)
    skipping, _ = choose(words[1], jnp.maximum(partners, 1))
    skipped = jnp.where((partners > 0) & (skipping >= own_offset), look_up(swaps.own_size, entry, option), 0)
    other = look_up(swaps.order, entry, look_up(swaps.group_start, entry, option) + skipping + skipped)
    swapped = jnp.where(partners == 0, option, other)
    ways, ways_back = jnp.maximum(partners, 1), jnp.maximum(look_up(swaps.partners, entry, swapped), 1)
    return Proposal(_set(position, variable, swapped), _log_ratio(ways, ways_back))


def edit_jointly(words: UInt32[jax.Array, " 4"], tables: Tables, position: Int[jax.Array, " V"]) -> Proposal:
    """Trigger-evidence edit: a joint entry (t, e) uniformly, t' from p0, e' from row t' of the entry's table R.

    Hastings: log p0(t) + log R[t, e] - log p0(t') - log R[t', e'].
    """
    joints, lookup = tables.joints, tables.lookup
    if joints.variables.shape[0] == 0:
        return _stay(position)
    entry = _entry(words, joints.variables.shape[0])
    trigger, evidence = look_up(joints.variables, entry, 0), look_up(joints.variables, entry, 1)
    candidate, rest = choose(words[1], look_up(lookup.candidates, trigger))
    chosen, _ = choose(rest, look_up(lookup.tuples, trigger, candidate))
    new_trigger = look_up(lookup.start, trigger, candidate) + chosen
    passed = look_up(joints.cumulative, entry, new_trigger) <= words[2]
    new_evidence = jnp.minimum(passed.sum(dtype=jnp.int32), look_up(tables.sizes, evidence) - 1)
    old_trigger, old_evidence = look_up(position, trigger), look_up(position, evidence)
    # paper, Structured search: the acceptance rule there has no Hastings term; without it this edit would not leave p(a | x) in place
    log_hastings = (
        look_up(tables.log_prior, trigger, old_trigger)
        + look_up(joints.log_table, entry, old_trigger, old_evidence)
        - look_up(tables.log_prior, trigger, new_trigger)
        - look_up(joints.log_table, entry, new_trigger, new_evidence)
    )
    return Proposal(_set(_set(position, trigger, new_trigger), evidence, new_evidence), log_hastings)


MOVES: dict[str, Move] = {
    "single-slot replacement": replace_option,
    "parameter-only edit": edit_parameters,
    "evidence-policy swap": swap_evidence,
    "trigger-evidence edit": edit_jointly,
}
"""The paper's moves in its order; a move's number is its place here."""

MOVE_PROBABILITIES = (0.4, 0.2, 0.2, 0.2)
"""How often each move is tried. The paper gives no figures. Replacement alone reaches every candidate of every variable, and with the
parameter edit every option, so it has twice the share of the three that refine. The choice does not look at the state: where a space
has no swaps or joints their share is spent on staying, and no Hastings correction is needed."""
