"""What another number would do, as a person sees it: a table, whom it hits, and a plot."""

from __future__ import annotations

import io
from pathlib import Path

from rich.padding import Padding

from gnrs_ppl.context.output import write_all
from gnrs_ppl.context.time import Duration
from gnrs_ppl.errors import InputError, one_line
from gnrs_ppl.realize.english import duration
from gnrs_ppl.rulebook.impact import Groups, Impact, Point, Value
from gnrs_ppl.terminal import console, row, shown, table

KINDS = (".svg", ".png")
"""Suffixes of a plot's file."""
ROWS = 6
"""Groups that are shown of a field."""
WIDEST = 24
_SAID = {
    "deadline": "the time within which",
    "window": "the window",
    "count": "how often",
    "logs": "logs that agree",
}
_BY = {"role": "by role", "object": "by object", "location": "by place", "month": "by month"}


def print_impact(found: Impact, notes: tuple[str, ...], written: list[Path]) -> None:
    """The rule, its violations at every value with the marks, and whom and what they are."""
    out = console()
    out.print(shown("Rule", style="bold"))
    out.print(Padding(shown(found.text, keep="\n"), (0, 2, 1, 2)))
    most = max((point.violated for point in found.points), default=0)
    drawn = table(
        f"Violations by {found.number}",
        found.number,
        "violated",
        "of decided",
        "open or undecided",
        "",
        "",
        right=("violated", "of decided", "open or undecided"),
    )
    for point in found.points:
        bar = "█" * round(WIDEST * point.violated / most) if most else ""
        undecided = point.counts["pending"] + point.counts["indeterminate"]
        if point.refused:
            row(drawn, said(point.value), "–", "–", "–", "", "not checkable")
        else:
            share = "–" if point.share is None else f"{point.share:.1%}"
            row(
                drawn,
                said(point.value),
                f"{point.violated:,}",
                share,
                f"{undecided:,}",
                bar,
                marks(found, point),
            )
    out.print(drawn)
    refused = [point.refused for point in found.points if point.refused]
    if refused:
        more = f" (and {len(refused) - 1} more values)" if len(refused) > 1 else ""
        out.print(shown(f"note: {refused[0]}{more}", style="dim"))
    _say_marks(found)
    for value, groups in found.groups.items():
        name = "the knee" if value == found.knee and value != found.today else "the rule as it is"
        _print_hit(f"Who and what would be hit at {said(value)}, {name}", groups, found)
    for note in notes:
        out.print(shown(f"note: {note}", style="dim"))
    for path in written:
        out.print(shown(f"wrote {path}", style="dim"))
    out.print(
        shown("A violation means the record shows otherwise, not that a person did wrong.", style="italic")
    )


def said(value: Value) -> str:
    """A value in words."""
    return duration(value) if isinstance(value, Duration) else str(value)


def marks(found: Impact, point: Point) -> str:
    """What stands at a value: the rule's own, the knee, today's customary quantiles."""
    told = ["the rule"] if point.value == found.today else []
    told += ["knee"] if point.value == found.knee else []
    if found.custom is not None:
        told += [
            f"{q:.0%} of those done" for q, length in found.custom.quantiles.items() if length == point.value
        ]
    return ", ".join(told)


def _say_marks(found: Impact) -> None:
    out = console()
    if found.custom is not None:
        quantiles = ", ".join(
            f"{q:.0%} within {said(length)}" for q, length in found.custom.quantiles.items()
        )
        out.print(
            shown(f"Today, where the act is recorded at all ({found.custom.times:,} times): {quantiles}.")
        )
    if found.knee is not None:
        told = f"Knee: {said(found.knee)}; a change matters most up to there, and least after it."
        out.print(shown(told))
    else:
        out.print(shown("Knee: none; over these values the violations change too evenly."))
    out.print()


def _print_hit(title: str, groups: tuple[Groups, ...], found: Impact) -> None:
    out = console()
    out.print(shown(title, style="bold"))
    drawn = table("", "", "", "matters", "violated", "share", right=("matters", "violated", "share"))
    left_out = []
    for group in groups:
        if all(one.name == "(not recorded)" for one in group.shown):
            left_out.append(group.field)
            continue
        worst = sorted(group.shown, key=lambda one: (-one.violated, one.name))[:ROWS]
        if group.field == "month":
            worst = sorted(worst, key=lambda one: one.name)
        for place, one in enumerate(worst):
            share = f"{one.violated / one.matters:.0%}"
            head = "" if place else _BY[group.field]
            row(drawn, head, one_line(one.name, 40), f"{one.matters:,}", f"{one.violated:,}", share)
        more = len(group.shown) - len(worst)
        told = [f"{more:,} more, hit less"] if more else []
        told += [f"{group.hidden:,} too small to show"] if group.hidden else []
        if told:
            row(drawn, "", f"… {', '.join(told)}", "", "", "")
    out.print(drawn)
    if left_out:
        out.print(shown(f"No row that opens a matter says its {' or '.join(left_out)}.", style="dim"))
    out.print(
        shown(
            f"Of the row that opened the matter; groups of fewer than {found.smallest} matters are not "
            "shown, nor one that could be had by subtraction. --json has all others.",
            style="dim",
        )
    )
    out.print()


def plot(found: Impact, path: Path) -> list[Path]:
    """Write the curve with its marks; raises InputError where matplotlib is missing or the suffix is none of
    ``KINDS``.
    """
    check_kind(path)
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError(
            "plots need matplotlib, which is not installed", "pip install 'gnrs-ppl[plots]'"
        ) from None
    points = [point for point in found.points if not point.refused]
    unit, per = _unit(points)
    figure, content = Figure(figsize=(8, 4.5), layout="constrained"), io.BytesIO()
    axes = figure.subplots()
    axes.plot(
        [_place(p.value, per) for p in points], [p.violated for p in points], marker="o", color="#0072B2"
    )
    named: list[tuple[Value | None, str, str]] = [
        (found.today, "the rule", "#D55E00"),
        (found.knee, "knee", "#009E73"),
    ]
    if found.custom is not None:
        named += [
            (length, f"{q:.0%} of those done", "#999999") for q, length in found.custom.quantiles.items()
        ]
    for value, name, colour in named:
        if value is not None:
            axes.axvline(_place(value, per), color=colour, linewidth=1, linestyle="--")
            axes.annotate(
                name,
                (_place(value, per), 1),
                xycoords=("data", "axes fraction"),
                rotation=90,
                fontsize=7,
                color=colour,
                ha="right",
                va="top",
            )
    axes.set(xlabel=f"{_SAID[found.number]}{unit}", ylabel="violations", ylim=(0, None))
    figure.savefig(content, format=path.suffix[1:], dpi=120)
    return write_all(path.parent, [(path.name, content.getvalue())])


def check_kind(path: Path) -> None:
    """Refuse a plot's file of another kind."""
    if path.suffix not in KINDS:
        raise InputError(f"ends in none of {', '.join(KINDS)}", "name one of the two", source=str(path))


def _unit(points: list[Point]) -> tuple[str, float]:
    """Days, hours or minutes, whichever reads best, and its seconds."""
    longest = max((p.value.shortest_seconds() for p in points if isinstance(p.value, Duration)), default=0)
    if not longest:
        return "", 1
    units = ((86400, "days"), (3600, "hours"), (60, "minutes"))
    return next(((f", in {name}", float(s)) for s, name in units if longest >= 2 * s), (", in seconds", 1.0))


def _place(value: Value, per: float) -> float:
    return value.shortest_seconds() / per if isinstance(value, Duration) else float(value)
