"""The event table of SEMANTICS in a locked-down DuckDB, and the profile that grounding and checks read."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import cached_property
from itertools import accumulate, starmap
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any, NamedTuple

from gnrs_ppl.context.clocks import Clock, Doubt, clocks_of, counted_clocks
from gnrs_ppl.context.columns import ChosenColumns
from gnrs_ppl.context.numbers import CERTAIN, DECIMALS, PLAIN, WHOLE, ReadColumn, read_column
from gnrs_ppl.context.output import check_written
from gnrs_ppl.context.reach import Reach, reach_of
from gnrs_ppl.context.table import Table, cell_text, opened
from gnrs_ppl.context.time import GRAINS, Grain
from gnrs_ppl.context.types import COLUMNS, Attribute, AttributeType, Channel, Column, RecordLayer
from gnrs_ppl.context.zone import offsets, span
from gnrs_ppl.errors import InputError, one_line

if TYPE_CHECKING:
    import duckdb


class SetAside(NamedTuple):
    """Rows that were set aside for one reason, and of how many of them the case is known."""

    reason: str
    rows: int
    known: int


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
    attributes: tuple[str | None, ...] = ()
    """The cells of the record layer's attributes as they are written, in their order; none where empty."""


TYPES: dict[str, str] = {**dict.fromkeys(COLUMNS, "VARCHAR"), "timestamp": "TIMESTAMP", "offset": "INTEGER"}

ATTRIBUTE_TYPES: dict[AttributeType, str] = {
    "number": f"DECIMAL({WHOLE + DECIMALS}, {DECIMALS})",
    "text": "VARCHAR",
    "boolean": "BOOLEAN",
    "date": "DATE",
}
_FOURTHS = "0[48]|[2468][048]|[13579][26]"
DAY = (
    "([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-"
    "((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))"
    f"|([0-9]{{2}}({_FOURTHS})|({_FOURTHS})00)-02-29"
)
"""How a text writes a day that there is, from the year 1 on; a database stops at another."""
# What a cell of each type looks like; anything else is no value (D1).
_CELLS: dict[AttributeType, str] = {
    "number": f"^({PLAIN})$",
    "text": "",
    "boolean": "^(?i:true|false)$",
    "date": f"^({DAY})([T ].*)?$",
}


def attribute_column(position: int) -> str:
    """Column of the event table that holds the attribute at a position of the record layer's, from 0.

    Beside it stands ``…_unclear``, true where a cell has no value of the type, or a case has two (D1, D2).
    """
    return f"attribute_{position + 1}"


