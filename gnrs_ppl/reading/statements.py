"""What a text states: the relations that a linear model gives the mentions of its acts, and constructions beside them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.clauses import Clause
from gnrs_ppl.reading.constructions import (
    Constructions,
    Sentence,
    functional,
    how_bound,
    spans_of,
    time_and_people,
    undergone,
    who_acts,
)
from gnrs_ppl.reading.mentions import ActMatch
from gnrs_ppl.reading.quantities import count_of
from gnrs_ppl.reading.relations import SYMMETRIC, Marked, Option, Weights, frozen, label_of, options
from gnrs_ppl.reading.types import ActRead, Named, Reading, Readings, Span, Statement, Timed, Unread, Who
from gnrs_ppl.reading.vocabulary import ENOUGH, STOP, near
from gnrs_ppl.reading.words import DERIVED
from gnrs_ppl.rule.types import NEGATIVE, Force, Template

LIKELY = 0.5
"""A relation at least this probable is a statement."""
SURELY = 0.8
"""A mention that is more probably nothing than this is hardly anything."""
WELL_MATCHED = 0.7
"""Score from which an act may not be passed over."""
LEAST_LIKELY = 0.2
"""Least share of the likeliest relation of an act that is asked for, one way or another."""
SAYS_SOMETHING = 0.65
"""Where no relation is likely by itself, but that there is none is less probable than this, the likeliest is
the statement."""
LIKELY_NOTHING = 0.7
"""A mention that is less probably nothing than this is what a construction says, where no relation speaks of it."""
WORTH_LISTING = 0.08
"""Other ways to read a target are listed from this share on."""
MOST_WAYS = 4
WITH_ANOTHER = ("or", "exception")
_NOTHING = ("none", *WITH_ANOTHER)
_NO_STATEMENT = (*WITH_ANOTHER, "exclusive_choice")
_TEMPLATES: dict[str, Template] = {"existence_n": "existence", "at_most": "absence", "choice": "existence"}
_COMES_FIRST = ("precedence", "chain_precedence")
"""Labels whose target is asked of whoever the clause of that target names."""
_SURE_OF = ("precedence", "chain_precedence", "succession", "coexistence", "not_precedence", "exception")
"""Relations of which a model that is sure needs no words on what is lacking."""
_TAKES_UP = ("it", "one", "them")
"""Stands for what was mentioned before."""
_BEFORE_THINGS = frozenset(
    ("a", "an", "the", "any", "each", "every", "this", "that", "such", "its", "same", "one")
)
"""Before what is named and not done."""


class Relation(NamedTuple):
    """One act, or two, and what the first is: the target, and the other the act that opens it."""

    label: str
    target: str
    other: str | None


class Likely(NamedTuple):
    """How probable a relation is over all mentions of its acts, and the mentions that show it best."""

    probability: float
    target: int
    other: int | None


class Statements:
    """One text: its mentions, the relations between them, and the statements these make."""

    def __init__(self, text: Constructions, weights: Weights | None = None) -> None:
        self.text, self.marked = text, Marked(text)
        self.options = options(self.marked, weights or frozen())
        self._relate_what_is_barred()
        self._part_coordinated()
        self.relations = self._relations()
        self._alternative = {r.target for r in self.relations if r.label == "or"}

    def read(self) -> Readings:
        """Every statement, what is background, and what was not read."""
        constructed = self.text.said
        statements = [self._statement(r) for relation in self._chosen() for r in self._checkable(relation)]
        believed = [s for s in constructed.statements if self._is_believed(s.best, statements)]
        statements = _timed_once([self._with_doers(s) for s in (*statements, *believed)])
        statements.sort(key=lambda s: (s.best.targets[0].span.start, s.span.start))
        missed = [] if statements else [act for _, act in constructed.missed]
        used = [span for statement in statements for span in statement.best.used]
        used += [*constructed.background, *(act.span for act in missed)]
        unread = (
            Unread(Span(t.start, t.end))
            for t in self.text.tokens
            if t.text[0].isalpha()
            and t.text not in STOP
            and not functional(t.text)
            and all(not s.start <= t.start < s.end for s in used)
        )
        differ = _constraints(constructed.statements) != _constraints(statements)
        return Readings(
            self.text.sentence,
            tuple(statements),
            tuple(constructed.background),
            (*missed, *unread),
            "" if statements else "no_such_act" if constructed.missed else "no_duty",
            tuple(constructed.statements) if differ else (),
        )

    # where mentions stand

    def _sentence(self, k: int) -> Sentence:
        return self._sentences[k]

    @cached_property
    def _sentences(self) -> list[Sentence]:
        """Of each mention."""
        every = self.text.said.sentences
        places = (self.text.tokens[m.at].start for m in self.marked.mentions)
        return [next((s for s in every if s.start <= at < s.end), every[-1]) for at in places]

    def _clause(self, k: int) -> Clause:
        return self._clauses[k]

    @cached_property
    def _clauses(self) -> list[Clause]:
        """Of each mention."""
        return [
            clause[0] if clause else Clause("main", sentence.start, sentence.end, sentence.start)
            for clause, sentence in zip(self.marked.clauses, self._sentences, strict=True)
        ]

    def _starts(self, k: int) -> int:
        """Where a mention stands in the text."""
        return self.text.tokens[self.marked.mentions[k].at].start

    def _ends(self, k: int) -> int:
        """Where the words of a mention end; the verb's where that stands further off ("a fine that is sent")."""
        best, last = self.marked.mentions[k].best, self.marked.spans[k][1]
        verb = max((i for i in best.used if i not in self.text.things), default=last)
        thing = not best.by_verb or best.at in self.text.things
        return self.text.tokens[max(verb, last) if thing else last].end

    def _matches_well(self, k: int) -> bool:
        """Whether words match an act well enough to be read; its noun is as good as its verb."""
        best = self.marked.mentions[k].best
        return _is_read(best) and (best.head or best.score >= WELL_MATCHED)

    def _mentioned_in(self, sentence: Sentence) -> Sequence[int]:
        """The best mention of each act that a sentence names well, in their order, less those within the words of
        one that matches better, and less things ("an item of an order") where two acts are left.
        """
        best = {k: m.best for k, m in enumerate(self.marked.mentions)}
        inside = [
            k for k in best if sentence.start <= self._starts(k) < sentence.end and self._matches_well(k)
        ]
        inside = [
            k
            for k in inside
            if not any(
                self.marked.acts[j] != self.marked.acts[k]
                and best[k].at in best[j].used
                and best[j].score > best[k].score
                and self._clause(j) == self._clause(k)
                for j in inside
            )
        ]
        done = [
            k
            for k in inside
            if best[k].at not in self.text.things
            or not best[k].at
            or self.text.tokens[best[k].at - 1].text not in _BEFORE_THINGS
            or (
                best[k].score >= WELL_MATCHED
                and (len(best[k].used) == 1 or not self.text.things.issuperset(best[k].used))
            )
        ]
        inside = done if len({self.marked.acts[k] for k in done}) >= 2 else inside
        ranked = sorted(inside, key=lambda k: (best[k].score, -k))
        return sorted({self.marked.acts[k]: k for k in ranked}.values(), key=lambda k: (self._ends(k), k))

    # what words say of options before the model's relations are summed

    def _relate_what_is_barred(self) -> None:
        """What is barred without another act comes after that: "a courier without such a task must not deliver"."""
        for k, due in self._barred_without().items():
            for again in (j for j, act in enumerate(self.marked.acts) if act == self.marked.acts[due]):
                self.options[again] = [Option("none", None, 1.0)]
            self.options[k] = [Option("none", None, 0.0), Option("precedence", due, 1.0)]

    def _barred_without(self) -> dict[int, int]:
        """Mentions of what must have been done for a thing not to be barred, each with the mention of that thing."""
        barred = dict[int, int]()
        for due, of in enumerate(self.marked.clauses):
            if of is None or of[0].kind != "main" or not of[1] or not self._matches_well(due):
                continue
            sentence = self._sentence(due)
            for lacks in patterns.LACKING.finditer(self.text.sentence, sentence.start, sentence.end):
                done = self._meant_by(lacks, due)
                if done is not None and not (self._surely_related(done) or self._surely_related(due)):
                    barred[done] = due
        return barred

    def _meant_by(self, lacks: re.Match[str], due: int) -> int | None:
        """The mention of another act that words on what is lacking name, or whose words they take up."""
        others = [
            k
            for k, mention in enumerate(self.marked.mentions)
            if self.marked.acts[k] != self.marked.acts[due] and mention.best.score >= ENOUGH
        ]
        tokens, what = self.text.tokens, lacks["what"].lower()
        if what in _TAKES_UP:
            meant = [k for k in others if self.marked.mentions[k].at < self.marked.mentions[due].at]
        else:
            meant = [
                k
                for k in others
                if any(
                    tokens[i].start == lacks.start("what") or near(what, tokens[i].text) >= DERIVED
                    for i in self.marked.mentions[k].best.used
                )
            ]
        return max(meant, key=lambda k: self.marked.mentions[k].best.score, default=None)

    def _surely_related(self, k: int) -> bool:
        """Whether the model relates a mention to another more probably than not, in an order or in none."""
        return any(
            k in (t, o.other) and o.label in _SURE_OF and o.probability >= LIKELY
            for t, of in enumerate(self.options)
            for o in of
        )

    def _part_coordinated(self) -> None:
        """Acts of two main clauses that bind by words of their own, with nothing said of order, are asked each for
        itself: "the square must be patrolled, and the members must speak with residents".
        """
        for sentence in self.text.said.sentences:
            if patterns.THEN.search(sentence.text) or patterns.ORDERED.search(sentence.text):
                continue
            inside = [(k, of) for k in self._mentioned_in(sentence) if (of := self.marked.clauses[k])]
            for k, (clause, *_) in inside:
                self._part_from(k, {j for j, of in inside if self._each_binds(clause, of[0])})

    def _each_binds(self, one: Clause, other: Clause) -> bool:
        """Whether two clauses are main ones that each bind by a modal of their own, and forbid nothing."""
        words = [self.text.sentence[c.start : c.end] for c in (one, other)]
        return (
            {one.kind, other.kind} == {"main"}
            and one.number != other.number
            and all(patterns.DUTY.search(w) and not how_bound(w).negative for w in words)
        )

    def _part_from(self, k: int, others: set[int]) -> None:
        """Take an order among acts away from what a mention may be: it is asked of every case then."""
        alone = [o for o in self.options[k] if o.other not in others]
        taken = 1.0 - sum(o.probability for o in alone)
        if not others or not taken:
            return
        if not any(o.label == "existence" for o in alone):
            alone.append(Option("existence", None, 0.0))
        self.options[k] = [
            o._replace(probability=o.probability + taken) if o.label == "existence" else o for o in alone
        ]

    # relations

    def _relations(self) -> dict[Relation, Likely]:
        """Every relation of two acts, or of one, with its probability: that some mention of the target says so."""
        acts, sums = self.marked.acts, dict[Relation, Likely]()
        for t, of_mention in enumerate(self.options):
            for label, a, probability in of_mention:
                if label == "none":
                    continue
                target, other = (a, t) if label in SYMMETRIC and a is not None and t < a else (t, a)
                relation = Relation(label, acts[target], acts[other] if other is not None else None)
                if label in SYMMETRIC:
                    turned = Relation(label, relation.other or "", relation.target)
                    relation = turned if turned in sums else relation
                before = sums.get(relation)
                share = 1 - (1 - probability) * (1 - (before.probability if before else 0.0))
                sums[relation] = (
                    Likely(share, target, other)
                    if before is None or probability > before.probability
                    else before._replace(probability=share)
                )
        return sums

    def _chosen(self) -> list[Relation]:
        """The relations that make statements: the likeliest of each act that is more probably asked for than
        not.
        """
        ranked = sorted(
            (r for r in self.relations if r.label not in WITH_ANOTHER),
            key=lambda r: -self.relations[r].probability,
        )
        nothing = dict.fromkeys(self.marked.acts, 1.0)
        for act, of_mention in zip(self.marked.acts, self.options, strict=True):
            nothing[act] *= sum(o.probability for o in of_mention if o.label in _NOTHING)
        chosen = list[Relation]()
        for r in ranked:
            likely = self.relations[r].probability
            if likely < LEAST_LIKELY:
                break
            symmetric = {x.other for x in chosen if x.label in SYMMETRIC}
            taken = {x.target for x in chosen} | symmetric
            same = [x for x in chosen if {x.target, x.other} == {r.target, r.other}]
            if any({x.label, r.label} & set(SYMMETRIC) for x in same):
                continue  # both in any order says what each says of the pair
            if likely >= LIKELY or (r.target not in taken and nothing[r.target] < LIKELY):
                chosen.append(r)
        alternatives = {(k, r) for r in chosen for k in self._mentions_with("or", r)}
        chosen = [
            r
            for r in chosen
            if not any(
                self.marked.acts[k] == r.target and (r.label, r.other) == (x.label, x.other)
                for k, x in alternatives
            )
        ]
        if chosen or any(map(self._accounts_for_all, (s.best for s in self.text.said.statements))):
            return chosen  # what a construction says of the whole is believed before what is hardly likely
        return ranked[:1] if 1 - math.prod(nothing.values()) > 1 - SAYS_SOMETHING else []

    def _mentions_with(self, label: str, relation: Relation) -> list[int]:
        """Mentions that are alternatives to the target of a relation, or excuse its duty, more probably than not.

        What excuses what opens must stand in one sentence with what is asked: "must be paid, unless it was
        appealed. A fine that was paid must not …".
        """
        if label == "or":
            return self._alternatives(relation)
        asked = self._sentence(self.relations[relation].target)
        return sorted(
            likely.target
            for r, likely in self.relations.items()
            if r.label == label
            and (
                r.other == relation.target
                or (r.other == relation.other and self._sentence(likely.target) is asked)
            )
            and likely.probability >= LIKELY
            and r.target not in (relation.target, relation.other)
        )

    def _alternatives(self, relation: Relation) -> list[int]:
        first = self.relations[relation].target
        ways = dict[str, int]()

        def share(act: str, *more: Relation) -> tuple[float, int]:
            either = [Relation("or", act, other) for other in (relation.target, *ways)]
            known = [self.relations[r] for r in (*either, *more) if r in self.relations]
            return sum(x.probability for x in known), known[0].target if known else -1

        others = [a for a in dict.fromkeys(self.marked.acts) if a not in (relation.target, relation.other)]
        for act in others:
            if act in self._alternative:
                probability, k = share(act)
                if probability >= LIKELY:
                    ways[act] = k
        for act in others if ways else ():
            probability, k = share(act, relation._replace(target=act))
            if act not in ways and probability >= LIKELY and first < k < max(ways.values(), default=-1):
                ways[act] = k
        return sorted(ways.values())

    # constructions that are believed beside relations

    def _is_believed(self, reading: Reading, statements: Sequence[Statement]) -> bool:
        """Whether a construction is a statement beside those of relations: it speaks of an act that is no mention, or
        of acts that no statement names and that are not likely nothing.
        """
        if not statements:
            return self._accounts_for_all(reading)
        named = {name: act for s in statements for name, act in acts_of(s.best).items()}
        unmarked = {a.activity for a in (*reading.targets, reading.activation) if a}
        if not unmarked & set(self.marked.acts):
            spans = [act.span for act in named.values()]
            return not any(
                s.start <= a.span.start < s.end or a.span.start <= s.start < a.span.end
                for s in spans
                for a in reading.targets
            )
        return not named.keys() & acts_of(reading).keys() and self._passed_over(reading, named)

    def _passed_over(self, reading: Reading, named: Mapping[str, ActRead]) -> bool:
        """Whether a construction speaks, in a main clause that binds by its words, of acts that are not likely
        nothing, or are all that a clause names which would else ask nothing.
        """
        mine = [k for k, act in enumerate(self.marked.acts) if act in acts_of(reading)]
        clauses = {k: self.marked.clauses[k] for k in mine}
        bound = {k: c[0] for k, c in clauses.items() if c and c[0].kind == "main" and (c[1] or c[3])}
        return any(
            o.label == "none" and o.probability < LIKELY_NOTHING for k in bound for o in self.options[k]
        ) or any(
            reading.force != "may"
            and self.marked.mentions[k].best.score >= WELL_MATCHED
            and not any(clause.start <= act.span.start < clause.end for act in named.values())
            for k, clause in bound.items()
        )

    def _accounts_for_all(self, reading: Reading) -> bool:
        """Whether the constructions leave no act out that is named well; where no relation is likely, they
        are believed then.
        """
        best = [s.best for s in self.text.said.statements]
        acts = [a for r in best for a in (*r.targets, r.activation, r.exception) if a is not None]
        well = {m.activity for m in self.marked.mentions if m.best.score >= WELL_MATCHED}
        nothing = {
            m.activity
            for m, of in zip(self.marked.mentions, self.options, strict=True)
            if of[0].probability > SURELY
        }
        binds = patterns.DUTY.search(self.text.sentence) or patterns.NEGATIVE.search(self.text.sentence)
        if reading.force != "may" and not binds and {a.activity for a in reading.targets} & nothing:
            return False
        return well <= {a.activity for a in acts} and all(
            a.score >= WELL_MATCHED for a in (*reading.targets, reading.activation) if a
        )

    # statements

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
            if r != relation
            and r.label not in _NO_STATEMENT
            and r.target == relation.target
            and WORTH_LISTING <= self.relations[r].probability < LIKELY
        ]
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
        target, other = self.relations[relation].target, self.relations[relation].other
        other = None if relation.label == "at_most" else other
        clause, sentence = self._clause(target), self._sentence(target)
        main = (
            clause
            if clause.kind == "main"
            else next((c for c in sentence.parts if c.kind == "main" and c.number == clause.number), clause)
        )
        opening = self._clause(other) if other is not None else None
        subordinate = [c for c in (opening, clause) if c is not None and c.kind != "main"]
        frame = sentence.frame(main)
        bearers = sentence.subject(clause) if clause != main and relation.label in _COMES_FIRST else ()
        bearers = bearers or sentence.subject(main) or sentence.subject(clause)
        activation = self._act(other) if other is not None else None
        targets = [self._act(k) for k in (target, *dict.fromkeys(self._mentions_with("or", relation)))]
        if relation.label == "choice" and activation:
            targets, activation = [activation, *targets], None
        excused = [self._act(k) for k in self._mentions_with("exception", relation)[:1]]
        time = self._time(sentence, main, subordinate, opening)
        force: Force = (
            "must" if frame.bound.force == "may" and relation.label != "existence" else frame.bound.force
        )
        acts = [*targets, *([activation] if activation else ()), *excused]
        another = patterns.ELSE.search(self.text.sentence, sentence.start, sentence.end)
        read = [c for c in sentence.parts if any(c.opened <= a.span.start < c.end for a in acts)]
        condition = sentence.condition(main, [*read, *(c for c in sentence.parts if self._names_an_act(c))])
        reading = Reading(
            1.0,
            force,
            _TEMPLATES.get(relation.label, relation.label),  # type: ignore[arg-type]
            tuple(targets),
            "act" if activation else "case_end" if relation.label == "end" else "case_start",
            activation,
            "any" if len(targets) > 1 else "all",
            exception=next(iter(excused), None),
            count=self._count(relation.label, sentence),
            time=time,
            bearers=bearers,
            who=self._who(frame.whole, relation.label, target, other),
            condition=condition,
            one_subject=bool(
                opening
                and opening.kind != "main"
                and patterns.GERUND.match(self.text.sentence, opening.start)
                and not undergone(frame.whole)
            ),
            used=(
                *spans_of(acts),
                *(Span(*c.mark) for c in subordinate),
                *time_and_people(time, bearers),
                *([condition] if condition else []),
                *([Span(*another.span())] if another else ()),
            ),
            why=f"the words around {'the two acts' if relation.other else 'the act'}",
        )
        return self._as_constructed(relation, reading)

    def _names_an_act(self, clause: Clause) -> bool:
        """Whether a clause names an act well enough to be read."""
        return any(
            clause.opened <= self._starts(k) < clause.end and _is_read(mention.best)
            for k, mention in enumerate(self.marked.mentions)
        )

    def _who(self, text: str, label: str, target: int, other: int | None) -> Who | None:
        """Who acts; what is done "in person" compares nobody with anybody, and a ban on "the one who", or on whoever did
        the other act, is one on the same person.
        """
        words = text if patterns.WHOEVER.search(text) else patterns.IN_PERSON.sub(" ", text)
        bars = label in NEGATIVE and other is not None
        if bars and (patterns.NOT_THE_ONE.search(words) or self._barred_who_did(target, other)):
            return "same_person"
        return who_acts(words)

    def _barred_who_did(self, target: int, other: int | None) -> bool:
        """Whether a ban on one act is one on whoever did the other, where both are what somebody does: "whoever
        checked it must not decide afterwards".
        """
        if other is None or self._sentence(target) is not self._sentence(other):
            return False
        first, second = sorted((target, other), key=self._starts)
        by_verb = all(self.marked.mentions[k].best.by_verb for k in (first, second))
        end = self._ends(first)
        does = patterns.DOES.search(self.text.sentence, self._sentence(first).start, end)
        words = self.text.sentence[end : self._ends(second)]
        barred = patterns.MODAL_VERB.search(words) and not re.search(r"[;:]", words)
        return bool(does and barred and by_verb and not undergone(words))

    def _with_doers(self, statement: Statement) -> Statement:
        """What must come first with whoever is asked to do it elsewhere, where others are bound by the ban: "the
        manager must publish a task, and no courier may deliver without one".
        """

        def with_doers(reading: Reading) -> Reading:
            if reading.template not in _COMES_FIRST or not reading.bearers:
                return reading
            return replace(
                reading, targets=tuple(replace(a, role=self._asked_to(a) or a.role) for a in reading.targets)
            )

        return replace(statement, readings=tuple(map(with_doers, statement.readings)))

    def _asked_to(self, act: ActRead) -> Named | None:
        """The one role of which an act is asked in a main clause that names it in the active, or with "by"."""
        roles = list[Named]()
        for k, name in enumerate(self.marked.acts):
            clause, begins = self._clause(k), self._starts(k)
            if name != act.activity or clause.kind != "main" or not self._matches_well(k):
                continue
            subject = self._sentence(k).subject(clause)
            roles += [
                n
                for n in subject
                if clause.start <= n.span.start < clause.end
                and len(subject) == 1
                and (
                    not patterns.UNDERGONE.search(self.text.sentence, n.span.end, begins)
                    if n.span.start < begins
                    else patterns.BY.search(self.text.sentence[clause.start : n.span.start])
                )
            ]
        return roles[0] if len({n.name for n in roles}) == 1 else None

    def _as_constructed(self, relation: Relation, reading: Reading) -> Reading:
        """What a construction says of the same relation, which knows more of its parts; else the reading as
        it is.
        """
        targets = [a.activity for a in reading.targets]
        opener = reading.activation.activity if reading.activation else None
        for constructed in (s.best for s in self.text.said.statements):
            same = label_of(constructed) == relation.label and targets == [
                a.activity for a in constructed.targets
            ]
            if same and opener == (constructed.activation.activity if constructed.activation else None):
                used = (span for span in constructed.used if span != constructed.condition)
                return replace(
                    constructed,
                    exception=constructed.exception or reading.exception,
                    meanwhile=reading.meanwhile,
                    joint=reading.joint,
                    who=reading.who,
                    time=constructed.time or reading.time,
                    condition=reading.condition,
                    used=tuple(dict.fromkeys((*used, *reading.used))),
                )
        return reading

    def _act(self, k: int) -> ActRead:
        """A mention as an act with its role, object and place."""
        best, tokens = self.marked.mentions[k].best, self.text.tokens
        first, last = self.marked.spans[k]
        span = Span(tokens[first].start, tokens[last].end)
        sentence, clause = self._sentence(k), self._clause(k)
        thing, place = (sentence.named_near(kind, clause, span) for kind in ("objects", "locations"))
        role = next(iter(sentence.subject(clause)), None)
        return ActRead(best.activity, span, min(1.0, round(best.score, 3)), role, thing, place)

    def _time(
        self, sentence: Sentence, main: Clause, subordinate: Sequence[Clause], opening: Clause | None
    ) -> Timed | None:
        """The time stated where the target is mentioned, or in the words that open it."""
        for clause in [*subordinate, main]:
            if time := sentence.time(clause, main):
                return time
        if opening and (time := sentence.time(None, opening)):
            return time
        others = [c for c in sentence.belonging(main) if c.kind == "after" and c.number == main.number]
        within = (sentence.time(None, c._replace(start=c.opened, end=c.start)) for c in others)
        return next(filter(None, within), None)

    def _count(self, label: str, sentence: Sentence) -> int:
        """How often, for labels that state it."""
        if label not in ("existence_n", "at_most", "exactly"):
            return 1
        count, nth = count_of(sentence.text), patterns.NTH_TIME.search(sentence.text)
        n = 1
        if count:
            n = count.times + (label == "existence_n" and count.above)
        elif nth and label == "at_most":
            n = patterns.NTH.index(nth[1].lower()) + 1
        return n + 1 if label == "at_most" else max(n, 2) if label == "existence_n" else n


def _is_read(match: ActMatch) -> bool:
    """Whether words match an act closely enough to be read as it."""
    return match.score >= (ENOUGH * DERIVED if match.exact and match.by_verb else ENOUGH)


def acts_of(reading: Reading) -> dict[str, ActRead]:
    """The acts of a reading by their names."""
    acts = (*reading.targets, reading.activation, reading.after, reading.exception)
    return {a.activity: a for act in acts if act is not None for a in act.each}


def _timed_once(statements: Sequence[Statement]) -> list[Statement]:
    """Statements without the time that runs only from their act to another's: "delivers, and checks out within ten
    minutes of that".
    """
    from_acts = {
        (s.best.activation.activity, s.best.time.span)
        for s in statements
        if s.best.activation is not None and s.best.time is not None
    }

    def without(reading: Reading) -> Reading:
        mine = {(a.activity, reading.time.span) for a in reading.targets} if reading.time else set()
        return replace(reading, time=None) if reading.activation is None and mine & from_acts else reading

    return [replace(s, readings=tuple(map(without, s.readings))) for s in statements]


def _constraints(statements: Sequence[Statement]) -> set[tuple[str, tuple[str, ...]]]:
    return {(s.best.template, s.best.activities) for s in statements}
