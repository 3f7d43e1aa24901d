"""A sentence read twice, by rules and by a trained network, and what the two make together: sure, a question, or no.

The two are built in different ways, so that where they agree they are hardly ever wrong. Where they differ nothing is
decided: :class:`~gnrs_ppl.reading.types.Readings` lists what else the sentence may mean, and a draft asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from gnrs_ppl.context.types import Attribute, Channel, Schema
from gnrs_ppl.reading import reader
from gnrs_ppl.reading.data import said_of_data
from gnrs_ppl.reading.learned import Learned, read_once
from gnrs_ppl.reading.placed import placed
from gnrs_ppl.reading.reader import vocabulary
from gnrs_ppl.reading.types import Reading, Readings

SURE_TOGETHER = 0.5
"""Probability from which the network's reading is believed where the rules read the same."""
SURE_ALONE = 0.97
"""Probability from which it is believed against another reading."""
LIKELIER = 0.5
"""More likely than not."""
LIKELY = 0.1
"""Readings less probable than this are not asked about."""
MOST_WAYS = 4
"""Readings that a person is asked to choose from."""
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


def read(
    sentence: str, schema: Schema, logs: Sequence[Channel] = (), attributes: Sequence[Attribute] = ()
) -> Readings:
    """A sentence as it is read, with what else it may mean.

    Parameters
    ----------
    sentence : str
        What a person asks for, in English: one sentence or a few.
    schema : Schema
        The names that may be meant, with their phrases.
    logs : sequence of Channel
        The logs that are kept; of evidence nothing is read where none is given.
    attributes : sequence of Attribute
        What the logs record beside; of conditions on data nothing is read where none is given.

    Returns
    -------
    Readings
        The most probable reading; ``others`` where a person has to say which is meant.

    Raises
    ------
    InputError
        The sentence is longer than the 2,000 characters of a goal's.
    """
    by_rules = reader.read(sentence, schema, logs, attributes)
    return joined(by_rules, schema, attributes)


def joined(by_rules: Readings, schema: Schema, attributes: Sequence[Attribute] = ()) -> Readings:
    """What the rules read of a sentence, with what the network reads of it."""
    ways = read_once(duties_of(by_rules), schema)
    if not ways or (not ways[0].statements and not by_rules.statements):
        return by_rules
    listed = _Typer(by_rules, schema, attributes).listed(ways)
    stated = meaning(by_rules)
    first, lead = next(iter(listed.items()))
    if stated and stated in listed:
        listed[stated] = replace(by_rules, probability=listed[stated].probability)
    conditional = ways[0].conditional > LIKELIER and not any(
        s.best.data or s.best.condition for s in by_rules.statements
    )
    if first == stated and lead.probability >= SURE_TOGETHER and not conditional:
        return listed[stated]
    if first and lead.probability >= SURE_ALONE and not conditional:
        return lead
    options = [way for duties, way in listed.items() if duties and way.probability >= LIKELY]
    if stated and listed.get(stated) not in options:
        options.append(listed.get(stated, replace(by_rules, probability=0.0)))
    if not options:
        return by_rules
    best, *others = options[:MOST_WAYS]
    return replace(best, others=tuple(others), unsure=True)


def duties_of(readings: Readings) -> str:
    """The text with spaces where it tells which logs show a duty, or what follows a breach."""
    letters = list(readings.sentence)
    spans = [*(readings.evidence.spans if readings.evidence else ())]
    if readings.procedure and readings.procedure.follows_breach:
        spans += readings.procedure.spans
    for start, end in spans:
        letters[start:end] = " " * (end - start)
    return "".join(letters)


def meaning(readings: Readings) -> frozenset[Duty]:
    """What the statements of a sentence ask and ban, permissions left out."""
    found = (s.best for s in readings.statements if s.best.force != "may")
    return frozenset(duty for reading in found for duty in _duties(reading))


def told_apart(readings: Readings) -> tuple[str, ...]:
    """What the statements ask, a line a duty, in letters that a goal can hold: what tells one meaning from another."""
    return tuple(sorted(_line(duty) for duty in meaning(readings)))


def _line(duty: Duty) -> str:
    parts = [f"{duty.template}({' | '.join(sorted(duty.openers))} -> {' | '.join(sorted(duty.targets))})"]
    parts += [f"count {duty.times}"] if duty.times != 1 else []
    parts += [f"unless {' | '.join(sorted(duty.excuses))}"] if duty.excuses else []
    parts += [f"only {' | '.join(sorted(duty.only))}"] if duty.only else []
    return " ".join([*parts, *filter(None, (duty.who, duty.time))])


def as_chosen(readings: Readings, chosen: Sequence[str]) -> Readings:
    """Of what a sentence may mean that which a person chose; as it is where none was chosen, or none is that."""
    mine = next((way for way in readings.ways if told_apart(way) == tuple(chosen)), None)
    return replace(mine, unsure=False, others=()) if chosen and mine is not None else readings


def _duties(reading: Reading) -> Iterator[Duty]:
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


class _Typer:
    """Turns what the network reads into readings of the same sentence."""

    def __init__(self, by_rules: Readings, schema: Schema, attributes: Sequence[Attribute]) -> None:
        self.by_rules, self.attributes = by_rules, attributes
        self.data = said_of_data(by_rules.sentence, attributes, vocabulary(schema)).found

    def readings(self, way: Learned) -> Readings:
        """A way to read the sentence, with its conditions on data, logs and procedure."""
        alone = replace(
            self.by_rules,
            statements=way.statements,
            unread=(),
            background=(),
            nothing="" if way.statements else "no_duty",
            otherwise=(),
            probability=way.probability,
        )
        return placed(alone, self.data, self.attributes)

    def listed(self, ways: Sequence[Learned]) -> dict[frozenset[Duty], Readings]:
        """The different meanings, most probable first; what differs in less than a duty is one of them."""
        found: dict[frozenset[Duty], Readings] = {}
        for way in ways:
            readings = self.readings(way)
            duties = meaning(readings)
            same = found.get(duties)
            more = same.probability + readings.probability if same else readings.probability
            found[duties] = replace(same or readings, probability=min(1.0, more))
        return dict(sorted(found.items(), key=lambda item: -item[1].probability))
