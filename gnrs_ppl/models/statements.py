"""Which of the statements read from a goal's sentence a rule says."""

from __future__ import annotations

from collections.abc import Iterator

from gnrs_ppl.reading.types import Reading, Readings
from gnrs_ppl.rule.types import Constraint, Norm, Structure, Trigger


def statements_said(structure: Structure, readings: Readings) -> tuple[bool, ...]:
    """For each statement, whether the rule says it as it is most probably read."""
    return tuple(says(structure.trigger, structure.norm, statement.best) for statement in readings.statements)


def says(trigger: Trigger, norm: Norm, reading: Reading) -> bool:
    """Whether the norm has a constraint of the reading's template on each of its targets, with what the
    reading says of it.

    Where the reading has an activation, the trigger or the constraint's ``after`` is that act; a second
    activation is ``after``; a stated duration is the deadline, an exception the act that excuses; who acts is
    whoever opened it, or another person, where the sentence says so. What one act or another is
    to do, one constraint says.
    """
    if (reading.force == "may") != (norm.force == "may"):
        return False
    names = [act.activity for act in reading.targets]
    wanted = [set(names)] if reading.joint == "any" else [{name} for name in names]
    fitting = [
        set(c.target.activities)
        for c in norm.constraints
        if _fits(trigger, c, reading) and _by_whom(norm, c, reading)
    ]
    return all(any(acts <= found for found in fitting) for acts in wanted)


def _fits(trigger: Trigger, constraint: Constraint, reading: Reading) -> bool:
    asked_in_time = (
        reading.template == "existence"
        and reading.activation is None
        and reading.count == 1
        and reading.time is not None
    )
    if constraint.template != reading.template and not (asked_in_time and constraint.template == "response"):
        return False
    duration = reading.time.duration if reading.time and not reading.time.working_days else None
    opened = set(_openers(trigger, constraint))
    return (
        constraint.count == (reading.count if reading.template in ("existence", "exactly", "absence") else 1)
        and (reading.activation is None or reading.activation.activity in opened)
        and (
            reading.after is None
            or (constraint.after is not None and reading.after.activity in constraint.after.act.activities)
        )
        and (duration is None or constraint.deadline == duration)
        and (
            reading.exception is None
            or (constraint.unless is not None and reading.exception.activity in constraint.unless.activities)
        )
    )


def _by_whom(norm: Norm, constraint: Constraint, reading: Reading) -> bool:
    """Whether the one who opened it is asked, or another person is, where the sentence says so.

    Where it says nothing of that, no other person is asked, and the same person only if it names somebody who
    is bound: what "must be sent", anybody may send. Where a template compares no persons, another acts where
    the one who opened it is banned from the act.
    """
    correlation = norm.correlation(constraint)
    if reading.by_another:
        return correlation == "different_resource" or any(
            c.template == "not_coexistence"
            and norm.correlation(c) == "same_resource"
            and c.target == constraint.target
            for c in norm.constraints
        )
    if reading.who is None or reading.activation is None:
        named = reading.one_subject or reading.who or reading.bearers
        return correlation != "different_resource" and (bool(named) or correlation != "same_resource")
    return correlation == "same_resource"


def _openers(trigger: Trigger, constraint: Constraint) -> Iterator[str]:
    for act in (trigger.act, constraint.after.act if constraint.after else None):
        if act is not None:
            yield from act.activities
