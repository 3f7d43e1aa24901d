"""Where a text tells an act: its verb or noun, and the words around that say which act of the schema is
meant.

An act may be told more than once, the same words may tell several acts (rivals), and what was said before may
be left out later ("once it has been approved"): words that stand further off count for less.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, TypeVar

from gnrs_ppl.reading.vocabulary import (
    CLASSMATE,
    ENOUGH,
    GENERIC_WORDS,
    LIGHT,
    SAID,
    STOP,
    Token,
    Vocabulary,
    goes_with,
    near,
    text_of,
)
from gnrs_ppl.reading.ways import classes_of, is_a_case, is_preposition, only_helps
from gnrs_ppl.reading.words import (
    BROADER,
    DERIVED,
    LOOKS_ALIKE,
    PHRASAL_PARTICLES,
    SAME,
    brought_before,
    lemmas,
    word,
)
from gnrs_ppl.words import PARTICLES

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

LEAST = 0.35
"""Least score of a mention; whether it takes part in a rule is for the model of relations to say."""
BESIDE = 6
"""Most tokens between an act's words for them to count in full."""
FAR, FURTHER, ELSEWHERE = 10, 0.85, 0.75
"""What a word of an act counts up to so many tokens away in the same part of a sentence, and anywhere else
in the text."""
HEAD_AWAY, HEAD_FAR = 8, 0.8
"""How far an act's verb may stand from its other words, and what it counts there."""
TAKES_PART = 0.4
"""Least likeness, distance counted, at which a further word adds to a mention."""
TWO_ACTS = 0.85
"""Two acts that share their verb are both told where each fits this well and has words of its own ("modules
A and B")."""
HARDLY = 0.05
"""A score that is higher by less than this does not outweigh a further word."""
WHOLE = 0.95
"""An act told this well is told whole."""
GIVEN = 0.75
"""How well a thing tells the act that brings it about."""
_GIVES = (("get",), ("receive",), ("incur",), ("attract",), ("earn",), ("carry",), ("bear",))
_GIVEN_BY = frozenset({"without", "by", "no"})
_BEFORE_GIVEN = frozenset({"a", "an", "the", "another", "any", "no", "his", "her", "its", "their"})
_BRING = ("add", "impose", "issue", "send", "pay", "grant")
MOST_RIVALS = 4
MOST_PLACES = 40
"""A word that stands oftener in a text is looked for in its first places only."""
_OWNED = frozenset({"my", "your", "his", "her", "our", "their"})
_WHITHER = frozenset({"round", "around"})
_EMPTY = frozenset({"case", "cases", "thing", "things", "last"})
"""Words of the rule, not of what is done: they tell no act by likeness."""
_SEPARABLE = frozenset(
    {"up", "down", "off", "out", "over", "back", "away", "in", "on", "aside", "through", "forward"}
)
"""Particles that may stand behind the object: turn the request down."""
_OPENS = frozenset(
    {"before", "after", "until", "unless", "if", "when", "whenever", "once", "because", "while"}
)
"""Words that open a clause; an act is told in one clause."""
_OF = frozenset({"for"})
_BY_MEANS = frozenset({"by", "via"})
_JOINS = frozenset({"and", "or", "nor", "but", "then", ",", "/", "&"})
"""What stands between the words of two acts that share their verb."""
_WITHIN_PHRASE = frozenset(
    {"a", "an", "the", "of", "this", "that", "its", "every", "each", "any", "all", "his", "her", "their"}
    | {"is", "are", "was", "were", "be", "been", "being", "has", "have", "had", "to", "not", "needs", "need"}
    | {"must", "shall", "should", "may", "can", "will", "always", "never", "also", "first", "only"}
)
"""What may stand between a verb and what it is done to, or the other way round in the passive."""
_IN_PERFECT = frozenset({"already", "been", "not", "never", "yet", "just", "since", "now", "previously"})
"""What may stand between a verb in the perfect and its auxiliary."""
_PERFECT = frozenset({"has", "have", "had", "already", "previously"})
_ARRIVED = frozenset({"come", "arrived", "happened", "occurred", "received", "made", "recorded"})
"""What an act that a noun tells has done, or has been, where it took place."""
_NO_OBJECT = frozenset({"and", "or", "but", "if", "when", "who", "that", "which", "must", "shall"})


