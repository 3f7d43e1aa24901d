"""A check says the same on every engine: verdict, reason, witnesses, bearer, due and slack, as DuckDB has them
in memory; and an engine is only read, and says in one line why it cannot be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
import tiers
from agreement import FEW
from data_pairs import data_pair
from pairs import OPERATORS, random_pair
from postgres import PASSWORD, cluster
from tiers import mostly_slow
from working_pairs import working_pair

from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import compile_procedure, compile_rule
from gnrs_ppl.audit.engines import connected, log_on
from gnrs_ppl.audit.run import execute
from gnrs_ppl.context.log import Event, EventLog, resolved
from gnrs_ppl.context.types import COLUMNS, RecordLayer
from gnrs_ppl.errors import Refused
from gnrs_ppl.rule.types import IMPLEMENTED, Structure

pg8000 = pytest.importorskip("pg8000.native", reason="pg8000 is not installed")

KINDS = {"timestamp": "TIMESTAMP", "offset": "INTEGER"}
Place = Callable[[list[Event], RecordLayer], str]
"""Puts events where an engine finds them, and gives the address."""


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


def fill(path: Path, events: list[Event], records: RecordLayer) -> None:
    kinds, rows = table(events, records)
    with duckdb.connect(str(path)) as connection:
        connection.execute(_created("events", kinds))
        connection.executemany(f"INSERT INTO events VALUES ({', '.join('?' * len(kinds))})", rows)


def _created(name: str, kinds: dict[str, str]) -> str:
    columns = ", ".join(f'"{column}" {kind}' for column, kind in kinds.items())
    return f"CREATE TABLE {name} ({columns})"


@pytest.fixture
def duckdb_file(tmp_path: Path) -> Place:
    def place(events: list[Event], records: RecordLayer) -> str:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.duckdb"
        fill(path, events, records)
        return f"duckdb://{path}"

    return place


@pytest.fixture
def parquet_folder(tmp_path: Path) -> Place:
    """Partitioned: what is not in a file's columns is in the name of its folder."""

    def place(events: list[Event], records: RecordLayer) -> str:
        number = len(list(tmp_path.iterdir()))
        fill(tmp_path / f"{number}.duckdb", events, records)
        with duckdb.connect(str(tmp_path / f"{number}.duckdb"), read_only=True) as connection:
            connection.execute(
                f"COPY (SELECT *, hash(event_id) % 3 AS part FROM events) TO '{tmp_path}/{number}' "
                "(FORMAT parquet, PARTITION_BY (part))"
            )
        return f"parquet://{tmp_path}/{number}/**/*.parquet"

    return place


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with cluster() as port:
        yield port


def asked(port: int) -> Any:
    return pg8000.Connection("auditor", host="127.0.0.1", port=port, database="postgres", password=PASSWORD)


@pytest.fixture
def postgresql(port: int, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)

    def place(events: list[Event], records: RecordLayer) -> str:
        kinds, rows = table(events, records)
        with closing(asked(port)) as connection:
            connection.run("DROP TABLE IF EXISTS log")
            connection.run(_created("log", kinds))
            for start in range(0, len(rows), 500):
                chunk = rows[start : start + 500]
                values = ", ".join(
                    "(" + ", ".join(f":c{i}_{j}" for j in range(len(kinds))) + ")" for i in range(len(chunk))
                )
                cells = {f"c{i}_{j}": cell for i, row in enumerate(chunk) for j, cell in enumerate(row)}
                connection.run(f"INSERT INTO log VALUES {values}", **cells)
        return f"postgresql://auditor@127.0.0.1:{port}/postgres?table=log"

    return place


ENGINES = ("duckdb_file", "parquet_folder", "postgresql")


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
                compared += len(want)
    return compared


@pytest.mark.parametrize(
    ("engine", "template"),
    mostly_slow(
        [(engine, template) for engine in ENGINES for template in IMPLEMENTED],
        [
            ("duckdb_file", "response"),
            ("parquet_folder", "chain_precedence"),
            ("postgresql", "exclusive_choice"),
        ],
    ),
)
def test_an_engine_says_what_duckdb_says(engine: str, template: str, request: pytest.FixtureRequest) -> None:
    place, compared = request.getfixturevalue(engine), 0
    for operator in tiers.tier(OPERATORS[:1], OPERATORS):
        for seed in FEW.get((template, operator), ())[: tiers.tier(1, None)]:
            structure, records, events = random_pair(seed, template, operator, tiers.tier(12, 96))
            try:
                compared += same_on(place(events, records), structure, records, events)
            except Refused:
                continue
    assert compared


@pytest.mark.parametrize(
    ("engine", "pairs"),
    mostly_slow(
        [(engine, pairs) for engine in ENGINES for pairs in (data_pair, working_pair)],
        [("postgresql", data_pair), ("postgresql", working_pair)],
    ),
)
def test_an_engine_compares_data_and_counts_working_time_as_duckdb_does(
    engine: str,
    pairs: Callable[..., tuple[Structure, RecordLayer, list[Event]]],
    request: pytest.FixtureRequest,
) -> None:
    place, compared = request.getfixturevalue(engine), 0
    for seed in range(tiers.tier(1, 24)):
        structure, records, events = pairs(
            seed, IMPLEMENTED[seed % len(IMPLEMENTED)], "any", tiers.tier(12, 60)
        )
        try:
            compared += same_on(place(events, records), structure, records, events)
        except Refused:
            continue
    assert compared
