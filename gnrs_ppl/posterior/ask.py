"""The one question that matters: the case, or the part of the sentence, whose answer tells most about which
rule is meant.

The rules are those that the log can tell apart: checks whose answers would be the same on every case are one
*group*. What a question tells is the mutual information of its answer and the group, exact over the kept
mass:

    I = H(answer) - sum_g p(g) H(answer | g)
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray

from gnrs_ppl.audit.types import ROLL_UP
from gnrs_ppl.posterior.answers import (
    AGREES,
    ANSWERS,
    UNKNOWN,
    Answers,
    CaseAnswer,
    PartAnswer,
    about_of,
    likelihoods,
    part_likelihoods,
    together,
)
from gnrs_ppl.posterior.mass import Mass
from gnrs_ppl.posterior.uncertain import Choice, field_choices, told
from gnrs_ppl.posterior.verdicts import Checked

Floats = NDArray[np.float64]

NOTHING_SAID = Answers()
ENOUGH = 0.9
"""Probability of the top rule at which nothing more is asked."""
LEAST_BITS = 0.01
"""A question that tells less is not worth asking."""
NAMED = 5
"""Rules, cases and questions that are listed."""


class Question(NamedTuple):
    """What may be asked next.

    Attributes
    ----------
    kind : {"case", "part"}
    about : str
        The case id, or the field.
    bits : float
        Expected information about the rule.
    answers : {answer: float}
        How probable each answer is now; of a part the most probable first.
    """

    kind: str
    about: str
    bits: float
    answers: dict[str, float]


class Group(NamedTuple):
    """Rules that the log cannot tell apart.

    Attributes
    ----------
    probability : float
    checks : tuple of int
        Numbers in the mass, the most probable first.
    """

    probability: float
    checks: tuple[int, ...]


class State(NamedTuple):
    """Where the questions stand.

    Attributes
    ----------
    mass : Mass
        Weighed by the answers.
    checked : Checked
        In the order of the mass.
    answers : Answers
    groups : tuple of Group
        The most probable first.
    questions : tuple of Question
        Those that tell most, the best first; none once there is nothing to ask.
    stopped : {"", "settled", "nothing tells"}
        Why nothing more is asked.
    """

    mass: Mass
    checked: Checked
    answers: Answers
    groups: tuple[Group, ...]
    questions: tuple[Question, ...]
    stopped: str

    def open_fields(self, group: int = 0) -> list[Choice]:
        """The fields in which the rules of a group differ."""
        numbers = [*self.groups[group].checks]
        inside = self.mass._replace(
            positions=self.mass.positions[numbers],
            probability=self.mass.probability[numbers],
            key=tuple(self.mass.key[n] for n in numbers),
        )
        return field_choices(inside)

    def as_dict(self) -> dict[str, Any]:
        """The JSON of ``gnrs ask``."""
        best = self.mass.structure(self.groups[0].checks[0])
        return {
            "mass": told(self.mass),
            "error": self.answers.error,
            "answers": [answer.model_dump() for answer in self.answers.given],
            "stopped": self.stopped or None,
            "question": self.questions[0]._asdict() if self.questions else None,
            "others": [question._asdict() for question in self.questions[1:NAMED]],
            "rules": [
                {"probability": group.probability, "checks": len(group.checks)}
                for group in self.groups[:NAMED]
            ],
            "groups": len(self.groups),
            "best": {
                slot: getattr(best, slot).model_dump(mode="json", exclude_defaults=True)
                for slot in ("scope", "trigger", "norm", "evidence")
            },
            "cannot_tell": {choice.name: list(choice.values) for choice in self.open_fields()},
        }


def ask(mass: Mass, checked: Checked, answers: Answers = NOTHING_SAID, parts: bool = True) -> State:
    """The posterior given some answers, and what to ask next.

    Parameters
    ----------
    mass : Mass
        Before any answer.
    checked : Checked
        Verdicts of its checks on the log.
    answers : Answers
    parts : bool
        Whether to ask about parts of the sentence too.

    Raises
    ------
    InputError
        As :func:`~gnrs_ppl.posterior.answers.likelihood`.
    """
    likelihood, outside = together(answers, mass, checked)
    order = np.argsort(-mass.probability * likelihood, kind="stable")
    after = mass.updated(likelihood, outside)
    seen = checked._replace(codes=checked.codes[order])
    number = grouped(seen)
    share = after.share
    held = np.bincount(number, share)
    members: list[list[int]] = [[] for _ in held]
    for check, group in enumerate(number.tolist()):
        members[group].append(check)
    ranked = np.argsort(-held, kind="stable")
    groups = tuple(Group(float(held[g]), tuple(members[g])) for g in ranked.tolist())
    asked = {about_of(answer) for answer in answers.given}
    questions = _questions(after, seen, number, answers.error, asked, parts)
    worth = tuple(q for q in questions if q.bits >= LEAST_BITS)
    settled = groups[0].probability >= ENOUGH
    stopped = "settled" if settled else "" if any(q.kind == "case" for q in worth) else "nothing tells"
    return State(after, seen, answers, groups, () if stopped else worth, stopped)


def grouped(checked: Checked) -> Int[NDArray[np.int64], " n"]:
    """The group of each check: what would be answered of every case."""
    kind: dict[tuple[str, ...], int] = {}
    same = [kind.setdefault(AGREES[verdict], len(kind)) for verdict in ROLL_UP]
    answers = np.array([*same, len(kind)], np.int8)[checked.codes]  # the last for checks that cannot be run
    return np.unique(answers, axis=0, return_inverse=True)[1].ravel()


def case_bits(share: Float[Floats, " n"], checked: Checked, error: float) -> tuple[Floats, Floats]:
    """Of every case the information its answer gives, shape (cases,), in bits, and how probable each answer
    is, (answers, cases).
    """
    table = likelihoods(error)
    held = np.stack([share @ (checked.codes == code) for code in (*range(len(ROLL_UP)), -1)])
    answer = table.T @ held
    return _entropy(answer) - _entropy(table.T) @ held, answer


def part_bits(
    share: Float[Floats, " n"], number: Int[NDArray[np.int64], " n"], choice: Choice, error: float
) -> tuple[float, Floats]:
    """The information about the group that an answer on a part gives, and how probable each answer is."""
    joint = np.zeros((len(choice.values), int(number.max()) + 1))
    np.add.at(joint, (choice.of, number), share)
    held = joint.sum(0)
    answer = part_likelihoods(choice, error).T @ joint
    bits = float(_entropy(answer.sum(1)) - (_entropy(answer / np.maximum(held, 1e-300)) * held).sum())
    return max(bits, 0.0), np.asarray(answer.sum(1))


def _entropy(p: Floats) -> Floats:
    """In bits, over the first axis."""
    return np.asarray(-(p * np.log2(np.maximum(p, 1e-300))).sum(0))


def _questions(
    mass: Mass,
    checked: Checked,
    number: NDArray[np.int64],
    error: float,
    asked: Collection[str],
    parts: bool,
) -> Sequence[Question]:
    """The questions that were not asked, the most telling first; of equal ones a case."""
    bits, answer = case_bits(mass.share, checked, error)
    free = [n for n in np.argsort(-bits, kind="stable").tolist() if checked.cases[n] not in asked]
    found = [
        Question(
            "case",
            checked.cases[n],
            float(bits[n]),
            {said: float(answer[a, n]) for a, said in enumerate(ANSWERS)},
        )
        for n in free[:NAMED]
    ]
    for choice in field_choices(mass) if parts else ():
        if choice.name not in asked:
            told_bits, chances = part_bits(mass.share, number, choice, error)
            likely = np.argsort(-chances, kind="stable").tolist()
            answers = {choice.values[n]: float(chances[n]) for n in likely}
            found.append(Question("part", choice.name, told_bits, answers))
    return sorted(found, key=lambda question: (-question.bits, question.kind))


def answered(state: State, question: Question, said: str) -> Answers:
    """The answers with one more."""
    one = (
        CaseAnswer.model_validate({"case": question.about, "answer": said})
        if question.kind == "case"
        else PartAnswer(part=question.about, answer=said)
    )
    return state.answers._replace(given=(*state.answers.given, one))


__all__ = ["ENOUGH", "LEAST_BITS", "UNKNOWN", "Group", "Question", "State", "answered", "ask"]
