"""Two rules side by side, as a person sees them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from rich.padding import Padding

from gnrs_ppl.errors import one_line
from gnrs_ppl.realize.english import duration, number, series
from gnrs_ppl.report.timeline import print_timeline
from gnrs_ppl.rulebook.compare import Comparison, Difference, DifferentCase, OnLog, Searched
from gnrs_ppl.rulebook.vocabulary import FIELDS
from gnrs_ppl.terminal import console, row, shown, table

if TYPE_CHECKING:
    from rich.console import Console

_BEYOND = {
    "force": "A says {0} where B says {1}.",
    "permission": "They permit different things; a permission is not checked against records.",
    "procedure": "What follows a breach differs (procedure).",
    "concerns": "The texts name other objects (concerns), which no verdict depends on.",
}


def print_comparison(
    found: Comparison, names: tuple[str, ...], notes: tuple[str, ...], limit: int, saved: Path | None = None
) -> None:
    """Both texts, the answer, the trace that shows it, and the cases of the log on which they differ."""
    out = console()
    for letter, name, text in zip("AB", names, found.texts, strict=True):
        out.print(shown(f"{letter}  {name}", style="bold"))
        out.print(Padding(shown(text, keep="\n"), (0, 2, 1, 2)))
    out.print(shown(_answer(found), style="bold"))
    forces = [rule.norm.force for rule in found.rules]
    for what in found.beyond_verdicts:
        out.print(shown(_BEYOND[what].format(*forces)))
    if found.searched is not None:
        if found.searched.difference is not None:
            who = len(found.searched.words.people) > 1
            print_timeline(out, found.searched.difference.trace, found.imagined, found.lexicon, who=who)
            _print_both(out, found.searched.difference)
            out.print()
        out.print(shown(bound(found.searched), style="dim"))
    if saved is not None:
        out.print(shown(f"wrote {saved}: the trace as an example, with what A says of it", style="dim"))
    for note in notes:
        out.print(shown(f"note: {note}", style="dim"))
    if found.on_log is None:
        out.print(
            shown(
                "No log was named, so no recorded case was compared; --log or --context names one.",
                style="dim",
            )
        )
    else:
        out.print()
        _print_log(out, found.on_log, limit)


def _answer(found: Comparison) -> str:
    if found.searched is None:
        if found.differ:
            return "They judge every case alike, but they do not say the same."
        return "They mean the same: but for order, defaults and spelling they are one rule."
    if found.searched.difference is not None:
        events = len(found.searched.difference.trace)
        many = "one event" if events == 1 else f"{number(events)} events"
        return f"They do not mean the same. The smallest trace on which they differ has {many}:"
    if found.on_log is not None and found.on_log.differing:
        return "They do not mean the same: no short trace shows it, but cases of this log do."
    return f"No difference in any trace of up to {number(found.searched.events)} events."


def bound(searched: Searched) -> str:
    """What was searched, so that what was not is known."""
    words = searched.words
    parts = [f"the acts {series([repr(act) for act in words.acts], 'and')}"]
    for field in FIELDS:
        if values := words.values(field):
            parts.append(f"the {field}s {series([repr(value) for value in values], 'and')}")
    parts.append("two persons" if len(words.people) > 1 else "one person")
    lengths = series([duration(length) for length in words.durations], "or") if words.durations else ""
    apart = (
        f"at the same time, a moment, {lengths} or a moment more apart"
        if lengths
        else "at the same time or a moment apart"
    )
    events = "one event" if searched.events == 1 else f"up to {number(searched.events)} events"
    return (
        f"Searched: all {searched.traces:,} traces of {events} over {series(parts, 'and')}, {apart}, on "
        "complete records where silence means absence and every field is filled; names that both rules treat "
        f"alike stand for one another. The rules differ on {searched.differing or 'none'} of them."
    )


def _print_log(out: Console, on_log: OnLog, limit: int) -> None:
    for reason in on_log.refused:
        out.print(shown(f"On this log they cannot be compared: {reason}"))
    if on_log.refused:
        return
    differing = len(on_log.differing)
    out.print(shown(f"On this log they differ on {differing:,} of {on_log.cases:,} cases", style="bold"))
    counts = table("", "A says", "B says", "cases", right=("cases",))
    for (one, other), cases in on_log.counts.items():
        row(counts, one.replace("_", " "), other.replace("_", " "), f"{cases:,}")
    out.print(counts)
    seen: Counter[tuple[str, ...]] = Counter()
    rounds = []
    for case in on_log.differing:
        kind = tuple(said.verdict for said in case.said)
        seen[kind] += 1
        rounds.append((seen[kind], case))
    for _, case in sorted(rounds, key=lambda item: item[0])[:limit]:
        out.print(shown(f"Case {one_line(case.case_id)}", style="bold"))
        _print_both(out, case)
    if differing > limit:
        out.print(
            shown(f"… and {differing - limit:,} more; --limit {differing} or --json lists them", style="dim")
        )


def _print_both(out: Console, case: Difference | DifferentCase) -> None:
    """What each rule says, and why."""
    for letter, said, sentences in zip("AB", case.said, case.sentences, strict=True):
        out.print(shown(f"  {letter}: {said.verdict.replace('_', ' ')}", style="bold"))
        for sentence in sentences:
            out.print(Padding(shown(sentence), (0, 5)))
