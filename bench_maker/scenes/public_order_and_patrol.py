"""One patrol round over the square, the gate and the border, with the people met on it.

Latent facts: planned_start (case): when the round was to begin; patroller (case): name of who was to walk it;
planned_stops (case): places it was to visit; to (Speak, Trade, Deliver): name of the other; about (Speak):
round, calling off, way, permission, conduct or report; truthful (Speak): whether what was said is true;
consented (Speak, Trade): whether the other truly agreed, which among words only those about permission can
bring; permitted (Interact, Trade): whether the keeper of the place or thing allowed it, asked or not;
returned (Interact): whether the thing was brought back; amount (Trade): its worth; urgent (Deliver): whether
the need could not wait; thorough (Patrol): whether the place was really looked over; on_behalf_of (CheckIn,
CheckOut): the one it is done for, where another does it.
"""

from __future__ import annotations

from typing import Any

from bench_maker.stage import Case, Person, Process

CAST = {"patrol_member": 11, "coordinator": 6, "resident": 24, "visitor": 40, "owner": 2}
PER_DAY = 7.0
HOURS = (5.0, 21.0)


def episode(case: Case) -> Process:
    """From the publication of the round to the last act on it."""
    walker, chief = case.person("patrol_member"), case.person("coordinator")
    long, off = (
        ["public_square", "movement_boundary", "territory_border"],
        case.does("calls off the round", 0.11, chief),
    )
    stops = case.one_of(
        long, long[::-1], long[:2], [*long[1:], "health_and_sport"], ["public_square", "health_and_sport"]
    )
    case.know(patroller=walker.name, planned_stops=stops)
    if case.does("somebody goes about unseen", 0.3):
        case.meanwhile(meeting(case, None, chief, case.one_of(*long[1:])))
    yield from announcing(case, walker, chief)
    if off:
        speaks(case, chief, walker, "public_square", "calling off")
    elif case.does("a second patrol member joins", 0.3):
        case.meanwhile(
            taking_part(
                case, case.person("patrol_member", but=walker), chief, case.one_of(*([s] for s in stops))
            )
        )
    yield from taking_part(case, walker, chief, [] if off else stops)


def announcing(case: Case, walker: Person, chief: Person) -> Process:
    """The round is published in time or only later, by the coordinator or another, or told by word, or not
    even that.
    """
    other = (
        case.person("owner", "patrol_member")
        if case.does("another publishes the round", 0.1, chief)
        else chief
    )
    published, late = (
        not case.does("forgets to publish the round", 0.3, chief),
        case.does("publishes late", 0.22, chief),
    )
    if published and not late:
        case.act(other, "PublishTask", "public_square", "shift")
    elif not published and not case.does("does not even tell of the round", 0.5, chief):
        speaks(case, chief, walker, "public_square", "round")
    yield case.pause("notice before a round", 50, chief)
    case.meanwhile(
        starting(case, other, published and (late or case.does("publishes the round anew", 0.15, chief)))
    )


def starting(case: Case, publisher: Person, publishes: bool) -> Process:
    """The planned start, a little before or after people come, and a publication after it."""
    yield case.pause("planned start after the muster", 15, publisher)
    case.know(planned_start=case.now)
    if publishes:
        yield case.pause("late publication", 25, publisher)
        case.act(publisher, "PublishTask", case.one_of("public_square", "movement_boundary"), "shift")


def taking_part(case: Case, who: Person, chief: Person, stops: list[str]) -> Process:
    """Check-in, stop after stop with people and a break, report and check-out; each may be left out."""
    yield case.pause("coming to the round", 12, who)
    at = case.one_of("public_square", "public_square", *stops[:1])
    if stops and not case.does("is there already", 0.25, who):
        case.act(who, "MoveTo", at)
    if not case.does("forgets to check in", 0.3, who):
        case.meanwhile(entering(case, who, "CheckIn", "checkin_record"))
    keen = not case.does("only walks about", 0.15, who)
    for stop in stops:
        if case.does("skips a stop", 0.17, who):
            continue
        yield case.pause("way to the next stop", 13, who)
        if stop != at:
            case.act(who, "MoveTo", stop)
        at = stop
        for doing, around in case.one_of(
            ((patrol, 0.55), (handing, 0.16), (patrol, 0.2)), ((handing, 0.16), (patrol, 0.65))
        ):
            if case.does(f"{doing.__name__} at a stop", around, who) and (keen or doing is handing):
                yield from doing(case, who, stop)
        if case.does("meets somebody at a stop", 0.33):
            yield from meeting(case, who, chief, stop)
    if stops and case.does("takes a break", 0.15, who):
        case.act(who, "MoveTo", "health_and_sport")
        yield case.pause("break", 22, who)
        at = "health_and_sport"
    if at != "public_square" and case.does("comes back to the square", 0.7, who):
        case.act(who, "MoveTo", "public_square")
    for habit, around in (
        ("reports", 0.2),
        ("checks out", 0.67),
        ("reports after check-out", 0.12),
        ("patrols on after the end", 0.08),
    ):
        if case.does(habit, around, who):
            if habit == "checks out":
                yield from entering(case, who, "CheckOut", "checkout_record")
            elif habit == "patrols on after the end":
                yield from patrol(case, who, case.one_of("public_square", "territory_border"))
            else:
                yield case.pause("report on the round", 9, who)
                speaks(case, who, chief, "public_square", "report")


