"""Audits: a rule is run on a log, and its verdicts are looked through, filtered and page by page."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gnrs_ppl.audit.types import VERDICTS
from gnrs_ppl.context.files import literally, read_data
from gnrs_ppl.context.output import as_written, folder_of_copies
from gnrs_ppl.errors import InputError
from gnrs_ppl.report.rule_page import REASONS, moment, understood
from gnrs_ppl.serve.drafting import stem
from gnrs_ppl.serve.files import Entry, argument
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
    to_job,
    unchanged,
)

ROWS = 50
"""Verdicts on one page."""
LONGEST = 200
"""Characters of a case's name that are looked for."""


class Asked(NamedTuple):
    """Which verdicts are looked for; empty is any."""

    verdict: str
    reason: str
    case: str


async def audit(request: Request) -> Response:
    """Choose a rule and the context it is audited on."""
    files = site(request).files
    rules, chosen = choice(request, "rule", rules_of(request))
    contexts = files.of_kind("context")
    return page(
        request,
        "audit.html",
        rules=rules,
        chosen=chosen,
        sha=files.state(chosen) if chosen else "",
        contexts=contexts,
        context=request.query_params.get("context", contexts[0].name if len(contexts) == 1 else ""),
        audits=files.of_kind("audit"),
    )


async def begin(request: Request) -> Response:
    """Run a rule: into its own folder where a draft lies there, else into a new one."""
    form = await form_of(request)
    rule, context = entry_named(request, text(form, "rule")), entry_named(request, text(form, "context"))
    unchanged(request, form, rule)
    drafted = rule.name.rpartition("/")[2] == "rule.json" and rule.folder
    out = rule.folder if drafted else new_folder(request, f"audit-{stem(rule)}")
    arguments = ["audit", context.argument, "--rule", rule.argument, "--out", argument(out)]
    then = address("/verdicts", of=f"{out}/audit.json")
    return to_job(request, site(request).jobs.submit(f"Audit {rule.name} on {context.name}", arguments, then))


async def verdicts(request: Request) -> Response:
    """The verdicts of an audit."""
    entry = entry_named(request, request.query_params.get("of", ""))
    files, place = site(request).files, folder_of(request, entry)
    table = replace(entry, name=f"{entry.folder}/verdicts.csv".lstrip("/"))
    said = request.query_params
    asked = Asked(said.get("verdict", ""), said.get("reason", ""), said.get("case", "")[:LONGEST])
    wanted = said.get("page", "1")
    number = int(wanted) if wanted.isascii() and wanted.isdecimal() and len(wanted) < 8 else 1
    with understood(place):
        told = await run_in_threadpool(_audit_in, place)
        with files.open(table) as file:
            count, rows = await run_in_threadpool(look_up, file, asked, max(number, 1))
        return page(
            request,
            "verdicts.html",
            audit=told,
            of=entry.name,
            folder=entry.folder,
            asked=asked,
            count=count,
            rows=rows,
            number=max(number, 1),
            pages=max(-(-count // ROWS), 1),
            verdicts=VERDICTS,
            moment=moment,
            reasons=REASONS,
            address=address,
        )


def _audit_in(place: Path) -> dict[str, Any]:
    for name in ("audit.json", "verdicts.csv"):
        if as_written(place / name) is False:
            raise InputError("is not as it was written", "audit again", source=str(place / name))
    told: dict[str, Any] = read_data(place / "audit.json")
    return told


COLUMNS = (
    "case_id", "instance", "constraint", "verdict", "reason", "witnesses", "bearer", "due", "slack_seconds",
    "sentence",
)  # fmt: skip
READ = f"""FROM read_csv($path, auto_detect = false, header = true, delim = ',', quote = '"', escape = '"',
    columns = {{{", ".join(f"'{name}': 'VARCHAR'" for name in COLUMNS)}}}, max_line_size = 33554432)
WHERE ($verdict = '' OR verdict = $verdict) AND ($reason = '' OR reason = $reason)
    AND ($case = '' OR contains(case_id, $case))"""


def look_up(file: BinaryIO, asked: Asked, number: int) -> tuple[int, list[dict[str, str | None]]]:
    """How many verdicts are as asked for, and those of a page, in the order of the file.

    Parameters
    ----------
    file : binary file
        ``verdicts.csv`` of an audit. DuckDB is given a copy under a name of ours, for it reads patterns, and
        columns, out of paths.
    asked : Asked
    number : int
        Of the page, from 1.

    Raises
    ------
    InputError
        The file is not one that an audit wrote.
    """
    import duckdb

    with folder_of_copies("gnrs-") as folder, duckdb.connect(":memory:") as connection:
        with (folder / "verdicts").open("wb") as copy:
            shutil.copyfileobj(file, copy, 1 << 20)
        bound: dict[str, Any] = {"path": literally(folder / "verdicts"), **asked._asdict()}
        try:
            found = connection.execute(f"SELECT count(*) {READ}", bound).fetchone()
            rows = connection.execute(
                f"SELECT * {READ} LIMIT $rows OFFSET $skipped",
                bound | {"rows": ROWS, "skipped": ROWS * (number - 1)},
            ).fetchall()
        except duckdb.Error:
            raise InputError("is not as an audit writes it", "audit again", source="verdicts.csv") from None
    return (found[0] if found else 0), [dict(zip(COLUMNS, row, strict=True)) for row in rows]


def rules_of(request: Request) -> list[Entry]:
    """Files that may hold a rule: those that a draft wrote, and YAML by hand."""
    return [
        entry
        for entry in site(request).files.entries()
        if entry.kind == "rule"
        or (
            entry.kind == "other"
            and entry.name.endswith((".yaml", ".yml"))
            and not entry.name.endswith("answers.yaml")
        )
    ]


ROUTES = [
    Route("/audit", audit),
    Route("/audit", begin, methods=["POST"]),
    Route("/verdicts", verdicts),
]
