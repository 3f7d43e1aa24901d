"""Two views of one simulated case, in which a hidden norm is the same function: what happened, and what the
records entitle one to say.

A norm looks at a case through a :class:`View` and gives verdicts. The *truth* view knows every act and every
latent fact. The *record* view knows an act only when some durable channel wrote it, its time and attributes
only as written, and knows that something did **not** happen only where a channel that catches everything
covers the time. Every question has three answers: True, False, and None for unknown.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from bench_maker.record import GRAIN_SECONDS, EventRow
from bench_maker.sheets import coverage, extraction, families, seconds
from bench_maker.stage import World
from gnrs_ppl.audit.types import ROLL_UP, Verdict

Known = bool | None
"""True, False, or None: unknown."""

Names = str | tuple[str, ...] | None


class Seen(NamedTuple):
    """An act as a view shows it: attributes are None where the records lack them, ``facts`` None where latent
    facts are hidden.

    ``at`` is the earliest instant it may have happened and ``to`` the latest: equal in truth, a grain of the
    clock apart on record.
    """

    case: str
    action: str
    at: float
    to: float
    by: str | None
    role: str | None
    where: str | None
    object: str | None
    item: str | None
    facts: Mapping[str, Any] | None

    def fact(self, name: str) -> Known:
        """A yes-or-no fact of the act, None where it is hidden or absent."""
        found = (self.facts or {}).get(name)
        return None if found is None else bool(found)

    def told(self, name: str) -> str | None:
        """A latent fact of the act that is a word, "" where the act has none; None on record."""
        return None if self.facts is None else str(self.facts.get(name, ""))


@dataclass(frozen=True)
class Sight:
    """What one view of a whole world shows: its acts in order of time, what it can exclude, and where it
    ends.
    """

    acts: tuple[Seen, ...]
    complete: Callable[[str, float, float], bool]
    end: float
    facts: Mapping[str, Mapping[str, Any]] | None
    starts: Mapping[str, float]
    quiet: float

    @cached_property
    def by_case(self) -> Mapping[str, list[Seen]]:
        """Acts per case, in order of time."""
        found: dict[str, list[Seen]] = {case: [] for case in self.starts}
        for act in self.acts:
            found[act.case].append(act)
        return found


def truth(world: World) -> Sight:
    """Everything that happened."""
    acts = tuple(
        Seen(a.case, a.action, a.at, a.at, a.by, a.role, a.where, a.object, a.item, a.facts)
        for a in world.acts
    )
    return Sight(acts, lambda action, start, end: True, float("inf"), world.facts, world.starts, 0.0)


def on_record(world: World, rows: Iterable[EventRow], start: datetime) -> Sight:
    """What the rows of the durable channels show of it; one act seen by several channels is one act at its
    first writing.
    """
    sheet, stop = families()[world.family], extraction(start, world.days)
    seen: dict[int, Seen] = {}
    for row in rows:
        old = seen.get(row.act)
        new = Seen(
            row.case,
            row.activity,
            row.at,
            row.at + GRAIN_SECONDS[sheet["channels"][row.channel]["grain"]],
            row.resource,
            row.role,
            row.location,
            row.object,
            row.value,
            None,
        )
        if old is not None:
            at, to = max(old.at, new.at), min(old.to, new.to)
            if at >= to:  # a late entry: the first writing counts
                at, to = min((old.at, old.to), (new.at, new.to))
            gaps = {f: getattr(old, f) or getattr(new, f) for f in ("by", "role", "where", "object", "item")}
            new = new._replace(at=at, to=to, **gaps)
        seen[row.act] = new
    covers = {
        action: [
            [
                ((a - start).total_seconds(), (b - start).total_seconds() + 1)
                for a, b in coverage(spec, start, stop)
            ]
            for spec in sheet["channels"].values()
            if action in spec["activities"] and spec["catches"] == 1.0
        ]
        for action in sheet["actions"]
    }

    def complete(action: str, since: float, until: float) -> bool:
        return any(a <= since and until <= b for channel in covers[action] for a, b in channel)

    return Sight(
        tuple(sorted(seen.values(), key=lambda a: a.at)),
        complete,
        (stop - start).total_seconds(),
        None,
        world.starts,
        seconds(sheet["quiet_after"]),
    )


@dataclass(frozen=True)
class View:
    """One case of a world, as a norm looks at it.

    Attributes
    ----------
    case : str
        Its id.
    sight : Sight
        Where to look.
    lenient : bool
        Which end of a grey band :meth:`span` gives; a verdict that depends on it is not scored.
    """

    case: str
    sight: Sight
    lenient: bool = False

    @property
    def start(self) -> float:
        """When the case began, in seconds since the world's first midnight."""
        return self.sight.starts[self.case]

    @property
    def closure(self) -> float:
        """When the case is over: its last act, and on record the quiet time after the last row."""
        acts = self.sight.by_case[self.case]
        return (acts[-1].to if acts else self.start) + self.sight.quiet

    def over(self, instant: float) -> bool:
        """Whether an instant lies within what this view can see."""
        return instant <= self.sight.end

    def span(self, strict: str, lenient: str | None = None) -> float:
        """Seconds of a time limit; with two limits, the grey band between them: the goal states no number."""
        return seconds(lenient if self.lenient and lenient else strict)

    def share(self, strict: float, lenient: float) -> float:
        """As :meth:`span`, for a number that is no time."""
        return lenient if self.lenient else strict

    def fact(self, name: str) -> Any:
        """A latent fact of the case; None on record, where no log shows it (and where the scene left it
        open).
        """
        return None if self.sight.facts is None else self.sight.facts[self.case].get(name)

    def acts(
        self,
        action: Names = None,
        *,
        by: Names = None,
        role: Names = None,
        where: Names = None,
        object: Names = None,
        item: Names = None,
        facts: Mapping[str, Any] | None = None,
        after: float = float("-inf"),
        before: float = float("inf"),
        anywhere: bool = False,
    ) -> list[Seen]:
        """Acts known to match everything stated, between two instants (both included), in order of time.

        ``anywhere`` looks through all cases of the world; ``facts`` are latent facts of the act, which no
        record can confirm.
        """
        stated = {"action": action, "by": by, "role": role, "where": where, "object": object, "item": item}
        return [a for a in self._between(after, before, anywhere) if _matches(a, stated, facts)]

    def firsts(self, action: Names = None, *, known: bool = False, **stated: Any) -> list[Seen]:
        """First of some acts by each person, as :meth:`acts` finds them; those of nobody known count as one
        person's, or not at all.
        """
        found: dict[str | None, Seen] = {}
        for act in self.acts(action, **stated):
            if act.by is not None or not known:
                found.setdefault(act.by, act)
        return list(found.values())

    def count(
        self,
        action: str,
        *,
        by: Names = None,
        role: Names = None,
        where: Names = None,
        object: Names = None,
        item: Names = None,
        facts: Mapping[str, Any] | None = None,
        after: float | None = None,
        before: float | None = None,
        anywhere: bool = False,
    ) -> tuple[float, float]:
        """Fewest and most acts there may have been; the bounds meet where the view is sure. From the start
        to the closure unless stated.
        """
        since, until = self.start - 1 if after is None else after, self.closure if before is None else before
        stated = {"action": action, "by": by, "role": role, "where": where, "object": object, "item": item}
        found = [_matches(a, stated, facts) for a in self._between(since, until, anywhere)]
        sure = sum(m is True for m in found)
        whole = self.sight.complete(action, since, min(until, self.sight.end))
        return sure, sure + sum(m is None for m in found) if whole else float("inf")

    def happened(self, action: str, *, times: int = 1, **stated: Any) -> Known:
        """Whether at least so many acts match, as :meth:`count` bounds them; keywords as there."""
        fewest, most = self.count(action, **stated)
        return True if fewest >= times else False if most < times else None

    def earlier(self, first: Seen, second: Seen) -> Known:
        """Whether one act came before another; unknown within the clock's grain."""
        return True if first.to <= second.at and first != second else False if second.to <= first.at else None

    def prior(self, act: Seen, action: str, since: float = float("-inf"), **stated: Any) -> Known:
        """Whether something was done before an act (and since an instant); unknown within the clock's
        grain.
        """
        order = either(*(self.earlier(a, act) for a in self.acts(action, after=since, **stated)))
        after = max(since, self.start - 1)
        return order if order is not False else self.happened(action, after=after, before=act.at, **stated)

    def followed(self, act: Seen, action: str, limit: float | None = None, **stated: Any) -> Known:
        """Whether something was done after an act, within a time limit or until the closure; unknown within
        the clock's grain.
        """
        others = [a for a in self.acts(action, **stated) if a != act and self.earlier(act, a) is not False]
        if any(self.earlier(act, a) and (limit is None or a.to <= act.at + limit) for a in others):
            return True
        if any(limit is None or a.at <= act.to + limit for a in others):
            return None
        end = self.closure if limit is None else act.to + limit
        return False if self.happened(action, after=act.to + 1e-3, before=end, **stated) is False else None

    def between(self, first: Seen, last: Seen | None, action: str, **stated: Any) -> Known:
        """Whether something was done after one act and before another (or the closure); unknown within the
        clock's grain.
        """
        found = (
            both(self.earlier(first, a), last is None or self.earlier(a, last))
            for a in self.acts(action, **stated)
        )
        fewest, most = self.count(
            action, after=first.at, before=self.closure if last is None else last.to, **stated
        )
        return either(*found, False if fewest == most else None)

    def duty(self, done: Known, due: float, excuse: Known = False) -> Verdict:
        """Verdict of an obligation whose time ends at ``due``."""
        if done is True:
            return "satisfied"
        if not self.over(due):
            return "pending"
        return "indeterminate" if done is None else _excused(excuse)

    def ban(self, done: Known, until: float, excuse: Known = False) -> Verdict:
        """Verdict of a prohibition that runs until an instant."""
        if done is True:
            return _excused(excuse)
        if not self.over(until):
            return "pending"
        return "indeterminate" if done is None else "satisfied"

    def _between(self, after: float, before: float, anywhere: bool) -> list[Seen]:
        acts = self.sight.acts if anywhere else self.sight.by_case[self.case]
        if anywhere and acts:
            low = bisect.bisect_left(acts, after - 60.0, key=lambda a: a.at)
            acts = acts[low : bisect.bisect_right(acts, before, key=lambda a: a.at)]
        return [a for a in acts if (a.to > after or a.at >= after) and a.at <= before]


