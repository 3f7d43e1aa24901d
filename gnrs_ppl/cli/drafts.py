"""A rule from a context, and the chains behind it: ``gnrs draft``, ``sample``, ``diagnose``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from gnrs_ppl.cli.helpers import complain, files_read, language_model, with_llm, working
from gnrs_ppl.cli.options import (
    CacheMode,
    CacheOption,
    ContextPath,
    Fix,
    Json,
    Log,
    MaxCost,
    ModelRoles,
    Price,
    Seed,
    Split,
    WeightsOption,
    Without,
    written,
)
from gnrs_ppl.context.output import check_apart, check_file, check_folder
from gnrs_ppl.errors import AmbiguousSentence, GnrsError, InputError
from gnrs_ppl.inference.kernels import KERNELS
from gnrs_ppl.safe_text import to_json

if TYPE_CHECKING:
    from gnrs_ppl.draft import Draft

Item = TypeVar("Item")


Kernel = StrEnum("Kernel", {name: name for name in KERNELS})  # type: ignore[misc]
"""Samplers behind one call."""
METROPOLIS = Kernel("metropolis")


class Polish(StrEnum):
    """Prompts that polish: smoother sentences, or plain language."""

    v1 = "v1"
    v2 = "v2"


Chains = Annotated[int, typer.Option(help="Parallel chains.")]
Steps = Annotated[int, typer.Option(help="Metropolis steps per chain.")]
KernelOption = Annotated[Kernel, typer.Option(help="Sampler.")]
SettingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--setting",
        metavar="NAME=VALUE",
        help="A setting of the sampler; may be repeated.",
        show_default=False,
    ),
]


def draft(
    context: Annotated[
        Path | None,
        typer.Argument(
            metavar="[CONTEXT]",
            help="Benchmark goal (GNRS-061) or context file (YAML or JSON).",
            show_default=False,
        ),
    ] = None,
    split: Annotated[
        Split | None,
        typer.Option(help="Draft and score every goal of a split of GNRS-Bench instead.", show_default=False),
    ] = None,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="Needed for test and ood; the run enters the ledger.")
    ] = False,
    statement: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Draft rule N of those the sentence states.", show_default=False
        ),
    ] = None,
    every: Annotated[
        bool,
        typer.Option("--every", help="Draft each rule the sentence states; with --out a folder for each."),
    ] = False,
    reading: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Of the ways to read the sentence, take the Nth.", show_default=False
        ),
    ] = None,
    sources: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Sources of candidates, of reading,template,schema,record; the paper's are the last three.",
            show_default=False,
        ),
    ] = None,
    log: Log = None,
    sentence: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="A sentence in place of the context's goal and pools.", show_default=False
        ),
    ] = None,
    chains: Chains = 64,
    steps: Steps = 200,
    seed: Seed = 0,
    kernel: KernelOption = METROPOLIS,
    weights: WeightsOption = "fitted",
    answers: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Answers that gnrs ask wrote; they choose the rule.", show_default=False
        ),
    ] = None,
    fix: Fix = None,
    without: Without = None,
    alternatives: Annotated[int, typer.Option(min=0, max=50, help="Runner-up rules to show.")] = 3,
    out: Annotated[
        Path | None, written("New folder, or that of a draft, for its files; all or nothing.")
    ] = None,
    llm: Annotated[
        bool,
        typer.Option(
            "--llm",
            help="Let a language model read the sentence too, propose candidates and polish the text.",
        ),
    ] = False,
    polish: Annotated[
        Polish | None,
        typer.Option(help="With --llm: prompt that polishes; v1 unless given.", show_default=False),
    ] = None,
    max_cost: MaxCost = None,
    price: Price = None,
    cache: CacheOption = None,
    role: ModelRoles = None,
    as_json: Json = False,
) -> None:
    """Draft a rule for a context: clause, slots, score, grounding, certificate, runner-ups; or score the
    drafts of a split.
    """
    import gnrs_ppl as gnrs
    from gnrs_ppl.calibration.weights import weights_named
    from gnrs_ppl.context.load import with_sentence
    from gnrs_ppl.draft import FILES, of_reading, of_rule, of_sources, read_too, rules_stated
    from gnrs_ppl.posterior.answers import read_answers
    from gnrs_ppl.posterior.condition import read_pins
    from gnrs_ppl.records.lint import touching

    if (context is None) == (split is None):
        raise InputError(
            "name one context, or --split", "gnrs goals lists benchmark goals", source="arguments"
        )
    if (statement is not None) + every + (split is not None) > 1:
        raise InputError(
            "--statement, --every and --split contradict one another", "give one of them", source="arguments"
        )
    for field, given in (("--sentence", sentence), ("--sources", sources)):
        if split is not None and given is not None:
            raise InputError("goes with one context", "leave out --split", source="arguments", field=field)
    pins = read_pins(fix or (), without or ())
    if (split is not None or every) and (pins or answers):
        stray = "--answers" if answers else "--fix" if fix else "--without"
        raise InputError(
            "goes with one rule", "leave out --split and --every", source="arguments", field=stray
        )
    with_llm(llm, {"polish": polish, "max-cost": max_cost, "price": price, "cache": cache, "role": role})
    if split is not None and llm:
        raise InputError(
            "a split is drafted without a language model",
            "name one context",
            source="arguments",
            field="--llm",
        )
    if split is not None:
        chosen = weights_named(weights)
        _draft_split(
            split, reveal, as_json, chains=chains, steps=steps, seed=seed, kernel=kernel.value, weights=chosen
        )
        return

    if out is not None and not every:
        check_folder(out, FILES)

    def made(
        reading: int | None,
    ) -> tuple[list[tuple[int, Draft, list[Path]]], list[tuple[int, GnrsError]]]:
        """Each rule's number, draft and written files, and of rules without a draft why."""
        drafts: list[tuple[int, Draft, list[Path]]] = []
        stopped: list[tuple[int, GnrsError]] = []
        with (
            working("drafting"),
            language_model(llm, max_cost, price or [], cache or CacheMode.rw, role) as model,
        ):
            loaded = gnrs.load_context(str(context), log, goalless=sentence is not None)
            if sentence is not None:
                loaded = with_sentence(loaded, sentence)
            if sources is not None:
                loaded = of_sources(loaded, [name.strip() for name in sources.split(",") if name.strip()])
            (loaded,) = read_too([loaded], model, seed)
            loaded = of_reading(loaded, reading) if reading else loaded
            rules = rules_stated(loaded) if every else 1
            folders = (
                [] if out is None else [out / f"rule-{n}" for n in range(1, rules + 1)] if every else [out]
            )
            for folder in folders:
                if every:
                    check_folder(folder, FILES)
                check_apart([folder / name for name in FILES], files_read(loaded, str(context), weights))
            for number in range(1, rules + 1) if every else (statement or 1,):
                try:
                    one = gnrs.draft(
                        of_rule(loaded, number) if every or statement else loaded,
                        chains=chains,
                        steps=steps,
                        seed=seed,
                        kernel=kernel.value,
                        weights=weights_named(weights),
                        alternatives=alternatives,
                        model=model,
                        polish=(polish or Polish.v1).value if llm else None,
                        pins=pins,
                        answers=read_answers(answers, loaded.goal.id) if answers is not None else None,
                    )
                except GnrsError as error:
                    if not every or isinstance(error, AmbiguousSentence):
                        raise
                    stopped.append((number, error))
                    continue
                if not loaded.records.prospective:
                    findings = touching(one.structure, loaded.schema, loaded.records, loaded.log)
                    one = replace(one, findings=(*one.findings, *findings))
                place = folders[number - 1 if every else 0] if folders else None
                drafts.append((number, one, one.save(place) if place is not None else []))
        return drafts, stopped

    while True:
        try:
            drafts, stopped = made(reading)
            break
        except AmbiguousSentence as error:
            reading = chosen_reading(error, as_json)
    if as_json and every:
        print(to_json([{"rule": number, **drafted.as_dict()} for number, drafted, _ in drafts]))
    elif as_json:
        print(to_json(drafts[0][1].as_dict()))
    else:
        from gnrs_ppl.report.draft import print_draft

        for _, drafted, written in drafts:
            print_draft(drafted, written)
    for number, why in stopped:
        complain(f"rule {number}: {why}", why.exit_code)
    if stopped:
        raise typer.Exit(stopped[0][1].exit_code)


