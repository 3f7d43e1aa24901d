"""Verdicts rolled up per case, counted at both levels, and said in JSON, CSV and plain rows (SEMANTICS line
21).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple

from gnrs_ppl.audit.again import Checked
from gnrs_ppl.audit.types import ROLL_UP, VERDICTS, Due, InstanceVerdict, Verdict
from gnrs_ppl.context.log import EventLog
from gnrs_ppl.rule.types import Constraint, Force, Structure
from gnrs_ppl.safe_text import to_csv, to_json

CASE_FIELDS = ("case_id", "verdict", "reason", "witnesses", "bearer", "due", "slack_seconds", "sentence")
CSV_FIELDS = ("case_id", "instance", "constraint", *CASE_FIELDS[1:])
Sentence = Callable[[InstanceVerdict], str]
"""Says a verdict."""


class CaseVerdict(NamedTuple):
    """A case's verdict: the gravest of its instances, and the first instance that has it (None: never
    triggered).
    """

    case_id: str
    verdict: Verdict
    instance: InstanceVerdict | None


class ProcedureAudit(NamedTuple):
    """What became of the violations: step verdicts where the records can show the steps, else prospective
    (line 23).
    """

    status: str
    verdicts: tuple[InstanceVerdict, ...] = ()
    sql: str = ""


@dataclass(frozen=True)
class ConstraintAudit:
    """The part of an audit that is one constraint's.

    Attributes
    ----------
    name : str
        Its number, its template and the activities of its target.
    verdicts : tuple of InstanceVerdict
        Its instances.
    cases : tuple of CaseVerdict
        What becomes of each case of the log by it alone.
    """

    name: str
    verdicts: tuple[InstanceVerdict, ...]
    cases: tuple[CaseVerdict, ...]

    @property
    def counts(self) -> dict[Verdict, int]:
        """Instances by verdict."""
        return tally(v.verdict for v in self.verdicts)

    @property
    def case_counts(self) -> dict[Verdict, int]:
        """Cases by verdict."""
        return tally(c.verdict for c in self.cases)

    @property
    def reasons(self) -> dict[Verdict, dict[str, int]]:
        """Instances by verdict and reason, commonest first."""
        return _reasons(self.verdicts)

    @property
    def headline(self) -> str:
        """Violated / (satisfied + violated), or – where nothing was decided."""
        return headline_of(self.counts)

    def as_dict(self) -> dict[str, Any]:
        """Its part of the JSON of ``gnrs audit``."""
        return {
            "name": self.name,
            "counts": self.counts,
            "case_counts": self.case_counts,
            "reasons": self.reasons,
            "headline": self.headline,
        }


class RuleOnLog(ABC):
    """A rule, and the log it was checked on."""

    structure: Structure
    events: EventLog

    @property
    @abstractmethod
    def counts(self) -> dict[Verdict, int]:
        """Instance × constraint rows by verdict."""

    @property
    def log(self) -> dict[str, Any]:
        """What was audited: fingerprint and size of the log."""
        return self.events.described

    @property
    def force(self) -> Force:
        """Force of the rule: only ``must`` can fail an audit (line 12)."""
        return self.structure.norm.force

    @property
    def failed(self) -> bool:
        """Whether a binding rule was violated."""
        return self.force == "must" and self.counts["violated"] > 0


@dataclass(frozen=True)
class AuditResult(RuleOnLog):
    """What an audit found.

    Attributes
    ----------
    verdicts : tuple of InstanceVerdict
        One per instance × constraint.
    cases : tuple of CaseVerdict
        One per case of the log, in case-id order.
    sql, parameters
        The SELECT that gave the verdicts, and its bound values.
    assumptions, findings : tuple of str
        What the check took for granted, and what it noticed.
    events : EventLog
        The rows that were audited.
    standing : Checked or None
        What a later audit may start from, where one was asked to.
    called : mapping
        Of each kind of name (``action``, ``role``, …) what a sentence calls it.
    """

    structure: Structure
    text: str
    verdicts: tuple[InstanceVerdict, ...]
    cases: tuple[CaseVerdict, ...]
    sql: str
    parameters: Mapping[str, Any]
    capability: dict[str, list[str]]
    assumptions: tuple[str, ...]
    findings: tuple[str, ...]
    procedure: ProcedureAudit
    events: EventLog = field(repr=False)
    versions: dict[str, str]
    standing: Checked | None = field(repr=False)
    sentence: Sentence = field(repr=False)
    called: Mapping[Any, Mapping[str, str]] = field(repr=False)

    @property
    def counts(self) -> dict[Verdict, int]:
        """Instance × constraint rows by verdict."""
        return tally(v.verdict for v in self.verdicts)

    @property
    def case_counts(self) -> dict[Verdict, int]:
        """Cases by verdict."""
        return tally(c.verdict for c in self.cases)

    @property
    def reasons(self) -> dict[Verdict, dict[str, int]]:
        """Instance × constraint rows by verdict and reason, commonest first."""
        return _reasons(self.verdicts)

    @property
    def by_constraint(self) -> tuple[ConstraintAudit, ...]:
        """The audit of each constraint by itself, in the norm's order."""
        held: dict[int, list[InstanceVerdict]] = {}
        for verdict in self.verdicts:
            held.setdefault(verdict.constraint, []).append(verdict)
        return tuple(
            ConstraintAudit(
                called(index, constraint),
                tuple(held.get(index, ())),
                roll_up(held.get(index, ()), self.events),
            )
            for index, constraint in enumerate(self.structure.norm.constraints)
        )

    @property
    def headline(self) -> str:
        """Violated / (satisfied + violated), or – where nothing was decided."""
        return headline_of(self.counts)

    def of(self, verdict: Verdict) -> list[InstanceVerdict]:
        """The instances with one verdict, in case order."""
        return [v for v in self.verdicts if v.verdict == verdict]

    def as_dict(self) -> dict[str, Any]:
        """The JSON of ``gnrs audit``."""
        return {
            "rule": rule_as_dict(self.structure, self.text),
            "counts": self.counts,
            "instances": len(self.verdicts),
            "case_counts": self.case_counts,
            "reasons": self.reasons,
            "headline": self.headline,
            "constraints": [part.as_dict() for part in self.by_constraint],
            "cases": [self._case(case) for case in self.cases],
            "assumptions": list(self.assumptions),
            "findings": list(self.findings),
            "capability": self.capability,
            "procedure": {
                "status": self.procedure.status,
                "counts": tally(v.verdict for v in self.procedure.verdicts),
                "sql": self.procedure.sql,
            },
            "sql": self.sql,
            "parameters": _plain(self.parameters),
            "log": self.log,
            "versions": self.versions,
        }

    def _case(self, case: CaseVerdict) -> dict[str, Any]:
        verdict = case.instance
        if verdict is None:
            return dict.fromkeys(CASE_FIELDS) | {
                "case_id": case.case_id,
                "verdict": case.verdict,
                "reason": "no_trigger",
                "witnesses": [],
                "sentence": "Nothing in this case calls the rule up.",
            }
        return case_as_dict(case.case_id, verdict, self.sentence)

    def to_json(self) -> str:
        """``as_dict`` as JSON text."""
        return to_json(self.as_dict())

    def to_csv(self) -> str:
        """One line per instance × constraint, with a header; texts as in ``gnrs_ppl.safe_text.to_csv``."""
        return to_csv([CSV_FIELDS, *(csv_row(v, self.sentence) for v in self.verdicts)])


