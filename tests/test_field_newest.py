"""What would fail on the newest Python and packages alone is found on any: aliases that NumPy 2.5 makes no classes of, verbs
that no smoke test runs, a smoke test that nothing calls."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import typer
from smoke_wheel import COMMANDS, LONG, ROOT

from gnrs_ppl.cli.verbs import app

CLASSES = {"np.ndarray", "jax.Array"}
"""What jaxtyping takes on every version; from NumPy 2.5 on, ``NDArray[...]`` is no class."""


def evaluated(source: str) -> Iterator[str]:
    """The arrays of jaxtyping's types that are evaluated when a module is imported or run."""
    tree = ast.parse(source)
    names = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "jaxtyping"
        for alias in node.names
    }
    lazy = set[int]()
    if "from __future__ import annotations" in source:
        for node in ast.walk(tree):
            for written in (getattr(node, "annotation", None), getattr(node, "returns", None)):
                if isinstance(written, ast.expr):
                    lazy |= {id(part) for part in ast.walk(written)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and node.value.id in names
            and id(node) not in lazy
        ):
            first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
            yield ast.unparse(first)


def test_types_of_arrays_that_are_evaluated_name_plain_classes() -> None:
    header = "from __future__ import annotations\nfrom jaxtyping import Int\n"
    assert [*evaluated(header + 'Codes = Int[NDArray[np.int8], "n"]')] == ["NDArray[np.int8]"]
    assert [*evaluated(header + 'def f(x: Int[NDArray[np.int8], "n"]) -> None: ...')] == []
    found = {
        f"{path.relative_to(ROOT)}: {array}"
        for folder in ("gnrs_ppl", "bench_maker", "tools", "tests", "perf", "examples")
        for path in (ROOT / folder).rglob("*.py")
        for array in evaluated(path.read_text())
        if array not in CLASSES
    }
    assert found == set()


def test_the_smoke_test_runs_every_verb() -> None:
    verbs = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    known = {
        (name, *rest)
        for name, verb in verbs.items()
        for rest in ([(sub,) for sub in verb.commands] if hasattr(verb, "commands") else [()])
    }
    run = {tuple(arguments) for arguments, _, _ in (*COMMANDS, *LONG)}
    assert {verb for verb in known if not any(given[: len(verb)] == verb for given in run)} == set()


def test_the_checks_call_the_smoke_test_on_the_newest_python(tmp_path: Path) -> None:
    assert "make smoke-newest" in (ROOT / ".ci" / "run").read_text()
    for name, told in {"3.13.2": "3.013.002", "3.13.10": "3.013.010", "3.12.9": ""}.items():
        stand_in = tmp_path / "versions" / name / "bin" / "python"
        stand_in.parent.mkdir(parents=True)
        stand_in.write_text(f'#!/bin/sh\n[ -z "{told}" ] || echo "{told} $0"\n')
        stand_in.chmod(0o755)
    shown = subprocess.run(
        ["make", "--dry-run", "smoke-newest", "PYTHON=python3"],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "PYENV_ROOT": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert re.search(r'echo "smoke: (?!\S*/versions/3\.(12|13\.2))', shown), (
        shown
    )  # one on PATH may be newer still
    nowhere = {"PATH": "/usr/bin:/bin", "PYENV_ROOT": str(tmp_path / "none")}
    skipped = subprocess.run(
        ["make", "smoke-newest", "PYTHON=python3", "PYTHON_NEWEST="],
        cwd=ROOT,
        env=nowhere,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert skipped.startswith("smoke: skipped, no Python 3.13 or newer was found")
