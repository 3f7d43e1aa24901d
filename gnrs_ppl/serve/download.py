"""``/download``: one file, or all of them in an archive that is written as it is sent."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Iterator
from typing import BinaryIO
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from gnrs_ppl.serve.files import Gone, Workspace
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
    return StreamingResponse(
        _pieces(files.open(entry)),
        media_type="application/octet-stream",
        headers={"Content-Disposition": _attached(entry.name.rpartition("/")[2])},
    )


async def archive(request: Request) -> Response:
    """Every file of the folder."""
    files = site(request).files
    return StreamingResponse(
        _zipped(files),
        media_type="application/zip",
        headers={"Content-Disposition": _attached(f"{files.folder.name or 'folder'}.zip")},
    )


def _attached(name: str) -> str:
    """A name as RFC 6266 has it, which holds every character escaped."""
    return f"attachment; filename*=UTF-8''{quote(name, safe='')}"


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    with file:
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


def _zipped(files: Workspace) -> Iterator[bytes]:
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
            with archive.open(about, "w", force_zip64=True) as member:
                for piece in _pieces(file):
                    member.write(piece)
                    yield sent.take()
            yield sent.take()
    yield sent.take()


ROUTES = [Route("/download", download), Route("/download/all.zip", archive)]
