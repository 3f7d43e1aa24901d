"""Words to look for, in capital or small letters."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property


class _Looked(ABC):
    """A pattern that is neither looked for nor compiled while no text has the letters without which it is nowhere."""

    _flags = re.NOFLAG

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, self._flags)

    @cached_property
    def _needed(self) -> tuple[str, ...]:
        return needed(self.pattern)

    def _may_be_in(self, small: str) -> bool:
        for letters in self._needed:  # any() takes twice as long
            if letters in small:
                return True
        return not self._needed

    @abstractmethod
    def _where(self, text: str) -> str | None:
        """What to look for it in; nothing where it cannot be."""

    def search(self, text: str, *within: int) -> re.Match[str] | None:
        """The first place that has the words."""
        return None if (where := self._where(text)) is None else self._compiled.search(where, *within)

    def match(self, text: str, *within: int) -> re.Match[str] | None:
        """The words where a text, or a part of it, begins with them."""
        return None if (where := self._where(text)) is None else self._compiled.match(where, *within)

    def fullmatch(self, text: str, *within: int) -> re.Match[str] | None:
        """The words where a text, or a part of it, is nothing else."""
        return None if (where := self._where(text)) is None else self._compiled.fullmatch(where, *within)

    def finditer(self, text: str, *within: int) -> Iterator[re.Match[str]]:
        """Every place that has the words."""
        return iter(()) if (where := self._where(text)) is None else self._compiled.finditer(where, *within)


class Wording(_Looked):
    """A pattern without capital letters that is looked for among small letters, where it is found twice as fast as one that
    ignores case; what is found is in small letters.
    """

    def _where(self, text: str) -> str | None:
        small = _small(text)
        return small if self._may_be_in(small) else None

    def sub(self, by: str, text: str) -> str:
        """The text with something else in place of the words."""
        kept, at = list[str](), 0
        for m in self.finditer(text):
            kept.append(text[at : m.start()])
            at = m.end()
        return by.join([*kept, text[at:]])


class AsWritten(_Looked):
    """A pattern that ignores case; what is found is as it is written."""

    _flags = re.IGNORECASE

    def _where(self, text: str) -> str | None:
        # beyond ASCII a letter may be another one in small: there it is always looked for
        return text if not text.isascii() or self._may_be_in(text.lower()) else None

    def sub(self, by: str | Callable[[re.Match[str]], str], text: str) -> str:
        """The text with something else in place of the words."""
        return text if (where := self._where(text)) is None else self._compiled.sub(by, where)


def _small(text: str) -> str:
    """A text in small letters, as many as it has."""
    small = text.lower()
    return small if len(small) == len(text) else "".join(low[0] for low in map(str.lower, text))


_PART = re.compile(
    r"(?P<letters>[\w '’,;:%-]+(?![?*{]))|(?:\[\^?\]?(?:\\.|[^\\\]])*\]|\\(?:u\w{4}|x\w\w|.)|\{[\d,]+\}|[.?*+^$])+|"
    r"(?P<either>\|)|(?P<closes>\)(?P<may_lack>[?*]|\{[0,][\d,]*\})?)|(?P<opens>\((?:\?(?::|P<\w+>))?(?!\?))|"
    r"(?P<around>\(\?(?:\(\w+\)|[^:P]))|\(\?P=\w+\)|[^(]"
)
"""A part of a pattern, as far as it matters for what it needs."""


def needed(pattern: str) -> tuple[str, ...]:
    """Small letters one of which any text has that a pattern is found in; none where none can be told."""
    found, kept = {letters.lower() for letters in _needed(_PART.finditer(pattern))}, list[str]()
    for letters in sorted(found, key=lambda letters: (len(letters), letters)):
        if not any(shorter in letters for shorter in kept):
            kept.append(letters)
    return tuple(kept)


def _needed(parts: Iterator[re.Match[str]]) -> frozenset[str]:
    """What a group needs, up to its end: of each alternative the longest letters that it cannot lack."""
    alternatives, best, least = list[frozenset[str]](), frozenset[str](), 0
    for part in parts:
        kind = part.lastgroup
        if kind == "letters" or kind == "opens":
            found = frozenset({part[0]}) if kind == "letters" else _needed(parts)
            if found and (shortest := min(map(len, found))) > least:
                best, least = found, shortest
        elif kind == "around":
            _needed(parts)  # no part of what is found, or not always
        elif kind == "either":
            alternatives.append(best)
            best, least = frozenset(), 0
        elif kind is not None:
            if part["may_lack"]:
                return frozenset()
            break
    alternatives.append(best)
    return frozenset().union(*alternatives) if all(alternatives) else frozenset()
