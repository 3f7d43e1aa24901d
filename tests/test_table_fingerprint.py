"""The fingerprint of a table tells whether it is the same log: every cell that an audit reads counts, their order not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from postgres import PASSWORD, cluster

from gnrs_ppl.audit.engines import connected, log_on
from gnrs_ppl.context.types import RecordLayer

pg8000 = pytest.importorskip("pg8000.native", reason="pg8000 is not installed")
RECORDS = RecordLayer.model_validate({"zone": "UTC", "attributes": [{"name": "amount", "type": "number"}]})
ROWS = """SELECT * FROM (VALUES ('e1', 'c', 'ask', TIMESTAMP '2024-05-31 10:00:00', 'ann', '12.50'),
                                ('e2', 'c', 'answer', TIMESTAMP '2024-05-31 11:00:00', NULL, NULL),
                                ('e3', 'd', 'ask', TIMESTAMP '2024-05-31 12:00:00', 'bob', '7'))
          AS v(event_id, case_id, activity, "timestamp", resource, amount)"""
CHANGES = (
    "resource = 'eve' WHERE event_id = 'e1'",
    "resource = 'ann' WHERE event_id = 'e2'",
    "amount = '12.51' WHERE event_id = 'e1'",
    "\"timestamp\" = TIMESTAMP '2024-05-31 11:00:01' WHERE event_id = 'e2'",
    "case_id = 'd' WHERE event_id = 'e2'",
)
Run = Callable[..., object]


@pytest.fixture(params=["duckdb", "postgresql"])
def place(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, Run]]:
    """An address, and what runs a statement there."""
    if request.param == "duckdb":

        def run(sql: str) -> None:
            with duckdb.connect(str(tmp_path / "log.duckdb")) as connection:
                connection.execute(sql)

        yield f"duckdb://{tmp_path}/log.duckdb", run
        return
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    with (
        cluster() as port,
        closing(
            pg8000.Connection("auditor", host="127.0.0.1", port=port, database="postgres", password=PASSWORD)
        ) as connection,
    ):
        yield f"postgresql://auditor@127.0.0.1:{port}/postgres", connection.run


def test_every_cell_counts_and_no_order(place: tuple[str, Run]) -> None:
    url, run = place

    def fingerprint() -> str:
        with connected(url) as engine:
            return log_on(engine, RECORDS).fingerprint

    run(f"CREATE TABLE events AS {ROWS}")
    found = {fingerprint()}
    for change in CHANGES:
        run(f"UPDATE events SET {change}")
        found.add(fingerprint())
    assert len(found) == 1 + len(CHANGES)
    run("DROP TABLE events")
    run(f"CREATE TABLE events AS {ROWS} ORDER BY event_id DESC")
    again = fingerprint()
    assert again in found
    run(
        "INSERT INTO events SELECT 'e4', case_id, activity, \"timestamp\", resource, amount FROM events WHERE event_id = 'e1'"
    )
    assert fingerprint() not in found
