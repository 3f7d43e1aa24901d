"""PyMC's CategoricalGibbsMetropolis on tables that ``perf/inference`` hands over; prints slot updates per
second of the processor as JSON, and writes its draws where it is told.

A process of its own, since PyMC may need an interpreter of its own: ``python -m venv pymc-venv``,
``pymc-venv/bin/pip install pymc``, and ``python perf/inference --pymc pymc-venv/bin/python``.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import warnings

import numpy as np
import pymc
import pytensor.tensor as pt


def main() -> None:
    given = np.load(sys.argv[1])
    sizes, draws = given["sizes"].tolist(), int(given["draws"])
    logging.getLogger("pymc").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    with pymc.Model():
        slots = [pymc.Categorical(f"slot{v}", logit_p=given["log_prior"][v, :n]) for v, n in enumerate(sizes)]
        raised, score = 0, 0
        for v, slot in enumerate(slots):
            score += pt.constant(given["unary"][v])[slot]
            raised += pt.constant(given["unary_flags"][v].astype(int))[slot]
        for p, (left, right) in enumerate(given["pairs"].tolist()):
            score += pt.constant(given["pairwise"][p])[slots[left], slots[right]]
            raised += pt.constant(given["pair_flags"][p].astype(int))[slots[left], slots[right]]
        pymc.Potential("s_search", (score - given["penalty"] * (raised > 0)) / given["temperature"])
        step = pymc.CategoricalGibbsMetropolis(slots)
        asked = {
            "tune": 0,
            "chains": 1,
            "cores": 1,
            "step": step,
            "progressbar": False,
            "compute_convergence_checks": False,
        }

        def seconds(number: int) -> float:
            began = time.process_time()
            found = pymc.sample(draws=number, random_seed=0, **asked).posterior
            taken = time.process_time() - began
            np.save(sys.argv[2], np.stack([found[f"slot{v}"][0] for v in range(len(sizes))], -1))
            return taken

        first, few, many = seconds(draws), seconds(draws), seconds(3 * draws)
    rate = 2 * draws * len(sizes) / (many - few)  # a call has costs of its own, whatever the draws
    print(json.dumps({"slot updates/s": rate, "first call": first, "version": pymc.__version__}))


if __name__ == "__main__":
    main()
