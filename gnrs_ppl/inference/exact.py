"""Plain enumeration: every structure's score by broadcasting the factors over the product space, in float64.

At the paper's size the sweep is cheaper than the chains, so it is the yardstick of every sampler. Larger
spaces, and independent draws: :mod:`gnrs_ppl.inference.sweep`.

    log Z(tau) = log sum_a p0(a) exp(s_search(a) / tau)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference.result import Ranked
from gnrs_ppl.inference.starts import unravel
from gnrs_ppl.models.energy import Tables

STATE_LIMIT = 10_000_000
"""Most structures that are enumerated at once: 17 bytes each, and 16 more for the probabilities, 330 MB in
all."""


TIE = 1e-9
"""Scores this near are one score: sums of the same terms in another order."""


class Enumeration(NamedTuple):
    """Every structure of a space, numbered with the last variable fastest; no temperature in it.

    Attributes
    ----------
    sizes : tuple of int
        Options of each variable; their product is N.
    score : (N,) float64
        s_search.
    feasible : (N,) bool
    log_prior : (N,) float64
    """

    sizes: tuple[int, ...]
    score: Float[NDArray[np.float64], " N"]
    feasible: Bool[NDArray[np.bool_], " N"]
    log_prior: Float[NDArray[np.float64], " N"]

    def position(self, index: int) -> Int[NDArray[np.int32], " V"]:
        """Options of the structure with this number."""
        return np.array(unravel([*self.sizes], np.asarray(index)), np.int32)

    @property
    def optimal(self) -> int:
        """How many structures share the greatest s_search."""
        return int((self.score >= self.score.max() - TIE).sum())

    @property
    def any_feasible(self) -> bool:
        """Whether some structure passes h."""
        return bool(self.feasible.any())


class Posterior(NamedTuple):
    """p(a | x) at one temperature.

    Attributes
    ----------
    enumeration : Enumeration
    temperature : float
    log_normalizer : float
        log Z.
    probability : (N,) float64
    """

    enumeration: Enumeration
    temperature: float
    log_normalizer: float
    probability: Float[NDArray[np.float64], " N"]

    @property
    def infeasible_mass(self) -> float:
        """Probability of breaking a hard condition."""
        return float(self.probability[~self.enumeration.feasible].sum())


class Raised(NamedTuple):
    """A hard flag that is up: one variable or two, and their options."""

    variables: tuple[int, ...]
    options: tuple[int, ...]


class Blocked(NamedTuple):
    """The structure with the fewest hard flags, and which these are."""

    position: Int[NDArray[np.int32], " V"]
    raised: tuple[Raised, ...]


def number_of_states(tables: Tables) -> int:
    """Size of the product space."""
    return math.prod(int(size) for size in tables.sizes)


def enumerate_space(tables: Tables, limit: int = STATE_LIMIT) -> Enumeration:
    """Score every structure.

    Parameters
    ----------
    tables : Tables
    limit : int, optional
        Most structures to score.

    Raises
    ------
    InputError
        When the space has more than ``limit`` structures.
    """
    return enumerate_block(tables, [slice(0, size) for size in _sizes(tables, limit)])


def enumerate_block(tables: Tables, options: Sequence[slice]) -> Enumeration:
    """Score every structure of a part of the space: of each variable the options from ``start`` to ``stop``,
    numbered from 0 there.
    """
    sizes = tuple(kept.stop - kept.start for kept in options)
    shape, states = _free(sizes), math.prod(sizes)
    score, log_prior, raised = np.zeros(shape), np.zeros(shape), np.zeros(shape, bool)
    # Adding in place makes no array of the size of the space but these three.
    for place, table in _factors(options, tables, tables.unary, tables.pairwise):
        score += table.reshape(place)
    for place, table in _factors(options, tables, tables.unary_flags, tables.pair_flags):
        raised |= table.reshape(place)
    for v, kept in enumerate(options):
        log_prior += np.asarray(tables.log_prior)[v, kept].astype(np.float64).reshape(_place(sizes, (v,)))
    score -= float(tables.penalty) * raised
    return Enumeration(sizes, score.reshape(states), ~raised.reshape(states), log_prior.reshape(states))


def exact_posterior(enumeration: Enumeration, temperature: float) -> Posterior:
    """Normalise p0(a) exp(s_search / tau) over the space; another temperature costs one more pass, not
    another sweep.

    Parameters
    ----------
    enumeration : Enumeration
    temperature : float
        tau.
    """
    logdensity = enumeration.score / temperature
    logdensity += enumeration.log_prior
    greatest = logdensity.max()
    logdensity -= greatest
    probability = np.exp(logdensity, out=logdensity)
    total = probability.sum()
    probability /= total
    return Posterior(enumeration, temperature, float(greatest + np.log(total)), probability)


def optimum(posterior: Posterior) -> Ranked:
    """a* of the whole space, the first of ``best``; feasible whenever any structure is (lambda exceeds every
    gap).

    Parameters
    ----------
    posterior : Posterior
    """
    return best(posterior, 1)[0]


def best(posterior: Posterior, count: int) -> list[Ranked]:
    """The ``count`` structures of greatest s_search, the more probable first where scores agree to nine
    decimals.
    """
    return _first(posterior, count, np.round(posterior.enumeration.score, 9), posterior.probability)


def top(posterior: Posterior, count: int) -> list[Ranked]:
    """The ``count`` most probable structures."""
    return _first(posterior, count, posterior.probability, posterior.enumeration.score)


def slot_marginals(posterior: Posterior) -> list[Float[NDArray[np.float64], " n"]]:
    """p(option) of every variable.

    Parameters
    ----------
    posterior : Posterior

    Returns
    -------
    list of (n,) float64
        One per variable.
    """
    return [_marginal(posterior, (v,)) for v in range(len(posterior.enumeration.sizes))]


def pair_marginal(posterior: Posterior, left: int, right: int) -> Float[NDArray[np.float64], "n m"]:
    """p(option of left, option of right), left < right."""
    sizes = posterior.enumeration.sizes
    return _marginal(posterior, (left, right)).reshape(sizes[left], sizes[right])


def pair_marginals(posterior: Posterior) -> dict[tuple[int, int], Float[NDArray[np.float64], "n m"]]:
    """:func:`pair_marginal` of every two variables; each is summed from what those before it have left, in
    few passes over the space.
    """
    found, sizes = {}, posterior.enumeration.sizes
    rest: NDArray[np.float64] = posterior.probability
    for left, size in enumerate(sizes):
        rest = rest.reshape(size, -1)
        beyond: NDArray[np.float64] = rest
        for right in range(left + 1, len(sizes)):
            beyond = beyond.reshape(size, sizes[right], -1)
            found[left, right] = beyond.sum(2)
            beyond = beyond.sum(1)
        rest = rest.sum(0)
    return found


def fewest_flags(tables: Tables, limit: int = STATE_LIMIT) -> Blocked:
    """What stands in the way when no structure is feasible: the structure with the fewest raised flags, and
    which they are.
    """
    sizes = _sizes(tables, limit)
    count = np.zeros(_free(sizes), np.int32)
    for place, table in _factors(
        [slice(0, size) for size in sizes], tables, tables.unary_flags, tables.pair_flags
    ):
        count += table.reshape(place)
    position = np.array(unravel([*sizes], np.asarray(count.argmin())), np.int32)
    raised = [Raised((v,), (int(o),)) for v, o in enumerate(position) if tables.unary_flags[v, o]]
    for p, (left, right) in enumerate(np.asarray(tables.pairs).tolist()):
        if tables.pair_flags[p, position[left], position[right]]:
            raised.append(Raised((left, right), (int(position[left]), int(position[right]))))
    return Blocked(position, tuple(raised))


def _sizes(tables: Tables, limit: int) -> tuple[int, ...]:
    states = number_of_states(tables)
    if states > limit:
        raise InputError(
            f"{states} structures, more than the {limit} that are enumerated",
            "sweep them in blocks, or use --kernel metropolis",
        )
    return tuple(int(size) for size in tables.sizes)


def _free(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Axes of the product space; variables of one option get none, as NumPy allows 64 axes at most."""
    return tuple(size for size in sizes if size > 1)


