"""The six features φ of s_search, each a stated mean in [0, 1] of terms that read one slot or two (paper,
Structured search).

A term is ``(slots, value)``: ``value`` takes the contents of those slots and gives a number in [0, 1]. A
feature is the mean of its terms, so it splits exactly into the unary and pairwise tables of the rule space.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gnrs_ppl.candidates.grounding import names_of
from gnrs_ppl.candidates.source import Material
from gnrs_ppl.candidates.stated import Opener, all_recorded, offices, openers, presupposed
from gnrs_ppl.context.load import Context
from gnrs_ppl.context.profile import PairProfile
from gnrs_ppl.context.types import Goal
from gnrs_ppl.models.statements import says
from gnrs_ppl.reading import ActRead, Reading, Readings
from gnrs_ppl.reading.goal import ways
from gnrs_ppl.rule.types import (
    LOOK_BACK,
    Act,
    Constraint,
    EvidencePolicy,
    Norm,
    Office,
    Procedure,
    Scope,
    Structure,
    Trigger,
)

FEATURES = (
    "intent_alignment",
    "schema_grounding",
    "record_compatibility",
    "procedural_closure",
    "value_consistency",
    "language",
)
"""Features in the order of the weight vector."""

STAGES = ("review", "decision", "remedy", "appeal")


@dataclass(frozen=True)
class Term:
    """One term of a feature: a number in [0, 1] read from one slot or two."""

    slots: tuple[str, ...]
    value: Callable[..., float]


@dataclass(frozen=True)
class Facts:
    """What the features and flags may know of a context: goal, schema, capability and counts, never a
    label.
    """

    context: Context
    capability: dict[str, frozenset[str]]

    @cached_property
    def goal(self) -> Goal:
        """The goal's fields, and its sentence where they are empty."""
        return self.material.goal

    @cached_property
    def said(self) -> tuple[tuple[float, tuple[Reading, ...]], ...]:
        """The ways to read the rule, with their probabilities."""
        return tuple(ways(self._readings, self.context.rule, self.context.goal))

    @cached_property
    def material(self) -> Material:
        """The context as the sources of candidates see it."""
        return Material(self.context)

    @property
    def _readings(self) -> Readings:
        return self.material.readings

    @classmethod
    def of(cls, context: Context) -> Facts:
        """Capability as declared, else the pairs seen in the log (SEMANTICS line 2)."""
        seen: dict[str, set[str]] = {}
        for channel, activity in context.profile.pairs:
            seen.setdefault(channel, set()).add(activity)
        declared = {c.name: c.activities for c in context.records.channels if c.durable}
        names = declared or dict.fromkeys(seen)
        return cls(context, {c: frozenset(seen.get(c, set()) if a is None else a) for c, a in names.items()})

    def capable(self, act: Act, channels: Sequence[str]) -> list[str]:
        """rel(act): those of ``channels`` that can record it (SEMANTICS line 3)."""
        return [c for c in channels if act.activity in self.capability.get(c, ())]

    def pair(self, channel: str, act: Act) -> PairProfile:
        """Counts of the act's activity in a channel, zeros where it never occurs."""
        return self.context.profile.pairs.get((channel, act.activity), PairProfile(0, 0))

    def affords(self, role: str | None, act: Act) -> bool:
        """Whether the schema lets this role (None: anyone) perform the act."""
        action = next((a for a in self.context.schema.actions if a.name == act.activity), None)
        return action is None or not action.roles or role in action.roles

    def closed_world(self, channel: str) -> bool:
        """Whether the channel's silence means absence."""
        declared = self.context.records.channel(channel)
        return declared is not None and declared.closed_world


def overlap(wanted: Sequence[str], chosen: Sequence[str]) -> float:
    """F1 of two sets of names; 1 when nothing is wanted and nothing chosen, 0.5 when nothing is wanted but
    something is chosen.
    """
    if not wanted:
        return 1.0 if not chosen else 0.5
    both = len(set(wanted) & set(chosen))
    return 2 * both / (len(set(wanted)) + len(set(chosen)))


