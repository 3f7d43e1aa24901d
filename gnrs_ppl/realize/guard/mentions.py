"""A free text as plain words and marks: names of the vocabulary in their close inflections, durations and
numbers.

The payload guard reads marked texts. A mark is a capital and a number, with a small letter for the form
(``A3n``); plain words hold no capitals. Nothing is guessed: words that could be two names become a mark no
pattern reads.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import Kind
from gnrs_ppl.reading.words import past_forms
from gnrs_ppl.realize.english import STEP_VERBS, gerund, plural
from gnrs_ppl.realize.lexicon import Lexicon, Words
from gnrs_ppl.words import NUMBERS, PARTICLES, SHORT_UNITS, UNIT_LENGTHS, scaled, total

LETTERS: dict[Kind, str] = {
    "role": "R",
    "location": "L",
    "object": "O",
    "action": "A",
    "channel": "C",
    "step": "S",
}
"""First letter of a name's mark; D marks a duration, N a number, Q words that two names share. ``one``, a
pronoun too, stays a word."""

Inflection = Literal["", "v", "p", "g", "n", "x", "c"]
"""Of an action or step: finite verb or infinitive, past or participle, gerund, noun, verb and noun alike, or
a passive clause."""
Joint = Literal["", "and", "or"]

_AMOUNT = "|".join(sorted(NUMBERS, key=len, reverse=True)).replace("-", "[- ]") + r"|[1-9]\d{0,5}"
_UNIT = rf"(?P<unit>{'|'.join([*UNIT_LENGTHS, *SHORT_UNITS])})s?\b"
_PART = re.compile(
    rf"(?P<amount>{_AMOUNT}|an?|half an|(?:a|one) quarter of an|three[- ]quarters of an)[- ]{_UNIT}"
)
_DECIMAL = re.compile(r"(?P<amount>[1-9]\d{0,3})[.]5[- ](?P<unit>hour|minute)s?\b")
_AND_A_HALF = re.compile(rf"(?P<amount>{_AMOUNT})[- ]and[- ]a[- ]half[- ](?P<unit>hour|minute)s?\b")
_HALF = re.compile(r" and (?:a half\b|(?P<quarters>a|three) quarters?\b)")
_NEXT = re.compile(r"(?:, | and |, and | )(?=\w)")
_DEFINITE = re.compile(r"(?:the|that|this) (?:same )?(?P<half>half )?hour\b")
_NUMBER = re.compile(rf"(?:{_AMOUNT})(?![\w-])")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?|[,;:.()]")
_PREPOSITIONS_OF_VERBS = PARTICLES | {"to", "for", "from", "with", "about", "at", "into"}
_CONTRACTED = (
    ("can't", "cannot"),
    ("won't", "will not"),
    ("n't", " not"),
    ("no one", "nobody"),
    ("can not", "cannot"),
    ("off-limits", ""),
)
_STAGE_NAMES: dict[str, tuple[str, ...]] = {
    "review": ("review", "reviews", "reviewed"),
    "decision": ("decides the matter", "decide the matter"),
    "remedy": ("puts the matter right", "put the matter right"),
    "appeal": ("appeal to", "appeals go to"),
}
"""How a step that goes by its stage's own name is said as a verb."""


class Mark(NamedTuple):
    """What a mark stands for: names of one kind, in text order, and how they are joined."""

    kind: Kind
    names: tuple[str, ...]
    joint: Joint = ""


class MarkedText(NamedTuple):
    """A text as words and marks with single blanks between them, and what the marks stand for."""

    text: str
    names: Mapping[str, Mark]
    durations: Mapping[str, Duration]
    numbers: Mapping[str, int]


class Unreadable(ValueError):
    """Characters that no rule text needs."""


