"""Terse, headed and numbered texts, read as the whole sentences they stand for; what defines and states no ban."""

from __future__ import annotations

import pytest

from gnrs_ppl.context.types import Schema
from gnrs_ppl.reading.reader import read

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


@pytest.mark.parametrize(
    ("schema", "text", "acts"),
    [
        ("hospital", "X-ray: fine. MRI scan: fine. The two of them on one visit: never.", {"X-ray", "Scan"}),
        ("hospital", "An X-ray is okay, an MRI scan is okay. The two together in one file: never.", {"X-ray", "Scan"}),
        ("invoices", "Some invoices get paid, some rejected. Both on the same file must never occur.", {"Pay", "Reject"}),
        ("invoices", "There is payment, and there is rejection. No case may have both of them.", {"Pay", "Reject"}),
        ("library", "A reminder: okay. A reservation: okay. These two must not meet in one and the same case.", {"Remind", "Reserve"}),
        ("invoices", "Payment and rejection are incompatible; in whatever order, the two must not occur in one case.", {"Pay", "Reject"}),
    ],
)  # fmt: skip
def test_the_two_that_may_not_stand_in_one_case(schema: str, text: str, acts: set[str]) -> None:
    ((template, found, _),) = told(text, schema)
    assert template == "not_coexistence"
    assert set(found) == acts


def test_two_that_are_not_known_are_told_as_no_such_act() -> None:
    readings = read(
        "Fumigation: all right. Payment: all right. The two in one case: never.", SCHEMAS["invoices"]
    )
    assert any(u.another for u in readings.unread)


@pytest.mark.parametrize(
    ("text", "template", "acts"),
    [
        ("Some invoices are archived, others rejected. One of these two must be the last entry of each file.", "end", ("Archive", "Reject")),
        ("Some invoices end paid, others in a rejection. One of the two has to be the closing entry of every file.", "end", ("Pay", "Reject")),
        ("The invoice may be paid or rejected. Either one or the other must close the file.", "end", ("Pay", "Reject")),
        ("The invoice is posted before anything else is written in its file.", "init", ("Post",)),
        ("Before anything else is entered, the invoice must be posted.", "init", ("Post",)),
        ("Rule one: the invoice gets posted before any other entry is made in its file, always.", "init", ("Post",)),
        ("Archiving of the invoice, with nothing recorded after it.", "end", ("Archive",)),
        ("What comes last in every file? The archiving of the invoice.", "end", ("Archive",)),
        ("And what do we want to see at the bottom of each file? The archiving, with nothing after it.", "end", ("Archive",)),
        ("What must stand at the top of each file? The posting of the invoice.", "init", ("Post",)),
    ],
)  # fmt: skip
def test_the_first_and_the_last_act(text: str, template: str, acts: tuple[str, ...]) -> None:
    assert told(text, "invoices") == [(template, acts, "")]


@pytest.mark.parametrize(
    ("schema", "text", "act"),
    [
        ("invoices", "One invoice, one payment. Not two, not none.", "Pay"),
        ("invoices", "Each invoice gets a single approval - neither none nor two.", "Approve"),
        ("library", "There has to be one stamping of the book per file. No more, no less.", "Stamp"),
        ("library", "One loan, one reminder. No more and no fewer.", "Remind"),
        ("hospital", "There has to be a single triage. Fails with zero, fails with two.", "Triage"),
    ],
)
def test_neither_none_nor_two_is_exactly_one(schema: str, text: str, act: str) -> None:
    assert told(text, schema) == [("exactly", (act,), "")]


@pytest.mark.parametrize(
    ("schema", "text", "acts"),
    [
        ("invoices", "Posting must lead to approval, approval must lead to payment.", ("Post", "Approve", "Pay")),
        ("invoices", "Posting must be followed by approval and approval must be followed by payment.", ("Post", "Approve", "Pay")),
        ("library", "Each return has to result in a stamping; a stamping has to result in the shelving of the book.", ("Return", "Stamp", "Shelve")),
        ("hospital", "Registration must entail a triage, and a triage must entail an X-ray.", ("Register", "Triage", "X-ray")),
    ],
)  # fmt: skip
def test_one_act_leads_to_the_next_and_that_to_a_third(schema: str, text: str, acts: tuple[str, ...]) -> None:
    assert told(text, schema) == [("response", acts[:2], ""), ("response", acts[1:], "")]


@pytest.mark.parametrize(
    ("schema", "text", "template", "acts"),
    [
        ("invoices", "Payment: only immediately after the approval, with no other step in between.", "chain_precedence", ("Approve", "Pay")),
        ("library", "• Shelving of the book: only straight after the stamping, with nothing in between", "chain_precedence", ("Stamp", "Shelve")),
        ("invoices", "A posted invoice has to be approved, and nothing at all may come in between.", "chain_response", ("Post", "Approve")),
        ("library", "Once the book is returned it must be stamped and no other entry whatsoever may slip in between.", "chain_response", ("Return", "Stamp")),
    ],
)  # fmt: skip
def test_nothing_gets_in_between(schema: str, text: str, template: str, acts: tuple[str, ...]) -> None:
    assert told(text, schema) == [(template, acts, "")]


@pytest.mark.parametrize(
    ("schema", "text", "acts", "time"),
    [
        (
            "library",
            "• Loan of a book: reminder max. 14 days after it took place",
            ("Lend", "Remind"),
            "P14D",
        ),
        (
            "invoices",
            "• Posting of the invoice: approval max. 5 days after it is done",
            ("Post", "Approve"),
            "P5D",
        ),
        ("hospital", "Triage: X-ray within two days after it", ("Triage", "X-ray"), "P2D"),
    ],
)
def test_what_a_heading_tells_opens_what_is_due_after_it(
    schema: str, text: str, acts: tuple[str, ...], time: str
) -> None:
    assert told(text, schema) == [("response", acts, time)]


@pytest.mark.parametrize(
    "text",
    [
        "Payment is ruled out where the invoice was rejected earlier.",
        "Payment is forbidden where the invoice has previously been rejected.",
        "Payment shall be precluded once the invoice has been rejected.",
    ],
)
def test_what_is_ruled_out_where_something_was_done_may_not_follow_it(text: str) -> None:
    (statement,) = read(text, SCHEMAS["invoices"]).statements
    best = statement.best
    assert best.activation is not None
    opener, target = best.activation.activity, best.targets[0].activity
    wanted = {"not_response": ("Reject", "Pay"), "not_precedence": ("Pay", "Reject")}
    assert wanted.get(best.template) == (opener, target)
