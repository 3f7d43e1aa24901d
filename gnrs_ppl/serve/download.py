"""``/download``: one file, or all of them in an archive that is written as it is sent."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Generator
from contextlib import closing
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from gnrs_ppl.serve.files import Entry, Gone, Workspace
from gnrs_ppl.serve.web import entry_named, page, site

PIECE = 1 << 18


async def download(request: Request) -> Response:
    """What can be had; or a file, as something to keep and never to show."""
    files = site(request).files
    name = request.query_params.get("file")
    if name is None:
        entries = files.entries()
        return page(request, "download.html", entries=entries, total=sum(entry.size for entry in entries))
    entry = entry_named(request, name)
    files.open(entry).close()  # that it is gone can be said now, and not once it is being sent
    return _Download(
        _pieces(files, entry),
        media_type="application/octet-stream",
        headers={"Content-Disposition": _attached(entry.name.rpartition("/")[2])},
    )


async def archive(request: Request) -> Response:
    """Every file of the folder."""
    files = site(request).files
    return _Download(
        _zipped(files),
        media_type="application/zip",
        headers={"Content-Disposition": _attached(f"{files.folder.name or 'folder'}.zip")},
    )


class _Download(StreamingResponse):
    """Pieces of files, which are closed whatever becomes of the client."""

    def __init__(self, pieces: Generator[bytes, None, None], **more: Any) -> None:
        super().__init__(pieces, **more)
        self._pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send them."""
        with closing(self._pieces):
            await super().__call__(scope, receive, send)


def _attached(name: str) -> str:
    """A name as RFC 6266 has it, which holds every character escaped."""
    return f"attachment; filename*=UTF-8''{quote(name, safe='')}"


def _pieces(files: Workspace, entry: Entry) -> Generator[bytes, None, None]:
    with files.open(entry) as file:
        while piece := file.read(PIECE):
            yield piece


class _Sent(io.RawIOBase):
    """Bytes that were written and are not sent yet: what writes an archive need not go back in it."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []

    def writable(self) -> bool:
        """Whether it may be written."""
        return True

    def write(self, data: bytes | bytearray | memoryview) -> int:  # type: ignore[override]
        """Keep bytes until they are taken."""
        self._waiting.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        """All that was written since."""
        taken, self._waiting = b"".join(self._waiting), []
        return taken


def _zipped(files: Workspace) -> Generator[bytes, None, None]:
    sent = _Sent()
    with zipfile.ZipFile(sent, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in files.entries():
            at = max(time.localtime(entry.changed)[:6], (1980, 1, 1, 0, 0, 0))  # the format begins there
            about = zipfile.ZipInfo(entry.name, at)
            about.compress_type = zipfile.ZIP_DEFLATED
            try:
                file = files.open(entry)
            except Gone:  # it went meanwhile
                continue
            with file, archive.open(about, "w", force_zip64=True) as member:
                while piece := file.read(PIECE):
                    member.write(piece)
                    yield sent.take()
            yield sent.take()
    yield sent.take()


ROUTES = [Route("/download", download), Route("/download/all.zip", archive)]
