"""Seconds, peak memory and growth of the audit at 10^5 to 10^6 events (SEMANTICS line 22).

Run ``python perf/audit_scale.py``; each line is one rule on one log, made in DuckDB: events in cases of ten,
or in one case.
"""

import math
import resource
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs without an installation too

from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import compile_rule
from gnrs_ppl.audit.run import execute
from gnrs_ppl.context.log import EventLog, open_connection
from gnrs_ppl.context.types import Channel, RecordLayer
from gnrs_ppl.errors import Refused
from gnrs_ppl.rule.types import Structure

SIZES = (100_000, 300_000, 1_000_000)
EVENTS = """
INSERT INTO events
SELECT 'e' || i, CASE WHEN $one THEN 'case' ELSE 'case' || (i // 10) END, CASE WHEN i % 5 < 2 THEN 'ask' ELSE 'answer' END,
       TIMESTAMP '2024-01-01' + to_seconds(CASE WHEN $one THEN i * 20 ELSE i // 10 * 7 + i % 10 * 300 END + hash(i) % 240),
       60, 'second', 'clerk' || (CASE WHEN $one THEN hash(i + 7) % 500 ELSE (i // 10 + hash(i) % 2) % 500 END), NULL, NULL, NULL,
       CASE WHEN i % 5 < 2 OR i % 2 = 0 THEN 'desk' ELSE 'phone' END, NULL, hash(i + 3) % 100, FALSE
FROM range($events) AS r(i)
"""
RULES = {
    "response, same_case": ({"template": "response", "deadline": "PT15M"}, "any", ["desk"]),
    "response, same_resource": (
        {"template": "response", "deadline": "PT15M", "correlate": "same_resource"},
        "any",
        ["desk"],
    ),
    "response, any of two channels": (
        {"template": "response", "deadline": "PT15M"},
        "any",
        ["desk", "phone"],
    ),
    "response, all of two channels": (
        {"template": "response", "deadline": "PT15M"},
        "all",
        ["desk", "phone"],
    ),
    "response, amount over 50": (
        {
            "template": "response",
            "deadline": "PT15M",
            "target": {
                "activity": "answer",
                "where": [{"attribute": "amount", "test": "more", "value": 50}],
            },
        },
        "any",
        ["desk"],
    ),
    "response, another person": (
        {"template": "response", "deadline": "PT15M", "correlate": "different_resource"},
        "any",
        ["desk"],
    ),
    "response, no more than asked": (
        {
            "template": "response",
            "deadline": "PT15M",
            "target": {
                "activity": "answer",
                "where": [
                    {
                        "attribute": "amount",
                        "test": "at_most",
                        "other": {"attribute": "amount", "of": "activation"},
                    }
                ],
            },
        },
        "any",
        ["desk"],
    ),
    "response within two days": ({"template": "response", "deadline": "P2D"}, "any", ["desk"]),
    "response within two working days": ({"template": "response", "deadline": "2WD"}, "any", ["desk"]),
    "response within 8 working hours": ({"template": "response", "deadline": "8WH"}, "any", ["desk"]),
    "over 50, two working days": (
        {
            "template": "response",
            "deadline": "2WD",
            "target": {
                "activity": "answer",
                "where": [{"attribute": "amount", "test": "more", "value": 50}],
            },
        },
        "any",
        ["desk"],
    ),
    "precedence, two working days": ({"template": "precedence", "deadline": "2WD"}, "any", ["desk"]),
}
RECORDS = RecordLayer(
    channels=tuple(
        Channel(name=n, activities=("ask", "answer"), closed_world=True) for n in ("desk", "phone")
    ),
    match_within="PT5M",
    attributes=[{"name": "amount", "type": "number"}],
    calendar={"hours": ["09:00-17:00"], "zone": "Europe/Amsterdam", "holidays": {"country": "NL"}},
)


def rule(constraint: dict[str, Any], operator: str, channels: list[str]) -> Structure:
    """A rule with one constraint: whoever is asked must answer."""
    return Structure.model_validate(
        {
            "trigger": {"act": {"activity": "ask"}, "channel": "desk"},
            "norm": {"constraints": [{"target": {"activity": "answer"}} | constraint]},
            "evidence": {"channels": channels, "operator": operator},
            "procedure": {"steps": [{"stage": "review", "name": "review", "role": "auditor"}]},
        }
    )


def log_of(events: int, *, one: bool) -> EventLog:
    """A synthetic log."""
    connection = open_connection(RECORDS.attributes)
    connection.execute(EVENTS, {"events": events, "one": one})
    return EventLog.sealed(connection, f"{events} synthetic events", RECORDS)


def main() -> None:
    """Print one line per rule, shape of log and size."""
    print(
        f"{'rule':32}{'cases':>8}{'events':>10}{'rows':>9}{'compile':>9}{'query':>8}{'fetch':>8}{'GB':>6}{'x2':>6}"
    )
    for one in (False, True):
        before: dict[str, tuple[int, float]] = {}
        for size in SIZES:
            log = log_of(size, one=one)
            for name, (constraint, operator, channels) in RULES.items():
                start = time.perf_counter()
                try:
                    query = compile_rule(check(rule(constraint, operator, channels), RECORDS, log))
                except Refused as error:
                    print(f"{name:32}{log.cases:8}{size:10}  {error}", flush=True)
                    continue
                compiled = time.perf_counter()
                log.connection.execute(query.sql, query.parameters)
                queried = time.perf_counter()
                rows = len(execute(query, log))
                fetched = time.perf_counter() - queried - (queried - compiled)
                growth = ""
                if name in before:
                    smaller, seconds = before[name]
                    growth = f"{((queried - compiled) / seconds) ** (1 / math.log2(size / smaller)):.2f}"
                before[name] = size, queried - compiled
                print(
                    f"{name:32}{log.cases:8}{size:10}{rows:9}{compiled - start:9.2f}{queried - compiled:8.2f}{max(fetched, 0):8.2f}"
                    f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:6.2f}{growth:>6}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
