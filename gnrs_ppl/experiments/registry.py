"""Every experiment by name, in the order in which all of them run; a module is imported when its experiment is asked for."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING

from gnrs_ppl.errors import InputError
from gnrs_ppl.experiments.runner import Experiment

if TYPE_CHECKING:
    from gnrs_ppl.experiments.studies import Study

MODULES: dict[str, str] = {
    "main": "main",
    "ablations": "ablations",
    "ood": "ood",
    "hard_ok_audit": "hard_ok_audit",
    "bootstrap": "bootstrap",
    "slots": "slots",
    "pools": "pool_tables",
    "candidate_sources": "candidate_sources",
    "schema_noise": "schema_noise",
    "realcharter": "charters",
    "metric_sensitivity": "metric_sensitivity",
    "contrasts": "contrasts",
    "plane": "plane",
    "aog": "aog",
    "examples": "examples",
    "failure_modes": "failure_modes",
}
"""Name -> module of this package."""
STUDIES: dict[str, str] = {
    "main": "rubric_scores",
    "ablations": "rubric_scores",
    "ood": "rubric_scores",
    "slots": "slot_rubrics",
    "cross_model": "cross_model",
    "second_evaluator": "second_evaluator",
    "human_calibration": "human_calibration",
    "executability": "executability",
    "bootstrap": "rubric_margins",
    "metric_sensitivity": "rubric_margins",
}
"""What there is with a model: name -> module of this package."""
NEEDS_MODEL = tuple(name for name in STUDIES if name not in MODULES)
"""Experiments of the paper that need a model that writes, a judge, or people."""


def experiment(name: str) -> Experiment:
    """The experiment of a name.

    Raises
    ------
    InputError
        No such experiment (the line names the nearest), or one that needs a model.
    """
    if name in NEEDS_MODEL:
        raise InputError("needs a model", "add --llm; gnrs experiment list shows what runs without one", source=name)
    if name not in MODULES:
        near = get_close_matches(name, [*MODULES, *NEEDS_MODEL], 1)
        raise InputError("is no experiment", f"did you mean {near[0]!r}?" if near else "see gnrs experiment list", source=name)
    found: Experiment = import_module(f"gnrs_ppl.experiments.{MODULES[name]}").EXPERIMENT
    return found


def study(name: str) -> Study:
    """What an experiment is with a model.

    Raises
    ------
    InputError
        No such experiment (the line names the nearest), or one that runs without.
    """
    if name not in STUDIES:
        if name not in MODULES:
            experiment(name)
        raise InputError("runs without a model here", f"leave --llm out, or choose {', '.join(STUDIES)}", source=name)
    found: Study = import_module(f"gnrs_ppl.experiments.{STUDIES[name]}").STUDIES[name]
    return found


def studies() -> dict[str, Study]:
    """All with a model, by name."""
    return {name: study(name) for name in STUDIES}


def experiments() -> dict[str, Experiment]:
    """All that run without a model, by name."""
    return {name: experiment(name) for name in MODULES}


def labels_of(name: str) -> list[str]:
    """The paper's tables and figures that an experiment covers."""
    from gnrs_ppl.experiments.published import index

    return [e.label for e in index() if e.covered_by == name or (e.kind == "text" and name in e.covered_by.replace(",", "").split())]
