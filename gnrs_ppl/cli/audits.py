"""A rule on a log, and what is not certain of it: ``gnrs audit``, ``ask``."""

from __future__ import annotations

import shutil
import sys
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnrs_ppl.cli.helpers import columns_told, files_read, working
from gnrs_ppl.cli.options import (
    ContextPath,
    Fix,
    Json,
    Log,
    SqlDialect,
    VerdictForm,
    WeightsOption,
    Without,
    written,
)
from gnrs_ppl.context.output import check_apart, check_file, check_folder
from gnrs_ppl.errors import InputError
from gnrs_ppl.safe_text import to_json

if TYPE_CHECKING:
    from gnrs_ppl.audit.dialects import Dialect
    from gnrs_ppl.audit.files import Asked
    from gnrs_ppl.audit.large import LargeAudit

LISTED_ONLY = (VerdictForm.sarif, VerdictForm.junit, VerdictForm.oscal)
"""Forms that hold what a list of all verdicts says."""
MassOption = Annotated[
    float | None,
    typer.Option(
        "--mass",
        min=0.05,
        max=0.999,
        help="Share of the posterior to keep; 0.9 unless given, more takes longer.",
        show_default=False,
    ),
]


def audit(
    context: Annotated[
        Path | None,
        typer.Argument(
            metavar="[CONTEXT]",
            help="Context file whose log, words and record layer to use.",
            show_default=False,
        ),
    ] = None,
    rule: Annotated[
        Path | None,
        typer.Option(help="Rule file (YAML or JSON), by hand or from gnrs draft --out.", show_default=False),
    ] = None,
    log: Log = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=COLUMN",
            help="Say which column of the log is what: case_id=Order; may be repeated.",
            show_default=False,
        ),
    ] = None,
    zone: Annotated[
        str | None,
        typer.Option(
            metavar="ZONE", help="Time zone of times without offset: Europe/Amsterdam.", show_default=False
        ),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Run the check where the events are: duckdb:///FILE, parquet:///FOLDER/*.parquet, "
            "postgresql://USER@HOST/DATABASE or spark://HOST:PORT, with ?table=NAME.",
            show_default=False,
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print the check as SQL and run nothing of it.")
    ] = False,
    dialect: Annotated[
        SqlDialect | None,
        typer.Option(help="With --explain: whose SQL, DuckDB's unless given.", show_default=False),
    ] = None,
    posterior: Annotated[
        Path | None,
        typer.Option(
            metavar="DRAFT",
            help="Folder of a draft: P(violated) of each case over all rules the goal could mean, in place "
            "of --rule.",
            show_default=False,
        ),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            help="With --posterior: other weights than the draft's; posterior averages over them.",
            show_default=False,
        ),
    ] = None,
    mass: MassOption = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Violations to show in text, 3 unless given; with --posterior contested cases, 12.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        written("Folder for the verdicts, that of the draft or a new one; gnrs report makes a page of it."),
    ] = None,
    store: Annotated[
        Path | None,
        written("File (DuckDB) to which the verdicts are added as one run; gnrs history reads it."),
    ] = None,
    as_json: Json = False,
    as_csv: Annotated[
        bool,
        typer.Option(
            "--csv",
            help="Print a line per instance and constraint; texts a spreadsheet would run begin with '.",
        ),
    ] = False,
    form: Annotated[
        VerdictForm | None,
        typer.Option("--format", help="Print the verdicts as other tools read them.", show_default=False),
    ] = None,
    allow_unrecorded: Annotated[
        bool,
        typer.Option(
            "--allow-unrecorded",
            help="Audit though the rule states names that are neither declared nor in any row.",
        ),
    ] = False,
) -> None:
    """Run a rule on an event log and list the verdicts; exit 1 when a binding rule is violated. Or run all
    that a draft's goal could mean, and say how sure each verdict is.
    """
    from gnrs_ppl.audit.engines import connected
    from gnrs_ppl.audit.files import asked_for, audit_files, audit_on, explain_files
    from gnrs_ppl.audit.large import LargeAudit
    from gnrs_ppl.audit.result import AuditResult
    from gnrs_ppl.history.store import append, check_store, checked
    from gnrs_ppl.records.lint import touching
    from gnrs_ppl.report.audited import FILES, save_audit
    from gnrs_ppl.rule.files import read_rule

    if as_json and as_csv:
        raise InputError("contradicts --json", "give one of the two", source="arguments", field="--csv")
    if form is not None and (as_json or as_csv):
        raise InputError("contradicts --json and --csv", "give one", source="arguments", field="--format")
    if form == "parquet" and sys.stdout.isatty():
        raise InputError(
            "parquet is no text",
            "send it to a file: > verdicts.parquet",
            source="arguments",
            field="--format",
        )
    if posterior is not None:
        with_rule = {
            "--rule": rule,
            "--out": out,
            "--store": store,
            "--format": form,
            "--column": column,
            "--zone": zone,
            "--on": on,
            "--explain": explain or None,
            "--allow-unrecorded": allow_unrecorded or None,
        }
        stray = next((option for option, value in with_rule.items() if value is not None), None)
        if stray is not None:
            raise InputError("contradicts --posterior", "leave one out", source="arguments", field=stray)
        _audit_posterior(
            posterior, context, log, weights, mass, 12 if limit is None else limit, as_json, as_csv
        )
        return
    if weights is not None or mass is not None:
        stray = "--weights" if weights is not None else "--mass"
        raise InputError("goes with --posterior", "add it", source="arguments", field=stray)
    if rule is None:
        raise InputError(
            "--rule is missing",
            "name a rule file; gnrs draft CONTEXT --out DIR writes one",
            source="arguments",
        )
    if on is not None and log is not None:
        raise InputError("contradicts --log", "give one of the two", source="arguments", field="--on")
    if dialect is not None and not explain:
        raise InputError("goes with --explain", "add it", source="arguments", field="--dialect")
    columns = columns_told(column)
    place = connected(on) if on is not None else nullcontext()
    if explain:
        with working("compiling"), place as engine:
            whose: Dialect = dialect.value if dialect is not None else "duckdb"
            sql = explain_files(rule, log, context, whose, columns=columns, zone=zone, on=engine)
        print(sql, end="")
        return
    read = [path for path in (rule, log, context) if path is not None]
    if out is not None:
        check_folder(out, FILES)
        check_apart([out / name for name in FILES], read)
    if store is not None:
        check_apart([store], read)
        check_store(store)
    asked = asked_for(rule, log, context, columns=columns, zone=zone, elsewhere=on is not None)
    if asked.log is not None and asked.log.is_dir():
        listing = {"--out": out, "--store": store, "--format": form if form in LISTED_ONLY else None}
        option = next((name for name, value in listing.items() if value is not None), None)
        if option is not None:
            raise InputError(
                "the verdicts on a folder of Parquet files are counted, not listed",
                "leave it out; --csv and --format csv, jsonl or parquet print the rows",
                source="arguments",
                field=option,
            )
        rows = "csv" if as_csv else form.value if form not in (None, VerdictForm.json) else None
        as_json = as_json or form == VerdictForm.json
        _audit_large(asked, asked.log, allow_unrecorded, rows, as_json, 3 if limit is None else limit)
        return
    with ExitStack() as held:
        with working("auditing"):
            engine = held.enter_context(place)
            result = (
                audit_files(
                    rule,
                    log,
                    context,
                    allow_unrecorded,
                    columns=columns,
                    zone=zone,
                    remarks=touching,
                    earlier=partial(checked, store) if store is not None else None,
                )
                if engine is None
                else audit_on(
                    asked,
                    engine,
                    allow_unrecorded,
                    listed=as_csv or form not in (None, VerdictForm.json) or bool(out or store),
                )
            )
            if isinstance(result, AuditResult):
                called = read_rule(rule).title or rule.name
                saved = save_audit(result, out) if out is not None else []
                if store is not None:
                    append(store, result, called)
                    saved.append(store)
        if isinstance(result, LargeAudit):
            _print_counted(result, as_json or form == VerdictForm.json, 3 if limit is None else limit)
        elif as_json:
            print(result.to_json())
        elif as_csv:
            print(result.to_csv(), end="")
        elif form is not None:
            from gnrs_ppl.report.formats import formatted

            sys.stdout.flush()
            sys.stdout.buffer.write(formatted(result, form.value, called))
            sys.stdout.buffer.flush()
        else:
            from gnrs_ppl.report.audit import print_audit

            print_audit(result, 3 if limit is None else limit, saved)
    if result.failed:
        raise typer.Exit(1)


