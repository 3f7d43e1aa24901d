"""Strict settings for every test, and tables that tests hand over for the end of the run."""

from __future__ import annotations

import ctypes
import gc
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from typing import Any

os.environ.setdefault("JAX_NUMPY_DTYPE_PROMOTION", "strict")
os.environ.setdefault("JAX_NUMPY_RANK_PROMOTION", "raise")
os.environ.setdefault(
    "JAX_COMPILATION_CACHE_DIR", os.path.join(os.path.dirname(__file__), "..", ".jax_cache")
)

# small programs too: the workers and the tests' own processes need not compile what another has compiled
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")

import pytest
import tiers
from fuzz import examples
from hypothesis import settings

# a suite that was started in the background ignores Ctrl-C, and so would every command that it starts
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


ROOM = 500 * 2**20
"""Bytes a worker may hold before programs are dropped; a file's own take some hundred MiB more."""

LOGS = (
    ("benchmarks.gnrs_bench", "_scene"),
    ("benchmarks.realcharter.adapter", "_context"),
    ("evaluate.held_out.labels", "_log"),
    ("experiments.schema_noise", "_scene"),
)
"""What keeps the logs it read, a hundred MiB in all."""


@pytest.fixture
def rules_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The network has no say, so that a test is about what becomes of a reading, and not about whether it is sure."""
    from gnrs_ppl.reading import goal, opinions

    monkeypatch.setattr(opinions, "by_network", lambda text, schema: ())
    goal._read.cache_clear()


@pytest.fixture(autouse=True, scope="module")
def _what_a_module_made_goes_with_it(request: pytest.FixtureRequest) -> Iterator[None]:
    """Empty the caches that a module holds: logs, draws and tables of one take hundreds of megabytes.

    Compiled programs stay for the modules after it, which ask for some of them again, until a worker is
    large.
    """
    yield
    for value in vars(request.module).values():
        if clear := getattr(value, "cache_clear", None):
            clear()
    if resident() > ROOM and (jax := sys.modules.get("jax")):
        jax.clear_caches()
        for name in ("chains", "smc"):  # they hold programs themselves, some ten megabytes each
            if driver := sys.modules.get(f"gnrs_ppl.inference.{name}"):
                driver._compiled.cache_clear()
        for name, function in LOGS:
            if holder := sys.modules.get(f"gnrs_ppl.{name}"):
                getattr(holder, function).cache_clear()
        gc.collect()
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc keeps what was freed unless asked
        if trim:
            trim(0)


def resident() -> float:
    """Bytes this process holds, without end where the system does not say."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return float("inf")


@pytest.fixture(autouse=True)
def _pipes_are_as_wide_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers have a COLUMNS of their own, which no reader of the pages has."""
    monkeypatch.delenv("COLUMNS", raising=False)


def pytest_configure(config: pytest.Config) -> None:
    """Tell the tests of their tier, in the workers too, before they are imported."""
    tiers.fast = "not slow" in config.option.markexpr
    if tiers.fast:  # compiling takes two thirds of the time so; what users compile is the full tier's
        os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
    settings.register_profile(
        "suite", derandomize=True, deadline=None, print_blob=True, max_examples=examples(100)
    )
    settings.load_profile("suite")


def pytest_collection() -> None:
    """Nothing is looked through for garbage while all is imported."""
    gc.disable()


def pytest_collection_finish() -> None:
    """What was imported stays to the end: it is not looked through again whenever a test makes many objects."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    """Extension modules complain at the end of what is still held."""
    gc.unfreeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests recorded for the end of the run (it comes back from the workers with their
    reports).
    """
    properties = [
        item for report in terminalreporter.stats.get("passed", []) for item in report.user_properties
    ]
    rows = [row for name, value in properties if name == "cells" for row in value]
    if rows:
        from agreement import HEADER

        terminalreporter.write_sep("-", "hits per template, operator and verdict: SQL equals the oracle")
        terminalreporter.write_line("\n".join([HEADER, *rows]))
    for name, value in properties:
        if name in ("mutations", "mutants"):
            terminalreporter.write_line(value)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's Chromium, headless."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("no Chromium on this machine")
    driver = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with driver.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()
