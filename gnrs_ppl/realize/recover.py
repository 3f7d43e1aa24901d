"""What a rule text gives back of a structure: facts of two structures, and traces on the surface of other texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from gnrs_ppl.context.time import Duration
from gnrs_ppl.realize.english import duration, number, times
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.parser import parse
from gnrs_ppl.realize.phrases import FORMS, Form
from gnrs_ppl.realize.scanner import ParseError
from gnrs_ppl.rule.canonical import canonical, payloads
from gnrs_ppl.rule.types import Act, Constraint, Office, Structure

_NEGATIONS = re.compile(r"\b(?:not|never|no|nobody|cannot|without)\b|n['’]t\b", re.IGNORECASE)


def recovered(structure: Structure, text: str, lexicon: Lexicon) -> list[str]:
    """What of a structure the text fails to give back; empty where everything is recovered.

    A text the parser reads is compared fact by fact, and what it says beyond the structure is listed too. Any other text (a
    polished one) is held against the surface: words of every payload, numbers, durations, force and negations.
    The surface cannot tell two swapped payloads apart.
    """
    try:
        read = parse(text, lexicon)
    except ParseError:
        return missing_on_surface(canonical(structure), text, lexicon)
    wanted, given = facts(canonical(structure)), facts(read)
    return [*(wanted - given).elements(), *(f"not in the rule: {fact}" for fact in (given - wanted).elements())]


def facts(rule: Structure) -> Counter[str]:
    """Everything a canonical structure states, one line each; equal structures, equal facts."""
    scope, trigger, norm, evidence = rule.scope, rule.trigger, rule.norm, rule.evidence
    found = [f"scope: {field[:-1]} {name!r}" for field in type(scope).model_fields for name in getattr(scope, field)]
    found += _act_facts("trigger", trigger.act) if trigger.act else ["trigger: case start"]
    found += [f"trigger: log {trigger.channel!r}"] if trigger.channel else []
    found += [f"trigger: window {trigger.window}"] if trigger.window else []
    found += [f"trigger: {trigger.once}", f"norm: force {norm.force}"]
    found.append(f"norm: bearer role {norm.bearer.role!r}" if isinstance(norm.bearer, Office) else "norm: bearer of the trigger")
    for constraint in norm.constraints:
        found += _constraint_facts(constraint)
    found += [f"evidence: log {name!r}" for name in evidence.channels] + [f"evidence: operator {evidence.operator}"]
    found += [f"evidence: k {evidence.k}"] if evidence.k else []
    for position, step in enumerate(rule.procedure.steps, start=1):
        stated = ((field, getattr(step, field)) for field in type(step).model_fields)
        found += [f"procedure: step {position}: {field} {value!r}" for field, value in stated if value]
    found += [f"procedure: response time {rule.procedure.response_time}"] if rule.procedure.response_time else []
    return Counter(found)


def _act_facts(place: str, act: Act) -> list[str]:
    return [f"{place}: {field} {value!r}" for field in type(act).model_fields if (value := getattr(act, field))]


def _constraint_facts(constraint: Constraint) -> list[str]:
    place = f"norm: {constraint.target.activity}"
    found = [f"{place}: {constraint.template}", f"{place}: count {constraint.count}", f"{place}: correlate {constraint.correlate}"]
    found += _act_facts(f"{place}: target", constraint.target)
    found += [f"{place}: ties {constraint.ties}"] if constraint.ties else []
    found += [f"{place}: earlier acts count"] if constraint.earlier_counts else []
    found += [f"{place}: deadline {constraint.deadline}"] if constraint.deadline else []
    if constraint.after:
        found += [*_act_facts(f"{place}: after", constraint.after.act), f"{place}: after: log {constraint.after.channel!r}"]
    return found + (_act_facts(f"{place}: unless", constraint.unless) if constraint.unless else [])


def missing_on_surface(rule: Structure, text: str, lexicon: Lexicon) -> list[str]:
    """Payloads, numbers, force and negations of a canonical structure that a text's words do not show."""
    missing = []
    for payload in payloads(rule):
        forms = {lexicon.form(payload.kind, payload.name, form) for form in FORMS if _has(payload.kind, form)}
        if not any(_count(form, text) for form in forms):
            missing.append(f"{payload.slot}: {payload.kind} {payload.name!r}")
    missing += [f"number: {' or '.join(words)}" for words in _numbers(rule) if not any(_count(one, text) for one in words)]
    forces = {force: _count(force, text) for force in ("must", "should", "may")}
    forces["may"] -= sum(step.stage == "appeal" for step in rule.procedure.steps) if rule.norm.force != "may" else 0
    if rule.norm.force == "must":
        forbidden = _count("nobody may", text)
        forces |= {"must": forces["must"] + forbidden, "may": forces["may"] - forbidden}
    negative = sum(not c.positive for c in rule.norm.constraints)
    permitted = rule.norm.force == "may" and negative == len(rule.norm.constraints)
    if not forces[rule.norm.force] and not (permitted and (_count("need not", text) or _count("nobody need", text))):
        missing.append(f"norm: force {rule.norm.force}")
    missing += [f"not in the rule: force {f}" for f, n in forces.items() if f != rule.norm.force and n > 0]
    negations = len(_NEGATIONS.findall(text))
    if negations != negative:
        missing.append(f"norm: {negative} negation(s), the text has {negations}")
    return missing


def _has(kind: str, form: Form) -> bool:
    kinds = {"noun": ("action",), "doing": ("action", "step"), "many": ("role", "object")}
    return form == "one" or kind in kinds[form]


def _count(words: str, text: str) -> int:
    return len(re.findall(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.IGNORECASE))


def _numbers(rule: Structure) -> list[tuple[str, ...]]:
    """Durations and counts in any of their words; a number may stand once for all its uses."""
    lengths: Iterable[Duration | None] = (rule.trigger.window, rule.procedure.response_time, *(c.deadline for c in rule.norm.constraints))
    found: list[tuple[str, ...]] = [(duration(length),) for length in lengths if length]
    for c in rule.norm.constraints:
        found += [(times(c.count), times(c.count - 1)) if c.template == "absence" else (times(c.count),)] if c.count > 1 else []
    found += [(number(rule.evidence.k),)] if rule.evidence.k else []
    return list(dict.fromkeys(found))
