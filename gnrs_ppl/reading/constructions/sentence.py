"""One sentence: what its clauses say together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.clauses import Clause
from gnrs_ppl.reading.constructions.alone import Alone
from gnrs_ppl.reading.constructions.pairs import CONDITIONS
from gnrs_ppl.reading.constructions.parts import Found, Frame, Way, spans_of
from gnrs_ppl.reading.disapproval import JUDGES
from gnrs_ppl.reading.types import Named, Reading, Span, Statement
from gnrs_ppl.reading.vocabulary import STOP
from gnrs_ppl.rule.types import Template

MOST_READINGS = 6

SURE_PERMISSION = 0.8
"""An act that is left free must be told this well, or the condition may be the duty itself."""


class Sentence(Alone):
    """One sentence: its clauses in order, and what they say together."""

    def statements(self) -> list[Statement]:
        """A statement for each binding clause; what two clauses say of one pair of acts in both directions
        is one statement.
        """
        read: list[tuple[Clause, list[Way]]] = []
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

    def _mutual(self, read: Sequence[tuple[Clause, list[Way]]]) -> list[Way]:
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
                        Way(1.0, replace(one, template=template, why="said of both acts in both directions"))
                    ]
        return []

    def clause(
        self, clause: Clause, subject: tuple[Named, ...], before: Reading | None
    ) -> Iterator[list[Way]]:
        """The statements of one main clause with the clauses that belong to it."""
        text = self.words_of(clause)
        if (
            patterns.EXCUSES.search(text)
            or patterns.DEFINES.search(text)
            or patterns.ALL_THE_SAME.search(text)
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
            why = f"'{text[slice(*elapses.span())]}' the one act and the other"
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
        barred = frame.bound.negative or frame.bound.permitted
        exceptions = [] if barred else [(s, f) for s, f in opened if s.kind == "unless"]
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

    def condition(self, clause: Clause, told: Sequence[Clause]) -> Span | None:
        """Words on data or circumstances: an opener that names no act ("if the building is old"), or an
        amount ("of more than 500").
        """
        in_any_order = [
            m
            for p in (patterns.EITHER_ORDER, patterns.STEP_BEFORE)
            for m in p.finditer(self.whole.sentence, self.start, self.end)
        ]
        for s in self.belonging(clause):
            pointing = any(
                p.match(self.whole.sentence, s.start, s.end)
                for p in (patterns.THAT, patterns.THAT_EVENT, patterns.DONE_SO)
            )
            if (
                s.kind in ("after", "unless")
                and s not in told
                and not pointing
                and not patterns.EACH_TIME.match(s.opener)
                and not patterns.PAST.search(self.words_of(s))
                and not any(m.start() <= s.opened < m.end() for m in in_any_order)
            ):
                return Span(s.opened, s.end)
        topic = patterns.TOPIC.search(self.whole.sentence[: self.start])
        amount = patterns.AMOUNT.search(self.whole.sentence, clause.start, clause.end) or (
            patterns.AMOUNT.search(self.whole.sentence, *topic.span()) if topic else None
        )
        return Span(*amount.span()) if amount else None

    def _miss(self, frame: Frame) -> None:
        """A clause that binds and names no act of the schema: its verb and object, and the act that comes
        nearest.
        """
        clause = frame.clause
        if not frame.bound.stated or frame.bound.permitted or patterns.WISH.search(frame.text):
            return
        takes_up = (patterns.NEXT, patterns.TAKES_PLACE)
        if patterns.ONE_NOT_OTHER.search(self.text) or any(p.search(frame.text) for p in takes_up):
            return
        announced = patterns.ANNOUNCES.fullmatch(frame.text) or JUDGES.fullmatch(frame.text)
        if announced or patterns.ANY_DOING.search(frame.text):
            return
        modal = patterns.MODAL_VERB.search(self.whole.sentence, clause.start, clause.end)
        if modal and patterns.ONLY_THE_OTHER.match(self.whole.sentence, modal.end(), clause.end):
            return
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
            told = [i for i in content[:2] if i <= content[0] + 3]
            nearest = self.whole.nearest(told, content, self._at(clause.start, clause.end))
            self.missed.append((clause, nearest))


def _conditioned(reading: Reading, states: Span | None) -> Reading:
    return reading if states is None else replace(reading, condition=states, used=(*reading.used, states))


def _excepted(reading: Reading, exceptions: Sequence[tuple[Clause, Found]]) -> Reading:
    for sub, found in exceptions:
        used = (*reading.used, *spans_of((found.act,)), Span(*sub.mark))
        reading = replace(
            reading, exception=found.act, used=used, why=f"{reading.why}; '{sub.opener}': an exception"
        )
    return reading


def _ranked(ways: Sequence[Way]) -> tuple[Reading, ...]:
    total = sum(w.weight for w in ways)
    ranked = sorted(ways, key=lambda w: -w.weight)[:MOST_READINGS]
    return tuple(replace(w.reading, probability=round(w.weight / total, 4)) for w in ranked)