def chosen_reading(error: AmbiguousSentence, as_json: bool) -> int:
    """The number of the meaning that a person chooses of those printed; raises it without a terminal."""
    if as_json:
        ways = zip(error.readings, error.probabilities, error.acts, strict=True)
        listed = [
            {"reading": k, "says": says, "probability": p, "acts": acts}
            for k, (says, p, acts) in enumerate(ways, 1)
        ]
        print(to_json({"readings": listed}))
        raise error
    from gnrs_ppl.report.draft import print_ways

    print_ways(error)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise error
    return int(typer.prompt("Which (a number)", type=int))


def _draft_split(split: Split, reveal: bool, as_json: bool, **request: Any) -> None:
    from gnrs_ppl.benchmarks.gnrs_bench import goals
    from gnrs_ppl.evaluate.ledger import enter
    from gnrs_ppl.experiments.command import show_tables, tables_json
    from gnrs_ppl.experiments.drafting import draft_goals, tables

    ids = [g.id for g in goals() if g.split == split.value]
    if split is not Split.dev:
        if not reveal:
            raise InputError(
                f"{split.value} goals are held out",
                "add --reveal; the run enters the ledger",
                source="arguments",
            )
        enter(sys.argv)
    rows = list(_counted("drafting and scoring", draft_goals(ids, revealed=reveal, **request), len(ids)))
    if as_json:
        print(to_json({"goals": rows, "tables": tables_json(tables(rows))}))
    else:
        show_tables(tables(rows))


