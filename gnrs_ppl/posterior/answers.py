"""What people answered: whether cases were broken or kept, and what parts of the sentence mean; with an error
rate, never as certain.

An answer is a likelihood. Of a case, a check whose verdict agrees gives each answer that agrees an equal part
of 1 - e, and each other an equal part of e; of a part of the sentence likewise.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args

import numpy as np
import yaml
from jaxtyping import Float
from numpy.typing import NDArray
from pydantic import Field, model_validator

from gnrs_ppl.audit.types import ROLL_UP, Verdict
from gnrs_ppl.context.files import read_data, validated
from gnrs_ppl.context.load import nearest
from gnrs_ppl.context.output import write_all
from gnrs_ppl.context.types import Frozen, Name
from gnrs_ppl.errors import InputError
from gnrs_ppl.posterior.fields import SLOT_FIELDS
from gnrs_ppl.posterior.mass import ASKED, Mass
from gnrs_ppl.posterior.uncertain import Choice, field_choices
from gnrs_ppl.posterior.verdicts import REFUSED, Checked

Floats = NDArray[np.float64]
Said = Literal["broken", "kept", "silent", "unknown"]
"""Of a case; unknown says that whoever was asked does not know, and it is not asked again."""

ANSWERS: tuple[Said, ...] = get_args(Said)[:3]
"""Those that tell something."""
UNKNOWN = "unknown"
PARTS = tuple(f"{slot}.{field}" for slot in ASKED for field in SLOT_FIELDS[slot])
"""Parts of the sentence that may be asked about."""
ERROR_RATE = 0.05
"""How often an answer is wrong, unless stated."""
AGREES: dict[Verdict, tuple[Said, ...]] = {
    "violated": ("broken",),
    "satisfied": ("kept",),
    "excused": ("kept", "silent"),
    "pending": ("kept", "silent"),
    "indeterminate": ("broken", "kept"),
    "not_activated": ("silent",),
}
"""Which answers agree with a verdict. The records cannot tell of an indeterminate case, so both do; of an
excused or a pending one people say either that it is kept or that the rule does not speak of it."""


class CaseAnswer(Frozen):
    """What was said of a case."""

    case: str
    """The case id."""
    answer: Said
    """broken, kept, silent (the rule does not speak of it), or unknown."""


class PartAnswer(Frozen):
    """What was said of a part of the sentence."""

    part: str
    """The field, such as norm.deadline."""
    answer: Name
    """What it means there, such as P5D; unknown where whoever was asked does not know."""


class AnswersFile(Frozen):
    """Shape of a file of answers."""

    goal: Name
    """The goal they are about."""
    error: Annotated[float, Field(gt=0, lt=0.5)] = ERROR_RATE
    """How often an answer is wrong."""
    answers: tuple[CaseAnswer | PartAnswer, ...] = ()
    """In the order in which they were given."""

    @model_validator(mode="before")
    @classmethod
    def _list_to_tuple(cls, data: object) -> object:
        if isinstance(data, dict) and isinstance(data.get("answers"), list):
            return data | {"answers": tuple(data["answers"])}
        return data


Answer = CaseAnswer | PartAnswer


class Answers(NamedTuple):
    """Answers with their error rate."""

    given: tuple[Answer, ...] = ()
    error: float = ERROR_RATE

    def as_dict(self) -> dict[str, Any]:
        """As a file has them."""
        return {"error": self.error, "answers": [answer.model_dump() for answer in self.given]}


def likelihoods(error: float) -> Float[Floats, "verdicts answers"]:
    """P(answer | verdict), by ``ROLL_UP`` and ``ANSWERS``; the last row is that of a check that cannot be
    run, which says nothing.
    """
    table = np.full((len(ROLL_UP) + 1, len(ANSWERS)), 1 / len(ANSWERS))
    for code, verdict in enumerate(ROLL_UP):
        agree = [answer in AGREES[verdict] for answer in ANSWERS]
        for n, agrees in enumerate(agree):
            table[code, n] = (1 - error) / sum(agree) if agrees else error / (len(ANSWERS) - sum(agree))
    return table


def likelihood(answer: Answer, mass: Mass, checked: Checked, error: float) -> Float[Floats, " n"]:
    """P(answer | check) of every kept check.

    Raises
    ------
    InputError
        The log has no such case, or the part is not one that is open or not with this value.
    """
    if answer.answer == UNKNOWN:
        return np.ones(len(mass.key))
    if isinstance(answer, CaseAnswer):
        codes = checked.codes[:, case_number(answer.case, checked)]
        return np.asarray(likelihoods(error)[codes, ANSWERS.index(answer.answer)])
    choice = _choice(answer, mass)
    if choice is None:
        return np.ones(len(mass.key))
    return np.asarray(part_likelihoods(choice, error)[choice.of, choice.values.index(answer.answer)])


def part_likelihoods(choice: Choice, error: float) -> Float[Floats, "values values"]:
    """P(answer | what a check chose)."""
    count = len(choice.values)
    wrong = error / (count - 1)
    return np.asarray(np.where(np.eye(count, dtype=bool), 1 - error, wrong))


def together(answers: Answers, mass: Mass, checked: Checked) -> tuple[Float[Floats, " n"], float]:
    """P(all answers | check) of every kept check, as answers err independently of one another; and the most
    that it could be of any check.
    """
    product, greatest = np.ones(len(mass.key)), 1.0
    for answer in answers.given:
        product *= likelihood(answer, mass, checked, answers.error)
        greatest *= 1.0 if answer.answer == UNKNOWN else 1 - answers.error
    return product, greatest


def case_number(case: str, checked: Checked) -> int:
    """Where a case stands.

    Raises
    ------
    InputError
        It does not; the line names the nearest.
    """
    if case not in checked.cases:
        near = nearest(case, dict.fromkeys(checked.cases))
        raise InputError(
            f"the log has no case {case!r}",
            f"did you mean {near!r}?" if near else "check its spelling",
            source="answers",
            field="case",
        )
    return checked.cases.index(case)


def _choice(answer: PartAnswer, mass: Mass) -> Choice | None:
    """The part with what it may mean; None where all kept checks agree on it."""
    choices = {choice.name: choice for choice in field_choices(mass)}
    if answer.part not in PARTS:
        raise InputError(
            f"{answer.part!r} is no part of the sentence",
            f"choose one of {', '.join(choices)}" if choices else "leave it out",
            source="answers",
            field="part",
        )
    if answer.part not in choices:
        return None
    choice = choices[answer.part]
    if answer.answer not in choice.values:
        raise InputError(
            f"{answer.part} cannot mean {answer.answer!r} here",
            f"choose one of {', '.join(choice.values)}",
            source="answers",
            field="answer",
        )
    return choice


def read_answers(path: Path, goal: str) -> Answers:
    """The answers in a file.

    Raises
    ------
    InputError
        Not readable, not such a file, an answer twice, or about another goal.
    """
    file = validated(AnswersFile, read_data(path), source=str(path))
    if file.goal != goal:
        raise InputError(
            f"its answers are about {file.goal!r}, not {goal!r}",
            "name the file of this goal",
            source=str(path),
            field="goal",
        )
    _require_distinct(file.answers, str(path))
    return Answers(file.answers, file.error)


def parse_answers(texts: Sequence[str]) -> tuple[Answer, ...]:
    """Answers as a command takes them: ``CASE=broken``, ``norm.deadline=P5D``.

    Raises
    ------
    InputError
        Not of that shape.
    """
    found: list[Answer] = []
    for text in texts:
        subject, _, said = text.rpartition("=")
        if subject in PARTS:
            found.append(PartAnswer(part=subject, answer=said))
            continue
        word = next((answer for answer in get_args(Said) if answer == said), None)
        if not subject or word is None:
            raise InputError(
                f"{text!r} is no answer",
                f"write CASE=ANSWER, with {', '.join(get_args(Said))}; or PART=VALUE (norm.deadline=P5D)",
                source="arguments",
                field="--answer",
            )
        found.append(CaseAnswer(case=subject, answer=word))
    _require_distinct(found, "arguments")
    return tuple(found)


def merged(answers: Answers, more: Sequence[Answer], error: float | None) -> Answers:
    """Answers with more of them; a later one stands in place of an earlier one about the same, and an error
    rate in place of theirs.
    """
    again = {about_of(answer) for answer in more}
    kept = [answer for answer in answers.given if about_of(answer) not in again]
    return Answers((*kept, *more), answers.error if error is None else error)


def _require_distinct(answers: Sequence[Answer], source: str) -> None:
    seen = set()
    for answer in answers:
        about = about_of(answer)
        if about in seen:
            problem = f"{about!r} is answered twice"
            raise InputError(problem, "keep one of them", source=source, field="answers")
        seen.add(about)


def about_of(answer: Answer) -> str:
    """The case, or the part, that an answer is about."""
    return answer.case if isinstance(answer, CaseAnswer) else answer.part


def write_answers(path: Path, goal: str, answers: Answers) -> None:
    """Write a file that :func:`read_answers` reads back; the old one or the new one, never half of it."""
    data = {"goal": goal, **answers.as_dict()}
    text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
    write_all(path.parent, [(path.name, text.encode())])


assert REFUSED == -1  # the last row of the likelihoods
