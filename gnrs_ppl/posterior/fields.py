"""What an option says, field by field, in the words that pins and questions use: ``norm.deadline`` is
``P5D``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gnrs_ppl.realize.phrases import Worded
from gnrs_ppl.rule.canonical import SlotContent
from gnrs_ppl.rule.types import (
    SLOTS,
    Act,
    Constraint,
    EvidencePolicy,
    Norm,
    Office,
    Procedure,
    Scope,
    Trigger,
)

Values = tuple[str, ...]

NOTHING: Final = "none"
"""How a pin writes that an option states nothing in a field."""
SLOT_FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "scope": ("roles", "locations", "objects", "concerns"),
    "trigger": ("activity", "location", "object", "role", "where", "channel", "once", "window"),
    "norm": (
        "force",
        "bearer",
        "template",
        "activity",
        "location",
        "object",
        "role",
        "after",
        "correlate",
        "deadline",
        "count",
        "unless",
        "ties",
    ),
    "evidence": ("channels", "operator", "k"),
    "procedure": ("steps", "stages", "roles", "inspects", "activity", "response_time"),
}
"""The fields of each slot that a pin may name."""
TIMES: Final = ("trigger.window", "norm.deadline", "procedure.response_time")
"""Fields whose values are durations."""
TEXT_ONLY: Final = "scope.concerns"
"""A field that no check reads."""
PLAIN: Final[dict[str, str]] = {
    "scope.roles": "whose acts the rule is about",
    "scope.locations": "where the rule applies",
    "scope.objects": "what the rule applies to",
    "trigger.activity": "what calls the rule up",
    "trigger.location": "where the rule is called up",
    "trigger.object": "what the act that calls the rule up is done to",
    "trigger.role": "who calls the rule up",
    "trigger.where": "which records call the rule up",
    "trigger.channel": "which log shows that the rule is called up",
    "trigger.once": "whether the first such act of a case calls the rule up, or each",
    "trigger.window": "how long the rule watches once it is called up",
    "norm.force": "how strongly the rule speaks",
    "norm.bearer": "who is bound",
    "norm.template": "the kind of duty",
    "norm.activity": "which acts are demanded or banned",
    "norm.after": "after which act the duty starts anew",
    "norm.correlate": "what both acts must share",
    "norm.deadline": "within what time",
    "norm.count": "how many times",
    "norm.unless": "which act excuses",
    "evidence.channels": "which logs count as evidence",
    "evidence.operator": "how many of the logs must agree",
    "evidence.k": "how many logs must agree at least",
}
"""What a field asks, in plain words."""

NAMES: Final[dict[str, Worded]] = {
    "scope.roles": "role",
    "scope.locations": "location",
    "scope.objects": "object",
    "scope.concerns": "object",
    "trigger.activity": "action",
    "trigger.location": "location",
    "trigger.object": "object",
    "trigger.role": "role",
    "trigger.channel": "channel",
    "norm.bearer": "role",
    "norm.activity": "action",
    "norm.location": "location",
    "norm.object": "object",
    "norm.role": "role",
    "norm.after": "action",
    "norm.unless": "action",
    "evidence.channels": "channel",
    "procedure.steps": "step",
    "procedure.roles": "role",
    "procedure.inspects": "channel",
    "procedure.activity": "action",
}
"""What kind of names a field holds."""
WORDS_OF: Final[dict[str, dict[str, str]]] = {
    "trigger.once": {"first": "the first of a case", "each": "each of them"},
    "norm.bearer": {"trigger": "whoever opened it"},
    "norm.template": {
        "response": "has to follow",
        "precedence": "has to come first",
        "succession": "has to follow, and comes at no other time",
        "existence": "has to happen",
        "exactly": "has to happen so many times and no more",
        "exclusive_choice": "one of the two has to happen, and not both",
        "absence": "must not happen, or no more often",
        "responded_existence": "has to happen too, before or after",
        "coexistence": "both happen or neither does",
        "not_coexistence": "excludes the other",
        "not_response": "must not follow",
        "not_precedence": "must not come first",
        "chain_response": "has to come next",
        "chain_precedence": "has to come directly before",
        "chain_succession": "has to come next, and comes at no other time",
        "alternate_response": "has to follow before it happens again",
        "alternate_precedence": "has to come first, anew each time",
        "alternate_succession": "has to follow before it happens again, and comes at no other time",
        "not_chain_response": "must not come next",
        "not_chain_precedence": "must not come directly before",
        "not_succession": "must not follow, checked at both",
        "not_chain_succession": "must not come next, checked at both",
        "init": "has to be the first act",
        "end": "has to be the last act",
    },
    "norm.correlate": {
        "same_case": "the case",
        "same_resource": "the person",
        "same_object": "what it is done to",
        "different_resource": "the case and not the person",
    },
    "norm.ties": {
        "unknown": "the same instant settles nothing",
        "fulfil": "the same instant is in time",
        "violate": "the same instant is too late",
    },
    "evidence.operator": {"all": "all of them", "any": "any of them", "at_least": "a number of them"},
}
"""What the values of a field say that are no names."""


def said(content: SlotContent) -> dict[str, Values]:
    """Of each field of a slot the values that a content states, in order and once each; empty where none."""
    found: dict[str, Iterable[object]]
    if isinstance(content, Scope):
        found = {name: getattr(content, name) for name in SLOT_FIELDS["scope"]}
    elif isinstance(content, Trigger):
        found = {
            **_act_fields([content.act] if content.act else []),
            "where": content.act.conditions if content.act else (),
            "channel": [content.channel],
            "once": [content.once],
            "window": [content.window],
        }
    elif isinstance(content, Norm):
        found = _norm(content)
    elif isinstance(content, EvidencePolicy):
        found = {"channels": content.channels, "operator": [content.operator], "k": [content.k]}
    else:
        found = _procedure(content)
    return {
        name: tuple(sorted({str(value) for value in values if value is not None}))
        for name, values in found.items()
    }


def _norm(norm: Norm) -> dict[str, Iterable[object]]:
    def each(name: str) -> list[object]:
        return [getattr(constraint, name) for constraint in norm.constraints]

    def activities(acts: Iterable[Act | None]) -> list[object]:
        return [name for act in acts if act for name in act.activities]

    constraints: tuple[Constraint, ...] = norm.constraints
    return {
        **_act_fields([norm.target(c) for c in constraints]),
        "force": [norm.force],
        "bearer": [norm.bearer.role if isinstance(norm.bearer, Office) else norm.bearer],
        "template": each("template"),
        "after": activities(c.after.act if c.after else None for c in constraints),
        "correlate": [norm.correlation(c) for c in constraints],
        "deadline": each("deadline"),
        "count": [c.count for c in constraints if c.count != 1],
        "unless": activities(c.unless for c in constraints),
        "ties": each("ties"),
    }


def _procedure(procedure: Procedure) -> dict[str, Iterable[object]]:
    steps = procedure.steps
    return {
        "steps": [s.name for s in steps],
        "stages": [s.stage for s in steps],
        "roles": [s.role for s in steps],
        "inspects": [s.inspects for s in steps],
        "activity": [s.activity for s in steps],
        "response_time": [procedure.response_time],
    }


def _act_fields(acts: list[Act]) -> dict[str, Iterable[object]]:
    patterns = [pattern for act in acts for pattern in act.patterns]
    return {name: [getattr(p, name) for p in patterns] for name in ("activity", "location", "object", "role")}


assert tuple(SLOT_FIELDS) == SLOTS
