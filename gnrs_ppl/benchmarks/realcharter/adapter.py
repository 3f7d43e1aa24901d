"""A policy card as a context: what it says becomes goal, schema and a record layer without a log
(docs/architecture.md).

A card lists records and acts, not which record shows which act, and no support. Both are worked out here from
the card's own words, by the rules stated beside the functions; what the card does not say stays out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from gnrs_ppl.benchmarks.realcharter import Card, Conduct, Number, TriggerAct, card
from gnrs_ppl.context.load import Context, check_names
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import (
    Action,
    Channel,
    DeclaredSupport,
    Goal,
    Kind,
    PrescribedStep,
    RecordLayer,
    Schema,
    Support,
    Term,
)

CLOSING = Action(name="CloseCase", phrase="close the case")
"""What ends a case. No card has it, and no rule names it: an auditor needs a row that says when the time for
an undated duty is over."""
STEM = 5
"""Two words are taken for one where they begin with the same five letters (shorter ones where they are
equal)."""
COMMON_WORDS = frozenset(
    {"a", "and", "as", "at", "by", "for", "from", "in", "its", "no", "of", "on", "or", "the", "to", "with"}
)
UNITS = {
    "hours": "PT{}H",
    "days": "P{}D",
    "working hours": "{}WH",
    "working days": "{}WD",
    "weeks": "P{}W",
    "months": "P{}M",
}
"""Units of a card's numbers that are lengths of time, as durations are written."""


class Shown(NamedTuple):
    """The record taken to show an act: because of shared words, because the act's role works on it, or for
    want of anything better.
    """

    channel: str
    because: str
    in_words: bool


def load(card_id: str) -> Context:
    """The context of a card.

    Raises
    ------
    InputError
        No such card; the line names the nearest.
    """
    return _context(card(card_id))


@cache
def _context(one: Card) -> Context:
    acts: tuple[TriggerAct | Conduct, ...] = (*one.triggers, *one.conduct)
    shown = {act.name: shown_by(one, act) for act in acts}
    schema = Schema(
        roles=one.roles,
        objects=one.objects,
        actions=(
            *(Action(name=a.name, phrase=a.phrase, roles=(a.role,) if a.role else ()) for a in acts),
            CLOSING,
        ),
        steps=tuple(Term(name=step.name, phrase=step.phrase) for step in one.procedure),
        procedure=tuple(
            PrescribedStep(stage=s.stage, name=s.name, role=s.role, inspects=s.inspects)
            for s in one.procedure
        ),
    )
    records = RecordLayer(
        prospective=True,
        channels=tuple(
            Channel(
                name=channel.name,
                phrase=channel.phrase,
                activities=(
                    *(name for name, where in shown.items() if where.channel == channel.name),
                    CLOSING.name,
                ),
            )
            for channel in one.channels
        ),
        case_end=(CLOSING.name,),
        support=tuple(_support(one, shown)),
    )
    context = Context(_goal(one), schema, records, source=one.id)
    check_names(context)
    return context


def _goal(one: Card) -> Goal:
    """The conduct of the card's own force; what it asks for more weakly or more strongly is another rule,
    since a rule has one force.

    ``must_not`` is a must whose decisive acts are bans. Permissions are passed on whatever the force, so that
    no rule makes a duty of them.
    """
    force = "must" if one.force == "must_not" else one.force
    required = tuple(act.name for act in one.required if act.force == force)
    forbidden = tuple(act.name for act in one.forbidden if act.force == f"{force}_not")
    permitted = tuple(act.name for act in one.permitted)
    decisive = {*required, *forbidden} or set(permitted)
    limits = [
        (length(n.value, n.unit), limited(one, n))
        for n in one.stated_numbers
        if n.force == force and n.bound == "at most"
    ]
    within = next((time for time, acts in limits if time and acts & set(required)), None)
    timed = {act for time, acts in limits if time == within for act in acts}
    return Goal(
        id=one.id,
        intent=f"{one.context} {one.summary}",
        required=required,
        forbidden=forbidden,
        roles=_distinct(act.role for act in one.conduct if act.name in decisive and act.role),
        objects=tuple(term.name for term in one.objects),
        within=within,
        timed=tuple(name for name in required if name in timed),
        force=force,
        permitted=permitted,
        triggers=tuple(act.name for act in one.triggers),
    )


