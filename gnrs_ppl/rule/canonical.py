"""Canonical form: what two structures must share to be the same rule, and the payloads a structure holds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from typing import NamedTuple

from gnrs_ppl.context.types import Frozen, Kind
from gnrs_ppl.errors import InputError
from gnrs_ppl.rule.types import (
    SLOTS,
    Act,
    Condition,
    Constraint,
    EvidencePolicy,
    Norm,
    Office,
    Procedure,
    Scope,
    Structure,
    Trigger,
)

SlotContent = Scope | Trigger | Norm | EvidencePolicy | Procedure


class Payload(NamedTuple):
    """One (kind, name) a structure selects; load-bearing when the check cannot run without it (DESIGN §2)."""

    slot: str
    kind: Kind
    name: str
    load_bearing: bool


def canonical(structure: Structure) -> Structure:
    """The same rule with order, defaults and equivalent spellings removed."""
    return Structure(
        scope=canonical_scope(structure.scope),
        trigger=canonical_trigger(structure.trigger),
        norm=canonical_norm(structure.norm),
        evidence=canonical_evidence(structure.evidence),
        procedure=structure.procedure,
    )


def canonical_slot(content: SlotContent) -> SlotContent:
    """Canonical form of one slot's content."""
    if isinstance(content, Scope):
        return canonical_scope(content)
    if isinstance(content, Trigger):
        return canonical_trigger(content)
    if isinstance(content, Norm):
        return canonical_norm(content)
    if isinstance(content, EvidencePolicy):
        return canonical_evidence(content)
    return content


def canonical_scope(scope: Scope) -> Scope:
    """Names in order: the lists are sets."""
    names = ("roles", "locations", "objects", "concerns")
    update: dict[str, object] = {field: tuple(sorted(getattr(scope, field))) for field in names}
    return scope.model_copy(update=update | {"where": _canonical_conditions(scope.where)})


def canonical_trigger(trigger: Trigger) -> Trigger:
    """Alternatives and conditions in order."""
    return trigger.model_copy(update={"act": canonical_act(trigger.act)}) if trigger.act else trigger


def canonical_act(act: Act) -> Act:
    """Patterns and their conditions in order: they are sets."""
    if not (act.alternatives or act.where):
        return act
    plain = {
        pattern.model_copy(update={"where": _canonical_conditions(pattern.where)}) for pattern in act.patterns
    }
    first, *others = sorted(plain, key=dumps)
    return first.model_copy(update={"alternatives": tuple(others)})


def _canonical_conditions(conditions: tuple[Condition, ...]) -> tuple[Condition, ...]:
    """Conditions once each and in order, and so the values of one_of."""
    plain = {
        c.model_copy(update={"value": tuple(sorted(c.value))}) if c.test == "one_of" else c
        for c in conditions
    }
    return tuple(sorted(plain, key=dumps))


def canonical_norm(norm: Norm) -> Norm:
    """Defaults of lines 13 and 19 as one writing, the office's role left to the bearer, constraints in order
    and once each.
    """
    plain = {_plain_constraint(norm, constraint) for constraint in norm.constraints}
    return Norm(force=norm.force, bearer=norm.bearer, constraints=tuple(sorted(plain, key=dumps)))


def _plain_constraint(norm: Norm, constraint: Constraint) -> Constraint:
    target = constraint.target.carried_by(None) if isinstance(norm.bearer, Office) else constraint.target
    plain: dict[str, object] = {"target": canonical_act(target), "correlate": norm.correlation(constraint)}
    if constraint.after is not None:
        plain["after"] = constraint.after.model_copy(update={"act": canonical_act(constraint.after.act)})
    if constraint.unless is not None:
        plain["unless"] = canonical_act(constraint.unless)
    if constraint.template != "succession" and constraint.ties == (
        "fulfil" if constraint.template == "response" else "unknown"
    ):
        plain["ties"] = None
    return constraint.model_copy(update=plain)


def canonical_evidence(evidence: EvidencePolicy) -> EvidencePolicy:
    """Channels in order; one channel makes every operator ``all``; at least 1 is ``any``."""
    channels = tuple(sorted(evidence.channels))
    if len(channels) == 1:
        return EvidencePolicy(channels=channels)
    if evidence.k == 1:
        return EvidencePolicy(channels=channels, operator="any")
    return EvidencePolicy(channels=channels, operator=evidence.operator, k=evidence.k)


def dumps(model: Frozen) -> str:
    """Stable one-line JSON of a model, unset defaults left out."""
    return json.dumps(
        model.model_dump(mode="json", exclude_defaults=True), sort_keys=True, separators=(",", ":")
    )


def refuse_data(structure: Structure, why: str) -> None:
    """Refuse a rule that states a condition on data, where one cannot be heeded.

    Raises
    ------
    InputError
        Names the first such condition and says why.
    """
    for place, condition in conditions_in(structure):
        raise InputError(
            f"states a condition on {condition.attribute!r}, and {why}",
            "leave the condition out, or audit the rule on a log",
            field=place,
        )


