"""A sentence read by a trained network and by rules, and what both together make of it: sure, a question, or no.

The two are built in different ways, so that where they agree they are hardly ever wrong. Where they differ nothing is
decided: :class:`~gnrs_ppl.reading.types.Readings` lists what else the sentence may mean, and a draft asks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from gnrs_ppl.context.types import Attribute, Channel, Schema
from gnrs_ppl.reading import reader
from gnrs_ppl.reading.counts import prior
from gnrs_ppl.reading.data import Found, said_of_data
from gnrs_ppl.reading.equivalence import Duty, duties
from gnrs_ppl.reading.learned import MOST, Learned, learned
from gnrs_ppl.reading.network import shipped
from gnrs_ppl.reading.placed import placed
from gnrs_ppl.reading.reader import vocabulary
from gnrs_ppl.reading.types import Nothing, Readings

AGREEMENT = 7.0
"""How many times likelier a meaning is that the rules read as well (``training/calibrate.py``)."""
SILENCE = 0.3
"""How many times likelier it is that nothing is to be drafted where the rules read nothing."""
UNLISTED = 0.005
"""Probability of what the rules read where the network does not list it, before the rules have their say."""
SURE = 0.85
"""Probability from which nobody is asked (``training/calibrate.py``)."""
SURE_OF_PART = 0.95
"""The same where the rules read the same and left words unread, which may be a part that both have missed."""
LIKELIER = 0.5
"""More likely than not."""
LIKELY = 0.08
"""Meanings less probable than this are not asked about."""
MOST_WAYS = 4
"""Meanings that a person is asked to choose from."""
REASONS: dict[str, Nothing] = {
    "": "no_duty",
    "no_duty": "no_duty",
    "no_act": "no_such_act",
    "no_field": "no_such_field",
    "no_role": "no_such_role",
    "no_time": "time_not_read",
    "unclear": "no_duty",
}
"""The network's reasons why nothing is to be drafted, in the words of a reading."""


