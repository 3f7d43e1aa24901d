"""``gnrs audit``: rule file, log and context brought together, then one call of
:func:`gnrs_ppl.audit.audit`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from gnrs_ppl.audit import audit
from gnrs_ppl.audit.again import Checked
from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import compile_procedure, compile_rule
from gnrs_ppl.audit.dialects import Dialect
from gnrs_ppl.audit.engines import Engine, log_on
from gnrs_ppl.audit.engines.events import EventTable
from gnrs_ppl.audit.engines.explain import explained
from gnrs_ppl.audit.in_place import LISTED
from gnrs_ppl.audit.large import LargeAudit, audit_in_place
from gnrs_ppl.audit.result import AuditResult
from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.context.files import validated
from gnrs_ppl.context.folder import large_log
from gnrs_ppl.context.load import aside_of, is_log_of
from gnrs_ppl.context.log import EventLog, read_log, resolved
from gnrs_ppl.context.output import as_written
from gnrs_ppl.context.types import RecordLayer, Schema
from gnrs_ppl.errors import InputError
from gnrs_ppl.rule.files import read_rule
from gnrs_ppl.rule.types import Structure

Remarks = Callable[[Structure, Schema, RecordLayer, EventLog], tuple[str, ...]]


def audit_files(
    rule: Path,
    log: Path | None = None,
    context: Path | None = None,
    allow_unrecorded: bool = False,
    *,
    columns: Mapping[str, str] | None = None,
    zone: str | None = None,
    remarks: Remarks | None = None,
    earlier: Callable[[str], Checked | None] | None = None,
) -> AuditResult:
    """Audit a rule file on a log.

    Record layer and words are those of the context where one is named, else the rule file's own, as the rule
    was drafted with them, else the log's standard columns. ``log`` goes before the context's log, and that
    before the rule file's. ``columns`` (event-table column to column of the file) and ``zone`` go before what
    the record layer says. A rule that was edited since it was drafted is a finding, and so is what
    ``remarks`` says of the rule on these records. ``earlier`` is that of :func:`gnrs_ppl.audit.audit`.

    Raises
    ------
    InputError
        A file is missing or malformed, the rule's folder is half written, or no log is named.
    Refused
        The rule cannot be checked on these records, or states a name that is neither declared nor in any row,
        unless allowed.
    """
    asked = asked_for(rule, log, context, columns=columns, zone=zone)
    events = _read(asked)
    result = audit(
        asked.rule,
        events,
        records=asked.records,
        schema=asked.schema,
        allow_unrecorded=allow_unrecorded,
        earlier=earlier,
    )
    if remarks is not None:
        said = remarks(asked.rule, asked.schema or Schema(), asked.records, events)
        result = replace(result, findings=(*result.findings, *said))
    return replace(result, findings=(*asked.findings, *result.findings))


def audit_on(
    asked: Asked, on: Engine, allow_unrecorded: bool = False, *, listed: bool = False
) -> AuditResult | LargeAudit:
    """Audit what is asked where the events are.

    Of more events than :data:`~gnrs_ppl.audit.in_place.LISTED` the verdicts are counted there, unless they are to
    be ``listed``.

    Raises
    ------
    InputError, Refused
        As :func:`audit_files`.
    """
    events = log_on(on, asked.records)
    run = audit if listed or events.events <= LISTED else audit_in_place
    result: AuditResult | LargeAudit = run(
        asked.rule,
        events,
        records=asked.records,
        schema=asked.schema,
        allow_unrecorded=allow_unrecorded,
    )
    on.check_unchanged()
    return replace(result, findings=(*asked.findings, *result.findings))


def explain_files(
    rule: Path,
    log: Path | None = None,
    context: Path | None = None,
    dialect: Dialect = "duckdb",
    *,
    columns: Mapping[str, str] | None = None,
    zone: str | None = None,
    on: Engine | None = None,
) -> str:
    """The SQL of what :func:`audit_files` would run, in a dialect; raises as it does."""
    asked = asked_for(rule, log, context, columns=columns, zone=zone, elsewhere=on is not None)
    with ExitStack() as opened:
        if asked.log is not None and asked.log.is_dir():
            events, _ = opened.enter_context(large_log(asked.log, asked.records))
        else:
            events = _read(asked) if on is None else log_on(on, asked.records)
        plan = check(asked.rule, resolved(asked.records, events), events)
    table = EventTable.of(on, asked.records) if on is not None else None
    queries = (compile_rule(plan), compile_procedure(plan))
    return "\n".join(explained(query, dialect, table) for query in queries if query is not None)


def _read(asked: Asked) -> EventLog:
    assert asked.log is not None
    return read_log(asked.log, asked.records, asked.set_aside)


class Asked(NamedTuple):
    """What an audit of files is asked to check.

    Attributes
    ----------
    rule : Structure
    log : Path or None
        A file, or a folder of Parquet files; None where the events are in a database.
    records : RecordLayer
    schema : Schema or None
        Words, and names that may lack rows.
    findings : tuple of str
        Whether the rule was edited since it was drafted.
    set_aside : Path or None
        The rows that import set aside of the log, where the context names them.
    """

    rule: Structure
    log: Path | None
    records: RecordLayer
    schema: Schema | None
    findings: tuple[str, ...]
    set_aside: Path | None = None


def asked_for(
    rule: Path,
    log: Path | None = None,
    context: Path | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    zone: str | None = None,
    elsewhere: bool = False,
) -> Asked:
    """Rule, log and record layer out of the files that :func:`audit_files` is given; no log where the events
    are ``elsewhere``.
    """
    unchanged = as_written(rule)
    read = read_rule(rule)
    given = load_context(context, goalless=True) if context is not None else None
    records = _told(given.records if given else read.records or RecordLayer(), columns or {}, zone)
    path: Path | None = None
    if log is not None:
        path = log
    elif given is not None and given.records.log is not None:
        path = given.folder / given.records.log
    elif read.records is not None and read.records.log is not None:
        path = rule.parent / read.records.log
    elif not elsewhere:
        raise InputError("no log to audit", "pass --log, or a context that names one", source="arguments")
    aside = None
    if given is not None and path is not None and is_log_of(given.folder, given.records, path):
        aside = aside_of(given.folder, given.records)
    schema = given.schema if given else read.institution
    findings = (f"{rule.name} was changed after it was drafted",) if unchanged is False else ()
    return Asked(read.rule, None if elsewhere else path, records, schema, findings, aside)


def _told(records: RecordLayer, columns: Mapping[str, str], zone: str | None) -> RecordLayer:
    """The record layer with the columns and the clock that the arguments state."""
    if not columns and zone is None:
        return records
    data = records.model_dump()
    data["columns"] |= columns
    data["constants"] = {name: value for name, value in records.constants.items() if name not in columns}
    if zone is not None:
        data |= {"zone": zone, "offset": None}
    return validated(RecordLayer, data, source="arguments")