_HOW_BOUND = frozenset(
    [
        "allowed",
        "permitted",
        "required",
        "obliged",
        "forbidden",
        "prohibited",
        "barred",
        "banned",
        "expected",
        "supposed",
        "needed",
    ]
)
_IS = frozenset({"is", "are", "be", "being", "was", "were"})
_IT = frozenset({"it", "they"})


class Told(NamedTuple):
    """One act at one place: the token its verb or noun is, how well it fits, the tokens that tell it.

    ``head`` says that its verb is among them, ``exact`` that this is the act's own word, ``lent`` that a word
    was taken from further off, ``by_verb`` that ``at`` is the verb's place and not that of another of its
    words.
    """

    activity: str
    at: int
    score: float
    used: tuple[int, ...]
    head: bool
    exact: bool
    lent: bool
    by_verb: bool


class Mention(NamedTuple):
    """A place in the text that tells an act: the likeliest first, then its rivals."""

    told: tuple[Told, ...]

    @property
    def activity(self) -> str:
        """The likeliest act."""
        return self.told[0].activity

    @property
    def at(self) -> int:
        """The token of its verb or noun."""
        return self.told[0].at


def mentions(
    words: Vocabulary,
    tokens: Sequence[Token],
    people_and_places: Set[int] = frozenset(),
    things: Set[int] = frozenset(),
) -> tuple[Mention, ...]:
    """Every mention of an act of a schema, in the order of the text.

    Tokens of roles and places tell no act (the delivery station), those of things only where they are the
    act's own words.
    """
    text = _Text(tokens, words, things)
    found = [told for entry in words.acts for told in _places(text, entry.name, entry.variants)]
    found = [
        t
        for t in found
        if t.at not in people_and_places
        and (t.exact or not _says_how_bound(tokens, t.at))
        and not only_helps(tokens, t.used)
        and (t.exact or not is_a_case(tokens, t.at))
        and not _stands_there(t, tokens)
        and (
            t.at not in things
            or (t.exact and t.by_verb)
            or (not t.by_verb and not _beside_another(t, tokens))
        )
    ]
    found = [t for t in found if not (_is_means(t, found, tokens) or _only_somebody(t, tokens))]
    found = _less_borrowed(_less_of_names(_less_of_nouns(found, tokens), tokens, words))
    found = _less_within_sayings(_without_echoes(found, tokens), tokens)
    return _grouped(_less_of_another(found, tokens), tokens)


def _less_of_names(found: Sequence[Told], tokens: Sequence[Token], words: Vocabulary) -> list[Told]:
    """Acts less those told only within further words of another one's name, at least two on end: a document "for an
    unlicensed request", where the log's name says so.
    """
    within = dict[str, set[int]]()
    for name in {told.activity for told in found if told.score >= ENOUGH}:
        if not (further := words.further_words(name)):
            continue
        said = [t.text in further for t in tokens]
        within[name] = {k for i, both in enumerate(pairwise(said)) if all(both) for k in (i, i + 1)}
    return [
        told
        for told in found
        if told.score >= WHOLE
        or not any(at.issuperset(told.used) for name, at in within.items() if name != told.activity)
    ]


def _less_borrowed(found: Sequence[Told]) -> list[Told]:
    """Acts less those told by a verb that is another act's own, with a thing that their own verb has already: in "the
    ticket has been checked and the request examined" no ticket is examined.
    """
    own = [o for o in found if o.exact and o.by_verb and len(o.used) > 1]
    acts = _by((o.at, o.activity) for o in own)
    places = _by((o.activity, o) for o in own)
    return [
        told
        for told in found
        if told.exact
        or acts[told.at] <= {told.activity}
        or not any(
            o.at != told.at and set(o.used) & set(told.used) - {told.at} for o in places[told.activity]
        )
    ]


