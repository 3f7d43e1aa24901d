"""Hand-made cases for the entries N7, N8, P2, C1 and C2 of docs/semantics.md, each run through the oracle and the
compiled check."""

from __future__ import annotations

from typing import Any

import pytest
from test_semantics_language import AT_FINE, CLOSED, FINE, SHUT, halves, of, refusal
from test_semantics_lines import EVALUATORS, NEXT_DAY, Evaluate, due, duty, log, row, rule, said
from tiers import mostly_slow

from gnrs_ppl.context.log import Event
from gnrs_ppl.rule.types import Act, Constraint

PAID = row("p1", "Pay", "2024-03-05 10:00")
APPEALED = row("a1", "Appeal", "2024-03-04 10:00")
AT_APPEAL = due("2024-03-04 10:00")


@pytest.fixture(
    params=mostly_slow(EVALUATORS, but=EVALUATORS[:1]), ids=lambda f: f"{f.__module__}.{f.__name__}"
)
def evaluate(request: pytest.FixtureRequest) -> Evaluate:
    return request.param


# ---- bans on what comes directly beside


@pytest.mark.parametrize(
    "events, expected",
    [
        ([PAID], ("violated", "seen_forbidden", ("p1",), None, None)),
        ([PAID, APPEALED], ("satisfied", "refuted", (), AT_APPEAL, None)),
        ([APPEALED], ("satisfied", "refuted", (), AT_APPEAL, None)),
        ([], ("pending", "unseen", (), None, None)),
        (
            [row("p1", "Pay", "2024-03-04 10:00"), APPEALED],
            ("indeterminate", "unknown_order", ("p1",), AT_APPEAL, None),
        ),
        ([PAID, row("x1", None, "2024-03-03 10:00")], ("indeterminate", "unknown_order", ("p1",), None, None)),
        ([row("p1", "Pay", "2024-03-01 10:00")], ("pending", "unseen", (), None, None)),
        (
            [row("p1", "Pay", "2024-03-01 10:00"), APPEALED],
            ("indeterminate", "unknown_tie", (), AT_APPEAL, None),
        ),
        ([row("p1", "Pay", None), APPEALED], ("indeterminate", "unknown_match", (), AT_APPEAL, None)),
    ],
    ids=[
        "next", "something else first", "something else only", "nothing yet", "order of two unknown", "an unknown event between",
        "tie, still open", "tie", "undated",
    ],
)  # fmt: skip
def test_n7_what_must_not_come_next(
    evaluate: Evaluate,
    events: list[Event],
    expected: tuple[Any, ...],
) -> None:
    structure = rule(duty("not_chain_response", "Pay", correlate="same_case"))
    assert of(evaluate(structure, log(), [FINE, *events]), "f1") == expected


@pytest.mark.parametrize(
    "events, expected",
    [
        ([row("p1", "Pay", "2024-02-28 10:00")], ("violated", "seen_forbidden", ("p1",), AT_FINE, None)),
        (
            [row("p1", "Pay", "2024-02-27 10:00"), row("a1", "Appeal", "2024-02-28 10:00")],
            ("satisfied", "refuted", (), AT_FINE, None),
        ),
        (
            [row("p1", "Pay", "2024-02-28 10:00"), row("a1", "Appeal", None)],
            ("indeterminate", "unknown_order", ("p1",), AT_FINE, None),
        ),
        ([row("p1", "Pay", "2024-03-01 10:00")], ("indeterminate", "unknown_tie", (), AT_FINE, None)),
    ],
    ids=["last before", "something else last", "an undated event", "tie"],
)
def test_n7_what_must_not_come_last_before(
    evaluate: Evaluate,
    events: list[Event],
    expected: tuple[Any, ...],
) -> None:
    structure = rule(duty("not_chain_precedence", "Pay", "P30D", correlate="same_case"))
    assert of(evaluate(structure, log(), [FINE, *events]), "f1") == expected


