"""From context to rule, in the order of the paper's Method section.

C_k(x)                   candidate construction      candidates/
A(x) = Π C_k(x)          And-Or Graph assembly       models/graph.py
s_search = wᵀφ − λ1[¬h]  structured search           models/energy.py, inference/
y = R(a*)                realization                 realize/
HARD-OK, ρ, ε_S, ε_R     what is reported beside it  evaluate/, this page
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.context.load import Context
from gnrs_ppl.context.types import Goal, RecordLayer
from gnrs_ppl.errors import InputError, NoFeasibleStructure
from gnrs_ppl.rule.types import SLOTS, Structure
from gnrs_ppl.safe_text import to_json, visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import xarray as xr

    from gnrs_ppl.audit.needs import Needed
    from gnrs_ppl.calibration.averaging import Averaged
    from gnrs_ppl.calibration.weights import Weights
    from gnrs_ppl.candidates.build import Built
    from gnrs_ppl.candidates.grounding import Dropped
    from gnrs_ppl.candidates.model_reader import ReadAlong
    from gnrs_ppl.candidates.proposed import Proposed
    from gnrs_ppl.candidates.source import Proposal
    from gnrs_ppl.evaluate.grounding import Grounding
    from gnrs_ppl.inference.exact import Ranked
    from gnrs_ppl.inference.result import Chains, MoveCount, Visited
    from gnrs_ppl.inference.sweep import Exact
    from gnrs_ppl.llm import Answer, Model
    from gnrs_ppl.models.energy import Tables
    from gnrs_ppl.models.graph import AndOrGraph, Position
    from gnrs_ppl.reading import Readings
    from gnrs_ppl.realize.polish import Polished, Version


FILES = ("rule.txt", "rule.json", "draft.json", "posterior.nc")
"""What a draft is saved as."""
TOP = 10
"""Structures of greatest s_search that the JSON lists."""


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
        Sampler; ``exact`` draws independently from the exact posterior, ``cpsat`` samples nothing and searches with OR-Tools.
    weights : Weights, optional
        w of s_search; those fitted on the dev goals unless given. Posterior draws in them are averaged over.
    alternatives : int
        Runner-up structures to report.
    model : Model, optional
        A language model that reads the sentence too and proposes further candidates; its answers never reach the rule but through the
        typed slots.
    polish : {"v1", "v2"}, optional
        With a model: reword the text, if the payload guard finds nothing lost; v1 in smoother sentences, v2 in plain language.

    Returns
    -------
    Draft

    Raises
    ------
    InputError
        Bad context, or a request that would not fit.
    NoFeasibleStructure
        Every structure breaks a hard condition; the line names those that block and a remedy.
    Refused
        The sentence asks what these records cannot hold, or the chosen rule cannot be checked on them.
    """
    one = context if isinstance(context, Context) else load_context(context)
    return draft_many(
        [one], chains=chains, steps=steps, seed=seed, kernel=kernel, weights=weights, alternatives=alternatives, model=model, polish=polish
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
) -> list[Draft]:
    """Draft a rule for each of several contexts; their chains run in one program, and each draft is what :func:`draft` gives.

    Parameters
    ----------
    contexts : sequence of Context or path
    chains, steps, seed, kernel, weights, alternatives, model, polish
        As for :func:`draft`; a model is asked about all contexts at once.

    Raises
    ------
    GnrsError
        As :func:`draft`, for the first context that fails.
    """
    given = [c if isinstance(c, Context) else load_context(c) for c in contexts]
    given = read_too(given, model, seed)
    for one in given:
        _refuse(one)
    if polish is not None and model is None:
        raise InputError("polish needs a language model", "name one with model=", source="arguments", field="polish")
    # paper, Candidate construction: fragments that a language model proposes, filtered like all others
    proposed = _proposed(given, model, seed)
    # paper, Candidate construction and Structured search: a* = argmax s_search(a; x) over A(x)
    searches = search_many(
        given,
        chains=chains,
        steps=steps,
        seed=seed,
        kernel=kernel,
        weights=weights,
        proposals=[found.proposals if found else () for found in proposed],
    )
    drafts = [replace(_realized(found, alternatives), proposed=said) for found, said in zip(searches, proposed, strict=True)]
    # paper, Realization: polish that keeps every payload, or the text as it was
    return drafts if model is None or polish is None else _polished(drafts, model, polish, seed)


