"""Whether a rule can be checked on some records, and the facts its check rests on (SEMANTICS lines 2 to 13
and 24).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from gnrs_ppl.audit.calendar import WorkingTime
from gnrs_ppl.audit.data import DataChecks, Rows
from gnrs_ppl.audit.twice import Twice, shown_twice
from gnrs_ppl.context.log import EventLog, resolved
from gnrs_ppl.context.reach import Reach
from gnrs_ppl.context.time import GRAIN_LENGTH, GRAINS, Duration, Grain, coarsest
from gnrs_ppl.context.types import Attribute, Channel, RecordLayer
from gnrs_ppl.errors import InputError, Refused
from gnrs_ppl.rule.types import (
    BESIDE,
    HALVES,
    LOOK_BACK,
    MUTUAL,
    NEGATIVE,
    NEIGHBOURS,
    TWO_SIDED,
    Act,
    Constraint,
    Correlation,
    Structure,
)

Since = Literal["activation", "deadline", "case_start", "first"]
Until = Literal["activation", "deadline", "window", "closure", "open"]
Key = Literal["resource", "object"]
Tie = Literal["in", "unknown", "out"]
"""What a row is that ties with a bound: inside, an unknown match, or outside (I3, T1)."""

_FIELDS = ("location", "object", "role")


@dataclass(frozen=True)
class RolePlan:
    """One act of a constraint and the channels that can show it.

    Attributes
    ----------
    act : Act
        The pattern looked for; a target carries the office's role.
    rel : tuple of str
        Channels of the policy that can record it (line 2); n is their number.
    k : int
        How many of them must agree (line 3).
    closed_world : tuple of str
        Those of ``rel`` whose silence means absence (line 4).
    grain : Grain
        The coarsest grain of ``rel``, at which rows of several channels are compared (E4).
    capability : tuple of (channel, rows)
        Rows of its activities in each channel of ``rel`` when the plan was made.
    """

    act: Act
    rel: tuple[str, ...]
    k: int
    closed_world: tuple[str, ...]
    grain: Grain
    capability: tuple[tuple[str, int], ...]

    @property
    def n(self) -> int:
        """How many channels of the policy can record the act."""
        return len(self.rel)

    @property
    def silent(self) -> int:
        """How many closed-world channels must be silent before the act is refuted (line 5)."""
        return self.n - self.k + 1


@dataclass(frozen=True)
class ConstraintPlan:
    """One constraint with its acts resolved.

    Attributes
    ----------
    index : int
        Place in the norm, or of the step in the procedure.
    template : str
        DECLARE template; ``count`` is its n.
    target, after, unless : RolePlan or None
        The acts it looks for.
    key : "resource", "object" or None
        Column that must agree with the trigger row; None for same_case (line 13).
    since, until : str
        Where its interval comes from: the activation, the deadline, the case's start, the window or closure
        (line 14); the first event of the case, and no end but the next event (N2 and N4).
    bearer : str or None
        The role of the office; None where the trigger row's resource bears it (line 8).
    tie : Tie
        What a row that ties with the activation is, where the order matters (line 19, T1).
    beside : tuple of str
        The channels whose rows may come between, where nothing may (N1).
    opener : RolePlan or None
        The act whose rows open the instances where they are not the trigger's: the second half of a mutual
        template (P1).
    differ : bool
        Whether the key must be another than the activation's (D7).
    compared : tuple of str
        Attributes of the activation that rows are compared with (D5).
    in_the_meantime : bool
        Whether the exception counts only from the activation on (X1).
    choices : tuple of RolePlan
        The two acts of an exclusive choice, each by itself (C2).
    """

    index: int
    template: str
    target: RolePlan
    after: RolePlan | None
    unless: RolePlan | None
    key: Key | None
    deadline: Duration | None
    count: int
    since: Since
    until: Until
    bearer: str | None
    tie: Tie = "in"
    beside: tuple[str, ...] = ()
    opener: RolePlan | None = None
    differ: bool = False
    compared: tuple[str, ...] = ()
    in_the_meantime: bool = False
    choices: tuple[RolePlan, ...] = ()

    @property
    def threaded(self) -> bool:
        """Whether its rows are compared with the activation beyond an equal key (D5)."""
        return self.differ or bool(self.compared)

    @property
    def both_ways(self) -> bool:
        """Whether the interval holds the activation between its ends."""
        return self.since in ("deadline", "case_start") and not self.look_back

    @property
    def marks_ties(self) -> bool:
        """Whether a verdict says that its proof ties with the activation."""
        return (
            self.template in ("response", "chain_response", "alternate_response")
            and self.since == "activation"
        )

    @property
    def look_back(self) -> bool:
        """Whether the interval ends at the activation."""
        return self.until == "activation"


@dataclass(frozen=True)
class CheckPlan:
    """A rule that can be checked on some records.

    Attributes
    ----------
    structure : Structure
        The rule.
    records : RecordLayer
        The record layer with capabilities and grains filled.
    constraints : tuple of ConstraintPlan
        One per constraint of the norm, two per mutual one.
    steps : tuple of ConstraintPlan
        One per step of the procedure; empty where the procedure is prospective (line 23).
    grains : tuple of Grain
        Grains of the dated rows, finest first.
    offsets : tuple of int
        Their offsets, in minutes.
    extent : tuple of datetime or None
        The first and the last of them, naive UTC; None where there is none.
    years : tuple of int
        The years in which they stand, where the records name a zone.
    reach : Reach
        From when to when rows count for what is observed, where that is not declared (G9).
    twice : tuple of Twice
        Local times that come twice; empty where no row stands at one (G8).
    attributes : tuple of Attribute
        Those that the log was read with, in the order of its columns.
    set_aside : bool
        Whether rows were set aside that are rows of their cases.
    of_any_case : bool
        Whether rows were set aside that may be of any case.
    assumptions : tuple of str
        What the reader must know before the verdicts, in plain English.
    findings : tuple of str
        What the log shows beyond its declaration.
    """

    structure: Structure
    records: RecordLayer
    constraints: tuple[ConstraintPlan, ...]
    steps: tuple[ConstraintPlan, ...]
    grains: tuple[Grain, ...]
    offsets: tuple[int, ...]
    extent: tuple[datetime, datetime] | None
    years: tuple[int, ...]
    reach: Reach
    twice: tuple[Twice, ...]
    attributes: tuple[Attribute, ...]
    set_aside: bool
    of_any_case: bool
    assumptions: tuple[str, ...]
    findings: tuple[str, ...]


def check(structure: Structure, records: RecordLayer, log: EventLog) -> CheckPlan:
    """Decide whether a rule can be checked on some records.

    Parameters
    ----------
    structure : Structure
        The rule.
    records : RecordLayer
        The record layer; ``resolved`` is applied to it.
    log : EventLog
        The rows of D.

    Returns
    -------
    CheckPlan
        What the compiler needs, with the assumptions to print.

    Raises
    ------
    Refused
        When the records cannot decide the rule; the message holds the count that shows it.
    InputError
        When the rule contradicts itself or asks for what is not implemented.
    """
    return _Checker(structure, records, log).plan()


def _never_over(place: str, constraint: Constraint) -> str:
    """What comes of a constraint whose interval nothing ends (I6)."""
    named = f"{place} ({constraint.template} {constraint.target.activity!r})"
    if constraint.template in NEGATIVE:
        return (
            f"'satisfied' cannot occur for {named}: the records show no end of a case, so it is pending until "
            "it is broken; state a deadline to have it kept"
        )
    if constraint.template == "exactly":
        return (
            f"{named} is pending until the act has happened too often: the records show no end of a case; "
            "state a deadline to find what is missing"
        )
    if constraint.template == "exclusive_choice":
        return (
            f"{named} is pending until both acts have happened: the records show no end of a case; state a "
            "deadline to have one of them kept"
        )
    return (
        f"'violated' cannot occur for {named}: the records show no end of a case, so it is pending until "
        "the act; state a deadline to find breaches"
    )


def _tie(constraint: Constraint) -> Tie:
    """What a row is that ties with the activation, at the bound of the interval that is strict (I3, T1)."""
    template = constraint.template
    if constraint.ties is None:
        return "unknown" if template in ("not_response", "not_chain_response", *LOOK_BACK) else "in"
    counts: dict[str, Tie] = {"unknown": "unknown", "fulfil": "in", "violate": "out"}
    if template in NEGATIVE:
        counts |= {"fulfil": "out", "violate": "in"}
    return counts[constraint.ties]


def _first(template: str) -> str:
    """What a template asks at the trigger's rows."""
    return HALVES[template][0] if template in HALVES else template


