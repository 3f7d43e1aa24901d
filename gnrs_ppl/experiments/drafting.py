"""Drafts of many benchmark goals, scored and beside what their pools hold: ``gnrs draft --split`` (paper, No
LLM candidates).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.draft import Draft, draft_many
from gnrs_ppl.errors import GnrsError
from gnrs_ppl.evaluate.audit_f1 import floors
from gnrs_ppl.experiments.bench import GoalBench
from gnrs_ppl.experiments.methods import BASE, BEST_OF, SOURCES, Chosen, promising
from gnrs_ppl.experiments.parts import held
from gnrs_ppl.experiments.rows import Cell, Row, Rows
from gnrs_ppl.experiments.tables import Column, ColumnGroup, ResultTable, ends, part, specified

SUPPORTS = ("direct", "inferred", "derivable", "missing")
SAYS = (
    f"Best in pool: best of the rules of the {BEST_OF} best-scoring (trigger, norm) pairs. Audit F1 is "
    "against the record. The paper's "
    "row, of other pools and other records: HARD-OK 77.3 on test and 100 on OOD, ρ 0.551, missing 6.30."
)


def draft_goals(goal_ids: Sequence[str], *, revealed: bool = False, **request: Any) -> Iterator[Row]:
    """Draft some goals in one program and score them one by one; ``request`` goes to
    :func:`~gnrs_ppl.draft.draft_many`.

    A goal for which no rule can be drafted has a row that says why, and scores nothing.
    """
    contexts = [load_context(goal) for goal in goal_ids]
    began = time.perf_counter()
    drafts: list[Draft | GnrsError] = []
    try:
        drafts += draft_many(contexts, **request, alternatives=0)
    except GnrsError:  # of one of them: then each by itself
        for context in contexts:
            try:
                drafts += draft_many([context], **request, alternatives=0)
            except GnrsError as error:
                drafts.append(error)
    seconds = (time.perf_counter() - began) / max(len(drafts), 1)
    for goal, draft in zip(goal_ids, drafts, strict=True):
        found = _measured(GoalBench(goal, revealed=revealed), draft)
        yield Cell(BASE, request["chains"], goal, request["seed"])._asdict() | found | {"seconds": seconds}


def _measured(bench: GoalBench, draft: Draft | GnrsError) -> Row:
    scores = floors(bench.goal.id, revealed=bench.revealed)
    floor = {f"floor: {name}": score.record.macro for name, score in scores.items()}
    if isinstance(draft, GnrsError):
        nothing = {f"from_{source}": 0 for source in SOURCES}
        return bench.failed(str(draft)) | nothing | {"epsilon": None, **floor, "best_in_pool": 0.0}
    found, epsilon = draft.search, draft.certificate.epsilon_search
    chosen = Chosen(found.graph, found.best, epsilon, 0)
    best = bench.best_of(map(found.graph.structure, promising(found.tables, BEST_OF)))
    return bench.measured(draft.structure) | {
        **chosen.by_source,
        "epsilon": epsilon,
        **floor,
        "best_in_pool": best.macro,
    }


def tables(rows: Sequence[Row]) -> list[ResultTable]:
    """Goal by goal, and means over goals with their intervals; goals of a family share stem and log, so that
    over families is honest.
    """

    def counts(names: Sequence[str], prefix: str = "") -> ColumnGroup[Row]:
        heading = "/".join(names)
        return part(heading, None, lambda row: "/".join(str(row.get(prefix + name, 0)) for name in names))

    parts = [
        held("goal"),
        held("hard_ok", "HARD-OK"),
        counts(SUPPORTS),
        counts(SOURCES, "from_"),
        held("rho", "ρ", 3),
        held("epsilon", "ε_S", 4),
        held("audit_f1", "audit F1", 2),
        held("audit_violated", "violated", 2),
        held("best_in_pool", "best in pool", 2),
    ]
    return [specified("drafts", "Drafts without LLM candidates", SAYS, rows, parts), means(rows)]


def means(rows: Sequence[Row]) -> ResultTable:
    """Means of what is measured, with intervals over goals and over families."""
    named = {"hard_ok": ("HARD-OK, %", 100.0), "rho": ("ρ", 1.0), "epsilon": ("ε_S", 1.0)}
    named |= {name: (f"{name} payloads", 1.0) for name in SUPPORTS} | {
        f"from_{name}": (f"payloads from {name}", 1.0) for name in SOURCES
    }
    named |= {"audit_f1": ("audit F1, macro", 1.0), "audit_violated": ("audit F1, violated", 1.0)}
    named |= {name: (name, 1.0) for name in (rows[0] if rows else ()) if name.startswith("floor: ")}
    named |= {"best_in_pool": ("best in pool, macro", 1.0), "seconds": ("seconds", 1.0)}
    own = Rows(list(rows))
    found = {heading: own.estimate(measure, scale) for measure, (heading, scale) in named.items()}
    columns = (Column("measure"), Column("mean", 3), Column("95 % over goals"), Column("95 % over families"))
    entries = [(heading, one.mean, *ends(one)) for heading, one in found.items() if one]
    says = "A goal on which something was not measured does not count for it."
    return ResultTable("means", f"Means over {len(rows)} goals", says, columns, entries)
