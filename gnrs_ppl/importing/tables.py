"""What the tables of a database become, whichever database it is: a table with a time is a channel, each of
its times an act, and what its rows refer to stands beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from gnrs_ppl.importing.columns import NAMES, SAMPLE, TIMED, letters, says_time
from gnrs_ppl.importing.phrases import phrase_of, singular
from gnrs_ppl.importing.staging import Found, Staging, text_of
from gnrs_ppl.importing.times import read_times
from gnrs_ppl.realize.english import words_of

MAX_TABLES = 500
"""Tables of a database."""
DEPTH = 2
"""Steps over which what a row refers to is read with it."""
WIDTH = 300
"""Columns of a row with what it refers to."""
CREATED = frozenset(
    {"", "create", "created", "creation", "insert", "inserted", "entry", "entered", "recorded"}
)
"""What a column is called whose time is when its row came to be."""
CHANGED = frozenset(
    {"update", "updated", "lastupdate", "lastupdated", "modified", "lastmodified", "modification", "changed"}
)
"""What a column is called whose time is when its row was changed last, whatever was done."""
PLANNED = frozenset(
    {
        "birth", "hire", "expiry", "expiration", "expires", "expected", "due", "required", "planned", "estimated",
        "target", "deadline", "valid", "until", "promised", "scheduled",
    }
)  # fmt: skip
"""Words of a column whose time is no time of an act: one to come, or of a person's life."""
PEOPLE = frozenset({*NAMES["resource"], "salesperson", "seller", "rep", "representative"})
"""Tables of those who act, in the singular."""


class Table(NamedTuple):
    """A table: declared type by column, its key where that is one column, and references: column -> (table,
    column).
    """

    name: str
    columns: dict[str, str]
    key: str | None
    references: dict[str, tuple[str, str]]


class Database(Protocol):
    """A database that is open and can only be read."""

    form: str

    def tables(self) -> list[Table]:
        """Its tables, at most ``MAX_TABLES``."""
        ...

    def quoted(self, name: str) -> str:
        """A name as its SQL takes it literally."""
        ...

    def rows(self, sql: str) -> Iterator[Sequence[Any]]:
        """What a query of quoted names gives."""
        ...


class Act(NamedTuple):
    """What a time of a table's rows says was done: the activity's name, the column, and a verb phrase."""

    name: str
    column: str
    phrase: str


class Timed(NamedTuple):
    """A table whose rows happened: its acts, and columns with the path of references each is read over."""

    table: Table
    acts: list[Act]
    paths: dict[str, tuple[tuple[str, ...], str]]


def read_tables(database: Database, staging: Staging, case: str | None) -> Found:
    """Stage the tables with a time.

    Raises
    ------
    InputError
        No table has a time, or no column or table of these is called ``case``.
    """
    tables = {table.name: table for table in database.tables()}
    tables = {name: _referring(table, tables) for name, table in tables.items()}
    found = Found(database.form)
    timed = _timed(database, tables, found)
    if not timed:
        raise staging.error(
            "has no table whose rows have a time",
            "name a column of times …_at or …_date, or declare it DATE or TIMESTAMP; its tables: "
            f"{', '.join(list(tables)[:12]) or 'none'}",
        )
    for one in timed:
        _stage(database, one, tables, staging)
    staging.finish()
    chosen, sure, why, kinds = _cases(staging, timed, tables, case)
    cell = f"c{len(staging.columns)}"
    for table in ("raw", "doubted"):
        staging.connection.execute(
            f"ALTER TABLE {table} ADD COLUMN {cell} VARCHAR; UPDATE {table} SET {cell} = {chosen}"
        )
    staging.columns.append("row case")
    found.hints = {
        "activity": ("row act", "a time of a table's rows is an act"),
        "timestamp": ("row at", "the time of the act"),
        "case_id": ("row case", why),
        "channel": ("row of", "a table is a log"),
    }
    found.sure["case_id"] = sure
    _hint_people(timed, tables, staging, found)
    found.told_activity = {act.name: act.phrase for one in timed for act in one.acts}
    found.said.insert(0, f"a case is {why}; --case takes {', '.join(kinds[:12])}")
    skipped = [name for name in tables if name not in {one.table.name for one in timed}]
    if skipped:
        found.said.append(
            f"tables without a time of an act, read only where a row refers to them: {', '.join(skipped[:20])}"
        )
    return found


def _referring(table: Table, tables: dict[str, Table]) -> Table:
    """A table with the references its columns' names tell where none are declared: ``customer_id``, or the
    name of another table's key.
    """
    references = {c: to for c, to in table.references.items() if to[0] in tables}
    for column in table.columns:
        if column in references or column == table.key:
            continue
        for other in tables.values():
            own = other.key is not None and other.name != table.name
            plain = letters(column)
            if own and plain in (f"{letters(singular(other.name))}id", f"{letters(other.name)}id"):
                references[column] = (other.name, str(other.key))
                break
    resolved = {
        c: (to, column or str(tables[to].key))
        for c, (to, column) in references.items()
        if column or tables[to].key
    }
    return table._replace(references=resolved)


