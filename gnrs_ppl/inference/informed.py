"""Locally balanced proposals: a step weighs every change of one variable by the target itself (Zanella 2020,
section 2).

    q(y | x) = g(p(y) / p(x)) / Z(x),   Z(x) = sum of g(p(y) / p(x)) over all y that differ from x in one
    variable accept y with probability min(1, p(y) g(p(x) / p(y)) Z(x) / (p(x) g(p(y) / p(x)) Z(y)))

Each g of ``BALANCING`` satisfies g(t) = t g(1 / t), so that everything but Z(x) / Z(y) cancels.

Random bits: a step takes ``WORDS`` = 2 independent uint32 words: 0 decides the neighbour, 1 whether it is
accepted. Bias: a neighbour of probability q is drawn within q * (2^-19 + n * 2^-31) + 2^-30, n = V * O
(:func:`gnrs_ppl.inference.gibbs.draw`); acceptance as in metropolis.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int, Int32, UInt32

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference.gibbs import draw
from gnrs_ppl.inference.metropolis import Info, State, accept, chosen, init
from gnrs_ppl.models.energy import Tables
from gnrs_ppl.models.space import PADDING, AnyArray, look_up

__all__ = ["BALANCING", "WORDS", "Info", "State", "Transition", "build_kernel", "init", "neighbours"]

WORDS = 2
"""uint32 words a step takes."""
PAIRS_AT_ONCE = 16
"""Pairs written out one by one before a loop is made: a pair is four rows here, and compiling takes as long
as 32 look-ups elsewhere."""

BALANCING: dict[str, Callable[[jax.Array], jax.Array]] = {
    "sqrt": lambda log_ratio: log_ratio / 2,
    "barker": jax.nn.log_sigmoid,
    "min": lambda log_ratio: jnp.minimum(log_ratio, 0.0),
}
"""log g as a function of log t: square root, t / (1 + t), min(1, t)."""


_Total: TypeAlias = tuple[jax.Array, jax.Array, jax.Array]
Transition = Callable[[UInt32[jax.Array, " 2"], State, Tables, float | jax.Array], tuple[State, Info]]


def build_kernel(balancing: str = "barker") -> Transition:
    """Locally balanced kernel as ``transition(words, state, tables, temperature)``, for one chain;
    ``jax.vmap`` it for many. The acceptance rate is min(1, Z(x) / Z(y)); the energy evaluations are the
    neighbours of the state and of the proposal.

    Parameters
    ----------
    balancing : {"sqrt", "barker", "min"}
        The square root leans most on the best neighbours and is refused most, min least (Zanella's remark; so
        in the tests' spaces).

    Raises
    ------
    InputError
        For a function of another name.
    """
    if balancing not in BALANCING:
        raise InputError(
            f"no function {balancing!r}",
            f"choose one of {', '.join(BALANCING)}",
            source="arguments",
            field="balancing",
        )
    log_g = BALANCING[balancing]

    def transition(
        words: UInt32[jax.Array, " 2"], state: State, tables: Tables, temperature: float | jax.Array
    ) -> tuple[State, Info]:
        tables = jax.tree.map(jnp.asarray, tables)
        position, sizes = state.position, tables.sizes.astype(jnp.int32)

        def weigh(position: Int32[jax.Array, " V"]) -> Float[jax.Array, "V O"]:
            log_ratios = neighbours(tables, position, temperature)
            return jnp.where(
                log_ratios <= PADDING / 2, PADDING, log_g(log_ratios)
            )  # this way round NaN stays NaN

        weights = weigh(position)
        variable, option = jnp.divmod(draw(words[0], weights), np.int32(weights.shape[1]))
        there = (np.arange(position.shape[0], dtype=np.int32) == variable) & (sizes > 1).any()
        proposal = init(jnp.where(there, option, position), tables, temperature)
        log_ratio = proposal.logdensity - state.logdensity
        normalizers = jax.nn.logsumexp(weights) - jax.nn.logsumexp(weigh(proposal.position))
        log_ratio += log_g(-log_ratio) - log_g(log_ratio) + normalizers
        accepted, rate = accept(words[1], log_ratio)
        return chosen(accepted, proposal, state), Info(
            accepted, rate, proposal, 2 * (sizes - 1).sum(dtype=jnp.int32)
        )

    return transition


def neighbours(
    tables: Tables, position: Int[AnyArray, " V"], temperature: float | jax.Array
) -> Float[jax.Array, "V O"]:
    """Log p(y) / p(x) of every structure y that differs from x in one variable, named by that variable and
    its new option.

    Every pair of variables adds a row of its table to each of the two: 2 P O look-ups for all V O neighbours.

    Returns
    -------
    (V, O) float
        ``PADDING`` at the options of x itself, and about that where there is no option.
    """
    position = jnp.asarray(position, jnp.int32)
    variables, options = tables.unary.shape
    numbers, every = np.arange(variables, dtype=np.int32), np.arange(options, dtype=np.int32)
    raised = look_up(tables.unary_flags, numbers, position).sum(dtype=jnp.int32)

    def add_pair(total: _Total, pair: Int32[jax.Array, ""]) -> tuple[_Total, None]:
        score, flags, raised = total
        left, right = look_up(tables.pairs, pair, 0), look_up(tables.pairs, pair, 1)
        at_left, at_right = look_up(position, left), look_up(position, right)
        for end, row in ((left, (pair, every, at_right)), (right, (pair, at_left, every))):
            score = score.at[end].add(look_up(tables.pairwise, *row), mode="promise_in_bounds")
            flags = flags.at[end].add(
                look_up(tables.pair_flags, *row).astype(jnp.int32), mode="promise_in_bounds"
            )
        return (
            score,
            flags,
            raised + look_up(tables.pair_flags, pair, at_left, at_right).astype(jnp.int32),
        ), None

    total = (jnp.asarray(tables.unary), jnp.asarray(tables.unary_flags).astype(jnp.int32), raised)
    if tables.pairs.shape[0]:
        # Row by row: two to four times as fast on a CPU as one scatter of all rows, or a matrix product.
        total, _ = jax.lax.scan(
            add_pair, total, jnp.arange(tables.pairs.shape[0], dtype=jnp.int32), unroll=PAIRS_AT_ONCE
        )
    score, flags, raised = total
    # A flag of x stays up in y unless the changed variable has a part in it.
    elsewhere = raised - look_up(flags, numbers, position)
    score -= jnp.where(flags + elsewhere[:, None] > 0, tables.penalty, 0.0).astype(score.dtype)
    logdensity = tables.log_prior + score / temperature
    log_ratios = logdensity - look_up(logdensity, numbers, position)[:, None]
    return jnp.where(every[None] == position[:, None], PADDING, log_ratios)
