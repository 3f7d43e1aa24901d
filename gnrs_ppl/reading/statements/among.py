"""What statements of one text say of one another: whose time is whose, which contradict or excuse which."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.quantities import Length, durations
from gnrs_ppl.reading.types import Reading, Span, Statement

_END = re.compile(r"[.;!?](?=\s|$)|$")
"""Of a sentence."""


def timed_from(statements: Sequence[Statement]) -> list[Statement]:
    """Statements without the time that runs only from their own act to another's: "delivers, and checks out within ten
    minutes of that".
    """
    from_acts = {
        (s.best.activation.activity, s.best.time.span)
        for s in statements
        if s.best.activation is not None and s.best.time is not None
    }

    def measured(reading: Reading) -> bool:
        own = {a.activity for a in reading.targets}
        return reading.activation is None and any(
            act in own and reading.time is not None and reading.time.span == span for act, span in from_acts
        )

    def without(reading: Reading) -> Reading:
        return replace(reading, time=None) if measured(reading) else reading

    return [replace(s, readings=tuple(map(without, s.readings))) for s in statements]


def each_timed(statements: Sequence[Statement], text: str) -> list[Statement]:
    """Statements that share a time, each with its own where a sentence states as many as it asks acts, in turn:
    "notified within thirty days and paid within sixty days".
    """
    found = list(statements)
    for shared in dict.fromkeys(s.best.time.span for s in statements if s.best.time is not None):
        asked = {s.best.targets[0].span.end: i for i, s in enumerate(found) if _timed_at(s.best, shared)}
        places = sorted(asked)
        begin = text.rfind(". ", 0, places[0]) + 1
        end = next(m.start() for m in _END.finditer(text, places[-1]))
        times = durations(text[begin:end]) if len(places) > 1 else ()
        turns = [x for pair in zip(places, (begin + t.start for t in times), strict=False) for x in pair]
        back = [x for pair in zip((begin + t.start for t in times), places, strict=False) for x in pair]
        if len(times) != len(places) or sorted(turns) not in (turns, back):
            continue
        for place, own in zip(places, times, strict=True):
            span = Span(begin + own.start, begin + own.end)
            one = found[asked[place]]
            found[asked[place]] = replace(one, readings=tuple(_at(r, span, own) for r in one.readings))
    return found


def _timed_at(reading: Reading, span: Span) -> bool:
    return reading.time is not None and reading.time.span == span


def _at(reading: Reading, span: Span, length: Length) -> Reading:
    """A reading with another time than it was given."""
    if reading.time is None or reading.time.span == span:
        return reading
    time = replace(reading.time, span=span, duration=length.duration, working_days=length.working)
    used = (*(s for s in reading.used if s != reading.time.span), span)
    return replace(reading, time=time, used=used)


def less_contradicted(statements: Sequence[Statement]) -> list[Statement]:
    """Statements less duties that another one bans, within no time or the same (what is told as it was, and must not be), and
    less outright bans of what the same words say may be done once another act has been: "before that nobody may touch it".
    """

    def within(s: Statement) -> Span | None:
        return s.best.time.span if s.best.time else None

    banned = {(s.best.activities, within(s)) for s in statements if s.best.template == "not_response"}
    opened = {
        (s.best.activation.activity, s.best.activation.span)
        for s in statements
        if s.best.template == "precedence" and s.best.activation is not None
    }

    def contradicted(s: Statement) -> bool:
        if s.best.template == "absence" and s.best.time is None and s.best.count == 1:
            return (s.best.targets[0].activity, s.best.targets[0].span) in opened
        return s.best.template == "response" and (s.best.activities, within(s)) in banned

    return [s for s in statements if not contradicted(s)]


def less_excusing(statements: Sequence[Statement]) -> list[Statement]:
    """Statements less duties to do what excuses from another one of the same clause: "…, except where the reasons were
    reported".
    """

    def excuses(one: Statement) -> bool:
        return any(
            s is not one
            and s.span == one.span
            and s.best.exception is not None
            and s.best.template == one.best.template
            and one.best.activities[-1:] == (s.best.exception.activity,)
            for s in statements
        )

    return [s for s in statements if not excuses(s)]


def where_told(statement: Statement, text: str) -> Statement:
    """A statement that an act with an exception is the first or the last, as what else it may be where no word tells its place:
    "if a fine is not paid, it must be sent for collection".
    """
    best = statement.best
    words = {"init": patterns.BEGINS, "end": patterns.ENDS}.get(best.template)
    others = tuple(r for r in statement.readings if r.template not in ("init", "end"))
    if words is None or best.exception is None or not others or words.search(text):
        return statement
    whole = sum(r.probability for r in others)
    ways = (replace(r, probability=round(r.probability / whole, 4)) for r in others)
    return replace(statement, readings=tuple(ways))


def less_both(statements: Sequence[Statement], text: str) -> list[Statement]:
    """Statements less bans of one act where the clause only bans it together with another: "may not appeal both to … and
    to …".
    """
    both = [
        s
        for s in statements
        if s.best.template == "not_coexistence"
        and re.search(r"\bboth\b", text[slice(*s.span)], re.IGNORECASE)
    ]
    return [
        s
        for s in statements
        if s.best.template != "absence"
        or s.best.count > 1
        or s.best.activation is not None
        or not any(b.span == s.span and s.best.activities[0] in b.best.activities for b in both)
    ]


def says_likewise(one: Statement, other: Statement) -> bool:
    """Whether two statements of one clause differ in their targets only: the fine that goes to collection is
    no sending of the fine.
    """
    mine, theirs = one.best, other.best
    opened = [r.activation.activity if r.activation else None for r in (mine, theirs)]
    return one.span == other.span and mine.template == theirs.template and opened[0] == opened[1]