def mark(text: str, lexicon: Lexicon, named: Iterable[tuple[Kind, str]] = ()) -> MarkedText:
    """Mark the names, durations and numbers of a text.

    Parameters
    ----------
    text : str
    lexicon : Lexicon
    named : iterable of (kind, name)
        Names to look for besides the lexicon's own.

    Raises
    ------
    Unreadable
        At a character that is neither a letter, a digit, plain punctuation nor a blank.
    """
    names = _names(tuple(lexicon.words.items()), tuple(sorted(set(named))))
    plain = names.with_heads(_plain(text))
    tokens: list[str] = []
    marks: dict[str, Mark] = {}
    durations: dict[str, Duration] = {}
    numbers: dict[str, int] = {}
    at = 0
    while at < len(plain):
        if plain[at] == " ":
            at += 1
        elif (found := names.match(plain, at)) is not None:
            kind, name, inflection, at = found
            key = f"{LETTERS[kind] if kind else 'Q'}{len(tokens)}"
            tokens.append(key + inflection)
            if kind:
                marks[key] = Mark(kind, (name,))
        elif (length := _duration(plain, at)) is not None:
            tokens.append(f"D{len(tokens)}")
            durations[tokens[-1]], at = length
        elif (number := _NUMBER.match(plain, at)) and number[0] != "one":
            tokens.append(f"N{len(tokens)}")
            numbers[tokens[-1]], at = _amount(number[0]), number.end()
        elif word := _WORD.match(plain, at):
            tokens.append(word[0])
            at = word.end()
        elif plain[at] == "-" and plain[at + 1] != "-":
            at += 1
        elif plain.startswith("'s ", at) or plain.startswith("' ", at):
            tokens.append("'s")
            at = plain.index(" ", at)
        else:
            raise Unreadable(f"the character {plain[at]!r}")
    return MarkedText(" ".join(_folded(tokens, marks)) + " ", marks, durations, numbers)


def _plain(text: str) -> str:
    """Lower case, plain quotation marks and hyphens, contractions written out, single blanks."""
    found = unicodedata.normalize("NFKC", text).lower()
    for odd, usual in (
        ("’", "'"),
        ("‘", "'"),
        ("‑", "-"),
        ("‐", "-"),
        (" - ", " , "),
        ("–", " , "),
        ("—", " , "),
    ):
        found = found.replace(odd, usual)
    for short, full in _CONTRACTED:
        found = re.sub(rf"{short}\b", full, found)
    return " ".join(found.split()) + " "


@lru_cache(maxsize=32)
def _names(words: tuple[tuple[tuple[Kind, str], Words], ...], named: tuple[tuple[Kind, str], ...]) -> _Names:
    return _Names(Lexicon(dict(words)), named)


class _Names:
    """The words of every name, and one pattern that finds the longest of them."""

    def __init__(self, lexicon: Lexicon, named: tuple[tuple[Kind, str], ...]) -> None:
        exact: dict[str, set[tuple[Kind, str, Inflection]]] = {}
        inflected: dict[str, set[tuple[Kind, str, Inflection]]] = {}
        for kind, name in dict.fromkeys([*lexicon.words, *named]):
            for text, inflection, given in _forms(lexicon, kind, name):
                found = exact if given else inflected
                found.setdefault(_key(text), set()).add((kind, name, inflection))
        self.found = inflected | exact
        self.heads = _heads(lexicon)
        longest_first = sorted(self.found, key=len, reverse=True)
        self.pattern = re.compile(
            rf"(?:{'|'.join(map(_loose, longest_first))})(?![\w-])" if longest_first else r"(?!)"
        )

    def match(self, text: str, at: int) -> tuple[Kind | None, str, Inflection, int] | None:
        """Kind, name, inflection and end of the name that stands at a place; no kind where two names share
        the words.
        """
        if at and (text[at - 1].isalnum() or text[at - 1] == "-"):
            return None
        match = self.pattern.match(text, at)
        if match is None:
            return None
        found = self.found[_key(match[0])]
        (kind, name), *others = {(kind, name) for kind, name, _ in found}
        if others:
            return None, "", "", match.end()
        inflections = {inflection for _, _, inflection in found}
        return kind, name, inflections.pop() if len(inflections) == 1 else "x", match.end()

    def with_heads(self, text: str) -> str:
        """The text with shared heads written out: the check-in and movement logs are the check-in log and
        the movement log.
        """
        for head, stems in self.heads.items():
            stem = f"(?:{'|'.join(map(_loose, sorted(map(_key, stems), key=len, reverse=True)))})"
            run = re.compile(
                rf"(?<!\w)({stem})((?:, (?:the )?{stem})*),? (and|or) (?:the )?({stem}) {head}s(?!\w)"
            )

            def spelt(match: re.Match[str], head: str = head) -> str:
                first, more, joint, last = match.groups()
                between = [part.removeprefix("the ") for part in more.split(", ")[1:]]
                return ", ".join(f"{part} {head}" for part in (first, *between)) + f" {joint} {last} {head}"

            text = run.sub(spelt, text)
        return text


