"""Ways to say an act that the lexicon's senses do not bring together: general English, no one's vocabulary
(``ways.txt``).

A line of the file is a class: words and sayings of several words, any of which may stand for any other. ``@``
stands for a place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, Protocol

from gnrs_ppl.reading.words import DERIVED, SAME, is_verb, lemmas, similarity, word
from gnrs_ppl.words import PARTICLES

FILE = Path(__file__).parent / "ways.txt"
PLACE = "@"
"""Stands in a saying for a place of the schema, or "there"."""
REACH = 3
"""How many other words may stand among those of a saying."""
THERE = 6
"""How many may stand before "there", which follows what is brought."""
_TAKEN = frozenset({"bring", "take", "carry"})
BEFORE = 5
"""How far before its verb a noun of a saying may stand."""
_SPOKEN = frozenset({"please", "present", "back", "down", "over", "out"})
"""Words that look like verbs and may stand before a place."""
_ARTICLES = frozenset({"a", "an", "the"})
_DETERMINERS = _ARTICLES | {"his", "her", "its", "our", "their", "your", "this", "that", "these", "those"}
_DETERMINERS |= {"any", "each", "every", "no"}
CASES = frozenset({"file", "files", "record", "records", "dossier", "folder"})
_THAT_HAS = frozenset({"that", "which", "with", "without", "where"})
_OBJECTS = frozenset({"it", "them", "him", "one"})
_HELP = (("get",), ("come",), ("happen",), ("manage",))
_LONG = 4
"""Words longer than this may stand in another form."""


class Text(Protocol):
    """A token: its word in lower case."""

    @property
    def text(self) -> str:
        """The word."""
        ...


class Saying(NamedTuple):
    """Several words that say the acts of a class."""

    words: tuple[str, ...]
    of: int


class _Ways(NamedTuple):
    classes: dict[str, frozenset[int]]
    sayings: dict[str, dict[str, list[Saying]]]
    """By their first word and how their second one begins."""


@cache
def _ways() -> _Ways:
    classes: dict[str, set[int]] = {}
    sayings: dict[str, dict[str, list[Saying]]] = {}
    for number, line in enumerate(FILE.read_text(encoding="utf-8").splitlines()):
        ways = [way.strip() for way in line.split(",")]
        for way in ways:
            classes.setdefault(way, set()).add(number)
            if " " in way:
                saying = Saying(tuple(way.split()), number)
                by_second = sayings.setdefault(saying.words[0], {})
                by_second.setdefault(saying.words[1][:_LONG], []).append(saying)
    return _Ways({w: frozenset(c) for w, c in classes.items()}, sayings)


@cache
def classes_of(form: str) -> frozenset[int]:
    """The classes a form belongs to, in any of its inflections."""
    known = _ways().classes
    return frozenset(c for v in (*word(form).verbs, *word(form).nouns, form) for c in known.get(v, ()))


def whole_classes(variants: Iterable[Sequence[str]]) -> frozenset[int]:
    """The classes of acts told by these very words ("check in"), which a saying says whole."""
    return frozenset(c for variant in variants for c in _ways().classes.get(" ".join(variant), ()))


def sayings_at(
    tokens: Sequence[Text], i: int, place_words: frozenset[str]
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Classes of the sayings whose first word stands at a place, with the places of their words."""
    begun = _begun_by(tokens[i].text)
    if _word_at(tokens, i + 1) == "of":
        begun += _begun_by_noun(tokens[i].text)
    if not begun:
        return
    seconds = {t.text[:_LONG] for t in tokens[max(i - BEFORE, 0) : i + REACH + 6]} | {PLACE}
    for by_second in begun:
        for saying in (s for second in sorted(seconds & by_second.keys()) for s in by_second[second]):
            if places := _said_at(saying.words, tokens, i, place_words):
                yield saying.of, places


@cache
def _begun_by(form: str) -> tuple[dict[str, list[Saying]], ...]:
    """The sayings that a form may be the first word of, by how their second one begins."""
    known = _ways().sayings
    return tuple(known[w] for w in sorted(known.keys() & {form, *word(form).lemmas}))


@cache
def _begun_by_noun(form: str) -> tuple[dict[str, list[Saying]], ...]:
    """The sayings whose verb a noun tells the act of: registration of the departure, as registering it."""
    known = _ways().sayings
    verbs = word(form).verbs - word(form).lemmas - {form}
    return tuple(known[w] for w in sorted(known.keys() & verbs))


