"""What every page uses: the site behind it, its template, its form, and what is said where something will not
do.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, urlencode

from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from gnrs_ppl.context.output import MANIFEST
from gnrs_ppl.errors import GnrsError, one_line
from gnrs_ppl.report.page import environment
from gnrs_ppl.report.rule_page import FILES_READ
from gnrs_ppl.serve.files import Entry, Gone, Workspace
from gnrs_ppl.serve.jobs import Full, Job, Jobs
from gnrs_ppl.serve.reader import Reader
from gnrs_ppl.serve.security import LEFT

if TYPE_CHECKING:
    from jinja2 import Environment

FIELDS = 200
"""Fields of a form."""
FIELD_BYTES = 100_000
STEPS = (
    ("/", "What is here"),
    ("/import", "Import"),
    ("/goal", "Goal"),
    ("/draft", "Draft"),
    ("/ask", "Ask"),
    ("/audit", "Audit"),
    ("/compare", "Compare"),
    ("/jobs", "Jobs"),
    ("/download", "Download"),
)
"""The way through the work: path and name of the pages that every page leads to."""
PLAINLY = {404: "There is no such page.", 405: "That page takes no such request."}
"""What is said in place of HTTP's own words."""
BESIDE = (*FILES_READ, "rule.json", "verdicts.csv", MANIFEST)
"""What a page reads of a folder whose draft or audit was chosen."""
UNDER = {"/rule": "/draft", "/asked": "/ask", "/verdicts": "/audit", "/compared": "/compare"}
"""Pages that a step leads to, which are marked as its own."""
HIDDEN = ("token", "sha")
"""Fields that are made anew where a form is sent again."""


@dataclass
class Site:
    """A folder as it is served.

    Attributes
    ----------
    files : Workspace
    jobs : Jobs
    reader : Reader
    token : str
        What every form holds.
    base : str
        What the path of every page begins with, which nobody guesses.
    writing : asyncio.Lock
        Held from the look at a file to its writing, so that of two tabs one comes first.
    watchers : Counter of int
        How many streams of events each job has.
    """

    files: Workspace
    jobs: Jobs
    reader: Reader = field(default_factory=Reader)
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    base: str = field(default_factory=lambda: f"/{secrets.token_urlsafe(16)}")
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    watchers: Counter[int] = field(default_factory=Counter)

    @classmethod
    def of(cls, folder: Path) -> Site:
        """The site of a folder, which may be written and is no link.

        Raises
        ------
        InputError
        """
        files = Workspace(folder)
        return cls(files, Jobs(files.folder))


class Changed(Exception):
    """A file is not the one that a form was made from.

    Parameters
    ----------
    entry : Entry
    now : str
        What stands there, for a reader.
    mine : str
        What the form would have put in its place, for a reader.
    form : FormData
        So that it can be sent again.
    """

    def __init__(self, entry: Entry, now: str, mine: str, form: FormData) -> None:
        self.entry, self.now, self.mine, self.form = entry, now, mine, form


def site(request: Request) -> Site:
    """The site that a request is for."""
    return cast(Site, request.app.state.site)


