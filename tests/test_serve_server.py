"""``gnrs serve`` as a command, and its jobs: run, refused, crashed, cancelled, too late, too many."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest

from gnrs_ppl.cli import run
from gnrs_ppl.errors import InputError
from gnrs_ppl.serve.files import Workspace
from gnrs_ppl.serve.jobs import WAITING, Job, Jobs, _local
from tests.served import served, until
from tests.tiers import mostly_slow

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
ENDLESS = ("serve", ".")
"""A verb that comes to no end by itself, and begins quickly."""
HEEDS_A_HANG_UP = "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
"""Runs a command that takes SIGHUP as a terminal's would, also where the suite runs under nohup."""


def begun(job: Job) -> int:
    """The process of a job that says it is ready."""
    end = time.monotonic() + 60
    while "Serving" not in job.output("out.txt"):
        assert not job.over, job
        assert time.monotonic() < end
        time.sleep(0.02)
    assert job.process is not None
    return job.process.pid


def gone(process: int) -> bool:
    """Whether a process has ended, be it that nobody has asked how."""
    for _ in range(200):
        if not (about := status(process)) or "\nState:\tZ" in about:
            return True
        time.sleep(0.02)
    return False


def status(process: int) -> str:
    """What the system tells of a process; nothing of one that has ended."""
    try:
        return Path(f"/proc/{process}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


@pytest.mark.parametrize("stop", mostly_slow([signal.SIGTERM, signal.SIGHUP], [signal.SIGHUP]))
def test_the_command_serves_and_takes_its_jobs_with_it(stop: signal.Signals, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-c",
        HEEDS_A_HANG_UP,
        sys.executable,
        "-m",
        "gnrs_ppl",
        "serve",
        str(tmp_path),
    ]
    with (
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as server,
        ExitStack() as at_last,
    ):
        at_last.callback(server.kill)
        assert server.stdout is not None
        address = re.search(r"(http://127\.0\.0\.1:\d+)/\?key=\S+", server.stdout.readline())
        assert address
        with httpx2.Client(follow_redirects=True) as client:
            page = client.get(address[0])
            assert "What is here" in page.text
            assert client.get(str(page.url), headers={"host": "evil.example"}).status_code == 421
            (tmp_path / "log.csv").write_text("case_id,activity,timestamp\n1,A,2024-01-01\n")
            chosen = client.get(f"{page.url}import?log=log.csv").text
            fields = dict(re.findall(r'name="(token|sha)" value="([^"]*)"', chosen))
            origin = {"origin": address[1]}
            client.post(f"{page.url}import/run", data=fields | {"log": "log.csv"}, headers=origin)
        worker = children(server.pid)
        server.send_signal(stop)
        assert server.wait(10) == 143
        assert server.stderr is not None
        assert server.stderr.read() == "gnrs: terminated\n"
    assert worker
    assert all(gone(process) for process in worker)


SUBMITS = """
import asyncio, sys
from pathlib import Path
from gnrs_ppl.serve.jobs import Jobs

async def submit():
    Jobs(Path(sys.argv[1])).submit("a job", ("serve", "."))
    await asyncio.sleep(600)

asyncio.run(submit())
"""


def test_a_job_ends_with_a_server_that_was_killed(tmp_path: Path) -> None:
    """Killed without a word, before the job listens and after."""
    for number, words in enumerate(("", "Serving"), 1):
        with subprocess.Popen([sys.executable, "-c", SUBMITS, str(tmp_path)]) as server:
            said = tmp_path / "jobs" / str(number) / "out.txt"
            until(lambda said=said, words=words: said.exists() and words in said.read_text(), 60)
            until(lambda server=server: children(server.pid, least=0))
            (job,) = children(server.pid)
            server.kill()
        assert gone(job)
    assert "gnrs: terminated" in said.with_name("err.txt").read_text()


def children(process: int, least: int = 1) -> list[int]:
    found = [
        int(place.name)
        for place in Path("/proc").iterdir()
        if place.name.isdigit() and f"\nPPid:\t{process}\n" in status(int(place.name))
    ]
    assert len(found) >= least
    return found


@pytest.mark.parametrize("make", [lambda p: p / "none", lambda p: p / "file", lambda p: p / "link"])
def test_what_is_no_folder_is_refused(
    make: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path)
    assert run(["serve", str(make(tmp_path))]) == 2  # type: ignore[operator]
    assert capsys.readouterr().err.count("\n") == 1


def test_a_port_that_is_taken_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert run(["serve", str(tmp_path), "--port", str(taken.getsockname()[1])]) == 2
    assert "--port" in capsys.readouterr().err
    assert run(["serve", str(tmp_path), "--port", "80"]) == 2  # a browser leaves it out of what it asks for
    assert "--port: port 80 cannot be used; name one from 1,024" in capsys.readouterr().err


def test_a_job_runs_is_refused_and_is_kept(tmp_path: Path) -> None:
    with served(tmp_path) as browser:
        done = browser.finished(browser.submit("--version"))
        assert (done.state, done.code) == ("done", 0)
        refused = browser.finished(browser.submit("schema", "nothing"))
        assert (refused.state, refused.code) == ("refused", 2)
        assert "nothing" in refused.line
        assert "nothing" in browser.get("/jobs/2").text
        assert "gnrs-ppl" in browser.get("/jobs/1").text
        unsaid = browser.finished(browser.submit("schema", "nul\0"))
        assert (unsaid.state, unsaid.line) == ("crashed", "could not be run (embedded null byte)")
        assert "event: over\ndata: crashed" in browser.get("/jobs/3/events").text
        assert browser.finished(browser.submit("--version")).state == "done"
    again = Jobs(tmp_path)
    assert [(job.number, job.state) for job in again.all()] == [
        (4, "done"), (3, "crashed"), (2, "refused"), (1, "done"),
    ]  # fmt: skip


def test_a_job_takes_no_module_from_the_folder(tmp_path: Path) -> None:
    for name in ("json.py", "gnrs_ppl.py", "typer.py"):
        (tmp_path / name).write_text("raise SystemExit('run from the folder')")
    with served(tmp_path) as browser:
        assert "gnrs-ppl" in browser.finished(browser.submit("--version")).output("out.txt")


@pytest.mark.parametrize(
    ("text", "state", "line"),
    [
        ("raise ImportError('broken')", "crashed", "ended with exit code 1"),
        ("raise SystemExit('gnrs: nothing is feasible')", "refused", "nothing is feasible"),
        ("raise SystemExit('no')", "done", ""),
    ],
)
def test_what_breaks_or_refuses_is_no_answer(
    text: str, state: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each ends with 1, as "no" does."""
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "typer.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'broken'}:{os.environ.get('PYTHONPATH', '')}")
    with served(tmp_path) as browser:
        job = browser.finished(browser.submit("--version"))
        assert (job.state, job.code, job.line) == (state, 1, line)


def test_two_servers_of_a_folder_have_jobs_of_their_own(tmp_path: Path) -> None:
    with served(tmp_path) as one, served(tmp_path) as other:
        jobs = one.submit("--version"), other.submit("schema", "nothing"), one.submit("--version")
        assert [job.number for job in jobs] == [1, 2, 3]
        assert [one.finished(jobs[0]).state, other.finished(jobs[1]).state] == ["done", "refused"]
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "jobs").symlink_to(tmp_path / "elsewhere")
    with served(tmp_path / "in") as browser, pytest.raises(InputError, match="is a link"):
        browser.submit("--version")


def test_cancelled_killed_and_late_jobs_leave_the_pages_alive(tmp_path: Path) -> None:
    with served(tmp_path) as browser:
        first, second = browser.submit(*ENDLESS), browser.submit(*ENDLESS)
        third, fourth = browser.submit(*ENDLESS), browser.submit("--version")
        process = begun(first)
        assert second.state == "waiting"
        if hasattr(resource, "prlimit"):
            assert resource.prlimit(process, resource.RLIMIT_CORE) == (0, 0)
            assert resource.prlimit(process, resource.RLIMIT_CPU)[0] == 3600 * (os.cpu_count() or 1) + 1
        browser.post("/jobs/2/cancel", {})
        assert (first.state, second.state) == ("running", "cancelled")
        browser.post("/jobs/1/cancel", {})
        assert (first.state, first.code) == ("cancelled", 143)
        assert gone(process)
        process = begun(third)
        os.kill(process, signal.SIGKILL)
        browser.finished(third)
        assert (third.state, third.line) == ("crashed", "ended by signal 9")
        assert "ended by signal 9" in browser.get("/jobs").text
        assert browser.finished(fourth).state == "done"
        browser.site.jobs._seconds = 0.5
        late = browser.finished(browser.submit(*ENDLESS))
        assert (late.state, late.line) == ("late", "took longer than 0.5 seconds")
        assert browser.get("/").status_code == 200


def test_few_jobs_wait_and_all_end_with_the_server(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("case_id,activity,timestamp\n1,A,2024-01-01\n")
    with served(tmp_path) as browser:
        running = browser.submit(*ENDLESS)
        process = begun(running)
        waiting = [browser.submit("--version") for _ in range(WAITING)]
        sha = browser.site.files.state(browser.site.files.find("log.csv"))
        assert browser.post("/import/run", {"log": "log.csv", "sha": sha}).status_code == 429
    assert gone(process)
    assert {job.state for job in (running, *waiting)} == {"cancelled"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '{"number": 1}',
        json.dumps(
            {"number": 7, "title": "<script>alert(1)</script>", "arguments": ["a"], "then": "//evil.example"}
            | {"state": "running", "code": None, "line": "javascript:alert(1)", "begun": "", "ended": ""}
        ),
    ],
)
def test_what_lies_in_the_folder_of_jobs_is_not_believed(tmp_path: Path, text: str) -> None:
    (tmp_path / "jobs" / "1").mkdir(parents=True)
    (tmp_path / "jobs" / "1" / "job.json").write_text(text)
    (tmp_path / "jobs" / "x").mkdir()
    with served(tmp_path) as browser:
        page = browser.get("/jobs")
        assert page.status_code == 200
        assert "<script>alert" not in page.text
        for job in browser.site.jobs.all():
            assert (job.number, job.state, job.then) == (1, "stopped", "/")


@pytest.mark.parametrize(
    "path", ["//evil.example", "/\\evil.example", "/\t/evil.example", "javascript:x", "", None, 1]
)
def test_a_job_leads_to_this_server_only(path: object) -> None:
    assert _local(path) == "/"
    assert _local("/import?context=a%20b/context.yaml") == "/import?context=a%20b/context.yaml"


def test_a_listing_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path.joinpath(*"abcdefgh")
    deep.mkdir(parents=True)
    (deep / "log.csv").write_text("")
    for number in range(20):
        (tmp_path / f"{number:02}.csv").write_text("")
    monkeypatch.setattr("gnrs_ppl.serve.files.ENTRIES", 7)
    entries = Workspace(tmp_path).entries()
    assert [entry.name for entry in entries] == [f"{number:02}.csv" for number in range(7)]
