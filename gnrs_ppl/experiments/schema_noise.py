"""Noise in schema and record layer before candidates are built (paper, Robustness to schema noise).

*Irrelevant*: names of other institutions are added; no row of the log carries them. *Missing*: terms of the
schema and declared channels are dropped. *Incorrect*: who may do what where, and which channel records what,
is exchanged between entries. Names the goal itself uses stay in the schema, since a context without them is
refused when it is read; rows of the log are never touched. The rule is drafted on the noisy context and
scored on the clean one: the optimum by enumeration, so that no sampling noise is in the differences. With a
model its candidates, proposed on the noisy context, are in the pools, and its polish on the text that a judge
marks.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gnrs_ppl.benchmarks.gnrs_bench import FAMILIES, benchmark_goal, goals, load
from gnrs_ppl.candidates.build import pools_of
from gnrs_ppl.candidates.proposed import asked, kept
from gnrs_ppl.candidates.source import ProposedCandidate
from gnrs_ppl.context.load import Context, context_of
from gnrs_ppl.context.types import RecordLayer, Schema
from gnrs_ppl.errors import GnrsError
from gnrs_ppl.experiments.bench import GoalBench
from gnrs_ppl.experiments.parts import RUBRIC_CHANGE, Changed, estimated_change, mean_change
from gnrs_ppl.experiments.parts import share as share_of
from gnrs_ppl.experiments.plots import COLOURS, MARKERS, blank
from gnrs_ppl.experiments.published import printed_numbers
from gnrs_ppl.experiments.rows import Cell, Row, RowWithAnswers, of
from gnrs_ppl.experiments.runner import Experiment, ExperimentRequest, Report, Run
from gnrs_ppl.experiments.slots import best_of
from gnrs_ppl.experiments.tables import CellValue, Column, ColumnGroup, ResultTable, part, specified
from gnrs_ppl.experiments.writers import POLISH, generate, polished, rule_on, with_calls
from gnrs_ppl.llm.client import ask
from gnrs_ppl.models.graph import compile_graph
from gnrs_ppl.rule.types import Structure

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from gnrs_ppl.llm import Model

Item = TypeVar("Item")
Generator = np.random.Generator

CLEAN = "clean"
STRENGTHS = {"weak": 0.1, "moderate": 0.3, "strong": 0.6}
"""Share of entries that noise adds (relative to what there is), drops or exchanges."""
PAPER_DROPS: dict[tuple[CellValue, ...], str] = {
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

    def more(own: tuple[Any, ...], others: Iterable[Any]) -> list[Any]:
        """Some that one's own lack, as many as their share of these."""
        names = {item.name for item in own}
        unknown = {item.name: item for item in others if item.name not in names}
        return _some([*unknown.values()], round(share * len(own)), generator)

    added: dict[str, Any] = {}
    for terms in TERMS:
        own = getattr(schema, terms)
        added[terms] = (*own, *more(own, (term for one in strange for term in getattr(one.schema, terms))))
    bare = {"roles": (), "locations": (), "objects": ()}
    new = more(schema.actions, (action for one in strange for action in one.schema.actions))
    added["actions"] = (*schema.actions, *(action.model_copy(update=bare) for action in new))
    channels = more(records.channels, (channel for one in strange for channel in one.records.channels))
    actable = {action.name for action in added["actions"]}
    declared = [
        c.model_copy(update={"activities": tuple(a for a in c.activities or () if a in actable)})
        for c in channels
    ]
    return (
        schema.model_copy(update=added),
        records.model_copy(update={"channels": (*records.channels, *declared)}),
    )


def missing(
    schema: Schema, records: RecordLayer, share: float, needed: set[str], generator: Generator
) -> tuple[Schema, RecordLayer]:
    """Without some terms and channels, and without every mention of them."""
    left = {terms: _without(getattr(schema, terms), share, needed, generator) for terms in TERMS}
    names = {terms: {term.name for term in left[terms]} for terms in TERMS}
    fields = ("roles", "locations", "objects")
    actions = tuple(
        a.model_copy(update={f: tuple(n for n in getattr(a, f) if n in names[f]) for f in fields})
        for a in schema.actions
    )
    channels = _without(records.channels, share, needed, generator)
    kept_terms = left | {"actions": actions}
    return schema.model_copy(update=kept_terms), records.model_copy(update={"channels": channels})


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
    count = min(max(round(share * len(items)), 2), len(items))
    chosen = sorted(generator.choice(len(items), count, replace=False).tolist())
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
    fields = ("required", "forbidden", "roles", "locations", "objects")
    needed = {name for g in own for field in fields for name in getattr(g.goal, field)}
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


def context_in(cell: Cell) -> Context:
    """The context of a cell.

    Raises
    ------
    InputError
        As :func:`noisy`.
    """
    if cell.method == CLEAN:
        return load(cell.goal)
    kind, strength = cell.method.split(", ")
    return noisy(cell.goal, kind, strength, cell.seed)


def drafted(bench: GoalBench, context: Context, proposals: Sequence[ProposedCandidate] = ()) -> Row:
    """What the optimum on a context is worth on the clean one."""
    try:
        structure = best_of(compile_graph(context, pools_of(context, proposals).pools))
    except GnrsError as error:
        return refused(bench, error)
    return bench.measured(structure) | {"refused_context": False}


def refused(bench: GoalBench, error: GnrsError) -> Row:
    """What stands in the place of a rule where the context cannot state its goal, or gives no pools."""
    return bench.failed(str(error)) | {"refused_context": True, "text": ""}


