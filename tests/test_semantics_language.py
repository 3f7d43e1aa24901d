"""Hand-made cases for the A, T, L, N and P entries of docs/semantics.md, each run through the oracle and the
compiled check."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import pytest
from test_semantics_lines import EVALUATORS, NEXT_DAY, Evaluate, anonymous, due, duty, log, row, rule, said
from tiers import mostly_slow

from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.run import evaluate as checked
from gnrs_ppl.audit.types import InstanceVerdict
from gnrs_ppl.context.log import Event, EventLog
from gnrs_ppl.context.time import Duration
from gnrs_ppl.errors import InputError, Refused
from gnrs_ppl.rule.canonical import canonical, dumps, payloads
from gnrs_ppl.rule.types import Act, After, Constraint, Scope, Structure

DAY = 86400.0
FINE = row("f1", "Fine", "2024-03-01 10:00")
AT_FINE = due("2024-03-01 10:00")
CLOSED = {"case_end": ("Close",)}


@pytest.fixture(
    params=mostly_slow(EVALUATORS, but=EVALUATORS[:1]), ids=lambda f: f"{f.__module__}.{f.__name__}"
)
def evaluate(request: pytest.FixtureRequest) -> Evaluate:
    return request.param


def of(verdicts: Sequence[InstanceVerdict], instance: str) -> tuple[Any, ...]:
    return said([v for v in verdicts if v.instance == instance])


def refusal(structure: Structure, records: Any, events: Sequence[Event] = (FINE,)) -> str:
    with pytest.raises((Refused, InputError)) as error:
        check(structure, records, EventLog.from_events(events, records))
    return str(error.value)


# ---- alternatives


HEARD = {"any_of": [{"activity": "Decide", "role": "judge"}, "Waive"]}


@pytest.mark.parametrize(
    "answer, expected",
    [
        (
            row("d1", "Decide", "2024-03-01 11:00", role="judge"),
            ("satisfied", "proven", ("d1",), NEXT_DAY, 23 * 3600.0),
        ),
        (
            row("d1", "Waive", "2024-03-01 11:00", role="clerk"),
            ("satisfied", "proven", ("d1",), NEXT_DAY, 23 * 3600.0),
        ),
        (row("d1", "Decide", "2024-03-01 11:00", role="clerk"), ("violated", "absent", (), NEXT_DAY, None)),
        (row("d1", "Decide", "2024-03-01 11:00"), ("indeterminate", "unknown_match", (), NEXT_DAY, None)),
        (
            row("d1", None, "2024-03-01 11:00", role="clerk"),
            ("indeterminate", "unknown_match", (), NEXT_DAY, None),
        ),
        (row("d1", "Pay", "2024-03-01 11:00"), ("violated", "absent", (), NEXT_DAY, None)),
    ],
    ids=["first", "second", "wrong role", "null role", "null activity", "neither"],
)
def test_a1_any_alternative_will_do_and_a_null_leaves_it_open(
    evaluate: Evaluate, answer: Event, expected: tuple[Any, ...]
) -> None:
    assert of(evaluate(rule(duty("response", HEARD, "P1D")), log(), [FINE, answer]), "f1") == expected


def test_a1_alternatives_open_instances_excuse_and_activate(evaluate: Evaluate) -> None:
    either: Any = {"any_of": ["Fine", "Appeal"]}
    structure = rule(duty("response", "Pay", "P1D", unless={"any_of": ["Waive", "Close"]}))
    structure = structure.model_copy(
        update={"trigger": structure.trigger.model_copy(update={"act": Act.model_validate(either)})}
    )
    events = [
        FINE,
        row("x1", "Close", "2024-03-01 09:00"),
        row("a1", "Appeal", "2024-03-01 10:00", case_id="c2"),
    ]
    first, second = evaluate(structure, log(), events)
    assert (first.instance, first.verdict, first.witnesses) == ("f1", "excused", ("x1",))
    assert (second.instance, second.verdict, second.reason) == ("a1", "violated", "absent")
    waits = rule(
        duty(
            "response",
            "Pay",
            "P1D",
            after=After(act=Act.model_validate({"any_of": ["Appeal", "Review"]}), channel="desk"),
        )
    )
    events = [FINE, row("r1", "Review", "2024-03-05 10:00"), row("p1", "Pay", "2024-03-06 10:00")]
    assert said(evaluate(waits, log(), events)) == (
        "satisfied",
        "proven",
        ("p1",),
        due("2024-03-06 10:00"),
        0.0,
    )


@pytest.mark.parametrize(
    "closed, expected",
    [
        (("desk", "bank"), ("violated", "absent")),
        (("desk",), ("indeterminate", "open_world")),
        (("bank",), ("indeterminate", "open_world")),
    ],
)
def test_a3_an_alternative_is_refuted_only_by_every_channel_that_can_record_it(
    evaluate: Evaluate, closed: tuple[str, ...], expected: tuple[str, str]
) -> None:
    structure = rule(duty("response", {"any_of": ["Pay", "Waive"]}, "P1D"), channels=("desk", "bank"))
    records = log("desk", "bank", closed=closed, can={"desk": ("Fine", "Pay"), "bank": ("Waive",)})
    assert said(evaluate(structure, records, [FINE])) == (*expected, (), NEXT_DAY, None)
    waived = [FINE, row("w1", "Waive", "2024-03-01 12:00", "bank")]
    assert said(evaluate(structure, records, waived))[:3] == ("satisfied", "proven", ("w1",))


def test_a2_and_a3_alternatives_that_cannot_be_decided_are_refused() -> None:
    either: Any = {"any_of": ["Pay", "Waive"]}
    alone = log("desk", "bank", can={"desk": ("Fine", "Pay"), "bank": ("Pay",)})
    policy: dict[str, Any] = {"channels": ("desk", "bank")}
    assert "0 of 2 evidence channels can record 'Waive'" in refusal(
        rule(duty("response", either, "P1D"), **policy), alone
    )
    together = rule(duty("response", either, "P1D"), **policy, operator="all")
    assert (
        "2 of 2 channels must agree on 1 act, but 2 activities are alternatives; use operator any"
        in refusal(together, log("desk", "bank"))
    )
    roles: Any = {"any_of": [{"activity": "Pay", "role": "clerk"}, {"activity": "Pay", "role": "guard"}]}
    assert check(
        rule(duty("response", roles, "P1D"), **policy, operator="all"),
        log("desk", "bank"),
        EventLog.from_events([FINE]),
    )
    opened = rule(duty("response", "Review", "P1D"))
    opened = opened.model_copy(
        update={"trigger": opened.trigger.model_copy(update={"act": Act.model_validate(either)})}
    )
    assert "channel 'desk' cannot record 'Waive'" in refusal(opened, alone)
    assert "target and trigger are both 'Fine'" in refusal(
        rule(duty("response", {"any_of": ["Pay", "Fine"]}, "P1D")), log()
    )


def test_a1_alternatives_are_a_set_in_canonical_form_and_written_as_any_of() -> None:
    one, other = ({"any_of": [*order]} for order in (("Pay", "Waive"), ("Waive", "Pay")))
    first, second = (rule(duty("response", "Review", "P1D", unless=act)) for act in (one, other))
    assert canonical(first) == canonical(second)
    assert {p.name for p in payloads(first) if p.kind == "action"} >= {"Pay", "Waive"}
    written = Structure.model_validate_json(dumps(first))
    assert written == first
    assert '"unless":{"any_of":[{"activity":"Pay"},{"activity":"Waive"}]}' in dumps(first)


@pytest.mark.parametrize(
    "act, problem",
    [
        ({"any_of": ["Pay"]}, "two acts or more"),
        ({"any_of": "Pay"}, "two acts or more"),
        ({"any_of": ["Pay", "Waive"], "role": "clerk"}, "stands by itself"),
        ({"any_of": ["Pay", "Pay"]}, "an act twice"),
        ({"any_of": ["Pay", {"any_of": ["Waive", "Close"]}]}, "no further any_of"),
        ({"any_of": [{"any_of": ["Waive", "Close"]}, "Pay"]}, "no further any_of"),
    ],
)
def test_a1_alternatives_that_are_malformed(act: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Act.model_validate(act)


# ---- ties


@pytest.mark.parametrize(
    "template, ties, expected",
    [
        ("precedence", None, ("indeterminate", "unknown_tie", ())),
        ("precedence", "unknown", ("indeterminate", "unknown_tie", ())),
        ("precedence", "fulfil", ("satisfied", "proven", ("p1",))),
        ("precedence", "violate", ("violated", "late", ("p1",))),
        ("not_precedence", None, ("indeterminate", "unknown_tie", ())),
        ("not_precedence", "fulfil", ("satisfied", "refuted", ())),
        ("not_precedence", "violate", ("violated", "seen_forbidden", ("p1",))),
        ("response", None, ("satisfied", "tie", ("p1",))),
        ("response", "fulfil", ("satisfied", "tie", ("p1",))),
        ("response", "unknown", ("indeterminate", "unknown_tie", ())),
        ("response", "violate", ("violated", "absent", ())),
        ("not_response", None, ("indeterminate", "unknown_tie", ())),
        ("not_response", "fulfil", ("satisfied", "refuted", ())),
        ("not_response", "violate", ("violated", "seen_forbidden", ("p1",))),
    ],
)
def test_t1_on_the_same_day_the_rule_says_what_counts(
    evaluate: Evaluate, template: str, ties: str | None, expected: tuple[Any, ...]
) -> None:
    events = [row("f1", "Fine", "2024-03-01"), row("p1", "Pay", "2024-03-01")]
    assert said(evaluate(rule(duty(template, "Pay", "P7D", ties=ties)), log(), events))[:3] == expected


def test_t1_touches_no_other_bound_and_is_said_as_an_assumption(evaluate: Evaluate) -> None:
    events = [row("f1", "Fine", "2024-03-08"), row("p1", "Pay", "2024-03-01")]  # a tie at the lower bound
    structure = rule(duty("precedence", "Pay", "P7D", ties="violate"))
    assert said(evaluate(structure, log(), events))[:3] == ("satisfied", "proven", ("p1",))
    told = check(structure, log(), EventLog.from_events(events, log())).assumptions
    assert (
        "norm.constraints[0]: a row at the same recorded instant breaks it (ties: violate, as the rule says)"
        in told
    )


def test_t1_a_tie_written_out_as_it_is_by_default_is_the_same_rule() -> None:
    for template, default in (("response", "fulfil"), ("precedence", "unknown")):
        plain, stated = (rule(duty(template, "Pay", "P7D", ties=ties)) for ties in (None, default))
        assert canonical(plain) == canonical(stated)
        assert "ties" not in dumps(canonical(stated))
        assert "ties" not in plain.model_dump_json()


def test_fields_go_with_the_templates_they_mean_something_for() -> None:
    with pytest.raises(ValueError, match="ties goes with response"):
        duty("existence", "Pay", ties="fulfil")
    with pytest.raises(ValueError, match="earlier_counts goes with response only"):
        duty("precedence", "Pay", earlier_counts=True)
    with pytest.raises(ValueError, match="init has no deadline"):
        duty("init", "Pay", "P1D")
    with pytest.raises(ValueError, match="succession binds two acts and takes no after"):
        duty("succession", "Pay", after=After(act="Appeal", channel="desk"))


# ---- at the latest


@pytest.mark.parametrize(
    "paid, expected",
    [
        ("2024-03-01 11:00", ("satisfied", "proven", ("p1",), NEXT_DAY, 23 * 3600.0)),
        ("2024-03-01 10:00", ("satisfied", "proven", ("p1",), NEXT_DAY, DAY)),  # a tie is nothing to mark
        ("2024-02-25 10:00", ("satisfied", "proven", ("p1",), NEXT_DAY, 6 * DAY)),
        ("2024-02-19 10:00", ("violated", "absent", (), NEXT_DAY, None)),  # before the case began
        ("2024-03-02 10:01", ("violated", "late", ("p1",), NEXT_DAY, -60.0)),
    ],
)
def test_l1_an_earlier_act_counts(evaluate: Evaluate, paid: str, expected: tuple[Any, ...]) -> None:
    structure = rule(duty("response", "Pay", "P1D", earlier_counts=True))
    events = [row("o1", "Open", "2024-02-20 10:00"), FINE, row("p1", "Pay", paid)]
    assert said(evaluate(structure, log(case_start=("Open",)), events)) == expected


def test_l1_without_a_known_start_an_earlier_act_cannot_be_ruled_out(evaluate: Evaluate) -> None:
    structure = rule(duty("response", "Pay", "P1D", earlier_counts=True))
    events = [row("o1", "Review", "2024-01-01 00:00"), FINE]
    assert said(evaluate(structure, log(), events)) == ("indeterminate", "uncovered", (), NEXT_DAY, None)


# ---- at most, exactly


@pytest.mark.parametrize("paid, verdict", [(0, "satisfied"), (2, "satisfied"), (3, "violated")])
def test_at_most_two_is_absence_of_three(evaluate: Evaluate, paid: int, verdict: str) -> None:
    events = [FINE, *(row(f"p{i}", "Pay", f"2024-03-01 1{i}:00") for i in range(1, paid + 1))]
    assert said(evaluate(rule(duty("absence", "Pay", "P1D", count=3)), log(), events))[0] == verdict


# ---- chain_response


NEXT = duty("chain_response", "Pay")


@pytest.mark.parametrize(
    "events, expected",
    [
        ([row("p1", "Pay", "2024-03-05 10:00")], ("satisfied", "proven", ("p1",), None, None)),
        (
            [row("p1", "Pay", "2024-03-05 10:00"), row("a1", "Appeal", "2024-03-06 10:00")],
            ("satisfied", "proven", ("p1",), due("2024-03-06 10:00"), None),
        ),
        (
            [row("p1", "Pay", "2024-03-05 10:00"), row("a1", "Appeal", "2024-03-04 10:00")],
            ("violated", "absent", ("a1",), due("2024-03-04 10:00"), None),
        ),
        ([row("a1", "Appeal", "2024-03-04 10:00")], ("violated", "absent", ("a1",), due("2024-03-04 10:00"), None)),
        (
            [row("f2", "Fine", "2024-03-04 10:00", resource="bob"), row("p1", "Pay", "2024-03-05 10:00")],
            ("violated", "absent", ("f2",), due("2024-03-04 10:00"), None),
        ),
        (
            [row("p1", "Pay", "2024-03-04 10:00"), row("a1", "Appeal", "2024-03-04 10:00")],
            ("indeterminate", "unknown_order", ("p1",), due("2024-03-04 10:00"), None),
        ),
        (
            [row("p1", "Pay", "2024-03-04 10:00"), row("x1", None, "2024-03-03 10:00")],
            ("indeterminate", "unknown_order", ("p1",), None, None),
        ),
        ([row("p1", "Pay", "2024-03-04 10:00"), row("a1", "Appeal", None)], ("indeterminate", "unknown_order", ("p1",), None, None)),
        (
            [row("p1", "Pay", "2024-03-04 10:00"), row("a1", "Appeal", "2024-03-03 10:00", None)],
            ("indeterminate", "unknown_order", ("p1",), None, None),
        ),
        (
            [row("p1", "Pay", "2024-03-04 10:00"), row("x1", None, "2024-03-05 10:00")],
            ("satisfied", "proven", ("p1",), None, None),
        ),
        ([row("p1", "Pay", "2024-03-01 10:00")], ("satisfied", "tie", ("p1",), None, None)),
        (
            [row("p1", "Pay", "2024-03-04 10:00"), row("a1", "Appeal", "2024-03-01 10:00")],
            ("indeterminate", "unknown_order", ("p1",), None, None),
        ),
        ([], ("pending", "open", (), None, None)),
        (
            [row("p1", "Pay", "2024-03-05 10:00"), row("a1", "Appeal", "2024-03-04 10:00", "bank")],
            ("satisfied", "proven", ("p1",), None, None),
        ),
    ],
    ids=[
        "next", "next of two", "something else first", "something else only", "the same act again", "order of two unknown",
        "an unknown event between", "an undated event", "an event without a log", "an unknown event later", "tie", "tie of another",
        "nothing yet", "an event in a log that is not asked",
    ],
)  # fmt: skip
def test_n2_the_next_event_is_the_target(
    evaluate: Evaluate, events: list[Event], expected: tuple[Any, ...]
) -> None:
    assert of(evaluate(rule(NEXT), log("desk", "bank"), [FINE, *events]), "f1") == expected


def test_n2_a_deadline_or_the_closure_ends_it_too(evaluate: Evaluate) -> None:
    timed = rule(duty("chain_response", "Pay", "P1D"))
    late = [FINE, row("p1", "Pay", "2024-03-05 10:00")]
    assert said(evaluate(timed, log(), late)) == ("violated", "absent", (), NEXT_DAY, None)
    shut = [FINE, row("x1", "Close", "2024-03-05 10:00")]
    assert said(evaluate(rule(NEXT), log(**CLOSED), shut)) == (
        "violated",
        "absent",
        (),
        due("2024-03-05 10:00"),
        None,
    )


def test_n2_silence_about_the_act_is_questioned_as_ever(evaluate: Evaluate) -> None:
    events = [FINE, row("a1", "Appeal", "2024-03-04 10:00")]
    expected = ("indeterminate", "open_world", (), due("2024-03-04 10:00"), None)
    assert said(evaluate(rule(NEXT), log(closed=()), events)) == expected


def test_n1_the_thread_is_that_of_the_key(evaluate: Evaluate) -> None:
    structure = rule(duty("chain_response", "Pay", correlate="same_resource"))
    events = [
        FINE,
        row("a1", "Appeal", "2024-03-02 10:00", resource="bob"),
        row("p1", "Pay", "2024-03-03 10:00"),
    ]
    assert said(evaluate(structure, log(), events)) == ("satisfied", "proven", ("p1",), None, None)
    events[1] = events[1]._replace(resource=None)
    assert said(evaluate(structure, log(), events)) == ("indeterminate", "unknown_order", ("p1",), None, None)


def test_n1_a_second_record_of_the_activation_may_be_nothing_else(evaluate: Evaluate) -> None:
    structure = rule(NEXT, channels=("desk", "bank"))
    events = [FINE, row("f2", "Fine", "2024-03-01 10:01", "bank"), row("p1", "Pay", "2024-03-03 10:00")]
    assert of(evaluate(structure, log("desk", "bank"), events), "f1") == (
        "indeterminate",
        "unknown_order",
        ("p1",),
        None,
        None,
    )
    events[1] = row("a1", "Appeal", "2024-03-01 10:01", "bank")
    instead = ("violated", "absent", ("a1",), due("2024-03-01 10:01"), None)
    assert of(evaluate(structure, log("desk", "bank"), events), "f1") == instead


def test_n2_an_exception_comes_before_the_event_that_came_instead(evaluate: Evaluate) -> None:
    structure = rule(duty("chain_response", "Pay", unless="Waive"))
    events = [row("w1", "Waive", "2024-02-28 10:00"), FINE, row("a1", "Appeal", "2024-03-04 10:00")]
    assert said(evaluate(structure, log(), events)) == (
        "excused",
        "exception",
        ("w1",),
        due("2024-03-04 10:00"),
        None,
    )


# ---- chain_precedence


@pytest.mark.parametrize(
    "events, expected",
    [
        ([row("r1", "Review", "2024-02-20 10:00")], ("satisfied", "proven", ("r1",))),
        (
            [row("r1", "Review", "2024-02-20 10:00"), row("a1", "Appeal", "2024-02-19 10:00")],
            ("satisfied", "proven", ("r1",)),
        ),
        (
            [row("r1", "Review", "2024-02-20 10:00"), row("a1", "Appeal", "2024-02-21 10:00")],
            ("violated", "not_preceded", ("a1",)),
        ),
        (
            [row("r1", "Review", "2024-02-20 10:00"), row("a1", "Appeal", "2024-02-20 10:00")],
            ("indeterminate", "unknown_order", ("r1",)),
        ),
        (
            [row("r1", "Review", "2024-02-20 10:00"), row("a1", "Appeal", "2024-03-01 10:00")],
            ("indeterminate", "unknown_order", ("r1",)),
        ),
        ([row("r1", "Review", "2024-03-01 10:00")], ("indeterminate", "unknown_tie", ())),
        ([row("r1", "Review", "2024-03-01 10:01")], ("violated", "not_preceded", ())),
        (
            [row("r1", "Review", "2024-02-20 10:00"), row("x1", None, "2024-02-19 10:00")],
            ("satisfied", "proven", ("r1",)),
        ),
        (
            [row("r1", "Review", "2024-02-20 10:00"), row("r2", "Review", "2024-02-25 10:00"), row("x1", None, "2024-02-22 10:00")],
            ("satisfied", "proven", ("r2",)),
        ),
    ],
    ids=[
        "before", "before, after another", "another between", "order of two unknown", "another at the fine's minute", "tie",
        "only afterwards", "an unknown event earlier", "the last of two counts",
    ],
)  # fmt: skip
def test_n3_the_event_before_is_the_target(
    evaluate: Evaluate, events: list[Event], expected: tuple[Any, ...]
) -> None:
    verdicts = evaluate(rule(duty("chain_precedence", "Review")), log(), [FINE, *events])
    assert of(verdicts, "f1") == (*expected, AT_FINE, None)


def test_n3_another_event_before_makes_the_start_of_the_case_needless(evaluate: Evaluate) -> None:
    structure = rule(duty("chain_precedence", "Review"))
    early = [row("a1", "Appeal", "2024-01-01 00:00"), FINE]  # the case may have begun before coverage
    assert said(evaluate(structure, log(), early)) == ("violated", "not_preceded", ("a1",), AT_FINE, None)
    alone = [row("f1", "Fine", "2024-01-01 00:00")]
    assert said(evaluate(structure, log(), alone))[:2] == ("indeterminate", "uncovered")


def test_n3_a_deadline_begins_it_too(evaluate: Evaluate) -> None:
    structure = rule(duty("chain_precedence", "Review", "P7D"))
    events = [FINE, row("r1", "Review", "2024-02-20 10:00")]
    assert said(evaluate(structure, log(), events)) == ("violated", "not_preceded", (), AT_FINE, None)


# ---- init and end


@pytest.mark.parametrize(
    "events, expected",
    [
        ([FINE, row("a1", "Appeal", "2024-03-02 10:00")], ("satisfied", "proven", ("f1",), due("2024-03-02 10:00"), None)),
        ([FINE], ("satisfied", "proven", ("f1",), None, None)),
        ([row("a1", "Appeal", "2024-02-29 10:00"), FINE], ("violated", "absent", ("a1",), due("2024-02-29 10:00"), None)),
        ([row("a1", "Appeal", "2024-03-01 10:00"), FINE], ("indeterminate", "unknown_order", ("f1",), AT_FINE, None)),
        ([row("a1", None, "2024-02-29 10:00"), FINE], ("indeterminate", "unknown_order", ("f1",), None, None)),
        ([row("f1", "Fine", "2024-01-01 00:00")], ("indeterminate", "uncovered", ("f1",), None, None)),
        ([row("a1", "Appeal", "2024-01-01 00:00"), FINE], ("indeterminate", "uncovered", ("f1",), None, None)),
        ([row("a1", "Appeal", "2024-02-29 10:00", "bank"), FINE], ("satisfied", "proven", ("f1",), None, None)),
        ([row("a1", "Appeal", "2024-02-29 10:00", "bank")], ("pending", "open", (), None, None)),
    ],
    ids=["first", "alone", "second", "order of two unknown", "an unknown event first", "the log may begin later", "the same, violated",
         "an event in a log that is not asked", "nothing in the log asked"],
)  # fmt: skip
def test_n4_a_case_begins_with_the_target(
    evaluate: Evaluate, events: list[Event], expected: tuple[Any, ...]
) -> None:
    (verdict,) = evaluate(rule(duty("init", "Fine"), trigger=None), log("desk", "bank"), events)
    assert (verdict.instance, verdict.bearer) == ("c1", None)  # N6: nobody in particular bears it
    assert said([verdict]) == expected


def test_n4_a_declared_start_activity_makes_the_first_row_known(evaluate: Evaluate) -> None:
    events = [row("f1", "Fine", "2024-01-01 00:00")]
    structure = rule(duty("init", "Fine"), trigger=None)
    assert said(evaluate(structure, log(case_start=("Fine",)), events)) == (
        "satisfied",
        "proven",
        ("f1",),
        None,
        None,
    )
    events = [
        row("a1", "Appeal", "2024-03-01 10:00"),
        row("f1", "Fine", "2024-03-02 10:00"),
    ]  # a start activity, and not the first
    assert said(evaluate(structure, log(case_start=("Fine",)), events))[:3] == ("violated", "absent", ("a1",))


def test_n4_an_act_may_call_for_it(evaluate: Evaluate) -> None:
    structure = rule(duty("init", "Review"))
    events = [row("r1", "Review", "2024-02-20 10:00"), row("a1", "Appeal", "2024-02-21 10:00"), FINE]
    assert said(evaluate(structure, log(), events)) == (
        "satisfied",
        "proven",
        ("r1",),
        due("2024-02-21 10:00"),
        None,
    )


def test_n4_what_may_be_the_first_event_and_is_an_exception_excuses_it(evaluate: Evaluate) -> None:
    """X2: a row that is not known to be another event ends nothing, and is on record before anything can."""
    first, unless = Act(activity="Review", object="car"), Act(activity="Review", location="hall")
    structure = rule(duty("init", first, unless=unless), trigger=None)
    opened = row("o1", "Open", "2024-03-01 09:00", "bank")  # no event of the policy's log
    told = [row("r1", "Review", "2024-03-01 10:00", location="hall", object=what) for what in ("bike", "car")]
    records, unclear = log("desk", "bank"), anonymous(told[0], "object")
    assert said(evaluate(structure, records, [opened, unclear]))[:3] == ("excused", "exception", ("r1",))
    assert said(evaluate(structure, records, [opened, told[0]]))[:2] == ("indeterminate", "exception_unknown")
    assert said(evaluate(structure, records, [opened, told[1]]))[:2] == ("satisfied", "proven")


SHUT = row("x1", "Close", "2024-03-09 10:00")
AT_SHUT = due("2024-03-09 10:00")


@pytest.mark.parametrize(
    "target, events, expected",
    [
        ("Pay", [row("p1", "Pay", "2024-03-05 10:00"), SHUT], ("satisfied", "proven", ("p1",), AT_SHUT, None)),
        ("Close", [row("p1", "Pay", "2024-03-05 10:00"), SHUT], ("satisfied", "proven", ("x1",), AT_SHUT, None)),
        (
            "Pay",
            [row("p1", "Pay", "2024-03-05 10:00"), row("a1", "Appeal", "2024-03-06 10:00"), SHUT],
            ("violated", "absent", ("a1",), AT_SHUT, None),
        ),
        (
            "Pay",
            [row("p1", "Pay", "2024-03-05 10:00"), row("a1", "Appeal", "2024-03-10 10:00"), SHUT],
            ("satisfied", "proven", ("p1",), AT_SHUT, None),
        ),
        (
            "Pay",
            [row("p1", "Pay", "2024-03-05 10:00"), row("a1", "Appeal", "2024-03-09 10:00"), SHUT],
            ("indeterminate", "unknown_order", ("p1",), AT_SHUT, None),
        ),
        ("Pay", [SHUT], ("violated", "absent", ("f1",), AT_SHUT, None)),
        ("Pay", [row("p1", "Pay", "2024-03-05 10:00")], ("pending", "open", ("p1",), None, None)),
        (
            "Pay",
            [row("p1", "Pay", "2024-03-04 10:00"), row("z1", None, "2024-03-05 10:00"), row("p2", "Pay", "2024-03-06 10:00"), SHUT],
            ("satisfied", "proven", ("p2",), AT_SHUT, None),
        ),
    ],
    ids=["last before the closing row", "the closing row itself", "another later", "another after the closure", "another at the closure",
         "nothing else", "not closed yet", "the last of two counts"],
)  # fmt: skip
def test_n5_a_case_ends_with_the_target(
    evaluate: Evaluate, target: str, events: list[Event], expected: tuple[Any, ...]
) -> None:
    structure = rule(duty("end", target), trigger=None)
    opened = row("o1", "Open", "2024-02-28 10:00")
    assert said(evaluate(structure, log(**CLOSED), [opened, FINE, *events])) == expected


def test_n5_a_quiet_case_has_ended_and_the_window_has_no_say(evaluate: Evaluate) -> None:
    structure = rule(duty("end", "Pay"), window="P1D")
    events = [FINE, row("p1", "Pay", "2024-03-05 10:00")]
    end = due("2024-04-04 10:00:59.999999")
    assert said(evaluate(structure, log(quiet_after="P30D"), events)) == (
        "satisfied",
        "proven",
        ("p1",),
        end,
        None,
    )
    early = log(quiet_after="P30D", end_of_observation=date(2024, 3, 30))
    assert said(evaluate(structure, early, events)) == ("pending", "open", ("p1",), end, None)


def test_neighbours_that_cannot_be_decided_are_refused() -> None:
    two = log("desk", "bank")
    together = rule(NEXT, channels=("desk", "bank"), operator="all")
    assert (
        "chain_response asks for 1 order of events, but 2 of 2 channels must agree; use operator any"
        in refusal(together, two)
    )
    assert "case start is none" in refusal(rule(NEXT, trigger=None, office="clerk"), log())
    assert "has no interval end" in refusal(rule(duty("end", "Pay"), trigger=None), log())
    alone = duty("existence", "Pay", "P1D", correlate="same_resource")
    assert "it is case start" in refusal(rule(alone, trigger=None), log())


# ---- mutual templates


def halves(verdicts: Sequence[InstanceVerdict]) -> list[tuple[Any, ...]]:
    return [(v.instance, v.of_target, v.verdict, v.reason, v.witnesses, v.bearer) for v in verdicts]


def test_p1_succession_asks_both_acts(evaluate: Evaluate) -> None:
    events = [
        row("p0", "Pay", "2024-02-28 10:00", resource="eve"),
        FINE,
        row("p1", "Pay", "2024-03-05 10:00", resource="bob"),
        row("f2", "Fine", "2024-03-06 10:00"),
        SHUT,
    ]
    assert halves(evaluate(rule(duty("succession", "Pay")), log(**CLOSED), events)) == [
        ("f1", False, "satisfied", "proven", ("p1",), "ann"),
        ("f2", False, "violated", "absent", (), "ann"),
        ("p0", True, "violated", "late", ("f1",), "eve"),
        ("p1", True, "satisfied", "proven", ("f1",), "bob"),
    ]


def test_p1_coexistence_asks_both_acts_in_either_order(evaluate: Evaluate) -> None:
    events = [FINE, row("p1", "Pay", "2024-02-28 10:00"), SHUT]
    events += [row("p2", "Pay", "2024-02-28 10:00", case_id="c2"), SHUT._replace(event_id="x2", case_id="c2")]
    events += [FINE._replace(event_id="f3", case_id="c3"), SHUT._replace(event_id="x3", case_id="c3")]
    assert halves(evaluate(rule(duty("coexistence", "Pay")), log(**CLOSED), events)) == [
        ("f1", False, "satisfied", "proven", ("p1",), "ann"),
        ("p1", True, "satisfied", "proven", ("f1",), "ann"),
        ("p2", True, "violated", "absent", (), "ann"),
        ("f3", False, "violated", "absent", (), "ann"),
    ]


def test_p1_a_row_that_may_open_both_halves_opens_the_first(evaluate: Evaluate) -> None:
    events = [FINE, row("u1", None, "2024-03-02 10:00"), SHUT]
    verdicts = evaluate(rule(duty("succession", "Pay")), log(**CLOSED), events)
    assert [(v.instance, v.of_target, v.reason) for v in verdicts] == [
        ("f1", False, "unknown_match"),
        ("u1", False, "scope"),
    ]


def test_p1_the_duty_of_an_office_opens_at_its_own_acts(evaluate: Evaluate) -> None:
    events = [
        row("p1", "Pay", "2024-02-28 10:00", role="clerk"),
        row("p2", "Pay", "2024-02-28 10:00", role="guard"),
        FINE,
        SHUT,
    ]
    verdicts = evaluate(rule(duty("succession", "Pay"), office="clerk"), log(**CLOSED), events)
    assert [(v.instance, v.verdict, v.bearer) for v in verdicts] == [
        ("f1", "violated", "clerk"),
        ("p1", "violated", "clerk"),
    ]


def test_p1_ties_are_those_of_both_halves(evaluate: Evaluate) -> None:
    events = [row("f1", "Fine", "2024-03-01"), row("p1", "Pay", "2024-03-01")]
    records = log(quiet_after="P5D")
    counts = {
        None: ("satisfied", "indeterminate"),
        "fulfil": ("satisfied", "satisfied"),
        "violate": ("violated", "violated"),
    }
    for ties, expected in counts.items():
        verdicts = evaluate(rule(duty("succession", "Pay", ties=ties)), records, events)
        assert tuple(v.verdict for v in verdicts) == expected


def test_mutual_templates_that_cannot_be_decided_are_refused() -> None:
    mutual = duty("coexistence", "Pay", "P5D")
    assert "in 1 channel, but 2 can record them; cite one of them" in refusal(
        rule(mutual, channels=("desk", "bank")), log("desk", "bank")
    )
    assert "a scope does not reach" in refusal(rule(mutual, scope=Scope(roles=("clerk",))), log())
    assert "case start is none" in refusal(rule(mutual, trigger=None, office="clerk"), log())


def test_deadlines_of_both_halves() -> None:
    structure = rule(duty("succession", "Pay", "P1D"))
    plans = check(structure, log(), EventLog.from_events([FINE], log())).constraints
    assert [(p.template, p.deadline, p.since, p.until) for p in plans] == [
        ("response", Duration(days=1), "activation", "deadline"),
        ("precedence", Duration(days=1), "deadline", "activation"),
    ]
    assert checked(structure, log(), EventLog.from_events([FINE], log()))[0].due == NEXT_DAY


def test_new_fields_are_left_out_where_unset() -> None:
    assert list(Constraint(template="response", target="Pay").model_dump()) == [
        "template", "target", "after", "correlate", "deadline", "count", "unless",
    ]  # fmt: skip
    assert list(Act(activity="Pay").model_dump()) == ["activity", "location", "object", "role"]


# ---- exceptions in the meantime, and those on record


@pytest.mark.parametrize(
    "waived, expected",
    [
        ("2024-02-20 10:00", ("violated", "absent", ())),  # before the fine
        ("2024-03-01 10:00", ("excused", "exception", ("w1",))),  # at the fine's own minute
        ("2024-03-05 10:00", ("excused", "exception", ("w1",))),
        ("2024-03-08 10:00", ("indeterminate", "exception_unknown", ())),  # at the due minute
        ("2024-03-08 10:01", ("violated", "absent", ())),
    ],
)
def test_x1_an_exception_in_the_meantime_comes_after_the_activation(
    evaluate: Evaluate, waived: str, expected: tuple[Any, ...]
) -> None:
    events = [FINE, row("w1", "Waive", waived)]
    meanwhile = rule(duty("response", "Pay", "P7D", unless="Waive", in_the_meantime=True))
    assert said(evaluate(meanwhile, log(), events))[:3] == expected
    before = rule(duty("response", "Pay", "P7D", unless="Waive"))
    at_any_time = ("excused", "exception", ("w1",)) if waived < "2024-03-08" else expected
    assert said(evaluate(before, log(), events))[:3] == at_any_time


def test_x1_the_meantime_of_a_second_activation_begins_with_it(evaluate: Evaluate) -> None:
    after = After(act="Appeal", channel="desk")
    structure = rule(duty("response", "Decide", "P7D", after=after, unless="Waive", in_the_meantime=True))
    events = [FINE, row("w1", "Waive", "2024-03-02 10:00"), row("a1", "Appeal", "2024-03-03 10:00")]
    assert said(evaluate(structure, log(), events))[:2] == ("violated", "absent")
    events.append(row("w2", "Waive", "2024-03-04 10:00"))
    assert said(evaluate(structure, log(), events))[:3] == ("excused", "exception", ("w2",))


def test_x1_a_ban_in_the_meantime_ends_with_its_breach(evaluate: Evaluate) -> None:
    structure = rule(duty("not_response", "Pay", "P7D", unless="Waive", in_the_meantime=True))
    paid = [FINE, row("p1", "Pay", "2024-03-05 10:00")]
    early, between, late = (
        [*paid, row("w1", "Waive", when)]
        for when in ("2024-02-20 10:00", "2024-03-04 10:00", "2024-03-06 10:00")
    )
    assert said(evaluate(structure, log(), early))[:2] == ("violated", "seen_forbidden")
    assert said(evaluate(structure, log(), between))[:2] == ("excused", "exception")
    assert said(evaluate(structure, log(), late))[:2] == ("violated", "seen_forbidden")


OPEN_YET = {"end_of_observation": date(2024, 3, 5)}


@pytest.mark.parametrize(
    "template, meanwhile, waived, expected",
    [
        ("response", False, "2024-02-20 10:00", ("excused", "exception", ("w1",))),
        ("response", False, "2024-03-04 10:00", ("excused", "exception", ("w1",))),
        ("response", True, "2024-02-20 10:00", ("pending", "open", ())),
        ("response", True, "2024-03-04 10:00", ("excused", "exception", ("w1",))),
        ("not_response", False, "2024-03-04 10:00", ("excused", "exception", ("w1",))),
        ("exactly", False, "2024-03-04 10:00", ("excused", "exception", ("w1",))),
        ("response", False, "2024-04-02 10:00", ("pending", "open", ())),  # in the log, but after its due
        ("response", False, None, ("pending", "open", ())),  # a waiver at an unknown time proves nothing
    ],
)
def test_x2_an_exception_on_record_decides_what_is_pending(
    evaluate: Evaluate, template: str, meanwhile: bool, waived: str | None, expected: tuple[Any, ...]
) -> None:
    structure = rule(duty(template, "Pay", "P30D", unless="Waive", in_the_meantime=meanwhile))
    events = [FINE, row("w1", "Waive", waived)]
    assert said(evaluate(structure, log(**OPEN_YET), events))[:3] == expected


def test_x2_where_nothing_ends_a_case_too(evaluate: Evaluate) -> None:
    structure = rule(duty("response", "Pay", unless="Waive"))
    events = [FINE, row("w1", "Waive", "2024-03-20 10:00")]
    assert said(evaluate(structure, log(), events)) == ("excused", "exception", ("w1",), None, None)
    assert said(evaluate(structure, log(), [FINE])) == ("pending", "open", (), None, None)


def test_x2_for_the_end_of_a_case_too(evaluate: Evaluate) -> None:
    structure = rule(duty("end", "Pay", unless="Waive"))
    events = [FINE, row("w1", "Waive", "2024-03-20 10:00")]
    assert said(evaluate(structure, log(case_end=("Close",)), events))[:2] == ("excused", "exception")


def test_in_the_meantime_goes_with_an_exception_that_can_come_then() -> None:
    with pytest.raises(ValueError, match="in_the_meantime goes with unless"):
        duty("response", "Pay", in_the_meantime=True)
    for template in ("precedence", "succession", "init"):
        with pytest.raises(ValueError, match=f"does not go with {template}"):
            duty(template, "Pay", unless="Waive", in_the_meantime=True)
    assert "in_the_meantime" not in duty("response", "Pay", unless="Waive").model_dump_json()
