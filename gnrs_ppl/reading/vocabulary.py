"""A schema's names as words to look for, and where a stretch of tokens says one of them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import chain
from typing import NamedTuple

from gnrs_ppl.context.types import Schema, Term
from gnrs_ppl.reading.names import TURNED, other_words
from gnrs_ppl.reading.types import Named, Span
from gnrs_ppl.reading.ways import classes_of, of_another, sayings_at, whole_classes
from gnrs_ppl.reading.wording import AsWritten
from gnrs_ppl.reading.words import (
    BROADER,
    DERIVED,
    PHRASAL_PARTICLES,
    RARE_SYNONYM,
    asked_by,
    held_by,
    lemmas,
    senses_of,
    similarity,
    word,
)
from gnrs_ppl.words import PARTICLES

_SPLIT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9']+")
_NO_WORDS = AsWritten(
    r"\((?:start|complete|schedule|assign|suspend|resume|withdraw)\)\s*$|^[A-Z]_|^[A-Z]{1,3}\d{1,3}(?:-\d+)?[\s_]+(?=[A-Za-z])",
)
"""What log labels carry beside words: the stage of a life cycle, a letter, a number (T04 Determine fee)."""
STOP = frozenset(
    """
    a an the of for to from with by at and or it its their his her them they he she be is are was were
    been being as into onto this that these those any all some no not each every one per than then who
    whom which whose there here has have had do does did will would also own such so but if when after
    before until while only same via through about upon within during between against must shall should
    may can might could need needs
    """.split()
)
"""Words that carry no content of their own."""
LIGHT = frozenset(
    """
    make do have take get give carry perform conduct hold place go happen occur start begin complete
    finish finalize execute thing things something process case activity step task action initiate set
    put new
    """.split()
)
"""Verbs and nouns that say little by themselves: place an order, conduct a review."""
LIGHT_WEIGHT, PARTICLE_WEIGHT = 0.45, 0.8
ENOUGH = 0.5
"""Least score at which words are read as an act; below it they are only the nearest."""

GENERIC_WORDS = frozenset({"thing", "things", "something", "anything"})
"""What an act is done to where that may be anything: any thing of the schema says them."""
_ANY_DOING = "handle"
"""Words by which an act says that any doing will do: handle things."""
COMMON_VERBS = frozenset(["come", "go", "get", "take", "turn", "give", "put", "set", "run", "keep"])
_ARTICLES = frozenset({"the", "a", "an", "his", "her", "their", "this", "that", "any"})
_PREPOSITION = re.compile(r"\b(?:in|on|over|up)(?= (?:the|an?)\b)")
"""No particle in a noun: the decision on the request."""
_OTHER_SENSE = frozenset({"up", "down", "off", "over", "out", "away"})
"""Particles with which a common verb says another act: come, but not come up."""
OTHER_VERB = 0.6
"""How much of a common verb's likeness is left beside such a particle."""
CLASSMATE = 0.72
SAID = 0.85
"""How well a saying of several words says an act."""
HEAD = 0.7
"""How well the last word of a term says it: the key, for the access key."""
LENT = 0.8
"""How much a word counts that a pronoun stands for."""


class Token(NamedTuple):
    """A word of the sentence in lower case, and its characters; punctuation is a token of its own."""

    text: str
    start: int
    end: int


