"""Source four: what the goal's sentence says. A reading proposes trigger, scope and norm together, exactly as it was read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from gnrs_ppl.candidates.source import Material, Proposal, Proposals
from gnrs_ppl.reading import ActRead, Reading
from gnrs_ppl.reading.goal import ways
from gnrs_ppl.rule.types import LOOK_BACK

FILLED = 0.8
"""A field is stated of an act only where at least this share of its rows carry the field."""
OPENERS_TRIED = 2
"""Openers offered where the sentence names none that a log shows."""


class Opener(NamedTuple):
    """What opens instances: an act as read, or an activity that was not read but usually comes first; None for the start of the case."""

    activity: str | None
    act: ActRead | None
    because: str


def stated(material: Material) -> Proposals:
    """Proposals of every way to read the rule, most probable first."""
    for share, said in ways(material.readings, material.rule):
        told = f"read from the sentence ({share:.0%})"
        missing = next((a for a in _acts(said) if a.activity not in material.traces.homes), None)
        if missing is not None:
            continue
        for opener in _openers(material, said):
            yield from _trigger(material, said, opener, told)
            yield from _norm(material, said, opener, told)
        yield from _scope(material, said, told)


def _acts(said: Sequence[Reading]) -> Iterator[ActRead]:
    for reading in said:
        yield from reading.targets
        yield from (act for act in (reading.activation, reading.exception) if act is not None)


def _lead(said: Sequence[Reading]) -> Reading:
    return next((r for r in said if r.activation is not None), said[0])


def _openers(material: Material, said: Sequence[Reading]) -> Iterator[Opener]:
    lead = _lead(said)
    if lead.activation is not None:
        yield Opener(lead.activation.activity, lead.activation, "the act that is said to open it")
        return
    targets = {a.activity for r in said for a in r.targets}
    if lead.template in ("init", "end"):
        yield Opener(None, None, "every case")
        return
    usual = [a for a in material.openers if a not in targets][:OPENERS_TRIED]
    for activity in usual:
        yield Opener(activity, None, f"no log shows what is said to open it; {activity} usually opens")
    yield Opener(None, None, "every case")


def _trigger(material: Material, said: Sequence[Reading], opener: Opener, told: str) -> Proposals:
    if opener.activity is None:
        yield Proposal("trigger", {}, f"{told}: {opener.because}")
        return
    office = _office(material, said, opener)
    exact = _fields(material, opener.act, opener.activity) if opener.act else {}
    if office and opener.act and opener.act.role and _carries(material, opener.activity, "role", opener.act.role.name):
        exact["role"] = opener.act.role.name
    onces = ("first", "each") if opener.act is None else ("each", "first")
    shapes = [exact] if not exact else [exact, {}]
    for fields in shapes:
        for once in onces if fields is exact else onces[:1]:
            yield Proposal("trigger", material.trigger(opener.activity, **fields) | {"once": once}, f"{told}: {opener.because}")


def _scope(material: Material, said: Sequence[Reading], told: str) -> Proposals:
    roles = list(dict.fromkeys(n.name for r in said for n in r.bearers)) or list(material.goal.roles)
    lead = _lead(said)
    named = [a for a in (lead.activation, *lead.targets) if a is not None]
    places = list(dict.fromkeys(a.location.name for a in named[:1] if a.location))
    actor = [lead.activation.role.name] if lead.activation and lead.activation.role else []
    if roles:
        yield Proposal("scope", {"roles": roles}, told)
    if roles and places:
        yield Proposal("scope", {"roles": roles, "locations": places}, told)
    if actor and not set(actor) <= set(roles):
        yield Proposal("scope", {"roles": [*roles, *actor]}, told)
        if places:
            yield Proposal("scope", {"roles": [*roles, *actor], "locations": places}, told)
    if not roles and places:
        yield Proposal("scope", {"locations": places}, told)
    if not roles:
        yield Proposal("scope", {}, told)


def _office(material: Material, said: Sequence[Reading], opener: Opener) -> str | None:
    """The role that bears the duty as an office: the opener is somebody else's act, or the case's start."""
    bearers = list(dict.fromkeys(n.name for r in said for n in r.bearers)) or list(material.goal.roles)
    if len(bearers) != 1:
        return None
    if opener.activity is None:
        return bearers[0]
    if opener.act is not None and opener.act.role is not None:
        return bearers[0] if opener.act.role.name != bearers[0] else None
    performers = material.traces.performers(opener.activity, 0.05)
    return bearers[0] if performers and bearers[0] not in performers else None


def _norm(material: Material, said: Sequence[Reading], opener: Opener, told: str) -> Proposals:
    office = _office(material, said, opener)
    for personal in (True, False):
        constraints = [c for r in said for c in _constraints(material, r, opener, office, personal)]
        if not constraints:
            return
        content: dict[str, Any] = {"force": said[0].force, "constraints": constraints} | ({"bearer": {"role": office}} if office else {})
        yield Proposal("norm", content, f"{told}: {opener.because}")
        if office or opener.activity is None:
            return


def _constraints(material: Material, reading: Reading, opener: Opener, office: str | None, personal: bool) -> Iterator[dict[str, Any]]:
    """The constraints of one reading under an opener."""
    template = reading.template
    own = reading.activation is not None and reading.activation.activity == opener.activity
    common: dict[str, Any] = {}
    if reading.time is not None and reading.time.duration is not None and template not in ("init", "end"):
        common["deadline"] = reading.time.duration
        if reading.time.earlier_counts and template == "response":
            common["earlier_counts"] = True
    if template in ("existence", "exactly", "absence") and reading.count > 1:
        common["count"] = reading.count
    if reading.activation is None and template == "existence" and reading.count == 1 and "deadline" in common and opener.activity:
        template = "response"
    if reading.activation is not None and not own:
        home = material.traces.homes[reading.activation.activity]
        common["after"] = {"act": _act(material, reading.activation), "channel": home}
    if reading.exception is not None:
        common["unless"] = _act(material, reading.exception)
    acts = [a for a in reading.targets if a.activity != opener.activity]
    targets = [{"any_of": [_act(material, a) for a in acts]}] if reading.joint == "any" and len(acts) > 1 else [_act(material, a) for a in acts]
    for act, target in zip(acts, targets, strict=False):
        key = _correlation(material, reading, opener, act, office, personal)
        yield {"template": template, "target": target, "correlate": key} | common
        if reading.who == "another_person" and opener.activity:
            yield {"template": "not_coexistence", "target": target, "correlate": "same_resource"}


def _correlation(material: Material, reading: Reading, opener: Opener, act: ActRead, office: str | None, personal: bool) -> str:
    """Same person where the sentence says so, or where one role opens and acts and the traces mostly show one person doing both."""
    if office or opener.activity is None or reading.who == "another_person":
        return "same_case"
    if reading.who == "same_person" and reading.bearers:
        return "same_resource"
    acts = (act.activity, opener.activity) if reading.template in LOOK_BACK else (opener.activity, act.activity)
    return material.correlate(*acts) if personal else "same_case"


def _act(material: Material, act: ActRead) -> dict[str, Any]:
    return material.act(act.activity, **_fields(material, act, act.activity))


def _fields(material: Material, act: ActRead, activity: str) -> dict[str, str | None]:
    """Object and location as read, where the act's rows carry them."""
    named = {"object": act.object, "location": act.location}
    return {field: n.name for field, n in named.items() if n is not None and _carries(material, activity, field, n.name)}


def _carries(material: Material, activity: str, field: str, name: str) -> bool:
    """Whether an act's rows fill a field, and with this name at least once."""
    pair = material.traces.pair(activity)
    return pair.recorded.get(field, 0) >= FILLED * max(pair.rows, 1) and bool(pair.values.get(field, {}).get(name))
