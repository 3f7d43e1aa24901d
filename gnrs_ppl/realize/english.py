"""The little English the rule texts need: numbers, durations, a or an, plurals, and names turned into
words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gnrs_ppl.context.time import Duration
from gnrs_ppl.rule.types import Stage
from gnrs_ppl.words import OFTEN, PARTICLES, PREPOSITIONS, SMALL_NUMBERS, plural

UNITS = ("month", "day", "hour", "minute", "second")
"""Units a duration is said in, longest first; years are months and weeks are days."""

_SILENT_H = ("hour", "honest", "honour", "honor", "heir")
_CONSONANT_SOUND = ("one", "once", "eu", "uni", "use", "usa", "usu", "util", "ubiq", "uran")
_VOWEL_ABBREVIATIONS = frozenset("AEFHILMNORSX")
_DETERMINERS = frozenset({"the", "a", "an", "their", "his", "her", "its", "this", "that"})
_NOUN_ENDINGS = ("tion", "sion", "ment", "ance", "ence")
_DOUBLING = frozenset(
    "admit begin cancel commit control forget omit patrol permit refer submit transfer travel".split()
)
"""Verbs of two syllables that double their last letter: patrolling."""
_EVENT_NOUNS = {
    "announce": "announcement",
    "appeal": "appeal",
    "approve": "approval",
    "arrive": "arrival",
    "assign": "assignment",
    "call": "call",
    "cancel": "cancellation",
    "check": "check",
    "close": "closure",
    "confirm": "confirmation",
    "add": "addition",
    "create": "creation",
    "decide": "decision",
    "deliver": "delivery",
    "depart": "departure",
    "determine": "determination",
    "discuss": "discussion",
    "dispatch": "dispatch",
    "enter": "entry",
    "examine": "examination",
    "harvest": "harvest",
    "insert": "insertion",
    "inspect": "inspection",
    "notify": "notification",
    "order": "order",
    "patrol": "patrol",
    "pay": "payment",
    "receive": "receipt",
    "register": "registration",
    "reject": "rejection",
    "renew": "renewal",
    "repair": "repair",
    "report": "report",
    "request": "request",
    "reserve": "reservation",
    "resolve": "resolution",
    "return": "return",
    "review": "review",
    "send": "sending",
    "sign": "signature",
    "start": "start",
    "submit": "submission",
    "trade": "trade",
    "transfer": "transfer",
    "visit": "visit",
}


TRANSITIVE = frozenset(
    """
    add approve assign borrow cancel check close confirm create deliver examine harvest insert inspect
    lend order receive register reject renew repair reserve return review send sign submit transfer
    """.split()
)
"""Verbs that take what they are done to as their object (inspect a vehicle); their nouns take it with
``of``."""


STEP_VERBS: dict[str, tuple[Stage, str]] = {
    "approval": ("decision", "approve"),
    "cancellation": ("remedy", "cancel"),
    "check": ("review", "check"),
    "collection": ("remedy", "collect"),
    "comparison": ("review", "compare"),
    "confirmation": ("decision", "confirm"),
    "correction": ("remedy", "correct"),
    "examination": ("review", "examine"),
    "inspection": ("review", "inspect"),
    "notification": ("remedy", "notify"),
    "publication": ("remedy", "publish"),
    "reading": ("review", "read"),
    "recovery": ("remedy", "recover"),
    "registration": ("remedy", "register"),
    "removal": ("remedy", "remove"),
    "renewal": ("remedy", "renew"),
    "repair": ("remedy", "repair"),
    "replacement": ("remedy", "replace"),
    "return": ("remedy", "return"),
    "submission": ("remedy", "submit"),
    "verification": ("review", "verify"),
}
"""What begins the name of a step (correction of the record), the stage it belongs to, and its verb."""


def number(n: int) -> str:
    """``n`` in words below ten, in numerals from ten."""
    return SMALL_NUMBERS[n - 1] if 1 <= n <= 9 else str(n)


def times(n: int) -> str:
    """How often: once, twice, three times, 12 times."""
    return next((word for word, often in OFTEN.items() if often == n), f"{number(n)} times")


def duration(length: Duration) -> str:
    """A duration in words; what differs on the calendar differs here (one month, 30 days, one day, 24
    hours).
    """
    if length.working:
        n, unit = length.working_days or length.working_hours, "day" if length.working_days else "hour"
        return f"{number(n)} working {unit}{'' if n == 1 else 's'}"
    minutes, seconds = divmod(length.seconds, 60)
    amounts = (length.months, length.days, *divmod(minutes, 60), seconds)
    parts = [
        f"{number(n)} {unit}{'' if n == 1 else 's'}" for n, unit in zip(amounts, UNITS, strict=True) if n
    ]
    return series(parts, "and")


def series(parts: Sequence[str], conjunction: str) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return f"{', '.join(parts[:-1])} {conjunction} {parts[-1]}" if len(parts) > 1 else parts[0]


def capitalised(text: str) -> str:
    """The text with its first letter in upper case and the rest as it is."""
    return text[:1].upper() + text[1:]


def article(words: str) -> str:
    """``a`` or ``an`` by the sound the words begin with, as far as spelling tells."""
    first = re.split(r"[^\w]+", words.lstrip("“"))[0]
    lower = first.lower()
    if len(first) > 1 and first.isupper():
        return "an" if first[0] in _VOWEL_ABBREVIATIONS else "a"
    if first.isdigit():
        return "an" if first[0] == "8" or first in ("11", "18") else "a"
    if lower.startswith(_SILENT_H):
        return "an"
    if lower.startswith(_CONSONANT_SOUND) and not lower.startswith(("unin", "unim")):
        return "a"
    return "an" if lower[:1] in tuple("aeiou") else "a"


def gerund(verb: str) -> str:
    """The -ing form of a verb by its spelling: make, stop and tie give making, stopping and tying."""
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return verb[:-1] + "ing"
    if verb in _DOUBLING or re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", verb):
        return verb + verb[-1] + "ing"
    return verb + "ing"


def doing(phrase: str) -> str:
    """A bare infinitive as a gerund: pay the fine gives paying the fine."""
    verb, _, rest = phrase.partition(" ")
    return f"{gerund(verb)} {rest}" if rest else gerund(verb)


def what_is_done(step: str) -> tuple[Stage, str] | None:
    """The stage at which a step so called is a verb of its own, and what is then done: correction of the
    record, corrects the record.
    """
    if step == "written decision":
        return "decision", "decides in writing"
    noun, _, rest = step.partition(" of ")
    stage, verb = STEP_VERBS.get(noun, ("remedy", ""))
    return (stage, f"{plural(verb)} {rest}") if verb and rest else None


def words_of(name: str) -> str:
    """Words of a name: ``CheckIn`` gives check in, ``duty_manager`` duty manager, ``Send Fine`` send fine,
    ``ID_check`` ID check.
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", re.sub(r"[_\s]+", " ", name))
    shouting = not any(c.islower() for c in name)
    return " ".join(t if len(t) > 1 and t.isupper() and not shouting else t.lower() for t in spaced.split())