_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W_]+(?:['’](?!s\b)[^\W_]+)*|['’]s\b|[^\w\s]")


@lru_cache(maxsize=64)
def tokens_of(sentence: str) -> tuple[Token, ...]:
    """The tokens of a sentence."""
    return tuple(Token(m[0].lower().replace("’", "'"), m.start(), m.end()) for m in _TOKEN.finditer(sentence))


_UNDONE = re.compile(r"un\w+(?:ed|id|en|nt)")


def _undone_apart(token: Token, told: Set[str], verbs: Set[str]) -> tuple[Token, ...]:
    """Says "unpaid" as "not paid", where paying is an act."""
    done = token.text.removeprefix("un")
    forms = {
        done,
        done.removesuffix("d"),
        done.removesuffix("ed"),
    }  # a verb that no dictionary has: "triaged"
    if not _UNDONE.fullmatch(token.text) or (verbs.isdisjoint(lemmas(done, "v")) and told.isdisjoint(forms)):
        return (token,)
    return Token("not", token.start, token.start + 2), Token(done, token.start + 2, token.end)


def name_words(name: str) -> tuple[str, ...]:
    """Words of a name: camel case, snake case, log labels such as ``A_create-order (complete)``."""
    return tuple(w.lower() for w in _SPLIT.split(_NO_WORDS.sub("", name)) if w)


@lru_cache(maxsize=65536)
def near(one: str, other: str) -> float:
    """How near two words are, by senses, derivation, or a class of acts."""
    if _asked_by(one).isdisjoint(_held_by(other)):
        return 0.0
    found = similarity(one, other)
    return CLASSMATE if found < CLASSMATE and classes_of(one) & classes_of(other) else found


@cache
def _held_by(form: str) -> frozenset[str | int]:
    """What a word has that another must ask for to be ``near`` it at all."""
    return held_by(form) | {f"class {c}" for c in classes_of(form)}


@cache
def _asked_by(form: str) -> frozenset[str | int]:
    return asked_by(form) | {f"class {c}" for c in classes_of(form)}


def role_words(term: Term) -> tuple[str, ...]:
    """The words of a term's phrase, or of its name."""
    return tuple(
        t.text for t in tokens_of(term.phrase or " ".join(name_words(term.name))) if t.text[0].isalpha()
    )


class Match(NamedTuple):
    """A name found in some tokens: how well, and by which of them.

    ``head`` says whether its first word (what is done) is among what they say, ``exact`` that this word is
    the act's own, ``said`` that a saying of several words told it.
    """

    name: str
    score: float
    weight: float
    positions: tuple[int, ...]
    head: bool = True
    said: bool = False
    exact: bool = False


@dataclass(frozen=True)
class _Entry:
    name: str
    variants: tuple[tuple[tuple[str, float], ...], ...]
    classes: frozenset[int] = frozenset()
    """Of ways to say it whole."""
    literal: int = 0
    """So many of the last variants count by their very words only."""


class Vocabulary:
    """The words of a schema, ready to be looked for."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.actions = {a.name: a for a in schema.actions}
        deeds = {_content(a.noun)[0] for a in schema.actions if a.noun}
        spoken = {a.name: _spoken(a.name, a.phrase or "", a.noun or "", a.aliases) for a in schema.actions}
        self.roles = tuple(_term_entry(t, deeds) for t in schema.roles)
        self.objects = tuple(_term_entry(t) for t in schema.objects)
        self.locations = tuple(_term_entry(t) for t in schema.locations)
        self.place_words = frozenset(
            w for entry in self.locations for v in entry.variants for w, _ in v if w not in STOP
        ) | {"there"}
        self.generic = frozenset(name for name, said in spoken.items() if said.any_doing)
        common = Counter(chain.from_iterable(said.words for said in spoken.values()))
        rarity = {w: _rarity(n, len(spoken)) for w, n in common.items()}
        self.acts = tuple(
            _Entry(name, tuple(_weighted(v, rarity) for v in said.variants), said.classes)
            for name, said in spoken.items()
        )

    @cached_property
    def told(self) -> frozenset[str]:
        """Every word of an act."""
        return frozenset(w for entry in self.acts for variant in entry.variants for w, _ in variant)

    @cached_property
    def _verbs(self) -> frozenset[str]:
        """Every verb of an act."""
        return frozenset(verb for w in self.told for verb in lemmas(w, "v"))

    def tokens_of(self, sentence: str) -> tuple[Token, ...]:
        """The tokens of a sentence, "unpaid" as two of them where paying is an act and no name says it."""
        tokens = tokens_of(sentence)
        if not any(t.text.startswith("un") for t in tokens):
            return tokens
        return tuple(
            part
            for token in tokens
            for part in (
                (token,) if token.text in self.told else _undone_apart(token, self.told, self._verbs)
            )
        )

    def words_of(self, action: str) -> tuple[str, ...]:
        """The content words of an action, of all its variants."""
        entry = self._entries.get(action)
        return tuple(dict.fromkeys(w for variant in entry.variants for w, _ in variant)) if entry else ()

    @cached_property
    def _entries(self) -> dict[str, _Entry]:
        return {entry.name: entry for entry in self.acts}

    def match_acts(self, tokens: Sequence[Token], at: Sequence[int], lent: Sequence[int] = ()) -> list[Match]:
        """Acts that tokens at some places say, best first; ``lent`` are places a pronoun stands for, whose
        words count for less.
        """
        return list(text_of(tuple(tokens), self).matches(sorted(at), lent))

    def name_in(self, kind: str, tokens: Sequence[Token], at: Sequence[int]) -> list[tuple[int, Named]]:
        """Roles, objects or locations that tokens say in full, with the place of their last word, in text
        order.
        """
        found = []
        for entry in getattr(self, kind):
            for k, variant in enumerate(entry.variants, 1):
                literal = k > len(entry.variants) - entry.literal
                found += [
                    (i, named)
                    for i, named in _runs(entry.name, variant, tokens, at)
                    if named.score == 1.0 or not literal
                ]
            found += _in_other_words(entry, tokens, at, kind == "roles")
        heads = Counter(entry.variants[0][-1][0] for entry in getattr(self, kind) if entry.variants)
        for entry in getattr(self, kind):
            head = entry.variants[0][-1] if entry.variants else ("", 0.0)
            plain = bool(entry.variants) and len(entry.variants[0]) > 1
            if plain and heads[head[0]] == 1 and head[0] not in GENERIC_WORDS | STOP:
                alone = [
                    (i, named)
                    for i, named in _runs(entry.name, (head,), tokens, at)
                    if named.score == 1.0 and _stands_alone(tokens, i)
                ]
                found += [(i, named._replace(score=HEAD)) for i, named in alone]
        found.sort(key=lambda f: (f[0], -f[1].score, f[1].span.start))
        kept: list[tuple[int, Named]] = []
        for place, named in sorted(found, key=lambda f: (-(f[1].span.end - f[1].span.start), -f[1].score)):
            if all(
                named.span.end <= other.span.start or named.span.start >= other.span.end for _, other in kept
            ):
                kept.append((place, named))
        return sorted(kept)


def _in_other_words(
    entry: _Entry, tokens: Sequence[Token], at: Sequence[int], of_people: bool
) -> Iterator[tuple[int, Named]]:
    """Where other words than its own say a term."""
    words, said = [w for w, _ in entry.variants[0]] if entry.variants else [], [t.text for t in tokens]
    for first, last in other_words(words, said, at, of_people) if len(words) > 1 else ():
        yield last, Named(entry.name, Span(tokens[first].start, tokens[last].end), TURNED)


def _stands_alone(tokens: Sequence[Token], i: int) -> bool:
    """Whether a noun follows an article or the like and is no part of a longer name (such a key; not: the
    gate queue).
    """
    after = tokens[i + 1].text if i + 1 < len(tokens) else "."
    before = tokens[i - 1].text if i else ""
    return before in (
        "the",
        "a",
        "an",
        "this",
        "that",
        "these",
        "those",
        "such",
        "his",
        "her",
        "their",
        "its",
    ) and (after in STOP or after in PARTICLES or not word(after).nouns)


@cache
def _rarity(acts: int, count: int) -> float:
    """What a word counts that so many acts of a schema have."""
    return 0.5 + 0.5 * (math.log(1 + count / acts) / math.log(1 + count) if count > 1 else 1.0)


def _weighted(words: tuple[str, ...], rarity: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    light = LIGHT if len(words) > 1 else frozenset()
    return tuple(
        (w, (LIGHT_WEIGHT if w in light else PARTICLE_WEIGHT if w in PARTICLES else 1.0) * rarity[w])
        for w in words
    )


@lru_cache(maxsize=4096)
def _content(text: str) -> tuple[str, ...]:
    """The words of a phrase that tell what is done."""
    words = [t.text for t in tokens_of(text) if t.text[0].isalnum()]
    last = len(words) - 1
    kept = [
        w
        for i, w in enumerate(words)
        if (w not in STOP and (w not in PARTICLES or i)) or (i == last and len(w) == 1)
    ]
    kept = [w for i, w in enumerate(kept) if w not in PARTICLES or (i and kept[i - 1] not in PARTICLES)]
    return tuple(dict.fromkeys(kept)) or tuple(words)


class _Spoken(NamedTuple):
    """The words of each way to say an act, all of them, the classes it belongs to whole, and whether any doing is one."""

    variants: tuple[tuple[str, ...], ...]
    words: frozenset[str]
    classes: frozenset[int]
    any_doing: bool


@lru_cache(maxsize=4096)
def _spoken(name: str, phrase: str, noun: str, aliases: tuple[str, ...]) -> _Spoken:
    """How an act is said."""
    if noun.split(" ")[0] not in LIGHT:  # of a hold on the invoice little else would be left
        noun = _PREPOSITION.sub(" ", noun)
    given = [phrase or " ".join(name_words(name)), noun, *aliases]
    ways = [v for text in given if text and (v := _content(text))]
    variants = tuple(dict.fromkeys((*ways, *_by_verb_of_name(name, phrase))))
    any_doing = any(GENERIC_WORDS & set(v) and near(_ANY_DOING, v[0]) >= CLASSMATE for v in variants)
    return _Spoken(variants, frozenset(chain.from_iterable(variants)), _whole(variants), any_doing)


def _by_verb_of_name(name: str, phrase: str) -> Iterator[tuple[str, ...]]:
    """A phrase with the verb of the name in place of its own, where the name has all its other words: what is settled is
    determined too, where the log says so.
    """
    verb, *others = name_words(name) or ("",)
    own, *things = _content(phrase) or ("",)
    says_something = verb in lemmas(verb, "v") and verb not in STOP | LIGHT | COMMON_VERBS
    says_something = (
        says_something and near(verb, "make") < RARE_SYNONYM
    )  # a payment is made, and not created
    whole = set(things) <= set(others) and PARTICLES.isdisjoint(set(others) - set(things))
    if things and says_something and own not in (verb, *others) and whole:
        yield verb, *things


def _whole(variants: Sequence[tuple[str, ...]]) -> frozenset[int]:
    """The classes of the ways to say an act; what is done to any thing is said by its verb alone."""
    alone = [tuple(w for w in v if w not in GENERIC_WORDS) for v in variants]
    return whole_classes([*variants, *filter(None, alone)])


def _term_entry(term: Term, deeds: Set[str] = frozenset()) -> _Entry:
    """The words of a role, object or place. Beside a phrase, the name counts by its very words only: a
    package is no Shipment, where those who ship are called so; and not at all where it names what is done.
    """
    given = [term.phrase or "", term.plural or "", *term.aliases, " ".join(name_words(term.name))]
    words = dict.fromkeys(
        v for text in given if (v := tuple(t.text for t in tokens_of(text) if t.text[0].isalnum()))
    )
    kept = [v for v in words if v[0] not in STOP or len(v) > 1]  # an article is no vehicle of class A
    literal = bool(term.phrase) and len(kept) > 1 and kept[-1] == name_words(term.name)
    if literal and kept[-1][-1] in deeds:
        kept, literal = kept[:-1], False
    return _Entry(term.name, tuple(tuple((w, 1.0) for w in v) for v in kept), literal=int(literal))


class Scanned:
    """Tokens, which of them say a word, and the sayings that begin at each."""

    def __init__(self, tokens: tuple[Token, ...], words: Vocabulary) -> None:
        self.tokens = tokens
        self.sayings = [dict(sayings_at(tokens, i, words.place_words)) for i in range(len(tokens))]
        self.said = frozenset(of for sayings in self.sayings for of in sayings)
        after = [*(t.text for t in tokens[1:]), "."]
        self._content = [
            (i, t.text, after[i]) for i, t in enumerate(tokens) if t.text not in STOP and t.text[0].isalpha()
        ]
        self._held = frozenset[str | int]().union(*(_held_by(text) for _, text, _ in self._content))
        self._scores: dict[str, dict[int, float]] = {}
        self._matches: dict[tuple[tuple[int, ...], tuple[int, ...]], list[Match]] = {}
        told = [(entry, [way for v in entry.variants if (way := self._told(v))]) for entry in words.acts]
        self._acts = {
            lent: [
                (entry, ways)
                for entry, ways in told
                if entry.classes & self.said or any(w.anywhere if lent else w.well for w in ways)
            ]
            for lent in (False, True)
        }
        """The acts that may be told anywhere, by words of their own or by words that a pronoun lends."""

    def matches(self, at: Sequence[int], lent: Sequence[int]) -> list[Match]:
        """The acts that tokens at some places say, best first; the same places are asked for more than once."""
        key = tuple(at), tuple(lent)
        if key not in self._matches:
            found = [m for entry, ways in self._acts[bool(lent)] if (m := _best(entry, ways, self, *key))]
            sayings = [set(m.positions) for m in found if m.said]
            found = [
                m for m in found if not any(set(m.positions) < s for s in sayings)
            ]  # "register arrival" is no arrival, "lay hands on" no handing on
            self._matches[key] = sorted(found, key=lambda m: (-m.score, -m.weight))
        return self._matches[key]

    def scores(self, wanted: str) -> dict[int, float]:
        """The tokens that say a word, with how well."""
        if wanted not in self._scores:
            if wanted in PARTICLES or wanted in STOP or not wanted[0].isalpha():
                scores = [
                    (i, word_score(wanted, self.tokens, i))
                    for i, t in enumerate(self.tokens)
                    if wanted not in PARTICLES or t.text == wanted
                ]
            elif self._held.isdisjoint(_asked_by(wanted)):
                scores = []
            else:
                scores = [(i, _score(wanted, text, after)) for i, text, after in self._content]
            self._scores[wanted] = {i: score for i, score in scores if score >= BROADER}
        return self._scores[wanted]

    def _told(self, variant: tuple[tuple[str, float], ...]) -> _Way | None:
        """A way to say an act with the tokens that say its words, if there are any."""
        scores = [self.scores(w) for w, _ in variant]
        if not any(scores):
            return None
        well = frozenset(i for of_word in scores for i, s in of_word.items() if s >= CLASSMATE)
        return _Way(variant, scores, frozenset(chain.from_iterable(scores)), well)


class _Way(NamedTuple):
    """A way to say an act: the scores of its words, and the tokens that say any of them, or well."""

    variant: tuple[tuple[str, float], ...]
    of_words: list[dict[int, float]]
    anywhere: frozenset[int]
    well: frozenset[int]


@lru_cache(maxsize=8)
def text_of(tokens: tuple[Token, ...], words: Vocabulary) -> Scanned:
    """Tokens made ready to be looked at, kept for the next act."""
    return Scanned(tokens, words)


def _best(
    entry: _Entry, ways: Sequence[_Way], text: Scanned, at: Sequence[int], lent: Sequence[int]
) -> Match | None:
    best, tokens, here = _said_otherwise(entry, text, at), text.tokens, set(at)
    for variant, scores, anywhere, well in ways:
        if well.isdisjoint(here) and (not lent or not anywhere.isdisjoint(here)):
            continue
        own = [[(s, i) for i, s in of_word.items() if i in here] for of_word in scores]
        total = sum(weight for _, weight in variant)
        middle = _middle(own)
        got, used, head, exact = 0.0, list[int](), False, False
        for k, ((w, weight), places) in enumerate(zip(variant, own, strict=True)):
            score, place = 0.0, -1
            if free := [
                (s, i)
                for s, i in places
                if i not in used and (w not in PARTICLES or any(goes_with(tokens, u, i) for u in used))
            ]:
                score, place = max(free, key=lambda p: (p[0], -abs(p[1] - middle)))
            of_word = scores[k]
            borrowed = (
                max([LENT * of_word.get(i, 0.0) for i in lent], default=0.0) if lent and of_word else 0.0
            )
            if place >= 0 and score >= borrowed:
                used.append(place)
            if (score := max(score, borrowed)) >= BROADER * LENT:
                got += weight * score
                head = head or not k or w in LIGHT
                exact = exact or (not k and score >= DERIVED)
        if got and (best is None or (bool(used), got / total) > (bool(best.positions), best.score)):
            best = Match(entry.name, got / total, got, tuple(sorted(used)), head, exact=exact)
    return best


def _said_otherwise(entry: _Entry, text: Scanned, at: Sequence[int]) -> Match | None:
    """An act told by a saying of several words."""
    if entry.classes.isdisjoint(text.said):
        return None
    here = set(at)
    for i in at:
        told = [
            places
            for of, places in text.sayings[i].items()
            if of in entry.classes
            and here.issuperset(places)
            and all(
                text.tokens[p].text not in PARTICLES or goes_with(text.tokens, i, p) for p in places if p > i
            )
        ]
        if told:  # of acts that the same saying says, the one that more classes have it for
            return Match(entry.name, SAID, SAID * len(told), told[0], said=True)
    return None


def _middle(own: Sequence[Sequence[tuple[float, int]]]) -> float:
    """Where the words of an act stand: the middle of those that have one place only, else of all."""
    single = [places[0][1] for places in own if len(places) == 1] or [i for places in own for _, i in places]
    return sum(single) / len(single) if single else 0.0


def word_score(wanted: str, tokens: Sequence[Token], i: int) -> float:
    """How well a token says a word; a particle only near its verb and not before what follows it (check in,
    not: in the shop).
    """
    return _score(wanted, tokens[i].text, tokens[i + 1].text if i + 1 < len(tokens) else ".")


@lru_cache(maxsize=1 << 18)
def _score(wanted: str, text: str, after: str) -> float:
    if wanted in PARTICLES:
        return float(text == wanted and not (after in _ARTICLES and text in ("in", "on", "over", "at")))
    if text in STOP or not text[0].isalpha():
        return float(wanted == text)
    score = near(wanted, text)
    return score * OTHER_VERB if score < DERIVED and _is_another_verb(text, after) else score


@lru_cache(maxsize=4096)
def _is_another_verb(text: str, after: str) -> bool:
    """Whether a verb says another act with the particle behind it: come up, carry out."""
    verbs = word(text).verbs if after in _OTHER_SENSE else frozenset()
    return not COMMON_VERBS.isdisjoint(verbs) or any(senses_of(f"{v} {after}", "v") for v in verbs)


def goes_with(tokens: Sequence[Token], verb: int, particle: int) -> bool:
    """Whether a particle is near enough behind its verb, with no other particle between, and none of another verb's."""
    between = (tokens[k].text for k in range(verb + 1, particle))
    near_enough = 0 < particle - verb <= 4 and PARTICLES.isdisjoint(between)
    return near_enough and not of_another(tokens, verb, particle)


def _runs(
    name: str, variant: tuple[tuple[str, float], ...], tokens: Sequence[Token], at: Sequence[int]
) -> list[tuple[int, Named]]:
    """Where the words of a term stand one after the other, the last in any number."""
    words = [w for w, _ in variant]
    found = []
    for k in range(len(at) - len(words) + 1):
        places = at[k : k + len(words)]
        if places[-1] - places[0] != len(words) - 1:
            continue
        scores = [near(w, tokens[i].text) for w, i in zip(words, places, strict=True)]
        if (
            min(scores) >= CLASSMATE
            and all(s == 1.0 for s in scores[:-1])
            and (
                scores[-1] == 1.0
                or (word(tokens[places[-1]].text).nouns and tokens[places[-1]].text not in PHRASAL_PARTICLES)
            )
        ):
            score = sum(scores) / len(scores)
            found.append(
                (places[-1], Named(name, Span(tokens[places[0]].start, tokens[places[-1]].end), score))
            )
    return found
