"""The sweep in blocks against plain loops over every structure, and against one block; how much memory it
takes.

Frequencies: FAILURE_RATE is the chance that right draws would have failed either chi-square test; the seed is
fixed, so it was spent once.
"""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spaces
from numpy.typing import NDArray
from scipy import stats

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference import sweep as module
from gnrs_ppl.inference.chains import run_chains
from gnrs_ppl.inference.exact import TIE
from gnrs_ppl.inference.result import Ranked
from gnrs_ppl.inference.sweep import Exact, sweep
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, Tables, contract, padded
from gnrs_ppl.models.space import build_space

EXACT = 1e-10
FAILURE_RATE = 1e-5
SEEDS = range(6)
TEMPERATURES = [0.01, SEARCH_TEMPERATURE, 1.0]
BLOCKS = [1, 3, 17, 10**6]
"""One structure; less than the last variable; some variables; the whole space."""


def raw(seed: int) -> dict[str, Any]:
    """A random space; in every other one an option is worth 0.1 or nothing, so that many structures tie."""
    found = spaces.ragged(seed)
    if seed % 2:
        rng = np.random.default_rng(seed)
        found["unary"] = [
            np.repeat(rng.integers(0, 2, (len(t), 1)) / 10, spaces.FEATURES, axis=1) for t in found["unary"]
        ]
        found["pairwise"] = {pair: np.zeros_like(table) for pair, table in found["pairwise"].items()}
    return found


def penalty(seed: int) -> float:
    """Every third space has so small a lambda that its best structures may break a condition."""
    return 0.02 if seed % 3 == 2 else 2.0


