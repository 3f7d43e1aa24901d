"""One worker's day on the farm.

worker (case): who was meant to work; planned_start, planned_end (case): instants agreed for the day; to
(act): name of the person addressed or served; about (Speak): ripe field, private sale, excuse, review, pay or
weather; consent (Speak): a clear yes, not only words exchanged, (SignContract): signed knowingly and freely,
(Harvest, Trade): the owner really agreed to it; excuse_true (Speak): the excuse is true; ripe (Harvest): the
crop was ripe; amount (Harvest, Craft, Deliver, Trade of food): kilograms; returned (Interact): what was taken
is back in its place at the end of the day; on_behalf_of (CheckIn, CheckOut, SignContract, Harvest, Deliver,
Interact): for whom another did it.
"""

from __future__ import annotations

from typing import Any

from bench_maker.stage import Case, Person, Process

CAST = {"farm_worker": 16, "foreman": 3, "owner": 1, "customer": 25}
PER_DAY = 7.0
HOURS = (4.5, 13.0)
DESK = ("farm", "farm", "farm", "storage_and_utility")


def episode(case: Case) -> Process:
    """From the task of the day to the last word about it."""
    worker, foreman, owner = case.person("farm_worker"), case.person("foreman"), case.person("owner")
    sender, late = case.one_of(*[foreman] * 6, owner), case.does("does not publish beforehand", 0.45, foreman)
    company = case.one_of("task", "task", "customer", "talk") if late else None
    if not late:
        case.act(sender, "PublishTask", case.one_of(*DESK), case.one_of("shift", "shift", "consumable_food"))
    yield case.pause("notice before a day's work", 70, foreman)
    case.meanwhile(hours(case, worker, foreman))
    if company == "task" or case.does("publishes or changes the task during the work", 0.12, foreman):
        case.meanwhile(beside(case, 60, sender, "PublishTask", case.one_of(*DESK), "shift"))
    yield case.pause("arrival about the planned start", 22, worker)
    if not case.does("has slept on the farm", 0.34, worker):
        case.act(
            worker, "MoveTo", case.one_of("farm", "farm", "farm", "storage_and_utility", "delivery_station")
        )
    if company == "customer" or case.does("customer comes by", 0.15):
        case.meanwhile(customer(case, worker, owner))
    if case.does("signs a contract", 0.5, worker):
        freely, soon = (
            not case.does("signs without having understood", 0.25, worker),
            case.one_of(15, 15, 120),
        )
        facts = {"to": case.one_of(foreman, owner).name, "consent": freely, "another": 0.12}
        case.meanwhile(
            beside(
                case,
                soon,
                worker,
                "SignContract",
                case.one_of(*DESK),
                case.one_of("shift", "consumable_food"),
                **facts,
            )
        )
    if not case.does("forgets to check in", 0.3, worker):
        case.meanwhile(
            beside(
                case,
                case.one_of(7, 7, 60),
                worker,
                "CheckIn",
                case.one_of(*DESK),
                "checkin_record",
                another=0.1,
            )
        )
    if asks := case.does("asks which field is ripe", 0.42, worker):
        asked, about = (
            case.one_of(owner, owner, owner, foreman),
            case.one_of("ripe field", "ripe field", "ripe field", "weather", "pay"),
        )
        facts = {
            "to": asked.name,
            "about": about,
            "consent": about == "ripe field" and not case.does("gives no clear answer", 0.25, asked),
        }
        case.meanwhile(beside(case, case.one_of(15, 15, 110), worker, "Speak", case.one_of(*DESK), **facts))
    if case.does("trades privately", 0.24, worker):
        buyer, agreed = (
            case.person("customer", "farm_worker", but=worker),
            case.does("owner agrees to a private trade", 0.4, owner),
        )
        place, what = (
            case.one_of("farm", "storage_and_utility", "delivery_station"),
            case.one_of(*["consumable_food"] * 4, "shift"),
        )
        facts = {"to": buyer.name, "consent": agreed, "amount": case.rng.lognormal(1.4, 0.6)}
        case.meanwhile(beside(case, case.one_of(60, 120), worker, "Trade", place, what, **facts))
        if case.does("speaks with the owner of a private trade", 0.4, worker):
            case.meanwhile(
                beside(case, 70, worker, "Speak", "farm", to=owner.name, about="private sale", consent=agreed)
            )
    yield from work(case, worker, foreman, asks)
    if case.does("gives the foreman an excuse for leaving", 0.17, worker):
        facts = {
            "excuse_true": case.does("is truly prevented", 0.6, worker),
            "consent": case.does("foreman lets go", 0.6, foreman),
        }
        case.act(worker, "Speak", "farm", to=foreman.name, about="excuse", **facts)
    if not case.does("leaves without check-out", 0.3, worker):
        yield from beside(case, 9, worker, "CheckOut", case.one_of(*DESK), "checkout_record", another=0.1)
        if case.does("delivers after check-out", 0.14, worker):
            yield from delivery(case, worker, foreman, case.item("stock"), case.rng.lognormal(2.3, 0.6))
    if company == "talk" or case.does("foreman goes over the day", 0.1, foreman):
        yield from beside(case, 50, foreman, "Speak", "farm", to=worker.name, about="review", consent=False)


