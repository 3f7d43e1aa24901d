"""What the traces show: which act comes when, by whom, in which channel. A delay that was observed is
evidence, not a norm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gnrs_ppl.context.log import EventLog
from gnrs_ppl.context.profile import PairProfile, Profile
from gnrs_ppl.context.types import RecordLayer

STEPS = 20
"""Quantiles of delays are kept at every twentieth."""


class Delays(NamedTuple):
    """Delays from the first act of one kind in a case to the first of another, over the cases that hold both
    in that order.

    Attributes
    ----------
    cases : int
        How many cases these are.
    quantiles : tuple of float
        Seconds, at 0, 1/20, ..., 1.
    personal : float
        Share in which the same person did both, of those where the log names both; 0 where there are none.
    """

    cases: int
    quantiles: tuple[float, ...]
    personal: float

    def quantile(self, share: float) -> float:
        """Seconds within which this share of the delays lies."""
        return float(np.interp(share, np.linspace(0, 1, STEPS + 1), self.quantiles))

    def share_within(self, seconds: float) -> float:
        """Share of the delays that are not longer, by linear interpolation between the quantiles."""
        return float(np.interp(seconds, self.quantiles, np.linspace(0, 1, STEPS + 1), left=0.0))


@dataclass(frozen=True)
class Traces:
    """What was mined from a log."""

    log: EventLog
    profile: Profile
    records: RecordLayer

    @cached_property
    def homes(self) -> Mapping[str, str]:
        """Activity -> the durable channel that shows it in most cases, closed worlds first among near
        equals.
        """
        best: dict[str, tuple[float, str]] = {}
        for (channel, activity), pair in self.profile.pairs.items():
            declared = self.records.channel(channel)
            rank = (pair.cases * (1.1 if declared and declared.closed_world else 1.0), channel)
            best[activity] = max(best.get(activity, (-1.0, "")), rank)
        return {activity: channel for activity, (_, channel) in sorted(best.items())}

    @cached_property
    def delays(self) -> Mapping[tuple[str, str], Delays]:
        """(earlier act, later act) -> their delays, from each activity's home channel."""
        rows = self.log.connection.execute(
            """WITH home AS (SELECT unnest($activities) AS activity, unnest($channels) AS channel),
            firsts AS (SELECT case_id, activity, min(timestamp) AS at,
                              arg_min(struct_pack(name := resource), struct_pack(at := timestamp, id := event_id)).name AS who
                       FROM events JOIN home USING (activity, channel) WHERE timestamp IS NOT NULL GROUP BY case_id, activity)
            SELECT a.activity, b.activity, count(*),
                   CASE WHEN count(*) = 1 THEN [min(epoch(b.at) - epoch(a.at))]
                        ELSE quantile_cont(epoch(b.at) - epoch(a.at), $quantiles) END,
                   coalesce(avg((a.who = b.who)::INT), 0)
            FROM firsts a JOIN firsts b ON a.case_id = b.case_id AND a.activity <> b.activity AND b.at >= a.at
            GROUP BY ALL ORDER BY ALL""",
            {
                "activities": list(self.homes),
                "channels": list(self.homes.values()),
                "quantiles": [step / STEPS for step in range(STEPS + 1)],
            },
        ).fetchall()
        # a log of many acts has most pairs once: one number of each is fetched, not twenty-one
        return {
            (a, b): Delays(n, tuple(quantiles) if n > 1 else (STEPS + 1) * tuple(quantiles), personal)
            for a, b, n, quantiles, personal in rows
        }

    def before(self, one: str, other: str) -> float:
        """Share of the cases with both acts in which the one comes first, one half where there are none."""
        first, second = self.delays.get((one, other)), self.delays.get((other, one))
        if first is None or second is None:
            return 0.5 if first is second else float(second is None)
        return first.cases / (first.cases + second.cases)

    @cached_property
    def comes_before(self) -> Mapping[str, float]:
        """Activity -> mean share in which it comes before another, of :meth:`before`; goes through the pairs
        that are seen, as those of many acts mostly are not.
        """
        others = max(len(self.homes) - 1, 1)
        beyond = dict.fromkeys(self.homes, 0.0)  # one half
        for one, other in self.delays:
            if one < other or (other, one) not in self.delays:
                more = self.before(one, other) - 0.5
                beyond[one] += more
                beyond[other] -= more
        return {activity: 0.5 * (len(beyond) > 1) + more / others for activity, more in beyond.items()}

    @cached_property
    def heads(self) -> Mapping[str, int]:
        """Role -> how many different people the log shows in it."""
        rows = self.log.connection.execute(
            "SELECT role, count(DISTINCT resource) FROM events WHERE role IS NOT NULL AND resource IS NOT "
            "NULL GROUP BY role ORDER BY role"
        ).fetchall()
        return dict(rows)

    def cases(self, activity: str) -> int:
        """Cases in which an act is seen in its home channel."""
        return self.pair(activity).cases

    def pair(self, activity: str) -> PairProfile:
        """Counts of an act in its home channel."""
        return self.profile.pairs.get((self.homes.get(activity, ""), activity), PairProfile(0, 0))

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
