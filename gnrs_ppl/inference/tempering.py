"""Replica exchange: a chain is a ladder of replicas, hot ones find the way for the cold one (non-reversible
scheme: Syed et al. 2022).

    joint target  prod_r p0(a_r) exp(s_search(a_r) / tau_r),   swap r, r+1 with min(1, exp((1/tau_r -
    1/tau_r+1) (s_r+1 - s_r)))

A step is one Metropolis transition of every replica at the temperature of its rung, then swaps of neighbours:
the pairs (0, 1), (2, 3), ... in one step and (1, 2), (3, 4), ... in the next, by turns and not by chance, so
that a replica that is swapped keeps its direction (two replicas have one pair, and try it every other step).
Either part of a step leaves the joint target in place. Rung 0 is the target; the last rung is p0 itself. p0
cancels in a swap.

Random bits: a step of R replicas takes ``words_needed(R)`` uint32 words: ``moves.WORDS`` for each rung, then
one for each pair of a turn.

Examples
--------
>>> import jax, numpy as np
>>> from gnrs_ppl.models.energy import contract
>>> from gnrs_ppl.models.space import build_space
>>> tables = contract(build_space([[0, 1], [0, 0]], unary=[[[0.5], [0.0]], [[0.5], [0.25]]]), np.array([1.0]))
>>> words = jax.random.bits(jax.random.key(0), (words_needed(2),), "uint32")
>>> state, info = build_kernel()(words, init(np.array([[1, 1], [0, 1]]), tables, 0.08), tables, 0.08)
>>> state.position.shape, int(info.energy_evaluations)
((2, 2), 2)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int, Int32, UInt32
from numpy.typing import NDArray

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference import metropolis, moves, starts
from gnrs_ppl.inference.metropolis import Info
from gnrs_ppl.inference.observe import Observer
from gnrs_ppl.inference.result import LARGEST_RESULT, Exchange
from gnrs_ppl.models.energy import Tables, checked_position, log_prior
from gnrs_ppl.models.space import AnyArray

REPLICAS = 6
HOTTEST = 20.0
"""Temperature of the last rung before p0, over tau: at the search temperature 1.6, where a gap of 0.5 costs
a factor of 0.7."""


class State(NamedTuple):
    """A ladder, by rung: entry r is what stands at rung r.

    Attributes
    ----------
    position : (R, V) int32
        Option of each variable.
    score : (R,) float
        s_search, with lambda subtracted where a hard condition breaks.
    feasible : (R,) bool
    log_prior : (R,) float
        log p0. The density at a rung is made of it and the score when it is needed, so that swaps and steps
        round nothing.
    replica : (R,) int32
        Which replica stands here; replica r started at rung r.
    leg : (R,) int8
        How far the replica that stands here is on its round trip: 0 it has not been at rung 0, 1 it was there
        and not at the last rung since, 2 it was at rung 0 and then at the last.
    round_trips : (R,) int32
        Round trips (rung 0, last rung, rung 0) of the replica that stands here.
    odd : () bool
        Whether the next swaps are those of the odd pairs.
    kept : metropolis.Kept of (R,), optional
    """

    position: Int32[jax.Array, "R V"]
    score: Float[jax.Array, " R"]
    feasible: Bool[jax.Array, " R"]
    log_prior: Float[jax.Array, " R"]
    replica: Int32[jax.Array, " R"]
    leg: Int[jax.Array, " R"]
    round_trips: Int32[jax.Array, " R"]
    odd: Bool[jax.Array, ""]
    kept: metropolis.Kept | None = None


class Ladder(NamedTuple):
    """What happened on a ladder in a step, ``ladder`` of :class:`~gnrs_ppl.inference.metropolis.Info`; pair r
    is rungs r and r + 1.

    Attributes
    ----------
    within : metropolis.Info of (R, ...)
        The transition of each rung, before the swaps.
    tried : (R - 1,) bool
        Whether it was the pair's turn.
    swapped : (R - 1,) bool
        Whether the pair was swapped.
    swap_rate : (R - 1,) float
        min(1, ratio); 0 where it was not the pair's turn.
    round_trips : (R,) int32
        Of the replica that stands at each rung now.
    temperatures : (R,) float
        Of the rungs.
    """

    within: metropolis.Info
    tried: Bool[jax.Array, " pairs"]
    swapped: Bool[jax.Array, " pairs"]
    swap_rate: Float[jax.Array, " pairs"]
    round_trips: Int32[jax.Array, " R"]
    temperatures: Float[jax.Array, " R"]


Transition = Callable[[UInt32[jax.Array, " words"], State, Tables, float | jax.Array], tuple[State, Info]]


def words_needed(replicas: int) -> int:
    """uint32 words a step takes."""
    return replicas * moves.WORDS + replicas // 2


def ladder(
    temperature: float | jax.Array, replicas: int = REPLICAS, hottest: float | jax.Array | None = None
) -> Float[jax.Array, " R"]:
    """Temperatures from tau to ``hottest`` in equal ratios, and infinity (p0) last; two replicas are tau and
    infinity.

    Parameters
    ----------
    temperature : float
        tau.
    replicas : int
        R, at least 2.
    hottest : float, optional
        Of rung R - 2; ``HOTTEST`` times tau unless given.

    Raises
    ------
    InputError
        For fewer than two replicas.
    """
    if replicas < 2:
        raise InputError(f"{replicas} is no ladder", "give at least 2", source="arguments", field="replicas")
    tau = jnp.asarray(temperature, float)
    ratio = jnp.asarray(HOTTEST, float) if hottest is None else jnp.asarray(hottest, float) / tau
    share = np.arange(replicas - 1) / max(replicas - 2, 1)
    return jnp.append(tau * ratio ** jnp.asarray(share, float), jnp.inf)


def init(position: Int[AnyArray, "R V"], tables: Tables, temperature: float | jax.Array) -> State:
    """Evaluate the positions of the replicas, that of the cold one first; the first swaps will be those of
    the even pairs.

    Raises
    ------
    InputError
        As :func:`gnrs_ppl.inference.metropolis.init`, and for fewer than two replicas.
    """
    tables = jax.tree.map(jnp.asarray, tables)
    position = checked_position(tables, position, replicas=True)
    if len(position) < 2:
        raise InputError(
            f"{len(position)} replicas are no ladder",
            "give the positions of at least two replicas, the cold one first",
            source="arguments",
            field="position",
        )
    replicas = position.shape[0]
    each = jax.vmap(metropolis.init, (0, None, None))(position, tables, temperature)
    return State(
        position=each.position,
        score=each.score,
        feasible=each.feasible,
        log_prior=jax.vmap(log_prior, (None, 0))(tables, position),
        replica=jnp.arange(replicas, dtype=jnp.int32),
        leg=jnp.asarray(np.arange(replicas) == 0, jnp.int8),
        round_trips=jnp.zeros(replicas, jnp.int32),
        odd=jnp.zeros((), bool),
        kept=each.kept,
    )


def build_kernel(
    hottest: float | jax.Array | None = None,
    move_probabilities: tuple[float, float, float, float] | None = None,
) -> Transition:
    """Replica exchange as ``transition(words, state, tables, temperature)``, for one chain; ``jax.vmap`` it
    for many.

    The state says how many replicas there are; ``temperature`` is tau, that of rung 0, and the others follow
    by :func:`ladder`.
    """
    within = metropolis.build_kernel(move_probabilities)

    def move(
        words: UInt32[jax.Array, " 4"], state: State, tables: Tables, temperature: jax.Array
    ) -> tuple[metropolis.State, Float[jax.Array, ""], metropolis.Info]:
        """One rung: the entries of ``state`` are those of the rung."""
        density = state.log_prior + state.score / temperature
        here = metropolis.State(state.position, state.score, state.feasible, density, state.kept)
        there, info = within(words, here, tables, temperature)
        # The compiler has this sum already, from the proposal's density; taking it from there would round at
        # every step.
        new = info.proposal
        prior = log_prior(tables, new.position) if new.kept is None else new.kept.log_prior
        prior = jnp.where(info.accepted, prior, state.log_prior)
        return there, prior, info

    def transition(
        words: UInt32[jax.Array, " words"], state: State, tables: Tables, temperature: float | jax.Array
    ) -> tuple[State, Info]:
        words, tables = jnp.asarray(words), jax.tree.map(jnp.asarray, tables)
        replicas = state.score.shape[0]
        temperatures = ladder(temperature, replicas, hottest)
        rung_words, pair_words = (
            words[: replicas * moves.WORDS].reshape(replicas, moves.WORDS),
            words[replicas * moves.WORDS :],
        )
        rungs = jax.tree.map(lambda _: 0, state)._replace(odd=None)
        moved, prior, info = jax.vmap(move, (0, rungs, None, 0))(rung_words, state, tables, temperatures)
        state = state._replace(
            position=moved.position,
            score=moved.score,
            feasible=moved.feasible,
            log_prior=prior,
            kept=moved.kept,
        )
        partner, tried = (
            jnp.where(state.odd, odd, even) for even, odd in zip(*_turns(replicas), strict=True)
        )
        swapped, rate = _decide(pair_words, state, 1 / temperatures, partner)
        after = _count_trips(
            _exchange(state, jnp.where(swapped, partner, np.arange(replicas, dtype=np.int32)))
        )
        told = Ladder(
            within=info,
            tried=tried,
            swapped=tried & swapped[:-1],
            swap_rate=jnp.where(tried, rate[:-1], jnp.zeros((), rate.dtype)),
            round_trips=after.round_trips,
            temperatures=temperatures,
        )
        cold: Info = jax.tree.map(lambda leaf: leaf[0], info)
        evaluated = info.energy_evaluations.sum(dtype=jnp.int32)
        return after._replace(odd=~state.odd), cold._replace(
            energy_evaluations=evaluated, move=None, ladder=told
        )

    return transition


def _turns(replicas: int) -> list[tuple[NDArray[np.int32], NDArray[np.bool_]]]:
    """For the turn of the even pairs and that of the odd: partner of each rung (itself where it has none),
    whose turn it is.
    """
    turns = []
    for first in (0, 1):
        partner = np.arange(replicas, dtype=np.int32)
        for lower in range(first, replicas - 1, 2):
            partner[lower], partner[lower + 1] = lower + 1, lower
        turns.append((partner, partner[:-1] == np.arange(1, replicas)))
    return turns


def _decide(
    words: UInt32[jax.Array, " turn"],
    state: State,
    inverse: Float[jax.Array, " R"],
    partner: Int[jax.Array, " R"],
) -> tuple[Bool[jax.Array, " R"], Float[jax.Array, " R"]]:
    """Whether each rung changes places with its partner, and with what probability.

    Both rungs of a pair decide alike: they read one word, and changing r for its partner changes both signs
    of the product.
    """
    rungs = np.arange(len(inverse), dtype=np.int32)
    # A rung without a partner may read any word: it changes places with itself.
    word = words[jnp.minimum(jnp.minimum(rungs, partner) // 2, len(words) - 1)]
    log_ratio = (inverse - inverse[partner]) * (state.score[partner] - state.score)
    decided: tuple[jax.Array, jax.Array] = jax.vmap(metropolis.accept)(word, log_ratio)
    return decided


def _exchange(state: State, source: Int[jax.Array, " R"]) -> State:
    """Everything at rung ``source[r]`` goes to rung r."""
    moved: State = jax.tree.map(lambda leaf: leaf[source], state._replace(odd=jnp.asarray(source)))
    return moved._replace(odd=state.odd)


def _count_trips(state: State) -> State:
    """Add a round trip where a replica is back at rung 0, and note who is at an end."""
    replicas = len(state.leg)
    rungs = np.arange(replicas)
    back = (rungs == 0) & (state.leg == 2)
    there = (rungs == replicas - 1) & (state.leg == 1)
    leg = jnp.where(rungs == 0, jnp.int8(1), jnp.where(there, jnp.int8(2), state.leg))
    return state._replace(leg=leg, round_trips=state.round_trips + back.astype(jnp.int32))


Kept: TypeAlias = tuple[jax.Array, jax.Array, jax.Array, jax.Array, jax.Array]


def keep(ladders: State) -> Kept:
    """What cannot be evaluated anew: where replicas stand, which they are, and how they travel."""
    return ladders.position, ladders.replica, ladders.leg, ladders.round_trips, ladders.odd


def resume(kept: Kept, tables: Tables, temperature: float | jax.Array) -> State:
    """The ladder of which that was kept."""
    position, replica, leg, round_trips, odd = kept
    return init(position, tables, temperature)._replace(
        replica=replica, leg=leg, round_trips=round_trips, odd=odd
    )


def cold(ladders: State, temperature: jax.Array) -> metropolis.State:
    """The chains that are at tau: rung 0 of many ladders."""
    score = ladders.score[:, 0]
    return metropolis.State(
        ladders.position[:, 0], score, ladders.feasible[:, 0], ladders.log_prior[:, 0] + score / temperature
    )


@cache
def exchange(replicas: int) -> Observer:
    """How the replicas of many ladders travelled: :class:`~gnrs_ppl.inference.result.Exchange`."""

    def begin(tables: Tables, states: metropolis.State) -> tuple[jax.Array, ...]:
        none = jnp.zeros((states.score.shape[0], replicas - 1), jnp.int32)
        each = jnp.zeros((states.score.shape[0], replicas))
        return none, none, each.astype(jnp.int32), each

    def count(
        so_far: tuple[jax.Array, ...], before: metropolis.State, states: metropolis.State, info: Info
    ) -> tuple[jax.Array, ...]:
        tried, swapped, _, _ = so_far
        told: Ladder = info.ladder
        return (
            tried + told.tried.astype(jnp.int32),
            swapped + told.swapped.astype(jnp.int32),
            told.round_trips,
            told.temperatures,
        )

    def travelled(so_far: tuple[Any, ...], _: None) -> Exchange:
        tried, swapped, round_trips, temperatures = so_far
        return Exchange(
            temperatures[0].astype(np.float64), _shares(swapped, tried), round_trips.sum(1, dtype=np.int64)
        )

    return Observer(begin, count, travelled)


def _shares(
    swapped: Int[NDArray[np.int32], "C pairs"], tried: Int[NDArray[np.int32], "C pairs"]
) -> Float[NDArray[np.float64], " pairs"]:
    """Accepted over tried of each pair, over all chains; NaN where none was tried."""
    tries, rates = tried.sum(0, dtype=np.float64), np.full(tried.shape[1], np.nan)
    np.divide(swapped.sum(0, dtype=np.float64), tries, out=rates, where=tries > 0)
    return rates


def complete(
    settings: dict[str, Any], spaces: Sequence[Tables], chains: int, temperature: float
) -> dict[str, Any]:
    """The settings with the replicas and the hottest temperature.

    Raises
    ------
    InputError
        For numbers out of range, and more replicas than fit (with the bytes).
    """
    settings = {"replicas": REPLICAS, "hottest": None} | settings
    replicas, hottest = settings["replicas"], settings["hottest"]
    if replicas < 2:
        raise InputError(
            f"{replicas} replicas exchange nothing",
            "ask for at least 2",
            source="arguments",
            field="replicas",
        )
    if hottest is not None and not (math.isfinite(hottest) and hottest > temperature):
        remedy = f"give a finite number above {temperature}, such as {HOTTEST * temperature:g}"
        raise InputError(f"{hottest} is no hottest temperature", remedy, source="arguments", field="hottest")
    # A replica's structure and scores, what it proposes, and its random words.
    per_replica = 2 * (4 * len(spaces[0].sizes) + 2 * np.asarray(spaces[0].unary).dtype.itemsize) + 4 * (
        moves.WORDS + 1
    )
    needed = len(spaces) * chains * replicas * per_replica
    if needed > LARGEST_RESULT:
        problem = (
            f"{chains} chains of {replicas} replicas need {needed} bytes, more than the "
            f"{LARGEST_RESULT} allowed"
        )
        raise InputError(
            problem,
            f"ask for at most {LARGEST_RESULT // per_replica} replicas in all",
            source="arguments",
            field="replicas",
        )
    return settings | {"hottest": HOTTEST * temperature if hottest is None else hottest}


def draw_starts(
    tables: Tables, superchains: int, seed: int, stream: int, settings: dict[str, Any]
) -> Int[NDArray[np.int32], "superchains R V"]:
    """The starts of other kernels for the cold rung, independent draws from p0 for the others; a superchain
    shares them all.
    """
    replicas = settings["replicas"]
    coldest = starts.draw_starts(tables, superchains, seed, stream)
    others = starts.draw_prior(
        tables, superchains * (replicas - 1), np.random.default_rng([seed, superchains, stream, replicas])
    )
    return np.concatenate([coldest[:, None], others.reshape(superchains, replicas - 1, -1)], axis=1)
