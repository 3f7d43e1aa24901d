"""Read a goal's sentence: the acts it tells, how they stand to each other, and the statements this makes."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from gnrs_ppl.context.types import Channel, Schema
from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.beside import said_beside
from gnrs_ppl.reading.clauses import MODAL, Clause
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
from gnrs_ppl.reading.duties import states_duty
from gnrs_ppl.reading.quantities import COUNT, durations, times_told
from gnrs_ppl.reading.relations import SYMMETRIC, Marked, Option, frozen, label_of, options, unheld
from gnrs_ppl.reading.types import ActRead, Nothing, Reading, Readings, Span, Statement, Timed, Unread
from gnrs_ppl.reading.vocabulary import ENOUGH, STOP, Vocabulary
from gnrs_ppl.reading.words import lemmas
from gnrs_ppl.rule.types import Force, Template

LIKELY = 0.5
"""A relation at least this probable is a statement."""
LEAST_LIKELY = 0.2
"""Least share of the likeliest relation of an act that is asked for, one way or another."""
SAYS_SOMETHING = 0.65
"""Where no relation is likely by itself, but that there is none is less probable than this, the likeliest is
the statement."""
LIKELY_NOTHING = 0.7
"""A mention that is less probably nothing than this is what a construction says, where no relation speaks of it."""
WORTH_TELLING = 0.08
"""Other ways to read a target are told from this share on."""
MOST_WAYS = 4
WELL_TOLD = 0.7
"""Score from which an act may not be passed over."""
SURELY = 0.8
"""A mention that is more probably nothing than this keeps its construction from being believed."""
FORWARD = ("response", "not_response")
"""Templates that ask or ban what comes after an act, and after a second one."""
_TEMPLATES: dict[str, Template] = {"existence_n": "existence", "at_most": "absence", "choice": "existence"}
_IN_EITHER_ORDER = {
    "response": "responded_existence",
    "precedence": "responded_existence",
    "not_response": "not_coexistence",
    "not_precedence": "not_coexistence",
}
"""What a relation is where the acts may come in either order."""
_ASKED = {"not_response": "response", "not_precedence": "precedence"}
"""What a ban is where the clause of its target says nothing negative."""
_SETTLED = ("precedence", "chain_precedence", "succession", "coexistence", "not_precedence", "exception")
"""Relations that a model sure of them need not be told."""
_ORDERS = ("after", "only_after", "before", "until", "provided")
"""Clauses that put acts in order."""
_IN_A_LIST = frozenset(
    {",", "or", "else", "the", "a", "an", "is", "are", "be", "been", "has", "to"}
    | {"his", "her", "their", "its"}
)
"""What may stand between the acts of a list."""
_OF_LISTS = ("or", "choice", "exclusive_choice", "not_coexistence")
"""What the model may take such a list for."""
_BESIDE = ("or", "exception")
_UNSAID = (*_BESIDE, "exclusive_choice")
_NOBODY_IN_PARTICULAR = re.compile(rf"(?:some|any)(?:body|one)\s+{MODAL}\b", re.IGNORECASE)
"""A subject that leaves open who it is, which says nothing that could be missed."""
_COMES_FIRST = ("precedence", "chain_precedence")
"""Labels whose target is asked of whoever the clause of that target names."""


@lru_cache(maxsize=64)
def vocabulary(schema: Schema) -> Vocabulary:
    """The words of a schema, kept for the next sentence."""
    return Vocabulary(schema)


def read(sentence: str, schema: Schema, logs: Sequence[Channel] = ()) -> Readings:
    """Read a sentence against a schema.

    Parameters
    ----------
    sentence : str
        What a person asks for, in English: one sentence or a few.
    schema : Schema
        The names that may be meant, with their phrases.
    logs : sequence of Channel
        The logs that are kept; of evidence nothing is read where none is given.

    Returns
    -------
    Readings
        A statement for each duty, ban or permission, each with the ways to read it; which logs show them, and
        what follows a breach.
    """
    words = vocabulary(schema)
    beside = said_beside(sentence, schema, logs, words)
    found = Reader(Constructions(beside.duties, words)).read()
    return replace(
        found,
        sentence=sentence,
        unread=tuple(sorted((*found.unread, *(Unread(span) for span in beside.unread)))),
        evidence=beside.evidence,
        procedure=beside.procedure,
    )


class _Relation(NamedTuple):
    """One act, or two, and what the first is: the target, and the other the act that opens it."""

    label: str
    target: str
    other: str | None


class _Likely(NamedTuple):
    """How probable a relation is over all mentions of its acts, and the mentions that tell it best."""

    probability: float
    target: int
    other: int | None


class Reader:
    """One text: its relations, and the statements they make."""

    def __init__(self, text: Constructions, doubting: bool = True) -> None:
        self.text, self.marked = text, Marked(text)
        self.options = options(self.marked, frozen())
        self.apart = self._kept_apart()
        for t, (a, label) in self.apart.items():
            self.options[t] = [Option("none", None, 0.0), Option(label, a, 1.0)]
            self.options[a] = [Option("none", None, 1.0)]
        self.lacking = self._said_to_be_lacking()
        self._settle()
        self.relations = self._relations()
        self._doubting = doubting
        self._unheld = unheld(self.marked, frozen()) if doubting else {}

    def read(self) -> Readings:
        """Every statement, what is background, and what was not read."""
        said = self.text.said
        chosen = self._chosen()
        statements = [self._statement(r) for relation in chosen for r in self._checkable(relation)]
        told_by = {name for s in statements for name in _acts_of(s.best)}
        believed = (
            self._accounts_for_all
            if not statements
            else lambda reading: self._unmarked(reading) or self._passed_over(reading, told_by)
        )
        statements += [s for s in said.statements if believed(s.best)]
        if self._doubting:
            statements = [
                s
                for s in statements
                if self._states_duty(s.best) and (self._of_persons(s.best) or not self._asks_another(s.best))
            ]
        elsewhere = {s: sub for s in statements if (sub := self._opened_by_another(s.best))}
        statements = [s for s in statements if s not in elsewhere]
        dropped = [s for s in statements if self._unheld.keys() & _acts_of(s.best).keys()]
        statements = self._together([s for s in statements if s not in dropped])
        dropped = [s for s in dropped if not any(_says_likewise(s, kept) for kept in statements)]
        statements = [
            replace(s, readings=tuple(map(self._opened_by_anybody, s.readings))) for s in statements
        ]
        statements.sort(key=lambda s: (s.best.targets[0].span.start, s.span.start))
        missed_acts = {a: act for s in dropped for a, act in _acts_of(s.best).items() if a in self._unheld}
        told = [self.marked.tokens[m.at].start for m in self.marked.mentions if statements]
        missed = [
            m for clause, m in said.missed if not any(clause.start <= place < clause.end for place in told)
        ]
        missed += [self._unrecorded(sub) for sub in dict.fromkeys(elsewhere.values())]
        taken = [
            *(s for statement in statements for s in statement.best.used),
            *said.background,
            *(m.span for m in missed),
        ]
        missed += [
            Unread(self.marked.around(self._unheld[name]), name, act.score, another=True)
            for name, act in missed_acts.items()
        ]
        unread = missed + [
            Unread(Span(t.start, t.end))
            for t in self.text.tokens
            if t.text[0].isalpha()
            and t.text not in STOP
            and not functional(t.text)
            and not _NOBODY_IN_PARTICULAR.match(self.text.sentence, t.start)
            and all(not s.start <= t.start < s.end for s in taken)
        ]
        nothing: Nothing = "" if statements else self._nothing(bool(missed))
        constructed = [
            s
            for s in said.statements
            if not self._unheld.keys() & _acts_of(s.best).keys() and self._states_duty(s.best)
        ]
        otherwise = tuple(constructed) if _constraints(constructed) != _constraints(statements) else ()
        return Readings(
            self.text.sentence,
            tuple(statements),
            tuple(said.background),
            tuple(sorted(unread)),
            nothing,
            otherwise,
        )

    def _together(self, statements: Sequence[Statement]) -> list[Statement]:
        """Statements that only make sense together as one: two ways to begin or end a case, and two acts that
        open what is asked, the one after the other.
        """
        found = list(statements)
        for one, other in pairwise(statements):
            mine, theirs = one.best, other.best
            between = self.text.sentence[slice(*sorted(s.best.targets[-1].span.start for s in (one, other)))]
            joined = mine.template == theirs.template and re.search(r"\bor\b", between)
            if joined and mine.template in ("init", "end"):
                either = replace(
                    mine,
                    targets=(*mine.targets, *theirs.targets),
                    joint="any",
                    used=(*mine.used, *theirs.used),
                )
                found[found.index(one)] = Statement(one.span, (either,))
                found.remove(other)
                break
        for one in statements:
            first = one.best
            if first.template not in ("response", "precedence") or first.activation is None:
                continue
            earlier, later = first.activation, first.targets[0]
            if first.template == "precedence":
                earlier, later = later, earlier
            asked = [
                s
                for s in found
                if s.best.template in FORWARD
                and s.best.activation is not None
                and s.best.activation.activity == later.activity
                and earlier.activity not in {a.activity for a in s.best.targets}
            ]
            if asked and self._only_opens(earlier, later) and one in found:
                found.remove(one)
                for s in asked:
                    both = replace(
                        s.best,
                        probability=1.0,
                        activation=earlier,
                        after=s.best.activation,
                        used=(*first.used, *s.best.used),
                    )
                    found[found.index(s)] = Statement(s.span, (both,))
        return found

    def _only_opens(self, *acts: ActRead) -> bool:
        """Whether acts are told in clauses that say when something else is due."""
        inside = [
            min(held, key=lambda c: c.end - c.opened)
            for act in acts
            if (held := [c for c, _ in self.text.bound_clauses if c.opened <= act.span.start < c.end])
        ]
        first = all(c.kind == "after" and c.first for c in inside)
        return len(inside) == len(acts) and first and len({c.number for c in inside}) == 1

    def _states_duty(self, reading: Reading) -> bool:
        """Whether the sentences that tell a duty's acts state one; a permission is none, and is told as what
        it is.
        """
        spans = [act.span for act in _acts_of(reading).values()]
        told = self.text.whole_and_main(min(s.start for s in spans), max(s.end for s in spans))
        return reading.force == "may" or states_duty(*told, frozen().duty)

    def _of_persons(self, reading: Reading) -> bool:
        """Whether a reading is of two acts that one person may not do both, which need no act in the clause
        that binds ("different people must do them").
        """
        return any(self.marked.acts[k] in _acts_of(reading) for k in self.apart)

    def _asks_another(self, reading: Reading) -> bool:
        """Whether the clause that binds asks for an act of no schema, and the reading is only of acts told in
        the clauses that belong to it ("a refund is due whenever a fine was paid twice").
        """
        missed = {clause.number: clause for clause, _ in self.text.said.missed}
        for act in _acts_of(reading).values():
            inside = [c for c, _ in self.text.bound_clauses if c.opened <= act.span.start < c.end]
            clause = min(inside, key=lambda c: c.end - c.opened, default=None)
            if clause is None or clause.kind == "main" or clause.number not in missed:
                return False
            if self._sentence_at(missed[clause.number].start) != self._sentence_at(act.span.start):
                return False
        return True

    def _opened_by_another(self, reading: Reading) -> Clause | None:
        """The clause that says after what a duty is due, where it tells something that befell and no act of
        the schema: "within two days after the patient was vaccinated".
        """
        place = reading.targets[0].span.start
        sentence = self._sentence_at(place)
        main = next((c for c in sentence.parts if c.kind == "main" and c.start <= place < c.end), None)
        if main is None:
            return None
        subs = [c for c in sentence.belonging(main) if c.kind == "after"]
        if any(self._tells(c) for c in subs):
            return None
        return next((c for c in subs if self._befell(c)), None)

    def _befell(self, clause: Clause) -> bool:
        """Whether a clause says after which event something is due, and not at which hour or in which case."""
        told = self.text.sentence[clause.start : clause.end]
        temporal = patterns.AFTER_EVENT.search(clause.opener) and patterns.EVENT.search(told)
        pointing = patterns.THAT.match(told) or patterns.PERIOD.search(told)
        return bool(temporal and self._content(clause)) and not pointing

    def _content(self, clause: Clause) -> list[int]:
        """Tokens of a clause that have content."""
        return [
            i
            for i, t in enumerate(self.text.tokens)
            if clause.start <= t.start < clause.end and t.text[0].isalpha() and t.text not in STOP
        ]

    def _unrecorded(self, clause: Clause) -> Unread:
        """What a clause tells, and the act that comes nearest."""
        at = self._content(clause)
        near = self.text.words.match_acts(self.text.tokens, at)[:1]
        span = Span(self.text.tokens[at[0]].start, self.text.tokens[at[-1]].end)
        name, score = (near[0].name, round(near[0].score, 2)) if near else ("", 0.0)
        return Unread(span, name, score, another=True)

    def _nothing(self, missed: bool) -> Nothing:
        """Why there is no statement: nothing is asked, or what is asked is no act that is recorded, or no
        condition for it was read.

        Where only a manner is asked ("be treated fairly") no record could show it, whatever acts there are.
        """
        tokens, sentence = self.text.tokens, self.text.sentence
        asked = list[int]()
        for modal in patterns.MODAL_VERB.finditer(sentence):
            limited = patterns.LIMITED.match(sentence, modal.end()) or any(
                c.start <= modal.start() < c.end and bound.negative for c, bound in self.text.bound_clauses
            )
            if patterns.PERMISSION.search(modal[0]) and not limited:
                continue
            asked += [
                i
                for i, t in enumerate(tokens)
                if t.start >= modal.end() and t.text not in STOP and t.text[0].isalpha()
            ][:1]
        for i, (token, following) in enumerate(pairwise(tokens)):
            opens = i == 0 or self.marked.sentence[i] != self.marked.sentence[i - 1]
            if (
                opens
                and token.text in lemmas(token.text, "v")
                and token.text not in STOP
                and following.text in STOP
            ):
                asked.append(i)  # in the imperative
        stated = states_duty(*self.text.whole_and_main(0, len(sentence)), frozen().duty)
        if not stated or not (asked or missed):
            return "no_duty"
        told = not missed and all(i in self.marked.marks for i in asked)
        return "no_condition" if told or patterns.VAGUE.search(sentence) else "no_such_act"

    def _kept_apart(self) -> dict[int, tuple[int, str]]:
        """Mentions of two acts that one person may not do both, where a sentence says so of just two acts:
        the later by the earlier, in any order or only afterwards.
        """
        found = dict[int, tuple[int, str]]()
        for start, stop in dict.fromkeys(self.marked.sentences):
            begin, end = self.text.tokens[start].start, self.text.tokens[stop - 1].end
            told = self.text.sentence[begin:end]
            apart = patterns.FOUR_EYES.search(told)
            ordering = any(c.kind in _ORDERS for c in self._sentence_at(begin).parts) or durations(told)
            if apart is None and not ordering:
                apart = patterns.OTHER_THAN.search(told)
            of_persons = patterns.ONE_AND_OTHER.search(told)
            ordered = patterns.ORDERED.search(patterns.LATER.sub(" ", told) if of_persons else told)
            if apart and not (ordered or durations(told[apart.start() :])):
                inside = [
                    k
                    for k, m in enumerate(self.marked.mentions)
                    if start <= m.at < stop and m.told[0].score >= ENOUGH and m.told[0].head
                ]
                best = {k: self.marked.mentions[k].told[0] for k in inside}
                inside = [
                    k for k in inside if not any(best[k].at in best[j].used for j in inside if j != k)
                ]  # not within another's words
                first = {self.marked.acts[k]: k for k in reversed(inside)}
                if len(first) == 2:
                    earlier, later = sorted(first.values(), key=lambda k: (not self._was_done(k), k))
                    label = "not_coexistence"
                    if after := patterns.LATER.search(told):
                        place, label = begin + after.start(), "not_response"
                        before = [k for k in (earlier, later) if self._starts(k) < place]
                        earlier, later = sorted(
                            (earlier, later), key=lambda k: k == max(before, default=later)
                        )
                    found[later] = (earlier, label)
        return found

    def _was_done(self, k: int) -> bool:
        """Whether a mention says what somebody did before: "who checked it", "has created"."""
        at = self.marked.mentions[k].at
        before = {t.text for t in self.text.tokens[max(at - 2, 0) : at]}
        past = self.text.tokens[at].text.endswith("ed") and before & {"who", "that", "whoever"}
        return bool(past or before & {"has", "have", "had"})

    def _told_well(self, k: int) -> bool:
        best = self.marked.mentions[k].told[0]
        return best.score >= ENOUGH and (best.head or best.score >= WELL_TOLD)

    def _said_to_be_lacking(self) -> dict[int, int]:
        """Mentions of what has not been done when something else is due, by the mention of that: "if it has
        not been paid within 30 days, a reminder must be sent". What has been done excuses.
        """
        found = dict[int, int]()
        for k, of in enumerate(self.marked.clauses):
            if of is None or not self._told_well(k):
                continue
            clause, place = of[0], self._starts(k)
            whoever = patterns.LACKED.search(self.text.sentence[:place])
            supposes = clause.first and patterns.SUPPOSES.match(clause.opener)
            ordered = patterns.EARLIER.search(self.text.sentence, clause.start, clause.end)
            if not (whoever or supposes) or ordered or self._surely_related(k):
                continue
            before = self.text.sentence[clause.start : place]
            lacking = whoever or patterns.NOT_DONE.search(before[max(0, before.rfind(" and ")) :])
            due = [
                j
                for j, other in enumerate(self.marked.clauses)
                if other is not None
                and other[0].kind == "main"
                and other[0].number == clause.number
                and self._sentence(j) is self._sentence(k)
                and self.marked.acts[j] != self.marked.acts[k]
                and self._told_well(j)
                and not other[2]
            ]
            if lacking and due:
                found[k] = max(due, key=lambda j: self.marked.mentions[j].told[0].score)
        return found

    def _surely_related(self, k: int) -> bool:
        """Whether the model relates a mention to another more probably than not, in an order or in none."""
        return any(
            o.label in _SETTLED and o.probability >= LIKELY for of in self.options for o in of if o.other == k
        ) or any(o.label in _SETTLED and o.probability >= LIKELY for o in self.options[k])

    def _settle(self) -> None:
        """Options that words settle, whatever the model says: what is lacking excuses, or comes first where
        something is barred without it; of a list of acts any one will do; what must happen before the case
        ends is asked of every case.
        """
        barred = {k: due for k, due in self.lacking.items() if (of := self.marked.clauses[due]) and of[1]}
        for k, due in barred.items():
            del self.lacking[k]
            self._decide(k, "precedence", due)
            self.options[due] = [Option("none", None, 1.0)]
        for k, due in self.lacking.items():
            self._decide(k, "exception", due)
            self._rule_out(due, {k})
        for first, *others in filter(self._taken_apart, self._lists_of_acts()):
            for k in others:
                self._decide(k, "or", first)
            self._rule_out(first, set(others))
            if all(k in (first, *others) or not self._told_well(k) for k in range(len(self.options))):
                self._decide(first, "existence", None)
        told = [k for k, m in enumerate(self.marked.mentions) if m.told[0].score >= ENOUGH]
        if len(told) == 1 and patterns.BEFORE_THE_END.search(self.text.sentence):
            sentence, k = self._sentence(told[0]), told[0]
            bound = how_bound(sentence.text)
            if bound.stated and not (bound.negative or bound.permitted) and not COUNT.search(sentence.text):
                self._decide(k, "existence", None)

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

    def _lists_of_acts(self) -> list[list[int]]:
        """Mentions of one binding clause with nothing but commas and "or" between them."""
        lists, told = list[list[int]](), [m.told[0] for m in self.marked.mentions]
        for k, of in enumerate(self.marked.clauses):
            within = any(told[k].at in other.used for j, other in enumerate(told) if j != k)
            if of is None or of[0].kind != "main" or told[k].score < WELL_TOLD or within:
                continue
            last = lists[-1][-1] if lists else None
            if last is not None and self.marked.clauses[last] == of and self._joined_by(last, k):
                lists[-1].append(k)
            else:
                lists.append([k])
        return [found for found in lists if len(found) > 1 and self._either(found)]

    def _taken_apart(self, found: Sequence[int]) -> bool:
        """Whether the model relates acts of a list as if they stood in no list, or sees none in it."""
        likeliest = [max(self.options[k], key=lambda o: o.probability) for k in found]
        within = {o.label for o in likeliest if o.other in found}
        return bool(within - {*_OF_LISTS}) or not within

    def _joined_by(self, one: int, other: int) -> bool:
        """Whether only words of a list stand between two mentions of different acts."""
        between = self.text.tokens[self.marked.spans[one][1] + 1 : self.marked.spans[other][0]]
        said = [t.text for t in between]
        return (
            self.marked.acts[one] != self.marked.acts[other]
            and bool({",", "or"} & set(said))
            and set(said) <= _IN_A_LIST
        )

    def _either(self, found: Sequence[int]) -> bool:
        """Whether a list of acts says that one of them must be done."""
        of = self.marked.clauses[found[0]]
        if of is None:
            return False
        told, bound = (
            self._sentence(found[0]).words_of(of[0]),
            how_bound(self._sentence(found[0]).words_of(of[0])),
        )
        last = self.text.tokens[self.marked.spans[found[-2]][1] + 1 : self.marked.spans[found[-1]][0]]
        binds = bound.stated or re.search(r"\beither\b", told, re.IGNORECASE)
        exclusive = re.search(r"\b(?:both|never)\b", self._sentence(found[0]).text, re.IGNORECASE)
        return bool(
            any(t.text == "or" for t in last)
            and binds
            and not (bound.negative or bound.permitted or exclusive)
            and not patterns.MUTUAL_END.search(told)
        )

    def _starts(self, k: int) -> int:
        """Where a mention stands in the sentence."""
        return self.text.tokens[self.marked.mentions[k].at].start

    # -- which relations hold --------------------------------------------------------------------------------

    def _relations(self) -> dict[_Relation, _Likely]:
        """Every relation of two acts, or of one, with its probability: that some mention of the target says
        so.
        """
        acts, found = self.marked.acts, dict[_Relation, _Likely]()
        earliest = {span: self._earliest(*span) for span in self.marked.sentences}
        either = {span: self._in_either_order(*span) for span in self.marked.sentences}
        for t, of_mention in enumerate(self.options):
            for label, a, probability in of_mention:
                if label == "none":
                    continue
                target, other = t, a
                if label in SYMMETRIC and a is not None and t < a and t not in self.apart:
                    target, other = a, t
                if (
                    a is not None
                    and label in ("response", "precedence")
                    and earliest[self.marked.sentences[t]]
                ):
                    # "at the earliest ten days after": what follows sooner is banned, whether or not it is due
                    target, other = (t, a) if label == "response" else (a, t)
                    label = "not_response"
                if label == "absence" and self._once_more(t):
                    label = "at_most"
                if a is not None and either[self.marked.sentences[t]]:
                    label = _IN_EITHER_ORDER.get(label, label)
                elif label in _ASKED and not earliest[self.marked.sentences[t]] and self._denied_elsewhere(t):
                    label = _ASKED[label]
                relation = _Relation(label, acts[target], acts[other] if other is not None else None)
                turned = _Relation(label, relation.other or "", relation.target)
                relation = turned if label in SYMMETRIC and turned in found else relation
                before = found.get(relation)
                share = 1 - (1 - probability) * (1 - (before.probability if before else 0.0))
                best = (
                    _Likely(share, target, other)
                    if before is None or probability > before.probability
                    else before._replace(probability=share)
                )
                found[relation] = best
        return found

    def _earliest(self, start: int, stop: int) -> bool:
        """Whether a sentence names a time that must go by first."""
        told = self.text.sentence[self.text.tokens[start].start : self.text.tokens[stop - 1].end]
        return bool(patterns.AT_EARLIEST.search(told) and durations(told))

    def _denied_elsewhere(self, k: int) -> bool:
        """Whether only another main clause of the sentence says something negative: "we never ship unpaid
        goods, and a reminder goes out".
        """
        sentence, number = self._sentence(k), self._clause(k).number
        inside = [
            (c, bound) for c, bound in self.text.bound_clauses if sentence.start <= c.start < sentence.end
        ]
        mine = any(bound.negative for c, bound in inside if c.number == number)
        return not mine and any(bound.negative for c, bound in inside if c.kind == "main")

    def _in_either_order(self, start: int, stop: int) -> bool:
        """Whether a sentence says that two acts may come in either order."""
        told = self.text.sentence[self.text.tokens[start].start : self.text.tokens[stop - 1].end]
        return bool(patterns.EITHER_ORDER.search(told)) and not durations(told)

    def _once_more(self, k: int) -> bool:
        """Whether a mention is of one time too many: "a second scan"."""
        start = self.text.tokens[self.marked.spans[k][0]].start
        return any(m.end() == start - 1 for m in patterns.NTH_TIME.finditer(self.text.sentence, 0, start))

    def _chosen(self) -> list[_Relation]:
        """The relations that make statements: the likeliest of each act that is more probably asked for than
        not.
        """
        ranked = sorted(
            (r for r in self.relations if r.label not in _BESIDE),
            key=lambda r: -self.relations[r].probability,
        )
        nothing = dict.fromkeys(self.marked.acts, 1.0)
        for act, of_mention in zip(self.marked.acts, self.options, strict=True):
            nothing[act] *= sum(o.probability for o in of_mention if o.label in ("none", *_BESIDE))
        found = list[_Relation]()
        for r in ranked:
            symmetric = {x.other for x in found if x.label in SYMMETRIC}
            taken = {x.target for x in found} | symmetric
            likely = self.relations[r].probability
            same = [x for x in found if {x.target, x.other} == {r.target, r.other}]
            if any({x.label, r.label} & set(SYMMETRIC) for x in same):
                continue  # both in any order says what each says of the pair
            if likely >= LIKELY or (
                r.target not in taken and nothing[r.target] < LIKELY and likely >= LEAST_LIKELY
            ):
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

    def _unmarked(self, reading: Reading) -> bool:
        """Whether a construction speaks of an act that is no mention, such as any doing on a thing: then it
        is believed.
        """
        named = {
            *(a.activity for a in reading.targets),
            *([reading.activation.activity] if reading.activation else []),
        }
        return not named & set(self.marked.acts)

    def _passed_over(self, reading: Reading, told: set[str]) -> bool:
        """Whether a construction speaks, in a main clause that binds by its words, of acts that no statement
        tells and that are not likely nothing.
        """
        if told & _acts_of(reading).keys():
            return False
        mine = [k for k, act in enumerate(self.marked.acts) if act in _acts_of(reading)]
        clauses = {k: self.marked.clauses[k] for k in mine}
        bound = (k for k, c in clauses.items() if c and c[0].kind == "main" and (c[1] or c[3]))
        return any(
            o.label == "none" and o.probability < LIKELY_NOTHING for k in bound for o in self.options[k]
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

    # -- what a relation says --------------------------------------------------------------------------------

    def _checkable(self, relation: _Relation) -> tuple[_Relation, ...]:
        """One of two acts and never both: no constraint says that, but one of the two does and that they
        exclude each other does.
        """
        if relation.label != "exclusive_choice":
            return (relation,)
        both = tuple(relation._replace(label=label) for label in ("choice", "not_coexistence"))
        self.relations |= dict.fromkeys(both, self.relations[relation])
        return both

    def _statement(self, relation: _Relation) -> Statement:
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

    def _reading(self, relation: _Relation) -> Reading:
        """One relation with everything else that is said of it."""
        likely = self.relations[relation]
        clause, sentence = self._clause(likely.target), self._sentence(likely.target)
        main = (
            clause
            if clause.kind == "main"
            else next((c for c in sentence.parts if c.kind == "main" and c.number == clause.number), clause)
        )
        opening = self._clause(likely.other) if likely.other is not None else None
        subs = [c for c in (opening, clause) if c is not None and c.kind != "main"]
        frame = sentence.frame(main)
        own = sentence.subject(clause) if clause != main and relation.label in _COMES_FIRST else ()
        bearers = own or sentence.subject(main) or sentence.subject(clause)
        activation = self._act(likely.other) if likely.other is not None else None
        targets = [self._act(k) for k in (likely.target, *self._beside("or", relation))]
        if relation.label == "choice" and activation:
            targets, activation = [activation, *targets], None
        excused = [self._act(k) for k in self._beside("exception", relation)[:1]]
        time = self._time(sentence, main, subs, opening)
        if time and any(
            k in self.lacking and self._waits(k, time, main) for k in self._beside("exception", relation)
        ):
            time = None  # how long what is lacking is waited for
        force: Force = (
            "must" if frame.bound.force == "may" and relation.label != "existence" else frame.bound.force
        )
        acts = [*targets, *([activation] if activation else []), *excused]
        condition = sentence.condition(main, [c for c in sentence.parts if self._tells(c)])
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
            count=self._count(relation.label, sentence),
            time=time,
            bearers=bearers,
            who="same_person"
            if likely.target in self.apart or likely.other in self.apart
            else who_acts(frame.whole),
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
            ),
            why=f"the words around {'the two acts' if relation.other else 'the act'}",
        )
        return self._as_constructed(relation, reading)

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

    def _as_constructed(self, relation: _Relation, reading: Reading) -> Reading:
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
                return replace(
                    said,
                    exception=said.exception or reading.exception,
                    joint=reading.joint,
                    who=reading.who,
                    time=reading.time if self.lacking else said.time or reading.time,
                    condition=reading.condition,
                    used=tuple(dict.fromkeys((*said.used, *reading.used))),
                )
        return reading

    def _act(self, k: int) -> ActRead:
        """A mention as an act with its role, object and place."""
        told, tokens = self.marked.mentions[k].told[0], self.text.tokens
        first, last = self.marked.spans[k]
        span = Span(tokens[first].start, tokens[last].end)
        sentence, clause = self._sentence(k), self._clause(k)
        things, places = (sentence.named_near(kind, clause, span) for kind in ("objects", "locations"))
        role = next(iter(sentence.subject(clause)), None)
        return ActRead(told.activity, span, min(1.0, round(told.score, 3)), role, things, places)

    def _beside(self, label: str, relation: _Relation) -> list[int]:
        """Mentions that are something to the acts of a relation, more probably than not; of a list of ways to
        meet a duty also those within.
        """
        if label == "or":
            return self._alternatives(relation)
        return sorted(
            self.relations[r].target
            for r, likely in self.relations.items()
            if r.label == label
            and r.other in (relation.target, relation.other)
            and likely.probability >= LIKELY
            and r.target not in (relation.target, relation.other)
        )

    def _alternatives(self, relation: _Relation) -> list[int]:
        first = self.relations[relation].target
        found = dict[str, int]()

        def share(act: str, *more: _Relation) -> tuple[float, int]:
            ways = [_Relation("or", act, other) for other in (relation.target, *found)]
            known = [self.relations[r] for r in (*ways, *more) if r in self.relations]
            return sum(x.probability for x in known), known[0].target if known else -1

        others = [a for a in dict.fromkeys(self.marked.acts) if a not in (relation.target, relation.other)]
        for act in others:
            probability, k = share(act)
            if probability >= LIKELY:
                found[act] = k
        for act in others:
            probability, k = share(act, relation._replace(target=act))
            if act not in found and probability >= LIKELY and first < k < max(found.values(), default=-1):
                found[act] = k
        return sorted(found.values())

    def _sentence(self, k: int) -> Sentence:
        return self._sentence_at(self.text.tokens[self.marked.mentions[k].at].start)

    def _sentence_at(self, place: int) -> Sentence:
        sentences = self.text.said.sentences
        return next((s for s in sentences if s.start <= place < s.end), sentences[-1])

    def _clause(self, k: int) -> Clause:
        clause = self.marked.clauses[k]
        sentence = self._sentence(k)
        return clause[0] if clause else Clause("main", sentence.start, sentence.end, sentence.start)

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

    def _tells(self, clause: Clause) -> bool:
        """Whether a clause tells an act."""
        places = [self.text.tokens[m.at].start for m in self.marked.mentions]
        return any(clause.opened <= place < clause.end for place in places)

    def _time(
        self, sentence: Sentence, main: Clause, subs: Sequence[Clause], opening: Clause | None
    ) -> Timed | None:
        """The time stated where the target is told, or in the words that open it."""
        for clause in [*subs, main]:
            if time := sentence.time(clause, main):
                return time
        return sentence.time(None, opening) if opening else None

    def _count(self, label: str, sentence: Sentence) -> int:
        """How often, for labels that state it."""
        if label not in ("existence_n", "at_most", "exactly"):
            return 1
        told, nth = COUNT.search(sentence.text), patterns.NTH_TIME.search(sentence.text)
        n = 1
        if told:
            n = times_told(told) + bool(label == "existence_n" and told["how"].lower() == "more than")
        elif nth and label == "at_most":
            n = patterns.NTH.index(nth[1].lower()) + 1
        return n + 1 if label == "at_most" else max(n, 2) if label == "existence_n" else n


def _says_likewise(one: Statement, other: Statement) -> bool:
    """Whether two statements of one clause differ in their targets only: the fine that goes to collection is
    no sending of the fine.
    """
    mine, theirs = one.best, other.best
    opened = [r.activation.activity if r.activation else None for r in (mine, theirs)]
    return one.span == other.span and mine.template == theirs.template and opened[0] == opened[1]


def _acts_of(reading: Reading) -> dict[str, ActRead]:
    acts = (*reading.targets, reading.activation, reading.after, reading.exception)
    return {a.activity: a for a in acts if a is not None}


def _constraints(statements: Sequence[Statement]) -> set[tuple[str, tuple[str, ...]]]:
    return {(s.best.template, s.best.activities) for s in statements}
