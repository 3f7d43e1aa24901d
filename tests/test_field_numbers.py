"""Numbers as people and programs write them: read exactly, or unknown with a cell that shows why."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from gnrs_ppl import read_log
from gnrs_ppl.context.log import Event, EventLog
from gnrs_ppl.context.numbers import plain, read_column, written
from gnrs_ppl.context.types import RecordLayer

ONE_WAY = {
    "413.14": "413.14", "413,14": "413.14", "1.250,50": "1250.5", "1,250.50": "1250.5", "1 250,50": "1250.5",
    "1\u00a0250,50": "1250.5", "1\u202f250.50": "1250.5", "1'250.50": "1250.5", "1’000,00": "1000",
    "1,234,567": "1234567", "1.234.567": "1234567", "0,076": "0.076", "€ 12": "12", "12 €": "12",
    "99 EUR": "99", "EUR 1.167,52": "1167.52", "$100.00": "100", "-$5": "-5", "$-5": "-5", "(12.50)": "-12.5",
    "($1,250.50)": "-1250.5", "12.50-": "-12.5", "+3": "3", "\u22125": "-5", "1e3": "1000", "1.5E-7": "0.00000015",
    "2,5e2": "250", "35.900000000000006": "35.900000000000006", ".5": "0.5", "12.": "12", "12 %": "12",
    "000123": "123", "12345678901234567890": "12345678901234567890",
}  # fmt: skip
NO_NUMBER = (
    "",
    "abc",
    "1,23,456",
    "1.2.3",
    "12 apples",
    "(5",
    "5)",
    "--5",
    "(-5)",
    "€5 EUR",
    "2024-01-01",
    "0,123.5",
    "NaN",
    "1 2",
)
TOO_LONG = ("123456789012345678901", "1e20", "1e-19", "1.1102230246251565e-16", "1e9999", "1e-9999")


def test_a_cell_that_is_a_number_in_one_way_is_that_number() -> None:
    for cell, expected in ONE_WAY.items():
        found = written(cell)
        assert found is not None, cell
        assert {plain(v) for v in found.values.values()} == {expected}, cell
        assert Decimal(expected) in found.values.values()
    assert [cell for cell in NO_NUMBER if written(cell)] == []
    for cell in TOO_LONG:
        assert read_column({cell: 1}).plain == {cell: None}, cell


@pytest.mark.parametrize(
    "cells, mark, expected",
    [  # a column decides for the cells that could be either
        (("0,076", "80,000", "100,000"), None, ("0.076", "80", "100")),
        (("99.00", "1,000"), None, ("99", "1000")),
        (("99,00", "1.000"), None, ("99", "1000")),
        (("1.234", "1.5"), None, ("1.234", "1.5")),
        (("1,234", "2,500"), None, (None, None)),  # nothing decides
        (("1,234", "17"), None, (None, "17")),
        (("1,234", "2,500"), ",", ("1.234", "2.5")),  # unless it is stated
        (("1,234", "2,500"), ".", ("1234", "2500")),
        (("1.234", "17"), None, ("1.234", "17")),  # the notation of data files, a guess that is said
        (("1.234", "17"), ",", ("1234", "17")),
        (("1,250.50", "413,14", "1.234"), None, ("1250.5", "413.14", None)),  # it decides both ways
    ],
)
def test_the_column_decides(
    cells: tuple[str, ...], mark: str | None, expected: tuple[str | None, ...]
) -> None:
    column = read_column(dict.fromkeys(cells, 1), mark)
    assert tuple(column.plain[cell] for cell in cells) == expected
    assert bool(column.guessed) == (cells == ("1.234", "17") and mark is None)


def test_amounts_in_two_units_are_not_compared() -> None:
    cells = dict.fromkeys(("$100.00", "99 EUR", "(12.50)", "1e3"), 1)
    assert list(read_column(cells).plain.values()) == [None, None, "-12.5", "1000"]
    assert list(read_column(cells, unit="EUR").plain.values()) == [None, "99", "-12.5", "1000"]
    assert read_column(dict.fromkeys(("5 €", "6 EUR"), 1)).unit == "EUR"


def log(tmp_path: Path, *cells: str, **stated: str) -> EventLog:
    lines = ["case_id;activity;timestamp;amount"]
    lines += [f"c{i};Claim;2026-01-01T00:00:00Z;{cell}" for i, cell in enumerate(cells)]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    attributes = [{"name": "amount", "type": "number", **stated}]
    return read_log(path, RecordLayer.model_validate({"attributes": attributes}))


def numbers(events: EventLog) -> list[Decimal | None]:
    return [
        n for (n,) in events.connection.execute("SELECT attribute_1 FROM events ORDER BY event_id").fetchall()
    ]


def test_a_log_reads_its_numbers_and_says_how(tmp_path: Path) -> None:
    events = log(tmp_path, "1.250,50", "99,00", "1.000", "", "x1")
    assert numbers(events) == [Decimal("1250.5"), 99, 1000, None, None]
    said = [f for f in events.findings if "'amount'" in f]
    assert said == [
        "3 cells of 'amount' are read as numbers (first: row 1, '1.250,50' is 1250.5)",
        "1 cells of 'amount' hold no number that can be read (first: row 5, 'x1' is no number); they count as unknown",
    ]
    assert numbers(log(tmp_path, "35.900000000000006", "1.5E-7")) == [
        Decimal("35.900000000000006"),
        Decimal("0.00000015"),
    ]


def test_what_no_cell_decides_is_unknown_until_it_is_stated(tmp_path: Path) -> None:
    events = log(tmp_path, "1,234", "2,500")
    assert numbers(events) == [None, None]
    assert any("row 1, '1,234' may be thousands or decimals" in f for f in events.findings)
    assert numbers(log(tmp_path, "1,234", "2,500", decimal=",")) == [Decimal("1.234"), Decimal("2.5")]
    assert numbers(log(tmp_path, "1.234", "1.2", "1,5")) == [None, Decimal("1.2"), Decimal("1.5")]
    guessed = log(tmp_path, "1.234", "2.500")
    assert numbers(guessed) == [Decimal("1.234"), Decimal("2.5")]
    assert any("a guess" in f for f in guessed.findings)


def test_rows_given_as_events_hold_plain_numbers_only() -> None:
    records = RecordLayer.model_validate({"attributes": [{"name": "amount", "type": "number"}]})
    cells = ("35.900000000000006", "0.1234567890123456789", "12345678901234567890", "1,5", "1e3")
    rows = [Event(f"{i}", "c", "A", None, None, None, attributes=(cell,)) for i, cell in enumerate(cells)]
    assert numbers(EventLog.from_events(rows, records)) == [
        Decimal("35.900000000000006"), None, 12345678901234567890, None, None,
    ]  # fmt: skip
