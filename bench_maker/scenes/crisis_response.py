"""One incident, from the alarm to the all-clear.

What no log shows: place (case): where supplies ran short; short_of (case): the object that ran short;
severity (case): how bad it was, from 0 (nothing was really short) to 1; over_at (case): instant at which it
was really over; to (Speak, Deliver, Trade, SignContract): name of the person addressed; about (Speak): what
the words were about; on_behalf_of (CheckIn, CheckOut, Deliver): name of the person in whose stead it was
done; amount (Deliver, Harvest, Trade): number of rations; needed (Deliver): whether it went to somebody who
lacked it; agreed (Harvest, SignContract, Trade, Interact, Speak to an owner): whether the other party or the
owner of the things really consented, beyond words; owned_by (Harvest, Trade, Interact): name of the owner of
the things, or "all"; returned (Interact with what was lent): whether it was brought back.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from simpy import Event

from bench_maker.stage import Case, Person, Process

CAST = {"patrol_member": 8, "coordinator": 4, "volunteer": 14, "resident": 30, "owner": 3}
PER_DAY = 6.0
HOURS = (0.0, 24.0)


class Incident(NamedTuple):
    """What those concerned share: ``near`` helpers are on the spot already, ``listed`` ones are asked to
    sign.
    """

    place: str
    lacks: str
    lead: Person
    team: list[Person]
    near: bool
    listed: bool
    over: Event


def episode(case: Case) -> Process:
    """From the first lack to the last act on it."""
    lead, place = case.person("coordinator"), case.one_of("public_square", "restaurant", "farm")
    lacks = case.one_of("hydration_source", "consumable_food", "hygiene_health_resource")
    severity = (
        0.0 if case.does("mistakes a small lack for a shortage", 0.15, lead) else float(case.rng.beta(2, 2.5))
    )
    case.know(place=place, short_of=lacks, severity=severity)
    near, listed = (
        case.does("helpers are on the spot already", 0.26),
        not case.does("nobody keeps the helpers' list", 0.2, lead),
    )
    team = [case.person("patrol_member", "volunteer")]
    team.append(case.person("patrol_member", "volunteer", but=team[0]))
    it = Incident(place, lacks, lead, team, near, listed, case.meanwhile(shortage(case, severity)))
    case.meanwhile(alarm(case, it))
    for helper in team:
        case.meanwhile(response(case, it, helper))
    if case.does("people trade scarce goods", 0.24):
        case.meanwhile(private_trade(case, it))
    if case.does("the owner's stores are needed", 0.6):
        yield case.pause("before turning to the owner", 50, lead)
        yield from requisition(case, it)


def shortage(case: Case, severity: float) -> Process:
    """The lack itself, which ends some time."""
    yield case.pause("a shortage lasts", 110 + 190 * severity)
    case.know(over_at=case.now)


def alarm(case: Case, it: Incident) -> Process:
    """Words to those concerned before the alarm, after it or never, and the all-clear."""
    yield case.pause("before anybody acts on a lack", 16, it.lead)
    concerned = case.one_of(it.team[0], case.person("resident"), case.person("resident"))
    early = case.does("speaks to those concerned before the alarm", 0.13, it.lead)
    if early:
        case.act(it.lead, "Speak", it.place, about="shortage", to=concerned.name)
        yield case.pause("from words to the alarm", 14, it.lead)
    if not case.does("raises no alarm", 0.2, it.lead):
        if case.does("puts off the alarm", 0.25, it.lead):
            yield case.pause("alarm put off", 70, it.lead)
        herald = (
            case.person("volunteer", "patrol_member")
            if case.does("somebody else raises the alarm", 0.12)
            else it.lead
        )
        case.act(herald, "PublishTask", case.one_of(it.place, it.place, "delivery_station"), it.lacks)
        if case.does("repeats the alarm", 0.2, it.lead):
            yield case.pause("before the alarm is repeated", 55, it.lead)
            case.act(it.lead, "PublishTask", it.place, it.lacks)
    if not early and case.does("speaks to those concerned after the alarm", 0.17, it.lead):
        yield case.pause("from the alarm to words", 20, it.lead)
        case.act(it.lead, "Speak", it.place, about="shortage", to=concerned.name)
    if not it.near and case.does("comes to see for themselves", 0.3, it.lead):
        yield case.pause("before coming to see", 60, it.lead)
        case.act(it.lead, "MoveTo", it.place)
    if case.does("gives the all-clear", 0.18, it.lead):
        if not case.does("gives the all-clear too soon", 0.2, it.lead):
            yield it.over
        yield case.pause("to the all-clear", 15, it.lead)
        case.act(it.lead, "Speak", it.place, about="all-clear", to=it.team[0].name)


def response(case: Case, it: Incident, who: Person) -> Process:
    """One helper: coming, signing in early or late, patrolling and supplying in some order, signing out."""
    yield case.pause("coming to an emergency", 30 + 17 * math.cos((case.hour - 3) * math.pi / 12), who)
    astray = case.does("reports at the wrong place", 0.18, who)
    desk = case.one_of("delivery_station", "storage_and_utility") if astray else it.place
    forgets, late = (
        case.does("forgets to sign in", 0.22, who),
        case.does("signs in only after the work", 0.25, who),
    )
    signs = (
        "never"
        if forgets or not it.listed
        else "late"
        if late
        else "early"
        if case.does("signs in ahead", 0.12, who)
        else "duly"
    )
    for step in ("early", "arrival", "duly"):
        if step == "arrival" and not it.near:
            case.act(who, "MoveTo", desk)
        elif step == signs:
            yield from sign(case, who, "CheckIn", desk, "checkin_record")
    work = []
    if not case.does("has nothing to hand out", 0.42, who):
        work.append(supply(case, it, who))
    if case.does(f"goes on patrol as {who.role}", 0.5 if who.role == "patrol_member" else 0.14, who):
        work.insert(int(case.does("supplies before a patrol", 0.5, who)), patrol(case, it, who))
    for part in work or ([patrol(case, it, who)] if it.near else []):
        yield from part
    if signs == "late":
        yield from sign(case, who, "CheckIn", desk, "checkin_record")
    if case.does("stays until it is over", 0.4, who):
        yield it.over
    if it.listed and not case.does("leaves without signing out", 0.3, who):
        yield from sign(case, who, "CheckOut", case.one_of(it.place, desk), "checkout_record")
        if case.does("hands something out after signing out", 0.1, who):
            yield from supply(case, it, who)


def sign(case: Case, who: Person, action: str, where: str, record: str) -> Process:
    """An entry in the helpers' list, by oneself or by another."""
    yield case.pause(f"{action} of a helper", 9, who)
    if case.does("another signs for somebody", 0.1, who):
        case.act(
            case.person("volunteer", "coordinator", but=who), action, where, record, on_behalf_of=who.name
        )
    else:
        case.act(who, action, where, record)


