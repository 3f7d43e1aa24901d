"""HARD-OK taken apart: supports of payloads, why it fails, and how it stands to h (paper, Hard-OK Forensic
Audit).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gnrs_ppl.context.types import Support
from gnrs_ppl.evaluate.hard_ok import RHO_GATE, SUPPORT_WEIGHTS, rho
from gnrs_ppl.experiments.judging import of_main
from gnrs_ppl.experiments.main import HARD_OK
from gnrs_ppl.experiments.methods import BASE, METHODS
from gnrs_ppl.experiments.parts import METHOD, RUNS, mean
from gnrs_ppl.experiments.plots import COLOURS, blank
from gnrs_ppl.experiments.published import printed_numbers
from gnrs_ppl.experiments.rows import Line, Row, Rows, lines, of
from gnrs_ppl.experiments.runner import Experiment, ExperimentRequest, Report, Run
from gnrs_ppl.experiments.tables import CellValue, Column, ColumnGroup, ResultTable, heads, part, specified
from gnrs_ppl.rule.types import SLOTS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUPPORTS: tuple[Support, ...] = ("direct", "inferred", "derivable", "missing")
REASONS = {
    "rho": f"ρ below {RHO_GATE:.2f}",
    "the scope slot": "empty scope",
    "required action": "a required action is no target",
    "forbidden action": "a forbidden action is demanded",
    "permitted action": "a permission is made binding",
    "no selected channel": "an act no selected channel records",
    "the procedure": "the procedure inspects an empty log",
    "no rule": "no rule was found",
    **{f"the {slot} slot is empty": "a slot of the text could not be read" for slot in SLOTS[1:]},
}
"""How a failure of the gate begins -> what it is called here."""
PAYLOADS = (1, 10, 15, 20)
"""Fewest payloads of each class of rules."""


def report(run: Run) -> Report:
    """Supports, reasons, the gate against h, and the paper's worked example."""
    rows = [row for row in run.rows("main") + run.rows("ablations") if row["method"] in METHODS]
    tables = [
        supports(rows, run.request),
        reasons(rows, run.request),
        gate_and_h(rows, run.request),
        by_payloads(rows, run.request),
        worked_example(),
    ]
    return Report(tables, {"supports": lambda: draw(rows, run.request)})


def with_model(run: Run) -> Report:
    """The same of rows with a model: what its candidates and its polish do to the gate."""
    rows, request = of_main(run), run.request
    return Report([supports(rows, request), reasons(rows, request), by_payloads(rows, request)])


def by_payloads(rows: Sequence[Row], request: ExperimentRequest) -> ResultTable:
    """HARD-OK and ρ by how many payloads a rule has: whether richer rules fail the gate more, as the paper
    says.
    """

    def count(row: Row) -> int:
        return sum(row[support] for support in SUPPORTS)

    def between(low: int, high: float) -> ColumnGroup[Line]:
        def told(line: Line) -> tuple[CellValue, ...]:
            own = line._replace(own=Rows([row for row in line.own.rows if low <= count(row) < high]))
            gate, ratio = own.own.mean("hard_ok"), own.own.mean("rho")
            return len(own.own.rows), None if gate is None else 100 * gate, ratio

        span = f"{low} and more" if high == math.inf else f"{low} to {high - 1}"
        return ColumnGroup((Column(f"runs, {span}", 0), Column("HARD-OK, %", 1), Column("ρ", 3)), told)

    says = (
        "Runs by the number of their payloads. The paper: richer selected payloads stress a gate that is a "
        "ratio. It prints no figure by count."
    )
    gated = [row for row in rows if all(support in row for support in SUPPORTS)]
    parts = [METHOD, *(between(*ends) for ends in zip(PAYLOADS, (*PAYLOADS[1:], math.inf), strict=True))]
    found = lines(gated, _names(gated), request.chains)
    return specified("by_payloads", "HARD-OK by payloads", says, found, parts)


def supports(rows: Sequence[Row], request: ExperimentRequest) -> ResultTable:
    """Mean payloads by support and mean ρ."""
    printed = printed_numbers("HARD-OK audit")

    def told(what: str, name: str, digits: int) -> ColumnGroup[Line]:
        return part(name, digits, lambda line: printed.get(f"{what} of {line.method}"), paper=True)

    parts = [
        METHOD,
        HARD_OK,
        mean("rho", "ρ", 3),
        *(mean(support, support, 2) for support in SUPPORTS),
        told("ρ", "ρ", 3),
        *(told(f"{support} payloads", support, 2) for support in ("direct", "inferred", "missing")),
    ]
    says = (
        "Payloads of a rule by how the records back them, means per run. Comparable in kind with the paper's "
        f"No LLM candidates; its full method has ρ {printed['ρ of GNRS-Search']:.3f} with "
        f"{printed['direct payloads of GNRS-Search']:.2f} direct, "
        f"{printed['inferred payloads of GNRS-Search']:.2f} inferred and "
        f"{printed['missing payloads of GNRS-Search']:.2f} missing."
    )
    return specified("supports", "Supports", says, lines(rows, _names(rows), request.chains), parts)