def entering(case: Case, whose: Person, action: str, record: str) -> Process:
    """A check-in or check-out at the desk: soon or late, here or elsewhere, by oneself or by another."""
    yield (
        case.pause(f"late {action}", 45, whose)
        if case.does(f"late {action}", 0.2, whose)
        else case.pause(f"{action}", 6, whose)
    )
    where = "movement_boundary" if case.does(f"elsewhere for {action}", 0.12, whose) else "public_square"
    other = (
        case.person("patrol_member", "coordinator", but=whose)
        if case.does(f"another does the {action}", 0.09, whose)
        else None
    )
    with case.turn("desk", 1) as turn:
        yield turn
        yield case.pause("writing at the desk", 1)
        case.act(other or whose, action, where, record, **({"on_behalf_of": whose.name} if other else {}))


def patrol(case: Case, by: Person, where: str) -> Process:
    """A patrol, thorough or for show."""
    yield case.pause("patrol of a place", 9, by)
    case.act(by, "Patrol", where, thorough=not case.does("patrols for show", 0.25, by))


def handing(case: Case, by: Person, where: str) -> Process:
    """A health supply or a consignment is handed over, by the patrol member or by somebody else."""
    yield case.pause("handing over", 6, by)
    giver = (
        case.person(case.one_of("resident", "visitor", "coordinator"))
        if case.does("another hands over", 0.25, by)
        else by
    )
    taker, thing = (
        case.person("resident", "visitor", but=giver),
        case.one_of("hygiene_health_resource", "exchange_delivery_object"),
    )
    case.act(
        giver,
        "Deliver",
        where,
        thing,
        case.item("parcel"),
        to=taker.name,
        urgent=case.does("cannot wait", 0.4, taker),
    )


def meeting(case: Case, walker: Person | None, chief: Person, stop: str) -> Process:
    """Somebody does a thing at a stop or only passes, and is spoken to before, afterwards or not; unseen,
    perhaps much later.
    """
    other = case.person(case.one_of("resident", "resident", "visitor", "visitor", "visitor", "owner"))
    yield case.pause("coming of somebody", 3, other) if walker else case.pause("unseen coming", 60)
    if not case.does("has been there for long", 0.3, other):
        case.act(other, "MoveTo", stop)
    if walker and case.does("speaks to people first", 0.17, walker):
        speaks(case, walker, other, stop, "way")
    if case.does("does something at the stop", 0.7, other):
        yield from doing(
            case,
            other,
            case.one_of(walker or chief, chief, case.person("owner", "resident", but=other)),
            stop,
        )
    if not case.does("lets people go without a word", 0.7, walker or chief):
        yield (
            case.pause("calling to account", 4, walker)
            if walker
            else case.pause("later calling to account", 45, chief)
        )
        speaks(case, walker or chief, other, stop, "conduct")


def doing(case: Case, who: Person, keeper: Person, stop: str) -> Process:
    """A key or a shared thing is handled, or a trade made; asked for beforehand, afterwards or never."""
    asked = not case.does("does not ask beforehand", 0.66, who)
    permitted = (asked and speaks(case, who, keeper, stop, "permission")) or case.does(
        "has a standing permission", 0.25, who
    )
    facts: dict[str, Any] = {"permitted": permitted}
    yield case.pause("between asking and doing", 5, who)
    if case.does(f"trades at {stop}", 0.5 if stop == "territory_border" else 0.25, who):
        action, things = (
            "Trade",
            [
                "exchange_delivery_object",
                "exchange_delivery_object",
                "shared_resource",
                "hygiene_health_resource",
            ],
        )
        facts["to"], facts["amount"] = (
            case.person("resident", "visitor", but=who).name,
            round(float(case.rng.lognormal(2.5, 0.9)), 2),
        )
        facts["consented"] = not case.does("presses somebody", 0.2, who)
    else:
        key = case.does(f"handles a key at {stop}", 0.75 if stop == "movement_boundary" else 0.3, who)
        action, things = "Interact", ["boundary_access_object" if key else "shared_resource"]
        facts["returned"] = not case.does("does not bring things back", 0.3, who)
    with case.turn(stop, 1) as turn:
        yield turn
        case.act(who, action, stop, case.one_of(*things), case.item("thing"), **facts)
        yield case.pause("handling of a thing", 5, who)
    if not asked and case.does("asks only afterwards", 0.3, who):
        yield case.pause("asking afterwards", 12, who)
        speaks(case, who, keeper, stop, "permission")


def speaks(case: Case, by: Person, to: Person, where: str, about: str) -> bool:
    """Words, and whether they brought true consent."""
    consented = about == "permission" and not case.does("does not agree", 0.45, to)
    truthful = not case.does("says what is not true", 0.15, by)
    case.act(by, "Speak", where, to=to.name, about=about, truthful=truthful, consented=consented)
    return consented
