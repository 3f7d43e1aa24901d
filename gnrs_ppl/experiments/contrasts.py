"""The paper's fifteen contrasts: those that a run without a model has, and with one all but the one of people
(Table result-contrasts).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gnrs_ppl.experiments.human_calibration import METHODS as SAMPLED
from gnrs_ppl.experiments.judging import generators, of_main
from gnrs_ppl.experiments.methods import BASE, METHODS, SEARCHED
from gnrs_ppl.experiments.parts import as_printed
from gnrs_ppl.experiments.published import published
from gnrs_ppl.experiments.rows import Row, Rows, of
from gnrs_ppl.experiments.runner import Experiment, Report, Run
from gnrs_ppl.experiments.slots import OWN, SAME, method
from gnrs_ppl.experiments.tables import CellValue, Column, ResultTable, ends, heads


class Contrast(NamedTuple):
    """Two conditions of one run, and the row of the paper's table that asks the same of its full method,
    where there is one.
    """

    question: str
    run: str
    first: str
    second: str
    paper: tuple[str, str] | None = None


FULL, DEGRADED = "GNRS-Search vs. ", "baseline vs. degraded "
REPLACED = "Slot intervention"
CONTRASTS = (
    Contrast("Main benchmark", "main", BASE, "No record grounding"),
    Contrast("Main benchmark", "main", BASE, "No search"),
    Contrast("Ablation study", "ablations", BASE, SEARCHED, (FULL + "random candidates", "Avg")),
    Contrast("Ablation study", "ablations", BASE, "Uniform weights", (FULL + "uniform weights", "HARD-OK")),
    Contrast("Ablation study", "ablations", BASE, "No hard penalty"),
    Contrast("Ablation study", "ablations", BASE, "AND-only evidence"),
    Contrast("Ablation study", "ablations", BASE, "CP-SAT control", (FULL + "CP-SAT control", "OVERALL")),
    Contrast(REPLACED, "slots", OWN, method(SAME, "scope")),
    Contrast(REPLACED, "slots", OWN, method(SAME, "trigger")),
    Contrast(REPLACED, "slots", OWN, method(SAME, "norm"), (DEGRADED + "NormBody", "Avg")),
    Contrast(
        "Slot intervention", "slots", OWN, method(SAME, "evidence"), (DEGRADED + "EvidencePolicy", "Avg")
    ),
    Contrast("Held-out OOD", "ood", BASE, "No search"),
)


MEASURES = (("hard_ok", "HARD-OK, points", 100.0, 1), ("audit_f1", "audit F1", 1.0, 3))
COLUMNS = heads(
    "question | contrast | metric | goals:0 | first:3 | second:3 | gap:3 | 95 % over goals | "
    "95 % over families"
)


def report(run: Run) -> Report:
    """Ours in HARD-OK and audit F1, then the paper's as printed."""
    says = "As printed. All but the slot interventions are of GNRS-Search, which needs a model."
    shown = "question | contrast | metric | primary | comparator | gap"
    paper = as_printed("paper_contrasts", "The paper's contrasts", says, "result-contrasts-app", shown)
    return Report([ours(run), paper])


def ours(run: Run) -> ResultTable:
    """First less second condition, paired by goal."""
    printed = {(row["contrast"], row["metric"]): row for row in published("result-contrasts-app")}
    chains = max(run.request.chains)
    entries: list[tuple[CellValue, ...]] = []
    for question, place, first, second, paper in CONTRASTS:
        # the base method's rows stand in the main table's run
        home = "main" if first == BASE and place == "ablations" else place
        sides = _rows(run, home, first, chains), _rows(run, place, second, chains)
        cited = (paper[1], float(printed[paper]["gap"])) if paper else (None, None)
        for measure, name, scale, digits in MEASURES:
            compared = gap(*sides, measure, scale, digits)
            entries.append((question, f"{first} vs. {second}", name, *compared, *cited))
    says = (
        f"First less second, paired by goal, with {chains} chains. The paper's contrasts stand where ours "
        f"asks the same with {BASE} in the place of its full method; only the one in HARD-OK is of the same "
        "kind, and only in direction."
    )
    columns = (*COLUMNS, Column("metric", paper=True), Column("gap", 2, paper=True))
    return ResultTable("contrasts", "Contrasts", says, columns, entries)


