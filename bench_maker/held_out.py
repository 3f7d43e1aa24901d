"""Freeze the held-out logs and labels: ``python -m bench_maker.held_out`` (needs SimPy).

Every family is played again on other seeds with shifted behaviour; every hidden norm judges every case four
times: in truth and on record, each at the strict and at the lenient end of its grey band.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from bench_maker.files import write_log
from bench_maker.record import record
from bench_maker.sheets import extraction, records
from bench_maker.stage import simulate
from bench_maker.view import NORMS, HiddenNorm, Sight, View, gravest, on_record, truth
from gnrs_ppl.audit.types import Verdict
from gnrs_ppl.benchmarks.gnrs_bench import FAMILIES, Family, goals
from gnrs_ppl.evaluate.held_out.labels import GREY, HERE, LETTERS

DAYS = 28
WORLDS: tuple[tuple[int, datetime, float], ...] = (
    (7001, datetime(2025, 9, 1), 0.6),
    (7002, datetime(2025, 10, 6), 1.2),
)
"""Seed, first day and shift of behaviour of the held-out worlds."""


def hidden_norms(family: Family) -> dict[str, HiddenNorm]:
    """The hidden norms of a family's goals, by goal id."""
    importlib.import_module(f"bench_maker.norms.{family}")
    return {goal.id: NORMS[goal.id] for goal in goals() if goal.family == family}


def judged(norm: HiddenNorm, sight: Sight, cases: Iterable[str]) -> str:
    """A letter per case: its verdict, or ``?`` where it depends on where in the grey band a limit stands."""
    letters = []
    for case in cases:
        strict, lenient = (_verdict(norm, View(case, sight, lenient)) for lenient in (False, True))
        letters.append(LETTERS[strict] if strict == lenient else GREY)
    return "".join(letters)


def labels(family: Family) -> dict[str, Any]:
    """Labels of a family in every held-out world, as the frozen file holds them; the logs go beside it."""
    norms = hidden_norms(family)
    worlds = []
    for seed, start, shift in WORLDS:
        world = simulate(family, seed, DAYS, shift)
        rows = record(world, start)
        end = (extraction(start, DAYS) - start).total_seconds()
        cases = [case for case, since in world.starts.items() if since < end]
        known, seen = truth(world), on_record(world, rows, start)
        worlds.append(
            {
                "seed": seed,
                "records": records(family, start, DAYS, f"logs/{family}-{seed}.parquet"),
                "cases": cases,
                "labels": {
                    goal: {"truth": judged(norm, known, cases), "entitled": judged(norm, seen, cases)}
                    for goal, norm in norms.items()
                },
            }
        )
    return {
        "norms": {goal: {"says": norm.says, "expressible": norm.expressible} for goal, norm in norms.items()},
        "worlds": worlds,
    }


def main(folder: Path) -> None:
    """Write ``<family>.json`` and ``logs/`` under a folder."""
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    for family in FAMILIES:
        (folder / f"{family}.json").write_text(
            json.dumps(labels(family), indent=1, ensure_ascii=False) + "\n"
        )
        for seed, start, shift in WORLDS:
            rows = record(simulate(family, seed, DAYS, shift), start)
            write_log(folder / "logs" / f"{family}-{seed}.parquet", rows, start)
        print(f"{family}: done")


def _verdict(norm: HiddenNorm, view: View) -> Verdict:
    try:
        return gravest(norm.judge(view))
    except Exception as error:
        error.add_note(f"{norm.goal}, case {view.case}, {'lenient' if view.lenient else 'strict'}")
        raise


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
