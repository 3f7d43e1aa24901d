"""The SQL of ``--dialect spark`` gives in Apache Spark, in local mode, what the check gives in DuckDB.

Spark works a part of a SELECT out again wherever it is named. Here each part is a view, and one that is named twice, or
that numbers its rows, is worked out once and kept.
"""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import duckdb
import pytest
import sqlglot
from agreement import FEW
from pairs import random_pair
from sqlglot import exp

from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import compile_rule
from gnrs_ppl.audit.dialects import translated
from gnrs_ppl.audit.run import execute, verdicts_of
from gnrs_ppl.audit.sql import Query
from gnrs_ppl.audit.types import InstanceVerdict
from gnrs_ppl.context.log import EventLog, resolved

pyspark = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")

SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
}


def said_by_spark(query: Query, parquet: Path) -> list[InstanceVerdict]:
    from pyspark.sql.functions import array, col, lit

    builder = pyspark.SparkSession.builder.master("local[2]")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.read.parquet(str(parquet)).createOrReplaceTempView("events")
    given = {
        name: array(*map(lit, value)) if isinstance(value, list) else lit(value)
        for name, value in query.parameters.items()
    }
    tree = sqlglot.parse_one(translated(query.sql, query.parameters, "spark"), dialect="spark")
    parts = {part.alias: part.this for part in tree.find_all(exp.CTE)}
    used = Counter(table.name for table in tree.find_all(exp.Table))
    tree.set("with_", None)
    for name, part in parts.items():
        rows = spark.sql(part.sql("spark"), given)
        if used[name] > 1 or part.find(exp.RowNumber):
            rows = rows.localCheckpoint()
        rows.createOrReplaceTempView(f"`{name}`")
    found = spark.sql(tree.sql("spark"), given)
    instants = {name for name, kind in found.dtypes if kind == "timestamp"}
    plain = [col(c).cast("timestamp_ntz") if c in instants else col(c) for c in found.columns]
    return verdicts_of(found.select(*plain).collect())


@pytest.mark.slow  # a JVM begins, and plans every part of a check
@pytest.mark.skipif(shutil.which("java") is None, reason="no Java on this machine")
@pytest.mark.parametrize("template", ["existence"])
def test_spark_says_what_duckdb_says(template: str, tmp_path: Path) -> None:
    structure, records, events = random_pair(FEW[template, "any"][0], template, "any", 6)
    log = EventLog.from_events(events, records)
    query = compile_rule(check(structure, resolved(records, log), log))
    log_file = tmp_path / "events.parquet"
    with duckdb.connect() as connection:
        rows = log.connection.execute("SELECT * FROM events").fetchall()
        kinds = {name: kind for name, kind, *_ in log.connection.execute("DESCRIBE events").fetchall()}
        columns = ", ".join(f'"{name}" {kind}' for name, kind in kinds.items())
        connection.execute(f"CREATE TABLE events ({columns})")
        connection.executemany(f"INSERT INTO events VALUES ({', '.join('?' * len(kinds))})", rows)
        connection.table("events").write_parquet(str(log_file))
    want = execute(query, log)
    assert want
    assert said_by_spark(query, log_file) == want
