"""What is barred, or due, from one act until another: "between payment and shipment no reminder may be sent", "after payment
nothing may be changed until the shipment", "between registration and discharge the patient must be weighed".

Such a rule is told anew without its end and read as a ban on what comes after its beginning; its end, which is read of the
same ban with that alone, excuses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.anew import Anew, Part, Piece, moved, retold, tells_act
from gnrs_ppl.reading.clauses import MODAL
from gnrs_ppl.reading.constructions import how_bound
from gnrs_ppl.reading.quantities import PLAIN_DURATION, durations
from gnrs_ppl.reading.types import Readings, Span, Statement, Unread
from gnrs_ppl.reading.vocabulary import Vocabulary
from gnrs_ppl.reading.wording import Wording

_BEGINS = r"(?:(?<=[.;!?])\s+|^\s*(?:[-*•]\s+)?)"
_TIME = r"(?:(?:in )?the (?:time|period|interval|span|phase)s? )?"
_BETWEEN_FIRST = Wording(
    rf"{_BEGINS}(?P<opens>{_TIME}between\s+)(?P<one>[^.;:!?,]+?)\s+and\s+(?P<other>[^.;:!?,]+?)"
    r"(?P<joint>\s*,\s*|\s*:\s*|\s+(?=(?:no|nobody|no one|nothing|none|neither|never|there|do not|don['’]t)\b))(?P<main>[^.;:!?]+)"
)
_BETWEEN_LAST = Wording(
    rf"{_BEGINS}(?P<main>[^.;:!?]+?)(?P<opens>\s*,?\s+{_TIME}between\s+)(?P<one>[^.;:!?,]+?)\s+and\s+(?P<other>[^.;:!?,]+)(?=\s*[.;!?]|\s*$)"
)
_OTHER_BETWEEN = Wording(
    r"\b(?:differen\w+|mismatch\w*|discrepanc\w+|agreement|separat\w+|segregat\w+|link|relation\w*|connection|gap|delay|lag|wait|distance|conflict|match|time|"
    r"interval|choice|choose|chosen|distinguish\w*|decide|distinction|contract|communication|correspondence|anything|nothing|step|steps|entry|event|lies?|comes?|stands?)$"
)
"""Before a "between" that tells no time in which something is barred."""
_SINCE = r"(?:after|once|when|whenever|as soon as|from|following|if)"
_TILL = r"(?:until|till|unless and until|up to|up until)"
_AFTER_UNTIL = Wording(
    rf"{_BEGINS}(?P<opens>{_SINCE}\s+)(?P<one>[^.;:!?,]+?)\s*,\s*(?P<main>[^.;:!?]+?)(?P<till>\s*,?\s+(?:and\s+|but\s+)?(?:{_TILL}|before)\s+)(?P<other>[^.;:!?,]+)(?=\s*[.;!?]|\s*$)"
)
_BARRED_AFTER_UNTIL = Wording(
    rf"{_BEGINS}(?P<main>[^.;:!?]+?)(?P<opens>\s*,?\s+{_SINCE}\s+)(?P<one>[^.;:!?,]+?)(?P<till>\s*,?\s+(?:and\s+)?(?:{_TILL}|to)\s+)(?P<other>[^.;:!?,]+)(?=\s*[.;!?]|\s*$)"
)
_FROM_TO = Wording(
    rf"{_BEGINS}(?P<opens>{_SINCE}\s+)(?P<one>[^.;:!?,]+?)(?P<till>\s*,?\s+(?:(?:and|but)\s+(?:{_TILL}|before)|{_TILL}|to)\s+)(?P<other>[^.;:!?,]+?)"
    r"(?P<joint>\s*,\s*|\s*:\s*|\s+(?=(?:no|nobody|no one|nothing|none|neither)\b))(?P<main>[^.;:!?]+)"
)
_AT_LEAST_BETWEEN = Wording(
    rf"{_BEGINS}(?:(?P<between>between\s+)(?P<one>[^.;:!?,]+?)\s+and\s+(?P<other>[^.;:!?,]+?)\s*,?\s+)?(?:there\s+(?:{MODAL})\s+(?:be|lie|pass)\s+)?(?:at\s+least|a\s+minimum\s+of|no\s+(?:less|fewer)\s+than|not\s+(?:less|fewer)\s+than)\s+"
    rf"(?P<time>{PLAIN_DURATION})(?:\s+(?:{MODAL})\s+(?:have\s+)?(?:pass(?:ed)?|lie|elapse[d]?|be|go(?:ne)?\s+by))?(?(between)|\s+between\s+(?P<one2>[^.;:!?,]+?)\s+and\s+(?P<other2>[^.;:!?,]+))(?=\s*[.;!?]|\s*$)"
)
_APART = Wording(
    rf"{_BEGINS}(?P<one>[^.;:!?,]+?)\s+and\s+(?P<other>[^.;:!?,]+?)\s+(?P<how>(?:{MODAL}|may|can)\s+(?:(?P<not>not|never)\s+)?(?:be|lie|happen|take place|occur|come)\s+(?:(?P<more>(?:no|any)?\s*(?:more|longer|further)\s+than|at\s+(?:the\s+)?most|within)|"
    rf"(?P<less>at\s+least|no\s+(?:less|fewer)\s+than|(?:less|fewer)\s+than))\s+)(?P<time>{PLAIN_DURATION})(?P<apart>\s+(?:apart|of\s+(?:each\s+other|one\s+another))(?:\s+from\s+(?:each\s+other|one\s+another))?)\b"
)


class Interval(NamedTuple):
    """A ban with its beginning alone and with its end alone, and where its beginning is told."""

    since: Piece
    until: Piece
    one: Span
    surely: tuple[Span, ...] = ()
    """Where the acts are told that it is between, where words tell them surely."""


def interval(text: str, words: Vocabulary) -> Interval | None:
    """The first ban of a text that holds from one act until another; None where there is none."""
    small = text.lower()
    if "between" in small:
        for pattern in (_BETWEEN_FIRST, _BETWEEN_LAST):
            for m in pattern.finditer(text):
                main, one, other = (Span(*m.span(g)) for g in ("main", "one", "other"))
                if _OTHER_BETWEEN.search(text[: m.start("opens")].rstrip()):
                    continue
                if _bars(text, main) and _are_acts(text, words, main) and not durations(m[0]):
                    opens, whole = Span(*m.span("opens")), Span(main.start, main.end)
                    until: list[Part] = [(" ", whole), main, (" until ", opens), other]
                    since: list[Part] = [(" ", whole), main, (" after ", opens), one]
                    span = Span(m.start(), m.end())
                    missed = (one, other) if _are_acts(text, words, one, other) else ()
                    return Interval(_told(text, span, since), _told(text, span, until), one, missed)
    if not any(till in small for till in ("until", "till", "before", "up to", " to ")):
        return None
    for pattern in (_AFTER_UNTIL, _BARRED_AFTER_UNTIL, _FROM_TO):
        for m in pattern.finditer(text):
            main, one, other = (Span(*m.span(g)) for g in ("main", "one", "other"))
            if not (_bars(text, main) and _are_acts(text, words, one, other, main)):
                continue
            opens, till = Span(*m.span("opens")), Span(*m.span("till"))
            word = "After" if text[opens.start : opens.end].strip().lower() == "from" else ""
            begin: Part = (f" {word} ", opens) if word else opens
            since = [begin, one, (", ", till), main]
            until = [(" ", Span(main.start, main.start + 1)), main, (" until ", till), other]
            span = Span(m.start(), m.end())
            return Interval(_told(text, span, [(" ", opens), *since]), _told(text, span, until), one)
    return None


def _told(text: str, span: Span, parts: list[Part]) -> Piece:
    return retold(text, [Anew(span, tuple(parts))])


def _bars(text: str, main: Span) -> bool:
    """Whether words bar something by words of their own, and tell no time."""
    said = text[main.start : main.end]
    return how_bound(said).negative and not durations(said)


def _are_acts(text: str, words: Vocabulary, *spans: Span) -> bool:
    """Whether each of some words tells an act, and none a time."""
    return all(tells_act(text, s, words) and not durations(text[s.start : s.end]) for s in spans)


def with_its_end(told: Interval, answered: Callable[[str], Readings]) -> Readings | None:
    """What is read of a text with a ban that holds until something; None where it is not read as such a ban."""
    since = moved(answered(told.since.text), told.since)
    bans = [s for s in since.statements if _opens_in(s, told.one)]
    if not bans:
        return _refused(told, since)
    until = moved(answered(told.until.text), told.until)
    ends = {
        s.best.activation.activity: s.best
        for s in until.statements
        if s.best.template == "precedence" and s.best.activation is not None
    }
    statements = list(since.statements)
    for ban in bans:
        best = ban.best
        end = ends.get(best.targets[0].activity)
        if end is None or len(best.targets) > 1 or len(end.targets) != 1 or best.exception is not None:
            return _refused(told, since)
        assert best.activation is not None
        if end.targets[0].activity in (best.activation.activity, best.targets[0].activity):
            return _refused(told, since)
        used = tuple(dict.fromkeys((*best.used, *end.used)))
        read = replace(best, exception=end.targets[0], used=used, probability=1.0)
        statements[statements.index(ban)] = replace(ban, readings=(read,))
    used = tuple(u for s in statements for u in s.best.used)
    unread = {
        u for u in (*since.unread, *until.unread) if not any(s.start <= u.span.start < s.end for s in used)
    }
    return replace(since, statements=tuple(statements), unread=tuple(sorted(unread)), nothing="")


def _refused(told: Interval, found: Readings) -> Readings | None:
    """Nothing read but the words of what a ban is between, where these surely tell acts."""
    if not told.surely:
        return None
    missed = (Unread(span, another=True) for span in told.surely)
    unread = tuple(sorted({*found.unread, *missed}))
    return replace(found, statements=(), otherwise=(), unread=unread, nothing="no_such_act")


def _opens_in(statement: Statement, one: Span) -> bool:
    best = statement.best
    return (
        best.template == "not_response"
        and best.activation is not None
        and one.start <= best.activation.span.start < one.end
    )


def apart_in_time(text: str, words: Vocabulary) -> Iterator[Anew]:
    """How much time must lie between two acts at least, or at most, and what is due between them."""
    small = text.lower()
    if "between" in small:
        for m in _AT_LEAST_BETWEEN.finditer(text):
            one, other = (Span(*m.span(g if m["between"] else f"{g}2")) for g in ("one", "other"))
            if _are_acts(text, words, one, other):
                yield Anew(Span(*m.span()), tuple(_not_before(m, one, other)))
        for m in _BETWEEN_FIRST.finditer(text):
            main, one, other = (Span(*m.span(g)) for g in ("main", "one", "other"))
            said = text[main.start : main.end]
            bound = how_bound(said)
            if bound.negative or not patterns.DUTY.search(said) or durations(said):
                continue
            if _are_acts(text, words, one, other, main):
                opens, joint = Span(*m.span("opens")), Span(*m.span("joint"))
                parts: list[Part] = [(" After ", opens), one, (", ", joint), main, (". Before ", joint)]
                yield Anew(Span(*m.span()), (*parts, other, (", ", joint), main))
    if "apart" in small or "each other" in small or "one another" in small:
        for m in _APART.finditer(text):
            one, other = Span(*m.span("one")), Span(*m.span("other"))
            if not _are_acts(text, words, one, other):
                continue
            if _at_most(m):
                how, time = Span(*m.span("how")), Span(*m.span("time"))
                parts = [(" ", how), one, (" and ", how), other, (" must belong together within ", how), time]
                yield Anew(Span(*m.span()), tuple(parts))
            else:
                either = (*_not_before(m, one, other), (". ", one), *_not_before(m, other, one))
                yield Anew(Span(*m.span()), either)


def _at_most(m: re.Match[str]) -> bool:
    """Whether the time by which two acts are apart is the longest that may lie between them."""
    limit = re.sub(r"\s+", " ", m["more"] or m["less"])
    longest = limit.startswith(("no more", "no longer", "no further", "at ", "within", "less", "fewer"))
    return (longest and limit != "at least") != bool(m["not"])


def _not_before(m: re.Match[str], one: Span, other: Span) -> Iterator[Part]:
    """That the later of two acts must not come before so much time has passed since the earlier."""
    time = Span(*m.span("time"))
    yield (" ", Span(other.start, other.start + 1))
    yield other
    yield (" must not take place earlier than ", time)
    yield time
    yield (" after ", time)
    yield one
