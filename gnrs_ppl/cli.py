"""Command line: goals, import, read, draft, audit, ask, sample, fit, diagnose, experiment. Heavy imports wait
until a verb needs them.
"""

from __future__ import annotations

import codecs
import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout, suppress
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from typer.exceptions import Abort, TyperException

from gnrs_ppl import stops
from gnrs_ppl.context.output import FULL, check_apart, check_file, check_folder
from gnrs_ppl.cores import use_all_cores
from gnrs_ppl.errors import GnrsError, InputError, one_line
from gnrs_ppl.safe_text import to_json

if TYPE_CHECKING:
    from gnrs_ppl.candidates.model_reader import ReadAlong
    from gnrs_ppl.context import Context
    from gnrs_ppl.context.types import Schema
    from gnrs_ppl.draft import Draft
    from gnrs_ppl.goals.write import Written

NOBODY_READS = 141
"""Exit code of a command whose reader has gone, as the shell has it for SIGPIPE."""

app = typer.Typer(
    name="gnrs",
    help="Draft rules that people can read and auditors can run against the records that exist.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    epilog="Exit codes: 0; 1 the answer is no (violations, no feasible rule); 2 bad input, or a place that "
    "cannot be written; "
    "3 not checkable on these records; 70 an unexpected error, with a report; 130 interrupted; 141 nobody "
    "read on; 143 terminated.",
)


Item = TypeVar("Item")
LONGEST_SENTENCE = 2000
"""Characters of a sentence, as of a goal's."""


class Kernel(StrEnum):
    """Samplers behind one call."""

    metropolis = "metropolis"
    gibbs = "gibbs"
    informed = "informed"
    tempering = "tempering"
    smc = "smc"
    exact = "exact"
    cpsat = "cpsat"


class Optimiser(StrEnum):
    """Optimisers of the weights."""

    lbfgs = "lbfgs"
    adam = "adam"


class Polish(StrEnum):
    """Prompts that polish: smoother sentences, or plain language."""

    v1 = "v1"
    v2 = "v2"


class CacheMode(StrEnum):
    """What is done with answers of language models on disk."""

    rw = "rw"
    read_only = "read-only"
    refresh = "refresh"
    off = "off"


class Split(StrEnum):
    """Splits of GNRS-Bench."""

    dev = "dev"
    test = "test"
    ood = "ood"


class Described(StrEnum):
    """Files whose fields are described."""

    context = "context"
    rule = "rule"
    log = "log"
    cases = "cases"


class Varied(StrEnum):
    """Numbers of a rule that may be varied."""

    deadline = "deadline"
    window = "window"
    often = "count"
    logs = "logs"


class DateOrder(StrEnum):
    """Orders of day and month where the year stands last."""

    day_first = "day-first"
    month_first = "month-first"


class Bench(StrEnum):
    """Benchmarks that ship with the package."""

    gnrs = "gnrs"
    realcharter = "realcharter"


def _place(text: str) -> Path:
    """A path to write to; an empty one would be the current folder."""
    if not text:
        raise typer.BadParameter("is empty; name a place to write to")
    return Path(text)


def _written(says: str) -> Any:
    return typer.Option(help=says, parser=_place, metavar="<path>", show_default=False)


ContextPath = Annotated[
    Path,
    typer.Argument(
        metavar="CONTEXT",
        help="Benchmark goal (GNRS-001), or context file (YAML or JSON): goal, schema, records, pools.",
        show_default=False,
    ),
]
Log = Annotated[
    Path | None,
    typer.Option(help="Event log (CSV, CSV.gz or Parquet) in place of the context's.", show_default=False),
]
Chains = Annotated[int, typer.Option(help="Parallel chains.")]
Steps = Annotated[int, typer.Option(help="Metropolis steps per chain.")]
Seed = Annotated[int, typer.Option(help="Random seed.")]
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
WeightsOption = Annotated[
    str, typer.Option(help="Weights of the score: fitted, uniform, default, posterior, or a file.")
]
MaxCost = Annotated[
    float | None, typer.Option(help="With --llm: US dollars never to exceed.", show_default=False)
]
Price = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MODEL=IN,OUT",
        help="With --llm: price in US dollars for a million tokens.",
        show_default=False,
    ),
]
CacheOption = Annotated[
    CacheMode | None,
    typer.Option(help="With --llm: what to do with stored answers; rw unless given.", show_default=False),
]
ModelRoles = Annotated[
    list[str] | None,
    typer.Option(
        "--role",
        metavar="ROLE=MODEL[@BASE_URL]",
        help="With --llm: who plays a role, and where; its server's key is GNRS_API_KEY_<ROLE>.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Fix = Annotated[
    list[str] | None,
    typer.Option(
        "--fix",
        metavar="SLOT.FIELD=VALUE",
        help="What the rule must say, such as norm.deadline=P5D; may be repeated.",
        show_default=False,
    ),
]
Without = Annotated[
    list[str] | None,
    typer.Option(
        "--without",
        metavar="KIND:NAME",
        help="A name the rule must not use, such as channel:erp_log or role:clerk; may be repeated.",
        show_default=False,
    ),
]
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


def _print_versions(asked: bool) -> None:
    if asked:
        from gnrs_ppl.versions import versions

        print("\n".join(f"{name} {number}" for name, number in versions().items()))
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print versions and exit.", is_eager=True, callback=_print_versions),
    ] = False,
) -> None:
    """Options of every verb."""


