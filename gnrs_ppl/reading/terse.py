"""Terse, headed and numbered texts, told as whole sentences: "REQ-19: …", "Expected: …", "Pass only if …", "no approval, no
payment".

What numbers or files a text ("Article 14.", "BUG-1187:") is never content, and neither is what a report saw before it says what
it expected. The rest is told anew in the words of a rule; what is read goes back to where it was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gnrs_ppl.reading.anew import Anew, Piece, apart, retold, tells_act
from gnrs_ppl.reading.clauses import MODAL
from gnrs_ppl.reading.types import Span
from gnrs_ppl.reading.vocabulary import Vocabulary
from gnrs_ppl.reading.wording import AsWritten, Wording

_NUMBER = r"\d+(?:[.-]\d+)*(?:\([a-z\d]{1,3}\))*"
_LABEL = re.compile(
    rf"\s*(?:[•*·–-]\s+)?(?:"
    rf"\[?[A-Z]{{1,8}}-?\d[\w./()-]*?(?:\]|\s*(?:,(?:\s[\w-]+){{1,4}})?\s*:|\.(?=\s+[A-Z])|\s+(?:[–—-]\s+|(?=(?:Actual|Expected)\b)))|"
    rf"§+\s*{_NUMBER}(?:\s+\(\d+\))?[.:]?|"
    rf"(?!(?:Day|Week|Month|Year|Hour|Minute|Within|After|Before|In|At)s?\b)[A-Z][a-z]+(?:\s[a-z]+)?\s+{_NUMBER}(?:[.:)](?=\s)|\s+[–—-](?=\s))|"
    rf"\d+(?:\.\d+)+\.?(?=\s+[A-Z])|\d+[.)](?=\s+[A-Z])|\([a-z\d]{{1,3}}\)(?=\s+[A-Z])"
    r")\s*",
)
"""What numbers or files a text, at its beginning."""
_BULLET = re.compile(r"\s*[•*·]\s+")
_SETTLED = AsWritten(r"\s*(?:agreed|resolved|decided|carried|adopted|expected)\s*:\s*")
"""Behind such a label: that what follows was made a rule."""
_EXPECTED = AsWritten(r"(?<=[.;!?\n])\s*expected(?:\s+(?:result|behaviou?r|outcome|output))?\s*:\s*")
_BINDS = AsWritten(rf"\b{MODAL}\b")
_TEST = AsWritten(
    r"(?<![\w,] )\b(?:(?:the |this )?(?:test|case|check) )?(?P<how>pass(?:es)?(?: only)?|fails?) (?:only )?(?:if|when)\s+(?=\w)",
)
"""Begins what a test asks: "Pass only if …", "fails if …"."""
_SHORT = r"[\w’'-]+(?:\s(?!(?:no|not|and|or|but|means?|is|are|without|before|until|unless|after|than|if|when)\b)[\w’'-]+){0,4}"
_NO_NO = AsWritten(
    rf"(?<![\w’'-] )\bno\s+(?!(?:more|less|fewer|later|earlier|longer)\b)(?P<first>{_SHORT})\s*(?:,|\?|=|–|—|-|means?\b)\s*no\s+(?P<then>{_SHORT})"
    r"(?=\s*[.,;:!?]|\s*$)(?!,? (?:and |or )?(?:no|nothing)\b)",
)
"""The one thing not without the other before it."""
_NONE_THERE = Wording(
    rf"\b(?:(?:unless|until|till)\s+there\s+(?:is|are|was|were|has been|have been)|without|in the absence of)\s+(?:(?:an?|the|any|some)\s+)?(?P<first>{_SHORT}?)\s*,\s*"
    rf"(?:(?:an?|the|any|every|all)\s+)?(?P<then>(?!it\b|this\b|that\b|there\b){_SHORT}?)\s+(?:is|are)\s+(?:\w+ly\s+)?(?:forbidden|prohibited|banned|barred|ruled out|excluded|off[- ]limits|"
    r"out of the question|(?:not|never)\s+(?:allowed|permitted|possible|acceptable))(?=\s*[.,;:!?]|\s*$)"
)
"""The same, of what is barred unless there is the other."""
_WITHOUT_A_PRIOR = Wording(
    rf"(?<![\w’'-] )(?:an?|the|any|every|each)\s+(?P<then>{_SHORT}?)\s+without\s+(?:(?:an?|the|any)\s+)?(?:(?:prior|previous|preceding|earlier)\s+)?(?P<first>{_SHORT}?)\s+"
    r"(?:is|are)\s+(?:\w+ly\s+)?(?:forbidden|prohibited|banned|barred|ruled out|an? (?:breach|error|fault|violation)|(?:not|never)\s+(?:allowed|permitted|possible|acceptable))(?=\s*[.,;:!?]|\s*$)"
)
"""The same, of what is barred without the other."""
_SINGLE = AsWritten(r"\b(?:each|every|any)(?P<single>\s+single)\s")
"""Where it only stresses that none is left out, and counts nothing."""


class Told(NamedTuple):
    """A text in whole sentences, and what of it says nothing."""

    piece: Piece
    aside: tuple[Span, ...]


def told_whole(text: str, words: Vocabulary) -> Told | None:
    """The text with whole sentences in place of what is terse; None where nothing is."""
    aside = list[Span]()
    start = _content_from(text, aside)
    anew = apart(_told_anew(text, start, words))
    return Told(retold(text, anew, start), tuple(aside)) if start or anew else None


def _content_from(text: str, aside: list[Span]) -> int:
    """Where a text begins that is numbered, or tells what was seen before what was expected."""
    start = 0
    if "\n" not in text.strip() and (label := _LABEL.match(text) or _BULLET.match(text)):
        start = label.end()
        aside.append(Span(0, len(text[:start].rstrip())))
    expected = _EXPECTED.search(text, start) if "xpected" in text else None
    if expected and not _BINDS.search(text, start, expected.start()):
        aside.append(Span(start, expected.end()))
        return expected.end()
    settled = _SETTLED.match(text, start) if start else None
    return settled.end() if settled else start


def _told_anew(text: str, start: int, words: Vocabulary) -> Iterator[Anew]:
    small = text.lower()
    if "single" in small:
        for m in _SINGLE.finditer(text, start):
            yield Anew(Span(*m.span("single")), ())
    if "pass" in small or "fail" in small:
        for m in _TEST.finditer(text, start):
            fails = m["how"].lower().startswith("fail")
            told = "It is a breach if " if fails else "It must be that "
            yield Anew(Span(*m.span()), ((told, Span(*m.span())),))
    if "unless" in small or "until" in small or "till" in small or "without" in small or "absence" in small:
        for m in (*_NONE_THERE.finditer(text, start), *_WITHOUT_A_PRIOR.finditer(text, start)):
            first, then = Span(*m.span("first")), Span(*m.span("then"))
            if "without" in m[0].lower() or all(tells_act(text, s, words) for s in (first, then)):
                no = Span(m.start(), min(first.start, then.start))
                yield Anew(Span(*m.span()), (("There may be no ", no), then, (" before ", no), first))
    if small.count("no ") > 1:
        for m in _NO_NO.finditer(text, start):
            first, then = Span(*m.span("first")), Span(*m.span("then"))
            topic = Span(max(map(text[: m.start()].rfind, ".;!?")) + 1, m.start())
            if any(tells_act(text, s, words) for s in (first, then)) and not tells_act(text, topic, words):
                no = Span(m.start(), first.start)
                yield Anew(Span(*m.span()), (("There may be no ", no), then, (" before ", no), first))
