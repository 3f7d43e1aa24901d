"""An audit as a person sees it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from rich.padding import Padding

from gnrs_ppl.audit.large import LargeAudit, LargeConstraint
from gnrs_ppl.audit.result import AuditResult, ConstraintAudit, due_text
from gnrs_ppl.audit.types import VERDICTS, InstanceVerdict
from gnrs_ppl.errors import one_line
from gnrs_ppl.terminal import console as _console
from gnrs_ppl.terminal import row as _row
from gnrs_ppl.terminal import shown
from gnrs_ppl.terminal import table as _table

if TYPE_CHECKING:
    from rich.console import Console


def print_audit(result: AuditResult | LargeAudit, limit: int, written: Sequence[Path] = ()) -> None:
    """Clause, verdict counts at both levels, and the first violations with their witnesses."""
    console = _console()
    console.print(shown("Rule", style="bold"))
    console.print(Padding(shown(result.text, keep="\n"), (0, 2, 1, 2)))
    log, whole = result.log, result.whole if isinstance(result, LargeAudit) else result
    console.print(
        shown(
            f"Log: {log['events']:,} events in {log['cases']:,} cases, sha256 {log['fingerprint'][:16]}…",
            style="dim",
        )
    )
    parts = result.by_constraint
    if len(parts) > 1:
        for part in parts:
            _print_verdicts(console, part.name, part)
            console.print(shown(f"Violated, of those decided: {part.headline}"))
    else:
        _print_verdicts(console, "Verdicts", whole)
    advisory = " (advisory: a should-rule never fails an audit)" if result.force == "should" else ""
    together = ", all constraints together" if len(parts) > 1 else ""
    console.print(shown(f"Violated, of those decided{together}: {whole.headline}{advisory}", style="bold"))
    undecided: dict[str, InstanceVerdict] = {v.reason: v for v in reversed(result.of("indeterminate"))}
    for reason, n in whole.reasons["indeterminate"].items():
        example = result.sentence(undecided[reason])
        console.print(shown(f"Undecided, {reason.replace('_', ' ')} ({n:,}): {example}"))
    if result.force == "may":
        console.print(shown("A permission is not checked against records."))
    for line in (*result.assumptions, *result.findings):
        console.print(shown(f"note: {line}", style="dim"))
    console.print()
    violated = result.of("violated")
    for instance in one_of_each_reason_first(violated)[:limit]:
        console.print(shown(f"Case {one_line(instance.case_id)}", style="bold"))
        console.print(Padding(shown(result.sentence(instance)), (0, 2)))
        facts = [
            ("witnesses", ", ".join(instance.witnesses) or "none"),
            ("bearer", instance.bearer or "unknown"),
            ("due", due_text(instance.due) or "–"),
        ]
        facts += [("slack", _length(instance.slack_seconds))] if instance.slack_seconds is not None else []
        console.print(
            Padding(shown("; ".join(f"{name} {value}" for name, value in facts), style="dim"), (0, 2))
        )
    more = whole.counts["violated"] - min(limit, len(violated))
    if more:
        ways = (
            "--csv lists them"
            if isinstance(result, LargeAudit)
            else f"--limit {len(violated)} or --csv lists them"
        )
        console.print(shown(f"… and {more:,} more; {ways}", style="dim"))
    if result.structure.procedure.steps:
        _print_procedure(console, result)
    console.print(
        shown("A violation means the record shows otherwise, not that a person did wrong.", style="italic")
    )
    for path in written:
        console.print(shown(f"wrote {path}", style="dim"))


def _print_verdicts(
    console: Console, title: str, audit: AuditResult | ConstraintAudit | LargeConstraint
) -> None:
    """A table of verdict counts at both levels, with their reasons."""
    counts = _table(title, "verdict", "instances", "cases", "reasons", right=("instances", "cases"))
    for verdict in VERDICTS:
        reasons = ", ".join(
            f"{reason.replace('_', ' ')} {n:,}" for reason, n in audit.reasons[verdict].items()
        )
        _row(
            counts,
            verdict.replace("_", " "),
            f"{audit.counts[verdict]:,}",
            f"{audit.case_counts[verdict]:,}",
            reasons,
        )
    console.print(counts)


def one_of_each_reason_first(verdicts: list[InstanceVerdict]) -> list[InstanceVerdict]:
    """The same verdicts, so that the first few show every reason there is."""
    seen: Counter[str] = Counter()
    rounds = []
    for verdict in verdicts:
        rounds.append(seen[verdict.reason])
        seen[verdict.reason] += 1
    return [verdict for _, verdict in sorted(zip(rounds, verdicts, strict=True), key=lambda pair: pair[0])]


def _length(seconds: float) -> str:
    days, rest = divmod(abs(seconds), 86400)
    sign = "−" if seconds < 0 else ""
    return f"{sign}{days:,.0f} days" if days and not rest else f"{sign}{timedelta(seconds=abs(seconds))}"


def _print_procedure(console: Console, result: AuditResult | LargeAudit) -> None:
    if result.procedure.status == "prospective":
        console.print(
            shown("Procedure: prospective; the records cannot show whether its steps are taken.", style="dim")
        )
        return
    counted = (
        result.steps.by_verdict
        if isinstance(result, LargeAudit)
        else Counter((v.constraint, v.verdict) for v in result.procedure.verdicts)
    )
    if not counted:
        return
    steps = _table(
        "Procedure after violations",
        "step",
        *[v.replace("_", " ") for v in VERDICTS[:4]],
        right=tuple(v.replace("_", " ") for v in VERDICTS[:4]),
    )
    for index, step in enumerate(result.structure.procedure.steps):
        _row(steps, f"{step.stage}: {step.name}", *[counted[index, v] for v in VERDICTS[:4]])
    console.print(steps)
