"""What a goal says: its sentence as read, and its fields filled from the readings where a person left them
empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from gnrs_ppl.context.load import Context
from gnrs_ppl.context.types import Attribute, Channel, Goal, Schema
from gnrs_ppl.reading.opinions import as_chosen, read
from gnrs_ppl.reading.reader import read as by_rules
from gnrs_ppl.reading.types import ActRead, Reading, Readings, Span
from gnrs_ppl.rule.types import LOOK_BACK, NEGATIVE, Condition, Force

CONSTRUCTIONS = 0.06
"""Where constructions and relations read a text differently, how often the constructions are right: 199 of
3,542 texts of domains left out of the fit, the relations 1,298 (``tools/fit_reader.py check`` on 26 November 2026)."""
LEFT_OUT = 0.02
"""What is left of a reading that leaves out what a person's fields state."""
FORCES: tuple[Force, ...] = ("must", "should", "may")
"""What binds most comes first."""
LEAST_SHARE = 0.15
"""Readings less probable than this propose nothing."""


def readings_of(context: Context) -> Readings:
    """The goal's sentence, read against the schema; with what a model read in it, where one was asked.

    Of two acts that words tell equally well the one that rows show is meant. Nothing is read where reading is no source
    of candidates.
    """
    if "reading" not in context.sources:
        return Readings(context.goal.intent, ())
    together: Readings | None = context.read_along and context.read_along.readings
    if together:
        return as_chosen(together, context.goal.read_as)
    whole = context.scene if context.scene and context.scene.goal.intent == context.goal.intent else context
    records = (context.records.channels, context.records.attributes, states_fields(whole))
    if context.records.prospective:
        return _read(context.goal, context.schema, *records)
    rows = rows_by_act(context)
    readings = _read(context.goal, context.schema, *records, rows)
    unseen = [a for a in _acts_of(readings) if ("action", a.activity) not in context.profile.counts]
    if not unseen:
        return readings
    recorded = tuple(a for a in context.schema.actions if ("action", a.name) in context.profile.counts)
    among = _read(context.goal, context.schema.model_copy(update={"actions": recorded}), *records, rows)
    instead = _acts_of(among)
    as_well = all(any(_overlap(a.span, b.span) and b.score >= a.score for b in instead) for a in unseen)
    return among if as_well else readings


def states_fields(context: Context) -> bool:
    """Whether a person's fields or pools say what is asked, so that the sentence alone does not decide it."""
    goal = context.goal
    return bool(goal.required or goal.forbidden or goal.permitted) or context.pools is not None


def rows_by_act(context: Context) -> tuple[tuple[str, int], ...]:
    """How many rows of the log show each act; empty without a log."""
    if context.records.prospective:
        return ()
    counts = context.profile.counts
    return tuple((a.name, counts.get(("action", a.name), 0)) for a in context.schema.actions)


def _acts_of(readings: Readings) -> list[ActRead]:
    """Every act that is read of a sentence, in all ways to read it."""
    found = (r for s in readings.statements for r in s.readings)
    return [a for r in found for a in (*r.targets, r.activation, r.after, r.exception) if a is not None]


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


@lru_cache(maxsize=512)
def _read(
    goal: Goal,
    schema: Schema,
    logs: tuple[Channel, ...],
    attributes: tuple[Attribute, ...],
    fields: bool,
    rows: tuple[tuple[str, int], ...] = (),
) -> Readings:
    """The goal's sentence, read against the schema, the logs that are declared and what they record, as chosen.

    Where a person's fields or pools say what is asked, the sentence is read by rules alone, as the benchmark's tables
    and weights have it.
    """
    if fields:
        return by_rules(goal.intent, schema, logs, attributes)
    return read(goal.intent, schema, logs, attributes, dict(rows), goal.read_as)


def rules_of(readings: Readings) -> list[tuple[int, ...]]:
    """Statements (by number) that one rule can hold: those of one opener, those without, and what follows
    from their own acts.

    The first rule is the one whose opener the sentence names; a statement with another opener is a rule of
    its own.
    """
    left = list(range(len(readings.statements)))
    rules: list[tuple[int, ...]] = []
    while left:
        best = [readings.statements[i].best for i in left]
        lead = lead_of(best)
        taken = [k for k, r in enumerate(best) if k == lead or _goes_with(best[lead], r)]
        rules.append(tuple(left[k] for k in sorted(taken)))
        left = [i for k, i in enumerate(left) if k not in taken]
    return rules


def lead_of(readings: Sequence[Reading]) -> int:
    """Which of some readings says what opens a rule: of those that name an opener, where any does, the first
    that binds most.
    """
    named = [k for k, r in enumerate(readings) if r.activation is not None] or range(len(readings))
    return min(named, key=lambda k: (FORCES.index(readings[k].force), k))


