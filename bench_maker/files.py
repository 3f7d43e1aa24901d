"""A world's rows as a Parquet log that any auditor could have got; the acts behind the rows stay here."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from bench_maker.record import EventRow, stamp


def write_log(path: Path, rows: Sequence[EventRow], start: datetime) -> None:
    """Write rows as Parquet with XES column names; times are local, to the second, at the record layer's
    offset.
    """
    import duckdb

    columns = [
        [f"e{number:06d}" for number in range(1, len(rows) + 1)],
        [row.case for row in rows],
        [row.activity for row in rows],
        [stamp(start, row.at) for row in rows],
        [row.resource for row in rows],
        [row.role for row in rows],
        [row.object for row in rows],
        [row.location for row in rows],
        [row.channel for row in rows],
        [row.value for row in rows],
    ]
    names = (
        "event_id",
        "case_id",
        "activity",
        "timestamp",
        "resource",
        "role",
        "object",
        "location",
        "channel",
        "value",
    )
    listed = ", ".join(
        f"unnest(?::{'TIMESTAMP' if name == 'timestamp' else 'VARCHAR'}[]) AS {name}" for name in names
    )
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE events AS SELECT {listed}", columns)
        connection.execute(f"COPY events TO '{path.as_posix()}' (FORMAT parquet, COMPRESSION zstd)")
