"""Numbers of the data card: ``python -m bench_maker.card`` (needs SimPy for what the worlds really use)."""

from __future__ import annotations

import json
from collections import Counter
from typing import NamedTuple

from gnrs_ppl.benchmarks.gnrs_bench import CATEGORIES, FAMILIES, HERE, SPLITS, goals

PAPER_SUBSTRATE = {
    "child-action definitions": 286,
    "NPC action names": 37,
    "composite actions": 16,
    "resource instances": 3285,
    "rooms": 38,
}
"""What the paper says its environment held; ours is reported beside it and not padded."""


class BlindCheck(NamedTuple):
    """How often a reader who saw only sentence and vocabulary named exactly the goal's required and
    forbidden actions.
    """

    exact: int
    goals: int
    missed: tuple[str, ...]


def blind_check() -> BlindCheck:
    """The committed answers of one blind reading against the goals."""
    answers = json.loads((HERE / "blind_check.json").read_text())
    missed = tuple(
        g.id
        for g in goals()
        if any(set(answers[g.id][kind]) != set(getattr(g.goal, kind)) for kind in ("required", "forbidden"))
    )
    return BlindCheck(len(goals()) - len(missed), len(goals()), missed)


def substrate() -> dict[str, int]:
    """The same quantities of our grounding worlds: distinct (action, object, place), actions, scenes,
    things, and places per scene.
    """
    from bench_maker.grounding import world

    worlds = [world(family) for family in FAMILIES]
    return {
        "child-action definitions": len({(a.action, a.object, a.where) for w in worlds for a in w.acts}),
        "NPC action names": len({a.action for w in worlds for a in w.acts}),
        "composite actions": len(worlds),
        "resource instances": len({(w.family, a.item) for w in worlds for a in w.acts if a.item}),
        "rooms": len({(w.family, a.where) for w in worlds for a in w.acts}),
    }


def records_kept() -> list[tuple[str, int, int, int, int]]:
    """Per family: cases, acts, rows of durable channels, and glimpses of observables that nothing kept."""
    from bench_maker.grounding import START, world
    from bench_maker.record import glimpses, record

    found: list[tuple[str, int, int, int, int]] = []
    for family in FAMILIES:
        played = world(family)
        found.append(
            (
                family,
                len(played.starts),
                len(played.acts),
                len(record(played, START)),
                glimpses(played).total(),
            )
        )
    return found


def main() -> None:
    """Print composition, blind check, substrate and records."""
    table = Counter((g.family, g.category) for g in goals())
    print(f"{'family':26}" + "".join(f"{c:>16}" for c in CATEGORIES) + f"{'total':>7}")
    for family in FAMILIES:
        counts = [table[family, c] for c in CATEGORIES]
        print(f"{family:26}" + "".join(f"{n:16}" for n in counts) + f"{sum(counts):7}")
    print("splits: " + ", ".join(f"{split} {sum(g.split == split for g in goals())}" for split in SPLITS))
    blind = blind_check()
    print(f"blind check: {blind.exact} of {blind.goals} goals read exactly; missed {', '.join(blind.missed)}")
    print(f"\n{'substrate':26}{'paper':>8}{'ours':>8}")
    for name, ours in substrate().items():
        print(f"{name:26}{PAPER_SUBSTRATE[name]:8,}{ours:8,}")
    print(f"\n{'grounding log':26}{'cases':>8}{'acts':>8}{'rows':>8}{'glimpses lost':>15}")
    for name, cases, acts, rows, lost in records_kept():
        print(f"{name:26}{cases:8,}{acts:8,}{rows:8,}{lost:15,}")


if __name__ == "__main__":
    main()
