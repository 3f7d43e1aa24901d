"""What may go wrong around a run: unusable weights, spaces without choice or hope, requests that do not fit,
stops, foreign files."""

from __future__ import annotations

import itertools
import json
import math
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small
import spaces
import xarray as xr
from tiers import few, mostly_slow, tier

import gnrs_ppl as gnrs
from gnrs_ppl.calibration.weights import DEFAULT_WEIGHTS
from gnrs_ppl.cli import run
from gnrs_ppl.errors import InputError, NoFeasibleStructure
from gnrs_ppl.inference import exact, sweep
from gnrs_ppl.inference.chains import STEPPERS, run_chains, run_many
from gnrs_ppl.inference.kernels import KERNELS
from gnrs_ppl.inference.trace import load
from gnrs_ppl.models.energy import Tables, contract
from gnrs_ppl.models.space import build_space

RUN: dict[str, Any] = {"chains": 8, "steps": 4, "temperature": 0.08, "seed": 0}
every_kernel = pytest.mark.parametrize("kernel", KERNELS)


@cache
def ragged() -> Tables:
    return contract(build_space(**spaces.ragged(1)), spaces.weights(1))


# ---- weights


@every_kernel
@pytest.mark.parametrize("weight", [math.nan, math.inf])
def test_scores_that_are_no_numbers_are_refused_by_every_kernel(kernel: str, weight: float):
    with np.errstate(invalid="ignore"):
        spoilt = contract(build_space(**spaces.ragged(1)), np.array([weight, 0.5, 0.5]), penalty=2.0)
    for given in ([spoilt], [ragged(), spoilt] if kernel in STEPPERS else [spoilt, ragged()]):
        with pytest.raises(InputError, match="not finite; look for NaN") as refused:
            run_many(given, **RUN, kernel=kernel)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "values",
    [(math.nan,) * 6, (math.inf, 0, 0, 0, 0, 0), (0.5, 0.5), (2.0, -1.0, 0, 0, 0, 0), (0.3,) * 6, ()],
)
def test_weights_off_the_simplex_are_refused(values: tuple[float, ...], tmp_path: Path):
    with pytest.raises(
        InputError, match="arguments: weights: weights must be 6 non-negative numbers that sum to one"
    ) as refused:
        gnrs.draft(small.write(tmp_path), weights=DEFAULT_WEIGHTS._replace(values=values))
    assert "\n" not in str(refused.value)


# ---- spaces without choice, and without hope


@pytest.mark.parametrize(
    "kernel",
    mostly_slow(["metropolis", "tempering", "smc", "exact", "cpsat"], but=["exact", "cpsat"]),
)
def test_a_space_of_one_structure(kernel: str):
    """The others have theirs in test_gibbs_informed."""
    alone = contract(build_space([[0], [0]], [[[0.25]], [[0.5]]]), np.ones(1))
    found = run_chains(alone, **RUN, kernel=kernel)
    assert not found.positions.any()
    assert not found.starts.any()
    np.testing.assert_allclose(found.score, 0.75, atol=1e-6)
    assert found.feasible.all()


def single(slot: str) -> dict[str, Any]:
    """A slot's first candidate, without its parameter levels."""
    kept = {name: value for name, value in small.CONTEXT["pools"][slot][0].items() if name != "vary"}
    if slot == "norm":
        kept["content"] = {
            "constraints": [{"template": "response", "target": "CheckIn", "deadline": "PT15M"}]
        }
    if slot == "trigger":
        kept["content"] = kept["content"] | {"window": "PT30M"}
    if slot == "procedure":
        kept["content"] = kept["content"] | {"response_time": "P1D"}
    return kept