def _place(sizes: tuple[int, ...], variables: tuple[int, ...]) -> tuple[int, ...]:
    """Shape in which a table over these variables broadcasts over the product space."""
    return tuple(size if v in variables else 1 for v, size in enumerate(sizes) if size > 1)


def _factors(
    options: Sequence[slice], tables: Tables, unary: Any, pairwise: Any
) -> Iterator[tuple[tuple[int, ...], NDArray[Any]]]:
    """Each factor on these options, and the shape in which it broadcasts."""
    sizes = tuple(kept.stop - kept.start for kept in options)
    for v, kept in enumerate(options):
        yield _place(sizes, (v,)), np.asarray(unary)[v, kept]
    for p, (left, right) in enumerate(np.asarray(tables.pairs).tolist()):
        if left != right:  # a padding pair
            yield _place(sizes, (left, right)), np.asarray(pairwise)[p, options[left], options[right]]


def _marginal(posterior: Posterior, variables: tuple[int, ...]) -> Float[NDArray[np.float64], " n"]:
    sizes = posterior.enumeration.sizes
    kept = _place(sizes, variables)
    others = tuple(axis for axis, size in enumerate(kept) if size == 1)
    return np.atleast_1d(posterior.probability.reshape(_free(sizes)).sum(axis=others)).reshape(-1)


def _first(
    posterior: Posterior,
    count: int,
    key: Float[NDArray[np.float64], " N"],
    tie: Float[NDArray[np.float64], " N"],
) -> list[Ranked]:
    """The structures of greatest key, then tie, then lowest number."""
    enumeration = posterior.enumeration
    count = max(0, min(count, len(key)))
    least = np.partition(key, len(key) - count)[-count] if count else np.inf
    among = np.flatnonzero(key >= least)
    chosen = among[np.lexsort((-tie[among], -key[among]))][:count]
    return [
        Ranked(
            enumeration.position(i),
            float(enumeration.score[i]),
            bool(enumeration.feasible[i]),
            float(posterior.probability[i]),
        )
        for i in chosen.tolist()
    ]
