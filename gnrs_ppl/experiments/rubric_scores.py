"""Main table, held-out family and ablations with a model: rubric, HARD-OK, OVERALL, calls (Tables main, ood, ablation)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import get_args

from gnrs_ppl.evaluate.rubrics import DIMENSIONS, overall
from gnrs_ppl.experiments.judging import Line, read_marks
from gnrs_ppl.experiments.main import LONG, between
from gnrs_ppl.experiments.pools import PAPER_PROPOSED
from gnrs_ppl.experiments.published import published
from gnrs_ppl.experiments.rows import Row, Rows, of
from gnrs_ppl.experiments.runner import Experiment, Report, Request, Run
from gnrs_ppl.experiments.statistics import estimate, paired
from gnrs_ppl.experiments.tables import Column, Entry, Table
from gnrs_ppl.experiments.writers import ABLATED, MAIN_TABLE, OURS, ROLES, WRITERS, making
from gnrs_ppl.realize.polish import Outcome

FULL = "GNRS-Search full"
"""What the paper's ablation table calls the method."""
COMPARABLE = (
    "Percent; a mark from 1 to 5 is 20 to 100. OVERALL is 0.80 Avg + 0.20 HARD-OK; its intervals are over goals and over scene families. "
    "Unmarked: the judge's answers without marks, which count for nothing; blank: texts that got the lowest marks by rule. The paper's "
    "columns stand last: goals, records and prompts are a reconstruction, so that levels can be held against each other only with the "
    "paper's models, and differences between methods in kind."
)
RUBRIC = (*(Column(dimension, 1) for dimension in DIMENSIONS), Column("Avg", 1), Column("v2 Avg", 1))
COLUMNS = (
    Column("method"), Column("chains", 0), Column("rows", 0), *RUBRIC, Column("HARD-OK, %", 1), Column("OVERALL", 1),
    Column("OVERALL, 95 % over goals"), Column("95 % over families"), Column("unmarked", 0), Column("blank", 0),
)  # fmt: skip


def lines(rows: Sequence[Row], names: Sequence[str], request: Request) -> list[tuple[str, int | None, Rows]]:
    """Rows of methods by chains, where there are any."""
    found = [(name, chains, of(rows, name, chains)) for name in names for chains in (None, *request.chains)]
    return [one for one in found if one[2].rows]


def line(name: str, chains: int | None, own: Rows) -> tuple[Entry, ...]:
    """What ``COLUMNS`` shows of a method."""
    avg, hard_ok = own.mean("avg"), 100 * (own.mean("hard_ok") or 0.0)
    each, families = own.by_goal("overall"), own.families()
    found = estimate([*each.values()], [families[goal] for goal in each]) if each else None
    ends = (between(found.percentile, 1), between(found.families, 1)) if found else (None, None)
    return (
        name, chains, len(own.rows), *(own.mean(dimension) for dimension in DIMENSIONS), avg, own.mean("v2_avg"), hard_ok,
        None if avg is None else overall(avg, hard_ok), *ends,
        sum(row["unmarked"] for row in own.rows), sum(row["blank"] for row in own.rows),
    )  # fmt: skip


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


def scores(name: str, label: str, title: str, rows: Sequence[Row], request: Request) -> Table:
    """Rubric, HARD-OK and OVERALL of every method beside the paper's."""
    paper = {LONG.get(row["method"], row["method"]): row for row in published(label)}
    printed = [column for column in paper[OURS] if column != "method"]
    entries = [
        (*line(method, chains, own), *(float(paper[method][c]) if method in paper else None for c in printed))
        for method, chains, own in lines(rows, MAIN_TABLE, request)
    ]
    columns = (*COLUMNS, *(Column(c, 3 if c == "search score" else 1, paper=True) for c in printed))
    return Table(name, title, COMPARABLE, columns, entries)


def measures(rows: Sequence[Row], request: Request) -> Table:
    """What is measured of every method without a judge."""
    entries: list[tuple[Entry, ...]] = []
    for method, chains, own in lines(rows, MAIN_TABLE, request):
        f1s, families = own.by_goal("audit_f1"), own.families()
        found = estimate([*f1s.values()], [families[goal] for goal in f1s])
        whole = sum(bool(row.get("structure")) for row in own.rows)
        ends = between(found.percentile), between(found.families)
        entries.append((method, chains, own.mean("rho"), own.mean("s_search"), found.mean, *ends, 100 * whole / len(own.rows)))
    says = (
        "A baseline's figures are those of the structure that its text is read back as; where none is whole it has no s_search and recalls "
        "nothing. s_search is taken with the frozen weights. Audit F1 is ours: verdicts of held-out cases against what the record entitles "
        "one to say. The paper has none of it but s_search on the held-out family."
    )
    columns = (
        Column("method"), Column("chains", 0), Column("ρ", 3), Column("s_search", 3), Column("audit F1", 3), Column("95 % over goals"),
        Column("95 % over families"), Column("whole structures, %", 1),
    )  # fmt: skip
    return Table("measures", "Without a judge", says, columns, entries)


