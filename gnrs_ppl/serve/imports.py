"""``/import``: a log uploaded or chosen, and what was guessed of it, which a person may correct."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

from pydantic import BaseModel, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gnrs_ppl.context.limits import ROWS_BYTES, TEXT_BYTES
from gnrs_ppl.context.output import FULL, STAGING
from gnrs_ppl.context.types import COLUMNS, Column
from gnrs_ppl.serve.files import Entry, Gone, argument
from gnrs_ppl.serve.security import FORM_BYTES
from gnrs_ppl.serve.web import entry_named, form_of, new_folder, page, site, text, to, to_job, unchanged

LARGEST = {"/import/upload": ROWS_BYTES + FORM_BYTES}
RECORD_BYTES = 4 * TEXT_BYTES
"""Bytes of what an import wrote of itself: it holds the context as text and as data."""
NONE = "none"
"""What the form says of a column that the source has not."""

COLUMN_WORDS: Final[dict[Column, str]] = {
    "event_id": "its number",
    "case_id": "the case",
    "activity": "what was done",
    "timestamp": "when",
    "offset": "minutes from UTC",
    "grain": "how exact the time is",
    "resource": "who did it",
    "role": "in which role",
    "object": "on what",
    "location": "where",
    "channel": "in which log",
    "value": "with what value",
}
"""What the columns of an event hold."""


class Guess(BaseModel):
    """Which column of the source was taken for one of an event."""

    source: str = Field(alias="from")
    confidence: float
    why: str


class Record(BaseModel):
    """What ``import.json`` says of an import, as far as a page shows it."""

    source: str
    text: str
    columns: dict[str, Guess]
    source_columns: list[str]


async def imports(request: Request) -> Response:
    """A log to choose, one that was chosen, or what was guessed of one that was imported."""
    if name := request.query_params.get("context"):
        return _guesses(request, entry_named(request, name))
    files, named = site(request).files, request.query_params.get("log")
    chosen = entry_named(request, named) if named else None
    return page(
        request,
        "import.html",
        logs=files.of_kind("log"),
        chosen=chosen,
        chosen_sha=files.state(chosen) if chosen else "",
        largest=ROWS_BYTES,
        imported=[entry for entry in files.of_kind("context") if _record(request, entry)],
    )


async def upload(request: Request) -> Response:
    """A file from elsewhere, into the folder."""
    form = await form_of(request)
    try:
        file = form.get("file")
        if not isinstance(file, UploadFile) or not file.filename:
            raise HTTPException(400, "Choose a file first.")
        async with site(request).writing:
            name = site(request).files.free(file.filename.replace("\\", "/").rpartition("/")[2])
            await run_in_threadpool(_put, file, site(request).files.folder, name)
    finally:
        await form.close()
    return to(request, f"/import?log={quote(name)}")


async def run(request: Request) -> Response:
    """The import of a log as a job."""
    form = await form_of(request)
    served = site(request)
    log = entry_named(request, text(form, "log"))
    async with served.writing:
        unchanged(request, form, log)
        folder = new_folder(request, text(form, "out") or log.stem)
        job = served.jobs.submit(
            f"Import {log.name}",
            ["import", log.argument, "--out", argument(folder), *_options(form)],
            f"/import?context={quote(folder)}/context.yaml",
        )
    return to_job(request, job)


async def correct(request: Request) -> Response:
    """The same log once more, with guesses corrected; what a person changed in the context stays."""
    form = await form_of(request)
    served = site(request)
    context, log = entry_named(request, text(form, "context")), entry_named(request, text(form, "log"))
    record = _record(request, context)
    if record is None:
        raise HTTPException(404, "This context was not written by an import.")
    wanted = []
    for column in COLUMNS:
        said = text(form, f"column-{column}")
        new = "" if said == NONE else said.removeprefix("is:")
        if said and new != (record.columns[column].source if column in record.columns else ""):
            wanted += ["--column", f"{column}={new}"]
    async with served.writing:
        unchanged(request, form, context)
        job = served.jobs.submit(
            f"Import {log.name} again",
            [
                "import",
                log.argument,
                "--out",
                argument(context.folder) or ".",
                "--update",
                *wanted,
                *_options(form),
            ],
            f"/import?context={quote(context.name)}",
        )
    return to_job(request, job)


def _guesses(request: Request, context: Entry) -> Response:
    served, record = site(request), _record(request, context)
    if record is None:
        raise HTTPException(404, "This context was not written by an import.")
    logs = served.files.of_kind("log")
    same = [log for log in logs if log.name.rpartition("/")[2] == record.source]
    content = served.files.text(context)
    return page(
        request,
        "guesses.html",
        context=context,
        sha=served.files.state(context),
        record=record,
        words=COLUMN_WORDS,
        columns=[(column, record.columns.get(column)) for column in COLUMNS],
        logs=same or logs,
        content=content,
        edited=content != record.text,
        nothing=NONE,
    )


def _record(request: Request, context: Entry) -> Record | None:
    """What an import wrote beside its context; None where it is not of an import, or of an older one."""
    files = site(request).files
    with (
        suppress(Gone, ValidationError),
        files.open(files.find(f"{context.folder}/import.json".lstrip("/"))) as file,
    ):
        return Record.model_validate_json(file.read(RECORD_BYTES))
    return None


def _options(form: FormData) -> list[str]:
    """What a person says of the source, where anything."""
    given = ("case", "zone", "dates", "time-format")
    return [f"--{name}={said}" for name in given if (said := text(form, name).strip())]


def _put(file: UploadFile, folder: Path, name: str) -> None:
    """Write an upload beside its place and rename it, so that nobody finds half of it."""
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=STAGING) as waiting:
            with (Path(waiting) / name).open("wb") as out:
                shutil.copyfileobj(file.file, out, 1 << 20)
            (Path(waiting) / name).rename(folder / name)
    except OSError as error:
        if error.errno in FULL:
            raise HTTPException(507, "The disk is full.") from None
        raise HTTPException(400, f"The file cannot be written ({error.strerror}).") from None


ROUTES = [
    Route("/import", imports),
    Route("/import/upload", upload, methods=["POST"]),
    Route("/import/run", run, methods=["POST"]),
    Route("/import/again", correct, methods=["POST"]),
]
