"""Figures a sentence states: numbers in digits or in words, with a currency, a unit or percent, and days."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from gnrs_ppl.reading.quantities import UNDER_100
from gnrs_ppl.reading.wording import AsWritten
from gnrs_ppl.words import NUMBERS, SHORT_UNITS, UNIT_LENGTHS

_UNITS = {
    "EUR": "€ eur euro euros",
    "USD": "$ usd dollar dollars",
    "GBP": "£ gbp sterling",
    "CHF": "chf francs franc",
    "SEK": "sek kronor krona",
    "percent": "% percent",
    "kg": "kg kilo kilos kilogram kilograms kilogramme kilogrammes",
    "g": "g gram grams gramme grammes",
    "t": "t ton tons tonne tonnes",
    "km": "km kilometer kilometers kilometre kilometres",
    "m": "m meter meters metre metres",
    "l": "l litre litres liter liters",
}
_CANONICAL = {word: unit for unit, words in _UNITS.items() for word in words.split()}
MONEY = frozenset({"EUR", "USD", "GBP", "CHF", "SEK"})
_TIMES = frozenset({*UNIT_LENGTHS, *SHORT_UNITS, "night", "quarter"})

_SCALES = {"hundred": 100, "thousand": 1_000, "k": 1_000, "million": 1_000_000}
_DIGITS = r"\d{1,3}(?:[,'’\u00a0\u202f ]\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+(?:[.,]\d+)?"
_IN_WORDS = rf"(?:{UNDER_100}|an?(?=\s+(?:hundred|thousand|million)\b))(?:[ -](?:and )?(?:{UNDER_100}|hundred|thousand|million))*"
_FIGURE = AsWritten(
    rf"(?<![\w.,])(?P<before>[€$£]\s?|(?:EUR|USD|GBP|CHF|SEK)\s)?(?:(?P<digits>{_DIGITS})(?:\s?(?P<scale>k|hundred|thousand|million)\b)?"
    rf"|(?P<words>\b{_IN_WORDS}\b))(?:\s?(?P<sign>[%€$£])|\s?per cent\b|[\s-](?P<unit>[A-Za-z]+)\b)?",
)
_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})"
DAY = AsWritten(
    rf"\b(?:(?P<iso>\d{{4}}-\d\d-\d\d)|(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH},? (?P<year>\d{{4}})"
    rf"|{_MONTH.replace('month', 'month2')} (?P<day2>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year2>\d{{4}}))\b",
)


class Figure(NamedTuple):
    """A number as stated: ``value`` is None where its digits may mean two numbers (5.000), ``unit`` empty where none
    is said, ``word`` what stands behind it; ``bare`` ends before that word.
    """

    value: Decimal | None
    unit: str
    word: str
    start: int
    bare: int
    end: int


def unit_of(words: str) -> str:
    """A unit by one name, however it is written."""
    lower = words.strip().lower()
    return _CANONICAL.get(lower, lower.removesuffix("s") if len(lower) > 3 else lower)


def figures(text: str, units: frozenset[str] = frozenset()) -> Iterator[Figure]:
    """Every number of a text; ``units`` are further units by the names that :func:`unit_of` gives. Lengths of time and
    days of a calendar are left out, where their units are not among these.
    """
    days = [m.span() for m in DAY.finditer(text)]
    for m in _FIGURE.finditer(text):
        if any(start <= m.start() < end for start, end in days):
            continue
        word = (m["unit"] or "").lower()
        named = unit_of(word) if word in _CANONICAL or unit_of(word) in units else ""
        if word and not named and word.removesuffix("s") in _TIMES:
            continue
        per_cent = m[0].lower().endswith("per cent")
        unit = (
            unit_of(m["sign"] or m["before"] or "")
            if m["sign"] or m["before"]
            else "percent"
            if per_cent
            else named
        )
        bare = m.end() if m["sign"] or per_cent or not word else m.start("unit") - 1
        yield Figure(_value(m), unit, word, m.start(), bare, m.end() if unit and not m["before"] else bare)


def _value(m: re.Match[str]) -> Decimal | None:
    if m["words"]:
        return _in_words(m["words"].lower())
    digits = re.sub(r"['’\s]", "", m["digits"])
    if re.fullmatch(r"\d{1,3}\.\d{3}", digits):
        return None
    if "," in digits and "." in digits:
        last = max(",", ".", key=digits.rindex)
        digits = digits.replace("," if last == "." else ".", "").replace(last, ".")
    elif re.fullmatch(r"\d{1,3}(?:,\d{3})+", digits):
        digits = digits.replace(",", "")
    elif digits.count(".") > 1:
        digits = digits.replace(".", "")
    number = Decimal(digits.replace(",", "."))
    return number * _SCALES[m["scale"].lower()] if m["scale"] else number


def _in_words(words: str) -> Decimal | None:
    total, part = 0, 0
    for word in re.split(r"[\s]+|-(?=hundred|thousand|million)", re.sub(r"\band\b", " ", words).strip()):
        if word in ("hundred",):
            part = max(part, 1) * 100
        elif word in _SCALES:
            total, part = total + max(part, 1) * _SCALES[word], 0
        else:
            more = 1 if word in ("a", "an") else NUMBERS.get(word)
            if more is None or part % (10 if part % 100 >= 20 and more < 10 else 100):
                return None  # two-three euros
            part += more
    return Decimal(total + part)


def days_of(text: str) -> Iterator[tuple[str, int, int]]:
    """Every day of a calendar a text names, as 2024-05-31, with its place; what is no day is left out."""
    for m in DAY.finditer(text):
        if m["iso"]:
            parts = [int(part) for part in m["iso"].split("-")]
        else:
            month = _MONTHS.index((m["month"] or m["month2"]).lower()) + 1
            parts = [int(m["year"] or m["year2"]), month, int(m["day"] or m["day2"])]
        try:
            yield date(*parts).isoformat(), m.start(), m.end()
        except ValueError:
            continue
