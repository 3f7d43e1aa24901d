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
_NEXT_DAY_AFTER = Wording(
    r"\b(?P<by>(?:(?:at\s+the\s+latest|no\s+later\s+than|not\s+later\s+than|latest)\s+(?:by\s+|on\s+)?|by\s+|on\s+|before\s+(?=the\s+end\b))(?:the\s+(?:end|close)\s+of\s+)?(?:the|one)\s+)"
    r"(?P<limit>(?:(?:very\s+)?(?:next|following|first)\s+)?(?:full\s+)?(?P<unit>(?:working|business)\s+day|(?<=next )day|(?<=following )day|(?<=next )week|(?<=following )week))\s+(?=(?:after|following|upon|from)\b)"
)
"""The last day that is told by the next one after something."""
_FOR_DEADLINE = Wording(
    r"(?:(?<=[.;!?])\s+|^\s*(?:[-*•]\s+)?)(?P<lead>(?:the\s+)?(?:deadline|time[\s-]?limit|limit|due\s+date|term|time\s+allowed|maximum\s+time)\s+(?:for|of)\s+)(?P<what>[^.;:!?,]+?)(?P<mark>\s*[:–—,]\s*|\s+-\s+|\s+(?:is|are|shall\s+be|will\s+be)\s+)"
    rf"(?P<most>(?:at\s+most|no\s+more\s+than|within|maximum|max\.?|no\s+later\s+than)\s+)?(?P<time>{PLAIN_DURATION})\s+(?P<of>from|after|of|since|following|as\s+of|counted\s+from)\s+(?P<one>[^.;:!?]+)"
)
"""What is due, how long it may take, and what that time runs from."""
_SO_OFTEN_AND = Wording(
    rf"(?:(?<=[.;!?])\s+|^\s*(?:[-*•]\s+)?)(?P<main>[^.;:!?,]+?\s(?:{MODAL}|may|can)\s[^.;:!?,]+?)\s+(?P<often>(?:(?:at\s+most|no\s+more\s+than|not\s+more\s+than|a\s+maximum\s+of|up\s+to|only|exactly|just|at\s+the\s+most)\s+)(?:once|twice|thrice|{NUMBER}\s+times)(?:\s+(?:per|in\s+(?:each|any|every|a))\s+\w+)?)"
    r"(?P<joint>\s*,?\s+(?:and|but)\s+)(?P<rest>(?P<how>only|not|never|(?:and\s+)?then\s+only)\s+(?:after|before|once|when|if|until|as\s+soon\s+as|where)\b[^.;:!?]+)"
)
"""How often at most, and after what."""
_NO_LIST = Wording(
    r"(?:(?<=[.;!?])\s+|^\s*(?:[-*•]\s+)?)(?P<opens>(?:after|once|when|as\s+soon\s+as|following|if)\s+[^.;:!?,]+?)(?P<mark>\s*[,:–—]\s*(?:[^.;:!?]*?\s*[:–—]\s*)?)"
    r"(?P<list>no\s+[^.;:!?,]+?(?:\s*,\s*(?:and\s+|or\s+)?no\s+[^.;:!?,]+?)+(?:\s+(?:and|or)\s+no\s+[^.;:!?,]+?)?)(?P<any>\s+(?:any\s?more|any\s+longer|either|please))?(?=\s*[.;!?]|\s*$)"
)
"""What there may be none of after something, one behind the other."""
_AND_NO = Wording(r"(?:\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+|^)no\s+")
_AND_BEFORE = Wording(
    rf"(?:(?<=[.;!?])\s+|^\s*(?:[-*•]\s+)?)(?P<main>[^.;:!?,]+?\s(?:{MODAL})\s[^.;:!?,]+?)\s+(?P<within>(?:within|in|no\s+later\s+than|not\s+later\s+than|at\s+most|inside)\s+{PLAIN_DURATION}\s+(?:after|of|from|following)\s+(?P<one>[^.;:!?,]+?))"
    r"(?P<joint>\s*,?\s+(?:and|but)\s+(?:(?:in\s+any\s+case|always|at\s+any\s+rate|certainly)\s*,?\s+)?)before\s+(?P<other>[^.;:!?,]+)(?=\s*[.;!?]|\s*$)"
)
"""By when something is due after one thing, and before another."""
_FOLLOW_ONLY = Wording(
    r"\b(?P<follow>(?P<modal>may|must|can|shall|should)\s+(?:only\s+(?:ever\s+)?follow|follow\s+only|follow\s+(?:nothing|no\s+other\s+\w+)\s+(?:but|than|except))(?:\s+(?:on|upon|after))?)\s+(?=[^.;:!?]*?\bor\b)"
)
"""What something may follow, where either of two acts will do."""
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


