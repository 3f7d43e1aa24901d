"""Begun and done: rows that say how far an act was, made into one row an act, with when it started kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from gnrs_ppl.context.types import Column
from gnrs_ppl.importing.columns import LIFECYCLE, Guess, letters
from gnrs_ppl.importing.staging import Staging

BEGUN = ("start", "started", "begin")
DONE = ("complete", "completed", "end")
INSTANCES = frozenset(
    {
        "conceptinstance",
        "activityinstance",
        "activityinstanceid",
        "instance",
        "handlingid",
        "taskid",
        "workitemid",
        "stepid",
        "actid",
        "operationid",
    }
)
"""Names, without case and signs, of columns that number each act of a case."""
STARTED = "started"


class Joined(NamedTuple):
    """How many rows of a start went into the row of their end, and what a person should know."""

    rows: int
    said: list[str]


def instant(cell: str) -> str:
    """SQL of seconds since 1970 for a cell that holds a time; one without offset is taken as UTC."""
    return f"epoch(TRY_CAST(replace({cell}, ',', '.') AS TIMESTAMPTZ))"


def join_pairs(staging: Staging, columns: Mapping[Column, Guess], time: str) -> Joined:
    """One row an act where a column says how far acts were.

    The k-th start of an act in a case belongs to its k-th end: of the same number where a column numbers
    acts, else of the same person first. Its row goes into the row of the end: ``started`` holds its time,
    ``start:NAME`` what else it said otherwise, and a cell that the end leaves empty is filled from it. What
    was not carried to its end, where others were, is set aside: scheduled, suspended or begun is not done.

    Parameters
    ----------
    staging : Staging
    columns : mapping
        Event-table column -> column of the source.
    time : str
        SQL of the cell that holds ISO times.
    """
    name = _column(staging, columns)
    if name is None:
        return Joined(0, [])
    activity, state = staging.cell(columns["activity"].value), f"lower({staging.cell(name)})"
    staging.connection.execute("SET TimeZone = 'UTC'")
    staging.connection.execute(
        "CREATE OR REPLACE TEMP TABLE stage AS SELECT row, "
        f"{staging.cell(columns['case_id'].value)} AS of_case, {activity} AS act, {instant(time)} AS moment, "
        f"CASE WHEN {state} IN {BEGUN} THEN 1 WHEN {state} IN {DONE} THEN 2 ELSE 0 END AS step FROM raw"
    )
    staging.connection.execute("CREATE OR REPLACE TEMP TABLE pair (begun BIGINT, done BIGINT)")
    number = _numbering(staging)
    who = columns.get("resource")
    if number is not None:
        _pair(staging, staging.cell(number), filled=True)
    if who is not None:
        _pair(staging, staging.cell(who.value), without=number)
    _pair(staging, "NULL", without=number)
    joined = staging.one("SELECT count(*) FROM pair")[0]
    said = _fold(staging, columns, name, time) if joined else []
    if joined:
        by = f"by {number!r}" if number else "as they come"
        said.insert(
            0,
            f"{joined:,} starts are joined to their ends {by} ({name!r}): one row an act, done when it "
            f"ended; {STARTED!r} says when it began",
        )
    for state_, count in _unfinished(staging, name, activity).items():
        said.append(
            f"{count:,} rows {state_!r} of acts that others carry to their end are set aside: the act is "
            "not done"
        )
    return Joined(joined, said)


def _column(staging: Staging, columns: Mapping[Column, Guess]) -> str | None:
    """The column that says how far acts were, where it says more than one thing."""
    taken = {guess.value for guess in columns.values()}
    names = sorted(staging.columns, key=lambda name: letters(name) != "lifecycletransition")
    for name in names:
        cell = staging.cell(name)
        if name in taken or staging.one(f"SELECT approx_count_distinct({cell}) FROM raw")[0] > 50:
            continue
        found = {
            row[0]
            for row in staging.rows_of(f"SELECT DISTINCT lower({cell}) FROM raw WHERE {cell} IS NOT NULL")
        }
        if len(found) > 1 and found <= LIFECYCLE and found & {*BEGUN, *DONE}:
            return name
    return None


def _numbering(staging: Staging) -> str | None:
    """The column that numbers each act: no number has two starts or two ends in its case and act."""
    for name in staging.columns:
        if letters(name) not in INSTANCES:
            continue
        cell = staging.cell(name)
        most, both = staging.one(
            "SELECT max(greatest(starts, ends)), count(*) FILTER (starts = 1 AND ends = 1) FROM (SELECT "
            f"count(*) FILTER (step = 1) AS starts, count(*) FILTER (step = 2) AS ends FROM stage JOIN raw "
            f"USING (row) WHERE {cell} IS NOT NULL AND step > 0 GROUP BY of_case, act, {cell})"
        )
        if most == 1 and both:
            return name
    return None


def _pair(staging: Staging, key: str, *, filled: bool = False, without: str | None = None) -> None:
    """Pair what is left, the first start with the first end; an end to which no start is open has none.

    ``owed`` counts ends that came before any start that could be theirs: the k-th start belongs to the end
    that is the k-th without them.
    """
    where = "step > 0 AND row NOT IN (SELECT begun FROM pair UNION ALL SELECT done FROM pair)"
    where += f" AND {key} IS NOT NULL" if filled else ""
    where += f" AND {staging.cell(without)} IS NULL" if without is not None else ""
    staging.connection.execute(
        f"""INSERT INTO pair
            WITH part AS (SELECT row, of_case, act, {key} AS kind, moment, step FROM stage JOIN raw USING (row) WHERE {where}),
            counted AS (SELECT *, count(CASE WHEN step = 1 THEN 1 END) OVER so_far AS starts,
                               count(CASE WHEN step = 2 THEN 1 END) OVER so_far AS ends FROM part
                        WINDOW so_far AS (PARTITION BY of_case, act, kind ORDER BY moment, step, row
                                          ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)),
            short AS (SELECT *, greatest(0, max(ends - starts) OVER (PARTITION BY of_case, act, kind ORDER BY moment, step, row
                                         ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) AS owed FROM counted),
            ended AS (SELECT *, coalesce(lag(owed) OVER (PARTITION BY of_case, act, kind ORDER BY moment, step, row), 0) AS before
                      FROM short)
            SELECT one.row, other.row FROM ended one JOIN ended other
                ON one.of_case = other.of_case AND one.act = other.act AND one.kind IS NOT DISTINCT FROM other.kind
                   AND one.starts = other.ends - other.owed
            WHERE one.step = 1 AND other.step = 2 AND other.owed = other.before"""
    )


def _fold(staging: Staging, columns: Mapping[Column, Guess], state: str, time: str) -> list[str]:
    """Put rows of starts into those of their ends; says which columns the two fill differently."""
    same_time = columns["timestamp"].value
    staging.connection.execute(
        "CREATE OR REPLACE TEMP TABLE begun AS SELECT done, raw.* FROM raw JOIN pair ON row = begun"
    )
    said = []
    for name in [*staging.columns]:
        if name in (state, same_time, columns["activity"].value, columns["case_id"].value):
            continue
        cell = staging.cell(name)
        differ, empty = staging.one(
            f"SELECT count(*) FILTER (raw.{cell} <> begun.{cell}), count(*) FILTER (raw.{cell} IS NULL) FROM raw JOIN begun "
            f"ON raw.row = begun.done WHERE begun.{cell} IS NOT NULL"
        )
        if differ:
            added = _add(staging, f"start:{name}")
            staging.connection.execute(
                f"UPDATE raw SET {added} = begun.{cell} FROM begun WHERE raw.row = begun.done AND raw.{cell} <> begun.{cell}"
            )
            said.append(f"{differ:,} starts have another {name!r} than their end, kept as 'start:{name}'")
        if empty:
            staging.connection.execute(
                f"UPDATE raw SET {cell} = begun.{cell} FROM begun WHERE raw.row = begun.done AND raw.{cell} IS NULL"
            )
    started = _add(staging, STARTED)
    staging.connection.execute(
        f"UPDATE raw SET {started} = begun.{time} FROM begun WHERE raw.row = begun.done"
    )
    staging.connection.execute("DELETE FROM raw WHERE row IN (SELECT begun FROM pair)")
    return said


def _add(staging: Staging, name: str) -> str:
    """A new column of the rows; its cell."""
    while name in staging.columns:
        name += "_"
    staging.columns.append(name)
    staging.connection.execute(f"ALTER TABLE raw ADD COLUMN {staging.cell(name)} VARCHAR")
    return staging.cell(name)


def _unfinished(staging: Staging, state: str, activity: str) -> dict[str, int]:
    """Set aside the rows of acts that were not carried to their end, of activities with ends on record;
    counts by what they say.
    """
    cell = staging.cell(state)
    where = f"lower({cell}) NOT IN {DONE} AND {activity} IN (SELECT act FROM stage WHERE step = 2)"
    return {
        text: staging.drop(
            f"{where} AND {cell} = $text", f"{text}, which is not the act done", {"text": text}
        )
        for (text,) in staging.rows_of(f"SELECT DISTINCT {cell} FROM raw WHERE {where} ORDER BY 1")
    }
