"""Hidden norms of labor and production: what the author of each sentence would count as kept or broken on
the farm.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench_maker.view import Known, Seen, View, both, either, negate, norm
from gnrs_ppl.audit.types import Verdict

WORK = ("Interact", "Harvest", "Craft", "Deliver")
TOOLS = ("tool_equipment", "shared_resource")
OWNER = "owner_01"
DAY = 86400.0


def firsts(view: View, *actions: str) -> Iterator[tuple[Seen, bool]]:
    """First such act of each farm worker that is not known to be done for another, and whether it is surely
    their own day.
    """
    seen: set[str] = set()
    for act in view.acts(actions, role="farm_worker"):
        if act.by is None or act.by in seen or (act.facts or {}).get("on_behalf_of"):
            continue
        seen.add(act.by)
        # nobody speaks, trades or makes preserves for another: whoever does so is there on their own account
        yield act, act.facts is not None or bool(view.acts(("Speak", "Trade", "Craft"), by=act.by))


def if_own(done: Known, sure: bool) -> Known:
    """What a worker left undone is only missing where the day is surely their own."""
    return done if sure or done else None


@norm(
    "GNRS-061",
    says="Every farm worker checks in soon after first setting to work (grey band) and later checks out in "
    "person before the case ends.",
    expressible=True,
)
def gnrs_061(view: View) -> Iterator[Verdict]:
    for first, sure in firsts(view, *WORK):
        due = first.at + view.span("PT10M", "PT30M")
        yield view.duty(if_own(view.happened("CheckIn", by=first.by, before=due), sure), due)
        since = min((a.at for a in view.acts("CheckIn", by=first.by)), default=None)
        yield view.duty(if_own(view.happened("CheckOut", by=first.by, after=since), sure), view.closure)


@norm(
    "GNRS-062",
    says="A foreman, and no one else, has published the task no later than thirty minutes after the first "
    "check-in of a farm worker.",
    expressible=True,
)
def gnrs_062(view: View) -> Iterator[Verdict]:
    for first in view.acts("CheckIn", role="farm_worker")[:1]:
        limit = view.span("PT30M")
        beforehand = view.prior(first, "PublishTask", role="foreman")
        yield view.duty(
            either(beforehand, view.followed(first, "PublishTask", limit, role="foreman")), first.at + limit
        )


@norm(
    "GNRS-063",
    says="At no time in the case does anybody trade water from the tank or the shared supply.",
    expressible=True,
)
def gnrs_063(view: View) -> Iterator[Verdict]:
    yield view.ban(view.happened("Trade", object=("hydration_source", "shared_resource")), view.closure)


@norm(
    "GNRS-064",
    says="A farm worker checks in only after signing a contract in the case, and picks nothing before "
    "having done both; "
    "every worker of the day counts as newly hired, since the scene shows no older contract.",
    expressible=True,
)
def gnrs_064(view: View) -> Iterator[Verdict]:
    for checkin, sure in firsts(view, "CheckIn"):
        yield view.duty(if_own(view.prior(checkin, "SignContract", by=checkin.by), sure), checkin.at)
    for pick, sure in firsts(view, "Harvest"):
        ready = both(view.prior(pick, "SignContract", by=pick.by), view.prior(pick, "CheckIn", by=pick.by))
        yield view.ban(negate(if_own(ready, sure)), pick.at)


@norm(
    "GNRS-065",
    says="A farm worker who gives the foreman a true excuse (illness) checks out within ten minutes of it; "
    "one whose excuse is untrue "
    "does not check out between it and the planned end.",
    expressible=False,
)
def gnrs_065(view: View) -> Iterator[Verdict]:
    for word in view.acts("Speak", role="farm_worker"):
        end, limit = view.fact("planned_end"), view.span("PT10M")
        if word.facts is None or end is None:
            yield "indeterminate"
        elif word.facts.get("about") == "excuse" and word.fact("excuse_true"):
            yield view.duty(view.followed(word, "CheckOut", limit, by=word.by), word.at + limit)
        elif word.facts.get("about") == "excuse":
            yield view.ban(view.happened("CheckOut", by=word.by, after=word.at, before=end), end)


@norm(
    "GNRS-066",
    says="What a farm worker has cut is delivered by a farm worker at the delivery station within two "
    "hours, at least in part.",
    expressible=True,
)
def gnrs_066(view: View) -> Iterator[Verdict]:
    for cut in view.acts("Harvest", role="farm_worker"):
        if cut.item is None:
            yield "indeterminate"
            continue
        limit = view.span("PT2H")
        brought = view.followed(
            cut, "Deliver", limit, role="farm_worker", where="delivery_station", item=cut.item
        )
        yield view.duty(brought, cut.at + limit)


@norm(
    "GNRS-067",
    says="A tool that a farm worker has taken is back in its place at the end of the day without another "
    "having handled it, "
    "and the worker trades no tool; on record a later handling by the same worker in the storeroom shows "
    "the return.",
    expressible=True,
)
def gnrs_067(view: View) -> Iterator[Verdict]:
    known: set[str] = set()
    for taken in view.acts("Interact", role="farm_worker", object=TOOLS):
        if taken.by is None or taken.item is None or taken.item in known:
            continue
        known.add(taken.item)
        back = taken.fact("returned")
        if taken.facts is None:
            back = view.followed(taken, "Interact", by=taken.by, where="storage_and_utility", item=taken.item)
        by_another = any(a.by not in (taken.by, None) for a in view.acts("Interact", item=taken.item))
        yield view.duty(both(back, not by_another), view.closure)
        yield view.ban(view.happened("Trade", by=taken.by, object=TOOLS), view.closure)


@norm(
    "GNRS-068",
    says="Before picking, a farm worker has asked the owner which field is ripe, and then picks what is "
    "ripe; the crop is delivered "
    "before the case ends, and from the picking on the worker sells no food to a customer.",
    expressible=False,
)
def gnrs_068(view: View) -> Iterator[Verdict]:
    for pick in view.acts("Harvest", role="farm_worker"):
        if pick.by is None or pick.item is None:
            yield "indeterminate"
            continue
        if not (pick.facts or {}).get("on_behalf_of"):
            sure = pick.facts is not None or bool(view.acts(("Speak", "Trade", "Craft"), by=pick.by))
            asked = view.prior(pick, "Speak", by=pick.by, facts={"to": OWNER, "about": "ripe field"})
            yield view.duty(if_own(both(asked, pick.fact("ripe")), sure), pick.at)
        yield view.duty(view.followed(pick, "Deliver", item=pick.item), view.closure)
        sold = view.between(pick, None, "Trade", by=pick.by, object="consumable_food")
        if sold:
            sales = view.acts("Trade", by=pick.by, object="consumable_food", after=pick.at)
            sold = either(
                *(None if s.facts is None else str(s.facts.get("to")).startswith("customer") for s in sales)
            )
        yield view.ban(sold, view.closure)


@norm(
    "GNRS-069",
    says="No farm worker comes onto the farm before sunrise (grey band for its hour), and each farm worker "
    "at work checks in.",
    expressible=True,
)
def gnrs_069(view: View) -> Iterator[Verdict]:
    sunrise = view.start // DAY * DAY + view.span("PT6H30M", "PT5H")
    if view.start < sunrise:
        yield view.ban(view.happened("MoveTo", role="farm_worker", where="farm", before=sunrise), sunrise)
    for first, sure in firsts(view, *WORK):
        yield view.duty(if_own(view.happened("CheckIn", by=first.by), sure), view.closure)


@norm(
    "GNRS-070",
    says="A crop that was not fit when a farm worker picked it (unripe stands for bruised) is never "
    "delivered, and a farm worker "
    "makes preserves within three hours of the picking.",
    expressible=False,
)
def gnrs_070(view: View) -> Iterator[Verdict]:
    for pick in view.acts("Harvest", role="farm_worker"):
        fit = pick.fact("ripe")
        if fit is None or pick.item is None:
            yield "indeterminate"
        elif not fit:
            limit = view.span("PT3H")
            made = view.followed(pick, "Craft", limit, role="farm_worker", object="consumable_food")
            yield view.duty(made, pick.at + limit)
            yield view.ban(view.happened("Deliver", item=pick.item), view.closure)


@norm(
    "GNRS-071",
    says="What is delivered at the station of a picked load weighs as much as was noted at the picking "
    "(grey band for the scales), and "
    "no farm worker trades food between the picking and the last delivery.",
    expressible=False,
)
def gnrs_071(view: View) -> Iterator[Verdict]:
    for pick in view.acts("Harvest", role="farm_worker"):
        if pick.item is None:
            yield "indeterminate"
            continue
        loads = view.acts("Deliver", where="delivery_station", item=pick.item, after=pick.at)
        if pick.facts is None:
            equal = (
                None
                if view.happened("Deliver", where="delivery_station", item=pick.item) is not False
                else False
            )
        else:
            noted = float(pick.facts["amount"])
            equal = (
                abs(sum(float((a.facts or {})["amount"]) for a in loads) - noted)
                <= view.share(0.02, 0.1) * noted
            )
        yield view.duty(equal, view.closure)
        last = loads[-1] if loads else None
        bartered = view.between(pick, last, "Trade", role="farm_worker", object="consumable_food")
        yield view.ban(bartered, view.closure if last is None else last.to)


@norm(
    "GNRS-072",
    says="Every farm worker at work, whoever it is, signs a contract in the case and checks out in person "
    "before the case ends.",
    expressible=True,
)
def gnrs_072(view: View) -> Iterator[Verdict]:
    for first, sure in firsts(view, *WORK):
        yield view.duty(if_own(view.happened("SignContract", by=first.by), sure), view.closure)
        yield view.duty(if_own(view.happened("CheckOut", by=first.by), sure), view.closure)


@norm(
    "GNRS-073",
    says="A farm worker at work checks out in person within fifteen minutes after the last delivery of the "
    "case.",
    expressible=True,
)
def gnrs_073(view: View) -> Iterator[Verdict]:
    for last in view.acts("Deliver")[-1:]:
        for first, sure in firsts(view, *WORK):
            limit = view.span("PT15M")
            yield view.duty(
                if_own(view.followed(last, "CheckOut", limit, by=first.by), sure), last.at + limit
            )


@norm(
    "GNRS-074",
    says="No farm worker handles a tool before a foreman has published the task and a foreman has spoken in "
    "the case.",
    expressible=True,
)
def gnrs_074(view: View) -> Iterator[Verdict]:
    touches = view.acts("Interact", role="farm_worker", object="tool_equipment")
    for touch in touches:
        told = both(
            view.prior(touch, "PublishTask", role="foreman"), view.prior(touch, "Speak", role="foreman")
        )
        yield view.ban(negate(told), touch.at)
    if not touches:
        yield view.ban(view.happened("Interact", role="farm_worker", object="tool_equipment"), view.closure)
