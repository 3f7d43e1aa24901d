"""Jobs as pages: all of them, one with what it says, and its end."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from gnrs_ppl.serve.jobs import Job
from gnrs_ppl.serve.web import form_of, page, site


async def jobs(request: Request) -> Response:
    """Every job, the newest first."""
    return page(request, "jobs.html", jobs=site(request).jobs.all())


async def job(request: Request) -> Response:
    """One job: what it does, how it stands, what it said."""
    found = job_named(request)
    return page(request, "job.html", job=found, out=found.output("out.txt"), err=found.output("err.txt"))


async def cancel(request: Request) -> Response:
    """End a job."""
    await form_of(request)
    found = job_named(request)
    await site(request).jobs.cancel(found)
    return RedirectResponse(f"/jobs/{found.number}", 303)


def job_named(request: Request) -> Job:
    """The job that an address names; 404 where none is."""
    try:
        return site(request).jobs.find(request.path_params["number"])
    except FileNotFoundError:
        raise HTTPException(404, "There is no such job.") from None


ROUTES = [
    Route("/jobs", jobs),
    Route("/jobs/{number}", job),
    Route("/jobs/{number}/cancel", cancel, methods=["POST"]),
]
