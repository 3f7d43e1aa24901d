"""Databases behind an address: what it says, what a server does not, and files that are none."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from postgres import PASSWORD, cluster
from served import ROOT

from gnrs_ppl.cli import run
from gnrs_ppl.importing import sql

pytestmark = pytest.mark.allow_hosts(["127.0.0.1", "localhost"])
ROWS = "CREATE TABLE orders AS SELECT n AS id, 'order ' || n AS name, timestamp '2024-03-01' + n * interval '1 hour' AS placed_at FROM generate_series(1, 30) AS n"


def refused(capsys: pytest.CaptureFixture[str], source: str, out: Path) -> str:
    """The one line of an import that is refused; it holds no password, and nothing was written."""
    began = time.monotonic()
    assert run(["import", source, "--out", str(out)]) == 2, source
    assert time.monotonic() - began < 15
    told = capsys.readouterr()
    assert told.err.count("\n") == 1
    assert not any(word in told.out + told.err for word in (PASSWORD, "s3cret", "Traceback"))
    assert not out.exists()
    return told.err


@pytest.mark.parametrize(
    ("address", "line"),
    [
        ("postgresql://u:s3cret@127.0.0.1/db?sslmode=on", "sslmode: 'on' is no way to speak; write disable, allow, prefer, "),
        ("postgresql://u:s3cret@127.0.0.1/db?sslmode=verify-full&sslrootcert=/none.pem", "/none.pem: no such file"),
        ("postgresql://u:s3cret@127.0.0.1/db?sslmode=verify-full&sslrootcert=/dev/zero", "is no regular file"),
        ("postgresql://u:s3cret@127.0.0.1/db?sslmode=verify-ca&sslrootcert={tmp}/not.pem", "are no certificates"),
        ("postgresql://u:s3cret@127.0.0.1/db?connect_timeout=soon", "connect_timeout: 'soon' are no seconds"),
        ("postgresql://u:s3cret@127.0.0.1/db?connect_timeout=0", "write a whole number from 1 to 3600"),
        ("postgresql://u:s3cret@127.0.0.1/db?connect_timeout=-1", "are no seconds"),
        ("postgresql://127.0.0.1/db?password=s3cret", "says 'password', which nothing reads; leave it out; read are: sslmode, "),
        ("postgresql://127.0.0.1/db?options=-csearch_path%3Ds3cret&a=b", "says 'a', which nothing reads"),
        ("postgresql://u:pa@s3cret@127.0.0.1/db", "write an @ in a password as %40"),
        ("postgresql://u:s3cret@127.0.0.1:1/db", "Connection refused"),
        ("postgresql://u:s3cret@127.0.0.1:99999/db", "cannot be read"),
        ("postgresql://u:s3cret@127.0.0.1:0/db?sslmode=require", "cannot be read"),
        ("sqlite:///{tmp}/not.pem?uri=true", "says 'uri', which nothing reads"),
        ("sqlite:///{tmp}/not.pem?timeout=soon", "cannot be read"),
        ("klingon://u:s3cret@127.0.0.1/db?password=s3cret", "has no driver here"),
    ],
)  # fmt: skip
def test_what_an_address_cannot_say_is_one_line(
    address: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "not.pem").write_text("no certificate")
    assert line in refused(capsys, address.format(tmp=tmp_path), tmp_path / "out")


@contextmanager
def answering(answer: Callable[[socket.socket], None]) -> Iterator[int]:
    """A server that is none, on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            try:
                while True:
                    client, _ = listening.accept()
                    with client:
                        answer(client)
            except OSError:
                return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
    thread.join(5)


def silent(client: socket.socket) -> None:
    while client.recv(1000):
        pass


def no_tls_then_silent(client: socket.socket) -> None:
    client.recv(8)
    client.sendall(b"N")
    silent(client)


def http(client: socket.socket) -> None:
    client.recv(1000)
    client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def noise(client: socket.socket) -> None:
    client.recv(1000)
    client.sendall(b"NR\x00\x00\x00\x08\x00\x00\x00\x63" + bytes(range(256)))


def broken_tls(client: socket.socket) -> None:
    client.recv(8)
    client.sendall(b"S" + bytes(100))


