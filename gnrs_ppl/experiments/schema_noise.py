"""Noise in schema and record layer before candidates are built (paper, Robustness to schema noise).

*Irrelevant*: names of other institutions are added; no row of the log carries them. *Missing*: terms of the
schema and declared channels are dropped. *Incorrect*: who may do what where, and which channel records what,
is exchanged between entries. Names the goal itself uses stay in the schema, since a context without them is
refused when it is read; rows of the log are never touched. The rule is drafted on the noisy context and
scored on the clean one.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gnrs_ppl.benchmarks.gnrs_bench import FAMILIES, benchmark_goal, goals, load
from gnrs_ppl.candidates.build import pools_of
from gnrs_ppl.context.load import Context, context_of
from gnrs_ppl.context.types import RecordLayer, Schema
from gnrs_ppl.errors import GnrsError
from gnrs_ppl.experiments.bench import GoalBench
from gnrs_ppl.experiments.parts import told
from gnrs_ppl.experiments.published import printed_numbers
from gnrs_ppl.experiments.rows import Cell, Row, of
from gnrs_ppl.experiments.runner import Experiment, ExperimentRequest, Report, Run
from gnrs_ppl.experiments.slots import best_of
from gnrs_ppl.experiments.statistics import paired
from gnrs_ppl.experiments.tables import CellValue, Column, ResultTable
from gnrs_ppl.models.graph import compile_graph

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Item = TypeVar("Item")
Generator = np.random.Generator

CLEAN = "clean"
STRENGTHS = {"weak": 0.1, "moderate": 0.3, "strong": 0.6}
"""Share of entries that noise adds (relative to what there is), drops or exchanges."""
PAPER_DROPS = {
    ("irrelevant", "moderate"): "schema noise: drop with irrelevant names",
    ("missing", "moderate"): "schema noise: drop with missing names",
    ("incorrect", "moderate"): "schema noise: drop with wrong names",
}
"""Where the paper's three figures stand; it says moderate of missing information only."""
TERMS = ("roles", "locations", "objects", "steps")


def irrelevant(
    schema: Schema, records: RecordLayer, share: float, needed: set[str], generator: Generator
) -> tuple[Schema, RecordLayer]:
    """Terms, actions and channels of other families that this one lacks."""
    strange = [load(next(g.id for g in goals() if g.family == family)) for family in FAMILIES]
    added: dict[str, Any] = {}
    for part in TERMS:
        own = getattr(schema, part)
        known = {term.name for term in own}
        others = {
            term.name: term
            for other in strange
            for term in getattr(other.schema, part)
            if term.name not in known
        }
        added[part] = own + tuple(_some(list(others.values()), round(share * len(own)), generator))
    known = {action.name for action in schema.actions}
    actions = {a.name: a for other in strange for a in other.schema.actions if a.name not in known}
    bare = {"roles": (), "locations": (), "objects": ()}
    new = [
        a.model_copy(update=bare) for a in _some(list(actions.values()), round(share * len(known)), generator)
    ]
    channels = {
        c.name: c for other in strange for c in other.records.channels if records.channel(c.name) is None
    }
    more = _some(list(channels.values()), round(share * len(records.channels)), generator)
    actable = known | {action.name for action in new}
    declared = [
        c.model_copy(update={"activities": tuple(a for a in c.activities or () if a in actable)})
        for c in more
    ]
    return (
        schema.model_copy(update=added | {"actions": schema.actions + tuple(new)}),
        records.model_copy(update={"channels": records.channels + tuple(declared)}),
    )


def missing(
    schema: Schema, records: RecordLayer, share: float, needed: set[str], generator: Generator
) -> tuple[Schema, RecordLayer]:
    """Without some terms and channels, and without every mention of them."""
    kept = {part: _without(getattr(schema, part), share, needed, generator) for part in TERMS}
    names = {part: {term.name for term in kept[part]} for part in TERMS}
    fields = ("roles", "locations", "objects")
    actions = tuple(
        a.model_copy(update={part: tuple(n for n in getattr(a, part) if n in names[part]) for part in fields})
        for a in schema.actions
    )
    channels = _without(records.channels, share, needed, generator)
    return schema.model_copy(update=kept | {"actions": actions}), records.model_copy(
        update={"channels": channels}
    )


