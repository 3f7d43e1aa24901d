"""Hidden norms of education and play: what the author of each sentence would count as kept or broken in a
session.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from bench_maker.view import Known, Seen, View, both, either, negate, norm
from gnrs_ppl.audit.types import Verdict

GAMES = ("play_learning_resource", "shared_resource")
ROOM = "learning_and_public_activity"
DAY = 86400.0


def takings(view: View, objects: tuple[str, ...]) -> list[Seen]:
    """Acts by which a learner lays hands on such a thing: the first with each item in the case, and all with
    things that bear no name.
    """
    found, known = [], set()
    for act in view.acts("Interact"):
        if act.item not in known and act.role == "learner" and act.object in objects:
            found.append(act)
        known |= {act.item} - {None}
    return found


def checked_in(view: View, learner: str | None, **stated: Any) -> Known:
    """Whether a learner has checked in or was checked in by another."""
    for_them = view.happened("CheckIn", facts={"on_behalf_of": learner}, **stated)
    return None if learner is None else either(view.happened("CheckIn", by=learner, **stated), for_them)


@norm(
    "GNRS-075",
    says="Whoever checks the learner out is a caregiver and has before, in the activity room and not on the "
    "square, spoken with the "
    "teacher, whichever of the two speaks.",
    expressible=True,
)
def gnrs_075(view: View) -> Iterator[Verdict]:
    for out in view.acts("CheckOut"):
        word = either(
            view.prior(out, "Speak", by=out.by, where=ROOM),
            view.prior(out, "Speak", role="teacher", where=ROOM, facts={"to": out.by}),
        )
        yield view.duty(both(None if out.role is None else out.role == "caregiver", word), out.at)


@norm(
    "GNRS-076",
    says="A teacher publishes the task in the case, and no learner builds anything before that.",
    expressible=True,
)
def gnrs_076(view: View) -> Iterator[Verdict]:
    yield view.duty(view.happened("PublishTask", role="teacher"), view.closure)
    for made in view.firsts("Craft", role="learner"):
        yield view.ban(negate(view.prior(made, "PublishTask", role="teacher")), made.at)


@norm(
    "GNRS-077",
    says="A learner who takes a play item or a shared thing at the play area puts it back there (handles it "
    "again) within twenty minutes.",
    expressible=True,
)
def gnrs_077(view: View) -> Iterator[Verdict]:
    for taken in takings(view, GAMES):
        if taken.where != "play_area":
            continue
        if taken.by is None:
            yield "indeterminate"
            continue
        limit = view.span("PT20M")
        thing = {"object": taken.object, "item": taken.item}
        yield view.duty(
            view.followed(taken, "Interact", limit, by=taken.by, where="play_area", **thing), taken.at + limit
        )


@norm(
    "GNRS-078",
    says="A learner who makes a piece of work has checked in (or been checked in) before, hands in own work "
    "in person afterwards, and "
    "trades no learning material between check-in and handing in; every session counts as a test.",
    expressible=True,
)
def gnrs_078(view: View) -> Iterator[Verdict]:
    for made in view.firsts("Craft", role="learner"):
        sheets = tuple(a.item for a in view.acts("Craft") if a.by in (made.by, None) and a.item is not None)
        if made.by is None or not sheets:
            yield "indeterminate"
            continue
        yield view.duty(checked_in(view, made.by, before=made.at), made.at)
        handed = view.acts("Deliver", by=made.by, item=sheets)
        yield view.duty(view.happened("Deliver", by=made.by, item=sheets), view.closure)
        since = [*view.acts("CheckIn", before=made.at), made][0]
        last = handed[-1] if handed else None
        swapped = view.between(since, last, "Trade", by=made.by, object="learning_material")
        yield view.ban(swapped, view.closure if last is None else last.to)


@norm(
    "GNRS-079",
    says="A learner who comes to the activity room comes before the planned start (the bell), excused by a "
    "word with a teacher who says a "
    "clear yes soon after the arrival (grey band; it stands for the late bus), and in any case checks in "
    "there.",
    expressible=True,
)
def gnrs_079(view: View) -> Iterator[Verdict]:
    for arrival in view.firsts("MoveTo", role="learner", where=ROOM):
        if arrival.by is None:
            yield "indeterminate"
            continue
        bell = view.fact("planned_start")
        words = view.acts(
            "Speak", by=arrival.by, after=arrival.at, before=arrival.at + view.span("PT10M", "PT30M")
        )
        excuse = any(
            w.fact("consent") and str((w.facts or {}).get("to")).startswith("teacher") for w in words
        )
        yield view.duty(None if bell is None else arrival.at <= bell, arrival.at, excuse)
        yield view.duty(checked_in(view, arrival.by, where=ROOM, after=arrival.at), view.closure)


@norm(
    "GNRS-080",
    says="A learner hands in each piece in person within fifteen minutes of making it.",
    expressible=True,
)
def gnrs_080(view: View) -> Iterator[Verdict]:
    for made in view.acts("Craft", role="learner"):
        if made.by is None or made.item is None:
            yield "indeterminate"
            continue
        limit = view.span("PT15M")
        yield view.duty(view.followed(made, "Deliver", limit, by=made.by, item=made.item), made.at + limit)


@norm(
    "GNRS-081",
    says="A learner trades learning or play material only where both truly wanted it, whatever was said "
    "before; every other child counts "
    "as one who may be younger.",
    expressible=False,
)
def gnrs_081(view: View) -> Iterator[Verdict]:
    for swap in view.acts("Trade", role="learner"):
        if swap.object in ("learning_material", "play_learning_resource", None):
            yield view.ban(negate(swap.fact("consent")), swap.at)


@norm(
    "GNRS-082",
    says="At the planned end of the session, which stands for the thunder, no learner goes on building "
    "(grey band), shared kit that was "
    "taken is put back, and a caregiver has checked the learner out no later than ten minutes after it.",
    expressible=True,
)
def gnrs_082(view: View) -> Iterator[Verdict]:
    end = view.fact("planned_end")
    if end is None:
        yield view.duty(False if view.happened("CheckOut", role="caregiver") is False else None, view.closure)
        return
    yield view.ban(
        view.happened("Craft", role="learner", after=end + view.span("PT2M", "PT5M")), view.closure
    )
    for taken in takings(view, ("shared_resource",)):
        if taken.at <= end:
            yield view.duty(taken.fact("returned"), view.closure)
    due = end + view.span("PT10M")
    yield view.duty(view.happened("CheckOut", role="caregiver", before=due), due)


@norm(
    "GNRS-083",
    says="A learner who comes to the play area has checked in (or been checked in) no later than five "
    "minutes after coming.",
    expressible=True,
)
def gnrs_083(view: View) -> Iterator[Verdict]:
    for arrival in view.firsts("MoveTo", role="learner", where="play_area"):
        limit = view.span("PT5M")
        soonest, latest = (
            checked_in(view, arrival.by, before=instant + limit) for instant in (arrival.at, arrival.to)
        )
        yield view.duty(soonest if soonest == latest else None, arrival.at + limit)


@norm(
    "GNRS-084",
    says="The learner of the session has at least as many conversations with teachers that day as the other "
    "learners at work that day have "
    "on average (grey band for a smaller share), and makes something during the session.",
    expressible=False,
)
def gnrs_084(view: View) -> Iterator[Verdict]:
    yield view.duty(view.happened("Craft", role="learner"), view.closure)
    learner, dawn = view.fact("learner"), view.start // DAY * DAY
    if learner is None:
        yield "indeterminate"
        return
    talks: Counter[str] = Counter()
    for word in view.acts("Speak", after=dawn, before=dawn + DAY, anywhere=True):
        pair = {str(word.by), str((word.facts or {}).get("to"))}
        if any(name.startswith("teacher") for name in pair):
            talks.update(pair)
    others = {
        a.by for a in view.acts("Craft", role="learner", after=dawn, before=dawn + DAY, anywhere=True)
    } - {learner, None}
    usual = sum(talks[str(other)] for other in others) / max(1, len(others))
    yield view.duty(talks[learner] >= view.share(1.0, 0.5) * usual, view.closure)


@norm(
    "GNRS-085",
    says="A learner who leaves another's play item or shared game out of order (which stands for breaking a "
    "puzzle) afterwards "
    "either makes a play item or delivers one not made in the session.",
    expressible=False,
)
def gnrs_085(view: View) -> Iterator[Verdict]:
    for taken in takings(view, GAMES):
        if taken.facts is None or taken.by is None:
            yield "indeterminate"
        elif not taken.facts.get("returned") and taken.facts.get("belongs_to") != taken.by:
            made = {a.item for a in view.acts("Craft")}
            mended = view.followed(taken, "Craft", by=taken.by, object="play_learning_resource")
            brought = view.acts("Deliver", by=taken.by, object="play_learning_resource", after=taken.at)
            yield view.duty(either(mended, any(a.item not in made for a in brought)), view.closure)


@norm(
    "GNRS-086",
    says="A learner who comes or builds checks in (or is checked in) in the case, no learner goes to the "
    "sports ground, and every game a "
    "learner takes is back in its place at the end of the day; on record a later handling in the room it "
    "was taken from shows it. "
    "The festival is taken to be on throughout.",
    expressible=True,
)
def gnrs_086(view: View) -> Iterator[Verdict]:
    for first in view.firsts(("MoveTo", "Craft"), role="learner"):
        yield view.duty(checked_in(view, first.by), view.closure)
    yield view.ban(view.happened("MoveTo", role="learner", where="health_and_sport"), view.closure)
    for taken in takings(view, GAMES):
        back = taken.fact("returned")
        if (
            taken.facts is None and taken.item is not None and taken.where == ROOM
        ):  # outdoors it may as well lie about
            back = view.followed(taken, "Interact", where=taken.where, item=taken.item) or None
        yield view.duty(back, view.closure)
