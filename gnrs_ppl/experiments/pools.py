"""What pools and features of benchmark goals are like (paper, candidate-source and candidate-pool audits).

What a model proposes is counted in the rows of ``main --llm``.
"""

from __future__ import annotations

import inspect
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.benchmarks.gnrs_bench import benchmark_goal
from gnrs_ppl.calibration.weights import UNIFORM_WEIGHTS
from gnrs_ppl.candidates.build import SOURCES, pools_of
from gnrs_ppl.experiments.parts import held
from gnrs_ppl.experiments.published import printed_numbers, published
from gnrs_ppl.experiments.rows import Cell, Row
from gnrs_ppl.experiments.runner import Experiment, ExperimentRequest, Report, Run
from gnrs_ppl.experiments.slots import distractors
from gnrs_ppl.experiments.tables import CellValue, Column, ColumnGroup, ResultTable, part, specified
from gnrs_ppl.inference.exact import enumerate_space
from gnrs_ppl.models.energy import contract
from gnrs_ppl.models.features import DEFINITIONS, FEATURES
from gnrs_ppl.models.graph import compile_graph
from gnrs_ppl.rule.canonical import dumps
from gnrs_ppl.rule.types import SLOTS

PAPER_SLOTS = dict(zip(SLOTS, ("Scope", "Trigger", "NormBody", "EvidencePolicy", "Procedure"), strict=True))
METHOD = "pools"
SAYS = "Candidates that each source proposes, merged by content; options are candidates with their levels."
PAPER_SOURCES = {
    source: float(published("candidate-source-app")[0][source]) for source in ("template", "schema", "record")
}
"""Paper, candidates generated per test goal."""
_PRINTED = {row["slot"]: row for row in published("candidate-pool-app")}
_TOLD = printed_numbers(start="LLM candidates")
PAPER_PROPOSED = {
    "kept": _TOLD["LLM candidates kept per run"],
    "dropped": _TOLD["LLM candidates dropped per run"],
}
"""Paper, a model's candidates per run that the grounding filter keeps and drops."""


def counts(goal: str) -> Row:
    """Counts of one goal's pools: candidates proposed by source, kept and options by slot, structures,
    drops; no truth is looked at.
    """
    context, place = load_context(goal), benchmark_goal(goal)
    built = pools_of(context)
    sizes = {
        slot: len(options)
        for slot, options in zip(SLOTS, compile_graph(context, built.pools).options, strict=True)
    }
    return {
        **Cell(METHOD, None, goal, 0)._asdict(),
        "family": place.family,
        "category": place.category,
        "structures": math.prod(sizes.values()),
        "dropped": len(built.dropped),
        **{
            f"proposed_{source}": sum(n for (s, _), n in built.proposed.items() if s == source)
            for source in SOURCES
        },
        **{f"candidates_{slot}": len(getattr(built.pools, slot)) for slot in SLOTS},
        **{f"options_{slot}": size for slot, size in sizes.items()},
        "signatures": {
            slot: [dumps(candidate.content) for candidate in getattr(built.pools, slot)] for slot in SLOTS
        },
    }


def wanted(request: ExperimentRequest) -> list[Cell]:
    """One row per goal."""
    return [Cell(METHOD, None, goal, 0) for goal in request.goal_ids]


def measure(goal: str, cells: Sequence[Cell], request: ExperimentRequest) -> Iterator[Row]:
    """The counts, and candidates of other goals that each slot could be replaced with."""
    yield counts(goal) | {f"distractors_{slot}": len(distractors(goal, slot)) for slot in SLOTS}


def report(run: Run) -> Report:
    """The paper's table beside ours."""
    rows = run.rows("pools")

    def mean(what: str, digits: int) -> ColumnGroup[str]:
        return part(what, digits, lambda slot: sum(row[f"{what}_{slot}"] for row in rows) / len(rows))

    def coverage(slot: str) -> float:
        return 100 * len([row for row in rows if row[f"distractors_{slot}"] > 0]) / len(rows)

    def cited(column: str, digits: int, heading: str = "") -> ColumnGroup[str]:
        name = heading or column
        return part(name, digits, lambda slot: float(_PRINTED[PAPER_SLOTS[slot]][column]), paper=True)

    parts: list[ColumnGroup[str]] = [
        part("slot", None, str),
        mean("candidates", 2),
        mean("options", 2),
        mean("distractors", 1),
        part("distinct contents", 0, lambda slot: distinct(rows, slot)),
        part("coverage, %", 1, coverage),
        cited("candidates", 2),
        cited("distractors", 0),
        cited("distinct signatures", 0),
        cited("replacement coverage", 1, "coverage, %"),
    ]
    says = (
        f"Over {len(rows)} goals; the paper's figures are over all of its own, and how it counts distractors "
        "and signatures is not said. Options are candidates with their levels. Distractors: candidates that "
        "other goals of the family have and the goal has not, mean per goal. Coverage: goals with at least "
        "one."
    )
    structures = sorted(row["structures"] for row in rows)
    note = (
        f"Structures per goal: {structures[0]:,} to {structures[-1]:,}, median "
        f"{structures[len(structures) // 2]:,}."
    )
    return Report([specified("pools", "Candidate pools", says, SLOTS, parts)], notes=[note])


def distinct(rows: Sequence[Row], slot: str) -> int:
    """Different contents of a slot over goals."""
    return len({said for row in rows for said in row["signatures"][slot]})


