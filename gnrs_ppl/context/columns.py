"""Which column of a table is which column of the event table, as the record layer says or names show."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from gnrs_ppl.context.types import COLUMNS, Attribute, Column, RecordLayer
from gnrs_ppl.errors import InputError

REQUIRED = ("case_id", "activity", "timestamp", "channel")
ONE_LOG = "log"
"""The channel of all rows where neither the table nor the record layer names any."""
CLOSE = 0.85
"""Likeness from which a column's name is taken for a misspelt one."""


class ChosenColumns:
    """The columns of one table, chosen one by one.

    Attributes
    ----------
    constants : dict
        Columns of the event table that are the same in all rows.
    findings : list of str
        What a reader should know of the choice.
    """

    def __init__(self, records: RecordLayer, header: Sequence[str], source: str) -> None:
        self.records, self.header, self.source = records, list(header), source
        self.constants: dict[str, str] = {}
        self.findings: list[str] = []

    def of(self, column: Column) -> str | None:
        """Name of the table's column for ``column``; None where there is none, or a constant for all rows."""
        mapped = self.records.columns.get(column)
        constant = self.records.constants.get(column)
        if mapped is not None and constant is not None:
            raise self._error(
                "is both a column and a constant", "keep one of the two", f"records.columns.{column}"
            )
        if mapped is not None:
            return self._named(mapped, f"records.columns.{column}")
        if constant is None:
            self._refuse_near_names(column)
            if column in self.header:
                return column
            if column == "channel" and len(self.records.channels) <= 1:
                constant = self.records.channels[0].name if self.records.channels else ONE_LOG
                self.findings.append(
                    f"the log names no channel; all rows are taken as recorded in {constant!r}"
                )
        if constant is not None:
            self.constants[column] = constant
        elif column in REQUIRED:
            remedy = f"map one under records.columns.{column}" + (
                f" or state records.constants.{column}" if column == "channel" else ""
            )
            raise self._error(
                f"has no column {column!r}", remedy + f" (columns: {', '.join(self.header[:12])})"
            )
        return None

    def of_attribute(self, attribute: Attribute) -> str | None:
        """Name of the table's column for an attribute; None, and a finding, where it has none of its name."""
        name = attribute.column or attribute.name
        if attribute.column is not None or name in self.header:
            return self._named(name, f"records.attributes.{attribute.name}.column")
        self.findings.append(f"the log has no column for attribute {attribute.name!r}; it is never recorded")
        return None

    def _named(self, name: str, field: str) -> str:
        if name in self.header:
            return name
        near = get_close_matches(name, self.header, 1)
        raise self._error(
            f"no column {name!r} in the log",
            f"did you mean {near[0]!r}?" if near else f"it has {', '.join(self.header[:12])}",
            field,
        )

    def _refuse_near_names(self, column: Column) -> None:
        """Refuse a column that may be meant for ``column``: spelt alike but for case and signs, or misspelt
        where there is none.
        """
        others = {
            _letters(name): name
            for name in self.header
            if name not in {*COLUMNS, *self.records.columns.values()}
            and name not in {a.column or a.name for a in self.records.attributes}
        }
        near = others.get(_letters(column))
        if column in self.header:
            if near is not None:
                remedy = f"rename one, or map the one meant under records.columns.{column}"
                raise self._error(f"columns {column!r} and {near!r} are hardly told apart", remedy)
        else:
            alike = get_close_matches(
                _letters(column), [name for name in others if name[:1] == column[0]], 1, CLOSE
            )
            if alike:
                remedy = f"map it under records.columns.{column}, or rename it"
                raise self._error(f"has no column {column!r} but {others[alike[0]]!r}", remedy)

    def _error(self, problem: str, remedy: str, field: str = "") -> InputError:
        return InputError(problem, remedy, source=self.source, field=field)


def _letters(name: str) -> str:
    """A name without case, spaces and signs."""
    return "".join(c for c in name.casefold() if c.isalnum())
