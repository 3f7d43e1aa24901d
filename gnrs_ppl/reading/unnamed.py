"""Those of whom a sentence asks something, or whom it bars from something, and whom no role of the schema names: "the auditor
must approve it", "it must be approved by the audit committee".
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterable, Iterator

from gnrs_ppl.context.types import Schema
from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.clauses import SENTENCE_END
from gnrs_ppl.reading.reader import vocabulary
from gnrs_ppl.reading.types import Reading, Readings, Span
from gnrs_ppl.reading.vocabulary import tokens_of
from gnrs_ppl.reading.wording import Wording
from gnrs_ppl.reading.words import word

# fmt: off
ANYBODY = frozenset(
    """
    anybody anyone everybody everyone somebody someone nobody none person persons people staff employee
    employees worker workers colleague colleagues personnel individual individuals human we you they he
    she it i who one ones member members user users man woman party parties
    """.split()
)
"""Words for people that leave open who they are."""
BODIES = frozenset(
    """
    department team office desk unit division section committee board council commission panel court
    tribunal police bank authority agency ministry bureau management administration finance accounting
    accounts audit compliance legal security logistics company firm supplier vendor contractor
    """.split()
)
"""Words for a body of people that acts as one of them would."""
# fmt: on
_MODAL = r"(?:must|shall|should|may|can|cannot|can['’]t|mustn['’]t|ha(?:s|ve) to|needs? to|(?:is|are) (?:to|(?:not |never )?(?:allowed|permitted|required|obliged|supposed|expected) to|forbidden to))"
_ASKED = Wording(
    rf"\s+{_MODAL}\b(?!\s+(?:(?:not|never|only|also|always|ever|first|\w+ly)\s+)*(?:have\s+)?(?:be|been|get)\b)"
)
"""Between those of whom something is asked and what they are to do."""
_BY = re.compile(
    r"\bby\s+(?:(?:the|an?|any|our|their|another|one of (?:the|our))\s+)?(?:same\s+)?$", re.IGNORECASE
)


def asked_by_no_role(readings: Readings, reading: Reading | None = None) -> tuple[Span, ...]:
    """Where a sentence names those who are asked or barred and whom the schema does not name; with a reading, in its sentence.

    Parameters
    ----------
    readings : Readings
    reading : Reading, optional
        Only the sentence that tells its first act is looked at.
    """
    text = readings.sentence
    begins, ends = 0, len(text)
    if reading is not None:
        place = reading.targets[0].span.start
        begins = max((m.end() for m in SENTENCE_END.finditer(text, 0, place)), default=0)
        stop = SENTENCE_END.search(text, place)
        ends = stop.start() if stop else ends
    return tuple(s for s in _phrases(readings) if begins <= s.start < ends and _acts(text, s))


def _phrases(readings: Readings) -> Iterator[Span]:
    """Words that were not read and end with somebody: side by side they are one name."""
    text, run = readings.sentence, None
    for span in (*sorted(u.span for u in readings.unread), None):
        if run is not None and span is not None and not text[run.end : span.start].strip(" -"):
            run = Span(run.start, span.end)
            continue
        if run is not None and _somebody(text[run.start : run.end]):
            yield run
        run = span


def _somebody(words: str) -> bool:
    """Whether words end with a person or a body of people, and say which."""
    last = words.split()[-1].lower() if words.split() else ""
    single = last[:-1] if last.endswith("s") else last
    return last not in ANYBODY and (single in BODIES or last in BODIES or word(last).person)


def _acts(text: str, span: Span) -> bool:
    """Whether somebody is asked to do something, or said to be who must have done it."""
    asked = _ASKED.match(text, span.end) is not None
    return asked or bool(_BY.search(text[: span.start]) and patterns.MODAL_VERB.search(text, 0, span.start))


def roles_unread(readings: Readings, said: Iterable[Reading], schema: Schema) -> tuple[str, ...]:
    """Roles of the schema that the sentences of some readings name and that no part of these used: "sales, not the customer, must
    confirm it".
    """
    text, words, lost = readings.sentence, vocabulary(schema), {u.span.start for u in readings.unread}
    if not lost:
        return ()
    tokens = tokens_of(text)
    found = [n for _, n in words.name_in("roles", tokens, range(len(tokens)))]
    ends = [m.start() for m in SENTENCE_END.finditer(text)]
    here = {bisect(ends, a.span.start) for reading in said for a in reading.targets}
    unread = [n for n in found if n.span.start in lost and bisect(ends, n.span.start) in here]
    return tuple(dict.fromkeys(n.name for n in unread))
