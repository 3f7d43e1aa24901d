"""Hidden reference norms of the family commerce_and_exchange."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from bench_maker.view import Known, Seen, View, both, either, negate, norm
from gnrs_ppl.audit.types import Verdict

SELLING = ("shopkeeper", "customer")
HOUSE = ("duty_manager", "owner")


@norm(
    "GNRS-033",
    says=(
        "Every shopkeeper seen in an order checks in there in person soon after first being seen (band of "
        "half an hour to two hours), "
        "and trades nothing before that."
    ),
    expressible=True,
)
def gnrs_033(view: View) -> Iterator[Verdict]:
    """Check in at the start of the day, and trade nothing before."""
    for first in view.firsts(role="shopkeeper"):
        if first.by is None:
            yield "indeterminate"
            continue
        due = first.to + view.span("PT30M", "PT2H")
        yield view.duty(view.happened("CheckIn", by=first.by, before=due), due)
        for trade in view.acts("Trade", by=first.by):
            yield view.duty(view.prior(trade, "CheckIn", by=first.by), trade.at)


@norm(
    "GNRS-034",
    says=(
        "A customer who has signed for an order gets a courier task published by a shopkeeper; the first "
        "such task is followed by a "
        "courier's delivery within the stated time, and every courier's delivery comes within that time "
        "after such a task."
    ),
    expressible=True,
)
def gnrs_034(view: View) -> Iterator[Verdict]:
    """Notice first, then delivery within ninety minutes of it."""
    limit = view.span("PT90M")
    for _ in view.acts("SignContract", role="customer")[:1]:
        yield view.duty(view.happened("PublishTask", role="shopkeeper"), view.closure)
    for notice in view.acts("PublishTask", role="shopkeeper")[:1]:
        due = notice.to + limit
        yield view.duty(view.happened("Deliver", role="courier", after=notice.at, before=due), due)
    for delivery in view.acts("Deliver", role="courier"):
        yield view.duty(
            view.prior(delivery, "PublishTask", delivery.at - limit, role="shopkeeper"), delivery.at
        )


@norm(
    "GNRS-035",
    says=(
        "In an order whose goods a shopkeeper handles in the storeroom to put them aside, a customer who "
        "comes or handles anything "
        "(and so is interested) speaks, and handles no consignment and nothing in the storeroom from then on."
    ),
    expressible=True,
)
def gnrs_035(view: View) -> Iterator[Verdict]:
    """Speak with the shopkeeper instead of handling what is put aside."""
    for aside in view.acts("Interact", role="shopkeeper", where="storage_and_utility")[:1]:
        for first in view.firsts(("MoveTo", "Interact"), role="customer"):
            if first.by is None:
                yield "indeterminate"
                continue
            yield view.duty(view.happened("Speak", by=first.by), view.closure)
            parcel = view.happened("Interact", by=first.by, object="exchange_delivery_object", after=aside.at)
            store = view.happened("Interact", by=first.by, where="storage_and_utility", after=aside.at)
            yield view.ban(either(parcel, store), view.closure)


@norm(
    "GNRS-036",
    says=(
        "Every courier's delivery comes after a customer's signature, every customer's signature is "
        "followed by a courier's delivery, "
        "and no courier trades anything in the order."
    ),
    expressible=True,
)
def gnrs_036(view: View) -> Iterator[Verdict]:
    """Signature, then delivery, and no trade by a courier."""
    signed, brought = view.acts("SignContract", role="customer"), view.acts("Deliver", role="courier")
    for signature in signed[:1]:
        yield view.duty(view.happened("Deliver", role="courier", after=signature.at), view.closure)
    for delivery in brought:
        yield view.duty(view.prior(delivery, "SignContract", role="customer"), delivery.at)
    if signed or brought or view.acts("Trade", role="courier"):
        yield view.ban(view.happened("Trade", role="courier"), view.closure)


@norm(
    "GNRS-037",
    says=(
        "After each sale (a trade by shopkeeper or customer that is no private bargain) a courier arrives "
        "at the delivery station within "
        "the stated time; a true excuse of a courier in that order, the nearest thing to heavy snow, "
        "excuses it, an untrue one does not."
    ),
    expressible=False,
)
def gnrs_037(view: View) -> Iterator[Verdict]:
    """At the station within thirty minutes of each sale, unless truly hindered."""
    snow = view.happened("Speak", role="courier", facts={"about": "excuse", "true": True})
    for sale in view.acts("Trade", role=(*SELLING, *HOUSE)):
        private: Known = None if sale.facts is None else bool(sale.facts.get("private"))
        if private is True:
            continue
        due = sale.to + view.span("PT30M")
        arrived = view.happened("MoveTo", role="courier", where="delivery_station", after=sale.at, before=due)
        yield view.duty(arrived, due, excuse=either(snow, private))


@norm(
    "GNRS-038",
    says="Every delivery by a courier comes after a task that a duty manager has published in that order.",
    expressible=True,
)
def gnrs_038(view: View) -> Iterator[Verdict]:
    """No courier run without the duty manager's task."""
    for delivery in view.acts("Deliver", role="courier"):
        yield view.duty(view.prior(delivery, "PublishTask", role="duty_manager"), delivery.at)


