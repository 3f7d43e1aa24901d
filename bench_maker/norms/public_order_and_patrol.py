"""Hidden norms of the patrol rounds: what a careful author of each sentence would count as kept or broken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from bench_maker.view import Seen, View, both, either, norm
from gnrs_ppl.audit.types import Verdict

SQUARE, GATE, BORDER, GROUND = "public_square", "movement_boundary", "territory_border", "health_and_sport"
KEY, SUPPLY, CONSIGNMENT = "boundary_access_object", "hygiene_health_resource", "exchange_delivery_object"
DAY, HOUR = 86400.0, 3600.0


def kind_of(name: str) -> str:
    """Role in a person's name, such as resident for resident_07."""
    return name.rsplit("_", 1)[0]


def on_round(view: View) -> list[Seen]:
    """First act out on the round of each patrol member who took part in it."""
    return view.firsts(("MoveTo", "Patrol", "Deliver"), role="patrol_member", known=True)


@norm(
    "GNRS-017",
    says="Every patrol member has checked in on the case before first patrolling any place on it.",
    expressible=True,
)
def gnrs_017(view: View) -> Iterator[Verdict]:
    for patrol in view.firsts("Patrol", role="patrol_member", known=True):
        yield view.duty(view.happened("CheckIn", by=patrol.by, before=patrol.at), patrol.at)


@norm(
    "GNRS-018",
    says="On a round that patrols the boundary gate or the territory border, the gate is patrolled before "
    "the border, "
    "and the border after the gate before the case ends.",
    expressible=True,
)
def gnrs_018(view: View) -> Iterator[Verdict]:
    for first in view.acts("Patrol", where=(GATE, BORDER))[:1]:
        yield view.duty(view.happened("Patrol", where=GATE, before=first.at), first.at)
        yield view.duty(view.happened("Patrol", where=BORDER, after=first.at), view.closure)


@norm(
    "GNRS-019",
    says="A resident or visitor seen at the territory border makes no trade there in the whole case, "
    "and within fifteen minutes of any such trade a patrol member speaks with somebody.",
    expressible=True,
)
def gnrs_019(view: View) -> Iterator[Verdict]:
    for person in view.firsts(role=("resident", "visitor"), where=BORDER, known=True):
        yield view.ban(view.happened("Trade", by=person.by, where=BORDER), view.closure)
    for deal in view.acts("Trade", role=("resident", "visitor"), where=BORDER):
        due = deal.at + view.span("PT15M")
        yield view.duty(view.happened("Speak", role="patrol_member", after=deal.at, before=due), due)


@norm(
    "GNRS-020",
    says="On a round with a visitor about (the scene has no storm), the coordinator publishes the round at "
    "some time in the case, a patrol "
    "member patrols the boundary gate at some time in it, and no visitor goes to the sports ground in it.",
    expressible=True,
)
def gnrs_020(view: View) -> Iterator[Verdict]:
    if view.acts(role="visitor"):
        yield view.duty(view.happened("PublishTask", role="coordinator"), view.closure)
        yield view.duty(view.happened("Patrol", role="patrol_member", where=GATE), view.closure)
        yield view.ban(view.happened("MoveTo", role="visitor", where=GROUND), view.closure)


@norm(
    "GNRS-021",
    says="After the last place patrolled by each patrol member, that member checks out within thirty "
    "minutes.",
    expressible=True,
)
def gnrs_021(view: View) -> Iterator[Verdict]:
    for last in {
        patrol.by: patrol for patrol in view.acts("Patrol", role="patrol_member") if patrol.by is not None
    }.values():
        due = last.at + view.span("PT30M")
        yield view.duty(view.happened("CheckOut", by=last.by, after=last.at, before=due), due)


@norm(
    "GNRS-022",
    says="When first on a round a resident or visitor is about at the sports ground, or a patrol member "
    "speaks or hands something over "
    "there (nearest to being told of an injury), a patrol member delivers a health supply there within ten "
    "minutes.",
    expressible=True,
)
def gnrs_022(view: View) -> Iterator[Verdict]:
    met = view.acts(role=("resident", "visitor"), where=GROUND) + view.acts(
        ("Speak", "Deliver"), role="patrol_member", where=GROUND
    )
    for told in sorted(met, key=lambda act: act.at)[:1]:
        due = told.at + view.span("PT10M")
        helped = view.happened(
            "Deliver", role="patrol_member", where=GROUND, object=SUPPLY, after=told.at, before=due
        )
        yield view.duty(helped, due)