def _by(pairs: Iterable[tuple[_Key, _Value]]) -> defaultdict[_Key, set[_Value]]:
    """What goes with each key; a schema of many acts asks for it thousands of times."""
    found = defaultdict[_Key, set[_Value]](set)
    for key, value in pairs:
        found[key].add(value)
    return found


def _less_of_nouns(found: Sequence[Told], tokens: Sequence[Token]) -> list[Told]:
    """Acts less those whose verb says of the noun of another one that it comes about, and whose own thing stands in another
    clause ("a payment reminder goes out … after the package …") or only says what that is for ("no reminder may be sent
    for an order").
    """
    ending = _by((o.used[-1], o.activity) for o in found if o.exact and o.score >= WHOLE)
    within = _by((o.at, o.activity) for o in found if o.used[0] < o.at)

    def of_a_noun(told: Told) -> bool:
        if told.lent and not ending[told.at - 1] <= {told.activity}:
            return True
        behind = [i for i in told.used if i > told.at]
        is_for = behind and any(t.text in _OF for t in tokens[told.at : behind[0]])
        alone = len(told.used) == len(behind) + 1
        return bool(is_for and alone) and not within[told.at] <= {told.activity}

    return [told for told in found if told.exact or not of_a_noun(told)]


def _is_means(told: Told, found: Sequence[Told], tokens: Sequence[Token]) -> bool:
    """Whether a noun without an article says by what means another act is done: "notified by registered mail"."""
    before = [t.text for t in tokens[max(0, told.at - 2) : told.at]]
    if told.exact or not lemmas(tokens[told.at].text, "n") or not _BY_MEANS.intersection(before):
        return False
    bare = before[-1] in _BY_MEANS or before[-1] not in _WITHIN_PHRASE | STOP
    return bare and any(o.exact and o.by_verb and o.score >= WHOLE and o.at < told.at for o in found)


def _only_somebody(told: Told, tokens: Sequence[Token]) -> bool:
    """Whether nothing but a word for somebody tells an act, which tells none: an applicant is no application."""
    return len(told.used) == 1 and told.lent and not told.head and word(tokens[told.at].text).person


def _says_how_bound(tokens: Sequence[Token], i: int) -> bool:
    """Whether a word says that something is allowed, or asked for, and tells no act: "a refund is only allowed after"."""
    before = {t.text for t in tokens[max(0, i - 2) : i]}
    return tokens[i].text in _HOW_BOUND and not before.isdisjoint(_IS)


def _stands_there(told: Told, tokens: Sequence[Token]) -> bool:
    """Whether a word tells a thing that is somehow ("my cart is packed") or whither something goes ("round to his door"),
    and nothing done.
    """
    at, words = told.at, [t.text for t in tokens]
    if len(told.used) > 1:
        return False
    behind = words[at + 1] if at + 1 < len(words) else "."
    owned = at > 0 and words[at - 1] in _OWNED and not told.exact and bool(lemmas(words[at], "n"))
    return (owned and behind in _IS) or (words[at] in _WHITHER and behind == "to")


def _beside_another(told: Told, tokens: Sequence[Token]) -> bool:
    """Whether a thing that alone tells an act only says of another act what it is done for: an item for the order."""
    before = [t.text for t in tokens[max(0, told.at - 2) : told.at]]
    return len(told.used) == 1 and before[:1] != [] and before[0] in _OF and before[-1] in _WITHIN_PHRASE


