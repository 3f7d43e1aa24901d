"""Every place of a context file that names something, and names that differ in nothing but how they are
spelt.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from gnrs_ppl.reading.words import lemmas

Path = tuple[str | int, ...]
Kind = str

PARTS: dict[Kind, str] = {
    "role": "roles",
    "location": "locations",
    "object": "objects",
    "action": "actions",
    "step": "steps",
}
"""Kind of name -> the schema's list of them."""
_GOAL: dict[str, Kind] = {
    "required": "action",
    "forbidden": "action",
    "permitted": "action",
    "triggers": "action",
    "timed": "action",
    "roles": "role",
    "locations": "location",
    "objects": "object",
}
_POOLS: dict[str, Kind] = _GOAL | {
    "concerns": "object",
    "act": "action",
    "activity": "action",
    "target": "action",
    "unless": "action",
    "role": "role",
    "location": "location",
    "object": "object",
    "channel": "channel",
    "channels": "channel",
    "inspects": "channel",
    "name": "step",
}
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class Use(NamedTuple):
    """A name at a place of the file, and the kind of thing it should be."""

    path: Path
    kind: Kind
    name: str


def known_names(data: Mapping[str, Any]) -> dict[Kind, list[str]]:
    """Names that the schema and the record layer of a context file declare, by kind."""
    schema, records = _mapping(data.get("schema")), _mapping(data.get("records"))
    known = {kind: _names(schema.get(part)) for kind, part in PARTS.items()}
    known["channel"] = _names(records.get("channels"))
    known["observable"] = _names(records.get("observables"))
    return known


def uses(data: Mapping[str, Any]) -> Iterator[Use]:
    """The names that goal, schema, records and pools of a context file use."""
    for field, kind in _GOAL.items():
        yield from _listed(_mapping(data.get("goal")).get(field), kind, ("goal", field))
    schema, records = _mapping(data.get("schema")), _mapping(data.get("records"))
    for i, action in enumerate(_list(schema.get("actions"))):
        for kind in ("role", "location", "object"):
            yield from _listed(_mapping(action).get(PARTS[kind]), kind, ("schema", "actions", i, PARTS[kind]))
    for i, step in enumerate(_list(schema.get("procedure"))):
        for field, kind in (("name", "step"), ("role", "role"), ("inspects", "channel")):
            yield from _listed(_mapping(step).get(field), kind, ("schema", "procedure", i, field))
    for field in ("case_start", "case_end"):
        yield from _listed(records.get(field), "action", ("records", field))
    for i, channel in enumerate(_list(records.get("channels"))):
        yield from _listed(
            _mapping(channel).get("activities"), "action", ("records", "channels", i, "activities")
        )
    for i, support in enumerate(_list(records.get("support"))):
        supported = _mapping(support).get("kind")
        if isinstance(supported, str):
            yield from _listed(_mapping(support).get("name"), supported, ("records", "support", i, "name"))
    for slot, pool in _mapping(data.get("pools")).items():
        for i, candidate in enumerate(_list(pool)):
            yield from _within(_mapping(candidate).get("content"), ("pools", slot, i, "content"))


def _within(content: Any, path: Path) -> Iterator[Use]:
    """Names in a candidate of a pool, however deep."""
    if isinstance(content, list):
        for i, item in enumerate(content):
            yield from _within(item, (*path, i))
    for field, value in _mapping(content).items():
        if field in _POOLS:
            yield from _listed(value, _POOLS[field], (*path, field))
        if isinstance(value, dict | list):
            yield from _within(value, (*path, field))


def _listed(value: Any, kind: Kind, path: Path) -> Iterator[Use]:
    if isinstance(value, str):
        yield Use(path, kind, value)
    for i, name in enumerate(_list(value)):
        if isinstance(name, str):
            yield Use((*path, i), kind, name)


def without(data: Any, paths: Iterable[Path]) -> Any:
    """A copy of plain data without what stands at some places; a mapping that a list holds goes as a
    whole.
    """
    gone = set(paths)

    def copied(value: Any, path: Path) -> Any:
        if isinstance(value, dict):
            return {
                key: copied(item, (*path, key)) for key, item in value.items() if (*path, key) not in gone
            }
        if isinstance(value, list):
            return [
                copied(item, (*path, i))
                for i, item in enumerate(value)
                if (*path, i) not in gone
                and not (isinstance(item, dict) and any((*path, i, key) in gone for key in item))
            ]
        return value

    return copied(data, ())


def told(path: Path, data: Any) -> str:
    """A place as a dotted path, things in lists by their names where they have one."""
    parts = []
    for key in path:
        data = data[key]
        if isinstance(key, int):
            named = _mapping(data).get("name") or _mapping(data).get("id")
            if isinstance(named, str):
                parts.append(named)
        else:
            parts.append(key)
    return ".".join(parts)


def spelling(name: str) -> str:
    """What a name is without case, signs and plural: the same for ``CheckIn``, ``check_in`` and
    ``Check-ins``.
    """
    plain = unicodedata.normalize("NFKC", name)
    words = re.findall(r"[^\W_]+", _CAMEL.sub(" ", plain).casefold())
    return "".join(_singular(word) for word in words)


def _singular(word: str) -> str:
    if not word.endswith("s") or word.endswith("ss"):
        return word
    return next(
        (base for base in lemmas(word, "n") if base != word), word if lemmas(word, "n") else word[:-1]
    )


def _names(value: Any) -> list[str]:
    found = [item.get("name") if isinstance(item, dict) else item for item in _list(value)]
    return [name for name in found if isinstance(name, str)]


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
