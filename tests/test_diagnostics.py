"""The verdict on runs whose truth is known: perfect, right, frozen, caught in modes, constant, infeasible.

Budget. Each of the two nulls is exceeded by a perfect sampler in one run of a hundred, so of RUNS independent
perfect runs more than FALSE_ALARMS are misjudged with probability P(Binomial(100, 0.02) > 5) = 1.5 %, and
more than EXCESSES have marginals that are off with P(Binomial(100, 0.01) > 4) = 0.3 %; in the fast tier, of 30
runs, P(Binomial(30, 0.02) > 3) = 0.3 % and P(Binomial(30, 0.01) > 2) = 0.3 %. Seeds are fixed: it was spent once. All other tests are of cases that no chance decides.
"""

from __future__ import annotations

import inspect
import json
import math
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spaces
import xarray as xr
from arviz_stats.base import array_stats
from tiers import tier

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference.chains import run_chains
from gnrs_ppl.inference.diagnostics import Diagnosis, diagnose
from gnrs_ppl.inference.moves import MOVES
from gnrs_ppl.inference.plots import plots
from gnrs_ppl.inference.result import Chains, Exchange
from gnrs_ppl.inference.sweep import sweep
from gnrs_ppl.inference.trace import Marginals, datatree, load, save
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, Tables, contract
from gnrs_ppl.models.space import build_space

RUNS, FALSE_ALARMS, EXCESSES = tier((30, 3, 2), (100, 5, 4))
RAGGED, WEIGHTS = spaces.ragged(2), spaces.weights(2)
SLOTS = ("scope", "trigger", "norm", "evidence", "procedure")
KEYS = {
    *("verdict", "sentence", "tv_excess", "r_hat_nested", "r_hat_null", "r_hat", "ess"),
    *("acceptance", "hitting_time", "never_moved", "exchange", "notes"),
}

COUPLED = 4
BIMODAL: dict[str, Any] = {
    "candidates": [[0, 1]] * COUPLED + [[0, 1, 2, 3]],
    "unary": [np.zeros((2, 1))] * COUPLED + [np.array([[0.0], [0.003], [0.006], [0.01]])],
    "pairwise": {(i, j): 0.13 * np.eye(2)[..., None] for i in range(COUPLED) for j in range(i + 1, COUPLED)},
}
"""Four variables that want to agree, on either option, and a fifth that is free: leaving a mode costs 0.39,
39 nats at COLD."""
COLD = 0.01
PAIRED: dict[str, Any] = {
    "candidates": [[0, 1, 2], [0, 1, 2], [0, 1]],
    "unary": [np.zeros((3, 1)), np.zeros((3, 1)), np.array([[0.0], [0.02]])],
    "pairwise": {(0, 1): 0.15 * np.eye(3)[..., None]},
}
"""Two variables that like to agree, each of them uniform by itself, and one that is free."""
CAUGHT: dict[str, Any] = {
    "kernel": "metropolis",
    "chains": 32,
    "superchains": 4,
    "steps": 2500,
    "temperature": COLD,
}


def made(raw: dict[str, Any], weights: np.ndarray = WEIGHTS) -> Tables:
    return contract(build_space(**raw), weights)


def exact_of(raw: dict[str, Any], weights: np.ndarray, temperature: float = SEARCH_TEMPERATURE) -> Marginals:
    swept = sweep(made(raw, weights), temperature)
    return Marginals(swept.marginals, swept.pair_marginals)


@cache
def truth() -> Marginals:
    return exact_of(RAGGED, WEIGHTS)


def sampled(raw: dict[str, Any] = RAGGED, weights: np.ndarray = WEIGHTS, **request: Any) -> Chains:
    asked = {
        "chains": 64,
        "steps": 100,
        "temperature": SEARCH_TEMPERATURE,
        "seed": 0,
        "kernel": "exact",
    } | request
    return run_chains(made(raw, weights), **asked)


@cache
def right() -> Chains:
    """Long enough to have forgotten its starts."""
    return sampled(kernel="metropolis", steps=400)


