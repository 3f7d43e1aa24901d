"""How something is to be done, or by whom, where no part of a reading took the words: "in writing", "by registered mail",
"electronically". A rule without them would be kept by whoever does it otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.constructions import functional
from gnrs_ppl.reading.quantities import CALENDAR, durations
from gnrs_ppl.reading.types import Span
from gnrs_ppl.reading.vocabulary import STOP, Token
from gnrs_ppl.reading.words import lemmas, of_mind

_WITH = re.compile(
    r"\bwith\s+(?:(?:all|the|an?|every|such|due|utmost|great|full|his|her|their|its|our|your)\s+)*((?:[a-z]+ ){0,2}[a-z]+)"
)
"""With what something is done: with the diligence of a prudent merchant."""
_FLAT = frozenset({"late", "early", "online", "abroad", "alone", "together"})
"""Adverbs that look like none."""
_MEANS = frozenset({"in", "by", "via"})
"""Open how something is done."""
_MOST_WORDS = 3
_GOES_ON = frozenset(
    {"within", "before", "after", "until", "once", "when", "no", "not", "at", "by", "and", "or"}
)
"""What may come behind it."""
_ARTICLES = ("a", "an", "the", "our", "their")
_NO_MANNER = frozenset(
    re.findall(
        r"\S+",
        """
        time turn general principle fact line case cases addition short future practice advance order
        particular question charge force place doubt return view light total meantime meanwhile between
        way contrast accordance keeping law rule default then now mistake means all day days night week
        weeks month year date deadline end beginning file record records site duty hand behalf account
        average respect regard least most last once present times book hours minutes working basis
        occasion reason reasons purpose part doing staff team office department authority authorities
        administration colleague colleagues employee employees person persons people somebody someone
        customer client applicant member members log system register files evidence turns agreement due
        favour different other second same seven one two three four five six eight nine ten eleven
        twelve noon midnight manner fashion
        """,
    )
)
"""Behind these words no manner is told but when, why, in which case or by anybody."""
_NO_MANNER_LY = frozenset(
    re.findall(
        r"\S+",
        """
        immediately promptly directly instantly instantaneously finally usually normally generally
        typically regularly shortly early duly properly correctly rightly lawfully validly legally
        formally officially accordingly necessarily certainly clearly obviously actually really truly
        simply merely solely only exclusively exactly precisely strictly absolutely mostly mainly
        particularly especially specifically previously recently subsequently consequently initially
        originally eventually ultimately timely daily weekly monthly yearly annually quarterly hourly
        possibly probably likely hardly nearly roughly approximately currently presently formerly
        respectively namely additionally similarly equally likewise wrongly apply reply supply rely
        comply fully completely entirely wholly successfully explicitly expressly always routinely
        invariably quickly swiftly speedily rapidly urgently hopefully ideally preferably silently
        quietly inadvertently accidentally simultaneously jointly lately newly already personally
        """,
    )
)
"""Adverbs of time, measure and stance, and such as only stress what binds."""


def is_vague(text: str, start: int = 0, end: int | None = None) -> bool:
    """Whether words ask for a manner that no record could show: politely, with the loyalty of a friend."""
    end = len(text) if end is None else end
    return bool(patterns.VAGUE.search(text, start, end)) or any(
        of_mind(w) for with_ in _WITH.finditer(text, start, end) for w in with_[1].split(" of ")[0].split()
    )


def manner_of(
    text: str, tokens: Sequence[Token], stretch: Span, told: Collection[int], lost: Collection[int]
) -> Iterator[Span]:
    """Words behind an act, or right beside its verb, that say how or by whom it is done.

    Parameters
    ----------
    text : str
    tokens : sequence of Token
    stretch : Span
        Of the clause.
    told : collection of int
        The tokens that tell the act.
    lost : collection of int
        Those that no part of a reading took.
    """
    inside = [i for i, t in enumerate(tokens) if stretch.start <= t.start < stretch.end]
    first = min(told, default=len(tokens))
    times = [
        *(Span(t.start, t.end) for t in durations(text)),
        *(Span(*m.span()) for m in CALENDAR.finditer(text)),
    ]
    for i in inside:
        if i > first and tokens[i].text in _MEANS and (end := _phrase(tokens, i, inside, lost)):
            span = Span(tokens[i].start, tokens[end - 1].end)
            if not any(t.start < span.end and span.start < t.end for t in times):
                yield span
        elif i in lost and _says_how(tokens, i) and {i - 1, i + 1} & set(told):
            yield Span(tokens[i].start, tokens[i].end)


def _phrase(tokens: Sequence[Token], i: int, inside: Sequence[int], lost: Collection[int]) -> int:
    """Where the words behind a preposition end, all of which were lost; 0 where they say no manner."""
    at = i + 1
    article = at in inside and tokens[at].text in _ARTICLES
    if article and (tokens[i].text == "in" or tokens[at].text not in ("a", "an")):
        return 0
    at += article
    begin = at
    while at in inside and at in lost and at < begin + _MOST_WORDS and _has_content(tokens[at]):
        at += 1
    words = {t.text for t in tokens[begin:at]}
    ends = at not in inside or not _has_content(tokens[at]) or tokens[at].text in _GOES_ON
    last = tokens[at - 1].text
    named = lemmas(last, "n") or last.endswith("ing") or last == "full"
    return at if at > begin and ends and named and words.isdisjoint(_NO_MANNER) else 0


def _has_content(token: Token) -> bool:
    return (
        token.text[0].isalpha()
        and token.text not in STOP
        and not (functional(token.text) and token.text != "full")
    )


def _says_how(tokens: Sequence[Token], i: int) -> bool:
    """Whether an adverb says how something is done that could be seen, and not with which care."""
    word = tokens[i].text
    return word in _FLAT or (
        word.endswith("ly")
        and len(word) > 5
        and word not in _NO_MANNER_LY
        and not patterns.VAGUE.fullmatch(word)
    )
