"""Observers against the draws that a run of chains stores: one seed gives the same chains to both."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from typing import Any

import jax
import numpy as np
import pytest
import spaces
from tiers import mostly_slow

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference import chains
from gnrs_ppl.inference.chains import STEPPERS, observe_chains, run_chains
from gnrs_ppl.inference.exact import enumerate_space
from gnrs_ppl.inference.moves import MOVES
from gnrs_ppl.inference.observe import (
    Observed,
    Observer,
    best,
    first_hit,
    moments,
    move_counts,
    option_counts,
)
from gnrs_ppl.inference.result import Chains, best_visited
from gnrs_ppl.inference.result import move_counts as counted
from gnrs_ppl.inference.sweep import sweep
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, Tables, contract
from gnrs_ppl.models.space import build_space

RUN: dict[str, Any] = {
    "chains": 48,
    "steps": 40,
    "temperature": SEARCH_TEMPERATURE,
    "seed": 9,
    "superchains": 4,
}
KERNELS: dict[str, dict[str, Any]] = {
    "metropolis": {},
    "gibbs": {"block_probability": 0.25},
    "informed": {"balancing": "sqrt"},
    "tempering": {"replicas": 3},
}
FLOAT32 = 1e-5


@cache
def tables() -> Tables:
    return contract(build_space(**spaces.ragged(2)), spaces.weights(2))


@cache
def target() -> float:
    """A score that one structure in fifty has: starts seldom, chains mostly."""
    return float(np.quantile(enumerate_space(tables()).score, 0.98))


def staying() -> Observer:
    """An observer of one's own: how many chains stood still in each step, and how many steps each was
    offered another structure."""

    def update(so_far: Any, before: Any, states: Any, info: Any) -> Any:
        stood = (before.position == states.position).all(1)
        return so_far[0] + stood.sum(dtype=np.int32), so_far[1] + (
            info.proposal.position != before.position
        ).any(1).astype(np.int32)

    return Observer(
        lambda tables, states: (np.int32(0), np.zeros(len(states.score), np.int32)),
        update,
        lambda seen, _: {"stood": int(seen[0]), "offered": seen[1]},
    )


OWN = staying()


@cache
def both(kernel: str) -> tuple[Chains, Observed]:
    observers = {
        "counts": option_counts(),
        "moments": moments(),
        "best": best(),
        "hits": first_hit(target()),
        "own": OWN,
    }
    observers |= {"moves": move_counts()} if kernel == "metropolis" else {}
    settings = KERNELS[kernel]
    return run_chains(tables(), **RUN, kernel=kernel, **settings), observe_chains(
        tables(), observers, **RUN, kernel=kernel, **settings
    )


@pytest.mark.parametrize("kernel", mostly_slow(KERNELS, but=["metropolis"]))
def test_what_is_observed_is_what_the_draws_give(kernel: str):
    drawn, found = both(kernel)
    seen = found.observed
    steps = drawn.score.shape[1]
    for v, size in enumerate(tables().sizes):
        counts = np.bincount(drawn.positions[..., v].ravel(), minlength=tables().unary.shape[1])
        np.testing.assert_array_equal(seen["counts"][v], counts)
        assert not counts[size:].any()
    assert int(seen["moments"].draws) == steps
    np.testing.assert_allclose(seen["moments"].mean, drawn.score.mean(1), atol=FLOAT32)
    np.testing.assert_allclose(
        seen["moments"].squares,
        ((drawn.score - drawn.score.mean(1, keepdims=True)) ** 2).sum(1),
        atol=20 * FLOAT32,
    )
    assert np.ptp(seen["moments"].squares) > 1e-3
    visited = best_visited(drawn)
    # two programs: what observes, and what records, may round the last bit otherwise
    assert float(seen["best"].score) == pytest.approx(visited.score, abs=FLOAT32)
    weights = spaces.weights(2)
    there = tuple(seen["best"].position.tolist())
    assert spaces.score(spaces.ragged(2), weights, 2.0, there) == pytest.approx(visited.score, abs=FLOAT32)
    score = np.concatenate([drawn.start_score[:, None], drawn.score], 1)
    hit = score >= target()
    np.testing.assert_array_equal(seen["hits"].first, np.where(hit.any(1), hit.argmax(1), -1))
    assert len({*seen["hits"].first.tolist()}) > 5
    assert int(seen["hits"].step) == steps
    path = np.concatenate([drawn.starts[:, None], drawn.positions], 1)
    assert seen["own"]["stood"] == (path[:, 1:] == path[:, :-1]).all(-1).sum()
    if kernel != "tempering":  # a swap offers other structures too
        assert (seen["own"]["offered"] >= (path[:, 1:] != path[:, :-1]).any(-1).sum(1)).all()
    assert found.energy_evaluations == drawn.energy_evaluations
    assert found.wall_seconds > 0
    assert not any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(seen)), (
        "nothing is left on the device"
    )


def test_moves_are_counted_as_the_draws_count_them():
    drawn, found = both("metropolis")
    for (name, expected), counts in zip(
        counted(drawn).items(), found.observed["moves"].tolist(), strict=True
    ):
        assert counts == [*expected], name
    assert found.observed["moves"].shape == (len(MOVES), 3)


def test_a_start_can_be_the_best_and_the_first_hit():
    """One structure is worth all, every chain starts there or does not move: lambda over tau forbids it."""
    alone = contract(build_space([[0, 1, 2]], [[[1.0], [0.0], [0.0]]]), np.array([1.0]))
    seen = observe_chains(
        alone,
        {"best": best(), "hits": first_hit(1.0)},
        chains=3,
        steps=2,
        temperature=0.01,
        seed=0,
        superchains=3,
    )
    assert seen.observed["best"].position.tolist() == [0]
    assert (seen.observed["hits"].first == 0).sum() == 1, "three starts are the three structures"


def test_compiled_once_for_the_same_observers():
    observers = {
        "counts": option_counts(),
        "moments": moments(),
        "best": best(),
        "hits": first_hit(target()),
        "own": OWN,
        "moves": move_counts(),
    }
    both("metropolis")
    compiled = chains._compiled.cache_info().misses
    observe_chains(tables(), observers, **(RUN | {"seed": 10}))
    assert chains._compiled.cache_info().misses == compiled


EACH = 3 * (4 * 4 + 3 * 8) + 16


@pytest.mark.parametrize(
    "change, message",
    [
        ({"kernel": "gibs"}, "kernel: no kernel 'gibs'; choose one of"),
        (
            {"kernel": "smc"},
            "kernel: smc cannot be observed; choose one of metropolis, gibbs, informed, tempering",
        ),
        ({"kernel": "exact"}, "kernel: exact cannot be observed"),
        ({"replicas": 3}, "replicas: metropolis has no setting 'replicas'; it takes move_probabilities"),
        ({"move_probabilities": (1.0,)}, r"move_probabilities: \(1.0,\) will not do; give 4 numbers"),
        ({"chains": 0}, "chains: 0 asked for; ask for at least 1"),
        ({"steps": 0}, "steps: 0 asked for; ask for at least 1"),
        ({"steps": -1}, "steps: -1 asked for"),
        ({"superchains": 5}, "5 superchains cannot share 48 chains"),
        ({"temperature": 0.0}, "temperature: 0.0 is no temperature"),
        ({"seed": -1}, "seed: -1 is no seed"),
        (
            {"chains": 10**9},
            f"chains: 1000000000 chains need {EACH}000000000 bytes, more than the 4294967296 allowed; ask for at most {2**32 // EACH} chains",
        ),
        (
            {"chains": 10**6, "steps": 3000},
            "steps: 3000000000 draws are more than can be counted; ask for at most 2147 steps, and run again",
        ),
        ({"chains": 2**24, "kernel": "gibbs"}, r"16777216 chains need \d+ bytes"),
        ({"chains": 2**24, "kernel": "informed"}, r"16777216 chains need \d+ bytes"),
    ],
)
def test_impossible_requests_are_refused_beforehand(change: dict[str, Any], message: str):
    with pytest.raises(InputError, match=message) as refused:
        observe_chains(tables(), {"best": best()}, **(RUN | change))
    assert refused.value.exit_code == 2
    assert refused.value.source == "arguments"


def test_as_many_chains_as_are_allowed_pass_the_check():
    chains._check_observed(STEPPERS["metropolis"], tables(), 2**32 // EACH, 1)
    with pytest.raises(InputError):
        chains._check_observed(STEPPERS["metropolis"], tables(), 2**32 // EACH + 1, 1)


MILLION = """
import resource
from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.calibration.weights import DEFAULT_WEIGHTS
from gnrs_ppl.candidates.build import pools_of
from gnrs_ppl.inference.chains import observe_chains
from gnrs_ppl.inference.observe import best, moments, option_counts
from gnrs_ppl.inference.sweep import sweep
from gnrs_ppl.models.energy import contract
from gnrs_ppl.models.graph import compile_graph
context = load_context("GNRS-081")
tables = contract(compile_graph(context, pools_of(context).pools).space, DEFAULT_WEIGHTS.array())
optimum = sweep(tables, 0.08, pairs=False).optimum
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = observe_chains(
    tables, {"counts": option_counts(), "moments": moments(), "best": best()}, chains=10**6, steps=20, temperature=0.08, seed=0
)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
seen = found.observed
print(int(seen["counts"].sum()), float(seen["best"].score) - optimum, len(seen["moments"].mean), before, after, found.wall_seconds)
"""


@pytest.mark.slow
def test_a_million_chains_fit():
    """20 steps on a dev goal, whose draws would take 700 MB and three times that for a moment."""
    done = subprocess.run([sys.executable, "-c", MILLION], capture_output=True, text=True, check=True)
    draws, gap, means, before, after, seconds = done.stdout.split()
    assert int(draws) == 5 * 20 * 10**6
    assert abs(float(gap)) < FLOAT32, "one of a million chains has met the optimum"
    assert int(means) == 10**6
    assert (int(after) - int(before)) * 1024 < 700e6
    assert float(seconds) > 0


@pytest.mark.slow
def test_the_optimum_of_the_sweep_is_hit():
    """Chains score in float32, the sweep in float64."""
    greatest = sweep(tables(), SEARCH_TEMPERATURE).optimum
    found = observe_chains(tables(), {"hits": first_hit(greatest)}, **RUN)
    drawn = run_chains(tables(), **RUN)
    reached = (drawn.score >= greatest - FLOAT32).any(1) | (drawn.start_score >= greatest - FLOAT32)
    assert ((found.observed["hits"].first >= 0) == reached).all()
    assert reached.any()
