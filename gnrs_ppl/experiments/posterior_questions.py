"""Is P(violated) worth more than one rule's verdicts, and how many questions find the best rule?

On every dev goal, with weights fitted to the other fifteen, the ``CHECKS`` most probable checks are run on
the goal's first held-out log. *Forecasts*: Brier score and calibration error of P(violated) against the
hidden labels, beside the single best rule's 0 and 1, and the base rate of the other goals. *Questions*: an
auditor who knows the hidden labels, or judges by a rule of the pool, answers with and without errors until
the best rule of the pool leads.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from gnrs_ppl.audit.types import ROLL_UP, Verdict
from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.benchmarks.gnrs_bench import benchmark_goal
from gnrs_ppl.calibration.objective import problem_of
from gnrs_ppl.calibration.problem import dev_data, dev_goals
from gnrs_ppl.calibration.validation import chosen_kappa, fitted_to_others
from gnrs_ppl.calibration.weights import Weights
from gnrs_ppl.candidates.build import pools_of
from gnrs_ppl.evaluate.audit_f1 import f1, first_world
from gnrs_ppl.experiments.parts import held
from gnrs_ppl.experiments.rows import Cell, Row, Rows
from gnrs_ppl.experiments.runner import Experiment, ExperimentRequest, Report, Run
from gnrs_ppl.experiments.tables import CellValue, Column, ResultTable, between, heads, specified
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


@cache
def fitted() -> dict[str, Weights]:
    """Weights of each dev goal, fitted to the others."""
    data = dev_data()
    kappa, _ = chosen_kappa(data)
    found = {}
    for goal, beta in zip(dev_goals(), fitted_to_others(problem_of(data), len(data), kappa), strict=True):
        total = float(beta.sum())
        found[goal] = Weights(tuple((beta / total).tolist()), "the other dev goals", 1 / total)
    return found


def run_goal(goal: str, weights: Weights) -> Goal:
    """The most probable checks of one goal on its first held-out log."""
    context = load_context(goal)
    held = _first(mass(compile_graph(context, pools_of(context).pools), weights, SHARE), CHECKS)
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


def measure(goal: str, cells: Sequence[Cell], request: ExperimentRequest) -> Iterator[Row]:
    """One row: what was said of each scored case and what was, and how the simulated auditors fared."""
    one = run_goal(goal, fitted()[goal])
    hit = (one.checked.codes == VIOLATED)[:, one.scored]
    was = one.labels[one.scored] == VIOLATED
    yield cells[0]._asdict() | {
        "family": benchmark_goal(goal).family,
        "cases": int(one.scored.sum()),
        "violated": float(was.mean()),
        "kept": one.kept,
        **reached(one),
        "said": (one.share @ hit).tolist(),
        "best_rule": hit[0].astype(float).tolist(),
        "was": was.astype(float).tolist(),
        "questions": [fared(one, *what) for what in SIMULATED],
    }


def wanted(request: ExperimentRequest) -> list[Cell]:
    """One row per goal."""
    return [Cell("posterior", None, goal, 0) for goal in request.goal_ids]


def report(run: Run) -> Report:
    """Forecasts against labels, and questions to the best rule."""
    rows = run.rows("posterior_questions")
    every = scored(rows)
    return Report(
        [means(every), each_goal(every), reliability(rows), questions(rows), curves(rows), reach(every)]
    )


# Forecasts


WAYS = ("posterior", "posterior or base rate", "best rule", "base rate")
SHRINKS = np.linspace(0, 1, 21)
"""Tried chances that no rule of the pool is right, so that only the base rate is left."""


def forecasts(row: Row, others: Sequence[Row]) -> dict[str, Floats]:
    """P(violated) of the scored cases by each way of saying it; what is fitted is fitted to the others, and
    left out where there are none.
    """
    p, found = np.array(row["said"]), {"best rule": np.array(row["best_rule"])}
    if others:
        base = float(np.mean([other["violated"] for other in others]))

        def shrunk(said: Floats, chance: float) -> Floats:
            return (1 - chance) * said + chance * base

        worth = [
            np.mean([brier(shrunk(np.array(other["said"]), chance), other) for other in others])
            for chance in SHRINKS
        ]
        best = float(SHRINKS[int(np.argmin(worth))])
        found |= {"posterior or base rate": shrunk(p, best), "base rate": np.full(len(p), base)}
    return {"posterior": p, **found}


def brier(p: Floats, row: Row) -> float:
    """Mean squared distance of P from what was."""
    return float(((p - row["was"]) ** 2).mean())


def calibration(p: Floats, row: Row) -> float:
    """Expected calibration error over ``BINS`` equal bins of P."""
    place = np.minimum((p * BINS).astype(int), BINS - 1)
    return float(sum(abs((p - row["was"])[place == b].sum()) for b in range(BINS)) / len(p))


MEASURES = {"Brier score": brier, "calibration error": calibration}


def scored(rows: Sequence[Row]) -> list[Row]:
    """Rows with both measures of each way, and how far the posterior's is below or above it."""
    found = []
    for row in rows:
        said = forecasts(row, [other for other in rows if other is not row])
        own = {(name, way): of(p, row) for name, of in MEASURES.items() for way, p in said.items()}
        less = {f"{name}, less {way}": own[name, "posterior"] - value for (name, way), value in own.items()}
        found.append(row | {f"{name}, {way}": value for (name, way), value in own.items()} | less)
    return found


