"""A context file with its comments, and what a person changed in it kept when the source is imported
again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from gnrs_ppl.importing.derive import Derived, Path
from gnrs_ppl.safe_text import visible

WIDTH = 120
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./ -]*[A-Za-z0-9_./]|[A-Za-z]")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
MISSING: Any = object()


def scalar(value: Any) -> str:
    """A value as YAML that the loader of contexts reads back."""
    if not isinstance(value, str):
        return json.dumps(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return json.dumps(value, ensure_ascii=False)


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return scalar(value)


def yaml_of(derived: Derived, head: Sequence[str]) -> str:
    """The context as YAML, with a comment beside or above everything that was guessed."""
    lines = [f"# {visible(line)}" for line in head]
    for key, value in derived.data.items():
        lines += ["", *_lines(key, value, (key,), derived, 0)]
    return "\n".join(lines) + "\n"


def _lines(key: str, value: Any, path: Path, derived: Derived, depth: int) -> Iterator[str]:
    indent = "  " * depth
    note = derived.notes.get(path)
    if path[0] not in ("goal", "schema", "records"):  # what a person added
        yield from yaml.safe_dump({key: value}, allow_unicode=True, sort_keys=False, width=WIDTH).splitlines()
        return
    if isinstance(value, dict):
        yield f"{indent}{scalar(key)}:" + (f"  # {visible(note)}" if note else "")
        for inner, item in value.items():
            yield from _lines(inner, item, (*path, inner), derived, depth + 1)
        yield from (f"{indent}  # {visible(line)}" for line in derived.below.get(path, ()))
    elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        yield f"{indent}{scalar(key)}:" + (f"  # {visible(note)}" if note else "")
        for item in value:
            inner_path = (*path, str(item.get("name", "")))
            yield from _commented(
                f"{indent}  - {_flow(item)}", derived.notes.get(inner_path), f"{indent}    "
            )
            yield from (f"{indent}    # {visible(line)}" for line in derived.below.get(inner_path, ()))
    else:
        yield from _commented(f"{indent}{scalar(key)}: {_flow(value)}", note, indent)
        yield from (f"{indent}  # {visible(line)}" for line in derived.below.get(path, ()))


def _commented(line: str, note: str | None, indent: str) -> Iterator[str]:
    if not note:
        yield line
    elif len(line) + len(note) + 4 <= WIDTH:
        yield f"{line}  # {visible(note)}"
    else:
        yield from (line, f"{indent}# {visible(note)}")


# A second import


def merged(base: Any, mine: Any, new: Any) -> Any:
    """What a person made of ``base`` where they changed it, else what is guessed now.

    Parameters
    ----------
    base, mine, new : plain data
        As it was guessed last, as it stands in the file, as it is guessed now. Lists of named things go by
        name.
    """
    if mine == base:
        return new
    if mine is MISSING or new is MISSING:
        return mine
    keyed = [_keyed(value) for value in (base, mine, new)]
    if keyed[1] is None or keyed[2] is None:
        return mine
    first, second, third = (keyed[0] or {}), keyed[1], keyed[2]
    kept: dict[str, Any] = {}
    for key in [*third, *(k for k in second if k not in third)]:
        old, own, fresh = first.get(key, MISSING), second.get(key, MISSING), third.get(key, MISSING)
        value = fresh if own is MISSING and old is MISSING else merged(old, own, fresh)
        if value is not MISSING:
            kept[key] = value
    return list(kept.values()) if isinstance(new, list) else kept


def _keyed(value: Any) -> dict[str, Any] | None:
    """A mapping, or a list of named things by their names; None for anything else."""
    if isinstance(value, dict):
        return value
    if isinstance(value, list) and value and all(isinstance(item, dict) and "name" in item for item in value):
        return {item["name"]: item for item in value}
    return None


def changed(base: Any, mine: Any, path: Path = ()) -> Iterator[Path]:
    """Paths of what a person changed, named things by their names."""
    if mine == base:
        return
    old, own = _keyed(base), _keyed(mine)
    if old is None or own is None:
        yield path
        return
    for key in dict.fromkeys([*old, *own]):
        if old.get(key, MISSING) != own.get(key, MISSING):
            yield from (
                changed(old.get(key), own.get(key), (*path, key))
                if key in old and key in own
                else [(*path, key)]
            )


def remarks(base: str, mine: str) -> dict[str, list[str]]:
    """Comment lines a person wrote, by the line they stand above."""
    known = {line.strip() for line in base.splitlines()}
    found: dict[str, list[str]] = {}
    waiting: list[str] = []
    for line in mine.splitlines():
        if line.lstrip().startswith("#"):
            if line.strip() not in known:
                waiting.append(line)
        elif line.strip() and waiting:
            found.setdefault(_anchor(line), []).extend(waiting)
            waiting = []
    return found | ({"": waiting} if waiting else {})


def with_remarks(text: str, found: dict[str, list[str]]) -> str:
    """A context file with a person's comments above the lines they stood above."""
    left = dict(found)
    lines: list[str] = []
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            lines += left.pop(_anchor(line), [])
        lines.append(line)
    return "\n".join(lines + [line for rest in left.values() for line in rest]) + "\n"


def _anchor(line: str) -> str:
    """What a line is about: its key, or the name of the thing on it."""
    name = re.match(r'\s*- \{name: ("(?:[^"\\]|\\.)*"|[^,}]*)', line)
    return name[0].strip() if name else line.partition(":")[0].strip()
