"""The calibration's model as a NumPyro program: the same numbers as the objective, the marginal likelihood and
the rule program."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import pytest
import spaces
from numpyro.infer import Predictive
from numpyro.infer.util import log_density
from scipy import stats
from test_calibration import GOALS, in_x64, made

from gnrs_ppl.calibration.objective import objective, prior_centre, problem_of
from gnrs_ppl.calibration.posterior import NOISE_PRIOR, log_likelihood, model, observed
from gnrs_ppl.calibration.problem import GoalData
from gnrs_ppl.calibration.program import RulePlate, rule_plate, weights_program
from gnrs_ppl.models.energy import contract
from gnrs_ppl.models.program import rule_program
from gnrs_ppl.models.space import build_space

EXACT = 1e-9
FAILURE_RATE = 1e-5
"""Chance that right draws fail the one test of frequencies; its seed is fixed."""
DATA = [*GOALS[:3], made(3, rows=40)]
PLATE = rule_plate(DATA)
KAPPA = 0.7
BETA, EPSILON = np.array([1.5, 0.2, 6.0]), 0.1
CELLS = [0, 1, 0, 2]
LIKELIHOOD = jax.jit(log_likelihood)


def terms(sites: dict[str, Any], cells: Any = None, goals: RulePlate = PLATE) -> dict[str, np.ndarray]:
    """Log density of each site that is given or observed, the plate's goals last."""

    def found(sites: dict[str, jax.Array]) -> dict[str, jax.Array]:
        with numpyro.handlers.trace() as told, numpyro.handlers.substitute(data=sites):
            weights_program(goals, KAPPA, cells)
        drawn = {name: told[name] for name in (*sites, "cell") if name in sites or cells is not None}
        return {name: site["fn"].log_prob(site["value"]) for name, site in drawn.items()}

    with jax.numpy_rank_promotion("allow"):
        return in_x64(jax.jit(found), sites)


def prior_density(beta: np.ndarray) -> float:
    centre = prior_centre(3)
    bound = -np.sqrt(KAPPA)
    return float(stats.truncnorm.logpdf(beta, bound, np.inf, centre, centre / np.sqrt(KAPPA)).sum())


def test_at_the_references_it_is_the_objective():
    """Mean over the references of the log density, blind left out: -G J less the constant of the page."""
    constant = -3 * np.log(prior_centre(3) * np.sqrt(2 * np.pi / KAPPA) * stats.norm.cdf(np.sqrt(KAPPA)))
    rows = np.arange(PLATE.log_mass.shape[1])
    shares = np.array([np.pad(d.reference, (0, len(rows) - len(d.reference))) for d in DATA])
    for beta in (BETA, BETA[::-1].copy(), np.array([0.0, 4.0, 0.5])):
        sites = {"beta": beta, "epsilon": EPSILON, "blind": np.zeros(4, int), "rule": rows[:, None]}
        found = terms(sites)
        density = found["beta"] + (shares.T * found["rule"]).sum()
        expected = -4 * in_x64(objective, beta, problem_of(DATA), np.ones(4), KAPPA) + constant
        assert density == pytest.approx(expected, abs=EXACT)


@pytest.mark.parametrize("cells", [[0] * 4, CELLS])
def test_with_rules_summed_out_it_is_the_model_that_is_sampled(cells: list[int]):
    """By hand, over every rule and both ways to draw it; the sampled model has |theta| for beta."""
    sites = {"beta": BETA, "epsilon": EPSILON, "blind": np.arange(2)[:, None]}
    found = terms(sites | {"rule": np.arange(60)[:, None, None]}, np.array(cells))
    joint = found["blind"] + found["rule"] + found["cell"]
    goals = observed(DATA, cells)
    each = in_x64(LIKELIHOOD, BETA, np.array(EPSILON), goals)
    np.testing.assert_allclose(np.logaddexp.reduce(joint, axis=(0, 1)), each, rtol=0, atol=EXACT)

    total = found["beta"] + found["epsilon"] + np.logaddexp.reduce(joint, axis=(0, 1)).sum()
    theta = {"theta": BETA * [1, -1, 1], "epsilon": np.array(EPSILON)}
    sampled = in_x64(
        jax.jit(lambda sites, goals: log_density(model, (goals, KAPPA), {}, sites)[0]), theta, goals
    )
    assert total == pytest.approx(float(sampled), abs=EXACT)
    assert found["beta"] == pytest.approx(prior_density(BETA), abs=EXACT)
    assert found["epsilon"] == pytest.approx(stats.beta.logpdf(EPSILON, *NOISE_PRIOR), abs=EXACT)