def share(hits: Sequence[bool | float], empty: float) -> float:
    """Mean of some hits, ``empty`` where there are none to judge."""
    return float(np.mean([float(h) for h in hits])) if hits else empty


def positive_targets(norm: Norm) -> list[str]:
    """Activities the norm demands, those that will do in each other's place among them."""
    return [name for c in norm.constraints if c.positive for name in c.target.activities]


def intent_alignment(facts: Facts) -> list[Term]:
    """Does the rule say what the goal's sentence says, and nothing else? Expectations are over the ways to
    read it.

    A goal's fields are a person's own words for it; those left empty are filled from the sentence. Terms,
    equal weights:

    - F1 of the acts the goal demands and those the norm does, without those that were read as ways to
      meet one duty beside others: the statements count these [norm];
    - F1 of the acts it forbids and those the norm does [norm];
    - times: mean over constraints of 1 where the deadline is the one that was read of its act, or none was
      read and none is stated; 0.8 × shorter / longer where both are stated and differ; else 0 [norm];
    - things and places: mean over targets of the share of objects and locations that are as they were read
      of the act [norm];
    - how well the trigger fits what was read of an opener (:func:`~gnrs_ppl.candidates.stated.openers`),
      half of it for the things and places that were read of that act and for opening each time or at the
      first [trigger];
    - statements: the share of those read that the norm says (:func:`~gnrs_ppl.models.statements.says`:
      template, targets, opener, count, time, exception); half for a constraint of the same direction, target
      and opener; 1 for an act without a time that the rule starts from [trigger × norm];
    - whether the bearer is the one the opener suggests: whoever opened it, or an office where another did
      [trigger × norm];
    - F1 of those bound and the scope's roles with the office [scope × norm];
    - mean F1 of the locations and objects that the likeliest opener asks for and those by which scope and
      trigger filter it [scope × trigger].
    """
    goal, said = facts.goal, facts.said

    def expected(value: Callable[[Sequence[Reading]], float], nothing: float) -> float:
        total = sum(p for p, _ in said)
        return sum(p * value(readings) for p, readings in said) / total if total else nothing

    either = {
        act.activity
        for reading in (said[0][1] if said else ())
        if reading.joint == "any"
        for act in reading.targets
    } - {*goal.required}

    def demanded(norm: Norm) -> float:
        return overlap(goal.required, [name for name in positive_targets(norm) if name not in either])

    def forbidden(norm: Norm) -> float:
        return overlap(
            goal.forbidden, [name for c in norm.constraints if not c.positive for name in c.target.activities]
        )

    def times(norm: Norm) -> float:
        def timely(constraint: Constraint, readings: Sequence[Reading]) -> float:
            mine = [r for r in readings if constraint.target.activity in {a.activity for a in r.targets}]
            stated = next((r.time.duration for r in mine if r.time and r.time.duration), None)
            if not mine and constraint.positive:
                stated = goal.within
            if stated is None or constraint.deadline is None:
                return float(stated is constraint.deadline)
            one, other = stated.shortest_seconds(), constraint.deadline.shortest_seconds()
            return 1.0 if stated == constraint.deadline else 0.8 * min(one, other) / max(one, other)

        return expected(
            lambda readings: share([timely(c, readings) for c in norm.constraints], 0.0), timed_by_field(norm)
        )

    def timed_by_field(norm: Norm) -> float:
        if goal.within is None:
            return 1.0
        wanted = goal.within.shortest_seconds()
        stated = [
            c.deadline.shortest_seconds() if c.deadline else 0.0 for c in norm.constraints if c.positive
        ]
        return share([min(d, wanted) / max(d, wanted) for d in stated], 0.0)

    def like(act: Act, read: ActRead) -> float:
        return share(
            [
                (n.name if n else None) == getattr(act, f)
                for f, n in (("object", read.object), ("location", read.location))
            ],
            1.0,
        )

    def things(norm: Norm) -> float:
        def matched(readings: Sequence[Reading]) -> float:
            acts = {a.activity: a for r in readings for a in r.targets}
            return share(
                [
                    like(c.target, acts[c.target.activity])
                    for c in norm.constraints
                    if c.target.activity in acts
                ],
                0.5,
            )

        return expected(matched, 0.5)

    said = tuple((p, readings) for p, readings in said if all_recorded(facts.material, readings))
    offered = [(p, openers(facts.material, readings)) for p, readings in said]

    def opened(trigger: Trigger) -> float:
        def fits(found: Sequence[Opener]) -> float:
            activity = trigger.act.activity if trigger.act else None
            opener = next((o for o in found if o.activity == activity), None)
            if opener is None:
                return 0.0
            if trigger.act is None:
                return opener.fits
            exact = like(trigger.act, opener.act) if opener.act else 1.0
            once = trigger.once == ("each" if opener.said else "first")
            return opener.fits * (2 + exact + once) / 4

        total = sum(p for p, _ in offered)
        return sum(p * fits(found) for p, found in offered) / total if total else 0.5

    def borne(trigger: Trigger, norm: Norm) -> float:
        activity = trigger.act.activity if trigger.act else None
        bearer = norm.bearer.role if isinstance(norm.bearer, Office) else None
        found = [
            (p, offices(facts.material, readings, o))
            for (p, offered_), (_, readings) in zip(offered, said, strict=False)
            for o in offered_
            if o.activity == activity
        ]
        return (
            sum(p * (bearer == first) for p, (first, *_) in found) / sum(p for p, _ in found)
            if found
            else 0.5
        )

    def stated(trigger: Trigger, norm: Norm) -> float:
        return expected(lambda readings: share([worth(r, trigger, norm) for r in readings], 0.5), 0.5)

    def worth(reading: Reading, trigger: Trigger, norm: Norm) -> float:
        targets = {a.activity for a in reading.targets}
        if (
            trigger.act is not None
            and targets == {trigger.act.activity}
            and presupposed(reading, facts.context.goal)
        ):
            return 1.0

        def opens(constraint: Constraint) -> bool:
            if reading.activation is None:
                return True
            act = constraint.after.act if constraint.after else trigger.act
            return act is not None and act.activity == reading.activation.activity

        found = [c for c in norm.constraints if targets & set(c.target.activities) and opens(c)]
        alike = any(DIRECTION.get(c.template) == DIRECTION.get(reading.template) for c in found)
        return 1.0 if says(trigger, norm, reading) else 0.5 * alike

    def covered(scope: Scope, norm: Norm) -> float:
        office = (norm.bearer.role,) if isinstance(norm.bearer, Office) else ()
        return overlap(facts.material.bound, tuple(dict.fromkeys(scope.roles + office)))

    def places(scope: Scope, trigger: Trigger) -> float:
        acts = trigger.act.patterns if trigger.act else ()
        where = {*scope.locations, *(a.location for a in acts if a.location)}
        what = {*scope.objects, *(a.object for a in acts if a.object)}

        def narrowed(opener: Opener) -> float:
            act = opener.act
            wanted = [
                (act.location.name,) if act and act.location else (),
                (act.object.name,) if act and act.object else (),
            ]
            return sum(overlap(w, sorted(found)) for w, found in zip(wanted, (where, what), strict=True)) / 2

        first = [(p, found[0]) for p, found in offered]
        if first:
            return sum(p * narrowed(opener) for p, opener in first) / sum(p for p, _ in first)
        return (
            overlap(goal.locations, sorted(where)) + overlap(goal.objects, sorted(what | {*scope.concerns}))
        ) / 2

    return [
        Term(("norm",), demanded),
        Term(("norm",), forbidden),
        Term(("norm",), times),
        Term(("norm",), things),
        Term(("trigger",), opened),
        Term(("trigger", "norm"), stated),
        Term(("trigger", "norm"), borne),
        Term(("scope", "norm"), covered),
        Term(("scope", "trigger"), places),
    ]