def patrol(case: Case, it: Incident, who: Person) -> Process:
    """Rounds of the place or of another one, and a word about them."""
    again = True
    while again:
        yield case.pause("before a patrol", 18, who)
        astray = case.does("patrols the wrong place", 0.2, who)
        case.act(
            who,
            "Patrol",
            case.one_of("public_square", "restaurant", "farm", "storage_and_utility") if astray else it.place,
        )
        again = case.does("patrols once more", 0.3, who)
    if case.does("reports on the patrol", 0.3, who):
        yield case.pause("before the report", 8, who)
        case.act(
            who, "Speak", it.place, about=case.one_of("patrol", "patrol", "something else"), to=it.lead.name
        )


def supply(case: Case, it: Incident, who: Person) -> Process:
    """Fetching, and handing out once, several times or in the end not at all."""
    other = case.one_of("consumable_food", "hydration_source", "exchange_delivery_object")
    thing, lot = other if case.does("brings something else", 0.2, who) else it.lacks, case.item("lot")
    if case.does("fetches supplies", 0.4, who):
        if not it.near:
            case.act(who, "MoveTo", "storage_and_utility")
        with case.turn("store counter", 1) as turn:
            yield turn
            yield case.pause("fetching supplies", 7, who)
            case.act(who, "Interact", "storage_and_utility", thing, lot, owned_by="all", agreed=True)
    if case.does("uses a tool in the crisis", 0.24, who):
        tool, owner = (
            case.one_of("tool_equipment", "shared_resource"),
            case.one_of("all", case.person("owner", "resident").name),
        )
        agreed = owner == "all" or not case.does("takes a tool without leave", 0.4, who)
        back = not case.does("keeps a tool", 0.35, who)
        case.act(
            who, "Interact", it.place, tool, case.item("tool"), owned_by=owner, agreed=agreed, returned=back
        )
    again = not case.does("loses the supplies on the way", 0.1, who)
    while again:
        yield case.pause("on the way with supplies", 24, who)
        hand = (
            case.person("volunteer", "resident", but=who)
            if case.does("a colleague hands it out", 0.1, who)
            else who
        )
        place = (
            case.one_of("delivery_station", "public_square", "farm")
            if case.does("unloads somewhere else", 0.25, who)
            else it.place
        )
        facts = {
            "to": case.person("resident", "volunteer", "owner", but=hand).name,
            "amount": float(case.rng.lognormal(2.0, 0.7)),
        }
        facts["needed"] = case.facts["severity"] > 0 and not case.does(
            "serves people who lack nothing", 0.25, who
        )
        case.act(
            hand, "Deliver", place, thing, lot, **facts, **({"on_behalf_of": who.name} if hand != who else {})
        )
        again = case.does("hands out once more", 0.28, who)