def kept(chains: Chains, raw: dict[str, Any] = RAGGED) -> xr.DataTree:
    """The tree, with options named by slot and number."""
    labels = {
        slot: [f"{slot}{n}" for n in range(len(owners))]
        for slot, owners in zip(SLOTS, raw["candidates"], strict=False)
    }
    return datatree(chains, labels, np.ones(1), "GNRS-000")


def judged(chains: Chains, exact: Any = None, raw: dict[str, Any] = RAGGED) -> Diagnosis:
    """The diagnosis, which must be one line and plain JSON whatever was found."""
    found = diagnose(kept(chains, raw), exact)
    assert set(found.as_dict()) == KEYS
    assert json.loads(json.dumps(found.as_dict(), allow_nan=False)) == found.as_dict()
    assert found.sentence.startswith(f"{found.verdict}: ")
    assert "\n" not in found.sentence
    return found


def frozen(chains: Chains, count: int) -> Chains:
    """The same chains, but ``count`` of them, of all superchains, never leave their starts."""
    positions, score, feasible = chains.positions.copy(), chains.score.copy(), chains.feasible.copy()
    which = np.linspace(0, len(score) - 1, count).astype(int)
    positions[which] = chains.starts[which, None]
    score[which], feasible[which] = chains.start_score[which, None], chains.start_feasible[which, None]
    return chains._replace(positions=positions, score=score, feasible=feasible)


# ---- what is right


def test_perfect_draws_are_mixed():
    found = [judged(sampled(steps=50, seed=seed), truth()) for seed in range(RUNS)]
    assert sum(d.verdict != "mixed" for d in found) <= FALSE_ALARMS
    assert sum(d.as_dict()["tv_excess"]["greatest"] > 0 for d in found) <= EXCESSES
    # no null is so wide that nothing could exceed it: some runs come near
    assert max(max(d.tv_excess.values()) for d in found) > -0.005
    assert max(max(d.tv_excess_pairs.values()) for d in found) > -0.005
    assert all(len(d.tv_excess_pairs) == 6 for d in found)
    assert max(d.r_hat_nested / d.r_hat_null for d in found) > 0.9995
    first = found[0]
    assert first.sentence.endswith("independent draws, marginals within chance of the exact ones")
    assert (first.never_moved, first.acceptance, first.notes) == (None, {}, ())
    assert 2500 < first.ess["indicators"] <= first.ess["s_search"] <= 64 * 50
    assert first.r_hat < 1.02


def test_a_right_run_is_mixed():
    for seed in range(tier(2, 6)):
        found = judged(sampled(kernel="metropolis", steps=400, seed=seed), truth())
        assert found.verdict == "mixed", found
        assert found.never_moved == 0
        assert set(found.acceptance) == set(MOVES)
        assert all(0 < share < 1 for share in found.acceptance.values())
    without = judged(right())
    assert without.verdict == "mixed"
    assert without.tv_excess is None
    assert without.as_dict()["tv_excess"] is None
    assert without.tv_excess_pairs is None
    assert without.notes == ("not held against exact marginals",)


def test_a_space_of_one_structure_is_mixed():
    single = {"candidates": [[0], [0]], "unary": [np.zeros((1, 1))] * 2}
    found = judged(sampled(single, np.ones(1)), exact_of(single, np.ones(1)), single)
    assert found.sentence == "mixed: there is one structure"


# ---- what is wrong


@pytest.mark.parametrize(("count", "share"), [(24, "38 %"), (64, "100 %"), (4, "6.2 %")])
def test_chains_that_never_left_their_start(count: int, share: str):
    found = judged(frozen(right(), count))
    assert found.sentence == f"not mixed: {share} of chains never left their start; try --kernel tempering"
    assert found.never_moved == count / 64
    if count == 64:
        assert found.r_hat_nested == math.inf
        assert found.as_dict()["r_hat_nested"] is None
        assert "nested R-hat is infinite: chains that share a start never differ" in found.notes


