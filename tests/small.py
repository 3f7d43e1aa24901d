"""A tiny shop-floor context and log that tests write to a folder, whole or broken."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

LOG = """event_id,case_id,activity,timestamp,resource,role,location,channel
1,s1,StartShift,2024-03-04T08:00:00+01:00,ann,waiter,restaurant,roster_log
2,s1,CheckIn,2024-03-04T08:05:00+01:00,ann,waiter,restaurant,checkin_log
3,s2,StartShift,2024-03-04T08:00:00+01:00,bob,cook,restaurant,roster_log
4,s2,CheckIn,2024-03-04T08:40:00+01:00,bob,cook,restaurant,checkin_log
5,s3,StartShift,2024-03-04T09:00:00+01:00,eve,waiter,restaurant,roster_log
6,s3,Serve,2024-03-04T12:00:00+01:00,eve,waiter,restaurant,roster_log
7,s4,StartShift,2024-03-04T10:00:00+01:00,ann,waiter,restaurant,roster_log
8,s4,Excuse,2024-03-04T09:30:00+01:00,mia,manager,restaurant,roster_log
9,s4,Review,2024-03-04T15:00:00+01:00,mia,manager,restaurant,roster_log
10,s4,Serve,2024-03-05T18:00:00+01:00,ann,waiter,restaurant,roster_log
11,s1,Serve,2024-03-05T18:00:00+01:00,ann,waiter,restaurant,checkin_log
"""

CONTEXT: dict[str, Any] = {
    "goal": {
        "id": "SHIFT-1",
        "intent": "Staff check in soon after their shift starts.",
        "required": ["CheckIn"],
        "roles": ["waiter", "cook"],
        "values": ["timeliness", "fairness"],
    },
    "schema": {
        "roles": ["waiter", "cook", "manager", "owner"],
        "locations": ["restaurant"],
        "objects": ["shift"],
        "actions": [
            {"name": "StartShift", "phrase": "start a shift", "noun": "shift start"},
            {"name": "CheckIn", "phrase": "check in", "noun": "check-in", "roles": ["waiter", "cook"]},
            {"name": "Serve", "phrase": "serve", "noun": "service"},
            {"name": "Excuse", "phrase": "excuse an absence", "noun": "excuse"},
            {"name": "Review", "phrase": "review a shift", "noun": "shift review"},
        ],
        "steps": ["look_into_it", "decide", "make_up_time", "hear_appeal"],
    },
    "records": {
        "log": "log.csv",
        "offset": "+01:00",
        "channels": [
            {
                "name": "roster_log",
                "phrase": "roster",
                "activities": ["StartShift", "Serve", "Excuse", "Review"],
                "closed_world": True,
                "coverage": [{"start": "2024-03-04", "end": "2024-03-05"}],
            },
            {
                "name": "checkin_log",
                "phrase": "check-in log",
                "activities": ["CheckIn", "Serve"],
                "closed_world": True,
                "coverage": [{"start": "2024-03-04", "end": "2024-03-05"}],
            },
            {"name": "badge_log", "phrase": "badge reader", "activities": ["CheckIn", "StartShift"]},
        ],
    },
    "pools": {
        "scope": [
            {"id": "S1", "content": {"roles": ["waiter", "cook"]}},
            {"id": "S2", "content": {"locations": ["restaurant"]}},
        ],
        "trigger": [
            {
                "id": "T1",
                "content": {"act": "StartShift", "channel": "roster_log"},
                "vary": {"window": ["PT30M", "PT2H"]},
            },
            {"id": "T2", "content": {"act": "StartShift", "channel": "roster_log", "once": "first"}},
        ],
        "norm": [
            {
                "id": "N1",
                "content": {"constraints": [{"template": "response", "target": "CheckIn"}]},
                "vary": {"deadline": ["PT15M", "PT30M", "PT1H"]},
            },
            {
                "id": "N2",
                "content": {
                    "constraints": [
                        {"template": "response", "target": "CheckIn", "deadline": "PT15M", "unless": "Excuse"}
                    ]
                },
            },
            {
                "id": "N3",
                "content": {
                    "force": "should",
                    "constraints": [{"template": "response", "target": "Serve", "deadline": "PT1H"}],
                },
            },
        ],
        "evidence": [
            {"id": "E1", "content": {"channels": ["checkin_log", "roster_log"], "operator": "any"}},
            {"id": "E2", "content": {"channels": ["roster_log"]}},
            {"id": "E3", "content": {"channels": ["badge_log", "checkin_log"]}},
        ],
        "procedure": [
            {
                "id": "P1",
                "content": {
                    "steps": [
                        {
                            "stage": "review",
                            "name": "look_into_it",
                            "role": "manager",
                            "inspects": "checkin_log",
                            "activity": "Review",
                        },
                        {"stage": "decision", "name": "decide", "role": "manager"},
                        {"stage": "remedy", "name": "make_up_time", "role": "manager"},
                        {"stage": "appeal", "name": "hear_appeal", "role": "owner"},
                    ]
                },
                "vary": {"response_time": ["P1D", "P3D"]},
            },
            {
                "id": "P2",
                "content": {
                    "steps": [
                        {
                            "stage": "review",
                            "name": "look_into_it",
                            "role": "manager",
                            "inspects": "roster_log",
                        }
                    ]
                },
            },
        ],
    },
}

RULE: dict[str, Any] = {
    "rule": {
        "trigger": {"act": "StartShift", "channel": "roster_log"},
        "norm": {
            "constraints": [
                {"template": "response", "target": "CheckIn", "deadline": "PT15M", "unless": "Excuse"}
            ]
        },
        "evidence": {"channels": ["checkin_log", "roster_log"], "operator": "any"},
        "procedure": {
            "steps": [
                {
                    "stage": "review",
                    "name": "look_into_it",
                    "role": "manager",
                    "inspects": "roster_log",
                    "activity": "Review",
                }
            ],
            "response_time": "P1D",
        },
    }
}


def changed(base: dict[str, Any], *edits: tuple[str, Any]) -> dict[str, Any]:
    """A copy of ``base`` with the values at some dotted paths replaced; ``...`` removes the key."""
    data = copy.deepcopy(base)
    for path, value in copy.deepcopy(edits):
        *parents, last = path.split(".")
        place: Any = data
        for part in parents:
            place = place[int(part)] if isinstance(place, list) else place[part]
        if value is ...:
            del place[last]
        elif isinstance(place, list):
            place[int(last)] = value
        else:
            place[last] = value
    return data


def write(
    folder: Path,
    context: dict[str, Any] | str | bytes = CONTEXT,
    log: str | bytes = LOG,
    rule: dict[str, Any] = RULE,
) -> Path:
    """context.json, log.csv and rule.json in ``folder``; the context's path."""
    for name, content in (("context.json", context), ("log.csv", log), ("rule.json", rule)):
        raw = json.dumps(content) if isinstance(content, dict) else content
        (folder / name).write_bytes(raw.encode() if isinstance(raw, str) else raw)
    return folder / "context.json"
