"""What a rule compiled without a log waits for: rows, by channel, with the fields its check reads (SEMANTICS
lines 1 to 14).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gnrs_ppl.audit.checkable import CheckPlan
from gnrs_ppl.rule.types import Act, Condition

ALWAYS = ("case_id", "activity", "timestamp")
"""Fields every row of a log needs, beside the channel itself."""


class Needed(NamedTuple):
    """Rows of one channel that the check would read: which acts, and which fields beside those every row
    has.
    """

    channel: str
    activities: tuple[str, ...]
    fields: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{self.channel}: rows of {', '.join(self.activities)}, with {', '.join((*ALWAYS, *self.fields))}"
        )


def rows_needed(plan: CheckPlan) -> tuple[Needed, ...]:
    """Rows the check of a plan would read, by channel in the record layer's order.

    Where some constraint runs until its case closes, the acts that close it are asked of every channel in
    question that may record them.
    """
    asked = [*_trigger(plan), *_constraints(plan)]
    if any(constraint.until == "closure" for constraint in plan.constraints):
        asked += [
            (channel.name, activity, ())
            for channel in plan.records.channels
            for activity in plan.records.case_end
            if activity in (channel.activities or ()) and any(channel.name == name for name, _, _ in asked)
        ]
    needs = []
    for channel in plan.records.channels:
        rows = [(activity, fields) for name, activity, fields in asked if name == channel.name]
        if rows:
            activities = tuple(dict.fromkeys(activity for activity, _ in rows))
            needs.append(
                Needed(
                    channel.name, activities, tuple(sorted({field for _, fields in rows for field in fields}))
                )
            )
    return tuple(needs)


def _trigger(plan: CheckPlan) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    trigger, scope, norm = plan.structure.trigger, plan.structure.scope, plan.structure.norm
    if trigger.act is None or trigger.channel is None:
        return
    bearer = norm.bearer == "trigger"
    filters = (
        ("role", bearer and scope.roles),
        ("location", scope.locations),
        ("object", scope.objects),
        ("resource", bearer),
    )
    keys = (constraint.key for constraint in plan.constraints if constraint.key)
    fields = (
        *(field for field, asked in filters if asked),
        *keys,
        *_attributes(scope.where),
        *(
            name
            for constraint in plan.constraints
            if constraint.after is None
            for name in constraint.compared
        ),
    )
    yield from ((trigger.channel, one.activity, (*_stated(one), *fields)) for one in trigger.act.patterns)


def _constraints(plan: CheckPlan) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for constraint in plan.constraints:
        key = (constraint.key,) if constraint.key else ()
        for role in filter(None, (constraint.target, constraint.after, constraint.unless)):
            for channel in (c for c in plan.records.channels if c.name in role.rel):
                able = (one for one in role.act.patterns if one.activity in (channel.activities or ()))
                yield from ((channel.name, one.activity, (*_stated(one), *key)) for one in able)


def _stated(act: Act) -> Iterable[str]:
    yield from (field for field in ("role", "object", "location") if getattr(act, field) is not None)
    yield from _attributes(act.where)


def _attributes(conditions: Iterable[Condition]) -> Iterator[str]:
    """Attributes of the row that conditions read."""
    for condition in conditions:
        yield condition.attribute
        if condition.other is not None and condition.other.of == "row":
            yield condition.other.attribute
