"""Run a rule on a log: structure -> SQL -> verdicts -> one result (SEMANTICS)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from gnrs_ppl.audit.types import VERDICTS, InstanceVerdict, Reason, Verdict
from gnrs_ppl.context.load import Context
from gnrs_ppl.context.log import EventLog, resolved
from gnrs_ppl.context.types import RecordLayer, Schema
from gnrs_ppl.errors import InputError
from gnrs_ppl.rule.types import Structure

if TYPE_CHECKING:
    from collections.abc import Callable

    from gnrs_ppl.audit.again import Checked
    from gnrs_ppl.audit.result import AuditResult

__all__ = ["VERDICTS", "InstanceVerdict", "Reason", "Verdict", "audit"]


def audit(
    structure: Structure,
    log: EventLog | Context,
    *,
    records: RecordLayer | None = None,
    schema: Schema | None = None,
    allow_unrecorded: bool = False,
    earlier: Callable[[str], Checked | None] | None = None,
) -> AuditResult:
    """Verdicts of a rule on a log.

    Parameters
    ----------
    structure : Structure
        The rule.
    log : EventLog or Context
        The records; a context brings its record layer and its words.
    records : RecordLayer, optional
        The record layer the rule was compiled with; default: that of the log.
    schema : Schema, optional
        Words for the sentences, and the names that may lack rows; default: the context's, else derived from
        the names.
    allow_unrecorded : bool, optional
        Take names that are neither declared nor in any row as findings.
    earlier : callable, optional
        From a check's basis to an earlier check on it, such as a store has (``gnrs_ppl.audit.again``): only
        cases that changed since are checked again, with the same outcome.

    Returns
    -------
    AuditResult
        Counts at both levels, a verdict with witnesses per instance, the SQL that gave them.

    Raises
    ------
    Refused
        The rule cannot be checked on these records, or states a name that is neither declared nor in any row;
        the line holds the count.
    InputError
        An unimplemented template or a malformed rule.
    """
    from gnrs_ppl.audit.again import check_again, ground
    from gnrs_ppl.audit.checkable import check
    from gnrs_ppl.audit.compile import compile_procedure, compile_rule
    from gnrs_ppl.audit.dates import read_otherwise
    from gnrs_ppl.audit.misread import likely_misread
    from gnrs_ppl.audit.names import unrecorded
    from gnrs_ppl.audit.result import AuditResult, ProcedureAudit, roll_up
    from gnrs_ppl.audit.run import execute
    from gnrs_ppl.audit.uncounted import Records
    from gnrs_ppl.realize.lexicon import Lexicon
    from gnrs_ppl.realize.sentence import explain
    from gnrs_ppl.realize.text import render
    from gnrs_ppl.versions import versions

    if isinstance(log, Context):
        if log.records.prospective:
            raise InputError(
                "names no log",
                "pass the rows of one: its records are only declared",
                source=log.source,
                field="records.log",
            )
        records, schema = records or log.records, schema or log.schema
        log = log.log
    filled = resolved(records or log.records, log)
    lacking = unrecorded(structure, filled, schema or Schema(), log, allow_unrecorded)
    plan = check(structure, filled, log)
    query = compile_rule(plan)
    standing = None if earlier is None else ground(plan, log)
    before = None if earlier is None or standing is None else earlier(standing.basis)
    again = None if before is None or standing is None else check_again(plan, log, standing, before)
    verdicts = again.verdicts if again else tuple(execute(query, log))
    otherwise = tuple(read_otherwise(plan, records or log.records, log, verdicts))
    follow_up = compile_procedure(plan)
    lexicon = Lexicon.of(schema or Schema(), filled).including(
        structure
    )  # plain words for names no schema lists
    procedure = (
        ProcedureAudit("prospective")
        if follow_up is None
        else ProcedureAudit(
            "compiled", again.steps if again else tuple(execute(follow_up, log)), follow_up.sql
        )
    )
    shown = Records(structure, log, verdicts)
    return AuditResult(
        structure=structure,
        text=render(structure, lexicon, dates_only=filled.dates_only),
        verdicts=verdicts,
        cases=roll_up(verdicts, log),
        sql=query.sql,
        parameters=query.parameters,
        capability={c.name: list(c.activities or ()) for c in filled.channels if c.durable},
        assumptions=plan.assumptions,
        findings=likely_misread(plan, Counter((v.constraint, v.verdict) for v in verdicts), log)
        + otherwise
        + tuple(f for f in log.findings if not any(line.startswith(f) for line in otherwise))
        + plan.findings
        + lacking
        + ((again.said,) if again else ()),
        procedure=procedure,
        events=log,
        versions=versions(),
        standing=standing,
        sentence=lambda verdict: explain(verdict, structure, lexicon, shown),
        called=lexicon.called,
    )
