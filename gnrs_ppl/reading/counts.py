"""How often acts occur in the records: a prior over acts that the same words could name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from gnrs_ppl.context.types import Schema
from gnrs_ppl.reading.types import ActRead, Readings
from gnrs_ppl.reading.wordpiece import act_text, literal
from gnrs_ppl.reading.words import lemmas

POWER = 0.25
"""Of the ratio of two acts' rows: 2 rows beside 4,983 make a reading seven times less likely, not 2,500 times."""


def prior(readings: Readings, schema: Schema, rows: Mapping[str, int]) -> float:
    """How likely its acts make a reading: 1 where each is the most frequent that its words could name.

    An act whose label the sentence writes letter for letter is meant, however rare it is.
    """
    factor = 1.0
    for act in {act.activity: act for act in acts_of(readings)}.values():
        if as_written(readings.sentence, act.activity):
            continue
        most = max((rows.get(other, 0) for other in named_as_well(readings, act, schema)), default=0)
        factor *= min(1.0, ((rows.get(act.activity, 0) + 1) / (most + 1)) ** POWER)
    return factor


def as_written(sentence: str, label: str) -> bool:
    """Whether a sentence writes a label letter for letter; of one word alone, in its case too."""
    places = literal(sentence, label)
    return bool(places) and (
        len(act_text(label).split()) > 1 or any(sentence[a:b] == label for a, b in places)
    )


def named_as_well(readings: Readings, act: ActRead, schema: Schema) -> tuple[str, ...]:
    """Other acts whose label or phrase has all those of the mention's words that the act's own has."""
    mention = _lemmas(readings.words(act.span))
    texts = {a.name: _lemmas(act_text(a.name, a.phrase or "")) for a in schema.actions}
    shared = mention & texts.get(act.activity, frozenset())
    return tuple(name for name, words in texts.items() if shared and name != act.activity and shared <= words)


def acts_of(readings: Readings) -> Iterator[ActRead]:
    """Every act of the statements as most probably read."""
    for statement in readings.statements:
        yield from statement.best.acts


@lru_cache(maxsize=4096)
def _lemmas(text: str) -> frozenset[str]:
    """Base forms of the words of a text, as verb and as noun."""
    words = re.findall(r"[a-z]{3,}", text.lower())
    bases = ((lemmas(word, "v") + lemmas(word, "n")) or (word,) for word in words)
    return frozenset(base for some in bases for base in some) - _SMALL


_SMALL = frozenset(("the", "and", "for", "have", "has", "been", "was", "were", "must", "not", "its", "their"))