def test_n7_a_deadline_ends_it_and_an_exception_excuses_up_to_the_breach(evaluate: Evaluate) -> None:
    timed = rule(duty("not_chain_response", "Pay", "P1D", correlate="same_case"))
    assert said(evaluate(timed, log(), [FINE, PAID])) == ("satisfied", "refuted", (), NEXT_DAY, None)
    unless = rule(duty("not_chain_response", "Pay", unless="Waive", correlate="same_case"))
    waived = row("w1", "Waive", "2024-02-29 10:00")
    assert said(evaluate(unless, log(), [waived, FINE, PAID])) == (
        "excused",
        "exception",
        ("p1", "w1"),
        None,
        None,
    )
    later = row("w1", "Waive", "2024-03-06 10:00")
    assert said(evaluate(unless, log(), [FINE, PAID, later]))[:2] == ("violated", "seen_forbidden")


# ---- anew each time

AGAIN = row("f2", "Fine", "2024-03-04 10:00")


@pytest.mark.parametrize(
    "events, expected",
    [
        ([PAID], ("satisfied", "proven", ("p1",), None, None)),
        ([PAID, APPEALED], ("satisfied", "proven", ("p1",), None, None)),
        ([AGAIN, row("p1", "Pay", "2024-03-03 10:00")], ("satisfied", "proven", ("p1",), AT_APPEAL, None)),
        ([AGAIN, PAID], ("violated", "absent", ("f2",), AT_APPEAL, None)),
        ([AGAIN, row("p1", "Pay", "2024-03-04 10:00")], ("indeterminate", "unknown_order", ("p1",), AT_APPEAL, None)),
        ([row("f2", "Fine", "2024-03-01 10:00"), PAID], ("indeterminate", "unknown_order", ("p1",), None, None)),
        ([row("f2", "Fine", None), PAID], ("indeterminate", "unknown_order", ("p1",), None, None)),
        ([row("u1", None, "2024-03-04 10:00"), PAID], ("indeterminate", "unknown_order", ("p1",), None, None)),
        ([row("f2", "Fine", "2024-03-04 10:00", "bank"), PAID], ("satisfied", "proven", ("p1",), None, None)),
        ([row("p1", "Pay", "2024-03-01 10:00")], ("satisfied", "tie", ("p1",), None, None)),
        ([], ("pending", "open", (), None, None)),
    ],
    ids=[
        "followed", "something else between", "before the next", "only after the next", "at the next one's instant",
        "two at one instant", "an undated one", "an unknown one", "one in another log", "tie", "nothing yet",
    ],
)  # fmt: skip
def test_n8_each_activation_has_an_act_of_its_own(
    evaluate: Evaluate, events: list[Event], expected: tuple[Any, ...]
) -> None:
    structure = rule(duty("alternate_response", "Pay"))
    assert of(evaluate(structure, log("desk", "bank"), [FINE, *events]), "f1") == expected


@pytest.mark.parametrize(
    "events, expected",
    [
        ([row("p1", "Pay", "2024-02-28 10:00"), row("a1", "Appeal", "2024-02-29 10:00")], ("satisfied", "proven", ("p1",))),
        (
            [row("p1", "Pay", "2024-02-28 10:00"), row("f0", "Fine", "2024-02-29 10:00")],
            ("violated", "not_preceded", ("f0",)),
        ),
        (
            [row("p1", "Pay", "2024-02-29 10:00"), row("f0", "Fine", "2024-02-28 10:00")],
            ("satisfied", "proven", ("p1",)),
        ),
        (
            [row("p1", "Pay", "2024-02-29 10:00"), row("f0", "Fine", "2024-02-29 10:00")],
            ("indeterminate", "unknown_order", ("p1",)),
        ),
    ],
    ids=["something else between", "used up by the one before", "anew", "order unknown"],
)  # fmt: skip
def test_n8_what_came_before_the_last_one_does_not_count_again(
    evaluate: Evaluate, events: list[Event], expected: tuple[Any, ...]
) -> None:
    verdicts = evaluate(rule(duty("alternate_precedence", "Pay", "P30D")), log(), [*events, FINE])
    assert of(verdicts, "f1")[:3] == expected


# ---- mutual templates of other pairs


