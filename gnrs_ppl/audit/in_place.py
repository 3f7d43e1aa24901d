"""Verdicts counted where the events are: one SELECT gives counts and a few examples in place of a row per verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import sqlglot
from sqlglot import exp

from gnrs_ppl.audit.parts import EXAMPLES, Tally
from gnrs_ppl.audit.run import COLUMNS, verdicts_of
from gnrs_ppl.audit.sql import Query
from gnrs_ppl.audit.types import ROLL_UP

if TYPE_CHECKING:
    from gnrs_ppl.context.log import EventLog

LISTED: Final = 1_000_000
"""Events of a database's table up to which every verdict is listed, whoever asks."""


def counted(query: Query, log: EventLog) -> Tally:
    """What a compiled check comes to, without its rows.

    Parameters
    ----------
    query : Query
        From ``compile_rule`` or ``compile_procedure``.
    log : EventLog
        The log it was compiled for.
    """
    tally = Tally()
    for told, rows, *row in log.connection.execute(tally_text(query), query.parameters).fetchall():
        (verdict,) = verdicts_of([row])
        if told == "instances":
            tally.instances[verdict.constraint, verdict.verdict, verdict.reason] += rows
        elif told == "example":
            key = verdict.constraint, verdict.verdict, verdict.reason
            tally.examples.setdefault(key, []).append(verdict)
        else:
            tally.cases[verdict.constraint if told == "cases" else None, verdict.verdict] += rows
    return tally


def tally_text(query: Query) -> str:
    """The SELECT: what a row tells, how many there are of it, and the columns of a verdict."""
    parts = [f'"{name}" AS {"MATERIALIZED " if kept else ""}({select})' for name, select, kept in query.parts]
    found = sqlglot.parse_one(query.last, dialect="duckdb", into=exp.Select).named_selects
    gravest = " ".join(f"WHEN '{verdict}' THEN {rank}" for rank, verdict in enumerate(ROLL_UP, 1))
    again = " ".join(f"WHEN {rank} THEN '{verdict}'" for rank, verdict in enumerate(ROLL_UP, 1))

    def row(told: str, rows: str, **columns: str) -> str:
        cells = (columns.get(name, f"CAST(NULL AS {kind})") for name, kind in COLUMNS.items())
        named = (f'{cell} AS "{name}"' for cell, name in zip(cells, COLUMNS, strict=True))
        return f"SELECT '{told}' AS told, {rows} AS \"rows\", {', '.join(named)}"

    def by_case(told: str, *of: str) -> str:
        each = "".join(f', "{name}"' for name in of)
        columns = {name: f'"{name}"' for name in of} | {"verdict": f"CASE gravest {again} END"}
        return f"""{row(told, "count(*)", **columns, witnesses="[]")}
                   FROM (SELECT case_id{each}, min(CASE verdict {gravest} END) AS gravest FROM found GROUP BY case_id{each}) AS c
                   GROUP BY gravest{each}"""

    key = {name: f'"{name}"' for name in ("constraint", "verdict", "reason")}
    examples = {name: f'"{name}"' for name in COLUMNS if name in found} | (
        {} if "of_target" in found else {"of_target": "FALSE"}
    )
    return f"""WITH {", ".join(parts)}, "found" AS MATERIALIZED ({query.last})
        SELECT * FROM (
            {row("instances", "count(*)", **key, witnesses="[]")} FROM found GROUP BY {", ".join(key.values())}
            UNION ALL {by_case("cases", "constraint")}
            UNION ALL {by_case("whole cases")}
            UNION ALL {row("example", "1", **examples)}
            FROM (SELECT *, row_number() OVER (PARTITION BY {", ".join(key.values())} ORDER BY case_id, instance) AS place
                  FROM found WHERE verdict IN ('violated', 'indeterminate')) AS e
            WHERE place <= {EXAMPLES}
        ) AS t ORDER BY told, case_id, instance, "constraint" """
