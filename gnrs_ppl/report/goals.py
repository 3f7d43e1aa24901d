"""Drafts, pools, features and hard conditions of many goals as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnrs_ppl.report.benchmarks import f1_text
from gnrs_ppl.terminal import console as _console
from gnrs_ppl.terminal import row as _row
from gnrs_ppl.terminal import shown
from gnrs_ppl.terminal import table as _table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnrs_ppl.experiments.drafting import Row, Summary
    from gnrs_ppl.experiments.pools import FeatureAudit, FlagAudit, PoolAudit


def print_rows(rows: Sequence[Row], means: Sequence[Summary]) -> None:
    """Scored drafts of many goals, and their means with intervals."""
    from gnrs_ppl.experiments.drafting import BEST_OF, PAPER_NO_LLM

    console = _console()
    columns = ("goal", "HARD-OK", "ρ", "direct/inferred/derivable/missing", "template/schema/record", "ε_S", "audit F1", "best in pool")
    table = _table("Drafts without LLM candidates; audit F1 is macro / violated, against the record", *columns, right=columns[2:])
    for r in rows:
        supports = "/".join(str(r.supports.get(s, 0)) for s in ("direct", "inferred", "derivable", "missing"))
        sources = "/".join(str(r.sources[s]) for s in ("template", "schema", "record"))
        epsilon = "–" if r.epsilon is None else f"{r.epsilon:.4f}"
        gate = "yes" if r.hard_ok else "no"
        _row(table, r.goal, gate, f"{r.rho:.3f}", supports, sources, epsilon, f1_text(r.audit.record), f1_text(r.best_in_pool.record))
    console.print(table)
    summary = _table(f"Means over {len(rows)} goals", "", "mean", "95 % over goals", "95 % over families", right=("mean",))
    for s in means:
        _row(summary, s.name, f"{s.mean:.3f}", *[f"{low:.3f} to {high:.3f}" for low, high in (s.by_goal, s.by_family)])
    console.print(summary)
    paper = ", ".join(f"{name} {value:g}" for name, value in PAPER_NO_LLM.items())
    console.print(shown(f"best in pool: best of the rules of the {BEST_OF} best-scoring (trigger, norm) pairs", style="dim"))
    console.print(shown(f"paper, No LLM candidates (other pools, other records): {paper}", style="dim"))


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
