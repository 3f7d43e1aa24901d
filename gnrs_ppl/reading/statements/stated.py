"""What a relation states, with everything else that is said of it: time, bearers, exception, count, condition."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.clauses import Clause
from gnrs_ppl.reading.constructions import Sentence, spans_of, time_and_people, undergone, who_acts
from gnrs_ppl.reading.quantities import count_of, durations
from gnrs_ppl.reading.relations import label_of
from gnrs_ppl.reading.statements.mentioned import LIKELY
from gnrs_ppl.reading.statements.related import BESIDE, Related, Relation
from gnrs_ppl.reading.types import ActRead, Named, Reading, Span, Statement, Timed, Who
from gnrs_ppl.reading.words import lemmas
from gnrs_ppl.rule.types import IN_THE_MEANTIME, NEGATIVE, Force, Template

WORTH_TELLING = 0.08
"""Other ways to read a target are told from this share on."""
MOST_WAYS = 4
_TEMPLATES: dict[str, Template] = {"existence_n": "existence", "at_most": "absence", "choice": "existence"}
_UNSAID = (*BESIDE, "exclusive_choice")
_COMES_FIRST = ("precedence", "chain_precedence")
"""Labels whose target is asked of whoever the clause of that target names."""
_BETWEEN_CLAUSES = frozenset({",", ";", "which", "and", "or", "but", "then", "before", "after"})
"""One of these stands between two acts of which each has its own object and place."""
_TAKES_UP = frozenset({"it", "them", "there", "this", "these", "such", "one"})
"""One of these takes up what was said before."""


class Stated(Related):
    """A text and the statement that each of its relations makes."""

    def _checkable(self, relation: Relation) -> tuple[Relation, ...]:
        """One of two acts and never both: no constraint says that, but one of the two does and that they
        exclude each other does.
        """
        if relation.label != "exclusive_choice":
            return (relation,)
        both = tuple(relation._replace(label=label) for label in ("choice", "not_coexistence"))
        self.relations |= dict.fromkeys(both, self.relations[relation])
        return both

    def _statement(self, relation: Relation) -> Statement:
        """The statement of a relation, with the other ways to read what its target is."""
        rivals = [
            r
            for r in self.relations
            if r != relation and r.label not in _UNSAID and r.target == relation.target
        ]
        rivals = [r for r in rivals if WORTH_TELLING <= self.relations[r].probability < LIKELY]
        ways = [relation, *sorted(rivals, key=lambda r: -self.relations[r].probability)[: MOST_WAYS - 1]]
        total = sum(self.relations[r].probability for r in ways)
        readings = [
            replace(self._reading(r), probability=round(self.relations[r].probability / total, 4))
            for r in ways
        ]
        clause = self._clause(self.relations[relation].target)
        return Statement(Span(clause.start, clause.end), tuple(readings))

    def _reading(self, relation: Relation) -> Reading:
        """One relation with everything else that is said of it."""
        likely = self.relations[relation]
        clause, sentence = self._clause(likely.target), self._sentence(likely.target)
        main = (
            clause
            if clause.kind == "main"
            else next((c for c in sentence.parts if c.kind == "main" and c.number == clause.number), clause)
        )
        opened_by = (
            self._interval(relation.target, sentence, main) if relation.label == "at_most" else likely.other
        )
        opening = self._clause(opened_by) if opened_by is not None else None
        subs = [c for c in (opening, clause) if c is not None and c.kind != "main"]
        frame = sentence.frame(main)
        own = sentence.subject(clause) if clause != main and relation.label in _COMES_FIRST else ()
        bearers = own or sentence.subject(main) or sentence.subject(clause)
        bearers = tuple(n for n in bearers if not self._is_object(n, likely.target))
        bearers = bearers or self._doers(likely.target, opened_by)
        activation = self._opener(opened_by) if opened_by is not None else None
        either = dict.fromkeys((*self._beside("or", relation), *self._or_others(likely.target)))
        targets = [self._act(k) for k in (likely.target, *either)]
        if relation.label == "choice" and activation:
            targets, activation = [activation, *targets], None
        excusing = self._beside("exception", relation)[:1]
        excused = [self._act(k) for k in excusing]
        meanwhile = [
            m for k in excusing for m in [self._meanwhile(k)] if m and relation.label in IN_THE_MEANTIME
        ]
        time = self._time(sentence, likely.target, main, subs, opening)
        if time and any(
            k in self.lacking and (self._waits(k, time, main) or self._event(k, self.lacking[k]) is not None)
            for k in self._beside("exception", relation)
        ):
            time = None  # how long what is lacking is waited for
        force: Force = (
            "must" if frame.bound.force == "may" and relation.label != "existence" else frame.bound.force
        )
        acts = [*targets, *(activation.each if activation else ()), *excused]
        another = patterns.ELSE.search(self.text.sentence, sentence.start, sentence.end)
        read = [c for c in sentence.parts if any(c.opened <= a.span.start < c.end for a in acts)]
        condition = sentence.condition(main, [*read, *(c for c in sentence.parts if self._tells_well(c))])
        condition = condition or self._elsewhere(sentence)
        reading = Reading(
            1.0,
            force,
            _TEMPLATES.get(relation.label, relation.label),  # type: ignore[arg-type]
            tuple(targets),
            "act" if activation else "case_end" if relation.label == "end" else "case_start",
            activation,
            "any" if len(targets) > 1 else "all",
            exception=next(iter(excused), None),
            meanwhile=bool(meanwhile),
            count=self._count(relation.label, sentence),
            time=time,
            bearers=bearers,
            who="same_person"
            if {likely.target, likely.other} & (self.apart.keys() | self.alike)
            else self._who(frame.whole, relation.label, likely.target, opened_by),
            condition=condition,
            one_subject=bool(
                opening
                and opening.kind != "main"
                and patterns.GERUND.match(self.text.sentence, opening.start)
                and not undergone(frame.whole)
            ),
            used=(
                *spans_of(acts),
                *(Span(*s.mark) for s in subs),
                *time_and_people(time, bearers),
                *([condition] if condition else []),
                *meanwhile,
                *([Span(*another.span())] if another else ()),
            ),
            why=f"the words around {'the two acts' if relation.other else 'the act'}",
        )
        return self._as_constructed(relation, reading)

    def _doers(self, target: int, opener: int | None) -> tuple[Named, ...]:
        """Those right before a verb in the active that tells what is asked ("… and the moment the courier reaches it"); else
        those of whom the same sentence told the act that opens it ("… is where a courier hands over parcels, and the
        check-out has to follow the hand-over").
        """
        same = [
            k
            for k, act in enumerate(self.marked.acts)
            if opener is not None and act == self.marked.acts[opener] and k < opener
        ]
        for k in (target, *same):
            if self._sentence(k) is not self._sentence(target) or not self._told_well(k):
                continue
            verb = self.text.tokens[self.marked.mentions[k].at]
            finite = verb.text.endswith("s") and bool(lemmas(verb.text, "v"))
            for n in self.text.names["roles"] if finite else ():
                before = self.text.sentence[self._clause(k).start : n.span.start]
                if not self.text.sentence[n.span.end : verb.start].strip() and not patterns.OBLIQUE.search(
                    before
                ):
                    return (n,)
        return ()

    def _who(self, text: str, label: str, target: int, other: int | None) -> Who | None:
        """Who acts; what is done "in person" compares nobody with anybody, and a ban on "the one who", or on whoever did
        the other act, is one on the same person.
        """
        told = text if patterns.WHOEVER.search(text) else patterns.IN_PERSON.sub(" ", text)
        bars = label in NEGATIVE and other is not None
        if bars and (patterns.NOT_THE_ONE.search(told) or self._barred_who_did(target, other)):
            return "same_person"
        return who_acts(told)

    def _barred_who_did(self, target: int, other: int | None) -> bool:
        """Whether a ban on one act is one on whoever did the other, where both are told as what somebody does: "whoever
        checked it must not decide afterwards".
        """
        if other is None or self._sentence(target) is not self._sentence(other):
            return False
        first, second = sorted((target, other), key=self._starts)
        told = [self.marked.mentions[k].told[0] for k in (first, second)]
        start, end = self._sentence(first).start, self.text.tokens[self._telling(first)[1]].end
        does = patterns.DOES.search(self.text.sentence, start, end)
        words = self.text.sentence[end : self.text.tokens[self._telling(second)[1]].end]
        barred = patterns.MODAL_VERB.search(words) and not re.search(r"[;:]", words)
        return bool(does and barred and all(t.by_verb for t in told) and not undergone(words))

    def _opened_by_anybody(self, reading: Reading) -> Reading:
        """Without a role on the act that opens, where the role is named behind it as one of those who are bound:
        "every sale obliges the courier" says nothing of who sells.
        """
        opener = reading.activation
        if opener is None or opener.role is None or opener.role not in reading.bearers:
            return reading
        between = self.text.sentence[opener.span.end : opener.role.span.start]
        behind = opener.span.end <= opener.role.span.start and not patterns.OBLIQUE_DOER.search(between)
        return replace(reading, activation=replace(opener, role=None)) if behind else reading

    def _of_whom_each_is_asked(self, reading: Reading) -> Reading:
        """What must come first with whoever is asked to do it elsewhere, where others are bound by the ban: "the
        manager must publish a task, and no courier may deliver without one".
        """
        if reading.template not in _COMES_FIRST or not reading.bearers:
            return reading
        asked = tuple(replace(a, role=self._asked_to(a) or a.role) for a in reading.targets)
        return replace(reading, targets=asked)

    def _asked_to(self, act: ActRead) -> Named | None:
        """The one role of which an act is asked in a main clause that tells it in the active, or with "by"."""
        found = list[Named]()
        for k, told in enumerate(self.marked.acts):
            clause = self._clause(k)
            if told != act.activity or clause.kind != "main" or not self._told_well(k):
                continue
            begins = self._starts(k)
            falls_to = [
                n
                for n in self.text.names["roles"]
                if patterns.FALLS_TO.search(self.text.sentence[clause.start : n.span.start])
                and patterns.TO_DO.fullmatch(self.text.sentence, n.span.end, begins)
            ]
            if falls_to:
                found += falls_to
                continue
            roles = self._sentence(k).subject(clause)
            found += [
                n
                for n in roles
                if clause.start <= n.span.start < clause.end
                and len(roles) == 1
                and (
                    not patterns.UNDERGONE.search(self.text.sentence, n.span.end, begins)
                    if n.span.start < begins
                    else patterns.BY.search(self.text.sentence[clause.start : n.span.start])
                )
            ]
        return found[0] if len({n.name for n in found}) == 1 else None

    def _as_constructed(self, relation: Relation, reading: Reading) -> Reading:
        """What a construction says of the same relation, which knows more of its parts; else the reading as
        it is.
        """
        for statement in self.text.said.statements:
            said = statement.best
            same = label_of(said) == relation.label and [a.activity for a in said.targets] == [
                a.activity for a in reading.targets
            ]
            opener = said.activation.activity if said.activation else None
            if same and opener == (reading.activation.activity if reading.activation else None):
                objects = [n for n in said.bearers if self._is_object(n, self.relations[relation].target)]
                return replace(
                    said,
                    activation=reading.activation
                    if reading.activation and reading.activation.alternatives
                    else said.activation,
                    bearers=tuple(n for n in said.bearers if n not in objects),
                    targets=tuple(replace(a, role=None) if a.role in objects else a for a in said.targets),
                    exception=said.exception or reading.exception,
                    meanwhile=reading.meanwhile,
                    joint=reading.joint,
                    who=reading.who,
                    time=reading.time if self.lacking else said.time or reading.time,
                    condition=reading.condition,
                    used=tuple(dict.fromkeys((*self._less_condition(said), *reading.used))),
                )
        return reading

    def _less_condition(self, reading: Reading) -> tuple[Span, ...]:
        """The words of a reading without those on its circumstances."""
        return tuple(span for span in reading.used if span != reading.condition)

    def _act(self, k: int) -> ActRead:
        """A mention as an act with its role, object and place."""
        told, tokens = self.marked.mentions[k].told[0], self.text.tokens
        first, last = self.marked.spans[k]
        span = Span(tokens[first].start, tokens[last].end)
        sentence, clause = self._sentence(k), self._clause(k)
        things, places = (
            None if named is None or self._of_another(k, named) else named
            for named in (sentence.named_near(kind, clause, span) for kind in ("objects", "locations"))
        )
        role = next((n for n in sentence.subject(clause) if not self._is_object(n, k)), None)
        return ActRead(told.activity, span, min(1.0, round(told.score, 3)), role, things, places)

    def _opener(self, k: int) -> ActRead:
        """A mention as the act that opens, with those any of which opens likewise."""
        others = self._or_others(k)
        return replace(self._act(k), alternatives=tuple(map(self._act, others))) if others else self._act(k)

    def _or_others(self, k: int) -> Sequence[int]:
        """Mentions that "or" joins to one of the same act in the sentence of a mention, to open something."""
        return next(
            (
                others
                for first, others in self._also_open.items()
                if self.marked.acts[first] == self.marked.acts[k]
                and self._sentence(first) is self._sentence(k)
            ),
            (),
        )

    def _of_another(self, k: int, named: Named) -> bool:
        """Whether a name stands behind another act, told between: signs the contract, and then may handle the key; or before mine
        and right behind that one: leave the parcels at the gate, and sign out.
        """
        mine, tokens = self.marked.mentions[k].at, self.text.tokens
        behind = next((i for i, t in enumerate(tokens) if t.start >= named.span.end), len(tokens))
        after = takewhile(lambda t: t.text not in ",.;", tokens[mine : mine + 6])
        taken_up = not _TAKES_UP.isdisjoint(t.text for t in after)
        return any(
            m.told[0].by_verb
            and self._told_well(j)
            and tokens[m.at].start < named.span.start
            and (
                not _BETWEEN_CLAUSES.isdisjoint(t.text for t in tokens[mine : m.at])
                if mine < m.at
                else behind <= mine
                and not taken_up
                and not _BETWEEN_CLAUSES.isdisjoint(t.text for t in tokens[behind:mine])
            )
            for j, m in enumerate(self.marked.mentions)
            if self.marked.acts[j] != self.marked.acts[k]
        )

    def _interval(self, target: str, sentence: Sentence, main: Clause) -> int | None:
        """The mention of the act from which a time runs in which something may be done only so often: "in the thirty days
        after an order was placed".
        """
        for clause in sentence.belonging(main):
            if clause.kind == "after" and patterns.DURING.match(clause.opener) and durations(clause.opener):
                inside = [k for k, act in enumerate(self.marked.acts) if act != target]
                inside = [k for k in inside if clause.start <= self._starts(k) < clause.end]
                return next(filter(self._told_well, inside), None)
        return None

    def _elsewhere(self, sentence: Sentence) -> Span | None:
        """A place in a sentence that neither an act nor a name of the schema takes, where the schema knows
        no places.
        """
        if self.text.words.locations:
            return None
        tokens = self.text.tokens
        taken = {i for m in self.marked.mentions for i in m.told[0].used} | self.text.named | self.text.things
        for place in patterns.ELSEWHERE.finditer(self.text.sentence, sentence.start, sentence.end):
            if not any(place.start() <= tokens[i].start < place.end() for i in taken):
                return Span(*place.span())
        return None

    def _waits(self, k: int, time: Timed, main: Clause) -> bool:
        """Whether a time is told with what has not been done, and not with what is then due."""
        clause = self._clause(k)
        return clause.opened <= time.span.start and (
            clause.opened > main.start or time.span.start < main.start
        )

    def _time(
        self, sentence: Sentence, target: int, main: Clause, subs: Sequence[Clause], opening: Clause | None
    ) -> Timed | None:
        """The time stated where the target is told, or in the words that open it."""
        for clause in [*subs, main]:
            if time := sentence.time(clause, main):
                return None if self._of_act_before(time, target) else time
        if opening and (time := sentence.time(None, opening)):
            return time
        others = [c for c in sentence.belonging(main) if c.kind == "after" and c.number == main.number]
        within = (sentence.time(None, c._replace(start=c.opened, end=c.start)) for c in others)
        return next(filter(None, within), None)

    def _of_act_before(self, time: Timed, target: int) -> bool:
        """Whether a time is set off by commas behind another act than the one asked, of which alone it is told: "patrol the
        square, an hour later at the latest, and talk to …".
        """
        text, place = self.text.sentence, self._starts(target)
        if place < time.span.end:
            return False
        behind = re.match(r"[^,.;]*,\s*and\b", text[time.span.end : place])
        before = text.rfind(",", 0, time.span.start)
        lead = text[before + 1 : time.span.start] if before >= 0 else None
        told = [
            k
            for k in range(len(self.marked.mentions))
            if self._told_well(k) and self._sentence(k) is self._sentence(target)
        ]
        only = lead is not None and re.fullmatch(
            r"\s*(?:within|inside|at most|no later than|not later than|at the latest)?\s*", lead
        )
        return bool(
            behind
            and only
            and any(self._starts(k) < before and self._clause(k) == self._clause(target) for k in told)
        )

    def _meanwhile(self, k: int) -> Span | None:
        """Words with an exception that let it excuse only between the activation and the due."""
        clause = self._clause(k)
        found = patterns.MEANWHILE.search(self.text.sentence, clause.opened, clause.end)
        return Span(*found.span()) if found else None

    def _is_object(self, named: Named, k: int) -> bool:
        """Whether a role is told as what the act of a mention is done to, or done for: "reminds the customer to pay", "the
        customer must be sent a reminder", "gets no more than two reminders".
        """
        words, mention, tokens = (
            self.text.words.words_of(self.marked.acts[k]),
            self.marked.mentions[k],
            self.text.tokens,
        )
        said = self.text.sentence[named.span.start : named.span.end].lower().split()
        used, verb = mention.told[0].used, tokens[mention.at]
        own = any(w in words for form in said for w in (form, *lemmas(form, "n")))
        if named.span.start > tokens[min(used)].start:
            return own
        if own and patterns.UNDERGONE.search(self.text.sentence, named.span.end, verb.end):
            return True
        given = patterns.GIVEN.match(self.text.sentence, named.span.end, self._clause(k).end)
        done = bool(lemmas(verb.text, "v")) and not lemmas(verb.text, "n")  # "gets the package shipped"
        return given is not None and not (given["gets"] and done)

    def _count(self, label: str, sentence: Sentence) -> int:
        """How often, for labels that state it."""
        if label not in ("existence_n", "at_most", "exactly"):
            return 1
        told, nth = count_of(sentence.text), patterns.NTH_TIME.search(sentence.text)
        n = 1
        if told:
            n = told.times + (label == "existence_n" and told.above)
        elif nth and label == "at_most":
            n = patterns.NTH.index(nth[1].lower()) + 1
        return n + 1 if label == "at_most" else max(n, 2) if label == "existence_n" else n
