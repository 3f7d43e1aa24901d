"""Databases that SQLAlchemy speaks with, PostgreSQL above all: read in one transaction that can only read."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnrs_ppl.context.files import read_text
from gnrs_ppl.errors import InputError, one_line
from gnrs_ppl.importing.staging import Found, Staging
from gnrs_ppl.importing.tables import MAX_TABLES, Table, read_tables

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection

AT_ONCE = 5000
"""Rows that are fetched at a time."""
DRIVERS = {"postgresql": "postgresql+pg8000", "postgres": "postgresql+pg8000"}
"""What the extra brings for a URL that names no driver."""
GREETING = 10
"""Seconds that a PostgreSQL server has to let one in, unless ``connect_timeout`` says otherwise."""
SILENCE = 600.0
"""Seconds that it may then be silent while it answers."""
TLS = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
"""What ``sslmode`` may be; as it is unless said, a server without TLS is spoken to in the open."""
PARAMETERS = {
    "postgresql+pg8000": ("sslmode", "sslrootcert", "connect_timeout"),
    "sqlite": ("timeout",),
}
"""What may stand behind the ? of an address."""


def is_url(source: str) -> bool:
    """Whether a source is a database's address and not a file."""
    return "://" in source


def shown(source: str) -> str:
    """A database's address without its password, and without what stands behind a ?, where another may be;
    raises InputError as :func:`read_url`.
    """
    return _url(source).set(query={}).render_as_string(hide_password=True)


def database_of(source: str) -> str:
    """Name of the database at an address; raises InputError as :func:`read_url`."""
    return Path(_url(source).database or "database").stem


def read_url(source: str, staging: Staging, case: str | None) -> Found:
    """Stage the tables of a database.

    Raises
    ------
    InputError
        The extra is missing, the address is none, nobody answers there, or as :func:`read_tables`.
    """
    with _connected(source) as connection:
        return read_tables(_Database(connection), staging, case)


def _url(source: str) -> URL:
    try:
        from sqlalchemy.engine import make_url
        from sqlalchemy.exc import ArgumentError
    except ImportError:
        raise InputError(
            "databases other than SQLite files need SQLAlchemy, which is not installed",
            "pip install 'gnrs-ppl[sql]'",
        ) from None
    try:
        url = make_url(source)
    except (ArgumentError, ValueError):
        raise InputError(
            "is no address of a database", "write postgresql://user@host/database", source="arguments"
        ) from None
    if "@" in (url.host or ""):  # which would be shown as the host
        raise InputError("has two @ in it", "write an @ in a password as %40", source="arguments")
    url = url.set(drivername=DRIVERS.get(url.drivername, url.drivername))
    if url.get_backend_name() == "postgresql" and url.password is None:
        url = url.set(password=os.environ.get("PGPASSWORD"))
    return url


@contextmanager
def _connected(source: str) -> Iterator[Connection]:
    url, place = _url(source), shown(source)
    from sqlalchemy import create_engine, text
    from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError

    kind = url.get_backend_name()
    if kind == "sqlite" and not Path(url.database or "").is_file():
        raise InputError("no such file", "check the path", source=place)
    known = PARAMETERS.get(url.drivername, tuple(url.query))
    if stray := sorted(set(url.query) - set(known)):
        raise InputError(
            f"says {one_line(stray[0], 40)!r}, which nothing reads",
            f"leave it out; read are: {', '.join(known)}",
            source=place,
        )
    greeted = _greeting(url, place) if url.drivername == DRIVERS["postgresql"] else None
    try:
        engine = create_engine(url, **({"creator": greeted} if greeted else {}))
        try:
            with engine.connect() as connection:
                if kind == "sqlite":
                    connection.execute(text("PRAGMA query_only = on"))
                elif kind == "postgresql":
                    connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
                yield connection.execution_options(stream_results=True, max_row_buffer=AT_ONCE)
                connection.rollback()
        finally:
            engine.dispose()
    except (NoSuchModuleError, ModuleNotFoundError) as error:
        raise InputError(
            f"has no driver here ({one_line(str(error), 80)})",
            "pip install the driver of the database",
            source=place,
        ) from None
    except (SQLAlchemyError, OSError, ValueError, TypeError, OverflowError) as error:
        raise _unreadable(getattr(error, "orig", None) or error, place) from None


