"""The spectral gap: the matrix against the one of transition.py, which shares no code with it, and the gap
against long runs.

The runs' autocorrelations are held within LIMIT standard errors of what the spectrum says: three of them, so
a right kernel fails with probability 3e-5 (Student's t of 511 degrees of freedom). Seeds are fixed: it was
spent once.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_metropolis import GRAMMARS, UNEVEN_PROBABILITIES, compile_tables
from transition import EDITS, transition_matrix, ways

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference import spectral
from gnrs_ppl.inference.chains import run_chains
from gnrs_ppl.inference.exact import enumerate_space, exact_posterior
from gnrs_ppl.inference.moves import MOVE_PROBABILITIES, MOVES
from gnrs_ppl.inference.plots import gap_plot
from gnrs_ppl.inference.spectral import relaxation_time, spectral_gap
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, Tables, contract
from gnrs_ppl.models.space import build_space

LIMIT = 4.5
EACH = [tuple(float(move == name) for name in MOVES) for move in MOVES]
"""Every move alone."""


def two_variables() -> Tables:
    """Three candidates of two options against four: 24 structures that like to agree."""
    candidates = [[0, 0, 1, 1, 2, 2], [0, 1, 2, 3]]
    rng = np.random.default_rng(5)
    unary = [0.1 * rng.random((6, 1)), 0.1 * rng.random((4, 1))]
    return contract(build_space(candidates, unary, {(0, 1): 0.25 * rng.random((6, 4, 1))}), np.array([1.0]))


def probabilities(tables: Tables, temperature: float) -> np.ndarray:
    return exact_posterior(enumerate_space(tables), temperature).probability


@pytest.mark.parametrize("name", GRAMMARS)
@pytest.mark.parametrize("temperature", [SEARCH_TEMPERATURE, 0.5])
@pytest.mark.parametrize("shares", [MOVE_PROBABILITIES, UNEVEN_PROBABILITIES, *EACH], ids=str)
def test_the_matrix_is_the_one_of_the_definitions(name: str, temperature: float, shares: tuple[float, ...]):
    built, tables = GRAMMARS[name], compile_tables(GRAMMARS[name])
    expected = transition_matrix(
        ways(built, dict(zip(EDITS, shares, strict=True))), built.log_densities(temperature)
    )
    found = spectral.transition_matrix(tables, temperature, shares)
    np.testing.assert_allclose(
        found, expected, rtol=1e-7, atol=1e-12
    )  # joint tables are cut at multiples of 2^-32


@pytest.mark.parametrize("name", GRAMMARS)
@pytest.mark.parametrize("temperature", [0.01, SEARCH_TEMPERATURE, 0.5, math.inf])
def test_detailed_balance(name: str, temperature: float):
    tables = compile_tables(GRAMMARS[name])
    matrix, target = spectral.transition_matrix(tables, temperature), probabilities(tables, temperature)
    flow = target[:, None] * matrix
    assert matrix.min() >= 0
    np.testing.assert_allclose(matrix.sum(1), 1, atol=1e-12)
    np.testing.assert_allclose(flow, flow.T, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(target @ matrix, target, atol=1e-12)


@pytest.mark.parametrize("temperature", [SEARCH_TEMPERATURE, 0.5])
def test_the_gap_is_that_of_the_matrix(temperature: float):
    """By the eigenvalues of P itself, which is not symmetric, and of what weighing it with the target makes
    of it."""
    for name, of in (
        ("bare", lambda matrix, root: np.linalg.eigvals(matrix)),
        ("irregular", symmetric_eigenvalues),
    ):
        tables = compile_tables(GRAMMARS[name])
        matrix, root = (
            spectral.transition_matrix(tables, temperature),
            np.sqrt(probabilities(tables, temperature)),
        )
        moduli = np.sort(np.abs(of(matrix, root)))
        assert moduli[-1] == pytest.approx(1, abs=1e-12)
        assert spectral_gap(tables, temperature) == pytest.approx(1 - moduli[-2], abs=1e-9)


def symmetric_eigenvalues(matrix: np.ndarray, root: np.ndarray) -> np.ndarray:
    weighed = root[:, None] * matrix / root
    return np.linalg.eigvalsh((weighed + weighed.T) / 2)


def test_gaps_known_by_hand():
    def coin(gain: float, candidates: list[int]) -> Tables:
        return contract(build_space([candidates], [np.array([[0.0], [gain]])]), np.array([1.0]))

    fair, biased, temperature = coin(0.0, [0, 1]), coin(0.1, [0, 1]), 0.1 / math.log(4)
    # up always, down one time in four: the eigenvalue is 1 - s - s / 4, s being the share of replacements
    assert spectral_gap(fair, 0.08, (0.25, 0.75, 0.0, 0.0)) == pytest.approx(0.5, rel=1e-12)
    assert spectral_gap(biased, temperature, (0.4, 0.6, 0.0, 0.0)) == pytest.approx(0.5, rel=1e-12)
    # replacement alone goes to and fro for ever: the eigenvalue -1
    assert spectral_gap(fair, 0.08, (1.0, 0.0, 0.0, 0.0)) == 0.0
    # without it nothing leaves a candidate
    assert spectral_gap(fair, 0.08, (0.0, 1.0, 0.0, 0.0)) == 0.0
    assert (relaxation_time(0.0), relaxation_time(0.25)) == (math.inf, 4.0)
    single = contract(build_space([[0]], [np.zeros((1, 1))]), np.array([1.0]))
    assert spectral_gap(single, 0.08) == 1.0
    # barriers of e^-400, and ratios of probabilities that no float64 holds
    frozen = spectral_gap(two_variables(), 1e-4)
    assert frozen == 0.0 < spectral_gap(two_variables(), 0.05) < spectral_gap(two_variables(), 0.5)


def test_long_runs_are_correlated_as_the_spectrum_says():
    """Stationary chains: the autocorrelation of the slowest eigenfunction at lag k is the k-th power of its
    eigenvalue."""
    tables, temperature, chains = two_variables(), 0.05, 512
    matrix, target = spectral.transition_matrix(tables, temperature), probabilities(tables, temperature)
    root = np.sqrt(target)
    eigenvalues, vectors = np.linalg.eigh(root[:, None] * matrix / root)
    assert eigenvalues[-2] > abs(eigenvalues[0])
    gap = spectral_gap(tables, temperature)
    assert gap == pytest.approx(1 - eigenvalues[-2], rel=1e-9)
    slowest = vectors[:, -2] / root  # mean 0, variance 1 under the target
    run = run_chains(
        tables, chains=chains, steps=1000, temperature=temperature, seed=0, superchains=chains // 64
    )
    options, structures = (
        run.positions[:, 500:],
        np.arange(24).reshape(6, 4),
    )  # 500 steps leave e^-19 of a start
    assert 500 * gap > 19
    values = slowest[structures[options[..., 0], options[..., 1]]]
    for lag in (1, 5, 20):
        products = (values[:, lag:] * values[:, :-lag]).mean(1)
        error = products.std(ddof=1) / math.sqrt(chains)
        assert abs(products.mean() - (1 - gap) ** lag) < LIMIT * error, lag
        assert error < 0.03


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"temperature": 0.0},
            "arguments: temperature: 0.0 is no temperature; give a positive number such as 0.08",
        ),
        ({"temperature": math.nan}, "nan is no temperature"),
        (
            {"move_probabilities": (0.5, 0.5)},
            r"move_probabilities: \(0.5, 0.5\) are not 4 probabilities that sum to one",
        ),
        ({"move_probabilities": (1.5, -0.5, 0.0, 0.0)}, "are not 4 probabilities"),
        ({"move_probabilities": (0.5, 0.0, 0.0, 0.0)}, "are not 4 probabilities"),
    ],
)
def test_impossible_requests_are_refused(change: dict[str, Any], message: str):
    with pytest.raises(InputError, match=message):
        spectral_gap(two_variables(), **({"temperature": 0.08} | change))


def test_large_spaces_are_refused():
    def of(sizes: list[int]) -> Tables:
        return contract(
            build_space([list(range(n)) for n in sizes], [np.zeros((n, 1)) for n in sizes]), np.array([1.0])
        )

    with pytest.raises(
        InputError,
        match="2001 structures, more than the 2000 whose transition matrix is made; take a smaller space",
    ):
        spectral_gap(of([3, 23, 29]), 0.08)
    # uniform over four variables: each is drawn anew among the others with probability 1/4 a replacement,
    # which is every step
    assert spectral_gap(of([6, 6, 6, 2]), 0.08) == pytest.approx(1 / 4 * 6 / 5, rel=1e-9)


def test_gap_plot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("matplotlib")
    path = tmp_path / "new" / "gap.png"
    # the coldest has no gap and no point
    assert gap_plot(two_variables(), [0.5, 0.05, 0.1, 1e-4], path) == path
    assert path.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match="name a folder you may write to"):
        gap_plot(two_variables(), [0.5], path / "gap.png")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match="plots need matplotlib"):
        gap_plot(two_variables(), [0.5], tmp_path / "gap.png")
