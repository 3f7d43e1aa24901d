"""The source beside the paper's four: what the goal's sentence says.

A reading proposes trigger, scope and norm together, as it was read, as far as the log fills its fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from pydantic import ValidationError

from gnrs_ppl.candidates.beside import OPENERS_TRIED, said_beside
from gnrs_ppl.candidates.data import (
    cannot_compare,
    compared_with_opener,
    of_act,
    of_openers,
    on_act,
    recording,
)
from gnrs_ppl.candidates.persons import by_another, can_compare
from gnrs_ppl.candidates.source import Material, ProposedCandidate, ProposedCandidates, shown_by
from gnrs_ppl.context.types import Goal
from gnrs_ppl.reading import ActRead, Reading, Span
from gnrs_ppl.reading.goal import FORCES, lead_of, ways
from gnrs_ppl.rule.types import IN_THE_MEANTIME, LOOK_BACK, NEGATIVE, Norm

FILLED = 0.8
"""A field is stated of an act only where at least this share of its rows carry the field."""
_CLOSING = re.compile(
    r"\b(?:closing time|clos(?:e|ing) of|end of (?:the |a |each |every |his |her |their )?\w+|at the end)\b",
    re.IGNORECASE,
)
_UNDERGONE = re.compile(
    r"\b(?:was|were|been|being|is|are)\s+(?:\w+ly\s+|already\s+)?\w+(?:ed|en|t|d|n|wn)\b", re.IGNORECASE
)
MOSTLY = 0.5
NEARLY_ALL = 0.95
UNLIKELY = 0.3
"""How much less an act of those who are bound stands for a signal that no log shows, and an act of others
for the beginning of what is asked of them."""
"""Who performs at least this share of the opener's rows is taken to have opened what is asked of them."""


class Opener(NamedTuple):
    """What opens instances: an act as read, or an activity that was not read but usually comes first; None
    for the start of the case.

    ``fits`` in [0, 1] says how well it does what the sentence says of an opener; ``said`` whether the
    sentence names it, ``own`` whether it is an act of those who are bound.
    """

    activity: str | None
    act: ActRead | None
    fits: float
    because: str
    said: bool = True
    own: bool = False


def stated(material: Material) -> ProposedCandidates:
    """Proposals of every way to read the rule, most probable first; where a model read along, those of the
    reader alone come before.
    """
    context, by = material.context, "read from the sentence"
    if context.read_along is not None:
        alone = replace(context, read_along=None, scene=context.scene or context)
        yield from _stated(Material(alone), by)
        by = "read from the sentence with a model"
    yield from _stated(material, by)
    yield from said_beside(material)


def _stated(material: Material, by: str) -> ProposedCandidates:
    for share, said in ways(material.readings, material.rule, material.context.goal):
        told = f"{by} ({share:.0%})"
        if not all_recorded(material, said) or any(cannot_compare(material.context, r) for r in said):
            continue
        for opener in opened_by(material, said):
            yield from _trigger(material, said, opener, told)
            yield from _norm(material, said, opener, told)
            yield from _evidence(material, said, opener, told)
        yield from _scope(material, said, told)


def opened_by(material: Material, said: Sequence[Reading]) -> list[Opener]:
    """What may open a rule that says all of what was read, best first: conditions, and who acts."""
    found = _recording_what_is_said(material, said)
    return [o for o in found if all(can_compare(r, o.activity) for r in said)]


def all_recorded(material: Material, said: Sequence[Reading]) -> bool:
    """Whether every act that was read is recorded somewhere."""
    return all(a.activity in material.traces.homes for a in _acts(said))


def _acts(said: Sequence[Reading]) -> Iterator[ActRead]:
    for reading in said:
        yield from reading.targets
        for act in (reading.activation, reading.after, reading.exception):
            yield from act.each if act is not None else ()


def _lead(said: Sequence[Reading]) -> Reading:
    return said[lead_of(said)]


