"""The grounding filter: a candidate stays if the goal lets it and its load-bearing names are recorded
(DESIGN §2).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from gnrs_ppl.context.files import validated
from gnrs_ppl.context.load import Context, nearest, require_known
from gnrs_ppl.errors import InputError
from gnrs_ppl.rule.canonical import SlotContent, beyond_payloads_in, names_in
from gnrs_ppl.rule.pools import Candidate, Pools
from gnrs_ppl.rule.types import KEY_OF, MUTUAL, SLOTS, Norm, Scope, Trigger


class Dropped(NamedTuple):
    """What was not kept, and why.

    For a candidate the count that shows it and the nearest name that is grounded; for a model's answer what
    is wrong.
    """

    slot: str
    candidate: str
    reason: str


def read_pools(context: Context) -> Pools:
    """The pools a context file lists by hand, every name checked against schema and record layer.

    Raises
    ------
    InputError
        A missing pool, a malformed candidate, an unknown name, a mutual norm beside a scope that filters.
    """
    pools = validated(Pools, dict(context.pools or {}), source=context.source, field="pools")
    known = known_names(context)
    for slot in SLOTS:
        for candidate in getattr(pools, slot):
            _check_names(context, known, candidate, f"pools.{slot}.{candidate.id}")
    for scope in pools.scope:
        for norm in pools.norm:
            _check_reach(context, scope, norm)
    return pools


Known = Mapping[str, tuple[Collection[str], str]]


def known_names(context: Context) -> Known:
    """Kind -> the names that schema and record layer have, and what to call that list."""
    schema = context.schema
    channels = [c.name for c in context.records.channels] or sorted({c for c, _ in context.profile.pairs})
    return {
        "role": (dict.fromkeys(t.name for t in schema.roles), "the schema's roles"),
        "location": (dict.fromkeys(t.name for t in schema.locations), "the schema's locations"),
        "object": (dict.fromkeys(t.name for t in schema.objects), "the schema's objects"),
        "action": (dict.fromkeys(a.name for a in schema.actions), "the schema's actions"),
        "step": (dict.fromkeys(t.name for t in schema.steps), "the schema's steps"),
        "channel": (dict.fromkeys(channels), "the record layer's channels"),
    }


def _check_names(context: Context, known: Known, candidate: Candidate[Any], field: str) -> None:
    content = candidate.content
    for kind, name in names_of(content):
        names, what = known[kind]
        require_known(name, names, what, source=context.source, field=field)


def _check_reach(context: Context, scope: Candidate[Scope], norm: Candidate[Norm]) -> None:
    """Refuse a scope that cannot reach the target's rows, which a mutual template binds too (P1)."""
    mutual = next((c.template for c in norm.content.constraints if c.template in MUTUAL), None)
    filters = scope.content.locations or scope.content.objects or scope.content.where
    if mutual and (filters or (scope.content.roles and norm.content.bearer == "trigger")):
        raise InputError(
            f"{mutual} binds the target's rows too, which scope {scope.id!r} does not reach",
            "leave one of the two out",
            source=context.source,
            field=f"pools.norm.{norm.id}",
        )


def names_of(content: SlotContent) -> list[tuple[str, str]]:
    """Every (kind, name) a slot's content states, those that the check rests on first."""
    return load_bearing(content) + descriptive(content)


def load_bearing(content: SlotContent) -> list[tuple[str, str]]:
    """Names the check cannot run without, and the logs a procedure promises to look into."""
    return [(found.kind, found.name) for found in names_in(content) if found.load_bearing]


def descriptive(content: SlotContent) -> list[tuple[str, str]]:
    """Names only the text uses, or whose use as a filter depends on other slots; acts that show a step was
    taken come last.
    """
    pairs = [(found.kind, found.name) for found in names_in(content) if not found.load_bearing]
    return sorted(pairs, key=lambda pair: pair[0] == "action")


def marked(content: SlotContent) -> dict[str, list[str]]:
    """Names of a content, ``kind name``, by what rests on them: the check (load-bearing) or the text alone
    (descriptive).
    """
    return {
        "load_bearing": [" ".join(pair) for pair in load_bearing(content)],
        "descriptive": [" ".join(pair) for pair in descriptive(content)],
    }


