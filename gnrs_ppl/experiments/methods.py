"""The methods that need no model, one line each that says what is switched off (paper, tables main and
ablation).

Every one drafts for the same goal and is scored on the same context, records and held-out logs, whatever it
was not shown.
"""

from __future__ import annotations

import itertools
import math
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray

from gnrs_ppl.audit.types import Verdict
from gnrs_ppl.calibration.weights import UNIFORM_WEIGHTS, frozen_weights, weights_named
from gnrs_ppl.candidates.build import LLM, Built, pools_of
from gnrs_ppl.candidates.build import SOURCES as DETERMINISTIC
from gnrs_ppl.candidates.source import ProposedCandidate
from gnrs_ppl.context.load import Context
from gnrs_ppl.errors import GnrsError, InputError, Refused
from gnrs_ppl.evaluate.audit_f1 import verdicts
from gnrs_ppl.experiments.bench import GoalBench
from gnrs_ppl.experiments.published import published
from gnrs_ppl.experiments.rows import Cell, Row
from gnrs_ppl.experiments.runner import ExperimentRequest
from gnrs_ppl.inference.chains import run_many
from gnrs_ppl.inference.exact import TIE, Enumeration, enumerate_space
from gnrs_ppl.inference.kernels import traits
from gnrs_ppl.inference.result import best_visited
from gnrs_ppl.inference.starts import draw_prior
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, Tables, contract, padded
from gnrs_ppl.models.graph import AndOrGraph, Position, compile_graph
from gnrs_ppl.posterior.mass import probabilities
from gnrs_ppl.rule.canonical import payloads
from gnrs_ppl.rule.pools import Candidate, Pools
from gnrs_ppl.rule.types import SLOTS, EvidencePolicy, Structure

Numbers = NDArray[Any]
STEPS = 200
"""Of a chain; the paper's."""
SHORT = 100
ROOM = 32
"""Options that spaces are padded to, so that goals share compiled kernels; padding changes no draw."""
TRIES = 20_000
"""Structures that are looked at before a method without search gives up."""
SOURCES = (*DETERMINISTIC, LLM)
"""Of a payload's candidate."""
BEST_OF = 16
"""Rules of a pool that are executed: those of the best-scoring (trigger, norm) pairs."""
UNSEARCHED, SEARCHED = "Random candidates, no search", "Random candidates, searched"
"""Two readings of the paper's *Random candidates*: rules drawn whole, and drawn pools that are searched."""


class Space(NamedTuple):
    """What a space depends on; fields as in :class:`SearchMethod`."""

    log: bool
    operator: str | None
    uniform: bool
    penalty: float | None
    drawn: int | None


class SearchMethod(NamedTuple):
    """A method; what differs from *No LLM candidates* is what it switches off or replaces.

    Attributes
    ----------
    name : str
    off : str
        What is switched off, for people.
    log : bool
        Whether rows of the log are seen while drafting: by the record source, the grounding filter, ranking
        and features.
    operator : str or None
        Every evidence policy's operator, where it is not free.
    penalty : float or None
        lambda, where it is not set by rule.
    uniform : bool
        Equal weights in place of the frozen ones.
    pick : {"search", "first", "random", "averaged", "agreed"}
        Search; the first checkable structure; the first checkable one of draws from p0; the most probable
        one, averaged over draws of the weights; of the ``BEST_OF`` most promising the one whose verdicts on
        the context's own log agree most with those of the others.
    steps : int
    kernel : str
    least : int
        Fewest chains that the kernel runs with.
    drawn : bool
        Whether each slot keeps half of its candidates, drawn, in place of the best ranked.
    """

    name: str
    off: str
    log: bool = True
    operator: str | None = None
    penalty: float | None = None
    uniform: bool = False
    pick: str = "search"
    steps: int = STEPS
    kernel: str = "metropolis"
    least: int = 1
    drawn: bool = False

    @property
    def runs_chains(self) -> bool:
        """Whether a number of chains means anything to it."""
        kernel = traits(self.kernel)
        return self.pick == "search" and not (kernel.independent or kernel.solves)

    @property
    def seeded(self) -> bool:
        """Whether another seed may give another rule."""
        return self.pick in ("search", "random") and not traits(self.kernel).independent

    def space(self, seed: int = 0) -> Space:
        """What it searches; only drawn pools depend on the seed."""
        return Space(self.log, self.operator, self.uniform, self.penalty, seed if self.drawn else None)