def _recording_what_is_said(material: Material, said: Sequence[Reading]) -> list[Opener]:
    """What may open a rule: where conditions are stated of it, only acts that record what these are about;
    those that usually come first, where none is said.
    """
    conditions, found = of_openers(material.context, said), openers(material, said)
    if any(compared_with_opener(material.context, r) for r in said):
        found = [o for o in found if o.activity is not None]  # the start of a case records nothing
    if not conditions:
        return found
    recorded = recording(material.context, conditions)
    if named := [o for o in found if o.said and o.activity in recorded]:
        return named
    told = {a.activity for r in said for a in r.targets}
    activation = _lead(said).activation
    attributes = ", ".join(c.attribute for c in conditions)
    usual = [
        a
        for a in material.usual_openers
        if a in recorded
        and a not in told
        and (activation is None or material.traces.before(a, activation.activity) >= MOSTLY)
    ]
    return [
        Opener(a, None, 1.0 - 0.1 * rank, f"{a} records {attributes}")
        for rank, a in enumerate(usual[:OPENERS_TRIED])
    ]


def openers(material: Material, said: Sequence[Reading]) -> list[Opener]:
    """What may open a rule that was read so, best first.

    The act that is said to; for a signal that no log shows, the act of others that usually opens; for an end
    that is spoken of, the act that usually closes; for none, the act by which those who are bound usually
    begin. The start of the case comes last.
    """
    lead = _lead(said)
    targets = {a.activity for r in said for a in r.targets}
    found: list[Opener] = []
    told = False
    if lead.activation is not None:
        asked_by = [r for r in said if lead.activation.activity in (a.activity for a in r.targets)]
        told = all(presupposed(r, material.context.goal) for r in asked_by)
        found.append(
            Opener(
                lead.activation.activity,
                lead.activation,
                1.0 if told else 0.6,
                "the act that is said to open it",
            )
        )
        if not asked_by:
            return found
    if lead.template in ("init", "end") or _whoever_begins(material, said):
        return [Opener(None, None, 1.0, "every case")]
    theirs, others = material.usual_openers[:OPENERS_TRIED], material.openers_of_others[:OPENERS_TRIED]
    ends = material.usual_closers[:1] if _CLOSING.search(material.readings.sentence) else ()
    usual = (*ends, *(others if lead.condition else theirs), *(theirs if lead.condition else others)[:1])
    likely = {*ends, *(others if lead.condition else theirs)}
    demanded = {a.activity for r in said if r.template not in NEGATIVE for a in r.targets}
    begins = not lead.condition and not ends and theirs[:1] and theirs[0] in demanded
    named = {*material.goal.roles, *(n.name for r in said for n in r.bearers)}
    recorded = any(material.context.profile.counts.get(("role", role)) for role in named)
    nobody = lead.activation is None and not recorded
    # the act that usually begins is itself asked for, another opens, or nobody is named who is recorded
    whole = begins or told or nobody
    place = next(
        (a.location for r in said if r.template not in NEGATIVE for a in r.targets if a.location), None
    )
    there = {a for a in usual if place and _carries(material, a, "location", place.name)}
    ranked = sorted(
        dict.fromkeys(a for a in usual if a not in targets),
        key=lambda a: (a not in there, not (there and material.arrives(a))),
    )
    for rank, activity in enumerate(ranked):
        act = ActRead(activity, Span(0, 0), 0.0, location=place) if activity in there else None
        found.append(
            Opener(
                activity,
                act,
                (0.6 if whole else 1.0) - 0.1 * rank - UNLIKELY * (activity not in likely),
                f"no log shows what is said to open it; {activity} usually does",
                False,
                activity in theirs,
            )
        )
    return [*found, Opener(None, None, 1.0 if nobody or (begins and not told) else 0.3, "every case")]


def presupposed(reading: Reading, goal: Goal) -> bool:
    """Whether an act may be told only to say when the rest is due: "delivers the parcel, and checks out
    within ten minutes of that".

    Not where the goal's fields require it, nor where it is told at which place.
    """
    required = set(goal.required) & {a.activity for a in reading.targets}
    return _plain(reading) and not required and not any(a.location for a in reading.targets)


