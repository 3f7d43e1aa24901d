"""Begun and done: rows that say how far an act was, made into one row an act, with when it started kept."""

from __future__ import annotations

from collections.abc import Mapping, Set
from operator import itemgetter
from typing import NamedTuple

from gnrs_ppl.context.limits import LONGEST_NAME
from gnrs_ppl.context.types import Column
from gnrs_ppl.errors import one_line
from gnrs_ppl.importing.columns import LIFECYCLE, Guess, Step, letters
from gnrs_ppl.importing.staging import Staging
from gnrs_ppl.safe_text import visible

NAMED = ("lifecycletransition", "lifecycle", "transition", "lifecyclestate")
"""Names, without case and signs, of columns that say how far an act was, whatever their words."""
TAKEN: dict[Step, str] = {
    "start": "begun",
    "complete": "done",
    "ignore": "not the act done",
    "own": "an act of its own",
}
MOST_WORDS = 50
LONGEST_WORD = 60
INSTANCES = frozenset(
    """
    conceptinstance activityinstance activityinstanceid instance handlingid taskid workitemid stepid
    actid operationid
    """.split()
)
"""Names, without case and signs, of columns that number each act of a case."""
STARTED = "started"


class Word(NamedTuple):
    """A word that says how far acts were: its rows, and what it was taken as."""

    word: str
    rows: int
    taken_as: Step


class Joined(NamedTuple):
    """How many rows of a start went into the row of their end, what a person should know, and the words of the
    column that says how far acts were.
    """

    rows: int = 0
    said: tuple[str, ...] = ()
    column: str = ""
    words: tuple[Word, ...] = ()


NOT_JOINED = Joined()


def instant(cell: str) -> str:
    """SQL of seconds since 1970 for a cell that holds a time; one without offset is taken as UTC."""
    return f"epoch(TRY_CAST(replace({cell}, ',', '.') AS TIMESTAMPTZ))"


