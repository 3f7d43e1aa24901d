"""What a person sees of a reading: the sentence with its parts marked, what each was read as, what was not
read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.padding import Padding

from gnrs_ppl.reading.goal import rules_of
from gnrs_ppl.reading.plain import declare_name, why_nothing
from gnrs_ppl.reading.types import ActRead, Reading, Readings, Span
from gnrs_ppl.realize.english import duration
from gnrs_ppl.terminal import console as _console
from gnrs_ppl.terminal import row as _row
from gnrs_ppl.terminal import shown
from gnrs_ppl.terminal import table as _table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

STYLES = {
    "act": "bold green",
    "opener": "bold cyan",
    "restarts it": "bold cyan",
    "exception": "bold magenta",
    "role": "cyan",
    "object": "green",
    "place": "green",
    "time": "bold blue",
    "condition": "yellow",
    "background": "dim",
    "not read": "red",
}
"""How the parts of a sentence look on a terminal; elsewhere what was read stands in brackets."""
NEARLY = 0.995
"""Words that fit a name less well than this are said with their score."""


class SentencePart(NamedTuple):
    """Words of the sentence, what part they are, and what they were read as."""

    span: Span
    kind: str
    name: str
    score: float = 1.0


def parts_of(reading: Reading) -> list[SentencePart]:
    """The parts of a reading in the order of the sentence, none twice."""
    acts = [("opener", reading.activation), ("restarts it", reading.after), ("exception", reading.exception)]
    acts += [("act", act) for act in reading.targets]
    parts = [part for kind, act in acts if act is not None for part in _of_act(kind, act)]
    parts += [SentencePart(n.span, "role", n.name, n.score) for n in reading.bearers]
    if reading.time is not None:
        parts.append(SentencePart(reading.time.span, "time", _time(reading)))
    if reading.condition is not None:
        parts.append(SentencePart(reading.condition, "condition", "no act of the schema; not checked"))
    return sorted(dict.fromkeys(parts), key=lambda p: (p.span.start, -p.span.end))


def _of_act(kind: str, act: ActRead) -> Iterator[SentencePart]:
    yield SentencePart(act.span, kind, act.activity, act.score)
    for name, named in (("role", act.role), ("object", act.object), ("place", act.location)):
        if named is not None:
            yield SentencePart(named.span, name, named.name, named.score)


def _time(reading: Reading) -> str:
    time = reading.time
    if time is None:
        return ""
    length = duration(time.duration) if time.duration else "until an event"
    return (
        length
        + (", in working days" if time.working_days else "")
        + (", earlier acts count" if time.earlier_counts else "")
    )


def reading_in_words(reading: Reading) -> str:
    """A reading in one line: force, constraint, acts in DECLARE order, second activation, time, who,
    exception.
    """
    joined = " or " if reading.joint == "any" else ", "
    acts = joined.join(reading.activities) if reading.activation is None else ", ".join(reading.activities)
    name = declare_name(reading.template, reading.count)
    counted = f", {reading.count} times" if reading.count > 1 and name != "AtMostOne" else ""
    timed = f", {'within ' if reading.time.duration else ''}{_time(reading)}" if reading.time else ""
    who = {"same_person": ", by the same person", "another_person": ", by another person"}.get(
        reading.who or "", ""
    )
    unless = f", unless {reading.exception.activity}" if reading.exception else ""
    anew = f", anew from {reading.after.activity}" if reading.after else ""
    return f"{reading.force} {name}({acts}){counted}{anew}{timed}{who}{unless}"


def marked(readings: Readings, plain: bool) -> Text:
    """The sentence with its parts in styles, or in brackets where there is no terminal to show them."""
    parts = [p for s in readings.statements for p in parts_of(s.best)]
    parts += [SentencePart(span, "background", "") for span in readings.background]
    parts += [SentencePart(u.span, "not read", "") for u in readings.unread]
    text, at = shown(""), 0
    for part in sorted(parts, key=lambda p: (p.span.start, -p.span.end)):
        if part.span.start < at:
            continue
        text.append(shown(_flat(readings.sentence[at : part.span.start])))
        words = _flat(readings.words(part.span))
        bracketed = plain and part.kind not in ("background", "not read")
        text.append(shown(f"[{words}]" if bracketed else words, style="" if plain else STYLES[part.kind]))
        at = part.span.end
    return text.append(shown(_flat(readings.sentence[at:])))


def _flat(words: str) -> str:
    return re.sub(r"\s+", " ", words)


def guessed(readings: Readings) -> list[str]:
    """What words that are not the name's own were read as, with the score."""
    parts = [p for s in readings.statements for p in parts_of(s.best) if p.score < NEARLY]
    return [
        f"'{_flat(readings.words(p.span))}' read as {p.name}, {p.score:.2f}" for p in dict.fromkeys(parts)
    ]


