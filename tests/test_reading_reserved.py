"""Acts that are left to some roles alone are bans on the others; what else is asked of those stays as it was."""

from __future__ import annotations

import pytest

from gnrs_ppl.context.types import Schema
from gnrs_ppl.reading.reader import read
from gnrs_ppl.reading.unnamed import asked_by_no_role

LIBRARY = Schema.model_validate(
    {
        "roles": [
            {"name": "librarian"},
            {"name": "reader"},
            {"name": "head", "phrase": "head librarian", "plural": "head librarians"},
        ],
        "actions": [
            {"name": "Lend", "phrase": "lend the book"},
            {"name": "Waive", "phrase": "waive the fee", "noun": "waiver of the fee"},
            {"name": "Return", "phrase": "return the book"},
        ],
    }
)


@pytest.mark.parametrize(
    ("sentence", "act", "left"),
    [
        ("Only the head librarian may waive a fee.", "Waive", {"head"}),
        ("Only head librarians are allowed to waive fees.", "Waive", {"head"}),
        ("A fee may only be waived by the head librarian.", "Waive", {"head"}),
        ("Fees may be waived by a head librarian only.", "Waive", {"head"}),
        ("Fees are waived exclusively by head librarians.", "Waive", {"head"}),
        ("Nobody but the head librarian may waive a fee.", "Waive", {"head"}),
        ("No one other than a head librarian can waive fees.", "Waive", {"head"}),
        ("A fee must not be waived by anyone other than a head librarian.", "Waive", {"head"}),
        ("Waiving the fee is reserved to the head librarian.", "Waive", {"head"}),
        ("It is only the head librarian who may waive a fee.", "Waive", {"head"}),
        ("The head librarian alone may waive a fee.", "Waive", {"head"}),
        ("The only person allowed to waive a fee is the head librarian.", "Waive", {"head"}),
        ("Only a librarian or a head librarian may lend books.", "Lend", {"librarian", "head"}),
        ("Nobody outside the head librarians may waive a fee.", "Waive", {"head"}),
        ("No employee other than a head librarian may waive fees.", "Waive", {"head"}),
        ("Anyone except the head librarian is forbidden to waive a fee.", "Waive", {"head"}),
        ("Everybody other than a librarian is barred from lending books.", "Lend", {"librarian"}),
        ("All staff besides head librarians must not waive fees.", "Waive", {"head"}),
        ("Anybody but a librarian may never lend a book.", "Lend", {"librarian"}),
    ],
)
def test_what_is_left_to_some_is_banned_for_others(sentence, act, left):
    (statement,) = read(sentence, LIBRARY).statements
    reading = statement.best
    assert (reading.template, reading.force, reading.activities) == ("absence", "must", (act,))
    assert {n.name for n in reading.only} == left
    assert {a.role.name for a in reading.targets} == {r.name for r in LIBRARY.roles} - left
    assert all(sentence[n.span.start : n.span.end].lower().startswith(("head", "libr")) for n in reading.only)


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        ("Only a caretaker may waive a fee.", "the schema names no such role"),
        ("Only finance may waive a fee.", "the schema names no such role"),
        ("Only the audit department is allowed to waive a fee.", "the schema names no such role"),
        (
            "Before a book was lent, only the head librarian may waive a fee.",
            "who alone may do it under a condition",
        ),
        (
            "A fee may only be waived by the head librarian within two days.",
            "who alone may do it under a condition",
        ),
        ("Only librarians, readers or head librarians may lend books.", "the schema names no other role"),
    ],
)
def test_what_no_rule_says_of_those_alone_is_not_read_as_another(sentence, why):
    found = read(sentence, LIBRARY)
    assert (found.statements, found.nothing) == ((), "no_such_role")
    assert found.unheld[0].why.startswith(why)


@pytest.mark.parametrize(
    ("sentence", "read_as"),
    [
        ("A book must be returned by the reader within two weeks.", ("existence", "Return")),
        ("Only after a book was returned may the fee be waived.", ("precedence", "Return", "Waive")),
        (
            "The fee may be waived only by a librarian who has lent the book before.",
            ("precedence", "Lend", "Waive"),
        ),
        ("The head librarian must waive the fee.", ("existence", "Waive")),
    ],
)
def test_what_binds_some_is_not_left_to_them_alone(sentence, read_as):
    (statement,) = read(sentence, LIBRARY).statements
    assert (statement.best.template, *statement.best.activities) == read_as
    assert not statement.best.only


@pytest.mark.parametrize(
    "sentence",
    [
        "After a book was lent, only the head librarian may waive the fee.",
        "Once a book has been lent, nobody but a head librarian may waive the fee.",
        "Once lent, only the head librarian may waive the fee.",
        "After a book was lent, anyone except the head librarian is forbidden to waive the fee.",
    ],
)
def test_what_is_left_to_some_once_another_act_was_done_is_banned_for_others_from_then_on(sentence):
    (statement,) = read(sentence, LIBRARY).statements
    reading = statement.best
    assert (reading.template, reading.activation.activity) == ("not_response", "Lend")
    assert {a.activity for a in reading.targets} == {"Waive"}
    assert {a.role.name for a in reading.targets} == {"librarian", "reader"}
    assert not reading.bearers


@pytest.mark.parametrize(
    ("sentence", "unnamed"),
    [
        ("The auditor must waive the fee after the book was returned.", ["auditor"]),
        ("Once a book was returned, the audit committee shall waive the fee.", ["audit committee"]),
        ("The fee must be waived by the treasurer after the book was returned.", ["treasurer"]),
        ("The finance department has to waive the fee.", ["finance department"]),
        ("Everybody must return the book.", []),
        ("Staff must lend the book.", []),
        ("The reader must return the book within two weeks.", []),
        ("The auditor must be told before the fee is waived.", []),
    ],
)
def test_who_is_asked_and_is_no_role_of_the_schema_is_found(sentence, unnamed):
    found = read(sentence, LIBRARY)
    assert [found.words(span) for span in asked_by_no_role(found)] == unnamed


def test_a_schema_without_roles_leaves_nothing_to_anybody():
    found = read("Only the manager may lend the book.", LIBRARY.model_copy(update={"roles": ()}))
    assert all(not s.best.only for s in found.statements)


def test_only_so_may_something_be_is_said_of_nobody():
    found = read("The reader must return the book. Only thus can the library lend it again.", LIBRARY)
    assert found.statements[0].best.activities == ("Return",)
    assert not found.nothing
