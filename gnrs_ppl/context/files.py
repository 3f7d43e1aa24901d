"""Reading files safely: regular files of bounded size, YAML and JSON as plain data, with one clear line on
error.
"""

from __future__ import annotations

import glob
import hashlib
import io
import json
import math
import os
import re
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, cast

import yaml
from pydantic import BaseModel, ValidationError
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

from gnrs_ppl.context.limits import DIGITS, NESTED, TEXT_BYTES, VALUES
from gnrs_ppl.errors import InputError, one_line

Model = TypeVar("Model", bound=BaseModel)


def require_regular(path: Path, limit: int = sys.maxsize, remedy: str = "check the path") -> None:
    """Refuse a path before it is opened: devices and pipes would block or never end, and large files fill the
    memory.

    Raises
    ------
    InputError
        Missing, not to be looked at, a folder, a device, pipe or socket, or of more than ``limit`` bytes; the
        line says which.
    """
    try:
        found = path.stat()
    except (OSError, ValueError) as error:
        raise _unreadable(path, error, remedy) from None
    _check_regular(path, found, limit)


def _unreadable(path: Path, error: OSError | ValueError, remedy: str) -> InputError:
    if isinstance(error, FileNotFoundError):
        return InputError("no such file", remedy, source=str(path))
    if isinstance(error, OSError):
        return InputError(f"cannot be read ({error.strerror})", remedy, source=str(path))
    return InputError("is no path", remedy, source=str(path))  # a zero byte, or what no file system can spell


def _check_regular(path: Path, found: os.stat_result, limit: int) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise InputError("is a folder", "name the file itself", source=str(path))
    if not stat.S_ISREG(found.st_mode):
        raise InputError(
            "is no regular file but a device, pipe or socket", "name a file on disk", source=str(path)
        )
    if found.st_size > limit:
        raise InputError(f"is larger than {limit:,} bytes", "is this the right file?", source=str(path))


def open_regular(path: Path, limit: int = sys.maxsize, remedy: str = "check the path") -> io.FileIO:
    """A regular file, open to read, without waiting for what another process may send.

    It is looked at before it is opened, since opening wakes a device, and again once it is open, since another
    may stand there by then. A file without a size is read as empty: those of ``/proc`` may have no end, or
    wait for one.

    Raises
    ------
    InputError
        As :func:`require_regular`, or not readable.
    """
    require_regular(path, limit, remedy)
    try:
        file = io.FileIO(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))
    except OSError as error:
        raise _unreadable(path, error, "check its permissions") from None
    found = os.fstat(file.fileno())
    if stat.S_ISREG(found.st_mode) and 0 < found.st_size <= limit:
        return file
    file.close()
    _check_regular(path, found, limit)
    return io.FileIO(os.devnull)


def read_bytes(path: Path, limit: int = TEXT_BYTES, remedy: str = "check the path") -> bytes:
    """The bytes of a regular file, never more than ``limit`` of them.

    Raises
    ------
    InputError
        As :func:`require_regular`, or not readable.
    """
    try:
        with open_regular(path, limit, remedy) as file, io.BufferedReader(file) as stream:
            content = stream.read(limit + 1)
    except OSError as error:
        raise _unreadable(path, error, "check its permissions") from None
    if len(content) > limit:  # it grew meanwhile
        raise InputError(f"is larger than {limit:,} bytes", "is this the right file?", source=str(path))
    return content


def literally(path: Path) -> str:
    """A path as DuckDB reads it, which takes ``*``, ``?`` and ``[`` in one for a pattern."""
    return glob.escape(str(path))


def digest_of(path: Path, limit: int = sys.maxsize) -> str:
    """SHA-256 of a regular file; raises InputError as :func:`open_regular`."""
    with open_regular(path, limit) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_text(path: Path, limit: int = TEXT_BYTES, form: str = "text") -> str:
    """The UTF-8 text of a regular file.

    Raises
    ------
    InputError
        As :func:`read_bytes`, or not UTF-8; ``form`` says what it should be saved as.
    """
    try:
        return read_bytes(path, limit).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"is not UTF-8 text (byte {error.start})", f"save it as UTF-8 {form}", source=str(path)
        ) from None


