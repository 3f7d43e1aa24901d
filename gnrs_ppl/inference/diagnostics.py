"""Whether chains have mixed, judged without reading anything into option numbers (DESIGN section 4).

A slot is nominal: it is seen through indicators of its options, s_search through its ranks. Nested R-hat
(Margossian et al., Nested R-hat, Bayesian Analysis 2024) compares superchains, whose chains share a start:

    B = variance of superchain means,  W = mean over superchains of (variance of chain means + mean variance
    within a chain) nested R-hat = sqrt(1 + B / W)

Its null deals the same chains out to superchains at random, since chains that have forgotten their starts do
not care. The total variation of slot and pair marginals from the exact ones is held against that of as many
independent exact draws as the chains are worth. Each null is taken over all indicators, or all slots and
pairs, at once, so that a perfect sampler exceeds it in one run of a hundred.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import xarray as xr
from arviz_stats.base import array_stats  # type: ignore[attr-defined]
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray

from gnrs_ppl.inference.kernels import traits
from gnrs_ppl.inference.result import SAME_SCORE, Exchange
from gnrs_ppl.inference.trace import SCORE, Marginals, Trace, read_trace, require_marginals

ARVIZ: Final[Any] = array_stats
"""ArviZ on plain arrays, which needs NumPy and SciPy alone and carries no types."""

Floats = NDArray[np.float64]
Excess = dict[tuple[str, ...], float]
"""By the one slot or the two that it is about."""

LEVEL: Final = 0.99
"""A perfect sampler stays within a null this often, all slots and pairs (or all indicators) taken together.
"""
REPLICATES: Final = 999
"""Draws from a null: one more draw exceeds the 990th of 999 with probability 1 - LEVEL."""
SEED: Final = 0
"""Of the nulls, so that one file gets one verdict."""
LEAST_MASS: Final = 0.05
"""Options with this share of the draws are watched; of rarer ones too little can be told."""
STUCK_SHARE: Final = 0.05
"""When more chains than this never left their starts, and these differ, the run has not mixed."""
LEAST_DRAWS_PER_CHAIN: Final = 2
"""A chain worth fewer independent draws than this is no longer than its memory; plain R-hat is then about
1.2."""
ARVIZ_DRAWS: Final = 4
"""Draws a chain needs before ArviZ tells its effective number."""
LARGE: Final = 1.1
"""Nested R-hat above this calls for another kernel, below it for more steps."""
STAYS: Final = 1.5
"""A chain worth fewer independent draws than this stays where it first came to, and more steps are no
remedy."""
FAR: Final = 0.1
"""Marginals further off than this call for the draws that enumeration gives."""
ROUNDING: Final = 1e-9
QUANTILES: Final = {"q10": 0.1, "q50": 0.5, "q90": 0.9}
LEAST_SWAP_RATE: Final = 0.05
"""Neighbouring rungs that swap less often than this are as good as apart."""


class Diagnosis(NamedTuple):
    """What :func:`diagnose` found; None stands for what cannot be told.

    Attributes
    ----------
    verdict : {"mixed", "not mixed", "unknown"}
    sentence : str
        The verdict with its first reason and what to try, in one line.
    tv_excess, tv_excess_pairs : dict or None
        Per slot, and per pair of slots under ``<left>_<right>``: total variation of its marginal from the
        exact one, less what independent exact draws may show; fine when <= 0.
    r_hat_nested, r_hat_null : float or None
        Nested R-hat of the watched quantity that is furthest above its null (or least below), and the
        threshold of that null; infinite where chains of a superchain never differ.
    r_hat : float or None
        Plain R-hat (split, rank-normalised), the greatest over s_search and the indicators.
    ess : dict
        Effective number of draws: ``s_search`` (bulk) and ``indicators`` (the least).
    acceptance : dict
        Share of accepted proposals for each move that was tried; staying counts.
    hitting_time : dict
        Steps until a chain first has the run's best s_search: ``q10``, ``q50``, ``q90`` (None where that many
        never do), and the share of chains that ``never`` do.
    never_moved : float or None
        Share of chains whose every draw is their start; None for independent draws.
    exchange : dict or None
        From replica exchange: ``ladder`` (temperatures, the last infinite) and ``swap_rates`` (of
        neighbouring rungs; NaN where none was tried) as lists, and over the chains the ``q10``, ``q50`` and
        ``q90`` of their ``round_trips``.
    notes : tuple of str
    """

    verdict: str
    sentence: str
    tv_excess: dict[str, float] | None
    tv_excess_pairs: dict[str, float] | None
    r_hat_nested: float | None
    r_hat_null: float | None
    r_hat: float | None
    ess: dict[str, float | None]
    acceptance: dict[str, float]
    hitting_time: dict[str, float | None]
    never_moved: float | None
    exchange: dict[str, Any] | None
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """For JSON, which knows no infinity: None in its place."""
        found: dict[str, Any] = self._asdict() | {"notes": [*self.notes]}
        pairs = found.pop("tv_excess_pairs")
        if self.tv_excess is not None:
            greatest = max([*self.tv_excess.values(), *pairs.values()])
            found["tv_excess"] = {"greatest": greatest, "slots": self.tv_excess, "pairs": pairs}
        return {name: _finite(value) for name, value in found.items()}


class _Watched(NamedTuple):
    """K quantities that vary: their names and slots, means of each chain, mean variance within a chain, what
    ArviZ says.
    """

    names: list[str]
    slots: list[str]
    mean: Float[Floats, "C K"]
    within: Float[Floats, " K"]
    ess: Float[Floats, " K"]
    r_hat: Float[Floats, " K"]


class _Nested(NamedTuple):
    """Nested R-hat of the quantity that is furthest above its null; no value where starts and chains are too
    few for one.
    """

    name: str = ""
    value: float | None = None
    null: float | None = None
    exceeded: bool = False


def diagnose(tree: xr.DataTree, exact: Marginals | None = None) -> Diagnosis:
    """Judge all draws that the tree holds; to judge those after the first k, give ``tree.isel(draw=slice(k,
    None))``.

    Parameters
    ----------
    tree : xarray.DataTree
        As :func:`~gnrs_ppl.inference.load` gives it.
    exact : Marginals, optional
        Those the tree keeps are :func:`gnrs_ppl.inference.exact_marginals`.

    Raises
    ------
    InputError
        When the tree lacks something or holds what is no draw, and when the marginals are not those of its
        slots.
    """
    run = read_trace(tree)
    if exact is not None:
        require_marginals(run, exact)
    watched = _watch(run)
    nested = _nested_r_hat(watched, run.superchain)
    excess = None if exact is None else _tv_excess(run, watched, exact)
    never_moved, places = _never_moved(run)
    against = _against(
        run, watched, nested, excess, never_moved if never_moved is not None and places > 1 else 0.0
    )
    unsettled = _unsettled(run, watched, nested)
    verdict = "not mixed" if against else "unknown" if unsettled else "mixed"
    reasons = [*against, *unsettled] or [_in_favour(watched, nested, excess)]
    notes = reasons[1:]
    if nested.value == math.inf:
        notes.append("nested R-hat is infinite: chains that share a start never differ")
    if (
        nested.exceeded
        and (rest := _nested_r_hat(_watch(_second_half(run), arviz=False), run.superchain)).value is not None
    ):
        notes.append(f"without the first half of the draws, {_compared(rest)}")
    for slot in run.options:
        if slot not in watched.slots and np.ptp(run.drawn[slot]):
            notes.append(f"{slot}: no option holds {_percent(LEAST_MASS)} of the draws, so none is watched")
    notes += _unheld(run, excess)
    if run.exchange is not None:
        notes += _on_exchange(run.exchange)
    return Diagnosis(
        verdict=verdict,
        sentence=f"{verdict}: {reasons[0]}",
        tv_excess=None
        if excess is None
        else {slots[0]: value for slots, value in excess.items() if len(slots) == 1},
        tv_excess_pairs=None
        if excess is None
        else {"_".join(slots): value for slots, value in excess.items() if len(slots) > 1},
        r_hat_nested=nested.value,
        r_hat_null=nested.null,
        r_hat=_told(watched.r_hat, np.max),
        ess={
            SCORE: _told(watched.ess[_are_score(watched)], np.min),
            "indicators": _told(watched.ess[~_are_score(watched)], np.min),
        },
        acceptance=acceptance(run),
        hitting_time=_hitting_quantiles(hitting_time(run)),
        never_moved=never_moved,
        exchange=None if run.exchange is None else _travelled(run.exchange),
        notes=tuple(notes),
    )


# ---- what is judged


def _second_half(run: Trace) -> Trace:
    first = run.score.shape[1] // 2
    drawn = {slot: options[:, first:] for slot, options in run.drawn.items()}
    return run._replace(drawn=drawn, score=run.score[:, first:], feasible=run.feasible[:, first:])


# ---- what is watched


def _quantities(run: Trace) -> Iterator[tuple[str, str, Float[Floats, "C n"]]]:
    """Ranks of s_search, and indicators: of every option with mass, of infeasibility if it has."""
    yield SCORE, "", score_ranks(run)
    if (~run.feasible).mean() >= LEAST_MASS:
        yield "infeasible", "", (~run.feasible).astype(np.float64)
    for slot, labels in run.options.items():
        # by label: of two indicators that say the same, as those of two options do, the same one is named
        # whatever their numbers
        for option in sorted(
            np.flatnonzero(drawn_marginal(run, slot) >= LEAST_MASS).tolist(), key=labels.__getitem__
        ):
            yield f"{slot} = {labels[option]}", slot, (run.drawn[slot] == option).astype(np.float64)


def score_ranks(run: Trace) -> Float[Floats, "C n"]:
    """Ranks of s_search among all draws, in (0, 1); the mean rank where scores tie."""
    _, inverse, counts = np.unique(run.score, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - counts / 2)[inverse].reshape(run.score.shape) / run.score.size
    return ranks


def _watch(run: Trace, *, arviz: bool = True) -> _Watched:
    """Take stock of every quantity that varies; what ArviZ says is NaN where it is not asked, or the chains
    are too short.
    """
    chains, draws = run.score.shape
    arviz = arviz and draws >= ARVIZ_DRAWS
    rows: list[tuple[str, str, Floats, float, float, float]] = []
    for name, slot, values in _quantities(run):
        if not np.ptp(values):
            continue
        ess = r_hat = math.nan
        with np.errstate(
            divide="ignore", invalid="ignore"
        ):  # plain R-hat of chains that never move is infinite
            if (
                arviz
            ):  # ranks of an indicator are the indicator again, so that sorting it would change nothing
                ess = min(float(ARVIZ.ess(values, method="bulk" if name == SCORE else "mean")), values.size)
            if arviz and chains > 1:
                r_hat = float(ARVIZ.rhat(values, method="rank" if name == SCORE else "split"))
        within = float(values.var(1, ddof=1).mean()) if draws > 1 else 0.0
        rows.append((name, slot, values.mean(1), within, ess, r_hat))
    names, slots, means, within_all, ess_all, r_hats = zip(*rows, strict=True) if rows else ((),) * 6
    mean = np.array(means).reshape(len(rows), chains).T
    return _Watched([*names], [*slots], mean, np.array(within_all), np.array(ess_all), np.array(r_hats))


def _are_score(watched: _Watched) -> Bool[NDArray[np.bool_], " K"]:
    return np.array([name == SCORE for name in watched.names], bool)


def drawn_marginal(run: Trace, slot: str) -> Float[Floats, " n"]:
    """Share of the draws that each option of a slot has."""
    return np.bincount(run.drawn[slot].ravel(), minlength=len(run.options[slot])) / run.score.size


# ---- nulls


def _thresholds(null: Float[Floats, "R K"]) -> Float[Floats, " K"]:
    """K thresholds, each as many standard deviations above its mean, such that no column passes its own in
    LEVEL of the rows.
    """
    mean, deviation = null.mean(0), null.std(0)
    scaled = np.divide(null - mean, deviation, out=np.zeros_like(null), where=deviation > ROUNDING)
    return np.asarray(mean + np.quantile(scaled.max(1), LEVEL, method="higher") * deviation)


def _nested_r_hat(watched: _Watched, superchain: Int[NDArray[Any], " C"]) -> _Nested:
    """Nested R-hat against chains dealt out at random; computed as B / (B + W), which is finite where chains
    never differ. :func:`gnrs_ppl.inference.course.nested_r_hat` is that of one quantity, without the null.
    """
    sizes, chains = np.unique(superchain, return_counts=True)[1], len(superchain)
    groups, size = len(sizes), int(sizes[0])
    # too few ways to deal the chains out, and even the most telling one is no evidence at this level
    ways = math.lgamma(chains + 1) - groups * math.lgamma(size + 1) - math.lgamma(groups + 1)
    if not watched.names or (sizes != size).any() or ways < -math.log(1 - LEVEL):
        return _Nested()
    mean = watched.mean - watched.mean.mean(0)
    squares = (mean**2).sum(0)

    def between_share(order: Int[NDArray[Any], " C"]) -> Float[Floats, " K"]:
        between = (mean[order].reshape(groups, size, -1).mean(1) ** 2).sum(0)
        within = np.maximum(squares - size * between, 0) / (groups * (size - 1)) + watched.within
        return np.asarray(between / (between + (groups - 1) * within))

    generator = np.random.default_rng(SEED)
    observed = between_share(np.argsort(superchain, kind="stable"))
    threshold = _thresholds(
        np.array([between_share(generator.permutation(chains)) for _ in range(REPLICATES)])
    )
    worst = int((observed - threshold).argmax())

    def r_hat(share: float) -> float:
        return math.inf if share > 1 - ROUNDING else 1 / math.sqrt(1 - share)

    exceeded = bool(observed[worst] > threshold[worst] + ROUNDING)
    return _Nested(
        watched.names[worst], r_hat(float(observed[worst])), r_hat(float(threshold[worst])), exceeded
    )


def _tv_excess(run: Trace, watched: _Watched, exact: Marginals) -> Excess:
    """Total variation of each slot's and pair's marginal, less the threshold of as many independent exact
    draws as it is worth.

    A slot is worth the least effective number of its indicators, a pair the lesser of its slots' two. The
    columns of the null are drawn independently, those of a run are not; perfect samplers exceed one of them
    less often for it (docs/diagnostics.md, Levels).
    """
    generator = np.random.default_rng(SEED)
    slots = [*run.options]
    number = {slot: _independent_draws(run, watched, slot) for slot in slots}
    marginals: dict[tuple[str, ...], Floats] = {
        (slot,): marginal for slot, marginal in zip(slots, exact.slots, strict=True)
    }
    marginals |= {(slots[left], slots[right]): table for (left, right), table in sorted(exact.pairs.items())}
    found, null = [], []
    for names, marginal in marginals.items():
        draws = min(number[name] for name in names)
        probability = np.sort(marginal.ravel() / marginal.sum())[
            ::-1
        ]  # so that the order of options does not change the draws
        null.append(
            _total_variation(generator.multinomial(draws, probability, size=REPLICATES) / draws, probability)
        )
        cell = np.ravel_multi_index([run.drawn[name].ravel() for name in names], marginal.shape)
        found.append(
            float(_total_variation(np.bincount(cell, minlength=marginal.size) / cell.size, marginal.ravel()))
        )
    excess = np.array(found) - _thresholds(np.array(null).T)
    return dict(zip(marginals, excess.tolist(), strict=True))


def _independent_draws(run: Trace, watched: _Watched, slot: str) -> int:
    """Least effective number of a slot's indicators; where it never varied, each chain is one draw at least,
    if the chains are right.
    """
    of_slot = watched.ess[[s == slot for s in watched.slots]]
    return max(int(np.nanmin(of_slot)), 1) if np.isfinite(of_slot).any() else len(run.score)


def _total_variation(shares: Floats, probability: Floats) -> Floats:
    return np.asarray(np.abs(shares - probability).sum(-1) / 2)


# ---- single figures


def _never_moved(run: Trace) -> tuple[float | None, int]:
    """Share of chains that never left their start, and how many different starts these have."""
    if traits(run.kernel).independent:
        return None, 0
    stayed = np.all(
        [(drawn == run.starts[slot][:, None]).all(1) for slot, drawn in run.drawn.items()], axis=0
    )
    starts = np.stack([*run.starts.values()], axis=1)[stayed]
    return float(stayed.mean()), len(np.unique(starts, axis=0))


def acceptance(run: Trace) -> dict[str, float]:
    """Share of accepted proposals for each move that was tried."""
    tried = {name: run.move == number for number, name in enumerate(run.moves)}
    return {name: float(run.accepted[which].mean()) for name, which in tried.items() if which.any()}


def hitting_time(run: Trace) -> Float[Floats, " C"]:
    """Step at which each chain first has the best s_search of all draws; 0 at its start, infinite for
    never.
    """
    best = run.score >= run.score.max() - SAME_SCORE
    time = np.where(best.any(1), run.step[best.argmax(1)], math.inf)
    # scores of starts are not kept, but a start that is a best structure is known by its options
    structures = np.stack([drawn[best] for drawn in run.drawn.values()], axis=-1)
    known = {tuple(row) for row in np.unique(structures, axis=0).tolist()}
    starts = np.stack([*run.starts.values()], axis=-1).tolist()
    return np.where([tuple(start) in known for start in starts], 0.0, time)


def _hitting_quantiles(time: Float[Floats, " C"]) -> dict[str, float | None]:
    never = {"never": float(np.isinf(time).mean())}
    return {name: None if math.isinf(steps) else steps for name, steps in _quantiles(time).items()} | never


def _quantiles(values: NDArray[Any]) -> dict[str, float]:
    return {
        name: float(np.quantile(values, level, method="inverted_cdf")) for name, level in QUANTILES.items()
    }


def _travelled(exchange: Exchange) -> dict[str, Any]:
    return {
        "ladder": exchange.ladder.tolist(),
        "swap_rates": exchange.swap_rates.tolist(),
        "round_trips": _quantiles(exchange.round_trips),
    }


def _finite(value: Any) -> Any:
    """The same, with None for numbers that JSON does not know."""
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _told(values: Floats, choose: Callable[[Floats], Any]) -> float | None:
    """One of the numbers, or None where there is none."""
    known = values[~np.isnan(values)]
    return float(choose(known)) if known.size else None


# ---- words


def _against(
    run: Trace, watched: _Watched, nested: _Nested, excess: Excess | None, stuck: float
) -> list[str]:
    """Reasons why the run has not mixed, the plainest first, each with what to try."""
    draws = run.score.shape[1]
    kernel = traits(run.kernel)
    again = "; draw again with another --seed" if kernel.independent else ""
    longer = again or f"; try --steps {4 * draws}"
    other = again or (longer if kernel.exchanges else "; try --kernel tempering")
    each = (_told(watched.ess, np.min) or math.inf) / len(run.score)
    remedy = other if each < STAYS or (nested.value is not None and nested.value > LARGE) else longer
    found = []
    if not run.feasible.any():
        found.append("no draw is feasible; gnrs draft names the conditions in the way")
    if stuck > STUCK_SHARE:
        found.append(f"{_percent(stuck)} of chains never left their start{other}")
    if nested.exceeded:
        found.append(f"chains depend on their start, {_compared(nested)}{remedy}")
    if each < LEAST_DRAWS_PER_CHAIN:
        found.append(f"a chain is worth {each:.1f} independent draws{other if each < STAYS else longer}")
    if off := {names: value for names, value in (excess or {}).items() if value > ROUNDING}:
        worst = max(
            off, key=lambda names: (-len(names), off[names])
        )  # a slot before a pair, which is off where its slots are
        remedy = "; try --kernel exact" if off[worst] > FAR and not again else remedy
        found.append(
            f"marginals of {' and '.join(worst)} are off by {off[worst]:.2g} more than chance "
            f"explains{remedy}"
        )
    return found


def _unsettled(run: Trace, watched: _Watched, nested: _Nested) -> list[str]:
    """Reasons why nothing can be said."""
    if all(len(labels) == 1 for labels in run.options.values()):
        return []
    kernel = traits(run.kernel)
    found, remedy = [], "" if kernel.independent else "; see --kernel exact"
    for slot, labels in run.options.items():
        if len(labels) > 1 and not np.ptp(run.drawn[slot]):
            found.append(f"{slot} never varied, of {len(labels)} options{remedy}")
    if SCORE not in watched.names:
        found.append(f"{SCORE} never varied{remedy}")
    chains, draws = run.score.shape
    if draws < ARVIZ_DRAWS:
        more = (
            "a particle is drawn once; compare runs of other seeds" if kernel.particles else "try --steps 200"
        )
        more = "a solver samples nothing" if kernel.solves else more
        found.append(f"{draws} draws of a chain are too few for an effective number; {more}")
    if watched.names and nested.value is None:
        starts = len(np.unique(run.superchain))
        found.append(
            f"{chains} chains from {starts} starts are too few, or too unequal, for nested R-hat; try "
            "--chains 64"
        )
    return found


def _in_favour(watched: _Watched, nested: _Nested, excess: Excess | None) -> str:
    if not watched.names:
        return "there is one structure"
    exact = ", marginals within chance of the exact ones" if excess else ""
    return f"{_compared(nested)}, worth {_told(watched.ess, np.min):.0f} independent draws{exact}"


def _unheld(run: Trace, excess: Excess | None) -> list[str]:
    """What was not held against exact marginals."""
    if excess is None:
        return ["not held against exact marginals"]
    missing = [
        f"{left} and {right}"
        for left, right in itertools.combinations(run.options, 2)
        if (left, right) not in excess
    ]
    return [f"pairs not held against exact marginals: {', '.join(missing)}"] if missing else []


def _on_exchange(exchange: Exchange) -> list[str]:
    """How the replicas travelled, and what hinders them."""
    rates, trips = exchange.swap_rates, exchange.round_trips
    shares = ", ".join("none tried" if math.isnan(rate) else _percent(rate) for rate in rates.tolist())
    quantiles = ", ".join(f"{name} {value:g}" for name, value in _quantiles(trips).items())
    found = [
        f"replica exchange: swaps accepted between neighbouring rungs {shares}; round trips of a chain's "
        f"replicas {quantiles}"
    ]
    for pair in np.flatnonzero(rates < LEAST_SWAP_RATE).tolist():
        low, high = exchange.ladder[pair : pair + 2].tolist()
        found.append(
            f"rungs at temperatures {low:.3g} and {high:.3g} swap in {_percent(rates[pair])} of tries; give "
            "more replicas"
        )
    if not trips.any():
        found.append(
            "no replica made a round trip, so that the hot rungs never helped; try more steps, or other "
            "replicas"
        )
    return found


def _compared(nested: _Nested) -> str:
    return f"nested R-hat {nested.value:.4f} where chance allows {nested.null:.4f} ({nested.name})"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"
