"""Examples kept beside a rule: a few events, and what the rule should say of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import yaml
from pydantic import BeforeValidator, Field, model_validator

from gnrs_ppl.audit.types import Verdict
from gnrs_ppl.context.files import parse_yaml, read_data, read_text, validated
from gnrs_ppl.context.output import write_all
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import ClockDuration, Frozen, Moment, Name, RecordLayer, Schema, _listed
from gnrs_ppl.errors import InputError
from gnrs_ppl.realize.english import capitalised
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.sentence import explain
from gnrs_ppl.realize.text import render
from gnrs_ppl.rule.types import Structure
from gnrs_ppl.rulebook.imagined import NEVER, START, Happening, Imagined, Said, Trace, acts_of
from gnrs_ppl.rulebook.vocabulary import vocabulary

Expected = Literal["broken", "kept", "excused", "silent", "undecided"]
SAYS: dict[Verdict, Expected] = {
    "violated": "broken",
    "satisfied": "kept",
    "excused": "excused",
    "not_activated": "silent",
    "indeterminate": "undecided",
    "pending": "undecided",
}
"""A verdict in the words of examples."""


def _happened(value: Any) -> Any:
    return {"act": value} if isinstance(value, str) else value


class Happened(Frozen):
    """An event of an example; a plain string is its act. What it leaves out, the record leaves out."""

    act: Name
    """What was done, as the rule names it."""
    after: ClockDuration | None = None
    """How long after the first event; at the same time where neither after nor at is stated."""
    at: Moment | None = None
    """When, in place of after: a day, or a local time."""
    by: Name | None = None
    """Who acted."""
    role: Name | None = None
    """In which role."""
    object: Name | None = None
    """On what."""
    location: Name | None = None
    """Where."""
    log: Name | None = None
    """The log that recorded it; the first of the rule's that can where left out."""

    @model_validator(mode="after")
    def _one_time(self) -> Happened:
        if self.after is not None and self.at is not None:
            raise ValueError("after and at contradict one another; keep one of the two")
        return self


class Example(Frozen):
    """One example."""

    name: Name
    """What it shows."""
    events: Annotated[
        tuple[Annotated[Happened, BeforeValidator(_happened, json_schema_input_type=str | Happened)], ...],
        BeforeValidator(_listed),
        Field(min_length=1, max_length=50),
    ]
    """What happened, the first event first."""
    until: ClockDuration | None = None
    """How long after the first event the records end; late enough for every deadline where left out."""
    expect: Expected
    """What the rule should say: broken, kept, excused (broken but for an exception), silent (nothing calls
    the rule up), or undecided (the record leaves it open, or the time is still running)."""


class Examples(Frozen):
    """Examples kept beside a rule; ``gnrs test`` holds the rule against them."""

    cases: Annotated[tuple[Example, ...], BeforeValidator(_listed), Field(min_length=1, max_length=2000)]
    """The examples."""

    @model_validator(mode="after")
    def _own_names(self) -> Examples:
        names = [case.name for case in self.cases]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"two cases are named {twice!r}")
        return self


class Outcome(NamedTuple):
    """An example, the trace it stands for, and what the rule says of it."""

    example: Example
    trace: Trace
    said: Said
    sentences: tuple[str, ...]

    @property
    def says(self) -> Expected:
        """What the rule says, in the words of examples."""
        return SAYS[self.said.verdict]

    @property
    def passed(self) -> bool:
        """Whether it says what was expected."""
        return self.says == self.example.expect


@dataclass(frozen=True)
class Tested:
    """A rule held against its examples."""

    text: str
    lexicon: Lexicon
    imagined: Imagined
    outcomes: tuple[Outcome, ...]

    @property
    def red(self) -> list[Outcome]:
        """Those of which the rule says something else."""
        return [outcome for outcome in self.outcomes if not outcome.passed]

    def as_dict(self) -> dict[str, Any]:
        """The JSON of ``gnrs test``."""
        return {
            "rule": self.text,
            "green": len(self.outcomes) - len(self.red),
            "red": len(self.red),
            "cases": [
                {
                    "name": outcome.example.name,
                    "passed": outcome.passed,
                    "expected": outcome.example.expect,
                    "says": outcome.says,
                    "verdict": outcome.said.verdict,
                    "reason": outcome.said.instance and outcome.said.instance.reason,
                    "sentences": list(outcome.sentences),
                }
                for outcome in self.outcomes
            ],
        }


def read_examples(path: Path) -> Examples:
    """The examples in a YAML or JSON file; raises InputError with file, field, problem and remedy."""
    return validated(Examples, read_data(path), source=str(path))


