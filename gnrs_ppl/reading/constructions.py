"""What the constructions of a text say: its clauses, the acts they name, and the DECLARE constraint each
construction stands for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, pairwise, takewhile
from typing import NamedTuple

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.clauses import FULL_STOP, Clause, clauses, sentences
from gnrs_ppl.reading.quantities import COUNT, durations, times_told
from gnrs_ppl.reading.types import ActRead, Named, Reading, Span, Statement, Timed, Unread, Who
from gnrs_ppl.reading.vocabulary import (
    CLASSMATE,
    COMMON_VERBS,
    ENOUGH,
    LIGHT,
    STOP,
    Match,
    Token,
    Vocabulary,
    tokens_of,
)
from gnrs_ppl.reading.words import lemmas, word
from gnrs_ppl.rule.types import Force, Template
from gnrs_ppl.words import PARTICLES

_PRONOUN = frozenset(
    [
        "it",
        "its",
        "they",
        "them",
        "their",
        "this",
        "that",
        "he",
        "she",
        "him",
        "her",
        "his",
        "these",
        "those",
        "both",
        "there",
        "one",
        "such",
    ]
)
_IT = frozenset({"it", "them"})
_OCCUR = frozenset(
    [
        "occur",
        "happen",
        "done",
        "place",
        "carried",
        "performed",
        "take",
        "repeated",
        "made",
        "possible",
        "allowed",
    ]
)
_AUXILIARIES = frozenset(
    ["be", "been", "being", "is", "are", "was", "were", "has", "have", "had", "get", "gets", "got"]
)
_HAVE = frozenset({"have", "has", "had", "got", "without"})
SURE = 0.6
"""Where one subordinate clause names its act this well, others must as well."""
STRONG = 0.78
"""Least score at which a second act in one clause counts as an act of its own."""
ENOUGH_IN_LIST = 0.7
"""Least score of a second act among those that must come first."""
_FIRST = ("only_after", "unless", "until", "without", "provided")
CONDITIONS = ("provided", "only_after")
"""Clauses that state what must have been done."""
MOST_READINGS = 6
LEAST = 0.8 * ENOUGH
"""Least score of an act that a construction asks for: its place in the sentence speaks for it too."""
GENERIC = 0.55
"""How well any doing fits an act that the schema says of things in general."""
RIVAL = 0.08
"""Acts that the same words say nearly as well are rivals."""
SURE_PERMISSION = 0.8
"""An act that is left free must be told this well, or the condition may be the duty itself."""


class Bound(NamedTuple):
    """How a clause binds; ``stated`` where its words say so, not only their mood."""

    force: Force
    negative: bool
    permitted: bool
    stated: bool


class _Found(NamedTuple):
    """An act some tokens say, the tokens, the rivals they may say as well, and the acts "or" puts beside
    it.
    """

    act: ActRead
    positions: tuple[int, ...]
    rivals: tuple[ActRead, ...] = ()
    choices: tuple[ActRead, ...] = ()
    exact: bool = False

    @property
    def ways(self) -> list[tuple[float, ActRead]]:
        """What the tokens may say, with shares that fall steeply with the score."""
        acts = (self.act, *self.rivals)
        total = sum(a.score**8 for a in acts)
        return [(a.score**8 / total, a) for a in acts]


class _Way(NamedTuple):
    """One reading in the making, with its weight."""

    weight: float
    reading: Reading


class Frame(NamedTuple):
    """A main clause, its words, those of everything around it, how it binds and whom."""

    clause: Clause
    text: str
    whole: str
    bound: Bound
    subject: tuple[Named, ...]


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
        self.tokens: tuple[Token, ...] = tokens_of(sentence)
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

    def whole_and_main(self, start: int, end: int) -> tuple[str, str]:
        """The sentences, to their full stops, that hold some characters, and their main clauses."""
        stops = [0, *(m.end() for m in FULL_STOP.finditer(self.sentence)), len(self.sentence)]
        start, end = max(s for s in stops if s <= start), min(s for s in stops if s >= end)
        main = [
            self.sentence[c.start : c.end]
            for sentence in self.said.sentences
            for c in sentence.parts
            if c.kind == "main" and start <= c.start < end
        ]
        return self.sentence[start:end], " ".join(main)

    def is_aim(self, i: int) -> bool:
        """Whether a token stands in a sentence that only says what the rest is for."""
        return any(aim.start <= self.tokens[i].start < aim.end for aim in self.said.aims)

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
            (c, how_bound(self.sentence[c.start : c.end]))
            for sentence in self.said.sentences
            for c in sentence.parts
        ]

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
            if not found and len(spans) > 1 and not patterns.MODAL_VERB.search(self.sentence, start, end):
                said.background.append(Span(start, end))
            said.statements.extend(found)
        said.statements[:] = _without_restated(said.statements)
        return said

    def _is_aim(self, start: int, end: int) -> bool:
        """Whether a sentence only says what is wanted: in the imperative, beside one that binds ("Keep
        shared space orderly. …").
        """
        rest = self.sentence[:start] + self.sentence[end:]
        binds = patterns.MODAL_VERB.search(rest) or any(
            not start <= n.span.start < end for n in self.names["roles"]
        )
        first = next((t.text for t in self.tokens if start <= t.start < end and t.text[0].isalpha()), "")
        named = any(
            start <= n.span.start < end and self.sentence[start : n.span.start].strip() in ("", "The", "A")
            for n in self.names["roles"]
        )
        imperative = (
            not named
            and first in lemmas(first, "v")
            and first not in STOP
            and not patterns.MODAL_VERB.search(self.sentence, start, end)
        )
        ordered = patterns.FIRST_OF_ALL.search(self.sentence, start, end)
        return bool(imperative and binds and not ordered and not durations(self.sentence[start:end]))

    def _before_excuse(self, start: int, end: int) -> int:
        """Where a sentence ends that closes with what excuses ("…, heavy snow alone excusing a delay"): that
        binds nobody by itself.
        """
        excuse = patterns.EXCUSES.search(self.sentence, start, end)
        return end if excuse is None else max(self.sentence.rfind(",", start, excuse.start()), start)


class Sentence:
    """One sentence: its clauses in order, and what they say together."""

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

    def statements(self) -> list[Statement]:
        """A statement for each binding clause; what two clauses say of one pair of acts in both directions
        is one statement.
        """
        read: list[tuple[Clause, list[_Way]]] = []
        before = self.earlier[-1].best if self.earlier else None
        subject: tuple[Named, ...] = before.bearers if before and patterns.THEY.search(self.text) else ()
        for clause in (c for c in self.parts if c.kind == "main"):
            subject = self.subject(clause) or subject
            for ways in self.clause(clause, subject, before):
                read.append((clause, ways))
                before = ways[0].reading
        mutual = self._mutual(read)
        if mutual:
            return [Statement(Span(self.start, self.end), _ranked(mutual))]
        return [Statement(Span(clause.start, clause.end), _ranked(ways)) for clause, ways in read]

    def _mutual(self, read: Sequence[tuple[Clause, list[_Way]]]) -> list[_Way]:
        pairs = [(clause, ways[0].reading) for clause, ways in read if ways[0].reading.activation is not None]
        for i, (here, one) in enumerate(pairs):
            for there, other in pairs[i + 1 :]:
                a, b = one.activation, other.activation
                if (
                    here != there
                    and a
                    and b
                    and (a.activity, one.targets[0].activity) == (other.targets[0].activity, b.activity)
                ):
                    template: Template = (
                        "not_coexistence" if one.template.startswith("not_") else "coexistence"
                    )
                    return [
                        _Way(1.0, replace(one, template=template, why="said of both acts in both directions"))
                    ]
        return []

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

    # -- one main clause -------------------------------------------------------------------------------------

    def clause(
        self, clause: Clause, subject: tuple[Named, ...], before: Reading | None
    ) -> Iterator[list[_Way]]:
        """The statements of one main clause with the clauses that belong to it."""
        text = self.words_of(clause)
        if (
            patterns.EXCUSES.search(text)
            or patterns.DEFINES.search(text)
            or (patterns.WISH.search(text) and patterns.MANNER.search(text))
        ):
            return
        subs, frame = self.belonging(clause), self.frame(clause, subject)
        own = [s for s in subs if s.number == clause.number]
        elapses = patterns.ELAPSES.search(text)
        if elapses and (
            sides := self.split(
                clause, [m for m in patterns.JOINTS.finditer(text) if m.start() > elapses.end()]
            )
        ):
            why = f"'{elapses[0]}' the one act and the other"
            yield list(
                self.pairs(1.0, "response", sides[1], sides[0], frame, (), why, self.time(None, clause))
            )
            return
        related = self.exclusive(frame, subs) or ([] if self._acts_of(own) else self.relation(frame))
        if related:
            yield from related
            return
        opened, targets = self._assigned(clause, subs)
        if not targets and (counted := self._count_only(clause, before)):
            yield counted
            return
        if not targets and len(opened) > 1 and patterns.ELSE.search(text):
            yield list(
                self.pairs(
                    1.0,
                    "not_coexistence",
                    opened[1][1],
                    opened[0][1],
                    frame,
                    (),
                    "different people for the two acts",
                )
            )
            return
        duty = frame.bound.stated and not frame.bound.permitted and not frame.bound.negative
        relies = any(s.kind in CONDITIONS for s, _ in opened) and not duty
        if not targets and not relies and not (opened and patterns.STARTS_OR_ENDS.search(text)):
            self._miss(frame)
            return
        if not frame.bound.stated and not opened and patterns.PAST.search(text):
            return
        if (
            not opened
            and frame.bound.stated
            and not frame.bound.negative
            and (done := self._done_before(clause, targets))
        ):
            opened, targets = (
                [(clause._replace(kind="after", opener="done to what it is"), done[0])],
                [done[1]],
            )
        exceptions = [
            (s, f) for s, f in opened if s.kind == "unless" and not self._precondition(s, frame.bound)
        ]
        opened = [found for found in opened if found not in exceptions]
        condition = next((o for o in opened if o[0].kind in CONDITIONS), None)
        if (
            condition
            and targets
            and frame.bound.permitted
            and targets[0].act.score < SURE_PERMISSION
            and not targets[0].exact
        ):
            found = self.turned(
                frame, [condition]
            )  # what is left free is told too vaguely: the condition is the duty
        elif not targets:
            found = self.turned(frame, opened or exceptions)
        elif opened:
            together = self._together(frame, targets)
            found = [
                self.joined(frame, together, sub, act, more)
                for sub, act, more in self._gathered(opened, targets)
            ]
        else:
            found = self.unopened(frame, targets, subs, before)
        states = self.condition(clause, [sub for sub, _ in opened])
        for ways in found:
            if ways:
                yield [
                    w._replace(reading=_conditioned(_excepted(w.reading, exceptions), states)) for w in ways
                ]

    def _done_before(self, clause: Clause, targets: Sequence[_Found]) -> tuple[_Found, _Found] | None:
        """An act told by a participle before its noun, and the act asked of that: "harvested lettuce must be
        delivered".
        """
        among = self._matches(clause.start, clause.end, clause) if len(targets) <= 2 else []
        done = next(
            (
                m
                for m in among
                if len(m.positions) == 1 and m.score >= CLASSMATE and self._is_attribute(m.positions[0])
            ),
            None,
        )
        if done is None:
            return None
        other = next(
            (
                m
                for m in among
                if m.name != done.name and m.score >= CLASSMATE and m.positions != done.positions
            ),
            None,
        )
        return (self._found(done, (), clause), self._found(other, (), clause)) if other else None

    def _is_attribute(self, i: int) -> bool:
        """Whether a token is a past participle before a noun."""
        before, text = self.tokens[i - 1].text if i else "", self.tokens[i].text
        after = self.tokens[i + 1].text if i + 1 < len(self.tokens) else "."
        participle = text.endswith("ed") or (
            lemmas(text, "v")
            and not text.endswith(("s", "ing"))
            and before in ("", "all", "any", "every", "of")
        )
        return bool(participle and before not in _AUXILIARIES and after not in STOP and word(after).nouns)

    def condition(self, clause: Clause, told: Sequence[Clause]) -> Span | None:
        """Words on data or circumstances: an opener that names no act ("if the building is old"), or an
        amount ("of more than 500").
        """
        for s in self.belonging(clause):
            pointing = patterns.THAT.match(self.whole.sentence, s.start) or patterns.THAT_EVENT.match(
                self.whole.sentence, s.start
            )
            if (
                s.kind == "after"
                and s not in told
                and not pointing
                and not patterns.EACH_TIME.match(s.opener)
                and not patterns.PAST.search(self.words_of(s))
            ):
                return Span(s.opened, s.end)
        amount = patterns.AMOUNT.search(self.whole.sentence, clause.start, clause.end)
        return Span(*amount.span()) if amount else None

    def _miss(self, frame: Frame) -> None:
        """A clause that binds and names no act of the schema: its verb and object, and the act that comes
        nearest.
        """
        clause = frame.clause
        if not frame.bound.stated or frame.bound.permitted or patterns.WISH.search(frame.text):
            return
        modal = patterns.MODAL_VERB.search(self.whole.sentence, clause.start, clause.end)
        at = self._at(modal.end() if modal else clause.start, clause.end)
        content = [
            i
            for i in at
            if self.tokens[i].text[0].isalpha()
            and self.tokens[i].text not in STOP
            and i not in self.whole.named
        ]
        content = content or [
            i
            for i in self._at(clause.start, clause.end)
            if self.tokens[i].text not in STOP and self.tokens[i].text.isalpha()
        ]
        if content:
            near = (
                self.words.match_acts(self.tokens, content)
                or self.words.match_acts(self.tokens, self._at(clause.start, clause.end))
            )[:1]
            last = max(i for i in content[:2] if i <= content[0] + 3)
            span = Span(self.tokens[content[0]].start, self.tokens[last].end)
            self.missed.append(
                (clause, Unread(span, near[0].name if near else "", round(near[0].score, 2) if near else 0.0))
            )

    def unopened(
        self, frame: Frame, targets: Sequence[_Found], subs: Sequence[Clause], before: Reading | None
    ) -> list[list[_Way]]:
        """A main clause that no act opens: acts in sequence, before or after what was said last, or asked of
        every case.
        """
        anchored = [
            s for s in subs if s.kind == "after" and patterns.THAT.match(self.whole.sentence, s.start)
        ]
        earlier = [_Found(a, ()) for a in before.targets[-1:]] if before else []
        if (
            patterns.BEFOREHAND.search(frame.text)
            and earlier
            and earlier[0].act.activity != targets[0].act.activity
        ):
            if frame.bound.negative:
                return [
                    list(
                        self.pairs(
                            1.0,
                            "precedence",
                            earlier[0],
                            targets[0],
                            frame,
                            (),
                            "not beforehand: the act said last comes first",
                        )
                    )
                ]
            return [
                list(
                    self.pairs(
                        1.0, "precedence", targets[0], earlier[0], frame, (), "before the act said last"
                    )
                )
            ]
        if (
            patterns.ONLY_THEN.search(frame.text)
            and earlier
            and earlier[0].act.activity != targets[0].act.activity
        ):
            return [
                list(
                    self.pairs(
                        1.0,
                        "precedence",
                        earlier[0],
                        targets[0],
                        frame,
                        (),
                        "only then: the act said last comes first",
                    )
                )
            ]
        if (anchored or patterns.THEN.search(frame.text)) and (len(targets) > 1 or earlier):
            chain = [*(earlier if len(targets) == 1 else []), *targets]
            time = self.time(anchored[0] if anchored else None, frame.clause)
            first = (
                [
                    self.alone(
                        frame._replace(clause=frame.clause._replace(end=frame.clause.start)),
                        targets[0],
                        targets,
                        (),
                    )
                ]
                if len(targets) > 1
                else []
            )
            return first + [
                list(
                    self.pairs(
                        1.0,
                        "response",
                        target,
                        activation,
                        frame,
                        anchored[:1],
                        "one act after the other",
                        time,
                    )
                )
                for activation, target in pairwise(chain)
            ]
        return [self.alone(frame, target, targets, subs) for target in self._together(frame, targets)]

    def _gathered(
        self, opened: Sequence[tuple[Clause, _Found]], targets: Sequence[_Found]
    ) -> Iterator[tuple[Clause, _Found, list[_Found]]]:
        """Openers with further acts that must come first as well: "unless A and B", "only after A and only
        after B".
        """
        first: dict[str, tuple[Clause, _Found, list[_Found]]] = {}
        for sub, found in opened:
            if sub.kind not in _FIRST:
                yield sub, found, []
            elif sub.kind in first:
                first[sub.kind][2].append(found)
            else:
                taken = {t.act.activity for t in targets}
                more = [
                    f for f in self._others(sub, found, least=ENOUGH_IN_LIST) if f.act.activity not in taken
                ]
                first[sub.kind] = (sub, found, more)
        for sub, found, more in first.values():
            lead, *rest = sorted([found, *more], key=lambda f: f.positions)
            yield sub, lead, rest

    def joined(
        self,
        frame: Frame,
        targets: Sequence[_Found],
        sub: Clause,
        opener: _Found,
        also: Sequence[_Found] = (),
    ) -> list[_Way]:
        """A main clause and a subordinate one: the template is in the words that open the latter."""
        text, bound = frame.text, frame.bound
        time = self.time(sub, frame.clause)
        ways: list[_Way] = []

        def give(weight: float, template: Template, target: _Found, activation: _Found, why: str) -> None:
            more = targets[1:] if target is targets[0] else also if target is opener else ()
            ways.extend(self.pairs(weight, template, target, activation, frame, (sub,), why, time, more))

        main, kind, mark = targets[0], sub.kind, f"'{sub.opener.strip()}'"
        if kind in ("after", "who"):
            if patterns.VICE_VERSA.search(self.text):
                give(
                    1.0,
                    "not_coexistence" if bound.negative else "coexistence",
                    main,
                    opener,
                    "and vice versa",
                )
            elif bound.negative:
                give(1.0, "not_response", main, opener, f"{mark}: the act must not follow")
            elif patterns.AND_ONLY_THEN.search(self.text):
                give(1.0, "succession", main, opener, "the act follows, and comes only then")
            elif patterns.EARLIER.search(text) or (
                sub.opener in ("if", "when") and patterns.PERFECT.search(text) and not bound.permitted
            ):
                give(
                    1.0,
                    "chain_precedence" if patterns.RIGHT_BEFORE.search(text) else "precedence",
                    main,
                    opener,
                    "the act comes beforehand",
                )
            elif bound.permitted and not patterns.DUTY.search(text):
                give(0.85, "precedence", opener, main, f"permitted {mark}: that act comes first")
                give(0.15, "response", main, opener, f"{mark}: the act follows")
            elif sub.direct or patterns.AT_ONCE.search(text):
                give(0.75, "chain_response", main, opener, "the act follows directly")
                give(0.25, "response", main, opener, "the act follows, soon")
            elif patterns.ALSO.search(text) and not patterns.LATER.search(text):
                give(0.75, "responded_existence", main, opener, "the one act also asks for the other")
                give(0.25, "response", main, opener, f"{mark}: the act follows")
            else:
                give(1.0, "response", main, opener, f"{mark}: the act follows")
        elif kind == "before" and not bound.negative:
            direct = sub.direct or bool(
                patterns.AT_ONCE.search(text + " " + self.words_of(sub))
                or patterns.RIGHT_BEFORE.search(self.text)
            )
            give(
                1.0,
                "chain_precedence" if direct else "precedence",
                main,
                opener,
                f"{mark}: the act comes first",
            )
        else:
            give(
                1.0,
                "chain_precedence" if sub.direct else "precedence",
                opener,
                main,
                f"{mark}: that act comes first",
            )
        return ways

    def pairs(
        self,
        weight: float,
        template: Template,
        target: _Found,
        activation: _Found,
        frame: Frame,
        subs: Sequence[Clause],
        why: str,
        time: Timed | None = None,
        more: Sequence[_Found] = (),
    ) -> Iterator[_Way]:
        """A reading for each way to read the two acts; further targets of the same clause go with the first.

        What may be done only after another act is left free; that the other comes first is a duty.
        """
        force: Force = "must" if frame.bound.force == "may" else frame.bound.force
        for share_t, t in target.ways:
            for share_a, a in activation.ways:
                if t.activity != a.activity:
                    acts = (t, *target.choices, *(m.act for m in more))
                    used = (
                        *spans_of((*acts, a)),
                        *(Span(*s.mark) for s in subs),
                        *time_and_people(time, frame.subject),
                    )
                    reading = Reading(
                        1.0,
                        force,
                        template,
                        acts,
                        "act",
                        a,
                        "any" if target.choices else "all",
                        time=time,
                        bearers=frame.subject,
                        who=who_acts(frame.whole),
                        used=used,
                        why=why,
                        one_subject=bool(subs and patterns.GERUND.match(self.whole.sentence, subs[0].start)),
                    )
                    yield _Way(weight * share_t * share_a, reading)

    def exclusive(self, frame: Frame, subs: Sequence[Clause]) -> list[list[_Way]]:
        """Two acts of one clause that exclude each other."""
        if not patterns.EXCLUSIVE.search(frame.whole) and not (
            frame.bound.negative and patterns.TOGETHER.search(frame.whole) and not self._acts_of(subs)
        ):
            return []
        best = self.split(
            frame.clause, [*patterns.EXCLUSIVE.finditer(frame.text), *patterns.JOINTS.finditer(frame.text)]
        )
        return (
            [
                list(
                    self.pairs(
                        1.0, "not_coexistence", best[1], best[0], frame, (), "the acts exclude each other"
                    )
                )
            ]
            if best
            else []
        )

    def split(self, clause: Clause, marks: Sequence[re.Match[str]]) -> tuple[_Found, _Found] | None:
        """The two acts on both sides of the mark that parts the clause best."""
        best: tuple[float, _Found, _Found] | None = None
        for m in marks:
            left = self._matches(clause.start, clause.start + m.start(), clause)
            right = self._matches(
                clause.start + m.end(),
                clause.end,
                clause,
                lend=self._at(clause.start, clause.start + m.start()),
            )
            pair = _distinct(left, right)
            if pair and (best is None or pair[0].score + pair[1].score > best[0] + 1e-9):
                best = (pair[0].score + pair[1].score, *self._sides(clause, m, pair, left, right))
        return best[1:] if best else None

    def _sides(
        self,
        clause: Clause,
        mark: re.Match[str],
        pair: tuple[Match, Match],
        left: Sequence[Match],
        right: Sequence[Match],
    ) -> tuple[_Found, _Found]:
        """The two acts, each with the things and places said on its own side of the mark."""
        before = clause._replace(end=clause.start + mark.start())
        behind = clause._replace(opened=clause.start + mark.end(), start=clause.start + mark.end())
        actor = next(iter(self.subject(clause)), None)
        sides = (self._found(pair[0], left, before), self._found(pair[1], right, behind))
        one, other = (f._replace(act=replace(f.act, role=f.act.role or actor)) for f in sides)
        return one, other

    def relation(self, frame: Frame) -> list[list[_Way]]:
        """Two acts joined by a predicate: requires, precedes, is accompanied by …"""
        text = frame.text
        for name, pattern in patterns.RELATIONS:
            marks = list(pattern.finditer(text))
            sides = self.split(frame.clause, marks) if marks else None
            if sides is None:
                continue
            left, right = sides
            why = f"'{marks[0][0].strip()}' relates the acts"
            if frame.bound.negative:
                return [list(self.pairs(1.0, "not_coexistence", right, left, frame, (), why))]
            if patterns.VICE_VERSA.search(self.text):
                return [
                    list(self.pairs(1.0, "coexistence", right, left, frame, (), f"{why}, and vice versa"))
                ]
            direct, before = bool(patterns.AT_ONCE.search(text)), bool(patterns.EARLIER.search(text))
            response: Template = "chain_response" if direct else "response"
            precedence: Template = "chain_precedence" if direct else "precedence"
            table: dict[str, list[tuple[float, Template, _Found, _Found]]] = {
                "precedes": [(1.0, precedence, left, right)],
                "follows": [(0.6, response, left, right), (0.4, precedence, right, left)],
                "leads": [(1.0, response, right, left)],
                "with": [(0.9, "responded_existence", right, left), (0.1, "coexistence", right, left)],
                "needs": [
                    (0.45, "responded_existence", right, left),
                    (0.4, "precedence", right, left),
                    (0.15, response, right, left),
                ],
                "for": [(0.6, response, left, right), (0.4, precedence, left, right)],
            }
            done = (
                name == "needs" and right.positions and self._is_attribute(right.positions[0])
            )  # "requires a signed contract"
            ways = (
                [(1.0, precedence, right, left)]
                if done or (before and name in ("needs", "with", "leads"))
                else table[name]
            )
            more = self._others(frame.clause, left, right) if name == "needs" else []
            time = self.time(None, frame.clause)
            return [
                [way for w, t, a, b in ways for way in self.pairs(w, t, a, b, frame, (), why, time, more)]
            ]
        return []

    def turned(self, frame: Frame, opened: Sequence[tuple[Clause, _Found]]) -> list[list[_Way]]:
        """A main clause without an act of its own: the process begins when …; may …, provided that …"""
        sub, found = opened[0]
        if sub.kind not in CONDITIONS:
            return [self.alone(frame, found, [found], ())]
        inner = Frame(sub, self.words_of(sub), frame.whole, how_bound(self.words_of(sub)), frame.subject)
        behind = [c for c in self.parts if c.opened >= sub.end]
        return self.unopened(
            inner, sorted([found, *self._others(sub, found)], key=lambda f: f.positions), behind, None
        )

    def alone(
        self, frame: Frame, found: _Found, targets: Sequence[_Found], subs: Sequence[Clause]
    ) -> list[_Way]:
        """One act that no act opens: first, last, so many times, or asked of every case."""
        told = {i for t in targets for i in t.positions}
        rest = " ".join(
            self.tokens[i].text
            for c in self._idle(frame.clause, subs)
            for i in self._at(c.opened, c.end)
            if i not in told
        )
        rest = patterns.AMOUNT.sub(" ", patterns.CIRCUMSTANCE.sub(" ", rest))
        bound = frame.bound
        template: Template = "absence" if bound.negative else "existence"
        n, why = 1, "forbidden in every case" if bound.negative else "asked of every case"
        if not bound.negative and (count := COUNT.search(rest)):
            template, n, why = _counted(count, bound)
        elif not bound.negative:
            begins, ends = list(patterns.BEGINS.finditer(rest)), list(patterns.ENDS.finditer(rest))
            if ends and (not begins or "end" in ends[-1][0].lower()):
                template, why = "end", f"'{ends[-1][0]}': the last act of the case"
            elif begins and frame.clause.kind == "main":
                template, why = "init", f"'{begins[0][0]}': the first act of the case"
        signal = next(
            (
                s
                for s in subs
                if s.kind == "after"
                and not patterns.EACH_TIME.match(s.opener)
                and not patterns.PAST.search(self.words_of(s))
            ),
            None,
        )
        time = self.time(signal, frame.clause)
        found_ways = []
        for share, act in found.ways:
            acts = (act, *found.choices)
            found_ways.append(
                _Way(
                    share,
                    Reading(
                        1.0,
                        bound.force,
                        template,
                        acts,
                        "case_end" if template == "end" else "case_start",
                        None,
                        "any" if found.choices else "all",
                        count=n,
                        time=time,
                        bearers=frame.subject,
                        who=who_acts(frame.whole),
                        used=(*spans_of(acts), *time_and_people(time, frame.subject)),
                        why=why,
                    ),
                )
            )
        return found_ways

    def _idle(self, clause: Clause, subs: Sequence[Clause]) -> list[Clause]:
        """A clause and those beside it that name no act: "In wrapping up the call, …", "… before anything
        else".
        """
        lead = [
            c
            for c in self.parts
            if c.kind == "main"
            and c.number == clause.number - 1
            and not patterns.MODAL_VERB.search(self.words_of(c))
        ]
        beside = [*(s for s in subs if s.kind in ("before", "provided")), *lead]
        return [clause, *(c for c in beside if c != clause and not self._matches(*_reach(c), c)[:1])]

    def _count_only(self, clause: Clause, before: Reading | None) -> list[_Way]:
        """A clause that only says how often: "… but it may occur at most once"."""
        count = COUNT.search(self.words_of(clause))
        if before is None or count is None or len(before.targets) != 1:
            return []
        template, n, why = _counted(count, how_bound(self.words_of(clause)))
        return [_Way(1.0, replace(before, template=template, count=n, force="must", why=why))]

    # -- parts -----------------------------------------------------------------------------------------------

    def words_of(self, clause: Clause) -> str:
        """The words of a clause."""
        return self.whole.sentence[clause.start : clause.end]

    def subject(self, clause: Clause) -> tuple[Named, ...]:
        """The roles a clause is about: the one after "by", else those named before its verb that no
        preposition stands before.
        """
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
        early = [
            n
            for n in roles
            if (not verb or n.span.start < verb.start())
            and not patterns.OBLIQUE.search(text[clause.opened : n.span.start])
        ]
        return self._listed(early) or tuple(n for n in roles if self._acts_or_called(n))[:1]

    def _listed(self, roles: Sequence[Named]) -> tuple[Named, ...]:
        """The first role and those that a list joins to it."""
        joined = list(roles[:1])
        for n in roles[1:]:
            if patterns.IN_A_LIST.fullmatch(self.whole.sentence, joined[-1].span.end, n.span.start):
                joined.append(n)
        return tuple(joined)

    def _acts_or_called(self, role: Named) -> bool:
        """Whether a role does what a noun before it says ("the arrival of the courier"), or is spoken to (",
        volunteers,").
        """
        text = self.whole.sentence
        if re.search(r",\s*$", text[: role.span.start]) and re.match(r"\s*[,.;!]", text[role.span.end :]):
            return True
        noun = re.search(
            r"(\w+)\s+of\s+(?:the|an?|every|each|his|"
            r"her)\s+(?:\w+\s+)?$",
            text[: role.span.start],
        )
        return bool(noun and word(noun[1].lower()).verbs and word(noun[1].lower()).nouns)

    def time(self, sub: Clause | None, clause: Clause) -> Timed | None:
        """The time stated in the words that open a clause, or in the main clause."""
        for start, end in ([(sub.opened, sub.end)] if sub else []) + [(clause.start, clause.end)]:
            for length in durations(self.whole.sentence[start:end]):
                span = Span(start + length.start, start + length.end)
                if not patterns.NO_LIMIT.search(self.whole.sentence[max(0, span.start - 24) : span.start]):
                    latest = "at the latest" in self.whole.sentence[start:end].lower()
                    return Timed(span, length.duration, earlier_counts=latest, working_days=length.working)
        return None

    def _belongs(self, sub: Clause, clause: Clause) -> bool:
        shared = sub.first or (
            sub.opener.startswith("who ") and patterns.SAME_SUBJECT.match(self.words_of(clause))
        )
        return sub.number == clause.number or bool(shared and sub.number <= clause.number)

    def _precondition(self, sub: Clause, bound: Bound) -> bool:
        """Whether what follows "unless" must come first, since what it belongs to is not asked but barred or
        left free.
        """
        return bound.negative or bound.permitted or bool(patterns.NOT_YET.search(self.words_of(sub)))

    def _together(self, frame: Frame, targets: Sequence[_Found]) -> Sequence[_Found]:
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
        return any(m.score >= ENOUGH for s in subs for m in self._matches(*_reach(s), s)[:1])

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
        lent = [i for i in dict.fromkeys(lent) if i not in mine]
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
        found = [m for m in found if not self._goes_nowhere(m, own)]
        good = [m for m in found if m.score >= LEAST and (m.positions or occurs)]
        return good or self._generic(at)

    def _goes_nowhere(self, m: Match, clause: Clause) -> bool:
        """Whether a common verb ("comes", "gets") tells an act by synonym though nobody and no place is said
        of it.
        """
        if (
            len(m.positions) != 1
            or m.exact
            or COMMON_VERBS.isdisjoint(lemmas(self.tokens[m.positions[0]].text, "v"))
        ):
            return False
        said = [n for kind in ("roles", "locations") for n in self.whole.names[kind]]
        return not any(
            clause.opened <= n.span.start < clause.end for n in said
        ) and not patterns.PERSON.search(self.words_of(clause))

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
    ) -> tuple[list[tuple[Clause, _Found]], list[_Found]]:
        """Acts of the subordinate clauses and of the main one, none read twice: the pair of first acts that
        fits best together.
        """
        mine = [m for m in self._matches(clause.start, clause.end, clause) if m.head or m.score >= SURE]
        chosen: list[tuple[Clause, Match, list[Match]]] = []
        first: Match | None = mine[0] if mine else None
        for sub in subs:
            theirs = [m for m in self._matches(*_reach(sub), sub) if sub.opener != "to" or m.score >= SURE]
            pair = _distinct(theirs, mine)
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

    def _others(self, clause: Clause, *known: _Found, least: float = STRONG) -> list[_Found]:
        """Further acts of a clause, told by other words than those known, and not what one of those is about
        ("discuss delivery").
        """
        found: list[_Found] = []
        for m in self._matches(*_reach(clause), clause):
            taken = {i for f in (*known, *found) for i in f.positions}
            names = {f.act.activity for f in (*known, *found)}
            if (
                set(m.positions) & taken
            ):  # the object may be told twice: "admit the patient or discharge the patient"
                free = [i for i in self._at(*_reach(clause)) if i not in taken]
                m = next(
                    (a for a in self.words.match_acts(self.tokens, free) if a.name == m.name and a.exact), m
                )
            about = m.positions and any(self._is_object(i, m.positions[0]) for i in taken)
            if (
                m.score >= least
                and m.positions
                and m.name not in names
                and not set(m.positions) & taken
                and not about
            ):
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

    def _found(self, m: Match, among: Sequence[Match], clause: Clause) -> _Found:
        rivals = [
            r
            for r in among
            if r.name != m.name and r.score > m.score - RIVAL and set(r.positions) & set(m.positions)
        ][:3]
        return _Found(
            self._read(m, clause), m.positions, tuple(self._read(r, clause) for r in rivals), exact=m.exact
        )

    def _read(self, m: Match, clause: Clause) -> ActRead:
        at = m.positions or (0,)
        span = Span(self.tokens[at[0]].start, self.tokens[at[-1]].end)
        things, places = (self.named_near(kind, clause, span) for kind in ("objects", "locations"))
        return ActRead(
            m.name, span, min(1.0, round(m.score, 3)), next(iter(self.subject(clause)), None), things, places
        )

    def named_near(self, kind: str, clause: Clause, act: Span) -> Named | None:
        """The object or location said of an act: the next one named after it in its clause, else the last
        before it.

        "there" is the place said last, and a pronoun without a noun the thing said last.
        """
        names = [n for n in self.whole.names[kind] if clause.opened <= n.span.start < clause.end]
        if names:
            return next((n for n in names if n.span.end > act.start), names[-1])
        said = {t.text for t in self.tokens if clause.start <= t.start < clause.end}
        if said & ({"there"} if kind == "locations" else _IT):
            return next(
                (
                    n
                    for n in reversed(self.whole.names[kind])
                    if self.start <= n.span.start and n.span.end <= act.start
                ),
                None,
            )
        return None

    def _parted(self, clause: Clause, acts: Sequence[_Found]) -> list[_Found]:
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


def _inside(inner: Span, outer: Span) -> bool:
    """Whether a span lies in a longer one."""
    return outer.start <= inner.start and inner.end <= outer.end and outer != inner


def _reach(clause: Clause) -> tuple[int, int]:
    """Where the words of a clause are; a relative clause's stand in what opens it ("that has been cut")."""
    return (clause.opened, clause.start) if clause.kind == "who" else (clause.start, clause.end)


def _distinct(left: Sequence[Match], right: Sequence[Match]) -> tuple[Match, Match] | None:
    """The best pair of different acts."""
    pairs = [(a.score + b.score, a, b) for a in left[:8] for b in right[:8] if a.name != b.name]
    return max(pairs, key=lambda p: p[0])[1:] if pairs else None


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


def _conditioned(reading: Reading, states: Span | None) -> Reading:
    return reading if states is None else replace(reading, condition=states, used=(*reading.used, states))


def _excepted(reading: Reading, exceptions: Sequence[tuple[Clause, _Found]]) -> Reading:
    for sub, found in exceptions:
        used = (*reading.used, *spans_of((found.act,)), Span(*sub.mark))
        reading = replace(
            reading, exception=found.act, used=used, why=f"{reading.why}; '{sub.opener}': an exception"
        )
    return reading


def _counted(count: re.Match[str], bound: Bound) -> tuple[Template, int, str]:
    n = times_told(count)
    why = f"'{count[0]}'"
    if count["most"]:
        exclusive = count["how"].lower() == "more than"
        return "absence", n + 1 + exclusive, why
    if count["least"]:
        return "existence", n, why
    return ("absence", n + 1, why) if bound.permitted else ("exactly", n, why)


def who_acts(text: str) -> Who | None:
    """Whether words ask for the same person, or for another."""
    return (
        "another_person"
        if patterns.ELSE.search(text)
        else "same_person"
        if patterns.SELF.search(text)
        else None
    )


def spans_of(acts: Sequence[ActRead]) -> tuple[Span, ...]:
    """Everything the acts were read from."""
    named = [n.span for a in acts for n in (a.role, a.object, a.location) if n is not None]
    return tuple(dict.fromkeys((*(a.span for a in acts), *named)))


def time_and_people(time: Timed | None, subject: Sequence[Named]) -> tuple[Span, ...]:
    """The words a time and the roles were read from."""
    return (*((time.span,) if time else ()), *(n.span for n in subject))


def functional(text: str) -> bool:
    """Whether a word only binds or orders."""
    return any(
        p.fullmatch(text)
        for p in (
            patterns.MODAL_VERB,
            patterns.NEGATIVE,
            patterns.LATER,
            patterns.EARLIER,
            patterns.DUTY,
            patterns.AT_ONCE,
        )
    )


def how_bound(text: str) -> Bound:
    """Force and polarity of a clause."""
    text = patterns.NO_LONGER.sub(" must ", text)
    if patterns.FREE.search(text):
        return Bound("may", False, True, True)
    negative = bool(patterns.NEGATIVE.search(patterns.NOT_NEGATIVE.sub(" ", text)))
    permitted = bool(patterns.PERMISSION.search(text)) and not negative
    duty = bool(patterns.DUTY.search(text))
    force: Force = (
        "should"
        if patterns.SHOULD.search(text) and not patterns.HARD.search(text)
        else "may"
        if permitted and not duty
        else "must"
    )
    return Bound(force, negative, permitted, duty or permitted or negative)


def _ranked(ways: Sequence[_Way]) -> tuple[Reading, ...]:
    total = sum(w.weight for w in ways)
    ranked = sorted(ways, key=lambda w: -w.weight)[:MOST_READINGS]
    return tuple(replace(w.reading, probability=round(w.weight / total, 4)) for w in ranked)
