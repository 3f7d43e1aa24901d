"""A folder served for tests: in process, and by the real server on a port of loopback."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient
from uvicorn import Server

from gnrs_ppl.serve.app import create, settings
from gnrs_ppl.serve.web import Site

KEY = "key"
PORT = 8000


@contextmanager
def in_process(folder: Path) -> Iterator[tuple[TestClient, Site]]:
    """A client that has the key and sends the origin a browser would."""
    served, origin = Site.of(folder), f"http://127.0.0.1:{PORT}"
    with TestClient(
        create(served, PORT, KEY),  # type: ignore[arg-type]
        base_url=origin,
        headers={"origin": origin},
        follow_redirects=False,
    ) as client:
        client.get(f"/?key={KEY}")
        yield client, served


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
            yield f"http://127.0.0.1:{port}", served
        finally:
            server.should_exit = True
            thread.join(20)


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


def stood(folder: Path, number: int, *arguments: str, out: str = "", state: str = "done") -> Path:
    """A job that an earlier server ran; gives its folder."""
    place = folder / "jobs" / str(number)
    place.mkdir(parents=True)
    told = {
        "number": number,
        "title": "A job",
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