# Times


def _timed(database: Database, tables: dict[str, Table], found: Found) -> list[Timed]:
    timed, rewritten = [], {}
    for table in tables.values():
        acts = {c: subject for c in table.columns if (subject := _subject(database, table, c)) is not None}
        plans = [c for c, subject in acts.items() if {*subject.split()} & PLANNED]
        changes = [c for c, subject in acts.items() if letters(subject) in CHANGED]
        happened = {c: subject for c, subject in acts.items() if c not in plans and c not in changes}
        if plans:
            found.said.append(f"table {table.name!r}: no times of acts: {', '.join(plans)}")
        if happened:
            timed.append(Timed(table, _acts(table, happened), _paths(table, tables)))
        elif changes:
            rewritten[table.name] = changes[0]
    if not timed:
        timed = [
            Timed(tables[name], _acts(tables[name], {column: ""}), _paths(tables[name], tables))
            for name, column in rewritten.items()
        ]
    elif rewritten:
        found.said.append(
            f"tables whose only time says when a row was changed last, whatever was done: {', '.join(rewritten)}"
        )
    for one in timed:
        told = ", ".join(f"{act.column!r} ({act.phrase})" for act in one.acts)
        found.said.append(f"table {one.table.name!r}: {told}")
    return timed


def _subject(database: Database, table: Table, column: str) -> str | None:
    """What a column of times says beside that it is one, as words; None where it holds no times."""
    declared = table.columns[column].upper()
    words = words_of(column).split()
    if not (says_time(column) or "DATE" in declared or "TIME" in declared):
        return None
    cell = database.quoted(column)
    query = f"SELECT {cell} FROM {database.quoted(table.name)} WHERE {cell} IS NOT NULL"
    texts = [text_of(row[0]) for row, _ in zip(database.rows(query), range(SAMPLE), strict=False)]
    read = read_times(texts).written
    if not texts or sum(read[text] is not None for text in texts) < 0.9 * len(texts):
        return None
    return " ".join(word for word in words if word not in TIMED)


def _acts(table: Table, times: dict[str, str]) -> list[Act]:
    """The acts of a table's times: that of the row itself has the table's name, the others theirs too."""
    thing = words_of(singular(table.name))

    def rank(column: str) -> tuple[bool, int]:
        subject = letters(times[column])
        return not (subject in CREATED or letters(table.name).startswith(subject)), list(times).index(column)

    first = min(times, key=rank)
    acts = []
    for column, subject in times.items():
        own = letters(subject) in CREATED or letters(table.name).startswith(letters(subject))
        phrase = f"record the {thing}"
        if not own:
            told = phrase_of(f"{thing} {subject}") if subject.endswith("ed") else phrase_of(subject)
            phrase = told.verb if thing in told.verb else f"{told.verb} the {thing}" if told.verb else phrase
            if told.verb.startswith("carry out"):
                phrase = f"{told.verb} of the {thing}"
            elif phrase_of(thing).verb == told.verb.partition(" ")[0]:
                phrase = f"record the {thing}"  # pay the payment
        acts.append(Act(table.name if column == first else f"{table.name} {column}", column, phrase))
    return acts


# Rows


def _paths(table: Table, tables: dict[str, Table]) -> dict[str, tuple[tuple[str, ...], str]]:
    """Columns of a table and of what it refers to, in up to ``DEPTH`` steps: name -> (references, column)."""
    found: dict[str, tuple[tuple[str, ...], str]] = {name: ((), name) for name in table.columns}
    waiting: list[tuple[tuple[str, ...], Table]] = [((), table)]
    seen = {table.name}
    while waiting:
        path, here = waiting.pop(0)
        for column, (name, key) in here.references.items():
            other = tables[name]
            if len(path) == DEPTH or name in seen or len(found) + len(other.columns) > WIDTH:
                continue
            seen.add(name)
            way = (*path, column)
            for inner, kind in other.columns.items():
                if inner != key and not any(word in kind.upper() for word in ("BLOB", "BYTEA", "BINARY")):
                    found[".".join([*way, inner])] = (way, inner)
            waiting.append((way, other))
    return found


