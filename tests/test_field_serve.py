"""``gnrs serve`` as it was attacked: names that are patterns, cookies that travel, files that never end."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from crawl import Sent, crawl
from served import KEY, ORIGIN, PORT, ROOT, Browser, context, fields, in_process, said, served, stood
from starlette.testclient import TestClient

from gnrs_ppl.cli.serve import LEAST
from gnrs_ppl.context.limits import ROWS_BYTES, TEXT_BYTES
from gnrs_ppl.context.output import write_all
from gnrs_ppl.serve import app, auditing, jobs, reader, security, watching
from gnrs_ppl.serve.app import create
from gnrs_ppl.serve.files import DEPTH, ENTRIES, Workspace
from gnrs_ppl.serve.web import Site

ODD = (
    "v[1]", "v1", "w*", "w2", "q?", "[a-z]", "b", "**", "{c,d}", "c", "%2e%2e", "%61", "a", "o'clock", 'say "it"', "--out=x",
    "ünï ☃", "role=admin", "~", "$HOME;", "#1&x=1", "<i>+\\",
)  # fmt: skip
"""Names of folders: some are patterns for the next, some are signs of addresses, shells and pages."""


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a context, a rule and its audit."""
    folder = tmp_path_factory.mktemp("audited") / "one"
    folder.mkdir()
    for file in ("context.yaml", "events.csv"):
        shutil.copy(ROOT / "examples" / "invoices" / file, folder)
    rule = ROOT / "docs" / "contexts" / "approval.yaml"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        said("audit", "context.yaml", "--rule", str(rule), "--out", "audit")
    for file in (folder / "audit").iterdir():
        shutil.move(file, folder)
    (folder / "audit").rmdir()
    shutil.copy(rule, folder / "rule.json")
    return folder


def with_cases(folder: Path, number: int) -> None:
    """Its verdicts are of cases that no other folder has."""
    table = (folder / "verdicts.csv").read_text().replace("inv_", f"folder {number} inv_")
    write_all(
        folder,
        [("audit.json", (folder / "audit.json").read_bytes()), ("verdicts.csv", table.encode())],
        manifest=True,
    )


def test_every_page_of_an_odd_name_is_of_that_name(audited: Path, tmp_path: Path) -> None:
    """A pattern that the name is, or a link that it would match, leads to no other folder."""
    folder = tmp_path / "served"
    for number, name in enumerate(ODD):
        with_cases(shutil.copytree(audited, folder / name), number)
    with_cases(shutil.copytree(audited, tmp_path / "outside"), 1000)
    (folder / "w-link").symlink_to(tmp_path / "outside")
    with in_process(folder) as (client, _):
        for number, name in enumerate(ODD):
            shown = client.get("/verdicts", params={"of": f"{name}/audit.json"})
            assert shown.status_code == 200, name
            assert f"folder {number} inv_" in shown.text, name
            others = {f"folder {other} inv_" for other in (*range(len(ODD)), 1000)} - {
                f"folder {number} inv_"
            }
            assert not [other for other in others if other in shown.text], name
            for page, field, file in (
                ("/rule", "of", "audit.json"), ("/audit", "rule", "rule.json"), ("/draft", "context", "context.yaml"),
                ("/ask", "context", "context.yaml"), ("/import", "log", "events.csv"), ("/download", "file", "events.csv"),
            ):  # fmt: skip
                assert client.get(page, params={field: f"{name}/{file}"}).status_code == 200, (page, name)
        for name in ("w-link", "w[-]link", "w-lin?", "*", "v[1-9]", "../outside"):
            assert client.get("/verdicts", params={"of": f"{name}/audit.json"}).status_code == 404, name


