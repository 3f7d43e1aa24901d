"""The attributes of a log as words to look for, and the values they are known to have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gnrs_ppl.context.types import Attribute
from gnrs_ppl.reading.figures import MONEY, unit_of
from gnrs_ppl.reading.types import Named, Span
from gnrs_ppl.reading.vocabulary import STOP, name_words, near, tokens_of
from gnrs_ppl.reading.words import SYNONYM, lemmas
from gnrs_ppl.words import plural

_TWO_WORDS = 8
"""Letters from which a name without spaces may be two words."""
_HEAD = 0.8
"""How well the last word of an attribute's phrase tells it: the price, for the total price."""
ONLY = 0.7
"""How well it is told by being the only one that could be meant."""
_OF_MONEY = frozenset(
    "amount value price cost sum total worth fee charge expense payment budget salary premium fine".split()
)
"""Words of attributes that count money, whether their unit says so or not; by these, too, a sentence speaks of money."""
_OF_VALUES = frozenset("type kind class category sort status level grade".split())
_FLAG = re.compile(r"^(?:is|has|was|are|flag(?:ged)?)\s+|\s+flag$")


class Valued(NamedTuple):
    """A known value of an attribute, and the words that say it."""

    attribute: Attribute
    value: str
    words: str


class Attributes:
    """What may be meant where a sentence speaks of data."""

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        self.all = tuple(attributes)
        self.words = {a.name: _words(a) for a in attributes}
        self._spoken = {a.name: _phrases(a) for a in attributes}
        heads = [words[-1] for words in self.words.values() if words]
        self._heads = {
            words[-1]: name for name, words in self.words.items() if words and heads.count(words[-1]) == 1
        }
        self.units = frozenset(unit_of(a.unit) for a in attributes if a.unit)
        self.values = tuple(
            Valued(a, value, words)
            for a in attributes
            if a.type == "text"
            for value in a.values
            for words in dict.fromkeys((value, " ".join(name_words(value)) or value))
        )

    def of_type(self, kind: str) -> tuple[Attribute, ...]:
        """The attributes of a type."""
        return tuple(a for a in self.all if a.type == kind)

    def named_in(
        self, text: str, start: int, end: int, kinds: Sequence[str]
    ) -> list[tuple[Attribute, Named]]:
        """Attributes of some types that the words from start to end tell, best first and then the last told."""
        found = []
        for attribute in self.all:
            if attribute.type not in kinds:
                continue
            for phrase in self._spoken[attribute.name]:
                for m in phrase.finditer(text, start, end):
                    found.append((attribute, Named(attribute.name, Span(*m.span()))))
        tokens = [t for t in tokens_of(text[start:end]) if t.text[0].isalpha() and t.text not in STOP]
        for token in tokens if not found else ():
            span = Span(start + token.start, start + token.end)
            for attribute in self.all:
                words = self.words[attribute.name]
                if attribute.type not in kinds or not words:
                    continue
                if len(words) == 1 and (score := near(token.text, words[0])) >= SYNONYM:
                    found.append((attribute, Named(attribute.name, span, round(score, 3))))
                elif self._heads.get(token.text.removesuffix("s")) == attribute.name:
                    found.append((attribute, Named(attribute.name, span, _HEAD)))
        return sorted(found, key=lambda f: (-f[1].score, -(f[1].span.end - f[1].span.start), -f[1].span.end))

    def by_one_word(self, text: str, start: int, end: int) -> list[tuple[Attribute, Named]]:
        """Number attributes that one of the words from start to end tells, which no other has: than was invoiced."""
        found = []
        for token in tokens_of(text[start:end]):
            having = [a for a in self.of_type("number") if token.text in self.words[a.name]]
            if len(having) == 1:
                span = Span(start + token.start, start + token.end)
                found.append((having[0], Named(having[0].name, span, _HEAD)))
        return found

    def holding(self, unit: str, words: str, span: Span) -> list[tuple[Attribute, Named]]:
        """Number attributes that may hold a figure of this unit where none is named; ``words`` stand before it."""
        numbers = self.of_type("number")
        fit = [a for a in numbers if fits(a, unit)] if unit else list(numbers)
        if unit:
            exact = [a for a in fit if a.unit]
            fit = exact or fit
        if len(fit) > 1:
            said = [t.text for t in tokens_of(words) if t.text[0].isalpha()]
            verb = said[0] if len(said) == 1 and said[0] in lemmas(said[0], "v") else ""
            closer = [a for a in fit if verb and any(near(verb, w) >= SYNONYM for w in self.words[a.name])]
            closer = closer or [a for a in fit if set(said) & set(self.words[a.name])]
            closer = closer or [
                a for a in fit if _PLAIN_SUM & set(self.words[a.name]) and len(self.words[a.name]) == 1
            ]
            fit = closer or fit
        return [(a, Named(a.name, span, ONLY)) for a in fit]


_PLAIN_SUM = frozenset({"amount", "value", "total"})
"""Of several attributes that count money, the one that says no more than that is meant."""


def fits(attribute: Attribute, unit: str) -> bool:
    """Whether an attribute may hold a figure of a unit; without one of its own, where it says that it counts such."""
    if attribute.unit:
        return not unit or unit_of(attribute.unit) == unit
    return not unit or (unit in MONEY and bool(_OF_MONEY & set(_words(attribute))))


def _words(attribute: Attribute) -> tuple[str, ...]:
    text = _FLAG.sub("", (attribute.phrase or " ".join(name_words(attribute.name))).lower())
    return tuple(t.text for t in tokens_of(text) if t.text[0].isalnum() and t.text not in STOP)


def _phrases(attribute: Attribute) -> tuple[re.Pattern[str], ...]:
    """Its phrase and its name, in the singular and the plural."""
    given = dict.fromkeys(
        _FLAG.sub("", text.lower())
        for text in (attribute.phrase, " ".join(name_words(attribute.name)))
        if text
    )
    forms = [form for text in given for form in dict.fromkeys((text, plural(text)))]
    return tuple(re.compile(rf"(?<!\w){_apart(form)}(?!\w)", re.IGNORECASE) for form in forms)


def _apart(form: str) -> str:
    """A pattern of some words; one long word may be two (vehicleclass)."""
    words = form.split()
    if len(words) == 1 and len(form) >= _TWO_WORDS:
        return r"[\s_-]?".join(map(re.escape, form))
    return r"[\s_-]+".join(map(re.escape, words))


def values_in(text: str, known: Sequence[Valued]) -> Iterator[tuple[Valued, Span, bool]]:
    """Known values that a text names, the longest first where they overlap, and whether as they are written."""
    found = [
        (one, Span(*m.span()))
        for one in known
        for m in re.finditer(rf"(?<!\w){re.escape(one.words)}(?!\w)", text, re.IGNORECASE)
    ]
    found.sort(key=lambda f: (-(f[1].end - f[1].start), f[1].start))
    taken: list[Span] = []
    for one, span in found:
        if all(span.end <= t.start or t.end <= span.start or t == span for t in taken):
            taken.append(span)
            yield one, span, text[span.start : span.end] == one.value


def tells_value(words: str) -> bool:
    """Whether words speak of a kind of thing, as any text attribute may: of type X."""
    return words.lower() in _OF_VALUES
