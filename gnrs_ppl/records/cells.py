"""The cells of a log as they stand in its file, also where the log would be refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnrs_ppl.context.log import open_connection
from gnrs_ppl.context.table import cell_text, opened
from gnrs_ppl.context.types import Column, RecordLayer

if TYPE_CHECKING:
    import duckdb


@dataclass
class Cells:
    """All cells of a file, as text, in table ``raw`` of a connection of their own.

    Attributes
    ----------
    header : list of str
    ragged : list of int
        Numbers of the rows with a cell too few or too many, which ``raw`` lacks.
    """

    connection: duckdb.DuckDBPyConnection
    header: list[str]
    records: RecordLayer
    ragged: list[int] = field(default_factory=list)

    def of(self, column: Column) -> str:
        """SQL for a column of the event table: a column of the file, or NULL."""
        name = self.records.columns.get(column, column if column not in self.records.constants else None)
        return self.named(name) if name in self.header else "NULL::VARCHAR"

    def named(self, name: str | None) -> str:
        """SQL for a column of the file."""
        return f"c{self.header.index(name)}" if name is not None else "NULL::VARCHAR"

    def rows(self, sql: str, parameters: dict[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """What a query gives."""
        return self.connection.execute(sql, parameters or {}).fetchall()


def read_cells(path: Path, records: RecordLayer) -> Cells:
    """The cells of a CSV or Parquet file.

    Raises
    ------
    InputError
        Not readable at all; the line says why.
    """
    connection = open_connection()
    ragged: list[int] = []
    with opened(path, connection, lambda number, _: ragged.append(number)) as table:
        relation, parameters = table.scan(range(len(table.header)))
        texts = [
            f"nullif(trim({cell_text(f'c{i}', kind)}), '') AS c{i}" for i, kind in enumerate(table.types)
        ]
        connection.execute(f"CREATE TABLE raw AS SELECT row, {', '.join(texts)} FROM {relation}", parameters)
        header = table.header
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return Cells(connection, header, records, ragged)