def test_every_address_of_every_page_lies_under_the_base(audited: Path, tmp_path: Path) -> None:
    folder = tmp_path / "served"
    shutil.copytree(audited, folder / "one")
    stood(folder, 1, "ask", "one/context.yaml", state="refused")
    with served(folder, "/only-here") as browser:
        browser.client.headers["origin"] = ORIGIN
        browser.client.base_url = ORIGIN
        found = crawl(browser.client, Sent("GET", "/only-here/jobs/1"), base="/only-here")
        browser.client.base_url = f"{ORIGIN}/only-here"
        assert len(found) > 30
        assert all(one.path.startswith("/only-here/") for one in found)
        form = fields(browser.get("/import?log=one/events.csv").text, "/only-here/import/run")
        sent = browser.client.post("/import/run", data=form | {"sha": "old"}, follow_redirects=False)
        assert sent.status_code == 409
        assert 'action="/only-here/import/run"' in sent.text
        begun = browser.client.post("/import/run", data=form, follow_redirects=False)
        assert begun.headers["location"].startswith("/only-here/jobs/")


# Cookies


def test_a_cookie_opens_one_server_under_its_path_alone(tmp_path: Path) -> None:
    """What a server of another port is sent, or was given, opens nothing here; neither does the key."""
    sites = [Site.of(tmp_path), Site.of(tmp_path)]
    cookies = []
    for site in sites:
        with TestClient(create(site, PORT, KEY), base_url=ORIGIN) as client:
            entered = client.get(f"/?key={KEY}", follow_redirects=False)
            cookie, *more = entered.headers["set-cookie"].split("; ")
            assert f"Path={site.base}/" in more
            assert {"HttpOnly", "SameSite=strict"} <= set(more)
            cookies.append(cookie)
    assert len({*cookies, *(site.base for site in sites)}) == 4
    with TestClient(create(sites[0], PORT, KEY), base_url=ORIGIN) as client:
        mine = client.get(f"/?key={KEY}", follow_redirects=False).headers["set-cookie"].partition(";")[0]
        client.cookies.clear()
        name = mine.partition("=")[0]
        home = f"{sites[0].base}/"
        for sent in (
            "",
            cookies[1],
            f"{name}={KEY}",
            f"{name}=",
            f"other={mine.partition('=')[2]}",
            f"x{mine}",
        ):
            assert client.get(home, headers={"cookie": sent}).status_code == 403, sent
            assert client.get(f"{home}?key={KEY}", headers={"cookie": sent}).status_code == 403, sent
        for path in ("/", sites[1].base, f"{sites[1].base}/", "/download", sites[0].base[:-1], sites[0].base):
            assert client.get(path, headers={"cookie": mine}).status_code == 403, path
        assert client.get(home, headers={"cookie": mine}).status_code == 200
        # one that another server set for every path takes nobody's place
        for tossed in (f"{name}=evil; {mine}", f"{mine}; {name}=evil"):
            assert client.get(home, headers={"cookie": tossed}).status_code == 200


def test_it_listens_on_loopback_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bound = []
    monkeypatch.setattr(app.Server, "run", lambda self, sockets: bound.append(sockets[0].getsockname()[0]))
    monkeypatch.setattr(app, "Thread", lambda **_: SimpleNamespace(start=lambda: None))
    monkeypatch.setattr(signal, "getsignal", lambda _: signal.SIG_IGN)
    app.serve(tmp_path)
    assert bound == ["127.0.0.1"]


# What the page says


NUMBERS = (
    (f"A head has {security.HEADER_SECONDS:.0f} s, a body {security.BODY_SECONDS:.0f} s and one more for each megabyte", security.BODY_RATE == 10**6),
    (f"each piece of an answer {security.SEND_SECONDS:.0f} s; {security.CONNECTIONS} connections", True),
    (f"refused above {ROWS_BYTES // 10**6} MB (413); a form above {security.FORM_BYTES // 10**6} MB", True),
    ("One runs, eight wait", jobs.WAITING == 8), ("A job has an hour", jobs.SECONDS == 3600), ("after five seconds", jobs.GRACE == 5),
    ("no file above 5 GiB", jobs.DRAWS_BYTES == 5 << 30), ("50 of them at a time", auditing.ROWS == 50),
    ("deeper than four folders, more than 5,000", (DEPTH, ENTRIES) == (4, 5000)), ("longer than 5 MB", TEXT_BYTES == 5_000_000),
    ("Four streams may watch a job, a fifth", watching.STREAMS == 4), ("After 15 s of silence", watching.HEARTBEAT == 15),
    ("more than five seconds is ended", reader.READ_SECONDS == 5), ("PORT is 1024 or above", LEAST == 1024),
)  # fmt: skip


