"""A folder served in the test's own process, as a browser would see it."""

from __future__ import annotations

import io
import json
import re
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from httpx2 import Response
from starlette.testclient import TestClient
from uvicorn import Server

from gnrs_ppl.cli import run
from gnrs_ppl.serve.app import create, settings
from gnrs_ppl.serve.jobs import Job
from gnrs_ppl.serve.web import Site

ROOT = Path(__file__).resolve().parent.parent
KEY = "k" * 43
PORT = 8017
ORIGIN = f"http://127.0.0.1:{PORT}"


class Browser:
    """A browser that came by the printed address."""

    def __init__(self, site: Site, client: TestClient) -> None:
        self.site, self.client = site, client

    def get(self, path: str) -> Response:
        return self.client.get(path)

    def post(self, path: str, fields: dict[str, Any], **more: Any) -> Response:
        """A form of ours, sent as a browser sends it."""
        return self.client.post(
            path, data={"token": self.site.token} | fields, headers={"origin": ORIGIN}, **more
        )

    def finished(self, job: Job) -> Job:
        """A job that has come to its end."""
        self.client.portal.call(job.changed.wait)
        return job

    def submit(self, *arguments: str) -> Job:
        async def submitted() -> Job:
            return self.site.jobs.submit("a job", arguments)

        return self.client.portal.call(submitted)


@contextmanager
def served(folder: Path, base: str = "") -> Iterator[Browser]:
    """A folder served under a path; under none, addresses are what the pages' routes say."""
    site = Site.of(folder)
    site.base = base
    with TestClient(create(site, PORT, KEY), base_url=ORIGIN + site.base) as client:
        assert client.get(f"{ORIGIN}/?key={KEY}").status_code == 200
        yield Browser(site, client)


def hidden(page: Response, name: str) -> str:
    """A hidden field of a page's form."""
    found = re.search(rf'name="{name}" value="([^"]*)"', page.text)
    assert found, name
    return unescape(found[1])


def context(folder: Path, name: str = "c") -> Path:
    """The example's context and log, in a folder of their own."""
    (folder / name).mkdir()
    for file in ("context.yaml", "events.csv"):
        shutil.copy(ROOT / "examples" / "invoices" / file, folder / name)
    return folder / name / "context.yaml"


@contextmanager
def in_process(folder: Path) -> Iterator[tuple[TestClient, Site]]:
    """A client that sends the origin a browser would, and goes nowhere by itself."""
    with served(folder) as browser:
        browser.client.headers["origin"] = ORIGIN
        browser.client.follow_redirects = False
        yield browser.client, browser.site


@contextmanager
def on_a_port(folder: Path) -> Iterator[tuple[str, Site]]:
    """The server itself, in a thread: its address and its site."""
    served = Site.of(folder)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        server = Server(settings(create(served, port, KEY)))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        until(lambda: server.started)
        try:
            yield f"http://127.0.0.1:{port}{served.base}", served
        finally:
            server.should_exit = True
            thread.join(20)


def entrance(address: str) -> str:
    """The address that is printed for a server's pages."""
    return f"{address.rpartition('/')[0]}/?key={KEY}"


def until(true: Any, seconds: float = 20.0) -> None:
    """Wait for something that will be so."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.02)


def fields(page: str, action: str) -> dict[str, list[str]]:
    """The hidden fields of a page's form."""
    form = page[page.index(f'method="post" action="{action}"') :].partition("</form>")[0]
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form):
        found.setdefault(unescape(name), []).append(unescape(value))
    return found


def stood(
    folder: Path, number: int, *arguments: str, out: str = "", state: str = "done", title: str = "A job"
) -> Path:
    """A job that an earlier server ran; gives its folder."""
    place = folder / "jobs" / str(number)
    place.mkdir(parents=True)
    told = {
        "number": number,
        "title": title,
        "arguments": list(arguments),
        "then": "/",
        "state": state,
        "code": 0,
        "line": "",
        "begun": "2026-01-01T00:00:00+00:00",
        "ended": "2026-01-01T00:00:01+00:00",
    }
    (place / "job.json").write_text(json.dumps(told))
    (place / "out.txt").write_text(out)
    return place


def said(*arguments: str) -> str:
    """What a verb prints."""
    with redirect_stdout(io.StringIO()) as printed:
        run([*arguments])
    return printed.getvalue()


DRAFTED = ("draft", "invoices/context.yaml", "--out", "rule")


def worked_in(folder: Path, *how: str) -> Path:
    """A folder as somebody leaves it who drafted twice, audited, compared (job 2) and asked (job 1); how the
    first draft is made beside the least.
    """
    (folder / "jobs" / "9").mkdir(parents=True)
    context(folder, "invoices")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        named, quick = "invoices/context.yaml", ("--kernel", "exact", "--chains", "4")
        patch.setenv("GNRS_PROGRESS", str(folder / "jobs" / "9" / "progress.jsonl"))
        said(*DRAFTED, *(how or quick))
        patch.delenv("GNRS_PROGRESS")
        said("draft", named, *quick, "--fix", "norm.deadline=P5D", "--out", "other")
        said("audit", named, "--rule", "rule/rule.json", "--out", "rule")
        asked = ("ask", named, "--answers=invoices/answers.yaml", "--json", "--mass=0.1")
        stood(folder, 1, *asked, out=said(*asked), title=f"Ask about {named}")
        compared = ("compare", "rule/rule.json", "other/rule.json", "--json", "--context", named)
        stood(folder, 2, *compared, out=said(*compared), title="rule/rule.json against other/rule.json")
    return folder


def running(site: Site) -> Job:
    """Job 9: the first draft of the folder, in the midst of its chains."""
    place = site.files.folder / "jobs" / "9"
    lines = [json.loads(line) for line in (place / "progress.jsonl").read_text().splitlines()]
    so_far = [line for line in lines if line.get("step", 0) <= 100 and line.get("words", "")[:7] != "writing"]
    (place / "progress.jsonl").write_text("".join(json.dumps(line) + "\n" for line in so_far))
    job = Job(9, "Draft a rule from invoices/context.yaml", DRAFTED, "/", place, state="running")
    site.jobs._jobs[9] = job
    return job
