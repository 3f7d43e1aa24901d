"""Settings of the kernels through the one call: they reach what they set, and what will not do is refused in
one line.

Frequencies of moves: FAILURE_RATE is the chance that right choices would have failed the two tests here; the
seed is fixed.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
import small
import tiers
from scipy import stats
from tiers import mostly_slow

from gnrs_ppl import cli
from gnrs_ppl.errors import InputError
from gnrs_ppl.inference import samplers
from gnrs_ppl.inference.chains import RUNNERS, STEPPERS, run_chains, run_many
from gnrs_ppl.inference.informed import BALANCING
from gnrs_ppl.inference.kernels import KERNELS, read_settings
from gnrs_ppl.inference.metropolis import Info
from gnrs_ppl.inference.moves import MOVE_PROBABILITIES, acting_shares
from gnrs_ppl.inference.result import Chains, check_request
from gnrs_ppl.inference.spectral import spectral_gap
from gnrs_ppl.inference.tempering import draw_starts
from gnrs_ppl.inference.trace import load
from gnrs_ppl.models.energy import Tables, contract
from gnrs_ppl.models.space import build_space
from gnrs_ppl.models.synthetic import coupled_rules
from gnrs_ppl.models.uai import from_factors

FAILURE_RATE = 1e-5
RUN: dict[str, Any] = {"chains": 64, "steps": 20, "temperature": 0.08, "seed": 4}
STAY = (0.0, 0.0, 1.0, 0.0)
"""Swaps alone, of which the spaces here have none."""


@cache
def tables() -> Tables:
    """Three variables of 3, 4 and 2 options, one pair, a joint edit of the first two, no swaps."""
    rng = np.random.default_rng(0)
    space = build_space(
        [[0, 1, 1], [0, 0, 1, 2], [0, 1]],
        [rng.random((n, 1)) / 4 for n in (3, 4, 2)],
        {(0, 2): rng.random((3, 2, 1)) / 4},
        joints={(0, 1): np.full((3, 4), 0.25)},
    )
    return contract(space, np.ones(1))


def run(**change: Any) -> Chains:
    return run_chains(tables(), **(RUN | change))


def changed(chains: Chains) -> np.ndarray:
    """Which variables each step changed: (C, draws, V)."""
    return chains.positions != np.concatenate([chains.starts[:, None], chains.positions[:, :-1]], axis=1)


def test_moves_are_tried_as_often_as_asked():
    """And a move of probability 0 never is; a list and an array do as well as a tuple."""
    asked = (0.5, 0.0, 0.0, 0.5)
    found = run(move_probabilities=asked)
    counts = np.bincount(found.move.ravel(), minlength=4)
    assert counts[1] == counts[2] == 0
    assert stats.binomtest(int(counts[0]), int(counts.sum()), 0.5).pvalue > FAILURE_RATE / 2
    for same in ([*asked], np.array(asked)):
        np.testing.assert_array_equal(run(move_probabilities=same).positions, found.positions)
    if tiers.fast:
        return
    several = run_many([tables(), tables()], **RUN, names=["a", "b"], move_probabilities=asked)
    assert all((np.bincount(one.move.ravel(), minlength=4)[1:3] == 0).all() for one in several)
    together = np.concatenate([one.move.ravel() for one in several])
    assert stats.binomtest(int((together == 0).sum()), together.size, 0.5).pvalue > FAILURE_RATE / 2


def test_replicas_their_temperatures_and_their_moves():
    """With swaps alone a replica stays where it started, and a chain has what its replicas brought."""
    found = run(kernel="tempering", replicas=3, hottest=0.5, move_probabilities=STAY)
    assert found.exchange is not None
    np.testing.assert_allclose(found.exchange.ladder, [0.08, 0.5, np.inf], rtol=1e-6)
    assert found.energy_evaluations == 64 * 3 * 21
    brought = draw_starts(tables(), 8, RUN["seed"], 0, {"replicas": 3})[found.superchain]
    assert (found.positions[:, :, None] == brought[:, None]).all(-1).any(-1).all()
    assert changed(found).any(), "replicas are exchanged"


@pytest.mark.slow
def test_particles_their_stages_and_their_moves():
    """With swaps alone particles are copied and stay among their starts; more effective particles take more
    stages."""
    found, careful = (
        run(kernel="smc", chains=256, steps=2, target_ess=share, move_probabilities=STAY)
        for share in (0.5, 0.95)
    )
    assert {tuple(a) for a in found.positions[:, 0].tolist()} <= {tuple(a) for a in found.starts.tolist()}
    stages = [(chains.energy_evaluations // 256 - 2) // 5 for chains in (found, careful)]
    assert stages[1] > stages[0] > 1


def test_gibbs_draws_pairs_as_often_as_asked():
    pairs, single = (
        changed(run(kernel="gibbs", block_probability=1.0)),
        changed(run(kernel="gibbs", block_probability=0.0)),
    )
    assert not pairs[..., 2].any()
    assert (pairs.sum(-1) == 2).any()
    assert single.sum(-1).max() == 1
    assert single[..., 2].any()


def test_the_balancing_function_is_the_one_asked_for():
    barker, root = (run(kernel="informed", balancing=name) for name in ("barker", "sqrt"))
    assert barker.accepted.mean() > root.accepted.mean(), (
        "the root leans most on the best neighbours and is refused most"
    )


def test_the_solver_stops_when_its_seconds_are_over():
    large = coupled_rules(3, 8, seed=1)
    request: dict[str, Any] = {
        "chains": 1,
        "steps": 1,
        "temperature": 0.08,
        "seed": 0,
        "kernel": "cpsat",
        "workers": 1,
    }
    short, longer = (run_chains(large, **request, seconds=seconds) for seconds in (1e-6, 60.0))
    assert short.bound is not None
    assert longer.bound == pytest.approx(float(longer.score[0, 0]), abs=1e-3), "proved"
    assert short.bound > longer.bound + 0.1, "all tables at their greatest"


GOOD: dict[str, Any] = {
    "move_probabilities": (0.25,) * 4, "balancing": "sqrt", "block_probability": 0.5, "replicas": 3,
    "hottest": 1.0, "target_ess": 0.5, "seconds": 1.0, "workers": 1,
}  # fmt: skip
BAD: dict[str, list[Any]] = {
    "move_probabilities": [
        (0.5, 0.5), (), (0.5, 0.5, 0.5, -0.5), (0.3, 0.3, 0.3, 0.3), (1.5, -0.5, 0.0, 0.0), (np.nan, 0.5, 0.5, 0.0), (np.inf, 0, 0, 0), "uniform", None, 0.25, np.array(0.25),
        [[0.25] * 4], (True, False, False, False), ("0.25",) * 4, {0.1, 0.2, 0.3, 0.4},
    ],
    "balancing": ["max", "", None, 1, ["sqrt"]],
    "block_probability": [-0.1, 1.1, np.nan, "half", (0.5,), True],
    "replicas": [1, 0, -3, 2.0, "6", None, np.nan, True, 10**9],
    "hottest": [0.0, 0.08, -1.0, np.nan, np.inf, "hot"],
    "target_ess": [0.0, 1.0, -0.5, np.nan, "half", None],
    "seconds": [0.0, -1.0, np.nan, np.inf, "1", None],
    "workers": [0, -1, 1.5, "2", None],
}  # fmt: skip
TAKERS = {name: kernel.settings for name, kernel in KERNELS.items()}


@pytest.mark.parametrize(
    "kernel, name", [(kernel, name) for kernel, names in TAKERS.items() for name in names]
)
def test_values_that_will_not_do_are_refused_in_one_line(kernel: str, name: str):
    for value in BAD[name]:
        for call in (
            lambda s: run_chains(tables(), **RUN, kernel=kernel, **s),
            lambda s: run_many([tables()] * 2, **RUN, kernel=kernel, **s),
        ):
            with pytest.raises(InputError) as refused:
                call({name: value})
            assert (refused.value.source, refused.value.field) == ("arguments", name), value
            assert "\n" not in str(refused.value)
            assert refused.value.exit_code == 2


@pytest.mark.parametrize("kernel", TAKERS)
def test_settings_of_other_kernels_are_refused_by_name(kernel: str):
    takes = ", ".join(TAKERS[kernel]) or "none"
    for name in {*GOOD, "seeds"} - {*TAKERS[kernel]}:
        with pytest.raises(InputError) as refused:
            run(kernel=kernel, **{name: GOOD.get(name, 1)})
        assert str(refused.value) == f"arguments: {name}: {kernel} has no setting {name!r}; it takes {takes}"


def test_every_kernel_is_there_once():
    assert sorted([*STEPPERS, *RUNNERS]) == sorted(KERNELS)


def test_every_setting_is_tested_here():
    assert {name for names in TAKERS.values() for name in names} == {*GOOD} == {*BAD}
    with pytest.raises(InputError, match="choose one of sqrt, barker, min"):
        run(kernel="informed", balancing="max")
    assert [*BALANCING] == ["sqrt", "barker", "min"]


@pytest.mark.parametrize(
    "kernel, settings",
    mostly_slow(ASKED := [("metropolis", {}), ("tempering", {"replicas": 3})], but=ASKED[:1]),
)
def test_a_command_reaches_the_settings_and_its_file_says_so(
    kernel: str, settings: dict[str, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    out = tmp_path / "x.nc"
    request = ["sample", str(small.write(tmp_path)), "--chains", "8", "--steps", "4", "--out", str(out)]
    asked = {"move_probabilities": [0.4, 0.2, 0.2, 0.2], **settings}
    words = [f"{name}={str(value).strip('[]').replace(' ', '')}" for name, value in asked.items()]
    assert (
        cli.run([*request, "--kernel", kernel, *(part for word in words for part in ("--setting", word))])
        == 0
    )
    tree = load(out)
    assert json.loads(tree.attrs["settings"]) == asked
    if "replicas" in settings:
        assert tree["constant_data"]["temperature_ladder"].size == settings["replicas"]
    capsys.readouterr()
    for wrong, line in {
        "replicas": "is no setting; write NAME=VALUE",
        "balancing=sqrt": "tempering has no setting 'balancing'",
    }.items():
        assert cli.run([*request, "--kernel", "tempering", "--setting", wrong]) == 2
        assert line in capsys.readouterr().err.replace("\n", " ")
    assert read_settings(["balancing=sqrt", "hottest=1.5"]) == {"balancing": "sqrt", "hottest": 1.5}


BY_HAND = {name: getattr(samplers, name) for name in STEPPERS}


def position_of(kernel: str, *options: Any) -> Any:
    """Of tempering two replicas that stand alike."""
    return [[*options]] * 2 if kernel == "tempering" else [*options]


@pytest.mark.parametrize("kernel", STEPPERS)
def test_by_hand_every_kernel_refuses_what_is_no_position(kernel: str):
    make = BY_HAND[kernel](tables(), 0.5)
    sizes = tables().sizes.tolist()
    fits = position_of(kernel, *[size - 1 for size in sizes])
    # as it stands for one; left uncompiled, every operation is compiled by itself
    state = make.init(fits) if kernel == "metropolis" else jax.jit(make.init)(np.array(fits))
    np.testing.assert_array_equal(np.asarray(state.position), fits)
    moved, info = jax.jit(make.step)(jax.random.key(0), state)
    assert jax.tree.structure(moved) == jax.tree.structure(state)
    assert isinstance(info, Info)
    for options, message in (
        ([0] * (len(sizes) - 1), "position: shape"),
        ([0.0] * len(sizes), "of float64, expected"),
        ([*[0] * (len(sizes) - 1), sizes[-1]], f"option {sizes[-1]} of variable {len(sizes) - 1}; give one"),
        ([-1] * len(sizes), "option -1 of variable 0"),
        ([[0]] * len(sizes), "position: shape"),
    ):
        with pytest.raises(InputError, match=message):
            make.init(position_of(kernel, *options))
    for none in (5, None, [], "ab", [[0], [0, 0]], [fits] * 2):  # the last are several chains, for jax.vmap
        with pytest.raises(InputError, match="position: .*, expected"):
            make.init(none)
    less = jax.tree.map(lambda leaf: leaf[..., :-1] if leaf.shape[-1:] == (len(sizes),) else leaf, state)
    for other in (fits, None, less, (state,)):
        with pytest.raises(InputError, match=f"state: not a state of {kernel} on these tables"):
            jax.eval_shape(make.step, jax.random.key(0), other)
    with pytest.raises(InputError, match="position: shape"):
        jax.jit(make.init)(np.array(position_of(kernel, 0)))


@pytest.mark.parametrize("kernel", STEPPERS)
@pytest.mark.parametrize("temperature", [0.0, -1.0, np.nan, np.inf, "warm", None, True, np.ones(2)])
def test_by_hand_every_kernel_refuses_what_is_no_temperature(kernel: str, temperature: Any):
    with pytest.raises(InputError, match="is no temperature; give a positive number"):
        BY_HAND[kernel](tables(), temperature)


def test_by_hand_a_ladder_has_two_replicas_or_more():
    with pytest.raises(InputError, match="1 replicas are no ladder"):
        samplers.tempering(tables(), 0.5).init([[0] * len(tables().sizes)])
    with pytest.raises(InputError, match="positions of 3 replicas; give those of 2"):
        samplers.tempering(tables(), 0.5, replicas=2).init([[0] * len(tables().sizes)] * 3)


@pytest.mark.parametrize(
    "chains, starts", [(1, 1), (7, 7), (9, 3), (11, 1), (12, 6), (25, 5), (64, 8), (100, 5)]
)
def test_superchains_are_the_greatest_divisor_up_to_eight(chains: int, starts: int):
    request: dict[str, Any] = {"steps": 1, "temperature": 0.5, "seed": 0, "superchains": None}
    assert check_request(tables(), chains=chains, **request) == starts


def test_moves_that_go_nowhere_get_no_share():
    """Of a space without swaps the others have their share; of a plain graph replacement has them all, and its
    chains forget sooner. Shares that are given stay."""
    counts = np.bincount(run().move.ravel(), minlength=4)
    due = np.array([0.4, 0.2, 0.0, 0.2]) / 0.8
    assert counts[2] == 0
    assert stats.chisquare(counts[due > 0], counts.sum() * due[due > 0]).pvalue > FAILURE_RATE
    np.testing.assert_allclose(acting_shares(tables().edits), due)
    assert set(run(move_probabilities=STAY).move.ravel()) == {2}
    plain = from_factors([3, 2, 4], pairwise={(0, 1): np.ones((3, 2))})
    moved = run_chains(plain, **RUN).move
    assert set(moved.ravel()) == {0}
    assert spectral_gap(plain, 1.0) > 2 * spectral_gap(plain, 1.0, MOVE_PROBABILITIES)
    still = from_factors([1, 1])
    np.testing.assert_allclose(acting_shares(still.edits), MOVE_PROBABILITIES)
