"""The verdicts of one audit after another in a DuckDB file: runs are added whole and never changed."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import duckdb

from gnrs_ppl.audit.again import Checked, surroundings_of, surroundings_text
from gnrs_ppl.audit.run import COLUMNS, row_of, verdicts_of
from gnrs_ppl.audit.types import VERDICTS, Verdict
from gnrs_ppl.context.files import open_regular
from gnrs_ppl.context.output import check_file, staging_folder
from gnrs_ppl.errors import InputError, one_line
from gnrs_ppl.history.grounding import daily_cells, daily_rows, days_of
from gnrs_ppl.rule.canonical import dumps, signature
from gnrs_ppl.versions import versions

if TYPE_CHECKING:
    from gnrs_ppl.audit.result import AuditResult

FORMAT: Final = 1
"""Number of the layout below."""
PATIENCE: Final = 10.0
"""Seconds to wait for another run that is writing into the same store."""
TABLES: Final[dict[str, dict[str, str]]] = {
    "store": {"format": "INTEGER"},
    "runs": {
        "run": "INTEGER PRIMARY KEY",
        "stored": "TIMESTAMP",
        "rule": "VARCHAR",
        "version": "VARCHAR",
        "force": "VARCHAR",
        "text": "VARCHAR",
        "structure": "VARCHAR",
        "log": "VARCHAR",
        "events": "BIGINT",
        "cases": "BIGINT",
        "first_day": "DATE",
        "last_day": "DATE",
        "gnrs": "VARCHAR",
        "basis": "VARCHAR",
        "surroundings": "VARCHAR",
    },
    "cases": {"run": "INTEGER", "case_id": "VARCHAR", "digest": "VARCHAR"},
    "verdicts": {
        "run": "INTEGER",
        "part": "VARCHAR",
        **COLUMNS,
    },
    "daily_rows": {
        "run": "INTEGER",
        "channel": "VARCHAR",
        "activity": "VARCHAR",
        "day": "DATE",
        "events": "BIGINT",
    },
    "daily_cells": {
        "run": "INTEGER",
        "name": "VARCHAR",
        "day": "DATE",
        "events": "BIGINT",
        "empty": "BIGINT",
    },
}
"""The tables of a store and their columns. ``part`` is norm, or procedure for the steps after a violation;
``version`` tells one wording of a rule from another, ``log`` is the fingerprint of what was audited."""
_NAME_A_STORE: Final = "name a file that gnrs audit --store wrote, or a new one"
_CONFIGURATION: Final[dict[str, str | bool | int | float | list[str]]] = {
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
}


class Run(NamedTuple):
    """One audit that was stored.

    Attributes
    ----------
    run : int
        Its number, from 1.
    stored : datetime
        When it was stored, in UTC.
    rule, version : str
        The name it was stored under, and what tells one content of the rule from another.
    force, text : str
        The rule's force and wording.
    log : str
        Fingerprint of the log.
    events, cases : int
        Its size.
    counts : dict
        Instances and constraints by verdict.
    """

    run: int
    stored: datetime
    rule: str
    version: str
    force: str
    text: str
    log: str
    events: int
    cases: int
    counts: dict[Verdict, int]

    def as_dict(self) -> dict[str, Any]:
        """JSON of a run."""
        return self._asdict() | {"stored": self.stored.replace(tzinfo=UTC).isoformat()}


def check_store(path: Path) -> None:
    """Refuse a place where no store may be written, or where something else stands."""
    check_file(path)
    if path.exists():
        with opened(path):
            pass


def append(path: Path, result: AuditResult, rule: str) -> Run:
    """Add an audit as one run, whole or not at all.

    Parameters
    ----------
    path : Path
        The store; a new one is made where there is none.
    result : AuditResult
        What the audit found.
    rule : str
        The name under which runs of this rule are compared, whatever version of it they ran.

    Returns
    -------
    Run

    Raises
    ------
    InputError
        The place cannot be written, holds no store, or another run does not stop writing there.
    """
    if not path.exists():
        _make(path)
    with opened(path, write=True) as connection:
        connection.execute("BEGIN")
        (number,) = connection.execute("SELECT coalesce(max(run), 0) + 1 FROM runs").fetchone() or (1,)
        standing = result.standing
        first, last = days_of(result.events)
        described = {
            "run": number,
            "stored": datetime.now(UTC).replace(tzinfo=None),
            "rule": rule,
            "version": signature(result.structure),
            "force": result.force,
            "text": result.text,
            "structure": dumps(result.structure),
            "log": result.events.fingerprint,
            "events": result.events.events,
            "cases": result.events.cases,
            "first_day": first,
            "last_day": last,
            "gnrs": versions()["gnrs-ppl"],
            "basis": standing.basis if standing else None,
            "surroundings": surroundings_text(standing.surroundings) if standing else None,
        }
        _insert(connection, "runs", [tuple(described.values())])
        for part, verdicts in (("norm", result.verdicts), ("procedure", result.procedure.verdicts)):
            _insert(connection, "verdicts", [(number, part, *row_of(v)) for v in verdicts])
        for table, counted in (("daily_rows", daily_rows), ("daily_cells", daily_cells)):
            _insert(connection, table, [(number, *row) for row in counted(result.events)])
        if standing:
            _insert(connection, "cases", [(number, *case) for case in standing.cases.items()])
        connection.execute("COMMIT")
        return runs_of(connection)[-1]


def checked(path: Path, basis: str) -> Checked | None:
    """The last check of a store on a basis, for an audit to start from; None where there is none."""
    if not path.exists():
        return None
    with opened(path) as connection:
        found = connection.execute(
            "SELECT run, surroundings FROM runs WHERE basis = $basis ORDER BY run DESC LIMIT 1",
            {"basis": basis},
        ).fetchone()
        if found is None:
            return None
        run, surroundings = found
        cases = connection.execute(
            "SELECT case_id, digest FROM cases WHERE run = $run", {"run": run}
        ).fetchall()
        verdict = ", ".join(f'"{name}"' for name in COLUMNS)
        norm, steps = (
            connection.execute(
                f"SELECT {verdict} FROM verdicts WHERE run = $run AND part = $part "
                'ORDER BY case_id, instance, "constraint"',
                {"run": run, "part": part},
            ).fetchall()
            for part in ("norm", "procedure")
        )
    return Checked(
        basis,
        surroundings_of(json.loads(surroundings)),
        dict(cases),
        tuple(verdicts_of(norm)),
        tuple(verdicts_of(steps)),
    )


def _insert(connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    if not rows:
        return
    columns = TABLES[table]
    unnested = (f"unnest(?::{kind.removesuffix(' PRIMARY KEY')}[])" for kind in columns.values())
    names = ", ".join(f'"{name}"' for name in columns)  # a store may have them in another order
    connection.execute(
        f"INSERT INTO {table} ({names}) SELECT {', '.join(unnested)}",
        [list(c) for c in zip(*rows, strict=True)],
    )


def _make(path: Path) -> None:
    """An empty store, put in place in one step; one that another run made meanwhile is as good."""
    check_file(path)
    try:
        with staging_folder(path.parent) as folder:
            staged = folder / f"store{path.suffix}"
            with duckdb.connect(staged, config=_CONFIGURATION) as connection:
                for table, columns in TABLES.items():
                    body = ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
                    connection.execute(f"CREATE TABLE {table} ({body})")
                connection.execute("INSERT INTO store VALUES (?)", [FORMAT])
            if not path.exists():
                os.link(staged, path)
    except FileExistsError:
        pass
    except (OSError, duckdb.Error) as error:
        why = error.strerror if isinstance(error, OSError) else one_line(str(error), 120)
        raise InputError(
            f"cannot be made ({why})", "name another place to write to", source=str(path)
        ) from None


@contextmanager
def opened(path: Path, *, write: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to a store, which reaches nothing else; waits while another run is writing there.

    Raises
    ------
    InputError
        There is no store, something else, one of another format, or it stays locked.
    """
    with open_regular(path, remedy="gnrs audit --store makes one") as file:
        if file.read(12)[8:] != b"DUCK":
            raise InputError("is no store of verdicts", _NAME_A_STORE, source=str(path))
    try:
        with _waited(path, lambda: duckdb.connect(path.resolve(), not write, _CONFIGURATION)) as connection:
            _check_tables(connection, path)
            yield connection
    except (duckdb.Error, UnicodeDecodeError) as error:  # DuckDB keeps a checksum of every block
        raise InputError(
            f"cannot be read or written as a store ({one_line(str(error), 160)})",
            "name a whole one, in a place with room",
            source=str(path),
        ) from None


