"""What a language model reads in a sentence, beside the reader: typed, checked part by part, and merged so
that nothing is lost.

A model is asked once for each sentence; it sees the sentence and the schema. A statement of its answer is
dropped, with the reason, if words it quotes do not stand in the sentence, a name is not in the schema, its
template is not implemented, a number or a time is not what the words say, or its parts do not go together;
for a draft also if the records cannot hold it. Of what stays nothing is the model's own text: names are the
schema's and words the sentence's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from gnrs_ppl.candidates.grounding import Dropped
from gnrs_ppl.candidates.proposed import LONGEST_ANSWER, plain
from gnrs_ppl.candidates.refusals import held_against
from gnrs_ppl.candidates.source import left_unread
from gnrs_ppl.context.load import Context, nearest
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import Attribute, Channel, Schema
from gnrs_ppl.errors import InputError, one_line
from gnrs_ppl.llm import Answer, Message, Model, Request, ask
from gnrs_ppl.llm.answers import SOURCE, ActionRead, NameRead, SentenceReading, StatementRead, TimeRead
from gnrs_ppl.llm.client import account
from gnrs_ppl.llm.material import MAX_TOKENS, schema_shown
from gnrs_ppl.llm.prompts import load, render
from gnrs_ppl.reading import ActRead, Named, Reading, Readings, Span, Statement, Timed, read
from gnrs_ppl.reading.data import said_of_data
from gnrs_ppl.reading.opinions import as_chosen, duty_lines
from gnrs_ppl.reading.placed import placed
from gnrs_ppl.reading.quantities import NUMBER, durations, number
from gnrs_ppl.reading.reader import vocabulary
from gnrs_ppl.reading.types import Opens
from gnrs_ppl.reading.vocabulary import Token, tokens_of
from gnrs_ppl.rule.types import COUNTING, Act, After, Constraint

PROMPT = "sentence_reader.v1.txt"
MODELS_SHARE = 0.5
"""Of a statement that both have read: how much of its probability is the model's, in equal parts for each of
its readings."""
MOST_STATEMENTS = 12
"""Most statements of an answer that are looked at."""
MOST_TARGETS = 8
"""Most acts that one statement requires or forbids, as many as a rule can hold as alternatives."""
UNLIKE = 0.01
"""Score of words that have no likeness to the name a model read in them."""
UNOPENED = ("init", "end")
"""Templates that no act opens; those that count may do without one, all others have one."""
_ONCE = {"once": 1, "twice": 2, "thrice": 3}
_NUMBERS = re.compile(rf"\b(?:(?P<once>once|twice|thrice)|{NUMBER})\b", re.IGNORECASE)


class ReadAlong(NamedTuple):
    """A sentence as the reader and a model read it.

    Attributes
    ----------
    readings : Readings
        Both together.
    found : tuple of Statement
        What stays of the model's, each with its one reading.
    dropped : tuple of Dropped
        What does not, and why; the model's words are in it, cut and without markup.
    answer : Answer
        As it came.
    """

    readings: Readings
    found: tuple[Statement, ...]
    dropped: tuple[Dropped, ...]
    answer: Answer[SentenceReading]
    prompt: str = PROMPT

    def counted(self) -> dict[str, Any]:
        """How many of the model's statements stayed, and why there is no answer where there is none."""
        return {"kept": len(self.found), "dropped": len(self.dropped), "problem": self.answer.problem}


def told(found: Sequence[ReadAlong]) -> dict[str, Any]:
    """Which model was asked what, at what cost, and what was dropped, over some sentences (at least one);
    named as in a draft's JSON.
    """
    problem = next((one.answer.problem for one in found if one.answer.problem), "")
    counted = [one.counted() for one in found]
    return {
        "models": {"generator": found[-1].answer.model},
        "prompts": {PROMPT: load(PROMPT).hash},
        **account(one.answer for one in found),
        "readings": {name: sum(one[name] for one in counted) for name in ("kept", "dropped")}
        | {"problem": problem},
        "dropped": [item._asdict() for one in found for item in one.dropped],
    }


