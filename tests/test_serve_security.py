"""Who may speak to ``gnrs serve``: strangers, other sites, names that lead elsewhere, slow and large clients."""

from __future__ import annotations

import hashlib
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from uvicorn import Server

from gnrs_ppl.serve import app, security
from gnrs_ppl.serve.files import Gone, Workspace
from gnrs_ppl.serve.web import Site
from tests.served import KEY, ORIGIN, PORT, Browser, served

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
SECRET = "this is outside of the folder"
STATIC = Path(app.__file__).parent / "static"
VENDORED = {
    "htmx.min.js": "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717",
    "sse.min.js": "98a46496de0c3605fbffdce9167ba427bdd9553184f83f149c261891a92c0136",
}
"""htmx 2.0.11 and htmx-ext-sse 2.2.4 as published, Zero-Clause BSD."""


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    folder = tmp_path / "served"
    folder.mkdir()
    (tmp_path / "secret.csv").write_text(SECRET)
    (folder / "log.csv").write_text("case_id,activity,timestamp\n1,A,2024-01-01\n")
    (folder / ".hidden.csv").write_text(SECRET)
    (folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    (folder / "linked").symlink_to(tmp_path)
    with served(folder) as opened:
        yield opened


def test_vendored_scripts_are_those_that_were_published() -> None:
    assert {name: hashlib.sha256((STATIC / name).read_bytes()).hexdigest() for name in VENDORED} == VENDORED
    for licence in ("htmx.LICENSE", "sse.LICENSE"):
        assert "with or without fee is hereby granted" in " ".join((STATIC / licence).read_text().split())


def test_a_stranger_without_the_key_sees_nothing(tmp_path: Path) -> None:
    site = Site.of(tmp_path)
    with TestClient(app.create(site, PORT, KEY), base_url=ORIGIN) as client:
        base = site.base
        inside = ("/", "/download", "/static/page.css", f"/?key={KEY}", f"/import?key={KEY}")
        for path in (*inside[:3], "/?key=wrong", *(base + path for path in inside)):
            assert client.get(path).status_code == 403, path
        entered = client.get(f"/?key={KEY}", follow_redirects=False)
        assert entered.headers["location"] == f"{base}/"
        cookie, *more = entered.headers["set-cookie"].split("; ")
        assert sorted(more) == ["HttpOnly", f"Path={base}/", "SameSite=strict"]
        assert cookie.startswith(f"gnrs-{PORT}=")
        assert KEY not in cookie
        assert client.get(f"{base}/").status_code == 200
        assert client.get("/", headers={"cookie": cookie}).status_code == 403  # of no page, with the cookie


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        f"evil.example:{PORT}",
        "127.0.0.1",
        f"127.0.0.1:{PORT + 1}",
        f"127.0.0.1.evil.example:{PORT}",
        "",
    ],
)
def test_a_name_that_was_made_to_lead_here_is_refused(browser: Browser, host: str) -> None:
    assert browser.client.get("/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "null"},
        {"origin": "http://evil.example"},
        {"origin": f"https://127.0.0.1:{PORT}"},
        {"origin": f"http://127.0.0.1:{PORT + 1}"},
        {"origin": f"http://localhost:{PORT}"},
        {"origin": ORIGIN, "sec-fetch-site": "cross-site"},
        {"origin": ORIGIN, "sec-fetch-site": "same-site"},
    ],
)
def test_a_form_of_another_site_is_refused(browser: Browser, headers: dict[str, str]) -> None:
    form = {"token": browser.site.token, "log": "log.csv"}
    assert browser.client.post("/import/run", data=form, headers=headers).status_code == 403
    assert not browser.site.jobs.all()


POSTS = [
    route.path.replace("{number}", "1")
    for page in app.PAGES
    for route in page.ROUTES
    if "POST" in (route.methods or ())
]
"""Every route that takes a form."""


def test_no_route_is_open_to_another_site_or_another_name(browser: Browser) -> None:
    gets = [
        route.path.replace("{number}", "1")
        for page in app.PAGES
        for route in page.ROUTES
        if "GET" in (route.methods or ())
    ]
    assert len(gets) > 15
    for path in (*gets, "/static/page.css"):
        assert browser.client.get(path, headers={"host": f"evil.example:{PORT}"}).status_code == 421, path
    for path in POSTS:
        form, away = {"token": browser.site.token}, {"origin": "http://evil.example"}
        assert browser.client.post(path, data=form, headers=away).status_code == 403, path
        rebound = {"origin": f"http://evil.example:{PORT}", "host": f"evil.example:{PORT}"}
        assert browser.client.post(path, data=form, headers=rebound).status_code == 421, path


