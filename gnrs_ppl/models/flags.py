"""The hard predicate h of s_search: named conditions over at most two slots, each with what would remedy it
(DESIGN §3).

A condition is *raised* where it fails; h(a) holds when none is raised. They share the intent of the
evaluator's HARD-OK gate, not its code and not ρ, and add what only a check needs (deadlines, grains, keys).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gnrs_ppl.context.time import GRAIN_LENGTH, Duration
from gnrs_ppl.models.features import Facts, positive_targets
from gnrs_ppl.rule.types import (
    BESIDE,
    COUNTING,
    KEY_OF,
    MUTUAL,
    NEIGHBOURS,
    Act,
    Constraint,
    EvidencePolicy,
    Norm,
    Procedure,
    Scope,
    Structure,
    Trigger,
)


@dataclass(frozen=True)
class Flag:
    """A hard condition: ``raised`` takes the contents of ``slots`` and says whether it fails."""

    name: str
    slots: tuple[str, ...]
    raised: Callable[..., bool]
    remedy: str


def flags(facts: Facts) -> list[Flag]:
    """Every hard condition on a context's structures."""
    return _norm_flags(facts) + _evidence_flags(facts) + _trigger_flags(facts) + _procedure_flags(facts)


def _norm_flags(facts: Facts) -> list[Flag]:
    goal = facts.context.goal

    def misses_required(trigger: Trigger, norm: Norm) -> bool:
        met = [
            a
            for c in norm.constraints
            for a in (c.unless, c.after.act if c.after else None, trigger.act)
            if a
        ]
        return not set(goal.required) <= {
            *positive_targets(norm),
            *(name for act in met for name in act.activities),
        }

    def demands_forbidden(norm: Norm) -> bool:
        return bool(set(goal.forbidden) & set(positive_targets(norm)))

    def only_permits(norm: Norm) -> bool:
        return norm.force == "may" and bool(goal.required or goal.forbidden)

    def endless(norm: Norm) -> bool:
        ends = facts.context.records.case_end or facts.context.records.quiet_after
        return not ends and any(c.template == "end" for c in norm.constraints)

    def after_unrecordable(norm: Norm) -> bool:
        afters = [c.after for c in norm.constraints if c.after]
        return any(a.act.activity not in facts.capability.get(a.channel, ()) for a in afters)

    return [
        Flag(
            "required_actions_targeted",
            ("trigger", "norm"),
            misses_required,
            "add a norm candidate that demands every required action",
        ),
        Flag(
            "forbidden_actions_not_demanded",
            ("norm",),
            demands_forbidden,
            "add a norm candidate that does not demand a forbidden action",
        ),
        Flag(
            "goal_is_binding",
            ("norm",),
            only_permits,
            "use must or should: a permission cannot carry out the goal",
        ),
        Flag("after_recorded", ("norm",), after_unrecordable, "name a channel that records the after act"),
        Flag("cases_end", ("norm",), endless, "declare records.case_end or records.quiet_after"),
    ]


