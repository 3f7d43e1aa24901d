"""Edits in the text of a context file that leave every other character, comments too, as it is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import yaml

from gnrs_ppl.context.files import compose_yaml
from gnrs_ppl.importing.write import scalar
from gnrs_ppl.records.names import Path


class Rename(NamedTuple):
    """Another name at a place."""

    path: Path
    name: str

    def told(self) -> str:
        """What it does, in words."""
        return f"{self.name!r} in place of what is misspelt"


class Append(NamedTuple):
    """More names at the end of a list that is not empty."""

    path: Path
    names: tuple[str, ...]

    def told(self) -> str:
        """What it does, in words."""
        return f"adds {', '.join(map(repr, self.names[:5]))}" + (
            f" and {len(self.names) - 5} more" if len(self.names) > 5 else ""
        )


class State(NamedTuple):
    """A field that a mapping lacks, stated behind its name."""

    path: Path
    field: str
    value: str

    def told(self) -> str:
        """What it does, in words."""
        return f"states {self.field}: {self.value}"


Edit = Rename | Append | State


class _Unlike(Exception):
    """The text is not laid out in a way that the edit knows."""


def mended(text: str, edits: Sequence[Edit], *, is_json: bool) -> str | None:
    """A context file's text with some edits made, None where one of them cannot be.

    Parameters
    ----------
    text : str
    edits : sequence of Edit
    is_json : bool
        Whether names have to stand in quotes.
    """
    write = json.dumps if is_json else scalar
    try:
        for edit in edits:
            node = _node(text, edit.path)
            if isinstance(edit, Rename):
                text = text[: node.start_mark.index] + write(edit.name) + text[node.end_mark.index :]
            elif isinstance(edit, Append):
                text = _appended(text, node, [write(name) for name in edit.names])
            else:
                text = _stated(text, node, write(edit.field), write(edit.value))
    except (_Unlike, yaml.YAMLError, ValueError):
        return None
    return text


def _node(text: str, path: Path) -> Any:
    node: Any = compose_yaml(text)
    for key in path:
        if isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
            node = node.value[key]
        elif isinstance(node, yaml.MappingNode):
            node = next((value for name, value in node.value if name.value == key), None)
        else:
            raise _Unlike
    if node is None:
        raise _Unlike
    return node


def _appended(text: str, node: Any, items: list[str]) -> str:
    if not isinstance(node, yaml.SequenceNode) or not node.value:
        raise _Unlike
    last = node.value[-1]
    if node.flow_style:
        place = last.end_mark.index
        return text[:place] + "".join(f", {item}" for item in items) + text[place:]
    indent = node.start_mark.column
    place = _line_end(text, last, indent)
    return text[:place] + "".join(f"\n{' ' * indent}- {item}" for item in items) + text[place:]


def _stated(text: str, node: Any, field: str, value: str) -> str:
    if (
        not isinstance(node, yaml.MappingNode)
        or not node.value
        or any(name.value == field.strip('"') for name, _ in node.value)
    ):
        raise _Unlike
    key, first = node.value[0]
    if node.flow_style:
        place = first.end_mark.index
        return f"{text[:place]}, {field}: {value}{text[place:]}"
    place = _line_end(text, first, key.start_mark.column)
    return f"{text[:place]}\n{' ' * key.start_mark.column}{field}: {value}{text[place:]}"


def _line_end(text: str, node: Any, indent: int) -> int:
    """Where the last line of a node ends, comments of its own (deeper than ``indent``) included."""
    end = len(text[: node.end_mark.index].rstrip())
    while True:  # a block ends where the next thing begins: comments between belong to that
        begin = text.rfind("\n", 0, end) + 1
        if not text[begin:end].lstrip().startswith("#"):
            break
        end = len(text[:begin].rstrip())
    end = _next(text, end)
    while end < len(text):
        line = text[end + 1 : _next(text, end + 1)]
        if not line.lstrip().startswith("#") or len(line) - len(line.lstrip()) <= indent:
            break
        end += 1 + len(line)
    return end


def _next(text: str, place: int) -> int:
    found = text.find("\n", place)
    return len(text) if found < 0 else found