def test_superchains_caught_in_their_modes():
    chains = sampled(BIMODAL, np.ones(1), **CAUGHT, seed=3)
    ones = chains.positions[:, 100:, :COUPLED].sum(-1).reshape(4, -1)
    assert [set(row.tolist()) for row in ones] == [{4}, {4}, {0}, {0}]
    # by itself every chain looks stationary: its quarters agree, and the free variable keeps it moving
    late = chains.score[:, 100:].astype(float)
    assert max(array_stats.rhat(chain.reshape(4, 600), method="identity") for chain in late) < 1.1
    found = judged(chains, raw=BIMODAL)
    assert found.verdict == "not mixed"
    assert "chains depend on their start, nested R-hat" in found.sentence
    assert found.sentence.endswith("try --kernel tempering")
    assert found.never_moved == 0
    # also where the starts fall unevenly, and where they lie between the modes and say nothing of where their
    # chains end
    for seed in range(tier(2, 8)):
        again = sampled(BIMODAL, np.ones(1), **CAUGHT, seed=seed)
        assert diagnose(kept(again, BIMODAL).isel(draw=slice(300))).verdict == "not mixed"


def test_chains_that_each_stay_where_they_came_to():
    chains = sampled()
    stuck = judged(
        chains._replace(
            positions=chains.positions[:, :1].repeat(100, 1),
            score=chains.score[:, :1].repeat(100, 1),
            kernel="other",
        )
    )
    assert stuck.sentence == "not mixed: a chain is worth 1.1 independent draws; try --kernel tempering"
    assert stuck.r_hat_nested <= stuck.r_hat_null  # no start tells where its chains end


def test_what_first_steps_still_remember():
    chains = sampled(steps=400)
    positions, score = chains.positions.copy(), chains.score.copy()
    positions[:, :40], score[:, :40] = (
        chains.starts[::8].repeat(8, 0)[:, None],
        chains.start_score[::8].repeat(8)[:, None],
    )
    found = judged(chains._replace(positions=positions, score=score, kernel="metropolis"))
    assert found.verdict == "not mixed"
    assert found.sentence.endswith("try --steps 1600")
    (note,) = [
        note for note in found.notes if note.startswith("without the first half of the draws, nested R-hat")
    ]
    tree = kept(chains._replace(positions=positions, score=score, kernel="metropolis")).isel(
        draw=slice(200, None)
    )
    rest = diagnose(tree)
    assert rest.verdict == "mixed"
    assert f"{rest.r_hat_nested:.4f} where chance allows {rest.r_hat_null:.4f}" in note


def test_marginals_that_are_off():
    chains = sampled(steps=400)
    # an eighth of the draws takes another option, whatever the chain: no chain disagrees with any other
    positions = chains.positions.copy()
    positions[:, ::8, 0] = 0
    found = judged(chains._replace(positions=positions, kernel="gibbs"), truth())
    assert found.verdict == "not mixed"
    assert "marginals of scope are off by" in found.sentence
    worst = max(found.tv_excess, key=found.tv_excess.get)
    assert worst == "scope"
    pairs = found.tv_excess_pairs
    assert {pair for pair, excess in pairs.items() if excess > 0} == {
        "scope_trigger",
        "scope_norm",
        "scope_evidence",
    }
    greatest = max(found.tv_excess["scope"], *pairs.values())
    assert found.as_dict()["tv_excess"] == {"greatest": greatest, "slots": found.tv_excess, "pairs": pairs}
    exact = truth().slots[0]
    shares = np.bincount(positions[..., 0].ravel(), minlength=len(exact)) / positions[..., 0].size
    assert 0 < found.tv_excess["scope"] < np.abs(shares - exact).sum() / 2
    assert (
        judged(chains._replace(positions=positions, kernel="gibbs")).verdict == "mixed"
    )  # it takes the exact ones to see it


