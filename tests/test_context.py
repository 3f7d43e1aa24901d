"""Reading contexts and logs: columns, times, grains, what is not evidence, and what is said about it."""

from __future__ import annotations

import gzip
from datetime import datetime, timedelta
from pathlib import Path

import duckdb
import pytest
import small
from hypothesis import given, settings
from hypothesis import strategies as st

from gnrs_ppl.context import Channel, Duration, EventLog, RecordLayer, load_context, read_log
from gnrs_ppl.context.load import to_json
from gnrs_ppl.context.profile import profile
from gnrs_ppl.errors import InputError

HEADER = "case_id,activity,timestamp,channel\n"


def read(tmp_path: Path, text: str, **records: object) -> EventLog:
    (tmp_path / "log.csv").write_text(text)
    return read_log(tmp_path / "log.csv", RecordLayer.model_validate(records))


def rows(log: EventLog) -> list[tuple]:
    return log.connection.execute(
        'SELECT case_id, activity, timestamp, "offset", grain, channel FROM events ORDER BY event_id'
    ).fetchall()


def test_times_keep_instant_offset_and_grain(tmp_path: Path) -> None:
    log = read(
        tmp_path,
        HEADER
        + "a,A,2024-01-01T10:00:30.5+01:00,x\na,B,2024-01-02,x\na,C,2024-01-02 10:00:00,x\na,D,2024-01-03T00:30:00-0530,x\na,E,,x\n",
        offset="+02:00",
    )
    assert [r[2:5] for r in rows(log)] == [
        (datetime(2024, 1, 1, 9, 0, 30, 500000), 60, "microsecond"),
        (datetime(2024, 1, 1, 22, 0), 120, "day"),  # local midnight at the declared offset
        (datetime(2024, 1, 2, 8, 0), 120, "microsecond"),
        (datetime(2024, 1, 3, 6, 0), -330, "microsecond"),
        (None, None, None),
    ]


def test_a_declared_clock_truncates_on_the_local_clock(tmp_path: Path) -> None:
    log = read(
        tmp_path, HEADER + "a,A,2024-01-01T00:10:59+05:30,x\n", channels=[{"name": "x", "grain": "day"}]
    )
    assert rows(log)[0][2:5] == (datetime(2023, 12, 31, 18, 30), 330, "day")


@pytest.mark.parametrize(("suffix", "grain"), [(":17", "second"), ("", "minute")])
def test_a_clock_is_inferred_only_from_enough_rows(tmp_path: Path, suffix: str, grain: str) -> None:
    line = "a,A,2024-01-01T10:{:02d}{}Z,x\n"
    many = read(tmp_path, HEADER + "".join(line.format(m, suffix) for m in range(40)))
    assert {r[4] for r in rows(many)} == {grain}
    assert ("every time in 'x' is a whole minute; its clock is taken to show minutes" in many.findings) == (
        grain == "minute"
    )
    few = read(tmp_path, HEADER + "".join(line.format(m, suffix) for m in range(5)))
    assert {r[4] for r in rows(few)} == {"second"}


def test_rows_that_are_not_evidence_are_counted(tmp_path: Path) -> None:
    log = read(
        tmp_path,
        HEADER
        + "a,A,2024-01-01,x\n,A,2024-01-01,x\na,A,2024-01-01,position\na,A,2024-01-01,rumour\na,A,2024-01-01,\n",
        channels=["x", {"name": "position", "durable": False}],
    )
    assert [r[5] for r in rows(log)] == ["x", None]
    assert log.findings == (
        "the file's 5 rows: 2 events, 1 without a case id, 2 in channels that are not evidence; its cells are parted by commas, its text is UTF-8",
        "1 rows stand in 'position', which nothing keeps; they are not evidence",
        "1 rows stand in 'rumour', which is not declared; they are not evidence",
        "1 row was set aside (no case: 1): each may be an act of its case (1 of them: of any case, as theirs is "
        "not known), so what it may show is not taken as absent",
    )


def test_csv_gzip_and_parquet_give_the_same_rows(tmp_path: Path) -> None:
    small.write(tmp_path)
    records = load_context(tmp_path / "context.json").records
    plain = read_log(tmp_path / "log.csv", records)
    (tmp_path / "log.csv.gz").write_bytes(gzip.compress(small.LOG.encode()))
    duckdb.sql(
        f"COPY (SELECT * REPLACE (timestamp::TIMESTAMPTZ AS timestamp) FROM read_csv('{tmp_path}/log.csv', all_varchar=true)) TO '{tmp_path}/log.parquet'"
    )
    assert rows(read_log(tmp_path / "log.csv.gz", records)) == rows(plain)
    from_parquet = rows(read_log(tmp_path / "log.parquet", records))
    assert [r[:3] for r in from_parquet] == [
        r[:3] for r in rows(plain)
    ]  # the instant survives, the offset is not stored there


