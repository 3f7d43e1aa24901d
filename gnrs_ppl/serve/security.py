"""Who may speak to the server, how much they may say and how slowly: asked before any page is.

The server listens on loopback, where three kinds of strangers are left. Other users of the machine do not
know the key in the address that was printed. Other servers of this machine are sent the cookies of 127.0.0.1
whatever the port, but for those of a path that they do not know. Pages of other sites in the same browser
have no cookie (``SameSite=Strict``), another ``Origin``, no token, and, with a name of theirs that leads here
(DNS rebinding), another ``Host``.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from asyncio import TimerHandle, Transport

FORM_BYTES = 1_000_000
"""Bytes of a form without a file."""
HEADER_SECONDS = 10.0
"""Time within which the head of a request must have come, the first or the next."""
BODY_SECONDS = 20.0
"""Time that a body may take, whatever its length, ..."""
BODY_RATE = 1_000_000
"""... and bytes a second beyond it."""
SEND_SECONDS = 30.0
"""Time within which a client must take each piece of an answer."""
CONNECTIONS = 16
LEFT = (ClientDisconnect, TimeoutError)
"""What is raised where a client went, or takes nothing."""
HEAD_BYTES = 16_384
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # not no-referrer, under which a browser sends a form of our own with "Origin: null"
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """What stands before the application.

    Parameters
    ----------
    app : ASGI application
    port : int
        Where the server listens.
    key : str
        What the printed address holds, which opens nothing but the door: who brings it is given the cookie.
    base : str
        What the path of every page begins with, and the only one that the cookie is sent to.
    largest : mapping
        Path behind the base -> bytes of a body that it takes; ``FORM_BYTES`` for every other.
    """

    def __init__(self, app: ASGIApp, *, port: int, key: str, base: str, largest: Mapping[str, int]) -> None:
        self._app, self._key, self._base, self._largest = app, key, base, largest
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._name, self._cookie = f"gnrs-{port}", secrets.token_urlsafe(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or let it through with its body watched."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                told = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    told.setdefault(name, value)
            async with asyncio.timeout(SEND_SECONDS):
                await send(message)

        refused = self._refusal(scope, headers)
        if refused is not None:
            await refused(scope, receive, answer)
            return
        body = _Body(receive, headers, self._most(scope))
        with suppress(*LEFT):  # nobody is left to tell
            await self._app(scope, body, answer)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """The answer to a request that no page is asked about; None where one may be."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return _said(421, "This server answers to 127.0.0.1 only.")
        if scope["method"] not in ("GET", "HEAD"):
            if headers.get("origin") != f"http://{hosts[0]}":
                return _said(403, "The form is not of this server.")
            if headers.get("sec-fetch-site", "same-origin") != "same-origin":
                return _said(403, "The form is of another site.")
            length = headers.get("content-length", "")
            if not (length.isascii() and length.isdecimal()):
                return _said(411, "The form does not say how long it is.")
            if int(length) > (largest := self._most(scope)):
                return _said(413, f"More than {largest:,} bytes.")
        given = parse_qs(scope["query_string"].decode("latin-1")).get("key", [""])[0]
        if scope["path"] == "/" and _same(given, self._key):
            entered = RedirectResponse(f"{self._base}/", 303)
            entered.set_cookie(
                self._name, self._cookie, path=f"{self._base}/", httponly=True, samesite="strict"
            )
            return entered
        # any of several by that name: another server of this machine may have set one for every path
        sent = [part.strip() for part in headers.get("cookie", "").split(";")]
        known = any(_same(cookie, f"{self._name}={self._cookie}") for cookie in sent)
        if not (known and scope["path"].startswith(f"{self._base}/")):
            return _said(403, "Open the address that gnrs serve printed, with its key.")
        return None

    def _most(self, scope: Scope) -> int:
        return self._largest.get(scope["path"].removeprefix(self._base), FORM_BYTES)


def _same(text: str, secret: str) -> bool:
    return secrets.compare_digest(text.encode(), secret.encode())


class _Body:
    """A request's body, counted as it comes and given up where it comes too slowly."""

    def __init__(self, receive: Receive, headers: Headers, largest: int) -> None:
        self._receive, self._largest, self._read, self._whole = receive, largest, 0, False
        said = headers.get("content-length", "0")
        length = int(said) if said.isascii() and said.isdecimal() else 0
        self._seconds = BODY_SECONDS + length / BODY_RATE
        self._end: float | None = None

    async def __call__(self) -> Message:
        if self._whole:  # what comes now is the client's going, which has all the time there is
            return await self._receive()
        clock = asyncio.get_running_loop()
        if self._end is None:
            self._end = clock.time() + self._seconds
        try:
            async with asyncio.timeout_at(self._end):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(408, "The form came too slowly.") from None
        self._read += len(message.get("body", b""))
        if self._read > self._largest:
            raise HTTPException(413, f"More than {self._largest:,} bytes.")
        self._whole = not message.get("more_body", False)
        return message


def _said(status: int, line: str) -> Response:
    return PlainTextResponse(f"{line}\n", status, {"Connection": "close"})


class Connection(H11Protocol):
    """A connection of which there are few, and none waits long for the head of a request."""

    _deadline: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Begin, or end at once where there are too many."""
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS:
            transport.abort()
        else:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        if self._deadline is not None:
            self._deadline.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """An answer is whole: the next request may come."""
        super().on_response_complete()
        if not self.transport.is_closing():
            self._wait()

    def _wait(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(HEADER_SECONDS, self._late)

    def _late(self) -> None:
        if self.cycle is None or self.cycle.response_complete or self.transport.is_closing():
            self.transport.abort()
        else:
            self._wait()
