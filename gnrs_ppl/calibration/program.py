"""The calibration's model as a NumPyro program: weights, then rules of many goals, then the references::

    beta_f ~ Normal(b, b / sqrt(kappa)) on beta_f >= 0
    epsilon ~ Beta(1, 9)
    for each goal x of a plate:
        blind ~ Bernoulli(epsilon)
        rule ~ p0(a) exp((1 - blind) beta . phi(a, x)) / Z
        cell = verdicts of the rule's slots

It draws forwards, prior to references, and conditions backwards. Z stands in it, which
:func:`~gnrs_ppl.models.rule_program` leaves out: at fixed weights the two differ by a constant, with weights
as sites they do not. With rule and blind summed out, and the cells observed, it is ``posterior.model``, which
has that sum by hand. At the references, averaged over them, with blind = 0 and epsilon left out, its log
density is::

    - G J(beta) - F log(b sqrt(2 pi / kappa) Phi(sqrt(kappa)))

with J of ``calibration.objective`` and Phi the normal distribution function.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jaxtyping import Float, Int

from gnrs_ppl.calibration.objective import prior_centre
from gnrs_ppl.calibration.posterior import NOISE_PRIOR
from gnrs_ppl.calibration.problem import GoalData
from gnrs_ppl.models.space import PADDING


class RulePlate(NamedTuple):
    """Rows of G goals, structures of equal features and verdicts, padded to the same number n of rows.

    Attributes
    ----------
    features : (G, n, F) float
        phi, in [0, 1]; 0 where there is no row.
    log_mass : (G, n) float
        log of a row's share of p0 on the feasible set; ``PADDING`` where there is no row.
    cell : (G, n) int
        Verdicts of the slots as one number, 0 where all are acceptable; -1 where there is no row.
    """

    features: Float[Any, "G n F"]
    log_mass: Float[Any, "G n"]
    cell: Int[Any, "G n"]


def rule_plate(data: Sequence[GoalData]) -> RulePlate:
    """The goals side by side.

    Parameters
    ----------
    data : sequence of GoalData
        At least one.
    """
    rows = max(len(d.log_mass) for d in data)
    missing = [(0, rows - len(d.log_mass)) for d in data]
    return RulePlate(
        np.stack([np.pad(d.features, [pad, (0, 0)]) for d, pad in zip(data, missing, strict=True)]),
        np.stack(
            [np.pad(d.log_mass, pad, constant_values=PADDING) for d, pad in zip(data, missing, strict=True)]
        ),
        np.stack([np.pad(d.cell, pad, constant_values=-1) for d, pad in zip(data, missing, strict=True)]),
    )


def weights_program(
    goals: RulePlate, kappa: float | jax.Array, cells: Int[Any, " G"] | None = None
) -> jax.Array:
    """Draw beta and epsilon from the prior, a rule for each goal from p_beta, and the cell it lies in.

    Parameters
    ----------
    goals : RulePlate
    kappa : float
        Strength of the prior, > 0.
    cells : (G,) int, optional
        Cells as observed; 0 everywhere for references. Drawn unless given.

    Returns
    -------
    (G,) int
        Row of each goal's rule.

    Notes
    -----
    Sites: ``beta`` (F,), ``epsilon``, and in the plate ``goals``, the last dimension, ``blind``, ``rule`` and
    ``cell``. A cell is certain once the rule is known, so that observed cells are for enumeration
    (``config_enumerate``): a chain over ``rule`` would stand still. beta is w / tau; w = beta / sum(beta).
    """
    number, _, features = goals.features.shape
    centre = prior_centre(features)
    prior = dist.TruncatedNormal(centre, centre / jnp.sqrt(kappa), low=0.0)
    beta = numpyro.sample("beta", prior.expand([features]).to_event(1))
    epsilon = numpyro.sample("epsilon", dist.Beta(*NOISE_PRIOR))
    with numpyro.plate("goals", number):
        blind = numpyro.sample("blind", dist.Bernoulli(epsilon))
        seen = jnp.where(jnp.expand_dims(blind, -1) == 1, 0.0, jnp.asarray(goals.features) @ beta)
        rule: jax.Array = numpyro.sample("rule", dist.Categorical(logits=seen + jnp.asarray(goals.log_mass)))
        cell = jnp.asarray(goals.cell)[jnp.arange(number), rule]
        numpyro.sample("cell", dist.Delta(cell), obs=cells)
    return rule
