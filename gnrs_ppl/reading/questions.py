"""Questions and their answers, told as the statements they make together: "May couriers trade? No." bans it.

A question states nothing by itself. What it asks is taken into its answer where the answer is nothing without it;
else only when it asks is ("What must a cook do once it was cut?"), where it asks what somebody does or is marked as a
question. All others ("Arrived? Then check in") are left as they are, and so are requests ("could you please …?").
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gnrs_ppl.reading.anew import Part, Piece, made
from gnrs_ppl.reading.clauses import MODAL
from gnrs_ppl.reading.quantities import PLAIN_DURATION
from gnrs_ppl.reading.types import Span
from gnrs_ppl.reading.wording import AsWritten

_MARK = r"(?:\b(?:Q|A|Question|Answer)\s*\d*\s*[:.)]\s*)"
_QUESTION = re.compile(
    r"(?P<mark>\b(?:Q|Question)\s*\d*\s*[:.)]\s*)?(?P<before>(?:(?<=[:)]\s)[^.!?]+[.!]\s+)*)(?P<asks>[^.!?;:]+)\?"
)
"""With what is said before the question in its turn, where turns are marked."""
_ANSWER = re.compile(
    rf"\s*{_MARK}?(?P<answer>[^?]*?)(?=\s*(?:\b(?:Q|Question)\s*\d*\s*[:.)]|[^.!?]*\?|$))", re.DOTALL
)
_REQUEST = AsWritten(r"\b(?:please|kindly|(?:would|will|could|won.t) you)\b")
_MAY = AsWritten(
    r"(?P<lead>(?:(?:and|but|so|then|okay)\b,?\s*)*)(?P<modal>may|can|could|might|(?:is|are|am) (?=[^?]*\b(?:allowed|permitted)\b))",
)
_ASKER = re.compile(r"\s+(?:I|we|you|they|he|she)(?:, as (?:an? )?[\w -]+,)?(?= [a-z])")
_NO = AsWritten(
    r"(?:no|never|not|certainly not|absolutely not|by no means|under no circumstances)(?:\b(?: at all| ever)?)",
)
_YES = AsWritten(r"(?:yes|of course|certainly|sure)\b[,.]?\s*")
_LIMITS = AsWritten(r"\s*,?\s*(?:unless|until|before|without|except|if|while|as long as|provided)\b")
_WHO = AsWritten(r"(?:and |but |so )?who\s+(?=\w)")
_WHEN = AsWritten(
    rf"(?:and |but |so )?(?:(?:by |until )?when|how (?:soon|fast|quickly|long)|(?:within|in|by) what time|what is the deadline)\b[^?]*?(?=\b{MODAL}\b)",
)
_A_TIME = AsWritten(
    rf"(?:within|inside|no later than|not later than|at the latest|at most|no more than|in|after|{PLAIN_DURATION})\b",
)
_CIRCUMSTANCE = AsWritten(
    r"\b(?:when|whenever|once|after|before|if|as soon as|upon|until|unless)\b(?!\s*\?)(?P<rest>.+)",
)
_OF_WHOM = AsWritten(
    r"what (?:do|does|must|should|shall|are|is|has|have)\s+(?P<who>(?:(?:the|an?|our|all|every|each)\s+)?[\w-]+(?: (?:and|or|of(?: the)?) [\w-]+| [\w-]+)*?)"
    r"\s+(?:to (?:do|be)|do|need|expected|supposed|have to|got to)\b(?! to (?:find|see|read|look)\b)",
)
_PRONOUN = AsWritten(r"(?:they|it|he or she|he|she)\b")
_WHAT_PLACE = AsWritten(
    r"(?:and |but |so )?what\b[^?]*?\b(?:(?P<last>last|end|bottom|close|final|closing)|first|beginning|start|top|opening|initial)\b",
)
"""Asks what stands at the beginning or the end of a case."""
_NOTHING_MORE = AsWritten(
    r"\s*(?:,|–|—|-|\band\b)\s*(?:(?:and |with )?nothing\b[^.!?;]*|always|of course|what else)\s*$",
)
"""Behind the answer, says no more than it."""
_FEW = 5
"""So many words behind a plain no only stress it ("not a single one")."""


_SAYS_MORE = AsWritten(
    r"(?:you|they|he|she|we|nobody|no one) (?:do not|don.t|does not|doesn.t|never) (?!have|need)\w+ \w",
)
"""A ban of its own behind a plain no: "No, you don't go in there"."""


def told_by_answers(text: str) -> tuple[Piece, list[Span]] | None:
    """The text with statements in place of its questions and their answers, and the questions that only ask; None
    where it asks nothing.
    """
    if "?" not in text:
        return None
    parts, asked, at = list[Part](), list[Span](), 0
    for question in _QUESTION.finditer(text):
        if question.start() < at or _REQUEST.search(question["asks"]):
            continue
        found = _ANSWER.match(text, question.end())
        answer = Span(*found.span("answer")) if found else Span(question.end(), question.end())
        parts.append(Span(at, question.start()))
        together = list(_together(text, question, answer))
        answered = re.search(r"\w", text[answer.start : answer.end])
        if answered and not (together or question["mark"] or _OF_WHOM.search(question["asks"])):
            parts.append(Span(question.start(), question.end()))  # "Arrived? Then check in" says when
            at = question.end()
            continue
        parts += together or _circumstances(text, question, answer)
        asked += [] if together else [Span(*question.span("asks"))]
        at = answer.end if together or _pronoun(text, question, answer) else answer.start
    if at == 0:
        return None
    return made(text, [*parts, Span(at, len(text))], (Span(0, len(text)),)), asked


def _together(text: str, question: re.Match[str], answer: Span) -> Iterator[Part]:
    """What a question and its answer state together, where the answer only says yes or no, who, or by when."""
    asks, said = _trimmed(text, Span(*question.span("asks"))), text[answer.start : answer.end]
    mark = Span(asks.end, question.end())
    if (may := _MAY.match(text, asks.start, asks.end)) and (reply := _NO.match(said) or _YES.match(said)):
        rest = answer.start + reply.end()
        if before := _before(text, question):
            yield from (("When ", before), before, (", ", before))
        denied = _NO.match(said)
        asker = _ASKER.match(text, may.end("modal"), asks.end) if denied else None
        if asker:
            yield from (Span(*asker.span()), (" must never ", mark), Span(asker.end(), asks.end))
        else:
            yield from (("never ", mark) if denied else ("", mark), Span(may.end("lead"), asks.end))
        behind = re.compile(r"[^.!?;]*[.!?;]?").match(text, rest)
        end = behind.end() if behind else rest
        words = text[rest:end].strip(" ,.;!?—–-")
        if _LIMITS.match(text, rest):
            yield from ((" ", mark), Span(rest, answer.end))
        elif len(words.split()) <= _FEW and not _SAYS_MORE.match(words):
            yield from ((". ", mark), Span(end, answer.end))
        else:
            yield from (
                (". ", mark),
                Span(rest + len(text[rest:end]) - len(text[rest:end].lstrip(" ,.;!?—–-")), answer.end),
            )
        return
    first = re.match(r"[^.!?;]*", said)
    whole = Span(answer.start, answer.start + (first.end() if first else 0))
    told = text[whole.start : whole.end]
    modal = re.search(rf"\b{MODAL}\b", told, re.IGNORECASE)
    if not told.strip():
        return
    if who := _WHO.match(text, asks.start, asks.end):
        rest_of = Span(who.end(), asks.end)
        if modal is None and not re.search(rf"\b{MODAL}\b", text[rest_of.start : rest_of.end], re.IGNORECASE):
            yield from (whole, (" must ", mark), rest_of, Span(whole.end, answer.end))
        elif modal is None:
            yield from (whole, (" ", mark), rest_of, Span(whole.end, answer.end))
        elif modal.end() == len(told) or told[modal.end()] == ",":
            at = whole.start + modal.end()
            yield from (Span(whole.start, at), (" ", mark), rest_of, Span(at, answer.end))
    elif (place := _WHAT_PLACE.match(text, asks.start, asks.end)) and modal is None:
        more = _NOTHING_MORE.search(told)
        end = whole.start + (more.start() if more else len(told))
        which = "last" if place["last"] else "first"
        yield from (Span(whole.start, end), (f" must be the {which} entry of every case", mark))
        yield Span(whole.end, answer.end)
    elif (when := _WHEN.match(text, asks.start, asks.end)) and _A_TIME.match(told) and modal is None:
        yield from (Span(when.end(), asks.end), (", ", mark), Span(answer.start, answer.end))


def _circumstances(text: str, question: re.Match[str], answer: Span) -> list[Part]:
    """When what is asked for is due, as a question and what is said before it tell; and who is asked, where the answer
    says "they".
    """
    asks = Span(*question.span("asks"))
    parts = list[Part]()
    before = _before(text, question)
    if before:
        parts += [("When ", before), before, (", ", before)]
    elif question["mark"] is None and question["before"]:
        parts.append(Span(*question.span("before")))
    opener = _CIRCUMSTANCE.search(text, _trimmed(text, asks).start + 1, asks.end)
    if opener and not before:
        parts += [Span(*opener.span()), (", ", Span(asks.end, question.end()))]
    if who := _pronoun(text, question, answer):
        pronoun = _PRONOUN.match(text, answer.start, answer.end)
        end = pronoun.end() if pronoun else answer.start
        parts += [who, Span(end, answer.end)]
    return parts


def _pronoun(text: str, question: re.Match[str], answer: Span) -> Span | None:
    """Of whom a question asks what they do, where its answer takes them up."""
    of = _OF_WHOM.search(text, *question.span("asks"))
    taken_up = _PRONOUN.match(text, answer.start, answer.end)
    return Span(*of.span("who")) if of and taken_up else None


def _before(text: str, question: re.Match[str]) -> Span | None:
    """What is said before a question in its turn, without its full stop."""
    if not question["mark"] or not question["before"]:
        return None
    start, end = question.span("before")
    return Span(start, start + len(text[start:end].rstrip(" .!")))


def _trimmed(text: str, span: Span) -> Span:
    words = text[span.start : span.end]
    return Span(span.start + len(words) - len(words.lstrip()), span.end)
