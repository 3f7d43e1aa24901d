"""Conditions on data that the sentence states, as conditions of a rule's scope and acts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from gnrs_ppl.candidates.source import Material, ProposedCandidate
from gnrs_ppl.context.load import Context
from gnrs_ppl.errors import Refused
from gnrs_ppl.reading import ActRead, Reading, Readings
from gnrs_ppl.reading.clauses import SENTENCE_END
from gnrs_ppl.reading.goal import rules_of
from gnrs_ppl.reading.plain import declare_name
from gnrs_ppl.reading.types import DataOf, DataRead, Unheld
from gnrs_ppl.rule.types import MUTUAL, NEIGHBOURS, Condition, Other

OPENED_TWICE = ("response", "not_response", "precedence", "not_precedence")
"""Templates that may start anew from a second act, where the first records what a condition is about."""
REMEDY = "leave it out, or declare under records.attributes what holds it"


class SaidOfData(NamedTuple):
    """The attributes on which a sentence states conditions, and the conditions it states of its cases."""

    attributes: frozenset[str]
    cases: tuple[Condition, ...]


NOTHING_SAID = SaidOfData(frozenset(), ())


def said_of_data(material: Material) -> SaidOfData:
    """What the sentence says of data in the rule that is drafted."""
    readings = material.readings
    rules = rules_of(readings)
    said = [readings.statements[n] for n in rules[material.rule]] if material.rule < len(rules) else []
    data = [d for s in said for r in s.readings for d in r.data]
    return SaidOfData(
        frozenset(d.condition.attribute for d in data), _distinct(d for d in data if d.of == "case")
    )


def of_openers(context: Context, said: Iterable[Reading]) -> tuple[Condition, ...]:
    """The conditions that it states of the act that opens it."""
    return _distinct(d for r in said for d in r.data if _stated_of(context, r, d) == "opener")


def _distinct(data: Iterable[DataRead]) -> tuple[Condition, ...]:
    return tuple(dict.fromkeys(d.condition for d in data))


def recording(context: Context, conditions: Sequence[Condition]) -> list[str]:
    """The acts whose rows hold every attribute of some conditions, most rows first."""
    held = [
        context.profile.attributes[c.attribute].acts
        for c in conditions
        if c.attribute in context.profile.attributes
    ]
    if len(held) < len(conditions) or not held:
        return []
    return sorted(set.intersection(*map(set, held)), key=lambda a: (-min(acts[a].rows for acts in held), a))


def _holds(context: Context, activity: str, attribute: str) -> bool:
    held = context.profile.attributes.get(attribute)
    return held is not None and activity in held.acts


def _stated_of(context: Context, reading: Reading, data: DataRead) -> DataOf:
    """What a condition is stated of: of what opens, where no row of the act holds it."""
    told = any(_holds(context, a.activity, data.condition.attribute) for a in reading.targets)
    return "opener" if data.of == "act" and data.condition.other is None and not told else data.of


def _elsewhere(context: Context, act: ActRead, other: Other) -> bool:
    """Whether what an act is compared with stands on the record that opens the rule."""
    return not _holds(context, act.activity, other.attribute)


def compared_with_opener(context: Context, reading: Reading) -> list[DataRead]:
    """The conditions of a reading that compare its acts with what opens the rule."""
    excepted = [reading.exception] if reading.exception else []
    acts: dict[DataOf, Sequence[ActRead]] = {"act": reading.targets, "exception": excepted}
    return [
        data
        for data in reading.data
        if (other := data.condition.other) is not None
        and any(_elsewhere(context, act, other) for act in acts.get(data.of, ()))
    ]


def cannot_compare(context: Context, reading: Reading) -> bool:
    """Whether a reading compares its acts with what opens the rule, and no check of its template does."""
    return reading.template in (*NEIGHBOURS, *MUTUAL) and bool(compared_with_opener(context, reading))


def narrowed(proposal: ProposedCandidate, data: SaidOfData) -> ProposedCandidate:
    """A proposed scope with the conditions that the sentence states of its cases; any other as it is."""
    if proposal.slot != "scope" or not data.cases:
        return proposal
    return proposal._replace(content=proposal.content | {"where": data.cases})


def on_act(pattern: dict[str, Any], conditions: Sequence[Condition]) -> dict[str, Any]:
    """An act as a context file writes it, under some conditions."""
    return pattern | {"where": tuple(conditions)} if conditions else pattern


def of_act(
    context: Context, reading: Reading, act: ActRead, of: DataOf, opener: str | None
) -> tuple[Condition, ...]:
    """The conditions that a reading states of one of its acts, under what opens the rule."""
    found = []
    for data in reading.data:
        if _stated_of(context, reading, data) != of:
            continue
        condition, other = data.condition, data.condition.other
        if other is not None and opener and _elsewhere(context, act, other):
            condition = condition.model_copy(
                update={"other": Other(attribute=other.attribute, of="activation")}
            )
        found.append(condition)
    return tuple(found)


def unheld_words(readings: Readings, reading: Reading) -> Refused | None:
    """Words on data in the sentence of a reading that no attribute holds."""
    ends = [m.end() for m in SENTENCE_END.finditer(readings.sentence)]

    def sentence(place: int) -> int:
        return sum(end <= place for end in ends)

    here = sentence(reading.targets[0].span.start)
    return next((not_held(readings, u) for u in readings.unheld if sentence(u.span.start) == here), None)


def not_held(readings: Readings, words: Unheld) -> Refused:
    """The refusal of words on data that no attribute holds."""
    reason = "no_such_role" if readings.nothing == "no_such_role" else "no_such_field"
    return Refused(f"'{readings.words(words.span).strip()}': {words.why}", REMEDY, reason=reason)


def unheld_data(context: Context, readings: Readings, reading: Reading) -> Refused | None:
    """What the records show against a condition that a reading states."""
    if cannot_compare(context, reading):
        for data in compared_with_opener(context, reading):
            told = f"'{readings.words(data.span).strip()}': no check of {declare_name(reading.template)}"
            return Refused(
                f"{told} compares two records", "say what follows at any time", reason="no_such_field"
            )
    for data in reading.data:
        if reason := _against(context, reading, data):
            return Refused(f"'{readings.words(data.span).strip()}': {reason}", REMEDY, reason="no_such_field")
    return None


def _against(context: Context, reading: Reading, data: DataRead) -> str:
    if context.records.prospective:
        return ""
    name, of = data.condition.attribute, _stated_of(context, reading, data)
    held, unread = context.profile.attributes[name], context.log.unread.get(name)
    targets = [a.activity for a in reading.targets]
    if not held.rows:
        told = f"0 of {context.profile.events:,} rows carry a value of {name!r}"
        return f"{told} that can be read ({unread})" if unread else told
    if not unread and of in ("case", "opener") and held.distinct == 1 and data.condition.test != "recorded":
        told = f"{name!r} is the same in all {held.rows:,} rows that carry one"
        return f"{told}, so a condition on it tells nothing apart"
    holding = ", ".join(sorted(held.acts))
    if of == "opener":
        opener = reading.activation.activity if reading.activation else None
        others = set(held.acts) - set(targets) - {opener}
        if opener not in held.acts and (not others or (opener and reading.template not in OPENED_TWICE)):
            told = f"{name!r} is recorded of {holding}, not of {opener or 'an act that could open the rule'}"
            return f"{told}; declare it of: case where each case has one"
    acts = (
        [reading.exception.activity]
        if of == "exception" and reading.exception
        else targets
        if of == "act"
        else []
    )
    lacking = [a for a in acts if a not in held.acts]
    return f"{name!r} is recorded of {holding}, not of {', '.join(lacking)}" if lacking else ""
