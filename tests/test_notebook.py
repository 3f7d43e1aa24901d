"""The notebooks in docs/notebooks: each is what its source says, was run through, and its code runs by
itself."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "notebooks"


PICTURES = {"mixing": 5, "weights": 0}
TOLD = {"mixing": " of 16 are mixed", "weights": "log density of the best"}


def cells(name: str) -> list[dict[str, Any]]:
    return json.loads((FOLDER / f"{name}.ipynb").read_text())["cells"]


def test_every_notebook_is_tested() -> None:
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == {*PICTURES}


@pytest.mark.parametrize("name", PICTURES)
def test_the_notebook_is_its_source_run_through(name: str) -> None:
    specification = importlib.util.spec_from_file_location("build", FOLDER / "build.py")
    build = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(build)
    assert [(cell["cell_type"], "".join(cell["source"])) for cell in cells(name)] == build.cells(
        (FOLDER / f"{name}.py").read_text()
    )
    ran = [cell for cell in cells(name) if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in ran] == [*range(1, len(ran) + 1)]
    outputs = [output for cell in ran for output in cell["outputs"]]
    assert not [output for output in outputs if output["output_type"] == "error"]
    assert not [output for output in outputs if output.get("name") == "stderr"]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == PICTURES[name]


@pytest.mark.slow  # sixteen goals are sampled and judged; weights are sampled
@pytest.mark.parametrize("name", PICTURES)
def test_the_code_runs_by_itself(name: str, tmp_path: Path) -> None:
    if PICTURES[name]:
        pytest.importorskip("matplotlib")
    script = tmp_path / f"{name}.py"
    code = ["".join(cell["source"]) for cell in cells(name) if cell["cell_type"] == "code"]
    script.write_text("\n".join(code))
    readers = {"JAX_NUMPY_DTYPE_PROMOTION": "standard", "JAX_NUMPY_RANK_PROMOTION": "allow"}  # NumPyro mixes
    environment = os.environ | readers | {"PYTHONWARNINGS": "error"}
    done = subprocess.run(
        [sys.executable, script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert TOLD[name] in done.stdout
