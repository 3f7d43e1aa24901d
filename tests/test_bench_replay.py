"""The benchmark's logs replayed: a hand-written rule per scene family gives what a plain query gives, and
renaming changes only names.

Each query decides its rule by the lines of SEMANTICS, over the rows alone: the bounds of coverage and the end
of observation are typed as UTC literals. ``x + INTERVAL 1 MINUTE <= until`` says that the whole minute x lies
before ``until`` (line 5, G5 and E7).
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple

import pytest

import gnrs_ppl as gnrs
from gnrs_ppl.audit import VERDICTS, InstanceVerdict
from gnrs_ppl.audit.result import AuditResult
from gnrs_ppl.benchmarks.gnrs_bench import FAMILIES, goals
from gnrs_ppl.context.load import context_of
from gnrs_ppl.context.log import Event
from gnrs_ppl.context.types import COLUMNS, Goal, RecordLayer, Schema
from gnrs_ppl.models.features import Facts, feature_vector
from gnrs_ppl.rule.types import Structure

GRAVEST_FIRST = ("violated", "indeterminate", "pending", "satisfied", "excused", "not_activated")
PROCEDURE = {
    "steps": [
        {"stage": "review", "name": "record_check", "role": "owner"},
        {"stage": "appeal", "name": "owner_appeal", "role": "owner"},
    ]
}


class Replay(NamedTuple):
    """A goal whose context brings the family's log, a rule for the scene, and the query by hand: case,
    instance, verdict."""

    goal: str
    rule: dict[str, Any]
    query: str


SERVICE = Replay(
    "GNRS-001",
    {
        "scope": {"roles": ["cook", "waiter"], "locations": ["restaurant"]},
        "trigger": {"act": "CheckIn", "channel": "checkin_log"},
        "norm": {
            "constraints": [
                {
                    "template": "response",
                    "target": "CheckOut",
                    "correlate": "same_resource",
                    "deadline": "PT5H",
                }
            ]
        },
        "evidence": {"channels": ["checkout_log"]},
    },
    """
    -- A cook or waiter who checks in at the restaurant checks out within five hours.
    -- The check-out log was complete all the time; both clocks show seconds.
    WITH checked_in AS (
        SELECT *, timestamp + INTERVAL 5 HOUR AS due FROM events
        WHERE activity = 'CheckIn' AND channel = 'checkin_log' AND role IN ('cook', 'waiter') AND location = 'restaurant'
    )
    SELECT i.case_id, i.event_id, CASE
        WHEN EXISTS (
            FROM events AS o
            WHERE o.activity = 'CheckOut' AND o.channel = 'checkout_log' AND o.case_id = i.case_id AND o.resource = i.resource
              AND o.timestamp BETWEEN i.timestamp AND i.due
        ) THEN 'satisfied'
        WHEN i.due + INTERVAL 1 SECOND > TIMESTAMP '2025-04-27 16:00:00' THEN 'pending'
        WHEN i.timestamp >= TIMESTAMP '2025-03-02 23:00:00' THEN 'violated'
        ELSE 'indeterminate' END
    FROM checked_in AS i
    """,
)

PUBLIC_ORDER = Replay(
    "GNRS-017",
    {
        "scope": {"roles": ["patrol_member"]},
        "trigger": {"act": "CheckIn", "channel": "checkin_log"},
        "norm": {
            "constraints": [
                {
                    "template": "response",
                    "target": "Patrol",
                    "correlate": "same_resource",
                    "deadline": "PT1H",
                    "unless": "CheckOut",
                }
            ]
        },
        "evidence": {"channels": ["movement_log", "patrol_report", "checkout_log"], "operator": "all"},
    },
    """
    -- A patrol member who checks in patrols within the hour, as movement log and patrol report both show at most ten minutes apart,
    -- unless a check-out is on record before the hour is up. Two logs are compared by the minute, the coarser of their clocks.
    WITH complete (channel, since, until) AS (VALUES
        ('patrol_report', TIMESTAMP '2025-03-02 23:00:00', TIMESTAMP '2025-04-01 22:59:59'),
        ('patrol_report', TIMESTAMP '2025-04-02 23:00:00', TIMESTAMP '2025-04-27 16:00:00'),
        ('checkout_log', TIMESTAMP '2025-03-02 23:00:00', TIMESTAMP '2025-03-11 22:59:59'),
        ('checkout_log', TIMESTAMP '2025-03-13 23:00:00', TIMESTAMP '2025-04-27 16:00:00')
    ), checked_in AS (
        SELECT *, timestamp + INTERVAL 1 HOUR AS due, (SELECT min(timestamp) FROM events AS c WHERE c.case_id = e.case_id) AS case_start
        FROM events AS e WHERE activity = 'CheckIn' AND channel = 'checkin_log' AND role = 'patrol_member'
    ), patrols AS (
        SELECT i.event_id, p.channel, date_trunc('minute', p.timestamp) AS seen
        FROM checked_in AS i JOIN events AS p USING (case_id, resource) WHERE p.activity = 'Patrol'
          AND seen BETWEEN date_trunc('minute', i.timestamp) AND date_trunc('minute', i.due)
    ), check_outs AS (
        SELECT i.event_id, o.timestamp < i.due AS before FROM checked_in AS i JOIN events AS o USING (case_id, resource)
        WHERE o.activity = 'CheckOut' AND o.timestamp <= i.due
    )
    SELECT case_id, event_id, CASE
        WHEN event_id IN (SELECT m.event_id FROM patrols AS m JOIN patrols AS r USING (event_id) WHERE m.channel = 'movement_log'
            AND r.channel = 'patrol_report' AND abs(date_diff('minute', m.seen, r.seen)) <= 10) THEN 'satisfied'
        WHEN due + INTERVAL 1 SECOND > TIMESTAMP '2025-04-27 16:00:00' THEN 'pending'
        WHEN event_id IN (SELECT event_id FROM patrols) OR NOT EXISTS (FROM complete
            WHERE channel = 'patrol_report' AND since <= timestamp AND due + INTERVAL 1 SECOND <= until) THEN 'indeterminate'
        WHEN event_id IN (SELECT event_id FROM check_outs WHERE before) THEN 'excused'
        WHEN event_id IN (SELECT event_id FROM check_outs) OR NOT EXISTS (FROM complete
            WHERE channel = 'checkout_log' AND since < case_start AND due + INTERVAL 1 SECOND <= until) THEN 'indeterminate'
        ELSE 'violated' END
    FROM checked_in
    """,
)

COMMERCE = Replay(
    "GNRS-033",
    {
        "scope": {"locations": ["shop", "public_square"]},
        "trigger": {"act": "Trade", "channel": "contract_log"},
        "norm": {
            "constraints": [
                {
                    "template": "precedence",
                    "target": "SignContract",
                    "correlate": "same_object",
                    "deadline": "P1D",
                }
            ]
        },
        "evidence": {"channels": ["contract_log"]},
    },
    """
    -- Before goods are traded in the shop or on the public square, a contract for the same goods was signed, at most a day earlier.
    -- The contract log was complete all the time; it shows minutes, and two acts of one minute are not put in order.
    WITH trades AS (
        SELECT *, timestamp - INTERVAL 1 DAY AS since FROM events
        WHERE activity = 'Trade' AND channel = 'contract_log' AND location IN ('shop', 'public_square')
    ), contracts AS (
        SELECT t.event_id, s.timestamp < t.timestamp AS before FROM trades AS t JOIN events AS s USING (case_id, object)
        WHERE s.activity = 'SignContract' AND s.channel = 'contract_log' AND s.timestamp BETWEEN t.since AND t.timestamp
    )
    SELECT case_id, event_id, CASE
        WHEN event_id IN (SELECT event_id FROM contracts WHERE before) THEN 'satisfied'
        WHEN event_id IN (SELECT event_id FROM contracts) THEN 'indeterminate'
        WHEN since >= TIMESTAMP '2025-03-02 23:00:00' AND timestamp + INTERVAL 1 MINUTE <= TIMESTAMP '2025-04-27 16:00:00' THEN 'violated'
        ELSE 'indeterminate' END
    FROM trades
    """,
)

RESIDENCE = Replay(
    "GNRS-047",
    {
        "scope": {"roles": ["resident"]},
        "trigger": {"act": "Interact", "channel": "owner_log"},
        "norm": {
            "constraints": [
                {
                    "template": "not_response",
                    "target": {"activity": "MoveTo", "location": "private_living", "role": "visitor"},
                    "correlate": "same_case",
                    "deadline": "PT1H",
                }
            ]
        },
        "evidence": {"channels": ["room_presence_log"]},
    },
    """
    -- For an hour after a resident has handled things at home, no visitor comes to the private rooms.
    -- Both logs show minutes; an arrival in the minute of the handling is neither before nor after it.
    WITH complete (since, until) AS (VALUES
        (TIMESTAMP '2025-03-02 23:00:00', TIMESTAMP '2025-03-14 22:59:59'),
        (TIMESTAMP '2025-03-16 23:00:00', TIMESTAMP '2025-04-27 16:00:00')
    ), handled AS (
        SELECT *, timestamp + INTERVAL 1 HOUR AS due FROM events
        WHERE activity = 'Interact' AND channel = 'owner_log' AND role = 'resident'
    ), arrivals AS (
        SELECT h.event_id, a.timestamp > h.timestamp AS afterwards FROM handled AS h JOIN events AS a USING (case_id)
        WHERE a.activity = 'MoveTo' AND a.channel = 'room_presence_log' AND a.location = 'private_living' AND a.role = 'visitor'
          AND a.timestamp BETWEEN h.timestamp AND h.due
    )
    SELECT case_id, event_id, CASE
        WHEN event_id IN (SELECT event_id FROM arrivals WHERE afterwards) THEN 'violated'
        WHEN due + INTERVAL 1 MINUTE > TIMESTAMP '2025-04-27 16:00:00' THEN 'pending'
        WHEN event_id IN (SELECT event_id FROM arrivals) THEN 'indeterminate'
        WHEN EXISTS (FROM complete WHERE since <= timestamp AND due + INTERVAL 1 MINUTE <= until) THEN 'satisfied'
        ELSE 'indeterminate' END
    FROM handled
    """,
)

LABOR = Replay(
    "GNRS-061",
    {
        "scope": {"objects": ["consumable_food"]},
        "trigger": {"act": "Harvest", "channel": "object_interaction_log", "once": "first"},
        "norm": {
            "constraints": [
                {
                    "template": "absence",
                    "target": {"activity": "Trade", "object": "consumable_food"},
                    "correlate": "same_resource",
                }
            ]
        },
        "evidence": {"channels": ["contract_log"]},
    },
    """
    -- From one's first harvest of food in a case nobody trades food until the case is over: when nothing was recorded for 14 hours.
    -- The contract log was complete all the time and shows minutes. A harvest without object may or may not be one of food.
    WITH harvests AS (
        SELECT *, closed AS due FROM events
        JOIN (
            SELECT case_id, max(timestamp + CASE grain WHEN 'minute' THEN INTERVAL 1 MINUTE ELSE INTERVAL 1 SECOND END)
                            - INTERVAL 1 MICROSECOND + INTERVAL 14 HOUR AS closed
            FROM events GROUP BY case_id
        ) USING (case_id)
        WHERE activity = 'Harvest' AND channel = 'object_interaction_log' AND (object = 'consumable_food' OR object IS NULL)
        QUALIFY object IS NULL OR row_number() OVER (PARTITION BY case_id, resource, object ORDER BY timestamp, event_id) = 1
    )
    SELECT h.case_id, h.event_id, CASE
        WHEN h.object IS NULL THEN 'indeterminate'
        WHEN EXISTS (
            FROM events AS t
            WHERE t.activity = 'Trade' AND t.channel = 'contract_log' AND t.object = 'consumable_food'
              AND t.case_id = h.case_id AND t.resource = h.resource AND t.timestamp >= date_trunc('minute', h.timestamp)
        ) THEN 'violated'
        WHEN h.due > TIMESTAMP '2025-04-27 16:00:00' THEN 'pending'
        WHEN h.timestamp >= TIMESTAMP '2025-03-02 23:00:00' THEN 'satisfied'
        ELSE 'indeterminate' END
    FROM harvests AS h
    """,
)

EDUCATION = Replay(
    "GNRS-075",
    {
        "scope": {"roles": ["teacher"]},
        "trigger": {"act": "PublishTask", "channel": "task_log", "window": "P1D"},
        "norm": {
            "constraints": [
                {
                    "template": "existence",
                    "count": 2,
                    "target": "Deliver",
                    "after": {"act": "CheckIn", "channel": "checkin_log"},
                    "deadline": "PT3H",
                }
            ]
        },
        "evidence": {"channels": ["task_log"]},
    },
    """
    -- Once a teacher has published a session and somebody has checked in for it within a day, two works or more are handed in within
    -- three hours of the first check-in. The task log was complete all the time and shows minutes, the check-in log shows seconds.
    WITH started AS (
        SELECT p.case_id, p.event_id, min(c.timestamp) AS start, start + INTERVAL 3 HOUR AS due
        FROM events AS p LEFT JOIN events AS c
          ON c.case_id = p.case_id AND c.activity = 'CheckIn' AND c.channel = 'checkin_log'
         AND date_trunc('minute', c.timestamp) BETWEEN p.timestamp AND p.timestamp + INTERVAL 1 DAY
        WHERE p.activity = 'PublishTask' AND p.channel = 'task_log' AND p.role = 'teacher'
        GROUP BY p.case_id, p.event_id
    ), counted AS (
        SELECT *, (
            SELECT count(*) FROM events AS d WHERE d.activity = 'Deliver' AND d.channel = 'task_log' AND d.case_id = s.case_id
               AND d.timestamp BETWEEN date_trunc('minute', s.start) AND date_trunc('minute', s.due)
        ) AS works FROM started AS s
    )
    SELECT case_id, event_id, CASE
        WHEN start IS NULL THEN 'not_activated'
        WHEN works >= 2 THEN 'satisfied'
        WHEN due + INTERVAL 1 SECOND > TIMESTAMP '2025-04-27 16:00:00' THEN 'pending'
        WHEN start >= TIMESTAMP '2025-03-02 23:00:00' THEN 'violated'
        ELSE 'indeterminate' END
    FROM counted
    """,
)

CRISIS = Replay(
    "GNRS-087",
    {
        "trigger": {},
        "norm": {
            "bearer": {"role": "coordinator"},
            "constraints": [{"template": "existence", "target": "Speak", "deadline": "PT6H"}],
        },
        "evidence": {"channels": ["social_graph_log", "patrol_report"], "operator": "any"},
    },
    """
    -- In every incident a coordinator speaks with somebody within six hours of its first record, as the social graph log or the patrol
    -- report shows. Both show minutes; the patrol report was complete all the time. First is the row whose minute or second ends first.
    WITH complete (since, until) AS (VALUES
        (TIMESTAMP '2025-03-02 23:00:00', TIMESTAMP '2025-04-16 22:59:59'),
        (TIMESTAMP '2025-04-18 23:00:00', TIMESTAMP '2025-04-27 16:00:00')
    ), first_rows AS (
        SELECT DISTINCT ON (case_id) *, CASE grain WHEN 'minute' THEN INTERVAL 1 MINUTE ELSE INTERVAL 1 SECOND END AS length,
               timestamp + INTERVAL 6 HOUR AS due
        FROM events ORDER BY case_id, timestamp + length, event_id
    )
    SELECT i.case_id, i.case_id, CASE
        WHEN EXISTS (
            FROM events AS s
            WHERE s.activity = 'Speak' AND s.channel IN ('social_graph_log', 'patrol_report') AND s.role = 'coordinator'
              AND s.case_id = i.case_id AND s.timestamp BETWEEN date_trunc('minute', i.timestamp) AND date_trunc('minute', i.due)
        ) THEN 'satisfied'
        WHEN i.due + i.length > TIMESTAMP '2025-04-27 16:00:00' THEN 'pending'
        WHEN EXISTS (FROM complete WHERE since <= i.timestamp AND i.due + i.length <= until) THEN 'violated'
        ELSE 'indeterminate' END
    FROM first_rows AS i
    """,
)

OPEN_SPACE = Replay(
    "GNRS-105",
    {
        "scope": {"roles": ["traveller"], "locations": ["territory_border"]},
        "trigger": {"act": "MoveTo", "channel": "movement_log", "once": "first"},
        "norm": {
            "constraints": [
                {
                    "template": "responded_existence",
                    "target": "CheckOut",
                    "correlate": "same_resource",
                    "deadline": "PT4H",
                }
            ]
        },
        "evidence": {"channels": ["checkout_log"]},
    },
    """
    -- A traveller who comes to the territory border, the first time in a case, checks out within four hours before or after.
    -- Both clocks show seconds.
    WITH complete (since, until) AS (VALUES
        (TIMESTAMP '2025-03-02 23:00:00', TIMESTAMP '2025-03-07 22:59:59'),
        (TIMESTAMP '2025-03-09 23:00:00', TIMESTAMP '2025-04-27 16:00:00')
    ), arrivals AS (
        SELECT DISTINCT ON (case_id, resource) *, timestamp - INTERVAL 4 HOUR AS earliest, timestamp + INTERVAL 4 HOUR AS due FROM events
        WHERE activity = 'MoveTo' AND channel = 'movement_log' AND role = 'traveller' AND location = 'territory_border'
        ORDER BY case_id, resource, timestamp, event_id
    )
    SELECT a.case_id, a.event_id, CASE
        WHEN EXISTS (
            FROM events AS o
            WHERE o.activity = 'CheckOut' AND o.channel = 'checkout_log' AND o.case_id = a.case_id AND o.resource = a.resource
              AND o.timestamp BETWEEN a.earliest AND a.due
        ) THEN 'satisfied'
        WHEN a.due + INTERVAL 1 SECOND > TIMESTAMP '2025-04-27 16:00:00' THEN 'pending'
        WHEN EXISTS (FROM complete WHERE since <= a.earliest AND a.due + INTERVAL 1 SECOND <= until) THEN 'violated'
        ELSE 'indeterminate' END
    FROM arrivals AS a
    """,
)

REPLAYS = dict(
    zip(
        FAMILIES,
        (SERVICE, PUBLIC_ORDER, COMMERCE, RESIDENCE, LABOR, EDUCATION, CRISIS, OPEN_SPACE),
        strict=True,
    )
)


def structure_of(rule: dict[str, Any]) -> Structure:
    return Structure.model_validate({**rule, "procedure": PROCEDURE})


@cache
def context_for(family: str) -> gnrs.Context:
    return gnrs.load_context(REPLAYS[family].goal)


@cache
def audited(family: str) -> AuditResult:
    return gnrs.audit(structure_of(REPLAYS[family].rule), context_for(family))


# ---- the same table as a plain query


def gravest(context: gnrs.Context, rows: list[tuple[str, str, str]]) -> Counter[str]:
    """Cases by the gravest verdict of their instances; without instances, not activated (line 21)."""
    found = dict.fromkeys(
        (
            case
            for (case,) in context.log.connection.execute("SELECT DISTINCT case_id FROM events").fetchall()
        ),
        "not_activated",
    )
    for case, _, verdict in rows:
        found[case] = min(found[case], verdict, key=GRAVEST_FIRST.index)
    return Counter(found.values())


@pytest.mark.parametrize("family", REPLAYS)
def test_the_audit_gives_what_the_plain_query_gives(family: str) -> None:
    context, result = context_for(family), audited(family)
    rows = context.log.connection.execute(REPLAYS[family].query).fetchall()
    assert sorted((v.case_id, v.instance, v.verdict) for v in result.verdicts) == sorted(rows)
    assert result.counts == {**dict.fromkeys(VERDICTS, 0), **Counter(verdict for _, _, verdict in rows)}
    assert result.case_counts == {**dict.fromkeys(VERDICTS, 0), **gravest(context, rows)}
    assert result.counts["satisfied"] >= 20
    assert result.counts["violated"] >= 5


def test_every_verdict_occurs() -> None:
    assert {
        verdict for family in REPLAYS for verdict, count in audited(family).counts.items() if count
    } == set(VERDICTS)


@pytest.mark.parametrize("family", REPLAYS)
def test_the_typed_bounds_are_those_of_the_records(family: str) -> None:
    rule, records = structure_of(REPLAYS[family].rule), context_for(family).records
    cited = [records.channel(name) for name in rule.evidence.channels]
    assert all(channel and channel.coverage for channel in cited)
    bounds = {
        bound
        for channel in cited
        for interval in channel.coverage
        for bound in (interval.start, interval.end)
    }
    expected = {bound.astimezone(UTC).replace(tzinfo=None) for bound in bounds | {records.end_of_observation}}
    assert {
        datetime.fromisoformat(text) for text in re.findall(r"TIMESTAMP '([^']+)'", REPLAYS[family].query)
    } == expected


# ---- a bijective renaming

RENAMED = ("public_order_and_patrol", "commerce_and_exchange", "crisis_response")
"""Two logs that must agree and an exception; places and objects as key; an office and case start."""
WORDS = ("phrase", "plural", "noun", "intent", "because")
"""Fields with words for readers, which stay."""


def new(name: str) -> str:
    return f"r{name[::-1]}"


def old(name: str) -> str:
    return name.removeprefix("r")[::-1]


def new_event(event_id: str) -> str:
    return f"r{event_id}"  # event ids keep their order, in which ties are broken


def names_in(context: gnrs.Context) -> frozenset[str]:
    """The names of actions, roles, locations, objects and channels."""
    schema = context.schema
    terms = [*schema.actions, *schema.roles, *schema.locations, *schema.objects, *context.records.channels]
    return frozenset(term.name for term in terms)


def renamed(value: Any, names: frozenset[str]) -> Any:
    """Dumped data with every name in it replaced."""
    if isinstance(value, dict):
        return {key: item if key in WORDS else renamed(item, names) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [renamed(item, names) for item in value]
    return new(value) if isinstance(value, str) and value in names else value


def renamed_event(row: tuple[Any, ...]) -> Event:
    event = Event(*row)
    columns = ("case_id", "activity", "resource", "role", "object", "location", "channel")
    changed = {
        column: new(getattr(event, column)) for column in columns if getattr(event, column) is not None
    }
    return event._replace(event_id=new_event(event.event_id), **changed)


@cache
def renamed_context(family: str) -> gnrs.Context:
    """The family's context with new names throughout, and its log with them."""
    context, names = context_for(family), names_in(context_for(family))
    goal, schema, records = (
        kind.model_validate(renamed(part.model_dump(), names))
        for kind, part in ((Goal, context.goal), (Schema, context.schema), (RecordLayer, context.records))
    )
    copy = gnrs.Context(goal, schema, records, source="renamed")
    columns = ", ".join(f'"{column}"' for column in COLUMNS)
    rows = context.log.connection.execute(f"SELECT {columns} FROM events ORDER BY event_id").fetchall()
    vars(copy)["log"] = gnrs.EventLog.from_events(
        map(renamed_event, rows), records
    )  # the cached property, filled without a file
    return copy


