"""What several verbs do: progress on a terminal, the language model, the files they read."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnrs_ppl import progress, stops
from gnrs_ppl.cli.options import CacheMode
from gnrs_ppl.errors import InputError, one_line

if TYPE_CHECKING:
    from gnrs_ppl.context import Context


def files_read(context: Context, *named: str) -> list[Path]:
    """The files that a verb reads, the context's log among them."""
    records = context.records
    return [*map(Path, named), *(context.folder / name for name in (records.log, records.set_aside) if name)]


def columns_told(pairs: list[str] | None) -> dict[str, str]:
    """What --column says: the name of each column to that of the file."""
    told: dict[str, str] = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not equals or name in told:
            raise InputError(
                f"{one_line(pair, 60)!r} is not NAME=COLUMN, once for each name",
                "write role=org:group",
                source="arguments",
                field="--column",
            )
        told[name] = value
    return told


@contextmanager
def language_model(
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


def with_llm(wanted: bool, options: dict[str, Any]) -> None:
    """Refuse what only a model has a use for where none is wanted."""
    stray = next((option for option, value in options.items() if value is not None and value != []), None)
    if stray and not wanted:
        raise InputError("goes with --llm", "add it", source="arguments", field=f"--{stray}")


@contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """A spinner on a terminal's standard error, a line for whoever watches the progress, silent elsewhere;
    what it gives changes the words.
    """
    progress.stage(what)
    if not sys.stderr.isatty():
        yield progress.stage
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{what} …") as status:

        def say(stage: str) -> None:
            progress.stage(stage)
            status.update(f"{stage} …")

        yield say


def complain(line: str, code: int) -> int:
    """Say one line on standard error and give the exit code back."""
    stops.wait_if_stopping()
    with suppress(OSError):  # nowhere to say it; the code says it still
        print(f"gnrs: {line}", file=sys.stderr)
    return code