def not_read(readings: Readings) -> str:
    """The words with content that no part used."""
    return ", ".join(f"'{_flat(readings.words(u.span))}'" for u in readings.unread)


def print_reading(readings: Readings) -> None:
    """The sentence marked; for each statement its parts and the ways to read it; background; what was not
    read.
    """
    console = _console()
    console.print(marked(readings, not console.is_terminal))
    console.print()
    rules = rules_of(readings)
    for number, statement in enumerate(readings.statements, 1):
        best, *others = statement.readings
        rule = next(n for n, held in enumerate(rules, 1) if number - 1 in held)
        of_rule = f", rule {rule}" if len(rules) > 1 else ""
        console.print(
            shown(f"{number}. {reading_in_words(best)}: {best.probability:.2f}{of_rule}", style="bold")
        )
        table = _table("", "words", "part", "read as", "score", right=("score",))
        for part in parts_of(best):
            _row(
                table,
                _flat(readings.words(part.span)),
                part.kind,
                part.name,
                f"{part.score:.2f}" if part.score < NEARLY else "",
            )
        console.print(Padding(table, (0, 2)))
        for line in (
            f"because: {best.why}",
            *(f"or: {reading_in_words(o)}: {o.probability:.2f} ({o.why})" for o in others),
        ):
            console.print(Padding(shown(line, style="dim"), (0, 2)))
        console.print()
    for span in readings.background:
        if readings.words(span).strip():
            console.print(shown(f"background: {_flat(readings.words(span)).strip()}", style="dim"))
    if readings.unread:
        console.print(shown(f"not read: {not_read(readings)}", style="yellow"))


def print_short(console: Console, readings: Readings, rule: int) -> None:
    """The sentence marked and its statements in a line each, above the rule that was drafted from it."""
    console.print(marked(readings, not console.is_terminal))
    rules = rules_of(readings)
    for number, statement in enumerate(readings.statements, 1):
        held = next(n for n, numbers in enumerate(rules) if number - 1 in numbers)
        other = "" if held == rule else f"; a rule of its own: --statement {held + 1}"
        share = f", {statement.best.probability:.2f}" if len(statement.readings) > 1 else ""
        console.print(
            shown(f"read as {number}. {reading_in_words(statement.best)}{share}{other}", style="dim")
        )
    for line in guessed(readings):
        console.print(shown(line, style="dim"))
    if not readings.statements:
        console.print(shown(f"nothing read: {why_nothing(readings)}", style="yellow"))
    if readings.unread:
        console.print(shown(f"not read: {not_read(readings)}", style="yellow"))


def print_account(console: Console, account: dict[str, Any]) -> None:
    """Which models were asked, what of their answers stayed, and the cost."""
    if account["scripted"]:
        console.print(shown("scripted: a stand-in for a model answered; this is no result", style="yellow"))
    kept = [
        f"{counts['kept']} {what} kept, {counts['dropped']} dropped"
        + (f" ({counts['problem']})" if counts["problem"] else "")
        for what in ("readings", "proposals")
        if (counts := account.get(what))
    ]
    cost = "cost unknown" if account["cost"] is None else f"{account['cost']:.4f} US dollars"
    models = ", ".join(f"{role} {name or 'without an answer'}" for role, name in account["models"].items())
    asked = f"{account['calls']} calls, {account['cached']} from the cache, {cost}"
    console.print(shown("; ".join([f"language model: {models}", *kept, asked]), style="dim"))


def print_model(reading: dict[str, Any]) -> None:
    """Below what was read: what a model had to do with it, and what of its answers was dropped; nothing
    where none was asked.
    """
    if "llm" not in reading:
        return
    console = _console()
    print_account(console, reading["llm"])
    for item in reading["llm"]["dropped"]:
        console.print(shown(f"dropped: {item['candidate']} ({item['reason']})", style="dim"))


def print_batch(rows: Sequence[dict[str, Any]]) -> None:
    """A line for each sentence of a batch."""
    console = _console()
    table = _table("", "id", "template", "activities", "probability", "reason", right=("probability",))
    for row in rows:
        share = "" if row["probability"] is None else f"{row['probability']:.2f}"
        _row(
            table, row["id"], row["template"] or "–", ", ".join(row["activities"]), share, row["reason"] or ""
        )
    console.print(table)
    read = sum(row["template"] is not None for row in rows)
    console.print(shown(f"{read} of {len(rows)} sentences read", style="dim"))
