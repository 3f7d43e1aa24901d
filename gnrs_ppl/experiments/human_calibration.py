"""People score what the judge scored: a blinded pack of 20 goals by 5 methods (Tables human-calibration and
human-agreement).
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from gnrs_ppl.experiments.methods import OURS
from gnrs_ppl.experiments.packs import Answers, PackItem, Question, Survey, clause, mark_of
from gnrs_ppl.experiments.published import by_method, published
from gnrs_ppl.experiments.rows import Cell, Row, cell_of
from gnrs_ppl.experiments.statistics import correlation, pairwise_spearman, within_one
from gnrs_ppl.experiments.tables import CellValue, ResultTable, heads

NAME = "human_calibration"
METHODS = ("Direct Prompting", "Self-Refine", "No search", "No LLM candidates", OURS)
GOALS = 20
SCALE = ("1", "2", "3", "4", "5")
DIMENSIONS = ("faithfulness", "grounding", "procedural closure", "readability")
QUESTIONS = tuple(Question(dimension, SCALE) for dimension in DIMENSIONS)


def items(by_method: Mapping[str, Row], card: str, generator: random.Random) -> list[PackItem]:
    """An item for every text."""
    return [PackItem({"task card": card, "rule": clause(row)}, mark_of(row)) for row in by_method.values()]


def told(key: Mapping[str, Any]) -> str:
    """Items, goals and methods of a pack."""
    goals = len({what["goal"] for what in key.values()})
    short = f" of {GOALS} asked for" if goals < GOALS else ""
    return f"the pack holds {len(key)} items: {goals} goals by {len(METHODS)} methods{short}"


def tables(people: dict[str, Answers], key: dict[str, Any], rows: dict[Cell, Row]) -> list[ResultTable]:
    """What people said, and how it agrees with the judge."""
    methods = {name: what["method"] for name, what in key.items()}
    judge = {name: rows[cell_of(what)]["avg"] for name, what in key.items()}
    return [means(people, methods), agreement(people, methods, judge)]


def _mean(answers: dict[str, str]) -> float:
    return sum(int(answers[dimension]) for dimension in DIMENSIONS) / len(DIMENSIONS)


def means(people: dict[str, Answers], methods: dict[str, str]) -> ResultTable:
    """Marks by method, means over people and items."""
    paper = by_method("human-calibration-app")
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


SURVEY = Survey(NAME, METHODS, GOALS, QUESTIONS, items, told, tables)
WITH_MODEL = SURVEY.experiment("Do people and the judge agree?")
