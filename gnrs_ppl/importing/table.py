"""CSV, Parquet and JSON as rows of text."""

from __future__ import annotations

import codecs
import json
from collections import Counter
from pathlib import Path
from typing import Any

from gnrs_ppl.context.files import parse_json
from gnrs_ppl.context.table import cell_text, opened
from gnrs_ppl.errors import InputError, one_line
from gnrs_ppl.importing.staging import Found, Staging, bytes_of, text_of

MAX_LINE = 1 << 23
"""Bytes of a line of JSON."""
MAX_JSON = 1 << 29
"""Bytes of a document of JSON, which is read whole."""
OCEL = frozenset({"objects", "objectTypes", "eventTypes", "ocel:events"})
"""Keys that an object-centric log has."""


def read_table(path: Path, staging: Staging) -> Found:
    """Stage a CSV (plain or gzipped) or Parquet file; rows with a cell too few or too many are set aside.

    Raises
    ------
    InputError
        As :func:`gnrs_ppl.context.table.opened`, or two columns of one name.
    """
    import duckdb

    def aside(number: int, row: list[str]) -> None:
        staging.aside.add(number, f"{len(row)} cells where the header has {len(header)}", row)

    with opened(path, staging.connection, aside) as table:
        header = [name or f"column {i}" for i, name in enumerate(table.header, 1)]
        doubled = next((name for i, name in enumerate(header) if name in header[:i]), None)
        if doubled is not None:
            raise staging.error(f"two columns are named {doubled!r}", "rename one of them")
        for name in header:
            staging._learn(name)
        relation, parameters = table.scan(range(len(header)))
        cells = ", ".join(f"{cell_text(f'c{i}', kind)} AS c{i}" for i, kind in enumerate(table.types))
        try:
            staging.take(f"(SELECT row, {cells} FROM {relation})", parameters)
        except (duckdb.Error, UnicodeDecodeError) as error:
            problem = one_line(str(error).replace(parameters["path"], "the file"), 120)
            raise staging.error(f"is not readable ({problem})", "write the file again") from None
        staging.read = table.rows
        for _ in range(table.blank):
            staging.aside.add("", "blank line", "")
        form = "Parquet" if path.suffix == ".parquet" else "CSV"
        return Found(form, list(table.said), fingerprint=table.fingerprint())


def read_json(path: Path, staging: Staging, case: str | None) -> Found:
    """Stage JSON: an object in each line, a list of objects, an object that holds one such list, or OCEL 2.0.

    Raises
    ------
    InputError
        Larger than ``MAX_JSON`` bytes, not readable, or no rows in it that could be told from the rest.
    """
    with bytes_of(path) as stream:
        content = stream.read(MAX_LINE)
        lines = content.removeprefix(codecs.BOM_UTF8).strip().split(b"\n", 2)
        if lines[0].startswith(b"{") and len(lines) > 1 and any(map(_is_row, lines[:2])):
            return read_json_lines(path, staging)
        content += stream.read(max(MAX_JSON + 1 - len(content), 0))
        if len(content) > MAX_JSON:
            raise staging.error(
                f"holds more than {MAX_JSON:,} bytes of JSON", "give an object a line, or OCEL as SQLite"
            )
        stream.read(1)
        fingerprint = stream.digest.hexdigest()
    doubled: Counter[str] = Counter()

    def made(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            doubled["keys that stand twice in an object, the last value of which is taken"] += 1
        return found

    try:
        data = json.loads(content, parse_float=str, parse_int=str, object_pairs_hook=made)
    except (ValueError, RecursionError) as error:
        long = len(lines) == 1 and len(content) > MAX_LINE
        raise staging.error(
            f"is not readable JSON: {one_line(str(error), 120)}",
            f"give JSON Lines of at most {MAX_LINE:,} bytes each" if long else "export or fetch it again",
        ) from None
    if isinstance(data, dict) and OCEL & data.keys():
        from gnrs_ppl.importing import ocel

        found = ocel.read_json(data, staging, case)
    else:
        found = _read_rows(data, staging)
    found.said += [f"{count:,} {what}" for what, count in doubled.items()]
    found.fingerprint = fingerprint
    return found


def _is_row(line: bytes) -> bool:
    """Whether a line holds an object of its own, and not a whole object-centric log."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return _is_object(data) and not {"events", "objects"} <= data.keys()


def _read_rows(data: Any, staging: Staging) -> Found:
    """Stage the objects of a list, or of the only list of objects that an object holds."""
    said = []
    if isinstance(data, dict):
        lists = [
            key for key, value in data.items() if isinstance(value, list) and any(map(_is_object, value))
        ]
        if len(lists) > 1:
            raise staging.error(
                f"holds {len(lists)} lists of objects ({', '.join(repr(one_line(k, 40)) for k in lists[:5])})",
                "give the one with the events: [{…}, {…}]",
            )
        if lists:
            said.append(f"the rows are the objects of {lists[0]!r}")
        data = data[lists[0]] if lists else [data]
    for row in data:
        if not _is_object(row):
            staging.skip("no JSON object", row)
            continue
        try:
            cells = _flat(row)
        except RecursionError:
            staging.skip("nested too deep", "")
        else:
            staging.add(cells)
    staging.finish()
    return Found("JSON", said)


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def read_json_lines(path: Path, staging: Staging) -> Found:
    """Stage a file of JSON objects, one a line; what is nested in an object has its path, parted by dots, as
    its name.

    Raises
    ------
    InputError
        Not UTF-8, a line longer than ``MAX_LINE`` bytes. Lines that hold no object are set aside.
    """
    with bytes_of(path) as stream:
        rest, start = b"", True
        while True:
            chunk = stream.read(1 << 20)
            lines = (rest + chunk).split(b"\n")
            rest = lines.pop() if chunk else b""
            if len(rest) > MAX_LINE:
                raise staging.error(
                    f"holds a line longer than {MAX_LINE:,} bytes", "give JSON Lines: one object a line"
                )
            for line in lines:
                _stage_line(line.removeprefix(codecs.BOM_UTF8) if start else line, staging)
                start = False
            if not chunk:
                break
        staging.finish()
        return Found("JSON Lines", fingerprint=stream.digest.hexdigest())


def _stage_line(line: bytes, staging: Staging) -> None:
    if not line.strip():
        return
    try:
        data = parse_json(line, staging.source)
    except InputError as error:
        staging.skip(one_line(error.problem, 160), line.decode("utf-8", "replace"))
        return
    if isinstance(data, dict):
        staging.add(_flat(data))
    else:
        staging.skip("no JSON object", data)


def _flat(data: dict[str, Any], before: str = "") -> dict[str, str]:
    cells: dict[str, str] = {}
    for key, value in data.items():
        name = before + key
        if isinstance(value, dict):
            cells |= _flat(value, f"{name}.")
        else:
            cells[name] = text_of(value)
    return cells
