"""A check says the same on every engine: verdict, reason, witnesses, bearer, due and slack, as DuckDB has them
in memory; and an engine is only read, and says in one line why it cannot be."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote

import duckdb
import pytest
import sqlglot
import tiers
from agreement import FEW
from click.testing import Result
from data_pairs import data_pair
from pairs import OPERATORS, random_pair
from postgres import PASSWORD, cluster
from test_parts import counts_are
from tiers import mostly_slow
from twice_pairs import twice_pair
from typer.testing import CliRunner
from working_pairs import working_pair

from gnrs_ppl.audit import files
from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import compile_procedure, compile_rule
from gnrs_ppl.audit.dialects import DIALECTS, UNTESTED, Dialect
from gnrs_ppl.audit.engines import connected, log_on, postgres
from gnrs_ppl.audit.in_place import counted
from gnrs_ppl.audit.run import execute
from gnrs_ppl.cli import app
from gnrs_ppl.cli.process import run
from gnrs_ppl.context.log import Event, EventLog, read_log, resolved
from gnrs_ppl.context.types import COLUMNS, RecordLayer
from gnrs_ppl.errors import InputError, Refused
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
                counts_are(counted(elsewhere, there), want, log)
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
        [(engine, pairs) for engine in ENGINES for pairs in (data_pair, working_pair, twice_pair)],
        [("postgresql", data_pair), ("postgresql", working_pair), ("postgresql", twice_pair)],
    ),
)
def test_an_engine_compares_data_counts_working_time_and_reads_both_ways_as_duckdb_does(
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
            events = [cut(event) for event in events]
            compared += same_on(place(events, records), structure, records, events)
        except Refused:
            continue
    assert compared


# By command

ROOT = Path(__file__).resolve().parent.parent
INVOICES = (str(ROOT / "examples/invoices/context.yaml"), "--rule", str(ROOT / "docs/contexts/approval.yaml"))
MAPPED = ("--column", "timestamp=at", "--zone", "Europe/Berlin")


@pytest.fixture(scope="module")
def invoices(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The invoices as a DuckDB file, with instants and without offsets."""
    path = tmp_path_factory.mktemp("invoices") / "it's.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE invoices AS SELECT * EXCLUDE (timestamp), timestamp::TIMESTAMPTZ AS at "
            f"FROM read_csv('{ROOT}/examples/invoices/events.csv', all_varchar = true)"
        )
    return path


def gnrs(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["audit", *arguments])


def test_the_command_prints_what_it_prints_of_the_file(invoices: Path) -> None:
    here = gnrs(*INVOICES, "--csv")
    there = gnrs(*INVOICES, *MAPPED, "--csv", "--on", f"duckdb://{quote(str(invoices))}?table=invoices")
    assert (there.exit_code, there.stdout) == (here.exit_code, here.stdout) == (1, here.stdout)
    assert here.stdout.count("violated") == 83


