"""A folder of Parquet files is audited as one file is, in bounded memory, and leaves nothing behind."""

from __future__ import annotations

import csv
import io
import json
import random
import signal
from pathlib import Path

import duckdb
import pytest
from pairs import random_pair
from test_interrupts import ENDS, ended, started, until
from tiers import few

from gnrs_ppl.audit import audit
from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.large import audit_large
from gnrs_ppl.audit.parts import checked_in_parts
from gnrs_ppl.cli.process import run
from gnrs_ppl.context.folder import large_log
from gnrs_ppl.context.log import Event, EventLog, read_log, resolved
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.errors import InputError, Refused
from gnrs_ppl.report.formats import formatted
from gnrs_ppl.report.rows import ParquetRows, TextRows
from gnrs_ppl.rule.types import IMPLEMENTED

RULE = {
    "rule": {
        "trigger": {"act": {"activity": "ask"}, "channel": "desk"},
        "norm": {"constraints": [{"template": "response", "target": "answer", "deadline": "PT4H"}]},
        "evidence": {"channels": ["desk"], "operator": "any"},
        "procedure": {"steps": [{"stage": "review", "name": "look", "role": "clerk"}]},
    },
    "records": {"channels": [{"name": "desk", "activities": ["ask", "answer"], "closed_world": True}]},
}
ROWS = """
SELECT 'e' || i AS event_id, 'case' || hash(i // 4) AS case_id, CASE WHEN hash(i) % 3 = 0 THEN 'ask' ELSE 'answer' END AS activity,
       strftime(TIMESTAMP '2024-01-01' + to_minutes((hash(i + 7) % 900)::BIGINT), '%Y-%m-%dT%H:%M:%SZ') AS "timestamp", 'desk' AS channel
FROM range($rows) AS r(i)
"""


def lake(folder: Path, rows: int = 400) -> Path:
    """A folder with a log in two files, one of which has a name that DuckDB would take for a pattern."""
    log = folder / "lake"
    (log / "more").mkdir(parents=True)
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE log AS " + ROWS, {"rows": rows})
        for odd, name in enumerate(["[a]*.parquet", "more/b.parquet"]):
            connection.sql(f"SELECT * FROM log WHERE hash(event_id) % 2 = {odd}").write_parquet(
                str(log / name)
            )
        connection.table("log").write_parquet(str(folder / "log.parquet"))
    (folder / "rule.json").write_text(json.dumps(RULE))
    return log


