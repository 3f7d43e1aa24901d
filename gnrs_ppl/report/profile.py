"""What ``gnrs profile`` prints: the records on one screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from gnrs_ppl.errors import one_line
from gnrs_ppl.records.profile import Coverage, Overview
from gnrs_ppl.terminal import console, row, shown, table

if TYPE_CHECKING:
    from rich.console import Console

_BARS = "▁▂▃▄▅▆▇█"
_LENGTHS = (
    (1, 60, "s"),
    (60, 3600, "min"),
    (3600, 86400, "h"),
    (86400, 90 * 86400, "d"),
    (30 * 86400, 24 * 30 * 86400, "mo"),
)
WIDEST = 60
"""Marks of a line of volumes; more weeks than that share one."""
ACTS, VARIANTS, STEPS = 10, 4, 7


def print_overview(overview: Overview, written: list[Path]) -> None:
    """Volumes, acts, variants, delays, columns, coverage and twins."""
    out = console()
    reach = f", {_day(overview.first)} to {_day(overview.last)}" if overview.first else ""
    out.print(shown(f"{overview.events:,} events in {overview.cases:,} cases{reach}", "bold"))
    by_start = dict.fromkeys(_starts(overview), 0)
    for volume in overview.volumes:
        by_start[volume.start] += volume.rows
    line, each = _bars(list(by_start.values()))
    if line:
        unit = f"a {overview.unit}" if each == 1 else f"in {each} {overview.unit}s"
        out.print(shown(f"{line}  events {unit}, at most {max(by_start.values()):,} a {overview.unit}"))

    acts = table(
        "Acts", "activity", "rows", "cases", "people", f"by {overview.by}", right=("rows", "cases", "people")
    )
    for act in overview.acts[:ACTS]:
        row(
            acts,
            one_line(act.name, 40),
            f"{act.rows:,}",
            f"{act.cases:,}",
            f"{act.people:,}",
            _shares(act.by, act.rows),
        )
    out.print(acts)
    _left_out(out, len(overview.acts) - ACTS, "acts")

    variants = table("Variants", "cases", "share", "acts in order", right=("cases", "share"))
    for variant in overview.variants[:VARIANTS]:
        sequence = " → ".join(variant.acts)
        row(
            variants,
            f"{variant.cases:,}",
            f"{variant.cases / max(overview.cases, 1):.0%}",
            one_line(sequence, 160),
        )
    out.print(variants)
    _left_out(out, overview.all_variants - VARIANTS, "variants")

    steps = table(
        "Delays",
        "from → to",
        "rows",
        "5%",
        "25%",
        "half",
        "75%",
        "95%",
        right=("rows", "5%", "25%", "half", "75%", "95%"),
    )
    for step in overview.steps[:STEPS]:
        row(
            steps,
            f"{one_line(step.before, 36)} → {one_line(step.after, 36)}",
            f"{step.rows:,}",
            *map(length, step.seconds),
        )
    out.print(steps)
    _left_out(out, overview.all_steps - STEPS, "pairs of acts")

    cells = [
        f"{c.column} {_share(c.empty, overview.events)} empty, {c.distinct:,} different"
        for c in overview.columns
        if c.distinct
    ]
    out.print(shown("Columns: " + "; ".join(cells)))
    if empty := [c.column for c in overview.columns if not c.distinct]:
        out.print(shown(f"Columns without a value: {', '.join(empty)}"))

    covered = table(
        "Channels", "channel", "rows", "first", "last", "coverage", "longest silences", right=("rows",)
    )
    for channel in overview.coverage:
        declared = (
            "not declared"
            if channel.declared is None
            else ", ".join(f"{_day(a)} to {_day(b)}" for a, b in channel.declared)
        )
        row(
            covered,
            channel.channel,
            f"{channel.rows:,}",
            _day(channel.first),
            _day(channel.last),
            declared,
            _silences(channel),
        )
    out.print(covered)
    for twin in overview.twins[:5]:
        out.print(
            shown(
                f"Twins: {twin.activity} stands in {twin.channels[0]} and {twin.channels[1]}, "
                f"{twin.pairs:,} of {twin.of:,} rows; "
                f"half within {length(twin.median)}, 90% within {length(twin.nine_in_ten)}"
            )
        )
    _left_out(out, len(overview.twins) - 5, "acts with twins")
    if overview.doubled:
        out.print(shown(f"Doubled: {overview.doubled:,} rows are equal to another in all but their id"))
    for note in overview.said:
        out.print(shown(f"note: {note}", style="dim"))
    for path in written:
        out.print(shown(f"wrote {path}", style="dim"))


def _left_out(out: Console, count: int, what: str) -> None:
    if count > 0:
        out.print(shown(f"… and {count:,} more {what}; --json has them", style="dim"))


def _starts(found: Overview) -> list[datetime]:
    """The start of every day, week, month or year from the first row to the last, of those without rows
    too.
    """
    start, last = (
        min((v.start for v in found.volumes), default=None),
        max((v.start for v in found.volumes), default=None),
    )
    starts: list[datetime] = []
    while start is not None and last is not None and start <= last:
        starts.append(start)
        if found.unit in ("day", "week"):
            start += timedelta(days=7 if found.unit == "week" else 1)
        else:
            months = start.year * 12 + start.month + (0 if found.unit == "month" else 11)
            start = datetime(months // 12, months % 12 + 1, 1)
    return starts


def length(seconds: float) -> str:
    """A time in its usual unit: 12 s, 3.5 min, 2 d."""
    if seconds < 1:
        return f"{seconds:.2g} s" if seconds else "0 s"
    for unit, most, name in _LENGTHS:
        if seconds < most:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds / (365.25 * 86400):.3g} y"


def _bars(counts: Sequence[int]) -> tuple[str, int]:
    """A line of bars, and how many counts share one."""
    each = -(-len(counts) // WIDEST) if counts else 1
    sums = [sum(counts[i : i + each]) for i in range(0, len(counts), each)]
    most = max(sums, default=0)
    return "".join(_BARS[min(int(n / most * len(_BARS)), len(_BARS) - 1)] if n else " " for n in sums), each


def _shares(by: Mapping[str, int], rows: int) -> str:
    names = list(by.items())
    parts = [f"{one_line(name, 30)} {_share(n, rows)}" for name, n in names[:3]]
    return ", ".join(parts) + (f", {len(names) - 3} more" if len(names) > 3 else "") or "–"


def _share(part: int, whole: int) -> str:
    """A percentage that is 0% and 100% only where nothing and all is meant."""
    if not whole or part in (0, whole):
        return "100%" if part else "0%"
    return f"{min(max(part / whole, 0.01), 0.99):.0%}"


def _silences(channel: Coverage) -> str:
    """The longest silence, and all that chance does not explain."""
    told: list[str] = []
    for silence in channel.silences:
        unusual = " (unusual)" if silence.days >= channel.unusual else ""
        if unusual or not told:
            told.append(f"{length(silence.days * 86400)} from {_day(silence.start)}{unusual}")
    return ", ".join(told) or "–"


def _day(instant: datetime | None) -> str:
    return instant.date().isoformat() if instant else "–"