def _article(letter: str) -> str:
    return "an" if letter.lower() in "aeiou" else "a"


def with_its_own(text: str, tells: Tells) -> Iterator[Anew]:
    """What a heading or a list says shortly, told as a sentence of its own for each: "deadline for payment: 60 days from
    notification", "at most twice, and only after a decision", "after payment: no penalty, no collection".
    """
    small = text.lower()
    if " day" in small or " week" in small:
        for m in _NEXT_DAY_AFTER.finditer(text):
            limit = Span(*m.span("limit"))
            parts: list[Part] = [("within ", Span(*m.span("by"))), (f"one {m['unit']} ", limit)]
            yield Anew(Span(m.start(), limit.end + 1), tuple(parts))
    if "deadline" in small or "limit" in small or "due date" in small or "time" in small or "term" in small:
        for m in _FOR_DEADLINE.finditer(text):
            what, one, time = (Span(*m.span(g)) for g in ("what", "one", "time"))
            if tells(what) and tells(one):
                parts = [(" ", Span(*m.span("lead"))), what, (" must be done within ", Span(*m.span("mark")))]
                yield Anew(Span(*m.span()), (*parts, time, (" after ", Span(*m.span("of"))), one))
    if " and " in small or " but " in small:
        for m in _SO_OFTEN_AND.finditer(text):
            main = Span(*m.span("main"))
            if tells(main):
                parts = [(" ", Span(main.start, main.start + 1)), main, (" ", Span(*m.span("often")))]
                often = "at most " if m["often"].startswith("only") else ""
                at = m.start("often") + (len("only ") if often else 0)
                parts += [
                    (often, Span(*m.span("often"))),
                    Span(at, m.end("often")),
                    (". ", Span(*m.span("joint"))),
                ]
                yield Anew(
                    Span(*m.span()), (*parts, main, (" ", Span(*m.span("joint"))), Span(*m.span("rest")))
                )
    if " before " in small:
        for m in _AND_BEFORE.finditer(text):
            main, within, joint, other = (Span(*m.span(g)) for g in ("main", "within", "joint", "other"))
            if all(tells(Span(*m.span(g))) for g in ("main", "one", "other")):
                parts = [(" ", Span(main.start, main.start + 1)), main, (" ", joint), within]
                yield Anew(Span(*m.span()), (*parts, (". Before ", joint), other, (", ", joint), main))
    if "no " in small and "," in text:
        for m in _NO_LIST.finditer(text):
            opens, listed = Span(*m.span("opens")), Span(*m.span("list"))
            marks = list(_AND_NO.finditer(text[: listed.end], listed.start))
            starts = [listed.start + len("no "), *(k.end() for k in marks if k.start() > listed.start)]
            ends = [*(k.start() for k in marks if k.start() > listed.start), listed.end]
            items = [Span(a, b) for a, b in zip(starts, ends, strict=True)]
            if tells(opens) and any(tells(i) for i in items):
                parts = []
                for i in items:
                    parts += [
                        (". " if parts else " ", i),
                        opens,
                        (f", {_article(text[i.start])} ", i),
                        i,
                        (" is forbidden", i),
                    ]
                yield Anew(Span(*m.span()), tuple(parts))
    if "follow" in small:
        for m in _FOLLOW_ONLY.finditer(text):
            follow = Span(*m.span("follow"))
            yield Anew(follow, ((f"{m['modal']} be done only after", follow),))


def _by(m: re.Match[str]) -> bool:
    """Whether a day is told as the last one."""
    return m["before"].strip(" ,").endswith("by")
