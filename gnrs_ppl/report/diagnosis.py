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


def print_diagnosis(found: Diagnosis, plots: Sequence[Path]) -> None:
    """The verdict in a sentence, the numbers behind it, and notes."""
    console = _console()
    console.print(shown(found.sentence, style="bold"))
    table = _table("Diagnostics", "what", "value")

    def number(value: float | None) -> str:
        return "–" if value is None else f"{value:.4g}"

    _row(table, "nested R-hat, and its null's 99 % quantile", f"{number(found.r_hat_nested)}, {number(found.r_hat_null)}")
    _row(table, "R-hat (split, ranks)", number(found.r_hat))
    _row(table, "effective draws: s_search, least indicator", f"{number(found.ess['s_search'])}, {number(found.ess['indicators'])}")
    for slot, excess in (found.tv_excess or {}).items():
        _row(table, f"total variation beyond exact draws, {slot}", f"{excess:+.4f}")
    if found.tv_excess_pairs:
        pair, excess = max(found.tv_excess_pairs.items(), key=lambda item: item[1])
        _row(table, f"total variation beyond exact draws, worst pair ({pair})", f"{excess:+.4f}")
    for move, rate in found.acceptance.items():
        _row(table, f"accepted, {move}", f"{rate:.0%}")
    quantiles = ", ".join(f"{name} {number(value)}" for name, value in found.hitting_time.items())
    _row(table, "steps to the run's best score", quantiles)
    _row(table, "chains that never left their start", "–" if found.never_moved is None else f"{found.never_moved:.0%}")
    console.print(table)
    for note in found.notes:
        console.print(shown(f"note: {note}", style="dim"))
    for path in plots:
        console.print(shown(f"wrote {path}", style="dim"))