def _evidence_flags(facts: Facts) -> list[Flag]:
    def unseen_act(norm: Norm, evidence: EvidencePolicy) -> bool:
        return any(
            _unverifiable(facts, act, evidence)
            for c in norm.constraints
            for act in (c.target, c.unless)
            if act
        )

    def folded(norm: Norm, evidence: EvidencePolicy) -> bool:
        return any(
            (c.count > 1 or c.template == "exactly")
            and evidence.needed(len(facts.capable(c.target, evidence.channels))) > 1
            for c in norm.constraints
            if c.template in COUNTING
        )

    def lone(norm: Norm, evidence: EvidencePolicy) -> bool:
        logs = [(c, facts.capable(c.target, evidence.channels)) for c in norm.constraints]
        agreeing = any(c.template in NEIGHBOURS and evidence.needed(len(rel)) > 1 for c, rel in logs)
        return agreeing or any(c.template in MUTUAL and len(rel) > 1 for c, rel in logs)

    def keyless(norm: Norm, evidence: EvidencePolicy) -> bool:
        return any(
            _key_unrecorded(facts, norm, c, c.target, facts.capable(c.target, evidence.channels))
            for c in norm.constraints
        )

    def fieldless(norm: Norm, evidence: EvidencePolicy) -> bool:
        acts = [a for c in norm.constraints for a in (norm.target(c), c.unless) if a]
        return any(_field_unrecorded(facts, act, facts.capable(act, evidence.channels)) for act in acts)

    def coarse(norm: Norm, evidence: EvidencePolicy) -> bool:
        return any(
            _too_coarse(facts, c.deadline, c.target, ch)
            for c in norm.constraints
            for ch in facts.capable(c.target, evidence.channels)
        )

    def trigger_unseen(trigger: Trigger, evidence: EvidencePolicy) -> bool:
        return trigger.act is not None and not facts.capable(trigger.act, evidence.channels)

    more = "list an evidence channel that records it"
    return [
        Flag(
            "acts_recorded_by_evidence",
            ("norm", "evidence"),
            unseen_act,
            more + ", enough of them for the operator",
        ),
        Flag(
            "counted_acts_need_one_log",
            ("norm", "evidence"),
            folded,
            "use operator any where acts are counted",
        ),
        Flag(
            "neighbours_need_one_log",
            ("norm", "evidence"),
            lone,
            "use operator any, and one log for acts that ask for each other",
        ),
        Flag(
            "correlation_key_recorded",
            ("norm", "evidence"),
            keyless,
            "correlate by case, or cite logs that record the key",
        ),
        Flag(
            "stated_fields_recorded",
            ("norm", "evidence"),
            fieldless,
            "leave the field out, or cite logs that record it",
        ),
        Flag(
            "deadline_not_finer_than_clock",
            ("norm", "evidence"),
            coarse,
            "lengthen the deadline to two units of the log's clock",
        ),
        Flag("trigger_recorded_by_evidence", ("trigger", "evidence"), trigger_unseen, more),
    ]


def _trigger_flags(facts: Facts) -> list[Flag]:
    def unrecordable(trigger: Trigger) -> bool:
        return trigger.act is not None and trigger.act.activity not in facts.capability.get(
            trigger.channel or "", ()
        )

    def fieldless(trigger: Trigger) -> bool:
        return trigger.act is not None and _field_unrecorded(facts, trigger.act, [trigger.channel or ""])

    def unfiltered(scope: Scope, trigger: Trigger) -> bool:
        if trigger.act is None or trigger.channel is None:
            return False
        pair = facts.pair(trigger.channel, trigger.act)
        stated = (("role", scope.roles), ("location", scope.locations), ("object", scope.objects))
        return pair.rows > 0 and any(names and not pair.recorded.get(field, 0) for field, names in stated)

    def late(trigger: Trigger, norm: Norm) -> bool:
        return trigger.window is not None and any(
            c.deadline and not c.deadline.fits_within(trigger.window) for c in norm.constraints
        )

    def circular(trigger: Trigger, norm: Norm) -> bool:
        def opens(constraint: Constraint) -> set[str]:
            return {
                name
                for act in (trigger.act, constraint.after.act if constraint.after else None)
                if act
                for name in act.activities
            }

        return any(set(c.target.activities) & opens(c) for c in norm.constraints)

    def of_one_person(trigger: Trigger, norm: Norm) -> bool:
        return trigger.act is None and any(norm.correlation(c) != "same_case" for c in norm.constraints)

    def unopened(trigger: Trigger, norm: Norm) -> bool:
        beside = (*BESIDE, *MUTUAL)
        return trigger.act is None and any(c.template in beside and c.after is None for c in norm.constraints)

    def keyless(trigger: Trigger, norm: Norm) -> bool:
        if trigger.act is None or trigger.channel is None:
            return False
        act, channel = trigger.act, trigger.channel
        return any(
            _key_unrecorded(facts, norm, c, act, [channel]) or _key_constant(facts, norm, c, act, channel)
            for c in norm.constraints
        )

    def coarse(trigger: Trigger, norm: Norm) -> bool:
        if trigger.act is None or trigger.channel is None:
            return False
        return any(_too_coarse(facts, c.deadline, trigger.act, trigger.channel) for c in norm.constraints)

    return [
        Flag("trigger_recorded", ("trigger",), unrecordable, "name a channel that records the trigger act"),
        Flag("trigger_fields_recorded", ("trigger",), fieldless, "leave the field out of the trigger act"),
        Flag(
            "scope_fields_recorded",
            ("scope", "trigger"),
            unfiltered,
            "widen the scope, or trigger on a log that records the field",
        ),
        Flag("deadline_fits_window", ("trigger", "norm"), late, "widen the window or shorten the deadline"),
        Flag(
            "target_differs_from_trigger",
            ("trigger", "norm"),
            circular,
            "demand another act than the one that opens the instance",
        ),
        Flag(
            "neighbours_have_an_opener",
            ("trigger", "norm"),
            unopened,
            "open the rule by an act, or state what it comes after",
        ),
        Flag(
            "case_start_correlates_by_case",
            ("trigger", "norm"),
            of_one_person,
            "correlate by case: nobody in particular opens one",
        ),
        Flag(
            "trigger_key_recorded",
            ("trigger", "norm"),
            keyless,
            "correlate by case, or trigger on a log that records the key of more than one",
        ),
        Flag(
            "deadline_not_finer_than_trigger_clock",
            ("trigger", "norm"),
            coarse,
            "lengthen the deadline to two units of the log's clock",
        ),
    ]


