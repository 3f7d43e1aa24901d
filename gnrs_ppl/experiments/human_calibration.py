"""People score what the judge scored: a blinded pack of 20 goals by 5 methods (Tables human-calibration and
human-agreement).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gnrs_ppl.errors import InputError
from gnrs_ppl.experiments.methods import OURS
from gnrs_ppl.experiments.packs import (
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
from gnrs_ppl.experiments.published import published
from gnrs_ppl.experiments.rows import Row, cell_of
from gnrs_ppl.experiments.runner import Experiment, ExperimentRequest, Report, Run
from gnrs_ppl.experiments.statistics import correlation, pairwise_spearman, within_one
from gnrs_ppl.experiments.tables import CellValue, ResultTable, heads

NAME = "human_calibration"
METHODS = ("Direct Prompting", "Self-Refine", "No search", "No LLM candidates", OURS)
GOALS = 20
SCALE = ("1", "2", "3", "4", "5")
DIMENSIONS = ("faithfulness", "grounding", "procedural closure", "readability")
QUESTIONS = tuple(Question(dimension, SCALE) for dimension in DIMENSIONS)
INSTRUCTIONS = """# Scoring rules

`rows.csv` holds one item per line: a task card and a rule that somebody wrote for it. Give each rule four marks from 1 to 5 and write
them into the empty columns. Change nothing else; `remarks` is free. Save the file as CSV (UTF-8).

How to go about it

- Judge each rule by its task card alone. Who or what wrote it is not shown, and several items share a card: do not try to sort them.
- Work alone, in the order of the file. Do not go back over earlier marks because of later items.
- Long or solemn wording earns nothing by itself.
- Use the whole scale: 1 fails, 2 poor, 3 half right, 4 good with a flaw, 5 nothing to object to. Whole marks only, and none left out.
- Where nothing was written, every mark is 1.

| column | the question |
|---|---|
| faithfulness | Does the rule demand, rule out and permit what the task asks, for the people and places it names, and nothing against it? |
| grounding | Does it rest only on people, acts and logs that the card says exist? A log or office that the card lacks costs marks here. |
| procedural closure | Could somebody carry it out to the end: who looks, at which log, what follows, and by when? |
| readability | Would those whom it binds understand it at first reading? |

A short rule that names the right logs can score high on grounding and low on closure. A smooth one that leans on a log nobody keeps
is the other way round.

Taking part is voluntary, and you may stop at any time. Only marks and remarks are kept, under the name you give the file.
"""


def chosen(rows: Sequence[Row], request: ExperimentRequest) -> list[dict[str, Row]]:
    """The sample: five methods on each of twenty goals.

    Raises
    ------
    InputError
        No goal has rows of all five methods.
    """
    found = sample(rows, METHODS, GOALS, request)
    if not found:
        raise InputError(
            "no goal has rows of all five methods", "run gnrs experiment main --llm first", source=NAME
        )
    return found


def make(request: ExperimentRequest, folder: Path) -> Sequence[str]:
    """Write the pack, unless there is one."""
    rows = Run(request, folder.parent).judged("main")
    some = chosen(rows, request)
    items = [
        PackItem({"task card": task_card(context), "rule": clause(row)}, mark_of(row))
        for by_method, context in zip(some, contexts_of(some), strict=True)
        for row in by_method.values()
    ]
    write_pack(folder, items, QUESTIONS, INSTRUCTIONS, any(row["scripted"] for row in rows))
    return ()


def report(run: Run) -> Report:
    """What people said, and how it agrees with the judge; how to go on where nobody has said anything."""
    folder = run.out / NAME
    rows = {cell_of(row): row for row in run.judged("main")}
    key = read_key(folder, rows)
    people = read_filled(folder, key, QUESTIONS)
    goals = len({what["goal"] for what in key.values()})
    pack = f"the pack holds {len(key)} items: {goals} goals by {len(METHODS)} methods" + (
        f" of {GOALS} asked for" if goals < GOALS else ""
    )
    methods = {name: what["method"] for name, what in key.items()}
    judge = {name: rows[cell_of(what)]["avg"] for name, what in key.items()}
    return reported(pack, people, lambda: [means(people, methods), agreement(people, methods, judge)])


def _mean(answers: dict[str, str]) -> float:
    return sum(int(answers[dimension]) for dimension in DIMENSIONS) / len(DIMENSIONS)


def means(people: dict[str, Answers], methods: dict[str, str]) -> ResultTable:
    """Marks by method, means over people and items."""
    paper = {row["method"]: row for row in published("human-calibration-app")}
    entries: list[tuple[CellValue, ...]] = []
    for method in METHODS:
        some = [
            answers[name] for answers in people.values() for name, own in methods.items() if own == method
        ]
        each = [sum(int(answers[dimension]) for answers in some) / len(some) for dimension in DIMENSIONS]
        printed = [float(paper[method][column]) for column in (*DIMENSIONS, "mean")]
        entries.append((method, len(some) // len(people), *each, sum(each) / len(each), *printed))
    marks = " | ".join(f"{name}:2" for name in (*DIMENSIONS, "mean"))
    columns = heads(f"method | items:0 | {marks}", marks)
    says = (
        f"Marks from 1 to 5, means over {len(people)} people. Other people, goals and texts than the paper's."
    )
    return ResultTable(NAME, "People's marks", says, columns, entries)


def agreement(
    people: dict[str, Answers], methods: dict[str, str], judge: dict[str, float | None]
) -> ResultTable:
    """Agreement with the judge and among people; items the judge gave no marks are left out of the former.

    Parameters
    ----------
    people : mapping of person to answers
    methods : mapping of item to method
    judge : mapping of item to the judge's Avg in percent
    """
    marked = [name for name in methods if judge.get(name) is not None]
    human = {name: sum(_mean(answers[name]) for answers in people.values()) / len(people) for name in methods}
    said = {name: (judge[name] or 0.0) / 20 for name in marked}
    a, b = [human[name] for name in marked], [said[name] for name in marked]
    by_method = [[name for name in marked if methods[name] == method] for method in METHODS]
    level = [
        [sum(values[name] for name in some) / len(some) for some in by_method if some]
        for values in (human, said)
    ]
    rows = [[_mean(answers[name]) for name in methods] for answers in people.values()]
    labels = [
        [int(answers[name][dimension]) for name in methods for dimension in DIMENSIONS]
        for answers in people.values()
    ]
    values: tuple[tuple[str, str, int, float | None], ...] = (
        ("Spearman's ρ with the judge", "items", len(marked), correlation("spearman", a, b)),
        ("Kendall's τ-b with the judge", "items", len(marked), correlation("kendall", a, b)),
        ("Pearson's r with the judge", "means of methods", len(level[0]), correlation("pearson", *level)),
        ("Spearman's ρ among people", "items, mean over pairs", len(rows[0]), pairwise_spearman(rows)),
        ("labels within one point, %", "labels, all pairs", len(labels[0]), within_one(labels)),
    )
    printed = [float(row["value"]) for row in published("human-agreement-app")]
    entries: list[tuple[CellValue, ...]] = [(*own, cited) for own, cited in zip(values, printed, strict=True)]
    columns = heads("quantity | over | n:0 | value:2", "value:2")
    says = (
        "A person's mark of an item is the mean of the four dimensions, the judge's is Avg of rubric v1. The "
        "paper's Pearson rests on five means of methods, as ours does."
    )
    return ResultTable("human_agreement", "Agreement", says, columns, entries)


WITH_MODEL = {NAME: Experiment(NAME, "Do people and the judge agree?", report, needs=("main",), make=make)}
