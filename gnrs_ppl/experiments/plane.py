"""Quality against feasibility: the paper's plane, margins and transfer, and ours with audit F1 (Figures
tradeoff and transfer).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gnrs_ppl.experiments.judging import by_context
from gnrs_ppl.experiments.methods import METHODS, OURS
from gnrs_ppl.experiments.metric_sensitivity import Point, judged_points, points, standing
from gnrs_ppl.experiments.plots import COLOURS, MARKERS, blank
from gnrs_ppl.experiments.published import by_method, published
from gnrs_ppl.experiments.rows import Row, lines
from gnrs_ppl.experiments.runner import Experiment, ExperimentRequest, Report, Run
from gnrs_ppl.experiments.tables import Column, ColumnGroup, ResultTable, heads, part, specified
from gnrs_ppl.experiments.writers import WRITERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ALPHA = 0.2
TOP = 106.0
"""Upper end of the HARD-OK axis."""
ROBUSTNESS = {
    "GPT-5.1": "GPT-5.1 robustness",
    "Gemini Flash Lite": "Gemini robustness",
    "Qwen3-235B": "Qwen3 robustness",
}
"""Generators by their context in the sensitivity table."""
DIRECT = "Direct Prompting"
ANCHORS = ("No LLM candidates", OURS, DIRECT)
"""In the order of their colours in all figures."""
GREY = "#999999"
LINE = {"arrowstyle": "-", "color": GREY, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 3, "relpos": (0, 0.5)}
BESIDE: dict[str, Any] = {
    "textcoords": "axes fraction",
    "fontsize": 8,
    "va": "center",
    "annotation_clip": False,
    "arrowprops": LINE,
}
"""A name beside the axes, with a thin line to its point."""


def front(found: Mapping[str, Point]) -> set[str]:
    """Methods that no other equals or betters in both, and betters in one."""
    return {
        name
        for name, point in found.items()
        if not any(
            o.average >= point.average and o.hard_ok >= point.hard_ok and o != point for o in found.values()
        )
    }


def ours(rows: Sequence[Row], request: ExperimentRequest) -> dict[str, Point]:
    """Audit F1 and HARD-OK in percent of every method at the most chains."""
    found = {}
    for name, chains, own, _ in lines(rows, METHODS, request.chains):
        if chains in (None, max(request.chains)):
            found[name] = Point(100 * (own.mean("audit_f1") or 0.0), 100 * (own.mean("hard_ok") or 0.0))
    return found


def charters() -> dict[str, Point]:
    """The paper's RealCharter rows; Avg follows from OVERALL and HARD-OK, which have two decimals."""
    found = {}
    for method, row in by_method("realcharter-full-app").items():
        overall, hard_ok = float(row["OVERALL"]), float(row["HARD-OK"])
        found[method] = Point((overall - ALPHA * hard_ok) / (1 - ALPHA), hard_ok)
    return found


def report(run: Run) -> Report:
    """Points of both planes as tables, and three figures."""
    here = ours(run.rows("main") + run.rows("ablations"), run.request)
    figures = {
        "plane_paper": draw_paper,
        "transfer_paper": lambda: draw_transfer(points("main"), charters(), "the paper's values"),
        "plane_ours": lambda: draw_ours(here),
    }
    return Report([plane(here), margins()], figures)


def with_model(run: Run) -> Report:
    """The same from rows that have been judged, where both axes are the paper's."""
    found = {context: judged_points(rows, WRITERS, run.request) for context, rows in by_context(run).items()}
    here = found.get("Main benchmark", {}) | judged_points(run.judged("ablations"), WRITERS, run.request)
    says = (
        "Both axes are the paper's in kind; goals, records and prompts are a reconstruction. On the front: "
        "no other method of the same plane is as good in both and better in one."
    )
    figures: dict[str, Callable[[], Figure]] = {"plane": lambda: draw_judged(here)}
    cards = found.get("RealCharter", {})
    if all(name in cards and name in here for name in ANCHORS):
        figures["transfer"] = lambda: draw_transfer(here, cards, "our rows")
    return Report([plane(here, "Avg", says), our_margins(found)], figures)


