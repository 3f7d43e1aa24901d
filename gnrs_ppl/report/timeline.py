"""A few events as a timeline."""

from __future__ import annotations

from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING

from rich.padding import Padding

from gnrs_ppl.context.time import Duration, Grain
from gnrs_ppl.realize.english import duration
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.text import occurrence
from gnrs_ppl.rule.types import Act
from gnrs_ppl.rulebook.imagined import Happening, Imagined, Trace
from gnrs_ppl.terminal import row, table

if TYPE_CHECKING:
    from rich.console import Console


def print_timeline(
    out: Console, trace: Trace, imagined: Imagined, lexicon: Lexicon, *, who: bool = True
) -> None:
    """A line for each event: when, after how long, what, in which role (and by whom), in which log."""
    doers = [
        ", ".join(
            [*([row.who] if who and row.who else []), *([lexicon.form("role", row.role)] if row.role else [])]
        )
        for row in trace
    ]
    drawn = table("", "when", "after", "what", *(["by"] if any(doers) else []), "log")
    for (happening, by), alike in groupby(zip(trace, doers, strict=True)):
        grain = imagined.grain(happening.channel)
        act = happening.activity and occurrence(
            Act(activity=happening.activity, object=happening.object, location=happening.location), lexicon
        )
        row(
            drawn,
            _moment(happening.at, grain),
            elapsed(trace[0].at, happening.at, grain) if happening is not trace[0] else "",
            (act or "(no act)") + beside(happening, len([*alike]), lexicon),
            *([by or "–"] if any(doers) else []),
            lexicon.form("channel", happening.channel),
        )
    out.print(Padding(drawn, (0, 2)))


def beside(happening: Happening, times: int, lexicon: Lexicon) -> str:
    """How often something was done at once, and what is recorded of it beside."""
    held = [f"{lexicon.form('attribute', name)} {cell or 'left empty'}" for name, cell in happening.cells]
    return "".join(f", {more}" for more in ([f"{times} times"] if times > 1 else []) + held)


def _moment(at: datetime, grain: Grain) -> str:
    day = f"{at.day} {at:%B %Y}"
    return day if grain == "day" else f"{day} {at:%H:%M}" if grain == "minute" else f"{day} {at:%H:%M:%S}"


def elapsed(since: datetime, at: datetime, grain: Grain) -> str:
    """How long after, in days and time."""
    if grain == "day":
        since, at = (moment.replace(hour=0, minute=0, second=0, microsecond=0) for moment in (since, at))
    if at == since:
        return "at the same time" if grain != "day" else "on the same day"
    days, seconds = divmod(round((at - since).total_seconds()), 86400)
    return duration(Duration(days=days, seconds=seconds))
