"""An audit as files: what a page tells of it, and every verdict in a table."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gnrs_ppl.audit.result import due_text, tally
from gnrs_ppl.audit.types import Due, InstanceVerdict, Verdict
from gnrs_ppl.context.output import write_all
from gnrs_ppl.records.profile import unit_of
from gnrs_ppl.report.audit import one_of_each_reason_first
from gnrs_ppl.safe_text import to_json

if TYPE_CHECKING:
    import duckdb

    from gnrs_ppl.audit.result import AuditResult
    from gnrs_ppl.context.time import Grain

FILES = ("audit.json", "verdicts.csv")
"""What an audit is saved as."""
SHOWN = 200
"""Violations whose rows ``audit.json`` holds; ``verdicts.csv`` lists all verdicts."""
ROWS = 24
"""Rows of a case that stand there, those that open it or witness against it and the nearest to them."""
GROUPS = 40
"""Roles that are counted by name."""


class _Opening(NamedTuple):
    """The row that opened an instance: its time as recorded, in UTC, and in which role somebody acted."""

    at: datetime | None
    offset: int | None
    grain: Grain
    role: str | None

    @property
    def local(self) -> datetime | None:
        return None if self.at is None else self.at + timedelta(minutes=self.offset or 0)


def save_audit(result: AuditResult, folder: Path) -> list[Path]:
    """Write :data:`FILES` and a manifest, all or nothing; gives the files' paths."""
    contents = (to_json(audit_data(result), indent=1), result.to_csv())
    return write_all(
        folder,
        [(name, text.encode()) for name, text in zip(FILES, contents, strict=True)],
        manifest=True,
    )


def audit_data(result: AuditResult) -> dict[str, Any]:
    """The JSON of ``gnrs audit`` with verdicts by time and by role in place of every case, and the first
    violations, each reason among them, with the rows around them.
    """
    connection, said = result.events.connection, result.as_dict()
    del said["cases"]
    opened = _openings(connection, result.verdicts)
    shown = set(one_of_each_reason_first(result.of("violated"))[:SHOWN])
    violated = [verdict for verdict in result.of("violated") if verdict in shown]
    undecided = {v.reason: v for v in reversed(result.of("indeterminate"))}
    return said | {
        "called": result.called,
        "over_time": _over_time(result.verdicts, opened),
        "by_role": _by_role(result.verdicts, opened),
        "undecided": {reason: result.sentence(verdict) for reason, verdict in undecided.items()},
        "violations": [
            _violation(v, result, opened[v.case_id, v.instance], *rows)
            for v, rows in zip(violated, _rows(connection, violated, opened), strict=True)
        ],
    }


Openings = dict[tuple[str, str], _Opening]


def _openings(connection: duckdb.DuckDBPyConnection, verdicts: tuple[InstanceVerdict, ...]) -> Openings:
    """By case and instance: an event's own row, or for a case that opens by itself its first."""
    rows = connection.execute(
        """SELECT case_id, event_id, "timestamp", "offset", grain, role FROM events
           WHERE event_id IN (SELECT unnest($ids::VARCHAR[]))""",
        {"ids": list({v.instance for v in verdicts})},
    ).fetchall()
    found = {(case, event): _Opening(*rest) for case, event, *rest in rows}
    whole = {v.case_id for v in verdicts if v.instance == v.case_id and (v.case_id, v.instance) not in found}
    if whole:
        first = connection.execute(
            """SELECT case_id, "timestamp", "offset", grain, role FROM events
               WHERE case_id IN (SELECT unnest($ids::VARCHAR[]))
               QUALIFY row_number() OVER (
                   PARTITION BY case_id ORDER BY "timestamp" NULLS LAST, event_id) = 1""",
            {"ids": list(whole)},
        ).fetchall()
        found |= {(case, case): _Opening(*rest) for case, *rest in first}
    nothing = _Opening(None, None, "second", None)
    return {(v.case_id, v.instance): found.get((v.case_id, v.instance), nothing) for v in verdicts}


def _over_time(verdicts: tuple[InstanceVerdict, ...], opened: Openings) -> dict[str, Any]:
    """Verdicts by the day, week, month or year in which the matter was opened, on its own wall clock."""
    moments = [opening.local for opening in opened.values() if opening.local is not None]
    unit = unit_of(min(moments, default=None), max(moments, default=None))
    periods: dict[str, list[Verdict]] = {}
    undated = 0
    for verdict in verdicts:
        local = opened[verdict.case_id, verdict.instance].local
        if local is None:
            undated += 1
        else:
            periods.setdefault(_start(local, unit), []).append(verdict.verdict)
    counted = [{"start": start, "counts": tally(held)} for start, held in sorted(periods.items())]
    return {"unit": unit, "periods": counted, "undated": undated}


