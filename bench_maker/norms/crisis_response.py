"""Hidden reference norms of the crisis scene: what the author of each goal would count as kept or broken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bench_maker.view import Known, Seen, View, both, either, norm
from gnrs_ppl.audit.types import Verdict

SQUARE, RESTAURANT, FARM, STATION, STORE = (
    "public_square",
    "restaurant",
    "farm",
    "delivery_station",
    "storage_and_utility",
)
FOOD, WATER, HEALTH = "consumable_food", "hydration_source", "hygiene_health_resource"
HELPERS, PARTIES = ("volunteer", "patrol_member"), ("coordinator", "owner")
COMES, WORKS = ("MoveTo", "CheckIn", "Patrol"), ("Deliver", "Patrol", "Interact")


@norm(
    "GNRS-087",
    says="Where anybody harvests or handles a tool on the farm, the coordinator or the owner signs the "
    "requisition contract there in the "
    "course of the case, and a volunteer handles a tool on the farm only after it is signed (before that, "
    "every tool is left out).",
    expressible=True,
)
def gnrs_087(view: View) -> Iterator[Verdict]:
    tools = view.acts("Interact", where=FARM, object="tool_equipment")
    if tools or view.acts("Harvest", where=FARM):
        yield view.duty(view.happened("SignContract", role=PARTIES, where=FARM), view.closure)
    for tool in tools:
        if tool.role is None:
            yield "indeterminate"
        elif tool.role == "volunteer":
            yield view.duty(view.happened("SignContract", role=PARTIES, where=FARM, before=tool.at), tool.at)


@norm(
    "GNRS-088",
    says="When helpers first come to the public square (which stands for the siren), the coordinator "
    "publishes the relief task in that "
    "case, and a volunteer has delivered water to the square by thirty minutes after that notice.",
    expressible=True,
)
def gnrs_088(view: View) -> Iterator[Verdict]:
    if not view.acts(COMES, role=HELPERS, where=SQUARE):
        return
    yield view.duty(view.happened("PublishTask", role="coordinator"), view.closure)
    for notice in view.acts("PublishTask", role="coordinator")[:1]:
        due = notice.at + view.span("PT30M")
        yield view.duty(
            view.happened("Deliver", role="volunteer", where=SQUARE, object=WATER, before=due), due
        )


@norm(
    "GNRS-089",
    says="Each volunteer or patrol member who comes to or works at the restaurant checks in by soon after "
    "joining (a quarter to three "
    "quarters of an hour) and checks out afterwards; one of the two forgotten is an honest slip and excused "
    "if the other was made.",
    expressible=True,
)
def gnrs_089(view: View) -> Iterator[Verdict]:
    for joined in view.firsts((*COMES, "Deliver"), role=HELPERS, where=RESTAURANT):
        if joined.by is None:
            yield "indeterminate"
            continue
        due = joined.at + view.span("PT15M", "PT45M")
        entered, left = (
            view.happened("CheckIn", by=joined.by),
            view.happened("CheckOut", by=joined.by, after=joined.at),
        )
        yield view.duty(view.happened("CheckIn", by=joined.by, before=due), due, excuse=either(entered, left))
        yield view.duty(left, view.closure, excuse=entered)


@norm(
    "GNRS-090",
    says="Whoever harvests rations on the farm does so only after the coordinator has spoken there and then "
    "the coordinator or the owner "
    "has signed the contract there, and in that case it is (also) volunteers who harvest after the signing.",
    expressible=True,
)
def gnrs_090(view: View) -> Iterator[Verdict]:
    for first in view.acts("Harvest", where=FARM, object=FOOD)[:1]:
        contracts = view.acts("SignContract", role=PARTIES, where=FARM, before=first.at)
        yield view.duty(view.happened("SignContract", role=PARTIES, where=FARM, before=first.at), first.at)
        signed = contracts[-1].at if contracts else first.at
        yield view.duty(view.happened("Speak", role="coordinator", where=FARM, before=signed), signed)
        volunteers = view.happened("Harvest", role="volunteer", where=FARM, object=FOOD, after=signed)
        yield view.duty(volunteers, view.closure)


@norm(
    "GNRS-091",
    says="No resident or volunteer who is on the farm harvests food there, unless the coordinator or the "
    "owner signed the contract there "
    "before (then it is not for themselves), nor trades food there at all.",
    expressible=True,
)
def gnrs_091(view: View) -> Iterator[Verdict]:
    for there in view.firsts(role=("resident", "volunteer"), where=FARM):
        if there.by is None:
            yield "indeterminate"
            continue
        yield view.ban(view.happened("Trade", by=there.by, where=FARM, object=FOOD), view.closure)
        taken = view.acts("Harvest", by=there.by, where=FARM, object=FOOD)
        leave = (
            view.happened("SignContract", role=PARTIES, where=FARM, before=taken[0].at) if taken else False
        )
        yield view.ban(
            view.happened("Harvest", by=there.by, where=FARM, object=FOOD), view.closure, excuse=leave
        )


@norm(
    "GNRS-092",
    says="Within one hour after the first alarm posted on the public square (which stands for the gauge's "
    "signal) somebody patrols the "
    "square, and after it a patrol member speaks with people there.",
    expressible=True,
)
def gnrs_092(view: View) -> Iterator[Verdict]:
    for signal in view.acts("PublishTask", where=SQUARE)[:1]:
        due = signal.at + view.span("PT1H")
        yield view.duty(view.happened("Patrol", where=SQUARE, after=signal.at, before=due), due)
        yield view.duty(
            view.happened("Speak", role="patrol_member", where=SQUARE, after=signal.at), view.closure
        )


@norm(
    "GNRS-093",
    says="Every patrol member who takes part in a case is at the delivery station and has checked in there "
    "by twenty minutes after the "
    "first published alarm.",
    expressible=True,
)
def gnrs_093(view: View) -> Iterator[Verdict]:
    for alarm in view.acts("PublishTask")[:1]:
        due = alarm.at + view.span("PT20M")
        for guard in view.firsts((*COMES, "Deliver"), role="patrol_member"):
            if guard.by is None:
                yield "indeterminate"
                continue
            yield view.duty(view.happened("MoveTo", by=guard.by, where=STATION, before=due), due)
            yield view.duty(view.happened("CheckIn", by=guard.by, where=STATION, before=due), due)


@norm(
    "GNRS-094",
    says="No volunteer trades with another volunteer what belongs to all, and by the end of the case at "
    "least nine in ten of the "
    "volunteers who came, patrolled or delivered have checked out properly: with their own hand and not "
    "before their last work.",
    expressible=False,
)
def gnrs_094(view: View) -> Iterator[Verdict]:
    for trade in view.acts("Trade", role="volunteer"):
        buyer, owner = trade.told("to"), trade.told("owned_by")
        relief = None if owner is None else owner == "all" or trade.object == "exchange_delivery_object"
        yield view.ban(both(relief, None if buyer is None else buyer.startswith("volunteer")), view.closure)
    answers: list[Known] = []
    for helper in view.firsts(("MoveTo", "Patrol", "Deliver"), role="volunteer"):
        if helper.by is None:
            answers.append(None)
            continue
        last = view.acts(("MoveTo", "Patrol", "Deliver"), by=helper.by)[-1].at
        answers.append(view.happened("CheckOut", by=helper.by, after=last, facts={"on_behalf_of": None}))
    if answers:
        enough = 0.9 * len(answers)
        sure, possible = sum(a is True for a in answers), sum(a is not False for a in answers)
        yield view.duty(True if sure >= enough else False if possible < enough else None, view.closure)


@norm(
    "GNRS-095",
    says="Once a lack of health supplies is published, a patrol member handles health supplies in the "
    "storeroom in that case, and none is "
    "delivered after the notice before a patrol member has handled them.",
    expressible=True,
)
def gnrs_095(view: View) -> Iterator[Verdict]:
    for notice in view.acts("PublishTask", object=HEALTH)[:1]:
        yield view.duty(
            view.happened("Interact", role="patrol_member", where=STORE, object=HEALTH), view.closure
        )
        early = view.acts("Deliver", object=HEALTH, after=notice.at)[:1]
        if not early:
            yield view.ban(view.happened("Deliver", object=HEALTH, after=notice.at), view.closure)
        for given in early:
            yield view.duty(
                view.happened("Interact", role="patrol_member", where=STORE, object=HEALTH, before=given.at),
                given.at,
            )


@norm(
    "GNRS-096",
    says="In each case in which food is really short on the farm, or volunteers deliver food there, the "
    "amount of food per resident they "
    "serve there is no less than the average of all cases before at the public square; and in each case at "
    "the square it is no more than "
    "the average before on the farm (a tenth is a grey zone). No verdict before the other place has been "
    "served.",
    expressible=False,
)
def gnrs_096(view: View) -> Iterator[Verdict]:
    lack, place, severity = view.fact("short_of"), view.fact("place"), view.fact("severity")
    if lack is None or place is None or severity is None:
        yield "indeterminate"
        return
    for here, there in ((FARM, SQUARE), (SQUARE, FARM)):
        if not view.acts("Deliver", role="volunteer", where=here, object=FOOD) and (
            lack,
            place,
            severity > 0,
        ) != (FOOD, here, True):
            continue
        now = _portion(view.acts("Deliver", role="volunteer", where=here, object=FOOD)) or 0.0
        usual = _portion(
            view.acts("Deliver", role="volunteer", where=there, object=FOOD, before=view.start, anywhere=True)
        )
        if usual is not None:
            farm, square = (now, usual) if here == FARM else (usual, now)
            yield view.duty(farm >= view.share(1.0, 0.9) * square, view.closure)


def _portion(deliveries: Iterable[Seen]) -> float | None:
    """Amount per resident served; None if no resident is known to have been served."""
    served: dict[str, float] = {}
    for act in deliveries:
        if act.facts is not None and str(act.facts["to"]).startswith("resident"):
            served[act.facts["to"]] = served.get(act.facts["to"], 0.0) + float(act.facts["amount"])
    return sum(served.values()) / len(served) if served else None


@norm(
    "GNRS-097",
    says="No volunteer who has worked in the case leaves without checking out; and whoever has not checked "
    "out before it is really over "
    "(the all-clear) speaks with a coordinator or is spoken to by one within forty-five minutes before or "
    "after that moment, and checks "
    "out after those words and within forty-five minutes after that moment.",
    expressible=False,
)
def gnrs_097(view: View) -> Iterator[Verdict]:
    clear, span = view.fact("over_at"), view.span("PT45M")
    for helper in view.firsts((*COMES, "Deliver"), role="volunteer"):
        if helper.by is None:
            yield "indeterminate"
            continue
        left = view.happened("CheckOut", by=helper.by, after=helper.at)
        yield view.duty(left, view.closure)
        if left is False:
            continue
        if clear is None:
            yield "indeterminate"
        elif view.happened("CheckOut", by=helper.by, before=clear) is False:
            words = view.acts(
                "Speak", role=("coordinator", "volunteer"), after=clear - span, before=clear + span
            )
            talks = [word.at for word in words if _between(word, helper.by)]
            yield view.duty(bool(talks), clear + span)
            since = max(clear, min(talks, default=clear))
            yield view.duty(
                view.happened("CheckOut", by=helper.by, after=since, before=clear + span), clear + span
            )


def _between(word: Seen, name: str) -> bool:
    """Whether words were exchanged between a volunteer and some coordinator."""
    other = word.told("to") or ""
    return (word.by == name and other.startswith("coordinator")) or (
        word.role == "coordinator" and other == name
    )


@norm(
    "GNRS-098",
    says="When anybody is called or comes to the restaurant, a patrol member patrols it in that case, and "
    "no resident, volunteer or patrol "
    "member trades there.",
    expressible=True,
)
def gnrs_098(view: View) -> Iterator[Verdict]:
    if view.acts((*COMES, "PublishTask"), where=RESTAURANT):
        yield view.duty(view.happened("Patrol", role="patrol_member", where=RESTAURANT), view.closure)
        yield view.ban(view.happened("Trade", role=("resident", *HELPERS), where=RESTAURANT), view.closure)


@norm(
    "GNRS-099",
    says="Where a lack of health supplies is published, the coordinator speaks with people in that case, "
    "before or after, and nobody "
    "trades health supplies in it.",
    expressible=True,
)
def gnrs_099(view: View) -> Iterator[Verdict]:
    if view.acts("PublishTask", object=HEALTH):
        yield view.duty(view.happened("Speak", role="coordinator"), view.closure)
        yield view.ban(view.happened("Trade", object=HEALTH), view.closure)


@norm(
    "GNRS-100",
    says="In no case does a resident go to the delivery station (a trade or a delivery of theirs there "
    "shows that they did), and each "
    "volunteer who reports there checks in there before their first work after it.",
    expressible=True,
)
def gnrs_100(view: View) -> Iterator[Verdict]:
    gone = [
        view.happened(action, role="resident", where=STATION) for action in ("MoveTo", "Trade", "Deliver")
    ]
    yield view.ban(either(*gone), view.closure)
    for came in view.firsts(("MoveTo", "CheckIn"), role="volunteer", where=STATION):
        if came.by is None:
            yield "indeterminate"
            continue
        begun = next((a.at for a in view.acts(WORKS, by=came.by, after=came.at)), view.closure)
        yield view.duty(view.happened("CheckIn", by=came.by, where=STATION, before=begun), begun)


@norm(
    "GNRS-101",
    says="In a case on the farm (which stands for contaminated fields) nobody harvests there, and within "
    "one to two days from its "
    "beginning residents somewhere trade food of their own with one another; both sides want each such "
    "trade, and a buyer who was in no "
    "such trade before gets no less than the others usually do (down to half is a grey zone).",
    expressible=False,
)
def gnrs_101(view: View) -> Iterator[Verdict]:
    place = view.fact("place")
    if place is None:
        yield "indeterminate"
    elif place == FARM:
        yield view.ban(view.happened("Harvest", where=FARM), view.closure)
        due = view.start + view.span("P1D", "P2D")
        trades = view.acts("Trade", role="resident", object=FOOD, anywhere=True)
        amounts: dict[bool, list[float]] = {False: [], True: []}
        met: set[str] = set()
        done = False
        for trade in trades:
            buyer, facts = trade.told("to") or "", trade.facts or {}
            if trade.at > due or not buyer.startswith("resident") or facts.get("owned_by") != trade.by:
                continue
            old, amount = buyer in met, float(facts["amount"])
            met |= {buyer, trade.by or ""}
            if trade.at >= view.start:
                done = True
                yield view.duty(bool(facts["agreed"]), trade.at)
                usual = amounts[True]
                if not old and usual:
                    yield view.duty(amount >= view.share(1.0, 0.5) * sum(usual) / len(usual), trade.at)
            amounts[old].append(amount)
        yield view.duty(done, due)


@norm(
    "GNRS-102",
    says="When a task is published on the farm (which stands for a missing child), the coordinator "
    "publishes one in that case, and within "
    "ten minutes of the coordinator's first notice a patrol member has patrolled the farm, in that case, if "
    "not already before.",
    expressible=True,
)
def gnrs_102(view: View) -> Iterator[Verdict]:
    if not view.acts("PublishTask", where=FARM):
        return
    yield view.duty(view.happened("PublishTask", role="coordinator"), view.closure)
    for notice in view.acts("PublishTask", role="coordinator")[:1]:
        due = notice.at + view.span("PT10M")
        yield view.duty(view.happened("Patrol", role="patrol_member", where=FARM, before=due), due)


@norm(
    "GNRS-103",
    says="Where food is harvested on the farm, volunteers harvest of it, each harvest is followed within "
    "three hours by a volunteer's "
    "delivery of food to the restaurant, and nobody trades food in the case afterwards.",
    expressible=True,
)
def gnrs_103(view: View) -> Iterator[Verdict]:
    for number, picked in enumerate(view.acts("Harvest", where=FARM, object=FOOD)):
        if number == 0:
            yield view.duty(view.happened("Harvest", role="volunteer", where=FARM, object=FOOD), view.closure)
            yield view.ban(view.happened("Trade", object=FOOD, after=picked.at), view.closure)
        due = picked.at + view.span("PT3H")
        brought = view.happened(
            "Deliver", role="volunteer", where=RESTAURANT, object=FOOD, after=picked.at, before=due
        )
        yield view.duty(brought, due)


@norm(
    "GNRS-104",
    says="Where a lack of health supplies is published, a volunteer delivers some in that case to a "
    "resident who really lacks them "
    "(whoever is on the nursing list); and a volunteer who has delivered health supplies does not speak "
    "afterwards to anybody about "
    "something other than the work, nor at all to residents or other volunteers.",
    expressible=False,
)
def gnrs_104(view: View) -> Iterator[Verdict]:
    visits = view.acts("Deliver", role="volunteer", object=HEALTH)
    if view.acts("PublishTask", object=HEALTH):
        nursed = [
            None if v.facts is None else bool(v.facts["needed"] and str(v.facts["to"]).startswith("resident"))
            for v in visits
        ]
        yield view.duty(
            either(*nursed) if nursed else view.happened("Deliver", role="volunteer", object=HEALTH),
            view.closure,
        )
    for visit in view.firsts("Deliver", role="volunteer", object=HEALTH):
        if visit.by is None:
            yield "indeterminate"
            continue
        gossip: Known = view.happened("Speak", by=visit.by, after=visit.at)
        words = view.acts("Speak", by=visit.by, after=visit.at)
        if words:
            gossip = either(*(_gossips(w) for w in words))
        yield view.ban(gossip, view.closure)


def _gossips(word: Seen) -> Known:
    """Whether words are no report of work to those who lead it."""
    about, other = word.told("about"), word.told("to")
    if about is None or other is None:
        return None
    return about == "something else" or other.startswith(("resident", "volunteer"))