def audit(rows: Sequence[Row]) -> list[ResultTable]:
    """Goal by goal, then means beside the paper's: ``gnrs goals --pools``."""
    paper_slots = {slot: _PRINTED[name] for slot, name in PAPER_SLOTS.items()}
    proposed = {f"proposed_{source}": source for source in PAPER_SOURCES}
    kept = {f"candidates_{slot}": slot for slot in SLOTS}
    heads = tuple(Column(name, 1) for name in (*proposed.values(), "dropped", *kept.values()))

    def kept_of(slot: str) -> ColumnGroup[Row]:
        return part(slot, 0, lambda row: f"{row[f'candidates_{slot}']} ({row[f'options_{slot}']})")

    parts = [held("goal"), *(held(*one, 0) for one in proposed.items()), held("dropped", "", 0)]
    parts += [*map(kept_of, SLOTS), held("structures", "", 0)]
    title = "Proposed per source, and kept per slot (options in brackets)"
    goals = specified("pools", title, SAYS, rows, parts)
    means = [sum(row[name] for row in rows) / len(rows) for name in (*proposed, "dropped", *kept)]
    contents = [distinct(rows, slot) for slot in SLOTS]
    blank: list[CellValue] = [None] * (len(proposed) + 1)
    printed = [(float(row["candidates"]), int(row["distinct signatures"])) for row in paper_slots.values()]
    sizes, different = zip(*printed, strict=True)
    summary: list[tuple[CellValue, ...]] = [
        ("mean", *means),
        ("paper, mean", *PAPER_SOURCES.values(), None, *sizes),
        ("distinct", *blank, *contents),
        ("paper, distinct (116 goals)", *blank, *different),
    ]
    return [goals, ResultTable("pool_means", f"Over {len(rows)} goals", SAYS, (Column(""), *heads), summary)]


EXPERIMENT = Experiment(
    "pools",
    "How large and how varied are the pools, and is there something to replace them with?",
    report,
    wanted,
    measure,
)


class FeatureAudit(NamedTuple):
    """How one feature behaves on real pools.

    Attributes
    ----------
    terms : tuple of str
        The slots its terms read.
    says : str
        The question its definition answers.
    least, greatest : float
        Range over all feasible structures of all goals.
    deviation : float
        Standard deviation within a goal, over its feasible structures, averaged over goals.
    varies : float
        Share of goals within which it takes more than one value.
    """

    name: str
    terms: tuple[str, ...]
    says: str
    least: float
    greatest: float
    deviation: float
    varies: float


class FlagAudit(NamedTuple):
    """How often one hard condition bites: share of a goal's structures it excludes alone, averaged, and of
    goals where it excludes any.
    """

    name: str
    excluded: float
    goals: float


def feature_audit(goal_ids: Sequence[str]) -> tuple[list[FeatureAudit], list[FlagAudit]]:
    """Features and flags on the pools of some goals; no truth is looked at."""
    ranges: dict[str, list[tuple[float, float, float]]] = {name: [] for name in FEATURES}
    excluded: dict[str, list[float]] = {}
    terms: dict[str, tuple[str, ...]] = {}
    for goal in goal_ids:
        context = load_context(goal)
        graph = compile_graph(context, pools_of(context).pools)
        feasible = enumerate_space(contract(graph.space, UNIFORM_WEIGHTS.array())).feasible  # by any weights
        for f, name in enumerate(FEATURES):
            alone = enumerate_space(contract(graph.space, np.eye(len(FEATURES))[f], penalty=0.0)).score[
                feasible
            ]
            ranges[name].append((float(alone.min()), float(alone.max()), float(alone.std())))
            read = Counter("×".join(term.slots) for term in DEFINITIONS[name](graph.facts))
            terms.setdefault(name, tuple(read))
        for flag, table in graph.flags:
            excluded.setdefault(flag.name, []).append(float(table.mean()))
    features = [
        FeatureAudit(
            name,
            terms[name],
            (inspect.getdoc(DEFINITIONS[name]) or "").split("?")[0] + "?",
            min(low for low, _, _ in found),
            max(high for _, high, _ in found),
            float(np.mean([deviation for _, _, deviation in found])),
            float(np.mean([deviation > 1e-9 for _, _, deviation in found])),
        )
        for name, found in ranges.items()
    ]
    flags = [
        FlagAudit(name, float(np.mean(shares)), float(np.mean([s > 0 for s in shares])))
        for name, shares in excluded.items()
    ]
    return features, sorted(flags, key=lambda flag: -flag.excluded)


def described(features: Sequence[FeatureAudit], flags: Sequence[FlagAudit]) -> list[ResultTable]:
    """What each feature reads and how it varies; how often each hard condition bites: ``gnrs goals
    --features``.
    """
    read: list[ColumnGroup[FeatureAudit]] = [
        part("feature", None, lambda f: f.name),
        part("asks", None, lambda f: f.says),
        part("reads", None, lambda f: ", ".join(f.terms)),
        part("least", 2, lambda f: f.least),
        part("greatest", 2, lambda f: f.greatest),
        part("deviation within a goal", 4, lambda f: f.deviation),
        part("varies in goals, %", 0, lambda f: 100 * f.varies),
    ]
    bites: list[ColumnGroup[FlagAudit]] = [
        part("condition", None, lambda f: f.name),
        part("structures it excludes alone, %", 1, lambda f: 100 * f.excluded),
        part("goals, %", 0, lambda f: 100 * f.goals),
    ]
    over = "Over the feasible structures of all goals."
    return [
        specified("features", "Features", over, features, read),
        specified("flags", "Hard conditions", "Alone.", flags, bites),
    ]
