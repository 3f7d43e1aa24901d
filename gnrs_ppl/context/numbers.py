"""Numbers as they are written in a column, made plain decimals: 1.234,56 and $1,234.56, (12.50), 12.50- and 1e3."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, NamedTuple

Mark = Literal[".", ","]
"""The sign before the decimals."""

WHOLE, DECIMALS = 20, 18
"""Digits before and behind the point that the event table holds."""
PLAIN = rf"[+-]?0*\d{{1,{WHOLE}}}(\.\d{{0,{DECIMALS}}}0*)?"
"""A number as the event table reads it from text."""
CERTAIN = r"[+-]?(\d+|0\.\d+|\d+\.(\d{0,2}|\d{4,})|\d{4,}\.\d{3})"
"""A plain number that cannot be meant in another way, whatever stands around it; it may be too long."""

TOO_LONG = f"has more than {WHOLE} digits before the point or {DECIMALS} behind it"
"""Why a number is not read that is one."""

_SPACE = " \u00a0\u2007\u2009\u202f"
_ISO_4217 = (
    "AED|AFN|ALL|AMD|ANG|AOA|ARS|AUD|AWG|AZN|BAM|BBD|BDT|BGN|BHD|BIF|BMD|BND|BOB|BRL|BSD|BTN|BWP|BYN|BZD|"
    "CAD|CDF|CHF|CLP|CNY|COP|CRC|CUP|CVE|CZK|DJF|DKK|DOP|DZD|EGP|ERN|ETB|EUR|FJD|FKP|GBP|GEL|GHS|GIP|GMD|"
    "GNF|GTQ|GYD|HKD|HNL|HRK|HTG|HUF|IDR|ILS|INR|IQD|IRR|ISK|JMD|JOD|JPY|KES|KGS|KHR|KMF|KPW|KRW|KWD|KYD|"
    "KZT|LAK|LBP|LKR|LRD|LSL|LYD|MAD|MDL|MGA|MKD|MMK|MNT|MOP|MRU|MUR|MVR|MWK|MXN|MYR|MZN|NAD|NGN|NIO|NOK|"
    "NPR|NZD|OMR|PAB|PEN|PGK|PHP|PKR|PLN|PYG|QAR|RON|RSD|RUB|RWF|SAR|SBD|SCR|SDG|SEK|SGD|SHP|SLE|SOS|SRD|"
    "SSP|STN|SYP|SZL|THB|TJS|TMT|TND|TOP|TRY|TTD|TWD|TZS|UAH|UGX|USD|UYU|UZS|VES|VND|VUV|WST|XAF|XCD|XOF|"
    "XPF|YER|ZAR|ZMW|ZWL|DEM|FRF|ITL|NLG|ESP|ATS"
)
"""Codes of currencies, those before the euro too."""
_UNIT = rf"US\$|[$\u00a2-\u00a5\u20a0-\u20cf%]|{_ISO_4217}|kr\.?|Kč|zł|Fr\.?"
_CODES = {
    "€": "EUR",
    "$": "USD",
    "US$": "USD",
    "£": "GBP",
    "¥": "JPY",
    "zł": "PLN",
    "Kč": "CZK",
    "%": "percent",
}
_NUMBER = re.compile(
    rf"(?P<open>\()?[{_SPACE}]*(?P<s1>[+\u2212-])?[{_SPACE}]*(?P<u1>{_UNIT})?[{_SPACE}]*(?P<s2>[+\u2212-])?[{_SPACE}]*"
    rf"(?P<body>[0-9.,](?:[0-9.,'\u2019{_SPACE}]*[0-9.,])?)(?P<exponent>[eE][+-]?\d{{1,4}})?"
    rf"[{_SPACE}]*(?P<s3>[\u2212-])?[{_SPACE}]*(?P<u2>{_UNIT})?[{_SPACE}]*(?P<s4>[\u2212-])?(?P<close>\))?"
)
_MARKS: tuple[tuple[Mark, str], ...] = ((".", ","), (",", "."))
_BODIES: dict[Mark, re.Pattern[str]] = {
    mark: re.compile(
        rf"[1-9][0-9]{{0,2}}(?P<group>[{other}'\u2019{_SPACE}])[0-9]{{3}}(?:(?P=group)[0-9]{{3}})*"
        rf"(?:[{mark}][0-9]*)?|[0-9]+(?:[{mark}][0-9]*)?|[{mark}][0-9]+"
    )
    for mark, other in _MARKS
}


class Written(NamedTuple):
    """A cell as a number: what it is by each decimal mark that it can be read with, and its unit if it has one."""

    values: Mapping[Mark, Decimal]
    unit: str = ""

    @property
    def mark(self) -> Mark | None:
        """The only mark it can be read with; None where both give the same, or each its own."""
        return next(iter(self.values)) if len(self.values) == 1 else None

    @property
    def open(self) -> bool:
        """Whether either mark gives another number."""
        return len(set(self.values.values())) > 1


def written(cell: str) -> Written | None:
    """What a cell says as a number; None where it is none."""
    m = _NUMBER.fullmatch(cell)
    if m is None or (m["open"] is None) != (m["close"] is None) or (m["u1"] and m["u2"]):
        return None
    signs = [s for s in (m["s1"], m["s2"], m["s3"], m["s4"]) if s]
    if len(signs) + bool(m["open"]) > 1:
        return None
    minus = "" if not m["open"] and signs in ([], ["+"]) else "-"
    values = dict[Mark, Decimal]()
    for mark, pattern in _BODIES.items():
        body = pattern.fullmatch(m["body"])
        if body is None or (m["exponent"] and body["group"]):
            continue
        digits = re.sub(r"[^0-9,.]", "", m["body"]).replace("," if mark == "." else ".", "").replace(",", ".")
        values[mark] = Decimal(f"{minus}{digits}{m['exponent'] or ''}")
    unit = m["u1"] or m["u2"] or ""
    return Written(values, _CODES.get(unit, unit)) if values else None


def plain(value: Decimal) -> str | None:
    """A number as the event table reads it; None where it holds more digits than that."""
    if not value:
        return "0"
    value = value.normalize() if len(value.as_tuple().digits) <= 28 else value
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or exponent < -1000 or value.adjusted() >= WHOLE:
        return None
    text = f"{value:f}"
    return text if re.fullmatch(PLAIN, text, re.ASCII) else None


@dataclass(frozen=True)
class ReadColumn:
    """The cells of a column as plain numbers.

    Attributes
    ----------
    plain : mapping
        Cell -> the number; None where it is not certain which, or none.
    because : mapping
        Why a cell is none that can be read -> such cells.
    mark : Mark or None
        The decimal mark of the column, as its cells decide or as it was stated.
    guessed : str
        A cell for which the point was taken as the decimal mark, though nothing in the column decides.
    unit : str
        The unit its cells are written with.
    """

    plain: Mapping[str, str | None]
    because: Mapping[str, list[str]]
    mark: Mark | None
    guessed: str = ""
    unit: str = ""


def read_column(cells: Mapping[str, int], mark: Mark | None = None, unit: str | None = None) -> ReadColumn:
    """The cells of a column as numbers: each as only it can be read, else as the others decide.

    Parameters
    ----------
    cells : mapping
        Cell -> how many rows hold it.
    mark : {".", ","}, optional
        The decimal mark, where it is stated.
    unit : str, optional
        The unit, where it is stated; cells in another are not read.
    """
    read = {cell: written(cell) for cell in cells}
    marks = {w.mark for w in read.values() if w is not None and w.mark is not None}
    decided = mark or (next(iter(marks)) if len(marks) == 1 else None)
    units = Counter(w.unit for w in read.values() if w is not None and w.unit)
    known = _CODES.get(unit, unit) if unit else None
    found, because, guessed = dict[str, str | None](), dict[str, list[str]](), ""
    for cell, w in read.items():
        why, value = "", None
        if w is None or (mark is not None and w.values.get(mark) is None):
            why = "is no number"
        elif w.unit and known is not None and w.unit != known:
            why = f"is in another unit than {known}"
        elif w.unit and known is None and len(units) > 1:
            why = f"is in one of {len(units)} units ({', '.join(sorted(units))}), and which is meant is not stated"
        elif not w.open:
            value = next(iter(w.values.values()))
        elif decided is not None:
            value = w.values[decided]
        elif "," in cell or marks:
            why = "may be thousands or decimals, and no other cell decides"
        else:
            value, guessed = w.values["."], guessed or cell
        text = None if value is None else plain(value)
        if value is not None and text is None:
            why = TOO_LONG
        found[cell] = text
        if why:
            because.setdefault(why, []).append(cell)
    return ReadColumn(
        found, because, decided, guessed, known or (next(iter(units)) if len(units) == 1 else "")
    )
