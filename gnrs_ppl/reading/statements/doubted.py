"""What a text seems to state and does not: facts, acts of no schema, what befell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.clauses import MODAL, Clause
from gnrs_ppl.reading.disapproval import DISAPPROVES
from gnrs_ppl.reading.duties import states_duty
from gnrs_ppl.reading.manner import is_vague
from gnrs_ppl.reading.mentions import Mention
from gnrs_ppl.reading.quantities import PLAIN_DURATION, durations
from gnrs_ppl.reading.statements.mentioned import WELL_TOLD
from gnrs_ppl.reading.statements.related import acts_of
from gnrs_ppl.reading.statements.stated import Stated
from gnrs_ppl.reading.types import Nothing, Reading, Unread
from gnrs_ppl.reading.vocabulary import COMMON_VERBS, ENOUGH, LIGHT, STOP
from gnrs_ppl.reading.wording import AsWritten, Wording
from gnrs_ppl.reading.words import lemmas, word
from gnrs_ppl.rule.types import NEGATIVE
from gnrs_ppl.words import PARTICLES

_SAID_OF = Wording(
    rf"(?:\s+(?:to|of|for|from|on) (?:the |an? )?\w+)?\s+(?:(?P<modal>{MODAL})\s+)?(?:not\s+)?(?:be|been|is|are|was|were|has been|have been|had been)\s+"
    r"(?:(?:\w+ly|first|also|always|already|not|never|ever)\s+)*(?P<what>[a-z-]+)\b"
)
"""Behind an act's noun, what is done to it or how it is."""
_ASKED_ABOUT = Wording(
    rf"\b(?:{MODAL})\s+(?:not\s+)?be\s+(?:(?:\w+ly|first|also|always)\s+)*(?P<what>[a-z]+)\s+(?:of|about|on)\s+[^,;.]{{0,30}}\Z"
)
"""Before an act of which somebody must be told."""
_IT_WAS = AsWritten(
    r"\s*(?:it|they|this|that)(?:['’]s|\s+(?:is|are|was|were|has been|have been))\s+(?:(?:first|duly|last)\s+)?(?P<what>[a-z]+)\s*[.,;]?\s*\Z",
)
_LACKING = ("without", "until", "only_after")
"""Clauses of what has to be there for what the main clause tells."""
COMES_ABOUT = frozenset(
    re.findall(
        r"\S+",
        """
        enter record register log note document file lodge submit tender issue send render declare make do carry perform conduct hold
        take give complete finish conclude effect execute begin start initiate launch open arrange schedule plan book organise
        organize deliver provide obtain receive add impose levy charge raise bring reach announce pronounce grant award follow
        precede accompany combine skip omit leave drop waive repeat delay postpone defer order undertake put set get post show prove
        evidence see find keep allow permit forbid require expect mandate consult undergo attempt done over complete through
        final due mandatory obligatory compulsory necessary essential possible impossible first last next followed preceded on in
        off out place present missing absent lacking answer succeed dispose inform apprise meet accomplish conclude reserve limit restrict lost outstanding overdue pending late part subject fine okay ok acceptable
        unacceptable necessary free optional superfluous needless enough sufficient recorded
        """,
    )
)
"""By such a word an act that a noun tells comes about or not, or is bound."""
_EVENTS = ("after", "only_after", "before", "until")
"""Clauses that say after or before what something is due."""

_OF_AN_ACT = ("al", "ion", "ment", "ance")
"""Endings of nouns that tell what is done: approval, permission."""
_LEAVE = frozenset({"consent", "permit", "leave"})
"""What somebody gives who lets another do something."""
_OWN_TIME = Wording(rf"{PLAIN_DURATION}\s+(?:of|after|from|following|since|upon)\b")
"""A time that runs from something else."""
_BACK = Wording(r"\b(?:before\w*|preced\w+|previous\w*|prior|earlier|last|past|ago|back|ahead|advance)\b")
"""Says that a time runs back from what is told beside it."""
_LIMITS = ("without", "until", "unless", "before")
"""Clauses that say until when, or without what, something is banned."""
_ONLY_MAY = Wording(rf"\bonly\b.*{patterns.PERMISSION.pattern}|{patterns.PERMISSION.pattern}.*\bonly\b")
"""Limits what is permitted."""


