"""Read a goal's sentence: the acts it tells, how they stand to each other, and the statements this makes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from gnrs_ppl.context.limits import SENTENCE
from gnrs_ppl.context.types import Attribute, Channel, Schema
from gnrs_ppl.errors import InputError
from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.alternatives import with_untold_ways
from gnrs_ppl.reading.anew import moved, retold
from gnrs_ppl.reading.beside import said_beside
from gnrs_ppl.reading.clauses import MODAL, Clause
from gnrs_ppl.reading.constructions import Constructions, functional
from gnrs_ppl.reading.data import said_of_data
from gnrs_ppl.reading.disapproval import NO_FAULT
from gnrs_ppl.reading.manner import is_vague
from gnrs_ppl.reading.meanwhile import interval, with_its_end
from gnrs_ppl.reading.mentions import Told
from gnrs_ppl.reading.nominal import Anew, by_empty_words, tells, told_by_nouns, with_verbs
from gnrs_ppl.reading.otherwise import (
    by_another_already,
    last_before,
    of_another_thing,
    set_apart,
    told_anew,
    where_missed,
)
from gnrs_ppl.reading.placed import placed
from gnrs_ppl.reading.quantities import after_it_went_by, durations
from gnrs_ppl.reading.questions import told_by_answers
from gnrs_ppl.reading.relations import Weights, frozen, unheld
from gnrs_ppl.reading.reserved import as_left_to_some, left_to_some
from gnrs_ppl.reading.spoken import told_plainly
from gnrs_ppl.reading.statements.among import (
    each_timed,
    less_both,
    less_contradicted,
    less_excusing,
    says_likewise,
    timed_from,
    where_told,
)
from gnrs_ppl.reading.statements.other_things import OfOtherThings
from gnrs_ppl.reading.statements.related import acts_of
from gnrs_ppl.reading.terse import told_whole
from gnrs_ppl.reading.types import ActRead, Nothing, Reading, Readings, Span, Statement, Timed, Unread
from gnrs_ppl.reading.vocabulary import ENOUGH, STOP, Vocabulary, near
from gnrs_ppl.reading.ways import classes_of
from gnrs_ppl.reading.wording import Wording
from gnrs_ppl.reading.words import DERIVED, lemmas
from gnrs_ppl.rule.types import NEGATIVE

TIMED = ("existence", "response", "chain_response", "responded_existence", "succession")
"""Templates that ask for something, for which there may be a time."""
FORWARD = ("response", "not_response")
"""Templates that ask or ban what comes after an act, and after a second one."""
_BARS_LATER = ("not_response", "not_precedence")
"""Bans of what comes after an act: no circumstances, though they bind by no word."""
AS_WELL = 0.06
"""How little better the words of one act may tell it than another whose words they are as well."""
FAR_WORSE = 0.3
"""How much worse the same words tell an act that is hardly meant beside another."""
_NEEDS_NONE = (
    r"\b(?:needs?|requires?|calls? for|demands?|asks? for|entails?) no (?!more\b|longer\b|less\b|fewer\b|later\b|other\b)\w|"
    r"\b(?:is|are) (?:then |therefore |thereby )?exempt(?:ed)? from\b"
)
_FREES = Wording(f"{NO_FAULT.pattern}|{patterns.FREE.pattern}|{_NEEDS_NONE}")
"""Says that something is no fault or not needed."""
_NOBODY_IN_PARTICULAR = Wording(rf"(?:some|any)(?:body|one)\s+{MODAL}\b")
"""A subject that leaves open who it is, which says nothing that could be missed."""


@lru_cache(maxsize=64)
def vocabulary(schema: Schema) -> Vocabulary:
    """The words of a schema, kept for the next sentence."""
    return Vocabulary(schema)


def read(
    sentence: str, schema: Schema, logs: Sequence[Channel] = (), attributes: Sequence[Attribute] = ()
) -> Readings:
    """What the rules read of a sentence; parameters as :func:`gnrs_ppl.reading.read` has them.

    Returns
    -------
    Readings
        A statement for each duty, ban or permission, each with the ways to read it; which logs show them, and
        what follows a breach.

    Raises
    ------
    InputError
        The sentence is longer than the 2,000 characters of a goal's.
    """
    if len(sentence) > SENTENCE:
        raise InputError(
            f"is longer than {SENTENCE:,} characters",
            "write a sentence",
            source="arguments",
            field="sentence",
        )
    return _read_text(sentence, schema, logs, attributes)


def _read_text(
    sentence: str, schema: Schema, logs: Sequence[Channel], attributes: Sequence[Attribute]
) -> Readings:
    """The same, of a sentence that may have been put in other, longer words."""
    words = vocabulary(schema)
    if (whole := told_whole(sentence, words)) is not None:
        found = moved(_read_text(whole.piece.text, schema, logs, attributes), whole.piece)
        return replace(found, sentence=sentence, background=tuple(sorted((*found.background, *whole.aside))))
    if (plain := told_plainly(sentence, words)) is not None and plain.piece:
        found = moved(_answered(plain.piece.text, words, logs, attributes), plain.piece)
        missed = (Unread(span, another=True) for span in plain.missed)
        return replace(
            found,
            sentence=sentence,
            background=tuple(sorted((*found.background, *plain.aside))),
            unread=tuple(sorted((*found.unread, *missed))),
            nothing="no_such_act" if plain.missed and not found.statements else found.nothing,
        )
    return _answered(sentence, words, logs, attributes)


def _answered(
    sentence: str, words: Vocabulary, logs: Sequence[Channel], attributes: Sequence[Attribute]
) -> Readings:
    """What a text says, its questions told with their answers, and what is left to some as a ban on the others."""
    if reserved := left_to_some(sentence, words):
        piece = retold(sentence, [one.anew for one in reserved])
        found = moved(_answered(piece.text, words, logs, attributes), piece)
        return as_left_to_some(replace(found, sentence=sentence), reserved, words.schema)
    if (lasting := interval(sentence, words)) is not None:
        ended = with_its_end(lasting, lambda text: _answered(text, words, logs, attributes))
        if ended is not None:
            return replace(ended, sentence=sentence)
    if (told := told_by_answers(sentence)) is not None:
        piece, asked = told
        found = moved(_stated(piece.text, words, logs, attributes), piece)
        return replace(found, sentence=sentence, background=tuple(sorted((*found.background, *asked))))
    anew = told_by_nouns(sentence, words)
    found = _with_verbs(sentence, [a for a in anew if not a.doubtful], words, logs, attributes)
    missed = [a for a in anew if not a.doubtful or not tells(a, found)]
    if all(not a.doubtful for a in missed):
        return found
    verbal = _with_verbs(sentence, missed, words, logs, attributes)
    less = len(found.statements) - len(by_empty_words(missed, found))
    return verbal if len(verbal.statements) >= max(less, 1) else found


def _with_verbs(
    sentence: str,
    anew: Sequence[Anew],
    words: Vocabulary,
    logs: Sequence[Channel],
    attributes: Sequence[Attribute],
) -> Readings:
    """What a text says with some passages told anew."""
    if not anew:
        return _stated(sentence, words, logs, attributes)
    piece = with_verbs(sentence, anew)
    return replace(moved(_stated(piece.text, words, logs, attributes), piece), sentence=sentence)


def _stated(
    sentence: str, words: Vocabulary, logs: Sequence[Channel], attributes: Sequence[Attribute]
) -> Readings:
    """What a text without questions says."""
    data = said_of_data(after_it_went_by(sentence), attributes, words)
    beside = said_beside(data.duties, logs, words)
    duties, further = set_apart(beside.duties)
    alone = replace(Reader(Constructions(duties, words)).read(), sentence=sentence)
    found = placed(alone, data.found, attributes)
    for one in further:
        if one.kind == "doer" and (again := by_another_already(one, found.statements)) is not None:
            found = replace(found, statements=again)
            continue
        for piece in told_anew(beside.duties, one, found.statements, words.schema):
            more = moved(Reader(Constructions(piece.text, words)).read(), piece)
            more = replace(more, sentence=sentence)
            if piece.thing:
                anew = [
                    s
                    for s in more.statements
                    if of_another_thing(s, piece.thing, found.statements, words.schema)
                ]
                if not anew:
                    continue
                more = replace(more, statements=tuple(anew))
            kept = last_before(one, found.statements)
            if one.kind == "else" and kept is not None:
                due = [where_missed(s, kept.best) for s in more.statements]
                more = replace(more, statements=tuple(s for s in due if s is not None))
            found = _with_further(found, placed(more, data.found, attributes, piece.of))
        if all(not s.start < one.span.end or s.end <= one.span.start for s in _used(found)):
            found = replace(found, unread=tuple(sorted({*found.unread, Unread(one.span)})))
    found = replace(
        found,
        unread=tuple(sorted((*found.unread, *(Unread(span) for span in beside.unread)))),
        evidence=beside.evidence,
        procedure=beside.procedure,
        unheld=data.unheld,
    )
    return with_untold_ways(found)


def _used(readings: Readings) -> list[Span]:
    """The words that statements were read from."""
    return [span for statement in readings.statements for span in statement.best.used]


def _read(unread: Unread, statements: Sequence[Statement]) -> bool:
    """Whether a statement was read from words that another reading passed over."""
    return any(u.start <= unread.span.start < u.end for s in statements for u in s.best.used)


def _with_further(found: Readings, more: Readings) -> Readings:
    """The readings with what a passage that takes up something said before it adds."""
    statements = tuple(
        sorted((*found.statements, *more.statements), key=lambda s: s.best.targets[0].span.start)
    )
    return replace(
        found,
        statements=statements,
        background=tuple(sorted({*found.background, *more.background})),
        unread=tuple(
            sorted(u for u in {*found.unread, *more.unread} if u.nearest or not _read(u, statements))
        ),
        nothing="" if statements else found.nothing or more.nothing,
        otherwise=(),
    )


class Reader(OfOtherThings):
    """One text: its relations, and the statements they make."""

    def __init__(self, text: Constructions, weights: Weights | None = None, doubting: bool = True) -> None:
        super().__init__(text, weights or frozen())
        self._doubting = doubting
        doubtful = unheld(self.marked, self.weights) if doubting else {}
        self._unheld = {act: k for act, k in doubtful.items() if act not in self.placed}

    def read(self) -> Readings:
        """Every statement, what is background, and what was not read."""
        said = self.text.said
        chosen = self._chosen()
        statements = [self._statement(r) for relation in chosen for r in self._checkable(relation)]
        told_by = {name: act for s in statements for name, act in acts_of(s.best).items()}
        believed = (
            self._accounts_for_all
            if not statements
            else lambda reading: (
                (self._unmarked(reading) and not _tells_anew(reading, statements))
                or self._passed_over(reading, told_by)
            )
        )
        statements = [*statements, *(s for s in said.statements if believed(s.best))]
        if self._doubting:
            statements = [
                s
                for s in statements
                if self._states_duty(s.best) and (self._of_persons(s.best) or not self._asks_another(s.best))
            ]
        manner = [s for s in statements if self._asks_manner(s.best)]
        statements = [
            s
            for s in statements
            if not (
                s in manner
                or self._left_free(s.best)
                or self._defines(s.best)
                or self._gives_a_reason(s.best)
                or self._bans_what_was_left_undone(s.best)
            )
        ]
        statements = less_contradicted(less_excusing(self._less_narrated(self._less_background(statements))))
        elsewhere = {
            s: sub
            for s in statements
            if (
                sub := self._opened_by_another(s.best)
                or (self._bans_more(s.best) if self._doubting else None)
                or self._lacks_what_it_limits(s.best)
            )
        }
        statements = [s for s in statements if s not in elsewhere]
        if self._doubting:
            statements = [
                replace(s, readings=tuple(map(self._of_any_such_act, s.readings))) for s in statements
            ]
        tied = {s: unclear for s in statements if (unclear := self._tells_no_one_act(s.best))}
        statements = [s for s in statements if s not in tied]
        guessed = {s: unclear for s in statements if (unclear := self._hardly_tells(s.best))}
        statements = [s for s in statements if s not in guessed]
        other_verbs = {
            s: verb
            for s in statements
            if (
                verb := self._of_another_verb(s.best)
                or (
                    self._doubting
                    and (
                        self._said_of_its_noun(s.best)
                        or self._done_to_another_thing(s.best)
                        or self._made_of_it(s.best)
                        or self._hardly_told(s.best)
                    )
                )
                or None
            )
        }
        statements = [s for s in statements if s not in other_verbs]
        dropped = [s for s in statements if self._unheld.keys() & acts_of(s.best).keys()]
        statements = self._together([s for s in statements if s not in dropped])
        if self._doubting:
            statements = [
                s for s in statements if self._of_persons(s.best) or not self._only_circumstances(s.best)
            ]
        dropped = [s for s in dropped if not any(says_likewise(s, kept) for kept in statements)]
        statements = [
            replace(
                s,
                readings=tuple(self._of_whom_each_is_asked(self._opened_by_anybody(r)) for r in s.readings),
            )
            for s in statements
        ]
        statements = less_both(self._less_rival(statements), self.text.sentence)
        statements = [where_told(self._said_to_be(s), self.text.sentence) for s in statements]
        statements.sort(key=lambda s: (s.best.targets[0].span.start, s.span.start))
        missed_acts = {a: act for s in dropped for a, act in acts_of(s.best).items() if a in self._unheld}
        statements, heeded = self._timed_behind(each_timed(timed_from(statements), self.text.sentence))
        told = [self.marked.tokens[m.at].start for m in self.marked.mentions if statements]
        missed = [
            m
            for clause, m in said.missed
            if not any(clause.start <= place < clause.end for place in told)
            and not any(span.start <= clause.start < span.end for span in heeded)
            and self._sentence_at(clause.start).start not in self.of_both
        ]
        missed += [self._unrecorded(sub) for sub in dict.fromkeys(elsewhere.values())]
        missed += dict.fromkeys((*other_verbs.values(), *tied.values(), *guessed.values()))
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
        nothing: Nothing = (
            ""
            if statements
            else "no_condition"
            if any(self._asks_how(s.best) for s in manner)
            else self._nothing(bool(missed))
        )
        if nothing and any(m.rival for m in missed):
            nothing = "no_such_act"
        constructed = [
            s
            for s in said.statements
            if not self._unheld.keys() & acts_of(s.best).keys() and self._states_duty(s.best)
        ]
        otherwise = tuple(constructed) if _constraints(constructed) != _constraints(statements) else ()
        return Readings(
            self.text.sentence,
            tuple(statements),
            tuple(b for b in said.background if not any(s.start <= b.start < s.end for s in heeded)),
            tuple(sorted(unread)),
            nothing,
            otherwise,
        )

    def _less_background(self, statements: Sequence[Statement]) -> list[Statement]:
        """Statements without a time whose acts are told in whole sentences of background only are left out, where others
        speak of an act of theirs elsewhere; a ban is none ("an appealed fine is not sent for collection").
        """
        told = [
            b
            for b in self.text.said.background
            if any((s.start, s.end) == tuple(b) for s in self.text.said.sentences)
        ]

        def behind(statement: Statement) -> bool:
            acts = acts_of(statement.best).values()
            return statement.best.template not in _BARS_LATER and all(
                any(b.start <= a.span.start < b.end for b in told) for a in acts
            )

        kept = [s for s in statements if not behind(s)]
        spoken = {name for s in kept for name in acts_of(s.best)}
        return [s for s in statements if s in kept or s.best.time or not spoken & acts_of(s.best).keys()]

    def _less_narrated(self, statements: Sequence[Statement]) -> list[Statement]:
        """Statements less what a sentence tells that no word binds, of what opens a ban in another sentence: "we could not
        deliver, and ask for money. For seven days after a failed delivery no reminder …".
        """

        def binds(place: int) -> bool:
            words = patterns.COULD_NOT.sub(" ", self._sentence_at(place).text)
            return any(p.search(words) for p in (patterns.DUTY, patterns.NEGATIVE, patterns.PERMISSION))

        def narrated(one: Statement) -> bool:
            opener, place = one.best.activation, one.best.targets[0].span.start
            rules = [s.best for s in statements if s is not one and binds(s.best.targets[0].span.start)]
            if binds(place) or not rules or one.best.time is not None:
                return False
            if opener is None:
                return bool(patterns.COULD_NOT.search(self._sentence_at(place).text))
            apart = self._sentence_at(opener.span.start).start > self._sentence_at(place).start
            return apart and any(
                r.activation and r.activation.activity == opener.activity and r.template in NEGATIVE
                for r in rules
            )

        return [s for s in statements if not narrated(s)]

    def _tells_no_one_act(self, reading: Reading) -> Unread | None:
        """The words that bind, where they tell two acts equally well and neither of them well enough: "is fined"."""
        if not self._doubting:
            return None
        for other in (reading.activation, reading.exception):
            if other is not None and (rivals := self._told_as_well(other)):
                return Unread(other.span, other.activity, other.score, another=True, rival=rivals[0])
        act = reading.targets[0]
        mine = [k for k, name in enumerate(self.marked.acts) if name == act.activity]
        alone = reading.activation is None and reading.joint == "all"
        if not mine or not alone:
            return None
        if any(self.marked.mentions[k].told[0].score >= ENOUGH or not self._ambiguous(k) for k in mine):
            return None
        return Unread(self.marked.around(mine[0]), act.activity, act.score, another=True)

    def _hardly_tells(self, reading: Reading) -> Unread | None:
        """The word of an exception that tells its act by nothing but senses shared with the act's own verb: "unless
        discharged" is hardly unless sent.
        """
        act = reading.exception
        if act is None or not self._doubting:
            return None
        told = [
            self.marked.mentions[k].told[0]
            for k, name in enumerate(self.marked.acts)
            if name == act.activity and self._starts(k) in range(*act.span)
        ]
        alone = told and all(len(t.used) == 1 and not t.exact and self._only_like(t) for t in told)
        return Unread(act.span, act.activity, act.score, another=True) if alone else None

    def _only_like(self, told: Told) -> bool:
        """Whether a word tells an act by senses it shares with the act's own, and no way to say one says both."""
        word = self.text.tokens[told.at].text
        heads = self.text.words.heads_of(told.activity)
        return not any(set(classes_of(head)) & set(classes_of(word)) for head in heads)

    def _of_any_such_act(self, reading: Reading) -> Reading:
        """Of acts that the words of the only target tell equally well any will do, and all are banned: "examine" where
        there are two ways to.
        """
        (first, *others) = reading.targets
        rivals = [name for name in self._told_as_well(first) if name not in reading.activities]
        if others or not rivals or (reading.activation is None and first.score < ENOUGH):
            return reading
        return replace(
            reading,
            targets=(first, *(replace(first, activity=name) for name in rivals)),
            joint="any",
        )

    def _told_as_well(self, act: ActRead) -> list[str]:
        """Other acts of the same verb that the words of one tell equally well, where no word of the text is one's own: an
        appeal, where one may appeal to two.
        """
        told = [k for k, name in enumerate(self.marked.acts) if name == act.activity]
        at = {
            i
            for k in told
            for i in self.marked.mentions[k].told[0].used
            if self._starts(k) in range(*act.span)
        }
        at |= {i for i, t in enumerate(self.text.tokens) if t.start in range(*act.span)}
        found = self.text.words.match_acts(self.text.tokens, sorted(at))
        mine = next((m for m in found if m.name == act.activity), None)
        if mine is None or not mine.exact:
            return []
        return [
            m.name
            for m in found
            if m.name != mine.name
            and m.exact
            and m.positions == mine.positions
            and abs(m.score - mine.score) <= AS_WELL
            and self.text.words.heads_of(m.name) & self.text.words.heads_of(mine.name)
            and not self._has_own_words(mine.name, m.name)
        ]

    def _less_rival(self, statements: Sequence[Statement]) -> list[Statement]:
        """Statements less those that differ from another one only in the act that the same verb tells, far worse: a fine "which
        was not notified" is no result.
        """
        verbs = dict[str, set[int]]()
        for mention in self.marked.mentions:
            used = mention.told[0].used
            done = (i for i in used if self.text.tokens[i].text not in lemmas(self.text.tokens[i].text, "n"))
            verbs.setdefault(mention.activity, set()).update(done)

        def rivals(one: Statement, other: Statement) -> bool:
            mine, theirs = one.best, other.best
            a, b = mine.targets[0], theirs.targets[0]
            return (
                a.activity != b.activity
                and len(mine.targets) == len(theirs.targets) == 1
                and one.span == other.span
                and replace(mine, targets=(), used=(), why="") == replace(theirs, targets=(), used=(), why="")
                and a.score < b.score - FAR_WORSE
                and not verbs.get(a.activity, set()).isdisjoint(verbs.get(b.activity, set()))
            )

        worse = {s: next((o for o in statements if rivals(s, o)), None) for s in statements}
        kept = list[Statement]()
        for one in (s for s in statements if worse[s] is None):
            more = [span for s, better in worse.items() if better is one for span in s.best.used]
            ways = (replace(r, used=(*r.used, *more)) for r in one.readings)
            kept.append(replace(one, readings=tuple(ways)) if more else one)
        return kept

    def _said_to_be(self, statement: Statement) -> Statement:
        return replace(statement, readings=tuple(map(self._of_what_was_done, statement.readings)))

    def _has_own_words(self, one: str, other: str) -> bool:
        """Whether the text has a word of an act that is none of another's."""
        own = set(self.text.words.words_of(one)) - set(self.text.words.words_of(other))
        return any(near(word, t.text) >= DERIVED for word in own for t in self.text.tokens)

    def _asks_manner(self, reading: Reading) -> bool:
        """Whether a clause asks how an act is done and not that it is: "the check is made with great care"."""
        clause = self._clause_at(reading.targets[0].span.start)
        alone = reading.activation is None and reading.time is None
        if clause is None or not alone or reading.template not in ("existence", "absence"):
            return False
        if reading.template == "absence":
            return self._asks_bearing(reading)
        modal = patterns.MODAL_VERB.search(self.text.sentence, clause.start, clause.end)
        start = modal.end() if modal else clause.start
        return is_vague(self.text.sentence, start, clause.end) or self._asks_bearing(reading)

    def _asks_how(self, reading: Reading) -> bool:
        """Whether the manner that a clause asks is that of the act it tells, and not of others ("act with tact towards the
        persons fined").
        """
        place = reading.targets[0].span
        clause = self._clause_at(place.start)
        behind = clause is not None and is_vague(self.text.sentence, place.end, clause.end)
        return behind or self._asks_bearing(reading)

    def _left_free(self, reading: Reading) -> bool:
        """Whether a sentence only says that something is no fault or not needed: "it is not forbidden to ship before …"."""
        place = reading.targets[0].span.start
        said = next((s.text for s in self.text.said.sentences if s.start <= place < s.end), "")
        frees = NO_FAULT if reading.force == "may" else _FREES
        return bool(frees.search(said)) and not patterns.DUTY.search(_FREES.sub(" ", said))

    def _timed_behind(self, statements: Sequence[Statement]) -> tuple[list[Statement], list[Span]]:
        """Statements with the time that a sentence or main clause on nothing else states right behind them ("One day
        is plenty for that", "and ten minutes is the longest it may take"), and those words.
        """
        found, heeded = list(statements), list[Span]()
        places = [
            self.marked.tokens[m.at].start for k, m in enumerate(self.marked.mentions) if self._told_well(k)
        ]
        for before, part in pairwise(self._parts()):
            text = self.text.sentence[part.start : part.end]
            told = any(part.start <= place < part.end for place in places) and not self._runs_from(
                part, found
            )
            waits = patterns.EARLIEST.search(text) or patterns.TOO_SOON.search(text)
            called = patterns.CALLS_A_LIMIT.search(self.text.sentence, before.start, part.start)
            limits = (called or patterns.LIMITS.search(text)) and not waits
            whole = Clause("main", part.start, part.end, part.start)
            time = self._sentence_at(part.start).time(None, whole) if limits and not told else None
            if time is None or len(durations(text)) != 1 or patterns.USUALLY.search(text):
                continue
            timed = [
                i
                for i, s in enumerate(found)
                if before.start <= s.best.targets[0].span.start < before.end
                and s.best.time is None
                and s.best.template in TIMED
            ]
            for i in timed:
                ways = (replace(r, time=time, used=(*r.used, part)) for r in found[i].readings)
                found[i] = replace(found[i], readings=tuple(ways))
            heeded += [part] if timed else []
        for before, part in pairwise(self._parts()):
            if (time := self._until_then(before, part)) is None:
                continue
            for i, s in enumerate(found):
                asked = s.best.time is None and s.best.template in TIMED
                if asked and part.start <= s.best.targets[0].span.start < part.end:
                    timed_too = tuple(replace(r, time=time, used=(*r.used, time.span)) for r in s.readings)
                    found[i] = replace(s, readings=timed_too)
        return found, heeded

    def _runs_from(self, part: Span, statements: Sequence[Statement]) -> bool:
        """Whether words on a time tell no act but the one that opens what is due: "you have ten minutes from the moment you
        were told".
        """
        openers = {s.best.activation.activity for s in statements if s.best.activation is not None}
        told = {
            self.marked.acts[k]
            for k in range(len(self.marked.mentions))
            if part.start <= self._starts(k) < part.end and self._told_well(k)
        }
        return bool(patterns.TIME_GIVEN.match(self.text.sentence, part.start, part.end)) and told <= openers

    def _until_then(self, before: Span, part: Span) -> Timed | None:
        """The one time told right before a sentence or main clause that is due "by then"."""
        words = self.text.sentence[part.start : part.end]
        if (
            not patterns.BY_THEN.search(words)
            or len(durations(self.text.sentence[before.start : before.end])) != 1
        ):
            return None
        return self._sentence_at(before.start).time(None, Clause("main", *before, before.start))

    def _parts(self) -> Iterator[Span]:
        """The sentences, and the main clauses of those that have several."""
        for sentence in self.text.said.sentences:
            main = [c for c in sentence.parts if c.kind == "main"]
            yield from (
                (Span(c.start, c.end) for c in main)
                if len(main) > 1
                else [Span(sentence.start, sentence.end)]
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
        for one in found:
            turned = [
                s
                for s in self.text.said.statements
                if s.best.template == "precedence"
                and s.best.activities == one.best.activities
                and s.span != one.span
            ]
            if one.best.template == "response" and one.best.time is None and turned:
                both = replace(one.best, template="succession", used=(*one.best.used, *turned[0].best.used))
                found[found.index(one)] = Statement(one.span, (both,))
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
            carried_on = (earlier.activity, later.activity) in self.carried_on
            if asked and (carried_on or self._only_opens(earlier, later)) and one in found:
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


def _tells_anew(reading: Reading, statements: Sequence[Statement]) -> bool:
    """Whether a target is told by words that already tell an act of a statement."""
    told = [act.span for s in statements for act in acts_of(s.best).values()]
    return any(
        s.start <= a.span.start < s.end or a.span.start <= s.start < a.span.end
        for s in told
        for a in reading.targets
    )


def _constraints(statements: Sequence[Statement]) -> set[tuple[str, tuple[str, ...]]]:
    return {(s.best.template, s.best.activities) for s in statements}
