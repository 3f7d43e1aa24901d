"""``gnrs fit``: weights and temperature from the annotated dev goals, validated, with a posterior, frozen in
a file (DESIGN section 5).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from gnrs_ppl.calibration.objective import TOLERANCE, Fitted, fisher, minimise, problem_of
from gnrs_ppl.calibration.posterior import (
    WEAK,
    PosteriorFit,
    Predictive,
    observed,
    predictive_check,
    sample_posterior,
)
from gnrs_ppl.calibration.problem import GoalData, data_hash, dev_data
from gnrs_ppl.calibration.validation import Held, chosen_kappa, leave_one_out
from gnrs_ppl.calibration.weights import FROZEN, POSTERIOR, feature_hash
from gnrs_ppl.context.output import write_all
from gnrs_ppl.errors import InputError
from gnrs_ppl.inference.exact import enumerate_space, exact_posterior
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, contract, hard_penalty
from gnrs_ppl.models.features import FEATURES
from gnrs_ppl.models.space import RuleSpace
from gnrs_ppl.versions import versions

Floats = NDArray[np.float64]
PENALTIES = (0.25, 0.5, 1.0, 2.0, 4.0)
"""lambda, in units of the sum of the weights, that the sensitivity table tries."""
KEPT_DRAWS = 100
"""Posterior draws that are frozen beside the weights."""


@dataclass(frozen=True)
class Fit:
    """A fit with all that is said of it.

    Attributes
    ----------
    data : list of GoalData
    fitted : Fitted
    kappa : float
        Strength of the prior, chosen by held-out log score.
    kappas : {kappa: log score}
    dropped : tuple of str
        Features that do not vary within any goal, and have no weight.
    held : {weights: Held}
        Leave-one-goal-out scores.
    eigenvalues : (F,) float64
        Of the Fisher information, rising.
    penalties : list of (lambda, mean infeasible mass, share of goals whose best structure is feasible)
    posterior : PosteriorFit
    predictive : Predictive
    optimiser : str
    seconds : float
    """

    data: list[GoalData]
    fitted: Fitted
    kappa: float
    kappas: dict[float, float]
    dropped: tuple[str, ...]
    held: dict[str, Held]
    eigenvalues: Float[Floats, " F"]
    penalties: list[tuple[float, float, float]]
    posterior: PosteriorFit
    predictive: Predictive
    optimiser: str
    seconds: float

    @property
    def beta(self) -> Float[Floats, " F"]:
        """One per feature, zero for dropped ones."""
        return self.fitted.beta

    @property
    def weights(self) -> Float[Floats, " F"]:
        """W on the simplex."""
        return np.asarray(self.beta / self.beta.sum())

    @property
    def temperature(self) -> float:
        """tau_fit."""
        return float(1 / self.beta.sum())

    def interval(self) -> Float[Floats, "F 2"]:
        """95 % posterior interval of each weight on the simplex."""
        on_simplex = self.posterior.beta / self.posterior.beta.sum(1, keepdims=True)
        return np.asarray(np.quantile(on_simplex, [0.025, 0.975], axis=0).T)

    def validation(self) -> dict[str, dict[str, Any]]:
        """Per weights: mean log score and rank, and the interval of the log score less that of uniform
        weights.
        """
        return {name: held.summary(self.held["uniform"]) for name, held in self.held.items()}

    @property
    def beats_uniform(self) -> bool:
        """Whether the held-out log score is better than that of uniform weights, by an interval that leaves
        out zero.
        """
        return bool(self.validation()["fitted"]["interval"][0] > 0)

    def headline(self) -> str:
        """The report's first line."""
        found = self.validation()
        off = found["fitted"]["log_score"] - found["uniform"]["log_score"]
        low, high = found["fitted"]["interval"]
        how = "beats" if self.beats_uniform else "does not beat"
        return (
            f"fitting {how} uniform weights on held-out dev goals: log score {off:+.3f} nats a goal, 95 "
            f"% [{low:+.3f}, {high:+.3f}]"
        )

    def as_dict(self) -> dict[str, Any]:
        """The JSON of ``gnrs fit``."""
        low_high = self.interval()
        return {
            "headline": self.headline(),
            "weights": dict(zip(FEATURES, self.weights.tolist(), strict=True)),
            "intervals": {name: pair.tolist() for name, pair in zip(FEATURES, low_high, strict=True)},
            "beta": dict(zip(FEATURES, self.beta.tolist(), strict=True)),
            "temperature": self.temperature,
            "hard_penalty": hard_penalty(self.weights),
            "loss": self.fitted.objective,
            "converged": self.fitted.converged,
            "gradient_norm": self.fitted.gradient_norm,
            "kappa": {
                "chosen": self.kappa,
                "left_out_log_score": {f"{k:g}": v for k, v in self.kappas.items()},
            },
            "dropped": [*self.dropped],
            "validation": self.validation(),
            "fisher_eigenvalues": self.eigenvalues.tolist(),
            "contraction": {
                name: {
                    "value": float(c),
                    "verdict": "prior only" if c < WEAK else "informed by the references",
                }
                for name, c in zip(FEATURES, self.posterior.contraction, strict=True)
            },
            "posterior": {
                "r_hat": self.posterior.r_hat,
                "ess": self.posterior.ess,
                "divergences": self.posterior.divergences,
                "predictive": self.predictive._asdict(),
            },
            "penalty": [
                {"hard_penalty": value, "infeasible_mass": mass, "feasible_optimum": share}
                for value, mass, share in self.penalties
            ],
            "references": [
                {
                    "goal": d.goal,
                    "states": d.states,
                    "feasible": int(d.structures.sum()),
                    "references": d.references,
                    "uniform_mass": d.uniform_mass,
                    "options": d.verdicts,
                }
                for d in self.data
            ],
            "seconds": self.seconds,
        }

    def frozen(self) -> dict[str, Any]:
        """What ``weights.json`` holds."""
        return {
            "weights": dict(zip(FEATURES, self.weights.tolist(), strict=True)),
            "beta": dict(zip(FEATURES, self.beta.tolist(), strict=True)),
            "temperature": self.temperature,
            "hard_penalty": hard_penalty(self.weights),
            "search_temperature": SEARCH_TEMPERATURE,
            "features": [*FEATURES],
            "dropped": [*self.dropped],
            "goals": [d.goal for d in self.data],
            "data_hash": data_hash(),
            "feature_hash": feature_hash(),
            "objective": {
                "name": "cross-entropy of the reference set",
                "kappa": self.kappa,
                "value": self.fitted.objective,
                "gradient_norm": self.fitted.gradient_norm,
            },
            "optimiser": {
                "name": self.optimiser,
                "tolerance": TOLERANCE,
                "steps": len(self.fitted.history) - 1,
            },
            "versions": versions(),
        }

    def save(self, path: Path) -> list[Path]:
        """Write the weights, and beside them the posterior draws as ``posterior.json`` (thinned to
        ``KEPT_DRAWS``); all or nothing.
        """
        kept = np.linspace(0, len(self.posterior.beta) - 1, KEPT_DRAWS).astype(int)
        draws = {
            "features": [*FEATURES],
            "feature_hash": feature_hash(),
            "beta": self.posterior.beta[kept].round(6).tolist(),
        }
        files = [
            (path.name, json.dumps(self.frozen(), indent=2) + "\n"),
            (POSTERIOR.name, json.dumps(draws) + "\n"),
        ]
        return write_all(path.parent, [(name, text.encode()) for name, text in files], manifest=True)


