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
from gnrs_ppl.reading import Reading
from gnrs_ppl.reading.clauses import clauses
from gnrs_ppl.reading.goal import ways
from gnrs_ppl.reading.reader import read

pytestmark = pytest.mark.usefixtures("rules_alone")

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


@pytest.mark.parametrize(
    ("sentence", "roles"),
    [
        (
            "For two weeks after a package is shipped, the customer must not be sent a payment reminder.",
            set(),
        ),
        ("In no case shall the customer get more than two payment reminders.", set()),
        ("After a failed delivery the customer has to be reminded to pay within a week.", set()),
        ("Every customer will receive a payment reminder within a month of the shipment.", set()),
        ("The shipping clerk gets the package shipped within a day of the confirmation.", {"Shipment"}),
        ("The customer must pay for the order within two weeks of the shipment.", {"customer"}),
        ("A payment reminder must be sent by a sales representative after each shipment.", {"Sales"}),
    ],
)
def test_those_for_whom_something_is_done_are_not_bound(sentence, roles):
    readings = said("order_management", sentence)
    assert readings
    assert {n.name for r in readings for n in r.bearers} == roles
    assert {a.role.name for r in readings for a in r.targets if a.role} == roles


@pytest.mark.parametrize(
    ("words", "meanwhile"), [("by then", False), ("before then", False), ("in the meantime", True)]
)
def test_what_excuses_by_then_may_have_come_before(words, meanwhile):
    (reading,) = said(
        "traffic_fines",
        f"Unless it was paid {words}, a fine must get a penalty within 60 days of its dispatch.",
    )
    assert (reading.exception.activity, reading.meanwhile) == ("Payment", meanwhile)


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


@pytest.mark.parametrize(
    ("name", "sentence", "acts"),
    [
        # said beside it
        ("GNRS-066", "As you have heard, nobody may trade lettuce.", {("absence", "Trade")}),
        (
            "GNRS-092",
            "Patrol members, as we all know, must patrol the public square.",
            {("existence", "Patrol")},
        ),
        # a verb that only helps another
        ("GNRS-037", "No customer gets to handle the parcels.", {("absence", "Interact")}),
        ("GNRS-066", "A farm worker gets to speak with the foreman.", {("existence", "Speak")}),
        # things that are somehow, and whither something goes
        ("GNRS-066", "My cart is full. Farm workers must check out.", {("existence", "CheckOut")}),
        ("GNRS-092", "Never carry parcels round to a resident.", {("absence", "Deliver")}),
        # why something happened once
        (
            "GNRS-052",
            "Last week a visitor waited because he couldn't deliver. Couriers must check in.",
            {("existence", "CheckIn")},
        ),
        # what is brought there, and left at a place
        (
            "GNRS-092",
            "Upon arrival at the public square, please bring something from the medical stock there.",
            {("response", "MoveTo", "Deliver")},
        ),
        ("GNRS-037", "Please leave the parcels at the shop.", {("existence", "Deliver")}),
    ],
)
def test_words_beside_an_act_tell_no_other(name, sentence, acts):
    assert told(said(name, sentence)) == acts


@pytest.mark.parametrize(
    ("name", "sentence", "roles"),
    [
        (
            "GNRS-092",
            "Could every volunteer and every patrol member please check in?",
            {"volunteer", "patrol_member"},
        ),
        ("GNRS-037", "So would the courier and the shopkeeper please check out?", {"courier", "shopkeeper"}),
        ("GNRS-092", "Hi patrol, please check out.", {"patrol_member"}),
        ("GNRS-022", "Dear patrol, please check in.", {"patrol_member"}),
        (
            "GNRS-052",
            "Couriers are busy people. They must check out.",
            {"courier"},
        ),
        (
            "GNRS-092",
            "Volunteers must check in. They must never trade parcels.",
            {"volunteer"},
        ),
        ("GNRS-022", "Visitors must be spoken to in person by the patrol members.", {"patrol_member"}),
    ],
)
def test_who_is_bound_is_found_in_the_words_around(name, sentence, roles):
    """Two of a question, a group that is greeted, those taken up as "they", and nobody "in person"."""
    readings = said(name, sentence)
    assert readings
    assert {n.name for r in readings for n in r.bearers} == roles


