"""Pieces of words as BERT's uncased vocabulary cuts them, each with the characters it stands for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_WORD = re.compile(r"[^\W_]+|[^\w\s]|_")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d{2})")
LONGEST = 40
"""Characters of a word beyond which it is unknown."""
UNKNOWN, BEGIN, SEPARATOR = "[UNK]", "[CLS]", "[SEP]"


class Piece(NamedTuple):
    """Number of a piece in the vocabulary, and the characters ``start`` to ``end`` (exclusive) of its word."""

    id: int
    start: int
    end: int


def vocabulary(lines: Sequence[str]) -> dict[str, int]:
    """The numbers of pieces, which a file lists one a line."""
    return {piece: number for number, piece in enumerate(lines)}


def pieces(text: str, numbers: Mapping[str, int]) -> list[Piece]:
    """Every piece of a text, in order; a word the vocabulary cannot spell is one unknown piece."""
    return [
        Piece(number, word.start(), word.end())
        for word in _WORD.finditer(text)
        for number in _of_word(word[0], numbers)
    ]


def _of_word(word: str, numbers: Mapping[str, int]) -> list[int]:
    plain = "".join(c for c in unicodedata.normalize("NFD", word.lower()) if unicodedata.category(c) != "Mn")
    found, start = list[int](), 0
    while start < len(plain) <= LONGEST:
        mark = "##" if start else ""
        ends = range(len(plain), start, -1)
        end = next((e for e in ends if mark + plain[start:e] in numbers), 0)
        if not end:
            return [numbers[UNKNOWN]]
        found.append(numbers[mark + plain[start:end]])
        start = end
    return found or [numbers[UNKNOWN]]


def spaced(label: str) -> str:
    """A label with a space between its words: ``RET_Received``, ``CheckExpiryDate``, ``order.paid``."""
    return " ".join(_CAMEL.sub(" ", re.sub(r"[_\W]+", " ", label)).split())


def act_text(label: str, phrase: str = "") -> str:
    """What is encoded of an act: the words of its label, then its phrase where that says something else."""
    words = spaced(label)
    return words if not phrase or phrase.lower() == words.lower() else f"{words}: {phrase}"


def literal(text: str, label: str) -> list[tuple[int, int]]:
    """Where a text writes a label letter for letter, in any case, with any separators: starts and ends."""
    words = [re.escape(word) for word in re.split(r"[_\W]+", label) if word]
    parts = [re.escape(word) for word in spaced(label).split()]
    if not words:
        return []
    either = "|".join(dict.fromkeys((r"[_\W]{0,3}".join(words), r"[_\W]{0,3}".join(parts))))
    return [m.span() for m in re.finditer(rf"(?<!\w)(?:{either})(?!\w)", text, re.IGNORECASE)]
