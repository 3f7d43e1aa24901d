"""The paper's four edits of a structure, each with its own Hastings term (paper, Structured search; DESIGN
section 4).

A move is a function of (words, tables, position) that returns a candidate position and its acceptance ratio
without the scores. It is pure, works under ``jax.vmap``, and never leaves the space; where it has nowhere to
go it returns the position. All four read one table (:class:`~gnrs_ppl.models.space.Edits`), so
that a step in which every chain draws its own move makes one set of look-ups, not four.

Random bits: a step takes ``WORDS`` = 3 independent uint32 words, and no bit decides two things.

====  =============================================================================================
word  decides
====  =============================================================================================
0     high half: which move. Low half: which variable, swap entry or joint entry ("entry" below).
1     which option: the candidate first, then (what is left of the word) its parameter tuple; or the
      pair of options of a joint entry.
2     acceptance.
====  =============================================================================================

Bias. A choice among n takes the high part of word * n and leaves the low part, so each option (each pair of
candidate and tuple, n being the candidates times that candidate's tuples) has a probability within 2^-32 of
its due: relative error n * 2^-32, 2.4e-6 at n = 10^4. So has each pair of a joint entry
(:func:`~gnrs_ppl.models.space.alias_table`): relative error 2^-32 / (p0(t) R[t, e]). Move and entry are
chosen from 16 bits, within 2^-16 of their due; they do not look at the state, so this changes how often an
edit is tried and nothing of what is sampled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.xla_metadata import set_xla_metadata
from jaxtyping import Float, Int, UInt32

from gnrs_ppl.errors import InputError
from gnrs_ppl.models.energy import Tables
from gnrs_ppl.models.packed import option_of, with_options
from gnrs_ppl.models.space import AnyArray, Edits, look_up

WORDS = 3
"""uint32 words a step takes."""


class MoveProposal(NamedTuple):
    """Where a move wants to go.

    Attributes
    ----------
    position : (V,) int32, or () uint32
        As the position that it is from: a vector, or packed.
    variables : two of () int32
        Those that change, one twice where it is one.
    log_ratio : () float
        log q(reverse) - log q(forward) + log p0(there) - log p0(here). It comes from one table, where what
        cancels is zero: everything for replacements and parameter edits.
    """

    position: Int[jax.Array, "*V"]
    variables: tuple[Int[jax.Array, ""], Int[jax.Array, ""]]
    log_ratio: Float[jax.Array, ""]


Move = Callable[[UInt32[jax.Array, " 3"], Tables, Int[jax.Array, " V"]], MoveProposal]


def apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """The same function, compiled as a call of its own on CPUs.

    Left alone, XLA repeats the arithmetic of a proposal in everything that reads it, and a step takes 2 to 3
    times as long.
    """
    if jax.default_backend() != "cpu":
        return function(*arguments)
    with set_xla_metadata(inlineable="false"):  # type: ignore[no-untyped-call]
        return _compiled(function)(*arguments)


@cache
def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    def inside(*arguments: Any) -> Any:
        with set_xla_metadata(inlineable="true"):  # type: ignore[no-untyped-call]  # what it calls itself
            return function(*arguments)

    return jax.jit(inside)


def choose(
    word: UInt32[jax.Array, ""], count: UInt32[jax.Array, ""], most: int = 2**32 - 1
) -> tuple[UInt32[jax.Array, ""], UInt32[jax.Array, ""]]:
    """One of ``count`` alternatives, floor(word * count / 2^32), and the rest of the product as a word to go
    on with. Fewer products do where there are at ``most`` fewer than 2^16.
    """
    high, low = word >> 16, word & 0xFFFF
    if most < 2**16:
        return high * count + (low * count >> 16) >> 16, word * count
    # jax.lax.mulhi does not compile for several devices (jax 0.10.2)
    by_low, by_high = count & 0xFFFF, count >> 16
    middle = high * by_low + (low * by_low >> 16)
    return high * by_high + (middle >> 16) + ((low * by_high + (middle & 0xFFFF)) >> 16), word * count


def propose(
    words: UInt32[jax.Array, " 3"],
    tables: Tables,
    position: Int[jax.Array, "*V"],
    move: int | Int[jax.Array, ""],
) -> MoveProposal:
    """What the move of that number proposes; what it is stands with each of them."""
    edits = tables.edits
    there, ends, here, gone = apart(_change, words, edits, tables.swaps.variables, position, move)
    log_ratio = look_up(edits.log_weight, here) - look_up(edits.log_weight, gone)
    return MoveProposal(there, _halves(ends), log_ratio)


def _change(
    words: UInt32[jax.Array, " 3"],
    edits: Edits,
    swaps: Int[jax.Array, " S"],
    position: Int[jax.Array, "*V"],
    move: Int[jax.Array, ""],
) -> tuple[Int[jax.Array, "*V"], UInt32[jax.Array, ""], Int[jax.Array, ""], Int[jax.Array, ""]]:
    """Draw an entry, one of its columns, and the options there: where that leads, halves of the two
    variables that change (one twice where it is one), and the places of the weights before and after.
    """
    of_one, options = edits.offers.shape
    joints = len(edits.cells)
    variables = (of_one - max(len(swaps), 1) - (not joints)) // 2
    entries = [variables, variables, max(len(swaps), 1), max(joints, 1)]
    firsts = [0, *np.cumsum(entries)[:-1].tolist()]
    entry = _made_once(_of_move(move, firsts) + _low_half(words[0], _of_move(move, entries)))
    ends = _made_once(look_up(edits.ends, entry))
    first, second = _halves(ends)
    two = (entry >= of_one) & bool(joints)

    def place_of(structure: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Of the options there: among those of one variable, and among all weights."""
        alone = entry * options + option_of(structure, first, options)
        if not joints:
            return alone, alone
        pairs = of_one * options  # where their weights begin
        together = pairs + (alone - pairs) * options + option_of(structure, second, options)
        return jnp.where(two, 0, alone), jnp.where(two, together, alone)

    place, before = place_of(position)
    place = _made_once(place)
    count, column = _halves(_made_once(look_up(edits.offers.ravel(), place)))
    after, left_out = _halves(look_up(edits.left_out.ravel(), place))
    if joints:
        count = jnp.where(
            two, look_up(edits.cells, jnp.where(two, entry - of_one, 0)).astype(jnp.int32), count
        )
        column = jnp.where(two, (entry - of_one) * (options - 1) * options, column)
        after = jnp.where(two, count, after)
    drawn, rest = choose(words[1], count.astype(jnp.uint32), options**2 if joints else options)
    skipping = drawn.astype(jnp.int32)
    column += entry * options + skipping + jnp.where(skipping >= after, left_out, 0)
    other = words[1] >= look_up(edits.threshold, column)
    target = _made_once(look_up(edits.targets.ravel(), 2 * column + other.astype(jnp.int32)))
    high, low = _halves(target)
    option = high + choose(rest, low.astype(jnp.uint32), options)[0].astype(jnp.int32)
    new = jnp.where(two, high, option), jnp.where(two, low, option)
    there = jnp.where(count == 0, position, with_options(position, (first, second), new, options))
    there = _made_once(there)
    return there, ends, before, place_of(there)[1]