class _Plain(Composer, SafeConstructor, Resolver):
    """YAML as plain data: no tags, no aliases (bombs), no doubled keys, only true/false, null and decimal
    numbers are typed.
    """

    yaml_implicit_resolvers: dict[str, list[tuple[str, Any]]] = {}  # noqa: RUF012 (so PyYAML declares it)
    depth = count = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event: Any = cast(Any, self).peek_event()
        line = f"line {event.start_mark.line + 1}"
        if isinstance(event, yaml.AliasEvent):
            raise yaml.YAMLError(f"{line}: aliases are not read; write the value out")
        if getattr(event, "tag", None) is not None:
            raise yaml.YAMLError(
                f"{line}: tags such as {one_line(event.tag, 60)!r} are not read; write the value plainly"
            )
        if self.depth > NESTED:
            raise yaml.YAMLError(f"nested deeper than {NESTED} levels")
        self.count += 1
        if self.count > VALUES:
            raise yaml.YAMLError(f"{line}: more than {VALUES:,} keys and values")
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen = set[str]()
        for key, _ in node.value:
            line = f"line {key.start_mark.line + 1}"
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.YAMLError(f"{line}: a key is a name, not a mapping or a list")
            if key.value in seen:
                raise yaml.YAMLError(f"{line}: {one_line(repr(key.value), 60)} stands there twice")
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


_Plain.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))
_Plain.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^(?:~|null|)$"), ["~", "n", ""])
_Plain.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile(rf"^-?(?:0|[1-9][0-9]{{0,{DIGITS - 1}}})$"), list("-0123456789")
)
_Plain.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^(?:-?(?:0|[1-9][0-9]*)\.[0-9]+(?:e[-+]?[0-9]+)?|-?\.inf|\.nan)$"),
    list("-.0123456789"),
)


class _Loader(_Plain, yaml.SafeLoader):
    """PyYAML's own parser, which says best what is wrong."""


_Fast: type[Any] = _Loader
"""libyaml's parser, six times as fast with ours on top, where PyYAML was built with it."""
with suppress(ImportError):
    from yaml._yaml import CParser

    class _Compiled(_Plain, CParser):
        def __init__(self, stream: str) -> None:
            CParser.__init__(self, stream)
            Composer.__init__(self)
            SafeConstructor.__init__(self)
            Resolver.__init__(self)

    _Fast = _Compiled


def compose_yaml(text: str) -> Any:
    """The nodes of a YAML text, with their places; raises yaml.YAMLError."""
    return _read(yaml.compose, text)


def _read(reader: Callable[..., Any], text: str) -> Any:
    try:
        return reader(text, Loader=_Fast)
    except yaml.YAMLError:
        return reader(text, Loader=_Loader)


def read_data(path: Path, limit: int = TEXT_BYTES) -> dict[str, Any]:
    """The mapping a YAML or JSON file holds.

    Raises
    ------
    InputError
        Missing, unreadable, no regular file, binary, too large, malformed or not a mapping; the line says
        which.
    """
    data = read_any(path, limit)
    if not isinstance(data, dict):
        problem = "is empty" if data is None else f"holds a {type(data).__name__}, not a mapping"
        raise InputError(problem, "start with keys such as goal:", source=str(path))
    return data


def read_any(path: Path, limit: int = TEXT_BYTES) -> Any:
    """What a YAML or JSON file holds, whatever it is; raises InputError as :func:`read_data`."""
    source, text = str(path), read_text(path, limit, "YAML or JSON")
    return parse_json(text, source) if path.suffix == ".json" else parse_yaml(text, source)