def _key(text: str) -> str:
    """Words by which a name is looked up: hyphens are blanks, and inside it one article is as good as
    another.
    """
    words = re.sub(r"[ -]+", " ", text.lower().replace("’", "'"))
    return re.sub(r"(?<= )(?:an?|that|this|their)(?= )", "the", words)


def _loose(key: str) -> str:
    """A pattern for some words, joined by blanks or hyphens, with any article where they hold ``the``."""
    words = [
        r"(?:the|an?|that|this|their)" if word == "the" and i else re.escape(word)
        for i, word in enumerate(key.split(" "))
    ]
    return "[ -]".join(words)


def _heads(lexicon: Lexicon) -> dict[str, list[str]]:
    """Last word of logs that share it -> what stands before it."""
    heads: dict[str, list[str]] = {}
    for kind, name in lexicon.words:
        if kind == "channel":
            stem, _, head = lexicon.form(kind, name).lower().rpartition(" ")
            if stem and head.isalpha():
                heads.setdefault(head, []).append(stem)
    return {head: stems for head, stems in heads.items() if len(stems) > 1}


def _forms(lexicon: Lexicon, kind: Kind, name: str) -> list[tuple[str, Inflection, bool]]:
    """Words of a name, their inflection, and whether the vocabulary itself gives them."""
    one = lexicon.form(kind, name)
    if kind == "action":
        noun = lexicon.form(kind, name, "noun")
        return [
            (one, "v", True),
            *((text, i, False) for text, i in _verbs(one)),
            (noun, "n", True),
            (plural(noun), "n", False),
        ]
    if kind == "step":
        return [(one, "n", True), *((text, "v", False) for text in _step_verbs(one))]
    many = [(lexicon.form(kind, name, "many"), True)] if kind in ("role", "object") else []
    return [(text, "", given) for text, given in [(one, True), *many]]


@lru_cache(maxsize=4096)
def _verbs(phrase: str) -> tuple[tuple[str, Inflection], ...]:
    """Inflections of a bare infinitive with whatever follows the verb."""
    verb, _, rest = phrase.partition(" ")
    rest = f" {rest}" if rest else ""
    past = past_forms(verb) or (_past(verb),)
    active: tuple[tuple[str, Inflection], ...] = (
        (plural(verb) + rest, "v"),
        *((form + rest, "p") for form in past),
        (gerund(verb) + rest, "g"),
    )
    object_first = rest and rest.split()[0] not in _PREPOSITIONS_OF_VERBS
    return (
        *active,
        *((f"{rest[1:]} {be} {form}", "c") for form in past for be in ("is", "are", "being") if object_first),
    )


def _past(verb: str) -> str:
    if verb.endswith("e"):
        return verb + "d"
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ied"
    return (gerund(verb)[:-3] if not verb.endswith("ie") else verb) + "ed"


@lru_cache(maxsize=4096)
def _step_verbs(words: str) -> tuple[str, ...]:
    """A step as a verb with its object: correction of the record gives corrects the record."""
    noun, _, rest = words.partition(" of ")
    if words in _STAGE_NAMES:
        return _STAGE_NAMES[words]
    if words == "written decision":
        return ("decides in writing", "decide in writing", "deciding in writing")
    verb = "review" if noun == "review" else STEP_VERBS.get(noun, ("", ""))[1]
    if not rest or not verb:
        return ()
    return tuple(
        text
        for text, inflection in ((f"{verb} {rest}", "v"), *_verbs(f"{verb} {rest}"))
        if inflection in ("v", "g")
    )