def _audit_large(
    asked: Asked, path: Path, allow_unrecorded: bool, form: str | None, as_json: bool, limit: int
) -> None:
    """Audit a folder of Parquet files; rows are printed once all of them are there."""
    from gnrs_ppl.audit.large import audit_large
    from gnrs_ppl.context.folder import large_log
    from gnrs_ppl.report.rows import ParquetRows, TextRows

    with ExitStack() as open_files:
        with working("reading the log") as say:
            log, output = open_files.enter_context(large_log(path, asked.records))
            rows = (
                None if form is None else ParquetRows(output) if form == "parquet" else TextRows(output, form)
            )
            result = audit_large(
                asked.rule,
                log,
                records=asked.records,
                schema=asked.schema,
                allow_unrecorded=allow_unrecorded,
                report=say,
                take=rows.take if rows else None,
            )
            result = replace(result, findings=(*asked.findings, *result.findings))
        if rows is not None:
            rows.finish()
            sys.stdout.flush()
            with output.open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        else:
            _print_counted(result, as_json, limit)
    if result.failed:
        raise typer.Exit(1)


def _print_counted(result: LargeAudit, as_json: bool, limit: int) -> None:
    """Print an audit whose verdicts are counted."""
    from gnrs_ppl.report.audit import print_audit

    if as_json:
        print(result.to_json())
    else:
        print_audit(result, limit)


