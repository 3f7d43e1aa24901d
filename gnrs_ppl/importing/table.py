"""CSV, Parquet and JSON as rows of text."""

from __future__ import annotations

import codecs
import csv
import json
import re
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from gnrs_ppl.context.files import parse_json
from gnrs_ppl.context.table import DELIMITERS, SEPARATOR, cell_text, opened
from gnrs_ppl.errors import InputError, one_line
from gnrs_ppl.importing.staging import Found, Staging, bytes_of, text_of
from gnrs_ppl.importing.times import are_times

MAX_LINE = 1 << 23
"""Bytes of a line of JSON."""
MAX_JSON = 1 << 29
"""Bytes of a document of JSON, which is read whole."""
OCEL = frozenset({"objects", "objectTypes", "eventTypes", "ocel:events"})
"""Keys that an object-centric log has."""


def read_table(path: Path, staging: Staging) -> Found:
    """Stage a CSV (plain or gzipped) or Parquet file; rows with a cell too few or too many are set aside, comments
    and lines above the header are told.

    Raises
    ------
    InputError
        As :func:`gnrs_ppl.context.table.opened`, or two columns of one name.
    """
    import duckdb

    above: list[str] = []
    remarks: list[tuple[int, list[str]]] = []

    def begin(lines: list[str]) -> tuple[int, str | None]:
        count, delimiter = header_of(lines)
        if delimiter is not None and delimiter not in DELIMITERS:
            raise staging.error(
                f"its first line says that {delimiter!r} parts the cells",
                "part them by a comma, a semicolon, a tab or a vertical bar, and say so there",
            )
        above.extend(lines[:count])
        return count, delimiter

    def aside(number: int, row: list[str]) -> None:
        if row[0].lstrip().startswith("#"):
            remarks.append((number, row))
        else:
            staging.uneven(number, row)

    with opened(path, staging.connection, aside, begin) as table:
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
        if remarks and staging.one("SELECT count(*) FROM raw WHERE starts_with(c0, '#')") != (0,):
            for number, row in remarks:  # its rows begin so, and these may be some of them
                staging.uneven(number, row)
            remarks.clear()
        staging.read = table.rows - len(remarks)
        if staging.aside.rows == staging.read > 0:
            raise staging.error(
                f"its first line, {one_line(', '.join(header), 60)!r}, names {len(header)} columns, and no row has "
                "as many cells",
                "begin the file with one line of the names of its columns",
            )
        for _ in range(table.blank):
            staging.aside.add("", "blank line", "")
        form = "Parquet" if path.suffix == ".parquet" else "CSV"
        said = list(table.said)
        for what, lines in (
            ("above the header", [line.strip() for line in above]),
            ("that begin with #", [", ".join(row) for _, row in remarks]),
        ):
            if lines:
                shown = ", ".join(repr(one_line(line, 60)) for line in lines[:3] if line)
                more = f" and {len(lines) - 3:,} more" if len(lines) > 3 else ""
                said.append(f"lines {what}, {len(lines):,}, are no rows: {shown or 'blank'}{more}")
        return Found(form, said, fingerprint=table.fingerprint())


def header_of(lines: list[str]) -> tuple[int, str | None]:
    """How many of the first lines of a CSV file stand above its header, and what parts its cells where a line says
    so.

    These are ``sep=;``, comments, blank lines, and titles: lines with fewer cells than the header, which holds no
    number and no time and stands above rows that do. Where no line is such a header, the first line is.
    """
    said = SEPARATOR.fullmatch(lines[0]) if lines else None
    start, told = (1, said[1]) if said else (0, None)
    rows, width = max((_parted(lines[start:], d) for d in told or DELIMITERS), key=lambda parted: parted[2])[
        :2
    ]

    def is_header(i: int) -> bool:
        row = rows[i] if i < len(rows) else []
        return len(row) == width > 1 and sum(map(bool, row)) >= max(2, width - 1) and not _figures(row)

    for i, row in enumerate(rows):
        below = [other for other in rows[i + 1 : i + 20] if len(other) == width]
        if is_header(i) and any(map(_figures, below)) and not (row[0].startswith("#") and is_header(i + 1)):
            titles = all(_is_title(other, width) for other in rows[:i])
            return start + (i if titles else 0), told
    return start, told


def _parted(lines: list[str], delimiter: str) -> tuple[list[list[str]], int, int]:
    """The cells of lines, the width that most of them have where it is over one, and how many have it."""
    rows = []
    for line in lines:
        with suppress(csv.Error):
            rows.append([cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])])
            continue
        rows.append([])
    widths = Counter(len(row) for row in rows if len(row) > 1)
    return rows, *(widths.most_common(1) or [(0, 0)])[0]


def _is_title(row: list[str], width: int) -> bool:
    """Whether a line above what may be the header is none of the table's."""
    filled = sum(map(bool, row))
    return filled < width if len(row) != width else filled * 2 <= width or row[0].startswith("#")


def _figures(row: list[str]) -> bool:
    """Whether a cell is a number or a time."""
    cells = [cell for cell in row if any(c.isdigit() for c in cell)]
    return any(re.fullmatch(r"[-+]?[0-9.,]*[0-9]", cell) for cell in cells) or any(are_times(cells))


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
        staging.skip(one_line(error.problem, 160), line.decode("utf-8", "replace"), {})
        return
    if isinstance(data, dict):
        staging.add(_flat(data))
    else:
        staging.skip("no JSON object", data, {})


def _flat(data: dict[str, Any], before: str = "") -> dict[str, str]:
    cells: dict[str, str] = {}
    for key, value in data.items():
        name = before + key
        if isinstance(value, dict):
            cells |= _flat(value, f"{name}.")
        else:
            cells[name] = text_of(value)
    return cells