class _Text:
    """Tokens with their parts of sentences, and verbs joined with their particles."""

    def __init__(self, tokens: Sequence[Token], words: Vocabulary, things: Set[int]) -> None:
        self.tokens, self.plain = tokens, text_of(tuple(tokens), words)
        self.things = sorted(things)
        self.sayings = self.plain.sayings
        self.phrasal = [_phrasal(tokens, i) for i in range(len(tokens))]
        self.befell = frozenset(i for i in range(len(tokens)) if _befell(tokens, i))
        self.heads = frozenset(variant[0][0] for entry in words.acts for variant in entry.variants)
        nouns = (action.noun.split() for action in words.actions.values() if action.noun)
        self.modifiers = frozenset(n[0] for n in nouns if len(n) > 1 and n[1] not in STOP)
        content = [
            i
            for i, t in enumerate(tokens)
            if (t.text[0].isalnum() and t.text not in STOP) or (t.text == "be" and self._is_elsewhere(i))
        ]
        self.content = {True: content, False: [i for i in content if self.phrasal[i] or self.sayings[i]]}
        self.people = [i for i in content if word(tokens[i].text).person]
        self.part, number = list[int](), 0
        for i, token in enumerate(tokens):
            opens = token.text in _OPENS and not brought_before([t.text for t in tokens[i : i + 4]])
            number += token.text in ".;:!?," or opens
            self.part.append(number)
        self._scores: dict[str, list[tuple[float, int]]] = {}

    def _is_elsewhere(self, i: int) -> bool:
        """Whether a saying that begins here tells an act by where its thing then is: "be on its way"."""
        return any(
            self.tokens[places[1]].text == "on" for places in self.sayings[i].values() if len(places) > 2
        )

    def scores(self, wanted: str) -> list[tuple[float, int]]:
        """The tokens that say a word, with how well."""
        if wanted not in self._scores:
            joined = " " in wanted
            found = {} if joined else dict(self.plain.scores(wanted))
            if wanted not in PARTICLES:
                for i in self.content[joined]:
                    score = self._phrasal_score(wanted, i)
                    if score < SAID and self.saying(wanted, i):
                        score = SAID
                    if score >= BROADER and score >= found.get(i, 0.0):
                        found[i] = score
            self._scores[wanted] = [
                (found[i], i)
                for i in sorted(found)
                if (text := self.tokens[i].text) not in _EMPTY or text == wanted
            ][:MOST_PLACES]
        return self._scores[wanted]

    def of_another(self, wanted: str, k: int, i: int) -> bool:
        """Whether what befell tells an act by itself, and is neither a further word of one ("remind who has paid", "whose
        payment has come in") nor what a noun is for ("payment reminder").
        """
        if i not in self.befell:
            return False
        if k > 0:
            return not self.heads.isdisjoint({wanted} | word(wanted).verbs)
        return wanted in self.modifiers and not self.heads.isdisjoint(word(self.tokens[i].text).verbs)

    def takes_up(self, i: int) -> bool:
        """Whether a verb is of a thing said before: "after it was created", "once they have been created"."""
        words = [t.text for t in self.tokens[max(i - 3, 0) : i]]
        return words[-1:] != [] and words[-1] in _IS | {"been"} and not _IT.isdisjoint(words)

    def doers(self, wanted: str) -> list[tuple[float, int]]:
        """The tokens for those who do what a noun says: the collectors, to whom a fine goes for collection."""
        verbs = word(wanted).verbs if wanted not in word(wanted).verbs else frozenset[str]()
        alike = ((max(near(v, self.tokens[i].text) for v in verbs), i) for i in self.people) if verbs else ()
        return [(score, i) for score, i in alike if score >= LOOKS_ALIKE]

    def score(self, wanted: str, i: int) -> float:
        return next((score for score, at in self.scores(wanted) if at == i), 0.0)

    def by_particle(self, wanted: str, i: int, score: float) -> bool:
        """Whether a verb says another only together with a particle of its own: to find out is to check, and
        neither to check in nor to check out.
        """
        said = any(self.tokens[j].text in PARTICLES for j in self.saying(wanted, i))
        return bool(self.phrasal[i] or said) and near(wanted, self.tokens[i].text) < score

    def without_particle(self, i: int) -> bool:
        """Whether a verb stands without a particle, as that of an act may not: to verify is not to check in."""
        said = any(self.tokens[j].text in PARTICLES for of in self.sayings[i] for j in self.sayings[i][of])
        near_by = any(
            goes_with(self.tokens, i, j)
            for j in range(i + 1, min(i + 5, len(self.tokens)))
            if self.tokens[j].text in PARTICLES
        )
        return not (said or near_by or self.phrasal[i])

    def _phrasal_score(self, wanted: str, i: int) -> float:
        joined = near(wanted, self.phrasal[i]) if self.phrasal[i] else 0.0
        return max(joined, near(wanted, self.tokens[i].text)) if " " in wanted else joined

    def saying(self, wanted: str, i: int) -> tuple[int, ...]:
        """The places of the saying that stands for a word, if one begins there."""
        return (
            next((self.sayings[i][c] for c in classes_of(wanted) if c in self.sayings[i]), ())
            if self.sayings[i]
            else ()
        )


