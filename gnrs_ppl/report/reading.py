"""What a person sees of a reading: the sentence with its parts marked, what each was read as, what was not
read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.padding import Padding

from gnrs_ppl.reading.counts import acts_of, named_as_well
from gnrs_ppl.reading.goal import rows_by_act, rules_of
from gnrs_ppl.reading.plain import declare_name, why_nothing
from gnrs_ppl.reading.types import (
    ActRead,
    DataOf,
    EvidenceRead,
    ProcedureRead,
    Reading,
    Readings,
    Span,
    StepRead,
)
from gnrs_ppl.realize.english import duration
from gnrs_ppl.rule.types import Condition
from gnrs_ppl.terminal import console as _console
from gnrs_ppl.terminal import row as _row
from gnrs_ppl.terminal import shown
from gnrs_ppl.terminal import table as _table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from gnrs_ppl.context.load import Context

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
    "data": "bold yellow",
    "log": "bold yellow",
    "breach": "bold red",
    "step": "bold red",
    "nobody": "red",
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
    parts = [part for kind, act in acts if act is not None for one in act.each for part in _of_act(kind, one)]
    parts += [SentencePart(n.span, "role", n.name, n.score) for n in (*reading.bearers, *reading.only)]
    if reading.time is not None:
        parts.append(SentencePart(reading.time.span, "time", _time(reading)))
    if reading.condition is not None:
        parts.append(SentencePart(reading.condition, "condition", "no act of the schema; not checked"))
    parts += [
        SentencePart(d.span, "data", f"{data_in_words(d.condition)}, {_DATA_OF[d.of]}", d.attribute.score)
        for d in reading.data
    ]
    return sorted(dict.fromkeys(parts), key=lambda p: (p.span.start, -p.span.end))


def data_in_words(condition: Condition) -> str:
    """A condition on data in a few words."""
    other = condition.other.attribute if condition.other else ""
    values = [other] if other else [f"{v:f}" if isinstance(v, Decimal) else v for v in condition.value]
    join = " and " if condition.test == "between" else " or "
    told = {"at_most": "at most", "at_least": "at least", "more": "more than", "less": "less than"}
    test = told.get(condition.test, condition.test.replace("_", " "))
    return " ".join(x for x in (condition.attribute, test, join.join(values)) if x)


_DATA_OF: dict[DataOf, str] = {
    "case": "of the case",
    "opener": "where it opens",
    "act": "of the act",
    "exception": "of the exception",
}


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
        + (", in working time" if time.working_days else "")
        + (", earlier acts count" if time.earlier_counts else "")
    )


def parts_beside(readings: Readings) -> dict[str, list[SentencePart]]:
    """The parts of what a sentence says of its evidence and of what follows a breach, each in its order."""
    found = {"evidence": _evidence_parts(readings), "procedure": _procedure_parts(readings)}
    return {
        slot: sorted(dict.fromkeys(parts), key=lambda p: (p.span.start, -p.span.end))
        for slot, parts in found.items()
    }


def _every_part(readings: Readings) -> Iterator[SentencePart]:
    """The parts of all that was read, as it most probably is."""
    for statement in readings.statements:
        yield from parts_of(statement.best)
    for parts in parts_beside(readings).values():
        yield from parts


def _evidence_parts(readings: Readings) -> Iterator[SentencePart]:
    read = readings.evidence
    if read is None:
        return
    for named in read.channels:
        yield SentencePart(named.span, "log", named.name, named.score)
    for named in read.insufficient:
        yield SentencePart(named.span, "log", f"{named.name}, not by itself", named.score)
    if read.opener:
        yield SentencePart(
            read.opener.span, "log", f"{read.opener.name}, for what opens it", read.opener.score
        )
    for unkept in read.unkept:
        yield SentencePart(unkept.span, "nobody", "a log that nobody keeps")


def _procedure_parts(readings: Readings) -> Iterator[SentencePart]:
    read = readings.procedure
    if read is None or not read.follows_breach:
        return
    if read.opener:
        yield SentencePart(read.opener, "breach", "what follows it")
    for step in read.steps:
        shown_by = f" (recorded as {step.activity.name})" if step.activity else ""
        name = f"{step.stage}: {step.name.name}" if step.name else step.stage
        yield SentencePart(step.span, "step", name + shown_by, step.name.score if step.name else 1.0)
        if step.role:
            yield SentencePart(step.role.span, "role", step.role.name, step.role.score)
        if step.independent:
            yield SentencePart(step.independent, "role", "somebody who is not bound")
        if step.nobody:
            yield SentencePart(step.nobody, "nobody", "no role of the schema")
        if step.inspects:
            yield SentencePart(step.inspects.span, "log", step.inspects.name, step.inspects.score)
    if read.time and read.time.duration:
        yield SentencePart(read.time.span, "time", duration(read.time.duration))


def beside_in_words(readings: Readings) -> dict[str, str]:
    """What a sentence says of its evidence and of what follows a breach, in a line each."""
    return ({"evidence": evidence_in_words(readings.evidence)} if readings.evidence else {}) | (
        {"procedure": procedure_in_words(readings.procedure)} if readings.procedure else {}
    )


def evidence_in_words(read: EvidenceRead) -> str:
    """The logs that show it and how many of them, in one line."""
    logs = ", ".join(n.name for n in read.channels) or ("logs" if read.operator else "")
    many = (
        {"all": "all of ", "any": "any of ", "at_least": f"at least {read.k} of "}[read.operator]
        if read.operator
        else ""
    )
    said = [f"{many}{logs}"] if logs else []
    said += [f"{n.name} not by itself" for n in read.insufficient]
    said += [f"{read.opener.name} for what opens it"] if read.opener else []
    said += ["a log that nobody keeps"] if read.unkept else []
    return f"evidence: {'; '.join(said)}"


def procedure_in_words(read: ProcedureRead) -> str:
    """The steps after a breach, in one line."""
    steps = ", ".join(_step_in_words(step) for step in read.steps)
    time = f", within {duration(read.time.duration)}" if read.time and read.time.duration else ""
    without = "".join(f", no {stage}" for stage in read.without)
    return f"after a breach: {steps}{time}{without}"


def _step_in_words(step: StepRead) -> str:
    who = (
        step.role.name
        if step.role
        else "somebody who is not bound"
        if step.independent
        else "somebody the schema does not name"
        if step.nobody
        else ""
    )
    log = f" of {step.inspects.name}" if step.inspects else ""
    return f"{step.stage}{log}{(' to ' if step.stage == 'appeal' else ' by ') + who if who else ''}"


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
    only = f", by any but {' or '.join(n.name for n in reading.only)}" if reading.only else ""
    unless = f", unless {reading.exception.activity}" if reading.exception else ""
    anew = f", anew from {reading.after.activity}" if reading.after else ""
    data = "".join(f", where {data_in_words(d.condition)}" for d in reading.data)
    return f"{reading.force} {name}({acts}){counted}{anew}{timed}{who}{only}{unless}{data}"


def marked(readings: Readings, plain: bool) -> Text:
    """The sentence with its parts in styles, or in brackets where there is no terminal to show them."""
    parts = list(_every_part(readings))
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
    parts = [p for p in _every_part(readings) if p.score < NEARLY]
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
        console.print(_parts_table(readings, parts_of(best)))
        for line in (
            f"because: {best.why}",
            *(f"or: {reading_in_words(o)}: {o.probability:.2f} ({o.why})" for o in others),
        ):
            console.print(Padding(shown(line, style="dim"), (0, 2)))
        console.print()
    for line, parts, why in _told_beside(readings):
        console.print(shown(line, style="bold"))
        if parts:
            console.print(_parts_table(readings, parts))
        console.print(Padding(shown(f"because: {why}", style="dim"), (0, 2)))
        console.print()
    _print_not_held(console, readings)
    if readings.unsure:
        console.print(shown("Not sure: a draft asks which is meant (--reading N).", style="yellow"))
        for number, way in enumerate(readings.ways, 1):
            duties = "; ".join(reading_in_words(statement.best) for statement in way.statements)
            console.print(Padding(shown(f"{number}. {duties}: {way.probability:.2f}"), (0, 2)))


def _print_not_held(console: Console, readings: Readings) -> None:
    """What of the sentence no statement says: background that none was read from, conditions, words."""
    used = [span for statement in readings.statements for span in statement.best.used]
    for span in readings.background:
        told = _flat(readings.words(span)).strip()
        if told and not any(span.start <= of.start < span.end for of in used):
            console.print(shown(f"background, binds nobody: '{told}'", style="dim"))
    for words, why in readings.unheld:
        told = f"not held: '{_flat(readings.words(words))}' ({why})"
        console.print(shown(told, style="yellow"))
    if readings.unread:
        console.print(shown(f"not read: {not_read(readings)}", style="yellow"))


def _parts_table(readings: Readings, parts: Sequence[SentencePart]) -> Padding:
    """Words, what part they are, and what they were read as."""
    table = _table("", "words", "part", "read as", "score", right=("score",))
    for part in parts:
        score = f"{part.score:.2f}" if part.score < NEARLY else ""
        _row(table, _flat(readings.words(part.span)), part.kind, part.name, score)
    return Padding(table, (0, 2))


def _told_beside(readings: Readings) -> Iterator[tuple[str, list[SentencePart], str]]:
    """Evidence and procedure: a line, its parts, and what was recognised."""
    parts = parts_beside(readings)
    if readings.evidence:
        yield evidence_in_words(readings.evidence), parts["evidence"], readings.evidence.why
    if read := readings.procedure:
        share = f": {read.probability:.2f}" + (
            "" if read.follows_breach else ", read as a duty of every case"
        )
        yield procedure_in_words(read) + share, parts["procedure"], read.why


def rows_in_words(readings: Readings, context: Context) -> list[str]:
    """Which words were read as which act, how many rows it has, and the other acts that they could name."""
    rows = dict(rows_by_act(context))
    lines = list[str]()
    for act in {act.activity: act for act in acts_of(readings)}.values() if rows else ():
        others = (f"{n} has {rows[n]:,}" for n in named_as_well(readings, act, context.schema))
        many = f"{rows.get(act.activity, 0):,} rows"
        lines.append("; ".join([f"'{readings.words(act.span)}' read as {act.activity}, {many}", *others]))
    return lines


def print_short(console: Console, readings: Readings, rule: int, rows: Sequence[str] = ()) -> None:
    """The sentence marked, its statements and its acts' rows a line each, above the rule drafted from it."""
    console.print(marked(readings, not console.is_terminal))
    rules = rules_of(readings)
    for number, statement in enumerate(readings.statements, 1):
        held = next(n for n, numbers in enumerate(rules) if number - 1 in numbers)
        other = "" if held == rule else f"; a rule of its own: --statement {held + 1}"
        share = f", {statement.best.probability:.2f}" if len(statement.readings) > 1 else ""
        console.print(
            shown(f"read as {number}. {reading_in_words(statement.best)}{share}{other}", style="dim")
        )
    for line, _, _ in _told_beside(readings):
        console.print(shown(f"read as {line}", style="dim"))
    for line in rows:
        console.print(shown(line, style="dim"))
    for line in guessed(readings):
        console.print(shown(line, style="dim"))
    if not readings.statements:
        console.print(shown(f"nothing read: {why_nothing(readings)}", style="yellow"))
    _print_not_held(console, readings)


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
