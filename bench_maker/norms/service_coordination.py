"""Hidden norms of the restaurant shifts: what a careful author of each sentence would count as kept or
broken.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench_maker.view import Known, Seen, View, both, either, negate, norm
from gnrs_ppl.audit.types import Verdict

STAFF = ("waiter", "cook")
HOUSE, COUNTER, STORE, STATION = "restaurant", "food_service", "storage_and_utility", "delivery_station"
FOOD, TOOL, JUG, SHARED = "consumable_food", "tool_equipment", "hydration_source", "shared_resource"


def at_work(view: View, *roles: str) -> list[Seen]:
    """First act at work of each person of a role, by acts that nobody does there in another's stead."""
    return view.firsts(("MoveTo", "Interact", "Craft"), role=roles or STAFF, known=True)


@norm(
    "GNRS-001",
    says="Every waiter and cook seen coming to work or working checks in personally within some twenty "
    "minutes to an hour of that, "
    "and checks out personally after it before the case ends; an entry made by a colleague does not count.",
    expressible=True,
)
def gnrs_001(view: View) -> Iterator[Verdict]:
    for start in at_work(view):
        due = start.at + view.span("PT20M", "PT1H")
        yield view.duty(view.happened("CheckIn", by=start.by, before=due), due)
        yield view.duty(view.happened("CheckOut", by=start.by, after=start.at), view.closure)


@norm(
    "GNRS-002",
    says="When a waiter checks out of a shift on which food was made or delivered, that waiter has "
    "delivered food to the food counter "
    "before, with no dish made in between, and delivers none there afterwards in the case.",
    expressible=True,
)
def gnrs_002(view: View) -> Iterator[Verdict]:
    for leaving in view.acts("CheckOut", role="waiter"):
        if leaving.by is None:
            yield "indeterminate"
        elif view.acts(("Craft", "Deliver"), object=FOOD):
            plates = view.acts("Deliver", by=leaving.by, where=COUNTER, object=FOOD, before=leaving.at)
            since = plates[-1].to if plates else view.start
            standing = view.happened("Craft", object=FOOD, after=since, before=leaving.at)
            brought = view.happened("Deliver", by=leaving.by, where=COUNTER, object=FOOD, before=leaving.at)
            yield view.duty(both(brought, negate(standing)), leaving.at)
            yield view.ban(
                view.happened("Deliver", by=leaving.by, where=COUNTER, object=FOOD, after=leaving.to),
                view.closure,
            )


@norm(
    "GNRS-003",
    says="A visitor seen anywhere in the house handles no tool and no water jug in the restaurant or at the "
    "food counter "
    "in the whole case.",
    expressible=True,
)
def gnrs_003(view: View) -> Iterator[Verdict]:
    for guest in view.firsts(role="visitor", known=True):
        yield view.ban(
            view.happened("Interact", by=guest.by, where=(HOUSE, COUNTER), object=(TOOL, JUG)), view.closure
        )


@norm(
    "GNRS-004",
    says="On a cook's shift (the scene does not say who is missing) the duty manager speaks with somebody, "
    "publishes the shift after that, "
    "and no shift is traded in the case.",
    expressible=True,
)
def gnrs_004(view: View) -> Iterator[Verdict]:
    for _ in at_work(view, "cook")[:1]:
        talks = view.acts("Speak", role="duty_manager")
        yield view.duty(view.happened("Speak", role="duty_manager"), view.closure)
        if talks:
            yield view.duty(
                view.happened("PublishTask", role="duty_manager", after=talks[0].at), view.closure
            )
        yield view.ban(view.happened("Trade", object="shift"), view.closure)


@norm(
    "GNRS-005",
    says="Within ten minutes of first walking into the restaurant a waiter or cook has checked in.",
    expressible=True,
)
def gnrs_005(view: View) -> Iterator[Verdict]:
    for arrival in view.firsts("MoveTo", role=STAFF, where=HOUSE, known=True):
        due = arrival.at + view.span("PT10M")
        yield view.duty(view.happened("CheckIn", by=arrival.by, before=due), due)


