"""Questions as a person sees them: a case as a short timeline, a part of the sentence with what it may
mean.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from rich.padding import Padding

from gnrs_ppl.context.load import Context
from gnrs_ppl.context.time import Duration
from gnrs_ppl.errors import InputError, one_line
from gnrs_ppl.posterior.answers import ANSWERS, UNKNOWN
from gnrs_ppl.posterior.ask import ENOUGH, NAMED, Question, State
from gnrs_ppl.posterior.fields import NAMES, NOTHING, PLAIN, TIMES, WORDS_OF, said
from gnrs_ppl.posterior.mass import ASKED
from gnrs_ppl.realize.english import duration
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.text import phrase
from gnrs_ppl.report.uncertain import mass_line
from gnrs_ppl.rule.types import Scope
from gnrs_ppl.terminal import console as _console
from gnrs_ppl.terminal import row as _row
from gnrs_ppl.terminal import shown
from gnrs_ppl.terminal import table as _table

ROWS = 14
"""Rows of a case that are shown."""
KEYS = {"b": "broken", "k": "kept", "s": "silent", "?": UNKNOWN}
"""What a key says of a case."""
WORDS = {"broken": "broken", "kept": "kept", "silent": "not spoken of", UNKNOWN: "not known"}
NO_TIME = "no time"
"""Where a row's time would stand that it lacks."""
LARGE_CUT = 0.3
"""A share outside the kept mass that is worth a word."""


class TimelineRow(NamedTuple):
    """One event of a case as it is shown; ``seconds`` are those since the case's first row, ``named`` is
    whether the rules name its act.
    """

    at: str
    since: str
    what: str
    who: str
    on: str
    channel: str
    seconds: float | None
    named: bool

    @property
    def cells(self) -> tuple[str, ...]:
        """What stands in the row's columns."""
        return self.at, self.since, self.what, self.who, self.on, self.channel


def timeline(
    context: Context, case: str, named: Iterable[str], count: int = ROWS, lexicon: Lexicon | None = None
) -> tuple[list[TimelineRow], int]:
    """The events of a case in order and how many were left out: those of acts that the rules name come first
    where not all fit. Roles, things, places and logs by their words where a lexicon has them.
    """
    rows = context.log.connection.execute(
        'SELECT "timestamp", "offset", "grain", activity, role, resource, object, location, channel '
        'FROM events WHERE case_id = ? ORDER BY "timestamp" NULLS LAST, event_id',
        [case],
    ).fetchall()
    wanted = set(named)
    first = sorted(range(len(rows)), key=lambda n: (rows[n][3] not in wanted, n))[:count]
    began = next((row[0] for row in rows if row[0] is not None), None)
    words = {action.name: action.phrase or action.name for action in context.schema.actions}
    called: dict[Any, dict[str, str]] = (lexicon.called if lexicon else {}) | {"action": words}
    return [_row_of(rows[n], began, called, wanted) for n in sorted(first)], len(rows) - len(first)


def _row_of(
    row: tuple[Any, ...], began: datetime | None, called: dict[Any, dict[str, str]], named: set[str]
) -> TimelineRow:
    at, offset, grain, activity, _, resource, *_ = row
    names = zip(("action", "role", "object", "location", "channel"), (row[3], row[4], *row[6:]), strict=True)
    what, role, thing, location, channel = (called.get(kind, {}).get(name, name) for kind, name in names)
    local = None if at is None else at + timedelta(minutes=offset or 0)
    shape = {"day": "%Y-%m-%d", "minute": "%Y-%m-%d %H:%M"}.get(grain or "", "%Y-%m-%d %H:%M:%S")
    people = " ".join(part for part in (role, f"({resource})" if resource else "") if part)
    return TimelineRow(
        NO_TIME if local is None else local.strftime(shape),
        "" if at is None or began is None else _since(at - began),
        what or "–",
        people or "–",
        ", ".join(part for part in (thing, location) if part) or "–",
        channel or "–",
        None if at is None or began is None else (at - began).total_seconds(),
        activity in named,
    )


def _since(passed: timedelta) -> str:
    days, hours, minutes = passed.days, passed.seconds // 3600, passed.seconds // 60 % 60
    if days:
        return f"+{days} d {hours} h"
    return f"+{hours} h {minutes} min" if hours else f"+{minutes} min" if minutes else "start"


