"""A check says in PostgreSQL, a server of its own from Debian's package, what it says in DuckDB; and the server is
only read, and says in one line why it cannot be."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
import tiers
from agreement import FEW
from data_pairs import data_pair
from pairs import OPERATORS, random_pair
from places import Place, created, cut, same_on, table
from postgres import PASSWORD, cluster
from tiers import mostly_slow
from twice_pairs import twice_pair
from working_pairs import working_pair
from zoned_pairs import zoned_pair

from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import compile_rule
from gnrs_ppl.audit.engines import connected, log_on, postgres
from gnrs_ppl.audit.run import execute
from gnrs_ppl.context.log import Event, read_log, resolved
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.errors import InputError, Refused
from gnrs_ppl.rule.types import IMPLEMENTED, Structure

pg8000 = pytest.importorskip("pg8000.native", reason="pg8000 is not installed")
pytestmark = pytest.mark.engine


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
            connection.run(created("log", kinds))
            for start in range(0, len(rows), 500):
                chunk = rows[start : start + 500]
                values = ", ".join(
                    "(" + ", ".join(f":c{i}_{j}" for j in range(len(kinds))) + ")" for i in range(len(chunk))
                )
                cells = {f"c{i}_{j}": cell for i, row in enumerate(chunk) for j, cell in enumerate(row)}
                connection.run(f"INSERT INTO log VALUES {values}", **cells)
        return f"postgresql://auditor@127.0.0.1:{port}/postgres?table=log"

    return place


@pytest.mark.parametrize("template", mostly_slow(IMPLEMENTED, ["exclusive_choice"]))
def test_postgresql_says_what_duckdb_says(template: str, postgresql: Place) -> None:
    compared = 0
    for operator in tiers.tier(OPERATORS[:1], OPERATORS):
        for seed in FEW.get((template, operator), ())[: tiers.tier(1, None)]:
            structure, records, events = random_pair(seed, template, operator, tiers.tier(12, 96))
            try:
                compared += same_on(postgresql(events, records), structure, records, events)
            except Refused:
                continue
    assert compared


@pytest.mark.parametrize("pairs", [data_pair, working_pair, twice_pair, zoned_pair])
def test_postgresql_compares_data_counts_working_time_and_reads_both_ways_as_duckdb_does(
    pairs: Callable[..., tuple[Structure, RecordLayer, list[Event]]], postgresql: Place
) -> None:
    compared = 0
    for seed in range(tiers.tier(1, 24)):
        structure, records, events = pairs(
            seed, IMPLEMENTED[seed % len(IMPLEMENTED)], "any", tiers.tier(12, 60)
        )
        try:
            events = [cut(event) for event in events]
            compared += same_on(postgresql(events, records), structure, records, events)
        except Refused:
            continue
    assert compared


def test_a_server_that_says_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "GREETING", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://auditor@127.0.0.1:{silent.getsockname()[1]}/db"
        with pytest.raises(InputError, match="does not answer"), connected(url):
            raise AssertionError("it was opened")


def test_a_server_that_ends_meanwhile_is_told(port: int, postgresql: Place) -> None:
    _, records, events = random_pair(0, "response", "any", 6)
    with connected(postgresql(events, records)) as engine, closing(asked(port)) as other:
        ((mine,),) = engine.rows("SELECT pg_backend_pid()", {})
        other.run("SELECT pg_terminate_backend(:mine)", mine=mine)
        for _ in range(2):  # what it says as it goes, and its silence after that
            with pytest.raises(InputError, match="ended before it had answered; run this again"):
                log_on(engine, records)


def test_a_table_that_somebody_changes_is_not_waited_for(
    port: int, postgresql: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server's own limits go before ours, which hold in its transaction alone."""
    _, records, events = random_pair(0, "response", "any", 6)
    url = postgresql(events, records)
    monkeypatch.setitem(postgres._LIMITS, "lock_timeout", "200ms")
    with closing(asked(port)) as changing:
        changing.run("ALTER ROLE auditor SET statement_timeout = '7min'")
        changing.run("BEGIN")
        changing.run("LOCK TABLE log IN ACCESS EXCLUSIVE MODE")
        with connected(url) as engine:
            for name, limit in (("statement_timeout", "7min"), ("client_connection_check_interval", "10s")):
                assert engine.rows(f"SELECT current_setting('{name}')", {}) == [(limit,)]
            with pytest.raises(InputError, match="is locked by somebody who changes the table"):
                log_on(engine, records)
        changing.run("ROLLBACK")
        changing.run("ALTER ROLE auditor RESET statement_timeout")


