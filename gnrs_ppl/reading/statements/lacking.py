"""What a text says has not been done when something else is due, or barred."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.constructions import Constructions, Sentence
from gnrs_ppl.reading.quantities import durations
from gnrs_ppl.reading.relations import Option, Weights
from gnrs_ppl.reading.statements.banned import Banned
from gnrs_ppl.reading.statements.mentioned import LIKELY
from gnrs_ppl.reading.vocabulary import ENOUGH, near
from gnrs_ppl.reading.wording import Wording
from gnrs_ppl.reading.words import DERIVED

_SETTLED = ("precedence", "chain_precedence", "succession", "coexistence", "not_precedence", "exception")
"""Relations that a model sure of them need not be told."""
_ONLY = Wording(r"\b(?:only|solely|exclusively)\b")
_MUST = Wording(r"\b(?:must|shall|ha(?:s|ve) to|needs? to|is to|are to)\b")
_WAS_DONE = Wording(r"\b(?:was|were|has been|have been)\s+(?:\w+ly\s+)?[a-z]+(?:ed|en|id|nt|ld|wn|de)\b")
_TAKES_UP = ("it", "one", "them")
"""Stands for what was told before."""


class Lacking(Banned):
    """A text and what it says has not been done: ``lacking`` has its mentions by the mention of what is due then."""

    def __init__(self, text: Constructions, weights: Weights) -> None:
        super().__init__(text, weights)
        self.lacking = self._said_to_be_lacking()

    def _said_to_be_lacking(self) -> dict[int, int]:
        """Mentions of what has not been done when something else is due, by the mention of that: "if it has
        not been paid within 30 days, a reminder must be sent". What has been done excuses.
        """
        found = dict[int, int]()
        for k, of in enumerate(self.marked.clauses):
            if of is None or not self._told_well(k):
                continue
            clause, place = of[0], self._starts(k)
            whoever = patterns.LACKED.search(self.text.sentence[:place]) or self._undone(k)
            opens = (
                patterns.SUPPOSES
                if clause.first or clause.opener.startswith("only ")
                else patterns.SUPPOSITION
            )
            supposes = opens.match(clause.opener.removeprefix("only "))
            ordered = patterns.EARLIER.search(self.text.sentence, clause.start, clause.end)
            before = self.text.sentence[clause.start : place]
            not_done = patterns.NOT_DONE.search(before[max(0, before.rfind(" and ")) :])
            lacking = whoever or self._not_on_record(k) or not_done
            told = lacking if not clause.first else whoever or self._not_on_record(k)
            if not (whoever or supposes) or ordered or (self._surely_related(k) and not told):
                continue
            due = [
                j
                for j, other in enumerate(self.marked.clauses)
                if other is not None
                and other[0].kind == "main"
                and other[0].number == clause.number
                and self._sentence(j) is self._sentence(k)
                and self.marked.acts[j] != self.marked.acts[k]
                and j in self._told_in(self._sentence(j))
                and (not other[2] or self._only_allowed(j))
            ]
            if lacking and due:
                found[k] = max(due, key=lambda j: self.marked.mentions[j].told[0].score)
        return found

    def _barred_without(self) -> dict[int, int]:
        """Mentions of what must have been done, by others or before, for a thing not to be barred: "a courier without
        such a task must not deliver", "no delivery without it".
        """
        found = dict[int, int]()
        for due, of in enumerate(self.marked.clauses):
            if of is None or of[0].kind != "main" or not of[1] or not self._told_well(due):
                continue
            sentence = self._sentence(due)
            for lacks in patterns.LACKING.finditer(self.text.sentence, sentence.start, sentence.end):
                done = self._meant_by(lacks, due)
                if done is not None and not (self._surely_related(done) or self._surely_related(due)):
                    found[done] = due
        return found

    def _meant_by(self, lacks: re.Match[str], due: int) -> int | None:
        """The mention of another act that words on what is lacking tell, or whose words they take up."""
        others = [
            k
            for k, told in enumerate(self.marked.mentions)
            if self.marked.acts[k] != self.marked.acts[due] and told.told[0].score >= ENOUGH
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
                    for i in self.marked.mentions[k].told[0].used
                )
            ]
        return max(meant, key=lambda k: self.marked.mentions[k].told[0].score, default=None)

    def _surely_related(self, k: int) -> bool:
        """Whether the model relates a mention to another more probably than not, in an order or in none; to what was
        left undone it may be related beside.
        """
        sure = [
            (t, o.other)
            for t, of in enumerate(self.options)
            for o in of
            if o.label in _SETTLED and o.probability >= LIKELY
        ]
        return any(k in pair and not any(j is not None and self._undone(j) for j in pair) for pair in sure)

    def _settle_lacking(self, banned: Set[int]) -> None:
        """What is lacking excuses, or comes first where something is barred without it; what is due because of it is
        due after the act that its time runs from.
        """
        without = self._barred_without()
        for k, due in without.items():
            if k in banned:
                continue
            for again in (j for j, act in enumerate(self.marked.acts) if act == self.marked.acts[due]):
                self.options[again] = [Option("none", None, 1.0)]
            self._decide(k, "precedence", due)
        barred = {k: due for k, due in self.lacking.items() if (of := self.marked.clauses[due]) and of[1]}
        for k, due in barred.items():
            if due in without.values() and self._undone(k):
                continue  # an unpaid fine must not be sent without a penalty: the payment excuses
            del self.lacking[k]
            self._decide(k, "precedence", due)
            self._leave_out(self._sentence(k), [due, k])
        for k, due in list(self.lacking.items()):
            if self._only_allowed(due):
                del self.lacking[k]
                self._decide(k, "not_precedence", due)
                self._leave_out(self._sentence(k), [due, k])
                continue
            self._decide(k, "exception", due)
            self._rule_out(due, {k})
            event = self._event(k, due)
            if (event := self._supposed_beside(k, due) if event is None else event) is not None:
                self._leave_out(self._sentence(k), [event, due, k])
                self._decide(due, "response", event)

    def _event(self, k: int, due: int) -> int | None:
        """The mention of a third act from which the time runs in which something was not done: "has not been paid 60 days
        after the notification".
        """
        others = [
            j
            for j in self._told_in(self._sentence(k))
            if self.marked.acts[j] not in (self.marked.acts[k], self.marked.acts[due])
        ]
        timed = [j for j in others if self._clause(j).kind == "after" and durations(self._clause(j).opener)]
        return timed[0] if len(timed) == 1 else None

    def _settle_supposed(self) -> None:
        """What is due where another act was done is due after it: "a penalty must be added if the fine was notified"."""
        for due, of in enumerate(self.marked.clauses):
            if of is None or of[0].kind != "main" or of[1] or of[2] or not self._told_well(due):
                continue
            clause, told = self._clause(due), self._told_in(self._sentence(due))
            words = self.text.sentence[clause.start : clause.end]
            behind = [
                k for k in told if self._clause(k).number == clause.number and self._clause(k) != clause
            ]
            if len(told) != 2 or len(behind) != 1 or not _MUST.search(words) or _ONLY.search(words):
                continue
            done = self._clause(behind[0])
            supposed = self.text.sentence[done.start : done.end]
            simple = done.kind == "after" and not done.first and patterns.SUPPOSITION.match(done.opener)
            sure = any(o.label == "exception" and o.probability > LIKELY for o in self.options[behind[0]])
            if simple and _WAS_DONE.search(supposed) and not patterns.NOT_DONE.search(supposed) and not sure:
                self._leave_out(self._sentence(due), [behind[0], due])
                self._decide(due, "response", behind[0])

    def _only_allowed(self, due: int) -> bool:
        """Whether an act is only permitted then: "may be added only if no payment was made"."""
        clause = self._clause(due)
        main = self.text.sentence[clause.start : clause.end]
        return bool(patterns.PERMISSION.search(main) and _ONLY.search(self._sentence(due).text))

    def _supposed_beside(self, k: int, due: int) -> int | None:
        """The mention of a third act that has been done where another was not: "if the fine was notified and has not been
        paid".
        """
        clause, place = self._clause(k), self._starts(k)
        done = [
            j
            for j in self._told_in(self._sentence(k))
            if self._clause(j) == clause
            and self._starts(j) < place
            and self.marked.acts[j] not in (self.marked.acts[k], self.marked.acts[due])
            and not patterns.NOT_DONE.search(self.text.sentence, clause.start, self._starts(j))
        ]
        return done[0] if len(done) == 1 else None

    def _leave_out(self, sentence: Sentence, told: Sequence[int]) -> None:
        """The other mentions of a sentence's acts, and the first act by itself, are nothing."""
        acts = {self.marked.acts[k] for k in told}
        for k, act in enumerate(self.marked.acts):
            if act in acts and k not in told[1:] and sentence.start <= self._starts(k) < sentence.end:
                self.options[k] = [Option("none", None, 1.0)]

    def _decide(self, k: int, label: str, other: int | None) -> None:
        self.options[k] = [Option("none", None, 0.0), Option(label, other, 1.0)]

    def _rule_out(self, k: int, others: set[int]) -> None:
        """Take away what a mention might be to others, and that it is nothing."""
        left = [o for o in self.options[k] if o.other not in others and o.label != "none"]
        total = sum(o.probability for o in left)
        if total:
            self.options[k] = [
                Option("none", None, 0.0),
                *(o._replace(probability=o.probability / total) for o in left),
            ]
