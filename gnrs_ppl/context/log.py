"""The event table of SEMANTICS in a locked-down DuckDB, and the profile that grounding and checks read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import duckdb

from gnrs_ppl.context.time import Grain
from gnrs_ppl.context.types import COLUMNS


class Event(NamedTuple):
    """One row of the event table; ``timestamp`` is naive UTC, ``offset`` minutes east of UTC."""

    event_id: str
    case_id: str
    activity: str | None
    timestamp: datetime | None
    offset: int | None
    grain: Grain | None
    resource: str | None = None
    role: str | None = None
    object: str | None = None
    location: str | None = None
    channel: str | None = None
    value: str | None = None


TYPES: dict[str, str] = {c: "VARCHAR" for c in COLUMNS} | {"timestamp": "TIMESTAMP", "offset": "INTEGER"}


@dataclass(frozen=True)
class EventLog:
    """The rows of D, in table ``events`` of a connection that can reach nothing else.

    Attributes
    ----------
    connection : duckdb.DuckDBPyConnection
        In-memory, external access off, configuration locked.
    fingerprint : str
        sha256 over the rows in (case_id, event_id) order.
    events, cases : int
        Counts of rows and of distinct case ids.
    findings : tuple of str
        What the import noticed: rows without case, undeclared channels, assumed grains, …
    """

    connection: duckdb.DuckDBPyConnection
    fingerprint: str
    events: int
    cases: int
    findings: tuple[str, ...] = ()

    @classmethod
    def from_events(cls, events: Iterable[Event]) -> EventLog:
        """A log of rows already in the shape of the event table."""
        connection = open_connection()
        rows = list(events)
        columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in COLUMNS]
        unnested = ", ".join(f"unnest(?::{TYPES[c]}[])" for c in COLUMNS)
        connection.execute(f"INSERT INTO events SELECT {unnested}", columns)
        return cls.sealed(connection, ())

    @classmethod
    def sealed(cls, connection: duckdb.DuckDBPyConnection, findings: tuple[str, ...]) -> EventLog:
        """Lock the connection and take the counts and the fingerprint of its ``events`` table."""
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        events, cases = connection.execute("SELECT count(*), count(DISTINCT case_id) FROM events").fetchone() or (0, 0)
        quoted = ", ".join(f'"{c}"' for c in COLUMNS)
        digest = connection.execute(
            f"SELECT coalesce(bit_xor(hash({quoted})), 0), coalesce(sum(hash({quoted}) % 1000000007), 0) FROM events"
        ).fetchone()
        return cls(connection, hashlib.sha256(repr((events, cases, digest)).encode()).hexdigest(), events, cases, findings)


def open_connection() -> duckdb.DuckDBPyConnection:
    """An in-memory DuckDB with an empty ``events`` table, UTC, two threads at most and no extension loading."""
    connection = duckdb.connect(
        config={
            "threads": 2,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
        }
    )
    body = ", ".join(f'"{name}" {kind}' for name, kind in TYPES.items())
    connection.execute(f"CREATE TABLE events ({body})")
    return connection
