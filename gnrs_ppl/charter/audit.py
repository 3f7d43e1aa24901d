"""All rules of a handbook on one log, in one pass: the log is read once, and what several checks ask of it is
computed once (docs/charters.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gnrs_ppl import progress
from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import compile_rule
from gnrs_ppl.audit.names import unrecorded
from gnrs_ppl.audit.run import verdicts_of
from gnrs_ppl.audit.shared import run_together
from gnrs_ppl.audit.types import ROLL_UP, VERDICTS, InstanceVerdict, Verdict
from gnrs_ppl.charter.written import Rules, Uncheckable
from gnrs_ppl.context.log import EventLog
from gnrs_ppl.errors import InputError, Refused
from gnrs_ppl.realize.sentence import explain
from gnrs_ppl.realize.text import render
from gnrs_ppl.rule.types import Structure

FORCES: Mapping[str, tuple[str, ...]] = {
    "may": ("a permission is not checked against records",),
    "should": ("advisory: a should-rule fails no audit",),
}
"""What to know of the counts of rules that do not bind."""


@dataclass(frozen=True)
class RuleAudit:
    """What became of one rule.

    Attributes
    ----------
    name : str
    structure : Structure
    text : str
    counts, case_counts : mapping
        Instances, and cases of the log, by verdict.
    assumptions : tuple of str
        What the check took for granted, and what it found of the names that the rule states.
    """

    name: str
    structure: Structure
    text: str
    counts: Mapping[Verdict, int]
    case_counts: Mapping[Verdict, int]
    assumptions: tuple[str, ...]
    _table: str = field(repr=False)
    _log: EventLog = field(repr=False)

    @property
    def failed(self) -> bool:
        """Whether a binding rule was violated."""
        return self.structure.norm.force == "must" and self.counts["violated"] > 0

    @property
    def headline(self) -> str:
        """Violated of those decided, or – where nothing was."""
        decided = self.counts["satisfied"] + self.counts["violated"]
        return f"{self.counts['violated']:,} of {decided:,}" if decided else "–"

    def verdicts(self, verdict: Verdict | None = None, limit: int | None = None) -> list[InstanceVerdict]:
        """Its instances, or those of one verdict, by case; the first few where ``limit`` says so."""
        rows = self._log.connection.execute(
            f"""SELECT * FROM "{self._table}" WHERE $verdict IS NULL OR verdict = $verdict
                ORDER BY case_id, instance, "constraint" LIMIT $most""",
            {"verdict": verdict, "most": 2**62 if limit is None else limit},
        ).fetchall()
        return verdicts_of(rows)


@dataclass(frozen=True)
class HandbookAudit:
    """Rules audited together.

    Attributes
    ----------
    rules : Rules
    audits : tuple of RuleAudit
        Of the rules that could be checked.
    refused : tuple of Uncheckable
    """

    rules: Rules
    audits: tuple[RuleAudit, ...]
    refused: tuple[Uncheckable, ...]

    @property
    def failed(self) -> bool:
        """Whether a binding rule was violated."""
        return any(audit.failed for audit in self.audits)

    @property
    def notes(self) -> list[str]:
        """What to know of the counts, each once, with the rules it is about."""
        about: dict[str, list[str]] = {}
        for audit in self.audits:
            for note in (*FORCES.get(audit.structure.norm.force, ()), *audit.assumptions):
                about.setdefault(note, []).append(audit.name)
        aside = self.rules.log.said_aside if self.rules.log is not None else ""
        return [
            *(f"{note} ({', '.join(names)})" for note, names in about.items()),
            *([aside] if aside else []),
        ]

    def sentence(self, audit: RuleAudit, verdict: InstanceVerdict) -> str:
        """A verdict in words."""
        return explain(verdict, audit.structure, self.rules.lexicon)

    def as_dict(self, shown: int = 20) -> dict[str, Any]:
        """The JSON of ``gnrs charter --audit``, with the first violations of each rule."""
        log = self.rules.log
        assert log is not None
        return {
            "log": log.described,
            "rules": [
                {
                    "name": audit.name,
                    "text": audit.text,
                    "force": audit.structure.norm.force,
                    "counts": dict(audit.counts),
                    "case_counts": dict(audit.case_counts),
                    "headline": audit.headline,
                    "assumptions": list(audit.assumptions),
                    "violations": [
                        {
                            "case_id": one.case_id,
                            "instance": one.instance,
                            "reason": one.reason,
                            "witnesses": list(one.witnesses),
                            "sentence": self.sentence(audit, one),
                        }
                        for one in audit.verdicts("violated", shown)
                    ],
                }
                for audit in self.audits
            ],
            "refused": [one._asdict() for one in self.refused],
            "notes": self.notes,
        }


def audit_together(rules: Rules) -> HandbookAudit:
    """Audit rules on one log, in one pass; each verdict is that of ``gnrs.audit``.

    Parameters
    ----------
    rules : Rules
        With a log; permissions are not checked against records.

    Raises
    ------
    InputError
        No log is named.
    """
    log = rules.log
    if log is None:
        raise InputError("no log to audit", "pass --log, or a --context that names one", source="arguments")
    checkable, refused = list[tuple[str, Structure, tuple[str, ...]]](), list[Uncheckable]()
    queries = []
    for name, structure in zip(rules.names, rules.structures, strict=True):
        progress.stage(f"compiling {name}")
        try:
            findings = unrecorded(structure, rules.records, rules.schema, log, False)
            plan = check(structure, rules.records, log)
        except Refused as error:
            refused.append(Uncheckable(name, str(error)))
            continue
        queries.append(compile_rule(plan))
        checkable.append((name, structure, (*plan.assumptions, *findings)))
    progress.stage("auditing")
    audits = []
    for (name, structure, assumptions), table in zip(checkable, run_together(queries, log), strict=True):
        text = render(structure, rules.lexicon, dates_only=rules.records.dates_only)
        audits.append(RuleAudit(name, structure, text, *_counts(table, log), assumptions, table, log))
    return HandbookAudit(rules, tuple(audits), tuple(refused))


def _counts(table: str, log: EventLog) -> tuple[dict[Verdict, int], dict[Verdict, int]]:
    """Instances and cases by verdict, a case by its gravest (SEMANTICS line 21)."""
    instances = dict(
        log.connection.execute(f'SELECT verdict, count(*) FROM "{table}" GROUP BY verdict').fetchall()
    )
    cases = dict(
        log.connection.execute(
            f"""SELECT list_extract($order::VARCHAR[], gravest), count(*) FROM (
                    SELECT min(list_position($order::VARCHAR[], verdict)) AS gravest
                    FROM "{table}" GROUP BY case_id
                ) GROUP BY 1""",
            {"order": list(ROLL_UP)},
        ).fetchall()
    )
    silent = log.cases - sum(cases.values())
    cases["not_activated"] = cases.get("not_activated", 0) + silent
    return {v: instances.get(v, 0) for v in VERDICTS}, {v: cases.get(v, 0) for v in VERDICTS}
