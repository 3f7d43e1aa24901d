"""One session of a learner.

learner, caregiver (case): whose session it is, and who answers for them; planned_start, planned_end (case):
instants meant for the session; may_leave_alone (case): the caregiver truly allowed it; to (act): name of the
person addressed or served; about (Speak): the work, play, leave, a swap, a quarrel or pick-up; consent
(Speak): a clear yes, not only words exchanged, (Trade): both truly wanted it, (Interact): whoever has a say
agreed; own_work (Craft, Deliver): made without another's hand; belongs_to (Interact, Trade): name of the
thing's owner; returned (Interact): back in its place when the day ends; on_behalf_of (CheckIn, CheckOut,
Deliver): for whom another did it.
"""

from __future__ import annotations

from typing import Any

from bench_maker.stage import Case, Person, Process

Facts = dict[str, Any]
CAST = {"teacher": 5, "learner": 24, "caregiver": 16, "owner": 1}
PER_DAY = 7.0
HOURS = (7.0, 17.0)
ROOMS = ("learning_and_public_activity", "learning_and_public_activity", "play_area")
OUTSIDE = ("play_area", "public_square", "health_and_sport")
THINGS = ("learning_material", "play_learning_resource", "shared_resource")


def episode(case: Case) -> Process:
    """From the notice of the session to the last word about it."""
    learner, teacher, caregiver = case.person("learner"), case.person("teacher"), case.person("caregiver")
    case.know(
        learner=learner.name,
        caregiver=caregiver.name,
        may_leave_alone=case.does("allows to leave alone", 0.4, caregiver),
    )
    sender, late = (
        case.one_of(*[teacher] * 6, case.person("owner")),
        case.does("does not publish beforehand", 0.45, teacher),
    )
    company = case.one_of("task", "task", "fellow", "talk") if late else None
    if not late:
        case.act(sender, "PublishTask", case.one_of(*ROOMS), case.one_of(*THINGS))
    yield case.pause("notice before a session", 40, teacher)
    case.meanwhile(hours(case, teacher))
    if company == "task" or case.does("publishes or changes the task during the session", 0.1, teacher):
        case.meanwhile(beside(case, 30, sender, "PublishTask", case.one_of(*ROOMS), case.one_of(*THINGS)))
    yield case.pause("arrival about the planned start", 16, learner)
    if not case.does("stays on from before", 0.52, learner):
        case.act(learner, "MoveTo", case.one_of(*ROOMS, *ROOMS, *OUTSIDE))
    if not case.does("is not checked in", 0.3, learner):
        by = (
            case.one_of(caregiver, teacher)
            if case.does("another checks in for the learner", 0.2, learner)
            else learner
        )
        case.meanwhile(
            beside(
                case,
                case.one_of(5, 5, 30),
                by,
                "CheckIn",
                case.one_of(*ROOMS),
                "checkin_record",
                on_behalf_of=learner.name,
            )
        )
    if case.does("speaks with the teacher", 0.42, learner):
        spoken_to = case.one_of(teacher, teacher, teacher, case.person("learner", but=learner))
        facts: Facts = {
            "about": case.one_of("the work", "leave", "play"),
            "consent": case.does("says a clear yes", 0.55, spoken_to),
        }
        case.meanwhile(
            beside(
                case, case.one_of(8, 8, 45), learner, "Speak", case.one_of(*ROOMS), to=spoken_to.name, **facts
            )
        )
    if company == "fellow" or case.does("another learner joins", 0.12):
        case.meanwhile(fellow(case, learner, teacher))
    if case.does("swaps with another learner", 0.25, learner):
        other = case.person("learner", but=learner)
        facts = {
            "to": other.name,
            "belongs_to": case.one_of(learner, other, teacher).name,
            "consent": case.does("wants it", 0.6, other),
        }
        case.meanwhile(
            beside(
                case,
                case.one_of(25, 60),
                learner,
                "Trade",
                case.one_of(*ROOMS, *OUTSIDE),
                case.one_of(*THINGS),
                **facts,
            )
        )
        if case.does("speaks of the swap", 0.35, learner):
            facts = {
                "to": teacher.name,
                "about": "a swap",
                "consent": case.does("says a clear yes", 0.55, teacher),
            }
            case.meanwhile(beside(case, 40, learner, "Speak", case.one_of(*ROOMS), **facts))
    yield from session(case, learner, teacher)
    if case.does("caregiver is seen coming", 0.1, caregiver):
        yield from beside(case, 10, caregiver, "MoveTo", case.one_of("public_square", *ROOMS))
    if not case.does("leaves without check-out", 0.3, learner):
        by = (
            caregiver
            if case.does("caregiver checks out", 0.5, caregiver)
            else case.one_of(learner, teacher, case.person("caregiver"))
        )
        yield from beside(
            case,
            9,
            by,
            "CheckOut",
            case.one_of(*ROOMS, "public_square"),
            "checkout_record",
            on_behalf_of=learner.name,
        )
        if case.does("hands in after check-out", 0.14, learner):
            yield from delivery(
                case, learner, teacher, case.item("work"), own=case.does("own work from home", 0.6, learner)
            )
    elif case.does("is seen walking off", 0.35, learner):
        yield from beside(case, 8, learner, "MoveTo", "public_square")
    if company == "talk" or case.does("teacher goes over the session", 0.12, teacher):
        facts = {
            "about": case.one_of("the work", "pick-up", "a quarrel"),
            "consent": case.does("says a clear yes", 0.5, caregiver),
        }
        yield from beside(
            case, 40, teacher, "Speak", case.one_of(*ROOMS), to=case.one_of(learner, caregiver).name, **facts
        )


