"""Hidden reference norms of the family residence_and_rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from bench_maker.view import Known, View, both, either, negate, norm
from gnrs_ppl.audit.types import Verdict

ROOMS = "private_living"
GATE = "movement_boundary"
HEALTH = "hygiene_health_resource"


def resting(view: View, at: float) -> Known:
    """Whether the resident was resting at an instant."""
    if view.sight.facts is None:
        return None
    since, until = view.fact("rest_from"), view.fact("rest_to")
    return since is not None and since <= at and (until is None or at < until)


@norm(
    "GNRS-047",
    says="No caretaker and no visitor seen in a visit handles or trades health supplies in it, whatever for.",
    expressible=True,
)
def gnrs_047(view: View) -> Iterator[Verdict]:
    """Hands off the medicines."""
    for first in view.firsts(role=("caretaker", "visitor")):
        if first.by is None:
            yield "indeterminate"
            continue
        handled = view.happened("Interact", by=first.by, object=HEALTH)
        yield view.ban(either(handled, view.happened("Trade", by=first.by, object=HEALTH)), view.closure)


@norm(
    "GNRS-048",
    says=(
        "A caretaker who comes into the private rooms or does something there has spoken within the stated "
        "time before, however urgent "
        "the reason, and handles no health supply there."
    ),
    expressible=True,
)
def gnrs_048(view: View) -> Iterator[Verdict]:
    """Speak, come within twenty minutes of it, and leave the health supplies alone."""
    deeds = ("MoveTo", "Interact", "Deliver", "Trade")
    for arrival in view.firsts(deeds, role="caretaker", where=ROOMS):
        if arrival.by is None:
            yield "indeterminate"
            continue
        yield view.duty(
            view.prior(arrival, "Speak", arrival.at - view.span("PT20M"), by=arrival.by), arrival.at
        )
        yield view.ban(view.happened("Interact", by=arrival.by, where=ROOMS, object=HEALTH), view.closure)


@norm(
    "GNRS-049",
    says=(
        "A visitor checks in at the boundary gate, and does so before going into the private rooms; "
        "checking in at the gate is meant to be "
        "on the way in, whether or not the resident happens to be resting."
    ),
    expressible=True,
)
def gnrs_049(view: View) -> Iterator[Verdict]:
    """Check in at the gate, and do not enter the rooms without."""
    for first in view.firsts(role="visitor"):
        if first.by is None:
            yield "indeterminate"
            continue
        yield view.duty(view.happened("CheckIn", by=first.by, where=GATE), view.closure)
        for entry in view.acts("MoveTo", by=first.by, where=ROOMS):
            yield view.duty(view.prior(entry, "CheckIn", by=first.by, where=GATE), entry.at)


@norm(
    "GNRS-050",
    says=(
        "Every household chore, seen because a caretaker does it in the rooms or because somebody publishes "
        "it, is published by a "
        "caretaker (before it is done), and no caretaker speaks to the resting resident of anything but "
        "leave to enter."
    ),
    expressible=False,
)
def gnrs_050(view: View) -> Iterator[Verdict]:
    """Chores in writing, and no word of them to a resting resident."""
    things = ("rest_resource", HEALTH, "shared_resource")
    published, done = (
        view.acts("PublishTask"),
        view.acts("Interact", role="caretaker", where=ROOMS, object=things),
    )
    if published:
        yield view.duty(view.happened("PublishTask", role="caretaker"), view.closure)
    for chore in done:
        yield view.duty(view.prior(chore, "PublishTask", role="caretaker"), chore.at)
    if published or done:
        woken: Known = view.happened("Speak", role="caretaker", facts={"to": view.fact("host")})
        if view.sight.facts is not None:
            spoken = [
                a for a in view.acts("Speak", role="caretaker", facts={"to": view.fact("host")}) if a.facts
            ]
            woken = either(
                *(both(resting(view, a.at), (a.facts or {}).get("about") != "leave") for a in spoken)
            )
        yield view.ban(woken, view.closure)


@norm(
    "GNRS-051",
    says="A visitor handles an access key only after signing a contract, which whoever stays longer has to "
    "sign anyway.",
    expressible=True,
)
def gnrs_051(view: View) -> Iterator[Verdict]:
    """No key before the contract."""
    for use in view.acts("Interact", role="visitor", object="boundary_access_object"):
        yield view.duty(None if use.by is None else view.prior(use, "SignContract", by=use.by), use.at)


@norm(
    "GNRS-052",
    says=(
        "A courier delivers only at the boundary gate, checks out within the stated time of the last "
        "delivery there, and does not go into "
        "the private rooms in the course of the visit."
    ),
    expressible=True,
)
def gnrs_052(view: View) -> Iterator[Verdict]:
    """Deliver at the gate, check out, and go no further."""
    for first in view.firsts("Deliver", role="courier"):
        if first.by is None:
            yield "indeterminate"
            continue
        deliveries = view.acts("Deliver", by=first.by)
        for delivery in deliveries:
            yield view.duty(None if delivery.where is None else delivery.where == GATE, delivery.at)
        due = deliveries[-1].to + view.span("PT10M")
        yield view.duty(view.happened("CheckOut", by=first.by, after=deliveries[-1].at, before=due), due)
        yield view.ban(view.happened("MoveTo", by=first.by, where=ROOMS), view.closure)


def short_visit(view: View, by: str) -> tuple[Known, float]:
    """Whether a visitor checked in and then out within an hour, and when that is settled."""
    entries = view.acts("CheckIn", by=by)
    if not entries:
        return view.happened("CheckIn", by=by), view.closure
    due = entries[0].to + view.span("PT1H")
    return view.happened("CheckOut", by=by, after=entries[0].at, before=due), due


@norm(
    "GNRS-053",
    says=(
        "Every visitor seen in a visit checks in and then checks out within the stated time; the first "
        "visit of a visitor that falls short "
        "of this is excused, every later one is not."
    ),
    expressible=False,
)
def gnrs_053(view: View) -> Iterator[Verdict]:
    """In and out within an hour; the first slip is forgiven."""
    for first in view.firsts(role="visitor"):
        if first.by is None:
            yield "indeterminate"
            continue
        done, due = short_visit(view, first.by)
        earlier = {a.case for a in view.acts(by=first.by, role="visitor", anywhere=True, before=first.at)} - {
            view.case
        }
        slipped = either(
            *(
                negate(short_visit(View(case, view.sight, view.lenient), first.by)[0])
                for case in sorted(earlier)
            )
        )
        yield view.duty(done, due, excuse=negate(slipped))


@norm(
    "GNRS-054",
    says=(
        "A courier hands a parcel over in the private rooms while the resident is awake (to the resident in "
        "person), at the boundary gate "
        "while the resident rests (to the caretaker, who is found there), and never leaves it out on the "
        "square."
    ),
    expressible=False,
)
def gnrs_054(view: View) -> Iterator[Verdict]:
    """To the resident in person, or to the caretaker while the resident sleeps."""
    for parcel in view.acts("Deliver", role="courier", object="exchange_delivery_object"):
        asleep = resting(view, parcel.at)
        rooms: Known = None if parcel.where is None else parcel.where == ROOMS
        gate: Known = None if parcel.where is None else parcel.where == GATE
        yield view.duty(either(both(negate(asleep), rooms), both(asleep, gate)), parcel.at)


@norm(
    "GNRS-055",
    says=(
        "A contract on a resting place is signed by anybody but the resident only where owner and resident "
        "have spoken before and the "
        "other really agreed, or where the resident signs it too, and willingly."
    ),
    expressible=False,
)
def gnrs_055(view: View) -> Iterator[Verdict]:
    """No lodging contract over the present resident's head."""
    for contract in view.acts(
        "SignContract", role=("owner", "visitor", "caretaker", "courier"), object="rest_resource"
    ):
        host, owner = view.fact("host"), view.fact("keyholder")
        asked = view.prior(contract, "Speak", role="owner", facts={"to": host, "consent": True})
        told = view.prior(contract, "Speak", role="resident", facts={"to": owner, "consent": True})
        signed = view.happened("SignContract", role="resident", facts={"consent": True})
        yield view.duty(either(asked, told, signed), view.closure)