def of_rule(context: Context, number: int) -> Context:
    """The context whose draft is one of the rules that the goal's sentence states; the sentence alone says what is asked.

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
        told = "the goal's sentence states one rule" if rules == 1 else f"the goal's sentence states {rules} rules"
        raise InputError(told, f"name one of 1 to {rules}; gnrs read shows them", source="arguments", field="--statement")
    goal = Goal(id=context.goal.id, intent=context.goal.intent, values=context.goal.values)
    return replace(context, goal=goal, pools=None, rule=number - 1, scene=context.scene or context)


def read_too(contexts: Sequence[Context], model: Model | None, seed: int = 0) -> list[Context]:
    """The contexts with their goals' sentences read by a model too, where there is one; those that were already are left as they are."""
    if model is None:
        return list(contexts)
    from gnrs_ppl.candidates.model_reader import with_model

    return with_model(contexts, model, seed=seed)


def rules_stated(context: Context) -> int:
    """How many rules the goal's sentence states, at least one."""
    from gnrs_ppl.reading.goal import readings_of, rules_of

    return max(len(rules_of(readings_of(context))), 1)


def _refuse(context: Context) -> None:
    """Raise what speaks against the goal's sentence on these records, before anything is searched."""
    from gnrs_ppl.candidates.refusals import refusal
    from gnrs_ppl.reading.goal import readings_of

    found = refusal(context, readings_of(context))
    if found is not None:
        raise found


def _proposed(contexts: Sequence[Context], model: Model | None, seed: int) -> Sequence[Proposed | None]:
    if model is None:
        return [None] * len(contexts)
    from gnrs_ppl.candidates.proposed import propose

    return propose(contexts, model, seed=seed)


def _polished(drafts: Sequence[Draft], model: Model, version: Version, seed: int) -> list[Draft]:
    from gnrs_ppl.realize.lexicon import Lexicon
    from gnrs_ppl.realize.polish import Rule, polish

    words = [Lexicon.of(d.context.schema, d.records).including(d.structure) for d in drafts]
    rules = [Rule(d.structure, d.text, known, d.records.dates_only) for d, known in zip(drafts, words, strict=True)]
    found = polish(rules, model, version, seed=seed)
    return [
        replace(draft, text=one.text, polished=one, certificate=draft.certificate._replace(polished=one.text != draft.text))
        for draft, one in zip(drafts, found, strict=True)
    ]


def _realized(found: Search, alternatives: int) -> Draft:
    """The chosen structure as text, as a check, and with what is reported beside it."""
    from gnrs_ppl.audit.checkable import check, resolved
    from gnrs_ppl.audit.compile import compile_rule
    from gnrs_ppl.audit.needs import rows_needed
    from gnrs_ppl.evaluate.grounding import grounding
    from gnrs_ppl.realize.lexicon import Lexicon
    from gnrs_ppl.realize.recover import recovered
    from gnrs_ppl.realize.text import render

    context = found.graph.facts.context
    records = resolved(context.records, context.log)
    known = Lexicon.of(context.schema, records)
    structure = found.graph.structure(found.best)
    lexicon = known.including(structure)  # the words an audit of the rule has too
    # paper, Realization: y = R(a*), read back by the parser
    text = render(structure, lexicon, dates_only=records.dates_only)
    lost = recovered(structure, text, lexicon)
    # the query that finds the violations in the logs the rule cites
    plan = check(structure, records, context.log)
    return Draft(
        context=context,
        search=found,
        structure=structure,
        text=text,
        records=records,
        grounding=grounding(structure, context),
        certificate=found.certificate(len(lost)),
        alternatives=tuple(
            Alternative(r.probability, r.score, render(other, known.including(other), records.dates_only), found.differs(r.position))
            for r in found.runners_up(alternatives)
            for other in [found.graph.structure(r.position)]
        ),
        assumptions=plan.assumptions,
        findings=context.log.findings + plan.findings,
        sql=compile_rule(plan).sql,
        needs=rows_needed(plan) if context.records.prospective else (),
    )


