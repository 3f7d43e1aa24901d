"""A context x = (g, C, D) read from one file; the log behind D is read when first asked for."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field

from gnrs_ppl.context.files import read_any, read_data, validated
from gnrs_ppl.context.limits import COMPARED
from gnrs_ppl.context.log import EventLog, read_log, resolved
from gnrs_ppl.context.profile import Profile, declared_profile, profile
from gnrs_ppl.context.traces import Traces
from gnrs_ppl.context.types import Attribute, Channel, Frozen, Goal, RecordLayer, Schema
from gnrs_ppl.errors import InputError


class _ContextFile(Frozen):
    """Shape of a context file; ``pools`` are read by :mod:`gnrs_ppl.rule.pools`."""

    model_config = ConfigDict(populate_by_name=True)

    goal: Goal | None = None
    """What the rule is for; gnrs goal new writes it."""
    institution: Schema = Field(alias="schema")
    """The names that goal and rules may use."""
    records: RecordLayer
    """Where the log is and what it can show."""
    pools: dict[str, Any] | None = None
    """Candidates for each slot of the rule, listed by hand; the context's own where left out."""


NO_GOAL = Goal(id="no_goal", intent="No goal is stated.")
"""Stands for the goal of a context that has none, where a verb needs none."""


SOURCES = ("reading", "template", "schema", "record")
"""Deterministic sources of candidates; the paper's are the last three."""


@dataclass(frozen=True)
class Context:
    """A rule-writing context x = (g, C, D) (paper, Preliminaries).

    Attributes
    ----------
    goal : Goal
        Normative goal g.
    schema : Schema
        Institutional schema C.
    records : RecordLayer
        Record layer D; its rows are in ``log``.
    pools : mapping or None
        Candidate pools as the file lists them, unread.
    source : str
        Where it comes from, for error lines.
    scene : Context or None
        The context whose log and profile this one shares.
    rule : int
        Which of the rules that the goal's sentence states is drafted, from 0.
    read_along : ReadAlong or None
        What a language model read in the goal's sentence, where one was asked.
    sources : tuple of str
        The deterministic sources of candidates; without ``reading`` the sentence is not looked at.
    """

    goal: Goal
    schema: Schema
    records: RecordLayer
    pools: Mapping[str, Any] | None = None
    source: str = "context"
    folder: Path = field(default_factory=Path)
    scene: Context | None = field(default=None, repr=False)
    rule: int = 0
    read_along: Any = field(default=None, repr=False)
    sources: tuple[str, ...] = SOURCES

    @cached_property
    def log(self) -> EventLog:
        """The event log, read on first use; empty where the record layer is prospective, else raises
        InputError where there is none.
        """
        if self.scene is not None:
            return self.scene.log
        if self.records.prospective:
            return EventLog.from_events((), self.records)
        if self.records.log is None:
            raise InputError(
                "names no log", "state records.log or pass --log", source=self.source, field="records.log"
            )
        return read_log(self.folder / self.records.log, self.records, aside_of(self.folder, self.records))

    @cached_property
    def traces(self) -> Traces:
        """Who does what when, as the log shows it."""
        return self.scene.traces if self.scene is not None else Traces(self.log, self.profile, self.records)

    @cached_property
    def resolved(self) -> RecordLayer:
        """The record layer with what the log shows of each channel's capability and grain, where it does not
        declare them.
        """
        return resolved(self.records, self.log)

    @cached_property
    def profile(self) -> Profile:
        """Counts of the record layer; what it declares where it is prospective."""
        if self.scene is not None:
            return self.scene.profile
        return declared_profile(self.schema, self.records) if self.records.prospective else profile(self.log)


def load_context(reference: str | Path, log: Path | None = None, *, goalless: bool = False) -> Context:
    """The context in a YAML or JSON file.

    Parameters
    ----------
    reference : str or Path
        Path of the file.
    log : Path, optional
        The event log, in place of the one the file names.
    goalless : bool
        Whether a context without a goal will do; its goal is then ``NO_GOAL``.

    Raises
    ------
    InputError
        With file, field, problem and remedy.
    """
    path = Path(reference)
    data = read_data(path)
    parsed = validated(_ContextFile, data, source=str(path))
    if parsed.goal is None and not goalless:
        raise InputError(
            "states no goal",
            f"gnrs goal new {shlex.quote(str(path))} --sentence TEXT writes one",
            source=str(path),
            field="goal",
        )
    context = Context(
        parsed.goal or NO_GOAL,
        parsed.institution,
        with_log(parsed.records, log, path.parent),
        parsed.pools,
        str(path),
        path.parent,
    )
    check_names(context)
    return context


def read_schema(path: Path) -> Schema:
    """The schema of a context file, of a file that holds it alone, or of a list of actions; raises
    InputError as :func:`load_context`.
    """
    data, source = read_any(path), str(path)
    if isinstance(data, list):
        return validated(Schema, {"actions": data}, source=source)
    if isinstance(data, dict) and "schema" in data:
        return validated(Schema, data["schema"], source=source, field="schema")
    if not isinstance(data, dict):
        raise InputError(
            "holds no schema", "give a context file, a schema, or a list of {name, phrase}", source=source
        )
    return validated(Schema, data, source=source)


