"""What each part of the search is good for, and whether other optimisers of its objective choose otherwise
(paper, Table ablation).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gnrs_ppl.experiments.main import MEASURED
from gnrs_ppl.experiments.methods import ABLATIONS, BASE, KERNELS, METHODS, cells, measure, paper_ablations
from gnrs_ppl.experiments.parts import Changed, cited, estimated_change, mean
from gnrs_ppl.experiments.plots import COLOURS, MARKERS, blank
from gnrs_ppl.experiments.rows import Cell, Row, Rows, lines, of
from gnrs_ppl.experiments.runner import Experiment, ExperimentRequest, Report, Run
from gnrs_ppl.experiments.tables import CellValue, Column, ColumnGroup, ResultTable, heads, part, specified

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAME = 1e-6
"""Scores this near are one score; chains score in float32."""


def wanted(request: ExperimentRequest) -> list[Cell]:
    """All variants; the base method's rows are those of the main table."""
    return cells(ABLATIONS, request)


def report(run: Run) -> Report:
    """Variants, their paired differences from the base, and where optimisers of one objective differ."""
    rows, request = run.rows("main") + run.rows("ablations"), run.request
    same, notes = same_objective(rows, request)
    tables = [off(), variants(rows, request), differences(rows, request), same]
    return Report(tables, {"ablations": lambda: draw(rows, request)}, notes)


def off() -> ResultTable:
    """What each method switches off."""
    says = "Every method lacks the LLM source and polish, since there is no model; what else it switches off:"
    return ResultTable(
        "methods",
        "Methods",
        says,
        (Column("method"), Column("switched off or replaced")),
        [(m.name, m.off) for m in METHODS.values()],
    )


def variants(rows: Sequence[Row], request: ExperimentRequest) -> ResultTable:
    """All variants beside the paper's."""
    paper = paper_ablations(BASE)
    says = (
        "Direction and size of HARD-OK between variants can be compared, on pools without LLM candidates; "
        "the paper's row beside No LLM candidates is its full method, which has them. Its Random candidates "
        "lose 1.03 points of Avg, so they are still searched: they stand beside the row that searches drawn "
        "pools. Avg is a rubric. ε_S is taken in each variant's own objective, s_search always with the "
        "frozen weights and λ. SMC counts particles as chains and needs two."
    )
    printed = cited(paper, [("HARD-OK", "HARD-OK", 1), ("average", "Avg", 1)])
    parts = [*MEASURED, mean("energy_evaluations", "energy evaluations", 0), *printed]
    return specified(
        "ablations", "Ablations without a model", says, lines(rows, (BASE, *ABLATIONS), request.chains), parts
    )


def differences(rows: Sequence[Row], request: ExperimentRequest) -> ResultTable:
    """Every variant less the base, goal by goal."""
    printed = {name: float(row["HARD-OK"]) for name, row in paper_ablations(BASE).items()}
    paper: dict[CellValue, float] = {name: value - printed[BASE] for name, value in printed.items()}

    found = [
        Changed((name, chains), of(rows, BASE, chains or max(request.chains)), own)
        for name, chains, own, _ in lines(rows, ABLATIONS, request.chains)
    ]
    says = (
        f"Variant less {BASE} at as many chains (at {max(request.chains)} where the variant runs none), "
        "paired by goal. The paper's differences are from its full method, with LLM candidates."
    )
    parts: list[ColumnGroup[Changed]] = [
        ColumnGroup((Column("variant"), Column("chains", 0)), lambda one: one.what),
        estimated_change("hard_ok", "HARD-OK, points", 1, 100.0, "HARD-OK, "),
        estimated_change("audit_f1", "audit F1", 3, 1.0, "audit F1, "),
        part("HARD-OK, points from its full method", 1, lambda one: paper.get(one.what[0]), paper=True),
    ]
    found = [one for one in found if one.before.rows]
    return specified("ablation_differences", "Differences from the base", says, found, parts)


def same_objective(rows: Sequence[Row], request: ExperimentRequest) -> tuple[ResultTable, list[str]]:
    """On how many goals optimisers of one objective end elsewhere, and where that is more than a tie."""
    exact = of(rows, "Exact")
    compared = [(BASE, c) for c in request.chains] + [
        (k, c) for k, c, *_ in lines(rows, KERNELS, request.chains) if k != "Exact"
    ]
    entries: list[tuple[CellValue, ...]] = []
    notes = []
    for name, chains in compared:
        own = of(rows, name, chains)
        if not own.rows or not exact.rows:
            continue
        counts = _elsewhere(own, exact)
        entries.append((name, chains, len(own.rows), *counts))
        label = "metropolis" if name == BASE else name
        at = f" with {chains} chain{'s' if chains and chains > 1 else ''}" if chains else ""
        notes.append(
            f"{label}{at} and the exact optimum differ in {counts[0]} of {len(own.rows)} runs on {counts[1]} "
            f"of {len(exact.by_goal('rho'))} goals; in {counts[2]} runs the score is lower, in the others it "
            f"is a tie; audit F1 differs in {counts[3]}."
        )
    says = (
        "CP-SAT, enumeration and every kernel maximise one objective here, so that they can differ by ties "
        "and by what a search missed, and by nothing else. The paper's CP-SAT control falls 16.2 points of "
        "Avg behind the search, on an objective it does not give."
    )
    columns = heads(
        "optimiser | chains:0 | runs:0 | another structure than Exact:0 | on goals:0 | lower score:0 | "
        "another audit F1:0"
    )
    return ResultTable("same_objective", "One objective, several optimisers", says, columns, entries), notes


def _elsewhere(own: Rows, exact: Rows) -> tuple[int, int, int, int]:
    best = {row["goal"]: row for row in exact.rows}
    other = [row for row in own.rows if row["signature"] != best[row["goal"]]["signature"]]
    lower = sum(row["s_search"] < best[row["goal"]]["s_search"] - SAME for row in other)
    return (
        len(other),
        len({row["goal"] for row in other}),
        lower,
        sum(row["audit_f1"] != best[row["goal"]]["audit_f1"] for row in other),
    )


def draw(rows: Sequence[Row], request: ExperimentRequest) -> Figure:
    """Audit F1 of every variant with its interval over goals, few chains beside many."""
    there = {row["method"] for row in rows}
    names = [name for name in (BASE, *ABLATIONS) if name in there]
    figure = blank(7.5, 0.34 * len(names) + 1.2)
    axes = figure.add_subplot()
    for i, chains in enumerate((None, *request.chains)):
        for place, name in enumerate(reversed(names)):
            found = of(rows, name, chains).estimate("audit_f1")
            if found is None:
                continue
            low, high = found.percentile
            height = place + 0.14 * (i - 1)
            axes.plot([low, high], [height, height], color=COLOURS[i], linewidth=1.5)
            axes.plot(found.mean, height, MARKERS[i], color=COLOURS[i], markersize=5)
        label = "no chains" if chains is None else f"{chains} chain{'s' if chains > 1 else ''}"
        axes.plot([], [], MARKERS[i], color=COLOURS[i], label=label)
    axes.set_yticks(range(len(names)), list(reversed(names)))
    axes.set(xlabel="audit F1 against the record, mean over goals with 95 % interval", xlim=(0, None))
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False)
    return figure


EXPERIMENT = Experiment(
    "ablations",
    "What is each part of the search good for, and does another optimiser choose otherwise?",
    report,
    wanted,
    measure,
    ("main",),
)