def _plain(reading: Reading) -> bool:
    """Whether a reading asks that acts are done, at any time."""
    return (
        reading.template == "existence"
        and reading.joint == "all"
        and reading.count == 1
        and reading.time is None
    )


def _trigger(material: Material, said: Sequence[Reading], opener: Opener, told: str) -> ProposedCandidates:
    if opener.activity is None:
        yield ProposedCandidate("trigger", {}, f"{told}: {opener.because}")
        return
    exact = _fields(material, opener.act, opener.activity) if opener.act else {}
    onces = ("each",) if opener.said else ("first", "each")
    conditions = of_openers(material.context, said)
    shapes = [exact] if not exact else [exact, {}]
    for fields in shapes:
        for once in onces if fields is exact or not opener.said else onces[:1]:
            opened = material.trigger(opener.activity, **fields)
            opened["act"] = opened["act"] | _or_others(material, opener.act)
            yield ProposedCandidate(
                "trigger",
                opened | {"act": on_act(opened["act"], conditions), "once": once},
                f"{told}: {opener.because}",
            )


def _evidence(material: Material, said: Sequence[Reading], opener: Opener, told: str) -> ProposedCandidates:
    """The logs that show the acts read and their opener, and with them every log that is declared to record
    one of the targets.
    """
    homes = material.traces.homes
    acts = dict.fromkeys(([opener.activity] if opener.activity else []) + [a.activity for a in _acts(said)])
    logs = list(dict.fromkeys(homes[a] for a in acts))
    yield from shown_by(logs, "any", f"{told}: the log that shows each of {', '.join(acts)} best")
    targets = {a.activity for r in said for a in r.targets}
    more = [
        c.name for c in material.context.records.channels if c.durable and targets & set(c.activities or ())
    ]
    yield from shown_by(list(dict.fromkeys([*logs, *more])), "any", f"{told}: every log that can record them")


def _scope(material: Material, said: Sequence[Reading], told: str) -> ProposedCandidates:
    roles = list(dict.fromkeys(n.name for r in said for n in r.bearers)) or list(material.goal.roles)
    lead = _lead(said)
    named = [a for a in (lead.activation, *lead.targets) if a is not None]
    places = list(dict.fromkeys(a.location.name for a in named[:1] if a.location))
    actor = [lead.activation.role.name] if lead.activation and lead.activation.role else []
    anybody = not material.context.goal.roles and (
        _opened_by_anybody(material, said, roles) or _opened_by_another(material, lead, roles)
    )
    if roles and anybody:
        yield ProposedCandidate("scope", {"locations": places} if places else {}, told)
        return
    if roles:
        yield ProposedCandidate("scope", {"roles": roles}, told)
    if roles and places:
        yield ProposedCandidate("scope", {"roles": roles, "locations": places}, told)
    if actor and not set(actor) <= set(roles):
        yield ProposedCandidate("scope", {"roles": [*roles, *actor]}, told)
        if places:
            yield ProposedCandidate("scope", {"roles": [*roles, *actor], "locations": places}, told)
    if not roles and places:
        yield ProposedCandidate("scope", {"locations": places}, told)
    if not roles or _opened_by_others(material, lead):
        yield ProposedCandidate("scope", {"locations": places} if roles and places else {}, told)


def _opened_by_another(material: Material, lead: Reading, bound: Sequence[str]) -> bool:
    """Whether rows show another role, that is said to, opening what is asked of those who are bound."""
    opener = lead.activation
    if opener is None or opener.role is None or material.context.goal.roles or not bound:
        return False
    role = opener.role.name
    return role not in bound and role in material.traces.pair(opener.activity).values.get("role", {})


def _opened_by_others(material: Material, lead: Reading) -> bool:
    """Whether no row of the act that is said to open the rule is of those who are bound: a delivery fails,
    and sales must act.
    """
    return lead.activation is not None and material.theirs(lead.activation.activity) == 0


