"""Sampling and enumerating rule spaces: one module a sampler, chains and observers over them, exact
posteriors, diagnostics.

``run_chains(tables, kernel=...)`` is the one call behind them all, ``observe_chains`` the same without
keeping the draws, ``samplers`` has the kernels to be stepped by hand; ``KERNELS`` says what each sampler is
like, the modules hold their transitions.
"""

from typing import TYPE_CHECKING

from gnrs_ppl.lazy import exports

if TYPE_CHECKING:
    from gnrs_ppl.inference import (
        cpsat,
        exact,
        gibbs,
        informed,
        metropolis,
        observe,
        samplers,
        smc,
        sweep,
        tempering,
    )
    from gnrs_ppl.inference.chains import observe_chains, run_chains, run_many
    from gnrs_ppl.inference.cpsat import Solved, solve
    from gnrs_ppl.inference.diagnostics import Diagnosis, diagnose
    from gnrs_ppl.inference.exact import (
        Enumeration,
        Posterior,
        enumerate_space,
        exact_posterior,
        optimum,
        slot_marginals,
    )
    from gnrs_ppl.inference.kernels import KERNELS, Kernel
    from gnrs_ppl.inference.observe import Observed, Observer
    from gnrs_ppl.inference.result import Chains, Exchange, Stages, best_visited
    from gnrs_ppl.inference.spectral import relaxation_time, spectral_gap
    from gnrs_ppl.inference.trace import datatree, exact_marginals, load, save
else:
    __getattr__, __dir__ = exports(
        __name__,
        kernels=("KERNELS", "Kernel"),
        metropolis=(),
        gibbs=(),
        informed=(),
        tempering=(),
        smc=(),
        exact=("Enumeration", "Posterior", "enumerate_space", "exact_posterior", "optimum", "slot_marginals"),
        sweep=(),
        cpsat=("Solved", "solve"),
        chains=("observe_chains", "run_chains", "run_many"),
        samplers=(),
        observe=("Observed", "Observer"),
        result=("Chains", "Exchange", "Stages", "best_visited"),
        trace=("datatree", "exact_marginals", "load", "save"),
        diagnostics=("Diagnosis", "diagnose"),
        spectral=("relaxation_time", "spectral_gap"),
    )

__all__ = [
    "KERNELS",
    "Chains",
    "Diagnosis",
    "Enumeration",
    "Exchange",
    "Kernel",
    "Observed",
    "Observer",
    "Posterior",
    "Solved",
    "Stages",
    "best_visited",
    "cpsat",
    "datatree",
    "diagnose",
    "enumerate_space",
    "exact",
    "exact_marginals",
    "exact_posterior",
    "gibbs",
    "informed",
    "load",
    "metropolis",
    "observe",
    "observe_chains",
    "optimum",
    "relaxation_time",
    "run_chains",
    "run_many",
    "samplers",
    "save",
    "slot_marginals",
    "smc",
    "solve",
    "spectral_gap",
    "sweep",
    "tempering",
]
