"""One far-off date does not end the observation: rows far from all others, or dated after their file, and years
that no time is of (G9).
"""

from __future__ import annotations

import os
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import oracle
import pytest

from gnrs_ppl import audit
from gnrs_ppl.audit.again import check_again, ground
from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import compile_rule
from gnrs_ppl.audit.engines import connected, log_on
from gnrs_ppl.audit.parts import checked_in_parts
from gnrs_ppl.audit.run import execute, verdicts_of
from gnrs_ppl.context.log import Event, EventLog, read_log, resolved
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.importing import import_source
from gnrs_ppl.records.lint import lint
from gnrs_ppl.records.profile import coverage_of
from gnrs_ppl.rule.types import Structure

RULE = Structure.model_validate(
    {
        "trigger": {"act": "receive claim", "channel": "desk"},
        "norm": {"constraints": [{"template": "response", "target": "answer claim", "deadline": "P10D"}]},
        "evidence": {"channels": ["desk"]},
        "procedure": {"steps": [{"stage": "review", "name": "look", "role": "auditor"}]},
    }
)
RECORDS = RecordLayer.model_validate(
    {"constants": {"channel": "desk"}, "channels": [{"name": "desk", "closed_world": True}]}
)
DAYS = (1, 3, 6, 9, 20, 21)
"""Two claims that are answered in time, two that are open when the log ends."""


def rows(year: int, *others: tuple[str, str]) -> list[tuple[str, str, str]]:
    acts = ("receive claim", "answer claim") * 2 + ("receive claim",) * 2
    cases = ("a", "a", "b", "b", "c", "d")
    found = [
        (case, act, f"{year}-03-{day:02}T08:15:07Z") for case, act, day in zip(cases, acts, DAYS, strict=True)
    ]
    return found + [(f"z{i}", act, at) for i, (act, at) in enumerate(others)]


def events(found: list[tuple[str, str, str]]) -> list[Event]:
    return [
        Event(f"{i}", case, act, datetime.fromisoformat(at).replace(tzinfo=None), 0, "second", channel="desk")
        for i, (case, act, at) in enumerate(found)
    ]


def written(place: Path, found: list[tuple[str, str, str]], when: date | None = None) -> Path:
    place.write_text("case_id,activity,timestamp\n" + "".join(f"{','.join(row)}\n" for row in found))
    if when is not None:
        at = datetime(when.year, when.month, when.day, tzinfo=UTC).timestamp()
        os.utime(place, (at, at))
    return place


@pytest.mark.parametrize(
    "year, others, outside, counts",
    [
        # far after: mistyped years, sentinels, one or a few of them
        (2012, ["2062-03-20"], 1, {"satisfied": 2, "pending": 3}),
        (2012, ["2021-03-20"], 1, {"satisfied": 2, "pending": 3}),
        (2012, ["2099-12-31", "2099-12-31"], 2, {"satisfied": 2, "pending": 4}),
        (2012, ["8999-12-31", "2999-12-31"], 2, {"satisfied": 2, "pending": 4}),
        # far before: what it asks for is not covered
        (2012, ["1900-01-01"], 1, {"satisfied": 2, "pending": 2, "indeterminate": 1}),
        (2012, ["1900-01-01", "1970-01-01"], 2, {"satisfied": 2, "pending": 2, "indeterminate": 2}),
        (2012, ["1900-01-01", "2062-01-01"], 2, {"satisfied": 2, "pending": 3, "indeterminate": 1}),
        # near enough: the observation lasts until then
        (2012, ["2012-04-30"], 0, {"satisfied": 2, "violated": 2, "pending": 1}),
        (2012, ["2013-12-30"], 0, {"satisfied": 2, "violated": 2, "pending": 1}),
        (2012, ["2014-01-01"], 0, {"satisfied": 2, "violated": 2, "pending": 1}),
        # too many for a slip
        (2012, ["2062-03-20"] * 4, 0, {"satisfied": 2, "violated": 2, "pending": 4}),
    ],
)
def test_far_off_rows_do_not_extend_what_is_observed(
    tmp_path: Path, year: int, others: list[str], outside: int, counts: dict[str, int]
) -> None:
    """As the oracle says, in one SELECT, in parts, again after the log has grown, and on an engine."""
    found = rows(year, *(("receive claim", f"{at}T08:15:07Z") for at in others))
    log = EventLog.from_events(events(found), RECORDS)
    filled = resolved(RECORDS, log)
    plan = check(RULE, filled, log)
    want = oracle.evaluate(RULE, filled, events(found))
    assert log.reach.rows == outside
    assert bool([f for f in plan.findings if " far " in f]) == bool(outside)
    assert execute(compile_rule(plan), log) == want
    assert {v: n for v, n in audit(RULE, log).counts.items() if n} == counts
    parts = [
        verdict
        for part in checked_in_parts(plan, log, rows_at_once=3)
        for verdict in verdicts_of(part.connection.execute("SELECT * FROM verdicts").fetchall())
    ]
    assert sorted(parts, key=lambda v: v[:3]) == want
    before = EventLog.from_events(events(found)[:5], RECORDS)
    earlier = ground(check(RULE, filled, before), before)
    old = execute(compile_rule(check(RULE, filled, before)), before)
    again = check_again(plan, log, ground(plan, log), earlier._replace(verdicts=tuple(old)))
    assert again is None or list(again.verdicts) == want
    import duckdb

    if max(others) < "2026":  # what a database holds after now is late instead
        with duckdb.connect(str(tmp_path / "log.duckdb")) as connection:
            connection.execute(
                'CREATE TABLE events (event_id VARCHAR, case_id VARCHAR, activity VARCHAR, "timestamp" TIMESTAMP, '
                "channel VARCHAR)"
            )
            connection.executemany(
                "INSERT INTO events VALUES (?, ?, ?, ?, 'desk')", [row[:4] for row in events(found)]
            )
        with connected(f"duckdb://{tmp_path}/log.duckdb") as engine:
            there = log_on(engine, filled.model_copy(update={"offset": 0, "constants": {}}))
            assert [v[3:5] for v in execute(compile_rule(check(RULE, filled, there)), there)] == [
                v[3:5] for v in want
            ]


