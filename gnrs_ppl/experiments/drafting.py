"""Drafts of many benchmark goals, scored: HARD-OK, ρ, payloads, ε_S, audit F1, best in pool (paper, main table, No LLM candidates)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.draft import Draft, draft_many
from gnrs_ppl.evaluate.audit_f1 import F1, AuditScore, audit_score, floors
from gnrs_ppl.inference.exact import enumerate_space
from gnrs_ppl.models.energy import Tables
from gnrs_ppl.models.graph import AndOrGraph
from gnrs_ppl.rule.canonical import payloads
from gnrs_ppl.rule.types import SLOTS, Structure

BEST_OF = 16
"""Rules of a pool that are executed to find its best: those of the best-scoring (trigger, norm) pairs."""
PAPER_NO_LLM = {"HARD-OK, test": 77.3, "HARD-OK, OOD": 100.0, "ρ": 0.551, "missing": 6.30}
"""The paper's *No LLM candidates* row, whose pools and records were others."""


class Row(NamedTuple):
    """One goal's draft and what it is worth.

    Attributes
    ----------
    supports, sources : counts
        Selected payloads by support, and by source (a payload of a candidate that two sources proposed counts for both).
    audit : AuditScore
        Of the drafted rule.
    floors : mapping
        Scores of what needs no rule, against the record.
    best_in_pool : AuditScore
        The best of ``BEST_OF`` rules of the pools, by macro F1 against the record.
    seconds : float
        Drafting, this goal's share.
    """

    goal: str
    family: str
    hard_ok: bool
    rho: float
    supports: dict[str, int]
    sources: Counter[str]
    epsilon: float | None
    audit: AuditScore
    floors: dict[str, F1]
    best_in_pool: AuditScore
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """JSON of ``gnrs draft --split``."""
        return self._asdict() | {
            "audit": _score(self.audit),
            "floors": {name: score._asdict() for name, score in self.floors.items()},
            "best_in_pool": _score(self.best_in_pool),
        }


def draft_goals(goal_ids: Sequence[str], *, revealed: bool = False, **request: Any) -> Iterator[Row]:
    """Draft some goals in one program and score them one by one; ``request`` goes to :func:`~gnrs_ppl.draft.draft_many`."""
    contexts = [load_context(goal) for goal in goal_ids]
    began = time.perf_counter()
    drafts = draft_many(contexts, **request, alternatives=0)
    seconds = (time.perf_counter() - began) / max(len(drafts), 1)
    for draft in drafts:
        yield _row(draft, seconds, revealed)


def _row(draft: Draft, seconds: float, revealed: bool) -> Row:
    from gnrs_ppl.benchmarks.gnrs_bench import benchmark_goal

    goal, gate = draft.goal.id, draft.grounding.gate
    chosen = dict(zip(SLOTS, (draft.search.graph.options[v][o] for v, o in enumerate(draft.search.best)), strict=True))
    sources = Counter(source for payload in payloads(draft.structure) for source in chosen[payload.slot].sources)
    return Row(
        goal=goal,
        family=benchmark_goal(goal).family,
        hard_ok=gate.passed,
        rho=gate.rho,
        supports={str(support): n for support, n in gate.supports.items()},
        sources=sources,
        epsilon=draft.certificate.epsilon_search,
        audit=audit_score(draft.structure, goal, revealed=revealed),
        floors={name: score.record for name, score in floors(goal, revealed=revealed).items()},
        best_in_pool=max(
            (audit_score(rule, goal, revealed=revealed) for rule in promising(draft.search.graph, draft.search.tables, BEST_OF)),
            key=lambda s: s.record.macro,
        ),
        seconds=seconds,
    )


def promising(graph: AndOrGraph, tables: Tables, count: int) -> list[Structure]:
    """The best-scoring feasible structure of each of the ``count`` best-scoring (trigger, norm) pairs, best first."""
    found = enumerate_space(tables)
    score = np.where(found.feasible, found.score, -np.inf).reshape(found.sizes)
    trigger, norm = SLOTS.index("trigger"), SLOTS.index("norm")
    rest = tuple(v for v in range(len(SLOTS)) if v not in (trigger, norm))
    flat = np.moveaxis(score, (trigger, norm), (0, 1)).reshape(found.sizes[trigger] * found.sizes[norm], -1)
    best, where = flat.max(1), flat.argmax(1)
    structures = []
    for pair in np.argsort(-best, kind="stable")[:count]:
        if not np.isfinite(best[pair]):
            break
        position = np.zeros(len(SLOTS), np.int32)
        position[trigger], position[norm] = np.unravel_index(pair, (found.sizes[trigger], found.sizes[norm]))
        position[list(rest)] = np.unravel_index(where[pair], [found.sizes[v] for v in rest])
        structures.append(graph.structure(position))
    return structures


class Summary(NamedTuple):
    """Means over goals, each with a 95 % bootstrap interval over goals and over families."""

    name: str
    mean: float
    by_goal: tuple[float, float]
    by_family: tuple[float, float]


def summaries(rows: Sequence[Row], seed: int = 0) -> list[Summary]:
    """Means of the columns; goals of a family share stem and log, so the interval by family is the honest one."""
    columns: dict[str, Iterable[float]] = {
        "HARD-OK, %": [100.0 * r.hard_ok for r in rows],
        "ρ": [r.rho for r in rows],
        "direct payloads": [r.supports.get("direct", 0) for r in rows],
        "inferred payloads": [r.supports.get("inferred", 0) for r in rows],
        "derivable payloads": [r.supports.get("derivable", 0) for r in rows],
        "missing payloads": [r.supports.get("missing", 0) for r in rows],
        **{f"payloads from {source}": [r.sources[source] for r in rows] for source in ("template", "schema", "record")},
        "ε_S": [r.epsilon if r.epsilon is not None else float("nan") for r in rows],
        "audit F1, macro": [r.audit.record.macro for r in rows],
        "audit F1, violated": [r.audit.record.violation or 0.0 for r in rows],
        **{f"floor: {name}": [r.floors[name].macro for r in rows] for name in rows[0].floors},
        "best in pool, macro": [r.best_in_pool.record.macro for r in rows],
        "seconds": [r.seconds for r in rows],
    }
    return [_summary(name, np.array([*values], float), [r.family for r in rows], seed) for name, values in columns.items()]


def _summary(name: str, values: np.ndarray[Any, np.dtype[np.float64]], families: list[str], seed: int) -> Summary:
    generator = np.random.default_rng(seed)
    drawn = values[generator.integers(0, len(values), (2000, len(values)))].mean(1)
    groups = [values[[f == family for f in families]] for family in dict.fromkeys(families)]
    picks = generator.integers(0, len(groups), (2000, len(groups)))
    clustered = [np.concatenate([groups[g] for g in pick]).mean() for pick in picks]
    return Summary(name, float(values.mean()), _interval(drawn), _interval(clustered))


def _interval(drawn: Any) -> tuple[float, float]:
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def _score(score: AuditScore) -> dict[str, Any]:
    return {"record": score.record._asdict(), "truth": score.truth._asdict(), "refused": score.refused}
