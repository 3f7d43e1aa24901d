"""The density the chains walk on (paper, Structured search).

    s_search(a; x) = w . phi(a, x) - lambda * 1[not h(a, x)]
    p(a | x) is proportional to p0(a) * exp(s_search(a; x) / tau)

Signs, once: the *score* s_search is better when greater, the *energy* is -s_search, the *logdensity* is log
p0 + s_search / tau without its normalising constant.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int, UInt32

from gnrs_ppl.errors import InputError
from gnrs_ppl.models.packed import option_of, pack, width
from gnrs_ppl.models.space import (
    FEW_VARIABLES,
    PADDING,
    AnyArray,
    Beside,
    Edits,
    Joints,
    Lookup,
    RuleSpace,
    Swaps,
    grown,
    grown_edits,
    look_up,
    room_beside,
)

SEARCH_TEMPERATURE = 0.08
"""tau of the paper's search; it moves the chains, and probabilities at it are not for people (DESIGN section
1)."""
PENALTY_PER_WEIGHT = 2.0
"""lambda over the sum of the weights: see :func:`hard_penalty`."""
UNROLL = 32
"""Up to this many table look-ups are written out one by one: of a goal's tables that is faster than one
gather for all of them, of a coupled rules' it is slower."""


class Merged(NamedTuple):
    """Tables of several variables each, made of those of one and of two: :func:`merge`.

    Attributes
    ----------
    entries : (K, N) float
        Of K tables, the first variable fastest; their flags in the last bit, as :func:`marked` gives them.
    shifts : (K,) uint32
        Where the first variable of each begins in a packed structure.
    """

    entries: Float[AnyArray, "K N"]
    shifts: UInt32[AnyArray, " K"]


class Tables(NamedTuple):
    """A :class:`~gnrs_ppl.models.space.RuleSpace` contracted with one weight vector; flags apart, temperature
    not baked in.

    Attributes
    ----------
    unary : (V, O) float
        w . phi of each option.
    pairwise : (P, O, O) float
        w . phi of each pair of options.
    penalty : () float
        lambda.
    sizes, candidate, log_prior, unary_flags, pairs, pair_flags, swaps, joints, lookup, edits, beside
        As in the space.
    merged : Merged, optional
        Larger tables that stand in for ``unary`` and ``pairwise`` where a structure is evaluated.
    """

    sizes: Int[AnyArray, " V"]
    candidate: Int[AnyArray, "V O"]
    log_prior: Float[AnyArray, "V O"]
    unary: Float[AnyArray, "V O"]
    unary_flags: Bool[AnyArray, "V O"]
    pairs: Int[AnyArray, "P 2"]
    pairwise: Float[AnyArray, "P O O"]
    pair_flags: Bool[AnyArray, "P O O"]
    penalty: Float[AnyArray, ""]
    swaps: Swaps
    joints: Joints
    lookup: Lookup
    edits: Edits
    beside: Beside
    merged: Merged | None = None


def hard_penalty(weights: Float[AnyArray, " F"]) -> float:
    """Set lambda by rule: twice the sum of the weights (2 on the simplex).

    Features lie in [0, 1], so w . phi differs by at most sum(w) between two structures. The first sum makes
    every structure that passes h score above every one that does not. The second is margin: the infeasible
    mass is at most exp(-sum(w) / tau) times its prior odds, 4e-6 of them at the search temperature. lambda /
    tau is then 25, and with the greatest gap 37.5, far below 88, where exp overflows in float32 (numpyro's
    modified Gibbs freezes there).

    Parameters
    ----------
    weights : (F,) float
    """
    return PENALTY_PER_WEIGHT * float(np.sum(np.asarray(weights, np.float64)))