SAYS = (
    "The paper's quality is its rubric Avg, ours is audit F1: the axes differ, only HARD-OK is of one kind, "
    "for the methods that need no model. On the front: no other method of the same plane is as good in both "
    "and better in one."
)


def plane(here: Mapping[str, Point], quality: str = "audit F1, %", says: str = SAYS) -> ResultTable:
    """Ours beside the paper's points."""
    printed = points("main")

    def side(found: Mapping[str, Point], axes: Sequence[str], digits: int, paper: bool) -> ColumnGroup[str]:
        best = front(found)
        columns = (*(Column(head, digits, paper) for head in axes), Column("on the front", None, paper))
        return ColumnGroup(columns, lambda n: (*found[n], n in best) if n in found else (None,) * 3)

    parts: list[ColumnGroup[str]] = [
        part("method", None, str),
        side(here, (quality, "HARD-OK, %"), 1, False),
        side(printed, ("Avg", "HARD-OK"), 2, True),
    ]
    names = dict.fromkeys([*printed, *here])
    return specified("plane", "Quality and feasibility", says, names, parts)


MARGINS = f"composite over the best other:2 | Avg over {DIRECT}:2"


def printed_margins() -> dict[str, tuple[float, float | None]]:
    """The paper's margins by context: composite over the best other method, and Avg over Direct Prompting."""
    found = {
        "Main benchmark": leads(points("main")),
        "Held-out OOD": leads(points("ood")),
        "RealCharter": leads(charters()),
    }
    unweighted = {
        r["context"]: r for r in published("metric-sensitivity-app") if float(r["HARD-OK weight"]) == 0
    }
    for row in published("crossmodel"):
        ranked = unweighted.get(ROBUSTNESS.get(row["generator"], ""))
        # where Direct Prompting wins, the best other method is Direct Prompting
        average = float(ranked["margin"]) if ranked and ranked["winner"] == DIRECT else None
        found[row["generator"]] = float(row["difference"]), average
    return found


def margins() -> ResultTable:
    """The paper's margins as a table."""
    says = (
        "From the paper's printed values; nothing is ours. Avg with other generators follows from the "
        "sensitivity table at weight 0, for three of four; GPT-4o-mini is the main benchmark's generator."
    )
    columns = heads("context", MARGINS)
    entries = [(context, *both) for context, both in printed_margins().items()]
    return ResultTable("margins_paper", "The paper's margins", says, columns, entries)


def our_margins(found: Mapping[str, Mapping[str, Point]]) -> ResultTable:
    """Margins of judged rows beside the paper's."""
    printed, nothing = printed_margins(), (None, None)
    says = "Contexts in which there are judged rows, a generator under its own name."
    columns = heads(f"context | {MARGINS}", MARGINS)
    entries = [
        (context, *leads(methods), *printed.get(context, nothing))
        for context, methods in found.items()
        if len(methods) > 1
    ]
    return ResultTable("margins", "Margins", says, columns, entries)


def leads(methods: Mapping[str, Point]) -> tuple[float, float | None]:
    """The method's margin in the composite over the best other, and in Avg over Direct Prompting."""
    other = methods.get(DIRECT)
    return standing(methods, ALPHA).margin, methods[OURS].average - other.average if other else None


def _axes(axes: Axes, quality: str) -> None:
    axes.set(xlabel=quality, ylabel="HARD-OK, %", ylim=(-5, TOP))
    axes.grid(alpha=0.3)


def _iso(axes: Axes, low: float, high: float) -> None:
    """Lines of equal composite, their level above the frame."""
    for level in range(40, 101, 10):
        heights = [(level - (1 - ALPHA) * x) / ALPHA for x in (low, high)]
        axes.plot([low, high], heights, color=GREY, linewidth=0.7, linestyle=":", zorder=0)
        x = (level - ALPHA * TOP) / (1 - ALPHA)
        if low <= x <= high:
            axes.text(x, TOP + 1, str(level), fontsize=7, color="#666666", ha="center", va="bottom")


