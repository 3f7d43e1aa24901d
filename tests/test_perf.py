"""The harness of perf/inference: it runs on the platform it is told, and says so where there is none."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jax
import pytest

from gnrs_ppl.inference.kernels import KERNELS

ROOT = Path(__file__).resolve().parent.parent


def harness(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "perf" / "inference"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False, timeout=600)


@pytest.mark.slow  # every kernel is compiled at two numbers of chains
def test_on_the_device_that_is_named(tmp_path: Path) -> None:
    out = tmp_path / "speed.json"
    done = harness("--quick", "--device", "cpu", "--parts", "kernels", "--out", str(out))
    assert done.returncode == 0, done.stderr
    written = json.loads(out.read_text())
    assert written["device"]["device"].startswith("cpu")
    rows = written["results"]["kernels"]
    assert {row["kernel"] for row in rows} == {*KERNELS} - {"cpsat", "numpyro"}
    for row in rows:  # on a busy machine what would take long is left out
        assert row["steps/s"] > 0 if "steps/s" in row else row["status"].startswith("skipped"), row
    assert "steps/s" in rows[0]


@pytest.mark.slow
def test_the_kernel_for_gpus_draws_what_run_chains_draws_and_triton_takes_it(tmp_path: Path) -> None:
    out = tmp_path / "speed.json"
    done = harness("--device", "gpu", "--interpret", "--out", str(out))
    assert done.returncode == 0, done.stderr
    said, *rows = json.loads(out.read_text())["results"]["pallas"]
    assert said["status"] == "interpreted: no GPU was run"
    assert [row["goal"] for row in rows] == ["GNRS-005", "GNRS-052"]
    for row in rows:
        assert row["options equal to those of run_chains"] == 1.0
        assert row["lowered to Triton"] is True


@pytest.mark.slow
def test_a_device_that_is_not_there_is_refused_in_one_line() -> None:
    if jax.default_backend() == "gpu":
        pytest.skip("there is one")
    done = harness("--quick", "--device", "gpu")
    assert done.returncode == 2
    assert "--device" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
