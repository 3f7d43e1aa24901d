"""The verdicts of a large audit as rows in a file, part by part, in the order of cases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gnrs_ppl.audit.result import CSV_FIELDS, csv_row
from gnrs_ppl.audit.run import verdicts_of
from gnrs_ppl.report.formats import COLUMNS, row_as_dict
from gnrs_ppl.safe_text import to_csv, to_json

if TYPE_CHECKING:
    from gnrs_ppl.audit.parts import Part
    from gnrs_ppl.audit.result import Sentence
    from gnrs_ppl.audit.types import InstanceVerdict

_AT_ONCE: Final = 20_000
_KEPT: Final = "verdict_rows"


class TextRows:
    """Rows as CSV or JSON Lines, as ``gnrs audit`` prints them of any log.

    Parameters
    ----------
    output : Path
    form : {"csv", "jsonl"}
    """

    def __init__(self, output: Path, form: str) -> None:
        self.form, self.file = form, output.open("w", encoding="utf-8", newline="")
        if form == "csv":
            self.file.write(to_csv([CSV_FIELDS]))

    def take(self, part: Part, sentence: Sentence) -> None:
        """Write the rows of one more part."""
        for rows in _fetched(part):
            if self.form == "csv":
                self.file.write(to_csv(csv_row(v, sentence) for v in rows))
            else:
                self.file.writelines(to_json(row_as_dict(v, sentence), indent=None) + "\n" for v in rows)

    def finish(self) -> None:
        """All parts have come."""
        self.file.close()


class ParquetRows:
    """Rows as Parquet, with the columns of ``gnrs audit --format parquet``; DuckDB holds and writes them."""

    def __init__(self, output: Path) -> None:
        self.output = output

    def take(self, part: Part, sentence: Sentence) -> None:
        """Keep the rows of one more part."""
        if part.number == 1:
            columns = ", ".join(f'"{name}" {kind}' for name, kind in COLUMNS.items())
            part.connection.execute(f"CREATE TABLE {_KEPT} ({columns})")
        unnested = ", ".join(f"unnest(?::{kind}[])" for kind in COLUMNS.values())
        for rows in _fetched(part):
            cells = [row_as_dict(v, sentence) for v in rows]
            part.connection.execute(
                f"INSERT INTO {_KEPT} SELECT {unnested}", [[row[name] for row in cells] for name in COLUMNS]
            )
        if part.number == part.of:
            part.connection.execute(
                f"COPY {_KEPT} TO $output (FORMAT parquet, USE_TMP_FILE false)", {"output": str(self.output)}
            )

    def finish(self) -> None:
        """All parts have come."""


def _fetched(part: Part) -> Iterator[list[InstanceVerdict]]:
    """A part's verdicts, some at a time; other questions may come between."""
    (rows,) = part.connection.execute("SELECT count(*) FROM verdicts").fetchone() or (0,)
    for begin in range(0, rows, _AT_ONCE):
        yield verdicts_of(
            part.connection.execute(
                "SELECT * FROM verdicts WHERE rowid >= $begin AND rowid < $end ORDER BY rowid",
                {"begin": begin, "end": begin + _AT_ONCE},
            ).fetchall()
        )