def length(value: int, unit: str) -> Duration | None:
    """A number of a card as a length of time; None where its unit is none of time."""
    return Duration.parse(UNITS[unit].format(value)) if unit in UNITS else None


def limited(one: Card, number: Number) -> set[str]:
    """The acts a time limits: of the words "from this to that" on the card, those likest to "that"."""
    end = set(stems(number.limits.partition(" to ")[2]))
    shared = {act.name: len(end & set(stems(act.phrase))) for act in one.conduct}
    most = max(shared.values())
    return {name for name, count in shared.items() if count == most > 0}


def shown_by(one: Card, act: TriggerAct | Conduct) -> Shown:
    """The record taken to show an act.

    The one likest it in words: the act's verb in its name, or in the steps that look into it; then other
    words of the act there, each counting the less the more of the card's records have it. Else the first that
    a step of the act's role looks into; else the first. Of equals, one the clause names goes before one it
    implies, then the card's order holds.
    """
    channels = sorted(one.channels, key=lambda channel: channel.inferred)
    (verb, *_), said = stems(act.phrase), set(stems(act.phrase))
    own = {channel.name: set(stems(channel.phrase)) for channel in channels}
    nearby = {
        name: own[name] | set(stems(*(s.phrase for s in one.procedure if s.inspects == name))) for name in own
    }

    def likeness(name: str) -> tuple[int, float]:
        shared = (said - {verb}) & nearby[name]
        return (verb in own[name]) + (verb in nearby[name]), sum(
            1 / sum(word in words for words in nearby.values()) for word in shared
        )

    best = max(own, key=likeness)
    if likeness(best) > (0, 0):
        return Shown(best, "which shares words with it", True)
    worked_on = {step.inspects for step in one.procedure if step.role == act.role}
    worked = next((channel.name for channel in channels if channel.name in worked_on), None)
    if worked is not None:
        return Shown(worked, "which a step of its role looks into", False)
    return Shown(channels[0].name, "the first record of the card", False)


def stems(*phrases: str) -> tuple[str, ...]:
    """The first five letters of each word of some phrases, in order, common words left out."""
    words = re.findall(r"\w+", " ".join(phrases).lower())
    return _distinct(word[:STEM] for word in words if word not in COMMON_WORDS)


def _support(one: Card, shown: dict[str, Shown]) -> Iterable[DeclaredSupport]:
    """Support of every name that is less than what a declared channel gives by itself (DESIGN section 2).

    Channel: direct where the clause names it, inferred where it implies it. Act: inferred where a named
    record shares words with it, else derivable. Role: derivable, from the rows of its acts. Object: derivable
    where an act or a record has its words. Step: derivable where it looks into a named record. What is left
    is missing.
    """
    named = {channel.name for channel in one.channels if not channel.inferred}
    yield from (
        _declared("channel", c.name, "inferred", "the clause implies it and names none")
        for c in one.channels
        if c.inferred
    )
    for name, where in shown.items():
        firm = where.in_words and where.channel in named
        yield _declared(
            "action",
            name,
            "inferred" if firm else "derivable",
            f"taken to stand in {where.channel}, {where.because}",
        )
    yield from (_declared("role", role.name, "derivable", "a row names who acted") for role in one.roles)
    acts: tuple[TriggerAct | Conduct, ...] = (*one.triggers, *one.conduct)
    words = set(stems(*(act.phrase for act in acts), *(channel.phrase for channel in one.channels)))
    for thing in one.objects:
        if words & set(stems(thing.phrase or thing.name.replace("_", " "))):
            yield _declared("object", thing.name, "derivable", "an act or a record speaks of it")
    for step in one.procedure:
        if step.inspects in named:
            yield _declared("step", step.name, "derivable", f"it works on {step.inspects}")


def _declared(kind: Kind, name: str, support: Support, because: str) -> DeclaredSupport:
    return DeclaredSupport.model_validate(
        {"kind": kind, "name": name, "support": support, "because": because}
    )


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