def _befell(tokens: Sequence[Token], i: int) -> bool:
    """Whether an act is told as done before: has already paid, has been paid, already paid, the payment has come in."""
    behind = [t.text for t in tokens[i + 1 : i + 4]]
    if behind[:1] and behind[0] in _PERFECT and not _ARRIVED.isdisjoint(behind):
        return bool(word(tokens[i].text).nouns)
    before = i - 1
    while before >= 0 and tokens[before].text in _IN_PERFECT:
        before -= 1
    found = {t.text for t in tokens[max(before, 0) : i]}
    return not found.isdisjoint(_PERFECT) and bool(lemmas(tokens[i].text, "v"))


def _phrasal(tokens: Sequence[Token], i: int) -> str:
    """The verb at a place with its particle ("turned down"), where the two are a verb of their own; else
    nothing.
    """
    text = tokens[i].text
    if text in STOP or not text.isalpha() or not lemmas(text, "v"):
        return ""
    for j in range(i + 1, min(i + 5, len(tokens))):
        other = tokens[j].text
        if not other.isalpha() or other in _NO_OBJECT:
            break
        if (
            other in PHRASAL_PARTICLES
            and (j == i + 1 or (other in _SEPARABLE and not is_preposition(tokens, i, j)))
            and lemmas(joined := f"{text} {other}", "v")
        ):
            return joined
    return ""


@lru_cache(maxsize=4096)
def _with_phrasal(variants: tuple[tuple[tuple[str, float], ...], ...]) -> list[tuple[tuple[str, float], ...]]:
    """The ways to say an act; a verb and its particle also as one word, which has synonyms of its own."""
    both = list(variants)
    for (verb, weight), *rest in variants:
        if rest and rest[0][0] in PARTICLES and lemmas(joined := f"{verb} {rest[0][0]}", "v"):
            both.append(((joined, weight + rest[0][1]), *rest[1:]))
    return both


def _places(text: _Text, activity: str, variants: tuple[tuple[tuple[str, float], ...], ...]) -> list[Told]:
    """Every place that tells an act, whichever of its words stands there."""
    found = []
    for variant in _with_phrasal(variants):
        for k, (wanted, _) in enumerate(variant):
            if wanted in PARTICLES:
                continue
            light = wanted in LIGHT and len(variant) > 1
            shared = k == 0 and len(variant) > 1 and variant[1][0] in PARTICLES
            found += [
                _at(text, activity, variant, k, score, i)
                for score, i in text.scores(wanted)
                if score >= CLASSMATE
                and (not light or (k == 0 and score >= SAME and text.takes_up(i)))
                and not (shared and text.by_particle(wanted, i, score))
                and not (shared and _is_phrasal(variant) and score < DERIVED and text.without_particle(i))
                and not text.of_another(wanted, k, i)
            ]
    return found


def _is_phrasal(variant: tuple[tuple[str, float], ...]) -> bool:
    """Whether a way to say an act is nothing but a verb and its particle, which say another act together."""
    (verb, _), (particle, _) = variant[0], variant[1]
    return len(variant) == 2 and particle != "on" and bool(lemmas(f"{verb} {particle}", "v"))


