"""Slot sensitivity by rubric: the interventions of ``slots``, marked by a judge as the template words them
(paper, Slot sensitivity).

No model writes here: the baseline is the goal's own optimum as the template renders it, and so is every
degraded rule.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gnrs_ppl.benchmarks.gnrs_bench import FAMILIES
from gnrs_ppl.experiments import runner, slots
from gnrs_ppl.experiments.judging import judge_rows
from gnrs_ppl.experiments.parts import RUBRIC_CHANGE
from gnrs_ppl.experiments.rows import Row, Rows, of, read_rows
from gnrs_ppl.experiments.runner import Experiment, ExperimentRequest, Report, Run
from gnrs_ppl.experiments.slots import OWN, SAME, SLOT_AND_KIND, interventions, printed_change
from gnrs_ppl.experiments.statistics import paired
from gnrs_ppl.experiments.tables import ResultTable, specified
from gnrs_ppl.experiments.writers import model_of
from gnrs_ppl.rule.types import SLOTS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "slots"


def make(request: ExperimentRequest, folder: Path) -> Sequence[str]:
    """The interventions, and marks for every text."""
    runner.generate(slots.EXPERIMENT, request._replace(model=None), folder)
    judge_rows(read_rows(folder), model_of(request), folder, repeats=request.repeats)
    return ()


def report(run: Run) -> Report:
    """Changes of the rubric by slot, and their heatmap by family."""
    rows = run.judged(NAME)
    return Report([effects(rows)], {"slot_rubrics": lambda: draw(rows)})


def effects(rows: Sequence[Row]) -> ResultTable:
    """Every intervention against the goal's own optimum."""
    before = of(rows, OWN).mean("avg")
    parts = [SLOT_AND_KIND, *RUBRIC_CHANGE, printed_change()]
    level = (
        "Nothing of the baseline was marked."
        if before is None
        else f"The baseline's own Avg is {before:.2f}."
    )
    says = (
        "Change of the rubric in points from the goal's own optimum, paired, all texts as the template words "
        f"them. {level} The paper prints the change for two slots, from a baseline of 49.65; distractors are "
        "of the family here, of all goals there."
    )
    return specified("slot_rubrics", "Slot sensitivity by rubric", says, interventions(rows), parts)


def _mean(changes: dict[str, float]) -> float | None:
    return sum(changes.values()) / len(changes) if changes else None


def draw(rows: Sequence[Row]) -> Figure:
    """Change of Avg by slot and family, as many distractors as candidates; a dash where nothing was
    marked.
    """
    from gnrs_ppl.experiments.plots import blank

    own = of(rows, OWN)
    families = [family for family in FAMILIES if family in set(own.families().values())]
    values = np.zeros((len(SLOTS), len(families)))
    for i, j in itertools.product(range(len(SLOTS)), range(len(families))):
        part = Rows(
            [row for row in of(rows, slots.method(SAME, SLOTS[i])).rows if row["family"] == families[j]]
        )
        change = _mean(paired(own.by_goal("avg"), part.by_goal("avg")))
        values[i, j] = np.nan if change is None else change
    figure = blank(1.1 * len(families) + 2.5, 3.8)
    greatest = max(1.0, *np.abs(values[~np.isnan(values)]).tolist())
    axes = figure.subplots()
    slots.panel(
        axes,
        values,
        SLOTS,
        families,
        "PuOr",
        (-greatest, greatest),
        "{:+.1f}",
        "change of rubric Avg, points (orange: loss)",
    )
    axes.set_xlabel("scene family")
    return figure


WITH_MODEL = {
    NAME: Experiment(
        NAME,
        "Which slot's content carries the rule, in the judge's eyes?",
        report,
        make=make,
        roles=("judge",),
    )
}
