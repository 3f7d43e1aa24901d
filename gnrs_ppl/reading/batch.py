"""Many sentences, each with a schema of its own: rows in, rows out, none of them lost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from gnrs_ppl.context.files import parse_json, read_text, validated
from gnrs_ppl.context.limits import SENTENCE
from gnrs_ppl.context.types import Actions, Attributes, Frozen, Schema
from gnrs_ppl.reading.opinions import duty_lines, read
from gnrs_ppl.reading.plain import as_data, declare_name
from gnrs_ppl.reading.types import Readings

MAX_BYTES = 50_000_000


class Row(Frozen):
    """A sentence with the acts that it may name; further fields, such as a gold template, are not looked
    at.
    """

    model_config = ConfigDict(extra="ignore")

    id: str | int
    text: Annotated[str, Field(min_length=1, max_length=SENTENCE)]
    actions: Annotated[Actions, Field(alias="schema")]
    attributes: Attributes = ()
    """What conditions on data may be of, as a context declares it."""

    @property
    def names(self) -> Schema:
        """The acts that it may name."""
        return Schema(actions=self.actions)


def rows_of(path: Path) -> list[Row]:
    """The rows of a JSON list, or of JSON lines.

    Raises
    ------
    InputError
        The file cannot be read, or the row that is named is malformed.
    """
    source, text = str(path), read_text(path, MAX_BYTES)
    whole = text.lstrip().startswith("[")
    remedy = "give a JSON list of rows, or one row a line"
    listed = (
        parse_json(text, source, remedy)
        if whole
        else [
            parse_json(line, f"{source}: line {n}", remedy)
            for n, line in enumerate(text.splitlines(), 1)
            if line.strip()
        ]
    )
    return [validated(Row, row, source=source, field=f"row {number}") for number, row in enumerate(listed, 1)]


def read_rows(rows: Sequence[Row], readings: Sequence[Readings] | None = None) -> list[dict[str, Any]]:
    """What each row was read as, in the same order.

    Parameters
    ----------
    rows : sequence of Row
    readings : sequence of Readings, optional
        What each was read as where that is known.

    Returns
    -------
    list of dict
        ``id``; ``template`` in DECLARE's spelling with the ``activities`` in its order, ``constraint`` and
        ``count`` in this project's, and ``probability``, all of the first statement's most probable reading;
        ``statements``, every one, each with its conditions on ``data``; ``unheld``, words on data that no
        attribute of the row holds; ``unsure``, whether a draft would ask, and ``others``, what else it may
        mean. Where nothing was read these are None and empty, ``reason`` says why in a
        word, and ``nearest`` which act (name, score) comes nearest.
    """
    known = readings or [read(row.text, row.names, (), row.attributes) for row in rows]
    return [_told(row, one) for row, one in zip(rows, known, strict=True)]


def _told(row: Row, readings: Readings) -> dict[str, Any]:
    best = readings.statements[0].best if readings.statements else None
    told = as_data(readings)
    near = next(({"name": u.nearest, "score": u.score} for u in readings.unread if u.nearest), None)
    return {
        "id": row.id,
        "template": declare_name(best.template, best.count, best.joint) if best else None,
        "activities": list(best.activities) if best else [],
        "constraint": best.template if best else None,
        "count": best.count if best else None,
        "probability": best.probability if best else None,
        "reason": readings.nothing or None,
        "nearest": None if best else near,
        "statements": told["statements"],
        "unheld": told["unheld"],
        "unsure": readings.unsure,
        "others": [list(duty_lines(way)) for way in readings.others],
    }