def _at(
    text: _Text, activity: str, variant: tuple[tuple[str, float], ...], k: int, score: float, i: int
) -> Told:
    """An act told at a place by its word number ``k``, with whatever tells its other words."""
    head, light = variant[0][0], variant[0][0] in LIGHT
    got, used, lent = variant[k][1] * score, [i], False
    told, exact, verb = k == 0 or light, k == 0 and score >= DERIVED, i if k == 0 else -1
    for j, (wanted, weight) in enumerate(variant):
        if j == k:
            continue
        among = text.scores(wanted) + ([(SAID, p) for p in text.things] if wanted in GENERIC_WORDS else [])
        among += text.doers(wanted) if j else []
        reach = (
            (s * _reach(text, wanted, j == 0, i, p), p)
            for s, p in among
            if p not in used and not text.of_another(wanted, j, p)
        )
        best, place = max(reach, key=lambda found: (found[0], -abs(found[1] - i)), default=(0.0, -1))
        if best < TAKES_PART:
            continue
        got += weight * best
        beside = _reach(text, wanted, j == 0, i, place) >= HEAD_FAR
        if beside and not (wanted in GENERIC_WORDS and place in text.things):
            used.append(place)
        lent = lent or not beside
        if j == 0:
            told, exact, verb = True, best >= DERIVED, place if beside else -1
    if (
        not told
        and k
        and score == SAME
        and (giving := _given(text.tokens, i)) is not None
        and _brings(variant, k)
    ):
        told, got = True, max(got, GIVEN * sum(w for _, w in variant))
        used += giving
    if k == 0 and score == SAID:
        used = sorted({*used, *text.saying(head, i)})
    by_verb = verb >= 0 and (not light or (abs(verb - i) <= BESIDE and text.score(head, verb) >= SAME))
    return Told(
        activity,
        verb if by_verb else i,
        got / sum(w for _, w in variant),
        tuple(sorted(used)),
        told,
        exact,
        lent,
        by_verb,
    )


def _given(tokens: Sequence[Token], i: int) -> list[int] | None:
    """Whether a thing stands for the act that brings it about, having no verb of its own, and where the verb is that it
    has instead: "gets a penalty", "no penalty", "without a penalty", "is followed by a penalty".
    """
    at = i - 1
    while at > 0 and tokens[at].text in _BEFORE_GIVEN:
        at -= 1
    if at < 0:
        return None
    if lemmas(tokens[at].text, "v")[:1] in _GIVES:
        return [at]
    return (
        _brought(tokens, i) if {t.text for t in tokens[at:i]} & _GIVEN_BY or _is_followed(tokens, i) else None
    )


def _is_followed(tokens: Sequence[Token], i: int) -> bool:
    """Whether something must follow or precede a thing, which stands for its act then: "a penalty must be followed by …"."""
    at = i + 1
    while at < len(tokens) and tokens[at].text in _WITHIN_PHRASE:
        at += 1
    return i + 1 < at < len(tokens) and tokens[at].text in ("followed", "preceded")


def _brought(tokens: Sequence[Token], i: int) -> list[int]:
    """Where the verb is that a thing has behind it in the passive: "no penalty may be added"."""
    at = i + 1
    while at < len(tokens) and tokens[at].text in _WITHIN_PHRASE:
        at += 1
    brings = at > i + 1 and at < len(tokens) and set(lemmas(tokens[at].text, "v")) & set(_BRING)
    return [at] if brings else []


def _brings(variant: tuple[tuple[str, float], ...], k: int) -> bool:
    """Whether a word of an act tells what the act brings about, and no other act of the schema has it."""
    return variant[k][1] == 1.0 and any(near(variant[0][0], verb) >= CLASSMATE for verb in _BRING)


