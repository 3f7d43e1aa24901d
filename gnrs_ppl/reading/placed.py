"""What each condition on data is stated of: the case, or an act of the statement beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gnrs_ppl.context.types import Attribute
from gnrs_ppl.reading.clauses import SENTENCE_END
from gnrs_ppl.reading.data import Found
from gnrs_ppl.reading.types import ActRead, DataOf, DataRead, Reading, Readings, Span, Statement
from gnrs_ppl.reading.wording import AsWritten
from gnrs_ppl.rule.types import NEGATIVE

_HOW_MUCH = AsWritten(
    r"(?:at (?:the )?(?:very )?(?:least|most)|(?:no|not) (?:more|less) than|exactly|up to|an? (?:minimum|maximum) of)\b",
)
"""Behind a verb: how much of it is asked, and not of which things."""
_FEW_WORDS = 5
"""So many words beside a condition on data only say of what it is."""
_APART = 40
"""So many characters further away is what stands behind a comma."""


def placed(
    readings: Readings,
    found: Sequence[Found],
    attributes: Sequence[Attribute],
    within: Sequence[Span] = (),
) -> Readings:
    """The readings with each condition at the statements of its sentence, or of all of it that stand ``within`` some
    passages.
    """
    if not found:
        return readings
    of = {a.name: a.of for a in attributes}
    ends = [m.end() for m in SENTENCE_END.finditer(readings.sentence)]

    def number(place: int) -> int:
        return sum(end <= place for end in ends)

    def completed(statement: Statement) -> Statement:
        here = number(statement.best.targets[0].span.start)
        own = [f for f in found if number(f.data.span.start) == here and not within]
        own += [f for f in found if any(w.start <= f.data.span.start < w.end for w in within)]
        return replace(
            statement,
            readings=tuple(_with(reading, own, of, readings.sentence) for reading in statement.readings),
        )

    return replace(
        readings,
        statements=tuple(map(completed, readings.statements)),
        otherwise=tuple(map(completed, readings.otherwise)),
    )


def _with(reading: Reading, found: Sequence[Found], of: Mapping[str, str], text: str) -> Reading:
    told = tuple(replace(f.data, of=_of(reading, f, of, text)) for f in found)
    if not told:
        return reading
    condition = None if _only_of_data(reading.condition, told, text) else reading.condition
    return replace(reading, data=told, condition=condition, used=(*reading.used, *(d.span for d in told)))


def _only_of_data(condition: Span | None, told: Sequence[DataRead], text: str) -> bool:
    """Whether a clause on circumstances says nothing beside conditions on data: "where a fine carries" more than 0 points."""
    within = [d.span for d in told if condition and condition.start <= d.span.start < condition.end]
    if condition is None or not within:
        return False
    rest = text[condition.start : within[0].start] + text[within[-1].end : condition.end]
    return len(re.findall(r"[A-Za-z]+", rest)) <= _FEW_WORDS


def _of(reading: Reading, found: Found, of: Mapping[str, str], text: str) -> DataOf:
    """What a condition is stated of."""
    data = found.data
    if data.condition.other is not None:
        return "act"
    if of[data.condition.attribute] == "case":
        return "case"
    if found.where != "beside":
        return "opener"
    nearest = _nearest(reading, data, text)
    if nearest != "act" or reading.template in NEGATIVE:
        return nearest
    behind = any(act.span.end <= data.span.start for act in reading.targets)
    return "act" if behind and _HOW_MUCH.match(text, data.span.start) else "opener"


def _nearest(reading: Reading, data: DataRead, text: str) -> DataOf:
    acts: list[tuple[DataOf, ActRead | None]] = [("act", act) for act in reading.targets]
    acts += [("opener", reading.activation), ("exception", reading.exception)]
    return min((_distance(act.span, data.span, text), which) for which, act in acts if act is not None)[1]


def _distance(one: Span, other: Span, text: str) -> int:
    first, second = sorted((one, other))
    between = text[first.end : second.start]
    return len(between) + _APART * between.count(",")
