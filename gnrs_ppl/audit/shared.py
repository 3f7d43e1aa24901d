"""Several compiled checks on one log: parts of a check that another has too are computed once.

A part is the same in two checks when its text, the values bound in it and the parts it reads are. It becomes a
table that all of them read; what a check has for itself stays in its own SELECT.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import sqlglot
from sqlglot import exp

from gnrs_ppl.audit.sql import Query, Value
from gnrs_ppl.context.log import EventLog

_PARAMETER = re.compile(r"\$(\w+)")
_TABLE = re.compile(r'"table: ([^"]+)"')


class _Part(NamedTuple):
    """A common table expression under the name that it has in all checks, with its values."""

    name: str
    text: str
    materialized: bool
    parameters: dict[str, Value]

    @property
    def definition(self) -> str:
        return f'"{self.name}" AS {"MATERIALIZED " if self.materialized else ""}(\n{self.text}\n)'


class _Check(NamedTuple):
    """A check in its parts, and its last SELECT."""

    parts: tuple[_Part, ...]
    last: _Part


def run_together(queries: Sequence[Query], log: EventLog) -> list[str]:
    """Run checks on one log and give the table that holds the verdicts of each.

    Parameters
    ----------
    queries : sequence of Query
        From ``compile_rule``, for this log.
    log : EventLog

    Returns
    -------
    list of str
        Tables of the log's connection, ``checked_0`` for the first check.
    """
    numbered: dict[Any, _Part] = {}
    checks = [_taken_apart(query, numbered) for query in queries]
    uses = Counter(part.name for check in checks for part in check.parts)
    made: dict[str, None] = {}
    connection = log.connection
    for check in checks:
        for part in check.parts:
            if uses[part.name] > 1 and part.name not in made:
                made[part.name] = None
                connection.execute(
                    f'CREATE OR REPLACE TEMP TABLE "{part.name}" AS {part.text}', part.parameters
                )
    tables = []
    for number, check in enumerate(checks):
        own = [part for part in check.parts if part.name not in made]
        within = f"WITH {', '.join(part.definition for part in own)}\n" if own else ""
        values = {name: value for part in (*own, check.last) for name, value in part.parameters.items()}
        tables.append(f"checked_{number}")
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {tables[-1]} AS {within}{check.last.text}", values)
    for name in made:
        connection.execute(f'DROP TABLE "{name}"')
    return tables


def _taken_apart(query: Query, numbered: dict[Any, _Part]) -> _Check:
    """The parts of a check under names of their own; those seen before under the name they have."""
    names: dict[str, str] = {}
    parts = []
    for name, select, materialized in query.parts:
        parts.append(_numbered(select, materialized, names, query, numbered))
        names[name] = parts[-1].name
    return _Check(tuple(parts), _numbered(query.last, False, names, query, numbered))


def _numbered(
    select: str, materialized: bool, names: dict[str, str], query: Query, numbered: dict[Any, _Part]
) -> _Part:
    text = _TABLE.sub(lambda found: f'"{names.get(found[1], found[1])}"', _with_tables_marked(select))
    bound = list(dict.fromkeys(_PARAMETER.findall(text)))
    values = tuple(query.parameters[name] for name in bound)
    places = {name: place for place, name in enumerate(bound)}
    key = (_PARAMETER.sub(lambda found: f"${places[found[1]]}", text), materialized, repr(values))
    if key not in numbered:
        number = len(numbered)
        numbered[key] = _Part(
            f"part_{number}",
            _PARAMETER.sub(lambda found: f"$value_{number}_{places[found[1]]}", text),
            materialized,
            {f"value_{number}_{place}": value for place, value in enumerate(values)},
        )
    return numbered[key]


@lru_cache(maxsize=4096)
def _with_tables_marked(select: str) -> str:
    """A part in which the name of each table it reads can be told from all other names; checks of one
    context share most parts but for their values.
    """
    parsed = sqlglot.parse_one(select, dialect="duckdb")
    for table in parsed.find_all(exp.Table):
        if isinstance(table.this, exp.Identifier):
            if not table.alias:  # its columns may be named by it
                table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name, quoted=True)))
            table.set("this", exp.to_identifier(f"table: {table.name}", quoted=True))
    return parsed.sql("duckdb")
