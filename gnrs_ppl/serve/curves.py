"""Curves of a run's chains over its steps: paths of SVG, made here so that no script has to draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

WIDE, HIGH, EDGE = 100.0, 40.0, 2.0
"""Units across a curve's picture and from its foot to its top, and those kept free for the line's width."""
LEAST_R_HAT = 0.05
"""How far above 1 the picture of R-hat reaches at least, so that noise about 1 looks like noise."""


def curves(course: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What a page draws of the chains so far.

    Parameters
    ----------
    course : sequence of dict
        The lines about the chains in order, as :class:`~gnrs_ppl.serve.watching.Told` reads them.

    Returns
    -------
    dict
        ``best`` and ``r_hat``: the path, the first and the last value that were told, and the greatest and
        least of the picture. ``slots``: of each slot the ``paths`` of the options that the last line names,
        in its order, from no share at the foot to the greatest at the ``top``.
    """
    best = [line["best"] for line in course]
    r_hat = [line["r_hat"] for line in course]
    told = [value for value in r_hat if value is not None]
    return {
        "best": _curve(course, best, min(best), max(best)),
        "r_hat": _curve(course, r_hat, min([1.0, *told]), max([1.0 + LEAST_R_HAT, *told])),
        "slots": [_slot(course, n) for n in range(len(course[-1]["slots"]))],
    }


def _slot(course: Sequence[dict[str, Any]], number: int) -> dict[str, Any]:
    told = [{one["option"]: one["share"] for one in line["slots"][number]["options"]} for line in course]
    named = [one["option"] for one in course[-1]["slots"][number]["options"]]
    shares = [[line.get(option) for line in told] for option in named]
    top = max((share for one in shares for share in one if share), default=1.0)
    return {"paths": [_path(course, one, 0.0, top) for one in shares], "top": top}


def _curve(
    course: Sequence[dict[str, Any]], values: Sequence[float | None], low: float, high: float
) -> dict[str, Any]:
    told = [value for value in values if value is not None]
    ends = (told[0], told[-1]) if told else None
    return {"path": _path(course, values, low, high), "ends": ends, "low": low, "high": high}


def _path(course: Sequence[dict[str, Any]], values: Sequence[float | None], low: float, high: float) -> str:
    """A line through the values at their steps, broken where none was told; a value between two gaps is a
    dot.
    """
    found, pen = [], "M"
    for line, value in zip(course, values, strict=True):
        if value is None:
            pen = "M"
            continue
        x = WIDE * line["step"] / line["steps"]
        y = HIGH - EDGE - (HIGH - 2 * EDGE) * ((value - low) / (high - low) if high > low else 0.5)
        found.append(f"{pen}{x:.2f} {y:.2f}" + ("h0" if pen == "M" else ""))
        pen = "L"
    return "".join(found)