@pytest.mark.parametrize("token", ["", "wrong", "é", None])
def test_a_form_without_its_token_is_refused_on_every_route(browser: Browser, token: str | None) -> None:
    form = {} if token is None else {"token": token}
    assert len(POSTS) >= 6
    for path in POSTS:
        said = browser.client.post(path, data=form, headers={"origin": ORIGIN})
        assert said.status_code == 403, path


def test_every_answer_says_what_a_browser_may_do_with_it(browser: Browser) -> None:
    answers = [
        browser.get("/"),
        browser.get("/static/htmx.min.js"),
        browser.get("/nothing"),
        browser.get("/download?file=log.csv"),
        browser.client.get("/", headers={"host": "evil.example"}),
        browser.post("/import/run", {"log": "nothing"}),
    ]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
    for answer in answers[:3]:
        assert "<script>" not in answer.text
        assert " onclick" not in answer.text
    assert answers[3].headers["content-type"] == "application/octet-stream"
    assert answers[3].headers["content-disposition"].startswith("attachment;")


TRAVERSALS = [
    "../secret.csv",
    "%2e%2e/secret.csv",
    "..%252fsecret.csv",
    "served/../../secret.csv",
    "./log.csv",
    "/etc/passwd",
    "//etc/passwd",
    "link.csv",
    "linked/secret.csv",
    ".hidden.csv",
    "log.csv/",
    "log.csv%00",
    "..\\secret.csv",
    "file:///etc/passwd",
]


@pytest.mark.parametrize("name", TRAVERSALS)
def test_no_parameter_climbs_out_of_the_folder(browser: Browser, name: str) -> None:
    for path in (
        "/import?log=",
        "/import?context=",
        "/goal?context=",
        "/download?file=",
        "/jobs/",
        "/static/",
    ):
        said = browser.get(path + name)
        assert said.status_code == 404, path
        assert SECRET not in said.text
        assert "root:" not in said.text
    for path, fields in (
        ("/import/run", ("log",)),
        ("/import/again", ("log", "context")),
        ("/goal/answer", ("context",)),
        ("/goal/read", ("context",)),
    ):
        form = dict.fromkeys(fields, name) | {"sentence": "Somebody must do A."}
        assert browser.post(path, form).status_code == 404, path
    assert not browser.site.jobs.all()


@pytest.mark.parametrize(
    "name",
    ["../../evil.csv", "/tmp/evil.csv", "C:\\evil.csv", "..", ".bashrc", "--out=x", "a" * 500, "<b>.csv"],
)
def test_what_is_uploaded_gets_a_plain_name_in_the_folder(browser: Browser, name: str) -> None:
    before = set(browser.site.files.folder.iterdir())
    above = set(browser.site.files.folder.parent.iterdir())
    assert browser.post("/import/upload", {}, files={"file": (name, b"case_id\n1\n")}).status_code == 200
    (new,) = set(browser.site.files.folder.iterdir()) - before
    assert new.read_bytes() == b"case_id\n1\n"
    assert new.name.replace("-", "").replace(".", "").isalnum()
    assert new.name[0] not in "-."
    assert set(browser.site.files.folder.parent.iterdir()) == above


def test_nothing_is_overwritten_by_an_upload(browser: Browser) -> None:
    browser.post("/import/upload", {}, files={"file": ("log.csv", b"other")})
    assert (browser.site.files.folder / "log.csv").read_text().startswith("case_id")
    assert (browser.site.files.folder / "log-2.csv").read_bytes() == b"other"


def test_a_folder_of_a_wanted_name_lies_in_the_folder(browser: Browser) -> None:
    sha = browser.site.files.state(browser.site.files.find("log.csv"))
    browser.post("/import/run", {"log": "log.csv", "sha": sha, "out": "../../--out"})
    (job,) = browser.site.jobs.all()
    assert job.arguments == ("import", "log.csv", "--out", "out")


def test_a_file_that_became_a_link_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "in" / "a").mkdir(parents=True)
    (tmp_path / "in" / "a" / "log.csv").write_text("x")
    files = Workspace(tmp_path / "in")
    entry = files.find("a/log.csv")
    (tmp_path / "in" / "a").rename(tmp_path / "b")
    (tmp_path / "in" / "a").symlink_to(tmp_path / "b")
    with pytest.raises(Gone):
        files.open(entry)


