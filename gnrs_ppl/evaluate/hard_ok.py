"""HARD-OK: the evaluator's binary gate, from structure and record layer alone (paper, Hard-OK Forensic
Audit).

Shares neither code nor ρ with the search's hard predicate (gnrs_ppl/models/flags.py); either may hold without
the other.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from gnrs_ppl.context.load import Context
from gnrs_ppl.context.types import Support
from gnrs_ppl.rule.canonical import Payload, SlotContent, beyond_payloads, payloads
from gnrs_ppl.rule.types import SLOTS, Act, EvidencePolicy, Norm, Procedure, Scope, Structure, Trigger

SUPPORT_WEIGHTS: dict[Support, float] = {"direct": 1.0, "inferred": 0.65, "derivable": 0.45, "missing": 0.0}
"""r(p) of the paper's Hard-OK audit."""
RHO_GATE = 0.50
_NAMES_NOTHING: dict[str, Any] = {
    "scope": Scope(),
    "trigger": Trigger(),
    "norm": Norm.model_construct(constraints=()),
    "evidence": EvidencePolicy.model_construct(channels=()),
    "procedure": Procedure.model_construct(steps=()),
}
"""What stands in for an empty slot while payloads are listed; it is never kept."""


class HardOk(NamedTuple):
    """Outcome of the gate: ρ, how many payloads stand at each support, and the conditions that fail."""

    passed: bool
    rho: float
    supports: dict[Support, int]
    failures: tuple[str, ...]


def rho(supports: Iterable[Support]) -> float:
    """Mean support weight over distinct payloads; 0 where there are none.

    Parameters
    ----------
    supports : iterable of {"direct", "inferred", "derivable", "missing"}
    """
    weights = [SUPPORT_WEIGHTS[s] for s in supports]
    return (
        math.fsum(weights) / len(weights) if weights else 0.0
    )  # sum() rounds otherwise from Python 3.12 on, and a gate hangs on it


def support_of(payload: Payload, structure: Structure, context: Context) -> tuple[Support, int]:
    """Support of one payload and the rows that show it; a step is shown by the activity that records it.

    Without a log nothing is shown: a channel counts as direct and any other name a channel is declared to
    show as inferred, unless the record layer declares less.
    """
    counts = context.profile.counts
    if payload.kind == "step":
        activities = {s.activity for s in structure.procedure.steps if s.name == payload.name and s.activity}
        rows = sum(counts.get(("action", a), 0) for a in activities)
    else:
        rows = counts.get((payload.kind, payload.name), 0)
    if rows and not context.records.prospective:
        return "direct", rows
    declared = (
        d.support for d in context.records.support if (d.kind, d.name) == (payload.kind, payload.name)
    )
    unsaid: Support = "missing" if not rows else "direct" if payload.kind == "channel" else "inferred"
    return next(declared, unsaid), 0


def hard_ok(structure: Structure, context: Context) -> HardOk:
    """The gate: ρ ≥ 0.50, five filled slots, required, forbidden and permitted actions honoured, acts
    recorded.

    Every channel that the procedure inspects has to hold a row, and every attribute that a condition is on a
    value; where another person is asked for, some row has to name one.

    Parameters
    ----------
    structure : Structure
        The rule.
    context : Context
        What it is for, with the records it is held against.
    """
    supports = [support_of(p, structure, context)[0] for p in payloads(structure)]
    value = rho(supports)
    failures = [f"rho {value:.3f} is below {RHO_GATE:.2f}"] if value < RHO_GATE else []
    scope = structure.scope
    if not (scope.roles or scope.locations or scope.objects or scope.concerns or scope.where):
        failures.append("the scope slot is empty")
    demanded = {name for c in structure.norm.constraints if c.positive for name in c.target.activities}
    failures += [
        f"required action {a!r} is no target of a positive constraint"
        for a in context.goal.required
        if a not in demanded
    ]
    failures += [f"forbidden action {a!r} is demanded" for a in context.goal.forbidden if a in demanded]
    bound = (
        {c.target.activity for c in structure.norm.constraints} if structure.norm.force != "may" else set()
    )
    failures += [
        f"permitted action {a!r} has become a duty or a ban" for a in context.goal.permitted if a in bound
    ]
    held = {name for name, attribute in context.profile.attributes.items() if attribute.rows}
    failures += [f"{what}, which no row holds" for what in beyond_payloads(structure, held)]
    if not _names_people(context) and any(
        structure.norm.correlation(c) == "different_resource" for c in structure.norm.constraints
    ):
        failures.append("another person is asked for, and no row names one")
    selected = _selected_channels(structure)
    for act in _acts(structure):
        if not any(_records(context, channel, act) for channel in selected):
            failures.append(f"no selected channel records {act.activity!r}")
    for step in structure.procedure.steps:
        if step.inspects is not None and not context.profile.counts.get(("channel", step.inspects)):
            failures.append(f"the procedure inspects {step.inspects!r}, which holds no row")
    counted = Counter(supports)
    return HardOk(not failures, value, {s: counted[s] for s in SUPPORT_WEIGHTS}, tuple(failures))


def _names_people(context: Context) -> bool:
    return any(pair.recorded.get("resource") for pair in context.profile.pairs.values())


def hard_ok_partial(slots: Mapping[str, SlotContent], context: Context) -> HardOk:
    """The gate on a rule read from a text, some of whose slots may be empty: each of those fails it, the
    others count as they stand.

    Parameters
    ----------
    slots : mapping of slot name to content
        The filled slots; with all five this is :func:`hard_ok`.
    """
    gate = hard_ok(with_gaps(slots), context)
    empty = tuple(f"the {slot} slot is empty" for slot in SLOTS if slot not in slots and slot != "scope")
    return gate._replace(passed=gate.passed and not empty, failures=gate.failures + empty)


def with_gaps(slots: Mapping[str, SlotContent]) -> Structure:
    """Filled slots in the shape of a structure, for listing payloads: not validated, not to be run or
    stored.
    """
    return Structure.model_construct(**(_NAMES_NOTHING | dict(slots)))


def _selected_channels(structure: Structure) -> set[str]:
    after = {c.after.channel for c in structure.norm.constraints if c.after}
    return {*structure.evidence.channels, *after} | (
        {structure.trigger.channel} if structure.trigger.channel else set()
    )


def _acts(structure: Structure) -> list[Act]:
    acts = [structure.trigger.act] + [
        a for c in structure.norm.constraints for a in (c.target, c.unless, c.after.act if c.after else None)
    ]
    return [act for act in acts if act is not None]


def _records(context: Context, channel: str, act: Act) -> bool:
    declared = context.records.channel(channel)
    if declared is not None and declared.activities is not None:
        return declared.durable and act.activity in declared.activities
    return context.profile.rows(channel, act.activity) > 0
