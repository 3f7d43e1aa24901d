"""Cross-entropy of the references under the exact Gibbs distribution, and its minimisation (DESIGN section
5).

    p_beta(a | x) = p0(a) exp(beta . phi(a, x)) / Z_x(beta)  on the feasible set,  beta >= 0
    L(beta) = mean over goals x of ( log Z_x(beta) - mean over a in R_x of (log p0(a) + beta . phi(a, x)) )
    J(beta) = L(beta) + kappa / (2 G) * sum_f ((beta_f - b) / b)^2,  b = BETA_SUM / F

J is convex in beta: log Z is, and the rest is linear or quadratic. (The likelihood of the set, -log p(R), is
not convex; the posterior over weights uses it, see :mod:`gnrs_ppl.calibration.posterior`.) w = beta /
sum(beta) and tau_fit = 1 / sum(beta) are reported apart. The quadratic term draws beta to uniform weights at
the paper's search temperature.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Float, Int
from numpy.typing import NDArray

from gnrs_ppl.calibration.problem import GoalData
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE
from gnrs_ppl.models.space import PADDING

Floats = NDArray[np.float64]
BETA_SUM = 1 / SEARCH_TEMPERATURE
"""sum(beta) of the prior's centre."""
TOLERANCE = 1e-7
"""Norm of the gradient at which an optimiser stops; at a hundred times that, the projected step's, it has
converged."""
STEPS = {"lbfgs": 500, "adam": 20_000}
ADAM_RATE = 0.05
SMALLEST = 1e-6
"""Least beta that a fit starts from."""
BLOCK = 512
"""Rows that are reduced at once; sums over blocks need no scatter over rows."""


_Carry: TypeAlias = Any
"""Parameters, state of the optimiser, norm of the gradient, steps taken, history."""


class Problem(NamedTuple):
    """The rows of G goals in B blocks of ``BLOCK``, the last block of a goal filled up with rows of no mass.

    Attributes
    ----------
    features : (B, BLOCK, F) float
    log_mass : (B, BLOCK) float
        log p0 on the feasible set of its goal.
    reference : (B, BLOCK) float
        Share of the row in its goal's reference set.
    goal : (B,) int
        Which goal a block is of, rising.
    """

    features: Float[jax.Array | Floats, "B rows F"]
    log_mass: Float[jax.Array | Floats, "B rows"]
    reference: Float[jax.Array | Floats, "B rows"]
    goal: Int[jax.Array | NDArray[np.int32], " B"]


class Fitted(NamedTuple):
    """What an optimiser found.

    Attributes
    ----------
    beta : (F,) float64
    objective : float
        J at beta.
    gradient_norm : float
        Of the projected gradient step, beta - max(beta - gradient, 0).
    converged : bool
    history : (steps + 1, 1 + F) float64
        J and beta before the first step and after each.
    """

    beta: Float[Floats, " F"]
    objective: float
    gradient_norm: float
    converged: bool
    history: Float[Floats, "steps J_and_beta"]


def problem_of(data: Sequence[GoalData], references: Sequence[Floats] | None = None) -> Problem:
    """The goals' rows; other reference shares than the goals' own may be given."""
    shares = [d.reference for d in data] if references is None else references
    return Problem(
        *in_blocks([(d.features, d.log_mass, share) for d, share in zip(data, shares, strict=True)])
    )


def in_blocks(
    goals: Sequence[tuple[Floats, Floats, Floats]],
) -> tuple[Floats, Floats, Floats, NDArray[np.int32]]:
    """Features, log mass and one more number of the rows of each goal, in blocks, and the goal of each
    block.
    """

    def filled(rows: Floats, value: float) -> Floats:
        missing = -len(rows) % BLOCK
        padded = np.concatenate([rows, np.full((missing, *rows.shape[1:]), value)])
        return padded.reshape(-1, BLOCK, *rows.shape[1:])

    parts = [
        (filled(features, 0.0), filled(log_mass, PADDING), filled(more, 0.0))
        for features, log_mass, more in goals
    ]
    goal = np.repeat(np.arange(len(parts), dtype=np.int32), [len(features) for features, _, _ in parts])
    features, log_mass, more = (np.concatenate([part[i] for part in parts]) for i in range(3))
    return features, log_mass, more, goal


def prior_centre(features: int) -> float:
    """Each beta at uniform weights and the search temperature."""
    return BETA_SUM / features


def log_sums(
    logdensity: Float[jax.Array, "B rows"], goal: Int[jax.Array, " B"], goals: int
) -> Float[jax.Array, " G"]:
    """Log of the sum of exp over the rows of each goal."""
    each = jax.nn.logsumexp(logdensity, axis=1)
    greatest = jax.ops.segment_max(jax.lax.stop_gradient(each), goal, goals)
    return jnp.log(jax.ops.segment_sum(jnp.exp(each - greatest[goal]), goal, goals)) + greatest


def cross_entropies(beta: Float[jax.Array, " F"], problem: Problem, goals: int) -> Float[jax.Array, " G"]:
    """Cross-entropy of every goal's references; its negative is the log score."""
    logdensity = problem.features @ beta + problem.log_mass
    met = jax.ops.segment_sum((problem.reference * logdensity).sum(1), problem.goal, goals)
    return log_sums(jnp.asarray(logdensity), jnp.asarray(problem.goal), goals) - met


