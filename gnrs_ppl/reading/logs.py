"""Where a text names a log: by a channel's own words, by some of them, or by words of no channel."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from gnrs_ppl.context.types import Channel
from gnrs_ppl.reading.types import Named, Span, Unread
from gnrs_ppl.reading.vocabulary import HEAD, STOP, Token, name_words, near, tokens_of
from gnrs_ppl.reading.wording import AsWritten
from gnrs_ppl.reading.words import LOOKS_ALIKE, lemmas
from gnrs_ppl.rule.types import Operator
from gnrs_ppl.words import PARTICLES

LOG_NOUNS = frozenset(
    """
    log logbook register record system ledger journal database archive roster feed tracker trail portal
    logfile
    """.split()
)
"""What logs are called; of other nouns (file, report, book) only those that end a channel's own phrase."""
PART = 0.5
"""Score of a log told by hardly any of its words; all of them make 1."""
LONGEST = 5
_QUANTITY = AsWritten(
    r"(?:(?P<all>both(?: of)?|all(?: of)?|each(?: of)?|every(?: one of)?)|(?P<any>either(?: of)?|any(?: one)?(?: of)?|one of)|"
    r"(?:(?P<least>at least|no fewer than)\s+)?(?P<k>two|three|four|five|\d)(?: of)?)\s+(?:the |our |these |those |its |their )?(?:two |three |four )?$",
)
_DETERMINER = AsWritten(r"(?:(?:the|our|a|an|its|their|this|that|an entry in|entries in|a record in)\s+)+$")
_JOINT = AsWritten(
    r"\s*,?\s*(?P<joint>and/or|and|or|as well as|together with|along with|plus|nor)?\s*(?:also\s+)?(?:(?:in|by|from|of|on|through)\s+)?"
    r"(?:(?:the|our|a|an|its|their|an entry in)\s+)*$",
)
_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5}


class LogMention(NamedTuple):
    """Words for a log: the channel they name, or none where they say only "the logs" (``plain``) or name one
    that nobody keeps.
    """

    span: Span
    named: Named | None
    plain: bool = False
    nearest: str = ""
    score: float = 0.0


class LogList(NamedTuple):
    """Logs that a list joins, with the words before it that say how many of them are meant."""

    span: Span
    mentions: tuple[LogMention, ...]
    operator: Operator | None
    k: int | None

    @property
    def channels(self) -> tuple[Named, ...]:
        """The channels it names."""
        return tuple({m.named.name: m.named for m in self.mentions if m.named}.values())

    @property
    def unkept(self) -> tuple[Unread, ...]:
        """The logs that no channel is."""
        return tuple(
            Unread(m.span, m.nearest, m.score) for m in self.mentions if m.named is None and not m.plain
        )


class _Known(NamedTuple):
    name: str
    phrases: tuple[tuple[str, ...], ...]
    own: frozenset[str]


