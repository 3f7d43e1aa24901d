"""Candidate pools C_k(x) of a context: proposed by the sources, filtered, merged, ranked (paper, Candidate
construction).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

from gnrs_ppl.candidates.beside import agrees
from gnrs_ppl.candidates.data import NOTHING_SAID, SaidOfData, narrowed, said_of_data
from gnrs_ppl.candidates.grounding import Dropped, absent, beyond, ground, names_of, read_pools, unrecorded
from gnrs_ppl.candidates.likely import Suggestion, suggestions
from gnrs_ppl.candidates.observed import observed
from gnrs_ppl.candidates.primitives import primitives
from gnrs_ppl.candidates.source import Material, ProposedCandidate, ProposedCandidates
from gnrs_ppl.candidates.stated import stated
from gnrs_ppl.candidates.templates import templates
from gnrs_ppl.context.load import SOURCES as NAMES
from gnrs_ppl.context.load import Context
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import Goal
from gnrs_ppl.errors import InputError, Refused
from gnrs_ppl.rule.canonical import SlotContent, canonical_slot, dumps
from gnrs_ppl.rule.pools import FORWARD_DUTIES, Levelled, Pools
from gnrs_ppl.rule.types import SLOTS, Constraint, EvidencePolicy, Norm, Procedure, Scope, Trigger

SOURCES: dict[str, Callable[[Material], ProposedCandidates]] = dict(
    zip(NAMES, (stated, templates, primitives, observed), strict=True)
)
"""Deterministic sources; the first to propose a content gives it its place, the others join its sources."""
IN_CHARGE = "person_in_charge"
"""Who looks into breaches where the schema names no role."""
LLM = "llm"
"""The fourth source: what :mod:`gnrs_ppl.candidates.proposed` keeps of a model's proposals."""
POOL_LIMIT = 12
"""Most candidates a slot keeps, the same everywhere; those read from the goal's sentence stay, be they more.
"""
TYPES: dict[str, Any] = {
    "scope": Scope,
    "trigger": Trigger,
    "norm": Norm,
    "evidence": EvidencePolicy,
    "procedure": Procedure,
}


class Built(NamedTuple):
    """Pools, how many candidates each (source, slot) proposed, what was dropped with its reason, and what the
    log makes likely that is in no pool.
    """

    pools: Pools
    proposed: Counter[tuple[str, str]]
    dropped: tuple[Dropped, ...]
    suggested: tuple[Suggestion, ...] = ()


def pools_of(
    context: Context, proposals: Sequence[ProposedCandidate] = (), asked: Collection[str] = ()
) -> Built:
    """The pools a context lists by hand, else its own; without what rests on a zero or goes beyond the goal.

    Parameters
    ----------
    context : Context
    proposals : sequence of ProposedCandidate
        Of the fourth source; the pools are what they are without it where there are none.
    asked : collection of str
        Pins as ``--fix`` takes them; what the log suggests enters the pools where one of them asks for it.

    Raises
    ------
    InputError
        As :func:`build_pools` and :func:`~gnrs_ppl.candidates.grounding.read_pools`.
    """
    if context.pools is None:
        return build_pools(context, proposals, asked)
    listed = read_pools(context)
    pools, dropped = ground(listed, context)
    built = Built(
        pools, Counter((c.sources[0], slot) for slot in SLOTS for c in getattr(listed, slot)), dropped
    )
    return _with_proposals(built, proposals, context) if proposals else built


