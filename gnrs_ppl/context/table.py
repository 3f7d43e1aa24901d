"""The cells of a log file exactly as they stand: CSV in one stated dialect, or Parquet; what is hashed is
what is read.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import hashlib
import io
import re
import shlex
import shutil
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from gnrs_ppl.context.files import literally, open_regular
from gnrs_ppl.context.output import folder_of_copies
from gnrs_ppl.errors import InputError, one_line

if TYPE_CHECKING:
    import duckdb

MAX_BYTES = 4 << 30
"""Bytes of text (or of Parquet values) after decompression that a log may hold."""
MAX_ROWS = 50_000_000
"""Rows that a log may hold."""
MAX_LINE = 1 << 23
"""Characters that may stand before a line ends; a cell may hold what Python's csv allows, 131,072."""
SET_ASIDE = "gnrs_set_aside"
"""What a Parquet file of import says of itself: how many rows of its source were set aside."""
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_CHUNK = 1 << 20
_ROWS_AT_ONCE = 5000


class Table(Protocol):
    """A log file whose columns are known and whose rows are still to be read.

    Attributes
    ----------
    header : list of str
        Names of the columns as the file spells them, without surrounding white space; unnamed ones are empty.
    types : list of str
        Their DuckDB types.
    rows, blank : int
        Rows of the file, counted without DuckDB, and how many of them are blank lines; known after ``scan``.
    set_aside : int
        Rows of its source that import set aside, as a file that import wrote says.
    """

    header: list[str]
    types: list[str]
    rows: int
    blank: int
    set_aside: int

    @property
    def said(self) -> list[str]:
        """What a reader should know of how the file was read; known after ``scan``."""

    def scan(self, positions: Sequence[int]) -> tuple[str, dict[str, Any]]:
        """SQL for the rows with columns ``row`` (from 1) and ``c0``, ``c1``, … as ``positions`` say; its
        parameters.
        """

    def fingerprint(self) -> str:
        """Sha256 of the file's bytes, those that were read; known after ``scan``."""


Aside = Callable[[int, list[str]], None]
"""Takes the number and the cells of a row that is no row of the table."""


Begin = Callable[[list[str]], tuple[int, str | None]]
"""Says of the first lines of a CSV file how many stand above its header, and what parts its cells if one tells."""
FIRST_LINES = 50
"""Lines of a CSV file among which its header stands."""
SEPARATOR = re.compile(r'"?sep=(.)"?[\r\n]*', re.IGNORECASE)
"""What spreadsheets write on a first line that says what parts the cells."""


@contextmanager
def opened(
    path: Path,
    connection: duckdb.DuckDBPyConnection,
    aside: Aside | None = None,
    begin: Begin | None = None,
) -> Iterator[Table]:
    """The table in a CSV (plain or gzipped) or Parquet file; the path is taken literally and opened once.

    DuckDB is only ever given a private copy under a fixed name, because it reads patterns, home folders, URLs
    and columns out of paths. Rows of a CSV file with a cell too few or too many go to ``aside``, and are
    refused where there is none; lines above the header go by ``begin``, and are refused where there is none.

    Raises
    ------
    InputError
        No such regular file, unreadable, damaged, beyond the limits, or not a table; the line names the
        place.
    """
    source = str(path)
    try:
        with (
            open_regular(path, remedy="check records.log or --log") as raw,
            folder_of_copies("gnrs-") as folder,
        ):
            hashed, copy = _Hashed(raw), folder / "log"
            yield (
                _Parquet(hashed, copy, source, connection)
                if path.suffix == ".parquet"
                else _Csv(hashed, copy, source, aside, begin)
            )
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(
            f"is not a whole gzip file ({one_line(str(error), 80)})",
            "fetch or export it again",
            source=source,
        ) from None
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror or error})", "check the file and its permissions", source=source
        ) from None


class _Hashed(io.RawIOBase):
    """A raw stream with the hash of what was read from it."""

    def __init__(self, raw: io.FileIO) -> None:
        self.raw, self.digest = raw, hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self.raw.readinto(buffer)
        self.digest.update(memoryview(buffer)[:count])
        return count


