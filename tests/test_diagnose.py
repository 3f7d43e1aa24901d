"""``gnrs sample`` and ``gnrs diagnose`` together, and files that other versions or accidents made: a
verdict, or one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spaces
import xarray as xr
from small import write
from tiers import few

from gnrs_ppl.cli import run
from gnrs_ppl.inference.chains import run_chains
from gnrs_ppl.inference.sweep import sweep
from gnrs_ppl.inference.trace import Marginals, datatree, load, save, to_bytes
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, contract
from gnrs_ppl.models.space import build_space

SLOTS = ("scope", "trigger", "norm", "evidence")
Data = dict[str, xr.Dataset]


@pytest.fixture(scope="module")
def tree() -> xr.DataTree:
    """Perfect draws of a small space, with all that a file may hold."""
    raw = spaces.ragged(2)
    tables = contract(build_space(**raw), spaces.weights(2))
    swept = sweep(tables, SEARCH_TEMPERATURE)
    labels = {
        slot: [f"{slot}{n}" for n in range(len(owners))]
        for slot, owners in zip(SLOTS, raw["candidates"], strict=True)
    }
    chains = run_chains(tables, chains=64, steps=20, temperature=SEARCH_TEMPERATURE, seed=0, kernel="exact")
    return datatree(
        chains, labels, spaces.weights(2), "GNRS-000", exact=Marginals(swept.marginals, swept.pair_marginals)
    )


def told(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any], str]:
    """Exit code, JSON and standard error of ``gnrs diagnose``."""
    code = run(["diagnose", str(path), "--json"])
    printed = capsys.readouterr()
    return code, json.loads(printed.out) if code != 2 else {}, printed.err


# ---- the verb


def test_sample_then_diagnose(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("matplotlib")
    context, out = str(write(tmp_path)), tmp_path / "x.nc"
    request = ["--kernel", "tempering", "--weights", "default", "--chains", "32", "--steps", "100"]
    assert run(["sample", context, "--out", str(out), *request]) == 0
    capsys.readouterr()
    code, found, _ = told(out, capsys)
    assert code == (found["verdict"] == "not mixed")
    assert {*found["tv_excess"]} == {"greatest", "slots", "pairs"}
    assert len(found["tv_excess"]["pairs"]) == 10
    assert found["exchange"]["ladder"][0] == pytest.approx(SEARCH_TEMPERATURE)
    assert len(found["exchange"]["swap_rates"]) == len(found["exchange"]["ladder"]) - 1
    assert {*found["exchange"]["round_trips"]} == {"q10", "q50", "q90"}
    assert load(out).attrs["energy_evaluations"] == 32 * 101 * len(found["exchange"]["ladder"])
    assert run(["diagnose", str(out), "--plots", str(tmp_path / "plots")]) == code
    printed = capsys.readouterr().out
    assert found["sentence"][:60] in printed
    assert "note: replica exchange: swaps accepted between neighbouring rungs" in printed
    written = sorted(path.stem for path in (tmp_path / "plots").iterdir())
    assert written == [
        "acceptance",
        "exchange",
        "gnrs-manifest",
        "hitting_time",
        "marginals",
        "rank",
        "trace",
    ]


# ---- another version's file


def changed(
    tree: xr.DataTree, change: Callable[[Data], None], path: Path, attributes: dict[str, Any] | None = None
) -> Path:
    data = {group: tree[group].to_dataset() for group in tree.children}
    change(data)
    other = xr.DataTree.from_dict(data)
    other.attrs = dict(tree.attrs) if attributes is None else attributes
    save(other, path)
    return path


def more(data: Data) -> None:
    """Groups and variables that this version does not know."""
    posterior = data["posterior"]
    data["log_likelihood"] = xr.Dataset({"y": ("n", [1.0])})
    data["posterior"] = posterior.assign(
        lp=posterior["s_search"] / 2, field=(("chain", "draw", "k"), np.zeros((64, 20, 3)))
    )
    data["sample_stats"] = data["sample_stats"].assign(energy=posterior["s_search"])
    data["constant_data"] = data["constant_data"].assign(
        note=("letter", ["a", "b"]), scope_norm_x_exact=("letter", [1.0, 2.0])
    )


def transposed(data: Data) -> None:
    for group in data:
        data[group] = data[group].transpose(*sorted(data[group].dims, reverse=True))


def narrower(data: Data) -> None:
    """Smaller types, and truth values as numbers."""
    data["posterior"] = data["posterior"].map(
        lambda v: v.astype(np.float32 if v.dtype.kind == "f" else np.uint8)
    )
    data["sample_stats"] = data["sample_stats"].map(lambda v: v.astype(np.int8))


@pytest.mark.parametrize(
    "change",
    few([lambda data: None, more, transposed, narrower], 2),
    ids=["as it is", "more", "transposed", "narrower"],
)
def test_files_of_other_versions_are_judged_alike(
    change: Callable[[Data], None], tree: xr.DataTree, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    save(tree, tmp_path / "own.nc")
    code, own, _ = told(tmp_path / "own.nc", capsys)
    again, found, _ = told(changed(tree, change, tmp_path / "other.nc"), capsys)
    assert (code, own["verdict"]) == (0, "mixed")
    assert again == code
    excess, own_excess = found.pop("tv_excess"), own.pop("tv_excess")
    assert excess["slots"] == pytest.approx(own_excess["slots"], abs=1e-12)
    assert excess["pairs"] == pytest.approx(own_excess["pairs"], abs=1e-12)
    assert found == own


def test_a_file_without_attributes_or_pairs(
    tree: xr.DataTree, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    def without_pairs(data: Data) -> None:
        pairs = [
            name
            for name in data["constant_data"]
            if str(name).count("_") == 2 and str(name).endswith("_exact")
        ]
        assert len(pairs) == 6
        data["constant_data"] = data["constant_data"].drop_vars(pairs)

    _, found, _ = told(changed(tree, without_pairs, tmp_path / "x.nc", attributes={}), capsys)
    assert found["verdict"] == "mixed"
    assert found["never_moved"] == 0  # nobody says that the draws are independent
    assert found["tv_excess"]["pairs"] == {}
    assert found["acceptance"] == {}
    assert any(
        note.startswith("pairs not held against exact marginals: scope and trigger, ")
        for note in found["notes"]
    )


# ---- what is no run, or no file


def dropped(group: str, *names: str) -> Callable[[Data], None]:
    def change(data: Data) -> None:
        data[group] = data[group].drop_vars(names)

    return change


def replaced(group: str, name: str, value: Callable[[xr.DataArray], Any]) -> Callable[[Data], None]:
    def change(data: Data) -> None:
        data[group] = data[group].assign({name: value(data[group][name])})

    return change


@pytest.mark.parametrize(
    ("change", "line"),
    few(
        [
            (lambda data: data.pop("sample_stats"), "holds no group sample_stats"),
            (dropped("posterior", "s_search"), "holds no posterior/s_search"),
            (dropped("posterior", *SLOTS), "holds no draws"),
            (dropped("constant_data", "norm_option"), "holds no constant_data/norm_option"),
            (dropped("constant_data", "norm_start"), "holds no constant_data/norm_start"),
            (dropped("sample_stats", "feasible"), "holds no sample_stats/feasible"),
            (lambda data: data.update(posterior=data["posterior"].isel(draw=slice(0))), "holds no draws"),
            (
                lambda data: data.update(posterior=data["posterior"].isel(draw=slice(5))),
                "sample_stats/feasible has shape {'chain': 64, 'draw': 20}",
            ),
            (replaced("posterior", "norm", lambda v: v.astype(float)), "posterior/norm holds float64"),
            (
                replaced("posterior", "norm", lambda v: v.isel(draw=0, drop=True)),
                "posterior/norm has shape {'chain': 64}",
            ),
            (replaced("posterior", "norm", lambda v: v + 99), "norm: an option outside its pool of 3"),
            (replaced("posterior", "s_search", lambda v: v.astype(str)), "posterior/s_search holds <U"),
            (
                replaced("posterior", "s_search", lambda v: v * np.nan),
                "s_search: 100 % are no finite numbers",
            ),
            (
                replaced("constant_data", "norm_exact", lambda v: -v),
                "exact marginals that are no probabilities",
            ),
            (
                replaced("constant_data", "scope_norm_exact", lambda v: v / 2),
                "exact marginals that are no probabilities",
            ),
            (
                replaced("constant_data", "norm_exact", lambda v: ("other", v.values)),
                "constant_data/norm_exact has shape {'other': 3}",
            ),
            (
                replaced("constant_data", "scope_norm_exact", lambda v: v[0].drop_vars("scope_option")),
                "constant_data/scope_norm_exact has shape {'norm_option': 3}",
            ),
        ],
        4,
    ),
)
def test_trees_of_something_else_give_one_line(
    change: Callable[[Data], None],
    line: str,
    tree: xr.DataTree,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
):
    code, _, error = told(changed(tree, change, tmp_path / "x.nc"), capsys)
    assert code == 2
    assert error.count("\n") == 1
    assert line in error


def test_attributes_of_something_else_give_one_line(
    tree: xr.DataTree, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    for moves in ("[", "7"):
        path = changed(tree, lambda data: None, tmp_path / "x.nc", attributes={"moves": moves})
        assert told(path, capsys) == (
            2,
            {},
            f"gnrs: {path}: attribute moves is no JSON list; name a file that gnrs sample wrote\n",
        )


def test_damaged_files_give_one_line(tree: xr.DataTree, tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    """Cut anywhere, and with some bytes changed: also the libraries below print nothing of their own."""
    whole, generator, path = to_bytes(tree), np.random.default_rng(0), tmp_path / "x.nc"
    for attempt in range(40):
        damaged = np.frombuffer(whole, np.uint8).copy()
        if attempt % 4:
            damaged[generator.integers(len(damaged), size=20)] = generator.integers(256, size=20)
        else:
            damaged = damaged[: generator.integers(len(damaged))]
        path.write_bytes(damaged.tobytes())
        code, _, error = told(path, capfd)
        assert (code, error.count("\n")) in ((2, 1), (0, 0), (1, 0)), error
        if code == 2:
            assert error.startswith(f"gnrs: {path}: ")


# ---- ArviZ


def test_arviz_on_a_tree_of_replica_exchange(tree: xr.DataTree):
    """What only this tree holds is in nobody's way; warnings are errors here."""
    import arviz_base

    pytest.importorskip("xarray_einstats", reason="ArviZ on DataTrees needs arviz-stats[xarray]")
    import arviz_stats

    ladder = tree.copy()
    constant = {
        "temperature_ladder": ("rung", [0.08, np.inf]),
        "swap_rate": ("pair", [np.nan]),
        "round_trips": ("chain", np.zeros(64, int)),
    }
    ladder["constant_data"] = xr.DataTree(tree["constant_data"].to_dataset().assign(constant))
    summary = arviz_stats.summary(ladder, var_names=["s_search"])
    assert summary.index.tolist() == ["s_search"]
    for name in ("ess", "rhat", "mcse", "hdi", "eti", "mean", "median"):
        np.testing.assert_array_equal(
            getattr(arviz_stats, name)(ladder, var_names=["s_search"])["s_search"],
            getattr(arviz_stats, name)(tree, var_names=["s_search"])["s_search"],
        )
    drawn = arviz_base.extract(ladder, num_samples=100, random_seed=0)
    assert {*SLOTS, "s_search"} <= {*drawn.data_vars}
    pairs = arviz_base.extract(
        ladder, group="constant_data", var_names=["scope_norm_exact", "round_trips"], combined=False
    )
    assert float(pairs["scope_norm_exact"].sum()) == pytest.approx(1)
    assert pairs["round_trips"].dims == ("chain",)
