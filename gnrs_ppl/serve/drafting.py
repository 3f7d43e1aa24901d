"""Drafts: one is begun from a context with what is chosen for it, and looked at as the report shows it; an
option that is pinned, or a name that is left out, begins another in a folder of its own.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference.kernels import KERNELS
from gnrs_ppl.report.rule_page import understood, values_of
from gnrs_ppl.serve.files import Entry, Gone
from gnrs_ppl.serve.job_pages import job_named, listed_readings
from gnrs_ppl.serve.web import (
    address,
    choice,
    entry_named,
    folder_of,
    form_of,
    new_folder,
    page,
    site,
    text,
    texts,
    to_job,
    unchanged,
)

NUMBERS = {"statement": "", "seed": "0", "chains": "64", "steps": "200"}
"""Options of ``gnrs draft`` that are whole numbers, and what their fields hold: the verb's own defaults."""
KERNEL = "metropolis"
SAMPLERS = tuple(name for name in KERNELS if name != "numpyro")


async def draft(request: Request) -> Response:
    """Choose a context and how its rule is drafted."""
    files = site(request).files
    contexts, chosen = choice(request, "context", files.of_kind("context"))
    return page(
        request,
        "draft.html",
        contexts=contexts,
        chosen=chosen,
        sha=files.state(chosen) if chosen else "",
        answers=answers_of(request, chosen) if chosen else None,
        numbers=NUMBERS,
        kernels=SAMPLERS,
        kernel=KERNEL,
        drafts=[entry for entry in files.entries() if entry.name.rpartition("/")[2] == "draft.json"],
    )


async def begin(request: Request) -> Response:
    """Begin a draft."""
    form = await form_of(request)
    context = entry_named(request, text(form, "context"))
    unchanged(request, form, context)
    arguments = ["draft", context.argument, *_options(form)]
    if text(form, "answers"):
        answers = answers_of(request, context)
        if answers is None:
            raise Gone(answers_name(context))
        arguments += ["--answers", answers.argument]
    out = new_folder(request, f"rule-{stem(context)}")
    arguments += ["--out", out]
    then = address("/rule", of=f"{out}/draft.json")
    return to_job(request, site(request).jobs.submit(f"Draft a rule from {context.name}", arguments, then))


async def reading(request: Request) -> Response:
    """Begin a draft again with the meaning that a person chose."""
    form = await form_of(request)
    asked = job_named(request)
    number = text(form, "reading")
    if number not in [str(k) for k, _ in enumerate(listed_readings(asked), 1)]:
        raise HTTPException(400, "That reading was not asked about.")
    arguments = [*asked.arguments, f"--reading={number}"]
    return to_job(request, site(request).jobs.submit(asked.title, arguments, asked.then))


def _options(form: FormData) -> list[str]:
    """Options of the verb as a form has them; what they mean the verb judges."""
    options = []
    for name in NUMBERS:
        if said := text(form, name).strip():
            if not (said.isascii() and said.isdecimal()):
                raise InputError(f"{said!r} is no whole number", "write one", source="form", field=name)
            options.append(f"--{name}={said}")
    if (kernel := text(form, "kernel")) and kernel != KERNEL:
        options.append(f"--kernel={kernel}")
    pins = [f"--{kind}={pin}" for kind in ("fix", "without") for pin in texts(form, kind) if pin.strip()]
    return [*options, *dict.fromkeys(pins)]


async def rule(request: Request) -> Response:
    """A draft, an audit, or both of a folder, in the report's sections, with buttons that draft again."""
    entry = entry_named(request, request.query_params.get("of", ""))
    files, folder, place = site(request).files, entry.folder, folder_of(request, entry)
    with understood(place):
        values = await run_in_threadpool(values_of, place)
        draft = values["draft"]
        context = context_of(request, draft["request"]["context"]) if draft else None
        values |= {
            "again": "again" if context else None,
            "context": context,
            "sha": files.state(context) if context else "",
            "kept": _kept(draft) if draft else [],
            "in_folder": folder,
        }
        return page(request, "rule.html", **values)


def _kept(draft: dict[str, Any]) -> list[tuple[str, str]]:
    """The fields with which a draft is begun again."""
    search, request = draft["search"], draft["request"]
    fields = [(name, str(search[name])) for name in ("seed", "chains", "steps", "kernel")]
    if draft["reading"]["rule"] > 1:
        fields.append(("statement", str(draft["reading"]["rule"])))
    if request["answers"] is not None:
        fields.append(("answers", "1"))
    for pin in request["pins"]:
        sign = "=" if pin["kind"] == "fix" else ":"
        fields.append((pin["kind"], f"{pin['place']}{sign}{pin['value']}"))
    return fields


# What other pages need too


def context_of(request: Request, said: str) -> Entry | None:
    """The context that a verb's file names, if it is listed here: by its name from the folder, or by its
    whole path.
    """
    files, place = site(request).files, Path(said)
    found = Path(os.path.realpath(said)) if place.is_absolute() else files.folder / place
    return next((entry for entry in files.of_kind("context") if files.path(entry) == found), None)


def answers_name(context: Entry) -> str:
    """Where the answers about a context stand: beside it."""
    before, _, name = context.name.rpartition("/")
    own = name.rpartition(".")[0]
    return f"{before}/" * bool(before) + ("answers.yaml" if own == "context" else f"{own}.answers.yaml")


def answers_of(request: Request, context: Entry) -> Entry | None:
    """The file of answers about a context, if there is one."""
    name = answers_name(context)
    return next((entry for entry in site(request).files.entries() if entry.name == name), None)


def stem(entry: Entry) -> str:
    """What to call things that come of a file: its folder, or its own name."""
    return entry.folder.rpartition("/")[2] or entry.name.rpartition(".")[0]


ROUTES = [
    Route("/draft", draft),
    Route("/draft", begin, methods=["POST"]),
    Route("/jobs/{number}/reading", reading, methods=["POST"]),
    Route("/rule", rule),
]
