"""The first page: what is in the folder, and what comes next, each step with its command line."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gnrs_ppl.serve.web import page, site

if TYPE_CHECKING:
    from gnrs_ppl.serve.files import Entry, Kind


class Step(NamedTuple):
    """What may be done with a file of a kind.

    Attributes
    ----------
    does : str
        What the link says.
    path : str
        Where it leads, with the file's name behind it.
    arguments : tuple of str
        Of ``gnrs``, with ``FILE`` in the place of the file's name; empty where no verb does it.
    """

    does: str
    path: str
    arguments: tuple[str, ...] = ()

    def command(self, entry: Entry) -> str:
        """The same on the command line."""
        return shlex.join(["gnrs", *(entry.argument if said == "FILE" else said for said in self.arguments)])


class Part(NamedTuple):
    """The files of some kinds, what to say where there are none, and what may be done with each."""

    name: str
    kinds: tuple[Kind, ...]
    empty: str
    steps: tuple[Step, ...]


PARTS = (
    Part(
        "Logs",
        ("log",),
        "None yet. Upload one under Import, or put it into the folder.",
        (Step("Import", "/import?log=", ("import", "FILE")),),
    ),
    Part(
        "Contexts",
        ("context",),
        "None yet. Import a log.",
        (
            Step("Write the goal", "/goal?context=", ("goal", "new", "FILE", "--sentence", "…")),
            Step("Draft a rule", "/draft?context=", ("draft", "FILE", "--out", "…")),
        ),
    ),
    Part(
        "Rules",
        ("rule",),
        "None yet. Draft one from a context with a goal.",
        (
            Step("Look at it", "/rule?of="),
            Step("Audit it", "/audit?rule=", ("audit", "…", "--rule", "FILE", "--out", "…")),
        ),
    ),
    Part(
        "Audits", ("audit",), "None yet. Run a rule on a log.", (Step("See the verdicts", "/verdicts?of="),)
    ),
    Part("Other files", ("page", "other"), "None.", (Step("Download", "/download?file="),)),
)


async def home(request: Request) -> Response:
    """What is there and what is next."""
    served = site(request)
    entries = served.files.entries()
    return page(
        request,
        "home.html",
        parts_of_folder=[(part, [entry for entry in entries if entry.kind in part.kinds]) for part in PARTS],
        jobs=served.jobs.all()[:5],
    )


ROUTES = [Route("/", home)]
