"""The Ising model of the gallery: Kaufman's formula is that of an enumeration, and Gibbs meets it."""

from __future__ import annotations

import numpy as np
import pytest

from docs.pictures import ising

STANDARD_ERRORS = 5.0
"""A right sampler's mean of 64 chains goes further in one of some hundred thousand tries."""


@pytest.mark.parametrize("beta", [0.2, 0.4, 0.7])
def test_the_formula_is_the_sum_over_a_small_torus(beta: float) -> None:
    """On both sides of the critical temperature; half of the 2^16 states, the other half at the negative
    energies, but those of energy zero."""
    states = {-32: 2, -24: 32, -20: 64, -16: 424, -12: 1728, -8: 6688, -4: 13568}
    energies = np.array([*states, *(-energy for energy in states), 0])
    counts = np.array([*states.values(), *states.values(), 20524])
    log_terms = np.log(counts) - beta * energies
    assert ising.log_partition(beta, side=4) == pytest.approx(np.logaddexp.reduce(log_terms), abs=1e-9)
    probability = np.exp(log_terms - np.logaddexp.reduce(log_terms))
    assert ising.exact_energy(beta, side=4) == pytest.approx(probability @ energies / 16, abs=1e-6)


@pytest.mark.slow
def test_gibbs_meets_the_formula_where_no_sum_goes() -> None:
    found = ising.sampled_energies([0.3], sweeps=60)[0]
    error = found.std(ddof=1) / np.sqrt(len(found))
    assert abs(found.mean() - ising.exact_energy(0.3)) < STANDARD_ERRORS * error
    assert STANDARD_ERRORS * error < abs(ising.exact_energy(0.3) - ising.exact_energy(0.28))
