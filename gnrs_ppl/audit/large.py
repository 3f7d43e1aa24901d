"""The audit of a log of any size: counts and a few examples; the rows of verdicts go to whoever takes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import compile_procedure, compile_rule
from gnrs_ppl.audit.in_place import LISTED, counted
from gnrs_ppl.audit.misread import likely_misread
from gnrs_ppl.audit.names import unrecorded
from gnrs_ppl.audit.parts import Part, Tally, checked_in_parts
from gnrs_ppl.audit.result import ProcedureAudit, RuleOnLog, called, case_as_dict, headline_of, rule_as_dict
from gnrs_ppl.audit.types import VERDICTS, InstanceVerdict, Verdict
from gnrs_ppl.context.log import EventLog, resolved
from gnrs_ppl.context.types import RecordLayer, Schema
from gnrs_ppl.rule.types import Structure
from gnrs_ppl.safe_text import to_json
from gnrs_ppl.versions import versions

if TYPE_CHECKING:
    from gnrs_ppl.audit.checkable import CheckPlan
    from gnrs_ppl.audit.result import Sentence

Taker = Callable[[Part, "Sentence"], None]
"""Takes the verdicts of one part after another."""


@dataclass(frozen=True)
class LargeConstraint:
    """The part of a large audit that is one constraint's, or with ``index`` None the whole of it."""

    tally: Tally
    cases: int
    name: str = ""
    index: int | None = None

    def _counted(self) -> Iterable[tuple[tuple[int, Verdict, Any], int]]:
        return (item for item in self.tally.instances.items() if self.index in (None, item[0][0]))

    @property
    def counts(self) -> dict[Verdict, int]:
        """Instances by verdict."""
        found = dict.fromkeys(VERDICTS, 0)
        for (_, verdict, _), rows in self._counted():
            found[verdict] += rows
        return found

    @property
    def case_counts(self) -> dict[Verdict, int]:
        """Cases by verdict; what nothing called up is not activated."""
        found = {verdict: self.tally.cases[self.index, verdict] for verdict in VERDICTS}
        found["not_activated"] += self.cases - sum(found.values())
        return found

    @property
    def reasons(self) -> dict[Verdict, dict[str, int]]:
        """Instances by verdict and reason, commonest first."""
        found: dict[Verdict, Counter[str]] = {verdict: Counter() for verdict in VERDICTS}
        for (_, verdict, reason), rows in self._counted():
            found[verdict][reason] += rows
        return {verdict: dict(reasons.most_common()) for verdict, reasons in found.items()}

    @property
    def headline(self) -> str:
        """Violated / (satisfied + violated), or – where nothing was decided."""
        return headline_of(self.counts)

    def as_dict(self) -> dict[str, Any]:
        """Its part of the JSON of ``gnrs audit``."""
        counted = {"counts": self.counts, "case_counts": self.case_counts, "reasons": self.reasons}
        return ({"name": self.name} if self.name else {}) | counted | {"headline": self.headline}


@dataclass(frozen=True)
class LargeAudit(RuleOnLog):
    """What an audit in parts found: as an :class:`~gnrs_ppl.audit.result.AuditResult`, but for the list of
    verdicts, of which it holds a few of each constraint and reason.

    Attributes
    ----------
    tally : Tally
        Verdicts of the norm, counted.
    steps : Tally
        Those of the procedure.
    events : EventLog
        What was audited; its connection may be closed.
    """

    structure: Structure
    text: str
    tally: Tally
    steps: Tally
    capability: dict[str, list[str]]
    assumptions: tuple[str, ...]
    findings: tuple[str, ...]
    procedure: ProcedureAudit
    events: EventLog = field(repr=False)
    sentence: Sentence = field(repr=False)
    called: Mapping[Any, Mapping[str, str]] = field(repr=False)

    @property
    def whole(self) -> LargeConstraint:
        """All constraints together."""
        return LargeConstraint(self.tally, self.events.cases)

    @property
    def by_constraint(self) -> tuple[LargeConstraint, ...]:
        """The audit of each constraint by itself, in the norm's order."""
        return tuple(
            LargeConstraint(
                self.tally,
                self.events.cases,
                called(index, constraint),
                index,
            )
            for index, constraint in enumerate(self.structure.norm.constraints)
        )

    @property
    def counts(self) -> dict[Verdict, int]:
        """Instance × constraint rows by verdict."""
        return self.whole.counts

    def of(self, verdict: Verdict) -> list[InstanceVerdict]:
        """The examples of a verdict, in the order of cases."""
        found = [v for kept in self.tally.examples.values() for v in kept if v.verdict == verdict]
        return sorted(found, key=lambda v: v[:3])

    def to_json(self) -> str:
        """The JSON of ``gnrs audit``, with examples in place of cases."""
        examples = [*self.of("violated"), *self.of("indeterminate")]
        steps = LargeConstraint(self.steps, 0)
        return to_json(
            {
                "rule": rule_as_dict(self.structure, self.text),
                **self.whole.as_dict(),
                "instances": self.tally.instances.total(),
                "constraints": [part.as_dict() for part in self.by_constraint],
                "examples": [case_as_dict(v.case_id, v, self.sentence) for v in examples],
                "assumptions": list(self.assumptions),
                "findings": list(self.findings),
                "capability": self.capability,
                "procedure": {"status": self.procedure.status, "counts": steps.counts},
                "log": self.log,
                "versions": versions(),
            }
        )


