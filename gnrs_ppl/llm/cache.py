"""Answers on disk: one SQLite table of JSON, written as each answer arrives, so that a killed run repeats
nothing that it had.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, get_args

from gnrs_ppl.errors import InputError
from gnrs_ppl.llm.redaction import redacted

Mode = Literal["off", "rw", "read-only", "refresh"]
"""``read-only``: a miss is an error and no server is needed; ``refresh``: ask anew and overwrite."""

LAYOUT = 1
BUSY_SECONDS = 30.0


def default_path() -> Path:
    """``$GNRS_CACHE_DIR/answers.sqlite``, else in the user's cache folder."""
    default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "gnrs-ppl"
    return Path(os.environ.get("GNRS_CACHE_DIR", default)) / "answers.sqlite"


def canonical(data: Mapping[str, Any]) -> str:
    """JSON with sorted keys, ASCII, no blanks: the same data is the same text."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)


def key_of(request: str) -> str:
    """sha256 of a request's canonical JSON."""
    return hashlib.sha256(request.encode()).hexdigest()


class Cache:
    """Request (canonical JSON) -> reply (JSON), in one file. Several processes may share it; what is in it is
    never executed.

    It keeps SQLite's rollback journal rather than a write-ahead log: one file to copy, also on network
    folders, for a millisecond a write.

    Parameters
    ----------
    path : Path
        The file; made with its folder unless read-only. Not touched in mode ``off``.
    mode : Mode

    Raises
    ------
    InputError
        Unknown mode, not a cache of this layout, not to be opened.
    """

    def __init__(self, path: Path | str, mode: Mode = "rw") -> None:
        if mode not in get_args(Mode):
            raise InputError(
                f"{mode!r} is no cache mode",
                f"choose {', '.join(get_args(Mode))}",
                source="arguments",
                field="cache",
            )
        self.path, self.mode = Path(path), mode
        self._connection = None if mode == "off" else self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def get(self, request: str) -> str | None:
        """The stored reply, or None on a miss and where the mode does not read.

        Raises
        ------
        InputError
            The file cannot be read.
        """
        if self._connection is None or self.mode == "refresh":
            return None
        row = self._run(
            self._connection, "SELECT reply FROM answers WHERE key = ?", (key_of(request),)
        ).fetchone()
        return redacted(str(row[0])) if row else None  # what an earlier version stored may hold a key

    def put(self, request: str, reply: str, seconds: float) -> None:
        """Store a reply without keys and how long it took, at once and whole; nothing where the mode does not
        write.

        Raises
        ------
        InputError
            The file cannot be written.
        """
        if self._connection is None or self.mode == "read-only":
            return
        now = datetime.now(UTC).isoformat(timespec="seconds")
        row = (key_of(request), redacted(request), redacted(reply), now, seconds)
        self._run(self._connection, "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", row)

    def close(self) -> None:
        """Close the file; the cache is of no use afterwards."""
        if self._connection is not None:
            self._connection.close()

    def _open(self) -> sqlite3.Connection:
        if self.mode == "read-only" and not self.path.is_file():
            raise InputError(
                "no such file", "a read-only cache must exist; check the path", source=str(self.path)
            )
        try:
            if self.mode != "read-only":
                self.path.parent.mkdir(parents=True, exist_ok=True)
            location = f"{self.path.absolute().as_uri()}?mode={'ro' if self.mode == 'read-only' else 'rwc'}"
            # a notebook asks from a second thread, one at a time
            connection = sqlite3.connect(
                location, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from None
        try:
            self._check_layout(connection)
        except InputError:
            connection.close()
            raise
        return connection

    def _check_layout(self, connection: sqlite3.Connection) -> None:
        if self.mode != "read-only":
            self._run(
                connection, "BEGIN IMMEDIATE"
            )  # whoever comes second, or after a kill, sees all of this or nothing
            if not self._run(connection, "SELECT count(*) FROM sqlite_master").fetchone()[0]:
                columns = (
                    "key TEXT PRIMARY KEY, request TEXT NOT NULL, reply TEXT NOT NULL, created TEXT "
                    "NOT NULL, seconds REAL NOT NULL"
                )
                self._run(connection, f"CREATE TABLE answers ({columns})")
                self._run(connection, f"PRAGMA user_version = {LAYOUT}")
            self._run(connection, "COMMIT")
        if self._run(connection, "PRAGMA user_version").fetchone()[0] != LAYOUT:
            raise InputError(
                "is not an answer cache of this version", "name another file", source=str(self.path)
            )

    def _run(
        self, connection: sqlite3.Connection, statement: str, values: tuple[Any, ...] = ()
    ) -> sqlite3.Cursor:
        try:
            return connection.execute(statement, values)
        except sqlite3.Error as error:
            raise self._unusable(error) from None

    def _unusable(self, error: Exception) -> InputError:
        return InputError(
            f"cannot be used as a cache ({error})",
            "name a file you may write to, or switch the cache off",
            source=str(self.path),
        )