def join_pairs(
    staging: Staging, columns: Mapping[Column, Guess], time: str, told: Mapping[str, Step] | None = None
) -> Joined:
    """One row an act where a column says how far acts were.

    The k-th start of an act in a case belongs to its k-th end: of the same number where a column numbers
    acts, else of the same person first. Its row goes into the row of the end: ``started`` holds its time,
    ``start:NAME`` what else it said otherwise, and a cell that the end leaves empty is filled from it. What
    was not carried to its end, where others were, is set aside: scheduled, suspended or begun is not done. A
    word that is not known makes an act of its own: check (failed).

    Parameters
    ----------
    staging : Staging
    columns : mapping
        Event-table column -> column of the source.
    time : str
        SQL of the cell that holds ISO times.
    told : mapping, optional
        Word -> what it says, as a person says.
    """
    stated = {_plain(word): step for word, step in (told or {}).items()}
    steps = LIFECYCLE | stated
    name, words, joins = _column(staging, columns, steps, stated.keys())
    if name is None:
        return NOT_JOINED
    if not joins:
        listed = ", ".join(f"{word.word} {word.rows:,}" for word in words)
        remark = (
            f"the words of {name!r} are not known ({listed}), so that each row counts as an act: --lifecycle "
            "WORD=start and WORD=complete say which begin and end one"
        )
        return Joined(said=(remark,), column=name, words=words)
    activity, cell = staging.cell(columns["activity"].value), staging.cell(name)
    staging.connection.execute("SET TimeZone = 'UTC'")
    staging.connection.execute(
        "CREATE OR REPLACE TEMP TABLE stage AS SELECT row, "
        f"{staging.cell(columns['case_id'].value)} AS of_case, {activity} AS act, {instant(time)} AS moment, "
        f"CASE WHEN {cell} IN (SELECT unnest($start)) THEN 1 WHEN {cell} IN (SELECT unnest($complete)) THEN 2 ELSE 0 "
        "END AS step FROM raw",
        {step: [word.word for word in words if word.taken_as == step] for step in ("start", "complete")},
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
    listed = ", ".join(f"{word.word} {word.rows:,} ({TAKEN[word.taken_as]})" for word in words)
    said = [f"{name!r} says how far acts were: {listed}"]
    if any(_plain(word.word) not in steps for word in words):
        said[0] += "; --lifecycle WORD=complete (start, ignore, own) says otherwise"
    folded = _fold(staging, columns, name, time) if joined else []
    if joined:
        by = f"by {number!r}" if number else "as they come"
        said.append(
            f"{joined:,} starts are joined to their ends {by} ({name!r}): one row an act, done when it "
            f"ended; {STARTED!r} says when it began"
        )
    said += folded
    for word in words:
        if word.taken_as in ("start", "ignore") and (
            count := _unfinished(staging, cell, activity, word.word)
        ):
            said.append(
                f"{count:,} rows {word.word!r} of acts that others carry to their end are set aside: the act is "
                "not done"
            )
    said += _apart(staging, cell, activity, words)
    return Joined(joined, tuple(said), name, words)


def _plain(word: str) -> str:
    """A word without case and signs, unless it is signs alone."""
    return letters(word) or word.strip().casefold()


def check_words(staging: Staging, joined: Joined, told: Mapping[str, Step]) -> None:
    """Raise InputError where the column that says how far acts were lacks a word that a person names."""
    there = {_plain(word.word) for word in joined.words}
    for word in told:
        if _plain(word) not in there:
            listed = ", ".join(repr(one_line(w.word, 40)) for w in joined.words[:12])
            raise staging.error(
                f"no column says with {one_line(word, 60)!r} how far an act was",
                f"name a word of {joined.column!r}: {listed}" if listed else "leave it out",
                "--lifecycle",
            )


def _column(
    staging: Staging, columns: Mapping[Column, Guess], steps: Mapping[str, Step], told: Set[str]
) -> tuple[str | None, tuple[Word, ...], bool]:
    """The column that says how far acts were, its words, and whether any of them begins or ends an act.

    It is one that holds a word a person names, or has one of ``NAMED`` for its name, or holds words for start and end
    and no others, or few others where an act of a case is begun and done.
    """
    taken = {guess.value for guess in columns.values()}
    found: list[tuple[tuple[bool, int], str, tuple[Word, ...], set[Step]]] = []
    for name in staging.columns:
        cell = staging.cell(name)
        if name in taken or staging.one(f"SELECT approx_count_distinct({cell}) FROM raw")[0] > 2 * MOST_WORDS:
            continue
        rows = staging.rows_of(
            f"SELECT {cell}, count(*) AS n FROM raw WHERE {cell} IS NOT NULL GROUP BY ALL ORDER BY n DESC, 1"
        )
        words = tuple(Word(word, count, steps.get(_plain(word), "own")) for word, count in rows)
        plain, means = {_plain(word.word) for word in words}, {word.taken_as for word in words}
        named = letters(name) in NAMED
        told_here = bool(told & plain)
        if not 0 < len(words) <= MOST_WORDS or not (told_here or (named and means != {"complete"})):
            if not means >= {"start", "complete"} or len(words) > MOST_WORDS:
                continue
            if not plain <= steps.keys() and not _mostly_known(staging, columns, cell, words):
                continue
        place = NAMED.index(letters(name)) if named else len(NAMED)
        found.append(((not told_here, place), name, words, means))
    if not found:
        return None, (), False
    _, name, words, means = min(found, key=itemgetter(0))
    return name, words, bool(means & {"start", "complete"})


def _mostly_known(
    staging: Staging, columns: Mapping[Column, Guess], cell: str, words: tuple[Word, ...]
) -> bool:
    """Whether most rows hold a known word, and some act of a case is begun and done."""
    known = sum(word.rows for word in words if word.taken_as != "own")
    case, activity = (staging.cell(columns[column].value) for column in ("case_id", "activity"))
    both = staging.one(
        f"SELECT count(*) FROM (SELECT 1 FROM raw GROUP BY {case}, {activity} "
        f"HAVING bool_or({cell} IN (SELECT unnest($start))) AND bool_or({cell} IN (SELECT unnest($complete))))",
        {step: [word.word for word in words if word.taken_as == step] for step in ("start", "complete")},
    )[0]
    return bool(both) and 2 * known >= sum(word.rows for word in words)


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


def _unfinished(staging: Staging, cell: str, activity: str, word: str) -> int:
    """Set aside the rows of a word of acts that were not carried to their end, where others of the activity were."""
    where = f"{activity} IN (SELECT act FROM stage WHERE step = 2) AND {cell} = $text"
    return staging.drop(where, f"{word}, which is not the act done", {"text": word}, understood=True)


def _apart(staging: Staging, cell: str, activity: str, words: tuple[Word, ...]) -> list[str]:
    """Name the rows that are neither begun nor done as acts of their own; says which, and what has no end."""
    said = []
    endless = staging.rows_of(
        f"SELECT {activity}, count(*) FROM raw WHERE {cell} IN (SELECT unnest($start)) GROUP BY ALL ORDER BY 2 DESC, 1",
        {"start": [word.word for word in words if word.taken_as == "start"]},
    )
    if endless:
        said.append(
            f"{sum(count for _, count in endless):,} starts of acts whose end is never recorded count as the act: "
            f"{', '.join(repr(name) for name, _ in endless[:5])}"
        )
    for word in words:
        if word.taken_as in ("own", "ignore"):
            label = f" ({visible(word.word)[:LONGEST_WORD]})"
            count = staging.one(f"SELECT count(*) FROM raw WHERE {cell} = $text", {"text": word.word})[0]
            for table in ("raw", "doubted"):
                staging.connection.execute(
                    f"UPDATE {table} SET {activity} = left({activity}, {LONGEST_NAME - len(label)}) || $label "
                    f"WHERE {cell} = $text",
                    {"text": word.word, "label": label},
                )
            if count:
                said.append(f"{count:,} rows {word.word!r} stand as acts of their own, named with it:{label}")
    return said