def _waited(path: Path, connect: Callable[[], duckdb.DuckDBPyConnection]) -> duckdb.DuckDBPyConnection:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return connect()
        except (duckdb.IOException, duckdb.ConnectionException) as error:
            if "lock" not in str(error) and "different configuration" not in str(error):
                raise
        if time.monotonic() > end:
            raise InputError(
                "another run is writing there", "run this again when it has ended", source=str(path)
            )
        time.sleep(0.05)


def _check_tables(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    found: dict[str, dict[str, str]] = {}
    for table, column, kind in connection.execute(
        "SELECT table_name, column_name, data_type FROM information_schema.columns "
        "JOIN information_schema.tables USING (table_catalog, table_schema, table_name) "
        "WHERE table_type = 'BASE TABLE' ORDER BY ordinal_position"
    ).fetchall():
        found.setdefault(table, {})[column] = kind
    if "format" in found.get("store", {}):
        formats = connection.execute("SELECT format FROM store").fetchall()
        if formats != [(FORMAT,)]:
            problem = "is a store of another version of gnrs"
            raise InputError(problem, "name another file", source=str(path))
    standing = {
        table: {name: kind.removesuffix(" PRIMARY KEY") for name, kind in columns.items()}
        for table, columns in TABLES.items()
    }
    if {table: found.get(table) for table in TABLES} != standing:
        raise InputError("is a DuckDB file, but no store of verdicts", _NAME_A_STORE, source=str(path))


def read_runs(path: Path) -> list[Run]:
    """The runs of a store, in their order."""
    with opened(path) as connection:
        return runs_of(connection)


def runs_of(connection: duckdb.DuckDBPyConnection) -> list[Run]:
    """The runs of an opened store, in their order."""
    counted: dict[int, dict[Verdict, int]] = {}
    for run, verdict, rows in connection.execute(
        "SELECT run, verdict, count(*) FROM verdicts WHERE part = 'norm' GROUP BY ALL"
    ).fetchall():
        counted.setdefault(run, {})[verdict] = rows
    return [
        Run._make((number, *described, {v: counted.get(number, {}).get(v, 0) for v in VERDICTS}))
        for number, *described in connection.execute(
            "SELECT run, stored, rule, version, force, text, log, events, cases FROM runs ORDER BY run"
        ).fetchall()
    ]