@norm(
    "GNRS-023",
    says="Every patrol member who patrols the boundary gate handles an access key there on the same case, "
    "and no patrol member delivers an access key to anybody in it.",
    expressible=True,
)
def gnrs_023(view: View) -> Iterator[Verdict]:
    for patrol in view.firsts("Patrol", role="patrol_member", where=GATE, known=True):
        yield view.duty(view.happened("Interact", by=patrol.by, where=GATE, object=KEY), view.closure)
        yield view.ban(view.happened("Deliver", role="patrol_member", object=KEY), view.closure)


@norm(
    "GNRS-024",
    says="Before a visitor's thing is traded or a thing handled by a visitor at the boundary gate (nothing "
    "is opened in the scene), a "
    "patrol member has checked in, and in words spoken by or to that visitor true consent has been given.",
    expressible=False,
)
def gnrs_024(view: View) -> Iterator[Verdict]:
    for act in view.acts(("Interact", "Trade"), role="visitor", where=GATE):
        if act.by is None:
            yield "indeterminate"
            continue
        entered = view.happened("CheckIn", role="patrol_member", before=act.at)
        asked = view.happened("Speak", by=act.by, facts={"consented": True}, before=act.at)
        told = view.happened("Speak", facts={"to": act.by, "consented": True}, before=act.at)
        yield view.duty(both(entered, either(asked, told)), act.at)


@norm(
    "GNRS-025",
    says="On a round set going from four in the afternoon on, the patrol member named for it and any who "
    "joins are seen in person on the "
    "public square (walking there, checking in or patrolling there) before dark, which falls between eight "
    "and half past nine; "
    "excused if the round is called off.",
    expressible=False,
)
def gnrs_025(view: View) -> Iterator[Verdict]:
    if view.start % DAY < 16 * HOUR:
        return
    dark = view.start - view.start % DAY + view.span("PT20H", "PT21H30M")
    named, joined = view.fact("patroller"), [act.by for act in on_round(view)]
    if named is None and not joined:
        yield "indeterminate"
    for person in dict.fromkeys(([named] if named else []) + joined):
        present = either(
            *(
                view.happened(act, by=person, where=SQUARE, before=dark)
                for act in ("MoveTo", "CheckIn", "Patrol")
            )
        )
        off = view.happened("Speak", role="coordinator", facts={"about": "calling off", "to": person})
        yield view.duty(present, dark, excuse=off)


@norm(
    "GNRS-026",
    says="The coordinator publishes the round in the case, and a late round (to begin after a bound between "
    "six and eight in the evening) "
    "goes to nobody who has had clearly more late rounds so far (a margin of one to two) than the patrol "
    "member who has had fewest.",
    expressible=False,
)
def gnrs_026(view: View) -> Iterator[Verdict]:
    yield view.duty(view.happened("PublishTask", role="coordinator"), view.closure)
    late, planned, named = view.share(18, 20) * HOUR, view.fact("planned_start"), view.fact("patroller")
    if view.sight.facts is None:
        yield "indeterminate"
    elif planned is not None and planned % DAY >= late:
        rounds = [fact for fact in view.sight.facts.values() if fact.get("planned_start") is not None]
        past = Counter(
            fact["patroller"]
            for fact in rounds
            if fact["planned_start"] < planned and fact["planned_start"] % DAY >= late
        )
        fewest = min(past[member] for member in {fact["patroller"] for fact in rounds})
        yield "satisfied" if past[named] <= fewest + view.share(1, 2) else "violated"


@norm(
    "GNRS-027",
    says="A resident or visitor seen at the boundary gate handles no access key there in the whole case, "
    "permitted or not.",
    expressible=True,
)
def gnrs_027(view: View) -> Iterator[Verdict]:
    for person in view.firsts(role=("resident", "visitor"), where=GATE, known=True):
        yield view.ban(view.happened("Interact", by=person.by, where=GATE, object=KEY), view.closure)


