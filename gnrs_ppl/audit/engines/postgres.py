"""PostgreSQL: one transaction that can only read, and every value bound by the server."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import SplitResult, unquote

from sqlglot import exp

from gnrs_ppl.audit.dialects import translated
from gnrs_ppl.audit.engines.base import NO_TABLE, Asked, Kind
from gnrs_ppl.audit.engines.events import EventTable
from gnrs_ppl.errors import InputError, one_line

if TYPE_CHECKING:
    import duckdb
    from pg8000.native import Connection

_KINDS: dict[int, Kind] = {
    16: "boolean", 18: "text", 19: "text", 25: "text", 1042: "text", 1043: "text", 2950: "text",
    20: "integer", 21: "integer", 23: "integer", 700: "number", 701: "number", 1700: "number",
    1082: "date", 1114: "timestamp", 1184: "instant",
}  # fmt: skip
"""By the number of a type; those from 16384 on are the database's own, such as enumerations."""
_OWN_TYPES = 16384
NO_ANSWER: Final = "does not answer", "check host and port, and that it runs"
BROKE_OFF: Final = "ended before it had answered", "run this again when it is back"
_SAID = {
    "28P01": ("refuses the password", "set PGPASSWORD, or write it into the address"),
    "28000": ("refuses the user", "check user and rights"),
    "3D000": ("has no such database", "check the address"),
    "42501": ("may not be read by this user", "ask for the right to SELECT from it"),
    "policy": ("hides rows from this user", "ask for a user who sees them all, such as one with BYPASSRLS"),
    "42P01": NO_TABLE,
    "57014": ("broke the check off", "ask whoever runs the database"),
    "57P01": BROKE_OFF,
    "55P03": ("is locked by somebody who changes the table", "run this again when that has ended"),
}
"""What the codes of the commonest errors mean, and what to do."""
GREETING: Final = 10.0
"""Seconds to wait for a server to answer and to let the user in."""
_LIMITS: Final = {"statement_timeout": "1h", "lock_timeout": "10s", "client_connection_check_interval": "10s"}
"""Where the server states none for this user: how long a SELECT may take, how long it may wait for a table, and how
soon the server notices that nobody waits for it any more."""
_AS_TEXT: Final = {"DateStyle": "ISO", "TimeZone": "UTC", "extra_float_digits": "1"}
"""How a server writes values out, whatever it does for this user elsewhere: days first would be read as months."""


class Server:
    """A PostgreSQL server, in one transaction that is read only."""

    row_id: str | None = None

    def __init__(self, connection: Connection, address: str, table: str) -> None:
        self._connection, self.address = connection, address
        self.table = ".".join(exp.to_identifier(part, quoted=True).sql("duckdb") for part in table.split("."))

    def columns(self) -> dict[str, Kind]:
        """The columns of the table."""
        self.rows(f"SELECT * FROM {self.table} LIMIT 0", {})
        described = self._connection.columns or []
        return {
            column["name"]: _KINDS.get(
                column["type_oid"], "text" if column["type_oid"] >= _OWN_TYPES else "other"
            )
            for column in described
        }

    def rows(self, sql: str, parameters: Mapping[str, object]) -> list[tuple[Any, ...]]:
        """The rows of a SELECT."""
        with _told(self.address, BROKE_OFF):
            found = self._connection.run(translated(sql, parameters, "postgres"), **parameters)
        return [tuple(row) for row in found or ()]

    def connection(self, table: EventTable) -> duckdb.DuckDBPyConnection:
        """What asks this server."""
        return cast("duckdb.DuckDBPyConnection", Asked(self, table))

    def check_unchanged(self) -> None:
        """A transaction sees the table as it was when it began."""


@contextmanager
def server(parts: SplitResult, port: int | None, table: str) -> Iterator[Server]:
    """A table of a PostgreSQL database."""
    try:
        from pg8000.exceptions import InterfaceError
    except ImportError:
        raise InputError(
            "PostgreSQL needs pg8000, which is not installed", "pip install 'gnrs-ppl[sql]'"
        ) from None
    host, user = (
        parts.hostname or "localhost",
        unquote(parts.username or os.environ.get("PGUSER", "postgres")),
    )
    name = unquote(parts.path.lstrip("/")) or user
    address = f"postgresql://{user}@{host}{f':{port}' if port else ''}/{name}?table={table}"
    password = unquote(parts.password) if parts.password else os.environ.get("PGPASSWORD")
    with _told(address):
        connection = _greeted(user, host, port or 5432, name, password)
    try:
        with _told(address):
            connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            # parts of a check have no statistics, and its joins are on equal values, several at once
            # and rows that a policy hides from this user are an error, not left out
            for way in ("enable_nestloop", "enable_mergejoin", "jit", "row_security"):
                connection.run(f"SET LOCAL {way} = off")
            for name, way in _AS_TEXT.items():
                connection.run(f"SET LOCAL {name} = '{way}'")
            for name, limit in _LIMITS.items():
                connection.run(
                    "SELECT set_config(:name, :limit, true) WHERE current_setting(:name) = '0'",
                    name=name,
                    limit=limit,
                )
        yield Server(connection, address, table)
    finally:
        with suppress(InterfaceError, OSError):  # a server that has gone says no farewell
            connection.close()


def _greeted(user: str, host: str, port: int, database: str, password: str | None) -> Connection:
    """A connection to a server that answers soon; after that it may take its time."""
    from pg8000.native import Connection

    line = socket.create_connection((host, port), GREETING)
    try:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        connection = Connection(user, host=host, database=database, password=password, sock=line)
    except BaseException:
        line.close()
        raise
    connection._usock.settimeout(None)
    return connection


@contextmanager
def _told(address: str, silent: tuple[str, str] = NO_ANSWER) -> Iterator[None]:
    """What a server says, in one line without a password; ``silent`` where it says nothing."""
    from pg8000.exceptions import DatabaseError, InterfaceError

    try:
        yield
    except DatabaseError as error:
        said = error.args[0] if isinstance(error.args[0], dict) else {"M": str(error)}
        code = "policy" if said.get("R") == "check_enable_rls" else said.get("C", "")
        problem, remedy = _SAID.get(
            code, (f"cannot be read ({one_line(said['M'], 160)})", "check table and columns")
        )
        raise InputError(problem, remedy, source=address) from None
    except (InterfaceError, OSError):
        raise InputError(*silent, source=address) from None