def incorrect(
    schema: Schema, records: RecordLayer, share: float, needed: set[str], generator: Generator
) -> tuple[Schema, RecordLayer]:
    """What some actions afford and what some channels record, exchanged among them."""
    fields = ("roles", "locations", "objects")
    actions = _exchanged(schema.actions, fields, share, generator)
    channels = _exchanged(records.channels, ("activities", "closed_world"), share, generator)
    return schema.model_copy(update={"actions": actions}), records.model_copy(update={"channels": channels})


KINDS: dict[str, Callable[[Schema, RecordLayer, float, set[str], Generator], tuple[Schema, RecordLayer]]] = {
    "irrelevant": irrelevant,
    "missing": missing,
    "incorrect": incorrect,
}


def _some(items: Sequence[Item], count: int, generator: Generator) -> list[Item]:
    """As many as there are, drawn without replacement, at least one."""
    if not items:
        return []
    chosen = generator.choice(len(items), min(max(count, 1), len(items)), replace=False)
    return [items[i] for i in sorted(chosen.tolist())]


def _without(items: tuple[Any, ...], share: float, needed: set[str], generator: Generator) -> tuple[Any, ...]:
    """All but some of those that are not needed; one is always left."""
    free = [item for item in items if item.name not in needed]
    count = min(max(round(share * len(items)), 1), len(free), len(items) - 1)
    gone = {item.name for item in _some(free, count, generator)} if count else set()
    return tuple(item for item in items if item.name not in gone)


def _exchanged(
    items: tuple[Any, ...], fields: Iterable[str], share: float, generator: Generator
) -> tuple[Any, ...]:
    """Some items, at least two, each with those fields of the next of them."""
    chosen = sorted(
        int(i)
        for i in generator.choice(
            len(items), min(max(round(share * len(items)), 2), len(items)), replace=False
        )
    )
    order = [chosen[(i + 1) % len(chosen)] for i in range(len(chosen))]
    taken = dict(zip(chosen, order, strict=True))
    return tuple(
        item.model_copy(update={field: getattr(items[taken[i]], field) for field in fields})
        if i in taken
        else item
        for i, item in enumerate(items)
    )


def noisy(goal_id: str, kind: str, strength: str, seed: int) -> Context:
    """A benchmark goal on a schema and record layer with noise; the goals of a family meet the same noise,
    read with the same log.

    Raises
    ------
    InputError
        The goal cannot be stated with what is left.
    """
    found = benchmark_goal(goal_id)
    return context_of(_scene(found.family, kind, strength, seed), found.goal, found.id)


@lru_cache(maxsize=30)
def _scene(family: str, kind: str, strength: str, seed: int) -> Context:
    own = [g for g in goals() if g.family == family]
    clean = load(own[0].id)
    scene = clean.scene
    assert scene is not None
    needed = {
        name
        for g in own
        for part in ("required", "forbidden", "roles", "locations", "objects")
        for name in getattr(g.goal, part)
    }
    generator = np.random.default_rng([seed, zlib.crc32(f"{family} {kind} {strength}".encode())])
    schema, records = KINDS[kind](scene.schema, scene.records, STRENGTHS[strength], needed, generator)
    return replace(scene, schema=schema, records=records)


def wanted(request: ExperimentRequest) -> list[Cell]:
    """The clean context, and every kind of noise at every strength and seed."""
    found = []
    for goal in request.goal_ids:
        found.append(Cell(CLEAN, None, goal, request.seeds[0]))
        found += [
            Cell(f"{k}, {s}", None, goal, seed)
            for k, s, seed in itertools.product(KINDS, STRENGTHS, request.seeds)
        ]
    return found


