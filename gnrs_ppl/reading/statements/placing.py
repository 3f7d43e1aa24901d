"""What a text says of the place of an act among all others: right behind another, the first or last of its case."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.clauses import FULL_STOP
from gnrs_ppl.reading.constructions import Constructions, Sentence, how_bound
from gnrs_ppl.reading.disapproval import DISAPPROVES
from gnrs_ppl.reading.quantities import PLAIN_DURATION, count_of, durations
from gnrs_ppl.reading.relations import Option, Weights
from gnrs_ppl.reading.statements.mentioned import LIKELY
from gnrs_ppl.reading.statements.pending import Pending
from gnrs_ppl.reading.wording import Wording

_NOTHING_BEFORE = Wording(
    r"\bnothing(?: else| other| at all)*(?: (?:may|must|shall|can|should|is to))?(?: ever)? "
    r"(?:happens?|occurs?|comes?|takes? place|is done|be done)"
    r"(?: (?:on|in|to|with|for) (?:an?|the|any|that|this) \w+)?\s+before\b"
)
"""Before the act that comes first of all."""
_BEFORE_ALL = Wording(
    r"\bbefore\s+(?:(?:any|every)(?:thing)?(?: at all)?\s+(?:else|other(?:\s+\w+)?)|all else)\b(?P<then>[^.;:]*)"
)
"""Behind, or before, the act that comes first of all: "before anything else is put on its file"."""
_NOT_NONE = Wording(
    r"\b(?:not|never|neither|nor|fails? (?:with|at|on))\s+(?:zero|none|nothing|any (?:less|fewer))\b|\bno (?:less|fewer)\b(?! than)"
)
_NOT_MORE = Wording(
    r"\b(?:not|never|neither|nor|fails? (?:with|at|on))\s+(?:two|twice|several|(?:any )?more)\b|\bno more\b(?! than)"
)
"""With the one before: of what there is one, there is neither none nor more than that."""
_OR, _EITHER_WAY = (Wording(rf"\b(?:{words})\b") for words in ("or", "neither|nor|one of|either|none|third"))
_ONE = Wording(r"\b(?:one|an?|once)\b")
_NOTHING_AFTER = Wording(
    r"\bnothing(?: else| other| more| further| at all| whatsoever)*(?: (?:may|must|shall|can|should|is to|will))?(?: ever)?"
    r"(?: (?:be|is|gets?|being|to be|happens?|occurs?|comes?|takes? place|follows?))?(?: done| put| \w+ed)?"
    r"(?: (?:on|in|to|with|for) (?:an?|the|any|that|this|its) \w+)?\s+(?:after|behind)\b"
)
"""Behind, or before, the act that comes last of all."""
_MUST_HAVE = Wording(
    r"\b(?:must|should|shall|needs? to|ha(?:s|ve) to) (?:already )?have (?:already )?(?:been )?"
)
_LOOKS_BACK = Wording(
    rf"\b(?:the|these|those) (?:preceding|previous|last|past|prior) {PLAIN_DURATION}|"
    r"\b(?:at|by) the (?:time|moment|point|date) (?:of|that|when)\b"
)
"""With "must have been", says that what is asked comes before the other act."""
_AND = Wording(r"\band\b")
_BETWEEN = Wording(r"\bbetween\b(?P<one>[^.;]*?)\band\b")
_FROM_TO = Wording(r"\bfrom\b(?P<one>[^.;]*?)\b(?:to|until|till)\b(?=[^.;]*\b(?:pass|elapse|go by)\b)")
_LEADS = next(pattern for name, pattern in patterns.RELATIONS if name == "leads")
_BARS_BOTH = Wording(
    rf"\b(?:never|cannot|\w+n['’]t|(?:may|must|shall|should|can|is to|are to|do|does) not)\b|\bno \w+(?: \w+)? (?:may|must|shall|should|can)\b|{DISAPPROVES.pattern}"
)
_IT = Wording(r"\s*(?:it|they|this|that)\b")
_JOINT = Wording(r"\s*[,;]\s*(?:and\s+)?|\s+and\s+")
TOLD_BY_PLACE = 0.38
"""Least score of a verb or noun that tells an act where its place asks for one."""


class Placing(Pending):
    """A text and the places that it gives its acts: ``carried_on`` has those that open together, the one after the other, and
    ``placed`` those that a construction asks for where they stand; ``of_both`` where sentences begin that say something of two told
    before.
    """

    def __init__(self, text: Constructions, weights: Weights) -> None:
        super().__init__(text, weights)
        self.carried_on = set[tuple[str, str]]()
        self.placed = set[str]()
        self.of_both = set[int]()

    def _settle_carried_on(self) -> None:
        """What is due within a time that runs from another act than the one that opens starts anew from that: "each time an
        item is out of stock, the next package must be shipped within a day of being packed".
        """
        for sentence in self.text.said.sentences:
            modal = patterns.MODAL_VERB.search(self.text.sentence, sentence.start, sentence.end)
            opened = [
                c
                for c in sentence.parts
                if c.kind == "after" and c.first and not patterns.SUPPOSITION.match(c.opener)
            ]
            timed = [c for c in sentence.parts if c.kind == "after" and not c.first and durations(c.opener)]
            if modal is None or len(opened) != 1 or len(timed) != 1 or how_bound(sentence.text).negative:
                continue
            stretches = (
                (opened[0].start, opened[0].end),
                (timed[0].start, timed[0].end),
                (modal.end(), timed[0].opened),
            )
            first, second, due = (self._best_in(a, b) for a, b in stretches)
            if first is None or second is None or due is None:
                continue
            told = (first, second, due)
            if len({self.marked.acts[k] for k in told}) == 3 and all(map(self._told_well, told)):
                self._relate(sentence, second, "response", first)
                self._decide(due, "response", second)
                self.carried_on.add((self.marked.acts[first], self.marked.acts[second]))

    def _settle_spans(self) -> None:
        """What must have been done at the time of another act comes before it; of two acts between which only so much time
        may go by the second is due after the first.
        """
        for sentence in self.text.said.sentences:
            if must := _MUST_HAVE.search(sentence.text):
                told = self._told_in(sentence)
                asked = [k for k in told if self._starts(k) >= sentence.start + must.end()][:1]
                others = [k for k in told if k not in asked]
                if asked and len(others) == 1 and _LOOKS_BACK.search(sentence.text):
                    self._relate(sentence, asked[0], "precedence", others[0])
            if goes_by := patterns.GOES_BY_BEFORE.search(sentence.text):
                self._due_before(sentence, goes_by)
            between = _BETWEEN.search(sentence.text) if self._limits_what_elapses(sentence) else None
            if between is None and patterns.GOES_BY.search(sentence.text):
                between = _FROM_TO.search(sentence.text)
            if between is None:
                continue
            first = self._best_in(sentence.start + between.start("one"), sentence.start + between.end("one"))
            second = self._best_in(sentence.start + between.end(), sentence.end)
            if (
                first is not None
                and second is not None
                and self.marked.acts[first] != self.marked.acts[second]
            ):
                self._relate(sentence, second, "response", first)

    def _due_before(self, sentence: Sentence, goes_by: re.Match[str]) -> None:
        """What is told behind "no more than an hour may go by … before" is due within that time, after the act told between
        where there is one, or after what was done to the thing ("until an appeal that was filed is decided").
        """
        behind = sentence.start + goes_by.end()
        first = self._best_in(sentence.start + goes_by.start("since"), sentence.start + goes_by.end("since"))
        told = [k for k in self._told_in(sentence) if self._starts(k) >= behind]
        done = [k for k in told if patterns.DONE_TO.search(self.text.sentence[behind : self._starts(k)])][:1]
        due = self._best_in(behind, sentence.end)
        if first is None and len(told) == 2 and done:
            first, (due,) = done[0], (k for k in told if k not in done)
        if due is not None and first is not None and self.marked.acts[first] != self.marked.acts[due]:
            self._relate(sentence, due, "response", first)
        elif due is not None and first is None:
            self._relate(sentence, due, "existence", None)

    def _settle_belonging(self) -> None:
        """Two acts that belong together are never the one without the other, in whatever order."""
        for sentence in self.text.said.sentences:
            belong = patterns.BELONG.search(sentence.text)
            joint = _AND.search(sentence.text, 0, belong.start()) if belong else None
            if (
                belong is None
                or joint is None
                or patterns.NEGATIVE.search(sentence.text, joint.end(), belong.start())
            ):
                continue
            sides = (0, joint.start()), (joint.end(), belong.start())
            first, second = (self._best_in(sentence.start + a, sentence.start + b) for a, b in sides)
            if (
                first is not None
                and second is not None
                and self.marked.acts[first] != self.marked.acts[second]
            ):
                self._relate(sentence, second, "coexistence", first)

    def _limits_what_elapses(self, sentence: Sentence) -> bool:
        """Whether a sentence says how much time may go by between two acts, and not how much must."""
        words = patterns.NO_LONGER.sub(" ", sentence.text)
        waits = any(p.search(words) for p in (patterns.EARLIEST, patterns.TOO_SOON))
        return bool(patterns.ELAPSES.search(sentence.text) and durations(sentence.text)) and not waits

    def _best_in(self, start: int, end: int) -> int | None:
        """The mention that a stretch tells best by its verb or noun."""
        told = {k: m.told[0] for k, m in enumerate(self.marked.mentions) if start <= self._starts(k) < end}
        best = max(told, key=lambda k: (told[k].head, told[k].score), default=None)
        return best if best is not None and told[best].score >= TOLD_BY_PLACE else None

    def _relate(self, sentence: Sentence, target: int, label: str, other: int | None) -> None:
        """Decide what a mention is, by itself or to another, and that a sentence tells nothing else."""
        for k in range(len(self.options)):
            if self._sentence(k) is sentence:
                self.options[k] = [Option("none", None, 1.0)]
        self._decide(target, label, other)
        self.placed |= {self.marked.acts[k] for k in (target, other) if k is not None}

    def _settle_places(self) -> None:
        """The act told before "that has to be the last entry" is the last of its case, and what nothing else happens
        before is the first; what is done "only straight after" another has that right before it.
        """
        for before, sentence in pairwise(self.text.said.sentences):
            takes = patterns.TAKES_PLACE.search(sentence.text)
            told = self._told_in(before)
            if takes is not None and len(told) == 1 and not self._told_in(sentence):
                self._decide(told[0], "end" if takes["last"] else "init", None)
                self._leave_out(before, [told[0], told[0]])
        for sentence in self.text.said.sentences:
            told = self._told_in(sentence)
            if len(told) == 1 and _NOTHING_BEFORE.search(sentence.text):
                self._decide(told[0], "init", None)
            if after := _NOTHING_AFTER.search(sentence.text):
                rest = [
                    k for k in told if not after.start() <= self._starts(k) - sentence.start < after.end()
                ]
                if len(rest) == 1:
                    self._relate(sentence, rest[0], "end", None)
            first = [k for k in told if self._clause(k).kind == "only_after" and self._clause(k).direct]
            then = [k for k in told if self._clause(k).kind == "main"]
            if len(told) == 2 and len(first) == len(then) == 1:
                self._leave_out(sentence, [then[0], first[0]])
                self._decide(first[0], "chain_precedence", then[0])
                self.options[then[0]] = [Option("none", None, 1.0)]
        self._settle_first_of_all()
        self._settle_the_two()
        self._settle_single()
        self._settle_led_on()
        self._settle_headed()

    def _settle_next_to(self) -> None:
        """What may never stand right behind another act, or right before it; and what must, as "the next thing after …" or
        "only where the step right before it is …" tells.
        """
        for sentence in self.text.said.sentences:
            if before := patterns.STEP_BEFORE.search(sentence.text):
                self._step_before(sentence, before)
            elif (beside := patterns.NEXT_TO.search(sentence.text)) is not None:
                self._next_to(sentence, beside)

    def _step_before(self, sentence: Sentence, before: re.Match[str]) -> None:
        first = self._best_in(sentence.start + before.end(), sentence.end)
        then = self._best_in(sentence.start, sentence.start + before.start())
        if first is None or then is None or self.marked.acts[first] == self.marked.acts[then]:
            return
        banned = how_bound(sentence.text[: before.start()]).negative
        if banned and before["opens"].lower() != "unless":
            self._relate(sentence, then, "not_chain_response", first)
        else:
            self._relate(sentence, first, "chain_precedence", then)

    def _next_to(self, sentence: Sentence, beside: re.Match[str]) -> None:
        start, end = sentence.start + beside.start(), sentence.start + beside.end()
        told = [k for k in self._told_in(sentence) if not start <= self._starts(k) < end]
        behind = [k for k in told if self._starts(k) >= end][:1]
        clause = self._clause_at(start)
        denied = [
            (c.kind == "main" and bound.negative)
            or patterns.BARRED.search(self.text.sentence, c.start, c.end)
            for c, bound in self.text.bound_clauses
            if clause and c.number == clause.number and self._sentence_at(c.start) is sentence
        ]
        lets = patterns.LETS_BETWEEN.search(sentence.text) or durations(sentence.text)
        duty = beside["next"] and patterns.DUTY.search(sentence.text)
        if len(told) != 2 or not behind or lets or not (any(denied) or duty):
            return
        (other,) = (k for k in told if k not in behind)
        earlier, later = (other, behind[0]) if beside["by"] else (behind[0], other)
        self._relate(sentence, later, "not_chain_response" if any(denied) else "chain_response", earlier)

    def _settle_first_of_all(self) -> None:
        """The only act told well with "before anything else" is the first; the words on what else say no act."""
        for sentence in self.text.said.sentences:
            before = _BEFORE_ALL.search(sentence.text)
            told = [] if before is None else self._told_in(sentence)
            if before is None or patterns.NEGATIVE.search(sentence.text) or not told:
                continue
            begins, ends = (sentence.start + place for place in before.span())
            if before.start() < self._starts(told[0]) - sentence.start < before.end():
                ends = sentence.start + before.start("then")
                ends += re.match(r"[^,]*", before["then"]).end()  # type: ignore[union-attr]
            told = [k for k in told if not begins <= self._starts(k) < ends]
            if len(told) == 1:
                self._relate(sentence, told[0], "init", None)

    def _settle_the_two(self) -> None:
        """What a sentence says of "the two" is said of the only two acts told before it: that they never stand in one case, or
        that one of them ends or begins it.
        """
        for number, sentence in enumerate(self.text.said.sentences):
            two = patterns.THE_TWO.search(sentence.text)
            told = self._two_before(number) if two else []
            chosen = any(
                o.label == "exclusive_choice" and o.probability >= LIKELY
                for k in told
                for o in self.options[k]
            )
            if two is None or len(told) != 2 or chosen:
                continue
            words = self.text.sentence[sentence.start : self._full_stop(sentence.end - 1)]
            place, together = patterns.OF_PLACE.search(words), patterns.IN_ONE_CASE.search(words)
            bound = how_bound(words)
            beside = [m.span() for m in (two, place, together) if m]
            told_here = [self._starts(k) - sentence.start for k in self._told_in(sentence)]
            if not all(any(a <= at < b for a, b in beside) for at in told_here):
                continue
            earlier = self.text.said.sentences[:number]
            if place and re.match(r"(?i)one|either", two[0]) and not bound.negative:
                label, other = ("end" if place["last"] or place["closes"] else "init"), "or"
            elif together and _BARS_BOTH.search(words) and not _EITHER_WAY.search(words):
                label, other = "", "not_coexistence"
            else:
                continue
            self._clear((*earlier, sentence))
            if label:
                self._decide(told[0], label, None)
            self._decide(told[1], other, told[0])
            self.placed |= {self.marked.acts[k] for k in told}
            self.of_both.add(sentence.start)

    def _two_before(self, number: int) -> list[int]:
        """Mentions of the only two acts that the sentences before one tell well."""
        told = [k for s in self.text.said.sentences[:number] for k in self._told_in(s)]
        within = {
            k
            for k in told
            for j in told
            if self.marked.acts[j] != self.marked.acts[k]
            and self.marked.mentions[k].at in self.marked.mentions[j].told[0].used
            and len(self.marked.mentions[j].told[0].used) > len(self.marked.mentions[k].told[0].used)
        }
        told = [k for k in told if k not in within]
        first = {self.marked.acts[k]: k for k in reversed(told)}
        return sorted(first.values())

    def _full_stop(self, place: int) -> int:
        """Where the sentence ends, to its full stop, that holds a place."""
        stop = FULL_STOP.search(self.text.sentence, place)
        return stop.start() if stop else len(self.text.sentence)

    def _clear(self, sentences: Sequence[Sentence]) -> None:
        """What sentences tell is nothing."""
        for k in range(len(self.options)):
            if self._sentence(k) in sentences:
                self.options[k] = [Option("none", None, 1.0)]

    def _settle_single(self) -> None:
        """The act told last, before words that there is neither none nor two of it, is due exactly once."""
        text = self.text.sentence
        none, more = _NOT_NONE.search(text), _NOT_MORE.search(text)
        if none is None or more is None:
            return
        place = min(none.start(), more.start())
        told = [k for s in self.text.said.sentences for k in self._told_in(s) if self._starts(k) < place]
        if (
            not told
            or _OR.search(text, 0, place)
            or count_of(text[:place])
            or not _ONE.search(text, self._sentence(told[-1]).start, place)
        ):
            return
        self._relate(self._sentence(told[-1]), told[-1], "exactly", None)

    def _settle_led_on(self) -> None:
        """Three acts of which the second follows the first and the third the second, where two clauses say so: "A must lead to B,
        B must lead to C".
        """
        for sentence in self.text.said.sentences:
            marks = list(_LEADS.finditer(sentence.text))
            if len(marks) != 2 or patterns.NEGATIVE.search(sentence.text):
                continue
            joint = _JOINT.search(sentence.text, marks[0].end(), marks[1].start())
            if joint is None:
                continue
            edges = (
                0,
                marks[0].start(),
                marks[0].end(),
                joint.start(),
                joint.end(),
                marks[1].start(),
                marks[1].end(),
            )
            stretches = (*edges, len(sentence.text))
            first, second, again, third = (
                self._best_in(sentence.start + a, sentence.start + b)
                for a, b in zip(stretches[::2], stretches[1::2], strict=True)
            )
            if first is None or second is None or again is None or third is None:
                continue
            acts = [self.marked.acts[k] for k in (first, second, again, third)]
            if acts[1] == acts[2] and len(set(acts)) == 3:
                self._relate(sentence, second, "response", first)
                self._decide(third, "response", again)
                self.placed.add(acts[3])

    def _settle_headed(self) -> None:
        """What a heading tells opens what is due behind its colon within a time "after it": "Appeal: forwarding 60 days after it
        is lodged".
        """
        for sentence in self.text.said.sentences:
            colon = self.text.sentence.find(":", sentence.start, sentence.end - 1)
            told = self._told_in(sentence) if colon > 0 else []
            after = [c for c in sentence.parts if c.kind == "after" and durations(c.opener)]
            if len(told) != 2 or len(after) != 1 or not _IT.match(self.text.sentence, after[0].start):
                continue
            apart = self._starts(told[0]) < colon < self._starts(told[1]) < after[0].opened
            if apart and not patterns.NEGATIVE.search(sentence.text):
                self._relate(sentence, told[1], "response", told[0])