def test_p2_chain_succession_asks_that_both_stand_side_by_side(evaluate: Evaluate) -> None:
    events = [FINE, row("p1", "Pay", "2024-03-02 10:00"), row("a1", "Appeal", "2024-03-03 10:00")]
    events += [row("p2", "Pay", "2024-03-04 10:00"), row("f2", "Fine", "2024-03-05 10:00"), SHUT]
    assert halves(evaluate(rule(duty("chain_succession", "Pay")), log(**CLOSED), events)) == [
        ("f1", False, "satisfied", "proven", ("p1",), "ann"),
        ("f2", False, "violated", "absent", (), "ann"),
        ("p1", True, "satisfied", "proven", ("f1",), "ann"),
        ("p2", True, "violated", "not_preceded", ("a1",), "ann"),
    ]


def test_p2_alternate_succession_asks_both_anew(evaluate: Evaluate) -> None:
    events = [FINE, row("p1", "Pay", "2024-03-02 10:00"), row("p2", "Pay", "2024-03-03 10:00"), AGAIN, SHUT]
    assert halves(evaluate(rule(duty("alternate_succession", "Pay")), log(**CLOSED), events)) == [
        ("f1", False, "satisfied", "proven", ("p1",), "ann"),
        ("f2", False, "violated", "absent", (), "ann"),
        ("p1", True, "satisfied", "proven", ("f1",), "ann"),
        ("p2", True, "violated", "not_preceded", ("p1",), "ann"),
    ]


def test_p2_not_succession_is_broken_at_both_rows(evaluate: Evaluate) -> None:
    events = [row("p0", "Pay", "2024-02-28 10:00"), FINE, PAID, SHUT]
    structure = rule(duty("not_succession", "Pay", correlate="same_case"))
    assert halves(evaluate(structure, log(**CLOSED), events)) == [
        ("f1", False, "violated", "seen_forbidden", ("p1",), "ann"),
        ("p0", True, "satisfied", "refuted", (), "ann"),
        ("p1", True, "violated", "seen_forbidden", ("f1",), "ann"),
    ]


def test_p2_not_chain_succession_lets_anything_else_stand_between(evaluate: Evaluate) -> None:
    structure = rule(duty("not_chain_succession", "Pay", correlate="same_case"))
    apart = [FINE, APPEALED, PAID, SHUT]
    assert halves(evaluate(structure, log(**CLOSED), apart)) == [
        ("f1", False, "satisfied", "refuted", (), "ann"),
        ("p1", True, "satisfied", "refuted", (), "ann"),
    ]
    assert halves(evaluate(structure, log(**CLOSED), [FINE, PAID, SHUT])) == [
        ("f1", False, "violated", "seen_forbidden", ("p1",), "ann"),
        ("p1", True, "violated", "seen_forbidden", ("f1",), "ann"),
    ]


def test_what_joins_two_acts_cannot_begin_with_the_case() -> None:
    for template in ("not_chain_response", "not_chain_precedence", "chain_succession", "alternate_response"):
        structure = rule(duty(template, "Pay", correlate="same_case"), trigger=None, office="clerk")
        assert "case start is none" in refusal(structure, log())


# ---- choices and usual names

EITHER: Any = {"any_of": ["Pay", "Appeal"]}
ONE = duty("exclusive_choice", EITHER, "P1D")


