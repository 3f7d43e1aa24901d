"""A log that has grown: the cases that changed are checked again, and those whose verdicts time may change.

A case's verdicts follow from its own rows and from what is said of the whole log: the compiled check, the end of
observation, and when channels are complete. The check is compiled with the latter two as declared instants, so
that it says the same of some cases as of all. Where they moved forward, satisfied and violated stay as they are: the rows
of its case are the same, and its interval was over and covered before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple

from gnrs_ppl.audit.checkable import CheckPlan
from gnrs_ppl.audit.compilation import Compilation
from gnrs_ppl.audit.compile import Query, compile_procedure, compile_rule
from gnrs_ppl.audit.run import execute
from gnrs_ppl.audit.types import InstanceVerdict
from gnrs_ppl.context.log import EventLog
from gnrs_ppl.context.types import Interval
from gnrs_ppl.context.zone import span
from gnrs_ppl.safe_text import to_json
from gnrs_ppl.versions import versions

_SURROUNDINGS = ("end_of_observation", "coverage_channel", "coverage_begins", "coverage_ends")
"""What a pinned check binds of the whole log."""


class Surroundings(NamedTuple):
    """What a check takes from the whole log: the end of observation, and the intervals (begin, end) in which
    each channel is complete, all in UTC.
    """

    ends: datetime | None
    coverage: Mapping[str, tuple[tuple[datetime, datetime], ...]]

    def reaches(self, other: Surroundings) -> bool:
        """Whether it only goes on from where the other ended."""
        if self.ends is None or other.ends is None:
            return self == other
        return (
            self.ends >= other.ends
            and self.coverage.keys() == other.coverage.keys()
            and all(_goes_on(self.coverage[channel], before) for channel, before in other.coverage.items())
        )


class Checked(NamedTuple):
    """A whole check, as the next one may start from.

    Attributes
    ----------
    basis : str
        Digest of the compiled check, of what was set aside of any case, and of the program's version.
    surroundings : Surroundings
    cases : mapping
        Case -> digest of its rows.
    verdicts, steps : tuple of InstanceVerdict
        Of the norm, and of the procedure.
    """

    basis: str
    surroundings: Surroundings
    cases: Mapping[str, str]
    verdicts: tuple[InstanceVerdict, ...] = ()
    steps: tuple[InstanceVerdict, ...] = ()


def ground(plan: CheckPlan, log: EventLog) -> Checked:
    """What a check of a log stands on, without its verdicts."""
    found = surroundings(plan, log)
    told = pinned(plan, found)
    queries = (compile_rule(told), compile_procedure(told))
    asked = [
        (query.sql, {name: value for name, value in query.parameters.items() if name not in _SURROUNDINGS})
        for query in queries
        if query is not None
    ]
    of_any_case = log.one(
        "SELECT list({'activity': activity, 'rows': rows} ORDER BY activity) FROM "
        "(SELECT activity, count(*) AS rows FROM set_aside WHERE case_id IS NULL GROUP BY ALL)"
    )
    basis = hashlib.sha256(repr((versions()["gnrs-ppl"], asked, of_any_case)).encode()).hexdigest()
    return Checked(basis, found, _digests(log))


class Again(NamedTuple):
    """Verdicts of norm and procedure, some of them from an earlier check; ``checked`` of ``cases`` were checked
    again.
    """

    verdicts: tuple[InstanceVerdict, ...]
    steps: tuple[InstanceVerdict, ...]
    checked: int
    cases: int

    @property
    def said(self) -> str:
        """How many cases were checked again."""
        return (
            f"{self.checked:,} of {self.cases:,} cases have changed or were not settled and were checked again; "
            "the others are as in the earlier run"
        )


def check_again(plan: CheckPlan, log: EventLog, now: Checked, before: Checked) -> Again | None:
    """Verdicts of a log out of those of an earlier one; None where all cases have to be checked.

    Parameters
    ----------
    plan : CheckPlan
        What ``check`` found on the whole log.
    log : EventLog
    now : Checked
        From :func:`ground`, of the same plan and log.
    before : Checked
        A check on the same basis.
    """
    if not now.surroundings.reaches(before.surroundings):
        return None
    stale = {case for case, digest in now.cases.items() if before.cases.get(case) != digest}
    if now.surroundings != before.surroundings:
        stale |= {
            v.case_id
            for v in (*before.verdicts, *before.steps)
            if v.verdict in ("pending", "indeterminate", "excused")  # an exception decides early (X2)
        }
    stale &= now.cases.keys()
    told = pinned(plan, now.surroundings)
    with log.connection.cursor() as cursor:
        for table, others in (("events", ""), ("set_aside", " OR case_id IS NULL")):
            cursor.execute(
                f"CREATE TEMP TABLE {table} AS SELECT * FROM memory.main.{table} "
                f"WHERE case_id IN (SELECT unnest($cases::VARCHAR[])){others}",
                {"cases": sorted(stale)},
            )
        part = replace(log, connection=cursor)
        verdicts = _merged(before.verdicts, execute(compile_rule(told), part), now.cases.keys() - stale)
        follow_up: Query | None = compile_procedure(told)
        again = execute(follow_up, part) if follow_up is not None else []
        steps = _merged(before.steps, again, now.cases.keys() - stale)
    return Again(verdicts, steps, len(stale), len(now.cases))


def _merged(
    before: tuple[InstanceVerdict, ...], again: list[InstanceVerdict], kept: set[str]
) -> tuple[InstanceVerdict, ...]:
    return tuple(sorted([*(v for v in before if v.case_id in kept), *again], key=lambda v: v[:3]))


def _goes_on(
    now: tuple[tuple[datetime, datetime], ...], before: tuple[tuple[datetime, datetime], ...]
) -> bool:
    if now == before:
        return True
    last = len(before) - 1
    return (
        last >= 0
        and len(now) == len(before)
        and now[:last] == before[:last]
        and now[last][0] == before[last][0]
        and now[last][1] >= before[last][1]
    )


def surroundings(plan: CheckPlan, log: EventLog) -> Surroundings:
    """What a check takes from the whole of a log."""
    st, records = Compilation(plan).st, plan.records
    end = st.passed('"timestamp"', '"grain"')
    counts = f'"timestamp" IS NOT NULL AND {plan.reach.holds()}'
    (ends,) = log.one(f"SELECT max({end}) FROM events WHERE {counts}", st.parameters)
    if records.end_of_observation is not None:
        ends = span(records.end_of_observation, records.clock)[1]
    seen = {
        channel: (begins, ends_)
        for channel, begins, ends_ in log.connection.execute(
            f'SELECT channel, min("timestamp"), max({end}) FROM events '
            f"WHERE {counts} AND channel IS NOT NULL GROUP BY channel",
            st.parameters,
        ).fetchall()
    }
    coverage: dict[str, tuple[tuple[datetime, datetime], ...]] = {}
    for channel in records.channels:
        if channel.coverage is None:
            coverage[channel.name] = (seen[channel.name],) if channel.name in seen else ()
        else:
            spans = (
                (span(i.start, records.clock)[0], span(i.end, records.clock)[1]) for i in channel.coverage
            )
            coverage[channel.name] = tuple(sorted(spans))
    return Surroundings(ends, coverage)


def pinned(plan: CheckPlan, found: Surroundings) -> CheckPlan:
    """The plan with the whole log's surroundings declared, so that it says the same of some cases as of all."""
    channels = tuple(
        channel.model_copy(
            update={
                "coverage": tuple(
                    Interval(start=begins.replace(tzinfo=UTC), end=ends.replace(tzinfo=UTC))
                    for begins, ends in found.coverage[channel.name]
                )
            }
        )
        for channel in plan.records.channels
    )
    ends = None if found.ends is None else found.ends.replace(tzinfo=UTC)
    return replace(
        plan, records=plan.records.model_copy(update={"channels": channels, "end_of_observation": ends})
    )