def read_along(
    sentences: Sequence[tuple[str, Schema, tuple[Channel, ...], tuple[Attribute, ...]]],
    model: Model,
    *,
    seed: int | None = None,
) -> list[ReadAlong]:
    """Sentences as reader and model read them against their schemas: one request each, all at once.

    The logs that are kept no model is shown.

    Raises
    ------
    InputError
        Bad configuration of the model.
    """
    answers = ask(model, [asked(sentence, schema, seed) for sentence, schema, *_ in sentences])
    return [
        kept(answer, sentence, schema, logs=logs, attributes=attributes)
        for answer, (sentence, schema, logs, attributes) in zip(answers, sentences, strict=True)
    ]


def with_model(contexts: Sequence[Context], model: Model, *, seed: int | None = None) -> list[Context]:
    """The contexts with their goals' sentences read by the model too; those that were, or whose sentence is
    not looked at, as they are.

    Raises
    ------
    InputError
        Bad configuration of the model; a log that cannot be read.
    """
    wanted = [context.read_along is None and not left_unread(context) for context in contexts]
    requests = [
        asked(context.goal.intent, context.schema, seed)
        for context, ask_it in zip(contexts, wanted, strict=True)
        if ask_it
    ]
    answers = iter(ask(model, requests))
    return [
        replace(
            context,
            read_along=kept(
                next(answers),
                context.goal.intent,
                context.schema,
                context,
                context.records.channels,
                context.records.attributes,
            ),
        )
        if ask_it
        else context
        for context, ask_it in zip(contexts, wanted, strict=True)
    ]


def asked(sentence: str, schema: Schema, seed: int | None = None) -> Request[SentenceReading]:
    """The request for a sentence's readings."""
    prompt = load(PROMPT)
    text = render(prompt, sentence=sentence, schema=schema_shown(schema))
    return Request(
        "generator",
        (Message("user", text),),
        SentenceReading,
        seed=seed,
        max_tokens=MAX_TOKENS,
        prompt=prompt.hash,
    )


def kept(
    answer: Answer[SentenceReading],
    sentence: str,
    schema: Schema,
    context: Context | None = None,
    logs: Sequence[Channel] = (),
    attributes: Sequence[Attribute] = (),
) -> ReadAlong:
    """What of an answer, which may hold anything, is a reading of the sentence, merged with the reader's.

    Parameters
    ----------
    answer : Answer
    sentence, schema
        What was read, and the names that may be meant.
    context : Context, optional
        Its records have to be able to hold a reading.
    logs : sequence of Channel
        Those the sentence may name as evidence.
    attributes : sequence of Attribute
        What the logs record beside, of which the reader alone reads conditions.
    """
    alone = read(sentence, schema, logs, attributes)
    if answer.parsed is None:
        return ReadAlong(alone, (), (), answer)
    if len(answer.text) > LONGEST_ANSWER:
        return ReadAlong(
            alone,
            (),
            (Dropped("reading", "all", f"the answer is longer than {LONGEST_ANSWER:,} characters"),),
            answer,
        )
    found: list[Statement] = []
    dropped: list[Dropped] = []
    check = _Check(sentence, schema)
    said = answer.parsed.statements
    for one in said[:MOST_STATEMENTS]:
        try:
            statement = check.statement(one, found[-1].span.end if found else 0)
            refused = held_against(context, alone, statement.best) if context is not None else None
            if refused is not None:
                raise InputError(refused.problem, "read it otherwise")
            found.append(statement)
        except InputError as error:
            dropped.append(
                Dropped(
                    "reading",
                    plain(one.words),
                    plain(f"{error.field}: {error.problem}" if error.field else error.problem),
                )
            )
    if len(said) > MOST_STATEMENTS:
        dropped.append(
            Dropped(
                "reading", f"{len(said) - MOST_STATEMENTS} more", f"more than {MOST_STATEMENTS} statements"
            )
        )
    conditions = said_of_data(sentence, attributes, vocabulary(schema)).found
    found = list(placed(Readings(sentence, tuple(found)), conditions, attributes).statements)
    # sure where a model reads the same
    alone = as_chosen(alone, duty_lines(Readings(sentence, tuple(found))))
    return ReadAlong(merged(alone, found), tuple(found), tuple(dropped), answer)