def _duration(text: str, at: int) -> tuple[Duration, int] | None:
    """The duration that stands at a place, and its end: one hour and 30 minutes, an hour and a half,
    90-minute, half an hour.
    """
    if definite := _DEFINITE.match(text, at):
        length = Duration(seconds=1800 if definite["half"] else 3600)
        return _with_half(text, definite.end(), length, "" if definite["half"] else "hour")
    if half := _AND_A_HALF.match(text, at) or _DECIMAL.match(text, at):
        seconds = UNIT_LENGTHS[half["unit"]].seconds
        return Duration(seconds=_amount(half["amount"]) * seconds + seconds // 2), half.end()
    part = _PART.match(text, at)
    if part is None:
        return None
    unit, amount = SHORT_UNITS.get(part["unit"], part["unit"]), part["amount"]
    if amount.endswith(" an"):
        quarters = 2 if "half" in amount else 3 if "quarters" in amount else 1
        return (Duration(seconds=900 * quarters), part.end()) if unit == "hour" else None
    length, end = _with_half(text, part.end(), scaled(UNIT_LENGTHS[unit], _amount(amount)), unit)
    units = list(UNIT_LENGTHS)
    while (joint := _NEXT.match(text, end)) and (more := _PART.match(text, joint.end())):
        smaller = SHORT_UNITS.get(more["unit"], more["unit"])
        if (
            units.index(smaller) >= units.index(unit)
            or more["amount"] in ("a", "an")
            or more["amount"].endswith(" an")
        ):
            break
        length, end, unit = (
            total(length, scaled(UNIT_LENGTHS[smaller], _amount(more["amount"]))),
            more.end(),
            smaller,
        )
    return length, end


def _with_half(text: str, end: int, length: Duration, unit: str) -> tuple[Duration, int]:
    half = _HALF.match(text, end) if unit == "hour" else None
    if half is None:
        return length, end
    quarters = {"a": 1, "three": 3}.get(half["quarters"] or "", 2)
    return total(length, Duration(seconds=900 * quarters)), half.end()


def _amount(words: str) -> int:
    return 1 if words in ("a", "an") else NUMBERS.get(words.replace(" ", "-")) or int(words)


_ARTICLES = ("the", "a", "an")
_PREPOSITIONS = ("at", "in", "on", "to", "for", "of", "by")


def _folded(tokens: Sequence[str], marks: dict[str, Mark]) -> list[str]:
    """Tokens with lists of roles, places, objects and logs as one mark each; lists that mix ``and`` with
    ``or`` are left alone.
    """
    found: list[str] = []
    at = 0
    while at < len(tokens):
        run = _run(tokens, at)
        names = [tokens[i] for i in run[0]]
        if len(names) > 1:
            kind = marks[names[0]].kind
            marks[names[0]] = Mark(kind, tuple(name for key in names for name in marks[key].names), run[1])
            at = run[0][-1]
        found.append(names[0] if names else tokens[at])
        at += 1
    return found


def _run(tokens: Sequence[str], start: int) -> tuple[list[int], Joint]:
    """Places of the names of a list that begins here, and its conjunction."""
    letter = tokens[start][0]
    if letter not in "RLOC" or not tokens[start][1:].isdigit():
        return [], ""
    places, joint, at, open_list = [start], "", start + 1, [start]
    while True:
        comma = at < len(tokens) and tokens[at] == ","
        here = at + comma
        conjunction = _CONJUNCTIONS.get(tuple(tokens[here : here + 3])) or _CONJUNCTIONS.get(
            tuple(tokens[here : here + 1])
        )
        said = conjunction[0] if conjunction else ""
        here += conjunction[1] if conjunction else 0
        if not (comma or said):
            break
        here += bool(said) and here < len(tokens) and tokens[here] in _PREPOSITIONS
        here += here < len(tokens) and tokens[here] in _ARTICLES
        if here >= len(tokens) or not (tokens[here][0] == letter and tokens[here][1:].isdigit()):
            break
        if joint and said and said != joint:
            return [start], ""
        open_list.append(here)
        if said:
            joint, places = said, list(open_list)
        elif joint:
            break
        at = here + 1
    return (places, joint) if joint else ([start], "")  # type: ignore[return-value]


_CONJUNCTIONS: dict[tuple[str, ...], tuple[str, int]] = {
    ("and",): ("and", 1),
    ("or",): ("or", 1),
    ("as", "well", "as"): ("and", 3),
    ("together", "with"): ("and", 2),
}
