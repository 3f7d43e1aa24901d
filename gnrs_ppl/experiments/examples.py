"""Clauses side by side: methods on one goal, and what a replaced slot does to a rule (paper, Tables
qual-main and qual-slot).
"""

from __future__ import annotations

from typing import Any

from gnrs_ppl.experiments.aog import chosen_goal
from gnrs_ppl.experiments.methods import ABLATIONS, BASE, MAIN, UNSEARCHED
from gnrs_ppl.experiments.published import published
from gnrs_ppl.experiments.rows import Row
from gnrs_ppl.experiments.runner import Experiment, Report, Run
from gnrs_ppl.experiments.slots import OWN, SAME, method
from gnrs_ppl.experiments.tables import CellValue, Column, ResultTable
from gnrs_ppl.rule.types import SLOTS

SHOWN = (*MAIN, UNSEARCHED, "No hard penalty")
PAPER_SLOTS = {"scope": "Scope", "trigger": "Trigger", "norm": "NormBody"}


def report(run: Run) -> Report:
    """Methods on one goal, slots of one goal, and the paper's in our words."""
    goal, seed = chosen_goal(run.request), run.request.seeds[0]
    rows = [
        row
        for name in ("main", "ablations")
        for row in run.rows(name)
        if row["goal"] == goal and row["seed"] == seed
    ]
    degraded = [row for row in run.rows("slots") if row["goal"] == goal and row["seed"] == seed]
    return Report([methods(goal, rows, max(run.request.chains)), slots(goal, degraded)])


def methods(goal: str, rows: list[Row], chains: int) -> ResultTable:
    """What methods write for one goal."""
    paper = {row["method"]: row for row in published("qual-main-app")}
    entries: list[tuple[CellValue, ...]] = []
    for name in [n for n in paper if n not in (*MAIN, *ABLATIONS)] + list(SHOWN):
        row = next((r for r in rows if r["method"] == name and r["chains"] in (None, chains)), None)
        cited = (
            (paper[name]["issue (our words)"], float(paper[name]["Avg on 1-5"]), paper[name]["HARD-OK"])
            if name in paper
            else (None,) * 3
        )
        entries.append((name, *(_told(row) if row else ("needs a model", *[None] * 4)), *cited))
    columns = (
        Column("method"),
        Column("clause"),
        Column("issue"),
        Column("ρ", 3),
        Column("HARD-OK"),
        Column("audit F1", 3),
        Column("issue (our words)", paper=True),
        Column("Avg on 1 to 5", 1, paper=True),
        Column("HARD-OK", paper=True),
    )
    says = (
        f"{goal}, one seed; chosen because it is the first attendance goal of the service family, as in the "
        "paper. Comparable: HARD-OK "
        f"and ρ of No LLM candidates, in kind. {BASE} with {chains} chains."
    )
    return ResultTable("examples", "Methods on one goal", says, columns, entries)


def _told(row: Row) -> tuple[CellValue, ...]:
    return row["text"] or "no clause", issue(row), row["rho"], row["hard_ok"], row["audit_f1"]


def issue(row: Row) -> str:
    """What is wrong with a row's rule, the gravest first."""
    if row["failed"]:
        return f"no rule: {row['failed']}"
    found = [row["refusal"]] if row["refusal"] else []
    found += row["failures"]
    found += [f"refused on held-out logs: {row['refused']}"] if row["refused"] and not found else []
    found += ["never applies on held-out logs"] if not row["activated"] and not found else []
    return "; ".join(found) or "none that structure shows"


def slots(goal: str, rows: list[Row]) -> ResultTable:
    """A rule before and after a slot's pool was replaced."""
    paper = {row["degraded slot"]: row for row in published("qual-slot-app")}
    by_name = {row["method"]: row for row in rows}
    own, entries = by_name[OWN], list[tuple[CellValue, ...]]()
    for slot in SLOTS:
        row, printed = by_name[method(SAME, slot)], paper.get(PAPER_SLOTS.get(slot, ""))
        cited = (
            (printed["error (our words)"], float(printed["Avg before"]), float(printed["Avg after"]))
            if printed
            else (None,) * 3
        )
        measured = (
            (row["hard_ok"], own["audit_f1"], row["audit_f1"], 100 * row["changed"])
            if slot != "procedure"
            else (row["hard_ok"], *[None] * 3)
        )
        entries.append(
            (
                slot,
                said(own["structure"].get(slot, {})),
                said(row["structure"].get(slot, {})),
                *measured,
                *cited,
            )
        )
    columns = (
        Column("degraded slot"),
        Column("before"),
        Column("after"),
        Column("HARD-OK after"),
        Column("audit F1 before", 3),
        Column("audit F1 after", 3),
        Column("changed verdicts, %", 1),
        Column("error (our words)", paper=True),
        Column("Avg before", 1, paper=True),
        Column("Avg after", 1, paper=True),
    )
    says = (
        f"{goal}: the optimum, and the rule after as many candidates of other goals stood in one slot. "
        "The paper scores its own by rubric."
    )
    return ResultTable("slot_examples", "One slot replaced", says, columns, entries)


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
