"""Enumeration of the dev goals, and the sweep of a space of many structures."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice

from gnrs_ppl.inference.exact import enumerate_space, number_of_states
from gnrs_ppl.inference.sweep import sweep
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE as TAU
from inference.common import QUICK, ROOT, Row, Size, goal_tables, seconds_of


def sweeps(size: Size) -> Iterator[Row]:
    for name, tables in islice(goal_tables().items(), size.goals):
        enumerating = statistics.median(
            seconds_of(lambda t=tables: enumerate_space(t)) for _ in range(size.repeats)
        )
        sweeping = statistics.median(seconds_of(lambda t=tables: sweep(t, TAU)) for _ in range(size.repeats))
        states = number_of_states(tables)
        yield {
            "goal": name,
            "states": states,
            "enumerate, ms": 1e3 * enumerating,
            "sweep, ms": 1e3 * sweeping,
            "states/s": states / sweeping,
        }
    yield large_sweep(20 if size is QUICK else 49)


LARGE_SWEEP = """
import json, re, sys; sys.path[:0] = sys.argv[1:2]
from inference.common import TAU, seconds_of
from gnrs_ppl.inference import sweep
from gnrs_ppl.inference.exact import number_of_states
from gnrs_ppl.models import coupled_rules
def peak():  # of this process alone; getrusage would hand on the parent's
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
tables = coupled_rules(1, int(sys.argv[2]), 0)
sweep.sweep(coupled_rules(1, 8, 0), TAU)
before = peak()
seconds = seconds_of(lambda: sweep.sweep(tables, TAU))
print(json.dumps({"states": number_of_states(tables), "sweep, ms": 1e3 * seconds, "MiB before": before, "MiB at most": peak()}))
"""


def large_sweep(options: int) -> Row:
    """A rule of five slots with pair marginals, in a process of its own, whose peak memory tells what the
    sweep took."""
    row: Row = {"goal": f"charter of one rule, {options} options a slot"}
    done = subprocess.run(
        [sys.executable, "-c", LARGE_SWEEP, str(ROOT), str(options)],
        capture_output=True,
        text=True,
        check=False,
    )
    return row | (
        json.loads(done.stdout) if done.returncode == 0 else {"status": f"failed: {done.stderr[-200:]}"}
    )