def means(rows: Sequence[Row]) -> ResultTable:
    """Means over goals with their intervals, and differences of the posterior from every other way."""
    entries: list[tuple[CellValue, ...]] = []
    for name, way in itertools.product(MEASURES, WAYS):
        found = Rows([*rows]).estimate(f"{name}, {way}")
        change = Rows([*rows]).estimate(f"{name}, less {way}") if way != "posterior" else None
        better = sum(row[f"{name}, less {way}"] < 0 for row in rows) if change else None
        if found:
            ends = (found.mean, between(found.percentile), change and change.mean)
            entries.append((name, way, *ends, change and between(change.percentile), better))
    says = (
        f"{len(rows)} dev goals, first held-out log, labels as the records entitle one; weights of the other "
        f"goals; the {CHECKS} most probable checks. Less is better. Intervals resample goals. The difference "
        "is the posterior less the other: below zero the posterior is better. Posterior or base rate allows "
        "that no rule of the pool is right, with a chance fitted to the other goals."
    )
    columns = heads(
        "measure | P(violated) is | mean:4 | 95 % | difference:4 | 95 % of it | "
        "goals where the posterior is better:0"
    )
    return ResultTable("forecasts", "P(violated) against hidden labels", says, columns, entries)


def each_goal(rows: Sequence[Row]) -> ResultTable:
    """Brier scores goal by goal."""
    says = (
        "Brier score by each way; kept is the share of the mass that the checks hold; agrees is the share of "
        "cases in which the check that agrees most with the hidden norm does."
    )
    parts = [held("goal"), held("cases", "", 0), *(held(n, "", 2) for n in ("violated", "kept", "agrees"))]
    parts += [held(f"Brier score, {way}", way, 4) for way in WAYS]
    return specified("forecast_goals", "Goal by goal", says, rows, parts)


def reliability(rows: Sequence[Row]) -> ResultTable:
    """How often cases of a P were violated, over all goals."""
    p, was = (np.concatenate([row[name] for row in rows]) for name in ("said", "was"))
    edges = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
    entries = []
    for low, high in itertools.pairwise(edges):
        here = (p >= low) & ((p < high) | (high == 1.0))
        if here.any():
            means = float(p[here].mean()), float(was[here].mean())
            entries.append((f"{low:g} to {high:g}", int(here.sum()), *means))
    columns = heads("P(violated) | cases:0 | mean P:3 | were violated:3")
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
    return _greatest(agreement(goal, labels))


def _greatest(worth: Floats) -> NDArray[np.int64]:
    return np.flatnonzero(worth >= worth.max() - SAME)


def audit_f1(goal: Goal, labels: NDArray[np.int64]) -> Floats:
    """Audit F1 of each check against the labels, shape (n,)."""
    cases = np.flatnonzero(labels >= 0).tolist()
    truth: dict[str, Verdict | None] = {str(n): ROLL_UP[labels[n]] for n in cases}
    said = ({str(n): ROLL_UP[codes[n]] for n in cases if codes[n] >= 0} for codes in goal.checked.codes)
    return np.array([f1([(verdicts, truth)]).macro for verdicts in said])


