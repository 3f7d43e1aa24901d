"""Duties told by what was said before them: items of a list, "once that is out", "the same applies to …"."""

from __future__ import annotations

import pytest

from gnrs_ppl.context.types import Attribute, Schema
from gnrs_ppl.reading import Readings
from gnrs_ppl.reading.otherwise import set_apart
from gnrs_ppl.reading.reader import read

SCHEMA = Schema.model_validate(
    {
        "objects": [{"name": "fine"}, {"name": "report_y", "phrase": "report Y"}, {"name": "document_x", "phrase": "document X"}],
        "actions": [
            {"name": "Issue", "phrase": "issue the fine", "noun": "issue of the fine"},
            {"name": "Send", "phrase": "send the fine", "noun": "dispatch of the fine"},
            {"name": "Notify", "phrase": "have the fine notified", "noun": "notification of the fine"},
            {"name": "Pay", "phrase": "pay the fine", "noun": "payment of the fine"},
            {"name": "Print X", "phrase": "print document X"},
            {"name": "Check X", "phrase": "check document X"},
            {"name": "Check Y", "phrase": "check report Y"},
            {"name": "Print Y", "phrase": "print report Y"},
            {"name": "Draft X", "phrase": "draft document X"},
        ],
    }
)  # fmt: skip


def told(readings: Readings) -> list[tuple[str, tuple[str, ...], str]]:
    found = [s.best for s in readings.statements]
    return [
        (r.template, r.activities, r.time.duration.isoformat() if r.time and r.time.duration else "")
        for r in found
    ]


@pytest.mark.parametrize(
    "opening",
    [
        "Once that is out,",
        "After that,",
        "As soon as this has happened,",
        "When it is done,",
        "Once this has been done,",
    ],
)
def test_what_comes_after_that_is_opened_by_it(opening: str) -> None:
    sentence = (
        f"The fine must be sent within 90 days after its issue. {opening} it must be notified within 60 days."
    )
    readings = read(sentence, SCHEMA)
    assert told(readings) == [
        ("response", ("Issue", "Send"), "P90D"),
        ("response", ("Send", "Notify"), "P60D"),
    ]
    opener = readings.statements[1].best.activation
    assert opener is not None
    assert readings.words(opener.span) == opening.rstrip(",")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "After the fine is notified:\n- it must be paid within 60 days\n- document X must not be printed.",
            [("response", ("Notify", "Pay"), "P60D"), ("not_response", ("Notify", "Print X"), "")],
        ),
        (
            "Within 90 days after its issue, the fine must be:\n* sent, and\n* notified.",
            [("response", ("Issue", "Send"), "P90D"), ("response", ("Issue", "Notify"), "P90D")],
        ),
        (
            "The following must happen before the fine is paid:\n1. the fine is sent,\n2. the fine is notified.",
            [("precedence", ("Send", "Pay"), ""), ("precedence", ("Notify", "Pay"), "")],
        ),
    ],
)
def test_each_item_of_a_list_is_a_statement(
    text: str, wanted: list[tuple[str, tuple[str, ...], str]]
) -> None:
    readings = read(text, SCHEMA)
    assert told(readings) == wanted
    for statement in readings.statements:
        for act in statement.best.targets:
            assert 0 <= act.span.start < act.span.end <= len(text)


def test_the_same_for_another_thing() -> None:
    readings = read("Document X must be checked before it is printed. The same applies to report Y.", SCHEMA)
    assert told(readings) == [
        ("precedence", ("Check X", "Print X"), ""),
        ("precedence", ("Check Y", "Print Y"), ""),
    ]


def test_the_same_for_what_has_no_such_act_is_not_read() -> None:
    readings = read("Document X must be checked after it was drafted. The same applies to report Y.", SCHEMA)
    assert told(readings) == [("response", ("Draft X", "Check X"), "")]
    assert [readings.words(u.span) for u in readings.unread] == ["The same applies to report Y"]


def test_a_condition_of_the_lead_holds_for_every_item() -> None:
    amount = Attribute.model_validate({"name": "amount", "type": "number", "unit": "EUR", "of": "case"})
    text = "After a fine above 100 euros is issued:\n- it must be sent\n- it must be paid within 60 days."
    readings = read(text, SCHEMA, (), (amount,))
    assert [[d.condition.value[0] for d in s.best.data] for s in readings.statements] == [[100], [100]]


@pytest.mark.parametrize(
    "text",
    [
        "The fine must be sent after it was issued, and paid within 60 days.",
        "The fine must be sent. It must be paid after that, at once.",
        "The fine must be paid - in full - within 60 days.",
        "The same person must not print and check document X.",
    ],
)
def test_other_texts_are_read_as_they_stand(text: str) -> None:
    assert set_apart(text) == (text, [])


@pytest.mark.parametrize(
    "else_",
    [
        "; otherwise the fine is sent",
        ", or else the fine must be sent",
        ", failing which the fine is sent",
        ", or the fine will be sent",
    ],
)
def test_what_is_due_otherwise_is_excused_by_what_was_asked(else_: str) -> None:
    readings = read(f"After its notification the fine must be paid within 60 days{else_}.", SCHEMA)
    assert told(readings) == [("response", ("Notify", "Pay"), "P60D"), ("response", ("Notify", "Send"), "")]
    asked, otherwise = (s.best for s in readings.statements)
    assert asked.exception is None
    assert otherwise.exception is not None
    assert otherwise.exception.activity == "Pay"


