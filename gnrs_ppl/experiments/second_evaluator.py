"""Another judge scores the texts of the calibration pack (paper, Table second-evaluator)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gnrs_ppl.experiments.human_calibration import METHODS, SURVEY
from gnrs_ppl.experiments.judging import judge_rows
from gnrs_ppl.experiments.published import by_method, printed_numbers
from gnrs_ppl.experiments.rows import Row, Rows
from gnrs_ppl.experiments.runner import Experiment, ExperimentRequest, Report, Run
from gnrs_ppl.experiments.statistics import Kind, correlation
from gnrs_ppl.experiments.tables import CellValue, ColumnGroup, ResultTable, heads, part, specified
from gnrs_ppl.experiments.writers import model_of

NAME = "second_evaluator"
KINDS: dict[str, Kind] = {"Pearson r": "pearson", "Spearman ρ": "spearman", "Kendall τ": "kendall"}


def make(request: ExperimentRequest, folder: Path) -> Sequence[str]:
    """Marks of the second judge, with the rubric that Avg is made of."""
    some = SURVEY.sample(Run(request, folder.parent).judged("main"), request)
    rows = [row for by_method in some for row in by_method.values()]
    judge_rows(rows, model_of(request), folder, role="second_judge", rubrics=("v1",), repeats=request.repeats)
    return ()


def report(run: Run) -> Report:
    """Means of both judges by method, and their agreement item by item."""
    some = SURVEY.sample(run.judged("main", NAME), run.request)
    rows = [row for by_method in some for row in by_method.values()]
    return Report(
        [means(rows), agreement(rows)],
        notes=[f"{len(rows)} texts: {len(some)} goals by {len(METHODS)} methods"],
    )


def means(rows: Sequence[Row]) -> ResultTable:
    """Both judges by method beside the paper's two."""
    paper = by_method("second-evaluator-app")
    entries: list[tuple[CellValue, ...]] = []
    for method in METHODS:
        own = Rows([row for row in rows if row["method"] == method])
        values = (own.mean("avg"), own.mean("second_avg"), own.mean("second_overall"))
        printed = [
            float(paper[method][column]) for column in ("GPT average", "Gemini average", "Gemini OVERALL")
        ]
        entries.append((method, len(own.rows), *values, *printed))
    columns = heads(
        "method | texts:0 | Avg:2 | Avg of the second judge:2 | OVERALL of the second judge:2",
        "GPT Avg:2 | Gemini Avg:2 | Gemini OVERALL:2",
    )
    says = (
        "Percent, rubric v1, on the texts of the calibration pack. Of its second judge the paper names "
        "only the family."
    )
    return ResultTable(NAME, "Two judges", says, columns, entries)


def agreement(rows: Sequence[Row]) -> ResultTable:
    """Correlation of the two judges' Avg over texts that both marked."""
    both = [row for row in rows if row["avg"] is not None and row["second_avg"] is not None]
    first, second = ([row[name] for row in both] for name in ("avg", "second_avg"))
    printed = printed_numbers("second evaluator")
    parts: list[ColumnGroup[str]] = [
        part("quantity", None, str),
        part("texts", 0, lambda name: len(both)),
        part("value", 3, lambda name: correlation(KINDS[name], first, second)),
        part("value", 3, lambda name: printed.get(f"{name} of Gemini with GPT"), paper=True),
    ]
    says = "Avg of rubric v1, text by text; τ is τ-b."
    return specified("second_agreement", "Agreement of the two judges", says, KINDS, parts)


WITH_MODEL = Experiment(
    NAME,
    "Does another judge see the same order?",
    report,
    needs=("main",),
    make=make,
    roles=("judge", "second_judge"),
)
