"""One visit to a resident's rooms.

Facts that no log shows:
- host, guest, keyholder (case): names of the resident, of who comes, and of the owner who may admit to the
  rooms
- invited, planned (case): whether the resident had asked for the visit, and the instant the guest was
  expected at, in seconds
- severity, urgent (case): how grave the reason is, from 0 (whim) to 1 (danger), and whether it bears no delay
- nights (case): for how many nights the guest means to stay, 0 for a visit by day
- rest_from, rest_to (case): instants between which the resident rested; both absent where the resident did
  not rest
- consent (Speak but excuses, Interact, SignContract, Trade): whether the other (on signing: the signer)
  really agreed
- about, to, true (Speak; `to` also Trade, Deliver, PublishTask): what it was about, the name of whom it was
  meant for, whether it is true
- rested (MoveTo, Interact): whether the resident was resting then; knocked (MoveTo to the rooms): whether
  the comer was heard first
- belongs_to, returned (Interact): name of the person whose property it is, and whether it went back to its
  place
- wanted (Deliver): whether the resident had asked for it; amount (Trade, SignContract): worth of the
  favour, or the rent written down
- on_behalf_of (CheckIn, CheckOut, Deliver, SignContract): name of the person for whom somebody else acts,
  where it is so
"""

from __future__ import annotations

from typing import Any

from bench_maker.stage import Case, Person, Process

CAST = {"resident": 16, "visitor": 36, "owner": 3, "caretaker": 4, "courier": 7}
PER_DAY = 7.0
HOURS = (6.0, 22.0)
PLACES = ("private_living", "private_living", "movement_boundary", "public_square", "territory_border")
THINGS = (
    "rest_resource",
    "rest_resource",
    "boundary_access_object",
    "hygiene_health_resource",
    "shared_resource",
)


def episode(case: Case) -> Process:
    """From the way to the rooms to the end of the visit."""
    host, owner = case.person("resident"), case.person("owner")
    guest = case.person(case.one_of("visitor", "visitor", "visitor", "courier", "caretaker"))
    stays = guest.role == "visitor" and case.does("means to stay", 0.55, guest)
    case.know(
        host=host.name,
        guest=guest.name,
        keyholder=owner.name,
        nights=1 + int(case.rng.poisson(1.2)) if stays else 0,
    )
    case.know(
        invited=case.does("resident asked for the visit", 0.55, host), severity=float(case.rng.beta(1.4, 2.6))
    )
    case.know(urgent=case.does("reason bears no delay", 0.1 + 0.5 * case.facts["severity"], guest))
    threads = [case.meanwhile(household(case, guest, host, owner))]
    yield case.pause("setting out", 30, guest)
    case.know(planned=case.now + 60 * case.rng.lognormal(3, 0.6))
    threads.append(case.meanwhile(words(case, guest, host, owner)))
    if case.does("checks in for a visit", 0.62, guest):
        threads.append(case.meanwhile(booking(case, guest, "CheckIn", 32, "checkin_record")))
    inside = case.does("guest is in the house already", 0.33, guest)
    if not inside:
        yield from coming(case, guest, host)
    threads.append(case.meanwhile(stay(case, guest, host, inside)))
    if not case.does("leaves in the middle", 0.3, guest):
        yield threads[-1]
    yield from leaving(case, guest, host, inside)
    yield from threads


def rests(case: Case) -> bool:
    """Whether the resident is resting now."""
    return "rest_from" in case.facts and "rest_to" not in case.facts


def spot(case: Case, host: Person, *people: Person) -> str:
    """Where people meet: a resting resident is only to be met in the rooms."""
    return PLACES[0] if host in people and rests(case) else str(case.one_of(*PLACES))


def act_for(
    case: Case,
    owed: Person,
    by: Person,
    action: str,
    where: str,
    thing: str,
    item: str | None = None,
    **facts: Any,
) -> None:
    """An act that is somebody's to do, done by them or by another."""
    case.act(by, action, where, thing, item, **facts, **({} if by == owed else {"on_behalf_of": owed.name}))


def use(case: Case, by: Person, where: str, thing: str, belongs_to: str) -> None:
    """Somebody handles a thing."""
    back, leave = (
        case.does("puts things back", 0.68, by),
        belongs_to == by.name or case.does("owner of the thing minds not", 0.6),
    )
    case.act(
        by,
        "Interact",
        where,
        thing,
        case.item("thing"),
        belongs_to=belongs_to,
        returned=back,
        consent=leave,
        rested=rests(case),
    )


