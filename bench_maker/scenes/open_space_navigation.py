"""One crossing of open space by a traveller, from the square over the gate and the border, and perhaps back.

Latent facts: traveller (case): name of who crosses; planned_return (case): when the traveller meant to be
back; danger (case): how unsafe the way was, 0 to 1; lost (case): whether the traveller lost the way; to
(Speak, Trade, Deliver): name of the other; about (Speak): way, danger, giving up, permission, overdue or
return; consented (Speak, Trade): whether the other truly agreed, which among words only those about
permission can bring; permitted (Interact, Trade, Deliver): whether the keeper of the place or thing allowed
it, asked or not; returned (Interact): whether the thing was brought back or left in order; amount (Trade):
its worth; urgent (Interact, Deliver): whether the need could not wait; met (Patrol): whether it met the
traveller; on_behalf_of (CheckIn, CheckOut): the one it is done for, where another does it.
"""

from __future__ import annotations

from typing import Any

from bench_maker.stage import Case, Person, Process

CAST = {"traveller": 45, "guide": 7, "patrol_member": 9, "owner": 3}
PER_DAY = 7.0
HOURS = (4.5, 18.0)
PLACES = ("public_square", "movement_boundary", "health_and_sport", "territory_border")
ROUTES = (PLACES[1:], PLACES[1:2] + PLACES[3:], PLACES[2:], PLACES[:0:-1], PLACES[3:], PLACES[1:3])
DEEDS = {
    "key": ("Interact", "movement_boundary", "boundary_access_object"),
    "water": ("Interact", "health_and_sport", "hydration_source"),
    "parcel": ("Deliver", "territory_border", "exchange_delivery_object"),
    "trade": ("Trade", "territory_border", "exchange_delivery_object"),
}


def episode(case: Case) -> Process:
    """From the first word about the crossing to the last act on it."""
    traveller, guide, route = (
        case.person("traveller"),
        case.person("guide"),
        [PLACES[0], *case.one_of(*ROUTES)],
    )
    given_up, at = case.does("gives up the crossing", 0.14, traveller), {"at": "public_square"}
    danger = round(float(case.rng.beta(1.5, 4)), 2)
    lost = not given_up and case.does("loses the way", 0.08 + 0.3 * danger, traveller)
    case.know(traveller=traveller.name, danger=danger, lost=lost)
    case.meanwhile(publishing(case, guide))
    if case.does("a patrol is on the stretch", 0.55):
        case.meanwhile(patrolling(case, traveller, at, None))
    if not given_up and not case.does("is on the square already", 0.4, traveller):
        case.act(traveller, "MoveTo", "public_square")
    if not case.does("forgets to check in", 0.27, traveller):
        case.meanwhile(entering(case, traveller, "CheckIn", "checkin_record"))
    asked = not case.does("sets out without asking", 0.77, traveller)
    if asked:
        yield case.pause("before asking the guide", 9, traveller)
        speaks(case, traveller, guide, "public_square", "way")
    elif not case.does("guide keeps silent on the danger", 0.93 - 0.25 * danger, guide):
        yield case.pause("before the warning", 12, guide)
        speaks(case, guide, traveller, "public_square", "danger")
    yield case.pause("before setting out", 14, traveller)
    case.meanwhile(planning(case, traveller))
    if given_up:
        by, to = case.one_of((guide, traveller), (traveller, guide))
        speaks(case, by, to, "public_square", "giving up")
    checks_out, ahead = (
        not case.does("leaves without check-out", 0.32, traveller),
        case.does("checks out ahead", 0.17, traveller),
    )
    if checks_out and ahead:
        case.meanwhile(entering(case, traveller, "CheckOut", "checkout_record"))
    yield from crossing(case, traveller, guide, [] if given_up else route, at, lost)
    if checks_out and not ahead:
        yield from entering(case, traveller, "CheckOut", "checkout_record")
    if not case.does("goes without a word to the guide", 0.86, traveller):
        yield case.pause("word after the crossing", 25, traveller)
        speaks(case, traveller, guide, "public_square", "return" if asked else case.one_of("way", "return"))


def publishing(case: Case, guide: Person) -> Process:
    """A tour or an errand is published before the crossing, during it, by another or not at all."""
    if case.does("publishes a task", 0.6, guide):
        by = (
            case.person("patrol_member", "owner")
            if case.does("another publishes the task", 0.12, guide)
            else guide
        )
        late = case.does("publishes late", 0.3, guide)
        yield case.pause("late publication", 70, guide) if late else case.pause("publication", 5, guide)
        where, what = (
            case.one_of(*PLACES[:1], *PLACES[:2]),
            case.one_of("shared_resource", "exchange_delivery_object"),
        )
        case.act(by, "PublishTask", where, what)


def planning(case: Case, traveller: Person) -> Process:
    """The hour at which the traveller means to be back."""
    yield case.pause("planned length of a crossing", 150, traveller)
    case.know(planned_return=case.now)


