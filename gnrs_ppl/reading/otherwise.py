"""Duties that are told by what was said before them: the items of a list, "once that is out, …", "until then, …", "the same applies to …",
"…, otherwise a penalty is added", "…, and never by the person who sends it", "…, but not before it was paid".

Each is told anew as a sentence that stands by itself and read alone; what is read goes back to where it was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from gnrs_ppl.context.types import Schema
from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.anew import Part, Piece, made
from gnrs_ppl.reading.clauses import MODAL
from gnrs_ppl.reading.patterns import DUTY, NEGATIVE, PERMISSION
from gnrs_ppl.reading.quantities import PLAIN_DURATION, durations
from gnrs_ppl.reading.types import Named, Reading, Span, Statement
from gnrs_ppl.reading.vocabulary import STOP, name_words, near, tokens_of
from gnrs_ppl.reading.wording import AsWritten, Wording
from gnrs_ppl.reading.words import SYNONYM

_ITEM = re.compile(r"^[ \t]*(?:[-*•–]|\(?(?:\d{1,2}|[a-z])[.)])[ \t]+(?P<item>\S.*?)[ \t]*$", re.MULTILINE)
_LEAD = re.compile(r"(?P<lead>[^.;!?\n]*\S)\s*:\s*\n\s*$")
_BINDS = Wording(rf"\b(?:{MODAL})\b")
_OPEN = Wording(rf"\b(?:{MODAL})(?:\s+be)?\s*$")
"""A lead that its items complete: the fine must be."""
_FOLLOWING = Wording(
    rf"^\W*(?:all(?: of)? )?(?:the following|these)(?: \w+)?\s+(?P<modal>{MODAL})\s+(?:happen|be done|be met|take place|apply|occur)\b"
)
_IS = AsWritten(r"\b(?:is|are|has been|have been|was|were)\b")
_DONE = (
    r"(?:out|done|over|complete|completed|finished|settled|through|behind (?:us|them|you)|happened|dealt with|in hand|in place|"
    r"taken place|taken care of)"
)
_ONCE_THAT = AsWritten(
    rf"(?:(?<=[.;:!?])|,?\s+(?:and|but)(?=\s+(?:until|till|before|(?:as|so) long as)\b))\s+(?P<opens>(?:once|as soon as|when|after|whenever|until|till|before)\s+"
    rf"(?:that|this|it)(?:\s+(?:is|has|was)|['’]s)\s+(?:been\s+)?{_DONE}|"
    rf"(?:as|so) long as\s+(?:that|this|it)\s*(?:(?:is|has|was)(?:\s+not|n['’]t)|['’]s\s+not)\s+(?:yet\s+)?(?:been\s+)?{_DONE}|"
    r"(?:after|following|before|prior to|until) (?:that|this)|until then|thereafter|afterwards)\s*(?P<comma>,|(?<=done|over|ened|lace|shed|eted)(?=\s+(?:no|nobody|none|nothing)\b))\s*"
    r"(?P<rest>[^.;!?]+[.;!?]?)",
)
_NOT_YET = AsWritten(r"until|till|before|prior|(?:as|so) long as")
_THE_SAME = Wording(
    r"(?<=[.;!?])\s+(?P<all>(?:(?:exactly )?the (?:very )?same(?: rule)?|this|that|likewise)\s*(?:also |equally )?(?:applies|goes|holds|counts|is true|is valid)\s+(?:also |too |equally )?"
    r"(?:to|for|of)\s+(?:(?:the|an?|any|every|each)\s+)?(?P<what>[\w'’-]+(?:\s+[\w'’-]+){0,5}))\s*[.;!?]?(?=\s|$)"
)

_ELSE = Wording(
    r"(?P<all>(?:\s*[,;]|\s+[–—-])\s*(?:(?:and |or )?(?:otherwise|else|failing (?:which|that|this)|if not(?=,))\s*,?\s*|or (?=(?:an?|the) (?:\w+ ){1,3}?(?:will|shall|must) be\b))"
    r"(?P<rest>[^.;!?]+))"
)
"""What is due where the duty before it is not kept in its time."""
_NEVER_BY = Wording(
    r"(?P<all>\s*,?\s*(?:(?:and|but) )?(?:never|not) (?:be )?by (?P<who>(?:(?:the (?:very )?(?:same )?|an?|any|those )?[a-z-]+ )?(?:who|that)|whoever)\s+(?P<rest>[^.;!?]+))"
)
"""Who may not do what was said before."""

_BEFORE_THAT = Wording(
    r"(?P<all>(?:\s*,?\s+and|\s*;(?: and)?|(?<=[.!?]))\s+(?P<rest>(?:nobody|no[- ]one|none|no \w+)\b(?:(?!\b(?:who|that|which|unless|without|until|if|when)\b)[^.;!?])*?),?\s+(?P<that>before (?:that|then|this)|beforehand|until then|earlier)"
    r"(?=\s*(?:[.;!?]|$)))"
)
"""What is barred until what was asked before is done."""
_NOT_BEFORE = Wording(
    r"(?P<all>\s*[,;–—-]?\s+(?:but|yet|although|though|albeit|and)\s+(?P<order>(?:never|not)(?: ever)? (?:before|until|prior to|without)|"
    r"(?:always )?only (?:after|once|when|if))\s+(?P<rest>[^.;!?]+))"
)
"""What the act that was asked before may not come before."""


_THEN_DUE = Wording(
    r"(?P<all>(?:\s*,?\s+and|\s*[,;](?: and)?|(?<=[.!?]))\s+(?P<that>before (?:that|then)|by then|by that time)\s*,?\s+"
    r"(?P<rest>(?:(?!\b(?:who|that|which|unless|without|until|if|when|before|after|once|within|not|nor|nobody)\b)[^.;,!?])+))"
)
"""What must be done before what was asked, or within its time."""
_IN_TURN = Wording(
    r"\b(?:followed|succeeded) by\b[^.;!?]*?(?P<all>\s*,?\s+and\s+(?P<first>(?:the|this|that|its) [\w'’ -]+?)\s+(?P<turn>in (?:its |their )?turn by)\s+"
    r"(?P<rest>[^.;!?]+))"
)
"""What follows the act that must follow another."""
_SINCE = rf"{PLAIN_DURATION} (?:of|after|from|following|since)\b"
_MUST_BE = AsWritten(
    rf"(?:^|(?<=[.;!?]\s))(?P<subject>[^.;!?]*?)(?P<modal>\b(?:{MODAL}) (?:then )?be\b)(?=[^.;!?]*?\b{_SINCE})",
)
_AND_SINCE = AsWritten(
    r"(?:,? and|,)(?: then)? (?P<subject>(?:[\w'’-]+ ){1,4}?)??(?:be )?"
    rf"(?P<rest>\w+(?: (?:to|by|with|on|for)(?: \w+){{1,4}}?)? (?:within|in|no later than|not later than) {_SINCE})",
)
"""What else must be done, in a time of its own that runs from an act of its own: "must be sent within 90 days of its
issue and notified within 30 days of its dispatch".
"""


class TakenUp(NamedTuple):
    """A passage that takes up what was said before: a list, a time, or a rule."""

    kind: str
    span: Span
    words: tuple[Span, ...]


def set_apart(text: str) -> tuple[str, list[TakenUp]]:
    """The text with spaces where passages take up what was said before them, and these passages."""
    found = [*_lists(text)]
    for m in _ONCE_THAT.finditer(text):
        found.append(
            TakenUp("once", Span(m.start("opens"), m.end()), (Span(*m.span("opens")), Span(*m.span("rest"))))
        )
    for m in _THE_SAME.finditer(text):
        found.append(TakenUp("same", Span(*m.span("all")), (Span(*m.span("what")),)))
    for m in _ELSE.finditer(text):
        if durations(text[_sentence_around(text, m.start())[0] : m.start()]):
            found.append(TakenUp("else", Span(*m.span("all")), (Span(*m.span("rest")),)))
    for m in _BEFORE_THAT.finditer(text):
        if _BINDS.search(text, 0, m.start()) or durations(text[: m.start()]):
            found.append(
                TakenUp("before", Span(*m.span("all")), (Span(*m.span("that")), Span(*m.span("rest"))))
            )
    for m in _THEN_DUE.finditer(text):
        if _BINDS.search(text, 0, m.start()) and patterns.DUTY.search(m["rest"]):
            kind = "by" if m["that"].lower().startswith("by") else "before"
            found.append(TakenUp(kind, Span(*m.span("all")), (Span(*m.span("that")), Span(*m.span("rest")))))
    found += _each_since(text)
    for m in _IN_TURN.finditer(text):
        turned = Span(*m.span("first")), Span(*m.span("turn")), Span(*m.span("rest"))
        found.append(TakenUp("turn", Span(*m.span("all")), turned))
    for m in _NEVER_BY.finditer(text):
        if _BINDS.search(text, 0, m.start()):
            found.append(TakenUp("doer", Span(*m.span("all")), (Span(*m.span("who")), Span(*m.span("rest")))))
    for m in _NOT_BEFORE.finditer(text):
        said = text[_sentence_around(text, m.start())[0] : m.start()]
        *_, duty = [None, *DUTY.finditer(said)]
        if duty and not NEGATIVE.search(said, duty.start()) and not PERMISSION.search(said, duty.start()):
            words = Span(*m.span("order")), Span(*m.span("rest"))
            found.append(TakenUp("order", Span(*m.span("all")), words))
    found = [
        one
        for one in found
        if _BINDS.search(text, one.span.start, one.span.end)
        or one.kind in ("same", "else", "doer", "before", "order", "turn", "each")
    ]
    letters = list(text)
    for one in found:
        letters[one.span.start : one.span.end] = " " * (one.span.end - one.span.start)
    return "".join(letters), sorted(found, key=lambda t: t.span)


def _each_since(text: str) -> Iterator[TakenUp]:
    leads = _MUST_BE.finditer(text) if len(durations(text)) > 1 else ()
    for lead in leads:
        end = _sentence_around(text, lead.end())[1]
        more = list(_AND_SINCE.finditer(text, lead.end(), end))
        stops = [*(m.start() for m in more[1:]), end]
        if not more or not durations(text[lead.end() : more[0].start()]):
            continue
        for m, stop in zip(more, stops, strict=True):
            subject = m.span("subject") if m["subject"] else lead.span("subject")
            words = Span(*subject), Span(*lead.span("modal")), Span(m.start("rest"), stop)
            yield TakenUp("each", Span(m.start(), stop), words)


def _lists(text: str) -> Iterator[TakenUp]:
    items = list(_ITEM.finditer(text))
    while items:
        run = [items.pop(0)]
        while items and not text[run[-1].end() : items[0].start()].strip():
            run.append(items.pop(0))
        said = text[: run[0].start()].rstrip()
        lead = _LEAD.match(text, max(map(said.rfind, ".;!?\n")) + 1, run[0].start())
        if lead is not None and len(run) > 1:
            words = (Span(*lead.span("lead")), *(Span(*m.span("item")) for m in run))
            yield TakenUp("list", Span(lead.start("lead"), run[-1].end()), words)


def told_anew(text: str, one: TakenUp, before: Sequence[Statement], schema: Schema) -> list[Piece]:
    """The sentences that a passage stands for; none where what it takes up is not known.

    Parameters
    ----------
    text : str
        With all passages in it.
    one : TakenUp
    before : sequence of Statement
        What was read so far.
    schema : Schema
        For the words of acts.
    """
    if one.kind == "list":
        lead, *items = one.words
        return [_item(text, lead, item) for item in items]
    if one.kind == "each":
        subject, modal, rest = one.words
        return [made(text, [subject, (" ", modal), modal, (" ", rest), rest, (".", rest)], (one.span,))]
    last = last_before(one, before)
    if last is None:
        return []
    if one.kind == "turn":
        return _in_turn(text, one, last, schema)
    if one.kind == "by" and last.best.time is not None and last.best.activation is not None:
        return _by_then(text, one, last.best, schema)
    if one.kind in ("once", "before", "by"):
        return _once(text, one, last, schema)
    if one.kind in ("doer", "order"):
        return _doer(text, one, last, schema)
    if one.kind == "else":
        return _else(text, one)
    return _same(text, one, last)


def last_before(one: TakenUp, before: Sequence[Statement]) -> Statement | None:
    """The statement that a passage takes up: the last that is told before it."""
    earlier = [s for s in before if s.best.targets[0].span.start < one.span.start]
    return max(earlier, key=lambda s: s.best.targets[-1].span.start, default=None)


def by_another_already(one: TakenUp, before: Sequence[Statement]) -> tuple[Statement, ...] | None:
    """The statements where the last one says already that another person does it, and the passage only who that is not:
    "by somebody else, not by the colleague who created it".
    """
    last = last_before(one, before)
    if last is None or not last.best.by_another:
        return None
    told = replace(last, readings=tuple(replace(r, used=(*r.used, one.span)) for r in last.readings))
    return tuple(told if s is last else s for s in before)


def where_missed(more: Statement, kept: Reading) -> Statement | None:
    """What is due of every case, as what is due where another duty was not kept: after what opens that one, unless it was
    done. None where one of the two is no such duty.
    """
    asked = more.best
    if (asked.template, asked.activation) != ("existence", None) or len(kept.targets) != 1:
        return None
    if kept.template not in ("existence", "response") or asked.activities == (kept.targets[0].activity,):
        return None
    reading = replace(
        asked,
        probability=1.0,
        template=kept.template,
        opens=kept.opens,
        activation=kept.activation,
        exception=kept.targets[0],
        why="'otherwise': due where the duty before it is not kept",
    )
    return replace(more, readings=(reading,))


def _item(text: str, lead: Span, item: Span) -> Piece:
    opening, told = text[lead.start : lead.end], text[item.start : item.end].rstrip(" ,;.")
    told = re.sub(r",?\s+(?:and|or)$", "", told)
    parts: list[Part]
    end = item.start + len(told)
    if following := _FOLLOWING.match(opening):
        verb = _IS.search(told)
        rest = Span(lead.start + following.end(), lead.end)
        if verb and not _BINDS.search(told):
            at = item.start + verb.start(), item.start + verb.end()
            modal = Span(lead.start + following.start("modal"), lead.start + following.end("modal"))
            parts = [
                Span(item.start, at[0]),
                modal,
                (" be", Span(*at)),
                Span(at[1], end),
                (" ", rest),
                rest,
                (".", rest),
            ]
        else:
            parts = [Span(item.start, end), (" ", rest), rest, (".", rest)]
        return made(text, parts, (lead, item))
    joined = " " if _OPEN.search(opening) else ", "
    return made(text, [lead, (joined, item), Span(item.start, end), (".", item)], (lead, item))


def _once(text: str, one: TakenUp, last: Statement, schema: Schema) -> list[Piece]:
    opens, rest = one.words
    done = last.best.targets[-1].activity
    action = next((a for a in schema.actions if a.name == done), None)
    if action is None:
        return []
    before = one.kind in ("before", "by")
    order = "Before" if before or _NOT_YET.match(text, opens.start) else "After"
    doing = f"the {action.noun}" if action.noun else f"having to {action.phrase or action.name}"
    told = f"{order} {doing}, "
    parts: list[Part] = [(told, opens), *(_bound(text, rest, "may") if before else [rest])]
    return [made(text, parts, (one.span,))]


def _in_turn(text: str, one: TakenUp, last: Statement, schema: Schema) -> list[Piece]:
    """What must follow the act that was asked before, as a sentence of that."""
    first, turn, rest = one.words
    asked = next((a for a in schema.actions if a.name == last.best.targets[-1].activity), None)
    if asked is None or not asked.noun:
        return []
    told = (f"The {asked.noun}", first), (" must be followed by ", turn)
    return [made(text, [*told, rest, (".", rest)], (one.span,))]


def _by_then(text: str, one: TakenUp, last: Reading, schema: Schema) -> list[Piece]:
    """What is due by the time of the duty before it, with that time."""
    by, rest = one.words
    began = next((a for a in schema.actions if last.activation and a.name == last.activation.activity), None)
    if began is None or last.time is None or not began.noun:
        return []
    length = text[last.time.span.start : last.time.span.end]
    parts: list[Part] = [(f"At the latest {length} after the {began.noun}, ", by), rest, (".", by)]
    return [made(text, parts, (one.span,))]


def _else(text: str, one: TakenUp) -> list[Piece]:
    """What stands behind "otherwise", told as a duty."""
    (rest,) = one.words
    return [made(text, [*_bound(text, rest, "must"), (".", rest)], (rest,))]


def _bound(text: str, words: Span, modal: str) -> list[Part]:
    """Words that bind by a modal where they only say what is done: "a penalty must be added"."""
    says = Wording(r"\b(?:is|are|will be|shall be)\b").search(text, *words)
    if says is None or _BINDS.search(text, words.start, says.start()):
        return [words]
    told = (f" {modal} be ", Span(*says.span()))
    return [Span(words.start, says.start()), told, Span(says.end(), words.end)]


def _doer(text: str, one: TakenUp, last: Statement, schema: Schema) -> list[Piece]:
    """Who may not do what was said before, or before or without what nobody may, as a sentence of that."""
    opens, rest = one.words
    action = next((a for a in schema.actions if a.name == last.best.targets[-1].activity), None)
    if action is None:
        return []
    done = action.phrase or " ".join(name_words(action.name))
    if one.kind == "doer":
        return [made(text, [("Whoever ", opens), rest, (f" must not {done}.", opens)], (one.span,))]
    said = text[opens.start : opens.end].lower()
    only = "only " in said
    told = f"{'People may' if only else 'Nobody may'} {done} {said if only else said.split(' ', 1)[1]} "
    return [made(text, [(told, opens), rest, (".", rest)], (one.span,))]


def _same(text: str, one: TakenUp, last: Statement) -> list[Piece]:
    """The sentence before with another thing in place of what it is about: of its first thing, or its subject."""
    (what,) = one.words
    first, end = _sentence_around(text, last.best.targets[0].span.start)
    things = [n for a in _acts(last.best) if (n := a) is not None and first <= n.span.start < end]
    modal = _BINDS.search(text, first, end)
    old = min((n.span for n in things), default=None)
    if old is None and modal:
        subject = Wording(r"\s*(?:(?:the|an?|any|every|each|all|no)\s+)?").match(text, first, modal.start())
        old = Span(subject.end() if subject else first, modal.start())
    if old is None or not text[old.start : old.end].strip():
        return []
    space = " " if text[old.end - 1].isspace() else ""
    again = re.compile(rf"(?<!\w){re.escape(text[old.start : old.end].strip())}(?!\w)", re.IGNORECASE)
    parts: list[Part] = []
    at = first
    for m in again.finditer(text, first, end):
        parts += [
            Span(at, m.start()),
            (text[what.start : what.end] + (space if m.end() == old.end else ""), what),
        ]
        at = m.end()
    piece = made(text, [*parts, Span(at, end)], (Span(first, end), one.span))
    return [piece._replace(thing=text[old.start : old.end].strip())]


def _acts(reading: Reading) -> Iterator[Named]:
    for act in (*reading.targets, reading.activation, reading.exception):
        if act is not None:
            yield from (n for n in (act.object, act.location) if n is not None)


def _sentence_around(text: str, place: int) -> tuple[int, int]:
    ends = [m.end() for m in re.finditer(r"[.!?;](?=\s|$)", text)]
    first = max((e for e in ends if e <= place), default=0)
    return first, min((e for e in ends if e > place), default=len(text))


def of_another_thing(new: Statement, thing: str, before: Sequence[Statement], schema: Schema) -> bool:
    """Whether a statement told of another thing has another act for each act that was about the thing before."""
    words = {t.text for t in tokens_of(thing) if t.text[0].isalnum() and t.text not in STOP}
    spoken = {
        a.name: {t.text for t in tokens_of(f"{' '.join(name_words(a.name))} {a.phrase or ''} {a.noun or ''}")}
        for a in schema.actions
    }
    told = {name for s in before for name in s.best.activities}
    kept = [name for name in new.best.activities if name in told]
    about = [n for n in kept if any(near(w, own) >= SYNONYM for w in words for own in spoken[n])]
    return len(kept) < len(new.best.activities) and not about