def sample(
    context: ContextPath,
    out: Annotated[Path, written("netCDF file for the chains.")],
    log: Log = None,
    chains: Chains = 64,
    steps: Steps = 200,
    seed: Seed = 0,
    kernel: KernelOption = METROPOLIS,
    setting: SettingOption = None,
    weights: WeightsOption = "fitted",
    as_json: Json = False,
) -> None:
    """Run the chains and keep every draw in a netCDF file that ArviZ reads."""
    import gnrs_ppl as gnrs
    from gnrs_ppl.calibration.weights import weights_named
    from gnrs_ppl.inference.kernels import read_settings
    from gnrs_ppl.report.data import search_data
    from gnrs_ppl.search import search

    check_file(out)
    settings = read_settings(setting or [])
    with working("sampling"):
        chosen = weights_named(weights)
        loaded = gnrs.load_context(context, log)
        check_apart([out], files_read(loaded, str(context), weights))
        found = search(
            loaded,
            chains=chains,
            steps=steps,
            seed=seed,
            kernel=kernel.value,
            weights=chosen,
            settings=settings,
        )
        found.save_posterior(out)
    if as_json:
        print(to_json(search_data(found) | {"out": str(out)}))
        return
    from gnrs_ppl.report.draft import print_search

    print_search(found, out)


def diagnose(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="netCDF file that gnrs sample or gnrs draft --out wrote.", show_default=False
        ),
    ],
    plots: Annotated[Path | None, written("Folder for plots (needs matplotlib).")] = None,
    as_json: Json = False,
) -> None:
    """Say whether the chains mixed, and why; exit 1 when they did not."""
    from gnrs_ppl.inference.diagnostics import diagnose
    from gnrs_ppl.inference.plots import PLOTS
    from gnrs_ppl.inference.plots import plots as plot
    from gnrs_ppl.inference.trace import exact_marginals, load

    if plots is not None:
        check_folder(plots, PLOTS)
    with working("diagnosing"):
        tree = load(file)
        exact = exact_marginals(tree)
        found = diagnose(tree, exact)
        drawn = plot(tree, plots, exact) if plots is not None else []
    if as_json:
        print(to_json(found.as_dict() | {"plots": [str(p) for p in drawn]}))
    else:
        from gnrs_ppl.report.diagnosis import print_diagnosis

        print_diagnosis(found, drawn)
    if found.verdict == "not mixed":
        raise typer.Exit(1)


def _counted(what: str, items: Iterator[Item], total: int) -> Iterator[Item]:
    """The same items, with a progress bar on a terminal's standard error."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, what, total, console=Console(stderr=True))
