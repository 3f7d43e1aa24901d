"""What a goal's sentence asks that these records cannot hold: refused for that reason, never bent to a
neighbour.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator

from gnrs_ppl.candidates.beside import (
    evidence_of,
    procedure_of,
    unheld_evidence,
    unheld_procedure,
    unkept_log,
)
from gnrs_ppl.candidates.data import not_held, unheld_data, unheld_words
from gnrs_ppl.candidates.grounding import absent
from gnrs_ppl.candidates.source import Material
from gnrs_ppl.candidates.stated import opened_by
from gnrs_ppl.context.load import Context
from gnrs_ppl.context.profile import PairProfile
from gnrs_ppl.context.time import GRAIN_LENGTH, Grain
from gnrs_ppl.errors import Refused
from gnrs_ppl.reading import ActRead, Reading, Readings, patterns
from gnrs_ppl.reading.goal import LEAST_SHARE, rules_of, states_fields, ways
from gnrs_ppl.reading.plain import declare_name, why_nothing
from gnrs_ppl.reading.quantities import CALENDAR, SINCE, UNCOUNTED, durations
from gnrs_ppl.reading.reader import vocabulary
from gnrs_ppl.reading.types import Span
from gnrs_ppl.reading.unnamed import asked_by_no_role
from gnrs_ppl.reading.vocabulary import ENOUGH, Vocabulary, tokens_of
from gnrs_ppl.reading.words import lemmas
from gnrs_ppl.rule.types import NEGATIVE

REMEDIES = {
    "no_duty": "say who must, must not or may do what",
    "time_not_read": "say from what it runs, in hours, days, weeks or months, or state goal.within",
    "no_such_act": "name an act that is recorded (gnrs profile lists them), or give one these words as its "
    "phrase under schema.actions",
    "no_such_role": "name a role that rows carry, or leave the role out",
    "no_such_field": "leave it out, or declare under records.attributes what holds it",
    "names_no_individuals": "leave the person out, or say under records.columns.resource which column names "
    "who acted",
}
"""What mends a refusal, by its reason; where one reason has several, the call says which."""
SENTENCE_END = re.compile(r"[.;!?](?=\s|$)")
COMPARED_WITH = re.compile(
    r"\bthan\s+(?:whoever|(?:the|those|anyone)\s+(?:\w+\s+)?(?:who|that))\s+(?:(?:has|had|have|first)\s+)*(?P<did>\w+)",
    re.IGNORECASE,
)
"""Whom another person is told apart from: "another clerk than the one who drew it up"."""
LATER_THAN = re.compile(
    r"(?<!until )(?<!unless )(?<!only )(?<!if )(?<!when )\b(?:later|more|longer) than\s+$", re.IGNORECASE
)
"""Before a length: bars what comes later, and nothing within it."""
ORDINALS: dict[Grain, str] = {
    "day": "dates only",
    "minute": "minutes only",
    "second": "seconds only",
    "microsecond": "microseconds only",
}


def refusal(context: Context, readings: Readings) -> Refused | None:
    """Why the rule that the context drafts from its sentence cannot be held by its records; None where
    nothing shows that it cannot.

    Parameters
    ----------
    context : Context
        Its ``rule`` says which of the sentence's rules is meant. Where the goal's fields or its pools say
        what is asked, they override the sentence, and nothing is refused.
    readings : Readings
        Of the goal's sentence.

    Returns
    -------
    Refused or None
        With ``reason``: ``no_duty``, ``no_such_act``,
        ``names_no_individuals``, ``too_coarse``, ``time_not_read``, ``part_not_read``, ``no_such_field``,
        ``no_such_log``, ``no_such_role`` or ``too_many_steps``.
    """
    if states_fields(context):
        return None
    if readings.nothing and readings.unheld:
        return not_held(readings, readings.unheld[0])
    if readings.nothing and readings.nothing != "no_duty" and (refused := unkept_log(readings)):
        return refused
    if readings.nothing and (refused := _nameless_acts(context, readings)):
        return refused
    if readings.nothing:
        return _refused(why_nothing(readings), readings.nothing)
    if readings.unread_condition:
        return _refused(
            "the duty depends on something that no act and no field of the log shows", "no_such_field"
        )
    for number in rules_of(readings)[context.rule]:
        ways = [r for r in readings.statements[number].readings if r.probability >= LEAST_SHARE] or [
            readings.statements[number].best
        ]
        if refused := unheld_words(readings, readings.statements[number].best):
            return refused
        why = [held_against(context, readings, reading) for reading in ways]
        if all(why):
            return why[0]
    if refused := _persons_apart(Material(context)):
        return refused
    if late := _barred_when_late(readings, context.rule):
        either = "may ask for it within that time, or allow it within that time only"
        told = f"to bar what comes later than '{late}' {either}"
        return Refused(told, "say which: 'must … within', or 'only … within'", reason="time_not_read")
    if context.goal.within is None and (lost := _lost_time(readings, context.rule)):
        told = f"the time '{lost}' is stated and could not be read as the time of anything"
        return Refused(told, "say from what it runs, or state goal.within", reason="time_not_read")
    return _beside(Material(context))


def _refused(told: str, reason: str) -> Refused:
    return Refused(told, REMEDIES[reason], reason=reason)


def _twice(grains: list[Grain]) -> str:
    """Twice the finest of some grains, the shortest time that they can show."""
    finest = min(grains, key=lambda grain: GRAIN_LENGTH[grain])
    return f"2 {finest}s"


def _barred_when_late(readings: Readings, rule: int) -> str:
    """A length after which a sentence bars an act, where it was read as one within which the act is barred
    or due.
    """
    sentence = readings.sentence
    for number in rules_of(readings)[rule]:
        best = readings.statements[number].best
        if best.time is None:
            continue
        for told in durations(sentence):
            here = told.start < best.time.span.end and best.time.span.start < told.end
            later = LATER_THAN.search(sentence, 0, told.start)
            before = patterns.NEGATIVE.search(sentence, 0, told.start)
            ends = SENTENCE_END.search(sentence, told.end)
            behind = patterns.NEGATIVE.search(sentence, told.end, ends.start() if ends else len(sentence))
            turned = before or behind if best.template == "not_response" else behind and not before
            if here and later and turned:
                return readings.words(Span(told.start, told.end))
    return ""


def _lost_time(readings: Readings, rule: int) -> str:
    """A time in a sentence that the rule's statements were read from which no way to read anything heeds; a
    rule without it would be another rule.
    """
    said = [readings.statements[number] for number in rules_of(readings)[rule]]
    used = [span.start for s in said for span in s.best.used]
    heeded = [r.time.span for s in readings.statements for r in s.readings if r.time]
    heeded += [r.condition for s in readings.statements for r in s.readings if r.condition]
    heeded += [b for b in readings.background if not any(b.start <= start < b.end for start in used)]
    if readings.procedure and readings.procedure.time:
        heeded.append(readings.procedure.time.span)
    ends = [m.start() for m in SENTENCE_END.finditer(readings.sentence)]
    lost = [u.span.start for u in readings.unread]
    calendar = [Span(*m.span()) for m in CALENDAR.finditer(readings.sentence)]
    calendar = [
        t
        for t in calendar
        if (
            any(t.start <= start < t.end for start in lost)
            or not any(t.start <= start < t.end for start in used)
        )
        and not SINCE.search(readings.sentence, 0, t.start)
    ]
    counted = [Span(t.start, t.end) for t in durations(readings.sentence)]
    vague = [Span(*m.span("unit")) for m in UNCOUNTED.finditer(readings.sentence)]
    vague = [
        t
        for t in vague
        if any(t.start <= start < t.end for start in lost)
        and not any(t.start < c.end and c.start < t.end for c in counted)
    ]
    for told in sorted((*counted, *calendar, *vague)):
        here = bisect(ends, told.start)
        if any(bisect(ends, start) == here for start in used) and not any(
            told.start < h.end and h.start < told.end for h in heeded
        ):
            return readings.words(told)
    return ""


def _beside(material: Material) -> Refused | None:
    """What speaks against what the sentence says of its evidence, or of what follows a breach."""
    evidence, procedure = evidence_of(material.readings), procedure_of(material.readings)
    return (unheld_evidence(material, evidence) if evidence else None) or (
        unheld_procedure(material, procedure) if procedure else None
    )


def held_against(context: Context, readings: Readings, reading: Reading) -> Refused | None:
    """What speaks against one way to read a statement."""
    acts = list(reading.acts)
    found = (
        _unrecorded(context, readings, acts),
        _without_others(context, reading),
        _without_those_banned(context, readings, reading),
        _nameless(context, acts) if reading.who or _compares_persons(readings, reading) else None,
        _coarse(context, readings, reading),
        _fieldless(context, readings, reading, acts),
        unheld_data(context, readings, reading),
    )
    return next(filter(None, found), None)


def _without_others(context: Context, reading: Reading) -> Refused | None:
    """Where an act is left to some roles alone, rows must show others."""
    others = {a.role.name for a in reading.targets if reading.only and a.role}
    if context.records.prospective or not others:
        return None
    if any(context.profile.counts.get(("role", role)) for role in others):
        return _roleless(context, reading)
    only = " or ".join(n.name for n in reading.only)
    told = f"0 of {context.profile.events:,} rows carry a role other than {only}"
    return _refused(told, "no_such_role")


def _roleless(context: Context, reading: Reading) -> Refused | None:
    """Where who acts is all that is asked, rows of the act must say so."""
    for act in reading.targets:
        pairs = [pair for _, pair in _pairs(context, act)]
        if not any(pair.recorded.get("role") for pair in pairs):
            told = f"0 of {sum(pair.rows for pair in pairs):,} rows of {act.activity!r} carry a role"
            return _refused(told, "no_such_role")
    return None


def _without_those_banned(context: Context, readings: Readings, reading: Reading) -> Refused | None:
    """Where an act is banned for some who do not do it anyway, rows must show them: a ban on everybody would
    bar those whose act it is.
    """
    if context.records.prospective or reading.template not in NEGATIVE or reading.who or reading.only:
        return None
    plain = reading.template == "absence" and reading.count == 1 and reading.condition is None
    if plain and not reading.bearers and (unknown := asked_by_no_role(readings, reading)):
        told = f"the schema names no role like '{readings.words(unknown[0])}', who alone is banned from it"
        return _refused(told, "no_such_role")
    banned = [n.name for n in reading.bearers]
    doers = {role for a in context.schema.actions if a.name in reading.activities for role in a.roles}
    if not banned or not doers or doers & set(banned):
        return None
    if any(context.profile.counts.get(("role", role)) for role in banned):
        return _roleless(context, reading)
    those = " or ".join(banned)
    told = f"0 of {context.profile.events:,} rows carry the role {those}, who alone is banned from it"
    return _refused(told, "no_such_role")


def _pairs(context: Context, act: ActRead) -> Iterator[tuple[str, PairProfile]]:
    return (
        (channel, pair)
        for (channel, activity), pair in context.profile.pairs.items()
        if activity == act.activity
    )


def _unrecorded(context: Context, readings: Readings, acts: list[ActRead]) -> Refused | None:
    unseen = next((act for act in acts if absent("action", act.activity, context)), None)
    if unseen is None:
        return None
    recorded = tuple(a for a in context.schema.actions if not absent("action", a.name, context))
    words = readings.words(unseen.span)
    tokens = tokens_of(words)
    near = Vocabulary(context.schema.model_copy(update={"actions": recorded})).match_acts(
        tokens, range(len(tokens))
    )[:1]
    nearest = f", nearest {near[0].name} ({near[0].score:.2f})" if near else ""
    rows = (
        "no channel is declared to show one"
        if context.records.prospective
        else f"0 of {context.profile.events:,} rows"
    )
    told = f"no act like '{words}' is recorded ({unseen.activity}: {rows}){nearest}"
    return _refused(told, "no_such_act")


def _compares_persons(readings: Readings, reading: Reading) -> bool:
    """Whether the sentence that tells what a reading asks compares persons, however it was read."""
    text, place = readings.sentence, reading.targets[0].span.start
    start = max((m.end() for m in SENTENCE_END.finditer(text, 0, place)), default=0)
    ends = SENTENCE_END.search(text, place)
    return bool(patterns.COMPARES_PERSONS.search(text, start, ends.start() if ends else len(text)))


def _nameless_acts(context: Context, readings: Readings) -> Refused | None:
    """Where nothing was read of a sentence that compares who did two acts: that one of these names nobody."""
    if not patterns.COMPARES_PERSONS.search(readings.sentence):
        return None
    tokens = tokens_of(readings.sentence)
    told = vocabulary(context.schema).match_acts(tokens, range(len(tokens)))
    acts = [ActRead(m.name, Span(0, 0), m.score) for m in told if m.score >= ENOUGH]
    return _nameless(context, acts) if len(acts) > 1 else None


def _nameless(context: Context, acts: list[ActRead]) -> Refused | None:
    """Where the sentence asks who acted, each of its acts must have somebody on record, and not one and the
    same everywhere.
    """
    for act in acts:
        pairs = [pair for _, pair in _pairs(context, act)]
        rows = sum(pair.rows for pair in pairs)
        if not any(pair.recorded.get("resource") for pair in pairs):
            told = f"the log names no individuals: 0 of {rows:,} rows of {act.activity!r} say who acted"
            return _refused(told, "names_no_individuals")
    everyone = [pair for act in acts for _, pair in _pairs(context, act) if pair.recorded.get("resource")]
    names = {pair.sole.get("resource") for pair in everyone}
    if len(names) == 1 and None not in names and max(pair.cases for pair in everyone) > 1:
        told = (
            f"the log names no individuals: {names.pop()!r} stands in all rows of "
            f"{', '.join(a.activity for a in acts)}"
        )
        return _refused(told, "names_no_individuals")
    return None


def _persons_apart(material: Material) -> Refused | None:
    """Another person than one whom no rule compares with: a rule does so with whoever opens it."""
    found = [said for _, said in ways(material.readings, material.rule, material.context.goal)]
    apart = [r for said in found for r in said if r.by_another]
    stated = (material.readings.statements[n].best for n in rules_of(material.readings)[material.rule])
    if any(r.by_another and _compares_with_nobody(r) for r in stated):
        told = "another person is asked for, and no other act is told that the first one did"
        return Refused(told, "say than who did what", reason="names_no_individuals")
    likeliest = (r for r in (found[0] if found else ()) if r.by_another)
    why = (*(_only_pointed_at(material, r) for r in apart), *(_unread_person(material, r) for r in likeliest))
    if refused := next(filter(None, why), None):
        return refused
    if not apart or any(opened_by(material, said) for said in found):
        return None
    meant = apart[0].activation
    told = f"another person than did {meant.activity!r}" if meant else "another person"
    return Refused(
        f"{told} is asked for, and {declare_name(apart[0].template)} compares persons only with the act "
        "that opens the rule",
        "state that duty apart, or leave the person out",
        reason="names_no_individuals",
    )


def _compares_with_nobody(reading: Reading) -> bool:
    """Whether another person is asked for beside no other act: "must be checked by a second clerk"."""
    return (
        reading.template in ("existence", "exactly")
        and reading.activation is None
        and len(reading.targets) == 1
    )


def _only_pointed_at(material: Material, reading: Reading) -> Refused | None:
    """The refusal of a reading that asks for the act which only says than whom another person is meant."""
    who = COMPARED_WITH.search(material.readings.sentence)
    asks = reading.template in ("response", "chain_response", "succession")
    if who and asks and any(t.span.start <= who.start("did") < t.span.end for t in reading.targets):
        return Refused(
            f"{who['did']!r} only says of whom another person is meant, and does not ask for that act",
            "state the duty, and in a sentence of its own who may not do both",
            reason="part_not_read",
        )
    return None


def _unread_person(material: Material, reading: Reading) -> Refused | None:
    """The refusal where no act like that of the person compared with was read: the opener is another's."""
    readings, opener = material.readings, reading.activation
    who = COMPARED_WITH.search(readings.sentence)
    if opener is None or who is None or who.start("did") not in {u.span.start for u in readings.unread}:
        return None
    acts = (opener, *reading.targets)
    named = {act.activity for act in acts}
    phrases = [a.phrase or "" for a in material.context.schema.actions if a.name in named]
    told = " ".join([*(readings.sentence[a.span.start : a.span.end] for a in acts), *phrases])
    known = {verb for form in re.findall(r"\w+", told.lower()) for verb in lemmas(form, "v")}
    if known & set(lemmas(who["did"].lower(), "v")):
        return None
    told = f"another person than who {who['did']!r} is asked for, and no act like that was read"
    return _refused(told, "no_such_act")


