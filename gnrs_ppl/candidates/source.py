"""What the sources of candidates share: the goal, the traces, and the acts that may open an instance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from gnrs_ppl.candidates import units
from gnrs_ppl.context.load import Context
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.traces import Delays, Traces
from gnrs_ppl.context.types import Goal
from gnrs_ppl.reading import Readings
from gnrs_ppl.reading.goal import filled, readings_of
from gnrs_ppl.reading.reader import vocabulary
from gnrs_ppl.reading.vocabulary import CLASSMATE, near, role_words
from gnrs_ppl.reading.words import SYNONYM
from gnrs_ppl.rule.types import Act, Correlation


class ProposedCandidate(NamedTuple):
    """A candidate before it is filtered, merged and ranked: slot, content and levels as a context file
    writes them, and why.
    """

    slot: str
    content: dict[str, Any]
    because: str
    vary: dict[str, Sequence[Any]] = {}  # noqa: RUF012  (never mutated)


ProposedCandidates = Iterator[ProposedCandidate]


def shown_by(channels: Sequence[str], operator: str, because: str) -> ProposedCandidates:
    """An evidence policy, where there is a log that it could name."""
    if channels:
        yield ProposedCandidate("evidence", {"channels": list(channels), "operator": operator}, because)


OFFICES = (
    "manager",
    "supervisor",
    "owner",
    "director",
    "coordinator",
    "foreman",
    "officer",
    "administrator",
    "inspector",
    "auditor",
    "judge",
    "leader",
    "head",
    "registrar",
    "prefect",
    "committee",
    "board",
    "council",
    "commissioner",
    "principal",
    "caretaker",
    "teacher",
    "chair",
    "secretary",
)
"""What those are called who oversee others."""
BEGINNINGS = ("arrive", "enter", "begin", "register", "admit", "create")
"""Verbs by which people and cases begin."""
OPENERS = 3
"""How many acts are tried as openers of an instance."""


def left_unread(context: Context) -> bool:
    """Whether the goal's sentence is not looked at: reading is no source, or there is no log and the goal's
    fields say what is asked, as a card's do.
    """
    goal = context.goal
    return "reading" not in context.sources or bool(
        context.records.prospective and (goal.required or goal.forbidden or goal.permitted)
    )


@dataclass(frozen=True)
class Material:
    """A context as the sources see it."""

    context: Context

    @property
    def rule(self) -> int:
        """Which of the rules that the sentence states."""
        return self.context.rule

    @cached_property
    def readings(self) -> Readings:
        """The goal's sentence, as read."""
        return (
            Readings(self.context.goal.intent, ()) if left_unread(self.context) else readings_of(self.context)
        )

    @property
    def traces(self) -> Traces:
        """What the log shows."""
        return self.context.traces

    @cached_property
    def goal(self) -> Goal:
        """What the rule is for: the goal's fields, and its sentence where they are empty."""
        return filled(self.context.goal, self.readings, self.rule)

    @property
    def regulated(self) -> tuple[str, ...]:
        """Actions the goal requires, as they mostly follow one another in the traces, then those it forbids;
        else those it permits.
        """
        return self.required + self.goal.forbidden or self.goal.permitted

    @cached_property
    def required(self) -> tuple[str, ...]:
        """Required actions in the order in which they mostly come."""
        delays = self.traces.delays

        def earlier(action: str) -> int:
            others = [other for other in self.goal.required if other != action]
            return sum(delays[action, o].cases if (action, o) in delays else 0 for o in others) - sum(
                delays[o, action].cases if (o, action) in delays else 0 for o in others
            )

        return tuple(sorted(self.goal.required, key=lambda a: -earlier(a)))

    @cached_property
    def openers(self) -> tuple[str, ...]:
        """The acts that the goal names as triggers; else acts outside the goal after which its acts are seen
        most often, best first.

        An act's merit is the mean share of all cases in which a goal's act follows it, doubled as far as the
        same person does both, and again as far as the goal's roles perform the opener.
        """
        if self.goal.triggers:
            return self.goal.triggers
        traces, cases = self.traces, max(self.context.profile.cases, 1)
        wanted = self.required or self.goal.forbidden or self.goal.permitted

        def merit(activity: str) -> float:
            found = [traces.delays[activity, act] for act in wanted if (activity, act) in traces.delays]
            pair = traces.pair(activity)
            by_goal = sum(pair.values.get("role", {}).get(role, 0) for role in self.goal.roles) / max(
                pair.rows, 1
            )
            return sum(d.cases * (1 + d.personal) for d in found) * (1 + by_goal) / (len(wanted) * cases)

        found = [a for a in traces.homes if a not in self.regulated]
        return tuple(sorted(found, key=lambda a: (-merit(a), a))[:OPENERS])

    @cached_property
    def bound(self) -> tuple[str, ...]:
        """Roles the sentence binds, else those of the goal."""
        return (
            tuple(dict.fromkeys(n.name for s in self.readings.statements for n in s.best.bearers))
            or self.goal.roles
        )

    @cached_property
    def usual_openers(self) -> tuple[str, ...]:
        """Acts by which those who are bound usually begin, likeliest first: checking in, arriving, what comes
        early.

        They stand in for an opener that is not said.
        """
        known = vocabulary(self.context.schema)
        words = {a.name: known.words_of(a.name) for a in self.context.schema.actions}

        def begins(activity: str) -> float:
            said = max(
                (near(w, opening) for w in words.get(activity, ()) for opening in BEGINNINGS), default=0.0
            )
            checks_in = {"check", "in"} <= set(words.get(activity, ()))
            return self._opens(activity) * self.theirs(activity) * (3 if checks_in else 1 + said)

        return tuple(sorted(self.traces.homes, key=lambda a: (-begins(a), a)))

    def arrives(self, activity: str) -> bool:
        """Whether an act is an arrival by its words."""
        return any(near(w, "arrive") >= CLASSMATE for w in vocabulary(self.context.schema).words_of(activity))

    @cached_property
    def openers_of_others(self) -> tuple[str, ...]:
        """Acts of others that usually come before the rest, likeliest first: what stands for a signal that
        no log shows.
        """
        return tuple(sorted(self._free, key=lambda a: (-self._opens(a) * (1 - self.theirs(a)), a)))

    @property
    def _free(self) -> list[str]:
        return [a for a in self.traces.homes if a not in self.regulated]

    def theirs(self, activity: str) -> float:
        """Share of an act's rows that those who are bound performed; 1 where nobody is."""
        pair = self.traces.pair(activity)
        done = sum(pair.values.get("role", {}).get(role, 0) for role in self.bound)
        return done / max(pair.rows, 1) if self.bound else 1.0

    def _opens(self, activity: str) -> float:
        """Cases with an act, times the mean share in which it comes before another."""
        return self.traces.cases(activity) * self.traces.comes_before[activity]

    @cached_property
    def usual_closers(self) -> tuple[str, ...]:
        """Acts that mostly come after all others of their cases, likeliest first."""
        traces = self.traces

        def closes(activity: str) -> float:
            last = 1 - traces.comes_before[activity] if len(traces.homes) > 1 else 0.0
            return traces.pair(activity).cases * last

        return tuple(
            sorted((a for a in traces.homes if a not in self.regulated), key=lambda a: (-closes(a), a))
        )

    def delays(self, opener: str, act: str) -> Delays | None:
        """Observed delays of an act after an opener."""
        return self.traces.delays.get((opener, act))

    def correlate(self, opener: str | None, act: str) -> Correlation:
        """Same resource where the traces mostly show one person doing both, else same case."""
        found = self.delays(opener, act) if opener else None
        return "same_resource" if found is not None and found.personal >= 0.5 else "same_case"

    def nobody_does_both(self, opener: str | None, act: str) -> bool:
        """Whether the schema knows no roles that might bind one person, and no case shows one with both
        acts.
        """
        found = self.delays(opener, act) if opener else None
        return not self.context.schema.roles and not (found and found.personal)

    def levels(self, opener: str | None, act: str) -> tuple[tuple[Duration, ...], str]:
        """Deadline levels of an act after an opener, and where they come from.

        Without a log, the time the goal names or none at all. Else the time the goal names with its
        neighbours; else the third quartile of the observed delays, snapped to a duration institutions write,
        with its neighbours, and the ninetieth percentile; else an hour, half a day and a day.
        """
        if self.context.records.prospective:
            return (
                ((self.goal.within,), f"the goal says {self.goal.within}")
                if self.goal.within
                else ((), "the goal names no time")
            )
        if self.goal.within is not None:
            return units.near(self.goal.within), f"the goal says {self.goal.within}"
        found = self.delays(opener, act) if opener else None
        if found is None:
            return tuple(
                Duration.parse(d) for d in ("PT1H", "PT12H", "P1D")
            ), "no delay observed; common units"
        p75, p90 = found.quantile(0.75), found.quantile(0.9)
        levels = sorted({*units.near(units.snapped(p75)), units.snapped(p90)}, key=Duration.shortest_seconds)
        told = (
            f"p75 of {found.cases} observed delays {opener} to {act}: {units.spoken(p75)}, snapped to "
            f"{units.snapped(p75)}; "
            f"p90: {units.spoken(p90)}, snapped to {units.snapped(p90)}"
        )
        return tuple(levels), told

    def place(self, activity: str) -> str | None:
        """The goal's location that the act is recorded at most often; None where it is at none of them."""
        return self._named(self.goal.locations, self.traces.places(activity, 0.02))

    def thing(self, activity: str) -> str | None:
        """The goal's object that the act is recorded with most often; None where it is with none of them."""
        return self._named(self.goal.objects, self.traces.things(activity, 0.02))

    def exact(self, activity: str) -> dict[str, Any]:
        """An act narrowed to the goal's location and object, as far as it is recorded with them."""
        return self.act(activity, location=self.place(activity), object=self.thing(activity))

    def act(self, activity: str, **stated: str | None) -> dict[str, Any]:
        """An act pattern as a context file writes it."""
        return Act.model_validate({"activity": activity, **stated}).model_dump(exclude_none=True)

    def trigger(self, activity: str, **stated: str | None) -> dict[str, Any]:
        """A trigger on an act in its home channel."""
        return {"act": self.act(activity, **stated), "channel": self.traces.homes[activity]}

    @cached_property
    def overseers(self) -> tuple[str, ...]:
        """Offices the rule does not bind, those with the fewest people on record first. Where fewer than two
        are called an office the other roles follow, so that nobody hears an appeal against themselves: first
        those somebody is recorded in, if any are, then those that do nothing of what the sentence names.
        """
        heads = self.traces.heads
        free = [t for t in self.context.schema.roles if t.name not in self.bound]
        offices = [
            t.name
            for t in free
            if any(near(w, office) >= SYNONYM for w in role_words(t) for office in OFFICES)
        ]
        offices.sort(key=lambda role: heads.get(role, 1 << 30))
        if len(offices) > 1:
            return tuple(offices)
        named = {a for s in self.readings.statements for a in s.best.activities}
        involved = {role for a in named & self.traces.homes.keys() for role in self.traces.performers(a)}
        others = [t.name for t in free if t.name not in offices]
        others.sort(key=lambda r: (bool(heads) and r not in heads, r in involved, heads.get(r, 1 << 30)))
        return (*offices, *others)

    @staticmethod
    def _named(wanted: Sequence[str], recorded: dict[str, int]) -> str | None:
        return next((name for name in recorded if name in wanted), None)
