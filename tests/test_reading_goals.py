"""Sentences on the scenes of the dev goals and on real logs, each read for what one general mend was made for."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import pytest

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.candidates.source import Material
from gnrs_ppl.candidates.stated import openers, stated
from gnrs_ppl.context.load import Context
from gnrs_ppl.context.time import Duration
from gnrs_ppl.experiments.reading import EMPTY, HERE
from gnrs_ppl.reading import Reading, read
from gnrs_ppl.reading.goal import ways

TEN_MINUTES, HALF_AN_HOUR, TWO_HOURS = Duration(seconds=600), Duration(seconds=1800), Duration(seconds=7200)
SIXTY_DAYS = Duration(days=60)


@lru_cache
def scene(name: str) -> Context:
    log = HERE / "real_logs" / f"{name}.context.yaml"
    return load_context(str(log) if log.is_file() else name)


def said(name: str, sentence: str) -> list[Reading]:
    """The likeliest reading of each statement."""
    return [s.best for s in read(sentence, scene(name).schema).statements]


def told(readings: list[Reading]) -> set[tuple[str, ...]]:
    """Templates with their acts."""
    return {(r.template, *r.activities) for r in readings}


@pytest.mark.parametrize(
    ("name", "sentence", "acts", "time"),
    [
        (
            "GNRS-066",
            "Once lettuce was harvested, it must be delivered before two hours have gone by.",
            ("response", "Harvest", "Deliver"),
            TWO_HOURS,
        ),
        (
            "GNRS-052",
            "When a courier has delivered a parcel, that courier must check out before ten minutes are over.",
            ("response", "Deliver", "CheckOut"),
            TEN_MINUTES,
        ),
        (
            "GNRS-037",
            "Whenever a parcel was delivered, the courier shall check out no later than half an hour afterwards.",
            ("response", "Deliver", "CheckOut"),
            HALF_AN_HOUR,
        ),
        (
            "traffic_fines",
            "After a fine was sent, the offender must pay it, delays or not, no more than 60 days later.",
            ("response", "Send Fine", "Payment"),
            SIXTY_DAYS,
        ),
    ],
)
def test_a_time_that_ends_is_a_deadline_and_no_event(name, sentence, acts, time):
    """Neither "before two hours have gone by" nor "no later than half an hour" opens a clause of its own, and "or
    not" forbids nothing.
    """
    (reading,) = said(name, sentence)
    assert (reading.template, *reading.activities) == acts
    assert reading.time is not None
    assert reading.time.duration == time


@pytest.mark.parametrize(
    ("name", "sentence", "roles"),
    [
        ("GNRS-066", "Dear farm workers, please check out when the day is over.", {"farm_worker"}),
        (
            "GNRS-052",
            "Couriers, once you have delivered a parcel, check out within ten minutes.",
            {"courier"},
        ),
        (
            "GNRS-008",
            "Note to cooks and waiters: please check out at the end of the shift.",
            {"cook", "waiter"},
        ),
        ("GNRS-008", "I am a waiter. What is asked of me? You must check out.", {"waiter"}),
    ],
)
def test_those_a_text_speaks_to_are_bound(name, sentence, roles):
    readings = said(name, sentence)
    assert readings
    assert {n.name for r in readings for n in r.bearers} == roles


def test_a_role_spoken_of_before_a_comma_is_not_spoken_to():
    """Where nobody is addressed as "you", a role before a comma binds nobody else."""
    (reading,) = said("GNRS-052", "Visitors, as a rule, wait. A courier must check out.")
    assert {n.name for n in reading.bearers} == {"courier"}


@pytest.mark.parametrize(
    ("name", "sentence", "acts"),
    [
        (
            "GNRS-092",
            "The patrol members must patrol the sports ground within two hours, and the residents must speak with "
            "them there.",
            {("existence", "Patrol"), ("existence", "Speak")},
        ),
        (
            "GNRS-005",
            "The waiters must check in, and the duty manager must publish a task.",
            {("existence", "CheckIn"), ("existence", "PublishTask")},
        ),
    ],
)
def test_two_clauses_that_bind_each_by_themselves_order_nothing(name, sentence, acts):
    assert told(said(name, sentence)) == acts


def test_with_a_word_of_order_between_them_they_do():
    sentence = "Waiters must check in, and then they must speak with the duty manager."
    assert ("response", "CheckIn", "Speak") in told(said("GNRS-005", sentence))


@pytest.mark.parametrize(
    ("name", "sentence", "first"),
    [
        (
            "GNRS-066",
            "A farm worker harvests lettuce and checks out within two hours of that, and must not trade.",
            "Harvest",
        ),
        (
            "GNRS-052",
            "A visitor signs the contract at the boundary gate, checks in within ten minutes of that, and must not "
            "trade parcels.",
            "SignContract",
        ),
    ],
)
def test_a_time_from_one_act_to_the_next_is_none_for_the_first(name, sentence, first):
    timed = {r.activities[-1] for r in said(name, sentence) if r.time is not None}
    assert timed
    assert first not in timed


@pytest.mark.parametrize(
    ("name", "sentence", "others"),
    [
        ("GNRS-092", "Within an hour of the siren, the square must be patrolled by patrol members.", True),
        ("GNRS-092", "The square must be patrolled by patrol members.", False),
        ("GNRS-052", "Within an hour of the bell, couriers must deliver parcels at the boundary gate.", True),
        ("GNRS-052", "Couriers must deliver parcels at the boundary gate.", False),
    ],
)
def test_a_signal_that_no_log_shows_is_sooner_given_by_others(name, sentence, others):
    """Of the acts that stand in for what is said to open, those of others come first after a signal, and else those
    of the ones who are bound.
    """
    context = scene(name)
    goal = context.goal.model_copy(update=EMPTY | {"intent": sentence})
    material = Material(replace(context, goal=goal, scene=context))
    _, readings = next(ways(material.readings))
    likely = material.openers_of_others if others else material.usual_openers
    usual = [o for o in openers(material, readings) if not o.said and o.activity]
    fits = {kind: [o.fits for o in usual if (o.activity in likely) is kind] for kind in (True, False)}
    assert fits[True]
    assert min(fits[True]) > max(fits[False], default=0.0) + 0.2


@pytest.mark.parametrize(
    ("name", "sentence", "acts"),
    [
        ("GNRS-094", "May volunteers trade relief parcels? No.", {("absence", "Trade")}),
        (
            "traffic_fines",
            "Q: The fine has been paid. May it still be sent for credit collection? A: Never.",
            {("not_response", "Payment", "Send for Credit Collection")},
        ),
        (
            "GNRS-052",
            "Q: Can a courier check out before the parcel was delivered? A: No, not even in a hurry.",
            {("precedence", "Deliver", "CheckOut")},
        ),
        (
            "GNRS-066",
            "What must a farm worker do after the harvest? Deliver the lettuce.",
            {("response", "Harvest", "Deliver")},
        ),
        ("GNRS-005", "Q: Who publishes the task? A: The duty manager.", {("existence", "PublishTask")}),
        (
            "GNRS-092",
            "Q: What do the patrol members do? A: They patrol the public square. Q: Why? A: It floods.",
            {("existence", "Patrol")},
        ),
    ],
)
def test_a_question_and_its_answer_state_one_thing_together(name, sentence, acts):
    assert told(said(name, sentence)) == acts


def test_a_question_alone_states_nothing_and_a_request_does():
    assert not said("GNRS-052", "Who delivers the parcels?")
    (reading,) = said("GNRS-052", "Could every courier please check out?")
    assert (reading.template, *reading.activities) == ("existence", "CheckOut")


def test_words_of_an_answer_keep_their_places():
    """Each span is of the text as it stands, though it is read in another order."""
    sentence = "Q: By when must the offender pay the fine? A: Within 60 days. Q: May it be sent twice? A: No."
    readings = read(sentence, scene("traffic_fines").schema)
    (paid,) = [s.best for s in readings.statements if s.best.activities == ("Payment",)]
    assert paid.time is not None
    assert readings.words(paid.time.span) == "60 days"
    assert readings.words(paid.targets[0].span).startswith("pay")


@pytest.mark.parametrize(
    ("name", "sentence", "time"),
    [
        (
            "GNRS-052",
            "Every courier must check in, and half an hour is the longest it may take.",
            HALF_AN_HOUR,
        ),
        ("traffic_fines", "Every fine must be paid, and 60 days is the limit.", SIXTY_DAYS),
    ],
)
def test_a_clause_on_nothing_but_a_time_is_the_time_of_the_one_before(name, sentence, time):
    (reading,) = said(name, sentence)
    assert reading.time is not None
    assert reading.time.duration == time


@pytest.mark.parametrize(
    ("name", "sentence", "acts"),
    [
        (
            "GNRS-066",
            "A farm worker must sign the contract. Until that has been done, cutting lettuce is prohibited.",
            ("precedence", "SignContract", "Harvest"),
        ),
        (
            "GNRS-052",
            "The courier must check in. Before that, no parcel may be delivered.",
            ("precedence", "CheckIn", "Deliver"),
        ),
        (
            "GNRS-066",
            "Before the contract is signed, trading lettuce is forbidden to every farm worker.",
            ("precedence", "SignContract", "Trade"),
        ),
        (
            "traffic_fines",
            "Before the fine is sent, adding a penalty is prohibited.",
            ("precedence", "Send Fine", "Add penalty"),
        ),
    ],
)
def test_what_is_banned_until_something_is_done_comes_after_it(name, sentence, acts):
    assert acts in told(said(name, sentence))
    assert not any(template == "absence" for template, *_ in told(said(name, sentence)))


@pytest.mark.parametrize(
    ("sentence", "acts"),
    [
        (
            "Yesterday a parcel was traded after a check-in. Couriers must check out.",
            {("existence", "CheckOut")},
        ),
        ("Last week we had to deliver twice. Please check in.", {("existence", "CheckIn")}),
    ],
)
def test_what_happened_once_states_nothing_beside_a_duty(sentence, acts):
    assert told(said("GNRS-052", sentence)) == acts


@pytest.mark.parametrize(
    ("name", "sentence", "role"),
    [
        (
            "GNRS-052",
            "The caretaker must publish a task for every delivery, and a courier without such a task must not "
            "deliver.",
            "caretaker",
        ),
        (
            "GNRS-037",
            "A courier must not deliver anything before the sale. The shopkeeper has to trade first.",
            "shopkeeper",
        ),
        (
            "GNRS-052",
            "Every courier must check in. No courier may deliver before having checked in.",
            "courier",
        ),
    ],
)
def test_what_comes_first_is_asked_of_whoever_must_do_it(name, sentence, role):
    """A ban on some may wait for an act that others are asked to do."""
    reading = next(r for r in said(name, sentence) if r.template == "precedence")
    assert {n.name for n in reading.bearers} == {"courier"}
    (target,) = reading.targets
    assert target.role is not None
    assert target.role.name == role


def test_a_rule_states_who_must_have_done_what_comes_first():
    context = scene("GNRS-038")
    sentence = "The duty manager must publish a task for each run, and a courier without such a task must not deliver."
    goal = context.goal.model_copy(update=EMPTY | {"intent": sentence})
    proposed = stated(Material(replace(context, goal=goal, scene=context)))
    likeliest = next(p.content for p in proposed if p.slot == "norm")
    (constraint,) = likeliest["constraints"]
    assert constraint["template"] == "precedence"
    assert constraint["target"] == {"activity": "PublishTask", "role": "duty_manager"}
    assert constraint["correlate"] == "same_case"