def build_pools(
    context: Context, proposals: Sequence[ProposedCandidate] = (), asked: Collection[str] = ()
) -> Built:
    """Pools of a context's own: what the sources propose, without what rests on a zero or goes beyond the
    goal.

    Equal contents with equal levels are one candidate. Those read from the sentence stay; of the others the
    best ranked fill the pool.

    Raises
    ------
    InputError
        When the goal names no action, or a slot is left empty; the line holds the first reason.
    Refused
        When no row shows an act that the goal says sets the rule to work.
    """
    material = Material(context)
    if not material.regulated:
        remedy = "state goal.required or goal.forbidden, or list pools"
        raise InputError(
            "requires and forbids nothing, so no rule can be proposed",
            remedy,
            source=context.source,
            field="goal",
        )
    if unseen := next((name for name in material.goal.triggers if name not in material.traces.homes), None):
        raise Refused(
            f"goal.triggers: {absent('action', unseen, context)}", "name a recorded act", reason="no_such_act"
        )
    kept: dict[str, dict[str, PoolEntry]] = {slot: {} for slot in SLOTS}
    proposed: Counter[tuple[str, str]] = Counter()
    dropped: dict[tuple[str, str], Dropped] = {}
    data = said_of_data(material)
    for source, found in [
        *((source, propose(material)) for source, propose in SOURCES.items() if source in context.sources),
        (LLM, iter(proposals)),
    ]:
        for proposal in found:
            entry, says = filtered(proposal, source, context, data)
            proposed[source, proposal.slot] += 1
            if isinstance(entry, Dropped):
                dropped.setdefault((proposal.slot, says), entry)
            else:
                same = kept[proposal.slot].setdefault(says + dumps(entry.vary), entry)
                same.sources = tuple(sorted({*same.sources, source}))
    for says, reason in _without_required(kept["norm"], context.goal).items():
        entry = kept["norm"].pop(says)
        told = f"{entry.provenance.partition(': ')[2]}: {dumps(entry.content)}"
        dropped["norm", says] = Dropped("norm", told, reason)
    if _sentence_alone(material):
        for says in _opened_by_nobody_in(kept["scope"], kept["trigger"], material):
            entry = kept["scope"].pop(says)
            roles = ", ".join(entry.content.roles) if isinstance(entry.content, Scope) else ""
            dropped["scope", says] = Dropped("scope", f"roles {roles}", "no row shows one of them opening it")
    suggested = [s for s in suggestions(material) if not _said(s, material, data)]
    pools: dict[str, list[dict[str, Any]]] = {}
    for slot in SLOTS:
        entries = [*kept[slot].values()]
        if not entries or (slot == "scope" and _asks_for_what_no_row_has(entries, context)):
            entries += _bare(slot, context, data)
        if not entries:
            reasons = [d.reason for d in dropped.values() if d.slot == slot]
            raise _left_empty(slot, reasons[0] if reasons else "", material, context)
        read = [entry for entry in entries if "reading" in entry.sources]
        stays_as_read = _sentence_alone(material) or bool(data.attributes)
        whoever_acts = slot == "scope" and any(
            isinstance(e.content, Scope) and not e.content.roles for e in read
        )
        if (slot in ("trigger", "norm") or whoever_acts) and read and stays_as_read:
            entries = [e for e in entries if e in read or LLM in e.sources]  # no neighbour of what is said
        if said := [e for e in read if agrees(e.content, material)]:
            entries = [e for e in entries if e in said or (LLM in e.sources and agrees(e.content, material))]
            read = said
        others = [entry for entry in entries if "reading" not in entry.sources]
        others.sort(key=lambda entry: -_rank(entry.content, material.goal, context))
        chosen = {*read, *others[: max(POOL_LIMIT - len(read), 0)]}
        stays = [entry for entry in entries if entry in chosen]
        for suggestion in suggested:
            if suggestion.pin in asked:
                stays += [*_also_saying(suggestion, stays)]
        pools[slot] = [entry.named(f"{slot[0].upper()}{number}") for number, entry in enumerate(stays, 1)]
    left = tuple(s for s in suggested if s.pin not in asked)
    return Built(Pools.model_validate(pools), proposed, tuple(dropped.values()), left)


def _said(suggestion: Suggestion, material: Material, data: SaidOfData) -> bool:
    """Whether the sentence says what a log suggests, or says otherwise of the same."""
    if suggestion.condition is not None:
        return suggestion.condition.attribute in data.attributes
    said = [s.best for s in material.readings.statements]
    return any(r.who and suggestion.act in {a.activity for a in r.targets} for r in said)


def _also_saying(suggestion: Suggestion, entries: Sequence[PoolEntry]) -> Iterator[PoolEntry]:
    """Candidates of a pool that say a suggestion too."""
    known = [(entry.content, entry.vary) for entry in entries]
    for entry in entries:
        content = suggestion.said_in(entry.content)
        if content is not None and (told := (canonical_slot(content), entry.vary)) not in known:
            known.append(told)
            yield PoolEntry(*told, ("record",), f"record: {suggestion.because}")


