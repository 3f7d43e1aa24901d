"""Pins: conditioning by removal equals filtering the enumeration, every sampler draws from what is left, and
what cannot be met is said.

Statistical checks share BUDGET; everything else is exact.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
import small
import spaces
from budget import Budget
from numpyro.infer.util import log_density
from scipy.stats import chisquare
from tiers import mostly_slow, tier

import gnrs_ppl as gnrs
from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.benchmarks.gnrs_bench import goals
from gnrs_ppl.calibration.weights import frozen_weights
from gnrs_ppl.candidates.build import pools_of
from gnrs_ppl.cli import run
from gnrs_ppl.errors import InputError, NoFeasibleStructure
from gnrs_ppl.inference.chains import run_chains
from gnrs_ppl.inference.exact import enumerate_space, exact_posterior
from gnrs_ppl.inference.kernels import KERNELS
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, Tables, contract
from gnrs_ppl.models.graph import AndOrGraph, compile_graph
from gnrs_ppl.models.program import rule_program
from gnrs_ppl.models.space import build_space, restricted
from gnrs_ppl.posterior.condition import Pin, condition, meets, nearest_rule, read_pins
from gnrs_ppl.posterior.fields import SLOT_FIELDS, said
from gnrs_ppl.rule.types import SLOTS

SAME = 1e-9
DEV = [g.id for g in goals() if g.split == "dev"]
SAMPLERS = [kernel for kernel in KERNELS if kernel != "cpsat"]
BUDGET = Budget(1e-6, {"test_every_kernel_draws_from_the_conditioned_posterior": (len(SAMPLERS), 1)})


def test_the_budget_covers_every_case(request: pytest.FixtureRequest):
    BUDGET.assert_covers(case for case in request.session.items if case.path == request.path)


def some_of(space: Any, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [np.sort(rng.choice(n, rng.integers(1, n + 1), replace=False)) for n in np.asarray(space.sizes)]


def test_restricted_space_is_the_enumeration_filtered() -> None:
    for seed in range(tier(80, 1000)):
        space, w = build_space(**spaces.ragged(seed)), spaces.weights(seed)
        kept = some_of(space, seed)
        whole = exact_posterior(enumerate_space(contract(space, w)), 0.1)
        part = exact_posterior(enumerate_space(contract(restricted(space, kept), w)), 0.1)
        filtered = whole.probability.reshape(whole.enumeration.sizes)[np.ix_(*kept)].ravel()
        np.testing.assert_allclose(part.probability, filtered / filtered.sum(), rtol=0, atol=SAME)


def conditioned() -> Tables:
    """A space whose p0 is no longer uniform over candidates, with swaps and a joint, all of it reachable."""
    whole, rng = build_space(**spaces.ragged(3, variables=5)), np.random.default_rng(1)
    kept = [np.sort(rng.choice(n, max(1, n - rng.integers(0, 3)), replace=False)) for n in whole.sizes]
    space = restricted(whole, kept)
    p0 = np.exp(space.log_prior[2, :3])
    assert p0.max() > 1.5 * p0.min()
    return contract(space, spaces.weights(3))


@pytest.mark.parametrize("kernel", mostly_slow(SAMPLERS, but=["metropolis", "exact"]))
def test_every_kernel_draws_from_the_conditioned_posterior(kernel: str) -> None:
    tables, chains = conditioned(), 4096
    exact = exact_posterior(enumerate_space(tables), 0.3)
    run = run_chains(
        tables, chains=chains, steps=120, temperature=0.3, seed=5, kernel=kernel, superchains=chains
    )
    last = np.ravel_multi_index(tuple(run.positions[:, -1].T), exact.enumeration.sizes)
    expected = chains * exact.probability
    often = expected >= 8
    counts = np.bincount(last, minlength=len(expected))
    observed = [*counts[often], counts[~often].sum()]
    BUDGET.spend()
    assert chisquare(observed, [*expected[often], expected[~often].sum()]).pvalue > BUDGET.level


def test_the_solver_finds_the_optimum_of_what_is_left() -> None:
    tables = conditioned()
    run = run_chains(tables, chains=1, steps=1, temperature=0.3, seed=0, kernel="cpsat")
    assert float(run.score.max()) == pytest.approx(enumerate_space(tables).score.max(), abs=1e-5)


def test_the_program_has_the_conditioned_density() -> None:
    tables = conditioned()
    exact = exact_posterior(enumerate_space(tables), 0.3)
    density = jax.jit(lambda values: log_density(rule_program, (tables, 0.3), {}, values)[0])
    for index in range(0, len(exact.probability), 7):
        position = exact.enumeration.position(index)
        found = density({f"variable_{v}": np.int32(o) for v, o in enumerate(position)})
        assert float(found) == pytest.approx(
            np.log(exact.probability[index]) + exact.log_normalizer, abs=1e-3
        )


def graph_of(reference: str | Path) -> AndOrGraph:
    context = load_context(reference)
    return compile_graph(context, pools_of(context).pools)


def a_pin(graph: AndOrGraph, rng: np.random.Generator) -> Pin:
    """A value that some option states, in a field drawn at random."""
    while True:
        slot = SLOTS[rng.integers(len(SLOTS))]
        field = SLOT_FIELDS[slot][rng.integers(len(SLOT_FIELDS[slot]))]
        known = sorted(
            {v for option in graph.options[SLOTS.index(slot)] for v in said(option.content)[field]}
        )
        if known:
            return Pin("fix", f"{slot}.{field}", known[rng.integers(len(known))])


@pytest.mark.parametrize("goal", mostly_slow(DEV, but=DEV[:2]))
def test_pins_on_a_goal_are_the_enumeration_filtered(goal: str) -> None:
    graph, weights = graph_of(goal), frozen_weights()
    whole = exact_posterior(enumerate_space(contract(graph.space, weights.array())), SEARCH_TEMPERATURE)
    rng, met = np.random.default_rng(0), 0
    for _ in range(tier(6, 20)):
        pins = [a_pin(graph, rng) for _ in range(rng.integers(1, 4))]
        kept = [
            [o for o, option in enumerate(options) if all(meets(pin, slot, option) for pin in pins)]
            for slot, options in zip(SLOTS, graph.options, strict=True)
        ]
        cells = np.ix_(*kept)
        feasible = whole.enumeration.feasible.reshape(whole.enumeration.sizes)[cells]
        if not feasible.any():
            with pytest.raises(NoFeasibleStructure, match="nearest rule"):
                condition(graph, pins, weights)
            continue
        met += 1
        part = condition(graph, pins, weights)
        found = exact_posterior(enumerate_space(contract(part.space, weights.array())), SEARCH_TEMPERATURE)
        filtered = whole.probability.reshape(whole.enumeration.sizes)[cells].ravel()
        np.testing.assert_allclose(found.probability, filtered / filtered.sum(), rtol=0, atol=SAME)
        position = found.enumeration.position(int(found.probability.argmax()))
        rule = part.structure(position)
        for pin in pins:
            slot, _, field = pin.place.partition(".")
            assert pin.value in said(getattr(rule, slot))[field]
    assert met


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pins")
    small.write(folder)
    return folder


@pytest.fixture(scope="module")
def graph(folder: Path) -> AndOrGraph:
    return graph_of(folder / "context.json")


def test_a_draft_obeys_its_pins_and_keeps_them(folder: Path, tmp_path: Path) -> None:
    pins = read_pins(["norm.deadline=PT60M", "evidence.operator=ANY"], ["action:Excuse"])
    drafted = gnrs.draft(folder / "context.json", kernel="exact", pins=pins)
    assert (
        str(drafted.structure.norm.constraints[0].deadline) == "PT1H"
    )  # the same time, spelt as the pool has
    assert drafted.structure.evidence.operator == "any"
    assert drafted.certificate.epsilon_search == 0
    drafted.save(tmp_path / "draft")
    kept = json.loads((tmp_path / "draft" / "draft.json").read_text())["request"]["pins"]
    assert tuple(Pin(**pin) for pin in kept) == pins


@pytest.mark.parametrize(
    ("fix", "without", "says"),
    [
        (["norm.deadline"], [], "is no pin"),
        (["norm.speed=P5D"], [], "norm has no field 'speed'"),
        ([], ["erp_log"], "not KIND:NAME"),
        (["norm.deadline=PT50M"], [], "there are PT1H, PT30M, PT15M (nearest first)"),
        (["trigger.activity=StartShft"], [], "did you mean 'StartShift'"),
        ([], ["role:clerk"], "no candidate names the role 'clerk'"),
    ],
)
def test_pins_that_name_nothing_are_refused(
    graph: AndOrGraph, fix: list[str], without: list[str], says: str
) -> None:
    with pytest.raises(InputError) as error:
        condition(graph, read_pins(fix, without), frozen_weights())
    assert says in str(error.value)


def test_an_impossible_pin_names_the_condition_and_the_nearest_rule(graph: AndOrGraph) -> None:
    pins = read_pins(["trigger.window=PT30M", "norm.deadline=PT1H"], [])
    with pytest.raises(NoFeasibleStructure) as error:
        condition(graph, pins, frozen_weights())
    line = str(error.value)
    assert "deadline_fits_window" in line
    assert "gives up" in line
    near = nearest_rule(graph, pins, frozen_weights())
    assert near is not None
    assert len(near.given_up) == 1


def test_the_nearest_rule_is_the_best_of_those_that_give_up_least(graph: AndOrGraph) -> None:
    pins = read_pins(["trigger.window=PT30M", "norm.deadline=PT1H", "norm.activity=Serve"], [])
    weights = frozen_weights()
    near = nearest_rule(graph, pins, weights)
    assert near is not None
    found = enumerate_space(contract(graph.space, weights.array()))
    fewest, best = len(pins), -np.inf
    for index in np.flatnonzero(found.feasible):
        position = found.position(int(index))
        given_up = sum(
            not all(meets(pin, slot, graph.options[v][position[v]]) for v, slot in enumerate(SLOTS))
            for pin in pins
        )
        if (given_up, -found.score[index]) < (fewest, -best):
            fewest, best = given_up, float(found.score[index])
    assert (len(near.given_up), near.score) == (fewest, pytest.approx(best))


def test_a_pin_that_every_candidate_breaks(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["draft", str(folder / "context.json"), "--without", "role:manager"]) == 1
    assert "every procedure candidate names the role 'manager'" in capsys.readouterr().err