def fit(
    goal_ids: Sequence[str] | None = None,
    *,
    optimiser: Literal["lbfgs", "adam"] = "lbfgs",
    seed: int = 0,
    draws: int = 300,
    report: Callable[[str], None] = lambda stage: None,
) -> Fit:
    """Fit, validate, and sample the posterior.

    Parameters
    ----------
    goal_ids : sequence of str, optional
        Dev goals; all sixteen unless named.
    optimiser : {"lbfgs", "adam"}
    seed : int
        Of the shuffled references, of NUTS and of the predictive draws.
    draws : int
        NUTS draws per chain after as many of warm-up, on four chains.
    report : callable
        Told what is being done.

    Raises
    ------
    InputError
        For a goal that is not dev, fewer than two goals, and references that cannot be met.
    """
    began = time.perf_counter()
    report("reading the references")
    data = dev_data(goal_ids)
    if len(data) < 2:
        raise InputError(
            f"{len(data)} goal named, and none is left to validate on",
            "name two or more",
            source="arguments",
            field="--goal",
        )
    problem, share = problem_of(data), np.ones(len(data))
    report("choosing the prior's strength, goal by goal left out")
    kappa, kappas = chosen_kappa(data)
    report("fitting")
    fitted = minimise(problem, share, kappa, optimiser=optimiser)
    varies = np.array([any(np.ptp(d.features[:, f]) > 0 for d in data) for f in range(len(FEATURES))])
    if not varies.all():  # such a feature only meets the prior; its weight says nothing
        fitted = fitted._replace(beta=np.where(varies, fitted.beta, 0.0))
    rows = observed(data)
    # the sampler keeps one core busy; validation takes the other
    with ThreadPoolExecutor(1) as other_core:
        report("sampling the posterior over weights, and leaving each goal out")
        sampling = other_core.submit(
            sample_posterior, rows, kappa, FEATURES, warmup=draws, draws=draws, seed=seed
        )
        held = leave_one_out(data, kappa, seed)
        penalties = penalty_sensitivity(data, fitted.beta / fitted.beta.sum())
        posterior = sampling.result()
    return Fit(
        data=data,
        fitted=fitted,
        kappa=kappa,
        kappas=kappas,
        dropped=tuple(name for name, v in zip(FEATURES, varies, strict=True) if not v),
        held=held,
        eigenvalues=np.asarray(np.linalg.eigvalsh(fisher(fitted.beta, problem, share)), np.float64),
        penalties=penalties,
        posterior=posterior,
        predictive=predictive_check(posterior, rows, seed),
        optimiser=optimiser,
        seconds=time.perf_counter() - began,
    )


def penalty_sensitivity(data: Sequence[GoalData], weights: Floats) -> list[tuple[float, float, float]]:
    """For several lambda: mean infeasible mass at the search temperature, and the share of goals whose
    optimum is feasible.
    """
    spaces = [_space(d.goal) for d in data]
    table = []
    for factor in PENALTIES:
        masses, feasible = [], []
        for space in spaces:
            enumeration = enumerate_space(contract(space, weights, penalty=factor * float(weights.sum())))
            masses.append(exact_posterior(enumeration, SEARCH_TEMPERATURE).infeasible_mass)
            feasible.append(bool(enumeration.feasible[int(enumeration.score.argmax())]))
        table.append((factor, float(np.mean(masses)), float(np.mean(feasible))))
    return table


def _space(goal: str) -> RuleSpace:
    from gnrs_ppl.benchmarks import load_context
    from gnrs_ppl.candidates.build import pools_of
    from gnrs_ppl.models.graph import compile_graph

    context = load_context(goal)
    return compile_graph(context, pools_of(context).pools).space


__all__ = ["FROZEN", "Fit", "fit", "penalty_sensitivity"]