BASE, OURS = "No LLM candidates", "GNRS-Search"
"""The full method without a model, and the full method."""
METHODS: dict[str, SearchMethod] = {
    m.name: m
    for m in (
        SearchMethod(BASE, "LLM source and polish; nothing else"),
        SearchMethod(
            "No record grounding",
            "rows of the log: no record source, no counts in filter, ranking and features",
            log=False,
        ),
        SearchMethod(
            "No search",
            "score and search: the first candidate of each pool that renders and is checkable",
            pick="first",
        ),
        SearchMethod("Uniform weights", "fitted weights: all six features weigh the same", uniform=True),
        SearchMethod(
            UNSEARCHED, "score and search: rules drawn from p0 until one is checkable", pick="random"
        ),
        SearchMethod(
            SEARCHED, "choice of candidates: half of each slot's, drawn, are searched as usual", drawn=True
        ),
        SearchMethod("No hard penalty", "λ = 0: the score does not know h", penalty=0.0),
        SearchMethod("100 search steps", "half of the steps", steps=SHORT),
        SearchMethod(
            "AND-only evidence", "evidence operators any and at least k: every log must agree", operator="all"
        ),
        SearchMethod("CP-SAT control", "sampling: OR-Tools maximises the same objective", kernel="cpsat"),
        SearchMethod("Exact", "sampling: the greatest score by enumeration", kernel="exact"),
        SearchMethod("Gibbs", "the paper's moves: block Gibbs", kernel="gibbs"),
        SearchMethod("Informed", "the paper's moves: locally informed proposals", kernel="informed"),
        SearchMethod("Tempering", "one temperature: replica exchange", kernel="tempering"),
        SearchMethod("SMC", "one temperature: tempered particles, as many as chains", kernel="smc", least=2),
        SearchMethod(
            "Averaged over weights",
            "one vector of weights: the most probable structure, averaged over draws from their posterior",
            pick="averaged",
        ),
        SearchMethod(
            f"Best of {BEST_OF} by execution",
            "the score's last word: of its best rules the one whose verdicts on the context's own log agree "
            "most with those of the others",
            pick="agreed",
        ),
    )
}
"""By name. All lack LLM candidates and polish, since there is no model."""
MAIN = (BASE, "No record grounding", "No search")
ABLATIONS = tuple(name for name in METHODS if name not in MAIN)
KERNELS = ("CP-SAT control", "Exact", "Gibbs", "Informed", "Tempering", "SMC")
"""Methods whose objective is that of the base."""


def paper_ablations(full: str) -> dict[str, dict[str, str]]:
    """Rows of the paper's ablation table by our names; ``full`` stands where its full method does."""
    ours = {"GNRS-Search full": full, "Random candidates": SEARCHED}
    return {ours.get(row["ablation"], row["ablation"]): row for row in published("ablation")}


def cells(
    names: Sequence[str], request: ExperimentRequest, methods: Mapping[str, Any] = METHODS
) -> list[Cell]:
    """Cells of some methods (or writers): chains where they mean something, seeds where they change
    something.
    """
    found = []
    for goal, name in itertools.product(request.goal_ids, names):
        method = methods[name]
        chains = [c for c in request.chains if c >= method.least] if method.runs_chains else [None]
        seeds = request.seeds if method.seeded else request.seeds[:1]
        found += [Cell(name, c, goal, seed) for c, seed in itertools.product(chains, seeds)]
    return found


def measure(goal: str, wanted: Sequence[Cell], request: ExperimentRequest) -> Iterator[Row]:
    """Rows of some methods on one goal."""
    drafter = Drafter(GoalBench(goal, revealed=request.revealed))
    for cell in wanted:
        yield cell._asdict() | drafter.row(METHODS[cell.method], cell.chains, cell.seed)


