"""Main table, held-out family and ablations with a model: rubric, HARD-OK, OVERALL, calls (Tables main, ood,
ablation).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import get_args

from gnrs_ppl.evaluate.rubrics import DIMENSIONS, overall
from gnrs_ppl.experiments.judging import Mark, read_marks
from gnrs_ppl.experiments.main import AUDIT_F1
from gnrs_ppl.experiments.methods import OURS, paper_ablations
from gnrs_ppl.experiments.parts import METHOD, RUNS, cited, mean
from gnrs_ppl.experiments.pools import PAPER_PROPOSED
from gnrs_ppl.experiments.published import by_method
from gnrs_ppl.experiments.rows import Line, Row, lines, of
from gnrs_ppl.experiments.runner import ExperimentRequest, Report, Run
from gnrs_ppl.experiments.tables import (
    CellValue,
    Column,
    ColumnGroup,
    ResultTable,
    ends,
    heads,
    part,
    specified,
)
from gnrs_ppl.experiments.writers import ABLATED, MAIN_TABLE, POLISHES, VARIANTS, WRITERS, study
from gnrs_ppl.realize.polish import Outcome

ROWS = RUNS._replace(columns=(Column("rows", 0),))
COMPARABLE = (
    "Percent; a mark from 1 to 5 is 20 to 100. OVERALL is 0.80 Avg + 0.20 HARD-OK; its intervals are over "
    "goals and over scene families. Unmarked: the judge's answers without marks, which count for nothing; "
    "blank: texts that got the lowest marks by rule. The paper's columns stand last: goals, records and "
    "prompts are a reconstruction, so that levels can be held against each other only with the paper's "
    "models, and differences between methods in kind."
)


def _composite(line: Line) -> tuple[CellValue, ...]:
    avg, found = line.own.mean("avg"), line.own.estimate("overall")
    return (None if avg is None else overall(avg, 100 * (line.own.mean("hard_ok") or 0.0)), *ends(found, 1))


def _summed(measure: str) -> ColumnGroup[Line]:
    return part(measure, 0, lambda line: sum(row[measure] for row in line.own.rows))


JUDGED: tuple[ColumnGroup[Line], ...] = (
    METHOD,
    ROWS,
    *(mean(dimension, dimension, 1) for dimension in DIMENSIONS),
    mean("avg", "Avg", 1),
    mean("v2_avg", "v2 Avg", 1),
    part("HARD-OK, %", 1, lambda line: 100 * (line.own.mean("hard_ok") or 0.0)),
    ColumnGroup(
        (Column("OVERALL", 1), Column("OVERALL, 95 % over goals"), Column("95 % over families")), _composite
    ),
    _summed("unmarked"),
    _summed("blank"),
)

OFF: ColumnGroup[Line] = part(f"other than {OURS}", None, lambda line: WRITERS[line.method].says)


# Main table and held-out family


def report_on(name: str, label: str, title: str) -> Callable[[Run], Report]:
    """The report of a study of the main table's methods, beside a table of the paper."""

    def report(run: Run) -> Report:
        rows, request = run.judged(name), run.request
        tables = [
            scores(name, label, title, rows, request),
            measures(rows, request),
            candidates(rows, request),
            calls(rows, read_marks(run.out / name), request),
        ]
        return Report(tables)

    return report


def scores(name: str, label: str, title: str, rows: Sequence[Row], request: ExperimentRequest) -> ResultTable:
    """Rubric, HARD-OK and OVERALL of every method beside the paper's."""
    paper = by_method(label)
    printed = [
        (column, column, 3 if column == "search score" else 1) for column in paper[OURS] if column != "method"
    ]
    found = lines(rows, MAIN_TABLE, request.chains)
    says = f"{VARIANTS} {COMPARABLE}"
    return specified(name, title, says, found, [*JUDGED, OFF, *cited(paper, printed)])


def measures(rows: Sequence[Row], request: ExperimentRequest) -> ResultTable:
    """What is measured of every method without a judge."""
    whole: ColumnGroup[Line] = part(
        "whole structures, %",
        1,
        lambda line: 100 * sum(bool(row.get("structure")) for row in line.own.rows) / len(line.own.rows),
    )
    says = (
        "A baseline's figures are those of the structure that its text is read back as; where none is whole "
        "it has no s_search and recalls nothing. s_search is taken with the frozen weights. Audit F1 is "
        "ours: verdicts of held-out cases against what the record entitles one to say. The paper has none of "
        "it but s_search on the held-out family."
    )
    parts = [METHOD, mean("rho", "ρ", 3), mean("s_search", "s_search", 3), AUDIT_F1, whole]
    return specified("measures", "Without a judge", says, lines(rows, MAIN_TABLE, request.chains), parts)


def candidates(rows: Sequence[Row], request: ExperimentRequest) -> ResultTable:
    """What the model proposed, and how polish ended, by method."""
    proposed = {OURS: {name: str(value) for name, value in PAPER_PROPOSED.items()}}

    def polished(outcome: str) -> ColumnGroup[Line]:
        return part(
            f"polish {outcome}", 0, lambda line: sum(row.get("polish") == outcome for row in line.own.rows)
        )

    says = (
        "Candidates of the model per run, as the filter keeps and drops them; then how many texts the "
        "payload guard accepted. A refused text stays as the renderer wrote it."
    )
    parts: list[ColumnGroup[Line]] = [
        METHOD,
        ROWS,
        mean("kept", "kept", 2),
        mean("dropped", "dropped", 2),
        part("no answer", 0, lambda line: sum(bool(row.get("problem")) for row in line.own.rows)),
        *(polished(outcome) for outcome in get_args(Outcome)),
        *cited(proposed, [("kept", "kept", 2), ("dropped", "dropped", 2)]),
    ]
    asked = [name for name, writer in WRITERS.items() if writer.candidates or writer.polish]
    return specified("candidates", "Candidates and polish", says, lines(rows, asked, request.chains), parts)


