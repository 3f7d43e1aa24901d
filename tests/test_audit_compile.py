"""The compiled check on small logs worked out by hand, its refusals word for word, and what its SQL may
hold."""

from __future__ import annotations

from datetime import datetime, timedelta

import duckdb
import pytest
import sqlglot
from agreement import procedure_verdicts
from sqlglot import exp
from tiers import tier

from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import Query, compile_procedure, compile_rule
from gnrs_ppl.audit.run import evaluate, execute
from gnrs_ppl.audit.types import Due
from gnrs_ppl.context.log import Event, EventLog, resolved
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.errors import InputError, Refused
from gnrs_ppl.rule.types import Structure

MONDAY = datetime(2024, 1, 1)
DAYS_LATER = [("far", "end", "Other", "10 00:00", {"resource": "zoe"})]
"""A row in a case of its own, long after the others: it moves the end of observation."""


def instant(text: str) -> datetime:
    """``d hh:mm[:ss]`` after Monday 1 January 2024."""
    day, clock = text.split()
    hours, minutes, *seconds = (int(part) for part in clock.split(":"))
    return MONDAY + timedelta(days=int(day), hours=hours, minutes=minutes, seconds=sum(seconds))


def log_of(rows, *, grain="second", offset=0) -> EventLog:
    """Rows (event, case, activity, local time or None, fields?) as a log; channel app and resource ann
    unless said otherwise."""
    events = []
    for name, case, activity, local, *rest in rows:
        fields = {"resource": "ann", "channel": "app", "grain": grain, "offset": offset} | (
            rest[0] if rest else {}
        )
        ts = None if local is None else instant(local) - timedelta(minutes=fields["offset"] or 0)
        events.append(Event(name, case, activity, ts, **fields))
    return EventLog.from_events(events)


def rule(
    constraint=None, *, operator="any", k=None, channels=("app",), trigger=None, bearer="trigger", **rest
) -> Structure:
    constraint = {"template": "response", "target": "Answer"} | (constraint or {})
    policy = {"channels": list(channels), "operator": operator} | ({"k": k} if k else {})
    return Structure.model_validate(
        {
            "trigger": {"act": "Ask", "channel": "app"} if trigger is None else trigger,
            "norm": {"constraints": [constraint], "bearer": bearer} | rest.pop("norm", {}),
            "evidence": policy,
            "procedure": {"steps": [{"stage": "review", "name": "Review", "role": "lead"}]},
        }
        | rest
    )


def records(*names, closed=True, **rest) -> RecordLayer:
    return RecordLayer.model_validate(
        {"channels": [{"name": n, "closed_world": closed} for n in names or ("app",)]} | rest
    )


def verdicts(structure, layer, log):
    return {
        v.instance: (v.verdict, v.reason, v.witnesses, v.slack_seconds)
        for v in evaluate(structure, layer, log)
    }


# Small logs


def test_response_in_time_late_absent_and_open():
    log = log_of(
        [
            ("a1", "c1", "Ask", "0 09:00"),
            ("b1", "c1", "Answer", "0 09:10"),
            ("a2", "c2", "Ask", "0 09:00"),
            ("b2", "c2", "Answer", "0 09:20"),
            ("a3", "c3", "Ask", "0 09:00"),
            ("a4", "c4", "Ask", "0 23:59"),
            ("b5", "c3", "Answer", "0 08:00"),
        ]
    )
    result = evaluate(rule({"deadline": "PT15M"}), records(), log)
    assert [(v.instance, v.verdict, v.reason, v.witnesses, v.slack_seconds) for v in result] == [
        ("a1", "satisfied", "proven", ("b1",), 300.0),
        ("a2", "violated", "late", ("b2",), -300.0),
        ("a3", "violated", "absent", (), None),
        ("a4", "pending", "open", (), None),
    ]
    assert result[0].due == Due(instant("0 09:15"), 0, "second")
    assert {v.bearer for v in result} == {"ann"}


def test_silence_of_a_channel_that_may_miss_events_proves_nothing():
    log = log_of([("a1", "c1", "Ask", "0 09:00"), ("b0", "c0", "Answer", "0 08:00"), *DAYS_LATER])
    plan = check(rule({"deadline": "PT15M"}), records(closed=False), log)
    assert verdicts(rule({"deadline": "PT15M"}), records(closed=False), log) == {
        "a1": ("indeterminate", "open_world", (), None)
    }
    assert plan.assumptions[:2] == (
        "channel 'app' is taken as complete from its first to its last event",
        "'violated' cannot occur for norm.constraints[0] (response 'Answer'): 0 of 1 channels are closed-world, 1 needed",
    )


