"""What it would take: the smallest additions to the records under which a refused or undecided part becomes
checkable, each proved by adding it and checking again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.names import unrecorded as unrecorded_names
from gnrs_ppl.audit.run import evaluate
from gnrs_ppl.audit.types import InstanceVerdict
from gnrs_ppl.candidates.grounding import read_pools
from gnrs_ppl.candidates.grounding import unrecorded as rests_on_a_zero
from gnrs_ppl.context.load import Context
from gnrs_ppl.context.log import resolved
from gnrs_ppl.context.time import Duration, coarsest
from gnrs_ppl.context.types import Schema
from gnrs_ppl.errors import GnrsError, InputError, Refused
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.text import phrase, render
from gnrs_ppl.rule.canonical import refuse_data
from gnrs_ppl.rule.pools import Option, Pools, options
from gnrs_ppl.rule.types import KEY_OF, SLOTS, Act, Structure
from gnrs_ppl.rulebook.additions import (
    ELSEWHERE,
    VARIANTS,
    Addition,
    Close,
    Cover,
    EndCases,
    Fill,
    Finer,
    Keep,
    Records,
)

MOST_TOGETHER = 3
"""Additions that are tried together."""
BASE = "the first rule of the pools that can be checked"
DECIDED = ("satisfied", "violated", "excused", "not_activated")
Key = tuple[str, str, int, bool]


class Part(NamedTuple):
    """A rule to be checked, and what it is called."""

    name: str
    structure: Structure


class Remedy(NamedTuple):
    """Additions that together make a part checkable, none of which could be left out.

    They are tried with what the rule names, and with something else or nothing: ``settles`` is the smaller of
    the two counts of verdicts that are then decided, ``at_most`` the greater.
    """

    additions: tuple[Addition, ...]
    settles: int
    at_most: int


class Gap(NamedTuple):
    """A part that is refused, or leaves verdicts undecided, and what it would take.

    ``refused`` says why it is refused; ``undecided`` counts verdicts by reason where it is not, and ``left``
    those that nothing settles.
    """

    part: Part
    text: str
    refused: str
    undecided: dict[str, int]
    remedies: tuple[Remedy, ...]
    left: int = 0


@dataclass(frozen=True)
class Gaps:
    """Gaps of some records, those first that settle most."""

    gaps: tuple[Gap, ...]
    checkable: tuple[Part, ...]

    def as_dict(self) -> dict[str, Any]:
        """The JSON of ``gnrs gaps``."""
        return {
            "gaps": [
                {
                    "part": gap.part.name,
                    "text": gap.text,
                    "refused": gap.refused or None,
                    "undecided": gap.undecided,
                    "not_settled": gap.left,
                    "remedies": [
                        {
                            "additions": [
                                {"kind": type(one).__name__.lower(), "says": one.says}
                                | {
                                    k: v if isinstance(v, tuple) else str(v)
                                    for k, v in vars(one).items()
                                    if v
                                }
                                for one in remedy.additions
                            ],
                            "settles": remedy.settles,
                            "at_most": remedy.at_most,
                        }
                        for remedy in gap.remedies
                    ],
                }
                for gap in self.gaps
            ],
            "checkable": [part.name for part in self.checkable],
        }


def gaps(context: Context, rule: Structure | None = None) -> Gaps:
    """What it would take to check a rule, or what a context's pools hold, on its records.

    Parameters
    ----------
    context : Context
        With a log.
    rule : Structure, optional
        The rule; the first of the pools that can be checked, and it with each refused candidate, where left
        out.

    Raises
    ------
    InputError
        The context names no log, or neither rule nor pools; or the rule states a condition on data.
    """
    if context.records.prospective:
        raise InputError(
            "names no log: its records are only declared",
            "pass --log",
            source=context.source,
            field="records.log",
        )
    records = Records(resolved(context.records, context.log), context.log).pinned()
    schema = context.schema
    lexicon = Lexicon.of(schema, records.layer)
    found, fine = [], []
    for part in [Part("the rule", rule)] if rule is not None else list(_parts(context, records)):
        refuse_data(part.structure, "what would fill in data is not searched")
        gap = _gap(part, records, schema, lexicon, context.records.dates_only, alone=rule is not None)
        if gap is None:
            fine.append(part)
        else:
            found.append(gap)
    found.sort(key=lambda gap: _rank(gap.remedies[0])[:2] if gap.remedies else (1, 1))
    return Gaps(tuple(found), tuple(fine))


def _parts(context: Context, records: Records) -> Iterator[Part]:
    """The first rule of the pools that can be checked, and that rule with each candidate that cannot."""
    if context.pools is None:
        raise InputError(
            "lists no pools, so there is nothing to ask about",
            "pass --rule; gnrs draft CONTEXT --out DIR writes one",
            source=context.source,
            field="pools",
        )
    pools = read_pools(context)
    listed = {slot: options(getattr(pools, slot)) for slot in SLOTS}
    bad = {
        (slot, option.candidate): reason
        for slot in SLOTS
        for option in listed[slot]
        if (reason := rests_on_a_zero(option.content, context))
    }
    base = _first_checkable(pools, listed, bad, records, context.schema)
    yield Part(BASE, base)
    for (slot, candidate), _ in bad.items():
        option = next(o for o in listed[slot] if o.candidate == candidate)
        yield Part(f"{slot} {candidate}", base.model_copy(update={slot: option.content}))


def _first_checkable(
    pools: Pools,
    listed: dict[str, tuple[Option, ...]],
    bad: dict[tuple[str, str], str],
    records: Records,
    schema: Schema,
) -> Structure:
    """The first combination that the records can check, else the first there is."""
    kept = {
        slot: [o for o in listed[slot] if (slot, o.candidate) not in bad] or [*listed[slot]] for slot in SLOTS
    }
    first = {slot: kept[slot][0].content for slot in SLOTS}
    tried = 0
    for trigger in kept["trigger"]:
        for norm in kept["norm"]:
            for evidence in kept["evidence"]:
                tried += 1
                rule = Structure.model_validate(
                    first | {"trigger": trigger.content, "norm": norm.content, "evidence": evidence.content}
                )
                if not _refusal(rule, records, schema):
                    return rule
                if tried > 200:
                    return Structure.model_validate(first)
    return Structure.model_validate(first)


def _refusal(rule: Structure, records: Records, schema: Schema) -> str:
    """Why the records cannot check a rule, or what of it they never show; empty where they can."""
    try:
        unrecorded_names(rule, records.layer, schema, records.log, allow=False)
        check(rule, records.layer, records.log)
    except Refused as error:
        return str(error)
    return _never_shown(rule, records)


def _never_shown(rule: Structure, records: Records) -> str:
    """The first thing a rule rests on that is declared and stands in no row."""
    log = records.log
    channels = {channel for channel, _ in log.seen}
    for channel in rule.evidence.channels:
        if channel not in channels:
            return f"0 of {log.events:,} rows stand in {channel!r}"
    for use in _uses(rule):
        for activity in use.act.activities:
            rows = sum(log.seen.get((channel, activity), 0) for channel in use.channels)
            if use.needed and not rows:
                return f"0 rows of {activity!r} stand in {', '.join(use.channels)}"
            for field, values in use.stated(activity).items():
                carrying = log.connection.execute(
                    "SELECT count(*) FROM events WHERE activity = $activity AND "
                    f'list_contains($values, "{field}") AND list_contains($channels, channel)',
                    {"activity": activity, "values": list(values), "channels": list(use.channels)},
                ).fetchone() or (0,)
                if rows and not carrying[0]:
                    return (
                        f"0 of {rows:,} rows of {activity!r} carry {field} {' or '.join(map(repr, values))}"
                    )
    return ""


class _Use(NamedTuple):
    """An act that a rule looks for, in which logs, with which scope; ``needed`` where matters wait for it."""

    act: Act
    channels: tuple[str, ...]
    scope: tuple[tuple[str, tuple[str, ...]], ...] = ()
    needed: bool = False

    def stated(self, activity: str) -> dict[str, tuple[str, ...]]:
        """Field -> the values named for it."""
        found: dict[str, tuple[str, ...]] = {field: values for field, values in self.scope if values}
        for pattern in self.act.patterns:
            for field in ("role", "object", "location"):
                if pattern.activity == activity and (value := getattr(pattern, field)) is not None:
                    found[field] = (value,)
        return found


def _uses(rule: Structure) -> list[_Use]:
    """The acts of a rule, the trigger's first."""
    trigger, norm, policy, scope = rule.trigger, rule.norm, rule.evidence.channels, rule.scope
    found = []
    if trigger.act is not None and trigger.channel is not None:
        roles = scope.roles if norm.bearer == "trigger" else ()
        filters = (("role", roles), ("object", scope.objects), ("location", scope.locations))
        found.append(_Use(trigger.act, (trigger.channel,), filters, needed=True))
    for constraint in norm.constraints:
        found.append(_Use(norm.target(constraint), policy))
        after = constraint.after
        found += [_Use(after.act, (after.channel,), needed=True)] if after else []
        found += [_Use(constraint.unless, policy)] if constraint.unless else []
    return found