@pytest.mark.parametrize(
    ("name", "sentence", "time"),
    [
        ("GNRS-066", "After the harvest, two hours at most: by then it must be delivered.", TWO_HOURS),
        ("GNRS-037", "After a sale, half an hour at most: by then the courier must check in.", HALF_AN_HOUR),
    ],
)
def test_what_is_due_by_then_has_the_time_told_before(name, sentence, time):
    (reading,) = said(name, sentence)
    assert reading.template == "response"
    assert reading.time is not None
    assert reading.time.duration == time


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "GNRS-052",
            "Please drop the parcels off at the boundary gate, and sign out within ten minutes of that.",
        ),
        ("GNRS-037", "A courier must deliver the parcels at the shop, and then check out."),
    ],
)
def test_a_place_behind_one_act_is_none_of_the_next(name, sentence):
    acts = [a for r in said(name, sentence) for a in (*r.targets, *([r.activation] if r.activation else []))]
    assert {a.activity for a in acts} == {"Deliver", "CheckOut"}
    for act in acts:
        assert (act.location is not None) == (act.activity == "Deliver")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("GNRS-052", "Try if the parcel is sound. A courier must check in."),
        ("GNRS-022", "Patrol members must check in and see if all is well."),
    ],
)
def test_what_is_found_out_is_no_circumstance(name, sentence):
    (reading,) = said(name, sentence)
    assert (reading.template, *reading.activities) == ("existence", "CheckIn")
    assert reading.condition is None


@pytest.mark.parametrize(
    ("sentence", "acts"),
    [
        (
            "Q: May I, as a courier, trade parcels? A: No, you don't go into the private rooms.",
            {("absence", "Trade"), ("absence", "MoveTo")},
        ),
        ("Q: May I trade parcels? A: No, not a single one.", {("absence", "Trade")}),
    ],
)
def test_a_ban_behind_a_plain_no_is_one_more(sentence, acts):
    assert told(said("GNRS-052", sentence)) == acts


@pytest.mark.parametrize(
    ("sentence", "kinds"),
    [
        ("Workers must check out, so the foreman also hears of it.", ["main", "purpose"]),
        ("It must be told aloud, so the deaf follow it too.", ["main", "purpose"]),
        ("Parcels went missing, so the courier arrives within an hour.", ["main", "main"]),
    ],
)
def test_what_a_duty_leads_to_is_its_purpose(sentence, kinds):
    assert [c.kind for c in clauses(sentence, 0, len(sentence)) if c.kind in ("main", "purpose")] == kinds


@pytest.mark.parametrize(
    ("name", "sentence", "bearers"),
    [
        (
            "GNRS-052",
            "A courier must check in, and it is the caretaker's job to publish a task for each courier.",
            [("CheckIn", "courier"), ("PublishTask", "caretaker")],
        ),
        ("GNRS-005", "It falls to the duty manager to publish the task.", [("PublishTask", "duty_manager")]),
        (
            "GNRS-066",
            "Tools are something for the foreman to take in hand; under no circumstances may he trade them.",
            [("Interact", "foreman"), ("Trade", "foreman")],
        ),
        ("GNRS-092", "Those who are on patrol must speak with the residents.", [("Speak", "patrol_member")]),
        ("GNRS-022", "If you are on patrol, please check in.", [("CheckIn", "patrol_member")]),
        (
            "GNRS-094",
            "Whether the tools are in good order is a matter for the volunteers to find out by handling them.",
            [("Interact", "volunteer")],
        ),
    ],
)
def test_whose_job_something_is_must_do_it(name, sentence, bearers):
    found = [(r.targets[0].activity, b.name) for r in said(name, sentence) for b in r.bearers]
    assert found == bearers


def test_one_takes_up_what_comes_first():
    """A clause that only says whose job it is to "post one" says who must have done what comes first."""
    sentence = (
        "No courier may deliver anything unless a task was published, and it is the shopkeeper's "
        "responsibility to post one."
    )
    (reading,) = said("GNRS-037", sentence)
    assert (reading.template, *reading.activities) == ("precedence", "PublishTask", "Deliver")
    assert reading.targets[0].role is not None
    assert reading.targets[0].role.name == "shopkeeper"


@pytest.mark.parametrize(
    ("name", "sentence", "acts"),
    [
        (
            "GNRS-051",
            "Nobody is allowed to lay hands on a resting place until a contract has been signed.",
            {("precedence", "SignContract", "Interact")},
        ),
        (
            "GNRS-066",
            "A farm worker must not lay hands on a tool before checking in.",
            {("precedence", "CheckIn", "Interact")},
        ),
        ("GNRS-051", "Only once in a stay may a visitor sign the contract.", {("absence", "SignContract")}),
    ],
)
def test_a_saying_within_a_longer_one_tells_nothing(name, sentence, acts):
    assert told(said(name, sentence)) == acts


def test_what_is_done_is_no_thing_it_is_done_to():
    """A delivery is no consignment, and who carries a key round to somebody carries no shift."""
    sentences = ["No courier may make a delivery before the check-in.", "Never carry it round to a door."]
    named = [
        a.object for s in sentences for r in said("GNRS-037", s) for a in (*r.targets, r.activation) if a
    ]
    assert named
    assert set(named) == {None}
