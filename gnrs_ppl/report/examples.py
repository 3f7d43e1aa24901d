"""A rule held against its examples, as a person sees it."""

from __future__ import annotations

from rich.padding import Padding

from gnrs_ppl.report.timeline import print_timeline
from gnrs_ppl.rulebook.examples import Tested
from gnrs_ppl.terminal import console, shown


def print_tested(found: Tested, notes: tuple[str, ...]) -> None:
    """A line for each example, and for those that are red what the rule says instead, and of what."""
    out = console()
    out.print(shown("Rule", style="bold"))
    out.print(Padding(shown(found.text, keep="\n"), (0, 2, 1, 2)))
    for outcome in found.outcomes:
        name, expect = outcome.example.name, outcome.example.expect
        if outcome.passed:
            out.print(shown(f"green  {name}: {expect}", style="green"))
            continue
        out.print(shown(f"red    {name}: expected {expect}, the rule says {outcome.says}", style="bold red"))
        for sentence in outcome.sentences:
            out.print(Padding(shown(sentence), (0, 7)))
        print_timeline(out, outcome.trace, found.imagined, found.lexicon)
    red, all_of_them = len(found.red), len(found.outcomes)
    out.print()
    out.print(
        shown(f"{all_of_them - red} of {all_of_them} green" + (f", {red} red" if red else ""), style="bold")
    )
    for note in notes:
        out.print(shown(f"note: {note}", style="dim"))
