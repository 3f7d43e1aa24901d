"""What was not done supposes, excuses or bars: never is it asked for because words say that it is lacking."""

from __future__ import annotations

import pytest

from gnrs_ppl.reading import Reading
from gnrs_ppl.reading.reader import read
from tests.test_reading_terse import SCHEMAS


def best(text: str, schema: str) -> list[Reading]:
    return [s.best for s in read(text, SCHEMAS[schema]).statements]


@pytest.mark.parametrize(
    ("schema", "text", "earlier", "barred"),
    [
        ("invoices", "The invoice may only be rejected if no payment was made.", "Pay", "Reject"),
        ("invoices", "An invoice may be archived only where it has not been rejected.", "Reject", "Archive"),
        ("library", "A reminder may be sent only if the book has not been returned.", "Return", "Remind"),
        ("hospital", "The MRI scan may be done only if no X-ray was taken.", "X-ray", "Scan"),
    ],
)
def test_what_is_only_allowed_where_something_was_not_done_is_barred_by_it(
    schema: str, text: str, earlier: str, barred: str
) -> None:
    (reading,) = best(text, schema)
    assert reading.activation is not None
    told = (reading.template, reading.activation.activity, reading.targets[0].activity)
    assert told in (("not_response", earlier, barred), ("not_precedence", barred, earlier))


@pytest.mark.parametrize(
    ("schema", "text", "opener", "due", "excuse"),
    [
        ("invoices", "An invoice must be paid where it was approved and has not been rejected.", "Approve", "Pay", "Reject"),
        ("invoices", "If the invoice was posted and no payment was made, it must be rejected.", "Post", "Reject", "Pay"),
        ("invoices", "If the invoice was approved and has not been rejected, it must be paid.", "Approve", "Pay", "Reject"),
        ("library", "Where a book was lent and has not been returned, a reminder must be sent.", "Lend", "Remind", "Return"),
        ("library", "A reminder must be sent if the book was lent and has not been returned.", "Lend", "Remind", "Return"),
    ],
)  # fmt: skip
def test_what_was_done_opens_and_what_was_not_done_would_excuse(
    schema: str, text: str, opener: str, due: str, excuse: str
) -> None:
    (reading,) = best(text, schema)
    assert reading.activation is not None
    assert reading.exception is not None
    assert (reading.template, reading.activation.activity, reading.targets[0].activity) == (
        "response",
        opener,
        due,
    )
    assert reading.exception.activity == excuse


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ("hospital", "No patient dances without having been triaged."),
        ("hospital", "Nobody drives home without having been triaged."),
        ("invoices", "No manager travels without having approved the invoice."),
    ],
)
def test_what_may_not_be_lacking_for_an_act_nobody_records_is_not_banned(schema: str, text: str) -> None:
    readings = read(text, SCHEMAS[schema])
    assert not readings.statements
    assert readings.nothing == "no_such_act"


@pytest.mark.parametrize(
    ("text", "template", "opener", "due"),
    [
        ("Payment must be made before the invoice is archived.", "precedence", "Archive", "Pay"),
        (
            "A payment must be made within ten days after the approval of the invoice.",
            "response",
            "Approve",
            "Pay",
        ),
    ],
)
def test_what_is_made_of_a_noun_tells_its_act_once(text: str, template: str, opener: str, due: str) -> None:
    (reading,) = best(text, "invoices")
    assert reading.activation is not None
    told = (reading.template, reading.activation.activity, reading.targets[0].activity)
    assert told == (template, opener, due)


@pytest.mark.parametrize(
    ("schema", "text", "opener", "due"),
    [
        ("invoices", "The invoice must be archived if it was rejected.", "Reject", "Archive"),
        ("invoices", "An invoice has to be paid where it has been approved.", "Approve", "Pay"),
        ("library", "A late fee must be charged if a reminder was sent.", "Remind", "Charge"),
        ("hospital", "The patient must be scanned by MRI if an X-ray was taken.", "X-ray", "Scan"),
    ],
)
def test_what_is_due_if_another_act_was_done_is_due_after_it(
    schema: str, text: str, opener: str, due: str
) -> None:
    (reading,) = best(text, schema)
    assert reading.activation is not None
    assert (reading.template, reading.activation.activity, reading.targets[0].activity) == (
        "response",
        opener,
        due,
    )


def test_what_may_be_done_only_if_another_act_was_done_comes_behind_it() -> None:
    (reading,) = best("The invoice may be paid only if it was approved.", "invoices")
    assert reading.activation is not None
    assert (reading.template, reading.activation.activity, reading.targets[0].activity) == (
        "precedence",
        "Pay",
        "Approve",
    )


def test_what_may_be_done_once_another_act_was_is_not_banned_outright_too() -> None:
    readings = best(
        "An invoice must be approved, and before that, not one invoice gets to be paid.", "invoices"
    )
    assert not [r for r in readings if r.template == "absence" and r.targets[0].activity == "Pay"]


def test_somebody_told_by_what_else_they_did_is_compared_and_bears_no_duty() -> None:
    text = "The payment of the invoice shall not be carried out by a person who has approved it."
    (reading,) = best(text, "invoices")
    assert reading.who == "same_person"
