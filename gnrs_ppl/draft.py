"""From goal and records to a rule: the paper's Method section in code, in its order.

    C_k(x)                     candidate construction    candidates/
    A(x) = Π C_k(x)            the And-Or Graph          models/graph.py
    a* = argmax s_search       structured search         search.py
    y = R(a*)                  realization               realize/
    ε_S, ε_R, ρ, HARD-OK       reported beside it        certificate.py, evaluate/

:func:`draft_many` below is all of it; what a person or a machine is told of the outcome is in ``report/``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gnrs_ppl import progress
from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.certificate import Certificate, certify
from gnrs_ppl.context.load import SOURCES, Context
from gnrs_ppl.context.types import Goal, RecordLayer
from gnrs_ppl.errors import AmbiguousSentence, InputError, NoFeasibleStructure, Refused
from gnrs_ppl.rule.types import Structure
from gnrs_ppl.search import Search, search_graphs

if TYPE_CHECKING:
    from collections.abc import Sequence

    import xarray as xr

    from gnrs_ppl.audit.needs import Needed
    from gnrs_ppl.calibration.weights import Weights
    from gnrs_ppl.candidates.build import Built
    from gnrs_ppl.candidates.grounding import Dropped
    from gnrs_ppl.candidates.model_reader import ReadAlong
    from gnrs_ppl.candidates.proposed import Proposed
    from gnrs_ppl.evaluate.grounding import Grounding
    from gnrs_ppl.inference.result import Ranked
    from gnrs_ppl.llm import Answer, Model
    from gnrs_ppl.posterior.answers import Answers
    from gnrs_ppl.posterior.condition import Pin
    from gnrs_ppl.reading import Readings
    from gnrs_ppl.realize.polish import Polished, Version

FILES = ("rule.txt", "rule.json", "draft.json", "posterior.nc")
"""What a draft is saved as."""
SAME_SCORE = 1e-6
"""Scores nearer than this are one: the chains add in single precision."""


def draft(
    context: Context | str | Path,
    *,
    chains: int = 64,
    steps: int = 200,
    seed: int = 0,
    kernel: str = "metropolis",
    weights: Weights | None = None,
    alternatives: int = 3,
    model: Model | None = None,
    polish: Version | None = None,
    pins: Sequence[Pin] = (),
    answers: Answers | None = None,
) -> Draft:
    """Draft a rule for a context.

    Parameters
    ----------
    context : Context or path
        What the rule is for and what the records can show.
    chains, steps : int
        Parallel chains, and Metropolis steps in each (the paper: 200).
    seed : int
        Same seed, same machine: same draft, timings aside.
    kernel : {"metropolis", "gibbs", "informed", "tempering", "smc", "exact", "cpsat"}
        Sampler; ``exact`` draws independently from the exact posterior, ``cpsat`` samples nothing and
        searches with OR-Tools.
    weights : Weights, optional
        w of s_search; those fitted on the dev goals unless given. Posterior draws in them are averaged over.
    alternatives : int
        Runner-up structures to report.
    model : Model, optional
        A language model that reads the sentence too and proposes further candidates; its answers never reach
        the rule but through the typed slots.
    polish : {"v1", "v2"}, optional
        With a model: the paper's prompt by which it arranges the text's phrases, if the payload guard finds
        each where it means the same.
    pins : sequence of Pin
        What the rule must or must not say, as :func:`~gnrs_ppl.posterior.condition.read_pins` reads it; all
        that is drawn, ranked and counted is conditioned on it.
    answers : Answers, optional
        What people said of cases of the log and of parts of the sentence, as
        :func:`~gnrs_ppl.posterior.answers.read_answers` reads it; the rule is then the most probable given
        them.

    Returns
    -------
    Draft

    Raises
    ------
    InputError
        Bad context, a request that would not fit, or a pin on what no candidate says.
    NoFeasibleStructure
        Every structure breaks a hard condition; the line names those that block and a remedy. With pins also
        the nearest rule.
    Refused
        The sentence asks what these records cannot hold, the chosen rule cannot be checked on them, or says
        none of the statements that were read.
    AmbiguousSentence
        The sentence may mean several things; it holds them, and :func:`of_reading` chooses one.
    """
    one = context if isinstance(context, Context) else load_context(context)
    return draft_many(
        [one],
        chains=chains,
        steps=steps,
        seed=seed,
        kernel=kernel,
        weights=weights,
        alternatives=alternatives,
        model=model,
        polish=polish,
        pins=pins,
        answers=answers,
    )[0]


def draft_many(
    contexts: Sequence[Context | str | Path],
    *,
    chains: int = 64,
    steps: int = 200,
    seed: int = 0,
    kernel: str = "metropolis",
    weights: Weights | None = None,
    alternatives: int = 3,
    model: Model | None = None,
    polish: Version | None = None,
    pins: Sequence[Pin] = (),
    answers: Answers | None = None,
) -> list[Draft]:
    """Draft a rule for each of several contexts; their chains run in one program, and each draft is what
    :func:`draft` gives.

    Parameters
    ----------
    contexts : sequence of Context or path
    chains, steps, seed, kernel, weights, alternatives, model, polish, pins, answers
        As for :func:`draft`; a model is asked about all contexts at once, and pins and answers hold for each.

    Raises
    ------
    GnrsError
        As :func:`draft`, for the first context that fails.
    """
    from gnrs_ppl.calibration.weights import frozen_weights
    from gnrs_ppl.candidates.build import pools_of
    from gnrs_ppl.models.graph import compile_graph
    from gnrs_ppl.posterior.condition import condition

    weights = weights or frozen_weights()
    given = [c if isinstance(c, Context) else load_context(c) for c in contexts]
    progress.stage("reading the sentence")
    # The goal's sentence, read before anything is proposed; what these records cannot hold is refused.
    given = read_too(given, model, seed)
    for context in given:
        refuse(context)
    if polish is not None and model is None:
        raise InputError(
            "polish needs a language model", "name one with model=", source="arguments", field="polish"
        )

    # Candidate construction. C_k(x): templates, schema, records and a model's proposals, less what rests on a
    # zero.
    progress.stage("collecting candidates")
    proposed = _proposed(given, model, seed)
    built, graphs = [], []
    for context, proposals in zip(given, proposed, strict=True):
        built.append(pools_of(context, proposals.proposals if proposals else (), [*map(str, pins)]))
        # A(x) = Π C_k(x), as a factor graph.
        graphs.append(condition(compile_graph(context, built[-1].pools), pins, weights))

    # Structured search. a* = argmax over A(x) of s_search(a; x) = wᵀφ(a, x) − λ·1[¬h(a, x)].
    searches = search_graphs(graphs, chains=chains, steps=steps, seed=seed, kernel=kernel, weights=weights)

    if answers is not None and answers.given:
        from gnrs_ppl.posterior.chosen import choose

        searches = [
            replace(search, answered=choose(context, search.graph, weights, answers))
            for context, search in zip(given, searches, strict=True)
        ]

    progress.stage("writing the rule and its check")
    # Realization. y = R(a*), its check on the records, and what is reported beside it.
    drafts = [
        _realized(*parts, alternatives=alternatives, pins=tuple(pins))
        for parts in zip(given, built, searches, proposed, strict=True)
    ]
    if not pins and answers is None:
        for one in drafts:
            _refuse_neighbour(one)
    # Polish that keeps every payload, or the text as it was.
    return drafts if model is None or polish is None else _polished(drafts, model, polish, seed)


def of_rule(context: Context, number: int) -> Context:
    """The context whose draft is one of the rules that the goal's sentence states; the sentence alone says
    what is asked.

    Parameters
    ----------
    context : Context
        Its goal's fields and hand-listed pools are for one rule, so they are left out; values stay.
    number : int
        From 1.

    Raises
    ------
    InputError
        The sentence states fewer rules.
    """
    rules = rules_stated(context)
    if not 1 <= number <= rules:
        problem = (
            "the goal's sentence states one rule"
            if rules == 1
            else f"the goal's sentence states {rules} rules"
        )
        raise InputError(
            problem,
            f"name one of 1 to {rules}; gnrs read shows them",
            source="arguments",
            field="--statement",
        )
    sentence = {name: getattr(context.goal, name) for name in ("id", "intent", "read_as", "values")}
    goal = Goal.model_validate(sentence)
    return replace(context, goal=goal, pools=None, rule=number - 1, scene=context.scene or context)


def of_reading(context: Context, number: int) -> Context:
    """The context whose goal's sentence means one of the things that it may mean, as a person chose.

    Parameters
    ----------
    context : Context
    number : int
        From 1, the most probable.

    Raises
    ------
    InputError
        The sentence can be read in fewer ways.
    """
    from gnrs_ppl.reading.goal import readings_of
    from gnrs_ppl.reading.opinions import duty_lines

    ways = readings_of(context).ways
    if not 1 <= number <= len(ways):
        problem = f"the sentence can be read in {len(ways)} way{'s' * (len(ways) > 1)}"
        raise InputError(problem, f"name one of 1 to {len(ways)}", source="arguments", field="--reading")
    goal = context.goal.model_copy(update={"read_as": duty_lines(ways[number - 1])})
    return replace(context, goal=goal, scene=context.scene or context)


def of_sources(context: Context, sources: Sequence[str]) -> Context:
    """The context whose candidates come of some deterministic sources only.

    Parameters
    ----------
    context : Context
    sources : sequence of str
        Of ``reading``, ``template``, ``schema`` and ``record``; the last three are the paper's.

    Raises
    ------
    InputError
        No source, or an unknown one.
    """
    unknown = [name for name in sources if name not in SOURCES]
    if unknown or not sources:
        problem = f"{', '.join(map(repr, unknown))} is no source" if unknown else "names no source"
        raise InputError(problem, f"name some of {', '.join(SOURCES)}", source="arguments", field="--sources")
    return replace(context, sources=tuple(name for name in SOURCES if name in sources))


def read_too(contexts: Sequence[Context], model: Model | None, seed: int = 0) -> list[Context]:
    """The contexts with their goals' sentences read by a model too, where there is one; those that were
    already are left as they are.
    """
    if model is None:
        return list(contexts)
    from gnrs_ppl.candidates.model_reader import with_model

    return with_model(contexts, model, seed=seed)


def rules_stated(context: Context) -> int:
    """How many rules the goal's sentence states, at least one."""
    from gnrs_ppl.reading.goal import readings_of, rules_of

    return max(len(rules_of(readings_of(context))), 1)


