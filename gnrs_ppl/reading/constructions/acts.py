"""The acts that the clauses of a sentence name, each with who does it, on what, where and when."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, pairwise, takewhile
from typing import TYPE_CHECKING

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.clauses import FULL_STOP, Clause
from gnrs_ppl.reading.constructions.binding import how_bound
from gnrs_ppl.reading.constructions.parts import Found, Frame, distinct, reach
from gnrs_ppl.reading.quantities import durations
from gnrs_ppl.reading.types import ActRead, Named, Span, Statement, Timed, Unread
from gnrs_ppl.reading.vocabulary import ENOUGH, LIGHT, STOP, Match
from gnrs_ppl.reading.ways import is_a_case, only_helps
from gnrs_ppl.reading.words import lemmas
from gnrs_ppl.words import PARTICLES

if TYPE_CHECKING:
    from gnrs_ppl.reading.constructions.text import Constructions

_PRONOUN = frozenset(
    "it its they them their this that he she him her his these those both there one such".split()
)
_IT = frozenset({"it", "them"})
_OCCUR = frozenset("occur happen done place carried performed take repeated made possible allowed".split())
_HAVE = frozenset({"have", "has", "had", "got", "without"})

SURE = 0.6
"""Where one subordinate clause names its act this well, others must as well."""
STRONG = 0.78
"""Least score at which a second act in one clause counts as an act of its own."""
ENOUGH_IN_LIST = 0.7
"""Least score of a second act among those that must come first."""

LEAST = 0.8 * ENOUGH
"""Least score of an act that a construction asks for: its place in the sentence speaks for it too."""
GENERIC = 0.55
"""How well any doing fits an act that the schema says of things in general."""
RIVAL = 0.08
"""Acts that the same words say nearly as well are rivals."""


class Acts:
    """The clauses of one sentence, and the acts each of them names."""

    def __init__(
        self,
        whole: Constructions,
        start: int,
        end: int,
        parts: Sequence[Clause],
        earlier: Sequence[Statement],
    ) -> None:
        self.whole, self.tokens, self.words = whole, whole.tokens, whole.words
        self.start, self.end, self.earlier = start, end, earlier
        notes = {
            c.number
            for c in parts
            if c.kind == "main" and patterns.DEFINES.search(whole.sentence, c.start, c.end)
        }
        self.parts = [
            c._replace(number=c.number - 1)
            if c.kind != "main" and {c.number} <= notes and c.number > 1
            else c
            for c in parts
        ]
        self.missed: list[tuple[Clause, Unread]] = []
        self.text = whole.sentence[start:end]

    def belonging(self, clause: Clause) -> list[Clause]:
        """The subordinate clauses that say something of a main one."""
        return [
            c
            for c in self.parts
            if c.kind not in ("main", "background", "purpose") and self._belongs(c, clause)
        ]

    def frame(self, clause: Clause, subject: tuple[Named, ...] = ()) -> Frame:
        """A main clause with its words, those around it, and how it binds."""
        text, subs = self.words_of(clause), self.belonging(clause)
        around = self.whole.sentence[
            min([clause.start, *(s.opened for s in subs)]) : max([clause.end, *(s.end for s in subs)])
        ]
        return Frame(clause, text, around, how_bound(text), subject)

    def words_of(self, clause: Clause) -> str:
        """The words of a clause."""
        return self.whole.sentence[clause.start : clause.end]

    def subject(self, clause: Clause) -> tuple[Named, ...]:
        """The roles a clause is about: the one after "by", else those named before its verb that no
        preposition stands before.
        """
        if not self.whole.names["roles"]:
            return ()
        text = self.whole.sentence
        roles = [
            n
            for n in self.whole.names["roles"]
            if clause.opened <= n.span.start < clause.end and not patterns.POSSESSIVE.match(text, n.span.end)
        ]
        if passive := next((n for n in roles if patterns.BY.search(text[clause.start : n.span.start])), None):
            return self._listed(roles[roles.index(passive) :])
        verb = patterns.MODAL_VERB.search(text, clause.start, clause.end)
        if verb and (
            asked := next(
                (n for n in roles if patterns.ASKED.fullmatch(text, verb.end(), n.span.start)), None
            )
        ):
            return self._listed(
                roles[roles.index(asked) :]
            )  # "will the courier please", "I need you couriers to"
        free = {n for n in roles if not patterns.OBLIQUE.search(text[clause.opened : n.span.start])}
        for before, n in pairwise(roles):  # what stands before the first of a list is said of all of it
            if before not in free and patterns.IN_A_LIST.fullmatch(text, before.span.end, n.span.start):
                free.discard(n)
        early = [n for n in roles if n in free and (not verb or n.span.start < verb.start())]
        return self._listed(early)

    def _listed(self, roles: Sequence[Named]) -> tuple[Named, ...]:
        """The first role and those that a list joins to it."""
        joined = list(roles[:1])
        for n in roles[1:]:
            if patterns.IN_A_LIST.fullmatch(self.whole.sentence, joined[-1].span.end, n.span.start):
                joined.append(n)
        return tuple(joined)

    def time(self, sub: Clause | None, clause: Clause) -> Timed | None:
        """The time stated in the words that open a clause, or in the main clause."""
        for start, end in ([(sub.opened, sub.end)] if sub else []) + [(clause.start, clause.end)]:
            for length in durations(self.whole.sentence[start:end]):
                span = Span(start + length.start, start + length.end)
                if patterns.NTH_OF.match(self.whole.sentence, span.start):
                    continue  # a second scan
                if any(
                    p.search(self.whole.sentence, 0, span.start) for p in (patterns.WAITED, patterns.RATE)
                ):
                    continue
                before = self.whole.sentence[max(0, span.start - 24) : span.start]
                if not patterns.NO_LIMIT.search(before):
                    latest = "at the latest" in self.whole.sentence[start:end].lower()
                    return Timed(span, length.duration, earlier_counts=latest, working_days=length.working)
        return None

    def _belongs(self, sub: Clause, clause: Clause) -> bool:
        shared = sub.first or (
            sub.opener.startswith("who ") and patterns.SAME_SUBJECT.match(self.words_of(clause))
        )
        return sub.number == clause.number or bool(shared and sub.number <= clause.number)

    def _together(self, frame: Frame, targets: Sequence[Found]) -> Sequence[Found]:
        """Acts of one clause that "or" joins are one demand with several ways to meet it; each is banned
        where none may be done.
        """
        if frame.bound.negative:
            return targets
        told = list(takewhile(lambda t: t.positions, targets))
        between = [
            self.whole.sentence[self.tokens[a.positions[-1]].end : self.tokens[b.positions[0]].start]
            for a, b in pairwise(told)
        ]
        last = next((k for k, words in enumerate(between, 1) if re.search(r"\bor\b", words)), 0)
        if not last or not all(words.strip() == "," for words in between[: last - 1]):
            return targets
        choices, positions = tuple(t.act for t in told[1 : last + 1]), [t.positions for t in told[: last + 1]]
        return [told[0]._replace(choices=choices, positions=tuple(chain(*positions))), *targets[last + 1 :]]

    def _at(self, start: int, end: int) -> list[int]:
        return [i for i, t in enumerate(self.tokens) if start <= t.start < end]

    def _acts_of(self, subs: Sequence[Clause]) -> bool:
        return any(m.score >= ENOUGH for s in subs for m in self._matches(*reach(s), s)[:1])

    def _matches(self, start: int, end: int, own: Clause, lend: Sequence[int] = ()) -> list[Match]:
        """Acts that words of a stretch say, best first; a pronoun in it borrows the words of the other
        clauses.
        """
        at = self._at(start, end)
        if own.kind == "main":
            inner = {
                i
                for c in self.parts
                if c.kind != "main" and start <= c.opened < end
                for i in self._at(c.opened, c.end)
            }
            at = [i for i in at if i not in inner]
        lent = list(lend)
        if any(self.tokens[i].text in _PRONOUN for i in at):
            lent += [i for p in self.parts if p is not own for i in self._at(p.start, p.end)]
        mine = set(at)
        lent = [i for i in dict.fromkeys(lent) if i not in mine and self._may_be_lent(i)]
        found = self.words.match_acts(self.tokens, at, lent)
        found = [
            m for m in found if m.exact or not m.positions or not set(m.positions) <= self.whole.things
        ]  # a consignment is no consigning
        told_by_names = {m.name for m in found if m.positions and set(m.positions) <= self.whole.named}
        if told_by_names:  # the delivery station is no delivery, but another word may be
            other = self.words.match_acts(self.tokens, [i for i in at if i not in self.whole.named], lent)
            found = [m for m in found if m.name not in told_by_names] + [
                m for m in other if m.name in told_by_names
            ]
            found.sort(key=lambda m: (-m.score, -m.weight))
        occurs = any(self.tokens[i].text in _OCCUR for i in at) or any(
            self.tokens[i].text == "one" and self.tokens[i - 1].text in _HAVE for i in at if i
        )
        found = [
            m
            for m in found
            if not only_helps(self.tokens, m.positions)
            and (m.exact or not m.positions or not is_a_case(self.tokens, m.positions[0]))
        ]
        good = [m for m in found if m.score >= LEAST and (m.positions or occurs)]
        return good or self._generic(at)

    def _may_be_lent(self, i: int) -> bool:
        """Whether a pronoun may stand for a word: not for who or where, nor for a particle without its verb."""
        return i not in self.whole.named and self.tokens[i].text not in PARTICLES

    def _generic(self, at: Sequence[int]) -> list[Match]:
        """An act of any kind on a thing the schema knows, where that thing is told as what a verb is done
        to.
        """
        things = [i for i in at for n in self.whole.names["objects"] if n.span.start == self.tokens[i].start]
        if not things or not self.words.generic:
            return []
        before = [i for i in at if things[0] - 5 <= i < things[0] and self._does(i)]
        passive = [
            i
            for i in at
            if things[0] < i <= things[0] + 7 and self.tokens[i].text.endswith("ed") and self._does(i)
        ]
        verbs = (
            before[-1:]
            or [i for i in passive if self.tokens[i - 1].text in ("be", "been", "is", "are", "being")][:1]
        )
        return (
            [Match(name, GENERIC, GENERIC, (verbs[-1],)) for name in sorted(self.words.generic)]
            if verbs
            else []
        )

    def _does(self, i: int) -> bool:
        """Whether a token is a verb that does something to a thing, and no noun's beginning or end."""
        text = self.tokens[i].text
        closed = text in STOP or text in PARTICLES or i in self.whole.named or not lemmas(text, "v")
        return (
            not closed and LIGHT.isdisjoint(lemmas(text, "v")) and not patterns.STARTS_OR_ENDS.fullmatch(text)
        ) or text.startswith("open")

    def _assigned(
        self, clause: Clause, subs: Sequence[Clause]
    ) -> tuple[list[tuple[Clause, Found]], list[Found]]:
        """Acts of the subordinate clauses and of the main one, none read twice: the pair of first acts that
        fits best together.
        """
        mine = [m for m in self._matches(clause.start, clause.end, clause) if m.head or m.score >= SURE]
        chosen: list[tuple[Clause, Match, list[Match]]] = []
        first: Match | None = mine[0] if mine else None
        for sub in subs:
            theirs = [m for m in self._matches(*reach(sub), sub) if sub.opener != "to" or m.score >= SURE]
            pair = distinct(theirs, mine)
            if pair:
                chosen.append((sub, pair[0], theirs))
                first = pair[1]
            elif theirs and not mine:
                chosen.append((sub, theirs[0], theirs))
        sure = len(chosen) > 1 and max(m.score for _, m, _ in chosen) >= SURE
        opened = [
            (sub, self._found(m, theirs, sub))
            for sub, m, theirs in chosen
            if not (sure and m.score < SURE)
            and all(m.name != o.name or m.score > o.score for s, o, _ in chosen if s is not sub)
        ]
        if first is None:
            return opened, []
        main = self._found(first, mine, clause)
        taken = {f.act.activity for _, f in opened}
        least = ENOUGH_IN_LIST if patterns.CHOICE.search(self.words_of(clause)) else STRONG
        others = [f for f in self._others(clause, main, least=least) if f.act.activity not in taken]
        return opened, self._parted(clause, sorted((main, *others), key=lambda f: f.positions))

    def _others(self, clause: Clause, *known: Found, least: float = STRONG) -> list[Found]:
        """Further acts of a clause, told by other words than those known, and not what one of those is about
        ("discuss delivery").
        """
        found: list[Found] = []
        for m in self._matches(*reach(clause), clause):
            taken = {i for f in (*known, *found) for i in f.positions}
            names = {f.act.activity for f in (*known, *found)}
            if (
                set(m.positions) & taken
            ):  # the object may be told twice: "admit the patient or discharge the patient"
                free = [i for i in self._at(*reach(clause)) if i not in taken]
                m = next(
                    (a for a in self.words.match_acts(self.tokens, free) if a.name == m.name and a.exact), m
                )
            about = m.positions and any(self._is_object(i, m.positions[0]) for i in taken)
            new = m.name not in names and not set(m.positions) & taken and not about
            if m.score >= least and m.positions and new:
                found.append(self._found(m, (), clause))
        return found

    def _is_object(self, verb: int, at: int) -> bool:
        """Whether a noun or gerund follows a verb directly, as what it is about."""
        between = {t.text for t in self.tokens[verb + 1 : at]}
        noun = self.tokens[at].text.endswith("ing") or at - verb == 2
        return (
            verb < at <= verb + 2
            and noun
            and between <= {"the", "a", "an", "his", "her", "their", "its", "of", "about"}
        )

    def _found(self, m: Match, among: Sequence[Match], clause: Clause) -> Found:
        rivals = [
            r
            for r in among
            if r.name != m.name
            and r.score > m.score - RIVAL
            and set(r.positions) & set(m.positions)
            and not (m.exact and m.score >= r.score and set(r.positions) < set(m.positions))
        ][:3]
        return Found(
            self._read(m, clause), m.positions, tuple(self._read(r, clause) for r in rivals), exact=m.exact
        )

    def _read(self, m: Match, clause: Clause) -> ActRead:
        at = m.positions or (0,)
        span = Span(self.tokens[at[0]].start, self.tokens[at[-1]].end)
        things, places = (self.named_near(kind, clause, span) for kind in ("objects", "locations"))
        return ActRead(
            m.name, span, min(1.0, round(m.score, 3)), next(iter(self.subject(clause)), None), things, places
        )

    def _before_this(self) -> int:
        """Where the sentence before this one begins."""
        stops = [m.end() for m in FULL_STOP.finditer(self.whole.sentence, 0, self.start)]
        return max((stop for stop in stops if stop < self.start), default=0)

    def named_near(self, kind: str, clause: Clause, act: Span) -> Named | None:
        """The object or location said of an act: the next one named after it in its clause, else the last
        before it.

        "there" is the place said last, and a pronoun without a noun the thing said last.
        """
        names = [n for n in self.whole.names[kind] if clause.opened <= n.span.start < clause.end]
        names = [n for n in names if n.span != act]  # "a delivery" is what is done, and no thing
        if names:
            return next((n for n in names if n.span.end > act.start), names[-1])
        words = {t.text for t in self.tokens if clause.start <= t.start < clause.end}
        if words & ({"there"} if kind == "locations" else _IT):
            before = [n for n in self.whole.names[kind] if n.span.end <= act.start]
            return next((n for n in reversed(before) if n.span.start >= self._before_this()), None)
        return None

    def _parted(self, clause: Clause, acts: Sequence[Found]) -> list[Found]:
        """Several acts of one clause, each with what is said after it and before the next; the first has
        what is said before.
        """
        if len(acts) < 2:
            return list(acts)
        starts = [f.act.span.start for f in acts]

        def owner(named: Named | None) -> int:
            return max(
                (k for k, start in enumerate(starts) if named and start <= named.span.start), default=0
            )

        placed = []
        for k, f in enumerate(acts):
            own = {
                field: n
                for field in ("object", "location")
                if (n := getattr(f.act, field)) is None or owner(n) == k or n.span.end <= clause.opened
            }
            placed.append(
                f._replace(act=replace(f.act, object=own.get("object"), location=own.get("location")))
            )
        return placed
