"""Steps and energy evaluations per second of every kernel by number of chains; of kernels that step nothing
is recorded."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator

import jax
import jax.numpy as jnp
import numpy as np

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference.chains import STEPPERS, run_chains
from gnrs_ppl.inference.starts import draw_prior
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE as TAU
from gnrs_ppl.models.energy import Tables
from gnrs_ppl.models.packed import unpack
from inference.common import (
    GOALS,
    QUICK,
    Row,
    Run,
    Size,
    effective,
    goal_tables,
    observed,
    recorded,
    seconds_of,
)
from inference.pallas_steps import BLOCK, Walk
from inference.yardsticks import bits_alone

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


def in_one_kernel(size: Size, interpret: bool) -> Iterator[Row]:
    """Metropolis by Pallas: its draws beside those of ``run_chains``, then steps a second beside XLA's and
    the random bits alone, and beside the words that the memory copies; medians of seconds.
    """
    if interpret:
        yield {"status": "interpreted: no GPU was run"}
    elif jax.default_backend() != "gpu":
        yield {"status": "skipped: no GPU"}
        return
    for goal in GOALS:
        tables = goal_tables()[goal]
        walk = Walk(tables, TAU, interpret)
        found = run_chains(tables, chains=2 * BLOCK, steps=50, temperature=TAU, seed=0)
        _, _, draws = walk(0, found.starts, 50, True)
        same = (unpack(draws, *tables.unary.shape) == found.positions.swapaxes(0, 1)).mean()
        row: Row = {"goal": goal, "options equal to those of run_chains": float(same)}
        if interpret:
            yield row | {"lowered to Triton": "triton" in Walk(tables, TAU).lowered(found.starts, 50)}
            continue
        yield row
        for chains in size.chains[1:]:
            yield {"goal": goal, "chains": chains} | _timed(size, walk, tables, chains, 200)


def _timed(size: Size, walk: Walk, tables: Tables, chains: int, steps: int) -> Row:
    much, keys = jnp.zeros(2**28, jnp.uint32), jax.random.split(jax.random.key(0), steps)
    starts = jnp.asarray(draw_prior(tables, chains, np.random.default_rng(0)))
    copy, bits = jax.jit(lambda words: words + 1), bits_alone(chains, steps)
    number, given = chains * steps, walk.given(0, starts)  # its keys are made one operation at a time
    works: dict[str, tuple[int, Callable[[], float]]] = {
        "pallas": (number, lambda: seconds_of(lambda: walk.walk(*given, steps, False))),
        "pallas, recorded": (number, lambda: seconds_of(lambda: walk.walk(*given, steps, True))),
        "XLA": (number, lambda: observed(tables, "metropolis", chains, steps).wall),
        "bits alone": (number, lambda: seconds_of(lambda: bits(keys))),
        "words copied": (2 * much.size, lambda: seconds_of(lambda: copy(much))),
    }
    taken = [{what: work() for what, (_, work) in works.items()} for _ in range(size.repeats + 1)][1:]
    rates = {what: each / statistics.median(t[what] for t in taken) for what, (each, _) in works.items()}
    return {f"{what}/s": rate for what, rate in rates.items()} | {
        "pallas / XLA": rates["pallas"] / rates["XLA"],
        "pallas / bits alone": rates["pallas"] / rates["bits alone"],
        "pallas, recorded / words copied": rates["pallas, recorded"] / rates["words copied"],
    }
