"""What a text says of its evidence: which logs show that a rule was kept, and how many of them must.

A log is evidence by the words before it ("verified by", "evidence:") or behind it ("must show it", "is enough").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.logs import LogList, Logs
from gnrs_ppl.reading.types import EvidenceRead, Named, Span, Unread
from gnrs_ppl.reading.wording import AsWritten
from gnrs_ppl.rule.types import Operator

SEGMENT = re.compile(r"[.!?](?<!\b[A-Z].)(?<!\be\.g.)(?<!\bi\.e.)(?=\s|$)|;|\n\s*\n|\s[–—]\s")
"""What ends a sentence, or a part of one that may stand by itself."""
_SHOWN = (
    r"(?:verif(?:ied|iable)|evidenced|shown|prov(?:ed|en|able)|demonstrated|documented|confirmed|attested|established|"
    r"(?:cross-)?checked|recorded|logged|registered|traceable|visible|seen|backed|supported|substantiated|corroborated|witnessed|"
    r"entered|noted|found|kept|reflected|apparent|evident|on record|told|read off|read|taken|borne out)"
)
_BE = r"(?:(?:is|are|be|been|being|was|were|must|has|have|can|should|shall|will|needs?|to|also|then|all|both|always|clearly)\s+)*"
_BY = (
    r"(?:by|in|from|through|against|with|via|on|using|out of|by means of|on the basis of|on the strength of)\s+"
    r"(?:(?:an?|the|its|their)\s+)?(?:entr(?:y|ies)\s+(?:in|of|from)\s+|records?\s+(?:in|of)\s+)?"
)
_PROOF = r"(?:evidence|proof|verification|confirmation|documentation|audit trail|the source|what counts)"
_KEEPER = r"(?:(?:[\w-]+ ){0,2}[\w-]+['’]s? (?:own )?)?"
"""Whose log it is: the bank's."""
_BEFORE = AsWritten(
    r"(?P<lead>(?:^|[,(:]|\b(?:and|as|which|that|this|it)\b|\s))\s*(?:(?:and|as|which|that|this|it|all this|all of this)\s+)*(?:"
    rf"(?P<shown>(?P<be>{_BE}){_SHOWN}\s+(?P<by>{_BY}))"
    rf"|(?P<proof>(?:the |our |its |as |for )?{_PROOF}(?:\s+(?:of|for) (?:it|this|that|which))?\s*(?::|is|are|being|comes|must come|shall be|must be|lies|rests|serves)\s*(?:{_BY})?)"
    r"|(?P<basis>according to|based on|on the (?:basis|evidence|strength) of|as per|judged by|judging by|measured by|"
    r"going by|(?:we|auditors) go by|rel(?:y|ies|ying) on|by reference to|with reference to|as told by|\(?source:)\s*"
    rf"|(?P<checked>(?:we|auditors?|the auditors?|one|everybody)\s+(?:will |can |must )?(?:checks?|verif(?:y|ies)|confirms?|measures?|establish(?:es)?|sees?|reads?|tells?)\s+(?:it|this|that|the [\w-]+)\s+{_BY})"
    r"|(?P<appears>(?:must|has to|have to|should|shall|needs? to)\s+(?:appear|stand|show up|figure|turn up|be on record)\s+in\s+)"
    rf"|(?P<sought>\b(?:what|which|where)\b[^.;?]*?\b(?:find|see|read|look|expect|stand|appear)\b[^.;?]{{0,30}}?\s+(?:in|on|from)\s+)"
    rf")(?:(?:the|our|its|their|an?)\s+)?(?:entr(?:y|ies) (?:in|of)\s+)?{_KEEPER}$",
)
"""Before logs that are evidence."""
_MUST = r"(?:must|has to|have to|should|shall|needs? to|ought to|(?:is|are) (?:required|supposed|expected|obliged|bound|meant|needed)? ?to)"
_SHOW = (
    r"(?:shows?|records?|contains?|confirms?|proves?|attests?|evidences?|documents?|holds?|agrees?|verif(?:y|ies)|demonstrates?|"
    r"establish(?:es)?|says? so|reflects?|tells?|lists?|bears? (?:it|this) out|has|have)"
)
_KEPT = r"(?:,?\s*(?:which is |that is )?(?:kept|maintained|held|run|written) by [^,.;]{2,40}?,?)?"
_BEHIND = AsWritten(
    rf"{_KEPT}\s*(?:{_MUST}|will|can|does|do)?\s*(?:(?:both|all|each|also|then|together|clearly|alone|itself|themselves)\s+)*"
    rf"{_SHOW}\b(?:\s+(?!(?:within|in|no|before|after|unless|if|when|until|by)\b)[\w'-]+){{0,6}}",
)
"""Behind logs that are evidence, where they are what the clause is about."""
_SHOWS_THAT = AsWritten(
    rf"\s*{_MUST}\s+(?:\w+ ){{0,2}}?(?:show|record|confirm|prove|attest|document|demonstrate|evidence|establish|verify|contain)\s+that\s+\w",
)
"""Behind a log that is to show what the rest of the sentence tells."""
_COUNTS = AsWritten(
    rf"{_KEPT}\s*(?:(?:is|are|be|must be|serves?|counts?|will do|shall do|do|does|suffices?|decides?)\b\s*)(?:as )?(?:the |our |an? )?(?:only )?"
    rf"(?:{_PROOF}|enough|sufficient|what counts|decisive|authoritative)?\s*(?:as (?:evidence|proof)|of (?:it|this|that))?\s*$",
)
_ALONE = AsWritten(
    r"\s*(?:,\s*)?(?P<alone>alone|by itself|on its own|by themselves|on their own)?,?(?: (?:says|shows|tells|holds))?\s*(?:(?:is|are|does|do|will|shall|must|can)\s*(?:not|n't|never)|(?:is|are) hardly|cannot|won't|doesn't)\s*"
    r"(?:be\s+)?(?:by itself |alone |on its own |good )?(?:enough|suffic\w+|do\b|count|prove\w*|satisf\w+|the evidence|evidence|proof)[^.;:,]*"
    r"|\s*(?P<insufficient>alone|by itself)\s+(?:is|are) (?:insufficient|inadequate|no proof|no evidence)[^.;:,]*",
)
_OPENS_WITH = AsWritten(r"\s*for\s+(?:the|each|every|an?)\s+(?P<what>[^,;.]{3,80}),\s*(?:the\s+)?$")
_ABOUT = re.compile(
    rf"(?:^|.*(?:,|:|\b(?:and|as|which|that|where|but|if|when)\b))\s*(?:(?:the|our|an?|its)\s+)?{_KEEPER}$",
    re.IGNORECASE | re.DOTALL,
)
"""Before what a clause is about."""


