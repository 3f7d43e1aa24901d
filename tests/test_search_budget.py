"""Search at the paper's budget: what it counts against plain loops, what the other searches may spend, and
one goal's row."""

from __future__ import annotations

import itertools

import jax
import numpy as np
import pytest
import spaces

from gnrs_ppl.errors import InputError
from gnrs_ppl.experiments.search_budget import (
    SHORT,
    STEPS,
    coordinate_ascent,
    landscape,
    mean_found,
    mean_landscape,
    random_search,
    search_budget,
)
from gnrs_ppl.inference.exact import TIE, Enumeration, enumerate_space
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, Tables, contract
from gnrs_ppl.models.space import build_space

SIZES = (3, 4, 1, 2, 3)
PENALTY = 10.0
SEEDS = range(6)


def rough(seed: int) -> Enumeration:
    """A space of few distinct scores, so that plateaus are many."""
    rng = np.random.default_rng(seed)
    states = int(np.prod(SIZES))
    feasible = rng.random(states) < 0.2
    return Enumeration(
        SIZES,
        rng.integers(0, 4, states) / 4 - PENALTY * ~feasible,
        feasible,
        np.full(states, -np.log(states)),
    )


def neighbours(a: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [(*a[:v], o, *a[v + 1 :]) for v, size in enumerate(SIZES) for o in range(size) if o != a[v]]


def local_optima(score: dict[tuple[int, ...], float]) -> set[tuple[int, ...]]:
    return {a for a in score if not any(score[b] > score[a] + TIE for b in neighbours(a) if b in score)}


def plateaus(score: dict[tuple[int, ...], float]) -> list[set[tuple[int, ...]]]:
    rest, found = local_optima(score), []
    while rest:
        plateau, front = set(), [rest.pop()]
        while front:
            plateau.add(a := front.pop())
            near = {b for b in neighbours(a) if b in rest and abs(score[b] - score[a]) <= TIE}
            rest -= near
            front += near
        found.append(plateau)
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_the_landscape_is_that_of_plain_loops(seed: int):
    enumeration = rough(seed)
    positions = list(itertools.product(*map(range, SIZES)))
    score = dict(zip(positions, enumeration.score.tolist(), strict=True))
    feasible = {a for a, passes in zip(positions, enumeration.feasible, strict=True) if passes}
    local, parts = local_optima(score), plateaus(score)
    left = [
        p
        for p in parts
        if any(b not in local and abs(score[b] - score[a]) <= TIE for a in p for b in neighbours(a))
    ]
    found = landscape(enumeration)
    assert (found.states, found.feasible) == (len(positions), len(feasible))
    assert found.local_optima == len(local)
    assert (
        found.feasible_local_optima
        == len(local & feasible)
        == len(local_optima({a: score[a] for a in feasible}))
    )
    assert (found.plateaus, found.open_plateaus) == (len(parts), len(left))
    assert found.optimal == sum(s >= max(score.values()) - TIE for s in score.values())
    weight = {a: np.exp(s / SEARCH_TEMPERATURE) for a, s in score.items()}
    assert found.optimal_mass == pytest.approx(
        sum(weight[a] for a in score if score[a] >= max(score.values()) - TIE) / sum(weight.values())
    )


def test_rough_spaces_show_every_case():
    found = [landscape(rough(seed)) for seed in SEEDS]
    assert any(f.plateaus < f.local_optima for f in found)
    assert any(f.open_plateaus for f in found)
    assert any(f.feasible_local_optima < f.local_optima for f in found)


def ragged(seed: int) -> tuple[Tables, Enumeration]:
    tables = contract(build_space(**spaces.ragged(seed)), spaces.weights(seed))
    return tables, enumerate_space(tables)


@pytest.mark.parametrize("seed", SEEDS)
def test_coordinate_ascent_only_climbs_one_slot_at_a_time_and_spends_its_budget(seed: int):
    tables, enumeration = ragged(seed)
    local = enumeration.score.reshape(enumeration.sizes)
    tops = np.logical_and.reduce(
        [local >= local.max(axis, keepdims=True) - TIE for axis in range(local.ndim)]
    ).reshape(-1)
    for evaluations in (1, 2, 3, 7, 50, 301):
        found = coordinate_ascent(enumeration, tables, evaluations, np.random.default_rng(seed))
        assert found.evaluations == evaluations
        for path in found.paths:
            assert (np.diff(enumeration.score[[*path]]) > 0).all()
            steps = np.diff([enumeration.position(number) for number in path], axis=0)
            assert (np.count_nonzero(steps, axis=1) == 1).all()
        assert all(tops[path[-1]] for path in found.paths[:-1])  # the last may be cut short


def flat(*sizes: int) -> tuple[Tables, Enumeration]:
    space = build_space([[*range(n)] for n in sizes], unary=[np.zeros((n, 1)) for n in sizes])
    tables = contract(space, np.ones(1))
    return tables, enumerate_space(tables)


def test_an_ascent_on_flat_ground_costs_its_start_and_every_other_option():
    tables, enumeration = flat(3, 5, 1, 2)
    cost = 1 + 2 + 4 + 0 + 1
    for evaluations in range(1, 5 * cost):
        found = coordinate_ascent(enumeration, tables, evaluations, np.random.default_rng(evaluations))
        assert [len(path) for path in found.paths] == [1] * -(-evaluations // cost)
        assert found.evaluations == evaluations


def test_an_ascent_of_one_slot_costs_a_sweep_more_where_it_climbed():
    tables = contract(build_space([[0, 1, 2, 3, 4]], unary=[[[0.1], [0.5], [0.9], [0.2], [0.4]]]), np.ones(1))
    enumeration = enumerate_space(tables)

    def paths(evaluations: int) -> tuple[tuple[int, ...], ...]:
        return coordinate_ascent(enumeration, tables, evaluations, np.random.default_rng(1)).paths

    every = paths(200)
    assert {path[-1] for path in every[:-1]} == {2}
    assert {len(path) for path in every[:-1]} == {1, 2}
    spent = np.cumsum([1 + 4 * len(path) for path in every[:-1]])
    for count, evaluations in enumerate(spent.tolist(), 1):
        assert paths(evaluations) == every[:count]


def test_a_cut_slot_looks_at_no_option_beyond_the_budget():
    tables = contract(build_space([[0, 1, 2, 3]], unary=[[[0.1], [0.2], [0.3], [0.4]]]), np.ones(1))
    enumeration = enumerate_space(tables)
    seen = set()
    for seed in range(40):
        for looked in range(4):
            (path,) = coordinate_ascent(enumeration, tables, 1 + looked, np.random.default_rng(seed)).paths
            others = [option for option in range(4) if option != path[0]][:looked]
            assert path[-1] == max([path[0], *others])
            seen.add((path[0], looked))
    assert len(seen) == 16


@pytest.mark.parametrize("seed", SEEDS)
def test_long_enough_both_searches_find_the_optimum(seed: int):
    tables, enumeration = ragged(seed)
    evaluations = 200 * len(enumeration.score)
    best = random_search(enumeration, tables, evaluations, np.random.default_rng(seed))
    assert enumeration.score[best] == enumeration.score.max()
    climbed = coordinate_ascent(enumeration, tables, 20 * len(enumeration.score), np.random.default_rng(seed))
    assert max(enumeration.score[path[-1]] for path in climbed.paths) == enumeration.score.max()


def test_a_short_run_is_the_beginning_of_a_long_one():
    """Chains take one key a step, and the starts do not know how many there are (draw_starts); no kernel is
    compiled for this."""
    short, long = (
        jax.random.key_data(jax.random.split(jax.random.key(5), steps)) for steps in (SHORT, STEPS)
    )
    np.testing.assert_array_equal(short, long[:SHORT])


@pytest.mark.slow
def test_the_row_of_a_dev_goal():
    rows = search_budget(["GNRS-081"])
    (row,) = rows
    assert (
        0
        < row.landscape.optimal
        <= row.landscape.feasible_local_optima
        <= row.landscape.local_optima
        < row.landscape.states
    )
    assert [(f.method, f.evaluations, f.runs) for f in row.found] == [
        *[(method, n, runs) for n in (101, 201) for method, runs in (("1 chain", 3), ("1 chain", 100), ("coordinate ascent", 100), ("random search", 100))],
        *[(method, 64 * 201, runs) for method, runs in (("64 chains", 3), ("coordinate ascent", 100), ("random search", 100))],
    ]  # fmt: skip
    assert all(0 <= share <= 1 for f in row.found for share in (f.reached, f.feasible, f.hard_ok))
    assert all(f.epsilon >= 0 and (f.reached < 1 or f.epsilon <= 1e-6) for f in row.found)
    reached = {(f.method, f.evaluations, f.runs): f.reached for f in row.found}
    assert reached["64 chains", 64 * 201, 3] >= reached["1 chain", 201, 100] >= reached["1 chain", 101, 100]
    assert mean_found(rows) == row.found
    assert tuple(mean_landscape(rows).values()) == pytest.approx(row.landscape)


def test_only_dev_goals():
    with pytest.raises(InputError, match="GNRS-001: is no dev goal; see gnrs goals --split dev"):
        search_budget(["GNRS-081", "GNRS-001"])
