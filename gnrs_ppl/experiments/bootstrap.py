"""Paired bootstrap of the base against every other: goals as in the paper, BCa beside it, and families
(paper, Table bootstrap).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gnrs_ppl.experiments.judging import by_context
from gnrs_ppl.experiments.methods import BASE, METHODS, OURS
from gnrs_ppl.experiments.parts import as_printed
from gnrs_ppl.experiments.rows import Row, lines, of
from gnrs_ppl.experiments.runner import Experiment, ExperimentRequest, Report, Run
from gnrs_ppl.experiments.statistics import DRAWS
from gnrs_ppl.experiments.tables import CellValue, ResultTable, between, heads
from gnrs_ppl.experiments.writers import WRITERS

MEASURES = {"hard_ok": ("HARD-OK, points", 100.0, 1), "rho": ("ρ", 1.0, 3), "audit_f1": ("audit F1", 1.0, 3)}
"""Measure -> its name, scale and decimals."""
JUDGED = {
    "overall": ("OVERALL, points", 1.0, 2),
    "avg": ("Avg, points", 1.0, 2),
    "v2_avg": ("v2 Avg, points", 1.0, 2),
    "hard_ok": ("HARD-OK, points", 100.0, 1),
    "faithfulness": ("faithfulness, 1 to 5", 0.05, 2),
}
"""The same of rows with marks."""


def report(run: Run) -> Report:
    """Margins over every other method, and the paper's."""
    rows = run.rows("main") + run.rows("ablations")
    return Report([margins(rows, run.request), paper()])


def with_model(run: Run) -> Report:
    """Margins of the full method over every other, per context, and the paper's."""
    says = (
        f"{OURS} less the other method. Seeds are averaged within a goal and goals are resampled, as in the "
        "paper; BCa and families stand beside it, since goals of a family share stem and log. Best other: "
        "the greatest mean; the paper's table does not always name it."
    )
    tables = [
        margins(rows, run.request, OURS, [*WRITERS], JUDGED)._replace(
            name=f"margins_{number}", title=f"Margins with 95 % intervals: {context}", says=says
        )
        for number, (context, rows) in enumerate(by_context(run).items(), 1)
    ]
    return Report([*tables, paper()])


def margins(
    rows: Sequence[Row],
    request: ExperimentRequest,
    first: str = BASE,
    methods: Sequence[str] = tuple(METHODS),
    measures: Mapping[str, tuple[str, float, int]] = MEASURES,
) -> ResultTable:
    """First method less every other, per measure and number of chains."""
    entries: list[tuple[CellValue, ...]] = []
    for measure, (name, scale, digits) in measures.items():
        for chains in request.chains:
            base = of(rows, first, chains)
            others = {m: own for m, _, own, _ in lines(rows, methods, [chains]) if m != first}
            means = {m: own.mean(measure) for m, own in others.items()}
            best = max((value for value in means.values() if value is not None), default=None)
            for method, own in others.items():
                if found := own.change(base, measure, scale):
                    is_best, margin = means[method] == best, round(found.mean, 12)
                    spans = (between(one, digits) for one in (found.percentile, found.bca, found.families))
                    entries.append((name, chains, method, is_best, found.goals, margin, *spans))
    columns = heads(
        "measure | chains:0 | other method | best other | goals:0 | margin:3 | percentile over goals | "
        "BCa over goals | percentile over families"
    )
    says = (
        f"{first} less the other method. Seeds are averaged within a goal, goals are resampled {DRAWS:,} "
        "times; families are resampled whole beside it, since goals of a family share stem and log. BCa is "
        "left out where it is not defined."
    )
    return ResultTable("margins", "Margins with 95 % intervals", says, columns, entries)


def paper() -> ResultTable:
    """The paper's table as printed."""
    says = (
        "As printed, for GNRS-Search, which needs a model. Comparable in kind are the HARD-OK rows, as a "
        "bootstrap over goals of another pair of methods. Three rows do not name the strongest other method: "
        "docs/paper-inconsistencies.md."
    )
    shown = "experiment | metric | best other method | resampled units | GNRS-Search | margin | 95% interval"
    return as_printed("paper_bootstrap", "The paper's bootstrap", says, "bootstrap-app", shown)


EXPERIMENT = Experiment(
    "bootstrap", "Which differences are larger than the choice of goals?", report, needs=("main", "ablations")
)
WITH_MODEL = Experiment("bootstrap", EXPERIMENT.asks, with_model)
