"""Constructions that say something of two acts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.clauses import Clause
from gnrs_ppl.reading.constructions.acts import ENOUGH_IN_LIST, Acts
from gnrs_ppl.reading.constructions.binding import undergone, who_acts
from gnrs_ppl.reading.constructions.parts import Found, Frame, Way, distinct, spans_of, time_and_people
from gnrs_ppl.reading.types import Reading, Span, Timed
from gnrs_ppl.reading.vocabulary import Match
from gnrs_ppl.rule.types import Force, Template

_FIRST = ("only_after", "unless", "until", "without", "provided")
CONDITIONS = ("provided", "only_after")
"""Clauses that state what must have been done."""


class Pairs(Acts):
    """A sentence, and what two of its acts are to each other."""

    def _gathered(
        self, opened: Sequence[tuple[Clause, Found]], targets: Sequence[Found]
    ) -> Iterator[tuple[Clause, Found, list[Found]]]:
        """Openers with further acts that must come first as well: "unless A and B", "only after A and only
        after B".
        """
        first: dict[str, tuple[Clause, Found, list[Found]]] = {}
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
        targets: Sequence[Found],
        sub: Clause,
        opener: Found,
        also: Sequence[Found] = (),
    ) -> list[Way]:
        """A main clause and a subordinate one: the template is in the words that open the latter."""
        text, bound = frame.text, frame.bound
        time = self.time(sub, frame.clause)
        ways: list[Way] = []

        def give(weight: float, template: Template, target: Found, activation: Found, why: str) -> None:
            more = targets[1:] if target is targets[0] else also if target is opener else ()
            ways.extend(self.pairs(weight, template, target, activation, frame, (sub,), why, time, more))

        main, kind, mark = targets[0], sub.kind, f"'{' '.join(sub.opener.split())}'"
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
        target: Found,
        activation: Found,
        frame: Frame,
        subs: Sequence[Clause],
        why: str,
        time: Timed | None = None,
        more: Sequence[Found] = (),
    ) -> Iterator[Way]:
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
                        one_subject=bool(
                            subs
                            and patterns.GERUND.match(self.whole.sentence, subs[0].start)
                            and not undergone(frame.whole)
                        ),
                    )
                    yield Way(weight * share_t * share_a, reading)

    def exclusive(self, frame: Frame, subs: Sequence[Clause]) -> list[list[Way]]:
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

    def split(self, clause: Clause, marks: Sequence[re.Match[str]]) -> tuple[Found, Found] | None:
        """The two acts on both sides of the mark that parts the clause best."""
        best: tuple[float, Found, Found] | None = None
        for m in marks:
            left = self._matches(clause.start, clause.start + m.start(), clause)
            right = self._matches(
                clause.start + m.end(),
                clause.end,
                clause,
                lend=self._at(clause.start, clause.start + m.start()),
            )
            pair = distinct(left, right)
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
    ) -> tuple[Found, Found]:
        """The two acts, each with the things and places said on its own side of the mark."""
        before = clause._replace(end=clause.start + mark.start())
        behind = clause._replace(opened=clause.start + mark.end(), start=clause.start + mark.end())
        actor = next(iter(self.subject(clause)), None)
        sides = (self._found(pair[0], left, before), self._found(pair[1], right, behind))
        one, other = (f._replace(act=replace(f.act, role=f.act.role or actor)) for f in sides)
        return one, other

    def relation(self, frame: Frame) -> list[list[Way]]:
        """Two acts joined by a predicate: requires, precedes, is accompanied by …"""
        text = frame.text
        for name, pattern in patterns.RELATIONS:
            marks = list(pattern.finditer(text))
            sides = self.split(frame.clause, marks) if marks else None
            if sides is None:
                continue
            left, right = sides
            why = f"'{text[slice(*marks[0].span())].strip()}' relates the acts"
            if frame.bound.negative:
                return [list(self.pairs(1.0, "not_coexistence", right, left, frame, (), why))]
            if patterns.VICE_VERSA.search(self.text):
                return [
                    list(self.pairs(1.0, "coexistence", right, left, frame, (), f"{why}, and vice versa"))
                ]
            direct, before = bool(patterns.AT_ONCE.search(text)), bool(patterns.EARLIER.search(text))
            response: Template = "chain_response" if direct else "response"
            precedence: Template = "chain_precedence" if direct else "precedence"
            table: dict[str, list[tuple[float, Template, Found, Found]]] = {
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
            comes_before = before and name in ("needs", "with", "leads")
            ways = [(1.0, precedence, right, left)] if comes_before else table[name]
            more = self._others(frame.clause, left, right) if name == "needs" else []
            time = self.time(None, frame.clause)
            return [
                [way for w, t, a, b in ways for way in self.pairs(w, t, a, b, frame, (), why, time, more)]
            ]
        return []
