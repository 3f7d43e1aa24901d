"""What words settle of the acts of a text, whatever the model of relations says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.clauses import Clause
from gnrs_ppl.reading.constructions import Constructions, Sentence, how_bound, undergone
from gnrs_ppl.reading.disapproval import DISAPPROVES
from gnrs_ppl.reading.quantities import count_of, durations
from gnrs_ppl.reading.relations import Option, Weights
from gnrs_ppl.reading.statements.mentioned import LIKELY, SURELY, WELL_TOLD
from gnrs_ppl.reading.statements.timing import Timing
from gnrs_ppl.reading.vocabulary import ENOUGH
from gnrs_ppl.reading.wording import Wording

_ORDERS = ("after", "only_after", "before", "until", "provided")
"""Clauses that put acts in order."""
_AND_NO = Wording(r"\b(?:and|but)\b[^.;]*?\bno\b")
"""Between what a case has and what it lacks."""
_NEVER_BOTH = Wording(r"\b(?:but |and )?(?:never|not) both\b")
_THERE_MUST_BE = Wording(
    r"\s*(?:[^.;!?]*[,:]\s*)?there (?:must|may|shall|should|can|is to|are to)(?: only| always)? be\s+"
)
"""Before how many there must be of what an act brings about."""
_NOT_APPLYING = Wording(
    r"\W*(?:and |but )?(?:this|that|(?:this|that|the) (?:duty|rule|obligation|requirement|deadline|time limit)) "
    r"(?:does(?: not|n't)) (?:apply|hold|exist)\b"
)
"""Begins a sentence on what the duty before it does not hold for."""
_SETS_APART = Wording(r"(?:save|except|other than|apart from|with the exception of|barring)\b")
"""Opens what a duty does not hold for."""
_SET_OFF = Wording(r"\W*(?P<name>[\w'’-]+(?: [\w'’-]+){0,4})\s*(?::| [–—-] )")
"""Begins a text with what it is about, before a colon or a dash."""
_OFTEN = Wording(r"\b(?:twice|thrice|\w+ times)\b")
_ONLY_THOSE = Wording(
    r"\s*only\s+(?!those\b)(?:\w+\s+){1,3}?(?:that|which|who) (?:has|have|was|were|is|are)\s+(?!not\b|never\b|to\b)"
)
"""Begins a sentence on the only things of which something is allowed, with what was done to them."""
_NOT_ALIKE = (patterns.NEGATIVE, patterns.ELSE, patterns.ORDERED, patterns.EARLIER)
"""With one of these, what somebody does "as well" is barred, another's, or earlier."""
_OF_LISTS = ("or", "choice", "exclusive_choice", "not_coexistence")
"""What the model may take such a list for."""