DIRECTION = {
    "existence": "demand",
    "response": "demand",
    "responded_existence": "demand",
    "exactly": "demand",
    "chain_response": "demand",
    "alternate_response": "demand",
    "precedence": "before",
    "chain_precedence": "before",
    "alternate_precedence": "before",
    "absence": "ban",
    "not_response": "ban",
    "not_chain_response": "ban",
    "not_coexistence": "ban",
    "not_precedence": "ban before",
    "not_chain_precedence": "ban before",
}
"""Templates that say nearly the same: a demand, a look back, a ban."""


def schema_grounding(facts: Facts) -> list[Term]:
    """Does the institution let these people do these things?

    Terms, equal weights:

    - share of scope roles the schema lets perform the trigger act, 0.5 for case start [scope × trigger];
    - share of (performer, target) pairs the schema affords, performers being the office, the target's role
      or the scope's roles [scope × norm];
    - share of steps whose recorded activity its role may perform, 0.5 for a step that no activity records
      [procedure].
    """

    def opens(scope: Scope, trigger: Trigger) -> float:
        if trigger.act is None:
            return 0.5
        act = trigger.act
        return share([facts.affords(role, act) for role in scope.roles], float(facts.affords(None, act)))

    def performs(scope: Scope, norm: Norm) -> float:
        hits: list[bool | float] = []
        for constraint in norm.constraints:
            target = norm.target(constraint)
            roles: Sequence[str | None] = [target.role] if target.role else scope.roles or [None]
            hits += [facts.affords(role, target) for role in roles]
        return share(hits, 0.0)

    def staffed(procedure: Procedure) -> float:
        return share(
            [facts.affords(s.role, Act(activity=s.activity)) if s.activity else 0.5 for s in procedure.steps],
            0.0,
        )

    return [
        Term(("scope", "trigger"), opens),
        Term(("scope", "norm"), performs),
        Term(("procedure",), staffed),
    ]


