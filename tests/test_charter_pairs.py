"""How two rules relate: what is planted is found, and every witness is judged again by the oracle."""

from __future__ import annotations

from datetime import timedelta
from itertools import product
from typing import Any

import oracle
import pytest
import working_oracle

from gnrs_ppl.audit.types import ROLL_UP, Verdict
from gnrs_ppl.charter import pairs
from gnrs_ppl.charter.alike import proportions
from gnrs_ppl.charter.pairs import WITNESSES, PairRelation, as_duty, complete, relation
from gnrs_ppl.charter.reach import Reach
from gnrs_ppl.charter.relations import apart
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import Calendar, RecordLayer
from gnrs_ppl.rule.types import Structure
from gnrs_ppl.rulebook.imagined import START, Trace

RECORDS = RecordLayer.model_validate({"channels": [{"name": "log"}]})


def rule(
    template: str,
    target: Any = "Pay",
    deadline: str | None = None,
    *,
    opener: str | None = "Invoice",
    force: str = "must",
    roles: tuple[str, ...] = (),
    **fields: Any,
) -> Structure:
    """A rule of one constraint by the case; at its start where nothing opens it."""
    constraint = {"template": template, "target": target, "deadline": deadline, "correlate": "same_case"}
    return Structure.model_validate(
        {
            "scope": {"roles": roles},
            "trigger": {"act": opener, "channel": "log"} if opener else {},
            "norm": {"force": force, "constraints": [constraint | fields]},
            "evidence": {"channels": ["log"]},
        }
    )


def by_oracle(
    structure: Structure, rules: tuple[Structure, Structure], trace: Trace, records: RecordLayer
) -> Verdict:
    """What the oracle says of a case on the records that the pair is compared on."""
    imagined = complete(tuple(map(as_duty, rules)), records)
    rows = oracle.evaluate(as_duty(structure), imagined.records, imagined.rows("case", trace))
    return min((row.verdict for row in rows), key=ROLL_UP.index, default="not_activated")


def confirmed(first: Structure, second: Structure, records: RecordLayer = RECORDS) -> PairRelation:
    """The relation, each of its witnesses judged again by the oracle."""
    found = relation(first, second, records)
    for name in WITNESSES:
        if witness := getattr(found, name):
            said = tuple(by_oracle(each, (first, second), witness.trace, records) for each in (first, second))
            assert said == witness.verdicts, name
    return found


