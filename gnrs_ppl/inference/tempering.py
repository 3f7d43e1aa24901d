"""Replica exchange: a chain is a ladder of replicas, hot ones find the way for the cold one (non-reversible scheme: Syed et al. 2022).

    joint target  prod_r p0(a_r) exp(s_search(a_r) / tau_r),   swap r, r+1 with min(1, exp((1/tau_r - 1/tau_r+1) (s_r+1 - s_r)))

A step is one Metropolis transition of every replica at the temperature of its rung, then swaps of neighbours: the pairs (0, 1), (2, 3),
... in one step and (1, 2), (3, 4), ... in the next, by turns and not by chance, so that a replica that is swapped keeps its direction
(two replicas have one pair, and try it every other step).
Either part of a step leaves the joint target in place. Rung 0 is the target; the last rung is p0 itself. p0 cancels in a swap.

Random bits: a step of R replicas takes ``words_needed(R)`` uint32 words: ``moves.WORDS`` for each rung, then one for each pair of a turn.

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
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.stages import Compiled
from jaxtyping import Bool, Float, Int, Int32, UInt32
from numpy.typing import NDArray

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference import metropolis, moves
from gnrs_ppl.inference.moves import MOVE_PROBABILITIES
from gnrs_ppl.inference.result import LARGEST_RESULT, NO_MOVE, Chains, Exchange, check_request, superchain_ids
from gnrs_ppl.inference.starts import draw_prior, draw_starts
from gnrs_ppl.models.energy import Tables, log_prior, padded, room_for
from gnrs_ppl.models.space import AnyArray

REPLICAS = 6
HOTTEST = 20.0
"""Temperature of the last rung before p0, over tau: at the search temperature 1.6, where a gap of 0.5 costs a factor of 0.7."""


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
        log p0. The density at a rung is made of it and the score when it is needed, so that swaps and steps round nothing.
    replica : (R,) int32
        Which replica stands here; replica r started at rung r.
    leg : (R,) int8
        How far the replica that stands here is on its round trip: 0 it has not been at rung 0, 1 it was there and not at the last rung
        since, 2 it was at rung 0 and then at the last.
    round_trips : (R,) int32
        Round trips (rung 0, last rung, rung 0) of the replica that stands here.
    odd : () bool
        Whether the next swaps are those of the odd pairs.
    """

    position: Int32[jax.Array, "R V"]
    score: Float[jax.Array, " R"]
    feasible: Bool[jax.Array, " R"]
    log_prior: Float[jax.Array, " R"]
    replica: Int32[jax.Array, " R"]
    leg: Int[jax.Array, " R"]
    round_trips: Int32[jax.Array, " R"]
    odd: Bool[jax.Array, ""]


class Info(NamedTuple):
    """What happened in a step; pair r is rungs r and r + 1.

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
    energy_evaluations : () int32
        R; a swap takes none.
    """

    within: metropolis.Info
    tried: Bool[jax.Array, " pairs"]
    swapped: Bool[jax.Array, " pairs"]
    swap_rate: Float[jax.Array, " pairs"]
    energy_evaluations: Int32[jax.Array, ""]


Transition = Callable[[UInt32[jax.Array, " words"], State, Tables, float | jax.Array], tuple[State, Info]]


def words_needed(replicas: int) -> int:
    """uint32 words a step takes."""
    return replicas * moves.WORDS + replicas // 2