def renamed_rule(family: str) -> Structure:
    rule = structure_of(REPLAYS[family].rule)
    return Structure.model_validate(renamed(rule.model_dump(), names_in(context_for(family))))


def in_new_names(verdict: InstanceVerdict) -> InstanceVerdict:
    """A verdict with its ids and its bearer renamed; an instance is an event, or the case where the case's
    start opened it."""
    instance = new(verdict.instance) if verdict.instance == verdict.case_id else new_event(verdict.instance)
    return verdict._replace(
        case_id=new(verdict.case_id),
        instance=instance,
        witnesses=tuple(new_event(event) for event in verdict.witnesses),
        bearer=None if verdict.bearer is None else new(verdict.bearer),
    )


@pytest.mark.parametrize("family", RENAMED)
def test_the_renaming_is_one_to_one_and_leaves_no_old_name(family: str) -> None:
    context, other = context_for(family), renamed_context(family)
    assert {old(name) for name in names_in(other)} == names_in(context)
    assert not names_in(other) & names_in(context)
    assert (other.log.events, other.log.cases) == (context.log.events, context.log.cases)


@pytest.mark.parametrize("family", RENAMED)
def test_a_renaming_changes_only_names_in_the_verdicts(family: str) -> None:
    again = gnrs.audit(renamed_rule(family), renamed_context(family))
    assert sorted(again.verdicts) == sorted(in_new_names(verdict) for verdict in audited(family).verdicts)
    assert again.reasons == audited(family).reasons
    assert again.case_counts == audited(family).case_counts


@pytest.mark.parametrize("family", RENAMED)
def test_a_renaming_leaves_the_features(family: str) -> None:
    context, other = context_for(family), renamed_context(family)
    for goal in (found.goal for found in goals() if found.family == family):
        other_goal = Goal.model_validate(renamed(goal.model_dump(), names_in(context)))
        facts, other_facts = (
            Facts.of(context_of(context, goal, goal.id)),
            Facts.of(context_of(other, other_goal, goal.id)),
        )
        assert feature_vector(renamed_rule(family), other_facts) == feature_vector(
            structure_of(REPLAYS[family].rule), facts
        )