PLANTED = {
    "a duty and a ban that outlasts it": (
        rule("response", deadline="P3D"),
        rule("not_response", deadline="P5D"),
        "conflict",
    ),
    "a duty that may wait until the ban is over": (
        rule("response", deadline="P3D"),
        rule("not_response", deadline="P2D"),
        "independent",
    ),
    "a shorter deadline": (
        rule("response", deadline="P3D"),
        rule("response", deadline="P5D"),
        "first_implies_second",
    ),
    "a month is longer than 30 days, and shorter": (
        rule("response", deadline="P30D"),
        rule("response", deadline="P1M"),
        "independent",
    ),
    "a permission of what is banned": (
        rule("response", deadline="P3D", force="may"),
        rule("not_response", deadline="P5D"),
        "conflict",
    ),
    "a permission that is the wider": (
        rule("response", deadline="P3D", force="may"),
        rule("response", deadline="P5D", force="may"),
        "second_implies_first",
    ),
    "a ban of what calls the other up": (
        rule("response"),
        rule("absence", "Invoice", opener=None),
        "second_implies_first",
    ),
    "a ban of what must come before": (
        rule("precedence", "Approve", opener="Pay"),
        rule("absence", "Approve", opener=None),
        "conflict",
    ),
    "an exception": (rule("response", unless="Waive"), rule("response"), "second_implies_first"),
    "a narrower scope": (rule("response", roles=("clerk",)), rule("response"), "second_implies_first"),
    "one rule in two writings": (
        rule("existence", opener=None, count=1),
        rule("choice", {"any_of": ["Pay", "Pay twice"]}, opener=None),
        "first_implies_second",
    ),
    "the same": (rule("response"), rule("response", force="should"), "equivalent"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_found(name: str) -> None:
    first, second, kind = PLANTED[name]
    assert confirmed(first, second).kind == kind


PRICED = RecordLayer.model_validate(
    {
        "channels": [{"name": "log"}],
        "attributes": [
            {"name": "amount", "type": "number"},
            {"name": "due", "type": "date"},
            {"name": "kind", "type": "text"},
            {"name": "urgent", "type": "boolean", "of": "case"},
        ],
    }
)


def pay(test: str, value: Any = None, attribute: str = "amount") -> dict[str, Any]:
    condition = {"attribute": attribute, "test": test}
    return {"activity": "Pay", "where": [condition if value is None else condition | {"value": value}]}


def on_data(first: dict[str, Any], second: dict[str, Any], ban: bool = False) -> PairRelation:
    other = rule("not_response" if ban else "response", second, deadline="P5D")
    return confirmed(rule("response", first, deadline="P3D"), other, PRICED)


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        (pay("more", 100), pay("more", 50), "conflict"),
        (pay("more", 100), pay("at_most", 100), "independent"),
        (pay("more", 100), pay("more", 200), "independent"),  # 150 will do
        (pay("equal", 100), pay("between", [50, 100]), "conflict"),
        (pay("at_least", "2024-05-31", "due"), pay("more", "2024-05-30", "due"), "conflict"),
        (
            pay("at_most", "9999-12-31", "due"),
            pay("at_least", "0001-01-01", "due"),
            "conflict",
        ),  # no day lies beyond
        (pay("equal", "refund", "kind"), pay("not_equal", "refund", "kind"), "independent"),
        (pay("equal", "refund", "kind"), pay("one_of", ["refund", "fee"], "kind"), "conflict"),
        (pay("more", 100), pay("recorded"), "conflict"),
    ],
)
def test_a_ban_of_what_another_rule_asks_for_by_its_data(
    first: dict[str, Any], second: dict[str, Any], kind: str
) -> None:
    assert on_data(first, second, ban=True).kind == kind


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        (pay("more", 100), pay("more", 50), "first_implies_second"),
        (pay("more", 50), pay("more", 100), "independent"),  # the other is due later
        (pay("less", 100), pay("at_most", 100), "first_implies_second"),
        (pay("between", [1, 2]), pay("one_of", [1, 2]), "independent"),  # 1.5
        (pay("more", 100), pay("recorded"), "first_implies_second"),
    ],
)
def test_a_duty_that_asks_for_more_of_the_data(
    first: dict[str, Any], second: dict[str, Any], kind: str
) -> None:
    assert on_data(first, second).kind == kind


def test_data_of_cases_and_data_of_no_constant() -> None:
    urgent = [{"attribute": "urgent", "test": "equal", "value": True}]
    always = rule("response", deadline="P3D")
    sometimes = always.model_copy(update={"scope": always.scope.model_validate({"where": urgent})})
    assert confirmed(sometimes, always, PRICED).kind == "second_implies_first"
    other = {"activity": "Pay", "where": [{"attribute": "amount", "test": "more", "other": "amount"}]}
    other["where"][0]["other"] = {"attribute": "amount", "of": "activation"}
    found = relation(rule("response", other), always, PRICED)
    assert found.kind == "undecided"
    assert "another value of the records" in found.why


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        (rule("existence", count=100), rule("absence", count=100), "conflict"),
        (rule("existence", count=99), rule("absence", count=100), "independent"),
        *(
            pytest.param(first, second, kind, marks=pytest.mark.slow)
            for first, second, kind in (
                (rule("existence", count=100), rule("existence", count=40), "first_implies_second"),
                (rule("exactly", count=100), rule("existence", count=100), "first_implies_second"),
                (rule("exactly", count=99), rule("existence", count=100), "conflict"),
                (
                    rule("existence", count=60, deadline="P1D"),
                    rule("absence", count=100, deadline="P2D"),
                    "independent",
                ),
            )
        ),
    ],
)
def test_a_hundred_acts_are_decided_at_once(first: Structure, second: Structure, kind: str) -> None:
    assert confirmed(first, second).kind == kind
    assert confirmed(first, second).events <= 4