@norm(
    "GNRS-056",
    says=(
        "A courier who delivers anything in a visit checks in on the public square for it, and by the end "
        "of the visit its resident "
        "has been brought as many health supplies by couriers as residents on average (band of one to two "
        "more or fewer); nobody trades "
        "health supplies. The heat wave is taken to last all the time."
    ),
    expressible=False,
)
def gnrs_056(view: View) -> Iterator[Verdict]:
    """Check in on the square, bring everybody the same, and trade none of it."""
    couriers = view.firsts("Deliver", role="courier")
    for first in couriers:
        checked = None if first.by is None else view.happened("CheckIn", by=first.by, where="public_square")
        yield view.duty(checked, view.closure)
    if couriers:
        residents = {a.facts["to"] for a in view.acts("Deliver", anywhere=True) if a.facts}
        supplies = view.acts("Deliver", role="courier", object=HEALTH, anywhere=True, before=view.closure)
        given = Counter(a.facts["to"] for a in supplies if a.facts)
        mean = given.total() / max(len(residents), 1)
        equal: Known = (
            None if view.sight.facts is None else abs(given[view.fact("host")] - mean) <= view.share(1.0, 2.0)
        )
        yield view.duty(equal, view.closure)
    if couriers or view.acts("Trade", object=HEALTH):
        yield view.ban(view.happened("Trade", object=HEALTH), view.closure)


