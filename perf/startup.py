"""Times as a user meets them: help, import, a context, a draft with cold and warm compilation cache, the
notebook.

Run as ``python perf/startup.py`` from the repository, on a machine that does nothing else. Medians of five
runs (drafts: one cold, three warm; contexts: one goal of each of the eight families; the notebook: one run,
seconds of processors).
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONTEXT = ROOT / "examples" / "invoices" / "context.yaml"
NOTEBOOK = ROOT / "docs" / "notebooks" / "mixing.ipynb"


def seconds(arguments: list[str], environment: dict[str, str], repeats: int) -> list[float]:
    """Wall seconds of a Python child process, one per repeat."""
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, *arguments], check=True, capture_output=True, env=environment, cwd=ROOT
        )
        taken.append(time.perf_counter() - start)
    return taken


def context_seconds() -> list[float]:
    """Wall seconds to load a goal with its log, one per family of GNRS-Bench."""
    from gnrs_ppl.benchmarks import gnrs_bench

    taken = []
    for family in gnrs_bench.FAMILIES:
        goal = next(g.id for g in gnrs_bench.goals() if g.family == family)
        gnrs_bench._scene.cache_clear()
        start = time.perf_counter()
        if gnrs_bench.load(goal).log.events < 1000:
            sys.exit(f"{goal}: the log is not what it was")
        taken.append(time.perf_counter() - start)
    return taken


def notebook_seconds(environment: dict[str, str]) -> float:
    """Processor seconds of the notebook's code, run in an empty folder."""

    def used() -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return children.ru_utime + children.ru_stime

    cells = json.loads(NOTEBOOK.read_text())["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    with tempfile.TemporaryDirectory() as folder:
        before = used()
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, env=environment, cwd=folder
        )
        return used() - before


def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"GNRS_CACHE_DIR": cache}
        bare = statistics.median(seconds(["-c", "pass"], environment, 5))
        probe = "import sys, gnrs_ppl; assert 'jax' not in sys.modules, 'import gnrs_ppl imports jax'"
        rows = [
            ("python -c pass", bare, None),
            ("gnrs --help", statistics.median(seconds(["-m", "gnrs_ppl", "--help"], environment, 5)), 0.4),
            (
                "import gnrs_ppl (without jax)",
                statistics.median(seconds(["-c", probe], environment, 5)),
                0.2,
            ),
            ("load_context, with its log", statistics.median(context_seconds()), 0.2),
        ]
        drafting = ["-m", "gnrs_ppl", "draft", str(CONTEXT)]
        rows.append(("gnrs draft, cold compilation cache", seconds(drafting, environment, 1)[0], None))
        rows.append(
            ("gnrs draft, warm compilation cache", statistics.median(seconds(drafting, environment, 3)), 5.0)
        )
        rows.append(("docs/notebooks/mixing, of processors", notebook_seconds(environment), 60.0))
    print(f"{'what':<38}{'seconds':>9}{'aim':>7}")
    for what, taken, aim in rows:
        print(f"{what:<38}{taken:>9.2f}{'' if aim is None else f'{aim:.1f}':>7}")
    missed = [what for what, taken, aim in rows if aim is not None and taken > aim]
    if missed:
        sys.exit(f"over the aim: {', '.join(missed)}")


if __name__ == "__main__":
    main()
