"""How far the method leads, and at which weight of HARD-OK: rows that have been judged (Tables bootstrap and
metric-sensitivity).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gnrs_ppl.errors import InputError
from gnrs_ppl.experiments.bootstrap import margins
from gnrs_ppl.experiments.bootstrap import paper as paper_bootstrap
from gnrs_ppl.experiments.cross_model import generators
from gnrs_ppl.experiments.metric_sensitivity import ALPHAS, Point, crossover, standing
from gnrs_ppl.experiments.published import published
from gnrs_ppl.experiments.rows import Row, lines
from gnrs_ppl.experiments.runner import Experiment, ExperimentRequest, Report, Run
from gnrs_ppl.experiments.tables import CellValue, Column, ResultTable, heads
from gnrs_ppl.experiments.writers import OURS, WRITERS

MEASURES = {
    "overall": ("OVERALL, points", 1.0, 2),
    "avg": ("Avg, points", 1.0, 2),
    "v2_avg": ("v2 Avg, points", 1.0, 2),
    "hard_ok": ("HARD-OK, points", 100.0, 1),
    "faithfulness": ("faithfulness, 1 to 5", 0.05, 2),
}
"""Measure -> its name, scale and decimals."""
CONTEXTS = {"main": "Main benchmark", "ood": "Held-out OOD", "realcharter": "RealCharter"}


def judged(run: Run) -> dict[str, list[Row]]:
    """Rows with marks by context: main benchmark, held-out family, and each generator of the grid.

    Raises
    ------
    InputError
        There are none.
    """
    folders = {told: name for name, told in CONTEXTS.items()} | {
        name: folder for folder, name in generators(run.out).items()
    }
    found = {told: run.judged(name) for told, name in folders.items()}
    found = {
        told: rows
        for told, rows in found.items()
        if any(row["method"] == OURS and row["avg"] is not None for row in rows)
    }
    if not found:
        raise InputError(
            "no judged rows lie there", "run gnrs experiment main --llm first", source=str(run.out)
        )
    return found


def of_main(run: Run) -> list[Row]:
    """Judged rows of ``main`` and ``ablations``.

    Raises
    ------
    InputError
        There are none.
    """
    judged(run)
    return run.judged("main") + run.judged("ablations")


def bootstrap(run: Run) -> Report:
    """Margins of the method over every other, per context, and the paper's."""
    says = (
        f"{OURS} less the other method. Seeds are averaged within a goal and goals are resampled, as in the "
        "paper; BCa and families stand beside it, since goals of a family share stem and log. Best other: "
        "the greatest mean; the paper's table does not always name it."
    )
    tables = [
        margins(rows, run.request, OURS, [*WRITERS], MEASURES)._replace(
            name=f"margins_{number}", title=f"Margins with 95 % intervals: {context}", says=says
        )
        for number, (context, rows) in enumerate(judged(run).items(), 1)
    ]
    return Report([*tables, paper_bootstrap()])


# Weight of HARD-OK


def sensitivity(run: Run) -> Report:
    """Winners, margins and crossovers at every weight, from our rows."""
    found = {context: points(rows, run.request) for context, rows in judged(run).items()}
    found = {context: methods for context, methods in found.items() if len(methods) > 1}
    return Report([weights(found), crossovers(found)])


def points(rows: Sequence[Row], request: ExperimentRequest) -> dict[str, Point]:
    """Avg and HARD-OK of every method, at the fewest chains."""
    found = {}
    for name, chains, own, _ in lines(rows, WRITERS, request.chains):
        avg, hard_ok = own.mean("avg"), own.mean("hard_ok")
        if chains in (None, min(request.chains)) and avg is not None and hard_ok is not None:
            found[name] = Point(avg, 100 * hard_ok)
    return found


def weights(found: Mapping[str, Mapping[str, Point]]) -> ResultTable:
    """Who leads at every weight, beside the paper."""
    paper = {
        (row["context"], float(row["HARD-OK weight"])): row for row in published("metric-sensitivity-app")
    }
    entries: list[tuple[CellValue, ...]] = []
    for context, methods in found.items():
        for alpha in ALPHAS:
            cited = paper.get((context, alpha))
            told = (
                (cited["winner"], float(cited["score of GNRS-Search"]), float(cited["margin"]))
                if cited
                else (None, None, None)
            )
            entries.append((context, alpha, *standing(methods, alpha), *told))
    says = (
        "Our rows: (1 − weight) Avg + weight HARD-OK, at the fewest chains. Comparable in kind: which "
        "method leads, and where that turns."
    )
    columns = (
        Column("context"),
        Column("HARD-OK weight", 1),
        Column("winner"),
        Column(f"rank of {OURS}", 0),
        Column(f"score of {OURS}", 2),
        Column("margin", 2),
        Column("winner", paper=True),
        Column("score", 2, paper=True),
        Column("margin", 2, paper=True),
    )
    return ResultTable("metric_sensitivity", "Metric sensitivity of our rows", says, columns, entries)


def crossovers(found: Mapping[str, Mapping[str, Point]]) -> ResultTable:
    """The weight at which each other method and ours are level."""
    entries: list[tuple[CellValue, ...]] = []
    for context, methods in found.items():
        for name, point in methods.items():
            if name != OURS:
                entries.append((context, name, *point, crossover(methods[OURS], point)))
    says = (
        f"Our rows; the weight at which the method and {OURS} are level, none where one of the two leads "
        "from 0 to 1."
    )
    columns = heads("context | method | Avg:2 | HARD-OK:2 | crossover weight:3")
    return ResultTable("crossovers", "Where two methods are level", says, columns, entries)


WITH_MODEL = {
    "bootstrap": Experiment("bootstrap", "Which differences are larger than the choice of goals?", bootstrap),
    "metric_sensitivity": Experiment(
        "metric_sensitivity", "Who wins when HARD-OK weighs more or less?", sensitivity
    ),
}