def _coarse(context: Context, readings: Readings, reading: Reading) -> Refused | None:
    """A stated time finer than twice the clock of every channel that records an act."""
    duration = reading.time.duration if reading.time else None
    if duration is None or reading.time is None:
        return None
    for act in (a for a in (reading.activation, *reading.targets) if a is not None):
        grains = [_grain(context, channel) for channel, _ in _pairs(context, act)]
        known = [g for g in grains if g is not None]
        if (
            known
            and len(known) == len(grains)
            and all(GRAIN_LENGTH[g].total_seconds() > duration.shortest_seconds() / 2 for g in known)
        ):
            told = (
                f"the log keeps {ORDINALS[known[0]]} for {act.activity!r}, the sentence asks for "
                f"{readings.words(reading.time.span)}"
            )
            remedy = f"ask for {_twice(known)} or more, or record times more finely"
            return Refused(told, remedy, reason="too_coarse")
    return None


def _grain(context: Context, channel: str) -> Grain | None:
    declared = context.records.channel(channel)
    return (declared.grain if declared else None) or context.profile.grains.get(channel)


def _fields_for(context: Context, condition: str) -> set[str]:
    """The fields of a log that may show a condition: a place; a thing where its words name one that the log
    keeps; none for an amount.
    """
    if patterns.AMOUNT.search(condition):
        return set()
    tokens = tokens_of(condition)
    named = vocabulary(context.schema).name_in("objects", tokens, range(len(tokens)))
    kept = any(("object", thing.name) in context.profile.counts for _, thing in named)
    return {"location", "object"} if kept and not patterns.ELSEWHERE.search(condition) else {"location"}


def _fieldless(context: Context, readings: Readings, reading: Reading, acts: list[ActRead]) -> Refused | None:
    """A place, or a condition that no act shows, in a log without any place or thing."""
    if context.records.prospective:
        return None
    kept = {kind for kind, _ in context.profile.counts}
    place = next((a.location for a in acts if a.location is not None), None)
    if place is not None and "location" not in kept:
        told = f"the log keeps no places, the sentence asks for '{readings.words(place.span)}'"
        remedy = "leave the place out, or say under records.columns.location which column holds it"
        return Refused(told, remedy, reason="no_such_field")
    if reading.condition is not None and not kept & _fields_for(context, readings.words(reading.condition)):
        told = f"no act and no field of the log shows '{readings.words(reading.condition).strip()}'"
        return _refused(told, "no_such_field")
    return None