def read_records(path: Path) -> tuple[tuple[Channel, ...], tuple[Attribute, ...]]:
    """The logs that a context file declares and what they record beside, none where it holds a schema alone;
    raises InputError as :func:`load_context`.
    """
    data = read_any(path)
    records = data.get("records") if isinstance(data, dict) and "schema" in data else None
    if not records:
        return (), ()
    read = validated(RecordLayer, records, source=str(path), field="records")
    return read.channels, read.attributes


def with_log(records: RecordLayer, log: Path | None, folder: Path = Path()) -> RecordLayer:
    """The record layer, of a file in a folder, with another log in place of its own, or of none."""
    if log is None:
        return records
    aside = aside_of(folder, records) if is_log_of(folder, records, log) else None
    return records.model_copy(
        update={
            "log": str(log.absolute()),
            "set_aside": None if aside is None else str(aside.absolute()),
            "prospective": False,
        }
    )


def is_log_of(folder: Path, records: RecordLayer, log: Path) -> bool:
    """Whether a file is the log that a record layer, of a file in a folder, names."""
    return records.log is not None and os.path.abspath(folder / records.log) == os.path.abspath(log)


def aside_of(folder: Path, records: RecordLayer) -> Path | None:
    """The file of rows set aside that a record layer, of a file in a folder, names."""
    return None if records.set_aside is None else folder / records.set_aside


def with_sentence(context: Context, sentence: str) -> Context:
    """The same schema and records with a sentence as the whole goal; pools listed for another goal are left
    out.
    """
    goal = validated(
        Goal, {"id": "sentence", "intent": sentence.strip()}, source="arguments", field="--sentence"
    )
    return replace(context, goal=goal, pools=None)


def context_of(scene: Context, goal: Goal, source: str) -> Context:
    """Another goal on the schema and records of a scene, whose log is read once for all of them."""
    context = replace(scene, goal=goal, source=source, scene=scene)
    check_names(context)
    return context


def check_names(context: Context) -> None:
    """Raise InputError where goal, record layer or prescribed procedure use a name that the schema or the
    record layer lacks.
    """
    schema, goal, records = context.schema, context.goal, context.records
    actions = dict.fromkeys(a.name for a in schema.actions)
    channels = dict.fromkeys(c.name for c in records.channels)
    expected: list[tuple[str, Iterable[str], Collection[str], str]] = [
        ("goal.required", goal.required, actions, "actions"),
        ("goal.forbidden", goal.forbidden, actions, "actions"),
        ("goal.permitted", goal.permitted, actions, "actions"),
        ("goal.triggers", goal.triggers, actions, "actions"),
        ("goal.roles", goal.roles, dict.fromkeys(t.name for t in schema.roles), "roles"),
        ("goal.locations", goal.locations, dict.fromkeys(t.name for t in schema.locations), "locations"),
        ("goal.objects", goal.objects, dict.fromkeys(t.name for t in schema.objects), "objects"),
        ("records.case_start", records.case_start, actions, "actions"),
        ("records.case_end", records.case_end, actions, "actions"),
    ]
    expected += [
        (f"records.channels.{c.name}.activities", c.activities or (), actions, "actions")
        for c in records.channels
    ]
    for where, names, known, part in expected:
        for name in names:
            require_known(name, known, f"the schema's {part}", source=context.source, field=where)
    for step in schema.procedure:
        if step.inspects is not None:
            require_known(
                step.inspects,
                channels,
                "the record layer's channels",
                source=context.source,
                field="schema.procedure",
            )
    if goal.required and records.channels and all(c.activities is not None for c in records.channels):
        recordable = {name for c in records.channels if c.durable for name in c.activities or ()}
        for name in goal.required:
            if name not in recordable:
                raise InputError(
                    f"no durable channel can record {name!r}",
                    "add it to a channel's activities, or take it out of the goal",
                    source=context.source,
                    field="goal.required",
                )


def require_known(name: str, known: Collection[str], what: str, *, source: str, field: str) -> None:
    """Raise InputError when ``name`` is not among ``known``, with the nearest that is."""
    if name not in known:
        near = nearest(name, known)
        raise InputError(
            f"{name!r} is not in {what}",
            f"did you mean {near!r}?" if near else "add it there, or correct it",
            source=source,
            field=field,
        )


def nearest(name: str, known: Collection[str], cutoff: float = 0.6) -> str | None:
    """The known name most like ``name``, None where none is; of very many, only those of most similar length
    are compared.
    """
    some = (
        known
        if len(known) <= COMPARED
        else sorted(known, key=lambda other: abs(len(other) - len(name)))[:COMPARED]
    )
    return next(iter(get_close_matches(name, some, 1, cutoff)), None)


def to_json(context: Context) -> str:
    """The context as JSON text that :func:`load_context` reads back."""
    parts = {"goal": context.goal, "schema": context.schema, "records": context.records}
    data: dict[str, Any] = {k: v.model_dump(mode="json", exclude_defaults=True) for k, v in parts.items()}
    return json.dumps(data | ({"pools": context.pools} if context.pools is not None else {}), indent=2)
