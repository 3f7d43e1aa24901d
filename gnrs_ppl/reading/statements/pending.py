"""What a text bars while something else is still to be done, and the duties with a time that another clause speaks of
again.
"""

from __future__ import annotations

from collections.abc import Set

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.clauses import Clause
from gnrs_ppl.reading.constructions import Sentence, how_bound
from gnrs_ppl.reading.disapproval import DISAPPROVES
from gnrs_ppl.reading.quantities import durations
from gnrs_ppl.reading.relations import Option
from gnrs_ppl.reading.statements.lacking import Lacking
from gnrs_ppl.reading.statements.mentioned import LIKELY, WELL_TOLD
from gnrs_ppl.reading.vocabulary import ENOUGH
from gnrs_ppl.reading.wording import Wording

_AND, _OR = (Wording(rf"\b{word}\b") for word in ("and", "or"))
_WHILE = Wording(r"\b(?:while|(?:as|so) long as)\b")
_OTHER_THAN_WHO = Wording(r"\bother than (?:whoever|(?:the|that|those|any)(?: \w+){1,2} (?:who|that))\b")

_EITHER = Wording(r"\beither\b")
_NOT_BOTH = Wording(
    r"\b(?:never|not) (?:ever )?both\b|\bboth(?: of (?:them|these|those|the two)| together| at once| at the same time)? "
    r"(?:(?:is|are|would be|counts? as|must|may|can|should|will) )?(?:(?:always|clearly|considered|seen as|regarded as) )?(?:an? )?"
    r"(?:errors?|mistakes?|breach(?:es)?|faults?|violations?|wrong|forbidden|prohibited|not|never|impossible|excluded|ruled out|out of the question|unacceptable|too much)\b"
)
"""Bars what "either … or …" would leave open."""
_SHUT_OUT = (
    patterns.EXCLUSIVE,
    patterns.NEGATIVE,
    patterns.ELSE,
    patterns.FOUR_EYES,
    patterns.COMPARES_PERSONS,
    patterns.PERMISSION,
    DISAPPROVES,
    Wording(
        r"\b(?:or|different|separate\w*|apart|same|other|either|only|whoever|two|both|kept|split|divide\w*)\b"
    ),
)
"""One of these may shut out one of two acts where the other is done."""
_ONLY_ONE = Wording(
    r"\b(?:both|only|just|never|not|no|neither|exactly|exclusive\w*|one|other|single|instead|together|alternativ\w+|else|same|excludes?|rather)\b|n['’]t\b"
)
"""With one of these it may be that only one of two acts is allowed."""

_WAITED_FOR = ("before", "until", "unless")
"""Clauses on what has to come first where something is banned."""
_NO_CHOICE = frozenset({"and", "nor", "neither", "but", "not", "never", ";", "."})
"""Between two acts of which not just any will do."""


