"""Apache Spark, in this process or on a cluster: Parquet files or a table of its catalog, read in parts.

Spark works a part of a SELECT out again wherever it is named. Each part is a view of its own here, and one that is
named twice, or that numbers its rows, is worked out once and kept until the audit ends.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import SplitResult, unquote

from sqlglot import exp

from gnrs_ppl import stops
from gnrs_ppl.audit.dialects import in_dialect, written
from gnrs_ppl.audit.engines.base import NO_FILE, NO_TABLE, Asked, Kind
from gnrs_ppl.audit.engines.events import EventTable
from gnrs_ppl.context.folder import check_plain
from gnrs_ppl.context.output import folder_of_copies
from gnrs_ppl.errors import InputError, one_line

if TYPE_CHECKING:
    import duckdb
    from pyspark import SparkContext
    from pyspark.sql import DataFrame, SparkSession

SETTINGS = {
    "spark.app.name": "gnrs audit",
    "spark.ui.enabled": "false",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
}
_HERE = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
_PORT = 7077
_KINDS: tuple[tuple[str, Kind], ...] = (
    ("string", "text"), ("char", "text"), ("varchar", "text"), ("boolean", "boolean"), ("date", "date"),
    ("timestamp_ntz", "timestamp"), ("timestamp", "instant"), ("decimal", "number"), ("float", "number"), ("double", "number"),
    ("tinyint", "integer"), ("smallint", "integer"), ("int", "integer"), ("bigint", "integer"),
)  # fmt: skip
_SAID = {
    "TABLE_OR_VIEW_NOT_FOUND": NO_TABLE,
    "SCHEMA_NOT_FOUND": NO_TABLE,
    "PATH_NOT_FOUND": ("no such file", NO_FILE),
}
"""What the commonest errors mean, and what to do."""


class Spark:
    """A session of Spark that reads one table, and writes none."""

    def __init__(self, session: SparkSession, address: str, table: str, row_id: str | None) -> None:
        self._session, self.address, self.table, self.row_id = session, address, table, row_id

    def columns(self) -> dict[str, Kind]:
        """The columns of the table."""
        found = self._asked(f"SELECT * FROM {self.table}", {})
        return {name: _kind(kind) for name, kind in found.dtypes}

    def rows(self, sql: str, parameters: Mapping[str, object]) -> list[tuple[Any, ...]]:
        """The rows of a SELECT."""
        with _told(self.address):
            return [tuple(row) for row in self._asked(sql, parameters).collect()]

    def connection(self, table: EventTable) -> duckdb.DuckDBPyConnection:
        """What asks this session; the events are read once and kept, in memory or on disk."""
        for name, select in table.parts:
            found = self._asked(select, table.parameters)
            with _told(self.address):
                found.persist().createOrReplaceTempView(f"`{name}`")
        return cast("duckdb.DuckDBPyConnection", Asked(self, replace(table, parts=())))

    def check_unchanged(self) -> None:
        """What was read once is kept."""

    def _asked(self, sql: str, parameters: Mapping[str, object]) -> DataFrame:
        """What a SELECT will give, part by part."""
        from pyspark.sql.functions import array, lit

        tree = in_dialect(sql, parameters, "spark")
        given = {
            name: array(*map(lit, value)) if isinstance(value, list) else lit(value)
            for name, value in parameters.items()
        }
        parts = tree.ctes
        named = Counter(table.name for table in tree.find_all(exp.Table))
        tree.set("with_", None)
        with _told(self.address):
            try:
                for part in parts:
                    rows = self._session.sql(written(part.this, "spark"), given)
                    if named[part.alias] > 1 or part.find(exp.RowNumber):
                        rows = rows.localCheckpoint()
                    rows.createOrReplaceTempView(f"`{part.alias}`")
                return self._session.sql(written(tree, "spark"), given)
            finally:
                for part in parts:
                    self._session.catalog.dropTempView(part.alias)


@contextmanager
def spark(parts: SplitResult, port: int | None, table: str | None) -> Iterator[Spark]:
    """Parquet files, or a table of the catalog, as a cluster or this machine reads them."""
    host, path = parts.hostname, unquote(parts.path)
    if "@" in parts.netloc:
        raise InputError(
            "names a user, and a cluster is asked without one",
            "leave out what is before the @",
            source="arguments",
            field="--on",
        )
    if (path.strip("/") == "") == (table is None):
        raise InputError(
            "names both files and a table" if table else "names no files and no table",
            "write spark:///folder/*.parquet or spark://host:7077?table=schema.table",
            source="arguments",
            field="--on",
        )
    master = f"spark://{host}:{port or _PORT}" if host else "local[*]"
    address = f"spark://{f'{host}:{port or _PORT}' if host else ''}{f'?table={table}' if table else path}"
    if host:
        _reachable(address, host, port or _PORT)
    from pyspark.sql import SparkSession

    context = _context(master, address)
    try:
        session = SparkSession(context)
        with _told(address):
            if table is None:
                _files(session, address, path).createOrReplaceTempView("parquet_rows")
                yield Spark(session, address, "parquet_rows", "concat(gnrs_file, ':', gnrs_row + 1)")
            else:
                quoted = (exp.to_identifier(part, quoted=True).sql("duckdb") for part in table.split("."))
                yield Spark(session, address, ".".join(quoted), None)
    finally:
        context.stop()


def _context(master: str, address: str) -> SparkContext:
    try:
        from pyspark import SparkConf, SparkContext
        from pyspark.errors import PySparkException
    except ImportError:
        raise InputError(
            "Spark needs pyspark, which is not installed", "pip install 'gnrs-ppl[spark]'"
        ) from None
    from py4j.protocol import Py4JError

    with warnings.catch_warnings(action="ignore"):  # Spark imports it later, and warns of a new pandas
        import pyspark.testing.utils  # noqa: F401

    settings = SETTINGS | {"spark.master": master} | (_HERE if master.startswith("local") else {})
    for name in (
        "SQLQueryContextLogger",
        "DataFrameQueryContextLogger",
    ):  # which print what is an error's text too
        logging.getLogger(name).disabled = True
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    stopped = signal.getsignal(signal.SIGINT)
    try:
        return SparkContext(conf=conf, gateway=_java())
    except (PySparkException, Py4JError):
        raise InputError(
            "Spark does not start", "check JAVA_HOME, Spark's settings and versions", source=address
        ) from None
    finally:
        if threading.current_thread() is threading.main_thread():  # where Spark listens for Ctrl-C itself
            signal.signal(signal.SIGINT, stopped)


@cache
def _java() -> object:
    """The Java process of Spark, once in this process; what it logs is not for the one who audits."""
    from pyspark.errors import PySparkRuntimeError
    from pyspark.find_spark_home import _find_spark_home
    from pyspark.java_gateway import launch_gateway
    from pyspark.serializers import UTF8Deserializer, read_int

    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise InputError("Spark needs Java, which is not installed", "install Java 17 or later")
    home, given = _find_spark_home(), os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell")
    with folder_of_copies("gnrs-") as folder:
        told = folder / "told"
        java = subprocess.Popen(  # which ends by itself where the pipe does, but not while it starts
            [f"{home}/bin/spark-submit", *shlex.split(given)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"SPARK_CONNECT_MODE": "0", "_PYSPARK_DRIVER_CONN_INFO_PATH": str(told)},
            start_new_session=True,
        )
        stops.groups.add(java.pid)
        while not told.exists() and java.poll() is None:
            time.sleep(0.05)
        if not told.exists():
            raise PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})
        with told.open("rb") as file:
            port, secret = read_int(file), UTF8Deserializer().loads(file)
    there = {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}
    os.environ.update(there)
    try:
        gateway = launch_gateway()
    finally:
        for name in there:
            del os.environ[name]
    gateway.proc = java  # whose pipe is open as long as the gateway
    return gateway


def _reachable(address: str, host: str, port: int) -> None:
    """Ask whether anybody is there; Spark itself asks for a minute."""
    try:
        socket.create_connection((host, port), timeout=10).close()
    except OSError:
        raise InputError("does not answer", "check host and port, and that it runs", source=address) from None


def _files(session: SparkSession, address: str, pattern: str) -> DataFrame:
    """All rows of the Parquet files that a pattern names, or that a folder holds, and where each stands.

    Spark leaves files out that lie in folders of plain names, so that they are listed first.
    """
    from pyspark.sql.functions import col, regexp_replace

    place, name = PurePosixPath(pattern), "*"
    wild = next((i for i, part in enumerate(place.parts) if set(part) & set("*?[{")), None)
    if wild is not None and _exists(session, address, pattern):  # a name, whatever signs it has
        wild = None
    folder = _as_name(pattern) if wild is None else pattern
    if wild is not None and "**" in place.parts:
        if place.parts.index("**") != len(place.parts) - 2:
            raise InputError(
                "has ** elsewhere than before the files' name",
                "write folder/**/*.parquet",
                source=address,
            )
        folder, name = str(place.parent.parent), place.name
    listing = session.read.format("binaryFile").option("recursiveFileLookup", "true")
    found = listing.option("pathGlobFilter", name).load(folder).select("path").collect()
    files = sorted(row.path for row in found)
    if wild is None:  # a file, or a folder
        files = [file for file in files if file.endswith((".parquet", f":{place}"))]
    elif "**" not in place.parts:  # which takes no files of the folders that it names
        files = [file for file in files if len(_path(file).parts) == len(place.parts)]
    if not files:
        raise InputError("no such file", NO_FILE, source=address)
    base = PurePosixPath(*place.parts[:wild])
    check_plain(map(Path, map(_path, files)), address)
    files = [_as_name(file) for file in files]
    reader = session.read.option("mergeSchema", "true")
    own = set(map(str.lower, reader.parquet(*files).columns))
    rows = (reader if base.suffix == ".parquet" else reader.option("basePath", str(base))).parquet(*files)
    hidden = next((part for file in files for part in _partitions(file) if part in own), None)
    if hidden is not None:
        raise InputError(
            f"column {one_line(hidden, 60)!r} stands in the files and in the names of their folders",
            "rename one of the two",
            source=address,
        )
    return rows.select(
        "*",
        regexp_replace(col("_metadata.file_path"), "^file:/+", "/").alias("gnrs_file"),
        col("_metadata.row_index").alias("gnrs_row"),
    )


def _exists(session: SparkSession, address: str, name: str) -> bool:
    """Whether a file or folder has just this name, on whatever file system."""
    with _told(address):
        place = session._jvm.org.apache.hadoop.fs.Path(name)
        return bool(place.getFileSystem(session._jsc.hadoopConfiguration()).exists(place))


def _as_name(path: str) -> str:
    """A path as a pattern that names it alone."""
    return re.sub(r"[\\*?{}\[\]]", r"\\\g<0>", path)


def _path(file: str) -> PurePosixPath:
    """Where a file lies on its file system."""
    return PurePosixPath(re.sub("^[a-z0-9+.-]+:(//[^/]*)?", "", file))


def _partitions(file: str) -> list[str]:
    """The columns that the names of a file's folders give."""
    return [part.partition("=")[0].lower() for part in unquote(file).split("/")[:-1] if "=" in part]


def _kind(told: str) -> Kind:
    return next(
        (kind for name, kind in _KINDS if told == name or told.startswith((f"{name}(", f"{name} "))), "other"
    )


@contextmanager
def _told(address: str) -> Iterator[None]:
    """What Spark says, in one line."""
    from py4j.protocol import Py4JError, Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        problem, remedy = _SAID.get(
            error.getCondition() or "",
            (f"cannot be read ({one_line(str(error), 160)})", "check path, table and columns"),
        )
        raise InputError(problem, remedy, source=address) from None
    except Py4JJavaError as error:
        said = one_line(str(error.java_exception.getMessage()), 160)
        raise InputError(
            f"cannot be read ({said})", "check path, table and columns", source=address
        ) from None
    except (Py4JError, ConnectionError):
        raise InputError(
            "Spark ended", "give it more memory: SPARK_DRIVER_MEMORY=4g", source=address
        ) from None