@pytest.mark.parametrize("kernel", ["exact", "cpsat"])
def test_a_draft_of_one_option_a_slot(kernel: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pools = {slot: [single(slot)] for slot in small.CONTEXT["pools"]}
    context = str(small.write(tmp_path, small.changed(small.CONTEXT, ("pools", pools))))
    assert run(["draft", context, "--kernel", kernel, "--chains", "8", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["search"]["states"], found["search"]["probability"]["best"], found["alternatives"]) == (
        1,
        pytest.approx(1),
        [],
    )
    out = tmp_path / "x.nc"
    assert run(["sample", context, "--kernel", kernel, "--chains", "8", "--out", str(out)]) == 0
    capsys.readouterr()
    assert run(["diagnose", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "mixed", "there is one structure"


@pytest.mark.parametrize("kernel", mostly_slow(["metropolis", "exact", "cpsat"], but=["exact", "cpsat"]))
def test_a_space_where_nothing_is_feasible_is_run_and_says_so(kernel: str):
    """The other kernels have theirs in test_gibbs_informed and test_tempering_smc."""
    found = run_chains(
        ragged()._replace(unary_flags=np.ones_like(ragged().unary_flags)), **RUN, kernel=kernel
    )
    assert not found.feasible.any()
    assert not found.start_feasible.any()
    assert (found.score < 0).all(), "lambda is subtracted"


@pytest.mark.parametrize("kernel", mostly_slow(["exact", "cpsat", "metropolis"], but=["exact", "cpsat"]))
@pytest.mark.parametrize("enumerated", [True, False])
def test_nothing_feasible_past_the_sweep(
    kernel: str, enumerated: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Without the sweep the chains find out, and name a condition even where the structures cannot be
    listed."""
    context = small.write(
        tmp_path, small.changed(small.CONTEXT, ("pools.norm", [small.CONTEXT["pools"]["norm"][2]]))
    )
    if kernel != "exact":
        monkeypatch.setattr(sweep, "SWEEP_LIMIT", 1)
    if not enumerated:
        monkeypatch.setattr(exact, "STATE_LIMIT", 1)
    with pytest.raises(NoFeasibleStructure) as refused:
        gnrs.draft(context, kernel=kernel, chains=8, steps=4)
    line = str(refused.value)
    assert refused.value.exit_code == 1
    assert "\n" not in line
    assert line.startswith("no chain reached a structure that passes every hard condition; ") == (
        kernel != "exact"
    )
    assert ("alone excludes 100% of the structures; " in line) == (not enumerated)
    assert ("still breaks " in line) == enumerated


# ---- requests that do not fit


@every_kernel
@pytest.mark.parametrize("change", [{"chains": 10**10}, {"steps": 10**12}], ids=["chains", "steps"])
def test_what_does_not_fit_is_refused_before_anything_runs(kernel: str, change: dict[str, int]):
    with pytest.raises(
        InputError, match=r"need \d+ bytes, more than the 4294967296 allowed; ask for at most \d+"
    ) as refused:
        run_chains(ragged(), **(RUN | change), kernel=kernel)  # would take weeks
    assert refused.value.source == "arguments"


# ---- stops

SLOWED = """
import os, pathlib, sys, time
from gnrs_ppl.cli import run

def pause(where):
    print(where, flush=True)
    time.sleep(600)

def half(self, content, write=pathlib.Path.write_bytes):
    write(self, content[: len(content) // 2])
    pause("half")

def renamed(source, target, replace=os.replace):
    if sys.argv[1] == "before":
        pause("before")
    replace(source, target)
    pause("after")

if sys.argv[1] == "half":
    pathlib.Path.write_bytes = half
else:
    os.replace = renamed
sys.exit(run(sys.argv[2:]))
"""


EVERY_STOP = list(itertools.product(["half", "before", "after"], [signal.SIGINT, signal.SIGKILL]))
FEW_STOPS = [("half", signal.SIGINT), ("after", signal.SIGKILL)]


def test_a_stop_while_the_file_is_written_leaves_the_old_or_the_new(tmp_path: Path):
    """A process says where it is and waits there: half of the content written, all of it, or renamed. All
    side by side."""
    stopped = []
    for where, stop in tier(FEW_STOPS, EVERY_STOP):
        folder = tmp_path / f"{where} {stop.name}"
        folder.mkdir()
        context, out = small.write(folder), folder / "results" / "x.nc"
        out.parent.mkdir()
        out.write_bytes(b"old")
        arguments = [
            "sample",
            str(context),
            "--kernel",
            "exact",
            "--chains",
            "8",
            "--steps",
            "10",
            "--out",
            str(out),
        ]
        process = subprocess.Popen(
            [sys.executable, "-c", SLOWED, where, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        stopped.append((where, stop, process, out))
    for where, stop, process, out in stopped:
        assert process.stdout is not None
        assert process.stdout.readline() == f"{where}\n"
        process.send_signal(stop)
        error = process.communicate(timeout=60)[1]
        if where == "after":
            assert load(out)["posterior"].sizes["draw"] == 10
        else:
            assert out.read_bytes() == b"old"
        if stop == signal.SIGINT:
            assert process.returncode == 130
            assert error in ("", "gnrs: interrupted\n")
            assert [path.name for path in out.parent.iterdir()] == ["x.nc"], "nothing is left behind"
        else:
            assert process.returncode == -signal.SIGKILL
            assert {path.name for path in out.parent.iterdir() if not path.name.startswith(".gnrs-")} == {
                "x.nc"
            }


DELAYS = [1.0, 2.0, 3.0, 4.0]
"""Seconds; eight runs at once take about four on two cores."""


@pytest.mark.slow
def test_stops_at_any_time_leave_the_old_file_or_the_new(tmp_path: Path):
    """Eight runs side by side; some are stopped while they load, some in the sweep, and the last may be done
    by then."""
    runs = []
    for number, (delay, stop) in enumerate(
        (delay, stop) for delay in DELAYS for stop in (signal.SIGINT, signal.SIGKILL)
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        out = folder / "x.nc"
        out.write_bytes(b"old")
        arguments = [
            "sample",
            str(small.write(folder)),
            "--kernel",
            "exact",
            "--chains",
            "8",
            "--steps",
            "10",
            "--out",
            str(out),
        ]
        process = subprocess.Popen(
            [sys.executable, "-m", "gnrs_ppl", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        runs.append((time.monotonic() + delay, stop, process, out))
    for due, stop, process, out in sorted(runs, key=lambda one: one[0]):
        time.sleep(max(0.0, due - time.monotonic()))
        process.send_signal(stop)
        code = process.wait(timeout=60)
        content = out.read_bytes()
        if code == 0:
            assert content != b"old"
        assert content == b"old" or load(out)["posterior"].sizes["draw"] == 10
        if stop == signal.SIGINT:
            assert {path.name for path in out.parent.iterdir()} == {
                "context.json",
                "log.csv",
                "rule.json",
                "x.nc",
            }


# ---- files of other versions


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stored")
    out = folder / "x.nc"
    assert (
        run(
            [
                "sample",
                str(small.write(folder)),
                "--kernel",
                "exact",
                "--chains",
                "16",
                "--steps",
                "20",
                "--out",
                str(out),
            ]
        )
        == 0
    )
    return out


def judged(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Exit code of ``gnrs diagnose``, its verdict, and its line of complaint."""
    capsys.readouterr()
    code = run(["diagnose", str(path), "--json"])
    out, error = capsys.readouterr()
    assert (code == 2) == (out == "") == (error != "")
    assert error.count("\n") == (code == 2)
    return code, json.loads(out)["verdict"] if out else "", error


def rewritten(stored: Path, path: Path, change: Callable[[xr.DataTree], xr.DataTree]) -> Path:
    with xr.open_datatree(stored, engine="h5netcdf") as opened:
        tree = opened.load()
    change(tree).to_netcdf(path, engine="h5netcdf")
    return path


def test_a_file_without_attributes_and_with_more_than_it_needs(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    expected = judged(stored, capsys)[:2]

    def bare(tree: xr.DataTree) -> xr.DataTree:
        return xr.DataTree.from_dict(
            {name: child.to_dataset().drop_attrs() for name, child in tree.children.items()}
        )

    def more(tree: xr.DataTree) -> xr.DataTree:
        groups = {
            name: child.to_dataset().assign(later=("of", [1.0, 2.0]), remark="text")
            for name, child in tree.children.items()
        }
        return xr.DataTree.from_dict(
            {
                "/": xr.Dataset(attrs=tree.attrs | {"later": "more"}),
                "prior": xr.Dataset({"scope": ("n", [1])}),
                **groups,
            }
        )

    assert judged(rewritten(stored, tmp_path / "more.nc", more), capsys)[:2] == expected
    code, verdict, _ = judged(rewritten(stored, tmp_path / "bare.nc", bare), capsys)
    assert code in (0, 1)
    assert verdict in ("mixed", "not mixed", "unknown"), "draws of no known kernel are judged as a chain's"


NEEDED = {
    "posterior": ["s_search"],
    "sample_stats": ["move", "accepted", "feasible"],
    "constant_data": ["superchain", "norm_start"],
}


@pytest.mark.parametrize(
    "group, name", few([(group, name) for group, names in NEEDED.items() for name in names], 2)
)
def test_a_file_that_lacks_what_is_needed_is_refused_by_name(
    group: str, name: str, stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    def without(tree: xr.DataTree) -> xr.DataTree:
        tree[group] = xr.DataTree(tree[group].to_dataset().drop_vars(name))
        return tree

    path = rewritten(stored, tmp_path / "y.nc", without)
    code, _, line = judged(path, capsys)
    assert code == 2
    assert f"{path}: holds no {group}/{name}; name a file that gnrs sample wrote" in line


def test_damaged_files_are_judged_or_refused_in_one_line(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Cut short, or some bytes changed anywhere; what changes no more than a draw may still be judged."""
    raw, path, rng = stored.read_bytes(), tmp_path / "z.nc", random.Random(0)
    codes = []
    for case in range(24):
        content = bytearray(raw[: rng.randrange(len(raw))] if case % 3 == 0 else raw)
        for _ in range(0 if case % 3 == 0 else rng.choice([1, 20, 200])):
            content[rng.randrange(len(content))] = rng.randrange(256)
        path.write_bytes(bytes(content))
        codes.append(judged(path, capsys)[0])
    assert {*codes[::3]} == {2}
    assert {*codes} <= {0, 1, 2}