class Settled(Timing):
    """A text whose words have settled what some of its mentions are.

    ``apart`` has the acts that one person may not both do, ``alike`` those that are for whoever did another.
    """

    def __init__(self, text: Constructions, weights: Weights) -> None:
        super().__init__(text, weights)
        self.alike = set[int]()
        self.apart = self._kept_apart()
        for t, (a, label) in self.apart.items():
            self.options[t] = [Option("none", None, 0.0), Option(label, a, 1.0)]
            self.options[a] = [Option("none", None, 1.0)]
            things = [
                k for k, m in enumerate(self.marked.mentions) if not m.told[0].by_verb and k not in (t, a)
            ]
            for k in things:
                if self.marked.mentions[k].told[0].score < WELL_TOLD and self._sentence(k) is self._sentence(
                    t
                ):
                    self.options[k] = [Option("none", None, 1.0)]
        self._settle()

    def _kept_apart(self) -> dict[int, tuple[int, str]]:
        """Mentions of two acts that one person may not do both, where a sentence says so of just two acts:
        the later by the earlier, in any order or only afterwards.
        """
        found = dict[int, tuple[int, str]]()
        for start, stop in dict.fromkeys(self.marked.sentences):
            begin, end = self.text.tokens[start].start, self.text.tokens[stop - 1].end
            told = self.text.sentence[begin:end]
            apart = (
                patterns.FOUR_EYES.search(told)
                or self._same_role(begin, end)
                or (patterns.THE_ONE_WHO.search(told) if DISAPPROVES.search(told) else None)
            )
            ordering = any(c.kind in _ORDERS for c in self._sentence_at(begin).parts) or durations(told)
            if apart is None and not ordering:
                apart = patterns.OTHER_THAN.search(told)
            of_persons = patterns.ONE_AND_OTHER.search(told)
            before = patterns.DONE_BEFORE.search(told)
            words = patterns.DONE_BEFORE.sub(" ", patterns.LATER.sub(" ", told) if of_persons else told)
            ordered = patterns.ORDERED.search(words)
            if patterns.NOBODY_BUT.search(told):
                continue
            if apart and not (ordered or durations(told[apart.start() :])):
                inside = [
                    k
                    for k, m in enumerate(self.marked.mentions)
                    if start <= m.at < stop and m.told[0].score >= ENOUGH and m.told[0].head
                ]
                best = {k: self.marked.mentions[k].told[0] for k in inside}
                inside = [
                    k
                    for k in inside
                    if not any(
                        best[k].at in best[j].used
                        and best[j].score > best[k].score
                        and self.marked.clauses[k] == self.marked.clauses[j]
                        for j in inside
                    )
                ]  # not within another's words
                barring = self._clause_at(begin + apart.start())
                same = [k for k in inside if barring and self._clause(k).number == barring.number]
                if len({self.marked.acts[k] for k in same}) == 2:
                    inside = same
                first = {self.marked.acts[k]: k for k in reversed(self._not_things(inside))}
                if len(first) > 2:
                    first = {act: k for act, k in first.items() if best[k].score >= WELL_TOLD}
                if len(first) == 2:
                    earlier, later = sorted(first.values(), key=lambda k: (not self._was_done(k), k))
                    label = "not_coexistence"
                    done = [
                        k for k in (earlier, later) if before and self._starts(k) > begin + before.start()
                    ]
                    if len(done) == 1:
                        earlier, later = sorted((earlier, later), key=lambda k: k == done[0])
                        label = "not_precedence"
                    elif after := patterns.LATER.search(told):
                        place, label = begin + after.start(), "not_response"
                        first_told = [k for k in (earlier, later) if self._starts(k) < place]
                        behind = begin + after.end()  # "may not subsequently pack" or "may not pack later"
                        at_once = [k for k in (earlier, later) if self._starts(k) == behind + 1]
                        last = at_once[0] if at_once else max(first_told, default=later)
                        earlier, later = sorted((earlier, later), key=lambda k: k == last)
                    found[later] = (earlier, label)
        return found

    def _same_role(self, begin: int, end: int) -> re.Match[str] | None:
        """Words that bar one holder of a role from what follows: "the same doctor must not …"."""
        inside = (n.span for n in self.text.names["roles"] if begin <= n.span.start < end)
        return next(
            (
                barred
                for span in inside
                if patterns.THE_SAME.search(self.text.sentence[begin : span.start])
                and (barred := patterns.BARRED.match(self.text.sentence, span.end))
            ),
            None,
        )

    def _was_done(self, k: int) -> bool:
        """Whether a mention says what somebody did before: "who checked it", "has created"."""
        at = self.marked.mentions[k].at
        before = {t.text for t in self.text.tokens[max(at - 3, 0) : at]}
        past = self.text.tokens[at].text.endswith("ed") and before & {"who", "that", "whoever"}
        return bool(past or before & {"has", "have", "had"})

    def _settle(self) -> None:
        """Options that words settle, whatever the model says: what is lacking excuses, or comes first where
        something is barred without it; of a list of acts any one will do; what must happen before the case
        ends is asked of every case.
        """
        for first, others in self._also_open.items():
            for k in range(len(self.options)):
                self._redirect(k, others, first)
            for k in others:
                self.options[k] = [Option("none", None, 1.0)]
        apart = {self.marked.acts[k] for k in self.apart}
        bans = [
            b
            for b in self.bans()
            if not apart & {self.marked.acts[b.target], self.marked.acts[b.other]}
            and b.target not in self.lacking
        ]
        for ban in bans:
            self._decide(ban.target, ban.label, ban.other)
            self._leave_out(self._sentence(ban.target), [ban.other, ban.target])
        banned = {k for ban in bans for k in (ban.target, ban.other)}
        self._settle_supposed()
        self._settle_lacking(banned)
        for k, label in self.left_undone():
            self._relate(self._sentence(k), k, label, None)
        for first, *others in filter(self._taken_apart, self._lists_of_acts()):
            if len(others) == 1 and _NEVER_BOTH.search(self._sentence(first).text):
                self._decide(others[0], "exclusive_choice", first)
                self.options[first] = [Option("none", None, 1.0)]
                continue
            for k in others:
                self._decide(k, "or", first)
            self._rule_out(first, set(others))
            if all(k in (first, *others) or not self._told_well(k) for k in range(len(self.options))):
                self._decide(first, "existence", None)
        self._settle_exceptions()
        self._settle_set_apart()
        self._settle_longer()
        self._settle_cases()
        self._settle_sequences()
        self._settle_coordinated()
        self._settle_banned_before()
        self._settle_turned()
        self._settle_either_first()
        self._settle_exclusive()
        self._settle_plain_choice()
        self._settle_both_asked(self.apart.keys())
        self._settle_doers()
        self._settle_next_to()
        self._settle_due_later()
        self._settle_things()
        self._settle_further()
        self._settle_pending()
        self._settle_places()
        self._settle_spans()
        self._settle_given_time()
        self._settle_clock()
        self._settle_belonging()
        self._settle_only_those()
        self._settle_carried_on()
        self._settle_timed_duties()
        self._settle_other_than()
        self._settle_bounds()
        self._settle_counts()
        self._settle_so_many()
        self._settle_beside_apart()
        self._settle_shares()
        self._settle_whatever()
        told = [k for k, m in enumerate(self.marked.mentions) if m.told[0].score >= ENOUGH]
        if len(told) == 1 and patterns.BEFORE_THE_END.search(self.text.sentence):
            sentence, k = self._sentence(told[0]), told[0]
            bound = how_bound(sentence.text)
            if bound.stated and not (bound.negative or bound.permitted) and not count_of(sentence.text):
                self._decide(k, "existence", None)

    def _redirect(self, k: int, others: Sequence[int], first: int) -> None:
        """What a mention may be to others it is to the first of them, of which any will do."""
        found = dict[tuple[str, int | None], float]()
        for o in self.options[k]:
            other = first if o.other in others and k != first else o.other
            found[o.label, other] = found.get((o.label, other), 0.0) + o.probability
        self.options[k] = [Option(label, other, p) for (label, other), p in found.items()]

    def _settle_only_those(self) -> None:
        """What was done to the only things of which a sentence allows something comes first: "only fines that have received a
        penalty go to collection", "an invoice that was checked may be paid, and no other".
        """
        for sentence in self.text.said.sentences:
            those, told = _ONLY_THOSE.match(sentence.text), self._told_in(sentence)
            if those and len(told) == 2 and self._starts(told[0]) >= sentence.start + those.end():
                done, allowed = told
            elif (
                patterns.NO_OTHERS.search(sentence.text)
                and len(told) == 2
                and how_bound(sentence.text).permitted
            ):
                modal = patterns.MODAL_VERB.search(sentence.text)
                behind = [
                    k
                    for k in told
                    if modal
                    and self._starts(k) > sentence.start + modal.start()
                    and not patterns.DONE_TO.search(
                        self.text.sentence, sentence.start + modal.end(), self._starts(k)
                    )
                ]
                allowed = behind[0] if behind else told[0]
                (done,) = (k for k in told if k != allowed)
            else:
                continue
            self._leave_out(sentence, [allowed, done])
            self._decide(done, "precedence", allowed)
            self.options[allowed] = [Option("none", None, 1.0)]

    def _settle_whatever(self) -> None:
        """What may be the case or not changes nothing: "whether it was paid or not", "even if an appeal was filed"; but
        by which act of one verb it is done says that any will do: "no matter whether casually or thoroughly".
        """
        sentence = self.text.sentence
        void = [
            (c.opened, c.end)
            for c, _ in self.text.bound_clauses
            if c.kind == "background" and patterns.WHATEVER.match(c.opener)
        ]
        void += [
            m.span()
            for m in patterns.ALL_THE_SAME.finditer(sentence)
            if not patterns.EITHER_ORDER.search(m[0])
        ]
        inside = [[k for k in range(len(self.options)) if a <= self._starts(k) < b] for a, b in void]
        idle = {k for told in inside for k in told}
        for k in range(len(self.options)):
            if k in idle:
                self.options[k] = [Option("none", None, 1.0)]
            elif any(o.other in idle for o in self.options[k]):
                self._part_from(k, idle)
        for told in inside:
            acts = {self.marked.acts[k]: k for k in told if self._told_enough(k)}
            asked = [
                k
                for k in range(len(self.options))
                if k not in idle and self.marked.acts[k] in acts and self._told_well(k)
            ]
            if asked and len(acts) > 1 and frozenset.intersection(*map(self._heads_of, acts)):
                for k in (k for act, k in acts.items() if act != self.marked.acts[asked[0]]):
                    self._decide(k, "or", asked[0])

    def _heads_of(self, act: str) -> frozenset[str]:
        """The verbs by which an act is told."""
        return frozenset(self.text.words.heads_of(act))

    def _settle_doers(self) -> None:
        """What is asked of the very person who does another act, or is open to that person only: "whoever creates it prints
        it as well", "nobody but the one who checked it may decide".
        """
        for sentence in self.text.said.sentences:
            told = self._told_in(sentence)
            if len(told) != 2 or self.apart.keys() & set(told):
                continue
            first, second = told
            words = self.text.sentence[sentence.start : sentence.end]
            if barred := patterns.NOBODY_BUT.search(words):
                did = [k for k in told if self._starts(k) >= sentence.start + barred.end()][:1]
                done = [k for k in told if k not in did]
                if did and done:
                    self._relate(sentence, did[0], "precedence", done[0])
                    self.alike.add(did[0])
                continue
            plain = patterns.NOT_NEGATIVE.sub(" ", words)
            in_any_order = patterns.EITHER_ORDER.search(self.text.sentence)
            if in_any_order or DISAPPROVES.search(words) or any(p.search(plain) for p in _NOT_ALIKE):
                continue
            if self._does_both(sentence, first, second):
                self._relate(sentence, second, "response", first)
                self.alike.add(second)
            elif (same := patterns.BY_THE_SAME.search(words)) and not how_bound(words).stated:
                between = self._starts(first) < sentence.start + same.start() < self._starts(second)
                if between:
                    self._relate(sentence, first, "response", second)
                    self.alike.add(first)

    def _does_both(self, sentence: Sentence, first: int, second: int) -> bool:
        """Whether somebody of whom the one act is told does the other too, and neither is done to them."""
        text, tokens = self.text.sentence, self.text.tokens
        does = patterns.DOES.search(text, sentence.start, sentence.end)
        behind = tokens[self._telling(first)[1]].end
        return bool(
            does
            and does.end() <= self._starts(first)
            and not re.search(r"[,;:]", text[does.end() : self._starts(first)])
            and patterns.DOES_TOO.search(text, behind, sentence.end)
            and not undergone(text[behind : tokens[self._telling(second)[1]].end])
        )

    def _settle_beside_apart(self) -> None:
        """What a sentence of its own asks for stays a duty beside another that only says who may not do both."""
        kept_apart = {self._main_clause(k) for pair in self.apart.items() for k in (pair[0], pair[1][0])}
        told = [k for k in range(len(self.options)) if kept_apart and self._told_well(k)]
        for part in dict.fromkeys(self._main_clause(k) for k in told):
            here = [k for k in told if self._main_clause(k) == part]
            clause = self._clause(here[0])
            if len(here) > 1 or part in kept_apart or clause.kind != "main":
                continue
            bound = how_bound(self._sentence(here[0]).words_of(clause))
            if bound.stated and not (bound.negative or bound.permitted):
                self._decide(here[0], "existence", None)

    def _settle_shares(self) -> None:
        """What a share of those who are bound must do is asked, and is no habit: "90 per cent of the volunteers have to"."""
        for clause, bound in self.text.bound_clauses:
            share = patterns.SHARE_OF_THOSE.search(self.text.sentence, clause.start, clause.end)
            if (
                clause.kind != "main"
                or share is None
                or bound.negative
                or not bound.stated
                or bound.permitted
            ):
                continue
            told = [k for k in self._inside(clause) if self._told_well(k) and self._starts(k) >= share.end()]
            if len(told) != 1:
                continue
            if all(o.other is None or o.probability < LIKELY for o in self.options[told[0]]):
                self._decide(told[0], "existence", None)

    def _main_clause(self, k: int) -> tuple[int, int]:
        """Which sentence, and which of its main clauses, a mention belongs to."""
        return self._sentence(k).start, self._clause(k).number

    def _settle_exceptions(self) -> None:
        """An act that excuses is told by all words of its clause, and is not asked for by some of them."""
        for k, of in enumerate(self.marked.clauses):
            if of is None or of[0].kind != "unless":
                continue
            excuses = any(
                o.label == "exception" and o.probability >= LIKELY
                for j in self._inside(of[0])
                if j != k and self.marked.acts[j] == self.marked.acts[k]
                for o in self.options[j]
            )
            if excuses and not any(
                o.label == "exception" and o.probability >= LIKELY for o in self.options[k]
            ):
                self.options[k] = [Option("none", None, 1.0)]

    def _settle_set_apart(self) -> None:
        """What was done to those that are set apart from a duty excuses from it: "all invoices other than those that were
        rejected must be paid".
        """
        for sentence in self.text.said.sentences:
            told = self._told_in(sentence)
            for clause in (c for c in sentence.parts if c.kind == "unless" and _SETS_APART.match(c.opener)):
                apart = [k for k in told if clause.opened <= self._starts(k) < clause.end]
                asked = [k for k in told if k not in apart and self._asked_beside(k, clause)]
                if len(apart) != 1:
                    continue
                for k in range(len(self.options)):
                    self._unrelate(k, apart[0])
                due = [k for k in told if k not in apart and self._is_due(k)]
                if len(due) == 1 or asked:
                    self._leave_out(sentence, apart)
                    self._decide(apart[0], "exception", (asked or due)[0])

    def _is_due(self, k: int) -> bool:
        """Whether the model has a mention for what must follow another."""
        return sum(o.probability for o in self.options[k] if o.label == "response") >= LIKELY

    def _unrelate(self, k: int, other: int) -> None:
        """Take away what a mention might be to another."""
        left = [o for o in self.options[k] if o.other != other]
        if len(left) < len(self.options[k]) and (total := sum(o.probability for o in left)):
            self.options[k] = [o._replace(probability=o.probability / total) for o in left]

    def _asked_beside(self, k: int, beside: Clause) -> bool:
        """Whether a mention stands behind what binds in the main clause that another clause belongs to."""
        clause = self._clause(k)
        modal = patterns.MODAL_VERB.search(self.text.sentence, clause.start, clause.end)
        bound = how_bound(self._sentence(k).words_of(clause))
        asks = (
            clause.kind == "main"
            and clause.number >= beside.number
            and not (bound.negative or bound.permitted)
        )
        return asks and modal is not None and self._starts(k) > modal.start()

    def _settle_longer(self) -> None:
        """What may take longer is excused from the time of the duty before it: "only one that was reopened may"; and from
        the duty itself, what it "does not apply to".
        """
        for before, sentence in pairwise(self.text.said.sentences):
            told = self._told_in(sentence)
            longer = patterns.TAKES_LONGER.search(sentence.text) and durations(before.text)
            excused = longer or _NOT_APPLYING.match(sentence.text)
            if len(told) != 1 or not excused or durations(sentence.text):
                continue
            labels = ("response",) if longer else ("response", "existence")
            due = [
                k
                for k, of in enumerate(self.options)
                if self._sentence(k) is before
                and any(o.label in labels and o.probability >= LIKELY for o in of)
            ]
            if due and self.marked.acts[told[0]] != self.marked.acts[due[0]]:
                self._leave_out(sentence, told)
                self._decide(told[0], "exception", due[0])

    def _settle_cases(self) -> None:
        """What a case that has one act must have too, or must not have: "a file that holds X has to hold Y", "a file with X
        and no Y is incomplete".
        """
        for sentence in self.text.said.sentences:
            having = patterns.CASE_THAT.search(sentence.text)
            lacks = _AND_NO.search(sentence.text, having.end()) if having else None
            if having and lacks and DISAPPROVES.search(sentence.text):
                one = self._best_in(sentence.start + having.end(), sentence.start + lacks.start())
                other = self._best_in(sentence.start + lacks.end(), sentence.end)
                if one is not None and other is not None and self.marked.acts[one] != self.marked.acts[other]:
                    self._relate(sentence, other, "responded_existence", one)
                    continue
            told = self._told_in(sentence)
            if having is None or len(told) != 2 or self._starts(told[0]) < sentence.start + having.end():
                continue
            between = self.text.sentence[self._starts(told[0]) : self._starts(told[1])]
            if modal := patterns.MODAL_VERB.search(between):
                bound = how_bound(between[modal.start() :])
                label = "not_coexistence" if bound.negative else "responded_existence"
                self._decide(told[1], label, told[0])
                self._leave_out(sentence, told)

    def _inside(self, clause: Clause) -> list[int]:
        """The mentions of a clause and of no clause within it."""
        return [k for k, of in enumerate(self.marked.clauses) if of is not None and of[0] == clause]

    def _settle_sequences(self) -> None:
        """Two acts that open another, the one after the other ("when it was scanned and then discussed, …"), or stand
        before and behind it ("shall be preceded by … and followed by …").
        """
        for sentence in self.text.said.sentences:
            told = self._told_in(sentence)
            if len(told) != 3 or len({self.marked.acts[k] for k in told}) != 3:
                continue
            first, second, third = told
            words = [self.text.sentence[self._starts(a) : self._starts(b)] for a, b in pairwise(told)]
            if patterns.PRECEDED.search(words[0]) and patterns.FOLLOWED.search(words[1]):
                self._decide(second, "precedence", first)
                self._decide(third, "response", first)
                self._leave_out(sentence, told)
            elif self._opens_together(first, second, third) and (
                patterns.THEN.search(words[0]) or self._then_behind(second)
            ):
                self._decide(second, "response", first)
                self._decide(third, "response", second)
                self._leave_out(sentence, told)

    def _then_behind(self, k: int) -> bool:
        """Whether a word of order stands right behind a mention: "and the goods get packed afterwards"."""
        behind = self.text.tokens[self.marked.spans[k][1]].end
        words = self.text.sentence[behind:].lstrip()
        return bool(patterns.THEN.match(words) or patterns.LATER.match(words))

    def _opens_together(self, first: int, second: int, third: int) -> bool:
        """Whether two mentions stand in clauses that say when a third is due, which a main clause asks for."""
        opening = [self.marked.clauses[k] for k in (first, second)]
        due = self.marked.clauses[third]
        return (
            due is not None
            and due[0].kind == "main"
            and all(
                of is not None
                and of[0].kind == "after"
                and of[0].first
                and not of[1]
                and of[0].number == due[0].number
                for of in opening
            )
        )

    def _settle_coordinated(self) -> None:
        """Acts of two main clauses that bind by words of their own, with nothing said of order, are asked each for
        itself: "the square must be patrolled, and the members must speak with residents".
        """
        for sentence in self.text.said.sentences:
            if patterns.THEN.search(sentence.text) or patterns.ORDERED.search(sentence.text):
                continue
            told = [(k, of) for k in self._told_in(sentence) if (of := self.marked.clauses[k])]
            for k, (clause, *_) in told:
                others = {j for j, of in told if self._each_binds(clause, of[0])}
                if others:
                    self._part_from(k, others)

    def _settle_banned_before(self) -> None:
        """What is banned before or until something was done may be done after it: that comes first. What is banned
        immediately before something may not be followed by it directly.
        """
        for sentence in self.text.said.sentences:
            told = {k: of for k in self._told_in(sentence) if (of := self.marked.clauses[k])}
            told = {k: of for k, of in told.items() if of[0].kind in ("main", "before", "until")}
            banned = [k for k, of in told.items() if of[0].kind == "main" and of[1]]
            first = [k for k, of in told.items() if of[0].kind in ("before", "until") and not of[1]]
            next_to = [k for k in first if told[k][0].direct]
            if len(told) == 2 and banned and next_to:
                self._decide(next_to[0], "not_chain_response", banned[0])
                self.options[banned[0]] = [Option("none", None, 1.0)]
            elif len(told) == 2 and banned and first:
                likeliest = max(self.options[banned[0]], key=lambda o: o.probability)
                if likeliest.label == "absence":
                    self._decide(first[0], "precedence", banned[0])
                    self.options[banned[0]] = [Option("none", None, 1.0)]
            elif (
                len(banned) > 1
                and len(first) == 1
                and {told[k][0].number for k in banned} == {told[first[0]][0].number}
                and patterns.NEITHER.search(sentence.text)
            ):
                self._leave_out(sentence, [first[0], *banned])
                for k in banned:
                    self.options[k] = [Option("none", None, 1.0)]
                come_first = [Option("precedence", k, 1.0) for k in banned]
                self.options[first[0]] = [Option("none", None, 0.0), *come_first]

    def _settle_due_later(self) -> None:
        """What opens comes first, where a time behind it is that by which the main clause's act is due: "confirm it as
        soon as it is placed, at the latest two days later".
        """
        for sentence in self.text.said.sentences:
            told = {k: of for k in self._told_in(sentence) if (of := self.marked.clauses[k])}
            opens = [k for k, of in told.items() if of[0].kind == "after" and not of[1]]
            due = [k for k, of in told.items() if of[0].kind == "main" and not of[1]]
            if (
                len(opens) == len(due) == 1
                and len(told) == 2
                and patterns.SO_MUCH_LATER.search(sentence.text)
                and not how_bound(sentence.words_of(told[due[0]][0])).permitted
            ):
                self._decide(due[0], "response", opens[0])
                self._leave_out(sentence, [opens[0], due[0]])

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
        if taken and not any(o.label == "existence" for o in alone):
            alone.append(Option("existence", None, 0.0))
        self.options[k] = [
            o._replace(probability=o.probability + taken) if o.label == "existence" else o for o in alone
        ]

    def _settle_bounds(self) -> None:
        """What a case must begin or end with is its first or last act, where no other act is said to end so."""
        for clause, _ in self.text.bound_clauses:
            bounds = patterns.ENDS_WITH.search(
                self.text.sentence, clause.start, clause.end
            ) or patterns.EACH_ENDS_WITH.search(self.text.sentence, clause.start, clause.end)
            behind = [k for k in self._inside(clause) if bounds and self._starts(k) >= bounds.end()]
            told = [k for k in self._inside(clause) if self.marked.mentions[k].told[0].head]
            ending = [k for k in told if bounds and bounds.start() <= self._starts(k) < bounds.end()]
            told = [k for k in told if k not in ending]
            if bounds is None or not told or not set(told) <= set(behind):
                continue
            self._decide(told[0], "end" if bounds["end"] else "init", None)
            for k in ending:
                self.options[k] = [Option("none", None, 1.0)]
            for one, other in pairwise(told):
                if not self._joined_by(one, other):
                    break
                self._decide(other, "or", told[0])

    def _settle_counts(self) -> None:
        """How often the only act of a text may or must be done, where the model has it for nothing."""
        told = [k for k in range(len(self.options)) if self._told_well(k)]
        during = [k for k in told if self._opens_a_time(k)]
        told = [k for k in told if k not in during] or self._named_first()
        if len({self.marked.acts[k] for k in told}) != 1:
            return
        of = self.marked.clauses[told[0]]
        count = count_of(self.text.sentence[of[0].start : of[0].end]) if of else None
        if of is None or of[0].kind != "main":
            return
        if count is None:
            self._settle_plain_count(told)
            return
        likeliest = max(self.options[told[0]], key=lambda o: o.probability)
        too_often = count.limit == "most" and likeliest.label == "absence"
        once = count.limit == "exact" and likeliest.label == "existence"
        if not (during or too_often or once) and self.options[told[0]][0].probability < SURELY:
            return
        bound = how_bound(self.text.sentence[of[0].start : of[0].end])
        most = count.limit == "most" or (count.limit == "exact" and bound.permitted)
        named = ":" in self.text.sentence or _SET_OFF.match(self.text.sentence)
        if (bound.stated or during or named) and (most or not (bound.negative or during)):
            self._decide(
                told[0], "at_most" if most else "exactly" if count.limit == "exact" else "existence_n", None
            )

    def _settle_so_many(self) -> None:
        """How many there must be of what an act brings about: "there must be at most two payments"."""
        if "there " not in self.text.sentence.lower():
            return
        for sentence in self.text.said.sentences:
            counted = _THERE_MUST_BE.match(sentence.text)
            count = count_of(sentence.text) if counted else None
            if counted is None or count is None or not sentence.text.startswith(count.words, counted.end()):
                continue
            place = sentence.start + counted.end() + len(count.words)
            behind = [k for k in range(len(self.options)) if self._starts(k) >= place]
            told = min(behind, key=self._starts, default=None)
            if told is not None and self._starts(told) == place + 1 and self._told_well(told):
                label = {"most": "at_most", "least": "existence_n"}.get(count.limit, "exactly")
                self._decide(told, label, None)

    def _named_first(self) -> list[int]:
        """The mention of the name of an act that a text begins with, set off: "Reminders: two at most"."""
        named = _SET_OFF.match(self.text.sentence)
        first = self._best_in(named.start("name"), named.end("name")) if named else None
        return [] if first is None else [first]

    def _settle_plain_count(self, told: Sequence[int]) -> None:
        """What must be done "twice" is no ban on doing it again."""
        for k in told:
            clause = self._clause(k)
            words = self.text.sentence[clause.start : clause.end]
            bound, likeliest = how_bound(words), max(self.options[k], key=lambda o: o.probability)
            often = _OFTEN.search(words) and likeliest.label == "at_most"
            if often and bound.stated and not (bound.negative or bound.permitted):
                self._decide(k, "existence", None)

    def _opens_a_time(self, k: int) -> bool:
        """Whether a mention stands in a clause from which a time runs: "in the week after it was confirmed"."""
        of = self.marked.clauses[k]
        opener = of[0].opener if of and of[0].kind == "after" else ""
        return bool(patterns.DURING.match(opener) and durations(opener))

    def _lists_of_acts(self) -> list[list[int]]:
        """Mentions of one binding clause with nothing but commas and "or" between them."""
        lists, told = list[list[int]](), [m.told[0] for m in self.marked.mentions]
        for k, of in enumerate(self.marked.clauses):
            within = any(told[k].at in other.used and told[k].at != other.at for other in told)
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

    def _either(self, found: Sequence[int]) -> bool:
        """Whether a list of acts says that one of them must be done."""
        of = self.marked.clauses[found[0]]
        if of is None:
            return False
        told, bound = (
            self._sentence(found[0]).words_of(of[0]),
            how_bound(self._sentence(found[0]).words_of(of[0])),
        )
        last = self._between(found[-2], found[-1])
        binds = bound.stated or re.search(r"\beither\b", told, re.IGNORECASE) or ":" in told
        words = _NEVER_BOTH.sub(" ", self._sentence(found[0]).text)
        exclusive = re.search(r"\b(?:both|never)\b", words, re.IGNORECASE)
        return bool(
            any(t.text == "or" for t in last)
            and binds
            and not (bound.negative or bound.permitted or exclusive)
            and not patterns.MUTUAL_END.search(told)
        )
