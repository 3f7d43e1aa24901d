"""What a text says beside its duties: which logs show them, and what follows a breach. What tells that is taken out
before the duties are read, so that a review after a breach is no duty of every case.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from gnrs_ppl.context.types import Channel
from gnrs_ppl.reading.breaches import passages, stray_appeals
from gnrs_ppl.reading.constructions import functional
from gnrs_ppl.reading.evidence import evidence_of
from gnrs_ppl.reading.logs import Logs
from gnrs_ppl.reading.procedure import procedure_of
from gnrs_ppl.reading.types import EvidenceRead, ProcedureRead, Span
from gnrs_ppl.reading.vocabulary import STOP, Vocabulary, tokens_of
from gnrs_ppl.reading.wording import AsWritten

_ASIDE = AsWritten(
    r"\bas (?:you|we|I|everyone|everybody|many|most|some) (?:(?:all|may|might|will|of you|have|already|probably|surely|certainly) )*"
    r"(?:know|heard|seen|read|noticed|remember|recall|learnt|learned|been told|were told|said|mentioned)"
    r"(?: (?:by now|before|already|earlier))?(?=\s*[,.;:)–])",
)
"""Said beside what is told: "as you have heard"."""


class Beside(NamedTuple):
    """The evidence and the procedure of a text, and its duties: the text with spaces where those two are told."""

    evidence: EvidenceRead | None
    procedure: ProcedureRead | None
    duties: str
    unread: tuple[Span, ...] = ()
    """Words with content in passages on a breach that no step used."""


def said_beside(text: str, channels: Sequence[Channel], words: Vocabulary) -> Beside:
    """What a text says beside its duties.

    Parameters
    ----------
    text : str
    channels : sequence of Channel
        The logs that are kept; where none is known, nothing is read of evidence.
    words : Vocabulary
        Of the schema that is read against.
    """
    logs = _logs(tuple(channels), words)
    told = passages(text)
    if not _has_appeals(words):
        told += stray_appeals(text, told)
    procedure = procedure_of(text, sorted(told), words.schema, logs, words) if told else None
    taken = [*procedure.spans] if procedure else []
    follows = procedure is not None and procedure.follows_breach
    evidence = evidence_of(text, logs, taken if follows else ())
    asides = [Span(*aside.span()) for aside in _ASIDE.finditer(text)]
    cut = [*(taken if follows else []), *(evidence.spans if evidence else []), *asides]
    rest = _without(text, cut)
    if procedure and not _tells(rest):  # nothing is left that could be broken
        procedure, evidence = None, evidence_of(text, logs, ())
        rest = _without(text, [*(evidence.spans if evidence else ()), *asides])
    unread = _unread(text, procedure) if procedure and procedure.follows_breach else ()
    return Beside(evidence, procedure, rest, unread)


def _unread(text: str, procedure: ProcedureRead) -> tuple[Span, ...]:
    spans = [
        Span(t.start, t.end)
        for t in tokens_of(text)
        if t.text[0].isalpha() and t.text not in STOP and not functional(t.text)
    ]
    told = [s for s in spans if any(p.start <= s.start < p.end for p in procedure.spans)]
    return tuple(s for s in told if not any(u.start <= s.start < u.end for u in procedure.used))


@lru_cache(maxsize=64)
def _logs(channels: tuple[Channel, ...], words: Vocabulary) -> Logs:
    names = *words.schema.objects, *words.schema.roles
    told = (word.text for name in names for word in tokens_of(name.phrase or name.name))
    return Logs(channels, frozenset(told))


def _without(text: str, spans: Sequence[Span]) -> str:
    """The text with spaces in place of some words, the full stops and semicolons behind them left."""
    letters = list(text)
    for span in spans:
        end = span.end
        while end > span.start and (text[end - 1] in ".;!?" or text[end - 1].isspace()):
            end -= 1
        letters[span.start : end] = " " * (end - span.start)
    return "".join(letters)


def _tells(text: str) -> bool:
    """Whether words are left that may be a duty."""
    return any(c.isalpha() for c in text)


def _has_appeals(words: Vocabulary) -> bool:
    """Whether an appeal is an act of the schema."""
    return not words.told.isdisjoint(("appeal", "objection", "complaint"))