def search(
    context: Context,
    *,
    chains: int = 64,
    steps: int = 200,
    seed: int = 0,
    kernel: str = "metropolis",
    weights: Weights | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Search:
    """Candidate pools, And-Or Graph, exact posterior where the space allows it, and the chains; parameters as for :func:`search_many`."""
    return search_many([context], chains=chains, steps=steps, seed=seed, kernel=kernel, weights=weights, settings=settings)[0]


def search_many(
    contexts: Sequence[Context],
    *,
    chains: int = 64,
    steps: int = 200,
    seed: int = 0,
    kernel: str = "metropolis",
    weights: Weights | None = None,
    proposals: Sequence[Sequence[Proposal]] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> list[Search]:
    """Search several contexts, their chains in one program.

    Parameters
    ----------
    contexts : sequence of Context
    chains, steps, seed, kernel, weights
        As for :func:`draft`.
    proposals : sequence, optional
        For each context, those of the fourth source.
    settings : mapping, optional
        Of the kernel, as :func:`gnrs_ppl.inference.run_chains` takes them.
    """
    from gnrs_ppl.calibration.weights import frozen_weights
    from gnrs_ppl.candidates.build import pools_of
    from gnrs_ppl.inference.cache import use_compilation_cache
    from gnrs_ppl.inference.chains import run_many
    from gnrs_ppl.inference.exact import number_of_states
    from gnrs_ppl.inference.sweep import SWEEP_LIMIT, sweep
    from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, contract
    from gnrs_ppl.models.graph import compile_graph

    use_compilation_cache()
    weights = weights or frozen_weights()
    graphs, built = [], []
    for context, more in zip(contexts, proposals or [()] * len(contexts), strict=True):
        # paper, Candidate construction: the pools C_k(x), without what rests on a zero
        built.append(pools_of(context, more))
        # paper, Structured search: A(x) = Π C_k(x) as a factor graph, scored by wᵀφ − λ1[¬h]
        graphs.append(compile_graph(context, built[-1].pools))
    vector = weights.array()
    spaces = [contract(graph.space, vector) for graph in graphs]
    posteriors: list[Exact | None] = []
    for graph, tables in zip(graphs, spaces, strict=True):
        posterior = sweep(tables, SEARCH_TEMPERATURE) if number_of_states(tables) <= SWEEP_LIMIT else None
        if posterior is not None and not posterior.feasible_states:
            raise NoFeasibleStructure(_blocked(graph, tables))
        posteriors.append(posterior)
    # four moves, Metropolis acceptance, τ = 0.08
    names = [context.goal.id for context in contexts]
    request: dict[str, Any] = {"chains": chains, "steps": steps, "temperature": SEARCH_TEMPERATURE, "seed": seed, "kernel": kernel}
    runs = run_many(spaces, names=names, **request, **(settings or {}))
    searches = [Search(*parts) for parts in zip(graphs, spaces, [weights] * len(runs), built, runs, posteriors, strict=True)]
    for found in searches:
        if not found.visited.feasible:
            blocked = _blocked(found.graph, found.tables)
            raise NoFeasibleStructure(f"no chain reached a structure that passes every hard condition; {blocked}")
    return searches


def _blocked(graph: AndOrGraph, tables: Tables) -> str:
    """The conditions that exclude everything, or those the best structure still breaks, with the nearest remedy."""
    from gnrs_ppl.inference.exact import STATE_LIMIT, fewest_flags, number_of_states

    if number_of_states(tables) > STATE_LIMIT:
        flag, share = graph.blockers()[0]
        return f"{flag.name} alone excludes {share:.0%} of the structures; {flag.remedy}"
    near = fewest_flags(tables).position
    broken = graph.raised(near)
    chosen = ", ".join(graph.labels()[slot][int(o)] for slot, o in zip(SLOTS, near, strict=True))
    if not broken:
        return f"there is one ({chosen}); try more --steps or --chains, or --kernel exact"
    names = " and ".join(flag.name for flag in broken)
    return f"no feasible structure: the nearest ({chosen}) still breaks {names}; {'; '.join(flag.remedy for flag in broken)}"


@dataclass(frozen=True)
class Search:
    """What the search did: the graph it walked, its chains, and the exact posterior where the space was enumerated."""

    graph: AndOrGraph
    tables: Tables
    weights: Weights
    built: Built
    chains: Chains
    posterior: Exact | None

    @cached_property
    def visited(self) -> Visited:
        """The best structure some chain stood on: position, score, feasible; with the exact kernel the best there is."""
        from gnrs_ppl.inference.kernels import traits
        from gnrs_ppl.inference.result import Visited, best_visited

        if self.averaged is not None:
            return self.averaged.best
        if traits(self.chains.kernel).independent and self.posterior is not None:
            best = self.posterior.best[0]
            return Visited(best.position, best.score, best.feasible)
        return best_visited(self.chains)

    @property
    def best(self) -> Sequence[int]:
        """Position of a*: one option index per slot."""
        return [int(o) for o in self.visited.position]

    @cached_property
    def s_search(self) -> float:
        """s_search of a* in float64, the slow readable way."""
        from gnrs_ppl.models.energy import slow_score

        return slow_score(self.graph.space, self.weights.array(), float(self.tables.penalty), self.visited.position)

    @cached_property
    def moved(self) -> float:
        """Share of steps that led to another structure."""
        import numpy as np

        before = np.concatenate([self.chains.starts[:, None], self.chains.positions[:, :-1]], axis=1)
        return float((before != self.chains.positions).any(axis=-1).mean())

    @cached_property
    def averaged(self) -> Averaged | None:
        """What averaging over the posterior of the weights gives; None where the weights are one vector."""
        if not self.weights.draws:
            return None
        from gnrs_ppl.calibration.averaging import average

        return average(self.graph.space, self.weights.draws)

    @property
    def temperature(self) -> float:
        """Temperature of the probabilities that people see: tau_fit, or that of the search until a fit exists."""
        return self.weights.temperature or self.chains.temperature

    @property
    def at_temperature(self) -> str:
        """The same in words."""
        return "at search temperature" if self.weights.temperature is None else f"at τ_fit = {self.temperature:.3g}"

    @cached_property
    def reported(self) -> Exact | None:
        """The exact posterior at :attr:`temperature`."""
        if self.posterior is None or self.weights.temperature is None:
            return self.posterior
        from gnrs_ppl.inference.sweep import sweep

        return sweep(self.tables, self.temperature)

    @property
    def optimum(self) -> float | None:
        """Greatest s_search of the space, None where it was not enumerated."""
        return None if self.posterior is None else self.posterior.optimum

    @cached_property
    def bound(self) -> float | None:
        """No structure of the space has a greater s_search; None where it was not enumerated and OR-Tools is not installed."""
        if self.optimum is not None or self.chains.bound is not None:
            return self.optimum if self.optimum is not None else self.chains.bound
        from importlib.util import find_spec

        from gnrs_ppl.inference.cpsat import solve

        return solve(self.tables).bound if find_spec("ortools") else None

    def features(self) -> dict[str, float]:
        """φ of a*, by name."""
        from gnrs_ppl.models.features import feature_vector

        return feature_vector(self.graph.structure(self.best), self.graph.facts)

    def certificate(self, lost: int) -> Certificate:
        """ε_S and ε_R of the chosen structure; ``lost`` counts what the parser did not get back of its text."""
        from gnrs_ppl.evaluate.calibration_error import measured
        from gnrs_ppl.inference.exact import TIE

        gap = None if self.bound is None else self.bound - self.s_search
        gap = 0.0 if gap is not None and abs(gap) < TIE else gap
        method = "not certified" if gap is None else "exact enumeration" if self.optimum is not None else "CP-SAT"
        found, goal = measured(), self.graph.facts.context.goal.id
        if found is None or self.weights.temperature is None:  # measured for the fitted weights only
            return Certificate(method, self.optimum, self.bound, gap, float(lost))
        mapped = None if self.bound is None else float(found.map(self.bound) - found.map(self.s_search))
        return Certificate(
            method,
            self.optimum,
            self.bound,
            gap,
            float(lost),
            calibration_error=found.error,
            regret=found.regrets.get(goal, found.mean_regret),
            dev=goal in found.regrets,
            loss=None if mapped is None else mapped + 2 * found.error + lost,
        )

    def runners_up(self, count: int) -> list[Ranked]:
        """The other feasible structures of greatest s_search, the more probable first among ties; none where nothing was enumerated."""
        if self.reported is None or count < 1:
            return []
        others = (r for r in self.reported.best[: count + 1] if list(map(int, r.position)) != list(self.best))
        return [r for r in others if r.feasible][:count]

    def probability(self) -> float | None:
        """Exact probability of a* at :attr:`temperature`; averaged over weight draws where there are any."""
        if self.averaged is not None:
            return self.averaged.probability
        if self.reported is None:
            return None
        import numpy as np

        log_prior = np.asarray(self.tables.log_prior, np.float64)[np.arange(len(self.best)), self.best].sum()
        return self.reported.probability(self.s_search, float(log_prior))

    def slot_probabilities(self) -> dict[str, float] | None:
        """Exact probability of each slot's choice, whatever the other slots hold, at :attr:`temperature`."""
        if self.reported is None:
            return None
        return {slot: float(m[o]) for slot, m, o in zip(SLOTS, self.reported.marginals, self.best, strict=True)}

    def differs(self, position: Position) -> str:
        """Which slots another structure fills otherwise, as option labels."""
        labels = self.graph.labels()
        changes = [
            f"{slot}: {labels[slot][mine]} → {labels[slot][int(other)]}"
            for slot, mine, other in zip(SLOTS, self.best, position, strict=True)
            if mine != int(other)
        ]
        return "; ".join(changes)

    def ranking(self, count: int) -> list[dict[str, Any]]:
        """The structures of greatest s_search in order: options, score, gap to the best, probability at :attr:`temperature`."""
        if self.reported is None:
            return []
        labels, best = self.graph.labels(), self.reported.best
        return [
            {
                "options": {slot: labels[slot][int(o)] for slot, o in zip(SLOTS, r.position, strict=True)},
                "s_search": r.score,
                "gap": best[0].score - r.score,
                "probability": r.probability,
                "feasible": r.feasible,
            }
            for r in best[:count]
        ]

    @cached_property
    def moves(self) -> dict[str, MoveCount]:
        """Per move: tried, accepted (staying counts), and led to another structure."""
        from gnrs_ppl.inference.result import move_counts

        return move_counts(self.chains)

    def as_dict(self) -> dict[str, Any]:
        """The JSON of ``gnrs sample``, and the ``search`` of a draft."""
        from gnrs_ppl.inference.exact import number_of_states
        from gnrs_ppl.inference.result import SAME_SCORE

        chains, steps = self.chains.score.shape
        return {
            "kernel": self.chains.kernel,
            "chains": chains,
            "steps": steps,
            "temperature": self.chains.temperature,
            "seed": self.chains.seed,
            "states": number_of_states(self.tables),
            "best": {
                "s_search": self.s_search,
                "structure": self.graph.structure(self.best).model_dump(mode="json", exclude_defaults=True),
            },
            "optimum": self.optimum,
            "bound": self.chains.bound,
            "optimal_states": None if self.posterior is None else self.posterior.optimal_states,
            "feasible_states": None if self.posterior is None else self.posterior.feasible_states,
            "log_normalizer": self.chains.log_normalizer if self.posterior is None else self.posterior.log_normalizer,
            "probability": None
            if self.posterior is None
            else {"best": self.probability(), "slots": self.slot_probabilities(), "temperature": self.temperature},
            "winner_changes": None if self.averaged is None else self.averaged.changes,
            "top": [] if self.posterior is None else self.ranking(TOP),
            "energy_evaluations": self.chains.energy_evaluations,
            "chains_at_best": int((self.chains.score.max(axis=1) >= self.visited.score - SAME_SCORE).sum()),
            "acceptance": {name: m.accepted / m.tried if m.tried else None for name, m in self.moves.items()},
            "changed": {name: m.changed / m.tried if m.tried else None for name, m in self.moves.items()},
            "seconds": {"compile": self.chains.compile_seconds, "run": self.chains.wall_seconds},
        }

    def _amount(self) -> str:
        """How much was drawn, in the kernel's own terms."""
        from gnrs_ppl.inference.kernels import traits

        chains, steps = self.chains.score.shape
        kernel = traits(self.chains.kernel)
        if kernel.solves:
            return "one solution"
        return f"{chains:,} particles" if kernel.particles else f"{chains:,} chains × {steps:,} steps"

    def rows(self) -> list[tuple[str, str]]:
        """What a person is told of the search."""
        found = self.as_dict()
        hits = found["chains_at_best"]
        reached = f"reached by {hits} of {found['chains']} chains" if hits else "where a chain started"
        rows = [
            ("kernel", f"{found['kernel']}, {self._amount()} at τ = {found['temperature']}, seed {found['seed']}"),
            (
                "space",
                f"{found['states']:,} structures" + (f", {found['feasible_states']:,} feasible" if self.posterior else ", not enumerated"),
            ),
            ("best found", f"{self.s_search:.4f}, {reached}"),
            (
                "led elsewhere, of those tried",
                "; ".join(f"{m} {rate:.0%}" for m, rate in found["changed"].items() if rate is not None) or f"{self.moved:.0%} of steps",
            ),
            ("seconds", f"{found['seconds']['run']:.3f} running, {found['seconds']['compile']:.2f} compiling"),
        ]
        if self.chains.bound is not None:
            rows.append(("bound by CP-SAT", f"no structure scores above {self.chains.bound:.4f}"))
        if self.posterior:
            rows.insert(3, ("probability of the best", f"{self.probability():.4f} {self.at_temperature}"))
            slots = ", ".join(f"{slot} {p:.2f}" for slot, p in (self.slot_probabilities() or {}).items())
            rows.insert(4, ("of each slot's choice", f"{slots}, {self.at_temperature}"))
            if self.averaged is not None:
                rows.append(("over weight draws", f"the winner changes in {self.averaged.changes:.0%} of {len(self.weights.draws)} draws"))
            if found["optimal_states"] > 1:
                rows.insert(
                    5,
                    ("ties", f"{found['optimal_states']} structures share the greatest score; nothing in goal or records tells them apart"),
                )
        return rows

    def datatree(self) -> xr.DataTree:
        """Every draw as an ArviZ DataTree."""
        from gnrs_ppl.inference.trace import Marginals, datatree
        from gnrs_ppl.models.features import FEATURES

        candidates = {slot: [o.candidate for o in options] for slot, options in zip(SLOTS, self.graph.options, strict=True)}
        goal = self.graph.facts.context.goal.id
        exact = None if self.posterior is None else Marginals(self.posterior.marginals, self.posterior.pair_marginals)
        labels, weights = self.graph.labels(), self.weights.array()
        return datatree(self.chains, labels, weights, goal, candidates=candidates, features=FEATURES, exact=exact)

    def save_posterior(self, path: Path) -> None:
        """Every draw as netCDF; the old file or the new one, never half of it."""
        from gnrs_ppl.inference.trace import save

        save(self.datatree(), path)


class Certificate(NamedTuple):
    """How good the search was (ε_S), what the text lost (ε_R), and what dev goals say of the score itself (ε_C, regret).

    ``optimum`` is known from enumeration, ``bound`` also from CP-SAT; ``epsilon_search`` is in units of s_search. None until measured:
    ``calibration_error``, ``regret`` (this goal's own on dev, else the mean) and ``loss``, what Proposition 1 takes off the best
    possible audit F1.
    """

    method: str
    optimum: float | None
    bound: float | None
    epsilon_search: float | None
    epsilon_realization: float
    calibration_error: float | None = None
    regret: float | None = None
    dev: bool = False
    loss: float | None = None
    polished: bool = False

    def lines(self) -> list[str]:
        """The certificate in words."""
        if self.epsilon_search is None:
            searched = "ε_S: not certified; the space is too large to enumerate, and OR-Tools, which would bound it, is not installed"
        elif self.epsilon_search == 0:
            searched = f"ε_S = 0 by {self.method}: no structure of these pools scores higher"
        elif self.optimum is None:
            searched = f"ε_S ≤ {self.epsilon_search:.4f}, bounded by {self.method}: no structure scores above {self.bound:.4f}"
        else:
            better = f"a structure of score {self.optimum:.4f} exists; try more chains or --kernel exact"
            searched = f"ε_S = {self.epsilon_search:.4f} by {self.method}: {better}"
        lost = self.epsilon_realization
        if self.polished:
            return [searched, f"ε_R = {lost:g}: the payload guard reads the whole structure from the polished text", *self._calibration()]
        recovered = f"{lost:g} facts of the structure are lost in the text" if lost else "the parser gives back the whole structure"
        return [
            searched,
            f"ε_R = {lost:g}: {recovered}" + ("" if lost else " (0 by construction for template text, and read back here)"),
            *self._calibration(),
        ]

    def _calibration(self) -> list[str]:
        if self.calibration_error is None or self.regret is None:
            return ["ε_C: not measured, so Proposition 1 bounds nothing here"]
        whose = "this goal, left out of the fit" if self.dev else "the mean of the dev goals; conditional on this goal being like them"
        lines = [
            f"regret {self.regret:.3f} in audit F1: {whose}",
            f"ε_C = {self.calibration_error:.3f}, measured on dev" + ("" if self.dev else ", conditional"),
        ]
        if self.loss is None:
            return [*lines, "Proposition 1: no bound, as ε_S is not certified"]
        vacuous = "; vacuous, as audit F1 lies between 0 and 1" if self.loss >= 1 else ""
        return [*lines, f"Proposition 1: within ε_S + 2ε_C + ε_R = {self.loss:.3f} of the best structure's audit F1{vacuous}"]

    def as_dict(self) -> dict[str, Any]:
        """JSON keys of a draft's certificate."""
        return {**self._asdict(), "statement": self.lines()}


class Alternative(NamedTuple):
    """A runner-up structure with its exact probability at the search's :attr:`Search.temperature`."""

    probability: float
    s_search: float
    text: str
    differs: str


@dataclass(frozen=True)
class Draft:
    """A drafted rule and everything one may ask of it."""

    context: Context
    search: Search
    structure: Structure
    text: str
    records: RecordLayer
    grounding: Grounding
    certificate: Certificate
    alternatives: tuple[Alternative, ...]
    assumptions: tuple[str, ...]
    findings: tuple[str, ...]
    sql: str
    needs: tuple[Needed, ...] = ()
    proposed: Proposed | None = None
    polished: Polished | None = None

    @property
    def goal(self) -> Goal:
        """The goal the rule is for."""
        return self.context.goal

    @cached_property
    def readings(self) -> Readings:
        """The goal's sentence, as read."""
        from gnrs_ppl.reading.goal import readings_of

        return readings_of(self.context)

    @cached_property
    def said(self) -> tuple[bool, ...]:
        """Of each statement that was read, whether the rule says it."""
        from gnrs_ppl.evaluate.statements import statements_said

        return statements_said(self.structure, self.readings)

    @cached_property
    def posterior(self) -> xr.DataTree:
        """The chains as an ArviZ DataTree."""
        tree = self.search.datatree()
        tree.attrs |= {"scripted": 1} if self.scripted else {}
        return tree

    @property
    def _model_said(self) -> list[ReadAlong | Proposed]:
        """What a model read and what it proposed, where one was asked."""
        return [found for found in (self.context.read_along, self.proposed) if found is not None]

    @property
    def dropped(self) -> list[Dropped]:
        """Candidates that the filter refused, a model's readings and proposals among them."""
        return [*self.search.built.dropped, *(item for said in self._model_said for item in said.dropped)]

    @property
    def answers(self) -> tuple[Answer[Any], ...]:
        """What language models said on the way to this draft, in the order of asking."""
        return (*(said.answer for said in self._model_said), *(self.polished.answers if self.polished else ()))

    @property
    def scripted(self) -> bool:
        """Whether the scripted server had a part in it: then it is no result, and every file that is saved says so."""
        return any(answer.scripted for answer in self.answers)

    def language_model(self) -> dict[str, Any] | None:
        """Which models were asked what, at what cost; None where none was. ``cost`` is in US dollars, None where a price is unknown."""
        if not self.answers:
            return None
        from gnrs_ppl.llm.client import account
        from gnrs_ppl.llm.prompts import load
        from gnrs_ppl.realize.polish import prompt_of

        read, polished = self.context.read_along, self.polished
        asked: dict[str, tuple[Answer[Any], ...]] = {
            "generator": tuple(said.answer for said in self._model_said),
            "polisher": polished.answers if polished else (),
        }
        prompts = [said.prompt for said in self._model_said] + ([prompt_of(polished.version)] if polished else [])
        return {
            "models": {role: some[-1].model for role, some in asked.items() if some},
            "prompts": {name: load(name).hash for name in prompts},
            **account(self.answers),
            "readings": read.counted() if read else None,
            "proposals": self.proposed.counted() if self.proposed else None,
        }

    def slots(self) -> list[tuple[str, str, str]]:
        """Slot, chosen option, and its content in one line."""
        labels = self.search.graph.labels()
        return [
            (slot, labels[slot][o], _flat(getattr(self.structure, slot).model_dump(mode="json", exclude_defaults=True)))
            for slot, o in zip(SLOTS, self.search.best, strict=True)
        ]

    def as_dict(self) -> dict[str, Any]:
        """The JSON of ``gnrs draft``."""
        from gnrs_ppl.candidates.grounding import marked
        from gnrs_ppl.reading.goal import rules_of
        from gnrs_ppl.reading.plain import as_data
        from gnrs_ppl.realize.lexicon import Lexicon
        from gnrs_ppl.realize.text import phrase
        from gnrs_ppl.versions import versions

        gate, found = self.grounding.gate, self.search
        lexicon = Lexicon.of(self.context.schema, self.records)
        return {
            "goal": self.goal.model_dump(mode="json", exclude_defaults=True),
            "reading": as_data(self.readings)
            | {
                "rule": self.context.rule + 1,
                "rules": [[number + 1 for number in held] for held in rules_of(self.readings)],
                "said": list(self.said),
            },
            "text": self.text,
            "structure": self.structure.model_dump(mode="json"),
            "score": {
                "s_search": found.s_search,
                "features": found.features(),
                "weights": {"origin": found.weights.origin, "values": list(found.weights.values)},
                "feasible": bool(found.visited.feasible),
            },
            "grounding": {
                "rho": gate.rho,
                "hard_ok": gate.passed,
                "failures": list(gate.failures),
                **gate.supports,
                "queries": [asdict(query) for query in self.grounding.queries],
            },
            "certificate": self.certificate.as_dict(),
            "search": found.as_dict(),
            "alternatives": [other._asdict() | {"temperature": found.temperature} for other in self.alternatives],
            "candidates": {
                **{
                    slot: [
                        {"option": label, "sources": list(o.sources)} for label, o in zip(found.graph.labels()[slot], options, strict=True)
                    ]
                    for slot, options in zip(SLOTS, found.graph.options, strict=True)
                },
                "pools": {
                    slot: [
                        {"id": c.id, "phrase": phrase(c.at(c.level_tuples()[0]), lexicon), "provenance": c.provenance, **marked(c.content)}
                        for c in getattr(found.built.pools, slot)
                    ]
                    for slot in SLOTS
                },
                "dropped": [item._asdict() for item in self.dropped],
            },
            "polish": self.polished.as_dict() if self.polished else None,
            "llm": self.language_model(),
            "check": {
                "status": "prospective" if self.context.records.prospective else "runnable",
                "needs": [need._asdict() for need in self.needs],
                "sql": self.sql,
                "assumptions": list(self.assumptions),
                "findings": list(self.findings),
            },
            "versions": versions(),
        }

    def save(self, folder: Path) -> list[Path]:
        """Write ``FILES`` and a manifest, all or nothing; gives the files' paths."""
        from gnrs_ppl.context.output import write_all
        from gnrs_ppl.inference.trace import to_bytes
        from gnrs_ppl.rule.files import rule_json

        note, title = ("(scripted: a stand-in for a model had a part in this; no result)\n", " (scripted)") if self.scripted else ("", "")
        return write_all(
            folder,
            [
                ("rule.txt", (visible(self.text, keep="\n") + f"\n{note}").encode()),
                ("rule.json", rule_json(self.structure, self.context.schema, self.records, self.goal.id + title).encode()),
                ("draft.json", to_json(self.as_dict()).encode()),
                ("posterior.nc", to_bytes(self.posterior)),
            ],
            manifest=True,
        )


def _flat(value: Any) -> str:
    """Nested data on one line, names before values."""
    if isinstance(value, dict):
        return "; ".join(f"{key} {_flat(item)}" for key, item in value.items())
    return ", ".join(f"({_flat(v)})" if isinstance(v, dict) else str(v) for v in value) if isinstance(value, list) else str(value)