def ground(pools: Pools, context: Context) -> tuple[Pools, tuple[Dropped, ...]]:
    """Pools without the candidates that rest on a zero or go beyond the goal, and what was dropped.

    Raises
    ------
    InputError
        When nothing is left in a slot; the line holds the first reason.
    """
    kept: dict[str, tuple[Candidate[Any], ...]] = {}
    dropped: list[Dropped] = []
    for slot in SLOTS:
        candidates = getattr(pools, slot)
        reasons = [(c, unrecorded(c.content, context) or beyond(c.content, context)) for c in candidates]
        dropped += [Dropped(slot, c.id, reason) for c, reason in reasons if reason]
        kept[slot] = tuple(c for c, reason in reasons if not reason)
        if not kept[slot]:
            raise InputError(
                f"every candidate rests on something never recorded ({reasons[0][1]})",
                "add a candidate that rests on recorded names",
                source=context.source,
                field=f"pools.{slot}",
            )
    return Pools(**kept), tuple(dropped)


def unrecorded(content: SlotContent, context: Context, said: Collection[str] = ()) -> str:
    """Why a content rests on a zero, in one line with the count; empty when it does not.

    Conditions on attributes that the sentence ``said`` need not be weighed: all to choose from states them.
    """
    for what in beyond_payloads_in(content, said):
        return f"{what}, which the search does not weigh"
    profile = context.profile
    act, channel = (content.act, content.channel) if isinstance(content, Trigger) else (None, None)
    if (
        act
        and channel
        and profile.counts.get(("channel", channel))
        and not profile.rows(channel, act.activity)
    ):
        where = sorted({c for c, a in profile.pairs if a == act.activity})
        return f"0 rows of {act.activity!r} in {channel!r}" + (
            f"; it is recorded in {where[0]!r}" if where else ""
        )
    reasons = (absent(kind, name, context) for kind, name in load_bearing(content))
    return next(filter(None, reasons), "") or (
        _uncorrelated(content, context) if isinstance(content, Norm) else ""
    )


def absent(kind: str, name: str, context: Context) -> str:
    """Why a name rests on a zero, with the nearest that does not; empty where it is recorded."""
    profile = context.profile
    if profile.counts.get((kind, name)):
        return ""
    near = nearest(name, sorted(n for k, n in profile.counts if k == kind), 0.0)
    if context.records.prospective:
        return f"no channel is declared to show {kind} {name!r}" + (
            f"; nearest declared: {near!r}" if near else ""
        )
    return f"0 of {profile.events:,} rows carry {kind} {name!r}" + (
        f"; nearest recorded: {near!r}" if near else ""
    )


def _uncorrelated(norm: Norm, context: Context) -> str:
    """Why a key that acts are correlated by tells nothing: no row of an act carries it, or all rows of the
    log carry the same.
    """
    pairs = context.profile.pairs
    for constraint in norm.constraints:
        key = KEY_OF.get(norm.correlation(constraint))
        if key is None:
            continue
        after = constraint.after.act.activities if constraint.after else ()
        for activity in (*constraint.target.activities, *after):
            own = [pair for (_, a), pair in pairs.items() if a == activity]
            rows = sum(pair.rows for pair in own)
            if rows and not any(pair.recorded.get(key) for pair in own):
                return (
                    f"0 of {rows:,} rows of {activity!r} carry the {key} that "
                    f"{norm.correlation(constraint)} asks for"
                )
        carrying = [pair for pair in pairs.values() if pair.recorded.get(key)]
        values = {pair.sole.get(key) for pair in carrying}
        if len(values) == 1 and None not in values and context.profile.cases > 1:
            value, rows = values.pop(), sum(pair.recorded[key] for pair in carrying)
            return (
                f"{key} is {value!r} in all {rows:,} rows that carry one, so "
                f"{norm.correlation(constraint)} correlates nothing"
            )
    return ""


def beyond(content: SlotContent, context: Context) -> str:
    """Why a norm says more or less than the goal lets it, in one line; empty when it does not.

    A goal that states its force gets norms of that force only, and what a goal permits no norm may demand or
    forbid.
    """
    goal = context.goal
    if not isinstance(content, Norm):
        return ""
    if goal.force is not None and content.force != goal.force:
        return f"the norm says {content.force} where the goal says {goal.force}"
    bound = next(
        (c.target.activity for c in content.constraints if c.target.activity in goal.permitted), None
    )
    if content.force != "may" and bound is not None:
        return f"the goal permits {bound!r}, which the norm would make a duty or a ban"
    return ""
