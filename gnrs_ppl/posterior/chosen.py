"""The rule that answers choose: the most probable of the check that they leave on top."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnrs_ppl.calibration.weights import Weights
from gnrs_ppl.context.load import Context
from gnrs_ppl.errors import InputError
from gnrs_ppl.inference.exact import enumerate_space
from gnrs_ppl.inference.result import Ranked
from gnrs_ppl.models.energy import contract
from gnrs_ppl.models.graph import AndOrGraph
from gnrs_ppl.posterior.answers import Answers
from gnrs_ppl.posterior.ask import State, ask
from gnrs_ppl.posterior.mass import ASKED, mass, probabilities, same_texts
from gnrs_ppl.posterior.uncertain import checked

RUNNERS_UP = 51
"""Rules that are ranked, one for each of the most probable checks: as many as a draft may show."""


class Answered(NamedTuple):
    """What answers make of a posterior.

    Attributes
    ----------
    answers : Answers
    ranked : tuple of Ranked
        The most probable rule of each of the most probable checks; its probability given the answers.
    cut : float
        Greatest probability that all rules outside the kept mass together may have by now.
    """

    answers: Answers
    ranked: tuple[Ranked, ...]
    cut: float

    @property
    def best(self) -> Ranked:
        """The rule that is drafted."""
        return self.ranked[0]


def choose(context: Context, graph: AndOrGraph, weights: Weights, answers: Answers) -> Answered:
    """Weigh the posterior of a graph by answers.

    Raises
    ------
    InputError
        The context has no log, or an answer is about what is not there.
    """
    if context.records.prospective:
        raise InputError(
            "names no log, so nobody can have been asked about its cases",
            "pass --log, or leave --answers out",
            source=context.source,
            field="records.log",
        )
    before = mass(graph, weights)
    state = ask(before, checked(before, context.resolved, context.log), answers)
    return Answered(answers, ranked(state, weights), state.mass.cut)


def ranked(state: State, weights: Weights) -> tuple[Ranked, ...]:
    """The most probable rule of each of the first checks."""
    graph, after = state.mass.graph, state.mass
    found = enumerate_space(contract(graph.space, weights.array()))
    p = probabilities(graph, weights).reshape(found.sizes)
    rules = []
    same = [same_texts(graph, slot) for slot in ASKED]
    for n in range(min(RUNNERS_UP, len(after.key))):
        options = [
            np.flatnonzero(first == o) for first, o in zip(same, after.positions[n].tolist(), strict=True)
        ]
        block = p[np.ix_(*options)]
        place = np.unravel_index(int(block.argmax()), block.shape)
        position = [int(kept[i]) for kept, i in zip(options, place, strict=False)] + [int(place[-1])]
        index = int(np.ravel_multi_index(position, found.sizes))
        share = float(after.probability[n] * block.max() / block.sum())
        rules.append(
            Ranked(
                np.array(position, np.int32), float(found.score[index]), bool(found.feasible[index]), share
            )
        )
    return tuple(rules)
