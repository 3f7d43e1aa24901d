"""A small log of many deliveries and a rule about them, stored run after run.

``python tests/stored.py STORE RUNS CASES`` says "ready" once it has audited, and stores the audit so often.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

from gnrs_ppl.audit import audit
from gnrs_ppl.audit.again import Checked
from gnrs_ppl.audit.result import AuditResult
from gnrs_ppl.context.log import Event, EventLog
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.history.store import append
from gnrs_ppl.rule.types import Structure

START = datetime(2024, 1, 1)
RECORDS = RecordLayer.model_validate(
    {
        "channels": [{"name": "desk", "activities": ["Order", "Deliver"], "closed_world": True}],
        "end_of_observation": "2024-03-01",
    }
)
RULE = Structure.model_validate(
    {
        "trigger": {"act": "Order", "channel": "desk"},
        "norm": {
            "bearer": {"role": "driver"},
            "constraints": [{"template": "response", "target": "Deliver", "deadline": "P2D"}],
        },
        "evidence": {"channels": ["desk"], "operator": "any"},
        "procedure": {"steps": [{"stage": "review", "name": "look", "role": "driver"}]},
    }
)


def delivered(
    days: Mapping[str, int | None],
    rule: Structure = RULE,
    earlier: Callable[[str], Checked | None] | None = None,
) -> AuditResult:
    """The audit of a log with an order in each case, delivered so many days later, at an unknown time (0) or
    not at all.
    """
    rows = []
    for case, after in days.items():
        rows.append(_event(f"{case}-o", case, "Order", START))
        if after is not None:
            rows.append(
                _event(f"{case}-d", case, "Deliver", START + timedelta(days=after) if after else None)
            )
    rows.append(_event("last", "the_last", "Deliver", datetime(2024, 2, 1)))
    return audit(
        rule, EventLog.from_events(rows, RECORDS), records=RECORDS, allow_unrecorded=True, earlier=earlier
    )


def _event(event: str, case: str, activity: str, at: datetime | None) -> Event:
    return Event(event, case, activity, at, 0, "second" if at else None, "ann", "driver", channel="desk")


if __name__ == "__main__":
    store, runs, cases = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    audited = delivered({f"case{n:06d}": (None, 1, 2, 5)[n % 4] for n in range(cases)})
    print("ready", flush=True)
    for _ in range(runs):
        append(store, audited, "deliveries")
