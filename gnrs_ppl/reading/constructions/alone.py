"""Constructions of acts that no other act opens, or that what was said before opens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.clauses import Clause
from gnrs_ppl.reading.constructions.binding import how_bound, who_acts
from gnrs_ppl.reading.constructions.pairs import CONDITIONS, Pairs
from gnrs_ppl.reading.constructions.parts import Found, Frame, Way, counted, spans_of, time_and_people
from gnrs_ppl.reading.quantities import count_of
from gnrs_ppl.reading.types import Reading
from gnrs_ppl.rule.types import Template


class Alone(Pairs):
    """A sentence, and what is asked of every case or after what was said last."""

    def unopened(
        self, frame: Frame, targets: Sequence[Found], subs: Sequence[Clause], before: Reading | None
    ) -> list[list[Way]]:
        """A main clause that no act opens: acts in sequence, before or after what was said last, or asked of
        every case.
        """
        anchored = [
            s for s in subs if s.kind == "after" and patterns.THAT.match(self.whole.sentence, s.start)
        ]
        earlier = [Found(a, ()) for a in before.targets[-1:]] if before else []
        beforehand = patterns.BEFOREHAND.search(frame.text)
        another = bool(earlier) and earlier[0].act.activity != targets[0].act.activity
        if another and (beforehand or patterns.ONLY_THEN.search(frame.text)):
            target, opener, why = targets[0], earlier[0], "before the act said last"
            if not beforehand or frame.bound.negative:
                told = "not beforehand" if beforehand else "only then"
                target, opener, why = opener, target, f"{told}: the act said last comes first"
            return [list(self.pairs(1.0, "precedence", target, opener, frame, (), why))]
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

    def turned(self, frame: Frame, opened: Sequence[tuple[Clause, Found]]) -> list[list[Way]]:
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
        self, frame: Frame, found: Found, targets: Sequence[Found], subs: Sequence[Clause]
    ) -> list[Way]:
        """One act that no act opens: first, last, so many times, or asked of every case."""
        told = {i for t in targets for i in t.positions}
        rest = " ".join(
            self.tokens[i].text for i in self._at(frame.clause.opened, frame.clause.end) if i not in told
        )
        rest = patterns.AMOUNT.sub(" ", patterns.CIRCUMSTANCE.sub(" ", rest))
        bound = frame.bound
        template: Template = "absence" if bound.negative else "existence"
        n, why = 1, "forbidden in every case" if bound.negative else "asked of every case"
        if not bound.negative and (count := count_of(rest)):
            template, n, why = counted(count, bound)
        elif not bound.negative and not patterns.BEFORE_THE_END.search(frame.whole):
            begins, ends = list(patterns.BEGINS.finditer(rest)), list(patterns.ENDS.finditer(rest))
            if ends and (not begins or "end" in ends[-1][0]):
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
        limited = bound.force == "may" and template == "absence"  # "there may be at most two": no permission
        found_ways = []
        for share, act in found.ways:
            acts = (act, *found.choices)
            found_ways.append(
                Way(
                    share,
                    Reading(
                        1.0,
                        "must" if limited else bound.force,
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

    def _count_only(self, clause: Clause, before: Reading | None) -> list[Way]:
        """A clause that only says how often: "… but it may occur at most once"."""
        count = count_of(self.words_of(clause))
        if before is None or count is None or len(before.targets) != 1:
            return []
        template, n, why = counted(count, how_bound(self.words_of(clause)))
        return [Way(1.0, replace(before, template=template, count=n, force="must", why=why))]
