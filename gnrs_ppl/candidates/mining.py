"""What the traces show: which act comes when, by whom, in which channel. A delay that was observed is evidence, not a norm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from gnrs_ppl.context.load import Context
from gnrs_ppl.context.profile import PairProfile
from gnrs_ppl.context.time import Duration

LADDER = tuple(
    Duration.parse(text)
    for text in (
        "PT5M", "PT10M", "PT15M", "PT20M", "PT30M", "PT45M", "PT1H", "PT90M", "PT2H", "PT3H", "PT4H", "PT6H", "PT8H", "PT12H",
        "P1D", "P2D", "P3D", "P5D", "P7D", "P14D", "P1M", "P2M", "P3M", "P6M", "P1Y",
    )
)  # fmt: skip
"""Durations institutions write: every level a candidate offers is one of these, or a number the goal states."""


class Delays(NamedTuple):
    """Delays from the first act of one kind in a case to the first of another, over the cases that hold both in that order.

    Quantiles are in seconds; ``personal`` is the share in which the same person did both.
    """

    cases: int
    p50: float
    p75: float
    p90: float
    personal: float


@dataclass(frozen=True)
class Traces:
    """What was mined from a context's log."""

    context: Context

    @cached_property
    def homes(self) -> Mapping[str, str]:
        """Activity -> the durable channel that shows it in most cases, closed worlds first among near equals."""
        best: dict[str, tuple[float, str]] = {}
        for (channel, activity), pair in self.context.profile.pairs.items():
            declared = self.context.records.channel(channel)
            rank = (pair.cases * (1.1 if declared and declared.closed_world else 1.0), channel)
            best[activity] = max(best.get(activity, (-1.0, "")), rank)
        return {activity: channel for activity, (_, channel) in sorted(best.items())}

    @cached_property
    def delays(self) -> Mapping[tuple[str, str], Delays]:
        """(earlier act, later act) -> their delays, from each activity's home channel."""
        rows = self.context.log.connection.execute(
            """WITH home AS (SELECT unnest($activities) AS activity, unnest($channels) AS channel),
            firsts AS (SELECT case_id, activity, min(timestamp) AS at, arg_min(resource, timestamp) AS who
                       FROM events JOIN home USING (activity, channel) WHERE timestamp IS NOT NULL GROUP BY case_id, activity)
            SELECT a.activity, b.activity, count(*), quantile_cont(epoch(b.at) - epoch(a.at), [0.5, 0.75, 0.9]),
                   coalesce(avg((a.who = b.who)::INT), 0)
            FROM firsts a JOIN firsts b ON a.case_id = b.case_id AND a.activity <> b.activity AND b.at >= a.at
            GROUP BY ALL ORDER BY ALL""",
            {"activities": list(self.homes), "channels": list(self.homes.values())},
        ).fetchall()
        return {(a, b): Delays(n, p50, p75, p90, personal) for a, b, n, (p50, p75, p90), personal in rows}

    @cached_property
    def heads(self) -> Mapping[str, int]:
        """Role -> how many different people the log shows in it."""
        rows = self.context.log.connection.execute(
            "SELECT role, count(DISTINCT resource) FROM events WHERE role IS NOT NULL AND resource IS NOT NULL GROUP BY role ORDER BY role"
        ).fetchall()
        return dict(rows)

    def cases(self, activity: str) -> int:
        """Cases in which an act is seen in its home channel."""
        return self.pair(activity).cases

    def pair(self, activity: str) -> PairProfile:
        """Counts of an act in its home channel."""
        return self.context.profile.pairs.get((self.homes.get(activity, ""), activity), PairProfile(0, 0))

    def performers(self, activity: str, share: float = 0.1) -> dict[str, int]:
        """Roles that perform at least this share of an act's rows, commonest first."""
        return self._common(activity, "role", share)

    def places(self, activity: str, share: float = 0.1) -> dict[str, int]:
        """Locations of at least this share of an act's rows, commonest first."""
        return self._common(activity, "location", share)

    def things(self, activity: str, share: float = 0.1) -> dict[str, int]:
        """Objects of at least this share of an act's rows, commonest first."""
        return self._common(activity, "object", share)

    def _common(self, activity: str, attribute: str, share: float) -> dict[str, int]:
        pair = self.pair(activity)
        found = {name: n for name, n in pair.values.get(attribute, {}).items() if n >= share * pair.rows}
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def snapped(seconds: float) -> Duration:
    """The shortest duration of the ladder that is not shorter."""
    return next((d for d in LADDER if d.shortest_seconds() >= seconds), LADDER[-1])


def near(duration: Duration) -> tuple[Duration, ...]:
    """A duration with its neighbours on the ladder, ascending."""
    shorter = [d for d in LADDER if d.shortest_seconds() < duration.shortest_seconds()][-1:]
    longer = [d for d in LADDER if d.shortest_seconds() > duration.shortest_seconds()][:1]
    return (*shorter, duration, *longer)


def spoken(seconds: float) -> str:
    """An observed duration for a provenance line."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
