"""How many there may be and by when at the latest, however it is said; two things of which one must be and not both."""

from __future__ import annotations

import pytest
from test_reading_terse import SCHEMAS, told

from gnrs_ppl.reading.reader import read


def counts(text: str, schema: str) -> list[tuple[str, tuple[str, ...], int]]:
    found = [s.best for s in read(text, SCHEMAS[schema]).statements]
    return [(r.template, r.activities, r.count) for r in found]


@pytest.mark.parametrize(
    ("schema", "text", "act", "above"),
    [
        ("invoices", "There must not be more than one payment per invoice.", "Pay", 2),
        ("invoices", "There may not be more than two payments.", "Pay", 3),
        ("invoices", "An invoice must never be paid more than once.", "Pay", 2),
        ("invoices", "An invoice cannot be approved more than twice.", "Approve", 3),
        ("invoices", "The number of payments must not exceed three.", "Pay", 4),
        ("invoices", "The number of approvals is limited to two.", "Approve", 3),
        ("invoices", "There must be no second payment.", "Pay", 2),
        ("library", "No second reminder may be sent.", "Remind", 2),
        ("library", "There are never more than two reminders.", "Remind", 3),
        ("library", "At most one reservation per book.", "Reserve", 2),
        ("library", "There must be at most two reminders.", "Remind", 3),
        ("hospital", "There must be no more than two MRI scans.", "Scan", 3),
        ("hospital", "More than one MRI scan is forbidden.", "Scan", 2),
    ],
)
def test_so_often_and_no_oftener(schema: str, text: str, act: str, above: int) -> None:
    assert counts(text, schema) == [("absence", (act,), above)]


@pytest.mark.parametrize(
    ("schema", "text", "act", "least"),
    [
        ("invoices", "There must not be fewer than two approvals.", "Approve", 2),
        ("invoices", "The number of approvals must not fall below two.", "Approve", 2),
        ("invoices", "An invoice must be approved no less than twice.", "Approve", 2),
        ("library", "Fewer than two reminders are a breach.", "Remind", 2),
        ("library", "There must be more than two reminders.", "Remind", 3),
    ],
)
def test_so_often_at_least(schema: str, text: str, act: str, least: int) -> None:
    assert counts(text, schema) == [("existence", (act,), least)]


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ("library", "Reminders: first one no earlier than 14 days after the loan, and never more than two."),
        ("library", "A reminder may not be sent within 14 days after the loan, and no more than two."),
    ],
)
def test_how_many_behind_another_rule_is_one_of_its_own(schema: str, text: str) -> None:
    assert told(text, schema) == [
        ("not_response", ("Lend", "Remind"), "P14D"),
        ("absence", ("Remind",), ""),
    ]
    assert counts(text, schema)[1][2] == 3


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("Approved invoices have to be paid at once, the latest by the next day.", "P1D"),
        ("After approval, the invoice must be paid immediately, and within two days at the latest.", "P2D"),
        ("After approval, the invoice must be paid by the next day.", "P1D"),
        ("After approval, the invoice must be paid the following week at the latest.", "P7D"),
        ("The invoice must be paid without delay, at the latest within ten days after approval.", "P10D"),
    ],
)
def test_haste_beside_a_time_is_that_time(text: str, time: str) -> None:
    assert told(text, "invoices") == [("response", ("Approve", "Pay"), time)]


def test_haste_without_a_time_stays_haste() -> None:
    text = "After approval, the invoice must be paid immediately."
    assert told(text, "invoices") == [("chain_response", ("Approve", "Pay"), "")]


@pytest.mark.parametrize(
    ("schema", "text", "first", "then"),
    [
        ("invoices", "Unless there is an approval, a payment is forbidden.", "Approve", "Pay"),
        ("invoices", "Without an approval, a payment is not permitted.", "Approve", "Pay"),
        ("library", "Until there has been a reservation, a loan is out of the question.", "Reserve", "Lend"),
        ("hospital", "Unless there was a triage, an MRI scan is not allowed.", "Triage", "Scan"),
    ],
)
def test_what_is_forbidden_unless_the_other_is_there_comes_after_it(
    schema: str, text: str, first: str, then: str
) -> None:
    assert told(text, schema) == [("precedence", (first, then), "")]


@pytest.mark.parametrize(
    ("schema", "text", "one", "other"),
    [
        ("invoices", "Either the invoice is paid or it is rejected, but not both.", "Pay", "Reject"),
        (
            "invoices",
            "Either the invoice is paid or it ends up with a rejection; both is an error.",
            "Pay",
            "Reject",
        ),
        (
            "library",
            "Either the book must be returned or a late fee must be charged, but never both.",
            "Return",
            "Charge",
        ),
        (
            "hospital",
            "Either an X-ray is taken or the patient is scanned by MRI. Both is forbidden.",
            "X-ray",
            "Scan",
        ),
    ],
)
def test_one_of_two_and_not_both(schema: str, text: str, one: str, other: str) -> None:
    found = [(s.best.template, {*s.best.activities}) for s in read(text, SCHEMAS[schema]).statements]
    assert found == [("existence", {one, other}), ("not_coexistence", {one, other})]


@pytest.mark.parametrize(
    ("schema", "text", "verb"),
    [
        (
            "invoices",
            "A payment is only allowed if the invoice was approved, or a director has waived it.",
            "waived",
        ),
        ("library", "A book may only be lent if it was reserved or the director has agreed to it.", "agreed"),
        (
            "hospital",
            "A patient may be checked out only if an X-ray was taken, or the relatives have objected.",
            "objected",
        ),
        (
            "library",
            "A late fee must be charged unless the book was returned or the reader has moved away.",
            "moved",
        ),
    ],
)
def test_another_way_that_nobody_records_is_told(schema: str, text: str, verb: str) -> None:
    readings = read(text, SCHEMAS[schema])
    assert [readings.words(u.span) for u in readings.unread if u.another] == [verb]


def test_another_way_that_is_recorded_is_read() -> None:
    text = "A book may only be lent if it was reserved or it was stamped."
    found = read(text, SCHEMAS["library"])
    assert not any(u.another for u in found.unread)
    assert [s.best.template for s in found.statements] == ["precedence"]


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ("library", "A reservation without a prior weighing is not allowed."),
        ("invoices", "A payment without a stocktaking is forbidden."),
    ],
)
def test_what_is_barred_without_something_unrecorded_is_not_barred_altogether(schema: str, text: str) -> None:
    assert not told(text, schema)


def test_every_case_ends_with_what_is_said() -> None:
    text = "Every invoice ends with a payment or a rejection."
    found = [(s.best.template, {*s.best.activities}) for s in read(text, SCHEMAS["invoices"]).statements]
    assert found == [("end", {"Pay", "Reject"})]
