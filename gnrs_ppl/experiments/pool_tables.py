"""Candidates per slot, distractors, distinct signatures and replacement coverage (paper, Table candidate-pool)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.benchmarks.gnrs_bench import benchmark_goal
from gnrs_ppl.candidates.build import SOURCES, pools_of
from gnrs_ppl.experiments.pools import PAPER_SLOTS, pool_audit
from gnrs_ppl.experiments.published import published
from gnrs_ppl.experiments.rows import Cell, Row
from gnrs_ppl.experiments.runner import Experiment, Report, Request, Run
from gnrs_ppl.experiments.slots import distractors
from gnrs_ppl.experiments.tables import Column, Entry, Table
from gnrs_ppl.rule.canonical import dumps
from gnrs_ppl.rule.types import SLOTS

METHOD = "pools"


def wanted(request: Request) -> list[Cell]:
    """One row per goal."""
    return [Cell(METHOD, None, goal, 0) for goal in request.goal_ids]


def measure(goal: str, cells: Sequence[Cell], request: Request) -> Iterator[Row]:
    """Counts of one goal's pools; no truth is looked at."""
    counted, pools = pool_audit([goal]).goals[0], pools_of(load_context(goal)).pools
    place = benchmark_goal(goal)
    for cell in cells:
        yield cell._asdict() | {
            "family": place.family,
            "category": place.category,
            "structures": counted.structures,
            "dropped": counted.dropped,
            **{f"proposed_{source}": counted.proposed[source] for source in SOURCES},
            **{f"candidates_{slot}": counted.candidates[slot] for slot in SLOTS},
            **{f"options_{slot}": counted.options[slot] for slot in SLOTS},
            **{f"distractors_{slot}": len(distractors(goal, slot)) for slot in SLOTS},
            "signatures": {slot: [dumps(candidate.content) for candidate in getattr(pools, slot)] for slot in SLOTS},
        }


def report(run: Run) -> Report:
    """The paper's table beside ours."""
    rows = run.rows("pools")
    paper = {row["slot"]: row for row in published("candidate-pool-app")}
    entries: list[tuple[Entry, ...]] = []
    for slot in SLOTS:
        printed = paper[PAPER_SLOTS[slot]]
        cited = [float(printed[c]) for c in ("candidates", "distractors", "distinct signatures", "replacement coverage")]
        distinct = len({said for row in rows for said in row["signatures"][slot]})
        covered = 100 * sum(row[f"distractors_{slot}"] > 0 for row in rows) / len(rows)
        kept, options, others = (
            sum(row[f"{what}_{slot}"] for row in rows) / len(rows) for what in ("candidates", "options", "distractors")
        )
        entries.append((slot, kept, options, others, distinct, covered, *cited))
    says = (
        f"Over {len(rows)} goals; the paper's figures are over all of its own, and how it counts distractors and signatures is not "
        "said. Options are candidates with their levels. Distractors: candidates that other goals of the family have and the goal has "
        "not, mean per goal. Coverage: goals with at least one."
    )
    columns = (
        Column("slot"), Column("candidates", 2), Column("options", 2), Column("distractors", 1), Column("distinct contents", 0),
        Column("coverage, %", 1), Column("candidates", 2, paper=True), Column("distractors", 0, paper=True),
        Column("distinct signatures", 0, paper=True), Column("coverage, %", 1, paper=True),
    )  # fmt: skip
    structures = sorted(row["structures"] for row in rows)
    note = f"Structures per goal: {structures[0]:,} to {structures[-1]:,}, median {structures[len(structures) // 2]:,}."
    return Report([Table("pools", "Candidate pools", says, columns, entries)], notes=[note])


EXPERIMENT = Experiment(
    "pools", "How large and how varied are the pools, and is there something to replace them with?", report, wanted, measure
)
