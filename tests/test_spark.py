"""A check says in Apache Spark, in local mode, what it says in DuckDB; and Spark only reads, and says in one line why it
cannot."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from agreement import FEW
from data_pairs import data_pair
from pairs import random_pair
from test_engines import cut, fill, same_on
from working_pairs import working_pair

from gnrs_ppl.audit.engines import connected, log_on
from gnrs_ppl.context.log import Event
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.errors import InputError, Refused
from gnrs_ppl.rule.types import IMPLEMENTED, Structure

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytestmark = [
    pytest.mark.slow,  # a JVM begins, and plans every part of a check
    pytest.mark.skipif(shutil.which("java") is None, reason="no Java on this machine"),
]


@pytest.fixture(autouse=True)
def _few_and_small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_DRIVER_MEMORY", "2g")
    monkeypatch.setenv(
        "PYSPARK_SUBMIT_ARGS",
        "--conf spark.sql.shuffle.partitions=1 --conf spark.sql.codegen.wholeStage=false --conf spark.sql.codegen.factoryMode=NO_CODEGEN pyspark-shell",
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
    *((template, "any", working_pair) for template in ("response", "precedence")),
]


@pytest.mark.parametrize(("template", "operator", "pairs"), PAIRS)
def test_spark_says_what_duckdb_says(
    template: str,
    operator: str,
    pairs: Callable[..., tuple[Structure, RecordLayer, list[Event]]],
    tmp_path: Path,
) -> None:
    """One log of many cases: Spark plans each part for a second, whatever the rows."""
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
