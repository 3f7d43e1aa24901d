"""A text: its tokens, the names that stand in it, and what its sentences say."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.clauses import HISTORY, Clause, clauses, sentences
from gnrs_ppl.reading.constructions.binding import Bound, how_bound
from gnrs_ppl.reading.constructions.sentence import Sentence
from gnrs_ppl.reading.quantities import durations
from gnrs_ppl.reading.types import Reading, Span, Statement, Unread
from gnrs_ppl.reading.vocabulary import STOP, Token, Vocabulary
from gnrs_ppl.reading.words import lemmas


class Said(NamedTuple):
    """What the constructions of a text say; ``missed`` are clauses that bind and name no act of the schema,
    with the act that comes nearest.
    """

    statements: list[Statement]
    background: list[Span]
    missed: list[tuple[Clause, Unread]]
    sentences: list[Sentence]
    aims: list[Sentence]
    """Sentences that only say what the others are for."""


class Constructions:
    """One text: its tokens, the names that stand in it, and what its constructions say."""

    def __init__(self, sentence: str, words: Vocabulary) -> None:
        self.sentence, self.words = sentence, words
        self.tokens: tuple[Token, ...] = words.tokens_of(sentence)
        every = range(len(self.tokens))
        self.names = {
            kind: [named for _, named in words.name_in(kind, self.tokens, every)]
            for kind in ("roles", "locations", "objects")
        }
        spans = [n.span for found in self.names.values() for n in found]
        self.names = {
            kind: [n for n in found if not any(_inside(n.span, s) for s in spans)]
            for kind, found in self.names.items()
        }
        self.named = self._at_names("roles") | self._at_names("locations")
        self.things = self._at_names("objects")

    def nearest(self, told: Sequence[int], *among: Sequence[int]) -> Unread:
        """Tokens that tell no act, with the act that comes nearest to the first of some words that any is near to."""
        found = next(filter(None, (self.words.match_acts(self.tokens, at) for at in among)), [])
        span = Span(self.tokens[told[0]].start, self.tokens[told[-1]].end)
        return Unread(span, found[0].name, round(found[0].score, 2)) if found else Unread(span)

    def is_aim(self, i: int) -> bool:
        """Whether a token stands in a sentence that only says what the rest is for, or in what once befell several."""
        return any(span.start <= self.tokens[i].start < span.end for span in self._asks_nothing)

    @cached_property
    def _asks_nothing(self) -> list[Span]:
        """Sentences that only say what the rest is for, and what once befell several."""
        aims = [Span(aim.start, aim.end) for aim in self.said.aims]
        return aims + [
            Span(c.start, c.end)
            for sentence in self.said.sentences
            for c in sentence.parts
            if c.kind == "background" and HISTORY.match(self.sentence, c.opened)
        ]

    def _at_names(self, kind: str) -> frozenset[int]:
        """Tokens of the names of a kind."""
        return frozenset(
            i
            for i, t in enumerate(self.tokens)
            for n in self.names[kind]
            if n.span.start <= t.start < n.span.end
        )

    @cached_property
    def bound_clauses(self) -> list[tuple[Clause, Bound]]:
        """Every clause, and how it binds."""
        return [
            (c, how_bound(self._own_words(c, sentence.parts)))
            for sentence in self.said.sentences
            for c in sentence.parts
        ]

    def _own_words(self, clause: Clause, parts: Sequence[Clause]) -> str:
        """The words of a clause, less those within it on what was not done: "fines that have not been paid must …"."""
        words = self.sentence[clause.start : clause.end]
        for inner in parts:
            if inner.kind == "without" and clause.start < inner.opened < clause.end:
                at = inner.opened - clause.start, min(inner.end, clause.end) - clause.start
                words = words[: at[0]] + " " * (at[1] - at[0]) + words[at[1] :]
        undone = patterns.NOT_DONE_TO.search(words)
        return words[: undone.start()] + words[undone.end() :] if undone else words

    @cached_property
    def said(self) -> Said:
        """Every statement of every sentence."""
        said = Said([], [], [], [], [])
        spans = sentences(self.sentence)
        for start, stop in spans:
            end = self._before_excuse(start, stop)
            if end < stop:
                said.background.append(Span(end, stop))
            parts = clauses(self.sentence, start, end)
            said.background.extend(
                Span(c.opened, c.end) for c in parts if c.kind in ("background", "purpose")
            )
            sentence = Sentence(self, start, end, parts, said.statements)
            aim = len(spans) > 1 and self._is_aim(start, end)
            found = [] if aim else sentence.statements()
            said.aims.extend([sentence] if aim else [])
            said.missed.extend(sentence.missed)
            said.sentences.append(sentence)
            words = patterns.COULD_NOT.sub(" ", self.sentence[start:end])
            if not found and len(spans) > 1 and not patterns.MODAL_VERB.search(words):
                said.background.append(Span(start, end))
            said.statements.extend(found)
        said.statements[:] = _without_restated(said.statements)
        return said

    def _is_aim(self, start: int, end: int) -> bool:
        """Whether a sentence only says what is wanted: in the imperative, beside one that binds ("Keep
        shared space orderly. …"); or only what once happened ("Yesterday a box was opened. …").
        """
        rest = self.sentence[:start] + self.sentence[end:]
        binds = patterns.MODAL_VERB.search(rest) or any(
            not start <= n.span.start < end for n in self.names["roles"]
        )
        first = next((t.text for t in self.tokens if start <= t.start < end and t.text[0].isalpha()), "")
        named = any(
            start <= n.span.start < end
            and self.sentence[start : n.span.start].strip(" \n\t.()•–-0123456789") in ("", "The", "A")
            for kind in ("roles", "objects")
            for n in self.names[kind]
        )
        imperative = (
            not named
            and first in lemmas(first, "v")
            and first not in STOP
            and not patterns.MODAL_VERB.search(self.sentence, start, end)
            and not patterns.EXCLUSIVE.search(self.sentence, start, end)
        )
        ordered = patterns.FIRST_OF_ALL.search(self.sentence, start, end) or ":" in self.sentence[
            start:end
        ].rstrip(": ")
        return bool(imperative and binds and not ordered and not durations(self.sentence[start:end]))

    def _before_excuse(self, start: int, end: int) -> int:
        """Where a sentence ends that closes with what excuses ("…, heavy snow alone excusing a delay"): that
        binds nobody by itself.
        """
        excuse = patterns.EXCUSES.search(self.sentence, start, end)
        return end if excuse is None else max(self.sentence.rfind(",", start, excuse.start()), start)


def _inside(inner: Span, outer: Span) -> bool:
    """Whether a span lies in a longer one."""
    return outer.start <= inner.start and inner.end <= outer.end and outer != inner


def _without_restated(statements: Sequence[Statement]) -> list[Statement]:
    """Statements that a later one does not say again with more: allowed, but at most once; signed, and not
    handled before.
    """

    def says_again(mine: Reading, later: Reading) -> bool:
        names = {a.activity for a in mine.targets}
        more = later.template in ("precedence", "chain_precedence", "exactly") or later.count > 1
        return (
            names <= set(later.activities)
            if mine.force == "may"
            else more and names == {a.activity for a in later.targets}
        )

    kept = []
    for i, statement in enumerate(statements):
        mine = statement.best
        before = statements[i + 1].best if i + 1 < len(statements) else None
        if (
            mine.template == "init"
            and before
            and before.template == "precedence"
            and mine.targets == before.targets
        ):
            continue
        plain = (
            mine.template == "existence" and mine.count == 1 and mine.time is None and mine.condition is None
        )
        if not (plain and any(says_again(mine, s.best) for s in statements[i + 1 :])):
            kept.append(statement)
    return kept
