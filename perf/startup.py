"""Start-up times as a user meets them: help, import, and a draft with cold and warm compilation cache.

Run as ``python perf/startup.py`` from the repository. Medians of five runs (drafts: one cold, three warm).
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONTEXT = ROOT / "examples" / "invoices" / "context.yaml"


def seconds(arguments: list[str], environment: dict[str, str], repeats: int) -> list[float]:
    """Wall seconds of a Python child process, one per repeat."""
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=environment, cwd=ROOT)
        taken.append(time.perf_counter() - start)
    return taken


def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"GNRS_CACHE_DIR": cache}
        bare = statistics.median(seconds(["-c", "pass"], environment, 5))
        probe = "import sys, gnrs_ppl; assert 'jax' not in sys.modules, 'import gnrs_ppl imports jax'"
        rows = [
            ("python -c pass", bare, None),
            ("gnrs --help", statistics.median(seconds(["-m", "gnrs_ppl", "--help"], environment, 5)), 0.7),
            ("import gnrs_ppl (without jax)", statistics.median(seconds(["-c", probe], environment, 5)), None),
        ]
        drafting = ["-m", "gnrs_ppl", "draft", str(CONTEXT)]
        rows.append(("gnrs draft, cold compilation cache", seconds(drafting, environment, 1)[0], None))
        rows.append(("gnrs draft, warm compilation cache", statistics.median(seconds(drafting, environment, 3)), 5.0))
    print(f"{'what':<38}{'seconds':>9}{'aim':>7}")
    for what, taken, aim in rows:
        print(f"{what:<38}{taken:>9.2f}{'' if aim is None else f'{aim:.1f}':>7}")
    missed = [what for what, taken, aim in rows if aim is not None and taken > aim]
    if missed:
        sys.exit(f"over the aim: {', '.join(missed)}")


if __name__ == "__main__":
    main()
