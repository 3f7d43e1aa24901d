"""Lengths of time in the many ways to say them."""

from __future__ import annotations

import pytest
from test_reading import FINES

from gnrs_ppl.reading.opinions import duty_lines
from gnrs_ppl.reading.quantities import UNCOUNTED, durations
from gnrs_ppl.reading.reader import read

LENGTHS = {
    "a fortnight": "P14D", "the fortnight after it was sent": "P14D", "a dozen days": "P12D", "half a dozen weeks": "P42D",
    "half an hour": "PT30M", "a half-hour": "PT30M", "a quarter of an hour": "PT15M", "three quarters of an hour": "PT45M",
    "half a week": "P3DT12H", "a day and a half": "P1DT12H", "two and a half hours": "PT2H30M", "one-and-a-half hours": "PT1H30M",
    "1.5 hours": "PT1H30M", "1½ hours": "PT1H30M", "a couple of days": "P2D", "a day or two": "P2D", "24h": "PT24H", "10 d": "P10D",
    "48-hour": "PT48H", "2 wks": "P14D", "one working week": "5WD", "five bank days": "5WD", "1,500 days": "P1500D",
    "one hundred and twenty days": "P120D", "10 (ten) days": "P10D", "ninety (90) days": "P90D", "a quarter": "P3M",
    "two weeks and three days": "P17D", "a year and a half": "P18M",
}  # fmt: skip


@pytest.mark.parametrize("words", LENGTHS)
def test_lengths(words: str) -> None:
    assert [str(length.duration) for length in durations(f"within {words}")] == [LENGTHS[words]]


@pytest.mark.parametrize(
    ("words", "length"),
    [
        ("by the next working day after receipt", "1WD"),
        ("no later than the following week", "P7D"),
        ("on the next day", ""),
        ("the next day it is paid", ""),
    ],
)
def test_what_is_due_by_the_next_unit_has_one(words: str, length: str) -> None:
    assert [str(found.duration) for found in durations(words)] == ([length] if length else [])


@pytest.mark.parametrize("words", ["half a month", "1.5 months", "a few days", "several weeks"])
def test_no_length(words: str) -> None:
    assert not durations(f"within {words}")


@pytest.mark.parametrize("words", ["a few days", "several weeks", "half a month", "days"])
def test_uncounted(words: str) -> None:
    found = UNCOUNTED.search(f"must be paid within {words}.")
    assert found is not None
    assert found["unit"] in words


WITHIN = {
    "a period of 30 days": "P30D", "a three-week period": "P21D", "a two-day limit": "P2D", "the space of two hours": "PT2H",
    "3 months' time": "P3M", "a maximum of five days": "P5D",
}  # fmt: skip


@pytest.mark.parametrize("words", WITHIN)
def test_within_what_a_noun_calls_a_time(words: str) -> None:
    readings = read(f"Once a fine has been sent, it must be paid within {words}.", FINES)
    assert duty_lines(readings) == (f"response(Send -> Pay) {WITHIN[words]}",)


@pytest.mark.parametrize(
    "window",
    [
        "In the fortnight after",
        "During the two weeks from",
        "Over the two weeks following",
    ],
)
def test_a_time_in_which_something_is_banned(window: str) -> None:
    readings = read(f"{window} the sending of the fine, no penalty may be added.", FINES)
    assert duty_lines(readings) == ("not_response(Send -> Penalty) P14D",)