def test_too_large_a_body_is_refused_whatever_it_says_of_itself(browser: Browser) -> None:
    large = b"x" * (security.FORM_BYTES + 1)
    assert browser.client.post("/goal/read", content=large, headers={"origin": ORIGIN}).status_code == 413
    pieces = browser.client.post("/goal/read", content=iter([large]), headers={"origin": ORIGIN})
    assert pieces.status_code == 411  # in chunks, which say no length
    many = dict.fromkeys(map(str, range(500)), "")
    assert browser.post("/goal/read", many).status_code == 400


def test_an_upload_is_refused_past_its_limit(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(app.imports.LARGEST, "/import/upload", 1000)
    before = set(browser.site.files.folder.iterdir())
    said = browser.post("/import/upload", {}, files={"file": ("log.csv", b"x" * 2000)})
    assert said.status_code == 413
    assert set(browser.site.files.folder.iterdir()) == before


@contextmanager
def listening(folder: Path) -> Iterator[tuple[int, Server, security.Guard]]:
    """The real server on a free port, in a thread."""
    with socket.create_server(("127.0.0.1", 0)) as bound:
        port = bound.getsockname()[1]
        guard = app.create(Site.of(folder), port, KEY)
        server = Server(app.settings(guard))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            yield port, server, guard
        finally:
            server.should_exit = True
            thread.join()


def speak(port: int, text: str) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), timeout=10)
    client.sendall(text.encode())
    return client


def ended(client: socket.socket) -> bytes:
    """All that is said until the server ends the connection."""
    said = b""
    try:
        while piece := client.recv(65536):
            said += piece
    except ConnectionResetError:
        pass
    return said


def test_slow_clients_are_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "HEADER_SECONDS", 0.3)
    monkeypatch.setattr(security, "BODY_SECONDS", 0.3)
    monkeypatch.setattr(security, "SEND_SECONDS", 0.3)
    (tmp_path / "large.csv").write_bytes(b"x" * 30_000_000)
    (tmp_path / "reports").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "reports"))
    with listening(tmp_path) as (port, server, guard):
        base, entry = guard._base, f"Host: 127.0.0.1:{port}\r\nCookie: gnrs-{port}={guard._cookie}\r\n"
        kind = "Content-Type: application/x-www-form-urlencoded"
        head = f"POST {base}/goal/read HTTP/1.1\r\n{entry}Origin: http://127.0.0.1:{port}\r\n{kind}\r\n"
        post = f"{head}Content-Length: 50\r\n\r\ntoken"
        with (
            closing(speak(port, "")) as silent,
            closing(speak(port, "GET / HTTP/1.1\r\nHost: 127")) as half,
            closing(speak(port, post)) as body,
            closing(speak(port, f"GET {base}/download?file=large.csv HTTP/1.1\r\n{entry}\r\n")) as deaf,
        ):
            assert ended(silent) == ended(half) == b""
            assert b"408" in ended(body).splitlines()[0]
            end = time.monotonic() + 5
            while server.server_state.connections and time.monotonic() < end:
                time.sleep(0.02)
            assert not server.server_state.connections  # also of the one that takes nothing
            assert len(ended(deaf)) < 30_000_000
        with closing(speak(port, f"GET {base}/jobs HTTP/1.1\r\n{entry}Connection: close\r\n\r\n")) as client:
            assert ended(client).startswith(b"HTTP/1.1 200")
    assert not list((tmp_path / "reports").iterdir())  # a client that goes is no error of ours


def test_there_are_few_connections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "CONNECTIONS", 2)
    with listening(tmp_path) as (port, _, _):
        first, second = speak(port, ""), speak(port, "")
        time.sleep(0.1)
        with closing(first), closing(second), closing(speak(port, "")) as third:
            begun = time.monotonic()
            assert ended(third) == b""
            assert time.monotonic() - begun < security.HEADER_SECONDS / 2  # at once, not for being silent
        time.sleep(0.1)
        with closing(
            speak(port, f"GET / HTTP/1.1\r\nHost: evil.example:{port}\r\nConnection: close\r\n\r\n")
        ) as client:
            assert ended(client).startswith(b"HTTP/1.1 421")
        with closing(speak(port, "GET / HTTP/1.1\r\nX: " + "x" * 2 * security.HEAD_BYTES)) as client:
            assert b" 200 " not in ended(client)