def record_compatibility(facts: Facts) -> list[Term]:
    """Can these records show it? Capability and case coverage, not support (that would be ρ under another
    name).

    Terms, equal weights:

    - share of cases with the trigger act in its channel, 1 for case start [trigger];
    - share of trigger rows the scope's filters keep, by field, least of them [scope × trigger];
    - mean over targets of the share of the policy's channels that can record it [norm × evidence];
    - mean over positive targets of the case coverage the operator asks for, that of the k-th best channel
      [norm × evidence];
    - share of duties with at least n − k + 1 closed-world channels, without which silence proves no breach
      [norm × evidence];
    - mean over targets of the share of the logs that can record it which the policy lists: a breach may
      stand in any of them [norm × evidence];
    - how customary the duties are: mean over positive constraints of min(1, 2 × share of the opener's cases
      in which the traces show them kept), 0.5 where they do not tell. Custom is no norm, but what hardly
      anyone does is likely misread [trigger × norm].
    """
    cases = max(facts.context.profile.cases, 1)

    def occurs(trigger: Trigger) -> float:
        return (
            facts.pair(trigger.channel, trigger.act).cases / cases if trigger.act and trigger.channel else 1.0
        )

    def keeps(scope: Scope, trigger: Trigger) -> float:
        if trigger.act is None or trigger.channel is None:
            return 1.0
        pair = facts.pair(trigger.channel, trigger.act)
        filters = (("role", scope.roles), ("location", scope.locations), ("object", scope.objects))
        kept = [
            sum(pair.values.get(f, {}).get(n, 0) for n in names) / max(pair.rows, 1)
            for f, names in filters
            if names
        ]
        return min(kept, default=1.0)

    def capable(norm: Norm, evidence: EvidencePolicy) -> float:
        return share(
            [
                len(facts.capable(c.target, evidence.channels)) / len(evidence.channels)
                for c in norm.constraints
            ],
            0.0,
        )

    def every_log(norm: Norm, evidence: EvidencePolicy) -> float:
        able = [facts.capable(c.target, tuple(facts.capability)) for c in norm.constraints]
        return share([len(set(logs) & set(evidence.channels)) / len(logs) for logs in able if logs], 0.0)

    def covered(norm: Norm, evidence: EvidencePolicy) -> float:
        return share([_kth_coverage(c, evidence) for c in norm.constraints if c.positive], 1.0)

    def _kth_coverage(constraint: Constraint, evidence: EvidencePolicy) -> float:
        rel = facts.capable(constraint.target, evidence.channels)
        k = evidence.needed(len(rel))
        best = sorted((facts.pair(c, constraint.target).cases / cases for c in rel), reverse=True)
        return best[k - 1] if 1 <= k <= len(best) else 0.0

    def silence_speaks(norm: Norm, evidence: EvidencePolicy) -> float:
        hits: list[bool | float] = []
        for constraint in (c for c in norm.constraints if c.positive):
            rel = facts.capable(constraint.target, evidence.channels)
            hits.append(
                bool(rel)
                and sum(facts.closed_world(c) for c in rel) >= len(rel) - evidence.needed(len(rel)) + 1
            )
        return share(hits, 1.0)

    def customary(trigger: Trigger, norm: Norm) -> float:
        return share([min(1.0, 2 * _kept(trigger, c)) for c in norm.constraints if c.positive], 0.5)

    def _kept(trigger: Trigger, constraint: Constraint) -> float:
        if trigger.act is None or constraint.after is not None or constraint.count > 1:
            return 0.25
        acts = trigger.act.activity, constraint.target.activity
        found = facts.context.traces.delays.get(acts[::-1] if constraint.template in LOOK_BACK else acts)
        limit = constraint.deadline or trigger.window
        within = (
            0.0 if found is None else 1.0 if limit is None else found.share_within(limit.shortest_seconds())
        )
        return within * (found.cases if found else 0) / max(facts.context.traces.cases(acts[0]), 1)

    return [
        Term(("trigger",), occurs),
        Term(("scope", "trigger"), keeps),
        Term(("norm", "evidence"), capable),
        Term(("norm", "evidence"), every_log),
        Term(("norm", "evidence"), covered),
        Term(("norm", "evidence"), silence_speaks),
        Term(("trigger", "norm"), customary),
    ]