def audit_large(
    structure: Structure,
    log: EventLog,
    *,
    records: RecordLayer,
    schema: Schema | None = None,
    allow_unrecorded: bool = False,
    report: Callable[[str], None] = lambda _: None,
    take: Taker | None = None,
) -> LargeAudit:
    """Verdicts of a rule on a log, counted part by part.

    Parameters
    ----------
    structure, log, records, schema, allow_unrecorded
        As for :func:`gnrs_ppl.audit.audit`.
    report : callable, optional
        Told what is being done.
    take : callable, optional
        Given each part, while its verdicts last.

    Raises
    ------
    Refused, InputError
        As :func:`gnrs_ppl.audit.audit`.
    """

    def in_parts(plan: CheckPlan, sentence: Sentence) -> tuple[Tally, Tally, str]:
        tally, steps, parts = Tally(), Tally(), 1
        for part in checked_in_parts(plan, log, report=report):
            tally.add(part)
            if plan.steps:
                steps.add(part, "steps")
            if take is not None:
                take(part, sentence)
            parts = part.of
        finding = f"checked in {parts:,} part{'s' * (parts > 1)} by case; verdicts are counted, not listed"
        return tally, steps, finding

    return _audited(structure, log, records, schema, allow_unrecorded, in_parts)


def audit_in_place(
    structure: Structure,
    log: EventLog,
    *,
    records: RecordLayer,
    schema: Schema | None = None,
    allow_unrecorded: bool = False,
) -> LargeAudit:
    """Verdicts of a rule on a log in a database, counted there.

    Parameters
    ----------
    structure, log, records, schema, allow_unrecorded
        As for :func:`gnrs_ppl.audit.audit`.

    Raises
    ------
    Refused, InputError
        As :func:`gnrs_ppl.audit.audit`.
    """

    def there(plan: CheckPlan, _: Sentence) -> tuple[Tally, Tally, str]:
        follow_up = compile_procedure(plan)
        steps = counted(follow_up, log) if follow_up is not None else Tally()
        finding = f"more than {LISTED:,} events: verdicts are counted, not listed; --csv lists them"
        return counted(compile_rule(plan), log), steps, finding

    return _audited(structure, log, records, schema, allow_unrecorded, there)


def _audited(
    structure: Structure,
    log: EventLog,
    records: RecordLayer,
    schema: Schema | None,
    allow_unrecorded: bool,
    count: Callable[[CheckPlan, Sentence], tuple[Tally, Tally, str]],
) -> LargeAudit:
    """An audit that counts in its own way: norm, procedure, and a finding that says how."""
    from gnrs_ppl.realize.lexicon import Lexicon
    from gnrs_ppl.realize.sentence import explain
    from gnrs_ppl.realize.text import render

    filled = resolved(records, log)
    lacking = unrecorded(structure, filled, schema or Schema(), log, allow_unrecorded)
    plan = check(structure, filled, log)
    lexicon = Lexicon.of(schema or Schema(), filled).including(structure)

    def sentence(verdict: InstanceVerdict) -> str:
        return explain(verdict, structure, lexicon)

    tally, steps, finding = count(plan, sentence)
    return LargeAudit(
        structure=structure,
        text=render(structure, lexicon, dates_only=filled.dates_only),
        tally=tally,
        steps=steps,
        capability={c.name: list(c.activities or ()) for c in filled.channels if c.durable},
        assumptions=plan.assumptions,
        findings=(
            *likely_misread(plan, tally.by_verdict, log),
            *log.findings,
            *plan.findings,
            *lacking,
            finding,
        ),
        procedure=ProcedureAudit("compiled" if plan.steps else "prospective"),
        events=log,
        sentence=sentence,
        called=lexicon.called,
    )
