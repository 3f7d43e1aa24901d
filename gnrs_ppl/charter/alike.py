"""When two pairs of rules are one pair in other words: the same but for names, and for lengths of time that
lie to one another in the same way.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from itertools import product
from typing import Any

from gnrs_ppl.charter.words import Words
from gnrs_ppl.context.time import Duration

COLUMNS = {
    name: column
    for column, names in {
        "activity": ("activity",),
        "role": ("role", "roles"),
        "object": ("object", "objects"),
        "location": ("location", "locations"),
        "channel": ("channel", "channels"),
    }.items()
    for name in names
}
"""Field of a rule -> what its names are names of."""
MULTIPLES = range(-8, 9)
"""How often lengths of time are added up when they are compared: no case has so many events."""
MARGIN = 50
"""Moments by which sums of lengths differ, or not at all, where only their order counts."""


def form(words: Words) -> str:
    """What pairs share that relate alike: the rules, what cases are made of, and what of the records counts,
    each name by the place where it first stands.
    """
    names: dict[tuple[str, str], int] = {}
    durations = words.vocabulary.durations
    rules = [
        rule.model_dump(
            mode="json", exclude={"procedure": True, "scope": {"concerns"}}, exclude_defaults=True
        )
        for rule in words.structures
    ]
    records = words.imagined.records
    logs = dict.fromkeys(
        name
        for rule in words.structures
        for name in (
            rule.trigger.channel,
            *rule.evidence.channels,
            *(c.after.channel for c in rule.norm.constraints if c.after),
        )
        if name is not None
    ) | dict.fromkeys(name for deed in words.deeds for name in deed.channels)
    acts = {deed.activity for deed in words.deeds}
    told = [
        _renamed(rules, "", names, durations),
        [_renamed({**deed._asdict()}, "", names, durations) for deed in words.deeds],
        [
            [
                _renamed(name, "channel", names, durations),
                known and known.durable,
                known and known.grain,
                sorted(
                    names.get(("activity", a), -1) for a in (known and known.activities) or () if a in acts
                ),
            ]
            for name in logs
            for known in [records.channel(name)]
        ],
        [[names.get(("activity", a), -1) for a in ends] for ends in (records.case_start, records.case_end)],
        str(records.match_within),
        [repr(attribute) for attribute in records.attributes],
        len(words.vocabulary.people),
        proportions(durations, words.imagined.moment),
        [repr(records.calendar), records.offset] if any(d.working for d in durations) else [],
    ]
    return json.dumps(told)


def _renamed(value: Any, field: str, names: dict[tuple[str, str], int], durations: Sequence[Duration]) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(one, key, names, durations) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_renamed(one, field, names, durations) for one in value]
    if isinstance(value, str) and field in COLUMNS:
        return names.setdefault((COLUMNS[field], value), len(names))
    if isinstance(value, str) and field in ("deadline", "window"):
        return durations.index(Duration.parse(value))
    return value


def proportions(durations: Sequence[Duration], moment: timedelta) -> list[Any]:
    """How lengths of time lie to one another: which sums of a few of them are longer than which; the lengths
    themselves where there are many, where a calendar says how long they are, or where they differ by moments.
    """
    stated = [str(moment), *map(str, durations)]
    if len(durations) > 3 or any(d.months or d.working for d in durations):
        return stated
    lengths = [86400 * d.days + d.seconds for d in durations]
    sums = [
        sum(times * length for times, length in zip(row, lengths, strict=True))
        for row in product(MULTIPLES, repeat=len(lengths))
    ]
    if any(0 < abs(total) < MARGIN * moment.total_seconds() for total in sums):
        return stated
    return [(total > 0) - (total < 0) for total in sums]