def test_pairs_that_are_off_where_no_slot_is():
    chains, exact = sampled(PAIRED, np.ones(1), steps=200), exact_of(PAIRED, np.ones(1))
    right = judged(chains, exact, PAIRED)
    assert right.verdict == "mixed"
    # every slot keeps its draws, and loses what they had to do with the others
    positions = chains.positions.copy()
    positions[..., 0] = (
        np.random.default_rng(0).permutation(positions[..., 0].ravel()).reshape(chains.score.shape)
    )
    found = judged(chains._replace(positions=positions), exact, PAIRED)
    assert max(found.tv_excess.values()) <= 0
    assert found.tv_excess_pairs["scope_trigger"] > 0.1
    assert found.as_dict()["tv_excess"]["greatest"] == found.tv_excess_pairs["scope_trigger"]
    assert found.sentence.startswith("not mixed: marginals of scope and trigger are off by 0.")
    assert found.sentence.endswith("; draw again with another --seed")
    assert judged(chains._replace(positions=positions, kernel="gibbs"), exact, PAIRED).sentence.endswith(
        "; try --kernel exact"
    )
    assert [excess <= 0 for excess in found.tv_excess_pairs.values()] == [False, True, True]
    slots_alone = judged(chains._replace(positions=positions), Marginals(exact.slots), PAIRED)
    assert slots_alone.verdict == "mixed"
    assert slots_alone.notes == (
        "pairs not held against exact marginals: scope and trigger, scope and norm, trigger and norm",
    )


def test_tv_excess_of_pairs_by_hand():
    chains, exact = sampled(PAIRED, np.ones(1), steps=200), exact_of(PAIRED, np.ones(1))
    found = judged(chains, exact, PAIRED)
    watched = {
        (v, o): (chains.positions[..., v] == o).astype(float)
        for v, size in enumerate((3, 3, 2))
        for o in range(size)
    }
    worth = {key: min(array_stats.ess(values, method="mean"), values.size) for key, values in watched.items()}
    slot_draws = [int(min(ess for (slot, _), ess in worth.items() if slot == v)) for v in range(3)]
    tables = {(0,): exact.slots[0], (1,): exact.slots[1], (2,): exact.slots[2], **exact.pairs}
    rng, null, observed = np.random.default_rng(1), [], []
    for variables, table in tables.items():
        draws = min(slot_draws[v] for v in variables)
        null.append(np.abs(rng.multinomial(draws, table.ravel(), 20_000) / draws - table.ravel()).sum(1) / 2)
        counts = np.zeros_like(table)
        np.add.at(counts, tuple(chains.positions[..., v].ravel() for v in variables), 1)
        observed.append(np.abs(counts / chains.score.size - table).sum() / 2)
    null = np.array(null).T
    mean, deviation = null.mean(0), null.std(0)
    # one number of standard deviations for all six, met by all of them in 99 % of the draws
    threshold = mean + np.quantile(((null - mean) / deviation).max(1), 0.99) * deviation
    excess = [*found.tv_excess.values(), *found.tv_excess_pairs.values()]
    np.testing.assert_allclose(excess, np.array(observed) - threshold, atol=0.3 * deviation.max())


def test_tv_excess_by_hand():
    chains, raw = (
        sampled(spaces.ragged(0), spaces.weights(0), steps=400),
        spaces.ragged(0),
    )  # one slot with a choice
    exact = exact_of(raw, spaces.weights(0)).slots
    found = judged(chains, Marginals(exact), raw)
    draws = int(found.ess["indicators"])
    null = np.abs(np.random.default_rng(1).multinomial(draws, exact[0], 20_000) / draws - exact[0]).sum(1) / 2
    shares = np.bincount(chains.positions[..., 0].ravel(), minlength=len(exact[0])) / chains.score.size
    assert found.tv_excess["scope"] == pytest.approx(
        np.abs(shares - exact[0]).sum() / 2 - np.quantile(null, 0.99), abs=0.3 * null.mean()
    )
    assert [*found.tv_excess.values()][1:] == pytest.approx([0, 0, 0], abs=1e-12)


def test_no_feasible_draw():
    chains = sampled()
    found = judged(chains._replace(feasible=np.zeros_like(chains.feasible)))
    assert found.sentence == "not mixed: no draw is feasible; gnrs draft names the conditions in the way"


def test_nested_r_hat_is_the_published_one():
    chains = right()
    found = judged(chains)
    ids = chains.superchain
    _, inverse, counts = np.unique(chains.score, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - counts / 2)[inverse].reshape(chains.score.shape)
    watched = {"s_search": ranks} | {
        f"{slot} = {slot}{o}": (chains.positions[..., v] == o).astype(float)
        for v, slot in enumerate(SLOTS[:4])
        for o in range(len(RAGGED["candidates"][v]))
    }
    (name,) = [name for name in watched if f"({name})" in found.sentence]
    assert found.r_hat_nested == pytest.approx(
        array_stats.rhat_nested(watched[name], superchain_ids=ids, method="identity"), rel=1e-9
    )
    # whatever order the chains stand in
    order = np.random.default_rng(0).permutation(64)
    mixed_up = {
        part: getattr(chains, part)[order]
        for part in ("positions", "score", "feasible", "move", "accepted", "starts", "superchain")
    }
    assert judged(chains._replace(**mixed_up)).r_hat_nested == pytest.approx(found.r_hat_nested, rel=1e-12)


