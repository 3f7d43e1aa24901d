"""The application: its pages, what stands before them, and the server that runs both.

A page is a module with ``ROUTES``, listed in ``PAGES``; its templates extend ``live.html``. A handler of a
GET calls :func:`gnrs_ppl.serve.web.page`. One of a POST begins with :func:`~gnrs_ppl.serve.web.form_of`,
which asks for the token, holds ``Site.writing`` and asks :func:`~gnrs_ppl.serve.web.unchanged` before it
writes a file, and answers with a redirect (303). What takes longer than a second is
``Site.jobs.submit(title, arguments, then)``, the verb's own arguments, and a redirect to the job's page.
"""

from __future__ import annotations

import os
import secrets
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from threading import Thread

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from uvicorn import Config, Server

from gnrs_ppl.errors import InputError
from gnrs_ppl.serve import asking, auditing, comparing, download, drafting, goal, home, imports, job_pages
from gnrs_ppl.serve.security import HEAD_BYTES, Connection, Guard
from gnrs_ppl.serve.web import HANDLERS, Site

PAGES = (home, imports, goal, drafting, asking, auditing, comparing, job_pages, download)
STATIC = {
    "page.css": ("gnrs_ppl.report", "pages", "text/css"),
    "live.css": ("gnrs_ppl.serve", "static", "text/css"),
    "htmx.min.js": ("gnrs_ppl.serve", "static", "text/javascript"),
    "sse.min.js": ("gnrs_ppl.serve", "static", "text/javascript"),
}
"""Files of the package that a page loads, and nothing else."""


def create(served: Site, port: int, key: str) -> Guard:
    """The application for a folder.

    Parameters
    ----------
    served : Site
    port : int
        Where it will be reached, which every request has to name.
    key : str
        What the address holds that is printed.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await served.jobs.close()
        await served.reader.close()

    application = Starlette(
        routes=[
            Mount(
                served.base,
                routes=[Route("/static/{name}", static), *(route for page in PAGES for route in page.ROUTES)],
            )
        ],
        exception_handlers=HANDLERS,
        lifespan=lifespan,
    )
    application.state.site = served
    return Guard(application, port=port, key=key, base=served.base, largest=imports.LARGEST)


def serve(folder: Path, port: int = 0) -> None:
    """Serve a folder on loopback until somebody ends the process; says where on standard output.

    Parameters
    ----------
    folder : Path
    port : int
        One that is free unless given.

    Raises
    ------
    InputError
        No such folder, or a port that is taken.
    """
    served = Site.of(folder)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(("127.0.0.1", port))
        except OSError as error:
            raise InputError(
                f"port {port} cannot be used ({error.strerror})",
                "leave --port out",
                source="arguments",
                field="--port",
            ) from None
        listening.listen()  # before the address is told: whoever opens it at once is answered
        bound, key = listening.getsockname()[1], secrets.token_urlsafe(32)
        application = create(served, bound, key)
        print(f"Serving {folder} at http://127.0.0.1:{bound}/?key={key}", flush=True)
        print("The address is for you alone; Ctrl-C ends the server and its jobs.", flush=True)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # the terminal goes: jobs go too
            signal.signal(signal.SIGHUP, lambda *_: os.kill(os.getpid(), signal.SIGTERM))
        # a second's work of processors, which else the first report that is opened would wait for
        Thread(target=import_module, args=("gnrs_ppl.inference.diagnostics",), daemon=True).start()
        Server(settings(application)).run(sockets=[listening])


def settings(application: Guard) -> Config:
    """How the server runs: plain HTTP on sockets it is given, few and quick connections, no log."""
    return Config(
        application,
        http=Connection,
        ws="none",
        log_config=None,
        log_level="critical",  # what goes wrong is said on the page, and in a report
        access_log=False,
        proxy_headers=False,
        server_header=False,
        h11_max_incomplete_event_size=HEAD_BYTES,
        timeout_graceful_shutdown=2,
    )


async def static(request: Request) -> Response:
    """A stylesheet or script of ours."""
    known = STATIC.get(request.path_params["name"])
    if known is None:
        raise HTTPException(404, "There is no such file.")
    package, folder, kind = known
    content = files(package).joinpath(folder, request.path_params["name"]).read_bytes()
    return Response(content, media_type=kind)