def hours(case: Case, teacher: Person) -> Process:
    """The hours meant for the session pass."""
    yield case.pause("planned start after the notice", 13, teacher)
    case.know(planned_start=case.now)
    yield case.pause("length of a session", 38, teacher)
    case.know(planned_end=case.now)


def beside(
    case: Case, minutes: float, by: Person, action: str, where: str, thing: str | None = None, **facts: Any
) -> Process:
    """One act after a while."""
    yield case.pause(f"{action} after a while", minutes, by)
    if facts.get("on_behalf_of") == by.name:
        del facts["on_behalf_of"]
    case.act(by, action, where, thing, **facts)


def session(case: Case, learner: Person, teacher: Person) -> Process:
    """Material is taken, work made and handed in, something drunk, the material brought back or left
    outside.
    """
    kind, place, back = (
        case.one_of(*THINGS),
        case.one_of(*ROOMS),
        not case.does("leaves material lying about", 0.38, learner),
    )
    facts: Facts = {
        "item": case.item("material"),
        "belongs_to": case.one_of(teacher, case.person("learner")).name,
        "returned": back,
    }
    if taken := case.does("takes material", 0.5, learner):
        with case.turn("shelf", 1) as turn:
            yield turn
            yield from beside(
                case,
                5,
                learner,
                "Interact",
                place,
                kind,
                consent=case.does("may take it", 0.75, teacher),
                **facts,
            )
    if case.does("brings work from home", 0.25, learner):
        case.meanwhile(
            delivery(
                case, learner, teacher, case.item("work"), own=case.does("own work from home", 0.6, learner)
            )
        )
    for _ in range(int(case.rng.poisson(1.25))):
        work, own = case.item("work"), not case.does("is helped with the work", 0.3, learner)
        yield from beside(
            case, 20, learner, "Craft", case.one_of(*ROOMS), case.one_of(*THINGS[:2]), item=work, own_work=own
        )
        if case.does("hands in at once", 0.6, learner):
            yield from delivery(case, learner, teacher, work, own)
        else:
            case.meanwhile(delivery(case, learner, teacher, work, own))
        if case.does("drinks", 0.22, learner):
            cup: Facts = {
                "returned": case.does("puts the cup back", 0.7, learner),
                "consent": True,
                "belongs_to": teacher.name,
            }
            case.act(learner, "Interact", case.one_of(place, "health_and_sport"), "hydration_source", **cup)
    if taken and case.does("is seen bringing material somewhere", 0.7 if back else 0.25, learner):
        by = case.one_of(*[learner] * 5, teacher, case.person("learner"))
        yield from beside(
            case, 8, by, "Interact", place if back else case.one_of(*OUTSIDE), kind, consent=True, **facts
        )


def delivery(case: Case, learner: Person, teacher: Person, work: str, own: bool) -> Process:
    """A piece of work is handed in: to the teacher or not, by another, elsewhere, twice, or not at all."""
    for _ in range(case.one_of(1, 1, 1, 1, 1, 2) * (not case.does("keeps a piece of work", 0.27, learner))):
        by = (
            case.person("learner", but=learner)
            if case.does("another hands in for the learner", 0.12, learner)
            else learner
        )
        place = (
            case.one_of(*OUTSIDE)
            if case.does("hands in elsewhere", 0.22, by)
            else "learning_and_public_activity"
        )
        facts: Facts = {
            "item": work,
            "to": case.one_of(*[teacher] * 5, case.person("teacher")).name,
            "own_work": own,
        }
        yield from beside(
            case,
            case.one_of(8, 8, 30),
            by,
            "Deliver",
            place,
            case.one_of(*THINGS[:2]),
            on_behalf_of=learner.name,
            **facts,
        )


def fellow(case: Case, learner: Person, teacher: Person) -> Process:
    """Another learner joins, takes a thing or not, and words may follow."""
    other, asked = case.person("learner", but=learner), case.does("asks before taking", 0.5)
    yield from beside(case, 25, other, "MoveTo", case.one_of(*ROOMS, *OUTSIDE))
    if case.does("takes what another uses", 0.5, other):
        facts = {
            "consent": asked,
            "belongs_to": learner.name,
            "returned": case.does("gives the thing back", 0.6, other),
        }
        yield from beside(
            case, 12, other, "Interact", case.one_of(*ROOMS, *OUTSIDE), case.one_of(*THINGS), **facts
        )
    if case.does("words follow", 0.35):
        by = case.one_of(teacher, other)
        yield from beside(
            case,
            6,
            by,
            "Speak",
            case.one_of(*ROOMS),
            to=learner.name,
            about=case.one_of("a quarrel", "play"),
            consent=asked,
        )