def entering(case: Case, whose: Person, action: str, record: str) -> Process:
    """A check-in or check-out: soon or on the way, on the square or at the gate, by oneself or by another."""
    yield (
        case.pause(f"late {action}", 60, whose)
        if case.does(f"late {action}", 0.2, whose)
        else case.pause(action, 8, whose)
    )
    where = "movement_boundary" if case.does(f"gate for {action}", 0.2, whose) else "public_square"
    other = (
        case.person(case.one_of("guide", "traveller"), but=whose)
        if case.does(f"another does the {action}", 0.1, whose)
        else None
    )
    with case.turn("desk", 1) as turn:
        yield turn
        yield case.pause("writing at the desk", 1)
        case.act(other or whose, action, where, record, **({"on_behalf_of": whose.name} if other else {}))


def crossing(
    case: Case, who: Person, guide: Person, route: list[str], at: dict[str, str], lost: bool
) -> Process:
    """Place after place, with what is done there, a rest and the way back, the same or another; or no way
    back.
    """
    mate, back = case.does("guide goes along", 0.22, guide), bool(route) and case.does("comes back", 0.7, who)
    same = case.does("comes back the same way", 0.5, who)
    if mate and case.does("guide checks in too", 0.45, guide):
        case.meanwhile(entering(case, guide, "CheckIn", "checkin_record"))
    for way in (route, (route[-2::-1] if same else PLACES[:1]) if back else ()):
        for place in way:
            if place != at["at"]:
                yield case.pause("way to the next place", 21, who)
                at["at"] = place
                case.act(who, "MoveTo", place)
                if mate and way is route and not case.does("guide falls behind", 0.25, guide):
                    case.act(guide, "MoveTo", place)
            if case.does("another traveller comes by", 0.15):
                case.act(case.person("traveller", but=who), "MoveTo", place)
            for deed in map(str, case.rng.permutation(list(DEEDS))):
                if way is route and case.does(
                    f"{deed} at {place}", 0.26 if place == DEEDS[deed][1] else 0.05, who
                ):
                    yield from doing(case, who, guide, place, deed)
        if way is route and route and case.does("rests on the way", 0.25, who):
            yield case.pause("rest", 30, who)
        if way is route and lost:
            case.meanwhile(patrolling(case, who, at, guide))
            yield case.pause("lost on the way", 60, who)


def doing(case: Case, traveller: Person, guide: Person, place: str, deed: str) -> Process:
    """Something is done at a place, by the traveller or another; allowed beforehand, afterwards or never."""
    who = (
        case.one_of(guide, case.person("patrol_member"))
        if case.does(f"another does the {deed}", 0.13, traveller)
        else traveller
    )
    keeper = case.person("owner", "patrol_member", "guide", but=who)
    asked = not case.does("does not ask beforehand", 0.72, who)
    permitted = (asked and speaks(case, who, keeper, place, "permission")) or case.does(
        "has a standing permission", 0.35, who
    )
    facts: dict[str, Any] = {"permitted": permitted}
    yield case.pause("between asking and doing", 5, who)
    (action, _, thing), to = DEEDS[deed], case.person("traveller", "owner", but=who).name
    thing = case.one_of(thing, thing, case.one_of("shared_resource", "hydration_source"))
    if action == "Trade":
        amount, consented = (
            round(float(case.rng.lognormal(2.3, 0.9)), 2),
            not case.does("presses somebody", 0.2, who),
        )
        facts |= {"to": to, "amount": amount, "consented": consented}
    else:
        facts |= (
            {"to": to}
            if action == "Deliver"
            else {"returned": not case.does("does not bring things back", 0.3, who)}
        )
        facts["urgent"] = case.does("cannot wait", 0.4, who)
    with case.turn(place, 1) as turn:
        yield turn
        case.act(who, action, place, thing, case.item(deed), **facts)
        yield case.pause("doing a thing", 6, who)
    if not asked and case.does("asks only afterwards", 0.25, who):
        yield case.pause("asking afterwards", 15, who)
        speaks(case, who, keeper, place, "permission")


def patrolling(case: Case, traveller: Person, at: dict[str, str], guide: Person | None) -> Process:
    """A patrol goes over the stretch, once or more, and may meet the traveller and speak; or does so only
    when a guide misses somebody.
    """
    guard, again = case.person("patrol_member"), not guide or case.does("a search is made", 0.6)
    if guide and case.does("tells that somebody is overdue", 0.6, guide):
        yield case.pause("until somebody is missed", 40, guide)
        speaks(case, guide, guard, "public_square", "overdue")
    while again:
        yield case.pause("patrol on the stretch", 45, guard)
        place = at["at"] if case.does("patrols where people are", 0.2, guard) else case.one_of(*PLACES)
        if case.does("patrol is seen to come", 0.3, guard):
            case.act(guard, "MoveTo", place)
        met = place == at["at"]
        case.act(guard, "Patrol", place, met=met)
        if met and not case.does("patrol passes without a word", 0.7, guard):
            speaks(case, guard, traveller, place, case.one_of("way", "danger"))
        again = case.does("patrols again", 0.3, guard)


def speaks(case: Case, by: Person, to: Person, where: str, about: str) -> bool:
    """Words, and whether they brought true consent."""
    consented = about == "permission" and not case.does("does not agree", 0.45, to)
    case.act(by, "Speak", where, to=to.name, about=about, consented=consented)
    return consented