# ---- what cannot be told


def test_constants_are_unknown():
    chains = sampled(steps=400)._replace(kernel="gibbs")
    positions, starts = chains.positions.copy(), chains.starts.copy()
    positions[..., 2], starts[:, 2] = 1, 1
    constant = chains._replace(positions=positions, starts=starts)
    size = len(RAGGED["candidates"][2])
    found = judged(constant)
    assert found.sentence == f"unknown: norm never varied, of {size} options; see --kernel exact"
    assert (
        judged(constant._replace(kernel="exact")).sentence == f"unknown: norm never varied, of {size} options"
    )
    # never fine, even where it should be constant; and wrong where it should not
    certain = Marginals((*truth().slots[:2], np.eye(size)[1], truth().slots[3]))
    assert judged(constant, certain).verdict == "unknown"
    assert judged(constant, truth()).verdict == "not mixed"
    flat = judged(chains._replace(score=np.zeros_like(chains.score)))
    assert flat.sentence == "unknown: s_search never varied; see --kernel exact"
    assert flat.ess["s_search"] is None
    everything = chains._replace(
        positions=np.ones_like(positions), score=np.ones_like(chains.score), starts=np.ones_like(starts)
    )
    assert judged(everything).verdict == "unknown"
    assert judged(everything).r_hat_nested is None
    assert (
        len(judged(everything).notes) == 5
    )  # three slots besides the sentence's, s_search, no exact marginals


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (
            {"chains": 1},
            "1 chains from 1 starts are too few, or too unequal, for nested R-hat; try --chains 64",
        ),
        ({"chains": 8}, "8 chains from 8 starts are too few"),
        ({"chains": 64, "superchains": 1}, "64 chains from 1 starts are too few"),
        ({"chains": 8, "superchains": 2}, "8 chains from 2 starts are too few"),  # 35 ways to deal them out
        ({"steps": 3}, "3 draws of a chain are too few for an effective number; try --steps 200"),
        ({"steps": 1}, "1 draws of a chain are too few"),
    ],
)
def test_too_little_is_unknown(request_: dict[str, int], reason: str):
    found = judged(sampled(**request_), truth())
    assert found.sentence.startswith(f"unknown: {reason}"), found


def test_unequal_superchains_are_unknown():
    assert diagnose(kept(sampled()).isel(chain=slice(60))).sentence.startswith(
        "unknown: 60 chains from 8 starts"
    )


def test_slots_of_rare_options_are_named():
    wide = {"candidates": [list(range(60)), [0, 1]], "unary": [np.zeros((60, 1)), np.array([[0.0], [0.1]])]}
    found = judged(sampled(wide, np.ones(1)), raw=wide)
    assert "scope: no option holds 5 % of the draws, so none is watched" in found.notes
    assert found.verdict == "mixed"


# ---- nominal