def reads_as_noun(words: str) -> bool:
    """Whether words derived from an activity name already name an occurrence: payment, confirmation of
    receipt.
    """
    first, _, rest = words.partition(" ")
    return first.endswith(_NOUN_ENDINGS) or rest.startswith("of ")


def with_article(words: str) -> str:
    """``the`` between a verb and its object where a name leaves it out: create fine gives create the fine."""
    verb, _, rest = words.partition(" ")
    only_verb = _EVENT_NOUNS.get(verb, verb) != verb
    plain = (
        rest and rest.split()[0] not in PREPOSITIONS | PARTICLES | _DETERMINERS and not rest.endswith("ly")
    )
    return f"{verb} the {rest}" if only_verb and plain else words


def takes_object(words: str, form: str) -> bool:
    """Whether an act in this form takes its object directly: inspect or inspecting a vehicle; as a noun,
    inspection of a vehicle.
    """
    return words in _OBJECT_FORMS.get(form, frozenset())


def event_noun(phrase: str) -> str:
    """A noun for one occurrence of what a bare infinitive says.

    ``check in`` gives check-in, ``pay the fine`` payment of the fine, ``send fine`` fine sending, ``speak to
    the owner`` speaking to the owner.
    """
    verb, *rest = phrase.split()
    if len(rest) == 1 and rest[0] in PARTICLES:
        return f"{verb}-{rest[0]}"
    noun = _EVENT_NOUNS.get(verb) or gerund(verb)
    if not rest:
        return noun
    if rest[0] in PREPOSITIONS | PARTICLES:
        return " ".join([noun, *rest])
    if rest[0] in _DETERMINERS:
        return " ".join([noun, "of", *rest])
    return " ".join([*rest, noun])


_OBJECT_FORMS = {
    "one": TRANSITIVE,
    "noun": frozenset(event_noun(verb) for verb in TRANSITIVE),
    "doing": frozenset(gerund(verb) for verb in TRANSITIVE),
}
