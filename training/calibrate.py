"""How sure is sure: the temperature of the logits and the thresholds, from sentences no weight was fitted on.

``python -m training.calibrate ROWS`` reads what ``evaluate.py --rules --rows ROWS`` wrote, once for each
temperature that is to be compared (``--temperature``), and prints for thresholds of probability how many
sentences would be read as sure, how many of these rightly, and the least share that are right with 95 %
confidence (Clopper and Pearson).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import beta

THRESHOLDS = (0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97, 0.99)


def least(right: int, of: int) -> float:
    """The share that is exceeded with 95 % confidence."""
    return float(beta.ppf(0.05, right, of - right + 1)) if right else 0.0


def log_loss(rows: Sequence[dict[str, Any]]) -> float:
    """Mean of minus the log probability of what is right, at least one in a thousand."""
    return float(np.mean([-np.log(max(1e-3, sum(p for p, right in row["ways"] if right))) for row in rows]))


def table(name: str, rows: Sequence[dict[str, Any]], total: int) -> None:
    """Print share and precision from each threshold on."""
    print(name)
    for threshold in THRESHOLDS:
        sure = [r for r in rows if r["drafts"] and r["probability"] >= threshold]
        right = sum(r["right"] for r in sure)
        if sure:
            share = f"{len(sure) / total:.3f} of {total}"
            print(
                f"  {threshold:.2f}: {share}, right {right / len(sure):.3f}, "
                f"at least {least(right, len(sure)):.3f}"
            )


def main(paths: Sequence[str]) -> None:
    """Print the tables."""
    for path in paths:
        rows = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
        print(f"{path}: log loss {log_loss(rows):.3f}")
        table("the two readers agree", [r for r in rows if r.get("agree")], len(rows))
        table("they do not", [r for r in rows if not r.get("agree")], len(rows))


if __name__ == "__main__":
    main(sys.argv[1:])
