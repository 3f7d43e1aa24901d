"""The And-Or Graph of real contexts: tables equal the readable definitions, features vary, and h keeps its
promise to the audit."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
import small

from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import compile_rule
from gnrs_ppl.calibration import DEFAULT_WEIGHTS
from gnrs_ppl.candidates.grounding import ground, read_pools
from gnrs_ppl.context import Context, load_context
from gnrs_ppl.context.log import resolved
from gnrs_ppl.errors import InputError, Refused
from gnrs_ppl.inference.exact import enumerate_space
from gnrs_ppl.models.energy import contract, slow_score
from gnrs_ppl.models.features import FEATURES, feature_vector
from gnrs_ppl.models.flags import raised
from gnrs_ppl.models.graph import AndOrGraph, compile_graph
from gnrs_ppl.rule.canonical import canonical, signature
from gnrs_ppl.rule.pools import Pools, options

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "invoices" / "context.yaml"
SAMPLE = 50


def graph_of(context: Context) -> AndOrGraph:
    return compile_graph(context, ground(read_pools(context), context)[0])


@pytest.fixture(scope="module")
def example() -> AndOrGraph:
    return graph_of(load_context(EXAMPLE))


def positions(graph: AndOrGraph, count: int, seed: int = 0) -> list[tuple[int, ...]]:
    rng = random.Random(seed)
    return [tuple(rng.randrange(len(slot)) for slot in graph.options) for _ in range(count)]


def test_tables_equal_the_readable_definitions(example: AndOrGraph) -> None:
    w = DEFAULT_WEIGHTS.array()
    for position in positions(example, SAMPLE):
        structure = example.structure(position)
        phi = feature_vector(structure, example.facts)
        assert all(0 <= value <= 1 for value in phi.values())
        broken = raised(structure, example.facts)
        assert [f.name for f in broken] == [f.name for f in example.raised(position)]
        expected = w @ np.array([phi[name] for name in FEATURES]) - 2.0 * bool(broken)
        assert slow_score(example.space, w, 2.0, np.array(position)) == pytest.approx(expected, abs=1e-12)


def test_every_feature_varies_within_the_example(example: AndOrGraph) -> None:
    phi = np.array(
        [
            list(feature_vector(example.structure(p), example.facts).values())
            for p in positions(example, SAMPLE)
        ]
    )
    assert (phi.std(axis=0) > 1e-3).all(), dict(zip(FEATURES, phi.std(axis=0), strict=True))


def test_feasible_structures_compile(example: AndOrGraph) -> None:
    """h sees no row of the log, yet whatever it lets through the audit can check."""
    context = example.facts.context
    records = resolved(context.records, context.log)
    feasible = [p for p in positions(example, 4 * SAMPLE, seed=1) if not example.raised(p)]
    assert len(feasible) > SAMPLE
    for number, position in enumerate(feasible):
        plan = check(example.structure(position), records, context.log)
        if number < 5:
            compile_rule(plan)


def test_most_flags_are_refusals_of_the_audit_too(example: AndOrGraph) -> None:
    """Raised flags that are about checking, not about the goal or the procedure, make the audit refuse."""
    context = example.facts.context
    records = resolved(context.records, context.log)
    about_checking = {
        "acts_recorded_by_evidence",
        "deadline_fits_window",
        "target_differs_from_trigger",
        "trigger_recorded",
    }
    hits = 0
    for position in positions(example, 6 * SAMPLE, seed=2):
        if about_checking & {f.name for f in example.raised(position)}:
            hits += 1
            with pytest.raises((Refused, InputError)):
                check(example.structure(position), records, context.log)
    assert hits > SAMPLE / 2


def test_greedy_choice_per_slot_is_not_optimal(example: AndOrGraph) -> None:
    tables = contract(example.space, DEFAULT_WEIGHTS.array())
    found = enumerate_space(tables)
    by_slot = [int(np.argmax(tables.unary[v, :size])) for v, size in enumerate(found.sizes)]
    assert found.score.reshape(found.sizes)[tuple(by_slot)] < found.score.max() - 1e-6


def test_the_tempting_candidate_is_refused_with_its_count(example: AndOrGraph) -> None:
    context = example.facts.context
    dropped = {d.candidate: d.reason for d in ground(read_pools(context), context)[1]}
    assert (
        dropped["E7"]
        == f"0 of {context.log.events:,} rows carry channel 'email_archive'; nearest recorded: 'approval_workflow_log'"
    )


def test_options_are_distinct_structures(example: AndOrGraph) -> None:
    found = {signature(example.structure(p)): p for p in positions(example, 400, seed=3)}
    again = {p: canonical(example.structure(p)) for p in found.values()}
    assert len(set(again.values())) == len(found)


def test_equal_candidates_merge_and_keep_both_sources() -> None:
    pools = small.changed(
        small.CONTEXT,
        (
            "pools.evidence.1",
            {
                "id": "E2",
                "content": {"channels": ["roster_log", "checkin_log"], "operator": "at_least", "k": 1},
                "sources": ["records"],
            },
        ),
    )["pools"]
    merged = options(Pools.model_validate(pools).evidence)
    assert [(o.candidate, o.sources) for o in merged] == [("E1", ("hand", "records")), ("E3", ("hand",))]


def test_a_level_fills_only_what_is_open() -> None:
    constraints = [
        {"template": "response", "target": "A"},
        {"template": "response", "target": "B", "deadline": "P9D"},
        {"template": "precedence", "target": "C"},
    ]
    pools = small.changed(
        small.CONTEXT,
        (
            "pools.norm",
            [{"id": "N", "content": {"constraints": constraints}, "vary": {"deadline": ["P1D", "P2D"]}}],
        ),
    )["pools"]
    first, second = options(Pools.model_validate(pools).norm)
    deadlines = [{c.target.activity: str(c.deadline) for c in o.content.constraints} for o in (first, second)]
    assert deadlines == [{"A": "P1D", "B": "P9D", "C": "None"}, {"A": "P2D", "B": "P9D", "C": "None"}]
