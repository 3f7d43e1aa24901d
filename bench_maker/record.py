"""What the durable channels write down of a world, and how many glimpses nothing keeps."""

from __future__ import annotations

import math
import zlib
from collections import Counter
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np

from bench_maker.sheets import coverage, extraction, families, seconds
from bench_maker.stage import World

GRAIN_SECONDS = {"second": 1.0, "minute": 60.0}
GLIMPSED = {
    "MoveTo": ("position", "room_presence"),
    "Patrol": ("position", "room_presence"),
    "Interact": ("object_state", "object_possession"),
    "Craft": ("object_state", "resource_affordance"),
    "Harvest": ("object_state", "resource_affordance"),
    "Deliver": ("object_possession", "need_state_delta"),
    "Trade": ("object_possession", "social_interaction_event"),
    "Speak": ("social_interaction_event",),
}
"""The observables in which an act shows while it happens."""


class EventRow(NamedTuple):
    """One row of a durable channel; ``at`` is the written instant, ``act`` the number of the act behind it
    (never shipped).
    """

    act: int
    channel: str
    at: float
    case: str
    activity: str
    resource: str | None
    role: str | None
    object: str | None
    location: str | None
    value: str | None


def record(world: World, start: datetime) -> list[EventRow]:
    """Rows of every durable channel, in the order in which they were written.

    Parameters
    ----------
    world : World
        What happened.
    start : datetime
        The local midnight the world starts at; a channel's gaps and the extraction are counted from it.
    """
    end = extraction(start, world.days)
    rows = []
    for name, spec in families()[world.family]["channels"].items():
        rng = np.random.default_rng([world.seed, zlib.crc32(name.encode())])
        grain, lag = GRAIN_SECONDS[spec["grain"]], seconds(spec["lag"]) if "lag" in spec else 0.0
        writes = [
            ((a - start).total_seconds(), (b - start).total_seconds()) for a, b in coverage(spec, start, end)
        ]
        for act in world.acts:
            if act.action not in spec["activities"]:
                continue
            caught, delay, *lost = rng.random(), lag * math.exp(0.5 * rng.standard_normal()), *rng.random(3)
            at = math.floor((act.at + delay) / grain) * grain
            if caught >= spec["catches"] or not any(a <= act.at and at <= b for a, b in writes):
                continue
            fields = {"resource": act.by, "role": act.role, "object": act.object, "location": act.where}
            fields |= dict.fromkeys(spec.get("omits", ()))
            for chance, (field, share) in zip(lost, spec.get("loses", {}).items(), strict=False):
                if chance < share:
                    fields[field] = None
            rows.append(EventRow(act.number, name, at, act.case, act.action, value=act.item, **fields))
    return sorted(rows, key=lambda row: (row.at, row.act, row.channel))


def stamp(start: datetime, at: float) -> datetime:
    """Local wall time of an instant of a world, to the second."""
    return start + timedelta(seconds=math.floor(at))


def glimpses(world: World) -> Counter[str]:
    """How often each observable showed an act that only a durable channel could have kept."""
    return Counter(observable for act in world.acts for observable in GLIMPSED.get(act.action, ()))
