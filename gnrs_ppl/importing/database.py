"""SQLite databases, opened to be read and nothing else: OCEL logs, and tables with a time column as
channels.
"""

from __future__ import annotations

import gzip
import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from gnrs_ppl.context.table import MAX_BYTES
from gnrs_ppl.errors import InputError, one_line
from gnrs_ppl.importing.columns import NAMES, letters
from gnrs_ppl.importing.staging import GZIP, Found, Staging, text_of, unpacking
from gnrs_ppl.importing.times import read_times

MAX_TABLES = 500
"""Tables of a database."""
SAMPLE = 200
"""Cells of a column that are looked at to see whether it holds times."""


class Timed(NamedTuple):
    """A table whose rows happened at a time: columns, where time and key stand, and its references to other
    tables.
    """

    name: str
    columns: list[str]
    time: str
    key: str | None
    references: dict[str, tuple[str, str]]


def read_sqlite(path: Path, staging: Staging, case: str | None) -> Found:
    """Stage a SQLite database, plain or gzipped: an OCEL 2.0 log, or tables with a time column.

    Raises
    ------
    InputError
        Not a database, damaged, beyond a limit, or without a table whose rows have a time.
    """
    copy = staging.folder / "database"
    with unpacking(path), path.open("rb") as raw:
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
            if {"event", "object", "event_map_type"} <= set(tables):
                from gnrs_ppl.importing import ocel

                return ocel.read_sqlite(path, staging, case, connection, fingerprint)
            found = _read_tables(path, staging, connection, tables, case)
            found.fingerprint = fingerprint
            return found
    except (sqlite3.Error, OverflowError) as error:
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


def _timed(connection: sqlite3.Connection, table: str, columns: list[str]) -> Timed | None:
    """How a table tells when its rows happened; None where it does not."""
    info = {row[1]: row for row in connection.execute(f"PRAGMA table_xinfo({quoted(table)})")}
    keys = [name for name, row in info.items() if row[5]]
    times = []
    for name in columns:
        declared = str(info[name][2]).upper()
        plain = letters(name)
        spelt = plain.endswith(("date", "time", "timestamp", "at")) or plain in NAMES["timestamp"]
        if not (spelt or "DATE" in declared or "TIME" in declared):
            continue
        cell = quoted(name)
        cells = connection.execute(
            f"SELECT {cell} FROM {quoted(table)} WHERE {cell} IS NOT NULL LIMIT {SAMPLE}"
        ).fetchall()
        texts = [text_of(cell[0]) for cell in cells]
        read = read_times(texts).written
        if texts and sum(read[text] is not None for text in texts) >= 0.9 * len(texts):
            subject = plain.removesuffix("date").removesuffix("time").removesuffix("at")
            born = subject in ("birth", "hire", "expiry", "due", "validuntil")
            rank = (born, not letters(table).startswith(subject), columns.index(name))
            times.append((rank, name))
    if not times or min(times)[0][0]:
        return None
    references = {
        row[3]: (row[2], row[4] or "")
        for row in connection.execute(f"PRAGMA foreign_key_list({quoted(table)})")
    }
    return Timed(table, columns, min(times)[1], keys[0] if len(keys) == 1 else None, references)


def _read_tables(
    path: Path,
    staging: Staging,
    connection: sqlite3.Connection,
    tables: dict[str, list[str]],
    case: str | None,
) -> Found:
    timed = [seen for name, columns in tables.items() if (seen := _timed(connection, name, columns))]
    if not timed:
        raise InputError(
            "has no table whose rows have a time",
            f"it has {', '.join(list(tables)[:12]) or 'no tables'}",
            source=str(path),
        )
    columns = [name for table in timed for name in [*table.references, *([table.key] if table.key else [])]]
    kinds = sorted(dict.fromkeys(columns))
    if case is None:
        case, sure, why = _case_of(timed)
    elif case in kinds or any(case in table.columns for table in timed):
        sure, why = 1.0, "told"
    else:
        raise staging.error(
            f"no column {case!r} in a table with times", f"it has {', '.join(kinds[:12])}", "--case"
        )
    skipped = [name for name in tables if name not in {table.name for table in timed}]
    for table in timed:
        names = ", ".join(map(quoted, table.columns))
        for cells in connection.execute(f"SELECT {names} FROM {quoted(table.name)}"):
            row = {
                name: text_of(cell)
                for name, cell in zip(table.columns, cells, strict=True)
                if cell is not None
            }
            row |= {"row of": table.name, "row at": row.get(table.time, ""), "row case": row.get(case, "")}
            staging.add(row)
    staging.finish()
    found = Found("SQLite tables", case_confidence=sure)
    found.hints = {
        "activity": ("row of", "a row of a table is an act"),
        "timestamp": ("row at", "the table's time column"),
        "case_id": ("row case", f"column {case!r}, {why}"),
        "channel": ("row of", "a table is a log"),
    }
    found.told_activity = {table.name: f"record the {' '.join(_words(table.name))}" for table in timed}
    found.said.append(f"a case is a value of {case!r} ({why}); --case takes {', '.join(kinds[:12])}")
    found.said += [f"table {table.name!r}: its time is {table.time!r}" for table in timed]
    if skipped:
        found.said.append(f"tables without a time, not read: {', '.join(skipped[:20])}")
    return found


def _words(name: str) -> list[str]:
    from gnrs_ppl.realize.english import words_of

    return words_of(name).split()


def _case_of(timed: list[Timed]) -> tuple[str, float, str]:
    """The column that most tables with times share; else a reference, else the key."""
    counts: dict[str, int] = {}
    for table in timed:
        for name in dict.fromkeys([*table.references, *([table.key] if table.key else [])]):
            counts[name] = counts.get(name, 0) + 1
    if not counts:
        name = next((c for t in timed for c in t.columns if letters(c).endswith("id")), timed[0].columns[0])
        return name, 0.2, "guessed 0.20: the first column that looks like a number of something"
    referred = {name for table in timed for name in table.references}
    best = max(counts, key=lambda name: (counts[name], name in referred, name))
    sure = 0.3 + 0.4 * (counts[best] - 1) / max(len(timed), 1) + 0.1 * (best in referred)
    return (
        best,
        round(sure, 2),
        f"guessed {sure:.2f}: {counts[best]} of {len(timed)} tables with times hold it",
    )
