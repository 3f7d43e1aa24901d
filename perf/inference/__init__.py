"""Speed and worth of every kernel; ``python perf/inference`` runs the parts, one module each."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # runs without an installation too
