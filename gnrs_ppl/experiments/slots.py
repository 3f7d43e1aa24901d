"""One slot's pool replaced by candidates of other goals: what becomes of the rule (paper, Slot sensitivity).

Every intervention is paired with the same goal's own optimum, found by enumeration, so that no sampling noise
is in the differences. Distractors are candidates that other goals of the family have and this goal has not;
they know the same names and the same log. With a model a judge marks every rule as the template words it; no
model writes.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnrs_ppl.benchmarks.gnrs_bench import FAMILIES, benchmark_goal, goals, load
from gnrs_ppl.calibration.weights import frozen_weights
from gnrs_ppl.candidates.build import pools_of
from gnrs_ppl.experiments.bench import GoalBench
from gnrs_ppl.experiments.judging import judge_rows
from gnrs_ppl.experiments.parts import RUBRIC_CHANGE, Changed, estimated_change, mean_change, share
from gnrs_ppl.experiments.plots import blank
from gnrs_ppl.experiments.published import published
from gnrs_ppl.experiments.rows import Cell, Row, Rows, of, read_rows
from gnrs_ppl.experiments.runner import Experiment, ExperimentRequest, Report, Run, generate
from gnrs_ppl.experiments.tables import CellValue, Column, ColumnGroup, ResultTable, part, specified
from gnrs_ppl.experiments.writers import model_of
from gnrs_ppl.inference.exact import enumerate_space
from gnrs_ppl.models.energy import contract
from gnrs_ppl.models.graph import AndOrGraph, compile_graph
from gnrs_ppl.rule.canonical import dumps
from gnrs_ppl.rule.pools import Candidate, Pools
from gnrs_ppl.rule.types import SLOTS, Structure

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OWN = "own optimum"
FIRST, SAME, ALL = "first option", "distractors, as many", "distractors, all"
KINDS = {
    FIRST: "the slot's first option instead of the chosen one, the others as they stand",
    SAME: "as many candidates of other goals as the slot had, searched again",
    ALL: "all candidates of other goals that the slot had not, searched again",
}
PAPER_NAMES = {"norm": "NormBody", "evidence": "EvidencePolicy"}
"""Slots whose change of Avg the paper prints."""


class Degraded(NamedTuple):
    """A rule after an intervention, and how many distractors there were."""

    structure: Structure
    distractors: int


def method(kind: str, slot: str) -> str:
    """Name of an intervention in the rows."""
    return f"{slot}: {kind}"


def wanted(request: ExperimentRequest) -> list[Cell]:
    """The optimum, and every intervention on every slot; seeds where distractors are drawn."""
    found = []
    for goal in request.goal_ids:
        found.append(Cell(OWN, None, goal, request.seeds[0]))
        for slot, kind in itertools.product(SLOTS, KINDS):
            found += [
                Cell(method(kind, slot), None, goal, seed)
                for seed in (request.seeds if kind == SAME else request.seeds[:1])
            ]
    return found


def measure(goal: str, cells: Sequence[Cell], request: ExperimentRequest) -> Iterator[Row]:
    """Rows of one goal."""
    bench = GoalBench(goal, revealed=request.revealed)
    pools = pools_of(bench.context).pools
    graph = compile_graph(bench.context, pools)
    own = best_of(graph)
    before = bench.execute(own)
    for cell in cells:
        if cell.method == OWN:
            yield cell._asdict() | bench.measured(own)
            continue
        slot, kind = cell.method.split(": ")
        degraded = _degraded(bench, pools, graph, own, slot, kind, cell.seed)
        after = bench.execute(degraded.structure)
        yield (
            cell._asdict()
            | bench.measured(degraded.structure)
            | {
                "slot": slot,
                "kind": kind,
                "distractors": degraded.distractors,
                "replaced": dumps(getattr(degraded.structure, slot)) != dumps(getattr(own, slot)),
                "changed": after.changed(before),
                "changed_where_both_apply": after.changed(before, only_active=True),
            }
        )


def best_of(graph: AndOrGraph) -> Structure:
    """A structure of greatest s_search under the frozen weights, whatever h says of it."""
    found = enumerate_space(contract(graph.space, frozen_weights().array()))
    return graph.structure(found.position(int(found.score.argmax())))


def _degraded(
    bench: GoalBench, pools: Pools, graph: AndOrGraph, own: Structure, slot: str, kind: str, seed: int
) -> Degraded:
    if kind == FIRST:
        return Degraded(own.model_copy(update={slot: graph.options[SLOTS.index(slot)][0].content}), 0)
    others = distractors(bench.goal.id, slot)
    chosen = list(others)
    if kind == SAME:
        generator = np.random.default_rng([seed, zlib.crc32(f"{bench.goal.id} {slot}".encode())])
        kept = generator.choice(len(others), min(len(getattr(pools, slot)), len(others)), replace=False)
        chosen = [others[i] for i in sorted(kept)]
    if not chosen:
        return Degraded(own, 0)
    numbered = tuple(
        candidate.model_copy(update={"id": f"{slot[0].upper()}{i}"}) for i, candidate in enumerate(chosen, 1)
    )
    return Degraded(
        best_of(compile_graph(bench.context, pools.model_copy(update={slot: numbered}))), len(others)
    )


@cache
def distractors(goal: str, slot: str) -> tuple[Candidate[Any], ...]:
    """Candidates of the other goals of the family that this goal's pool lacks, each once; goals' texts are
    read, no label.
    """
    family = benchmark_goal(goal).family
    own = {_said(candidate) for candidate in getattr(_pools(goal), slot)}
    found: dict[str, Candidate[Any]] = {}
    for other in goals():
        if other.family == family and other.id != goal:
            found |= {
                said: c
                for c in getattr(_pools(other.id), slot)
                if (said := _said(c)) not in own and said not in found
            }
    return tuple(found.values())


@cache
def _pools(goal: str) -> Pools:
    return pools_of(load(goal)).pools


def _said(candidate: Candidate[Any]) -> str:
    """What a candidate says whatever its levels, so that none differs from a goal's own by a deadline
    alone.
    """
    return dumps(candidate.content)


def report(run: Run) -> Report:
    """Effects by slot, coverage of the interventions, and the heatmap."""
    rows = run.rows("slots")
    notes = [
        "Procedure: not measurable by execution. No verdict of a case reads it and the held-out labels are "
        "of norms; it moves ρ, HARD-OK and s_search only, and the rubric, which needs a model."
    ]
    return Report([effects(rows), coverage(rows)], {"slot_sensitivity": lambda: draw(rows)}, notes)


# With a model


def make(request: ExperimentRequest, folder: Path) -> Sequence[str]:
    """The interventions, and marks for every text."""
    generate(EXPERIMENT, request._replace(model=None), folder)
    judge_rows(read_rows(folder), model_of(request), folder, repeats=request.repeats)
    return ()


def with_model(run: Run) -> Report:
    """Changes of the rubric by slot, and their heatmap by family."""
    rows = run.judged("slots")
    return Report([rubric_effects(rows)], {"slot_rubrics": lambda: draw_rubric(rows)})


# Tables


SLOT_AND_KIND: ColumnGroup[Changed] = ColumnGroup(
    (Column("slot"), Column("replaced by")), lambda one: one.what
)


def interventions(rows: Sequence[Row]) -> list[Changed]:
    """Every kind of replacement in every slot against the goal's own optimum."""
    own = of(rows, OWN)
    return [
        Changed((slot, kind), own, of(rows, method(kind, slot)))
        for slot, kind in itertools.product(SLOTS, KINDS)
    ]