def _goes_with(lead: Reading, other: Reading) -> bool:
    """Whether one rule can hold both: the same opener, no opener of its own, or an opener that the lead
    demands.
    """
    if {lead.template, other.template} & {"init", "end"} or _narrowed(lead) != _narrowed(other):
        return False
    if other.activation is None and other.time is not None and lead.template in LOOK_BACK:
        return False  # its time does not run from what comes last
    if other.activation is None or lead.activation is None:
        opener = lead.activation.activity if lead.activation else None
        return other.activation is None and opener not in {
            a.activity for a in other.targets if other.joint == "any"
        }
    demanded = (
        {a.activity for a in lead.targets}
        if lead.template == "response" and other.template == "response"
        else set()
    )
    return other.activation.activity in {lead.activation.activity, *demanded}


def _narrowed(reading: Reading) -> set[Condition]:
    """The conditions that say of which cases or openings a reading speaks."""
    return {d.condition for d in reading.data if d.of in ("case", "opener")}


def ways(
    readings: Readings, rule: int = 0, goal: Goal | None = None
) -> Iterator[tuple[float, tuple[Reading, ...]]]:
    """The ways to read one rule: its statements as most probably read, then with another reading of its lead.

    Behind them, for the first rule, what the constructions say where that differs. A person's fields decide
    between the two: what leaves out an act they require or forbid is as good as excluded.
    """
    whole = [(1.0, readings)]
    if readings.otherwise and rule == 0:
        both = (
            (1 - CONSTRUCTIONS, readings),
            (CONSTRUCTIONS, replace(readings, statements=readings.otherwise, otherwise=())),
        )
        shares = [(share * (1.0 if _as_stated(said, goal) else LEFT_OUT), said) for share, said in both]
        whole = sorted(
            ((share / sum(s for s, _ in shares), said) for share, said in shares), key=lambda w: -w[0]
        )
    for share, said in whole:
        for probability, statements in _ways(said, rule):
            yield share * probability, statements


def _as_stated(readings: Readings, goal: Goal | None) -> bool:
    """Whether a sentence, as read, asks what the goal's fields require and bans what they forbid."""
    if goal is None:
        return True
    asked = {
        a.activity for s in readings.statements for a in s.best.targets if s.best.template not in NEGATIVE
    }
    banned = {a.activity for s in readings.statements for a in s.best.targets if s.best.template in NEGATIVE}
    return set(goal.required) <= asked and set(goal.forbidden) <= banned


def _ways(readings: Readings, rule: int) -> Iterator[tuple[float, tuple[Reading, ...]]]:
    rules = rules_of(readings)
    if rule >= len(rules):
        return
    statements = [readings.statements[i] for i in rules[rule]]
    lead = lead_of([s.best for s in statements])
    for reading in statements[lead].readings:
        if reading.probability >= LEAST_SHARE or reading is statements[lead].best:
            yield (
                reading.probability,
                tuple(reading if k == lead else s.best for k, s in enumerate(statements)),
            )


def filled(goal: Goal, readings: Readings, rule: int = 0) -> Goal:
    """The goal with the fields it leaves empty as its sentence was read; what a person stated stays."""
    _, said = next(ways(readings, rule, goal), (0.0, ()))
    required, forbidden, barred, permitted = list[str](), list[str](), list[str](), list[str]()
    either = list[str]()
    for reading in said:
        either += [a.activity for a in reading.targets] if reading.joint == "any" else []
        names = [a.activity for a in reading.targets] if reading.joint == "all" else []
        ban = forbidden if reading.template == "absence" else barred
        into = permitted if reading.force == "may" else ban if reading.template in NEGATIVE else required
        into += names
    forbidden += [
        a for a in barred if a not in required
    ]  # what is barred at some time only may be asked for at another
    acts: list[ActRead] = [a for r in said for a in (*r.targets, *((r.activation,) if r.activation else ()))]
    stated = bool(goal.required or goal.forbidden or goal.permitted)
    # where one act or another will do and nothing else is said, the goal is about them
    demanded = tuple(dict.fromkeys(a for a in required if a not in forbidden))
    demanded = demanded or (() if forbidden or permitted else tuple(dict.fromkeys(either)))
    found = {
        "required": () if stated else demanded,
        "forbidden": () if stated else tuple(dict.fromkeys(forbidden)),
        "permitted": ()
        if stated
        else tuple(dict.fromkeys(a for a in permitted if a not in (*demanded, *forbidden))),
        "roles": tuple(dict.fromkeys(n.name for r in said for n in r.bearers)),
        "locations": tuple(dict.fromkeys(a.location.name for a in acts if a.location)),
        "objects": tuple(dict.fromkeys(a.object.name for a in acts if a.object)),
        "within": next(
            (r.time.duration for r in said if r.time and r.time.duration and not r.time.working_days), None
        ),
    }
    return goal.model_copy(
        update={name: value for name, value in found.items() if value and not getattr(goal, name)}
    )
