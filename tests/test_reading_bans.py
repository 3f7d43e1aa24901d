"""What is banned or disapproved of is read as a ban: never as the demand that it would be without those words."""

from __future__ import annotations

from functools import lru_cache

import pytest

from gnrs_ppl.context.load import Context, load_context
from gnrs_ppl.context.time import Duration
from gnrs_ppl.experiments.reading import HERE
from gnrs_ppl.reading.reader import read

SAME = {"not_precedence": "not_response"}
"""Told from the one act or from the other, it bans the same."""
BANS = [
    (
        "traffic_fines",
        "Having a fine sent for collection that has been paid is not acceptable.",
        "not_response",
        "Payment",
        "Send for Credit Collection",
    ),
    (
        "traffic_fines",
        "Not acceptable: sending a fine for collection after it has been paid.",
        "not_response",
        "Payment",
        "Send for Credit Collection",
    ),
    (
        "traffic_fines",
        "Sending a fine for collection once it has been paid is out of the question.",
        "not_response",
        "Payment",
        "Send for Credit Collection",
    ),
    (
        "traffic_fines",
        "It is unacceptable that a fine is sent for collection although it has been paid.",
        "not_response",
        "Payment",
        "Send for Credit Collection",
    ),
    (
        "traffic_fines",
        "It is not on to add a penalty when the offender has appealed to the judge.",
        "not_response",
        "Appeal to Judge",
        "Add penalty",
    ),
    (
        "traffic_fines",
        "A violation: a fine that is sent for collection although no penalty has been added.",
        "precedence",
        "Add penalty",
        "Send for Credit Collection",
    ),
    (
        "traffic_fines",
        "Breach: the penalty is added before the fine has been notified.",
        "precedence",
        "Insert Fine Notification",
        "Add penalty",
    ),
    (
        "traffic_fines",
        "We do not tolerate fines being sent for collection without a penalty having been added.",
        "precedence",
        "Add penalty",
        "Send for Credit Collection",
    ),
    (
        "traffic_fines",
        "Adding a penalty without prior notification of the fine is a breach.",
        "precedence",
        "Insert Fine Notification",
        "Add penalty",
    ),
    (
        "traffic_fines",
        "Finding: a fine that has been notified and for which, ninety days later, no penalty has been added.",
        "response",
        "Insert Fine Notification",
        "Add penalty",
    ),
    (
        "traffic_fines",
        "It counts as a violation if a fine is not sent within three months of its issue.",
        "response",
        "Create Fine",
        "Send Fine",
    ),
    (
        "traffic_fines",
        "A fine that is not sent within three months of its issue is a violation.",
        "response",
        "Create Fine",
        "Send Fine",
    ),
    (
        "traffic_fines",
        "Nobody may add a penalty to a fine that has been paid.",
        "not_response",
        "Payment",
        "Add penalty",
    ),
    (
        "traffic_fines",
        "Under no circumstances is a fine to be sent for collection after an appeal to the judge.",
        "not_response",
        "Appeal to Judge",
        "Send for Credit Collection",
    ),
    (
        "traffic_fines",
        "There must be no dispatch to credit collection after payment of the fine.",
        "not_response",
        "Payment",
        "Send for Credit Collection",
    ),
    (
        "traffic_fines",
        "A fine which has been paid must not be sent for collection any more.",
        "not_response",
        "Payment",
        "Send for Credit Collection",
    ),
    (
        "traffic_fines",
        "It is forbidden to send a fine for collection if it has been paid.",
        "not_response",
        "Payment",
        "Send for Credit Collection",
    ),
    (
        "traffic_fines",
        "Once paid, a fine is never sent for collection.",
        "not_response",
        "Payment",
        "Send for Credit Collection",
    ),
    (
        "running-example",
        "It must not happen that compensation is paid after the request has been rejected.",
        "not_response",
        "reject request",
        "pay compensation",
    ),
    (
        "running-example",
        "Paying compensation and rejecting the request in one and the same file is a serious error.",
        "not_coexistence",
        "pay compensation",
        "reject request",
    ),
    (
        "running-example",
        "It is wrong to decide on a request whose ticket nobody has checked.",
        "precedence",
        "check ticket",
        "decide",
    ),
    (
        "running-example",
        "Nobody should decide on a request before the ticket has been checked.",
        "precedence",
        "check ticket",
        "decide",
    ),
    (
        "running-example",
        "A decision with no check of the ticket before it will not be accepted.",
        "precedence",
        "check ticket",
        "decide",
    ),
    (
        "running-example",
        "No request may be rejected where compensation has already been paid.",
        "not_response",
        "pay compensation",
        "reject request",
    ),
    (
        "patients",
        "Checking a patient out without the results having been discussed is not permitted.",
        "precedence",
        "Discuss Results",
        "Check-out",
    ),
    (
        "patients",
        "I will not have patients checked out whose results have not been discussed.",
        "precedence",
        "Discuss Results",
        "Check-out",
    ),
    (
        "patients",
        "It is a mistake to take an X-ray of a patient who has not been triaged.",
        "precedence",
        "Triage and Assessment",
        "X-Ray",
    ),
    (
        "patients",
        "More than two blood tests on the same patient are not acceptable.",
        "absence",
        "Blood test",
    ),
    ("patients", "A patient may not be checked out twice.", "absence", "Check-out"),
    (
        "order_management",
        "Reminding a customer to pay once the order has been paid for is an offence against our policy.",
        "not_response",
        "pay order",
        "payment reminder",
    ),
    (
        "order_management",
        "Shipping a package before the order is confirmed: never.",
        "precedence",
        "confirm order",
        "send package",
    ),
    (
        "order_management",
        "It does not do to remind a customer to pay before the package has been delivered.",
        "precedence",
        "package delivered",
        "payment reminder",
    ),
    (
        "receipt",
        "Sending the confirmation of receipt without settling it first is a violation.",
        "precedence",
        "T04 Determine confirmation of receipt",
        "T05 Print and send confirmation of receipt",
    ),
    (
        "receipt",
        "Not acceptable: a confirmation of receipt sent although it was never checked.",
        "precedence",
        "T02 Check confirmation of receipt",
        "T05 Print and send confirmation of receipt",
    ),
    (
        "receipt",
        "It is a breach when the confirmation of receipt has been checked and is not settled within ten days.",
        "response",
        "T02 Check confirmation of receipt",
        "T04 Determine confirmation of receipt",
    ),
    (
        "running-example",
        "Nobody may decide on a request with an unchecked ticket.",
        "precedence",
        "check ticket",
        "decide",
    ),
    (
        "receipt",
        "An unchecked confirmation of receipt must not be sent.",
        "precedence",
        "T02 Check confirmation of receipt",
        "T05 Print and send confirmation of receipt",
    ),
    (
        "order_management",
        "Unconfirmed orders must not be packed.",
        "precedence",
        "confirm order",
        "create package",
    ),
    (
        "order_management",
        "No unconfirmed order may be shipped.",
        "precedence",
        "confirm order",
        "send package",
    ),
    (
        "traffic_fines",
        "A penalty is never added to an unnotified fine.",
        "precedence",
        "Insert Fine Notification",
        "Add penalty",
    ),
    (
        "order_management",
        "No package may be shipped by a person who has picked an item for that order.",
        "not_coexistence",
        "pick item",
        "send package",
    ),
    (
        "running-example",
        "It is not acceptable if the colleague who examined a request casually is the one who rejects it.",
        "not_coexistence",
        "examine casually",
        "reject request",
    ),
    (
        "running-example",
        "Whoever checks the ticket keeps out of the decision on the request.",
        "not_coexistence",
        "check ticket",
        "decide",
    ),
    (
        "receipt",
        "The clerk who checks the confirmation of receipt must not also settle it.",
        "not_coexistence",
        "T02 Check confirmation of receipt",
        "T04 Determine confirmation of receipt",
    ),
    (
        "traffic_fines",
        "The officer who issued the fine and the officer who adds the penalty must be two different people.",
        "not_coexistence",
        "Create Fine",
        "Add penalty",
    ),
    ("traffic_fines", "No penalty on fines that have been paid.", "not_response", "Payment", "Add penalty"),
    (
        "traffic_fines",
        "Not acceptable: a fine that is sent and never notified.",
        "response",
        "Send Fine",
        "Insert Fine Notification",
    ),
    (
        "patients",
        "A patient who was registered but left untriaged must not be checked out.",
        "precedence",
        "Triage and Assessment",
        "Check-out",
    ),
    (
        "patients",
        "Untriaged patients must not be scanned by MRI.",
        "precedence",
        "Triage and Assessment",
        "MRI SCAN",
    ),
    (
        "patients",
        "The same doctor must not triage and discuss.",
        "not_coexistence",
        "Triage and Assessment",
        "Discuss Results",
    ),
]