def executed(found: ColumnGroup[Changed]) -> ColumnGroup[Changed]:
    """The columns, empty where execution cannot show anything."""
    nothing = (None,) * len(found.columns)
    return found._replace(cells=lambda one: nothing if one.what[0] == "procedure" else found.cells(one))


def printed_change() -> ColumnGroup[Changed]:
    """The paper's change of Avg, for the two slots and the one kind that it prints."""
    printed = {
        row["contrast"].removeprefix("baseline vs. degraded "): -float(row["gap"])
        for row in published("result-contrasts-app")
    }
    changes: dict[tuple[CellValue, ...], float] = {
        (slot, SAME): printed[name] for slot, name in PAPER_NAMES.items()
    }
    return part("Avg, points", 2, lambda one: changes.get(one.what), paper=True)


def effects(rows: Sequence[Row]) -> ResultTable:
    """Every intervention against the goal's own optimum."""
    own = of(rows, OWN)
    parts = [
        SLOT_AND_KIND,
        mean_change("hard_ok", "HARD-OK, points", 1, 100.0),
        mean_change("rho", "ρ", 3),
        mean_change("s_search", "s_search", 3),
        executed(estimated_change("audit_f1", "audit F1", 3)),
        executed(share("changed", "changed verdicts, %")),
        executed(share("changed_where_both_apply", "of cases where both apply, %")),
        executed(share("activated", "cases where it applies, %")),
        printed_change(),
    ]
    kinds = "; ".join(f"{kind}: {what}" for kind, what in KINDS.items())
    says = (
        f"Change from the goal's own optimum, paired. {kinds[0].upper()}{kinds[1:]}. The paper replaces a "
        "slot's pool likewise and prints the change of the rubric for two slots, from a baseline (49.65) "
        "below every row of its main table; the intervention can be compared, its unit cannot. Before, the "
        f"norm applies in {100 * (own.mean('activated') or 0):.1f} % of the scored cases."
    )
    return specified("slots", "Slot sensitivity", says, interventions(rows), parts)


def rubric_effects(rows: Sequence[Row]) -> ResultTable:
    """Every intervention against the goal's own optimum, in the judge's eyes."""
    before = of(rows, OWN).mean("avg")
    parts = [SLOT_AND_KIND, *RUBRIC_CHANGE, printed_change()]
    level = (
        "Nothing of the baseline was marked."
        if before is None
        else f"The baseline's own Avg is {before:.2f}."
    )
    says = (
        "Change of the rubric in points from the goal's own optimum, paired, all texts as the template words "
        f"them. {level} The paper prints the change for two slots, from a baseline of 49.65; distractors are "
        "of the family here, of all goals there."
    )
    return specified("slot_rubrics", "Slot sensitivity by rubric", says, interventions(rows), parts)