def _unreadable(error: BaseException, place: str) -> InputError:
    told = error.args[0] if error.args and isinstance(error.args[0], dict) else {"M": str(error)}
    reason = one_line(str(told.get("M", error)), 160)
    return InputError(f"cannot be read ({reason})", "check address, user and rights", source=place)


def _greeting(url: URL, place: str) -> Callable[[], Any]:
    """What connects to a PostgreSQL server; raises InputError where the address says what nobody reads."""
    said = {name: value if isinstance(value, str) else value[-1] for name, value in url.query.items()}
    seconds, tls = said.get("connect_timeout", str(GREETING)), _tls(said, place)
    if not (seconds.isascii() and seconds.isdecimal() and 0 < int(seconds[:6]) <= 3600):
        raise InputError(
            f"{one_line(seconds, 20)!r} are no seconds",
            "write a whole number from 1 to 3600",
            source=place,
            field="connect_timeout",
        )

    def connect() -> Any:
        from pg8000.dbapi import connect

        host, port = url.host or "localhost", url.port or 5432
        user = url.username or os.environ.get("PGUSER", "postgres")
        try:
            with ExitStack() as unless_greeted:
                line = unless_greeted.enter_context(socket.create_connection((host, port), int(seconds)))
                connection = connect(
                    user, host=host, database=url.database, password=url.password, sock=line, ssl_context=tls
                )
                unless_greeted.pop_all()
        except Exception as error:  # whatever the driver stumbles over: what answers may be no PostgreSQL
            if isinstance(error, TimeoutError) or isinstance(error.__cause__, TimeoutError):
                raise InputError(
                    f"does not answer within {seconds} seconds",
                    "check host and port, or allow more by ?connect_timeout=SECONDS",
                    source=place,
                ) from None
            raise _unreadable(error, place) from None
        connection._usock.settimeout(SILENCE)
        return connection

    return connect


def _tls(said: Mapping[str, str], place: str) -> Any:
    """What an address says of TLS as the driver takes it: False for none, None for what the server has, True for
    it without a look at the certificate, or a context that looks.
    """
    mode, file = said.get("sslmode", "prefer"), said.get("sslrootcert")
    if mode not in TLS:
        raise InputError(
            f"{one_line(mode, 40)!r} is no way to speak",
            f"write {', '.join(TLS)}",
            source=place,
            field="sslmode",
        )
    if not mode.startswith("verify"):
        return {"disable": False, "require": True}.get(mode)
    try:
        context = ssl.create_default_context(
            cadata=None if file in (None, "system") else read_text(Path(file))
        )
    except ssl.SSLError as error:
        raise InputError(
            f"are no certificates ({one_line(str(error), 80)})",
            "name a file of them in PEM",
            source=str(file),
        ) from None
    context.check_hostname = mode == "verify-full"
    return context


class _Database:
    """Tables of the schema that a connection stands in; views and other schemas are left out."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.form = f"{connection.dialect.name} tables"

    def quoted(self, name: str) -> str:
        return self.connection.dialect.identifier_preparer.quote_identifier(name)

    def rows(self, sql: str) -> Iterator[Sequence[Any]]:
        # nothing but names of the database's own, each quoted, stands in it; no value is ever bound
        with self.connection.exec_driver_sql(sql) as result:
            yield from result

    def tables(self) -> list[Table]:
        from sqlalchemy import inspect

        look = inspect(self.connection)
        found = []
        for name in sorted(look.get_table_names())[:MAX_TABLES]:
            columns = {
                column["name"]: str(column["type"])
                for column in look.get_columns(name)
                if not column.get("computed")
            }
            keys = look.get_pk_constraint(name)["constrained_columns"]
            references = {
                key["constrained_columns"][0]: (key["referred_table"], key["referred_columns"][0])
                for key in look.get_foreign_keys(name)
                if len(key["constrained_columns"]) == 1 and key["referred_schema"] is None
            }
            if columns:
                found.append(Table(name, columns, keys[0] if len(keys) == 1 else None, references))
        return found
