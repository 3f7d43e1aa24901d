# %% [markdown]
# # Has it mixed?
#
# `gnrs diagnose` answers in one sentence. This notebook takes one goal of GNRS-Bench whose chains mix in 100 steps and one whose chains do
# not, and shows where the sentences come from, what the pictures add, and what to do. [diagnostics.md](../diagnostics.md) defines every
# figure, [limitations.md](../limitations.md) shows cases that no number of steps helps.
#
# `mixing.py` is the source of this notebook; `python docs/notebooks/build.py` runs it and writes `mixing.ipynb`. Weights are those set by
# hand, so that a fit changes nothing here.

# %%
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

import gnrs_ppl as gnrs
from gnrs_ppl.benchmarks.gnrs_bench import goals
from gnrs_ppl.calibration.weights import DEFAULT_WEIGHTS
from gnrs_ppl.inference.diagnostics import diagnose
from gnrs_ppl.inference.plots import gap_plot, plots
from gnrs_ppl.inference.spectral import relaxation_time, spectral_gap
from gnrs_ppl.inference.trace import exact_marginals
from gnrs_ppl.models.energy import contract
from gnrs_ppl.models.space import build_space
from gnrs_ppl.search import search, search_many

folder = Path(mkdtemp())


class Picture:
    """A PNG file that a notebook shows."""

    def __init__(self, path):
        self.name, self.content = path.name, path.read_bytes()

    def __repr__(self):
        return self.name

    def _repr_png_(self):
        return self.content


def judged(tree):
    """The diagnosis, with the exact marginals that the tree keeps."""
    return diagnose(tree, exact_marginals(tree))


# %% [markdown]
# ## Sixteen goals, 64 chains, 100 steps
#
# Half of what `gnrs draft` runs unless told otherwise: with its 200 steps all sixteen pass, at this seed. The chains of a goal begin in
# eight starts, eight chains in each. The sentence of each goal:

# %%
contexts = {goal.id: gnrs.load_context(goal.id) for goal in goals() if goal.split == "dev"}
request = {"chains": 64, "steps": 100, "seed": 0, "weights": DEFAULT_WEIGHTS}
trees = {goal: found.datatree() for goal, found in zip(contexts, search_many([*contexts.values()], **request), strict=True)}
verdicts = {goal: judged(tree) for goal, tree in trees.items()}
for goal, found in verdicts.items():
    print(goal, " ", found.sentence)
print()
print(sum(found.verdict == "mixed" for found in verdicts.values()), "of", len(verdicts), "are mixed")

# %% [markdown]
# Nested R-hat compares the starts: near 1 when chains from different starts agree. It is never exactly 1, so it is held against chance, the
# same chains dealt out to the starts at random. We go on with the goal that stays furthest inside and the one that is furthest outside.

# %%


def stands(goal):
    """How much of what chance allows is used: above 1 is too much."""
    return (verdicts[goal].r_hat_nested - 1) / (verdicts[goal].r_hat_null - 1)


mixes = min((goal for goal in verdicts if verdicts[goal].verdict == "mixed"), key=stands)
fails = max((goal for goal in verdicts if verdicts[goal].verdict == "not mixed"), key=stands)
print(f"{mixes}: {stands(mixes):.2f} of what chance allows")
print(f"{fails}: {stands(fails):.2f}")

# %% [markdown]
# ## The goal that mixes
#
# Each coloured line holds the draws of one start, ranked by their score among all draws. Where starts are forgotten the lines scatter about
# the black one.

# %%
pictures = {goal: {p.stem: p for p in plots(trees[goal], folder / goal, exact_marginals(trees[goal]))} for goal in (mixes, fails)}
Picture(pictures[mixes]["rank"])

# %% [markdown]
# The marginals of the draws beside the exact ones. The space is small enough to be enumerated, so that the truth is known; draws that are
# worth a few hundred independent ones cannot be nearer to it than this.

# %%
Picture(pictures[mixes]["marginals"])

