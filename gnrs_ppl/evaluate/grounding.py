"""Grounding as queries with counts: each answer comes with the SQL that gives it (DESIGN §2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from gnrs_ppl.audit.sql import SqlStatement
from gnrs_ppl.context.load import Context
from gnrs_ppl.context.log import attribute_column
from gnrs_ppl.errors import InputError
from gnrs_ppl.evaluate.hard_ok import HardOk, hard_ok, support_of
from gnrs_ppl.rule.canonical import Payload, beyond_payloads, conditions_in, payloads
from gnrs_ppl.rule.types import KEY_OF, Structure

COLUMN = {
    "role": "role",
    "location": "location",
    "object": "object",
    "action": "activity",
    "channel": "channel",
}


@dataclass(frozen=True)
class GroundingQuery:
    """One question to the records, its SQL with bound parameters, and the count that answers it.

    ``of`` is the total asked about, 0 where there is none.
    """

    question: str
    count: int
    of: int
    support: str | None
    sql: str
    parameters: dict[str, Any]


class Grounding(NamedTuple):
    """HARD-OK with ρ, and the queries behind it."""

    gate: HardOk
    queries: tuple[GroundingQuery, ...]


def grounding(structure: Structure, context: Context) -> Grounding:
    """Which payloads the records hold, in how many in-scope cases the evidence is present, and whether keys
    tell people apart.

    Parameters
    ----------
    structure : Structure
        The rule.
    context : Context
        What it is for, with the records it is held against.

    Raises
    ------
    InputError
        The rule states a condition on an attribute that is not declared.
    """
    attributes = context.profile.attributes
    for what in beyond_payloads(structure, attributes.keys()):
        raise InputError(what, "no query reads it; audit the rule on a log")
    queries = [_occurrence(p, structure, context) for p in payloads(structure)]
    queries += _conditions(structure, context)
    queries += _presence(structure, context) + _distinctness(structure, context)
    return Grounding(hard_ok(structure, context), tuple(queries))


def _ask(
    context: Context, question: str, sql: str, parameters: dict[str, Any], of: int, support: str | None = None
) -> GroundingQuery:
    row = context.log.connection.execute(sql, parameters).fetchone() or (0,)
    return GroundingQuery(question, int(row[0]), of, support, sql, parameters)


def _occurrence(payload: Payload, structure: Structure, context: Context) -> GroundingQuery:
    support, _ = support_of(payload, structure, context)
    question = f"rows with {payload.kind} {payload.name}"
    if payload.kind == "step":
        names = [s.activity for s in structure.procedure.steps if s.name == payload.name and s.activity]
        sql, parameters = (
            'SELECT count(*) FROM events WHERE list_contains($names, "activity")',
            {"names": names},
        )
        return (
            _ask(context, question, sql, parameters, context.log.events, support)
            if names
            else GroundingQuery(question, 0, context.log.events, support, "", {})
        )
    sql = f'SELECT count(*) FROM events WHERE "{COLUMN[payload.kind]}" = $name'
    return _ask(context, question, sql, {"name": payload.name}, context.log.events, support)


def _conditions(structure: Structure, context: Context) -> list[GroundingQuery]:
    """How many rows hold a value of each attribute that a condition is on."""
    names = dict.fromkeys(c.attribute for _, c in conditions_in(structure))
    columns = {a.name: attribute_column(i) for i, a in enumerate(context.records.attributes)}
    return [
        _ask(
            context,
            f"rows with a value of {name}",
            f"SELECT count({columns[name]}) FROM events",
            {},
            context.log.events,
        )
        for name in names
    ]


def _stating(structure: Structure, context: Context) -> tuple[list[str], dict[str, Any]]:
    """What scope and opener state of data, as conditions and their parameters."""
    where = (*structure.scope.where, *(structure.trigger.act.where if structure.trigger.act else ()))
    statement = SqlStatement(set(), (), context.records.attributes)
    conditions = [f"({statement.condition(f'data_{i}', c)})" for i, c in enumerate(where)]
    return conditions, statement.parameters


def _opening(structure: Structure, context: Context) -> tuple[str, dict[str, Any]]:
    """Condition and parameters of the definite trigger rows in scope; every row for case start."""
    trigger, scope = structure.trigger, structure.scope
    data, stated_data = _stating(structure, context)
    if trigger.act is None:
        return " AND ".join(data) or "TRUE", stated_data
    parameters: dict[str, Any] = {"opens": trigger.act.activity, "opened_in": trigger.channel}
    conditions = ['"activity" = $opens', '"channel" = $opened_in']
    for column in ("location", "object", "role"):
        stated = getattr(trigger.act, column)
        if stated is not None:
            conditions.append(f'"{column}" = $act_{column}')
            parameters[f"act_{column}"] = stated
    filters = [("location", scope.locations), ("object", scope.objects)] + (
        [("role", scope.roles)] if structure.norm.bearer == "trigger" else []
    )
    for column, names in filters:
        if names:
            conditions.append(f'list_contains($scope_{column}, "{column}")')
            parameters[f"scope_{column}"] = list(names)
    return " AND ".join([*conditions, *data]), parameters | stated_data


def _presence(structure: Structure, context: Context) -> list[GroundingQuery]:
    opening, parameters = _opening(structure, context)
    scoped = f"SELECT DISTINCT case_id FROM events WHERE {opening}"
    queries = [
        _ask(context, "cases in scope", f"SELECT count(*) FROM ({scoped})", parameters, context.log.cases)
    ]
    for activity in dict.fromkeys(c.target.activity for c in structure.norm.constraints):
        for channel in structure.evidence.channels:
            sql = (
                'SELECT count(DISTINCT case_id) FROM events WHERE "activity" = $target AND "channel" = '
                f"$channel AND case_id IN ({scoped})"
            )
            asked = parameters | {"target": activity, "channel": channel}
            queries.append(
                _ask(context, f"cases in scope with {activity} in {channel}", sql, asked, queries[0].count)
            )
    return queries


def _distinctness(structure: Structure, context: Context) -> list[GroundingQuery]:
    correlations = {structure.norm.correlation(c) for c in structure.norm.constraints}
    keys = {KEY_OF[c] for c in correlations if c in KEY_OF}
    opening, parameters = _opening(structure, context)
    return [
        _ask(
            context,
            f"different {key}s among the rows that open an instance",
            f'SELECT count(DISTINCT "{key}") FROM events WHERE {opening}',
            parameters,
            0,
        )
        for key in sorted(keys)
    ]
