"""Databases that SQLAlchemy speaks with, PostgreSQL above all: read in one transaction that can only read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnrs_ppl.errors import InputError, one_line
from gnrs_ppl.importing.staging import Found, Staging
from gnrs_ppl.importing.tables import MAX_TABLES, Table, read_tables

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection

AT_ONCE = 5000
"""Rows that are fetched at a time."""
DRIVERS = {"postgresql": "postgresql+pg8000", "postgres": "postgresql+pg8000"}
"""What the extra brings for a URL that names no driver."""


def is_url(source: str) -> bool:
    """Whether a source is a database's address and not a file."""
    return "://" in source


def shown(source: str) -> str:
    """A database's address without its password; raises InputError as :func:`read_url`."""
    return _url(source).render_as_string(hide_password=True)


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
    url = url.set(drivername=DRIVERS.get(url.drivername, url.drivername))
    if url.get_backend_name() == "postgresql" and url.password is None:
        url = url.set(password=os.environ.get("PGPASSWORD"))
    return url


@contextmanager
def _connected(source: str) -> Iterator[Connection]:
    url = _url(source)
    place = url.render_as_string(hide_password=True)
    from sqlalchemy import create_engine, text
    from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError

    kind = url.get_backend_name()
    if kind == "sqlite" and not Path(url.database or "").is_file():
        raise InputError("no such file", "check the path", source=place)
    try:
        engine = create_engine(url)
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
    except (SQLAlchemyError, OSError, ValueError, OverflowError) as error:
        reason = one_line(str(getattr(error, "orig", None) or error), 160)
        raise InputError(
            f"cannot be read ({reason})", "check address, user and rights", source=place
        ) from None


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
