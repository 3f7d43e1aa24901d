"""Random events where an engine finds them, and a check there held against DuckDB in memory."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
from test_parts import counts_are

from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import compile_procedure, compile_rule
from gnrs_ppl.audit.engines import connected, log_on
from gnrs_ppl.audit.in_place import counted
from gnrs_ppl.audit.run import execute
from gnrs_ppl.context.log import Event, EventLog, resolved
from gnrs_ppl.context.types import COLUMNS, RecordLayer
from gnrs_ppl.rule.types import Structure

KINDS = {"timestamp": "TIMESTAMP", "offset": "INTEGER"}
Place = Callable[[list[Event], RecordLayer], str]
"""Puts events where an engine finds them, and gives the address."""

ROOT = Path(__file__).resolve().parent.parent
INVOICES = (str(ROOT / "examples/invoices/context.yaml"), "--rule", str(ROOT / "docs/contexts/approval.yaml"))
MAPPED = ("--column", "timestamp=at", "--zone", "Europe/Berlin")


def table(events: list[Event], records: RecordLayer) -> tuple[dict[str, str], list[tuple[Any, ...]]]:
    """Events as a database holds them: local times, offsets in minutes, attributes as texts."""
    kinds = {column: KINDS.get(column, "VARCHAR") for column in COLUMNS}
    names = [a.column or a.name for a in records.attributes]
    rows = []
    for event in events:
        cells = event._asdict()
        if event.timestamp is not None:
            cells["timestamp"] = event.timestamp + timedelta(minutes=event.offset or 0)
        attributes = event.attributes or (None,) * len(names)
        rows.append((*(cells[column] for column in COLUMNS), *attributes))
    return kinds | dict.fromkeys(names, "VARCHAR"), rows


def cut(event: Event) -> Event:
    """A row at its grain, as reading a log makes each (G1)."""
    if event.timestamp is None or event.grain is None:
        return event
    ahead = timedelta(minutes=event.offset or 0)
    finer = {
        "day": ("hour", "minute", "second", "microsecond"),
        "minute": ("second", "microsecond"),
        "second": ("microsecond",),
    }
    local = (event.timestamp + ahead).replace(**dict.fromkeys(finer.get(event.grain, ()), 0))
    return event._replace(timestamp=local - ahead)


def fill(path: Path, events: list[Event], records: RecordLayer) -> None:
    kinds, rows = table(events, records)
    with duckdb.connect(str(path)) as connection:
        connection.execute(created("events", kinds))
        connection.executemany(f"INSERT INTO events VALUES ({', '.join('?' * len(kinds))})", rows)


def created(name: str, kinds: dict[str, str]) -> str:
    columns = ", ".join(f'"{column}" {kind}' for column, kind in kinds.items())
    return f"CREATE TABLE {name} ({columns})"


def same_on(url: str, structure: Structure, records: RecordLayer, events: list[Event]) -> int:
    """How many verdicts an engine and DuckDB in memory agree on; raises where they do not."""
    log = EventLog.from_events(events, records)
    filled = resolved(records, log)
    plan = check(structure, filled, log)
    with connected(url) as engine:
        there = log_on(engine, records)
        assert (there.events, there.cases, resolved(records, there)) == (log.events, log.cases, filled)
        asked = check(structure, filled, there)
        assert asked == plan
        compared = 0
        for compiled in (compile_rule, compile_procedure):
            here, elsewhere = compiled(plan), compiled(asked)
            if here is not None and elsewhere is not None:
                want = execute(here, log)
                assert execute(elsewhere, there) == want
                counts_are(counted(elsewhere, there), want, log)
                compared += len(want)
    return compared


LAKE = {
    "a[1]": 3,
    "a[1]/day1": 2,
    "a[1]/one.parquet": 1,
    "a[0-9]/*": 1,
    "a*/*": 2,
    "a*/*/*.parquet": 2,
    "a*/**/two.parquet": 1,
    "a*/day?/*.parquet": 2,
}
"""Paths below :func:`lake`, and how many rows each names."""


def lake(folder: Path) -> None:
    """Parquet files of one row each, in folders of which one has a name that looks like a pattern."""
    for name in ("a[1]/one", "a[1]/day1/two", "a[1]/day1/three", "a1/four"):
        place = folder / f"{name}.parquet"
        place.parent.mkdir(parents=True, exist_ok=True)
        with duckdb.connect() as connection:
            row = "SELECT 'c' AS case_id, 'a' AS activity, DATE '2024-05-31' AS timestamp"
            connection.sql(row).write_parquet(str(place))
