"""What failed and why, counted from the rows, beside the paper's kinds of failure (Table failure-modes)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gnrs_ppl.experiments.examples import issue
from gnrs_ppl.experiments.judging import of_main
from gnrs_ppl.experiments.main import BEST, CEILING, FLOORS
from gnrs_ppl.experiments.methods import BASE, METHODS, OURS
from gnrs_ppl.experiments.parts import METHOD, RUNS
from gnrs_ppl.experiments.published import published
from gnrs_ppl.experiments.rows import Line, Row, Rows, lines, of
from gnrs_ppl.experiments.runner import Experiment, ExperimentRequest, Report, Run
from gnrs_ppl.experiments.slots import OWN, SAME, method
from gnrs_ppl.experiments.tables import CellValue, ColumnGroup, ResultTable, heads, part, specified

Test = Callable[[Row, Mapping[str, float]], bool]
FAILURES: dict[str, Test] = {
    "no rule": lambda row, floor: bool(row["failed"]),
    "cannot be rendered or checked": lambda row, floor: not row["failed"] and not row["checkable"],
    "fails HARD-OK": lambda row, floor: not row["hard_ok"],
    "breaks h": lambda row, floor: not row["feasible"],
    "refused on a held-out log": lambda row, floor: bool(row.get("refused")),
    "never applies": lambda row, floor: not row["activated"],
    "below the best floor": lambda row, floor: row["audit_f1"] < floor[row["goal"]],
    "finds no violation right": lambda row, floor: row["audit_violated"] == 0,
    "another structure scores higher": lambda row, floor: (row.get("epsilon") or 0) > 0,
}
"""Kinds of failure that rows show; a run may show several."""


GOOD, POOR = 80.0, 60.0
"""Marks in percent: 4 of 5, and 3 of 5."""
FLUENT, WHOLE, SAFE = (
    "Surface-only fluency",
    "Syntactic structure without grounding",
    "Conservative under-generation",
)
CORRUPT, RENDERED = "Semantic-core corruption", "Renderer-only transfer"
JUDGED: dict[str, Test] = {
    "no text": lambda row, floor: not row["text"].strip(),
    "a slot could not be read": lambda row, floor: bool(row.get("empty_slots")),
    "fails HARD-OK": lambda row, floor: not row["hard_ok"],
    "refused on a held-out log": lambda row, floor: bool(row.get("refused")),
    "finds no violation right": lambda row, floor: row["audit_violated"] == 0,
    "polish refused": lambda row, floor: row.get("polish") == "refused",
    "no marks": lambda row, floor: row["avg"] is None,
    FLUENT: lambda row, floor: (row["fluency"] or 0) >= GOOD and not row["hard_ok"],
    WHOLE: lambda row, floor: bool(row.get("structure")) and not row["hard_ok"],
    SAFE: lambda row, floor: row["hard_ok"] and row["avg"] is not None and row["avg"] <= POOR,
}
"""The same of rows with marks; the last three are kinds of the paper's, told by rules of ours."""


def report(run: Run) -> Report:
    """Counts by method, the goals where the base does worst, and the paper's kinds."""
    main, request = run.rows("main"), run.request
    rows = [row for row in main + run.rows("ablations") if row["method"] in METHODS]
    floor = {
        goal: max(of(main, name).by_goal("audit_f1")[goal] for name in FLOORS)
        for goal in of(main, FLOORS[0]).by_goal("audit_f1")
    }
    says = (
        "Runs. The best floor is the greatest audit F1 of what needs no rule, on the same goal. The "
        "paper counts no failures."
    )
    counted = counts(lines(rows, METHODS, request.chains), FAILURES, says, floor)
    return Report([counted, worst(main, floor, request), kinds(rows, run.rows("slots"), request)])


def with_model(run: Run) -> Report:
    """Counts by method, and the paper's kinds as judged rows show them."""
    rows = of_main(run)
    says = (
        f"Runs. {FLUENT}: fluency of 4 and more, HARD-OK failed. {WHOLE}: five slots, HARD-OK failed. "
        f"{SAFE}: HARD-OK passed, Avg of 3 and less. The rules are ours; a run may show several."
    )
    found = lines(rows, dict.fromkeys(row["method"] for row in rows), run.request.chains)
    return Report([counts(found, JUDGED, says), judged_kinds(found, run)])


def counts(
    found: Sequence[Line], tests: Mapping[str, Test], says: str, floor: Mapping[str, float] | None = None
) -> ResultTable:
    """Runs of each method that show each failure."""

    def shown(name: str, test: Test) -> ColumnGroup[Line]:
        return part(name, 0, lambda line: sum(bool(test(row, floor or {})) for row in line.own.rows))

    parts = [METHOD, RUNS, *(shown(name, test) for name, test in tests.items())]
    return specified("failures", "What failed", says, found, parts)


