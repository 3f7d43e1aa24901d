"""What a text that the renderer did not write states, and a place in it while it is read.

Reading is closed: every word has to be part of a phrase that is known, in a place where it is known, and at
any other word the reading fails. A phrase has one meaning; what could be meant in two ways is not read. So a
text that is read says what was read and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import Kind
from gnrs_ppl.realize.guard.mentions import Mark, MarkedText
from gnrs_ppl.realize.phrases import Relation
from gnrs_ppl.rule.types import Act, Correlation, Force, Operator, Step

Names = tuple[str, ...]

THE = r"(?:the |an? |this |that )?"
NOUN = r"(A\d+[nxg])"
RECORDED = r"(?:recorded|logged|registered|noted|shown|entered|documented|captured)"
PERSON = (
    r"(?:they|he or she|she or he|(?:the|that|this|the same) person(?: concerned)?|the (?:one|person) "
    r"in question)"
)
ANYONE = (
    r"(?:anyone|anybody|someone|somebody|everyone|everybody|whoever|(?:a|any|every|each) person|people|those)"
)


class Unread(ValueError):
    """Words that no phrase known here fits; ``args[0]`` is the marked text from there on."""


class Anchor(NamedTuple):
    """A second activation."""

    act: Act
    channel: str | None


class Time(NamedTuple):
    """Where an act is looked for.

    Attributes
    ----------
    relation : Relation
        Seen from the activation.
    length : Duration or "period" or "case" or None
        How far; a period told elsewhere, the end of the case, or nothing said.
    anchor : Anchor or None
        The second activation; None for the opening act.
    firm : bool
        A deadline, and not a period that is only spoken of.
    lasting : bool
        A period through which something holds, which sets no deadline to a duty.
    pronoun : str
        The word that stood for the activation.
    """

    relation: Relation = "after"
    length: Duration | Literal["period", "case"] | None = None
    anchor: Anchor | None = None
    firm: bool = True
    lasting: bool = False
    pronoun: str = ""


@dataclass
class StatedClause:
    """One act with its modal.

    Attributes
    ----------
    bearer : names, "person" or "act"
        Roles (none of them: anyone at all), a pronoun, or nobody named.
    group : int
        Clauses of one group share the modal.
    universal : bool
        Every such person, and not some such person.
    identified : bool
        Whether it is the person who did the opening act; where nobody is named, whether it was said before
        whose act that is.
    denied : bool
        Said of nobody: ``no courier may arrive``.
    times, front : tuple of Time
        Its own, and those that stand in front of it for several clauses.
    """

    bearer: Names | Literal["person", "act"]
    force: Force
    positive: bool
    act: Act
    group: int
    universal: bool = False
    identified: bool = False
    denied: bool = False
    counted: tuple[str, int] | None = None
    times: tuple[Time, ...] = ()
    front: tuple[Time, ...] = ()
    correlate: Correlation | None = None
    unless: Act | None = None


@dataclass
class StatedRule:
    """What a text states, each list in the order of the text; lists of names stand as they were listed there.

    ``anyone`` tells that anybody's act opens an instance, ``unfiltered`` of which kinds the scope filters
    nothing, ``unused`` that no time depends on the period; ``front`` and ``pending`` (an opening act that
    waits for its duty) belong to the sentence that is being read.
    """

    scope_roles: list[Names] = field(default_factory=list)
    trigger_roles: list[Names] = field(default_factory=list)
    locations: list[Names] = field(default_factory=list)
    objects: list[Names] = field(default_factory=list)
    concerns: list[Names] = field(default_factory=list)
    unfiltered: list[Kind] = field(default_factory=list)
    trigger: list[str] = field(default_factory=list)
    logs: list[str] = field(default_factory=list)
    once: list[Literal["first", "each"]] = field(default_factory=list)
    per: list[Literal["person", "case", "case alone"]] = field(default_factory=list)
    anyone: list[bool] = field(default_factory=list)
    personal: list[bool] = field(default_factory=list)
    case_start: list[bool] = field(default_factory=list)
    windows: list[Duration] = field(default_factory=list)
    unused: list[bool] = field(default_factory=list)
    front: list[Time] = field(default_factory=list)
    pending: list[bool] = field(default_factory=list)
    clauses: list[StatedClause] = field(default_factory=list)
    evidence: list[Names] = field(default_factory=list)
    operators: list[tuple[Operator, int | None]] = field(default_factory=list)
    evidence_forces: list[Force] = field(default_factory=list)
    evidence_acts: list[str] = field(default_factory=list)
    correlations: list[Correlation] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    response_times: list[Duration] = field(default_factory=list)
    openings: list[Literal["violation", "question"]] = field(default_factory=list)

    def lengths(self) -> list[int]:
        """How much was read so far."""
        return [len(value) for value in vars(self).values()]

    def cut(self, lengths: list[int]) -> None:
        """Forget what was read since."""
        for value, length in zip(vars(self).values(), lengths, strict=True):
            del value[length:]


class Cursor:
    """A marked text, a place in it, and what was read."""

    def __init__(self, marked: MarkedText, said: StatedRule) -> None:
        self.marked, self.said = marked, said
        self.text, self.at = "", 0

    def take(self, pattern: str) -> re.Match[str] | None:
        """Move past a pattern if it stands here."""
        found = _compiled(pattern).match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def attempt(self, read: Callable[[], bool]) -> bool:
        """Whether ``read`` succeeds; nothing is read where it does not."""
        at, before = self.at, self.said.lengths()
        if read():
            return True
        self.at = at
        self.said.cut(before)
        return False

    def mark(self, key: str) -> Mark:
        """What a mark stands for; its inflection is left out."""
        return self.marked.names[re.sub(r"[a-z]$", "", key)]

    def names(self, key: str) -> Names:
        """The names a mark stands for."""
        return self.mark(key).names

    def name(self, key: str) -> str:
        """The name of a mark that is no list."""
        (name,) = self.names(key)
        return name

    def single(self, key: str) -> str | None:
        """The name a mark stands for, None where it is a list."""
        names = self.names(key)
        return names[0] if len(names) == 1 else None


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{pattern}) ")
