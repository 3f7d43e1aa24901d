"""CSV, Parquet and JSON Lines as rows of text."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Any

from gnrs_ppl.context.files import parse_json
from gnrs_ppl.context.table import cell_text, opened
from gnrs_ppl.errors import InputError, one_line
from gnrs_ppl.importing.staging import Found, Staging, bytes_of, text_of

MAX_LINE = 1 << 23
"""Bytes of a line of JSON."""


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
