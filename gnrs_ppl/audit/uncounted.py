"""Records of an act that an instance does not count: what is recorded nearest, and why it fulfils nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Literal, NamedTuple

from gnrs_ppl.audit.types import Due, InstanceVerdict
from gnrs_ppl.context.log import EventLog
from gnrs_ppl.context.time import Grain, coarsest
from gnrs_ppl.rule.types import Act, Structure

Why = Literal[
    "before",
    "unstarted",
    "after",
    "follows",
    "same_time",
    "channel",
    "role",
    "place",
    "object",
    "resource",
    "other_object",
    "condition",
    "",
]
"""What keeps a record of the activity from counting; empty where several things may."""


class Row(NamedTuple):
    """A dated record of the event table."""

    event_id: str
    case_id: str
    activity: str
    timestamp: datetime
    offset: int | None
    grain: Grain
    resource: str | None
    role: str | None
    object: str | None
    location: str | None
    channel: str | None

    @property
    def due(self) -> Due:
        """Its time as bounds are said."""
        return Due(self.timestamp + timedelta(minutes=self.offset or 0), self.offset, self.grain)


class Uncounted(NamedTuple):
    """The nearest record that does not count: why, and how far it lies from the time it would have to be in."""

    row: Row
    why: Why
    apart: timedelta
    earlier: bool
    """Whether any record of the activity lies before what called for it, or may."""


def apart(a: Due, b: Due) -> timedelta:
    """How much later an instant is than another, at the coarser of their grains: whole days if either is a date."""
    grain = coarsest({a.grain, b.grain})
    one, other = (_at(x, grain) for x in (a, b))
    return one - other


def _at(due: Due, grain: Grain) -> datetime:
    if grain == "day":
        return due.local.replace(hour=0, minute=0, second=0, microsecond=0)
    utc = due.local - timedelta(minutes=due.offset or 0)
    micro = utc.microsecond if grain == "microsecond" else 0
    return utc.replace(microsecond=micro, second=0 if grain == "minute" else utc.second)


@dataclass(frozen=True)
class Records:
    """The records that sentences of an audit speak of, read from its log when first asked for.

    Attributes
    ----------
    structure : Structure
        The rule.
    log : EventLog
    verdicts : sequence of InstanceVerdict
        Those that may be said.
    """

    structure: Structure
    log: EventLog
    verdicts: Sequence[InstanceVerdict]

    @cached_property
    def _rows(self) -> Mapping[str, Row]:
        norm, trigger = self.structure.norm, self.structure.trigger
        acts = [norm.target(c) for c in norm.constraints] + ([trigger.act] if trigger.act else [])
        columns = ", ".join(f'"{column}"' for column in Row._fields)
        rows = self.log.connection.execute(
            f'SELECT {columns} FROM events WHERE "timestamp" IS NOT NULL AND list_contains($activities, "activity") '
            "AND case_id IN (SELECT unnest($cases::VARCHAR[]))",
            {
                "activities": [name for act in acts for name in act.activities],
                "cases": list({v.case_id for v in self.verdicts if v.verdict != "not_activated"}),
            },
        ).fetchall()
        return {row[0]: Row(*row) for row in rows}

    @cached_property
    def _by_case(self) -> Mapping[str, list[Row]]:
        found: dict[str, list[Row]] = {}
        for row in self._rows.values():
            found.setdefault(row.case_id, []).append(row)
        return found

    def row(self, event_id: str) -> Row | None:
        """A record by its id; None where it is none of these."""
        return self._rows.get(event_id)

    def tied_at(self, verdict: InstanceVerdict, target: Act) -> Grain | None:
        """The grain at which the record that called for an act ties with one of it."""
        opened = self.row(verdict.instance)
        for row in self._by_case.get(verdict.case_id, ()) if opened else ():
            tied = row.activity in target.activities and row is not opened
            if opened and tied and not apart(opened.due, row.due):
                return coarsest({opened.grain, row.grain})
        return None

    def nearest(self, verdict: InstanceVerdict, target: Act, *, back: bool) -> Uncounted | None:
        """The record of a target's activity that lies nearest the time in which none counts; None where the case
        holds none.

        Parameters
        ----------
        verdict : InstanceVerdict
            One in whose time nothing, or too little, was recorded.
        target : Act
            What it asked for.
        back : bool
            Whether it looks back from what called for it.
        """
        opened, found = self.row(verdict.instance), list[Uncounted]()
        stated = self.structure.norm.constraints[verdict.constraint].deadline
        before = False
        for row in self._by_case.get(verdict.case_id, ()):
            if row.activity not in target.activities or row.event_id in (
                verdict.instance,
                *verdict.witnesses,
            ):
                continue
            why: Why = ""
            away = timedelta(0)
            since = apart(row.due, opened.due) if opened is not None else None
            before = before or since is None or since <= away
            if since is not None and (back or since <= away):
                why = "same_time" if not since else "before" if since < away else "follows"
                if back and why == "before":
                    why = self._mismatch(row, verdict, target) or ("before" if stated else "unstarted")
                away = abs(since)
            elif verdict.due is not None and apart(row.due, verdict.due) > away:
                why, away = "after", apart(row.due, verdict.due)
            found.append(Uncounted(row, why or self._mismatch(row, verdict, target), away, before))
        if not found:
            return None
        return min(found, key=lambda one: (one.apart, one.row.timestamp, one.row.event_id))._replace(
            earlier=before
        )

    def _mismatch(self, row: Row, verdict: InstanceVerdict, target: Act) -> Why:
        """Why a record in time does not count."""
        opened = self.row(verdict.instance)
        by = self.structure.norm.correlation(self.structure.norm.constraints[verdict.constraint])
        channels: tuple[str | None, ...] = self.structure.evidence.channels
        if verdict.of_target:
            channels = (self.structure.trigger.channel,)
        if row.channel is not None and row.channel not in channels:
            return "channel"
        patterns = [p for p in target.patterns if p.activity == row.activity]
        for why, column in (("role", "role"), ("place", "location"), ("object", "object")):
            stated = {getattr(p, column) for p in patterns}
            if None not in stated and getattr(row, column) is not None and getattr(row, column) not in stated:
                return why  # type: ignore[return-value]
        if opened is not None:
            same = row.resource == opened.resource
            if (by == "same_resource" and not same) or (by == "different_resource" and same):
                return "resource"
            if by == "same_object" and row.object != opened.object:
                return "other_object"
        return "condition" if all(p.where for p in patterns) else ""