def measure(goal: str, cells: Sequence[Cell], request: ExperimentRequest) -> Iterator[Row]:
    """Rows of one goal."""
    bench = GoalBench(goal, revealed=request.revealed)
    clean = best_of(compile_graph(bench.context, pools_of(bench.context).pools))
    before = bench.execute(clean)
    for cell in cells:
        if cell.method == CLEAN:
            yield cell._asdict() | bench.measured(clean)
            continue
        try:
            row = drafted(bench, context_in(cell))
        except GnrsError as error:
            row = refused(bench, error)
        if not row["refused_context"]:
            after = bench.execute(Structure.model_validate(row["structure"]))
            row |= {"changed": after.changed(before)}
        yield cell._asdict() | row


# With a model


def written(cells: Sequence[Cell], request: ExperimentRequest, model: Model) -> list[RowWithAnswers]:
    """Rows of some cells in their order: candidates proposed at once, then texts polished.

    Raises
    ------
    InputError
        Bad configuration of the model; what was answered is in its cache.
    """
    benches = {goal: GoalBench(goal, revealed=request.revealed) for goal in {cell.goal for cell in cells}}
    contexts: dict[Cell, Context] = {}
    found: dict[Cell, RowWithAnswers] = {}
    for cell in cells:
        try:
            contexts[cell] = context_in(cell)
        except GnrsError as error:
            found[cell] = with_calls(cell, refused(benches[cell.goal], error), ())
    said = dict(zip(contexts, ask(model, [asked(c, cell.seed) for cell, c in contexts.items()]), strict=True))
    for cell, context in contexts.items():
        proposed = kept(said[cell], context)
        row = drafted(benches[cell.goal], context, proposed.proposals)
        found[cell] = with_calls(cell, row | proposed.counted(), (proposed.answer,))
    found |= polished(found, dict.fromkeys(contexts, POLISH), partial(rule_on, benches), model)
    return [found[cell] for cell in cells]


def make(request: ExperimentRequest, folder: Path) -> Sequence[str]:
    """Rows and marks."""
    return generate(wanted(request), request, folder, write=written)


# Tables


def report(run: Run) -> Report:
    """Drops by kind and strength."""
    rows = run.rows("schema_noise")
    return Report([drops(rows)], {"schema_noise": lambda: draw(rows)})


def with_model(run: Run) -> Report:
    """Drops of the rubric beside the paper's, and those of what needs no judge."""
    rows = run.judged("schema_noise")
    return Report([rubric_drops(rows), drops(rows)])


NOISE: ColumnGroup[Changed] = ColumnGroup((Column("noise"), Column("strength")), lambda noise: noise.what)
SHARES = ", ".join(f"{name} {100 * share:.0f} %" for name, share in STRENGTHS.items())
SAYS = (
    f"Change from the clean context, paired by goal; noise touches {SHARES} of the entries. A context "
    "that can no longer state its goal counts as a rule that fails. The paper prints drops of the rubric "
    "Avg, one per kind, and says moderate of missing names only;"
)


def noises(rows: Sequence[Row]) -> list[Changed]:
    """Every kind at every strength against the clean context."""
    clean = of(rows, CLEAN)
    return [
        Changed((kind, strength), clean, of(rows, f"{kind}, {strength}"))
        for kind, strength in itertools.product(KINDS, STRENGTHS)
    ]


def printed_drop() -> ColumnGroup[Changed]:
    """The paper's drop of Avg."""
    printed = printed_numbers(start="schema noise")

    drops = {what: -printed[name] for what, name in PAPER_DROPS.items()}
    return part("Avg, points", 1, lambda noise: drops.get(noise.what), paper=True)


def drops(rows: Sequence[Row]) -> ResultTable:
    """Change from the clean context of what needs no judge."""
    parts = [
        NOISE,
        mean_change("hard_ok", "HARD-OK, points", 1, 100.0),
        mean_change("rho", "ρ", 3),
        estimated_change("audit_f1", "audit F1", 3),
        *([share_of("changed", "changed verdicts, %")] if any("changed" in row for row in rows) else []),
        share_of("refused_context", "refused, %"),
        printed_drop(),
    ]
    says = f"{SAYS} ours are other quantities, so only their order can be compared."
    return specified("schema_noise", "Schema noise", says, noises(rows), parts)


def rubric_drops(rows: Sequence[Row]) -> ResultTable:
    """Change of the judge's marks."""
    parts = [NOISE, *RUBRIC_CHANGE, printed_drop()]
    says = f"{SAYS} what of its names it touched is not said, so levels cannot be held against each other."
    return specified("schema_noise_rubric", "Schema noise by rubric", says, noises(rows), parts)


def draw(rows: Sequence[Row]) -> Figure:
    """HARD-OK and audit F1 against strength."""
    figure = blank(8, 3.4)
    at = [0.0, *(100 * share for share in STRENGTHS.values())]
    measures = (("hard_ok", "HARD-OK, % of runs", 100.0), ("audit_f1", "audit F1 against the record", 1.0))
    for axes, (measure, label, scale) in zip(figure.subplots(1, 2), measures, strict=True):
        for i, kind in enumerate(KINDS):
            points = [of(rows, CLEAN), *(of(rows, f"{kind}, {strength}") for strength in STRENGTHS)]
            heights = [scale * (point.mean(measure) or 0.0) for point in points]
            axes.plot(at, heights, MARKERS[i] + "-", color=COLOURS[i], label=kind)
        axes.set(xlabel="entries touched by noise, %", ylabel=label, ylim=(0, None))
        axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return figure


ASKS = "How much does a rule suffer from noise in schema and record layer?"
EXPERIMENT = Experiment("schema_noise", ASKS, report, wanted, measure)
WITH_MODEL = Experiment("schema_noise", ASKS, with_model, make=make, roles=("generator", "polisher", "judge"))
