"""The certificate of a draft past the sweep, and ``--kernel cpsat`` through the command line; with OR-Tools
and without."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import small

from gnrs_ppl.cli import run
from gnrs_ppl.inference import sweep
from gnrs_ppl.inference.trace import load

CHAINS = ["--chains", "8", "--steps", "20"]
"""Too few to be sure of the optimum, which the bound then shows."""


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(small.write(tmp_path_factory.mktemp("small")))


@pytest.fixture(scope="module")
def optimum(context: str) -> float:
    """Of the space of 180 structures, swept; the weights of the tests are those of a plain draft."""
    return float(sweep.sweep(tables(context), 1.0).optimum)


def tables(context: str) -> Any:
    from gnrs_ppl.calibration.weights import frozen_weights
    from gnrs_ppl.candidates.build import pools_of
    from gnrs_ppl.context.load import load_context
    from gnrs_ppl.models.energy import contract
    from gnrs_ppl.models.graph import compile_graph

    loaded = load_context(context)
    return contract(compile_graph(loaded, pools_of(loaded).pools).space, frozen_weights().array())


@pytest.fixture
def past_the_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "SWEEP_LIMIT", 100)


@pytest.fixture
def without_ortools(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, package=None: None if name.startswith("ortools") else found(name, package),
    )
    for name in ("ortools", "ortools.sat", "ortools.sat.python"):
        monkeypatch.setitem(sys.modules, name, None)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a verb that succeeds prints, on one line."""
    assert run([*arguments]) == 0
    return " ".join(capsys.readouterr().out.split())


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run([*arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.usefixtures("past_the_sweep")
def test_a_draft_past_the_sweep_is_bounded_by_the_solver(
    context: str, optimum: float, capsys: pytest.CaptureFixture[str]
):
    found = told(capsys, "draft", context, *CHAINS)
    certificate, score = found["certificate"], found["score"]["s_search"]
    assert (certificate["method"], certificate["optimum"], found["search"]["optimum"]) == (
        "CP-SAT",
        None,
        None,
    )
    assert certificate["bound"] == pytest.approx(optimum, abs=1e-4)
    assert certificate["bound"] >= optimum
    assert certificate["epsilon_search"] == pytest.approx(certificate["bound"] - score)
    assert (
        certificate["statement"][0]
        == f"ε_S ≤ {certificate['epsilon_search']:.4f}, bounded by CP-SAT: no structure scores above {certificate['bound']:.4f}"
    )
    assert found["search"]["bound"] is None, "the chains have none"
    assert certificate["statement"][0] in said(capsys, "draft", context, *CHAINS)
    assert "180 structures, not enumerated" in said(capsys, "draft", context, *CHAINS)


@pytest.mark.usefixtures("past_the_sweep")
def test_the_solver_behind_draft_and_sample(
    context: str, optimum: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    found = told(capsys, "draft", context, "--kernel", "cpsat")
    assert found["search"]["kernel"] == "cpsat"
    assert found["score"]["s_search"] == pytest.approx(optimum, abs=1e-4), "and it proves it"
    assert 0 <= found["certificate"]["epsilon_search"] < 1e-4
    assert found["certificate"]["bound"] == found["search"]["bound"]
    assert "bounded by CP-SAT" in said(capsys, "draft", context, "--kernel", "cpsat")
    arguments = ["sample", context, "--kernel", "cpsat", "--out", str(tmp_path / "x.nc")]
    sampled = told(capsys, *arguments)
    assert sampled["bound"] == pytest.approx(optimum, abs=1e-4)
    assert (sampled["chains"], sampled["steps"], sampled["optimum"]) == (1, 1, None)
    assert f"no structure scores above {sampled['bound']:.4f}" in said(capsys, *arguments)
    assert load(tmp_path / "x.nc").attrs["kernel"] == "cpsat"
    assert said(capsys, "diagnose", str(tmp_path / "x.nc")).startswith("unknown: "), (
        "one structure is no sample"
    )


def test_where_the_space_is_swept_the_optimum_is_known(
    context: str, optimum: float, capsys: pytest.CaptureFixture[str]
):
    found = told(capsys, "draft", context, "--kernel", "cpsat")
    assert (found["certificate"]["method"], found["certificate"]["epsilon_search"]) == (
        "exact enumeration",
        0,
    )
    assert found["certificate"]["optimum"] == pytest.approx(optimum)


@pytest.mark.usefixtures("past_the_sweep", "without_ortools")
def test_without_ortools_a_draft_past_the_sweep_is_not_certified(
    context: str, capsys: pytest.CaptureFixture[str]
):
    found = told(capsys, "draft", context, *CHAINS)
    certificate = found["certificate"]
    assert (
        certificate["method"],
        certificate["optimum"],
        certificate["bound"],
        certificate["epsilon_search"],
    ) == (
        "not certified",
        None,
        None,
        None,
    )
    assert certificate["statement"][0].startswith(
        "ε_S: not certified; the space is too large to enumerate, and OR-Tools, which would bound it, is"
    )
    assert "not certified" in said(capsys, "draft", context, *CHAINS)


@pytest.mark.usefixtures("without_ortools")
@pytest.mark.parametrize("verb", ["draft", "sample"])
def test_without_ortools_the_solver_is_refused_in_one_line(
    verb: str, context: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert run([verb, context, "--kernel", "cpsat", "--out", str(tmp_path / "out")]) == 2
    out, error = capsys.readouterr()
    assert (out, error.count("\n")) == ("", 1)
    assert error.startswith(
        "gnrs: cpsat needs OR-Tools, which is not installed; pip install 'gnrs-ppl[solver]'"
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("past_the_sweep")
def test_the_exact_kernel_past_the_sweep_names_the_alternatives(
    context: str, capsys: pytest.CaptureFixture[str]
):
    assert run(["draft", context, "--kernel", "exact"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert (
        "180 structures, more than the 100 that are swept; use --kernel metropolis, or --kernel cpsat"
        in error
    )