def _rows(run: Run, name: str, condition: str, chains: int) -> Rows:
    chained = condition in METHODS and METHODS[condition].runs_chains
    return of(run.rows(name), condition, chains if chained else None)


def gap(first: Rows, second: Rows, measure: str, scale: float, digits: int) -> tuple[CellValue, ...]:
    """Goals that both have, both levels, and first less second with its intervals."""
    found = second.change(first, measure, scale)
    if not found:
        return "not run", *[None] * 5
    levels = (scale * (rows.mean(measure) or 0.0) for rows in (first, second))
    return found.goals, *levels, found.mean, *ends(found, digits)


# With a model

JUDGED = {
    "Main benchmark": (("main",),),
    "Ablation study": (("main",), ("ablations",)),
    REPLACED: (("slots",),),
    "Held-out OOD": (("ood",),),
    "RealCharter-Bench": (("realcharter",),),
    "Second evaluator": (("main", "second_evaluator"),),
}
"""Question of the paper's table -> folders of rows, each before those that hold more of its marks."""
CONDITIONS = {
    "random candidates": SEARCHED,
    "uniform weights": "Uniform weights",
    "baseline": OWN,
    "degraded NormBody": method(SAME, "norm"),
    "degraded EvidencePolicy": method(SAME, "evidence"),
}
"""The paper's conditions that have another name here."""
METRICS = {
    "OVERALL": ("overall", 1.0),
    "Avg": ("avg", 1.0),
    "HARD-OK": ("hard_ok", 100.0),
    "readability": ("readability", 1.0),
    "Gemini Avg": ("second_avg", 1.0),
}
"""The paper's metrics -> ours; what people say is the experiment human_calibration."""
BEST_OTHER = "best non-GNRS-Search"


def with_model(run: Run) -> Report:
    """The paper's contrasts from rows that have been judged."""
    of_main(run)
    entries: list[tuple[CellValue, ...]] = []
    for row in published("result-contrasts-app"):
        names, rows = row["contrast"].split(" vs. "), _judged(run, row["question"])
        measure, scale = METRICS.get(row["metric"], ("", 1.0))
        first, second = (_fewest(rows, CONDITIONS.get(name, name), run) for name in names)
        if names[1] == BEST_OTHER:
            others = (_fewest(rows, name, run) for name in SAMPLED if name != names[0])
            second = max(others, key=lambda other: other.mean(measure) or 0.0)
        asked = (row[head] for head in ("question", "contrast", "metric"))
        printed = (float(row[head]) for head in ("primary", "comparator", "gap"))
        entries.append((*asked, *gap(first, second, measure, scale, 2), *printed))
    says = (
        "First less second, paired by goal, at the fewest chains, beside the paper's. Comparable in kind: "
        "goals, records and cards are a reconstruction. The contrast of people is in human_calibration."
    )
    columns = (*COLUMNS, *(Column(head, 2, True) for head in ("first", "second", "gap")))
    return Report([ResultTable("contrasts", "Contrasts with a model", says, columns, entries)])


def _judged(run: Run, question: str) -> list[Row]:
    """Judged rows that a question of the paper is about; its generators stand under their names."""
    folders = JUDGED.get(question, ())
    if question.endswith(" robustness"):
        name = question.removesuffix(" robustness").lower()
        folders = tuple(
            (place,) for place, one in generators(run.out).items() if one.lower().startswith(name)
        )
    return [row for folder in folders for row in run.judged(*folder)]


def _fewest(rows: Sequence[Row], name: str, run: Run) -> Rows:
    fewest = (None, min(run.request.chains))
    return Rows([row for row in rows if row["method"] == name and row["chains"] in fewest])


EXPERIMENT = Experiment(
    "contrasts", "Which contrasts can be had without a model?", report, needs=("main", "ablations", "slots")
)
WITH_MODEL = Experiment("contrasts", "Which contrasts come out with a model?", with_model)
