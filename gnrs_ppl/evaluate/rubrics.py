"""Rubrics v1 and v2: blinded marks for texts, kept one by one, and the arithmetic from marks to Avg, v2 Avg
and OVERALL.

A judge is given context and text, nothing else. Method and structure cannot reach it: :func:`judge` takes
items that do not carry them. Marks are joined with methods only afterwards. Every repeat keeps its own marks;
an answer without marks stays None and is counted.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, get_args

from gnrs_ppl.context.load import Context
from gnrs_ppl.errors import InputError
from gnrs_ppl.llm.answers import RubricScores, StrictRubricScores
from gnrs_ppl.llm.client import CONCURRENCY, Answer, Failure, Model, Request, ask, refuse_scripted
from gnrs_ppl.llm.material import request

Rubric = Literal["v1", "v2"]
RUBRICS: tuple[Rubric, ...] = get_args(Rubric)
Judge = Literal["judge", "second_judge"]

DIMENSIONS = ("specificity", "executability", "fluency", "readability", "faithfulness")
"""In the order of the paper's main table."""
HARD_OK_SHARE = 0.20
"""Weight of HARD-OK in OVERALL; Avg has the rest."""

Scores = tuple[int, ...]
"""One mark from 1 (worst) to 5 for each of ``DIMENSIONS``."""
LOWEST: Scores = (1,) * len(DIMENSIONS)
"""What a blank text gets, by rule and without a call."""

SAID_BY_THE_MODEL: tuple[Failure, ...] = ("invalid", "truncated", "filtered")
"""Failures that are what the model made of the request; with any other, no answer came."""


class JudgedRule(NamedTuple):
    """A rule to be scored.

    Attributes
    ----------
    method : str
    context : Context
        What it was written for; its goal names the row.
    seed : int
    text : str
        The rule as people see it.
    hard_ok : bool
        Whether its structure passes the gate.
    answers : tuple of Answer
        What models said on the way to text and structure.
    """

    method: str
    context: Context
    seed: int
    text: str
    hard_ok: bool
    answers: tuple[Answer[Any], ...] = ()


class BlindedText(NamedTuple):
    """What a judge may know: a text and its context, under a number that says nothing."""

    id: str
    context: Context
    text: str


class Marks(NamedTuple):
    """One judge's answer to one item; ``scores`` is None where it gave no marks, ``answer`` where the rule
    for blank texts did.
    """

    item: str
    sample: int
    scores: Scores | None
    answer: Answer[Any] | None


class MarkedRule(NamedTuple):
    """One rule with everything a table is made from.

    Attributes
    ----------
    marks : mapping of rubric to tuple of Scores or None
        One entry for each repeat, in order; None where the answer held no marks.
    judged : tuple of Answer
        The judge's answers; none for a blank text.
    answers : tuple of Answer
        What models said before the judge was asked.
    """

    method: str
    goal: str
    seed: int
    hard_ok: bool
    marks: dict[Rubric, tuple[Scores | None, ...]]
    judged: tuple[Answer[Any], ...]
    answers: tuple[Answer[Any], ...]

    @property
    def scripted(self) -> bool:
        """Whether the scripted server had a part in it: then it is no result."""
        return any(answer.scripted for answer in (*self.judged, *self.answers))

    def row(self) -> dict[str, Any]:
        """A row of experiments: its cell, :func:`percents`, and how many answers held no marks; ``blank``
        was marked by rule.
        """
        unparsed = sum(scores is None for repeats in self.marks.values() for scores in repeats)
        counts = {"unparsed": unparsed, "blank": not self.judged, "scripted": self.scripted}
        cell = {"method": self.method, "chains": None, "goal": self.goal, "seed": self.seed}
        return cell | percents(self.marks["v1"], self.marks["v2"], self.hard_ok) | counts

    def as_dict(self) -> dict[str, Any]:
        """JSON of one line of a scores file."""
        named = {
            rubric: [scores and dict(zip(DIMENSIONS, scores, strict=True)) for scores in self.marks[rubric]]
            for rubric in RUBRICS
        }
        fields = {name: getattr(self, name) for name in ("method", "goal", "seed", "hard_ok", "scripted")}
        return fields | {"marks": named, "judged": [answer.record() for answer in self.judged]}


# Arithmetic


def percent(mark: float) -> float:
    """A mark from 1 to 5 in percent, as the paper reports it: 1 is 20 %, not 0."""
    return 20.0 * mark


def mean_marks(repeats: Sequence[Scores | None]) -> tuple[float, ...] | None:
    """Mean of each dimension over the repeats that hold marks; None where none does."""
    held = [scores for scores in repeats if scores is not None]
    return tuple(sum(column) / len(held) for column in zip(*held, strict=True)) if held else None


def rubric_percents(rules: Iterable[Sequence[Scores | None]]) -> tuple[float, ...] | None:
    """Percent of each dimension: the mean over rules of the mean over a rule's repeats; rules without marks
    are left out.
    """
    means = [mean for repeats in rules if (mean := mean_marks(repeats)) is not None]
    return tuple(percent(sum(column) / len(means)) for column in zip(*means, strict=True)) if means else None


def average(percents: Sequence[float]) -> float:
    """Rubric Avg: the five dimensions with equal weight."""
    return sum(percents) / len(percents)


def overall(avg: float, hard_ok: float) -> float:
    """OVERALL = 0.80 Avg + 0.20 HARD-OK, all in percent."""
    return (1 - HARD_OK_SHARE) * avg + HARD_OK_SHARE * hard_ok