def ladder(temperature: float | jax.Array, replicas: int = REPLICAS, hottest: float | jax.Array | None = None) -> Float[jax.Array, " R"]:
    """Temperatures from tau to ``hottest`` in equal ratios, and infinity (p0) last; two replicas are tau and infinity.

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
    """Evaluate the positions of the replicas, that of the cold one first; the first swaps will be those of the even pairs."""
    tables = jax.tree.map(jnp.asarray, tables)
    position = jnp.asarray(position, jnp.int32)
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
    )


def build_kernel(
    hottest: float | jax.Array | None = None, move_probabilities: tuple[float, float, float, float] = MOVE_PROBABILITIES
) -> Transition:
    """Replica exchange as ``transition(words, state, tables, temperature)``, for one chain; ``jax.vmap`` it for many.

    The state says how many replicas there are; ``temperature`` is tau, that of rung 0, and the others follow by :func:`ladder`.
    """
    within = metropolis.build_kernel(move_probabilities)

    def move(
        words: UInt32[jax.Array, " 4"], state: State, tables: Tables, temperature: jax.Array
    ) -> tuple[metropolis.State, Float[jax.Array, ""], metropolis.Info]:
        """One rung: the entries of ``state`` are those of the rung."""
        here = metropolis.State(state.position, state.score, state.feasible, state.log_prior + state.score / temperature)
        there, info = within(words, here, tables, temperature)
        # The compiler has this sum already, from the proposal's density; taking it from there would round at every step.
        prior = jnp.where(info.accepted, log_prior(tables, info.proposal.position), state.log_prior)
        return there, prior, info

    def transition(words: UInt32[jax.Array, " words"], state: State, tables: Tables, temperature: float | jax.Array) -> tuple[State, Info]:
        tables = jax.tree.map(jnp.asarray, tables)
        replicas = state.score.shape[0]
        temperatures = ladder(temperature, replicas, hottest)
        rung_words, pair_words = words[: replicas * moves.WORDS].reshape(replicas, moves.WORDS), words[replicas * moves.WORDS :]
        rungs = jax.tree.map(lambda _: 0, state)._replace(odd=None)
        moved, prior, info = jax.vmap(move, (0, rungs, None, 0))(rung_words, state, tables, temperatures)
        state = state._replace(position=moved.position, score=moved.score, feasible=moved.feasible, log_prior=prior)
        partner, tried = (jnp.where(state.odd, odd, even) for even, odd in zip(*_turns(replicas), strict=True))
        swapped, rate = _decide(pair_words, state, 1 / temperatures, partner)
        after = _count_trips(_exchange(state, jnp.where(swapped, partner, np.arange(replicas, dtype=np.int32))))
        return after._replace(odd=~state.odd), Info(
            within=info,
            tried=tried,
            swapped=tried & swapped[:-1],
            swap_rate=jnp.where(tried, rate[:-1], jnp.zeros((), rate.dtype)),
            energy_evaluations=info.energy_evaluations.sum(dtype=jnp.int32),
        )

    return transition


def _turns(replicas: int) -> list[tuple[NDArray[np.int32], NDArray[np.bool_]]]:
    """For the turn of the even pairs and that of the odd: partner of each rung (itself where it has none), whose turn it is."""
    turns = []
    for first in (0, 1):
        partner = np.arange(replicas, dtype=np.int32)
        for lower in range(first, replicas - 1, 2):
            partner[lower], partner[lower + 1] = lower + 1, lower
        turns.append((partner, partner[:-1] == np.arange(1, replicas)))
    return turns


def _decide(
    words: UInt32[jax.Array, " turn"], state: State, inverse: Float[jax.Array, " R"], partner: Int[jax.Array, " R"]
) -> tuple[Bool[jax.Array, " R"], Float[jax.Array, " R"]]:
    """Whether each rung changes places with its partner, and with what probability.

    Both rungs of a pair decide alike: they read one word, and changing r for its partner changes both signs of the product.
    """
    rungs = np.arange(len(inverse), dtype=np.int32)
    # A rung without a partner may read any word: it changes places with itself.
    word = words[jnp.minimum(jnp.minimum(rungs, partner) // 2, len(words) - 1)]
    log_ratio = (inverse - inverse[partner]) * (state.score[partner] - state.score)
    here = metropolis.State(state.position, state.score, state.feasible, jnp.zeros_like(log_ratio))
    there = metropolis.State(state.position[partner], state.score[partner], state.feasible[partner], log_ratio)
    _, accepted, rate = jax.vmap(metropolis.accept)(word, here, there, jnp.zeros_like(log_ratio))
    return accepted, rate


def _exchange(state: State, source: Int[jax.Array, " R"]) -> State:
    """Everything at rung ``source[r]`` goes to rung r."""
    ladder_of = {name: jnp.asarray(leaf)[source] for name, leaf in state._asdict().items() if name != "odd"}
    return State(**ladder_of, odd=state.odd)


def _count_trips(state: State) -> State:
    """Add a round trip where a replica is back at rung 0, and note who is at an end."""
    replicas = len(state.leg)
    rungs = np.arange(replicas)
    back = (rungs == 0) & (state.leg == 2)
    there = (rungs == replicas - 1) & (state.leg == 1)
    leg = jnp.where(rungs == 0, jnp.int8(1), jnp.where(there, jnp.int8(2), state.leg))
    return state._replace(leg=leg, round_trips=state.round_trips + back.astype(jnp.int32))


def run_tempering(
    tables: Tables,
    *,
    chains: int,
    steps: int,
    temperature: float,
    seed: int,
    superchains: int | None = None,
    replicas: int = REPLICAS,
    hottest: float | None = None,
    move_probabilities: tuple[float, float, float, float] = MOVE_PROBABILITIES,
    stream: int = 0,
) -> tuple[Chains, Exchange]:
    """Run ladders from overdispersed starts and record the cold rung after every step.

    Parameters
    ----------
    tables : Tables
    chains, steps : int
        At least 1 each; a chain is a ladder, and a step costs as many energy evaluations as it has replicas.
    temperature : float
        tau.
    seed, stream : int
        0 to 2^32 - 1; ``stream`` sets spaces of one seed apart.
    superchains : int, optional
        As for :func:`gnrs_ppl.inference.run_chains`. The chains of a superchain share the starts of all replicas: that of the
        cold one is the superchain's distinct start, the others are independent draws from p0.
    replicas : int
        R, at least 2.
    hottest : float, optional
        Greatest temperature before p0, above tau; 20 tau unless given.
    move_probabilities : tuple of four float
        How often each of the paper's moves is tried, in the order of ``MOVES``.

    Returns
    -------
    Chains
        ``accepted`` is that of the cold rung's own transition, before the swaps.
    Exchange

    Raises
    ------
    InputError
        For numbers out of range, and a run that does not fit (with the bytes).
    """
    groups = check_request(tables, chains=chains, steps=steps, temperature=temperature, seed=seed, superchains=superchains)
    _check_ladder(tables, chains, temperature, replicas, hottest)
    superchain = superchain_ids(chains, groups)
    starts = _draw_ladders(tables, groups, replicas, seed, stream)[superchain]
    space = padded(tables, room_for(tables.unary.shape[1]), tables.pairs.shape[0])
    key = jax.random.fold_in(jax.random.key(seed), np.uint32(stream))
    top = HOTTEST * temperature if hottest is None else hottest
    arguments = jax.tree.map(jnp.asarray, (space, starts, key, temperature, top))

    began = time.perf_counter()
    run = _compiled(steps, move_probabilities, jax.eval_shape(lambda *leaves: leaves, *arguments))
    compiled = time.perf_counter()
    begun, drawn, tried, swapped, round_trips, temperatures = jax.block_until_ready(run(*arguments))  # type: ignore[no-untyped-call]
    ended = time.perf_counter()

    position, score, feasible, accepted = (np.moveaxis(np.asarray(leaf), 0, 1) for leaf in drawn)
    return Chains(
        positions=position,
        score=score,
        feasible=feasible,
        move=np.full((chains, steps), NO_MOVE, np.int8),
        accepted=accepted,
        starts=starts[:, 0],
        start_score=np.asarray(begun.score)[:, 0],
        start_feasible=np.asarray(begun.feasible)[:, 0],
        superchain=superchain,
        kernel="tempering",
        temperature=temperature,
        seed=seed,
        energy_evaluations=chains * replicas * (steps + 1),
        wall_seconds=ended - compiled,
        compile_seconds=compiled - began,
    ), Exchange(
        ladder=np.asarray(temperatures, np.float64),
        swap_rates=_shares(np.asarray(swapped), np.asarray(tried)),
        round_trips=np.asarray(round_trips, np.int64).sum(1),
    )


def _shares(swapped: Int[NDArray[np.int32], "C pairs"], tried: Int[NDArray[np.int32], "C pairs"]) -> Float[NDArray[np.float64], " pairs"]:
    """Accepted over tried of each pair, over all chains; NaN where none was tried."""
    tries, rates = tried.sum(0, dtype=np.float64), np.full(tried.shape[1], np.nan)
    np.divide(swapped.sum(0, dtype=np.float64), tries, out=rates, where=tries > 0)
    return rates


def _check_ladder(tables: Tables, chains: int, temperature: float, replicas: int, hottest: float | None) -> None:
    if replicas < 2:
        raise InputError(f"{replicas} replicas exchange nothing", "ask for at least 2", source="arguments", field="replicas")
    if hottest is not None and not (math.isfinite(hottest) and hottest > temperature):
        remedy = f"give a finite number above {temperature}, such as {HOTTEST * temperature:g}"
        raise InputError(f"{hottest} is no hottest temperature", remedy, source="arguments", field="hottest")
    # A replica's structure and scores, what it proposes, and its random words.
    per_replica = 2 * (4 * tables.sizes.shape[0] + 2 * np.asarray(tables.unary).dtype.itemsize) + 4 * (moves.WORDS + 1)
    needed = chains * replicas * per_replica
    if needed > LARGEST_RESULT:
        problem = f"{chains} chains of {replicas} replicas need {needed} bytes, more than the {LARGEST_RESULT} allowed"
        raise InputError(problem, f"ask for at most {LARGEST_RESULT // per_replica} replicas in all", source="arguments", field="replicas")


def _draw_ladders(tables: Tables, superchains: int, replicas: int, seed: int, stream: int) -> Int[NDArray[np.int32], "superchains R V"]:
    """The starts of :func:`draw_starts` for the cold rung, independent draws from p0 for the others."""
    cold = draw_starts(tables, superchains, seed, stream)
    others = draw_prior(tables, superchains * (replicas - 1), np.random.default_rng([seed, superchains, stream, replicas]))
    return np.concatenate([cold[:, None], others.reshape(superchains, replicas - 1, -1)], axis=1)


@lru_cache(maxsize=16)
def _compiled(steps: int, move_probabilities: tuple[float, float, float, float], shapes: Any) -> Compiled:
    """Compile once per number of steps, move probabilities and shapes."""

    def run(tables: Tables, starts: jax.Array, key: jax.Array, temperature: jax.Array, hottest: jax.Array) -> tuple[Any, ...]:
        transition = build_kernel(hottest, move_probabilities)
        chains, replicas = starts.shape[:2]
        first = jax.vmap(init, (0, None, None))(starts, tables, temperature)
        none = jnp.zeros((chains, replicas - 1), jnp.int32)

        def step(carry: tuple[State, jax.Array, jax.Array], key: jax.Array) -> tuple[tuple[State, jax.Array, jax.Array], Any]:
            states, tried, swapped = carry
            words = jax.random.bits(key, (words_needed(replicas), chains), jnp.uint32)
            states, info = jax.vmap(transition, (1, 0, None, None))(words, states, tables, temperature)
            cold = (states.position[:, 0], states.score[:, 0], states.feasible[:, 0], info.within.accepted[:, 0])
            return (states, tried + info.tried.astype(jnp.int32), swapped + info.swapped.astype(jnp.int32)), cold

        (last, tried, swapped), drawn = jax.lax.scan(step, (first, none, none), jax.random.split(key, steps))
        return first, drawn, tried, swapped, last.round_trips, ladder(temperature, replicas, hottest)

    return jax.jit(run).lower(*shapes).compile()