@lru_cache(maxsize=8)
def _scene(log: str) -> Context:
    return load_context(str(HERE / "real_logs" / f"{log}.context.yaml"))


@pytest.mark.parametrize(("log", "sentence", "template", "acts"), [(a, b, c, set(d)) for a, b, c, *d in BANS])
def test_a_ban_of_one_act_beside_another(log: str, sentence: str, template: str, acts: set[str]) -> None:
    scene = _scene(log)
    readings = read(sentence, scene.schema, scene.records.channels)
    found = [
        (SAME.get(s.best.template, s.best.template), set(s.best.activities)) for s in readings.statements
    ]
    assert found == [(template, acts)]


@pytest.mark.parametrize(
    ("sentence", "most"),
    [
        ("More than two blood tests on the same patient are not acceptable.", 2),
        ("A patient may not be checked out twice.", 1),
        ("No patient is scanned by MRI three times.", 2),
    ],
)
def test_once_too_often(sentence: str, most: int) -> None:
    scene = _scene("patients")
    (statement,) = read(sentence, scene.schema, scene.records.channels).statements
    assert (statement.best.template, statement.best.count) == ("absence", most + 1)


@pytest.mark.parametrize(
    ("sentence", "template"),
    [
        ("A fine must be sent for collection after the penalty was added.", "response"),
        ("A fine may be sent for collection only after the penalty was added.", "precedence"),
        ("Please have the penalty added once the fine was notified, not by the judge.", "response"),
    ],
)
def test_what_disapproves_of_nothing_stays_a_demand(sentence: str, template: str) -> None:
    scene = _scene("traffic_fines")
    (statement,) = read(sentence, scene.schema, scene.records.channels).statements
    assert statement.best.template == template


