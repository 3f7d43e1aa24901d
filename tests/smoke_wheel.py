"""Every verb from the built wheel, as a user installs it: a fresh environment, today's newest dependencies,
an empty folder.

Run as ``python tests/smoke_wheel.py`` with the Python to install for; it needs pip and a package index.
Warnings are errors. Prints a line per command; exits 1 if one does not end as it should.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SEARCH = ["--chains", "8", "--steps", "50"]
SENTENCE = "The budget holder must approve the invoice within 5 days after it was posted."
OWN = ["--rule", "own/rule.json"]
Command = tuple[list[str], set[int], str]
COMMANDS: list[Command] = [
    (["--version"], {0}, "gnrs-ppl"),
    (["goals"], {0}, "GNRS-001"),
    (["goals", "--bench", "realcharter"], {0}, "card"),
    (["schema", "cases"], {0}, "Examples"),
    (["import", "events.csv", "--zone", "Europe/Berlin", "--out", "imported"], {0}, "context.yaml"),
    (["profile", "context.yaml"], {0}, "variants"),
    (["lint", "imported/context.yaml"], {0, 1}, "in imported/context.yaml"),
    (["goal", "new", "imported/context.yaml", "--sentence", SENTENCE, "--yes"], {0}, "ApproveInvoice"),
    (["goal", "edit", "imported/context.yaml", "--within", "P7D"], {0}, "P7D"),
    (["read", "--sentence", SENTENCE, "--schema", "context.yaml"], {0}, "ApproveInvoice"),
    (["draft", "GNRS-005", *SEARCH, "--out", "drafted"], {0}, "Rule for GNRS-005"),
    (["draft", "context.yaml", *SEARCH, "--out", "own"], {0}, "Rule for"),
    (["draft", "GNRS-001", "--kernel", "cpsat"], {2}, "OR-Tools"),
    (["charter", "GNRS-001", "GNRS-005", "--pool", "8", "--out", "charter"], {0, 1}, "rule"),
    (["audit", "GNRS-005", "--rule", "drafted/rule.json"], {0, 1}, "Violated"),
    (["audit", *OWN, "--log", "events.csv", "--json"], {0, 1}, "verdict"),
    (["audit", "context.yaml", *OWN, "--store", "audits.duckdb", "--out", "own"], {0, 1}, "Violated"),
    (["audit", "--posterior", "own"], {0, 1}, "P(violated)"),
    (["report", "own", "--out", "page.html"], {0}, "page.html"),
    (["export", "own/rule.json", "--to", "view", "--context", "context.yaml"], {0}, "SELECT"),
    (["audit", "context.yaml", *OWN, "--store", "audits.duckdb"], {0, 1}, "Violated"),
    (["history", "audits.duckdb"], {0}, "run"),
    (["drift", "audits.duckdb"], {0, 1}, "run"),
    (["compare", "own/rule.json", "own/rule.json"], {0}, "same"),
    (["test", "own/rule.json", "cases.yaml"], {0, 1}, "nothing happens"),
    (["ask", "context.yaml", "--json"], {0}, "question"),
    (["impact", "own/rule.json", "--context", "context.yaml", "--json"], {0}, "knee"),
    (["gaps", "context.yaml"], {0, 3}, "records"),
    (["sample", "GNRS-001", *SEARCH, "--out", "run.nc"], {0}, "run.nc"),
    (["diagnose", "run.nc"], {0, 1}, "mixed"),
    (["diagnose", "drafted/posterior.nc", "--json"], {0, 1}, "verdict"),
    (["serve", "."], {2}, "gnrs-ppl[serve]"),
    (["experiment", "list"], {0}, "ablations"),
    (["experiment", "aog", "--out", "experiments"], {0}, "wrote experiments"),
]
LONG: list[Command] = [
    (["fit", "--goal", "GNRS-005", "--goal", "GNRS-052", "--out", "weights.json"], {0}, "weights.json"),
]
"""What is typed, the exit codes that are right, and a word of the answer; LONG runs beside the others."""
CASES = "cases:\n  - {name: nothing happens, events: [ReceiveInvoice], expect: silent}\n"


def tracked() -> list[str]:
    """The files of the checkout that are under version control and still there."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def copy_sources(folder: Path) -> None:
    """What a wheel is built from: the tracked files alone, so that nothing left lying in the checkout gets
    into it."""
    for name in tracked():
        if name.split("/")[0] in ("gnrs_ppl", "pyproject.toml", "README.md", "LICENSE"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


def unpack(wheel: Path, folder: Path) -> set[str]:
    """The names of the package's files in a wheel, unpacked into a folder."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
        return {name for name in archive.namelist() if name.startswith("gnrs_ppl/")}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        sources, environment, empty = (Path(folder) / name for name in ("sources", "environment", "empty"))
        copy_sources(sources)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
        subprocess.run(
            [*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, str(sources)], check=True
        )
        (wheel,) = Path(folder).glob("*.whl")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
        subprocess.run(
            [*pip, "--python", str(environment / "bin" / "python"), "install", "--quiet", str(wheel)],
            check=True,
        )
        empty.mkdir()
        for name in ("context.yaml", "events.csv"):
            shutil.copy(ROOT / "examples" / "invoices" / name, empty)
        (empty / "cases.yaml").write_text(CASES)
        own = {
            "HOME": folder,
            "GNRS_CACHE_DIR": f"{folder}/cache",
            "PYTHONWARNINGS": "error",
            "PATH": os.defpath,
        }

        def failures(commands: list[Command]) -> int:
            return sum(not ends(environment / "bin" / "gnrs", command, empty, own) for command in commands)

        with ThreadPoolExecutor() as both:
            failed = sum(both.map(failures, (COMMANDS, LONG)))
    count = len(COMMANDS) + len(LONG)
    sys.exit(f"{failed} of {count} commands did not end as they should" if failed else 0)


def ends(gnrs: Path, command: Command, folder: Path, own: dict[str, str]) -> bool:
    """Whether a command ends as it should; prints a line, and all it said where it does not."""
    arguments, codes, word = command
    begun = time.perf_counter()
    done = subprocess.run(
        [gnrs, *arguments], cwd=folder, env=own, capture_output=True, text=True, check=False
    )
    right = done.returncode in codes and word in done.stdout + done.stderr and "Traceback" not in done.stderr
    line = f"gnrs {' '.join(arguments):<70} exit {done.returncode}  {time.perf_counter() - begun:5.1f} s"
    wrong = f"{line}: {sorted(codes)} and {word!r} were expected\n{done.stdout}\n{done.stderr}"
    print(line if right else wrong, flush=True)
    return right


if __name__ == "__main__":
    main()