def procedural_closure(facts: Facts) -> list[Term]:
    """Does a violation lead somewhere, and back?

    Terms, equal weights:

    - share of review, decision, remedy and appeal present [procedure];
    - a response time is stated [procedure];
    - the appeal is heard by another role than decides, 0 without appeal [procedure];
    - share of inspected logs that the evidence policy lists, 0 where no step inspects one [evidence ×
      procedure];
    - share of reviewing, deciding and hearing steps whose role the scope does not regulate [scope ×
      procedure];
    - how tightly the window closes around the longest deadline, deadline / window, 1 where either is missing
      [trigger × norm].
    """

    def complete(procedure: Procedure) -> float:
        return len({s.stage for s in procedure.steps}) / len(STAGES)

    def timed(procedure: Procedure) -> float:
        return float(procedure.response_time is not None)

    def heard(procedure: Procedure) -> float:
        return _independent_appeal(procedure)

    def looked_into(evidence: EvidencePolicy, procedure: Procedure) -> float:
        return share([s.inspects in evidence.channels for s in procedure.steps if s.inspects], 0.0)

    def independent(scope: Scope, procedure: Procedure) -> float:
        return share([s.role not in scope.roles for s in procedure.steps if s.stage != "remedy"], 0.0)

    def closes(trigger: Trigger, norm: Norm) -> float:
        deadlines = [c.deadline.shortest_seconds() for c in norm.constraints if c.deadline]
        return (
            min(1.0, max(deadlines) / trigger.window.shortest_seconds())
            if deadlines and trigger.window
            else 1.0
        )

    return [
        Term(("procedure",), complete),
        Term(("procedure",), timed),
        Term(("procedure",), heard),
        Term(("evidence", "procedure"), looked_into),
        Term(("scope", "procedure"), independent),
        Term(("trigger", "norm"), closes),
    ]


def _independent_appeal(procedure: Procedure) -> float:
    deciders = {s.role for s in procedure.steps if s.stage == "decision"}
    return share([s.role not in deciders for s in procedure.steps if s.stage == "appeal"], 0.0)