class _Csv:
    """Cells in double quotes where need be, a quote doubled inside them; no comments, nothing skipped, one
    delimiter.
    """

    def __init__(
        self, stream: _Hashed, copy: Path, source: str, aside: Aside | None, begin: Begin | None
    ) -> None:
        self.stream, self.copy, self.source, self.aside = stream, copy, source, aside
        self.rows = self.blank = self.set_aside = 0
        self.encoding = "utf-8"
        lines = chain.from_iterable(self._lines())
        first = list(islice(lines, FIRST_LINES))
        self.above, told = begin(first) if begin is not None else (0, None)
        lines = chain(first[self.above :], lines)
        head: list[str] = []
        for line in lines:
            head.append(line)
            if sum(part.count('"') for part in head) % 2 == 0 or len(head) > 100:
                break
        outside = re.sub(r'"(?:[^"]|"")*"', "", "".join(head))
        found = [told] if told else [delimiter for delimiter in DELIMITERS if delimiter in outside]
        if begin is None and (SEPARATOR.fullmatch("".join(head)) or (outside.startswith("#") and not found)):
            raise self._error(
                f"its first line is {one_line(head[0].strip(), 40)!r}, not the names of its columns",
                f"take that line out, or read the file with: gnrs import {shlex.quote(self.source)}",
            )
        if len(found) > 1:
            raise self._error(
                f"its header line holds {' and '.join(DELIMITERS[d] for d in found)}, so what parts the "
                "cells is unclear",
                "put column names that hold one of them in double quotes",
            )
        self.delimiter = found[0] if found else ","
        self.reader = csv.reader(
            chain(head, lines),
            delimiter=self.delimiter,
            quotechar='"',
            doublequote=True,
            skipinitialspace=False,
            strict=True,
        )
        self.header = [name.strip() for name in next(self._records(1), [[]])[0]]
        if not any(self.header):
            raise self._error("has no header line", "begin the file with the names of its columns")
        self.header_lines = self.reader.line_num
        self.types = ["VARCHAR"] * len(self.header)

    @property
    def said(self) -> list[str]:
        inner = self.reader.line_num - self.header_lines - self.rows
        return [
            f"its cells are parted by {DELIMITERS[self.delimiter]}, its text is {self.encoding.upper()}"
        ] + ([f"{inner} line ends stand inside quoted cells"] if inner else [])

    def scan(self, positions: Sequence[int]) -> tuple[str, dict[str, Any]]:
        """Write a plain copy of the wanted cells, every one of them quoted, which leaves DuckDB nothing to
        guess.
        """
        cells = [itemgetter(position) for position in positions]
        with self.copy.open("w", encoding="utf-8", newline="") as target:
            write = csv.writer(target, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows
            for rows in self._records(_ROWS_AT_ONCE):
                numbers: Sequence[int] = range(self.rows + 1, self.rows + len(rows) + 1)
                self.rows += len(rows)
                if self.rows > MAX_ROWS:
                    raise self._error(f"holds more than {MAX_ROWS:,} rows", "give the log in parts")
                if set(map(len, rows)) != {len(self.header)} or not all(map(any, rows)):
                    numbers, rows = self._filled(numbers, rows)
                write(zip(numbers, *(map(cell, rows) for cell in cells), strict=True))
        columns = ", ".join(["'row': 'BIGINT'", *(f"'c{i}': 'VARCHAR'" for i in range(len(cells)))])
        options = (
            "auto_detect = false, header = false, skip = 0, comment = '', delim = ',', quote = '\"', escape "
            "= '\"', new_line = '\\n', "
            "strict_mode = true, null_padding = false, ignore_errors = false, parallel = false, "
            "hive_partitioning = false, "
            "encoding = 'utf-8', max_line_size = 16777216, buffer_size = 33554432"
        )
        return f"read_csv($path, columns = {{{columns}}}, {options})", {"path": literally(self.copy)}

    def fingerprint(self) -> str:
        return self.stream.digest.hexdigest()

    def _error(self, problem: str, remedy: str) -> InputError:
        return InputError(problem, remedy, source=self.source)

    def _filled(self, numbers: Sequence[int], rows: list[list[str]]) -> tuple[list[int], list[list[str]]]:
        """The rows that are whole, and their numbers; a row of empty cells is a blank line, and what has a cell too
        few or too many is set aside or refused.
        """
        whole = []
        for number, row in zip(numbers, rows, strict=True):
            if not any(map(str.strip, row)):
                self.blank += 1
            elif len(row) != len(self.header):
                if self.aside is None:
                    raise self._error(
                        f"row {number} holds {len(row)} cells, the header {len(self.header)}",
                        f"mend the row; a cell with {DELIMITERS[self.delimiter]}, quotes or line ends goes "
                        f"in double quotes; or set such rows aside with: gnrs import {shlex.quote(self.source)}",
                    )
                self.aside(number, row)
            else:
                whole.append((number, row))
        return [number for number, _ in whole], [row for _, row in whole]

    def _records(self, at_once: int) -> Iterator[list[list[str]]]:
        try:
            while rows := list(islice(self.reader, at_once)):
                yield rows
        except csv.Error as error:
            raise self._error(
                f"is not readable CSV: line {self.above + self.reader.line_num}: {error}",
                "mend the quotes there; a quote in a cell is doubled",
            ) from None

    def _lines(self) -> Iterator[list[str]]:
        """Lines with their ends (any of the three), a list at a time."""
        rest = ""
        for text in self._text():
            lines = list(io.StringIO(rest + text, newline=""))
            rest = lines.pop() if lines else ""  # it may go on in the next piece
            if len(rest) > MAX_LINE:
                raise self._error(
                    f"holds a line longer than {MAX_LINE:,} characters", "give a CSV file with a header line"
                )
            yield lines
        yield [rest] if rest else []

    def _text(self) -> Iterator[str]:
        stream: io.BufferedReader | gzip.GzipFile = io.BufferedReader(self.stream, _CHUNK)
        if stream.peek(2)[:2] == b"\x1f\x8b":
            stream = gzip.GzipFile(fileobj=stream, mode="rb")
        start = stream.peek(3)
        mark = next((mark for mark in BYTE_ORDER_MARKS if start.startswith(mark)), b"")
        self.encoding = BYTE_ORDER_MARKS.get(mark, self.encoding)
        taken = len(stream.read(len(mark)))
        decoder = codecs.getincrementaldecoder(self.encoding)()
        chunk = start
        while chunk:
            chunk = stream.read(_CHUNK)
            begin = taken - len(decoder.getstate()[0])  # of a character, the first byte may have come before
            try:
                text = decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                raise self._error(
                    f"is not {self.encoding.upper()} text (byte {begin + error.start})",
                    "save it as CSV in UTF-8 with a header line, plain or gzipped, or as Parquet",
                ) from None
            if "\0" in text:
                byte = begin + len(text.partition("\0")[0].encode(self.encoding))
                raise self._error(
                    f"holds a NUL character (byte {byte})",
                    "save it as CSV in UTF-8 with a header line, or as Parquet",
                )
            taken += len(chunk)
            if taken > MAX_BYTES:
                raise self._error(f"holds more than {MAX_BYTES:,} bytes of text", "give the log in parts")
            yield text


class _Parquet:
    """A Parquet file; its row count is the one its own footer states."""

    def __init__(
        self, stream: _Hashed, copy: Path, source: str, connection: duckdb.DuckDBPyConnection
    ) -> None:
        import duckdb

        self.blank, self.said = 0, list[str]()
        self.stream, self.copy = stream, copy
        with copy.open("wb") as target:
            shutil.copyfileobj(io.BufferedReader(stream, _CHUNK), target, _CHUNK)

        def rows_of(sql: str) -> list[tuple[Any, ...]]:
            return connection.execute(sql, {"path": literally(copy)}).fetchall()

        try:
            self.rows = sum(row[0] for row in rows_of("SELECT num_rows FROM parquet_file_metadata($path)"))
            size = sum(
                row[0] for row in rows_of("SELECT total_uncompressed_size FROM parquet_metadata($path)")
            )
            said = rows_of(
                f"SELECT decode(value) FROM parquet_kv_metadata($path) WHERE key = '{SET_ASIDE}'::BLOB"
            )
            self.set_aside = int(said[0][0]) if said and said[0][0].isdecimal() else 0
            tree = iter(rows_of("SELECT name, num_children FROM parquet_schema($path)"))
            self.types = [
                row[1]
                for row in rows_of("DESCRIBE SELECT * FROM read_parquet($path, hive_partitioning = false)")
            ]
        except (duckdb.Error, UnicodeDecodeError) as error:
            problem = one_line(str(error).replace(str(copy), "the file"), 120)
            raise InputError(
                f"is not readable Parquet ({problem})", "give a Parquet file", source=source
            ) from None
        if self.rows > MAX_ROWS or size > MAX_BYTES:
            raise InputError(
                f"holds more than {MAX_ROWS:,} rows or {MAX_BYTES:,} bytes",
                "give the log in parts",
                source=source,
            )
        self.header = [name.strip() for name in _children(tree)]

    def scan(self, positions: Sequence[int]) -> tuple[str, dict[str, Any]]:
        """The copy, its columns under names by position."""
        names = [f"c{positions.index(i)}" if i in positions else f"unread{i}" for i in range(len(self.types))]
        return (
            "(SELECT number + 1 AS row, * EXCLUDE (number) FROM read_parquet($path, hive_partitioning = "
            "false, file_row_number = true) "
            f"AS file({', '.join([*names, 'number'])}))"
        ), {"path": literally(self.copy)}

    def fingerprint(self) -> str:
        return self.stream.digest.hexdigest()


def cell_text(cell: str, kind: str) -> str:
    """SQL for a Parquet cell of a type as text; a timestamp with a zone is written as an instant in UTC."""
    if kind == "VARCHAR":
        return cell
    if kind.startswith("TIMESTAMP"):  # casts of one with zone depend on the connection's zone, epoch does not
        zoned = kind == "TIMESTAMP WITH TIME ZONE"
        instant = f"make_timestamp(epoch_us({cell}))" if zoned else f"{cell}::TIMESTAMP"
        written = f"strftime({instant}, '%Y-%m-%dT%H:%M:%S.%f{'Z' if zoned else ''}')"
        return f"CASE WHEN isfinite({cell}) THEN {written} ELSE {cell}::VARCHAR END"
    return f"{cell}::VARCHAR"


def _children(tree: Iterator[tuple[str, int | None]]) -> list[str]:
    """Names of the columns at the top of a Parquet schema, listed as DuckDB does: every node before its
    children.
    """

    def names(count: int) -> list[str]:
        found = []
        for name, children in islice(tree, count):
            found.append(name)
            names(children or 0)
        return found

    return names(next(tree)[1] or 0)