def _reach(text: _Text, wanted: str, head: bool, i: int, place: int) -> float:
    """What a word of an act counts at a place, the act being told at ``i``."""
    if wanted in PARTICLES:
        return float(goes_with(text.tokens, i, place))
    away, together = abs(place - i), text.part[place] == text.part[i]
    if together and away <= BESIDE:
        return 1.0
    if head:
        return HEAD_FAR if together and away <= HEAD_AWAY else 0.0
    return FURTHER if together and away <= FAR else ELSEWHERE


_MADE = frozenset({"made", "done", "effected", "performed", "executed"})
"""Says of the noun of an act that it is done."""


def _without_echoes(found: Sequence[Told], tokens: Sequence[Token]) -> list[Told]:
    """Of each act the best at every place: what tells it with the words of a better one, or with some of them
    and no verb of its own, is that one again; so is what is made of its noun: "payment must be made".
    """
    kept: dict[str, list[Told]] = {}
    for told in sorted(found, key=lambda t: (-t.score, -len(t.used), t.used[-1] - t.used[0], t.at)):
        mine = kept.setdefault(told.activity, [])
        echo = any(
            told.at == o.at
            or set(told.used) == set(o.used)
            or (not (told.by_verb and o.by_verb) and set(told.used) & set(o.used))
            or (o.exact and set(o.used) < set(told.used) and tokens[told.at].text in _MADE)
            for o in mine
        )
        if told.score >= LEAST and not echo:
            mine.append(told)
    return [told for mine in kept.values() for told in mine]


def _less_within_sayings(found: Sequence[Told], tokens: Sequence[Token]) -> list[Told]:
    """Acts less those whose verb and particle stand within a longer saying (who lays hands on a thing hands nothing on), or
    whose verb says that what another one's noun tells is done ("the check of the document is made" makes no document).
    """

    def within(told: Told) -> bool:
        particle = any(tokens[i].text in PARTICLES for i in told.used)
        return particle and any(
            o.activity != told.activity and set(told.used) < set(o.used) and o.score >= told.score
            for o in found
        )

    def made_of(told: Told) -> bool:
        return tokens[told.at].text in _MADE and any(
            o.exact
            and o.activity != told.activity
            and 0 < told.at - max(o.used) <= 5
            and all(t.text in STOP for t in tokens[max(o.used) + 1 : told.at])
            for o in found
        )

    return [told for told in found if not (within(told) or made_of(told))]


def _grouped(found: Sequence[Told], tokens: Sequence[Token]) -> tuple[Mention, ...]:
    """Acts told at the same place are rivals."""
    groups: list[list[Told]] = []
    of_act: dict[str, list[Told]] = {}
    at_place: dict[int, list[Told]] = {}
    for told in found:
        of_act.setdefault(told.activity, []).append(told)
        at_place.setdefault(told.at, []).append(told)
    for told in sorted(
        found,
        key=lambda t: (
            -_standing(t, at_place[t.at]),
            _borrows(t, of_act[t.activity]),
            -len(t.used),
            t.used[-1] - t.used[0],
        ),
    ):
        group = next((g for g in groups if _rivals(told, g[0], tokens)), None)
        if group is None:
            groups.append([told])
        else:
            group.append(told)
    ordered = sorted((g for g in groups if not _gathered(g[0], groups)), key=lambda g: (g[0].at, g[0].used))
    return tuple(Mention(tuple(g[:MOST_RIVALS])) for g in ordered)


def _standing(told: Told, beside: Sequence[Told]) -> float:
    """How well an act is told; as well as one at its place that is told by some of its words only and hardly better."""
    of_some = (o.score for o in beside if o.score > told.score and set(o.used) < set(told.used))
    return round(max([told.score, *(s for s in of_some if s - told.score < HARDLY)]), 2)


def _gathered(told: Told, groups: Sequence[Sequence[Told]]) -> bool:
    """Whether an act without its verb is told only by words of several better ones: the receipt of this and that."""
    better = [set(g[0].used) for g in groups if g[0].head and g[0].score > told.score]
    return not told.head and bool(better) and set(told.used) <= set().union(*better)


