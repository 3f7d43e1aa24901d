"""The institution that several contexts share: their words and their records, put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.context.files import read_data
from gnrs_ppl.context.load import Context
from gnrs_ppl.context.types import Action, Channel, RecordLayer, Schema
from gnrs_ppl.errors import InputError

SAME = ("quiet_after", "match_within", "prospective", "calendar", "offset", "zone", "automatic")
"""Fields of a record layer that contexts of one charter share."""


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


def _records(contexts: Sequence[Context]) -> RecordLayer:
    """The first record layer with every other's logs, observables, attributes and ends of cases."""
    layers = [context.resolved for context in contexts]
    first = layers[0]
    for context, layer in zip(contexts, layers, strict=True):
        for field in SAME:
            if getattr(layer, field) != getattr(first, field):
                raise InputError(
                    f"differs from {contexts[0].source}, and a charter has one record layer",
                    "state the same in all contexts",
                    source=context.source,
                    field=f"records.{field}",
                )
    channels: dict[str, Channel] = {}
    for channel in (channel for layer in layers for channel in layer.channels):
        known = channels.get(channel.name, channel)
        acts = dict.fromkeys((*(known.activities or ()), *(channel.activities or ())))
        channels[channel.name] = known.model_copy(update={"activities": tuple(acts) or None})
    return first.model_copy(
        update={
            "log": first.log if len({(c.folder, c.records.log) for c in contexts}) == 1 else None,
            "channels": tuple(channels.values()),
            "observables": _by_name(term for layer in layers for term in layer.observables),
            "attributes": _by_name(one for layer in layers for one in layer.attributes),
            "case_start": tuple(dict.fromkeys(name for layer in layers for name in layer.case_start)),
            "case_end": tuple(dict.fromkeys(name for layer in layers for name in layer.case_end)),
        }
    )


def one_layer(layers: Sequence[RecordLayer], sources: Sequence[str]) -> RecordLayer:
    """The record layer that rule files share: each may name logs and attributes of its own; of what two of
    them state, both state the same, since a verdict may hang on any of it.

    Raises
    ------
    InputError
        Two files that differ.
    """
    joined = layers[0]
    for layer, source in zip(layers[1:], sources[1:], strict=True):
        more = {}
        for field in RecordLayer.model_fields:
            known, other = getattr(joined, field), getattr(layer, field)
            if field in ("channels", "observables", "attributes"):
                more[field] = _by_name((*known, *other))
                same = all(one in more[field] for one in other)
            else:
                same = known == other
            if not same:
                raise InputError(
                    f"differs from {sources[0]}, and rules side by side have one record layer",
                    "state the same in all files, or name a --context",
                    source=source,
                    field=f"records.{field}",
                )
        joined = joined.model_copy(update=more)
    return joined


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