def refuse(context: Context) -> None:
    """Raise what speaks against the goal's sentence on these records, before anything is searched.

    Raises
    ------
    Refused
        These records cannot hold it, however it is read.
    AmbiguousSentence
        It may mean several things.
    """
    from gnrs_ppl.candidates.refusals import refusal
    from gnrs_ppl.reading.goal import readings_of, states_fields

    if "reading" not in context.sources:
        return
    readings = readings_of(context)
    asks = readings.unsure and not states_fields(context)
    refused = [refusal(context, way) for way in (readings.ways if asks else (readings,))]
    if all(refused) and refused[0] is not None:
        raise refused[0]
    if asks:
        from gnrs_ppl.realize.lexicon import Lexicon
        from gnrs_ppl.report.reading import rows_in_words
        from gnrs_ppl.report.reading_clause import in_words

        lexicon = Lexicon.of(context.schema, context.records)
        ways = readings.ways
        raise AmbiguousSentence(
            [in_words(way, lexicon) for way in ways],
            [way.probability for way in ways],
            [rows_in_words(way, context) for way in ways],
        )


def _refuse_neighbour(draft: Draft) -> None:
    """Raise where the sentence is all there is and a rule says none of what was read of it."""
    from gnrs_ppl.models.statements import says
    from gnrs_ppl.reading.goal import LEAST_SHARE, rules_of, states_fields

    rule, read = draft.structure, draft.readings.statements
    if states_fields(draft.context) or not read:
        return
    stated = rules_of(draft.readings)[draft.context.rule]
    if any(draft.said[number] for number in stated):
        return
    told = "says none of the statements that were read"
    best, reached = draft.search.optimum, draft.search.s_search
    if best is not None and reached < best - SAME_SCORE:
        raise NoFeasibleStructure(
            f"the best rule that a chain reached {told}, and there is a better one; try more --steps or "
            "--chains, or --kernel exact"
        )
    rivals = [r for number in stated for r in read[number].readings if r.probability >= LEAST_SHARE]
    if any(says(rule.trigger, rule.norm, reading) for reading in rivals):
        return
    raise Refused(
        f"the best rule on these records {told}",
        "say it otherwise, or name with --fix what it must say",
        reason="none_said",
    )


