"""Is P(violated) worth more than one rule's verdicts, and how many questions find the best rule?
``python -m gnrs_ppl.experiments.posterior_questions [--json]``.

On every dev goal, with weights fitted to the other fifteen, the ``CHECKS`` most probable checks are run on
the goal's first held-out log. *Forecasts*: Brier score and calibration error of P(violated) against the
hidden labels, beside the single best rule's 0 and 1, and the base rate of the other goals. *Questions*: an
auditor who knows the hidden labels, or judges by a rule of the pool, answers with and without errors until
the best rule of the pool leads.
"""

from __future__ import annotations

import itertools
import json
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from jaxtyping import Float
from numpy.typing import NDArray

from gnrs_ppl.audit.types import ROLL_UP, Verdict
from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.benchmarks.gnrs_bench import benchmark_goal
from gnrs_ppl.calibration.objective import minimise, problem_of
from gnrs_ppl.calibration.problem import dev_data, dev_goals
from gnrs_ppl.calibration.validation import chosen_kappa
from gnrs_ppl.calibration.weights import Weights
from gnrs_ppl.candidates.build import pools_of
from gnrs_ppl.evaluate.audit_f1 import f1, first_world
from gnrs_ppl.experiments.command import show_tables, tables_json
from gnrs_ppl.experiments.statistics import estimate
from gnrs_ppl.experiments.tables import CellValue, Column, ResultTable, between
from gnrs_ppl.models.graph import compile_graph
from gnrs_ppl.posterior.answers import AGREES, ANSWERS, likelihoods
from gnrs_ppl.posterior.ask import case_bits
from gnrs_ppl.posterior.mass import Mass, mass
from gnrs_ppl.posterior.uncertain import checked
from gnrs_ppl.posterior.verdicts import VIOLATED, Checked

Floats = NDArray[np.float64]

CHECKS = 60
"""Checks that are run on each goal."""
SHARE = 0.9
QUESTIONS = 20
"""Most that are asked."""
BINS = 10
ERROR_RATES = (0.0, 0.1)
"""How often the simulated auditor errs."""
BELIEVED = 0.05
"""The least error rate the posterior takes answers to have."""
REPEATS = 20
"""Runs where chance has a part."""
SAME = 1e-12
STEPS = (0, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20)
"""Questions after which the curve is printed."""
ORDERS = ("most telling", "most contested", "random")


