"""The goal's lines of a context file, written or changed while every other line and comment stays as it
is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import yaml

from gnrs_ppl.context.files import compose_yaml
from gnrs_ppl.errors import InputError
from gnrs_ppl.importing.write import scalar

GUESSED = ("# guessed", "# changed by hand")
"""How the comments begin that ``gnrs import`` puts beside what it guessed; they do not hold for what a
person wrote."""


class _Block(NamedTuple):
    """Lines ``start`` to ``end`` (exclusive) of a key and its value; what stands in them."""

    start: int
    end: int
    value: yaml.Node


def with_goal(text: str, goal: Mapping[str, Any], *, json_file: bool, source: str) -> str:
    """The text of a context file with this goal in place of the one it has, or above everything else.

    Parameters
    ----------
    text : str
        YAML or JSON that was read without complaint.
    goal : mapping
        Plain fields of the goal.
    json_file : bool
        JSON holds no comments; it is written anew.
    source : str
        The file, for the error.

    Raises
    ------
    InputError
        YAML whose top level stands in braces.
    """
    if json_file:
        data = json.loads(text)
        return (
            json.dumps({"goal": dict(goal)} | data | {"goal": dict(goal)}, indent=2, ensure_ascii=False)
            + "\n"
        )
    lines = text.splitlines(keepends=True)
    blocks = _blocks(_root(text, source), lines)
    written = ["goal:\n", *(f"  {_field(name, value)}\n" for name, value in goal.items())]
    if "goal" in blocks:
        old = blocks["goal"]
        written[0] = f"goal:{_own_comment(lines[old.start])}\n"
        kept = [
            line
            for line in lines[old.start + 1 : old.end]
            if line.lstrip().startswith("#") and not line.lstrip().startswith(GUESSED)
        ]
        return _joined(
            [*lines[: old.start], *written, *(f"  {line.strip()}\n" for line in kept), *lines[old.end :]],
            text,
        )
    first = min((block.start for block in blocks.values()), default=len(lines))
    while first and lines[first - 1].startswith("#"):  # the comment above a key is its own
        first -= 1
    if first == 0:  # unless it is the file's
        first = min((block.start for block in blocks.values()), default=len(lines))
    return _joined([*lines[:first], *written, "\n", *lines[first:]], text)


def with_fields(
    text: str, goal: Mapping[str, Any], changed: Mapping[str, Any], *, json_file: bool, source: str
) -> str:
    """The text of a context file with some fields of its goal changed, each on its own line.

    Parameters
    ----------
    text : str
    goal : mapping
        All fields, as they are meant to be afterwards.
    changed : mapping
        Fields to write, or to take out where the value is None.
    json_file, source
        As for :func:`with_goal`.
    """
    lines = [] if json_file else text.splitlines(keepends=True)
    block = None if json_file else _blocks(_root(text, source), lines).get("goal")
    if block is None or not isinstance(block.value, yaml.MappingNode) or block.value.flow_style:
        return with_goal(text, goal, json_file=json_file, source=source)
    fields = _blocks(block.value, lines)
    indent = " " * min(key.start_mark.column for key, _ in block.value.value)
    last = max(field.end for field in fields.values())
    edits: list[tuple[int, int, list[str]]] = []
    for name, value in changed.items():
        line = [] if value is None else [f"{indent}{_field(name, value)}\n"]
        if name in fields:
            field = fields[name]
            comment = _own_comment(lines[field.start]) if field.end == field.start + 1 else ""
            edits.append((field.start, field.end, [f"{kept.rstrip()}{comment}\n" for kept in line]))
        elif line:
            edits.append((last, last, line))
    for start, end, put in sorted(edits, key=lambda edit: edit[0], reverse=True):
        lines[start:end] = put
    head = lines[block.start].rstrip("\r\n")
    lines[block.start] = head.removesuffix(_comment(head)) + _own_comment(head) + "\n"
    return _joined(lines, text)


def _joined(lines: list[str], like: str) -> str:
    """Lines with the line breaks of a text."""
    breaks = "\r\n" if "\r\n" in like else "\n"
    return "".join(line.rstrip("\r\n") + breaks for line in lines)


def _field(name: str, value: Any) -> str:
    shown = (
        "[" + ", ".join(_scalar(item) for item in value) + "]"
        if isinstance(value, list | tuple)
        else _scalar(value)
    )
    return f"{name}: {shown}"


def _scalar(value: Any) -> str:
    text = scalar(value)
    return text if text.isprintable() else json.dumps(value)


def _root(text: str, source: str) -> yaml.MappingNode:
    node: Any = compose_yaml(text)
    if not isinstance(node, yaml.MappingNode) or node.flow_style:
        raise InputError(
            "stands in braces", "write its keys one below the other, or name it .json", source=source
        )
    return node


def _blocks(node: yaml.MappingNode, lines: list[str]) -> dict[str, _Block]:
    """Key -> its lines, without the blank lines and comments that stand between it and the next key."""
    found: dict[str, _Block] = {}
    for key, value in node.value:
        start, column = key.start_mark.line, key.start_mark.column
        end = max(value.end_mark.line + (1 if value.end_mark.column else 0), start + 1)
        while end > start + 1 and _outside(lines[end - 1], column):
            end -= 1
        found[key.value] = _Block(start, end, value)
    return found


def _outside(line: str, column: int) -> bool:
    """Whether a line is blank, or a comment that does not stand deeper than the key."""
    text = line.strip()
    return not text or (text.startswith("#") and len(line) - len(line.lstrip()) <= column)


def _own_comment(line: str) -> str:
    """The comment at the end of a line, unless it speaks of a guess."""
    comment = _comment(line)
    return "" if comment.lstrip().startswith(GUESSED) else comment


def _comment(line: str) -> str:
    """The comment at the end of a line of YAML, with the space before it."""
    quote = ""
    for at, sign in enumerate(line):
        if quote:
            quote = "" if sign == quote and line[at - 1] != "\\" else quote
        elif sign in "\"'" and (at == 0 or line[at - 1] in " [{,:"):
            quote = sign
        elif sign == "#" and at and line[at - 1].isspace():
            start = len(line[:at].rstrip())
            return line[start:].rstrip("\r\n")
    return ""
