"""The notebook in docs/notebooks: it is what its source says, it was run through, and its code runs by
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


def cells() -> list[dict[str, Any]]:
    return json.loads((FOLDER / "mixing.ipynb").read_text())["cells"]


def code() -> list[str]:
    return ["".join(cell["source"]) for cell in cells() if cell["cell_type"] == "code"]


def test_the_notebook_is_its_source_run_through() -> None:
    specification = importlib.util.spec_from_file_location("build", FOLDER / "build.py")
    build = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(build)
    assert [(cell["cell_type"], "".join(cell["source"])) for cell in cells()] == build.cells(
        (FOLDER / "mixing.py").read_text()
    )
    ran = [cell for cell in cells() if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in ran] == [*range(1, len(ran) + 1)]
    outputs = [output for cell in ran for output in cell["outputs"]]
    assert not [output for output in outputs if output["output_type"] == "error"]
    assert not [output for output in outputs if output.get("name") == "stderr"]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 5


@pytest.mark.slow  # sixteen goals are sampled and judged
def test_the_code_runs_by_itself(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    script = tmp_path / "mixing.py"
    script.write_text("\n".join(code()))
    environment = os.environ | {"PYTHONWARNINGS": "error"}
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
    assert " of 16 are mixed" in done.stdout
