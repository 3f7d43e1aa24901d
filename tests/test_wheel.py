"""The wheel holds every file of the package and works without the checkout; its constraints are those of one
Python each."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from smoke_wheel import ROOT, copy_sources, tracked, unpack

import gnrs_ppl

BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
RUN = "import sys; sys.path.insert(0, sys.argv[1]); import gnrs_ppl; print(gnrs_ppl.__file__); from gnrs_ppl.cli import run; run(sys.argv[2:])"


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[str]]:
    pytest.importorskip("setuptools")
    folder = tmp_path_factory.mktemp("wheel")
    copy_sources(folder / "sources")
    done = subprocess.run(
        [sys.executable, "-c", BUILD, folder],
        cwd=folder / "sources",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    return folder / "unpacked", unpack(wheel, folder / "unpacked")


def test_the_wheel_holds_every_file_of_the_package(unpacked: tuple[Path, set[str]]) -> None:
    assert unpacked[1] == {name for name in tracked() if name.startswith("gnrs_ppl/")}


@pytest.mark.parametrize(
    "arguments, word",
    [
        (["--version"], f"gnrs-ppl {gnrs_ppl.__version__}"),
        (["goals"], "GNRS-001"),
        pytest.param(["experiment", "list"], "ablations", marks=pytest.mark.slow),
        pytest.param(
            ["draft", "GNRS-001", "--kernel", "exact", "--chains", "8", "--out", "drafted"],
            "Rule for GNRS-001",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_wheel_works_without_the_checkout(
    unpacked: tuple[Path, set[str]], arguments: list[str], word: str, tmp_path: Path
) -> None:
    command = [sys.executable, "-I", "-c", RUN, unpacked[0], *arguments]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=os.environ | {"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(unpacked[0]))
    assert word in done.stdout
    written = {path.name for path in tmp_path.glob("drafted/*")}
    assert written >= {"rule.txt", "rule.json", "draft.json", "posterior.nc"} or "--out" not in arguments


def test_the_citation_is_of_this_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert str(cited["version"]) == gnrs_ppl.__version__
    assert cited["license"] == project["license"]
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()


def test_no_file_of_the_package_imports_what_stays_outside() -> None:
    outside = {path.stem for path in ROOT.iterdir() if path.is_dir() and not path.is_symlink()} - {"gnrs_ppl"}
    assert {"bench_maker", "tests"} <= outside
    for name in tracked():
        if name.startswith("gnrs_ppl/") and name.endswith(".py"):
            roots = {
                match.partition(".")[0]
                for match in re.findall(r"^ *(?:from|import) ([\w.]+)", (ROOT / name).read_text(), re.M)
            }
            assert not roots & outside, name


@pytest.mark.parametrize("path", sorted(ROOT.glob("constraints-*.txt")), ids=lambda path: path.stem)
def test_constraints_pin_what_the_project_asks_for(path: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)$", path.read_text(), re.M))
    pinned = {canonicalize_name(name): version for name, version in pinned.items()}
    for line in [*project["dependencies"], *project["optional-dependencies"]["dev"]]:
        asked = Requirement(line)
        assert asked.specifier.contains(pinned[canonicalize_name(asked.name)]), f"{path.name}: {line}"
