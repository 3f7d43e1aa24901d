"""Durations institutions write, and an observed one put into words."""

from __future__ import annotations

from gnrs_ppl.context.time import Duration

LADDER = tuple(
    Duration.parse(text)
    for text in (
        "PT5M",
        "PT10M",
        "PT15M",
        "PT20M",
        "PT30M",
        "PT45M",
        "PT1H",
        "PT90M",
        "PT2H",
        "PT3H",
        "PT4H",
        "PT6H",
        "PT8H",
        "PT12H",
        "P1D",
        "P2D",
        "P3D",
        "P5D",
        "P7D",
        "P14D",
        "P1M",
        "P2M",
        "P3M",
        "P6M",
        "P1Y",
    )
)
"""Durations institutions write: every level a candidate offers is one of these, or a number the goal states.
"""


def snapped(seconds: float) -> Duration:
    """The shortest duration of the ladder that is not shorter."""
    return next((d for d in LADDER if d.shortest_seconds() >= seconds), LADDER[-1])


def near(duration: Duration) -> tuple[Duration, ...]:
    """A duration with its neighbours on the ladder, ascending."""
    shorter = [d for d in LADDER if d.shortest_seconds() < duration.shortest_seconds()][-1:]
    longer = [d for d in LADDER if d.shortest_seconds() > duration.shortest_seconds()][:1]
    return (*shorter, duration, *longer)


def spoken(seconds: float) -> str:
    """An observed duration for a provenance line."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