def requisition(case: Case, it: Incident) -> Process:
    """The owner's stores are taken: asked and signed for before, afterwards or never."""
    owner, taker = case.person("owner"), case.one_of(it.lead, it.team[0], case.person("volunteer"))
    field = it.place == "farm" or case.does("turns to the farm", 0.3)
    store = "farm" if field else case.one_of("restaurant", "storage_and_utility")
    agreed = not case.does("the owner does not really agree", 0.3, owner)
    signer, other = case.one_of((it.lead, owner), (it.lead, owner), (owner, it.lead), (taker, owner))
    asked = (
        "before" if case.does("asks the owner first", 0.3, taker) else case.one_of("after", "never", "never")
    )
    signed = "before" if case.does("signs before taking", 0.4, it.lead) else case.one_of("after", "never")
    for when in ("before", "after"):
        if asked == when:
            about = case.one_of("stores", "stores", "something else")
            case.act(taker, "Speak", store, about=about, to=owner.name, agreed=agreed and about == "stores")
            yield case.pause(f"words with the owner {when} taking", 15, owner)
        if signed == when:
            case.act(signer, "SignContract", store, "exchange_delivery_object", to=other.name, agreed=agreed)
            yield case.pause(f"signing {when} taking", 20, taker)
        again = when == "before" and not case.does("takes nothing after all", 0.15, taker)
        while again:
            if field:
                crop, amount = (
                    case.one_of("consumable_food", "hydration_source"),
                    float(case.rng.lognormal(2.3, 0.7)),
                )
                case.act(
                    taker,
                    "Harvest",
                    "farm",
                    crop,
                    case.item("crop"),
                    amount=amount,
                    agreed=agreed,
                    owned_by=owner.name,
                )
            else:
                case.act(
                    taker, "Interact", store, it.lacks, case.item("lot"), owned_by=owner.name, agreed=agreed
                )
            yield case.pause("taking of rations", 30, taker)
            again = case.does("takes once more", 0.3, taker)


def private_trade(case: Case, it: Incident) -> Process:
    """Scarce goods change hands, among neighbours or from a helper's stock."""
    seller, again = case.one_of(case.person("resident"), case.person("volunteer"), it.team[0]), True
    while again:
        yield case.pause("before people trade", 55, seller)
        what, where = (
            case.one_of(it.lacks, it.lacks, "consumable_food"),
            case.one_of(it.place, it.place, "delivery_station"),
        )
        buyer, amount = case.person("resident", "volunteer", but=seller), float(case.rng.lognormal(1.0, 0.6))
        agreed = not case.does("presses the other into a trade", 0.3, seller)
        owner = "all" if case.does("trades what belongs to all", 0.35, seller) else seller.name
        case.act(seller, "Trade", where, what, to=buyer.name, amount=amount, agreed=agreed, owned_by=owner)
        again = case.does("trades again", 0.25, seller)
