"""What is made of records and told of them: ``gnrs import``, ``profile``, ``lint``, ``schema``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from gnrs_ppl.cli.helpers import columns_told, working
from gnrs_ppl.cli.options import ContextPath, Json, Log, written
from gnrs_ppl.context.output import check_apart, check_file, check_folder
from gnrs_ppl.errors import InputError, one_line
from gnrs_ppl.safe_text import to_json

if TYPE_CHECKING:
    from gnrs_ppl.importing.columns import Step


class Described(StrEnum):
    """Files whose fields are described."""

    context = "context"
    rule = "rule"
    log = "log"
    cases = "cases"


class DateOrder(StrEnum):
    """Orders of day and month in a date of numbers."""

    day_first = "day-first"
    month_first = "month-first"
    year_first = "year-first"


def import_(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="XES, OCEL 2.0 (JSON, XML, SQLite), CSV, Parquet, JSON Lines, SQLite tables or BPMN; "
            "gzipped or plain; or a database, as postgresql://user@host/name.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None, written("Folder for the context and its events; named after SOURCE unless given.")
    ] = None,
    case: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What a case is: a column, in OCEL a type of object, in a database a table.",
            show_default=False,
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=COLUMN",
            help="Say which column is what: role=org:group; role= says none is.",
            show_default=False,
        ),
    ] = None,
    zone: Annotated[
        str | None,
        typer.Option(
            metavar="ZONE", help="Time zone of times without offset: Europe/Amsterdam.", show_default=False
        ),
    ] = None,
    dates: Annotated[
        DateOrder | None,
        typer.Option(help="How 03/04/2024 is meant, where the file does not show it.", show_default=False),
    ] = None,
    time_format: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="How times are written: %d-%m-%Y:%H.%M, or epoch-s, epoch-ms, epoch-us, epoch-ns, excel.",
            show_default=False,
        ),
    ] = None,
    lifecycle: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORD=STEP",
            help="What a word says of an act: Ende=complete; or start, ignore, own; may be repeated.",
            show_default=False,
        ),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Import again into the folder; what was changed by hand stays.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Make a context of your records: events as Parquet, and what rules need guessed from them, each guess
    marked.
    """
    from gnrs_ppl.importing import import_source

    with working("importing"):
        done = import_source(
            source,
            out,
            case=case,
            columns=columns_told(column),
            zone=zone,
            order=dates.value if dates else None,
            form=time_format,
            lifecycle=_steps(lifecycle),
            update=update,
        )
    if as_json:
        print(to_json(done.as_dict()))
    else:
        from gnrs_ppl.report.imported import print_import

        print_import(done)


def _steps(pairs: list[str] | None) -> dict[str, Step]:
    """What --lifecycle says: each word and how far an act is that holds it."""
    from gnrs_ppl.importing.columns import Step

    told: dict[str, Step] = {}
    for pair in pairs or ():
        word, _, stated = pair.rpartition("=")
        step = next((step for step in get_args(Step) if step == stated.strip().lower()), None)
        if not word.strip() or step is None:
            raise InputError(
                f"{one_line(pair, 60)!r} is not WORD=STEP",
                f"write Ende=complete; a step is one of {', '.join(get_args(Step))}",
                source="arguments",
                field="--lifecycle",
            )
        told[word.strip()] = step
    return told


def profile(
    context: ContextPath,
    log: Log = None,
    plots: Annotated[Path | None, written("Folder for plots (needs matplotlib).")] = None,
    page: Annotated[Path | None, written("File for a page of HTML with plots (needs matplotlib).")] = None,
    as_json: Json = False,
) -> None:
    """Say what is in the records: volumes, variants, delays, who does what, empty cells, silences, twins."""
    import gnrs_ppl as gnrs
    from gnrs_ppl.records.plots import PLOTS
    from gnrs_ppl.records.plots import plots as plot
    from gnrs_ppl.records.profile import overview

    if plots is not None:
        check_folder(plots, PLOTS)
    if page is not None:
        check_file(page)
        check_apart([page], [context])
    with working("counting"):
        loaded = gnrs.load_context(str(context), log, goalless=True)
        if loaded.records.prospective:
            raise InputError(
                "names no log: its records are only declared",
                "pass --log",
                source=loaded.source,
                field="records.log",
            )
        found = overview(loaded.log)
        drawn = plot(found, plots) if plots is not None else []
        if page is not None:
            from gnrs_ppl.report.profile_page import write_profile

            drawn.append(write_profile(found, loaded.source, page))
    if as_json:
        print(to_json(found.as_dict() | {"files": [str(path) for path in drawn]}))
        return
    from gnrs_ppl.report.profile import print_overview

    print_overview(found, drawn)


def lint(
    context: ContextPath,
    log: Log = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Write the safe fixes into CONTEXT; comments stay.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say what is wrong with a context and its records, each with what mends it; exit 1 while an error is
    left.
    """
    from gnrs_ppl.records.lint import lint

    with working("looking"):
        found = lint(context, log, fix=fix)
    if as_json:
        print(to_json(found.as_dict()))
    else:
        from gnrs_ppl.report.lint import print_findings

        print_findings(found)
    if found.failed:
        raise typer.Exit(1)


def schema(
    kind: Annotated[
        Described, typer.Argument(metavar="[context|rule|log|cases]", help="Which file.", show_default=False)
    ] = Described.context,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON Schema, for editors.")] = False,
) -> None:
    """Say what each field of a context file, a rule file, a log or a file of examples means."""
    from gnrs_ppl.report.schema import json_schema, print_schema

    if as_json:
        print(to_json(json_schema(kind.value)))
    else:
        print_schema(kind.value)
