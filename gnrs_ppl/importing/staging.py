"""What every reader writes to: rows as text in a locked-down DuckDB, and a file of what had to be set
aside.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from gnrs_ppl.context.files import literally, open_regular
from gnrs_ppl.context.limits import LONGEST_NAME
from gnrs_ppl.context.log import WHITE_SPACE, open_connection
from gnrs_ppl.context.table import MAX_BYTES, MAX_ROWS
from gnrs_ppl.errors import InputError, one_line
from gnrs_ppl.safe_text import to_csv, to_json, visible

if TYPE_CHECKING:
    import duckdb

MAX_COLUMNS = 1000
"""Different attributes that the rows of a source may have."""
MAX_ROW = 1 << 21
"""Characters of a row."""
SHOWN = 4000
"""Characters of a row that the list of what was set aside shows."""
GZIP = b"\x1f\x8b"
_AT_ONCE = 20_000


class _Bytes(io.RawIOBase):
    """A source's bytes, unpacked where gzipped, hashed as they lie on disk, and never more than
    ``MAX_BYTES`` of them.
    """

    def __init__(self, raw: IO[bytes], source: str) -> None:
        self.raw, self.source, self.digest, self.given = raw, source, hashlib.sha256(), 0
        head = raw.read(2)
        self.zipped = head == GZIP
        raw.seek(0)
        self.stream = (
            cast("IO[bytes]", gzip.GzipFile(fileobj=self._hashed(), mode="rb"))
            if self.zipped
            else self._hashed()
        )

    def _hashed(self) -> Any:
        return io.BufferedReader(_Hashing(self.raw, self.digest), 1 << 20)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        chunk = self.stream.read(size)
        self.given += len(chunk)
        if self.given > MAX_BYTES:
            raise InputError(
                f"holds more than {MAX_BYTES:,} bytes once unpacked", "give it in parts", source=self.source
            )
        return chunk


class _Hashing(io.RawIOBase):
    def __init__(self, raw: IO[bytes], digest: Any) -> None:
        self.raw, self.digest = raw, digest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self.raw.read(len(buffer))
        self.digest.update(chunk)
        buffer[: len(chunk)] = chunk
        return len(chunk)


@contextmanager
def bytes_of(path: Path) -> Iterator[_Bytes]:
    """The bytes of a source, unpacked where it is gzipped.

    Raises
    ------
    InputError
        No such regular file, not readable, not a whole gzip file, or more than ``MAX_BYTES`` once unpacked.
    """
    with unpacking(path), open_regular(path, MAX_BYTES) as raw:
        yield _Bytes(raw, str(path))


@contextmanager
def unpacking(path: Path) -> Iterator[None]:
    """What goes wrong between disk and bytes as one line."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(
            f"is not a whole gzip file ({one_line(str(error), 80)})",
            "fetch or export it again",
            source=str(path),
        ) from None
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror or error})",
            "check the file and its permissions",
            source=str(path),
        ) from None


class SetAside:
    """The rows that cannot be used, written as they come: number, reason, content."""

    def __init__(self, path: Path) -> None:
        self.path, self.reasons = path, Counter[str]()
        self.file = path.open("w", encoding="utf-8", newline="")
        self.file.write(to_csv([("row", "reason", "content")]))

    def add(self, row: int | str, reason: str, content: object) -> None:
        """One row with the reason it cannot be used."""
        self.reasons[reason] += 1
        told = to_json(content, None) if isinstance(content, dict | list) else str(content)
        self.file.write(to_csv([(row, reason, told[:SHOWN])]))

    @property
    def rows(self) -> int:
        """How many there are."""
        return sum(self.reasons.values())

    def content(self) -> bytes:
        """The file as it stands."""
        self.file.flush()
        return self.path.read_bytes()


@dataclass
class Found:
    """What a reader found beside rows.

    Attributes
    ----------
    form : str
        The format in words.
    said : list of str
        What a person should know of how the source was read.
    hints : mapping
        Event-table column -> (column of the source, why): what the format itself says.
    objects : mapping
        Types of objects the source declares -> how many there are.
    activities : mapping
        Activities the source declares -> how many events there are.
    roles : mapping
        Activity -> the role that performs it, in a model.
    order : list of pairs
        Activities one of which leads to the other, in a model.
    has_log : bool
        Whether there are events; a model has none.
    told_activity : mapping
        Activity -> its verb phrase, where the reader knows better than its name.
    sure : mapping
        Event-table column -> how sure its hint is; 1 where it is not here.
    """

    form: str
    said: list[str] = field(default_factory=list)
    hints: dict[str, tuple[str, str]] = field(default_factory=dict)
    objects: dict[str, int] = field(default_factory=dict)
    activities: dict[str, int] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    order: list[tuple[str, str]] = field(default_factory=list)
    has_log: bool = True
    told_activity: dict[str, str] = field(default_factory=dict)
    sure: dict[str, float] = field(default_factory=dict)
    fingerprint: str = ""