def test_one_row_in_a_hundred_is_far_off_from_a_year_on() -> None:
    many = [("a", "receive claim", f"2012-03-{i % 28 + 1:02}T08:15:{i % 60:02}Z") for i in range(250)]
    for late, outside in (("2013-01-01", 0), ("2013-06-01", 1), ("2030-01-01", 1)):
        found = [*many, ("z", "receive claim", f"{late}T08:15:07Z")]
        log = EventLog.from_events(events(found), RECORDS)
        assert log.reach.rows == outside
        (last,) = log.one(f'SELECT max("timestamp") FROM events WHERE {log.reach.holds()}')
        assert oracle.Log(RECORDS, events(found)).end == last + timedelta(seconds=1, microseconds=-1)


@pytest.mark.parametrize(
    "year, when, others, lines",
    [
        (2024, date(2024, 4, 1), ["2024-04-30"], ["1 row is dated after the file was written (2024-04-01)"]),
        (2024, date(2024, 4, 1), ["2024-04-01", "2024-04-01"], []),
        (2024, date(2024, 4, 1), ["2062-04-01", "1970-01-01"], ["1 row is dated after the file", "1 row is far before all"]),
        (2150, date(2024, 4, 1), ["2149-04-01"], ["7 of 7 rows are dated after the file was written"]),
    ],
)  # fmt: skip
def test_rows_after_their_file_do_not_extend_what_is_observed(
    tmp_path: Path, year: int, when: date, others: list[str], lines: list[str]
) -> None:
    found = rows(year, *(("receive claim", f"{at}T08:15:07Z") for at in others))
    log = read_log(written(tmp_path / "log.csv", found, when), RECORDS)
    result = audit(RULE, log)
    told = [f for f in result.findings if "dated after" in f or " far " in f]
    assert len(told) == len(lines)
    assert all(f.startswith(line) for f, line in zip(told, lines, strict=True))
    assert list(result.findings).count(told[0] if told else "") == len(told[:1])
    numbered = [row._replace(event_id=f"{i:09}") for i, row in enumerate(events(found), 1)]
    at = datetime(when.year, when.month, when.day)
    assert list(result.verdicts) == oracle.evaluate(RULE, resolved(RECORDS, log), numbered, at)


@pytest.mark.parametrize("changed", [-(10**12), 10**12])
def test_a_file_of_no_time_is_read(tmp_path: Path, changed: int) -> None:
    """A file system may say of a file that it was written before or after all years."""
    path = written(tmp_path / "log.csv", rows(2024))
    os.utime(path, (changed, changed))
    assert (read_log(path, RECORDS).reach.planned != "") == (changed < 0)