def _opened_by_anybody(material: Material, said: Sequence[Reading], roles: Sequence[str]) -> bool:
    """Whether nothing says that those who are bound open the rule, and rows show others doing so: "once it
    was sent, a clerk must file it" holds whoever sent it.
    """
    opener = _lead(said).activation
    either = len(roles) > 1 and len(said) == 1 and not (said[0].who or said[0].one_subject)
    if opener is None or opener.role is not None or not (len(roles) == 1 or either):
        return False
    asked = any(opener.activity == a.activity for r in said for a in r.targets)
    same = any(r.who or r.one_subject for r in said)
    share = material.theirs(opener.activity)
    return not asked and (share < MOSTLY or (not same and share <= NEARLY_ALL))


def _whoever_begins(material: Material, said: Sequence[Reading]) -> bool:
    """Whether nothing is said to open what some alone are barred from or asked: it holds in every case,
    whether or not they had a part in it before.
    """
    best = (s.best for s in material.readings.statements)
    if material.context.goal.roles or any(r.activation or r.condition or r.after for r in (*said, *best)):
        return False
    bearers = dict.fromkeys(n.name for r in said for n in r.bearers)
    if not all(_recorded(material, name) for name in bearers) or not bearers:
        return False
    barred = all(r.template == "absence" and r.count == 1 and r.time is None for r in said)
    plain = all(r.template in ("existence", "absence") and r.count == 1 and r.time is None for r in said)
    alone = len(said) == 1 and not any(a.location for r in said for a in r.targets)
    return plain and (barred or alone or _each_its_own(material))


def _any_of_them(material: Material, reading: Reading) -> tuple[str, ...]:
    """The several roles of which any may do what is asked, where rows show each: "a nurse or a doctor must
    sign it".
    """
    roles = tuple(dict.fromkeys(n.name for n in reading.bearers))
    apart = len(roles) > 1 and not (reading.who or reading.one_subject or reading.only)
    shown = all(_recorded(material, role) for role in roles) and _say_who(material, (reading,))
    return roles if apart and shown and not material.context.goal.roles else ()


def offices(material: Material, said: Sequence[Reading], opener: Opener) -> tuple[str | None, ...]:
    """Who may bear the duty, likeliest first: the one who opened it (None), or a role as an office where
    another may have opened it.
    """
    bearers = list(dict.fromkeys(n.name for r in said for n in r.bearers)) or list(material.goal.roles)
    if len(bearers) != 1 or not (
        material.context.goal.roles or (_recorded(material, bearers[0]) and _say_who(material, said))
    ):
        return (None,)
    if opener.activity is None:
        return (bearers[0],)
    if opener.own:
        return (None, bearers[0])
    if opener.act is not None and opener.act.role is not None:
        return (None,) if opener.act.role.name == bearers[0] else (bearers[0],)
    theirs = material.theirs(opener.activity)
    if opener.said and not material.context.goal.roles and _opened_by_anybody(material, said, bearers):
        return (bearers[0],)
    if theirs > NEARLY_ALL and opener.said and not any(_by_the_same(material, r, opener) for r in said):
        return (bearers[0], None)
    return (None,) if theirs > NEARLY_ALL else (None, bearers[0]) if theirs >= MOSTLY else (bearers[0], None)


def _recorded(material: Material, role: str) -> bool:
    """Whether rows carry a role, or may once there are some."""
    context = material.context
    return context.records.prospective or bool(context.profile.counts.get(("role", role)))


def _say_who(material: Material, said: Sequence[Reading]) -> bool:
    """Whether rows of each act that is asked for carry a role."""
    asked = (a.activity for r in said for a in r.targets)
    return all(material.traces.pair(activity).recorded.get("role") for activity in asked)


def _by_the_same(material: Material, reading: Reading, opener: Opener) -> bool:
    """Whether whoever opened it is asked, and nobody else of the same office."""
    return any(_correlation(material, reading, opener, act) != "same_case" for act in reading.targets)