def test_coverage_decides_what_silence_means():
    layer = RecordLayer.model_validate(
        {
            "channels": [
                {
                    "name": "app",
                    "closed_world": True,
                    "coverage": [
                        {"start": "2024-01-01T08:00:00", "end": "2024-01-01T09:05:00"},
                        {"start": "2024-01-01T09:05:00.000001", "end": "2024-01-01T10:00:00"},
                    ],
                }
            ]
        }
    )
    log = log_of(
        [
            ("a1", "c1", "Ask", "0 09:00"),
            ("a2", "c2", "Ask", "0 09:50"),
            ("b0", "c0", "Answer", "0 08:30"),
            *DAYS_LATER,
        ]
    )
    assert verdicts(rule({"deadline": "PT15M"}), layer, log) == {
        "a1": ("violated", "absent", (), None),
        "a2": ("indeterminate", "uncovered", (), None),
    }


def test_dates_only_ties_fulfil_a_response_and_leave_a_prohibition_open():
    rows = [
        ("a1", "c1", "Ask", "0 00:00"),
        ("b1", "c1", "Answer", "0 00:00"),
        ("a2", "c2", "Ask", "0 00:00"),
        ("b2", "c2", "Answer", "1 00:00"),
    ]
    log = log_of([*rows, *DAYS_LATER], grain="day", offset=None)
    assert verdicts(rule({"deadline": "P2D"}), records(), log) == {
        "a1": ("satisfied", "tie", ("b1",), 2 * 86400.0),
        "a2": ("satisfied", "proven", ("b2",), 86400.0),
    }
    assert verdicts(
        rule({"template": "not_response", "deadline": "P2D", "correlate": "same_case"}), records(), log
    ) == {
        "a1": ("indeterminate", "unknown_tie", (), None),
        "a2": ("violated", "seen_forbidden", ("b2",), None),
    }


def test_a_month_is_clamped_on_the_local_calendar():
    log = log_of(
        [
            ("a1", "c1", "Ask", "30 23:30"),
            ("b1", "c1", "Answer", "59 23:29"),
            ("x", "c2", "Other", "90 00:00"),
        ],
        offset=60,
    )
    (verdict,) = evaluate(rule({"deadline": "P1M"}), records(), log)
    assert (verdict.verdict, verdict.due, verdict.slack_seconds) == (
        "satisfied",
        Due(datetime(2024, 2, 29, 23, 30), 60, "second"),
        60.0,
    )


def test_months_go_before_days():
    log = log_of(
        [
            ("a1", "c1", "Ask", "29 12:00"),
            ("b1", "c1", "Answer", "60 11:59"),
            ("x", "c2", "Other", "90 00:00"),
        ]
    )
    (verdict,) = evaluate(rule({"deadline": "P1M1D"}), records(), log)
    assert (verdict.verdict, verdict.due) == ("satisfied", Due(datetime(2024, 3, 1, 12), 0, "second"))
    look_back = log_of(
        [
            ("a1", "c1", "Ask", "89 12:00"),
            ("b1", "c1", "Answer", "58 12:00"),
            ("b0", "c0", "Answer", "0 00:00"),
        ]
    )
    (verdict,) = evaluate(rule({"template": "precedence", "deadline": "P1M1D"}), records(), look_back)
    assert (verdict.verdict, verdict.witnesses) == (
        "satisfied",
        ("b1",),
    )  # 30 March less a month is 29 February, less a day the 28th


def test_two_channels_corroborate_within_match_within():
    rows = [
        ("a1", "c1", "Ask", "0 09:00"),
        ("b1", "c1", "Answer", "0 09:05"),
        ("d1", "c1", "Answer", "0 09:07", {"channel": "desk"}),
        ("a2", "c2", "Ask", "0 09:00"),
        ("b2", "c2", "Answer", "0 09:05"),
        ("d2", "c2", "Answer", "0 09:14", {"channel": "desk"}),
        ("a3", "c3", "Ask", "0 09:00"),
        ("b3", "c3", "Answer", "0 09:05"),
        ("a4", "c4", "Ask", "0 09:00"),
        ("d4", "c4", "Answer", "0 09:20", {"channel": "desk"}),
        ("d5", "c5", "Answer", "0 08:00", {"channel": "desk"}),
        ("d6", "c5", "Answer", "9 08:00", {"channel": "desk"}),
        *DAYS_LATER,
    ]
    layer, due = records("app", "desk", match_within="PT5M"), {"deadline": "PT15M"}
    both = verdicts(rule(due, operator="all", channels=("app", "desk")), layer, log_of(rows))
    assert both == {
        "a1": ("satisfied", "proven", ("b1", "d1"), 480.0),
        "a2": ("indeterminate", "split", ("b2", "d2"), None),
        "a3": ("indeterminate", "uncorroborated", ("b3",), None),
        "a4": ("violated", "late", ("d4",), -300.0),
    }
    either = verdicts(rule(due, operator="any", channels=("app", "desk")), layer, log_of(rows))
    assert either["a2"] == ("satisfied", "proven", ("b2", "d2"), 600.0)
    assert either["a4"] == ("violated", "late", ("d4",), -300.0)