def candidates(rows: Sequence[Row], request: Request) -> Table:
    """What the model proposed, and how polish ended, by method."""
    entries: list[tuple[Entry, ...]] = []
    for method, chains, own in lines(rows, [name for name in WRITERS if WRITERS[name].model], request):
        outcomes = Counter(row.get("polish") for row in own.rows)
        silent = sum(bool(row.get("problem")) for row in own.rows)
        cited = PAPER_PROPOSED if method == OURS else {}
        counted = (own.mean("kept"), own.mean("dropped"), silent, *(outcomes[outcome] for outcome in get_args(Outcome)))
        entries.append((method, chains, len(own.rows), *counted, cited.get("kept"), cited.get("dropped")))
    says = (
        "Candidates of the model per run, as the filter keeps and drops them; then how many texts the payload guard accepted. A refused "
        "text stays as the renderer wrote it."
    )
    columns = (
        Column("method"), Column("chains", 0), Column("rows", 0), Column("kept", 2), Column("dropped", 2), Column("no answer", 0),
        *(Column(f"polish {outcome}", 0) for outcome in get_args(Outcome)), Column("kept", 2, paper=True), Column("dropped", 2, paper=True),
    )  # fmt: skip
    return Table("candidates", "Candidates and polish", says, columns, entries)


def calls(rows: Sequence[Row], marks: Sequence[Line], request: Request) -> Table:
    """Calls and their price."""
    parts = [
        (method, chains, [call for row in own.rows for call in row["calls"]]) for method, chains, own in lines(rows, [*WRITERS], request)
    ]
    parts.append(("judge, all methods", None, [mark["call"] for mark in marks if mark["call"]]))
    entries: list[tuple[Entry, ...]] = []
    for name, chains, some in parts:
        known = [call["cost"] for call in some if call["cost"] is not None]
        failed = sum(call["error"] is not None for call in some)
        refused = sum(bool(call["refusal"]) for call in some)
        entries.append((name, chains, len(some), failed, refused, float(sum(known)), len(some) - len(known)))
    says = (
        "Calls that each method takes when it is run alone, at the price when they were made; calls that several take alike are made once. "
        "Of no use: cut off, withheld, or not the JSON that was asked for."
    )
    columns = (
        Column("asked by"), Column("chains", 0), Column("calls", 0), Column("of no use", 0), Column("declined", 0),
        Column("US dollars", 4), Column("calls of unknown price", 0),
    )  # fmt: skip
    return Table("calls", "Calls", says, columns, entries)


# Ablations


def ablations(run: Run) -> Report:
    """Variants of the method with its candidates and polish, and their paired differences from it."""
    request = run.request
    rows = [row for row in run.judged("main") if row["method"] == OURS] + run.judged("ablations")
    return Report([variants(rows, request), differences(rows, request), candidates(rows, request)])


def variants(rows: Sequence[Row], request: Request) -> Table:
    """All variants beside the paper's."""
    paper = {OURS if row["ablation"] == FULL else row["ablation"]: row for row in published("ablation")}
    entries = [
        (*line(name, chains, own), WRITERS[name].says, *(float(paper[name][c]) for c in ("average", "HARD-OK")))
        for name, chains, own in lines(rows, (OURS, *ABLATED), request)
    ]
    columns = (*COLUMNS, Column("switched off or replaced"), Column("Avg", 1, paper=True), Column("HARD-OK", 1, paper=True))
    return Table("ablations", "Ablations with a model", COMPARABLE, columns, entries)


def differences(rows: Sequence[Row], request: Request) -> Table:
    """Every variant less the method, goal by goal."""
    paper = {row["ablation"]: row for row in published("ablation")}
    entries: list[tuple[Entry, ...]] = []
    for name, chains, own in lines(rows, ABLATED, request):
        base = of(rows, OURS, chains or min(request.chains))
        for measure, (label, scale) in {"avg": ("Avg", 1.0), "hard_ok": ("HARD-OK", 100.0), "overall": ("OVERALL", 1.0)}.items():
            each, families = paired(base.by_goal(measure), own.by_goal(measure)), base.families()
            if not each:
                continue
            found = estimate([scale * value for value in each.values()], [families[goal] for goal in each])
            cited = float(paper[name]["difference of averages"]) if measure == "avg" else None
            ends = between(found.percentile, 1), between(found.families, 1)
            entries.append((name, chains, label, found.goals, found.mean, *ends, cited))
    says = (
        f"Variant less {OURS} at as many chains (at {min(request.chains)} where the variant runs none), paired by goal, in points. The "
        "paper gives the difference of Avg."
    )
    columns = (
        Column("variant"), Column("chains", 0), Column("metric"), Column("goals", 0), Column("difference", 2), Column("95 % over goals"),
        Column("95 % over families"), Column("difference", 2, paper=True),
    )  # fmt: skip
    return Table("ablation_differences", f"Differences from {OURS}", says, columns, entries)


WITH_MODEL = {
    "main": Experiment(
        "main",
        "Which methods write rules that read well and hold on records?",
        report_on("main", "main", "Main table with a model"),
        make=making(MAIN_TABLE),
        roles=ROLES,
    ),
    "ood": Experiment(
        "ood",
        "Do the figures hold in a scene family nothing was tuned on?",
        report_on("ood", "ood", "Held-out scene family with a model"),
        split="ood",
        make=making(MAIN_TABLE),
        roles=ROLES,
    ),
    "ablations": Experiment(
        "ablations", "What is each part of the full method good for?", ablations, needs=("main",), make=making(ABLATED), roles=ROLES
    ),
}