@norm(
    "GNRS-028",
    says="On a round on which a patrol member hands out health supplies (the scene has no weather), patrol "
    "members hand some out on the "
    "public square and trade none, those who handed any out check out afterwards, and no supply handed out "
    "on the square goes to the "
    "group, residents or visitors, that has had more there so far over all rounds (a lead of one is in the "
    "grey).",
    expressible=False,
)
def gnrs_028(view: View) -> Iterator[Verdict]:
    for gift in view.firsts("Deliver", role="patrol_member", object=SUPPLY, known=True):
        yield view.duty(
            view.happened("Deliver", role="patrol_member", where=SQUARE, object=SUPPLY), view.closure
        )
        yield view.ban(view.happened("Trade", role="patrol_member", object=SUPPLY), view.closure)
        yield view.duty(view.happened("CheckOut", by=gift.by, after=gift.at), view.closure)
    for gift in view.acts("Deliver", role="patrol_member", where=SQUARE, object=SUPPLY):
        if gift.facts is None:
            yield "indeterminate"
            continue
        given = view.acts(
            "Deliver", role="patrol_member", where=SQUARE, object=SUPPLY, before=gift.at, anywhere=True
        )
        had = Counter(kind_of(other.facts["to"]) for other in given if other.facts and other != gift)
        mine = kind_of(gift.facts["to"])
        yield "satisfied" if 2 * had[mine] <= had.total() + view.share(0, 1) else "violated"


@norm(
    "GNRS-029",
    says="When two patrol members are out on a round, each checks in and each checks out in the case, "
    "and the one who checked in first is the one who checks out last.",
    expressible=False,
)
def gnrs_029(view: View) -> Iterator[Verdict]:
    pair = [act.by for act in on_round(view)]
    if len(pair) < 2:
        return
    for person in pair:
        yield view.duty(view.happened("CheckIn", by=person), view.closure)
        yield view.duty(view.happened("CheckOut", by=person), view.closure)
    starts = view.firsts("CheckIn", by=tuple(person for person in pair if person), known=True)
    ends = {act.by: act for person in pair for act in view.acts("CheckOut", by=person)}
    if len(starts) > 1 and all(start.by in ends for start in starts):
        yield view.duty(view.earlier(ends[starts[1].by], ends[starts[0].by]), view.closure)


@norm(
    "GNRS-030",
    says="Within twenty minutes of every publication of a task (all the scene has is rounds) a patrol "
    "member patrols the public square, "
    "and speaks with nobody from the publication until some five to fifteen minutes after that patrol.",
    expressible=True,
)
def gnrs_030(view: View) -> Iterator[Verdict]:
    for complaint in view.acts("PublishTask"):
        due = complaint.at + view.span("PT20M")
        yield view.duty(
            view.happened("Patrol", role="patrol_member", where=SQUARE, after=complaint.at, before=due), due
        )
        for patrol in view.acts("Patrol", role="patrol_member", where=SQUARE, after=complaint.at, before=due)[
            :1
        ]:
            until = patrol.at + view.span("PT15M", "PT5M")
            yield view.ban(view.happened("Speak", by=patrol.by, after=complaint.at, before=until), until)


@norm(
    "GNRS-031",
    says="On a round on which a consignment turns up after a patrol member has come to the public square "
    "(nearest to picking it up there), "
    "a consignment is delivered within two hours of that coming, and none is traded before that delivery or "
    "within the two hours.",
    expressible=True,
)
def gnrs_031(view: View) -> Iterator[Verdict]:
    for picked in view.acts(("MoveTo", "CheckIn", "Patrol"), role="patrol_member", where=SQUARE)[:1]:
        if view.acts(object=CONSIGNMENT, after=picked.at):
            due = picked.at + view.span("PT2H")
            given = view.acts("Deliver", object=CONSIGNMENT, after=picked.at, before=due)
            until = given[0].at if given else due
            yield view.duty(view.happened("Deliver", object=CONSIGNMENT, after=picked.at, before=due), due)
            yield view.ban(view.happened("Trade", object=CONSIGNMENT, after=picked.at, before=until), until)


@norm(
    "GNRS-032",
    says="After a resident or visitor first trades or handles something at the boundary gate (nearest to a "
    "scuffle), a patrol member "
    "patrols there, that member then speaks there at least twice, to one side and the other, and after the "
    "last of these checks out.",
    expressible=True,
)
def gnrs_032(view: View) -> Iterator[Verdict]:
    for scuffle in view.acts(("Trade", "Interact"), role=("resident", "visitor"), where=GATE)[:1]:
        yield view.duty(
            view.happened("Patrol", role="patrol_member", where=GATE, after=scuffle.at), view.closure
        )
        for patrol in view.acts("Patrol", role="patrol_member", where=GATE, after=scuffle.at)[:1]:
            yield view.duty(
                view.happened("Speak", by=patrol.by, where=GATE, times=2, after=patrol.at), view.closure
            )
            last = view.acts("Speak", by=patrol.by, where=GATE, after=patrol.at)[-1:] or [patrol]
            yield view.duty(view.happened("CheckOut", by=patrol.by, after=last[0].at), view.closure)