def read(
    sentence: str,
    schema: Schema,
    logs: Sequence[Channel] = (),
    attributes: Sequence[Attribute] = (),
    rows: Mapping[str, int] | None = None,
    chosen: Sequence[str] = (),
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
    rows : mapping of str to int, optional
        How often each act is recorded: of several acts that the same words could name the frequent one is likelier.
    chosen : sequence of str
        Of what the sentence may mean that which a person chose, as :func:`duty_lines` writes it.

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
    return joined(by_rules, schema, attributes, rows, chosen)


def joined(
    by_rules: Readings,
    schema: Schema,
    attributes: Sequence[Attribute] = (),
    rows: Mapping[str, int] | None = None,
    chosen: Sequence[str] = (),
) -> Readings:
    """What the rules read of a sentence, with what the network reads of it."""
    data = conditions(by_rules.sentence, schema, tuple(attributes))
    ways = by_network(text_of_duties(by_rules, data), schema)
    if not ways:
        return by_rules
    options = weighed(by_rules, ways, schema, attributes, rows)
    for way in options if chosen else ():
        if duty_lines(way) == tuple(chosen):
            return way
    lead = options[0]
    likely = [way for way in options if way.statements and way.probability >= LIKELY]
    if not lead.statements and (not likely or lead.probability >= SURE):
        why = next((way.refused for way in ways if way.refused), "")
        nothing = "no_duty" if why == "no_act" and by_rules.nothing == "no_duty" else REASONS[why]
        return replace(by_rules, statements=(), nothing=nothing)
    by_data = any(s.best.data or s.best.condition for s in by_rules.statements)
    conditional = 0.0 if by_data else ways[0].conditional
    if lead.statements and (
        conditional >= SURE_OF_PART or (is_sure(lead, by_rules) and conditional <= LIKELIER)
    ):
        return replace(lead, unread_condition=conditional >= SURE_OF_PART)
    best, *others = (likely or [way for way in options if way.statements])[:MOST_WAYS]
    return replace(best, others=tuple(others), unsure=True)


def is_sure(lead: Readings, by_rules: Readings) -> bool:
    """Whether a reading needs no question."""
    part = bool(by_rules.unread) and duties(lead) == duties(by_rules)
    return lead.probability >= (SURE_OF_PART if part else SURE)


def weighed(
    by_rules: Readings,
    ways: Sequence[Learned],
    schema: Schema,
    attributes: Sequence[Attribute] = (),
    rows: Mapping[str, int] | None = None,
    agreement: float = AGREEMENT,
    silence: float = SILENCE,
) -> list[Readings]:
    """All meanings of a sentence that either reader lists, most probable first; that it has none is one of them.

    The network's probability of what the rules read is multiplied by ``agreement``, or by ``silence`` where they read
    nothing; each is multiplied by the prior of its acts' rows, and all are made to sum to 1.
    """
    by_meaning = _by_meaning(ways, by_rules, schema, attributes)
    stated = duties(by_rules)
    listed = by_meaning.get(stated)
    factor = agreement if stated else silence
    probability = factor * (listed.probability if listed else UNLISTED)
    by_meaning[stated] = replace(by_rules, probability=probability, otherwise=())
    weights = [way.probability * (prior(way, schema, rows) if rows else 1.0) for way in by_meaning.values()]
    options = [
        replace(way, probability=weight / sum(weights))
        for way, weight in zip(by_meaning.values(), weights, strict=True)
    ]
    return sorted(options, key=lambda way: -way.probability)


@lru_cache(maxsize=256)
def by_network(text: str, schema: Schema) -> tuple[Learned, ...]:
    """The meanings of a text by the weights of this version, most probable first."""
    return learned(text, schema, MOST, shipped())


@lru_cache(maxsize=256)
def conditions(sentence: str, schema: Schema, attributes: tuple[Attribute, ...]) -> tuple[Found, ...]:
    """The conditions on data that a sentence states."""
    return said_of_data(sentence, attributes, vocabulary(schema)).found


def text_of_duties(readings: Readings, data: Sequence[Found]) -> str:
    """The text with spaces where it states a condition on data, which logs show a duty, or what follows a breach."""
    letters = list(readings.sentence)
    spans = [found.cut for found in data] + [*(readings.evidence.spans if readings.evidence else ())]
    if readings.procedure and readings.procedure.follows_breach:
        spans += readings.procedure.spans
    for start, end in spans:
        letters[start:end] = " " * (end - start)
    return "".join(letters)


def duty_lines(readings: Readings) -> tuple[str, ...]:
    """What the statements ask, a line a duty, as a goal's ``read_as`` holds it."""
    return tuple(sorted(_line(duty) for duty in duties(readings)))


def _line(duty: Duty) -> str:
    parts = [f"{duty.template}({' | '.join(sorted(duty.openers))} -> {' | '.join(sorted(duty.targets))})"]
    parts += [f"count {duty.times}"] if duty.times != 1 else []
    parts += [f"unless {' | '.join(sorted(duty.excuses))}"] if duty.excuses else []
    parts += [f"only {' | '.join(sorted(duty.only))}"] if duty.only else []
    return " ".join([*parts, *filter(None, (duty.who, duty.time))])


def as_chosen(readings: Readings, chosen: Sequence[str]) -> Readings:
    """Of what a sentence may mean that which a person chose; as it is where none was chosen, or none is that."""
    way = next((way for way in readings.ways if duty_lines(way) == tuple(chosen)), None)
    return replace(way, unsure=False, others=()) if chosen and way is not None else readings


def _by_meaning(
    ways: Sequence[Learned], by_rules: Readings, schema: Schema, attributes: Sequence[Attribute]
) -> dict[frozenset[Duty], Readings]:
    """The network's meanings with what is read by words beside: data, logs, procedure."""
    data = conditions(by_rules.sentence, schema, tuple(attributes))
    merged: dict[frozenset[Duty], Readings] = {}
    for way in ways:
        typed = replace(
            by_rules,
            statements=way.statements,
            unread=(),
            background=(),
            nothing="" if way.statements else "no_duty",
            otherwise=(),
            probability=way.probability,
        )
        typed = placed(typed, data, attributes)
        meaning = duties(typed)
        same = merged.get(meaning)
        total = typed.probability + (same.probability if same else 0.0)
        merged[meaning] = replace(same or typed, probability=min(1.0, total))
    return merged
