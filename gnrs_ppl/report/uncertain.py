"""An audit under uncertainty as a person sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gnrs_ppl.errors import one_line
from gnrs_ppl.posterior.uncertain import SETTLED, CaseForecast, Forecast
from gnrs_ppl.terminal import console as _console
from gnrs_ppl.terminal import row as _row
from gnrs_ppl.terminal import shown
from gnrs_ppl.terminal import table as _table

if TYPE_CHECKING:
    from rich.console import Console

    from gnrs_ppl.posterior.condition import Pin
    from gnrs_ppl.posterior.mass import Mass

NAMED = 6
"""Cases that are named in a line."""
VALUES = 3
"""Values of a field that a row names."""


def mass_line(mass: Mass, refused: float = 0.0) -> str:
    """What was kept of the posterior, and what the rest could change, in words."""
    checks = f"{len(mass.key):,} distinct checks, of {mass.structures:,} rules"
    kept = f"{checks}, hold {1 - mass.cut:.1%} of the mass"
    rest = (
        f"the {mass.cut:.1%} that was cut can move no probability by more than {mass.cut:.2f}"
        if mass.exact
        else f"found by draws; about {mass.cut:.1%} was cut, by an estimate and no bound"
    )
    cannot = f"; checks that hold {refused:.1%} of it cannot be run on these records" if refused else ""
    return f"{kept}; {rest}{cannot}"


def print_forecast(found: Forecast, goal: str, origin: str, pins: Sequence[Pin], limit: int) -> None:
    """Settled and contested cases, what the disagreement is about, and the contested ones in order."""
    console = _console()
    console.print(shown(f"Verdicts under uncertainty for {goal}", style="bold"))
    if pins:
        said = ", ".join(f"{'without ' if p.kind == 'without' else ''}{p}" for p in pins)
        console.print(shown(f"pinned: {said}"))
    console.print(shown(f"{mass_line(found.mass, found.refused)}; weights: {origin}", style="dim"))
    counts = _table("", "status", "P(violated)", "cases", "which", right=("cases",))
    marks = {
        "broken": ("settled: broken", f"≥ {SETTLED:.2f}"),
        "contested": ("contested", "between"),
        "kept": ("settled: not broken", f"≤ {1 - SETTLED:.2f}"),
    }
    for status, (name, bound) in marks.items():
        cases = found.of(status)
        _row(counts, name, bound, f"{len(cases):,}", _named(cases))
    console.print(counts)
    console.print(shown(f"Expected number of violated cases: {found.expected:.1f} of {len(found.cases):,}"))
    contested = found.of("contested")
    if contested:
        _print_contested(console, found, contested, limit)
    console.print(
        shown(
            "P(violated) is over the rules that the goal could mean, not over what happened; a violation "
            "means the record shows otherwise, not that a person did wrong.",
            style="dim",
        )
    )


def _print_contested(
    console: Console, found: Forecast, contested: Sequence[CaseForecast], limit: int
) -> None:
    parts = ", ".join(f"{slot} {share:.0%}" for slot, share in found.about.items() if share >= 0.005)
    console.print(shown(f"The contested cases turn on {parts or 'no one choice'} (share of the variance)"))
    drawn = _table(
        "Contested cases",
        "case",
        "P(violated)",
        "turns on",
        "broken if",
        "not broken if",
        right=("P(violated)",),
    )
    for case in contested[:limit]:
        _row(
            drawn,
            one_line(case.case_id, 40),
            f"{case.violated:.2f}",
            f"{case.field or case.about} ({case.explains:.0%})",
            _values(case.says_broken),
            _values(case.says_kept),
        )
    console.print()
    console.print(drawn)
    if len(contested) > limit:
        console.print(
            shown(f"… and {len(contested) - limit:,} more; --limit {len(contested)} or --csv lists them")
        )
    top = next(iter(found.fields), "")
    if top:
        console.print(
            shown(
                f"To settle more: pin what is meant (gnrs draft … --fix {top}=VALUE), or let gnrs ask find "
                "the question."
            )
        )


def _named(cases: Sequence[CaseForecast]) -> str:
    some = ", ".join(one_line(case.case_id, 40) for case in cases[:NAMED])
    return f"{some} …" if len(cases) > NAMED else some


def _values(values: Sequence[str]) -> str:
    some = ", ".join(one_line(value, 60) for value in values[:VALUES])
    return f"{some}, …" if len(values) > VALUES else some or "–"
