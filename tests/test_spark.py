"""A check says in Apache Spark, in local mode, what it says in DuckDB; and Spark only reads, and says in one line why it
cannot."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest
from agreement import FEW
from pairs import random_pair
from test_engines import fill, same_on

from gnrs_ppl.context.log import Event
from gnrs_ppl.context.types import RecordLayer

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytestmark = [
    pytest.mark.slow,  # a JVM begins, and plans every part of a check
    pytest.mark.skipif(shutil.which("java") is None, reason="no Java on this machine"),
]


@pytest.fixture(autouse=True)
def _few_and_small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_DRIVER_MEMORY", "2g")
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--conf spark.sql.shuffle.partitions=2 pyspark-shell")


def partitioned(folder: Path, events: list[Event], records: RecordLayer) -> str:
    """Events as Parquet files in folders named ``part=value``, and their address."""
    fill(folder / "log.duckdb", events, records)
    with duckdb.connect(str(folder / "log.duckdb"), read_only=True) as connection:
        connection.execute(
            f"COPY (SELECT *, hash(event_id) % 3 AS part FROM events) TO '{folder}/log' "
            "(FORMAT parquet, PARTITION_BY (part))"
        )
    return f"spark://{folder}/log/**/*.parquet"


@pytest.mark.parametrize("template", ["existence", "response", "precedence", "absence"])
def test_spark_says_what_duckdb_says(template: str, tmp_path: Path) -> None:
    structure, records, events = random_pair(FEW[template, "any"][0], template, "any", 96)
    assert same_on(partitioned(tmp_path, events, records), structure, records, events)