def test_corroboration_on_the_last_local_day_of_an_interval():
    desk = {"channel": "desk", "offset": 60}
    rows = [
        ("a1", "c1", "Ask", "1 00:00", {"grain": "day"}),
        ("b1", "c1", "Answer", "3 23:30"),
        ("d1", "c1", "Answer", "4 00:20", desk),  # earlier than b1, but on the day after the last one
        ("a2", "c2", "Ask", "1 00:00", {"grain": "day"}),
        ("b2", "c2", "Answer", "3 23:30"),
        ("d2", "c2", "Answer", "4 00:20", desk),
        ("d3", "c2", "Answer", "3 23:40", desk),
        *DAYS_LATER,
    ]
    layer = RecordLayer.model_validate(
        {
            "channels": [
                {"name": "app", "closed_world": True, "grain": "second"},
                {"name": "desk", "closed_world": True},
            ],
            "match_within": "PT1H",
        }
    )
    assert verdicts(
        rule({"deadline": "P2D"}, operator="all", channels=("app", "desk")), layer, log_of(rows)
    ) == {
        "a1": ("indeterminate", "uncorroborated", ("b1",), None),
        "a2": ("satisfied", "proven", ("b2", "d3"), 0.0),
    }


def test_absence_and_exactly_count():
    rows = [
        ("a1", "c1", "Ask", "0 09:00"),
        ("b1", "c1", "Answer", "0 09:01"),
        ("b2", "c1", "Answer", "0 09:02"),
        ("a2", "c2", "Ask", "0 09:00"),
        ("b3", "c2", "Answer", "0 09:01"),
        ("a3", "c3", "Ask", "0 09:00"),
        ("a4", "c4", "Ask", "10 00:00"),
        ("b4", "c4", "Answer", "10 00:00"),
        ("a5", "c5", "Ask", "10 00:00"),
    ]
    fewer = {"template": "absence", "count": 2, "deadline": "PT15M", "correlate": "same_case"}
    assert verdicts(rule(fewer), records(), log_of(rows)) == {
        "a1": ("violated", "seen_forbidden", ("b1",), None),
        "a2": ("satisfied", "refuted", ("b3",), None),
        "a3": ("satisfied", "refuted", (), None),
        "a4": ("pending", "seen", ("b4",), None),
        "a5": ("pending", "unseen", (), None),
    }
    assert verdicts(
        rule({"template": "exactly", "count": 1, "deadline": "PT15M"}), records(), log_of(rows)
    ) == {
        "a1": ("violated", "too_many", ("b1",), None),
        "a2": ("satisfied", "proven", ("b3",), 840.0),
        "a3": ("violated", "too_few", (), None),
        "a4": ("pending", "open", ("b4",), None),
        "a5": ("pending", "open", (), None),
    }
    existence = verdicts(
        rule({"template": "existence", "count": 2, "deadline": "PT15M"}), records(), log_of(rows)
    )
    assert existence["a1"] == ("satisfied", "proven", ("b1",), 780.0)
    assert existence["a2"] == ("violated", "absent", ("b3",), None)


def test_precedence_needs_a_known_start():
    rows = [
        ("s1", "c1", "Open", "0 08:00"),
        ("b1", "c1", "Answer", "0 08:30"),
        ("a1", "c1", "Ask", "0 09:00"),
        ("s2", "c2", "Open", "0 08:00"),
        ("a2", "c2", "Ask", "0 09:00"),
        ("a3", "c3", "Ask", "0 07:00"),
        ("s4", "c4", "Open", "0 10:00"),  # a start after the activation says nothing of what came before it
        ("a4", "c4", "Ask", "0 09:00"),
        *DAYS_LATER,
    ]
    layer = records(case_start=["Open"])
    before = verdicts(rule({"template": "precedence"}), layer, log_of(rows))
    assert before == {
        "a1": ("satisfied", "proven", ("b1",), None),
        "a2": ("violated", "absent", (), None),
        "a3": ("indeterminate", "uncovered", (), None),
        "a4": ("indeterminate", "uncovered", (), None),
    }
    never = verdicts(rule({"template": "not_precedence", "correlate": "same_case"}), layer, log_of(rows))
    assert [never[a][:2] for a in ("a1", "a2", "a3")] == [
        ("violated", "seen_forbidden"),
        ("satisfied", "refuted"),
        ("indeterminate", "uncovered"),
    ]


