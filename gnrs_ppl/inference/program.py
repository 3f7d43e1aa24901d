"""NumPyro's own Gibbs on :func:`~gnrs_ppl.models.rule_program`: its sweeps, our starts and record.

A step is a sweep: every variable once, in an order drawn anew, each from its exact conditional
(``numpyro.infer.DiscreteGibbs``). It walks on the program alone, shares no code with the other kernels, and
is slower than :mod:`~gnrs_ppl.inference.gibbs`: for a program that was extended, and to hold the others
against.
"""

from __future__ import annotations

import time

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int, Key
from numpyro.infer import DiscreteGibbs
from numpyro.infer.gibbs import DiscreteGibbsState

from gnrs_ppl.inference.cache import use_compilation_cache
from gnrs_ppl.inference.result import NO_MOVE, Chains, check_request, superchain_ids
from gnrs_ppl.inference.starts import draw_starts
from gnrs_ppl.models.energy import Tables, evaluate
from gnrs_ppl.models.program import rule_program


def program_chains(
    tables: Tables,
    *,
    chains: int,
    steps: int,
    temperature: float,
    seed: int,
    superchains: int | None = None,
    stream: int = 0,
) -> Chains:
    """Run sweeps of NumPyro's Gibbs from overdispersed starts and record the structure after each.

    Raises
    ------
    InputError
        For numbers out of range, scores that are not finite, and more draws than fit (with the bytes).
    """
    groups = check_request(
        tables, chains=chains, steps=steps, temperature=temperature, seed=seed, superchains=superchains
    )
    superchain = superchain_ids(chains, groups)
    starts = draw_starts(tables, groups, seed, stream)[superchain]
    keys = jax.random.split(jax.random.fold_in(jax.random.key(seed), np.uint32(stream)), chains)

    use_compilation_cache()
    began = time.perf_counter()

    def run(keys: jax.Array, starts: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        positions = sweeps(keys, starts, tables, temperature, steps)
        every = jnp.concatenate([starts[:, None], positions], axis=1)
        return every, *jax.vmap(jax.vmap(lambda position: evaluate(tables, position)))(every)

    compiled_run = jax.jit(run).lower(keys, jnp.asarray(starts)).compile()
    compiled = time.perf_counter()
    every, score, feasible = map(np.asarray, compiled_run(keys, jnp.asarray(starts)))
    ended = time.perf_counter()
    return Chains(
        positions=every[:, 1:],
        score=score[:, 1:],
        feasible=feasible[:, 1:],
        move=np.full((chains, steps), NO_MOVE, np.int8),
        accepted=np.ones((chains, steps), bool),
        starts=starts,
        start_score=score[:, 0],
        start_feasible=feasible[:, 0],
        superchain=superchain,
        kernel="numpyro",
        temperature=temperature,
        seed=seed,
        energy_evaluations=chains * (1 + steps * int(tables.sizes[tables.sizes > 1].sum())),
        wall_seconds=ended - compiled,
        compile_seconds=compiled - began,
    )


def sweeps(
    keys: Key[jax.Array, " C"],
    starts: Int[jax.Array, "C V"],
    tables: Tables,
    temperature: float,
    steps: int,
) -> Int[jax.Array, "C steps V"]:
    """Positions after each sweep of many chains."""
    sites = [f"variable_{v}" for v in range(starts.shape[1])]
    free = {site: v for v, site in enumerate(sites) if tables.sizes[v] > 1}
    if not free:  # NumPyro finds nothing to draw
        return jnp.repeat(starts[:, None], steps, axis=1)
    kernel, arguments = DiscreteGibbs(rule_program), (tables, temperature)
    first = kernel.init(keys[0], 0, {site: starts[0, v] for site, v in free.items()}, arguments, None)

    def walk(key: Key[jax.Array, ""], start: Int[jax.Array, " V"]) -> Int[jax.Array, "steps V"]:
        z = {site: start[v].astype(first.z[site].dtype) for site, v in free.items()}
        begun = kernel.refresh(first._replace(z=z, rng_key=key), arguments, None)

        def sweep(state: DiscreteGibbsState, _: None) -> tuple[DiscreteGibbsState, jax.Array]:
            state = kernel.sample(state, arguments, None)
            return state, jnp.stack([jnp.asarray(state.z.get(s, 0), jnp.int32) for s in sites])

        return jax.lax.scan(sweep, begun, None, steps)[1]

    return jax.vmap(walk)(keys, starts)
