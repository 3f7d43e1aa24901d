"""Who acts: another person than did something else (D7), and those whom a rule leaves out."""

from __future__ import annotations

from typing import Any

from gnrs_ppl.candidates.source import Material
from gnrs_ppl.context.load import Context
from gnrs_ppl.reading import Reading, Readings
from gnrs_ppl.reading.agreement import left_unbound, left_unheeded
from gnrs_ppl.reading.goal import rules_of
from gnrs_ppl.reading.unnamed import asked_by_no_role, roles_unread
from gnrs_ppl.rule.types import HALVES, IMPLEMENTED, NEGATIVE, NEIGHBOURS, Structure

COMPARE_NONE = tuple(t for t in IMPLEMENTED if HALVES.get(t, (t,))[0] in NEIGHBOURS)
"""Templates that compare no persons."""


def can_compare(reading: Reading, opener: str | None) -> bool:
    """Whether a rule that this act opens can say that another person does what a reading asks or bans, where
    it says so: who opened it is whom the rule compares with.
    """
    if not reading.by_another:
        return True
    read = reading.activation.activity if reading.activation else opener
    bans_beside = reading.template in COMPARE_NONE and reading.template in NEGATIVE
    return opener is not None and read == opener and reading.after is None and not bans_beside


def by_another(constraint: dict[str, Any]) -> list[dict[str, Any]]:
    """A constraint, as a context file writes it, asked of another person than opened the rule; where its
    template compares no persons, with a ban on that person beside it.
    """
    if constraint["template"] not in COMPARE_NONE:
        return [constraint | {"correlate": "different_resource"}]
    ban = {"template": "not_coexistence", "target": constraint["target"], "correlate": "same_resource"}
    return [constraint | {"correlate": "same_case"}, ban]


def left_out(context: Context, rule: Structure, readings: Readings) -> tuple[str, ...]:
    """A line for each role that a sentence names and a rule leaves out, and for each that the schema does not
    know.
    """
    stated = rules_of(readings)[context.rule] if readings.statements else ()
    said = [readings.statements[number].best for number in stated]
    roles = left_unbound(rule, said)
    phrases = {role.name: role.phrase or role.name for role in context.schema.roles}
    counts, events = context.profile.counts, context.profile.events
    unbound = (
        f"the sentence binds '{phrases.get(role, role)}', the rule does not: "
        f"{counts.get(('role', role), 0):,} of {events:,} rows carry that role"
        for role in roles
    )
    unnamed = dict.fromkeys(span for reading in said for span in asked_by_no_role(readings, reading))
    unknown = (
        f"the sentence binds '{who}', the rule does not: the schema names no such role"
        for who in map(readings.words, unnamed)
    )
    material = Material(context)
    opening = (
        role
        for activity, role in left_unheeded(rule, said)
        if set(material.traces.pair(activity).values.get("role", {})) != {role}
    )
    unheeded = (
        f"the sentence names '{phrases.get(role, role)}', the rule does not heed it"
        for role in dict.fromkeys((*opening, *roles_unread(readings, said, context.schema)))
        if role not in roles
    )
    return (*unbound, *unknown, *unheeded)