def _procedure_flags(facts: Facts) -> list[Flag]:
    def looks_elsewhere(evidence: EvidencePolicy, procedure: Procedure) -> bool:
        return any(s.inspects is not None and s.inspects not in evidence.channels for s in procedure.steps)

    remedy = "let the procedure inspect only logs that the evidence policy lists"
    return [Flag("procedure_inspects_evidence", ("evidence", "procedure"), looks_elsewhere, remedy)]


def _unverifiable(facts: Facts, act: Act, evidence: EvidencePolicy) -> bool:
    rel = [facts.capable(pattern, evidence.channels) for pattern in act.patterns]
    n = len({channel for channels in rel for channel in channels})
    several = (
        len(act.activities) > 1 and evidence.needed(n) > 1
    )  # acts of several kinds in logs that must agree: A entries
    return not all(rel) or n < evidence.needed(n) or several


def _key_unrecorded(facts: Facts, norm: Norm, constraint: Constraint, act: Act, channels: list[str]) -> bool:
    key = KEY_OF.get(norm.correlation(constraint))
    if key is None:
        return False
    pairs = [facts.pair(c, act) for c in channels]
    return sum(p.rows for p in pairs) > 0 and sum(p.recorded.get(key, 0) for p in pairs) == 0


def _key_constant(facts: Facts, norm: Norm, constraint: Constraint, act: Act, channel: str) -> bool:
    """Whether trigger and target may be shown by rows that all carry one and the same key, over two cases or
    more.
    """
    key = KEY_OF.get(norm.correlation(constraint))
    opener = facts.pair(channel, act)
    if key is None or key not in opener.sole:
        return False
    targets = [
        pair
        for (_, name), pair in facts.context.profile.pairs.items()
        if name in constraint.target.activities
    ]
    return any(
        t.sole.get(key) == opener.sole[key] and min(opener.cases + t.cases, facts.context.profile.cases) > 1
        for t in targets
    )


def _field_unrecorded(facts: Facts, act: Act, channels: list[str]) -> bool:
    pairs = [facts.pair(c, act) for c in channels]
    rows = sum(p.rows for p in pairs)
    stated = [f for f in ("location", "object", "role") if getattr(act, f) is not None]
    return rows > 0 and any(sum(p.recorded.get(f, 0) for p in pairs) == 0 for f in stated)


def _too_coarse(facts: Facts, deadline: Duration | None, act: Act, channel: str) -> bool:
    declared = facts.context.records.channel(channel)
    grain = (declared.grain if declared else None) or facts.pair(channel, act).grain
    return (
        deadline is not None
        and grain is not None
        and GRAIN_LENGTH[grain].total_seconds() > deadline.shortest_seconds() / 2
    )


def raised(structure: Structure, facts: Facts) -> list[Flag]:
    """The hard conditions a structure breaks, the slow readable way."""
    return [f for f in flags(facts) if f.raised(*(getattr(structure, slot) for slot in f.slots))]
