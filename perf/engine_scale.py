"""Seconds, peak memory and growth of ``gnrs audit`` on logs that do not fit into memory: 10^6, 10^7, 10^8 events.

Run ``python perf/engine_scale.py --sizes 1e6 1e7``; 10^8 wants 30 GB of disk. Logs are made on disk as Parquet, in the order of time, their
case ids without order: cases of ten events, or (skewed) one case with a tenth of all events and activities by Zipf.
The rule has a deadline with an exception, and a look-back.
With ``--engine postgresql`` the log is put into a server of its own first, as Debian sets one up (which is not timed).
Memory and processor time are those of the command, its children and the server, as the kernel counts them. Of
every engine but DuckDB it is said how many verdicts are others than DuckDB's, by constraint and reason.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from postgres import PASSWORD, cluster

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


def worked(process: int) -> float:
    """Processor seconds of a process, of those it has begun, and of those among them that have ended."""
    ticks = 0
    for number in (process, *children(process)):
        with suppress(OSError):
            cells = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, cells[11:15] if number == process else cells[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


class Place(NamedTuple):
    """Where a log is: what the command is told of it, and the server that holds it, with its temporary files."""

    options: tuple[str, ...]
    server: int | None = None
    spilled: Path | None = None


@contextmanager
def on_postgresql(log: Path) -> Iterator[Place]:
    """A log as a table of a server of its own."""
    from pg8000.native import Connection

    cells = log.parent / "log.csv"
    with duckdb.connect(config={"memory_limit": MEMORY, "threads": THREADS}) as connection:
        rows = connection.read_parquet(f"{log}/*.parquet")
        columns = ", ".join(
            f'"{name}" {"timestamptz" if name == "timestamp" else "text"}' for name in rows.columns
        )
        rows.write_csv(str(cells), header=False)
    with cluster() as port:
        with closing(
            Connection("auditor", host="127.0.0.1", port=port, database="postgres", password=PASSWORD)
        ) as connected:
            connected.run(f"CREATE TABLE log ({columns})")
            with cells.open("rb") as stream:
                connected.run("COPY log FROM STDIN WITH (FORMAT csv)", stream=stream)
            connected.run("VACUUM ANALYZE log")
            ((folder, backend),) = connected.run("SELECT current_setting('data_directory'), pg_backend_pid()")
            server = int(Path(f"/proc/{backend}/stat").read_text().rpartition(")")[2].split()[1])
        cells.unlink()
        yield Place(
            (
                "--on",
                f"postgresql://auditor:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{port}/postgres?table=log",
            ),
            server,
            Path(folder) / "base" / "pgsql_tmp",
        )


@contextmanager
def on_duckdb(log: Path) -> Iterator[Place]:
    """A log as it lies."""
    yield Place(("--log", str(log)))


@contextmanager
def on_spark(log: Path) -> Iterator[Place]:
    """A log as it lies, for Spark in a process of the command's own."""
    yield Place(("--on", f"spark://{log}/*.parquet"))


ENGINES = {"duckdb": on_duckdb, "postgresql": on_postgresql, "spark": on_spark}


def measured(folder: Path, place: Place) -> tuple[dict[str, Any], Counter[Any]]:
    """Audit a log by the command: how large it is and what the audit took, and verdicts by constraint and reason."""
    rule, spilled = folder / "rule.json", folder / "temporary"
    rule.write_text(json.dumps(RULE))
    spilled.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "gnrs_ppl", "audit", "--rule", str(rule), *place.options, "--json"]
    watched = [spilled, *([place.spilled] if place.spilled else [])]
    most, disk, used = 0, 0, 0.0
    start = time.perf_counter()
    before = worked(place.server) if place.server else 0.0
    answer = folder / "answer.json"
    with (
        answer.open("w") as output,
        subprocess.Popen(
            command,
            stdout=output,
            env=os.environ | {"TMPDIR": str(spilled), "SPARK_LOCAL_DIRS": str(spilled)},
        ) as child,
    ):
        while child.poll() is None:
            used = max(used, worked(child.pid))
            most = max(most, held(child.pid) + (held(place.server) if place.server else 0))
            with suppress(OSError):
                files = (file for place_of in watched for file in place_of.rglob("*"))
                disk = max(disk, sum(file.stat().st_blocks * 512 for file in files))
            time.sleep(0.2)
    if child.returncode not in (0, 1):
        raise SystemExit(f"the audit ended with {child.returncode}")
    said = json.loads(answer.read_text())
    served = worked(place.server) - before if place.server else 0.0
    figures = {
        "events": said["log"]["events"],
        "cases": said["log"]["cases"],
        "seconds": round(time.perf_counter() - start, 1),
        "processor seconds": round(used + served, 1),
        "GB of memory": round(most / 1e9, 2),
        "GB of disk": round(disk / 1e9, 2),
        "verdicts": said["counts"],
    }
    reasons = {
        (part["name"], verdict, reason): rows
        for part in said["constraints"]
        for verdict, counted in part["reasons"].items()
        for reason, rows in counted.items()
    }
    return figures, Counter(reasons)


def differences(ours: Counter[Any], theirs: Counter[Any]) -> int:
    """How many verdicts are others."""
    return max((ours - theirs).total(), (theirs - ours).total())


def main() -> None:
    """Print one line per log, and write them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=ENGINES, default="duckdb")
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
                with ENGINES[given.engine](log) as place:
                    figures, verdicts = measured(Path(folder), place)
                found = {"engine": given.engine, "shape": shape} | figures
                if given.engine != "duckdb":
                    with on_duckdb(log) as place:
                        found["verdict differences"] = differences(verdicts, measured(Path(folder), place)[1])
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
