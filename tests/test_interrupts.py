"""Ctrl-C and termination end the command at once, with 130 or 143 and one line, and leave nothing
half-written."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import small
from test_hostile_outputs import trials
from tiers import few, mostly_slow

from gnrs_ppl.errors import InputError
from gnrs_ppl.experiments import main
from gnrs_ppl.experiments.rows import Cell, Row, cell_of, read_rows
from gnrs_ppl.experiments.runner import Experiment, ExperimentRequest, Report, Run, run

SLACK = 5.0
"""Seconds; the promise is 2, a machine that tests may be busy."""
ENDS = {signal.SIGINT: (130, "gnrs: interrupted\n"), signal.SIGTERM: (143, "gnrs: terminated\n")}
DRAFT = ["draft", "context.json", "--chains", "4", "--steps", "20", "--out", "out"]
MOMENTS = [0.0, 0.03, 0.08, 0.15, 0.25, 0.4, 0.6, 0.8, 1.1, 1.5, 2.0, 2.6]
"""Seconds after the command has come to itself: while it loads, reads, compiles and runs. The last may be
done by then."""


def until(true: Callable[[], Any], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


def listens(process: subprocess.Popen[str]) -> bool:
    """Whether a process has set up what it does at SIGTERM, which Python by itself leaves alone; also true
    once it is done."""
    if process.poll() is not None:
        return True
    caught = Path(f"/proc/{process.pid}/status").read_text().partition("SigCgt:")[2].split()
    return bool(caught) and int(caught[0], 16) >> (signal.SIGTERM - 1) & 1 == 1


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def started(*command: str, cwd: Path, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """A command in a process group of its own, as a shell starts it."""
    process = subprocess.Popen(
        [sys.executable, *command],
        cwd=cwd,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def ended(process: subprocess.Popen[str], by: signal.Signals, alone: bool = False) -> tuple[int, str]:
    """Exit code and standard error of a process group, or of its first process alone, that is sent a signal;
    it ends in time."""
    sent = time.monotonic()
    (os.kill if alone else os.killpg)(process.pid, by)
    error = process.communicate(timeout=60)[1]
    assert time.monotonic() - sent < SLACK
    return process.returncode, error


@pytest.mark.parametrize("moment", few(MOMENTS, 5))
def test_a_draft_stops_at_any_moment(moment: float, tmp_path: Path) -> None:
    """Programs are compiled anew, so that some moments fall into that."""
    small.write(tmp_path)
    by = signal.SIGTERM if MOMENTS.index(moment) % 4 == 3 else signal.SIGINT
    with started("-m", "gnrs_ppl", *DRAFT, cwd=tmp_path, JAX_ENABLE_COMPILATION_CACHE="false") as process:
        until(lambda: listens(process))
        time.sleep(moment)
        code, error = ended(process, by)
    assert (code, error) in ((0, ""), ENDS[by])
    assert code or moment > 1, "nothing is done so soon"
    left = {path.name for path in tmp_path.iterdir()}
    assert left in ({"context.json", "log.csv", "rule.json"}, {"context.json", "log.csv", "rule.json", "out"})
    assert not [*tmp_path.glob("out/.gnrs-*")]


def test_a_terminal_gets_its_cursor_back(tmp_path: Path) -> None:
    small.write(tmp_path)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "gnrs_ppl", *DRAFT], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=theirs
    )
    os.close(theirs)
    said = b""
    while b"drafting" not in said:
        said += os.read(ours, 1000)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    with contextlib.suppress(OSError):  # how a terminal ends
        while more := os.read(ours, 1000):
            said += more
    os.close(ours)
    assert said.endswith(b"\x1b[?25hgnrs: interrupted\r\n")


def test_the_console_script_is_known_too(tmp_path: Path) -> None:
    """Its first import ends at a stop; a library's does not listen."""
    script = tmp_path / "gnrs"
    script.write_text("import time, gnrs_ppl\ntime.sleep(60)\n")
    with started(str(script), cwd=tmp_path) as process:
        until(lambda: listens(process))
        assert ended(process, signal.SIGINT) == ENDS[signal.SIGINT]
    other = tmp_path / "other.py"
    other.write_text(
        "import signal, gnrs_ppl\nassert signal.getsignal(signal.SIGINT) is signal.default_int_handler\n"
    )
    assert subprocess.run([sys.executable, other], check=False, cwd=tmp_path).returncode == 0


def test_who_ignores_interruptions_goes_on(tmp_path: Path) -> None:
    """As under nohup, or in the background of a script."""
    small.write(tmp_path)
    with started(
        "-c", IGNORED, "audit", "context.json", "--rule", "rule.json", "--json", cwd=tmp_path
    ) as process:
        until(lambda: listens(process))
        os.killpg(process.pid, signal.SIGINT)
        out, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (1, "")
    assert json.loads(out)["headline"]


IGNORED = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); from gnrs_ppl.cli import main; main()"


def test_a_stop_while_files_are_put_in_place_leaves_them_whole(tmp_path: Path) -> None:
    found = trials("stopped", tmp_path, 40)
    assert {code for code, _, _ in found} == {130, 143}
    assert not [
        (state, others)
        for _, state, others in found
        if others or not (isinstance(state, int) or state == "nothing")
    ]


def test_a_stop_does_not_wait_for_a_writer_that_is_stuck(tmp_path: Path) -> None:
    code, state, left, seconds = trials("stuck", tmp_path)
    assert (code, state, left) == (130, "nothing", [])
    assert seconds < SLACK