@pytest.mark.parametrize(
    "events, expected",
    [
        ([row("p1", "Pay", "2024-03-01 11:00")], ("satisfied", "proven", ("p1",), NEXT_DAY, 23 * 3600.0)),
        (
            [row("p1", "Pay", "2024-03-01 11:00"), row("p2", "Pay", "2024-03-01 12:00")],
            ("satisfied", "proven", ("p1",), NEXT_DAY, 23 * 3600.0),
        ),
        (
            [row("p1", "Pay", "2024-03-01 11:00"), row("a1", "Appeal", "2024-03-01 12:00")],
            ("violated", "too_many", ("a1", "p1"), NEXT_DAY, None),
        ),
        (
            [row("p1", "Pay", "2024-03-01 11:00"), row("a1", "Appeal", "2024-03-03 12:00")],
            ("satisfied", "proven", ("p1",), NEXT_DAY, 23 * 3600.0),
        ),
        ([], ("violated", "absent", (), NEXT_DAY, None)),
        ([row("a1", "Appeal", "2024-03-02 11:00")], ("violated", "late", ("a1",), NEXT_DAY, -3600.0)),
        (
            [row("p1", "Pay", "2024-03-01 11:00"), row("x1", None, "2024-03-01 12:00")],
            ("indeterminate", "unknown_match", ("p1",), NEXT_DAY, None),
        ),
    ],
    ids=["one", "one twice", "both", "the other too late", "neither", "late", "perhaps both"],
)
def test_c2_one_of_two_acts_and_not_the_other(
    evaluate: Evaluate, events: list[Event], expected: tuple[Any, ...]
) -> None:
    assert of(evaluate(rule(ONE), log(), [FINE, *events]), "f1") == expected


@pytest.mark.parametrize("acts", [("Pay", "Appeal"), ("Appeal", "Pay")])
def test_c2_nothing_after_the_second_act_excuses_both(evaluate: Evaluate, acts: tuple[str, str]) -> None:
    structure = rule(ONE.model_copy(update={"unless": Act(activity="Waive")}))
    both = [FINE, row("e1", acts[0], "2024-03-01 11:00"), row("e2", acts[1], "2024-03-01 13:00")]
    between = row("w1", "Waive", "2024-03-01 12:00")
    assert said(evaluate(structure, log(), [*both, between]))[:2] == ("excused", "exception")
    after = row("w1", "Waive", "2024-03-01 14:00")
    assert said(evaluate(structure, log(), [*both, after]))[:2] == ("violated", "too_many")


@pytest.mark.parametrize("first", ["Pay", "Appeal"])
def test_c2_tells_why_neither_act_is_decided(evaluate: Evaluate, first: str) -> None:
    second = "Appeal" if first == "Pay" else "Pay"
    target: Any = {"any_of": [{"activity": first, "role": "clerk"}, {"activity": second, "role": "clerk"}]}
    structure = rule(duty("exclusive_choice", target, "P1D"))
    nameless = row("e1", "Pay", "2024-03-01 11:00")
    others = [row("e2", "Pay", "2024-03-01 11:00", role="clerk", case_id="c2")]
    others += [row("e3", "Appeal", "2024-03-01 11:00", role="clerk", case_id="c2")]
    verdicts = evaluate(structure, log(closed=()), [FINE, nameless, *others])
    assert of(verdicts, "f1")[:2] == ("indeterminate", "unknown_match")


def test_c2_asks_for_two_acts_each_in_one_log() -> None:
    for target in (
        "Pay",
        {"any_of": ["Pay", "Appeal", "Waive"]},
        {"any_of": [{"activity": "Pay", "role": "a"}, "Pay"]},
    ):
        with pytest.raises(ValueError, match="any_of two acts of different activities"):
            duty("exclusive_choice", target)
    together = rule(ONE, channels=("desk", "bank"), operator="all")
    assert "use operator any" in refusal(together, log("desk", "bank"))


def test_c1_usual_names_are_read_as_what_they_say() -> None:
    def read(**fields: Any) -> Constraint:
        return Constraint.model_validate({"target": "Pay"} | fields)

    assert read(template="absence3") == read(template="absence", count=3)
    assert read(template="existence1") == read(template="existence")
    assert read(template="exactly100") == read(template="exactly", count=100)
    assert read(template="choice", target=EITHER) == read(template="existence", target=EITHER)
    assert read(template="not_responded_existence") == read(template="not_coexistence")
    for wrong in ({"template": "absence0"}, {"template": "response2"}, {"template": "choice"}):
        with pytest.raises(ValueError, match="template|any_of"):
            read(**wrong)
    with pytest.raises(ValueError, match="absence3 says its number itself; leave count out"):
        read(template="absence3", count=3)
    with pytest.raises(ValueError, match="choice asks for one of them once; write existence"):
        read(template="choice", target=EITHER, count=2)
