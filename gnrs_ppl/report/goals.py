"""Drafts, pools, features and hard conditions of many goals as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnrs_ppl.terminal import console as _console
from gnrs_ppl.terminal import row as _row
from gnrs_ppl.terminal import table as _table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnrs_ppl.experiments.pools import FeatureAudit, FlagAudit, PoolAudit


def print_pools(audit: PoolAudit) -> None:
    """Candidates per source and slot, their means, and the paper's figures beside them."""
    from gnrs_ppl.experiments.pools import PAPER_CANDIDATES, PAPER_SIGNATURES, PAPER_SOURCES

    console = _console()
    columns = ("goal", *PAPER_SOURCES, "dropped", *PAPER_CANDIDATES, "structures")
    table = _table("Proposed per source, and kept per slot (options in brackets)", *columns, right=columns[1:])
    for g in audit.goals:
        kept = [f"{g.candidates[slot]} ({g.options[slot]})" for slot in PAPER_CANDIDATES]
        _row(table, g.goal, *[g.proposed[source] for source in PAPER_SOURCES], g.dropped, *kept, f"{g.structures:,}")
    console.print(table)
    summary = _table(f"Over {len(audit.goals)} goals", "", *columns[1:-1], right=columns[1:-1])
    dropped = sum(g.dropped for g in audit.goals) / len(audit.goals)
    kept = [f"{audit.mean('candidates', slot):.1f}" for slot in PAPER_CANDIDATES]
    _row(summary, "mean", *[f"{audit.mean('proposed', source):.1f}" for source in PAPER_SOURCES], f"{dropped:.1f}", *kept)
    _row(summary, "paper, mean", *PAPER_SOURCES.values(), "–", *PAPER_CANDIDATES.values())
    _row(summary, "distinct", "", "", "", "", *[audit.signatures[slot] for slot in PAPER_CANDIDATES])
    _row(summary, "paper, distinct (116 goals)", "", "", "", "", *PAPER_SIGNATURES.values())
    console.print(summary)


def print_features(features: Sequence[FeatureAudit], flags: Sequence[FlagAudit]) -> None:
    """What each feature reads and how it varies; how often each hard condition bites."""
    console = _console()
    columns = ("feature", "asks", "reads", "range", "deviation within a goal", "varies in")
    table = _table("Features over the feasible structures", *columns, right=columns[3:])
    for f in features:
        _row(
            table,
            f.name,
            f.says,
            ", ".join(f.terms),
            f"{f.least:.2f} to {f.greatest:.2f}",
            f"{f.deviation:.4f}",
            f"{f.varies:.0%} of goals",
        )
    console.print(table)
    biting = _table(
        "Hard conditions", "condition", "structures it excludes alone", "goals", right=("structures it excludes alone", "goals")
    )
    for flag in flags:
        _row(biting, flag.name, f"{flag.excluded:.1%}", f"{flag.goals:.0%}")
    console.print(biting)
