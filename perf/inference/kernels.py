"""Steps and energy evaluations per second of every kernel by number of chains; of kernels that step nothing
is recorded."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference.chains import STEPPERS, run_chains
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE as TAU
from gnrs_ppl.models.energy import Tables
from inference.common import GOALS, QUICK, Row, Run, Size, effective, goal_tables, observed, recorded

RUNS: dict[str, tuple[Callable[[Tables, str, int, int], Run], str]] = {
    "metropolis": (observed, "chain steps"),
    "gibbs": (observed, "chain steps"),
    "informed": (observed, "chain steps"),
    "tempering": (recorded, "steps of ladders of 8"),
    "smc": (recorded, "particles"),
    "exact": (recorded, "independent draws"),
}
"""How a kernel is timed, and what its steps are: of smc every particle counts once, with 8 mutations at each
of its temperatures."""
FIRST_RATE = 1e5


def kernel_speeds(size: Size) -> Iterator[Row]:
    tables = goal_tables()[GOALS[1]]
    for kernel, (run, unit) in RUNS.items():
        rate = FIRST_RATE
        for chains in size.chains:
            steps = {"smc": 8, "exact": 1}.get(kernel) or min(200, max(4, round(size.second * rate / chains)))
            counted = chains if kernel == "smc" else chains * steps
            row: Row = {"kernel": kernel, "chains": chains, "steps": steps, "unit": unit}
            if counted / rate > size.longest:
                yield row | {"status": f"skipped: would take {counted / rate:.0f} s"}
                continue
            try:
                first = run(tables, kernel, chains, steps)
                runs = [
                    run(tables, kernel, chains, steps) for _ in range(size.repeats if first.wall < 5 else 1)
                ]
            except InputError as refusal:
                yield row | {"status": f"refused: {refusal}"}
                continue
            wall = statistics.median(r.wall for r in runs)
            rate = counted / wall
            yield row | {
                "steps/s": rate,
                "evaluations/s": first.evaluations / wall,
                "seconds": wall,
                "compile": first.compile,
            }
    chains, steps = 64, 100 if size is QUICK else 2000
    for kernel in STEPPERS:
        request: Row = {"chains": chains, "steps": steps, "temperature": TAU, "seed": 0, "kernel": kernel}
        run_chains(tables, **request)  # once to compile
        found = run_chains(tables, **request)
        ess = effective(found.score)
        yield {
            "kernel": kernel,
            "chains": chains,
            "steps/s": chains * steps / found.wall_seconds,
            "ESS/s": 2 * ess / found.wall_seconds,
            "steps a draw": chains * steps / 2 / ess,
        }
