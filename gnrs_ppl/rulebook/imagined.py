"""Traces that nobody recorded, on complete records: what a rule means apart from what a log lacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import NamedTuple

from gnrs_ppl.audit.calendar import WorkingTime
from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import compile_rule
from gnrs_ppl.audit.run import evaluate
from gnrs_ppl.audit.types import ROLL_UP, InstanceVerdict, Verdict
from gnrs_ppl.context.log import Event, EventLog
from gnrs_ppl.context.time import GRAIN_LENGTH, Duration, Grain, coarsest
from gnrs_ppl.context.types import Channel, Interval, RecordLayer
from gnrs_ppl.rule.types import Act, Structure

START = datetime(2024, 3, 4, 9)
"""When imagined cases begin, unless something else is said: a Monday morning."""
_YEARS = timedelta(days=4 * 366)
"""How far from then the calendar is laid out."""
COMPLETE = (datetime(1500, 1, 1), datetime(8500, 1, 1))
"""How long the imagined records are complete for."""
EVERYTHING = "every act once"
"""The case that holds every kind of row, so that none counts as never recorded."""
NEVER = "Nothing in this case calls the rule up."


Cells = tuple[tuple[str, str | None], ...]
"""Attributes of a row or a case, each with what its cell holds; None where it is empty."""


class Happening(NamedTuple):
    """A row of an imagined case; ``at`` is local time, ``who`` a person, None what the record leaves out."""

    activity: str | None
    channel: str
    at: datetime
    who: str | None = None
    role: str | None = None
    object: str | None = None
    location: str | None = None
    cells: Cells = ()


Trace = tuple[Happening, ...]


class Said(NamedTuple):
    """What a rule says of a case: the gravest verdict, and all of them (none: never triggered)."""

    verdict: Verdict = "not_activated"
    instances: tuple[InstanceVerdict, ...] = ()

    @property
    def instance(self) -> InstanceVerdict | None:
        """The first instance that has the case's verdict."""
        return next((i for i in self.instances if i.verdict == self.verdict), None)


def by_case(verdicts: Iterable[InstanceVerdict]) -> dict[str, Said]:
    """Case -> what is said of it, of the cases in which a rule is activated (SEMANTICS line 21)."""
    found: dict[str, list[InstanceVerdict]] = {}
    for verdict in verdicts:
        found.setdefault(verdict.case_id, []).append(verdict)
    return {
        case: Said(min((i.verdict for i in instances), key=ROLL_UP.index), tuple(instances))
        for case, instances in found.items()
    }


def acts_of(structure: Structure) -> list[Act]:
    """The acts that a norm's check looks for, the trigger's first."""
    trigger, norm = structure.trigger, structure.norm
    found = [trigger.act] if trigger.act else []
    for constraint in norm.constraints:
        found.append(norm.target(constraint))
        found += [constraint.after.act] if constraint.after else []
        found += [constraint.unless] if constraint.unless else []
    return found


