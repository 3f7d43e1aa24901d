"""Runs of chains, what may be asked for, and their DataTree on disk."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spaces
import xarray as xr

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference import chains
from gnrs_ppl.inference.chains import run_chains
from gnrs_ppl.inference.kernels import KERNELS
from gnrs_ppl.inference.moves import MOVES
from gnrs_ppl.inference.result import Chains, Exchange, best_visited, move_counts
from gnrs_ppl.inference.starts import draw_prior, draw_starts
from gnrs_ppl.inference.sweep import sweep
from gnrs_ppl.inference.trace import (
    LARGEST_PAIR,
    Marginals,
    datatree,
    exact_marginals,
    load,
    read_trace,
    save,
)
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, Tables, contract, hard_penalty
from gnrs_ppl.models.space import build_space

SLOTS = ("scope", "trigger", "norm", "evidence")
RAGGED, WEIGHTS = spaces.ragged(2), spaces.weights(2)
RUN: dict[str, Any] = {"chains": 16, "steps": 30, "temperature": SEARCH_TEMPERATURE, "seed": 5}


def tables() -> Tables:
    return contract(build_space(**RAGGED), WEIGHTS)


@pytest.fixture(scope="module")
def run() -> Chains:
    return run_chains(tables(), **RUN)


@pytest.mark.parametrize("kernel", ["metropolis", "exact"])
def test_shapes_and_scores(kernel: str):
    found = run_chains(tables(), **RUN, kernel=kernel)
    assert found.positions.shape == (16, 30, 4)
    assert found.positions.dtype == np.int32
    for part in (found.score, found.feasible, found.move, found.accepted):
        assert part.shape == (16, 30)
    every = [*found.starts, *found.positions.reshape(-1, 4)]
    expected = [spaces.score(RAGGED, WEIGHTS, hard_penalty(WEIGHTS), tuple(a)) for a in every]
    np.testing.assert_allclose([*found.start_score, *found.score.ravel()], expected, rtol=0, atol=1e-5)
    assert [*found.start_feasible, *found.feasible.ravel()] == [
        not spaces.raised(RAGGED, tuple(a)) for a in every
    ]
    assert found.kernel == kernel
    assert found.wall_seconds > 0


def test_one_seed_one_result(run: Chains):
    again, other = run_chains(tables(), **RUN), run_chains(tables(), **(RUN | {"seed": 6}))
    for name in ("positions", "score", "feasible", "move", "accepted", "starts"):
        np.testing.assert_array_equal(getattr(again, name), getattr(run, name))
    assert (other.positions != run.positions).any()
    assert len({tuple(chain.ravel()) for chain in run.positions}) == 16


@pytest.mark.slow
def test_compiled_once_per_shape():
    """Of 80 and 75 structures: tables of scores are padded to a power of two."""
    padded = [
        contract(build_space(**spaces.ragged(seed), pad_options=12, pad_pairs=6), spaces.weights(seed))
        for seed in (1, 8)
    ]
    run_chains(padded[0], **RUN)
    compiled = chains._compiled.cache_info().misses
    for one in padded:
        run_chains(one, **RUN)
    assert chains._compiled.cache_info().misses == compiled


def test_chains_of_a_superchain_share_a_start(run: Chains):
    assert run.superchain.tolist() == [s for s in range(8) for _ in range(2)]
    by_superchain = [{tuple(start) for start in run.starts[run.superchain == s]} for s in range(8)]
    assert all(len(starts) == 1 for starts in by_superchain)
    assert len(set.union(*by_superchain)) == 8
    odd = run_chains(tables(), **(RUN | {"chains": 6}), superchains=3, kernel="exact")
    assert odd.superchain.tolist() == [0, 0, 1, 1, 2, 2]
    assert run_chains(tables(), **(RUN | {"chains": 6}), kernel="exact").superchain.max() == 5


def test_starts_are_distinct_draws_from_p0():
    small = contract(build_space(candidates=[[0, 1], [0, 0]], unary=[np.zeros((2, 1))] * 2), np.ones(1))
    assert len(np.unique(draw_starts(small, 4, 0), axis=0)) == 4
    cycled = draw_starts(small, 6, 0)
    assert len(np.unique(cycled, axis=0)) == 4
    np.testing.assert_array_equal(cycled[:2], cycled[4:])
    large = contract(build_space(candidates=[list(range(30))] * 5, unary=[np.zeros((30, 1))] * 5), np.ones(1))
    assert len(np.unique(draw_starts(large, 64, 0), axis=0)) == 64
    # p0 is uniform over candidates first: the two tuples of candidate 0 share its half
    skewed = contract(build_space(candidates=[[0, 0, 1]], unary=[np.zeros((3, 1))]), np.ones(1))
    shares = np.bincount(draw_prior(skewed, 40_000, np.random.default_rng(0))[:, 0], minlength=3) / 40_000
    np.testing.assert_allclose(shares, [0.25, 0.25, 0.5], rtol=0, atol=5 * np.sqrt(0.25 / 40_000))


def test_best_visited_and_move_counts(run: Chains):
    found = best_visited(run)
    assert found.score == max(run.score.max(), run.start_score.max())
    assert spaces.score(RAGGED, WEIGHTS, hard_penalty(WEIGHTS), tuple(found.position)) == pytest.approx(
        found.score, abs=1e-5
    )
    assert found.feasible == (not spaces.raised(RAGGED, tuple(found.position)))
    # where every draw is worse than a start, the start is the best
    assert best_visited(run._replace(score=run.score - 10)).score == run.start_score.max()
    # of all draws alike, that of the lowest options, however the chains are ordered
    alike = run._replace(score=np.ones_like(run.score), start_score=np.ones_like(run.start_score))
    lowest = min(
        tuple(p) for p in np.concatenate([run.starts, run.positions.reshape(-1, run.starts.shape[1])])
    )
    assert tuple(best_visited(alike).position) == lowest
    counts = move_counts(run)
    assert list(counts) == list(MOVES)
    assert sum(c.tried for c in counts.values()) == 16 * 30
    assert sum(c.accepted for c in counts.values()) == run.accepted.sum()
    assert all(c.changed <= c.accepted <= c.tried for c in counts.values())
    assert all(c.tried == 0 for c in move_counts(run_chains(tables(), **RUN, kernel="exact")).values())


@pytest.mark.parametrize("kernel", ["metropolis", "exact"])
@pytest.mark.parametrize(
    "change, message",
    [
        ({"chains": 0}, "arguments: chains: 0 asked for; ask for at least 1"),
        ({"steps": 0}, "arguments: steps: 0 asked for"),
        ({"steps": -3}, "arguments: steps: -3 asked for"),
        (
            {"chains": 10**9},
            r"1000000000 chains of 30 steps need \d{12} bytes, more than the 4294967296 allowed; ask for at most",
        ),
        ({"steps": 10**12}, r"need \d+ bytes"),
        ({"temperature": 0.0}, "arguments: temperature: 0.0 is no temperature"),
        ({"temperature": float("nan")}, "temperature: nan is no"),
        ({"temperature": float("inf")}, "temperature: inf is no"),
        ({"seed": -1}, "arguments: seed: -1 is no seed"),
        ({"seed": 2**32}, "seed: 4294967296 is no seed"),
        ({"superchains": 5}, "5 superchains cannot share 16 chains"),
        ({"superchains": 0}, "0 superchains"),
        ({"superchains": 32}, "32 superchains"),
    ],
)
def test_impossible_requests_are_refused_beforehand(kernel: str, change: dict[str, Any], message: str):
    with pytest.raises(InputError, match=message) as refused:
        run_chains(tables(), **(RUN | change), kernel=kernel)
    assert refused.value.exit_code == 2


def test_unknown_kernels_are_refused_with_the_known_ones():
    with pytest.raises(InputError, match=f"no kernel 'gibs'; choose one of {', '.join(KERNELS)}"):
        run_chains(tables(), **RUN, kernel="gibs")


# ---- DataTree


def labels() -> dict[str, list[str]]:
    return {
        slot: [f"{slot}{c}[{n}]" for n, c in enumerate(owners)]
        for slot, owners in zip(SLOTS, RAGGED["candidates"], strict=True)
    }


@pytest.fixture
def tree(run: Chains) -> xr.DataTree:
    candidates = {
        slot: [f"{slot}{c}" for c in owners] for slot, owners in zip(SLOTS, RAGGED["candidates"], strict=True)
    }
    return datatree(
        run, labels(), WEIGHTS, "GNRS-000", candidates=candidates, features=["intent", "schema", "record"]
    )


def test_groups_of_the_tree(tree: xr.DataTree, run: Chains):
    assert set(tree.children) == {"posterior", "sample_stats", "constant_data"}
    assert list(tree["posterior"].data_vars) == [*SLOTS, "s_search"]
    assert dict(tree["posterior"].sizes) == {"chain": 16, "draw": 30}
    np.testing.assert_array_equal(tree["posterior"]["norm"], run.positions[..., 2])
    assert set(tree["sample_stats"].data_vars) == {"move", "accepted", "feasible"}
    constant = tree["constant_data"]
    assert constant["weights"].sel(feature="schema") == WEIGHTS[1]
    np.testing.assert_array_equal(constant["superchain"], run.superchain)
    np.testing.assert_array_equal(constant["scope_start"], run.starts[:, 0])
    # an option index of the posterior names its label and its candidate
    option = int(tree["posterior"]["norm"][0, 0])
    assert constant["norm_option"].values[option] == labels()["norm"][option]
    assert constant["norm_candidate"].values[option] == f"norm{RAGGED['candidates'][2][option]}"
    assert "norm_candidate" in constant.coords
    expected = {
        "kernel": "metropolis",
        "chains": 16,
        "steps": 30,
        "temperature": SEARCH_TEMPERATURE,
        "seed": 5,
        "goal": "GNRS-000",
    }
    assert expected.items() <= tree.attrs.items()
    assert tree.attrs["energy_evaluations"] == 16 * 31
    assert not {"log_normalizer", "bound"} & {*tree.attrs}
    assert json.loads(tree.attrs["moves"]) == list(MOVES)
    assert "jax" in json.loads(tree.attrs["versions"])


def test_exact_marginals_of_slots_and_pairs(run: Chains, tmp_path: Path):
    swept = sweep(tables(), SEARCH_TEMPERATURE)
    exact = Marginals(swept.marginals, swept.pair_marginals)
    tree = datatree(run, labels(), WEIGHTS, "", exact=exact)
    for (i, left), (j, right) in itertools.combinations(enumerate(SLOTS), 2):
        kept = tree["constant_data"][f"{left}_{right}_exact"]
        assert kept.dims == (f"{left}_option", f"{right}_option")
        np.testing.assert_array_equal(kept, swept.pair_marginals[i, j])
    # by name: the probability of two options together
    first, last = labels()["scope"][0], labels()["norm"][-1]
    assert (
        float(tree["constant_data"]["scope_norm_exact"].sel(scope_option=first, norm_option=last))
        == swept.pair_marginals[0, 2][0, -1]
    )
    save(tree, tmp_path / "x.nc")
    for found in (exact_marginals(tree), exact_marginals(load(tmp_path / "x.nc"))):
        assert found is not None
        assert [*found.pairs] == [*swept.pair_marginals]
        for kept, given in zip(
            [*found.slots, *found.pairs.values()], [*exact.slots, *exact.pairs.values()], strict=True
        ):
            np.testing.assert_array_equal(kept, given)
    assert exact_marginals(datatree(run, labels(), WEIGHTS, "")) is None
    assert exact_marginals(datatree(run, labels(), WEIGHTS, "", exact=Marginals(exact.slots))).pairs == {}


def test_pairs_that_take_too_much_room_are_left_out():
    sizes = [LARGEST_PAIR // 16, 16, 17]
    wide = contract(
        build_space([list(range(n)) for n in sizes], [np.zeros((n, 1)) for n in sizes]), np.ones(1)
    )
    swept = sweep(wide, SEARCH_TEMPERATURE)
    named = {slot: [f"{slot}{n}" for n in range(size)] for slot, size in zip(SLOTS, sizes, strict=False)}
    tree = datatree(
        run_chains(wide, **RUN, kernel="exact"),
        named,
        np.ones(1),
        "",
        exact=Marginals(swept.marginals, swept.pair_marginals),
    )
    assert [*exact_marginals(tree).pairs] == [(0, 1), (1, 2)]  # 4096 cells and 272, but not 4352
    assert len(exact_marginals(tree).slots) == 3


def test_what_only_some_samplers_know(run: Chains, tmp_path: Path):
    exchange = Exchange(np.array([0.08, 1.6, np.inf]), np.array([0.3, np.nan]), np.arange(16))
    told = datatree(run._replace(exchange=exchange, log_normalizer=-3.5, bound=1.25), labels(), WEIGHTS, "")
    save(told, tmp_path / "x.nc")
    for tree in (told, load(tmp_path / "x.nc")):
        assert (tree.attrs["log_normalizer"], tree.attrs["bound"]) == (-3.5, 1.25)
        constant = tree["constant_data"]
        assert (constant["temperature_ladder"].dims, constant["swap_rate"].dims) == (("rung",), ("pair",))
        assert constant["round_trips"].dims == ("chain",)
        for found, given in zip(read_trace(tree).exchange, exchange, strict=True):
            np.testing.assert_array_equal(found, given)
    assert read_trace(datatree(run, labels(), WEIGHTS, "")).exchange is None


def test_round_trip(tree: xr.DataTree, tmp_path: Path):
    path = tmp_path / "out" / "posterior.nc"
    save(tree, path)
    assert load(path).identical(tree)
    save(tree.isel(draw=slice(2)), path)
    assert load(path)["posterior"].sizes["draw"] == 2
    assert [p.name for p in path.parent.iterdir()] == ["posterior.nc"]


def test_names_may_be_left_out(run: Chains):
    plain = datatree(run, labels(), WEIGHTS, "")
    assert plain["constant_data"]["scope_candidate"].values.tolist() == labels()["scope"]
    assert plain["constant_data"]["feature"].values.tolist() == [0, 1, 2]


def test_what_cannot_be_read_or_written_is_said(tree: xr.DataTree, tmp_path: Path):
    with pytest.raises(InputError, match="no such file"):
        load(tmp_path / "absent.nc")
    (tmp_path / "text.nc").write_text("not netCDF")
    with pytest.raises(InputError, match=r"text\.nc: is no readable netCDF file"):
        load(tmp_path / "text.nc")
    with pytest.raises(InputError, match="name a folder you may write to"):
        save(tree, tmp_path / "text.nc" / "posterior.nc")
    xr.DataTree.from_dict({"other": xr.Dataset({"x": ("n", [1])})}).to_netcdf(
        tmp_path / "other.nc", engine="h5netcdf"
    )
    with pytest.raises(InputError, match="holds no group posterior"):
        load(tmp_path / "other.nc")
