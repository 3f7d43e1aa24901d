"""From rows of text to events: the columns that were guessed, readable times, and every row accounted for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple
from unicodedata import category
from zoneinfo import ZoneInfo

from gnrs_ppl.context.limits import LONGEST_NAME
from gnrs_ppl.context.log import ASIDE, alike
from gnrs_ppl.context.numbers import CERTAIN, DECIMALS, TOO_LONG, WHOLE, read_column, written
from gnrs_ppl.context.table import SET_ASIDE
from gnrs_ppl.context.types import COLUMNS, Column
from gnrs_ppl.errors import InputError, one_line
from gnrs_ppl.importing.columns import Guess, Step, guess_columns, letters
from gnrs_ppl.importing.lifecycle import NOT_JOINED, Joined, join_pairs
from gnrs_ppl.importing.staging import Found, Staging
from gnrs_ppl.importing.times import READY, Order, Taken, TimeFormat, read_times

NOTHING = (
    "empty",
    "unknown",
    "n/a",
    "na",
    "null",
    "none",
    "nil",
    "missing",
    "-",
    "?",
    "undefined",
    "nan",
    "not available",
)
"""Texts that stand for nothing in a column of people, roles, places or things."""
MAX_ACTIVITIES = 5000
"""Different activities that a log may have."""
NAMING: tuple[Column, ...] = ("resource", "role", "object", "location")
INTEGER = r"^-?(0|[1-9]\d{0,17})$"
DECIMAL = r"^-?(0|[1-9]\d{0,14})(\.\d{1,9})?$"
REAL = rf"^-?(0|[1-9]\d{{0,{WHOLE - 1}}})(\.\d{{1,{DECIMALS}}})?$"
SENTINEL = (
    r"([09]\d{3}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.][09]\d{3}|[09]\d{7})(\D.*)?|-?infinity"
)
"""A time of a year that no time is of, in the ways that dates are written."""
_STANDARD = {letters(column): column for column in COLUMNS}


class Reading(NamedTuple):
    """What a person says of the times: the zone of those without offset, the order of day and month, how they are
    written; and what words say how far an act was.
    """

    zone: ZoneInfo | None = None
    order: Order | None = None
    form: TimeFormat | None = None
    lifecycle: Mapping[str, Step] | None = None


class Attribute(NamedTuple):
    """A column of the source: its kind, range (of text: how many differ) and how many cells are empty.

    ``stored`` is the type of its numbers in the Parquet file, exact; none where one has more digits than that.
    """

    name: str
    kind: str
    low: str
    high: str
    distinct: int
    nulls: int
    stored: str = ""
    unit: str = ""


@dataclass
class Events:
    """Rows that can be used, with what their columns are.

    Attributes
    ----------
    columns : mapping
        Event-table column -> what was guessed; ``names`` has where it stands in the Parquet file.
    made : mapping
        Columns of the event table that the source does not hold as they are needed -> SQL over ``raw``.
    times : list of Taken
        How the cells of times were taken.
    lifecycle : Joined
        What was made of a column that says how far acts were.
    zone : str or None
        The zone that the times were read in.
    doubted : int
        Rows that were set aside and may be what a rule looks for.
    """

    staging: Staging
    columns: dict[Column, Guess]
    made: dict[str, str]
    attributes: list[Attribute]
    said: list[str]
    rows: int
    offsets: Counter[str]
    times: list[Taken]
    lifecycle: Joined = NOT_JOINED
    zone: str | None = None
    doubted: int = 0

    def cell(self, column: Column) -> str | None:
        """SQL of an event-table column over ``raw``; None where there is none."""
        if column in self.made:
            return self.made[column]
        return self.staging.cell(self.columns[column].value) if column in self.columns else None

    def where(self, column: Column) -> str:
        """Name of the column of the Parquet file that holds an event-table column."""
        return column if column in self.made else self.renamed(self.columns[column].value)

    def renamed(self, name: str) -> str:
        """Name of a source's column in the Parquet file: its own, unless it would be taken for a column of
        the event table.
        """
        standard = _STANDARD.get(letters(name))
        taken = name in self.made or (standard is not None and standard not in self.columns)
        return f"{name} (as read)" if taken else name

    def write(self, path: str) -> None:
        """Write the events as Parquet: event-table columns that had to be made, then those of the source as
        they are.
        """
        parts = [f'{sql} AS "{column}"' for column, sql in self.made.items()]
        mapped = {guess.value for guess in self.columns.values()}
        for attribute in self.attributes:
            cell = self.staging.cell(attribute.name)
            cast = f"::{attribute.stored}" if attribute.stored and attribute.name not in mapped else ""
            name = self.renamed(attribute.name).replace('"', '""')
            parts.append(f'{cell}{cast} AS "{name}"')
        parts += [f'NULL::VARCHAR AS "{column}"' for column in self._spare]
        aside = f", KV_METADATA {{{SET_ASIDE}: '{self.doubted}'}}" if self.doubted else ""
        self._copy(f"SELECT {', '.join(parts)} FROM raw ORDER BY row", path, aside)

    def write_doubted(self, path: str) -> None:
        """Write the rows that were set aside and may be what a rule looks for, as Parquet: their number, the reason,
        and the columns of the events as text, without a time that could not be read.
        """
        self.staging.widen()
        parts = [f'row::VARCHAR AS "{ASIDE[0]}"', f'reason AS "{ASIDE[1]}"']
        parts += [
            f'{"NULL::VARCHAR" if column == "timestamp" else sql} AS "{column}"'
            for column, sql in self.made.items()
        ]
        for attribute in self.attributes:
            name = self.renamed(attribute.name).replace('"', '""')
            if name not in ASIDE:
                parts.append(f'{self.staging.cell(attribute.name)} AS "{name}"')
        parts += [f'NULL::VARCHAR AS "{column}"' for column in self._spare]
        self._copy(f"SELECT {', '.join(parts)} FROM doubted ORDER BY row", path)

    @property
    def _spare(self) -> list[Column]:
        """Columns of the event table that are written empty, so that no other column is taken for a misspelt
        one.
        """
        return [c for c in COLUMNS if c not in self.columns and c not in self.made and c != "channel"]

    def _copy(self, select: str, path: str, further: str = "") -> None:
        target = path.replace("'", "''")
        self.staging.connection.execute(
            f"COPY ({select}) TO '{target}' (FORMAT parquet, COMPRESSION zstd{further})"
        )


def events_of(
    staging: Staging,
    found: Found,
    told: Mapping[str, str],
    ask: Reading | None = None,
) -> Events:
    """Guess the columns, read the times, set aside what cannot be used.

    Raises
    ------
    InputError
        No row can be used, or the rows do not come out as imported and set aside.
    """
    if staging.one("SELECT count(*) FROM raw") == (0,):
        why = "".join(f" ({reason}: {count:,})" for reason, count in staging.aside.reasons.most_common(1))
        raise staging.error(f"has no rows that could be read{why}", "give a log with events in it")
    ask = ask or Reading()
    columns = guess_columns(staging, found, told, ask.zone, ask.form)
    said = list(found.said)
    activity, case = staging.cell(columns["activity"].value), staging.cell(columns["case_id"].value)
    staging.connection.execute("CREATE TABLE no_name (text VARCHAR)")
    kinds = [column for column in ("activity", "channel", *NAMING) if column in columns]
    for column in kinds:
        _plain_names(staging, columns[column].value, said)
    staging.drop(f"{case} IS NULL", f"no case ({columns['case_id'].value} is empty)")
    staging.drop(f"{activity} IS NULL", f"no activity ({columns['activity'].value} is empty)")
    for column in ("activity", "channel"):
        if column in columns:
            cell = staging.cell(columns[column].value)
            staging.drop(
                _no_name(cell),
                f"{column} is no name: over {LONGEST_NAME} characters, or some that do not print",
            )
            staging.connection.execute(f"UPDATE doubted SET {cell} = NULL WHERE {_no_name(cell)}")
    if (uneven := staging.uneven_rows()) is not None:
        _align(staging, columns, uneven)
    cells = {column: staging.cell(columns[column].value) for column in kinds}
    said += alike(
        staging.connection,
        "("
        + " UNION ALL ".join(
            f"SELECT '{column}' AS kind, {cell} AS name, count(*) AS cells FROM raw WHERE {cell} IS NOT NULL GROUP BY ALL"
            for column, cell in cells.items()
        )
        + ")",
    )
    made: dict[str, str] = {}
    time, taken = _read_times(staging, columns, made, said, ask)
    joined = join_pairs(staging, columns, time, ask.lifecycle)
    said += joined.said
    offsets = _offsets(staging, time)
    for column in NAMING:
        if column in columns:
            _blank_placeholders(staging, columns[column], column, made, said)
    rows = staging.one("SELECT count(*) FROM raw")[0]
    aside = staging.aside.rows
    if rows + joined.rows + aside != staging.read:
        raise staging.error(
            f"its {staging.read:,} rows are not the {rows:,} imported, {joined.rows:,} joined and {aside:,} "
            "set aside",
            "write the file again",
        )
    if not rows:
        reason, count = staging.aside.reasons.most_common(1)[0]
        raise staging.error(
            f"none of its {staging.read:,} rows can be used ({reason}: {count:,})",
            f"say which column is what: --column NAME=COLUMN (it has {', '.join(staging.columns[:12])})",
        )
    distinct = staging.one(f"SELECT count(DISTINCT {activity}) FROM raw")[0]
    if distinct > MAX_ACTIVITIES:
        raise staging.error(
            f"column {columns['activity'].value!r} holds {distinct:,} different activities, more than "
            f"{MAX_ACTIVITIES:,}",
            "say another: --column activity=NAME",
        )
    mapped = {guess.value for guess in columns.values()}
    units = {name: _make_plain(staging, name, said) for name in staging.columns if name not in mapped}
    attributes = _attributes(staging, units)
    named = ask.zone.key if ask.zone else None
    doubted = staging.one("SELECT count(*) FROM doubted")[0]
    return Events(staging, columns, made, attributes, said, rows, offsets, taken, joined, named, doubted)


def _align(staging: Staging, columns: Mapping[Column, Guess], uneven: str) -> None:
    """Say of rows with a cell too few or too many which case and activity they name, where that is certain: the
    cells before the fault count from the first, those behind it from the last, and a cell that holds what its
    column holds elsewhere shows that all before it, or behind it, are in place.
    """
    of_case, of_act = (staging.columns.index(columns[c].value) for c in ("case_id", "activity"))
    fits = ", ".join(
        f"{side}{i} IN (SELECT c{i} FROM raw) AS {side}_{name}"
        for side in ("first", "last")
        for i, name in ((of_case, "case"), (of_act, "act"))
    )
    first = f"first_act AND {of_case < of_act} OR first_case AND ({of_case == 0} OR first_act OR coalesce(first{of_act}, '') = '')"
    last = f"last_act AND {of_case > of_act} OR last_case AND last_act"
    cells = {
        of_case: (f"coalesce({first}, FALSE)", f"coalesce({last}, FALSE)"),
        of_act: ("coalesce(first_act, FALSE)", "coalesce(last_act, FALSE)"),
    }
    known = ", ".join(
        f"nullif(CASE WHEN {one} AND {other} THEN CASE WHEN first{i} = last{i} THEN first{i} END "
        f"WHEN {one} THEN first{i} WHEN {other} THEN last{i} END, '') AS c{i}"
        for i, (one, other) in cells.items()
    )
    staging.connection.execute(
        f"INSERT INTO doubted BY NAME SELECT row, reason, {known} FROM (SELECT *, {fits} FROM {uneven}) AS u"
    )


def _read_times(
    staging: Staging, columns: dict[Column, Guess], made: dict[str, str], said: list[str], ask: Reading
) -> tuple[str, list[Taken]]:
    """Set aside the rows whose time cannot be read; SQL of the cell that holds it as ISO 8601, and how cells
    were taken.

    Raises
    ------
    InputError
        No cell can be read.
    """
    name, zone, form = columns["timestamp"].value, ask.zone, ask.form
    cell = staging.cell(name)
    staging.drop(f"{cell} IS NULL", f"no time ({name} is empty)")
    as_it_stands = f"regexp_full_match({cell}, '{READY}') AND TRY_CAST(left({cell}, 10) AS DATE) IS NOT NULL"
    other = "true" if zone or form else f"NOT ({as_it_stands})"
    cells = dict(
        staging.rows_of(f"SELECT {cell}, count(*) FROM raw WHERE {other} GROUP BY ALL ORDER BY min(row)")
    )
    others = staging.one("SELECT count(*) FROM raw")[0] - sum(cells.values())
    times = read_times(cells, zone, ask.order, form, others)
    unread = [text for text, written in times.written.items() if written is None]
    if unread and not others and len(unread) == len(cells):
        raise _no_times(staging, name, unread[0], times.unread.get(unread[0]), form)
    if unread:
        usual = (
            f"{name} is not written as {form.text}"
            if form
            else f"{name} is no time that can be read, of a year from 1001 to 8999"
        )
        reasons = {text: f"{name}: {times.unread[text]}" for text in unread if text in times.unread}
        beyond = f"{name} is of a year outside 1001 to 8999: a sentinel, such as 9999-12-31, or mistyped"
        reasons |= {text: beyond for text in unread if re.fullmatch(SENTINEL, text)}
        known = [reason for reason, _ in Counter(reasons.values()).most_common(10)]
        why = {text: reason if (reason := reasons.get(text)) in known else usual for text in unread}
        staging.connection.execute(
            "CREATE TABLE unread AS SELECT unnest($texts::VARCHAR[]) AS text, unnest($why::VARCHAR[]) AS why",
            {"texts": list(why), "why": list(why.values())},
        )
        for reason in dict.fromkeys(why.values()):
            where = f"{cell} IN (SELECT text FROM unread WHERE why = $reason)"
            staging.drop(where, reason, {"reason": reason})
    changed = {
        text: written for text, written in times.written.items() if written is not None and written != text
    }
    if changed:
        staging.connection.execute(
            "CREATE TABLE times AS SELECT unnest($texts::VARCHAR[]) AS text, unnest($written::VARCHAR[]) AS written",
            {"texts": list(changed), "written": list(changed.values())},
        )
        staging.connection.execute(
            f"ALTER TABLE raw ADD COLUMN iso VARCHAR; UPDATE raw SET iso = {cell}; "
            f"UPDATE raw SET iso = written FROM times WHERE {cell} = text"
        )
        made["timestamp"] = "iso"
        read = f"read in {zone.key}" if zone else f"read as {form.text}" if form else "written as ISO 8601"
        said.append(f"times in {name!r} are {read}")
    said += [taken.sentence(name) for taken in times.taken]
    return made.get("timestamp", cell), times.taken


def _no_times(
    staging: Staging, name: str, example: str, why: str | None, form: TimeFormat | None
) -> InputError:
    """The error that no cell of a column is a time, with what would mend it."""
    shown = one_line(example, 60)
    if form is not None:
        return staging.error(
            f"no cell of {name!r} is written as {form.text}, such as {shown!r}",
            "correct --time-format, or leave it out",
            "--time-format",
        )
    columns = ", ".join(column for column in staging.columns[:12] if column != name)
    return staging.error(
        f"no cell of {name!r} is a time, such as {shown!r}"
        + (
            f" ({why})"
            if why
            else " (tried: days and months in every order and seven languages, numbers since 1970)"
        ),
        "say how they are written, as in --time-format '%d-%m-%Y %H:%M', or name another column: "
        f"--column timestamp=NAME (of {columns})",
    )


def _offsets(staging: Staging, time: str) -> Counter[str]:
    """How many times carry which offset; ``date`` counts those without a clock."""
    suffix = (
        f"CASE WHEN length({time}) <= 10 THEN 'date' ELSE regexp_extract(substr({time}, 11), "
        f"'(Z|[+-]\\d{{2}}:?\\d{{2}})$', 1) END"
    )
    return Counter(dict(staging.rows_of(f"SELECT {suffix}, count(*) FROM raw GROUP BY ALL")))


def fill(staging: Staging, table: str, rows: list[tuple[str, ...]]) -> None:
    """Put rows of text into a table."""
    if rows:
        columns = [list(column) for column in zip(*rows, strict=True)]
        cells = ", ".join("unnest(?::VARCHAR[])" for _ in columns)
        staging.connection.execute(f"INSERT INTO {table} SELECT {cells}", columns)


def is_name(text: str) -> bool:
    """Whether a text can stand as a name in a schema."""
    return 0 < len(text) <= LONGEST_NAME and text == text.strip() and text.isprintable()


def plain_name(text: str) -> str:
    """A text with white space of all kinds as a space, and without joiners, directions and soft hyphens."""
    shown = "".join(" " if c.isspace() else c for c in text if category(c) != "Cf")
    return re.sub(" {2,}", " ", shown).strip()


def _plain_names(staging: Staging, name: str, said: list[str]) -> None:
    """Write the names of a column so that they print; those that cannot go into table ``no_name``."""
    cell = staging.cell(name)
    odd = staging.rows_of(
        f"SELECT {cell}, count(*) FROM raw WHERE length({cell}) > {LONGEST_NAME} OR "
        f"regexp_matches({cell}, '[^ -~]') GROUP BY ALL ORDER BY ALL"
    )
    names = {text: (plain_name(text), count) for text, count in odd if not is_name(text)}
    spelt = {text: plain for text, (plain, _) in names.items() if is_name(plain)}
    fill(staging, "no_name", [(text,) for text in names if text not in spelt])
    if not spelt:
        return
    staging.connection.execute("CREATE OR REPLACE TEMP TABLE spelt (text VARCHAR, plain VARCHAR)")
    fill(staging, "spelt", list(spelt.items()))
    for table in ("raw", "doubted"):
        staging.connection.execute(f"UPDATE {table} SET {cell} = plain FROM spelt WHERE {cell} = text")
    said.append(
        f"{sum(names[text][1] for text in spelt):,} cells of {name!r} hold signs or spaces that do not print "
        f"and are read without: {one_line(next(iter(spelt.values())), 60)!r}"
    )


def _no_name(cell: str) -> str:
    """SQL: whether a cell that is not empty cannot stand as a name."""
    return f"({cell} IN (SELECT text FROM no_name))"


def _blank_placeholders(
    staging: Staging, guess: Guess, column: str, made: dict[str, str], said: list[str]
) -> None:
    cell = staging.cell(guess.value)
    blank = f"list_contains([{', '.join(repr(text) for text in NOTHING)}], lower({cell}))"
    staging.widen()
    rows = f"(SELECT {cell} FROM raw UNION ALL SELECT {cell} FROM doubted)"
    found = staging.rows_of(f"SELECT {cell}, count(*) FROM {rows} WHERE {blank} GROUP BY ALL ORDER BY ALL")
    odd = staging.one(f"SELECT count(*) FROM {rows} WHERE {_no_name(cell)}")[0]
    if odd:
        said.append(f"{odd:,} cells of {guess.value!r} are no names and are read as {column} not recorded")
    if not found and not odd:
        return
    for table in ("raw", "doubted"):
        staging.connection.execute(
            f"ALTER TABLE {table} ADD COLUMN {column}_read VARCHAR; UPDATE {table} SET {column}_read = "
            f"CASE WHEN {blank} OR {_no_name(cell)} THEN NULL ELSE {cell} END"
        )
    made[column] = f"{column}_read"
    for text, count in found:
        said.append(f"{count:,} cells {text!r} in {guess.value!r} are taken as {column} not recorded")


def _make_plain(staging: Staging, name: str, said: list[str]) -> str | None:
    """Make the numbers of a column plain decimals; the unit that they are written with, None where they are
    none, or are plain already.
    """
    cell = staging.cell(name)
    odd = f"{cell} IS NOT NULL AND NOT regexp_full_match({cell}, '{CERTAIN}')"
    nothing = f"list_contains([{', '.join(map(repr, NOTHING))}], lower({cell}))"
    others, words = staging.one(
        f"SELECT count(*) FILTER ({odd}), count(*) FILTER ({odd} AND NOT {nothing} AND NOT "
        f"regexp_matches({cell}, '[0-9]')) FROM raw"
    )
    if not others or words:
        return None
    rows = staging.rows_of(f"SELECT {cell}, count(*) FROM raw WHERE {odd} GROUP BY ALL ORDER BY min(row)")
    (certain,) = staging.one(f"SELECT max_by({cell}, contains({cell}, '.')::INT) FROM raw WHERE NOT ({odd})")
    blank = {text: n for text, n in rows if text.lower() in NOTHING}
    cells = {text: n for text, n in rows if text not in blank}
    if not (cells or certain) or not all(map(written, cells)):
        return None
    column = read_column(cells | ({certain: 1} if certain else {}))
    unclear = next(((why, of) for why, of in column.because.items() if why != TOO_LONG), None)
    if unclear is not None:
        said.append(
            f"{name!r} is kept as text: {unclear[1][0]!r} {unclear[0]}; to read numbers, declare it by hand"
        )
        return None
    plain = {text: column.plain[text] or text for text in cells} | dict.fromkeys(blank)
    changed = [text for text in cells if plain[text] != text]
    staging.connection.execute(
        "CREATE TABLE numbers AS SELECT unnest(?::VARCHAR[]) AS written, unnest(?::VARCHAR[]) AS plain",
        [list(plain), list(plain.values())],
    )
    staging.connection.execute(
        f"UPDATE raw SET {cell} = plain FROM numbers WHERE {cell} = written; DROP TABLE numbers"
    )
    for text, n in blank.items():
        said.append(f"{n:,} cells {text!r} in {name!r} are taken as not recorded")
    if changed:
        unit = f", in {column.unit}" if column.unit else ""
        count = sum(cells[text] for text in changed)
        said.append(
            f"{count:,} cells of {name!r} are read as numbers{unit} ({changed[0]!r} as {plain[changed[0]]})"
        )
    if column.guessed:
        said.append(f"{name!r}: {column.guessed!r} is read with a decimal point (a guess)")
    return column.unit


def _attributes(staging: Staging, units: Mapping[str, str | None]) -> list[Attribute]:
    found = []
    for name in staging.columns:
        cell = staging.cell(name)
        nulls, distinct, integers, decimals, reals, filled, low, high, least, most = staging.one(
            f"SELECT count(*) - count({cell}), count(DISTINCT {cell}), count(*) FILTER "
            f"(regexp_matches({cell}, $integer)), count(*) FILTER (regexp_matches({cell}, $decimal)), "
            f"count(*) FILTER (regexp_matches({cell}, $real)), count({cell}), min({cell}), max({cell}), "
            f"min(TRY_CAST({cell} AS DOUBLE)), max(TRY_CAST({cell} AS DOUBLE)) FROM raw",
            {"integer": INTEGER, "decimal": DECIMAL, "real": REAL},
        )
        if filled and (reals == filled or units.get(name) is not None):
            kind = "integer" if integers == filled else "number"
            # the narrowest stands last and counts
            stored = {
                reals: f"DECIMAL({WHOLE + DECIMALS}, {DECIMALS})",
                decimals: "DECIMAL(24, 9)",
                integers: "BIGINT",
            }
            exact = stored.get(filled, "")
            span = (f"{least:g}", f"{most:g}")
            found.append(Attribute(name, kind, *span, distinct, nulls, exact, units.get(name) or ""))
        else:
            found.append(
                Attribute(
                    name, "text" if filled else "empty", (low or "")[:40], (high or "")[:40], distinct, nulls
                )
            )
    return found
