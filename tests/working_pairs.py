"""Random (rule, log) pairs that count working time: the pairs of ``pairs.py`` with their durations in working
days and hours, moved to weeks in which clocks change and holidays fall, on calendars of all kinds (W entries).
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

from pairs import BASE, random_pair

from gnrs_ppl.context.log import Event
from gnrs_ppl.context.types import Calendar, RecordLayer
from gnrs_ppl.rule.types import Structure

WEEKS = (
    datetime(2024, 1, 29, 9), datetime(2024, 3, 29, 9), datetime(2024, 10, 27, 0), datetime(2024, 12, 30, 9)
)  # fmt: skip
"""An ordinary week, Easter with the clocks put forward, clocks put back, the turn of the year."""
ZONES = ("UTC", "Europe/Amsterdam", "America/New_York", "Asia/Kolkata", "Africa/Cairo", "Australia/Lord_Howe")
HOURS: tuple[list[str], ...] = (
    ["09:00-17:00"],
    ["08:30-12:30", "13:15-17:00"],
    ["00:00-24:00"],
    ["01:00-02:30", "02:45-10:00", "22:00-24:00"],
    [],
)
HOLIDAYS: tuple[Any, ...] = (
    [],
    {"country": "NL"},
    {"country": "GB", "subdivision": "SCT"},
    ["2024-03-29", "2024-04-01", "2024-12-25", "2024-12-31"],
    ["2024-01-30", "2025-01-01"],
)


def random_calendar(rng: random.Random) -> Calendar:
    """A calendar of any kind."""
    return Calendar.model_validate(
        {
            "weekdays": rng.choice((list(Calendar().weekdays), ["monday", "thursday", "saturday", "sunday"])),
            "hours": rng.choice((*HOURS[:1] * 3, *HOURS)),
            "zone": rng.choice((None, ZONES[1], *ZONES)),
            "holidays": rng.choice(HOLIDAYS),
        }
    )


def working_pair(
    seed: int, template: str, operator: str, cases: int = 16
) -> tuple[Structure, RecordLayer, list[Event]]:
    """The pair of a seed for one template and operator."""
    structure, records, events = random_pair(seed, template, operator, cases)
    rng = random.Random(f"working {seed} {template} {operator}")
    shift = rng.choice(WEEKS) - BASE
    rows = [row._replace(timestamp=row.timestamp + shift) if row.timestamp else row for row in events]
    return _in_working_time(rng, structure), _moved(rng, records, shift), rows


def _in_working_time(rng: random.Random, structure: Structure) -> Structure:
    rule = structure.model_dump()
    (constraint,) = rule["norm"]["constraints"]
    long = "D" in rule["procedure"]["response_time"]
    kind = rng.choice(("WD", "WD", "WH")) if long else "WH"
    lengths = {"WD": (1, 2, 3), "WH": (8, 16, 60)}[kind] if long else (1, 2)
    deadline = f"{rng.choice(lengths)}{kind}"
    if constraint["deadline"] is not None:
        constraint["deadline"] = deadline
    if rule["trigger"]["window"] is not None:
        rule["trigger"]["window"] = f"{max(lengths) + rng.choice((0, 2))}{kind}"
    rule["procedure"]["response_time"] = deadline
    return Structure.model_validate(rule)


def _moved(rng: random.Random, records: RecordLayer, shift: timedelta) -> RecordLayer:
    """The records some weeks on, with a calendar."""
    layer = records.model_dump()
    for channel in layer["channels"]:
        for interval in channel["coverage"] or ():
            interval |= {side: interval[side] + shift for side in ("start", "end")}
    if records.end_of_observation is not None:
        layer["end_of_observation"] = records.end_of_observation + shift
    if rng.random() < 0.95:
        layer["calendar"] = random_calendar(rng)
    if rng.random() < 0.3:
        layer |= {"offset": None, "zone": rng.choice(ZONES[1:3])}
    return RecordLayer.model_validate(layer)