def _said_at(
    saying: Sequence[str], tokens: Sequence[Text], i: int, place_words: frozenset[str]
) -> tuple[int, ...]:
    """Places of a saying's words, near each other and in order, the first, a verb in any form, at ``i``;
    none where it does not stand there.
    """
    by_noun = _word_at(tokens, i + 1) == "of" and saying[0] in word(tokens[i].text).verbs
    if not by_noun and similarity(saying[0], tokens[i].text) < SAME:
        return ()
    places = [i]
    for k, w in enumerate(saying[1:], 1):
        if w == PLACE:
            named = any(t.text in place_words for t in tokens[places[-1] : places[-1] + 5])
            if not named or any(
                is_verb(t.text) and t.text not in _SPOKEN and before.text not in _DETERMINERS
                for before, t in pairwise(tokens[i : places[-1]])
            ):
                return ()
            continue
        before, behind = (
            range(max(i - BEFORE, 0), i if len(w) > _LONG and not by_noun else 0),
            range(places[-1] + 1, i + (THERE if _taken_there(saying) else REACH) + len(saying) + 1),
        )
        told = [j for j in before if similarity(w, tokens[j].text) >= DERIVED]  # departure is registered
        told += [
            j
            for j in behind
            if j < len(tokens)
            and _says(w, tokens[j].text)
            and not (
                w in PARTICLES
                and saying[k + 1 : k + 2] != (PLACE,)
                and (is_preposition(tokens, places[-1], j) or of_another(tokens, places[-1], j))
            )
            and not (w == "to" and _is_infinitive(tokens, j + 1))
        ]
        if not told or (_taken_there(saying) and any(t.text == "," for t in tokens[i : told[0]])):
            return ()
        places.append(told[0])
    return tuple(sorted(places))


def _taken_there(saying: Sequence[str]) -> bool:
    return saying[0] in _TAKEN and saying[1:] == ("there",)


def _says(wanted: str, text: str) -> bool:
    return text == wanted or (len(wanted) > _LONG and similarity(wanted, text) >= DERIVED)


def _word_at(tokens: Sequence[Text], i: int) -> str:
    return tokens[i].text if 0 <= i < len(tokens) else ""


def is_preposition(tokens: Sequence[Text], verb: int, i: int) -> bool:
    """Whether a particle behind a verb and its object belongs to what follows: gets a patrol in the hour, not
    lets them off the fee.
    """
    between = {t.text for t in tokens[verb + 1 : i]}
    return bool(between - _OBJECTS) and _word_at(tokens, i + 1) in _DETERMINERS


def only_helps(tokens: Sequence[Text], told: Sequence[int]) -> bool:
    """Whether a verb only helps the one behind it ("gets to touch a key"), or says what is foreseen ("is provided for")."""
    if told and tokens[told[0]].text == "provided" and _word_at(tokens, told[0] + 1) == "for":
        return len(told) == 1 and _word_at(tokens, told[0] + 2) in (*".,;:", "", "in", "by")
    if not told or told[-1] > told[0] + 1 or lemmas(tokens[told[0]].text, "v")[:1] not in _HELP:
        return False
    behind = _word_at(tokens, told[0] + 2)
    return _word_at(tokens, told[0] + 1) == "to" and behind in lemmas(behind, "v")


def is_a_case(tokens: Sequence[Text], at: int) -> bool:
    """Whether the word that tells an act is a word for the case: "a file that has either of them"."""
    said = at > 0 and tokens[at].text in CASES and tokens[at - 1].text in _DETERMINERS | {"single"}
    behind = _word_at(tokens, at + 1)
    return said and (
        behind in _THAT_HAS or (behind in ("in", "for", "on") and _word_at(tokens, at + 2) == "which")
    )


def of_another(tokens: Sequence[Text], verb: int, i: int) -> bool:
    """Whether a particle makes a verb of its own with the word before it: a scan that is carried out is none
    that is out.
    """
    return i - 1 > verb and bool(lemmas(f"{tokens[i - 1].text} {tokens[i].text}", "v"))


def _is_infinitive(tokens: Sequence[Text], i: int) -> bool:
    """Whether a verb with an object of its own stands behind "to": gets to touch one."""
    told = _word_at(tokens, i)
    return told in word(told).verbs and _word_at(tokens, i + 1) in _DETERMINERS | _OBJECTS