Norm = Callable[[View], Iterable[Verdict]]


class HiddenNorm(NamedTuple):
    """A reference norm: what it says, whether the five slots could say it, and the predicate."""

    goal: str
    says: str
    expressible: bool
    judge: Norm


NORMS: dict[str, HiddenNorm] = {}
"""Hidden norms by goal id, filled when the modules in ``norms/`` are imported."""


def norm(goal: str, says: str, expressible: bool) -> Callable[[Norm], Norm]:
    """Register a hidden norm.

    Parameters
    ----------
    goal : str
        Its goal's id.
    says : str
        The norm in a sentence.
    expressible : bool
        Whether scope, trigger, norm, evidence and procedure could say it.
    """

    def register(judge: Norm) -> Norm:
        if goal in NORMS:
            raise ValueError(f"{goal} has two hidden norms")
        NORMS[goal] = HiddenNorm(goal, says, expressible, judge)
        return judge

    return register


def both(*answers: Known) -> Known:
    """Three-valued and."""
    return False if any(a is False for a in answers) else None if any(a is None for a in answers) else True


def either(*answers: Known) -> Known:
    """Three-valued or."""
    return True if any(a is True for a in answers) else None if any(a is None for a in answers) else False


def negate(answer: Known) -> Known:
    """Three-valued not."""
    return None if answer is None else not answer


def gravest(verdicts: Iterable[Verdict]) -> Verdict:
    """Verdict of a case from those of its instances (SEMANTICS line 21); not activated where there are
    none.
    """
    found = set(verdicts)
    return next((v for v in ROLL_UP if v in found), "not_activated")


def _excused(excuse: Known) -> Verdict:
    return "excused" if excuse is True else "indeterminate" if excuse is None else "violated"


def _matches(act: Seen, stated: Mapping[str, Names], facts: Mapping[str, Any] | None) -> Known:
    answer: Known = True
    for name, wanted in stated.items():
        if wanted is None:
            continue
        value = getattr(act, name)
        # a field no channel kept is unknown on record; in truth it is simply not there
        fits = (
            (None if act.facts is None else False)
            if value is None
            else value in ((wanted,) if isinstance(wanted, str) else wanted)
        )
        answer = both(answer, fits)
    for name, wanted in (facts or {}).items():
        answer = both(answer, None if act.facts is None else act.facts.get(name) == wanted)
    return answer