def test_the_numbers_of_the_page_are_those_of_the_program() -> None:
    page = " ".join((ROOT / "docs" / "serve.md").read_text().split()).lower()
    for words, so in NUMBERS:
        assert words.lower() in page, words
        assert so, words


def test_what_lies_too_deep_or_has_no_name_is_not_shown(tmp_path: Path) -> None:
    for name in ("a/b/c/d/in.csv", "a/b/c/d/e/out.csv", "line\nend.csv", "\x1b[1m.csv", ".hidden.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert [entry.name for entry in Workspace(tmp_path).entries()] == ["a/b/c/d/in.csv"]


# Files that are long, and what is no file


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    (tmp_path / "served").mkdir()
    context(tmp_path / "served")
    with served(tmp_path / "served") as opened:
        yield opened


def test_a_long_log_is_not_read_before_its_form_is_shown(browser: Browser) -> None:
    folder = browser.site.files.folder
    with (folder / "long.csv").open("wb") as file:
        file.truncate(6 << 30)
    began = time.monotonic()
    form: dict[str, Any] = fields(browser.get("/import?log=long.csv").text, "/import/run")
    assert time.monotonic() - began < 2
    with (folder / "long.csv").open("r+b") as file:
        file.write(b"x")  # of the same length
    assert browser.post("/import/run", form).status_code == 409


def test_a_short_file_is_told_by_its_content_and_a_long_one_by_its_times(browser: Browser) -> None:
    files = browser.site.files
    for size, same in ((10, True), (TEXT_BYTES + 1, False)):
        path = files.folder / "a.csv"
        path.write_bytes(b"x" * size)
        before = files.state(files.find("a.csv"))
        assert files.state(files.find("a.csv")) == before
        time.sleep(0.02)
        path.write_bytes(b"x" * size)
        assert (files.state(files.find("a.csv")) == before) is same
        path.write_bytes(b"y" * size)
        assert files.state(files.find("a.csv")) != before


def test_what_is_no_file_stops_no_page(audited: Path, tmp_path: Path) -> None:
    """A pipe, or a socket, in the place of each file that a page reads."""
    folder = tmp_path / "served"
    shutil.copytree(audited, folder / "one")
    asked = stood(folder, 1, "ask", "one/context.yaml", out="{}")
    pages = ("/", "/import", "/rule?of=one/audit.json", "/verdicts?of=one/audit.json", "/audit", "/draft", "/ask", "/jobs", "/jobs/1",
             "/jobs/1/events", "/asked?job=1", "/compare", "/download", "/download/all.zip", "/import?context=one/context.yaml",
             "/import?log=one/events.csv", "/download?file=one/events.csv", "/goal?context=one/context.yaml")  # fmt: skip
    put = [*(folder / "one").iterdir(), asked / "out.txt", asked / "err.txt", asked / "progress.jsonl"]
    assert len(put) >= 8
    with in_process(folder) as (client, _):
        for path in put:
            kept = path.read_bytes() if path.exists() else None
            path.unlink(missing_ok=True)
            for make in (os.mkfifo, _socket) if path == put[0] else (os.mkfifo,):
                make(path)
                for page in pages:
                    began = time.monotonic()
                    answer = client.get(page, headers={"last-event-id": "1"})
                    assert answer.status_code < 500, (path, page)
                    assert time.monotonic() - began < 5, (path, page)
                path.unlink()
            if kept is not None:
                path.write_bytes(kept)


def _socket(path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch, socket.socket(socket.AF_UNIX) as one:
        patch.chdir(path.parent)  # addresses of sockets are short
        one.bind(path.name)


def test_a_page_waits_for_no_other(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Verdicts are copied and looked up in a thread."""
    looked = []

    def look_up(*_: object) -> tuple[int, list[Any]]:
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()  # which answers everybody
        looked.append(True)
        return 0, []

    monkeypatch.setattr(auditing, "look_up", look_up)
    folder = browser.site.files.folder
    write_all(folder, [("audit.json", b"{}"), ("verdicts.csv", b"")], manifest=True)
    browser.get("/verdicts?of=audit.json")
    assert looked
