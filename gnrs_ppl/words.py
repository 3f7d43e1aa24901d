"""Words that the writer of rule texts, their exact parser and the reader of a person's sentence share."""

from __future__ import annotations

from gnrs_ppl.context.time import Duration

_UNDER_TWENTY = (
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")

SMALL_NUMBERS = _UNDER_TWENTY[:9]
"""Numbers that rule texts write as words; ten and above are written as numerals."""

NUMBERS = {word: n for n, word in enumerate(_UNDER_TWENTY, 1)} | {
    f"{tens}{'-' + _UNDER_TWENTY[unit - 1] if unit else ''}": 10 * n + unit
    for n, tens in enumerate(_TENS, 2)
    for unit in range(10)
}
"""Number words, one to ninety-nine."""

OFTEN = {"once": 1, "twice": 2}
"""How often, where that is one word."""

UNIT_LENGTHS = {
    "second": Duration(seconds=1),
    "minute": Duration(seconds=60),
    "hour": Duration(seconds=3600),
    "day": Duration(days=1),
    "week": Duration(days=7),
    "fortnight": Duration(days=14),
    "month": Duration(months=1),
    "year": Duration(months=12),
}
"""Units of time, shortest first."""

WORKING_UNITS = {"working day": Duration(working_days=1), "working hour": Duration(working_hours=1)}
"""Units of working time, which the records' calendar counts."""

SHORT_UNITS = {"sec": "second", "min": "minute", "hr": "hour"}

PARTICLES = frozenset({"in", "out", "off", "on", "over", "up", "down", "away", "back"})
"""Particles that belong to the verb before them: check in."""
PREPOSITIONS = frozenset(
    {"to", "for", "from", "with", "about", "by", "on", "in", "at", "into", "of", "against"}
)
_PLURALS = {
    "person": "people",
    "child": "children",
    "man": "men",
    "woman": "women",
    "staff": "staff",
    "equipment": "equipment",
}


def scaled(unit: Duration, n: int) -> Duration:
    """``n`` times a duration."""
    return Duration(
        n * unit.months,
        n * unit.days,
        n * unit.seconds,
        n * unit.working_days,
        n * unit.working_hours,
    )


def total(one: Duration, other: Duration) -> Duration:
    """Two durations together."""
    return Duration(one.months + other.months, one.days + other.days, one.seconds + other.seconds)


def plural(phrase: str) -> str:
    """Plural of a noun phrase: the word before its first preposition, else the last word, takes it."""
    words = phrase.split(" ")
    head = next((i for i, word in enumerate(words) if i and word in PREPOSITIONS), len(words)) - 1
    return " ".join([*words[:head], _plural_word(words[head]), *words[head + 1 :]])


def _plural_word(noun: str) -> str:
    lower = noun.lower()
    if lower in _PLURALS:
        return noun[:1] + _PLURALS[lower][1:]
    if lower.endswith("man") and lower != "human":
        return noun[:-2] + "en"
    if lower.endswith(("s", "x", "ch", "sh", "z")):
        return noun + "es"
    if lower.endswith("y") and lower[-2:-1] not in tuple("aeiou") and len(noun) > 1:
        return noun[:-1] + "ies"
    return noun + "s"
