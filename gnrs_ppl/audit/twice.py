"""Local times that come twice: rows of an hour after which clocks are put back, read both ways (G8).

Where a row may stand at either of two instants, its case is copied, once for each way to read its rows, and a
verdict is reported where every reading gives it.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from gnrs_ppl.audit.calendar import changes
from gnrs_ppl.audit.sql import SqlStatement
from gnrs_ppl.context.log import EventLog
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.context.zone import zone_of

MOST = 4
"""Rows of a case that are read both ways: sixteen readings. A case with more of them is left undecided."""
EVENTS = "events_as_read"
"""The table of rows, in every reading of their cases."""


class Twice(NamedTuple):
    """From ``since`` to before ``ends`` (UTC) clocks stand ``ahead`` minutes east of UTC, and show what they show
    again when they are put ``back`` by so many minutes.
    """

    since: datetime
    ends: datetime
    ahead: int
    back: int


_OF_A_ROW = """SELECT e.case_id, e.event_id, t.back
               FROM events AS e ASOF JOIN {twice} AS t ON e."timestamp" >= t.since
               WHERE e."timestamp" < t.ends AND e."offset" = t.ahead AND e."grain" <> 'day'"""
_READ_ANEW = ("case_id", "event_id", "timestamp", "offset")
_SETTLED = {
    "verdict": "'indeterminate'",
    "reason": "'twice'",
    "witnesses": "[]",
    "due": "NULL",
    "due_offset": "NULL",
    "due_grain": "NULL",
    "slack_seconds": "NULL",
}
"""Columns of a verdict that every reading has to give, and what they hold where it does not."""
_KINDS = {"since": "TIMESTAMP", "ends": "TIMESTAMP", "ahead": "INTEGER", "back": "INTEGER"}


def shown_twice(records: RecordLayer, log: EventLog) -> tuple[tuple[Twice, ...], int]:
    """When the clocks by which a log is read show what comes twice, as far as its rows do, and how many of them
    may be meant either way.

    Parameters
    ----------
    records : RecordLayer
        A zone in it says that times without an offset are local; with an offset no time comes twice.
    log : EventLog
    """
    if records.zone is None or log.instants:
        return (), 0
    (days,) = log.one(
        'SELECT list(DISTINCT CAST("timestamp" AS DATE)) FROM events WHERE "timestamp" IS NOT NULL'
    )
    clock, minute = zone_of(records.zone), timedelta(minutes=1)
    found = {
        Twice(at - (before - after), at, round(before / minute), round((before - after) / minute))
        for day in days or ()
        for at, before, after in changes(clock, day, day)
        if after < before
    }
    twice = tuple(sorted(found))
    values = {f"twice_{column}": [getattr(t, column) for t in twice] for column in _KINDS}
    (rows,) = log.one(f"SELECT count(*) FROM ({_OF_A_ROW.format(twice=_table())}) AS t", values)
    return (twice, rows) if rows else ((), 0)


def _table() -> str:
    columns = (f"unnest(CAST($twice_{column} AS {kind}[])) AS {column}" for column, kind in _KINDS.items())
    return f"(SELECT {', '.join(columns)})"


def add_readings(st: SqlStatement, twice: tuple[Twice, ...], rows: str) -> None:
    """Add :data:`EVENTS`: the rows, and where a case can be read in several ways a copy of it for each further
    one; ``rows`` is the table of rows as they were read.
    """
    for column in _KINDS:
        st.bind(f"twice_{column}", [getattr(t, column) for t in twice])
    st.add("twice", "G8: when clocks show what they show again", f"SELECT * FROM {_table()} AS t", keep=True)
    st.add(
        "told_twice",
        "G8: rows that may stand at either of two instants, numbered in their case",
        f"""SELECT *, row_number() OVER (PARTITION BY case_id ORDER BY event_id) - 1 AS place
            FROM ({_OF_A_ROW.format(twice="twice")}) AS r""",
        keep=True,
    )
    most = st.bind("twice_most", MOST)
    mark = "CASE WHEN number > 0 THEN chr(1) || lpad(CAST(number AS VARCHAR), 2, '0') ELSE '' END"
    st.add(
        "readings",
        "G8: each way to read a case, the earlier instants first; of too many rows no way",
        f"""SELECT *, {mark} AS mark, case_id || {mark} AS copy
            FROM (SELECT *, unnest(range(readings)) AS number
                  FROM (SELECT case_id, count(*) <= {most} AS told,
                               CASE WHEN count(*) <= {most} THEN CAST(pow(2, count(*)) AS BIGINT) ELSE 1 END AS readings
                        FROM told_twice GROUP BY case_id) AS c) AS n""",
        keep=True,
    )
    later = "(r.number // CAST(pow(2, w.place) AS BIGINT)) % 2 = 1"
    st.add(
        EVENTS,
        "G8: the rows, and a copy of a case for each further reading",
        f"""SELECT {", ".join(f'e."{name}"' for name in st.columns if name not in _READ_ANEW)}, e.case_id AS written_case, e.event_id AS written_event,
                   coalesce(r.copy, e.case_id) AS case_id, e.event_id || coalesce(r.mark, '') AS event_id,
                   CASE WHEN {later} THEN e."timestamp" + to_minutes(w.back) ELSE e."timestamp" END AS "timestamp",
                   CASE WHEN {later} THEN e."offset" - w.back ELSE e."offset" END AS "offset"
            FROM {rows} AS e LEFT JOIN readings AS r ON r.case_id = e.case_id
            LEFT JOIN told_twice AS w ON w.event_id = e.event_id""",
        keep=True,
    )


def add_settled(
    st: SqlStatement,
    name: str,
    read: str,
    columns: tuple[str, ...] = (),
    *,
    kept: tuple[str, ...] = (),
    everywhere: bool,
) -> None:
    """Add the verdicts that every reading of a case gives, told as by the earlier instants; the others are
    indeterminate, ``twice``.

    Parameters
    ----------
    st : SqlStatement
    name : str
    read : str
        The verdicts of each reading.
    columns : tuple of str
        Columns of ``read`` beyond case, instance and constraint that tell its rows apart.
    kept : tuple of str
        Other columns of ``read`` beyond those of a verdict.
    everywhere : bool
        Whether an instance is left out that only some readings have, or may have.
    """
    key = ", ".join(("case_id", "instance", '"constraint"', *columns))
    same = ("instance", '"constraint"', "bearer", *kept, *columns)
    settled = ", ".join(
        f"CASE WHEN settled THEN {column} ELSE {other} END AS {column}" for column, other in _SETTLED.items()
    )
    st.add(
        name,
        "G8: what every reading says",
        f"""SELECT case_id, {", ".join(same)}, {settled}
            FROM (SELECT *, told AND found = readings AND min(verdict) OVER one = max(verdict) OVER one AS settled
                  FROM (SELECT *, count(*) OVER one AS found, row_number() OVER (PARTITION BY {key} ORDER BY number) AS nr
                        FROM (SELECT coalesce(r.case_id, v.case_id) AS case_id, {", ".join(f"v.{c}" for c in (*same, *_SETTLED))}, coalesce(r.number, 0) AS number,
                                     coalesce(r.readings, 1) AS readings, coalesce(r.told, TRUE) AS told
                              FROM {read} AS v LEFT JOIN readings AS r ON r.copy = v.case_id) AS n
                        WINDOW one AS (PARTITION BY {key})) AS c
                  WINDOW one AS (PARTITION BY {key})) AS s
            WHERE nr = 1{" AND told AND found = readings" if everywhere else ""}""",
    )
