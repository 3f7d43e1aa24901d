"""Draw ising.svg, the energy of an Ising model of 2^256 structures by Gibbs beside Kaufman's exact one: ``python -m docs.pictures.ising``.

Needs matplotlib. No sum over structures is in reach; on a torus without a field log Z is known (Kaufman, Phys. Rev. 76, 1232, 1949).
"""

from __future__ import annotations

from pathlib import Path

import jax.numpy as jnp
import numpy as np

import gnrs_ppl as gnrs
from gnrs_ppl.inference import Observer, observe_chains

SIDE = 16
CHAINS = 64
SWEEPS = 150
BETAS = (0.2, 0.3, 0.36, 0.4, 0.44, 0.48, 0.54)


def log_partition(beta: float, side: int = SIDE) -> float:
    """log Z of a torus of an even number of sites a side."""
    angles = np.pi * np.arange(1, 2 * side) / side
    signed = 2 * beta + np.log(np.tanh(beta))  # negative above the critical temperature
    gammas = np.append(signed, np.arccosh(np.cosh(2 * beta) / np.tanh(2 * beta) - np.cos(angles)))
    odd, even = side / 2 * gammas[1::2], side / 2 * gammas[0::2]
    products = [np.prod(2 * f(half)) for half in (odd, even) for f in (np.cosh, np.sinh)]
    return float(side**2 / 2 * np.log(2 * np.sinh(2 * beta)) + np.log(sum(products) / 2))


def exact_energy(beta: float, side: int = SIDE) -> float:
    """Mean energy of a site: -d log Z / d beta over the number of sites."""
    step = 1e-4
    return -(log_partition(beta + step, side) - log_partition(beta - step, side)) / (2 * step * side**2)


def second_half(steps: int) -> Observer:
    """Mean score of each chain over the second half of its steps: the starts are draws from p0."""
    first = steps // 2

    def add(so_far, before, states, info):
        step, total = so_far
        return step + 1, total + jnp.where(step >= first, states.score, 0.0)

    return Observer(
        lambda tables, states: (jnp.zeros((), jnp.int32), jnp.zeros_like(states.score)),
        add,
        lambda carry, _: np.asarray(carry[1], np.float64) / (steps - first),
    )


def sampled_energies(betas, side: int = SIDE, sweeps: int = SWEEPS) -> np.ndarray:
    """Mean energy of a site in each chain, (betas, chains): the score is minus the energy, tau is 1 / beta."""
    sites = np.arange(side**2).reshape(side, side)
    ends = [(sites.ravel(), np.roll(sites, -1, axis).ravel()) for axis in (0, 1)]
    agree = np.array([[1.0, -1.0], [-1.0, 1.0]])
    edges = [(int(a), int(b)) for left, right in ends for a, b in zip(left, right, strict=True)]
    ising = gnrs.from_factors([2] * side**2, pairwise=dict.fromkeys(edges, agree), logarithms=True)
    steps = sweeps * side**2  # a step draws one site anew
    watching = {"score": second_half(steps)}
    request = {"chains": CHAINS, "superchains": CHAINS, "steps": steps, "seed": 0, "kernel": "gibbs"}
    runs = [observe_chains(ising, watching, temperature=1 / beta, **request) for beta in betas]
    return np.array([-run.observed["score"] / side**2 for run in runs])


def main() -> None:
    """Print the figures and write the picture beside this file."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams["svg.hashsalt"] = "ising"
    found = sampled_energies(BETAS)
    mean, error = found.mean(1), found.std(1, ddof=1) / np.sqrt(CHAINS)
    for beta, value, off in zip(BETAS, mean, error, strict=True):
        print(f"beta {beta:.2f}: {value:.4f} +- {off:.4f}, exact {exact_energy(beta):.4f}")
    figure, axes = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
    grid = np.linspace(0.15, 0.58, 200)
    axes.plot(grid, [exact_energy(beta) for beta in grid], color="black", label="exact (Kaufman)")
    axes.errorbar(BETAS, mean, 2 * error, fmt="o", capsize=3, label=f"Gibbs, {CHAINS} chains, two standard errors")
    axes.set(xlabel="β", ylabel="energy of a site")
    axes.legend(frameon=False)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
