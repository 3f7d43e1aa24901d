"""Another way to meet a condition that no act of the schema shows: "only if payment was received, or a manager has approved
it". A rule without it would accuse whoever takes that way.
"""

from __future__ import annotations

from dataclasses import replace

from gnrs_ppl.reading.types import Readings, Span, Unread
from gnrs_ppl.reading.vocabulary import STOP
from gnrs_ppl.reading.wording import Wording
from gnrs_ppl.reading.words import lemmas

_OR_DONE = Wording(
    r"\bor\s+(?:else\s+)?(?:(?:if|when|where|once|after|unless|until|that)\s+)?(?:an?|the|any|its?|they|he|she|we|somebody|someone|our|their|his|her|another)\b"
    r"(?:\s+(?!or\b|and\b|if\b)[\w'’-]+){0,4}?\s+(?:ha(?:s|ve|d)|was|were|is|are|gets?|got)(?:\s+(?:been|already|since|also|\w+ly|not))*\s+(?P<verb>[a-z][\w-]*)"
)
"""Joins what somebody has done, or what was done, to a condition before it."""
_NO_VERB = frozenset({"to", "been", "not", "no", "an", "a", "the", "in", "at", "on", "by", "of", "for"})


def with_untold_ways(readings: Readings) -> Readings:
    """The readings, with each way to meet a condition that nothing was read from as an act nobody records."""
    text = readings.sentence
    if not readings.statements or " or " not in text.lower():
        return readings
    used = [s for statement in readings.statements for r in statement.readings for s in r.used]
    missed = list[Unread]()
    for m in _OR_DONE.finditer(text):
        verb = Span(*m.span("verb"))
        if m["verb"] in _NO_VERB | STOP or lemmas(m["verb"], "v")[:1] in ((), (m["verb"],)):
            continue
        lost = any(u.span.start <= verb.start < u.span.end for u in readings.unread)
        if lost and not any(s.start <= verb.start < s.end for s in used):
            missed.append(Unread(verb, another=True))
    if not missed:
        return readings
    spans = [u.span for u in missed]
    kept = (u for u in readings.unread if u.span not in spans)
    return replace(readings, unread=tuple(sorted((*missed, *kept))))
