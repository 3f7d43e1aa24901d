"""The rule space as a NumPyro program: the same density, sampled or scored by NumPyro's own machinery."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist

from gnrs_ppl.models.energy import Tables, score


def rule_program(tables: Tables, temperature: float, names: Sequence[str] | None = None) -> None:
    """Sample one option per variable from p0, then weigh the structure by exp(s_search / tau).

    Parameters
    ----------
    tables : Tables
        On the host (NumPy): the number of options of each variable must be known when the program is traced.
    temperature : float
        tau.
    names : sequence of str, optional
        Site of each variable; ``variable_0``, ``variable_1``, ... unless given.

    Notes
    -----
    ``numpyro.infer.util.log_density`` of this program is log p0 + s_search / tau, as ``energy.logdensity``
    has it.
    """
    sites = names or [f"variable_{v}" for v in range(tables.sizes.shape[0])]
    position = [
        numpyro.sample(
            site, dist.Categorical(logits=jnp.asarray(tables.log_prior[v, : int(tables.sizes[v])]))
        )
        for v, site in enumerate(sites)
    ]
    numpyro.factor("s_search", score(tables, jnp.stack(position)) / temperature)