def rule_as_dict(structure: Structure, text: str) -> dict[str, Any]:
    """The rule in the JSON of ``gnrs audit``."""
    force = structure.norm.force
    return {
        "text": text,
        "force": force,
        "class": "advisory" if force == "should" else "binding",
        "structure": structure.model_dump(mode="json", exclude_defaults=True),
    }


def case_as_dict(case: str, verdict: InstanceVerdict, sentence: Sentence) -> dict[str, Any]:
    """A case and the instance whose verdict it has in the JSON of ``gnrs audit``."""
    return {
        "case_id": case,
        "verdict": verdict.verdict,
        "reason": verdict.reason,
        "witnesses": list(verdict.witnesses),
        "bearer": verdict.bearer,
        "due": due_text(verdict.due),
        "slack_seconds": verdict.slack_seconds,
        "sentence": sentence(verdict),
        "instance": verdict.instance,
        "constraint": verdict.constraint,
    }


def csv_row(verdict: InstanceVerdict, sentence: Sentence) -> tuple[object, ...]:
    """A line of the CSV of ``gnrs audit``, with the columns of :data:`CSV_FIELDS`."""
    return (
        verdict.case_id,
        verdict.instance,
        verdict.constraint,
        verdict.verdict,
        verdict.reason,
        " ".join(verdict.witnesses),
        verdict.bearer,
        due_text(verdict.due),
        verdict.slack_seconds,
        sentence(verdict),
    )


def _plain(value: Any) -> Any:
    """Bound values as JSON has them: instants as ISO 8601 text."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.isoformat() if isinstance(value, datetime) else value


def _reasons(verdicts: Iterable[InstanceVerdict]) -> dict[Verdict, dict[str, int]]:
    counted = Counter((v.verdict, v.reason) for v in verdicts)
    return {
        verdict: {reason: n for (w, reason), n in counted.most_common() if w == verdict}
        for verdict in VERDICTS
    }


def called(index: int, constraint: Constraint) -> str:
    """What a constraint is called: its number, its template and the activities of its target."""
    return f"{index + 1}. {constraint.template}: {' or '.join(constraint.target.activities)}"


def headline_of(counts: Mapping[Verdict, int]) -> str:
    """Violated / (satisfied + violated), or – where nothing was decided."""
    decided = counts["satisfied"] + counts["violated"]
    return f"{counts['violated']:,} of {decided:,} ({counts['violated'] / decided:.1%})" if decided else "–"


def tally(verdicts: Iterable[Verdict]) -> dict[Verdict, int]:
    """Counts of all six verdicts, zeros kept."""
    counted = Counter(verdicts)
    return {v: counted[v] for v in VERDICTS}


def roll_up(verdicts: Iterable[InstanceVerdict], log: EventLog) -> tuple[CaseVerdict, ...]:
    """One verdict per case of the log: violated > indeterminate > pending > satisfied > excused > not
    activated.
    """
    gravest: dict[str, InstanceVerdict] = {}
    for verdict in verdicts:
        kept = gravest.setdefault(verdict.case_id, verdict)
        if ROLL_UP.index(verdict.verdict) < ROLL_UP.index(kept.verdict):
            gravest[verdict.case_id] = verdict
    return tuple(
        CaseVerdict(c, gravest[c].verdict if c in gravest else "not_activated", gravest.get(c))
        for c in log.case_ids
    )


def due_text(due: Due | None) -> str | None:
    """ISO 8601 of a due bound: a date at day grain, else local time with offset."""
    if due is None:
        return None
    if due.grain == "day":
        return due.local.date().isoformat()
    zone = None if due.offset is None else timezone(timedelta(minutes=due.offset))
    return due.local.replace(tzinfo=zone).isoformat()