def test_a_pair_in_other_words_is_not_searched_again() -> None:
    known = relation(rule("response", deadline="P3D"), rule("response", deadline="P5D"), RECORDS)
    searched = len(pairs._KNOWN)
    sooner = rule("response", "Answer", deadline="PT3H", opener="Ask")
    later = rule("response", "Answer", deadline="PT5H", opener="Ask")
    assert confirmed(sooner, later).kind == known.kind == "first_implies_second"
    assert len(pairs._KNOWN) == searched
    witness = confirmed(sooner, later).against_second_implies_first
    assert witness is not None
    assert [row.activity for row in witness.trace] == ["Ask", "Answer"]
    assert witness.trace[1].at - witness.trace[0].at == timedelta(hours=3, seconds=1)


@pytest.mark.parametrize("lengths", [("P1D", "P2D"), ("P1D", "P3D"), ("P2D", "P3D"), ("P1D", "PT86401S")])
def test_lengths_that_lie_otherwise_are_another_pair(lengths: tuple[str, str]) -> None:
    def lie(one: str, other: str) -> list[object]:
        return proportions((Duration.parse(one), Duration.parse(other)), timedelta(seconds=1))

    assert lie(*lengths) != lie("P2D", "P5D")
    assert lie("PT4H", "PT10H") == lie("P2D", "P5D")


CALENDAR = {"holidays": {"country": "NL"}, "hours": ["09:00-12:30", "13:00-17:00"]}


@pytest.mark.parametrize(
    "first, second, kind",
    [
        ("5WD", "P5D", "second_implies_first"),
        ("5WD", "P6D", "independent"),  # shorter from a Sunday, longer from a Monday
        ("3WH", "1WD", "first_implies_second"),
    ],
)
def test_working_time_is_counted_as_an_audit_does(first: str, second: str, kind: str) -> None:
    records = RECORDS.model_copy(update={"calendar": Calendar.model_validate(CALENDAR)})
    found = confirmed(rule("response", deadline=first), rule("response", deadline=second), records)
    assert found.kind == kind


@pytest.mark.parametrize(
    "calendar", [CALENDAR, CALENDAR | {"zone": "Europe/Amsterdam", "weekdays": ["monday"]}]
)
def test_reach_is_that_of_the_oracle(calendar: dict[str, Any]) -> None:
    records = RECORDS.model_copy(update={"calendar": Calendar.model_validate(calendar), "offset": 120})
    durations = tuple(map(Duration.parse, ("1WD", "5WD", "3WH", "8WH")))
    reach, ahead = Reach(records, durations, timedelta(seconds=1)), timedelta(hours=2)
    for hours in range(0, 24 * 30, 31):
        at = START + timedelta(hours=hours)
        for duration, forward in product(durations, (True, False)):
            counted, _ = working_oracle.moved(records, at - ahead, 120, "second", duration, forward)
            move = reach.after if forward else reach.before
            assert move(at, duration) == (counted + ahead).replace(microsecond=0)


def test_what_cannot_be_checked_says_why() -> None:
    large = {"activity": "Pay", "where": [{"attribute": "amount", "test": "more", "value": 100}]}
    for other in (rule("response", large), rule("response", deadline="5WD")):
        found = relation(other, rule("response"), RECORDS)
        assert found.kind == "undecided"
        assert found.why


@pytest.mark.parametrize(
    "first, second, kind",
    [
        (rule("chain_succession", "Pay"), rule("chain_succession", "Call"), "conflict"),
        (rule("succession", "Pay"), rule("absence", "Invoice", opener="Call"), "independent"),
        (rule("succession", "Pay"), rule("not_response", "Pay", opener="Invoice"), "conflict"),
    ],
)
def test_acts_alone_tell_nothing_of_what_stands_beside(
    first: Structure, second: Structure, kind: str
) -> None:
    assert not apart(first, second)
    assert confirmed(first, second).kind == kind


@pytest.mark.parametrize("grain", ["day", "microsecond"])
def test_clocks_of_any_grain(grain: str) -> None:
    channel = {"name": "log", "grain": grain}
    records = RecordLayer.model_validate({"channels": [channel], "case_end": ["Close"], "offset": "+01:00"})
    sooner, later = (
        rule("response", deadline="P3D"),
        rule("response", deadline="P5D", correlate="same_object"),
    )
    assert confirmed(sooner, rule("not_response", deadline="P5D"), records).kind == "conflict"
    assert confirmed(sooner, later, records).kind == "independent"
