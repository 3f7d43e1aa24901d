"""A PostgreSQL server for a test module, from Debian's package, in a folder that goes with it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PASSWORD = "correct horse battery"


def _program(name: str) -> str:
    found = shutil.which(name) or next(
        (str(path) for path in sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)), None
    )
    if found is None:
        pytest.skip("no PostgreSQL server on this machine")
    return found


@contextmanager
def cluster(certificate: Path | None = None) -> Iterator[int]:
    """A server on 127.0.0.1 whose user ``auditor`` has :data:`PASSWORD`; gives its port. With TLS where it is said
    where to write its certificate, which is of localhost.
    """
    initdb, control = _program("initdb"), _program("pg_ctl")
    folder = Path(tempfile.mkdtemp(prefix="gnrs-pg-"))
    user = None
    if os.geteuid() == 0:  # which PostgreSQL refuses to run as
        user = "nobody"
        shutil.chown(folder, user)

    def run(*command: str) -> None:
        done = subprocess.run(command, user=user, capture_output=True, text=True, cwd=folder)
        assert done.returncode == 0, done.stdout + done.stderr

    try:
        secret = folder / "password"
        secret.write_text(PASSWORD)
        if user is not None:
            shutil.chown(secret, user)
        run(initdb, "-D", f"{folder}/data", "-U", "auditor", "-A", "scram-sha-256", "--pwfile", str(secret),
            "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")  # fmt: skip
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        if certificate is not None:
            made = f"{folder}/server.crt"
            run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-addext",
                "subjectAltName=DNS:localhost", "-keyout", f"{folder}/server.key", "-out", made)  # fmt: skip
            shutil.copyfile(made, certificate)
            options += f" -c ssl=on -c ssl_cert_file={made} -c ssl_key_file={folder}/server.key"
        run(control, "-D", f"{folder}/data", "-w", "-l", f"{folder}/log", "-o", options, "start")
        try:
            yield port
        finally:
            run(control, "-D", f"{folder}/data", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
