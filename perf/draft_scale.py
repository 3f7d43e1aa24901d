"""Speed of drafting: candidate construction, graph compilation, and every goal with every seed in one batch
of chains.

Run ``python perf/draft_scale.py [--json PATH]``. Seconds are the processor's. Beside each median stands the figure of the fastest round,
which other work on the machine slows least. How fast the kernels are, and what they are worth, is measured by
``perf/inference``.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.append(
    str(Path(__file__).resolve().parents[1])
)  # runs without an installation too; last, for it has an "inference" as well

from inference.common import clock, place, seconds_of

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.benchmarks.gnrs_bench import goals
from gnrs_ppl.calibration.weights import DEFAULT_WEIGHTS
from gnrs_ppl.candidates.build import build_pools
from gnrs_ppl.inference.chains import _compiled, run_many
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, Tables, contract
from gnrs_ppl.models.graph import compile_graph
from gnrs_ppl.versions import versions

CHAINS, STEPS, SEEDS = 64, 200, (0, 1, 2)
STATISTICS: dict[str, Callable[[Sequence[float]], float]] = {"median": statistics.median, "fastest": min}


class Row(NamedTuple):
    """A figure by statistic, with its aim where it has one."""

    what: str
    figures: dict[str, float]
    form: str
    aim: float | None = None

    def verdict(self) -> str:
        """The aim, and whether the median meets it."""
        return (
            ""
            if self.aim is None
            else f"aim {self.aim:g}: {'met' if self.figures['median'] <= self.aim else 'missed'}"
        )


def over(rounds: Sequence[float]) -> dict[str, float]:
    return {name: statistic(rounds) for name, statistic in STATISTICS.items()}


def build_all() -> tuple[dict[str, Tables], list[float], list[float]]:
    """Tables of every goal, and the milliseconds of candidate construction and graph compilation; looks
    at no truth."""
    spaces, construction, compilation = {}, [], []
    for goal in goals():
        context = load_context(goal.id)
        _ = context.profile  # read once for a family
        began = clock()
        pools = build_pools(context).pools
        built = clock()
        graph = compile_graph(context, pools)
        construction.append(1e3 * (built - began))
        compilation.append(1e3 * (clock() - built))
        spaces[goal.id] = contract(graph.space, DEFAULT_WEIGHTS.array())
    return spaces, construction, compilation


def batch_rows(spaces: dict[str, Tables]) -> list[Row]:
    """Every goal with every seed, one ``run_many`` per seed, and how often the sampler was compiled for
    it.
    """

    def run(seed: int) -> float:
        request = {"chains": CHAINS, "steps": STEPS, "temperature": SEARCH_TEMPERATURE, "names": [*spaces]}
        return sum(chains.wall_seconds for chains in run_many([*spaces.values()], **request, seed=seed))

    _compiled.cache_clear()
    first = seconds_of(lambda: run(SEEDS[0]))
    kernel: list[float] = []
    seconds = [seconds_of(lambda: kernel.append(sum(run(seed) for seed in SEEDS))) for _ in range(3)]
    steps = len(spaces) * len(SEEDS) * CHAINS * STEPS
    title = f"{len(spaces)} goals x {len(SEEDS)} seeds x {CHAINS} chains x {STEPS} steps"
    return [
        Row(f"{title}, s", over(seconds), ".2f", 0.6),
        Row("  of these in the compiled sampler, s", over(kernel), ".2f"),
        Row(
            "  steps/s in the compiled sampler",
            {name: steps / value for name, value in over(kernel).items()},
            ",.0f",
        ),
        Row("  compilations of the sampler", {"median": _compiled.cache_info().misses}, ".0f", 4),
        Row("  first call of one seed, with compilation, s", {"median": first}, ".2f"),
    ]


def time_rows(what: str, milliseconds: Sequence[float], aim: float | None = None) -> list[Row]:
    """Median and greatest over goals."""
    return [
        Row(f"{what}, ms, median of goals", {"median": statistics.median(milliseconds)}, ".1f", aim),
        Row(f"{what}, ms, greatest", {"median": max(milliseconds)}, ".1f", aim),
    ]


def main() -> None:
    began, load = time.perf_counter(), os.getloadavg()[0]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the figures there too")
    path = parser.parse_args().json
    spaces, construction, compilation = build_all()
    rows = [
        *batch_rows(spaces),
        *time_rows("candidate construction", construction, 50.0),
        *time_rows("graph compilation", compilation),
    ]
    where = place(load)
    print(", ".join(f"{name} {value}" for name, value in where.items()))
    print(f"{'':<56}" + "".join(f"{name:>14}" for name in STATISTICS))
    for row in rows:
        cells = "".join(
            f"{format(row.figures[name], row.form) if name in row.figures else '':>14}" for name in STATISTICS
        )
        print(f"{row.what:<56}{cells}  {row.verdict()}".rstrip())
    seconds = time.perf_counter() - began
    print(f"{'the whole of this script, s':<56}{seconds:>14.0f}")
    if path is not None:
        figures = [
            {"what": r.what.strip(), "figures": r.figures, "aim": r.aim, "verdict": r.verdict() or None}
            for r in rows
        ]
        path.write_text(
            json.dumps(
                {"device": where, "versions": versions(), "rows": figures, "seconds": seconds}, indent=2
            )
            + "\n"
        )


if __name__ == "__main__":
    main()