@norm(
    "GNRS-039",
    says=(
        "Where a tool is signed for, traded or handed over on the public square, a shopkeeper and a "
        "customer both sign for it in that "
        "order, and whoever trades it there does so only after both signatures."
    ),
    expressible=True,
)
def gnrs_039(view: View) -> Iterator[Verdict]:
    """Both sign for the used tool, and nobody trades it without."""
    if view.acts(("SignContract", "Trade", "Deliver"), where="public_square", object="tool_equipment"):
        signed = [view.happened("SignContract", role=role, object="tool_equipment") for role in SELLING]
        yield view.duty(both(*signed), view.closure)
    for trade in view.acts("Trade", where="public_square", object="tool_equipment"):
        first = [view.prior(trade, "SignContract", role=role, object="tool_equipment") for role in SELLING]
        yield view.duty(both(*first), trade.at)


@norm(
    "GNRS-040",
    says=(
        "A courier who does anything in the shop checks in in that order, and handles or hands over food "
        "there only after words with the "
        "customer in which the other really agreed."
    ),
    expressible=False,
)
def gnrs_040(view: View) -> Iterator[Verdict]:
    """Check in at the counter, and touch no basket without a clear yes."""
    for first in view.firsts(role="courier", where="shop"):
        if first.by is None:
            yield "indeterminate"
            continue
        yield view.duty(view.happened("CheckIn", by=first.by), view.closure)
        for basket in view.acts(("Interact", "Deliver"), by=first.by, where="shop", object="consumable_food"):
            asked = view.prior(basket, "Speak", by=first.by, facts={"consent": True})
            told = view.prior(basket, "Speak", role="customer", facts={"to": first.by, "consent": True})
            yield view.duty(either(asked, told), basket.at)


@norm(
    "GNRS-041",
    says=(
        "After the last delivery of an order a shopkeeper checks out within the stated time, and every "
        "shopkeeper who checked in for it "
        "checks out afterwards, so that no entry stays open."
    ),
    expressible=True,
)
def gnrs_041(view: View) -> Iterator[Verdict]:
    """Check-out within fifteen minutes of the last hand-over, no entry left open."""
    for last in view.acts("Deliver")[-1:]:
        due = last.to + view.span("PT15M")
        yield view.duty(view.happened("CheckOut", role="shopkeeper", after=last.at, before=due), due)
        for entry in view.firsts("CheckIn", role="shopkeeper"):
            left = None if entry.by is None else view.happened("CheckOut", by=entry.by, after=entry.at)
            yield view.duty(left, view.closure)


@norm(
    "GNRS-042",
    says=(
        "A customer never seen in an earlier order gets the first delivery, counted from the beginning of "
        "the order, no later than half of "
        "the returning customers get theirs, if at all (band: up to half as long again); these stand for "
        "the owner's old friends."
    ),
    expressible=False,
)
def gnrs_042(view: View) -> Iterator[Verdict]:
    """First-time customers wait no longer than those the house knows."""
    openings: dict[str, Seen] = {}
    for act in view.acts(role="customer", anywhere=True):
        if act.by is not None:
            openings.setdefault(act.case, act)
    deliveries: dict[str, Seen] = {}
    for act in view.acts("Deliver", role="courier", anywhere=True):
        deliveries.setdefault(act.case, act)
    known: set[str | None] = set()
    waits: list[float] = []
    for case, act in openings.items():
        if act.by in known:
            waits.append(
                deliveries[case].at - view.sight.starts[case] if case in deliveries else float("inf")
            )
        known.add(act.by)
    mine = openings.get(view.case)
    if mine is None or not waits:
        return
    kinds = ("MoveTo", "Interact", "Speak", "Trade", "SignContract")
    before = either(
        *(view.happened(kind, by=mine.by, after=0.0, before=view.start, anywhere=True) for kind in kinds)
    )
    if before is True:
        return
    due = view.start + median(waits) * view.share(1.0, 1.5)
    yield view.duty(view.happened("Deliver", role="courier", before=due), due, excuse=before)