def _norm(material: Material, said: Sequence[Reading], opener: Opener, told: str) -> ProposedCandidates:
    for office in offices(material, said, opener):
        for key in (None, "same_case") if office is None and opener.activity is not None else ("same_case",):
            constraints = [
                c for r in _not_implied(said, opener) for c in _constraints(material, r, opener, key)
            ]
            constraints += _left_out(material, said, opener)
            force = min((r.force for r in said), key=FORCES.index)
            content: dict[str, Any] = {"force": force, "constraints": constraints} | (
                {"bearer": {"role": office}} if office else {}
            )
            try:
                Norm.model_validate(content)
            # no rule holds all of it at once: nothing, too many constraints, a second opener of a mutual one
            except ValidationError:
                continue
            yield ProposedCandidate("norm", content, f"{told}: {opener.because}")


def _not_implied(said: Sequence[Reading], opener: Opener) -> list[Reading]:
    """Readings without plain duties that another holds already: what must come before the opener is done."""
    before = {
        a.activity
        for r in said
        if r.template == "precedence"
        and r.activation
        and r.activation.activity == opener.activity
        and r.joint == "all"
        for a in r.targets
    }
    return [r for r in said if not (_plain(r) and before >= {a.activity for a in r.targets})]


def _left_out(material: Material, said: Sequence[Reading], opener: Opener) -> Iterator[dict[str, Any]]:
    """A duty for each recorded act that a person's fields require and that was not read as one."""
    read = {a.activity for r in said if r.template not in NEGATIVE for a in r.targets} | {opener.activity}
    for activity in material.context.goal.required:
        if activity not in read and activity in material.traces.homes:
            yield {
                "template": "existence",
                "target": material.act(activity),
                "correlate": "same_case",
            }


def _constraints(
    material: Material, reading: Reading, opener: Opener, key: str | None
) -> Iterator[dict[str, Any]]:
    """The constraints of one reading under an opener; ``key`` correlates them all, else each as the traces
    show.
    """
    template = reading.template
    own = reading.activation is not None and reading.activation.activity == opener.activity
    common: dict[str, Any] = {}
    if reading.time is not None and reading.time.duration is not None and template not in ("init", "end"):
        common["deadline"] = reading.time.duration
        if reading.time.earlier_counts and template == "response":
            common["earlier_counts"] = True
    if template in ("existence", "exactly", "absence") and reading.count > 1:
        common["count"] = reading.count
    if (
        reading.activation is None
        and template == "existence"
        and reading.count == 1
        and "deadline" in common
        and opener.activity
    ):
        template = "response"
    after = reading.activation if reading.activation is not None and not own else reading.after
    if after is not None:
        common["after"] = {"act": _act(material, after), "channel": material.traces.homes[after.activity]}
    if reading.exception is not None:
        conditions = of_act(material.context, reading, reading.exception, "exception", opener.activity)
        common["unless"] = on_act(_act(material, reading.exception), conditions)
        if reading.meanwhile and template in IN_THE_MEANTIME:
            common["in_the_meantime"] = True
    acts = [
        a for a in reading.targets if a.activity != opener.activity and _may_be_theirs(material, reading, a)
    ]
    others = [_asked_of_others(material, reading, a) for a in acts]
    patterns = [
        on_act(
            _act(material, a, banned=template in NEGATIVE) | by,
            of_act(material.context, reading, a, "act", opener.activity),
        )
        for a, by in zip(acts, others, strict=True)
    ]
    targets = [{"any_of": patterns}] if reading.joint == "any" and len(acts) > 1 else patterns
    free = opener.activity is None or (
        opener.said
        and _opened_by_anybody(material, (reading,), [n.name for n in reading.bearers])
        and not any(others)
    )
    if free and (roles := _any_of_them(material, reading)):
        each = [[pattern | {"role": role} for role in roles] for pattern in patterns]
        one = [way for ways in each for way in ways]
        targets = [{"any_of": ways} for ways in ([one] if len(targets) < len(patterns) else each)]
        others = [{"role": roles[0]}] * len(patterns)
    for act, by, target in zip(acts, others, targets, strict=False):
        constraint = {"template": template, "target": target} | common
        if reading.by_another:
            yield from by_another(constraint)
        elif by:
            yield constraint | {"correlate": "same_case"}
        else:
            yield constraint | {"correlate": key or _correlation(material, reading, opener, act)}


