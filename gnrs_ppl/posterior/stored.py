"""A draft that was saved, made again up to its posterior: the same context, pools, pins and weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ConfigDict, Field

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.calibration.weights import Weights, weights_named
from gnrs_ppl.candidates.build import pools_of
from gnrs_ppl.context.files import read_data, validated
from gnrs_ppl.context.load import Context
from gnrs_ppl.context.output import check_written
from gnrs_ppl.context.types import Frozen, Goal
from gnrs_ppl.errors import InputError
from gnrs_ppl.models.graph import AndOrGraph, compile_graph
from gnrs_ppl.posterior.answers import Answers, CaseAnswer, PartAnswer, together
from gnrs_ppl.posterior.condition import Pin, condition
from gnrs_ppl.posterior.mass import Mass
from gnrs_ppl.posterior.uncertain import checked
from gnrs_ppl.rule.canonical import canonical, dumps
from gnrs_ppl.rule.types import SLOTS, Structure

AGAIN = "draft it again with gnrs draft --out"


class _Part(Frozen):
    model_config = ConfigDict(extra="ignore", populate_by_name=True)


class _Pin(_Part):
    kind: str
    place: str
    value: str


class _Answers(_Part):
    error: float
    answers: list[CaseAnswer | PartAnswer]


class _Request(_Part):
    context: str
    own_pools: bool = False
    log: str | None = None
    pins: list[_Pin] = Field(default_factory=list)
    answers: _Answers | None = None


class _Weights(_Part):
    origin: str
    values: list[float]
    temperature: float | None = None
    draws: int = 0


class _Score(_Part):
    weights: _Weights


class _Reading(_Part):
    rule: int = 1


class _DraftFile(_Part):
    goal: Goal
    request: _Request
    structure: Structure
    score: _Score
    reading: _Reading = _Reading()
    llm: Any = None


class Stored(NamedTuple):
    """What a saved draft was drawn from.

    Attributes
    ----------
    context : Context
    graph : AndOrGraph
        Conditioned on the pins.
    weights : Weights
    pins : tuple of Pin
    structure : Structure
        The rule that was drafted.
    answers : Answers
        What people said before it was.
    """

    context: Context
    graph: AndOrGraph
    weights: Weights
    pins: tuple[Pin, ...]
    structure: Structure
    answers: Answers

    def weighed(self, held: Mass, report: Callable[[str], None] = lambda said: None) -> Mass:
        """A mass of the graph weighed by the answers."""
        if not self.answers.given:
            return held
        found = checked(held, self.context.resolved, self.context.log, report)
        return held.updated(*together(self.answers, held, found))


def stored(folder: Path, context: Path | None = None, weights: str | None = None) -> Stored:
    """The context, graph and weights of a draft that ``gnrs draft --out`` saved.

    Parameters
    ----------
    folder : Path
        Of the draft.
    context : Path, optional
        Where its context is now; where it was, unless given.
    weights : str, optional
        Other weights, as ``weights_named`` takes them; its own unless given.

    Raises
    ------
    InputError
        No such draft, or half of one; a language model had a part in its candidates; context or log have
        changed since.
    """
    path = folder / "draft.json"
    check_written(path, AGAIN)
    data = read_data(path)
    if "request" not in data:
        raise InputError("does not say what was asked", AGAIN, source=str(path), field="request")
    file = validated(_DraftFile, data, source=str(path))
    if file.llm is not None:
        raise InputError(
            "a language model had a part in it, and its candidates are not kept",
            "draft it again without --llm",
            source=str(path),
            field="llm",
        )
    place = context or Path(file.request.context)
    if not place.exists() and context is None and place.suffix:
        raise InputError(
            f"its context {str(place)!r} is not there",
            "name the context: gnrs audit CONTEXT --posterior DRAFT",
            source=str(path),
            field="request.context",
        )
    loaded = load_context(place, goalless=True)
    if loaded.goal != file.goal:
        # a sentence, or one of several rules, was drafted in place of the context's goal
        loaded = replace(loaded, goal=file.goal, rule=file.reading.rule - 1, scene=loaded)
    if not file.request.own_pools:
        loaded = replace(loaded, pools=None)
    if not loaded.records.prospective and loaded.log.fingerprint != file.request.log:
        raise InputError("was drafted on another log than its context names now", AGAIN, source=str(path))
    chosen = weights_named(weights) if weights is not None else _weights(file.score.weights)
    pins = tuple(Pin("fix" if p.kind == "fix" else "without", p.place, p.value) for p in file.request.pins)
    graph = condition(compile_graph(loaded, pools_of(loaded, (), [*map(str, pins)]).pools), pins, chosen)
    _require_same(graph, file.structure, path)
    told = file.request.answers
    answers = Answers(tuple(told.answers), told.error) if told else Answers()
    return Stored(loaded, graph, chosen, pins, file.structure, answers)


def _weights(file: _Weights) -> Weights:
    if file.draws:
        return weights_named("posterior")
    return Weights(tuple(file.values), file.origin, file.temperature)


def _require_same(graph: AndOrGraph, structure: Structure, path: Path) -> None:
    """Refuse a draft whose rule its context no longer gives."""
    whole = canonical(structure)
    for slot, options in zip(SLOTS, graph.options, strict=True):
        wanted = dumps(getattr(whole, slot))
        if all(dumps(option.content) != wanted for option in options):
            raise InputError(
                f"its context has changed: no {slot} candidate says what its rule does",
                AGAIN,
                source=str(path),
                field=f"structure.{slot}",
            )