def _borrows(told: Told, same: Sequence[Told]) -> bool:
    """Whether the same act is told as well by another verb that stands nearer to a word they share."""
    return any(
        o.exact >= told.exact and abs(w - o.at) < abs(w - told.at)
        for o in same
        for w in set(told.used) & set(o.used) - {told.at, o.at}
    )


def _less_of_another(found: Sequence[Told], tokens: Sequence[Token]) -> list[Told]:
    """Acts less sure where their noun is said to be of what another act is done to: the notification of the result."""
    of_noun: dict[int, list[Told]] = {}
    for told in found:
        of_noun.setdefault(told.at, []).append(told)
    return [
        told._replace(score=told.score * FURTHER * ELSEWHERE)
        if (told_of := _complement(tokens, told.at)).isdisjoint(told.used)
        and any(o.exact and not told_of.isdisjoint(o.used) for o in of_noun[told.at])
        else told
        for told in found
    ]


def _complement(tokens: Sequence[Token], at: int) -> set[int]:
    """The words that say of what a noun is: the notification of the appeal's result."""
    if at + 1 >= len(tokens) or tokens[at + 1].text != "of":
        return set()
    i = at + 2
    while i < len(tokens) and tokens[i].text in _BEFORE_GIVEN | {"'s"}:
        i += 1
    found = set[int]()
    while i < len(tokens) and tokens[i].text[0].isalnum() and tokens[i].text not in STOP | {"must", "may"}:
        found.add(i)
        i += 1 + (i + 1 < len(tokens) and tokens[i + 1].text == "'s")
    return found


def _inside(told: Told, whole: Told, tokens: Sequence[Token]) -> bool:
    """Whether an act's name is what another act is done to: the confirmation of receipt must be sent."""
    return (
        whole.by_verb
        and whole.exact
        and told.by_verb
        and told.score >= (TWO_ACTS if told.exact else ENOUGH)
        and whole.at not in told.used
        and set(told.used) < set(whole.used)
        and all(
            i in whole.used or tokens[i].text in _WITHIN_PHRASE
            for i in range(min(whole.used), max(whole.used))
        )
    )


def _joined(one: set[int], other: set[int], tokens: Sequence[Token]) -> bool:
    """Whether nothing but "and" or "or" stands between the own words of two acts: "examine thoroughly or casually"."""
    first, second = sorted((one, other), key=min)
    between = {t.text for t in tokens[max(first) + 1 : min(second)]}
    return bool(between) and between <= _JOINS


def _rivals(told: Told, best: Told, tokens: Sequence[Token]) -> bool:
    together = told.at == best.at
    particle = all(tokens[i].text in PHRASAL_PARTICLES for i in told.used)  # takes it round: no round is made
    within = set(told.used) <= set(best.used)
    if _inside(told, best, tokens) or (
        within
        and (
            particle
            or told.score < ENOUGH
            or (told.lent and best.exact and best.score > told.score + 0.2)
            or (best.exact and best.by_verb and best.at in told.used and not told.exact)
        )
    ):
        return True
    if not (
        together or (not told.by_verb and told.at in best.used) or (not best.by_verb and best.at in told.used)
    ):
        return False
    own, theirs = set(told.used) - set(best.used), set(best.used) - set(told.used)
    least = (
        ENOUGH if own and theirs and told.exact and best.exact and _joined(own, theirs, tokens) else TWO_ACTS
    )
    if not (together and own and theirs and told.score >= least and told.by_verb and best.by_verb):
        return True
    if any(tokens[i - 1].text == "per" for i in own ^ theirs if i):
        return True  # three reminders per order
    # "checks in and out" are two acts; "checks out in both cases", "a fine must not be sent to collection" one
    first, second = sorted((own, theirs), key=max)
    if max(first) < best.at < min(second):
        return not {t.text for t in tokens[best.at : min(second)]} & _JOINS
    return all(
        tokens[i].text in _SEPARABLE and tokens[i - 1].text not in ("and", "or")
        for i in (own if max(own) > max(theirs) else theirs)
    )