def test_two_sided_templates_look_both_ways():
    rows = [
        ("b1", "c1", "Answer", "0 08:50"),
        ("a1", "c1", "Ask", "0 09:00"),
        ("b2", "c1", "Answer", "0 09:05"),
        ("a2", "c2", "Ask", "0 09:00"),
        ("b3", "c2", "Answer", "0 10:00"),
        ("b0", "c0", "Answer", "0 08:00"),
        *DAYS_LATER,
    ]
    assert verdicts(
        rule({"template": "responded_existence", "deadline": "PT15M"}), records(), log_of(rows)
    ) == {
        "a1": ("satisfied", "proven", ("b2",), 1500.0),
        "a2": ("violated", "late", ("b3",), -2700.0),
    }
    never = {"template": "not_coexistence", "deadline": "PT15M", "correlate": "same_case"}
    assert verdicts(rule(never), records(), log_of(rows)) == {
        "a1": ("violated", "seen_forbidden", ("b2",), None),
        "a2": ("satisfied", "refuted", (), None),
    }


def test_after_is_a_second_activation():
    rows = [
        ("a1", "c1", "Ask", "0 09:00"),
        ("m1", "c1", "Accept", "0 10:00"),
        ("b1", "c1", "Answer", "0 10:05"),
        ("a2", "c2", "Ask", "0 09:00"),
        ("a3", "c3", "Ask", "0 09:00"),
        ("m3", "c3", "Accept", None),
        ("a4", "c4", "Ask", "0 09:00"),
        ("m4", "c4", "Accept", "0 08:00"),
        *DAYS_LATER,
    ]
    structure = rule({"deadline": "PT15M", "after": {"act": "Accept", "channel": "app"}})
    assert verdicts(structure, records(), log_of(rows)) == {
        "a1": ("satisfied", "proven", ("b1",), 600.0),
        "a2": ("not_activated", "no_after", (), None),
        "a3": ("indeterminate", "after_unknown", (), None),
        "a4": ("not_activated", "no_after", (), None),
    }


def test_the_trigger_is_not_its_own_second_activation():
    rows = [
        ("a1", "c1", "Ask", "0 09:00"),
        ("a2", "c1", "Ask", "0 09:30"),
        ("b1", "c1", "Answer", "0 09:40"),
        *DAYS_LATER,
    ]
    structure = rule({"deadline": "PT15M", "after": {"act": "Ask", "channel": "app"}})
    assert verdicts(structure, records(), log_of(rows)) == {
        "a1": ("satisfied", "proven", ("b1",), 300.0),
        "a2": ("not_activated", "no_after", (), None),
    }


def test_unless_excuses_only_what_it_precedes():
    rows = [
        ("s1", "c1", "Open", "0 08:00"),
        ("w1", "c1", "Waive", "0 08:30"),
        ("a1", "c1", "Ask", "0 09:00"),
        ("s2", "c2", "Open", "0 08:00"),
        ("a2", "c2", "Ask", "0 09:00"),
        ("w2", "c2", "Waive", "0 11:00"),
        ("a3", "c3", "Ask", "0 08:00"),  # begins with the coverage: what came before it is unknown
        ("b0", "c0", "Answer", "0 07:00"),
        *DAYS_LATER,
    ]
    layer = RecordLayer.model_validate(
        {
            "channels": [
                {
                    "name": "app",
                    "closed_world": True,
                    "coverage": [{"start": "2024-01-01T08:00:00", "end": "2024-01-20"}],
                },
            ],
            "case_start": ["Open"],
        }
    )
    assert verdicts(rule({"deadline": "PT15M", "unless": "Waive"}), layer, log_of(rows)) == {
        "a1": ("excused", "exception", ("w1",), None),
        "a2": ("violated", "absent", (), None),
        "a3": ("indeterminate", "exception_unknown", (), None),
    }


