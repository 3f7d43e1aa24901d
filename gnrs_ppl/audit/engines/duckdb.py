"""DuckDB's own files, and folders of Parquet files: read where they are, in a database that holds nothing."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

import duckdb
import sqlglot
from sqlglot import exp

from gnrs_ppl.audit.engines.base import NO_FILE, NO_TABLE, Kind
from gnrs_ppl.audit.engines.events import EventTable
from gnrs_ppl.context.files import require_regular
from gnrs_ppl.context.folder import MEMORY, NUMBERED, check_plain, free_name
from gnrs_ppl.context.log import ALONE
from gnrs_ppl.context.output import folder_of_copies
from gnrs_ppl.errors import InputError, one_line

_PREFIXES: tuple[tuple[str, Kind], ...] = (
    ("TIMESTAMP WITH TIME ZONE", "instant"), ("TIMESTAMP", "timestamp"), ("DATE", "date"), ("BOOLEAN", "boolean"),
    ("VARCHAR", "text"), ("ENUM", "text"), ("UUID", "text"), ("DECIMAL", "number"), ("DOUBLE", "number"), ("FLOAT", "number"),
    *((f"{sign}{size}INT", "integer") for sign in ("", "U") for size in ("TINY", "SMALL", "", "BIG", "HUGE")),
    ("INTEGER", "integer"), ("UINTEGER", "integer"),
)  # fmt: skip


_State = tuple[str, int, int, int]
"""A file's path, size, time of its last change and number."""
AT_REST: Final = "run this again when nobody writes there"