def _gap(
    part: Part, records: Records, schema: Schema, lexicon: Lexicon, dates_only: bool, *, alone: bool
) -> Gap | None:
    """What a part lacks; None where nothing is refused and every verdict is decided or still open."""
    rule = part.structure
    words = lexicon.including(rule)
    slot = part.name.split(" ")[0]
    text = (
        phrase(getattr(rule, slot), words) if slot in SLOTS and not alone else render(rule, words, dates_only)
    )
    refused = _refusal(rule, records, schema)
    offered = additions_for(rule, records)
    if refused:
        offered = [one for one in offered if not isinstance(one, Cover | Close)]  # these refuse no rule
        sets = smallest_sets(offered, lambda chosen: _works(rule, records, schema, chosen))
        remedies = [Remedy(chosen, *_settled(rule, records, chosen)) for chosen in sets]
        return Gap(part, text, refused, {}, _ranked(remedies))
    open_ones = [v for v in evaluate(rule, records.layer, records.log) if v.verdict == "indeterminate"]
    if not open_ones:
        return None
    counted: dict[str, int] = {}
    for verdict in open_ones:
        counted[verdict.reason] = counted.get(verdict.reason, 0) + 1
    remedies, left = settling_sets(rule, records, offered, open_ones)
    return Gap(part, text, "", counted, _ranked(remedies), left)


