"""Days and months across a change of clocks (SEMANTICS line 14; G4): by the zone that is named, on the compiler and the
oracle alike, through import, grids, views and engines."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import oracle
import pytest
from agreement import differences
from hypothesis import given, settings
from hypothesis import strategies as st
from tiers import tier
from zoned_pairs import CHANGES, LENGTHS, zoned_pair

from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import Grid, compile_grid, compile_rule
from gnrs_ppl.audit.literal import literal
from gnrs_ppl.audit.result import due_text
from gnrs_ppl.audit.run import evaluate, verdicts_of
from gnrs_ppl.audit.types import InstanceVerdict
from gnrs_ppl.context import load_context
from gnrs_ppl.context.log import Event, EventLog, read_log
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.errors import Refused
from gnrs_ppl.importing.run import import_source
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.sentence import explain
from gnrs_ppl.rule.types import Structure

AMSTERDAM, NEW_YORK, SYDNEY = "Europe/Amsterdam", "America/New_York", "Australia/Sydney"
LORD_HOWE, SAO_PAULO, KOLKATA = "Australia/Lord_Howe", "America/Sao_Paulo", "Asia/Kolkata"


def rule(template: str = "response", deadline: str | None = "P1D", **trigger: Any) -> Structure:
    constraint = {"template": template, "target": "B", "deadline": deadline, "correlate": "same_case"}
    return Structure.model_validate(
        {
            "trigger": {"act": "A", "channel": "log", **trigger},
            "norm": {"constraints": [constraint]},
            "evidence": {"channels": ["log"]},
        }
    )


def records(zone: str | None = AMSTERDAM, **more: Any) -> RecordLayer:
    channel = {"name": "log", "activities": ["A", "B", "C"], "closed_world": True}
    channel["coverage"] = [{"start": "2000-01-01", "end": "2034-12-31"}]
    data = {"channels": [channel], "end_of_observation": "2034-12-30", "zone": zone}
    return RecordLayer.model_validate(data | more)


def log(layer: RecordLayer, folder: Path, *rows: str) -> EventLog:
    """Rows of a file, ``case,activity,timestamp``."""
    path = folder / "log.csv"
    path.write_text("\n".join(["case_id,activity,timestamp,channel", *(f"{row},log" for row in rows)]) + "\n")
    return read_log(path, layer)


def judged(structure: Structure, layer: RecordLayer, events: EventLog) -> list[InstanceVerdict]:
    """The verdicts of the compiler, which the oracle gives too."""
    rows = events.connection.execute("SELECT * FROM events ORDER BY event_id").fetchall()
    got = evaluate(structure, layer, events)
    assert got == oracle.evaluate(structure, layer, [Event(*row[:12]) for row in rows])
    return got


@pytest.mark.parametrize(
    ("zone", "deadline", "opened", "due", "late"),
    [
        # days: seven back in summer, seven on into it
        (AMSTERDAM, "P7D", "2026-10-20 00:00:00", "2026-10-27T00:00:00+01:00", "2026-10-27 00:00:01"),
        (AMSTERDAM, "P7D", "2026-03-25 12:00:00", "2026-04-01T12:00:00+02:00", "2026-04-01 12:00:01"),
        (NEW_YORK, "P1D", "2025-03-08 09:00:00", "2025-03-09T09:00:00-04:00", "2025-03-09 09:00:01"),
        (NEW_YORK, "P1D", "2025-11-01 09:00:00", "2025-11-02T09:00:00-05:00", "2025-11-02 09:00:01"),
        (SYDNEY, "P2W", "2024-03-30 18:15:00", "2024-04-13T18:15:00+10:00", "2024-04-13 18:15:01"),
        (SYDNEY, "P1D", "2024-10-05 18:15:00", "2024-10-06T18:15:00+11:00", "2024-10-06 18:15:01"),
        (LORD_HOWE, "P1D", "2024-04-06 18:00:00", "2024-04-07T18:00:00+10:30", "2024-04-07 18:00:01"),
        (KOLKATA, "P7D", "2026-10-20 00:00:00", "2026-10-27T00:00:00+05:30", "2026-10-27 00:00:01"),
        # months and years
        (AMSTERDAM, "P1M", "2026-10-10 12:00:00", "2026-11-10T12:00:00+01:00", "2026-11-10 12:00:01"),
        (AMSTERDAM, "P1M", "2026-01-31 12:00:00", "2026-02-28T12:00:00+01:00", "2026-02-28 12:00:01"),
        (NEW_YORK, "P6M", "2025-02-01 08:00:00", "2025-08-01T08:00:00-04:00", "2025-08-01 08:00:01"),
        (AMSTERDAM, "P1Y", "2026-03-29 12:00:00", "2027-03-29T12:00:00+02:00", "2027-03-29 12:00:01"),
        # hours go by
        (AMSTERDAM, "PT24H", "2026-10-24 12:00:00", "2026-10-25T11:00:00+01:00", "2026-10-25 11:00:01"),
        (AMSTERDAM, "PT24H", "2026-03-28 12:00:00", "2026-03-29T13:00:00+02:00", "2026-03-29 13:00:01"),
        (LORD_HOWE, "PT24H", "2024-04-06 18:00:00", "2024-04-07T17:30:00+10:30", "2024-04-07 17:30:01"),
        # days first, then hours from there: 25 October 12:00, and two hours; 25 October 01:30, and two that go by
        (AMSTERDAM, "P1DT2H", "2026-10-24 12:00:00", "2026-10-25T14:00:00+01:00", "2026-10-25 14:00:01"),
        (AMSTERDAM, "P1DT2H", "2026-10-24 01:30:00", "2026-10-25T02:30:00+01:00", "2026-10-25 03:00:00"),
        # what clocks show twice is the earlier; what they leave out is read by the offset before
        (AMSTERDAM, "P1D", "2026-10-24 02:30:00", "2026-10-25T02:30:00+02:00", "2026-10-25 03:00:00"),
        (NEW_YORK, "P1D", "2025-11-01 01:30:00", "2025-11-02T01:30:00-04:00", "2025-11-02 02:00:00"),
        (AMSTERDAM, "P1D", "2026-03-28 02:30:00", "2026-03-29T03:30:00+02:00", "2026-03-29 03:30:01"),
        (SAO_PAULO, "P1D", "2018-11-03 00:30:00", "2018-11-04T01:30:00-02:00", "2018-11-04 01:30:01"),
        # dates
        (AMSTERDAM, "P7D", "2026-10-20", "2026-10-27", "2026-10-28"),
        (SAO_PAULO, "P1M", "2018-10-04", "2018-11-04", "2018-11-05"),
    ],
)
def test_a_deadline_ends_at_the_same_local_time(
    zone: str, deadline: str, opened: str, due: str, late: str, tmp_path: Path
) -> None:
    asked, layer = rule(deadline=deadline), records(zone)
    at = datetime.fromisoformat(due)
    in_time = due if len(due) == 10 else at.isoformat()
    rows = (f"in time,A,{opened}", f"in time,B,{in_time}", f"late,A,{opened}", f"late,B,{late}")
    events = log(layer, tmp_path, *rows)
    first, second = judged(asked, layer, events)
    twice = any(v.reason == "twice" for v in (first, second))
    if twice:  # the row at the bound may be either of two: only what is certain is compared
        events = log(layer, tmp_path, f"late,A,{opened}", f"late,B,{late}")
        first, second = (*judged(asked, layer, events), None)  # type: ignore[assignment]
        assert (due_text(first.due), first.verdict) == (due, "violated")
        return
    assert (due_text(first.due), first.verdict) == (due, "satisfied")
    assert (second.verdict, second.reason) == ("violated", "late")
    gone = (
        -86400
        if len(due) == 10
        else (at - datetime.fromisoformat(late).replace(tzinfo=ZoneInfo(zone))).total_seconds()
    )
    assert (first.slack_seconds, second.slack_seconds) == (0, gone)


@pytest.mark.parametrize(
    ("zone", "deadline", "before", "acted", "found"),
    [
        (AMSTERDAM, "P1D", "2026-10-24 12:00:00", "2026-10-25 12:00:00", "satisfied"),  # 25 hours
        (AMSTERDAM, "P1D", "2026-10-24 11:59:59", "2026-10-25 12:00:00", "violated"),
        (AMSTERDAM, "PT24H", "2026-10-24 12:59:59", "2026-10-25 12:00:00", "violated"),
        (AMSTERDAM, "PT24H", "2026-10-24 13:00:00", "2026-10-25 12:00:00", "satisfied"),
        (NEW_YORK, "P7D", "2025-03-05 11:59:59", "2025-03-12 12:00:00", "violated"),
        (NEW_YORK, "P7D", "2025-03-05 12:00:00", "2025-03-12 12:00:00", "satisfied"),
        (SYDNEY, "P1M", "2024-03-10 12:00:00", "2024-04-10 12:00:00", "satisfied"),
        (SYDNEY, "P1M", "2024-03-10 11:59:59", "2024-04-10 12:00:00", "violated"),
        (LORD_HOWE, "P1D", "2024-10-05 11:59:59", "2024-10-06 12:00:00", "violated"),
        (LORD_HOWE, "P1D", "2024-10-05 12:00:00", "2024-10-06 12:00:00", "satisfied"),
        (AMSTERDAM, "P1D", "2026-10-25 02:15:00", "2026-10-26 02:30:00", "twice"),
        # back to the earlier half past two, and to half past two by the offset before
        (AMSTERDAM, "P1D", "2026-10-25T00:29:59Z", "2026-10-26 02:30:00", "violated"),
        (AMSTERDAM, "P1D", "2026-10-25T00:30:00Z", "2026-10-26 02:30:00", "satisfied"),
        (AMSTERDAM, "P1D", "2026-03-29T01:29:59Z", "2026-03-30 02:30:00", "violated"),
        (AMSTERDAM, "P1D", "2026-03-29T01:30:00Z", "2026-03-30 02:30:00", "satisfied"),
        (AMSTERDAM, "P2D", "2026-10-24", "2026-10-26", "satisfied"),
        (AMSTERDAM, "P2D", "2026-10-23", "2026-10-26", "violated"),
    ],
)
def test_a_look_back_begins_at_the_same_local_time(
    zone: str, deadline: str, before: str, acted: str, found: str, tmp_path: Path
) -> None:
    layer = records(zone)
    (verdict,) = judged(
        rule("precedence", deadline), layer, log(layer, tmp_path, f"c,B,{before}", f"c,A,{acted}")
    )
    assert found in (verdict.verdict, verdict.reason)


@pytest.mark.parametrize(
    ("end", "last_hours", "verdict"),
    [("2026-03-29", 23, "violated"), ("2026-10-25", 25, "violated"), ("2026-10-24", 24, "pending")],
)
def test_a_date_is_over_when_its_local_day_is(
    end: str, last_hours: int, verdict: str, tmp_path: Path
) -> None:
    due = datetime.fromisoformat(end) + timedelta(days=1 if verdict == "pending" else 0)
    opened = (due - timedelta(days=2)).date()
    asked = rule(deadline="P2D")
    layer = records(end_of_observation=end)
    (found,) = judged(asked, layer, log(layer, tmp_path, f"c,A,{opened}"))
    assert found.verdict == verdict
    # to the microsecond: the day as long as it is there
    begins = datetime.fromisoformat(end).replace(tzinfo=ZoneInfo(AMSTERDAM)).astimezone(UTC)
    for short, wanted in ((timedelta(microseconds=1), verdict), (timedelta(microseconds=2), "pending")):
        instant = (begins + timedelta(hours=last_hours) - short).isoformat()
        layer = records(end_of_observation=instant)
        assert judged(asked, layer, log(layer, tmp_path, f"c,A,{opened}"))[0].verdict == wanted
    by_default = records(end_of_observation=None)
    rows = (f"c,A,{opened}", f"d,C,{end}")
    assert judged(asked, by_default, log(by_default, tmp_path, *rows))[0].verdict == verdict


def test_clocks_are_known_in_years_without_rows_and_dates_of_elsewhere_stay_dates(tmp_path: Path) -> None:
    opened = "c,A,2026-01-10 12:00:00"
    for start, found in (
        ("2025-07-10T12:00:00+02:00", "violated"),
        ("2025-07-10T12:00:01+02:00", "indeterminate"),
    ):
        coverage = [{"start": start, "end": "2034-12-31"}]
        channel = {"name": "log", "activities": ["A", "B"], "closed_world": True, "coverage": coverage}
        layer = records(channels=[channel])
        (verdict,) = judged(rule("precedence", "P6M"), layer, log(layer, tmp_path, opened))
        assert verdict.verdict == found
    layer, midnight = records(NEW_YORK), datetime(2025, 3, 5)
    row = Event("a", "c", "A", midnight, None, "day", None, None, None, None, "log")
    (verdict,) = judged(rule(deadline="P7D"), layer, EventLog.from_events([row], layer))
    assert due_text(verdict.due) == "2025-03-12"


def test_without_a_zone_a_row_keeps_its_offset_and_the_check_its_text(tmp_path: Path) -> None:
    layer = records(None, offset="+02:00")
    events = log(layer, tmp_path, "c,A,2026-10-24 12:00:00", "c,B,2026-10-25 12:00:00")
    (found,) = judged(rule(), layer, events)
    assert (due_text(found.due), found.slack_seconds) == ("2026-10-25T12:00:00+02:00", 0)
    assert "zone" not in compile_rule(check(rule(), layer, events)).sql


def test_window_procedure_and_silence_keep_local_time_too(tmp_path: Path) -> None:
    rows = ("c,A,2026-10-24 12:00:00", "c,C,2026-10-24 13:00:00")
    layer = records()
    (found,) = judged(rule("existence", None, window="P1D"), layer, log(layer, tmp_path, *rows))
    assert due_text(found.due) == "2026-10-25T12:00:00+01:00"
    layer = records(quiet_after="P7D")
    (found,) = judged(rule("existence", None), layer, log(layer, tmp_path, *rows))
    assert due_text(found.due) == "2026-10-31T13:00:00.999999+01:00"


def test_sentences_tell_the_local_time(tmp_path: Path) -> None:
    layer = records()
    events = log(layer, tmp_path, "c,A,2026-10-20 00:00:00", "c,B,2026-10-27 00:30:00")
    (found,) = judged(rule(deadline="P7D"), layer, events)
    assert "30 minutes after it was due (00:00:00 on 27 October 2026)" in explain(
        found, rule(deadline="P7D"), Lexicon({})
    )


def test_an_import_hands_its_zone_to_the_audit(tmp_path: Path) -> None:
    source = tmp_path / "dst.csv"
    rows = ["case_id,activity,timestamp", "midnight,A,2026-10-20 00:00:00", "midnight,B,2026-10-26 23:30:00"]
    rows += ["week,A,2026-03-25 12:00:00", "week,B,2026-04-01 12:30:00"]
    # instants are certain, also in an hour that comes twice
    rows += [
        "sure,A,2026-10-25T00:30:00Z",
        "sure,B,2026-10-25T00:45:00Z",
        "either,A,2026-10-25 02:50:00",
        "either,B,2026-10-25 02:45:00",
    ]
    source.write_text("\n".join(rows) + "\n")
    context = load_context(import_source(source, tmp_path / "made", zone=AMSTERDAM).folder / "context.yaml")
    assert context.records.zone == AMSTERDAM
    asked = rule(deadline="P7D")
    asked = Structure.model_validate(
        asked.model_dump() | {"trigger": {"act": "A", "channel": "dst"}, "evidence": {"channels": ["dst"]}}
    )
    found = {
        v.case_id: v.verdict if v.reason != "twice" else v.reason
        for v in evaluate(asked, context.records, context.log)
    }
    assert found == {"midnight": "satisfied", "week": "violated", "sure": "satisfied", "either": "twice"}


def test_many_lengths_and_a_view_say_the_same(tmp_path: Path) -> None:
    layer, lengths = records(), tuple(map(Duration.parse, (*LENGTHS, "P1Y")))
    timed = ("2026-10-24 02:30:00", "2026-10-24 12:00:00", "2026-03-28 02:30:00", "2026-10-25T01:30:00Z")
    for times in (timed, ("2026-10-24", "2026-03-28 02:30:00")):
        events = log(layer, tmp_path, *(f"c{i},A,{at}" for i, at in enumerate(times)))
        wanted = "SELECT point, case_id, due, due_offset, due_grain FROM verdicts ORDER BY point, case_id"
        grid = compile_grid(check(rule(deadline="P2D"), layer, events), Grid(lengths, 0), wanted)
        told = events.connection.execute(grid.sql, grid.parameters).fetchall()
        compared = 0
        for point, length in enumerate(lengths):
            asked = rule(deadline=str(length))
            try:
                query = compile_rule(check(asked, layer, events))
            except Refused:
                continue  # dates are coarser than half of it
            want = judged(asked, layer, events)
            assert verdicts_of(events.connection.execute(literal(query)).fetchall()) == want
            assert [row[1:] for row in told if row[0] == point] == [
                (v.case_id, *v.due) for v in want if v.due
            ]
            compared += 1
        assert compared >= 4


@settings(max_examples=tier(4, 60), deadline=None)
@given(
    st.sampled_from(list(CHANGES)),
    st.integers(0, 2),
    st.integers(0, 3),
    st.integers(0, 50),
    st.sampled_from(("response", "precedence", "responded_existence")),
    st.lists(
        st.tuples(st.integers(-49 * 4, 49 * 4), st.sampled_from(("", "Z", "date"))), min_size=1, max_size=24
    ),
)
def test_any_length_from_any_quarter_ends_where_the_oracle_ends_it(
    tmp_path_factory: pytest.TempPathFactory,
    zone: str,
    months: int,
    days: int,
    hours: int,
    template: str,
    quarters: list[tuple[int, str]],
) -> None:
    length = Duration(months, days, 3600 * hours)
    if length == Duration():
        return
    layer, rows = records(zone), []
    for i, (quarter, kind) in enumerate(quarters):
        for change in CHANGES[zone]:
            for far in (timedelta(0), timedelta(days=days + 31 * months, hours=hours)):
                at = change - far + quarter * timedelta(minutes=15)
                text = at.replace(tzinfo=UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None).isoformat()
                text = {"": text, "Z": f"{at.isoformat()}Z", "date": text[:10]}[kind]
                rows += [f"c{i},A,{text}", f"c{i},B,{text}"]
    try:
        judged(rule(template, str(length)), layer, log(layer, tmp_path_factory.mktemp("log"), *rows))
    except Refused:  # dates, coarser than half of it
        return


def test_some_random_rules_around_a_change_mean_what_the_oracle_says() -> None:
    compared = 0
    for seed, template, operator in (
        (1, "response", "any"),
        (3, "precedence", "at_least"),
        (0, "existence", "any"),
        (2, "not_coexistence", "any"),
    ):
        try:
            want, found = differences(*zoned_pair(seed, template, operator, 24), procedure=True)
        except Refused:
            continue
        assert not found, "\n".join(found[:3])
        compared += len(want)
    assert compared > 40