def calls(rows: Sequence[Row], marks: Sequence[Mark], request: ExperimentRequest) -> ResultTable:
    """Calls and their price."""
    every = lines(rows, WRITERS, request.chains)
    parts = [
        (line.method, line.chains, [call for row in line.own.rows for call in row["calls"]]) for line in every
    ]
    parts.append(("judge, all methods", None, [mark["call"] for mark in marks if mark["call"]]))
    entries: list[tuple[CellValue, ...]] = []
    for name, chains, some in parts:
        known = [call["cost"] for call in some if call["cost"] is not None]
        failed = sum(call["error"] is not None for call in some)
        refused = sum(bool(call["refusal"]) for call in some)
        entries.append((name, chains, len(some), failed, refused, float(sum(known)), len(some) - len(known)))
    says = (
        "Calls that each method takes when it is run alone, at the price when they were made; calls that "
        "several take alike are made once. Of no use: cut off, withheld, or not the JSON that was asked for."
    )
    columns = heads(
        "asked by | chains:0 | calls:0 | of no use:0 | declined:0 | US dollars:4 | calls of unknown price:0"
    )
    return ResultTable("calls", "Calls", says, columns, entries)


# Ablations


def ablations(run: Run) -> Report:
    """Variants of the method with its candidates and polish, and their paired differences from it."""
    request = run.request
    rows = [row for row in run.judged("main") if row["method"] == OURS] + run.judged("ablations")
    return Report([variants(rows, request), differences(rows, request), candidates(rows, request)])


def variants(rows: Sequence[Row], request: ExperimentRequest) -> ResultTable:
    """All variants beside the paper's."""
    printed = cited(paper_ablations(OURS), [("average", "Avg", 1), ("HARD-OK", "HARD-OK", 1)])
    found = lines(rows, (OURS, *ABLATED), request.chains)
    says = f"{VARIANTS} {COMPARABLE}"
    return specified("ablations", "Ablations with a model", says, found, [*JUDGED, OFF, *printed])


def differences(rows: Sequence[Row], request: ExperimentRequest) -> ResultTable:
    """Every variant less the method, goal by goal."""
    paper = paper_ablations(OURS)
    entries: list[tuple[CellValue, ...]] = []
    for name, chains, own, _ in lines(rows, ABLATED, request.chains):
        base = of(rows, OURS, chains or min(request.chains))
        for measure, (label, scale) in {
            "avg": ("Avg", 1.0),
            "hard_ok": ("HARD-OK", 100.0),
            "overall": ("OVERALL", 1.0),
        }.items():
            if found := base.change(own, measure, scale):
                given = measure == "avg" and name in paper
                printed = float(paper[name]["difference of averages"]) if given else None
                entries.append((name, chains, label, found.goals, found.mean, *ends(found, 1), printed))
    says = (
        f"Variant less {OURS} at as many chains (at {min(request.chains)} where the variant runs none), "
        "paired by goal, in points. The paper gives the difference of Avg."
    )
    columns = heads(
        "variant | chains:0 | metric | goals:0 | difference:2 | 95 % over goals | 95 % over families",
        "difference:2",
    )
    return ResultTable("ablation_differences", f"Differences from {OURS}", says, columns, entries)


def polishes(run: Run) -> Report:
    """The full method with either polish and without: marks, words, and what the guard accepted."""
    request = run.request
    rows = [row for row in run.judged("main") if row["method"] == OURS] + run.judged("polish")
    words: ColumnGroup[Line] = part(
        "words", 1, lambda line: sum(len(row["text"].split()) for row in line.own.rows) / len(line.own.rows)
    )

    def lost(line: Line) -> int:
        return sum(len(row["lost"]) for row in line.own.rows if row.get("polish") == "refused")

    says = (
        f"{VARIANTS} Lost: payloads and statements that refused texts did not keep; the rule keeps the "
        f"renderer's text then. {COMPARABLE}"
    )
    parts = [*JUDGED, words, part("lost by refused texts", 0, lost), OFF]
    found = lines(rows, (OURS, *POLISHES), request.chains)
    table = specified("polish", "Polish v1, v2 and none", says, found, parts)
    return Report([table, candidates(rows, request)])


MAIN = study(
    "main",
    "Which methods write rules that read well and hold on records?",
    report_on("main", "main", "Main table with a model"),
    MAIN_TABLE,
)
OOD = study(
    "ood",
    "Do the figures hold in a scene family nothing was tuned on?",
    report_on("ood", "ood", "Held-out scene family with a model"),
    MAIN_TABLE,
    split="ood",
)
ABLATIONS = study(
    "ablations", "What is each part of the full method good for?", ablations, ABLATED, needs=("main",)
)
POLISH = study(
    "polish",
    "What does polish do to texts, and how much of it does the guard accept?",
    polishes,
    POLISHES,
    needs=("main",),
)