@norm(
    "GNRS-006",
    says="Every dish that is made is delivered to the food counter by a waiter within twenty minutes of "
    "being made.",
    expressible=True,
)
def gnrs_006(view: View) -> Iterator[Verdict]:
    for dish in view.acts("Craft", object=FOOD):
        due = dish.at + view.span("PT20M")
        if dish.item is None:
            yield "indeterminate"
        else:
            brought = view.happened(
                "Deliver",
                role="waiter",
                where=COUNTER,
                object=FOOD,
                item=dish.item,
                after=dish.at,
                before=due,
            )
            yield view.duty(brought, due)


@norm(
    "GNRS-007",
    says="A waiter or cook at work who has made or delivered food speaks in person after the first of it in "
    "the case, "
    "and trades no food in the whole case.",
    expressible=True,
)
def gnrs_007(view: View) -> Iterator[Verdict]:
    for person in at_work(view):
        for food in view.acts(("Craft", "Deliver"), by=person.by, object=FOOD)[:1]:
            yield view.duty(view.happened("Speak", by=person.by, after=food.at), view.closure)
            yield view.ban(view.happened("Trade", by=person.by, object=FOOD), view.closure)


@norm(
    "GNRS-008",
    says="A waiter with at least three dishes to see to on the shift (the scene has no illness) either has "
    "them all "
    "delivered, in person or by a colleague, or talks the handover through with a duty manager, and checks "
    "out in both cases.",
    expressible=False,
)
def gnrs_008(view: View) -> Iterator[Verdict]:
    worker, load = view.fact("worker"), view.fact("dishes")
    for person in at_work(view, "waiter"):
        out = view.happened("CheckOut", by=person.by)
        if worker is None or load is None:
            yield "indeterminate"
        elif person.by == worker and load >= 3:
            brought = view.happened("Deliver", role=STAFF, times=load)
            spoken = view.happened("Speak", by=worker, facts={"about": "handover"})
            yield view.duty(both(either(brought, spoken), out), view.closure)


@norm(
    "GNRS-009",
    says="When a waiter arrives at the restaurant, some cook has arrived there earlier on the same turn, "
    "that is within the last four hours (eight at the mild end), on whatever case.",
    expressible=False,
)
def gnrs_009(view: View) -> Iterator[Verdict]:
    for arrival in view.firsts("MoveTo", role="waiter", where=HOUSE, known=True):
        since = arrival.at - view.span("PT4H", "PT8H")
        cook = view.happened(
            "MoveTo", role="cook", where=HOUSE, after=since, before=arrival.at, anywhere=True
        )
        yield view.duty(cook, arrival.at)


@norm(
    "GNRS-010",
    says="Within thirty minutes of a cook at work speaking (nearest to telling of dropping out), a duty "
    "manager publishes the shift.",
    expressible=True,
)
def gnrs_010(view: View) -> Iterator[Verdict]:
    for told in view.acts("Speak", role="cook"):
        due = told.at + view.span("PT30M")
        yield view.duty(view.happened("PublishTask", role="duty_manager", after=told.at, before=due), due)


@norm(
    "GNRS-011",
    says="Whatever a cook borrows, a tool in the storeroom or the shared resource, is brought back (known "
    "of the latter only) or handled "
    "there again by that cook later in the case, and that cook trades no such thing.",
    expressible=False,
)
def gnrs_011(view: View) -> Iterator[Verdict]:
    tools = view.acts("Interact", role="cook", where=STORE, object=TOOL)
    for loan in tools + view.acts("Interact", role="cook", object=SHARED):
        if loan.by is None:
            yield "indeterminate"
            continue
        again = view.happened(
            "Interact", by=loan.by, where=loan.where, object=loan.object, times=2, after=loan.at
        )
        back: Known = None if loan.facts is None else bool(loan.facts.get("returned", False))
        yield view.duty(either(again, back), view.closure)
        yield view.ban(view.happened("Trade", by=loan.by, object=(TOOL, SHARED)), view.closure)