@dataclass(frozen=True)
class EventLog:
    """The rows of D, in table ``events`` of a connection that can reach nothing else.

    Beside it stands table ``set_aside``: rows that were read and not understood, in the columns of ``events`` without a
    time, and the reason. Where the case is not known, only the activity may be.

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
    instants : bool
        Whether every time was an instant as it was read, so that none may be meant for another.
    written : datetime or None
        When the rows were written, UTC; None where that is not known.
    doubts : tuple of Doubt
        Times that may be meant as dates, or dates as times.
    set_aside : tuple of SetAside
        What table ``set_aside`` holds, by reason.
    unread : mapping
        Attribute -> the first of its cells that hold no value of its type, and why.
    """

    connection: duckdb.DuckDBPyConnection
    fingerprint: str
    events: int
    cases: int
    findings: tuple[str, ...] = ()
    records: RecordLayer = field(default_factory=RecordLayer)
    instants: bool = False
    written: datetime | None = None
    doubts: tuple[Doubt, ...] = ()
    set_aside: tuple[SetAside, ...] = ()
    unread: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_events(
        cls,
        events: Iterable[Event],
        records: RecordLayer | None = None,
        set_aside: Iterable[tuple[str, Event]] = (),
    ) -> EventLog:
        """A log of rows already in the shape of the event table, and of rows set aside with the reason; one whose
        case is not known has an empty one.
        """
        records = records or RecordLayer()
        connection = open_connection(records.attributes)
        rows, aside = list(events), list(set_aside)
        names = [*COLUMNS, *(attribute_column(i) for i in range(len(records.attributes)))]
        unnested = ", ".join(f'unnest(?::{TYPES.get(c, "VARCHAR")}[]) AS "{c}"' for c in names)
        for table, kept in (("staged", rows), ("staged_aside", [event for _, event in aside])):
            # a row that states no attributes leaves all of them empty
            cells = (
                row[: len(COLUMNS)] + (row.attributes or (None,) * len(records.attributes)) for row in kept
            )
            columns = [list(column) for column in zip(*cells, strict=True)] or [[] for _ in names]
            connection.execute(f"CREATE TEMP TABLE {table} AS SELECT {unnested}", columns)
        connection.execute(
            f"INSERT INTO events SELECT {with_attributes(', '.join(COLUMNS_QUOTED), records.attributes)} "
            "FROM staged"
        )
        connection.execute(
            "ALTER TABLE staged_aside ADD COLUMN reason VARCHAR; UPDATE staged_aside SET reason = (?::VARCHAR[])[rowid + 1]",
            [[reason for reason, _ in aside]],
        )
        _keep_aside(connection, "staged_aside", records.attributes)
        connection.execute("DROP TABLE staged; DROP TABLE staged_aside")
        _read_by_case(connection, records.attributes)
        told = [*sorted(rows, key=repr), *(sorted(aside, key=repr))]
        return cls.sealed(connection, hashlib.sha256(repr(told).encode()).hexdigest(), records)

    @classmethod
    def sealed(
        cls,
        connection: duckdb.DuckDBPyConnection,
        fingerprint: str,
        records: RecordLayer,
        findings: tuple[str, ...] = (),
        written: datetime | None = None,
        doubts: tuple[Doubt, ...] = (),
        unread: Mapping[str, str] | None = None,
    ) -> EventLog:
        """Lock the connection and take the counts of its ``events`` table."""
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        events, cases = connection.execute(
            "SELECT count(*), count(DISTINCT case_id) FROM events"
        ).fetchone() or (0, 0)
        aside = tuple(
            SetAside(*row)
            for row in connection.execute(
                "SELECT reason, count(*), count(case_id) FROM set_aside GROUP BY reason ORDER BY 2 DESC, 1"
            ).fetchall()
        )
        log = cls(
            connection,
            fingerprint,
            events,
            cases,
            findings,
            records,
            written=written,
            doubts=doubts,
            set_aside=aside,
            unread=unread or {},
        )
        return replace(log, findings=(*findings, log.said_aside)) if aside else log

    @property
    def described(self) -> dict[str, Any]:
        """Fingerprint and size."""
        aside = {
            "rows": sum(part.rows for part in self.set_aside),
            "case_unknown": sum(part.rows - part.known for part in self.set_aside),
            "reasons": {part.reason: part.rows for part in self.set_aside},
        }
        return {
            "fingerprint": self.fingerprint,
            "events": self.events,
            "cases": self.cases,
            "set_aside": aside,
        }

    @property
    def said_aside(self) -> str:
        """What a reader must know of the rows that were set aside; nothing where there are none."""
        if not self.set_aside:
            return ""
        rows, unknown = (self.described["set_aside"][part] for part in ("rows", "case_unknown"))
        why = "; ".join(f"{one_line(part.reason, 120)}: {part.rows:,}" for part in self.set_aside[:LISTED])
        more = f"; {len(self.set_aside) - LISTED} more reasons" if len(self.set_aside) > LISTED else ""
        whose = f" ({unknown:,} of them: of any case, as theirs is not known)" if unknown else ""
        return (
            f"{rows:,} {'row was' if rows == 1 else 'rows were'} set aside ({why}{more}): each may be an act of "
            f"its case{whose}, so what it may show is not taken as absent"
        )

    @cached_property
    def case_ids(self) -> tuple[str, ...]:
        """The cases, in order, those among them of which only rows that were set aside are known."""
        aside = "UNION SELECT case_id FROM set_aside WHERE case_id IS NOT NULL " if self.set_aside else ""
        rows = self.connection.execute(f"SELECT DISTINCT case_id FROM events {aside}ORDER BY case_id")
        return tuple(case for (case,) in rows.fetchall())

    def one(self, select: str, parameters: Mapping[str, object] | None = None) -> tuple[Any, ...]:
        """The one row of a SELECT over the events; asked once, as they do not change.

        Parameters
        ----------
        select : str
        parameters : {name: value}, optional
            Values of its ``$name``, plain ones and lists of them.
        """
        asked = select, repr(parameters)
        if asked not in self._answers:
            self._answers[asked] = self.connection.execute(select, parameters or {}).fetchone() or ()
        return self._answers[asked]

    @cached_property
    def _answers(self) -> dict[tuple[str, str], tuple[Any, ...]]:
        return {}

    @cached_property
    def reach(self) -> Reach:
        """From when to when its rows count for what is observed."""
        return reach_of(self.connection, self.written)

    @cached_property
    def seen(self) -> Mapping[tuple[str, str], int]:
        """(channel, activity) -> rows."""
        return {
            (channel, activity): count
            for channel, activity, count in self.connection.execute(
                'SELECT "channel", "activity", count(*) FROM "events" WHERE "channel" IS NOT NULL AND '
                '"activity" IS NOT NULL GROUP BY ALL'
            ).fetchall()
        }

    @cached_property
    def clocks(self) -> Mapping[tuple[str, str | None], Set[Grain]]:
        """(channel, activity) -> grains of the dated rows."""
        found: dict[tuple[str, str | None], set[Grain]] = {}
        for channel, activity, grain in self.connection.execute(
            'SELECT DISTINCT "channel", "activity", "grain" FROM "events" WHERE "channel" IS NOT NULL AND '
            '"timestamp" IS NOT NULL'
        ).fetchall():
            found.setdefault((channel, activity), set()).add(grain)
        return found


def resolved(records: RecordLayer, log: EventLog) -> RecordLayer:
    """The record layer with every channel's capability and grain filled (line 2).

    Parameters
    ----------
    records : RecordLayer
        As declared. Where it declares no channel at all, the channels of the log are taken.
    log : EventLog
        The rows of D.

    Returns
    -------
    RecordLayer
        Channels with ``activities`` as declared, else the activities seen, and ``grain`` as declared, else
        the one seen; a channel that shows several keeps none, since a declared grain is that of every row.
    """
    activities, grains = dict[str, set[str]](), dict[str, set[Grain]]()
    for channel, activity in log.seen:
        activities.setdefault(channel, set()).add(activity)
    for (channel, _), seen_here in log.clocks.items():
        grains.setdefault(channel, set()).update(seen_here)
    declared = records.channels or tuple(Channel.model_construct(name=name) for name in sorted(activities))
    channels = tuple(
        c.model_copy(
            update={
                "activities": tuple(sorted(activities.get(c.name, ())))
                if c.activities is None
                else c.activities,
                "grain": c.grain
                or (next(iter(grains[c.name])) if len(grains.get(c.name, ())) == 1 else None),
            }
        )
        for c in declared
    )
    return records.model_copy(update={"channels": channels})


COLUMNS_QUOTED = [f'"{column}"' for column in COLUMNS]
"""Names of the event table's own columns, as SQL writes them."""


def with_attributes(columns: str, attributes: Sequence[Attribute]) -> str:
    """Columns for the event table out of a staging table: those given, then each attribute in its type."""
    parts = [columns]
    for i, attribute in enumerate(attributes):
        name = attribute_column(i)
        cell = f"left({name}, 10)" if attribute.type == "date" else name
        value = f"TRY_CAST({cell} AS {ATTRIBUTE_TYPES[attribute.type]})"
        if attribute.type != "text":
            value = f"CASE WHEN regexp_matches({name}, '{_CELLS[attribute.type]}') THEN {value} END"
        parts += [f"{value} AS {name}", f"{name} IS NOT NULL AND ({value}) IS NULL AS {name}_unclear"]
    return ", ".join(parts)