def test_unknown_fields_are_neither_proof_nor_silence():
    rows = [
        ("a1", "c1", "Ask", "0 09:00"),
        ("b1", "c1", "Answer", "0 09:05", {"channel": None}),
        ("a2", "c2", "Ask", "0 09:00", {"resource": None}),
        ("b2", "c2", "Answer", "0 09:05"),
        ("a3", "c3", "Ask", "0 09:00"),
        ("b3", "c3", "Answer", None),
        ("a4", "c4", "Ask", "0 09:00"),
        ("b4", "c4", None, "0 09:05"),
        ("a5", "c5", "Ask", "0 09:00"),
        ("b5", "c5", "Answer", "0 09:05", {"resource": None}),
        ("a6", "c6", None, "0 09:00"),
        ("a7", "c7", "Ask", None),
        ("b8", "c8", "Answer", "0 09:00", {"resource": "bob"}),
        *DAYS_LATER,
    ]
    result = verdicts(rule({"deadline": "PT15M", "correlate": "same_resource"}), records(), log_of(rows))
    unknown = ("indeterminate", "unknown_match", (), None)
    assert [result[f"a{i}"] for i in (1, 3, 4, 5)] == [unknown] * 4
    assert result["a2"] == ("indeterminate", "unknown_key", (), None)
    assert {i for i, v in result.items() if v == ("indeterminate", "scope", (), None)} == {"a6", "a7", "b4"}


def test_a_case_ends_with_its_closing_row_or_with_silence():
    rows = [
        ("a1", "c1", "Ask", "0 09:00"),
        ("z1", "c1", "Close", "0 12:00"),
        ("b1", "c1", "Answer", "0 13:00"),
        ("a2", "c2", "Ask", "0 09:00"),
        ("b0", "c0", "Answer", "0 08:00"),
        *DAYS_LATER,
    ]
    result = {v.instance: v for v in evaluate(rule(), records(case_end=["Close"]), log_of(rows))}
    assert (result["a1"].verdict, result["a1"].reason, result["a1"].slack_seconds) == (
        "violated",
        "late",
        -3600.0,
    )
    assert (result["a2"].verdict, result["a2"].reason, result["a2"].due) == ("pending", "open", None)
    result = {
        v.instance: v for v in evaluate(rule(), records(case_end=["Close"], quiet_after="P1D"), log_of(rows))
    }
    assert (result["a2"].verdict, result["a2"].due) == (
        "violated",
        Due(instant("1 09:00") + timedelta(microseconds=999999), 0, "microsecond"),
    )


def test_case_start_opens_one_instance_per_case_for_the_office():
    rows = [
        ("a1", "c1", "Ask", "0 09:00"),
        ("b1", "c1", "Answer", "0 09:05", {"role": "clerk"}),
        ("a2", "c2", "Ask", "0 09:00"),
        ("b2", "c2", "Answer", "0 09:05", {"role": "guest"}),
        ("a3", "c3", "Ask", None),
        *DAYS_LATER,
    ]
    structure = rule({"template": "existence", "deadline": "PT15M"}, trigger={}, bearer={"role": "clerk"})
    result = evaluate(structure, records(), log_of(rows))
    assert [(v.instance, v.verdict, v.reason) for v in result] == [
        ("c1", "satisfied", "proven"),
        ("c2", "violated", "absent"),
        ("c3", "indeterminate", "scope"),
        ("end", "pending", "open"),
    ]
    assert {v.bearer for v in result} == {"clerk"}


def test_once_takes_the_first_instance_of_each_bearer():
    rows = [
        ("a2", "c1", "Ask", "0 09:00"),
        ("a1", "c1", "Ask", "0 09:00"),
        ("a3", "c1", "Ask", "0 08:00", {"resource": "bob"}),
        ("b1", "c1", "Answer", "0 09:01"),
        *DAYS_LATER,
    ]
    structure = rule({"deadline": "PT15M"}, trigger={"act": "Ask", "channel": "app", "once": "first"})
    assert [v.instance for v in evaluate(structure, records(), log_of(rows))] == ["a1", "a3"]


def test_a_procedure_follows_each_violation():
    rows = [
        ("a1", "c1", "Ask", "0 09:00"),
        ("r1", "c1", "Inspect", "0 10:00", {"role": "lead"}),
        ("a2", "c2", "Ask", "0 09:00"),
        ("r2", "c2", "Inspect", "0 13:00", {"role": "lead"}),
        ("a3", "c3", "Ask", "0 09:00"),
        ("b3", "c3", "Answer", "0 09:01"),
        *DAYS_LATER,
    ]
    steps = [{"stage": "review", "name": "Review", "role": "lead", "activity": "Inspect"}]
    structure = rule({"deadline": "PT15M"}, procedure={"steps": steps, "response_time": "PT2H"})
    result = procedure_verdicts(structure, records(), log_of(rows))
    assert result is not None
    assert [(v.instance, v.constraint, v.verdict, v.reason, v.bearer, v.slack_seconds) for v in result] == [
        ("a1#0", 0, "satisfied", "proven", "lead", 4500.0),
        ("a2#0", 0, "violated", "late", "lead", -6300.0),
    ]
    steps[0]["activity"] = "Inspekt"
    structure = rule({"deadline": "PT15M"}, procedure={"steps": steps, "response_time": "PT2H"})
    assert procedure_verdicts(structure, records(), log_of(rows)) is None
    plan = check(structure, records(), log_of(rows))
    assert "the procedure is prospective: 0 of 1 channels can record step 'Review'" in plan.assumptions


