"""The rule space: an And-Or Graph compiled to a factor graph over categorical variables with sparse pairs
(paper, Method).

AND node: all variables take a value. OR node: one *option* of one variable, a (candidate, parameter tuple)
pair flattened to one index. Horizontal relations: pairwise tables. A rule has five variables; several
interacting rules are the same object with more.

Examples
--------
>>> space = build_space(candidates=[[0, 1], [0, 0]], unary=[[[0.5], [0.0]], [[0.5], [0.25]]])
>>> space.sizes.tolist(), space.lookup.candidates.tolist()
([2, 2], [2, 1])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int, UInt32
from numpy.typing import ArrayLike, NDArray

from gnrs_ppl.errors import InputError

AnyArray: TypeAlias = np.ndarray | jax.Array
"""A NumPy array as built on the host, or a JAX array inside a compiled function."""

PADDING = -1e30
"""Log probability of an option that does not exist: finite (inf - inf is NaN), and exp of it is 0 in float32
too."""
LARGEST_VARIABLE = 2**16 - 1
"""Most options a variable may have, and most variables: the moves multiply such counts by 16-bit halves of a
word."""
ROW_UNITS = 2**32
"""Rows of a joint table are whole multiples of 1/ROW_UNITS, and its pairs are drawn with whole multiples: as
many as there are words."""
FEW_VARIABLES = 8
"""Up to so many variables every one has room for a pair with each other."""
SAME_WEIGHT = 1e-12
"""Logarithms of weights this near are one, summed in another order."""
SUM_TOLERANCE = 1e-6
"""How far a row may be from one, and a feature from [0, 1], before it is refused."""


def look_up(table: AnyArray, *index: Any) -> jax.Array:
    """``table[index]`` without the checks for negative and outside indices that JAX puts before each
    look-up.
    """
    return jnp.asarray(table).at[index].get(mode="promise_in_bounds", wrap_negative_indices=False)


class Swaps(NamedTuple):
    """Variables whose options can be exchanged inside a group: evidence policies of equal (operator, k).

    The partners of an option are the options of its group that belong to another candidate. ``order`` lists
    the options by (group, candidate, option), so partners are the option's group in that order without its
    own candidate's stretch.

    Attributes
    ----------
    variables : (S,) int
    group : (S, O) int
        Group of each option; -1 where there is no option.
    partners : (S, O) int
        How many partners an option has.
    order : (S, O) int
    group_start : (S, O) int
        Where the option's group begins in ``order``.
    own_offset, own_size : (S, O) int
        Where the option's own candidate stands inside the group, and how many options it has there.
    """

    variables: Int[AnyArray, " S"]
    group: Int[AnyArray, "S O"]
    partners: Int[AnyArray, "S O"]
    order: Int[AnyArray, "S O"]
    group_start: Int[AnyArray, "S O"]
    own_offset: Int[AnyArray, "S O"]
    own_size: Int[AnyArray, "S O"]


class Joints(NamedTuple):
    """Pairs of variables (t, e) that can be edited together.

    Attributes
    ----------
    variables : (J, 2) int
    table : (J, O, O) float
        Row t is a distribution over e, every entry positive and a whole multiple of 1/ROW_UNITS; 0 where
        there is no option.
    log_table : (J, O, O) float
        Its logarithm; ``PADDING`` where there is no option.
    """

    variables: Int[AnyArray, "J 2"]
    table: Float[AnyArray, "J O O"]
    log_table: Float[AnyArray, "J O O"]


class Lookup(NamedTuple):
    """Where a candidate's options stand: they are contiguous, ``start`` to ``start + tuples``.

    Attributes
    ----------
    candidates : (V,) int
        Number of candidates of a variable.
    start, tuples : (V, O) int
        First option and number of options (parameter tuples) of each candidate; 0 and 1 where there is no
        candidate.
    """

    candidates: Int[AnyArray, " V"]
    start: Int[AnyArray, "V O"]
    tuples: Int[AnyArray, "V O"]


class Edits(NamedTuple):
    """The paper's four edits as one table, so that a step makes one set of look-ups whichever it draws.

    An *entry* is what an edit may change: each variable for replacements, each again for parameter edits,
    each swap entry, each joint entry, in this order; an edit without any has one that stays. The E entries of
    one variable have O *columns* each, which say where the edit goes; at option o of its variable an entry
    offers some of them. After these columns the J joint entries have O O each, and offer all that there are.
    *Halves* are two 16-bit numbers in a word, the first of them high.

    Attributes
    ----------
    ends : (E + J,) uint32
        Halves: the two variables of an entry, one twice where it is one.
    offers : (E, O) uint32
        Halves: how many columns are offered, 0 where the entry stays; which of its columns is the first.
    left_out : (E, O) uint32
        Halves: after how many columns some are left out, and how many.
    cells : (J,) uint32
        How many columns a joint entry has.
    threshold : (N,) uint32
    targets : (N, 2) uint32
        Taken by a word below the threshold, and by another. Halves: the first of the options to choose from,
        and how many they are; for two variables the option of each.
    acts : (4,) bool
        Whether an edit of each kind goes anywhere at all.
    log_weight : (T,) float
        For each option of the entries of one variable, then for each two options (J O O) of the joint
        entries. The weight of where a chain stands minus that of where it goes is log q(reverse) - log
        q(forward) + log p0(there) - log p0(here). Replacements and parameter edits draw from a uniform p0, so
        theirs are all zero but in a space that was :func:`~gnrs_ppl.models.space.restricted`.
    """

    ends: UInt32[AnyArray, " E+J"]
    offers: UInt32[AnyArray, "E O"]
    left_out: UInt32[AnyArray, "E O"]
    cells: UInt32[AnyArray, " J"]
    threshold: UInt32[AnyArray, " N"]
    targets: UInt32[AnyArray, "N 2"]
    acts: Bool[AnyArray, " 4"]
    log_weight: Float[AnyArray, " T"]


class Beside(NamedTuple):
    """The pairs of each variable, so that a change of one looks at these alone; D as many as any has, or more
    for room.

    Attributes
    ----------
    pairs : (V, D) int
        Number of the pair.
    others : (V, D) int
        The other variable.
    turned : (V, D) bool
        Whether the variable is the right one of the pair.
    there : (V, D) bool
        Whether there is a pair.
    """

    pairs: Int[AnyArray, "V D"]
    others: Int[AnyArray, "V D"]
    turned: Bool[AnyArray, "V D"]
    there: Bool[AnyArray, "V D"]


class RuleSpace(NamedTuple):
    """V categorical variables, P pairs, F features, padded to O options (DESIGN section 3).

    Attributes
    ----------
    sizes : (V,) int
        Number of options of each variable.
    candidate : (V, O) int
        Dense candidate index of each option; 0 where there is no option.
    log_prior : (V, O) float
        log p0: uniform over a variable's candidates, then over the candidate's parameter tuples, or that
        conditioned on some options; ``PADDING`` where there is no option.
    unary : (V, O, F) float
        Contribution of an option to each feature; 0 where there is no option.
    unary_flags : (V, O) bool
        Whether an option alone breaks a hard condition.
    pairs : (P, 2) int
        Variables (left, right) of each pair; padding pairs are (0, 0) with tables of zeros.
    pairwise : (P, O, O, F) float
    pair_flags : (P, O, O) bool
    swaps : Swaps
    joints : Joints
    lookup : Lookup
    edits : Edits
    beside : Beside
    """

    sizes: Int[AnyArray, " V"]
    candidate: Int[AnyArray, "V O"]
    log_prior: Float[AnyArray, "V O"]
    unary: Float[AnyArray, "V O F"]
    unary_flags: Bool[AnyArray, "V O"]
    pairs: Int[AnyArray, "P 2"]
    pairwise: Float[AnyArray, "P O O F"]
    pair_flags: Bool[AnyArray, "P O O"]
    swaps: Swaps
    joints: Joints
    lookup: Lookup
    edits: Edits
    beside: Beside


def build_space(
    candidates: Sequence[Sequence[int]],
    unary: Sequence[ArrayLike],
    pairwise: Mapping[tuple[int, int], ArrayLike] | None = None,
    unary_flags: Mapping[int, ArrayLike] | None = None,
    pair_flags: Mapping[tuple[int, int], ArrayLike] | None = None,
    swaps: Mapping[int, Sequence[int]] | None = None,
    joints: Mapping[tuple[int, int], ArrayLike] | None = None,
    *,
    prior: Sequence[ArrayLike] | None = None,
    pad_options: int | None = None,
    pad_pairs: int | None = None,
) -> RuleSpace:
    """Check ragged tables and pad them into a :class:`RuleSpace` of NumPy arrays (float64, int32, bool).

    Parameters
    ----------
    candidates : per variable, sequence of int
        Dense candidate index of each option (0, 1, 2, ... in order of appearance, a candidate's options side
        by side).
    unary : per variable, (n, F) float
        Feature contributions of each option.
    pairwise : {(left, right): (n_left, n_right, F) float}, left < right
        Feature contributions of pairs of options; absent pairs contribute nothing.
    unary_flags : {variable: (n,) bool}
        Hard conditions that an option breaks alone; absent variables break none.
    pair_flags : {(left, right): (n_left, n_right) bool}, left < right
        Hard conditions that two options break together.
    swaps : {variable: (n,) int}
        Group of each option; options of one group may be exchanged when they belong to different candidates.
    joints : {(t, e): (n_t, n_e) float}
        Positive rows that sum to one.
    prior : per variable, (n,) float, optional
        p0 of each option, positive, equal among the options of a candidate; scaled to sum to one. Uniform
        over candidates, then over a candidate's options, unless given.
    pad_options, pad_pairs : int, optional
        O and P to pad to, so that spaces of different contexts share one compiled kernel.

    Raises
    ------
    InputError
        Naming the table: wrong shape, not finite, candidates out of order, a feature that can leave [0, 1],
        rows that do not sum to one or with an entry below 1/ROW_UNITS, padding too small.
    """
    sizes = [len(indices) for indices in candidates]
    _check_sizes(sizes, len(unary))
    tables = [
        _finite(f"unary[{v}]", table, (size, None))
        for v, (table, size) in enumerate(zip(unary, sizes, strict=True))
    ]
    features = tables[0].shape[1]
    tables = [
        _finite(f"unary[{v}]", table, (size, features))
        for v, (table, size) in enumerate(zip(tables, sizes, strict=True))
    ]
    pairwise, pair_flags, unary_flags = pairwise or {}, pair_flags or {}, unary_flags or {}
    pairs = sorted({*pairwise, *pair_flags})
    for pair in pairs:
        if not 0 <= pair[0] < pair[1] < len(sizes):
            raise _refusal(
                f"pair {pair}", f"there are {len(sizes)} variables", "name two of them, the smaller first"
            )
    options = _padded("pad_options", pad_options, max(sizes))
    padded_pairs = _padded("pad_pairs", pad_pairs, len(pairs))

    unary_padded = np.zeros((len(sizes), options, features))
    unary_flags_padded = np.zeros((len(sizes), options), bool)
    for v, size in enumerate(sizes):
        unary_padded[v, :size] = tables[v]
        if v in unary_flags:
            unary_flags_padded[v, :size] = _flags(f"unary_flags[{v}]", unary_flags[v], (size,))
    if stray := sorted(set(unary_flags) - set(range(len(sizes)))):
        raise _refusal(f"unary_flags[{stray[0]}]", f"there are {len(sizes)} variables", "number them from 0")

    pairwise_padded = np.zeros((padded_pairs, options, options, features))
    pair_flags_padded = np.zeros((padded_pairs, options, options), bool)
    for p, (left, right) in enumerate(pairs):
        shape = (sizes[left], sizes[right])
        if (left, right) in pairwise:
            pairwise_padded[p, : shape[0], : shape[1]] = _finite(
                f"pairwise[{left}, {right}]", pairwise[left, right], (*shape, features)
            )
        if (left, right) in pair_flags:
            pair_flags_padded[p, : shape[0], : shape[1]] = _flags(
                f"pair_flags[{left}, {right}]", pair_flags[left, right], shape
            )
    _check_range(tables, pairwise_padded, pairs, sizes)

    candidate, lookup, log_prior = _candidates(candidates, options)
    for v, given in enumerate(prior or ()):
        p0 = _finite(f"prior[{v}]", given, (sizes[v],))
        log_prior[v, : sizes[v]] = np.log(p0 / p0.sum())
    swap_tables, joint_tables = _swaps(swaps or {}, candidate, sizes), _joints(joints or {}, sizes, options)
    pair_numbers = np.array([*pairs, *[(0, 0)] * (padded_pairs - len(pairs))], np.int32).reshape(-1, 2)
    room = room_beside(len(sizes), padded_pairs)
    return RuleSpace(
        sizes=np.array(sizes, np.int32),
        candidate=candidate,
        log_prior=log_prior,
        unary=unary_padded,
        unary_flags=unary_flags_padded,
        pairs=pair_numbers,
        pairwise=pairwise_padded,
        pair_flags=pair_flags_padded,
        swaps=swap_tables,
        joints=joint_tables,
        lookup=lookup,
        edits=build_edits(np.array(sizes), candidate, log_prior, swap_tables, joint_tables, lookup),
        beside=build_beside(pair_numbers, len(sizes), room),
    )


def restricted(space: RuleSpace, kept: Sequence[Sequence[int]]) -> RuleSpace:
    """The space of some options of each variable: p0 is conditioned on them, all tables stay as they were.

    Parameters
    ----------
    space : RuleSpace
        Of NumPy arrays.
    kept : per variable, indices of options in order, at least one

    Raises
    ------
    InputError
        A variable would have no option.
    """
    chosen = [np.asarray(options, np.int64) for options in kept]

    def joint(j: int, t: int, e: int) -> NDArray[np.float64]:
        rows: NDArray[np.float64] = np.asarray(space.joints.table)[j][np.ix_(chosen[t], chosen[e])]
        return np.asarray(rows / rows.sum(1, keepdims=True))

    _check_sizes([len(options) for options in chosen], len(chosen))
    pairs = {
        (left, right): p for p, (left, right) in enumerate(np.asarray(space.pairs).tolist()) if left != right
    }
    joints = [(int(t), int(e)) for t, e in np.asarray(space.joints.variables)]
    swaps = [int(v) for v in np.asarray(space.swaps.variables)]
    cells = {pair: (p, *np.ix_(chosen[pair[0]], chosen[pair[1]])) for pair, p in pairs.items()}
    return build_space(
        candidates=[
            np.unique(space.candidate[v, options], return_inverse=True)[1].ravel().tolist()
            for v, options in enumerate(chosen)
        ],
        unary=[np.asarray(space.unary)[v, options] for v, options in enumerate(chosen)],
        pairwise={pair: np.asarray(space.pairwise)[cell] for pair, cell in cells.items()},
        unary_flags={v: np.asarray(space.unary_flags)[v, options] for v, options in enumerate(chosen)},
        pair_flags={pair: np.asarray(space.pair_flags)[cell] for pair, cell in cells.items()},
        swaps={v: np.asarray(space.swaps.group)[s, chosen[v]].tolist() for s, v in enumerate(swaps)},
        joints={(t, e): joint(j, t, e) for j, (t, e) in enumerate(joints)},
        prior=[np.exp(np.asarray(space.log_prior)[v, options]) for v, options in enumerate(chosen)],
    )


class _Edit(NamedTuple):
    """An edit of one variable, a row an entry: a column's first option and how many it has (E, O); and of
    each option the columns it offers, the first, after how many some are left out, how many, and the weight
    (E, O).
    """

    option: AnyArray
    choices: AnyArray
    offers: AnyArray
    first: AnyArray
    after: AnyArray
    left_out: AnyArray
    weight: AnyArray


def build_edits(
    sizes: Int[AnyArray, " V"],
    candidate: Int[AnyArray, "V O"],
    log_prior: Float[AnyArray, "V O"],
    swaps: Swaps,
    joints: Joints,
    lookup: Lookup,
) -> Edits:
    """Make the edits of a space from its NumPy tables; zeros where there is no option."""
    options = candidate.shape[1]
    numbers, none, one = (
        np.broadcast_to(np.arange(options), candidate.shape),
        np.zeros_like(candidate),
        np.ones_like(candidate),
    )
    start, tuples = (
        np.take_along_axis(np.asarray(table), np.asarray(candidate), 1)
        for table in (lookup.start, lookup.tuples)
    )
    partner_weight = np.log(np.maximum(swaps.partners, 1)) - log_prior[swaps.variables]
    # How much likelier replacements and parameter edits arrive at an option than p0 draws it: nowhere, unless
    # p0 was conditioned.
    arrival = -np.log(tuples) - np.log(lookup.candidates)[:, None] - log_prior
    arrival[(np.abs(arrival) < SAME_WEIGHT) | (log_prior <= PADDING)] = 0.0
    stay = _Edit(*[np.zeros((1, options), np.int32)] * 7)
    replacement = _Edit(
        option=lookup.start,
        choices=lookup.tuples,
        offers=lookup.candidates[:, None] - one,
        first=none,
        after=candidate,
        left_out=one,
        weight=arrival,
    )
    parameters = _Edit(
        option=numbers,
        choices=one,
        offers=tuples - 1,
        first=start,
        after=numbers - start,
        left_out=one,
        weight=arrival,
    )
    swap = _Edit(
        option=swaps.order,
        choices=np.ones_like(swaps.order),
        offers=swaps.partners,
        first=swaps.group_start,
        after=swaps.own_offset,
        left_out=swaps.own_size,
        weight=partner_weight,
    )
    edits = [
        replacement,
        parameters,
        swap if len(swaps.variables) else stay,
        *([] if len(joints.variables) else [stay]),
    ]
    of_one = _Edit(*map(np.concatenate, zip(*edits, strict=True)))
    variable = [np.arange(len(sizes))] * 2 + [swaps.variables] * bool(len(swaps.variables))
    there = np.arange(options) < np.asarray(sizes)[np.concatenate(variable)][:, None]
    stays = len(of_one.offers) - len(there)
    there = np.concatenate([there, np.zeros((stays, options), bool)])
    of_one = _Edit(*(np.where(there, leaf, 0) for leaf in of_one))
    columns = _halves(of_one.option, of_one.choices).ravel()
    cells, threshold, targets, pair_weight = _pair_columns(sizes, log_prior, joints)
    ends = np.concatenate([*variable, np.zeros(stays, np.int32)]).astype(np.uint32)
    return Edits(
        ends=np.concatenate([_halves(ends, ends), _halves(*joints.variables.T)]),
        offers=_halves(of_one.offers, of_one.first),
        left_out=_halves(of_one.after, of_one.left_out),
        cells=cells,
        threshold=np.concatenate([np.full(columns.size, ROW_UNITS - 1, np.uint32), threshold.ravel()]),
        targets=np.concatenate([np.stack([columns, columns], 1), targets.reshape(-1, 2)]),
        acts=np.array([*[bool(np.any(edit.offers > 0)) for edit in edits[:3]], bool(np.any(cells > 1))]),
        log_weight=np.concatenate([of_one.weight.ravel(), pair_weight.ravel()]),
    )


def grown(table: AnyArray, shape: tuple[int, ...], fill: float) -> NDArray[Any]:
    """The table in the corner of a larger one."""
    table = np.asarray(table)
    if table.shape == shape:
        return table
    larger = np.full(shape, fill, table.dtype)
    larger[tuple(slice(n) for n in table.shape)] = table
    return larger


def grown_edits(edits: Edits, more: int) -> Edits:
    """The edits with room for more options; none of them changes."""
    entries, options = edits.offers.shape
    joints, room = len(edits.cells), options + more

    def columns(table: AnyArray, fill: int) -> NDArray[Any]:
        ones, pairs = np.split(np.asarray(table), [entries * options])
        rest = table.shape[1:]
        ones = grown(ones.reshape(entries, options, *rest), (entries, room, *rest), fill)
        pairs = grown(pairs.reshape(joints, options**2, *rest), (joints, room**2, *rest), 0)
        return np.concatenate([ones.reshape(-1, *rest), pairs.reshape(-1, *rest)])

    of_one, of_pairs = np.split(np.asarray(edits.log_weight), [entries * options])
    of_one = grown(of_one.reshape(entries, options), (entries, room), 0)
    of_pairs = grown(of_pairs.reshape(joints, options, options), (joints, room, room), 0)
    return edits._replace(
        offers=grown(edits.offers, (entries, room), 0),
        left_out=grown(edits.left_out, (entries, room), 0),
        threshold=columns(edits.threshold, ROW_UNITS - 1),
        targets=columns(edits.targets, 0),
        log_weight=np.concatenate([of_one.ravel(), of_pairs.ravel()]),
    )


def room_beside(variables: int, pairs: int) -> int:
    """Least room for the pairs of a variable: small spaces of a shape share a program."""
    return min(variables - 1, pairs) if variables <= FEW_VARIABLES else 0


def build_beside(pairs: Int[AnyArray, "P 2"], variables: int, room: int = 0) -> Beside:
    """The pairs of each variable from the list of pairs, with room for at least ``room`` of each."""
    pairs = np.asarray(pairs).reshape(-1, 2)
    real = np.flatnonzero(pairs[:, 0] != pairs[:, 1])
    number, turned = np.tile(real, 2), np.repeat([False, True], len(real))
    mine, other = np.concatenate([pairs[real], pairs[real, ::-1]]).T
    order = np.lexsort((number, mine))
    number, turned, mine, other = number[order], turned[order], mine[order], other[order]
    degree = np.bincount(mine, minlength=variables)
    place = mine, np.arange(len(mine)) - (np.cumsum(degree) - degree)[mine]
    shape = (variables, max(int(degree.max(initial=0)), room))
    found = Beside(*(np.zeros(shape, kind) for kind in (np.int32, np.int32, bool, bool)))
    for table, values in zip(found, (number, other, turned, True), strict=True):
        np.asarray(table)[place] = values
    return found


def _halves(high: AnyArray, low: AnyArray) -> NDArray[np.uint32]:
    return np.asarray(high).astype(np.uint32) << np.uint32(16) | np.asarray(low).astype(np.uint32)


def _pair_columns(
    sizes: Int[AnyArray, " V"], log_prior: Float[AnyArray, "V O"], joints: Joints
) -> tuple[NDArray[Any], ...]:
    """Of each joint entry: columns (J,); threshold (J, O O), targets (J, O O, 2), weight (J, O, O)."""
    entries, options = joints.table.shape[:2]
    cells, thresholds = np.zeros(entries, np.uint32), np.zeros((entries, options**2), np.uint32)
    targets, weight = np.zeros((*thresholds.shape, 2), np.uint32), np.zeros(joints.table.shape)
    for j, (t, e) in enumerate(joints.variables):
        here = np.s_[j, : sizes[t], : sizes[e]]
        threshold, other = alias_table((np.exp(log_prior[t, : sizes[t], None]) * joints.table[here]).ravel())
        cell = _halves(*np.indices((int(sizes[t]), int(sizes[e])))).ravel()
        cells[j], thresholds[j, : len(cell)] = len(cell), threshold
        targets[j, : len(cell)] = np.stack([cell, cell[other]], 1)
        weight[here] = joints.log_table[here] - log_prior[e, : sizes[e]]
    return cells, thresholds, targets, weight


def alias_table(
    probabilities: Float[NDArray[np.float64], " n"],
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Walker's alias method in whole words: one of n outcomes from one 32-bit word and one look-up (Walker
    1977).

    Column floor(word * n / 2^32) stands for itself where the word is below its threshold, for ``other`` where
    not. Each outcome has a whole number of words, at least one, and within one of its due (less for the
    greatest, where others are due less than a half).

    Returns
    -------
    threshold : (n,) uint32
    other : (n,) int
    """
    count = len(probabilities)
    ends = np.rint(np.cumsum(probabilities) * (ROW_UNITS / probabilities.sum())).astype(np.int64)
    ends[-1] = ROW_UNITS
    words = np.diff(ends, prepend=0)
    missing = np.maximum(1 - words, 0)
    words += missing
    words[words.argmax()] -= missing.sum()

    starts = -(-np.arange(count + 1, dtype=np.int64) * ROW_UNITS // count)
    room = np.diff(starts) - words
    small, large = np.flatnonzero(room > 0), np.flatnonzero(room <= 0)
    # Large outcomes fill the room of small columns in turn; one that gives more than it has over is helped
    # out by the next.
    asked, given = np.cumsum(np.append(0, room[small])), np.cumsum(-room[large])
    other = np.arange(count)
    other[small] = large[np.searchsorted(given, asked[:-1], side="right")]
    other[large[:-1]] = large[1:]
    own = words.copy()
    own[large] = np.diff(starts)[large] - (asked[np.searchsorted(asked, given)] - given)
    own_end = starts[:-1] + own
    other[own_end == starts[1:]] = np.flatnonzero(own_end == starts[1:])
    return np.minimum(own_end, ROW_UNITS - 1).astype(np.uint32), other


def _refusal(field: str, problem: str, remedy: str) -> InputError:
    return InputError(problem, remedy, source="arguments", field=field)


def _check_sizes(sizes: list[int], unary_tables: int) -> None:
    if not sizes or unary_tables != len(sizes):
        problem = f"{len(sizes)} variable(s), but unary has {unary_tables}"
        raise _refusal("candidates", problem, "give both one entry per variable, at least one")
    for v, size in enumerate(sizes):
        if not 1 <= size <= LARGEST_VARIABLE:
            raise _refusal(f"candidates[{v}]", f"{size} options", f"give a variable 1 to {LARGEST_VARIABLE}")
    if len(sizes) > LARGEST_VARIABLE:
        raise _refusal("candidates", f"{len(sizes)} variables", f"give at most {LARGEST_VARIABLE}")


def _padded(name: str, asked: int | None, needed: int) -> int:
    if asked is not None and asked < needed:
        raise _refusal(name, f"{asked} asked for, {needed} needed", "ask for as many, or leave it out")
    return needed if asked is None else asked


def _finite(name: str, table: ArrayLike, shape: tuple[int | None, ...]) -> NDArray[np.float64]:
    try:
        array = np.asarray(table, np.float64)
    except (ValueError, TypeError) as error:  # ragged, or no number
        raise _refusal(name, str(error), "give one number for each entry") from None
    if array.ndim != len(shape) or any(
        n is not None and n != m for n, m in zip(shape, array.shape, strict=True)
    ):
        wanted = ", ".join("features" if n is None else str(n) for n in shape)
        raise _refusal(name, f"shape {array.shape}, expected ({wanted})", "give a table of that shape")
    if not np.isfinite(array).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise _refusal(name, f"{array[place]} at {place}", "give finite numbers")
    return array


def _flags(name: str, table: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    array = np.asarray(table)
    if array.dtype != np.bool_ or array.shape != shape:
        raise _refusal(
            name,
            f"shape {array.shape} of {array.dtype}, expected {shape} of bool",
            "give a table of that shape",
        )
    return array


def _check_range(
    unary: list[NDArray[np.float64]],
    pairwise: NDArray[np.float64],
    pairs: list[tuple[int, int]],
    sizes: list[int],
) -> None:
    """Each feature stays in [0, 1] for every structure: the tables' least and greatest entries bound it."""
    real = [pairwise[p, : sizes[left], : sizes[right]] for p, (left, right) in enumerate(pairs)]
    entries = [table.reshape(-1, pairwise.shape[-1]) for table in (*unary, *real)]
    least, greatest = (
        np.sum([table.min(0) for table in entries], 0),
        np.sum([table.max(0) for table in entries], 0),
    )
    for f, (low, high) in enumerate(zip(least, greatest, strict=True)):
        if low < -SUM_TOLERANCE or high > 1 + SUM_TOLERANCE:
            problem = f"the tables add up to between {low:.6g} and {high:.6g}, outside [0, 1]"
            raise _refusal(f"feature {f}", problem, "scale its entries in unary and pairwise")


def _candidates(
    candidates: Sequence[Sequence[int]], options: int
) -> tuple[NDArray[np.int32], Lookup, NDArray[np.float64]]:
    variables = len(candidates)
    padded = np.zeros((variables, options), np.int32)
    count = np.zeros(variables, np.int32)
    start, tuples = np.zeros((variables, options), np.int32), np.ones((variables, options), np.int32)
    log_prior = np.full((variables, options), PADDING)
    for v, indices in enumerate(candidates):
        found, first, members = np.unique(
            np.asarray(indices, np.int64), return_index=True, return_counts=True
        )
        if np.any(np.diff(indices) < 0) or found[0] != 0 or found[-1] != len(found) - 1:
            remedy = "number candidates 0, 1, 2, ... and keep a candidate's options side by side"
            raise _refusal(f"candidates[{v}]", "not dense, or not in order", remedy)
        padded[v, : len(indices)] = indices
        count[v] = len(found)
        start[v, : len(found)], tuples[v, : len(found)] = first, members
        log_prior[v, : len(indices)] = -np.log(len(found)) - np.log(members)[list(indices)]
    return padded, Lookup(count, start, tuples), log_prior


def _swaps(swaps: Mapping[int, Sequence[int]], candidate: NDArray[np.int32], sizes: list[int]) -> Swaps:
    shape = (len(swaps), candidate.shape[1])
    group, partners, order, group_start, own_offset, own_size = (np.zeros(shape, np.int32) for _ in range(6))
    group -= 1
    for s, (v, labels) in enumerate(swaps.items()):
        if not 0 <= v < len(sizes) or len(labels) != sizes[v]:
            raise _refusal(
                f"swaps[{v}]", f"{len(labels)} groups", "name a variable and the group of each of its options"
            )
        label = np.asarray(labels, np.int32)
        if label.min() < 0:
            raise _refusal(f"swaps[{v}]", f"a group is {label.min()}", "number groups from 0")
        size, owner = sizes[v], candidate[v, : sizes[v]]
        by_group = np.lexsort((np.arange(size), owner, label))
        rank = np.argsort(by_group)
        same_group = label[:, None] == label[None, :]
        own = same_group & (owner[:, None] == owner[None, :])
        group[s, :size], order[s, :size] = label, by_group
        partners[s, :size] = same_group.sum(1) - own.sum(1)
        group_start[s, :size] = np.where(same_group, rank, size).min(1)
        own_offset[s, :size] = np.where(own, rank, size).min(1) - group_start[s, :size]
        own_size[s, :size] = own.sum(1)
    return Swaps(
        np.array([*swaps], np.int32).reshape(len(swaps)),
        group,
        partners,
        order,
        group_start,
        own_offset,
        own_size,
    )


def _joints(joints: Mapping[tuple[int, int], ArrayLike], sizes: list[int], options: int) -> Joints:
    shape = (len(joints), options, options)
    table, log_table = np.zeros(shape), np.full(shape, PADDING)
    for j, ((t, e), rows) in enumerate(joints.items()):
        if t == e or not (0 <= t < len(sizes) and 0 <= e < len(sizes)):
            raise _refusal(
                f"joints[{t}, {e}]", f"there are {len(sizes)} variables", "name two different ones"
            )
        distribution = _finite(f"joints[{t}, {e}]", rows, (sizes[t], sizes[e]))
        sums = distribution.sum(axis=1, keepdims=True)
        if np.abs(sums - 1).max() > SUM_TOLERANCE:
            raise _refusal(
                f"joints[{t}, {e}]",
                f"row {np.abs(sums - 1).argmax()} does not sum to one",
                "give rows that do",
            )
        # Cut the rows at whole multiples of 1/ROW_UNITS and keep the cut rows: what is drawn and what
        # Hastings reads are one table.
        ends = np.rint(np.cumsum(distribution / sums, axis=1) * ROW_UNITS)
        ends[:, -1] = ROW_UNITS
        units = np.diff(ends, axis=1, prepend=0.0)
        if units.min() < 1:
            raise _refusal(f"joints[{t}, {e}]", "an entry is too small", f"give each at least 1/{ROW_UNITS}")
        table[j, : sizes[t], : sizes[e]] = units / ROW_UNITS
        log_table[j, : sizes[t], : sizes[e]] = np.log(units / ROW_UNITS)
    return Joints(np.array([*joints], np.int32).reshape(len(joints), 2), table, log_table)