def test_a_server_says_in_one_line_why_it_cannot_be_read(
    port: int, postgresql: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, records, events = random_pair(0, "response", "any", 6)
    url = postgresql(events, records)

    def said(url: str) -> str:
        with pytest.raises(InputError) as error, connected(url) as engine:
            log_on(engine, records)
        text = str(error.value)
        assert "\n" not in text
        assert "wrong horse" not in text
        assert PASSWORD not in text
        return text

    with closing(asked(port)) as connection:
        connection.run("DROP ROLE IF EXISTS nobody")
        connection.run("CREATE SEQUENCE IF NOT EXISTS kept")
        connection.run("CREATE ROLE nobody LOGIN PASSWORD 'no rights'")
        connection.run("DROP TABLE IF EXISTS words")
        connection.run(
            "CREATE TABLE words AS SELECT event_id, case_id, activity, 'now'::text AS timestamp, channel FROM log"
        )
    assert "may not be read by this user" in said(url.replace("auditor@", "nobody:no%20rights@"))
    assert "refuses the password" in said(url.replace("auditor@", "auditor:wrong%20horse@"))
    with closing(asked(port)) as connection:
        connection.run("GRANT SELECT ON log TO nobody")
        connection.run("ALTER TABLE log ENABLE ROW LEVEL SECURITY")
    assert "hides rows from this user; ask for a user who sees" in said(
        url.replace("auditor@", "nobody:no%20rights@")
    )
    assert "has no such database" in said(url.replace("/postgres?", "/nowhere?"))
    assert "has no such table" in said(url.replace("=log", "=gone"))
    assert "column 'timestamp' holds text" in said(url.replace("=log", "=words"))
    with connected(url) as engine:
        log = log_on(engine, records)
        with pytest.raises(InputError, match="cannot be read.*read-only transaction"):
            engine.rows("SELECT nextval('kept')", {})
    with connected(url) as engine, closing(asked(port)) as connection:
        log = log_on(engine, records)
        connection.run("INSERT INTO log (event_id, case_id) VALUES ('later', 'c')")
        assert log.connection.execute("SELECT count(*) FROM events").fetchone() == (len(events),)
    with closing(asked(port)) as connection:
        connection.run("DROP TABLE log")
        assert "has no such table" in said(url)
    assert log.events == len(events)


def test_a_user_for_whom_a_server_writes_days_first_gets_the_same_log(postgresql: Place, port: int) -> None:
    records = RecordLayer(zone="Europe/Berlin", columns={"timestamp": "at"}, constants={"channel": "desk"})
    with closing(asked(port)) as connection:
        connection.run("DROP TABLE IF EXISTS days")
        connection.run(
            """CREATE TABLE days AS SELECT n::text AS event_id, 'c' AS case_id, 'a' AS activity, 0.1::float8 + 0.2 AS value,
               TIMESTAMPTZ '2024-02-01 09:30:00+01' + n * INTERVAL '40 days' AS at FROM generate_series(1, 9) AS n"""
        )
    url = postgresql(*reversed(random_pair(0, "response", "any", 6)[1:])).replace("=log", "=days")
    found = []
    for settings in ({}, {"datestyle": "German, DMY", "timezone": "Asia/Tokyo", "extra_float_digits": "-3"}):
        with closing(asked(port)) as connection:
            for name, value in settings.items():
                connection.run(f"ALTER ROLE auditor SET {name} = '{value}'")
        try:
            with connected(url) as engine:
                log = log_on(engine, records)
                rows = log.connection.execute(
                    'SELECT event_id, "timestamp", "offset" FROM events ORDER BY event_id'
                )
                found.append((log.fingerprint, rows.fetchall()))
        finally:
            with closing(asked(port)) as connection:
                connection.run("ALTER ROLE auditor RESET ALL")
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", ["TIMESTAMP", "TIMESTAMPTZ"])
def test_an_instant_is_never_told_twice(kind: str, tmp_path: Path, postgresql: Place, port: int) -> None:
    """G8 is about what clocks show: 2:30 on 27 October 2024 in Berlin, but not an instant, comes twice."""
    records = RecordLayer(zone="Europe/Berlin", columns={"timestamp": "at"}, constants={"channel": "desk"})
    rule = Structure.model_validate(
        {
            "trigger": {"act": "ask", "channel": "desk"},
            "norm": {
                "bearer": "trigger",
                "constraints": [{"template": "response", "target": "answer", "deadline": "PT30M"}],
            },
            "evidence": {"channels": ["desk"]},
        }
    )
    zone = "Z" if kind == "TIMESTAMPTZ" else ""
    rows = (
        "SELECT 'e1' AS event_id, 'c' AS case_id, 'ask' AS activity, "
        f"CAST('2024-10-27 00:10:00{zone}' AS {kind}) AS at UNION ALL "
        f"SELECT 'e2', 'c', 'answer', CAST('2024-10-27 {'00' if zone else '02'}:30:00{zone}' AS {kind})"
    )
    with duckdb.connect(str(tmp_path / "log.duckdb")) as connection:
        connection.execute(f"CREATE TABLE events AS {rows}")
    with closing(asked(port)) as connection:
        connection.run("DROP TABLE IF EXISTS log")
        connection.run(f"CREATE TABLE log AS {rows}")
    for url in (
        f"duckdb://{tmp_path}/log.duckdb",
        f"postgresql://auditor@127.0.0.1:{port}/postgres?table=log",
    ):
        with connected(url) as engine:
            log = log_on(engine, records)
            plan = check(rule, resolved(records, log), log)
            assert bool(plan.twice) == (kind == "TIMESTAMP")
            if kind == "TIMESTAMPTZ":
                (verdict,) = execute(compile_rule(plan), log)
                assert (verdict.verdict, verdict.slack_seconds) == ("satisfied", 600)
                assert verdict.due is not None
                assert (verdict.due.local.hour, verdict.due.offset) == (2, 120)
            else:
                assert execute(compile_rule(plan), log)


def test_a_day_that_there_is_not_is_unclear(
    tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D1: in a database as in files, and no reason to stop."""
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    cells = (
        "2024-02-30",
        "2023-02-29",
        "0000-01-01",
        "1900-02-29T10:00",
        "2024-13-01",
        "2024-02-29 10:00",
        "2000-12-31",
        None,
    )
    values = ", ".join(f"({i}, {'NULL' if cell is None else repr(cell)})" for i, cell in enumerate(cells))
    rows = f"""SELECT CAST(place AS VARCHAR(1)) AS event_id, 'c' AS case_id, 'pay' AS activity,
                      TIMESTAMP '2024-05-31' AS timestamp, CAST(cell AS VARCHAR(30)) AS agreed
               FROM (VALUES {values}) AS v(place, cell)"""
    with duckdb.connect(str(tmp_path / "log.duckdb")) as connection:
        connection.execute(f"CREATE TABLE days AS {rows}")
        connection.execute(
            f"COPY (SELECT * FROM days ORDER BY event_id) TO '{tmp_path}/days.csv' (TIMESTAMPFORMAT '%Y-%m-%dT%H:%M:%SZ')"
        )
    with closing(asked(port)) as connection:
        connection.run("DROP TABLE IF EXISTS days")
        connection.run(f"CREATE TABLE days AS {rows}")
    records = RecordLayer.model_validate({"zone": "UTC", "attributes": [{"name": "agreed", "type": "date"}]})
    select = "SELECT attribute_1, attribute_1_unclear FROM events ORDER BY event_id"
    expected = [(None, True)] * 5 + [(date(2024, 2, 29), False), (date(2000, 12, 31), False), (None, False)]
    assert read_log(tmp_path / "days.csv", records).connection.execute(select).fetchall() == expected
    for url in (
        f"duckdb://{tmp_path}/log.duckdb?table=days",
        f"postgresql://auditor@127.0.0.1:{port}/postgres?table=days",
    ):
        with connected(url) as engine:
            assert log_on(engine, records).connection.execute(select).fetchall() == expected


def test_far_off_rows_midnights_and_sentinels_are_read_as_in_files(
    tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """G7 and G9."""
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    cells = [f"('a{i}', 'open', '2012-03-{i + 1:02} 09:{i:02}:13')" for i in range(9)]
    cells += [f"('a{i}', 'shut', '2012-03-{i + 1:02} 00:00:00')" for i in range(7)]
    cells += [f"('a{i}', 'shut', '{at}')" for i, at in ((7, "2012-03-20 17:00:00"), (8, "9999-12-31"))]
    cells += ["('a9', 'open', '2062-03-01 10:00:05')", "('b0', 'open', '1970-01-01 00:00:00')"]
    rows = f"""SELECT case_id || activity AS event_id, case_id, activity, CAST(moment AS TIMESTAMP) AS timestamp, 'desk' AS channel
               FROM (VALUES {", ".join(cells)}) AS v(case_id, activity, moment)"""
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({rows}) TO '{tmp_path}/log.csv' (TIMESTAMPFORMAT '%Y-%m-%dT%H:%M:%SZ')")
    with closing(asked(port)) as connection:
        connection.run("DROP TABLE IF EXISTS far")
        connection.run(f"CREATE TABLE far AS {rows}")
    records = RecordLayer.model_validate({"offset": 0, "channels": [{"name": "desk", "closed_world": True}]})
    log = read_log(tmp_path / "log.csv", records)
    select = 'SELECT event_id, "timestamp", grain FROM events ORDER BY event_id'
    rule = Structure.model_validate(
        {
            "trigger": {"act": "open", "channel": "desk"},
            "norm": {"constraints": [{"template": "response", "target": "shut", "deadline": "P20D"}]},
            "evidence": {"channels": ["desk"]},
            "procedure": {"steps": [{"stage": "review", "name": "look", "role": "auditor"}]},
        }
    )
    plan = check(rule, resolved(records, log), log)
    with connected(f"postgresql://auditor@127.0.0.1:{port}/postgres?table=far") as engine:
        there = log_on(engine, records)
        assert there.connection.execute(select).fetchall() == log.connection.execute(select).fetchall()
        assert there.reach == log.reach
        assert there.reach.rows == 2
        found = check(rule, resolved(records, there), there)
        assert execute(compile_rule(found), there) == execute(compile_rule(plan), log)


def test_what_is_no_number_is_unclear(tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """D1: NaN, which databases sort above all numbers, is no value that a condition could hold of; nor is one
    of more digits than a file may write.
    """
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    rows = """SELECT CAST(place AS VARCHAR(1)) AS event_id, 'c' AS case_id, 'pay' AS activity, DATE '2024-05-31' AS timestamp,
                     CAST(cell AS DOUBLE PRECISION) AS amount
              FROM (VALUES (1, 'NaN'), (2, 'Infinity'), (3, '-1e30'), (4, '12.5'), (5, NULL)) AS v(place, cell)"""
    with duckdb.connect(str(tmp_path / "log.duckdb")) as connection:
        connection.execute(f"CREATE TABLE amounts AS {rows}")
    with closing(asked(port)) as connection:
        connection.run("DROP TABLE IF EXISTS amounts")
        connection.run(f"CREATE TABLE amounts AS {rows}")
    records = RecordLayer.model_validate({"attributes": [{"name": "amount", "type": "number"}]})
    for url in (
        f"duckdb://{tmp_path}/log.duckdb?table=amounts",
        f"postgresql://auditor@127.0.0.1:{port}/postgres?table=amounts",
    ):
        with connected(url) as engine:
            read = log_on(engine, records).connection.execute(
                "SELECT attribute_1, attribute_1_unclear FROM events ORDER BY event_id"
            )
            assert read.fetchall() == [(None, True)] * 3 + [(Decimal("12.5"), False), (None, False)]
