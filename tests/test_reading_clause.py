"""What was read, in the words of a rule's text: read back it is the same, and no recorded name is in it."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import get_args

import pytest

from gnrs_ppl.context.load import load_context
from gnrs_ppl.context.time import Duration
from gnrs_ppl.posterior.fields import NAMES, NOTHING, SLOT_FIELDS, TIMES, WORDS_OF, said
from gnrs_ppl.reading import ActRead, Named, Reading, Span, Timed
from gnrs_ppl.reading.reader import read
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.parser import parse
from gnrs_ppl.realize.text import render
from gnrs_ppl.report.ask import value_as_said
from gnrs_ppl.report.reading_clause import clause_of, rule_of, worded
from gnrs_ppl.rule.canonical import canonical
from gnrs_ppl.rule.types import IMPLEMENTED, SLOTS, Correlation, Structure, Ties

ROOT = Path(__file__).resolve().parent.parent
CONTEXT = load_context(ROOT / "examples" / "invoices" / "context.yaml")
LEXICON = Lexicon.of_context(CONTEXT)
HERE = Span(0, 0)
RECORDED = re.compile(r"\b[A-Z][a-z]+[A-Z]|_")
"""What only names of this schema look like: PostInvoice, budget_holder."""


def act(name: str, role: str | None = None) -> ActRead:
    return ActRead(name, HERE, 1.0, role=Named(role, HERE) if role else None)


def readings() -> list[Reading]:
    """Every template with and without an opener, a time, one or two who are bound, and one person for both."""
    found = []
    for template, opener, timed, roles, who in product(
        IMPLEMENTED,
        (None, "PostInvoice"),
        (None, Duration(days=5)),
        ((), ("budget_holder",), ("budget_holder", "accounts_clerk")),
        (None, "same_person", "another_person"),
    ):
        found.append(
            Reading(
                probability=1.0,
                force="must",
                template=template,
                targets=(act("ApproveInvoice"), act("PayInvoice")),
                activation=act(opener) if opener else None,
                joint="any" if timed else "all",
                exception=act("RejectInvoice") if timed else None,
                time=Timed(HERE, timed) if timed else None,
                bearers=tuple(Named(role, HERE) for role in roles),
                who=who,
            )
        )
    return found


def test_a_clause_read_back_is_the_rule_that_asks_what_was_read() -> None:
    seen = 0
    for reading in readings():
        try:
            rule = rule_of(reading, LEXICON)
        except ValueError:
            continue
        seen += 1
        lexicon = LEXICON.including(rule)
        evidence = render(rule, lexicon).partition(" Evidence: ")[2]
        text = f"{clause_of(reading, LEXICON)}. Evidence: {evidence}"
        assert canonical(parse(text, lexicon)) == canonical(rule)
    assert seen > 0.9 * len(readings())


def test_no_recorded_name_is_in_a_clause_even_where_no_rule_asks_it() -> None:
    impossible = Reading(1.0, "must", "response", tuple(act("PayInvoice") for _ in range(13)))
    with pytest.raises(ValueError, match="at most 12"):
        rule_of(impossible, LEXICON)
    for reading in (*readings(), impossible):
        spelled = clause_of(reading, LEXICON).replace("NotCoExistence", "")
        assert not RECORDED.search(spelled.partition("(")[2] or spelled), spelled


def test_what_was_read_beside_has_words_too() -> None:
    sentence = (
        "Once an invoice is posted the budget holder must approve it within five days; the approval log shows it. "
        "Where that was not done, an internal auditor reviews the file."
    )
    found = read(sentence, CONTEXT.schema, CONTEXT.records.channels)
    told = worded(found, LEXICON)
    assert RECORDED.search(repr(found.statements))
    names = [a.activity for s in told.statements for r in s.readings for a in r.targets]
    names += [n.name for s in told.statements for r in s.readings for n in r.bearers]
    assert "approval of the invoice" in names
    assert "budget holder" in names
    assert told.procedure
    assert [step.role.name for step in told.procedure.steps if step.role] == ["internal auditor"]
    assert worded(told, LEXICON).statements[0].span == found.statements[0].span


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (
            "three working days",
            "within three working days after each posting of the invoice in the same case",
        ),
        ("two business hours", "within two working hours after each posting of the invoice in the same case"),
        ("two working weeks", "within 10 working days after each posting of the invoice in the same case"),
        (
            "two working months",
            "within two months after each posting of the invoice in the same case. It is working time",
        ),
    ],
)
def test_a_clause_says_working_time(told: str, said: str) -> None:
    sentence = f"After an invoice is posted the budget holder must approve it within {told}."
    (statement,) = read(sentence, CONTEXT.schema).statements
    assert clause_of(statement.best, LEXICON) == f"A budget holder must approve the invoice {said}"


def test_every_value_of_a_question_is_said_in_words() -> None:
    everything = {
        "norm.template": IMPLEMENTED,
        "norm.correlate": get_args(Correlation),
        "norm.ties": get_args(Ties),
        "trigger.once": ("first", "each"),
        "evidence.operator": ("all", "any", "at_least"),
    }
    for field, values in everything.items():
        assert set(WORDS_OF[field]) == set(values)
    rule = Structure.model_validate(
        {
            "scope": {
                "roles": ["accounts_clerk"],
                "objects": ["goods_invoice"],
                "locations": ["head_office"],
            },
            "trigger": {"act": {"activity": "PostInvoice", "role": "accounts_clerk"}, "channel": "erp"},
            "norm": {
                "bearer": {"role": "budget_holder"},
                "constraints": [
                    {
                        "template": "response",
                        "target": "ApproveInvoice",
                        "deadline": "P5D",
                        "unless": "RejectInvoice",
                    },
                    {"template": "absence", "target": "PayByCard"},
                ],
            },
            "evidence": {"channels": [c.name for c in CONTEXT.records.channels][:2]},
        }
    )
    told = {
        f"{slot}.{field}": value_as_said(f"{slot}.{field}", " + ".join(values) or NOTHING, LEXICON)
        for slot in SLOTS
        for field, values in said(getattr(rule, slot)).items()
    }
    assert [line for line in told.values() if RECORDED.search(line)] == []
    assert told["norm.deadline"] == "five days"
    assert told["norm.template"] == "must not happen, or no more often, has to follow"
    assert told["norm.activity"] == "approval of the invoice, payment with the company card"
    assert {*NAMES, *WORDS_OF, *TIMES} <= {f"{slot}.{f}" for slot in SLOTS for f in SLOT_FIELDS[slot]}