def objective(
    beta: Float[jax.Array, " F"], problem: Problem, share: Float[jax.Array, " G"], kappa: float | jax.Array
) -> Float[jax.Array, ""]:
    """J of the goals, weighted by ``share`` (zero leaves a goal out)."""
    centre = prior_centre(beta.shape[0])
    loss = (share * cross_entropies(beta, problem, share.shape[0])).sum() / share.sum()
    return loss + kappa / (2 * share.sum()) * (((beta - centre) / centre) ** 2).sum()


def minimise(
    problem: Problem,
    share: Float[Floats, " G"],
    kappa: float,
    *,
    optimiser: Literal["lbfgs", "adam"] = "lbfgs",
    start: Float[Floats, " F"] | None = None,
) -> Fitted:
    """Minimise J over beta >= 0, in float64.

    Parameters
    ----------
    problem : Problem
    share : (G,) float
        Weight of each goal, zero to leave it out.
    kappa : float
        Strength of the prior, > 0.
    optimiser : {"lbfgs", "adam"}
        L-BFGS on theta with beta = softplus(theta); or Adam on beta, projected after each step.
    start : (F,) float, optional
        First beta; the prior's centre unless given.
    """
    features = problem.features.shape[-1]
    first = np.full(features, prior_centre(features)) if start is None else np.maximum(start, SMALLEST)
    with jax.enable_x64(True), jax.numpy_dtype_promotion("standard"):  # optax mixes int32 and int64
        run = {"lbfgs": _lbfgs, "adam": _adam}[optimiser]
        arguments = jax.tree.map(jnp.asarray, (first, problem, share, float(kappa)))
        beta, history, taken = run(*arguments)
        value, gradient = jax.value_and_grad(objective)(beta, *arguments[1:])
        norm = float(_residual(beta, gradient))
    return Fitted(
        np.asarray(beta), float(value), norm, norm <= 100 * TOLERANCE, np.asarray(history)[: int(taken) + 1]
    )


def _residual(beta: Any, gradient: Any) -> Any:
    """Length of the projected gradient step: zero exactly at a minimum over beta >= 0."""
    return jnp.linalg.norm(beta - jnp.maximum(beta - gradient, 0.0))


@jax.jit
def _lbfgs(first: jax.Array, problem: Problem, share: jax.Array, kappa: jax.Array) -> tuple[Any, Any, Any]:
    def loss(theta: jax.Array) -> jax.Array:
        return objective(jax.nn.softplus(theta), problem, share, kappa)

    solver = optax.lbfgs()
    value_and_grad = optax.value_and_grad_from_state(loss)

    def going(carry: _Carry) -> Any:
        _, _, norm, step, _ = carry
        return (norm > TOLERANCE) & (step < STEPS["lbfgs"])

    def advance(
        carry: _Carry,
    ) -> _Carry:
        theta, state, _, step, history = carry
        value, gradient = value_and_grad(theta, state=state)
        history = history.at[step].set(jnp.append(value, jax.nn.softplus(theta)))
        updates, state = solver.update(gradient, state, theta, value=value, grad=gradient, value_fn=loss)
        theta = optax.apply_updates(theta, updates)
        return theta, state, jnp.linalg.norm(optax.tree.get(state, "grad")), step + 1, history

    theta = jnp.log(jnp.expm1(first))
    history = jnp.zeros((STEPS["lbfgs"] + 1, 1 + first.shape[0]))
    theta, _, _, taken, history = jax.lax.while_loop(
        going, advance, (theta, solver.init(theta), jnp.inf, 0, history)
    )
    beta = jax.nn.softplus(theta)
    return beta, history.at[taken].set(jnp.append(loss(theta), beta)), taken


@jax.jit
def _adam(first: jax.Array, problem: Problem, share: jax.Array, kappa: jax.Array) -> tuple[Any, Any, Any]:
    solver = optax.adam(optax.cosine_decay_schedule(ADAM_RATE, STEPS["adam"]))

    def going(carry: _Carry) -> Any:
        _, _, norm, step, _ = carry
        return (norm > TOLERANCE) & (step < STEPS["adam"])

    def advance(
        carry: _Carry,
    ) -> _Carry:
        beta, state, _, step, history = carry
        value, gradient = jax.value_and_grad(objective)(beta, problem, share, kappa)
        history = history.at[step].set(jnp.append(value, beta))
        norm = _residual(beta, gradient)
        updates, state = solver.update(gradient, state, beta)
        return (
            optax.projections.projection_non_negative(optax.apply_updates(beta, updates)),
            state,
            norm,
            step + 1,
            history,
        )

    history = jnp.zeros((STEPS["adam"] + 1, 1 + first.shape[0]))
    beta, _, _, taken, history = jax.lax.while_loop(
        going, advance, (first, solver.init(first), jnp.inf, 0, history)
    )
    return beta, history.at[taken].set(jnp.append(objective(beta, problem, share, kappa), beta)), taken


def fisher(beta: Floats, problem: Problem, share: Floats) -> Float[Floats, "F F"]:
    """Hessian of L at beta: the mean over goals of the covariance of phi."""
    with jax.enable_x64(True):
        arguments = jax.tree.map(jnp.asarray, (problem, share, 0.0))
        return np.asarray(jax.hessian(objective)(jnp.asarray(beta), *arguments))