@pytest.mark.parametrize("case", ["perfect", "right", "caught in modes"])
def test_the_numbers_of_options_mean_nothing(case: str):
    caught = case == "caught in modes"  # slots of two options, whose indicators say the same
    raw, rng = BIMODAL if caught else RAGGED, np.random.default_rng(7)
    chains = (
        sampled(BIMODAL, np.ones(1), **CAUGHT, seed=3)
        if caught
        else right()
        if case == "right"
        else sampled()
    )
    exact = exact_of(BIMODAL, np.ones(1), COLD) if caught else truth()
    sizes = [len(owners) for owners in raw["candidates"]]
    orders = [
        np.arange(size)[::-1] if caught else rng.permutation(size) for size in sizes
    ]  # new number -> old number
    number = [np.argsort(order).astype(np.int32) for order in orders]
    labels = {slot: [f"{slot}{old}" for old in order] for slot, order in zip(SLOTS, orders, strict=False)}
    renumbered = chains._replace(
        positions=np.stack([number[v][chains.positions[..., v]] for v in range(len(sizes))], -1),
        starts=np.stack([number[v][chains.starts[:, v]] for v in range(len(sizes))], -1),
    )
    found = diagnose(kept(chains, raw), exact)
    in_order = Marginals(
        tuple(p[order] for p, order in zip(exact.slots, orders, strict=True)),
        {(i, j): table[np.ix_(orders[i], orders[j])] for (i, j), table in exact.pairs.items()},
    )
    other = diagnose(datatree(renumbered, labels, np.ones(1), ""), in_order)
    assert other.tv_excess == pytest.approx(found.tv_excess, abs=1e-9)
    assert other.tv_excess_pairs == pytest.approx(found.tv_excess_pairs, abs=1e-9)
    for name in KEYS - {"tv_excess"}:
        assert getattr(other, name) == getattr(found, name), name


# ---- replica exchange


@cache
def ladders() -> Chains:
    """Perfect draws as if replicas had travelled; a run that did is in test_diagnose.py."""
    trips = np.random.default_rng(0).integers(0, 9, 64)
    return sampled()._replace(
        exchange=Exchange(np.array([0.08, 0.35, 1.6, np.inf]), np.array([0.23, 0.5, 0.871]), trips)
    )


def test_how_replicas_travelled():
    chains = ladders()
    assert chains.exchange is not None
    found = judged(chains, truth())
    trips = np.sort(chains.exchange.round_trips)
    told = found.as_dict()["exchange"]
    assert told["ladder"] == [*chains.exchange.ladder[:-1].tolist(), None]  # the hottest is infinite
    assert found.exchange["ladder"][-1] == math.inf
    assert told["swap_rates"] == chains.exchange.swap_rates.tolist()
    assert told["round_trips"] == {
        name: trips[math.ceil(q * 64) - 1] for name, q in (("q10", 0.1), ("q50", 0.5), ("q90", 0.9))
    }
    shares = ", ".join(f"{100 * rate:.0f} %" for rate in chains.exchange.swap_rates)
    assert found.notes == (
        f"replica exchange: swaps accepted between neighbouring rungs {shares}; round trips of a chain's replicas "
        + ", ".join(f"{name} {value:g}" for name, value in told["round_trips"].items()),
    )
    assert judged(sampled(steps=5)).exchange is None


def test_ladders_that_do_not_help_are_noted():
    exchange = Exchange(
        np.array([0.08, 0.2, 1.6, np.inf]), np.array([0.3, 0.04, np.nan]), np.zeros(64, np.int64)
    )
    found = judged(ladders()._replace(exchange=exchange), truth())
    assert found.as_dict()["exchange"]["swap_rates"] == [0.3, 0.04, None]
    assert found.notes == (
        "replica exchange: swaps accepted between neighbouring rungs 30 %, 4 %, none tried; "
        "round trips of a chain's replicas q10 0, q50 0, q90 0",
        "rungs at temperatures 0.2 and 1.6 swap in 4 % of tries; give more replicas",
        "no replica made a round trip, so that the hot rungs never helped; try more steps, or other replicas",
    )


# ---- single figures


def test_hitting_time_and_acceptance_by_hand():
    chains = sampled(steps=6, chains=16, superchains=4)._replace(kernel="metropolis")
    score = np.zeros((16, 6))
    score[1, 4], score[2, 0], score[4:9, 5] = 1.0, 1.0 - 1e-8, 1.0
    positions, starts = np.zeros_like(chains.positions), np.ones_like(chains.starts)
    for row in (1, 2, *range(4, 9)):
        positions[row, score[row] > 0.5] = [2, 1, 0, 1]
    starts[3] = [2, 1, 0, 1]  # it stands on the best structure from the first
    move, accepted = np.zeros((16, 6), np.int8), np.zeros((16, 6), bool)
    move[:, 3:], accepted[:, 5] = 2, True
    found = judged(
        chains._replace(positions=positions, starts=starts, score=score, move=move, accepted=accepted)
    )
    assert found.hitting_time == {"q10": 1.0, "q50": 6.0, "q90": None, "never": 0.5}
    assert found.acceptance == {"single-slot replacement": 0.0, "evidence-policy swap": pytest.approx(1 / 3)}
    assert found.never_moved == 0
    later = diagnose(kept(chains._replace(positions=positions, score=score)).isel(draw=slice(3, None)))
    assert later.hitting_time["q10"] == 6.0  # steps are those of the run