def report(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="Folder that gnrs draft --out or gnrs audit --out wrote, or both of them.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, written("File for the page (HTML).")],
    as_json: Json = False,
) -> None:
    """Write one page to hand in: the rule, why it is this one, what vouches for it, and what the audit found.
    It loads nothing and runs nothing.
    """
    from gnrs_ppl.report.rule_page import FILES_READ, write_report
    from gnrs_ppl.terminal import console, shown

    check_file(out)
    check_apart([out], [folder / name for name in FILES_READ])
    with working("writing"):
        path = write_report(folder, out)
    if as_json:
        print(to_json({"out": str(path)}))
    else:
        console().print(shown(f"wrote {path}", style="dim"))


def _audit_posterior(
    folder: Path,
    context: Path | None,
    log: Path | None,
    weights: str | None,
    share: float | None,
    limit: int,
    as_json: bool,
    as_csv: bool,
) -> None:
    from gnrs_ppl.context.load import is_log_of
    from gnrs_ppl.context.log import read_log
    from gnrs_ppl.posterior.mass import SHARE, mass
    from gnrs_ppl.posterior.stored import stored
    from gnrs_ppl.posterior.uncertain import checked, forecast

    with working("drafting again") as report:
        draft = stored(folder, context, weights)
        records = draft.context.records
        if records.prospective and log is None:
            raise InputError(
                "names no log: its records are only declared",
                "pass --log",
                source=draft.context.source,
                field="records.log",
            )
        own = log is None or is_log_of(draft.context.folder, records, log)
        events = draft.context.log if log is None or own else read_log(log, records)
        held = draft.weighed(mass(draft.graph, draft.weights, share or SHARE), report)
        found = forecast(held, checked(held, records, events, report))
    if as_json:
        print(to_json({"goal": draft.context.goal.id, "weights": draft.weights.origin} | found.as_dict()))
    elif as_csv:
        print(found.to_csv(), end="")
    else:
        from gnrs_ppl.report.uncertain import print_forecast

        print_forecast(found, draft.context.goal.id, draft.weights.origin, draft.pins, limit)
    if found.of("broken"):
        raise typer.Exit(1)


