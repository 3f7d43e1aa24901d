"""Seconds, peak memory and growth of the audit on logs that do not fit into memory: 10^6, 10^7, 10^8 events.

Run ``python perf/engine_scale.py --sizes 1e6 1e7``. Logs are made on disk as Parquet, in the order of time, their
case ids without order: cases of ten events, or (skewed) one case with a tenth of all events and activities by Zipf.
The rule has a deadline with an exception, and a look-back. Every size runs in a process of its own.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs without an installation too

import duckdb

from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.parts import Tally, checked_in_parts
from gnrs_ppl.context.log import EventLog
from gnrs_ppl.context.types import Channel, RecordLayer
from gnrs_ppl.rule.types import Structure

SEED = 20
MEMORY, THREADS = "4GiB", 2
ACTIVITIES = ("request", "note", "register", "answer", "check", "remind", "withdraw", "close")
RULE = Structure.model_validate(
    {
        "trigger": {"act": {"activity": "request"}, "channel": "desk"},
        "norm": {
            "constraints": [
                {"template": "response", "target": "answer", "deadline": "PT8H", "unless": "withdraw"},
                {"template": "precedence", "target": "register", "deadline": "P2D"},
            ]
        },
        "evidence": {"channels": ["desk"], "operator": "any"},
        "procedure": {"steps": [{"stage": "review", "name": "review", "role": "auditor"}]},
    }
)
RECORDS = RecordLayer(
    channels=(Channel(name="desk", activities=ACTIVITIES, closed_world=True, grain="second"),),
    offset="+01:00",
)
# 5,000 cases go on at any time, an event of each every half hour
LOG = """
SELECT format('{:08d}', i) AS event_id, format('{:016x}', hash(c + $seed)) AS case_id,
       $activities[CASE WHEN $skewed THEN floor(power(9, u)) ELSE 1 + floor(u * 8) END::INTEGER] AS activity,
       TIMESTAMP '2024-01-01' + to_milliseconds(i * 360) + to_seconds((hash(i + $seed + 1) % 600)::BIGINT) AS "timestamp",
       60 AS "offset", 'second' AS grain, 'clerk ' || hash(i + $seed + 2) % 500 AS resource, NULL::VARCHAR AS role,
       NULL::VARCHAR AS object, NULL::VARCHAR AS location, 'desk' AS channel, NULL::VARCHAR AS value
FROM (SELECT i, CASE WHEN $skewed AND i % 10 = 0 THEN -1 ELSE i // 50000 * 5000 + i % 5000 END AS c,
             (hash(i + $seed) % 1000003) / 1000003 AS u FROM range($events) AS r(i))
"""


def make(path: Path, events: int, *, skewed: bool) -> None:
    """Write a log."""
    given = {"events": events, "skewed": skewed, "seed": SEED, "activities": list(ACTIVITIES)}
    with duckdb.connect(config={"memory_limit": MEMORY, "threads": THREADS}) as connection:
        connection.execute(f"COPY ({LOG}) TO '{path}' (FORMAT parquet)", given)


def audited(path: Path) -> dict[str, object]:
    """Check a log and say how it went."""
    start = time.perf_counter()
    with duckdb.connect(
        config={"memory_limit": MEMORY, "threads": THREADS, "temp_directory": str(path.parent / "spilled")}
    ) as connection:
        connection.execute(f"CREATE VIEW events AS SELECT * FROM read_parquet('{path}')")
        events, cases = connection.execute(
            "SELECT count(*), count(DISTINCT case_id) FROM events"
        ).fetchone() or (0, 0)
        log = EventLog(connection, "", events, cases, (), RECORDS)
        tally = Tally()
        for part in checked_in_parts(check(RULE, RECORDS, log), log):
            tally.add(part)
            print(f"part {part.number} of {part.of}: {time.perf_counter() - start:.1f} s", file=sys.stderr)
    counts: dict[str, int] = {}
    for (_, verdict, _), rows in tally.instances.items():
        counts[verdict] = counts.get(verdict, 0) + rows
    return {
        "events": events,
        "cases": cases,
        "seconds": round(time.perf_counter() - start, 1),
        "processor seconds": round(sum(os.times()[:4]), 1),
        "verdicts": counts,
    }


def peak(process: int) -> int:
    """Bytes of memory that a process and its children hold, what they share counted once."""
    held = 0
    for number in (process, *children(process)):
        with suppress(OSError):
            for line in Path(f"/proc/{number}/smaps_rollup").read_text().splitlines():
                held += int(line.split()[1]) * 1024 if line.startswith("Pss:") else 0
    return held


def children(process: int) -> Iterator[int]:
    """Processes that a process has begun, and theirs."""
    with suppress(OSError):
        for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
            yield int(child)
            yield from children(int(child))


def measured(path: Path) -> dict[str, object]:
    """Check a log in a process of its own; adds the most memory and disk that it held."""
    most = spilled = 0
    with subprocess.Popen(
        [sys.executable, __file__, "--log", str(path)], stdout=subprocess.PIPE, text=True
    ) as child:
        while child.poll() is None:
            most = max(most, peak(child.pid))
            with suppress(OSError):
                spilled = max(spilled, sum(f.stat().st_size for f in path.parent.glob("spilled/*")))
            time.sleep(0.2)
        said = child.stdout.read() if child.stdout else ""
    if child.returncode:
        raise SystemExit(child.returncode)
    return json.loads(said) | {"GB": round(most / 1e9, 2), "spilled GB": round(spilled / 1e9, 2)}


def main() -> None:
    """Print one line per log, and write them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="*", type=float, default=[1e6, 2e6, 4e6])
    parser.add_argument("--shapes", nargs="*", choices=("even", "skewed"), default=["even", "skewed"])
    parser.add_argument(
        "--folder", type=Path, help="where logs are made and removed again; the system's unless given"
    )
    parser.add_argument("--out", type=Path, help="file for the figures (JSON lines), which are added")
    parser.add_argument("--log", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.log:
        print(json.dumps(audited(given.log)))
        return
    for shape in given.shapes:
        before: tuple[int, float] | None = None
        for size in map(int, given.sizes):
            with tempfile.TemporaryDirectory(dir=given.folder) as folder:
                path = Path(folder) / "log.parquet"
                make(path, size, skewed=shape == "skewed")
                found = {
                    "engine": "duckdb",
                    "shape": shape,
                    "log GB": round(path.stat().st_size / 1e9, 2),
                } | measured(path)
            seconds = float(str(found["processor seconds"]))
            if before:
                found["growth per doubling"] = round(
                    (seconds / before[1]) ** (1 / math.log2(size / before[0])), 2
                )
            before = size, seconds
            found["load"] = round(os.getloadavg()[0], 1)
            print(json.dumps(found), flush=True)
            if given.out:
                with given.out.open("a") as file:
                    file.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