def draw_paper() -> Figure:
    """The paper's plane with lines of equal composite, and its margins."""
    figure = blank(12, 4.4)
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    _axes(left, "rubric Avg, % (the paper's values)")
    left.set_xlim(55, 85)
    _iso(left, 55, 85)
    _points(left, points("main"))
    title = "Main benchmark; dotted: equal OVERALL; diamonds: on the front"
    left.set_title(title, loc="left", fontsize=9, pad=14)
    found = printed_margins()
    composite = [margin for margin, _ in found.values()]
    right.barh(range(len(found)), composite, color=COLOURS[5], label="OVERALL over the best other method")
    known = [(margin, place) for place, (_, margin) in enumerate(found.values()) if margin is not None]
    right.plot(*zip(*known, strict=True), "o", color=COLOURS[1], label=f"Avg over {DIRECT}")
    right.axvline(0, color="black", linewidth=0.8)
    right.set_yticks(range(len(found)), [*found])
    right.invert_yaxis()
    right.set_xlabel("margin of GNRS-Search, points (the paper's values)")
    right.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1))
    return figure


def _points(axes: Axes, found: Mapping[str, Point]) -> None:
    """Points, diamonds on the front; names in a column on the right, in the order of the points, with thin
    lines to them.
    """
    best = front(found)
    order = sorted(found, key=lambda name: (found[name].hard_ok, found[name].average))
    for i, name in enumerate(order):
        mark, colour, size = ("D", COLOURS[1], 7) if name in best else ("o", COLOURS[0], 5)
        axes.plot(*found[name], mark, color=colour, markersize=size)
        axes.annotate(name, found[name], xytext=(1.02, (i + 0.5) / len(order)), **BESIDE)


def draw_transfer(synthetic: Mapping[str, Point], real: Mapping[str, Point], whose: str) -> Figure:
    """Three methods on the synthetic goals and on the cards."""
    figure = blank(6, 4.4)
    axes = figure.add_subplot()
    _axes(axes, f"rubric Avg, % ({whose})")
    low = min(60.0, *(found[name].average for found in (synthetic, real) for name in ANCHORS))
    axes.set_xlim(low, 100)
    _iso(axes, low, 100)
    for i, name in enumerate(ANCHORS):
        arrow = {"arrowstyle": "->", "color": COLOURS[i], "alpha": 0.6}
        axes.annotate("", real[name], synthetic[name], arrowprops=arrow)
        axes.plot(*synthetic[name], MARKERS[i], color=COLOURS[i], markerfacecolor="white", markersize=8)
        axes.plot(*real[name], MARKERS[i], color=COLOURS[i], markersize=8, label=name)
    title = "Open: main benchmark; filled: RealCharter; dotted: equal OVERALL"
    axes.set_title(title, loc="left", fontsize=9, pad=14)
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    return figure


def draw_judged(here: Mapping[str, Point]) -> Figure:
    """Our methods on the paper's plane, with lines of equal composite."""
    figure, axes = drawn(here, "rubric Avg, %", "Our rows; dotted: equal OVERALL; diamonds: on the front")
    averages = [point.average for point in here.values()]
    low, high = min(averages) - 2, max(averages) + 2
    axes.set_xlim(low, high)
    _iso(axes, low, high)
    return figure


def draw_ours(here: Mapping[str, Point]) -> Figure:
    """Our methods on the plane of audit F1 and HARD-OK."""
    quality = "audit F1 against the record, % (not the paper's axis)"
    figure, axes = drawn(here, quality, "Methods without a model; diamonds: on the front")
    axes.set_ylim(min(p.hard_ok for p in here.values()) - 4, 101)
    return figure


def drawn(here: Mapping[str, Point], quality: str, title: str) -> tuple[Figure, Axes]:
    """Our methods on a plane."""
    figure = blank(8.5, 4.6)
    axes = figure.add_subplot()
    _axes(axes, quality)
    _points(axes, here)
    axes.set_title(title, loc="left", fontsize=9)
    return figure, axes


EXPERIMENT = Experiment(
    "plane", "Who trades quality against feasibility, and how?", report, needs=("main", "ablations")
)
WITH_MODEL = Experiment("plane", EXPERIMENT.asks, with_model)