@pytest.mark.parametrize(
    ("log", "sentence", "days"),
    [
        ("traffic_fines", "Every fine that was issued must be sent. Ninety days is the limit.", 90),
        (
            "order_management",
            "When an order has been placed, Sales confirms it. They have two days for that.",
            2,
        ),
        (
            "running-example",
            "A registered request must be decided on. No more than three weeks may pass.",
            21,
        ),
        ("receipt", "Once the confirmation of receipt has been checked, settle it. One day is plenty.", 1),
    ],
)
def test_a_time_in_a_sentence_of_its_own(log: str, sentence: str, days: int) -> None:
    scene = _scene(log)
    (statement,) = read(sentence, scene.schema, scene.records.channels).statements
    assert statement.best.time is not None
    assert statement.best.time.duration == Duration(days=days)


def test_a_time_that_must_go_by_is_no_deadline() -> None:
    scene = _scene("traffic_fines")
    said = "After a penalty was added, the fine goes to collection. At least ninety days must pass."
    assert all(s.best.time is None for s in read(said, scene.schema, scene.records.channels).statements)


@pytest.mark.parametrize(
    ("log", "sentence", "acts"),
    [
        (
            "patients",
            "When an X-ray has been taken and the results have then been discussed, the patient must be checked out.",
            ("X-Ray", "Discuss Results", "Check-out"),
        ),
        (
            "traffic_fines",
            "Once the fine has been notified and afterwards a penalty has been added, it must be sent for collection.",
            ("Insert Fine Notification", "Add penalty", "Send for Credit Collection"),
        ),
    ],
)
def test_two_acts_in_turn_open_a_third(log: str, sentence: str, acts: tuple[str, str, str]) -> None:
    scene = _scene(log)
    (statement,) = read(sentence, scene.schema, scene.records.channels).statements
    best = statement.best
    assert best.template == "response"
    assert best.activation is not None
    assert best.after is not None
    assert (best.activation.activity, best.after.activity, best.targets[0].activity) == acts


def test_an_exception_in_the_meantime() -> None:
    scene = _scene("traffic_fines")
    said = "Once the fine is sent, it has to be notified within three weeks, unless it was paid{}."
    for words, meanwhile in ((" in the meantime", True), ("", False)):
        (statement,) = read(said.format(words), scene.schema, scene.records.channels).statements
        assert statement.best.exception is not None
        assert statement.best.exception.activity == "Payment"
        assert statement.best.meanwhile == meanwhile


@pytest.mark.parametrize(
    "sentence",
    [
        "It is not wrong to add a penalty after the fine was paid.",
        "There is nothing wrong with paying the fine before it was notified.",
        "It does not constitute a breach when a penalty is added after the fine was paid.",
        "Adding a penalty before the fine is notified is not forbidden.",
        "Nothing prevents the offender from paying the fine before it was notified.",
        "The fine need not be notified before it is paid.",
        "It is not necessary to add the penalty before the fine is sent for collection.",
    ],
)
def test_what_is_no_fault_or_not_needed_is_no_duty(sentence: str) -> None:
    scene = _scene("traffic_fines")
    readings = read(sentence, scene.schema, scene.records.channels)
    assert not readings.statements
    assert readings.unread


