"""One pass over the log: what is recorded where, how often, in how many cases, and how finely in time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, get_args

from gnrs_ppl.context.log import EventLog, attribute_column
from gnrs_ppl.context.time import Grain, coarsest
from gnrs_ppl.context.types import Column, RecordLayer, Schema

ATTRIBUTES: tuple[Column, ...] = ("resource", "role", "object", "location")
"""Columns that acts, scopes and correlations read."""
KEYS: tuple[Column, ...] = ("resource", "object")
"""Those that acts are correlated by."""


@dataclass(frozen=True)
class PairProfile:
    """Rows of one activity in one channel.

    ``recorded`` counts non-null values per attribute, ``values`` rows per value of role, object and location
    (the 1,000 most frequent); ``grain`` is the coarsest of the dated ones.
    ``sole`` holds the one value of resource and of object, where all rows that carry any carry the same.
    """

    rows: int
    cases: int
    recorded: Mapping[str, int] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    grain: Grain | None = None
    sole: Mapping[str, str] = field(default_factory=dict)


class Held(NamedTuple):
    """Rows that carry a value of an attribute, and how many different ones."""

    rows: int
    distinct: int


@dataclass(frozen=True)
class AttributeProfile:
    """Rows that carry a value of an attribute and how many different ones, in all and for each activity that has any."""

    rows: int
    distinct: int
    acts: Mapping[str, Held]


@dataclass(frozen=True)
class Profile:
    """Counts of the record layer, keyed by (channel, activity), and the coarsest grain of each channel."""

    events: int
    cases: int
    pairs: Mapping[tuple[str, str], PairProfile]
    grains: Mapping[str, Grain]
    counts: Mapping[tuple[str, str], int]
    attributes: Mapping[str, AttributeProfile] = field(default_factory=dict)

    def rows(self, channel: str, activity: str) -> int:
        """Rows of ``activity`` in ``channel``."""
        pair = self.pairs.get((channel, activity))
        return pair.rows if pair else 0


def profile(log: EventLog) -> Profile:
    """Profile of a log; ``counts`` maps (kind, name) of roles, locations, objects, actions and channels to
    rows.
    """
    connection = log.connection
    recorded = ", ".join(f'count("{a}")' for a in ATTRIBUTES)
    sole = ", ".join(f'CASE WHEN min("{a}") = max("{a}") THEN min("{a}") END' for a in KEYS)
    pairs: dict[tuple[str, str], PairProfile] = {}
    counts: dict[tuple[str, str], int] = {}
    rows = connection.execute(
        f"SELECT channel, activity, count(*), count(DISTINCT case_id), {recorded}, {sole} FROM events "
        "WHERE channel IS NOT NULL AND activity IS NOT NULL GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    values: dict[tuple[str, str, str], dict[str, int]] = {}
    for attribute in ("role", "object", "location"):
        for channel, activity, value, n in connection.execute(
            f'SELECT channel, activity, "{attribute}", count(*) AS n FROM events WHERE channel IS NOT NULL '
            "AND activity IS NOT NULL "
            f'AND "{attribute}" IS NOT NULL GROUP BY channel, activity, "{attribute}" '
            f'QUALIFY row_number() OVER (PARTITION BY channel, activity ORDER BY n DESC, "{attribute}") <= '
            "1000"
        ).fetchall():
            values.setdefault((channel, activity, attribute), {})[value] = n
    clocks = {
        pair: known
        for pair, grains in log.clocks.items()
        if (known := {g for g in grains if g in get_args(Grain)})
    }
    for channel, activity, n, cases, *found in rows:
        present, only = found[: len(ATTRIBUTES)], zip(KEYS, found[len(ATTRIBUTES) :], strict=True)
        pairs[channel, activity] = PairProfile(
            n,
            cases,
            dict(zip(ATTRIBUTES, present, strict=True)),
            {a: values.get((channel, activity, a), {}) for a in ("role", "object", "location")},
            coarsest(clocks[channel, activity]) if (channel, activity) in clocks else None,
            {key: value for key, value in only if value is not None},
        )
    for kind, column in (
        ("role", "role"),
        ("location", "location"),
        ("object", "object"),
        ("action", "activity"),
        ("channel", "channel"),
    ):
        for name, n in connection.execute(
            f'SELECT "{column}", count(*) FROM events WHERE "{column}" IS NOT NULL GROUP BY ALL'
        ).fetchall():
            counts[kind, name] = n
    grains: dict[str, set[Grain]] = {}
    for (channel, _), seen in clocks.items():
        grains.setdefault(channel, set()).update(seen)
    attributes = {
        a.name: _of_attribute(log, attribute_column(i)) for i, a in enumerate(log.records.attributes)
    }
    return Profile(
        log.events, log.cases, pairs, {c: coarsest(g) for c, g in grains.items()}, counts, attributes
    )


def _of_attribute(log: EventLog, column: str) -> AttributeProfile:
    """The values of one attribute, in all and by activity."""
    acts = {
        activity: Held(rows, distinct)
        for activity, rows, distinct in log.connection.execute(
            f"SELECT activity, count({column}) AS n, count(DISTINCT {column}) FROM events "
            "WHERE activity IS NOT NULL GROUP BY ALL HAVING n > 0 ORDER BY ALL"
        ).fetchall()
    }
    rows, distinct = log.connection.execute(
        f"SELECT count({column}), count(DISTINCT {column}) FROM events"
    ).fetchone() or (0, 0)
    return AttributeProfile(rows, distinct, acts)


def declared_profile(schema: Schema, records: RecordLayer) -> Profile:
    """What a record layer without a log declares, in the shape of counts: one imagined case with a row for
    each pair and role.

    It says that something could be recorded, never how often; what is read from it as support is no better
    than declared (:func:`gnrs_ppl.evaluate.hard_ok.support_of`). Rows are taken to name who acted, in one of
    the roles that may.
    """
    everyone = tuple(role.name for role in schema.roles)
    actions = {action.name: action for action in schema.actions}
    pairs: dict[tuple[str, str], PairProfile] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for channel in records.channels:
        for activity in (channel.activities or ()) if channel.durable else ():
            action = actions[activity]
            fields: tuple[tuple[str, tuple[str, ...]], ...] = (
                ("role", action.roles or everyone),
                ("location", action.locations),
                ("object", action.objects),
            )
            rows = max(1, *(len(names) for _, names in fields))
            values = {kind: dict.fromkeys(names, 1) for kind, names in fields}
            recorded = {"resource": rows} | {kind: rows if names else 0 for kind, names in fields}
            pairs[channel.name, activity] = PairProfile(rows, 1, recorded, values)
            counts.update(
                [
                    ("channel", channel.name),
                    ("action", activity),
                    *((kind, name) for kind, names in fields for name in names),
                ]
            )
    rows = sum(pair.rows for pair in pairs.values())
    acts = {activity: Held(1, 1) for _, activity in pairs}
    attributes = {a.name: AttributeProfile(1, 1, acts) for a in records.attributes}
    return Profile(rows, 1, pairs, {}, counts, attributes)