@norm(
    "GNRS-043",
    says=(
        "A tool that somebody other than a shopkeeper handled and that came back is handled by a shopkeeper "
        "within the stated time, and "
        "in an order in which something lendable was handled, nobody trades tools or shared things in a "
        "bargain beside the order."
    ),
    expressible=False,
)
def gnrs_043(view: View) -> Iterator[Verdict]:
    """Inspect every returned tool, trade nothing from the lending shelf."""
    shelf = ("tool_equipment", "shared_resource")
    loans = view.acts("Interact", role=("customer", "courier", *HOUSE), object=shelf)
    for loan in loans:
        back: Known = None if loan.facts is None else bool(loan.facts.get("returned"))
        if loan.object != "tool_equipment" or back is False:
            continue
        due = loan.to + view.span("PT2H")
        done = view.happened(
            "Interact", role="shopkeeper", object="tool_equipment", after=loan.at, before=due
        )
        yield view.duty(done, due, excuse=negate(back))
    if loans:
        yield view.ban(view.happened("Trade", object=shelf, facts={"private": True}), view.closure)


@norm(
    "GNRS-044",
    says="Every courier who delivers has checked in at the delivery station before, and speaks with nobody "
    "on the public square.",
    expressible=True,
)
def gnrs_044(view: View) -> Iterator[Verdict]:
    """Check in at the station, deliver, and keep silent on the square."""
    for delivery in view.firsts("Deliver", role="courier"):
        if delivery.by is None:
            yield "indeterminate"
            continue
        yield view.duty(
            view.prior(delivery, "CheckIn", by=delivery.by, where="delivery_station"), delivery.at
        )
        yield view.ban(view.happened("Speak", by=delivery.by, where="public_square"), view.closure)
    for entry in view.firsts("CheckIn", role="courier", where="delivery_station"):
        brought = None if entry.by is None else view.happened("Deliver", by=entry.by, after=entry.at)
        yield view.duty(brought, view.closure)


@norm(
    "GNRS-045",
    says=(
        "A duty manager or owner who checks in, checks out or publishes a task in a shopkeeper's order "
        "comes to the shop and checks in "
        "before the first contract or trade, and checks out after the last; a check-in at the shop also "
        "shows the arrival."
    ),
    expressible=True,
)
def gnrs_045(view: View) -> Iterator[Verdict]:
    """Stand-ins arrive before the first order, check in, and check out after the last."""
    orders = view.acts(("SignContract", "Trade"))
    for first in view.firsts(("CheckIn", "CheckOut", "PublishTask"), role=HOUSE):
        if first.by is None:
            yield "indeterminate"
            continue
        opening = orders[0].to if orders else view.closure
        came = view.happened("MoveTo", by=first.by, where="shop", before=opening)
        yield view.duty(
            either(came, view.happened("CheckIn", by=first.by, where="shop", before=opening)), opening
        )
        yield view.duty(view.happened("CheckIn", by=first.by, before=opening), opening)
        done = orders[-1].at if orders else view.start
        yield view.duty(view.happened("CheckOut", by=first.by, after=done), view.closure)


@norm(
    "GNRS-046",
    says=(
        "In an order that shopkeeper or customer talk over, look at, sign or pay on the public square, "
        "every trade comes after signatures "
        "of both and before a courier's delivery, no courier delivers before a trade, and what was signed "
        "for is traded."
    ),
    expressible=True,
)
def gnrs_046(view: View) -> Iterator[Verdict]:
    """Signatures, then trade, then delivery."""
    if not view.acts(("Speak", "Interact", "Trade", "SignContract"), where="public_square", role=SELLING):
        return
    for trade in view.acts("Trade", role=SELLING):
        yield view.duty(both(*(view.prior(trade, "SignContract", role=role) for role in SELLING)), trade.at)
        yield view.duty(view.happened("Deliver", role="courier", after=trade.at), view.closure)
    for delivery in view.acts("Deliver", role="courier"):
        yield view.duty(view.prior(delivery, "Trade", role=SELLING), delivery.at)
    if view.acts("SignContract", role=SELLING):
        yield view.duty(view.happened("Trade", role=SELLING), view.closure)
