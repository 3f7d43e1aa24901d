"""Three plots of a log: rows over time, delays between acts, and who does what."""

from __future__ import annotations

import io
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from gnrs_ppl.context.output import write_all
from gnrs_ppl.errors import InputError
from gnrs_ppl.records.profile import Overview
from gnrs_ppl.safe_text import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLOTS = ("volumes.png", "delays.png", "doers.png")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999")
"""Okabe and Ito's, told apart by most eyes; the last is for what is left."""
EPOCH = datetime(1970, 1, 1)
"""From which matplotlib counts days."""
MOST_STEPS = 20
MOST_ACTS = 25
MOST_DOERS = 20
_TICKS = (
    (1, "1 s"),
    (60, "1 min"),
    (3600, "1 h"),
    (86400, "1 day"),
    (7 * 86400, "1 week"),
    (30 * 86400, "30 days"),
    (365 * 86400, "1 year"),
)


def plots(found: Overview, folder: Path) -> list[Path]:
    """Write ``PLOTS``.

    Raises
    ------
    InputError
        When matplotlib is missing, and when the folder cannot be written.
    """
    return write_all(folder, list(zip(PLOTS, _drawn(found, "png"), strict=True)), manifest=True)


def drawings(found: Overview) -> list[bytes]:
    """The same plots as SVG files for a page; text is drawn as shapes.

    Raises
    ------
    InputError
        When matplotlib is missing.
    """
    return _drawn(found, "svg")


def _drawn(found: Overview, form: str) -> list[bytes]:
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError(
            "plots need matplotlib, which is not installed", "pip install 'gnrs-ppl[plots]'"
        ) from None
    files = []
    heights = (
        3.6,
        1.2 + 0.28 * min(len(found.steps), MOST_STEPS),
        2.2 + 0.28 * min(len(found.acts), MOST_ACTS),
    )
    for name, height, draw in zip(PLOTS, heights, (_volumes, _delays, _doers), strict=True):
        figure, content = Figure(figsize=(10, max(height, 2.6)), layout="constrained"), io.BytesIO()
        draw(found, figure)
        # the names of shapes go by the plot, the same each time
        with rc_context({"svg.hashsalt": name}):
            figure.savefig(content, format=form, dpi=120, metadata={"Date": None} if form == "svg" else None)
        files.append(content.getvalue())
    return files


def _label(text: str, most: int = 40) -> str:
    """A name as plain text: matplotlib would set what stands between dollar signs as a formula."""
    clean = visible(text)
    return (clean if len(clean) <= most else clean[: most - 1] + "…").replace("$", r"\$")


def _volumes(found: Overview, figure: Figure) -> None:
    """Rows per day, week, month or year, one layer a channel; the rarest channels share a layer."""
    axes = figure.subplots()
    totals: dict[str, int] = {}
    for volume in found.volumes:
        totals[volume.channel] = totals.get(volume.channel, 0) + volume.rows
    order = sorted(totals, key=lambda name: (-totals[name], name))
    own = order if len(order) <= len(COLOURS) else order[: len(COLOURS) - 1]
    starts = sorted({volume.start for volume in found.volumes})
    places = {start: i for i, start in enumerate(starts)}
    width = {"day": 1, "week": 7, "month": 28, "year": 360}[found.unit] * 0.9
    days, below = [(start - EPOCH).days for start in starts], [0] * len(starts)
    for colour, name in zip(COLOURS, [*own, *([None] if len(own) < len(order) else [])], strict=False):
        heights = [0] * len(starts)
        for volume in found.volumes:
            if volume.channel == name or (name is None and volume.channel not in own):
                heights[places[volume.start]] += volume.rows
        label = "other channels" if name is None else _label(name or "(no channel)")
        axes.bar(days, heights, width=width, bottom=below, color=colour, align="edge", label=label)
        below = [a + b for a, b in zip(below, heights, strict=True)]
    axes.xaxis_date()
    axes.set(ylabel=f"events a {found.unit}", title=f"{found.events:,} events in {found.cases:,} cases")
    if order:
        axes.legend(fontsize=7)


def _delays(found: Overview, figure: Figure) -> None:
    """Median, middle half and 90% of the delays between acts that follow one another."""
    axes = figure.subplots()
    steps = found.steps[:MOST_STEPS]
    for place, step in enumerate(steps):
        low, quarter, middle, three_quarters, high = (max(seconds, 0.5) for seconds in step.seconds)
        axes.plot([low, high], [place, place], color=COLOURS[0], linewidth=1)
        axes.plot(
            [quarter, three_quarters], [place, place], color=COLOURS[0], linewidth=6, solid_capstyle="butt"
        )
        axes.plot([middle], [place], color="white", marker="|", markersize=7, markeredgewidth=2)
    axes.set(xscale="log", title="From one act to the next in a case: median, middle half, 5% to 95%")
    axes.set_yticks(
        range(len(steps)),
        [f"{_label(s.before, 30)} → {_label(s.after, 30)} ({s.rows:,})" for s in steps],
        fontsize=7,
    )
    axes.invert_yaxis()
    axes.set_xticks([seconds for seconds, _ in _TICKS], [text for _, text in _TICKS])
    axes.minorticks_off()
    axes.set_xlim(0.4, max([step.seconds[-1] for step in steps], default=1) * 2 + 60)


def _doers(found: Overview, figure: Figure) -> None:
    """Which share of an act's rows each role or person has."""
    axes = figure.subplots()
    acts = found.acts[:MOST_ACTS]
    totals: dict[str, int] = {}
    for act in found.acts:
        for name, rows in act.by.items():
            totals[name] = totals.get(name, 0) + rows
    names = sorted(totals, key=lambda name: (-totals[name], name))[:MOST_DOERS]
    if not names:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "no row says who acted", ha="center")
        return
    shares = [[act.by.get(name, 0) / act.rows for name in names] for act in acts]
    image = axes.imshow(shares, aspect="auto", cmap="Blues", vmin=0, vmax=1)
    axes.set_yticks(range(len(acts)), [f"{_label(act.name)} ({act.rows:,})" for act in acts], fontsize=7)
    axes.set_xticks(
        range(len(names)), [_label(name, 24) for name in names], rotation=40, ha="right", fontsize=7
    )
    axes.set_title(f"Who does what: share of an act's rows by {found.by}")
    figure.colorbar(image, ax=axes, label="share of rows")