class Chosen(NamedTuple):
    """A structure that a method chose.

    Attributes
    ----------
    graph : AndOrGraph
    position : (V,) int
    epsilon : float or None
        Greatest score of the method's own objective less that of the structure; None without search.
    energy_evaluations : int
    """

    graph: AndOrGraph
    position: Position
    epsilon: float | None
    energy_evaluations: int

    @property
    def structure(self) -> Structure:
        """The structure itself."""
        return self.graph.structure(self.position)

    @property
    def by_source(self) -> dict[str, int]:
        """Payloads by source, as rows hold them; one of a candidate that two sources proposed counts for
        both.
        """
        options = {
            slot: self.graph.options[v][int(o)]
            for v, (slot, o) in enumerate(zip(SLOTS, self.position, strict=True))
        }
        found = Counter(
            source for payload in payloads(self.structure) for source in options[payload.slot].sources
        )
        return {f"from_{source}": found[source] for source in SOURCES}


class Drafter:
    """Methods on one goal, with a model's candidates in the pools where there are some; graphs and
    enumerations are made once.
    """

    def __init__(self, bench: GoalBench, proposals: Sequence[ProposedCandidate] = ()) -> None:
        self.bench, self.proposals = bench, proposals
        self.built = cache(self._built)
        self.space = cache(self._space)
        self.enumerated = cache(self._enumerated)

    def row(self, method: SearchMethod, chains: int | None, seed: int) -> Row:
        """Everything measured of what a method drafts."""
        began = time.perf_counter()
        chosen, why = None, f"none of {TRIES:,} structures is checkable"
        try:
            chosen = self.choose(method, chains, seed)
        except GnrsError as error:
            why = str(error)
        seconds = time.perf_counter() - began
        if chosen is None:
            return self.bench.failed(why) | {"seconds": seconds}
        return self.bench.measured(chosen.structure) | {
            **chosen.by_source,
            "epsilon": chosen.epsilon,
            "energy_evaluations": chosen.energy_evaluations,
            "seconds": seconds,
        }

    def choose(self, method: SearchMethod, chains: int | None, seed: int) -> Chosen | None:
        """The structure a method chooses; None where it looked at enough and none is checkable.

        Raises
        ------
        GnrsError
            No pools.
        """
        space = method.space(seed)
        graph, tables = self.space(space)
        if method.pick == "agreed":
            return Chosen(graph, self._agreed(graph, promising(tables, BEST_OF)), None, 0)
        if method.pick in ("first", "random"):
            positions = _from_the_first(graph) if method.pick == "first" else self._drawn(tables, seed)
            for position in itertools.islice(positions, TRIES):
                if not self.bench.refusal(graph.structure(position)):
                    return Chosen(graph, position, None, 0)
            return None
        enumeration = self.enumerated(space)
        if method.pick == "averaged":
            best = int(probabilities(graph, weights_named("posterior")).argmax())
            return Chosen(graph, enumeration.position(best), None, enumeration.score.size)
        if traits(method.kernel).independent:
            best = int(enumeration.score.argmax())
            return Chosen(graph, enumeration.position(best), 0.0, enumeration.score.size)
        found = run_many(
            [padded(tables, max(ROOM, tables.unary.shape[1]), tables.pairs.shape[0])],
            chains=chains or 1,
            steps=method.steps,
            temperature=SEARCH_TEMPERATURE,
            seed=seed,
            names=[self.bench.goal.id],
            kernel=method.kernel,
        )[0]
        position = best_visited(found).position
        score = enumeration.score[np.ravel_multi_index(tuple(position), enumeration.sizes)]
        gap = float(enumeration.score.max() - score)
        return Chosen(graph, position, 0.0 if gap < TIE else gap, found.energy_evaluations)

    def _agreed(self, graph: AndOrGraph, positions: Sequence[Position]) -> Position:
        """The position, of some with the best first, whose verdicts on the context's own log agree with those
        of most others in most cases.

        Raises
        ------
        GnrsError
            There is none, or the log can carry none.
        """
        said: list[tuple[Position, dict[str, Verdict]]] = []
        for position in positions:
            with suppress(Refused):
                said.append((position, verdicts(graph.structure(position), self.bench.context.log)))
        if not said:
            raise InputError("no promising rule can be checked", "widen the pools", source=self.bench.goal.id)

        def agreement(own: Mapping[str, Verdict]) -> int:
            return sum(own[case] == verdict for _, other in said for case, verdict in other.items())

        return max(said, key=lambda one: agreement(one[1]))[0]

    def _built(self, log: bool, operator: str | None, drawn: int | None) -> tuple[Built, AndOrGraph]:
        context = self.bench.context if log else without_log(self.bench.context)
        built = pools_of(context, self.proposals)
        pools = built.pools if operator is None else with_operator(built.pools)
        return built, compile_graph(context, pools if drawn is None else half_of(pools, self._random(drawn)))

    def _space(self, space: Space) -> tuple[AndOrGraph, Tables]:
        _, graph = self.built(space.log, space.operator, space.drawn)
        weights = UNIFORM_WEIGHTS if space.uniform else frozen_weights()
        return graph, contract(graph.space, weights.array(), space.penalty)

    def _enumerated(self, space: Space) -> Enumeration:
        return enumerate_space(self.space(space)[1])

    def _drawn(self, tables: Tables, seed: int) -> Iterator[Position]:
        generator = self._random(seed)
        while True:
            yield from draw_prior(tables, 100, generator)

    def _random(self, seed: int) -> np.random.Generator:
        return np.random.default_rng([seed, zlib.crc32(self.bench.goal.id.encode())])