class _Phrase(NamedTuple):
    """Words that say what shows it, and the logs they name."""

    span: Span
    logs: LogList
    insufficient: bool = False
    opener: bool = False


def evidence_of(text: str, logs: Logs, taken: Sequence[Span] = ()) -> EvidenceRead | None:
    """What a text says of the logs that show it; None where it says nothing.

    Parameters
    ----------
    text : str
    logs : Logs
        The channels that are kept.
    taken : sequence of Span
        Parts of the text that say something else, as what follows a breach.
    """
    phrases = list(_phrases(text, logs, taken))
    if not phrases:
        return None
    shows = [p for p in phrases if not p.insufficient and not p.opener]
    channels = {n.name: n for p in shows for n in p.logs.channels}
    stated: list[Operator] = [p.logs.operator for p in shows if p.logs.operator]
    operator: Operator | None = stated[0] if stated else "all" if len(channels) > 1 else None
    k = next((p.logs.k for p in shows if p.logs.k), None)
    if operator == "at_least" and k == len(channels):
        operator, k = "all", None
    unkept: list[Unread] = [u for p in phrases for u in p.logs.unkept]
    return EvidenceRead(
        tuple(p.span for p in phrases),
        tuple(channels.values()),
        operator if len(channels) != 1 else None,
        k if len(channels) != 1 else None,
        tuple(n for p in phrases if p.insufficient for n in p.logs.channels),
        next((n for p in phrases if p.opener for n in p.logs.channels), None),
        tuple(unkept),
        "; ".join(f"'{' '.join(text[slice(*p.span)].split())}'" for p in phrases),
    )


@lru_cache(maxsize=64)
def segments(text: str) -> tuple[tuple[int, int], ...]:
    """Start and end of every part of a text between full stops and semicolons."""
    at, found = 0, list[tuple[int, int]]()
    for end in [*(m.end() for m in SEGMENT.finditer(text)), len(text)]:
        if any(c.isalnum() for c in text[at:end]):
            found.append((at, end))
        at = end
    return tuple(found)