class _Checker:
    def __init__(self, structure: Structure, records: RecordLayer, log: EventLog) -> None:
        self.structure, self.declared, self.log = structure, records, log
        self.records = resolved(records, log)
        self.data = DataChecks(log)
        self.durable = {c.name: c for c in self.records.channels if c.durable}
        self.assumptions: dict[str, None] = {}
        self.findings: dict[str, None] = {}

    def plan(self) -> CheckPlan:
        norm, trigger = self.structure.norm, self.structure.trigger
        for index, constraint in enumerate(norm.constraints):
            self._well_formed(index, constraint)
        if trigger.act is not None and trigger.channel is not None:
            self._named_channel("trigger", trigger.act, trigger.channel)
            self._fields("trigger act", trigger.act, (trigger.channel,), opens=True)
            self._scope_recorded(trigger.act, trigger.channel)
        self.data.scope(self.structure.scope)
        constraints = tuple(plan for i, c in enumerate(norm.constraints) for plan in self._constraint(i, c))
        seen_grains, seen_offsets, first, last = self.log.one(
            'SELECT list(DISTINCT "grain"), list(DISTINCT coalesce("offset", 0)), min("timestamp"), '
            'max("timestamp") FROM "events" WHERE "timestamp" IS NOT NULL'
        )
        grains = tuple(g for g in GRAINS if g in (seen_grains or ()))
        offsets = tuple(sorted(seen_offsets or ()))
        if (
            offsets
            and offsets[-1] - offsets[0] >= 1440
            and any(r.k > 1 for c in constraints for r in (c.target, c.unless) if r)
        ):
            raise Refused(
                f"offsets of the rows lie {(offsets[-1] - offsets[0]) / 60:g} hours apart, so days of "
                "several channels have no order",
                "use operator any, or declare the offsets",
            )
        steps = self._steps()
        self._declared_capability()
        extent = None if first is None else (first, last)
        years = self._years() if self.records.zone is not None else ()
        twice, rows = shown_twice(self.records, self.log)
        if rows:
            self._assume(
                f"{rows} rows stand at a local time that comes twice in {self.records.zone}: each is read both "
                "ways, and what depends on it is left undecided"
            )
        aside = self.log.set_aside
        self._openers_set_aside()
        counted = WorkingTime.of(self.structure, self.records, extent).assumption
        if counted:
            self._assume(counted)
        return CheckPlan(
            self.structure,
            self.records,
            constraints,
            steps,
            grains,
            offsets,
            extent,
            years,
            self._reach(),
            twice,
            self.log.records.attributes,
            any(part.known for part in aside),
            any(part.known < part.rows for part in aside),
            tuple(self.assumptions),
            tuple(self.findings),
        )

    def _reach(self) -> Reach:
        """How far the rows reach, where the end of observation or a channel's coverage rests on them."""
        channels = self.durable.values()
        if self.records.end_of_observation is not None and all(c.coverage is not None for c in channels):
            return Reach()
        reach = self.log.reach
        for line in reach.findings:
            self._find(line)
        return reach

    # The rule by itself

    def _openers_set_aside(self) -> None:
        """Count rows of no known case that may have called the rule up: they open no instance."""
        act = self.structure.trigger.act
        if act is None or all(part.known == part.rows for part in self.log.set_aside):
            return
        (rows,) = self.log.one(
            "SELECT count(*) FROM set_aside WHERE case_id IS NULL "
            "AND (activity IS NULL OR list_contains($activities, activity))",
            {"activities": list(act.activities)},
        )
        if rows:
            self._find(
                f"{rows:,} {'row that was' if rows == 1 else 'rows that were'} set aside may have called the rule up, in a case that is not known: no "
                f"verdict counts {'it' if rows == 1 else 'them'}"
            )

    def _well_formed(self, index: int, constraint: Constraint) -> None:
        norm, trigger = self.structure.norm, self.structure.trigger
        place = f"norm.constraints[{index}]"
        if trigger.act is None and constraint.after is None and constraint.template in (*BESIDE, *MUTUAL):
            raise InputError(
                f"{constraint.template} joins two acts, and case start is none",
                "name the first act as the trigger",
                field="trigger.act",
            )  # N2, P1
        if constraint.template in MUTUAL and self._scoped():
            raise InputError(
                f"{constraint.template} binds the target's rows too, which a scope does not reach",
                "leave the scope out, or state each direction as a rule of its own",
                field=f"{place}.template",
            )  # P1
        if (
            trigger.window is not None
            and constraint.deadline is not None
            and not constraint.deadline.fits_within(trigger.window)
        ):
            raise InputError(
                f"deadline {constraint.deadline} can end after the window {trigger.window}",
                "shorten the deadline or widen the window",
                field=f"{place}.deadline",
            )  # line 9
        if trigger.act is None and norm.correlation(constraint) != "same_case":
            raise Refused(
                f"{place} correlates by {norm.correlation(constraint)} but 0 of the trigger's rows carry a "
                "key: it is case start",
                "correlate by same_case",
            )  # line 13
        self._compared(place, constraint)
        activations = [
            ("trigger", trigger.act),
            ("after", constraint.after.act if constraint.after else None),
        ]
        for name, act in activations:
            shared = (
                [activity for activity in act.activities if activity in constraint.target.activities]
                if act is not None
                else []
            )
            if shared:
                raise Refused(
                    f"{place}: target and {name} are both {shared[0]!r}, 1 activity instead of 2",
                    "name another activity",
                )  # line 10

    def _compared(self, place: str, constraint: Constraint) -> None:
        """Refuse comparisons with an activation that has no record, and those that are not implemented (D5,
        D7).
        """
        template, differ = constraint.template, constraint.correlate == "different_resource"
        what = "different_resource" if differ else "a condition that compares with the activation"
        if constraint.compared and self.structure.trigger.act is None and constraint.after is None:
            raise InputError(
                f"{what} asks for an act as the activation, and case start is none",
                "name an act as the trigger, or compare with a value",
                field=f"{place}.target",
            )
        if constraint.compared and template in MUTUAL:
            raise InputError(
                f"{what} goes one way, and {template} both",
                "state each direction as a rule of its own",
                field=f"{place}.template",
            )
        if (constraint.compared or differ) and _first(template) in NEIGHBOURS:
            raise InputError(
                f"{what} is not implemented for {template}",
                "use another template",
                field=f"{place}.template",
            )
        if differ and constraint.after is not None:
            raise InputError(
                "different_resource with after is not implemented",
                "name the second act as the trigger",
                field=f"{place}.after",
            )

    def _scoped(self) -> bool:
        scope = self.structure.scope
        return bool(
            scope.locations
            or scope.objects
            or scope.where
            or (scope.roles and self.structure.norm.bearer == "trigger")
        )

    # The records

    def _constraint(self, index: int, constraint: Constraint) -> tuple[ConstraintPlan, ...]:
        norm, trigger = self.structure.norm, self.structure.trigger
        place = f"norm.constraints[{index}]"
        target = self._role(f"{place}.target", norm.target(constraint))
        after = unless = None
        if constraint.after is not None:
            self._named_channel(f"{place}.after", constraint.after.act, constraint.after.channel)
            after = self._planned(constraint.after.act, (constraint.after.channel,), 1)
            self._fields(f"{place}.after", after.act, after.rel, opens=True)
        if constraint.unless is not None:
            unless = self._role(f"{place}.unless", constraint.unless)
        if target.k > 1 and constraint.template in NEIGHBOURS:
            raise Refused(
                f"{place}: {constraint.template} asks for 1 order of events, but {target.k} of {target.n} "
                "channels must agree",
                "use operator any, or cite one channel",
            )  # N1
        if target.k > 1 and (constraint.count > 1 or constraint.template == "exactly"):
            raise Refused(
                f"{place}: {constraint.template} of {constraint.count} asks for more than 1 act, each in "
                f"{target.k} of {target.n} channels",
                "counting across channels is not implemented: use operator any",
            )  # line 5, E2
        correlation = norm.correlation(constraint)
        key: Key | None = (
            None if correlation == "same_case" else "object" if correlation == "same_object" else "resource"
        )
        since, until = self._interval(place, constraint)
        if key == "resource" and self.records.automatic:
            self._assume(
                f"{place}: resources declared automatic are nobody "
                f"({', '.join(sorted(self.records.automatic)[:3])}"
                f"{', …' if len(self.records.automatic) > 3 else ''})"
            )  # D7
        if key is not None and trigger.act is not None and trigger.channel is not None:
            self._correlates(
                place, correlation, key, (trigger.act, (trigger.channel,)), (target.act, target.rel)
            )
        self._activation_recorded(place, constraint)
        if constraint.deadline is not None:
            activation = (
                (constraint.after.act, constraint.after.channel)
                if constraint.after
                else (trigger.act, trigger.channel)
            )
            pairs = {(name, activity) for name in target.rel for activity in target.act.activities}
            pairs |= (
                {(activation[1], activity) for activity in activation[0].activities}
                if activation[0] and activation[1]
                else set()
            )
            self._fine_enough(place, constraint.deadline, pairs)
        can_exceed = constraint.template == "exclusive_choice"
        if constraint.positive and not can_exceed and len(target.closed_world) < target.silent:
            self._assume(
                f"'violated' cannot occur for {place} ({constraint.template} {target.act.activity!r}): "
                f"{len(target.closed_world)} of {target.n} channels are closed-world, {target.silent} needed"
            )  # line 4
        if target.n > 1 and (constraint.count > 1 or constraint.template == "exactly"):
            self._assume(
                f"{place} counts {target.act.activity!r} in each of {target.n} channels by itself, since "
                "rows of two channels may be "
                "1 act or 2; where no channel alone decides, the verdict is indeterminate (split)"
            )  # V9
        if constraint.ties is not None:
            counts = {"unknown": "leaves the order open", "fulfil": "fulfils it", "violate": "breaks it"}[
                constraint.ties
            ]
            self._assume(
                f"{place}: a row at the same recorded instant {counts} (ties: {constraint.ties}, as the "
                "rule says)"
            )  # T1
        bearer = None if norm.bearer == "trigger" else norm.bearer.role
        beside = (
            tuple(c for c in self.structure.evidence.channels if c in self.durable)
            if _first(constraint.template) in NEIGHBOURS
            else ()
        )
        plan = ConstraintPlan(
            index,
            constraint.template,
            target,
            after,
            unless,
            key,
            constraint.deadline,
            constraint.count,
            since,
            until,
            bearer,
            _tie(constraint),
            beside,
            differ=correlation == "different_resource",
            compared=constraint.compared,
            in_the_meantime=constraint.in_the_meantime,
            choices=self._choices(target) if constraint.template == "exclusive_choice" else (),
        )
        opener = after.act if after else trigger.act
        if plan.threaded and opener is not None:
            looked_for = [role.act for role in (target, unless) if role]
            self.data.few_comparisons(place, opener, looked_for, key, plan.compared)
            if constraint.template in MUTUAL:  # the second half (P1)
                others = [opener, *([unless.act] if unless else [])]
                self.data.few_comparisons(place, target.act, others, key, ())
        return self._halves(place, plan, constraint) if constraint.template in MUTUAL else (plan,)

    def _choices(self, target: RolePlan) -> tuple[RolePlan, ...]:
        """The alternatives of an act, each with the channels that can record it."""
        return tuple(
            self._planned(one, tuple(c for c in target.rel if self._records(c, one.activity)), 1)
            for one in target.act.patterns
        )

    def _halves(self, place: str, plan: ConstraintPlan, constraint: Constraint) -> tuple[ConstraintPlan, ...]:
        """The two constraints of a mutual one: the trigger's rows ask for the target, the target's rows for
        the trigger's act (P1).
        """
        trigger = self.structure.trigger
        assert trigger.act is not None
        assert trigger.channel is not None
        if plan.target.n > 1:
            raise Refused(
                f"{place}: {constraint.template} opens instances at the target's rows in 1 channel, but "
                f"{plan.target.n} can record them",
                "cite one of them",
            )
        there, back = HALVES[constraint.template]
        halves = (
            constraint.model_copy(update={"template": there}),
            constraint.model_copy(update={"template": back}),
        )
        first = replace(plan, template=there, tie=_tie(halves[0]))
        since, until = self._interval(place, halves[1])
        wanted = self._planned(trigger.act, (trigger.channel,), 1)
        if constraint.positive and len(wanted.closed_world) < 1:
            self._assume(
                f"'violated' cannot occur for {place} ({back} {trigger.act.activity!r}): "
                f"{trigger.channel!r} is not closed-world"
            )
        second = replace(
            plan,
            template=back,
            target=wanted,
            since=since,
            until=until,
            tie=_tie(halves[1]),
            opener=plan.target,
        )
        return first, second

    def _interval(self, place: str, constraint: Constraint) -> tuple[Since, Until]:
        stated = constraint.deadline is not None
        if constraint.template == "init":
            return "first", "open"  # N4
        back = constraint.template in (*LOOK_BACK, *TWO_SIDED, "coexistence")
        since: Since = (
            "case_start"
            if constraint.earlier_counts
            else "activation"
            if not back
            else "deadline"
            if stated
            else "case_start"
        )
        if constraint.template in LOOK_BACK:
            return since, "activation"
        if stated:
            return since, "deadline"
        if self.structure.trigger.window is not None and constraint.template != "end":
            return since, "window"
        if not self.records.case_end and self.records.quiet_after is None:
            if constraint.template == "end":
                raise Refused(
                    f"{place} (end) has no interval end: 0 end activities and no quiet_after",
                    "declare records.case_end or records.quiet_after",
                )  # line 9
            if _first(constraint.template) not in BESIDE:  # N2: the next event ends it
                self._assume(_never_over(place, constraint))
            return since, "open"  # I6
        if self.records.quiet_after is not None:
            self._assume(
                f"a case is taken as closed when nothing happened in it for {self.records.quiet_after}"
            )
        return since, "closure"

    def _role(self, place: str, act: Act) -> RolePlan:
        policy = self.structure.evidence
        for name in policy.channels:
            if name not in self.durable:
                self._find(
                    f"evidence channel {name!r} is not a durable channel of the record layer and is not "
                    "counted"
                )
        by_activity = {
            activity: [c for c in policy.channels if self._records(c, activity)]
            for activity in act.activities
        }
        rel = tuple(c for c in policy.channels if any(c in able for able in by_activity.values()))
        k = policy.needed(len(rel))
        for activity, able in by_activity.items():
            if not able or len(rel) < k:
                wanted = f", {k} needed" if able else ""
                raise Refused(
                    f"{place}: {len(able)} of {len(policy.channels)} evidence channels can record "
                    f"{activity!r}{wanted}",
                    self._nearest(activity),
                )  # lines 2 and 3, A2
        if k > 1 and len(by_activity) > 1:
            raise Refused(
                f"{place}: {k} of {len(rel)} channels must agree on 1 act, but {len(by_activity)} "
                "activities are alternatives",
                "use operator any",
            )  # A3
        planned = self._planned(act, rel, k)
        self._fields(place, act, rel)
        return planned

    def _planned(self, act: Act, rel: tuple[str, ...], k: int) -> RolePlan:
        channels = [self.durable[name] for name in rel]
        for channel in channels:
            if channel.coverage is None:
                self._assume(
                    f"channel {channel.name!r} is taken as complete from its first to its last event"
                )
        grains = {grain for c in channels for grain in self._grains(c)}
        return RolePlan(
            act,
            rel,
            k,
            tuple(c.name for c in channels if c.closed_world),
            coarsest(grains or {"microsecond"}),
            tuple(
                (name, sum(self.log.seen.get((name, activity), 0) for activity in act.activities))
                for name in rel
            ),
        )

    def _records(self, channel: str, activity: str) -> bool:
        return channel in self.durable and activity in (self.durable[channel].activities or ())

    def _named_channel(self, place: str, act: Act, name: str) -> None:
        channel = self.durable.get(name)
        if channel is None:
            near = difflib.get_close_matches(name, self.durable, 1)
            raise Refused(
                f"{place}: {name!r} is none of the {len(self.durable)} durable channels",
                f"nearest: {near[0]!r}"
                if near
                else f"name one of them: {', '.join(sorted(self.durable)[:12])}",
            )
        for activity in act.activities:
            if not self._records(name, activity):
                raise Refused(
                    f"{place}: channel {name!r} cannot record {activity!r}: 0 rows and not declared",
                    self._nearest(activity),
                )  # line 2

    def _nearest(self, activity: str) -> str:
        """The recorded act that is spelt most like this one, in the channel with most rows of it."""
        known = {
            (c.name, a): self.log.seen.get((c.name, a), 0)
            for c in self.durable.values()
            for a in c.activities or ()
        }
        near = difflib.get_close_matches(activity, {a for _, a in known}, 1)
        of_it = [pair for pair in known if pair[1] in (activity, *near)]
        if not known:
            return "declare what its channels can record under records.channels"
        channel, name = max(of_it or known, key=lambda pair: (pair[1] == activity, known[pair]))
        shown = f"{name!r} in {channel!r} ({known[channel, name]} rows)"
        acts = len({a for _, a in known})
        return (
            f"nearest recorded: {shown}"
            if of_it
            else f"name one of the {acts} acts that are recorded, such as {shown}"
        )

    # Line 24

    def _fields(self, place: str, act: Act, channels: tuple[str, ...], *, opens: bool = False) -> None:
        for one in act.patterns:
            able = tuple(c for c in channels if self._records(c, one.activity))
            for condition in one.where:
                self.data.condition(place, condition, Rows.of(one.activity, able), opens=opens)
            for field in _FIELDS:
                if getattr(one, field) is not None:
                    self._recorded(place, field, one.activity, able)

    def _scope_recorded(self, act: Act, channel: str) -> None:
        scope = self.structure.scope
        stated = {
            "role": self.structure.norm.bearer == "trigger" and scope.roles,
            "location": scope.locations,
            "object": scope.objects,
        }
        for field, names in stated.items():
            for activity in act.activities if names else ():
                self._recorded("scope", field, activity, (channel,))

    def _recorded(self, place: str, field: str, activity: str, channels: tuple[str, ...]) -> None:
        rows, carrying = self._count(f'count("{field}")', activity, channels)
        if rows and not carrying:
            article = "an" if field == "object" else "a"
            raise Refused(
                f"{place}: 0 of {rows} rows of {activity!r} in {', '.join(channels)} carry {article} {field}",
                "leave it out of the rule",
            )

    def _activation_recorded(self, place: str, constraint: Constraint) -> None:
        """Refuse comparisons with what no activation records (D5)."""
        trigger = self.structure.trigger
        act, channel = (
            (constraint.after.act, constraint.after.channel)
            if constraint.after
            else (trigger.act, trigger.channel)
        )
        for name in constraint.compared:
            for activity in act.activities if act else ():
                self.data.recorded(place, name, Rows.of(activity, (channel or "",)))

    def _correlates(
        self, place: str, correlation: Correlation, key: Key, *looked_for: tuple[Act, tuple[str, ...]]
    ) -> None:
        acts = [(activity, channels) for act, channels in looked_for for activity in act.activities]
        for activity, channels in acts:
            self._recorded(f"{place} ({correlation})", key, activity, channels)
        where = " OR ".join(
            f'("activity" = $a{i} AND list_contains($c{i}, "channel"))' for i in range(len(acts))
        )
        values: dict[str, object] = {"nobody": list(self.records.automatic) if key == "resource" else []}
        for i, (activity, channels) in enumerate(acts):
            values |= {f"a{i}": activity, f"c{i}": list(channels)}
        person = f'NOT list_contains($nobody::VARCHAR[], "{key}")'
        keys, cases, rows, example, programs = self.log.one(
            f'SELECT count(DISTINCT "{key}") FILTER ({person}), count(DISTINCT "case_id") FILTER ({person}), '
            f'count(*) FILTER ({person}), min("{key}") FILTER ({person}), count(*) FILTER (NOT {person}) '
            f'FROM "events" WHERE "{key}" IS NOT NULL AND ({where})',
            values,
        )
        if not keys and values["nobody"] and any(self.log.seen.get((c, a)) for a, all_ in acts for c in all_):
            raise Refused(
                f"{place} ({correlation}): 0 rows of these acts are by a person: all are by resources declared "
                "automatic",
                "use same_case, or correct records.automatic",
            )
        if keys == 1 and cases >= 2 and not (correlation == "different_resource" and programs):  # D7
            raise Refused(
                f"{place}: {key} is {example!r} in all {rows} rows of {cases} cases, so "
                f"{correlation} correlates nothing",
                "use same_case",
            )

    def _grains(self, channel: Channel, activity: str | None = None) -> set[Grain]:
        """Grains of a channel's rows, as declared, else as seen, of one activity where it is named."""
        if channel.grain is not None:
            return {channel.grain}
        return {
            g
            for (name, a), seen in self.log.clocks.items()
            if name == channel.name and activity in (None, a)
            for g in seen
        }

    def _fine_enough(self, place: str, deadline: Duration, pairs: Iterable[tuple[str, str]]) -> None:
        for name, activity in sorted(pairs):
            channel = self.durable[name]
            grain = coarsest(self._grains(channel, activity) | {"microsecond"})
            if GRAIN_LENGTH[grain].total_seconds() > deadline.shortest_seconds() / 2:
                whole = channel.grain is not None  # the channel's clock, and not that of one activity
                rows = sum(n for (c, a), n in self.log.seen.items() if c == name and (whole or a == activity))
                what = f"channel {name!r} records" + ("" if whole else f" {activity!r}")
                raise Refused(
                    f"{place}: {what} to the {grain} ({rows} rows), coarser than half of {deadline}",
                    "state a longer deadline",
                )

    def _years(self) -> tuple[int, ...]:
        (years,) = self.log.one(
            'SELECT list(DISTINCT CAST(date_part(\'year\', "timestamp") AS INTEGER)) FROM "events" '
            'WHERE "timestamp" IS NOT NULL'
        )
        return tuple(sorted(years or ()))

    def _count(self, what: str, activity: str, channels: tuple[str, ...]) -> tuple[int, int]:
        rows, carrying = self.log.one(
            f'SELECT count(*), {what} FROM "events" WHERE "activity" = $activity AND '
            'list_contains($channels, "channel")',
            {"activity": activity, "channels": list(channels)},
        )
        return int(rows), int(carrying)

    # Line 23

    def _steps(self) -> tuple[ConstraintPlan, ...]:
        procedure = self.structure.procedure
        if not procedure.steps:
            return ()
        if procedure.response_time is None:
            self._assume("the procedure is prospective: it states no response time")
            return ()
        plans = []
        for index, step in enumerate(procedure.steps):
            rel = tuple(
                n
                for n, c in self.durable.items()
                if step.activity is not None and step.activity in (c.activities or ())
            )
            if step.activity is None or not rel:
                self._assume(
                    f"the procedure is prospective: 0 of {len(self.durable)} channels can record step "
                    f"{step.name!r}"
                )
                return ()
            act = Act.model_construct(activity=step.activity, role=step.role)
            rows, carrying = self._count('count("role")', step.activity, rel)
            if rows and not carrying:
                self._assume(
                    f"the procedure is prospective: 0 of {rows} rows of step {step.name!r} carry a role"
                )
                return ()
            target = self._planned(act, rel, 1)
            plans.append(
                ConstraintPlan(
                    index,
                    "response",
                    target,
                    None,
                    None,
                    None,
                    procedure.response_time,
                    1,
                    "activation",
                    "deadline",
                    step.role,
                )
            )
        return tuple(plans)

    # Line 2

    def _declared_capability(self) -> None:
        for channel in self.declared.channels:
            if channel.activities is not None:
                for (name, activity), rows in sorted(self.log.seen.items()):
                    if name == channel.name and activity not in channel.activities:
                        self._find(
                            f"{rows} rows of {activity!r} in channel {name!r}, which is not declared to "
                            "record it"
                        )

    def _assume(self, text: str) -> None:
        self.assumptions[text] = None

    def _find(self, text: str) -> None:
        self.findings[text] = None
