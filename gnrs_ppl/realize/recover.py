"""What a rule text gives back of a structure, fact by fact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.parser import parse
from gnrs_ppl.realize.scanner import ParseError
from gnrs_ppl.rule.canonical import canonical, dumps
from gnrs_ppl.rule.types import Act, Condition, Constraint, Office, Structure


def recovered(structure: Structure, text: str, lexicon: Lexicon) -> list[str]:
    """What of a structure the text fails to give back; empty where everything is recovered.

    The text is read by the parser; what it says beyond the structure is listed too.
    """
    try:
        read = parse(text, lexicon)
    except ParseError as error:
        return [f"the text cannot be read: {error}"]
    wanted, given = facts(canonical(structure)), facts(read)
    return [
        *(wanted - given).elements(),
        *(f"not in the rule: {fact}" for fact in (given - wanted).elements()),
    ]


def facts(rule: Structure) -> Counter[str]:
    """Everything a canonical structure states, one line each; equal structures, equal facts."""
    scope, trigger, norm, evidence = rule.scope, rule.trigger, rule.norm, rule.evidence
    found = [
        f"scope: {field[:-1]} {name!r}"
        for field in ("roles", "locations", "objects", "concerns")
        for name in getattr(scope, field)
    ]
    found += _condition_facts("scope", scope.where)
    found += _act_facts("trigger", trigger.act) if trigger.act else ["trigger: case start"]
    found += [f"trigger: log {trigger.channel!r}"] if trigger.channel else []
    found += [f"trigger: window {trigger.window}"] if trigger.window else []
    found += [f"trigger: {trigger.once}", f"norm: force {norm.force}"]
    found.append(
        f"norm: bearer role {norm.bearer.role!r}"
        if isinstance(norm.bearer, Office)
        else "norm: bearer of the trigger"
    )
    for constraint in norm.constraints:
        found += _constraint_facts(constraint)
    found += [f"evidence: log {name!r}" for name in evidence.channels] + [
        f"evidence: operator {evidence.operator}"
    ]
    found += [f"evidence: k {evidence.k}"] if evidence.k else []
    for position, step in enumerate(rule.procedure.steps, start=1):
        stated = ((field, getattr(step, field)) for field in type(step).model_fields)
        found += [f"procedure: step {position}: {field} {value!r}" for field, value in stated if value]
    found += (
        [f"procedure: response time {rule.procedure.response_time}"] if rule.procedure.response_time else []
    )
    return Counter(found)


def _act_facts(place: str, act: Act) -> list[str]:
    stated = [field for field in type(act).model_fields if field != "where" and getattr(act, field)]
    return [f"{place}: {field} {getattr(act, field)!r}" for field in stated] + _condition_facts(
        place, act.where
    )


def _condition_facts(place: str, conditions: Iterable[Condition]) -> list[str]:
    return [f"{place}: where {dumps(condition)}" for condition in conditions]


def _constraint_facts(constraint: Constraint) -> list[str]:
    place = f"norm: {constraint.target.activity}"
    found = [
        f"{place}: {constraint.template}",
        f"{place}: count {constraint.count}",
        f"{place}: correlate {constraint.correlate}",
    ]
    found += _act_facts(f"{place}: target", constraint.target)
    found += [f"{place}: ties {constraint.ties}"] if constraint.ties else []
    found += [f"{place}: earlier acts count"] if constraint.earlier_counts else []
    found += [f"{place}: unless in the meantime"] if constraint.in_the_meantime else []
    found += [f"{place}: deadline {constraint.deadline}"] if constraint.deadline else []
    if constraint.after:
        found += [
            *_act_facts(f"{place}: after", constraint.after.act),
            f"{place}: after: log {constraint.after.channel!r}",
        ]
    return found + (_act_facts(f"{place}: unless", constraint.unless) if constraint.unless else [])