def test_a_declared_end_and_coverage_are_taken_at_their_word() -> None:
    found = events(rows(2012, ("receive claim", "2062-03-20T08:15:07Z")))
    coverage = [{"start": "2012-03-01", "end": "2070-01-01"}]
    channel = {"name": "desk", "closed_world": True, "coverage": coverage}
    records = RecordLayer.model_validate(
        {"end_of_observation": "2070-01-01", "offset": 0, "channels": [channel]}
    )
    log = EventLog.from_events(found, records)
    result = audit(RULE, log)
    assert {v: n for v, n in result.counts.items() if n} == {"satisfied": 2, "violated": 3}
    assert not [f for f in result.findings if " far " in f]


def test_import_lint_and_profile_leave_them_out_and_name_them(tmp_path: Path) -> None:
    found = rows(2024, ("receive claim", "2062-03-20T08:15:07Z"), ("receive claim", "1970-01-01T00:00:00Z"))
    done = import_source(written(tmp_path / "desk.csv", found), tmp_path / "made")
    assert [line for line in done.said if "'receive claim' of case z0 on 2062-03-20" in line]
    assert [line for line in done.said if "'receive claim' of case z1 on 1970-01-01" in line]
    text = (tmp_path / "made" / "context.yaml").read_text()
    assert "8 rows, 2024-03-01 to 2024-03-21, longest silence 11.0 days" in text
    assert "coverage: [{start: 2024-03-01, end: 2024-03-21}]" in text
    findings = {f.code: f for f in lint(tmp_path / "made" / "context.yaml").findings}
    assert findings["G210"].amount == 2
    assert "case z0" in findings["G210"].problem
    assert "case z1" in findings["G210"].problem
    assert "{start: 2024-03-01, end: 2024-03-21}" in findings["G402"].fix
    log = read_log(tmp_path / "desk.csv", RECORDS)
    (channel,) = coverage_of(log, RECORDS)
    assert (channel.rows, channel.first, channel.last) == (
        8,
        datetime(2024, 3, 1, 8, 15, 7),
        datetime(2024, 3, 21, 8, 15, 7),
    )
    assert channel.silences[0].days == pytest.approx(11.0)
    assert all(silence.end - silence.start < timedelta(days=12) for silence in channel.silences)


@pytest.mark.parametrize(
    "cell",
    ["9999-12-31", "9999-12-31T23:59:59Z", "99991231", "0001-01-01", "0000-00-00 00:00:00", "infinity", "10000-01-01T00:00:00Z"],
)  # fmt: skip
def test_a_year_that_no_time_is_of_is_an_unknown_time(tmp_path: Path, cell: str) -> None:
    """It neither proves the answer nor its absence, and is called what it is."""
    last = ("y", "receive claim", "2024-06-01T08:15:07Z")
    found = [*rows(2024), ("c", "answer claim", cell), last]
    log = read_log(written(tmp_path / "log.csv", found), RECORDS)
    by_case = {v.case_id: v.verdict for v in audit(RULE, log).verdicts}
    assert by_case == {
        "a": "satisfied",
        "b": "satisfied",
        "c": "indeterminate",
        "d": "violated",
        "y": "pending",
    }
    assert f"1 time of a year outside 1000 to 9000: {cell} on 1 row (first: row 7)" in " ".join(log.findings)
    done = import_source(tmp_path / "log.csv", tmp_path / "made")
    if cell != "10000-01-01T00:00:00Z":
        reason = "timestamp is of a year outside 1001 to 8999: a sentinel, such as 9999-12-31, or mistyped"
        assert done.reasons == {reason: 1}


def test_a_database_reads_such_a_year_alike(tmp_path: Path) -> None:
    import duckdb

    with duckdb.connect(str(tmp_path / "log.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE events AS SELECT * FROM (VALUES ('1', 'c', 'open', TIMESTAMP '2024-05-31 10:00:00'), "
            "('2', 'c', 'shut', TIMESTAMP '9999-12-31'), ('3', 'd', 'shut', TIMESTAMP 'infinity')) "
            'AS t(event_id, case_id, activity, "timestamp")'
        )
    for layer in (RecordLayer(offset=0), RecordLayer(zone="Europe/Berlin")):
        with connected(f"duckdb://{tmp_path}/log.duckdb") as engine:
            log = log_on(engine, layer)
            assert log.one('SELECT count(*), count("timestamp") FROM events') == (3, 1)
            assert [f for f in log.findings if "2 times of a year outside 1000 to 9000" in f]
