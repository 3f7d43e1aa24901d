"""The main table without a model: HARD-OK, ρ, s_search, ε_S and audit F1, with floors and the best of the pools (paper, Table main)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gnrs_ppl.benchmarks.gnrs_bench import FAMILIES
from gnrs_ppl.evaluate.summary import summaries
from gnrs_ppl.experiments.bench import Bench
from gnrs_ppl.experiments.drafting import promising
from gnrs_ppl.experiments.methods import BASE, MAIN, METHODS, Drafter, cells
from gnrs_ppl.experiments.published import published
from gnrs_ppl.experiments.rows import Cell, Row, Rows, of
from gnrs_ppl.experiments.runner import Experiment, Report, Request, Run
from gnrs_ppl.experiments.statistics import Interval, estimate
from gnrs_ppl.experiments.tables import Column, Entry, Table, shown

BEST_OF = 16
FLOORS = ("all violated", "none violated", "required acts exist", "random rule")
BEST, CEILING = f"best of {BEST_OF} in the pools", "the hidden norm, from records"
YARDSTICKS = (*FLOORS, BEST, CEILING)
"""What audit F1 is held against; none is a method."""
PAPER_ONLY = "needs a model"
COLUMNS = (
    Column("method"), Column("chains", 0), Column("HARD-OK, %", 1), Column("ρ", 3), Column("s_search", 3), Column("ε_S", 4),
    Column("audit F1", 3), Column("95 % over goals"), Column("95 % over families"), Column("F1 of violated", 3),
    Column("F1 against truth", 3),
)  # fmt: skip
LONG = {
    "Direct": "Direct Prompting", "Structured": "Structured Outputs", "Grounding": "In-Context Grounding", "Norm Synth.": "Norm Synthesis",
    "No record": "No record grounding", "No LLM": "No LLM candidates",
}  # fmt: skip
"""Names that the paper shortens in its OOD table."""
COMPARABLE = (
    "The paper's columns stand last. Comparable is HARD-OK of No record grounding, No search and No LLM candidates, in kind: goals, "
    "records and gate are a reconstruction, and No record grounding has no LLM candidates here. Avg and OVERALL rest on a rubric, which "
    "needs a model; methods without our figures need one. Audit F1 is ours: macro F1 over verdicts of held-out cases, against what the "
    "record entitles one to say."
)


def wanted(request: Request) -> list[Cell]:
    """Methods, then what their F1 is held against."""
    return cells(MAIN, request) + [Cell(name, None, goal, request.seeds[0]) for goal in request.goal_ids for name in YARDSTICKS]


def measure(goal: str, asked: Sequence[Cell], request: Request) -> Iterator[Row]:
    """Rows of one goal."""
    drafter = Drafter(Bench(goal, revealed=request.revealed))
    known: dict[str, dict[str, Any]] = {}
    for cell in asked:
        if cell.method in METHODS:
            yield cell._asdict() | drafter.row(METHODS[cell.method], cell.chains, cell.seed)
            continue
        known = known or _yardsticks(drafter)
        yield cell._asdict() | drafter.bench.place | known[cell.method]


def _yardsticks(drafter: Drafter) -> dict[str, dict[str, Any]]:
    """What each yardstick's row holds; that of the hidden norm says whether five slots can express it."""
    bench = drafter.bench
    summary = summaries([bench.goal.id], revealed=bench.revealed)[0]
    best = [bench.execute(rule).score.record for rule in promising(*drafter.space(METHODS[BASE].space), BEST_OF)]
    found = {name: score.record for name, score in summary.floors.items()}
    found |= {BEST: max(best, key=lambda score: score.macro), CEILING: summary.ceiling}
    rows: dict[str, dict[str, Any]] = {name: {"audit_f1": s.macro, "audit_violated": s.violation} for name, s in found.items()}
    rows[CEILING]["expressible"] = summary.reference.expressible
    return rows


def report(run: Run) -> Report:
    """The main table, the yardsticks, and the plane of audit F1 by family."""
    rows = run.rows("main")
    table = main_table("main", "Main table without a model", rows, run.request)
    return Report([table, yardsticks(rows), by_family(rows, run.request)])


