"""What a sentence asks and bans, in a form in which two ways of reading it can be compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gnrs_ppl.reading.types import Reading, Readings

SPLIT = {
    "succession": ("response", "precedence"),
    "chain_succession": ("chain_response", "chain_precedence"),
    "alternate_succession": ("alternate_response", "alternate_precedence"),
}
SAME = {"not_precedence": "not_response", "not_chain_precedence": "not_chain_response"}
"""Bans that say the same of two acts, looked at from either."""
EITHER_FIRST = ("coexistence", "not_coexistence")


class Duty(NamedTuple):
    """What two ways of reading must have in common to mean the same."""

    template: str
    openers: frozenset[str]
    targets: frozenset[str]
    joint: bool
    times: int
    excuses: frozenset[str]
    who: str
    only: frozenset[str]
    time: str


def duties(readings: Readings) -> frozenset[Duty]:
    """What the statements of a sentence ask and ban, permissions left out."""
    binding = (s.best for s in readings.statements if s.best.force != "may")
    return frozenset(duty for reading in binding for duty in _of_reading(reading))


def _of_reading(reading: Reading) -> Iterator[Duty]:
    openers = {a.activity for a in reading.activation.each} if reading.activation else set()
    openers |= {a.activity for a in reading.after.each} if reading.after else set()
    targets = {a.activity for a in reading.targets}
    template: str = SAME.get(reading.template, reading.template)
    if reading.template in SAME:
        openers, targets = targets, openers
    if template in EITHER_FIRST:
        targets, openers = targets | openers, set()
    excuses = {a.activity for a in reading.exception.each} if reading.exception else set()
    time = reading.time.duration.isoformat() if reading.time and reading.time.duration else ""
    joint = reading.joint == "any" and len(targets) > 1
    who = reading.who or ""
    only = frozenset(name.name for name in reading.only)
    apart = [targets] if joint or template in EITHER_FIRST else [{t} for t in sorted(targets)]
    for part in SPLIT.get(template, (template,)):
        for some in apart:
            turned = template in SPLIT and part.endswith("precedence")
            opener, target = (some, openers) if turned else (openers, some)
            yield Duty(
                part,
                frozenset(opener),
                frozenset(target),
                joint,
                reading.count,
                frozenset(excuses),
                who,
                only,
                time,
            )