@dataclass(frozen=True)
class Imagined:
    """Records on which imagined traces are judged.

    Attributes
    ----------
    records : RecordLayer
        Complete, with silence meaning absence; what each channel can record, its grain and the end of cases
        are those of the real records.
    """

    records: RecordLayer

    @cached_property
    def _calendars(self) -> dict[Duration, WorkingTime]:
        """The calendar, laid out for each length of working time that was asked for."""
        return {}

    @classmethod
    def of(cls, structures: Sequence[Structure], records: RecordLayer) -> Imagined:
        """Complete records for some rules; a channel that does not say what it records takes every act of
        the rules.
        """
        activities = tuple(
            dict.fromkeys(a for s in structures for act in acts_of(s) for a in act.activities)
        ) + tuple(records.case_end)
        named = dict.fromkeys(name for s in structures for name in _channels(s))
        always = Interval.model_construct(start=COMPLETE[0], end=COMPLETE[1])
        channels = []
        for name in (*named, *(c.name for c in records.channels if c.name not in named)):
            known = records.channel(name) or Channel.model_construct(name=name)
            update = {
                "activities": known.activities
                if known.activities is not None
                else tuple(dict.fromkeys(activities)),
                "grain": known.grain or "second",
                "coverage": (always,),
                "closed_world": True,
            }
            channels.append(known.model_copy(update=update))
        return cls(
            records.model_copy(
                update={
                    "log": None,
                    "set_aside": None,
                    "prospective": False,
                    "channels": tuple(channels),
                    "end_of_observation": COMPLETE[1],
                    "zone": None,
                    "offset": cls._offset(records),
                    "support": (),
                    "attributes": (),
                }
            )
        )

    @staticmethod
    def _offset(records: RecordLayer) -> int:
        ahead = START.replace(tzinfo=records.clock).utcoffset() or timedelta()
        return round(ahead.total_seconds() / 60)

    def until(self, end: datetime) -> Imagined:
        """The same records, extracted at a local time."""
        utc = end - timedelta(minutes=self.records.offset or 0)
        return Imagined(self.records.model_copy(update={"end_of_observation": utc}))

    def grain(self, channel: str) -> Grain:
        """Resolution of a channel's clock."""
        known = self.records.channel(channel)
        return (known.grain if known else None) or "second"

    @property
    def moment(self) -> timedelta:
        """The shortest time that every clock shows."""
        return GRAIN_LENGTH[coarsest({c.grain or "second" for c in self.records.channels if c.durable})]

    def ends(self, duration: Duration, begins: datetime) -> datetime | None:
        """When a length of time ends that begins at a local time; None where the calendar cannot count it."""
        if not duration.working:
            return duration.after(begins)
        shift = timedelta(minutes=self.records.offset or 0)
        if duration not in self._calendars:
            self._calendars[duration] = WorkingTime(
                self.records, (START - _YEARS, START + _YEARS), (duration,)
            )
        ends = self._calendars[duration].ends(duration, begins - shift)
        return None if ends is None else ends + shift

    def recorders(self, activity: str, channels: Iterable[str]) -> list[str]:
        """Those of some channels that are kept and can record an act."""
        known = (self.records.channel(name) for name in channels)
        return [c.name for c in known if c and c.durable and activity in (c.activities or ())]

    def rows(self, case: str, trace: Trace) -> list[Event]:
        """The rows of a trace, each instant as its channel's clock shows it."""
        offset, rows = self.records.offset or 0, []
        for place, (activity, channel, at, who, role, thing, location, cells) in enumerate(trace, 1):
            held = dict(cells)
            grain = self.grain(channel)
            local = at if grain == "microsecond" else at.replace(microsecond=0)
            if grain in ("minute", "day"):
                local = local.replace(second=0)
            if grain == "day":
                local = local.replace(hour=0, minute=0)
            utc = local - timedelta(minutes=offset)
            rows.append(
                Event(
                    f"{case}#{place}",
                    case,
                    activity,
                    utc,
                    offset,
                    grain,
                    who,
                    role,
                    thing,
                    location,
                    channel,
                    attributes=tuple(held.get(a.name) for a in self.records.attributes),
                )
            )
        return rows

    def log(self, traces: Mapping[str, Trace], everything: Trace = ()) -> EventLog:
        """One log with a case for each trace, and one in which everything happens."""
        rows = [row for case, trace in traces.items() for row in self.rows(case, trace)]
        return EventLog.from_events([*rows, *self.rows(EVERYTHING, everything)], self.records)

    def verdicts(self, structure: Structure, log: EventLog) -> dict[str, Verdict]:
        """Case -> gravest verdict, of the cases in which the rule is activated, from one query."""
        if structure.norm.force == "may":
            return {}
        query = compile_rule(check(structure, self.records, log))
        rows = log.connection.execute(
            "SELECT case_id, min(list_position($order_of_verdicts::VARCHAR[], verdict)) "
            f"FROM ({query.sql}) GROUP BY case_id",
            {**query.parameters, "order_of_verdicts": list(ROLL_UP)},
        ).fetchall()
        return {case: ROLL_UP[place - 1] for case, place in rows if case != EVERYTHING}

    def judged(self, structure: Structure, log: EventLog) -> dict[str, Said]:
        """Case -> what the rule says of it and why, of the cases in which it is activated."""
        return by_case(evaluate(structure, self.records, log))


def _channels(structure: Structure) -> list[str]:
    trigger, norm = structure.trigger, structure.norm
    named = [trigger.channel] if trigger.channel else []
    named += [c.after.channel for c in norm.constraints if c.after]
    return [*named, *structure.evidence.channels]
