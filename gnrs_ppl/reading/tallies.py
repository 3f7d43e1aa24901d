"""How many there may be and when at the latest, told in the words of rules: "must not be more than one" as at most one, "no
second payment", "the number of payments must not exceed two", "at once, the latest by the next day".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gnrs_ppl.reading.anew import Anew, Part
from gnrs_ppl.reading.clauses import MODAL
from gnrs_ppl.reading.quantities import NUMBER, PLAIN_DURATION
from gnrs_ppl.reading.types import Span
from gnrs_ppl.reading.wording import Wording

Tells = Callable[[Span], bool]
"""Whether words tell an act."""

_NO_COUNT = (
    r"(?!\s*-?\s*(?:seconds?|minutes?|hours?|days?|nights?|weeks?|fortnights?|months?|quarters?|years?|working|business|calendar|full|"
    r"euros?|eur|dollars?|pounds?|kg|kilos?|kilograms?|tons?|tonnes?|grams?|lit(?:re|er)s?|(?:kilo)?met(?:re|er)s?|km|miles?|pages?|"
    r"per ?cent|percentage|people|persons?|of the (?!them)|hundred|thousand|million)\b|\s*[%€$£]|[.,]?\d)"
)
_MANY = rf"(?P<n>once|twice|thrice|(?!(?:a|an|the)\b){NUMBER}){_NO_COUNT}"
_DENIED = (
    rf"(?:(?P<modal>{MODAL}|may|can|could|might)\s+(?:not|never)|(?P<joined>cannot|can['’]t|mustn['’]t|shouldn['’]t|won['’]t)|"
    r"(?P<is>is|are)\s+(?:not|never)\s+(?P<to>(?:allowed|permitted|supposed|meant)?\s*to)|(?P<there>there(?:['’]s| (?:is|are|will be)))\s+(?:not|never|no))"
)
_COMPARED = Wording(
    rf"\b{_DENIED}(?P<mid>(?:\s+(?:ever|also|be|have|get|receive|been)\b|\s+[\w'’-]+){{0,5}}?)\s+(?:any\s+)?"
    rf"(?P<than>(?P<more>more|oftener|over)|fewer|less)(?P<often>\s+often)?\s+than\s+{_MANY}"
)
"""A number that must not be passed, or not be fallen short of."""
_NUMBER_OF = Wording(
    rf"\bthe\s+(?:total\s+|maximum\s+)?(?:number|count)\s+of\s+(?P<what>[^.,;:]{{3,50}}?)\s+(?:(?P<modal>{MODAL}|may|can)\s+|is\s+|are\s+|(?:is|are)\s+)"
    rf"(?P<limit>(?:not|never)\s+(?:to\s+)?(?:ever\s+)?(?:exceed|go\s+(?:over|above|beyond)|be\s+(?:(?:more|greater|higher|larger)\s+than|above|over))|(?:be\s+)?(?:limited|restricted|capped)\s+(?:to|at)|"
    rf"(?:be\s+)?(?:at\s+most|no\s+more\s+than|not\s+more\s+than)|(?P<least>(?:not|never)\s+(?:be\s+(?:(?:less|fewer|lower|smaller)\s+than|below|under)|(?:fall|drop|go)\s+(?:below|under))|"
    rf"(?:be\s+)?(?:at\s+least|no\s+(?:less|fewer)\s+than)))\s+{_MANY}"
)
"""What is counted, and how many of it there may be."""
_FEWER_ARE_BARRED = Wording(
    rf"\b(?P<than>(?P<more>more)|fewer|less)\s+than\s+{_MANY}(?P<what>\s+[^.,;:]{{3,40}}?)\s+(?P<bars>(?:is|are)\s+(?:(?:not|never)\s+(?:allowed|permitted|acceptable|enough|ok(?:ay)?)|"
    r"forbidden|prohibited|unacceptable|an?\s+(?:breach|error|fault|violation|mistake)|wrong))\b"
)
_NO_SECOND = Wording(
    r"\bno\s+(?:such\s+)?(?P<nth>second|third|fourth|fifth)\s+(?P<what>[\w'’-]+(?:\s+[\w'’-]+)?)"
)
_NTH = {"second": "one", "third": "two", "fourth": "three", "fifth": "four"}
_WHAT = (
    r"(?:(?:an?|the|each|every|any|first)\s+)*(?P<what>(?!no\b|there\b|it\b)[\w'’-]+(?:\s+[\w'’-]+){0,2}?)"
)
_AND_NO_MORE = Wording(
    rf"(?:(?<=[.;!?])\s+|^\s*){_WHAT}\s*(?P<opens>:\s|\b(?:{MODAL}|may|can)\b)[^.;!?]*?"
    rf"(?P<tail>\s*[,;–—-]?\s+(?:and|but)\s+(?:(?:there\s+(?:must|may|can|shall)\s+be\s+)?(?:(?:never|not|no)\s+(?:any\s+)?more\s+than|at\s+most)|(?:never|not)\s+more\s+than)\s+"
    rf"(?P<n>(?!(?:a|an|the)\b){NUMBER}){_NO_COUNT}(?:\s+(?:of\s+them|in\s+(?:all|total)|altogether|overall))?(?=\s*[.;!?]|\s*$))"
)
"""Behind a rule on something, how many of it there may be."""
_NOT = Wording(r"\b(?:not|never|no|only)\b")
_ENDS_UP = Wording(r"\b(?P<end>end(?P<s>s)?)\s+up\s+(?:(?P<being>being)|with)\b")
"""What becomes of something, and no end of a case."""
_FIRST_ONE = Wording(
    r"(?P<opens>(?:(?<=[.;!?])\s+|^\s*)[\w'’-]+(?:\s+[\w'’-]+){0,2}\s*:)(?P<first>\s+(?:the\s+)?(?:first|1st)(?:\s+one)?)(?=\s+(?:no|not|at|never|within|only|after|on)\b)"
)
"""Behind what a text is about: that the first of it is meant, which is so of every one."""
_AT_ONCE = r"(?:at once|immediately|straight ?away|right away|without (?:any |undue )?delay|promptly|as soon as possible|directly|forthwith)"
_NEXT_DAY = r"(?:the\s+(?:very\s+)?(?:next|following)\s+(?P<unit>day|week|month|working day|business day)(?!\s+(?:of|after|following|that|on which)\b)|tomorrow)"
_LATEST = r"(?:,?\s+(?:(?:and|but)\s+)?(?:(?:at\s+)?the\s+(?:very\s+)?latest|no\s+later\s+than))"
_BY_THE_NEXT = Wording(
    rf"(?:(?P<once>\s*,?\s+{_AT_ONCE})(?:\s*,)?)?(?P<before>\s*,?\s+(?:(?:and|but|or)\s+)?(?:(?:in any case|at least)\s+)?(?:(?:(?:at\s+)?the\s+(?:very\s+)?latest|no\s+later\s+than|not\s+later\s+than)\s*,?\s*(?:by\s+|on\s+|within\s+)?|by\s+))"
    rf"(?P<limit>{_NEXT_DAY}|(?P<time>{PLAIN_DURATION}))(?P<behind>{_LATEST})?"
)
_THE_NEXT_AT_LATEST = Wording(rf"\s+(?P<limit>(?<!by )(?<!on ){_NEXT_DAY}){_LATEST}")
"""A last day that is told by the next one, or a time, behind words that ask for haste."""
_AT_ONCE_WITHIN = Wording(
    rf"(?P<once>\s*,?\s+{_AT_ONCE})(?=\s*,?\s+(?:(?:and|but|or)\s+)?(?:(?:in any case|at least|at\s+(?:the\s+)?latest|that is|i\.e\.)\s*,?\s+)?(?:within|no later than|not later than)\s+{PLAIN_DURATION})(?P<joint>\s*,?\s+(?:(?:and|but|or)\s+)?)"
)
"""Words that ask for haste beside the time that says how much."""


def tallies(text: str, tells: Tells) -> Iterator[Anew]:
    """What is counted, told as at most or at least so many."""
    small = text.lower()
    if "than" in small:
        yield from _compared(text)
    if "number of" in small or "count of" in small:
        yield from _numbers_of(text)
    if "no " in small:
        for m in _NO_SECOND.finditer(text):
            if tells(Span(*m.span("what"))):
                yield Anew(
                    Span(m.start(), m.end("nth")), ((f"at most {_NTH[m['nth']]}", Span(*m.span("nth"))),)
                )


def and_no_more(text: str, tells: Tells) -> Iterator[Anew]:
    """How many there may be, where a rule on it goes on with that, as a sentence of its own; and "the first one" of what a text is
    about; "ends up with" as what becomes of something.
    """
    small = text.lower()
    if "more than" in small or "at most" in small:
        for m in _AND_NO_MORE.finditer(text):
            what, tail = Span(*m.span("what")), Span(*m.span("tail"))
            free = m["opens"] in ("may", "can", "could") and not _NOT.search(
                text, m.end("opens"), m.start("tail")
            )
            if tells(what) and not free:
                parts = ((". There must be at most ", tail), Span(*m.span("n")), (" ", tail), what)
                yield Anew(tail, parts)
    if " up " in small:
        for m in _ENDS_UP.finditer(text):
            verb = ("is" if m["s"] else "are") if m["being"] else "goes to" if m["s"] else "go to"
            yield Anew(Span(*m.span()), ((verb, Span(*m.span())),))
    if "first" in small or "1st" in small:
        for m in _FIRST_ONE.finditer(text):
            yield Anew(Span(*m.span("first")), ())


def _compared(text: str) -> Iterator[Anew]:
    for m in _COMPARED.finditer(text):
        than = Span(m.start("than"), m.start("n"))
        whole = Span(*m.span())
        denied = Span(m.start(), m.start("mid"))
        free = m["joined"] == "cannot" or (m["modal"] or "").startswith(("may", "can", "might", "could"))
        verb = "there must be" if m["there"] else "may" if (free or m["joined"]) and m["more"] else "must"
        limit = "at most " if m["more"] else "at least "
        yield Anew(whole, ((verb, denied), Span(*m.span("mid")), (" " + limit, than), Span(*m.span("n"))))
    for m in _FEWER_ARE_BARRED.finditer(text):
        limit = "at most " if m["more"] else "at least "
        than = Span(m.start(), m.start("n"))
        yield Anew(
            Span(*m.span()),
            (("There must be " + limit, than), Span(*m.span("n")), Span(*m.span("what"))),
        )


def _numbers_of(text: str) -> Iterator[Anew]:
    for m in _NUMBER_OF.finditer(text):
        limit = "at least " if m["least"] else "at most "
        parts = (
            ("there must be " + limit, Span(m.start(), m.start("what"))),
            Span(*m.span("n")),
            (" ", Span(*m.span("limit"))),
            Span(*m.span("what")),
        )
        yield Anew(Span(*m.span()), parts)


def latest(text: str) -> Iterator[Anew]:
    """The last day or time beside words for haste, told as the time within which something is due."""
    small = text.lower()
    if "next " in small or "following " in small or "tomorrow" in small or "latest" in small:
        for m in _BY_THE_NEXT.finditer(text):
            if m["time"] and not (m["once"] and ("latest" in m["before"] or m["behind"])):
                continue
            if m["time"] is None and not (m["once"] or "latest" in m["before"] or m["behind"] or _by(m)):
                continue
            limit = Span(*m.span("limit"))
            unit = m["unit"] or "day"
            told: Part = limit if m["time"] else (f"one {unit}", limit)
            yield Anew(Span(*m.span()), ((" within ", Span(m.start(), limit.start)), told))
        for m in _THE_NEXT_AT_LATEST.finditer(text):
            limit = Span(*m.span("limit"))
            yield Anew(
                Span(*m.span()),
                ((" within ", Span(m.start(), limit.start)), (f"one {m['unit'] or 'day'}", limit)),
            )
    for m in _AT_ONCE_WITHIN.finditer(text):
        yield Anew(Span(m.start(), m.end("joint")), ((" ", Span(m.start(), m.end("joint"))),))


def _by(m: re.Match[str]) -> bool:
    """Whether a day is told as the last one."""
    return m["before"].strip(" ,").endswith("by")