def _each_its_own(material: Material) -> bool:
    """Whether a sentence asks different things of different roles."""
    return len(material.bound) > 1 and not material.context.goal.roles


def _may_be_theirs(material: Material, reading: Reading, act: ActRead) -> bool:
    """Whether a row of the log carries the role of an act that is left to other roles alone."""
    role = act.role.name if reading.only and act.role else ""
    return not role or bool(material.context.profile.counts.get(("role", role)))


def _asked_of_others(material: Material, reading: Reading, act: ActRead) -> dict[str, str]:
    """Who must have done what has to come first, where others are bound by it and rows show them at it."""
    role = act.role.name if act.role else ""
    if reading.only:
        return {"role": role}
    if len(reading.bearers) == 1 and _each_its_own(material) and reading.template not in LOOK_BACK:
        asked = reading.bearers[0].name
        return {"role": asked} if material.context.profile.counts.get(("role", asked)) else {}
    bound = {n.name for n in reading.bearers}
    told = role and bound and role not in bound and reading.template in LOOK_BACK
    return {"role": role} if told and role in material.traces.performers(act.activity, 0.02) else {}


def _correlation(material: Material, reading: Reading, opener: Opener, act: ActRead) -> str:
    """Same person where the sentence says so, or where those who are bound are recorded as opening it and as
    acting; else the same case.
    """
    if opener.activity is None:
        return "same_case"
    if reading.who is not None or reading.one_subject:
        return "same_resource"
    if reading.template in NEGATIVE:
        return "same_case" if _undergone_by_anybody(material, reading) else "same_resource"
    if (
        opener.said
        and reading.activation is not None
        and (
            reading.activation.role is None
            or reading.activation.role.name not in {n.name for n in reading.bearers}
        )
    ):
        return "same_case"  # whoever opened it, another may do what is asked
    acts = (
        (act.activity, opener.activity) if reading.template in LOOK_BACK else (opener.activity, act.activity)
    )
    bound = {n.name for n in reading.bearers}
    both = bound and all(bound & set(material.traces.performers(a, 0.2)) for a in acts)
    return "same_resource" if both else material.correlate(*acts)


def _undergone_by_anybody(material: Material, reading: Reading) -> bool:
    """Whether what opens a ban is told as done, by nobody in particular: "a clerk must not pay it after it
    was blocked" holds whoever blocked it.
    """
    opener = reading.activation
    if opener is None or opener.role is not None or material.context.goal.roles:
        return False
    text = material.readings.sentence
    ahead = max(text.rfind(mark, 0, opener.span.start) for mark in ",.;") + 1
    return _UNDERGONE.search(text[ahead : opener.span.end]) is not None


def _act(material: Material, act: ActRead, banned: bool = False) -> dict[str, Any]:
    return material.act(act.activity, **_fields(material, act, act.activity, banned)) | _or_others(
        material, act
    )


def _or_others(material: Material, act: ActRead | None) -> dict[str, Any]:
    """Further acts, any of which opens likewise."""
    others = act.alternatives if act is not None else ()
    return {"alternatives": tuple(_act(material, other) for other in others)} if others else {}


def _fields(material: Material, act: ActRead, activity: str, banned: bool = False) -> dict[str, str | None]:
    """Object and location as read, where the act's rows carry them; of a banned act they may never have."""
    named = {"object": act.object, "location": act.location}
    return {
        field: n.name
        for field, n in named.items()
        if n is not None and _carries(material, activity, field, n.name, banned)
    }


def _carries(material: Material, activity: str, field: str, name: str, banned: bool = False) -> bool:
    """Whether an act's rows fill a field, and with this name at least once, if only in other acts."""
    pair = material.traces.pair(activity)
    seen = (
        material.context.profile.counts.get((field, name)) if banned else pair.values.get(field, {}).get(name)
    )
    return pair.recorded.get(field, 0) >= FILLED * max(pair.rows, 1) and bool(seen)