def state_data(state: State, context: Context) -> dict[str, Any]:
    """The JSON of ``gnrs ask``: with the sentence, the first rule in a line, and the rows of each case that
    is asked about.
    """
    lexicon, cases = Lexicon.of_context(context), {}
    for question in state.questions[:NAMED]:
        if question.kind == "case":
            rows, left_out = timeline(context, question.about, named_acts(state), lexicon=lexicon)
            cases[question.about] = {"rows": [row._asdict() for row in rows], "left_out": left_out}
    called: dict[str, dict[str, str]] = {}
    for field, values in (
        *((q.about, q.answers) for q in state.questions[:NAMED] if q.kind == "part"),
        *((choice.name, choice.values) for choice in state.open_fields()),
    ):
        called.setdefault(field, {}).update({value: value_as_said(field, value, lexicon) for value in values})
    return state.as_dict() | {
        "sentence": context.goal.intent,
        "called": called,
        "rule": rule_line(state, context),
        "cases": cases,
    }


def named_acts(state: State) -> set[str]:
    """The acts that the kept rules name."""
    found: set[str] = set()
    for v, slot in enumerate(ASKED):
        options = state.mass.graph.options[v]
        if slot in ("trigger", "norm"):
            for o in set(state.mass.positions[:, v].tolist()):
                content = options[o].content
                acts = [content.act] if slot == "trigger" else _acts(content)
                found |= {name for act in acts if act for name in act.activities}
    return found


def _acts(norm: Any) -> list[Any]:
    return [
        act
        for constraint in norm.constraints
        for act in (constraint.target, constraint.unless, constraint.after.act if constraint.after else None)
    ]


def value_in_words(field: str, value: str) -> str:
    """A value of a field, times also in words."""
    if field in TIMES and value != NOTHING:
        words = ", ".join(duration(Duration.parse(one)) for one in value.split(" + "))
        return f"{value} ({words})"
    return "nothing stated" if value == NOTHING else value


def value_as_said(field: str, value: str, lexicon: Lexicon) -> str:
    """A value of a field as a rule's text would say it."""
    if value == NOTHING:
        return "nothing stated"

    def word(one: str) -> str:
        kind = NAMES.get(field)
        if field in TIMES:
            return duration(Duration.parse(one))
        if kind is None or one in WORDS_OF.get(field, {}):
            return WORDS_OF.get(field, {}).get(one, one)
        return lexicon.form(kind, one, "noun" if kind == "action" else "one")

    return ", ".join(word(one) for one in value.split(" + "))


def print_state(state: State, context: Context, again: str) -> None:
    """Where the questions stand, then the next one or why there is none; ``again`` is the command that
    answers.
    """
    _print_standing(state, context)
    if state.stopped:
        print_end(state, context, again)
        return
    question = state.questions[0]
    print_question(question, state, context)
    out = _console()
    choices = ", ".join(ANSWERS) if question.kind == "case" else ", ".join(map(shlex.quote, question.answers))
    out.print(shown(f"\nAnswer with one of {choices}, or {UNKNOWN}:", keep="\n"))
    about = shlex.quote(f"{question.about}={next(iter(question.answers))}")
    out.print(shown(f"  {again} --answer {about}"), soft_wrap=True)
    out.print(
        shown(
            f"Expected to tell {question.bits:.2f} bits. Also worth asking: "
            + (", ".join(f"{q.about} ({q.bits:.2f})" for q in state.questions[1:4]) or "nothing"),
            style="dim",
        )
    )


def _print_standing(state: State, context: Context) -> None:
    out = _console()
    out.print(shown(f"Which rule is meant by {context.goal.id}?", style="bold"))
    out.print(shown(mass_line(state.mass), style="dim"))
    told = len(state.answers.given)
    out.print(
        shown(
            (
                f"{len(state.groups):,} rules that cases of this log tell apart; the first holds "
                if len(state.groups) > 1
                else "No case of this log tells one of them from another; together they hold "
            )
            + f"{state.groups[0].probability:.0%}"
            + (f" after {told} answer{'s' if told > 1 else ''}" if told else "")
            + f" (enough: {ENOUGH:.0%}). Answers are taken to err {state.answers.error:.0%} of the time."
        )
    )
    for number, group in enumerate(state.groups[:3], 1):
        rule = rule_line(state, context) if number == 1 else f"as 1, but {differs(state, number - 1)}"
        out.print(Padding(shown(f"{number}. {group.probability:.2f}  {rule}"), (0, 2)))


def differs(state: State, group: int) -> str:
    """How the most probable rule of a group differs from that of the first."""
    rules = [state.mass.structure(state.groups[g].checks[0]) for g in (0, group)]
    parts = []
    for slot in ASKED:
        first, other = (said(getattr(rule, slot)) for rule in rules)
        parts += [
            f"{slot}.{field} {value_in_words(f'{slot}.{field}', ' + '.join(values) or NOTHING)}"
            for field, values in other.items()
            if values != first[field]
        ]
    return one_line("; ".join(parts), 300)


