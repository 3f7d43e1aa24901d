"""What every engine does: connect to read only, say what columns a table has, answer SELECTs; and a log on
one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol
from urllib.parse import parse_qsl, unquote, urlsplit

from gnrs_ppl.audit.engines.events import EventTable, named_in
from gnrs_ppl.context.log import TYPES, EventLog, attribute_column
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.errors import InputError

if TYPE_CHECKING:
    import duckdb

Kind = Literal["text", "integer", "number", "boolean", "date", "timestamp", "instant", "other"]
"""What a column holds; a timestamp is what clocks show, an instant one that is known in UTC."""

NO_FILE: Final = "check the path, in which *, ? and […] stand for other signs"
NO_TABLE: Final = "has no such table", "name it: ?table=NAME, or schema.NAME where a database has schemas"
"""What is said of a path or a table that there is not, by every engine."""


class Engine(Protocol):
    """A database that holds the table of events and can be asked, and not written to.

    Attributes
    ----------
    address : str
        Where it is, without a password.
    table : str
        The table of events as DuckDB's dialect writes it, quoted.
    row_id : str or None
        What tells rows apart where no column does; None where nothing does.
    """

    address: str
    table: str
    row_id: str | None

    def columns(self) -> dict[str, Kind]:
        """The columns of the table, in its order.

        Raises
        ------
        InputError
            There is no such table, or none that may be read.
        """

    def rows(self, sql: str, parameters: Mapping[str, object]) -> list[tuple[Any, ...]]:
        """The rows of a SELECT in DuckDB's dialect, its parameters named ``$name``.

        Raises
        ------
        InputError
            The database says no; the line says why, and never the password.
        """

    def connection(self, table: EventTable) -> duckdb.DuckDBPyConnection:
        """What answers SELECTs over ``events``: a connection, or :class:`Asked` in its place."""

    def check_unchanged(self) -> None:
        """Refuse what was read in part before and in part after somebody changed it.

        Raises
        ------
        InputError
            It changed since the engine was connected to.
        """


class Asked:
    """Stands in the place of a DuckDB connection: what is asked over ``events`` is asked of an engine."""

    def __init__(self, engine: Engine, table: EventTable) -> None:
        self._engine, self._table = engine, table
        self._rows: list[tuple[Any, ...]] = []

    def execute(self, sql: str, parameters: Mapping[str, object] | None = None) -> Asked:
        """Ask a SELECT."""
        answer = Asked(self._engine, self._table)
        answer._rows = self._engine.rows(*over(self._table, sql, parameters or {}))
        return answer

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows that are left."""
        rows, self._rows = self._rows, []
        return rows

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row."""
        return self._rows.pop(0) if self._rows else None


def over(table: EventTable, sql: str, parameters: Mapping[str, object]) -> tuple[str, dict[str, object]]:
    """A SELECT over ``events`` with what these are before it, and all that it names."""
    if not table.parts:  # the engine has them already
        return sql, named_in(sql, parameters)
    parts = ", ".join(f'"{name}" AS ({select})' for name, select in table.parts)
    rest = sql.removeprefix("WITH ")
    whole = f"WITH {parts}{' ' if rest == sql else ', '}{rest}"
    return whole, named_in(whole, {**table.parameters, **parameters})


def connected(url: str) -> AbstractContextManager[Engine]:
    """The engine at an address; closed at the end.

    Parameters
    ----------
    url : str
        ``duckdb:///file`` or ``postgresql://user@host/database``, with ``?table=…`` where the table is not called
        events; ``parquet:///folder/*.parquet``; ``spark:///folder/*.parquet``, or ``spark://host:7077`` before such a
        path or ``?table=…``.

    Raises
    ------
    InputError
        The address is none of these, or nobody answers there.
    """
    if re.search(r"[?](?!\w+=)", url):  # half a folder's name would be left out
        raise InputError(
            "has a ? that says nothing",
            "write ?table=NAME, and a ? in a path as %3F",
            source="arguments",
            field="--on",
        )
    try:
        parts = urlsplit(url)
        told = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
        port = parts.port
    except ValueError:
        raise InputError("is no address of a database", HOW, source="arguments", field="--on") from None
    stray = sorted(told.keys() - {"table"})
    if "#" in url:  # what stands behind it would be left out: half a folder's name, or half a password
        raise InputError("has a # in it", "write # as %23", source="arguments", field="--on")
    if stray or not parts.scheme:
        problem = f"says {stray[0]!r}, which nothing reads" if stray else "is no address of a database"
        raise InputError(problem, HOW, source="arguments", field="--on")
    table = told.get("table", "events")
    local = parts.scheme in ("duckdb", "parquet")
    if parts.netloc if local else "@" in parts.path:
        problem = "names a host, and files have none" if local else "has an @ behind its first slash"
        how = f"write {parts.scheme}:///path" if local else "write / in a password as %2F"
        raise InputError(problem, how, source="arguments", field="--on")
    if parts.scheme == "duckdb":
        from gnrs_ppl.audit.engines.duckdb import database

        return database(unquote(parts.path), table)
    if parts.scheme == "parquet" and not told:
        from gnrs_ppl.audit.engines.duckdb import parquet

        return parquet(unquote(parts.path))
    if parts.scheme in ("postgresql", "postgres"):
        from gnrs_ppl.audit.engines.postgres import server

        return server(parts, port, table)
    if parts.scheme == "spark":
        from gnrs_ppl.audit.engines.spark import spark

        return spark(parts, port, told.get("table"))
    raise InputError(f"no engine is called {parts.scheme!r}", HOW, source="arguments", field="--on")


HOW = (
    "write duckdb:///file.duckdb?table=events, parquet:///folder/*.parquet, postgresql://user@host/database?table=events "
    "or spark:///folder/*.parquet"
)


def log_on(engine: Engine, records: RecordLayer) -> EventLog:
    """The log in an engine's table, read as a record layer says; nothing is copied.

    Raises
    ------
    InputError
        The table lacks a column, or one holds what it may not; the database says no.
    """
    table = EventTable.of(engine, records)
    connection = engine.connection(table)
    counts = connection.execute("SELECT count(*), count(DISTINCT case_id) FROM events").fetchone()
    events, cases = counts or (0, 0)
    log = EventLog(connection, "", events, cases, table.findings, records)
    (rows,) = log.one(f"SELECT {_sum_of_rows(records)} FROM events")
    told = [engine.address.partition("?")[0], engine.table, events, cases, str(rows)]
    fingerprint = hashlib.sha256(repr(told).encode()).hexdigest()
    now = datetime.now(UTC).replace(tzinfo=None)
    return EventLog(connection, fingerprint, events, cases, table.findings, records, table.instants, now)


def _sum_of_rows(records: RecordLayer) -> str:
    """A number that another cell, row or lack of one makes another, whatever the order of the rows."""
    columns = [*TYPES, *(attribute_column(i) for i in range(len(records.attributes)))]
    cells = (f"epoch_us({name})" if name == "timestamp" else f'"{name}"' for name in columns)
    texts = (f"coalesce(CAST({cell} AS VARCHAR), chr(1))" for cell in cells)
    return f"sum(CAST(md5_number_lower({' || chr(2) || '.join(texts)}) AS DECIMAL(38, 0)))"