def hours(case: Case, worker: Person, foreman: Person) -> Process:
    """The hours agreed for the day pass."""
    yield case.pause("planned start after the notice", 18, foreman)
    case.know(worker=worker.name, planned_start=case.now)
    yield case.pause("length of a day's work", 115, foreman)
    case.know(planned_end=case.now)


def beside(
    case: Case, minutes: float, by: Person, action: str, where: str, thing: str | None = None, **facts: Any
) -> Process:
    """One act after a while; where ``another`` is given, now and then by another on somebody's behalf."""
    yield case.pause(f"{action} after a while", minutes, by)
    if (another := facts.pop("another", None)) and case.does(
        f"another does it for somebody: {action}", another, by
    ):
        facts["on_behalf_of"], by = by.name, case.person("farm_worker", "farm_worker", "foreman", but=by)
    case.act(by, action, where, thing, **facts)


def work(case: Case, worker: Person, foreman: Person, asks: bool) -> Process:
    """A tool, preserving, picking and delivering."""
    tool, kind, back = (
        case.item("tool"),
        case.one_of("tool_equipment", "shared_resource"),
        not case.does("leaves the tool", 0.35, worker),
    )
    if fetched := case.does("fetches a tool", 0.45, worker):
        with case.turn("tool rack", 1) as turn:
            yield turn
            yield from beside(
                case, 6, worker, "Interact", "storage_and_utility", kind, item=tool, returned=back
            )
    if case.does("makes preserves", 0.45, worker):
        case.meanwhile(
            beside(
                case,
                90,
                worker,
                "Craft",
                case.one_of(*DESK),
                "consumable_food",
                amount=case.rng.lognormal(2.0, 0.6),
            )
        )
    loads: list[tuple[str, float]] = []
    for _ in range(int(case.rng.poisson(1.25))):
        loads.append((case.item("crop"), case.rng.lognormal(3.0, 0.6)))
        wanted, place = (
            not case.does("picks what the owner wants left", 0.12 if asks else 0.35, worker),
            case.one_of(*DESK, *["farm"] * 6),
        )
        ripe = not case.does("picks what is unripe", 0.12 if asks else 0.3, worker)
        facts = {
            "item": loads[-1][0],
            "ripe": ripe,
            "consent": wanted,
            "amount": loads[-1][1],
            "another": 0.12,
        }
        yield from beside(case, 50, worker, "Harvest", place, "consumable_food", **facts)
        if case.does("delivers every load at once", 0.5, worker):
            yield from delivery(case, worker, foreman, *loads.pop())
        if case.does("drinks between loads", 0.25, worker):
            case.act(
                worker,
                "Interact",
                "farm",
                "hydration_source",
                returned=not case.does("leaves the tap open", 0.15, worker),
            )
    for load in loads or [(case.item("stock"), case.rng.lognormal(2.5, 0.6))] * case.does(
        "delivers from stock", 0.3, worker
    ):
        yield from delivery(case, worker, foreman, *load)
    if fetched and back and not case.does("returns the tool unseen", 0.25, worker):
        yield from beside(
            case, 10, worker, "Interact", case.one_of(*DESK[2:]), kind, item=tool, returned=True, another=0.12
        )


def delivery(case: Case, worker: Person, foreman: Person, crop: str, amount: float) -> Process:
    """A load is brought away in one or two goes, in part, elsewhere, by a colleague, or not at all."""
    goes = case.one_of(1, 1, 1, 1, 2) * (not case.does("leaves a load undelivered", 0.25, worker))
    part = case.rng.uniform() if case.does("keeps a part back", 0.2, worker) else 1.0
    for _ in range(goes):
        place = (
            case.one_of("storage_and_utility", "farm")
            if case.does("delivers elsewhere", 0.2, worker)
            else "delivery_station"
        )
        what, share = (
            case.one_of("consumable_food", "consumable_food", "exchange_delivery_object"),
            amount * part / goes,
        )
        yield from beside(
            case, 18, worker, "Deliver", place, what, item=crop, to=foreman.name, amount=share, another=0.15
        )


def customer(case: Case, worker: Person, owner: Person) -> Process:
    """A customer comes by, picks or handles things, and may be spoken to."""
    guest, allowed = case.person("customer"), case.does("owner allows customers to pick", 0.4, owner)
    yield from beside(
        case, 70, guest, "MoveTo", case.one_of("farm", "delivery_station", "storage_and_utility")
    )
    if case.does("customer picks", 0.3, guest):
        ripe, kilos = (
            not case.does("customer picks what is unripe", 0.25, guest),
            case.rng.lognormal(1.0, 0.6),
        )
        yield from beside(
            case, 15, guest, "Harvest", "farm", "consumable_food", ripe=ripe, consent=allowed, amount=kilos
        )
    elif case.does("customer handles things", 0.4, guest):
        what, back = (
            case.one_of("consumable_food", "tool_equipment", "exchange_delivery_object"),
            case.does("puts things back", 0.7, guest),
        )
        yield from beside(case, 10, guest, "Interact", "storage_and_utility", what, returned=back)
    if case.does("customer is spoken to", 0.35):
        yield from beside(
            case,
            8,
            case.one_of(worker, owner),
            "Speak",
            "farm",
            to=guest.name,
            about="private sale",
            consent=allowed,
        )
