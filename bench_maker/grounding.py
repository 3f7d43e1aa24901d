"""Freeze the scenes and grounding logs of GNRS-Bench: ``python -m bench_maker.grounding`` (needs SimPy)."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path

from bench_maker.files import write_log
from bench_maker.record import record
from bench_maker.sheets import families, records, schema
from bench_maker.stage import World, simulate
from gnrs_ppl.benchmarks.gnrs_bench import HERE

SEED, START, DAYS = 2025, datetime(2025, 3, 3), 56
"""The grounding worlds: eight weeks from a Monday."""


def world(family: str) -> World:
    """The world behind a family's grounding log."""
    return simulate(family, SEED, DAYS)


def scene_file(family: str) -> str:
    """Stem, scene tags, schema and record layer of a family, as JSON."""
    sheet = families()[family]
    data = {
        "stem": sheet["stem"],
        "scenes": sheet["scenes"],
        "case": sheet["case"],
        "schema": schema(family),
        "records": records(family, START, DAYS, f"../logs/{family}.parquet"),
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def main(folder: Path) -> None:
    """Write ``scenes/`` and ``logs/`` under a folder."""
    for name in ("scenes", "logs"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for family in families():
        (folder / "scenes" / f"{family}.json").write_text(scene_file(family))
        rows = record(world(family), START)
        write_log(folder / "logs" / f"{family}.parquet", rows, START)
        print(f"{family}: {len(rows):,} rows")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
