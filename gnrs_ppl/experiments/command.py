"""What ``gnrs experiment`` does: one experiment, all of them, the list, and two runs compared."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gnrs_ppl.context.files import write_all
from gnrs_ppl.errors import InputError
from gnrs_ppl.experiments.registry import MODULES, NEEDS_MODEL, experiment, experiments, labels_of
from gnrs_ppl.experiments.runner import Outcome, Request, page, run
from gnrs_ppl.experiments.tables import Column, Table, show

OUT = Path("out")


def default_folder(split: str) -> Path:
    """Where runs of a split go unless ``--out`` says otherwise."""
    return OUT / split


def run_named(name: str, request: Request, out: Path) -> list[Outcome]:
    """One experiment, or all that run without a model; the held-out family only where it was revealed.

    Raises
    ------
    InputError
        As :func:`~gnrs_ppl.experiments.registry.experiment` and :func:`~gnrs_ppl.experiments.runner.run`.
    """
    if name != "all":
        return [run(experiment(name), experiments(), request, out)]
    known = experiments()
    outcomes = [run(one, known, request, out) for one in known.values() if one.split is None or request.revealed]
    write_all(out, [("report.md", _report(outcomes))])
    return outcomes


def needs_reveal(name: str, request: Request) -> bool:
    """Whether held-out labels will be read."""
    return request.split != "dev" or name in ("ood", "all")


def _report(outcomes: Sequence[Outcome]) -> bytes:
    """All pages as one, figures found from the folder above."""
    parts = []
    for outcome in outcomes:
        config = json.loads((outcome.folder / "config.json").read_text(encoding="utf-8"))
        text = page(config, outcome.report).decode()
        parts.append(text.replace("](figures/", f"]({outcome.folder.name}/figures/").replace("\n## ", "\n### ").replace("# ", "## ", 1))
    needed = ", ".join(NEEDS_MODEL)
    head = f"# Experiments without a model\n\nLeft out, as they need a model or people: {needed}. A reconstruction: docs/gnrs-bench.md.\n\n"
    return (head + "\n".join(parts)).encode()


def listing() -> Table:
    """Every experiment with the labels it covers."""
    rows = [(name, experiment(name).asks, ", ".join(labels_of(name))) for name in MODULES]
    rows += [(name, "needs a model", ", ".join(labels_of(name))) for name in NEEDS_MODEL]
    says = "gnrs experiment NAME; all --no-llm runs those that need no model."
    return Table("experiments", "Experiments", says, (Column("name"), Column("asks"), Column("covers in the paper")), rows)


def show_tables(tables: Sequence[Table]) -> None:
    """Tables on standard output."""
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 200, highlight=False)
    for table in tables:
        show(table, console)


def show_outcomes(outcomes: Sequence[Outcome]) -> None:
    """Tables, notes, and where everything lies."""
    from rich.console import Console
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else 200, highlight=False)
    for outcome in outcomes:
        show_tables(outcome.report.tables)
        for note in outcome.summary["notes"]:
            console.print(Text(f"note: {note}"))
        console.print(Text(f"wrote {outcome.folder}", style="dim"))


def as_json(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Summaries with the tables' cells."""
    return [
        outcome.summary
        | {
            "folder": str(outcome.folder),
            "tables": tables_json(outcome.report.tables),
        }
        for outcome in outcomes
    ]


def tables_json(tables: Sequence[Table]) -> dict[str, Any]:
    """Tables by name."""
    return {
        table.name: {
            "title": table.title,
            "comparable": table.says,
            "columns": [{"name": c.name, "paper": c.paper} for c in table.columns],
            "rows": table.rows,
        }
        for table in tables
    }


def two_runs(folders: Sequence[Path]) -> tuple[Path, Path]:
    """The two folders of ``compare``.

    Raises
    ------
    InputError
        More or fewer.
    """
    if len(folders) != 2:
        raise InputError("compare takes two folders", "such as out/dev/main out/other/main", source="arguments")
    return folders[0], folders[1]
