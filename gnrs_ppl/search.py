"""Structured search: a* = argmax s_search(a; x) over A(x) (paper, Structured search).

    s_search(a; x) = wᵀφ(a, x) − λ·1[¬h(a, x)]

Chains walk on the And-Or Graph at the paper's temperature. Where the space is small enough it is enumerated
too: the yardstick of the chains, and where the probabilities come from.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnrs_ppl import progress
from gnrs_ppl.errors import NoFeasibleStructure, Refused
from gnrs_ppl.rule.types import SLOTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import xarray as xr

    from gnrs_ppl.calibration.averaging import Averaged
    from gnrs_ppl.calibration.weights import Weights
    from gnrs_ppl.context.load import Context
    from gnrs_ppl.inference.result import Chains, MoveCount, Ranked
    from gnrs_ppl.inference.sweep import Exact
    from gnrs_ppl.models.energy import Tables
    from gnrs_ppl.models.graph import AndOrGraph, Position
    from gnrs_ppl.posterior.chosen import Answered


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
    """Search the And-Or Graph of one context; parameters as for :func:`search_many`."""
    return search_many(
        [context], chains=chains, steps=steps, seed=seed, kernel=kernel, weights=weights, settings=settings
    )[0]


def search_many(
    contexts: Sequence[Context],
    *,
    chains: int = 64,
    steps: int = 200,
    seed: int = 0,
    kernel: str = "metropolis",
    weights: Weights | None = None,
    settings: Mapping[str, Any] | None = None,
) -> list[Search]:
    """Search the And-Or Graphs of several contexts, their chains in one program.

    Parameters
    ----------
    contexts : sequence of Context
    chains, steps, seed, kernel, weights
        As for :func:`~gnrs_ppl.draft.draft`.
    settings : mapping, optional
        Of the kernel, as :func:`gnrs_ppl.inference.run_chains` takes them.
    """
    from gnrs_ppl.candidates.build import pools_of
    from gnrs_ppl.models.graph import compile_graph

    graphs = [compile_graph(context, pools_of(context).pools) for context in contexts]
    return search_graphs(
        graphs, weights=weights, chains=chains, steps=steps, seed=seed, kernel=kernel, **(settings or {})
    )


def search_graphs(graphs: Sequence[AndOrGraph], *, weights: Weights | None, **run: Any) -> list[Search]:
    """Score, enumerate where the space allows it, and walk as told by ``run``.

    Raises
    ------
    NoFeasibleStructure
        Every structure breaks a hard condition, or every one that a chain reached.
    """
    from gnrs_ppl.calibration.weights import frozen_weights
    from gnrs_ppl.inference.chains import run_many
    from gnrs_ppl.inference.exact import number_of_states
    from gnrs_ppl.inference.sweep import SWEEP_LIMIT, sweep
    from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, contract

    weights = weights or frozen_weights()
    spaces = [contract(graph.space, weights.array()) for graph in graphs]
    posteriors: list[Exact | None] = []
    progress.stage("weighing the rules that could be made")
    for graph, tables in zip(graphs, spaces, strict=True):
        posterior = sweep(tables, SEARCH_TEMPERATURE) if number_of_states(tables) <= SWEEP_LIMIT else None
        if posterior is not None and not posterior.feasible_states:
            _refuse_lone_act(graph)
            raise NoFeasibleStructure(_blocked(graph, tables))
        posteriors.append(posterior)
    for graph in graphs:
        _tell_options(graph)
    # four moves, Metropolis acceptance, τ = 0.08
    names = [graph.facts.context.goal.id for graph in graphs]
    runs = run_many(spaces, temperature=SEARCH_TEMPERATURE, names=names, **run)
    searches = [
        Search(*parts) for parts in zip(graphs, spaces, [weights] * len(runs), runs, posteriors, strict=True)
    ]
    for result in searches:
        if not result.visited.feasible:
            blocked = _blocked(result.graph, result.tables)
            raise NoFeasibleStructure(
                f"no chain reached a structure that passes every hard condition; {blocked}"
            )
        if all(c.positive and c.count == 1 for c in result.graph.structure(result.best).norm.constraints):
            _refuse_lone_act(result.graph)
    return searches


def _tell_options(graph: AndOrGraph) -> None:
    """Name the options that what is told of the chains counts."""
    if not progress.is_watched():
        return
    from gnrs_ppl.realize.lexicon import Lexicon
    from gnrs_ppl.realize.text import phrase

    context, labels = graph.facts.context, graph.labels()
    words = Lexicon.of_context(context)
    progress.tell(
        "options",
        space=context.goal.id,
        slots={
            slot: [
                {"option": label, "phrase": phrase(option.content, words)}
                for label, option in zip(labels[slot], graph.options[v], strict=True)
            ]
            for v, slot in enumerate(SLOTS)
        },
    )


def _refuse_lone_act(graph: AndOrGraph) -> None:
    """Refuse a log of one kind of act as what it is: no condition of a rule names the cure of that, and that
    the act happens is true of every case.
    """
    context = graph.facts.context
    acts = [name for (kind, name), rows in context.profile.counts.items() if kind == "action" and rows]
    if len(acts) == 1 and not context.records.prospective:
        raise Refused(
            f"the log shows one kind of act, {acts[0]!r} "
            f"({context.profile.counts['action', acts[0]]:,} rows), so no rule can say what comes before or "
            "after it",
            "import a log or tables with other acts too, or name another column: gnrs import --column "
            "activity=NAME",
            reason="lone_act",
        )


def _blocked(graph: AndOrGraph, tables: Tables) -> str:
    """The conditions that exclude everything, or those the best structure still breaks, with the nearest
    remedy.
    """
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
    context = graph.facts.context
    unseen = [act for act in context.goal.required if not context.profile.counts.get(("action", act))]
    why = (
        [f"goal.required: no row shows {unseen[0]!r}, take it out or correct schema.actions"]
        if unseen
        else []
    )
    remedies = "; ".join([*why, *(flag.remedy for flag in broken)])
    return f"no feasible structure: the nearest ({chosen}) still breaks {names}; {remedies}"


@dataclass(frozen=True)
class Search:
    """What the search did: the graph it walked, its chains, and the exact posterior where the space was
    enumerated; and what answers made of that, where people were asked.
    """

    graph: AndOrGraph
    tables: Tables
    weights: Weights
    chains: Chains
    posterior: Exact | None
    answered: Answered | None = None

    @cached_property
    def visited(self) -> Ranked:
        """The best structure some chain stood on: position, score, feasible; with the exact kernel the best
        there is.
        """
        from gnrs_ppl.inference.kernels import traits
        from gnrs_ppl.inference.result import best_visited

        if self.answered is not None:
            return self.answered.best
        if self.averaged is not None:
            return self.averaged.best
        if traits(self.chains.kernel).independent and self.posterior is not None:
            return self.posterior.best[0]
        return best_visited(self.chains)

    @property
    def best(self) -> Sequence[int]:
        """Position of a*: one option index per slot."""
        return [int(o) for o in self.visited.position]

    @cached_property
    def s_search(self) -> float:
        """s_search of a* in float64, the slow readable way."""
        from gnrs_ppl.models.energy import slow_score

        return slow_score(
            self.graph.space, self.weights.array(), float(self.tables.penalty), self.visited.position
        )

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
        """Temperature of the probabilities that people see: tau_fit, or that of the search until a fit
        exists.
        """
        return self.weights.temperature or self.chains.temperature

    @property
    def at_temperature(self) -> str:
        """The same in words."""
        return (
            "at search temperature"
            if self.weights.temperature is None
            else f"at τ_fit = {self.temperature:.3g}"
        )

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
        """No structure of the space has a greater s_search; None where it was not enumerated and OR-Tools is
        not installed.
        """
        if self.optimum is not None or self.chains.bound is not None:
            return self.optimum if self.optimum is not None else self.chains.bound
        from importlib.util import find_spec

        from gnrs_ppl.inference.cpsat import solve

        return solve(self.tables).bound if find_spec("ortools") else None

    def features(self) -> dict[str, float]:
        """φ of a*, by name."""
        from gnrs_ppl.models.features import feature_vector

        return feature_vector(self.graph.structure(self.best), self.graph.facts)

    def runners_up(self, count: int) -> list[Ranked]:
        """The other feasible structures of greatest s_search, the more probable first among ties; none where
        nothing was enumerated.
        """
        if self.answered is not None:
            return [r for r in self.answered.ranked[1 : count + 1] if r.feasible]
        if self.reported is None or count < 1:
            return []
        others = (r for r in self.reported.best[: count + 1] if list(map(int, r.position)) != list(self.best))
        return [r for r in others if r.feasible][:count]

    def probability(self) -> float | None:
        """Exact probability of a* at :attr:`temperature`; averaged over weight draws where there are any, and
        given the answers where there are any.
        """
        if self.answered is not None:
            return self.answered.best.probability
        if self.averaged is not None:
            return self.averaged.best.probability
        if self.reported is None:
            return None
        import numpy as np

        log_prior = np.asarray(self.tables.log_prior, np.float64)[np.arange(len(self.best)), self.best].sum()
        return self.reported.probability(self.s_search, float(log_prior))

    def option_probabilities(self) -> dict[str, list[float]] | None:
        """Exact probability of each option of each slot, whatever the other slots hold, at
        :attr:`temperature`; None where nothing was enumerated, or answers chose.
        """
        if self.reported is None or self.answered is not None:
            return None
        return {slot: [*map(float, m)] for slot, m in zip(SLOTS, self.reported.marginals, strict=True)}

    def slot_probabilities(self) -> dict[str, float] | None:
        """Those of each slot's choice."""
        if (found := self.option_probabilities()) is None:
            return None
        return {slot: found[slot][o] for slot, o in zip(SLOTS, self.best, strict=True)}

    def changes(self, position: Position) -> dict[str, tuple[str, str]]:
        """The slots that another structure fills otherwise: option labels of a* and of the other."""
        labels = self.graph.labels()
        return {
            slot: (labels[slot][mine], labels[slot][int(other)])
            for slot, mine, other in zip(SLOTS, self.best, position, strict=True)
            if mine != int(other)
        }

    @cached_property
    def moves(self) -> dict[str, MoveCount]:
        """Per move: tried, accepted (staying counts), and led to another structure."""
        from gnrs_ppl.inference.result import move_counts

        return move_counts(self.chains)

    def datatree(self) -> xr.DataTree:
        """Every draw as an ArviZ DataTree."""
        from gnrs_ppl.inference.trace import Marginals, datatree
        from gnrs_ppl.models.features import FEATURES

        candidates = {
            slot: [o.candidate for o in options]
            for slot, options in zip(SLOTS, self.graph.options, strict=True)
        }
        goal = self.graph.facts.context.goal.id
        exact = (
            None
            if self.posterior is None
            else Marginals(self.posterior.marginals, self.posterior.pair_marginals)
        )
        labels, weights = self.graph.labels(), self.weights.array()
        return datatree(
            self.chains, labels, weights, goal, candidates=candidates, features=FEATURES, exact=exact
        )

    def save_posterior(self, path: Path) -> None:
        """Every draw as netCDF; the old file or the new one, never half of it."""
        from gnrs_ppl.inference.trace import save

        save(self.datatree(), path)
