"""What ``gnrs experiment`` does: one experiment, all of them, the list, and two runs compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gnrs_ppl.context.files import read_data
from gnrs_ppl.context.output import write_all
from gnrs_ppl.errors import InputError
from gnrs_ppl.experiments.compare import compare
from gnrs_ppl.experiments.registry import MODULES, NEEDS_MODEL, WITH_MODEL, experiment, experiments, labels_of
from gnrs_ppl.experiments.rows import read_rows
from gnrs_ppl.experiments.runner import (
    CARDS,
    SCRIPTED,
    Experiment,
    ExperimentRequest,
    Outcome,
    Report,
    all_of,
    closure,
    marked,
    page,
    run,
)
from gnrs_ppl.experiments.tables import Column, ResultTable, show

OUT = Path("out")


def default_folder(split: str, llm: bool = False) -> Path:
    """Where runs of a split go unless ``--out`` says otherwise; those with a model stand apart."""
    return OUT / (f"{split}-llm" if llm else split)


def run_named(name: str, request: ExperimentRequest, out: Path) -> list[Outcome]:
    """One experiment, or all that run without a model, or with one; the held-out family only where it was
    revealed, a second judge only where one is named.

    Raises
    ------
    InputError
        As :func:`~gnrs_ppl.experiments.registry.experiment` and :func:`~gnrs_ppl.experiments.runner.run`.
    """
    llm = request.model is not None
    known = experiments(llm)
    if name != "all":
        return [run(experiment(name, llm), known, request, out)]
    outcomes = [run(one, known, request, out) for one in _all(request)]
    write_all(out, [("report.md", _report(outcomes, llm))])
    return outcomes


def _all(request: ExperimentRequest) -> list[Experiment]:
    """Experiments of ``all`` in their order; those about one split's goals with that split, those of the
    held-out family where it was revealed.
    """
    asked = request.model.settings.models if request.model else {}
    return [
        one
        for one in experiments(request.model is not None).values()
        if (one.split in (None, CARDS, request.split) or (one.split == "ood" and request.revealed))
        and set(one.roles) <= set(asked)
    ]


def dry_run(name: str, request: ExperimentRequest) -> ResultTable:
    """What an experiment, with those it needs, or all of them would ask at most.

    Raises
    ------
    InputError
        As :func:`~gnrs_ppl.experiments.plan.planned`.
    """
    from gnrs_ppl.experiments.plan import planned, table

    wanted = _all(request) if name == "all" else closure(experiment(name, True), experiments(True))
    return table(
        {one.name: planned(one, request._replace(revealed=True)) for one in wanted if one.make}, request
    )


def refuse_other_goals(request: ExperimentRequest, only: str | None) -> None:
    """Raise InputError where a goal that was asked for is none of the split, or no card where an experiment
    is about cards.
    """
    split = only or request.split
    known = all_of(split)
    if other := next((goal for goal in request.goals if goal not in known), None):
        raise InputError(
            f"is none of the {len(known)} {'cards' if split == CARDS else f'{split} goals'}",
            "see gnrs goals, and gnrs goals --bench realcharter for cards",
            source="--goals",
            field=other,
        )


def needs_reveal(name: str, request: ExperimentRequest) -> bool:
    """Whether held-out labels will be read."""
    return request.split != "dev" or name in ("ood", "all")


def _report(outcomes: Sequence[Outcome], llm: bool) -> bytes:
    """All pages as one, figures found from the folder above."""
    parts = []
    for outcome in outcomes:
        config = read_data(outcome.folder / "config.json")
        text = page(config, outcome.report, experiment(outcome.folder.name, llm).asks).decode()
        parts.append(
            text.replace("](figures/", f"]({outcome.folder.name}/figures/")
            .replace("\n## ", "\n### ")
            .replace("# ", "## ", 1)
        )
    made = {outcome.folder.name for outcome in outcomes}
    left = ", ".join(name for name in (WITH_MODEL if llm else NEEDS_MODEL) if name not in made) or "none"
    scripted = f" ({SCRIPTED})" if any(outcome.report.scripted for outcome in outcomes) else ""
    title, why = (
        ("Experiments with a model", "held out, or without a model for a role")
        if llm
        else ("Experiments without a model", "as they need a model or people")
    )
    head = f"# {title}{scripted}\n\nLeft out, {why}: {left}. A reconstruction: docs/gnrs-bench.md.\n\n"
    return (head + "\n".join(parts)).encode()


def listing() -> ResultTable:
    """Every experiment with the labels it covers."""
    told = {
        name: "with and without" if name in WITH_MODEL else "without" for name in MODULES
    } | dict.fromkeys(NEEDS_MODEL, "needs --llm")
    asks = {name: experiment(name).asks for name in MODULES} | {
        name: experiment(name, True).asks for name in NEEDS_MODEL
    }
    rows = [(name, asks[name], model, ", ".join(labels_of(name))) for name, model in told.items()]
    says = (
        "gnrs experiment NAME; with a language model: NAME --llm, and --dry-run says first what it would "
        "ask; all --no-llm runs those that need none, all --llm those with one."
    )
    columns = (Column("name"), Column("asks"), Column("model"), Column("covers in the paper"))
    return ResultTable("experiments", "Experiments", says, columns, rows)


def show_tables(tables: Sequence[ResultTable]) -> None:
    """Tables on standard output."""
    from gnrs_ppl.terminal import console

    out = console(200)
    for table in tables:
        show(table, out)


def show_outcomes(outcomes: Sequence[Outcome]) -> None:
    """Tables, notes, and where everything lies."""
    from gnrs_ppl.terminal import console, shown

    out = console(200)
    for outcome in outcomes:
        show_tables(outcome.report.tables)
        for note in outcome.summary["notes"]:
            out.print(shown(f"note: {note}"))
        out.print(shown(f"wrote {outcome.folder}", style="dim"))


def as_json(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Summaries with the tables' cells."""
    return [
        outcome.summary | {"folder": str(outcome.folder), "tables": tables_json(outcome.report.tables)}
        for outcome in outcomes
    ]


def tables_json(tables: Sequence[ResultTable]) -> dict[str, Any]:
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


def compared(folders: Sequence[Path]) -> list[ResultTable]:
    """Two runs compared; marked where the scripted server had a part in one.

    Raises
    ------
    InputError
        More or fewer than two folders; as :func:`~gnrs_ppl.experiments.compare.compare`.
    """
    if len(folders) != 2:
        raise InputError(
            "compare takes two folders", "such as out/dev/main out/other/main", source="arguments"
        )
    found = compare(folders[0], folders[1])
    if not any(row.get("scripted") for folder in folders for row in read_rows(folder)):
        return found
    return list(marked(Report(found)).tables)
