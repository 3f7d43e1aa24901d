"""The paper's fifteen contrasts, and beside them those that a run without a model has (Table
result-contrasts).
"""

from __future__ import annotations

from typing import NamedTuple

from gnrs_ppl.experiments.methods import BASE, METHODS, SEARCHED
from gnrs_ppl.experiments.parts import as_printed
from gnrs_ppl.experiments.published import published
from gnrs_ppl.experiments.rows import Rows, of
from gnrs_ppl.experiments.runner import Experiment, Report, Run
from gnrs_ppl.experiments.slots import OWN, SAME, method
from gnrs_ppl.experiments.tables import CellValue, Column, ResultTable, ends


class Contrast(NamedTuple):
    """Two conditions of one run, and the row of the paper's table that asks the same of its full method,
    where there is one.
    """

    question: str
    run: str
    first: str
    second: str
    paper: tuple[str, str] | None = None


FULL = "GNRS-Search vs. "
CONTRASTS = (
    Contrast("Main benchmark", "main", BASE, "No record grounding"),
    Contrast("Main benchmark", "main", BASE, "No search"),
    Contrast("Ablation study", "ablations", BASE, SEARCHED, (FULL + "random candidates", "Avg")),
    Contrast("Ablation study", "ablations", BASE, "Uniform weights", (FULL + "uniform weights", "HARD-OK")),
    Contrast("Ablation study", "ablations", BASE, "No hard penalty"),
    Contrast("Ablation study", "ablations", BASE, "AND-only evidence"),
    Contrast("Ablation study", "ablations", BASE, "CP-SAT control", (FULL + "CP-SAT control", "OVERALL")),
    Contrast("Slot intervention", "slots", OWN, method(SAME, "scope")),
    Contrast("Slot intervention", "slots", OWN, method(SAME, "trigger")),
    Contrast(
        "Slot intervention", "slots", OWN, method(SAME, "norm"), ("baseline vs. degraded NormBody", "Avg")
    ),
    Contrast(
        "Slot intervention",
        "slots",
        OWN,
        method(SAME, "evidence"),
        ("baseline vs. degraded EvidencePolicy", "Avg"),
    ),
    Contrast("Held-out OOD", "ood", BASE, "No search"),
)


def report(run: Run) -> Report:
    """Ours in HARD-OK and audit F1, then the paper's as printed."""
    return Report([ours(run), paper()])


def ours(run: Run) -> ResultTable:
    """First less second condition, paired by goal."""
    printed = {(row["contrast"], row["metric"]): row for row in published("result-contrasts-app")}
    chains = max(run.request.chains)
    entries: list[tuple[CellValue, ...]] = []
    for contrast in CONTRASTS:
        # the base method's rows stand in the main table's run
        first = _rows(
            run,
            "main" if contrast.first == BASE and contrast.run == "ablations" else contrast.run,
            contrast.first,
            chains,
        )
        second = _rows(run, contrast.run, contrast.second, chains)
        cited = printed[contrast.paper] if contrast.paper else None
        told = (contrast.paper[1], float(cited["gap"])) if contrast.paper and cited else (None, None)
        for measure, name, scale, digits in (
            ("hard_ok", "HARD-OK, points", 100.0, 1),
            ("audit_f1", "audit F1", 1.0, 3),
        ):
            values: tuple[CellValue, ...] = ("not run", *[None] * 5)
            if found := second.change(first, measure, scale):
                levels = tuple(scale * (rows.mean(measure) or 0.0) for rows in (first, second))
                values = (found.goals, *levels, found.mean, *ends(found, digits))
            entries.append(
                (contrast.question, f"{contrast.first} vs. {contrast.second}", name, *values, *told)
            )
    columns = (
        Column("question"),
        Column("contrast"),
        Column("metric"),
        Column("goals", 0),
        Column("first", 3),
        Column("second", 3),
        Column("gap", 3),
        Column("95 % over goals"),
        Column("95 % over families"),
        Column("metric", paper=True),
        Column("gap", 2, paper=True),
    )
    says = (
        f"First less second, paired by goal, with {chains} chains. The paper's contrasts stand where ours "
        f"asks the same with {BASE} in "
        "the place of its full method; only the one in HARD-OK is of the same kind, and only in direction."
    )
    return ResultTable("contrasts", "Contrasts", says, columns, entries)


def _rows(run: Run, name: str, condition: str, chains: int) -> Rows:
    chained = condition in METHODS and METHODS[condition].runs_chains
    return of(run.rows(name), condition, chains if chained else None)


def paper() -> ResultTable:
    """The paper's table as printed."""
    says = "As printed. All but the slot interventions are of GNRS-Search, which needs a model."
    heads = ("question", "contrast", "metric", "primary", "comparator", "gap")
    return as_printed("paper_contrasts", "The paper's contrasts", says, "result-contrasts-app", heads)


EXPERIMENT = Experiment(
    "contrasts", "Which contrasts can be had without a model?", report, needs=("main", "ablations", "slots")
)
