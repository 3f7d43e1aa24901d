"""A check says in Apache Spark, in local mode, what it says in DuckDB; and Spark only reads, and says in one line why it
cannot."""

from __future__ import annotations

import json
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import duckdb
import pytest
from agreement import FEW
from data_pairs import data_pair
from pairs import random_pair
from places import LAKE, cut, fill, lake, same_on
from test_interrupts import ENDS, alive, ended, listens, started, until, workers_of
from working_pairs import working_pair
from zoned_pairs import zoned_pair

from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import compile_rule
from gnrs_ppl.audit.engines import connected, log_on
from gnrs_ppl.audit.run import execute
from gnrs_ppl.context.log import Event, EventLog, resolved
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.errors import InputError, Refused
from gnrs_ppl.rule.types import IMPLEMENTED, Structure

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(shutil.which("java") is None, reason="no Java on this machine"),
]


@pytest.fixture(autouse=True)
def _few_and_small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """And a Java that compiles once, as it does not live long."""
    monkeypatch.setenv("SPARK_DRIVER_MEMORY", "2g")
    monkeypatch.setenv(
        "PYSPARK_SUBMIT_ARGS",
        "--driver-java-options=-XX:TieredStopAtLevel=1 --conf spark.sql.shuffle.partitions=1 --conf spark.sql.adaptive.enabled=false --conf spark.sql.codegen.wholeStage=false --conf spark.sql.codegen.factoryMode=NO_CODEGEN pyspark-shell",
    )


def partitioned(folder: Path, events: list[Event], records: RecordLayer) -> str:
    """Events as Parquet files in folders named ``part=value``, and their address."""
    fill(folder / "log.duckdb", events, records)
    with duckdb.connect(str(folder / "log.duckdb"), read_only=True) as connection:
        connection.execute(
            f"COPY (SELECT *, hash(event_id) % 3 AS part FROM events) TO '{folder}/log' "
            "(FORMAT parquet, PARTITION_BY (part))"
        )
    return f"spark://{folder}/log/**/*.parquet"


PAIRS = [
    *((template, "any", random_pair) for template in IMPLEMENTED),
    *((template, "all", random_pair) for template in ("existence", "response")),
    *((template, "at_least", random_pair) for template in ("init", "precedence")),
    *((template, "any", data_pair) for template in ("response", "not_coexistence")),
    *(
        (template, "any", pairs)
        for pairs in (working_pair, zoned_pair)
        for template in ("response", "precedence")
    ),
]


@pytest.mark.slow  # Spark plans every part of a check, whatever the rows
@pytest.mark.parametrize(("template", "operator", "pairs"), PAIRS)
def test_spark_says_what_duckdb_says(
    template: str,
    operator: str,
    pairs: Callable[..., tuple[Structure, RecordLayer, list[Event]]],
    tmp_path: Path,
) -> None:
    for seed in FEW[template, operator] if pairs is random_pair else range(12):
        structure, records, events = pairs(seed, template, operator, 12)
        if pairs is not random_pair:
            events = [cut(event) for event in events]
        (tmp_path / str(seed)).mkdir()
        try:
            assert same_on(partitioned(tmp_path / str(seed), events, records), structure, records, events)
        except Refused:
            continue
        return
    pytest.fail("every pair was refused")


RECORDS = RecordLayer.model_validate(
    {
        "offset": "+01:00",
        "case_end": ["End"],
        "end_of_observation": "2024-02-01",
        "channels": [
            {"name": "desk_log", "activities": ["Open", "Call", "Start", "End"], "closed_world": True},
            {"name": "site_log", "activities": ["Visit", "Waive", "Letter"], "closed_world": True},
        ],
    }
)


def of_template(template: str) -> Structure:
    """A rule about visits after what opens a case."""
    constraint: dict[str, Any] = {"template": template, "target": "Visit"}
    if template == "exclusive_choice":
        constraint["target"] = {"any_of": ["Visit", "Letter"]}
    if template not in ("init", "end"):
        constraint["deadline"] = "PT1H"
    return Structure.model_validate(
        {
            "trigger": {"act": "Open", "channel": "desk_log"},
            "norm": {"constraints": [constraint]},
            "evidence": {"channels": ["site_log"]},
            "procedure": {"steps": [{"stage": "review", "name": "look", "role": "guard"}]},
        }
    )