def parse_yaml(text: str, source: str) -> Any:
    """YAML as plain data; raises InputError as :func:`parse_json`."""
    try:
        data = _read(yaml.load, text)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise InputError(
            f"is not readable YAML: {_mark(error)}", "mend the syntax there", source=source
        ) from None
    return _plain(data, source)


class _Doubled(dict[str, Any]):
    """A JSON object in which a key stands twice."""

    key = ""


def parse_json(text: str | bytes, source: str, remedy: str = "mend the syntax there") -> Any:
    """JSON as plain data, for everything that people or other programs write: no doubled keys, no numbers
    that are none.

    Parameters
    ----------
    text : str or bytes
        Bytes are UTF-8.
    source : str
        File, or file and line, for the error.

    Raises
    ------
    InputError
        Malformed; a key that stands twice in an object; NaN, Infinity, a number beyond double precision or of
        more than ``DIGITS`` digits; half of a surrogate pair; nested or filled beyond the limits. The line
        names the place.
    """
    try:
        data = json.loads(
            text if isinstance(text, str) else text.decode("utf-8-sig"),
            parse_constant=_no_constant,
            parse_int=_whole,
            object_pairs_hook=_object,
        )
    except (ValueError, RecursionError) as error:
        problem = "it is nested too deep" if isinstance(error, RecursionError) else _mark(error)
        raise InputError(f"is not readable JSON: {problem}", remedy, source=source) from None
    return _plain(data, source)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen = set[str]()
    doubled = _Doubled(found)
    doubled.key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return doubled


def _whole(digits: str) -> int:
    if len(digits.lstrip("-")) > DIGITS:
        raise ValueError(
            f"{digits[:12]}… has {len(digits.lstrip('-')):,} digits, more than the {DIGITS} of a whole number"
        )
    return int(digits)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number JSON allows")


Place = tuple["Place", str | int] | None
"""Where a value stands: the place of what holds it, and its key or number there."""


def _plain(data: Any, source: str) -> Any:
    """The same data, walked once and without recursion: what is no plain data is refused with its place."""
    left: list[tuple[Any, Place, int]] = [(data, None, 0)]
    count = 1
    while left:
        value, place, depth = left.pop()
        problem = remedy = ""
        if depth > NESTED:
            problem, remedy = f"nested deeper than {NESTED} levels", "flatten it"
        elif isinstance(value, _Doubled):
            problem, remedy = f"{one_line(repr(value.key), 60)} stands there twice", "keep one of the two"
        elif isinstance(value, str) and not _spelt(value):
            problem, remedy = "half of a surrogate pair is no character", "write the character itself"
        elif isinstance(value, float) and not math.isfinite(value):
            problem, remedy = f"{value} is no number", "write a finite number"
        elif isinstance(value, dict):
            if (
                stray := next((key for key in value if not isinstance(key, str) or not _spelt(key)), None)
            ) is not None:
                problem, remedy = (
                    f"the key {one_line(repr(stray), 60)} is no text",
                    "write it as text, in quotes",
                )
            count += 2 * len(value)
            left += [(value[key], (place, key), depth + 1) for key in reversed(value)]
        elif isinstance(value, list):
            count += len(value)
            left += [(value[number], (place, number), depth + 1) for number in range(len(value) - 1, -1, -1)]
        if problem:
            raise InputError(problem, remedy, source=source, field=_dotted(place))
        if count > VALUES:
            raise InputError(
                f"holds more than {VALUES:,} keys and values", "is this the right file?", source=source
            )
    return data


def _spelt(text: str) -> bool:
    """Whether UTF-8 can write it."""
    return text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text)


def _dotted(place: Place) -> str:
    parts = []
    while place is not None:
        place, key = place
        parts.append(one_line(str(key), 60))
    return one_line(".".join(reversed(parts)), 160)


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
        where = ".".join(
            [field, *(str(part) for part in first["loc"])] if field else [str(part) for part in first["loc"]]
        )
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