def coverage(rows: Sequence[Row]) -> ResultTable:
    """Whether the interventions did anything."""
    printed: dict[tuple[CellValue, ...], float] = {
        (slot, SAME): float(row["replacement coverage"])
        for slot, row in zip(SLOTS, published("candidate-pool-app"), strict=True)
    }

    def drawn(one: Changed) -> float | None:
        return None if one.what[1] == FIRST else one.own.mean("distractors")

    parts: list[ColumnGroup[Changed]] = [
        SLOT_AND_KIND,
        part("runs", 0, lambda one: len(one.own.rows)),
        part("distractors", 1, drawn),
        share("replaced", "replaced, %"),
        share("feasible", "passes h, %"),
        share("checkable", "checkable, %"),
        part("coverage, %", 1, lambda one: printed.get(one.what), paper=True),
    ]
    says = (
        "Replaced: runs whose slot holds another content than before; where the first option was the chosen "
        "one, nothing could be. The paper's coverage is comparable in kind. Its distractors are counted "
        "otherwise (all goals); ours are of the family."
    )
    return specified("slot_coverage", "Coverage of the interventions", says, interventions(rows), parts)


def draw(rows: Sequence[Row]) -> Figure:
    """Change of audit F1 and changed verdicts by slot and family."""
    own, families = of(rows, OWN), families_of(rows)
    slots = [slot for slot in SLOTS if slot != "procedure"]
    loss = by_family(rows, slots, lambda after: own.mean_change(after, "audit_f1"))
    changed = by_family(rows, slots, lambda after: 100 * (after.mean("changed") or 0.0))
    figure = blank(1.1 * len(families) + 2.5, 6.2)
    above, below = figure.subplots(2, 1, sharex=True)
    greatest = max(0.1, float(np.abs(loss).max()))
    title = "change of audit F1 (orange: loss)"
    heatmap(above, loss, (slots, families), "PuOr", (-greatest, greatest), "{:+.2f}", title)
    heatmap(below, changed, (slots, families), "cividis", (0, 100), "{:.0f}", "changed verdicts, %")
    below.set_xlabel("scene family")
    return figure


def draw_rubric(rows: Sequence[Row]) -> Figure:
    """Change of Avg by slot and family; a dash where nothing was marked."""
    own, families = of(rows, OWN), families_of(rows)
    values = by_family(rows, SLOTS, lambda after: own.mean_change(after, "avg"))
    figure = blank(1.1 * len(families) + 2.5, 3.8)
    axes = figure.subplots()
    greatest = max(1.0, *np.abs(values[~np.isnan(values)]).tolist())
    title = "change of rubric Avg, points (orange: loss)"
    heatmap(axes, values, (SLOTS, families), "PuOr", (-greatest, greatest), "{:+.1f}", title)
    axes.set_xlabel("scene family")
    return figure


def families_of(rows: Sequence[Row]) -> list[str]:
    """Families of the goals in the benchmark's order."""
    there = {row["family"] for row in of(rows, OWN).rows}
    return [family for family in FAMILIES if family in there]


def by_family(
    rows: Sequence[Row], slots: Sequence[str], value: Callable[[Rows], float | None]
) -> NDArray[np.float64]:
    """What ``value`` says of the rows after as many distractors, by slot and family; NaN for None."""
    after = [of(rows, method(SAME, slot)) for slot in slots]
    found = [[value(own.within(family)) for family in families_of(rows)] for own in after]
    return np.array(found, np.float64)


def heatmap(
    axes: Axes,
    values: NDArray[np.float64],
    sides: tuple[Sequence[str], Sequence[str]],
    colours: str,
    ends: tuple[float, float],
    form: str,
    title: str,
) -> None:
    """A heatmap of slots by families with its values written in."""
    (slots, families), (low, high) = sides, ends
    shown = axes.imshow(values, cmap=colours, vmin=low, vmax=high, aspect="auto")
    for (i, j), value in np.ndenumerate(values):
        level = (float(value) - low) / (high - low)
        dark = abs(level - 0.5) > 0.3 if colours == "PuOr" else level < 0.55
        told = "–" if np.isnan(value) else form.format(round(float(value), 2) + 0.0).replace("-", "−")
        axes.text(j, i, told, ha="center", va="center", color="white" if dark else "black", fontsize=9)
    axes.set_yticks(range(len(slots)), slots)
    axes.set_xticks(
        range(len(families)), [family.replace("_", " ") for family in families], rotation=30, ha="right"
    )
    axes.set_ylabel("degraded slot")
    axes.set_title(title, loc="left", fontsize=10)
    axes.figure.colorbar(shown, ax=axes)


EXPERIMENT = Experiment("slots", "Which slot's content carries the rule?", report, wanted, measure)
WITH_MODEL = Experiment(
    "slots",
    "Which slot's content carries the rule, in the judge's eyes?",
    with_model,
    make=make,
    roles=("judge",),
)
