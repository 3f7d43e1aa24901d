"""The first page: what is in the folder, and what comes next, each step with its command line."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gnrs_ppl.serve.web import page, site


async def home(request: Request) -> Response:
    """What is there and what is next."""
    served = site(request)
    entries = served.files.entries()
    return page(
        request,
        "home.html",
        contexts=[entry for entry in entries if entry.kind == "context"],
        logs=[entry for entry in entries if entry.kind == "log"],
        rules=[entry for entry in entries if entry.kind == "rule"],
        audits=[entry for entry in entries if entry.kind == "audit"],
        others=[entry for entry in entries if entry.kind in ("page", "other")],
        jobs=served.jobs.all()[:5],
    )


ROUTES = [Route("/", home)]