@cache
def structures(
    seed: int,
) -> tuple[list[spaces.Position], NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
    """Options, score, h and log p0 of every structure, by loops."""
    given, w = raw(seed), spaces.weights(seed)
    every = spaces.positions(given)
    score = np.array([spaces.score(given, w, penalty(seed), a) for a in every])
    feasible = np.array([not spaces.raised(given, a) for a in every])
    return every, score, feasible, np.array([spaces.log_prior(given, a) for a in every])


def tables(seed: int) -> Tables:
    return contract(build_space(**raw(seed)), spaces.weights(seed), penalty=penalty(seed))


def shares(
    every: list[spaces.Position], probability: NDArray[np.float64], sizes: tuple[int, ...], *variables: int
) -> NDArray[np.float64]:
    found = np.zeros([sizes[v] for v in variables])
    for a, p in zip(every, probability, strict=True):
        found[tuple(a[v] for v in variables)] += p
    return found


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("temperature", TEMPERATURES)
def test_every_figure_is_that_of_plain_loops(temperature: float, block: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "BLOCK", block)
    monkeypatch.setattr(module, "KEPT", 5)
    ties = broken = 0
    for seed in SEEDS:
        every, score, feasible, log_prior = structures(seed)
        logdensity = log_prior + score / temperature
        log_normalizer = logdensity.max() + math.log(math.fsum(np.exp(logdensity - logdensity.max())))
        probability = np.exp(logdensity - log_normalizer)
        found = sweep(tables(seed), temperature)
        assert found.temperature == temperature
        assert found.sizes == tuple(len(owners) for owners in raw(seed)["candidates"])
        assert (found.states, found.feasible_states) == (len(every), feasible.sum())
        assert found.optimal_states == (score >= score.max() - TIE).sum()
        assert found.log_normalizer == pytest.approx(log_normalizer, abs=EXACT)
        assert found.infeasible_mass == pytest.approx(math.fsum(probability[~feasible]), abs=EXACT)
        for v, marginal in enumerate(found.marginals):
            np.testing.assert_allclose(
                marginal, shares(every, probability, found.sizes, v), rtol=0, atol=EXACT
            )
        assert list(found.pair_marginals) == list(itertools.combinations(range(len(found.sizes)), 2))
        for pair, marginal in found.pair_marginals.items():
            np.testing.assert_allclose(
                marginal, shares(every, probability, found.sizes, *pair), rtol=0, atol=EXACT
            )
        check_ranking(found.best, 5, every, score, feasible, probability, np.round(score, 9), probability)
        check_ranking(found.top, 5, every, score, feasible, probability, probability, np.zeros_like(score))
        assert found.optimum == pytest.approx(score.max(), abs=EXACT)
        for r in found.top:
            assert found.probability(
                r.score, log_prior[every.index(tuple(r.position.tolist()))]
            ) == pytest.approx(r.probability, abs=EXACT)
        ties += found.optimal_states > 5
        broken += not found.best[0].feasible
    assert ties, "some optimum is shared by more structures than are kept"
    assert broken, "some optimum breaks a condition"


def check_ranking(
    found: tuple[Ranked, ...],
    count: int,
    every: Any,
    score: Any,
    feasible: Any,
    probability: Any,
    key: Any,
    tie: Any,
) -> None:
    """The first by key, then by tie; which of several that share both is left open, as sums of other terms
    round otherwise."""
    chosen = [every.index(tuple(r.position.tolist())) for r in found]
    assert len({*chosen}) == len(found) == min(count, len(every))
    assert all(r.position.dtype == np.int32 for r in found)
    np.testing.assert_allclose([r.score for r in found], score[chosen], rtol=0, atol=EXACT)
    np.testing.assert_allclose([r.probability for r in found], probability[chosen], rtol=0, atol=EXACT)
    assert [r.feasible for r in found] == feasible[chosen].tolist()
    order = np.lexsort((-tie, -key))[: len(found)]
    np.testing.assert_allclose(key[chosen], key[order], rtol=0, atol=EXACT)
    np.testing.assert_allclose(tie[chosen], tie[order], rtol=0, atol=EXACT)


@pytest.mark.parametrize("block", [1, 3, 16])
def test_scores_that_differ_by_rounding_tie(block: int, monkeypatch: pytest.MonkeyPatch):
    """0.1 + 0.2 is more than 0.3 + 0 in float64; p0, which differs, has to decide."""
    monkeypatch.setattr(module, "BLOCK", block)
    worth = np.array([0.3, 0.2, 0.1, 0.0])
    above = worth[:, None] + worth > 0.3 + TIE
    space = build_space(
        [[0, 1, 1, 1], [0, 0, 1, 2]], [worth[:, None], worth[:, None]], pair_flags={(0, 1): above}
    )
    found = sweep(contract(space, np.ones(1)), 1.0)
    assert 0.1 + 0.2 > 0.3
    assert found.optimal_states == 4
    # p0 of (0, 3), (1, 2), (2, 1), (3, 0): 1/2 * 1/3, 1/6 * 1/3, 1/6 * 1/6, 1/6 * 1/6
    assert [tuple(r.position.tolist()) for r in found.best[:2]] == [(0, 3), (1, 2)]


@pytest.mark.parametrize("block", BLOCKS)
def test_blocks_cover_the_space_once_and_in_order(block: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "BLOCK", block)
    for sizes in [(2, 3, 1, 4), (7,), (1, 1), (5, 1, 2), (1, 9, 1)]:
        blocks = [
            [range(n)[kept] for n, kept in zip(sizes, options, strict=True)]
            for options in module._blocks(sizes)
        ]
        assert [a for options in blocks for a in itertools.product(*options)] == list(
            itertools.product(*map(range, sizes))
        )
        assert max(math.prod(map(len, options)) for options in blocks) <= block
        assert len(blocks) <= 2 * -(-math.prod(sizes) // block) or block < max(sizes), "few blocks"


def same(left: Exact, right: Exact) -> None:
    assert (left.sizes, left.states, left.feasible_states, left.optimal_states) == (
        right.sizes,
        right.states,
        right.feasible_states,
        right.optimal_states,
    )
    assert left.log_normalizer == pytest.approx(right.log_normalizer, abs=EXACT)
    assert left.infeasible_mass == pytest.approx(right.infeasible_mass, abs=EXACT)
    for a, b in zip(
        (*left.marginals, *left.pair_marginals.values()),
        (*right.marginals, *right.pair_marginals.values()),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=0, atol=EXACT)
    for kept, others in ((left.best, right.best), (left.top, right.top)):
        np.testing.assert_allclose(
            [r.probability for r in kept], [r.probability for r in others], rtol=0, atol=EXACT
        )
        np.testing.assert_allclose([r.score for r in kept], [r.score for r in others], rtol=0, atol=EXACT)


def test_padding_many_variables_and_no_pairs(monkeypatch: pytest.MonkeyPatch):
    whole = sweep(tables(4), SEARCH_TEMPERATURE)
    monkeypatch.setattr(module, "BLOCK", 10)
    same(sweep(padded(tables(4), 15, 9), SEARCH_TEMPERATURE), whole)
    bare = sweep(tables(4), SEARCH_TEMPERATURE, pairs=False)
    assert bare.pair_marginals == {}
    same(bare, whole._replace(pair_marginals={}))
    many = [[0]] * 70 + [[0, 1, 2], [0, 1], [0, 0]]  # NumPy allows 64 axes
    found = sweep(
        contract(build_space(many, [np.arange(len(o))[:, None] / 300 for o in many]), np.ones(1)),
        SEARCH_TEMPERATURE,
    )
    assert (found.states, tuple(found.best[0].position[70:])) == (12, (2, 1, 1))
    assert len(found.pair_marginals) == 73 * 72 // 2
    assert all(table.sum() == pytest.approx(1) for table in found.pair_marginals.values())


def test_nothing_feasible(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "BLOCK", 2)
    blocked = tables(2)._replace(unary_flags=np.ones_like(tables(2).unary_flags), penalty=np.float64(1e4))
    found = sweep(blocked, SEARCH_TEMPERATURE)
    assert (found.feasible_states, found.infeasible_mass) == (0, pytest.approx(1))
    assert found.log_normalizer < -1e5 / 0.85, "far below what exp can hold"
    assert not found.best[0].feasible


def p_value(counts: NDArray[np.int64], weights: NDArray[np.float64]) -> float:
    """Pearson's test of draws against weights; structures of fewer than five expected draws are taken
    together."""
    due = weights / weights.sum() * counts.sum()
    rare = due < 5
    observed, expected = (
        np.append(part[~rare], part[rare].sum()) if rare.any() else part for part in (counts, due)
    )
    return float(stats.chisquare(observed, expected).pvalue)


def test_draws_by_blocks_come_from_the_posterior(monkeypatch: pytest.MonkeyPatch):
    """Whole structures, and whether neighbours in a chain know of each other, start included."""
    monkeypatch.setattr(module, "BLOCK", 5)
    seed, temperature, chains, steps = 2, SEARCH_TEMPERATURE, 2000, 10
    every, score, feasible, log_prior = structures(seed)
    probability = np.exp(log_prior + score / temperature)
    probability /= probability.sum()
    drawn = run_chains(
        tables(seed), chains=chains, steps=steps, temperature=temperature, seed=7, kernel="exact"
    )
    path = np.concatenate([drawn.starts[:, None], drawn.positions], axis=1)
    number = np.ravel_multi_index(tuple(np.moveaxis(path, -1, 0)), tuple(int(n) for n in tables(seed).sizes))
    counts = np.bincount(number.ravel(), minlength=len(every))
    assert p_value(counts, probability) > FAILURE_RATE / 2
    assert p_value(counts, np.exp(log_prior + score / (1.3 * temperature))) < 1e-12, (
        "a warmer posterior is told apart"
    )
    options = path[..., 2]
    table = np.zeros((options.max() + 1,) * 2)
    np.add.at(table, (options[:, :-1].ravel(), options[:, 1:].ravel()), 1)
    assert stats.chi2_contingency(table).pvalue > FAILURE_RATE / 2
    np.testing.assert_allclose(drawn.score, score[number[:, 1:]], rtol=0, atol=EXACT)
    np.testing.assert_allclose(drawn.start_score, score[number[:, 0]], rtol=0, atol=EXACT)
    np.testing.assert_array_equal(drawn.feasible, feasible[number[:, 1:]])
    np.testing.assert_array_equal(drawn.start_feasible, feasible[number[:, 0]])
    assert drawn.energy_evaluations == len(every)


def flat(*sizes: int) -> Tables:
    return contract(build_space([[*range(n)] for n in sizes], [np.zeros((n, 1)) for n in sizes]), np.ones(1))


def test_beyond_the_limit_the_line_names_the_alternatives():
    """40^5 = 1.024e8 structures are refused; 1e8 and fewer are not (below, and perf)."""
    for refused in (
        lambda: sweep(flat(*[40] * 5), 1.0),
        lambda: run_chains(flat(*[40] * 5), chains=1, steps=1, temperature=1.0, seed=0, kernel="exact"),
    ):
        with pytest.raises(
            InputError, match="102400000 structures, more than the 100000000 that are swept"
        ) as found:
            refused()
        assert "--kernel metropolis" in str(found.value)
        assert "--kernel cpsat" in str(found.value)
        assert found.value.exit_code == 2
    with pytest.raises(InputError, match="24 structures, more than the 23 that are swept"):
        sweep(flat(2, 3, 4), 1.0, limit=23)
    assert sweep(flat(2, 3, 4), 1.0, limit=24).states == 24


def test_scores_that_are_not_finite_are_refused():
    for spoilt in (np.nan, np.inf):
        broken = tables(1)._replace(pairwise=np.full_like(tables(1).pairwise, spoilt))
        with pytest.raises(InputError, match="the scores are not finite; look for NaN or infinite weights"):
            sweep(broken, 1.0)


SWEPT = """
import sys
import numpy as np
from gnrs_ppl.inference.sweep import sweep
from gnrs_ppl.models.energy import contract
from gnrs_ppl.models.space import build_space
sizes, rng = [int(n) for n in sys.argv[1:]], np.random.default_rng(0)
pairs = [(0, 1), (1, 2), (len(sizes) - 2, len(sizes) - 1)]
space = build_space(
    [[*range(n)] for n in sizes],
    [rng.random((n, 1)) / 10 for n in sizes],
    {(i, j): rng.random((sizes[i], sizes[j], 1)) / 10 for i, j in pairs},
    pair_flags={(0, 1): rng.random(sizes[:2]) < 0.1},
)
found = sweep(contract(space, np.ones(1)), 0.08)
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))  # ru_maxrss is handed on from the parent
print(found.states, sum(map(float, found.marginals[0])), peak)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "sizes",
    [(30, 31, 32, 31, 32), (20, 1500, 1000)],
    ids=["five slots", "long slots, whose blocks are greatest"],
)
def test_memory_does_not_grow_with_the_space(sizes: tuple[int, ...]):
    """3e7 structures, whose scores alone would take 240 MB."""
    done = subprocess.run(
        [sys.executable, "-c", SWEPT, *map(str, sizes)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent,
    )
    states, total, kilobytes = done.stdout.split()
    assert int(states) == math.prod(sizes) > 2.9e7
    assert float(total) == pytest.approx(1)
    assert int(kilobytes) * 1024 < 600e6
