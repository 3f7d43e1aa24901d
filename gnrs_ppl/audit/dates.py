"""What an audit would say if times that may be dates were read the other way (G7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gnrs_ppl.audit.checkable import CheckPlan, check
from gnrs_ppl.audit.compile import compile_rule
from gnrs_ppl.audit.run import execute
from gnrs_ppl.audit.types import InstanceVerdict
from gnrs_ppl.context.clocks import Doubt
from gnrs_ppl.context.log import EventLog, resolved
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.errors import Refused
from gnrs_ppl.rule.canonical import payloads

MOST = 1_000_000
"""Events of a log that is checked once more for each doubt."""


def read_otherwise(
    plan: CheckPlan, records: RecordLayer, log: EventLog, verdicts: Sequence[InstanceVerdict]
) -> Iterator[str]:
    """A line for each doubt that decides verdicts, with their number.

    Parameters
    ----------
    plan : CheckPlan
        What the verdicts come from.
    records : RecordLayer
        The record layer as declared.
    log : EventLog
        The rows of D.
    verdicts : sequence of InstanceVerdict
    """
    if not log.doubts or log.events > MOST:
        return
    acts = {p.name for p in payloads(plan.structure) if p.kind == "action"}
    for doubt in log.doubts:
        if doubt.activity not in acts:
            continue
        taken, other = ("dates", "times") if doubt.dates else ("times", "dates")
        line = f"{doubt.what}; they are taken as {taken}"
        try:
            others = {v[:3]: v.verdict for v in _verdicts(plan, records, log, doubt)}
        except Refused as error:
            yield f"{line}, and read as {other} the rule is refused ({error.problem})"
            continue
        changed = Counter(
            (v.verdict, others.get(v[:3], "gone")) for v in verdicts if others.get(v[:3]) != v.verdict
        )
        if changed:
            told = ", ".join(f"{count:,} {one} → {two}" for (one, two), count in changed.most_common())
            yield (
                f"{line}, and read as {other} {changed.total():,} of {len(verdicts):,} "
                f"verdicts would be others ({told}): state the channel's grain, or write dates as dates"
            )


def _verdicts(plan: CheckPlan, records: RecordLayer, log: EventLog, doubt: Doubt) -> list[InstanceVerdict]:
    local = '"timestamp" + to_minutes(coalesce("offset", 0))'
    chosen = "channel = $channel AND activity = $activity AND " + (
        "grain = 'day'" if doubt.dates else "grain <> 'day'"
    )
    if doubt.at_midnight and not doubt.dates:
        chosen += f" AND {local} = date_trunc('day', {local})"
    grain = "'second'" if doubt.dates else "'day'"
    with log.connection.cursor() as cursor:
        cursor.execute(
            f"""CREATE TEMP TABLE events AS SELECT * REPLACE (
                    CASE WHEN {chosen} THEN {grain} ELSE grain END AS grain,
                    CASE WHEN {chosen} THEN date_trunc('day', {local}) - to_minutes(coalesce("offset", 0)) ELSE "timestamp" END AS "timestamp")
                FROM memory.main.events""",
            {"channel": doubt.channel, "activity": doubt.activity},
        )
        part = replace(log, connection=cursor)
        return execute(compile_rule(check(plan.structure, resolved(records, part), part)), part)