@norm(
    "GNRS-012",
    says="A cook at work arrives at the restaurant and checks in personally at some time in the case, "
    "and no visitor handles anything at the food counter in it.",
    expressible=True,
)
def gnrs_012(view: View) -> Iterator[Verdict]:
    for cook in at_work(view, "cook"):
        yield view.duty(view.happened("MoveTo", by=cook.by, where=HOUSE), view.closure)
        yield view.duty(view.happened("CheckIn", by=cook.by), view.closure)
        yield view.ban(view.happened("Interact", role="visitor", where=COUNTER), view.closure)


@norm(
    "GNRS-013",
    says="When a waiter or cook at work speaks (nearest to giving the duty manager a reason for stopping), "
    "the same person checks out within fifteen minutes.",
    expressible=True,
)
def gnrs_013(view: View) -> Iterator[Verdict]:
    for person in at_work(view):
        for talk in view.acts("Speak", by=person.by, after=person.at):
            due = talk.at + view.span("PT15M")
            yield view.duty(view.happened("CheckOut", by=person.by, after=talk.at, before=due), due)


@norm(
    "GNRS-014",
    says="Of the dishes made on a case and not brought to the counter or the tables, at least nine in ten "
    "are delivered to the "
    "delivery station by a waiter within forty minutes of being made.",
    expressible=False,
)
def gnrs_014(view: View) -> Iterator[Verdict]:
    brought: list[Known] = []
    for dish in view.acts("Craft", object=FOOD):
        inside = (
            None if dish.item is None else view.happened("Deliver", where=(COUNTER, HOUSE), item=dish.item)
        )
        due = dish.at + view.span("PT40M")
        taken = (
            None
            if dish.item is None
            else view.happened("Deliver", role="waiter", where=STATION, item=dish.item, before=due)
        )
        if inside is not True:
            brought.append(both(negate(inside), taken) if inside is False else None)
    if brought:
        enough, most = 0.9 * len(brought), sum(answer is not False for answer in brought)
        done: Known = (
            True if sum(answer is True for answer in brought) >= enough else False if most < enough else None
        )
        unseen = view.count("Craft", object=FOOD)[1] > len(view.acts("Craft", object=FOOD))
        yield view.duty(None if unseen and done else done, view.closure)


@norm(
    "GNRS-015",
    says="After checking out a cook makes no food and handles no tool for the rest of the case.",
    expressible=True,
)
def gnrs_015(view: View) -> Iterator[Verdict]:
    for leaving in view.acts("CheckOut", role="cook"):
        if leaving.by is None:
            yield "indeterminate"
            continue
        yield view.ban(view.happened("Craft", by=leaving.by, object=FOOD, after=leaving.to), view.closure)
        yield view.ban(view.happened("Interact", by=leaving.by, object=TOOL, after=leaving.to), view.closure)


@norm(
    "GNRS-016",
    says="On a waiter's shift with a visitor about (the scene has no dinner of the owner's), the waiter "
    "checks in, a waiter has delivered "
    "some food by half an hour to an hour after the visitor's coming, and no waiter speaks to a visitor in "
    "the case.",
    expressible=False,
)
def gnrs_016(view: View) -> Iterator[Verdict]:
    guests = view.firsts(role="visitor", known=True)
    for waiter in at_work(view, "waiter") if guests else []:
        yield view.duty(view.happened("CheckIn", by=waiter.by), view.closure)
        due = guests[0].at + view.span("PT30M", "PT1H")
        yield view.duty(view.happened("Deliver", role="waiter", object=FOOD, before=due), due)
        for guest in guests:
            yield view.ban(view.happened("Speak", role="waiter", facts={"to": guest.by}), view.closure)
