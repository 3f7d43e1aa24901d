"""What a sentence leaves open, as questions with numbered answers; each answer is a sentence or a field of
the goal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from gnrs_ppl.candidates.units import snapped
from gnrs_ppl.context.limits import SENTENCE
from gnrs_ppl.context.load import Context
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import Action, Goal, Schema
from gnrs_ppl.reading import Reading, Readings, read
from gnrs_ppl.reading.goal import LEAST_SHARE, rules_of
from gnrs_ppl.reading.opinions import as_chosen, duty_lines
from gnrs_ppl.realize.english import duration
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.report.reading_clause import clause_of, in_words, worded

SURE = 0.8
"""A reading at least this probable is not asked about."""
MOST_CHOICES = 9
FORWARD = ("response", "existence", "responded_existence", "succession", "coexistence")
"""Templates for which a time may be asked."""
QUANTILES = (
    (0.5, "half of the cases keep it"),
    (0.75, "three of four cases keep it"),
    (0.9, "nine of ten cases keep it"),
)


class Asker(Protocol):
    """Somebody who answers."""

    def choose(self, question: str, choices: Sequence[str], own: str = "") -> int | str:
        """The number of a choice from 0, or, where ``own`` says what may be written instead, a text."""

    def line(self, question: str) -> str:
        """A line of text; empty where there is none."""


def settled(goal: Goal, readings: Readings, context: Context, ask: Asker) -> Goal | str:
    """The goal with what was answered, or a sentence to begin anew with.

    Asked are, in this order and only where open: which of several readings is meant, words that were not
    read, who is bound, and within which time.
    """
    lexicon = Lexicon.of(context.schema, context.records)
    if readings.unsure:
        ways = readings.ways
        chosen = ask.choose("What is meant?", (*(in_words(way, lexicon) for way in ways), "none of these"))
        if chosen == len(ways):
            return ask.line("The sentence in other words")
        goal = goal.model_copy(update={"read_as": duty_lines(ways[int(chosen)])})
        readings = as_chosen(readings, goal.read_as)
    if readings.statements:
        meant = _which_reading(goal, readings, context.schema, lexicon, ask)
        if isinstance(meant, str):
            return meant
        goal = meant
    if readings.unread:
        words = ", ".join(
            f"'{readings.words(u.span)}'" + (f" (nearest: {u.nearest})" if u.nearest else "")
            for u in worded(readings, lexicon).unread
        )
        if ask.choose(f"Not read: {words}.", ("leave that out", "write the sentence anew")) == 1:
            return ask.line("The sentence")
    lead = [readings.statements[i].best for i in rules_of(readings)[0]] if readings.statements else []
    if context.schema.roles and not goal.roles and not any(r.bearers for r in lead):
        names = [term.name for term in context.schema.roles][: MOST_CHOICES - 1]
        called = [lexicon.form("role", name) for name in names]
        chosen = ask.choose("Nobody is named who is bound. Who is?", ("whoever acts", *called))
        if isinstance(chosen, int) and chosen:
            goal = goal.model_copy(update={"roles": (names[chosen - 1],)})
    open_ended = next((r for r in lead if r.template in FORWARD and r.time is None), None)
    if open_ended is not None and goal.within is None:
        goal = timed(_within(goal, open_ended, context, ask), context.schema)
    return goal


def timed(goal: Goal, schema: Schema) -> Goal:
    """The goal with its time said in the sentence, where it is then read so: a field is weighed with its
    neighbours, a sentence is kept.
    """
    if goal.within is None:
        return goal
    text = f"{goal.intent.rstrip().rstrip('.')}, within {duration(goal.within)}."
    if len(text) > SENTENCE:
        return goal
    before, after = read(goal.intent, schema), read(text, schema)
    if len(before.statements) != 1 or len(after.statements) != 1:
        return goal
    old, new = before.statements[0].best, after.statements[0].best
    same = (old.template, old.activities, old.force) == (new.template, new.activities, new.force)
    stated = new.time is not None and new.time.duration == goal.within
    return goal.model_copy(update={"intent": text, "within": None}) if same and stated else goal


def _which_reading(
    goal: Goal, readings: Readings, schema: Schema, lexicon: Lexicon, ask: Asker
) -> Goal | str:
    """The goal with its sentence reworded where a less probable reading is meant; a sentence to begin anew
    with where none is.
    """
    for number in rules_of(readings)[0]:
        statement = readings.statements[number]
        close = [r for r in statement.readings if r.probability >= LEAST_SHARE][: MOST_CHOICES - 1]
        if len(close) < 2 or statement.best.probability >= SURE:
            continue
        choices = [f"{clause_of(r, lexicon)}  ({r.probability:.0%})" for r in close]
        chosen = ask.choose(
            f"'{readings.words(statement.span).strip()}' can be read in more than one way.",
            (*choices, "none of these"),
        )
        if chosen == len(close):
            return ask.line("The sentence")
        if chosen:
            return reworded(close[int(chosen)], schema) or ask.line(
                "No wording of ours is read so; the sentence in other words"
            )
    return goal


def reworded(reading: Reading, schema: Schema) -> str:
    """A plain sentence that is read as this and nothing else; empty where there is none, as where the reading
    states conditions on data, which our wordings have no words for.
    """
    if reading.data:
        return ""
    actions = {action.name: action for action in schema.actions}
    wanted = _said(reading)
    for text in _wordings(reading, actions):
        found = read(text, schema)
        if len(found.statements) == 1:
            best = found.statements[0].best
            same = (
                best.time is None
                if reading.time is None
                else best.time is not None and best.time.duration == reading.time.duration
            )
            if _said(best) == wanted and same:
                return text
    return ""


def _said(reading: Reading) -> tuple[object, ...]:
    """What two readings must have in common to be the same but for their times; of two acts that exclude each
    other either may come first, and it tells whether one person or the whole case may not hold both.
    """
    if reading.template == "not_coexistence":
        return reading.template, frozenset(reading.activities), reading.force, reading.who is None
    return reading.template, reading.activities, reading.force


def _wordings(reading: Reading, actions: dict[str, Action]) -> list[str]:
    """Ways to say a reading; :func:`reworded` keeps none that is not read so."""
    if len(reading.targets) != 1 or reading.after is not None or reading.count > 1:
        return []
    who = f"the {reading.bearers[0].name.replace('_', ' ')}" if reading.bearers else "somebody"
    nobody = f"{who} must not" if reading.bearers else "nobody may"
    does = _verb(actions[reading.targets[0].activity])
    done = _noun(actions[reading.targets[0].activity])
    first = _noun(actions[reading.activation.activity]) if reading.activation else ""
    then = _verb(actions[reading.activation.activity]) if reading.activation else ""
    within = f" within {duration(reading.time.duration)}" if reading.time and reading.time.duration else ""
    unless = (
        f", unless the {_noun(actions[reading.exception.activity])} happened" if reading.exception else ""
    )
    wordings = {
        "response": (f"after the {first}, {who} {reading.force} {does}{within}",),
        "existence": (f"in every case, {who} {reading.force} {does}{within}",),
        "responded_existence": (
            f"where there is a {first}, {who} {reading.force} also {does}, before or after",
        ),
        "precedence": (f"{who} may {then} only after the {done}", f"nobody may {then} before the {done}"),
        "chain_response": (f"directly after the {first}, {who} {reading.force} {does}",),
        "absence": (f"{nobody} {does}",),
        "not_coexistence": (
            (
                f"the {first} and the {done} exclude each other",
                f"no case may hold both the {first} and the {done}",
            )
            if reading.who is None
            else (f"whoever does the {first} must not {does}", f"the same person must not {then} and {does}")
        ),
        "not_response": (f"after the {first}, {nobody} {does}{within}",),
    }.get(reading.template, ())
    return [text[0].upper() + text[1:] + unless + "." for text in wordings]


def _verb(action: Action) -> str:
    return action.phrase or f"carry out {action.name}"


def _noun(action: Action) -> str:
    return action.noun or action.name


def _within(goal: Goal, reading: Reading, context: Context, ask: Asker) -> Goal:
    """The goal with a time, where one is wanted: as fast as the records mostly are, or as somebody writes."""
    choices, levels = ["no time: until the case closes"], list[Duration]()
    if reading.activation is not None and not context.records.prospective and context.records.log is not None:
        found = context.traces.delays.get((reading.activation.activity, reading.targets[0].activity))
        for share, told in QUANTILES if found else ():
            level = snapped(found.quantile(share)) if found else Duration()
            if level not in levels:
                levels.append(level)
                choices.append(f"within {duration(level)}: {told}")
    while True:
        answer = ask.choose(
            "The sentence states no time. Within which?",
            choices,
            own="or a time of your own, such as P30D or PT4H",
        )
        if isinstance(answer, int):
            return goal.model_copy(update={"within": levels[answer - 1]}) if answer else goal
        try:
            return goal.model_copy(update={"within": Duration.parse(answer)})
        except ValueError:
            continue


def of_goal(context: Context, goal: Goal) -> Context:
    """The context with another goal and without pools, which are listed for one goal; its log is read once
    for both.
    """
    return replace(context, goal=goal, pools=None, scene=context.scene or context)


def plain(goal: Goal) -> dict[str, Any]:
    """The fields of a goal as a context file holds them, those that say nothing left out."""
    return {
        name: value
        for name, value in goal.model_dump(mode="json", exclude_defaults=True).items()
        if value is not None
    }
