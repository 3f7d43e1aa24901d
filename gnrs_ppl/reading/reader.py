"""Read a goal's sentence: its clauses, the acts they name, and the DECLARE constraint that the construction says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

from gnrs_ppl.context.types import Schema
from gnrs_ppl.reading.clauses import MODAL, Clause, clauses, sentences
from gnrs_ppl.reading.quantities import COUNT, durations, number
from gnrs_ppl.reading.types import ActRead, Joint, Named, Nothing, Reading, Readings, Span, Statement, Timed, Unread, Who
from gnrs_ppl.reading.vocabulary import ENOUGH, STOP, Match, Token, Vocabulary, tokens_of
from gnrs_ppl.reading.words import word
from gnrs_ppl.rule.types import Force, Template


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)


# how a clause binds
_NEGATIVE = _words(
    r"not|\w+n't|cannot|never|neither|nor|no(?=\s)|nobody|no one|none|prohibited|forbidden|banned|barred|disabled|impossible|refrains?|"
    r"under no circumstances|by no means|disallow\w*|prohibits?|forbids?|avoid(?:s|ed)?|unlawful|illegal|off-limits"
)
_NOT_NEGATIVE = _words(r"not only|no(?:t)? (?:later|more|less|fewer|earlier) than|no doubt|no matter")
_FREE = _words(r"need(?:s)? not|needn't|not (?:required|obliged|necessary|needed|mandatory|obligatory)|do(?:es)? not (?:have|need) to|no need")
_PERMISSION = _words(r"may|can|could|might|allowed|permitted|possible|free to|entitled|at liberty|able to|optional")
_DUTY = _words(
    r"must|shall|ha(?:s|ve) (?:got )?to|had to|needs? to|required|requires?|obliged|obligat\w+|mandatory|necessary|necessitates?|essential|imperative|requisite|"
    r"compulsory|bound to|needed|vital|crucial|critical|should|ought to|expected|supposed|recommended|advised"
)
_SHOULD = _words(r"should|ought to|expected|supposed|recommended|advised|encouraged|advisable|desirable")
_HARD = _words(r"must|shall|ha(?:s|ve) to|required|mandatory|obligatory|compulsory|obliged|never|forbidden|prohibited|may not|cannot")
_MODAL = _words(MODAL)
_PAST = _words(r"used to|ha(?:s|ve|d) (?:\w+ )?(?:gone|been|ended|happened|become|led|caused|vanished|lost)|were|was|ended up|had|went|vanished")
# adverbs that place an act
_AT_ONCE = _words(
    r"immediately|immediate|right away|right after|right afterwards|directly|straight ?away|without (?:any |undue |further )?delay|promptly|prompt|instantly|instant|"
    r"at once|forthwith|straight after|instantaneously|as the (?:very )?next (?:step|act|activity)|the very next"
)
_RIGHT_BEFORE = _words(r"(?:immediately|directly|right|straight|just) (?:before(?:hand)?|preced\w+|prior)|directly|immediately")
_ALSO = _words(r"also|as well|too|likewise|in addition")
_LATER = _words(r"afterwards?|after (?:it|that|this)|then|thereafter|subsequently|later|eventually|in the end")
_EARLIER = _words(
    r"beforehand|before (?:it|that|this|them)|upfront|up front|in advance|ahead of time|prior to (?:it|that|this|them)|previously|earlier|already"
)
_PERFECT = _words(r"(?:ha(?:s|ve) (?:already )?been|must have|should have|ha(?:s|ve) already)")
_THAT = re.compile(r"\s*(?:that|this|it|them|which|doing so|the former)\b", re.IGNORECASE)
_THEN = re.compile(r"\b(?:and|,)?\s*(?:then|thereafter|afterwards|subsequently|after that|next)\b", re.IGNORECASE)
# predicates that relate two acts
_EXCLUSIVE = _words(r"mutually exclusive|mutual exclusion|mutually exclude|incompatible|precludes?|precluded|excludes?|rules? out|irreconcilable|exclusive of|contradict\w*")
_TOGETHER = _words(r"both|together|simultaneously|combined?|in the same (?:case|process|instance)|coexist|co-exist|co-occur|concurrently|at the same time|side by side|vice versa")
_VICE_VERSA = _words(r"vice versa|the other way (?:a)?round|conversely|and the reverse|and the opposite")
_EITHER = _words(r"either|or")
RELATIONS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("precedes", _words(r"preced(?:e|es|ed|ing)|(?:comes?|happens?|occurs?|takes? place) (?:immediately |directly |right |straight )?before|"
                        r"is an? (?:\w+ )?(?:prerequisite|precondition|requirement|condition) (?:for|to|of)|prerequisite (?:for|to|of)|paves? the way (?:for|to)")),
    ("follows", _words(r"(?:is|are|be) (?:\w+ )?preceded by|(?:comes?|happens?|occurs?|takes? place) (?:immediately |directly |right |straight )?after|follows?(?! by)")),
    ("leads", _words(r"warrants?|triggers?(?: and initiates?)?|prompts?|leads? to|results? in|entails?|causes?|sets? off|sets? (?:\w+ )?(?:in|into) motion|(?:is|are|be) "
                     r"(?:\w+ )?(?:succeeded|followed) (?:up )?by|gives? rise to|brings? about|obliges?|initiates?|followed by|calls? for")),
    ("with", _words(r"coincides?(?: with)?|corresponds?(?: to| with)?|pair(?:s|ed)?(?: up)? with|match(?:es|ed)?(?: up)? with|align(?:s|ed)? with|ties? in with|tied (?:in )?(?:to|with)|"
                    r"link(?:s|ed)?(?: up)? (?:to|with)|coupled? with|couples? with|accompan(?:y|ies|ied)(?: by)?|go(?:es)? (?:hand in hand|together|along) with|"
                    r"combined? with|involves?|includes?|associated? with|connect(?:s|ed)?(?: to| with)?|comes? with|complement(?:s|ed)?(?: by)?|sync(?:s|ed|hroni[sz]ed?)?(?: up)? with|"
                    r"in (?:conjunction|tandem|combination|parallel|accordance|line) with|supplemented (?:by|with)|concurs? with|implies|implied|imply|relates? to|merges? with|"
                    r"integrates? with|correlates? (?:with|to)|bundled? with|overlaps? with|intertwined? with")),
    ("needs", _words(r"requires?|necessitates?|demands?|presuppos\w+|needs(?! to)|mandates?|relies on|hinges on|rests on|takes")),
    ("for", _words(r"(?:is|are|be)?\s*(?:\w+ly )?(?:required|mandatory|necessary|needed|essential|obligatory|compulsory|imperative|requisite|crucial|vital|a must|due)\s+"
                   r"(?:for|of|in order to|to|with|when|from)")),
)  # fmt: skip
_BEGINS = _words(
    r"begins?|began|starts?|started|commenc\w+|kicks? off|kick-?off|initiates?|initiation|initiated?|beginning|opens?|opening|outset|onset|start|first|initial|initially|"
    r"before anything else|launch(?:es|ed)?|inception"
)
_ENDS = _words(
    r"ends?|ended|ending|finish(?:es|ed|ing)?|conclud\w+|conclusion|closure|clos(?:es|ing|ed)|wraps? up|wrapping up|terminat\w+|finali[sz]\w+|last|final|finally|culminat\w+|"
    r"completion|completes?|completing|completed"
)
_ELSE = _words(r"another|a different|a second|somebody else|someone else|anyone other|other than|different (?:person|people|employee|user)s?|not the (?:same|one|person)|two different|four[- ]eyes")
_SELF = _words(r"the same (?:person|employee|user|member|one|clerk|officer|\w+ (?:member|worker|manager))|himself|herself|themselves|themself|personally|by the same")
_BY = re.compile(r"\bby\s+(?:the|an?|any|every|each|his|her|their|another|two|either|some)?\s*$", re.IGNORECASE)
_PRONOUN = frozenset("it its they them their this that he she him her his these those both there one".split())
_OCCUR = frozenset("occur happen done place carried performed take repeated made possible allowed".split())
STRONG = 0.78
"""Least score at which a second act in one clause counts as an act of its own."""
MOST_READINGS = 6
Place = Literal["activation", "target"]


class _Bound(NamedTuple):
    """How a clause binds."""

    force: Force
    negative: bool
    permitted: bool
    stated: bool


class _Found(NamedTuple):
    """An act some tokens say, the tokens, and the rivals they may say as well."""

    act: ActRead
    positions: tuple[int, ...]
    rivals: tuple[ActRead, ...] = ()

    @property
    def ways(self) -> list[tuple[float, ActRead]]:
        """What the tokens may say, with shares that fall steeply with the score."""
        acts = (self.act, *self.rivals)
        total = sum(a.score**8 for a in acts)
        return [(a.score**8 / total, a) for a in acts]


class _Way(NamedTuple):
    """One reading in the making, with its weight."""

    weight: float
    reading: Reading


@lru_cache(maxsize=64)
def vocabulary(schema: Schema) -> Vocabulary:
    """The words of a schema, kept for the next sentence."""
    return Vocabulary(schema)


def read(sentence: str, schema: Schema) -> Readings:
    """Read a sentence against a schema.

    Parameters
    ----------
    sentence : str
        What a person asks for, in English: one sentence or a few.
    schema : Schema
        The names that may be meant, with their phrases.

    Returns
    -------
    Readings
        A statement for each duty, ban or permission, each with the ways to read it.
    """
    return _Reader(sentence, vocabulary(schema)).read()


class _Reader:
    """One text being read."""

    def __init__(self, sentence: str, words: Vocabulary) -> None:
        self.sentence, self.words = sentence, words
        self.tokens: tuple[Token, ...] = tokens_of(sentence)

    def read(self) -> Readings:
        """Every statement of every sentence."""
        statements: list[Statement] = []
        background: list[Span] = []
        spans = sentences(self.sentence)
        for number_, (start, end) in enumerate(spans):
            parts = clauses(self.sentence, start, end)
            background += [Span(c.opened, c.end) for c in parts if c.kind in ("background", "purpose")]
            found = _Sentence(self, start, end, parts, statements).statements()
            if not found and not statements and number_ + 1 < len(spans):
                background.append(Span(start, end))
            statements += found
        used = [s for statement in statements for s in statement.best.used] + background
        unread = tuple(
            Unread(Span(t.start, t.end))
            for t in self.tokens
            if t.text[0].isalpha() and t.text not in STOP and not _functional(t.text) and all(not s.start <= t.start < s.end for s in used)
        )
        nothing: Nothing = "" if statements else self._nothing()
        if nothing:
            unread = self._nearest(unread)
        return Readings(self.sentence, tuple(statements), tuple(background), unread, nothing)

    def _nothing(self) -> Nothing:
        return "no_such_act" if _MODAL.search(self.sentence) else "no_duty"

    def _nearest(self, unread: Sequence[Unread]) -> tuple[Unread, ...]:
        """The words that could have been an act, with the act that comes nearest."""
        at = range(len(self.tokens))
        near = self.words.match_acts(self.tokens, at)[:1]
        return tuple(u._replace(nearest=near[0].name, score=round(near[0].score, 2)) if near and i == 0 else u for i, u in enumerate(unread))


class _Sentence:
    """One sentence: its clauses in order, and what they say together."""

    def __init__(self, reader: _Reader, start: int, end: int, parts: Sequence[Clause], earlier: Sequence[Statement]) -> None:
        self.reader, self.tokens, self.words = reader, reader.tokens, reader.words
        self.start, self.end, self.parts, self.earlier = start, end, parts, earlier
        self.text = reader.sentence[start:end]

    def statements(self) -> list[Statement]:
        """A statement for each binding clause; what two clauses say of one pair of acts in both directions is one statement."""
        read: list[tuple[Clause, list[_Way]]] = []
        subject: Named | None = None
        for clause in (c for c in self.parts if c.kind == "main"):
            subject = self.subject(clause) or subject
            before = read[-1][1][0].reading if read and read[-1][1] else None
            for ways in self.clause(clause, subject, before):
                read.append((clause, ways))
        read = self._joined_counts(read)
        mutual = self._mutual(read)
        if mutual:
            return [Statement(Span(self.start, self.end), _ranked(mutual))]
        return [Statement(Span(clause.start, clause.end), _ranked(ways)) for clause, ways in read if ways]

    def _joined_counts(self, read: list[tuple[Clause, list[_Way]]]) -> list[tuple[Clause, list[_Way]]]:
        """A permission whose act a later clause restricts says nothing more ("is allowed, but at most once")."""
        kept = []
        for i, (clause, ways) in enumerate(read):
            mine = ways[0].reading
            later = [w[0].reading for _, w in read[i + 1 :]]
            if mine.force == "may" and any(set(r.activities) >= set(mine.activities) for r in later):
                continue
            if mine.template == "existence" and mine.count == 1 and any(
                r.template in ("absence", "exactly") and r.activities == mine.activities for r in later
            ):  # fmt: skip
                continue
            kept.append((clause, ways))
        return kept

    def _mutual(self, read: list[tuple[Clause, list[_Way]]]) -> list[_Way]:
        pairs = [ways[0].reading for _, ways in read if ways[0].reading.activation is not None]
        for i, one in enumerate(pairs):
            for other in pairs[i + 1 :]:
                if sorted(one.activities) == sorted(other.activities) and one.activities != other.activities:
                    negative = one.template.startswith("not_")
                    template: Template = "not_coexistence" if negative else "coexistence"
                    first = one if one.template not in ("precedence", "chain_precedence") else _turned(one)
                    return [_Way(1.0, replace(first, template=template, why="said of both acts in both directions"))]
        return []

    # -- one main clause ----------------------------------------------------------------------------------------------------------

    def clause(self, clause: Clause, subject: Named | None, before: Reading | None) -> Iterator[list[_Way]]:
        """The statements of one main clause with the clauses that belong to it."""
        text = self.said(clause)
        subs = [c for c in self.parts if c.kind not in ("main", "background", "purpose") and self._belongs(c, clause)]
        bound = _bound(text)
        whole = self.reader.sentence[min([clause.start, *(s.opened for s in subs)]) : max([clause.end, *(s.end for s in subs)])]
        ways = self.exclusive(clause, subs, whole, bound) or (self.relation(clause, bound) if not self._acts_of(subs) else [])
        if ways:
            yield ways
            return
        opened, targets = self._assigned(clause, subs)
        anchored = [s for s in subs if s.kind == "after" and _THAT.match(self.reader.sentence, s.start)]
        if not targets and not opened:
            counted = self._count_only(clause, before)
            if counted:
                yield counted
            return
        if not bound.stated and _PAST.search(text) and not opened:
            return
        if not targets:
            yield from self.turned(clause, opened, whole, bound, subject)
            return
        if anchored and before is not None and not opened:
            opened = [(anchored[0], _Found((before.targets or (before.activation,))[-1], ()))]  # type: ignore[arg-type]
        frame = _Frame(clause, text, whole, bound, subject)
        if not opened:
            yield from self.unopened(frame, targets, before)
            return
        for sub, found in opened:
            ways = self.joined(frame, targets, sub, found)
            if ways:
                yield ways

    def _belongs(self, sub: Clause, clause: Clause) -> bool:
        return sub.number == clause.number or (sub.first and sub.number <= clause.number)

    def joined(self, frame: _Frame, targets: Sequence[_Found], sub: Clause, opener: _Found) -> list[_Way]:
        """A main clause and a subordinate one: the template is in the words that open the latter."""
        text, bound = frame.text, frame.bound
        said = self.said(sub)
        main = targets[0]
        ways: list[_Way] = []

        def give(weight: float, template: Template, target: _Found, activation: _Found, why: str) -> None:
            time = self.time(sub, frame.clause)
            ways.extend(self.pairs(weight, template, target, activation, frame, (sub,), why, time))

        kind = sub.kind
        if kind == "only_after":
            give(1.0, "chain_precedence" if sub.direct else "precedence", opener, main, f"'{sub.opener}': that act comes first")
        elif kind == "after":
            if _VICE_VERSA.search(self.text):
                give(1.0, "not_coexistence" if bound.negative else "coexistence", main, opener, "and vice versa")
            elif bound.negative:
                give(1.0, "not_response", main, opener, f"'{sub.opener}': the act must not follow")
            elif _EARLIER.search(text) or (sub.opener in ("if", "when") and _PERFECT.search(text) and not bound.permitted):
                give(1.0, "chain_precedence" if _RIGHT_BEFORE.search(text) else "precedence", main, opener, "the act comes beforehand")
            elif bound.permitted and not _DUTY.search(text):
                give(0.85, "precedence", opener, main, f"permitted '{sub.opener}': that act comes first")
                give(0.15, "response", main, opener, f"'{sub.opener}': the act follows")
            elif sub.direct or _AT_ONCE.search(text):
                give(0.75, "chain_response", main, opener, "the act follows directly")
                give(0.25, "response", main, opener, "the act follows, soon")
            elif _ALSO.search(text) and not _LATER.search(text):
                give(0.75, "responded_existence", main, opener, "the one act also asks for the other")
                give(0.25, "response", main, opener, f"'{sub.opener}': the act follows")
            else:
                give(1.0, "response", main, opener, f"'{sub.opener}': the act follows")
        elif kind == "before" and not bound.negative:
            direct = sub.direct or bool(_AT_ONCE.search(text + " " + said) or _RIGHT_BEFORE.search(self.text))
            give(1.0, "chain_precedence" if direct else "precedence", main, opener, f"'{sub.opener}': the act comes first")
        elif kind == "unless" and not bound.negative and not bound.permitted and not re.search(r"\bstill\b|\bnot yet\b", said):
            for _, reading in self.alone(frame, main, [main]):
                ways.append(_Way(1.0, replace(reading, exception=opener.act, used=(*reading.used, opener.act.span, Span(*sub.mark)))))
        else:
            give(1.0, "precedence", opener, main, f"'{sub.opener}': that act comes first")
        return ways

    def pairs(
        self, weight: float, template: Template, target: _Found, activation: _Found, frame: _Frame, subs: Sequence[Clause], why: str,
        time: Timed | None = None,
    ) -> Iterator[_Way]:  # fmt: skip
        """A reading for each way to read the two acts."""
        for share_t, t in target.ways:
            for share_a, a in activation.ways:
                if t.activity != a.activity:
                    used = (t.span, a.span, *(Span(*s.mark) for s in subs), *((time.span,) if time else ()))
                    yield _Way(
                        weight * share_t * share_a,
                        Reading(1.0, frame.bound.force, template, (t,), "act", a, time=time, who=_who(frame.whole), used=used, why=why),
                    )

    def exclusive(self, clause: Clause, subs: Sequence[Clause], whole: str, bound: _Bound) -> list[_Way]:
        """Two acts of one clause that exclude each other."""
        predicate = _EXCLUSIVE.search(whole)
        if not predicate and not (bound.negative and _TOGETHER.search(whole) and not self._acts_of(subs)):
            return []
        best = self.split(clause, [*_EXCLUSIVE.finditer(self.said(clause)), *re.finditer(r"\b(?:and|or|with|while|nor)\b", self.said(clause))])
        if best is None:
            return []
        one, other = best
        frame = _Frame(clause, self.said(clause), whole, bound, None)
        return list(self.pairs(1.0, "not_coexistence", other, one, frame, (), "the acts exclude each other"))

    def split(self, clause: Clause, marks: Sequence[re.Match[str]]) -> tuple[_Found, _Found] | None:
        """The two acts on both sides of the mark that parts the clause best."""
        best: tuple[float, _Found, _Found] | None = None
        for m in marks:
            left = self._matches(clause.start, clause.start + m.start(), clause)
            right = self._matches(clause.start + m.end(), clause.end, clause, lend=self._at(clause.start, clause.start + m.start()))
            pair = _distinct(left, right)
            if pair and (best is None or pair[0].score + pair[1].score > best[0] + 1e-9):
                best = (pair[0].score + pair[1].score, self._found(pair[0], left), self._found(pair[1], right))
        return best[1:] if best else None

    def relation(self, clause: Clause, bound: _Bound) -> list[_Way]:
        """Two acts joined by a predicate: requires, precedes, is accompanied by …"""
        text = self.said(clause)
        for name, pattern in RELATIONS:
            marks = list(pattern.finditer(text))
            sides = self.split(clause, marks) if marks else None
            if sides is None:
                continue
            left, right = sides
            frame = _Frame(clause, text, text, bound, None)
            why = f"'{marks[0][0].strip()}' relates the acts"
            if bound.negative:
                return list(self.pairs(1.0, "not_coexistence", right, left, frame, (), why))
            if _VICE_VERSA.search(self.text):
                return list(self.pairs(1.0, "coexistence", right, left, frame, (), f"{why}, and vice versa"))
            direct, before = bool(_AT_ONCE.search(text)), bool(_EARLIER.search(text))
            response: Template = "chain_response" if direct else "response"
            precedence: Template = "chain_precedence" if direct else "precedence"
            table: dict[str, list[tuple[float, Template, _Found, _Found]]] = {
                "precedes": [(1.0, precedence, left, right)],
                "follows": [(0.6, response, left, right), (0.4, precedence, right, left)],
                "leads": [(1.0, response, right, left)],
                "with": [(0.9, "responded_existence", right, left), (0.1, "coexistence", right, left)],
                "needs": [(0.45, "responded_existence", right, left), (0.4, "precedence", right, left), (0.15, response, right, left)],
                "for": [(0.6, response, left, right), (0.4, precedence, left, right)],
            }
            ways = [(1.0, precedence, right, left)] if before and name in ("needs", "with", "leads") else table[name]
            return [way for w, t, a, b in ways for way in self.pairs(w, t, a, b, frame, (), why)]
        return []

    def turned(
        self, clause: Clause, opened: Sequence[tuple[Clause, _Found]], whole: str, bound: _Bound, subject: Named | None
    ) -> Iterator[list[_Way]]:
        """A main clause without an act of its own: the process begins when …; may …, provided that …"""
        sub, found = opened[0]
        bound = _bound(self.said(sub)) if sub.kind == "provided" else bound
        yield self.alone(_Frame(clause, self.said(sub), whole, bound, subject), found, [found])

    def unopened(self, frame: _Frame, targets: Sequence[_Found], before: Reading | None) -> Iterator[list[_Way]]:
        """A main clause that nothing opens: acts in sequence, acts asked of every case, or several together."""
        for target in targets:
            yield self.alone(frame, target, targets)

    def alone(self, frame: _Frame, found: _Found, targets: Sequence[_Found]) -> list[_Way]:
        """One act that nothing opens: first, last, so many times, or asked of every case."""
        told = {i for t in targets for i in t.positions}
        inside = [t for i, t in enumerate(self.tokens) if self.start <= t.start < self.end and i not in told]
        rest = " ".join(t.text for t in inside)
        bound = frame.bound
        template: Template = "absence" if bound.negative else "existence"
        n, why = 1, "forbidden in every case" if bound.negative else "asked of every case"
        count = COUNT.search(rest)
        if count:
            template, n, why = _counted(count, bound)
        elif not bound.negative:
            begins, ends = list(_BEGINS.finditer(rest)), list(_ENDS.finditer(rest))
            if ends and (not begins or "end" in ends[-1][0].lower()):
                template, why = "end", f"'{ends[-1][0]}': the last act of the case"
            elif begins:
                template, why = "init", f"'{begins[0][0]}': the first act of the case"
        time = self.time(None, frame.clause)
        return [
            _Way(
                share,
                Reading(1.0, bound.force, template, (a,), "case_end" if template == "end" else "case_start", count=n, time=time,
                        who=_who(frame.whole), used=(a.span, *((time.span,) if time else ())), why=why),
            )
            for share, a in found.ways
        ]  # fmt: skip

    def _count_only(self, clause: Clause, before: Reading | None) -> list[_Way]:
        """A clause that only says how often: "… but it may occur at most once"."""
        count = COUNT.search(self.said(clause))
        if before is None or count is None or len(before.targets) != 1:
            return []
        template, n, why = _counted(count, _bound(self.said(clause)))
        return [_Way(1.0, replace(before, template=template, count=n, force="must", why=why))]

    # -- parts --------------------------------------------------------------------------------------------------------------------

    def said(self, clause: Clause) -> str:
        """The words of a clause."""
        return self.reader.sentence[clause.start : clause.end]

    def subject(self, clause: Clause) -> Named | None:
        """The role a main clause is about: the first one named, or the one after "by"."""
        roles = self.words.name_in("roles", self.tokens, self._at(clause.start, clause.end))
        passive = next((named for _, named in roles if _BY.search(self.reader.sentence[clause.start : named.span.start])), None)
        return passive or (roles[0][1] if roles else None)

    def time(self, sub: Clause | None, clause: Clause) -> Timed | None:
        """The time stated in the words that open a clause, or in the main clause."""
        spans = ([(sub.opened, sub.end)] if sub else []) + [(clause.start, clause.end)]
        for start, end in spans:
            for length in durations(self.reader.sentence[start:end]):
                span = Span(start + length.start, start + length.end)
                lead = self.reader.sentence[max(0, span.start - 24) : span.start].lower()
                if re.search(r"(?:per|every|each|for|a|at least|least|minimum of|of)\s*$", lead):
                    continue
                latest = "at the latest" in self.reader.sentence[start:end].lower()
                return Timed(span, length.duration, earlier_counts=latest, working_days=length.working)
        return None

    def _at(self, start: int, end: int) -> list[int]:
        return [i for i, t in enumerate(self.tokens) if start <= t.start < end]

    def _acts_of(self, subs: Sequence[Clause]) -> bool:
        return any(m.score >= ENOUGH for s in subs for m in self._matches(s.start, s.end, s)[:1])

    def _matches(self, start: int, end: int, own: Clause, lend: Sequence[int] = ()) -> list[Match]:
        """Acts that words of a stretch say, best first; a pronoun in it borrows the words of the other clauses."""
        at = self._at(start, end)
        lent = list(lend)
        if any(self.tokens[i].text in _PRONOUN for i in at):
            lent += [i for p in self.parts if p is not own for i in self._at(p.start, p.end)]
        mine = set(at)
        found = self.words.match_acts(self.tokens, at, [i for i in dict.fromkeys(lent) if i not in mine])
        if not any(self.tokens[i].text in _OCCUR for i in at):
            found = [m for m in found if m.positions]
        return [m for m in found if m.score >= 0.8 * ENOUGH]

    def _assigned(self, clause: Clause, subs: Sequence[Clause]) -> tuple[list[tuple[Clause, _Found]], list[_Found]]:
        """Acts of the subordinate clauses and of the main one, none read twice: the pair of first acts that fits best together."""
        mine = self._matches(clause.start, clause.end, clause)
        opened: list[tuple[Clause, _Found]] = []
        first: Match | None = mine[0] if mine else None
        for sub in subs:
            theirs = self._matches(sub.start, sub.end, sub)
            pair = _distinct(theirs, mine)
            if pair:
                opened.append((sub, self._found(pair[0], theirs)))
                first = pair[1]
            elif theirs and not mine:
                opened.append((sub, self._found(theirs[0], theirs)))
        if first is None:
            return opened, []
        taken = {f.act.activity for _, f in opened} | {first.name}
        others = []
        for m in mine:
            if m.score >= STRONG and m.positions and m.name not in taken and not set(m.positions) & {i for o in (first, *others) for i in o.positions}:
                others.append(m)
                taken.add(m.name)
        return opened, [self._found(m, mine if m is first else ()) for m in sorted((first, *others), key=lambda m: m.positions)]

    def _found(self, m: Match, among: Sequence[Match]) -> _Found:
        rivals = [r for r in among if r.name != m.name and r.score > m.score - 0.08 and set(r.positions) & set(m.positions)][:3]
        return _Found(self._read(m), m.positions, tuple(self._read(r) for r in rivals))

    def _read(self, m: Match) -> ActRead:
        at = m.positions or (0,)
        return ActRead(m.name, Span(self.tokens[at[0]].start, self.tokens[at[-1]].end), min(1.0, round(m.score, 3)))


class _Frame(NamedTuple):
    """A main clause, its words, those of everything around it, how it binds and whom."""

    clause: Clause
    text: str
    whole: str
    bound: _Bound
    subject: Named | None


def _distinct(left: Sequence[Match], right: Sequence[Match]) -> tuple[Match, Match] | None:
    """The best pair of different acts."""
    pairs = [(a.score + b.score, a, b) for a in left[:8] for b in right[:8] if a.name != b.name]
    return max(pairs, key=lambda p: p[0])[1:] if pairs else None


def _turned(reading: Reading) -> Reading:
    """A precedence read from its other act."""
    assert reading.activation is not None
    return replace(reading, activation=reading.targets[0], targets=(reading.activation,))


def _counted(count: re.Match[str], bound: _Bound) -> tuple[Template, int, str]:
    n = 1 if count["once"] else 2 if count["twice"] else 3 if count["thrice"] else number(count["n"] or count["m"])
    why = f"'{count[0]}'"
    if count["most"] or (bound.permitted and count["exactly"]):
        return "absence", n + 1, why
    if count["least"] or (count["how"].lower() == "only" and not (count["once"] or count["n"])):
        return "existence", n, why
    return "exactly", n, why


def _who(text: str) -> Who | None:
    return "another_person" if _ELSE.search(text) else "same_person" if _SELF.search(text) else None


def _functional(text: str) -> bool:
    return any(p.fullmatch(text) for p in (_MODAL, _NEGATIVE, _LATER, _EARLIER, _DUTY, _AT_ONCE))


def _bound(text: str) -> _Bound:
    """Force and polarity of a clause."""
    if _FREE.search(text):
        return _Bound("may", False, True, True)
    negative = bool(_NEGATIVE.search(_NOT_NEGATIVE.sub(" ", text)))
    permitted = bool(_PERMISSION.search(text)) and not negative
    duty = bool(_DUTY.search(text))
    force: Force = "should" if _SHOULD.search(text) and not _HARD.search(text) else "may" if permitted and not duty else "must"
    return _Bound(force, negative, permitted, duty or permitted or negative)


def _ranked(ways: Sequence[_Way]) -> tuple[Reading, ...]:
    total = sum(w.weight for w in ways)
    ranked = sorted(ways, key=lambda w: -w.weight)[:MOST_READINGS]
    return tuple(replace(w.reading, probability=round(w.weight / total, 4)) for w in ranked)