def reasons(rows: Sequence[Row], request: ExperimentRequest) -> ResultTable:
    """Runs that fail the gate, by reason."""

    def counted(line: Line) -> list[int]:
        found = Counter(
            reason for row in line.own.rows for reason in {named(failure) for failure in row["failures"]}
        )
        return [found[reason] for reason in dict.fromkeys(REASONS.values())]

    parts: list[ColumnGroup[Line]] = [
        METHOD,
        RUNS,
        part("fail", 0, lambda line: sum(not row["hard_ok"] for row in line.own.rows)),
        ColumnGroup(tuple(Column(reason, 0) for reason in dict.fromkeys(REASONS.values())), counted),
    ]
    says = "A run may fail for several reasons. The paper prints none of these counts."
    return specified(
        "gate_failures", "Why HARD-OK fails", says, lines(rows, _names(rows), request.chains), parts
    )


def _names(rows: Sequence[Row]) -> list[str]:
    """Methods of rows, ours in their order first."""
    return [*dict.fromkeys([*METHODS, *(row["method"] for row in rows)])]


def named(failure: str) -> str:
    """What a failure of the gate is called here."""
    return next(name for start, name in REASONS.items() if failure.startswith(start))


def gate_and_h(rows: Sequence[Row], request: ExperimentRequest) -> ResultTable:
    """Runs by the search's h and the evaluator's gate."""

    def both(name: str, h: bool, gate: bool) -> ColumnGroup[Line]:
        return part(
            name, 0, lambda line: sum((row["feasible"], row["hard_ok"]) == (h, gate) for row in line.own.rows)
        )

    says = (
        "Runs. h is the search's hard predicate, HARD-OK the evaluator's gate; they share neither code "
        "nor ρ. The paper has no such table."
    )
    parts = [
        METHOD,
        both("h and HARD-OK", True, True),
        both("h only", True, False),
        both("HARD-OK only", False, True),
        both("neither", False, False),
    ]
    return specified("gate_and_h", "HARD-OK against h", says, lines(rows, METHODS, request.chains), parts)


def worked_example() -> ResultTable:
    """The paper's example of a rule that fails the gate, by every reading of its seven inferred payloads."""
    printed = printed_numbers("HARD-OK audit")
    direct, inferred, missing = (
        int(printed[f"example: {kind}"]) for kind in ("direct", "inferred", "missing")
    )
    entries: list[tuple[CellValue, ...]] = []
    for derivable in range(inferred + 1):
        counted = (direct, inferred - derivable, derivable, missing)
        value = rho([s for s, n in zip(SUPPORTS, counted, strict=True) for _ in range(n)])
        entries.append((*counted, value, value >= RHO_GATE, printed["example: ρ"]))
    weights = ", ".join(f"{support} {weight:g}" for support, weight in SUPPORT_WEIGHTS.items())
    says = (
        f"Arithmetic on the paper's figures alone ({weights}; the gate is {RHO_GATE:.2f}): which split "
        "of its seven gives its ρ."
    )
    each = " | ".join(f"{support}:0" for support in SUPPORTS)
    columns = heads(f"{each} | ρ:3 | passes", "ρ:3")
    return ResultTable("worked_example", "The paper's worked example", says, columns, entries)


def draw(rows: Sequence[Row], request: ExperimentRequest) -> Figure:
    """Mean payloads by support for every method, and how ρ of the base method spreads over goals."""
    chains = max(request.chains)
    named_rows = [
        (name, own) for name, c, own, _ in lines(rows, METHODS, request.chains) if c in (None, chains)
    ]
    figure = blank(9, 0.3 * len(named_rows) + 1.6)
    bars, spread = figure.subplots(1, 2, width_ratios=(3, 2))
    left = [0.0] * len(named_rows)
    shades = (COLOURS[0], COLOURS[5], COLOURS[4], COLOURS[7])
    for support, colour in zip(SUPPORTS, shades, strict=True):
        values = [own.mean(support) or 0.0 for _, own in named_rows]
        bars.barh(range(len(named_rows)), values, left=left, color=colour, label=support)
        left = [a + b for a, b in zip(left, values, strict=True)]
    bars.set_yticks(range(len(named_rows)), [name for name, _ in named_rows])
    bars.invert_yaxis()
    bars.set_xlabel(f"payloads per rule (chains: {chains})")
    bars.legend(ncols=4, loc="lower left", bbox_to_anchor=(0, 1), frameon=False, fontsize=8)
    each = [*of(rows, BASE, chains).by_goal("rho").values()]
    spread.hist(each, bins=[i / 40 for i in range(12, 41)], color=COLOURS[0], edgecolor="white")
    spread.axvline(RHO_GATE, color=COLOURS[6], linestyle="--")
    spread.text(RHO_GATE, spread.get_ylim()[1] * 0.97, " gate", va="top", fontsize=8)
    spread.set(xlabel=f"ρ of {BASE}", ylabel="goals")
    spread.yaxis.get_major_locator().set_params(integer=True)
    return figure


EXPERIMENT = Experiment(
    "hard_ok_audit",
    "Why do rules pass or fail HARD-OK, and what backs their payloads?",
    report,
    needs=("main", "ablations"),
)
WITH_MODEL = EXPERIMENT._replace(report=with_model, needs=())
