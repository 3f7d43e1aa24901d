"""Dates that a log wrote as times: an activity whose every time is midnight is compared as dates, and that
is said (line 19)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_semantics_lines import duty, rule

from gnrs_ppl.audit import run
from gnrs_ppl.audit.checkable import check
from gnrs_ppl.context.log import EventLog, read_log, resolved
from gnrs_ppl.context.profile import profile
from gnrs_ppl.context.types import Channel, RecordLayer
from gnrs_ppl.errors import Refused

FINDING = "all 30 times of 'Start trip' in 'travel' are midnight; they are taken as dates"


def travel(folder: Path, trips: int = 30, midnight: str = "00:00:00", **channel: Any) -> EventLog:
    """Trips at midnight whose permits were given on the same day at 09:15, and declared the day after at
    16:40:05."""
    lines = ["case_id,activity,timestamp"]
    for n in range(trips):
        day = f"2024-{1 + n // 28:02}-{1 + n % 28:02}"
        lines += [
            f"c{n:02},Permit,{day}T09:15:00+02:00",
            f"c{n:02},Start trip,{day}T{midnight if n == 3 else '00:00:00'}+02:00",
        ]
        lines += [f"c{n:02},Declare,{day}T16:40:05+02:00"]
    path = folder / "travel.csv"
    path.write_text("\n".join(lines) + "\n")
    return read_log(path, RecordLayer(channels=(Channel(name="travel", closed_world=True, **channel),)))


def grains(log: EventLog) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for activity, grain in log.connection.execute("SELECT DISTINCT activity, grain FROM events").fetchall():
        found.setdefault(activity, set()).add(grain)
    return found


def test_an_activity_that_is_always_at_midnight_has_dates_and_the_log_says_so(tmp_path: Path) -> None:
    log = travel(tmp_path)
    assert grains(log) == {"Permit": {"second"}, "Start trip": {"day"}, "Declare": {"second"}}
    assert FINDING in log.findings
    assert profile(log).pairs["travel", "Start trip"].grain == "day"
    assert profile(log).pairs["travel", "Permit"].grain == "second"


@pytest.mark.parametrize(
    "changed",
    [{"trips": 1}, {"grain": "second"}],
    ids=["too few", "declared"],
)
def test_what_may_be_chance_or_is_declared_stays_a_time(tmp_path: Path, changed: dict[str, Any]) -> None:
    log = travel(tmp_path, **changed)
    assert grains(log)["Start trip"] == {"second"}
    assert not any("midnight" in finding for finding in log.findings)


@pytest.mark.parametrize(
    "ties, expected",
    [(None, {("indeterminate", "unknown_tie")}), ("fulfil", {("satisfied", "proven")})],
    ids=["unset", "fulfil"],
)
def test_a_permit_of_the_same_day_is_no_violation(
    tmp_path: Path, ties: str | None, expected: set[tuple[str, str]]
) -> None:
    log = travel(tmp_path)
    structure = rule(
        duty("precedence", "Permit", "P7D", ties=ties), trigger="Start trip", channels=("travel",)
    )
    structure = structure.model_copy(
        update={"trigger": structure.trigger.model_copy(update={"channel": "travel"})}
    )
    assert {(v.verdict, v.reason) for v in run.evaluate(structure, log.records, log)} == expected


def test_one_activity_of_dates_does_not_make_a_log_of_dates(tmp_path: Path) -> None:
    log = travel(tmp_path)
    filled = resolved(log.records, log)
    assert filled.channels[0].grain is None  # a grain that is declared is that of every row
    assert not filled.dates_only

    def asked(first: str, second: str) -> Any:
        structure = rule(duty("response", second, "PT12H"), trigger=first, channels=("travel",))
        return structure.model_copy(
            update={"trigger": structure.trigger.model_copy(update={"channel": "travel"})}
        )

    assert check(asked("Permit", "Declare"), log.records, log)
    with pytest.raises(
        Refused, match=r"'travel' records 'Start trip' to the day \(30 rows\), coarser than half of PT12H"
    ):
        check(asked("Start trip", "Declare"), log.records, log)