def _proposed(contexts: Sequence[Context], model: Model | None, seed: int) -> Sequence[Proposed | None]:
    if model is None:
        return [None] * len(contexts)
    from gnrs_ppl.candidates.proposed import propose

    return propose(contexts, model, seed=seed)


def _realized(
    context: Context,
    built: Built,
    search: Search,
    proposed: Proposed | None,
    *,
    alternatives: int,
    pins: tuple[Pin, ...],
) -> Draft:
    """The chosen structure as text, as a check, and with what is reported beside it."""
    from gnrs_ppl.audit.checkable import check
    from gnrs_ppl.audit.compile import compile_rule
    from gnrs_ppl.audit.needs import rows_needed
    from gnrs_ppl.evaluate.grounding import grounding
    from gnrs_ppl.models.features import feature_vector
    from gnrs_ppl.realize.lexicon import Lexicon
    from gnrs_ppl.realize.recover import recovered
    from gnrs_ppl.realize.text import render

    words, dates_only = Lexicon.of_context(context), context.resolved.dates_only
    structure = search.graph.structure(search.best)
    lexicon = words.including(structure)  # the words an audit of the rule has too
    text = render(structure, lexicon, dates_only=dates_only)
    lost = recovered(structure, text, lexicon)  # what the parser does not read back
    plan = check(
        structure, context.resolved, context.log
    )  # the query that finds the violations in the logs the rule cites

    def alternative(ranked: Ranked) -> Alternative:
        other = search.graph.structure(ranked.position)
        text = render(other, words.including(other), dates_only=dates_only)
        phi = feature_vector(other, search.graph.facts)
        return Alternative(ranked.probability, ranked.score, text, search.changes(ranked.position), phi)

    return Draft(
        context=context,
        built=built,
        search=search,
        structure=structure,
        text=text,
        grounding=grounding(structure, context),
        certificate=certify(search, len(lost)),
        alternatives=tuple(map(alternative, search.runners_up(alternatives))),
        assumptions=plan.assumptions,
        findings=context.log.findings + plan.findings,
        sql=compile_rule(plan).sql,
        needs=rows_needed(plan) if context.records.prospective else (),
        proposed=proposed,
        pins=pins,
    )