def main_table(name: str, title: str, rows: Sequence[Row], request: Request) -> Table:
    """Methods beside the paper's table of the same split."""
    label = "ood" if request.split == "ood" else "main"
    paper = {LONG.get(row["method"], row["method"]): row for row in published(label)}
    printed = {"HARD-OK": 1, "average": 1, "OVERALL": 1} | ({"search score": 3} if label == "ood" else {})
    entries: list[tuple[Entry, ...]] = []
    for method in [m for m in paper if m not in MAIN] + list(MAIN):
        cited = tuple(float(paper[method][c]) if method in paper else None for c in printed)
        if method not in MAIN:
            entries.append((method, PAPER_ONLY, *[None] * (len(COLUMNS) - 2), *cited))
        entries += [(*line(method, c, own), *cited) for c, own in lines(rows, [method], request)]
    columns = (*COLUMNS, *(Column(c, digits, paper=True) for c, digits in printed.items()))
    return Table(name, title, COMPARABLE, columns, entries)


def lines(rows: Sequence[Row], names: Sequence[str], request: Request) -> list[tuple[int | None, Rows]]:
    """Rows of methods by chains, where there are any."""
    found = [(c, of(rows, name, c)) for name in names for c in (None, *request.chains)]
    return [(c, own) for c, own in found if own.rows]


def line(method: str, chains: int | None, own: Rows) -> tuple[Entry, ...]:
    """What ``COLUMNS`` shows of a method."""
    f1s, families = own.by_goal("audit_f1"), own.families()
    found = estimate([*f1s.values()], [families[goal] for goal in f1s])
    hard_ok = own.mean("hard_ok")
    return (
        method, chains, None if hard_ok is None else 100 * hard_ok, own.mean("rho"), own.mean("s_search"), own.mean("epsilon"),
        found.mean, between(found.percentile), between(found.families), own.mean("audit_violated"), own.mean("audit_truth"),
    )  # fmt: skip


def between(found: Interval | None, digits: int = 3) -> str | None:
    """An interval in words."""
    return None if found is None else f"{shown(found.low, digits)} to {shown(found.high, digits)}"


def yardsticks(rows: Sequence[Row]) -> Table:
    """What needs no rule, the best rule of a few of the pools', and the norm behind the labels."""
    says = (
        f"Audit F1 that needs no rule (floors); the best of the rules of the {BEST_OF} best-scoring (trigger, norm) pairs, chosen by its "
        "own held-out F1 and so out of reach of a method; and the norm that made the labels, reading records only, against the truth. "
        "The paper has none of these."
    )
    entries = []
    for name in YARDSTICKS:
        own = of(rows, name)
        each, families = own.by_goal("audit_f1"), own.families()
        found = estimate([*each.values()], [families[goal] for goal in each])
        entries.append((name, found.mean, between(found.percentile), between(found.families), own.mean("audit_violated")))
    columns = (
        Column("yardstick"), Column("audit F1", 3), Column("95 % over goals"), Column("95 % over families"),
        Column("F1 of violated", 3),
    )  # fmt: skip
    return Table("yardsticks", "What audit F1 is held against", says, columns, entries)


def by_family(rows: Sequence[Row], request: Request) -> Table:
    """The base method by scene family."""
    chains = max(request.chains)
    own, best = of(rows, BASE, chains), of(rows, BEST)
    entries: list[tuple[Entry, ...]] = []
    for family in [f for f in FAMILIES if f in set(own.families().values())]:
        part, top = (Rows([row for row in some.rows if row["family"] == family]) for some in (own, best))
        passed = part.mean("hard_ok")
        entries.append(
            (
                family,
                len(part.by_goal("rho")),
                None if passed is None else 100 * passed,
                part.mean("rho"),
                part.mean("audit_f1"),
                top.mean("audit_f1"),
            )
        )
    says = f"{BASE} with {chains} chains. The paper prints no figures by family."
    columns = (Column("family"), Column("goals", 0), Column("HARD-OK, %", 1), Column("ρ", 3), Column("audit F1", 3), Column(BEST, 3))
    return Table("by_family", "By scene family", says, columns, entries)


EXPERIMENT = Experiment("main", "Which methods without a model write rules that hold on records?", report, wanted, measure)