def _read_by_case(connection: duckdb.DuckDBPyConnection, attributes: Sequence[Attribute]) -> None:
    """Give each row its case's value of what is recorded of the case; none where it holds two, or one that
    cannot be read (D2).
    """
    names = [attribute_column(i) for i, attribute in enumerate(attributes) if attribute.of == "case"]
    if not names:
        return
    listed = ", ".join(["case_id", *(f"{n}, {n}_unclear" for n in names)])
    unclear = {n: f"bool_or({n}_unclear) OR coalesce(min({n}) <> max({n}), FALSE)" for n in names}
    read = ", ".join(
        f"CASE WHEN NOT ({u}) THEN min({n}) END AS {n}, {u} AS {n}_unclear" for n, u in unclear.items()
    )
    sets = ", ".join(f"{n} = c.{n}, {n}_unclear = c.{n}_unclear" for n in names)
    connection.execute(
        f"CREATE TEMP TABLE by_case AS SELECT case_id, {read} FROM (SELECT {listed} FROM events UNION ALL "
        f"SELECT {listed} FROM set_aside WHERE case_id IS NOT NULL) GROUP BY case_id"
    )
    for table in ("events", "set_aside"):
        connection.execute(f"UPDATE {table} SET {sets} FROM by_case AS c WHERE c.case_id = {table}.case_id")
    connection.execute("DROP TABLE by_case")


def _keep_aside(connection: duckdb.DuckDBPyConnection, staged: str, attributes: Sequence[Attribute]) -> None:
    """Put staged rows with a reason into ``set_aside``: without a time, and what is not known of an attribute
    unclear; where no case is known, the activity alone.
    """
    columns = ", ".join(
        f'CAST(NULL AS {TYPES[column]}) AS "{column}"'
        if column in ("timestamp", "offset", "grain")
        else f'"{column}"'
        for column in COLUMNS
    )
    connection.execute(
        f"INSERT INTO set_aside BY NAME SELECT {with_attributes(columns, attributes)}, reason FROM {staged} "
        "WHERE case_id <> ''; "
        "INSERT INTO set_aside BY NAME SELECT event_id, activity, reason "
        f"FROM {staged} WHERE coalesce(case_id, '') = ''"
    )
    for name in map(attribute_column, range(len(attributes))):
        connection.execute(f"UPDATE set_aside SET {name}_unclear = NULL WHERE {name} IS NULL")


ALONE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
}
"""Settings of a connection that loads no extension."""


def open_connection(attributes: Sequence[Attribute] = ()) -> duckdb.DuckDBPyConnection:
    """An in-memory DuckDB with an empty ``events`` table and no extension loading."""
    import duckdb  # a quarter of a second that `gnrs --help` need not wait for

    connection = duckdb.connect(config=ALONE)
    make_events(connection, attributes)
    return connection


def make_events(connection: duckdb.DuckDBPyConnection, attributes: Sequence[Attribute]) -> None:
    """Make the empty tables ``events`` and ``set_aside`` of a record layer's attributes."""
    kinds = dict(TYPES)
    for i, attribute in enumerate(attributes):
        name = attribute_column(i)
        kinds |= {name: ATTRIBUTE_TYPES[attribute.type], f"{name}_unclear": "BOOLEAN"}
    body = ", ".join(f'"{name}" {kind}' for name, kind in kinds.items())
    connection.execute(f"CREATE TABLE events ({body}); CREATE TABLE set_aside ({body}, reason VARCHAR)")


def read_log(path: Path, records: RecordLayer, set_aside: Path | None = None) -> EventLog:
    """The event table of a CSV (plain or gzipped) or Parquet file, mapped and cleaned as ``records`` says.

    Every row of the file becomes an event or is set aside for a reason that the findings count.

    Parameters
    ----------
    path : Path
    records : RecordLayer
        Columns, constants, offset and channels; what it leaves open is taken from the file.
    set_aside : Path, optional
        The rows that import set aside, a Parquet file with the columns of the log's and two of its own.

    Raises
    ------
    InputError
        No such file, unreadable, damaged, ragged, no rows, a mapped column the file lacks, a column that
        nearly has the name of one, a timestamp that is not ISO 8601, a time without offset and none declared,
        two offsets that differ, a doubled event id, an end of observation before the first event.
    """
    connection = open_connection(records.attributes)
    with ExitStack() as stack:
        table = stack.enter_context(opened(path, connection))
        aside = None if set_aside is None else (stack.enter_context(opened(set_aside, connection)), set_aside)
        log = read_into(connection, table, path, records, aside=aside)
    for read, place in ((table, path), *([aside] if aside else [])):
        check_written(place, "import its source again", read.fingerprint())
    return log


def read_into(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    path: Path,
    records: RecordLayer,
    *,
    order: str = "row",
    aside: tuple[Table, Path] | None = None,
) -> EventLog:
    """The event table of a file whose columns are known, in the connection's database, which is then locked.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
    table : Table
    path : Path
        What errors name.
    records : RecordLayer
    order : {"row", "case_id"}, optional
        The order in which the events are kept.
    aside : (Table, Path), optional
        The rows that import set aside.

    Raises
    ------
    InputError
        As :func:`read_log`.
    """
    return _Import(connection, path, records, order).run(table, aside)


# A local timestamp, its offset and its own resolution, from ISO 8601 text.
_ISO = (
    r"^(\d{4}-\d{2}-\d{2})"
    r"(?:[Tt ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,12})?)?)\s*([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$"
)
_OFFSET = r"[Zz]|[+-](?:(?:0\d|1[0-3])(?::?[0-5]\d)?|14(?::?00)?)"
_MINUTES = (
    "CASE WHEN {0} IN ('Z', 'z') THEN 0 WHEN {0} <> '' THEN "
    "(CASE WHEN {0}[1] = '-' THEN -1 ELSE 1 END) * (60 * TRY_CAST({0}[2:3] AS INTEGER) + "
    "CASE WHEN length({0}) > 3 THEN TRY_CAST(right({0}, 2) AS INTEGER) ELSE 0 END) END"
)