def test_numpyro_sums_the_rules_out():
    pytest.importorskip("funsor", reason="pip install 'gnrs-ppl[enumeration]'")
    from numpyro.contrib import funsor

    program = funsor.enum(funsor.config_enumerate(weights_program), first_available_dim=-2)

    def density(sites: dict[str, jax.Array]) -> jax.Array:
        with funsor.infer_util.plate_to_enum_plate():
            return funsor.log_density(program, (PLATE, KAPPA, np.array(CELLS)), {}, sites)[0]

    with jax.numpy_rank_promotion("allow"):
        found = in_x64(jax.jit(density), {"beta": BETA, "epsilon": np.array(EPSILON)})
    each = in_x64(LIKELIHOOD, BETA, np.array(EPSILON), observed(DATA, CELLS))
    prior = prior_density(BETA) + stats.beta.logpdf(EPSILON, *NOISE_PRIOR)
    assert found == pytest.approx(float(each.sum() + prior), abs=EXACT)


def test_at_fixed_weights_it_is_the_rule_program_and_its_normaliser():
    """A row for each feasible structure: the log densities differ by one constant, log Z on the feasible
    set."""
    ragged, temperature = spaces.ragged(1), 0.2
    space, weights = build_space(**ragged), spaces.weights(1)
    feasible = [a for a in spaces.positions(ragged) if not spaces.raised(ragged, a)]
    log_mass = np.array([spaces.log_prior(ragged, a) for a in feasible])
    log_mass -= np.logaddexp.reduce(log_mass)
    rows = np.arange(len(feasible))
    data = GoalData(
        "ragged", np.array([spaces.phi(ragged, a) for a in feasible]), log_mass, rows, rows, 0, {}, ()
    )
    sites = {"beta": weights / temperature, "epsilon": EPSILON, "blind": np.zeros(1, int)}
    ours = terms(sites | {"rule": rows[:, None]}, goals=rule_plate([data]))["rule"][:, 0]
    tables = contract(space, weights)

    def density(position: jax.Array) -> jax.Array:
        values = {f"variable_{v}": position[v] for v in range(len(tables.sizes))}
        return log_density(rule_program, (tables, temperature), {}, values)[0]

    theirs = in_x64(jax.jit(jax.vmap(density)), np.array(feasible))
    assert np.logaddexp.reduce(ours) == pytest.approx(0.0, abs=EXACT)
    np.testing.assert_allclose(ours, theirs - np.logaddexp.reduce(theirs), rtol=0, atol=EXACT)


def test_it_draws_from_prior_to_references():
    """Given weights the cells come as often as the likelihood says; a drawn rule is none of the padding."""
    given = {"beta": jnp.asarray(BETA), "epsilon": jnp.asarray(0.5)}
    program = numpyro.handlers.condition(weights_program, data=given)
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        drawn = jax.jit(lambda key: Predictive(program, num_samples=4000)(key, PLATE, KAPPA))(
            jax.random.key(2)
        )
    rows, cells = np.asarray(drawn["rule"]), np.asarray(drawn["cell"])
    assert (rows < np.array([len(d.log_mass) for d in DATA])).all()
    chances = [
        np.exp(in_x64(LIKELIHOOD, BETA, np.array(0.5), observed(DATA, [cell] * 4))) for cell in range(4)
    ]
    np.testing.assert_allclose(np.sum(chances, 0), 1, atol=1e-6)
    for goal, chance in enumerate(np.array(chances).T):
        counts = np.bincount(cells[:, goal], minlength=4)
        assert stats.chisquare(counts, 4000 * chance / chance.sum()).pvalue > FAILURE_RATE / 4
