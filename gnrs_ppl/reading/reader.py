"""A sentence read by rules: conditions on data, logs and procedure by their words, then the statements of the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from gnrs_ppl.context.limits import SENTENCE
from gnrs_ppl.context.types import Attribute, Channel, Schema
from gnrs_ppl.errors import InputError
from gnrs_ppl.reading.beside import said_beside
from gnrs_ppl.reading.constructions import Constructions
from gnrs_ppl.reading.data import said_of_data
from gnrs_ppl.reading.placed import placed
from gnrs_ppl.reading.statements import Statements
from gnrs_ppl.reading.types import Readings, Unread
from gnrs_ppl.reading.vocabulary import Vocabulary


@lru_cache(maxsize=64)
def vocabulary(schema: Schema) -> Vocabulary:
    """The words of a schema, kept for the next sentence."""
    return Vocabulary(schema)


def read(
    sentence: str, schema: Schema, logs: Sequence[Channel] = (), attributes: Sequence[Attribute] = ()
) -> Readings:
    """What the rules read of a sentence; parameters as :func:`gnrs_ppl.reading.read` has them.

    Returns
    -------
    Readings
        A statement for each duty, ban or permission, each with the ways to read it; which logs show them, and
        what follows a breach.

    Raises
    ------
    InputError
        The sentence is longer than the 2,000 characters of a goal's.
    """
    if len(sentence) > SENTENCE:
        raise InputError(
            f"is longer than {SENTENCE:,} characters",
            "write a sentence",
            source="arguments",
            field="sentence",
        )
    words = vocabulary(schema)
    data = said_of_data(sentence, attributes, words)
    beside = said_beside(data.duties, logs, words)
    alone = replace(Statements(Constructions(beside.duties, words)).read(), sentence=sentence)
    return replace(
        placed(alone, data.found, attributes),
        unread=tuple(sorted((*alone.unread, *(Unread(span) for span in beside.unread)))),
        evidence=beside.evidence,
        procedure=beside.procedure,
        unheld=data.unheld,
    )
