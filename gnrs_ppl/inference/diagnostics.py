"""Whether chains have mixed, judged without reading anything into option numbers (DESIGN section 4).

A slot is nominal: it is seen through indicators of its options, s_search through its ranks. Nested R-hat (Margossian et al., Nested
R-hat, Bayesian Analysis 2024) compares superchains, whose chains share a start:

    B = variance of superchain means,  W = mean over superchains of (variance of chain means + mean variance within a chain)
    nested R-hat = sqrt(1 + B / W)

Its null deals the same chains out to superchains at random, since chains that have forgotten their starts do not care. The total
variation of slot marginals from the exact ones is held against that of as many independent exact draws as the chains are worth. Each
null is taken over all indicators, or all slots, at once, so that a perfect sampler exceeds it in one run of a hundred.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import xarray as xr
from arviz_stats.base import array_stats  # type: ignore[attr-defined]
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray

from gnrs_ppl.context.files import write_all
from gnrs_ppl.errors import InputError
from gnrs_ppl.inference.trace import REMEDY

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ARVIZ: Final[Any] = array_stats
"""ArviZ on plain arrays, which needs NumPy and SciPy alone and carries no types."""

Floats = NDArray[np.float64]
Marginals = Sequence[Float[NDArray[np.floating], " n"]]

LEVEL: Final = 0.99
"""A perfect sampler stays within a null this often, all slots (or all indicators) taken together."""
REPLICATES: Final = 999
"""Draws from a null: one more draw exceeds the 990th of 999 with probability 1 - LEVEL."""
SEED: Final = 0
"""Of the nulls, so that one file gets one verdict."""
LEAST_MASS: Final = 0.05
"""Options with this share of the draws are watched; of rarer ones too little can be told."""
STUCK_SHARE: Final = 0.05
"""When more chains than this never left their starts, and these differ, the run has not mixed."""
LEAST_DRAWS_PER_CHAIN: Final = 2
"""A chain worth fewer independent draws than this is no longer than its memory; plain R-hat is then about 1.2."""
ARVIZ_DRAWS: Final = 4
"""Draws a chain needs before ArviZ tells its effective number."""
LARGE: Final = 1.1
"""Nested R-hat above this calls for another kernel, below it for more steps."""
SAME_SCORE: Final = 1e-6
"""Scores this near are one score, summed in float32 in another order."""
ROUNDING: Final = 1e-9
SCORE: Final = "s_search"
HITTING_QUANTILES: Final = {"q10": 0.1, "q50": 0.5, "q90": 0.9}
PLOTTED_CHAINS, RANK_BINS, PLOT_COLUMNS, LABELLED_OPTIONS = 64, 20, 4, 12


class Diagnosis(NamedTuple):
    """What :func:`diagnose` found; None stands for what cannot be told.

    Attributes
    ----------
    verdict : {"mixed", "not mixed", "unknown"}
    sentence : str
        The verdict with its first reason and what to try, in one line.
    tv_excess : dict or None
        Per slot: total variation of its marginal from the exact one, less what independent exact draws may show; fine when <= 0.
    r_hat_nested, r_hat_null : float or None
        Nested R-hat of the watched quantity that is furthest above its null (or least below), and the threshold of that null;
        infinite where chains of a superchain never differ.
    r_hat : float or None
        Plain R-hat (split, rank-normalised), the greatest over s_search and the indicators.
    ess : dict
        Effective number of draws: ``s_search`` (bulk) and ``indicators`` (the least).
    acceptance : dict
        Share of accepted proposals for each move that was tried; staying counts.
    hitting_time : dict
        Steps until a chain first has the run's best s_search: ``q10``, ``q50``, ``q90`` (None where that many never do), and the
        share of chains that ``never`` do.
    never_moved : float or None
        Share of chains whose every draw is their start; None for independent draws.
    notes : tuple of str
    """

    verdict: str
    sentence: str
    tv_excess: dict[str, float] | None
    r_hat_nested: float | None
    r_hat_null: float | None
    r_hat: float | None
    ess: dict[str, float | None]
    acceptance: dict[str, float]
    hitting_time: dict[str, float | None]
    never_moved: float | None
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """For JSON, which knows no infinity: None in its place."""
        found: dict[str, Any] = self._asdict() | {"notes": [*self.notes]}
        if self.tv_excess is not None:
            found["tv_excess"] = {"greatest": max(self.tv_excess.values()), "slots": self.tv_excess}
        return {name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in found.items()}


class _Run(NamedTuple):
    """A tree's arrays: C chains of n draws; ``options`` are the labels of each slot, ``step`` numbers the draws from 1."""

    options: dict[str, list[str]]
    drawn: dict[str, Int[NDArray[Any], "C n"]]
    starts: dict[str, Int[NDArray[Any], " C"]]
    score: Float[Floats, "C n"]
    feasible: Bool[NDArray[np.bool_], "C n"]
    move: Int[NDArray[Any], "C n"]
    accepted: Bool[NDArray[np.bool_], "C n"]
    superchain: Int[NDArray[Any], " C"]
    step: Int[NDArray[Any], " n"]
    moves: list[str]
    kernel: str


