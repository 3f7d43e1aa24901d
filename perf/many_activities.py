"""What a log of many activities costs: ``gnrs import``, ``goal new`` and ``draft`` on a log of 2,000 of them.

Run ``python perf/many_activities.py [ACTIVITIES]``. The log has ten events an activity: verb and object, states of
objects, and codes, as ERP systems and ticket systems name them. Each verb is a process of its own, as a user
starts it; the first draft compiles the sampler. Seconds of processors stand beside the clock's.
"""

from __future__ import annotations

import csv
import itertools
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[1]
VERBS = """approve archive assess assign book cancel check close collect confirm create deliver enter escalate
forward inspect issue log notify open pay post print receive record refund register reject release remind request
review schedule send sign submit transfer update verify withdraw"""
STATES = """approved archived assigned blocked booked cancelled checked closed confirmed created delivered
escalated expired forwarded issued opened paid posted received rejected released reviewed signed submitted
withdrawn"""
KINDS = """purchase sales service credit travel insurance annual internal final preliminary external monthly
cancelled urgent standard"""
OBJECTS = """order invoice request claim contract ticket application report delivery payment permit license
complaint offer reservation certificate quotation shipment budget protocol appeal sample account policy"""
SENTENCE = "The clerk must approve the purchase order within 5 days after the sales invoice was received."
AIMS = {"goal new": 4, "draft": 8}


def labels(count: int) -> list[str]:
    """That many different names of activities: three of five verb and object, one state, one code."""
    verbs, states_of, kinds, objects = (words.split() for words in (VERBS, STATES, KINDS, OBJECTS))
    acts = (
        f"{verb} {kind} {thing}".capitalize()
        for kind, thing, verb in itertools.product(kinds, objects, verbs)
    )
    states = (
        f"{kind.capitalize()} {thing} {state}"
        for kind, thing, state in itertools.product(kinds, objects, states_of)
    )
    codes = (f"{'ABCT'[number % 4]}{number // 90 + 10}_{number:04d}" for number in itertools.count(1))
    return [next((acts, acts, acts, states, codes)[number % 5]) for number in range(count)]


def rows(count: int, seed: int = 0) -> Iterator[list[str]]:
    """Ten events an activity, in cases of twenty."""
    random, names = Random(seed), labels(count)
    begin = datetime(2024, 1, 1)
    for number in range(10 * count):
        case = number // 20
        moment = begin + timedelta(minutes=37 * case + 60 * (number % 20) + random.randrange(50))
        act = names[number] if number < count else random.choice(names)
        yield [f"c{case:05d}", act, f"{moment:%Y-%m-%dT%H:%M:%S}Z", f"p{random.randrange(40):02d}", "clerk"]


def write_log(path: Path, count: int) -> None:
    """A CSV file of them."""
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["case", "activity", "time", "resource", "role"])
        out.writerows(rows(count))


def taken(*arguments: str) -> tuple[float, float]:
    """Seconds of ``gnrs`` with these arguments: of the clock, and of processors."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "gnrs_ppl", *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    clock, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the seconds of each verb."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    with tempfile.TemporaryDirectory() as folder:
        log, made = Path(folder) / "log.csv", Path(folder) / "made"
        write_log(log, count)
        for name, arguments in {
            "import": ["import", str(log), "--out", str(made)],
            "lint": ["lint", str(made / "context.yaml")],
            "goal new": ["goal", "new", str(made / "context.yaml"), "--sentence", SENTENCE, "--yes"],
            "first draft": ["draft", str(made / "context.yaml"), "--out", f"{folder}/compiled"],
            "draft": ["draft", str(made / "context.yaml"), "--out", f"{folder}/rule"],
        }.items():
            clock, processors = taken(*arguments)
            aim = f"  aim {AIMS[name]} s" if name in AIMS else ""
            print(f"{name:12} {clock:6.1f} s  ({processors:.1f} s of processors){aim}", flush=True)


if __name__ == "__main__":
    main()