@pytest.mark.parametrize(
    "sentence",
    ["Not before 10 days have passed.", "Within ten days is too soon.", "Ten days is the minimum."],
)
def test_how_long_an_act_must_wait_is_no_deadline(sentence: str) -> None:
    scene = _scene("traffic_fines")
    (statement,) = read(f"The fine must be notified once it is sent. {sentence}", scene.schema).statements
    assert statement.best.time is None


@pytest.mark.parametrize(
    ("log", "sentence", "asked", "excuse"),
    [
        ("traffic_fines", "Fines that have not been paid must be sent for collection.", "Send for Credit Collection", "Payment"),
        ("traffic_fines", "A penalty must be added to fines that have not been paid.", "Add penalty", "Payment"),
        ("order_management", "Sales must remind customers who have not paid for the order.", "payment reminder", "pay order"),
    ],
)  # fmt: skip
def test_what_was_not_done_to_a_thing_is_no_ban_of_what_is_due(
    log: str, sentence: str, asked: str, excuse: str
) -> None:
    scene = _scene(log)
    (statement,) = read(sentence, scene.schema, scene.records.channels).statements
    best = statement.best
    assert (best.template, best.activities) == ("existence", (asked,))
    assert best.exception is not None
    assert best.exception.activity == excuse


def test_a_plain_ban_behind_a_duty_is_no_background() -> None:
    """The goal of docs/traffic-fines.md: both of its sentences are read."""
    context = load_context(HERE.parents[2] / "docs" / "contexts" / "traffic_fines.yaml", goalless=True)
    duty, ban = read(
        "Every fine must be paid within 60 days after it was notified, unless an appeal to the prefect is filed. "
        "A fine that has been appealed against is not sent for credit collection.",
        context.schema,
    ).statements
    assert (duty.best.template, duty.best.activities) == ("response", ("Insert Fine Notification", "Payment"))
    assert ban.best.template == "not_response"
    assert ban.best.activities == ("Insert Date Appeal to Prefecture", "Send for Credit Collection")


@pytest.mark.parametrize(
    ("log", "sentence", "template", "acts"),
    [
        ("patients", "There is to be no visit in which the results are not discussed.", "existence", ("Discuss Results",)),
        ("patients", "There must be no visit without a discussion of the results.", "existence", ("Discuss Results",)),
        ("patients", "No visit without triage.", "existence", ("Triage and Assessment",)),
        ("running-example", "There may not be a case in which the ticket is not checked.", "existence", ("check ticket",)),
        ("running-example", "No case may end without a decision on the request.", "existence", ("decide",)),
        ("running-example", "I do not want to see a single file in which the ticket has not been checked.", "existence", ("check ticket",)),
        ("running-example", "It is unacceptable that a ticket is not checked.", "existence", ("check ticket",)),
        ("running-example", "A file in which the ticket was not checked is incomplete.", "existence", ("check ticket",)),
        ("running-example", "It is not acceptable that the compensation is paid.", "absence", ("pay compensation",)),
        ("traffic_fines", "There shall be no fine that is not sent.", "existence", ("Send Fine",)),
        ("traffic_fines", "No fine may go unnotified.", "existence", ("Insert Fine Notification",)),
        ("traffic_fines", "There should be no file in which a penalty is added.", "absence", ("Add penalty",)),
        ("order_management", "There must be no order in which the goods are packed but the package is not shipped.", "response", ("create package", "send package")),
        ("traffic_fines", "There may be no penalty without a notification of the fine.", "precedence", ("Insert Fine Notification", "Add penalty")),
    ],
)  # fmt: skip
def test_no_case_may_lack_what_every_case_must_have(
    log: str, sentence: str, template: str, acts: tuple[str, ...]
) -> None:
    (statement,) = read(sentence, _scene(log).schema).statements
    assert (statement.best.template, statement.best.activities) == (template, acts)


