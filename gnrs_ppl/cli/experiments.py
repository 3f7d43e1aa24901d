"""Benchmarks, weights and tables: ``gnrs goals``, ``fit``, ``experiment``."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from gnrs_ppl.cli.helpers import language_model, with_llm, working
from gnrs_ppl.cli.options import (
    CacheMode,
    CacheOption,
    Json,
    MaxCost,
    ModelRoles,
    Price,
    Seed,
    Split,
    written,
)
from gnrs_ppl.context.output import check_file, check_folder
from gnrs_ppl.errors import InputError
from gnrs_ppl.safe_text import to_json


class Optimiser(StrEnum):
    """Optimisers of the weights."""

    lbfgs = "lbfgs"
    adam = "adam"


class Bench(StrEnum):
    """Benchmarks that ship with the package."""

    gnrs = "gnrs"
    realcharter = "realcharter"


def goals(
    bench: Annotated[
        Bench, typer.Option(help="Goals of GNRS-Bench, or policy cards of RealCharter-Bench.")
    ] = Bench.gnrs,
    split: Annotated[Split | None, typer.Option(help="Only this split.", show_default=False)] = None,
    family: Annotated[str | None, typer.Option(help="Only this scene family.", show_default=False)] = None,
    pools: Annotated[
        bool, typer.Option("--pools", help="Candidates per source and slot, beside the paper's.")
    ] = False,
    features: Annotated[
        bool, typer.Option("--features", help="Features and hard conditions on these goals' pools.")
    ] = False,
    labels: Annotated[
        bool,
        typer.Option("--labels", help="Held-out labels, floors and ceilings per goal (dev unless --reveal)."),
    ] = False,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="With --labels: test and OOD too; the run enters the ledger.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the goals of GNRS-Bench, or the cards of RealCharter-Bench."""
    if bench is Bench.realcharter:
        if split or family or pools or features or labels or reveal:
            raise InputError(
                "cards take no other option than --json",
                "leave the rest out",
                source="arguments",
                field="--bench",
            )
        _list_cards(as_json)
        return
    from gnrs_ppl.benchmarks.gnrs_bench import FAMILIES, goals

    if family is not None and family not in FAMILIES:
        raise InputError(
            f"{family!r} is no scene family",
            f"choose one of {', '.join(FAMILIES)}",
            source="arguments",
            field="--family",
        )
    if reveal and not labels:
        raise InputError("goes with --labels", "add it", source="arguments", field="--reveal")
    chosen = [g for g in goals() if split in (None, g.split) and family in (None, g.family)]
    if labels:
        if not reveal and all(g.split != "dev" for g in chosen):
            raise InputError(
                "these goals are held out", "add --reveal; the run enters the ledger", source="arguments"
            )
        from gnrs_ppl.evaluate.ledger import enter
        from gnrs_ppl.evaluate.summary import summaries
        from gnrs_ppl.report.benchmarks import print_labels

        if reveal and any(g.split != "dev" for g in chosen):
            enter(sys.argv)
        with working("scoring floors and ceilings"):
            found = summaries([g.id for g in chosen if reveal or g.split == "dev"], revealed=reveal)
        if as_json:
            print(to_json([s.as_dict() for s in found]))
        else:
            print_labels(found)
        return
    if pools or features:
        _audit_pools([g.id for g in chosen], pools, features, as_json)
        return
    if as_json:
        print(to_json([g.model_dump(mode="json") for g in chosen]))
        return
    from gnrs_ppl.report.benchmarks import print_goals

    print_goals(chosen)


def _list_cards(as_json: bool) -> None:
    from gnrs_ppl.benchmarks.realcharter import cards

    if as_json:
        print(to_json([card.model_dump(mode="json") for card in cards()]))
        return
    from gnrs_ppl.report.benchmarks import print_cards

    print_cards(cards())


def _audit_pools(goal_ids: list[str], pools: bool, features: bool, as_json: bool) -> None:
    from gnrs_ppl.experiments.command import show_tables
    from gnrs_ppl.experiments.pools import audit, counts, described, feature_audit

    with working("building pools"):
        counted = [counts(goal) for goal in goal_ids] if pools else []
        found = feature_audit(goal_ids) if features else None
    if not as_json:
        show_tables([*(audit(counted) if counted else ()), *(described(*found) if found else ())])
        return
    told: dict[str, Any] = {"goals": counted} if counted else {}
    if found:
        told |= {"features": [f._asdict() for f in found[0]], "flags": [f._asdict() for f in found[1]]}
    print(to_json(told))


