"""Clauses side by side: methods on one goal, and what a replaced slot does to a rule (paper, Tables
qual-main and qual-slot).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from gnrs_ppl.evaluate.rubrics import percent
from gnrs_ppl.experiments.aog import chosen_goal
from gnrs_ppl.experiments.judging import of_main
from gnrs_ppl.experiments.methods import BASE, MAIN, METHODS, UNSEARCHED
from gnrs_ppl.experiments.published import published
from gnrs_ppl.experiments.rows import Row
from gnrs_ppl.experiments.runner import Experiment, ExperimentRequest, Report, Run
from gnrs_ppl.experiments.slots import OWN, SAME, method
from gnrs_ppl.experiments.tables import CellValue, Column, ColumnGroup, ResultTable, part, specified
from gnrs_ppl.rule.types import SLOTS

SHOWN = (*MAIN, UNSEARCHED, "No hard penalty")
PAPER_SLOTS = {"scope": "Scope", "trigger": "Trigger", "norm": "NormBody"}
AVG = "Avg on 1 to 5"
CHOSEN = "one seed; chosen because it is the first attendance goal of the service family, as in the paper."


def report(run: Run) -> Report:
    """Methods on one goal, slots of one goal, and the paper's in our words."""
    goal = chosen_goal(run.request)
    says = (
        f"{goal}, {CHOSEN} Comparable: HARD-OK and ρ of No LLM candidates, in kind. {BASE} with "
        f"{max(run.request.chains)} chains."
    )
    rows = run.rows("main") + run.rows("ablations")
    names = [name for name in _printed("qual-main-app", "method") if name not in METHODS]
    found = written(rows, [*names, *SHOWN], run.request, max(run.request.chains))
    after = "The paper scores its own by rubric."
    return Report(
        [methods(found, says), slots(_of(run.rows("slots"), goal, run.request), goal, EXECUTED, after)]
    )


def with_model(run: Run) -> Report:
    """The same of every method, with the judge's marks."""
    rows, goal = of_main(run), chosen_goal(run.request)
    says = f"{goal}, {CHOSEN} At the fewest chains; Avg is of rubric v1."
    found = written(rows, dict.fromkeys(row["method"] for row in rows), run.request, min(run.request.chains))
    tables = [methods(found, says, [part(AVG, 1, lambda one: marks(one[1]) if one[1] else None)])]
    if degraded := _of(run.judged("slots"), goal, run.request):
        tables.append(slots(degraded, goal, JUDGED, "Both texts are the template's; Avg is of rubric v1."))
    return Report(tables)


def marks(row: Row) -> float | None:
    """The judge's mean mark, from 1 to 5."""
    return None if row["avg"] is None else row["avg"] / percent(1)


def _of(rows: Sequence[Row], goal: str, request: ExperimentRequest) -> list[Row]:
    return [row for row in rows if row["goal"] == goal and row["seed"] == request.seeds[0]]


def _printed(table: str, by: str) -> dict[str, dict[str, str]]:
    return {row[by]: row for row in published(table)}


Written = tuple[str, Row | None]
"""A method, and its row on the goal where it has one."""


def written(
    rows: Sequence[Row], names: Iterable[str], request: ExperimentRequest, chains: int
) -> list[Written]:
    """What methods wrote for the goal at a number of chains."""
    own = [row for row in _of(rows, chosen_goal(request), request) if row["chains"] in (None, chains)]
    return [(name, next((row for row in own if row["method"] == name), None)) for name in names]