def percents(
    v1: Sequence[Scores | None], v2: Sequence[Scores | None], hard_ok: bool
) -> dict[str, float | None]:
    """What one rule's repeats come to: the dimensions and Avg of v1, Avg of v2, OVERALL; None where no
    repeat held marks.
    """
    dimensions, strict = rubric_percents([v1]), rubric_percents([v2])
    avg = average(dimensions) if dimensions else None
    return {
        **dict(zip(DIMENSIONS, dimensions or [None] * len(DIMENSIONS), strict=True)),
        "avg": avg,
        "v2_avg": average(strict) if strict else None,
        "overall": None if avg is None else overall(avg, 100.0 * hard_ok),
    }


# Judging


def blinded(texts: Sequence[tuple[Context, str]], seed: int) -> tuple[list[BlindedText], list[int]]:
    """Texts in an order that depends on their number and the seed alone, numbered in that order.

    Returns
    -------
    list of BlindedText
    list of int
        For each item, the place of its text among those given: the key, which stays here.
    """
    key = list(range(len(texts)))
    random.Random(seed).shuffle(key)
    return [BlindedText(f"text {number:05d}", *texts[place]) for number, place in enumerate(key, 1)], key


def judge(
    items: Sequence[BlindedText],
    model: Model,
    rubric: Rubric,
    *,
    role: Judge = "judge",
    repeats: int = 1,
    concurrency: int = CONCURRENCY,
) -> list[Marks]:
    """Marks for every item and repeat, item by item.

    Parameters
    ----------
    items : sequence of BlindedText
    model : Model
    rubric : {"v1", "v2"}
        Its frozen prompt is used.
    role : {"judge", "second_judge"}
    repeats : int
        How often each text is judged; each time is cached apart.
    concurrency : int
        Most requests in flight.

    Raises
    ------
    InputError
        Bad configuration of the model.
    """
    asked = [(item, sample) for sample in range(repeats) for item in items if item.text.strip()]
    answers = ask(model, [_request(item, rubric, role, sample) for item, sample in asked], concurrency)
    by_item = {(item.id, sample): answer for (item, sample), answer in zip(asked, answers, strict=True)}
    return [
        _marks(item, sample, by_item.get((item.id, sample))) for item in items for sample in range(repeats)
    ]


def score(
    rules: Sequence[JudgedRule],
    model: Model,
    *,
    seed: int,
    role: Judge = "judge",
    repeats: int = 1,
    concurrency: int = CONCURRENCY,
) -> list[MarkedRule]:
    """Judge rules of many methods and goals, shuffled together, by both rubrics; rows come in the order of
    the rules.

    Parameters
    ----------
    rules : sequence of JudgedRule
    seed : int
        Of the order in which they are judged.
    model, role, repeats, concurrency
        As for :func:`judge`.
    """
    items, key = blinded([(rule.context, rule.text) for rule in rules], seed)
    by_place: dict[tuple[int, Rubric], list[Marks]] = {}
    for rubric in RUBRICS:
        marks = judge(items, model, rubric, role=role, repeats=repeats, concurrency=concurrency)
        for number, place in enumerate(key):
            by_place[place, rubric] = marks[number * repeats : (number + 1) * repeats]
    return [
        _row(rule, {rubric: by_place[place, rubric] for rubric in RUBRICS})
        for place, rule in enumerate(rules)
    ]


def _request(item: BlindedText, rubric: Rubric, role: Judge, sample: int) -> Request[Any]:
    response: type[Any] = {"v1": RubricScores, "v2": StrictRubricScores}[rubric]
    return request(
        f"independent_rubric.FROZEN.{rubric}.txt",
        role,
        item.context,
        response,
        {"clause": item.text},
        sample=sample,
    )


def _marks(item: BlindedText, sample: int, answer: Answer[Any] | None) -> Marks:
    if answer is None:
        return Marks(item.id, sample, LOWEST, None)
    held = answer.parsed
    return Marks(
        item.id, sample, held and tuple(getattr(held, dimension) for dimension in DIMENSIONS), answer
    )


def _row(rule: JudgedRule, marks: dict[Rubric, list[Marks]]) -> MarkedRule:
    kept = {rubric: tuple(m.scores for m in marks[rubric]) for rubric in RUBRICS}
    judged = tuple(m.answer for rubric in RUBRICS for m in marks[rubric] if m.answer is not None)
    return MarkedRule(rule.method, rule.context.goal.id, rule.seed, rule.hard_ok, kept, judged, rule.answers)


# Results


def refuse_no_result(rows: Iterable[MarkedRule]) -> None:
    """Keep what is no result out of tables.

    Raises
    ------
    InputError
        The scripted server had a part in some row, or some answer never came.
    """
    answers = [answer for row in rows for answer in (*row.judged, *row.answers)]
    refuse_scripted(answers)
    refuse_unanswered(answers)


def unanswered(answers: Iterable[Answer[Any] | None]) -> list[Answer[Any]]:
    """Requests that were never answered: what came of them says nothing about a method."""
    return [one for one in answers if one and one.error and one.error.kind not in SAID_BY_THE_MODEL]


def refuse_unanswered(answers: Iterable[Answer[Any]]) -> None:
    """Keep rows out of a result that say more about a connection or a limit than about a method.

    Raises
    ------
    InputError
        Some request was never answered.
    """
    failed = Counter(answer.error.kind for answer in unanswered(answers) if answer.error)
    if failed:
        kinds = ", ".join(f"{kind} {n:,}" for kind, n in sorted(failed.items()))
        raise InputError(
            f"{failed.total():,} answers never came ({kinds})",
            "run it again; what was answered is in the cache",
        )
