"""What says nothing by itself: what does not count as something, what is no excuse, whom nobody blames, and what went wrong
before the rule was made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.anew import Anew, tells_act
from gnrs_ppl.reading.clauses import MODAL
from gnrs_ppl.reading.quantities import NUMBER, durations
from gnrs_ppl.reading.types import Span
from gnrs_ppl.reading.vocabulary import Vocabulary
from gnrs_ppl.reading.wording import Wording

_BINDS = Wording(rf"\b(?:{MODAL})\b")
_MANY = r"(?:two|three|four|five|several|\d)"
_NOT_COUNT = Wording(
    r"\b(?:do|does|did|will|would|can|could|shall)(?:n['’]t| not| never)\s+(?:really |ever |in itself |by itself |on its own |yet |also |simply )?count\b(?!\s+as (?:\w+ )?(?:evidence|proof)\b)(?!\s+(?:the|an?|any|every|each|all|his|her|their|our|its|it|them)\b)"
)
"""Says that something is not taken for what a rule asks, and bans nothing."""
_EXCUSES = Wording(
    r"\b(?:is|are|was|were|makes?|counts? as|serves? as|gives?|will be|can be)\s+(?:(?:not|never|no|an?|any|the|only|good|enough|valid|acceptable|sufficient|fair|a good enough|one)\s+)*?"
    r"(?:(?P<excuse>excuses?)|reasons?|justifications?|grounds?)\s+(?:enough\s+)?(?:for|to|not)\b"
)
_OMITS = Wording(
    r"\b(?:late|later|lateness|delay\w*|behind(?: time)?|not\s+(?:to\s+)?\w+|without|fail\w*|miss(?:ing|ed)?|skip\w*|leaving out|forget\w*|omit\w*|absen\w+|overdue|slow\w*|overrun\w*|postpon\w+)\b"
)
"""What an excuse may be for: a delay, or something left undone."""
_LEFT_UNDONE = Wording(r"\b(?:not|without)\s+(?:being\s+|having\s+)?\w+|\bfail\w*\s+to\b")
"""What an excuse is for, where it is no delay: in a sentence of its own it is no ban of what was left undone."""
_NEVER_ONE = Wording(
    r"\s*,?\s*(?:but|and|though|yet)\s+(?:(?:it|that|this)\s+(?:is|['’]s)\s+)?(?:never|not|none|no)\s+(?:an?\s+)?(?:one|reason|excuse|any)?\s*(?:for|to)\b[^.;!?,]*"
)
_BLAMES = Wording(
    r"\s*,?\s*(?:(?:and|but)\s+)?(?:nobody|no one|no-one|none of us|we)\s+(?:will|would|shall|won['’]t|is going to|are going to|may|is to)?\s*(?:ever |then )?"
    r"(?:hold (?:it|that|this) against (?:\w+|(?:him|her) or (?:him|her))|blame (?:\w+|him or her)(?: for (?:it|that|this))?|think (?:any )?(?:the )?(?:less|worse) of \w+|mind|complain)(?=\s*[.,;!?]|\s*$)"
)
_OFTEN = Wording(
    rf"\s*(?:already\s+|only\s+)?(?:twice|thrice|more than once|again and again|time and again|time and time again|repeatedly|too often|"
    rf"(?:{NUMBER}|several|many|a few|some|countless) (?:times|occasions)|on (?:{_MANY}|a few|many) occasions)\b"
)
_WENT_WRONG = (
    r"(?:disappeared|vanished|gone (?:missing|astray|wrong|lost|off|bad)|got(?:ten)? (?:lost|worse|mixed up)|been (?:stolen|lost|mislaid|mixed up|forgotten)|"
    r"piled up|turned up (?:late|empty|broken)|spoil(?:ed|t)|broken(?: down)?|fallen through|ended in \w+|caused? \w+)"
)
_HAS_GONE_WRONG = Wording(
    rf"(?<!that)(?<!which)(?<!who)\s(?P<wrong>(?:ha(?:s|ve)|had)\s+(?:\w+\s+){{0,3}}?{_WENT_WRONG})(?:\s+(?:this|last|on us|before|lately|recently|again|since|in|over|already|at)\b[^.;!?,]*)?\s*$"
)
_HAPPENED = Wording(r"\b(?:ha(?:s|ve|d)(?!\s+to\b)|was|were|went|got|came|did|lost|[a-z]+ed)\b")
_WAS = Wording(r"\b(?:was|were|had|went|got|ha(?:s|ve) been)\b(?!\s+to\b)")
_CONDITIONS = Wording(
    r"\b(?:if|when|whenever|once|after|before|until|till|unless|where|wherever|as soon as|as long as|provided|except|only)\b"
)
_WE_USED = Wording(
    r"\s*(?:we|they|people|everybody|everyone|i|you)\s+(?:all\s+|once\s+)?used\s+to\s+(?=[a-z])"
)
"""Begins what somebody did before the rule."""
_SO = Wording(r"\s*,?\s+(?:so(?! that\b)|therefore|hence|which is why|that is why|and so)\s*,?\s+")
_SENTENCE = re.compile(r"[^.;!?]*(?:[.](?=\d)[^.;!?]*)*[.;!?]*\s*")


def said_beside(text: str, words: Vocabulary) -> Iterator[Anew]:
    """What does not count as something, what is no excuse and whom nobody blames, and what went wrong once."""
    small = text.lower()
    if "count" in small:
        for m in _NOT_COUNT.finditer(text):
            if span := _own_clause(text, m, words):
                yield Anew(span, ())
    if "excuse" in small or "reason" in small or "justification" in small or "ground" in small:
        yield from (Anew(span, ()) for span in _excuses(text, words))
    if any(word in small for word in ("against", "blame", "worse of", "less of", "mind", "complain")):
        for m in _BLAMES.finditer(text):
            if not tells_act(text, Span(*m.span()), words):
                yield Anew(Span(*m.span()), ())
    for sentence in _sentences(text):
        if (span := _narrated(text, sentence, words)) and _more_than(text, span):
            yield Anew(span, ())


def _more_than(text: str, span: Span) -> bool:
    """Whether a text says more than some of its words."""
    return any(c.isalpha() for c in text[: span.start] + text[span.end :])


def _clause_start(text: str, place: int) -> int:
    """Where the clause begins that some words stand in: behind a mark, or a joint with a subject behind it."""
    before = re.split(r"[.;:!?](?=\s)", text[:place])[-1]
    joint = [*re.finditer(r"\s*,?\s+(?:and|(?<!nothing )but|yet|though|whereas)\s+|\s*[–—]\s+", before)]
    opened = place - len(before)
    return opened + joint[-1].start() if joint and joint[-1].end() < len(before) else opened


def _clause_end(text: str, place: int) -> int:
    behind = re.compile(
        r"[.;:!?](?=\s|$)|,?\s+(?:and|but|so)\s+(?!no\b|never\b|not\b)|,\s+|\s+[–—]\s+|$"
    ).search(text, place)
    return behind.start() if behind else len(text)


def _own_clause(text: str, m: re.Match[str], words: Vocabulary) -> Span | None:
    """The clause of which some words are the predicate, where its subject binds nobody by words of its own."""
    start, end = _clause_start(text, m.start()), _clause_end(text, m.end())
    subject = text[start : m.start()]
    if not subject.strip() or patterns.DUTY.search(subject) or patterns.PERMISSION.search(subject):
        return None
    if patterns.NEGATIVE.search(subject) or durations(subject) or _CONDITIONS.search(subject):
        return None
    return Span(start, end)


def _excuses(text: str, words: Vocabulary) -> Iterator[Span]:
    for m in _EXCUSES.finditer(text):
        start, end = _clause_start(text, m.start()), _clause_end(text, m.end())
        if not m["excuse"] and not _OMITS.search(text, m.end() - 3, end):
            continue
        subject = Span(start, m.start())
        told = text[start : m.start()]
        if re.search(r"(?:^|\s)(?:that|this|it)\s*$", told, re.IGNORECASE) and (
            opened := re.search(
                r"(?:^|[.;:!?]\s)\s*(?:if|when|where)\b[^.;:!?]*,\s*$",
                text[: start + len(told.rstrip()) - 4],
                re.IGNORECASE,
            )
        ):
            start = opened.start() + (1 if text[opened.start()] in ".;:!?" else 0)
            subject = Span(start, m.start())
        if tells_act(text, subject, words) or _BINDS.search(text, *subject):
            continue
        more = _NEVER_ONE.match(text, end)
        end = more.end() if more else end
        alone = text[:start].strip(" ")[-1:] in ("", *".;:!?") and text[end : end + 1] in ("", *".;!?")
        if not alone or _LEFT_UNDONE.search(text, m.end() - 3, end):
            yield Span(start, end)


def _narrated(text: str, sentence: Span, words: Vocabulary) -> Span | None:
    """What a sentence, or what stands in it before "so", only tells of what went wrong before."""
    so = _SO.search(text, sentence.start + 1, sentence.end)
    end = so.start() if so else sentence.end
    told, whole = text[sentence.start : end].rstrip(" \n.;!"), Span(sentence.start, so.end() if so else end)
    if not told or _BINDS.search(told):
        return None
    often = _OFTEN.match(told)
    behind = often.end() if often else 0
    was = _WAS.search(told, behind) if often else None
    if was and not _CONDITIONS.search(told, behind, was.start()):
        return whole
    if patterns.PERMISSION.search(told) or _CONDITIONS.search(told, behind):
        return None
    wrong = _HAS_GONE_WRONG.search(told)
    if wrong and tells_act(told, Span(*wrong.span("wrong")), words):
        return None
    happened = often and _HAPPENED.search(told, behind)
    return whole if wrong or happened or _WE_USED.match(told) else None


def _sentences(text: str) -> Iterator[Span]:
    at = 0
    while at < len(text):
        found = _SENTENCE.match(text, at)
        end = found.end() if found and found.end() > at else at + 1
        yield Span(at, end)
        at = end