def _phrases(text: str, logs: Logs, taken: Sequence[Span]) -> Iterator[_Phrase]:
    parts = [(a, b) for a, b in segments(text) if not any(s.start < b and a < s.end for s in taken)]
    free = [(a, b) for a, b in _without(segments(text), taken)]
    proof = -1
    for start, end in free:
        for found in logs.lists(text[start:end]):
            moved = _moved(found, start)
            before, behind = text[start : moved.span.start], text[moved.span.end : end]
            if proof == _sentence(text, start) and (m := _OPENS_WITH.match(before)):
                yield _Phrase(Span(start, end), moved, opener=bool(m["what"]))
            elif alone := _ALONE.match(behind):
                yield _Phrase(
                    Span(_clause(before, start), moved.span.end + alone.end()), moved, insufficient=True
                )
            elif m := _BEFORE.search(before):
                proof = _sentence(text, start)
                yield _Phrase(Span(_from(m, text, start, parts), _until(text, moved.span.end, end)), moved)
            elif (
                _ABOUT.fullmatch(before)
                and _SHOWS_THAT.match(behind)
                and not any(patterns.DUTY.search(text, a, b) for a, b in parts if a != start)
            ):
                yield _Phrase(Span(_clause(before, start), moved.span.end), moved)
            elif _ABOUT.fullmatch(before) and (
                m := _BEHIND.match(behind) or _COUNTS.match(behind.rstrip(" .!?;"))
            ):
                yield _Phrase(Span(_clause(before, start), moved.span.end + m.end()), moved)


def _without(parts: Sequence[tuple[int, int]], taken: Sequence[Span]) -> Iterator[tuple[int, int]]:
    """What is left of the parts of a text that nothing else has taken."""
    for start, end in parts:
        at = start
        for span in sorted(taken):
            if span.start < end and at < span.end:
                if span.start > at:
                    yield at, span.start
                at = max(at, span.end)
        if at < end:
            yield at, end


def _moved(found: LogList, by: int) -> LogList:
    def span(s: Span) -> Span:
        return Span(s.start + by, s.end + by)

    def named(n: Named | None) -> Named | None:
        return n and n._replace(span=span(n.span))

    mentions = tuple(m._replace(span=span(m.span), named=named(m.named)) for m in found.mentions)
    return found._replace(span=span(found.span), mentions=mentions)


def _sentence(text: str, place: int) -> int:
    """The full stop before a place."""
    return max((m.end() for m in SEGMENT.finditer(text, 0, place) if m[0] != ";"), default=0)


def _from(m: re.Match[str], text: str, start: int, parts: Sequence[tuple[int, int]]) -> int:
    """Where the words begin that say what shows it: the whole clause where it binds nobody by itself and something
    else does, else the words that lead to the log.
    """
    at = start + m.start()
    clause = text[start:at]
    binds = patterns.DUTY.search(clause) or patterns.NEGATIVE.search(clause)
    elsewhere = any(
        (patterns.DUTY.search(text, a, b) or patterns.NEGATIVE.search(text, a, b))
        and not _ALONE.search(text, a, b)
        for a, b in parts
        if a != start
    )
    if (
        not binds
        and elsewhere
        and (m["shown"] or m["proof"] or m["checked"] or m["appears"])
        and "," not in clause
    ):
        return start
    if m["shown"] and m["be"] and not binds and not elsewhere:
        return start + m.start("by")  # "the approval must be recorded in the ERP log" is a duty all the same
    return at


def _until(text: str, at: int, end: int) -> int:
    """The end of words that lead to a log, with who keeps it and that nothing else does."""
    tail = re.match(
        r"\s*(?:,?\s*(?:and|but) (?:nothing|no other)[^,.;]*|(?:kept|held|run) by [^,.;]{2,40})", text[at:end]
    )
    return at + tail.end() if tail else at


def _clause(before: str, start: int) -> int:
    """Where a clause begins that a log is what it is about."""
    joint = max(
        (
            m.start()
            for m in re.finditer(
                r",|:|\b(?:and|as|which|that|but|(?:but |and )?only (?:if|when)|if|when)\s+(?=\S*\s*$)",
                before,
            )
        ),
        default=-1,
    )
    return start + (joint if joint > 0 else 0)
