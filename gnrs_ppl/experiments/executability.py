"""People say which rules could be run: 48 tasks, two methods, and agreement with HARD-OK (paper, Human
executability audit).
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from typing import Any

from gnrs_ppl.experiments.methods import OURS
from gnrs_ppl.experiments.packs import Answers, PackItem, Question, Survey, clause, mark_of
from gnrs_ppl.experiments.published import printed_numbers
from gnrs_ppl.experiments.rows import Cell, Row, cell_of
from gnrs_ppl.experiments.statistics import kappa
from gnrs_ppl.experiments.tables import CellValue, ResultTable, heads

NAME, AUDIT = "executability", "executability audit"
METHODS = ("No LLM candidates", OURS)
TASKS = 48
SIDES = ("A", "B")
YES, NO = "yes", "no"
QUESTIONS = (
    *(Question(f"{side} executable", (YES, NO)) for side in SIDES),
    Question("preferred", (*SIDES, "equal")),
)


def items(by_method: Mapping[str, Row], card: str, generator: random.Random) -> list[PackItem]:
    """One item; which rule is A is drawn."""
    pair = dict(zip(SIDES, generator.sample([*by_method.values()], 2), strict=True))
    shown = {"task card": card} | {f"rule {side}": clause(row) for side, row in pair.items()}
    return [PackItem(shown, {side: mark_of(row) for side, row in pair.items()})]


def told(key: Mapping[str, Any]) -> str:
    """Tasks of a pack."""
    return f"the pack holds {len(key)} tasks" + (f" of {TASKS} asked for" if len(key) < TASKS else "")


def tables(people: dict[str, Answers], key: dict[str, Any], rows: dict[Cell, Row]) -> list[ResultTable]:
    """Rates by method, and agreement with HARD-OK."""
    return [rates(people, key, rows), agreement(people, key, rows)]


def verdicts(people: dict[str, Answers], key: dict[str, Any], method: str) -> dict[str, list[bool]]:
    """Item -> what each person said of a method's rule there."""
    sides = {
        name: next(side for side in SIDES if pair[side]["method"] == method) for name, pair in key.items()
    }
    return {
        name: [answers[name][f"{side} executable"] == YES for answers in people.values()]
        for name, side in sides.items()
    }


def preferred(people: dict[str, Answers], key: dict[str, Any]) -> list[str | None]:
    """For each item the method that more people prefer; None where they are split."""
    found: list[str | None] = []
    for name, pair in key.items():
        votes = [answers[name]["preferred"] for answers in people.values()]
        gap = votes.count("A") - votes.count("B")
        found.append(pair["A" if gap > 0 else "B"]["method"] if gap else None)
    return found


def most(votes: Sequence[bool]) -> bool:
    """Whether more than half say yes."""
    return 2 * sum(votes) > len(votes)


def _gate(key: dict[str, Any], rows: dict[Cell, Row], method: str) -> list[bool]:
    marks = [pair[side] for pair in key.values() for side in SIDES if pair[side]["method"] == method]
    return [bool(rows[cell_of(mark)]["hard_ok"]) for mark in marks]


def _same(first: Sequence[bool], second: Sequence[bool]) -> float:
    """Share of places where both are the same."""
    return sum(a == b for a, b in zip(first, second, strict=True)) / len(first)


def _percent(hits: Sequence[bool]) -> float:
    return 100 * sum(hits) / len(hits)


def rates(people: dict[str, Answers], key: dict[str, Any], rows: dict[Cell, Row]) -> ResultTable:
    """What people say of each method."""
    paper = printed_numbers(start=AUDIT)
    better = preferred(people, key)
    entries: list[tuple[CellValue, ...]] = []
    for method in METHODS:
        votes = [*verdicts(people, key, method).values()]
        own = (
            _percent([all(v) for v in votes]),
            _percent([most(v) for v in votes]),
            _percent([m == method for m in better]),
        )
        cited = [paper.get(f"{AUDIT}: {what} {method}") for what in ("strict rate of", "preference for")]
        entries.append((method, len(votes), *own, _percent(_gate(key, rows, method)), *cited))
    says = (
        f"Percent of tasks; {len(people)} people. Strict: everyone says it can be run. Preferred: by more "
        "people than the other, ties for "
        "neither. The paper does not say how it puts its annotators together, nor which questions it asked."
    )
    columns = heads(
        "method | tasks:0 | strict:1 | by most:1 | preferred:1 | HARD-OK:1", "strict:1 | preferred:1"
    )
    return ResultTable(NAME, "Executability, people's view", says, columns, entries)


def agreement(people: dict[str, Answers], key: dict[str, Any], rows: dict[Cell, Row]) -> ResultTable:
    """HARD-OK against people, and people among each other, over both methods' rules."""
    printed = printed_numbers(start=AUDIT)
    votes = [vote for method in METHODS for vote in verdicts(people, key, method).values()]
    gate = [passed for method in METHODS for passed in _gate(key, rows, method)]
    cited = printed.get(f"{AUDIT}: agreement of HARD-OK per task")
    everyone, majority = [all(vote) for vote in votes], [most(vote) for vote in votes]
    entries: list[tuple[CellValue, ...]] = [
        ("HARD-OK and everyone", len(gate), _same(gate, everyone), kappa(gate, everyone), None),
        ("HARD-OK and most people", len(gate), _same(gate, majority), kappa(gate, majority), cited),
    ]
    if pairs := [pair for vote in votes for pair in itertools.combinations(vote, 2)]:
        first, second = ([pair[i] for pair in pairs] for i in (0, 1))
        entries.append(("two people", len(pairs), _same(first, second), kappa(first, second), None))
    says = (
        "Share of rules with the same verdict, and Cohen's κ. The paper's figure is per task; whether it "
        "is a share or a κ is not said."
    )
    columns = heads("between | rules:0 | share:2 | κ:2", "agreement:2")
    return ResultTable("executability_agreement", "Agreement on executability", says, columns, entries)


SURVEY = Survey(NAME, METHODS, TASKS, QUESTIONS, items, told, tables)
WITH_MODEL = SURVEY.experiment("Which rules could an auditor run, in people's eyes?")