# ---- bad input


def test_trees_that_hold_no_run_are_refused():
    tree = kept(sampled(steps=5))
    for group, name in [
        ("posterior", "s_search"),
        ("sample_stats", "move"),
        ("constant_data", "superchain"),
        ("constant_data", "norm_start"),
    ]:
        broken = tree.copy()
        broken[group] = xr.DataTree(broken[group].to_dataset().drop_vars(name))
        with pytest.raises(InputError, match=f"holds no {group}/{name}; name a file that gnrs sample wrote"):
            diagnose(broken)
    with pytest.raises(InputError, match="draws: holds no draws; name a file"):
        diagnose(tree.isel(draw=slice(0)))
    outside, not_numbers = sampled(steps=5), sampled(steps=5)
    outside.positions[0, 0, 2], not_numbers.score[:, 1] = 99, np.nan
    with pytest.raises(InputError, match=r"norm: an option outside its pool of \d"):
        diagnose(kept(outside))
    with pytest.raises(InputError, match="s_search: 20 % are no finite numbers"):
        diagnose(kept(not_numbers))
    with pytest.raises(InputError, match="exact marginals over .* options for slots of"):
        diagnose(tree, Marginals(truth().slots[:3]))
    for wrong in ({(0, 1): truth().pairs[0, 1].T}, {(1, 0): truth().pairs[0, 1]}, {(0, 9): np.ones((5, 5))}):
        with pytest.raises(
            InputError,
            match=r"exact marginals of pair \(\d, \d\) over .* options; give those of the space that was sampled",
        ):
            diagnose(tree, Marginals(truth().slots, wrong))


# ---- plots


def test_pictures(tmp_path: Path):
    pytest.importorskip("matplotlib")
    pyplot = "matplotlib.pyplot" in sys.modules
    chains = right()
    labels = {
        slot: [f"${slot}{n}_{{" for n in range(len(owners))]
        for slot, owners in zip(SLOTS, RAGGED["candidates"], strict=False)
    }
    tree = datatree(chains, labels, np.ones(1), "")  # dollars and braces are no formulas
    for folder, exact in (("with", truth()), ("without", None)):
        files = plots(tree, tmp_path / folder / "new", exact)
        assert [file.name for file in files] == [
            "trace.png",
            "rank.png",
            "marginals.png",
            "hitting_time.png",
            "acceptance.png",
        ]
        assert all(file.read_bytes().startswith(b"\x89PNG") for file in files)
    assert (tmp_path / "with/new/marginals.png").read_bytes() != (
        tmp_path / "without/new/marginals.png"
    ).read_bytes()
    assert (
        "matplotlib.pyplot" in sys.modules
    ) == pyplot  # without it no figure stays open and no window is asked for
    plots(kept(sampled(steps=1, chains=1)), tmp_path / "least")
    with pytest.raises(InputError, match="name a folder you may write to"):
        plots(tree, tmp_path / "with/new/trace.png")


def test_without_matplotlib_one_line_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(
        InputError, match=r"^plots need matplotlib, which is not installed; pip install 'gnrs-ppl\[plots\]'$"
    ):
        plots(kept(sampled(steps=5)), tmp_path / "plots")
    assert not (tmp_path / "plots").exists()


# ---- ArviZ

