"""``gnrs lint``: numbered findings about a context and its records, each with its count, an example and what
mends it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.context.files import parse_json, parse_yaml, read_data, read_text, validated
from gnrs_ppl.context.load import NO_GOAL, Context, _ContextFile, check_names, nearest, to_json, with_log
from gnrs_ppl.context.log import _ISO, EventLog, resolved
from gnrs_ppl.context.output import check_file, write_all
from gnrs_ppl.context.time import GRAIN_LENGTH, Duration, coarsest
from gnrs_ppl.context.types import COLUMNS, Column, Kind, RecordLayer, Schema
from gnrs_ppl.context.zone import span
from gnrs_ppl.errors import InputError, one_line
from gnrs_ppl.reading.vocabulary import LIGHT, STOP, name_words, tokens_of
from gnrs_ppl.reading.ways import classes_of
from gnrs_ppl.reading.words import word
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.records.cells import Cells, read_cells
from gnrs_ppl.records.mend import Append, Edit, Rename, State, mended
from gnrs_ppl.records.names import PARTS, Use, known_names, spelling, told, uses, without
from gnrs_ppl.records.profile import doubled_rows, twins_of
from gnrs_ppl.rule.canonical import payloads
from gnrs_ppl.rule.types import Structure
from gnrs_ppl.words import PARTICLES

Severity = Literal["error", "warning", "note"]
"""What the rest of the tool refuses; what may make a verdict wrong; what is good to know."""
SEVERITIES: tuple[Severity, ...] = get_args(Severity)

ENOUGH = 20
"""Rows from which a column that never changes says nothing, and dates are no chance."""
MOST_NAMES = 200
"""Different values from which a column holds numbers of things, and no names for a schema."""
SHARE = 0.5
"""Share of an act's rows in the smaller log that must have a twin for the two logs to show one act."""
CLOCK_CHANGES = 2
"""Days in a year on which a clock may be set forward or back."""
_BEGINS = re.compile(r"(?:time)?(?:start|begin|started|begun)(?:time|timestamp|date|at|ed)?")
_QUALITIES = (
    "ly",
    "al",
    "ial",
    "ic",
    "ous",
    "ive",
    "able",
    "ible",
    "ful",
    "less",
    "ern",
    "ary",
    "ant",
    "ent",
)
"""Endings of adjectives and adverbs, of which the dictionary has none: it is of verbs and nouns."""
_FIRST = 3
_COLUMN: dict[str, Kind] = {"activity": "action", "role": "role", "location": "location", "object": "object"}


