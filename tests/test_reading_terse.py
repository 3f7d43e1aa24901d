"""Terse, headed and numbered texts, read as the whole sentences they stand for; what defines and states no ban."""

from __future__ import annotations

import pytest

from gnrs_ppl.context.types import Schema
from gnrs_ppl.reading import read

LIBRARY = {
    "Lend": ("lend the book", "loan of the book"),
    "Return": ("return the book", "return of the book"),
    "Stamp": ("stamp the book", "stamping of the book"),
    "Shelve": ("shelve the book", "shelving of the book"),
    "Charge": ("charge a late fee", "charging of a late fee"),
    "Reserve": ("reserve the book", "reservation of the book"),
    "Remind": ("send a reminder", "reminder"),
}
INVOICES = {
    "Post": ("post the invoice", "posting of the invoice"),
    "Approve": ("approve the invoice", "approval of the invoice"),
    "Pay": ("pay the invoice", "payment of the invoice"),
    "Reject": ("reject the invoice", "rejection of the invoice"),
    "Archive": ("archive the invoice", "archiving of the invoice"),
}
HOSPITAL = {
    "Triage": ("triage the patient", "triage of the patient"),
    "Register": ("register the patient", "registration of the patient"),
    "X-ray": ("take an X-ray", "X-ray"),
    "Scan": ("scan the patient by MRI", "MRI scan"),
    "Check-out": ("check the patient out", "check-out of the patient"),
}


def _schema(acts: dict[str, tuple[str, str]], *objects: str) -> Schema:
    actions = [{"name": n, "phrase": phrase, "noun": noun} for n, (phrase, noun) in acts.items()]
    return Schema.model_validate({"actions": actions, "objects": [{"name": o} for o in objects]})


SCHEMAS = {
    "library": _schema(LIBRARY, "book"),
    "invoices": _schema(INVOICES, "invoice"),
    "hospital": _schema(HOSPITAL, "patient"),
}


def told(text: str, schema: str) -> list[tuple[str, tuple[str, ...], str]]:
    found = [s.best for s in read(text, SCHEMAS[schema]).statements]
    return [
        (r.template, r.activities, r.time.duration.isoformat() if r.time and r.time.duration else "")
        for r in found
    ]


@pytest.mark.parametrize(
    ("schema", "text", "first", "then"),
    [
        ("invoices", "No approval, no payment.", "Approve", "Pay"),
        ("invoices", "It is simple: no approval means no payment.", "Approve", "Pay"),
        ("library", "Remember: no reservation, no loan.", "Reserve", "Lend"),
        ("hospital", "No triage? No MRI scan.", "Triage", "Scan"),
        ("hospital", "No registration, no check-out!", "Register", "Check-out"),
    ],
)
def test_the_one_thing_not_without_the_other(schema: str, text: str, first: str, then: str) -> None:
    assert told(text, schema) == [("precedence", (first, then), "")]


@pytest.mark.parametrize(
    "text",
    [
        "No weighing, no payment.",
        "No payment without weighing.",
        "Nobody may pay the invoice without weighing it.",
        "No invoice may be paid before stocktaking.",
        "No approval, no celebration.",
    ],
)
def test_a_ban_without_what_no_act_tells_is_no_ban_of_every_case(text: str) -> None:
    readings = read(text, SCHEMAS["invoices"])
    assert not readings.statements
    assert readings.nothing == "no_such_act"


@pytest.mark.parametrize(
    "label",
    [
        "REQ-19: ",
        "TC-88, acceptance criterion: ",
        "Article 14. ",
        "9.3 ",
        "Item 5. Agreed: ",
        "Finding 4.1. ",
        "• ",
        "§ 8 ",
        "Control AC-2(1): ",
        "BUG-1187: paid an invoice and nobody had approved it. Expected: ",
        "TC-3: Pass only if ",
    ],
)
def test_what_numbers_or_files_a_text_is_no_content(label: str) -> None:
    text = f"{label}Every invoice is approved within two days after it was posted."
    assert told(text, "invoices") == [("response", ("Post", "Approve"), "P2D")]
    unread = read(text, SCHEMAS["invoices"]).unread
    assert all(u.span.start >= len(label) for u in unread)


def test_a_time_at_the_beginning_is_no_label() -> None:
    text = "14 days after a loan at the latest, a reminder must be sent."
    assert told(text, "library") == [("response", ("Lend", "Remind"), "P14D")]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Passes if the invoice was approved before it was paid.", ("precedence", ("Approve", "Pay"), "")),
        ("Test 2. Fails if an invoice is paid after it was rejected.", ("not_response", ("Reject", "Pay"), "")),
        ("The test passes only if the invoice was archived.", ("existence", ("Archive",), "")),
        ("Archiving: mandatory in every single case.", ("existence", ("Archive",), "")),
    ],
)  # fmt: skip
def test_what_a_test_asks_and_what_only_stresses(text: str, wanted: tuple[str, tuple[str, ...], str]) -> None:
    assert told(text, "invoices") == [wanted]


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ("invoices", "It is noted that the mere posting of an invoice does not count as its approval."),
        ("invoices", "Posting an invoice alone doesn't make anyone its approver."),
        ("invoices", "The auditors note that merely archiving an invoice does not amount to a payment."),
        ("library", "A reservation isn't one."),
        ("library", "Charging a late fee isn't a reminder."),
        ("hospital", "An X-ray isn't a triage and never was."),
        ("hospital", "A scan on its own won't turn it into a check-out."),
    ],
)
def test_what_something_is_not_bans_nothing(schema: str, text: str) -> None:
    assert not told(text, schema)
    rule = "Every loan must be followed by a reminder. " if schema == "library" else ""
    assert told(rule + text, schema) == ([("response", ("Lend", "Remind"), "")] if rule else [])
