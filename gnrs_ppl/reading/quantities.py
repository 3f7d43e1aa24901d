"""Durations and counts a sentence states."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Literal, NamedTuple

from gnrs_ppl.context.time import Duration
from gnrs_ppl.reading.wording import AsWritten
from gnrs_ppl.words import NUMBERS as NUMBER_WORDS
from gnrs_ppl.words import SHORT_UNITS, UNIT_LENGTHS, WORKING_UNITS, scaled, total

_TO_99 = {words.replace("-", sep): n for words, n in NUMBER_WORDS.items() for sep in "- "}
NUMBERS = (
    {"a": 1, "an": 1, "the": 1, "the first": 1, "the next": 1, "the following": 1, "a couple of": 2}
    | {"half a dozen": 6, "a dozen": 12, "dozen": 12, "two dozen": 24}
    | _TO_99
)
_ONES, _TEENS, _TENS = (
    "|".join(word for word, n in NUMBER_WORDS.items() if n in numbers)
    for numbers in (range(1, 10), range(10, 20), range(20, 100, 10))
)
UNDER_100 = rf"(?:(?:{_TENS})(?:[- ](?:{_ONES}))?|{_TEENS}|{_ONES})"
"""A number in words; a longer one before those it begins with."""
_HUNDREDS = rf"(?:an?|{_ONES})[ -]hundred(?:(?: and)?[ -]{UNDER_100})?"
_ONE_UNIT = (
    r"the(?=\s+(?:minute|hour|day|night|week|fortnight|month|quarter|year)\s+"
    r"(?:after|following|from|since|before(?:hand)?|preceding)\b)"
)
_NEXT_UNIT = r"(?:(?<=by )|(?<=later than ))the (?:next|following)(?=\s+(?:(?:working|business)\s+)?(?:day|week|month)\b)"
"""By the next day: within one."""
NUMBER = rf"(?:\d+|{_ONE_UNIT}|{_NEXT_UNIT}|{_HUNDREDS}|half a dozen|a couple of|(?:two |a )?dozen|{UNDER_100}|an?)"
_LENGTH = (
    UNIT_LENGTHS
    | {short: UNIT_LENGTHS[unit] for short, unit in SHORT_UNITS.items()}
    | {"night": Duration(days=1), "quarter": Duration(months=3)}
    | {"wk": UNIT_LENGTHS["week"], "yr": UNIT_LENGTHS["year"]}
    | {"h": UNIT_LENGTHS["hour"], "d": UNIT_LENGTHS["day"]}
)
_WORKING = WORKING_UNITS | {"working week": Duration(working_days=5)}
_LONG_UNITS = "|".join(sorted((unit for unit in _LENGTH if len(unit) > 1), key=len, reverse=True))
_UNIT = rf"(?:(?:{_LONG_UNITS})s?(?<!quarter)(?<!quarters)|quarters?(?![ -](?:of an? )?(?:hour|day|year)\b))"
_KIND = r"(?:working|business|bank(?:ing)?|calendar|consecutive|full|whole|clear)"
_PERIOD = r"(?:period|(?:time )?limit|deadline|window|term|interval|time ?frame)"
_LEAD = rf"(?:an? (?=[\w-]+[ -]{_UNIT}[ -]{_PERIOD}\b)|(?:an?|the) (?:(?:maximum|total|whole) )?(?:{_PERIOD}|maximum|space|course) of )"
"""What stands before a time that a noun calls so: a two-day limit, a period of ten days."""
_PART = r"(?:half(?: of)?|(?:(?:a|one|three)[- ])?quarters?(?:[- ]of|(?=[- ]hour)))"
_ONE = (
    rf"{_LEAD}?(?:(?:the |an? )?(?P<part>{_PART})[- ](?:an?[- ])?(?P<whole>{_UNIT})|"
    rf"(?P<number>\d{{1,3}}(?:,\d{{3}})+|\d+[.,]\d{{1,2}}|\d*½|{NUMBER})(?P<half>[- ]and[- ]a[- ]half)?"
    rf"(?:\s*\(\s*{NUMBER}\s*\))?(?:(?:(?<=[\d½])|[\s-]+)(?:(?P<kind>{_KIND})[\s-]+)?(?P<unit>{_UNIT})(?P<more> and a half)?|"
    rf"(?<=\d)\s?(?P<letter>[hd])))\b['’]?(?:(?<=['’]) time\b|[ -]{_PERIOD}\b)?"
)
DURATION = AsWritten(
    rf"(?<![\w.,/]){_ONE}(?: or (?P<rather>two|three)\b|(?:,? (?:and )?(?P<number2>{NUMBER})[\s-]+(?P<unit2>{_UNIT})\b))?",
)
ANY_UNIT = AsWritten(rf"(?:\b|(?<=[\d½]))(?:{_UNIT}|(?<=\d)[hd]|(?<=\d )[hd])\b")
"""No duration is without one, and it is found sooner."""
PLAIN_DURATION = re.sub(r"\(\?P<\w+>", "(?:", DURATION.pattern)
"""The same without names, to stand inside other patterns."""
UNCOUNTED = AsWritten(
    rf"\b(?:within|inside|in|for|after|during|over|throughout|than|at most)\s+(?:[\w½-]+\s+){{0,3}}?(?P<unit>half an? {_UNIT}|(?:{_LONG_UNITS})s)\b",
)
"""A time, where it is none of these: of so many days as nobody can tell ("a few days")."""

_ORDINAL = AsWritten(r"(?<!within )(?<!than )(?<!for )(?<!in )(?<!after )\ba second$")
"""One more, and no time: "a second voucher"."""
_SHARE = AsWritten(r"(?:an?|one|three) quarters? of (?!an? (?:hour|day|year)\b)")


_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"  # as written, or "may" is one
_DAYS = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
_SPELL = r"(?:(?:working|business|calendar) )?(?:day|week|month|quarter|year|season)"
CALENDAR = re.compile(
    rf"\b(?:(?:by|before|until|till|at|on|in|during|after)\s+)?(?:"
    rf"(?:the\s+)?(?:end|close|beginning|start|middle|last day|first day|first|last|\w+day|\d+(?:st|nd|rd|th)?(?: day)?)\s+of\s+"
    rf"(?:(?:the|each|every|that|this|a)\s+(?:(?:same|next|following|current|respective)\s+)?{_SPELL}|(?:business|{_MONTHS})\b)|"
    rf"(?:(?:the|this|next|every|each)\s+)?(?:(?:first|last|next|following)\s+)?{_DAYS}|weekends?|(?:{_MONTHS})\s+\d+|\d+\.?\s+(?:{_MONTHS})|"
    r"(?:(?:the|that)\s+)?(?:very )?same\s+(?:day|week|month|morning|afternoon)|"
    r"(?:(?<=on )|(?<=by )|(?<=in )|(?<=during ))(?:the|that)\s+(?:very\s+)?(?:day|week|month|morning|afternoon|evening)\b"
    r"(?!\s+(?:after|before|following|from|shift|preceding|prior))|"
    r"\d{1,2}(?:[:.]\d\d)?\s?(?:a\.?m\b|p\.?m\b|o['’]clock)|\w+ o['’]clock|noon|midnight|Easter|Christmas|New Year|tomorrow|tonight|"
    rf"(?<=by )(?:{_MONTHS})|(?<=before )(?:{_MONTHS}))",
)
"""A time of the calendar or of the day, which is no length: "by the end of the month", "on Mondays", "before 5 p.m."."""
SINCE = AsWritten(r"\b(?:since|as of|as from|starting|effective|from)\s+$")
"""Before a time of the calendar: when a rule came to hold, and nothing it asks."""


class Length(NamedTuple):
    """A duration as stated, and whether in working months or the like, which it does not say."""

    duration: Duration
    working: bool
    start: int
    end: int


@lru_cache(maxsize=1024)
def durations(text: str) -> tuple[Length, ...]:
    """Every duration of a text, in order."""
    if not ANY_UNIT.search(text):
        return ()
    found = []
    for m in DURATION.finditer(text):
        if _ORDINAL.search(text, 0, m.end()) or _SHARE.match(text, m.start()):
            continue
        working = (m["kind"] or "").lower().startswith(("working", "business", "bank"))
        length: Duration | None
        if m["part"]:
            part = m["part"].lower()
            length = _scaled(
                Fraction("3/4" if "three" in part else "1/2" if "half" in part else "1/4"), m["whole"]
            )
        elif working and not m["number2"] and (unit := _WORKING.get(f"working {_one(m['unit'])}")):
            length = _times(_amount(m), unit)
        else:
            length = _scaled(_amount(m), m["unit"] or m["letter"])
        if m["number2"] and length is not None:
            length = total(length, scaled(_LENGTH[_one(m["unit2"])], number(m["number2"])))
        if length is not None and length != Duration():
            found.append(Length(length, working and not length.working, m.start(), m.end()))
    return tuple(found)


def _amount(m: re.Match[str]) -> Fraction:
    """How many units: 90, 1,500, 1.5, two and a half, a day or two."""
    words = m["rather"] or m["number"]
    digits = re.sub(r",(?=\d{3})", "", words).replace(",", ".")
    units = Fraction(digits.strip("½") or 0) if re.match(r"[\d½]", digits) else Fraction(number(words))
    return units + Fraction(1, 2) if m["half"] or m["more"] or "½" in words else units


def _one(unit: str) -> str:
    return unit.lower().removesuffix("s")


def _scaled(amount: Fraction, unit: str) -> Duration | None:
    return _times(amount, _LENGTH[_one(unit)])


def _times(amount: Fraction, unit: Duration) -> Duration | None:
    """So many units, also parts of them; None where that is no whole number of months, working days or seconds."""
    days = int(amount * unit.days)
    seconds = amount * unit.seconds + (amount * unit.days - days) * 86400
    parts = (
        amount * unit.months,
        Fraction(days),
        seconds,
        amount * unit.working_days,
        amount * unit.working_hours,
    )
    return Duration(*map(int, parts)) if all(part.denominator == 1 for part in parts) else None


def number(words: str) -> int:
    """A number in digits or words."""
    if words.isdigit():
        return int(words)
    hundreds, of_hundred, rest = words.lower().partition("hundred")
    if not of_hundred:
        return NUMBERS[hundreds]
    behind = rest.strip(" -").removeprefix("and").strip(" -")
    return 100 * NUMBERS[hundreds.strip(" -")] + (NUMBERS[behind] if behind else 0)


class Count(NamedTuple):
    """How often, as stated, with the words that say it; ``above`` where the number itself is out ("more than twice")."""

    times: int
    limit: Literal["most", "least", "exact"]
    above: bool
    words: str


_MEASURE = r"(?:euros?|eur|dollars?|pounds?|kilos?|kg|kilograms?|tons?|tonnes?|grams?|lit(?:re|er)s?|(?:kilo)?met(?:re|er)s?|km|miles?|pages?)"
_TIMES = rf"(?:(?P<n>{NUMBER}) times|(?P<once>once)|(?P<twice>twice)|(?P<thrice>thrice))"
_BEFORE = (
    rf"(?P<how>(?P<most>at most|no more than|not more than|never more than|a maximum of|maximum|up to|at the most|as many as|"
    rf"more than)|(?P<least>at least|no fewer than|no less than|not less than|not fewer than|never (?:less|fewer) than"
    rf"|a minimum of|minimum)|(?P<exactly>exactly|precisely|only(?! an?\b)))\s+(?:{_TIMES}|(?P<m>{NUMBER}|"
    rf"one)(?=\s+\w|\W*$)(?(least)(?!\s+of\b))(?!\s+(?:in (?!the\b|any\b|each\b|every\b|all\b)|of(?! (?:them|these|those)\b)|out of|per cent|percent|{_UNIT}|{_MEASURE})\b))"
)
_PER = r"(?:per|in (?:each|every|a|one)|for (?:each|every)) (?:case|file|matter|order|process|request|patient|visit)"
_LIMIT = r",? at (?:the )?(?:very )?(?:(?P<most>most)|(?P<least>least))"
_BEHIND = (
    rf"\b{_TIMES}(?: {_PER})?{_LIMIT}",
    rf"\b(?P<m>{NUMBER})(?: {_PER})?{_LIMIT}",
    rf"\b(?!an? (?!couple|dozen|single)|the )(?P<m>{NUMBER}) (?!{_UNIT}\b)[a-z]+(?: [a-z]+){{0,2}}{_LIMIT}",
    rf"\b(?!an? (?!couple|dozen|single)|the )(?P<m>{NUMBER}) (?!{_UNIT}\b)[a-z]+ (?:is|are) the (?P<most>most|maximum|limit)\b",
    r"\btimes\b[^.;]*?\b(?P<most>(?:never|not|no) more than|at most) (?P<m>two|three|four|five|six|seven|eight|nine|ten)(?=\s*(?:[.,;]|$))",
    r"\b(?P<m>one),?(?P<exactly> and only one)\b",
    rf"\b{_TIMES}(?P<exactly> {_PER})(?!,? at (?:the )?(?:very )?(?:most|least))",
)
_TOO_OFTEN = AsWritten(
    rf"\b(?:not|never|cannot|\w+n't|no|nobody|no one)\b[^.;:]{{0,80}}?\b(?:(?P<twice>twice)|(?P<thrice>thrice)|(?P<n>{NUMBER}) times)\b"
    r"(?! (?:as|the|a|an)\b)",
)
"""So often is once too many."""
_ASKED = AsWritten(r"\b(?:must|shall|should|(?:has|have|needs?) to|is to|are to|required)\b")
_DENIED = AsWritten(
    r"\b(?:not|never|cannot|\w+n['’]t|no|nobody|none|neither|nor|without|forbidden|prohibited|banned|barred|breach|error|fault|wrong|violation|unacceptable|avoid\w*)\b",
)
"""More than so many are asked for by the former, where none of the latter stands with it."""
_COUNTS = tuple(AsWritten(pattern) for pattern in (_BEFORE, *_BEHIND))
_COUNTED = re.compile(
    r"most|least|times|once|twice|thrice|m(?:ax|in)imum|more than|less than|fewer|up to|as many as|exactly|precisely|only"
)
"""One of these stands in all that says how often, and is found sooner."""


@lru_cache(maxsize=1024)
def count_of(text: str) -> Count | None:
    """How often a text says that something may or must be done, where it says so."""
    if not _COUNTED.search(text.lower()):
        return None
    found = [m for pattern in _COUNTS if (m := pattern.search(text))]
    if not found:
        often = _TOO_OFTEN.search(text)
        times = 0 if often is None else number(often["n"]) if often["n"] else 2 if often["twice"] else 3
        return Count(times - 1, "most", False, often[0]) if often and times > 1 else None
    first = min(found, key=lambda m: m.start())
    told = first.groupdict()
    words = told.get("n") or told.get("m")
    times = number(words) if words else 1 if told["once"] else 2 if told["twice"] else 3
    limit: Literal["most", "least", "exact"] = (
        "most" if told.get("most") else "least" if told.get("least") else "exact"
    )
    above = (told.get("how") or "").lower() == "more than"
    if above and _ASKED.search(text) and not _DENIED.search(text):
        limit = "least"
    return Count(times, limit, above, first[0])
