"""Fitted weights, as a person sees them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gnrs_ppl.terminal import console as _console
from gnrs_ppl.terminal import row as _row
from gnrs_ppl.terminal import shown
from gnrs_ppl.terminal import table as _table

if TYPE_CHECKING:
    from gnrs_ppl.calibration.fit import Fit


def print_fit(fit: Fit, written: list[Path]) -> None:
    """Headline, weights with intervals and contraction, validation, references, lambda."""
    console = _console()
    fit_data = fit.as_dict()
    console.print(shown(fit_data["headline"], style="bold"))
    console.print(
        shown(
            f"τ_fit = {fit.temperature:.4f}, λ = {fit_data['hard_penalty']:g}, objective "
            f"{fit.fitted.objective:.4f} nats a goal, "
            f"{'converged' if fit.fitted.converged else 'NOT CONVERGED'} after "
            f"{len(fit.fitted.history) - 1} steps of {fit.optimiser} "
            f"(gradient {fit.fitted.gradient_norm:.1e}), prior strength κ = {fit.kappa:g}, "
            f"{fit.seconds:.0f} s"
        )
    )
    weights = _table(
        "Weights", "feature", "w", "95 % posterior", "β", "contraction", "", right=("w", "β", "contraction")
    )
    for f, (name, (low, high)) in enumerate(fit_data["intervals"].items()):
        contraction = fit_data["contraction"][name]
        _row(
            weights,
            name.replace("_", " "),
            f"{fit.weights[f]:.3f}",
            f"{low:.3f} to {high:.3f}",
            f"{fit.beta[f]:.2f}",
            f"{contraction['value']:.2f}",
            contraction["verdict"],
        )
    console.print(weights)
    if fit.dropped:
        console.print(
            shown(f"dropped, as they vary within no goal: {', '.join(fit.dropped)}", style="yellow")
        )
    held = _table(
        "Leave one goal out",
        "weights",
        "log score",
        "less uniform, 95 %",
        "mean rank",
        "median rank",
        right=("log score", "mean rank", "median rank"),
    )
    for name, row in fit_data["validation"].items():
        low, high = row["interval"]
        off = row["log_score"] - fit_data["validation"]["uniform"]["log_score"]
        rank, median = f"{row['mean_rank']:,.0f}", f"{row['median_rank']:,.0f}"
        _row(held, name, f"{row['log_score']:.3f}", f"{off:+.3f} [{low:+.3f}, {high:+.3f}]", rank, median)
    console.print(held)
    console.print(
        shown(
            "rank: of the best reference among the feasible structures of its goal; 1 is first", style="dim"
        )
    )
    sets = _table(
        "References",
        "goal",
        "feasible",
        "in the set",
        "mass of p0",
        *fit_data["references"][0]["options"],
        right=("feasible", "in the set", "mass of p0"),
    )
    for d in fit.data:
        _row(
            sets,
            d.goal,
            f"{int(d.structures.sum()):,}",
            f"{d.references:,}",
            f"{d.uniform_mass:.4f}",
            *("/".join(map(str, counts)) for counts in d.verdicts.values()),
        )
    console.print(sets)
    console.print(shown("slots: options acceptable / neither / unacceptable", style="dim"))
    columns = ("λ", "infeasible mass", "optimum feasible")
    penalty = _table("Hard penalty, at search temperature", *columns, right=columns)
    for value, mass, share in fit.penalties:
        _row(penalty, f"{value:g}", f"{mass:.2e}", f"{share:.0%}")
    console.print(penalty)
    check, posterior = fit.predictive, fit.posterior
    for line in (
        f"held-out log score by κ: {', '.join(f'{k:g}: {v:.3f}' for k, v in fit.kappas.items())}",
        f"Fisher eigenvalues: {', '.join(f'{v:.2g}' for v in fit.eigenvalues)}",
        f"posterior: R-hat {posterior.r_hat:.3f}, ESS {posterior.ess:.0f}, {posterior.divergences} "
        "divergences",
        f"predictive check: of {check.observed} goals in their reference set, replicates have "
        f"{check.expected:.1f} "
        f"[{check.interval[0]:.0f}, {check.interval[1]:.0f}]",
    ):
        console.print(shown(line))
    for path in written:
        console.print(shown(f"wrote {path}", style="dim"))
