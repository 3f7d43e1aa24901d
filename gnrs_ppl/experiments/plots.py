"""What all figures share: colours most eyes tell apart, sizes for print and screen, files that do not change
when nothing did.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""Okabe and Ito's, grey for yellow, which is lost on white paper."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


def blank(width: float, height: float) -> Figure:
    """An empty figure of a size in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def files(name: str, figure: Figure) -> list[tuple[str, bytes]]:
    """The figure as PNG for screens and SVG for print."""
    import matplotlib
    from matplotlib.text import Text

    found = []
    for text in figure.findobj(Text):
        text.set_parse_math(False)  # a dollar sign in a name is a dollar sign
    with matplotlib.rc_context({"svg.hashsalt": name}):
        for suffix, metadata in (("png", {"Software": None}), ("svg", {"Date": None, "Creator": None})):
            content = io.BytesIO()
            figure.savefig(content, format=suffix, dpi=160, metadata=metadata)
            found.append((f"{name}.{suffix}", content.getvalue()))
    return found