BEYOND = r"^(0\d{3}|9(00[1-9]|0[1-9]\d|[1-9]\d{2})|\d{5,6})-\d{2}-\d{2}([Tt ].*)?$|^-?infinity$"
"""An ISO 8601 time of a year outside of 1000 to 9000: no record has one, a sentinel such as 9999-12-31 does."""


def beyond_years(found: Sequence[tuple[Any, ...]]) -> str:
    """A line on times of years that no time is of: each text, its rows and the first of them."""
    rows = sum(count for _, count, _ in found)
    first = ", ".join(
        f"{one_line(text, 40)} on {count:,} row{'s' * (count > 1)} (first: {row})"
        for text, count, row in found[:3]
    )
    more = f" and {len(found) - 3:,} other texts" if len(found) > 3 else ""
    return (
        f"{rows:,} time{'s' * (rows > 1)} of a year outside 1000 to 9000: {first}{more}; such a year is a sentinel or "
        "mistyped, and counts as an unknown time, which proves neither an act nor its absence"
    )


def iso_parts(cell: str) -> str:
    """SQL of the date, time and suffix of a cell of ISO 8601, compact (``20240531T091500Z``) or not; its
    parameter ``$iso`` is ``_ISO``.
    """
    day, time = r"^(\d{4})(\d{2})(\d{2})", r"[Tt](\d{2})(\d{2})"
    compact = f"regexp_replace({cell}, '{day}{time}(\\d{{2}})', '\\1-\\2-\\3T\\4:\\5:\\6')"
    compact = f"regexp_replace({compact}, '{day}{time}', '\\1-\\2-\\3T\\4:\\5')"
    compact = f"regexp_replace({compact}, '{day}$', '\\1-\\2-\\3')"
    text = f"CASE WHEN {cell}[5] = '-' THEN {cell} ELSE {compact} END"  # asked first, as most are not compact
    return f"regexp_extract({text}, $iso, ['date', 'time', 'suffix'])"


# Columns whose cells name something that rules speak of.
NAMING: tuple[Column, ...] = ("activity", "resource", "role", "object", "location", "channel")
WHITE_SPACE = "".join(c for c in map(chr, range(0x3001)) if c.isspace())
UNSEEN = r"[\pC\p{Zl}\p{Zp}]"
UNSEEN_OR_SPACE = r"[\s\pC\pZ]+"
LISTED = 10
ASIDE = ("set_aside_row", "set_aside_reason")
"""Columns of a file of rows that import set aside, beside those of the log: which row of the source it was, and why."""


def _listed(names: Sequence[str], room: int = 160) -> str:
    """As many of some names as have room, each whole unless one alone is longer, and how many more there
    are.
    """
    shown = [one_line(name, room) for name in names]
    fit = max(1, sum(length <= room for length in accumulate(len(name) + 2 for name in shown)))
    more = len(shown) - fit
    return ", ".join(shown[:fit]) + (f" and {more} more" if more else "")


def spelt(name: str) -> str:
    """A name in which nothing is unseen: what is not ASCII as escapes, and white space in a row."""
    return one_line(ascii(name).replace("  ", " \\x20"), 60)


def alike(connection: duckdb.DuckDBPyConnection, names: str) -> list[str]:
    """Sentences on names of a kind that differ in nothing that anybody sees.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
    names : str
        A relation of ``kind``, ``name`` and ``cells``, how many cells hold it.
    """
    twins = connection.execute(
        f"""SELECT kind, list(name ORDER BY name), list(cells ORDER BY name) FROM {names}
            GROUP BY kind, lower(regexp_replace(nfc_normalize(name), $unseen_or_space, '', 'g')) HAVING count(*) > 1 ORDER BY ALL""",
        {"unseen_or_space": UNSEEN_OR_SPACE},
    ).fetchall()
    found = []
    for kind, group, cells in twins[:LISTED]:
        listed = " and ".join(
            f"{spelt(name)} ({count} rows)" for name, count in zip(group[:LISTED], cells, strict=False)
        )
        more = f" and {len(group) - LISTED} more" if len(group) > LISTED else ""
        found.append(
            f"{kind}: {listed}{more} differ only in case, white space or signs nobody sees; they count as different"
        )
    if len(twins) > LISTED:
        found.append(f"{len(twins) - LISTED} more groups of names differ only so")
    return found


def _written(path: Path) -> datetime:
    """When a file, or the newest Parquet file of a folder, was written, UTC; never later than now."""
    files = path.rglob("*.parquet") if path.is_dir() else (path,)
    changed = max(file.stat().st_mtime for file in files)
    return datetime.fromtimestamp(min(max(changed, 0.0), time()), UTC).replace(tzinfo=None)