@norm(
    "GNRS-057",
    says="An owner who does anything in the private rooms checks in in person in the course of that visit; "
    "no time is set for it.",
    expressible=True,
)
def gnrs_057(view: View) -> Iterator[Verdict]:
    """The owner checks in like anybody."""
    for first in view.firsts(role="owner", where=ROOMS):
        yield view.duty(None if first.by is None else view.happened("CheckIn", by=first.by), view.closure)


@norm(
    "GNRS-058",
    says=(
        "A caretaker's task on resting places is followed by a caretaker's handling of one within the "
        "stated time, and a caretaker handles "
        "a resting place only after a caretaker has published such a task."
    ),
    expressible=True,
)
def gnrs_058(view: View) -> Iterator[Verdict]:
    """Publish the airing, then do it within three hours."""
    for task in view.acts("PublishTask", role="caretaker", object="rest_resource")[:1]:
        due = task.to + view.span("PT3H")
        yield view.duty(
            view.happened("Interact", role="caretaker", object="rest_resource", after=task.at, before=due),
            due,
        )
    for airing in view.acts("Interact", role="caretaker", object="rest_resource"):
        yield view.duty(
            view.prior(airing, "PublishTask", role="caretaker", object="rest_resource"), airing.at
        )


@norm(
    "GNRS-059",
    says=(
        "A visitor who does anything in the private rooms, where the blankets are taken to lie, speaks in "
        "the course of the visit and "
        "handles no resting place and nothing shared."
    ),
    expressible=True,
)
def gnrs_059(view: View) -> Iterator[Verdict]:
    """Ask about the shared resting place instead of touching what lies there."""
    for first in view.firsts(role="visitor", where=ROOMS):
        if first.by is None:
            yield "indeterminate"
            continue
        yield view.duty(view.happened("Speak", by=first.by), view.closure)
        touched = view.happened("Interact", by=first.by, object=("rest_resource", "shared_resource"))
        yield view.ban(touched, view.closure)


@norm(
    "GNRS-060",
    says=(
        "A visitor who signs a contract, and so stays longer, has checked in before signing, and goes into "
        "the private rooms only after "
        "both this signature and an owner's."
    ),
    expressible=True,
)
def gnrs_060(view: View) -> Iterator[Verdict]:
    """Check in, sign with the owner, then move in."""
    for contract in view.firsts("SignContract", role="visitor"):
        if contract.by is None:
            yield "indeterminate"
            continue
        yield view.duty(view.prior(contract, "CheckIn", by=contract.by), contract.at)
        for entry in view.acts("MoveTo", by=contract.by, where=ROOMS):
            signed = view.prior(entry, "SignContract", by=contract.by)
            yield view.duty(both(signed, view.prior(entry, "SignContract", role="owner")), entry.at)
