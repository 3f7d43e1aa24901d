"""Four methods with several generators and one judge (paper, Table crossmodel).

Each generator has a folder of its own, so that others can be added later. A generator whose column is not
complete is left out, as in the paper, and the page says why.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gnrs_ppl.context.output import write_all
from gnrs_ppl.errors import InputError
from gnrs_ppl.evaluate.rubrics import overall
from gnrs_ppl.experiments.judging import GENERATORS, generators
from gnrs_ppl.experiments.methods import OURS, cells
from gnrs_ppl.experiments.metric_sensitivity import judged_points
from gnrs_ppl.experiments.parts import as_printed
from gnrs_ppl.experiments.rows import Row
from gnrs_ppl.experiments.runner import Experiment, ExperimentRequest, Report, Run
from gnrs_ppl.experiments.tables import CellValue, ResultTable, heads
from gnrs_ppl.experiments.writers import ROLES, WRITERS, making, model_of
from gnrs_ppl.llm import OpenAIModel

NAME = "cross_model"
METHODS = ("Direct Prompting", "Self-Refine", "No LLM candidates", OURS)


def make(request: ExperimentRequest, folder: Path) -> Sequence[str]:
    """Rows and marks of every generator; a generator that fails is noted.

    Raises
    ------
    InputError
        No generator came through: what went wrong with the first.
    """
    model = model_of(request)
    names = request.generators or (model.settings.model("generator"),)
    known = {name: _folder(name) for name in names}
    standing = {name: Path(place).name for place, name in generators(folder.parent).items()}
    listed = {place: name for name, place in (standing | known).items()}
    write_all(folder, [(GENERATORS, json.dumps(listed, indent=2).encode())])
    failed: dict[str, InputError] = {}
    for name, place in known.items():
        try:
            making(METHODS, NAME)(request._replace(model=_with_generator(model, name)), folder / place)
        except InputError as error:
            failed[name] = error
    if len(failed) == len(known):
        raise next(iter(failed.values()))
    return [f"{name} came to an end before it was complete: {error}" for name, error in failed.items()]


def _with_generator(model: OpenAIModel, name: str) -> OpenAIModel:
    """The same with another generator, which also polishes what it proposed for."""
    models = {**model.settings.models, "generator": name, "polisher": name}
    return OpenAIModel(replace(model.settings, models=models), model.cache, model.costs)


def _folder(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9.-]+", "_", name).strip("._")[:80] or "generator"


def report(run: Run) -> Report:
    """OVERALL by generator and method, its parts, and the paper's grid."""
    found = {name: run.judged(place) for place, name in generators(run.out).items()}
    lacking = {name: _lacking(rows, run.request) for name, rows in found.items()}
    notes = [
        f"{name} is left out: {count} of its rows are missing or have no marks"
        for name, count in lacking.items()
        if count
    ]
    whole = {name: rows for name, rows in found.items() if not lacking[name]}
    says = "As printed; its generators are those of its time, behind their own interfaces."
    paper = as_printed("paper_cross_model", "The paper's cross-model grid", says, "crossmodel")
    return Report([grid(whole, run.request), parts(whole, run.request), paper], notes=notes)


def _lacking(rows: Sequence[Row], request: ExperimentRequest) -> int:
    wanted = cells(METHODS, request, WRITERS)
    there = {
        (row["method"], row["chains"], row["goal"], row["seed"])
        for row in rows
        if row["avg"] is not None or row["unmarked"]
    }
    return sum(cell not in there for cell in wanted)


def grid(found: dict[str, list[Row]], request: ExperimentRequest) -> ResultTable:
    """OVERALL, and the method less the best other."""
    entries: list[tuple[CellValue, ...]] = []
    for generator, rows in found.items():
        values = {name: overall(*point) for name, point in judged_points(rows, METHODS, request).items()}
        others = {name: value for name, value in values.items() if name != OURS}
        best = max(others, key=lambda name: others[name], default=None)
        gap = values[OURS] - others[best] if best and OURS in values else None
        entries.append((generator, *(values.get(name) for name in METHODS), gap, best))
    says = (
        "OVERALL in percent, one judge for all, at the fewest chains. No LLM candidates asks the generator "
        "to polish only. Incomplete generators are left out."
    )
    each = " | ".join(f"{name}:1" for name in METHODS)
    columns = heads(f"generator | {each} | {OURS} less the best other:1 | best other")
    return ResultTable("cross_model", "Cross-model grid", says, columns, entries)


def parts(found: dict[str, list[Row]], request: ExperimentRequest) -> ResultTable:
    """Avg and HARD-OK behind the grid."""
    entries = [
        (generator, name, *point)
        for generator, rows in found.items()
        for name, point in judged_points(rows, METHODS, request).items()
    ]
    columns, says = heads("generator | method | Avg:1 | HARD-OK, %:1"), "What the grid's OVERALL is made of."
    return ResultTable("cross_model_parts", "Avg and HARD-OK by generator", says, columns, entries)


WITH_MODEL = Experiment(
    NAME,
    "Does the order of methods hold with other generators?",
    report,
    make=make,
    roles=ROLES,
    methods=METHODS,
)
