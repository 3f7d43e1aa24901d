"""Names a rule states that no row has: likely slips of the pen are refused, declared names are findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Literal, NamedTuple

import duckdb

from gnrs_ppl.context.log import EventLog
from gnrs_ppl.context.types import RecordLayer, Schema
from gnrs_ppl.errors import Refused
from gnrs_ppl.rule.types import Act, Procedure, Structure

Column = Literal["activity", "role", "object", "location", "channel"]


class Stated(NamedTuple):
    """Names at one place of a rule, the column to look them up in, and the rows they speak of (all, if left
    out).
    """

    place: str
    column: Column
    names: tuple[str, ...]
    activity: str | None = None
    channels: tuple[str, ...] | None = None

    @property
    def whose(self) -> str:
        """The rows in words."""
        where = "" if self.channels is None else f" in {', '.join(self.channels)}"
        return f"rows of {self.activity!r}{where}" if self.activity else f"rows{where}"


def unrecorded(
    structure: Structure, records: RecordLayer, schema: Schema, log: EventLog, allow: bool
) -> tuple[str, ...]:
    """What to tell of the names that a rule states and the rows in question lack.

    Acts that no channel can record, and columns that no row of an act fills, are left to
    :func:`gnrs_ppl.audit.checkable.check`.

    Parameters
    ----------
    structure : Structure
        The rule.
    records : RecordLayer
        As :func:`~gnrs_ppl.context.log.resolved` gives it; channels and what they can record are declared.
    schema : Schema
        Its names are declared.
    log : EventLog
        The rows.
    allow : bool
        Whether names that are neither declared nor in any row are a finding too.

    Returns
    -------
    tuple of str
        A finding for each, with the counts.

    Raises
    ------
    Refused
        For the first name that is neither declared nor in any row, with the nearest that is; unless allowed.
    """
    findings: dict[str, None] = {}
    declared = _declared(records, schema)
    for stated in _stated(structure, records):
        here = _rows(log, stated)
        missing = [name for name in stated.names if name not in here]
        total, filled = _filled(log, stated) if missing else (0, 0)
        if stated.activity is not None and total and not filled:
            continue
        anywhere = _rows(log, Stated(stated.place, stated.column, tuple(missing)))
        for name in missing:
            is_declared = name in declared[stated.column]
            count, why = f"0 of {log.events} rows", "it is declared" if is_declared else "nothing declares it"
            if name in anywhere:
                count, why = f"0 of {total} {stated.whose}", f"{anywhere[name]} of all {log.events} rows do"
            problem = f"{stated.place}: {count} carry {stated.column} {name!r}"
            if not (is_declared or name in anywhere or allow):
                near = _nearest(log, stated.column, name, declared[stated.column])
                raise Refused(problem, f"{near}; --allow-unrecorded insists")
            findings[f"{problem}; {why}"] = None
    return tuple(findings)


def _stated(structure: Structure, records: RecordLayer) -> Iterator[Stated]:
    """Every name a check of the rule reads."""
    scope, trigger, norm, policy = structure.scope, structure.trigger, structure.norm, structure.evidence
    can = {channel.name: channel.activities or () for channel in records.channels if channel.durable}
    unkept = {channel.name for channel in records.channels if not channel.durable}  # which the check tells
    yield Stated(
        "evidence.channels", "channel", tuple(name for name in policy.channels if name not in unkept)
    )
    acts: list[tuple[str, Act, tuple[str, ...]]] = []
    if trigger.act is not None and trigger.channel is not None:
        acts.append(("trigger.act", trigger.act, (trigger.channel,)))
    opener = (acts[0][1].activity, acts[0][2]) if acts else ()
    yield Stated("scope.roles", "role", scope.roles, *(opener if norm.bearer == "trigger" else ()))
    yield Stated("scope.locations", "location", scope.locations, *opener)
    yield Stated("scope.objects", "object", scope.objects, *opener)
    for index, constraint in enumerate(norm.constraints):
        place = f"norm.constraints[{index}]"
        acts.append((f"{place}.target", constraint.target, policy.channels))
        if norm.bearer != "trigger":
            able = tuple(name for name in policy.channels if constraint.target.activity in can.get(name, ()))
            yield Stated("norm.bearer.role", "role", (norm.bearer.role,), constraint.target.activity, able)
        acts += (
            [(f"{place}.after", constraint.after.act, (constraint.after.channel,))]
            if constraint.after
            else []
        )
        acts += [(f"{place}.unless", constraint.unless, policy.channels)] if constraint.unless else []
    for place, act, channels in acts:
        if able := tuple(name for name in channels if act.activity in can.get(name, ())):
            yield from _of_act(place, act, able)
    yield from _of_steps(structure.procedure, can)


def _of_steps(procedure: Procedure, can: dict[str, tuple[str, ...]]) -> Iterator[Stated]:
    """Activities of the steps where they are to be checked, and who takes them where they can be (line
    23).
    """
    able = [
        tuple(name for name, activities in can.items() if step.activity in activities)
        for step in procedure.steps
    ]
    for index, step in enumerate(procedure.steps):
        if step.activity is not None and procedure.response_time is not None:
            yield Stated(
                f"procedure.steps[{index}].activity",
                "activity",
                (step.activity,),
                None,
                able[index] or tuple(can),
            )
            if all(able):
                yield Stated(
                    f"procedure.steps[{index}].role", "role", (step.role,), step.activity, able[index]
                )


def _of_act(place: str, act: Act, channels: tuple[str, ...]) -> Iterator[Stated]:
    yield Stated(f"{place}.activity", "activity", (act.activity,), None, channels)
    fields: tuple[tuple[Column, str | None], ...] = (
        ("role", act.role),
        ("object", act.object),
        ("location", act.location),
    )
    for column, name in fields:
        if name is not None:
            yield Stated(f"{place}.{column}", column, (name,), act.activity, channels)


def _declared(records: RecordLayer, schema: Schema) -> dict[Column, set[str]]:
    return {
        "activity": {action.name for action in schema.actions}
        | {name for c in records.channels for name in c.activities or ()},
        "role": {term.name for term in schema.roles},
        "object": {term.name for term in schema.objects},
        "location": {term.name for term in schema.locations},
        "channel": {channel.name for channel in records.channels}
        | {term.name for term in records.observables},
    }


_WHERE = """($activity IS NULL OR "activity" = $activity)
    AND ($channels IS NULL OR list_contains($channels::VARCHAR[], "channel"))"""


def _rows(log: EventLog, stated: Stated) -> dict[str, int]:
    """Rows by name, of the names that have some."""
    if not stated.names:
        return {}
    return dict(
        log.connection.execute(
            f'SELECT "{stated.column}", count(*) FROM "events" WHERE {_WHERE} '
            f'AND list_contains($names::VARCHAR[], "{stated.column}") GROUP BY ALL',
            _bound(stated) | {"names": list(stated.names)},
        ).fetchall()
    )


def _filled(log: EventLog, stated: Stated) -> tuple[int, int]:
    """The rows in question, and how many of them fill the column."""
    sql = f'SELECT count(*), count("{stated.column}") FROM "events" WHERE {_WHERE}'
    return log.connection.execute(sql, _bound(stated)).fetchone() or (0, 0)


def _bound(stated: Stated) -> dict[str, object]:
    return {
        "activity": stated.activity,
        "channels": None if stated.channels is None else list(stated.channels),
    }


def _nearest(log: EventLog, column: Column, name: str, declared: set[str]) -> str:
    """The recorded or declared name with the fewest edits to this one, and its rows."""
    rows = Counter(dict.fromkeys(declared, 0))
    rows.update(
        dict(
            log.connection.execute(
                f'SELECT "{column}", count(*) FROM "events" WHERE length("{column}") <= 200 GROUP BY ALL'
            ).fetchall()
        )
    )
    known = [(text, n) for text, n in rows.items() if len(text) <= 200]
    with duckdb.connect() as apart:  # not every database that holds events knows a distance of texts
        nearest = apart.execute(
            """SELECT name, n FROM (SELECT unnest($names::VARCHAR[]) AS name, unnest($rows::BIGINT[]) AS n)
               ORDER BY damerau_levenshtein(name, $name), n DESC, name LIMIT 1""",
            {"names": [text for text, _ in known], "rows": [n for _, n in known], "name": name},
        ).fetchone()
    return (
        f"no {column} is recorded or declared"
        if nearest is None
        else f"nearest: {nearest[0]!r} ({nearest[1]} rows)"
    )
