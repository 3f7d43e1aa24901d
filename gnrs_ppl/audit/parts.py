"""A log too large to be checked at once, checked in parts by case: what is said of a case follows from its own rows
and from what is declared or found of the whole log (again.py), so that the parts give what the whole gives.

The parts go by ranges of the case id, in its order. Each holds about so many rows; one case is never divided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from gnrs_ppl.audit.again import pinned, surroundings
from gnrs_ppl.audit.compile import Query, compile_procedure, compile_rule
from gnrs_ppl.audit.run import verdicts_of
from gnrs_ppl.audit.types import ROLL_UP, InstanceVerdict, Reason, Verdict

if TYPE_CHECKING:
    import duckdb

    from gnrs_ppl.audit.checkable import CheckPlan
    from gnrs_ppl.context.log import EventLog

ROWS_AT_ONCE: Final = 2_000_000
"""Rows of a part, about."""
EXAMPLES: Final = 3
"""Rows of verdicts that are kept of each constraint, verdict and reason."""
_SAMPLED: Final = 200
"""Rows that are drawn for each part, to find where it ends."""


class Part(NamedTuple):
    """Some cases of a log, checked.

    Attributes
    ----------
    connection : duckdb.DuckDBPyConnection
        Holds their ``events``, the ``verdicts`` of the norm on them, and the ``steps`` of the procedure where the
        records can show them.
    number, of : int
        Which part it is, from 1, and how many there are.
    """

    connection: duckdb.DuckDBPyConnection
    number: int
    of: int


def checked_in_parts(
    plan: CheckPlan,
    log: EventLog,
    *,
    rows_at_once: int = ROWS_AT_ONCE,
    report: Callable[[str], None] = lambda _: None,
) -> Iterator[Part]:
    """Check a log part by part, in the order of its case ids.

    Parameters
    ----------
    plan : CheckPlan
        What ``check`` found on the whole log.
    log : EventLog
    rows_at_once : int, optional
        Rows of a part, about.
    report : callable, optional
        Told which part is being checked.

    Yields
    ------
    Part
        Its tables last until the next one.
    """
    told = pinned(plan, surroundings(plan, log))
    queries = {"verdicts": compile_rule(told), "steps": compile_procedure(told)}
    events = _events(log)
    ends = _ends(log, events, rows_at_once)
    with log.connection.cursor() as cursor:
        for number, (begin, end) in enumerate(pairwise([None, *ends, None]), 1):
            report(f"checking part {number:,} of {len(ends) + 1:,}")
            wheres = ["case_id > $begin"] * (begin is not None) + ["case_id <= $end"] * (end is not None)
            bounds = {name: b for name, b in (("begin", begin), ("end", end)) if b is not None}
            cursor.execute(
                f"CREATE OR REPLACE TEMP TABLE events AS SELECT * FROM {events} "
                f"WHERE {' AND '.join(wheres) or 'TRUE'}",
                bounds,
            )
            for name, query in queries.items():
                if query is not None:
                    _keep(cursor, name, query)
            yield Part(cursor, number, len(ends) + 1)


def _keep(cursor: duckdb.DuckDBPyConnection, name: str, query: Query) -> None:
    cursor.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {query.sql}", query.parameters)


def _events(log: EventLog) -> str:
    """The log's table by its whole name, which no table of a part hides."""
    (database,) = log.one("SELECT current_database()")
    return f'"{database}".main.events'


def _ends(log: EventLog, events: str, rows_at_once: int) -> list[str]:
    """The last case of each part but the last one, as a sample of the rows shows them."""
    parts = -(-log.events // rows_at_once)
    if parts <= 1:
        return []
    drawn = [
        case
        for (case,) in log.connection.execute(
            f"SELECT case_id FROM (SELECT case_id FROM {events}) "
            f"USING SAMPLE reservoir({parts * _SAMPLED} ROWS) REPEATABLE (0)"
        ).fetchall()
    ]
    drawn.sort()
    return sorted({drawn[len(drawn) * part // parts] for part in range(1, parts)})


@dataclass
class Tally:
    """What is said of verdicts without listing them.

    Attributes
    ----------
    instances : Counter
        Instances by (constraint, verdict, reason).
    cases : Counter
        Cases by (constraint, verdict), where constraint None stands for all constraints together; without the
        cases that nothing called up.
    examples : dict
        The first few violated or undecided ones of each (constraint, verdict, reason), in the order of cases.
    """

    instances: Counter[tuple[int, Verdict, Reason]] = field(default_factory=Counter)
    cases: Counter[tuple[int | None, Verdict]] = field(default_factory=Counter)
    examples: dict[tuple[int, Verdict, Reason], list[InstanceVerdict]] = field(default_factory=dict)

    @property
    def by_verdict(self) -> Counter[tuple[int, Verdict]]:
        """Instances by (constraint, verdict)."""
        found: Counter[tuple[int, Verdict]] = Counter()
        for (constraint, verdict, _), rows in self.instances.items():
            found[constraint, verdict] += rows
        return found

    def add(self, part: Part, table: str = "verdicts") -> None:
        """Count a table of verdicts of one more part."""
        asked = part.connection.execute
        for constraint, verdict, reason, rows in asked(
            f'SELECT "constraint", verdict, reason, count(*) FROM {table} GROUP BY ALL'
        ).fetchall():
            self.instances[constraint, verdict, reason] += rows
        gravest = f"min(list_position({list(ROLL_UP)}, verdict))"
        for each, constraint in ((', "constraint"', '"constraint"'), ("", "NULL")):
            for number, rank, rows in asked(
                f"SELECT {constraint}, rank, count(*) FROM "
                f"(SELECT case_id{each}, {gravest} AS rank FROM {table} GROUP BY ALL) GROUP BY ALL"
            ).fetchall():
                self.cases[number, ROLL_UP[rank - 1]] += rows
        for row in verdicts_of(
            asked(
                f"SELECT * FROM {table} WHERE verdict IN ('violated', 'indeterminate') QUALIFY row_number() OVER "
                '(PARTITION BY "constraint", verdict, reason ORDER BY case_id, instance) <= $examples '
                'ORDER BY case_id, instance, "constraint"',
                {"examples": EXAMPLES},
            ).fetchall()
        ):
            kept = self.examples.setdefault((row.constraint, row.verdict, row.reason), [])
            if len(kept) < EXAMPLES:
                kept.append(row)
