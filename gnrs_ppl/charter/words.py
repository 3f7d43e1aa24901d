"""What cases of two rules are made of: the deeds that a rule tells apart, people, and lengths of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

from gnrs_ppl.charter.reach import Reach
from gnrs_ppl.charter.values import met, of_cases, of_events
from gnrs_ppl.context.time import Duration
from gnrs_ppl.rule.types import (
    COUNTING,
    HALVES,
    KEY_OF,
    MUTUAL,
    NEIGHBOURS,
    Act,
    Structure,
)
from gnrs_ppl.rulebook.imagined import Cells, Imagined
from gnrs_ppl.rulebook.vocabulary import Kind, Vocabulary, vocabulary

FEW = 3
"""Up to so many acts that a rule counts are events of their own."""


class Deed(NamedTuple):
    """Something done, and the logs that record it."""

    activity: str
    channels: tuple[str, ...]
    role: str | None = None
    object: str | None = None
    location: str | None = None
    cells: Cells = ()
    times: int = 1
    """How many such acts it is, at one instant."""

    def found(self, act: Act | None, channels: Sequence[str]) -> tuple[str, ...]:
        """The logs, of some, that show this deed to be an act."""
        if act is None or not any(self._is(pattern) for pattern in act.patterns):
            return ()
        return tuple(channel for channel in self.channels if channel in channels)

    def _is(self, pattern: Act) -> bool:
        fields = ("role", "object", "location")
        return (
            self.activity == pattern.activity
            and all(getattr(pattern, field) in (None, getattr(self, field)) for field in fields)
            and all(met(condition, self.cells) for condition in pattern.where)
        )

    def within(self, structure: Structure) -> bool:
        """Whether the scope of a rule takes this deed for its trigger (SEMANTICS line 6)."""
        scope = structure.scope
        roles = scope.roles if structure.norm.bearer == "trigger" else ()
        return all(
            value in named
            for value, named in (
                (self.role, roles),
                (self.object, scope.objects),
                (self.location, scope.locations),
            )
            if named
        )


@dataclass(frozen=True)
class Words:
    """What cases of some rules are made of.

    Attributes
    ----------
    structures : tuple of Structure
    imagined : Imagined
        Complete records.
    vocabulary : Vocabulary
        Kinds of rows, people and durations that make a difference to one of the rules.
    """

    structures: tuple[Structure, ...]
    imagined: Imagined
    vocabulary: Vocabulary

    @classmethod
    def of(cls, structures: Sequence[Structure], imagined: Imagined) -> Words:
        """What the rules look at."""
        unquiet = Imagined(imagined.records.model_copy(update={"quiet_after": None}))
        cells = of_events(structures, imagined.records.attributes)
        return cls(tuple(structures), imagined, vocabulary(structures, unquiet, cells))

    @cached_property
    def of_case(self) -> tuple[Cells, ...]:
        """What may be recorded of a case."""
        return of_cases(self.structures, self.imagined.records.attributes)

    @cached_property
    def reach(self) -> Reach:
        """How far its durations reach."""
        return Reach(self.imagined.records, self.vocabulary.durations, self.imagined.moment)

    @cached_property
    def deeds(self) -> tuple[Deed, ...]:
        """Each is recorded in every log that can record it; in each of them alone too, where the rules do
        not ask the same logs for it. Of deeds that all rules see alike there is one. An act that a rule
        counts beyond a few is also done many times at once (:meth:`_many`).
        """
        channels: dict[tuple[Any, ...], list[str]] = {}
        for kind in self.vocabulary.kinds:
            channels.setdefault(_fields(kind), []).append(kind.channel)
        found: dict[object, Deed] = {}
        for (activity, *fields), logs in channels.items():
            apart = len(logs) > 1 and self._asked_apart(str(activity))
            for some in [tuple(logs), *((log,) for log in logs if apart)]:
                deed = Deed(str(activity), some, *fields)
                if seen := self._seen_as(deed):
                    found.setdefault(seen, deed)
        return tuple(deed._replace(times=n) for deed in found.values() for n in (1, *self._many(deed)))

    def _many(self, deed: Deed) -> list[int]:
        """How many times at once an act is done that a rule counts beyond a few: as often as makes a
        difference to a count, one time fewer, and as often as one count exceeds another.
        """
        counted = [
            (c.count, c.template)
            for structure in self.structures
            for c in structure.norm.constraints
            if c.template in COUNTING and deed.found(structure.norm.target(c), structure.evidence.channels)
        ]
        if max((n for n, _ in counted), default=0) <= FEW:
            return []
        enough = {n for n, _ in counted} | {n + 1 for n, template in counted if template == "exactly"}
        apart = {n - other for n in enough for other in enough}
        return sorted(n for n in enough | {n - 1 for n in enough} | apart if n > 1)

    def _seen_as(self, deed: Deed) -> tuple[object, ...] | None:
        """What the rules see of a deed; None where they see nothing."""
        seen = [part for structure in self.structures for part in self._places(structure, deed)]
        records = self.imagined.records
        closing = deed.activity in records.case_end, deed.activity in records.case_start
        beside = any(map(_beside, self.structures))
        by_start = any(s.trigger.act is None for s in self.structures)
        if not (any(seen) or any(closing) or beside or by_start):
            return None
        keyed = any(
            s.norm.correlation(c) == "same_object" for s in self.structures for c in s.norm.constraints
        )
        return *seen, *closing, deed[:2] if beside else None, deed.object if keyed else None

    @staticmethod
    def _places(structure: Structure, deed: Deed) -> list[tuple[str, ...]]:
        """The logs in which each place of a rule finds a deed."""
        trigger, policy, norm = structure.trigger, structure.evidence.channels, structure.norm
        opening = deed.found(trigger.act, (trigger.channel or "",))
        found = [opening if deed.within(structure) else (), opening if _beside(structure) else ()]
        for constraint in norm.constraints:
            after = constraint.after
            found += [
                deed.found(norm.target(constraint), policy),
                deed.found(constraint.unless, policy),
                deed.found(after.act, (after.channel,)) if after else (),
            ]
        return found

    def _asked_apart(self, activity: str) -> bool:
        asked = set()
        for structure in self.structures:
            policy = structure.evidence
            for constraint in structure.norm.constraints:
                for act in (constraint.target, constraint.unless):
                    if act is not None and activity in act.activities:
                        logs = frozenset(self.imagined.recorders(activity, policy.channels))
                        asked.add((logs, policy.needed(len(logs))))
                        if constraint.template in COUNTING and len(logs) > 1:
                            return True
                if constraint.after is not None and activity in constraint.after.act.activities:
                    asked.add((frozenset((constraint.after.channel,)), 1))
            opener = structure.trigger
            if opener.act is not None and opener.channel is not None and activity in opener.act.activities:
                asked.add((frozenset((opener.channel,)), 1))
        return len(asked) > 1

    def numbers(self, *acts: Act | None) -> frozenset[int]:
        """The deeds that are one of some acts."""
        return frozenset(
            i for i, deed in enumerate(self.deeds) if any(deed.found(act, deed.channels) for act in acts)
        )

    def openers(self, structure: Structure) -> frozenset[int]:
        """The deeds that may call a rule up; all where the start of a case does."""
        if structure.trigger.act is None:
            return frozenset(range(len(self.deeds)))
        mutual = (structure.norm.target(c) for c in structure.norm.constraints if c.template in MUTUAL)
        opening = self.numbers(structure.trigger.act)
        return frozenset(i for i in opening if self.deeds[i].within(structure)) | self.numbers(*mutual)

    @cached_property
    def personal(self) -> frozenset[int]:
        """The deeds of which it matters who did them."""
        rules = [structure for structure in self.structures if _personal(structure)]
        return frozenset(
            i for i, deed in enumerate(self.deeds) if any(any(self._places(rule, deed)) for rule in rules)
        )

    @cached_property
    def _related(self) -> list[tuple[frozenset[int] | None, frozenset[int], Duration]]:
        """Durations that count from some deeds (None: from the first of a case) to others, or back."""
        found = []
        for structure in self.structures:
            trigger = structure.trigger
            opened = self.numbers(trigger.act) if trigger.act else None
            for constraint in structure.norm.constraints:
                after = constraint.after.act if constraint.after else None
                sought = self.numbers(structure.norm.target(constraint), constraint.unless, after)
                if trigger.window is not None:
                    found.append((opened, sought, trigger.window))
                if constraint.deadline is not None:
                    found.append((self.numbers(after) if after else opened, sought, constraint.deadline))
                within = self.imagined.records.match_within
                if within is not None and structure.evidence.operator != "any":
                    found.append((sought, sought, within))
        return found

    @cached_property
    def between(self) -> dict[tuple[int, int, bool], tuple[Duration, ...]]:
        """Two deeds, and whether the one begins the case -> durations for which it matters how far they lie
        apart.
        """
        numbers = range(len(self.deeds))
        return {
            (one, other, first): tuple(
                dict.fromkeys(
                    duration
                    for opened, sought, duration in self._related
                    if (other in sought and (first if opened is None else one in opened))
                    or (one in sought and opened is not None and other in opened)
                )
            )
            for one, other, first in product(numbers, numbers, (True, False))
        }


def _fields(kind: Kind) -> tuple[Any, ...]:
    return kind.activity, kind.role, kind.object, kind.location, kind.cells


def _beside(structure: Structure) -> bool:
    """Whether a rule looks at any event of a case, or at the trigger's act outside its scope."""
    halves = (h for c in structure.norm.constraints for h in HALVES.get(c.template, (c.template,)))
    return any(half in NEIGHBOURS for half in halves) or any(
        c.template in MUTUAL for c in structure.norm.constraints
    )


def _personal(structure: Structure) -> bool:
    """Whether it matters who acts."""
    norm = structure.norm
    first = structure.trigger.once == "first" and norm.bearer == "trigger"
    return first or any(KEY_OF.get(norm.correlation(c)) == "resource" for c in norm.constraints)