def test_two_ways_to_keep_a_rule_without_a_time_stay_one_statement() -> None:
    readings = read("Every fine must be paid, or else sent.", SCHEMA)
    assert len(readings.statements) == 1


@pytest.mark.parametrize(
    "by", [", and never by the person who checks it", ", but not by whoever checks it", " but never by anyone who checks it"]
)  # fmt: skip
def test_who_may_not_do_what_was_asked_is_kept_apart(by: str) -> None:
    readings = read(f"Document X must be printed{by}.", SCHEMA)
    asked, apart = (s.best for s in readings.statements)
    assert (asked.template, asked.activities, asked.who) == ("existence", ("Print X",), None)
    assert apart.template == "not_coexistence"
    assert (set(apart.activities), apart.who) == ({"Print X", "Check X"}, "same_person")


@pytest.mark.parametrize("and_", [", and nobody prints it before that", ". No one may print it beforehand"])
def test_what_is_barred_before_that_comes_after_what_was_asked(and_: str) -> None:
    readings = read(f"Document X must be drafted, then checked within two days of that{and_}.", SCHEMA)
    asked, barred = readings.statements[-2:]
    assert barred.best.template == "precedence"
    assert barred.best.targets[0].activity == asked.best.targets[-1].activity
    assert barred.best.time is None


def test_one_word_for_what_was_not_done_bans_nothing() -> None:
    assert not read("A fine left unpaid must not be forgiven.", SCHEMA).statements


@pytest.mark.parametrize(
    "order", ["but not before", "but never before", "though only after", "yet only once", "and not without"]
)
def test_an_order_behind_a_duty_leaves_the_duty(order: str) -> None:
    sentence = f"The fine must be notified within 90 days after its issue, {order} the dispatch of the fine."
    assert told(read(sentence, SCHEMA)) == [
        ("response", ("Issue", "Notify"), "P90D"),
        ("precedence", ("Send", "Notify"), ""),
    ]


def test_what_excuses_from_a_duty_excuses_no_ban_of_another_sentence() -> None:
    sentence = (
        "Every fine must be paid within 60 days of its notification, unless document X was printed. "
        "A fine that was paid must not be sent."
    )
    duty, ban = (s.best for s in read(sentence, SCHEMA).statements)
    assert duty.exception is not None
    assert duty.exception.activity == "Print X"
    assert (ban.template, ban.activities, ban.exception) == ("not_response", ("Pay", "Send"), None)


@pytest.mark.parametrize(
    ("sentence", "wanted"),
    [
        (
            "After the issue the fine must be sent within 30 days and paid within 60 days.",
            [("response", ("Issue", "Send"), "P30D"), ("response", ("Issue", "Pay"), "P60D")],
        ),
        (
            "After the issue the fine must, within 30 days, be sent and, within 60 days, be paid.",
            [("response", ("Issue", "Send"), "P30D"), ("response", ("Issue", "Pay"), "P60D")],
        ),
        (
            "After the issue the fine must be sent and paid within 60 days.",
            [("response", ("Issue", "Send"), "P60D"), ("response", ("Issue", "Pay"), "P60D")],
        ),
        (
            "Every fine must be sent within 90 days of its issue and notified within 30 days of its dispatch.",
            [("response", ("Issue", "Send"), "P90D"), ("response", ("Send", "Notify"), "P30D")],
        ),
        (
            "A fine has to be sent within 90 days after its issue, notified within 30 days of its dispatch, and then "
            "paid within 60 days of its notification.",
            [
                ("response", ("Issue", "Send"), "P90D"),
                ("response", ("Send", "Notify"), "P30D"),
                ("response", ("Notify", "Pay"), "P60D"),
            ],
        ),
        (
            "The fine must be sent within 90 days of its issue and document X printed within one day of the dispatch.",
            [("response", ("Issue", "Send"), "P90D"), ("response", ("Send", "Print X"), "P1D")],
        ),
    ],
)
def test_each_act_has_its_own_time(sentence: str, wanted: list[tuple[str, tuple[str, ...], str]]) -> None:
    assert told(read(sentence, SCHEMA)) == wanted


@pytest.mark.parametrize(
    "until",
    [
        ". Until that's done nobody is allowed to pay it",
        ", and until that's done, it may not be paid",
        "; until this has happened no fine may be paid",
        ". As long as that isn't done, nobody may pay it",
        ": until it's been done, nobody may pay it",
        ". Before that's done nobody may pay it",
    ],
)
def test_what_is_barred_until_that_is_done_comes_after_it(until: str) -> None:
    readings = read(f"Within two days after its issue the fine must be notified{until}.", SCHEMA)
    assert told(readings) == [
        ("response", ("Issue", "Notify"), "P2D"),
        ("precedence", ("Notify", "Pay"), ""),
    ]
