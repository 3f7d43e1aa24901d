"""The sheets of the scenes (vocabulary.yaml, families.yaml) as schema and record layer of a context."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from gnrs_ppl.context.time import Duration

HERE = Path(__file__).parent
OFFSET = "+01:00"
EXTRACTION_HOUR = 17
"""The logs are extracted at five in the afternoon of the last day, in the middle of open cases."""


@cache
def vocabulary() -> dict[str, Any]:
    """Words of the benchmark."""
    return dict(yaml.safe_load((HERE / "vocabulary.yaml").read_text()))


@cache
def families() -> dict[str, dict[str, Any]]:
    """Sheet of every scene family, in the paper's order."""
    return dict(yaml.safe_load((HERE / "families.yaml").read_text()))


def schema(family: str) -> dict[str, Any]:
    """Institutional schema of a family, as a context file writes it."""
    words, sheet = vocabulary(), families()[family]
    parts: dict[str, Any] = {
        part: [term for group in words[part].values() for term in group if term["name"] in sheet[part]]
        for part in ("roles", "locations", "objects")
    }
    parts["actions"] = [action for action in words["actions"] if action["name"] in sheet["actions"]]
    return parts | {"steps": words["steps"]}


def extraction(start: datetime, days: int) -> datetime:
    """The instant at which the logs of a world are extracted, in local time."""
    return start + timedelta(days=days - 1, hours=EXTRACTION_HOUR)


def records(family: str, start: datetime, days: int, log: str) -> dict[str, Any]:
    """Record layer of a family for a world that starts at the local midnight ``start``, as a context file
    writes it.
    """
    words, sheet = vocabulary(), families()[family]
    end = extraction(start, days)
    channels = []
    for channel in words["channels"]:
        spec = sheet["channels"].get(channel["name"])
        if spec is None:
            continue
        channels.append(
            {
                "name": channel["name"],
                "phrase": channel["phrase"],
                "activities": spec["activities"],
                "coverage": [
                    {"start": _written(a), "end": _written(b)} for a, b in coverage(spec, start, end)
                ],
                "closed_world": spec["catches"] == 1.0,
                "grain": spec["grain"],
            }
        )
    lags = any("lag" in spec for spec in sheet["channels"].values())
    return {
        "log": log,
        "offset": OFFSET,
        "channels": channels,
        "observables": words["observables"],
        "quiet_after": sheet["quiet_after"],
        "end_of_observation": _written(end),
        "support": sheet["support"],
    } | ({"match_within": "PT10M"} if lags else {})


def coverage(spec: dict[str, Any], start: datetime, end: datetime) -> list[tuple[datetime, datetime]]:
    """Intervals in which a channel writes: everything but the days it was down, up to the extraction."""
    intervals, since = [], start
    for first, last in spec.get("down", []):
        stop = start + timedelta(days=first)
        if stop >= end:
            break
        intervals.append((since, stop - timedelta(seconds=1)))
        since = start + timedelta(days=last + 1)
    return [*intervals, (since, end)]


def seconds(duration: str) -> float:
    """Length of an ISO 8601 duration without months, in seconds."""
    parsed = Duration.parse(duration)
    return parsed.days * 86_400.0 + parsed.seconds


def _written(moment: datetime) -> str:
    return moment.isoformat() + OFFSET