def test_spark_says_of_every_template_what_duckdb_says(tmp_path: Path) -> None:
    """On one log, read once."""
    _, _, events = random_pair(2, "response", "any", 24)
    log = EventLog.from_events(events, RECORDS)
    filled = resolved(RECORDS, log)
    seen = set()
    with connected(partitioned(tmp_path, events, RECORDS)) as engine:
        there = log_on(engine, RECORDS)
        for template in IMPLEMENTED:
            rule = of_template(template)
            want = execute(compile_rule(check(rule, filled, log)), log)
            assert execute(compile_rule(check(rule, filled, there)), there) == want, template
            seen |= {verdict.verdict for verdict in want}
    assert seen == {"satisfied", "violated", "pending", "indeterminate"}


@pytest.mark.slow
def test_spark_takes_the_files_that_a_path_names(tmp_path: Path) -> None:
    """As DuckDB does (tests/test_engines.py)."""
    lake(tmp_path)
    for path, rows in LAKE.items():
        with connected(f"spark://{tmp_path}/{quote(path, safe='/*[]')}") as engine:
            assert log_on(engine, RecordLayer()).events == rows, path


@pytest.mark.slow
@pytest.mark.parametrize("moment", [1.0, 3.0, 5.0, 8.0, 12.0, 20.0, 30.0])
def test_a_stop_leaves_nothing_behind(moment: float, tmp_path: Path) -> None:
    """Neither Java nor a file: while it starts, looks at the files, or checks."""
    structure, records, events = random_pair(5, "response", "any", 96)
    url = partitioned(tmp_path, events, records)
    rule = {"rule": structure.model_dump(mode="json"), "records": records.model_dump(mode="json")}
    (tmp_path / "rule.json").write_text(json.dumps(rule))
    here, temporary = tmp_path / "here", tmp_path / "temporary"
    here.mkdir()
    temporary.mkdir()
    audit = ("-m", "gnrs_ppl", "audit", "--rule", str(tmp_path / "rule.json"), "--on", url)
    with started(*audit, cwd=here, TMPDIR=str(temporary)) as process:
        until(lambda: listens(process))
        time.sleep(moment)
        begun = workers_of(process.pid)
        assert ended(process, signal.SIGINT) == ENDS[signal.SIGINT]
    until(lambda: not any(map(alive, begun)), 60)
    assert [*here.iterdir(), *temporary.iterdir()] == []


@pytest.mark.slow
def test_files_that_will_not_do_are_one_line(tmp_path: Path) -> None:
    for name, columns in {
        "texts": "'c' AS case_id, 'a' AS activity, '2024-05-31' AS timestamp",
        "hidden/case_id=d": "'c' AS case_id, 'a' AS activity, DATE '2024-05-31' AS timestamp",
        "mixed": "'c' AS case_id, 'a' AS activity, DATE '2024-05-31' AS timestamp",
        "lake": "'c' AS case_id, 'a' AS activity, DATE '2024-05-31' AS timestamp",
    }.items():
        (tmp_path / name).mkdir(parents=True)
        with duckdb.connect() as connection:
            connection.sql(f"SELECT {columns}").write_parquet(str(tmp_path / name / "a.parquet"))
    with duckdb.connect() as connection:
        connection.sql("SELECT 'c' AS case_id, 'a' AS activity, 1 AS timestamp").write_parquet(
            str(tmp_path / "mixed" / "b.parquet")
        )
    (tmp_path / "lake" / "_delta_log").mkdir()
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "a.parquet").write_text("no parquet")
    for address, said in {
        f"{tmp_path}/texts": "column 'timestamp' holds text",
        f"{tmp_path}/hidden": "column 'case_id' stands in the files and in the names of their folders",
        f"{tmp_path}/mixed": "cannot be read",
        f"{tmp_path}/lake": "belongs to a table of Delta",
        f"{tmp_path}/torn": "cannot be read",
        f"{tmp_path}/gone/*.parquet": "no such file",
        f"{tmp_path}/**/texts/*.parquet": "has ** elsewhere",
        "?table=erp.gone": "has no such table",
    }.items():
        with pytest.raises(InputError) as error, connected(f"spark://{address}") as engine:
            log_on(engine, RecordLayer())
        assert said in str(error.value), address
        assert "\n" not in str(error.value)
