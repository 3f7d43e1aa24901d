"""What the records lack, as a person sees it."""

from __future__ import annotations

from rich.padding import Padding

from gnrs_ppl.realize.english import capitalised
from gnrs_ppl.rulebook.gaps import BASE, Gap, Gaps, Remedy
from gnrs_ppl.terminal import console, shown

SHOWN = 5
"""Remedies that are shown of a part."""


def print_gaps(found: Gaps, notes: tuple[str, ...]) -> None:
    """Each part with what is wrong with it, and what it would take; those first that settle most."""
    out = console()
    for gap in found.gaps:
        out.print(shown(capitalised(gap.part.name), style="bold"))
        out.print(Padding(shown(gap.text, keep="\n"), (0, 2)))
        out.print(Padding(shown(_trouble(gap), style="red"), (0, 2)))
        for remedy in gap.remedies[:SHOWN]:
            out.print(Padding(shown(f"→ {_told(remedy)}"), (0, 4)))
            out.print(Padding(shown(_settles(gap, remedy), style="dim"), (0, 6)))
        if more := len(gap.remedies[SHOWN:]):
            out.print(Padding(shown(f"… and {more} more; --json has them", style="dim"), (0, 4)))
        if not gap.remedies:
            out.print(Padding(shown("→ nothing that was tried makes it checkable; change the rule"), (0, 4)))
        out.print()
    for part in found.checkable:
        name = "The rule" if part.name != BASE else capitalised(part.name)
        out.print(shown(f"{name}: every verdict is decided, or its time is still running."))
    if found.gaps:
        out.print(
            shown(
                "Each was proved on a changed copy of the records, filled in with what the rule names and with "
                "something else or nothing; of several joined by 'and' no fewer do it.",
                style="dim",
            )
        )
    for note in notes:
        out.print(shown(f"note: {note}", style="dim"))


def _trouble(gap: Gap) -> str:
    if gap.refused:
        return gap.refused
    reasons = ", ".join(f"{reason.replace('_', ' ')} {n:,}" for reason, n in gap.undecided.items())
    return f"{sum(gap.undecided.values()):,} verdicts are undecided: {reasons}"


def _told(remedy: Remedy) -> str:
    return "; and ".join(addition.says for addition in remedy.additions)


def _settles(gap: Gap, remedy: Remedy) -> str:
    """How many verdicts it settles, in words."""
    if not gap.refused:
        return f"settles {remedy.settles:,} of them"
    if remedy.settles == remedy.at_most:
        return f"makes it checkable: {remedy.settles:,} verdicts decided"
    return (
        f"makes it checkable: {remedy.settles:,} to {remedy.at_most:,} verdicts decided, by what is recorded"
    )
