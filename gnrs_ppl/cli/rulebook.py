"""Questions about written rules: ``gnrs compare``, ``test``, ``impact``, ``gaps``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gnrs_ppl.cli.helpers import working
from gnrs_ppl.cli.options import ContextPath, Json, Log, written
from gnrs_ppl.context.output import check_apart, check_file
from gnrs_ppl.errors import one_line
from gnrs_ppl.safe_text import to_json


class Varied(StrEnum):
    """Numbers of a rule that may be varied."""

    deadline = "deadline"
    window = "window"
    often = "count"
    logs = "logs"


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


def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="Rule file.", show_default=False)],
    b: Annotated[Path, typer.Argument(metavar="B", help="Another rule file.", show_default=False)],
    context: OfContext = None,
    log: Log = None,
    events: Annotated[int, typer.Option(min=1, max=6, help="Events of the longest traces searched.")] = 4,
    limit: Annotated[int, typer.Option(min=0, help="Cases of the log to show in text.")] = 3,
    save: Annotated[
        Path | None,
        written("File of examples to which the trace is added, with what A says of it; for gnrs test."),
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
    with working("comparing"):
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

    with working("testing"):
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
    plot: Annotated[Path | None, written("SVG or PNG file for the curve (needs matplotlib).")] = None,
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
    with working("counting"):
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


def gaps(
    context: ContextPath,
    rule: Annotated[
        Path | None,
        typer.Option(
            help="Rule file to ask about; else the context's pools, or where it lists none the rule that "
            "gnrs draft writes.",
            show_default=False,
        ),
    ] = None,
    log: Log = None,
    as_json: Json = False,
) -> None:
    """Say what it would take to check what is refused or left undecided: the smallest additions to the
    records, each proved; exit 3 where a rule is refused and none helps.
    """
    import gnrs_ppl as gnrs
    from gnrs_ppl.benchmarks import load_context
    from gnrs_ppl.context.output import as_written
    from gnrs_ppl.errors import Refused
    from gnrs_ppl.rule.files import read_rule
    from gnrs_ppl.rulebook.gaps import gaps as find_gaps

    with working("trying"):
        notes = []
        if rule is not None and as_written(rule) is False:
            notes.append(f"{rule.name} was changed after it was drafted")
        loaded = load_context(context, log, goalless=True)
        asked = read_rule(rule).rule if rule is not None else None
        if asked is None and loaded.pools is None:
            drafted = gnrs.draft(load_context(context, log), kernel="exact")
            asked = drafted.structure
            notes += ["no rule is named, so it is what gnrs draft writes; --rule FILE asks about another"]
            notes += [f"it says: {drafted.text}"]
        found = find_gaps(loaded, asked)
    if as_json:
        print(to_json(found.as_dict() | {"notes": notes}))
    else:
        from gnrs_ppl.report.gaps import print_gaps

        print_gaps(found, tuple(notes))
    if rule is not None and any(gap.refused and not gap.remedies for gap in found.gaps):
        raise Refused(found.gaps[0].refused.removeprefix("not checkable: "), "nothing that was tried helps")
