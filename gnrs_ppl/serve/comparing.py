"""Two rules side by side: whether they mean the same, and the trace and the cases on which they differ."""

from __future__ import annotations

from collections import Counter
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gnrs_ppl.context.files import parse_json, read_bytes
from gnrs_ppl.report.rule_page import differing, moment, understood
from gnrs_ppl.serve.auditing import rules_of
from gnrs_ppl.serve.web import address, entry_named, form_of, page, site, text, to_job

SHOWN = 20
"""Cases of the log on which the rules differ that are shown, of every kind of difference some."""
ANSWERS = {
    "same": "They mean the same.",
    "different": "They do not mean the same.",
    "no difference found": "No difference was found.",
}
BEYOND = {
    "force": "One binds where the other advises or permits.",
    "permission": "They permit different things; a permission is not checked against records.",
    "procedure": "What follows a breach differs.",
    "concerns": "The texts name other objects, which no verdict depends on.",
}


async def compare(request: Request) -> Response:
    """Choose two rules."""
    said = request.query_params
    return page(
        request,
        "compare.html",
        rules=rules_of(request),
        contexts=site(request).files.of_kind("context"),
        a=said.get("a", ""),
        b=said.get("b", ""),
    )


async def begin(request: Request) -> Response:
    """Begin to compare."""
    form = await form_of(request)
    rules = [entry_named(request, text(form, name)) for name in ("a", "b")]
    arguments = ["compare", *(rule.argument for rule in rules), "--json"]
    if name := text(form, "context"):
        arguments += ["--context", entry_named(request, name).argument]
    job = site(request).jobs.submit(" against ".join(rule.name for rule in rules), arguments)
    job.then = address("/compared", job=job.number)
    return to_job(request, job)


async def compared(request: Request) -> Response:
    """What came of it."""
    job = site(request).jobs.find(request.query_params.get("job", ""))
    if job.arguments[:1] != ("compare",):
        raise HTTPException(404, "That job compared nothing.")
    place = job.folder / "out.txt"
    with understood(place):
        found = parse_json(read_bytes(place), str(place))
        on_log = found["on_log"]
        return page(
            request,
            "compared.html",
            names=job.arguments[1:3],
            found=found,
            answer=ANSWERS[found["answer"]],
            beyond=[BEYOND[what] for what in found["beyond_verdicts"]],
            words=differing(found["rules"][0]["text"], found["rules"][1]["text"]),
            cases=_some(on_log["differing"]) if on_log else [],
            moment=moment,
        )


def _some(differing: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first cases of each kind of difference in turn."""
    seen: Counter[tuple[str, str]] = Counter()
    rounds = []
    for case in differing:
        seen[case["a"], case["b"]] += 1
        rounds.append((seen[case["a"], case["b"]], case))
    return [case for _, case in sorted(rounds, key=lambda item: item[0])[:SHOWN]]


ROUTES = [
    Route("/compare", compare),
    Route("/compare", begin, methods=["POST"]),
    Route("/compared", compared),
]
