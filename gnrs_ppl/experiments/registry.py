"""Every experiment by name, in the order in which all of them run; a module is imported when its experiment
is asked for.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module

from gnrs_ppl.errors import InputError
from gnrs_ppl.experiments.runner import Experiment

MODULES: dict[str, str] = {
    "main": "main",
    "ablations": "ablations",
    "ood": "main:OOD",
    "hard_ok_audit": "hard_ok_audit",
    "bootstrap": "bootstrap",
    "slots": "slots",
    "pools": "pools",
    "candidate_sources": "candidate_sources",
    "schema_noise": "schema_noise",
    "realcharter": "cards",
    "metric_sensitivity": "metric_sensitivity",
    "contrasts": "contrasts",
    "plane": "plane",
    "aog": "aog",
    "examples": "examples",
    "failure_modes": "failure_modes",
    "posterior_questions": "posterior_questions",
}
"""Name -> module of this package, and what it calls the experiment there where that is not ``EXPERIMENT``."""
WITH_MODEL: dict[str, str] = {
    "main": "rubric_scores:MAIN",
    "ablations": "rubric_scores:ABLATIONS",
    "ood": "rubric_scores:OOD",
    "polish": "rubric_scores:POLISH",
    "realcharter": "cards",
    "slots": "slots",
    "schema_noise": "schema_noise",
    "cross_model": "cross_model",
    "second_evaluator": "second_evaluator",
    "human_calibration": "human_calibration",
    "executability": "executability",
    "bootstrap": "bootstrap",
    "metric_sensitivity": "metric_sensitivity",
    "candidate_sources": "candidate_sources",
    "hard_ok_audit": "hard_ok_audit",
    "contrasts": "contrasts",
    "plane": "plane",
    "examples": "examples",
    "failure_modes": "failure_modes",
    "judge_error": "judge_error",
}
"""The same with a model; ``WITH_MODEL`` unless another name is given."""
NEEDS_MODEL = tuple(name for name in WITH_MODEL if name not in MODULES)
"""Experiments of the paper that need a model that writes, a judge, or people."""


def experiment(name: str, llm: bool = False) -> Experiment:
    """The experiment of a name, in which a hyphen is an underscore, without a model or with one.

    Raises
    ------
    InputError
        No such experiment (the line names the nearest), or one that is only to be had the other way.
    """
    name = name.replace("-", "_")
    if name not in MODULES and name not in WITH_MODEL:
        near = get_close_matches(name, [*MODULES, *NEEDS_MODEL], 1)
        raise InputError(
            "is no experiment",
            f"did you mean {near[0]!r}?" if near else "see gnrs experiment list",
            source=name,
        )
    if llm and name not in WITH_MODEL:
        raise InputError(
            "runs without a model here", f"leave --llm out, or choose {', '.join(WITH_MODEL)}", source=name
        )
    if not llm and name not in MODULES:
        raise InputError(
            "needs a model", "add --llm; gnrs experiment list shows what runs without one", source=name
        )
    home, _, attribute = (WITH_MODEL if llm else MODULES)[name].partition(":")
    module = import_module(f"gnrs_ppl.experiments.{home}")
    found: Experiment = getattr(module, attribute or ("WITH_MODEL" if llm else "EXPERIMENT"))
    return found


def experiments(llm: bool = False) -> dict[str, Experiment]:
    """All that run without a model, or all with one, by name."""
    return {name: experiment(name, llm) for name in (WITH_MODEL if llm else MODULES)}


def labels_of(name: str) -> list[str]:
    """The paper's tables and figures that an experiment covers."""
    from gnrs_ppl.experiments.published import index

    return [
        e.label
        for e in index()
        if e.covered_by == name or (e.kind == "text" and name in e.covered_by.replace(",", "").split())
    ]