def _rank(remedy: Remedy) -> tuple[Any, ...]:
    return -remedy.settles, -remedy.at_most, len(remedy.additions), [a.says for a in remedy.additions]


def _ranked(remedies: Sequence[Remedy]) -> tuple[Remedy, ...]:
    return tuple(sorted(remedies, key=_rank))


def additions_for(rule: Structure, records: Records) -> list[Addition]:
    """Every addition that may matter to a rule: about its acts, in its logs, in the fields it looks at."""
    layer, log, norm = records.layer, records.log, rule.norm
    keys = {KEY_OF[c] for one in norm.constraints if (c := norm.correlation(one)) in KEY_OF}
    found: dict[Addition, None] = {}
    uses = _uses(rule)
    for use in uses:
        for activity in use.act.activities:
            stated = {field: values[0] for field, values in use.stated(activity).items()}
            for channel in use.channels:
                known = layer.channel(channel)
                able = known is not None and known.durable and activity in (known.activities or ())
                if not able or not log.seen.get((channel, activity)):
                    found[Keep(channel, activity, tuple(stated.items()))] = None
                    continue
                looked_at: dict[Any, str | None] = {**stated, **dict.fromkeys((*sorted(keys), "timestamp"))}
                for field, value in looked_at.items():
                    if _lacks(records, field, value, activity, channel):
                        found[Fill(field, activity, channel, value)] = None
    for channel in dict.fromkeys(c for use in uses for c in use.channels):
        known = layer.channel(channel)
        grains = {grain for (name, _), seen in log.clocks.items() if name == channel for grain in seen}
        if known is not None and (known.grain or coarsest(grains or {"second"})) in ("day", "minute"):
            found[Finer(channel)] = None
    for channel in rule.evidence.channels:
        known = layer.channel(channel)
        if known is None or not known.closed_world:
            found[Close(channel)] = None
        found[Cover(channel)] = None
    if not layer.case_end and layer.quiet_after is None:
        found[EndCases(Duration(days=365))] = None
    return list(found)