def resting(case: Case, host: Person) -> Process:
    """The resident lies down for a while."""
    yield case.pause("before the resident lies down", 20, host)
    case.know(rest_from=case.now)
    yield case.pause("rest", 75, host)
    case.know(rest_to=case.now)


def household(case: Case, guest: Person, host: Person, owner: Person) -> Process:
    """The resident comes home, tells of the guest, or uses the bed, or chores are published and done; the
    resident may rest.
    """
    yield case.pause("the day in the house", 30, host)
    keeper, doer = case.person("caretaker", but=guest), case.person("caretaker", "resident", but=host)
    chore = (
        case.one_of("rest_resource", "hygiene_health_resource", "shared_resource")
        if case.does("chores are due", 0.5)
        else None
    )
    if not chore and case.does("resident comes home", 0.5, host):
        case.act(host, "MoveTo", "private_living", rested=False, knocked=False)
    elif not chore and case.does("resident tells of the guest", 0.55, host):
        to, honest = case.one_of(keeper, owner, guest), case.does("host is honest", 0.85, host)
        case.act(
            host,
            "Speak",
            case.one_of(*PLACES),
            about="leave",
            to=to.name,
            true=honest,
            consent=case.facts["invited"],
        )
    elif not chore:
        use(case, host, "private_living", "rest_resource", host.name)
    rest = [case.meanwhile(resting(case, host))] if case.does("resident rests", 0.65, host) else []
    by = case.one_of(keeper, keeper, keeper, keeper, host, owner)
    for _ in range((1 + case.does("publishes the chores anew", 0.15, by)) if chore else 0):
        yield case.pause("publication of the chores", 25, by)
        case.act(by, "PublishTask", spot(case, host, by), chore, to=doer.name)
    if chore and case.does("somebody sees to the chores", 0.32, doer):
        yield case.pause("chores", 30, doer)
        use(case, doer, "private_living", chore, host.name)
    yield from rest


def coming(case: Case, guest: Person, host: Person) -> Process:
    """Over the square, the border and the gate to the rooms, by one way or another; some turn round at the
    gate.
    """
    if case.does("comes over the square", 0.45, guest):
        case.act(
            guest,
            "MoveTo",
            case.one_of("public_square", "public_square", "territory_border"),
            rested=rests(case),
        )
        yield case.pause("from the square to the gate", 14, guest)
    turns_round, avoids = case.does("does not go in", 0.15, guest), case.does("avoids the gate", 0.35, guest)
    if turns_round or not avoids:
        case.act(guest, "MoveTo", "movement_boundary", rested=rests(case))
        with case.turn("gate", 1) as turn:
            yield turn
            if case.does("handles a key at the gate", 0.25, guest):
                use(
                    case,
                    guest,
                    "movement_boundary",
                    "boundary_access_object",
                    case.one_of(guest.name, host.name, case.facts["keyholder"]),
                )
            yield case.pause("passing the gate", 6, guest)
    if rests(case) and case.does("waits for the end of the rest", 0.35, guest):
        yield case.pause("waiting outside", 60, guest)
    companion = [case.person("visitor", but=guest)] if case.does("somebody comes along", 0.18, guest) else []
    for person in [] if turns_round else [guest, *companion]:
        yield case.pause("from the gate to the door", 12, person)
        case.act(
            person, "MoveTo", "private_living", rested=rests(case), knocked=case.does("knocks", 0.65, person)
        )


def booking(case: Case, guest: Person, action: str, minutes: float, record: str) -> Process:
    """Check-in or check-out with the caretaker: in person, through another, or by both."""
    other, swap = (
        case.person("caretaker", "courier", "owner", but=guest),
        case.does(f"another does the {action}", 0.2, guest),
    )
    for by in case.one_of((other,), (other,), (other, guest)) if swap else (guest,):
        yield case.pause(f"the {action} of a visit", minutes, by)
        act_for(
            case,
            guest,
            by,
            action,
            case.one_of("movement_boundary", "movement_boundary", "public_square"),
            record,
        )


