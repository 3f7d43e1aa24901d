"""The composite's weight from 0 to 0.4: winners, margins and crossovers, from the paper's printed values
(Table metric-sensitivity).

    OVERALL_alpha = (1 - alpha) Avg + alpha HARD-OK

Nothing is measured without a model: our rows have no rubric score until one has judged them. Then the same is
done with them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gnrs_ppl.experiments.judging import by_context
from gnrs_ppl.experiments.methods import OURS
from gnrs_ppl.experiments.plots import COLOURS, blank
from gnrs_ppl.experiments.published import by_method, published
from gnrs_ppl.experiments.rows import Row, lines
from gnrs_ppl.experiments.runner import Experiment, ExperimentRequest, Report, Run
from gnrs_ppl.experiments.tables import CellValue, Column, ResultTable, heads
from gnrs_ppl.experiments.writers import WRITERS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALPHAS = (0.0, 0.1, 0.2, 0.3, 0.4)
CONTEXTS = {"Main benchmark": "main", "Held-out OOD": "ood"}
GRIDS = {"main": (66, 264), "ood": (9, 36)}
"""Avg over 88 goals and 3 seeds is k / 66 percent, HARD-OK 100 k / 264; over 12 goals k / 9 and 100 k / 36
(paper-inconsistencies.md)."""


class Point(NamedTuple):
    """Avg and HARD-OK of a method, in percent."""

    average: float
    hard_ok: float

    def overall(self, alpha: float) -> float:
        """The composite at a weight of HARD-OK."""
        return (1 - alpha) * self.average + alpha * self.hard_ok


def points(label: str) -> dict[str, Point]:
    """Methods of a published table, from the most decimals that the paper prints, exact where those leave
    one value on the grid.
    """
    grid, hundredfold = GRIDS[label][0], GRIDS[label][1] / 100
    found = {
        method: Point(recovered(row["average"], grid), recovered(row["HARD-OK"], hundredfold))
        for method, row in by_method(label).items()
    }
    experiment = next(context for context, of in CONTEXTS.items() if of == label)
    average = next(
        row for row in published("bootstrap-app") if (row["experiment"], row["metric"]) == (experiment, "Avg")
    )
    full = recovered(average["GNRS-Search"], grid)
    found[OURS] = found[OURS]._replace(average=full)
    other = average["best other method"]
    found[other] = found[other]._replace(average=full - recovered(average["margin"], grid))
    return found


def judged_points(rows: Sequence[Row], names: Iterable[str], request: ExperimentRequest) -> dict[str, Point]:
    """Avg and HARD-OK of some methods in rows that have been judged, at the fewest chains."""
    found = {}
    for name, chains, own, _ in lines(rows, names, request.chains):
        avg, hard_ok = own.mean("avg"), own.mean("hard_ok")
        if chains in (None, min(request.chains)) and avg is not None and hard_ok is not None:
            found[name] = Point(avg, 100 * hard_ok)
    return found


def recovered(printed: str, grid: float) -> float:
    """The only value k / grid that rounds to what is printed; what is printed, where there are several or
    none.
    """
    value, half = float(printed), 0.5 * 10.0 ** -len(printed.partition(".")[2])
    inside = [
        k / grid
        for k in range(math.ceil((value - half) * grid - 1e-9), math.floor((value + half) * grid + 1e-9) + 1)
    ]
    return inside[0] if len(inside) == 1 else value


def crossover(first: Point, second: Point) -> float | None:
    """Weight at which two methods are level; None where one leads from 0 to 1."""
    slope = (first.hard_ok - first.average) - (second.hard_ok - second.average)
    at = (second.average - first.average) / slope if slope else -1.0
    return at if 0 <= at <= 1 else None


class Standing(NamedTuple):
    """Who leads at a weight, and how a method stands: its rank, its score, and its margin over the best
    other.
    """

    winner: str
    rank: int
    score: float
    margin: float


def standing(methods: Mapping[str, Point], alpha: float, name: str = OURS) -> Standing:
    """Ranking at one weight."""
    score = {method: point.overall(alpha) for method, point in methods.items()}
    best = max(value for method, value in score.items() if method != name)
    return Standing(
        max(score, key=lambda m: score[m]),
        1 + sum(v > score[name] for v in score.values()),
        score[name],
        score[name] - best,
    )


def report(run: Run) -> Report:
    """The table recomputed, with the ablations among the methods as well, and where methods cross."""
    return Report([sensitivity(), crossovers()], {"metric_sensitivity": draw})


def with_model(run: Run) -> Report:
    """Winners, margins and crossovers at every weight, from our rows."""
    found = {context: judged_points(rows, WRITERS, run.request) for context, rows in by_context(run).items()}
    found = {context: methods for context, methods in found.items() if len(methods) > 1}
    return Report([our_sensitivity(found), our_crossovers(found)])


def _paper() -> dict[tuple[str, float], dict[str, str]]:
    """The paper's table by context and weight."""
    return {
        (row["context"], float(row["HARD-OK weight"])): row for row in published("metric-sensitivity-app")
    }