def greatest_f1(goal: Goal, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """The checks of greatest audit F1 against the labels; those that tie are all best."""
    return _greatest(audit_f1(goal, labels))


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


SIMULATED = tuple(itertools.product(AUDITORS, ERROR_RATES, ORDERS))
HEADS = (Column("the auditor judges by"), Column("errs"), Column("asks first"))


def fared(goal: Goal, auditor: Auditor, error: float, order: str) -> Row:
    """How an auditor's runs on one goal went: the median of the questions needed (None: too many), and the
    share of runs in which a best rule leads after each question.
    """
    runs = [asked(goal, auditor, order, error, seed) for seed in range(REPEATS)]
    median = float(np.median([needed(run) for run in runs]))
    return {"needed": median if np.isfinite(median) else None, "leads": np.mean(runs, axis=0).tolist()}


def questions(rows: Sequence[Row]) -> ResultTable:
    """Questions needed by each order."""
    entries: list[tuple[CellValue, ...]] = []
    for number, (auditor, error, order) in enumerate(SIMULATED):
        each = [row["questions"][number]["needed"] for row in rows]
        counts = [float("inf") if count is None else count for count in each]
        told = (_count(float(np.median(counts))), _count(float(np.quantile(counts, 0.75, method="higher"))))
        entries.append((auditor.name, f"{error:.0%}", order, *told, sum(count is not None for count in each)))
    says = (
        f"Questions about cases until a best rule of the pool leads and stays in the lead up to question "
        f"{QUESTIONS}: median and upper quartile over {len(rows)} dev goals of the median over {REPEATS} "
        f"runs. The posterior takes answers to err at least {BELIEVED:.0%} of the time."
    )
    columns = (*HEADS, Column("median"), Column("upper quartile"), Column("goals that get there", 0))
    return ResultTable("questions", "Questions to the best rule", says, columns, entries)


def _count(number: float) -> str:
    return f"more than {QUESTIONS}" if not np.isfinite(number) else f"{number:g}"


def curves(rows: Sequence[Row]) -> ResultTable:
    """Share of runs in which a best rule leads after each question."""
    entries: list[tuple[CellValue, ...]] = []
    for number, (auditor, error, order) in enumerate(SIMULATED):
        curve = np.mean([row["questions"][number]["leads"] for row in rows], axis=0)
        entries.append((auditor.name, f"{error:.0%}", order, *(float(curve[step]) for step in STEPS)))
    says = "Share of runs in which a best rule leads after so many questions, mean over goals."
    columns = (*HEADS, *(Column(str(step), 2) for step in STEPS))
    return ResultTable("question_curve", "The curve", says, columns, entries)


def reached(goal: Goal) -> Row:
    """What the rules that agree with the labels in most cases are worth, and those of greatest audit F1."""
    f1s, agreed = audit_f1(goal, goal.labels), agreement(goal, goal.labels)
    most, best = agree_most(goal, goal.labels), greatest_f1(goal, goal.labels)
    return {
        "agrees": float(agreed.max()),
        "greatest_f1_agrees": float(agreed[best].max()),
        "greatest_f1": float(f1s.max()),
        "agrees_most_f1": float(f1s[most].max()),
        "both": "yes" if {*most.tolist()} & {*best.tolist()} else "no",
        "rank": int(best.min()) + 1,
    }


def reach(rows: Sequence[Row]) -> ResultTable:
    """Per goal whether the rule of greatest audit F1 is one that agrees most: truthful answers lead to
    those.
    """
    says = (
        "Answers about cases lead to a rule that agrees with the auditor in most cases. Agrees: the share of "
        f"cases, of the {CHECKS} most probable checks at most. Rank: the place of the first rule of greatest "
        "audit F1 before anything is asked."
    )
    parts = [
        held("goal"),
        held("agrees", "agrees at most", 2),
        held("greatest_f1_agrees", "agrees, of greatest F1", 2),
        held("greatest_f1", "greatest F1", 2),
        held("agrees_most_f1", "F1 of what agrees most", 2),
        held("both", "one rule is both"),
        held("rank", "", 0),
    ]
    return specified("reach", "What answers can lead to", says, rows, parts)


EXPERIMENT = Experiment(
    "posterior_questions",
    "Is P(violated) worth more than one rule's verdicts, and how many questions find the best rule?",
    report,
    wanted,
    measure,
    split="dev",
)