def _lacks(records: Records, field: str, value: str | None, activity: str, channel: str) -> bool:
    """Whether rows of an act leave a field out, all carry the same, or none the value that the rule names."""
    rows, filled, different, cases, carrying = records.log.connection.execute(
        f'SELECT count(*), count("{field}"), count(DISTINCT "{field}"), count(DISTINCT case_id), '
        f'count(*) FILTER ("{field}"::VARCHAR = $value) FROM events WHERE activity = $activity AND '
        "channel = $channel",
        {"activity": activity, "channel": channel, "value": value},
    ).fetchone() or (0, 0, 0, 0, 0)
    if not rows or filled < rows:
        return bool(rows)
    return not carrying if value is not None else field != "timestamp" and different == 1 and cases > 1


def smallest_sets(
    offered: Sequence[Addition], works: Callable[[tuple[Addition, ...]], bool]
) -> list[tuple[Addition, ...]]:
    """All the smallest sets of additions that work, where adding more never spoils what works.

    What all of them need is found first, by leaving out one at a time; the rest is tried by size.
    """
    if not works(tuple(offered)):
        return []
    needed = tuple(one for one in offered if not works(tuple(other for other in offered if other != one)))
    rest = [one for one in offered if one not in needed]
    for size in range(min(MOST_TOGETHER, len(rest)) + 1):
        fit = [
            tuple(one for one in offered if one in needed or one in more) for more in combinations(rest, size)
        ]
        if found := [chosen for chosen in fit if works(chosen)]:
            return found
    return []


def _works(rule: Structure, records: Records, schema: Schema, chosen: tuple[Addition, ...]) -> bool:
    """Whether a rule can be checked with some additions, whatever they then record."""
    return all(not _refusal(rule, records.with_additions(chosen, variant), schema) for variant in VARIANTS)


def _settled(rule: Structure, records: Records, chosen: tuple[Addition, ...]) -> tuple[int, int]:
    """Fewest and most verdicts that are decided with some additions, over their contents."""
    counts = []
    for variant in VARIANTS:
        changed = records.with_additions(chosen, variant)
        found = evaluate(rule, changed.layer, changed.log)
        counts.append(sum(v.verdict in DECIDED[:3] and v.case_id != ELSEWHERE for v in found))
    return min(counts), max(counts)


def settling_sets(
    rule: Structure, records: Records, offered: Sequence[Addition], undecided: Sequence[InstanceVerdict]
) -> tuple[list[Remedy], int]:
    """Sets of additions that settle undecided verdicts, each with those that no part of it settles; and how
    many none does.

    Larger sets are tried only while all additions together settle more than the smaller ones do.
    """
    cases = {v.case_id for v in undecided}
    wanted = {_key(v) for v in undecided}

    def settles(chosen: tuple[Addition, ...]) -> set[Key]:
        settled = set(wanted)
        for variant in VARIANTS:
            changed = records.with_additions(chosen, variant, cases)
            try:
                found = {_key(v): v.verdict for v in evaluate(rule, changed.layer, changed.log)}
            except GnrsError:
                return set()
            settled = {key for key in settled if found.get(key, "not_activated") in DECIDED}
        return settled

    useful = [one for one in offered if not isinstance(one, EndCases)]
    most = settles(tuple(useful))
    remedies: list[Remedy] = []
    known: dict[tuple[Addition, ...], set[Key]] = {}
    reached: set[Key] = set()
    for size in range(1, min(MOST_TOGETHER, len(useful)) + 1):
        for chosen in combinations(useful, size):
            parts = [keys for smaller, keys in known.items() if set(smaller) < set(chosen)]
            mine = settles(chosen)
            known[chosen] = mine
            if own := mine.difference(*parts) if parts else mine:
                reached |= own
                remedies.append(Remedy(chosen, len(own), len(own)))
        if most <= reached:
            break
    return remedies, len(wanted - reached)


def _key(verdict: InstanceVerdict) -> Key:
    return verdict.case_id, verdict.instance, verdict.constraint, verdict.of_target
