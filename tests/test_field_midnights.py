"""Dates that were written as midnights, beside acts with a time of day: how many rows there are, or one that has a
time, flips no verdict without a word (G7).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gnrs_ppl import audit
from gnrs_ppl.audit.engines import connected, log_on
from gnrs_ppl.context.clocks import are_dates, no_chance
from gnrs_ppl.context.log import EventLog, read_log
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.importing import import_source
from gnrs_ppl.rule.types import Structure

RULE = Structure.model_validate(
    {
        "trigger": {"act": "ship order", "channel": "erp"},
        "norm": {"constraints": [{"template": "response", "target": "book order", "deadline": "P5D"}]},
        "evidence": {"channels": ["erp"]},
        "procedure": {"steps": [{"stage": "review", "name": "look", "role": "auditor"}]},
    }
)
RECORDS = {"constants": {"channel": "erp"}, "channels": [{"name": "erp", "closed_world": True}]}


def log_of(folder: Path, booked: list[str], **records: object) -> EventLog:
    """Orders shipped at odd seconds, one a day, and booked on the day: at the times of day given; a last order
    ends the observation."""
    lines = ["case_id,activity,timestamp"]
    for i, at in enumerate(booked):
        day = f"2024-{i // 28 + 1:02}-{i % 28 + 1:02}"
        lines += [f"o{i:03},ship order,{day}T09:{i % 60:02}:13Z", f"o{i:03},book order,{day}{at}"]
    lines.append("o999,ship order,2024-11-30T09:00:13Z")
    (folder / "erp.csv").write_text("\n".join(lines) + "\n")
    return read_log(folder / "erp.csv", RecordLayer.model_validate(RECORDS | records))


def verdicts(log: EventLog) -> dict[str, int]:
    return {verdict: n for verdict, n in audit(RULE, log).counts.items() if n}


MIDNIGHT = "T00:00:00Z"


@pytest.mark.parametrize("count", [4, 5, 10, 29, 30, 40])
@pytest.mark.parametrize("midnight", [MIDNIGHT, "T00:00Z", "T00:00:00.000+02:00"])
def test_midnights_are_dates_from_four_rows_on(tmp_path: Path, count: int, midnight: str) -> None:
    log = log_of(tmp_path, [midnight] * count)
    result = audit(RULE, log)
    assert {v: n for v, n in result.counts.items() if n} == {"satisfied": count, "pending": 1}
    told = [f for f in result.findings if "midnight" in f]
    assert told == [
        f"all {count} times of 'book order' in 'erp' are midnight; they are taken as dates, and read as times {count} of "
        f"{count + 1} verdicts would be others ({count} satisfied → violated): state the channel's grain, or write dates "
        "as dates"
    ]


@pytest.mark.parametrize("timed", [1, 3, 10])
def test_a_row_with_a_time_is_timed_and_leaves_the_others_dates(tmp_path: Path, timed: int) -> None:
    log = log_of(tmp_path, ["T17:30:00Z"] * timed + [MIDNIGHT] * 20)
    assert verdicts(log) == {"satisfied": 20 + timed, "pending": 1}
    grains = log.connection.execute(
        "SELECT grain, count(*) FROM events WHERE activity = 'book order' GROUP BY grain ORDER BY grain"
    ).fetchall()
    assert grains == [("day", 20), ("second", timed)]
    assert [
        f
        for f in log.findings
        if f.startswith(f"20 of {20 + timed} times of 'book order' in 'erp' are midnight")
    ]


@pytest.mark.parametrize(
    "booked, start",
    [
        ([MIDNIGHT], "1 of 1 times of 'book order' in 'erp' are midnight; they are taken as times"),
        ([MIDNIGHT] * 4 + ["T17:30:05Z"] * 30, "4 of 34 times of 'book order' in 'erp' are midnight; they are taken as times"),
        (["T01:00:00Z"] * 12, "all 12 times of 'book order' in 'erp' are at 01:00; they are taken as times"),
        (["T07:00:00Z", "T06:00:00Z"] * 6, "all 12 times of 'book order' in 'erp' are at 06:00; they are taken as times"),
    ],
)  # fmt: skip
def test_what_is_left_a_time_is_told_where_it_decides(tmp_path: Path, booked: list[str], start: str) -> None:
    log = log_of(tmp_path, booked)
    early = sum(at < "T09" for at in booked)
    (told,) = [f for f in audit(RULE, log).findings if " taken as times" in f]
    assert told.startswith(start)
    assert f"({early} violated → satisfied)" in told


@pytest.mark.parametrize(
    "booked",
    [
        [f"T{i % 24:02}:{i * 7 % 60:02}:00Z" for i in range(48)],  # once in a while it is midnight
        ["T17:00:00Z"] * 12,  # dates or not, the verdicts are the same
    ],
)
def test_chance_and_what_decides_nothing_is_not_told(tmp_path: Path, booked: list[str]) -> None:
    assert not [f for f in audit(RULE, log_of(tmp_path, booked)).findings if "they are taken as" in f]


def test_what_is_declared_holds(tmp_path: Path) -> None:
    channels = [{"name": "erp", "closed_world": True, "grain": "second"}]
    log = log_of(tmp_path, [MIDNIGHT] * 12, channels=channels)
    assert verdicts(log) == {"violated": 12, "pending": 1}
    assert not [f for f in audit(RULE, log).findings if "midnight" in f]


def test_hours_alone_take_more_midnights(tmp_path: Path) -> None:
    """Of a clock that shows hours one time in 24 is midnight by chance."""

    def grains(midnights: int) -> list[str]:
        (tmp_path / "log.csv").write_text(
            "case_id,activity,timestamp\n"
            + "".join(f"c{i},open,2024-01-{i + 1:02}T{8 + i % 9:02}:00:00Z\n" for i in range(20))
            + "".join(f"c{i},shut,2024-02-{i + 1:02}T00:00:00Z\n" for i in range(midnights))
        )
        log = read_log(tmp_path / "log.csv", RecordLayer.model_validate(RECORDS))
        found: list[tuple[str]] = log.connection.execute(
            "SELECT DISTINCT grain FROM events WHERE activity = 'shut'"
        ).fetchall()
        return [grain for (grain,) in found]

    assert [grains(n) for n in (7, 8)] == [["second"], ["day"]]


def test_import_and_a_database_read_them_alike(tmp_path: Path) -> None:
    import duckdb

    for booked, line in (
        ([MIDNIGHT] * 10, "book order: all 10 times are midnight, which are taken as dates"),
        (["T17:30:00Z"] + [MIDNIGHT] * 9, "book order: 9 of 10 times are midnight, which are taken as dates"),
    ):
        log = log_of(tmp_path, booked)
        done = import_source(tmp_path / "erp.csv", tmp_path / f"made {booked[0][1:3]}")
        assert f"erp: {line}" in done.said
        assert line in (done.folder / "context.yaml").read_text()
        path = tmp_path / f"{booked[0][1:3]}.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute(
                'CREATE TABLE events AS SELECT case_id, activity, "timestamp" FROM read_csv($path)',
                {"path": str(tmp_path / "erp.csv")},
            )
        with connected(f"duckdb://{path}") as engine:
            there = log_on(engine, RecordLayer.model_validate(RECORDS))
            counted = "SELECT list(g ORDER BY g) FROM (SELECT activity || grain || count(*) AS g FROM events GROUP BY activity, grain)"
            assert there.one(counted) == log.one(counted)
            assert [f for f in there.findings if "taken as dates" in f] == [
                f for f in log.findings if "taken as dates" in f
            ]


@pytest.mark.parametrize(
    "test, hits, rows, chance, expected",
    [
        (are_dates, 1, 1, 1 / 1440, False),
        (are_dates, 3, 3, 1 / 1440, False),
        (are_dates, 4, 4, 1 / 1440, True),
        (are_dates, 3, 4, 1 / 1440, False),
        (are_dates, 4, 5, 1 / 1440, True),
        (are_dates, 39, 40, 1 / 1440, True),
        (are_dates, 19, 40, 1 / 1440, False),
        (are_dates, 7, 7, 1 / 24, False),
        (are_dates, 8, 8, 1 / 24, True),
        (no_chance, 5, 5_000, 1 / 1440, False),
        (no_chance, 60, 5_000, 1 / 1440, True),
        (no_chance, 0, 10, 1 / 1440, False),
    ],
)
def test_what_chance_would_hardly_give(
    test: Callable[[int, int, float], bool], hits: int, rows: int, chance: float, expected: bool
) -> None:
    assert test(hits, rows, chance) is expected
