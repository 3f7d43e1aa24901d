"""Hand-made cases, one or more per line of SEMANTICS that speaks of verdicts; every expectation is worked out
from the pages.

The same cases run through every evaluator of the semantics: the oracle and, once it is listed below, the SQL
compiler.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from typing import Any

import oracle
import pytest
from agreement import procedure_verdicts
from tiers import mostly_slow

from gnrs_ppl.audit import run
from gnrs_ppl.audit.types import Due, InstanceVerdict
from gnrs_ppl.context.log import Event, EventLog
from gnrs_ppl.context.time import Grain
from gnrs_ppl.context.types import Channel, Interval, RecordLayer
from gnrs_ppl.errors import Refused
from gnrs_ppl.rule.types import (
    Act,
    After,
    Constraint,
    EvidencePolicy,
    Norm,
    Office,
    Procedure,
    Scope,
    Step,
    Structure,
    Trigger,
)

Evaluate = Callable[[Structure, RecordLayer, Sequence[Event]], list[InstanceVerdict]]
EvaluateProcedure = Callable[
    [Structure, RecordLayer, Sequence[Event], Sequence[InstanceVerdict]], list[InstanceVerdict]
]


def sql(structure: Structure, records: RecordLayer, events: Sequence[Event]) -> list[InstanceVerdict]:
    """The compiled check; what line 24 refuses at compile time has verdicts in the oracle only."""
    try:
        return run.evaluate(structure, records, EventLog.from_events(events, records))
    except Refused as refusal:
        if re.search("coarser than half|carry an? |correlates nothing", str(refusal)):
            pytest.skip(f"line 24 refuses so small a log: {refusal}")
        raise


def sql_procedure(
    structure: Structure, records: RecordLayer, events: Sequence[Event], norm: Sequence[InstanceVerdict]
) -> list[InstanceVerdict]:
    found = procedure_verdicts(structure, records, EventLog.from_events(events, records))
    assert found is not None
    return found


# the fast tier asks the oracle for every line; that SQL says what the oracle says it asks in test_audit_agreement
EVALUATORS: list[Evaluate] = [oracle.evaluate, sql]
PROCEDURE_EVALUATORS: list[EvaluateProcedure] = [oracle.evaluate_procedure, sql_procedure]

ACTIVITIES = ("Open", "Fine", "Pay", "Appeal", "Waive", "Review", "Decide", "Close")
DAY = 86400.0


@pytest.fixture(
    params=mostly_slow(EVALUATORS, but=EVALUATORS[:1]), ids=lambda f: f"{f.__module__}.{f.__name__}"
)
def evaluate(request: pytest.FixtureRequest) -> Evaluate:
    return request.param


@pytest.fixture(
    params=mostly_slow(PROCEDURE_EVALUATORS, but=PROCEDURE_EVALUATORS[:1]),
    ids=lambda f: f"{f.__module__}.{f.__name__}",
)
def evaluate_procedure(request: pytest.FixtureRequest) -> EvaluateProcedure:
    return request.param


# ---- writing small logs and rules


def moment(text: str) -> tuple[datetime, int, Grain]:
    """Local wall time, offset and grain of ``2024-03-01[ 10:00[:30[.000000]]][+01:00]``."""
    match = re.fullmatch(r"(\S{10})(?: (\d\d:\d\d)(:\d\d)?(\.\d{6})?)?(?:([+-])(\d\d):(\d\d))?", text)
    assert match is not None, text
    day, minute, second, micro, sign, hours, minutes = match.groups()
    offset = (-1 if sign == "-" else 1) * (60 * int(hours or 0) + int(minutes or 0))
    grain: Grain = "microsecond" if micro else "second" if second else "minute" if minute else "day"
    return datetime.fromisoformat(f"{day} {minute or '00:00'}{second or ''}{micro or ''}"), offset, grain


def row(
    event_id: str, activity: str | None, when: str | None, channel: str | None = "desk", **fields: str
) -> Event:
    fields = {"case_id": "c1", "resource": "ann", **fields}
    if when is None:
        return Event(
            event_id, activity=activity, timestamp=None, offset=None, grain=None, channel=channel, **fields
        )
    wall, offset, grain = moment(when)
    utc = wall - timedelta(minutes=offset)
    return Event(
        event_id, activity=activity, timestamp=utc, offset=offset, grain=grain, channel=channel, **fields
    )


def anonymous(event: Event, *fields: str) -> Event:
    """The same row with some fields null."""
    return event._replace(**dict.fromkeys(fields or ("resource",)))


def due(text: str) -> Due:
    return Due(*moment(text))


YEAR = (Interval(start=date(2024, 1, 1), end=date(2024, 12, 31)),)
"""Coverage of every channel unless a test says otherwise."""


def log(
    *names: str,
    closed: Sequence[str] = ("desk", "bank", "post"),
    can: dict[str, Sequence[str]] | None = None,
    coverage: tuple[Interval, ...] | None = YEAR,
    **fields: Any,
) -> RecordLayer:
    """A record layer whose channels can record everything, are closed-world and cover 2024, observed to the
    end of it."""
    channels = tuple(
        Channel(
            name=name,
            activities=tuple((can or {}).get(name, ACTIVITIES)),
            coverage=coverage,
            closed_world=name in closed,
        )
        for name in names or ("desk",)
    )
    return RecordLayer(channels=channels, **{"end_of_observation": date(2024, 12, 31), **fields})


def duty(template: str, target: Act | str = "Pay", deadline: str | None = None, **fields: Any) -> Constraint:
    return Constraint(template=template, target=target, deadline=deadline, **fields)


def rule(
    *constraints: Constraint,
    trigger: str | None = "Fine",
    once: str = "each",
    window: str | None = None,
    office: str | None = None,
    force: str = "must",
    scope: Scope = Scope(),  # noqa: B008
    channels: tuple[str, ...] = ("desk",),
    operator: str = "any",
    k: int | None = None,
    steps: tuple[Step, ...] = (Step(stage="review", name="Look into it", role="officer"),),
    response_time: str | None = None,
) -> Structure:
    opener = Trigger(act=trigger, channel="desk" if trigger else None, once=once, window=window)
    norm = Norm(force=force, bearer=Office(role=office) if office else "trigger", constraints=constraints)
    evidence = EvidencePolicy(channels=channels, operator=operator, k=k)
    procedure = Procedure(steps=steps, response_time=response_time)
    return Structure(scope=scope, trigger=opener, norm=norm, evidence=evidence, procedure=procedure)


def said(verdicts: Sequence[InstanceVerdict]) -> tuple[Any, ...]:
    """Verdict, reason, witnesses, due and slack of the one row there is."""
    assert len(verdicts) == 1, verdicts
    one = verdicts[0]
    return one.verdict, one.reason, one.witnesses, one.due, one.slack_seconds


FINE = row("f1", "Fine", "2024-03-01 10:00")
NEXT_DAY = due("2024-03-02 10:00")
PAY_IN_A_DAY = duty("response", "Pay", "P1D")


# ---- line 1: acts and three-valued matching


@pytest.mark.parametrize(
    "pay, expected",
    [
        (
            row("p1", "Pay", "2024-03-01 11:00", location="hall"),
            ("satisfied", "proven", ("p1",), NEXT_DAY, 23 * 3600.0),
        ),
        (row("p1", "Pay", "2024-03-01 11:00", location="gate"), ("violated", "absent", (), NEXT_DAY, None)),
        (row("p1", "Pay", "2024-03-01 11:00"), ("indeterminate", "unknown_match", (), NEXT_DAY, None)),
        (
            row("p1", None, "2024-03-01 11:00", location="hall"),
            ("indeterminate", "unknown_match", (), NEXT_DAY, None),
        ),
        (row("p1", None, "2024-03-01 11:00", location="gate"), ("violated", "absent", (), NEXT_DAY, None)),
        (
            row("p1", "Pay", "2024-03-01 11:00", None, location="hall"),
            ("indeterminate", "unknown_match", (), NEXT_DAY, None),
        ),
        (row("p1", "Pay", None, location="hall"), ("indeterminate", "unknown_match", (), NEXT_DAY, None)),
    ],
    ids=[
        "equal",
        "other place",
        "null place",
        "null activity",
        "null activity elsewhere",
        "null channel",
        "null timestamp",
    ],
)
def test_line_01_a_null_in_a_stated_field_is_neither_proof_nor_silence(
    evaluate: Evaluate, pay: Event, expected: tuple[Any, ...]
) -> None:
    target = Act(activity="Pay", location="hall")
    verdicts = evaluate(rule(duty("response", target, "P1D")), log(), [FINE, pay])
    assert (
        said([v for v in verdicts if v.instance == "f1"]) == expected
    )  # a row without activity may be a trigger, too (line 6)


# ---- lines 2 and 3: capability and operator


def test_line_02_only_channels_that_can_record_the_act_are_asked(evaluate: Evaluate) -> None:
    records = log("desk", "bank", can={"bank": ("Fine",)})
    events = [
        FINE,
        row("p1", "Pay", "2024-03-01 11:00", "bank"),
    ]  # a pair first seen later is a finding, not evidence
    structure = rule(PAY_IN_A_DAY, channels=("desk", "bank"), operator="all")
    assert said(evaluate(structure, records, events)) == ("violated", "absent", (), NEXT_DAY, None)


@pytest.mark.parametrize(
    "operator, k, expected",
    [
        ("any", None, ("satisfied", "proven", ("p1", "p2"), NEXT_DAY, 23 * 3600.0)),
        ("at_least", 2, ("satisfied", "proven", ("p1", "p2"), NEXT_DAY, 23 * 3600.0)),
        ("all", None, ("indeterminate", "uncorroborated", ("p1", "p2"), NEXT_DAY, None)),
    ],
)
def test_line_03_any_at_least_all(
    evaluate: Evaluate, operator: str, k: int | None, expected: tuple[Any, ...]
) -> None:
    events = [FINE, row("p1", "Pay", "2024-03-01 11:00"), row("p2", "Pay", "2024-03-01 11:00", "bank")]
    structure = rule(PAY_IN_A_DAY, channels=("desk", "bank", "post"), operator=operator, k=k)
    assert said(evaluate(structure, log("desk", "bank", "post"), events)) == expected


# ---- line 4: coverage and end of observation


@pytest.mark.parametrize(
    "second_day, expected",
    [
        (2, ("violated", "absent", (), NEXT_DAY, None)),
        (3, ("indeterminate", "uncovered", (), NEXT_DAY, None)),
    ],
)
def test_line_04_adjacent_coverage_is_merged_and_a_gap_is_not_silence(
    evaluate: Evaluate, second_day: int, expected: tuple[Any, ...]
) -> None:
    days = [date(2024, 3, 1), date(2024, 3, second_day)]
    records = log(coverage=tuple(Interval(start=day, end=day) for day in days))
    assert said(evaluate(rule(PAY_IN_A_DAY), records, [FINE])) == expected


@pytest.mark.parametrize(
    "end, expected",
    [
        (datetime(2024, 3, 2, 10, 0, 59, 999999), ("violated", "absent", (), NEXT_DAY, None)),
        (datetime(2024, 3, 2, 10, 0, 59, 999998), ("pending", "open", (), NEXT_DAY, None)),
        (date(2024, 3, 2), ("violated", "absent", (), NEXT_DAY, None)),
        (date(2024, 3, 1), ("pending", "open", (), NEXT_DAY, None)),
    ],
)
def test_line_04_an_interval_is_over_when_its_last_grain_was_observed(
    evaluate: Evaluate, end: date, expected: tuple[Any, ...]
) -> None:
    assert said(evaluate(rule(PAY_IN_A_DAY), log(end_of_observation=end), [FINE])) == expected


def test_line_04_defaults_first_to_last_event_of_the_channel_and_last_instant_of_the_log(
    evaluate: Evaluate,
) -> None:
    records = log("desk", "bank", coverage=None, end_of_observation=None)
    seen_by_bank = [
        FINE,
        row("x1", "Appeal", "2024-03-02 10:00", "bank"),
    ]  # observed to 10:00:59, but desk covers 1 March 10:00 only
    assert said(evaluate(rule(PAY_IN_A_DAY), records, seen_by_bank)) == (
        "indeterminate",
        "uncovered",
        (),
        NEXT_DAY,
        None,
    )
    seen_by_desk = [FINE, row("x1", "Appeal", "2024-03-02 10:00", case_id="c2")]
    assert said(evaluate(rule(PAY_IN_A_DAY), records, seen_by_desk)) == (
        "violated",
        "absent",
        (),
        NEXT_DAY,
        None,
    )
    too_early = [FINE, row("x1", "Appeal", "2024-03-02 09:59", case_id="c2")]
    assert said(evaluate(rule(PAY_IN_A_DAY), records, too_early)) == ("pending", "open", (), NEXT_DAY, None)


def test_line_04_a_declared_day_is_local_to_the_declared_offset(evaluate: Evaluate) -> None:
    fine = row("f1", "Fine", "2024-03-01 10:00+05:00")
    first_two_days = (Interval(start=date(2024, 3, 1), end=date(2024, 3, 2)),)
    records = log(coverage=first_two_days, offset=5 * 60)  # from 29 February 19:00 UTC to 2 March 19:00 UTC
    late_evening = duty("response", "Pay", "P1DT13H")  # due 2 March 23:00+05:00 = 18:00 UTC
    end = due("2024-03-02 23:00+05:00")
    assert said(evaluate(rule(late_evening), records, [fine])) == ("violated", "absent", (), end, None)
    elsewhere = log(coverage=first_two_days, offset=7 * 60)  # ends 2 March 17:00 UTC
    assert said(evaluate(rule(late_evening), elsewhere, [fine])) == (
        "indeterminate",
        "uncovered",
        (),
        end,
        None,
    )


# ---- line 5: proven, refuted, unknown


@pytest.mark.parametrize(
    "operator, closed, expected",
    [
        ("any", ("desk", "bank"), ("violated", "absent")),
        ("any", ("desk",), ("indeterminate", "open_world")),
        ("all", ("desk",), ("violated", "absent")),
        ("all", (), ("indeterminate", "open_world")),
    ],
)
def test_line_05_closed_world_refutation_needs_n_minus_k_plus_one(
    evaluate: Evaluate, operator: str, closed: tuple[str, ...], expected: tuple[str, str]
) -> None:
    structure = rule(PAY_IN_A_DAY, channels=("desk", "bank"), operator=operator)
    assert said(evaluate(structure, log("desk", "bank", closed=closed), [FINE])) == (
        *expected,
        (),
        NEXT_DAY,
        None,
    )


def test_line_05_counts_are_per_channel_and_rows_of_two_channels_are_split(evaluate: Evaluate) -> None:
    twice = rule(duty("existence", "Pay", "P1D", count=2), channels=("desk", "bank"))
    events = [FINE, row("p1", "Pay", "2024-03-01 11:00"), row("p2", "Pay", "2024-03-01 12:00", "bank")]
    assert said(evaluate(twice, log("desk", "bank"), events)) == (
        "indeterminate",
        "split",
        ("p1", "p2"),
        NEXT_DAY,
        None,
    )
    events.append(row("p3", "Pay", "2024-03-01 13:00", "bank"))
    assert said(evaluate(twice, log("desk", "bank"), events)) == (
        "satisfied",
        "proven",
        ("p1", "p2"),
        NEXT_DAY,
        21 * 3600.0,
    )


@pytest.mark.parametrize(
    "within, expected",
    [
        (None, ("indeterminate", "split", ("p1", "p2"), NEXT_DAY, None)),
        ("PT2M59S", ("indeterminate", "split", ("p1", "p2"), NEXT_DAY, None)),
        ("PT3M", ("satisfied", "proven", ("p1", "p2"), NEXT_DAY, 22 * 3600.0 + 57 * 60)),
    ],
)
def test_line_05_two_channels_corroborate_one_act_within_match_within(
    evaluate: Evaluate, within: str | None, expected: tuple[Any, ...]
) -> None:
    events = [FINE, row("p1", "Pay", "2024-03-01 11:00"), row("p2", "Pay", "2024-03-01 11:03", "bank")]
    structure = rule(PAY_IN_A_DAY, channels=("desk", "bank"), operator="all")
    assert said(evaluate(structure, log("desk", "bank", match_within=within), events)) == expected


def test_line_05_one_channel_alone_is_uncorroborated(evaluate: Evaluate) -> None:
    structure = rule(PAY_IN_A_DAY, channels=("desk", "bank"), operator="all")
    events = [FINE, row("p1", "Pay", "2024-03-01 11:00"), row("p2", "Pay", "2024-03-01 11:00")]
    expected = ("indeterminate", "uncorroborated", ("p1",), NEXT_DAY, None)
    assert said(evaluate(structure, log("desk", "bank"), events)) == expected


def test_line_05_corroborated_at_the_coarsest_grain_of_the_channels(evaluate: Evaluate) -> None:
    structure = rule(duty("response", "Pay", "PT5M"), channels=("desk", "bank"), operator="all")
    end = due("2024-03-01 10:05")
    events = [FINE, row("p1", "Pay", "2024-03-01 10:04"), row("p2", "Pay", "2024-03-01 10:05:45", "bank")]
    # at minutes: 10:04 and 10:05 are 60 s apart and both within 10:05
    assert said(evaluate(structure, log("desk", "bank"), events)) == (
        "satisfied",
        "proven",
        ("p1", "p2"),
        end,
        0.0,
    )
    events[2] = row("p2", "Pay", "2024-03-01 10:06:00", "bank")
    assert said(evaluate(structure, log("desk", "bank"), events)) == (
        "indeterminate",
        "uncorroborated",
        ("p1",),
        end,
        None,
    )


def test_line_05_corroborated_by_days_where_one_channel_has_dates_only(evaluate: Evaluate) -> None:
    structure = rule(duty("response", "Pay", "P5D"), channels=("desk", "bank"), operator="all")
    events = [
        row("f1", "Fine", "2024-03-01"),
        row("p1", "Pay", "2024-03-03"),
        row("p2", "Pay", "2024-03-04 23:00:00", "bank"),
    ]
    expected = ("satisfied", "proven", ("p1", "p2"), due("2024-03-06"), 2 * DAY)
    assert (
        said(evaluate(structure, log("desk", "bank"), events)) == expected
    )  # 3 and 4 March: one day apart, the default
    events[2] = row("p2", "Pay", "2024-03-05 00:00:00", "bank")
    assert said(evaluate(structure, log("desk", "bank"), events))[:2] == ("indeterminate", "split")


# ---- lines 6 to 8: scope, trigger, bearer


@pytest.mark.parametrize("place, opened", [("hall", True), ("gate", False)])
def test_line_06_scope_filters_the_trigger_row(evaluate: Evaluate, place: str, opened: bool) -> None:
    structure = rule(PAY_IN_A_DAY, scope=Scope(locations=("hall",)))
    assert bool(evaluate(structure, log(), [row("f1", "Fine", "2024-03-01 10:00", location=place)])) is opened


@pytest.mark.parametrize(
    "trigger",
    [
        FINE,  # null location
        row("f1", "Fine", "2024-03-01 10:00", None, location="hall"),
        row("f1", None, "2024-03-01 10:00", location="hall"),
        row("f1", "Fine", None, location="hall"),
    ],
    ids=["location", "channel", "activity", "timestamp"],
)
def test_line_06_an_unknown_trigger_or_scope_decides_nothing(evaluate: Evaluate, trigger: Event) -> None:
    structure = rule(PAY_IN_A_DAY, duty("absence", "Appeal", "P1D"), scope=Scope(locations=("hall",)))
    rows = evaluate(structure, log(), [trigger, row("p1", "Pay", "2024-03-01 11:00", location="hall")])
    rows = [r for r in rows if r.instance == "f1"]
    assert rows == [
        InstanceVerdict("c1", "f1", i, "indeterminate", "scope", (), "ann", None, None) for i in (0, 1)
    ]


def test_line_07_once_first_is_per_case_and_bearer_among_definite_rows(evaluate: Evaluate) -> None:
    events = [
        row("f3", "Fine", "2024-03-01 10:00"),
        row("f1", "Fine", "2024-03-01 10:00"),  # same instant: f1 < f3
        row("f2", "Fine", "2024-03-01 09:00", resource="bob"),
        anonymous(row("f4", "Fine", "2024-03-01 08:00")),
        anonymous(row("f5", "Fine", "2024-03-01 09:00")),  # null resources form one group
        row("f6", "Fine", None),  # opened by an unknown match: kept
        row("f7", "Fine", "2024-03-01 11:00", case_id="c2"),
    ]
    assert [v.instance for v in evaluate(rule(PAY_IN_A_DAY, once="first"), log(), events)] == [
        "f1",
        "f2",
        "f4",
        "f6",
        "f7",
    ]
    per_case = evaluate(rule(PAY_IN_A_DAY, once="first", office="clerk"), log(), events)
    assert [v.instance for v in per_case] == ["f4", "f6", "f7"]
    assert len(evaluate(rule(PAY_IN_A_DAY), log(), events)) == 7


def test_line_07_case_start_opens_one_instance_per_case_under_the_case_id(evaluate: Evaluate) -> None:
    events = [
        row("x2", "Open", "2024-03-01 10:00"),
        row("p1", "Pay", "2024-03-01 12:00", role="clerk"),
        row("x3", "Open", None, case_id="c2"),
    ]
    structure = rule(duty("existence", "Pay", "P1D"), trigger=None, office="clerk")
    assert evaluate(structure, log(), events) == [
        InstanceVerdict("c1", "c1", 0, "satisfied", "proven", ("p1",), "clerk", NEXT_DAY, 22 * 3600.0),
        InstanceVerdict("c2", "c2", 0, "indeterminate", "scope", (), "clerk", None, None),
    ]


def test_line_07_the_row_that_starts_the_case_may_itself_be_the_target(evaluate: Evaluate) -> None:
    structure = rule(PAY_IN_A_DAY, trigger=None, office="clerk")
    events = [row("p1", "Pay", "2024-03-01 10:00", role="clerk")]
    assert said(evaluate(structure, log(), events)) == ("satisfied", "tie", ("p1",), NEXT_DAY, DAY)


@pytest.mark.parametrize(
    "role, expected",
    [
        ("clerk", ("satisfied", "proven")),
        ("guard", ("violated", "absent")),
        (None, ("indeterminate", "unknown_match")),
    ],
)
def test_line_08_a_duty_of_the_office_asks_for_its_role(
    evaluate: Evaluate, role: str | None, expected: tuple[str, str]
) -> None:
    structure = rule(PAY_IN_A_DAY, office="clerk", scope=Scope(roles=("clerk",)))
    fine = FINE._replace(role="guard")  # scope.roles does not filter the trigger row of an office
    (verdict,) = evaluate(structure, log(), [fine, row("p1", "Pay", "2024-03-01 11:00")._replace(role=role)])
    assert (verdict.verdict, verdict.reason, verdict.bearer) == (*expected, "clerk")


@pytest.mark.parametrize("role, rows", [("clerk", 1), ("guard", 0)])
def test_line_08_scope_roles_filter_the_trigger_row_of_an_individual(
    evaluate: Evaluate, role: str, rows: int
) -> None:
    structure = rule(PAY_IN_A_DAY, scope=Scope(roles=("clerk",)))
    assert [v.bearer for v in evaluate(structure, log(), [FINE._replace(role=role)])] == ["ann"] * rows


# ---- line 9: window, closure, quiet_after


def test_line_09_without_deadline_the_window_ends_the_interval(evaluate: Evaluate) -> None:
    structure = rule(duty("existence", "Pay"), window="P10D")
    events = [FINE, row("p1", "Pay", "2024-03-05 10:00"), row("x1", "Close", "2024-03-02 10:00")]
    expected = ("satisfied", "proven", ("p1",), due("2024-03-11 10:00"), 6 * DAY)
    assert said(evaluate(structure, log(case_end=("Close",)), events)) == expected


def test_line_09_without_window_the_earliest_closing_row_ends_it_and_lends_its_grain(
    evaluate: Evaluate,
) -> None:
    records = log("desk", "bank", case_end=("Close",))
    structure = rule(duty("existence", "Pay"))
    events = [
        row("x0", "Close", "2024-02-20 10:00"),  # before the activation
        FINE,
        row("x1", "Close", "2024-03-08 12:00:30", "bank"),
        row("x2", "Close", "2024-03-09 12:00:30", "bank"),
    ]
    end = due("2024-03-08 12:00:30")
    assert said(evaluate(structure, records, events)) == ("violated", "absent", (), end, None)
    events.append(row("p1", "Pay", "2024-03-09 10:00"))  # at minutes: 8 March 12:00 − 9 March 10:00
    assert said(evaluate(structure, records, events)) == ("violated", "late", ("p1",), end, -22 * 3600.0)


def test_line_09_a_quiet_case_is_closed(evaluate: Evaluate) -> None:
    structure = rule(duty("existence", "Pay"))
    events = [FINE, row("x1", "Appeal", "2024-03-05 10:00")]
    quiet = log(case_end=("Close",), quiet_after="P30D")
    end = due("2024-04-04 10:00:59.999999")
    assert said(evaluate(structure, quiet, events)) == ("violated", "absent", (), end, None)
    early = log(case_end=("Close",), quiet_after="P30D", end_of_observation=date(2024, 4, 3))
    assert said(evaluate(structure, early, events)) == ("pending", "open", (), end, None)


def test_line_09_a_case_without_closure_stays_pending(evaluate: Evaluate) -> None:
    structure = rule(duty("existence", "Pay"), duty("absence", "Appeal"))
    records = log(case_end=("Close",))
    open_case = [v[3:6] + v[7:9] for v in evaluate(structure, records, [FINE])]
    assert open_case == [("pending", "open", (), None, None), ("pending", "unseen", (), None, None)]
    both = [FINE, row("p1", "Pay", "2024-03-02 10:00"), row("a1", "Appeal", "2024-03-02 10:00")]
    done = [v[3:6] + v[7:9] for v in evaluate(structure, records, both)]
    assert done == [
        ("satisfied", "proven", ("p1",), None, None),
        ("violated", "seen_forbidden", ("a1",), None, None),
    ]


def test_i6_where_nothing_ends_a_case_a_constraint_is_open_until_it_is_decided(evaluate: Evaluate) -> None:
    structure = rule(
        duty("existence", "Pay"),
        duty("absence", "Appeal"),
        duty("exactly", "Review"),
        duty("precedence", "Open"),
    )
    open_case = [v[3:6] + v[7:9] for v in evaluate(structure, log(), [FINE])]
    assert open_case[:3] == [
        ("pending", "open", (), None, None),
        ("pending", "unseen", (), None, None),
        ("pending", "open", (), None, None),
    ]
    assert open_case[3][0] != "pending"  # a look-back ends at its activation
    rows = [("p1", "Pay", 2), ("a1", "Appeal", 2), ("r1", "Review", 3), ("r2", "Review", 4)]
    events = [FINE, *(row(name, act, f"2024-03-0{day} 10:00") for name, act, day in rows)]
    assert [v[3:5] for v in evaluate(structure, log(), events)][:3] == [
        ("satisfied", "proven"),
        ("violated", "seen_forbidden"),
        ("violated", "too_many"),
    ]


def test_line_09_closure_never_shortens_a_stated_deadline(evaluate: Evaluate) -> None:
    events = [FINE, row("x1", "Close", "2024-03-02 10:00"), row("p1", "Pay", "2024-03-05 10:00")]
    expected = ("satisfied", "proven", ("p1",), due("2024-03-11 10:00"), 6 * DAY)
    assert said(evaluate(rule(duty("response", "Pay", "P10D")), log(case_end=("Close",)), events)) == expected


# ---- line 10: after


AFTER_APPEAL = duty("response", "Pay", "P5D", after=After(act="Appeal", channel="desk"))


def test_line_10_the_second_activation_starts_the_clock_and_due_may_pass_the_window(
    evaluate: Evaluate,
) -> None:
    events = [
        FINE,
        row("p0", "Pay", "2024-03-02 10:00"),  # before the appeal: not in (activation, due]
        row("a1", "Appeal", "2024-03-09 10:00"),
        row("a2", "Appeal", "2024-03-10 10:00"),
        row("p1", "Pay", "2024-03-13 10:00"),
    ]
    expected = ("satisfied", "proven", ("p1",), due("2024-03-14 10:00"), DAY)
    assert said(evaluate(rule(AFTER_APPEAL, window="P10D"), log(), events)) == expected


@pytest.mark.parametrize(
    "appeals, expected",
    [
        ([], ("not_activated", "no_after")),
        ([row("a1", "Appeal", "2024-03-12 10:00")], ("not_activated", "no_after")),
        ([row("a1", "Appeal", "2024-02-29 10:00")], ("not_activated", "no_after")),
        ([row("a1", "Appeal", "2024-03-02 10:00", "bank")], ("not_activated", "no_after")),
        ([row("a1", "Appeal", None)], ("indeterminate", "after_unknown")),
        ([row("a1", "Appeal", "2024-03-02 10:00", None)], ("indeterminate", "after_unknown")),
        ([row("a1", None, "2024-03-02 10:00")], ("indeterminate", "after_unknown")),
    ],
    ids=[
        "none",
        "after the window",
        "before t0",
        "other channel",
        "no timestamp",
        "no channel",
        "no activity",
    ],
)
def test_line_10_no_second_activation(
    evaluate: Evaluate, appeals: list[Event], expected: tuple[str, str]
) -> None:
    structure = rule(AFTER_APPEAL, window="P10D")
    verdicts = evaluate(structure, log("desk", "bank"), [FINE, *appeals])
    assert said([v for v in verdicts if v.instance == "f1"]) == (*expected, (), None, None)


def test_line_10_the_second_activation_is_correlated_with_the_trigger_row(evaluate: Evaluate) -> None:
    same_person = AFTER_APPEAL.model_copy(update={"correlate": "same_resource"})
    structure = rule(same_person, window="P10D")
    unknown = ("indeterminate", "after_unknown", (), None, None)
    appeal = row("a1", "Appeal", "2024-03-02 10:00", resource="bob")
    assert said(evaluate(structure, log(), [FINE, appeal])) == ("not_activated", "no_after", (), None, None)
    assert said(evaluate(structure, log(), [FINE, anonymous(appeal)])) == unknown
    assert said(evaluate(structure, log(), [anonymous(FINE), appeal])) == unknown
    events = [FINE, appeal._replace(resource="ann"), row("p1", "Pay", "2024-03-03 10:00", resource="bob")]
    assert said(evaluate(structure, log(), events)) == (
        "violated",
        "absent",
        (),
        due("2024-03-07 10:00"),
        None,
    )


# ---- lines 11 and 12: polarity and force


def test_line_11_precedence_forbids_the_trigger_unless_its_target_came_first(evaluate: Evaluate) -> None:
    structure = rule(duty("precedence", "Review", "P7D"))
    at_fine = due("2024-03-01 10:00")
    assert said(evaluate(structure, log(), [FINE])) == ("violated", "absent", (), at_fine, None)
    events = [FINE, row("r1", "Review", "2024-03-01 09:59")]
    assert said(evaluate(structure, log(), events)) == ("satisfied", "proven", ("r1",), at_fine, None)
    afterwards = [FINE, row("r1", "Review", "2024-03-01 10:01")]
    assert said(evaluate(structure, log(), afterwards)) == ("violated", "late", ("r1",), at_fine, None)


@pytest.mark.parametrize(
    "events, reason, witnesses",
    [
        ([row("r1", "Review", "2024-03-02 10:00"), row("r2", "Review", "2024-03-09 10:00")], "late", ("r1",)),
        ([row("r1", "Review", "2024-02-01 10:00")], "absent", ()),  # before the seven days it looks back
        ([row("r1", "Review", "2024-03-02 10:00", case_id="c2")], "absent", ()),
        ([row("r1", "Review", "2024-03-02 10:00", resource="bob")], "absent", ()),
        ([row("r1", "Review", "2024-03-02 10:00", "app")], "absent", ()),  # not a log of the policy
        ([row("r1", "Review", None), row("r2", "Review", "2024-03-02 10:00")], "unknown_match", ()),
    ],
    ids=["late", "too early", "another case", "another key", "another log", "one may be in time"],
)
def test_v5_what_came_after_instead_of_before_is_late(
    evaluate: Evaluate, events: list[Event], reason: str, witnesses: tuple[str, ...]
) -> None:
    structure = rule(duty("precedence", "Review", "P7D", correlate="same_resource"))
    verdict = "indeterminate" if reason == "unknown_match" else "violated"
    at_fine = due("2024-03-01 10:00")
    found = [v for v in evaluate(structure, log(), [FINE, *events]) if v.instance == "f1"]
    assert said(found) == (verdict, reason, witnesses, at_fine, None)


def test_v5_a_tie_that_is_open_is_not_late(evaluate: Evaluate) -> None:
    structure = rule(duty("precedence", "Review", "P7D"), channels=("desk", "bank"), operator="all")
    tied = [FINE, row("r1", "Review", "2024-03-01 10:00")]  # the silence of the bank refutes it all the same
    expected = ("violated", "absent", (), due("2024-03-01 10:00"), None)
    assert said(evaluate(structure, log("desk", "bank"), tied)) == expected


def test_line_11_absence_counts_fewer_than_n(evaluate: Evaluate) -> None:
    structure = rule(duty("absence", "Pay", "P1D", count=2))
    events = [FINE, row("p1", "Pay", "2024-03-01 11:00")]
    assert said(evaluate(structure, log(), events)) == ("satisfied", "refuted", ("p1",), NEXT_DAY, None)
    events.append(row("p2", "Pay", "2024-03-02 10:00"))
    assert said(evaluate(structure, log(), events)) == ("violated", "seen_forbidden", ("p1",), NEXT_DAY, None)


def test_line_12_should_is_checked_alike_and_may_gives_no_rows(evaluate: Evaluate) -> None:
    must = evaluate(rule(PAY_IN_A_DAY), log(), [FINE])
    assert said(must) == ("violated", "absent", (), NEXT_DAY, None)
    assert evaluate(rule(PAY_IN_A_DAY, force="should"), log(), [FINE]) == must
    assert evaluate(rule(PAY_IN_A_DAY, force="may"), log(), [FINE]) == []


# ---- line 13: correlation


@pytest.mark.parametrize(
    "payer, expected",
    [
        ("ann", ("violated", "seen_forbidden", ("p1",), NEXT_DAY, None)),
        ("bob", ("satisfied", "refuted", (), NEXT_DAY, None)),
        (None, ("indeterminate", "unknown_match", (), NEXT_DAY, None)),
    ],
)
def test_line_13_a_ban_is_about_the_same_resource_where_it_says_so(
    evaluate: Evaluate, payer: str | None, expected: tuple[Any, ...]
) -> None:
    pay = row("p1", "Pay", "2024-03-01 11:00")._replace(resource=payer)
    same = duty("not_response", "Pay", "P1D", correlate="same_resource")
    assert said(evaluate(rule(same), log(), [FINE, pay])) == expected
    anybody = evaluate(rule(duty("not_response", "Pay", "P1D")), log(), [FINE, pay])  # the default: the case
    assert said(anybody)[:3] == ("violated", "seen_forbidden", ("p1",))


def test_line_13_the_default_is_the_case(evaluate: Evaluate) -> None:
    pay = row("p1", "Pay", "2024-03-01 11:00", resource="bob", role="clerk")
    assert said(evaluate(rule(PAY_IN_A_DAY), log(), [FINE, pay]))[0] == "satisfied"
    assert (
        said(evaluate(rule(duty("not_response", "Pay", "P1D"), office="clerk"), log(), [FINE, pay]))[0]
        == "violated"
    )
    elsewhere = pay._replace(case_id="c2")  # always inside one case
    assert said(evaluate(rule(PAY_IN_A_DAY), log(), [FINE, elsewhere]))[:2] == ("violated", "absent")


def test_line_13_without_the_activations_key_the_act_is_unknown(evaluate: Evaluate) -> None:
    same_object = duty("response", "Pay", "P1D", correlate="same_object")
    pay = row("p1", "Pay", "2024-03-01 11:00", object="fine 7")
    assert said(evaluate(rule(same_object), log(), [FINE, pay])) == (
        "indeterminate",
        "unknown_key",
        (),
        NEXT_DAY,
        None,
    )
    early = log(end_of_observation=date(2024, 3, 1))
    assert said(evaluate(rule(same_object), early, [FINE, pay])) == ("pending", "open", (), NEXT_DAY, None)
    fine = FINE._replace(object="fine 7")
    assert said(evaluate(rule(same_object), log(), [fine, pay])) == (
        "satisfied",
        "proven",
        ("p1",),
        NEXT_DAY,
        23 * 3600.0,
    )


# ---- line 14: intervals


@pytest.mark.parametrize(
    "paid, expected",
    [
        ("2024-02-29", ("satisfied", "proven", ("p1",), due("2024-02-29"), 0.0)),
        ("2024-03-01", ("violated", "late", ("p1",), due("2024-02-29"), -DAY)),
        ("2024-02-01", ("satisfied", "proven", ("p1",), due("2024-02-29"), 28 * DAY)),
    ],
)
def test_line_14_a_month_from_31_january_ends_on_the_last_of_february(
    evaluate: Evaluate, paid: str, expected: tuple[Any, ...]
) -> None:
    events = [row("f1", "Fine", "2024-01-31"), row("p1", "Pay", paid)]
    assert said(evaluate(rule(duty("response", "Pay", "P1M")), log(), events)) == expected


def test_line_14_months_before_days_and_back_likewise(evaluate: Evaluate) -> None:
    events = [row("f1", "Fine", "2024-03-31"), row("p1", "Pay", "2024-02-28"), row("p2", "Pay", "2024-05-02")]
    structure = rule(duty("precedence", "Pay", "P1M1D"), duty("response", "Pay", "P1M2D"))
    back, forth = evaluate(structure, log(), events)
    # 31 March − 1 month = 29 February, − 1 day = 28 February; 31 March + 1 month = 30 April, + 2 days = 2 May
    assert (back.verdict, back.witnesses, back.due) == ("satisfied", ("p1",), due("2024-03-31"))
    assert (forth.verdict, forth.witnesses, forth.due, forth.slack_seconds) == (
        "satisfied",
        ("p2",),
        due("2024-05-02"),
        0.0,
    )


@pytest.mark.parametrize("template, positive", [("responded_existence", True), ("not_coexistence", False)])
def test_line_14_two_sided_templates_look_both_ways(
    evaluate: Evaluate, template: str, positive: bool
) -> None:
    structure = rule(duty(template, "Pay", "P5D"))
    fine = row("f1", "Fine", "2024-03-10 10:00")
    end = due("2024-03-15 10:00")
    proof = ("satisfied", "proven") if positive else ("violated", "seen_forbidden")
    silence = ("violated", "absent") if positive else ("satisfied", "refuted")
    before = [fine, row("p1", "Pay", "2024-03-05 10:00")]
    assert said(evaluate(structure, log(), before)) == (*proof, ("p1",), end, 10 * DAY if positive else None)
    behind = [fine, row("p1", "Pay", "2024-03-15 10:00")]
    assert said(evaluate(structure, log(), behind)) == (*proof, ("p1",), end, 0.0 if positive else None)
    too_early = [fine, row("p1", "Pay", "2024-03-05 09:59")]
    assert said(evaluate(structure, log(), too_early)) == (*silence, (), end, None)


def test_line_14_two_sided_without_deadline_runs_from_case_start_to_closure(evaluate: Evaluate) -> None:
    records = log(case_start=("Open",), case_end=("Close",))
    structure = rule(duty("responded_existence", "Pay"))
    events = [
        row("o1", "Open", "2024-03-01 09:00"),
        row("p1", "Pay", "2024-03-02 10:00"),
        row("f1", "Fine", "2024-03-05 10:00"),
        row("x1", "Close", "2024-03-09 10:00"),
    ]
    end = due("2024-03-09 10:00")
    assert said(evaluate(structure, records, events)) == ("satisfied", "proven", ("p1",), end, 7 * DAY)
    events[1] = row("p1", "Pay", "2024-03-01 08:59")  # before the known start of the case
    assert said(evaluate(structure, records, events)) == ("violated", "absent", (), end, None)


# ---- line 15: positive templates


@pytest.mark.parametrize(
    "paid, observed, expected",
    [
        ("2024-03-02 10:00", date(2024, 12, 31), ("satisfied", "proven", ("p1",), NEXT_DAY, 0.0)),
        ("2024-03-02 10:01", date(2024, 12, 31), ("violated", "late", ("p1",), NEXT_DAY, -60.0)),
        (None, date(2024, 12, 31), ("violated", "absent", (), NEXT_DAY, None)),
        (None, date(2024, 3, 1), ("pending", "open", (), NEXT_DAY, None)),
        ("2024-03-01 11:00", date(2024, 3, 1), ("satisfied", "proven", ("p1",), NEXT_DAY, 23 * 3600.0)),
    ],
)
def test_line_15_response(
    evaluate: Evaluate, paid: str | None, observed: date, expected: tuple[Any, ...]
) -> None:
    events = [FINE] + ([row("p1", "Pay", paid)] if paid else [])
    assert said(evaluate(rule(PAY_IN_A_DAY), log(end_of_observation=observed), events)) == expected


def test_line_15_a_late_row_without_closed_world_proves_nothing(evaluate: Evaluate) -> None:
    events = [FINE, row("p1", "Pay", "2024-03-05 10:00")]
    expected = ("indeterminate", "open_world", (), NEXT_DAY, None)
    assert said(evaluate(rule(PAY_IN_A_DAY), log(closed=()), events)) == expected


TEN_DAYS = due("2024-03-11 10:00")


@pytest.mark.parametrize(
    "days, expected",
    [
        ((2, 3), ("satisfied", "proven", ("p1",), TEN_DAYS, 8 * DAY)),
        ((2, 3, 4), ("violated", "too_many", ("p1",), TEN_DAYS, None)),
        ((2,), ("violated", "too_few", ("p1",), TEN_DAYS, None)),
        ((2, 15, 16), ("violated", "too_few", ("p1", "p2"), TEN_DAYS, -4 * DAY)),
        ((), ("violated", "too_few", (), TEN_DAYS, None)),
        ((2, 3, None), ("indeterminate", "unknown_match", ("p1",), TEN_DAYS, None)),
    ],
    ids=["two", "three", "one", "one and late", "none", "two and an undated"],
)
def test_line_15_exactly_two(
    evaluate: Evaluate, days: tuple[int | None, ...], expected: tuple[Any, ...]
) -> None:
    paid = [
        row(f"p{i}", "Pay", f"2024-03-{day:02} 10:00" if day else None) for i, day in enumerate(days, start=1)
    ]
    assert said(evaluate(rule(duty("exactly", "Pay", "P10D", count=2)), log(), [FINE, *paid])) == expected


def test_line_15_exactly_is_decided_early_only_by_too_many(evaluate: Evaluate) -> None:
    structure = rule(duty("exactly", "Pay", "P10D"))
    early = log(end_of_observation=date(2024, 3, 5))
    events = [FINE, row("p1", "Pay", "2024-03-02 10:00")]
    assert said(evaluate(structure, early, events)) == ("pending", "open", ("p1",), TEN_DAYS, None)
    events.append(row("p2", "Pay", "2024-03-03 10:00"))
    assert said(evaluate(structure, early, events)) == ("violated", "too_many", ("p1",), TEN_DAYS, None)
    assert said(evaluate(structure, log(closed=()), events[:2])) == (
        "indeterminate",
        "open_world",
        ("p1",),
        TEN_DAYS,
        None,
    )


# ---- line 16: left censoring


def test_line_16_a_look_back_that_begins_before_coverage_is_unknown(evaluate: Evaluate) -> None:
    fine = row("f1", "Fine", "2024-01-10 10:00")
    at_fine = due("2024-01-10 10:00")
    censored = rule(duty("precedence", "Review", "P30D"))
    assert said(evaluate(censored, log(), [fine])) == ("indeterminate", "uncovered", (), at_fine, None)
    covered = rule(duty("precedence", "Review", "P9D"))  # from 1 January 10:00
    assert said(evaluate(covered, log(), [fine])) == ("violated", "absent", (), at_fine, None)


@pytest.mark.parametrize(
    "opened, start, expected",
    [
        ("2024-03-01 09:00", (), ("violated", "absent")),  # first event after the start of coverage
        (
            "2024-01-01 00:00",
            (),
            ("indeterminate", "uncovered"),
        ),  # first event at the start of coverage: may have begun before
        ("2024-01-01 00:00", ("Open",), ("violated", "absent")),
        ("2023-12-31 23:59", ("Open",), ("indeterminate", "uncovered")),  # known, but outside coverage
    ],
)
def test_line_16_a_look_back_without_deadline_needs_a_known_case_start(
    evaluate: Evaluate, opened: str, start: tuple[str, ...], expected: tuple[str, str]
) -> None:
    events = [row("o1", "Open", opened), row("f1", "Fine", "2024-03-10 10:00")]
    structure = rule(duty("precedence", "Review"))
    assert said(evaluate(structure, log(case_start=start), events)) == (
        *expected,
        (),
        due("2024-03-10 10:00"),
        None,
    )


# ---- line 17: negative templates


@pytest.mark.parametrize(
    "constraint, paid, observed, expected",
    [
        (
            duty("not_response", "Pay", "P1D"),
            True,
            date(2024, 3, 1),
            ("violated", "seen_forbidden", ("p1",), NEXT_DAY, None),
        ),
        (
            duty("not_response", "Pay", "P1D"),
            False,
            date(2024, 3, 1),
            ("pending", "unseen", (), NEXT_DAY, None),
        ),
        (
            duty("absence", "Pay", "P1D", count=2),
            True,
            date(2024, 3, 1),
            ("pending", "seen", ("p1",), NEXT_DAY, None),
        ),
        (
            duty("absence", "Pay", "P1D", count=2),
            True,
            date(2024, 3, 2),
            ("satisfied", "refuted", ("p1",), NEXT_DAY, None),
        ),
        (
            duty("not_response", "Pay", "P1D"),
            False,
            date(2024, 3, 2),
            ("satisfied", "refuted", (), NEXT_DAY, None),
        ),
    ],
)
def test_line_17_negatives_proven_then_open_then_refuted(
    evaluate: Evaluate, constraint: Constraint, paid: bool, observed: date, expected: tuple[Any, ...]
) -> None:
    events = [FINE] + ([row("p1", "Pay", "2024-03-01 11:00")] if paid else [])
    assert said(evaluate(rule(constraint), log(end_of_observation=observed), events)) == expected


def test_line_17_silence_satisfies_a_negative_only_under_closed_world(evaluate: Evaluate) -> None:
    structure = rule(duty("not_response", "Pay", "P1D"))
    assert said(evaluate(structure, log(closed=()), [FINE])) == (
        "indeterminate",
        "open_world",
        (),
        NEXT_DAY,
        None,
    )


def test_line_17_not_precedence_is_never_pending(evaluate: Evaluate) -> None:
    structure = rule(duty("not_precedence", "Pay", "P7D"))
    at_fine = due("2024-03-01 10:00")
    early = log(end_of_observation=date(2024, 2, 29))
    assert said(evaluate(structure, early, [FINE])) == ("indeterminate", "uncovered", (), at_fine, None)
    assert said(evaluate(structure, log(), [FINE])) == ("satisfied", "refuted", (), at_fine, None)
    paid = [FINE, row("p1", "Pay", "2024-02-23 10:00")]
    assert said(evaluate(structure, early, paid)) == ("violated", "seen_forbidden", ("p1",), at_fine, None)


# ---- line 18: unless


UNLESS_WAIVED = duty("response", "Pay", "P1D", unless="Waive")


@pytest.mark.parametrize(
    "waived, expected",
    [
        ("2024-03-02 09:59", ("excused", "exception", ("w1",), NEXT_DAY, None)),
        ("2024-02-20 10:00", ("excused", "exception", ("w1",), NEXT_DAY, None)),
        ("2024-03-02 10:00", ("indeterminate", "exception_unknown", (), NEXT_DAY, None)),  # a tie at the due
        ("2024-03-02 10:01", ("violated", "late", ("p1",), NEXT_DAY, -2 * DAY)),
    ],
)
def test_line_18_an_exception_before_the_due_excuses_a_positive(
    evaluate: Evaluate, waived: str, expected: tuple[Any, ...]
) -> None:
    events = [FINE, row("w1", "Waive", waived), row("p1", "Pay", "2024-03-04 10:00")]
    assert said(evaluate(rule(UNLESS_WAIVED), log(), events)) == expected


def test_line_18_an_exception_is_unknown_where_its_channel_does_not_speak(evaluate: Evaluate) -> None:
    structure = rule(UNLESS_WAIVED, channels=("desk", "bank"))
    can = {"bank": ("Waive",), "desk": ("Fine", "Pay")}
    unknown = ("indeterminate", "exception_unknown", (), NEXT_DAY, None)
    assert said(evaluate(structure, log("desk", "bank", closed=("desk",), can=can), [FINE])) == unknown
    assert said(evaluate(structure, log("desk", "bank", can=can), [FINE])) == (
        "violated",
        "absent",
        (),
        NEXT_DAY,
        None,
    )
    undated = [FINE, row("w1", "Waive", None, "bank")]
    assert said(evaluate(structure, log("desk", "bank", can=can), undated)) == unknown


def test_line_18_without_a_known_case_start_an_exception_cannot_be_ruled_out(evaluate: Evaluate) -> None:
    whole = log(
        coverage=(Interval(start=datetime(2024, 3, 1, 10, 0), end=date(2024, 12, 31)),)
    )  # from the case's first row on
    assert said(evaluate(rule(UNLESS_WAIVED), whole, [FINE])) == (
        "indeterminate",
        "exception_unknown",
        (),
        NEXT_DAY,
        None,
    )


def test_line_18_an_exception_has_its_own_k(evaluate: Evaluate) -> None:
    structure = rule(UNLESS_WAIVED, channels=("desk", "bank"), operator="all")
    records = log("desk", "bank", can={"bank": ("Waive",)})  # Pay: n = k = 1; Waive: n = k = 2
    events = [FINE, row("w1", "Waive", "2024-03-01 11:00")]
    assert said(evaluate(structure, records, events)) == (
        "indeterminate",
        "exception_unknown",
        (),
        NEXT_DAY,
        None,
    )
    events.append(row("w2", "Waive", "2024-03-01 11:01", "bank"))
    assert said(evaluate(structure, records, events)) == (
        "excused",
        "exception",
        ("w1", "w2"),
        NEXT_DAY,
        None,
    )


@pytest.mark.parametrize(
    "waived, expected",
    [
        ("2024-03-01 10:30", ("excused", "exception", ("p1", "w1"), NEXT_DAY, None)),
        ("2024-03-01 11:00", ("indeterminate", "exception_unknown", ("p1",), NEXT_DAY, None)),
        ("2024-03-01 11:01", ("violated", "seen_forbidden", ("p1",), NEXT_DAY, None)),
    ],
)
def test_line_18_an_exception_to_a_negative_comes_before_its_violation(
    evaluate: Evaluate, waived: str, expected: tuple[Any, ...]
) -> None:
    events = [FINE, row("p1", "Pay", "2024-03-01 11:00"), row("w1", "Waive", waived)]
    assert said(evaluate(rule(duty("not_response", "Pay", "P1D", unless="Waive")), log(), events)) == expected


def test_line_18_two_sided_violations_happen_at_the_later_row(evaluate: Evaluate) -> None:
    structure = rule(duty("not_coexistence", "Pay", "P5D", unless="Waive"))
    events = [row("p1", "Pay", "2024-02-28 10:00"), row("w1", "Waive", "2024-02-29 10:00"), FINE]
    expected = ("excused", "exception", ("p1", "w1"), due("2024-03-06 10:00"), None)
    assert said(evaluate(structure, log(), events)) == expected  # the fine completes it, after the waiver


def test_line_18_the_exception_of_a_precedence_comes_before_the_activation(evaluate: Evaluate) -> None:
    structure = rule(duty("precedence", "Review", "P7D", unless="Waive"))
    at_fine = due("2024-03-01 10:00")
    before = [FINE, row("w1", "Waive", "2024-03-01 09:00")]
    assert said(evaluate(structure, log(), before)) == ("excused", "exception", ("w1",), at_fine, None)
    afterwards = [FINE, row("w1", "Waive", "2024-03-01 10:01")]
    assert said(evaluate(structure, log(), afterwards)) == ("violated", "absent", (), at_fine, None)


# ---- line 19: time


def test_line_19_paid_on_the_day_of_the_fine(evaluate: Evaluate) -> None:
    events = [row("f1", "Fine", "2024-03-01"), row("p1", "Pay", "2024-03-01")]
    assert said(evaluate(rule(PAY_IN_A_DAY), log(), events)) == (
        "satisfied",
        "tie",
        ("p1",),
        due("2024-03-02"),
        DAY,
    )


@pytest.mark.parametrize(
    "template, end",
    [("not_response", "2024-03-08"), ("precedence", "2024-03-01"), ("not_precedence", "2024-03-01")],
)
def test_line_19_on_the_same_day_nobody_knows_which_came_first(
    evaluate: Evaluate, template: str, end: str
) -> None:
    events = [row("f1", "Fine", "2024-03-01"), row("p1", "Pay", "2024-03-01")]
    expected = ("indeterminate", "unknown_tie", (), due(end), None)
    assert said(evaluate(rule(duty(template, "Pay", "P7D")), log(), events)) == expected


@pytest.mark.parametrize(
    "paid, expected",
    [
        ("2024-03-01 10:00:30", ("satisfied", "tie", ("p1",), due("2024-03-01 10:05"), 300.0)),
        ("2024-03-01 10:05:59", ("satisfied", "proven", ("p1",), due("2024-03-01 10:05"), 0.0)),
        ("2024-03-01 10:06:00", ("violated", "late", ("p1",), due("2024-03-01 10:05"), -60.0)),
        ("2024-03-01", ("satisfied", "tie", ("p1",), due("2024-03-01 10:05"), 0.0)),
    ],
)
def test_line_19_a_fine_to_the_minute_compares_at_the_coarser_grain(
    evaluate: Evaluate, paid: str, expected: tuple[Any, ...]
) -> None:
    assert (
        said(evaluate(rule(duty("response", "Pay", "PT5M")), log(), [FINE, row("p1", "Pay", paid)]))
        == expected
    )


def test_line_19_a_bound_finer_than_the_activations_grain_is_truncated(evaluate: Evaluate) -> None:
    events = [FINE, row("p1", "Pay", "2024-03-01 10:01:59")]
    expected = ("satisfied", "proven", ("p1",), due("2024-03-01 10:01"), 0.0)
    assert said(evaluate(rule(duty("response", "Pay", "PT90S")), log(), events)) == expected


def test_line_19_a_date_against_a_second(evaluate: Evaluate) -> None:
    fine = row("f1", "Fine", "2024-03-01 23:30:00")
    end = due("2024-03-02 23:30:00")
    on_the_last_day = [fine, row("p1", "Pay", "2024-03-02")]
    assert said(evaluate(rule(PAY_IN_A_DAY), log(), on_the_last_day)) == (
        "satisfied",
        "proven",
        ("p1",),
        end,
        0.0,
    )
    a_day_late = [fine, row("p1", "Pay", "2024-03-03")]
    assert said(evaluate(rule(PAY_IN_A_DAY), log(), a_day_late)) == ("violated", "late", ("p1",), end, -DAY)


def test_line_19_dates_are_local_each_in_its_own_offset(evaluate: Evaluate) -> None:
    fine = row("f1", "Fine", "2024-03-01+01:00")
    end = due("2024-03-02+01:00")
    pay = row(
        "p1", "Pay", "2024-03-02 00:30:00+02:00"
    )  # 1 March 22:30 UTC, 23:30 at +01:00; its own date is 2 March
    assert said(evaluate(rule(PAY_IN_A_DAY), log(), [fine, pay])) == (
        "satisfied",
        "proven",
        ("p1",),
        end,
        0.0,
    )
    pay = row("p1", "Pay", "2024-03-02 23:30:00-03:00")  # 3 March 02:30 UTC; its own date is 2 March
    assert said(evaluate(rule(PAY_IN_A_DAY), log(), [fine, pay])) == (
        "satisfied",
        "proven",
        ("p1",),
        end,
        0.0,
    )


def test_line_19_instants_with_offsets_compare_as_instants(evaluate: Evaluate) -> None:
    fine = row("f1", "Fine", "2024-03-01 10:00+02:00")  # 08:00 UTC
    pay = row("p1", "Pay", "2024-03-01 09:30+01:00")  # 08:30 UTC
    expected = ("satisfied", "proven", ("p1",), due("2024-03-01 11:00+02:00"), 1800.0)
    assert said(evaluate(rule(duty("response", "Pay", "PT1H")), log(), [fine, pay])) == expected


def test_line_19_rows_are_ordered_by_the_end_of_their_grain(evaluate: Evaluate) -> None:
    events = [
        row("f1", "Fine", "2024-03-01 09:00"),
        row("p1", "Pay", "2024-03-01 10:00"),
        row("p2", "Pay", "2024-03-01 10:00:30"),
    ]
    expected = (
        "satisfied",
        "proven",
        ("p2",),
        due("2024-03-01 11:00"),
        3600.0,
    )  # p2 ends 10:00:30, p1 10:00:59
    assert said(evaluate(rule(duty("response", "Pay", "PT2H")), log(), events)) == expected


# ---- line 20: slack and witnesses


def test_line_20_slack_is_in_seconds_to_the_nth_row(evaluate: Evaluate) -> None:
    fine = row("f1", "Fine", "2024-03-01 10:00:00")
    events = [fine, row("p1", "Pay", "2024-03-01 10:03:20"), row("p2", "Pay", "2024-03-01 10:04:10")]
    end = due("2024-03-01 10:05:00")
    once, twice = evaluate(
        rule(duty("response", "Pay", "PT5M"), duty("existence", "Pay", "PT5M", count=2)), log(), events
    )
    assert once[3:6] + once[7:9] == ("satisfied", "proven", ("p1",), end, 100.0)
    assert twice[3:6] + twice[7:9] == ("satisfied", "proven", ("p1",), end, 50.0)


def test_line_20_one_witness_per_channel_the_nearest(evaluate: Evaluate) -> None:
    fine = row("f1", "Fine", "2024-03-10 10:00")
    events = [
        row("b1", "Pay", "2024-03-02 10:00"),
        row("b3", "Pay", "2024-03-08 10:00"),
        row("b2", "Pay", "2024-03-08 10:00"),
        fine,
        row("d1", "Pay", "2024-03-11 10:00"),
        row("d2", "Pay", "2024-03-12 10:00"),
        row("e1", "Pay", "2024-03-13 10:00", "bank"),
    ]
    structure = rule(
        duty("existence", "Pay", "P10D"), duty("precedence", "Pay", "P10D"), duty("responded_existence", "Pay", "P10D"),
        channels=("desk", "bank"),
    )  # fmt: skip
    forward, back, both = evaluate(structure, log("desk", "bank"), events)
    assert (forward.witnesses, forward.slack_seconds) == (("d1", "e1"), 9 * DAY)
    assert (back.witnesses, back.slack_seconds) == (("b2",), None)
    assert (both.witnesses, both.slack_seconds) == (("d1", "e1"), 18 * DAY)


def test_line_20_the_late_row_is_one_row_of_any_channel(evaluate: Evaluate) -> None:
    structure = rule(PAY_IN_A_DAY, channels=("desk", "bank"), operator="all")
    events = [
        FINE,
        row("p2", "Pay", "2024-03-05 10:00", "bank"),
        row("p1", "Pay", "2024-03-04 10:00"),
        row("p0", "Pay", "2024-03-06 10:00"),
    ]
    assert said(evaluate(structure, log("desk", "bank"), events)) == (
        "violated",
        "late",
        ("p1",),
        NEXT_DAY,
        -2 * DAY,
    )


# ---- line 21: the unit


def test_line_21_one_row_per_instance_and_constraint_and_none_without_trigger(evaluate: Evaluate) -> None:
    events = [
        row("f2", "Fine", "2024-03-01 10:00", case_id="c2"),
        row("f1", "Fine", "2024-03-01 10:00"),
        row("f0", "Fine", "2024-03-05 10:00"),
        row("p1", "Pay", "2024-03-05 11:00"),
        row("x1", "Open", "2024-03-05 11:00", case_id="c3"),  # never activated: no row, nothing passes
    ]
    verdicts = evaluate(rule(PAY_IN_A_DAY, duty("not_response", "Pay", "P1D")), log(), events)
    assert [(v.case_id, v.instance, v.constraint, v.verdict) for v in verdicts] == [
        ("c1", "f0", 0, "satisfied"),
        ("c1", "f0", 1, "violated"),
        ("c1", "f1", 0, "violated"),
        ("c1", "f1", 1, "satisfied"),
        ("c2", "f2", 0, "violated"),
        ("c2", "f2", 1, "satisfied"),
    ]


# ---- line 23: the procedure


STEPS = (
    Step(stage="review", name="Look into it", role="officer", activity="Review"),
    Step(stage="remedy", name="Decide", role="head", activity="Decide"),
)


@pytest.mark.parametrize(
    "constraint, events, end",
    [
        (PAY_IN_A_DAY, [FINE], "2024-03-07 10:00"),  # violated at its due, 2 March 10:00
        (
            duty("not_response", "Pay", "P1D"),
            [FINE, row("p1", "Pay", "2024-03-01 11:30:00")],
            "2024-03-06 11:30:00",
        ),
        (
            duty("exactly", "Pay", "P9D"),
            [FINE, row("p1", "Pay", "2024-03-02 10:00"), row("p2", "Pay", "2024-03-02 12:00")],
            "2024-03-07 12:00",
        ),
        (
            duty("not_coexistence", "Pay", "P2D"),
            [FINE, row("p1", "Pay", "2024-02-29 12:00")],
            "2024-03-06 10:00",
        ),
        (duty("precedence", "Appeal", "P2D"), [FINE], "2024-03-06 10:00"),
    ],
    ids=["due", "completion", "too many", "two-sided", "precedence"],
)
def test_line_23_the_procedure_starts_where_the_violation_happens(
    evaluate: Evaluate,
    evaluate_procedure: EvaluateProcedure,
    constraint: Constraint,
    events: list[Event],
    end: str,
) -> None:
    structure = rule(constraint, steps=STEPS, response_time="P5D")
    last_moment = row("r1", "Review", end, role="officer", resource="eve")
    rows = [
        *events,
        row("r0", "Review", "2024-02-29 10:00", role="officer"),
        last_moment,
        row("d1", "Decide", end, role="clerk"),
    ]
    norm = evaluate(structure, log(), rows)
    assert [v.verdict for v in norm] == ["violated"]
    assert evaluate_procedure(structure, log(), rows, norm) == [
        InstanceVerdict("c1", "f1#0", 0, "satisfied", "proven", ("r1",), "officer", due(end), 0.0),
        InstanceVerdict("c1", "f1#0", 1, "violated", "absent", (), "head", due(end), None),
    ]


def test_line_23_only_violations_start_a_procedure(
    evaluate: Evaluate, evaluate_procedure: EvaluateProcedure
) -> None:
    structure = rule(PAY_IN_A_DAY, duty("absence", "Appeal", "P1D"), steps=STEPS, response_time="P5D")
    norm = evaluate(structure, log(), [FINE, row("p1", "Pay", "2024-03-01 11:00")])
    assert [v.verdict for v in norm] == ["satisfied", "satisfied"]
    assert evaluate_procedure(structure, log(), [FINE, row("p1", "Pay", "2024-03-01 11:00")], norm) == []


def test_line_23_any_channel_that_can_record_a_step_may_show_it(
    evaluate: Evaluate, evaluate_procedure: EvaluateProcedure
) -> None:
    structure = rule(PAY_IN_A_DAY, steps=STEPS[:1], response_time="P5D")
    records = log("desk", "bank", "post", closed=("desk",), can={"post": ("Pay",)})
    norm = evaluate(structure, records, [FINE])
    unanswered = evaluate_procedure(structure, records, [FINE], norm)
    assert [(v.verdict, v.reason) for v in unanswered] == [
        ("indeterminate", "open_world")
    ]  # desk is silent, bank may know more
    rows = [FINE, row("r1", "Review", "2024-03-03 10:00", "bank", role="officer")]
    answered = evaluate_procedure(structure, records, rows, norm)
    assert [(v.verdict, v.witnesses, v.slack_seconds) for v in answered] == [("satisfied", ("r1",), 4 * DAY)]


def test_line_23_a_step_without_record_makes_the_procedure_prospective() -> None:
    spoken = Step(stage="decision", name="Say so aloud", role="officer")
    structure = rule(PAY_IN_A_DAY, steps=(*STEPS, spoken), response_time="P5D")
    assert procedure_verdicts(structure, log(), EventLog.from_events([FINE], log())) is None