def rule_line(state: State, context: Context) -> str:
    """The most probable rule of the first group in a line."""
    rule = state.mass.structure(state.groups[0].checks[0])
    words = Lexicon.of_context(context).including(rule)
    slots = ("trigger", "norm", *(["scope"] if rule.scope != Scope() else []), "evidence")
    parts = [phrase(getattr(rule, slot), words) for slot in slots]
    return one_line("; ".join(part for part in parts if part), 600)


def print_question(question: Question, state: State, context: Context) -> None:
    """A case as a timeline, or a part of the sentence with what it may mean."""
    out = _console()
    if question.kind == "part":
        what = PLAIN.get(question.about, question.about)
        out.print(shown(f"\nIn the sentence, {what} ({question.about})?", style="bold", keep="\n"))
        out.print(Padding(shown(context.goal.intent), (0, 2)))
        for number, (value, chance) in enumerate(question.answers.items(), 1):
            out.print(shown(f"  {number}  {value_in_words(question.about, value)}, {chance:.0%} by now"))
        return
    rows, left_out = timeline(context, question.about, named_acts(state))
    drawn = _table(f"Case {one_line(question.about, 80)}", "at", "after", "what", "who", "on, where", "log")
    for row in rows:
        _row(drawn, *(one_line(cell, 80) for cell in row.cells))
    out.print()
    out.print(drawn)
    if left_out:
        out.print(shown(f"… and {left_out} rows of other acts", style="dim"))
    chances = ", ".join(f"{WORDS[answer]} {chance:.0%}" for answer, chance in question.answers.items())
    out.print(shown("Was the rule broken here, kept, or does it not speak of this case?", style="bold"))
    out.print(shown(f"by now: {chances}", style="dim"))


def print_end(state: State, context: Context, again: str) -> None:
    """Why nothing more is asked, and what this log cannot tell."""
    out = _console()
    if state.stopped == "settled":
        line = f"Settled: the first rule holds {state.groups[0].probability:.0%}; nothing more is asked."
    elif not state.stopped:
        line = f"Stopped: the first rule holds {state.groups[0].probability:.0%} so far; ask again to go on."
    else:
        line = (
            f"Nothing left in this log can tell the rest apart: {len(state.groups):,} rules remain, the "
            f"first with {state.groups[0].probability:.0%}, and no case that was not asked splits them."
        )
    out.print(shown(f"\n{line}", style="bold", keep="\n"))
    fields = state.open_fields()
    if fields and state.stopped:
        out.print(
            shown(
                f"A finding about the records: {len(state.groups[0].checks):,} ways to put the first rule "
                "give every case of this log the same answer. No record here shows which is meant:"
            )
        )
        for choice in fields:
            values = "  |  ".join(value_in_words(choice.name, value) for value in choice.values)
            out.print(Padding(shown(f"{choice.name}: {one_line(values, 300)}"), (0, 2)))
        out.print(shown("Say it with --fix, if it matters for cases to come."))
    if state.mass.cut >= LARGE_CUT:
        out.print(
            shown(
                f"Rules outside the kept mass could hold up to {state.mass.cut:.0%} by now: ask with a "
                "larger --mass to be sure."
            )
        )
    out.print(shown("Next:"))
    out.print(shown(f"  {again}"), soft_wrap=True)


class Asking:
    """Somebody at a terminal who answers, does not know, or stops."""

    def answer(self, question: Question, state: State, context: Context) -> str | None:
        """What is answered; None to stop."""
        _print_standing(state, context)
        print_question(question, state, context)
        if question.kind == "case":
            keys, hint = KEYS, "b broken, k kept, s not spoken of, ? do not know, q stop"
        else:
            keys = {str(n): value for n, value in enumerate(question.answers, 1)} | {"?": UNKNOWN}
            hint = f"1 to {len(question.answers)}, ? do not know, q stop"
        while True:
            try:
                typed = input(f"{hint}: ").strip()
            except EOFError:
                return None
            except UnicodeDecodeError:
                raise InputError("the answer is no text", "write it in UTF-8", source="arguments") from None
            if typed.casefold() in ("q", "quit"):
                return None
            if typed.casefold() in keys:
                return keys[typed.casefold()]
            if typed in keys.values():
                return typed
            _console().print(shown(f"Please answer {hint}."))


def again_with(verb: str, context: str, options: Iterable[str], answers: Path | None) -> str:
    """A command that goes on from here."""
    parts = ["gnrs", verb, context, *options, *(["--answers", str(answers)] if answers else [])]
    return " ".join(map(shlex.quote, parts))
