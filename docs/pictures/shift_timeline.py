"""Draw shift_timeline.svg, one shift of GNRS-Bench and what each channel wrote of it: ``python -m docs.pictures.shift_timeline``.

Needs SimPy, which ``.[dev]`` installs, and matplotlib, which it does not. Everything in the picture comes from the simulated world and
its rows; positions are pixels of a picture 900 wide.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from bench_maker.grounding import START, world
from bench_maker.record import GLIMPSED, GRAIN_SECONDS, record, stamp
from bench_maker.sheets import coverage, extraction, families, vocabulary
from bench_maker.stage import Act

FAMILY, CASE = "service_coordination", "SC-2025-0021"
WIDTH, LEFT, RIGHT = 900, 204, 890
STEP, LANE, GLIMPSE, GAP = 17, 36, 16, 8
APART = 1800.0
"""Seconds without an act after which the time axis is broken."""
INK, FAINT, BAND, DOWN = "#222222", "#666666", "#f3f3f3", "#b5b5b5"
LOOKS = [("#0072B2", "o"), ("#D55E00", "D"), ("#009E73", "s"), ("#CC79A7", "^"), ("#E69F00", "v"), ("#56B4E9", "P")]
"""Colour (Okabe and Ito's palette) and mark of a person, the worker first."""
PHRASES = {term["name"]: term["phrase"] for part in ("locations", "objects") for group in vocabulary()[part].values() for term in group}

CHANNELS = {term["name"]: term["phrase"] for term in vocabulary()["channels"]}


def label(act: Act, dishes: list[str]) -> str:
    """A few words for an act."""
    dish = f"dish {dishes.index(act.item) + 1}" if act.item in dishes else "something"
    text = {
        "PublishTask": "publishes the shift",
        "MoveTo": f"goes to the {PHRASES.get(act.where or '')}",
        "CheckIn": "checks in",
        "Interact": f"handles a {PHRASES.get(act.object or '')}",
        "Craft": f"makes {dish}",
        "Deliver": f"delivers {dish}",
        "Trade": f"trades a {PHRASES.get(act.object or '')} with {act.facts.get('to')}",
        "Speak": f"speaks with {act.facts.get('to')}",
        "CheckOut": "checks out",
    }[act.action]
    return f"{text} for {act.facts['on_behalf_of']}" if "on_behalf_of" in act.facts else text


class Clock:
    """Time of day to pixels, with long quiet stretches cut out."""

    def __init__(self, instants: list[float]) -> None:
        spans: list[list[float]] = []
        for at in sorted(instants):
            if spans and at - spans[-1][1] < APART:
                spans[-1][1] = at
            else:
                spans.append([at, at])
        for span in spans:
            span[:] = [span[0] - 100, span[1] + 100]
        spans[-1][1] += 240
        short = [b - a < 600 for a, b in spans]
        room = RIGHT - LEFT - 12 * (len(spans) - 1) - 46 * sum(short)
        scale = room / sum(b - a for (a, b), brief in zip(spans, short, strict=True) if not brief)
        self.pieces: list[tuple[float, float, float, float]] = []
        x = float(LEFT)
        for (a, b), brief in zip(spans, short, strict=True):
            width = 46.0 if brief else (b - a) * scale
            self.pieces.append((a, b, x, x + width))
            x += width + 12

    def __call__(self, at: float) -> float:
        """Pixel of an instant, kept inside the piece it belongs to."""
        a, b, x, y = next((piece for piece in self.pieces if at <= piece[1]), self.pieces[-1])
        return x + (y - x) * min(max(at - a, 0.0), b - a) / (b - a)

    def ticks(self) -> list[float]:
        """The full ten minutes of long pieces, and the middle minute of short ones."""
        found: list[float] = []
        for a, b, x, y in self.pieces:
            tens = [600.0 * n for n in range(int(a // 600) + 1, int(b // 600) + 1)]
            found += tens if y - x > 46 else [(a + b) / 2 // 60 * 60]
        return found


def draw() -> Figure:
    """The picture."""
    scene, sheet = world(FAMILY), families()[FAMILY]
    acts = [act for act in scene.acts if act.case == CASE]
    rows = [row for row in record(scene, START) if row.case == CASE]
    planned, worker = scene.facts[CASE]["planned_start"], scene.facts[CASE]["worker"]
    people = list(dict.fromkeys([worker, *(act.by for act in acts)]))
    looks = dict(zip(people, LOOKS, strict=False))
    dishes = list(dict.fromkeys(act.item for act in acts if act.item and act.item.startswith("dish/")))
    clock = Clock([planned, *(act.at for act in acts)])
    seen = list(dict.fromkeys(observable for names in GLIMPSED.values() for observable in names))
    top, stairs = 52, STEP * (len(acts) + 1) + 12
    lanes = top + stairs + GAP
    bottom = lanes + len(sheet["channels"]) * (LANE + GAP)
    height = bottom + GLIMPSE * len(seen) + 70

    figure = Figure(figsize=(WIDTH / 96, height / 96), dpi=96, facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(height, 0))
    axes.set_axis_off()
    day = stamp(START, acts[0].at)

    write(
        axes,
        10,
        16,
        f"Case {CASE}, {day:%A} {day.day} {day:%B %Y}: what happened, and what was written down",
        size=14,
        weight="bold",
    )
    x = float(LEFT)
    for person, (colour, mark) in looks.items():
        axes.plot(x + 4, 38, mark, color=colour, markersize=6)
        write(axes, x + 14, 38, person)
        x += 7.2 * len(person) + 34

    band(axes, clock, top, stairs)
    write(axes, 10, top + 12, "What happened", weight="bold")
    write(axes, 10, top + 28, "(no auditor sees this lane)", size=11, color=FAINT)
    told: list[tuple[float, Act | None]] = sorted([(planned, None), *((act.at, act) for act in acts)], key=lambda pair: pair[0])
    for number, (at, act) in enumerate(told):
        y = top + 14 + STEP * number
        colour, mark = (INK, "d") if act is None else looks[act.by]
        text = f"{worker}'s shift was to begin (on no record)" if act is None else label(act, dishes)
        axes.plot([clock(at)] * 2, [y, top + stairs if act is None else bottom - GAP], color="#c9c9c9", linewidth=0.6, zorder=1)
        axes.plot(clock(at), y, mark, color=colour, markersize=6, markerfacecolor="white" if act is None else colour, zorder=3)
        fits = clock(at) + 10 + 6.6 * len(text) < RIGHT
        write(axes, clock(at) + (9 if fits else -9), y, text, ha="left" if fits else "right", backgroundcolor=BAND)

    end = extraction(START, scene.days)
    silent = False
    for number, (name, spec) in enumerate(sheet["channels"].items()):
        y = lanes + number * (LANE + GAP)
        band(axes, clock, y, LANE)
        spans = [((a - START).total_seconds(), (b - START).total_seconds()) for a, b in coverage(spec, START, end)]
        for (_, since), (until, _) in pairwise(spans):
            for a, b, *_ in clock.pieces:
                if since < b and until > a:
                    silent = True
                    x, width = clock(max(since, a)), clock(min(until, b)) - clock(max(since, a))
                    axes.add_patch(Rectangle((x, y), width, LANE, facecolor=DOWN, zorder=0.6))
        write(axes, 10, y + 11, CHANNELS[name], weight="bold")
        kept = "complete" if spec["catches"] == 1.0 else "may miss acts"
        write(axes, 10, y + 26, f"{spec['grain']} clock, {kept}", size=11, color=FAINT)
        here = [row for row in rows if row.channel == name]
        for row in here:
            colour, mark = looks[row.resource] if row.resource else (INK, "x")
            if spec["grain"] == "minute":
                x, width = clock(row.at), clock(row.at + GRAIN_SECONDS["minute"]) - clock(row.at)
                axes.add_patch(Rectangle((x, y + LANE / 2 - 7), width, 14, facecolor=colour, alpha=0.35, zorder=2))
            axes.plot(clock(row.at), y + LANE / 2, mark, color=colour, markersize=6, zorder=3)
        lost = [act for act in acts if act.action in spec["activities"] and act.number not in {row.act for row in here}]
        for act in lost:
            axes.plot(clock(act.at), y + LANE / 2, "o", color=INK, markersize=7, markerfacecolor="none", markeredgewidth=0.9, zorder=3)
            why = "missed" if any(a <= act.at <= b for a, b in spans) else "down"
            write(axes, clock(act.at), y + 6, why, size=11, ha="center", style="italic")
        if not here and not lost:
            write(
                axes,
                clock.pieces[-1][2] + 9,
                y + LANE / 2,
                "no row; there was nothing to write",
                size=11,
                style="italic",
                color=FAINT,
                backgroundcolor=BAND,
            )

    band(axes, clock, bottom, GLIMPSE * len(seen) + 22)
    write(axes, 10, bottom + 11, "Glimpses no channel keeps", weight="bold")
    for number, observable in enumerate(seen):
        y = bottom + 27 + GLIMPSE * number
        write(axes, LEFT - 8, y, observable.replace("_", " "), size=11, color=FAINT, ha="right")
        for act in acts:
            if observable in GLIMPSED.get(act.action, ()):
                colour, mark = looks[act.by]
                axes.plot(clock(act.at), y, mark, color=colour, markersize=5, markerfacecolor="white", markeredgewidth=1, zorder=3)

    floor = bottom + GLIMPSE * len(seen) + 22
    for at in clock.ticks():
        axes.plot([clock(at)] * 2, [floor, floor + 4], color=INK, linewidth=0.8)
        write(axes, clock(at), floor + 13, f"{stamp(START, at):%H:%M}", ha="center")
    write(axes, 10, floor + 13, "time of day (cut at gaps)", size=11, color=FAINT)
    key = "A bar is the minute of a minute clock; a ring is an act of which a log has no row; a dark lane is a channel that was down"
    write(axes, 10, floor + 34, f"{key}{'' if silent else ' (none on this day)'}.", size=11, color=FAINT)
    return figure


def band(axes: Axes, clock: Clock, y: float, height: float) -> None:
    """Background of a lane, one rectangle for each piece of time."""
    for _, _, x, right in clock.pieces:
        axes.add_patch(Rectangle((x, y), right - x, height, facecolor=BAND, zorder=0.5))


def write(axes: Axes, x: float, y: float, text: str, size: float = 12, backgroundcolor: str | None = None, **style: str) -> None:
    """Text of a size in pixels, left and centred unless told otherwise."""
    box = {"facecolor": backgroundcolor, "edgecolor": "none", "pad": 0.6} if backgroundcolor else None
    axes.text(x, y, text, **{"fontsize": size * 0.75, "va": "center", "color": INK, "bbox": box, "zorder": 2.5} | style)


if __name__ == "__main__":
    mpl.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": CASE, "font.family": ["DejaVu Sans", "sans-serif"]}
    draw().savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})
