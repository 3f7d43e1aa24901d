"""A check says the same on every engine: verdict, reason, witnesses, bearer, due and slack, as DuckDB has them
in memory; and an engine is only read, and says in one line why it cannot be."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import duckdb
import pytest
import sqlglot
import tiers
from agreement import FEW
from click.testing import Result
from data_pairs import data_pair
from pairs import OPERATORS, random_pair
from places import INVOICES, LAKE, MAPPED, ROOT, Place, cut, fill, lake, same_on
from tiers import mostly_slow
from twice_pairs import twice_pair
from typer.testing import CliRunner
from working_pairs import working_pair

from gnrs_ppl.audit import files
from gnrs_ppl.audit.dialects import DIALECTS, UNTESTED, Dialect
from gnrs_ppl.audit.engines import connected, log_on, postgres
from gnrs_ppl.cli import app
from gnrs_ppl.cli.process import run
from gnrs_ppl.context.log import Event
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.errors import InputError, Refused
from gnrs_ppl.rule.types import IMPLEMENTED, Structure


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


ENGINES = ("duckdb_file", "parquet_folder")


@pytest.mark.parametrize(
    ("engine", "template"),
    mostly_slow(
        [(engine, template) for engine in ENGINES for template in IMPLEMENTED],
        [
            ("duckdb_file", "response"),
            ("parquet_folder", "chain_precedence"),
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
        [("duckdb_file", data_pair), ("parquet_folder", twice_pair)],
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
    here = gnrs(*INVOICES, "--csv", "--zone", "Europe/Berlin")
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
    assert gnrs(*asked, "--csv").stdout == gnrs(*INVOICES, "--csv", "--zone", "Europe/Berlin").stdout


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
    "parquet:///nowhere/*.parquet": "no such file; check the path, in which *, ? and […] stand for other signs",
    "parquet:///lake/2024-0?/*": "has a ? that says nothing; write ?table=NAME, and a ? in a path as %3F",
    "spark:///lake/2024-0?/part=1/*": "has a ? that says nothing",
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
        "odd": "offset '120' is not like +01:00",
        "wide": "offset '900' is not like +01:00",
        "gone": "has no such table",
        'x"; DROP TABLE bare; --': "has no such table",
    }.items():
        with connected(f"duckdb://{path}?table={quote(table)}") as engine, pytest.raises(InputError) as error:
            log_on(engine, RecordLayer())
        assert said in str(error.value), table
        assert "\n" not in str(error.value)
    with duckdb.connect(str(path)) as connection:
        assert connection.execute("SELECT count(*) FROM bare").fetchone() == (1,)


def test_a_pattern_takes_what_it_says_and_a_name_is_no_pattern(tmp_path: Path) -> None:
    """As Spark does (tests/test_spark.py)."""
    lake(tmp_path)
    for path, rows in LAKE.items():
        with connected(f"parquet://{tmp_path}/{quote(path, safe='/*[]')}") as engine:
            assert log_on(engine, RecordLayer()).events == rows, path
