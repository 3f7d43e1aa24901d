"""A cut of the posterior over rules: the fewest that hold a stated share of its mass, and the bound on what
was cut.

What a rule asks of the log does not depend on its procedure, nor on whether it is binding, so the mass of
those is summed up exactly and the unit is the *check*: scope, trigger, norm and evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray

from gnrs_ppl.calibration.weights import Weights
from gnrs_ppl.inference.exact import STATE_LIMIT, enumerate_space, exact_posterior, number_of_states
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, contract
from gnrs_ppl.models.features import FEATURES
from gnrs_ppl.models.graph import AndOrGraph
from gnrs_ppl.rule.canonical import dumps
from gnrs_ppl.rule.types import SLOTS, Structure

Floats = NDArray[np.float64]

SHARE = 0.9
"""Share of the mass that is kept unless another is asked for."""
ASKED = SLOTS[:4]
"""The slots that a check depends on."""
DRAWN_CHAINS, DRAWN_STEPS = 64, 2000
"""Draws from a space that is too large to enumerate."""
MOST_CELLS = 4_000_000
"""Log densities that are in memory at once while weights are averaged over."""


class Mass(NamedTuple):
    """The checks that are kept, the most probable first.

    Attributes
    ----------
    graph : AndOrGraph
    positions : (n, 4) int
        An option of each slot of ``ASKED``; one of the equal ones where several give one check.
    probability : (n,) float64
        Of all rules with this check; sums to 1 - ``cut``.
    key : tuple of str
        Canonical text of each check.
    structures : int
        How many structures the kept checks stand for.
    cut : float
        Probability of all that was left out: no P that is computed over the kept is further off.
    exact : bool
        From enumeration; otherwise from draws, and ``cut`` is an estimate: what was left out of the draws,
        and Good and Turing's share of what no draw has seen.
    """

    graph: AndOrGraph
    positions: Int[NDArray[np.int64], "n 4"]
    probability: Float[Floats, " n"]
    key: tuple[str, ...]
    structures: int
    cut: float
    exact: bool

    @property
    def share(self) -> Float[Floats, " n"]:
        """Probability of each check given the kept ones."""
        return np.asarray(self.probability / self.probability.sum())

    def structure(self, number: int) -> Structure:
        """A rule with one of the checks; its procedure is the first of the pool and means nothing."""
        return self.graph.structure([*self.positions[number].tolist(), 0])

    def updated(self, likelihood: Float[Floats, " n"], greatest: float) -> Mass:
        """The kept checks weighed by what answers say of each, the most probable first; exact on them, and
        ``cut`` stays a bound.

        Parameters
        ----------
        likelihood : (n,) float
        greatest : float
            The most that answers can say of any check: all that is known of what was cut.
        """
        weighed = self.probability * likelihood
        cut = self.cut * greatest
        total = weighed.sum() + cut
        order = np.argsort(-weighed, kind="stable")
        return self._replace(
            positions=self.positions[order],
            probability=weighed[order] / total,
            key=tuple(self.key[n] for n in order.tolist()),
            cut=cut / total,
        )


def mass(graph: AndOrGraph, weights: Weights, share: float = SHARE) -> Mass:
    """The fewest checks that hold a share of the posterior at the temperature people see.

    Parameters
    ----------
    graph : AndOrGraph
        Conditioned or not.
    weights : Weights
        Draws in them are averaged over.
    share : float
        In (0, 1].
    """
    tables = contract(graph.space, weights.array())
    sizes = tuple(int(n) for n in tables.sizes)
    if number_of_states(tables) <= STATE_LIMIT:
        probability = probabilities(graph, weights).reshape(-1, sizes[-1]).sum(1)
        where, exact, unseen = np.arange(len(probability)), True, 0.0
    else:
        from gnrs_ppl.inference.chains import run_chains  # a second that an enumeration need not wait for

        run = run_chains(
            tables,
            chains=DRAWN_CHAINS,
            steps=DRAWN_STEPS,
            temperature=weights.temperature or SEARCH_TEMPERATURE,
            seed=0,
            kernel="tempering",
        )
        late = run.positions[:, DRAWN_STEPS // 2 :, : len(ASKED)].reshape(-1, len(ASKED))
        where, counts = np.unique(np.ravel_multi_index(tuple(late.T), sizes[:-1]), return_counts=True)
        unseen = float((counts == 1).sum() / counts.sum())
        probability, exact = (1 - unseen) * counts / counts.sum(), False
    return _kept(graph, sizes, where, probability, share, unseen, exact)


def probabilities(graph: AndOrGraph, weights: Weights) -> Float[Floats, " N"]:
    """p(a | x) of every structure, in the order of the enumeration; the mean over weight draws where there
    are any.
    """
    if not weights.draws:
        found = enumerate_space(contract(graph.space, weights.array()))
        return exact_posterior(found, weights.temperature or SEARCH_TEMPERATURE).probability
    each = [enumerate_space(contract(graph.space, one, penalty=0.0)) for one in np.eye(len(FEATURES))]
    feasible = np.flatnonzero(each[0].feasible)  # the infeasible hold 1e-6 of the mass at any weights
    features, log_prior = np.column_stack([e.score[feasible] for e in each]), each[0].log_prior[feasible]
    total, beta = np.zeros(len(feasible)), np.asarray(weights.draws, np.float64)
    step = max(1, MOST_CELLS // max(len(feasible), 1))
    for first in range(0, len(beta), step):
        density = features @ beta[first : first + step].T + log_prior[:, None]
        density = np.exp(density - density.max(0))
        total += (density / density.sum(0)).sum(1)
    probability = np.zeros(len(each[0].score))
    probability[feasible] = total / len(beta)
    return probability


def fewest(probability: Float[Floats, " n"], share: float) -> Int[NDArray[np.int64], " m"]:
    """The fewest items that hold a share of a distribution's mass, the most probable first."""
    order = np.argsort(-probability, kind="stable")
    held = np.cumsum(probability[order])
    count = int(np.searchsorted(held, share * held[-1] - 1e-12)) + 1
    return np.asarray(order[:count])


