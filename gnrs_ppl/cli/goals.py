"""Goals and their sentences: ``gnrs goal new``, ``goal edit``, ``read``."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnrs_ppl.cli.helpers import language_model, with_llm, working
from gnrs_ppl.cli.options import CacheMode, CacheOption, Json, MaxCost, ModelRoles, Price
from gnrs_ppl.context.limits import SENTENCE
from gnrs_ppl.errors import InputError
from gnrs_ppl.safe_text import to_json

if TYPE_CHECKING:
    from gnrs_ppl.candidates.model_reader import ReadAlong
    from gnrs_ppl.context.types import Attribute, Channel, Schema
    from gnrs_ppl.goals.write import Written

    _Known = tuple[str, Schema, tuple[Channel, ...], tuple[Attribute, ...]]
    """A sentence, the names that may be meant, the logs that are kept and what they record."""

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
    if not (sentence or "").strip() or len(sentence or "") > SENTENCE:
        raise InputError(
            f"is empty or longer than {SENTENCE:,} characters",
            "write a sentence",
            source="arguments",
            field="--sentence",
        )


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
    with_llm(llm, {"max-cost": max_cost, "price": price, "cache": cache, "role": role})
    from gnrs_ppl.errors import Refused
    from gnrs_ppl.reading import read as read_alone
    from gnrs_ppl.reading.plain import as_data, why_nothing

    if batch is not None:
        from gnrs_ppl.reading.batch import read_rows, rows_of
        from gnrs_ppl.report.reading import print_batch, print_model

        with (
            working("reading"),
            language_model(llm, max_cost, price or [], cache or CacheMode.rw, role) as model,
        ):
            rows = rows_of(batch)
            found = _read_along(model, [(row.text, row.names, (), row.attributes) for row in rows])
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
    known = _sentence(context, sentence or "", schema)
    with (
        working("asking") if llm else nullcontext(),
        language_model(llm, max_cost, price or [], cache or CacheMode.rw, role) as model,
    ):
        found = _read_along(model, [known])
    readings = found[0].readings if found else read_alone(*known)
    if as_json:
        typer.echo(to_json(as_data(readings) | _told(found)))
    else:
        from gnrs_ppl.report.reading import print_model, print_reading

        print_reading(readings)
        print_model(_told(found))
    if readings.nothing:
        raise Refused(why_nothing(readings), reason=readings.nothing)


def _read_along(model: Any, sentences: list[_Known]) -> list[ReadAlong]:
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


def _sentence(context: Path | None, sentence: str, schema: Path | None) -> _Known:
    """The sentence to read, and what is known where it is read."""
    from gnrs_ppl.context.load import read_records, read_schema

    if schema is None:
        import gnrs_ppl as gnrs

        loaded = gnrs.load_context(str(context))
        return loaded.goal.intent, loaded.schema, loaded.records.channels, loaded.records.attributes
    _check_sentence(sentence)
    return sentence, read_schema(schema), *read_records(schema)