class Goal(NamedTuple):
    """A goal with its checks run on its first held-out log.

    Attributes
    ----------
    goal : str
    share : (n,) float64
        p of each check given those that were run, the best first.
    kept : float
        Share of the posterior's mass that these hold.
    checked : Checked
    labels : (cases,) int
        Index into ``ROLL_UP`` of what the records entitle one to say; -1 where it is not scored.
    """

    goal: str
    share: Float[Floats, " n"]
    kept: float
    checked: Checked
    labels: NDArray[np.int64]

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Cases with a label."""
        return self.labels >= 0


def run_goals(report: Callable[[str], None]) -> list[Goal]:
    """Fit sixteen times, each goal left out once, and run the checks."""
    data = dev_data()
    kappa, _ = chosen_kappa(data)
    problem, found = problem_of(data), []
    for left_out, goal in enumerate(dev_goals()):
        share = np.ones(len(data))
        share[left_out] = 0.0
        beta = minimise(problem, share, kappa).beta
        report(goal)
        found.append(run_goal(goal, beta))
    return found


def run_goal(goal: str, beta: Float[Floats, " F"]) -> Goal:
    """The most probable checks of one goal on its first held-out log."""
    context = load_context(goal)
    graph = compile_graph(context, pools_of(context).pools)
    total = float(beta.sum())
    weights = Weights(tuple((beta / total).tolist()), "the other dev goals", 1 / total)
    held = _first(mass(graph, weights, SHARE), CHECKS)
    world = first_world(goal)
    found = checked(held, world.log.records, world.log)
    labels = [world.entitled.get(case) for case in found.cases]
    return Goal(
        goal,
        held.share,
        float(held.probability.sum()),
        found,
        np.array([-1 if label is None else ROLL_UP.index(label) for label in labels]),
    )


def _first(held: Mass, count: int) -> Mass:
    kept = held.probability[:count]
    return held._replace(
        positions=held.positions[:count],
        probability=kept,
        key=held.key[:count],
        cut=held.cut + float(held.probability.sum() - kept.sum()),
    )


# Forecasts


WAYS = ("posterior", "posterior or base rate", "best rule", "base rate")
SHRINKS = np.linspace(0, 1, 21)
"""Tried chances that no rule of the pool is right, so that only the base rate is left."""


def said(goal: Goal) -> tuple[NDArray[np.bool_], Floats, NDArray[np.bool_]]:
    """Of the scored cases: what each check says, P(violated), and what was."""
    hit = (goal.checked.codes == VIOLATED)[:, goal.scored]
    return hit, np.asarray(goal.share @ hit), goal.labels[goal.scored] == VIOLATED


def forecasts(goal: Goal, others: Sequence[Goal]) -> dict[str, Floats]:
    """P(violated) of the scored cases by each way of saying it; what is fitted is fitted to the others."""
    base = float(np.mean([said(other)[2].mean() for other in others]))
    worth = [
        np.mean([brier((1 - shrink) * p + shrink * base, was) for _, p, was in map(said, others)])
        for shrink in SHRINKS
    ]
    shrink = float(SHRINKS[int(np.argmin(worth))])
    hit, p, _ = said(goal)
    each = (p, (1 - shrink) * p + shrink * base, hit[0].astype(np.float64), np.full(len(p), base))
    return dict(zip(WAYS, each, strict=True))


def brier(p: Floats, hit: NDArray[np.bool_]) -> float:
    """Mean squared distance of P from what was."""
    return float(((p - hit) ** 2).mean())


def calibration(p: Floats, hit: NDArray[np.bool_]) -> float:
    """Expected calibration error over ``BINS`` equal bins of P."""
    place = np.minimum((p * BINS).astype(int), BINS - 1)
    off = [abs((p - hit)[place == b].sum()) for b in range(BINS)]
    return float(sum(off) / len(p))


def scored_forecasts(goals: Sequence[Goal]) -> list[dict[str, Any]]:
    """Both measures of each way, per goal."""
    rows = []
    for n, goal in enumerate(goals):
        each = forecasts(goal, [other for m, other in enumerate(goals) if m != n])
        was = said(goal)[2]
        rows.append(
            {
                "goal": goal.goal,
                "cases": int(goal.scored.sum()),
                "violated": float(was.mean()),
                "kept": goal.kept,
                "agrees": float(agreement(goal, goal.labels).max()),
                **{f"brier {name}": brier(p, was) for name, p in each.items()},
                **{f"calibration {name}": calibration(p, was) for name, p in each.items()},
            }
        )
    return rows


def forecast_tables(goals: Sequence[Goal], rows: Sequence[Mapping[str, Any]]) -> list[ResultTable]:
    """Means with intervals over goals, differences, the goals one by one, and the reliability of P."""
    families = [benchmark_goal(row["goal"]).family for row in rows]
    entries = []
    for measure in ("brier", "calibration"):
        own = np.array([row[f"{measure} posterior"] for row in rows])
        for name in WAYS:
            values = np.array([row[f"{measure} {name}"] for row in rows])
            found, change = estimate(values.tolist(), families), estimate((own - values).tolist(), families)
            entries.append(
                (
                    "Brier score" if measure == "brier" else "calibration error",
                    name,
                    found.mean,
                    between(found.percentile),
                    None if name == "posterior" else change.mean,
                    None if name == "posterior" else between(change.percentile),
                    None if name == "posterior" else int((own < values).sum()),
                )
            )
    says = (
        f"{len(rows)} dev goals, first held-out log, labels as the records entitle one; weights of the other "
        f"goals; the {CHECKS} most probable checks. Less is better. Intervals resample goals. The difference "
        "is the posterior less the other: below zero the posterior is better. Posterior or base rate allows "
        "that no rule of the pool is right, with a chance fitted to the other goals."
    )
    columns = (
        Column("measure"),
        Column("P(violated) is"),
        Column("mean", 4),
        Column("95 %"),
        Column("difference", 4),
        Column("95 % of it"),
        Column("goals where the posterior is better", 0),
    )
    each = ResultTable(
        "forecast_goals",
        "Goal by goal",
        "Brier score by each way; kept is the share of the mass that the checks hold; agrees is the share of "
        "cases in which the check that agrees most with the hidden norm does.",
        (
            Column("goal"),
            Column("cases", 0),
            Column("violated", 2),
            Column("kept", 2),
            Column("agrees", 2),
            *(Column(name, 4) for name in WAYS),
        ),
        [
            (
                row["goal"],
                row["cases"],
                row["violated"],
                row["kept"],
                row["agrees"],
                *(row[f"brier {n}"] for n in WAYS),
            )
            for row in rows
        ],
    )
    return [
        ResultTable("forecasts", "P(violated) against hidden labels", says, columns, entries),
        each,
        reliability(goals),
    ]


def reliability(goals: Sequence[Goal]) -> ResultTable:
    """How often cases of a P were violated, over all goals."""
    p, hit = (np.concatenate(parts) for parts in zip(*(said(goal)[1:] for goal in goals), strict=True))
    edges = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
    entries = []
    for low, high in itertools.pairwise(edges):
        here = (p >= low) & ((p < high) | (high == 1.0))
        if here.any():
            entries.append(
                (f"{low:g} to {high:g}", int(here.sum()), float(p[here].mean()), float(hit[here].mean()))
            )
    columns = (Column("P(violated)"), Column("cases", 0), Column("mean P", 3), Column("were violated", 3))
    return ResultTable("reliability", "Said and seen", "All scored cases of all goals.", columns, entries)


# Questions


class Auditor(NamedTuple):
    """Whom a simulated auditor judges by, and which checks count as found.

    Attributes
    ----------
    name : str
    labels : callable
        ``labels(goal, generator)``: index into ``ROLL_UP`` of each case, -1 where it is not asked about.
    best : callable
        ``best(goal, labels)``: numbers of the checks.
    """

    name: str
    labels: Callable[[Goal, np.random.Generator], NDArray[np.int64]]
    best: Callable[[Goal, NDArray[np.int64]], NDArray[np.int64]]


def agreement(goal: Goal, labels: NDArray[np.int64]) -> Floats:
    """Share of the labelled cases in which some answer agrees with both label and check, shape (n,)."""
    pairs = [[bool({*AGREES[a]} & {*AGREES[b]}) for b in ROLL_UP] for a in ROLL_UP]
    table, cases = np.array([*pairs, [False] * len(ROLL_UP)]), np.flatnonzero(labels >= 0)
    return np.asarray(table[goal.checked.codes[:, cases], labels[cases]].mean(1))


def agree_most(goal: Goal, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """The checks that agree with the labels in most cases; those that tie are all best."""
    worth = agreement(goal, labels)
    return np.flatnonzero(worth >= worth.max() - SAME)


def audit_f1(goal: Goal, labels: NDArray[np.int64]) -> Floats:
    """Audit F1 of each check against the labels, shape (n,)."""
    cases = np.flatnonzero(labels >= 0).tolist()
    truth: dict[str, Verdict | None] = {str(n): ROLL_UP[labels[n]] for n in cases}
    return np.array(
        [
            f1([({str(n): ROLL_UP[codes[n]] for n in cases if codes[n] >= 0}, truth)]).macro
            for codes in goal.checked.codes
        ]
    )


def greatest_f1(goal: Goal, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """The checks of greatest audit F1 against the labels; those that tie are all best."""
    worth = audit_f1(goal, labels)
    return np.flatnonzero(worth >= worth.max() - SAME)


def rule_of_pool(goal: Goal, generator: np.random.Generator) -> NDArray[np.int64]:
    """The verdicts of a check drawn from the posterior."""
    drawn = goal.checked.codes[generator.choice(len(goal.share), p=goal.share)]
    return np.asarray(drawn, np.int64)


AUDITORS = (
    Auditor("the hidden norm; found is what agrees most", lambda goal, _: goal.labels, agree_most),
    Auditor("the hidden norm; found is the greatest audit F1", lambda goal, _: goal.labels, greatest_f1),
    Auditor("a rule of the pool, drawn from p", rule_of_pool, agree_most),
)


def asked(goal: Goal, auditor: Auditor, order: str, error: float, seed: int) -> list[bool]:
    """Whether a best rule of the pool leads after 0, 1, 2, ... questions."""
    generator = np.random.default_rng([seed, zlib.crc32(goal.goal.encode())])
    labels = auditor.labels(goal, generator)
    believed, best = max(error, BELIEVED), set(auditor.best(goal, labels).tolist())
    table, codes = likelihoods(believed), goal.checked.codes
    weighed, free = goal.share.copy(), labels >= 0
    leads = [int(weighed.argmax()) in best]
    for _ in range(QUESTIONS):
        if not free.any():
            leads.append(leads[-1])
            continue
        if order == "random":
            case = int(generator.choice(np.flatnonzero(free)))
        else:
            if order == "most telling":
                worth = case_bits(weighed, goal.checked, believed)[0]
            else:
                worth = -np.abs(weighed @ (codes == VIOLATED) - 0.5)
            case = int(np.where(free, worth, -np.inf).argmax())
        free[case] = False
        weighed = weighed * table[codes[:, case], answer(ROLL_UP[labels[case]], error, generator)]
        weighed /= weighed.sum()
        leads.append(int(weighed.argmax()) in best)
    return leads


def answer(truth: Verdict, error: float, generator: np.random.Generator) -> int:
    """What an auditor says of a case with this label: an answer that agrees, or with the error's chance one
    that does not.
    """
    agrees = [n for n, said in enumerate(ANSWERS) if said in AGREES[truth]]
    others = [n for n in range(len(ANSWERS)) if n not in agrees]
    return int(generator.choice(others if generator.random() < error else agrees))


def needed(leads: Sequence[bool]) -> float:
    """The number of questions from which on a best rule leads to the end; infinite where it never does."""
    last = max((n for n, lead in enumerate(leads) if not lead), default=-1)
    return float(last + 1) if last + 1 < len(leads) else float("inf")


def question_tables(goals: Sequence[Goal]) -> list[ResultTable]:
    """Questions needed by each order, and the share of goals where a best rule leads after each question."""
    counts: list[tuple[CellValue, ...]] = []
    curves: list[tuple[CellValue, ...]] = []
    for auditor, error, order in itertools.product(AUDITORS, ERROR_RATES, ORDERS):
        runs = [[asked(goal, auditor, order, error, seed) for seed in range(REPEATS)] for goal in goals]
        each = [float(np.median([needed(run) for run in own])) for own in runs]
        curve = np.mean([np.mean(own, axis=0) for own in runs], axis=0)
        head = (auditor.name, f"{error:.0%}", order)
        quartile = float(np.quantile(each, 0.75, method="higher"))
        reached = int(np.isfinite(each).sum())
        counts.append((*head, _count(float(np.median(each))), _count(quartile), reached))
        curves.append((*head, *(float(curve[step]) for step in STEPS)))
    says = (
        f"Questions about cases until a best rule of the pool leads and stays in the lead up to question "
        f"{QUESTIONS}: median and upper quartile over {len(goals)} dev goals of the median over {REPEATS} "
        f"runs. The posterior takes answers to err at least {BELIEVED:.0%} of the time."
    )
    heads = (Column("the auditor judges by"), Column("errs"), Column("asks first"))
    columns = (*heads, Column("median"), Column("upper quartile"), Column("goals that get there", 0))
    curve_says = "Share of runs in which a best rule leads after so many questions, mean over goals."
    return [
        ResultTable("questions", "Questions to the best rule", says, columns, counts),
        ResultTable(
            "question_curve",
            "The curve",
            curve_says,
            (*heads, *(Column(str(step), 2) for step in STEPS)),
            curves,
        ),
    ]


def reach_table(goals: Sequence[Goal]) -> ResultTable:
    """Per goal whether the rule of greatest audit F1 is one that agrees most: truthful answers lead to
    those.
    """
    entries = []
    for goal in goals:
        f1s, agreed = audit_f1(goal, goal.labels), agreement(goal, goal.labels)
        most, best = agree_most(goal, goal.labels), greatest_f1(goal, goal.labels)
        entries.append(
            (
                goal.goal,
                float(agreed.max()),
                float(agreed[best].max()),
                float(f1s.max()),
                float(f1s[most].max()),
                "yes" if {*most.tolist()} & {*best.tolist()} else "no",
                int(best.min()) + 1,
            )
        )
    says = (
        "Answers about cases lead to a rule that agrees with the auditor in most cases. Agrees: the share of "
        f"cases, of the {CHECKS} most probable checks at most. Rank: the place of the first rule of greatest "
        "audit F1 before anything is asked."
    )
    columns = (
        Column("goal"),
        Column("agrees at most", 2),
        Column("agrees, of greatest F1", 2),
        Column("greatest F1", 2),
        Column("F1 of what agrees most", 2),
        Column("one rule is both"),
        Column("rank", 0),
    )
    return ResultTable("reach", "What answers can lead to", says, columns, entries)


def _count(number: float) -> str:
    return f"more than {QUESTIONS}" if not np.isfinite(number) else f"{number:g}"


def main(as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False) -> None:
    """Forecasts and questions on the dev goals of GNRS-Bench."""
    goals = run_goals(lambda goal: print(goal, file=sys.stderr, flush=True))
    rows = scored_forecasts(goals)
    tables = [*forecast_tables(goals, rows), *question_tables(goals), reach_table(goals)]
    if as_json:
        typer.echo(json.dumps(tables_json(tables), indent=2))
    else:
        show_tables(tables)


if __name__ == "__main__":
    typer.run(main)
