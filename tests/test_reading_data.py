"""Conditions on data in sentences: what is read, what it is stated of, what is told as not held."""

from __future__ import annotations

import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from gnrs_ppl.context.types import Attribute, Schema
from gnrs_ppl.reading.figures import days_of, figures
from gnrs_ppl.reading.plain import as_data
from gnrs_ppl.reading.reader import read
from gnrs_ppl.rule.canonical import conditions_in
from gnrs_ppl.rule.types import Condition, Structure

SCHEMA = Schema.model_validate(
    {
        "objects": [{"name": "invoice"}, {"name": "order"}],
        "actions": [
            {"name": "Post", "phrase": "post the invoice"},
            {"name": "Approve", "phrase": "approve the invoice"},
            {"name": "Pay", "phrase": "pay the invoice"},
            {"name": "Check", "phrase": "check the invoice"},
            {"name": "Ship", "phrase": "ship the parcel"},
        ],
    }
)
ATTRIBUTES = tuple(
    Attribute.model_validate(a)
    for a in (
        {"name": "amount", "type": "number", "unit": "EUR"},
        {"name": "invoiced", "phrase": "invoiced amount", "type": "number", "unit": "EUR"},
        {"name": "weight", "type": "number", "unit": "kg"},
        {"name": "vendor", "type": "text", "of": "case"},
        {"name": "docType", "phrase": "document type", "type": "text", "of": "case", "values": ["Framework order", "Standard PO"]},
        {"name": "priority", "type": "text", "of": "case", "values": ["high", "low", "urgent"]},
        {"name": "is_rush", "type": "boolean"},
        {"name": "due_date", "type": "date"},
    )
)  # fmt: skip