# %% [markdown]
# `tv_excess` says so in numbers: the total variation between the two, less what as many independent exact draws may show. Fine when it is
# at most 0; slots and pairs of slots are judged together.

# %%
excess = verdicts[mixes].as_dict()["tv_excess"]
print("greatest", round(excess["greatest"], 4))
print("slots   ", {slot: round(value, 3) for slot, value in excess["slots"].items()})
print("worth   ", round(verdicts[mixes].ess["indicators"]), "independent draws, of", trees[mixes]["posterior"]["s_search"].size)

# %% [markdown]
# ## The goal that does not
#
# The sentence, the further reasons and the notes:

# %%
print(verdicts[fails].sentence)
for note in verdicts[fails].notes:
    print("note:", note)

# %%
Picture(pictures[fails]["trace"])

# %% [markdown]
# Chains begin in draws from p0, which are often infeasible, and climb within the first tens of steps; what they climb from is still in the
# average. The ranks again:

# %%
Picture(pictures[fails]["rank"])

# %% [markdown]
# Eight chains a start scatter a good deal in either picture, and near the border no eye tells one goal from the other. That is what the
# null is for.
#
# ## What to do
#
# **Drop the first draws.** A note above gives nested R-hat without the first half: within chance if the chains did forget and only the
# beginning remembers. But the rest has to be long enough by itself; a chain that is worth fewer than two independent draws is not.

# %%
print(judged(trees[fails].isel(draw=slice(50, None))).sentence)

# %% [markdown]
# **Run longer.** This is what the sentence proposes: four times the steps.

# %%
longer = search(contexts[fails], **(request | {"steps": 400})).datatree()
print(judged(longer).sentence)

# %% [markdown]
# **Draw independently.** Where the space was enumerated no chain is needed: `--kernel exact` draws from p(a | x) itself.

# %%
independent = search(contexts[fails], **request, kernel="exact").datatree()
print(judged(independent).sentence)

# %% [markdown]
# ## How much the verdict is worth
#
# Another seed gives other draws, and near the border another verdict:

# %%
for goal in (mixes, fails):
    again = [judged(search(contexts[goal], **(request | {"seed": seed})).datatree()).verdict for seed in range(1, 4)]
    print(goal, again)

# %% [markdown]
# And 64 chains see only so much. The more chains, the smaller the chance error, and what the first steps remember stands out, also on the
# goal that passed:

# %%
for goal in (mixes, fails):
    print(goal, judged(search(contexts[goal], **(request | {"chains": 256})).datatree()).sentence)

# %% [markdown]
# "Mixed" therefore means: no difference shows in this many draws. 100 steps of a chain are worth about two independent draws, 200 three or
# four: its memory a few times over, no more.
#
# ## When more steps do not help
#
# Two structures share nearly all the mass, and differ in three slots; whatever differs in one or two slots is worth little. The space is
# small enough for the transition matrix of the kernel, and its spectrum says exactly how long a chain remembers: 1 / gap steps.

# %%
agree = np.zeros((4, 4, 1))
agree[0, 0] = agree[1, 1] = 0.3
space = build_space([[0, 1, 2, 3]] * 3, [np.zeros((4, 1))] * 3, {(0, 1): agree, (0, 2): agree, (1, 2): agree})
tables = contract(space, np.array([1.0]))
for temperature in (0.08, 0.16, 0.32, 0.64):
    gap = spectral_gap(tables, temperature)
    print(f"temperature {temperature:4.2f}: gap {gap:.1e}, {relaxation_time(gap):8,.0f} steps")
Picture(gap_plot(tables, np.geomspace(0.05, 1.6, 16).tolist(), folder / "gap.png"))

# %% [markdown]
# At 0.08, the temperature of the search, a run of 200 steps stays where it first came to, and one of 800 does too. Replica exchange lets
# hot replicas cross for the cold one: at twice the temperature the same chain needs some fifty times fewer steps.
# [limitations.md](../limitations.md) runs both on this space.
