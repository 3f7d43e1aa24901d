"""The institution that several contexts share: their words and their records, put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.context.files import read_data
from gnrs_ppl.context.load import Context
from gnrs_ppl.context.types import Action, RecordLayer, Schema
from gnrs_ppl.errors import InputError
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.rule.types import Structure

SAME = (
    "quiet_after",
    "match_within",
    "prospective",
    "calendar",
    "offset",
    "zone",
    "automatic",
    "case_start",
    "case_end",
)
"""Fields of a record layer that contexts of one charter share."""
OF_THE_LOG = ("set_aside", "columns", "constants", "end_of_observation")
"""Fields that say how a log is read: contexts of one log share them."""
NAMED = ("channels", "observables", "attributes")
"""Fields that list things by name."""


def together(contexts: Sequence[Context]) -> tuple[Schema, RecordLayer]:
    """One schema and one record layer for all contexts: names are joined, and what one name stands for is the
    same in all.

    Raises
    ------
    InputError
        No context, two of one name, or record layers that one reader cannot read at once.
    """
    if not contexts:
        raise InputError("no context", "name contexts, or a folder of them", source="arguments")
    ids = [context.goal.id for context in contexts]
    if twice := next((name for name in ids if ids.count(name) > 1), None):
        raise InputError(
            f"two goals are called {twice!r}", "give each goal an id of its own", source=contexts[-1].source
        )
    return one_schema([context.schema for context in contexts]), _records(contexts)


def one_schema(schemas: Sequence[Schema]) -> Schema:
    """The names of all schemas, each with the words that the first gives it."""
    kinds = ("roles", "locations", "objects", "steps")
    joined = {kind: _by_name(term for s in schemas for term in getattr(s, kind)) for kind in kinds}
    actions: dict[str, Action] = {}
    for action in (action for schema in schemas for action in schema.actions):
        first = actions.get(action.name, action)
        fields = ("roles", "locations", "objects")
        more = {f: tuple(dict.fromkeys((*getattr(first, f), *getattr(action, f)))) for f in fields}
        actions[action.name] = first.model_copy(update=more)
    return Schema(**joined, actions=tuple(actions.values()))


def words_of(structures: Iterable[Structure], schema: Schema, records: RecordLayer) -> Lexicon:
    """Words for every name of some rules."""
    words = Lexicon.of(schema, records)
    for structure in structures:
        words = words.including(structure)
    return words


def _records(contexts: Sequence[Context]) -> RecordLayer:
    """One record layer for all contexts: what it names is joined, and what two of them state is the same in
    both. A log takes the acts it takes in any.
    """
    first, layers = contexts[0], [(context.source, context.records) for context in contexts]
    one_log = len({(context.folder, context.records.log) for context in contexts}) == 1
    for context in contexts:
        for field in (*SAME, *(OF_THE_LOG if one_log else ())):
            if getattr(context.records, field) != getattr(first.records, field):
                raise _differs(context.source, first.source, f"records.{field}")
    shown = [channel for context in contexts for channel in context.resolved.channels]
    channels = []
    for channel in _by_name((*_joined("channels", layers, of_any=("activities",)), *shown)):
        here = [one for one in shown if one.name == channel.name]
        clocks = {channel.grain or one.grain for one in here}
        acts = dict.fromkeys(name for one in here for name in one.activities or ())
        told = {"activities": tuple(acts) or None, "grain": clocks.pop() if len(clocks) == 1 else None}
        channels.append(channel.model_copy(update=told))
    support = {(one.kind, one.name): one for _, layer in reversed(layers) for one in layer.support}
    apart = {} if one_log else {field: RecordLayer.model_fields[field].get_default() for field in OF_THE_LOG}
    return first.records.model_copy(
        update={
            "log": first.records.log if one_log else None,
            "channels": tuple(channels),
            "observables": _joined("observables", layers),
            "attributes": _joined("attributes", layers),
            "support": tuple(support.values()),
            **apart,
        }
    )


def _joined(
    kind: str, layers: Sequence[tuple[str, RecordLayer]], of_any: tuple[str, ...] = ()
) -> tuple[Any, ...]:
    """What record layers list by name. Of one thing they may state different fields, but no field in two
    ways, other than those ``of_any``, which the first keeps.
    """
    found: dict[str, Any] = {}
    told_by: dict[tuple[str, str], int] = {}
    for place, (source, layer) in enumerate(layers):
        for item in getattr(layer, kind):
            known = found.setdefault(item.name, item)
            stated = {f: getattr(item, f) for f in type(item).model_fields if f not in ("name", *of_any)}
            for field, value in stated.items():
                if value in (None, ()):
                    continue
                teller = told_by.setdefault((item.name, field), place)
                if teller == place:
                    known = found[item.name] = known.model_copy(update={field: value})
                elif getattr(known, field) != value:
                    raise _differs(source, layers[teller][0], f"records.{kind}.{item.name}.{field}")
    return tuple(found.values())


def _differs(source: str, first: str, field: str) -> InputError:
    return InputError(
        f"differs from {first}, and rules side by side have one record layer",
        "state the same in both",
        source=source,
        field=field,
    )


def one_layer(layers: Sequence[RecordLayer], sources: Sequence[str]) -> RecordLayer:
    """The record layer that rule files share: each may name logs and attributes of its own; of what two of
    them state, both state the same, since a verdict may hang on any of it.

    Raises
    ------
    InputError
        Two files that differ.
    """
    told = list(zip(sources, layers, strict=True))
    for source, layer in told:
        for field in RecordLayer.model_fields:
            if field not in NAMED and getattr(layer, field) != getattr(layers[0], field):
                raise _differs(source, sources[0], f"records.{field}")
    return layers[0].model_copy(update={kind: _joined(kind, told) for kind in NAMED})


def _by_name(items: Iterable[Any]) -> tuple[Any, ...]:
    found: dict[str, Any] = {}
    for item in items:
        found.setdefault(item.name, item)
    return tuple(found.values())


def contexts_in(sources: Sequence[Path], log: Path | None = None) -> list[Context]:
    """The contexts of benchmark ids and files, and of the YAML and JSON files of folders that state a goal.

    Raises
    ------
    InputError
        With file, field, problem and remedy; a folder in which no file states a goal.
    """
    found = []
    for source in sources:
        if not source.is_dir():
            found.append(load_context(str(source), log))
            continue
        files = sorted(file for file in source.iterdir() if file.suffix in (".yaml", ".yml", ".json"))
        loaded = [load_context(file, log) for file in files if "goal" in read_data(file)]
        if not loaded:
            raise InputError(
                "no file of this folder states a goal", "gnrs goal new writes one", source=str(source)
            )
        found += loaded
    return found
