"""Whether words state a duty at all, or only tell what is, was or usually happens.

A logistic model of signs that do not depend on any schema: words that bind, limit or speak of every case, and words
of habit, shares, measures, comparisons and times past. Fitted on the sentences of ``tools/fit_reader.py`` that
state one constraint or none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.quantities import count_of, durations
from gnrs_ppl.reading.wording import AsWritten, Wording
from gnrs_ppl.reading.words import lemmas

_NUMBER = (
    r"(?:\d[\d.,]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|twenty|thirty|forty|"
    r"fifty|sixty|hundreds?|thousands?)"
)
_PART = (
    r"(?:third|quarter|fifth|sixth|seventh|eighth|ninth|tenth|half|majority|minority|share|bulk|handful)s?"
)
_SIGNS = {
    "duty": patterns.DUTY.pattern,
    "negative": patterns.NEGATIVE.pattern,
    "past": patterns.PAST.pattern,
    "demand": r"(?:i|we) (?:want|expect|need|insist|ask|will not|won't)|make sure|see to it|has got to|"
    r"there(?:'s| is) to be|(?:is|are) to|is due|mandatory|let (?:there|no)",
    "every case": r"every|each|any|all|whenever|always|whoever|wherever|everyone|everybody|invariably|without exception",
    "limit": r"only|unless|until|except|save|without|provided",
    "count": r"exactly|precisely|at least|at most|no more than|no fewer|once|twice",
    "order": r"first|last|then|next|followed|follows?|precedes?|begins?|ends?|starts?|closes?|opens?|comes? (?:before|after)",
    "circumstance": r"if|when|once|after|before|upon|as soon as|where",
    "case": r"file|record|folder|case|log|sheet|order",
    "free": r"(?:may|can|could|might|free to|welcome to|at liberty|optional|if (?:they|you) (?:like|wish|want))(?! not| only| never)",
    "habit": rf"{patterns.HABIT.pattern}|averages?|mean|median|typical|as a rule(?: of thumb)?|mainly|sometimes|frequently|"
    r"like to|love|prefer|customary|habit|commonly|regularly|nine times out of ten|more often than not",
    "share": rf"(?:{_NUMBER}|one) (?:in|out of) {_NUMBER}|{_PART} of|half the|"
    rf"(?:two|three|four) (?:thirds|quarters|fifths)|%|every (?:second|other|{_PART})",
    "many": r"(?<!at )(?<!at the )most|many|few|several|some of|only an? (?:few|handful)",
    "about": rf"(?:about|around|some)(?= (?:an?|one|half|{_NUMBER}))|roughly|approximately|nearly|almost|up to|or so",
    "then and now": r"last (?:year|month|quarter|week|winter|summer|spring|autumn|night|time)|"
    r"this (?:year|month|winter|summer|spring|autumn|week)|these days|nowadays|ago|yesterday|so far|since|"
    r"until recently|at the moment|currently|in (?:19|20)\d\d|used to|former|"
    r"in (?:january|february|march|april|june|july|august|september|october|november|december)|"
    r"on (?:mon|tues|wednes|thurs|fri|satur|sun)days?|in (?:the )?(?:spring|summer|autumn|winter|mornings?)|"
    r"a (?:day|week|month|year)(?=[\s.,;])",
    "comparison": r"than|as \w+ as|times as|twice as|faster|slower|cheaper|longer|fewer",
    "measure": r"(?:takes?|costs?|weighs?|lasts?|runs? to|fetch\w*|keeps?|amounts? to) (?:\w+ ){0,3}"
    rf"(?:{_NUMBER}|an?|half|about|some|twice|three|longer)",
    "reason": r"because|which is why|since|as it|funnily|handy|nice|pity|glad|proud",
}
_COMPILED = {name: Wording(rf"(?<!\w)(?:{pattern})(?!\w)") for name, pattern in _SIGNS.items()}
_WORD = re.compile(r"[a-z']+")
_BEFORE_PARTICIPLE = frozenset(
    [
        "a",
        "an",
        "and",
        "any",
        "are",
        "as",
        "be",
        "been",
        "being",
        "each",
        "every",
        "first",
        "get",
        "gets",
        "got",
        "had",
        "has",
        "have",
        "having",
        "if",
        "is",
        "never",
        "not",
        "of",
        "once",
        "or",
        "that",
        "the",
        "unless",
        "until",
        "was",
        "were",
        "when",
        "which",
    ]
)
"""Before a form in -ed it is no past tense."""
_AIM = Wording(
    r"\b(?:our|my|the|one) (?:\w+ )?(?:aim|goal|hope|wish|ambition|vision|dream|mission|objective|intention)s? (?:is|was|are|remains?)\b|"
    r"\b(?:i|we) (?:\w+ )?(?:aim|hope|strive|try|endeavour|wish|intend) (?:to|that)\b|"
    r"\bit (?:would|will) (?:\w+ )?be (?:nice|good|great|lovely|helpful|better|best|wonderful|welcome) if\b"
)
"""Says what is wished for, which binds nobody where no word does."""
_BINDS = frozenset({"duty", "main negative", "demand", "imperative"})
_OF_A_SHARE = AsWritten(
    r"[\W\d]*(?:(?:most|many|few|some|half (?:of )?the|hardly any|the (?:vast )?majority)\b(?! of all\b| \w+ly\b))",
)
"""Begins what is said of some of many."""
_PAST_TIME = Wording(
    r"(?<!\bsince )(?<!\bthe )(?<!\bof )\blast (?:year|month|week|quarter|night|time|spring|summer|autumn|fall|winter|season|"
    r"christmas|easter|\w+day|january|february|march|april|may|june|july|august|september|october|november|december)s?\b|"
    r"\b(?:yesterday|the other (?:day|week|month|night|evening)|(?:\w+ ){0,2}(?:days?|weeks?|months?|years?|winters?|summers?|decades?) ago|"
    r"not long ago|long ago|back (?:in|then|when)|in (?:the (?:good )?old|those|my|our) days|(?:in|during|throughout) (?:19|20)\d\d|used to)\b"
)
"""A time that is over."""
_WAS_NOT = Wording(
    r"\b(?:was|were|did|had|could|would)(?: not|n't)\b|\b(?:nobody|no one|none of \w+|nothing|never)(?= (?:was|were|had|did|\w+ed)\b)"
)
"""Denies what was, which bans nothing."""
_LAID_DOWN = Wording(
    r"\b(?:agreed|decided|resolved|ruled|ordered|required|promised|undertook|committed|adopted|laid down|determined|approved|instructed|wrote|said|told)\b"
)
"""By such a word of the past a rule came about."""
_GOES_ON = re.compile(r"[.!?]\s+\w")
"""A sentence behind another."""


@lru_cache(maxsize=64)
def signs(text: str, main: str) -> tuple[str, ...]:
    """Signs of whether a text states a duty; ``main`` are its main clauses."""
    text, main = text.lower(), main.lower()
    found = [name for name, pattern in _COMPILED.items() if pattern.search(text)]
    found += [f"main {name}" for name in list(found) if _COMPILED[name].search(main)]
    words, told = _WORD.findall(text), _WORD.findall(main)
    first = next(iter(words), "")
    if first in lemmas(first, "v"):
        found.append("imperative")
    if first.endswith("s") and first not in lemmas(first, "n") and lemmas(first, "n"):
        found.append("things in general")
    if durations(text):
        found.append("time")
    if any(w.endswith("ed") and before not in _BEFORE_PARTICIPLE for before, w in pairwise(told)):
        found.append("past tense")
    how = "binding" if _BINDS.intersection(found) else "plain"
    return "", how, *(f"{how}: {sign}" for sign in found)


def states_duty(text: str, main: str, weights: Mapping[str, float]) -> bool:
    """Whether a text more probably states a duty than none; what is said to be usual or wished for, with
    no word that binds, is none.
    """
    asks = bool(patterns.DUTY.search(text))
    if not asks and (_OF_A_SHARE.match(text) or _narrates(text.lower(), main.lower())):
        return False
    binds = asks or any(p.search(text) for p in (patterns.NEGATIVE, patterns.PERMISSION))
    if not binds and (patterns.USUALLY.search(text) or _AIM.search(text)):
        return False
    limit = count_of(main)
    timed = durations(text) and not patterns.PAST.search(text)
    if (
        limit is not None
        and limit.limit == "most"
        and (patterns.PERMISSION.search(main) or ":" in main or timed)
    ):
        return True  # what may be done so often may not be done oftener
    return sum(weights.get(sign, 0.0) for sign in signs(text, main)) >= 0


def _narrates(text: str, main: str) -> bool:
    """Whether a text tells what was, in small letters, and neither bans nor permits anything."""
    told = set() if _LAID_DOWN.search(main) or _GOES_ON.search(text) else _was(main)
    if not told or not (_PAST_TIME.search(text) or "we" in told or "i" in told):
        return False
    rest = _WAS_NOT.sub(" ", text)
    return not any(p.search(rest) for p in (patterns.NEGATIVE, patterns.PERMISSION))


def _was(main: str) -> set[str]:
    """The words before the verbs of the past in main clauses."""
    return {
        before
        for before, w in pairwise(_WORD.findall(main))
        if w in ("was", "were", "had", "did") or (before not in _BEFORE_PARTICIPLE and _is_past(w))
    }


def _is_past(form: str) -> bool:
    """Whether a form can be a verb's past: shipped, took."""
    verbs = lemmas(form, "v")
    return bool(verbs) and form not in verbs and not form.endswith(("s", "ing")) and not form.endswith("en")