@pytest.mark.parametrize(
    ("log", "sentence", "template", "acts"),
    [
        ("order_management", "A payment reminder must never be the very next thing after a failed delivery.", "not_chain_response", ("failed delivery", "payment reminder")),
        ("order_management", "The next thing after a failed delivery must not be a payment reminder.", "not_chain_response", ("failed delivery", "payment reminder")),
        ("order_management", "The next thing after a failed delivery must be a payment reminder.", "chain_response", ("failed delivery", "payment reminder")),
        ("order_management", "Directly after a failed delivery, no payment reminder may be sent.", "not_chain_response", ("failed delivery", "payment reminder")),
        ("order_management", "A failed delivery must not be followed directly by a payment reminder.", "not_chain_response", ("failed delivery", "payment reminder")),
        ("patients", "An X-ray may never directly follow an MRI scan.", "not_chain_response", ("MRI SCAN", "X-Ray")),
        ("running-example", "The step immediately before the payment of compensation must not be the check of the ticket.", "not_chain_response", ("check ticket", "pay compensation")),
        ("running-example", "The decision on the request must never be directly preceded by the registration of the request.", "not_chain_response", ("register request", "decide")),
        ("running-example", "Nobody may decide on the request immediately after registering it.", "not_chain_response", ("register request", "decide")),
        ("running-example", "Compensation may only be paid where the step immediately before it in the file is the decision on the request.", "chain_precedence", ("decide", "pay compensation")),
        ("running-example", "Compensation must not be paid unless the step immediately before it was the decision on the request.", "chain_precedence", ("decide", "pay compensation")),
        ("traffic_fines", "A penalty may only be added when the entry just before it is the notification of the fine.", "chain_precedence", ("Insert Fine Notification", "Add penalty")),
        ("patients", "A patient may be checked out only if the last thing done before was the discussion of the results.", "chain_precedence", ("Discuss Results", "Check-out")),
    ],
)  # fmt: skip
def test_what_stands_right_beside_an_act_keeps_its_polarity(
    log: str, sentence: str, template: str, acts: tuple[str, ...]
) -> None:
    (statement,) = read(sentence, _scene(log).schema).statements
    assert (statement.best.template, statement.best.activities) == (template, acts)
    assert statement.best.condition is None


@pytest.mark.parametrize(
    ("log", "sentence", "template", "acts", "who"),
    [
        ("receipt", "Whoever has created document X prints it as well.", "response", ("T11 Create document X request unlicensed", "T15 Print document X request unlicensed"), "same_person"),
        ("running-example", "The clerk who registers the request is also the one who checks the ticket.", "response", ("register request", "check ticket"), "same_person"),
        ("running-example", "The ticket is checked by the same person who registered the request.", "response", ("register request", "check ticket"), "same_person"),
        ("order_management", "Whoever packs the goods ships the package as well.", "response", ("create package", "send package"), "same_person"),
        ("order_management", "Please remember that a colleague who has packed the goods for an order may not be the one who ships the package afterwards.", "not_response", ("create package", "send package"), "same_person"),
        ("order_management", "After the goods have been packed, the package must not be shipped by another person.", "not_response", ("create package", "send package"), "another_person"),
        ("order_management", "Once an order has been confirmed by somebody, nobody else may pack its goods.", "not_response", ("confirm order", "create package"), "another_person"),
        ("running-example", "After the ticket was checked, no other person may decide on the request.", "not_response", ("check ticket", "decide"), "another_person"),
        ("running-example", "Whoever checked the ticket must not decide on the request afterwards.", "not_response", ("check ticket", "decide"), "same_person"),
        ("running-example", "It must never happen that one person checks the ticket and then decides on the request.", "not_response", ("check ticket", "decide"), "same_person"),
        ("running-example", "Nobody other than the clerk who registered the request may check the ticket.", "precedence", ("register request", "check ticket"), "same_person"),
        ("running-example", "No decision may be taken by anyone other than the clerk who checked the ticket.", "precedence", ("check ticket", "decide"), "same_person"),
        ("running-example", "Compensation must not be paid by somebody different from the one who decided on the request.", "precedence", ("decide", "pay compensation"), "same_person"),
        ("running-example", "Once the ticket has been checked, the decision must not be taken by that same clerk.", "not_response", ("check ticket", "decide"), "same_person"),
        ("traffic_fines", "A fined person who has appealed to the prefect must not be sent for collection.", "not_response", ("Insert Date Appeal to Prefecture", "Send for Credit Collection"), None),
    ],
)  # fmt: skip
def test_a_ban_or_duty_says_of_which_person_it_is(
    log: str, sentence: str, template: str, acts: tuple[str, ...], who: str | None
) -> None:
    (statement,) = read(sentence, _scene(log).schema).statements
    assert (statement.best.template, statement.best.activities) == (template, acts)
    assert statement.best.who == who


def test_who_does_an_act_as_well_is_nobody_in_particular_where_the_order_is_left_open() -> None:
    sentence = (
        "Anyone who takes a fine to the judge must also turn up in the file with an appeal to the prefect; "
        "I do not care which of the two came first."
    )
    (one,) = read(sentence, _scene("traffic_fines").schema).statements
    assert (one.best.template, one.best.who) == ("responded_existence", None)
