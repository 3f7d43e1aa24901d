"""What a sentence bans or disapproves of: one act beside another that was done, or left undone.

"Not acceptable: a fine sent for collection that has been paid", "nobody decides on a request whose ticket was not
checked": such a sentence tells a state of affairs, and its ban is what the two acts must not be to each other. Of
two acts done, the later is banned after the earlier; where the earlier is left undone, it must come first; where
the later is, it must follow.
"""

from __future__ import annotations

import re
from operator import itemgetter
from typing import Literal, NamedTuple

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.constructions import Sentence
from gnrs_ppl.reading.disapproval import DISAPPROVES, NO_SUCH, NONE_WITHOUT
from gnrs_ppl.reading.quantities import count_of, durations
from gnrs_ppl.reading.statements.mentioned import LIKELY, Mentioned
from gnrs_ppl.reading.ways import CASES
from gnrs_ppl.reading.wording import AsWritten, Wording

BanLabel = Literal["not_response", "not_chain_response", "not_precedence", "precedence", "response"]
_RELATIVE = ("that", "which", "who", "whom", "whose")
_EARLIER_IN = (*_RELATIVE, "after", "once", "when", "whenever", "if", "where", "although", "though", "while")
"""Words before what was already done, or is lacking, when something else is done."""
_TEMPORAL = ("after", "once", "when", "whenever")
_LATER_IN = ("before", "until")
"""Words before what is done later."""
_OPENED_BY = {"after": "after", "before": "before", "until": "until", "without": "without"}
_LEAVES_OUT = ("without", "with no")
_OPENERS = Wording(rf"\b(?:{'|'.join((*_EARLIER_IN, *_LATER_IN, *_LEAVES_OUT, 'unless', 'only'))})\b")
_JOINT = Wording(r"\b(?:and|but|yet)\b")
_LONG_AGO = Wording(r"\b(?:had|already|previously|earlier|ever|before(?:hand)?(?!\s+\w))\b")
_NOT_THAT = AsWritten(
    r"\b(?:not|never|\w+n't)\b.*\b(?:is|are|was|were|has|have|had|may|must|can|will|do|does|did)\b",
)
"""What was not done, before another verb: "of a person who is not insured is rejected"."""
_MARK = re.compile(r"[,;:.–]")


class _Part(NamedTuple):
    """A mention in a banned state of affairs: what opens the words on it, and whether they say it was not done; they do
    before it or in so many words where it was ``left_undone``.
    """

    mention: int
    opener: str
    negated: bool
    perfect: bool
    words: str
    left_undone: bool


class Ban(NamedTuple):
    """Two mentions and what the one must be to the other: ``label`` as the model of relations has it."""

    target: int
    other: int
    label: BanLabel


