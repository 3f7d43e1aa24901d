"""Conditions on data that a sentence states: on which attribute of the log, with which test and value.

As with evidence, the words that tell them are taken out before the duties are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from gnrs_ppl.context.types import Attribute
from gnrs_ppl.reading.attributes import Attributes
from gnrs_ppl.reading.data.compared import Compared
from gnrs_ppl.reading.data.frame import Found, Where
from gnrs_ppl.reading.data.valued import OfValues
from gnrs_ppl.reading.types import Unheld
from gnrs_ppl.reading.vocabulary import Vocabulary
from gnrs_ppl.reading.wording import AsWritten

__all__ = ["Data", "Found", "Where", "said_of_data"]


class Data(NamedTuple):
    """What a text says of data, and its duties: the text with spaces where that is told."""

    found: tuple[Found, ...]
    unheld: tuple[Unheld, ...]
    duties: str


_ONLY_THOSE = AsWritten(r"\bonly\s+(?:[\w-]+\s+){1,3}$")
_MAY = AsWritten(r"\s*(?:may|can)\b")


class _Told(Compared, OfValues):
    """One text, and all that it says of data."""


@lru_cache(maxsize=64)
def _known(attributes: tuple[Attribute, ...]) -> Attributes:
    return Attributes(attributes)


def said_of_data(text: str, attributes: Sequence[Attribute], words: Vocabulary) -> Data:
    """The conditions on data a text states.

    Parameters
    ----------
    text : str
    attributes : sequence of Attribute
        What the log records; nothing is read where none is declared.
    words : Vocabulary
        Of the schema, whose names are no values.
    """
    if not attributes:
        return Data((), (), text)
    told = _Told(text, _known(tuple(attributes)), words)
    for one in (
        *told.numbers(),
        *told.days(),
        *told.comparisons(),
        *told.recorded(),
        *told.values(),
        *told.flags(),
    ):
        if _ONLY_THOSE.search(text, 0, one.cut.start) and _MAY.match(text, one.cut.end):
            told.unheld.append(Unheld(one.cut, "only some may: say what the others must not do"))
        else:
            told.keep(one)
    letters = list(text)
    for one in told.found:
        letters[one.cut.start : one.cut.end] = " " * (one.cut.end - one.cut.start)
    unheld = {
        u
        for u in told.unheld
        if all(u.span.end <= f.cut.start or f.cut.end <= u.span.start for f in told.found)
    }
    found = tuple(sorted(told.found, key=lambda f: f.cut.start))
    return Data(found, tuple(sorted(unheld)), "".join(letters))
