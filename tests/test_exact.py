"""Enumeration against plain loops over every structure."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import spaces
from scipy import stats

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference.chains import run_chains
from gnrs_ppl.inference.exact import (
    Posterior,
    best,
    enumerate_block,
    enumerate_space,
    exact_posterior,
    fewest_flags,
    number_of_states,
    optimum,
    pair_marginal,
    pair_marginals,
    slot_marginals,
    top,
)
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, contract, hard_penalty
from gnrs_ppl.models.space import build_space

EXACT = 1e-10
FAILURE_RATE = 1e-6
"""Chance that right draws fail the chi-square test; the seed is fixed, so it was spent once."""
SEEDS = range(6)


class Truth:
    """The posterior by loops: lists over every structure."""

    def __init__(self, seed: int, temperature: float) -> None:
        self.tables, self.weights = spaces.ragged(seed), spaces.weights(seed)
        penalty = hard_penalty(self.weights)
        self.positions = spaces.positions(self.tables)
        self.scores = [spaces.score(self.tables, self.weights, penalty, a) for a in self.positions]
        self.feasible = [not spaces.raised(self.tables, a) for a in self.positions]
        terms = [
            math.exp(spaces.log_prior(self.tables, a) + s / temperature)
            for a, s in zip(self.positions, self.scores, strict=True)
        ]
        self.log_normalizer = math.log(math.fsum(terms))
        self.probability = [term / math.fsum(terms) for term in terms]

    def marginal(self, *variables: int) -> dict[tuple[int, ...], float]:
        found: dict[tuple[int, ...], float] = {}
        for a, p in zip(self.positions, self.probability, strict=True):
            key = tuple(a[v] for v in variables)
            found[key] = found.get(key, 0.0) + p
        return found

    def posterior(self, temperature: float) -> Posterior:
        return exact_posterior(
            enumerate_space(contract(build_space(**self.tables), self.weights)), temperature
        )


@pytest.mark.parametrize("temperature", [SEARCH_TEMPERATURE, 1.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_posterior_is_that_of_plain_loops(seed: int, temperature: float):
    truth = Truth(seed, temperature)
    found = truth.posterior(temperature)
    np.testing.assert_allclose(found.enumeration.score, truth.scores, rtol=0, atol=EXACT)
    assert found.enumeration.feasible.tolist() == truth.feasible
    assert found.log_normalizer == pytest.approx(truth.log_normalizer, abs=EXACT)
    np.testing.assert_allclose(found.probability, truth.probability, rtol=0, atol=EXACT)
    assert found.infeasible_mass == pytest.approx(
        sum(p for p, h in zip(truth.probability, truth.feasible, strict=True) if not h), abs=EXACT
    )
    assert [tuple(found.enumeration.position(i)) for i in range(len(truth.positions))] == truth.positions


@pytest.mark.parametrize("seed", SEEDS)
def test_marginals(seed: int):
    truth = Truth(seed, SEARCH_TEMPERATURE)
    found = truth.posterior(SEARCH_TEMPERATURE)
    for v, marginal in enumerate(slot_marginals(found)):
        expected = truth.marginal(v)
        np.testing.assert_allclose(marginal, [expected[o,] for o in range(len(marginal))], rtol=0, atol=EXACT)
    every = pair_marginals(found)
    assert list(every) == list(itertools.combinations(range(len(found.enumeration.sizes)), 2))
    for pair, table in every.items():
        expected = truth.marginal(*pair)
        due = [[expected[o, q] for q in range(table.shape[1])] for o in range(table.shape[0])]
        np.testing.assert_allclose(table, due, rtol=0, atol=EXACT)
        np.testing.assert_allclose(pair_marginal(found, *pair), due, rtol=0, atol=EXACT)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_part_of_the_space_is_that_part(seed: int):
    """Every variable's options but the first, or from the middle on, numbered from 0."""
    tables = contract(build_space(**spaces.ragged(seed)), spaces.weights(seed))
    whole = enumerate_space(tables)
    for options in (
        [slice(min(1, n - 1), n) for n in whole.sizes],
        [slice(n // 2, n // 2 + 1) for n in whole.sizes],
    ):
        part = enumerate_block(tables, options)
        assert part.sizes == tuple(kept.stop - kept.start for kept in options)
        for name in ("score", "feasible", "log_prior"):
            np.testing.assert_array_equal(
                getattr(part, name), getattr(whole, name).reshape(whole.sizes)[tuple(options)].ravel()
            )


@pytest.mark.parametrize("seed", SEEDS)
def test_rankings(seed: int):
    truth = Truth(seed, SEARCH_TEMPERATURE)
    found = truth.posterior(SEARCH_TEMPERATURE)
    by_score = sorted(
        range(len(truth.scores)), key=lambda i: (-round(truth.scores[i], 9), -truth.probability[i])
    )
    assert [tuple(r.position) for r in best(found, 5)] == [truth.positions[i] for i in by_score[:5]]
    by_probability = sorted(truth.probability, reverse=True)
    assert [r.probability for r in top(found, 5)] == pytest.approx(by_probability[:5], abs=EXACT)
    first = optimum(found)
    assert first.score == pytest.approx(max(truth.scores), abs=EXACT)
    assert first.feasible == any(truth.feasible)
    assert len(top(found, 10**6)) == len(truth.positions)
    assert top(found, 0) == []


def test_ties_go_to_the_lower_number():
    flat = contract(
        build_space(candidates=[[0, 1, 2], [0, 1]], unary=[np.zeros((3, 1)), np.zeros((2, 1))]), np.ones(1)
    )
    posterior = exact_posterior(enumerate_space(flat), SEARCH_TEMPERATURE)
    assert [tuple(r.position) for r in best(posterior, 3)] == [(0, 0), (0, 1), (1, 0)]
    assert posterior.log_normalizer == pytest.approx(0)


def test_infeasible_mass_stays_under_its_bound():
    for seed in SEEDS:
        found = Truth(seed, SEARCH_TEMPERATURE).posterior(SEARCH_TEMPERATURE)
        prior = np.exp(found.enumeration.log_prior)
        if found.enumeration.any_feasible:
            odds = prior[~found.enumeration.feasible].sum() / prior[found.enumeration.feasible].sum()
            assert found.infeasible_mass <= odds * math.exp(-1 / SEARCH_TEMPERATURE)


def test_nothing_feasible_names_what_blocks():
    blocked: dict[str, Any] = {
        "candidates": [[0, 1], [0, 1, 2]],
        "unary": [np.zeros((2, 1)), np.zeros((3, 1))],
        "unary_flags": {0: np.array([True, False])},
        "pair_flags": {(0, 1): np.array([[True, True, True], [True, True, True]])},
    }
    tables = contract(build_space(**blocked, pad_options=5, pad_pairs=4), np.ones(1))
    assert not enumerate_space(tables).any_feasible
    found = fewest_flags(tables)
    assert tuple(found.position) == (1, 0)
    assert [(r.variables, r.options) for r in found.raised] == [((0, 1), (1, 0))]


@pytest.mark.parametrize("seed", SEEDS)
def test_fewest_flags(seed: int):
    tables = spaces.ragged(seed)
    found = fewest_flags(contract(build_space(**tables), spaces.weights(seed)))
    counts = [len(spaces.raised(tables, a)) for a in spaces.positions(tables)]
    assert [r.variables for r in found.raised] == spaces.raised(tables, tuple(found.position))
    assert len(found.raised) == min(counts)


def test_large_spaces_are_refused_with_the_alternative():
    tables = contract(
        build_space(candidates=[list(range(40))] * 5, unary=[np.zeros((40, 1))] * 5), np.ones(1)
    )
    assert number_of_states(tables) == 40**5
    with pytest.raises(
        InputError, match=r"102400000 structures, more than the 10000000 .* use --kernel metropolis"
    ) as refused:
        enumerate_space(tables)
    assert refused.value.exit_code == 2
    with pytest.raises(InputError, match="--kernel metropolis"):
        run_chains(tables, chains=1, steps=1, temperature=1.0, seed=0, kernel="exact")


def test_more_variables_than_array_axes():
    """NumPy allows 64 axes; variables of one option need none."""
    many = 70
    tables = contract(
        build_space(candidates=[[0]] * many + [[0, 1]], unary=[[[1 / 200]]] * many + [[[0.0], [0.5]]]),
        np.ones(1),
    )
    posterior = exact_posterior(enumerate_space(tables), SEARCH_TEMPERATURE)
    assert len(posterior.probability) == 2
    assert optimum(posterior).score == pytest.approx(many / 200 + 0.5)
    assert [len(m) for m in slot_marginals(posterior)] == [1] * many + [2]
    assert pair_marginal(posterior, 0, many).shape == (1, 2)


def test_independent_draws_come_from_the_posterior():
    truth = Truth(2, 0.5)
    tables = contract(build_space(**truth.tables), truth.weights)
    drawn = run_chains(tables, chains=40, steps=500, temperature=0.5, seed=7, kernel="exact")
    sizes = tuple(int(n) for n in tables.sizes)
    index = np.ravel_multi_index(tuple(np.moveaxis(drawn.positions, -1, 0)), sizes)
    counts = np.bincount(index.ravel(), minlength=math.prod(sizes))
    expected = np.array(truth.probability) * index.size
    # cells with under five expected draws are taken together
    rare = expected < 5
    observed = np.append(counts[~rare], counts[rare].sum())
    due = np.append(expected[~rare], expected[rare].sum())
    assert stats.chisquare(observed, due).pvalue > FAILURE_RATE
    np.testing.assert_allclose(drawn.score, np.array(truth.scores)[index], rtol=0, atol=EXACT)
    assert (drawn.move == -1).all()
    assert drawn.accepted.all()
    assert drawn.starts.shape == (40, len(sizes))