class Embedded:
    """DuckDB in this process, on data that it may only read."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        address: str,
        table: str,
        row_id: str | None,
        states: Callable[[], Sequence[_State]] = tuple,
    ) -> None:
        self._connection, self.address, self.table, self.row_id = connection, address, table, row_id
        self._states, self._found = states, states()

    def columns(self) -> dict[str, Kind]:
        """The columns of the table."""
        return {name: _kind(kind) for name, kind, *_ in self.rows(f"DESCRIBE SELECT * FROM {self.table}", {})}

    def rows(self, sql: str, parameters: Mapping[str, object]) -> list[tuple[Any, ...]]:
        """The rows of a SELECT."""
        with _told(self.address):
            return self._connection.execute(sql, dict(parameters)).fetchall()

    def connection(self, table: EventTable) -> duckdb.DuckDBPyConnection:
        """The same connection, with views of the events; what they are bound to are its variables."""
        with _told(self.address):
            for name, value in table.parameters.items():
                self._connection.execute(f'SET VARIABLE "{name}" = $value', {"value": value})
            for name, select in table.parts:
                tree = sqlglot.parse_one(select, dialect="duckdb")
                for place in list(tree.find_all(exp.Placeholder)):
                    place.replace(exp.func("getvariable", exp.Literal.string(place.name)))
                self._connection.execute(f'CREATE VIEW "{name}" AS {tree.sql("duckdb")}')
            self._connection.execute("SET lock_configuration = true")
        return self._connection

    def check_unchanged(self) -> None:
        """Refuse files that are others than at first; a database file is not written while it is attached."""
        if self._states() != self._found:
            raise InputError("changed while it was read", AT_REST, source=self.address)


@contextmanager
def database(path: str, table: str) -> Iterator[Embedded]:
    """A table of a DuckDB file."""
    address = f"duckdb://{path}"
    with _permitted(address):
        there = Path(path).is_file()
    if not there:
        raise InputError("no such file", "check the path", source=address)
    with _open(address) as connection:
        with _told(address):
            connection.execute(f"ATTACH {_text(str(Path(path).resolve()))} AS source (READ_ONLY)")
            connection.execute("SET enable_external_access = false")
        quoted = ".".join(
            exp.to_identifier(part, quoted=True).sql("duckdb") for part in ("source", "main", table)
        )
        (stored,) = connection.execute(
            "SELECT count(*) FROM duckdb_tables() WHERE database_name = 'source' AND schema_name = 'main' AND table_name = $table",
            {"table": table},
        ).fetchone() or (0,)
        yield Embedded(connection, address, quoted, "printf('%09d', rowid + 1)" if stored else None)


@contextmanager
def parquet(pattern: str) -> Iterator[Embedded]:
    """All rows of the Parquet files that a pattern names, or that a folder holds."""
    address, place = f"parquet://{pattern}", Path(pattern)
    with _permitted(address):
        there = place.exists()
    if there:  # a name, whatever signs it has, and no pattern
        folder = place.resolve()
        place = Path(glob.escape(pattern), *(("**", "*.parquet") if place.is_dir() else ()))
    else:
        fixed = takewhile(lambda part: not set(part) & set("*?["), place.parts)
        folder = Path(*fixed).resolve()
    with _open(address) as connection:
        with _told(address):
            connection.execute("SET VARIABLE parquet_files = $files", {"files": str(place)})
            files = _listed(connection)
        if not files:
            raise InputError("no such file", NO_FILE, source=address)
        for file in files:
            require_regular(file)  # DuckDB would wait for a pipe
        with _told(address):
            columns = connection.execute(
                """SELECT name, count(DISTINCT concat(type, ' ', logical_type)) > 1
                   FROM parquet_schema(getvariable('parquet_files')) WHERE num_children IS NULL GROUP BY name ORDER BY name"""
            ).fetchall()
        names = [name for name, _ in columns]
        check_plain(files, address)
        _check_columns(columns, files, address)
        numbered, source = NUMBERED not in map(str.lower, names), free_name(names)
        with _told(address):
            connection.execute(
                f"""CREATE VIEW parquet_rows AS SELECT * FROM read_parquet(getvariable('parquet_files'), hive_partitioning = true,
                    union_by_name = true, filename = '{source}'{f", {NUMBERED} = true" if numbered else ""})"""
            )
            folder = folder if folder.is_dir() else folder.parent
            reached = sorted({str(folder), glob.escape(str(folder))})  # which DuckDB asks of pattern and file
            connection.execute(f"SET allowed_directories = [{', '.join(map(_text, reached))}]")
            connection.execute("SET enable_external_access = false")
        row_id = f"concat({source}, ':', {NUMBERED} + 1)" if numbered else None
        try:
            yield Embedded(
                connection, address, "parquet_rows", row_id, lambda: [*map(_state, _listed(connection))]
            )
        except (duckdb.IOException, duckdb.InvalidInputException) as error:
            raise InputError(
                f"cannot be read any more ({one_line(str(error), 160)})", AT_REST, source=address
            ) from None


@contextmanager
def _permitted(address: str) -> Iterator[None]:
    """Where a folder may be closed to this user."""
    try:
        yield
    except PermissionError:
        raise InputError(
            "may not be read by this user", "ask for the right to read it", source=address
        ) from None


def _listed(connection: duckdb.DuckDBPyConnection) -> list[Path]:
    """The files that the pattern of a connection names."""
    named = connection.execute("SELECT file FROM glob(getvariable('parquet_files')) ORDER BY file").fetchall()
    return [Path(file) for (file,) in named]


def _state(file: Path) -> _State:
    found = file.stat()
    return str(file), found.st_size, found.st_mtime_ns, found.st_ino


def _check_columns(columns: Sequence[tuple[str, bool]], files: Sequence[Path], address: str) -> None:
    """Refuse a column of several types, and one whose cells the names of folders would hide."""
    for name, mixed in columns:
        if mixed:
            raise InputError(
                f"column {one_line(name, 60)!r} has another type in some of the files",
                "give files that all have the same columns, of the same types",
                source=address,
            )
    partitions = {part.partition("=")[0].lower() for file in files for part in file.parts[:-1] if "=" in part}
    hidden = next((name for name, _ in columns if name.lower() in partitions), None)
    if hidden is not None:
        raise InputError(
            f"column {one_line(hidden, 60)!r} stands in the files and in the names of their folders",
            "rename one of the two",
            source=address,
        )


@contextmanager
def _open(address: str) -> Iterator[duckdb.DuckDBPyConnection]:
    with folder_of_copies("gnrs-") as place:
        spilled = {"memory_limit": MEMORY, "temp_directory": str(place)}
        with duckdb.connect(config={**ALONE, **spilled}) as connection:
            try:
                yield connection
            except duckdb.OutOfMemoryException as error:
                raise InputError(
                    f"there is no room for it ({one_line(str(error), 120)})",
                    "make room on the disk of temporary files, or name another by TMPDIR",
                    source=address,
                ) from None


@contextmanager
def _told(address: str) -> Iterator[None]:
    """What DuckDB says of an address, in one line."""
    try:
        yield
    except duckdb.CatalogException:
        raise InputError(*NO_TABLE, source=address) from None
    except duckdb.Error as error:
        raise InputError(
            f"cannot be read ({one_line(str(error), 160)})", "check path, table and columns", source=address
        ) from None


def _kind(told: str) -> Kind:
    if told.endswith("]"):
        return "other"
    return next((kind for prefix, kind in _PREFIXES if told.startswith(prefix)), "other")


def _text(value: str) -> str:
    return exp.Literal.string(value).sql("duckdb")
