"""A rule held against its card and against what is expected for it, without a model: slots, force, numbers,
steps.

Slots are scored by name against the expected ones, so a name that the card has and a faithful rule could do
without counts against precision. An act counts where it has the expected force. A name on neither list is off
the card.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gnrs_ppl.benchmarks.realcharter import Card, card
from gnrs_ppl.benchmarks.realcharter.adapter import length, load
from gnrs_ppl.context.time import Duration
from gnrs_ppl.evaluate.hard_ok import HardOk, hard_ok_partial, with_gaps
from gnrs_ppl.evaluate.realcharter import Expected, expected
from gnrs_ppl.rule.canonical import SlotContent, payloads
from gnrs_ppl.rule.types import SLOTS, Norm, Office, Structure


class SlotScore(NamedTuple):
    """Share of the rule's names that are expected (None where it has none), and of the expected names that
    the rule has.
    """

    precision: float | None
    recall: float


class Numbers(NamedTuple):
    """Numbers expected for a card, and those of a rule for it.

    Attributes
    ----------
    stated : int
        Numbers a faithful rule has.
    kept : int
        Those that stand where they belong.
    misplaced : tuple of str
        Times of the rule that the card states, where it does not state them.
    invented : tuple of str
        Numbers of the rule that the card does not state.
    """

    stated: int
    kept: int
    misplaced: tuple[str, ...]
    invented: tuple[str, ...]

    @property
    def lost(self) -> int:
        """Numbers that do not stand where they belong."""
        return self.stated - self.kept


class CardScore(NamedTuple):
    """What a rule for a card is worth.

    Attributes
    ----------
    gate : HardOk
        HARD-OK of the rule on the card's record layer.
    slots : mapping of slot name to SlotScore
    off_card : tuple of str
        Names of the rule that are not on the card.
    force_kept : bool
        Some act has the card's force, and every act the force that the card gives it.
    turned : mapping of act to (force on the card, force in the rule)
        Acts of the card that the rule gives another force.
    numbers : Numbers
    steps_covered : float
        Longest sequence of expected steps that the rule takes in their order, others between them allowed, as
        a share of them.
    """

    gate: HardOk
    slots: dict[str, SlotScore]
    off_card: tuple[str, ...]
    force_kept: bool
    turned: dict[str, tuple[str, str]]
    numbers: Numbers
    steps_covered: float

    @property
    def permissions_bound(self) -> int:
        """Acts that the card permits and the rule demands or forbids."""
        return sum(on_card == "may" for on_card, _ in self.turned.values())


def score(rule: Structure | Mapping[str, SlotContent], card_id: str) -> CardScore:
    """Score a rule for a card.

    Parameters
    ----------
    rule : Structure, or mapping of slot name to content
        A slot that a mapping lacks has no names, and fails HARD-OK.
    card_id : str
        Such as ``RC-PSF-3``.

    Raises
    ------
    InputError
        No such card.
    """
    filled = {slot: getattr(rule, slot) for slot in SLOTS} if isinstance(rule, Structure) else dict(rule)
    one, wanted, whole = card(card_id), expected(card_id), with_gaps(filled)
    on_card: dict[str, str] = {act.name: act.force for act in one.conduct}
    in_rule = forces(whole.norm)
    turned = {name: (on_card[name], force) for name, force in in_rule if on_card.get(name, force) != force}
    decisive = {"should", "should_not"} if one.force == "should" else {one.force}
    names, asked, known = _names(whole), _asked(wanted, whole), _vocabulary(one)
    steps = [step.name for step in whole.procedure.steps]
    return CardScore(
        gate=hard_ok_partial(filled, load(card_id)),
        slots={slot: _compared(names[slot], asked[slot]) for slot in SLOTS},
        off_card=tuple(f"{p.kind} {p.name}" for p in payloads(whole) if (p.kind, p.name) not in known),
        force_kept=not turned and any(force in decisive for _, force in in_rule),
        turned=turned,
        numbers=_numbers(whole, one, wanted),
        steps_covered=_common_run(wanted.procedure.steps, steps) / len(wanted.procedure.steps),
    )


def forces(norm: Norm) -> list[tuple[str, str]]:
    """Acts of a norm with their forces in the words of a card: a ban under ``must`` is ``must_not``."""
    return [(c.target.activity, norm.force if c.positive else f"{norm.force}_not") for c in norm.constraints]


def _names(rule: Structure) -> dict[str, set[str]]:
    """What each slot is compared by; who bears a duty is part of whom the rule covers."""
    norm, scope = rule.norm, rule.scope
    bearers = {norm.bearer.role} if isinstance(norm.bearer, Office) else set()
    roles = {*scope.roles, *bearers, *(c.target.role for c in norm.constraints if c.target.role)}
    return {
        "scope": {f"role {name}" for name in roles}
        | {f"object {name}" for name in (*scope.objects, *scope.concerns)},
        "trigger": {rule.trigger.act.activity} if rule.trigger.act else set(),
        "norm": {f"{force} {name}" for name, force in forces(norm)},
        "evidence": set(rule.evidence.channels),
        "procedure": {step.name for step in rule.procedure.steps},
    }


def _asked(wanted: Expected, rule: Structure) -> dict[str, set[str]]:
    """The expected names in the same form; of triggers the one the rule has, else the first, since one is
    enough.
    """
    opener = (
        rule.trigger.act.activity
        if rule.trigger.act and rule.trigger.act.activity in wanted.trigger.any_of
        else wanted.trigger.any_of[0]
    )
    return {
        "scope": {f"role {name}" for name in wanted.scope.roles}
        | {f"object {name}" for name in wanted.scope.objects},
        "trigger": {opener},
        "norm": {f"{force} {name}" for name, force in wanted.norm.acts.items()},
        "evidence": set(wanted.evidence.decisive),
        "procedure": set(wanted.procedure.steps),
    }


def _compared(names: set[str], asked: set[str]) -> SlotScore:
    both = len(names & asked)
    return SlotScore(both / len(names) if names else None, both / len(asked))


def _vocabulary(one: Card) -> set[tuple[str, str]]:
    acts = {act.name for act in one.triggers} | {act.name for act in one.conduct}
    listed = {
        "action": acts,
        "role": {role.name for role in one.roles},
        "object": {thing.name for thing in one.objects},
        "channel": {channel.name for channel in one.channels},
        "step": {step.name for step in one.procedure},
    }
    return {(kind, name) for kind, names in listed.items() for name in names}


def _numbers(rule: Structure, one: Card, wanted: Expected) -> Numbers:
    """A rule can state times, how often an act is done, and how many logs have to agree; nothing else on a
    card fits a slot.
    """
    times: list[tuple[str, str, Duration]] = [
        ("norm", c.target.activity, c.deadline) for c in rule.norm.constraints if c.deadline
    ]
    if rule.trigger.act and rule.trigger.window:
        times.append(("trigger", rule.trigger.act.activity, rule.trigger.window))
    if rule.procedure.response_time:
        times.append(("procedure", "", rule.procedure.response_time))
    due = [(n.slot, n.of, length(n.value, n.unit)) for n in wanted.numbers if n.bound == "at most"]
    on_card = {length(number.value, number.unit) for number in one.stated_numbers}
    stray = [time for time in times if time not in due]
    counts = [f"{c.count} times {c.target.activity}" for c in rule.norm.constraints if c.count > 1]
    counts += [f"at least {rule.evidence.k} logs"] if rule.evidence.k else []
    return Numbers(
        stated=len(wanted.numbers),
        kept=sum(number in times for number in due),
        misplaced=tuple(f"{time} on {of or slot}" for slot, of, time in stray if time in on_card),
        invented=(*(f"{time} on {of or slot}" for slot, of, time in stray if time not in on_card), *counts),
    )


def _common_run(asked: Sequence[str], taken: Sequence[str]) -> int:
    """Length of the longest common subsequence."""
    best = [[0] * (len(taken) + 1) for _ in range(len(asked) + 1)]
    for i, wanted in enumerate(asked, 1):
        for j, name in enumerate(taken, 1):
            best[i][j] = best[i - 1][j - 1] + 1 if wanted == name else max(best[i - 1][j], best[i][j - 1])
    return best[-1][-1]
