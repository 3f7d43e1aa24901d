"""People say which rules could be run: 48 tasks, two methods, and agreement with HARD-OK (paper, Human
executability audit).
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gnrs_ppl.errors import InputError
from gnrs_ppl.experiments.methods import OURS
from gnrs_ppl.experiments.packs import (
    DRAWN,
    Answers,
    PackItem,
    Question,
    clause,
    contexts_of,
    mark_of,
    read_filled,
    read_key,
    reported,
    sample,
    task_card,
    write_pack,
)
from gnrs_ppl.experiments.published import printed_numbers
from gnrs_ppl.experiments.rows import Cell, Row, cell_of
from gnrs_ppl.experiments.runner import Experiment, ExperimentRequest, Report, Run
from gnrs_ppl.experiments.statistics import kappa
from gnrs_ppl.experiments.tables import CellValue, ResultTable, heads

NAME = "executability"
METHODS = ("No LLM candidates", OURS)
TASKS = 48
SIDES = ("A", "B")
YES, NO = "yes", "no"
QUESTIONS = (
    *(Question(f"{side} executable", (YES, NO)) for side in SIDES),
    Question("preferred", (*SIDES, "equal")),
)
INSTRUCTIONS = """# Which rules could be run?

`rows.csv` holds one task per line: a task card and two rules for it, A and B. Fill in the three empty columns of every line; `remarks`
is free. Save the file as CSV (UTF-8). Work alone, line by line, and judge by the task card alone. Which of the two came from where
changes from line to line.

| column | write | when |
|---|---|---|
| A executable | yes or no | yes only if all five points below hold for rule A |
| B executable | yes or no | the same for rule B |
| preferred | A, B or equal | which of the two you would rather put into force, all things considered, whether it can be run or not |

A rule can be run if an auditor who has nothing but the logs on the card could

1. tell whom it binds,
2. see in a log when it begins to apply,
3. see in a log whether what it demands was done, or what it rules out was not,
4. tell by when,
5. follow the procedure to its end without a log or an office that the card does not have.

If one of the five fails, write no. Where nothing was written, write no. Taking part is voluntary, and you may stop at any time.
Only answers and remarks are kept, under the name you give the file.
"""


def make(request: ExperimentRequest, folder: Path) -> Sequence[str]:
    """Write the pack, unless there is one; which rule is A is drawn task by task."""
    rows = Run(request, folder.parent).judged("main")
    some = sample(rows, METHODS, TASKS, request)
    if not some:
        raise InputError(
            "no goal has rows of both methods", "run gnrs experiment main --llm first", source=NAME
        )
    drawn = random.Random(DRAWN)
    items = []
    for by_method, context in zip(some, contexts_of(some), strict=True):
        pair = dict(zip(SIDES, drawn.sample([*by_method.values()], 2), strict=True))
        shown = {"task card": task_card(context)} | {
            f"rule {side}": clause(row) for side, row in pair.items()
        }
        items.append(PackItem(shown, {side: mark_of(row) for side, row in pair.items()}))
    write_pack(folder, items, QUESTIONS, INSTRUCTIONS, any(row["scripted"] for row in rows))
    return ()


def report(run: Run) -> Report:
    """Rates by method, and agreement with HARD-OK; how to go on where nobody has said anything."""
    folder = run.out / NAME
    rows = {cell_of(row): row for row in run.judged("main")}
    key = read_key(folder, rows)
    people = read_filled(folder, key, QUESTIONS)
    pack = f"the pack holds {len(key)} tasks" + (f" of {TASKS} asked for" if len(key) < TASKS else "")
    return reported(pack, people, lambda: [rates(people, key, rows), agreement(people, key, rows)])


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


def _percent(hits: Sequence[bool]) -> float:
    return 100 * sum(hits) / len(hits)


def rates(people: dict[str, Answers], key: dict[str, Any], rows: dict[Cell, Row]) -> ResultTable:
    """What people say of each method."""
    paper = printed_numbers(start="executability audit")
    better = preferred(people, key)
    entries: list[tuple[CellValue, ...]] = []
    for method in METHODS:
        votes = [*verdicts(people, key, method).values()]
        own = (
            _percent([all(v) for v in votes]),
            _percent([most(v) for v in votes]),
            _percent([m == method for m in better]),
        )
        cited = [
            paper.get(f"executability audit: {what} {method}")
            for what in ("strict rate of", "preference for")
        ]
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
    printed = printed_numbers(start="executability audit")
    votes = [vote for method in METHODS for vote in verdicts(people, key, method).values()]
    gate = [passed for method in METHODS for passed in _gate(key, rows, method)]
    entries: list[tuple[CellValue, ...]] = []
    for name, said in (("everyone", [all(v) for v in votes]), ("most people", [most(v) for v in votes])):
        same = sum(a == b for a, b in zip(gate, said, strict=True)) / len(gate)
        cited = (
            printed.get("executability audit: agreement of HARD-OK per task")
            if name == "most people"
            else None
        )
        entries.append((f"HARD-OK and {name}", len(gate), same, kappa(gate, said), cited))
    pairs = [(a, b) for vote in votes for a, b in itertools.combinations(vote, 2)]
    if pairs:
        first, second = ([pair[i] for pair in pairs] for i in (0, 1))
        entries.append(
            ("two people", len(pairs), sum(a == b for a, b in pairs) / len(pairs), kappa(first, second), None)
        )
    says = (
        "Share of rules with the same verdict, and Cohen's κ. The paper's figure is per task; whether it "
        "is a share or a κ is not said."
    )
    columns = heads("between | rules:0 | share:2 | κ:2", "agreement:2")
    return ResultTable("executability_agreement", "Agreement on executability", says, columns, entries)


WITH_MODEL = {
    NAME: Experiment(
        NAME, "Which rules could an auditor run, in people's eyes?", report, needs=("main",), make=make
    )
}
