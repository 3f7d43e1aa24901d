"""Acts told by nouns, where the verb is empty: "any loan by a trainee is prohibited", "completion of the check is mandatory"."""

from __future__ import annotations

import pytest

from gnrs_ppl.context.types import Schema
from gnrs_ppl.reading import Readings
from gnrs_ppl.reading.reader import read

LIBRARY = Schema.model_validate(
    {
        "roles": [{"name": "librarian"}, {"name": "trainee"}, {"name": "reader"}],
        "objects": [{"name": "atlas", "plural": "atlases"}],
        "actions": [
            {"name": "Lend", "phrase": "lend the book", "noun": "loan"},
            {"name": "Return", "phrase": "return the book", "noun": "return"},
            {"name": "Repair", "phrase": "repair the book", "noun": "repair"},
            {"name": "CheckIn", "phrase": "check in", "noun": "check-in"},
            {"name": "CheckOut", "phrase": "check out", "noun": "check-out"},
        ],
    }
)
HOSPITAL = Schema.model_validate(
    {
        "roles": [{"name": "nurse"}, {"name": "doctor"}, {"name": "porter"}],
        "locations": [{"name": "ward"}, {"name": "theatre", "phrase": "operating theatre"}],
        "actions": [
            {"name": "Examine", "phrase": "examine the patient", "noun": "examination of the patient"},
            {"name": "Discharge", "phrase": "discharge the patient", "noun": "discharge of the patient"},
            {"name": "Notify", "phrase": "notify the family", "noun": "notification of the family"},
            {"name": "Enter", "phrase": "enter", "noun": "entry"},
        ],
    }
)
INVOICES = Schema.model_validate(
    {
        "roles": [{"name": "clerk"}, {"name": "manager"}],
        "actions": [
            {"name": "Approve", "phrase": "approve the invoice", "noun": "approval"},
            {"name": "Pay", "phrase": "pay the invoice", "noun": "payment"},
            {"name": "Record", "phrase": "record the invoice", "noun": "recording"},
            {"name": "Complete", "phrase": "complete the form", "noun": "completion of the form"},
        ],
    }
)
TENDERS = Schema.model_validate(
    {
        "roles": [{"name": "bidder"}, {"name": "officer"}],
        "actions": [
            {"name": "Publish", "phrase": "publish the tender", "noun": "publication of the tender"},
            {"name": "Award", "phrase": "award the contract", "noun": "award of the contract"},
            {"name": "Exclude", "phrase": "exclude a bidder", "noun": "exclusion"},
            {"name": "Evaluate", "phrase": "evaluate the bids", "noun": "evaluation of the bids"},
        ],
    }
)


def told(readings: Readings) -> list[tuple[str, tuple[str, ...], str]]:
    found = [s.best for s in readings.statements]
    return [
        (r.template, r.activities, r.time.duration.isoformat() if r.time and r.time.duration else "")
        for r in found
    ]


def bearers(readings: Readings) -> list[str]:
    return [b.name for s in readings.statements for b in s.best.bearers]


@pytest.mark.parametrize(
    ("schema", "sentence", "act", "who"),
    [
        (LIBRARY, "Any loan of a book by a trainee is prohibited.", "Lend", ["trainee"]),
        (LIBRARY, "Repair of the book by readers is ruled out.", "Repair", ["reader"]),
        (HOSPITAL, "The discharge of the patient by a nurse is inadmissible.", "Discharge", ["nurse"]),
        (HOSPITAL, "Notification of the family by porters shall not take place.", "Notify", ["porter"]),
        (INVOICES, "No payment of the invoice by a clerk may take place.", "Pay", ["clerk"]),
        (TENDERS, "Publication of the tender by bidders is forbidden.", "Publish", ["bidder"]),
    ],
)
def test_what_is_said_to_be_banned_by_its_noun_is_banned(
    schema: Schema, sentence: str, act: str, who: list[str]
) -> None:
    readings = read(sentence, schema)
    assert told(readings) == [("absence", (act,), "")]
    assert bearers(readings) == who


@pytest.mark.parametrize(
    ("schema", "sentence", "wanted", "who"),
    [
        (LIBRARY, "Repair of the book by a librarian is compulsory.", ("existence", ("Repair",), ""), ["librarian"]),
        (
            HOSPITAL,
            "Examining of the patient must be carried out by a doctor not later than one hour after the entry.",
            ("response", ("Enter", "Examine"), "PT1H"),
            ["doctor"],
        ),
        (
            INVOICES,
            "Recording of the invoice has to be effected by the clerk within two days of payment.",
            ("response", ("Pay", "Record"), "P2D"),
            ["clerk"],
        ),
        (TENDERS, "Evaluation of the bids by the officer is to take place.", ("existence", ("Evaluate",), ""), ["officer"]),
    ],
)  # fmt: skip
def test_what_is_said_to_be_required_by_its_noun_is_a_duty(
    schema: Schema, sentence: str, wanted: tuple[str, tuple[str, ...], str], who: list[str]
) -> None:
    readings = read(sentence, schema)
    assert told(readings) == [wanted]
    assert bearers(readings) == who


