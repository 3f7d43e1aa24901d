"""The posterior over weights: annotators who draw a structure, sometimes at random, and tell the cell it lies
in.

    beta_f ~ Normal(b, b / sqrt(kappa)) on beta_f >= 0,   epsilon ~ Beta(1, 9)
    p(cell | beta, epsilon) = (1 - epsilon) sum over a in the cell of p_beta(a) + epsilon * (the cell's share
    of p0)

A goal's datum is a cell of the partition that its predicates make; that of the annotated dev goals is the
reference set. This likelihood of a set is not convex in beta, unlike the cross-entropy of
:mod:`gnrs_ppl.calibration.objective`, but it is a probability of something that can be drawn, which
simulation-based calibration (Talts et al. 2018) needs. Prior centre and strength are those of the objective.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import xarray as xr
from arviz_base import from_numpyro
from jaxtyping import Float, Int
from numpy.typing import NDArray
from numpyro.infer import MCMC, NUTS, init_to_median

from gnrs_ppl.calibration.objective import in_blocks, prior_centre
from gnrs_ppl.calibration.problem import GoalData

Floats = NDArray[np.float64]
NOISE_PRIOR = (1.0, 9.0)
WEAK = 0.3
"""A weight whose variance shrank by less than this share is known from the prior only."""


class ObservedCells(NamedTuple):
    """Rows of equal features of G goals in B blocks, and how much of each lies in the observed cell.

    Attributes
    ----------
    features : (B, rows, F) float
    log_mass : (B, rows) float
    inside : (B, rows) float
        Share of the row's p0 inside the observed cell.
    goal : (B,) int
    cell_mass : (G,) float
        The observed cell's share of p0.
    """

    features: Float[Any, "B rows F"]
    log_mass: Float[Any, "B rows"]
    inside: Float[Any, "B rows"]
    goal: Int[Any, " B"]
    cell_mass: Float[Any, " G"]


class PosteriorFit(NamedTuple):
    """Draws of beta and epsilon, and what can be said of them.

    Attributes
    ----------
    tree : xarray.DataTree
        ArviZ: ``posterior`` with beta (chain, draw, feature) and epsilon.
    beta : (draws, F) float64
        All chains, one after another.
    r_hat, ess : float
        The greatest R-hat and the least bulk ESS of all parameters.
    divergences : int
    contraction : (F,) float64
        1 - posterior variance / prior variance of each beta.
    """

    tree: xr.DataTree
    beta: Float[Floats, "draws F"]
    r_hat: float
    ess: float
    divergences: int
    contraction: Float[Floats, " F"]


def observed(data: Sequence[GoalData], cells: Sequence[int] | None = None) -> ObservedCells:
    """The observed cells of the goals, 0 (all slots acceptable) unless given; cells that are not observed
    are merged.
    """
    rows = []
    for d, cell in zip(data, cells or [0] * len(data), strict=True):
        features, where = np.unique(d.features, axis=0, return_inverse=True)
        mass = np.bincount(where.ravel(), np.exp(d.log_mass))
        rows.append(
            (
                features,
                np.log(mass),
                np.bincount(where.ravel(), np.where(d.cell == cell, np.exp(d.log_mass), 0.0)) / mass,
            )
        )
    cell_mass = [float((np.exp(log_mass) * inside).sum()) for _, log_mass, inside in rows]
    return ObservedCells(*in_blocks(rows), np.array(cell_mass))


def log_likelihood(beta: jax.Array, epsilon: jax.Array, goals: ObservedCells) -> Float[jax.Array, " G"]:
    """Log p(cell | beta, epsilon) of every goal."""
    number = goals.cell_mass.shape[0]
    logdensity = goals.features @ beta + goals.log_mass
    greatest = jax.ops.segment_max(jax.lax.stop_gradient(logdensity.max(1)), goals.goal, number)
    weight = jnp.exp(logdensity - greatest[goals.goal][:, None])
    inside, every = (
        jax.ops.segment_sum(w.sum(1), goals.goal, number) for w in (weight * goals.inside, weight)
    )
    return jnp.log((1 - epsilon) * inside / every + epsilon * goals.cell_mass)


def model(goals: ObservedCells, kappa: float) -> None:
    """NumPyro program of the formulas above; beta = |theta|, since NUTS on its log scale hardly leaves a
    weight that is near zero.
    """
    features = goals.features.shape[-1]
    centre = prior_centre(features)
    prior = dist.TruncatedNormal(centre, centre / jnp.sqrt(kappa), low=0.0)
    theta = numpyro.sample("theta", dist.ImproperUniform(dist.constraints.real, (), (features,)))
    beta = numpyro.deterministic("beta", jnp.abs(theta))
    numpyro.factor("prior", prior.log_prob(beta).sum())
    epsilon = numpyro.sample("epsilon", dist.Beta(*NOISE_PRIOR))
    numpyro.factor("cells", log_likelihood(beta, epsilon, goals).sum())


def sample_posterior(
    goals: ObservedCells,
    kappa: float,
    features: Sequence[str],
    *,
    warmup: int = 300,
    draws: int = 300,
    chains: int = 4,
    seed: int = 0,
) -> PosteriorFit:
    """NUTS over beta and epsilon.

    Parameters
    ----------
    goals : Observed
    kappa : float
        Strength of the prior.
    features : sequence of str
        Names, for ArviZ.
    """
    from arviz_stats import ess, rhat  # type: ignore[attr-defined]

    kernel = NUTS(model, init_strategy=init_to_median(num_samples=10), dense_mass=True)
    # data as arguments: other data of the same shape find the compiled program in JAX's cache
    settings: dict[str, Any] = {"chain_method": "vectorized", "progress_bar": False, "jit_model_args": True}
    mcmc = MCMC(kernel, num_warmup=warmup, num_samples=draws, num_chains=chains, **settings)
    with jax.numpy_dtype_promotion("standard"):  # NumPyro mixes integers and floats
        mcmc.run(jax.random.key(seed), jax.tree.map(jnp.asarray, goals), jnp.asarray(kappa, float))
    tree = from_numpyro(
        mcmc, coords={"feature": list(features)}, dims={"beta": ["feature"]}, log_likelihood=False
    )
    tree["posterior"] = tree["posterior"].to_dataset().drop_vars("theta")  # its sign means nothing
    beta = np.asarray(mcmc.get_samples()["beta"], np.float64)
    return PosteriorFit(
        tree=tree,
        beta=beta,
        r_hat=_worst(rhat(tree), max),  # type: ignore[no-untyped-call]
        ess=_worst(ess(tree), min),  # type: ignore[no-untyped-call]
        divergences=int(np.asarray(mcmc.get_extra_fields()["diverging"]).sum()),
        contraction=1 - beta.var(0) / prior_variance(kappa, len(features)),
    )


def prior_variance(kappa: float, features: int) -> float:
    """Variance of one beta before any datum."""
    centre = prior_centre(features)
    return float(dist.TruncatedNormal(centre, centre / np.sqrt(kappa), low=0.0).variance)


def _worst(tree: xr.DataTree, choose: Any) -> float:
    dataset = (
        tree.to_dataset()
        if isinstance(tree, xr.DataTree) and tree.data_vars
        else tree["posterior"].to_dataset()
    )
    return float(choose(float(choose(np.ravel(values.to_numpy()))) for values in dataset.data_vars.values()))


class Predictive(NamedTuple):
    """How many of the G goals a draw from the posterior predictive would find in the reference set, and how
    many were.

    Attributes
    ----------
    expected : float
    interval : (float, float)
        95 % of the predictive draws.
    observed : int
        All of them: every datum is a reference set.
    tail : float
        Share of predictive draws with as many.
    """

    expected: float
    interval: tuple[float, float]
    observed: int
    tail: float


def predictive_check(fit: PosteriorFit, goals: ObservedCells, seed: int = 0) -> Predictive:
    """Draw every goal's cell anew for each posterior draw and count those that fall into the observed
    cell.
    """
    epsilon = np.asarray(fit.tree["posterior"]["epsilon"]).reshape(-1)
    likelihood = jax.jit(jax.vmap(partial(log_likelihood, goals=jax.tree.map(jnp.asarray, goals))))
    chance = np.exp(np.asarray(likelihood(jnp.asarray(fit.beta), jnp.asarray(epsilon))))
    again = (np.random.default_rng(seed).random(chance.shape) < chance).sum(1)
    low, high = np.quantile(again, [0.025, 0.975])
    return Predictive(
        float(again.mean()),
        (float(low), float(high)),
        chance.shape[1],
        float((again == chance.shape[1]).mean()),
    )


def simulate(
    data: Sequence[GoalData], kappa: float, generator: np.random.Generator
) -> tuple[Floats, list[int]]:
    """Draw beta and epsilon from the prior and a cell for every goal: one round of simulation-based
    calibration.
    """
    features = data[0].features.shape[1]
    centre = prior_centre(features)
    beta = np.full(features, -1.0)
    while (beta < 0).any():
        beta = np.where(beta < 0, generator.normal(centre, centre / np.sqrt(kappa), features), beta)
    epsilon = generator.beta(*NOISE_PRIOR)
    cells = []
    for d in data:
        logdensity = d.log_mass + (0.0 if generator.random() < epsilon else d.features @ beta)
        mass = np.exp(logdensity - logdensity.max())
        cells.append(int(d.cell[generator.choice(len(mass), p=mass / mass.sum())]))
    return beta, cells
