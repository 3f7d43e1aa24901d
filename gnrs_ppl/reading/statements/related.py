"""Which relations of its acts a text states, and which of its constructions are believed beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.constructions import Constructions, Sentence
from gnrs_ppl.reading.disapproval import DISAPPROVES
from gnrs_ppl.reading.quantities import durations
from gnrs_ppl.reading.relations import SYMMETRIC, Weights
from gnrs_ppl.reading.statements.mentioned import LIKELY, SURELY, WELL_TOLD
from gnrs_ppl.reading.statements.settled import Settled
from gnrs_ppl.reading.types import ActRead, Reading
from gnrs_ppl.reading.wording import AsWritten

LEAST_LIKELY = 0.2
"""Least share of the likeliest relation of an act that is asked for, one way or another."""
SAYS_SOMETHING = 0.65
"""Where no relation is likely by itself, but that there is none is less probable than this, the likeliest is
the statement."""
LIKELY_NOTHING = 0.7
"""A mention that is less probably nothing than this is what a construction says, where no relation speaks of it."""
_IN_EITHER_ORDER = {
    "response": "responded_existence",
    "precedence": "responded_existence",
    "not_response": "not_coexistence",
    "not_precedence": "not_coexistence",
}
"""What a relation is where the acts may come in either order."""
_VICE_VERSA = dict.fromkeys(("response", "precedence", "responded_existence"), "coexistence") | {
    "not_response": "not_coexistence",
    "not_precedence": "not_coexistence",
}
"""What it is where it is said to hold the other way round too."""
_NEXT = {
    "response": "chain_response",
    "precedence": "chain_precedence",
    "responded_existence": "chain_response",
    "not_chain_response": "chain_response",
}
_RIGHT_BEHIND = {label: meant for label, meant in _NEXT.items() if label != "not_chain_response"}
"""What it is where nothing may lie between the acts."""
_BEFORE_NEXT = dict.fromkeys(("response", "precedence", "responded_existence"), "alternate_response")
"""What it is where each act has one of its own before the next such act."""
_SINCE_LAST = dict.fromkeys(("response", "precedence", "responded_existence"), "alternate_precedence")
"""What it is where each act has one of its own since the last such act."""
_ASKED = {"not_response": "response", "not_precedence": "precedence"}
"""What a ban is where the clause of its target says nothing negative."""
_DENIED = {"response": "not_response", "chain_response": "not_chain_response"}
"""What a demand is where a clause that binds denies its target right before it."""
_EACH_TIME = ((patterns.BEFORE_NEXT, _BEFORE_NEXT), (patterns.SINCE_LAST, _SINCE_LAST))
_ONLY = AsWritten(r"\b(?:only|unless|except|without|until)\b")
BESIDE = ("or", "exception")
_NOTHING = ("none", *BESIDE)
_FIRST = ("before", "until", "unless", "without", "provided", "only_after")
"""Clauses of what must come first for a thing not to be barred."""


class Relation(NamedTuple):
    """One act, or two, and what the first is: the target, and the other the act that opens it."""

    label: str
    target: str
    other: str | None


class Likely(NamedTuple):
    """How probable a relation is over all mentions of its acts, and the mentions that tell it best."""

    probability: float
    target: int
    other: int | None


class Related(Settled):
    """A text and the relations its mentions tell, each with its probability."""

    def __init__(self, text: Constructions, weights: Weights) -> None:
        super().__init__(text, weights)
        self.relations = self._relations()
        self._ways = {r.target for r in self.relations if r.label == "or"}

    def _relations(self) -> dict[Relation, Likely]:
        """Every relation of two acts, or of one, with its probability: that some mention of the target says
        so.
        """
        acts, found = self.marked.acts, dict[Relation, Likely]()
        spans = dict.fromkeys(self.marked.sentences)
        of_sentence = {span: (self._earliest(*span), self._meant(*span)) for span in spans}
        for t, (of_mention, span) in enumerate(zip(self.options, self.marked.sentences, strict=True)):
            earliest, meant = of_sentence[span]
            asked = not earliest and (self._denied_elsewhere(t) or self._only_left_undone(t))
            likeliest = max((o.probability for o in of_mention if o.label != "none"), default=0.0)
            for label, a, probability in of_mention:
                if label == "none":
                    continue
                target, other = t, a
                if label in SYMMETRIC and a is not None and t < a and t not in self.apart:
                    target, other = a, t
                if earliest and a is not None and label in ("response", "precedence"):
                    # "at the earliest ten days after": what follows sooner is banned, whether or not it is due
                    target, other = (t, a) if label == "response" else (a, t)
                    label = "not_response"
                if label in _DENIED and a is not None and self._forbids(t) and not self.marked.denied(a):
                    label = _DENIED[label]
                if label == "absence" and self._once_more(t):
                    label = "at_most"
                if label == "absence" and probability == likeliest and self._asks_plainly(t):
                    label = "existence"
                if a is not None and meant:
                    label = meant.get(label, label)
                elif label in _ASKED and (
                    asked or (not earliest and self._constructed_as_asked(label, t, a))
                ):
                    label = _ASKED[label]
                if label == "response" and other is not None and self._comes_later(other, target):
                    label = "precedence"
                relation = Relation(label, acts[target], acts[other] if other is not None else None)
                if label in SYMMETRIC:
                    turned = Relation(label, relation.other or "", relation.target)
                    relation = turned if turned in found else relation
                before = found.get(relation)
                share = 1 - (1 - probability) * (1 - (before.probability if before else 0.0))
                best = (
                    Likely(share, target, other)
                    if before is None or probability > before.probability
                    else before._replace(probability=share)
                )
                found[relation] = best
        return found

    def _comes_later(self, k: int, than: int) -> bool:
        """Whether a sentence begins with what another act is asked for before: "before check-out there has to be …"."""
        clause = self._clause(k)
        return (
            clause == self._clause(than)
            and clause.opener == "before"
            and not self.text.sentence[clause.start : self._starts(k)].strip()
        )

    def _earliest(self, start: int, stop: int) -> bool:
        """Whether a sentence names a time that must go by first."""
        told = self.text.sentence[self.text.tokens[start].start : self.text.tokens[stop - 1].end]
        return bool(patterns.AT_EARLIEST.search(told) and durations(told))

    def _asks_plainly(self, k: int) -> bool:
        """Whether a sentence binds by words for a duty, and has none that bars, limits or leaves free: no ban."""
        words = self._sentence(k).text
        bars = (patterns.NEGATIVE, DISAPPROVES, patterns.PERMISSION, patterns.EARLIEST, _ONLY)
        return bool(patterns.DUTY.search(words)) and not any(p.search(words) for p in bars)

    def _denied_elsewhere(self, k: int) -> bool:
        """Whether nothing negative is said of a mention: by another main clause of the sentence only ("we never ship
        unpaid goods, and a reminder goes out"), or by none of its words.
        """
        sentence, number = self._sentence(k), self._clause(k).number
        inside = [
            (c, bound) for c, bound in self.text.bound_clauses if sentence.start <= c.start < sentence.end
        ]
        mine = any(bound.negative for c, bound in inside if c.number == number)
        elsewhere = any(bound.negative for c, bound in inside if c.kind == "main")
        return not mine and elsewhere

    def _forbids(self, k: int) -> bool:
        """Whether the main clause of a mention forbids it in so many words, and for good: "may not go to collection"."""
        of = self.marked.clauses[k]
        return bool(
            of
            and of[0].kind == "main"
            and of[1]
            and not any(c.kind in _FIRST for c in self._sentence(k).belonging(of[0]))
            and patterns.FORBIDS.search(self.text.sentence[of[0].start : self._starts(k)])
        )

    def _only_left_undone(self, k: int) -> bool:
        """Whether nothing is negative in a sentence but one word for what was not done: "an unpaid fine"."""
        words = self._sentence(k).text
        undone = any(
            self._undone(j) for j in range(len(self.options)) if self._sentence(j) is self._sentence(k)
        )
        return undone and not any(
            p.search(words) for p in (patterns.NEGATIVE, DISAPPROVES, patterns.EARLIEST)
        )

    def _constructed_as_asked(self, label: str, k: int, other: int | None) -> bool:
        """Whether a construction asks within a time for what is taken for a ban, or words say by when it is due, and nothing in
        the sentence is negative.
        """
        if not durations(self._sentence(k).text):
            return False
        asked = any(
            s.best.template == _ASKED[label]
            and s.best.activation is not None
            and other is not None
            and s.best.activation.activity == self.marked.acts[other]
            and [a.activity for a in s.best.targets] == [self.marked.acts[k]]
            for s in self.text.said.statements
        )
        if not (asked or patterns.AT_LATEST.search(self._sentence(k).text)):
            return False
        words = patterns.NOT_NEGATIVE.sub(" ", self._sentence(k).text)
        bans = any(p.search(words) for p in (patterns.NEGATIVE, DISAPPROVES, patterns.EARLIEST))
        return bool(durations(words)) and not bans

    def _meant(self, start: int, stop: int) -> Mapping[str, str]:
        """What relations are in a sentence that says that its acts may come in either order, that the one asks for
        the other and the other way round, that each has one of its own, or that they come right behind each other.
        """
        told = self.text.sentence[self.text.tokens[start].start : self._until(self.text.tokens[stop - 1].end)]
        if patterns.AND_VICE_VERSA.search(told):
            return _VICE_VERSA
        if patterns.BE_THE_ONE.search(told):
            return {"not_coexistence": "response"}
        for words, meant in _EACH_TIME:
            if words.search(told):
                return meant
        if beside := patterns.NEXT.search(told):
            return _NEXT if beside[0].lower().startswith("no") else _RIGHT_BEHIND
        return _IN_EITHER_ORDER if patterns.EITHER_ORDER.search(told) and not durations(told) else {}

    def _until(self, end: int) -> int:
        """Where a sentence ends with those behind it that tell no act well and only say in which order acts come."""
        return next((sentence.end for sentence in self._of_order if sentence.start >= end - 1), end)

    @cached_property
    def _of_order(self) -> list[Sentence]:
        """The sentences that tell no act well and say in which order acts come."""
        orders = patterns.EITHER_ORDER, patterns.NEXT
        return [
            sentence
            for sentence in self.text.said.sentences
            if any(p.search(sentence.text) for p in orders) and not self._told_in(sentence)
        ]

    def _once_more(self, k: int) -> bool:
        """Whether a mention is of one time too many: "a second scan", "send no third letter"."""
        used = {
            self.text.tokens[i].start
            for i in (self.marked.spans[k][0], *self.marked.mentions[k].told[0].used)
        }
        times = patterns.NTH_TIME.finditer(self.text.sentence, 0, max(used))
        return any(m.end() + 1 in used for m in times)

    def _chosen(self) -> list[Relation]:
        """The relations that make statements: the likeliest of each act that is more probably asked for than
        not.
        """
        ranked = sorted(
            (r for r in self.relations if r.label not in BESIDE),
            key=lambda r: -self.relations[r].probability,
        )
        nothing = dict.fromkeys(self.marked.acts, 1.0)
        for act, of_mention in zip(self.marked.acts, self.options, strict=True):
            nothing[act] *= sum(o.probability for o in of_mention if o.label in _NOTHING)
        found = list[Relation]()
        for r in ranked:
            likely = self.relations[r].probability
            if likely < LEAST_LIKELY:
                break
            symmetric = {x.other for x in found if x.label in SYMMETRIC}
            taken = {x.target for x in found} | symmetric
            same = [x for x in found if {x.target, x.other} == {r.target, r.other}]
            if any({x.label, r.label} & set(SYMMETRIC) for x in same):
                continue  # both in any order says what each says of the pair
            if likely >= LIKELY or (r.target not in taken and nothing[r.target] < LIKELY):
                found.append(r)
        alternatives = {(k, r) for r in found for k in self._beside("or", r)}
        found = [
            r
            for r in found
            if not any(
                self.marked.acts[k] == r.target and (r.label, r.other) == (x.label, x.other)
                for k, x in alternatives
            )
        ]
        speaks = 1 - math.prod(nothing.values())
        if found or any(map(self._accounts_for_all, (s.best for s in self.text.said.statements))):
            return found  # what a construction says of the whole is believed before what is hardly likely
        return ranked[:1] if speaks > 1 - SAYS_SOMETHING else []

    def _beside(self, label: str, relation: Relation) -> list[int]:
        """Mentions that are something to the acts of a relation, more probably than not; of a list of ways to
        meet a duty also those within. What is something to the act that opens only stands in one sentence with what
        is asked: "must be paid, unless it was appealed. A fine that was paid must not …".
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
        found = dict[str, int]()

        def share(act: str, *more: Relation) -> tuple[float, int]:
            ways = [Relation("or", act, other) for other in (relation.target, *found)]
            known = [self.relations[r] for r in (*ways, *more) if r in self.relations]
            return sum(x.probability for x in known), known[0].target if known else -1

        others = [a for a in dict.fromkeys(self.marked.acts) if a not in (relation.target, relation.other)]
        for act in others:
            if act in self._ways:
                probability, k = share(act)
                if probability >= LIKELY:
                    found[act] = k
        if not found:
            return []
        for act in others:
            probability, k = share(act, relation._replace(target=act))
            if act not in found and probability >= LIKELY and first < k < max(found.values(), default=-1):
                found[act] = k
        return sorted(found.values())

    def _unmarked(self, reading: Reading) -> bool:
        """Whether a construction speaks of an act that is no mention, such as any doing on a thing: then it
        is believed.
        """
        named = {
            *(a.activity for a in reading.targets),
            *([reading.activation.activity] if reading.activation else []),
        }
        return not named & set(self.marked.acts)

    def _passed_over(self, reading: Reading, told: Mapping[str, ActRead]) -> bool:
        """Whether a construction speaks, in a main clause that binds by its words, of acts that no statement
        tells and that are not likely nothing, or are all that a clause tells which would else ask nothing.
        """
        if told.keys() & acts_of(reading).keys():
            return False
        mine = [k for k, act in enumerate(self.marked.acts) if act in acts_of(reading)]
        clauses = {k: self.marked.clauses[k] for k in mine}
        bound = {k: c[0] for k, c in clauses.items() if c and c[0].kind == "main" and (c[1] or c[3])}
        return any(
            o.label == "none" and o.probability < LIKELY_NOTHING for k in bound for o in self.options[k]
        ) or any(
            reading.force != "may"
            and self.marked.mentions[k].told[0].score >= WELL_TOLD
            and not any(clause.start <= act.span.start < clause.end for act in told.values())
            for k, clause in bound.items()
        )

    def _accounts_for_all(self, reading: Reading) -> bool:
        """Whether the constructions leave no act out that is told well; where no relation is likely, they
        are believed then.
        """
        best = [s.best for s in self.text.said.statements]
        acts = [a for r in best for a in (*r.targets, r.activation, r.exception) if a is not None]
        told = {m.activity for m in self.marked.mentions if m.told[0].score >= WELL_TOLD}
        nothing = {
            m.activity
            for m, of in zip(self.marked.mentions, self.options, strict=True)
            if of[0].probability > SURELY
        }
        binds = patterns.DUTY.search(self.text.sentence) or patterns.NEGATIVE.search(self.text.sentence)
        if reading.force != "may" and not binds and {a.activity for a in reading.targets} & nothing:
            return False
        return told <= {a.activity for a in acts} and all(
            a.score >= WELL_TOLD for a in (*reading.targets, reading.activation) if a
        )


def acts_of(reading: Reading) -> dict[str, ActRead]:
    """The acts of a reading by their names."""
    acts = (*reading.targets, reading.activation, reading.after, reading.exception)
    return {a.activity: a for act in acts if act is not None for a in act.each}