class Pending(Lacking):
    """A text and what it says must wait for what is still to be done."""

    def _settle_pending(self) -> None:
        """What is barred while something has not been done ("while the order is unpaid") may be done after it only; where
        another act has begun that wait ("while an appeal is undecided"), what ends it excuses.
        """
        for sentence in self.text.said.sentences:
            opened = _WHILE.search(sentence.text)
            told = self._told_in(sentence)
            if opened is None or not told:
                continue
            place = sentence.start + opened.end()
            barred = [k for k in told if self._starts(k) < place and self._bars(sentence, k, place)]
            waits = [k for k in told if self._starts(k) > place]
            lacking = [k for k in waits if self._still_to_come(k, place)]
            if len(barred) != 1 or len(lacking) != 1 or len(waits) > 2:
                continue
            (ban,), (done,) = barred, lacking
            behind = [k for k in range(len(self.options)) if place < self._starts(k) < sentence.end]
            others = [
                k
                for k in behind
                if self.marked.acts[k] not in (self.marked.acts[done], self.marked.acts[ban])
            ]
            begun = [k for k in others if self.marked.mentions[k].told[0].score >= WELL_TOLD]
            for k in (*behind, ban):
                self.options[k] = [Option("none", None, 1.0)]
            if not begun:
                self._decide(done, "precedence", ban)
            elif not self._ambiguous(begun[0]):
                self._decide(ban, "not_response", begun[0])
                self._decide(done, "exception", ban)

    def _settle_turned(self) -> None:
        """What is banned before, until or unless something else was done is never banned after that: "unless a task was
        published, a courier must not deliver" has the other come first.
        """
        for k, of in enumerate(self.options):
            clause = self.marked.clauses[k]
            likeliest = max(of, key=lambda o: (o.label != "none", o.probability)).label
            if clause is None or clause[0].kind != "main" or likeliest not in ("not_response", "absence"):
                continue
            banned = [o for o in of if o.label == "not_response" and o.other is not None]
            turned = [o.other for o in banned if o.other is not None and self._comes_before(k, o.other)]
            after = max(banned, key=lambda o: o.probability, default=None)
            likely = len(turned) == 1 and after is not None and after.other == turned[0]
            if (
                turned
                and (likely or len(turned) == len(banned))
                and how_bound(self.text.sentence[clause[0].start : clause[0].end]).negative
            ):
                self._decide(turned[0], "precedence", k)
                self.options[k] = [Option("none", None, 1.0)]

    def _settle_either_first(self) -> None:
        """Of two acts that "or" joins where something is banned before, until or unless they were done, either will do: "may not
        be discharged before the blood was tested or a scan was taken".
        """
        for sentence in self.text.said.sentences:
            told = list(self._told_in(sentence)) if " or " in sentence.text else []
            if len(told) != 3 or durations(sentence.text):
                continue
            banned = [k for k in told if (of := self.marked.clauses[k]) and of[0].kind == "main" and of[1]]
            ways = [k for k in told if self._clause(k).kind in _WAITED_FOR]
            if len(banned) != 1 or len(ways) != 2 or self._clause(ways[0]).kind != self._clause(ways[1]).kind:
                continue
            one, other = (max(self.marked.mentions[k].told[0].used) for k in ways)
            between = {t.text for t in self.text.tokens[min(one, other) : max(one, other)]}
            if not _NO_CHOICE.isdisjoint(between) or "or" not in between or any(map(self._undone, ways)):
                continue
            self._leave_out(sentence, [banned[0], *ways])
            self.options[banned[0]] = [Option("none", None, 1.0)]
            self._decide(ways[0], "precedence", banned[0])
            self._decide(ways[1], "or", ways[0])

    def _settle_exclusive(self) -> None:
        """Of two acts that "either … or …" joins one must be done and not both, where both are barred: "either the fine is paid
        or it is sent for collection; both is an error".
        """
        for number, sentence in enumerate(self.text.said.sentences):
            opened = _EITHER.search(sentence.text)
            behind = self.text.said.sentences[number + 1 : number + 2]
            barred = (
                sentence
                if opened and _NOT_BOTH.search(sentence.text)
                else next((s for s in behind if _NOT_BOTH.search(s.text) and not self._told_in(s)), None)
            )
            if opened is None or barred is None:
                continue
            told = list(self._told_in(sentence))
            if len(told) != 2 or self.marked.acts[told[0]] == self.marked.acts[told[1]]:
                continue
            first, then = told
            ends = [self.text.tokens[max(self.marked.mentions[k].told[0].used)].start for k in told]
            between = self.text.sentence[min(ends) : max(ends)]
            place = _NOT_BOTH.search(sentence.text)
            bound = how_bound(sentence.text[: place.start()] if place else sentence.text)
            if _OR.search(between) and not (bound.negative or bound.permitted):
                self._leave_out(sentence, told)
                self._decide(then, "exclusive_choice", first)
                self.options[first] = [Option("none", None, 1.0)]

    def _settle_plain_choice(self) -> None:
        """Of two acts that "either … or …" joins one is due, and both are no fault unless something says so; where somebody may
        do either and not both, neither is asked ("may be paid or appealed, but never both").
        """
        for k, of in enumerate(self.options):
            if not any(o.label == "exclusive_choice" and o.probability >= LIKELY for o in of):
                continue
            sentence = self._sentence(k)
            barred = _NOT_BOTH.search(sentence.text)
            bound = how_bound(sentence.text[: barred.start()]) if barred else None
            if bound and bound.permitted and not bound.negative and _OR.search(sentence.text):
                meant = "not_coexistence"
            elif not _ONLY_ONE.search(self.text.sentence) and _EITHER.search(sentence.text):
                meant = "choice"
            else:
                continue
            self.options[k] = [
                o._replace(label=meant) if o.label in ("exclusive_choice", "choice") else o for o in of
            ]

    def _settle_both_asked(self, apart: Set[int]) -> None:
        """Two acts that a sentence asks for and joins by "and" do not shut each other out, where no word bars or compares: "must be
        opened and scored right away".
        """
        for k, of in enumerate(self.options):
            likely = max((o for o in of if o.label != "none"), key=lambda o: o.probability, default=None)
            if likely is None or likely.label != "not_coexistence" or likely.other is None:
                continue
            sentence = self._sentence(k)
            bound = how_bound(sentence.text)
            if k in apart or likely.other in apart:
                continue
            if bound.negative or bound.permitted or not patterns.DUTY.search(sentence.text):
                continue
            if any(p.search(self.text.sentence) for p in _SHUT_OUT) or not _AND.search(sentence.text):
                continue
            self._decide(k, "existence", None)
            self._decide(likely.other, "existence", None)

    def _comes_before(self, ban: int, k: int) -> bool:
        """Whether a clause in front of a ban, before, until or unless which it holds, tells what was done."""
        of, banned = self.marked.clauses[k], self._clause(ban)
        if of is None or of[1] or of[0].kind not in ("before", "until", "unless") or self._undone(k):
            return False
        waits = durations(self.text.sentence[of[0].opened : of[0].end])
        own = of[0].first and of[0].number == banned.number and self._sentence(k) is self._sentence(ban)
        return own and not waits

    def _bars(self, sentence: Sentence, k: int, end: int) -> bool:
        """Whether words up to a place forbid what a mention tells."""
        return how_bound(self.text.sentence[sentence.start : end]).negative and not self._undone(k)

    def _still_to_come(self, k: int, place: int) -> bool:
        """Whether words behind a place say that what a mention tells has not been done."""
        before = self.text.sentence[place : self._starts(k)]
        return bool(self._undone(k) or patterns.NOT_DONE.search(before))

    def _ambiguous(self, k: int) -> bool:
        """Whether words tell two acts equally well."""
        best, *others = self.marked.mentions[k].told
        word = self.text.tokens[best.at].text
        begin_so = {a.name for a in self.text.words.acts for v in a.variants if v and v[0][0] == word}
        return (len(best.used) == 1 and len(begin_so) > 1) or any(
            o.activity != best.activity and o.score >= best.score - 1e-6 for o in others
        )

    def _settle_things(self) -> None:
        """A thing that a verb beside it tells an act of is no act by itself: "the fine must not go to collection"."""
        for k, m in enumerate(self.marked.mentions):
            best, clause = m.told[0], self.marked.clauses[k]
            if best.score >= ENOUGH or best.head or best.at not in self.text.things or clause is None:
                continue
            told = (j for j, of in enumerate(self.marked.clauses) if of == clause and j != k)
            if any(
                t.by_verb and t.score >= WELL_TOLD for j in told for t in [self.marked.mentions[j].told[0]]
            ):
                self.options[k] = [Option("none", None, 1.0)]

    def _settle_further(self) -> None:
        """What "and" adds to ways to meet a duty is no further way, and due like them: "examined thoroughly or casually, and
        decided".
        """
        for k, of in enumerate(self.options):
            best = max(of, key=lambda o: o.probability)
            if best.label != "or" or best.other is None or best.other > k:
                continue
            before = self.text.tokens[self.marked.spans[k - 1][1]].end
            between = self.text.sentence[before : self._starts(k)]
            either = self.text.sentence[self._starts(best.other) : before]
            if _AND.search(between) and not _OR.search(between) and _OR.search(either):
                like = max(self.options[best.other], key=lambda o: o.probability)
                self._decide(k, like.label, like.other)

    def _settle_timed_duties(self) -> None:
        """What a main clause asks for within a time stays a duty where another clause only comes back to it: "must be
        checked within two days, and may not be sent unless it was checked".
        """
        well = [k for k, m in enumerate(self.marked.mentions) if m.told[0].score >= WELL_TOLD]
        for sentence in self.text.said.sentences:
            for clause in (c for c in sentence.parts if c.kind == "main"):
                told = [k for k in well if self._clause(k) == clause and self._sentence(k) is sentence]
                if len({self.marked.acts[k] for k in told}) != 1 or not self._asks_in_time(sentence, clause):
                    continue
                again = [
                    k
                    for k in well
                    if self.marked.acts[k] == self.marked.acts[told[0]]
                    and self._sentence(k) is sentence
                    and self._clause(k).kind != "main"
                    and self._clause(k).number != clause.number
                ]
                if again:
                    self._decide(told[0], "existence", None)

    def _settle_other_than(self) -> None:
        """What another person than whoever did something must do within a time is due after that."""
        for sentence in self.text.said.sentences:
            told = self._told_in(sentence)
            apart = _OTHER_THAN_WHO.search(sentence.text)
            ordered = any(c.kind in ("after", "before", "until") for c in sentence.parts)
            if apart is None or len(told) != 2 or ordered or not durations(sentence.text):
                continue
            did = [k for k in told if self._starts(k) > sentence.start + apart.end()][:1]
            due = [k for k in told if k not in did]
            if len(due) == 1 and not how_bound(sentence.text).negative:
                self._leave_out(sentence, [did[0], due[0]])
                self.options[did[0]] = [Option("none", None, 1.0)]
                self._decide(due[0], "response", did[0])

    def _asks_in_time(self, sentence: Sentence, clause: Clause) -> bool:
        """Whether a main clause asks for something within a time that no clause of its own says the beginning of."""
        words = sentence.words_of(clause)
        bound = how_bound(words)
        own = any(c.number == clause.number and c.kind != "main" for c in sentence.parts)
        return bound.stated and not (bound.negative or bound.permitted or own) and bool(durations(words))