ON_SCORES: dict[str, dict[str, Any]] = {
    "ess": {},
    "rhat": {},
    "rhat_nested": {"superchain_ids": np.repeat(np.arange(8), 8)},
    "mcse": {},
    "mean": {},
    "median": {},
    "eti": {},
    "hdi": {},
    "ci_in_rope": {"rope": (0.0, 1.0)},
    "histogram": {},
    "kde": {},
    "qds": {},
    "thin": {"factor": 2},
    "summary": {},
}
"""s_search is a quantity: all of these say something of it."""
ON_SLOTS: dict[str, dict[str, Any]] = {"mode": {}, "histogram": {}, "thin": {"factor": 2}}
"""Options are names: these count them, and nothing else does."""
ON_TWO_RUNS = {"wasserstein"}
SENSELESS = {
    **dict.fromkeys(("ecdf",), "ArviZ 0.8 refuses every DataTree"),
    **dict.fromkeys(("bfmi",), "there is no Hamiltonian energy"),
    **dict.fromkeys(
        ("kl_divergence",), "it estimates the density of a continuous quantity by nearest neighbours"
    ),
    **dict.fromkeys(("psense", "psense_summary"), "there are no groups of log likelihood and log prior"),
    **dict.fromkeys(("bayes_factor",), "there is no prior group"),
    **dict.fromkeys(
        ("bayesian_r2", "residual_r2", "metrics", "kaplan_meier", "generate_survival_curves"),
        "nothing is observed or predicted",
    ),
    **dict.fromkeys(
        ("compare", "reloo", "update_subsample", "weight_predictions"), "no observations to leave out"
    ),
    **dict.fromkeys(("get_function", "get_log_likelihood"), "no diagnostics"),
}
"""And ``loo`` with its kind: no observations to leave out."""


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> xr.DataTree:
    path = tmp_path_factory.mktemp("arviz") / "x.nc"
    save(kept(right()), path)
    return load(path)


def arviz() -> Any:
    pytest.importorskip("xarray_einstats", reason="ArviZ on DataTrees needs arviz-stats[xarray]")
    import arviz_stats

    return arviz_stats


@pytest.mark.parametrize("name", ON_SCORES)
def test_arviz_takes_the_scores(name: str, stored: xr.DataTree):
    found = getattr(arviz(), name)(stored, var_names=["s_search"], **ON_SCORES[name])
    assert "s_search" in (found.index if name == "summary" else found)


@pytest.mark.parametrize("name", ON_SLOTS)
def test_arviz_counts_the_options(name: str, stored: xr.DataTree):
    found = getattr(arviz(), name)(stored, var_names=[*SLOTS[:4]], **ON_SLOTS[name])
    assert set(SLOTS[:4]) <= set(found.data_vars)


def test_arviz_compares_two_runs(stored: xr.DataTree):
    other = kept(sampled())
    assert 0 <= arviz().wasserstein(stored, other, var_names=["s_search"], num_samples=200) < 0.1


def test_arviz_by_its_accessor(stored: xr.DataTree):
    arviz()
    assert stored.azstats.ess()["s_search"] > 64


@pytest.mark.parametrize(
    "use",
    [
        lambda base, tree: base.extract(tree, num_samples=10).sizes["sample"] == 10,
        lambda base, tree: (
            base.extract(tree, group="constant_data", var_names="superchain", combined=False).sizes["chain"]
            == 64
        ),
        lambda base, tree: base.convert_to_datatree(tree) is tree,
        lambda base, tree: (
            set(base.convert_to_dataset(tree, group="sample_stats")) == {"move", "accepted", "feasible"}
        ),
        lambda base, tree: len(base.dataset_to_dataframe(tree["posterior"].to_dataset())) == 64 * 400,
        lambda base, tree: base.dataset_to_dataarray(tree["posterior"].to_dataset()).sizes["label"] == 5,
        lambda base, tree: (
            len([*base.xarray_var_iter(tree["posterior"].to_dataset(), skip_dims={"chain", "draw"})]) == 5
        ),
    ],
)
def test_arviz_base_takes_the_tree(use: Callable[[Any, xr.DataTree], bool], stored: xr.DataTree):
    import arviz_base

    assert use(arviz_base, stored)


def test_every_arviz_function_is_sorted():
    """Whether each public function makes sense here was decided for this release; a later one may bring
    others."""
    package = arviz()
    if not package.__version__.startswith("0.8."):
        pytest.skip(f"sorted for 0.8, this is {package.__version__}")
    public = {
        name
        for name, value in vars(package).items()
        if inspect.isfunction(value) and not name.startswith(("_", "loo"))
    }
    assert public == {*ON_SCORES, *ON_SLOTS, *ON_TWO_RUNS, *SENSELESS}
