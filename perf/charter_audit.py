"""What 32 rules on 10^6 events take: together (``gnrs charter --audit``) and one by one (``gnrs audit``).

Run ``python perf/charter_audit.py [EVENTS]``. The log is a Parquet file of cases of twenty events over forty
acts in four logs; the rules are eight duties and bans for each of four openings. Seconds are processor time of
all threads. One by one, each rule is audited by itself on a log that is read once; ``gnrs audit`` reads it for
each rule, which adds as many times what reading takes. The verdicts are compared, instance by instance.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs without an installation too

import duckdb

from gnrs_ppl.audit import audit
from gnrs_ppl.charter.audit import audit_together
from gnrs_ppl.charter.written import Rules
from gnrs_ppl.context.log import read_log, resolved
from gnrs_ppl.context.types import RecordLayer, Schema
from gnrs_ppl.rule.types import Structure

EVENTS = """COPY (
    SELECT 'e' || i AS event_id, 'case' || (i // 20) AS case_id, 'act' || (hash(i) % 40) AS activity,
           TIMESTAMP '2024-01-01' + to_seconds(i // 20 * 60 + i % 20 * 600 + hash(i + 1) % 300) AS "timestamp",
           'person' || (hash(i + 2) % 500) AS resource, 'log' || (hash(i) % 40 % 4) AS channel
    FROM range($events) AS r(i)
) TO '{path}' (FORMAT parquet)"""
RECORDS = RecordLayer.model_validate(
    {
        "offset": "+00:00",
        "channels": [
            {"name": f"log{n}", "activities": [f"act{a}" for a in range(n, 40, 4)], "closed_world": True}
            for n in range(4)
        ],
    }
)


def rules() -> list[Structure]:
    """Eight rules for each of four openings: duties in time, what must come before, bans."""
    kinds = [
        {"template": "response", "deadline": "PT1H"},
        {"template": "response", "deadline": "P1D"},
        {"template": "precedence"},
        {"template": "not_response", "deadline": "PT2H"},
    ]
    return [
        Structure.model_validate(
            {
                "trigger": {"act": f"act{opener}", "channel": f"log{opener % 4}"},
                "norm": {"constraints": [{"target": f"act{target}", "correlate": "same_case"} | kind]},
                "evidence": {"channels": [f"log{target % 4}"]},
            }
        )
        for opener in range(4)
        for target in (10 + opener, 20 + opener)
        for kind in kinds
    ]


def main() -> None:
    """Print the times, their ratios, and whether the verdicts agree."""
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    written = rules()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        duckdb.execute(EVENTS.format(path=path), {"events": events})
        start = time.process_time()
        log = read_log(path, RECORDS)
        read = time.process_time() - start
        alone = []
        start = time.process_time()
        for structure in written:
            alone.append(audit(structure, log, records=RECORDS).verdicts)
        apart = time.process_time() - start
        start = time.process_time()
        log = read_log(path, RECORDS)
        names = tuple(f"rule {n}" for n in range(1, len(written) + 1))
        found = audit_together(Rules(names, tuple(written), Schema(), resolved(RECORDS, log), log))
        together = time.process_time() - start
        same = all(tuple(one.verdicts()) == said for one, said in zip(found.audits, alone, strict=True))
    instances = sum(map(len, alone))
    anew = apart + len(written) * read
    print(f"{len(written)} rules, {events:,} events, {instances:,} instances; reading the log {read:.1f} s")
    print(f"one by one, the log read anew   {anew:8.1f} s  {anew / together:5.1f}×")
    print(f"one by one, the log read once   {apart + read:8.1f} s  {(apart + read) / together:5.1f}×")
    print(f"together                        {together:8.1f} s")
    print(f"same verdicts: {'yes' if same else 'NO'}")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f} GB")


if __name__ == "__main__":
    main()
