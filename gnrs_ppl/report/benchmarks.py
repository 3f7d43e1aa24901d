"""Goals and cards of the benchmarks, and the labels of held-out cases, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnrs_ppl.audit.types import VERDICTS
from gnrs_ppl.terminal import console as _console
from gnrs_ppl.terminal import row as _row
from gnrs_ppl.terminal import shown
from gnrs_ppl.terminal import table as _table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnrs_ppl.benchmarks.gnrs_bench import BenchmarkGoal
    from gnrs_ppl.benchmarks.realcharter import Card
    from gnrs_ppl.evaluate.audit_f1 import F1
    from gnrs_ppl.evaluate.summary import GoalSummary


def print_goals(goals: Sequence[BenchmarkGoal]) -> None:
    """Goals of the benchmark, by family."""
    console = _console()
    for family in dict.fromkeys(g.family for g in goals):
        group = [g for g in goals if g.family == family]
        table = _table(
            f"{family} ({', '.join(group[0].scenes)}): {group[0].stem}",
            "goal",
            "category",
            "split",
            "required",
            "forbidden",
            "sentence",
        )
        for g in group:
            _row(
                table,
                g.id,
                g.category,
                g.split,
                " ".join(g.goal.required),
                " ".join(g.goal.forbidden),
                g.sentence,
            )
        console.print(table)
    console.print(
        shown(
            f"{len(goals)} goals; a reconstruction from the paper's tables, see docs/gnrs-bench.md",
            style="dim",
        )
    )


def print_cards(cards: Sequence[Card]) -> None:
    """Policy cards, by family."""
    console = _console()
    for family in dict.fromkeys(card.family for card in cards):
        table = _table(family, "card", "document", "force", "verified", "numbers", "summary")
        for card in cards:
            if card.family == family:
                _row(
                    table,
                    card.id,
                    card.document.title,
                    card.force,
                    card.verified,
                    len(card.stated_numbers),
                    card.summary,
                )
        console.print(table)
    console.print(
        shown(
            f"{len(cards)} cards; a reconstruction in our own words, see docs/realcharter-bench.md",
            style="dim",
        )
    )


def print_labels(summaries: Sequence[GoalSummary]) -> None:
    """Labels in truth and on record, floors and ceilings, per goal and on average."""
    from gnrs_ppl.evaluate.audit_f1 import mean_f1

    console = _console()
    counts = _table(
        "Held-out cases by verdict: truth / what the record entitles one to say",
        "goal",
        *VERDICTS,
        "grey",
        right=(*VERDICTS, "grey"),
    )
    for s in summaries:
        _row(
            counts,
            s.goal + ("" if s.reference.expressible else " *"),
            *[f"{s.truth[v]}/{s.entitled[v]}" for v in (*VERDICTS, None)],
        )
    console.print(counts)
    names = list(summaries[0].floors) if summaries else []
    scores = _table(
        "Audit F1, macro / violation: floors against the record, ceiling against the truth",
        "goal",
        *names,
        "ceiling",
        right=(*names, "ceiling"),
    )
    for s in summaries:
        _row(scores, s.goal, *[f1_text(s.floors[n].record) for n in names], f1_text(s.ceiling))
    if summaries:
        columns = [[s.floors[n].record for s in summaries] for n in names] + [[s.ceiling for s in summaries]]
        _row(scores, "mean", *[f1_text(mean_f1(column)) for column in columns])
    console.print(scores)
    expressible = sum(s.reference.expressible for s in summaries)
    console.print(
        shown(
            f"* {len(summaries) - expressible} of {len(summaries)} hidden norms say something the five "
            "slots cannot",
            style="dim",
        )
    )


def f1_text(score: F1) -> str:
    """Macro and violation F1 of one score."""
    return f"{score.macro:.2f} / {'–' if score.violation is None else f'{score.violation:.2f}'}"