def test_may_gives_no_rows_and_should_is_checked_like_must():
    log = log_of([("a1", "c1", "Ask", "0 09:00"), ("b1", "c1", "Answer", "0 09:10"), *DAYS_LATER])
    may, should = (rule({"deadline": "PT15M"}, norm={"force": force}) for force in ("may", "should"))
    assert evaluate(may, records(), log) == []
    assert execute(compile_rule(check(may, records(), log)), log) == []
    assert verdicts(should, records(), log) == verdicts(rule({"deadline": "PT15M"}), records(), log)


def test_an_empty_log_has_no_instances():
    layer = RecordLayer.model_validate({"channels": [{"name": "app", "activities": ["Ask", "Answer"]}]})
    assert evaluate(rule({"deadline": "PT15M"}), layer, log_of([])) == []


# What the records allow


def test_capability_is_what_was_declared_else_what_was_seen():
    log = log_of(
        [
            ("a1", "c1", "Ask", "0 09:00"),
            ("b1", "c1", "Answer", "0 00:00", {"channel": "desk", "grain": "day"}),
        ]
    )
    seen = resolved(RecordLayer(), log)
    assert [(c.name, c.activities, c.grain) for c in seen.channels] == [
        ("app", ("Ask",), "second"),
        ("desk", ("Answer",), "day"),
    ]
    layer = RecordLayer.model_validate(
        {
            "channels": [
                {"name": "app", "activities": ["Answer", "Ask"]},
                {"name": "desk", "activities": ["Ask"]},
            ]
        }
    )
    plan = check(rule({"deadline": "PT15M"}, channels=("app", "desk", "gate")), layer, log)
    assert plan.constraints[0].target.rel == ("app",)
    assert plan.constraints[0].target.capability == (("app", 0),)
    assert plan.findings == (
        "evidence channel 'gate' is not a durable channel of the record layer and is not counted",
        "1 rows of 'Answer' in channel 'desk', which is not declared to record it",
    )


ASKED = [
    ("a1", "c1", "Ask", "0 09:00"),
    ("b1", "c1", "Answer", "0 09:10"),
    ("a2", "c2", "Ask", "0 09:00"),
    ("d1", "c2", "Answer", "0 09:05", {"channel": "desk"}),
]
CASE_START = {"trigger": {}, "bearer": {"role": "clerk"}}


