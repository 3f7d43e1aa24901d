"""Reading and writing files safely: YAML and JSON in with one clear line on error, text out all or nothing."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from gnrs_ppl.errors import InputError, one_line

MAX_BYTES = 5_000_000
Model = TypeVar("Model", bound=BaseModel)


class _Loader(yaml.SafeLoader):
    """YAML as plain data: no tags, no aliases (bombs), no doubled keys, only true/false, null and decimal numbers are typed."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, Any]]] = {}  # noqa: RUF012 (so PyYAML declares it)
    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            event: Any = self.peek_event()  # type: ignore[no-untyped-call]
            raise yaml.YAMLError(f"line {event.start_mark.line + 1}: aliases are not read; write the value out")
        if self.depth > 40:
            raise yaml.YAMLError("nested deeper than 40 levels")
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value]
        for position, key in enumerate(keys):
            if key in keys[:position]:
                raise yaml.YAMLError(f"line {node.value[position][0].start_mark.line + 1}: {key!r} stands there twice")
        return super().construct_mapping(node, deep=deep)


_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^(?:~|null|)$"), ["~", "n", ""])
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^-?(?:0|[1-9][0-9]{0,17})$"), list("-0123456789"))
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^(?:-?(?:0|[1-9][0-9]*)\.[0-9]+(?:e[-+]?[0-9]+)?|-?\.inf|\.nan)$"),
    list("-.0123456789"),
)


def read_text(path: Path, limit: int = MAX_BYTES) -> str:
    """The text of a UTF-8 file of at most ``limit`` bytes; raises InputError where there is none."""
    source = str(path)
    try:
        if path.is_dir():
            raise InputError("is a folder", "name the context or rule file itself", source=source)
        if path.stat().st_size > limit:
            raise InputError(f"is larger than {limit:,} bytes", "context and rule files are small; is this the log?", source=source)
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise InputError("no such file", "check the path", source=source) from None
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 text (byte {error.start})", "save it as UTF-8 YAML or JSON", source=source) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", "check its permissions", source=source) from None


def read_data(path: Path) -> dict[str, Any]:
    """The mapping a YAML or JSON file holds.

    Raises
    ------
    InputError
        Missing, unreadable, binary, too large, malformed or not a mapping; the line says which.
    """
    data = read_any(path)
    if not isinstance(data, dict):
        problem = "is empty" if data is None else f"holds a {type(data).__name__}, not a mapping"
        raise InputError(problem, "start with keys such as goal:", source=str(path))
    return data


def read_any(path: Path) -> Any:
    """What a YAML or JSON file holds, whatever it is; raises InputError as :func:`read_data`."""
    source, text = str(path), read_text(path)
    try:
        return json.loads(text, parse_constant=_no_constant) if path.suffix == ".json" else yaml.load(text, Loader=_Loader)
    except (json.JSONDecodeError, yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(
            f"is not readable {'JSON' if path.suffix == '.json' else 'YAML'}: {_mark(error)}", "mend the syntax there", source=source
        ) from None


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number JSON allows")


def _mark(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    if mark is not None:
        return one_line(f"line {mark.line + 1}, column {mark.column + 1}: {getattr(error, 'problem', error)}")
    return one_line(str(error), 160) or type(error).__name__


def validated(model: type[Model], data: Any, *, source: str, field: str = "") -> Model:
    """``data`` as a model; the first thing wrong becomes an InputError that names file and field."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join([field, *(str(part) for part in first["loc"])] if field else [str(part) for part in first["loc"]])
        raise InputError(_problem(first), _remedy(first), source=source, field=where) from None


def _problem(error: Any) -> str:
    if error["type"] == "extra_forbidden":
        return "unknown field"
    if error["type"] == "missing":
        return "is missing"
    if error["type"] == "too_short":
        return f"holds {error['ctx']['actual_length']} of the at least {error['ctx']['min_length']} it needs"
    shown = one_line(repr(error["input"]), 60)
    return f"{error['msg'].removeprefix('Value error, ')}" + (
        "" if shown in error["msg"] or error["type"] == "value_error" else f", got {shown}"
    )


def _remedy(error: Any) -> str:
    kind = error["type"]
    if kind == "extra_forbidden":
        return "remove it or check its spelling"
    if kind in ("missing", "too_short"):
        return "add it"
    if kind == "string_type":
        return "write text (put it in quotes)"
    if kind in ("value_error", "literal_error"):
        return "correct it"
    return "correct its type or range"


def write_all(folder: Path, files: Sequence[tuple[str, bytes]]) -> list[Path]:
    """Write every file into ``folder`` or none: into a temporary folder beside them first, then renames.

    Raises
    ------
    InputError
        When the folder cannot be made or written, or a folder stands where a file should go.
    """
    targets = [folder / name for name, _ in files]
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file, not a folder", "name a folder you may write to", source=str(folder))
    if standing := next((target for target in targets if target.is_dir()), None):
        raise InputError("is a folder, not a file", "name another place to write to", source=str(standing))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".gnrs-") as staging:
            for name, content in files:
                (Path(staging) / name).write_bytes(content)
            for target in targets:
                os.replace(Path(staging) / target.name, target)
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror})", "name a folder you may write to", source=str(folder)) from None
    return targets
