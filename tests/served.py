"""A folder served in the test's own process, as a browser would see it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any

from httpx2 import Response
from starlette.testclient import TestClient

from gnrs_ppl.serve.app import create
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
def served(folder: Path, change: Callable[[Site], None] = lambda site: None) -> Iterator[Browser]:
    site = Site.of(folder)
    change(site)
    with TestClient(create(site, PORT, KEY), base_url=ORIGIN) as client:
        assert client.get(f"/?key={KEY}").status_code == 200
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