@pytest.mark.parametrize(
    "structure, layer, message",
    [
        (
            rule({"target": "Anser", "deadline": "PT15M"}),
            records(),
            "not checkable: norm.constraints[0].target: 0 of 1 evidence channels can record 'Anser'; nearest recorded: 'Answer' in 'app' (1 rows)",
        ),
        (
            rule(
                {"target": "Ask", "deadline": "PT15M"},
                channels=("desk", "app"),
                operator="at_least",
                k=2,
                trigger={"act": "Answer", "channel": "app"},
            ),
            records("app", "desk"),
            "not checkable: norm.constraints[0].target: 1 of 2 evidence channels can record 'Ask', 2 needed; nearest recorded: 'Ask' in 'app' (2 rows)",
        ),
        (
            rule({"unless": "Waive", "deadline": "PT15M"}),
            records(),
            "not checkable: norm.constraints[0].unless: 0 of 1 evidence channels can record 'Waive'; name one of the 2 acts that are recorded, such as 'Ask' in 'app' (2 rows)",
        ),
        (
            rule({"after": {"act": "Accept", "channel": "desk"}, "deadline": "PT15M"}),
            records("app", "desk"),
            "not checkable: norm.constraints[0].after: channel 'desk' cannot record 'Accept': 0 rows and not declared; "
            "name one of the 2 acts that are recorded, such as 'Ask' in 'app' (2 rows)",
        ),
        (
            rule({"deadline": "PT15M"}, trigger={"act": "Ask", "channel": "desk"}),
            records("app", "desk"),
            "not checkable: trigger: channel 'desk' cannot record 'Ask': 0 rows and not declared; nearest recorded: 'Ask' in 'app' (2 rows)",
        ),
        (
            rule({"deadline": "PT15M"}, trigger={"act": "Ask", "channel": "ap"}),
            records(),
            "not checkable: trigger: 'ap' is none of the 1 durable channels; nearest: 'app'",
        ),
        (
            rule(
                {"template": "existence", "count": 2, "deadline": "PT15M"},
                channels=("app", "desk"),
                operator="all",
            ),
            records("app", "desk"),
            "not checkable: norm.constraints[0]: existence of 2 asks for more than 1 act, each in 2 of 2 channels; "
            "counting across channels is not implemented: use operator any",
        ),
        (
            rule({"template": "exactly", "deadline": "PT15M"}, channels=("app", "desk"), operator="all"),
            records("app", "desk"),
            "not checkable: norm.constraints[0]: exactly of 1 asks for more than 1 act, each in 2 of 2 channels; "
            "counting across channels is not implemented: use operator any",
        ),
        (
            rule({"target": "Ask", "deadline": "PT15M"}),
            records(),
            "not checkable: norm.constraints[0]: target and trigger are both 'Ask', 1 activity instead of 2; name another activity",
        ),
        (
            rule({"correlate": "same_resource", "deadline": "PT15M"}, **CASE_START),
            records(),
            "not checkable: norm.constraints[0] correlates by same_resource but 0 of the trigger's rows carry a key: it is case start; "
            "correlate by same_case",
        ),
        (
            rule({"correlate": "same_object", "deadline": "PT15M"}),
            records(),
            "not checkable: norm.constraints[0] (same_object): 0 of 2 rows of 'Ask' in app carry an object; leave it out of the rule",
        ),
        (
            rule({"correlate": "same_resource", "deadline": "PT15M"}, channels=("app", "desk")),
            records("app", "desk"),
            "not checkable: norm.constraints[0]: resource is 'ann' in all 4 rows of 2 cases, so same_resource correlates nothing; use same_case",
        ),
        (
            rule({"target": {"activity": "Answer", "location": "hall"}, "deadline": "PT15M"}),
            records(),
            "not checkable: norm.constraints[0].target: 0 of 1 rows of 'Answer' in app carry a location; leave it out of the rule",
        ),
        (
            rule({"deadline": "PT15M"}, scope={"roles": ["guest"]}),
            records(),
            "not checkable: scope: 0 of 2 rows of 'Ask' in app carry a role; leave it out of the rule",
        ),
        (
            rule({"deadline": "PT1S"}),
            records(),
            "not checkable: norm.constraints[0]: channel 'app' records to the second (3 rows), coarser than half of PT1S; state a longer deadline",
        ),
    ],
)
def test_refused_with_the_count(structure, layer, message):
    with pytest.raises(Refused) as error:
        check(structure, layer, log_of(ASKED))
    assert str(error.value) == message
    assert error.value.exit_code == 3


@pytest.mark.parametrize(
    "structure, message",
    [
        (
            rule({"deadline": "P30D"}, trigger={"act": "Ask", "channel": "app", "window": "P1M"}),
            "norm.constraints[0].deadline: deadline P30D can end after the window P1M; shorten the deadline or widen the window",
        ),
    ],
)
def test_input_that_contradicts_itself(structure, message):
    with pytest.raises(InputError) as error:
        check(structure, records(), log_of(ASKED))
    assert str(error.value) == message


# What the SQL may hold

HOSTILE = 'x"; DROP TABLE events; --'
WORDS = {
    *("satisfied", "violated", "indeterminate", "pending", "not_activated", "excused"),
    *(
        "proven",
        "tie",
        "refuted",
        "late",
        "absent",
        "too_few",
        "too_many",
        "seen_forbidden",
        "not_preceded",
        "open",
        "seen",
        "unseen",
        "scope",
    ),
    *(
        "after_unknown",
        "unknown_key",
        "unknown_match",
        "unknown_tie",
        "open_world",
        "uncovered",
        "uncorroborated",
        "split",
        "exception_unknown",
        "no_after",
    ),
    *(
        "exception",
        "microsecond",
        "second",
        "minute",
        "day",
        "instant",
        "infinity",
        "-infinity",
        "DESC",
        "NULLS LAST",
        "#",
        "id",
    ),
    *("MICROSECOND", "SECOND", "MINUTE", "DAY"),
}
NUMBERS = {"0", "1", "2", "86400", "1000000"}


