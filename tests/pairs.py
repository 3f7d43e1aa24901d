"""Random (rule, log) pairs aimed at the cells of template × operator × verdict, for the compiler against the
oracle.

Times sit on a coarse lattice around each activation, so that ties, bounds and gaps are hit often; every field
is null now and then; the logs' coverage has gaps; grains and offsets are mixed.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

from gnrs_ppl.context.log import Event
from gnrs_ppl.context.time import GRAIN_LENGTH, Grain
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.rule.types import COUNTING, LOOK_BACK, MUTUAL, NEIGHBOURS, ORDERED, TWO_SIDED, Structure

TRIGGER_LOG = "desk_log"
EVIDENCE = ("site_log", "gate_log", "phone_log")
ACTIVITIES = {
    "site_log": ["Visit", "Waive", "Letter"],
    "gate_log": ["Visit", "Waive"],
    "phone_log": ["Waive", "Visit", "Letter"],
}
OPERATORS = ("any", "all", "at_least")
BASE = datetime(2024, 1, 29, 9, 0)


class Setting:
    """One random setting: a lattice step, the grains of the logs, the offsets of the rows, and whether
    exceptions are aimed at."""

    def __init__(self, rng: random.Random, excused: bool) -> None:
        self.excused = excused
        self.days = rng.random() < 0.45
        self.step = timedelta(hours=12) if self.days else timedelta(minutes=10)
        palettes: list[tuple[Grain, ...]] = [("second",), ("minute",), ("microsecond",), ("second", "minute")]
        palettes += [("day",), ("day", "second"), ("day", "second", "minute")] if self.days else []
        self.grains = rng.choice(palettes)
        self.offsets = rng.choice([(0,), (60,), (0, 60), (-300, 330)])
        self.deadline = rng.choice(["P1D", "P2D", "P1M1D"] if self.days else ["PT20M", "PT30M", "PT1H"])
        self.window = rng.choice(["P3D", "P2M"] if self.days else ["PT1H", "PT3H"])
        self.span = 70 if self.deadline == "P1M1D" else 12


def random_rule(rng: random.Random, template: str, operator: str, setting: Setting) -> Structure:
    """A rule of one template and operator that the compile-time checks accept on most logs."""
    count = rng.choice((1, 1, 2, 3)) if template in COUNTING and operator != "all" else 1
    several = count > 1 or template in (
        "exactly",
        "exclusive_choice",
        *NEIGHBOURS,
        *MUTUAL,
    )  # these go with k = 1 only
    channels = EVIDENCE if operator == "at_least" else rng.choice((EVIDENCE[:2], EVIDENCE))
    if template in NEIGHBOURS:
        channels = rng.choice((EVIDENCE[:1], EVIDENCE[:2], (*EVIDENCE[:2], TRIGGER_LOG)))
    elif "chain" in template:
        channels = rng.choice((EVIDENCE[:1], (EVIDENCE[0], TRIGGER_LOG)))
    elif template in MUTUAL:
        channels = EVIDENCE[:1]
    evidence: dict[str, Any] = {"channels": list(channels), "operator": operator}
    if operator == "at_least":
        evidence["k"] = 1 if several else rng.choice((1, 2, 2))
    case_start = rng.random() < (
        0.4 if template in ("init", "end") else 0.0 if template in (*MUTUAL, *NEIGHBOURS) else 0.12
    )
    office = (case_start and template not in NEIGHBOURS) or rng.random() < 0.25
    constraint: dict[str, Any] = {"template": template, "target": random_act(rng, "Visit"), "count": count}
    if template == "exclusive_choice":
        constraint["target"] = {"any_of": [constraint["target"], random_act(rng, "Letter")]}
    if template not in ("init", "end") and rng.random() < (
        0.55 if template in (*LOOK_BACK, *TWO_SIDED) else 0.8
    ):
        constraint["deadline"] = setting.deadline
    if not case_start and template not in MUTUAL and rng.random() < 0.2:
        constraint["after"] = {"act": {"activity": "Call"}, "channel": TRIGGER_LOG}
    if setting.excused or rng.random() < 0.4:
        constraint["unless"] = random_act(rng, "Waive")
    if case_start:
        constraint["correlate"] = "same_case"
    elif rng.random() < 0.7:
        constraint["correlate"] = rng.choice(("same_case", "same_case", "same_resource", "same_object"))
    trigger: dict[str, Any] = {} if case_start else {"act": random_act(rng, "Open"), "channel": TRIGGER_LOG}
    if rng.random() < 0.3:
        trigger["window"] = setting.window
        if setting.deadline == "P1M1D" and setting.window == "P3D":
            trigger["window"] = "P2M"
    if not case_start and rng.random() < 0.2:
        trigger["once"] = "first"
    scope: dict[str, Any] = {}
    if template not in MUTUAL and rng.random() < 0.2:
        scope["roles"] = ["clerk", "guard"] if rng.random() < 0.5 else ["clerk"]
    if template not in MUTUAL and rng.random() < 0.1:
        scope["locations"] = ["north"]
    norm = {"constraints": [constraint], "bearer": {"role": "clerk"} if office else "trigger"}
    steps = [{"stage": "review", "name": "look", "role": "guard", "activity": "Review"}]
    procedure = {"steps": steps, "response_time": setting.deadline}
    return Structure.model_validate(
        {"scope": scope, "trigger": trigger, "norm": norm, "evidence": evidence, "procedure": procedure}
    )


def widened(rng: random.Random, structure: Structure) -> Structure:
    """The rule with ties declared, earlier acts counted and alternatives named, now and then (A, T and L
    entries)."""
    rule = structure.model_dump()
    (constraint,) = rule["norm"]["constraints"]
    template, policy = constraint["template"], rule["evidence"]
    if template == "response" and rng.random() < 0.2:
        constraint["earlier_counts"] = True
    elif template in ORDERED and rng.random() < 0.4:
        constraint["ties"] = rng.choice(("unknown", "fulfil", "violate"))
    agreed = policy["operator"] == "all" or (policy["k"] or 1) > 1
    places = [{"activity": "Visit", "location": "north"}, {"activity": "Visit", "object": "bike"}]
    if template != "exclusive_choice" and rng.random() < 0.2:
        constraint["target"] = {
            "any_of": places
            if agreed and template not in MUTUAL
            else ["Visit", {"activity": "Letter", "object": "car"}]
        }
    if constraint["unless"] is not None and not agreed and rng.random() < 0.2:
        constraint["unless"] = {"any_of": ["Waive", {"activity": "Letter", "location": "south"}]}
    if rule["trigger"]["act"] is not None and rng.random() < 0.15:
        rule["trigger"]["act"] = {
            "any_of": [{"activity": "Open", "location": "north"}, {"activity": "Call", "object": "bike"}]
        }
        if constraint["after"] is not None:
            constraint["after"]["act"] = {"any_of": ["Call", "Review"]}
    if rule["trigger"]["act"] is None and rng.random() < 0.5:
        rule["norm"]["bearer"] = "trigger"  # nobody in particular
    return Structure.model_validate(rule)


def random_act(rng: random.Random, activity: str) -> dict[str, str]:
    """An act that states a location or an object now and then."""
    stated = rng.choice(((), (), (), (), (("location", "north"),), (("object", "car"),)))
    return {"activity": activity, **dict(stated)}


def random_records(rng: random.Random, setting: Setting) -> RecordLayer:
    """A record layer whose capability is declared and whose coverage, closed worlds and ends vary."""
    start, end = BASE - timedelta(days=20), BASE + timedelta(days=rng.choice((20, 90)))
    channels: list[dict[str, Any]] = [
        {
            "name": TRIGGER_LOG,
            "activities": ["Open", "Call", "Start", "End", "Review"],
            "closed_world": rng.random() < 0.5,
        }
    ]
    for name in EVIDENCE:
        channel: dict[str, Any] = {
            "name": name,
            "activities": ACTIVITIES[name],
            "closed_world": rng.random() < 0.85,
        }
        if rng.random() < 0.8:
            gap = start + (end - start) * rng.random()
            whole = [{"start": start.isoformat() + "Z", "end": end.isoformat() + "Z"}]
            holed = [
                {"start": start.date().isoformat(), "end": (gap - timedelta(hours=1)).isoformat() + "+01:00"},
                {"start": gap.isoformat() + "+01:00", "end": end.date().isoformat()},
            ]
            channel["coverage"] = whole if rng.random() < 0.75 else holed
        channels.append(channel)
    data: dict[str, Any] = {"channels": channels, "offset": rng.choice(("+00:00", "+01:00"))}
    if rng.random() < 0.5:
        data["case_start"] = ["Start"]
    data["case_end"] = ["End"]
    if rng.random() < 0.4:
        data["quiet_after"] = "P2D" if setting.days else "PT2H"
    if rng.random() < 0.4:
        data["match_within"] = "P1D" if setting.days else "PT5M"
    if rng.random() < 0.7:
        seen = BASE + setting.step * rng.choice((2, 4, 8, 60, 200))
        data["end_of_observation"] = (
            seen.date().isoformat() if setting.days and rng.random() < 0.5 else seen.isoformat() + "Z"
        )
    return RecordLayer.model_validate(data)


class LogWriter:
    """Collects rows, truncated to their grain on their local clock, with a null here and there."""

    def __init__(self, rng: random.Random, setting: Setting) -> None:
        self.rng, self.setting, self.rows = rng, setting, list[Event]()

    def add(self, case: str, activity: str, channel: str, at: datetime, **fields: str | None) -> None:
        rng, grain = self.rng, self.rng.choice(self.setting.grains)
        offset = rng.choice(self.setting.offsets)
        local = at + timedelta(minutes=offset)
        local -= (local - datetime(1970, 1, 1)) % GRAIN_LENGTH[grain]
        row = Event(
            event_id=f"e{len(self.rows):04d}",
            case_id=case,
            activity=activity,
            timestamp=local - timedelta(minutes=offset),
            offset=offset,
            grain=grain,
            resource=fields.get("resource", rng.choice(("ann", "ann", "bob"))),
            role=fields.get("role", rng.choice(("clerk", "clerk", "clerk", "guard"))),
            object=rng.choice(("car", "car", "bike")),
            location=rng.choice(("north", "north", "south")),
            channel=channel,
        )
        if rng.random() < (0.02 if self.setting.excused else 0.12):
            field = rng.choice(("activity", "timestamp", "resource", "role", "object", "location", "channel"))
            row = row._replace(
                **(
                    {"timestamp": None, "offset": None, "grain": None}
                    if field == "timestamp"
                    else {field: None}
                )
            )
        self.rows.append(row)


def random_log(rng: random.Random, structure: Structure, setting: Setting, cases: int) -> list[Event]:
    """Cases whose target rows sit before, on, inside, on and after the bounds, in none to all of the logs."""
    writer, step = LogWriter(rng, setting), setting.step
    channels, template = structure.evidence.channels, structure.norm.constraints[0].template
    for number in range(cases):
        case = f"case{number:02d}"
        opened = BASE + step * rng.randrange(0, 4) + timedelta(seconds=rng.choice((0, 0, 25)))
        if rng.random() < 0.6:
            writer.add(case, "Start", TRIGGER_LOG, opened - step * rng.randrange(-1, 6))
        for _ in range(rng.choice((1, 1, 1, 2)) if rng.random() < 0.93 else 0):
            writer.add(case, "Open", TRIGGER_LOG, opened)
        if rng.random() < 0.6:
            writer.add(case, "Call", TRIGGER_LOG, opened + step * rng.randrange(-1, 4))
        for _ in range(rng.choice((0, 0, 1, 1, 2, 3, 4))):
            near = -rng.randrange(1, 4) if template in LOOK_BACK else rng.choice((0, 2, 3))
            at = opened + step * rng.choice(
                (rng.randrange(-4, 8), near, near, rng.randrange(-setting.span, setting.span))
            )
            some = not setting.excused and rng.random() < 0.5
            alone = template in COUNTING and rng.random() < 0.7  # several logs leave counts undecided (V9)
            for channel in (
                channels[:1]
                if alone
                else rng.sample(channels, rng.randrange(1, len(channels) + 1))
                if some
                else channels
            ):
                lag = rng.choice((timedelta(0), timedelta(0), step / 60, step / 10, step))
                writer.add(case, "Visit", channel, at if setting.excused else at + lag)
        if rng.random() < (0.8 if setting.excused else 0.3):
            at = opened + step * (rng.choice((-2, -1)) if setting.excused else rng.randrange(-4, 4))
            for channel in channels if setting.excused or rng.random() < 0.7 else channels[:1]:
                writer.add(case, "Waive", channel, at)
        if rng.random() < 0.2:
            writer.add(case, "Review", TRIGGER_LOG, opened + step * rng.randrange(0, 12))
        if rng.random() < 0.6:
            writer.add(case, "End", TRIGGER_LOG, opened + step * rng.randrange(-1, 10))
    return writer.rows


def random_pair(
    seed: int, template: str, operator: str, cases: int = 16
) -> tuple[Structure, RecordLayer, list[Event]]:
    """The pair of a seed for one template and operator; every second seed aims at exceptions."""
    rng = random.Random(f"{seed} {template} {operator}")
    setting = Setting(rng, excused=seed % 2 == 1)
    structure = random_rule(rng, template, operator, setting)
    pair = structure, random_records(rng, setting), random_log(rng, structure, setting, cases)
    more = random.Random(f"more {seed} {template} {operator}")
    rule, rows = widened(more, structure), busier(more, template, pair[2])
    return pardoned(random.Random(f"meantime {seed} {template} {operator}"), rule), pair[1], rows


def pardoned(rng: random.Random, structure: Structure) -> Structure:
    """The rule with an exception that counts in the meantime alone, now and then (X entries)."""
    (constraint,) = structure.norm.constraints
    if (
        constraint.unless is None
        or constraint.template in (*LOOK_BACK, *MUTUAL, "init")
        or rng.random() < 0.65
    ):
        return structure
    meanwhile = constraint.model_copy(update={"in_the_meantime": True})
    norm = structure.norm.model_copy(update={"constraints": (meanwhile,)})
    return structure.model_copy(update={"norm": norm})


def busier(rng: random.Random, template: str, rows: list[Event]) -> list[Event]:
    """The log with some visits and waivers as letters, and around neighbour templates with notes beside
    them."""
    changed = [
        row._replace(activity="Letter") if row.activity == "Visit" and rng.random() < 0.15 else row
        for row in rows
    ]
    if "alternate" in template:  # further rows of the activation, in time and at one instant with others
        dated = [r for r in changed if r.timestamp is not None and r.activity is not None]
        again = [
            row._replace(
                event_id=f"a{row.event_id}",
                activity="Open",
                channel=TRIGGER_LOG,
                timestamp=row.timestamp
                + (timedelta(days=1) if row.grain == "day" else timedelta(minutes=7))
                * rng.choice((0, 1, 1, 3)),
            )
            for row in dated
            if row.timestamp is not None and rng.random() < 0.15
        ]
        changed = changed + again
    if template in MUTUAL:  # rows that may open either half
        changed = [
            row._replace(activity=None, channel=None) if rng.random() < 0.02 else row for row in changed
        ]
    if template not in NEIGHBOURS and "chain" not in template:
        return changed
    notes = [
        row
        for row in changed
        if row.timestamp is not None and row.activity is not None and rng.random() < 0.12
    ]
    return changed + [
        row._replace(event_id=f"n{row.event_id}", activity="Note", channel=rng.choice(EVIDENCE))
        for row in notes
    ]
