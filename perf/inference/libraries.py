"""PyMC and NumPyro on the same tables."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import jax
import numpy as np

from gnrs_ppl.models.energy import SEARCH_TEMPERATURE as TAU
from gnrs_ppl.models.energy import Tables
from inference.common import GOALS, QUICK, ROOT, Row, Size, goal_tables, isolated, seconds_of


def libraries(size: Size, pymc_python: str) -> Iterator[Row]:
    tables, chains, draws = goal_tables()[GOALS[1]], 64, 10 if size is QUICK else 500
    yield from isolated("NumPyro DiscreteGibbs", lambda: numpyro_speed(tables, chains, draws))
    yield from isolated(
        "PyMC CategoricalGibbsMetropolis",
        lambda: pymc_speed(tables, pymc_python, 20 if size is QUICK else 500),
    )


def numpyro_speed(tables: Tables, chains: int, draws: int) -> Iterator[Row]:
    from numpyro.infer import MCMC, DiscreteGibbs

    from gnrs_ppl.models.program import rule_program

    def seconds(number: int) -> float:
        sampler = MCMC(
            DiscreteGibbs(rule_program, modified=False),
            num_warmup=0,
            num_samples=number,
            num_chains=chains,
            chain_method=jax.vmap,
            progress_bar=False,
        )
        return seconds_of(lambda: (sampler.run(jax.random.key(0), tables, TAU), sampler.get_samples())[1])

    # It compiles at every call, so that running takes what more draws take longer.
    seconds(draws)
    few, many = (min(seconds(number) for _ in range(2)) for number in (draws, 11 * draws))
    row: Row = {"what": f"NumPyro DiscreteGibbs, {chains} chains", "compile": few}
    if many < 1.2 * few:
        yield row | {"status": f"compiling hides the running: {many:.2f} s for eleven times the draws"}
        return
    sweeps_a_second = 10 * chains * draws / (many - few)
    rates = {
        "slot updates/s": sweeps_a_second * len(tables.sizes),
        "evaluations/s": sweeps_a_second * int(tables.sizes.sum()),
    }
    yield row | rates


def pymc_speed(tables: Tables, python: str, draws: int) -> Iterator[Row]:
    arrays = {
        name: getattr(tables, name)
        for name in ("sizes", "log_prior", "unary", "unary_flags", "pairs", "pairwise", "pair_flags")
    }
    path = Path(os.environ.get("TMPDIR", "/tmp")) / f"pymc_tables_{os.getpid()}.npz"
    np.savez(path, penalty=tables.penalty, temperature=TAU, draws=draws, **arrays)
    try:
        done = subprocess.run(
            [python, str(ROOT / "pymc_gibbs.py"), str(path)], capture_output=True, text=True, check=False
        )
    finally:
        path.unlink()
    if "No module named 'pymc'" in done.stderr:
        raise ImportError(name="pymc")
    if done.returncode:
        raise RuntimeError(done.stderr[-300:])
    yield {"what": "PyMC CategoricalGibbsMetropolis, 1 chain"} | json.loads(done.stdout.splitlines()[-1])