def words(case: Case, guest: Person, host: Person, owner: Person) -> Process:
    """In any order: words with owner, resident or caretaker, not always leave to enter, and the contract of
    longer guests mostly.
    """
    written = case.does("lodging is put in writing", 0.7 if case.facts["nights"] else 0.18, guest)
    signers = list(case.one_of((guest,), (guest, owner), (owner, guest), (host, guest))) if written else []
    talks = [None] * (int(case.rng.poisson(0.35)) + case.does("asks for leave", 0.45, guest))
    for signer in sorted([*signers, *talks], key=lambda _: case.rng.random()):
        yield case.pause("words about the visit", 32, guest)
        if signer:
            by = case.person("caretaker") if case.does("caretaker signs instead", 0.1, signer) else signer
            rent, willing = (
                (1 + case.facts["nights"]) * case.rng.lognormal(2.5, 0.4),
                case.does("signs willingly", 0.87, signer),
            )
            where, what = spot(case, host, signer), case.one_of(*THINGS[:3])
            act_for(case, signer, by, "SignContract", where, what, amount=rent, consent=willing)
        else:
            other = case.one_of(owner, owner, owner, host, case.person("caretaker", but=guest))
            by, to = (other, guest) if case.does("the other speaks first", 0.3, other) else (guest, other)
            admits, honest = (
                case.does("gives leave in earnest", 0.65, other),
                case.does("tells the true reason", 0.85, by),
            )
            about = case.one_of("leave", "leave", "leave", "something else")
            case.act(
                by, "Speak", spot(case, host, other), about=about, to=to.name, consent=admits, true=honest
            )


def stay(case: Case, guest: Person, host: Person, inside: bool) -> Process:
    """In any order: using things in the rooms, handing over parcels, trading favours."""
    parcels = (1 + int(case.rng.poisson(0.3))) * case.does(
        "brings something", 0.85 if guest.role == "courier" else 0.45, guest
    )
    deals = (1 + int(case.rng.poisson(0.25))) * case.does("trades favours", 0.3, guest)
    steps = ["use"] * (int(case.rng.poisson(0.45)) + inside) + ["give"] * parcels + ["deal"] * deals
    for step in sorted(steps, key=lambda _: case.rng.random()):
        yield case.pause("next thing in the rooms", 17, guest)
        where = case.one_of("private_living", "private_living", "movement_boundary")
        if step == "use":
            use(
                case,
                guest,
                where,
                case.one_of(*THINGS),
                case.one_of(host.name, host.name, case.facts["keyholder"], guest.name),
            )
        elif step == "give":
            by = (
                case.person("courier", "caretaker", but=guest)
                if case.does("another hands it over", 0.15, guest)
                else guest
            )
            what = case.one_of(
                "exchange_delivery_object", "exchange_delivery_object", "hygiene_health_resource"
            )
            where, asked = (
                case.one_of(where, where, "public_square"),
                case.does("resident wanted the parcel", 0.7, host),
            )
            act_for(case, guest, by, "Deliver", where, what, case.item("parcel"), to=host.name, wanted=asked)
        else:
            by, to = case.one_of(
                (guest, host), (host, guest), (guest, case.person("resident", "visitor", but=guest))
            )
            worth, agreed, what = (
                case.rng.lognormal(2, 0.8),
                case.does("agrees to the favour", 0.7, to),
                case.one_of(*THINGS),
            )
            case.act(
                by,
                "Trade",
                spot(case, host, by, to),
                what,
                case.item("favour"),
                to=to.name,
                amount=worth,
                consent=agreed,
            )


def leaving(case: Case, guest: Person, host: Person, inside: bool) -> Process:
    """Words afterwards, the way out and the check-out, in either order, or neither."""
    yield case.pause("before leaving", 15, guest)
    if case.does("speaks only afterwards", 0.25, guest):
        to, honest = case.one_of(host.name, case.facts["keyholder"]), case.does("is honest", 0.65, guest)
        case.act(guest, "Speak", "private_living", about="excuse", to=to, true=honest)
    goes, first = (
        not inside and case.does("goes away in sight", 0.55, guest),
        case.does("goes before the check-out", 0.45, guest),
    )
    if goes and first:
        case.act(guest, "MoveTo", case.one_of("public_square", "territory_border"), rested=rests(case))
    if not case.does("leaves the visit open", 0.36, guest):
        yield from booking(case, guest, "CheckOut", 15, "checkout_record")
    if goes and not first:
        case.act(
            guest,
            "MoveTo",
            case.one_of("public_square", "movement_boundary", "territory_border"),
            rested=rests(case),
        )
