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


def rule_program(tables: Tables, temperature: float, names: Sequence[str] | None = None) -> None:
    """Sample one option per variable from p0, then weigh the structure by exp(s_search / tau).

    Sites may hold many options at once, so that ``numpyro.contrib.funsor.config_enumerate`` and
    ``infer_discrete`` sum over them, and ``numpyro.handlers.condition`` pins any.

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
    has it. Flags join all variables, so that a sum over all of them holds as many numbers as there are
    structures.
    """
    sites = names or [f"variable_{v}" for v in range(tables.sizes.shape[0])]
    position = [
        numpyro.sample(
            site, dist.Categorical(logits=jnp.asarray(tables.log_prior[v, : int(tables.sizes[v])]))
        )
        for v, site in enumerate(sites)
    ]
    worth: jax.Array = jnp.zeros(())
    raised: jax.Array = jnp.zeros((), bool)
    for v, option in enumerate(position):
        worth = worth + jnp.asarray(tables.unary[v])[option]
        raised = raised | jnp.asarray(tables.unary_flags[v])[option]
    for p, (left, right) in enumerate(np.asarray(tables.pairs)):
        if left != right:
            ends = position[left], position[right]
            worth = worth + jnp.asarray(tables.pairwise[p])[ends]
            raised = raised | jnp.asarray(tables.pair_flags[p])[ends]
    fine = jnp.where(raised, jnp.asarray(tables.penalty), 0.0).astype(worth.dtype)
    numpyro.factor("s_search", (worth - fine) / temperature)