def fit(
    out: Annotated[Path | None, written("File for the weights; the posterior's draws go beside it.")] = None,
    plots: Annotated[Path | None, written("Folder for plots (needs matplotlib).")] = None,
    optimiser: Annotated[Optimiser, typer.Option(help="Optimiser.")] = Optimiser.lbfgs,
    goal: Annotated[list[str] | None, typer.Option(help="Only these dev goals.", show_default=False)] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Fit the weights of s_search on the annotated dev goals, and say whether that helped."""
    from gnrs_ppl.calibration.fit import fit
    from gnrs_ppl.calibration.plots import PLOTS
    from gnrs_ppl.calibration.plots import plots as plot
    from gnrs_ppl.calibration.weights import POSTERIOR

    if out is not None:
        check_file(out)
        check_file(out.with_name(POSTERIOR.name))
        if out.name == POSTERIOR.name:
            raise InputError(
                "is the name of the draws that go beside the weights", "choose another", source=str(out)
            )
    if plots is not None:
        check_folder(plots, PLOTS)

    with working("fitting") as report:
        found = fit(goal or None, optimiser=optimiser.value, seed=seed, report=report)
        drawn = plot(found, plots) if plots is not None else []
        written = found.save(out) if out is not None else []
    if as_json:
        extra = {"out": str(out) if out else None, "plots": [str(path) for path in drawn]}
        print(to_json(found.as_dict() | extra))
        return
    from gnrs_ppl.report.fit import print_fit

    print_fit(found, [*written, *drawn])


def experiment(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="An experiment, or list, all, compare.", show_default=False)
    ],
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RUN RUN]", help="With compare: two folders.", show_default=False),
    ] = None,
    split: Annotated[Split, typer.Option(help="Goals of this split.")] = Split.dev,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="Needed for test and ood; the run enters the ledger.")
    ] = False,
    goals: Annotated[
        str | None,
        typer.Option(metavar="ID,ID", help="These goals, or cards, of the split only.", show_default=False),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(min=1, help="So many goals, drawn, the same each time.", show_default=False),
    ] = None,
    out: Annotated[Path | None, written("Folder of the runs; out/SPLIT unless given.")] = None,
    chains: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Once per number; 1 and 64 unless given.", show_default=False),
    ] = None,
    no_llm: Annotated[bool, typer.Option("--no-llm", help="With all: only what needs no model.")] = False,
    llm: Annotated[
        bool,
        typer.Option(
            "--llm", help="The experiment with a language model, in out/SPLIT-llm, 1 chain unless given."
        ),
    ] = False,
    generator: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL", help="With cross_model --llm: once per generator.", show_default=False),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=1, help="With --llm: how often a text is judged; once unless given.", show_default=False
        ),
    ] = None,
    max_cost: MaxCost = None,
    price: Price = None,
    prices: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --llm: dated prices of models, YAML or JSON.",
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="With --llm: what would be asked, and its price; nothing else."),
    ] = False,
    cache: CacheOption = None,
    role: ModelRoles = None,
    as_json: Json = False,
) -> None:
    """Run a table or figure of the paper again; a run that was stopped goes on where it was."""
    from gnrs_ppl.experiments import command
    from gnrs_ppl.experiments.registry import experiment as named
    from gnrs_ppl.experiments.runner import ExperimentRequest

    if runs and name != "compare":
        raise InputError("only compare takes folders", "leave them out", source="arguments")
    if name in ("list", "compare"):
        tables = [command.listing()] if name == "list" else command.compared(runs or [])
        if as_json:
            print(to_json(command.tables_json(tables)))
        else:
            command.show_tables(tables)
        return
    if name == "all" and not (llm or no_llm):
        raise InputError(
            "some experiments need a model",
            "add --no-llm to run the others, or --llm to run those",
            source="arguments",
        )
    with_llm(
        llm,
        {
            "generator": generator,
            "repeats": repeats,
            "max-cost": max_cost,
            "price": price,
            "cache": cache,
            "role": role,
            "prices": prices,
            "dry-run": dry_run or None,
        },
    )
    if goals is not None and name == "all":
        raise InputError(
            "takes goals where some experiments have cards",
            "give --sample N, or name one experiment",
            source="all",
            field="--goals",
        )
    if llm and no_llm:
        raise InputError("contradicts --no-llm", "give one of the two", source="arguments", field="--llm")
    if generator and name not in ("cross_model", "all"):
        raise InputError(
            "goes with cross_model", "set GNRS_MODEL_GENERATOR", source="arguments", field="--generator"
        )
    folder = out or command.default_folder(split.value, llm)
    check_folder(folder)
    request = ExperimentRequest(
        split.value,
        tuple(dict.fromkeys(one.strip() for one in goals.split(",") if one.strip())) if goals else (),
        sample,
        chains=tuple(sorted(set(chains or ((1,) if llm else (1, 64))))),
        revealed=reveal,
    )
    if name != "all":  # what is refused enters no ledger
        command.refuse_other_goals(request, named(name, llm).split)
    if dry_run:
        with language_model(llm, max_cost, price or [], CacheMode.off, role, prices) as model:
            plan = command.dry_run(
                name,
                request._replace(model=model, generators=tuple(generator or ()), repeats=repeats or 1),
            )
        if as_json:
            print(to_json(command.tables_json([plan])))
        else:
            command.show_tables([plan])
        return
    if reveal and command.needs_reveal(name, request):
        from gnrs_ppl.evaluate.ledger import enter

        enter(sys.argv)
    with language_model(llm, max_cost, price or [], cache or CacheMode.rw, role, prices) as model:
        request = request._replace(model=model, generators=tuple(generator or ()), repeats=repeats or 1)
        outcomes = command.run_named(name, request, folder)
    if as_json:
        print(to_json(command.as_json(outcomes)))
    else:
        command.show_outcomes(outcomes)
