"""``/goal``: a sentence read while it is typed, what it leaves open asked, and the goal written into its
context.
"""

from __future__ import annotations

import secrets
from typing import Any
from urllib.parse import quote

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gnrs_ppl.serve.files import Entry
from gnrs_ppl.serve.web import entry_named, form_of, page, site, text, texts, to, unchanged

MOST_ANSWERS = 20
"""Answers that a form may hold; the questions are fewer."""


async def goal(request: Request) -> Response:
    """A context to choose, or the sentence of the one that was chosen."""
    served, name = site(request), request.query_params.get("context")
    if not name:
        return page(request, "goals.html", contexts=served.files.of_kind("context"))
    context = entry_named(request, name)
    opened = await served.reader.ask(_asking(request, context, "open"))
    return _form(
        request, context, opened, opened["standing"].get("intent", ""), saved="saved" in request.query_params
    )


async def answered(request: Request) -> Response:
    """The sentence as it is read, with the next question that it leaves open; written where it is to be."""
    form = await form_of(request)
    served, context = site(request), entry_named(request, text(form, "context"))
    sentence, answers = _sentence(form), _answers(form)
    opened = await served.reader.ask(_asking(request, context, "open"))
    told = await served.reader.ask(_asking(request, context, "ask", sentence=sentence, answers=answers))
    if "save" in form and told["goal"]:
        async with served.writing:
            unchanged(request, form, context, mine=_told(told["goal"]), now=_told(opened["standing"]))
            if opened["standing"] and opened["own"] and text(form, "replace") != "yes":
                raise HTTPException(422, "A goal that a person wrote stands there. Say that it is replaced.")
            await served.reader.ask(_asking(request, context, "save", sentence=sentence, answers=answers))
        return to(request, f"/goal?context={quote(context.name)}&saved=yes")
    return _form(request, context, opened, sentence, told=told, answers=answers, sha=text(form, "sha"))


async def typed(request: Request) -> Response:
    """The part of the page that says how the sentence is read so far; nothing where a newer one came."""
    form = await form_of(request)
    context = entry_named(request, text(form, "context"))
    sentence = _sentence(form)
    if not sentence:
        return Response(status_code=204)
    asking = _asking(request, context, "read", sentence=sentence)
    told = await site(request).reader.newest(text(form, "tab"), asking)
    return Response(status_code=204) if told is None else page(request, "reading.html", told=told)


def _form(
    request: Request,
    context: Entry,
    opened: dict[str, Any],
    sentence: str,
    *,
    told: dict[str, Any] | None = None,
    answers: list[str] | None = None,
    sha: str = "",
    saved: bool = False,
) -> Response:
    served = site(request)
    return page(
        request,
        "goal.html",
        context=context,
        opened=opened,
        sentence=sentence,
        told=told,
        answers=answers or [],
        sha=sha or served.files.state(context),
        saved=saved,
        tab=secrets.token_hex(8),
    )


def _asking(request: Request, context: Entry, do: str, **more: Any) -> dict[str, Any]:
    return {"do": do, "context": str(site(request).files.path(context)), **more}


def _sentence(form: FormData) -> str:
    return " ".join(text(form, "sentence").split())


def _told(goal: dict[str, Any]) -> str:
    """A goal's fields in a line, for the eye."""
    return "; ".join(
        f"{name}: {', '.join(value) if isinstance(value, list) else value}" for name, value in goal.items()
    )


def _answers(form: FormData) -> list[str]:
    """What was answered so far, in the order of the questions; nothing of another sentence."""
    if text(form, "asked") != _sentence(form):
        return []
    answers = texts(form, "answer")[:MOST_ANSWERS]
    chosen, own = text(form, "chosen"), text(form, "own").strip()
    new = f"own:{own}" if own else chosen
    return [*answers, new] if new else answers


ROUTES = [
    Route("/goal", goal),
    Route("/goal/answer", answered, methods=["POST"]),
    Route("/goal/read", typed, methods=["POST"]),
]
