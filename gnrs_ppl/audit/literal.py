"""A compiled check with its values written into it: a view, or a test of dbt, for whoever runs it without us."""

from __future__ import annotations

import re
from datetime import datetime

import sqlglot
from sqlglot import exp

from gnrs_ppl.audit.sql import Query, Value

EVENTS = "events"
"""The table that a check reads."""
_PLACE = "gnrs_place_of_the_event_table"
_DBT_REF = '{{ ref("events") }}'


def view(query: Query, name: str) -> str:
    """A statement that creates a view of a check's verdicts, in DuckDB's dialect.

    Parameters
    ----------
    query : Query
        From ``compile_rule``. Its values become literals; the table ``events`` is read when the view is.
    name : str
        What to call the view; quoted.
    """
    quoted = exp.to_identifier(name, quoted=True).sql("duckdb")
    return f"CREATE OR REPLACE VIEW {quoted} AS\n{literal(query)};\n"


def dbt_test(query: Query, *, binding: bool) -> str:
    """A singular test of dbt: a row for each violation, on the model ``events``.

    Parameters
    ----------
    query : Query
        From ``compile_rule``. No value of it can be read as Jinja.
    binding : bool
        Whether a violation is an error, and not a warning.
    """
    severity = "error" if binding else "warn"
    checked = literal(query, _PLACE).replace("{", "{{ '{' }}").replace(f'"{_PLACE}"', _DBT_REF)
    config = f"{{{{ config(severity='{severity}') }}}}"
    return f"{config}\nSELECT * FROM (\n{checked}\n) AS verdicts\nWHERE verdict = 'violated'\n"


def literal(query: Query, events: str = EVENTS) -> str:
    """The check's SELECT with its values as literals.

    Parameters
    ----------
    query : Query
    events : str, optional
        Table to read in place of ``events``.
    """
    parsed = sqlglot.parse_one(query.sql, dialect="duckdb")
    for table in list(parsed.find_all(exp.Table)):
        if table.name == EVENTS:
            table.set("this", exp.to_identifier(events, quoted=True))
    # as text, in one pass: in the tree sqlglot would take a literal that is an index for one counted from 0
    return re.sub(
        r"\$(\w+)",
        lambda found: _literal(query.parameters[found[1]]).sql("duckdb"),
        parsed.sql("duckdb", pretty=True),
    )


def _literal(value: Value) -> exp.Expression:
    if isinstance(value, list):
        return exp.Array(expressions=[_literal(item) for item in value])
    if isinstance(value, datetime):
        return exp.cast(exp.Literal.string(value.isoformat(sep=" ")), "TIMESTAMP", dialect="duckdb")
    return exp.Literal.number(value) if isinstance(value, int) else exp.Literal.string(value)