def _polished(drafts: Sequence[Draft], model: Model, version: Version, seed: int) -> list[Draft]:
    from gnrs_ppl.realize.lexicon import Lexicon
    from gnrs_ppl.realize.polish import RenderedRule, polish

    words = [Lexicon.of_context(d.context).including(d.structure) for d in drafts]
    rules = [
        RenderedRule(d.structure, d.text, known, d.records.dates_only)
        for d, known in zip(drafts, words, strict=True)
    ]
    polished = polish(rules, model, version, seed=seed)
    return [
        replace(
            draft,
            text=one.text,
            polished=one,
            certificate=draft.certificate._replace(polished=one.text != draft.text),
        )
        for draft, one in zip(drafts, polished, strict=True)
    ]


class Alternative(NamedTuple):
    """A runner-up structure with its exact probability at the search's :attr:`Search.temperature`."""

    probability: float
    s_search: float
    text: str
    changes: dict[str, tuple[str, str]]
    features: dict[str, float]

    @property
    def differs(self) -> str:
        """Which slots it fills otherwise, as option labels."""
        return "; ".join(f"{slot}: {mine} → {other}" for slot, (mine, other) in self.changes.items())


@dataclass(frozen=True)
class Draft:
    """A drafted rule and everything one may ask of it."""

    context: Context
    built: Built
    search: Search
    structure: Structure
    text: str
    grounding: Grounding
    certificate: Certificate
    alternatives: tuple[Alternative, ...]
    assumptions: tuple[str, ...]
    findings: tuple[str, ...]
    sql: str
    needs: tuple[Needed, ...] = ()
    proposed: Proposed | None = None
    polished: Polished | None = None
    pins: tuple[Pin, ...] = ()

    @property
    def goal(self) -> Goal:
        """The goal the rule is for."""
        return self.context.goal

    @property
    def records(self) -> RecordLayer:
        """The record layer that the rule is checked on."""
        return self.context.resolved

    @cached_property
    def readings(self) -> Readings:
        """The goal's sentence, as read."""
        from gnrs_ppl.reading.goal import readings_of

        return readings_of(self.context)

    @cached_property
    def said(self) -> tuple[bool, ...]:
        """Of each statement that was read, whether the rule says it."""
        from gnrs_ppl.models.statements import statements_said
        from gnrs_ppl.reading.agreement import data_said

        said = statements_said(self.structure, self.readings)
        read = self.readings.statements
        return tuple(one and data_said(self.structure, s.best) for one, s in zip(said, read, strict=True))

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """A line for each role that the sentence names and the rule leaves out, and for each that the schema
        does not know.
        """
        from gnrs_ppl.candidates.persons import left_out

        return left_out(self.context, self.structure, self.readings)

    @cached_property
    def said_beside(self) -> dict[str, bool]:
        """Whether the rule's evidence and procedure are as the sentence says, where it says something."""
        from gnrs_ppl.candidates.beside import beside_those_named, evidence_of, procedure_of
        from gnrs_ppl.candidates.source import Material
        from gnrs_ppl.reading.agreement import bound_by, evidence_said, procedure_said

        evidence, procedure, rule = evidence_of(self.readings), procedure_of(self.readings), self.structure
        told = dict[str, bool]()
        if evidence:
            also = beside_those_named(rule, Material(self.context))
            told["evidence"] = evidence_said(rule.evidence, evidence, also)
        if procedure:
            told["procedure"] = procedure_said(rule.procedure, procedure, bound_by(rule))
        return told

    @cached_property
    def posterior(self) -> xr.DataTree:
        """The chains as an ArviZ DataTree."""
        tree = self.search.datatree()
        tree.attrs |= {"scripted": 1} if self.scripted else {}
        return tree

    @property
    def model_said(self) -> list[ReadAlong | Proposed]:
        """What a model read and what it proposed, where one was asked."""
        return [part for part in (self.context.read_along, self.proposed) if part is not None]

    @property
    def dropped(self) -> list[Dropped]:
        """Candidates that the filter refused, a model's readings and proposals among them."""
        return [*self.built.dropped, *(item for part in self.model_said for item in part.dropped)]

    @property
    def answers(self) -> tuple[Answer[Any], ...]:
        """What language models said on the way to this draft, in the order of asking."""
        return (*(part.answer for part in self.model_said), *(self.polished.answers if self.polished else ()))

    @property
    def scripted(self) -> bool:
        """Whether the scripted server had a part in it: then it is no result, and every file that is saved
        says so.
        """
        return any(answer.scripted for answer in self.answers)

    def language_model(self) -> dict[str, Any] | None:
        """Which models were asked what, at what cost; None where none was. ``cost`` is in US dollars, None
        where a price is unknown.
        """
        from gnrs_ppl.report.data import language_model

        return language_model(self)

    def slots(self) -> list[tuple[str, str, str]]:
        """Slot, chosen option, and its content in one line."""
        from gnrs_ppl.report.data import slot_lines

        return slot_lines(self)

    def as_dict(self) -> dict[str, Any]:
        """The JSON of ``gnrs draft``."""
        from gnrs_ppl.report.data import draft_data

        return draft_data(self)

    def save(self, folder: Path) -> list[Path]:
        """Write ``FILES`` and a manifest, all or nothing; gives the files' paths."""
        from gnrs_ppl.report.data import save_draft

        return save_draft(self, folder)
