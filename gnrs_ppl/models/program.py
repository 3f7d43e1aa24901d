"""The rule space as a NumPyro program: the same density, sampled, enumerated or conditioned by NumPyro's own
machinery.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist

from gnrs_ppl.models.energy import Tables


def rule_program(
    tables: Tables, temperature: float | jax.Array, names: Sequence[str] | None = None
) -> list[jax.Array]:
    """Sample one option per variable from p0, then weigh the structure by exp(s_search / tau).

    Sites may hold many options at once, so that ``numpyro.contrib.funsor.config_enumerate`` and
    ``infer_discrete`` sum over them (``pip install 'gnrs-ppl[enumeration]'``), and
    ``numpyro.handlers.condition`` pins any.

    Parameters
    ----------
    tables : Tables
        On the host (NumPy). ``unary``, ``pairwise`` and ``penalty`` may be traced, where the space is
        contracted with weights that are a site of your own program.
    temperature : float
        tau.
    names : sequence of str, optional
        Site of each variable; ``variable_0``, ``variable_1``, ... unless given.

    Returns
    -------
    list of () int
        Option of each variable.

    Notes
    -----
    ``numpyro.infer.util.log_density`` of this program is log p0 + s_search / tau, as ``energy.logdensity``
    has it: without the normalising constant, which depends on the weights. Where they are latent,
    :func:`gnrs_ppl.calibration.weights_program` has it.

    Every table is a factor of its own, ``score_<site>`` or ``score_<left>_<right>``, so that a sum over the
    sites (NumPyro takes at most 25) eliminates them one after the other. Hard conditions are one factor,
    ``penalty``, over all variables that have any, as lambda is subtracted once; it holds as many numbers as
    these have combinations. A variable of one option is a deterministic site.
    """
    sites = list(names or [f"variable_{v}" for v in range(tables.sizes.shape[0])])
    position = [
        # nothing to draw or to sum over; NumPyro's enumeration loses a site of one value
        numpyro.deterministic(site, jnp.zeros((), int))
        if size == 1
        else numpyro.sample(site, dist.Categorical(logits=jnp.asarray(tables.log_prior[v, :size])))
        for v, (site, size) in enumerate(zip(sites, tables.sizes.tolist(), strict=True))
    ]
    pairs = [(p, left, right) for p, (left, right) in enumerate(np.asarray(tables.pairs)) if left != right]
    for v, site in enumerate(sites):
        numpyro.factor(f"score_{site}", jnp.asarray(tables.unary[v])[position[v]] / temperature)
    for p, left, right in pairs:
        entry = jnp.asarray(tables.pairwise[p])[position[left], position[right]]
        numpyro.factor(f"score_{sites[left]}_{sites[right]}", entry / temperature)
    raised = [
        jnp.asarray(flags)[position[v]] for v, flags in enumerate(tables.unary_flags) if np.any(flags)
    ] + [
        jnp.asarray(tables.pair_flags[p])[position[left], position[right]]
        for p, left, right in pairs
        if np.any(tables.pair_flags[p])
    ]
    if raised:
        any_raised = raised[0]
        for flag in raised[1:]:
            any_raised = any_raised | flag
        fine = jnp.asarray(tables.penalty) / temperature
        numpyro.factor("penalty", -jnp.where(any_raised, fine, jnp.zeros_like(fine)))
    return position
