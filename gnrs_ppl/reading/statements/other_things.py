"""What a text asks for of another thing than the act's own: a receipt that is sent is no fine that is sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import chain

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.constructions import functional
from gnrs_ppl.reading.statements.doubted import Doubted
from gnrs_ppl.reading.statements.related import acts_of
from gnrs_ppl.reading.types import Reading, Span, Unread
from gnrs_ppl.reading.vocabulary import STOP, name_words, near
from gnrs_ppl.reading.wording import Wording
from gnrs_ppl.reading.words import BROADER, DERIVED, lemmas, word
from gnrs_ppl.words import PARTICLES

_OF_IT = Wording(
    r"\s*(?:(?:the|any|all|every|each)\s+)?[a-z-]+\s+of\s+(?:(?:the|an?|any|every|each|all)\s+)?"
)
"""Begins a clause with something that comes of an act."""
_ORDERS = Wording(r"\b(?:only|before|first|beforehand|earlier|previously|until|prior|not|never)\b")
_NEW = frozenset({"a", "an", "another", "no", "any", "every", "each", "all", "some"})
_KNOWN = frozenset({"the", "this", "that", "these", "those", "such", "its", "his", "her", "their", "our"})
"""Before a thing that may have been told before, also by another word."""
_AUXILIARIES = frozenset({"be", "been", "being", "is", "are", "was", "were", "has", "have", "had", "to"})
_BETWEEN = frozenset(
    {"not", "never", "only", "also", "always", "first", "then", "ever", "already", "either", "must", "shall"}
    | {"should", "may", "can", "will", "need", "needs", "cannot", "might", "could", "would", "no", "longer"}
)
"""What may stand between a thing and what is done to it, beside auxiliaries."""
_ANYTHING = frozenset(
    re.findall(
        r"\S+",
        """
        case cases matter matters file files item items thing things one ones document documents paper papers letter letters
        dossier record records entry entries object subject piece unit party body side step steps action process procedure
        work job task person people individual everything anything something nothing same other others rest former latter
        cent penny word
        """,
    )
)
"""Words that stand for any thing of a schema."""
_OF_ANYTHING = frozenset(
    re.findall(
        r"\S+",
        """
        send mail post dispatch forward transmit issue deliver hand give provide supply make create produce prepare draw draft
        write print add attach record register enter log submit file lodge receive obtain get take collect request order return
        """,
    )
)
"""Verbs that may be of any thing, so that they alone do not say of which."""
_OF_THEM = frozenset({"of", "about", "on", "concerning", "regarding", "for"})
"""Behind a thing that is made of, or for, another."""
_PARTS = frozenset(
    re.findall(
        r"\S+",
        """
        all each one ones any none both most more many few part parts half rest remainder majority portion share bulk number
        amount sum total price cost costs balance value fee set pair dose doses kind type sort form case date content
        contents result results outcome subject object thing things matter series batch group lot bunch stack pile round end
        beginning start course stage step piece pieces instalment instalments installment item items unit units bit majority lack
        absence time day place name basis way purpose benefit sake use hand hands behalf means
        """,
    )
)
"""Of these, what is said is said of the whole, or of a thing that they only count or measure."""
_NO_NOUN = frozenset(
    {
        "on",
        "in",
        "out",
        "up",
        "off",
        "over",
        "back",
        "away",
        "once",
        "twice",
        "again",
        "there",
        "here",
        "soon",
    }
)


class OfOtherThings(Doubted):
    """A text and the acts it tells by a verb alone, of a thing that is not theirs."""

    def _done_to_another_thing(self, reading: Reading) -> Unread | None:
        """The thing that an act's verb is of, where the schema knows nothing of it and the act has another one: "a receipt must
        be sent".
        """
        for name, act in acts_of(reading).items():
            told = self._mentions_of(name, act.span)
            found = [self._another_thing(k) for k in told]
            if found and all(found):
                thing = found[0]
                assert thing is not None
                return Unread(thing, name, act.score, another=True)
        return None

    def _made_of_it(self, reading: Reading) -> Unread | None:
        """The thing that an act's verb is of, where it is only made of the act's own thing: a copy of the fine, a translation of
        the form.
        """
        for name, act in acts_of(reading).items():
            told = self._mentions_of(name, act.span)
            found = [self._thing_of_it(k) for k in told]
            if found and all(found):
                thing = found[0]
                assert thing is not None
                return Unread(thing, name, act.score, another=True)
        return None

    def _thing_of_it(self, k: int) -> Span | None:
        """The words for something made of the thing of a mention, which its verb is of."""
        told, tokens = self.marked.mentions[k].told[0], self.text.tokens
        if not (told.by_verb and told.head):
            return None
        inside = self._clause(k)
        for at in self._things_of(told.at):
            if not at or not inside.start <= tokens[at[0]].start < inside.end:
                continue
            first, last = at[0], at[-1]
            while first and tokens[first - 1].text in _KNOWN | _NEW:
                first -= 1
            if (
                tokens[first - 1].text in _OF_THEM and first > 1
            ):  # in the passive the verb stands behind the whole
                made, whole = first - 2, last
            elif last + 1 < len(tokens) and tokens[last + 1].text in _OF_THEM and last < len(tokens) - 2:
                made, whole = last, last + 3
            else:
                return None
            noun = tokens[made].text
            article = tokens[made - 1].text if made else ""
            if (
                not _is_a_noun(noun)
                or noun in _PARTS | _ANYTHING
                or article not in _NEW | _KNOWN
                or word(noun).person
                or self._is_told(made)
                or made in told.used
                or not any(made < i <= whole for i in told.used)
            ):
                return None
            return Span(tokens[made].start, tokens[min(whole, len(tokens) - 1)].end)
        return None

    def _is_told(self, i: int) -> bool:
        """Whether a token is a word of the schema, or of its kind."""
        text = self.text.tokens[i].text
        return i in self.text.named | self.text.things or any(
            near(w, text) >= DERIVED or w.rstrip("s") == text.rstrip("s") for w in self._words_known
        )

    def _of_what_was_done(self, reading: Reading) -> Reading:
        """What is asked of something that an act brought about comes after it: the results of a test must be discussed."""
        first, target = reading.activation, reading.targets[0]
        if reading.template != "precedence" or first is None:
            return reading
        clause, text = self._clause_at(first.span.start), self.text.sentence
        modal = patterns.MODAL_VERB.search(text, first.span.end, clause.end) if clause else None
        if clause is None or clause.kind != "main" or modal is None:
            return reading
        of_it = _OF_IT.fullmatch(text, clause.start, first.span.start)
        later = any(
            self.marked.acts[k] == target.activity and modal.end() < self._starts(k) < clause.end
            for k in range(len(self.marked.mentions))
        )
        orders = _ORDERS.search(text, first.span.end, clause.end)
        return replace(reading, template="response") if of_it and later and not orders else reading

    def _hardly_told(self, reading: Reading) -> Unread | None:
        """The words of an act that no word of its own tells, and a verb so far from its own that it may be of anything: to
        alter a fine is hardly to add a penalty.
        """
        for name, act in acts_of(reading).items():
            told = self._mentions_of(name, act.span)
            if told and all(self._is_far(k) for k in told):
                return Unread(act.span, name, act.score, another=True)
        return None

    def _mentions_of(self, name: str, span: Span) -> list[int]:
        """The mentions of an act within some words."""
        acts = enumerate(self.marked.acts)
        return [k for k, act in acts if act == name and span.start <= self._starts(k) < span.end]

    def _is_far(self, k: int) -> bool:
        told, tokens = self.marked.mentions[k].told[0], self.text.tokens
        said = tokens[told.at].text
        others = [tokens[i].text for i in told.used if i != told.at]
        if told.exact or not told.by_verb or any(t in PARTICLES for t in others):
            return False
        words = self.text.words
        nearest = max((near(head, said) for head in words.heads_of(told.activity)), default=0.0)
        mine = words.words_of(told.activity)
        elsewhere = {t for t in others if t in words.told and t not in mine}
        own = [near(w, t) for w in mine for t in others if t not in elsewhere]
        objects = all(i in self.text.things or tokens[i].text in elsewhere for i in told.used if i != told.at)
        return bool(0.0 < nearest <= BROADER and others and objects and max(own, default=0.0) < DERIVED)

    def _another_thing(self, k: int) -> Span | None:
        """The words for what is done something to at a mention, where the act's own thing is another one."""
        told, tokens = self.marked.mentions[k].told[0], self.text.tokens
        own = set(self.text.words.words_of(told.activity)) - self.text.words.heads_of(told.activity)
        verbs = lemmas(tokens[told.at].text, "v")
        if not (told.by_verb and told.head and told.exact and own) or _OF_ANYTHING.isdisjoint(verbs):
            return None
        inside = self._clause(k)
        for at in self._things_of(told.at):
            if not at or not all(inside.start <= tokens[i].start < inside.end for i in at):
                continue
            if set(at) & set(told.used) or any(self._is_known(i) for i in at):
                return None
            head = tokens[at[-1]].text
            before = tokens[at[0] - 1].text if at[0] else ""
            banned = patterns.NEGATIVE.search(self.text.sentence, inside.start, inside.end)
            if word(head).person or (head in _ANYTHING and before not in ("a", "an", "another")):
                return None
            if before in _KNOWN and banned:
                return None  # what must not be done is told of a known thing, whatever its name
            return Span(tokens[at[0]].start, tokens[at[-1]].end)
        return None

    def _is_known(self, i: int) -> bool:
        """Whether the schema has a word near a token, or a name that it is part of."""
        text = self.text.tokens[i].text
        return (
            i in self.text.named | self.text.things
            or any(near(w, text) >= BROADER or w.rstrip("s") == text.rstrip("s") for w in self._words_known)
            or any(m.at == i and m.told[0].exact for m in self.marked.mentions)
        )

    @cached_property
    def _words_known(self) -> frozenset[str]:
        """The words of acts, people, things and places of the schema."""
        words = self.text.words
        terms = chain(words.roles, words.objects, words.locations)
        names = {w for name in words.actions for w in name_words(name)}
        return words.told | names | {w for term in terms for variant in term.variants for w, _ in variant}

    def _things_of(self, at: int) -> Iterator[list[int]]:
        """The tokens of the nouns that a verb is of: its subject in the passive, else what stands behind it."""
        tokens = self.text.tokens
        i, passive = at - 1, False
        while i >= 0 and (
            tokens[i].text in _AUXILIARIES | _BETWEEN
            or (tokens[i].text.endswith("ly") and not word(tokens[i].text).nouns)
        ):
            passive |= tokens[i].text in ("be", "been", "being", "is", "are", "was", "were")
            i -= 1
        if passive:
            yield self._noun_before(i)
            return
        if tokens[at].text not in lemmas(tokens[at].text, "v"):
            return
        yield self._noun_behind(at + 1)

    def _noun_before(self, last: int) -> list[int]:
        """The words of a thing that end at a token, an article before them or nothing: "receipts must …"."""
        tokens, first = self.text.tokens, last + 1
        while first > 0 and last - first < 2 and self._is_part(first - 1):
            first -= 1
        before = tokens[first - 1].text if first else ""
        at = list(range(first, last + 1))
        at_no_point = before == "no" and first > 1 and tokens[first - 2].text in ("at", "in", "on", "under")
        if not at or at_no_point or not _is_a_noun(tokens[last].text):
            return []
        bare = tokens[last].text.endswith("s") and (first == 0 or before in (".", ",", "that", "if", "when"))
        return at if before in _NEW | _KNOWN or bare else []

    def _noun_behind(self, first: int) -> list[int]:
        """The words of a thing behind its verb and an article."""
        tokens = self.text.tokens
        if first >= len(tokens) or tokens[first].text not in _NEW | _KNOWN:
            return []
        at = list[int]()
        for i in range(first + 1, min(first + 4, len(tokens))):
            if not self._is_part(i):
                break
            at.append(i)
        while at and not _is_a_noun(tokens[at[-1]].text):
            at.pop()
        behind = at[-1] + 1 if at else 0
        if at and word(tokens[at[-1]].text).person and behind < len(tokens):
            return self._noun_behind(behind) or at  # "send the driver a receipt"
        return at

    def _is_part(self, i: int) -> bool:
        text = self.text.tokens[i].text
        return (
            text.isalpha()
            and text not in STOP | PARTICLES | _NO_NOUN | _BETWEEN
            and not functional(text)
            and not patterns.MODAL_VERB.match(text)
        )


def _is_a_noun(text: str) -> bool:
    """Whether a word is a noun, and no participle behind one."""
    verbs = lemmas(text, "v")
    done = bool(verbs) and text not in verbs and text.endswith(("ed", "en", "ing"))
    return bool(lemmas(text, "n")) and not done and not text.endswith("ly")