def measure(goal: str, cells: Sequence[Cell], request: ExperimentRequest) -> Iterator[Row]:
    """Rows of one goal; the rule is the optimum by enumeration, scored on the clean context."""
    bench = GoalBench(goal, revealed=request.revealed)
    clean = best_of(compile_graph(bench.context, pools_of(bench.context).pools))
    before = bench.execute(clean)
    for cell in cells:
        if cell.method == CLEAN:
            yield cell._asdict() | bench.measured(clean)
            continue
        kind, strength = cell.method.split(", ")
        try:
            context = noisy(goal, kind, strength, cell.seed)
            structure = best_of(compile_graph(context, pools_of(context).pools))
        except GnrsError as error:
            yield cell._asdict() | bench.failed(str(error)) | {"refused_context": True}
            continue
        changed = bench.execute(structure).changed(before)
        yield cell._asdict() | bench.measured(structure) | {"refused_context": False, "changed": changed}


def report(run: Run) -> Report:
    """Drops by kind and strength."""
    rows = run.rows("schema_noise")
    return Report([drops(rows)], {"schema_noise": lambda: draw(rows)})


def drops(rows: Sequence[Row]) -> ResultTable:
    """Change from the clean context, paired."""
    printed = printed_numbers(start="schema noise")
    clean = of(rows, CLEAN)
    entries: list[tuple[CellValue, ...]] = []
    for kind, strength in itertools.product(KINDS, STRENGTHS):
        part = of(rows, f"{kind}, {strength}")
        gate, rho = (paired(clean.by_goal(m), part.by_goal(m)) for m in ("hard_ok", "rho"))
        found = clean.change(part, "audit_f1")
        drop = PAPER_DROPS.get((kind, strength))
        refused, changed = part.mean("refused_context") or 0.0, part.mean("changed")
        entries.append(
            (
                kind,
                strength,
                100 * sum(gate.values()) / len(gate),
                sum(rho.values()) / len(rho),
                *told(found),
                None if changed is None else 100 * changed,
                100 * refused,
                -printed[drop] if drop else None,
            )
        )
    shares = ", ".join(f"{name} {100 * share:.0f} %" for name, share in STRENGTHS.items())
    says = (
        f"Change from the clean context, paired by goal; noise touches {shares} of the entries. A context "
        "that can no longer state its "
        "goal counts as a rule that fails. The paper prints drops of the rubric Avg, one per kind, and says "
        "moderate of missing names "
        "only; ours are other quantities, so only their order can be compared."
    )
    columns = (
        Column("noise"),
        Column("strength"),
        Column("HARD-OK, points", 1),
        Column("ρ", 3),
        Column("audit F1", 3),
        Column("95 % over goals"),
        Column("95 % over families"),
        Column("changed verdicts, %", 1),
        Column("refused, %", 1),
        Column("Avg, points", 1, paper=True),
    )
    return ResultTable("schema_noise", "Schema noise", says, columns, entries)


def draw(rows: Sequence[Row]) -> Figure:
    """HARD-OK and audit F1 against strength."""
    from gnrs_ppl.experiments.plots import COLOURS, MARKERS, blank

    figure = blank(8, 3.4)
    at = [0.0, *(100 * share for share in STRENGTHS.values())]
    measures = (("hard_ok", "HARD-OK, % of runs", 100.0), ("audit_f1", "audit F1 against the record", 1.0))
    for axes, (measure, label, scale) in zip(figure.subplots(1, 2), measures, strict=True):
        for i, kind in enumerate(KINDS):
            parts = [of(rows, CLEAN), *(of(rows, f"{kind}, {strength}") for strength in STRENGTHS)]
            axes.plot(
                at,
                [scale * (part.mean(measure) or 0.0) for part in parts],
                MARKERS[i] + "-",
                color=COLOURS[i],
                label=kind,
            )
        axes.set(xlabel="entries touched by noise, %", ylabel=label, ylim=(0, None))
        axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return figure


EXPERIMENT = Experiment(
    "schema_noise",
    "How much does a rule suffer from noise in schema and record layer?",
    report,
    wanted,
    measure,
)
