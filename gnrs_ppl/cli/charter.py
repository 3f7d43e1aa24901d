"""Rules that stand together: ``gnrs charter``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnrs_ppl.cli.drafts import Kernel, KernelOption
from gnrs_ppl.cli.helpers import complain, files_read, working
from gnrs_ppl.cli.options import Fix, Json, Log, Seed, WeightsOption, Without, written
from gnrs_ppl.context.output import check_apart, check_file, check_folder
from gnrs_ppl.errors import InputError
from gnrs_ppl.safe_text import to_json

GIBBS = Kernel("gibbs")


def charter(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="CONTEXT…",
            help="Benchmark goals (GNRS-005), policy cards, context files, or a folder of them; with --check "
            "rule files, charter.json, or a folder of them.",
            show_default=False,
        ),
    ],
    check: Annotated[
        bool,
        typer.Option("--check", help="Say how rules that are written stand together; draft nothing."),
    ] = False,
    audit: Annotated[
        bool,
        typer.Option("--audit", help="Run written rules on one log, in one pass; draft nothing."),
    ] = False,
    context: Annotated[
        Path | None,
        typer.Option(
            metavar="CONTEXT",
            help="With --check and --audit: context file whose words, records and log to use.",
            show_default=False,
        ),
    ] = None,
    log: Log = None,
    pool: Annotated[int, typer.Option(min=1, max=1024, help="Structures of each rule to choose from.")] = 64,
    chains: Annotated[int, typer.Option(help="Parallel chains, where the charters are too many.")] = 64,
    steps: Annotated[int, typer.Option(help="Steps per chain.")] = 200,
    seed: Seed = 0,
    kernel: KernelOption = GIBBS,
    weights: WeightsOption = "fitted",
    fix: Fix = None,
    without: Without = None,
    out: Annotated[Path | None, written("New folder, or that of a charter, for its files.")] = None,
    page: Annotated[Path | None, written("HTML page for the charter, the check or the audit.")] = None,
    as_json: Json = False,
) -> None:
    """Draft the rules of several goals together: none contradicts another, none is said twice; or say how
    written rules stand together, or audit them together. Exit 1 where two conflict or one is violated.
    """
    if page is not None:
        check_file(page)
    if check and audit:
        raise InputError("contradicts --check", "give one of the two", source="arguments", field="--audit")
    if check or audit:
        stray = {"--out": out, "--fix": fix, "--without": without}
        if given := next((option for option, value in stray.items() if value), None):
            asked = "--check" if check else "--audit"
            raise InputError(f"contradicts {asked}", "leave one out", source="arguments", field=given)
        (_check if check else _audit)(sources, context, log, as_json, page)
        return
    if context is not None:
        raise InputError("goes with --check and --audit", "add one", source="arguments", field="--context")
    from gnrs_ppl.calibration.weights import weights_named
    from gnrs_ppl.charter.draft import draft_charter
    from gnrs_ppl.charter.institution import contexts_in
    from gnrs_ppl.charter.pins import read_rule_pins
    from gnrs_ppl.report.charter import FILES, charter_data, print_charter, save_charter
    from gnrs_ppl.report.charter_page import charter_page

    pins = read_rule_pins(fix or (), without or ())
    if out is not None:
        check_folder(out, FILES)
    with working("drafting"):
        contexts = contexts_in(sources, log)
        if out is not None:
            read = [file for one in contexts for file in files_read(one, one.source)]
            check_apart([out / name for name in FILES], read)
        drafted = draft_charter(
            contexts,
            pool=pool,
            chains=chains,
            steps=steps,
            seed=seed,
            kernel=kernel.value,
            weights=weights_named(weights),
            pins=pins,
        )
        saved = save_charter(drafted, out) if out is not None else []
        saved += [charter_page(page, drafted)] if page is not None else []
    if as_json:
        print(to_json(charter_data(drafted)))
    else:
        print_charter(drafted, saved)
    for one in drafted.stopped:
        complain(f"{one.name}: {one.error}", one.error.exit_code)
    if drafted.conflicts:
        raise typer.Exit(1)
    if drafted.stopped:
        raise typer.Exit(drafted.stopped[0].error.exit_code)


def _check(
    sources: list[Path], context: Path | None, log: Path | None, as_json: bool, page: Path | None
) -> None:
    from gnrs_ppl.charter.written import check_rules, read_rules
    from gnrs_ppl.report.charter import checked_data, print_checked
    from gnrs_ppl.report.charter_page import checked_page

    with working("comparing"):
        checked = check_rules(read_rules(sources, context, log))
        saved = [checked_page(page, checked)] if page is not None else []
    if as_json:
        print(to_json(checked_data(checked)))
    else:
        print_checked(checked, saved)
    if checked.conflicts:
        raise typer.Exit(1)


def _audit(
    sources: list[Path], context: Path | None, log: Path | None, as_json: bool, page: Path | None
) -> None:
    from gnrs_ppl.charter.audit import audit_together
    from gnrs_ppl.charter.written import read_rules
    from gnrs_ppl.report.charter import print_audited
    from gnrs_ppl.report.charter_page import audited_page

    with working("auditing"):
        audited = audit_together(read_rules(sources, context, log))
        saved = [audited_page(page, audited)] if page is not None else []
    if as_json:
        print(to_json(audited.as_dict()))
    else:
        print_audited(audited, saved)
    for one in audited.refused:
        complain(f"{one.name}: {one.why}", 3)
    if audited.failed:
        raise typer.Exit(1)
    if audited.refused:
        raise typer.Exit(3)
