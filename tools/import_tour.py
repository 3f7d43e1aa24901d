#!/usr/bin/env python3
"""From files found elsewhere to verdicts, with the time each command took: import_tour.py [SOURCE].

Prints the table of docs/import.md: import, lint, draft and audit of each file, in seconds of wall time, how
many guesses were made, and what came of the audit. Guesses that are wrong are counted by hand, in that page.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/eventlogs")
FILES = (
    "real/receipt.xes.gz",
    "real/roadtraffic100traces.xes",
    "real/traffic_fines.csv.gz",
    "textbook/patients.csv.gz",
    "textbook/running-example.csv",
    "textbook/running-example.xes",
    "messy/10_orders.xes.gz",
    "ocel/ocel20_example.jsonocel",
    "ocel/ocel20_example.xmlocel",
    "ocel/ocel20_example.sqlite",
    "ocel/order_management_ocpa.sqlite.gz --case orders",
    "sqlschema/Chinook_Sqlite.sqlite",
    "bpmn/running-example.bpmn",
    "bpmn/nested_lanes.bpmn.xml",
)


def run(folder, *arguments):
    """Exit code, what was printed, and seconds of a verb."""
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "gnrs_ppl", *arguments], cwd=folder, capture_output=True, text=True
    )
    return done.returncode, done.stdout, time.monotonic() - begun


def tour(line, folder):
    """One row of the table."""
    name, *options = line.split()
    source = (SOURCE / name).resolve()
    code, out, imported = run(folder, "import", str(source), "--out", "made", "--json", *options)
    if code:
        return [Path(line).name, "refused", *[""] * 6]
    told = json.loads(out)
    _, out, linted = run(folder, "lint", "made/context.yaml", "--json")
    findings = len(json.loads(out)["findings"])
    drafted_code, out, drafted = run(folder, "draft", "made/context.yaml", "--out", "rule", "--json")
    seconds, outcome = "", "no log" if not told["imported"] else ""
    if drafted_code == 0 and told["imported"]:
        _, out, audited = run(folder, "audit", "made/context.yaml", "--rule", "rule/rule.json", "--json")
        counts, seconds = json.loads(out)["counts"], f"{audited:.1f}"
        outcome = f"{counts['satisfied']:,} kept, {counts['violated']:,} violated"
    return [
        Path(line).name,
        f"{told['imported']:,}",
        str(sum(told["guesses"].values())),
        f"{imported:.1f}",
        f"{linted:.1f} ({findings})",
        f"{drafted:.1f}" + ("" if drafted_code == 0 else f" (exit {drafted_code})"),
        seconds,
        outcome,
    ]


def main():
    """All files."""
    print(
        "| file | rows imported | guesses | import s | lint s (findings) | draft s | audit s "
        "| the first goal |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---|")
    for line in FILES:
        with tempfile.TemporaryDirectory() as folder:
            print(f"| {' | '.join(tour(line, folder))} |", flush=True)


if __name__ == "__main__":
    main()
