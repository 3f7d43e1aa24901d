"""Hidden reference norms of the open-space scene: what the author of each goal would count as kept or
broken.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench_maker.view import Known, Seen, View, both, either, norm
from gnrs_ppl.audit.types import Verdict

SQUARE, GATE, GROUND, BORDER = "public_square", "movement_boundary", "health_and_sport", "territory_border"
AWAY = (GATE, GROUND, BORDER)
KEY, WATER, PARCEL = "boundary_access_object", "hydration_source", "exchange_delivery_object"
HOUR, DAY = 3600.0, 86400.0


def setting_out(view: View) -> list[Seen]:
    """The first step of a traveller away from the square: of the one whose crossing the case is; others only
    come by later.
    """
    return view.acts("MoveTo", role="traveller", where=AWAY)[:1]


def at_gate(view: View) -> list[Seen]:
    """The first passage of the boundary gate by the traveller whose crossing the case is."""
    return [
        passed
        for out in setting_out(view)
        for passed in view.acts("MoveTo", by=out.by, role="traveller", where=GATE)[:1]
    ]


def clock(act: Seen) -> float:
    """Hour of the day of an act."""
    return act.at / HOUR % 24.0


@norm(
    "GNRS-105",
    says="The traveller who sets out from the square has checked in before, and who comes back to it checks "
    "out after last coming back; a "
    "traveller with whom a guide goes along is not solitary and excused.",
    expressible=True,
)
def gnrs_105(view: View) -> Iterator[Verdict]:
    for out in setting_out(view):
        if out.by is None:
            yield "indeterminate"
            continue
        company = view.happened("MoveTo", role="guide")
        yield view.duty(view.happened("CheckIn", by=out.by, before=out.at), out.at, excuse=company)
        for home in view.acts("MoveTo", by=out.by, where=SQUARE, after=out.at)[-1:]:
            yield view.duty(view.happened("CheckOut", by=out.by, after=home.at), view.closure, excuse=company)


@norm(
    "GNRS-106",
    says="Where a guide publishes a tour or goes along with a traveller, a guide has published it in good "
    "time before the traveller sets "
    "out (at least five to fifteen minutes), and between the two a guide warns the traveller of danger; "
    "words about the way that the "
    "traveller asked for do as well, unless guides warned others of danger on the same day.",
    expressible=False,
)
def gnrs_106(view: View) -> Iterator[Verdict]:
    for out in setting_out(view):
        if not view.acts(("PublishTask", "MoveTo"), role="guide"):
            continue
        in_time = out.at - view.span("PT15M", "PT5M")
        yield view.duty(view.happened("PublishTask", role="guide", before=in_time), out.at)
        published = next((a.at for a in view.acts("PublishTask", role="guide", before=out.at)), out.at)
        warned: list[Known] = [False]
        asked: list[Known] = [False]
        for word in view.acts("Speak", role=("guide", "traveller"), after=published, before=out.at):
            about, to = word.told("about"), word.told("to")
            known = about is not None and to is not None and out.by is not None
            if word.role == "guide":
                warned.append((about, to) == ("danger", out.by) if known else None)
            elif word.by == out.by:
                asked.append((about == "way" and (to or "").startswith("guide")) if known else None)
        morning = out.at - out.at % DAY
        others = view.acts("Speak", role="guide", after=morning, before=morning + DAY, anywhere=True)
        more = [
            None if w.facts is None else w.facts["about"] == "danger" and w.facts["to"] != out.by
            for w in others
        ]
        equal: Known = None if None in more else True not in more
        yield view.duty(either(*warned, both(either(*asked), equal)), out.at)


@norm(
    "GNRS-107",
    says="Whenever a key is handled at the boundary gate, a traveller does so in person, and nobody trades "
    "a key in that case.",
    expressible=True,
)
def gnrs_107(view: View) -> Iterator[Verdict]:
    for unlocking in view.acts("Interact", where=GATE, object=KEY):
        yield view.duty(None if unlocking.role is None else unlocking.role == "traveller", unlocking.at)
        yield view.ban(view.happened("Trade", object=KEY), view.closure)


@norm(
    "GNRS-108",
    says="When a traveller walks onto the sports ground at dusk (from four or five in the afternoon to "
    "eight or nine), a patrol member "
    "patrols it in that case, each who does has checked in before, and no patrol member speaks there.",
    expressible=True,
)
def gnrs_108(view: View) -> Iterator[Verdict]:
    dusk = view.share(16.0, 17.0), view.share(21.0, 20.0)
    if not any(dusk[0] <= clock(a) < dusk[1] for a in view.acts("MoveTo", role="traveller", where=GROUND)):
        return
    yield view.duty(view.happened("Patrol", role="patrol_member", where=GROUND), view.closure)
    yield view.ban(view.happened("Speak", role="patrol_member", where=GROUND), view.closure)
    for guard in view.firsts("Patrol", role="patrol_member", where=GROUND):
        if guard.by is None:
            yield "indeterminate"
            continue
        yield view.duty(view.happened("CheckIn", by=guard.by, before=guard.at), guard.at)


@norm(
    "GNRS-109",
    says="A traveller who passes the boundary gate has arrived at the territory border (before or after the "
    "gate) and checks out, wherever "
    "the desk is, within three hours after first passing it.",
    expressible=True,
)
def gnrs_109(view: View) -> Iterator[Verdict]:
    for passed in at_gate(view):
        if passed.by is None:
            yield "indeterminate"
            continue
        due = passed.at + view.span("PT3H")
        yield view.duty(view.happened("MoveTo", by=passed.by, where=BORDER, before=due), due)
        yield view.duty(view.happened("CheckOut", by=passed.by, after=passed.at, before=due), due)


@norm(
    "GNRS-110",
    says="A task that is published before noon (which stands for the morning after a storm) is published by "
    "a guide, and within forty "
    "minutes after it a patrol member makes a round of the way in that case.",
    expressible=True,
)
def gnrs_110(view: View) -> Iterator[Verdict]:
    for notice in view.acts("PublishTask"):
        if clock(notice) < 12.0:
            due = notice.at + view.span("PT40M")
            yield view.duty(None if notice.role is None else notice.role == "guide", notice.at)
            yield view.duty(view.happened("Patrol", role="patrol_member", after=notice.at, before=due), due)


@norm(
    "GNRS-111", says="In no crossing does anybody, guide, traveller or other, trade water.", expressible=True
)
def gnrs_111(view: View) -> Iterator[Verdict]:
    yield view.ban(view.happened("Trade", object=WATER), view.closure)


@norm(
    "GNRS-112",
    says="A traveller who delivers parcels (all are for people abroad) does so at the territory border "
    "only, has checked in before the "
    "first and not after it, and checks out after the last and not before it.",
    expressible=True,
)
def gnrs_112(view: View) -> Iterator[Verdict]:
    for first in view.firsts("Deliver", role="traveller", object=PARCEL):
        if first.by is None:
            yield "indeterminate"
            continue
        parcels = view.acts("Deliver", by=first.by, object=PARCEL)
        for parcel in parcels:
            yield view.duty(None if parcel.where is None else parcel.where == BORDER, parcel.at)
        yield view.duty(view.happened("CheckIn", by=first.by, before=first.at), first.at)
        yield view.ban(view.happened("CheckIn", by=first.by, after=first.at), view.closure)
        yield view.duty(view.happened("CheckOut", by=first.by, after=parcels[-1].at), view.closure)
        yield view.ban(view.happened("CheckOut", by=first.by, before=parcels[-1].at), parcels[-1].at)


@norm(
    "GNRS-113",
    says="When a traveller or guide first comes onto the sports ground in the evening (after five or six "
    "o'clock; this stands for the "
    "opening whistle), a guide has checked in by fifteen minutes after it, and no traveller walks onto it "
    "in the evening before a patrol "
    "member has patrolled it in that case (the field is clear).",
    expressible=True,
)
def gnrs_113(view: View) -> Iterator[Verdict]:
    evening = view.share(17.0, 18.0)
    steps = [a for a in view.acts("MoveTo", role=("traveller", "guide"), where=GROUND) if clock(a) >= evening]
    for whistle in steps[:1]:
        due = whistle.at + view.span("PT15M")
        yield view.duty(view.happened("CheckIn", role="guide", before=due), due)
    for step in steps:
        if step.role == "traveller":
            yield view.duty(
                view.happened("Patrol", role="patrol_member", where=GROUND, before=step.at), step.at
            )


@norm(
    "GNRS-114",
    says="Where a traveller passes the boundary gate while a patrol member of any case is on post there "
    "(within half an hour to an hour), "
    "a patrol member speaks with that traveller there; and whatever a patrol member handles there in the "
    "case was truly permitted.",
    expressible=False,
)
def gnrs_114(view: View) -> Iterator[Verdict]:
    for passed in at_gate(view):
        queue = view.span("PT1H", "PT30M")
        posts = view.acts(
            ("Patrol", "Interact"),
            role="patrol_member",
            where=GATE,
            after=passed.at - queue,
            before=passed.at + queue,
            anywhere=True,
        )
        if posts:
            words = view.acts("Speak", role="patrol_member", where=GATE)
            heard = [
                None if w.facts is None or passed.by is None else w.facts["to"] == passed.by for w in words
            ]
            yield view.duty(
                either(*heard) if heard else view.happened("Speak", role="patrol_member", where=GATE),
                view.closure,
            )
    for handled in view.acts("Interact", role="patrol_member", where=GATE):
        yield view.duty(None if handled.facts is None else bool(handled.facts["permitted"]), handled.at)


@norm(
    "GNRS-115",
    says="After an errand about a parcel is published (which stands for an unreadable label), a guide "
    "promptly speaks with somebody (a "
    "quarter of an hour to an hour), and no parcel is delivered in that case before a guide has spoken.",
    expressible=True,
)
def gnrs_115(view: View) -> Iterator[Verdict]:
    for errand in view.acts("PublishTask", object=PARCEL)[:1]:
        due = errand.at + view.span("PT15M", "PT1H")
        yield view.duty(view.happened("Speak", role="guide", after=errand.at, before=due), due)
        given = view.acts("Deliver", object=PARCEL, after=errand.at)[:1]
        spoken = view.happened("Speak", role="guide", after=errand.at, before=given[0].at) if given else False
        yield view.ban(view.happened("Deliver", object=PARCEL, after=errand.at), view.closure, excuse=spoken)


@norm(
    "GNRS-116",
    says="While a traveller who set out is overdue (past the hour planned, neither back on the square for "
    "good nor checked out, until the "
    "last act of the case), no guide publishes a task in any case; a patrol member of any case patrols the "
    "territory border within two "
    "hours, unless the traveller turns up first; and nobody speaks to the traveller about being overdue.",
    expressible=False,
)
def gnrs_116(view: View) -> Iterator[Verdict]:
    for out in setting_out(view):
        planned = view.fact("planned_return")
        if planned is None or out.by is None:
            yield "indeterminate"
            continue
        walks = view.acts("MoveTo", by=out.by, after=out.at)
        signs = view.acts("CheckOut", by=out.by, after=out.at)
        ends = [a.at for a in (*walks[-1:], *signs[:1]) if a.action == "CheckOut" or a.where == SQUARE]
        end = min(ends, default=max(planned, view.closure))
        if end <= planned:
            continue
        yield view.ban(
            view.happened("PublishTask", role="guide", after=planned, before=end, anywhere=True), end
        )
        due = planned + view.span("PT2H")
        if not ends or end > due:
            patrolled = view.happened(
                "Patrol", role="patrol_member", where=BORDER, after=planned, before=due, anywhere=True
            )
            yield view.duty(patrolled, due)
        blamed = view.happened("Speak", facts={"about": "overdue", "to": out.by}, after=planned)
        yield view.ban(blamed, view.closure)
