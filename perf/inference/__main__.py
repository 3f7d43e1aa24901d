"""Speed and worth of every kernel: steps per second, yardsticks, and the cost of an optimum, of marginals and
of good coupled rules.

Run ``python perf/inference`` (``--quick`` for a smoke run of all parts; ``--device gpu`` refuses to run on
anything else, ``--device cpu`` leaves a GPU alone). Writes ``perf/results/<device>.json``. What a part needs
and is not installed is reported as such and skipped: numba, OR-Tools, PyMC (which pins numba and ArviZ to
older versions: ``--pymc PYTHON`` names an interpreter that has it). Seconds are those of processors, all
threads together, and on a GPU those of the wall (``common.py``); they never contain compiling, which
stands beside them, nor building a model.

- ``kernels``: steps and energy evaluations per second by number of chains; of metropolis, gibbs and
  informed nothing is recorded
- ``pallas``: on a GPU, Metropolis as one kernel beside XLA's many; ``--device gpu --interpret`` runs this part
  alone where there is none: whether its draws are right, and nothing timed
- ``yardsticks``: the Metropolis kernel beside numba, plain Python, and its random bits alone
- ``libraries``: PyMC and NumPyro
- ``sweep``: enumeration
- ``goals``: the 16 dev goals, to the optimum and to good marginals
- ``charters``: coupled rules, to within 1 % of CP-SAT's bound
- ``graded``: coupled rules whose bound is weak, to within 1 % of the best score that any method found
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # runs without an installation too
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this package and its yardsticks

import jax

from gnrs_ppl.inference.chains import STEPPERS
from inference.common import FULL, QUICK, ROOT, Row, cpu, isolated, package_versions, place, show
from inference.coupled_rules import coupled_costs, coupled_summary
from inference.goals import goal_costs
from inference.kernels import in_one_kernel, kernel_speeds
from inference.libraries import libraries
from inference.sweeps import sweeps
from inference.yardsticks import yardsticks


def main() -> None:
    began, load = time.perf_counter(), os.getloadavg()[0]
    parts: dict[str, Callable[[], Iterator[Row]]] = {
        "kernels": lambda: kernel_speeds(size),
        "pallas": lambda: in_one_kernel(size, asked.interpret),
        "yardsticks": lambda: yardsticks(size),
        "libraries": lambda: libraries(size, asked.pymc),
        "sweep": lambda: sweeps(size),
        "goals": lambda: goal_costs(size),
        "charters": lambda: coupled_costs(size, size.coupled, 0.0, size.solver),
        "graded": lambda: coupled_costs(size, size.graded, 0.5, size.solver_graded),
    }
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a smoke run: few chains, short runs; nothing is written unless --out is given",
    )
    parser.add_argument("--device", choices=("cpu", "gpu", "tpu"), help="JAX's own choice unless given")
    parser.add_argument(
        "--interpret",
        action="store_true",
        help="only try the kernel that --device gpu measures, in Pallas's interpreter: no GPU is run",
    )
    parser.add_argument("--parts", nargs="+", choices=[*parts], metavar="PART", help="only these")
    parser.add_argument("--pymc", default=sys.executable, metavar="PYTHON", help="interpreter that has PyMC")
    parser.add_argument("--out", type=Path, metavar="PATH", help="default: perf/results/<device>.json")
    asked = parser.parse_args()
    if asked.interpret:
        asked.device, asked.quick, asked.parts = "cpu", True, ["pallas"]
    if asked.device == "cpu":  # beside a GPU too
        jax.config.update("jax_platforms", "cpu")
    if asked.device and jax.default_backend() != asked.device:
        parser.error(f"--device: JAX finds no {asked.device}, its own choice is {jax.default_backend()}")
    size = QUICK if asked.quick else FULL
    where = place(load)
    show("device", where)
    results: dict[str, list[Row]] = {}
    took: dict[str, float] = {}
    for name in asked.parts or parts:
        started = time.perf_counter()
        results[name] = []
        for row in isolated(name, parts[name]):
            results[name].append(row)
            show(name, row)
        if name in ("charters", "graded"):
            rows = [row for row in results[name] if "method" in row]
            results[f"{name}, summary"] = list(coupled_summary(rows))
            for row in results[f"{name}, summary"]:
                show(f"{name}, summary", row)
        took[name] = time.perf_counter() - started
        show(name, {"seconds in all": took[name]})
    where |= {"load after": round(os.getloadavg()[0], 2), "seconds": time.perf_counter() - began}
    show("device", where)
    device = jax.devices()[0]
    named = (
        re.sub(r"\W+", "-", f"{device.platform}-{cpu() if device.platform == 'cpu' else device.device_kind}")
        .strip("-")
        .lower()
    )
    path = asked.out or (None if asked.quick else ROOT / "results" / f"{named}.json")
    if path:
        path.parent.mkdir(exist_ok=True)
        result = {
            "device": where,
            "versions": package_versions(),
            "kernels": list(STEPPERS),
            "results": results,
            "seconds": took,
        }
        path.write_text(json.dumps(result, indent=1) + "\n")
        print(f"written to {path}")


if __name__ == "__main__":
    main()