def judged_kinds(found: Sequence[Line], run: Run) -> ResultTable:
    """The paper's kinds, each with the methods that show it most, or what stands for it."""

    def most(name: str) -> str:
        shares = {
            line.method: 100 * sum(bool(JUDGED[name](row, {})) for row in line.own.rows) / len(line.own.rows)
            for line in found
        }
        first = sorted(shares, key=lambda method: -shares[method])[:3]
        return "; ".join(f"{method} {shares[method]:.0f} % of runs" for method in first)

    degraded = run.judged("slots")
    own = of(degraded, OWN)
    changes = {
        slot: own.change(of(degraded, method(SAME, slot)), "avg")
        for slot in ("norm", "scope", "trigger", "evidence")
    }
    losses = [f"{slot} {change.mean:+.2f}" for slot, change in changes.items() if change]
    cards = lines(run.judged("realcharter"), ("No search", OURS), run.request.chains)
    marks = [
        f"{line.method}: faithfulness {line.own.mean('faithfulness') or 0:.1f}, HARD-OK "
        f"{100 * (line.own.mean('hard_ok') or 0):.1f} %"
        for line in cards
    ]
    told = {name: most(name) for name in (FLUENT, WHOLE, SAFE)} | {
        CORRUPT: f"Change of Avg, points: {', '.join(losses).replace('-', '−') or 'slots were not judged'}.",
        RENDERED: f"{'; '.join(marks) or 'cards were not judged'}.",
    }
    return as_kinds("Kinds of failure", "From judged rows, by rules of ours; percent.", told)


def worst(main: Sequence[Row], floor: Mapping[str, float], request: ExperimentRequest) -> ResultTable:
    """The base method's goals, furthest below the best of its pools first."""
    chains = max(request.chains)
    own, best = of(main, BASE, chains), of(main, BEST).by_goal("audit_f1")
    f1s, expressible = own.by_goal("audit_f1"), of(main, CEILING).by_goal("expressible")
    first = {row["goal"]: row for row in reversed(own.rows)}
    entries: list[tuple[CellValue, ...]] = []
    for goal in sorted(f1s, key=lambda g: f1s[g] - best[g]):
        row = first[goal]
        if row["failed"] or not row["checkable"]:
            why = issue(row)
        elif not row["activated"]:
            why = "the norm never applies: another trigger or scope than the labels'"
        elif best[goal] - f1s[goal] > 0.1:
            why = "the pools hold a better rule that scores lower"
        elif best[goal] < max(0.3, floor[goal]) and not expressible[goal]:
            why = (
                "no rule of the best-scoring pairs does well: the norm behind the labels says what five "
                "slots cannot"
            )
        elif best[goal] < max(0.3, floor[goal]):
            why = "no rule of the best-scoring pairs does well: the pools lack it, or it scores low"
        else:
            why = "near the best of its pools"
        entries.append(
            (goal, row["family"], f1s[goal], best[goal], floor[goal], row["activated"], row["hard_ok"], why)
        )
    columns = heads(
        f"goal | family | audit F1:3 | {BEST}:3 | best floor:3 | applies:2 | HARD-OK | "
        "what structure and execution show"
    )
    says = (
        f"{BASE} with {chains} chains, means over seeds; furthest below the best of the pools first. The "
        "paper has no such table."
    )
    return ResultTable("worst_goals", "Where the base does worst", says, columns, entries)


def kinds(rows: Sequence[Row], degraded: Sequence[Row], request: ExperimentRequest) -> ResultTable:
    """The paper's five kinds, and what a run without a model shows of each."""
    chains = max(request.chains)
    base, free, first = (
        of(rows, name, chains if METHODS[name].runs_chains else None)
        for name in (BASE, "No hard penalty", "No search")
    )
    f1 = {
        name: of(degraded, name).mean("audit_f1") or 0.0
        for name in [OWN, *(method(SAME, s) for s in ("norm", "scope", "trigger", "evidence"))]
    }
    loss = ", ".join(
        f"{name.split(':')[0]} {value - f1[OWN]:+.3f}" for name, value in f1.items() if name != OWN
    ).replace("-", "−")

    def percent(measure: str, some: Rows = base) -> str:
        value = some.mean(measure)
        return "–" if value is None else f"{100 * value:.1f} %"

    told = {
        FLUENT: "Not to be seen without a model: every text here is the template's.",
        WHOLE: f"Without the penalty {percent('checkable', free)} of rules can be checked and "
        f"{percent('feasible', free)} pass h; with it {percent('checkable')} and {percent('feasible')}.",
        SAFE: f"{BASE} passes HARD-OK in {percent('hard_ok')} of runs with audit F1 "
        f"{base.mean('audit_f1') or 0:.3f}: passing the gate says little about the rule.",
        CORRUPT: f"Change of audit F1 when a slot's pool is replaced: {loss}.",
        RENDERED: f"On these goals No search passes HARD-OK in {percent('hard_ok', first)} of runs, audit F1 "
        f"{first.mean('audit_f1') or 0:.3f}; for cards see the experiment realcharter.",
    }
    says = (
        "The paper's kinds with what a run without a model can show of them; fluency cannot be seen "
        "without one."
    )
    return as_kinds("The paper's kinds of failure", says, told)


def as_kinds(title: str, says: str, told: Mapping[str, str]) -> ResultTable:
    """What is told of each of the paper's kinds beside the paper's words, which are ours."""
    words = [f"{what} (our words)" for what in ("symptom", "results named", "conclusion")]
    rows = published("failure-modes-app")
    printed = [(row["failure mode"], *(row[word] for word in words)) for row in rows]
    columns = heads("failure mode | seen here", " | ".join(words))
    return ResultTable("kinds", title, says, columns, [(n, told[n], *cited) for n, *cited in printed])


EXPERIMENT = Experiment(
    "failure_modes", "What failed, how often, and why?", report, needs=("main", "ablations", "slots")
)
WITH_MODEL = Experiment("failure_modes", EXPERIMENT.asks, with_model)
