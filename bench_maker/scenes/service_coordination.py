"""One person's shift in a restaurant.

What no log shows: planned_start (case): instant at which the shift was to begin; notice (case): seconds from
the instant at which the shift was fixed to its planned start; worker (case): name of the person whose shift
it is; dishes (case): number of dishes the worker had to see to; excused (CheckIn): whether the worker had a
true reason, if late; on_behalf_of (CheckIn, Deliver): name of the person in whose stead somebody else did it;
early (CheckOut): whether the worker left before the end that was agreed; wanted (Deliver): whether it was
what had been ordered; late (Deliver): true of a dish left over from the shift, absent otherwise; agreed
(Trade): whether the manager had agreed to it; returned (Interact with the shared resource): whether it was
brought back; about (Speak): what the words were about; to (Speak, Trade): name of the person addressed.
"""

from __future__ import annotations

from bench_maker.stage import Case, Person, Process

CAST = {"waiter": 9, "cook": 6, "duty_manager": 3, "owner": 1, "visitor": 40}
PER_DAY = 7.0
HOURS = (7.0, 17.0)


def episode(case: Case) -> Process:
    """From the publication of the shift to the last act on it."""
    worker, manager = case.person("waiter", "cook"), case.person("duty_manager")
    forgets, late = (
        case.does("forgets to publish the shift", 0.12, manager),
        case.does("publishes the shift late", 0.14, manager),
    )
    if forgets:
        case.act(manager, "Speak", "restaurant", about="shift", to=worker.name)
    elif not late:
        case.act(manager, "PublishTask", "restaurant", "shift")
    notice = case.now
    yield case.pause("notice before a shift", 90, manager)
    planned = case.now
    case.know(planned_start=planned, notice=planned - notice, worker=worker.name)
    if late and not forgets:
        case.meanwhile(late_notice(case, manager))
    # people aim a little before or after the planned start, each in their own way
    yield case.pause("arrival about the planned start", 12, worker)
    here = case.does("is in the house already", 0.24, worker)
    if not here:
        case.act(
            worker, "MoveTo", case.one_of("restaurant", "restaurant", "restaurant", "storage_and_utility")
        )
    if case.does("visitor wanders in", 0.25):
        case.meanwhile(wandering(case))
    forgets, first = (
        case.does("forgets to check in", 0.18, worker),
        case.does("starts before check-in", 0.17, worker),
    )
    if first:
        yield from work(case, worker, manager, here)
    if not forgets:
        yield case.pause("check-in after arrival", 7, worker)
        excused = case.does("has a reason for being late", 0.15, worker)
        if case.does("another checks in for somebody", 0.1):
            other = case.person("waiter", "cook", but=worker)
            case.act(
                other, "CheckIn", "restaurant", "checkin_record", excused=excused, on_behalf_of=worker.name
            )
        else:
            case.act(worker, "CheckIn", "restaurant", "checkin_record", excused=excused)
    if not first:
        yield from work(case, worker, manager, here)
    if case.does("speaks with the manager before leaving", 0.4, worker):
        case.act(
            worker,
            "Speak",
            "restaurant",
            about=case.one_of("handover", "handover", "something else"),
            to=manager.name,
        )
        yield case.pause("handover talk", 5, worker)
    if not case.does("leaves without check-out", 0.24, worker):
        yield case.pause("check-out after the last work", 9, worker)
        case.act(
            worker, "CheckOut", "restaurant", "checkout_record", early=case.does("leaves early", 0.12, worker)
        )
        if case.does("delivers after check-out", 0.1, worker):
            yield case.pause("late delivery", 12, worker)
            case.act(
                worker,
                "Deliver",
                "food_service",
                "consumable_food",
                case.item("dish"),
                wanted=True,
                late=True,
            )
    if case.does("manager reviews the shift with the worker", 0.2, manager):
        yield case.pause("review after the shift", 240, manager)
        case.act(manager, "Speak", "restaurant", about="review", to=worker.name)


def late_notice(case: Case, manager: Person) -> Process:
    """The shift is published only when it should have begun."""
    yield case.pause("publication after the planned start", 30, manager)
    case.act(manager, "PublishTask", "restaurant", "shift")


def work(case: Case, worker: Person, manager: Person, here: bool) -> Process:
    """Fetching, making, delivering, and what happens on the side."""
    if case.does("fetches tools", 0.58, worker):
        if not here:
            case.act(worker, "MoveTo", "storage_and_utility")
        with case.turn("storeroom", 2) as turn:
            yield turn
            case.act(
                worker,
                "Interact",
                "storage_and_utility",
                case.one_of("tool_equipment", "hydration_source"),
                case.item("tool"),
            )
            yield case.pause("fetching", 4, worker)
        if not here:
            case.act(worker, "MoveTo", "food_service")
    dishes = int(case.rng.poisson(2.2))
    case.know(dishes=dishes)
    for _ in range(dishes):
        made = worker.role == "cook" or case.does("waiter makes something", 0.2, worker)
        dish = case.item("dish")
        if made:
            with case.turn("stove", 3) as turn:
                yield turn
                yield case.pause("making a dish", 18, worker)
                case.act(worker, "Craft", "food_service", "consumable_food", dish)
        yield case.pause("waiting for a delivery", 11, worker)
        if not case.does("forgets a delivery", 0.25, worker):
            at, thing = case.one_of(
                ("food_service", "consumable_food"),
                ("food_service", "consumable_food"),
                ("delivery_station", "exchange_delivery_object"),
                ("restaurant", "consumable_food"),
            )
            wanted = not case.does("delivers the wrong thing", 0.12, worker)
            if case.does("a colleague delivers", 0.1, worker):
                colleague = case.person("waiter", "cook", but=worker)
                case.act(colleague, "Deliver", at, thing, dish, wanted=wanted, on_behalf_of=worker.name)
            else:
                case.act(worker, "Deliver", at, thing, dish, wanted=wanted)
    for what, around in (("shift", 0.055), ("consumable_food", 0.08)):
        if case.does(f"trades the {what}", around, worker):
            other = (
                case.person("waiter", "cook", "visitor", but=worker)
                if what != "shift"
                else case.person("waiter", "cook", but=worker)
            )
            agreed = case.does("agreed with the manager", 0.45, manager)
            case.act(
                worker,
                "Trade",
                case.one_of("restaurant", "storage_and_utility"),
                what,
                agreed=agreed,
                to=other.name,
            )
    if case.does("uses the shared resource", 0.25, worker):
        case.act(
            worker,
            "Interact",
            "restaurant",
            "shared_resource",
            returned=case.does("returns the shared resource", 0.75, worker),
        )
        yield case.pause("use of the shared resource", 15, worker)


def wandering(case: Case) -> Process:
    """A visitor comes in and may put a hand on what is not theirs."""
    guest = case.person("visitor")
    yield case.pause("visitor after the arrival", 40)
    case.act(guest, "MoveTo", case.one_of("restaurant", "food_service", "storage_and_utility"))
    if case.does("visitor handles things", 0.4, guest):
        case.act(
            guest,
            "Interact",
            case.one_of("food_service", "storage_and_utility"),
            case.one_of("consumable_food", "tool_equipment"),
        )
    if case.does("staff speaks to the visitor", 0.5):
        yield case.pause("before speaking to the visitor", 3)
        case.act(
            case.person("waiter", "duty_manager", "owner"),
            "Speak",
            "restaurant",
            to=guest.name,
            about="visitor",
        )
