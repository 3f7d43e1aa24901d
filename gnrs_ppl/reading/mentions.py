"""Where a text tells an act: its verb or noun, and the words around that say which act of the schema is
meant.

An act may be told more than once, the same words may tell several acts (rivals), and what was said before may
be left out later ("once it has been approved"): words that stand further off count for less.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import lru_cache
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
    PHRASAL_PARTICLES,
    SAME,
    brought_before,
    lemmas,
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
MOST_RIVALS = 4
MOST_PLACES = 40
"""A word that stands oftener in a text is looked for in its first places only."""
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
_JOINS = frozenset({"and", "or", "nor", "but", "then", ",", "/", "&"})
"""What stands between the words of two acts that share their verb."""
_NO_OBJECT = frozenset({"and", "or", "but", "if", "when", "who", "that", "which", "must", "shall"})


class ActMatch(NamedTuple):
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

    matches: tuple[ActMatch, ...]

    @property
    def best(self) -> ActMatch:
        """The likeliest match."""
        return self.matches[0]

    @property
    def activity(self) -> str:
        """The likeliest act."""
        return self.best.activity

    @property
    def at(self) -> int:
        """The token of its verb or noun."""
        return self.best.at


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
    matches = (match for entry in words.acts for match in _places(text, entry.name, entry.variants))
    acts = [
        match
        for match in matches
        if match.at not in people_and_places
        and not only_helps(tokens, match.used)
        and (match.exact or not is_a_case(tokens, match.at))
        and (match.at not in things or not match.by_verb or match.exact)
    ]
    return _grouped(_without_echoes(acts, tokens), tokens)


class _Text:
    """Tokens with their parts of sentences, and verbs joined with their particles."""

    def __init__(self, tokens: Sequence[Token], words: Vocabulary, things: Set[int]) -> None:
        self.tokens, self.plain = tokens, text_of(tuple(tokens), words)
        self.things = sorted(things)
        self.sayings = self.plain.sayings
        self.phrasal = [_phrasal(tokens, i) for i in range(len(tokens))]
        content = [i for i, t in enumerate(tokens) if t.text[0].isalnum() and t.text not in STOP]
        self.content = {True: content, False: [i for i in content if self.phrasal[i] or self.sayings[i]]}
        self.part, number = list[int](), 0
        for i, token in enumerate(tokens):
            opens = token.text in _OPENS and not brought_before([t.text for t in tokens[i : i + 4]])
            number += token.text in ".;:!?," or opens
            self.part.append(number)
        self._scores: dict[str, list[tuple[float, int]]] = {}

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

    def score(self, wanted: str, i: int) -> float:
        return next((score for score, at in self.scores(wanted) if at == i), 0.0)

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


def _places(
    text: _Text, activity: str, variants: tuple[tuple[tuple[str, float], ...], ...]
) -> list[ActMatch]:
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
                and not light
                and not (shared and _is_phrasal(variant) and score < DERIVED and text.without_particle(i))
            ]
    return found


def _is_phrasal(variant: tuple[tuple[str, float], ...]) -> bool:
    """Whether a way to say an act is nothing but a verb and its particle, which say another act together."""
    (verb, _), (particle, _) = variant[0], variant[1]
    return len(variant) == 2 and particle != "on" and bool(lemmas(f"{verb} {particle}", "v"))


def _at(
    text: _Text, activity: str, variant: tuple[tuple[str, float], ...], k: int, score: float, i: int
) -> ActMatch:
    """An act told at a place by its word number ``k``, with whatever tells its other words."""
    head, light = variant[0][0], variant[0][0] in LIGHT
    got, used, lent = variant[k][1] * score, [i], False
    has_head, exact, verb = k == 0 or light, k == 0 and score >= DERIVED, i if k == 0 else -1
    for j, (wanted, weight) in enumerate(variant):
        if j == k:
            continue
        among = text.scores(wanted) + ([(SAID, p) for p in text.things] if wanted in GENERIC_WORDS else [])
        reach = ((s * _reach(text, wanted, j == 0, i, p), p) for s, p in among if p not in used)
        best, place = max(reach, key=lambda found: (found[0], -abs(found[1] - i)), default=(0.0, -1))
        if best < TAKES_PART:
            continue
        got += weight * best
        beside = _reach(text, wanted, j == 0, i, place) >= HEAD_FAR
        if beside and not (wanted in GENERIC_WORDS and place in text.things):
            used.append(place)
        lent = lent or not beside
        if j == 0:
            has_head, exact, verb = True, best >= DERIVED, place if beside else -1
    if k == 0 and score == SAID:
        used = sorted({*used, *text.saying(head, i)})
    by_verb = verb >= 0 and (not light or (abs(verb - i) <= BESIDE and text.score(head, verb) >= SAME))
    return ActMatch(
        activity,
        verb if by_verb else i,
        got / sum(w for _, w in variant),
        tuple(sorted(used)),
        has_head,
        exact,
        lent,
        by_verb,
    )


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


def _without_echoes(matches: Sequence[ActMatch], tokens: Sequence[Token]) -> list[ActMatch]:
    """Of each act the best at every place: what tells it with the words of a better one, or with some of them
    and no verb of its own, is that one again; so is what is made of its noun: "payment must be made".
    """
    best_of: dict[str, list[ActMatch]] = {}
    for match in sorted(matches, key=lambda t: (-t.score, -len(t.used), t.used[-1] - t.used[0], t.at)):
        mine = best_of.setdefault(match.activity, [])
        echo = any(
            match.at == o.at
            or set(match.used) == set(o.used)
            or (not (match.by_verb and o.by_verb) and set(match.used) & set(o.used))
            or (o.exact and set(o.used) < set(match.used) and tokens[match.at].text in _MADE)
            for o in mine
        )
        if match.score >= LEAST and not echo:
            mine.append(match)
    return [match for mine in best_of.values() for match in mine]


def _grouped(matches: Sequence[ActMatch], tokens: Sequence[Token]) -> tuple[Mention, ...]:
    """Acts told at the same place are rivals."""
    groups: list[list[ActMatch]] = []
    at_place: dict[int, list[ActMatch]] = {}
    for match in matches:
        at_place.setdefault(match.at, []).append(match)
    for match in sorted(
        matches,
        key=lambda t: (
            -_standing(t, at_place[t.at]),
            -len(t.used),
            t.used[-1] - t.used[0],
        ),
    ):
        group = next((g for g in groups if _rivals(match, g[0], tokens)), None)
        if group is None:
            groups.append([match])
        else:
            group.append(match)
    ordered = sorted(groups, key=lambda g: (g[0].at, g[0].used))
    return tuple(Mention(tuple(g[:MOST_RIVALS])) for g in ordered)


def _standing(match: ActMatch, neighbours: Sequence[ActMatch]) -> float:
    """How well an act is told; as well as one at its place that is told by some of its words only and hardly better."""
    of_some = (o.score for o in neighbours if o.score > match.score and set(o.used) < set(match.used))
    return round(max([match.score, *(s for s in of_some if s - match.score < HARDLY)]), 2)


def _rivals(match: ActMatch, best: ActMatch, tokens: Sequence[Token]) -> bool:
    together = match.at == best.at
    particle = all(
        tokens[i].text in PHRASAL_PARTICLES for i in match.used
    )  # takes it round: no round is made
    within = set(match.used) <= set(best.used)
    if within and (
        particle
        or match.score < ENOUGH
        or (match.lent and best.exact and best.score > match.score + 0.2)
        or (best.exact and best.by_verb and best.at in match.used and not match.exact)
    ):
        return True
    if not (
        together
        or (not match.by_verb and match.at in best.used)
        or (not best.by_verb and best.at in match.used)
    ):
        return False
    own, theirs = set(match.used) - set(best.used), set(best.used) - set(match.used)
    if not (together and own and theirs and match.score >= TWO_ACTS and match.by_verb and best.by_verb):
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
