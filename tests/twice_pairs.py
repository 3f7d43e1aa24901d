"""Random (rule, log) pairs in the night when clocks are put back: the pairs of ``pairs.py`` moved to where local
times come twice (G8)."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from pairs import BASE, random_pair

from gnrs_ppl.context.log import Event
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.rule.types import Structure

AMSTERDAM = ZoneInfo("Europe/Amsterdam")
EVENING = datetime(2024, 10, 26, 22)


def minutes(at: datetime) -> int:
    ahead = at.utcoffset()
    assert ahead is not None
    return int(ahead.total_seconds()) // 60


def twice_pair(
    seed: int, template: str, operator: str, cases: int = 16
) -> tuple[Structure, RecordLayer, list[Event]]:
    """The pair of a seed for one template and operator, moved to the night of the 27th of October."""
    structure, layer, events = random_pair(seed, template, operator, cases)
    rng = random.Random(f"twice {seed} {template} {operator}")
    shift = EVENING + timedelta(minutes=20 * rng.randrange(9)) - BASE

    def moved(event: Event) -> Event:
        if event.timestamp is None:
            return event
        at = event.timestamp + shift
        if event.grain == "day" or rng.random() < 0.3:
            return event._replace(timestamp=at)
        ahead = minutes(at.replace(tzinfo=UTC).astimezone(AMSTERDAM))
        return event._replace(timestamp=at, offset=ahead)

    told = layer.model_dump() | {"offset": None, "zone": "Europe/Amsterdam"}
    for channel in told["channels"]:
        for interval in channel["coverage"] or ():
            interval |= {side: interval[side] + shift for side in ("start", "end")}
    if layer.end_of_observation is not None:
        told["end_of_observation"] = layer.end_of_observation + shift
    return structure, RecordLayer.model_validate(told), [moved(event) for event in events]
