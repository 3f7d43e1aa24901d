"""Passages of a text told anew in other words, so that what is read of these goes back to where it was said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple, TypeVar, cast

from gnrs_ppl.reading.types import Span
from gnrs_ppl.reading.vocabulary import ENOUGH, Vocabulary, tokens_of

Read = TypeVar("Read")
Part = Span | tuple[str, Span]
"""Words of the text, or others that stand for some of them."""


class Piece(NamedTuple):
    """A sentence told anew: for each of its characters where the words it stands for begin and end; and the passages it
    was made of.
    """

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    of: tuple[Span, ...]
    thing: str = ""
    """The words in place of which others stand."""


class Anew(NamedTuple):
    """A passage, what it is told anew as, and what of it no act and no rule of the language shows."""

    span: Span
    parts: tuple[Part, ...]
    missed: tuple[Span, ...] = ()


def made(text: str, parts: Sequence[Part], of: tuple[Span, ...]) -> Piece:
    """A piece of words of a text, and of others that stand for some of them."""
    letters, starts, ends = list[str](), list[int](), list[int]()
    for part in parts:
        if isinstance(part, Span):
            letters += text[part.start : part.end]
            starts += range(part.start, part.end)
            ends += range(part.start + 1, part.end + 1)
        else:
            words, span = part
            letters += words
            starts += [span.start] * len(words)
            ends += [span.end] * len(words)
    return Piece("".join(letters), tuple(starts), tuple(ends), of)


def moved(value: Read, piece: Piece) -> Read:
    """What was read of a piece, with the spans of the text that it stands for."""
    return cast(Read, _moved(value, piece))


def _moved(value: Any, piece: Piece) -> Any:
    if isinstance(value, Span):
        start, end = min(value.start, len(piece.starts) - 1), max(min(value.end, len(piece.ends)), 1)
        low, high = piece.starts[start], piece.ends[end - 1]
        return Span(min(low, high), max(low, high))
    if hasattr(value, "_fields"):
        return type(value)(*(_moved(item, piece) for item in value))
    if isinstance(value, tuple):
        return tuple(_moved(item, piece) for item in value)
    if is_dataclass(value) and not isinstance(value, type) and not hasattr(value, "model_fields"):
        plain = {f.name: _moved(getattr(value, f.name), piece) for f in fields(value)}
        return replace(value, **plain)
    return value


def composed(outer: Piece, inner: Piece) -> Piece:
    """A piece of a piece, as one of the text that the first was made of."""
    starts = tuple(outer.starts[min(s, len(outer.starts) - 1)] for s in inner.starts)
    ends = tuple(outer.ends[max(e - 1, 0)] for e in inner.ends)
    return Piece(inner.text, starts, ends, outer.of)


def apart(found: Iterable[Anew]) -> list[Anew]:
    """Passages in their order, less those that begin within one before them."""
    kept = list[Anew]()
    for one in sorted(found, key=lambda a: a.span):
        if not kept or one.span.start >= kept[-1].span.end:
            kept.append(one)
    return kept


def retold(text: str, found: Sequence[Anew], start: int = 0) -> Piece:
    """A text from some place on, with passages that stand apart told anew."""
    parts, at = list[Part](), start
    for one in found:
        parts += [Span(at, one.span.start), *one.parts]
        at = one.span.end
    return made(text, [*parts, Span(at, len(text))], (Span(0, len(text)),))


def tells_act(text: str, span: Span, words: Vocabulary) -> bool:
    """Whether words tell an act."""
    tokens = tokens_of(text[span.start : span.end])
    return any(m.score >= ENOUGH for m in words.match_acts(tokens, range(len(tokens)))[:1])