def methods(found: Iterable[Written], says: str, more: Iterable[ColumnGroup[Written]] = ()) -> ResultTable:
    """What methods write for one goal."""
    paper = _printed("qual-main-app", "method")

    def ours(one: Written) -> tuple[CellValue, ...]:
        row = one[1]
        if row is None:
            return "needs a model", *[None] * 4
        return row["text"] or "no clause", issue(row), row["rho"], row["hard_ok"], row["audit_f1"]

    def theirs(one: Written) -> tuple[CellValue, ...]:
        row = paper.get(one[0])
        return (row["issue (our words)"], float(row["Avg on 1-5"]), row["HARD-OK"]) if row else (None,) * 3

    heads = (Column("clause"), Column("issue"), Column("ρ", 3), Column("HARD-OK"), Column("audit F1", 3))
    cited = (Column("issue (our words)", paper=True), Column(AVG, 1, True), Column("HARD-OK", paper=True))
    parts: list[ColumnGroup[Written]] = [
        part("method", None, lambda one: one[0]),
        ColumnGroup(heads, ours),
        *more,
        ColumnGroup(cited, theirs),
    ]
    return specified("examples", "Methods on one goal", says, found, parts)


def issue(row: Row) -> str:
    """What is wrong with a row's rule, the gravest first."""
    if row["failed"]:
        return f"no rule: {row['failed']}"
    found = [row["refusal"]] if row.get("refusal") else []
    found += row["failures"]
    found += [f"refused on held-out logs: {row['refused']}"] if row["refused"] and not found else []
    # what is read back from a text has no count of cases in which it applies
    found += ["never applies on held-out logs"] if not row.get("activated", True) and not found else []
    return "; ".join(found) or "none that structure shows"


def executed(own: Row, row: Row, slot: str) -> tuple[CellValue, ...]:
    """What execution shows of a replaced slot; it shows nothing of the procedure."""
    return (own["audit_f1"], row["audit_f1"], 100 * row["changed"]) if slot != "procedure" else (None,) * 3


Measured = tuple[tuple[Column, ...], Callable[[Row, Row, str], Sequence[CellValue]]]
"""Columns, and what stands in them of the optimum's row, the row after, and the slot."""
EXECUTED: Measured = (
    (Column("audit F1 before", 3), Column("audit F1 after", 3), Column("changed verdicts, %", 1)),
    executed,
)
JUDGED: Measured = (
    (Column("Avg before", 1), Column("Avg after", 1)),
    lambda own, row, slot: (marks(own), marks(row)),
)


def slots(rows: Sequence[Row], goal: str, measured: Measured, after: str) -> ResultTable:
    """A rule before and after a slot's pool was replaced."""
    paper, by_name = _printed("qual-slot-app", "degraded slot"), {row["method"]: row for row in rows}
    own, heads = by_name[OWN], ("error (our words)", "Avg before", "Avg after")

    def cells(slot: str) -> tuple[CellValue, ...]:
        row = by_name[method(SAME, slot)]
        both = (said(one["structure"].get(slot, {})) for one in (own, row))
        return slot, *both, row["hard_ok"], *measured[1](own, row, slot)

    def theirs(slot: str) -> tuple[CellValue, ...]:
        row = paper.get(PAPER_SLOTS.get(slot, ""))
        return (row[heads[0]], *(float(row[head]) for head in heads[1:])) if row else (None,) * 3

    columns = (Column("degraded slot"), Column("before"), Column("after"), Column("HARD-OK after"))
    cited = (Column(heads[0], paper=True), *(Column(head, 1, paper=True) for head in heads[1:]))
    parts = [ColumnGroup((*columns, *measured[0]), cells), ColumnGroup(cited, theirs)]
    says = f"{goal}: the optimum, and the rule after as many candidates of other goals stood in one slot. "
    return specified("slot_examples", "One slot replaced", says + after, SLOTS, parts)


def said(content: Any) -> str:
    """A slot's content on one line, names before values."""
    if isinstance(content, dict):
        return "; ".join(f"{key} {said(value)}" for key, value in content.items()) or "everything"
    return (
        ", ".join(f"({said(v)})" if isinstance(v, dict) else str(v) for v in content)
        if isinstance(content, list)
        else str(content)
    )


EXPERIMENT = Experiment(
    "examples", "What do the clauses read like?", report, needs=("main", "ablations", "slots")
)
WITH_MODEL = Experiment("examples", EXPERIMENT.asks, with_model)
