"""Random (rule, log) pairs around a change of clocks: the pairs of ``pairs.py`` with durations in months, days and
hours, moved to where the clocks of some zone are put forward or back (G4)."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from pairs import BASE, random_pair
from twice_pairs import minutes

from gnrs_ppl.context.log import Event
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.rule.types import Structure

CHANGES = {
    "Europe/Amsterdam": (datetime(2024, 3, 31, 1), datetime(2024, 10, 27, 1)),
    "America/New_York": (datetime(2025, 3, 9, 7), datetime(2025, 11, 2, 6)),
    "America/Sao_Paulo": (datetime(2018, 11, 4, 3), datetime(2018, 2, 18, 2)),  # at midnight
    "Australia/Sydney": (datetime(2024, 10, 5, 16), datetime(2024, 4, 6, 16)),
    "Australia/Lord_Howe": (datetime(2024, 10, 5, 15, 30), datetime(2024, 4, 6, 15)),  # by half an hour
    "Asia/Kolkata": (datetime(2024, 10, 27),),  # none
}
"""When (UTC) clocks are put forward and back."""
LENGTHS = ("P1D", "P2D", "P1M", "P1M1D", "P1DT2H", "PT24H", "PT36H", "PT50M", "PT3H")
LONGEST = "P3M"


def zoned_pair(
    seed: int, template: str, operator: str, cases: int = 16
) -> tuple[Structure, RecordLayer, list[Event]]:
    """The pair of a seed for one template and operator."""
    structure, layer, events = random_pair(seed, template, operator, cases)
    rng = random.Random(f"zoned {seed} {template} {operator}")
    name = rng.choice(list(CHANGES))
    near = timedelta(days=rng.choice((-30, -2, -1, 0, 1, 2, 30)), minutes=15 * rng.randrange(-8, 8))
    shift = rng.choice(CHANGES[name]) + near - BASE
    rows = [_moved(event, shift, ZoneInfo(name), rng.random() < 0.1) for event in events]
    data = layer.model_dump() | {"offset": None, "zone": name}
    for channel in data["channels"]:
        for interval in channel["coverage"] or ():
            interval |= {side: interval[side] + shift for side in ("start", "end")}
    if layer.end_of_observation is not None:
        data["end_of_observation"] = layer.end_of_observation + shift
    if layer.quiet_after is not None:
        data["quiet_after"] = rng.choice(LENGTHS)
    return _lengthened(rng, structure), RecordLayer.model_validate(data), rows


def _moved(event: Event, shift: timedelta, zone: ZoneInfo, elsewhere: bool) -> Event:
    """A row some weeks on, at the zone's offset, a date at that of its midnight; now and then at another."""
    if event.timestamp is None:
        return event
    at = event.timestamp + shift
    shown = at.replace(tzinfo=UTC).astimezone(zone)
    if event.grain == "day":
        day = datetime(shown.year, shown.month, shown.day)
        ahead = 0 if elsewhere else minutes(day.replace(tzinfo=zone))
        return event._replace(timestamp=day - timedelta(minutes=ahead), offset=None if elsewhere else ahead)
    return event._replace(timestamp=at, offset=0 if elsewhere else minutes(shown))


def _lengthened(rng: random.Random, structure: Structure) -> Structure:
    """The rule with other lengths of time in place of its own."""
    rule = structure.model_dump()
    (constraint,) = rule["norm"]["constraints"]
    length = rng.choice(LENGTHS)
    if constraint["deadline"] is not None:
        constraint["deadline"] = length
    if rule["trigger"]["window"] is not None:
        wide = Duration.parse(length).fits_within(window := Duration.parse(rng.choice(LENGTHS)))
        rule["trigger"]["window"] = str(window) if wide else LONGEST
    rule["procedure"]["response_time"] = rng.choice(LENGTHS)
    return Structure.model_validate(rule)
