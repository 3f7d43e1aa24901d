"""Findings about rows and columns of the log: G301 to G309."""

from __future__ import annotations

from collections.abc import Iterator

from gnrs_ppl.context.log import attribute_column
from gnrs_ppl.context.time import GRAIN_LENGTH, Duration, coarsest
from gnrs_ppl.context.types import COLUMNS, Column
from gnrs_ppl.errors import one_line
from gnrs_ppl.records.lint.findings import ENOUGH, FIRST, Found, Material, counted
from gnrs_ppl.records.profile import doubled_rows, twins_of

SHARE = 0.5
"""Share of an act's rows in the smaller log that must have a twin for the two logs to show one act."""


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
            f"{counted(len(found), 'event id')} on several rows",
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
        "case_id": "each may be a row of any case",
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
            f"{counted(len(m.cells.ragged), 'row')} with a cell too few or too many",
            len(m.cells.ragged),
            f"row {m.cells.ragged[0]}",
            "mend them: a cell with a delimiter, quotes or line ends goes in double quotes",
        )


def rows_set_aside(m: Material) -> Iterator[Found]:
    """Rows that import set aside, by reason: what they may show is never taken as absent."""
    if m.log is None or m.records.set_aside is None:
        return
    for part in m.log.set_aside:
        found = m.rows(
            "SELECT activity, min(event_id) FROM set_aside WHERE reason = $reason GROUP BY ALL ORDER BY 2",
            {"reason": part.reason},
        )
        unknown = part.rows - part.known
        whose = f", the case of {unknown:,} of them is not known" if unknown else ""
        yield Found(
            "records.set_aside",
            f"{counted(part.rows, 'row')} set aside: {one_line(part.reason, 120)}{whose}; no verdict takes what "
            "they may show as absent",
            part.rows,
            str(found[0][1]),
            "mend them in the source, and import it again with gnrs import --update",
            frozenset(("action", activity) for activity, _ in found if activity is not None),
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
        if twins.pairs < SHARE * twins.of or twins.of < FIRST:
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


def unread_cells(m: Material) -> Iterator[Found]:
    """Cells that hold no value of their attribute's type."""
    for i, attribute in enumerate(m.records.attributes):
        if m.log is None or attribute.name not in m.log.unread:
            continue
        ((rows,),) = m.rows(f"SELECT count(*) FROM events WHERE {attribute_column(i)}_unclear")
        yield Found(
            f"records.attributes.{attribute.name}",
            f"is declared as {attribute.type}, which {counted(rows, 'row')} do not hold",
            rows,
            m.log.unread[attribute.name],
            "write its numbers as 1234.56, or state its decimal mark or its unit"
            if attribute.type == "number"
            else "correct its type, or the cells",
            frozenset({("attribute", attribute.name)}),
        )
