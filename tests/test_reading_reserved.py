"""Acts that are left to some roles alone are bans on the others; what else is asked of those stays as it was."""

from __future__ import annotations

import pytest

from gnrs_ppl.context.types import Schema
from gnrs_ppl.reading import read

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
        (
            "After a book was lent, only the head librarian may waive a fee.",
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


def test_a_schema_without_roles_leaves_nothing_to_anybody():
    found = read("Only the manager may lend the book.", LIBRARY.model_copy(update={"roles": ()}))
    assert all(not s.best.only for s in found.statements)