@app.command()
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
        with _working("scoring floors and ceilings"):
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

    with _working("building pools"):
        counted = [counts(goal) for goal in goal_ids] if pools else []
        found = feature_audit(goal_ids) if features else None
    if not as_json:
        show_tables([*(audit(counted) if counted else ()), *(described(*found) if found else ())])
        return
    told: dict[str, Any] = {"goals": counted} if counted else {}
    if found:
        told |= {"features": [f._asdict() for f in found[0]], "flags": [f._asdict() for f in found[1]]}
    print(to_json(told))


@app.command("import")
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
        Path | None, _written("Folder for the context and its events; named after SOURCE unless given.")
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
    update: Annotated[
        bool, typer.Option("--update", help="Import again into the folder; what was changed by hand stays.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Make a context of your records: events as Parquet, and what rules need guessed from them, each guess
    marked.
    """
    from gnrs_ppl.importing import import_source

    told: dict[str, str] = {}
    for pair in column or ():
        name, equals, value = pair.partition("=")
        if not equals or name in told:
            raise InputError(
                f"{one_line(pair, 60)!r} is not NAME=COLUMN, once for each name",
                "write role=org:group",
                source="arguments",
                field="--column",
            )
        told[name] = value
    with _working("importing"):
        done = import_source(
            source,
            out,
            case=case,
            columns=told,
            zone=zone,
            order=dates.value if dates else None,
            update=update,
        )
    if as_json:
        print(to_json(done.as_dict()))
    else:
        from gnrs_ppl.report.imported import print_import

        print_import(done)


@app.command()
def profile(
    context: ContextPath,
    log: Log = None,
    plots: Annotated[Path | None, _written("Folder for plots (needs matplotlib).")] = None,
    page: Annotated[Path | None, _written("File for a page of HTML with plots (needs matplotlib).")] = None,
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
    with _working("counting"):
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
            from gnrs_ppl.report.profile_page import write_page

            drawn.append(write_page(found, loaded.source, page))
    if as_json:
        print(to_json(found.as_dict() | {"files": [str(path) for path in drawn]}))
        return
    from gnrs_ppl.report.profile import print_overview

    print_overview(found, drawn)


goal_app = typer.Typer(help="A context's goal: write it from a sentence, change it.", no_args_is_help=True)
app.add_typer(goal_app, name="goal")
ContextFile = Annotated[
    Path,
    typer.Argument(
        metavar="CONTEXT", help="Context file (YAML or JSON), with or without a goal.", show_default=False
    ),
]
GoalId = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="ID",
        help="A name for the goal; made of the sentence unless given.",
        show_default=False,
    ),
]


def _stated(metavar: str, says: str) -> Any:
    return typer.Option(metavar=metavar, help=f"{says}; may be repeated.", show_default=False)


Required = Annotated[list[str] | None, _stated("ACT", "An act the rule must demand")]
Forbidden = Annotated[list[str] | None, _stated("ACT", "An act the rule must ban")]
Permitted = Annotated[list[str] | None, _stated("ACT", "An act no rule may demand or ban")]
Triggers = Annotated[list[str] | None, _stated("ACT", "An act that sets the rule to work")]
Timed = Annotated[list[str] | None, _stated("ACT", "A required act that --within is for")]
Roles = Annotated[list[str] | None, _stated("ROLE", "Who is bound")]
Locations = Annotated[list[str] | None, _stated("PLACE", "Where")]
Objects = Annotated[list[str] | None, _stated("OBJECT", "On what")]
Values = Annotated[list[str] | None, _stated("VALUE", "What the institution cares for")]
Within = Annotated[
    str | None, typer.Option(metavar="TIME", help="Time within which: P60D, PT4H, P2M.", show_default=False)
]
ForceOption = Annotated[
    str | None, typer.Option("--force", metavar="FORCE", help="must, should or may.", show_default=False)
]


@goal_app.command("new")
def goal_new(
    context: ContextFile,
    sentence: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="What the rule is for: who must or must not do what, when, after what.",
            show_default=False,
        ),
    ] = None,
    id_: GoalId = None,
    required: Required = None,
    forbidden: Forbidden = None,
    permitted: Permitted = None,
    triggers: Triggers = None,
    timed: Timed = None,
    roles: Roles = None,
    locations: Locations = None,
    objects: Objects = None,
    values: Values = None,
    within: Within = None,
    force: ForceOption = None,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes", help="Ask nothing: the best reading, and in place of a goal that stands there."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Write a goal into a context file from a sentence; a terminal is asked what that leaves open; exit 3
    where nothing can be held.
    """
    from gnrs_ppl.goals.write import new_goal

    ask = None
    if not yes and not as_json and sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty():
        from gnrs_ppl.report.goal import Terminal

        ask = Terminal()
    if sentence is None and ask is not None:
        sentence = ask.line("The sentence")
    _check_sentence(sentence)
    stated = {
        "id": id_,
        "required": required,
        "forbidden": forbidden,
        "permitted": permitted,
        "triggers": triggers,
        "timed": timed,
        "roles": roles,
        "locations": locations,
        "objects": objects,
        "values": values,
        "within": within,
        "force": force,
    }
    done = new_goal(
        context,
        str(sentence),
        {name: value for name, value in stated.items() if value},
        ask=ask,
        replace_goal=yes,
    )
    _say_goal(done, as_json)


@goal_app.command("edit")
def goal_edit(
    context: ContextFile,
    sentence: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Another sentence.", show_default=False)
    ] = None,
    id_: GoalId = None,
    required: Required = None,
    forbidden: Forbidden = None,
    permitted: Permitted = None,
    triggers: Triggers = None,
    timed: Timed = None,
    roles: Roles = None,
    locations: Locations = None,
    objects: Objects = None,
    values: Values = None,
    within: Within = None,
    force: ForceOption = None,
    clear: Annotated[list[str] | None, _stated("FIELD", "A field to leave empty, such as within")] = None,
    as_json: Json = False,
) -> None:
    """Change fields of a context's goal; each option replaces a field, every other line of the file stays."""
    from gnrs_ppl.goals.write import edit_goal

    if sentence is not None:
        _check_sentence(sentence)
    stated = {
        "id": id_,
        "intent": sentence,
        "required": required,
        "forbidden": forbidden,
        "permitted": permitted,
        "triggers": triggers,
        "timed": timed,
        "roles": roles,
        "locations": locations,
        "objects": objects,
        "values": values,
        "within": within,
        "force": force,
    }
    chosen = {name: value for name, value in stated.items() if value}
    if not chosen and not clear:
        raise InputError(
            "nothing is to be changed",
            "name a field, such as --within P60D, or --clear within",
            source="arguments",
        )
    _say_goal(edit_goal(context, chosen, clear or ()), as_json)


def _say_goal(done: Written, as_json: bool) -> None:
    if as_json:
        print(to_json(done.as_dict()))
        return
    from gnrs_ppl.report.goal import print_goal

    print_goal(done)


def _check_sentence(sentence: str | None) -> None:
    if not (sentence or "").strip() or len(sentence or "") > LONGEST_SENTENCE:
        raise InputError(
            f"is empty or longer than {LONGEST_SENTENCE:,} characters",
            "write a sentence",
            source="arguments",
            field="--sentence",
        )


@app.command()
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

    with _working("looking"):
        found = lint(context, log, fix=fix)
    if as_json:
        print(to_json(found.as_dict()))
    else:
        from gnrs_ppl.report.lint import print_findings

        print_findings(found)
    if found.failed:
        raise typer.Exit(1)


@app.command()
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


@app.command()
def read(
    context: Annotated[
        Path | None,
        typer.Argument(
            metavar="[CONTEXT]",
            help="Benchmark goal or context file whose goal's sentence to read.",
            show_default=False,
        ),
    ] = None,
    sentence: Annotated[
        str | None, typer.Option(metavar="TEXT", help="A sentence; goes with --schema.", show_default=False)
    ] = None,
    schema: Annotated[
        Path | None,
        typer.Option(
            help="Context file, schema alone, or list of {name, phrase}: the names that may be meant.",
            show_default=False,
        ),
    ] = None,
    batch: Annotated[
        Path | None,
        typer.Option(help="JSON list or lines of {id, text, schema: [{name, phrase}]}.", show_default=False),
    ] = None,
    llm: Annotated[bool, typer.Option("--llm", help="Let a language model read the sentence too.")] = False,
    max_cost: MaxCost = None,
    price: Price = None,
    cache: CacheOption = None,
    role: ModelRoles = None,
    as_json: Json = False,
) -> None:
    """Read a sentence: who must or must not do what, when, after what; exit 3 with the reason where nothing
    was read.
    """
    if (context is not None) + (sentence is not None) + (batch is not None) != 1 or (sentence is None) != (
        schema is None
    ):
        raise InputError(
            "name a context, --sentence with --schema, or --batch",
            "give one of the three",
            source="arguments",
        )
    _with_llm(llm, {"max-cost": max_cost, "price": price, "cache": cache, "role": role})
    from gnrs_ppl.errors import Refused
    from gnrs_ppl.reading import read as read_alone
    from gnrs_ppl.reading.plain import as_data, why_nothing

    if batch is not None:
        from gnrs_ppl.reading.batch import read_rows, rows_of
        from gnrs_ppl.report.reading import print_batch, print_model

        with _working("reading"), _model(llm, max_cost, price or [], cache or CacheMode.rw, role) as model:
            rows = rows_of(batch)
            found = _read_along(model, [(row.text, row.names) for row in rows])
            read_so = read_rows(rows, [one.readings for one in found])
        if as_json:
            typer.echo(
                to_json(
                    [row | _told([one]) for row, one in zip(read_so, found, strict=True)]
                    if found
                    else read_so
                )
            )
        else:
            print_batch(read_so)
            print_model(_told(found))
        return
    text, names = _sentence(context, sentence or "", schema)
    with (
        _working("asking") if llm else nullcontext(),
        _model(llm, max_cost, price or [], cache or CacheMode.rw, role) as model,
    ):
        found = _read_along(model, [(text, names)])
    readings = found[0].readings if found else read_alone(text, names)
    if as_json:
        typer.echo(to_json(as_data(readings) | _told(found)))
    else:
        from gnrs_ppl.report.reading import print_model, print_reading

        print_reading(readings)
        print_model(_told(found))
    if readings.nothing:
        raise Refused(why_nothing(readings), reason=readings.nothing)


def _read_along(model: Any, sentences: list[tuple[str, Schema]]) -> list[ReadAlong]:
    """Sentences as reader and model read them; none where there is no model."""
    if model is None:
        return []
    from gnrs_ppl.candidates.model_reader import read_along

    return read_along(sentences, model, seed=0)  # as a draft asks, so that its answers are found in the cache


def _told(found: list[ReadAlong]) -> dict[str, Any]:
    """What JSON says of the model beside the readings; nothing where none was asked."""
    if not found:
        return {}
    from gnrs_ppl.candidates.model_reader import told

    return {"llm": told(found)}


def _sentence(context: Path | None, sentence: str, schema: Path | None) -> tuple[str, Schema]:
    """The sentence to read, and the names that may be meant."""
    from gnrs_ppl.context.load import read_schema

    if schema is None:
        import gnrs_ppl as gnrs

        loaded = gnrs.load_context(str(context))
        return loaded.goal.intent, loaded.schema
    _check_sentence(sentence)
    return sentence, read_schema(schema)


@app.command()
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
    kernel: KernelOption = Kernel.metropolis,
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
        Path | None, _written("New folder, or that of a draft, for its files; all or nothing.")
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
    from gnrs_ppl.draft import FILES, of_rule, read_too, rules_stated
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
    if split is not None and sentence is not None:
        raise InputError("goes with one context", "leave out --split", source="arguments", field="--sentence")
    pins = read_pins(fix or (), without or ())
    if (split is not None or every) and (pins or answers):
        stray = "--answers" if answers else "--fix" if fix else "--without"
        raise InputError(
            "goes with one rule", "leave out --split and --every", source="arguments", field=stray
        )
    _with_llm(llm, {"polish": polish, "max-cost": max_cost, "price": price, "cache": cache, "role": role})
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

    drafts: list[tuple[int, Draft, list[Path]]] = []
    stopped: list[tuple[int, GnrsError]] = []
    with _working("drafting"), _model(llm, max_cost, price or [], cache or CacheMode.rw, role) as model:
        loaded = gnrs.load_context(str(context), log, goalless=sentence is not None)
        if sentence is not None:
            loaded = with_sentence(loaded, sentence)
        if every:
            (loaded,) = read_too([loaded], model, seed)
        rules = rules_stated(loaded) if every else 1
        for place in (
            [] if out is None else [out / f"rule-{n}" for n in range(1, rules + 1)] if every else [out]
        ):
            check_folder(place, FILES)
            check_apart([place / name for name in FILES], _inputs(loaded, str(context), weights))
        (loaded,) = read_too([loaded], model, seed)
        for number in range(1, rules + 1) if every else (statement or 1,):
            try:
                drafted = gnrs.draft(
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
                if not every:
                    raise
                stopped.append((number, error))
                continue
            if not loaded.records.prospective:
                said = touching(drafted.structure, loaded.schema, loaded.records, loaded.log)
                drafted = replace(drafted, findings=(*drafted.findings, *said))
            folder = out / f"rule-{number}" if out is not None and every else out
            drafts.append((number, drafted, drafted.save(folder) if folder is not None else []))
    if as_json and every:
        print(to_json([{"rule": number, **drafted.as_dict()} for number, drafted, _ in drafts]))
    elif as_json:
        print(to_json(drafts[0][1].as_dict()))
    else:
        from gnrs_ppl.report.draft import print_draft

        for _, drafted, written in drafts:
            print_draft(drafted, written)
    for number, why in stopped:
        _complain(f"rule {number}: {why}", why.exit_code)
    if stopped:
        raise typer.Exit(stopped[0][1].exit_code)


def _inputs(context: Context, *named: str) -> list[Path]:
    """The files that a verb reads, the context's log among them."""
    log = context.records.log
    return [*map(Path, named), *([context.folder / log] if log is not None else [])]


@contextmanager
def _model(
    wanted: bool,
    max_cost: float | None,
    prices: list[str],
    cache: CacheMode,
    roles: list[str] | None,
    price_file: Path | None = None,
) -> Iterator[Any]:
    """The language model that the environment names, with its cache and cost limit; None where none is
    wanted.
    """
    if not wanted:
        yield None
        return
    from gnrs_ppl.llm import model_from_environment

    with model_from_environment(max_cost, prices, cache.value, roles or [], price_file) as model:
        yield model


def _with_llm(wanted: bool, options: dict[str, Any]) -> None:
    """Refuse what only a model has a use for where none is wanted."""
    stray = next((option for option, value in options.items() if value is not None and value != []), None)
    if stray and not wanted:
        raise InputError("goes with --llm", "add it", source="arguments", field=f"--{stray}")


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


@app.command()
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
    as_json: Json = False,
    as_csv: Annotated[
        bool,
        typer.Option(
            "--csv",
            help="Print a line per instance and constraint; texts a spreadsheet would run begin with '.",
        ),
    ] = False,
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
    from gnrs_ppl.audit.files import audit_files
    from gnrs_ppl.records.lint import touching

    if as_json and as_csv:
        raise InputError("contradicts --json", "give one of the two", source="arguments", field="--csv")
    if posterior is not None:
        if rule is not None or allow_unrecorded:
            stray = "--rule" if rule is not None else "--allow-unrecorded"
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
    with _working("auditing"):
        result = audit_files(rule, log, context, allow_unrecorded, remarks=touching)
    if as_json:
        print(result.to_json())
    elif as_csv:
        print(result.to_csv(), end="")
    else:
        from gnrs_ppl.report.audit import print_audit

        print_audit(result, 3 if limit is None else limit)
    if result.failed:
        raise typer.Exit(1)


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
    from gnrs_ppl.context.log import read_log
    from gnrs_ppl.posterior.mass import SHARE, mass
    from gnrs_ppl.posterior.stored import stored
    from gnrs_ppl.posterior.uncertain import checked, forecast

    with _working("drafting again") as report:
        draft = stored(folder, context, weights)
        records = draft.context.records
        if records.prospective and log is None:
            raise InputError(
                "names no log: its records are only declared",
                "pass --log",
                source=draft.context.source,
                field="records.log",
            )
        events = draft.context.log if log is None else read_log(log, records)
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


RuleFile = Annotated[
    Path,
    typer.Argument(
        metavar="RULE", help="Rule file (YAML or JSON), by hand or from gnrs draft --out.", show_default=False
    ),
]
OfContext = Annotated[
    Path | None,
    typer.Option(
        "--context",
        metavar="CONTEXT",
        help="Context file whose log, words and record layer to use.",
        show_default=False,
    ),
]


@app.command()
def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="Rule file.", show_default=False)],
    b: Annotated[Path, typer.Argument(metavar="B", help="Another rule file.", show_default=False)],
    context: OfContext = None,
    log: Log = None,
    events: Annotated[int, typer.Option(min=1, max=6, help="Events of the longest traces searched.")] = 4,
    limit: Annotated[int, typer.Option(min=0, help="Cases of the log to show in text.")] = 3,
    save: Annotated[
        Path | None,
        _written("File of examples to which the trace is added, with what A says of it; for gnrs test."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Say whether two rules mean the same: the smallest trace and the cases of the log on which they differ;
    exit 1 where they do.
    """
    from gnrs_ppl.rulebook.compare import compare as compare_rules
    from gnrs_ppl.rulebook.examples import SAYS, example_of, save_example
    from gnrs_ppl.rulebook.given import given

    if save is not None:
        check_file(save)
    with _working("comparing"):
        asked = given([a, b], context, log)
        if save is not None:
            check_apart([save], asked.files)
        found = compare_rules(
            asked.rules[0], asked.rules[1], asked.records, asked.schema, asked.log, events=events
        )
    difference = found.searched.difference if found.searched else None
    if save is not None and found.searched is not None and difference is not None:
        said, instead = (SAYS[one.verdict] for one in difference.said)
        name = one_line(f"{asked.names[0]} says {said} where {asked.names[1]} says {instead}", 200)
        who = len(found.searched.words.people) > 1
        save_example(save, example_of(name, difference.trace, said, found.imagined, who=who))
    if as_json:
        print(
            to_json(
                found.as_dict()
                | {"notes": list(asked.notes), "saved": str(save) if save and difference else None}
            )
        )
    else:
        from gnrs_ppl.report.compare import print_comparison

        print_comparison(found, asked.names, asked.notes, limit, save if difference else None)
    if found.differ:
        raise typer.Exit(1)


@app.command("test")
def hold(
    rule: RuleFile,
    cases: Annotated[
        Path,
        typer.Argument(
            metavar="CASES", help="Examples (YAML or JSON); gnrs schema cases says how.", show_default=False
        ),
    ],
    context: OfContext = None,
    as_json: Json = False,
) -> None:
    """Hold a rule against examples kept beside it, green or red; exit 1 where one is red."""
    from gnrs_ppl.rulebook.examples import read_examples, run_examples
    from gnrs_ppl.rulebook.given import given

    with _working("testing"):
        examples = read_examples(cases)
        asked = given([rule], context)
        found = run_examples(asked.rules[0], examples, asked.records, asked.schema, str(cases))
    if as_json:
        print(to_json(found.as_dict() | {"notes": list(asked.notes)}))
    else:
        from gnrs_ppl.report.examples import print_tested

        print_tested(found, asked.notes)
    if found.red:
        raise typer.Exit(1)


@app.command()
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
    from gnrs_ppl.report.ask import Asking, again_with, print_end, print_state

    pins, given = read_pins(fix or (), without or ()), parse_answers(answer or ())
    talks = not as_json and not given and sys.stdin is not None
    talks = talks and sys.stdin.isatty() and sys.stdout.isatty()
    place = answers or (Path("answers.yaml") if talks else None)
    if place is not None and not place.exists():
        check_file(place)
    with _working("drafting") as report:
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
            check_apart([place], _inputs(loaded, str(context), weights))
            known = read_answers(place, loaded.goal.id) if place.exists() else known
        known = merged(known, given, error)
        chosen = weights_named(weights)
        graph = condition(compile_graph(loaded, pools_of(loaded).pools), pins, chosen)
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
        print(to_json({"goal": loaded.goal.id, "weights": chosen.origin} | state.as_dict()))
    elif talks:
        print_end(state, loaded, draft_again)
    else:
        once = again_with("ask", str(context), pinned, place or Path("answers.yaml"))
        print_state(state, loaded, draft_again if state.stopped else once)


@app.command()
def impact(
    rule: RuleFile,
    context: OfContext = None,
    log: Log = None,
    vary: Annotated[
        Varied | None,
        typer.Option(help="What to vary; the first number the rule states unless given.", show_default=False),
    ] = None,
    constraint: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Whose deadline or count, of several constraints.", show_default=False
        ),
    ] = None,
    values: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,…",
            help="Values to try, such as P30D,P60D; round ones and today's customary unless given.",
            show_default=False,
        ),
    ] = None,
    smallest: Annotated[
        int, typer.Option(min=1, help="Smallest group to show of whom and what is hit.")
    ] = 10,
    plot: Annotated[Path | None, _written("SVG or PNG file for the curve (needs matplotlib).")] = None,
    as_json: Json = False,
) -> None:
    """Say what another deadline, window, count or number of logs would do: violations, the knee, today's
    custom, whom it hits.
    """
    from gnrs_ppl.report.impact import check_kind, print_impact
    from gnrs_ppl.report.impact import plot as draw
    from gnrs_ppl.rulebook.given import given
    from gnrs_ppl.rulebook.impact import impact as impact_of
    from gnrs_ppl.rulebook.impact import read_values

    if plot is not None:
        check_kind(plot)
        check_file(plot)
    with _working("counting"):
        asked = given([rule], context, log, needs_log=True)
        if plot is not None:
            check_apart([plot], asked.files)
        assert asked.log is not None
        found = impact_of(
            asked.rules[0],
            asked.records,
            asked.log,
            asked.schema,
            number=vary.value if vary else None,
            constraint=constraint - 1 if constraint is not None else None,
            values=read_values(values) if values is not None else None,
            smallest=smallest,
        )
        written = draw(found, plot) if plot is not None else []
    if as_json:
        print(to_json(found.as_dict() | {"notes": list(asked.notes), "plot": str(plot) if plot else None}))
    else:
        print_impact(found, asked.notes, written)


@app.command()
def gaps(
    context: ContextPath,
    rule: Annotated[
        Path | None,
        typer.Option(help="Rule file to ask about; the context's pools unless given.", show_default=False),
    ] = None,
    log: Log = None,
    as_json: Json = False,
) -> None:
    """Say what it would take to check what is refused or left undecided: the smallest additions to the
    records, each proved; exit 3 where a rule is refused and none helps.
    """
    from gnrs_ppl.benchmarks import load_context
    from gnrs_ppl.context.output import as_written
    from gnrs_ppl.errors import Refused
    from gnrs_ppl.rule.files import read_rule
    from gnrs_ppl.rulebook.gaps import gaps as find_gaps

    with _working("trying"):
        notes = []
        if rule is not None and as_written(rule) is False:
            notes.append(f"{rule.name} was changed after it was drafted")
        loaded = load_context(context, log, goalless=True)
        found = find_gaps(loaded, read_rule(rule).rule if rule is not None else None)
    if as_json:
        print(to_json(found.as_dict() | {"notes": notes}))
    else:
        from gnrs_ppl.report.gaps import print_gaps

        print_gaps(found, tuple(notes))
    if rule is not None and any(gap.refused and not gap.remedies for gap in found.gaps):
        raise Refused(found.gaps[0].refused.removeprefix("not checkable: "), "nothing that was tried helps")


@app.command()
def sample(
    context: ContextPath,
    out: Annotated[Path, _written("netCDF file for the chains.")],
    log: Log = None,
    chains: Chains = 64,
    steps: Steps = 200,
    seed: Seed = 0,
    kernel: KernelOption = Kernel.metropolis,
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
    with _working("sampling"):
        chosen = weights_named(weights)
        loaded = gnrs.load_context(context, log)
        check_apart([out], _inputs(loaded, str(context), weights))
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


@app.command()
def fit(
    out: Annotated[Path | None, _written("File for the weights; the posterior's draws go beside it.")] = None,
    plots: Annotated[Path | None, _written("Folder for plots (needs matplotlib).")] = None,
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

    with _working("fitting") as report:
        found = fit(goal or None, optimiser=optimiser.value, seed=seed, report=report)
        drawn = plot(found, plots) if plots is not None else []
        written = found.save(out) if out is not None else []
    if as_json:
        extra = {"out": str(out) if out else None, "plots": [str(path) for path in drawn]}
        print(to_json(found.as_dict() | extra))
        return
    from gnrs_ppl.report.fit import print_fit

    print_fit(found, [*written, *drawn])


@app.command()
def diagnose(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="netCDF file that gnrs sample or gnrs draft --out wrote.", show_default=False
        ),
    ],
    plots: Annotated[Path | None, _written("Folder for plots (needs matplotlib).")] = None,
    page: Annotated[Path | None, _written("File for a page of HTML with plots (needs matplotlib).")] = None,
    as_json: Json = False,
) -> None:
    """Say whether the chains mixed, and why; exit 1 when they did not."""
    from gnrs_ppl.inference.diagnostics import diagnose
    from gnrs_ppl.inference.plots import PLOTS
    from gnrs_ppl.inference.plots import plots as plot
    from gnrs_ppl.inference.trace import exact_marginals, load

    if plots is not None:
        check_folder(plots, PLOTS)
    with _working("diagnosing"):
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


@app.command()
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
    out: Annotated[Path | None, _written("Folder of the runs; out/SPLIT unless given.")] = None,
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
    _with_llm(
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
        with _model(llm, max_cost, price or [], CacheMode.off, role, prices) as model:
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
    with _model(llm, max_cost, price or [], cache or CacheMode.rw, role, prices) as model:
        request = request._replace(model=model, generators=tuple(generator or ()), repeats=repeats or 1)
        outcomes = command.run_named(name, request, folder)
    if as_json:
        print(to_json(command.as_json(outcomes)))
    else:
        command.show_outcomes(outcomes)


def _counted(what: str, items: Iterator[Item], total: int) -> Iterator[Item]:
    """The same items, with a progress bar on a terminal's standard error."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, what, total, console=Console(stderr=True))


@contextmanager
def _working(what: str) -> Iterator[Callable[[str], None]]:
    """A spinner on a terminal's standard error, silent elsewhere; what it gives changes the words."""
    if not sys.stderr.isatty():
        yield lambda stage: None
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{what} …") as status:
        yield lambda stage: status.update(f"{stage} …")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """What a terminal cannot show, as JSON would write it."""
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def main(arguments: list[str] | None = None) -> None:
    """Entry point: every error is one line on standard error and an exit code."""
    stops.begin()
    use_all_cores()
    if isinstance(sys.stdout, io.TextIOWrapper):
        codecs.register_error("escaped", _escaped)
        sys.stdout.reconfigure(errors="escaped")  # what the terminal cannot show, in words as in JSON
    lacking = _lacking()
    code = _complain(lacking, 2) if lacking else run(arguments)
    try:
        print(end="", file=sys.__stdout__, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # it was said; Python would try once more as it ends
    stops.finish()
    sys.exit(code)


def _lacking() -> str | None:
    """What every verb needs around it and does not find."""
    if sys.stdout is None:
        return "standard output: is closed; direct it to a file or /dev/null"
    try:
        os.getcwd()
    except OSError as error:
        return f"the current folder: cannot be found ({error.strerror}); change to one that exists"
    return None


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        with _help_unpadded(sys.argv[1:] if arguments is None else arguments):
            code = app(args=arguments, standalone_mode=False) or 0
        sys.stdout.flush()  # a full disk shows here at the latest
        return int(code)
    except GnrsError as error:
        return _complain(str(error), error.exit_code)
    except TyperException as error:
        return _complain(one_line(f"arguments: {error.format_message()}"), 2) if error.format_message() else 2
    except KeyboardInterrupt:
        return _complain("interrupted", 130)
    except SystemExit as stop:  # what Typer and Rich make of a reader that went away
        return NOBODY_READS if isinstance(stop.__context__, BrokenPipeError) else int(stop.code or 0)
    except BrokenPipeError:
        return NOBODY_READS
    except Abort as stop:  # what Typer makes of EOFError
        return _unexpected(stop.__cause__ or stop)
    except Exception as error:
        if str(error) == "Query interrupted":  # what DuckDB makes of Ctrl-C
            return _complain("interrupted", 130)
        if isinstance(error, OSError) and error.errno in FULL:
            return _complain(
                one_line(
                    f"{error.filename or 'output'}: cannot be written ({error.strerror}); make room, then "
                    "run it again"
                ),
                2,
            )
        return _unexpected(error)


def _help_unpadded(arguments: list[str]) -> AbstractContextManager[Any]:
    """Typer's help goes into a pipe without the spaces that fill its lines, as our own text does."""
    if sys.stdout.isatty() or not ("--help" in arguments or arguments in ([], ["goal"])):
        return nullcontext()
    from gnrs_ppl.terminal import Unpadded

    stream: Any = Unpadded(sys.stdout)
    return redirect_stdout(stream)


def _unexpected(error: BaseException) -> int:
    from gnrs_ppl.crash import complaint

    return _complain(complaint(error), 70)


def _complain(line: str, code: int) -> int:
    with suppress(OSError):  # nowhere to say it; the code says it still
        print(f"gnrs: {line}", file=sys.stderr)
    return code


if __name__ == "__main__":
    main()
