"""Times as a user meets them: help, import, a context, a draft with cold and warm compilation cache, the
notebook.

Run as ``python perf/startup.py`` from the repository. Medians of 21 runs of what starts (drafts: one cold, three
warm; contexts: one goal of each of the eight families; the notebook: one run). Aims are held against the seconds
of processors, which other work on the machine changes least; those of the clock stand beside them.
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
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
CONTEXT = ROOT / "examples" / "invoices" / "context.yaml"
NOTEBOOK = ROOT / "docs" / "notebooks" / "mixing.ipynb"
STARTS = 21


class Taken(NamedTuple):
    """Seconds of one run, or medians of several: of the clock, and of processors."""

    clock: float
    processors: float


def runs(arguments: list[str], environment: dict[str, str], repeats: int, folder: Path = ROOT) -> Taken:
    """A Python child process, medians."""
    taken = []
    for _ in range(repeats):
        before, start = _used(), time.perf_counter()
        subprocess.run(
            [sys.executable, *arguments], check=True, capture_output=True, env=environment, cwd=folder
        )
        taken.append((time.perf_counter() - start, _used() - before))
    return Taken(*map(statistics.median, zip(*taken, strict=True)))


def _used() -> float:
    """Processor seconds of all children so far."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def context_loading() -> Taken:
    """A goal with its log, one per family of GNRS-Bench."""
    from gnrs_ppl.benchmarks import gnrs_bench

    taken = []
    for family in gnrs_bench.FAMILIES:
        goal = next(g.id for g in gnrs_bench.goals() if g.family == family)
        gnrs_bench._scene.cache_clear()
        before, start = time.process_time(), time.perf_counter()
        if gnrs_bench.load(goal).log.events < 1000:
            sys.exit(f"{goal}: the log is not what it was")
        taken.append((time.perf_counter() - start, time.process_time() - before))
    return Taken(*map(statistics.median, zip(*taken, strict=True)))


def notebook(environment: dict[str, str]) -> Taken:
    """The notebook's code, run in an empty folder."""
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    with tempfile.TemporaryDirectory() as folder:
        return runs(["-c", code], environment, 1, Path(folder))


COMPILING = """
import time, types
import gnrs_ppl
from gnrs_ppl.inference import chains

gnrs_ppl.use_all_cores()
chains.time = types.SimpleNamespace(perf_counter=time.CLOCK)
print(gnrs_ppl.draft("CONTEXT").search.chains.compile_seconds)
"""


def compiling(environment: dict[str, str], repeats: int) -> Taken:
    """What the sampler of a draft is traced, lowered and loaded in, medians; by a clock a child."""

    def seconds(clock: str) -> float:
        code = COMPILING.replace("CONTEXT", str(CONTEXT)).replace("CLOCK", clock)
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, check=True, capture_output=True, env=environment, cwd=ROOT)
        return float(done.stdout)

    clocks = ("perf_counter", "process_time")
    return Taken(*(statistics.median(seconds(clock) for _ in range(repeats)) for clock in clocks))


def main() -> None:
    probe = "import sys, gnrs_ppl; assert 'jax' not in sys.modules, 'import gnrs_ppl imports jax'"
    drafting = ["-m", "gnrs_ppl", "draft", str(CONTEXT)]
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"GNRS_CACHE_DIR": cache}
        rows = [
            ("python -c pass", runs(["-c", "pass"], environment, STARTS), None),
            ("gnrs --help", runs(["-m", "gnrs_ppl", "--help"], environment, STARTS), 0.4),
            ("import gnrs_ppl (without jax)", runs(["-c", probe], environment, STARTS), 0.2),
            ("load_context, with its log", context_loading(), 0.2),
            ("gnrs draft, cold compilation cache", runs(drafting, environment, 1), None),
            ("gnrs draft, warm compilation cache", runs(drafting, environment, 3), 3.0),
            ("  of these import jax", runs(["-c", "import jax"], environment, 3), None),
            ("  of these the sampler made ready", compiling(environment, 3), None),
            ("docs/notebooks/mixing", notebook(environment), 60.0),
        ]
    print(f"{'what':<38}{'clock':>9}{'processors':>12}{'aim':>7}")
    for what, taken, aim in rows:
        shown = "" if aim is None else f"{aim:.1f}"
        print(f"{what:<38}{taken.clock:>9.2f}{taken.processors:>12.3f}{shown:>7}")
    missed = [what for what, taken, aim in rows if aim is not None and taken.processors > aim]
    if missed:
        sys.exit(f"over the aim: {', '.join(missed)}")


if __name__ == "__main__":
    main()