class Doubted(Stated):
    """A text and what of it states nothing that acts show."""

    def _states_duty(self, reading: Reading) -> bool:
        """Whether the sentences that tell a duty's acts state one; a permission is none, and is told as what
        it is.
        """
        spans = [act.span for act in acts_of(reading).values()]
        # What is due of both acts, a later sentence says.
        both = [b + 1 for b in self.of_both if acts_of(reading).keys() <= self.placed]
        told = self.text.whole_and_main(min(s.start for s in spans), max(both + [s.end for s in spans]))
        return reading.force == "may" or states_duty(*told, self.weights.duty)

    def _of_persons(self, reading: Reading) -> bool:
        """Whether a reading is of two acts that one person may not do both, which need no act in the clause
        that binds ("different people must do them").
        """
        return any(self.marked.acts[k] in acts_of(reading) for k in self.apart)

    def _bans_what_was_left_undone(self, reading: Reading) -> bool:
        """Whether a ban is read from one word for what was not done, which describes and bans nothing: "a fine left unpaid
        must not be written off".
        """
        places = [self._starts(k) for k in range(len(self.marked.mentions)) if self._undone(k)]
        return reading.template in NEGATIVE and any(
            a.span.start <= place < a.span.end for a in reading.targets for place in places
        )

    def _gives_a_reason(self, reading: Reading) -> bool:
        """Whether a reading is only of what a reason tells that binds nobody: "this is because parcels left alone have
        disappeared".
        """
        held = [self._clause_at(act.span.start) for act in acts_of(reading).values()]
        return all(
            c is not None
            and patterns.REASON.match(c.opener)
            and not patterns.MODAL_VERB.search(self.text.sentence, c.start, c.end)
            for c in held
        )

    def _of_every_case_by_place(self, reading: Reading) -> bool:
        """Whether a construction asks for an act of every case where it stands: "no case without a check"."""
        return reading.template == "existence" and set(reading.activities) <= self.placed

    def _asks_another(self, reading: Reading) -> bool:
        """Whether the clause that binds asks for an act of no schema, and the reading is only of acts told in
        the clauses that belong to it ("a refund is due whenever a fine was paid twice").
        """
        if self._of_every_case_by_place(reading):
            return False
        missed = {clause.number: clause for clause, _ in self.text.said.missed}
        for act in acts_of(reading).values():
            clause = self._clause_at(act.span.start)
            if clause is None or clause.kind == "main" or clause.number not in missed:
                return False
            if self._sentence_at(missed[clause.number].start) != self._sentence_at(act.span.start):
                return False
        return True

    def _only_circumstances(self, reading: Reading) -> bool:
        """Whether two acts that a reading relates are told in clauses that say when or in which case another is due,
        one that the clause which binds tells ("whenever a penalty was added and the fine is not paid, the case
        must go to collection").
        """
        owners, acts = set[tuple[int, int]](), acts_of(reading)
        if reading.template == "end":  # "if it has been paid, that is the end of it"
            clause = self._clause_at(reading.targets[0].span.start)
            return clause is not None and clause.first and bool(patterns.SUPPOSITION.match(clause.opener))
        for act in acts.values():
            clause = self._clause_at(act.span.start)
            if clause is None or clause.kind == "main":
                return False
            owners.add((self._sentence_at(act.span.start).start, clause.number))
        if len(owners) != 1 or len(acts) < 2:
            return False
        ((sentence, number),) = owners
        return any(
            c.kind == "main"
            and c.number == number
            and self._sentence_at(c.start).start == sentence
            and (patterns.DUTY.search(words) or _ONLY_MAY.search(words))
            and self._tells(c)
            for c, _ in self.text.bound_clauses
            for words in [self.text.sentence[c.start : c.end]]
        )

    def _opened_by_another(self, reading: Reading) -> Clause | None:
        """The clause that says after what a duty is due, where it tells something that befell and no act of
        the schema: "within two days after the patient was vaccinated".
        """
        place = reading.targets[0].span.start
        sentence = self._sentence_at(place)
        main = next((c for c in sentence.parts if c.kind == "main" and c.start <= place < c.end), None)
        if main is None:
            return None
        subs = [c for c in sentence.belonging(main) if c.kind in _EVENTS]
        if any(self._tells_well(c) for c in subs):
            return None
        return next((c for c in subs if self._befell(c)), None)

    def _lacks_what_it_limits(self, reading: Reading) -> Clause | None:
        """The main clause that tells no act, where a reading alone is of what may not be lacking for it: "nobody leaves without
        having been triaged" bans no triage where no leaving is recorded.
        """
        if reading.template != "absence" or reading.activation is not None:
            return None
        sub = self._clause_at(reading.targets[0].span.end - 1)
        if sub is None or sub.kind not in _LACKING:
            return None
        sentence = self._sentence_at(sub.start)
        main = next((c for c in sentence.parts if c.kind == "main" and sub in sentence.belonging(c)), None)
        told = self._content(main) if main else []
        does = [i for i in told if word(self.text.tokens[i].text).verbs - LIGHT]
        return main if does and main and not self._tells_well(main) else None

    def _defines(self, reading: Reading) -> bool:
        """Whether all that a reading is of is told in one main clause that says what something is not: "merely posting an invoice
        does not count as its approval".
        """
        spans = [act.span for act in acts_of(reading).values()]
        sentence = self._sentence_at(spans[0].start)
        found = patterns.NO_SUCH_THING.search(sentence.text)
        if found is None or DISAPPROVES.search(sentence.text):
            return False
        if patterns.DUTY.search(sentence.text[: found.start()] + " " + sentence.text[found.end() :]):
            return False
        clause = self._clause_at(sentence.start + found.start())
        numbers = {c.number if (c := self._clause_at(span.start)) else 0 for span in spans}
        return (
            all(sentence.start <= span.start < sentence.end for span in spans)
            and clause is not None
            and numbers == {clause.number}
        )

    def _bans_more(self, reading: Reading) -> Clause | None:
        """The clause that limits a ban and of which the reading says nothing ("may not leave without a blood test"), or whose
        own time it says instead ("when a fine is paid within two weeks, it must not …").
        """
        if reading.template not in NEGATIVE:
            return None
        place, told = reading.targets[0].span.start, acts_of(reading)
        if fact := self._within_another_time(reading, place):
            return fact
        main, sentence = self._clause_at(place), self._sentence_at(place)
        if main is None or main.kind != "main":
            return None
        if reading.activation is not None:
            opening = self._clause_at(reading.activation.span.start)
            if opening is None or opening.number != main.number:
                return None
            if (
                opening.kind == "after"
                and reading.time
                and opening.start <= reading.time.span.start < opening.end
            ):
                return opening
        limits = [c for c in sentence.belonging(main) if c.kind in _LIMITS and c.number == main.number]
        outright = reading.template == "absence" and reading.exception is None and reading.time is None
        return next(
            (
                c
                for c in limits
                if (self._tells_well(c) or (outright and self._limits_by_what_is_done(c, place)))
                and not any(
                    self.marked.acts[k] in told
                    for k in range(len(self.marked.mentions))
                    if c.opened <= self._starts(k) < c.end
                )
            ),
            None,
        )

    def _limits_by_what_is_done(self, clause: Clause, place: int) -> bool:
        """Whether a clause without an act of the schema names something done, before or without which a ban beside it is no ban
        of every case: "nobody ships without weighing".
        """
        if clause.kind not in ("without", "before"):
            return False
        words = self.text.sentence[clause.start : clause.end]
        if patterns.PERIOD.search(words) or patterns.BEFORE_THE_END.search(self.text.sentence, clause.opened):
            return False
        told = [self.text.tokens[i].text for i in self._content(clause)]
        behind = clause.opened > place
        return any(
            t.endswith("ing")
            or (word(t).verbs and (clause.kind == "before" or (behind and _names_what_is_done(t))))
            for t in told
        )

    def _of_another_verb(self, reading: Reading) -> Unread | None:
        """What a clause asks for, where that is no act of the schema and the reading is only of what was done to the
        thing it asks it of: "a rejected request must be archived".
        """
        tokens = self.text.tokens
        acts = acts_of(reading)
        place = reading.targets[0].span.start
        clause = self._clause_at(place)
        without = clause is not None and clause.kind == "without"
        if clause is not None and without:
            owners = (c for c in self._sentence_at(place).parts if c.kind == "main")
            clause = next((c for c in owners if c.number == clause.number), None)
        if clause is None or clause.kind != "main" or reading.force == "may":
            return None
        if self._of_every_case_by_place(reading):
            return None
        modal = patterns.MODAL_VERB.search(self.text.sentence, clause.start, clause.end)
        told = [k for k, act in enumerate(self.marked.acts) if act in acts and self._clause(k) == clause]
        attributes = [
            k
            for k in told
            if self._sentence(k)._is_attribute(self.marked.mentions[k].at)
            and modal is not None
            and self._starts(k) < modal.start()
        ]
        if modal is not None and reading.template in NEGATIVE:
            attributes = [k for k in told if k in attributes or self._is_only_its_thing(k, modal.start())]
        if modal is None or not (told or without) or attributes != told:
            return None
        verb = next((i for i, t in enumerate(tokens) if t.start >= modal.end() and self._is_content(i)), None)
        if verb is None or tokens[verb].start >= clause.end or verb in self.marked.marks:
            return None
        doing = lemmas(tokens[verb].text, "v")
        if not doing or not LIGHT.isdisjoint(doing) or not COMMON_VERBS.isdisjoint(doing):
            return None
        return self.text.nearest([verb], [verb])._replace(another=True)

    def _is_only_its_thing(self, k: int, place: int) -> bool:
        """Whether a mention before a modal verb is told by nothing but the thing that the act is done to, or by that and a verb
        behind that only resembles the act's: "an *order* is never to be changed".
        """
        best, tokens = self.marked.mentions[k].told[0], self.text.tokens
        before = [i for i in best.used if tokens[i].start < place]
        if (
            not before
            or not all(i in self.text.things for i in before)
            or best.exact
            or best.score >= WELL_TOLD
        ):
            return False
        own = {w for i in best.used for w in (tokens[i].text, *lemmas(tokens[i].text, "n"))}
        alike = own.isdisjoint(self.text.words.words_of(best.activity))
        return alike if best.by_verb else len(before) == len(best.used) and self._names_an_object(before)

    def _names_an_object(self, at: Sequence[int]) -> bool:
        """Whether words are the name of an object of the schema."""
        return bool(self.text.words.name_in("objects", self.text.tokens, at))

    def _said_of_its_noun(self, reading: Reading) -> Unread | None:
        """What is done to, or said of, the thing that an act's noun names, where that is no act of the schema: "each appeal must
        be translated", "once the blood test is positive".
        """
        tokens = self.text.tokens
        if reading.template in NEGATIVE:
            return None
        for k, name in enumerate(self.marked.acts):
            act, clause = acts_of(reading).get(name), self._clause(k)
            if act is None or self._starts(k) not in range(*act.span) or self._in_relative(k):
                continue
            if clause.kind == "main" and (about := self._done_about(k, reading)) is not None:
                return self.text.nearest([about], [about])._replace(another=True)
            used = self.marked.mentions[k].told[0].used
            last = max((i for i in used if tokens[i].start < clause.end), default=used[-1])
            said = _SAID_OF.match(self.text.sentence, tokens[last].end, clause.end)
            verb = next((i for i, t in enumerate(tokens) if said and t.start == said.start("what")), None)
            if said is None or verb is None or not self._is_content(verb) or self._tells_of(verb, reading):
                continue
            main = clause.kind == "main"
            if (said["modal"] if main else clause.kind in _EVENTS) and _is_said(tokens[verb].text, main):
                return self.text.nearest([verb], [verb])._replace(another=True)
        return None

    def _done_about(self, k: int, reading: Reading) -> int | None:
        """The verb of a clause that asks what is only done about an act: "the customer must be informed of a failed
        delivery".
        """
        clause, tokens = self._clause(k), self.text.tokens
        first = min(self.marked.mentions[k].told[0].used)
        said = _ASKED_ABOUT.search(self.text.sentence, clause.start, tokens[first].start)
        verb = next((i for i, t in enumerate(tokens) if said and t.start == said.start("what")), None)
        if verb is None or not self._is_content(verb) or self._tells_of(verb, reading):
            return None
        return verb if lemmas(tokens[verb].text, "v")[:1] != (tokens[verb].text,) else None

    def _in_relative(self, k: int) -> bool:
        """Whether a mention says which thing is meant or who: "the person who releases a batch"."""
        words = self.text.sentence[self._clause(k).opened : self._starts(k)]
        return bool(re.search(r"\b(?:who|whoever|whom|that|which|whose|by)\b", words, re.IGNORECASE))

    def _tells_of(self, i: int, reading: Reading) -> bool:
        """Whether a token is part of what was read, or of how it binds, relates it to an act behind, or tells an act well."""
        token = self.text.tokens[i]
        bound = (patterns.DUTY, patterns.PERMISSION, patterns.NEGATIVE, patterns.FREE, patterns.EXCLUSIVE)
        related = re.match(r"\s+(?:up\s+|later\s+|with\b|by\b|in\b|,)", self.text.sentence[token.end :])
        behind = any(a.span.start > token.start for a in acts_of(reading).values())
        return (
            any(s.start <= token.start < s.end for s in reading.used)
            or bool(related and behind)
            or any(p.match(self.text.sentence, token.start) for _, p in patterns.RELATIONS)
            or i in self.text.named | self.text.things
            or any(m.at == i and self._is_sure(m) for m in self.marked.mentions)
            or any(
                p.fullmatch(token.text) for p in (*bound, patterns.TOGETHER, patterns.BEGINS, patterns.ENDS)
            )
        )

    def _is_sure(self, mention: Mention) -> bool:
        """Whether a mention tells its act well, or by its own word."""
        best = mention.told[0]
        return best.score >= WELL_TOLD or (best.exact and best.score >= ENOUGH)

    def _befell(self, clause: Clause) -> bool:
        """Whether a clause says after which event something is due, and not at which hour or in which case."""
        told = self.text.sentence[clause.start : clause.end]
        opens = (
            patterns.AFTER_EVENT.search(clause.opener)
            if clause.kind == "after"
            else patterns.OF_A_THING.match(told)
        )
        temporal = opens and (patterns.EVENT.search(told) or self._names_event(clause))
        pointing = patterns.THAT.match(told) or patterns.PERIOD.search(told) or self._comes_about(clause)
        return bool(temporal and self._content(clause)) and not pointing

    def _comes_about(self, clause: Clause) -> bool:
        """Whether a clause only says that an act told before came about: "60 days after it was lodged"."""
        it = _IT_WAS.match(self.text.sentence, clause.start, clause.end)
        return it is not None and not COMES_ABOUT.isdisjoint(
            (*lemmas(it["what"].lower(), "v"), it["what"].lower())
        )

    def _names_event(self, clause: Clause) -> bool:
        """Whether a clause names an event by a noun and what it is of: "the receipt of the invoice"."""
        event = patterns.NAMES_EVENT.match(self.text.sentence, clause.start, clause.end)
        return event is not None and bool(word(event[1].lower()).verbs)

    def _content(self, clause: Clause) -> list[int]:
        """Tokens of a clause that have content."""
        return [
            i
            for i, t in enumerate(self.text.tokens)
            if clause.start <= t.start < clause.end and t.text[0].isalpha() and t.text not in STOP
        ]

    def _within_another_time(self, reading: Reading, place: int) -> Clause | None:
        """The clause on what must not have been done, where its time does not run back from what is barred: "may be added only if
        no payment was made within 60 days of the notification".
        """
        fact, time = self._clause_at(place), reading.time
        if reading.template != "not_precedence" or fact is None or time is None or fact.kind == "main":
            return None
        sentence = self._sentence_at(place)
        words = self.text.sentence[fact.opened : sentence.end]
        behind = fact.start <= time.span.start < sentence.end
        return fact if behind and _OWN_TIME.search(words) and not _BACK.search(words) else None

    def _unrecorded(self, clause: Clause) -> Unread:
        """What a clause tells, and the act that comes nearest."""
        at = self._content(clause)
        return self.text.nearest(at, at)._replace(another=True)

    def _asks_bearing(self, reading: Reading | None = None) -> bool:
        """Whether of those who do an act, or await one, only a bearing or a feeling is asked, and no act ("the ones waiting for
        their X-ray should feel looked after").
        """
        text = self.text.sentence
        for clause, bound in self.text.bound_clauses:
            modal = patterns.MODAL_VERB.search(text, clause.start, clause.end)
            bears = patterns.BEARING.match(text, modal.end(), clause.end) if modal else None
            if modal is None or bears is None or clause.kind != "main" or bound.permitted:
                continue
            ends = (
                [
                    self.marked.tokens[self.marked.spans[k][1]].end
                    for k in range(len(self.marked.mentions))
                    if self._told_well(k)
                ]
                if reading is None
                else [a.span.end for a in acts_of(reading).values()]
            )
            sentence = self._sentence_at(clause.start)
            told = [end for end in ends if sentence.start < end <= sentence.end]
            how = (bears["how"] or "").lower()
            if (
                told
                and all(end <= modal.start() for end in told)
                and not durations(text[clause.start : clause.end])
                and how not in STOP | PARTICLES | COMES_ABOUT
                and (how == "" or bears[0].split()[-2].lower() != "be" or not lemmas(how, "v"))
            ):
                return True
        return False

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
        vague = is_vague(sentence)
        manner = (vague and bool(patterns.WISH.search(sentence))) or self._asks_bearing()
        stated = manner or states_duty(*self.text.whole_and_main(0, len(sentence)), self.weights.duty)
        if not stated or not (asked or missed or manner):
            return "no_duty"
        told = not missed and all(i in self.marked.marks for i in asked)
        if vague and not (told or manner):
            return "no_duty"
        return "no_condition" if told or manner else "no_such_act"


def _is_said(text: str, asked: bool) -> bool:
    """Whether a word is a participle, or, where nothing is asked, says how something is, and not that an act comes about."""
    doing = lemmas(text, "v")
    participle = (
        bool(doing)
        and doing[:1] != (text,)
        and text.endswith(("ed", "en", "nt", "ught", "ad", "id", "old", "ound"))
    )
    how = not asked and not doing and not lemmas(text, "n") and not text.endswith("ly")
    return (participle or how) and COMES_ABOUT.isdisjoint((*doing, text))


def _names_what_is_done(noun: str) -> bool:
    """Whether a noun tells that something is done or allowed, and no thing: approval, consent."""
    return noun in _LEAVE or noun.endswith(_OF_AN_ACT)