def _made_once(value: jax.Array) -> jax.Array:
    """The same, which XLA would else make anew for each that reads it."""
    kept: jax.Array = apart(jnp.asarray, value)
    return kept


def _of_move(move: Int[jax.Array, ""], numbers: Sequence[Any]) -> Int[jax.Array, ""]:
    chosen = jnp.asarray(numbers[-1], jnp.int32)
    for which, number in enumerate(numbers[:-1]):
        chosen = jnp.where(move == which, number, chosen)
    return chosen


def _low_half(word: UInt32[jax.Array, ""], count: Int[jax.Array, ""]) -> Int[jax.Array, ""]:
    """One of ``count``, from the low half of the word."""
    return ((word & 0xFFFF) * count.astype(jnp.uint32) >> 16).astype(jnp.int32)


def _halves(word: UInt32[jax.Array, ""]) -> tuple[Int[jax.Array, ""], Int[jax.Array, ""]]:
    return (word >> 16).astype(jnp.int32), (word & 0xFFFF).astype(jnp.int32)


def replace_option(
    words: UInt32[jax.Array, " 3"], tables: Tables, position: Int[jax.Array, " V"]
) -> MoveProposal:
    """Single-slot replacement: a variable, another candidate of it, one of that candidate's parameter tuples,
    each uniformly.

    q(forward) = 1/V * 1/(C - 1) * 1/n(c'), so the Hastings term is log n(c') - log n(c), n counting parameter
    tuples.
    """
    return propose(words, tables, position, 0)