def promising(tables: Tables, count: int) -> list[Position]:
    """The best-scoring feasible structure of each of the ``count`` best-scoring (trigger, norm) pairs, best
    first.
    """
    found = enumerate_space(tables)
    score, number = by_pair(found)
    best, where = score.max(1), score.argmax(1)
    order = np.argsort(-best, kind="stable")[:count]
    return [found.position(int(number[pair, where[pair]])) for pair in order if np.isfinite(best[pair])]


def by_pair(found: Enumeration) -> tuple[Float[Numbers, "pairs n"], Int[Numbers, "pairs n"]]:
    """Scores of all structures, minus infinity where h fails, and their numbers, by (trigger, norm) pair."""
    score = np.where(found.feasible, found.score, -np.inf)
    slots = SLOTS.index("trigger"), SLOTS.index("norm")
    pairs = math.prod(found.sizes[slot] for slot in slots)
    each = (values.reshape(found.sizes) for values in (score, np.arange(score.size)))
    scores, numbers = (np.moveaxis(values, slots, (0, 1)).reshape(pairs, -1) for values in each)
    return scores, numbers


def without_log(context: Context) -> Context:
    """The same goal, schema and declared channels, and no row: what the channels could record, never what
    they did.
    """
    records = context.records.model_copy(update={"log": None, "prospective": True})
    return replace(context, records=records, scene=None)


def with_operator(pools: Pools) -> Pools:
    """Pools whose evidence policies all ask for every log; candidates that become equal are merged when they
    are flattened.
    """
    evidence = [
        Candidate[EvidencePolicy](
            id=c.id,
            content=EvidencePolicy(channels=c.content.channels),
            sources=c.sources,
            provenance=c.provenance,
        )
        for c in pools.evidence
    ]
    return pools.model_copy(update={"evidence": tuple(evidence)})


def half_of(pools: Pools, generator: np.random.Generator) -> Pools:
    """Pools that keep half of each slot's candidates, rounded up, drawn and in their order."""
    kept = {}
    for slot in SLOTS:
        pool = getattr(pools, slot)
        places = generator.choice(len(pool), size=(len(pool) + 1) // 2, replace=False)
        kept[slot] = tuple(pool[place] for place in sorted(places))
    return pools.model_copy(update=kept)


def _from_the_first(graph: AndOrGraph) -> Iterator[Position]:
    """Every structure, those nearest to the first option of every slot first."""
    sizes = [len(options) for options in graph.options]
    for total in range(sum(sizes) - len(sizes) + 1):
        yield from _summing(sizes, total)


def _summing(sizes: Sequence[int], total: int) -> Iterator[list[int]]:
    """Positions whose option numbers add up to a total; earlier slots keep their first options longest."""
    if not sizes:
        if total == 0:
            yield []
        return
    room = sum(size - 1 for size in sizes[1:])
    for option in range(max(0, total - room), min(sizes[0] - 1, total) + 1):
        for rest in _summing(sizes[1:], total - option):
            yield [option, *rest]
