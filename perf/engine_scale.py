"""Seconds, peak memory and growth of ``gnrs audit`` on logs that do not fit into memory: 10^6, 10^7, 10^8 events.

Run ``python perf/engine_scale.py --sizes 1e6 1e7``; 10^8 wants 30 GB of disk. Logs are made on disk as Parquet, in the order of time, their
case ids without order: cases of ten events, or (skewed) one case with a tenth of all events and activities by Zipf.
The rule has a deadline with an exception, and a look-back.
Memory is what the command and its children hold, as the kernel counts it.
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
from typing import Any

import duckdb

SEED = 20
MEMORY, THREADS = "4GiB", 2
ACTIVITIES = ("request", "note", "register", "answer", "check", "remind", "withdraw", "close")
RULE = {
    "rule": {
        "trigger": {"act": {"activity": "request"}, "channel": "desk"},
        "norm": {
            "constraints": [
                {"template": "response", "target": "answer", "deadline": "PT8H", "unless": "withdraw"},
                {"template": "precedence", "target": "register", "deadline": "P2D"},
            ]
        },
        "evidence": {"channels": ["desk"], "operator": "any"},
        "procedure": {"steps": [{"stage": "review", "name": "review", "role": "auditor"}]},
    },
    "records": {"channels": [{"name": "desk", "activities": ACTIVITIES, "closed_world": True}]},
}
# 5,000 cases go on at any time, an event of each every half hour
LOG = """
SELECT format('{:08d}', i) AS event_id, format('{:016x}', hash(c + $seed)) AS case_id,
       $activities[CASE WHEN $skewed THEN floor(power(9, u)) ELSE 1 + floor(u * 8) END::INTEGER] AS activity,
       timezone('UTC', TIMESTAMP '2024-01-01' + to_milliseconds(i * 360) + to_seconds((hash(i + $seed + 1) % 600)::BIGINT))
       AS "timestamp", 'clerk ' || hash(i + $seed + 2) % 500 AS resource, 'desk' AS channel
FROM (SELECT i, CASE WHEN $skewed AND i % 10 = 0 THEN -1 ELSE i // 50000 * 5000 + i % 5000 END AS c,
             (hash(i + $seed) % 1000003) / 1000003 AS u FROM range($events) AS r(i))
"""


def make(path: Path, events: int, *, skewed: bool) -> None:
    """Write a log."""
    given = {"events": events, "skewed": skewed, "seed": SEED, "activities": list(ACTIVITIES)}
    with duckdb.connect(config={"memory_limit": MEMORY, "threads": THREADS}) as connection:
        connection.execute(f"COPY ({LOG}) TO '{path}' (FORMAT parquet)", given)


def held(process: int) -> int:
    """Bytes of memory that a process and its children hold, what they share counted once."""
    found = 0
    for number in (process, *children(process)):
        with suppress(OSError):
            for line in Path(f"/proc/{number}/smaps_rollup").read_text().splitlines():
                found += int(line.split()[1]) * 1024 if line.startswith("Pss:") else 0
    return found


def children(process: int) -> Iterator[int]:
    """Processes that a process has begun, and theirs."""
    with suppress(OSError):
        for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
            yield int(child)
            yield from children(int(child))


def measured(folder: Path, log: Path) -> dict[str, Any]:
    """Audit a log by the command; what it says, and the most memory and disk that it held."""
    rule, spilled = folder / "rule.json", folder / "temporary"
    rule.write_text(json.dumps(RULE))
    spilled.mkdir()
    command = [sys.executable, "-m", "gnrs_ppl", "audit", "--rule", str(rule), "--log", str(log), "--json"]
    most = disk = 0
    start, used = time.perf_counter(), sum(os.times()[2:4])
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": str(spilled)}
    ) as child:
        while child.poll() is None:
            most = max(most, held(child.pid))
            with suppress(OSError):
                disk = max(disk, sum(file.stat().st_blocks * 512 for file in spilled.rglob("*")))
            time.sleep(0.2)
        said = json.loads(child.stdout.read()) if child.stdout and child.returncode in (0, 1) else None
    if said is None:
        raise SystemExit(f"the audit ended with {child.returncode}")
    return {
        "events": said["log"]["events"],
        "cases": said["log"]["cases"],
        "seconds": round(time.perf_counter() - start, 1),
        "processor seconds": round(sum(os.times()[2:4]) - used, 1),
        "GB of memory": round(most / 1e9, 2),
        "GB of disk": round(disk / 1e9, 2),
        "verdicts": said["counts"],
    }


def main() -> None:
    """Print one line per log, and write them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="*", type=float, default=[1e6, 2e6, 4e6])
    parser.add_argument("--shapes", nargs="*", choices=("even", "skewed"), default=["even", "skewed"])
    parser.add_argument(
        "--folder", type=Path, help="where logs are made and removed again; the system's unless given"
    )
    parser.add_argument("--out", type=Path, help="file for the figures (JSON lines), which are added")
    given = parser.parse_args()
    for shape in given.shapes:
        before: tuple[int, float] | None = None
        for size in map(int, given.sizes):
            with tempfile.TemporaryDirectory(dir=given.folder) as folder:
                log = Path(folder) / "log"
                log.mkdir()
                make(log / "part.parquet", size, skewed=shape == "skewed")
                found = {"engine": "duckdb", "shape": shape} | measured(Path(folder), log)
            seconds = found["processor seconds"]
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