def _sentence_alone(material: Material) -> bool:
    """Whether nothing but the goal's sentence says what is asked."""
    goal = material.context.goal
    return not (goal.required or goal.forbidden or goal.permitted)


def _opened_by_nobody_in(
    scopes: Mapping[str, PoolEntry], triggers: Mapping[str, PoolEntry], material: Material
) -> list[str]:
    """Scopes of roles none of which is recorded with an act that the sentence is read to be opened by: such a
    rule would find nothing to check.
    """
    opened = [
        entry.content.act
        for entry in triggers.values()
        if isinstance(entry.content, Trigger) and "reading" in entry.sources
    ]
    seen = {
        role
        for act in opened
        for name in (act.activities if act else ())
        for role in material.traces.pair(name).values.get("role", {})
    }
    if None in opened or not seen:
        return []
    return [
        says
        for says, entry in scopes.items()
        if isinstance(entry.content, Scope) and entry.content.roles and seen.isdisjoint(entry.content.roles)
    ]


def _without_required(norms: Mapping[str, PoolEntry], goal: Goal) -> dict[str, str]:
    """Norms that leave out an act that a person's fields require, with the reason to drop them; none where
    no norm demands every such act.
    """
    demanded = {
        says: {name for c in entry.content.constraints if c.positive for name in c.target.activities}
        for says, entry in norms.items()
        if isinstance(entry.content, Norm)
    }
    missing = {says: [a for a in goal.required if a not in acts] for says, acts in demanded.items()}
    reasons = {says: f"leaves out {', '.join(acts)} of goal.required" for says, acts in missing.items()}
    reasons = {says: reason for says, reason in reasons.items() if missing[says]}
    return reasons if len(reasons) < len(norms) else {}


def _asks_for_what_no_row_has(scopes: Sequence[PoolEntry], context: Context) -> bool:
    """Whether every scope filters by roles or places in a log that records none at all."""
    kinds = {kind for kind, _ in context.profile.counts}
    fields = [kind for kind in ("role", "location", "object") if kind not in kinds]
    return not context.records.prospective and all(
        any(getattr(entry.content, f"{kind}s") for kind in fields) for entry in scopes
    )


def _bare(slot: str, context: Context, data: SaidOfData) -> Iterator[PoolEntry]:
    """What a slot holds where the context names nothing to fill it with: what is missing is left out of the
    rule, which still stands.
    """
    channels = [c.name for c in context.records.channels if c.durable] or sorted(
        {c for c, _ in context.profile.pairs}
    )
    bare: dict[str, ProposedCandidate] = {
        "scope": ProposedCandidate("scope", {}, "whoever acts"),
        "trigger": ProposedCandidate("trigger", {}, "the start of the case"),
        "evidence": ProposedCandidate(
            "evidence", {"channels": channels[:16], "operator": "any"}, "every log"
        ),
        "procedure": ProposedCandidate(
            "procedure",
            {
                "steps": [
                    {"stage": stage, "name": stage, "role": IN_CHARGE}
                    for stage in ("review", "decision", "remedy")
                ]
            },
            "the schema names no role that could look into it",
            {"response_time": [Duration.parse("P7D")]},
        ),
    }
    if slot in bare and (slot != "evidence" or channels):
        entry, _ = filtered(bare[slot], "template", context, data)
        if isinstance(entry, PoolEntry):
            yield entry


def _left_empty(slot: str, reason: str, material: Material, context: Context) -> InputError:
    """The error of a slot that nothing fills, with the field that would cure it."""
    if slot == "norm":
        field = next(
            (
                f"goal.{name}"
                for name in ("required", "forbidden", "permitted")
                if getattr(context.goal, name)
            ),
            "goal.intent",
        )
        acts = ", ".join(material.regulated[:3])
        remedy = (
            f"name acts that are recorded, or correct schema.actions where the log spells {acts} otherwise"
        )
        return InputError(
            f"no duty or ban on {acts} can be checked ({reason or 'no source proposed one'})",
            remedy,
            source=context.source,
            field=field,
        )
    remedy = "declare a channel, or list pools by hand" if slot == "evidence" else "list pools by hand"
    field = "records.channels" if slot == "evidence" else f"pools.{slot}"
    return InputError(
        f"no candidate is left ({reason or 'no source proposed one'})",
        remedy,
        source=context.source,
        field=field,
    )


