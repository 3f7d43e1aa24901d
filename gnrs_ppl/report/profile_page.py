"""``gnrs profile --page``: the records as one page of HTML that loads nothing and runs nothing."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

from markupsafe import Markup

from gnrs_ppl.records.plots import drawings
from gnrs_ppl.records.profile import Coverage, Overview
from gnrs_ppl.report.page import write_page
from gnrs_ppl.report.profile import length

ALTERNATIVES = (
    "Events over time, a layer for each channel; the table Channels has figures.",
    "Delays from one act to the next; the table Delays has figures.",
    "Which share of an act's rows each role or person has; the table Acts has figures.",
)
"""What stands for each plot where it is not seen."""


def write_profile(found: Overview, source: str, path: Path) -> Path:
    """Write the page.

    Raises
    ------
    InputError
        When matplotlib is missing, or the file cannot be written.
    """
    # matplotlib styles its shapes in attributes, which the page's policy forbids; an image has its own
    pictures = [b64encode(drawing).decode() for drawing in drawings(found)]
    return write_page(
        "profile.html",
        path,
        found=found,
        source=source,
        drawings=[(says, Markup(data)) for says, data in zip(ALTERNATIVES, pictures, strict=True)],
        tables=_tables(found),
        day=_day,
    )


def _tables(found: Overview) -> list[tuple[str, list[tuple[str, bool]], list[list[str]]]]:
    """Name, heads with whether their cells are numbers, and rows of each table."""
    acts = [
        [a.name, f"{a.rows:,}", f"{a.cases:,}", f"{a.people:,}", _shares(a.by, a.rows)] for a in found.acts
    ]
    variants = [
        [f"{v.cases:,}", f"{v.cases / max(found.cases, 1):.0%}", " → ".join(v.acts)[:600]]
        for v in found.variants
    ]
    steps = [[s.before, s.after, f"{s.rows:,}", *map(length, s.seconds)] for s in found.steps]
    columns = [[c.column, f"{c.empty:,}", f"{c.distinct:,}"] for c in found.columns]
    channels = [[c.channel, f"{c.rows:,}", _day(c.first), _day(c.last), _silences(c)] for c in found.coverage]
    twins = [
        [t.activity, " and ".join(t.channels), f"{t.pairs:,} of {t.of:,}", length(t.median)]
        for t in found.twins
    ]
    delays = [(name, True) for name in ("rows", "5%", "25%", "half", "75%", "95%")]
    return [
        (
            "Acts",
            [
                ("activity", False), ("rows", True), ("cases", True), ("people", True),
                (f"by {found.by}", False),
            ],
            acts,
        ),
        (
            f"Variants: the most frequent of {found.all_variants:,}",
            [("cases", True), ("share", True), ("acts in order", False)],
            variants,
        ),
        (
            f"Delays: {len(steps):,} of {found.all_steps:,} pairs of acts",
            [("from", False), ("to", False), *delays],
            steps,
        ),
        ("Columns", [("column", False), ("empty", True), ("different", True)], columns),
        (
            "Channels",
            [
                ("channel", False), ("rows", True), ("first", False), ("last", False),
                ("longest silences", False),
            ],
            channels,
        ),
        (
            "Twins: one act in two logs",
            [("activity", False), ("logs", False), ("rows", True), ("half within", True)],
            twins,
        ),
    ]  # fmt: skip


def _shares(by: object, rows: int) -> str:
    named = dict(by)  # type: ignore[call-overload]
    return ", ".join(f"{name} {count / max(rows, 1):.0%}" for name, count in list(named.items())[:6])


def _day(moment: object) -> str:
    return f"{moment:%Y-%m-%d}" if moment is not None else "–"


def _silences(channel: Coverage) -> str:
    told = (f"{s.days:.1f} days from {s.start:%Y-%m-%d}" for s in channel.silences)
    return ", ".join(told) or "–"
