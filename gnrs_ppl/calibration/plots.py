"""Two plots of a fit: loss and weights by step, and posterior against prior."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gnrs_ppl.calibration.objective import prior_centre
from gnrs_ppl.context.output import write_all
from gnrs_ppl.errors import InputError
from gnrs_ppl.models.features import FEATURES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gnrs_ppl.calibration.fit import Fit

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's, told apart by most eyes."""

PLOTS = ("fit.png", "posterior.png")


def plots(fit: Fit, folder: Path) -> list[Path]:
    """Write ``fit.png`` and ``posterior.png``.

    Raises
    ------
    InputError
        When matplotlib is missing, and when the folder cannot be written.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError(
            "plots need matplotlib, which is not installed", "pip install 'gnrs-ppl[plots]'"
        ) from None
    files = []
    for name, size, draw in zip(PLOTS, ((9, 3.6), (9, 5)), (_steps, _posterior), strict=True):
        figure, content = Figure(figsize=size, layout="constrained"), io.BytesIO()
        draw(fit, figure)
        figure.savefig(content, format="png", dpi=120)
        files.append((name, content.getvalue()))
    return write_all(folder, files, manifest=True)


def _steps(fit: Fit, figure: Figure) -> None:
    loss, weights = figure.subplots(1, 2)
    history = fit.fitted.history
    loss.plot(history[:, 0], color="black", marker=".")
    loss.set(xlabel=f"step ({fit.optimiser})", ylabel="objective J, nats a goal", title="Loss")
    beta = history[:, 1:]
    for f, name in enumerate(FEATURES):
        weights.plot(beta[:, f] / beta.sum(1), color=COLOURS[f % len(COLOURS)], label=name.replace("_", " "))
    weights.set(xlabel=f"step ({fit.optimiser})", ylabel="weight", title="Weights", ylim=(0, None))
    weights.legend(fontsize=7)


def _posterior(fit: Fit, figure: Figure) -> None:
    centre = prior_centre(len(FEATURES))
    deviation = centre / np.sqrt(fit.kappa)
    for f, name in enumerate(FEATURES):
        axes = figure.add_subplot(-(-len(FEATURES) // 3), 3, f + 1)
        draws = fit.posterior.beta[:, f]
        at = np.linspace(0, max(draws.max(), centre + 3 * deviation), 200)
        density = np.exp(-(((at - centre) / deviation) ** 2) / 2)
        axes.plot(
            at, density / (density.sum() * (at[1] - at[0])), color="gray", linestyle="--", label="prior"
        )
        axes.hist(draws, bins=30, density=True, color=COLOURS[f % len(COLOURS)], alpha=0.7, label="posterior")
        axes.axvline(fit.beta[f], color="black", linewidth=1, label="fit")
        axes.set(
            title=f"{name.replace('_', ' ')}, contraction {fit.posterior.contraction[f]:.2f}",
            xlabel="β",
            yticks=[],
        )
        axes.title.set_fontsize(9)
        if f == 0:
            axes.legend(fontsize=7)
