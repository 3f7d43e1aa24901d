"""Seconds until a report file and the live pages of an audit are loaded in headless Chromium, by cases.

Run ``python perf/serve_page.py [CASES ...]``; 10^3, 10^4 and 10^5 unless told otherwise. The log is that of the example
of invoices, its cases told over again; the rule is drafted on the example and audited on all of them. Each page is
opened five times; the median and the slowest are printed.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "invoices"
SIZES = (1_000, 10_000, 100_000)
TIMES = 5
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}
LOADED = "(entry => entry.loadEventEnd - entry.startTime)(performance.getEntriesByType('navigation')[0])"


def main() -> None:
    import duckdb
    from playwright.sync_api import sync_playwright

    sizes = [int(said) for said in sys.argv[1:]] or SIZES
    print(f"{'cases':>8} {'page':34} {'median':>8} {'slowest':>8} {'kB':>7}")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("chromium-browser"),
            args=["--no-sandbox"],
        )
        folder = Path(place)
        shutil.copy(EXAMPLE / "context.yaml", folder)
        shutil.copy(EXAMPLE / "events.csv", folder)
        gnrs(folder, "draft", "context.yaml", "--kernel", "exact", "--chains", "4", "--out", "rule")
        for cases in sizes:
            events = f"'{EXAMPLE / 'events.csv'}', all_varchar = true"
            ((own,),) = duckdb.sql(f"SELECT count(DISTINCT case_id) FROM read_csv({events})").fetchall()
            duckdb.sql(
                f"""COPY (SELECT * REPLACE (event_id || '_' || n AS event_id, case_id || '_' || n AS case_id)
                FROM read_csv({events}), range({math.ceil(cases / own)}) AS r(n))
                TO '{folder / "events.csv"}' (HEADER)"""
            )
            began = time.monotonic()
            gnrs(folder, "audit", "context.yaml", "--rule", "rule/rule.json", "--out", "rule")
            print(f"{cases:8,} {'(the audit itself)':34} {time.monotonic() - began:7.2f}s")
            began = time.monotonic()
            gnrs(folder, "report", "rule", "--out", "report.html")
            print(f"{cases:8,} {'(writing the report)':34} {time.monotonic() - began:7.2f}s")
            show(browser, cases, "the report, a file", f"file://{folder / 'report.html'}")
            with subprocess.Popen(
                [sys.executable, "-m", "gnrs_ppl", "serve", place],
                stdout=subprocess.PIPE,
                text=True,
                env=ENVIRONMENT,
            ) as server:
                assert server.stdout is not None
                told = re.search(r"http://[\d.:]+/\?key=\S+", server.stdout.readline())
                assert told is not None
                for page in (
                    "rule?of=rule/draft.json",
                    "verdicts?of=rule/audit.json",
                    "verdicts?of=rule/audit.json&case=99",
                    "verdicts?of=rule/audit.json&page=1000",
                ):
                    show(browser, cases, f"/{page}", page, told[0])
                server.terminate()
        browser.close()


def gnrs(folder: Path, *arguments: str) -> None:
    """A verb, whose answer may be "no"."""
    done = subprocess.run(
        [sys.executable, "-m", "gnrs_ppl", *arguments], cwd=folder, env=ENVIRONMENT, capture_output=True
    )
    assert done.returncode in (0, 1), done.stderr.decode()


def show(browser: Any, cases: int, name: str, address: str, entry: str = "") -> None:
    """Open a page some times, each in a browser that has seen nothing of it, and print how long it took."""
    took, size = [], 0
    for _ in range(TIMES):
        context = browser.new_context(viewport={"width": 1100, "height": 900})
        tab = context.new_page()
        tab.set_default_timeout(120_000)
        if entry:
            tab.goto(entry)
        tab.goto(urljoin(tab.url, address))
        took.append(tab.evaluate(LOADED) / 1000)
        size = len(tab.content().encode())
        context.close()
    print(
        f"{cases:8,} {name:34} {statistics.median(took):7.2f}s {max(took):7.2f}s {size / 1000:7,.0f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