def gnrs(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = run(["audit", *map(str, arguments)])
    said = capsys.readouterr()
    return code, said.out, said.err


def plain(rows: str) -> list[dict[str, object]]:
    """Rows in CSV or JSON Lines without their sentences, which name what is recorded nearest on a listed log alone."""
    read = map(json.loads, rows.splitlines()) if rows.startswith("{") else csv.DictReader(io.StringIO(rows))
    return [{name: cell for name, cell in row.items() if name != "sentence"} for row in read]


def test_rows_are_those_of_one_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = lake(tmp_path)
    both = [["--rule", tmp_path / "rule.json", "--log", place] for place in (log, tmp_path / "log.parquet")]
    for form in (["--csv"], ["--format", "jsonl"]):
        (code, rows, error), (_, whole, _) = (gnrs(capsys, *place, *form) for place in both)
        assert plain(rows) == plain(whole)
        assert (code, error) == (1, "")
        assert len(rows.splitlines()) > 100
    (_, large, _), (_, listed, _) = (gnrs(capsys, *place, "--json") for place in both)
    counted, whole_counted = json.loads(large), json.loads(listed)
    for key in (
        "counts",
        "case_counts",
        "reasons",
        "headline",
        "constraints",
        "instances",
        "rule",
        "assumptions",
    ):
        assert counted[key] == whole_counted[key], key
    assert counted["examples"]
    told = {(row["instance"], row["verdict"], row["sentence"]) for row in map(json.loads, rows.splitlines())}
    assert {(one["instance"], one["verdict"], one["sentence"]) for one in counted["examples"]} <= told


@pytest.mark.parametrize("template", few(IMPLEMENTED, 1))
def test_random_logs_give_the_same_rows(template: str, tmp_path: Path) -> None:
    """In several parts; the text forms to the letter, Parquet row by row."""
    seed = sum(map(ord, template))
    while True:
        seed += 1
        structure, records, rows = random_pair(seed, template, "any", 12)
        place = tmp_path / str(seed)
        try:
            place.mkdir()
            write(rows, place, random.Random(seed))
            log = read_log(place / "whole.parquet", records)
            result = audit(structure, log, records=records, allow_unrecorded=True)
        except (InputError, Refused):
            continue
        if len(result.verdicts) > 5:
            break
    with large_log(place / "parts", records) as (large, output):
        assert (large.events, large.cases) == (log.events, log.cases)
        counted = audit_large(structure, large, records=records, allow_unrecorded=True)
        assert counted.whole.counts == result.counts
        assert counted.whole.case_counts == result.case_counts
        assert [part.as_dict() for part in counted.by_constraint] == [
            p.as_dict() for p in result.by_constraint
        ]
        plan = check(structure, resolved(records, large), large)
        for form in ("csv", "jsonl", "parquet"):
            written = ParquetRows(output) if form == "parquet" else TextRows(output, form)
            for part in checked_in_parts(plan, large, rows_at_once=12):
                assert part.of > 1
                written.take(part, counted.sentence)
            written.finish()
            if form != "parquet":
                assert plain(output.read_text()) == plain(formatted(result, form, "").decode())
                continue
            (place / "rows.parquet").write_bytes(formatted(result, form, ""))
            with duckdb.connect() as connection:
                found, expected = (
                    connection.execute(
                        "SELECT * EXCLUDE (sentence) FROM read_parquet($path)", {"path": str(path)}
                    ).fetchall()
                    for path in (output, place / "rows.parquet")
                )
            assert found == expected


def write(rows: list[Event], place: Path, chance: random.Random) -> None:
    """A log as one file, and dealt out over three by the channel, which the folders' names give."""
    (place / "parts").mkdir()
    staged = EventLog.from_events(rows, RecordLayer()).connection
    columns = (
        'event_id, case_id, activity, CASE "grain" WHEN \'day\' THEN strftime("timestamp" + to_minutes(coalesce("offset", 0)), \'%Y-%m-%d\') '
        'ELSE strftime("timestamp", \'%Y-%m-%dT%H:%M:%S.%fZ\') END AS "timestamp", "grain", resource, role, object, location, "value"'
    )
    with duckdb.connect() as connection:
        names = [f'"{d[0]}"' for d in staged.execute(f"SELECT {columns}, channel FROM events").description]
        kept = staged.fetchall()
        connection.execute(f"CREATE TABLE log ({', '.join(f'{name} VARCHAR' for name in names)})")
        connection.executemany(f"INSERT INTO log VALUES ({', '.join('?' * len(names))})", kept)
        connection.table("log").write_parquet(str(place / "whole.parquet"))
        for channel in {row[-1] for row in kept}:
            folder = (
                place / "parts" / f"channel={'__HIVE_DEFAULT_PARTITION__' if channel is None else channel}"
            )
            folder.mkdir()
            for half in (0, 1):
                connection.execute(
                    "CREATE OR REPLACE TABLE half AS SELECT * EXCLUDE (channel) FROM log "
                    "WHERE channel IS NOT DISTINCT FROM $channel AND hash(event_id) % 2 = $half",
                    {"channel": channel, "half": half},
                )
                connection.table("half").write_parquet(str(folder / f"{chance.random()}.parquet"))


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        ("empty", "holds no Parquet file"),
        ("text", "is not readable Parquet"),
        ("columns", "differ in column 'activity ("),
        ("partitions", "folders of different partitions"),
        ("type", "differ in column 'timestamp ("),
    ],
)
def test_what_cannot_be_read_is_one_line(
    spoil: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = lake(tmp_path)
    if spoil == "empty":
        for file in log.rglob("*.parquet"):
            file.unlink()
    elif spoil == "text":
        (log / "c.parquet").write_text("no Parquet")
    else:
        place = log / ("year=2024" if spoil == "partitions" else "c") / "c.parquet"
        place.parent.mkdir()
        columns = {"columns": "1 AS one", "type": 'event_id, case_id, activity, 7 AS "timestamp", channel'}
        with duckdb.connect() as connection:
            connection.execute("CREATE TABLE log AS " + ROWS.replace("'e' ||", "'f' ||"), {"rows": 9})
            connection.sql(f"SELECT {columns.get(spoil, '*')} FROM log").write_parquet(str(place))
    code, out, error = gnrs(capsys, "--rule", tmp_path / "rule.json", "--log", log)
    assert (code, out) == (2, "")
    assert says in error
    assert error.count("\n") == 1
    assert "gnrs-" not in error


@pytest.mark.parametrize("option", [["--out", "o"], ["--store", "s.duckdb"], ["--format", "sarif"]])
def test_what_lists_verdicts_is_refused(
    option: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, error = gnrs(capsys, "--rule", tmp_path / "rule.json", "--log", lake(tmp_path), *option)
    assert (code, out) == (2, "")
    assert f"{option[0]}: the verdicts on a folder of Parquet files are counted" in error


@pytest.mark.parametrize("moment", few(["files", "log.duckdb", "log.duckdb.wal", "output", "part"], 1))
def test_ctrl_c_leaves_nothing(moment: str, tmp_path: Path) -> None:
    """While it reads, while it checks, while it writes rows."""
    copies, told = tmp_path / "copies", tmp_path / "told"
    copies.mkdir()
    log = lake(tmp_path, 300_000)
    before = {path.name for path in tmp_path.iterdir()}
    command = ["-m", "gnrs_ppl", "audit", "--rule", "rule.json", "--log", str(log), "--format", "csv"]
    with started(*command, cwd=tmp_path, TMPDIR=str(copies), GNRS_PROGRESS=str(told)) as process:
        if moment == "part":
            until(
                lambda: (
                    process.poll() is not None
                    or (told.exists() and "checking part 1 of 1" in told.read_text())
                )
            )
        else:
            until(lambda: process.poll() is not None or [*copies.glob(f"gnrs-*/{moment}")])
        assert ended(process, signal.SIGINT) == ENDS[signal.SIGINT]
    assert [*copies.iterdir()] == []
    assert {path.name for path in tmp_path.iterdir()} - {"told"} == before


def test_the_check_of_a_folder_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = lake(tmp_path)
    folder, file = (
        gnrs(capsys, "--rule", tmp_path / "rule.json", "--log", place, "--explain")
        for place in (log, tmp_path / "log.parquet")
    )
    assert folder == file
    assert (folder[0], folder[2]) == (0, "")
    assert "c0_verdict" in folder[1]
