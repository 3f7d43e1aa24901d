# %% [markdown]
# # From weights to references
#
# The model that the weights were fitted by is a NumPyro program: weights from a prior, a rule for each goal from p(a | x) at these weights,
# and the verdicts that an annotator gives it. This notebook runs it forwards, conditions it on the annotated references, and hands one
# goal to NumPyro's own machinery. [calibration.md](../calibration.md) has the fit itself, [samplers.md](../samplers.md) the program of one
# goal.
#
# `weights.py` is the source of this notebook; `python docs/notebooks/build.py` runs it and writes `weights.ipynb`. Three dev goals with few
# structures keep it short, so that its weights are not those of the package, which are fitted to sixteen.

# %%
import jax
import numpy as np
import numpyro
from numpyro.infer import Predictive
from numpyro.infer.util import log_density

import gnrs_ppl as gnrs
from gnrs_ppl.calibration import dev_data, rule_plate, weights_program
from gnrs_ppl.calibration.objective import objective, prior_centre, problem_of
from gnrs_ppl.calibration.posterior import observed, sample_posterior
from gnrs_ppl.candidates.build import pools_of
from gnrs_ppl.inference import enumerate_space, exact_posterior, optimum, run_chains, slot_marginals
from gnrs_ppl.models import FEATURES, compile_graph, contract, rule_program
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.text import render

KAPPA = 1.0  # strength of the prior
NAMES = ["GNRS-005", "GNRS-037", "GNRS-081"]
data = dev_data(NAMES)
plate = rule_plate(data)
for goal in data:
    print(goal.goal, f"{goal.structures.sum():,} feasible structures in {len(goal.cell):,} rows, {goal.references} of them references")

# %% [markdown]
# ## Forwards: prior over weights, rules, references
#
# `beta` is w / τ. A rule here is a row of structures that agree in all features and in what the annotator says of every slot; cell 0 says
# that all five slots are acceptable. With probability epsilon the annotator is blind and points anywhere.

# %%
prior = Predictive(weights_program, num_samples=2000)(jax.random.key(0), plate, KAPPA)
for g, name in enumerate(NAMES):
    print(name, f"a draw from the prior is a reference in {(prior['cell'][:, g] == 0).mean():.1%}, one from p0 in {data[g].uniform_mass:.2%}")

# %% [markdown]
# What a draw of weights says about a rule, for one goal: the best structure, as text. The space is compiled once; only the contraction
# with the weights changes.

# %%
context = gnrs.load_context("GNRS-005")
graph = compile_graph(context, pools_of(context).pools)
words = Lexicon.of_context(context)
for beta in np.asarray(prior["beta"][:4], np.float64):
    weights = beta / beta.sum()
    best = optimum(exact_posterior(enumerate_space(contract(graph.space, weights)), 1 / beta.sum()))
    print(weights.round(2), f"probability {best.probability:.4f}")
    structure = graph.structure(best.position)
    print("   ", render(structure, words.including(structure)))

# %% [markdown]
# ## One density
#
# Summed over rules and over blindness, the program with its cells observed is the model that `gnrs fit` samples; at the references, with
# nobody blind, it is the objective that `gnrs fit` minimises. Here the second, at the prior's centre; the tests hold both to nine decimals.

# %%
features = len(FEATURES)
beta = np.full(features, prior_centre(features))
rows = np.arange(plate.cell.shape[1])
values = {"beta": beta, "epsilon": 0.1, "blind": np.zeros(3, int), "rule": rows[:, None]}
with numpyro.handlers.trace() as trace, numpyro.handlers.substitute(data=values):
    weights_program(plate, KAPPA)
of_rows = trace["rule"]["fn"].log_prob(rows[:, None])
shares = np.array([np.pad(goal.reference, (0, len(rows) - len(goal.reference))) for goal in data])
print("program   ", float((shares.T * of_rows).sum()))
print("objective ", -3 * float(objective(beta, problem_of(data), np.ones(3), KAPPA)))

# %% [markdown]
# ## Backwards: weights given the references
#
# With `pip install 'gnrs-ppl[enumeration]'` NumPyro sums the rules out itself (`config_enumerate`). `sample_posterior` has that sum by hand
# in blocks, which is quicker, and runs NUTS on it.

# %%
fit = sample_posterior(observed(data), KAPPA, FEATURES, warmup=200, draws=200, chains=4)
print(f"greatest R-hat {fit.r_hat:.3f}, least ESS {fit.ess:.0f}, {fit.divergences} divergences")
shrunk = {"prior": np.asarray(prior["beta"], np.float64), "posterior": fit.beta}
for f, name in enumerate(FEATURES):
    shares = {when: draws[:, f] / draws.sum(1) for when, draws in shrunk.items()}
    print(f"{name:21}", ", ".join(f"{when} {w.mean():.2f} ± {w.std():.2f}" for when, w in shares.items()))

# %% [markdown]
# Three goals leave the weights wide. What they say about the rules is tighter: the share of draws that are references, goal by goal, with
# weights from the posterior.

# %%
given = {"beta": fit.beta[::4], "epsilon": np.zeros(len(fit.beta[::4]))}
after = Predictive(weights_program, posterior_samples=given)(jax.random.key(1), plate, KAPPA)
for g, name in enumerate(NAMES):
    print(name, f"prior {(prior['cell'][:, g] == 0).mean():.1%}, posterior {(after['cell'][:, g] == 0).mean():.1%}")

# %% [markdown]
# ## One goal in NumPyro's hands
#
# `rule_program` is the density of one goal. Pinning a slot is `handlers.condition`; `--kernel numpyro` is NumPyro's own Gibbs on it, recorded
# and diagnosed like every other kernel. The exact marginals are the yardstick.

# %%
mean = fit.beta.mean(0)
tables, temperature = contract(graph.space, mean / mean.sum()), float(1 / mean.sum())
slots = ["scope", "trigger", "norm", "evidence", "procedure"]
exact = exact_posterior(enumerate_space(tables), temperature)
best = optimum(exact)
density, _ = log_density(rule_program, (tables, temperature, slots), {}, dict(zip(slots, best.position.tolist(), strict=True)))
print("log density of the best", f"{density:.3f}; exact {np.log(best.probability) + exact.log_normalizer:.3f}")
pinned = numpyro.handlers.condition(rule_program, data={"trigger": int(best.position[1])})
with numpyro.handlers.seed(rng_seed=0):
    print("a draw from p0 with the trigger pinned:", [int(option) for option in pinned(tables, temperature, slots)])
walked = run_chains(tables, chains=64, steps=200, temperature=temperature, seed=0, kernel="numpyro")
for slot, marginal, drawn in zip(slots, slot_marginals(exact), np.moveaxis(walked.positions, -1, 0), strict=True):
    off = np.abs(np.bincount(drawn.ravel(), minlength=len(marginal)) / drawn.size - marginal).sum() / 2
    print(f"{slot:10} total variation from the exact marginal {off:.3f}")