class _Import:
    """One import: the file's columns, then local times, then grains, then the rows of D, with what was
    noticed.
    """

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, path: Path, records: RecordLayer, order: str
    ) -> None:
        self.connection, self.path, self.records, self.order = connection, path, records, order
        self.findings = list[str]()
        self.doubts: tuple[Doubt, ...] = ()
        self.typed = set[str]()
        self.unread: dict[str, dict[str, str]] = {}
        self.examples: dict[str, str] = {}

    def run(self, table: Table, aside: tuple[Table, Path] | None) -> EventLog:
        """Read, clean, lock."""
        self._stage(table)
        fingerprint = table.fingerprint()
        self._read_numbers()
        self._check_ids()
        self._note_names()
        self._parse_times()
        self._set_grains()
        if aside is not None:
            _Import(self.connection, aside[1], self.records, self.order).keep_aside(aside[0])
            fingerprint = hashlib.sha256(f"{fingerprint} {aside[0].fingerprint()}".encode()).hexdigest()
        elif table.set_aside:
            self.findings.append(
                f"import set {table.set_aside:,} rows of its source aside, which are not read here: what they may show "
                "counts as absent; name the context that names them"
            )
        self._keep_rows_of_d(table)
        self._check_end_of_observation()
        return EventLog.sealed(
            self.connection,
            fingerprint,
            self.records,
            tuple(self.findings),
            _written(self.path),
            self.doubts,
            self.examples,
        )

    def keep_aside(self, table: Table) -> None:
        """The rows that import set aside, those of channels that are not evidence left out."""
        self._stage(table, ASIDE)
        where, parameters = self._evidence()
        self.connection.execute(f"DELETE FROM staged WHERE NOT ({where})", parameters)
        self.connection.execute(
            f"UPDATE staged SET event_id = 'set aside: row ' || coalesce({ASIDE[0]}, '?'), "
            f"{ASIDE[1]} = coalesce({ASIDE[1]}, 'no reason'); ALTER TABLE staged RENAME {ASIDE[1]} TO reason"
        )
        _keep_aside(self.connection, "staged", self.records.attributes)
        self.connection.execute("DROP TABLE staged")

    def _evidence(self) -> tuple[str, dict[str, object]]:
        """Whether a row stands in a durable channel, or in none that is known."""
        if not self.records.channels:
            return "TRUE", {}
        durable = [c.name for c in self.records.channels if c.durable]
        return "(channel IS NULL OR list_contains($durable, channel))", {"durable": durable}

    def _error(self, problem: str, remedy: str, field: str = "") -> InputError:
        return InputError(problem, remedy, source=str(self.path), field=field)

    def _one(self, sql: str, parameters: dict[str, object] | None = None) -> tuple[Any, ...]:
        return self.connection.execute(sql, parameters or {}).fetchone() or ()

    def _stage(self, table: Table, further: Sequence[str] = ()) -> None:
        """The file's columns under the event table's names, and ``further`` ones, all as text without white space
        around it.
        """
        import duckdb

        doubled = next(
            (name for i, name in enumerate(table.header) if name and name in table.header[:i]), None
        )
        if doubled is not None:
            raise self._error(f"two columns are named {doubled!r}", "rename one of them")
        chosen = ChosenColumns(self.records, table.header, str(self.path))
        named: dict[str, str | None] = {column: chosen.of(column) for column in COLUMNS}
        for i, attribute in enumerate(self.records.attributes):
            named[attribute_column(i)] = chosen.of_attribute(attribute)
        for name in further:
            if name not in table.header:
                raise self._error(
                    f"has no column {name!r}", "import the source again with gnrs import --update"
                )
            named[name] = name
        sources = {c: None if name is None else table.header.index(name) for c, name in named.items()}
        self.findings += chosen.findings
        positions = sorted({i for i in sources.values() if i is not None})
        unread = [name or "(unnamed)" for i, name in enumerate(table.header) if i not in positions]
        if unread:
            columns = "column is" if len(unread) == 1 else "columns are"
            self.findings.append(f"{len(unread)} {columns} not read: {_listed(unread)}")
        texts, uneven = [], ["0"]
        for column, position in sources.items():
            if position is None:
                texts.append(
                    f'$constant_{column}::VARCHAR AS "{column}"'
                    if column in chosen.constants
                    else f'NULL::VARCHAR AS "{column}"'
                )
                continue
            cell = f"c{positions.index(position)}"
            text = self._text(column, cell, table.types[position])
            self.typed |= set() if table.types[position] == "VARCHAR" else {column}
            # asked first, because trim is ten times slower
            ends = (
                f"({text} <> '' AND (contains($white_space, left({text}, 1)) OR contains($white_space, "
                f"right({text}, 1))))"
            )
            texts.append(
                f"nullif(CASE WHEN {ends} THEN trim({text}, $white_space) ELSE {text} END, '') AS "
                f'"{column}"'
            )
            uneven.append(f"coalesce({ends}, false)::INTEGER")
        relation, parameters = table.scan(positions)
        parameters |= {"white_space": WHITE_SPACE} | {
            f"constant_{column}": text for column, text in chosen.constants.items()
        }
        try:
            self.connection.execute(
                f"CREATE TABLE staged AS SELECT row, {', '.join(texts)}, {' + '.join(uneven)} AS uneven "
                f"FROM {relation}",
                parameters,
            )
        except (duckdb.Error, UnicodeDecodeError) as error:
            problem = one_line(str(error).replace(str(parameters["path"]), "the file"), 120)
            raise self._error(f"is not readable ({problem})", "write the file again") from None
        rows, uneven_cells = self._one("SELECT count(*), sum(uneven) FROM staged")
        if rows == 0 and not further:
            raise self._error("has no rows", "give a log with events in it")
        if uneven_cells:
            self.findings.append(f"white space around {uneven_cells} cells was taken off")

    def _text(self, column: str, cell: str, kind: str) -> str:
        """SQL for a cell as text."""
        if kind.startswith(("BLOB", "STRUCT", "MAP", "UNION")) or kind.endswith("]"):
            raise self._error(
                f"holds {kind} where text is needed",
                "write it as text, a number, a date or a timestamp",
                column,
            )
        return cell_text(cell, kind)

    def _read_numbers(self) -> None:
        """Make the cells of numbers plain decimals, by the notation that their column shows."""
        for i, attribute in enumerate(self.records.attributes):
            if attribute.type != "number":
                continue
            cell = attribute_column(i)
            certain = f"regexp_full_match({cell}, $certain)"
            rows = self.connection.execute(
                f"SELECT {cell}, count(*), min(row) FROM staged WHERE NOT {certain} GROUP BY ALL ORDER BY 3",
                {"certain": CERTAIN},
            ).fetchall()
            if not rows:
                continue
            (point,) = self._one(
                f"SELECT min({cell}) FROM staged WHERE {certain} AND contains({cell}, '.')",
                {"certain": CERTAIN},
            )
            cells = {text: count for text, count, _ in rows}
            mark = "." if cell in self.typed else attribute.decimal
            column = read_column(cells | ({point: 1} if point else {}), mark, attribute.unit)
            self.unread[attribute.name] = {c: why for why, of in column.because.items() for c in of}
            # a sign before it keeps a cell that may be two numbers from being read as one of them
            plain = {text: f"?{text}" if (p := column.plain[text]) is None else p for text in cells}
            self.connection.execute(
                "CREATE TABLE numbers AS SELECT unnest(?::VARCHAR[]) AS written, unnest(?::VARCHAR[]) AS plain",
                [list(plain), list(plain.values())],
            )
            self.connection.execute(
                f"UPDATE staged SET {cell} = plain FROM numbers WHERE {cell} = written; DROP TABLE numbers"
            )
            self._note_notation(attribute, column, rows)

    def _note_notation(
        self, attribute: Attribute, column: ReadColumn, rows: Sequence[tuple[str, int, int]]
    ) -> None:
        """Say how cells were read that are no plain numbers."""
        cell = attribute_column(self.records.attributes.index(attribute))
        changed = [
            (text, n, row)
            for text, n, row in rows
            if (p := column.plain[text]) is not None
            and not (re.fullmatch(PLAIN, text, re.ASCII) and Decimal(text) == Decimal(p))
        ]
        if changed and cell not in self.typed:
            text, _, row = changed[0]
            unit = f", in {column.unit}" if column.unit else ""
            self.findings.append(
                f"{sum(n for _, n, _ in changed)} cells of {attribute.name!r} are read as numbers{unit} (first: row "
                f"{row}, {one_line(text, 40)!r} is {column.plain[text]})"
            )
        if column.guessed:
            self.findings.append(
                f"{attribute.name!r}: {one_line(column.guessed, 40)!r} is read with a decimal point, a guess: no cell "
                "says whether it marks thousands; state records.attributes.decimal"
            )

    def _check_ids(self) -> None:
        """Number the rows where the file does not; refuse doubled and missing ids."""
        if self._one("SELECT count(event_id) FROM staged") == (0,):
            self.connection.execute("UPDATE staged SET event_id = format('{:09d}', row)")
        doubled = self._one(
            "SELECT event_id, count(*) FROM staged GROUP BY event_id HAVING count(*) > 1 OR event_id IS "
            "NULL ORDER BY ALL LIMIT 1"
        )
        if doubled:
            problem = (
                "some rows have no event id"
                if doubled[0] is None
                else f"event id {doubled[0]!r} stands on {doubled[1]} rows"
            )
            raise self._error(
                problem, "make event ids unique, or leave the column out to number the rows", "event_id"
            )

    def _note_names(self) -> None:
        """Say which names hold what nobody sees, and which differ in nothing that anybody sees."""
        self.connection.execute(
            "CREATE TABLE names AS "
            + " UNION ALL ".join(
                f"""SELECT '{column}' AS kind, "{column}" AS name, min(row) AS first, count(*) AS cells
                    FROM staged WHERE "{column}" IS NOT NULL GROUP BY ALL"""
                for column in ("case_id", *NAMING)
            )
        )
        for kind, cells, row, name in self.connection.execute(
            """SELECT kind, sum(cells), min(first), min_by(name, first) FROM names
               WHERE regexp_matches(name, $unseen) GROUP BY kind ORDER BY kind""",
            {"unseen": UNSEEN},
        ).fetchall():
            self.findings.append(
                f"{kind}: {cells} cells hold control or invisible characters (first: row {row}, "
                f"{spelt(name)})"
            )
        self.findings += alike(self.connection, "(FROM names WHERE kind <> 'case_id')")
        self.connection.execute("DROP TABLE names")

    def _parse_times(self) -> None:
        """Local wall time, offset and whether only a date was written; refuses what is not ISO 8601."""
        self.connection.execute(
            f"""CREATE TABLE parsed AS SELECT * EXCLUDE (parts, uneven), parts.date AS date_text, parts.suffix AS suffix,
                   date_text <> '' AND parts.time = '' AS date_only,
                   try_cast(date_text || ' ' || CASE WHEN parts.time = '' THEN '00:00' ELSE replace(parts.time, ',', '.') END
                            AS TIMESTAMP) AS local,
                   {_MINUTES.format("suffix")} AS written, {_MINUTES.format('"offset"')} AS stated,
                   coalesce(written, stated, $declared::INTEGER) AS minutes
            FROM (SELECT *, {iso_parts('"timestamp"')} AS parts FROM staged)""",
            {"iso": _ISO, "declared": self.records.offset},
        )
        self.connection.execute("DROP TABLE staged")
        self._set_aside_sentinels()
        if self.records.zone is not None:
            self._set_offsets(self.records.zone)
        bad = self._one(
            "SELECT row, timestamp FROM parsed WHERE timestamp IS NOT NULL "
            "AND (local IS NULL OR year(local) NOT BETWEEN 1000 AND 9000) ORDER BY row LIMIT 1"
        )
        if bad:
            raise self._error(
                f"row {bad[0]}: timestamp {one_line(str(bad[1]), 60)!r} is not ISO 8601",
                f"write times as 2024-05-31 or 2024-05-31T09:15:00+02:00, or read others with: gnrs import "
                f"{shlex.quote(str(self.path))}",
                "timestamp",
            )
        finer, row, example = self._one(
            "SELECT count(*), min(row), min_by(timestamp, row) FROM parsed WHERE "
            "regexp_matches(timestamp, '[.,][0-9]{6}[0-9]*[1-9]')"
        )
        if finer:
            self.findings.append(
                f"{finer} times are written finer than a microsecond (first: row {row}, {one_line(example, 60)!r}) and "
                "are cut to it; which of two rows within one microsecond came first is left open"
            )
        for offset in ("suffix", '"offset"'):
            bad = self._one(
                f"SELECT row, {offset} FROM parsed WHERE {offset} <> '' AND NOT regexp_full_match({offset}, "
                "$pattern) ORDER BY row LIMIT 1",
                {"pattern": _OFFSET},
            )
            if bad:
                raise self._error(
                    f"row {bad[0]}: offset {one_line(str(bad[1]), 40)!r} is not like +01:00",
                    "write offsets as +01:00 or Z, at most 14 hours",
                    "offset",
                )
        bad = self._one(
            'SELECT row, "offset", "timestamp" FROM parsed WHERE written <> stated ORDER BY row LIMIT 1'
        )
        if bad:
            raise self._error(
                f"row {bad[0]}: offset {bad[1]!r} contradicts timestamp {bad[2]!r}",
                "correct one of the two",
                "offset",
            )
        naked = self._one(
            "SELECT count(*), min(row) FROM parsed WHERE local IS NOT NULL AND NOT date_only AND minutes IS "
            "NULL"
        )
        if naked[0]:
            raise self._error(
                f"{naked[0]} rows carry a time without offset (first: row {naked[1]})",
                "state records.zone, such as Europe/Amsterdam, or records.offset, such as +01:00",
                "timestamp",
            )

    def _set_aside_sentinels(self) -> None:
        """Take times of years that no time is of as unknown, which is what they stand for, and count them."""
        written = "coalesce(nullif(date_text, ''), timestamp)"
        found = self.connection.execute(
            f"SELECT timestamp, count(*), min(row) FROM parsed WHERE regexp_matches({written}, $beyond) "
            "GROUP BY ALL ORDER BY count(*) DESC, timestamp",
            {"beyond": BEYOND},
        ).fetchall()
        if not found:
            return
        self.findings.append(beyond_years([(text, rows, f"row {row}") for text, rows, row in found]))
        self.connection.execute(
            "UPDATE parsed SET timestamp = NULL, local = NULL, date_only = FALSE "
            f"WHERE regexp_matches({written}, $beyond)",
            {"beyond": BEYOND},
        )

    def _set_offsets(self, zone: str) -> None:
        """The offset of each time that carries none, as the clocks of a zone stand; what they show twice or
        never is counted.
        """
        days = self.connection.execute(
            "SELECT DISTINCT local::DATE FROM parsed WHERE minutes IS NULL AND year(local) BETWEEN 1000 AND "
            "9000 ORDER BY 1"
        ).fetchall()
        if not days:
            return
        since, ahead, other = map(list, zip(*offsets(zone, (day for (day,) in days)), strict=True))
        self.connection.execute(
            "CREATE TABLE zone AS SELECT unnest(?::TIMESTAMP[]) AS since, unnest(?::INTEGER[]) AS ahead, "
            "unnest(?::INTEGER[]) AS other",
            [since, ahead, other],
        )
        self.connection.execute(
            "CREATE TABLE zoned AS SELECT parsed.* REPLACE (coalesce(minutes, ahead) AS minutes), "
            "CASE WHEN minutes IS NULL AND NOT date_only THEN other - ahead ELSE 0 END AS shift "
            "FROM parsed ASOF LEFT JOIN zone ON parsed.local >= zone.since"
        )
        self.connection.execute("DROP TABLE parsed; DROP TABLE zone")
        twice, never = self._one("SELECT count(*) FILTER (shift < 0), count(*) FILTER (shift > 0) FROM zoned")
        if twice:
            self.findings.append(
                f"{twice} times without offset come twice in {zone}, where clocks are put back; they "
                "stand as the earlier, and are read both ways by an audit"
            )
        if never:
            self.findings.append(
                f"{never} times without offset do not exist in {zone}, where clocks are put forward; they "
                "are taken an hour on"
            )
        self.connection.execute("ALTER TABLE zoned DROP COLUMN shift")
        self.connection.execute("ALTER TABLE zoned RENAME TO parsed")

    def _set_grains(self) -> None:
        """Each row's grain: its own column, a bare date, the channel's declared clock, or what the channel's
        times show.
        """
        bad = self._one(
            f"SELECT row, grain FROM parsed WHERE grain IS NOT NULL AND grain NOT IN {GRAINS} ORDER BY row "
            "LIMIT 1"
        )
        if bad:
            raise self._error(
                f"row {bad[0]}: grain {one_line(str(bad[1]), 40)!r} is unknown",
                f"use one of {', '.join(GRAINS)}",
                "grain",
            )
        found = self.connection.execute(
            f"""SELECT channel, activity, count(*) FILTER (NOT date_only), count(*) FILTER (date_only), {counted_clocks("local")}
                FROM parsed WHERE local IS NOT NULL AND grain IS NULL GROUP BY channel, activity"""
        ).fetchall()
        declared = {c.name: c.grain for c in self.records.channels if c.grain is not None}
        clocks = clocks_of(starmap(Clock, found), declared)
        self.findings += clocks.findings
        self.doubts = (*clocks.doubts, *self._always_at_one_hour(declared))
        self.connection.execute(
            "CREATE TABLE clocks AS SELECT unnest($channels::VARCHAR[]) AS channel, unnest($grains::VARCHAR[]) AS clock",
            {"channels": list(clocks.grains), "grains": list(clocks.grains.values())},
        )
        self.connection.execute(
            "CREATE TABLE dated AS SELECT unnest($channels::VARCHAR[]) AS channel, unnest($acts::VARCHAR[]) AS activity",
            {"channels": [c.channel for c in clocks.dated], "acts": [c.activity for c in clocks.dated]},
        )
        self.connection.execute(
            """CREATE TABLE timed AS SELECT parsed.* EXCLUDE (timestamp, "offset", grain, date_text, suffix, written, stated),
                   CASE WHEN local IS NULL THEN NULL
                        WHEN date_only OR parsed.grain IS NULL AND dated.activity IS NOT NULL AND local = date_trunc('day', local) THEN 'day'
                        ELSE coalesce(parsed.grain, clock) END AS grain
            FROM parsed LEFT JOIN clocks ON clocks.channel IS NOT DISTINCT FROM parsed.channel
                 LEFT JOIN dated ON dated.channel = parsed.channel AND dated.activity = parsed.activity"""
        )
        self.connection.execute("DROP TABLE parsed; DROP TABLE clocks; DROP TABLE dated")

    def _always_at_one_hour(self, declared: Mapping[str, Grain]) -> Iterator[Doubt]:
        """Activities on three days and more that are always at one whole hour, or an hour on as clocks are put
        forward, in channels whose other times are no whole hours: dates of another zone, or of a nightly run.
        """
        for channel, activity, rows, at in self.connection.execute(
            """SELECT channel, activity, count(*), min(local - date_trunc('day', local)) AS first FROM parsed
               WHERE local IS NOT NULL AND NOT date_only AND grain IS NULL AND NOT list_contains($declared::VARCHAR[], channel)
                 AND channel IN (SELECT channel FROM parsed WHERE local <> date_trunc('hour', local))
               GROUP BY channel, activity
               HAVING bool_and(local = date_trunc('hour', local)) AND count(DISTINCT date_trunc('day', local)) >= 3
                 AND first > to_hours(0) AND max(local - date_trunc('day', local)) - first <= to_hours(1) ORDER BY ALL""",
            {"declared": list(declared)},
        ).fetchall():
            if activity is not None:
                what = f"all {rows} times of {activity!r} in {channel!r} are at {str(at).rjust(8, '0')[:5]}"
                yield Doubt(channel, activity, what, dates=False, at_midnight=False)

    def _keep_rows_of_d(self, table: Table) -> None:
        """Rows with a case, in declared durable channels or in none that is known; every row of the file is
        accounted for.
        """
        caseless = self._one("SELECT count(*) FROM timed WHERE case_id IS NULL")[0]
        durable = [c.name for c in self.records.channels if c.durable]
        where, parameters = self._evidence()
        elsewhere = 0
        if self.records.channels:
            for channel, rows in self.connection.execute(
                "SELECT channel, count(*) FROM timed WHERE case_id IS NOT NULL AND channel IS NOT NULL "
                "AND NOT list_contains($durable, channel) GROUP BY channel ORDER BY channel",
                {"durable": durable},
            ).fetchall():
                known = self.records.channel(channel) is not None or any(
                    o.name == channel for o in self.records.observables
                )
                why = "which nothing keeps" if known else "which is not declared"
                self.findings.append(f"{rows} rows stand in {channel!r}, {why}; they are not evidence")
                elsewhere += rows
        cut = " ".join(f"WHEN '{grain}' THEN date_trunc('{grain}', local)" for grain in GRAINS)
        columns = (
            f"event_id, case_id, activity, CASE grain {cut} END - to_minutes(coalesce(minutes, 0)), "
            "CASE WHEN local IS NOT NULL THEN minutes END, grain, resource, role, object, location, channel, "
            "value"
        )
        self.connection.execute(
            f"""INSERT INTO events SELECT {with_attributes(columns, self.records.attributes)}
                FROM timed WHERE case_id IS NOT NULL AND {where} ORDER BY {self.order}""",
            parameters,
        )
        self.connection.execute(
            "INSERT INTO set_aside BY NAME SELECT event_id, activity, 'no case' AS reason FROM timed "
            f"WHERE case_id IS NULL AND {where}",
            parameters,
        )
        self._read_attributes()
        self.connection.execute("DROP TABLE timed")
        kept = self._one("SELECT count(*) FROM events")[0]
        aside = {
            "blank lines": table.blank,
            "without a case id": caseless,
            "in channels that are not evidence": elsewhere,
        }
        parts = [f"{kept:,} events", *(f"{rows:,} {reason}" for reason, rows in aside.items() if rows)]
        if table.rows != kept + sum(aside.values()):
            raise self._error(
                f"its {table.rows:,} rows are not the {', '.join(parts)} that were read",
                "write the file again",
            )
        self.findings.insert(
            0, "; ".join([f"the file's {table.rows:,} rows: {', '.join(parts)}", *table.said])
        )
        if not kept:
            raise self._error(
                "holds no row with a case id in a declared durable channel",
                "check records.columns and records.channels",
            )

    def _read_attributes(self) -> None:
        """Count the cells that hold no value of their attribute's type, and the cases that hold two."""
        for i, attribute in enumerate(self.records.attributes):
            cell = attribute_column(i)
            (unread,) = self._one(f"SELECT count(*) FROM events WHERE {cell}_unclear")
            if unread:
                row, text = self._one(
                    f"SELECT min(row), min_by(timed.{cell}, row) FROM timed JOIN events USING (event_id) WHERE "
                    f"events.{cell}_unclear"
                )
                text = text.removeprefix("?")
                why = self.unread.get(attribute.name, {}).get(text)
                example = f"first: row {row}, {one_line(text, 40)!r}{f' {why}' if why else ''}"
                self.examples[attribute.name] = example
                self.findings.append(
                    f"{unread} cells of {attribute.name!r} hold no {attribute.type} that can be read ({example}); "
                    "they count as unknown"
                )
        _read_by_case(self.connection, self.records.attributes)
        for i, attribute in enumerate(self.records.attributes):
            if attribute.of == "case":
                (cases,) = self._one(
                    f"SELECT count(DISTINCT case_id) FROM events WHERE {attribute_column(i)}_unclear"
                )
                if cases:
                    self.findings.append(
                        f"{cases} cases hold several values of {attribute.name!r}, or one that cannot be read; "
                        "it counts as unknown there"
                    )

    def _check_end_of_observation(self) -> None:
        """Refuse an end of observation before all events; count the events after it."""
        declared = self.records.end_of_observation
        if declared is None:
            return
        end = span(declared, self.records.clock)[1]
        first, after = self._one(
            'SELECT min("timestamp"), count(*) FILTER ("timestamp" > $end) FROM events WHERE "timestamp" IS '
            "NOT NULL",
            {"end": end},
        )
        if first is not None and first > end:
            raise self._error(
                f"{declared} lies before the first event, at {first} UTC",
                "state when the log was extracted",
                "records.end_of_observation",
            )
        if after:
            self.findings.append(f"{after} events stand after the end of observation, {declared}")
