"""Rule files with the words, the record layer and the log they are asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.context.load import aside_of, is_log_of
from gnrs_ppl.context.log import EventLog, read_log, resolved
from gnrs_ppl.context.output import as_written
from gnrs_ppl.context.types import RecordLayer, Schema
from gnrs_ppl.errors import InputError
from gnrs_ppl.rule.files import read_rule
from gnrs_ppl.rule.types import Structure


@dataclass(frozen=True)
class Given:
    """What a question about rules is asked of.

    Attributes
    ----------
    rules : tuple of Structure
    names : tuple of str
        What to call each: its title, else its file.
    schema : Schema
        Words for what the rules name.
    records : RecordLayer
        With what the log shows of each channel, where there is one.
    log : EventLog or None
    files : tuple of Path
        All files that were read.
    notes : tuple of str
        What to say of them.
    """

    rules: tuple[Structure, ...]
    names: tuple[str, ...]
    schema: Schema
    records: RecordLayer
    log: EventLog | None
    files: tuple[Path, ...]
    notes: tuple[str, ...] = ()


def given(
    rules: Sequence[Path], context: Path | None = None, log: Path | None = None, *, needs_log: bool = False
) -> Given:
    """Rule files, with words and record layer of the context where one is named, else of the first rule file.

    ``log`` goes before the context's log, and that before the rule file's.

    Raises
    ------
    InputError
        A file is missing or malformed, the folder of a rule is half written, or no log is named where
        ``needs_log``.
    """
    notes = [f"{rule.name} was changed after it was drafted" for rule in rules if as_written(rule) is False]
    read = [read_rule(rule) for rule in rules]
    loaded = load_context(context, goalless=True) if context is not None else None
    first = next(((rule, file) for rule, file in zip(rules, read, strict=True) if file.records), None)
    records = loaded.records if loaded else first[1].records if first else None
    records = records or RecordLayer()
    if loaded is None and any(file.records not in (None, records) for file in read):
        notes.append(f"the rules were drafted on different records; those of {rules[0].name} are used")
    path = log
    if path is None and loaded is not None and loaded.records.log is not None:
        path = loaded.folder / loaded.records.log
    if path is None and loaded is None and first is not None and records.log is not None:
        path = first[0].parent / records.log
    if path is None and needs_log:
        raise InputError("no log is named", "pass --log, or a --context that names one", source="arguments")
    aside = None
    if loaded is not None and path is not None and is_log_of(loaded.folder, loaded.records, path):
        aside = aside_of(loaded.folder, loaded.records)
    events = read_log(path, records, aside) if path is not None else None
    schema = (
        loaded.schema if loaded else next((f.institution for f in read if f.records), read[0].institution)
    )
    inputs = [*rules, *(place for place in (context, path) if place is not None)]
    return Given(
        tuple(file.rule for file in read),
        _names(rules, [file.title for file in read]),
        schema,
        resolved(records, events) if events else records,
        events,
        tuple(inputs),
        tuple(notes),
    )


def _names(rules: Sequence[Path], titles: Sequence[str]) -> tuple[str, ...]:
    """Titles where all have one of their own, else as much of each path as tells them apart."""
    if all(titles) and len(set(titles)) == len(titles):
        return tuple(titles)
    names = [rule.name for rule in rules]
    return tuple(names if len(set(names)) == len(names) else map(str, rules))