def _digests(log: EventLog) -> dict[str, str]:
    """A digest of each case's rows, whatever their order."""
    return dict(
        log.connection.execute(
            "SELECT case_id, sha256(string_agg(row, chr(10) ORDER BY row)) "
            "FROM (SELECT case_id, CAST(e AS VARCHAR) AS row FROM events AS e UNION ALL "
            "SELECT case_id, CAST(e AS VARCHAR) FROM set_aside AS e WHERE case_id IS NOT NULL) GROUP BY case_id"
        ).fetchall()
    )


def surroundings_text(found: Surroundings) -> str:
    """Surroundings as text, from which :func:`surroundings_of` reads them."""
    ends = None if found.ends is None else found.ends.isoformat()
    coverage = {
        name: [[b.isoformat(), e.isoformat()] for b, e in spans] for name, spans in found.coverage.items()
    }
    return to_json({"ends": ends, "coverage": coverage}, indent=None)


def surroundings_of(data: Mapping[str, object]) -> Surroundings:
    """Surroundings from the data of their text."""
    ends, coverage = data["ends"], data["coverage"]
    assert isinstance(coverage, dict)
    at = datetime.fromisoformat
    return Surroundings(
        at(ends) if isinstance(ends, str) else None,
        {name: tuple((at(b), at(e)) for b, e in spans) for name, spans in coverage.items()},
    )
