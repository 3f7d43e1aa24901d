"""Jobs as pages: all of them, one with what it says, and its end."""

from __future__ import annotations

import re

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from gnrs_ppl.errors import AmbiguousSentence
from gnrs_ppl.serve.jobs import Job
from gnrs_ppl.serve.watching import STREAMS, pieces, told
from gnrs_ppl.serve.web import form_of, page, site, to_job


async def jobs(request: Request) -> Response:
    """Every job, the newest first."""
    return page(request, "jobs.html", jobs=site(request).jobs.all())


async def job(request: Request) -> Response:
    """One job: what it does, how it stands, what it said."""
    found = job_named(request)
    return page(
        request,
        "job.html",
        job=found,
        told=told(found),
        out=found.output("out.txt"),
        err=found.output("err.txt"),
        readings=listed_readings(found),
    )


def listed_readings(job: Job) -> list[str]:
    """What a sentence may mean, as the draft that asked has printed it, in its order."""
    if job.code != AmbiguousSentence.exit_code:
        return []
    printed = re.split(r"^  \d\. ", job.output("out.txt"), flags=re.MULTILINE)[1:]
    return [" ".join(re.split(r"^ {5}", says, maxsplit=1, flags=re.MULTILINE)[0].split()) for says in printed]


async def events(request: Request) -> Response:
    """What a job's verb says of itself, as it says it."""
    found = job_named(request)
    if site(request).watchers[found.number] >= STREAMS:
        raise HTTPException(429, "The job is watched in as many places as may watch it. Close one of them.")
    last = request.headers.get("last-event-id", "")
    return StreamingResponse(pieces(request, found, last), media_type="text/event-stream")


async def cancel(request: Request) -> Response:
    """End a job."""
    await form_of(request)
    found = job_named(request)
    await site(request).jobs.cancel(found)
    return to_job(request, found)


def job_named(request: Request) -> Job:
    """The job that an address names."""
    return site(request).jobs.find(request.path_params["number"])


ROUTES = [
    Route("/jobs", jobs),
    Route("/jobs/{number}", job),
    Route("/jobs/{number}/events", events),
    Route("/jobs/{number}/cancel", cancel, methods=["POST"]),
]
