"""The words around what a condition compares: what opens it, which attribute it names, whether it has a verb."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from pydantic import ValidationError

from gnrs_ppl.context.types import Attribute
from gnrs_ppl.reading.attributes import Attributes
from gnrs_ppl.reading.clauses import MODAL
from gnrs_ppl.reading.types import DataRead, Named, Span, Unheld
from gnrs_ppl.reading.vocabulary import Vocabulary, tokens_of
from gnrs_ppl.reading.wording import AsWritten
from gnrs_ppl.rule.types import Condition, Test

Where = Literal["clause", "exception", "beside"]
"""A clause of its own ("if the amount is above 5,000"), an exception ("unless …"), or beside a noun or a verb."""
_AN_ACT = 0.7
"""Words that fit an act at least this well tell it."""
_SUPPOSE = r"(?:for\s+)?(?:(?:all\s+)?(?:those\s+)?(?:cases?|files?|ones)\s+(?:where|in\s+which|whose|for\s+which)|in\s+case|provided(?:\s+that)?|as\s+long\s+as|so\s+long\s+as|whenever|wherever|if|when|where|once)"
_OPENS = AsWritten(
    rf"\b(?:(?P<unless>unless|except\s+(?:if|when|where)|save\s+where)|(?P<clause>(?:(?:but\s+)?only\s+)?{_SUPPOSE})"
    r"|(?P<whose>whose|with|having|of\s+which|for\s+which|in\s+which|that\s+(?:has|have)|which\s+(?:has|have))|(?P<that>that|which|who))"
    r"\s+(?=(?:[\w'’()-]+\s+)*$)",
)
"""What may open the words of a condition."""
_TRAILING = re.compile(r"\s*,")
_ARTICLE = AsWritten(r"(?:\b(?:an?|the|its|their|his|her|of|in|on|for|at|with|any|some|total)\s+)+$")
_NEGATED: dict[Test, Test] = {
    "equal": "not_equal", "not_equal": "equal", "less": "at_least", "at_least": "less",
    "more": "at_most", "at_most": "more",
}  # fmt: skip


class Found(NamedTuple):
    """A condition in words: ``cut`` are those taken out before the duties are read."""

    data: DataRead
    cut: Span
    where: Where


class Frame(NamedTuple):
    """The words around the core of a condition: where it begins with all of them, where with what opens it."""

    where: Where
    cut: Span
    named: tuple[Attribute, Named] | None
    whole: str
    """The words between what opens it and its core."""


def _of_one_ban(one: Found, other: Found) -> bool:
    """Whether two conditions say of the same attribute what it is not: neither X nor Y."""
    return all(c.test == "not_equal" for c in (one.data.condition, other.data.condition)) and (
        one.data.condition.attribute == other.data.condition.attribute
    )


class Framed:
    """One text, and the conditions found in it so far."""

    def __init__(self, text: str, attributes: Attributes, words: Vocabulary) -> None:
        self.text, self.attributes, self.words = text, attributes, words
        self.found: list[Found] = []
        self.unheld: list[Unheld] = []

    def keep(self, found: Found) -> None:
        """Keep a condition whose words no other takes, but for further values that the same attribute must not have."""
        taking = [f for f in self.found if found.cut.start < f.cut.end and f.cut.start < found.cut.end]
        if all(f.cut == found.cut and _of_one_ban(f, found) for f in taking):
            self.found.append(found)

    def _clause_start(self, at: int) -> int:
        """Where the words before a place begin that belong to it: behind punctuation or a verb that binds."""
        stops = [
            m.end()
            for m in re.finditer(
                rf"[.,;:!?(](?=\s)|\b(?:{MODAL}|must|shall)\b", self.text[:at], re.IGNORECASE
            )
        ]
        return max(stops, default=0)

    def _frame(self, start: int, end: int, kinds: Sequence[str], finite: bool) -> Frame:
        """What stands around a core; ``finite`` where a verb of its own says what it compares."""
        begin = self._clause_start(start)
        before = self.text[begin:start]
        opened = list(_OPENS.finditer(before))
        opener = opened[-1] if opened else None
        inside = begin + opener.end() if opener else begin
        named = next(iter(self.attributes.named_in(self.text, inside, start, kinds)), None)
        own = begin + opener.start() if opener else start
        if opener is None:
            if named and self._just_before(named[1].span.end, start):
                article = _ARTICLE.search(self.text, begin, named[1].span.start)
                own = article.start() if article else named[1].span.start
            return Frame("beside", Span(own, end), named, before)
        whole = self.text[inside:start]
        if opener["whose"]:
            own = own if named else start
            return Frame("beside", Span(own, end), named, whole)
        if opener["that"]:
            return Frame("beside", Span(own if finite and not whole.strip() else start, end), named, whole)
        clause: Where = "exception" if opener["unless"] else "clause"
        if not finite or (named is None and self._tells_act(inside, start)):
            return Frame("beside" if clause == "clause" else clause, Span(start, end), named, whole)
        comma = _TRAILING.match(self.text, end)
        lead = _TRAILING.search(self.text[:own].rstrip()[-1:]) if not comma else None
        own = len(self.text[:own].rstrip()) - 1 if lead else own
        return Frame(clause, Span(own, comma.end() if comma else end), named, whole)

    def _just_before(self, end: int, start: int) -> bool:
        return not self.text[end:start].strip()

    def _tells_act(self, start: int, end: int) -> bool:
        tokens = tokens_of(self.text)
        at = [i for i, t in enumerate(tokens) if start <= t.start < end]
        best = next(iter(self.words.match_acts(tokens, at)), None)
        return best is not None and best.head and best.score >= _AN_ACT

    def _made(
        self, frame: Frame, named: tuple[Attribute, Named], start: int, test: Test, **told: Any
    ) -> Iterator[Found]:
        """The condition, negated where an exception states it; told as not held where it cannot be."""
        attribute, words = named
        first = frame.cut.start if frame.where == "beside" else min(frame.cut.start, start)
        passage = self.text[first : frame.cut.end]
        span = Span(first + len(passage) - len(passage.lstrip(" ,")), first + len(passage.rstrip(" ,")))
        negated = frame.where == "exception"
        if negated and test not in _NEGATED:
            self.unheld.append(
                Unheld(span, f"no condition says that {attribute.name!r} is not {test.replace('_', ' ')}")
            )
            return
        try:
            condition = Condition(attribute=attribute.name, test=_NEGATED[test] if negated else test, **told)
        except ValidationError as error:
            why = error.errors()[0]["msg"].removeprefix("Value error, ")
            self.unheld.append(Unheld(span, f"no condition says that: {why}"))
            return
        yield Found(DataRead(condition, span, words), frame.cut, frame.where)