def beyond_payloads(structure: Structure, held: Collection[str] = ()) -> list[str]:
    """What a rule states for which no payload stands: conditions on data.

    What counts payloads would pass over it.

    Parameters
    ----------
    structure : Structure
    held : collection of str
        Attributes on which conditions are accounted for elsewhere.
    """
    return [found for slot in SLOTS for found in beyond_payloads_in(getattr(structure, slot), held)]


def beyond_payloads_in(content: SlotContent, held: Collection[str] = ()) -> list[str]:
    """What of one slot's content no payload stands for.

    Parameters
    ----------
    content : SlotContent
    held : collection of str
        Attributes on which conditions are accounted for elsewhere.
    """
    return [
        f"states a condition on {c.attribute!r}"
        for _, c in _conditions_of(content)
        if c.attribute not in held
    ]


def conditions_in(structure: Structure) -> list[tuple[str, Condition]]:
    """Every condition on data with the field it stands in, in reading order (D entries).

    Parameters
    ----------
    structure : Structure
    """
    return [found for slot in SLOTS for found in _conditions_of(getattr(structure, slot))]


def _conditions_of(content: SlotContent) -> list[tuple[str, Condition]]:
    if isinstance(content, Scope):
        return [("scope.where", condition) for condition in content.where]
    if isinstance(content, Trigger):
        return [("trigger.act", condition) for condition in (content.act.conditions if content.act else ())]
    if not isinstance(content, Norm):
        return []
    places: list[tuple[str, Condition]] = []
    for index, constraint in enumerate(content.constraints):
        acts = {
            "target": constraint.target,
            "after": constraint.after.act if constraint.after else None,
            "unless": constraint.unless,
        }
        for field, act in acts.items():
            place = f"norm.constraints[{index}].{field}"
            places += [(place, condition) for condition in (act.conditions if act else ())]
    return places


def signature(structure: Structure) -> str:
    """Sixteen hex digits that two structures share exactly when their canonical forms are equal.

    Parameters
    ----------
    structure : Structure
    """
    return hashlib.sha256(dumps(canonical(structure)).encode()).hexdigest()[:16]


def names_in(content: SlotContent) -> list[Payload]:
    """Every name that a slot's content states, in reading order; one that stands there twice comes twice.

    Load-bearing is what a check may rest on, and the logs a procedure promises to look into.

    Parameters
    ----------
    content : SlotContent
    """
    if isinstance(content, Scope):
        stated: list[tuple[Kind, tuple[str, ...], bool]] = [
            ("role", content.roles, False),
            ("location", content.locations, True),
            ("object", content.objects, True),
            ("object", content.concerns, False),
        ]
        return [Payload("scope", kind, name, bears) for kind, names, bears in stated for name in names]
    if isinstance(content, Trigger):
        if content.act is None or content.channel is None:
            return []
        return [*_act_payloads("trigger", content.act), Payload("trigger", "channel", content.channel, True)]
    if isinstance(content, EvidencePolicy):
        return [Payload("evidence", "channel", name, True) for name in content.channels]
    found: list[Payload] = []
    if isinstance(content, Procedure):
        for step in content.steps:
            found += [
                Payload("procedure", "step", step.name, False),
                Payload("procedure", "role", step.role, False),
            ]
            found += [Payload("procedure", "channel", step.inspects, True)] if step.inspects else []
            found += [Payload("procedure", "action", step.activity, False)] if step.activity else []
        return found
    if isinstance(content.bearer, Office):
        found.append(Payload("norm", "role", content.bearer.role, True))
    for constraint in content.constraints:
        found += _act_payloads("norm", constraint.target)
        if constraint.after is not None:
            found += [
                *_act_payloads("norm", constraint.after.act),
                Payload("norm", "channel", constraint.after.channel, True),
            ]
        if constraint.unless is not None:
            found += _act_payloads("norm", constraint.unless)
    return found


def payloads(structure: Structure) -> tuple[Payload, ...]:
    """Distinct payloads in slot order; a (kind, name) used twice keeps its first slot and is load-bearing if
    any use is.

    A scope filters trigger rows, so it bears nothing where the trigger is the case's start; its roles do
    where who opened bears the norm.

    Parameters
    ----------
    structure : Structure
    """
    filters, of_opener = structure.trigger.act is not None, structure.norm.bearer == "trigger"
    merged: dict[tuple[str, str], Payload] = {}
    for payload in (found for slot in SLOTS for found in names_in(getattr(structure, slot))):
        bears = payload.load_bearing
        if payload.slot == "scope":
            bears = filters and (of_opener if payload.kind == "role" else bears)
        elif payload.slot == "procedure":
            bears = False
        kept = merged.setdefault((payload.kind, payload.name), payload._replace(load_bearing=bears))
        merged[payload.kind, payload.name] = kept._replace(load_bearing=kept.load_bearing or bears)
    return tuple(merged.values())


def _act_payloads(slot: str, act: Act) -> list[Payload]:
    stated: list[tuple[Kind, str | None]] = []
    for one in act.patterns:
        stated += [
            ("action", one.activity),
            ("location", one.location),
            ("object", one.object),
            ("role", one.role),
        ]
    return [Payload(slot, kind, name, True) for kind, name in stated if name is not None]