class _Watched(NamedTuple):
    """K quantities that vary: their names and slots, means of each chain, mean variance within a chain, what ArviZ says."""

    names: list[str]
    slots: list[str]
    mean: Float[Floats, "C K"]
    within: Float[Floats, " K"]
    ess: Float[Floats, " K"]
    r_hat: Float[Floats, " K"]


class _Nested(NamedTuple):
    """Nested R-hat of the quantity that is furthest above its null; no value where starts and chains are too few for one."""

    name: str = ""
    value: float | None = None
    null: float | None = None
    exceeded: bool = False


def diagnose(tree: xr.DataTree, exact: Marginals | None = None) -> Diagnosis:
    """Judge all draws that the tree holds; to judge those after the first k, give ``tree.isel(draw=slice(k, None))``.

    Parameters
    ----------
    tree : xarray.DataTree
        As :func:`gnrs_ppl.inference.trace.load` gives it.
    exact : sequence of (n_v,) arrays, optional
        Exact marginal of every slot (:func:`gnrs_ppl.inference.exact.slot_marginals`).

    Raises
    ------
    InputError
        When the tree lacks something or holds what is no draw, and when the marginals are not those of its slots.
    """
    run = _read(tree)
    marginals = None if exact is None else _checked(run, exact)
    watched = _watch(run)
    nested = _nested_r_hat(watched, run.superchain)
    excess = None if marginals is None else _tv_excess(run, watched, marginals)
    never_moved, places = _never_moved(run)
    against = _against(run, watched, nested, excess, never_moved if never_moved is not None and places > 1 else 0.0)
    unsettled = _unsettled(run, watched, nested)
    verdict = "not mixed" if against else "unknown" if unsettled else "mixed"
    reasons = [*against, *unsettled] or [_in_favour(watched, nested, excess)]
    notes = reasons[1:]
    if nested.value == math.inf:
        notes.append("nested R-hat is infinite: chains that share a start never differ")
    if nested.exceeded and (rest := _nested_r_hat(_watch(_second_half(run), arviz=False), run.superchain)).value is not None:
        notes.append(f"without the first half of the draws, {_compared(rest)}")
    for slot in run.options:
        if slot not in watched.slots and np.ptp(run.drawn[slot]):
            notes.append(f"{slot}: no option holds {_percent(LEAST_MASS)} of the draws, so none is watched")
    if excess is None:
        notes.append("not held against exact marginals")
    return Diagnosis(
        verdict=verdict,
        sentence=f"{verdict}: {reasons[0]}",
        tv_excess=excess,
        r_hat_nested=nested.value,
        r_hat_null=nested.null,
        r_hat=_told(watched.r_hat, np.max),
        ess={SCORE: _told(watched.ess[_are_score(watched)], np.min), "indicators": _told(watched.ess[~_are_score(watched)], np.min)},
        acceptance=_acceptance(run),
        hitting_time=_hitting_quantiles(_hitting_time(run)),
        never_moved=never_moved,
        notes=tuple(notes),
    )