def many_rules():
    """A rule of every template with everything that can be stated."""
    for template in ("existence", "exactly", "response", "precedence", "responded_existence"):
        yield rule(
            {
                "template": template,
                "deadline": "P33D",
                "unless": "Waive",
                "after": {"act": "Accept", "channel": "app"},
            },
            channels=("app", "desk"),
        )
    for template in ("absence", "not_response", "not_precedence", "not_coexistence"):
        yield rule(
            {"template": template, "correlate": "same_case", "unless": "Waive"}, channels=("app", "desk")
        )
    yield rule({"deadline": "P33D"}, channels=("app", "desk"), operator="all")
    yield rule({"template": "existence", "count": 37}, trigger={}, bearer={"role": "clerk"})


def test_one_select_with_every_value_bound():
    rows = [
        *ASKED,
        ("m1", "c1", "Accept", "0 09:00"),
        ("w1", "c1", "Waive", "0 00:00", {"grain": "day", "offset": 60}),
        ("w2", "c1", "Waive", "0 00:00", {"channel": "desk", "grain": "minute", "role": "lead"}),
        ("r1", "c1", "Answer", "0 09:00", {"role": "clerk"}),
    ]
    layer = RecordLayer.model_validate(
        {
            "channels": [
                {"name": "app", "closed_world": True, "grain": "second"},
                {"name": "desk", "closed_world": True, "grain": "second"},
            ],
            "case_start": ["Open"],
            "case_end": ["Close"],
            "quiet_after": "P7D",
            "match_within": "PT37M",
            "end_of_observation": "2024-05-05",
        }
    )
    log = log_of(rows)
    steps = [{"stage": "review", "name": "Review", "role": "lead", "activity": "Waive"}]
    for structure in list(many_rules())[:: tier(5, 1)]:
        structure = structure.model_copy(
            update={
                "procedure": type(structure.procedure).model_validate(
                    {"steps": steps, "response_time": "P44D"}
                )
            }
        )
        plan = check(structure, layer, log)
        for query in (compile_rule(plan), compile_procedure(plan)):
            assert query is not None
            (statement,) = sqlglot.parse(query.sql, dialect="duckdb")
            assert isinstance(statement, exp.Select)
            assert [s.type for s in duckdb.extract_statements(query.sql)] == [duckdb.StatementType.SELECT]
            assert {p.name for p in statement.find_all(exp.Placeholder)} == set(query.parameters)
            literals = list(statement.find_all(exp.Literal))
            assert {n.name for n in literals if n.is_string} <= WORDS
            assert {n.name for n in literals if not n.is_string} <= NUMBERS
            bare = {
                n.name
                for n in statement.find_all(exp.Identifier)
                if not n.quoted and not isinstance(n.parent, exp.PropertyEQ)
            }
            assert bare == set()  # a PropertyEQ is a key of a struct, a string
            assert query.sql.count('" /* Line') == len(statement.ctes)
            execute(query, log)


def test_hostile_names_are_values():
    rows = [
        ("a1", "c1", HOSTILE, "0 09:00", {"channel": HOSTILE, "resource": HOSTILE}),
        ("b1", "c1", "'; --", "0 09:05", {"channel": HOSTILE, "resource": HOSTILE}),
        ("a2", "c2", HOSTILE, "0 09:00", {"channel": HOSTILE, "resource": "$trigger_activity"}),
        *DAYS_LATER,
    ]
    log = log_of(rows)
    structure = rule(
        {"target": "'; --", "deadline": "PT15M", "correlate": "same_resource"},
        channels=(HOSTILE,),
        trigger={"act": HOSTILE, "channel": HOSTILE},
    )
    query = compile_rule(check(structure, records(HOSTILE), log))
    assert "DROP" not in query.sql
    assert "'; --" not in query.sql
    assert [(v.instance, v.verdict, v.bearer) for v in execute(query, log)] == [
        ("a1", "satisfied", HOSTILE),
        ("a2", "indeterminate", "$trigger_activity"),
    ]
    assert log.connection.execute("SELECT count(*) FROM events").fetchone() == (4,)


@pytest.mark.parametrize(
    "sql, parameters, message",
    [
        ("SELECT 1; SELECT 2", {}, "exactly one SELECT"),
        ("DROP TABLE events", {}, "exactly one SELECT"),
        ("SELECT $a", {}, "binds every parameter it names, and no other: a"),
        ("SELECT 1", {"b": 1}, "binds every parameter it names, and no other: b"),
    ],
)
def test_a_query_is_one_select_and_binds_what_it_names(sql, parameters, message):
    with pytest.raises(ValueError, match=message):
        Query(sql, parameters)
