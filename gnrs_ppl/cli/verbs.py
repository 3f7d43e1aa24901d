"""``gnrs`` and its verbs, in the order of its help; heavy imports wait until a verb needs them."""

from __future__ import annotations

from typing import Annotated

import typer

from gnrs_ppl.cli import (
    audits,
    charter,
    drafts,
    experiments,
    goals,
    handover,
    history,
    records,
    rulebook,
    serve,
)

app = typer.Typer(
    name="gnrs",
    help="Draft rules that people can read and auditors can run against the records that exist.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    epilog="Exit codes: 0; 1 the answer is no (violations, no feasible rule); 2 bad input, or a place that "
    "cannot be written; "
    "3 not checkable on these records; 4 the sentence may mean several things (--reading chooses); "
    "70 an unexpected error, with a report; 130 interrupted; 141 nobody "
    "read on; 143 terminated.",
)


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


goal_app = typer.Typer(help="A context's goal: write it from a sentence, change it.", no_args_is_help=True)

app.command()(experiments.goals)
app.command("import")(records.import_)
app.command()(records.profile)
app.add_typer(goal_app, name="goal")
goal_app.command("new")(goals.goal_new)
goal_app.command("edit")(goals.goal_edit)
app.command()(records.lint)
app.command()(records.schema)
app.command()(goals.read)
app.command()(drafts.draft)
app.command()(charter.charter)
app.command()(audits.audit)
app.command()(audits.report)
app.command("export")(handover.export)
app.command()(history.history)
app.command()(history.drift)
app.command()(serve.serve)
app.command()(rulebook.compare)
app.command("test")(rulebook.hold)
app.command()(audits.ask)
app.command()(rulebook.impact)
app.command()(rulebook.gaps)
app.command()(drafts.sample)
app.command()(experiments.fit)
app.command()(drafts.diagnose)
app.command()(experiments.experiment)
