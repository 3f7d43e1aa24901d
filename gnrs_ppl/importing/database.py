"""SQLite databases, opened to be read and nothing else: OCEL logs, or tables."""

from __future__ import annotations

import gzip
import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from gnrs_ppl.context.files import open_regular
from gnrs_ppl.context.table import MAX_BYTES
from gnrs_ppl.errors import InputError, one_line
from gnrs_ppl.importing.staging import GZIP, Found, Staging, unpacking
from gnrs_ppl.importing.tables import MAX_TABLES, Table, read_tables


def read_sqlite(path: Path, staging: Staging, case: str | None) -> Found:
    """Stage a SQLite database, plain or gzipped: an OCEL 2.0 log, or tables with a time column.

    Raises
    ------
    InputError
        Not a database, damaged, beyond a limit, or without a table whose rows have a time.
    """
    copy = staging.folder / "database"
    with unpacking(path), open_regular(path) as raw:
        fingerprint = hashlib.file_digest(raw, "sha256").hexdigest()
        raw.seek(0)
        zipped = raw.read(2) == GZIP
        raw.seek(0)
        with gzip.GzipFile(fileobj=raw) if zipped else raw as stream, copy.open("wb") as target:
            while chunk := stream.read(1 << 20):
                target.write(chunk)
                if target.tell() > MAX_BYTES:
                    raise staging.error(
                        f"holds more than {MAX_BYTES:,} bytes once unpacked", "give it in parts"
                    )
    try:
        # a copy under a name of ours: what stands beside the source, or in its name, is never read
        with closing(
            sqlite3.connect(f"{copy.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        ) as connection:
            connection.text_factory = lambda content: content.decode("utf-8", "replace")
            for pragma in (
                "trusted_schema = off",
                "query_only = on",
                "cell_size_check = on",
                "mmap_size = 0",
            ):
                connection.execute(f"PRAGMA {pragma}")
            tables = tables_of(connection)
            if {"event", "object", "event_object"} <= set(tables):
                from gnrs_ppl.importing import ocel

                return ocel.read_sqlite(path, staging, case, connection, fingerprint)
            found = read_tables(_Sqlite(connection), staging, case)
            found.fingerprint = fingerprint
            return found
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
        problem = f"is not a whole SQLite database ({one_line(str(error), 120)})"
        raise InputError(problem, "export or fetch it again", source=str(path)) from None


def quoted(name: str) -> str:
    """A name as SQL takes it literally."""
    return '"' + name.replace('"', '""') + '"'


def tables_of(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """Ordinary tables and their columns; views and virtual tables, which could run what others wrote, are
    left out.
    """
    found = {}
    listed = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND substr(name, 1, 7) <> "
        "'sqlite_' ORDER BY rowid"
    )
    for (name,) in listed.fetchmany(MAX_TABLES):
        # hidden and generated columns are computed when read, so only plain ones are
        found[name] = [
            row[1] for row in connection.execute(f"PRAGMA table_xinfo({quoted(name)})") if row[6] == 0
        ]
    return found


def rows_of(connection: sqlite3.Connection, table: str, path: Path) -> Iterator[tuple[object, ...]]:
    """Rows of a table; raises InputError where it has no plain column."""
    columns = tables_of(connection).get(table)
    if not columns:
        raise InputError(
            f"its table {one_line(table, 60)!r} has no columns that can be read",
            "export it again",
            source=str(path),
        )
    return iter(connection.execute(f"SELECT {', '.join(map(quoted, columns))} FROM {quoted(table)}"))


class _Sqlite:
    """Tables of an open SQLite database."""

    form = "SQLite tables"

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def quoted(self, name: str) -> str:
        return quoted(name)

    def rows(self, sql: str) -> Iterator[Sequence[Any]]:
        return iter(self.connection.execute(sql))

    def tables(self) -> list[Table]:
        found = []
        for name, columns in tables_of(self.connection).items():
            info = {row[1]: row for row in self.connection.execute(f"PRAGMA table_xinfo({quoted(name)})")}
            keys = [column for column, row in info.items() if row[5]]
            references = {
                row[3]: (row[2], row[4] or "")
                for row in self.connection.execute(f"PRAGMA foreign_key_list({quoted(name)})")
            }
            kinds = {column: str(info[column][2]) for column in columns}
            found.append(Table(name, kinds, keys[0] if len(keys) == 1 else None, references))
        return [table for table in found if table.columns]