def ask(
    context: ContextPath,
    answers: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File of answers (YAML): read where it is there, and written; answers.yaml in a terminal.",
            show_default=False,
        ),
    ] = None,
    answer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CASE=ANSWER",
            help="broken, kept, silent or unknown of a case; or what a part means, such as "
            "norm.deadline=P5D; may be repeated.",
            show_default=False,
        ),
    ] = None,
    error: Annotated[
        float | None,
        typer.Option(
            min=0.001, max=0.49, help="How often an answer is wrong; 0.05 unless given.", show_default=False
        ),
    ] = None,
    log: Log = None,
    fix: Fix = None,
    without: Without = None,
    weights: WeightsOption = "fitted",
    mass: MassOption = None,
    as_json: Json = False,
) -> None:
    """Ask the one question that matters: a case of the log, or a part of the sentence, whose answer tells
    most about which rule is meant; a terminal is asked until the rule is found.
    """
    import gnrs_ppl as gnrs
    from gnrs_ppl.calibration.weights import weights_named
    from gnrs_ppl.candidates.build import pools_of
    from gnrs_ppl.models.graph import compile_graph
    from gnrs_ppl.posterior.answers import Answers, merged, parse_answers, read_answers, write_answers
    from gnrs_ppl.posterior.ask import answered
    from gnrs_ppl.posterior.ask import ask as ask_next
    from gnrs_ppl.posterior.condition import condition, read_pins
    from gnrs_ppl.posterior.mass import SHARE
    from gnrs_ppl.posterior.mass import mass as mass_of
    from gnrs_ppl.posterior.uncertain import checked
    from gnrs_ppl.report.ask import Asking, again_with, print_end, print_state, state_data

    pins, given = read_pins(fix or (), without or ()), parse_answers(answer or ())
    talks = not as_json and not given and sys.stdin is not None
    talks = talks and sys.stdin.isatty() and sys.stdout.isatty()
    place = answers or (Path("answers.yaml") if talks else None)
    if place is not None and not place.exists():
        check_file(place)
    with working("drafting") as report:
        loaded = gnrs.load_context(str(context), log)
        if loaded.records.prospective:
            raise InputError(
                "names no log, so there is no case to ask about",
                "pass --log",
                source=loaded.source,
                field="records.log",
            )
        known = Answers()
        if place is not None:
            check_apart([place], files_read(loaded, str(context), weights))
            known = read_answers(place, loaded.goal.id) if place.exists() else known
        known = merged(known, given, error)
        chosen = weights_named(weights)
        graph = condition(compile_graph(loaded, pools_of(loaded, (), [*map(str, pins)]).pools), pins, chosen)
        held = mass_of(graph, chosen, mass or SHARE)
        found = checked(held, loaded.resolved, loaded.log, report)
        state = ask_next(held, found, known)
    if place is not None and given:
        write_answers(place, loaded.goal.id, known)
    pinned = [
        *(text for pin in fix or () for text in ("--fix", pin)),
        *(text for pin in without or () for text in ("--without", pin)),
    ]
    if talks:
        person = Asking()
        while not state.stopped:
            said = person.answer(state.questions[0], state, loaded)
            if said is None:
                break
            known = answered(state, state.questions[0], said)
            write_answers(place or Path("answers.yaml"), loaded.goal.id, known)
            state = ask_next(held, found, known)
    draft_again = again_with("draft", str(context), pinned, place)
    if as_json:
        print(to_json({"goal": loaded.goal.id, "weights": chosen.origin} | state_data(state, loaded)))
    elif talks:
        print_end(state, loaded, draft_again)
    else:
        once = again_with("ask", str(context), pinned, place or Path("answers.yaml"))
        print_state(state, loaded, draft_again if state.stopped else once)