def plots(tree: xr.DataTree, folder: Path, exact: Marginals | None = None) -> list[Path]:
    """Write pictures of a run as PNG files: trace and ranks of s_search, slot marginals, hitting time, acceptance by move.

    Raises
    ------
    InputError
        As :func:`diagnose`; also when matplotlib is missing, and when the folder cannot be written.
    """
    try:
        from matplotlib.figure import Figure  # used without pyplot it is drawn by Agg, and no figure stays open
    except ImportError:
        raise InputError("plots need matplotlib, which is not installed", "pip install 'gnrs-ppl[plots]'") from None
    run = _read(tree)
    marginals = None if exact is None else _checked(run, exact)
    pictures: dict[str, tuple[tuple[float, float], Callable[[_Run, Figure], None]]] = {
        "trace.png": ((9, 4), _plot_trace),
        "rank.png": ((9, 4), _plot_rank),
        "marginals.png": ((12, 3.5 * -(-len(run.options) // PLOT_COLUMNS)), partial(_plot_marginals, marginals=marginals)),
        "hitting_time.png": ((7, 4), _plot_hitting_time),
        "acceptance.png": ((7, 3), _plot_acceptance),
    }
    files = []
    for name, (size, draw) in pictures.items():
        figure, content = Figure(figsize=size, layout="constrained"), io.BytesIO()
        draw(run, figure)
        figure.savefig(content, format="png")
        files.append((name, content.getvalue()))
    write_all(folder, files)
    return [folder / name for name in pictures]


# ---- reading


def _read(tree: xr.DataTree) -> _Run:
    def take(group: str, name: str) -> NDArray[Any]:
        try:
            return np.asarray(tree[group][name].values)
        except KeyError:
            raise InputError(f"holds no {group}/{name}", REMEDY, source="draws") from None

    score = take("posterior", SCORE).astype(np.float64)
    slots = [str(name) for name in tree["posterior"].data_vars if name != SCORE]
    run = _Run(
        options={slot: [str(label) for label in take("constant_data", f"{slot}_option")] for slot in slots},
        drawn={slot: take("posterior", slot) for slot in slots},
        starts={slot: take("constant_data", f"{slot}_start") for slot in slots},
        score=score,
        feasible=take("sample_stats", "feasible").astype(bool),
        move=take("sample_stats", "move"),
        accepted=take("sample_stats", "accepted").astype(bool),
        superchain=take("constant_data", "superchain"),
        step=take("posterior", "draw") + 1,
        moves=json.loads(tree.attrs.get("moves", "[]")),
        kernel=str(tree.attrs.get("kernel", "")),
    )
    if not score.size:
        raise InputError("there are none", REMEDY, source="draws")
    if not np.isfinite(score).all():
        share = _percent(1 - float(np.isfinite(score).mean()))
        raise InputError(f"{share} are no finite numbers", "sample again with finite weights", source="draws", field=SCORE)
    for slot, drawn in run.drawn.items():
        if drawn.min() < 0 or drawn.max() >= len(run.options[slot]):
            raise InputError(f"an option outside its pool of {len(run.options[slot])}", REMEDY, source="draws", field=slot)
    return run


def _second_half(run: _Run) -> _Run:
    first = run.score.shape[1] // 2
    drawn = {slot: options[:, first:] for slot, options in run.drawn.items()}
    return run._replace(drawn=drawn, score=run.score[:, first:], feasible=run.feasible[:, first:])


def _checked(run: _Run, exact: Marginals) -> list[Floats]:
    given, needed = [len(marginal) for marginal in exact], [len(labels) for labels in run.options.values()]
    if given != needed:
        raise InputError(f"exact marginals over {given} options for slots of {needed}", "give those of the space that was sampled")
    return [np.asarray(marginal, np.float64) for marginal in exact]


# ---- what is watched


def _quantities(run: _Run) -> Iterator[tuple[str, str, Float[Floats, "C n"]]]:
    """Ranks of s_search (the mean rank where scores tie), and indicators: of every option with mass, of infeasibility if it has."""
    _, inverse, counts = np.unique(run.score, return_inverse=True, return_counts=True)
    yield SCORE, "", (np.cumsum(counts) - counts / 2)[inverse].reshape(run.score.shape) / run.score.size
    if (~run.feasible).mean() >= LEAST_MASS:
        yield "infeasible", "", (~run.feasible).astype(np.float64)
    for slot, labels in run.options.items():
        # by label: of two indicators that say the same, as those of two options do, the same one is named whatever their numbers
        for option in sorted(np.flatnonzero(_marginal(run, slot) >= LEAST_MASS).tolist(), key=labels.__getitem__):
            yield f"{slot} = {labels[option]}", slot, (run.drawn[slot] == option).astype(np.float64)


def _watch(run: _Run, *, arviz: bool = True) -> _Watched:
    """Take stock of every quantity that varies; what ArviZ says is NaN where it is not asked, or the chains are too short."""
    chains, draws = run.score.shape
    arviz = arviz and draws >= ARVIZ_DRAWS
    rows: list[tuple[str, str, Floats, float, float, float]] = []
    for name, slot, values in _quantities(run):
        if not np.ptp(values):
            continue
        ess = r_hat = math.nan
        with np.errstate(divide="ignore", invalid="ignore"):  # plain R-hat of chains that never move is infinite
            if arviz:  # ranks of an indicator are the indicator again, so that sorting it would change nothing
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


def _marginal(run: _Run, slot: str) -> Floats:
    return np.bincount(run.drawn[slot].ravel(), minlength=len(run.options[slot])) / run.score.size


# ---- nulls


def _thresholds(null: Float[Floats, "R K"]) -> Float[Floats, " K"]:
    """K thresholds, each as many standard deviations above its mean, such that no column passes its own in LEVEL of the rows."""
    mean, deviation = null.mean(0), null.std(0)
    scaled = np.divide(null - mean, deviation, out=np.zeros_like(null), where=deviation > ROUNDING)
    return np.asarray(mean + np.quantile(scaled.max(1), LEVEL, method="higher") * deviation)


def _nested_r_hat(watched: _Watched, superchain: Int[NDArray[Any], " C"]) -> _Nested:
    """Nested R-hat against chains dealt out at random; computed as B / (B + W), which is finite where chains never differ."""
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
    threshold = _thresholds(np.array([between_share(generator.permutation(chains)) for _ in range(REPLICATES)]))
    worst = int((observed - threshold).argmax())

    def r_hat(share: float) -> float:
        return math.inf if share > 1 - ROUNDING else 1 / math.sqrt(1 - share)

    exceeded = bool(observed[worst] > threshold[worst] + ROUNDING)
    return _Nested(watched.names[worst], r_hat(float(observed[worst])), r_hat(float(threshold[worst])), exceeded)


def _tv_excess(run: _Run, watched: _Watched, exact: list[Floats]) -> dict[str, float]:
    """Total variation of each slot's marginal, less the threshold of independent exact draws of its least effective number."""
    generator = np.random.default_rng(SEED)
    found, null = [], []
    for slot, marginal in zip(run.options, exact, strict=True):
        of_slot = watched.ess[[s == slot for s in watched.slots]]
        # a slot that never varied has no effective number: each chain is one draw at least, if the chains are right
        number = int(np.nanmin(of_slot)) if np.isfinite(of_slot).any() else len(run.score)
        probability = np.sort(marginal / marginal.sum())[::-1]  # so that the order of options does not change the draws
        shares = generator.multinomial(max(number, 1), probability, size=REPLICATES) / max(number, 1)
        null.append(_total_variation(shares, probability))
        found.append(float(_total_variation(_marginal(run, slot), marginal)))
    excess = np.array(found) - _thresholds(np.array(null).T)
    return dict(zip(run.options, excess.tolist(), strict=True))


def _total_variation(shares: Floats, probability: Floats) -> Floats:
    return np.asarray(np.abs(shares - probability).sum(-1) / 2)


# ---- single figures


def _never_moved(run: _Run) -> tuple[float | None, int]:
    """Share of chains that never left their start, and how many different starts these have."""
    if run.kernel == "exact":
        return None, 0
    stayed = np.all([(drawn == run.starts[slot][:, None]).all(1) for slot, drawn in run.drawn.items()], axis=0)
    starts = np.stack([*run.starts.values()], axis=1)[stayed]
    return float(stayed.mean()), len(np.unique(starts, axis=0))


def _acceptance(run: _Run) -> dict[str, float]:
    tried = {name: run.move == number for number, name in enumerate(run.moves)}
    return {name: float(run.accepted[which].mean()) for name, which in tried.items() if which.any()}


def _hitting_time(run: _Run) -> Float[Floats, " C"]:
    """Step at which each chain first has the best s_search of all draws; 0 at its start, infinite for never."""
    best = run.score >= run.score.max() - SAME_SCORE
    time = np.where(best.any(1), run.step[best.argmax(1)], math.inf)
    # scores of starts are not kept, but a start that is a best structure is known by its options
    structures = np.stack([drawn[best] for drawn in run.drawn.values()], axis=-1)
    known = {tuple(row) for row in np.unique(structures, axis=0).tolist()}
    starts = np.stack([*run.starts.values()], axis=-1).tolist()
    return np.where([tuple(start) in known for start in starts], 0.0, time)


def _hitting_quantiles(time: Float[Floats, " C"]) -> dict[str, float | None]:
    quantiles = {name: float(np.quantile(time, level, method="inverted_cdf")) for name, level in HITTING_QUANTILES.items()}
    never = {"never": float(np.isinf(time).mean())}
    return {name: None if math.isinf(steps) else steps for name, steps in quantiles.items()} | never


def _told(values: Floats, choose: Callable[[Floats], Any]) -> float | None:
    """One of the numbers, or None where there is none."""
    known = values[~np.isnan(values)]
    return float(choose(known)) if known.size else None


# ---- words


def _against(run: _Run, watched: _Watched, nested: _Nested, excess: dict[str, float] | None, stuck: float) -> list[str]:
    """Reasons why the run has not mixed, the plainest first, each with what to try."""
    draws = run.score.shape[1]
    again = "; draw again with another --seed" if run.kernel == "exact" else ""
    longer = again or f"; try --steps {4 * draws}"
    other = again or (longer if run.kernel == "tempering" else "; try --kernel tempering")
    remedy = other if nested.value is not None and nested.value > LARGE else longer
    found = []
    if not run.feasible.any():
        found.append("no draw is feasible; gnrs draft names the conditions in the way")
    if stuck > STUCK_SHARE:
        found.append(f"{_percent(stuck)} of chains never left their start{other}")
    if nested.exceeded:
        found.append(f"chains depend on their start, {_compared(nested)}{remedy}")
    each = (_told(watched.ess, np.min) or math.inf) / len(run.score)
    if each < LEAST_DRAWS_PER_CHAIN:
        # about one: it stays where it first came to
        found.append(f"a chain is worth {each:.1f} independent draws{other if each < 1.5 else longer}")
    if excess and max(excess.values()) > ROUNDING:
        worst = max(excess, key=excess.__getitem__)
        found.append(f"marginals of {worst} are off by {excess[worst]:.2g} more than chance explains{remedy}")
    return found


def _unsettled(run: _Run, watched: _Watched, nested: _Nested) -> list[str]:
    """Reasons why nothing can be said."""
    if all(len(labels) == 1 for labels in run.options.values()):
        return []
    found = []
    for slot, labels in run.options.items():
        if len(labels) > 1 and not np.ptp(run.drawn[slot]):
            found.append(f"{slot} never varied, of {len(labels)} options; see --kernel exact")
    if SCORE not in watched.names:
        found.append(f"{SCORE} never varied; see --kernel exact")
    chains, draws = run.score.shape
    if draws < ARVIZ_DRAWS:
        found.append(f"{draws} draws of a chain are too few for an effective number; try --steps 200")
    if watched.names and nested.value is None:
        starts = len(np.unique(run.superchain))
        found.append(f"{chains} chains from {starts} starts are too few, or too unequal, for nested R-hat; try --chains 64")
    return found


def _in_favour(watched: _Watched, nested: _Nested, excess: dict[str, float] | None) -> str:
    if not watched.names:
        return "there is one structure"
    exact = ", marginals within chance of the exact ones" if excess else ""
    return f"{_compared(nested)}, worth {_told(watched.ess, np.min):.0f} independent draws{exact}"


def _compared(nested: _Nested) -> str:
    return f"nested R-hat {nested.value:.4f} where chance allows {nested.null:.4f} ({nested.name})"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"


# ---- pictures


def _plot_trace(run: _Run, figure: Figure) -> None:
    axes = figure.subplots()
    chosen = np.unique(np.linspace(0, len(run.score) - 1, PLOTTED_CHAINS).astype(int))
    for chain in chosen.tolist():
        axes.plot(run.step, run.score[chain], linewidth=0.5, alpha=0.6, color=f"C{run.superchain[chain] % 10}")
    axes.set(xlabel="step", ylabel=SCORE, title=f"{SCORE} of {len(chosen)} chains, one colour a start")


def _plot_rank(run: _Run, figure: Figure) -> None:
    _, _, rank = next(_quantities(run))
    axes, edges = figure.subplots(), np.linspace(0, 1, RANK_BINS + 1)
    for start in np.unique(run.superchain).tolist():
        ranks = rank[run.superchain == start]
        axes.stairs(np.histogram(ranks, edges)[0] / ranks.size, edges, color=f"C{start % 10}", alpha=0.7)
    # ties make the bins uneven, so the draws of all starts are the line to compare with
    axes.stairs(np.histogram(rank, edges)[0] / rank.size, edges, color="black", linewidth=2, label="all starts")
    axes.set(xlabel=f"rank of {SCORE} among all draws", ylabel="share of draws", title=f"Ranks of {SCORE} by start")
    axes.legend()


def _plot_marginals(run: _Run, figure: Figure, marginals: list[Floats] | None) -> None:
    panels = figure.subplots(-(-len(run.options) // PLOT_COLUMNS), PLOT_COLUMNS, squeeze=False).ravel()
    for axes in panels[len(run.options) :]:
        axes.set_axis_off()
    for v, (slot, labels) in enumerate(run.options.items()):
        axes, place = panels[v], np.arange(len(labels))
        axes.bar(place, _marginal(run, slot), color="C0", label="draws")
        if marginals is not None:
            axes.plot(place, marginals[v], "k_", markersize=8, label="exact")
        axes.set_title(slot, parse_math=False)
        few = len(labels) <= LABELLED_OPTIONS
        # parse_math: a dollar sign in a label is a dollar sign
        axes.set_xticks(place if few else [], labels if few else [], rotation=90, fontsize=7, parse_math=False)
    panels[0].legend()


def _plot_hitting_time(run: _Run, figure: Figure) -> None:
    axes, time = figure.subplots(), np.sort(_hitting_time(run))
    reached = time[np.isfinite(time)]
    share = np.arange(len(reached) + 1) / len(time)
    axes.step([0, *reached, run.step[-1]], [*share, share[-1]], where="post")
    axes.set(xlabel="step", ylabel="share of chains", ylim=(0, 1), title=f"Chains that have met the best {SCORE} of the run")


def _plot_acceptance(run: _Run, figure: Figure) -> None:
    axes, found = figure.subplots(), _acceptance(run)
    axes.barh([*found], [*found.values()])
    axes.set(xlabel="share accepted", xlim=(0, 1), title="Acceptance by move" if found else "No move was tried")