def run_examples(
    structure: Structure,
    examples: Examples,
    records: RecordLayer,
    schema: Schema | None = None,
    source: str = "examples",
) -> Tested:
    """What a rule says of examples, on records that are complete.

    Parameters
    ----------
    structure : Structure
    examples : Examples
    records : RecordLayer
        What each channel can record, at which grain, and how cases end.
    schema : Schema, optional
        Words for the names.
    source : str, optional
        The examples' file, for error lines.

    Raises
    ------
    InputError
        An event stands in no log, or in none that can record it, or before the first.
    Refused
        The rule cannot be checked though records be complete.
    """
    imagined = Imagined.of((structure,), records)
    lexicon = Lexicon.of(schema or Schema(), records).including(structure)
    traces = [_trace(case, structure, imagined, f"{source}: cases.{case.name}") for case in examples.cases]
    everything = tuple(
        Happening(
            kind.activity,
            kind.channel,
            START,
            who,
            kind.role or "a role",
            kind.object or "an object",
            kind.location or "a place",
        )
        for kind in vocabulary((structure,), imagined).kinds
        for who in ("person 1", "person 2")
    )
    said: dict[int, Said] = {}
    for until in dict.fromkeys(case.until for case in examples.cases):
        chosen = {i: traces[i] for i, case in enumerate(examples.cases) if case.until == until}
        # examples that end early begin at different times, so each has records of its own
        for group in [chosen] if until is None else [{i: trace} for i, trace in chosen.items()]:
            first = next(iter(group.values()))[0].at
            here = imagined if until is None else imagined.until(until.after(first))
            log = here.log({str(i): trace for i, trace in group.items()}, everything)
            judged = here.judged(structure, log)
            said |= {i: judged.get(str(i), Said()) for i in group}
    outcomes = []
    for i, (case, trace) in enumerate(zip(examples.cases, traces, strict=True)):
        told = [
            capitalised(explain(one._replace(case_id="it"), structure, lexicon).removeprefix("In case it, "))
            for one in said[i].instances
        ]
        outcomes.append(Outcome(case, trace, said[i], tuple(dict.fromkeys(told)) or (NEVER,)))
    return Tested(render(structure, lexicon, records.dates_only), lexicon, imagined, tuple(outcomes))


def _trace(case: Example, structure: Structure, imagined: Imagined, place: str) -> Trace:
    """The rows of an example."""
    first = case.events[0]
    if first.after is not None:
        raise InputError("the first event has nothing to come after", "leave after out there", source=place)
    start = _local(first.at, imagined) if first.at is not None else START
    return tuple(
        Happening(
            event.act,
            _log(event, structure, imagined, f"{place}.events.{number}"),
            _local(event.at, imagined)
            if event.at is not None
            else event.after.after(start)
            if event.after
            else start,
            event.by,
            event.role,
            event.object,
            event.location,
        )
        for number, event in enumerate(case.events)
    )


def _local(moment: datetime | date, imagined: Imagined) -> datetime:
    if not isinstance(moment, datetime):
        return datetime.combine(moment, time())
    if moment.tzinfo is None:
        return moment
    ahead = moment.utcoffset() or timedelta()
    return moment.replace(tzinfo=None) - ahead + timedelta(minutes=imagined.records.offset or 0)


def _log(event: Happened, structure: Structure, imagined: Imagined, place: str) -> str:
    """The log an event stands in: as stated, else the first of the rule's that can record it."""
    trigger = structure.trigger
    named = (
        [trigger.channel] if trigger.act and trigger.channel and event.act in trigger.act.activities else []
    )
    cited = [
        *named,
        *(
            c.after.channel
            for c in structure.norm.constraints
            if c.after and event.act in c.after.act.activities
        ),
        *structure.evidence.channels,
        *(channel.name for channel in imagined.records.channels),
    ]
    able = imagined.recorders(event.act, dict.fromkeys(cited))
    known = sorted({a for c in imagined.records.channels if c.durable for a in c.activities or ()})
    if event.log is None:
        if able:
            return able[0]
        if event.act in {a for act in acts_of(structure) for a in act.activities} or not known:
            raise InputError(f"no log can record {event.act!r}", "state log", source=place, field="act")
        raise InputError(
            f"{event.act!r} is no act of these records",
            f"name one of {', '.join(known[:12])}",
            source=place,
            field="act",
        )
    if imagined.records.channel(event.log) is None:
        names = ", ".join(channel.name for channel in imagined.records.channels)
        raise InputError(
            f"{event.log!r} is no log of these records", f"name one of {names}", source=place, field="log"
        )
    return event.log


def example_of(
    name: str, trace: Sequence[Happening], expect: Expected, imagined: Imagined, *, who: bool = True
) -> Example:
    """A trace as an example, with or without who acts."""
    start = trace[0].at
    dates = imagined.grain(trace[0].channel) == "day"
    events = []
    for place, row in enumerate(trace):
        days, seconds = divmod(round((row.at - start).total_seconds()), 86400)
        events.append(
            Happened(
                act=row.activity or "?",
                after=Duration(days=days, seconds=seconds) if days or seconds else None,
                at=(start.date() if dates else start) if not place else None,
                by=row.who if who else None,
                role=row.role,
                object=row.object,
                location=row.location,
                log=row.channel,
            )
        )
    return Example(name=name, events=tuple(events), expect=expect)


def save_example(path: Path, example: Example) -> None:
    """Add an example to a file of examples, or begin one; what stands in the file stays as it is.

    Raises
    ------
    InputError
        The file holds something else, or an example of that name, or is not laid out as a YAML list.
    """
    item = yaml.safe_dump(
        [example.model_dump(mode="json", exclude_defaults=True)],
        sort_keys=False,
        allow_unicode=True,
        width=110,
        default_flow_style=None,
    )
    block = "".join(f"  {line}\n" for line in item.splitlines())
    before = "cases:\n"
    if path.exists():
        known = read_examples(path)
        if any(case.name == example.name for case in known.cases):
            raise InputError(
                f"holds a case {example.name!r} already", "remove or rename it", source=str(path)
            )
        before = read_text(path).rstrip("\n") + "\n"
    text = before + block
    try:
        written = validated(Examples, parse_yaml(text, str(path)), source=str(path))
        fits = written.cases[-1] == example
    except InputError:
        fits = False
    if not fits:
        raise InputError(
            "is not laid out as a list of cases that one can be added to",
            "write it as YAML with '  - name:' lines under cases:, or name a new file",
            source=str(path),
        )
    write_all(path.parent, [(path.name, text.encode())])