def _stage(database: Database, one: Timed, tables: dict[str, Table], staging: Staging) -> None:
    """A row for each time of a table's rows that is there; one without any is set aside later."""
    quoted = database.quoted
    joins: list[str] = []
    names: dict[tuple[str, ...], str] = {(): "t0"}
    for way, _ in one.paths.values():
        if way in names:
            continue
        names[way] = f"t{len(names)}"
        holder = one.table
        for step in way[:-1]:
            holder = tables[holder.references[step][0]]
        other, key = holder.references[way[-1]]
        joins.append(
            f"LEFT JOIN {quoted(other)} AS {names[way]} ON {names[way[:-1]]}.{quoted(way[-1])} = "
            f"{names[way]}.{quoted(key)}"
        )
    cells = ", ".join(f"{names[way]}.{quoted(column)}" for way, column in one.paths.values())
    query = f"SELECT {cells} FROM {quoted(one.table.name)} AS t0 {' '.join(joins)}"
    for values in database.rows(query):
        row = {
            name: text_of(value) for name, value in zip(one.paths, values, strict=True) if value is not None
        }
        row["row of"] = one.table.name
        done = [act for act in one.acts if row.get(act.column)]
        for act in done or one.acts[:1]:
            staging.add(row | {"row act": act.name, "row at": row.get(act.column, "")})


# Cases


def _cases(
    staging: Staging, timed: list[Timed], tables: dict[str, Table], case: str | None
) -> tuple[str, float, str, list[str]]:
    """SQL of a row's case, how sure that is, why, and what else a case may be.

    A case is a row of some table, which rows of tables with times are or refer to: the one that most rows
    reach and that has some different acts, not many rows, each.
    """
    kinds: dict[str, dict[str, str]] = {}
    for one in timed:
        if one.table.key is not None:
            kinds.setdefault(one.table.name, {})[one.table.name] = one.table.key
        for name, (way, column) in one.paths.items():
            holder = one.table
            for step in way:
                holder = tables[holder.references[step][0]]
            if column in holder.references:
                kinds.setdefault(holder.references[column][0], {}).setdefault(one.table.name, name)
    columns = {name for one in timed for name in one.table.columns}
    offered = list(dict.fromkeys([*kinds, *(name for k in kinds.values() for name in k.values())]))
    if case is not None:
        if case in kinds:
            return _choice(staging, kinds[case]), 1.0, f"a row of {case!r}, told", offered
        if case in columns:
            return staging.cell(case), 1.0, f"a value of {case!r}, told", offered
        raise staging.error(
            f"no column or table {case!r} among those with times",
            f"it has {', '.join(offered[:12])}",
            "--case",
        )
    rows = staging.one("SELECT count(*) FROM raw")[0]
    best: tuple[float, str, str] | None = None
    act = staging.cell("row act")
    for kind, places in kinds.items():
        sql = _choice(staging, places)
        reached, cases, acts = staging.one(
            f"SELECT sum(n), count(*), avg(acts) FROM (SELECT count(*) AS n, count(DISTINCT {act}) AS acts FROM raw "
            f"WHERE ({sql}) IS NOT NULL GROUP BY {sql})"
        )
        if not cases:
            continue
        each = float(reached) / cases
        score = float(reached) / rows * min(1.0, float(acts) / 2) * min(1.0, 50 / each)
        score *= (1 - 0.01 * min(each, 50.0)) * (0.3 if each < 1.5 else 1.0)
        said = f"a row of {kind!r} ({cases:,} of them, {acts:.1f} different acts each)"
        if best is None or score > best[0]:
            best = (score, sql, said)
    if best is None:
        first = timed[0].table
        name = next((c for c in first.columns if letters(c).endswith("id")), next(iter(first.columns)))
        said = f"a value of {name!r}, guessed 0.20: the first column that looks like a number of something"
        return staging.cell(name), 0.2, said, list(columns)
    sure = round(0.2 + 0.7 * best[0], 2)
    return best[1], sure, f"{best[2]}, guessed {sure:.2f}", offered


def _choice(staging: Staging, places: dict[str, str]) -> str:
    """SQL of the column that holds the case of a row, by the row's table."""
    whens = " ".join(
        "WHEN '" + table.replace("'", "''") + f"' THEN {staging.cell(name)}"
        for table, name in places.items()
        if name in staging.columns
    )
    return f"CASE {staging.cell('row of')} {whens} END" if whens else "NULL"


def _hint_people(timed: list[Timed], tables: dict[str, Table], staging: Staging, found: Found) -> None:
    """Who acted, and as what: a reference to a table of people who act, the nearest one."""
    for one in sorted(timed, key=lambda one: -len(one.acts)):
        for name, (way, column) in sorted(one.paths.items(), key=lambda path: len(path[1][0])):
            holder = one.table
            for step in way:
                holder = tables[holder.references[step][0]]
            to = holder.references.get(column)
            if to is None or letters(singular(to[0])) not in PEOPLE or name not in staging.columns:
                continue
            found.hints["resource"] = (name, f"refers to {to[0]!r}")
            found.sure["resource"] = 0.7 if not way else 0.4
            title = next((c for c in tables[to[0]].columns if letters(c) in (*NAMES["role"], "title")), None)
            role = f"{name}.{title}"
            if title is not None and role in staging.columns:
                found.hints["role"] = (role, f"of the one in {to[0]!r}")
                found.sure["role"] = found.sure["resource"]
            return