@pytest.mark.parametrize(
    ("schema", "sentence", "first", "then"),
    [
        (INVOICES, "In the absence of approval, payment of the invoice by the clerk is prohibited.", "Approve", "Pay"),
        (INVOICES, "Without approval of the invoice, recording of the invoice is not permitted.", "Approve", "Record"),
        (HOSPITAL, "Absent notification of the family, discharge of the patient is inadmissible.", "Notify", "Discharge"),
        (TENDERS, "Failing an evaluation of the bids, award of the contract by the officer is ruled out.", "Evaluate", "Award"),
        (TENDERS, "Only after evaluation of the bids has been completed is award of the contract permitted.", "Evaluate", "Award"),
        (HOSPITAL, "Discharge of the patient is permissible only if the family has first been notified.", "Notify", "Discharge"),
    ],
)  # fmt: skip
def test_what_is_banned_without_something_comes_after_it(
    schema: Schema, sentence: str, first: str, then: str
) -> None:
    assert told(read(sentence, schema)) == [("precedence", (first, then), "")]


def test_an_act_allowed_only_if_two_were_done_has_both_conditions() -> None:
    sentence = (
        "Only if an examination of the patient has been held beforehand, and notification of the family follows within "
        "two hours, is entry permitted to a porter."
    )
    assert told(read(sentence, HOSPITAL)) == [
        ("precedence", ("Examine", "Enter"), ""),
        ("response", ("Examine", "Notify"), "PT2H"),
    ]


@pytest.mark.parametrize(
    ("schema", "sentence", "wanted"),
    [
        (
            HOSPITAL,
            "Examination of the patient is to be followed, not more than ten minutes thereafter, by notification of the family.",
            ("response", ("Examine", "Notify"), "PT10M"),
        ),
        (
            INVOICES,
            "The approval must be followed, within three days, by payment of the invoice by the clerk.",
            ("response", ("Approve", "Pay"), "P3D"),
        ),
        (LIBRARY, "The loan must be followed, within two weeks at most, by return of the book.", ("response", ("Lend", "Return"), "P14D")),
        (TENDERS, "Award of the contract is to be preceded by evaluation of the bids.", ("precedence", ("Evaluate", "Award"), "")),
    ],
)  # fmt: skip
def test_what_is_followed_by_something_opens_it(
    schema: Schema, sentence: str, wanted: tuple[str, tuple[str, ...], str]
) -> None:
    assert told(read(sentence, schema)) == [wanted]


def test_a_clause_on_somebody_binds_by_itself() -> None:
    sentence = (
        "Within ten minutes of the discharge, the family is to be notified by the nurse, to whom entry into the operating "
        "theatre is prohibited."
    )
    readings = read(sentence, HOSPITAL)
    assert told(readings) == [
        ("response", ("Discharge", "Notify"), "PT10M"),
        ("absence", ("Enter",), ""),
    ]
    assert bearers(readings) == ["nurse", "nurse"]


@pytest.mark.parametrize(
    "sentence",
    [
        "Mere entry shall not be deemed an examination.",
        "A chat in the ward is not to be regarded as notification of the family.",
        "A look at the chart must not be taken for an examination of the patient.",
        "The entry of a porter is not to be considered a discharge.",
    ],
)
def test_what_is_not_deemed_something_bans_nothing(sentence: str) -> None:
    assert told(read(sentence, HOSPITAL)) == []


@pytest.mark.parametrize(
    ("schema", "sentence", "unwanted"),
    [
        (TENDERS, "No bidder is to be excluded.", "Award"),
        (INVOICES, "No approval is required.", "Approve"),
        (INVOICES, "Payment of the invoice is not mandatory.", "Pay"),
        (INVOICES, "No payment of the invoice is necessary before recording.", "Pay"),
    ],
)
def test_what_is_no_ban_of_a_noun_stays_none(schema: Schema, sentence: str, unwanted: str) -> None:
    assert all(unwanted not in acts for _, acts, _ in told(read(sentence, schema)))


def test_excluding_may_be_the_act() -> None:
    assert told(read("No bidder is to be excluded.", TENDERS)) == [("absence", ("Exclude",), "")]
    assert told(read("The form must be completed.", INVOICES)) == [("existence", ("Complete",), "")]
    assert told(read("Without consent of the manager, payment is prohibited.", INVOICES)) == []


@pytest.mark.parametrize(
    ("sentence", "wanted"),
    [
        (
            "After the loan, registration of departure must follow within ten minutes.",
            ("response", ("Lend", "CheckOut"), "PT10M"),
        ),
        (
            "Registration of departure must be completed by the reader within one hour of the return.",
            ("response", ("Return", "CheckOut"), "PT1H"),
        ),
        ("Readers must not repair a book before registration of arrival.", ("precedence", ("CheckIn", "Repair"), "")),
        ("Recording of departure by the trainee is mandatory.", ("existence", ("CheckOut",), "")),
    ],
)  # fmt: skip
def test_what_is_registered_tells_the_act(sentence: str, wanted: tuple[str, tuple[str, ...], str]) -> None:
    assert told(read(sentence, LIBRARY)) == [wanted]


def test_what_befell_several_opens_no_duty_told_by_a_noun() -> None:
    sentence = "Following the loss of several books, repair of the book by a librarian is mandatory."
    assert told(read(sentence, LIBRARY)) == [("existence", ("Repair",), "")]


def test_an_act_must_not_be_left_out_where_its_absence_is_banned() -> None:
    assert told(read("Omission of the repair of the book is prohibited.", LIBRARY)) == [
        ("existence", ("Repair",), "")
    ]
    assert told(read("The absence of a loan is not permitted.", LIBRARY)) == [("existence", ("Lend",), "")]