def sensitivity() -> ResultTable:
    """Winners and margins at every weight."""
    paper = _paper()
    entries: list[tuple[CellValue, ...]] = []
    for context, label in CONTEXTS.items():
        methods = points(label)
        for alpha in ALPHAS:
            found, wider = (
                standing(methods, alpha),
                standing(with_ablations(methods), alpha).winner if label == "main" else None,
            )
            entries.append((context, alpha, *found, wider, *_printed(paper[context, alpha])))
    for (context, alpha), row in paper.items():
        if context not in CONTEXTS:
            entries.append((context, alpha, *[None] * 5, *_printed(row)))
    says = (
        "Recomputed from the paper's printed values, nothing is ours. Averages with one decimal stand as "
        "printed, so that margins over such methods hold to about 0.05; the others are recovered exactly. "
        "For other generators the paper prints Avg of two methods only: nothing can be recomputed. The "
        "column with ablations lets the rows of the ablation table compete, which the paper leaves out."
    )
    columns = heads(
        "context | HARD-OK weight:1 | winner | rank of GNRS-Search:0 | score of GNRS-Search:2 | margin:2 | "
        "winner with ablations",
        "winner | rank:0 | score:2 | margin:2",
    )
    return ResultTable(
        "metric_sensitivity", "Metric sensitivity of the paper's values", says, columns, entries
    )


def our_sensitivity(found: Mapping[str, Mapping[str, Point]]) -> ResultTable:
    """Who leads at every weight in judged rows, beside the paper."""
    paper, entries = _paper(), list[tuple[CellValue, ...]]()
    for context, methods in found.items():
        for alpha in ALPHAS:
            cited = paper.get((context, alpha))
            winner, _, *values = _printed(cited) if cited else [None] * 4
            entries.append((context, alpha, *standing(methods, alpha), winner, *values))
    says = (
        "Our rows: (1 − weight) Avg + weight HARD-OK, at the fewest chains. Comparable in kind: which "
        "method leads, and where that turns."
    )
    columns = heads(
        f"context | HARD-OK weight:1 | winner | rank of {OURS}:0 | score of {OURS}:2 | margin:2",
        "winner | score:2 | margin:2",
    )
    return ResultTable("metric_sensitivity", "Metric sensitivity of our rows", says, columns, entries)


def _printed(row: Mapping[str, str]) -> tuple[CellValue, ...]:
    return (
        row["winner"],
        int(row["rank of GNRS-Search"]),
        float(row["score of GNRS-Search"]),
        float(row["margin"]),
    )


def with_ablations(methods: Mapping[str, Point]) -> dict[str, Point]:
    """The main table's methods and the variants of the ablation table."""
    grid, hundredfold = GRIDS["main"][0], GRIDS["main"][1] / 100
    variants = {
        row["ablation"]: Point(
            methods[OURS].average + recovered(row["difference of averages"], grid),
            recovered(row["HARD-OK"], hundredfold),
        )
        for row in published("ablation")
    }
    return dict(methods) | {name: point for name, point in variants.items() if not name.startswith(OURS)}


def crossovers() -> ResultTable:
    """The weight from which each other method leads GNRS-Search on the main benchmark."""
    methods = with_ablations(points("main"))
    entries: list[tuple[CellValue, ...]] = []
    for name, point in methods.items():
        if name != OURS:
            at = crossover(methods[OURS], point)
            leads = point.hard_ok > methods[OURS].hard_ok
            told = "never" if at is None or not leads else None
            entries.append(
                (
                    name,
                    point.average,
                    point.hard_ok,
                    at if told is None else None,
                    told or "from that weight on",
                )
            )
    says = "Main benchmark with the ablation table's rows, from the paper's printed values; nothing is ours."
    columns = heads("Avg, recovered:2 | HARD-OK, recovered:2 | crossover weight:3 | leads GNRS-Search")
    return ResultTable(
        "crossovers", "Where another method overtakes", says, (Column("method"), *columns), entries
    )


def our_crossovers(found: Mapping[str, Mapping[str, Point]]) -> ResultTable:
    """The weight at which each other method of judged rows and ours are level."""
    entries = [
        (context, name, *point, crossover(methods[OURS], point))
        for context, methods in found.items()
        for name, point in methods.items()
        if name != OURS
    ]
    says = (
        f"Our rows; the weight at which the method and {OURS} are level, none where one of the two leads "
        "from 0 to 1."
    )
    columns = heads("context | method | Avg:2 | HARD-OK:2 | crossover weight:3")
    return ResultTable("crossovers", "Where two methods are level", says, columns, entries)


def draw() -> Figure:
    """The composite against its weight, main benchmark and held-out family."""
    figure = blank(9.5, 4.2)
    marked = {
        OURS: COLOURS[1],
        "No LLM candidates": COLOURS[0],
        "Direct Prompting": COLOURS[2],
        "No record grounding": COLOURS[3],
    }
    for axes, (context, label) in zip(figure.subplots(1, 2, sharey=True), CONTEXTS.items(), strict=True):
        methods = points(label)
        for name, point in methods.items():
            style = (
                {"color": marked[name], "linewidth": 2, "label": name}
                if name in marked
                else {"color": COLOURS[7], "linewidth": 0.8}
            )
            axes.plot(ALPHAS, [point.overall(alpha) for alpha in ALPHAS], **style)
        at = crossover(methods[OURS], methods["No LLM candidates"])
        if at is not None and at <= ALPHAS[-1]:
            height = methods[OURS].overall(at)
            axes.plot(at, height, "o", color="black", markersize=5)
            axes.annotate(
                f"level at {at:.3f}",
                (at, height),
                (at - 0.13, height + 7),
                arrowprops={"arrowstyle": "-"},
                fontsize=9,
            )
        axes.set(xlabel="weight of HARD-OK", title=f"{context}, the paper's values", xticks=ALPHAS)
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel("composite, %")
    figure.axes[0].plot([], [], color=COLOURS[7], linewidth=0.8, label="other methods")
    figure.axes[0].legend(frameon=False, fontsize=8, loc="lower left")
    return figure


EXPERIMENT = Experiment(
    "metric_sensitivity", "Who wins when HARD-OK weighs more or less in the paper's composite?", report
)
WITH_MODEL = Experiment("metric_sensitivity", "Who wins when HARD-OK weighs more or less?", with_model)
