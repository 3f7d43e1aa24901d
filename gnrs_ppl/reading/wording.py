"""Words to look for, in capital or small letters."""

from __future__ import annotations

import re
from collections.abc import Iterator


class Wording:
    """A pattern without capital letters that is looked for among small letters, where it is found twice as fast as one that
    ignores case.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._compiled = re.compile(pattern)

    def search(self, text: str, *within: int) -> re.Match[str] | None:
        """The first place that has the words, in small letters."""
        return self._compiled.search(_small(text), *within)

    def match(self, text: str, *within: int) -> re.Match[str] | None:
        """The words where a text, or a part of it, begins with them."""
        return self._compiled.match(_small(text), *within)

    def fullmatch(self, text: str, *within: int) -> re.Match[str] | None:
        """The words where a text, or a part of it, is nothing else."""
        return self._compiled.fullmatch(_small(text), *within)

    def finditer(self, text: str, *within: int) -> Iterator[re.Match[str]]:
        """Every place that has the words."""
        return self._compiled.finditer(_small(text), *within)

    def sub(self, by: str, text: str) -> str:
        """The text with something else in place of the words."""
        kept, at = list[str](), 0
        for m in self.finditer(text):
            kept.append(text[at : m.start()])
            at = m.end()
        return by.join([*kept, text[at:]])


def _small(text: str) -> str:
    """A text in small letters, as many as it has."""
    small = text.lower()
    return small if len(small) == len(text) else "".join(low[0] for low in map(str.lower, text))
