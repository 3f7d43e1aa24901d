"""Stored audits: ``gnrs history``, ``drift``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnrs_ppl.cli.helpers import working
from gnrs_ppl.cli.options import Json
from gnrs_ppl.safe_text import to_json

StoreFile = Annotated[
    Path,
    typer.Argument(metavar="STORE", help="File that gnrs audit --store wrote.", show_default=False),
]
Since = Annotated[
    int | None,
    typer.Option(
        metavar="RUN",
        help="Run to compare the latest of its rule with; the one before it unless given.",
        show_default=False,
    ),
]


def history(
    store: StoreFile,
    since: Since = None,
    limit: Annotated[int, typer.Option(min=0, help="Cases of each kind to show in text.")] = 3,
    as_json: Json = False,
) -> None:
    """List stored audits, and which violations are new, reopened, still open, fixed, undecided or gone.

    A damaged store is noticed, by the checksums of its blocks; not what somebody wrote into it by other
    means.
    """
    from gnrs_ppl.history.changes import history as read_history

    with working("reading"):
        found = read_history(store, since)
    if as_json:
        print(to_json(found.as_dict()))
    else:
        from gnrs_ppl.report.history import print_history

        print_history(found, limit)


def drift(store: StoreFile, since: Since = None, as_json: Json = False) -> None:
    """Say whether the records still are what the rule was grounded in: silent channels, renamed acts, empty
    cells, a violated share that moved more than chance; exit 1 where they are not.
    """
    from gnrs_ppl.history.drift import drift as find_drift

    with working("comparing"):
        found = find_drift(store, since)
    if as_json:
        print(to_json({"drift": [one.as_dict() for one in found]}))
    else:
        from gnrs_ppl.report.history import print_drift

        print_drift(found)
    if any(one.alarms for one in found):
        raise typer.Exit(1)