def test_a_stop_leaves_no_copy_of_the_records(tmp_path: Path) -> None:
    copies = tmp_path / "copies"
    copies.mkdir()
    days = [f"2024-{month:02}-{day:02}" for month in range(1, 13) for day in range(1, 29)]
    rows = [f"c{case},{act},{day}" for case, day in enumerate(days * 60) for act in ("send", "pay", "file")]
    (tmp_path / "log.csv").write_text("\n".join(["case,activity,timestamp", *rows]))
    with started("-m", "gnrs_ppl", "import", "log.csv", cwd=tmp_path, TMPDIR=str(copies)) as process:
        until(lambda: process.poll() is not None or [*copies.glob("gnrs-*/*")])
        assert ended(process, signal.SIGINT) == ENDS[signal.SIGINT]
    assert [path.name for path in tmp_path.iterdir() if path != copies] == ["log.csv"]
    assert [*copies.iterdir()] == []


# ---- experiments


def measure(unit: str, cells: Sequence[Cell], request: ExperimentRequest) -> list[Row]:
    Path(os.environ["PIDS"], str(os.getpid())).touch()
    time.sleep(600)
    return []


def cells(request: ExperimentRequest) -> list[Cell]:
    return [Cell("none", None, goal, 0) for goal in ("a", "b")]


def report(_: Run) -> Report:
    return Report([])


STALLED = Experiment("stalled", "Does it stop?", report, cells, measure)
STALL = """
import sys
sys.path.insert(0, {tests!r})
if __name__ == "__main__":
    import test_interrupts as t
    from gnrs_ppl.cli import process
    from pathlib import Path
    process.app = lambda **_: t.run(t.STALLED, {{"stalled": t.STALLED}}, t.ExperimentRequest(goals=("a", "b")), Path("runs"))
    process.main([])
"""


def workers_of(pid: int) -> list[int]:
    return [
        int(child)
        for task in Path(f"/proc/{pid}/task").iterdir()
        for child in (task / "children").read_text().split()
    ]


@pytest.mark.parametrize(
    "busy, alone",
    mostly_slow(
        [(True, True), (False, False), (True, False), (False, True)], but=[(True, True), (False, False)]
    ),
)
def test_an_experiment_stops_with_its_workers(busy: bool, alone: bool, tmp_path: Path) -> None:
    """And while it runs no other may run there."""
    pids = tmp_path / "pids"
    pids.mkdir()
    code = STALL.format(tests=str(Path(__file__).parent))
    with started("-c", code, cwd=tmp_path, PIDS=str(pids)) as process:
        until(
            lambda: (
                process.poll() is not None
                or (len([*pids.iterdir()]) == 2 if busy else (tmp_path / "runs/stalled/rows.jsonl").exists())
            )
        )
        if busy:
            with pytest.raises(InputError) as refused:
                run(STALLED, {"stalled": STALLED}, ExperimentRequest(goals=("a", "b")), tmp_path / "runs")
            says = "another run is writing there; wait until it has ended, or name another folder with --out"
            assert str(refused.value) == f"{tmp_path}/runs/stalled: {says}"
            assert refused.value.exit_code == 2
        else:
            time.sleep(0.2)
        workers = workers_of(process.pid)
        assert len(workers) >= 2
        assert ended(process, signal.SIGINT, alone) == ENDS[signal.SIGINT]
    until(lambda: not any(map(alive, workers)), 30)
    assert sorted(path.name for path in (tmp_path / "runs" / "stalled").iterdir()) == [
        "config.json",
        "rows.jsonl",
    ]


MAIN = ["experiment", "main", "--goals", "GNRS-005,GNRS-022", "--chains", "1", "--out", "out"]


@pytest.mark.slow
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGKILL])
def test_a_resumed_experiment_adds_the_missing_rows_only(by: signal.Signals, tmp_path: Path) -> None:
    """The parent alone is signalled once the rows of one goal are on disk."""
    rows = tmp_path / "out" / "main" / "rows.jsonl"
    with started("-m", "gnrs_ppl", *MAIN, cwd=tmp_path) as process:
        until(lambda: process.poll() is not None or (rows.exists() and rows.stat().st_size), 180)
        workers = workers_of(process.pid)
        assert ended(process, by, alone=True) == ENDS.get(by, (-by, ""))
    until(lambda: not any(map(alive, workers)), 30)
    kept = rows.read_bytes()
    wanted = main.wanted(ExperimentRequest(goals=("GNRS-005", "GNRS-022"), chains=(1,)))
    assert kept.count(b"\n") == len(wanted) / 2
    with started("-m", "gnrs_ppl", *MAIN, cwd=tmp_path) as process:
        _, error = process.communicate(timeout=300)
    assert (process.returncode, error) == (0, "")
    assert rows.read_bytes().startswith(kept)
    found = list(map(cell_of, read_rows(rows.parent)))
    assert len(found) == len(set(found)) == len(wanted)
    assert set(found) == set(wanted)


INVOICES = str(Path(__file__).parent.parent / "examples" / "invoices" / "context.yaml")


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["fit"],
        ["ask", INVOICES],
        ["draft", "--split", "dev"],
        ["goals", "--pools"],
        ["experiment", "realcharter"],
        ["experiment", "all", "--no-llm"],
        ["sample", "GNRS-005", "--chains", "512", "--steps", "20000", "--out", "x.nc"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_every_long_verb_stops(command: list[str], tmp_path: Path) -> None:
    """While it works, the parent alone signalled: one line, 130, in time."""
    cache = str(tmp_path / "cache")
    with started("-m", "gnrs_ppl", *command, cwd=tmp_path, GNRS_CACHE_DIR=cache) as process:
        until(lambda: listens(process))
        time.sleep(4.0)
        assert ended(process, signal.SIGINT, alone=True) == ENDS[signal.SIGINT]