def contract(space: RuleSpace, weights: Float[AnyArray, " F"], penalty: float | None = None) -> Tables:
    """Contract the features with the weights once; NumPy in gives NumPy float64 out, JAX weights can be
    differentiated.

    Parameters
    ----------
    space : RuleSpace
    weights : (F,) float
        w >= 0; on the simplex for the paper's score.
    penalty : float, optional
        lambda; ``hard_penalty(weights)`` unless given. Give it where the weights are traced.

    Returns
    -------
    Tables

    Raises
    ------
    InputError
        Not one weight per feature.
    """
    if weights.shape != space.unary.shape[-1:]:
        problem = f"shape {weights.shape}, expected {space.unary.shape[-1:]}"
        raise InputError(problem, "give one weight per feature", source="arguments", field="weights")
    # Products and a sum, not a matrix product: accelerators run those in less than float32 unless told
    # otherwise.
    scores = {
        "unary": (space.unary * weights[None, None]).sum(-1),
        "pairwise": (space.pairwise * weights[None, None, None]).sum(-1),
        "penalty": np.asarray(hard_penalty(weights) if penalty is None else penalty),
    }
    return Tables(**space._asdict() | scores)


PAD_OPTIONS = 8
"""Options are padded to a multiple of this, so that contexts share a few compiled kernels."""