def conditions(sentence: str) -> list[tuple[Any, ...]]:
    """What was read of data: attribute, test, values or the other attribute, and what it is stated of."""
    readings = read(sentence, SCHEMA, (), ATTRIBUTES)
    assert readings.statements, sentence
    told = readings.statements[0].best.data
    for data in told:
        assert 0 <= data.span.start < data.span.end <= len(sentence)
        assert data.span.start <= data.attribute.span.start <= data.span.end
    return [
        (
            d.condition.attribute,
            d.condition.test,
            *([d.condition.other.attribute] if d.condition.other else d.condition.value),
            d.of,
        )
        for d in told
    ]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Invoices above 5,000 must be approved before they are paid.", [("amount", "more", 5000, "opener")]),
        ("Invoices of 500 euros or more must be approved before they are paid.", [("amount", "at_least", 500, "opener")]),
        ("An invoice under €200.50 must be paid within ten days.", [("amount", "less", Decimal("200.5"), "opener")]),
        ("An invoice with an amount between 1,000 and 5,000 euros must be approved.", [("amount", "between", 1000, 5000, "opener")]),
        ("Invoices worth more than five thousand euros must be checked.", [("amount", "more", 5000, "opener")]),
        ("If the amount exceeds EUR 10k, the invoice must be checked after it was posted.", [("amount", "more", 10000, "opener")]),
        ("Where the weight is at most 20 kilos, the parcel must be shipped.", [("weight", "at_most", 20, "opener")]),
        ("Every invoice that does not exceed 500 euros must be paid.", [("amount", "at_most", 500, "opener")]),
        ("The invoice must be paid unless the amount is below 20 euros.", [("amount", "at_least", 20, "opener")]),
        ("Nobody may pay an invoice of more than 9,000 euros.", [("amount", "more", 9000, "act")]),
        ("The customer must pay at least 50 euros.", [("amount", "at_least", 50, "act")]),
        ("Nobody may pay more than the invoiced amount.", [("amount", "more", "invoiced", "act")]),
        ("No more may be paid than was invoiced.", [("amount", "more", "invoiced", "act")]),
        ("Invoices whose vendor is Acme Ltd must be approved.", [("vendor", "equal", "Acme Ltd", "case")]),
        ("Invoices marked as urgent must be paid.", [("priority", "equal", "urgent", "case")]),
        ("Invoices not flagged as urgent must be checked.", [("priority", "not_equal", "urgent", "case")]),
        ("Urgent invoices must be paid.", [("priority", "equal", "urgent", "case")]),
        ("Invoices whose priority is high or urgent must be paid.", [("priority", "one_of", "high", "urgent", "case")]),
        ("For cases of type Framework order, the invoice must be approved before it is paid.", [("docType", "equal", "Framework order", "case")]),
        ("Unless the invoice is urgent, it must be checked before it is paid.", [("priority", "not_equal", "urgent", "case")]),
        ("Rush invoices must be paid.", [("is_rush", "equal", "true", "opener")]),
        ("Where the amount is recorded, the invoice must be paid.", [("amount", "recorded", "opener")]),
        ("Invoices whose due date is before 1 March 2024 must be paid.", [("due_date", "less", "2024-03-01", "opener")]),
        ("Urgent invoices above 100 euros must be paid.", [("priority", "equal", "urgent", "case"), ("amount", "more", 100, "opener")]),
        # no conditions: lengths of time, counts, shares
        ("The invoice must be paid within 30 days after it was posted.", []),
        ("An invoice may be paid at most twice.", []),
        ("At least two people must approve the invoice.", []),
    ],
)  # fmt: skip
def test_conditions_on_data_are_read(sentence: str, expected: list[tuple[Any, ...]]) -> None:
    assert conditions(sentence) == expected


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        ("Invoices over 40 dollars must be checked.", "no attribute of the log holds '40 dollars'"),
        ("Invoices of 5.000 euros or more must be checked.", "may be two numbers"),
        ("Where the amount is not recorded, the invoice must be checked.", "no condition says that 'amount' is not recorded"),
        ("Invoices whose document type is Blanket order must be checked.", "'docType' has no value 'Blanket order'"),
        ("Invoices whose weight is above 30 euros must be checked.", "'weight' is in kg, not '30 euros'"),
        ("The payment must not exceed the invoiced amount.", "say which act must not be done"),
        ("Only invoices below 100 euros may be paid without approval.", "say what the others must not do"),
    ],
)  # fmt: skip
def test_what_no_attribute_holds_is_told_with_its_reason(sentence: str, why: str) -> None:
    readings = read(sentence, SCHEMA, (), ATTRIBUTES)
    assert any(why in u.why for u in readings.unheld), readings.unheld
    assert all(readings.words(u.span) in sentence for u in readings.unheld)
    assert not any(s.best.data for s in readings.statements)


def test_without_attributes_nothing_of_data_is_read() -> None:
    readings = read("Invoices above 5,000 euros must be approved.", SCHEMA)
    assert readings.unheld == ()
    assert readings.statements[0].best.data == ()
    assert readings.statements[0].best.condition is not None


def test_a_condition_leaves_the_duty_as_it_is_read_without_it() -> None:
    """The same constraint with and without the words on data, wherever they stand."""
    plain = read("Invoices must be approved within five days after they were posted.", SCHEMA, (), ATTRIBUTES)
    rng = random.Random(5)
    for _ in range(40):
        number = rng.randrange(1, 100_000)
        how, test = rng.choice(
            (("above", "more"), ("of at least", "at_least"), ("below", "less"), ("of up to", "at_most"))
        )
        front = f"Invoices {how} {number:,} euros must be approved within five days after they were posted."
        clause = {
            "more": "exceeds",
            "at_least": "is at least",
            "less": "is below",
            "at_most": "does not exceed",
        }[test]
        inside = f"If the amount {clause} {number:,} euros, invoices must be approved within five days after they were posted."
        for sentence in (front, inside):
            readings = read(sentence, SCHEMA, (), ATTRIBUTES)
            best = readings.statements[0].best
            assert (best.template, best.activities) == ("response", plain.statements[0].best.activities)
            assert best.time is not None
            assert [(d.condition.test, d.condition.value) for d in best.data] == [(test, (Decimal(number),))]
            assert readings.unheld == ()


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("5,000", "5000", ""),
        ("€1,234.50", "1234.5", "EUR"),
        ("1.234,50 euros", "1234.5", "EUR"),
        ("1.5 million dollars", "1500000", "USD"),
        ("two thousand five hundred kilos", "2500", "kg"),
        ("twenty-five percent", "25", "percent"),
        ("20 per cent", "20", "percent"),
        ("a hundred euros", "100", "EUR"),
    ],
)
def test_figures(text: str, value: str, unit: str) -> None:
    (figure,) = figures(text)
    assert (figure.value, figure.unit) == (Decimal(value), unit)
    assert text[figure.start : figure.end] == text


