"""Whether chains mixed, as a person sees it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gnrs_ppl.terminal import console as _console
from gnrs_ppl.terminal import row as _row
from gnrs_ppl.terminal import shown
from gnrs_ppl.terminal import table as _table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnrs_ppl.inference.diagnostics import Diagnosis


def print_diagnosis(diagnosis: Diagnosis, plots: Sequence[Path]) -> None:
    """The verdict in a sentence, the numbers behind it, and notes."""
    console = _console()
    console.print(shown(diagnosis.sentence, style="bold"))
    table = _table("Diagnostics", "what", "value")

    def number(value: float | None) -> str:
        return "–" if value is None else f"{value:.4g}"

    _row(
        table,
        "nested R-hat, and its null's 99 % quantile",
        f"{number(diagnosis.r_hat_nested)}, {number(diagnosis.r_hat_null)}",
    )
    _row(table, "R-hat (split, ranks)", number(diagnosis.r_hat))
    _row(
        table,
        "effective draws: s_search, least indicator",
        f"{number(diagnosis.ess['s_search'])}, {number(diagnosis.ess['indicators'])}",
    )
    for slot, excess in (diagnosis.tv_excess or {}).items():
        _row(table, f"total variation beyond exact draws, {slot}", f"{excess:+.4f}")
    if diagnosis.tv_excess_pairs:
        pair, excess = max(diagnosis.tv_excess_pairs.items(), key=lambda item: item[1])
        _row(table, f"total variation beyond exact draws, worst pair ({pair})", f"{excess:+.4f}")
    for move, rate in diagnosis.acceptance.items():
        _row(table, f"accepted, {move}", f"{rate:.0%}")
    quantiles = ", ".join(f"{name} {number(value)}" for name, value in diagnosis.hitting_time.items())
    _row(table, "steps to the run's best score", quantiles)
    _row(
        table,
        "chains that never left their start",
        "–" if diagnosis.never_moved is None else f"{diagnosis.never_moved:.0%}",
    )
    console.print(table)
    for note in diagnosis.notes:
        console.print(shown(f"note: {note}", style="dim"))
    for path in plots:
        console.print(shown(f"wrote {path}", style="dim"))
