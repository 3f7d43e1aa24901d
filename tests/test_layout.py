"""Imports run one way, the top level stays light, and the root links point into the package."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "gnrs_ppl"
BELOW: dict[str, set[str]] = {
    "safe_text": set(),
    "stops": set(),
    "errors": {"safe_text"},
    "progress": {"errors", "safe_text"},
    "versions": set(),
    "lazy": set(),
    "cores": set(),
    "context": {"errors", "lazy", "stops"},
    "benchmarks": {"errors", "context"},
    "rule": {"errors", "context"},
    "words": {"context"},
    "reading": {"errors", "context", "rule", "words"},
    "audit": {"errors", "stops", "safe_text", "context", "benchmarks", "rule", "versions"},
    "realize": {"errors", "context", "rule", "words", "audit", "llm"},
    "importing": {"errors", "safe_text", "context", "rule", "words", "reading", "realize"},
    "records": {
        "errors",
        "safe_text",
        "context",
        "benchmarks",
        "rule",
        "words",
        "reading",
        "realize",
        "importing",
    },
    "rulebook": {"errors", "safe_text", "context", "benchmarks", "rule", "audit", "realize", "candidates"},
    "history": {"errors", "context", "rule", "audit", "versions"},
    "candidates": {"errors", "context", "rule", "reading", "llm"},
    "models": {"errors", "lazy", "context", "rule", "reading", "candidates"},
    "inference": {"errors", "safe_text", "lazy", "versions", "context", "models", "progress"},
    "llm": {"errors", "context", "rule"},
    "calibration": {
        "errors",
        "lazy",
        "versions",
        "context",
        "benchmarks",
        "rule",
        "candidates",
        "models",
        "inference",
    },
    "posterior": {
        "errors",
        "safe_text",
        "context",
        "benchmarks",
        "rule",
        "audit",
        "realize",
        "candidates",
        "models",
        "inference",
        "calibration",
    },
    "evaluate": {
        "errors",
        "safe_text",
        "context",
        "benchmarks",
        "rule",
        "reading",
        "audit",
        "realize",
        "llm",
    },
}
"""What each part may import besides itself (DESIGN §6)."""
ASSEMBLY = {PACKAGE / "audit" / name: {"realize"} for name in ("__init__.py", "large.py")}
"""``audit()`` and ``audit_large()`` ask realize for sentences, inside the function."""

CURATED = [
    "gnrs_ppl",
    *(
        f"gnrs_ppl.{part}"
        for part in (
            "audit",
            "calibration",
            "context",
            "evaluate",
            "inference",
            "llm",
            "models",
            "reading",
            "rule",
        )
    ),
]
"""Packages that list what a user may take from them."""


def imports(path: Path) -> set[str]:
    """Parts of the package that a file imports, anywhere in it and however it says so."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("gnrs_ppl.")}
    return found


@pytest.mark.parametrize("part", BELOW)
def test_imports_run_one_way(part: str) -> None:
    files = (
        [PACKAGE / f"{part}.py"]
        if (PACKAGE / f"{part}.py").exists()
        else sorted((PACKAGE / part).rglob("*.py"))
    )
    assert files
    for path in files:
        assert imports(path) - {part} <= BELOW[part] | ASSEMBLY.get(path, set()), path


def test_only_draft_and_above_import_evaluate() -> None:
    users = {p.relative_to(PACKAGE).parts[0] for p in PACKAGE.rglob("*.py") if "evaluate" in imports(p)}
    assert users <= {"evaluate", "certificate.py", "draft.py", "cli", "report", "experiments"}


HEAVY = {"jax", "duckdb", "openai", "numpyro", "blackjax", "funsor", "sqlglot", "xarray", "scipy", "pandas"}


@pytest.mark.parametrize(
    "command, heavy",
    [
        ("import gnrs_ppl", HEAVY | {"numpy", "pydantic", "typer"}),
        ("import gnrs_ppl.inference, gnrs_ppl.models, gnrs_ppl.calibration", HEAVY | {"numpy", "pydantic"}),
        ("import gnrs_ppl.llm", HEAVY),
        ("from gnrs_ppl.cli import run; run(['--help'])", HEAVY | {"numpy", "pydantic"}),
    ],
)
def test_the_top_level_is_light(command: str, heavy: set[str]) -> None:
    probe = f"{command}; import sys; loaded = {heavy} & sys.modules.keys(); assert not loaded, loaded"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("package", CURATED)
def test_what_a_package_lists_is_what_it_gives(package: str) -> None:
    module = importlib.import_module(package)
    assert len(module.__all__) == len(set(module.__all__))
    for name in module.__all__:
        assert getattr(module, name) is not None, name
    assert set(module.__all__) <= {*dir(module)}
    with pytest.raises(AttributeError, match="nonsense"):
        module.nonsense  # noqa: B018


@pytest.mark.parametrize("package", CURATED)
def test_what_a_package_lists_says_what_it_takes(package: str) -> None:
    module = importlib.import_module(package)
    for name, function in ((name, getattr(module, name)) for name in module.__all__):
        if not inspect.isfunction(function) or not (takes := inspect.signature(function).parameters):
            continue
        _, _, section = str(inspect.getdoc(function)).partition("Parameters\n----------\n")
        heads = [
            line.split(" : ")[0] for line in section.split("\n\n")[0].splitlines() if not line.startswith(" ")
        ]
        assert {part.strip(" *") for head in heads for part in head.split(",")} == {*takes}, name


def test_functions_win_over_modules_of_the_same_name() -> None:
    probe = "import gnrs_ppl.draft, gnrs_ppl.audit.run, gnrs_ppl as gnrs; assert callable(gnrs.draft) and callable(gnrs.audit)"
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0


@pytest.mark.parametrize("name", ["models", "inference", "calibration", "prompts", "experiments"])
def test_root_links(name: str) -> None:
    link = ROOT / name
    assert link.is_symlink()
    assert link.readlink() == Path("gnrs_ppl") / name
    assert link.is_dir()


def test_no_file_names_a_machine() -> None:
    words = ["/wo" + "rk/", "/ro" + "ot/", "/ho" + "me/"]
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    for name in filter(None, listed):
        path = ROOT / name
        if path.is_file() and path.suffix in (".py", ".md", ".yaml", ".toml", ".txt", ".json", ""):
            text = path.read_text(errors="ignore")
            assert not [w for w in words if w in text], name
