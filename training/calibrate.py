"""How sure is sure: temperature, weight of agreement and threshold, from sentences no weight was fitted on.

``python -m training.calibrate [--weights FOLDER] [--first N]`` reads the calibration parts of corpus and
tools. It prints the log loss for each temperature at the best weights of agreement; then, at the best of
these, for thresholds of probability how many sentences would be read as sure, how many of these rightly, and
the least share that are right with 95 % confidence (Clopper and Pearson).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import beta

from gnrs_ppl.reading.network import shipped, stored_in
from training.evaluate import Example, Option, calibration_error, examples_of, reweighed

SETS = ("corpus calibration", "tools calibration")
TEMPERATURES = (1.0, 1.15, 1.3, 1.5, 1.8)
AGREEMENTS = (1.0, 2.0, 4.0, 7.0, 12.0, 20.0, 40.0)
SILENCES = (0.3, 0.5, 1.0, 2.0, 4.0, 8.0)
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99)


def least(right: int, of: int) -> float:
    """The share that is exceeded with 95 % confidence."""
    return float(beta.ppf(0.05, right, of - right + 1)) if right else 0.0


def log_loss(options: Sequence[Sequence[Option]]) -> float:
    """Mean of minus the log probability of what is right, at least one in a thousand."""
    return float(
        np.mean([-np.log(max(1e-3, sum(o.probability for o in some if o.right))) for some in options])
    )


def table(name: str, options: Sequence[Sequence[Option]]) -> None:
    """Print share and precision from each threshold on."""
    print(f"{name}: {len(options)} sentences, calibration error {calibration_error(options):.3f}")
    for threshold in THRESHOLDS:
        sure = [o[0] for o in options if o[0].drafts and o[0].probability >= threshold]
        right = sum(o.right for o in sure)
        if sure:
            print(
                f"  {threshold:.2f}: sure {len(sure) / len(options):.3f}, right {right / len(sure):.3f}, "
                f"at least {least(right, len(sure)):.3f}"
            )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--first", type=int, default=10**9)
    arguments = parser.parse_args()
    sets = examples_of(
        SETS, stored_in(arguments.weights) if arguments.weights else shipped(), arguments.first
    )
    every: list[Example] = [one for examples in sets.values() for one in examples]
    losses: dict[tuple[float, float, float], float] = {}
    for temperature in TEMPERATURES:
        alone = [x.options(temperature) for x in every]
        for agreement, silence in product(AGREEMENTS, SILENCES):
            loss = log_loss([reweighed(options, agreement, silence) for options in alone])
            losses[temperature, agreement, silence] = loss
        best = min((k for k in losses if k[0] == temperature), key=lambda k: losses[k])
        print(f"temperature {temperature}: {losses[best]:.4f} at agreement {best[1]:g}, silence {best[2]:g}")
    temperature, agreement, silence = min(losses, key=lambda k: losses[k])
    print(f"best: temperature {temperature}, agreement {agreement:g}, silence {silence:g}")
    for name, examples in sets.items():
        options = [x.options(temperature) for x in examples]
        table(f"{name}, network", options)
        table(f"{name}, both", [reweighed(some, agreement, silence) for some in options])


if __name__ == "__main__":
    main()
