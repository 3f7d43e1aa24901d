"""A handbook from goals: a rule for each that they state, chosen together (docs/charters.md).

:func:`draft_charter` is all of it: each rule's candidates as for a rule alone, its pool of best structures,
one factor graph over the pools, and the charter of greatest score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from gnrs_ppl import progress
from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.calibration.weights import Weights, frozen_weights
from gnrs_ppl.candidates.build import pools_of
from gnrs_ppl.charter.choose import Choice, choose
from gnrs_ppl.charter.institution import together, words_of
from gnrs_ppl.charter.pairs import PairRelation
from gnrs_ppl.charter.pins import RulePin, pinned
from gnrs_ppl.charter.relations import Relations, conflicting
from gnrs_ppl.charter.space import RulePool, best_structures
from gnrs_ppl.charter.terms import member
from gnrs_ppl.context.load import Context
from gnrs_ppl.context.types import RecordLayer, Schema
from gnrs_ppl.draft import of_rule, refuse, rules_stated
from gnrs_ppl.errors import GnrsError, InputError
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, contract
from gnrs_ppl.models.graph import AndOrGraph, compile_graph
from gnrs_ppl.reading.goal import readings_of, rules_of
from gnrs_ppl.reading.types import Reading
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.text import render
from gnrs_ppl.rule.types import Structure

POOL = 64
"""Structures of a rule that a charter chooses from."""


class Stated(NamedTuple):
    """One rule that a goal states, and the statements of the sentence that it is there for."""

    name: str
    context: Context
    statements: tuple[Reading, ...]


class Stopped(NamedTuple):
    """A rule that could not be drafted, and why."""

    name: str
    error: GnrsError


@dataclass(frozen=True)
class Clause:
    """A rule of a charter.

    Attributes
    ----------
    name : str
        Its goal's id, with a number where the goal states several rules.
    context : Context
        What it was drafted for.
    structure : Structure
    text : str
    s_search : float
        Its score alone.
    alone : Structure
        What would be drafted without the other rules.
    given_up : float
        How much s_search it lost to the others.
    probability, given_others : float
        Of its structure in its pool, whatever the other rules are, and given theirs.
    """

    name: str
    context: Context
    structure: Structure
    text: str
    s_search: float
    alone: Structure
    given_up: float
    probability: float
    given_others: float


@dataclass(frozen=True)
class Charter:
    """Rules that were chosen together.

    Attributes
    ----------
    clauses : tuple of Clause
    schema : Schema
    records : RecordLayer
        The words and the records that the rules share.
    pools : tuple of RulePool
    choice : Choice
    temperature : float
        Of the probabilities.
    stopped : tuple of Stopped
        Rules that could not be drafted.
    not_read : {goal: words}
        Words of each goal's sentence with content that no statement was read from.
    """

    clauses: tuple[Clause, ...]
    schema: Schema
    records: RecordLayer
    pools: tuple[RulePool, ...]
    choice: Choice
    temperature: float
    stopped: tuple[Stopped, ...]
    not_read: Mapping[str, tuple[str, ...]]
    pins: tuple[RulePin, ...] = ()

    @property
    def structures(self) -> tuple[Structure, ...]:
        """The rules."""
        return tuple(clause.structure for clause in self.clauses)

    @property
    def pairs(self) -> dict[tuple[int, int], PairRelation]:
        """How every two rules relate."""
        return self.choice.pairs

    @property
    def conflicts(self) -> list[tuple[int, int]]:
        """The rules that no case can keep both of."""
        return conflicting(self.pairs)

    @cached_property
    def lexicon(self) -> Lexicon:
        """Words for every name of the rules."""
        return words_of(self.structures, self.schema, self.records)

    def as_dict(self) -> dict[str, Any]:
        """``charter.json``."""
        from gnrs_ppl.report.charter import charter_data

        return charter_data(self)


def draft_charter(
    contexts: Sequence[Context | str | Path],
    *,
    pool: int = POOL,
    chains: int = 64,
    steps: int = 200,
    seed: int = 0,
    kernel: str = "gibbs",
    weights: Weights | None = None,
    pins: Sequence[RulePin] = (),
) -> Charter:
    """Draft the rules that several goals state, together: none that contradicts another, none twice.

    Parameters
    ----------
    contexts : sequence of Context or path
        Of one institution: names that several use mean the same.
    pool : int
        Structures of each rule to choose from, those of greatest s_search.
    chains, steps, seed, kernel
        Of the sampler, where the charters are too many to enumerate; any kernel of ``run_chains``.
    weights : Weights, optional
        w of s_search; those fitted on the dev goals unless given.
    pins : sequence of RulePin
        What rules must or must not say, each one rule or every rule whose candidates know it.

    Returns
    -------
    Charter

    Raises
    ------
    InputError
        Bad contexts, contexts that do not go together, or a pin on what no candidate says.
    GnrsError
        No rule could be drafted; the first rule's reason.
    """
    for name, many in {"pool": pool, "chains": chains, "steps": steps}.items():
        if many < 1:
            raise InputError(f"{many} asked for", "ask for at least 1", source="arguments", field=f"--{name}")
    weights = weights or frozen_weights()
    given = [c if isinstance(c, Context) else load_context(c) for c in contexts]
    schema, records = together(given)
    progress.stage("reading the sentences")
    rules = [one for context in given for one in rules_of_goal(context)]
    stated = {one.name: one for one in rules}
    if len(stated) < len(rules):
        name = next(name for name, many in Counter(one.name for one in rules).items() if many > 1)
        raise InputError(f"two rules are called {name!r}", "give the goals other ids", source="arguments")
    graphs, stopped = dict[str, AndOrGraph](), list[Stopped]()
    for name, one in stated.items():
        progress.stage(f"collecting candidates of {name}")
        try:
            refuse(one.context)
            graphs[name] = compile_graph(one.context, pools_of(one.context).pools)
        except GnrsError as error:
            stopped.append(Stopped(name, error))
    if not graphs:
        raise stopped[0].error
    kept = pinned(graphs, pins, weights)
    pools = _pools(kept, [stated[name] for name in kept], weights, pool)
    temperature = weights.temperature or SEARCH_TEMPERATURE
    choice = choose(
        pools,
        Relations(records),
        temperature=temperature,
        chains=chains,
        steps=steps,
        seed=seed,
        kernel=kernel,
    )
    clauses = [_clause(stated[own.name], own, choice, v) for v, own in enumerate(pools)]
    passed_over = {c.goal.id: words for c in given if (words := _not_read(c))}
    return Charter(
        tuple(clauses), schema, records, pools, choice, temperature, tuple(stopped), passed_over, tuple(pins)
    )


def _not_read(context: Context) -> tuple[str, ...]:
    readings = readings_of(context)
    return tuple(" ".join(readings.words(unread.span).split()) for unread in readings.unread)


def rules_of_goal(context: Context) -> list[Stated]:
    """The rules that a goal's sentence states; one that states one rule keeps its fields and pools."""
    name, rules = context.goal.id, rules_stated(context)
    said = rules_of(readings_of(context))
    statements = [tuple(readings_of(context).statements[i].best for i in one) for one in said] or [()]
    if rules == 1:
        return [Stated(name, context, statements[0])]
    return [
        Stated(f"{name}/{number}", of_rule(context, number), statements[number - 1])
        for number in range(1, rules + 1)
    ]


def _pools(
    graphs: Mapping[str, AndOrGraph], stated: Sequence[Stated], weights: Weights, size: int
) -> tuple[RulePool, ...]:
    """Each rule's best structures, with the statements of the whole charter that each says."""
    statements = [reading for one in stated for reading in one.statements]
    pools, first = [], 0
    for one, graph in zip(stated, graphs.values(), strict=True):
        own = frozenset(range(first, first + len(one.statements)))
        first += len(one.statements)
        structures, score, log_prior = best_structures(graph, contract(graph.space, weights.array()), size)
        members = tuple(member(structure, own, statements) for structure in structures)
        pools.append(RulePool(one.name, members, score, log_prior))
    return tuple(pools)


def _clause(one: Stated, own: RulePool, choice: Choice, variable: int) -> Clause:
    place = choice.position[variable]
    structure = own.members[place].structure
    words = Lexicon.of_context(one.context).including(structure)
    return Clause(
        one.name,
        one.context,
        structure,
        render(structure, words, dates_only=one.context.resolved.dates_only),
        float(own.score[place]),
        own.members[0].structure,
        float(own.score[0] - own.score[place]),
        float(choice.marginals[variable][place]),
        float(choice.given_others[variable][place]),
    )