def page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page, or a part of one that a script asked for.

    Parameters
    ----------
    request : Request
    template : str
        A file of ``serve/pages``, or of ``report/pages``.
    status : int
    **values
        What the template names; all texts are taken as untrusted.
    """
    return HTMLResponse(rendered(request, template, **values), status)


def rendered(request: Request, template: str, **values: Any) -> str:
    """The text of a page or of a part of one; parameters as for :func:`page`."""
    served = site(request)
    here = request.url.path.removeprefix(served.base)
    given = {"token": served.token, "base": served.base, "here": here, "place": served.files.folder}
    given["belongs"] = UNDER.get(here) or f"/{here.split('/')[1]}"
    given["template"] = template.removesuffix(".html")
    return _environment().get_template(template).render(**given, steps=STEPS, **values)


def address(path: str, **query: str | int) -> str:
    """A page of this server with what is asked of it."""
    return f"{path}?{urlencode(query)}"


def to(request: Request, path: str) -> RedirectResponse:
    """To another page."""
    return RedirectResponse(site(request).base + path, 303)


def to_job(request: Request, job: Job) -> RedirectResponse:
    """To the page of a job that a form began."""
    return to(request, f"/jobs/{job.number}")


def entry_named(request: Request, name: str) -> Entry:
    """The file of a name."""
    return site(request).files.find(name)


def choice(request: Request, field: str, entries: list[Entry]) -> tuple[list[Entry], Entry | None]:
    """The files that a page offers, and the one that its address names, which a single one need not be."""
    name = request.query_params.get(field, entries[0].name if len(entries) == 1 else "")
    return entries, entry_named(request, name) if name else None


def folder_of(request: Request, entry: Entry) -> Path:
    """The folder of a file whose neighbours are read with it, none of which is a link.

    Raises
    ------
    Gone
    """
    place = site(request).files.path(entry).parent
    for name in BESIDE:
        if (place / name).is_symlink():
            raise Gone(name)
    return place


def new_folder(request: Request, wanted: str) -> str:
    """A name for a folder that nothing has, and that no job that is not over will write."""
    served, number = site(request), 1
    taken = {said for job in served.jobs.all() if not job.over for said in job.arguments}
    while (name := served.files.free(wanted if number == 1 else f"{wanted}-{number}")) in taken:
        number += 1
    return name


async def form_of(request: Request) -> FormData:
    """A form's fields, once its token is ours. Every handler of a POST begins with it.

    Raises
    ------
    HTTPException
        403 without the token, 400 where it is no form or holds what no argument of a verb can.
    """
    # 400 by starlette where it is no form, has too many fields or too long ones
    form = await request.form(max_files=1, max_fields=FIELDS, max_part_size=FIELD_BYTES)
    if not secrets.compare_digest(
        text(form, "token").encode("utf-8", "replace"), site(request).token.encode()
    ):
        await form.close()
        raise HTTPException(403, "The form is of an earlier server, or of none. Open its page again.")
    if any(isinstance(value, str) and "\0" in value for _, value in form.multi_items()):
        await form.close()
        raise HTTPException(400, "A field holds a character that no text has (NUL).")
    return form


def text(form: FormData, name: str) -> str:
    """A field's text; empty where it is absent or a file."""
    value = form.get(name)
    return value if isinstance(value, str) else ""


def texts(form: FormData, name: str) -> list[str]:
    """All texts of a field."""
    return [value for value in form.getlist(name) if isinstance(value, str)]


def unchanged(request: Request, form: FormData, entry: Entry, mine: str = "", now: str = "") -> None:
    """Refuse a form that was made from another state of a file; call it under ``Site.writing``.

    Parameters
    ----------
    request : Request
    form : FormData
        Its field ``sha`` is the file's state when the page was made.
    entry : Entry
    mine, now : str, optional
        What the form would put there and what it would replace, for a reader; a form that only reads the file
        leaves them out.

    Raises
    ------
    Changed
    """
    files = site(request).files
    if text(form, "sha") != files.state(entry):
        raise Changed(entry, now, mine, form)


async def refused(request: Request, error: Exception) -> Response:
    """An error that is expected, as a page of one line."""
    if isinstance(error, HTTPException):
        of_http = error.detail == HTTPStatus(error.status_code).phrase
        line = PLAINLY.get(error.status_code, error.detail) if of_http else error.detail
        return page(request, "problem.html", error.status_code, line=line)
    if isinstance(error, Gone):
        return page(request, "problem.html", 404, line=f"There is no {one_line(str(error), 120)!r} here.")
    if isinstance(error, Full):
        return page(request, "problem.html", 429, line="Enough jobs wait. Let one end, or cancel one.")
    assert isinstance(error, GnrsError)
    return page(request, "problem.html", 400 if error.exit_code == 2 else 422, line=str(error))


async def crashed(request: Request, error: Exception) -> Response:
    """An error that nobody expected: the report is a file, the page says which."""
    from gnrs_ppl.crash import complaint

    if isinstance(error, LEFT):
        return Response(status_code=408)  # which nobody takes
    return page(request, "problem.html", 500, line=complaint(error))


async def conflict(request: Request, error: Exception) -> Response:
    """Both states of a file that two tabs would write, and the form once more."""
    from gnrs_ppl.report.rule_page import differing

    assert isinstance(error, Changed)
    sent = [(n, v) for n, v in error.form.multi_items() if n not in HIDDEN and not isinstance(v, UploadFile)]
    return page(
        request,
        "conflict.html",
        409,
        entry=error.entry,
        words=differing(error.now, error.mine),
        sent=sent,
        sha=site(request).files.state(error.entry),
    )


HANDLERS: Mapping[Any, Any] = {
    HTTPException: refused,
    GnrsError: refused,
    Full: refused,
    Gone: refused,
    Changed: conflict,
    Exception: crashed,
}


@cache
def _environment() -> Environment:
    """Templates of live pages before those of reports, with the same care for every value."""
    from jinja2 import ChoiceLoader, PackageLoader
    from markupsafe import escape

    reports = environment()
    assert reports.loader is not None
    live = reports.overlay(loader=ChoiceLoader([PackageLoader("gnrs_ppl.serve", "pages"), reports.loader]))
    live.filters = reports.filters | {"address": lambda name: escape(quote(name))}
    return live