class Banned(Mentioned):
    """A text and the states of affairs that it bans."""

    def bans(self) -> list[Ban]:
        """What follows for two acts of each sentence that bans one of them beside the other."""
        found = (self._banned_in(sentence) for sentence in self.text.said.sentences)
        return [ban for ban in found if ban is not None]

    def left_undone(self) -> list[tuple[int, str]]:
        """The only act of each sentence that disapproves of its being left undone, or that no case is to be without, which
        every case must have; and that of a sentence that no case is to have it.
        """
        told = [(s, self._told_beside_case(s)) for s in self.text.said.sentences]
        found = [(k, self._of_every_case(s, k)) for s, (k, *more) in filter(itemgetter(1), told) if not more]
        return [(k, label) for k, label in found if label]

    def _told_beside_case(self, sentence: Sentence) -> list[int]:
        """The acts of a sentence, less one that only the noun for a case tells of which there is to be none."""
        such, none = NO_SUCH.search(sentence.text), NONE_WITHOUT.search(sentence.text)
        ends = such.end() - 1 if such else none.end("thing") if none else None
        own = [n.span.end for n in self.text.names["objects"] if n.score == 1.0]
        told = {k: self.marked.mentions[k].told[0] for k in self._told_in(sentence)}

        def is_case(k: int) -> bool:
            noun = self.text.tokens[told[k].at]
            known = noun.text in CASES or noun.end in own
            return known and not told[k].exact and ends is not None and noun.end == sentence.start + ends

        return [k for k in told if not is_case(k)]

    def _of_every_case(self, sentence: Sentence, k: int) -> str:
        """What the only act of such a sentence is asked to be in every case; nothing of any other."""
        none, such = NONE_WITHOUT.search(sentence.text), NO_SUCH.search(sentence.text)
        if not (none or DISAPPROVES.search(sentence.text)):
            return ""
        if none and self._starts(k) >= sentence.start + none.end():
            return "existence"
        often = count_of(sentence.text) or patterns.NTH_TIME.search(sentence.text)
        if often or patterns.FOUR_EYES.search(sentence.text):
            return ""
        part = self._part(sentence, _less_disapproval(sentence.text), k, None)
        if part.left_undone:
            return "" if _NOT_THAT.search(part.words) else "existence"
        behind = such and self._starts(k) >= sentence.start + such.end()
        return "absence" if behind and not (part.negated or durations(sentence.text)) else ""

    def _banned_in(self, sentence: Sentence) -> Ban | None:
        told = self._told_beside_case(sentence)
        if len(told) != 2:
            return None
        disapproved = DISAPPROVES.search(sentence.text)
        plain = _less_disapproval(sentence.text)
        if announced := patterns.ANNOUNCES.match(plain):
            plain = _without(plain, announced)  # "make sure that": its "that" opens no relative clause
        one, other = (
            self._part(sentence, plain, k, before) for k, before in zip(told, (None, told[0]), strict=True)
        )
        if disapproved is None:
            return self._forbidden(one, other)
        return _disapproved(one, other)

    def _part(self, sentence: Sentence, plain: str, k: int, before: int | None) -> _Part:
        """A mention and the words on it, behind those on the one before and behind the last word that opens a clause."""
        tokens, clause, first = self.text.tokens, self._clause(k), self._telling(k)[0]
        end = tokens[self._last_telling(k)].end - sentence.start
        since = tokens[self._last_telling(before)].end - sentence.start if before is not None else 0
        since = min(max(since, clause.opened - sentence.start), tokens[first].start - sentence.start)
        opened = list(_OPENERS.finditer(plain, since, end))
        joints = [m.end() for m in _JOINT.finditer(plain, opened[-1].end() if opened else since, end)]
        start = joints[-1] if joints else opened[-1].end() if opened else since
        words = plain[start : self._goes_on(sentence, plain, k, end)]
        opener = opened[-1][0].lower() if opened else ""
        begins = clause.opened - sentence.start
        if clause.kind in _OPENED_BY and begins >= since and all(begins > m.start() for m in opened):
            opener = _OPENED_BY[clause.kind]
        beside = before is not None and self._clause(before) == clause
        described = beside and not opener and sentence._is_attribute(self.marked.mentions[k].at)
        if described or self._undone(k) or self._already(k):
            opener = "that"
        negated = bool(patterns.NOT_DONE.search(words) or self._not_on_record(k)) or opener in _LEAVES_OUT
        perfect = described or bool(patterns.BEFELL.search(words))
        left_undone = bool(
            patterns.NOT_DONE.search(plain, start, end) or self._not_on_record(k) or opener in _LEAVES_OUT
        )
        return _Part(k, opener, negated, perfect, words, left_undone)

    def _last_telling(self, k: int) -> int:
        """Last token of the words that tell a mention in its own clause: "payment is excluded where the invoice …"."""
        first, last = self._telling(k)
        inside = [i for i in range(first, last + 1) if self.text.tokens[i].start < self._clause(k).end]
        return inside[-1] if inside else last

    def _goes_on(self, sentence: Sentence, plain: str, k: int, end: int) -> int:
        """Where the words on a mention end: at the next mark, joint or opener."""
        marks = [
            m.start() for p in (_OPENERS, _JOINT, _MARK, patterns.MODAL_VERB) if (m := p.search(plain, end))
        ]
        following = [self._starts(j) - sentence.start for j in range(len(self.marked.mentions)) if j != k]
        return min([m for m in (*marks, *following) if m >= end], default=len(plain))

    def _forbidden(self, one: _Part, other: _Part) -> Ban | None:
        """A ban on one of two acts where the other was done, which the model takes for a demand."""
        for deed, fact in ((one, other), (other, one)):
            of = self.marked.clauses[deed.mention]
            if of is None or not of[1] or fact.opener not in _EARLIER_IN or not fact.perfect:
                continue
            if deed.opener:
                continue
            if self._surely_banned(deed.mention, fact.mention) and not (
                fact.negated and fact.opener == "whose"
            ):
                return None
            if fact.negated:
                return Ban(fact.mention, deed.mention, "precedence")
            if patterns.EARLIER.search(deed.words) and not patterns.EARLIER.search(fact.words):
                return Ban(fact.mention, deed.mention, "precedence")
            return _after(deed, fact)
        return None

    def _surely_banned(self, *pair: int) -> bool:
        """Whether the model is sure of a ban of one of two mentions beside the other."""
        return any(
            o.other in pair and o.label.startswith("not_") and o.probability >= LIKELY
            for k in pair
            for o in self.options[k]
        )


def _less_disapproval(text: str) -> str:
    """A text with spaces in place of the words that disapprove."""
    for found in DISAPPROVES.finditer(text):
        text = _without(text, found)
    return text


def _without(text: str, found: re.Match[str]) -> str:
    """A text with spaces in place of some words."""
    return text[: found.start()] + " " * len(found[0]) + text[found.end() :]


def _disapproved(one: _Part, other: _Part) -> Ban | None:
    """What must hold of two acts for the state of affairs not to come about that two parts tell."""
    if "unless" in (one.opener, other.opener) or "only" in (one.opener, other.opener):
        return None
    if one.opener in _RELATIVE and other.opener in _RELATIVE:
        long_ago = _LONG_AGO.search(other.words) and not _LONG_AGO.search(one.words)
        fact, deed = (other, one) if long_ago else (one, other)
    else:
        facts = [p for p in (other, one) if p.opener in (*_EARLIER_IN, *_LATER_IN, *_LEAVES_OUT)]
        if not facts:
            return None
        fact = facts[0]
        deed = one if fact is other else other
    if fact.negated and deed.negated:
        return None
    if deed.negated:
        return Ban(deed.mention, fact.mention, "response")
    if fact.negated or fact.opener in _LATER_IN:
        return Ban(fact.mention, deed.mention, "precedence")
    return _after(deed, fact)


def _after(deed: _Part, fact: _Part) -> Ban:
    """A deed banned once something was done; told from the deed where that stands first and no word of time opens
    the other ("compensation paid on a request that was turned down").
    """
    if patterns.AT_ONCE.search(deed.words) or patterns.AT_ONCE.search(fact.words):
        return Ban(deed.mention, fact.mention, "not_chain_response")
    if fact.mention > deed.mention and fact.opener not in _TEMPORAL:
        return Ban(fact.mention, deed.mention, "not_precedence")
    return Ban(deed.mention, fact.mention, "not_response")
