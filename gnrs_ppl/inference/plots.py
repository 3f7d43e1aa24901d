"""Plots of a run, and of how fast the kernel forgets, as PNG files.

Colours can be told apart by the colour-blind: Okabe and Ito's for kinds of things, viridis for starts, of
which there may be many.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import xarray as xr

from gnrs_ppl.context.output import write_all
from gnrs_ppl.errors import InputError
from gnrs_ppl.inference.diagnostics import acceptance, drawn_marginal, hitting_time, score_ranks
from gnrs_ppl.inference.result import SAME_SCORE
from gnrs_ppl.inference.spectral import relaxation_time, spectral_gap
from gnrs_ppl.inference.trace import SCORE, Marginals, Trace, read_trace, require_marginals
from gnrs_ppl.models.energy import Tables
from gnrs_ppl.safe_text import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLOTTED_CHAINS, RANK_BINS, PLOT_COLUMNS, LABELLED_OPTIONS = 32, 20, 4, 12
PLOTS = ("trace.png", "rank.png", "marginals.png", "hitting_time.png", "acceptance.png", "exchange.png")
"""The last only where replicas were exchanged."""
BLUE, VERMILION = "#0072B2", "#D55E00"
"""Of Okabe and Ito."""
TEMPERATURE: Final = "temperature τ (in units of s_search)"


def plots(tree: xr.DataTree, folder: Path, exact: Marginals | None = None) -> list[Path]:
    """Write plots of a run as PNG files; give their paths.

    Trace and ranks of s_search, slot marginals (beside the exact ones where these are given), hitting time,
    acceptance by move, and where replicas were exchanged, how these travelled.

    Raises
    ------
    InputError
        As :func:`gnrs_ppl.inference.diagnostics.diagnose`; also when matplotlib is missing, and when the
        folder cannot be written.
    """
    run = read_trace(tree)
    if exact is not None:
        require_marginals(run, exact)
    drawings: dict[str, tuple[tuple[float, float], Callable[[Trace, Figure], None]]] = {
        "trace.png": ((9, 4), _plot_trace),
        "rank.png": ((9, 4), _plot_rank),
        "marginals.png": (
            (12, 3.5 * -(-len(run.options) // PLOT_COLUMNS)),
            partial(_plot_marginals, exact=exact),
        ),
        "hitting_time.png": ((7, 4), _plot_hitting_time),
        "acceptance.png": ((7, 3), _plot_acceptance),
    }
    if run.exchange is not None:
        drawings["exchange.png"] = ((9, 4), _plot_exchange)
    return write_all(
        folder,
        [(name, _png(size, partial(draw, run))) for name, (size, draw) in drawings.items()],
        manifest=True,
    )


def gap_plot(
    tables: Tables,
    temperatures: Sequence[float],
    path: Path,
    move_probabilities: tuple[float, float, float, float] | None = None,
) -> Path:
    """Write a plot of the spectral gap against temperature, and of the relaxation time; give its path.

    Parameters
    ----------
    tables : Tables
        Of a space that :func:`gnrs_ppl.inference.spectral.spectral_gap` takes.
    temperatures : sequence of float
        At least one, each above 0.
    path : Path
        The PNG file.

    Raises
    ------
    InputError
        As ``spectral_gap``; also when matplotlib is missing, and when the file cannot be written.
    """
    gaps = [spectral_gap(tables, temperature, move_probabilities) for temperature in temperatures]
    content = _png((9, 4), partial(_plot_gap, np.asarray(temperatures, float), np.array(gaps)))
    return write_all(path.parent, [(path.name, content)])[0]


def _png(size: tuple[float, float], draw: Callable[[Figure], None]) -> bytes:
    try:
        from matplotlib.figure import (
            Figure,
        )  # used without pyplot it is drawn by Agg, and no figure stays open
    except ImportError:
        raise InputError(
            "plots need matplotlib, which is not installed", "pip install 'gnrs-ppl[plots]'"
        ) from None
    figure, content = Figure(figsize=size, layout="constrained"), io.BytesIO()
    draw(figure)
    figure.savefig(content, format="png")
    return content.getvalue()


def _start_colours(run: Trace) -> dict[int, Any]:
    from matplotlib import colormaps

    starts = np.unique(run.superchain).tolist()
    return dict(zip(starts, colormaps["viridis"](np.linspace(0, 0.9, len(starts))), strict=True))


def _plot_trace(run: Trace, figure: Figure) -> None:
    axes, colours = figure.subplots(), _start_colours(run)
    chosen = np.unique(np.linspace(0, len(run.score) - 1, PLOTTED_CHAINS).astype(int))
    for chain in chosen.tolist():
        axes.plot(
            run.step, run.score[chain], linewidth=0.7, alpha=0.7, color=colours[int(run.superchain[chain])]
        )
    below = ""
    if (
        0 < (share := (~run.feasible).mean()) < 1
    ):  # lambda below the others, which would be one line beside them
        least, greatest = run.score[run.feasible].min(), run.score.max()
        axes.set_ylim(
            least - 0.05 * (greatest - least) - SAME_SCORE, greatest + 0.05 * (greatest - least) + SAME_SCORE
        )
        below = f"; {share:.1%} of the draws are infeasible and lie below"
    axes.set(
        xlabel="step",
        ylabel=f"{SCORE} (dimensionless)",
        title=f"{len(chosen)} of {len(run.score)} chains, one colour a start{below}",
    )


def _plot_rank(run: Trace, figure: Figure) -> None:
    axes, edges, rank = figure.subplots(), np.linspace(0, 1, RANK_BINS + 1), score_ranks(run)
    for start, colour in _start_colours(run).items():
        ranks = rank[run.superchain == start]
        axes.stairs(np.histogram(ranks, edges)[0] / ranks.size, edges, color=colour)
    # ties make the bins uneven, so the draws of all starts are the line to compare with
    axes.stairs(
        np.histogram(rank, edges)[0] / rank.size, edges, color="black", linewidth=2, label="all starts"
    )
    axes.set(xlabel=f"rank of {SCORE} among all draws, as a share", ylabel="share of the start's draws")
    axes.set(title=f"Ranks of {SCORE}, one colour a start")
    axes.legend()


def _plot_marginals(run: Trace, figure: Figure, exact: Marginals | None) -> None:
    panels = figure.subplots(-(-len(run.options) // PLOT_COLUMNS), PLOT_COLUMNS, squeeze=False).ravel()
    for axes in panels[len(run.options) :]:
        axes.set_axis_off()
    for v, (slot, labels) in enumerate(run.options.items()):
        axes, place = panels[v], np.arange(len(labels))
        axes.bar(place, drawn_marginal(run, slot), color=BLUE, label="draws")
        if exact is not None:
            axes.plot(
                place, exact.slots[v], "_", color="black", markersize=8, markeredgewidth=2, label="exact"
            )
        axes.set_title(visible(slot), parse_math=False)
        axes.set(ylabel="share of draws")
        if len(labels) <= LABELLED_OPTIONS:
            # parse_math: a dollar sign in a label is a dollar sign
            axes.set_xticks(place, [*map(visible, labels)], rotation=90, fontsize=7, parse_math=False)
        axes.set(
            xlabel="option" if len(labels) <= LABELLED_OPTIONS else f"number of the option (of {len(labels)})"
        )
    panels[0].legend()


def _plot_hitting_time(run: Trace, figure: Figure) -> None:
    axes, time = figure.subplots(), np.sort(hitting_time(run))
    reached = time[np.isfinite(time)]
    share = np.arange(len(reached) + 1) / len(time)
    axes.step([0, *reached, run.step[-1]], [*share, share[-1]], where="post", color=BLUE)
    axes.set(
        xlabel="step",
        ylabel="share of chains",
        ylim=(0, 1),
        title=f"Chains that have met the best {SCORE} of the run",
    )


def _plot_acceptance(run: Trace, figure: Figure) -> None:
    axes, found = figure.subplots(), acceptance(run)
    axes.barh(range(len(found)), [*found.values()], color=BLUE)
    axes.set_yticks(range(len(found)), [*map(visible, found)], parse_math=False)
    axes.invert_yaxis()
    axes.set(
        xlabel="share of proposals accepted (staying counts)", xlim=(0, 1), ylabel="move" if found else ""
    )
    axes.set(title="Acceptance by move" if found else "No move was tried")


def _plot_exchange(run: Trace, figure: Figure) -> None:
    assert run.exchange is not None
    ladder, rates, trips = run.exchange
    swaps, travels = figure.subplots(1, 2)
    place = np.arange(len(rates))
    swaps.bar(place, np.nan_to_num(rates), color=BLUE)
    pairs = [f"{low:.3g}\n{high:.3g}" for low, high in itertools.pairwise(ladder)]
    swaps.set_xticks(place, pairs, fontsize=8)
    swaps.set(
        xlabel="temperatures of the two rungs (units of s_search)",
        ylabel="share of tried swaps accepted",
        ylim=(0, 1),
    )
    swaps.set(title="Swaps of neighbouring rungs")
    numbers, chains = np.unique(trips, return_counts=True)
    travels.bar(numbers, chains, color=VERMILION)
    travels.xaxis.get_major_locator().set_params(integer=True)
    travels.set(
        xlabel="round trips of a chain's replicas",
        ylabel="number of chains",
        title="Round trips, coldest to hottest and back",
    )


def _plot_gap(temperatures: np.ndarray, gaps: np.ndarray, figure: Figure) -> None:
    gap_axes, time_axes = figure.subplots(1, 2)
    _curve(gap_axes, temperatures, gaps, BLUE)
    gap_axes.set(xlabel=TEMPERATURE, ylabel="spectral gap (per step)", title="Gap of the Metropolis kernel")
    _curve(time_axes, temperatures, np.array([relaxation_time(gap) for gap in gaps.tolist()]), VERMILION)
    time_axes.set(xlabel=TEMPERATURE, ylabel="relaxation time (steps)", title="Relaxation time, 1 / gap")


def _curve(axes: Axes, temperatures: np.ndarray, values: np.ndarray, colour: str) -> None:
    """On logarithmic axes; where the gap is below what can be told apart from 0, there is no point."""
    order = np.argsort(temperatures)
    shown = np.where(np.isfinite(values) & (values > 0), values, np.nan)
    axes.loglog(temperatures[order], shown[order], "o-", color=colour, markersize=4)
    axes.grid(alpha=0.3, which="both")
