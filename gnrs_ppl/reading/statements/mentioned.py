"""Where the mentions of a text stand: their sentences and clauses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.clauses import Clause
from gnrs_ppl.reading.constructions import Constructions, Sentence, functional
from gnrs_ppl.reading.relations import Marked, Weights, options
from gnrs_ppl.reading.vocabulary import ENOUGH, STOP, Token
from gnrs_ppl.reading.words import DERIVED, lemmas

LIKELY = 0.5
"""A relation at least this probable is a statement."""
SURELY = 0.8
"""A mention that is more probably nothing than this is hardly anything."""
WELL_TOLD = 0.7
"""Score from which an act may not be passed over."""

_BEFORE_THINGS = frozenset(
    {"a", "an", "the", "any", "each", "every", "this", "that", "such", "its", "same", "one"}
)
"""Before what is named and not done."""

_IN_A_LIST = frozenset(
    {",", "or", "else", "the", "a", "an", "is", "are", "be", "been", "has", "to"}
    | {"his", "her", "their", "its"}
)
"""What may stand between the acts of a list."""


class Mentioned:
    """One text: its mentions, and what the model says that each may be."""

    def __init__(self, text: Constructions, weights: Weights) -> None:
        self.text, self.marked, self.weights = text, Marked(text), weights
        self.options = options(self.marked, weights)

    def _sentence(self, k: int) -> Sentence:
        return self._sentences[k]

    @cached_property
    def _sentences(self) -> list[Sentence]:
        """Of each mention."""
        return [self._sentence_at(self.text.tokens[m.at].start) for m in self.marked.mentions]

    def _sentence_at(self, place: int) -> Sentence:
        sentences = self.text.said.sentences
        return next((s for s in sentences if s.start <= place < s.end), sentences[-1])

    def _clause(self, k: int) -> Clause:
        return self._clauses[k]

    @cached_property
    def _clauses(self) -> list[Clause]:
        """Of each mention."""
        return [
            clause[0] if clause else Clause("main", sentence.start, sentence.end, sentence.start)
            for clause, sentence in zip(self.marked.clauses, self._sentences, strict=True)
        ]

    def _clause_at(self, place: int) -> Clause | None:
        """The innermost clause that holds a place."""
        inside = [c for c, _ in self.text.bound_clauses if c.opened <= place < c.end]
        return min(inside, key=lambda c: c.end - c.opened, default=None)

    def _starts(self, k: int) -> int:
        """Where a mention stands in the sentence."""
        return self.text.tokens[self.marked.mentions[k].at].start

    def _told_well(self, k: int) -> bool:
        best = self.marked.mentions[k].told[0]
        return self._told_enough(k) and (best.head or best.score >= WELL_TOLD)

    def _told_enough(self, k: int) -> bool:
        """Whether words tell an act well enough to be read; its noun is as good as its verb."""
        best = self.marked.mentions[k].told[0]
        return best.score >= (ENOUGH * DERIVED if best.exact and best.by_verb else ENOUGH)

    def _undone(self, k: int) -> bool:
        """Whether a mention says in one word that something was not done: "unpaid"."""
        at, tokens = self.marked.mentions[k].at, self.text.tokens
        return at > 0 and tokens[at - 1].text == "not" and tokens[at - 1].end == tokens[at].start

    def _not_on_record(self, k: int) -> re.Match[str] | None:
        """The words behind a mention that say that it was not done: "the payment is not recorded"."""
        return patterns.NOT_ON_RECORD.match(
            self.text.sentence, self.text.tokens[self.marked.spans[k][1]].end, self._clause(k).end
        )

    def _already(self, k: int) -> bool:
        """Whether a mention says of the thing before it what was done to it: "an order already paid"."""
        at, tokens = self.marked.mentions[k].at, self.text.tokens
        before = tokens[at - 2].text if at > 1 and tokens[at - 1].text in ("already", "previously") else ""
        return bool(lemmas(before, "n")) and before not in STOP

    def _told_in(self, sentence: Sentence) -> Sequence[int]:
        """The best mention of each act that a sentence tells well, in their order, less those within the words of
        one told better.
        """
        return self._told_by_sentence[self.text.said.sentences.index(sentence)]

    @cached_property
    def _told_by_sentence(self) -> list[Sequence[int]]:
        return [self._best_told(sentence) for sentence in self.text.said.sentences]

    def _best_told(self, sentence: Sentence) -> Sequence[int]:
        told = {k: m.told[0] for k, m in enumerate(self.marked.mentions)}
        inside = [
            k
            for k in told
            if sentence.start <= self._starts(k) < sentence.end and (self._told_well(k) or self._denied(k))
        ]
        missing = [found.span() for k in inside if (found := self._not_on_record(k))]
        inside = [k for k in inside if not any(start <= self._starts(k) < end for start, end in missing)]
        inside = [
            k
            for k in inside
            if not any(
                self.marked.acts[j] != self.marked.acts[k]
                and told[k].at in told[j].used
                and told[j].score > told[k].score
                and self._clause(j) == self._clause(k)
                for j in inside
            )
        ]
        inside = [k for k in inside if not any(k in others for others in self._also_open.values())]
        ranked = sorted(self._not_things(inside), key=lambda k: (told[k].score, -k))
        best = {self.marked.acts[k]: k for k in ranked}.values()
        return sorted(best, key=lambda k: (self._telling(k)[1], k))

    def _telling(self, k: int) -> tuple[int, int]:
        """First and last token of the words that tell a mention; the verb's where that stands further off ("a fine that is
        sent and never notified").
        """
        told, (first, last) = self.marked.mentions[k].told[0], self.marked.spans[k]
        verb = max((i for i in told.used if i not in self.text.things), default=last)
        thing = not told.by_verb or told.at in self.text.things
        return (verb, verb) if thing and verb > last else (first, last)

    def _denied(self, k: int) -> bool:
        """Whether "no" stands before the word that tells a mention: "no penalty on fines that have been paid"."""
        told = self.marked.mentions[k].told[0]
        return told.score >= ENOUGH and told.at > 0 and self.text.tokens[told.at - 1].text == "no"

    def _not_things(self, mentions: Sequence[int]) -> Sequence[int]:
        """Mentions less those that may be only of a thing ("an item of an order"), where two acts are left; a thing that
        stands for its act is left ("without a penalty").
        """
        told = {k: self.marked.mentions[k].told[0] for k in mentions}
        left = [
            k
            for k, best in told.items()
            if best.at not in self.text.things
            or not best.at
            or self.text.tokens[best.at - 1].text not in _BEFORE_THINGS
            or (
                best.score >= WELL_TOLD
                and (len(best.used) == 1 or not self.text.things.issuperset(best.used))
            )
        ]
        return left if len({self.marked.acts[k] for k in left}) >= 2 else mentions

    def _tells(self, clause: Clause) -> bool:
        """Whether a clause tells an act."""
        places = [self.text.tokens[m.at].start for m in self.marked.mentions]
        return any(clause.opened <= place < clause.end for place in places)

    def _tells_well(self, clause: Clause) -> bool:
        """Whether a clause tells an act well enough to be read."""
        return any(
            clause.opened <= self._starts(k) < clause.end
            and self._told_enough(k)
            and not self._describes_a_thing(k)
            for k in range(len(self.marked.mentions))
        )

    def _describes_a_thing(self, k: int) -> bool:
        """Whether a mention is only of the thing that the noun right behind it names: "the delivery note"."""
        told, tokens = self.marked.mentions[k].told[0], self.text.tokens
        thing = told.at + 1
        return (
            len(told.used) == 1
            and bool(lemmas(tokens[told.at].text, "n"))
            and thing < len(tokens)
            and self._is_content(thing)
            and thing not in self.marked.marks
            and thing not in self.text.named
            and tokens[thing].start < self._clause(k).end
            and bool(lemmas(tokens[thing].text, "n"))
        )

    def _is_content(self, i: int) -> bool:
        text = self.text.tokens[i].text
        return text[0].isalpha() and text not in STOP and not text.endswith("ly") and not functional(text)

    @cached_property
    def _also_open(self) -> dict[int, list[int]]:
        """Of mentions that "or" joins in words that say when something is due or barred, the first with the others: any of
        them opens it ("once the permit was granted or refused").
        """
        found = dict[int, list[int]]()
        if not any(t.text == "or" for t in self.text.tokens):
            return found
        told = [k for k, of in enumerate(self.marked.clauses) if of is not None and self._told_well(k)]
        for place, k in enumerate(told):
            for last in reversed(told[max(place - 2, 0) : place]):
                first = next((f for f, others in found.items() if last in others), last)
                same = self.marked.clauses[last] == self.marked.clauses[k]
                if same and self._opens_either(first, last, k):
                    found.setdefault(first, []).append(k)
                    break
        return found

    def _opens_either(self, first: int, one: int, other: int) -> bool:
        """Whether "or" joins two mentions that open something."""
        of = self.marked.clauses[other]
        if (
            of is None
            or not self._joined_by(one, other)
            or not any(t.text == "or" for t in self._between(one, other))
        ):
            return False
        return (not of[1] and of[0].kind in ("after", "who")) or (
            of[0].kind == "main" and self._set_off(first, other)
        )

    def _set_off(self, first: int, last: int) -> bool:
        """Whether mentions are set off in their clause: "imaging, be it an X-ray or a scan, …", or take up an act that opens
        something before: "when it was examined, casually or thoroughly, …".
        """
        before, behind = self.marked.spans[first][0], self.marked.spans[last][1] + 1
        said = [t.text for t in self.text.tokens[max(before - 3, 0) : before]]
        between_commas = said[-1:] == [","] and [t.text for t in self.text.tokens[behind : behind + 1]] == [
            ","
        ]
        again = any(
            act == self.marked.acts[first] and of is not None and of[0].kind == "after"
            for act, of in zip(self.marked.acts[:first], self.marked.clauses, strict=False)
        )
        return (between_commas and again) or "whether" in said or {"be", "it"} <= set(said)

    def _joined_by(self, one: int, other: int) -> bool:
        """Whether only words of a list stand between two mentions of different acts."""
        said = [t.text for t in self._between(one, other)]
        return (
            self.marked.acts[one] != self.marked.acts[other]
            and bool({",", "or"} & set(said))
            and set(said) <= _IN_A_LIST
        )

    def _between(self, one: int, other: int) -> Sequence[Token]:
        """The tokens between two mentions, or between the own words of two that share their verb."""
        first, second = (set(self.marked.mentions[k].told[0].used) for k in (one, other))
        if self.marked.mentions[one].at != self.marked.mentions[other].at or not (
            first - second and second - first
        ):
            return self.text.tokens[self.marked.spans[one][1] + 1 : self.marked.spans[other][0]]
        return self.text.tokens[max(first - second) + 1 : min(second - first)]