REAL = Path(__file__).parent.parent / "gnrs_ppl" / "experiments" / "sentences" / "real_logs"


def test_practice_sentences_are_read_with_the_conditions_of_their_rules() -> None:
    """Every one of them, whatever else of it is read."""
    contexts = {
        log: yaml.safe_load((REAL / f"{log}.context.yaml").read_text(encoding="utf-8"))
        for log in ("traffic_fines_data", "receipt_data")
    }
    rows = yaml.safe_load((REAL / "practice_data.yaml").read_text(encoding="utf-8"))
    for row in rows:
        context = contexts[row["log"]]
        attributes = tuple(map(Attribute.model_validate, context["records"]["attributes"]))
        schema = Schema.model_validate(context["schema"])
        readings = read(row["sentence"], schema, (), attributes)
        told = {d.condition for s in readings.statements for d in s.best.data}
        wanted = set[Condition]()
        if "rule" in row["expected"]:
            wanted = {c for _, c in conditions_in(Structure.model_validate(row["expected"]["rule"]))}
            assert not readings.unheld, row["id"]
        else:
            assert readings.unheld, row["id"]
        if row["id"] not in ("w-15", "w-27", "w-28"):  # of which nothing is read at all
            assert told == wanted, row["id"]


def test_days() -> None:
    assert [d for d, *_ in days_of("1 March 2024, May 3rd, 2023, 2024-12-24, 2024-02-30")] == [
        "2024-03-01",
        "2023-05-03",
        "2024-12-24",
    ]


def test_as_plain_data() -> None:
    told = as_data(read("Urgent invoices must be paid.", SCHEMA, (), ATTRIBUTES))
    (data,) = told["statements"][0]["readings"][0]["data"]
    assert data["condition"] == {"attribute": "priority", "test": "equal", "value": ["urgent"]}
    assert (data["span"], data["words"], data["of"]) == ([0, 6], "Urgent", "case")


@pytest.mark.parametrize(
    ("sentence", "wanted"),
    [
        ("An invoice must be posted unless the invoiced amount exceeds the amount.", {("invoiced", "at_most", "amount")}),
        ("Invoices with a priority other than high or low must be paid.", {("priority", "not_equal", "high"), ("priority", "not_equal", "low")}),
        ("Invoices of neither high nor low priority must be paid.", {("priority", "not_equal", "high"), ("priority", "not_equal", "low")}),
        ("Invoices that were not marked as urgent must be paid.", {("priority", "not_equal", "urgent")}),
        ("Invoices that do not come with a Standard PO must be paid.", {("docType", "not_equal", "Standard PO")}),
        ("Invoices other than those with a Standard PO must be paid.", {("docType", "not_equal", "Standard PO")}),
    ],
)  # fmt: skip
def test_what_is_excepted_is_never_read_as_what_is_meant(sentence: str, wanted: set[tuple[str, ...]]) -> None:
    statement, *more = read(sentence, SCHEMA, (), ATTRIBUTES).statements
    assert not more
    assert statement.best.template == "existence"
    told = [d.condition for d in statement.best.data]
    assert {(c.attribute, c.test, c.other.attribute if c.other else c.value[0]) for c in told} == wanted


@pytest.mark.parametrize("amount", ["two-three euros", f"{'9' * 30} million euros", "between 5 and 5 euros"])
def test_what_is_no_value_is_told_as_not_held(amount: str) -> None:
    assert read(f"Invoices of {amount} must be paid.", SCHEMA, (), ATTRIBUTES).unheld