def room_for(options: int) -> int:
    """The number of options to pad to: the next multiple of ``PAD_OPTIONS``."""
    return PAD_OPTIONS * -(-options // PAD_OPTIONS)


def padded(tables: Tables, options: int, pairs: int, beside: int = 0) -> Tables:
    """The same tables with room for more options and pairs, and pairs of a variable; what does not exist
    keeps its mark and changes no draw.
    """
    more, new_pairs = options - tables.unary.shape[1], pairs - tables.pairs.shape[0]

    def longer(table: Any, axes: tuple[int, ...], fill: float = 0, first: int = 0) -> Any:
        if table is None:  # a source that only the host reads
            return None
        by = dict.fromkeys(axes, more) | {0: first}
        return grown(table, tuple(n + by.get(axis, 0) for axis, n in enumerate(table.shape)), fill)

    swaps, joints, lookup, near = tables.swaps, tables.joints, tables.lookup, tables.beside
    variables, room = near.pairs.shape
    room = max(beside, room, room_beside(variables, pairs))
    return tables._replace(
        candidate=longer(tables.candidate, (1,)),
        log_prior=longer(tables.log_prior, (1,), PADDING),
        unary=longer(tables.unary, (1,)),
        unary_flags=longer(tables.unary_flags, (1,)),
        pairs=longer(tables.pairs, (), first=new_pairs),
        pairwise=longer(tables.pairwise, (1, 2), first=new_pairs),
        pair_flags=longer(tables.pair_flags, (1, 2), first=new_pairs),
        swaps=swaps._replace(
            **{
                name: longer(getattr(swaps, name), (1,), -1 if name == "group" else 0)
                for name in Swaps._fields
                if name != "variables"
            }
        ),
        joints=joints._replace(
            table=longer(joints.table, (1, 2)),
            log_table=longer(joints.log_table, (1, 2), PADDING),
        ),
        lookup=lookup
        and lookup._replace(start=longer(lookup.start, (1,)), tuples=longer(lookup.tuples, (1,), 1)),
        edits=grown_edits(tables.edits, more),
        beside=Beside(*(grown(leaf, (variables, room), 0) for leaf in near)),
    )


def without_sources(tables: Tables) -> Tables:
    """The tables without the leaves that only the host reads, those that ``edits`` was made from."""
    nothing: Any = None
    return tables._replace(
        candidate=nothing,
        lookup=nothing,
        swaps=Swaps(tables.swaps.variables, *[nothing] * 6),
        joints=Joints(tables.joints.variables, nothing, nothing),
    )


def checked_position(tables: Tables, position: Any, replicas: bool = False) -> Int[jax.Array, "*R V"]:
    """The position as int32; of a ladder, those of all its replicas.

    Raises
    ------
    InputError
        When there is not one whole number for each variable, and, where they are known, for options that
        there are not.
    """
    traced = isinstance(position, jax.core.Tracer)
    variables = tables.sizes.shape[0]
    try:
        given = position if traced else np.asarray(position)
        problem = f"shape {given.shape} of {given.dtype}"
    except ValueError:  # NumPy's, and it names none of our arguments
        given, problem = np.empty(0), "lists of unequal lengths"
    if given.shape[replicas:] != (variables,) or not np.issubdtype(given.dtype, np.integer):
        expected = f"(replicas, {variables})" if replicas else f"({variables},)"
        problem = f"{problem}, expected {expected} of whole numbers"
        raise InputError(problem, "give one option for each variable", source="arguments", field="position")
    if not (traced or isinstance(tables.sizes, jax.core.Tracer)):
        wrong = np.argwhere((given < 0) | (given >= np.asarray(tables.sizes)))
        if len(wrong):
            variable = int(wrong[0, -1])
            raise InputError(
                f"option {given[tuple(wrong[0])]} of variable {variable}",
                f"give one from 0 to {int(tables.sizes[variable]) - 1}",
                source="arguments",
                field="position",
            )
    return jnp.asarray(given, jnp.int32)


WIDEST = 6
"""Entries whose greatest add up to less than 2 to this are rounded, so that no sum of them is."""
SPAN = 3
"""Variables side by side whose tables are merged to one: three such tables hold all twelve of a goal, and of
up to 32 options a variable they take 384 KiB, which a core's own cache holds."""


def marked(tables: Tables) -> Float[jax.Array, " N"]:
    """Every entry of ``unary``, then of ``pairwise``, row by row, its flag in the last bit.

    Where the greatest of them add up to less than 2 to ``WIDEST``, entries are multiples of a power of two,
    2^-23 on a goal, and every sum of them is exact, in whatever order. Those of a wider range stay as they
    are, as small ones would be lost.

    What evaluates many structures makes it once: in the loop that reads it XLA would mark each entry anew,
    from two look-ups.
    """
    unary, pairwise = jnp.asarray(tables.unary), jnp.asarray(tables.pairwise)
    greatest = jnp.append(jnp.abs(unary).max(1), jnp.abs(pairwise).max((1, 2)))
    # 2^-10 of the greatest, and no less than leaves the unit a normal number
    scale = jnp.maximum(jnp.frexp(greatest.max())[1] - 10, -90)
    # added up in whole numbers: a sum of floats would change with padding
    whole = jnp.ceil(jnp.ldexp(greatest, -scale)).astype(jnp.int32).sum(dtype=jnp.int32)
    most = jnp.frexp(whole.astype(unary.dtype))[1] + scale
    # a bit more than sums need, so that the flag's is zero in each of them
    unit = jnp.ldexp(jnp.ones_like(greatest[0]), most - np.finfo(unary.dtype).nmant)

    def entries(values: jax.Array, flags: AnyArray) -> jax.Array:
        off = jnp.where(most <= WIDEST, jnp.rint(values / unit) * unit - values, 0)
        return _marked(values + jax.lax.stop_gradient(off), flags).ravel()

    return jnp.concatenate([entries(unary, tables.unary_flags), entries(pairwise, tables.pair_flags)])


def adds_exactly(tables: Tables) -> bool:
    """Whether :func:`marked` rounds the entries, so that merging changes no bit of a score; with a factor of
    two to spare, as it is asked in the host's precision.
    """
    greatest = np.abs(tables.unary).max(1).sum() + np.abs(tables.pairwise).max((1, 2)).sum()
    return bool(greatest < 2 ** (WIDEST - 1))


def windows(pairs: Sequence[tuple[int, int]], variables: int) -> tuple[int, ...]:
    """The first variables of the fewest stretches of ``SPAN`` variables, the first again after the last, that
    hold every variable and pair; none where no stretches do, or of more than ``FEW_VARIABLES``.
    """
    scopes = {*pairs, *((v, v) for v in range(variables))}

    def hold_all(firsts: tuple[int, ...]) -> bool:
        return all(
            any((v - first) % variables < SPAN > (w - first) % variables for first in firsts)
            for v, w in scopes
        )

    some = (firsts for n in range(1, variables + 1) for firsts in combinations(range(variables), n))
    return next(filter(hold_all, some), ()) if variables <= FEW_VARIABLES else ()


def merge(tables: Tables, pairs: Sequence[tuple[int, int]]) -> Merged:
    """One larger table for each of :func:`windows`, so that a structure takes a look-up for each: equal to
    the bit where the tables' entries add up exactly (:func:`adds_exactly`).

    Parameters
    ----------
    tables : Tables
        Whose structures are packed, and for whose pairs there are windows.
    pairs : sequence of (int, int)
        Those of the tables, where they may be traced.
    """
    (variables, options), firsts = tables.unary.shape, windows(pairs, tables.unary.shape[0])
    span, room = min(SPAN, variables), 1 << width(options)
    ones, twos = jnp.split(marked(tables), [variables * options])
    factors: list[tuple[tuple[int, ...], jax.Array]] = [
        *(((v,), one) for v, one in enumerate(ones.reshape(variables, options))),
        *((pair, two) for pair, two in zip(pairs, twos.reshape(-1, options, options), strict=True)),
    ]
    factors = [(scope, table) for scope, table in factors if len({*scope}) == len(scope)]  # not padding
    found = []
    for first in firsts:
        # the first variable is the lowest in a packed structure, and so the last axis
        axes = {(first + n) % variables: span - 1 - n for n in range(span)}
        total, raised = jnp.zeros((room,) * span, ones.dtype), jnp.zeros((room,) * span, bool)
        for scope, table in (factor for factor in factors if axes.keys() >= {*factor[0]}):
            own = [axes[v] for v in scope]
            table = jnp.pad(table if own == sorted(own) else table.T, (0, room - options))
            table = jnp.expand_dims(table, [axis for axis in range(span) if axis not in own])
            total, raised = total + _marked(table, False), raised | ~unmarked(table)
        factors = [factor for factor in factors if not axes.keys() >= {*factor[0]}]
        found.append(_marked(total, raised).ravel())
    return Merged(jnp.stack(found), np.array(firsts, np.uint32) * np.uint32(width(options)))


def evaluate(
    tables: Tables, position: Int[AnyArray, " V"]
) -> tuple[Float[jax.Array, ""], Bool[jax.Array, ""]]:
    """s_search and h of one structure, packed or not."""
    score = marked_score(tables, position)
    return score, unmarked(score)


def marked_score(
    tables: Tables, position: Int[AnyArray, " V"], entries: Float[jax.Array, " N"] | None = None
) -> Float[jax.Array, ""]:
    """s_search, its last bit set where a hard condition breaks: V + P table look-ups, or a few where tables
    were merged.

    A look-up reads score and flag at once, as the flag is the last bit of the score, which is wrong by at
    most one unit in its last place.

    Parameters
    ----------
    tables : Tables
    position : (V,) int, or () uint32
    entries : (N,) float, optional
        As :func:`marked` gives them.
    """
    variables, options = tables.unary.shape
    position = jnp.asarray(position)
    position = position if position.dtype == jnp.uint32 else position.astype(jnp.int32)
    if tables.merged is None:
        entries = marked(tables) if entries is None else entries

        def option(variable: AnyArray) -> jax.Array:
            return look_up(entries, variable * options + option_of(position, variable, options))

        def pair(number: AnyArray) -> jax.Array:
            left, right = look_up(tables.pairs, number, 0), look_up(tables.pairs, number, 1)
            at_left, at_right = (option_of(position, end, options) for end in (left, right))
            return look_up(entries, ((variables + number * options) + at_left) * options + at_right)

        found = [*_each(option, tables.unary), *_each(pair, tables.pairwise)]
        # or XLA makes one loop of look-ups and sums, and no vector instruction of a sum
        found = jax.lax.optimization_barrier(found)  # type: ignore[no-untyped-call]
    else:
        number, size = pack(position, options), tables.merged.entries.shape[1]
        in_all = np.uint32(variables * width(options))
        turned = [(number >> s) | (number << (in_all - s)) for s in jnp.asarray(tables.merged.shifts)]
        found = [
            look_up(jnp.ravel(tables.merged.entries), n * size + (place & (size - 1)).astype(jnp.int32))
            for n, place in enumerate(turned)
        ]
    total = sum([_marked(entry, False).sum() for entry in found], jnp.zeros((), found[0].dtype))
    bits = [jnp.bitwise_or.reduce(_bits(entry), axis=None) for entry in found]
    raised = functools.reduce(jnp.bitwise_or, bits) & 1 == 1
    # paper, Structured search: lambda is subtracted once, however many conditions break
    return _marked(total - jnp.where(raised, tables.penalty, 0.0).astype(total.dtype), raised)


def unmarked(score: Float[jax.Array, "*n"]) -> Bool[jax.Array, "*n"]:
    """Whether a score passes h, as its last bit tells: no flag is raised."""
    return _bits(score) & 1 == 0


def _each(look: Callable[[AnyArray], jax.Array], table: AnyArray) -> list[jax.Array]:
    """Look up all of a table's rows, one by one where they are few, otherwise together."""
    numbers = np.arange(table.shape[0], dtype=np.int32)
    return [look(np.asarray(number)) for number in numbers] if len(numbers) <= UNROLL else [look(numbers)]


def _bits(values: jax.Array) -> jax.Array:
    return jax.lax.bitcast_convert_type(values, jnp.uint32 if values.dtype.itemsize == 4 else jnp.uint64)


@jax.custom_jvp
def _marked(values: AnyArray, flags: AnyArray) -> jax.Array:
    """Values whose last bit is the flag, to be differentiated as if nothing had been changed."""
    values = jnp.asarray(values)
    cleared = _bits(values) & ~jnp.ones((), _bits(values).dtype)
    return jax.lax.bitcast_convert_type(cleared | jnp.asarray(flags).astype(cleared.dtype), values.dtype)


@_marked.defjvp
def _marked_jvp(
    primals: tuple[AnyArray, AnyArray], tangents: tuple[jax.Array, jax.Array]
) -> tuple[jax.Array, jax.Array]:
    return _marked(*primals), tangents[0]


def parts(tables: Tables, position: Int[AnyArray, " V"]) -> tuple[Float[jax.Array, ""], Int[jax.Array, ""]]:
    """W . phi of one structure, and how many flags it raises: what :func:`rows` gives the changes of."""
    position = jnp.asarray(position)
    variables, pairs = np.arange(len(tables.sizes), dtype=np.int32), jnp.asarray(tables.pairs)
    ends = look_up(position, pairs[:, 0]), look_up(position, pairs[:, 1])
    here, numbers = (variables, position), np.arange(len(pairs), dtype=np.int32)
    total = look_up(tables.unary, *here).sum() + look_up(tables.pairwise, numbers, *ends).sum()
    raised = look_up(tables.unary_flags, *here).sum(dtype=jnp.int32)
    return total, raised + look_up(tables.pair_flags, numbers, *ends).sum(dtype=jnp.int32)


def rows(
    tables: Tables,
    position: Int[AnyArray, " V"],
    variable: Int[AnyArray, ""],
    options: Int[AnyArray, " n"],
    without: Int[AnyArray, ""] | None = None,
) -> tuple[Float[jax.Array, " n"], Int[jax.Array, " n"]]:
    """What options of a variable add to w . phi and to the number of raised flags, the others standing as
    they are; pairs with the variable ``without`` left out.
    """
    position, options = jnp.asarray(position), jnp.asarray(options)
    total = look_up(tables.unary, variable, options)
    raised = look_up(tables.unary_flags, variable, options).astype(jnp.int32)
    if tables.beside.pairs.shape[1] == 0:
        return total, raised
    pairs, others, turned, there = (look_up(leaf, variable)[:, None] for leaf in tables.beside)
    if without is not None:
        there = there & (others != without)
    opposite = look_up(position, others)
    index = (pairs, jnp.where(turned, opposite, options[None]), jnp.where(turned, options[None], opposite))
    total += jnp.where(there, look_up(tables.pairwise, *index), 0).sum(0)
    return total, raised + (there & look_up(tables.pair_flags, *index)).sum(0, dtype=jnp.int32)


def score(tables: Tables, position: Int[AnyArray, " V"]) -> Float[jax.Array, ""]:
    """s_search = w . phi - lambda * 1[any flag].

    Parameters
    ----------
    tables : Tables
    position : (V,) int
        Option of each variable.

    Returns
    -------
    () float
    """
    return evaluate(tables, position)[0]


def feasible(tables: Tables, position: Int[AnyArray, " V"]) -> Bool[jax.Array, ""]:
    """h: no hard flag is raised.

    Parameters
    ----------
    tables : Tables
    position : (V,) int
        Option of each variable.

    Returns
    -------
    () bool
    """
    return evaluate(tables, position)[1]


def energy(tables: Tables, position: Int[AnyArray, " V"]) -> Float[jax.Array, ""]:
    """-s_search."""
    return -score(tables, position)


def log_prior(tables: Tables, position: Int[AnyArray, " V"]) -> Float[jax.Array, ""]:
    """Log p0 of a structure, normalised.

    Parameters
    ----------
    tables : Tables
    position : (V,) int
        Option of each variable.

    Returns
    -------
    () float
    """
    options = tables.log_prior.shape[1]
    entries = _each(
        lambda variable: look_up(tables.log_prior, variable, option_of(position, variable, options)),
        tables.log_prior,
    )
    return sum([entry.sum() for entry in entries], jnp.zeros((), jnp.asarray(tables.log_prior).dtype))


def logdensity(
    tables: Tables, position: Int[AnyArray, " V"], temperature: float | jax.Array
) -> Float[jax.Array, ""]:
    """Log p0 + s_search / tau, without the normalising constant.

    Parameters
    ----------
    tables : Tables
    position : (V,) int
        Option of each variable.
    temperature : float
        tau.

    Returns
    -------
    () float
    """
    return log_prior(tables, position) + score(tables, position) / temperature


def features(space: RuleSpace, position: Int[AnyArray, " V"]) -> Float[jax.Array, " F"]:
    """Feature vector phi of one structure, each entry in [0, 1]."""
    variables = np.arange(space.sizes.shape[0])
    position = jnp.asarray(position)
    left, right = position[space.pairs[:, 0]], position[space.pairs[:, 1]]
    pairwise = jnp.asarray(space.pairwise)[np.arange(space.pairs.shape[0]), left, right]
    return jnp.asarray(space.unary)[variables, position].sum(0) + pairwise.sum(0)


def slow_score(
    space: RuleSpace, weights: Float[AnyArray, " F"], penalty: float, position: Int[AnyArray, " V"]
) -> float:
    """s_search by plain loops, kept for the tests: what :func:`score` must equal."""
    total, broken = 0.0, False
    for variable, option in enumerate(position):
        for feature, weight in enumerate(weights):
            total += float(weight) * float(space.unary[variable, option, feature])
        broken = broken or bool(space.unary_flags[variable, option])
    for pair, (left, right) in enumerate(space.pairs):
        for feature, weight in enumerate(weights):
            total += float(weight) * float(space.pairwise[pair, position[left], position[right], feature])
        broken = broken or bool(space.pair_flags[pair, position[left], position[right]])
    return total - penalty if broken else total
