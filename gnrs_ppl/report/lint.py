"""What ``gnrs lint`` prints: a line for each finding, and what was mended."""

from __future__ import annotations

from rich.padding import Padding

from gnrs_ppl.errors import one_line
from gnrs_ppl.records.lint import Linted
from gnrs_ppl.terminal import console, shown

_STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}


def print_findings(found: Linted) -> None:
    """Findings with example and fix, errors first; then what was changed and how many are left."""
    out = console()
    for code, change in found.fixed:
        out.print(shown(f"fixed {code} {change}", "green"))
    for finding in found.findings:
        where = f"{one_line(finding.where, 80)}: " if finding.where else ""
        out.print(
            shown(f"{finding.code} {finding.severity}: {where}{finding.problem}", _STYLES[finding.severity])
        )
        example = (
            f"for example {one_line(finding.example, 100)}; "
            if finding.example and finding.example not in finding.problem
            else ""
        )
        safe = " (--fix does)" if finding.edits else ""
        out.print(Padding(shown(f"{example}{finding.fix}{safe}"), (0, 0, 0, 5)))
    told = ", ".join(
        f"{count} {severity}{'' if count == 1 else 's'}" for severity, count in found.counts.items() if count
    )
    out.print(
        shown(
            f"{told} in {found.source}" if told else f"nothing to find fault with in {found.source}", "bold"
        )
    )