@dataclass(eq=False)
class PoolEntry:
    """A candidate while its pool fills: it has no name yet, and further sources may propose the same."""

    content: SlotContent
    vary: Levelled
    sources: tuple[str, ...]
    provenance: str

    def named(self, name: str) -> dict[str, Any]:
        """As a pool lists it."""
        return {"id": name, **vars(self)}


def filtered(
    proposal: ProposedCandidate, source: str, context: Context, data: SaidOfData = NOTHING_SAID
) -> tuple[PoolEntry | Dropped, str]:
    """A proposal in canonical form, or why the grounding filter drops it; and what it says, as JSON.

    ``data`` is what the sentence says of data, which every scope keeps.
    """
    stated = as_the_goal_says(narrowed(proposal, data), context)
    content = canonical_slot(TYPES[proposal.slot].model_validate(stated.content))
    vary = Levelled.model_validate({name: tuple(levels) for name, levels in stated.vary.items() if levels})
    says = dumps(content)
    if reason := unrecorded(content, context, data.attributes) or beyond(content, context):
        return Dropped(proposal.slot, f"{proposal.because}: {says}", reason), says
    return PoolEntry(content, vary, (source,), f"{source}: {proposal.because}"), says


def _with_proposals(built: Built, proposals: Sequence[ProposedCandidate], context: Context) -> Built:
    """Pools listed by hand with proposals behind them; what they hold already is not added again."""
    proposed, dropped = built.proposed.copy(), list(built.dropped)
    pools: dict[str, list[dict[str, Any]]] = {
        slot: [dict(candidate) for candidate in getattr(built.pools, slot)] for slot in SLOTS
    }
    for proposal in proposals:
        entry, _ = filtered(proposal, LLM, context)
        proposed[LLM, proposal.slot] += 1
        pool = pools[proposal.slot]
        if isinstance(entry, Dropped):
            dropped.append(entry)
        elif all((canonical_slot(c["content"]), c["vary"]) != (entry.content, entry.vary) for c in pool):
            taken = {c["id"] for c in pool}
            pool.append(
                entry.named(
                    next(n for i in count(1) if (n := f"{proposal.slot[0].upper()}-{LLM}-{i}") not in taken)
                )
            )
    return built._replace(pools=Pools.model_validate(pools), proposed=proposed, dropped=tuple(dropped))


def as_the_goal_says(proposal: ProposedCandidate, context: Context) -> ProposedCandidate:
    """A norm in the force the goal states and with its deadline on the acts the goal wants in time; any other
    proposal as it is.

    Where no log tells who acts, and no office bears the norm, each act is asked of the one role that may
    perform it.
    """
    goal, schema = context.goal, context.schema
    if proposal.slot != "norm":
        return proposal
    content = proposal.content | ({"force": goal.force} if goal.force else {})
    named = context.records.prospective and "bearer" not in content
    roles = {action.name: action.roles[0] for action in schema.actions if named and len(action.roles) == 1}
    constraints = []
    for constraint in map(Constraint.model_validate, content["constraints"]):
        name, stated = constraint.target.activity, dict[str, Any]()
        if constraint.template in FORWARD_DUTIES and name in goal.timed:
            stated["deadline"] = goal.within
        if constraint.target.role is None and name in roles:
            stated |= {
                "target": constraint.target.model_copy(update={"role": roles[name]}),
                "correlate": "same_case",
            }
        constraints.append(constraint.model_copy(update=stated))
    vary = {
        parameter: levels
        for parameter, levels in proposal.vary.items()
        if not goal.timed or parameter != "deadline"
    }
    return proposal._replace(content=content | {"constraints": constraints}, vary=vary)


def _rank(content: SlotContent, goal: Goal, context: Context) -> float:
    """Mean of two shares over the names of a candidate: those the goal says, and those the records show."""
    counts = context.profile.counts
    said = {
        *goal.required,
        *goal.forbidden,
        *goal.permitted,
        *goal.triggers,
        *goal.roles,
        *goal.locations,
        *goal.objects,
    }
    names = names_of(content)
    if not names:
        return 0.5
    return sum((name in said) + bool(counts.get((kind, name))) for kind, name in names) / (2 * len(names))