def _start(local: datetime, unit: str) -> str:
    day = local.date()
    if unit == "week":
        day -= timedelta(days=day.weekday())
    elif unit != "day":
        day = day.replace(day=1) if unit == "month" else day.replace(day=1, month=1)
    return day.isoformat()


def _by_role(verdicts: tuple[InstanceVerdict, ...], opened: Openings) -> list[dict[str, Any]]:
    """Verdicts by the role on the row that opened the matter, None where it names none; the rarest roles
    together.
    """
    held: dict[str | None, list[Verdict]] = {}
    for verdict in verdicts:
        held.setdefault(opened[verdict.case_id, verdict.instance].role, []).append(verdict.verdict)
    order = sorted(held, key=lambda role: (-Counter(held[role])["violated"], -len(held[role]), role or ""))
    rows: list[dict[str, Any]] = [
        {"role": role, "roles": 1, "counts": tally(held[role])} for role in order[:GROUPS]
    ]
    if rest := order[GROUPS:]:
        counts = tally(verdict for role in rest for verdict in held[role])
        rows.append({"role": None, "roles": len(rest), "counts": counts})
    return rows


def _rows(
    connection: duckdb.DuckDBPyConnection, violated: list[InstanceVerdict], opened: Openings
) -> list[tuple[list[dict[str, Any]], int]]:
    """For each violation the rows of its case in the order of time, at most :data:`ROWS`, and how many there
    are.
    """
    marks = [(n, event) for n, v in enumerate(violated) for event in {v.instance, *v.witnesses}]
    found = connection.execute(
        """WITH wanted AS (
               SELECT unnest($number::BIGINT[]) AS n, unnest($cases::VARCHAR[]) AS case_id,
                      unnest($opened::TIMESTAMP[]) AS opened),
           marked AS (SELECT unnest($marked::BIGINT[]) AS n, unnest($events::VARCHAR[]) AS event_id)
           SELECT w.n, e.event_id, e."timestamp", e."offset", e.grain, e.activity, e.role, e.resource,
                  e.object, e.channel, count(*) OVER (PARTITION BY w.n)
           FROM wanted AS w JOIN events AS e USING (case_id)
           LEFT JOIN marked AS m ON m.n = w.n AND m.event_id = e.event_id
           QUALIFY row_number() OVER (
               PARTITION BY w.n
               ORDER BY m.event_id IS NULL,
                        abs(epoch_us(e."timestamp") - epoch_us(w.opened)) NULLS LAST, e.event_id
           ) <= $most
           ORDER BY w.n, e."timestamp" NULLS LAST, e.event_id""",
        {
            "number": list(range(len(violated))),
            "cases": [v.case_id for v in violated],
            "opened": [opened[v.case_id, v.instance].at for v in violated],
            "marked": [n for n, _ in marks],
            "events": [event for _, event in marks],
            "most": ROWS,
        },
    ).fetchall()
    told: list[tuple[list[dict[str, Any]], int]] = [([], 0) for _ in violated]
    for n, event, at, offset, grain, activity, role, resource, thing, channel, total in found:
        row = {
            "event": event,
            "at": _when(_Opening(at, offset, grain, role)),
            "activity": activity,
            "role": role,
            "resource": resource,
            "object": thing,
            "channel": channel,
            "witness": event in violated[n].witnesses,
        }
        told[n] = ([*told[n][0], row], total)
    return told


def _violation(
    verdict: InstanceVerdict, result: AuditResult, opening: _Opening, rows: list[dict[str, Any]], total: int
) -> dict[str, Any]:
    return {
        "case_id": verdict.case_id,
        "instance": verdict.instance,
        "reason": verdict.reason,
        "sentence": result.sentence(verdict),
        "bearer": verdict.bearer,
        "opened": _when(opening),
        "due": due_text(verdict.due),
        "slack_seconds": verdict.slack_seconds,
        "rows": rows,
        "rows_of_case": total,
    }


def _when(opening: _Opening) -> str | None:
    """ISO 8601 at the row's own grain, as a due bound is written."""
    return None if opening.local is None else due_text(Due(opening.local, opening.offset, opening.grain))