def edit_parameters(
    words: UInt32[jax.Array, " 3"], tables: Tables, position: Int[jax.Array, " V"]
) -> MoveProposal:
    """Parameter-only edit: a variable, another parameter tuple of the same candidate, both uniformly;
    symmetric.
    """
    return propose(words, tables, position, 1)


def swap_evidence(
    words: UInt32[jax.Array, " 3"], tables: Tables, position: Int[jax.Array, " V"]
) -> MoveProposal:
    """Evidence-policy swap: a swap entry, another option of the same group that belongs to another candidate,
    both uniformly.

    Hastings: log partners(o) - log partners(o'); zero where every candidate has one option a group.
    """
    return propose(words, tables, position, 2)


def edit_jointly(
    words: UInt32[jax.Array, " 3"], tables: Tables, position: Int[jax.Array, " V"]
) -> MoveProposal:
    """Trigger-evidence edit: a joint entry (t, e) uniformly, t' from p0, e' from row t' of the entry's table
    R; drawn together.

    Hastings: log p0(t) + log R[t, e] - log p0(t') - log R[t', e'].
    """
    # paper, Structured search: the acceptance rule there has no Hastings term; without it this edit would not
    # leave p(a | x) in place
    return propose(words, tables, position, 3)


MOVES: dict[str, Move] = {
    "single-slot replacement": replace_option,
    "parameter-only edit": edit_parameters,
    "evidence-policy swap": swap_evidence,
    "trigger-evidence edit": edit_jointly,
}
"""The paper's moves in its order; a move's number is its place here."""

MOVE_PROBABILITIES = (0.4, 0.2, 0.2, 0.2)
"""How often each move is tried. The paper gives no figures. Replacement alone reaches every candidate of
every variable, and with the parameter edit every option, so it has twice the share of the three that refine.
The choice does not look at the state, so no Hastings correction is needed. Where a move goes nowhere in a
whole space the others have its share (:func:`acting_shares`); shares that are given stay as they are.
"""


def acting_shares(edits: Edits) -> Float[AnyArray, " 4"]:
    """``MOVE_PROBABILITIES`` of the moves that go anywhere in a space, scaled to sum to one; all of them
    where none does.
    """
    due = (edits.acts | ~edits.acts.any()).astype(float) * np.array(MOVE_PROBABILITIES)
    return due / due.sum()


def require_probabilities(move_probabilities: Sequence[float]) -> None:
    """Refuse what does not say how often each of ``MOVES`` is tried.

    Raises
    ------
    InputError
    """
    if (
        len(move_probabilities) != len(MOVES)
        or min(move_probabilities) < 0
        or abs(sum(move_probabilities) - 1) > 1e-9
    ):
        problem = f"{move_probabilities} are not {len(MOVES)} probabilities that sum to one"
        raise InputError(
            problem,
            f"give one for each of {', '.join(MOVES)}",
            source="arguments",
            field="move_probabilities",
        )