def test_the_log_reaches_nothing_outside(tmp_path: Path) -> None:
    log = read(tmp_path, HEADER + "a,A,2024-01-01,x\n")
    for attempt in (
        f"SELECT * FROM read_csv('{tmp_path}/log.csv')",
        "SET enable_external_access = true",
        f"COPY events TO '{tmp_path}/stolen.csv'",
    ):
        with pytest.raises(duckdb.Error):
            log.connection.execute(attempt)


def test_profile_counts_pairs_cases_and_values(tmp_path: Path) -> None:
    context = load_context(small.write(tmp_path))
    found = profile(context.log)
    assert (found.events, found.cases) == (11, 4)
    assert found.rows("checkin_log", "CheckIn") == 2
    assert found.pairs["roster_log", "StartShift"].cases == 4
    assert found.pairs["roster_log", "StartShift"].values["role"] == {"waiter": 3, "cook": 1}
    assert found.counts["role", "manager"] == 2
    assert found.grains == {"roster_log": "second", "checkin_log": "second"}


def test_a_context_survives_json(tmp_path: Path) -> None:
    context = load_context(small.write(tmp_path))
    (tmp_path / "again.json").write_text(to_json(context))
    again = load_context(tmp_path / "again.json")
    assert (again.goal, again.schema, again.records) == (context.goal, context.schema, context.records)


def test_yaml_and_json_read_alike(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(
        'goal: {id: G, intent: "Pay, in time", required: [Pay]}\nschema: {actions: [Pay]}\n'
        'records: {channels: [{name: x, activities: [Pay], coverage: [{start: 2024-01-01, end: "2024-02-01T10:00:00+01:00"}]}], offset: +01:00}\n'
    )
    context = load_context(tmp_path / "c.yaml")
    (tmp_path / "c.json").write_text(to_json(context))
    assert load_context(tmp_path / "c.json").records == context.records
    assert context.records.offset == 60
    assert context.records.channels[0] == Channel.model_validate(
        {
            "name": "x",
            "activities": ["Pay"],
            "coverage": [{"start": "2024-01-01", "end": "2024-02-01T10:00:00+01:00"}],
        }
    )


def test_a_missing_log_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file; check records.log or --log"):
        read_log(tmp_path / "none.csv", RecordLayer())


class TestDuration:
    """Calendar arithmetic of SEMANTICS lines 9 and 14."""

    @pytest.mark.parametrize(
        ("text", "start", "end"),
        [
            ("P1M", "2024-01-31", "2024-02-29"),
            ("P1M", "2023-01-31", "2023-02-28"),
            ("P1Y", "2024-02-29", "2025-02-28"),
            ("P1M1D", "2024-01-31", "2024-03-01"),
            ("P2M", "2024-01-01", "2024-03-01"),
            ("P60D", "2024-01-01", "2024-03-01"),
            ("P1W", "2024-01-01", "2024-01-08"),
        ],
    )
    def test_after(self, text: str, start: str, end: str) -> None:
        assert Duration.parse(text).after(datetime.fromisoformat(start)) == datetime.fromisoformat(end)

    def test_before_is_clamped_too(self) -> None:
        assert Duration.parse("P1M").before(datetime(2024, 3, 31)) == datetime(2024, 2, 29)

    @pytest.mark.parametrize(
        "text", ["", "P", "PT", "15", "-P1D", "P0D", "P1.5D", "PT1D", "P1H", "P1DT", "P300Y", "P1D P1D"]
    )
    def test_refused(self, text: str) -> None:
        with pytest.raises(ValueError, match="duration|longer"):
            Duration.parse(text)

    @pytest.mark.parametrize(
        ("inner", "outer", "fits"),
        [
            ("P1M", "P31D", True),
            ("P1M", "P30D", False),
            ("P28D", "P1M", True),
            ("P29D", "P1M", False),
            ("PT24H", "P1D", True),
            ("P2M", "P1M", False),
            ("P1M", "P1M", True),
        ],
    )
    def test_fits_within_for_every_start_date(self, inner: str, outer: str, fits: bool) -> None:
        assert Duration.parse(inner).fits_within(Duration.parse(outer)) is fits

    @settings(derandomize=True, deadline=None)
    @given(st.integers(0, 30), st.integers(0, 60), st.integers(0, 200000))
    def test_text_round_trip(self, months: int, days: int, seconds: int) -> None:
        duration = Duration(months, days, seconds)
        if duration != Duration():
            assert Duration.parse(duration.isoformat()) == duration
            assert (
                duration.shortest_seconds()
                >= timedelta(days=28 * months + days, seconds=seconds).total_seconds()
            )