def _kept(
    graph: AndOrGraph,
    sizes: Sequence[int],
    where: Int[NDArray[np.int64], " n"],
    probability: Float[Floats, " n"],
    share: float,
    unseen: float,
    exact: bool,
) -> Mass:
    """Merge options that say one check, then cut."""
    parts = [(_texts(graph, slot), same_texts(graph, slot)) for slot in ASKED]
    option = np.unravel_index(where, sizes[:-1])
    merged = np.stack([same[o] for (_, same), o in zip(parts, option, strict=True)], axis=-1)
    distinct, group = np.unique(merged, axis=0, return_inverse=True)
    summed = np.bincount(group.ravel(), probability).astype(np.float64)
    counted = np.bincount(group.ravel())
    chosen = fewest(summed, share)
    keys = tuple(
        "\n".join(text[o] for (text, _), o in zip(parts, distinct[c], strict=True)) for c in chosen.tolist()
    )
    return Mass(
        graph=graph,
        positions=distinct[chosen],
        probability=summed[chosen],
        key=keys,
        structures=int(counted[chosen].sum()) * sizes[-1],
        cut=max(0.0, unseen + float(probability.sum() - summed[chosen].sum())),
        exact=exact,
    )


def same_texts(graph: AndOrGraph, slot: str) -> Int[NDArray[np.int64], " n"]:
    """Of each option of a slot the first option that asks the same of a log."""
    text = _texts(graph, slot)
    return np.array([text.index(one) for one in text])


def _texts(graph: AndOrGraph, slot: str) -> list[str]:
    """Canonical text of each option of a slot, binding or not the same."""
    text = []
    for option in graph.options[SLOTS.index(slot)]:
        content = option.content
        if getattr(content, "force", None) == "should":
            content = content.model_copy(update={"force": "must"})
        text.append(dumps(content))
    return text