@dataclass(frozen=True)
class _Check:
    """Turns a model's statements into typed ones; raises InputError with the reason where one cannot be."""

    sentence: str
    schema: Schema

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """The sentence's tokens."""
        return tokens_of(self.sentence)

    def within(self, span: Span) -> list[int]:
        """Places of the tokens of a span."""
        return [i for i, token in enumerate(self.tokens) if _shared(Span(token.start, token.end), span)]

    def statement(self, said: StatementRead, earlier: int) -> Statement:
        """A statement with its one reading; ``earlier`` is where the statement before it ends."""
        if not 1 <= len(said.targets) <= MOST_TARGETS:
            raise _wrong("targets", f"holds {len(said.targets)} acts, not 1 to {MOST_TARGETS}")
        clause = self.span("words", said.words, Span(earlier, len(self.sentence)))
        quoted = {field: getattr(said, field) for field in ("force", "template", "count", "who", "condition")}
        spans = {field: self.span(field, part.words, clause) for field, part in quoted.items() if part}
        acts = self.acts(said, clause)
        others = dict(acts)
        activation = others.get("activation")
        opens: Opens = (
            "act" if activation else "case_end" if said.template.template == "end" else "case_start"
        )
        if said.template.template not in COUNTING and (activation is None) is not (
            said.template.template in UNOPENED
        ):
            raise _wrong(
                "activation",
                f"{said.template.template} {'takes' if activation else 'needs'} "
                f"{'none' if activation else 'one'}",
            )
        words_of = [repr(one_line(self.sentence[slice(*spans[part])], 60)) for part in ("force", "template")]
        reading = Reading(
            1.0,
            said.force.force,
            said.template.template,
            tuple(act for field, act in acts if field == "targets"),
            opens,
            activation,
            said.joint,
            others.get("after"),
            others.get("exception"),
            count=_count(said),
            time=self.time(said.time, clause) if said.time else None,
            bearers=tuple(self.name("roles", "bearers", bearer, clause) for bearer in said.bearers),
            who=said.who.who if said.who else None,
            condition=spans.get("condition"),
            why=f"a model, of {' and '.join(words_of)}",
        )
        _goes_together(reading)
        parts = [part for _, act in acts for part in (act, act.role, act.object, act.location)]
        used = [
            *spans.values(),
            *(part.span for part in (*parts, *reading.bearers, reading.time) if part is not None),
        ]
        return Statement(clause, (replace(reading, used=tuple(dict.fromkeys(used))),))

    def span(self, field: str, words: str, near: Span, taken: Sequence[Span] = ()) -> Span:
        """Where words stand in the sentence; of several places the one that shares no words with others',
        nearest, first.
        """
        quoted = words.strip()
        places = (
            re.finditer(rf"(?<!\w){re.escape(quoted)}(?!\w)", self.sentence)
            if 0 < len(quoted) <= len(self.sentence)
            else ()
        )
        found = [Span(*place.span()) for place in places]
        if not found:
            raise _wrong(field, f"'{words}' does not stand in the sentence")
        return min(
            found,
            key=lambda span: (any(_shared(span, other) for other in taken), _apart(span, near), span.start),
        )

    def acts(self, said: StatementRead, clause: Span) -> list[tuple[str, ActRead]]:
        """The acts with the parts they stand in; all different, and of different words."""
        fields = [
            *(("targets", act) for act in said.targets),
            *((f, getattr(said, f)) for f in ("activation", "after", "exception")),
        ]
        acts: list[tuple[str, ActRead]] = []
        for field, one in ((field, one) for field, one in fields if one is not None):
            act = self.act(field, one, clause, [other.span for _, other in acts])
            if any(act.activity == other.activity for _, other in acts):
                raise _wrong(field, f"'{act.activity}' stands in two parts")
            if any(_shared(act.span, other.span) for _, other in acts):
                raise _wrong(field, f"'{one.words}' is read as two acts")
            acts.append((field, act))
        return acts

    def act(self, field: str, said: ActionRead, clause: Span, taken: Sequence[Span]) -> ActRead:
        """An act, with how well its words fit."""
        self.known(field, "actions", said.activity)
        span = self.span(field, said.words, clause, taken)
        likely = vocabulary(self.schema).match_acts(self.tokens, self.within(span))
        score = next((m.score for m in likely if m.name == said.activity), UNLIKE)
        names: dict[str, Any] = {
            kind.removesuffix("s"): self.name(kind, f"{field}.{kind.removesuffix('s')}", named, span)
            for kind, named in (("roles", said.role), ("objects", said.object), ("locations", said.location))
            if named is not None
        }
        return ActRead(said.activity, span, min(1.0, max(round(score, 3), UNLIKE)), **names)

    def name(self, kind: str, field: str, said: NameRead, near: Span) -> Named:
        """A role, object or location, with how well its words fit."""
        self.known(field, kind, said.name)
        span = self.span(field, said.words, near)
        likely = vocabulary(self.schema).name_in(kind, self.tokens, self.within(span))
        return Named(
            said.name, span, next((named.score for _, named in likely if named.name == said.name), UNLIKE)
        )

    def known(self, field: str, kind: str, name: str) -> None:
        """Raise where a name is not the schema's."""
        names = [term.name for term in getattr(self.schema, kind)]
        if name not in names:
            near = nearest(name, names) if len(name) <= len(self.sentence) else None
            raise _wrong(
                field, f"'{name}' is not among the schema's {kind}" + (f"; nearest: '{near}'" if near else "")
            )

    def time(self, said: TimeRead, clause: Span) -> Timed:
        """A time limit that its words state, on the very words that state it."""
        span = self.span("time", said.words, clause)
        try:
            stated = Duration.parse(said.duration)
        except ValueError as error:
            raise _wrong("time", str(error)) from None
        told = durations(self.sentence[slice(*span)])
        length = next((one for one in told if stated in (one.duration, _by_the_clock(one.duration))), None)
        if length is None:
            raise _wrong("time", f"'{said.words}' does not say {stated}")
        exact = Span(span.start + length.start, span.start + length.end)
        latest = "at the latest" in self.sentence[slice(*clause)].lower()
        return Timed(exact, length.duration, earlier_counts=latest, working_days=length.working)


