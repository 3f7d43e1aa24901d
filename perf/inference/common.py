"""What the parts share: how much is measured, tables, timing, and how a row is shown.

Other work on the machine takes wall time and not the processor's, so on CPUs every clock here is that of the
process, all threads together: the samplers' own too. What runs on two threads is no faster by it.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import jax
import numpy as np
from arviz_stats.base import array_stats

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.benchmarks.gnrs_bench import goals
from gnrs_ppl.calibration.weights import DEFAULT_WEIGHTS
from gnrs_ppl.candidates.build import pools_of
from gnrs_ppl.inference import chains, cpsat, smc, sweep
from gnrs_ppl.inference.chains import observe_chains, run_chains
from gnrs_ppl.inference.observe import best
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE as TAU
from gnrs_ppl.models.energy import Tables, contract, padded
from gnrs_ppl.models.graph import compile_graph
from gnrs_ppl.versions import versions


def clock() -> float:
    return time.process_time() if jax.default_backend() == "cpu" else time.perf_counter()


for module in (chains, cpsat, smc, sweep):
    module.time = SimpleNamespace(perf_counter=clock)  # type: ignore[attr-defined]

ROOT = Path(__file__).resolve().parents[1]
GOALS = ("GNRS-005", "GNRS-052")  # dev goals: an ordinary one, and the one with most structures
REACHED = 1e-5  # chains score in float32
MARGINAL_ERROR = 0.02
NEAR = 0.01  # how far from the bound is near enough on a set of coupled rules


class Size(NamedTuple):
    """How much is measured."""

    chains: tuple[int, ...]
    repeats: int
    second: float  # how long one timed run should take, in seconds
    longest: float  # combinations that would take longer are skipped
    goals: int
    seeds: tuple[int, ...]
    coupled: tuple[tuple[int, int], ...]
    graded: tuple[tuple[int, int], ...]
    # seconds after which a method is not started again on a set of coupled rules; the last run may take
    # longer
    patience: float
    solver: float
    solver_graded: float


FULL = Size(
    chains=(64, 1024, 4096, 65536, 10**6),
    repeats=3,
    second=0.5,
    longest=60.0,
    goals=16,
    seeds=(0, 1, 2),
    coupled=((8, 32), (16, 32), (8, 256)),
    graded=((8, 32), (16, 32)),
    patience=2.0,
    solver=60.0,
    solver_graded=8.0,
)
QUICK = Size((64, 1024), 2, 0.05, 1.0, 2, (0,), ((2, 32), (8, 32)), ((2, 32),), 1.0, 5.0, 2.0)

Row = dict[str, Any]


@cache
def goal_tables() -> dict[str, Tables]:
    """The 16 dev goals at the default weights."""
    found = {}
    for goal in goals():
        if goal.split == "dev":
            context = load_context(goal.id)
            found[goal.id] = contract(
                compile_graph(context, pools_of(context).pools).space, DEFAULT_WEIGHTS.array()
            )
    return found


def alike(spaces: Sequence[Tables]) -> list[Tables]:
    """Padded to one shape, so that all of them share compiled programs."""
    options, pairs = max(t.unary.shape[1] for t in spaces), max(len(t.pairs) for t in spaces)
    return [padded(t, options, pairs) for t in spaces]


def seconds_of(work: Callable[[], Any]) -> float:
    began = clock()
    jax.block_until_ready(work())
    return clock() - began


class Run(NamedTuple):
    """One timed run: chain steps, energy evaluations, seconds running and compiling."""

    steps: int
    evaluations: int
    wall: float
    compile: float


def observed(tables: Tables, kernel: str, chains: int, steps: int) -> Run:
    found = observe_chains(
        tables, {"best": best()}, chains=chains, steps=steps, temperature=TAU, seed=0, kernel=kernel
    )
    return Run(chains * steps, found.energy_evaluations, found.wall_seconds, found.compile_seconds)


def recorded(tables: Tables, kernel: str, chains: int, steps: int) -> Run:
    found = run_chains(tables, chains=chains, steps=steps, temperature=TAU, seed=0, kernel=kernel)
    return Run(chains * steps, found.energy_evaluations, found.wall_seconds, found.compile_seconds)


def effective(scores: np.ndarray) -> float:
    """Effective number of draws of s_search, (chains, draws), its second half (ArviZ, bulk)."""
    return float(array_stats.ess(scores[:, scores.shape[1] // 2 :], chain_axis=0, draw_axis=1))


def isolated(name: str, work: Callable[[], Iterator[Row]]) -> Iterator[Row]:
    """Rows as they come; what stops them becomes one."""
    try:
        yield from work()
    except ImportError as missing:
        yield {"what": name, "status": f"not installed: {missing.name}"}
    except Exception as failure:  # one part must not stop the others
        yield {"what": name, "status": f"failed: {type(failure).__name__}: {str(failure)[-300:]}"}


def cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return "-" if value is None else str(value)


def show(name: str, row: Row) -> None:
    print(f"{name}: " + ", ".join(f"{what} {cell(value)}" for what, value in row.items()), flush=True)


def cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    return next(
        (line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor()
    )


def place(load: float) -> dict[str, Any]:
    """What it runs on; ``load`` is the machine's before it began."""
    device = jax.devices()[0]
    return {
        "platform": platform.platform(),
        "cpu": cpu(),
        "cores": os.cpu_count(),
        "device": f"{device.platform} {device.device_kind}",
        "devices": jax.device_count(),
        "load before": round(load, 2),
    }


def package_versions() -> dict[str, str]:
    found = versions()
    for package in ("jaxlib", "numba", "ortools", "pymc", "numpyro"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
