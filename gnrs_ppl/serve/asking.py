"""Questions about a context: the case, or the part of the sentence, whose answer tells most about which rule
is meant. ``gnrs ask`` finds them and writes the answers.
"""

from __future__ import annotations

from typing import Any

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gnrs_ppl.context.files import parse_json, read_bytes
from gnrs_ppl.errors import InputError
from gnrs_ppl.posterior.answers import UNKNOWN
from gnrs_ppl.posterior.ask import ENOUGH
from gnrs_ppl.posterior.fields import PLAIN
from gnrs_ppl.report.ask import NO_TIME, WORDS
from gnrs_ppl.report.rule_page import moment, understood
from gnrs_ppl.serve.drafting import answers_name, answers_of
from gnrs_ppl.serve.files import Entry, argument
from gnrs_ppl.serve.jobs import Job
from gnrs_ppl.serve.watching import told
from gnrs_ppl.serve.web import Changed, address, choice, entry_named, form_of, page, site, text, to, unchanged

NOTHING = "none"
"""In place of the state of answers that nobody has given."""
BUTTONS = {
    "broken": "This case breaks the rule",
    "kept": "It keeps the rule",
    "silent": "The rule does not speak of it",
    UNKNOWN: "Cannot say",
}
"""What is clicked of a case."""
WIDE, EDGE = 1000.0, 16.0
"""Units across a case's line, and those that its ends keep free for their marks."""


async def ask(request: Request) -> Response:
    """Choose a context to be asked about."""
    contexts, chosen = choice(request, "context", site(request).files.of_kind("context"))
    return page(
        request,
        "ask.html",
        contexts=contexts,
        chosen=chosen,
        sha=site(request).files.state(chosen) if chosen else "",
        answers=answers_of(request, chosen) if chosen else None,
    )


async def begin(request: Request) -> Response:
    """Begin to ask, or go on with answers."""
    form = await form_of(request)
    context = entry_named(request, text(form, "context"))
    given = _given(form)
    served = site(request)
    async with served.writing:
        if given:
            _alone(request, context)
            _as_asked(request, form, context, given)
        else:
            unchanged(request, form, context)
        mass = text(form, "mass").strip()
        arguments = ["ask", context.argument, f"--answers={argument(answers_name(context))}", "--json"]
        arguments += ([f"--mass={_share(mass)}"] if mass else []) + [f"--answer={said}" for said in given]
        job = served.jobs.submit(f"Ask about {context.name}", arguments)
        job.then = address("/asked", job=job.number)
    return to(request, job.then)


def _given(form: FormData) -> list[str]:
    """The answers of a form, none of the one that only begins to ask."""
    fields = [(name, said) for name, said in form.multi_items() if name.startswith("answer")]
    given = [said for _, said in fields if isinstance(said, str) and said]
    if fields and not given:
        raise HTTPException(400, "Choose an answer first.")
    return given


def _alone(request: Request, context: Entry) -> None:
    """Refuse answers while others are being written, for the later file would lack the earlier ones."""
    for job in site(request).jobs.all():
        asks = not job.over and job.arguments[:2] == ("ask", context.argument)
        if asks and any(said.startswith("--answer=") for said in job.arguments):
            raise HTTPException(409, f"Job {job.number} still writes an answer about {context.name}.")


def _share(said: str) -> float:
    try:
        return float(said)
    except ValueError:
        raise InputError(
            f"{said!r} is no share", "write a number such as 0.9", source="form", field="mass"
        ) from None


def _as_asked(request: Request, form: FormData, context: Entry, given: list[str]) -> None:
    """Refuse answers to questions that were asked before others were answered."""
    stands = answers_of(request, context)
    if text(form, "sha") == (site(request).files.state(stands) if stands else NOTHING):
        return
    if stands is None:
        raise HTTPException(409, "The answers that this question goes on from are gone. Begin to ask again.")
    raise Changed(stands, site(request).files.text(stands), "\n".join(given), form)


async def asked(request: Request) -> Response:
    """The question, the case as a timeline, and what may be answered, as soon as the verb has found it."""
    job = site(request).jobs.find(request.query_params.get("job", ""))
    context = entry_named(request, _named(job))
    if job.state != "done":
        return page(request, "sought.html", job=job, told=told(job))
    stands = answers_of(request, context)
    place = job.folder / "out.txt"
    with understood(place):
        state = parse_json(read_bytes(place), str(place))
        found = [state["question"], *state["others"]] if state["question"] else []
        questions = sorted(found, key=lambda question: question["kind"] != "case")  # people judge cases best
        return page(
            request,
            "asked.html",
            job=job,
            context=context,
            state=state,
            enough=ENOUGH,
            questions=[_question(question, state) for question in questions],
            answers=stands,
            sha=site(request).files.state(stands) if stands else NOTHING,
            mass=next((a.partition("=")[2] for a in job.arguments if a.startswith("--mass=")), ""),
            unknown=UNKNOWN,
            buttons=BUTTONS,
            plain=PLAIN,
        )


def _question(question: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
    about, is_case = question["about"], question["kind"] == "case"
    words, buttons = (WORDS, BUTTONS) if is_case else (state["called"][about], state["called"][about])
    return question | {
        "plain": "" if is_case else PLAIN.get(about, about),
        "case": _case(state["cases"][about]) if is_case else None,
        "choices": [
            {
                "sent": f"{about}={value}",
                "button": buttons[value],
                "words": words[value],
                "chance": chance,
            }
            for value, chance in question["answers"].items()
        ],
    }


def _case(case: dict[str, Any]) -> dict[str, Any]:
    """A case with its times as a reader writes them, and its line."""
    rows = [row | {"at": row["at"] if row["at"] == NO_TIME else moment(row["at"])} for row in case["rows"]]
    return case | {"rows": rows, "line": _line(rows)}


def _line(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of a case that have a time, with their places on a line; none where all have the same."""
    timed = [row for row in rows if row.get("seconds") is not None]
    moments = [row["seconds"] for row in timed]
    if not moments or (long := max(moments) - min(moments)) <= 0:
        return []
    return [row | {"x": EDGE + (WIDE - 2 * EDGE) * (row["seconds"] - min(moments)) / long} for row in timed]


def _named(job: Job) -> str:
    """The context that a job asks about."""
    if job.arguments[:1] != ("ask",) or len(job.arguments) < 2:
        raise HTTPException(404, "That job asked nothing.")
    return job.arguments[1].removeprefix("./")


ROUTES = [
    Route("/ask", ask),
    Route("/ask", begin, methods=["POST"]),
    Route("/asked", asked),
]