class Staging:
    """Rows of a source as text: table ``raw`` with the row's number and a column for each attribute.

    Attributes
    ----------
    columns : list of str
        Names of the attributes; column ``c0`` holds the first of them.
    read : int
        Rows of the source, those that were set aside among them.
    """

    def __init__(self, source: Path | str, folder: Path) -> None:
        self.source, self.folder = str(source), folder
        self.aside = SetAside(folder / "set-aside.csv")
        self.columns: list[str] = []
        self.read = 0
        self._known: dict[str, int] = {}
        self._rows: list[tuple[int, str, Mapping[str, str]]] = []
        self._segments: list[tuple[Path, int]] = []
        self._uneven: IO[str] | None = None

    @cached_property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The database, opened when first asked for: a source that is refused before needs none."""
        connection = open_connection()
        connection.execute("SET preserve_insertion_order = true")
        return connection

    def close(self) -> None:
        """Close the file of what was set aside, and the database where one was opened."""
        self.aside.file.close()
        if self._uneven is not None:
            self._uneven.close()
        if "connection" in vars(self):
            self.connection.close()

    def error(self, problem: str, remedy: str, field: str = "") -> InputError:
        """An error that names the source."""
        return InputError(problem, remedy, source=self.source, field=field)

    def add(self, values: Mapping[str, str]) -> None:
        """One row of the source."""
        if sum(map(len, values.values())) > MAX_ROW:
            short = {name: text for name, text in values.items() if len(text) <= LONGEST_NAME}
            self.skip(f"longer than {MAX_ROW:,} characters", "", short)
            return
        self.read += 1
        self._keep("", values)

    def _keep(self, reason: str, values: Mapping[str, str]) -> None:
        for name in values:
            if name not in self._known:
                self._learn(name)
        self._rows.append((self.read, reason, values))
        if len(self._rows) >= _AT_ONCE:
            self._flush()

    def skip(self, reason: str, content: object, known: Mapping[str, str] | None = None) -> None:
        """One row of the source that cannot be used; it may be what a rule looks for, where something is ``known`` of it
        or nothing ({}), and is understood where that is None.
        """
        self.read += 1
        self._check_count()
        self.aside.add(self.read, reason, content)
        if known is not None:
            self._keep(reason, known)

    def uneven(self, number: int, row: list[str]) -> None:
        """One row of a table with a cell too few or too many: its cells as counted from the first, and as counted
        from the last.
        """
        width = len(self.columns)
        reason = f"{len(row)} cells where the header has {width}"
        self.aside.add(number, reason, row)
        if self._uneven is None:
            self._uneven = (self.folder / "uneven").open("w", encoding="utf-8", newline="")
        cells = [cell.strip() if len(cell) <= LONGEST_NAME else "" for cell in row]
        first = (cells + [""] * width)[:width]
        last = ([""] * width + cells)[-width:]
        csv.writer(self._uneven, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(
            [number, reason, *first, *last]
        )

    def _learn(self, name: str) -> None:
        if len(self.columns) >= MAX_COLUMNS:
            raise self.error(
                f"its rows have more than {MAX_COLUMNS:,} different attributes",
                "leave out those no rule needs",
            )
        self._known[name] = len(self.columns)
        self.columns.append(name)

    def _check_count(self) -> None:
        if self.read > MAX_ROWS:
            raise self.error(f"holds more than {MAX_ROWS:,} rows", "give the log in parts")

    def _flush(self) -> None:
        self._check_count()
        width = len(self.columns)
        if not self._segments or self._segments[-1][1] != width:
            self._segments.append((self.folder / f"rows{len(self._segments)}", width))
        names = self.columns
        with self._segments[-1][0].open("a", encoding="utf-8", newline="") as file:
            csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(
                (row, reason, *map(values.get, names)) for row, reason, values in self._rows
            )
        self._rows.clear()

    def finish(self) -> None:
        """Make table ``raw`` of the rows that were added."""
        self._flush()
        parts = []
        for number, (path, width) in enumerate(self._segments):
            cells = ["reason", *(f"c{i}" for i in range(width))]
            parts.append(f"SELECT * FROM {_csv(path, cells)} -- {number}\n")
        self.take(f"({' UNION ALL BY NAME '.join(parts)})", reasons=True)

    def take(
        self, relation: str, parameters: Mapping[str, str] | None = None, *, reasons: bool = False
    ) -> None:
        """Make table ``raw`` of the columns ``row`` and ``c0``, ``c1``, … of a relation; white space around
        cells is taken off.

        Beside it stands ``doubted``, the rows that were set aside and may be what a rule looks for, with the reason;
        those with one in column ``reason`` of the relation go there.
        """
        cells = []
        for i in range(len(self.columns)):
            ends = (
                f"(c{i} <> '' AND (contains($white_space, left(c{i}, 1)) OR contains($white_space, "
                f"right(c{i}, 1))))"
            )
            cells.append(f"nullif(CASE WHEN {ends} THEN trim(c{i}, $white_space) ELSE c{i} END, '') AS c{i}")
        columns = ["row", *(["reason"] if reasons else []), *cells]
        self.connection.execute(
            f"CREATE TABLE raw AS SELECT {', '.join(columns)} FROM {relation}",
            {"white_space": WHITE_SPACE, **(parameters or {})} if cells else dict(parameters or {}),
        )
        self.connection.execute("CREATE TABLE doubted (row BIGINT, reason VARCHAR)")
        self.widen()
        if reasons:
            self.connection.execute(
                "INSERT INTO doubted BY NAME SELECT * FROM raw WHERE reason <> ''; DELETE FROM raw WHERE reason <> ''; "
                "ALTER TABLE raw DROP COLUMN reason"
            )
        self._name_columns()

    def uneven_rows(self) -> str | None:
        """SQL of the rows with a cell too few or too many, their cells from the first ``first0``, … and from the last
        ``last0``, …; None where there are none.
        """
        if self._uneven is None:
            return None
        self._uneven.close()
        width = range(len(self.columns))
        names = ["reason", *(f"first{i}" for i in width), *(f"last{i}" for i in width)]
        return _csv(self.folder / "uneven", names)

    def widen(self) -> None:
        """Give ``doubted`` the columns that ``raw`` has."""
        for i in range(len(self.columns)):
            self.connection.execute(f"ALTER TABLE doubted ADD COLUMN IF NOT EXISTS c{i} VARCHAR")

    def _name_columns(self) -> None:
        """Give columns whose names a context file could not hold others, which it can."""
        for i, name in enumerate(self.columns):
            if not re.fullmatch(r"\S(.{0,198}\S)?", name) or not name.isprintable():
                plain = visible(name).strip()[:180] or f"column {i + 1}"
                self.columns[i] = plain if plain not in self.columns else f"{plain} {i + 1}"

    def rows_of(self, sql: str, parameters: Any = None) -> list[tuple[Any, ...]]:
        """What a query gives."""
        return self.connection.execute(sql, parameters or {}).fetchall()

    def one(self, sql: str, parameters: Any = None) -> tuple[Any, ...]:
        """The one row a query gives."""
        return self.connection.execute(sql, parameters or {}).fetchone() or ()

    def cell(self, column: str) -> str:
        """SQL name of a column of ``raw``."""
        return f"c{self.columns.index(column)}"

    def drop(self, where: str, reason: str, parameters: Any = None, *, understood: bool = False) -> int:
        """Set aside the rows of ``raw`` for which a condition holds; they may be what a rule looks for unless they are
        ``understood``.
        """
        names = [f"c{i}" for i in range(len(self.columns))]
        found = self.connection.execute(
            f"SELECT row, {', '.join(names)} FROM raw WHERE {where} ORDER BY row", parameters or {}
        )
        count = 0
        while rows := found.fetchmany(_AT_ONCE):
            for row, *cells in rows:
                self.aside.add(
                    row,
                    reason,
                    {name: cell for name, cell in zip(self.columns, cells, strict=True) if cell is not None},
                )
            count += len(rows)
        if count and not understood:
            self.widen()
            self.connection.execute(
                f"INSERT INTO doubted BY NAME SELECT row, $why AS reason, {', '.join(names)} FROM raw WHERE {where}",
                {**(parameters or {}), "why": reason},
            )
        if count:
            self.connection.execute(f"DELETE FROM raw WHERE {where}", parameters or {})
        return count


def _csv(path: Path, cells: Sequence[str]) -> str:
    """SQL for a file of rows that was written here: the row's number, then cells of text."""
    columns = ", ".join(["'row': 'BIGINT'", *(f"'{cell}': 'VARCHAR'" for cell in cells)])
    return (
        f"read_csv('{_literal(path)}', columns = {{{columns}}}, auto_detect = false, header = false, "
        "delim = ',', quote = '\"', escape = '\"', new_line = '\\n', strict_mode = true, parallel = false, "
        "max_line_size = 16777216, buffer_size = 33554432)"
    )


def _literal(path: Path) -> str:
    return literally(path).replace("'", "''")


def text_of(value: object) -> str:
    """A value of JSON or a database as the text of a cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    text = str(value).replace("\0", "\\x00")
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