def test_many_verdicts_are_counted_unless_they_are_asked_for(
    invoices: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = (*INVOICES, *MAPPED, "--on", f"duckdb://{quote(str(invoices))}?table=invoices")
    listed = json.loads(gnrs(*asked, "--json").stdout)
    monkeypatch.setattr(files, "LISTED", 3_585)
    counted = gnrs(*asked, "--json")
    said = json.loads(counted.stdout)
    assert (counted.exit_code, "cases" in said) == (1, False)
    for key in ("counts", "case_counts", "reasons", "headline", "instances", "constraints", "log"):
        assert said[key] == listed[key], key
    assert "verdicts are counted, not listed; --csv lists them" in gnrs(*asked).stdout
    assert gnrs(*asked, "--csv").stdout == gnrs(*INVOICES, "--csv").stdout


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_check_is_explained_in_every_dialect(dialect: Dialect, invoices: Path) -> None:
    shown = gnrs(
        *INVOICES,
        *MAPPED,
        "--on",
        f"duckdb://{quote(str(invoices))}?table=invoices",
        "--explain",
        "--dialect",
        dialect,
    )
    assert shown.exit_code == 0, shown.output
    assert ("untested" in shown.stdout) == (dialect in UNTESTED)
    (statement,) = sqlglot.parse(shown.stdout, dialect=dialect)
    assert isinstance(statement, sqlglot.exp.Select)
    assert {"events", "c0_verdict"} <= {part.alias for part in statement.ctes}
    assert (
        not any(join.args.get("method") for join in statement.find_all(sqlglot.exp.Join))
        or dialect == "duckdb"
    )
    if dialect == "duckdb":
        assert '-- c0_target_activity = "ApproveInvoice"' in shown.stdout


BAD = {
    "mysql://u:secret@host/db": "no engine is called 'mysql'",
    "postgresql://u:secret@host:x/db": "is no address",
    "postgresql://u:secret@127.0.0.1:1/db": "does not answer",
    "duckdb:///nowhere.duckdb": "no such file",
    "parquet:///nowhere/*.parquet": "cannot be read",
    "duckdb:///nowhere.duckdb?password=secret": "says 'password'",
    "events": "is no address",
    "spark://127.0.0.1:1/lake/*.parquet": "does not answer",
    "spark://127.0.0.1:1?table=erp.events&password=secret": "says 'password'",
    "spark://u:secret@127.0.0.1:1/lake": "names a user",
    "spark:///lake/*.parquet?table=erp.events": "names both files and a table",
    "spark:///": "names no files and no table",
    "parquet://lake/logs": "names a host",
    "postgresql://u:1234/secret@127.0.0.1/db": "has an @ behind its first slash",
    "postgresql://u:1234#secret@127.0.0.1/db": "has a # in it; write # as %23",
    "parquet:///lake/a#b/*.parquet": "has a # in it",
}


@pytest.mark.parametrize("url", BAD)
def test_an_address_that_will_not_do_is_one_line(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["audit", *INVOICES, "--on", url])
    said = capsys.readouterr()
    assert (code, said.out) == (2, "")
    assert BAD[url] in said.err
    assert said.err.count("\n") == 1
    assert "secret" not in said.err


def test_a_server_that_says_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "GREETING", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://auditor@127.0.0.1:{silent.getsockname()[1]}/db"
        with pytest.raises(InputError, match="does not answer"), connected(url):
            raise AssertionError("it was opened")


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


def test_a_table_that_will_not_do_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "log.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE texts AS SELECT 'c' AS case_id, 'a' AS activity, '2024-05-31' AS timestamp"
        )
        connection.execute(
            "CREATE TABLE lists AS SELECT ['c'] AS case_id, 'a' AS activity, now() AS timestamp"
        )
        connection.execute(
            "CREATE TABLE twins AS SELECT 'e' AS event_id, 'c' AS case_id, 'a' AS activity, now() AS timestamp FROM range(2)"
        )
        connection.execute(
            "CREATE TABLE bare AS SELECT 'c' AS case_id, 'a' AS activity, TIMESTAMP '2024-05-31' AS timestamp"
        )
        connection.execute(
            "CREATE TABLE few AS SELECT 'c' AS case_id, 'a' AS activity, now() AS timestamp LIMIT 0"
        )
        for name, time, offset in (
            ("never", "'infinity'", "NULL::INTEGER"),
            ("far", "'9999-12-31'", "NULL::INTEGER"),
            ("odd", "'2024-05-31'", "'120'"),
            ("wide", "'2024-05-31'", "900"),
        ):
            connection.execute(
                f"""CREATE TABLE {name} AS
                    SELECT 'c' AS case_id, 'a' AS activity, CAST({time} AS TIMESTAMP) AS timestamp, {offset} AS "offset" """
            )
    for table, said in {
        "texts": "timestamp: column 'timestamp' holds text",
        "lists": "case_id: column 'case_id' holds no plain values",
        "twins": "event id 'e' stands on 2 rows",
        "bare": "1 rows carry a time without offset",
        "few": "has no rows",
        "never": "1 rows carry a time outside of the years 1000 to 9000",
        "far": "1 rows carry a time outside of the years 1000 to 9000",
        "odd": "offset '120' is not like +01:00",
        "wide": "offset '900' is not like +01:00",
        "gone": "cannot be read",
        'x"; DROP TABLE bare; --': "cannot be read",
    }.items():
        with connected(f"duckdb://{path}?table={quote(table)}") as engine, pytest.raises(InputError) as error:
            log_on(engine, RecordLayer(zone="Europe/Berlin" if table in ("never", "far") else None))
        assert said in str(error.value), table
        assert "\n" not in str(error.value)
    with duckdb.connect(str(path)) as connection:
        assert connection.execute("SELECT count(*) FROM bare").fetchone() == (1,)


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
