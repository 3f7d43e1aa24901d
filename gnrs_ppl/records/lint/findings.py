"""What a finding is, what checks look at, and the words they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

from gnrs_ppl.context.log import EventLog
from gnrs_ppl.context.types import Kind, RecordLayer, Schema
from gnrs_ppl.errors import InputError, one_line
from gnrs_ppl.records.cells import Cells
from gnrs_ppl.records.mend import Edit
from gnrs_ppl.records.names import Use, known_names, uses

Severity = Literal["error", "warning", "note"]
"""What the rest of the tool refuses; what may make a verdict wrong; what is good to know."""
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
ENOUGH = 20
"""Rows from which a column that never changes says nothing, and dates are no chance."""
FIRST = 3
_COLUMN: dict[str, Kind] = {"activity": "action", "role": "role", "location": "location", "object": "object"}


class Finding(NamedTuple):
    """One thing that is wrong.

    Attributes
    ----------
    code : str
        Stays the same from version to version.
    where : str
        Field of the context, or channel, column or act of the log.
    amount : int
        Rows, names or cases that it is about.
    names : frozenset of (kind, name)
        What it is about, in the terms of a rule; columns of the log are of kind ``column``.
    edits : tuple of Edit
        A change to the context that is safe: it can make no verdict another one, and loses nothing.
    """

    code: str
    severity: Severity
    where: str
    problem: str
    amount: int
    example: str
    fix: str
    names: frozenset[tuple[str, str]] = frozenset()
    edits: tuple[Edit, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """As plain data for JSON."""
        return {
            "code": self.code,
            "severity": self.severity,
            "where": self.where,
            "problem": self.problem,
            "count": self.amount,
            "example": self.example,
            "fix": self.fix,
            "safe_fix": bool(self.edits),
        }


class Found(NamedTuple):
    """A finding before it has its number; see :class:`Finding`."""

    where: str
    problem: str
    amount: int
    example: str
    fix: str
    names: frozenset[tuple[str, str]] = frozenset()
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class Material:
    """What the checks look at.

    Attributes
    ----------
    data : mapping
        The context as its file has it.
    schema, records
        Without the names that are not declared.
    cells : Cells or None
        The log as it stands in its file; None where there is none to look at.
    log : EventLog or None
        None where it is refused.
    refused : tuple of InputError
        What stops the context from being used.
    """

    data: Mapping[str, Any]
    schema: Schema
    records: RecordLayer
    cells: Cells | None
    log: EventLog | None
    refused: tuple[InputError, ...] = ()

    @cached_property
    def recorded(self) -> dict[Kind, dict[str, int]]:
        """Kind -> name -> rows; of kinds that only a few names are recorded of."""
        found: dict[Kind, dict[str, int]] = {}
        for column, kind in [*_COLUMN.items(), ("channel", "channel")]:
            found[kind] = dict(
                self.rows(
                    f'SELECT "{column}", count(*) FROM events WHERE "{column}" IS NOT NULL GROUP BY ALL '
                    "ORDER BY ALL"
                )
            )
        return found

    @cached_property
    def declared(self) -> dict[str, list[str]]:
        """Kind -> names."""
        return known_names(self.data)

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """Names at all places of the file."""
        return tuple(uses(self.data))

    def rows(self, sql: str, parameters: dict[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """What a query over the log gives."""
        return self.log.connection.execute(sql, parameters or {}).fetchall() if self.log is not None else []


@dataclass(frozen=True)
class Linted:
    """What lint found.

    Attributes
    ----------
    findings : tuple of Finding
        Errors first, then by number.
    fixed : tuple of (code, str)
        What was changed in the file, in words.
    """

    source: str
    findings: tuple[Finding, ...]
    fixed: tuple[tuple[str, str], ...] = ()

    @property
    def failed(self) -> bool:
        """Whether an error is left."""
        return any(finding.severity == "error" for finding in self.findings)

    @property
    def counts(self) -> dict[Severity, int]:
        """Findings by severity."""
        return {severity: sum(f.severity == severity for f in self.findings) for severity in SEVERITIES}

    def as_dict(self) -> dict[str, Any]:
        """The JSON of ``gnrs lint``."""
        return {
            "context": self.source,
            "findings": [finding.as_dict() for finding in self.findings],
            "counts": self.counts,
            "fixed": [{"code": code, "change": change} for code, change in self.fixed],
        }


def counted(count: int, what: str) -> str:
    """A count with its word: ``3 rows``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def some_of(names: Sequence[str]) -> str:
    """The first few names as they are written, and how many more there are."""
    shown = ", ".join(one_line(repr(name), 60) for name in names[:FIRST])
    return shown + (f" and {len(names) - FIRST:,} more" if len(names) > FIRST else "")
