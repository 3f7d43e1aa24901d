"""PyMC and NumPyro on the same tables."""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import jax
import numpy as np

from gnrs_ppl.inference.chains import run_chains
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE as TAU
from gnrs_ppl.models.energy import Tables, score
from inference.common import GOALS, QUICK, ROOT, Row, Size, effective, goal_tables, isolated, seconds_of

OURS: tuple[tuple[str, Row], ...] = (("gibbs", {"block_probability": 0.0}), ("gibbs", {}), ("metropolis", {}))
"""Without pairs Gibbs does what theirs do."""


def libraries(size: Size, pymc_python: str) -> Iterator[Row]:
    """Theirs, then ours with what it is a multiple of theirs; an update of a slot is a step of Gibbs."""
    tables, chains, draws = goal_tables()[GOALS[1]], 64, 10 if size is QUICK else 200
    theirs: list[Row] = []
    for name, work in (
        ("NumPyro DiscreteGibbs", lambda: numpyro_speed(tables, chains, draws)),
        ("PyMC CategoricalGibbsMetropolis", lambda: pymc_speed(tables, pymc_python, draws)),
    ):
        theirs += isolated(name, work)
    yield from theirs
    for kernel, settings in OURS:
        for number, steps in ((chains, 1000), (4096, 100)):
            row = our_speed(tables, kernel, settings, number, 100 if size is QUICK else steps)
            yield row | {
                f"{what}, times {other['what'].split()[0]}": row[what] / other[what]
                for other in theirs
                for what in ("slot updates/s", "ESS/s")
                if what in other
            }


def our_speed(tables: Tables, kernel: str, settings: Row, chains: int, steps: int) -> Row:
    """The median of three runs, recorded."""
    request: Row = {
        "chains": chains,
        "steps": steps,
        "temperature": TAU,
        "seed": 0,
        "kernel": kernel,
    } | settings
    runs = [run_chains(tables, **request) for _ in range(4)][1:]
    seconds = statistics.median(run.wall_seconds for run in runs)
    return {
        "what": " ".join(
            [f"our {kernel}", *(f"{name} {value:g}" for name, value in settings.items()), f"{chains} chains"]
        ),
        "slot updates/s": chains * steps / seconds,
        "ESS/s": effective(runs[0].score) / (seconds / 2),
    }


def numpyro_speed(tables: Tables, chains: int, draws: int) -> Iterator[Row]:
    from numpyro.infer import MCMC, DiscreteGibbs

    from gnrs_ppl.models.program import rule_program

    def run(number: int) -> tuple[float, np.ndarray]:
        sampler = MCMC(
            DiscreteGibbs(rule_program, modified=False),
            num_warmup=0,
            num_samples=number,
            num_chains=chains,
            chain_method=jax.vmap,
            progress_bar=False,
        )
        seconds = seconds_of(lambda: (sampler.run(jax.random.key(0), tables, TAU), sampler.get_samples())[1])
        found = sampler.get_samples(group_by_chain=True)
        return seconds, np.stack([found[f"variable_{v}"] for v in range(len(tables.sizes))], -1)

    # It compiles at every call, so that running takes what more draws take longer.
    run(draws)
    few, many = (
        min((run(number) for _ in range(2)), key=lambda one: one[0]) for number in (draws, 11 * draws)
    )
    row: Row = {"what": f"NumPyro DiscreteGibbs, {chains} chains", "compile": few[0]}
    if many[0] < 1.2 * few[0]:
        yield row | {"status": f"compiling hides the running: {many[0]:.2f} s for eleven times the draws"}
        return
    seconds = (many[0] - few[0]) * 11 / 10
    yield row | {
        "slot updates/s": 11 * chains * draws * len(tables.sizes) / seconds,
        "ESS/s": effective(scores_of(tables, many[1])) / (seconds / 2),
    }


def scores_of(tables: Tables, positions: np.ndarray) -> np.ndarray:
    return np.asarray(jax.jit(jax.vmap(jax.vmap(lambda position: score(tables, position))))(positions))


def pymc_speed(tables: Tables, python: str, draws: int) -> Iterator[Row]:
    arrays = {
        name: getattr(tables, name)
        for name in ("sizes", "log_prior", "unary", "unary_flags", "pairs", "pairwise", "pair_flags")
    }
    with tempfile.TemporaryDirectory() as folder:
        path, drawn = Path(folder) / "tables.npz", Path(folder) / "drawn.npy"
        np.savez(path, penalty=tables.penalty, temperature=TAU, draws=draws, **arrays)
        command = [python, str(ROOT / "pymc_gibbs.py"), str(path), str(drawn)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        positions = np.load(drawn) if done.returncode == 0 else None
    if "No module named 'pymc'" in done.stderr:
        raise ImportError(name="pymc")
    if done.returncode:
        raise RuntimeError(done.stderr[-300:])
    told = json.loads(done.stdout.splitlines()[-1])
    number = len(positions) * len(tables.sizes)  # of slot updates
    ess = effective(scores_of(tables, positions[None])) * 2 * told["slot updates/s"] / number
    yield {"what": "PyMC CategoricalGibbsMetropolis, 1 chain"} | told | {"ESS/s": ess}
