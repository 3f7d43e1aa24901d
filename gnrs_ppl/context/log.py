"""The event table of SEMANTICS in a locked-down DuckDB, and the profile that grounding and checks read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gnrs_ppl.context.time import GRAINS, Grain
from gnrs_ppl.context.types import COLUMNS, RecordLayer
from gnrs_ppl.errors import InputError, one_line

if TYPE_CHECKING:
    import duckdb


class Event(NamedTuple):
    """One row of the event table; ``timestamp`` is naive UTC, ``offset`` minutes east of UTC."""

    event_id: str
    case_id: str
    activity: str | None
    timestamp: datetime | None
    offset: int | None
    grain: Grain | None
    resource: str | None = None
    role: str | None = None
    object: str | None = None
    location: str | None = None
    channel: str | None = None
    value: str | None = None


TYPES: dict[str, str] = {**dict.fromkeys(COLUMNS, "VARCHAR"), "timestamp": "TIMESTAMP", "offset": "INTEGER"}


@dataclass(frozen=True)
class EventLog:
    """The rows of D, in table ``events`` of a connection that can reach nothing else.

    Attributes
    ----------
    connection : duckdb.DuckDBPyConnection
        In-memory, external access off, configuration locked.
    fingerprint : str
        sha256 of the log file, or of the rows where there was no file.
    events, cases : int
        Counts of rows and of distinct case ids.
    findings : tuple of str
        What the import noticed: rows without case, undeclared channels, assumed grains, …
    records : RecordLayer
        The record layer the rows were read with.
    """

    connection: duckdb.DuckDBPyConnection
    fingerprint: str
    events: int
    cases: int
    findings: tuple[str, ...] = ()
    records: RecordLayer = field(default_factory=RecordLayer)

    @classmethod
    def from_events(cls, events: Iterable[Event], records: RecordLayer | None = None) -> EventLog:
        """A log of rows already in the shape of the event table."""
        connection = open_connection()
        rows = list(events)
        columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in COLUMNS]
        unnested = ", ".join(f"unnest(?::{TYPES[c]}[])" for c in COLUMNS)
        connection.execute(f"INSERT INTO events SELECT {unnested}", columns)
        return cls.sealed(connection, hashlib.sha256(repr(sorted(rows, key=repr)).encode()).hexdigest(), records or RecordLayer())

    @classmethod
    def sealed(
        cls, connection: duckdb.DuckDBPyConnection, fingerprint: str, records: RecordLayer, findings: tuple[str, ...] = ()
    ) -> EventLog:
        """Lock the connection and take the counts of its ``events`` table."""
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        events, cases = connection.execute("SELECT count(*), count(DISTINCT case_id) FROM events").fetchone() or (0, 0)
        return cls(connection, fingerprint, events, cases, findings, records)


def open_connection() -> duckdb.DuckDBPyConnection:
    """An in-memory DuckDB with an empty ``events`` table and no extension loading."""
    import duckdb  # a quarter of a second that `gnrs --help` need not wait for

    connection = duckdb.connect(
        config={"autoinstall_known_extensions": False, "autoload_known_extensions": False, "allow_community_extensions": False}
    )
    body = ", ".join(f'"{name}" {kind}' for name, kind in TYPES.items())
    connection.execute(f"CREATE TABLE events ({body})")
    return connection


def read_log(path: Path, records: RecordLayer) -> EventLog:
    """The event table of a CSV (plain or gzipped) or Parquet file, mapped and cleaned as ``records`` says.

    Raises
    ------
    InputError
        No such file, unreadable, no rows, a mapped column the file lacks, a timestamp that is not ISO 8601, a time
        without offset and none declared, a doubled event id.
    """
    return _Import(path, records).run()


# A local timestamp, its offset and its own resolution, from ISO 8601 text.
_ISO = r"^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)\s*(Z|[+-]\d{2}:?\d{2})?)?$"
_OFFSET = (
    "CASE WHEN {0} = 'Z' THEN 0 WHEN {0} <> '' THEN "
    "(CASE WHEN {0}[1] = '-' THEN -1 ELSE 1 END) * (60 * CAST({0}[2:3] AS INTEGER) + CAST(right({0}, 2) AS INTEGER)) END"
)
# Below this many dated rows a clock that only ever shows whole minutes (or midnights) may be chance.
ENOUGH_TO_INFER_A_GRAIN = 30


class _Import:
    """One import: the file's columns, then local times, then grains, then the rows of D, with what was noticed."""

    def __init__(self, path: Path, records: RecordLayer) -> None:
        self.path, self.records, self.findings = path, records, list[str]()
        self.connection = open_connection()

    def run(self) -> EventLog:
        """Read, clean, lock."""
        self._stage()
        self._parse_times()
        self._set_grains()
        self._keep_rows_of_d()
        with self.path.open("rb") as stream:
            fingerprint = hashlib.file_digest(stream, "sha256").hexdigest()
        self.connection.execute("DROP TABLE staged")
        return EventLog.sealed(self.connection, fingerprint, self.records, tuple(self.findings))

    def _error(self, problem: str, remedy: str, field: str = "") -> InputError:
        return InputError(problem, remedy, source=str(self.path), field=field)

    def _one(self, sql: str, parameters: list[object] | None = None) -> tuple[object, ...]:
        return self.connection.execute(sql, parameters or []).fetchone() or ()

    def _stage(self) -> None:
        """The file's columns under the event table's names, all as text."""
        import duckdb

        if not self.path.is_file():
            raise self._error("no such file" if not self.path.exists() else "is not a file", "check records.log or --log")
        if any(c in self.path.name for c in "*?[]"):
            raise self._error("its name holds one of * ? [ ]", "rename the file")
        parquet = self.path.suffix == ".parquet"
        scan = "read_parquet($path)" if parquet else "read_csv($path, all_varchar = true, header = true, sample_size = -1)"
        try:
            self.connection.execute(f"CREATE TABLE file AS SELECT * FROM {scan}", {"path": str(self.path)})
        except (duckdb.Error, UnicodeDecodeError) as error:
            kind = "Parquet" if parquet else "CSV"
            raise self._error(f"is not readable {kind} ({one_line(str(error), 120)})", f"give a {kind} file with a header line") from None
        types: dict[str, str] = {row[0]: row[1] for row in self.connection.execute("DESCRIBE file").fetchall()}
        selected = []
        for column in COLUMNS:
            text = self._column_text(column, types)
            selected.append(f"nullif(trim({text}), '') AS \"{column}\"")
        self.connection.execute(f"CREATE TABLE staged AS SELECT row_number() OVER () AS row, {', '.join(selected)} FROM file", self.values)
        self.connection.execute("DROP TABLE file")
        if self._one("SELECT count(*) FROM staged") == (0,):
            raise self._error("has no rows", "give a log with events in it")
        if self._one("SELECT count(event_id) FROM staged") == (0,):
            self.connection.execute("UPDATE staged SET event_id = format('{:09d}', row)")
        doubled = self._one(
            "SELECT event_id, count(*) FROM staged GROUP BY event_id HAVING count(*) > 1 OR event_id IS NULL ORDER BY ALL LIMIT 1"
        )
        if doubled:
            problem = "some rows have no event id" if doubled[0] is None else f"event id {doubled[0]!r} stands on {doubled[1]} rows"
            raise self._error(problem, "make event ids unique, or leave the column out to number the rows", "event_id")

    values: dict[str, str]

    def _column_text(self, column: str, types: dict[str, str]) -> str:
        if column == COLUMNS[0]:
            self.values = {}
        mapped = self.records.columns.get(column)  # type: ignore[call-overload]
        constant = self.records.constants.get(column)  # type: ignore[call-overload]
        if mapped is not None and constant is not None:
            raise self._error("is both a column and a constant", "keep one of the two", f"records.columns.{column}")
        if constant is None and column == "channel" and mapped is None and column not in types and len(self.records.channels) == 1:
            constant = self.records.channels[0].name
            self.findings.append(f"the log names no channel; all rows are taken as recorded in {constant!r}")
        if constant is not None:
            self.values[f"constant_{column}"] = constant
            return f"$constant_{column}::VARCHAR"
        name = mapped or column
        if name not in types:
            near = get_close_matches(name, types, 1)
            if mapped is not None:
                raise self._error(
                    f"no column {name!r} in the log",
                    f"did you mean {near[0]!r}?" if near else f"it has {', '.join(list(types)[:12])}",
                    f"records.columns.{column}",
                )
            if column in ("case_id", "activity", "timestamp", "channel"):
                remedy = f"map one under records.columns.{column}" + (
                    f" or state records.constants.{column}" if column == "channel" else ""
                )
                raise self._error(f"has no column {column!r}", remedy + f" (columns: {', '.join(list(types)[:12])})")
            return "NULL::VARCHAR"
        quoted = '"' + name.replace('"', '""') + '"'
        kind = types[name]
        if kind == "TIMESTAMP WITH TIME ZONE":  # casts of it depend on the connection's zone, epoch does not
            return f"strftime(make_timestamp(epoch_us({quoted})), '%Y-%m-%dT%H:%M:%S.%fZ')"
        if kind.startswith("TIMESTAMP"):
            return f"strftime({quoted}::TIMESTAMP, '%Y-%m-%dT%H:%M:%S.%f')"
        return f"{quoted}::VARCHAR"

    def _parse_times(self) -> None:
        """Local wall time, offset and whether only a date was written; refuses what is not ISO 8601."""
        parts = ", ".join(
            f'regexp_extract("timestamp", $iso, {i}) AS {name}' for i, name in enumerate(("date_text", "time_text", "suffix"), 1)
        )
        self.connection.execute(
            f"""CREATE TABLE parsed AS SELECT *, date_text <> '' AND time_text = '' AS date_only,
                   try_cast(date_text || ' ' || CASE WHEN time_text = '' THEN '00:00' ELSE replace(time_text, ',', '.') END
                            AS TIMESTAMP) AS local,
                   coalesce({_OFFSET.format("suffix")}, {_OFFSET.format('"offset"')}, $declared::INTEGER) AS minutes
            FROM (SELECT *, {parts} FROM staged)""",
            {"iso": _ISO, "declared": self.records.offset},
        )
        bad = self._one(
            "SELECT row, timestamp FROM parsed WHERE timestamp IS NOT NULL "
            "AND (local IS NULL OR year(local) NOT BETWEEN 1000 AND 9000) ORDER BY row LIMIT 1"
        )
        if bad:
            raise self._error(
                f"row {bad[0]}: timestamp {one_line(str(bad[1]), 60)!r} is not ISO 8601",
                "write times as 2024-05-31, or 2024-05-31T09:15:00+02:00",
                "timestamp",
            )
        bad = self._one(
            """SELECT row, "offset" FROM parsed WHERE "offset" IS NOT NULL
               AND NOT regexp_full_match("offset", '(Z|[+-]\\d{2}:?\\d{2})') ORDER BY row LIMIT 1"""
        )
        if bad:
            raise self._error(
                f"row {bad[0]}: offset {one_line(str(bad[1]), 40)!r} is not like +01:00", "write offsets as +01:00 or Z", "offset"
            )
        naked = self._one("SELECT count(*), min(row) FROM parsed WHERE local IS NOT NULL AND NOT date_only AND minutes IS NULL")
        if naked[0]:
            raise self._error(
                f"{naked[0]} rows carry a time without offset (first: row {naked[1]})", "state records.offset, such as +01:00", "timestamp"
            )

    def _set_grains(self) -> None:
        """Each row's grain: its own column, a bare date, the channel's declared clock, or what the channel's times show."""
        bad = self._one(f"SELECT row, grain FROM parsed WHERE grain IS NOT NULL AND grain NOT IN {GRAINS} ORDER BY row LIMIT 1")
        if bad:
            raise self._error(f"row {bad[0]}: grain {one_line(str(bad[1]), 40)!r} is unknown", f"use one of {', '.join(GRAINS)}", "grain")
        self.connection.execute("CREATE TABLE clocks (channel VARCHAR, clock VARCHAR)")
        seen = self.connection.execute(
            "SELECT channel, count(*), max(microsecond(local) % 1000000), max(second(local)), max(hour(local) * 60 + minute(local)) "
            "FROM parsed WHERE local IS NOT NULL AND NOT date_only AND grain IS NULL GROUP BY channel ORDER BY channel"
        ).fetchall()
        for channel, rows, micro, second, minute in seen:
            declared = self.records.channel(channel) if channel is not None else None
            clock: Grain = "microsecond" if micro else "second"
            if declared is not None and declared.grain is not None:
                clock = declared.grain
            elif not micro and not second and rows >= ENOUGH_TO_INFER_A_GRAIN:
                clock = "minute" if minute else "day"
                self.findings.append(f"every time in {channel!r} is a whole {clock}; its clock is taken to show {clock}s")
            self.connection.execute("INSERT INTO clocks VALUES (?, ?)", [channel, clock])
        self._find_dates()
        self.connection.execute(
            """CREATE TABLE timed AS SELECT parsed.* EXCLUDE (timestamp, "offset", grain),
                   CASE WHEN local IS NULL THEN NULL WHEN date_only THEN 'day' ELSE coalesce(parsed.grain, clock) END AS grain
            FROM parsed LEFT JOIN clocks ON clocks.channel IS NOT DISTINCT FROM parsed.channel"""
        )

    def _find_dates(self) -> None:
        """Activities whose times are all midnight in a log whose other times are not: dates, written as times."""
        stated = [channel.name for channel in self.records.channels if channel.grain is not None]
        midnight = "hour(local) + minute(local) + second(local) + microsecond(local) % 1000000 = 0"
        for channel, activity, rows in self.connection.execute(
            f"""SELECT channel, activity, count(*) FROM parsed JOIN clocks USING (channel)
                WHERE local IS NOT NULL AND NOT date_only AND grain IS NULL AND activity IS NOT NULL AND clock <> 'day'
                  AND NOT list_contains($stated::VARCHAR[], channel)
                GROUP BY channel, activity HAVING count(*) >= $enough AND bool_and({midnight}) ORDER BY channel, activity""",
            {"stated": stated, "enough": ENOUGH_TO_INFER_A_GRAIN},
        ).fetchall():
            self.findings.append(f"all {rows} times of {activity!r} in {channel!r} are midnight; they are taken as dates")
            self.connection.execute(
                "UPDATE parsed SET grain = 'day' WHERE channel = $channel AND activity = $activity AND local IS NOT NULL AND grain IS NULL",
                {"channel": channel, "activity": activity},
            )

    def _keep_rows_of_d(self) -> None:
        """Rows with a case, in declared durable channels or in none that is known."""
        caseless = self._one("SELECT count(*) FROM timed WHERE case_id IS NULL")[0]
        if caseless:
            self.findings.append(f"{caseless} rows have no case id and are not used")
        durable = [c.name for c in self.records.channels if c.durable]
        where = ["case_id IS NOT NULL"]
        if self.records.channels:
            where.append("(channel IS NULL OR list_contains($durable, channel))")
            for channel, rows in self.connection.execute(
                "SELECT channel, count(*) FROM timed WHERE channel IS NOT NULL AND NOT list_contains($durable, channel) "
                "GROUP BY channel ORDER BY channel",
                {"durable": durable},
            ).fetchall():
                known = self.records.channel(channel) is not None or any(o.name == channel for o in self.records.observables)
                why = "which nothing keeps" if known else "which is not declared"
                self.findings.append(f"{rows} rows stand in {channel!r}, {why}; they are not evidence")
        cut = " ".join(f"WHEN '{grain}' THEN date_trunc('{grain}', local)" for grain in GRAINS)
        self.connection.execute(
            f"""INSERT INTO events
                SELECT event_id, case_id, activity, CASE grain {cut} END - to_minutes(coalesce(minutes, 0)),
                       CASE WHEN local IS NOT NULL THEN minutes END, grain, resource, role, object, location, channel, value
                FROM timed WHERE {" AND ".join(where)} ORDER BY row""",
            {"durable": durable} if self.records.channels else {},
        )
        self.connection.execute("DROP TABLE parsed; DROP TABLE timed; DROP TABLE clocks")
        if self._one("SELECT count(*) FROM events") == (0,):
            raise self._error("holds no row with a case id in a declared durable channel", "check records.columns and records.channels")
