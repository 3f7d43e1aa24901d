"""Run a compiled check on a log (SEMANTICS line 22)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import Query, compile_rule
from gnrs_ppl.audit.types import Due, InstanceVerdict
from gnrs_ppl.context.log import EventLog
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.rule.types import Structure

COLUMNS: Final = {
    "case_id": "VARCHAR",
    "instance": "VARCHAR",
    "constraint": "INTEGER",
    "verdict": "VARCHAR",
    "reason": "VARCHAR",
    "witnesses": "VARCHAR[]",
    "bearer": "VARCHAR",
    "due": "TIMESTAMP",
    "due_offset": "INTEGER",
    "due_grain": "VARCHAR",
    "slack_seconds": "DOUBLE",
    "of_target": "BOOLEAN",
}
"""Columns of a verdict as a row, and their types; of_target may be absent."""


def evaluate(structure: Structure, records: RecordLayer, log: EventLog) -> list[InstanceVerdict]:
    """Check a rule on a log.

    Parameters
    ----------
    structure : Structure
        The rule; one of force may gives no rows (line 12).
    records : RecordLayer
        The record layer as declared.
    log : EventLog
        The rows of D.

    Returns
    -------
    list of InstanceVerdict
        One per instance and constraint, by (case_id, instance, constraint).
    """
    if structure.norm.force == "may":
        return []
    return execute(compile_rule(check(structure, records, log)), log)


def execute(query: Query, log: EventLog) -> list[InstanceVerdict]:
    """Run a compiled check.

    Parameters
    ----------
    query : Query
        From ``compile_rule`` or ``compile_procedure``.
    log : EventLog
        The log it was compiled for.

    Returns
    -------
    list of InstanceVerdict
        By (case_id, instance, constraint).
    """
    return verdicts_of(log.connection.execute(query.sql, query.parameters).fetchall())


def verdicts_of(rows: Iterable[Sequence[Any]]) -> list[InstanceVerdict]:
    """Rows of :data:`COLUMNS`, such as a compiled check gives."""
    return [
        InstanceVerdict(
            case_id,
            instance,
            constraint,
            verdict,
            reason,
            tuple(witnesses),
            bearer,
            None if local is None else Due(local, offset, grain),
            slack,
            *of_target,
        )
        for case_id, instance, constraint, verdict, reason, witnesses, bearer, local, offset, grain, slack, *of_target in rows
    ]


def row_of(verdict: InstanceVerdict) -> tuple[Any, ...]:
    """A verdict as a row of :data:`COLUMNS`."""
    *told, witnesses, bearer, due, slack, of_target = verdict
    return (*told, list(witnesses), bearer, *(due or (None, None, None)), slack, of_target)
