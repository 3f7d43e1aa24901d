"""Runs of a store and what became of violations, as a person sees them."""

from __future__ import annotations

from rich.padding import Padding

from gnrs_ppl.errors import one_line
from gnrs_ppl.history.changes import CHANGES, Changes, History
from gnrs_ppl.history.drift import FALSE_ALARMS, Drift
from gnrs_ppl.terminal import console as _console
from gnrs_ppl.terminal import row as _row
from gnrs_ppl.terminal import shown
from gnrs_ppl.terminal import table as _table

NUMBERS = ("run", "violated", "decided", "undecided")


def print_history(found: History, limit: int) -> None:
    """A line a run, and for each rule what is new, reopened, still open, fixed, undecided and gone."""
    console = _console()
    runs = _table("Runs", "run", "stored", "rule", "version", "log", *NUMBERS[1:], right=NUMBERS)
    for run in found.runs:
        _row(
            runs,
            run.run,
            f"{run.stored:%Y-%m-%d %H:%M}",
            one_line(run.rule, 60),
            run.version[:8],
            run.log[:8],
            f"{run.counts['violated']:,}",
            f"{run.counts['satisfied'] + run.counts['violated']:,}",
            f"{run.counts['indeterminate'] + run.counts['pending']:,}",
        )
    console.print(runs)
    if not found.changes:
        console.print(shown("No rule has two runs yet, so there is nothing to compare.", style="dim"))
    for changes in found.changes:
        _print_changes(changes, limit)


def _print_changes(changes: Changes, limit: int) -> None:
    console = _console()
    console.print(
        shown(
            f"{one_line(changes.until.rule, 60)}: run {changes.until.run} since run {changes.since.run}",
            style="bold",
        )
    )
    for note in changes.notes:
        console.print(shown(f"note: {note}", style="dim"))
    for change in CHANGES:
        held = [matter for matter in changes.matters if matter.change == change]
        console.print(shown(f"{change.replace('_', ' ')}: {len(held):,}"))
        for matter in held[:limit]:
            reason = f", {matter.reason.replace('_', ' ')}" if matter.reason else ""
            now = f": {matter.verdict}{reason}" if matter.verdict else ""
            opened = (
                "" if matter.instance == matter.case_id else f", opened by {one_line(matter.instance, 80)}"
            )
            console.print(Padding(shown(f"case {one_line(matter.case_id, 80)}{opened}{now}"), (0, 2)))
        if 0 < limit < len(held):
            console.print(
                Padding(shown(f"… and {len(held) - limit:,} more; --json lists them", style="dim"), (0, 2))
            )


def print_drift(found: list[Drift]) -> None:
    """What is not as it was, rule by rule, with the test's level."""
    console = _console()
    for one in found:
        rule = one_line(one.until.rule, 60)
        console.print(shown(f"{rule}: run {one.until.run} since run {one.since.run}", style="bold"))
        for alarm in one.alarms:
            console.print(shown(f"{alarm.kind.replace('_', ' ')}: {alarm.name}", style="bold red"))
            console.print(Padding(shown(f"{alarm.says} (p = {alarm.p:.2g})"), (0, 2)))
        if not one.alarms:
            console.print(shown("nothing moved more than chance", style="green"))
        for note in one.notes:
            console.print(shown(f"note: {note}", style="dim"))
        level = f"{one.tests} tests, together at a false-alarm rate of {FALSE_ALARMS:.0%}"
        console.print(shown(f"note: {level}", style="dim"))
