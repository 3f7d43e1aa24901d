"""A rule for whoever checks it without us: ``gnrs export``."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from gnrs_ppl.cli.helpers import working
from gnrs_ppl.cli.options import Json, Log
from gnrs_ppl.cli.rulebook import OfContext, RuleFile
from gnrs_ppl.safe_text import to_json


class RuleForm(StrEnum):
    """Forms in which a rule is handed over."""

    view = "view"
    dbt = "dbt"
    declare = "declare"


def export(
    rule: RuleFile,
    to: Annotated[
        RuleForm,
        typer.Option(help="A SQL view or a dbt test (DuckDB), or a DECLARE model.", show_default=False),
    ],
    context: OfContext = None,
    log: Log = None,
    as_json: Json = False,
) -> None:
    """Print a rule as a SQL view, a dbt test or a DECLARE model; what a form cannot hold is refused by
    name.
    """
    from gnrs_ppl.report.handover import exported

    with working("compiling"):
        found = exported(rule, to.value, context, log)
    if as_json:
        print(to_json({"to": to.value, "text": found.text, "notes": list(found.notes)}))
        return
    print(found.text, end="")
    for note in found.notes:
        print(f"note: {note}", file=sys.stderr)
