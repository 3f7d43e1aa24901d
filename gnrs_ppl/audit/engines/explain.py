"""A check as SQL to read, or to run by hand, in the dialect of any engine."""

from __future__ import annotations

from datetime import datetime

import sqlglot

from gnrs_ppl.audit.dialects import UNTESTED, Dialect, translated
from gnrs_ppl.audit.engines.base import over
from gnrs_ppl.audit.engines.events import EventTable
from gnrs_ppl.audit.sql import Query
from gnrs_ppl.safe_text import to_json


def explained(query: Query, dialect: Dialect, table: EventTable | None = None) -> str:
    """A check with what it is bound to, as comments before it.

    Parameters
    ----------
    query : Query
    dialect : str
    table : EventTable, optional
        How the event table is read out of an engine's; without it the check reads a table ``events``.
    """
    sql, parameters = query.sql, dict[str, object](query.parameters)
    if table is not None:
        sql, parameters = over(table, sql, parameters)
    said = [f"{dialect}: untested"] if dialect in UNTESTED else []
    said += [] if table is not None else ['reads a table "events" as docs/engines.md describes it']
    said += [f"{name} = {_value(value)}" for name, value in sorted(parameters.items())]
    text = (
        sqlglot.parse_one(sql, dialect="duckdb").sql("duckdb", pretty=True)
        if dialect == "duckdb"
        else translated(sql, parameters, dialect, comments=True)
    )
    return "".join(f"-- {line}\n" for line in said) + f"{text};\n"


def _value(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return value.isoformat(sep=" ") if isinstance(value, datetime) else to_json(value)
