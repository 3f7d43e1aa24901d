"""Where a text tells what follows a breach of its duties, which is no duty of every case.

A passage opens with words for the breach ("if it is late", "otherwise", "any breach is …") and reaches to the end of
its sentence; sentences that carry it on belong to it ("Then …", "Those affected may appeal to …").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.evidence import segments
from gnrs_ppl.reading.types import Span
from gnrs_ppl.reading.wording import AsWritten, Wording

_NOUN = (
    r"(?:breach(?:es)?|violations?|infringements?|infractions?|non-?compliance|irregularit(?:y|ies)|discrepanc(?:y|ies)|failures?|"
    r"defaults?|delays?|lapses?|shortcomings?|offen[cs]es?|missed deadlines?|deviations?|contraventions?|omissions?)"
)
_STATE = (
    r"(?:too )?(?:late|overdue|missed|missing|lacking|unmet|breached|broken|violated|exceeded|ignored|skipped|delayed|infringed|"
    r"neglected|in default|out of time|not (?:kept|met|done|observed|followed|respected|honou?red|complied with|fulfilled|so|the case))"
)
_RULE = r"(?:the|this|that|any|either|a)\s+(?:time |due )?(?:deadline|limit|rule|duty|term|period|requirement|obligation|date|time)s?(?: above)?"
_IT = rf"(?:it|this|that|they|he|she|any of (?:it|this|these)|either|one of (?:them|these)|{_RULE}|anything|anyone|anybody|someone|somebody|whoever)"
_IF = r"(?:if|where|wherever|when|whenever|once|as soon as|should|in case|upon|on|after|following|for|in (?:the )?(?:case|event)(?: of| that)?)"
_BE = r"(?:is|was|are|were|be|has been|have been|comes|came|remains|proves|turns out(?: to be)?|gets|got)"
_LATE = r"(?:late|overdue|missed|missing|delayed|belated|unapproved|unpaid|outstanding|non-compliant|faulty|incomplete|forgotten|skipped)"
_THEN = r"(?:is|are|must be|has to be|have to be|shall be|should be|will be|gets?|goes|go|may be|can be|leads? to|results? in|triggers?|calls? for|entails?|prompts?)"
_OTHERWISE = (
    r"(?:otherwise|or else|failing (?:this|that|which|to do so|it)|if not(?=\s*,)|if so not|else(?=\s*,)|"
    r"in default (?:of (?:this|which|that)|thereof))"
)
_ELSE = AsWritten(
    rf"{_OTHERWISE}|if not|else",
)
_OPENERS = tuple(
    Wording(rf"(?<![\w-]){pattern}")
    for pattern in (
        rf"{_IF}\s+(?:there (?:is|has been|are)\s+)?(?:of\s+)?(?:(?:a|an|any|the|such|every|each|either|this|that)\s+)*{_NOUN}\b"
        r"(?:\s+(?:of|against|in)\s+[^,.;]{1,40})?(?:\s+(?:is|was|are|has been|occurs?|happens?|comes to light|appears?)[^,.;]{0,30})?",
        rf"{_IF}\s+{_IT}\s+(?:{_BE}\s+)(?:found\s+|recorded\s+)?{_STATE}\b",
        rf"{_IF}\s+{_IT}\s+(?:does not|do not|did not|doesn't|didn't|has not|have not|hasn't|fails? to|failed to|should fail to|is not|was not|isn't)"
        r"\s*(?:happen\w*|do(?:ne)?(?: (?:so|this|that|it))?|comply|complied|take place|taken place|occur\w*|been done|hold|keep to (?:it|this|that))?(?=\s*(?:,|the\b|an?\b|\w+ly\b))",
        rf"{_IF}\s+[^,.;]{{1,60}}?\s(?:went|goes|has gone|have gone|go) (?:wrong|amiss|astray)",
        rf"{_IF}\s+(?:the |our )?(?:records?|logs?|files?|evidence)\s+shows?\s+(?:(?:a|any|such a)\s+)?(?:{_NOUN}|otherwise|the contrary|something else)",
        rf"{_IF}\s+{_IT}\s+[^,.;]{{1,40}}?\s(?:without (?:it|this|that|them)|nevertheless|nonetheless|all the same|regardless|anyway)",
        r"if a question arises",
        rf"{_IF}\s+{_RULE}\s+(?:passes|has passed|lapses|has lapsed|expires|has expired|elapses|runs out|goes by|is over)(?:\s+without[^,.;]{{1,40}})?",
        rf"(?:if|where|wherever|when|whenever|once|in case|should)\s+(?:an?|any|the|such an?)\s+[\w-]+(?: (?!is\b|was\b|be\b)[\w-]+)?\s+{_BE}\s+{_STATE}\b",
        rf"(?:if|should|where|when|whenever)\s+(?:{_IT}|(?:an?|any|the) [\w-]+(?: [\w-]+)?)\s+(?:fails?(?! to (?!do so|comply))(?: to do so| to comply)?|breaks?|violates?|breaches|infringes?|disregards?)"
        r"(?: (?:this|that|the|a|any)(?: (?:rule|duty|deadline|requirement|obligation))?)?",
        rf"{_OTHERWISE}\b",
        rf"(?:whoever|anyone who|anybody who|those who)\s+(?:(?:is|are|was|were)\s+{_STATE}|(?:breaks?|violates?|misses|disregards?|breaches|fails? to do so)(?:\s+(?:it|this|that|the)(?: (?!must|has|is)\w+)?)?)",
        rf"(?:(?:a|an|any|every|each|all|the|such)\s+)?{_NOUN}(?:\s+(?:of|against|in)\s+[^,.;:]{{1,40}})?\s*(?=(?:{_THEN})\b|:)",
        rf"(?:(?:a|an|any|every|each|all|the)\s+)?(?:anything {_LATE}|{_LATE}\s+[\w-]+(?: [\w-]+)?)\s*(?=(?:{_THEN})\b)",
    )
)
_EXPLICIT = AsWritten(
    r"(?<![\w-])(?:if|where|when|whenever|in case)\s+(?P<what>[^,.;]{2,60}?\s(?:is|are|was|were|has|have|does|do|did)\s*(?:not|n't)(?: yet)?(?: been)?\s[^,.;]{2,60}?),",
)
"""A condition that says what was not done: with a duty of the same words before, what comes then follows a breach."""
_GOES_ON = AsWritten(
    r"\s*(?:and |but )?(?:then|after that|thereafter|afterwards|against (?:this|that|the|such|it)|(?:the|that|this|whose|such|his|her|their) decision|those affected|"
    r"each step|every step|each of these steps|all (?:of )?(?:this|these steps)|(?:they|he|she|both|it)\b|appeals?\b|complaints?\b|objections?\b|"
    r"there is no (?:appeal|remedy|review)|no appeal|the (?:matter|file|case|result|outcome) (?:is|must|goes|may)|if the appeal|within\b)",
)
APPEAL = AsWritten(
    r"\b(?:appeals?|appealed|objects?|objections?|complaints?|complains?|challenged?|contest(?:ed)?)\b",
)
_STRAY = AsWritten(
    r"\b(?:may|can|has the right to|is free to)\s+(?:be\s+)?(?:appeal|object|complain)\w*\s+to\b|\b(?:appeals?|objections?|complaints?)\b[^.;]{0,40}?"
    r"\b(?:raised|lodged|made|brought|addressed|filed|go|goes|heard)\s+(?:with|to|before|by)\b",
)
BY_SITUATION, BY_CONDITION = 0.9, 0.7
"""How sure it is that a passage tells what follows a breach: it says so by its words, or the duty it breaks stands
before it."""
EITHER_WAY = 0.3
"""The same of a condition without its duty: it is read as a duty of its own, as an escalation that every case owes."""
_JOINS = re.compile(r"(?:[,;:]|\s[–—])\s*(?:and |but |or )?\s*$|\b(?:and|but)\s+$")
_WORD = re.compile(r"[a-z]{4,}")
STEM = 5
SHARED = 2
"""So many words, by their first letters, a condition has in common with the duty it says is broken."""


class Passage(NamedTuple):
    """Words that tell what follows a breach: where they begin with the breach itself, and what follows.

    ``told`` is that which holds the steps; ``sure`` how sure it is that they follow a breach; ``opened`` the words for
    the breach, and ``otherwise`` whether they may as well lead to the other of two ways to keep a rule.
    """

    span: Span
    told: Span
    sure: float
    opened: Span | None = None
    otherwise: bool = False


def passages(text: str) -> list[Passage]:
    """The passages of a text that tell what follows a breach, in order."""
    found: list[Passage] = []
    for start, end in segments(text):
        passage = _opened(text, start, end) or _conditioned(text, start, end)
        if passage and not re.search(r"\w", text[: passage.span.start]):
            passage = passage._replace(sure=min(passage.sure, EITHER_WAY))  # no duty stands before it
        if passage is None and found:
            before = found[-1]
            near = text[before.span.end : start].strip() == ""
            same_sentence = near and text[: before.span.end].rstrip()[-1:] == ";"
            if near and (
                same_sentence or _GOES_ON.match(text, start, end) or APPEAL.search(text, start, end)
            ):
                passage = Passage(Span(start, end), Span(start, end), before.sure)
        if passage:
            found.append(passage)
    return found


def _opened(text: str, start: int, end: int) -> Passage | None:
    """A passage that words for a breach open."""
    hits = sorted(
        (m for p in _OPENERS for m in p.finditer(text, start, end)), key=lambda m: (m.start(), -m.end())
    )
    for m in hits:
        before, behind = text[start : m.start()], text[m.end() : end]
        if _ELSE.fullmatch(m[0]) and (
            not re.search(r"\w", behind) or re.search(r"\b(?:not|unless|or|if|than)\s*$", before)
        ):
            continue
        opened, otherwise = Span(*m.span()), bool(_ELSE.fullmatch(m[0]))
        if not re.search(r"\w", before):
            return Passage(Span(start, end), Span(m.end(), end), BY_SITUATION, opened, otherwise)
        if not re.search(r"\w", behind):  # said last: the steps stand before it
            at = start + max((j.end() for j in re.finditer(r",\s*(?:and|but)\s+", before)), default=0)
            return Passage(Span(at, end), Span(at, m.start()), BY_SITUATION, opened)
        if (joint := _JOINS.search(before)) and patterns.DUTY.search(before):
            return Passage(
                Span(start + joint.start(), end), Span(m.end(), end), BY_SITUATION, opened, otherwise
            )
    return None


def _conditioned(text: str, start: int, end: int) -> Passage | None:
    """A passage that opens with what was not done."""
    m = _EXPLICIT.search(text, start, end)
    if m is None or re.search(r"\w", text[start : m.start()]):
        return None
    broken, before = ({w[:STEM] for w in _WORD.findall(said.lower())} for said in (m["what"], text[:start]))
    sure = BY_CONDITION if len(broken & before) >= SHARED else EITHER_WAY
    return Passage(Span(start, end), Span(m.end(), end), sure, Span(*m.span()))


def stray_appeals(text: str, told: list[Passage]) -> Iterator[Passage]:
    """Sentences that only open an appeal, wherever they stand."""
    for start, end in segments(text):
        if any(p.span.start < end and start < p.span.end for p in told):
            continue
        if _STRAY.search(text, start, end):
            yield Passage(Span(start, end), Span(start, end), BY_SITUATION)