def value_consistency(facts: Facts) -> list[Term]:
    """Does the rule's form honour the goal's value tags? Mean over tags of two terms each; constant 1 without
    tags.

    - accountability: a person or office answers [norm]; review and decision are named [procedure].
    - fairness: an appeal [procedure]; heard by another role than decides [procedure].
    - leniency: an exception, or should [norm]; a remedy [procedure].
    - privacy: 1 / number of logs [evidence]; 1 / number of inspecting steps [procedure].
    - safety: must [norm]; every capable log agrees [evidence].
    - timeliness: share of constraints with a deadline [norm]; a response time [procedure].
    - transparency: at least two logs [evidence]; some step inspects one [procedure].
    """

    def stages(procedure: Procedure, *names: str) -> float:
        return share([any(s.stage == n for s in procedure.steps) for n in names], 0.0)

    def answers(norm: Norm) -> float:
        return share(
            [norm.bearer != "trigger" or norm.correlation(c) == "same_resource" for c in norm.constraints],
            0.0,
        )

    meaning: dict[str, tuple[Term, Term]] = {
        "accountability": (
            Term(("norm",), answers),
            Term(("procedure",), lambda p: stages(p, "review", "decision")),
        ),
        "fairness": (
            Term(("procedure",), lambda p: stages(p, "appeal")),
            Term(("procedure",), _independent_appeal),
        ),
        "leniency": (
            Term(("norm",), lambda n: float(n.force == "should" or any(c.unless for c in n.constraints))),
            Term(("procedure",), lambda p: stages(p, "remedy")),
        ),
        "privacy": (
            Term(("evidence",), lambda e: 1 / len(e.channels)),
            Term(("procedure",), lambda p: 1 / max(1, sum(s.inspects is not None for s in p.steps))),
        ),
        "safety": (
            Term(("norm",), lambda n: float(n.force == "must")),
            Term(("evidence",), lambda e: float(e.operator == "all")),
        ),
        "timeliness": (
            Term(("norm",), lambda n: share([c.deadline is not None for c in n.constraints], 0.0)),
            Term(("procedure",), lambda p: float(p.response_time is not None)),
        ),
        "transparency": (
            Term(("evidence",), lambda e: float(len(e.channels) >= 2)),
            Term(("procedure",), lambda p: float(any(s.inspects for s in p.steps))),
        ),
    }
    terms = [term for tag in facts.context.goal.values for term in meaning[tag]]
    return terms or [Term(("norm",), lambda norm: 1.0)]


PARSIMONY = {"scope": 3, "trigger": 4, "norm": 8, "evidence": 4, "procedure": 8}
"""Names a slot can hold before the text becomes hard to take in; beyond it, budget / names."""


def language(facts: Facts) -> list[Term]:
    """Will the text be short and in people's words? Nothing else opposes a rule that lists everything.

    One term per slot: the mean of parsimony, min(1, budget / names), and the share of its names that have a
    phrase of their own.
    """
    schema, records = facts.context.schema, facts.context.records
    phrased = {
        "role": {t.name for t in schema.roles if t.phrase},
        "location": {t.name for t in schema.locations if t.phrase},
        "object": {t.name for t in schema.objects if t.phrase},
        "step": {t.name for t in schema.steps if t.phrase},
        "action": {a.name for a in schema.actions if a.phrase},
        "channel": {c.name for c in records.channels if c.phrase},
    }

    def term(slot: str) -> Term:
        def value(content: Any) -> float:
            names = names_of(content)
            parsimony = min(1.0, PARSIMONY[slot] / max(len(names), 1))
            return (parsimony + share([name in phrased[kind] for kind, name in names], 1.0)) / 2

        return Term((slot,), value)

    return [term(slot) for slot in PARSIMONY]


DEFINITIONS: dict[str, Callable[[Facts], list[Term]]] = {
    "intent_alignment": intent_alignment,
    "schema_grounding": schema_grounding,
    "record_compatibility": record_compatibility,
    "procedural_closure": procedural_closure,
    "value_consistency": value_consistency,
    "language": language,
}


def feature_vector(structure: Structure, facts: Facts) -> dict[str, float]:
    """φ(a, x) of one structure, the slow readable way: the mean of each feature's terms."""
    return {
        name: float(
            np.mean(
                [
                    term.value(*(getattr(structure, slot) for slot in term.slots))
                    for term in DEFINITIONS[name](facts)
                ]
            )
        )
        for name in FEATURES
    }
