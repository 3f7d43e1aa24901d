"""The numbered checks in their order, run on a context, on what a rule speaks of, and with their safe fixes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.context.files import parse_json, parse_yaml, read_data, read_text, validated
from gnrs_ppl.context.load import NO_GOAL, Context, _ContextFile, check_names, to_json, with_log
from gnrs_ppl.context.log import EventLog
from gnrs_ppl.context.output import check_file, write_all
from gnrs_ppl.context.types import RecordLayer, Schema
from gnrs_ppl.errors import InputError
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.records.cells import read_cells
from gnrs_ppl.records.lint.channels import (
    beyond_capability,
    no_coverage,
    outside_coverage,
    silent_channels,
    unused_capability,
)
from gnrs_ppl.records.lint.findings import FIRST, SEVERITIES, Finding, Found, Linted, Material, Severity
from gnrs_ppl.records.lint.names import (
    dangling,
    nearly_alike,
    never_recorded,
    same_words,
    undeclared,
    unknown_words,
)
from gnrs_ppl.records.lint.rows import (
    constant_columns,
    doubled,
    doubled_ids,
    empty_columns,
    incomplete_rows,
    ragged_rows,
    rows_set_aside,
    two_logs,
    unread_cells,
)
from gnrs_ppl.records.lint.times import (
    after_observation,
    closes_before_opening,
    dates_alone,
    ends_before_start,
    far_off_rows,
    mixed_offsets,
    offsets_on_some,
    planned_rows,
    sentinels,
    some_dates_alone,
    times_without_offset,
    unreadable_times,
)
from gnrs_ppl.records.mend import mended
from gnrs_ppl.records.names import known_names, uses, without
from gnrs_ppl.rule.canonical import payloads
from gnrs_ppl.rule.types import Structure


def refused(m: Material) -> Iterator[Found]:
    """What else stops the context from being used."""
    for error in m.refused:
        yield Found(error.field or error.source, error.problem, 1, "", error.remedy)


class Check(NamedTuple):
    """A numbered check."""

    code: str
    severity: Severity
    run: Callable[[Material], Iterable[Found]]
    explains: bool = False
    """Whether its findings are why the log is refused."""


CHECKS = (
    Check("G101", "error", dangling),
    Check("G102", "warning", never_recorded),
    Check("G103", "warning", undeclared),
    Check("G104", "warning", nearly_alike),
    Check("G105", "error", same_words),
    Check("G106", "note", unknown_words),
    Check("G201", "error", unreadable_times, explains=True),
    Check("G202", "error", times_without_offset, explains=True),
    Check("G203", "warning", mixed_offsets),
    Check("G204", "warning", offsets_on_some),
    Check("G205", "note", dates_alone),
    Check("G206", "warning", some_dates_alone),
    Check("G207", "warning", ends_before_start),
    Check("G208", "warning", closes_before_opening),
    Check("G209", "warning", after_observation),
    Check("G210", "warning", far_off_rows),
    Check("G211", "note", planned_rows),
    Check("G212", "warning", sentinels),
    Check("G301", "error", doubled_ids, explains=True),
    Check("G302", "warning", doubled),
    Check("G303", "warning", incomplete_rows),
    Check("G304", "error", ragged_rows, explains=True),
    Check("G305", "warning", empty_columns),
    Check("G306", "note", constant_columns),
    Check("G307", "warning", two_logs),
    Check("G308", "warning", rows_set_aside),
    Check("G309", "warning", unread_cells),
    Check("G401", "warning", silent_channels),
    Check("G402", "note", no_coverage),
    Check("G403", "warning", outside_coverage),
    Check("G404", "warning", beyond_capability),
    Check("G405", "note", unused_capability),
    Check("G900", "error", refused),
)
"""Every finding there is; a number is never given to another one."""


def lint(reference: str | Path, log: Path | None = None, *, fix: bool = False) -> Linted:
    """Look for what is wrong with a context and its records.

    Parameters
    ----------
    reference : str or Path
        A context file or a benchmark goal.
    log : Path, optional
        The event log, in place of the one the file names.
    fix : bool
        Write the safe fixes into the file; everything else in it, comments too, stays as it is.

    Raises
    ------
    InputError
        The file cannot be read as a context at all, or not be written.
    """
    path = Path(reference)
    if fix:
        check_file(path)
    material = _material(reference, log)
    findings = _findings(material, CHECKS)
    if not fix:
        return Linted(str(reference), findings)
    text, fixed = read_text(path), []
    for finding in findings:
        changed = mended(text, finding.edits, is_json=path.suffix == ".json") if finding.edits else None
        if changed is not None and _no_worse(text, changed, path):
            text = changed
            fixed += [(finding.code, f"{finding.where}: {edit.told()}") for edit in finding.edits]
    if not fixed:
        return Linted(str(reference), findings)
    write_all(path.absolute().parent, [(path.name, text.encode())])
    return Linted(str(reference), _findings(_material(reference, log), CHECKS), tuple(fixed))


def touching(structure: Structure, schema: Schema, records: RecordLayer, log: EventLog) -> tuple[str, ...]:
    """A line about the findings, beyond mere notes, that concern what a rule speaks of; none where there are
    none.

    Parameters
    ----------
    structure : Structure
        The rule.
    schema : Schema
    records : RecordLayer
    log : EventLog
    """
    data = {
        part: json.loads(model.model_dump_json())
        for part, model in (("schema", schema), ("records", records))
    }
    material = Material(data, schema, records, None, log)
    spoken = payloads(structure)
    concerned = (
        {(p.kind, p.name) for p in spoken} | {("column", p.kind) for p in spoken} | {("column", "timestamp")}
    )
    if any(c.correlate in ("same_resource", "different_resource") for c in structure.norm.constraints):
        concerned.add(("column", "resource"))
    found = [
        f
        for f in _findings(material, [check for check in CHECKS if check.severity != "note"])
        if f.names & concerned
    ]
    if not found:
        return ()
    told_ = [
        f"{f.code} ({', '.join(sorted(name for _, name in f.names & concerned)[:FIRST])})" for f in found
    ]
    count = (
        "1 finding of gnrs lint touches" if len(found) == 1 else f"{len(found)} findings of gnrs lint touch"
    )
    return (f"{count} this rule: {', '.join(told_)}",)


def _findings(material: Material, checks: Sequence[Check]) -> tuple[Finding, ...]:
    found = [Finding(check.code, check.severity, *one) for check in checks for one in check.run(material)]
    explained = {check.code for check in checks if check.explains}
    if any(f.code in explained for f in found):  # the log's own complaint says one of these again
        found = [f for f in found if f.code != "G900" or f.where.startswith(("schema", "goal", "records.c"))]
    return tuple(sorted(found, key=lambda f: (SEVERITIES.index(f.severity), f.code, f.where)))


def _material(reference: str | Path, log: Path | None) -> Material:
    path, refusals = Path(reference), list[InputError]()
    if re.fullmatch(r"GNRS-\d+|RC-[A-Z]+-\d+", str(reference)):
        context = load_context(reference, log, goalless=True)
        return Material(
            json.loads(to_json(context)),
            context.schema,
            context.records,
            None,
            None if context.records.prospective else context.log,
        )
    data = read_data(path)
    parsed = _parsed(data, path)
    records = with_log(parsed.records, log, path.parent)
    context = Context(parsed.goal or NO_GOAL, parsed.institution, records, None, str(path), path.parent)
    cells, events = None, None
    try:
        check_names(context)
    except InputError as error:
        refusals.append(error)
    if not records.prospective:
        try:
            if records.log is not None:
                cells = read_cells(path.parent / records.log, records)
            events = context.log
        except InputError as error:
            refusals.append(error)
    return Material(data, parsed.institution, records, cells, events, tuple(refusals))


def _no_worse(before: str, after: str, path: Path) -> bool:
    """Whether a text still is a context, and rule texts can tell its names apart where they could before."""
    return _speakable(after, path) >= _speakable(before, path)


def _speakable(text: str, path: Path) -> int:
    try:
        parsed = _parsed(
            parse_json(text, str(path)) if path.suffix == ".json" else parse_yaml(text, str(path)), path
        )
    except InputError:
        return 0
    try:
        Lexicon.of(parsed.institution, parsed.records)
    except InputError:
        return 1
    return 2


def _parsed(data: dict[str, Any], path: Path) -> _ContextFile:
    """A context file without its pools and without the names that it does not declare."""
    known = known_names(data)
    gone = [
        use.path for use in uses(data) if use.name not in known.get(use.kind, ()) and use.path[0] != "pools"
    ]
    return validated(
        _ContextFile,
        without({key: value for key, value in data.items() if key != "pools"}, gone),
        source=str(path),
    )
