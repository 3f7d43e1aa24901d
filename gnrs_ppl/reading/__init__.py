"""Read what a person asks for: a sentence and a schema give typed readings with spans and probabilities."""

from gnrs_ppl.reading.opinions import read
from gnrs_ppl.reading.types import ActRead, Named, Reading, Readings, Span, Statement, Timed, Unread

__all__ = ["ActRead", "Named", "Reading", "Readings", "Span", "Statement", "Timed", "Unread", "read"]