def _by_the_clock(duration: Duration) -> Duration:
    """Working time as models write it in ISO 8601: as many days or hours."""
    return (
        Duration(days=duration.working_days, seconds=3600 * duration.working_hours)
        if duration.working
        else duration
    )


def _wrong(field: str, problem: str) -> InputError:
    return InputError(problem, "read it otherwise", source=SOURCE, field=field)


def _shared(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def _apart(one: Span, other: Span) -> int:
    """Characters between two spans, none where they touch."""
    return max(one.start - other.end, other.start - one.end, 0)


def _count(said: StatementRead) -> int:
    """The number that the words say; for absence also the next, as it counts one more than may be."""
    if said.count is None:
        return 1
    if said.template.template not in COUNTING:
        raise _wrong("count", f"goes with {', '.join(COUNTING)}, not with {said.template.template}")
    stated = {
        _ONCE[m["once"].lower()] if m["once"] else number(m[0]) for m in _NUMBERS.finditer(said.count.words)
    }
    if said.count.times not in stated | (
        {n + 1 for n in stated} if said.template.template == "absence" else set()
    ):
        raise _wrong("count", f"'{said.count.words}' does not say {said.count.times}")
    return said.count.times


def _goes_together(reading: Reading) -> None:
    """Raise where no rule can hold a constraint with such parts."""
    try:
        Constraint(
            template=reading.template,
            target=Act(activity=reading.targets[0].activity),
            after=After(act=Act(activity=reading.after.activity), channel="any") if reading.after else None,
            deadline=reading.time.duration if reading.time else None,
            count=reading.count,
        )
    except ValueError as error:
        raise _wrong("template", str(error)) from None


def merged(readings: Readings, found: Sequence[Statement]) -> Readings:
    """The reader's readings with a model's; nothing of the reader's is taken away.

    What the model reads of a statement that the reader has (the same constraint, or another on the same
    targets in the same clause) has `MODELS_SHARE` of that statement's probability: a reading that both have
    gains, another joins as a further way. Of equals the reader's comes first. A statement that the reader has
    not stands behind its own. Words that a likeliest reading uses are read.
    """
    if not found:
        return readings
    statements = list(readings.statements)
    models: list[list[Reading]] = [[] for _ in statements]
    for one in (part for whole in found for part in _split(whole, readings.statements)):
        place = next(
            (n for n, s in enumerate(statements) if any(_says(r, one.best) for r in s.readings)), None
        )
        if place is None:
            same = [
                n
                for n, s in enumerate(statements)
                if _shared(s.span, one.span) and _targets(s.best) == _targets(one.best)
            ]
            place = max(
                same, key=lambda n: _opener(statements[n].best) == _opener(one.best), default=len(statements)
            )
        if place == len(statements):
            statements.append(one)
            models.append([])
        models[place].append(one.best)
    together = tuple(
        _weighed(statement, said, n < len(readings.statements))
        for n, (statement, said) in enumerate(zip(statements, models, strict=True))
    )
    used = [span for statement in together for span in statement.best.used]
    unread = tuple(u for u in readings.unread if not any(_shared(u.span, span) for span in used))
    return replace(readings, statements=together, unread=unread, nothing="" if together else readings.nothing)


def _split(statement: Statement, others: Sequence[Statement]) -> list[Statement]:
    """A statement that asks several acts as one for each, unless another asks the same acts together."""
    reading = statement.best
    if reading.joint == "any" or any(_targets(other.best) == _targets(reading) for other in others):
        return [statement]
    return [Statement(statement.span, (replace(reading, targets=(act,)),)) for act in reading.targets]


def _weighed(statement: Statement, said: Sequence[Reading], known: bool) -> Statement:
    """A statement with the model's readings of it, which share its whole probability where the statement is
    not ``known`` to the reader.
    """
    if not said:
        return statement
    ways = list(statement.readings) if known else []
    weights = [(1 - MODELS_SHARE) * way.probability for way in ways]
    agreed = set[int]()
    for reading in said:
        place = next((n for n, way in enumerate(ways) if _says(way, reading)), len(ways))
        if place == len(ways):
            ways.append(reading)
            weights.append(0.0)
        elif known and place < len(statement.readings):
            agreed.add(place)
        weights[place] += (MODELS_SHARE if known else 1.0) / len(said)
    told = [
        replace(way, why=f"{way.why}; so does a model") if n in agreed else way for n, way in enumerate(ways)
    ]
    shares = [
        replace(way, probability=round(weight / sum(weights), 4))
        for way, weight in zip(told, weights, strict=True)
    ]
    return Statement(statement.span, tuple(sorted(shares, key=lambda way: -way.probability)))


def _says(whole: Reading, part: Reading) -> bool:
    """Whether a reading says all that another says, each act of it."""
    return _constraints(part) <= _constraints(whole)


def _constraints(reading: Reading) -> frozenset[Any]:
    """What a reading asks, one entry for each act that is asked; where it was read aside."""
    targets = [_names(act) for act in reading.targets]
    time = reading.time and (reading.time.duration, reading.time.earlier_counts, reading.time.working_days)
    common = (
        reading.force,
        reading.template,
        reading.count,
        time,
        reading.who,
        frozenset(n.name for n in reading.bearers),
        *(_names(act) for act in (reading.activation, reading.after, reading.exception)),
    )
    asked = [frozenset(targets)] if reading.joint == "any" else [frozenset([target]) for target in targets]
    return frozenset((one, *common) for one in asked)


def _names(act: ActRead | None) -> tuple[str | None, ...] | None:
    return (
        None if act is None else (act.activity, *(n.name if n else None for n in (act.object, act.location)))
    )


def _targets(reading: Reading) -> set[str]:
    return {act.activity for act in reading.targets}


def _opener(reading: Reading) -> str | None:
    return reading.activation.activity if reading.activation else None