@pytest.mark.parametrize(
    ("answer", "parameters", "line"),
    [
        (silent, "?connect_timeout=1", "does not answer within 1 seconds; check host and port, or allow more by ?connect_timeout=SECONDS"),
        (no_tls_then_silent, "?connect_timeout=1", "does not answer within 1 seconds"),
        (silent, "?connect_timeout=1&sslmode=disable", "does not answer within 1 seconds"),
        (no_tls_then_silent, "?sslmode=require", "Server refuses SSL"),
        (no_tls_then_silent, "?sslmode=verify-full", "Server refuses SSL"),
        (http, "?connect_timeout=1", "cannot be read"),
        (http, "?sslmode=require", "Server refuses SSL"),
        (noise, "?connect_timeout=1", "cannot be read"),
        (broken_tls, "?connect_timeout=1", "cannot be read"),
        (lambda client: None, "?connect_timeout=1", "cannot be read"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_answers_and_is_no_database_is_one_line_in_time(
    answer: Callable[[socket.socket], None], parameters: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    with answering(answer) as port:
        address = f"postgresql://u:s3cret@127.0.0.1:{port}/db{parameters}"
        assert line in refused(capsys, address, tmp_path / "out")


# A server that is one


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the server's certificate stands."""
    return tmp_path_factory.mktemp("tls") / "server.crt"


@pytest.fixture(scope="module")
def port(certificate: Path) -> Iterator[int]:
    pg8000 = pytest.importorskip("pg8000.native", reason="the sql extra is not installed")
    pytest.importorskip("sqlalchemy", reason="the sql extra is not installed")
    with cluster(certificate) as port:
        with pg8000.Connection("auditor", "127.0.0.1", "postgres", port, PASSWORD) as connection:
            connection.run(ROWS)
        yield port


def address(port: int, rest: str = "/postgres", host: str = "127.0.0.1", password: str = PASSWORD) -> str:
    return f"postgresql://auditor:{password.replace(' ', '%20')}@{host}:{port}{rest}"


def test_every_way_to_speak_is_spoken(
    port: int, certificate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, (way, host) in enumerate(
        (
            ("", "127.0.0.1"),
            *((f"?sslmode={mode}", "127.0.0.1") for mode in ("disable", "allow", "prefer", "require")),
            (f"?sslmode=verify-ca&sslrootcert={certificate}", "127.0.0.1"),
            (f"?sslmode=verify-full&sslrootcert={certificate}&connect_timeout=20", "localhost"),
        )
    ):
        assert (
            run(["import", address(port, f"/postgres{way}", host), "--out", str(tmp_path / str(number))]) == 0
        )
        told = capsys.readouterr()
        assert "30 rows read = 30 imported" in told.out, way
        assert PASSWORD not in told.out + told.err
        for file in (tmp_path / str(number)).iterdir():
            assert PASSWORD.encode() not in file.read_bytes()


def test_what_a_server_refuses_is_one_line(
    port: int,
    certificate: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for source, line in (
        (address(port, "/none"), 'database "none" does not exist'),
        (address(port, password="s3cret"), 'password authentication failed for user "auditor"'),
        (address(port).replace("auditor", "nobody"), 'password authentication failed for user "nobody"'),
        (address(port, "/postgres?sslmode=verify-full"), "certificate verify failed"),
        (
            address(port, f"/postgres?sslmode=verify-full&sslrootcert={certificate}"),
            "IP address mismatch",  # the certificate is of localhost
        ),
        (address(port, "/template1"), "has no table whose rows have a time"),
    ):
        assert line in refused(capsys, source, tmp_path / "out"), line
    monkeypatch.setattr(sql, "SILENCE", 0.3)
    monkeypatch.setattr(sql._Database, "tables", lambda self: list(self.rows("SELECT pg_sleep(5)")))
    assert "cannot be read" in refused(capsys, address(port), tmp_path / "out")


# What is no file


NO_FILES: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "pipe.csv": os.mkfifo,
    "pipe.parquet": os.mkfifo,
    "folder.csv": Path.mkdir,
    "empty.csv": Path.touch,
    "zero.csv": lambda path: path.symlink_to("/dev/zero"),
    "terminal.csv": lambda path: path.symlink_to("/dev/tty"),
    "kmsg.csv": lambda path: path.symlink_to("/proc/kmsg"),
    "maps.yaml": lambda path: path.symlink_to("/proc/self/maps"),
    "trace.csv": lambda path: path.symlink_to("/proc/self/pagemap"),
}


def test_no_verb_waits_for_what_is_no_file(tmp_path: Path) -> None:
    """In a process of its own, since one that waits cannot be told to end."""
    out, rule = ["--out", str(tmp_path / "out")], str(ROOT / "docs" / "contexts" / "approval.yaml")
    audit = ["audit", str(ROOT / "examples" / "invoices" / "context.yaml"), "--rule"]
    commands = []
    for name, make in NO_FILES.items():
        path = str(tmp_path / name)
        make(Path(path))
        commands += [["import", path, *out], ["history", path], ["profile", path], [*audit, path]]
        commands += [[*audit, rule, "--log", path], [*audit, rule, "--on", f"parquet://{path}"]]
    for there in ("/proc/kmsg", "/proc/kcore", "/dev/stdin"):
        commands += [["import", there, *out], ["history", there]]
    done = subprocess.run(
        ["timeout", "120", sys.executable, "-c", RUNS],
        input=repr(commands), capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == ["2"] * len(commands), done.stdout
    assert done.stderr.count("\n") == len(commands)
    assert not (tmp_path / "out").exists()


RUNS = """
import ast, sys
from gnrs_ppl.cli import run
for command in ast.literal_eval(sys.stdin.read()):
    print(run(command), flush=True)
"""