class Logs:
    """The channels of a record layer, ready to be looked for in a text; ``cases`` are words for what they tell of, whose
    log is theirs: the patient's record.
    """

    def __init__(self, channels: Sequence[Channel], cases: frozenset[str] = frozenset()) -> None:
        self.cases = cases | _CASES
        self.known = tuple(_known(c) for c in channels)
        ends = {p[-1] for k in self.known for p in k.phrases if p[-1] not in PARTICLES}
        self.nouns = LOG_NOUNS | ends

    def lists(self, text: str) -> list[LogList]:
        """The logs a text names, those that a list joins together."""
        found = list(self.mentions(tokens_of(text)))
        groups: list[list[LogMention]] = [[m] for m in found[:1]]
        for before, mention in pairwise(found):
            between = text[before.span.end : mention.span.start]
            joined = _JOINT.fullmatch(between) if between.strip() else None
            if joined and (joined["joint"] or "," in between):
                groups[-1].append(mention)
            else:
                groups.append([mention])
        return [_list(text, tuple(g)) for g in groups]

    def mentions(self, tokens: Sequence[Token]) -> Iterator[LogMention]:
        """Every log named, in the order of the text."""
        if not self.known:
            return
        words = [(i, t) for i, t in enumerate(tokens) if t.text not in ("-", "–")]
        texts = [t.text for _, t in words]
        at = 0
        while at < len(words):
            if whole := self._whole(texts, at):
                name, length = whole
                span = Span(words[at][1].start, words[at + length - 1][1].end)
                yield LogMention(span, Named(name, span))
                at += length
                continue
            if self._noun(texts[at]):
                start = self._start(words, at)
                found = self._partly([t for _, t in words[start : at + 1]])
                yield found._replace(named=None, plain=False) if self._of_others(texts, start) else found
            at += 1

    def _whole(self, texts: Sequence[str], at: int) -> tuple[str, int] | None:
        """The channel whose words stand at a place in full, the last in any number, and how many they are."""
        found = [
            (k.name, len(p))
            for k in self.known
            for p in k.phrases
            if list(p[:-1]) == list(texts[at : at + len(p) - 1])
            and len(texts) >= at + len(p)
            and (texts[at + len(p) - 1] == p[-1] or p[-1] in lemmas(texts[at + len(p) - 1], "n"))
        ]
        return max(found, key=lambda f: f[1], default=None)

    def _noun(self, text: str) -> bool:
        return text in self.nouns or any(lemma in self.nouns for lemma in lemmas(text, "n"))

    def _start(self, words: Sequence[tuple[int, Token]], at: int) -> int:
        """Where the noun phrase of a log begins."""
        start = at
        while start and at - start < LONGEST:
            text = words[start - 1][1].text
            hyphened = words[start][0] - words[start - 1][0] == 2
            verb = (
                text not in self._own and not hyphened and not lemmas(text, "n") and bool(lemmas(text, "v"))
            )
            if text in STOP or text in _POINTS or text in PARTICLES or not text[0].isalnum() or verb:
                break
            start -= 1
        return start

    def _of_others(self, texts: Sequence[str], start: int) -> bool:
        """Whether a log is somebody else's: the bank's records."""
        while start and texts[start - 1] == "own":
            start -= 1
        if start < 3 or texts[start - 1] != "'s":
            return False
        owner = {texts[start - 2], *lemmas(texts[start - 2], "n")}
        alone = texts[start - 3] in ("the", "our", "this")
        return self.cases.isdisjoint(owner) and not (alone and owner & _OURS)

    @property
    def _own(self) -> frozenset[str]:
        return frozenset(w for k in self.known for w in k.own)

    def _partly(self, words: Sequence[Token]) -> LogMention:
        """A noun phrase that ends in a noun for logs: the channel that most of its words name, leading words
        that name none left out.
        """
        for start in range(len(words) - 1):
            content = [t.text for t in words[start:-1]]
            span = Span(words[start].start, words[-1].end)
            fits = [k for k in self.known if all(_says(k, w) for w in content)]
            scored = sorted(((_covered(k, content), k.name) for k in fits), reverse=True)
            if scored and (len(scored) == 1 or scored[0][0] > scored[1][0]):
                return LogMention(span, Named(scored[0][1], span, round(scored[0][0], 2)))
        span = Span(words[0].start, words[-1].end)
        if len(words) == 1 or not any(t.text not in _PLAIN for t in words[:-1]):
            only = self.known[0].name if len(self.known) == 1 else ""
            return LogMention(span, Named(only, span, HEAD) if only else None, plain=True)
        content = [t.text for t in words]
        near_by = [(sum(_says(k, w) for w in content) / len(content), k.name) for k in self.known]
        score, name = max(near_by)
        return LogMention(span, None, nearest=name, score=round(score, 2))


_POINTS = frozenset(
    {"our", "my", "your", "both", "either", "other", "least", "most", "show", "shows", "according"}
)
_CASES = frozenset({"case", "file", "process", "system"})
_OURS = frozenset(
    "company firm organisation organization authority municipality department office team".split()
)
"""Whose log is the one that is kept, where no other word says which."""
_PLAIN = frozenset(
    "own independent separate different two three four written official kept available".split()
)
"""Words that single out no log."""


def _known(channel: Channel) -> _Known:
    given = (channel.phrase, " ".join(name_words(channel.name)), channel.name.replace("_", " "))
    phrases = dict.fromkeys(
        tuple(t.text for t in tokens_of(text) if t.text not in ("-", "–")) for text in given if text
    )
    own = {w for phrase in phrases for w in phrase if w not in LOG_NOUNS and w not in STOP}
    # a name that is no word of English stands for its log by itself: the ERP
    if len(own) == 1 and not any(lemmas(w, part) for w in own for part in "nv"):
        phrases |= {tuple(own): None}
    return _Known(channel.name, tuple(p for p in phrases if p), frozenset(own))


def _says(known: _Known, word: str) -> bool:
    return any(near(own, word) >= LOOKS_ALIKE for own in known.own)


def _covered(known: _Known, words: Sequence[str]) -> float:
    told = sum(any(near(own, w) >= LOOKS_ALIKE for w in words) for own in known.own)
    return PART + (1 - PART) * told / max(len(known.own), 1)


def _list(text: str, mentions: tuple[LogMention, ...]) -> LogList:
    """Joined mentions with how many of them are meant: the words before say so, else what joins the last."""
    start, end = mentions[0].span.start, mentions[-1].span.end
    lead = _DETERMINER.search(text, 0, start)
    at = lead.start() if lead and lead.end() == start else start
    quantity = _QUANTITY.search(text[:start]) or _QUANTITY.search(text[:at])
    operator: Operator | None = None
    k: int | None = None
    if quantity:
        at = quantity.start()
        many = len(mentions) > 1 or mentions[0].plain
        if quantity["k"] and many:
            k = _NUMBERS.get(quantity["k"].lower()) or int(quantity["k"])
            operator = "at_least"
        elif many:
            operator = "all" if quantity["all"] else "any"
    if operator is None and len(mentions) > 1:
        between = text[mentions[-2].span.end : mentions[-1].span.start]
        operator = "any" if re.search(r"\b(?:or|nor)\b", between) else "all"
    return LogList(Span(at, end), mentions, operator, k)
