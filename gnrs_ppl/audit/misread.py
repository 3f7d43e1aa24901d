"""Notes on a rule that the log cannot put to the test, or that nearly everybody breaks: likely misread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gnrs_ppl.audit.checkable import CheckPlan, ConstraintPlan
from gnrs_ppl.audit.evidence import matches
from gnrs_ppl.audit.sql import SqlStatement
from gnrs_ppl.audit.types import VERDICTS, Verdict
from gnrs_ppl.context.log import EventLog
from gnrs_ppl.rule.types import NEGATIVE

NEARLY_ALL = 0.95
"""Share of violations among the decided from which a rule is likely misread."""
ENOUGH = 20
"""Decided instances without which no share is told."""


def likely_misread(
    plan: CheckPlan, counted: Mapping[tuple[int, Verdict], int], log: EventLog
) -> tuple[str, ...]:
    """What to tell of constraints that never bite or are nearly always broken.

    Parameters
    ----------
    plan : CheckPlan
        What the verdicts come from.
    counted : mapping
        Instances by (constraint, verdict).
    log : EventLog
        The rows of D.

    Returns
    -------
    tuple of str
        A line for each, with the counts.
    """
    if plan.structure.norm.force == "may":
        return ()
    return tuple(line for c in plan.constraints if c.opener is None for line in _notes(plan, c, counted, log))


def _notes(
    plan: CheckPlan, constraint: ConstraintPlan, counted: Mapping[tuple[int, Verdict], int], log: EventLog
) -> Iterator[str]:
    stated = plan.structure.norm.constraints[constraint.index]
    name = f"norm.constraints[{constraint.index}] ({stated.template} {stated.target.activity!r})"
    counts = {verdict: counted.get((constraint.index, verdict), 0) for verdict in VERDICTS}
    if sum(counts.values()) == counts["not_activated"]:
        yield f"{name} can never bite on this log: 0 activations"
    elif stated.template in NEGATIVE and not stated.compared and not _rows(plan, constraint, log):
        yield f"{name} can never be broken on this log: 0 rows are, or may be, what it forbids"
    if stated.template in ("existence", "exactly") and plan.structure.trigger.act is not None:
        cases, before = _earlier(plan, constraint, log)
        if before:
            yield (
                f"{name} counts only what comes after the trigger: in {before:,} of {cases:,} cases with both, "
                f"{stated.target.activity!r} is recorded before it; if that counts too, use responded_existence, or "
                "leave the trigger out"
            )
    decided = counts["satisfied"] + counts["violated"]
    if decided >= ENOUGH and counts["violated"] >= NEARLY_ALL * decided:
        share = counts["violated"] / decided
        yield (
            f"{name} is broken in {counts['violated']:,} of {decided:,} decided instances ({share:.1%}): what "
            "nearly all break is likely misread"
        )


def _rows(plan: CheckPlan, constraint: ConstraintPlan, log: EventLog) -> int:
    """How many rows are the target, or may be."""
    statement = SqlStatement(set(plan.grains), plan.offsets, plan.attributes)
    match = matches(statement, "target", constraint.target.act)
    channels = statement.bind_all("channel", constraint.target.rel)
    (rows,) = log.one(
        f"SELECT count(*) FROM events WHERE ({match}) IS NOT FALSE AND (channel IN ({channels})) IS NOT FALSE",
        statement.parameters,
    )
    return int(rows)


def _earlier(plan: CheckPlan, constraint: ConstraintPlan, log: EventLog) -> tuple[int, int]:
    """Cases that hold the trigger's act and the target's, and those of them that hold the target's before it."""
    statement = SqlStatement(set(plan.grains), plan.offsets, plan.attributes)
    trigger = plan.structure.trigger.act
    assert trigger is not None
    opens, match = matches(statement, "opens", trigger), matches(statement, "target", constraint.target.act)
    cases, before = log.one(
        f"""SELECT count(*), count(*) FILTER (first < opened) FROM (
              SELECT min("timestamp") FILTER ({opens}) AS opened, min("timestamp") FILTER ({match}) AS first
              FROM events GROUP BY "case_id") WHERE opened IS NOT NULL AND first IS NOT NULL""",
        statement.parameters,
    )
    return int(cases), int(before)
