"""Logs written by Python's csv come back cell for cell, and damaged ones are read whole or refused in one
line."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest
from fuzz import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gnrs_ppl.context import EventLog, RecordLayer, read_log
from gnrs_ppl.context.log import open_connection
from gnrs_ppl.context.table import opened
from gnrs_ppl.errors import InputError

pytestmark = pytest.mark.fuzz
CONNECTION = open_connection()

AWKWARD = [
    "", "", " ", "Open", "Open\t", "'", "'tis", "boys'", '"', '""', 'a "b" c', "# page 2", "#", "\\", '\\"', "\\n", ",", ";", "|", "\t", "a,b", "a;b|c\td",
    "two\nlines", "two\r\nlines", "old\rline", "\n", "NULL", "null", "nan", "TRUE", "1", "007", "1e5", "-", "--", "//", "=1+1", "{x}", "$c0", "é", "naïve",
    "中文", "🙂", "\u00a0", "\u2028", "\x0b", "\x1c", "\x85", "\ufeff", "x" * 3000,
]  # fmt: skip
CELLS = st.one_of(
    st.sampled_from(AWKWARD),
    st.text(st.sampled_from("ab'\"#,;|\t\n\r \\é中"), max_size=8),
    st.text(max_size=5).filter(lambda t: "\0" not in t),
)
READ = ("activity", "resource", "role", "object", "location", "channel", "value")


class File(NamedTuple):
    """Bytes of a log, and for every row of it, blank ones too, the cells by column."""

    name: str
    content: bytes
    rows: list[dict[str, str] | None]


def written(rows: list[list[str]], delimiter: str, end: str, quoting: int) -> str:
    target = io.StringIO(newline="")
    # csv leaves a line end that is not its own unquoted, which no reader can tell from the end of a row
    if any(sign in cell for row in rows for cell in row for sign in "\r\n"):
        quoting = csv.QUOTE_ALL
    csv.writer(target, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(rows)
    return target.getvalue()


@st.composite
def files(draw: st.DrawFn) -> File:
    """One export or two joined, in any dialect that csv writes by default rules, in any encoding that is
    read."""
    optional = draw(
        st.lists(st.sampled_from(["resource", "role", "object", "location", "value"]), unique=True)
    )
    header = draw(
        st.permutations(
            [
                "case_id",
                "activity",
                "timestamp",
                "channel",
                *optional,
                *draw(st.sampled_from([[], ["note"], ['a, "b"', ""]])),
            ]
        )
    )
    delimiter = draw(st.sampled_from(",;\t|"))
    text = written([list(header)], delimiter, draw(st.sampled_from(["\n", "\r\n", "\r"])), csv.QUOTE_ALL)
    rows: list[dict[str, str] | None] = []
    for _ in range(draw(st.integers(1, 2))):
        end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
        quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]))
        for _ in range(draw(st.integers(1, 5))):
            cells = {name: draw(CELLS) for name in header} | {
                "timestamp": draw(st.sampled_from(["", "2024-01-01", " 2024-01-01\t"]))
            }
            cells["case_id"] = draw(st.sampled_from(["1", "'1", "# 1", "1'", "1, 2", '"1"', ""]))
            cells = {name: cells[name] for name in header}
            for _ in range(draw(st.sampled_from([0, 0, 0, 1]))):
                text += "\r" if text.endswith("\r") else end  # a line feed would only complete that end
                rows.append(None)
            text += written([list(cells.values())], delimiter, end, quoting)
            rows.append(cells)
    if draw(st.booleans()):  # the last row need not end
        text = text.removesuffix(end)
    content = text.encode(draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])))
    packed = draw(st.booleans())
    return File("l.csv.gz" if packed else "l.csv", gzip.compress(content, 1) if packed else content, rows)


def load(name: str, content: bytes) -> EventLog:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_bytes(content)
        return read_log(Path(folder) / name, RecordLayer())


def expected(file: File) -> list[tuple[str | None, ...]]:
    """Rows with a case, numbered as they stand in the file, cells without white space around them."""
    found = []
    for number, row in enumerate(file.rows, 1):
        if row is not None and row["case_id"]:
            found.append(
                (f"{number:09d}", row["case_id"], *((row.get(name, "").strip() or None) for name in READ))
            )
    return found


@settings(max_examples=examples(250))
@given(files())
def test_what_csv_writes_is_what_is_read(file: File) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file.name
        path.write_bytes(file.content)
        with opened(path, CONNECTION) as table:
            relation, parameters = table.scan(range(len(table.header)))
            found = CONNECTION.execute(f"SELECT * FROM {relation}", parameters).fetchall()
    filled = [(number, row) for number, row in enumerate(file.rows, 1) if row is not None]
    assert found == [(number, *(cell or None for cell in row.values())) for number, row in filled]
    assert table.header == list(filled[0][1])
    assert (table.rows, table.blank) == (len(file.rows), len(file.rows) - len(filled))
    assert table.fingerprint() == hashlib.sha256(file.content).hexdigest()


@settings(max_examples=examples(60))
@given(files())
def test_every_row_becomes_the_event_it_says_or_is_counted(file: File) -> None:
    wanted = expected(file)
    if not wanted:
        with pytest.raises(InputError, match="holds no row with a case id"):
            load(file.name, file.content)
        return
    log = load(file.name, file.content)
    assert (
        log.connection.execute(
            f"SELECT event_id, case_id, {', '.join(READ)} FROM events ORDER BY event_id"
        ).fetchall()
        == wanted
    )
    assert log.findings[0].startswith(f"the file's {len(file.rows)} rows: {len(wanted)} events")


@settings(max_examples=examples(60))
@given(files(), st.data())
def test_a_damaged_file_is_read_whole_or_refused(file: File, data: st.DataObject) -> None:
    content = bytearray(file.content)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.integers(0, 4))] = data.draw(
            st.sampled_from([b"", b'"', b"'", b"\n", b"\r", b",", b"#", b"\0", b"\xff", b"\xc3"])
        )
    try:
        log = load(file.name, bytes(content))
    except InputError:
        return
    total, events = (
        int(part.split()[i]) for part, i in zip(log.findings[0].split(": ")[:2], (2, 0), strict=True)
    )
    assert events == log.events <= total
