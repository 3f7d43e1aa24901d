"""What a run of chains gives back, whichever kernel made it, and what may be asked for."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference.moves import MOVES
from gnrs_ppl.models.energy import Tables

LARGEST_RESULT = 4 * 2**30
"""Bytes of recorded draws a run may ask for; making them takes about three times as much for a moment."""
SINGLE = np.finfo(np.float32)
SAME_SCORE = 1e-6
"""Scores this near are one score, summed in float32 in another order."""
NO_MOVE = -1
"""Move number of draws that no move made."""


class Exchange(NamedTuple):
    """How well the replicas of a run travelled.

    Attributes
    ----------
    ladder : (R,) float64
        Temperature of each rung, rising from tau to infinity (p0).
    swap_rates : (R - 1,) float64
        Share of the tried swaps of each pair that were accepted, over all chains; NaN where none was tried.
    round_trips : (C,) int64
        Round trips of all replicas of each chain; 0 everywhere says that the hot rungs never helped.
    """

    ladder: Float[NDArray[np.float64], " R"]
    swap_rates: Float[NDArray[np.float64], " pairs"]
    round_trips: Int[NDArray[np.int64], " C"]


class Stages(NamedTuple):
    """How a population of particles came from p0 to tau, in S stages; the last resampling and its mutations
    are not counted.

    Attributes
    ----------
    exponents : (S,) float64
        Rising to 1; the particles started at 0.
    temperatures : (S,) float64
        tau over the exponents, falling to tau.
    ess : (S,) float64
        Effective number of particles once they were weighted for the stage's temperature.
    acceptance : (S + 1,) float64
        Share of accepted mutations at p0, and at each temperature.
    """

    exponents: Float[NDArray[np.float64], " S"]
    temperatures: Float[NDArray[np.float64], " S"]
    ess: Float[NDArray[np.float64], " S"]
    acceptance: Float[NDArray[np.float64], " S_and_one"]


class Chains(NamedTuple):
    """Recorded draws of C chains; the start is not among them.

    Attributes
    ----------
    positions : (C, draws, V) int32
        Option of each variable.
    score : (C, draws) float
        s_search.
    feasible, accepted : (C, draws) bool
    move : (C, draws) int8
        Number of the move in ``MOVES``; ``NO_MOVE`` where there was none.
    starts : (C, V) int32
    start_score : (C,) float
    start_feasible : (C,) bool
    superchain : (C,) int32
        Chains of one superchain share their start.
    kernel : str
    temperature : float
    seed : int
    energy_evaluations : int
        How many structures were scored, starts included.
    wall_seconds, compile_seconds : float
        Running time without compiling, and compiling alone (0 where a compiled kernel of the same shapes was
        at hand).
    settings : tuple of (name, value)
        Of the kernel, as they were given.
    exchange : Exchange, optional
        How the replicas travelled, from replica exchange.
    stages : Stages, optional
        From tempered particles.
    log_normalizer : float, optional
        Estimate of log Z = log sum_a p0(a) exp(s_search / tau), from tempered particles; the exponential of
        it is unbiased but for the choice of exponents.
    bound : float, optional
        No structure has a greater s_search, from CP-SAT.
    """

    positions: Int[NDArray[np.int32], "C draws V"]
    score: Float[NDArray[np.floating], "C draws"]
    feasible: Bool[NDArray[np.bool_], "C draws"]
    move: Int[NDArray[np.int8], "C draws"]
    accepted: Bool[NDArray[np.bool_], "C draws"]
    starts: Int[NDArray[np.int32], "C V"]
    start_score: Float[NDArray[np.floating], " C"]
    start_feasible: Bool[NDArray[np.bool_], " C"]
    superchain: Int[NDArray[np.int32], " C"]
    kernel: str
    temperature: float
    seed: int
    energy_evaluations: int
    wall_seconds: float
    compile_seconds: float
    settings: tuple[tuple[str, Any], ...] = ()
    exchange: Exchange | None = None
    stages: Stages | None = None
    log_normalizer: float | None = None
    bound: float | None = None


class Ranked(NamedTuple):
    """One structure: position (V,) int32, s_search, h; and its probability, NaN where only chains tell of
    it.
    """

    position: Int[NDArray[np.int32], " V"]
    score: float
    feasible: bool
    probability: float = math.nan


class MoveCount(NamedTuple):
    """How often a move was tried, accepted (staying counts), and led to another structure."""

    tried: int
    accepted: int
    changed: int


def best_visited(chains: Chains) -> Ranked:
    """Structure visited of greatest s_search, or started from; of several that tie that of lowest options.

    Pools hold first what was read from the sentence, and the answer is no matter of the seed.

    Parameters
    ----------
    chains : Chains
    """
    score = np.concatenate([chains.start_score[:, None], chains.score], axis=1)
    chain, draw = np.nonzero(score >= score.max() - SAME_SCORE)
    positions = np.concatenate([chains.starts[:, None], chains.positions], axis=1)[chain, draw]
    first = int(np.lexsort(positions.T[::-1])[0])
    feasible = np.concatenate([chains.start_feasible[:, None], chains.feasible], axis=1)
    at = chain[first], draw[first]
    return Ranked(positions[first], float(score[at]), bool(feasible[at]))


def move_counts(chains: Chains) -> dict[str, MoveCount]:
    """Per move of the paper: tried, accepted, changed."""
    before = np.concatenate([chains.starts[:, None], chains.positions[:, :-1]], axis=1)
    changed = (before != chains.positions).any(axis=-1)
    counts = {}
    for number, name in enumerate(MOVES):
        tried = chains.move == number
        counts[name] = MoveCount(
            int(tried.sum()), int((tried & chains.accepted).sum()), int((tried & changed).sum())
        )
    return counts


def superchain_ids(chains: int, superchains: int) -> Int[NDArray[np.int32], " C"]:
    """Superchain of each chain: equal stretches of neighbours."""
    return np.repeat(np.arange(superchains, dtype=np.int32), chains // superchains)


def check_request(
    tables: Tables,
    *,
    chains: int,
    steps: int,
    temperature: float,
    seed: int,
    superchains: int | None,
    spaces: int = 1,
) -> int:
    """Refuse what cannot be run, before anything is; give back the number of superchains.

    Unless given, it is the greatest divisor of ``chains`` up to 8.

    Raises
    ------
    InputError
        Naming the argument and the remedy.
    """
    for name, value in (("chains", chains), ("steps", steps)):
        if value < 1:
            raise InputError(f"{value} asked for", "ask for at least 1", source="arguments", field=name)
    require_temperature(temperature)
    if not 0 <= seed < 2**32:
        raise InputError(
            f"{seed} is no seed",
            f"give a whole number from 0 to {2**32 - 1}",
            source="arguments",
            field="seed",
        )
    if superchains is not None and (superchains < 1 or chains % superchains):
        remedy = f"give a number that divides the {chains} chains, 1 to {chains}"
        raise InputError(
            f"{superchains} superchains cannot share {chains} chains",
            remedy,
            source="arguments",
            field="superchains",
        )
    per_draw = 4 * tables.sizes.shape[0] + np.asarray(tables.unary).dtype.itemsize + 3
    needed = spaces * chains * (steps + 1) * per_draw
    if needed > LARGEST_RESULT:
        on = f" on each of {spaces} spaces" if spaces > 1 else ""
        problem = (
            f"{chains} chains of {steps} steps{on} need {needed} bytes, more than the "
            f"{LARGEST_RESULT} allowed"
        )
        raise InputError(
            problem,
            f"ask for at most {LARGEST_RESULT // per_draw} draws in all",
            source="arguments",
            field="chains",
        )
    require_finite(tables)
    return superchains or max(number for number in range(1, 9) if chains % number == 0)


def require_temperature(temperature: Any) -> None:
    """Refuse what is no tau.

    Raises
    ------
    InputError
    """
    kind = np.asarray(temperature).dtype
    given = np.ndim(temperature) == 0 and np.issubdtype(kind, np.number)  # a bool is no number
    # the samplers compute with 32 bits, in which 1e300 is infinite and 1e-300 nothing
    if not (given and float(SINGLE.tiny) <= temperature <= float(SINGLE.max)):
        raise InputError(
            f"{temperature} is no temperature",
            "give a positive number such as 0.08",
            source="arguments",
            field="temperature",
        )


def require_finite(tables: Tables) -> None:
    """Refuse scores that no density can be made of.

    Raises
    ------
    InputError
    """
    for table in (tables.unary, tables.pairwise, tables.penalty):
        if not np.isfinite(np.asarray(table)).all():
            raise InputError(
                "the scores are not finite",
                "look for NaN or infinite weights and features",
                source="tables",
                field="unary",
            )