class Finding(NamedTuple):
    """One thing that is wrong.

    Attributes
    ----------
    code : str
        Stays the same from version to version.
    where : str
        Field of the context, or channel, column or act of the log.
    amount : int
        Rows, names or cases that it is about.
    names : frozenset of (kind, name)
        What it is about, in the terms of a rule; columns of the log are of kind ``column``.
    edits : tuple of Edit
        A change to the context that is safe: it can make no verdict another one, and loses nothing.
    """

    code: str
    severity: Severity
    where: str
    problem: str
    amount: int
    example: str
    fix: str
    names: frozenset[tuple[str, str]] = frozenset()
    edits: tuple[Edit, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """As plain data for JSON."""
        return {
            "code": self.code,
            "severity": self.severity,
            "where": self.where,
            "problem": self.problem,
            "count": self.amount,
            "example": self.example,
            "fix": self.fix,
            "safe_fix": bool(self.edits),
        }


class Found(NamedTuple):
    """A finding before it has its number; see :class:`Finding`."""

    where: str
    problem: str
    amount: int
    example: str
    fix: str
    names: frozenset[tuple[str, str]] = frozenset()
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class Material:
    """What the checks look at.

    Attributes
    ----------
    data : mapping
        The context as its file has it.
    schema, records
        Without the names that are not declared.
    cells : Cells or None
        The log as it stands in its file; None where there is none to look at.
    log : EventLog or None
        None where it is refused.
    refused : tuple of InputError
        What stops the context from being used.
    """

    data: Mapping[str, Any]
    schema: Schema
    records: RecordLayer
    cells: Cells | None
    log: EventLog | None
    refused: tuple[InputError, ...] = ()

    @cached_property
    def recorded(self) -> dict[Kind, dict[str, int]]:
        """Kind -> name -> rows; of kinds that only a few names are recorded of."""
        found: dict[Kind, dict[str, int]] = {}
        for column, kind in [*_COLUMN.items(), ("channel", "channel")]:
            found[kind] = dict(
                self.rows(
                    f'SELECT "{column}", count(*) FROM events WHERE "{column}" IS NOT NULL GROUP BY ALL '
                    "ORDER BY ALL"
                )
            )
        return found

    @cached_property
    def declared(self) -> dict[str, list[str]]:
        """Kind -> names."""
        return known_names(self.data)

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """Names at all places of the file."""
        return tuple(uses(self.data))

    def rows(self, sql: str, parameters: dict[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """What a query over the log gives."""
        return self.log.connection.execute(sql, parameters or {}).fetchall() if self.log is not None else []


@dataclass(frozen=True)
class Linted:
    """What lint found.

    Attributes
    ----------
    findings : tuple of Finding
        Errors first, then by number.
    fixed : tuple of (code, str)
        What was changed in the file, in words.
    """

    source: str
    findings: tuple[Finding, ...]
    fixed: tuple[tuple[str, str], ...] = ()

    @property
    def failed(self) -> bool:
        """Whether an error is left."""
        return any(finding.severity == "error" for finding in self.findings)

    @property
    def counts(self) -> dict[Severity, int]:
        """Findings by severity."""
        return {severity: sum(f.severity == severity for f in self.findings) for severity in SEVERITIES}

    def as_dict(self) -> dict[str, Any]:
        """The JSON of ``gnrs lint``."""
        return {
            "context": self.source,
            "findings": [finding.as_dict() for finding in self.findings],
            "counts": self.counts,
            "fixed": [{"code": code, "change": change} for code, change in self.fixed],
        }


# Names in the context


def dangling(m: Material) -> Iterator[Found]:
    """Names that the schema or the record layer lacks; one that is only spelt otherwise is renamed."""
    for use in m.uses:
        known = m.declared.get(use.kind, [])
        if use.name in known or (use.kind == "channel" and use.name in m.declared["observable"]):
            continue
        part = f"the schema's {PARTS[use.kind]}" if use.kind in PARTS else "records.channels"
        alike = [name for name in known if spelling(name) == spelling(use.name)]
        near = alike[0] if len(alike) == 1 else nearest(use.name, dict.fromkeys(known))
        yield Found(
            told(use.path, m.data),
            f"{use.name!r} is not in {part}",
            1,
            use.name,
            f"write {near!r}, or add it there" if near else "add it there, or correct it",
            frozenset({(use.kind, use.name)}),
            (Rename(use.path, alike[0]),) if len(alike) == 1 else (),
        )


def never_recorded(m: Material) -> Iterator[Found]:
    """Declared names that no row carries and no declared support speaks for."""
    supported = {(support.kind, support.name) for support in m.records.support}
    for kind in ("action", "role", "location", "object"):
        names = [n for n in m.declared[kind] if n not in m.recorded[kind] and (kind, n) not in supported]
        if names and m.log is not None:
            yield Found(
                f"schema.{PARTS[kind]}",
                f"{_counted(len(names), kind)} declared, on no row: {_some(names)}",
                len(names),
                names[0],
                "take them out, correct their spelling, or say under records.support how the records show "
                "them",
                frozenset((kind, name) for name in names),
            )


def undeclared(m: Material) -> Iterator[Found]:
    """Names on rows that the schema lacks; of roles, locations and objects only where it lists some."""
    for kind in ("action", "role", "location", "object"):
        rows = m.recorded[kind]
        names = sorted((n for n in rows if n not in m.declared[kind]), key=lambda n: (-rows[n], n))
        if not names or len(rows) > MOST_NAMES or (kind != "action" and not m.declared[kind]):
            continue
        spelt = {spelling(name) for name in m.declared[kind]}
        new = tuple(name for name in names if spelling(name) not in spelt and _may_be_a_name(name))
        yield Found(
            f"schema.{PARTS[kind]}",
            f"{_counted(len(names), kind)} recorded but not declared: {_some(names)}",
            len(names),
            f"{names[0]} on {rows[names[0]]:,} rows",
            f"add them to schema.{PARTS[kind]}",
            frozenset((kind, name) for name in names),
            (Append(("schema", PARTS[kind]), new),) if new else (),
        )
    channels = dict(m.recorded["channel"])
    if m.cells is not None and not m.cells.of("channel").startswith("NULL"):
        cell = m.cells.of("channel")
        channels = dict(
            m.cells.rows(
                f"SELECT {cell}, count(*) FROM raw WHERE {cell} IS NOT NULL GROUP BY ALL ORDER BY ALL"
            )
        )
    missing = [n for n in channels if n not in {*m.declared["channel"], *m.declared["observable"]}]
    if missing and m.records.channels:
        yield Found(
            "records.channels",
            f"{_counted(len(missing), 'channel')} recorded but not declared, so that no row of them is "
            f"evidence: {_some(missing)}",
            len(missing),
            f"{missing[0]} on {channels[missing[0]]:,} rows",
            "add them to records.channels, or to records.observables where nothing keeps them",
            frozenset(("channel", name) for name in missing),
        )


def nearly_alike(m: Material) -> Iterator[Found]:
    """Names of a kind that differ only in case, signs or plural."""
    for kind in ("action", "role", "location", "object", "channel"):
        names = dict.fromkeys([*m.declared[kind], *m.recorded[kind]])
        if len(m.recorded[kind]) > MOST_NAMES and kind != "action":
            names = dict.fromkeys(m.declared[kind])
        groups: dict[str, list[str]] = {}
        for name in names:
            groups.setdefault(spelling(name) or name, []).append(name)
        for group in groups.values():
            if len(group) > 1:
                shown = " and ".join(
                    f"{name!r} ({m.recorded[kind].get(name, 0):,} rows)" for name in group[:4]
                )
                yield Found(
                    "records.channels" if kind == "channel" else f"schema.{PARTS[kind]}",
                    f"names of {kind}s that differ only in case, signs or plural: {shown}",
                    len(group),
                    group[0],
                    "they count as different: give them one name in the log, or aliases that tell them apart",
                    frozenset((kind, name) for name in group),
                )


def same_words(m: Material) -> Iterator[Found]:
    """Names that rule texts could not tell apart, or not use: drafting stops there."""
    try:
        Lexicon.of(m.schema, resolved(m.records, m.log) if m.log is not None else m.records)
    except InputError as error:
        yield Found(error.field, error.problem, 1, error.field.rpartition(".")[2], error.remedy)


def unknown_words(m: Material) -> Iterator[Found]:
    """Words of acts that the reader of sentences knows only as they are spelt; roles, places and objects in
    no word of which it does.
    """
    for kind in ("action", "role", "location", "object"):
        strange: dict[str, str] = {}
        for term in getattr(m.schema, PARTS[kind]):
            phrases = [
                term.phrase or " ".join(name_words(term.name)),
                getattr(term, "noun", None) or "",
                *term.aliases,
            ]
            words = [form for phrase in phrases for form in _content(phrase)]
            unknown = [form for form in words if not _known(form)]
            if unknown and (kind == "action" or len(unknown) == len(words)):
                strange |= {form: term.name for form in unknown if form not in strange}
        if strange:
            first, name = next(iter(strange.items()))
            yield Found(
                f"schema.{PARTS[kind]}",
                f"gnrs read knows {_counted(len(strange), 'word')} only as spelt: {_some(list(strange))}",
                len(strange),
                f"{first!r} of {name!r}",
                "say it in common words as phrase, or add aliases with the words people use",
                frozenset((kind, name) for name in strange.values()),
            )


# Times


def unreadable_times(m: Material) -> Iterator[Found]:
    """Timestamps that are no ISO 8601 times."""
    if m.cells is None:
        return
    cell = m.cells.of("timestamp")
    parts = f"regexp_extract({cell}, $iso, ['date', 'time', 'suffix'])"
    instant = (
        f"try_cast({parts}.date || ' ' || CASE WHEN {parts}.time = '' THEN '00:00' ELSE "
        f"replace({parts}.time, ',', '.') END AS TIMESTAMP)"
    )
    bad = m.cells.rows(
        f"SELECT count(*), min(row), arg_min({cell}, row) FROM raw WHERE {cell} IS NOT NULL AND "
        f"coalesce(year({instant}), 0) NOT BETWEEN 1000 AND 9000",
        {"iso": _ISO},
    )[0]
    if bad[0]:
        yield Found(
            "timestamp",
            f"{bad[0]:,} timestamps are no ISO 8601 times of the years 1000 to 9000",
            bad[0],
            f"row {bad[1]}: {one_line(str(bad[2]), 60)}",
            "write them as 2024-05-31T09:15:00+02:00; gnrs import reads other ways to write a time",
        )


def times_without_offset(m: Material) -> Iterator[Found]:
    """Times of day that carry no offset where none is declared, and logs in which some carry one and others
    do not.
    """
    carried = _offsets_carried(m)
    if carried is not None and carried.bare and m.records.offset is None and m.records.zone is None:
        yield Found(
            "timestamp",
            f"{carried.bare:,} times carry no offset, and neither offset nor zone is declared",
            carried.bare,
            f"row {carried.first_bare}",
            "state records.zone, such as Europe/Amsterdam, or records.offset, such as +01:00",
        )


def offsets_on_some(m: Material) -> Iterator[Found]:
    """Logs in which some times carry an offset and others take the declared one."""
    carried = _offsets_carried(m)
    if carried is not None and carried.bare and carried.told and m.records.offset is not None:
        yield Found(
            "timestamp",
            f"{carried.told:,} times carry an offset, {carried.bare:,} do not and take records.offset",
            carried.bare,
            f"row {carried.first_bare}",
            "write the offset on every row, or state records.zone: a local time in summer is an hour off "
            "otherwise",
            frozenset({("column", "timestamp")}),
        )


class _Carried(NamedTuple):
    told: int
    bare: int
    first_bare: int | None


def _offsets_carried(m: Material) -> _Carried | None:
    """Times of day with an offset of their own or beside them, those without, and the first of these."""
    if m.cells is None:
        return None
    cell, beside = m.cells.of("timestamp"), m.cells.of("offset")
    constant = "true" if "offset" in m.records.constants else "false"
    has = f"(regexp_extract({cell}, $iso, 3) <> '' OR {beside} IS NOT NULL OR {constant})"
    timed = f"coalesce(regexp_extract({cell}, $iso, 2), '') <> ''"
    return _Carried(
        *m.cells.rows(
            f"SELECT count(*) FILTER ({has}), count(*) FILTER (NOT {has}), min(row) FILTER (NOT {has}) FROM "
            f"raw WHERE {timed}",
            {"iso": _ISO},
        )[0]
    )


def mixed_offsets(m: Material) -> Iterator[Found]:
    """More days with several offsets than clocks are set forward and back; it is about the logs that differ
    from most rows of a day.
    """
    found = m.rows(
        """WITH counted AS (
               SELECT date_trunc('day', "timestamp") AS day, channel, "offset" AS minutes, count(*) AS n FROM events
               WHERE "timestamp" IS NOT NULL AND "offset" IS NOT NULL AND grain <> 'day' GROUP BY ALL),
           usual AS (SELECT day, arg_max(minutes, n) AS minutes FROM (
                         SELECT day, minutes, sum(n) - minutes / 1e6 AS n FROM counted GROUP BY day, minutes) GROUP BY day),
           differing AS (
               SELECT c.channel, c.n, c.day, c.minutes, u.minutes AS most FROM counted c JOIN usual u USING (day)
               WHERE c.minutes <> u.minutes)
           SELECT channel, count(DISTINCT day), sum(n), min(day), min_by(minutes, day), min_by(most, day), max(abs(minutes - most)),
                  (SELECT date_diff('day', min(day), max(day)) FROM counted) FROM differing GROUP BY channel ORDER BY channel"""
    )
    for channel, days, rows, first, minutes, most, apart, length in found:
        if days > CLOCK_CHANGES * (1 + length / 365) or apart > 60:
            yield Found(
                str(channel or "timestamp"),
                f"{rows:,} rows, on {days:,} days, carry another offset than most rows of their day",
                rows,
                f"{_offset(minutes)} on {first.date()}, where most have {_offset(most)}",
                "write all times of a place at the offset it had that day: days and deadlines are counted "
                "on the local clock",
                frozenset({("channel", channel)}),
            )


def dates_alone(m: Material) -> Iterator[Found]:
    """Channels whose times are all dates and that do not say so."""
    for channel, dates, dated in _dates(m):
        declared = m.records.channel(channel)
        if dates == dated and dated >= ENOUGH and declared is not None and declared.grain is None:
            place = next(
                (
                    i
                    for i, c in enumerate(m.data["records"]["channels"])
                    if isinstance(c, dict) and c.get("name") == channel
                ),
                None,
            )
            yield Found(
                f"records.channels.{channel}",
                f"all {dates:,} times are dates without time of day",
                dates,
                channel,
                "state grain: day",
                frozenset({("channel", channel)}),
                (State(("records", "channels", place), "grain", "day"),) if place is not None else (),
            )


def some_dates_alone(m: Material) -> Iterator[Found]:
    """Channels in which some times are dates: what is compared with them is compared by day."""
    for channel, dates, dated in _dates(m):
        if 0 < dates < dated:
            acts = m.rows(
                "SELECT activity, count(*) AS n FROM events WHERE channel = $channel AND grain = 'day' "
                "GROUP BY ALL ORDER BY n DESC, activity",
                {"channel": channel},
            )
            yield Found(
                channel,
                f"{dates:,} of {dated:,} times are dates without time of day: "
                f"{_some([str(a) for a, _ in acts])}",
                dates,
                f"{acts[0][0]} on {acts[0][1]:,} rows",
                "record the time of day too; until then these acts are compared by day",
                frozenset(("action", activity) for activity, _ in acts if activity is not None),
            )


def _dates(m: Material) -> list[tuple[Any, ...]]:
    return m.rows(
        "SELECT channel, count(*) FILTER (grain = 'day'), count(*) FROM events "
        'WHERE channel IS NOT NULL AND "timestamp" IS NOT NULL GROUP BY ALL ORDER BY ALL'
    )


def ends_before_start(m: Material) -> Iterator[Found]:
    """Rows whose column of starts is later than their timestamp."""
    if m.cells is None:
        return
    stamp = m.records.columns.get("timestamp", "timestamp")
    for name in m.cells.header:
        if name == stamp or not _BEGINS.fullmatch("".join(c for c in name.casefold() if c.isalnum())):
            continue
        start, end = (
            f"try_cast(replace({cell}, ',', '.') AS TIMESTAMPTZ)"
            for cell in (m.cells.named(name), m.cells.of("timestamp"))
        )
        count, row = m.cells.rows(f"SELECT count(*), min(row) FROM raw WHERE {start} > {end}")[0]
        if count:
            yield Found(
                name,
                f"on {count:,} rows {name!r} is later than {stamp!r}",
                count,
                f"row {row}",
                "correct the two columns",
            )


def closes_before_opening(m: Material) -> Iterator[Found]:
    """Cases whose last closing act stands before their first opening act."""
    found = m.rows(
        """SELECT count(*), min(case_id) FROM (
               SELECT case_id, min("timestamp") FILTER (list_contains($opens::VARCHAR[], activity)) AS opened,
                      max("timestamp") FILTER (list_contains($closes::VARCHAR[], activity)) AS closed
               FROM events GROUP BY case_id) WHERE closed < opened""",
        {"opens": list(m.records.case_start), "closes": list(m.records.case_end)},
    )
    if found and found[0][0]:
        yield Found(
            "records.case_end",
            f"in {found[0][0]:,} cases the closing act stands before the opening act",
            found[0][0],
            f"case {one_line(str(found[0][1]), 60)}",
            "correct records.case_start and records.case_end, or the times",
            frozenset(("action", name) for name in (*m.records.case_start, *m.records.case_end)),
        )


def after_observation(m: Material) -> Iterator[Found]:
    """Rows after the end of observation."""
    if m.records.end_of_observation is None:
        return
    end = span(m.records.end_of_observation, m.records.clock)[1]
    found = m.rows(
        'SELECT count(*), arg_max(event_id, "timestamp") FROM events WHERE "timestamp" > $end', {"end": end}
    )
    if found and found[0][0]:
        yield Found(
            "records.end_of_observation",
            f"{found[0][0]:,} rows stand after it",
            found[0][0],
            f"event {found[0][1]}",
            "state when the log was extracted",
            frozenset({("column", "timestamp")}),
        )


# Rows and columns


def doubled_ids(m: Material) -> Iterator[Found]:
    """Event ids that stand on several rows, and rows without one where others have one."""
    if m.cells is None or "event_id" in m.records.constants:
        return
    cell = m.cells.of("event_id")
    filled, bare = m.cells.rows(f"SELECT count({cell}), count(*) - count({cell}) FROM raw")[0]
    found = m.cells.rows(
        f"SELECT {cell}, count(*) FROM raw WHERE {cell} IS NOT NULL GROUP BY ALL HAVING count(*) > 1 ORDER "
        "BY 2 DESC, 1"
    )
    if found:
        rows = sum(n for _, n in found)
        yield Found(
            "event_id",
            f"{_counted(len(found), 'event id')} on several rows",
            rows,
            f"{one_line(str(found[0][0]), 60)} on {found[0][1]:,} rows",
            "make event ids unique, or leave the column out to number the rows",
        )
    if filled and bare:
        yield Found(
            "event_id",
            f"{bare:,} rows have no event id",
            bare,
            "",
            "fill the column, or leave it out to number the rows",
        )


def doubled(m: Material) -> Iterator[Found]:
    """Rows that are equal to an earlier one in all but their id."""
    if m.log is None:
        return
    count, example, by = doubled_rows(m.log)
    if count:
        yield Found(
            "events",
            f"{count:,} rows are equal to another in all but their id",
            count,
            f"event {example}",
            "export the log without them: what must happen once seems to happen twice",
            frozenset(("action", activity) for activity in by),
        )


def incomplete_rows(m: Material) -> Iterator[Found]:
    """Rows without case, act or time."""
    if m.cells is None:
        return
    why: dict[Column, str] = {
        "case_id": "they are not used",
        "activity": "they show no act",
        "timestamp": "what they show has no place in time",
    }
    for column, effect in why.items():
        cell = m.cells.of(column)
        if column in m.records.constants or cell.startswith("NULL"):
            continue
        count, row = m.cells.rows(f"SELECT count(*), min(row) FROM raw WHERE {cell} IS NULL")[0]
        if count:
            yield Found(
                column,
                f"{count:,} rows have none; {effect}",
                count,
                f"row {row}",
                "fill the column, or leave these rows out",
            )


def ragged_rows(m: Material) -> Iterator[Found]:
    """Rows with a cell too few or too many."""
    if m.cells is not None and m.cells.ragged:
        yield Found(
            "log",
            f"{_counted(len(m.cells.ragged), 'row')} with a cell too few or too many",
            len(m.cells.ragged),
            f"row {m.cells.ragged[0]}",
            "mend them: a cell with a delimiter, quotes or line ends goes in double quotes",
        )


def empty_columns(m: Material) -> Iterator[Found]:
    """Columns that the context maps and that hold nothing."""
    if m.log is None or not m.log.events:
        return
    counts = ", ".join(f'count("{c}")' for c in COLUMNS)
    counted = m.rows(f"SELECT {counts} FROM events")[0]
    for column, filled in zip(COLUMNS, counted, strict=True):
        name = m.records.columns.get(column)
        if not filled and name is not None:
            yield Found(
                f"records.columns.{column}",
                f"column {name!r} is empty on all {m.log.events:,} rows",
                m.log.events,
                name,
                "map another column, or take it out: no rule can ask for it",
                frozenset({("column", column)}),
            )


def constant_columns(m: Material) -> Iterator[Found]:
    """Columns that hold one and the same value on many rows."""
    if m.log is None or m.log.events < ENOUGH:
        return
    columns: tuple[Column, ...] = ("resource", "role", "object", "location", "value")
    parts = ", ".join(f'count(DISTINCT "{c}"), any_value("{c}"), count("{c}")' for c in columns)
    counted = m.rows(f"SELECT {parts} FROM events")[0]
    for i, column in enumerate(columns):
        different, value, rows = counted[3 * i : 3 * i + 3]
        if different == 1 and rows >= ENOUGH and column not in m.records.constants:
            yield Found(
                f"records.columns.{column}",
                f"{rows:,} rows hold {value!r} and no row anything else",
                rows,
                str(value),
                "map a column that tells rows apart, or take it out",
                frozenset({("column", column)}),
            )


def two_logs(m: Material) -> Iterator[Found]:
    """One act in two logs, further apart than rows may be that count as one."""
    if m.log is None:
        return
    for twins in twins_of(m.log):
        if twins.pairs < SHARE * twins.of or twins.of < _FIRST:
            continue
        grains = {
            grain for channel in twins.channels for grain in m.log.clocks.get((channel, twins.activity), ())
        }
        within = (
            m.records.match_within.shortest_seconds()
            if m.records.match_within
            else GRAIN_LENGTH[coarsest(grains)].total_seconds()
        )
        if twins.median > within:
            minutes = max(1, -(-round(twins.nine_in_ten) // 60))
            stated = (
                f"records.match_within is {m.records.match_within}"
                if m.records.match_within
                else "records.match_within is not stated"
            )
            yield Found(
                " and ".join(twins.channels),
                f"{twins.activity!r} stands in both on {twins.pairs:,} of {twins.of:,} rows, half of them "
                "more than "
                f"{twins.median:,.0f} s apart; {stated}",
                twins.pairs,
                f"90% lie within {minutes:,} min",
                "if these are one act, state records.match_within: "
                f"{Duration(seconds=60 * minutes).isoformat()}",
                frozenset({("action", twins.activity)}),
            )


# Channels


def silent_channels(m: Material) -> Iterator[Found]:
    """Durable channels without a row."""
    silent = [c.name for c in m.records.channels if c.durable and not m.recorded["channel"].get(c.name)]
    if silent and m.log is not None:
        yield Found(
            "records.channels",
            f"{_counted(len(silent), 'channel')} without a row: {_some(silent)}",
            len(silent),
            silent[0],
            "correct the name, take the channel out, or say durable: false where nothing keeps it",
            frozenset(("channel", name) for name in silent),
        )


def no_coverage(m: Material) -> Iterator[Found]:
    """Channels that do not say from when to when they are complete."""
    reach = m.rows(
        'SELECT channel, min("timestamp" + to_minutes(coalesce("offset", 0))), max("timestamp" + '
        'to_minutes(coalesce("offset", 0))) '
        'FROM events WHERE channel IS NOT NULL AND "timestamp" IS NOT NULL GROUP BY ALL ORDER BY ALL'
    )
    for channel, first, last in reach:
        declared = m.records.channel(channel)
        if declared is not None and declared.coverage is None:
            closed = (
                "its silence counts as absence" if declared.closed_world else "it is taken to be incomplete"
            )
            yield Found(
                f"records.channels.{channel}",
                f"no coverage stated; {closed} from its first to its last row",
                1,
                channel,
                f"state when it is complete, such as coverage: [{{start: {first.date()}, end: "
                f"{last.date()}}}]",
                frozenset({("channel", channel)}),
            )


def outside_coverage(m: Material) -> Iterator[Found]:
    """Rows at a time that the channel's coverage leaves out."""
    for channel in m.records.channels:
        if channel.coverage is None:
            continue
        starts = [span(interval.start, m.records.clock)[0] for interval in channel.coverage]
        ends = [span(interval.end, m.records.clock)[1] for interval in channel.coverage]
        found = m.rows(
            """SELECT count(*), min("timestamp"), arg_min(event_id, "timestamp") FROM events
               WHERE channel = $channel AND "timestamp" IS NOT NULL AND NOT EXISTS (
                   SELECT 1 FROM (SELECT unnest($starts::TIMESTAMP[]) AS opens, unnest($ends::TIMESTAMP[]) AS closes)
                   WHERE "timestamp" BETWEEN opens AND closes)""",
            {"channel": channel.name, "starts": starts, "ends": ends},
        )
        if found and found[0][0]:
            yield Found(
                f"records.channels.{channel.name}.coverage",
                f"{found[0][0]:,} rows stand outside it",
                found[0][0],
                f"event {found[0][2]} at {_local(found[0][1], m.records.clock)}",
                "correct the coverage: in the time it leaves out, silence proves nothing",
                frozenset({("channel", channel.name)}),
            )


def beyond_capability(m: Material) -> Iterator[Found]:
    """Acts that a channel's list leaves out and its rows show."""
    seen = m.log.seen if m.log is not None else {}
    for channel in m.records.channels:
        if channel.activities is None:
            continue
        stray = {
            act: n
            for (name, act), n in seen.items()
            if name == channel.name and act not in channel.activities
        }
        if stray:
            names = sorted(stray, key=lambda act: (-stray[act], act))
            yield Found(
                f"records.channels.{channel.name}.activities",
                f"{_counted(len(names), 'act')} on its rows but not in its list: {_some(names)}",
                sum(stray.values()),
                f"{names[0]} on {stray[names[0]]:,} rows",
                "add them where the channel records them in every case; rules do not look for them there "
                "otherwise",
                frozenset(("action", name) for name in names),
            )


def unused_capability(m: Material) -> Iterator[Found]:
    """Acts that a channel is said to record, on none of its rows though elsewhere."""
    seen = m.log.seen if m.log is not None else {}
    for channel in m.records.channels:
        if not channel.durable or channel.activities is None or not m.recorded["channel"].get(channel.name):
            continue
        names = [
            act
            for act in channel.activities
            if (channel.name, act) not in seen and act in m.recorded["action"]
        ]
        if names:
            yield Found(
                f"records.channels.{channel.name}.activities",
                f"{_counted(len(names), 'act')} in its list but on none of its rows: {_some(names)}",
                len(names),
                names[0],
                "take them out unless the channel would record them",
                frozenset(("action", name) for name in names),
            )


def refused(m: Material) -> Iterator[Found]:
    """What else stops the context from being used."""
    for error in m.refused:
        yield Found(error.field or error.source, error.problem, 1, "", error.remedy)


class Check(NamedTuple):
    """A numbered check."""

    code: str
    severity: Severity
    run: Callable[[Material], Iterable[Found]]
    explains: bool = False
    """Whether its findings are why the log is refused."""


CHECKS = (
    Check("G101", "error", dangling),
    Check("G102", "warning", never_recorded),
    Check("G103", "warning", undeclared),
    Check("G104", "warning", nearly_alike),
    Check("G105", "error", same_words),
    Check("G106", "note", unknown_words),
    Check("G201", "error", unreadable_times, explains=True),
    Check("G202", "error", times_without_offset, explains=True),
    Check("G203", "warning", mixed_offsets),
    Check("G204", "warning", offsets_on_some),
    Check("G205", "note", dates_alone),
    Check("G206", "warning", some_dates_alone),
    Check("G207", "warning", ends_before_start),
    Check("G208", "warning", closes_before_opening),
    Check("G209", "warning", after_observation),
    Check("G301", "error", doubled_ids, explains=True),
    Check("G302", "warning", doubled),
    Check("G303", "warning", incomplete_rows),
    Check("G304", "error", ragged_rows, explains=True),
    Check("G305", "warning", empty_columns),
    Check("G306", "note", constant_columns),
    Check("G307", "warning", two_logs),
    Check("G401", "warning", silent_channels),
    Check("G402", "note", no_coverage),
    Check("G403", "warning", outside_coverage),
    Check("G404", "warning", beyond_capability),
    Check("G405", "note", unused_capability),
    Check("G900", "error", refused),
)
"""Every finding there is; a number is never given to another one."""


def lint(reference: str | Path, log: Path | None = None, *, fix: bool = False) -> Linted:
    """Look for what is wrong with a context and its records.

    Parameters
    ----------
    reference : str or Path
        A context file or a benchmark goal.
    log : Path, optional
        The event log, in place of the one the file names.
    fix : bool
        Write the safe fixes into the file; everything else in it, comments too, stays as it is.

    Raises
    ------
    InputError
        The file cannot be read as a context at all, or not be written.
    """
    path = Path(reference)
    if fix:
        check_file(path)
    material = _material(reference, log)
    findings = _findings(material, CHECKS)
    if not fix:
        return Linted(str(reference), findings)
    text, fixed = read_text(path), []
    for finding in findings:
        changed = mended(text, finding.edits, is_json=path.suffix == ".json") if finding.edits else None
        if changed is not None and _no_worse(text, changed, path):
            text = changed
            fixed += [(finding.code, f"{finding.where}: {edit.told()}") for edit in finding.edits]
    if not fixed:
        return Linted(str(reference), findings)
    write_all(path.absolute().parent, [(path.name, text.encode())])
    return Linted(str(reference), _findings(_material(reference, log), CHECKS), tuple(fixed))


def touching(structure: Structure, schema: Schema, records: RecordLayer, log: EventLog) -> tuple[str, ...]:
    """A line about the findings, beyond mere notes, that concern what a rule speaks of; none where there are
    none.

    Parameters
    ----------
    structure : Structure
        The rule.
    schema : Schema
    records : RecordLayer
    log : EventLog
    """
    data = {
        part: json.loads(model.model_dump_json())
        for part, model in (("schema", schema), ("records", records))
    }
    material = Material(data, schema, records, None, log)
    spoken = payloads(structure)
    concerned = (
        {(p.kind, p.name) for p in spoken} | {("column", p.kind) for p in spoken} | {("column", "timestamp")}
    )
    if any(c.correlate == "same_resource" for c in structure.norm.constraints):
        concerned.add(("column", "resource"))
    found = [
        f
        for f in _findings(material, [check for check in CHECKS if check.severity != "note"])
        if f.names & concerned
    ]
    if not found:
        return ()
    told_ = [
        f"{f.code} ({', '.join(sorted(name for _, name in f.names & concerned)[:_FIRST])})" for f in found
    ]
    count = (
        "1 finding of gnrs lint touches" if len(found) == 1 else f"{len(found)} findings of gnrs lint touch"
    )
    return (f"{count} this rule: {', '.join(told_)}",)


def _findings(material: Material, checks: Sequence[Check]) -> tuple[Finding, ...]:
    found = [Finding(check.code, check.severity, *one) for check in checks for one in check.run(material)]
    explained = {check.code for check in checks if check.explains}
    if any(f.code in explained for f in found):  # the log's own complaint says one of these again
        found = [f for f in found if f.code != "G900" or f.where.startswith(("schema", "goal", "records.c"))]
    return tuple(sorted(found, key=lambda f: (SEVERITIES.index(f.severity), f.code, f.where)))


def _material(reference: str | Path, log: Path | None) -> Material:
    path, refusals = Path(reference), list[InputError]()
    if re.fullmatch(r"GNRS-\d+|RC-[A-Z]+-\d+", str(reference)):
        context = load_context(reference, log, goalless=True)
        return Material(
            json.loads(to_json(context)),
            context.schema,
            context.records,
            None,
            None if context.records.prospective else context.log,
        )
    data = read_data(path)
    parsed = _parsed(data, path)
    records = with_log(parsed.records, log)
    context = Context(parsed.goal or NO_GOAL, parsed.institution, records, None, str(path), path.parent)
    cells, events = None, None
    try:
        check_names(context)
    except InputError as error:
        refusals.append(error)
    if not records.prospective:
        try:
            if records.log is not None:
                cells = read_cells(path.parent / records.log, records)
            events = context.log
        except InputError as error:
            refusals.append(error)
    return Material(data, parsed.institution, records, cells, events, tuple(refusals))


def _no_worse(before: str, after: str, path: Path) -> bool:
    """Whether a text still is a context, and rule texts can tell its names apart where they could before."""
    return _speakable(after, path) >= _speakable(before, path)


def _speakable(text: str, path: Path) -> int:
    try:
        parsed = _parsed(
            parse_json(text, str(path)) if path.suffix == ".json" else parse_yaml(text, str(path)), path
        )
    except InputError:
        return 0
    try:
        Lexicon.of(parsed.institution, parsed.records)
    except InputError:
        return 1
    return 2


def _parsed(data: dict[str, Any], path: Path) -> _ContextFile:
    """A context file without its pools and without the names that it does not declare."""
    known = known_names(data)
    gone = [
        use.path for use in uses(data) if use.name not in known.get(use.kind, ()) and use.path[0] != "pools"
    ]
    return validated(
        _ContextFile,
        without({key: value for key, value in data.items() if key != "pools"}, gone),
        source=str(path),
    )


def _content(phrase: str) -> list[str]:
    """Words of a phrase that carry its meaning."""
    words = [token.text for token in tokens_of(phrase)]
    return [w for w in words if w.isalpha() and len(w) > 1 and w not in STOP | LIGHT | PARTICLES]


def _known(form: str) -> bool:
    """Whether dictionary or ways to say an act know a word; what looks like an adjective or adverb counts as
    known.
    """
    return bool(word(form).senses or classes_of(form)) or form.endswith(_QUALITIES)


def _may_be_a_name(name: str) -> bool:
    return bool(name.strip()) and name == name.strip() and len(name) <= 200 and name.isprintable()


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(one_line(repr(name), 60) for name in names[:_FIRST])
    return shown + (f" and {len(names) - _FIRST:,} more" if len(names) > _FIRST else "")


def _offset(minutes: int) -> str:
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


def _local(instant: datetime, clock: tzinfo) -> str:
    return instant.replace(tzinfo=UTC).astimezone(clock).replace(tzinfo=None).isoformat(" ", "seconds")
