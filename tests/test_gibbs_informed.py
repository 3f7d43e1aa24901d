"""Gibbs and locally balanced kernels against transition matrices written from their definitions (plain NumPy,
no call of the kernels).

Tolerances, in one place. NumPy identities and the kernels in float64: EXACT. Densities and acceptance rates
in float32: FLOAT32. The inverse distribution function: its stated bias bound. Frequencies: BUDGET, for the
whole file.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tiers
from budget import Budget
from numpy.typing import NDArray
from scipy import stats
from scipy.sparse.csgraph import connected_components
from test_metropolis import BARE, IRREGULAR, Disagreement, compile_tables, disagreement, grammar
from tiers import mostly_slow, tier
from transition import Grammar, with_options

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference import gibbs, informed
from gnrs_ppl.inference.chains import advance_of, run_many
from gnrs_ppl.inference.threefry import word_of_step
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, Tables, parts
from gnrs_ppl.models.space import PADDING

BUDGET = Budget(
    1e-4,
    {
        "test_one_step_frequencies": (20, 4),
        "test_gibbs_info_tells_the_block": (2, 4),
        "test_chains_that_share_the_kind_of_block": (1, 5),
        "test_chains_that_share_the_kind_do_not_vary_together": (1, 3),
        "test_stationary_chains_stay_stationary": (3, 2),
        "test_a_space_without_pairs_and_joints": (2, 2),
    },
)
LEVEL = BUDGET.level
MUTANT_LEVEL = 1e-30
"""A wrong kernel has to be this improbable before the tests are said to see it."""
EXACT = 1e-9
TEMPERATURES = [SEARCH_TEMPERATURE, 0.5]
STARTS, DRAWS = 12, 2048
MANY = 144
"""Positions looked at one by one: as many as the larger grammar has structures."""
FLOAT32 = 1e-4
"""What logdensity differences, and acceptance rates, may be off by in float32; derived in
test_metropolis.float32_bound."""

FLAGGED = grammar(
    5,
    candidates=[[0, 1], [0, 0, 1], [0], [0, 1], [0, 0], [0, 1, 2]],
    pairs=[(0, 1), (0, 5), (1, 3), (3, 5), (4, 5)],
    unary_flags={0: [False, True], 1: [True, False, False], 5: [False, True, False]},
    pair_flags={
        (1, 3): [[False, True]] * 3,
        (2, 4): [[True, False]],
        (4, 5): [[False, False, True], [True, False, False]],
    },
    swaps={1: [0, 0, 0], 5: [0, 0, 1]},
    joints=[(5, 3), (0, 4), (3, 1)],
)
"""Six slots of 2, 3, 1, 2, 2 and 3 options, 72 structures, most of them raising flags, several at once; one
joint without a pair table."""
BLOCKED = grammar(
    6,
    candidates=[[0], [0], [0, 1], [0, 0], [0], [0, 1, 2]],
    pairs=[(2, 5), (3, 5)],
    unary_flags={2: [True, True]},
    swaps={2: [0, 0], 3: [0, 0]},
    joints=[(0, 1), (5, 2), (3, 5)],
)
"""Infeasible everywhere."""
STILL = grammar(
    8, candidates=[[0]] * 6, pairs=[(0, 2)], swaps={0: [0], 1: [0]}, joints=[(0, 1), (0, 2), (2, 0)]
)
"""One structure."""
GRAMMARS = {"irregular": IRREGULAR, "flagged": FLAGGED}
PADDED = {"pad_options": 9, "pad_pairs": 8}
"""All of these alike, so that one compiled function serves them."""

KERNELS: dict[str, Any] = {
    "gibbs": gibbs.build_kernel(),
    "gibbs, three pairs in four": gibbs.build_kernel(0.75),
    **{f"informed, {name}": informed.build_kernel(name) for name in informed.BALANCING},
}
WORDS = {kernel: informed.WORDS if kernel.startswith("informed") else gibbs.WORDS for kernel in KERNELS}
FEW = ["gibbs, three pairs in four", "informed, sqrt"]
"""The kernels of the fast tier: one that takes variables and joints, one that is accepted or not."""
every_kernel = pytest.mark.parametrize("kernel", mostly_slow(KERNELS, but=FEW))
rich = pytest.mark.parametrize("name", GRAMMARS)
tempered = pytest.mark.parametrize("temperature", TEMPERATURES)


@cache
def tables_of(name: str) -> Tables:
    return compile_tables((GRAMMARS | {"blocked": BLOCKED, "still": STILL})[name], **PADDED)


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    def say(line: str) -> None:
        with capsys.disabled():
            print(f"\n    {line}", end="")

    return say


def test_the_budget_covers_every_case(request: pytest.FixtureRequest):
    BUDGET.assert_covers(case for case in request.session.items if case.path == request.path)


def agree(counts: NDArray[np.int64], matrix: NDArray[np.float64], what: str) -> Disagreement:
    """Pass with chance 1 - 2 LEVEL if the counts were drawn from the matrix."""
    BUDGET.spend(2)  # cells and Pearson
    found = disagreement(counts, matrix)
    assert found.p > LEVEL, (what, found)
    return found


# ---- the definitions


def blocks_of(built: Grammar) -> list[tuple[int, ...]]:
    return [(v,) for v in range(len(built.sizes))] + [*built.joints]


def block_shares(built: Grammar, block_probability: float | None) -> NDArray[np.float64]:
    blocks, pairs = blocks_of(built), len(built.joints)
    if block_probability is None:
        return np.full(len(blocks), 1 / len(blocks))
    return np.array(
        [
            (1 - block_probability) / len(built.sizes) if len(b) == 1 else block_probability / pairs
            for b in blocks
        ]
    )


def gibbs_matrix(
    built: Grammar, target: NDArray[np.float64], block_probability: float | None = None
) -> NDArray[np.float64]:
    """Rows: choose a block; among the structures that agree with this one outside it, go to one in
    proportion to the target."""
    matrix = np.zeros((len(target), len(target)))
    for block, share in zip(blocks_of(built), block_shares(built, block_probability), strict=True):
        groups: dict[tuple[int, ...], list[int]] = {}
        for i, a in enumerate(built.structures):
            groups.setdefault(tuple(option for v, option in enumerate(a) if v not in block), []).append(i)
        for members in groups.values():
            matrix[np.ix_(members, members)] += share * target[members] / target[members].sum()
    return matrix


BALANCING: dict[str, Callable[[float], float]] = {
    "sqrt": np.sqrt,
    "barker": lambda t: t / (1 + t),
    "min": lambda t: min(1.0, t),
}


def neighbours_of(built: Grammar, a: tuple[int, ...]) -> list[int]:
    """Structures that differ in exactly one variable."""
    return [
        built.index[with_options(a, {v: o})]
        for v, size in enumerate(built.sizes)
        for o in range(size)
        if o != a[v]
    ]


class Balanced(NamedTuple):
    proposal: NDArray[np.float64]
    acceptance: NDArray[np.float64]

    def matrix(self) -> NDArray[np.float64]:
        moved = self.proposal * self.acceptance
        return moved + np.diag(1 - moved.sum(1))


def balanced(built: Grammar, target: NDArray[np.float64], g: Callable[[float], float]) -> Balanced:
    """Zanella's proposal and its acceptance, with nothing cancelled; a structure without neighbours proposes
    itself."""
    count = len(target)
    weight, proposal, acceptance = np.zeros((count, count)), np.zeros((count, count)), np.ones((count, count))
    for i, a in enumerate(built.structures):
        for j in neighbours_of(built, a):
            weight[i, j] = g(target[j] / target[i])
    z = weight.sum(1)
    for i, a in enumerate(built.structures):
        near = neighbours_of(built, a)
        proposal[i, near or i] = weight[i, near] / z[i] if near else 1.0
        for j in near:
            forward, back = (
                target[i] * g(target[j] / target[i]) / z[i],
                target[j] * g(target[i] / target[j]) / z[j],
            )
            acceptance[i, j] = min(1.0, back / forward)
    return Balanced(proposal, acceptance)


@cache
def matrix_of(name: str, temperature: float, kernel: str) -> NDArray[np.float64]:
    built = GRAMMARS[name]
    target = built.target(temperature)
    if kernel.startswith("informed"):
        return balanced(built, target, BALANCING[kernel.removeprefix("informed, ")]).matrix()
    return gibbs_matrix(built, target, None if kernel == "gibbs" else 0.75)


# ---- kernels at a batch


@cache
def starts_of(name: str) -> NDArray[np.int64]:
    """The most and the least likely structure and some others."""
    target = GRAMMARS[name].target(SEARCH_TEMPERATURE)
    others = np.random.default_rng(7).permutation(
        np.setdiff1d(np.arange(len(target)), [target.argmax(), target.argmin()])
    )
    return np.array([target.argmax(), target.argmin(), *others[: STARTS - 2]])


class Step(NamedTuple):
    """One step of many chains; structures by number."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    proposal: NDArray[np.int64]
    state: gibbs.State
    info: Any


def one(
    kernel: str, words: jax.Array, position: jax.Array, tables: Tables, temperature: float
) -> tuple[gibbs.State, Any]:
    return KERNELS[kernel](words, begin_of(kernel)(position, tables, temperature), tables, temperature)


def begin_of(kernel: str) -> Any:
    return informed.init if kernel.startswith("informed") else gibbs.init


compiled = {
    kernel: jax.jit(jax.vmap(lambda *a, kernel=kernel: one(kernel, *a), (0, 0, None, None)))
    for kernel in KERNELS
}
evaluate = jax.jit(jax.vmap(informed.init, (0, None, None)))
"""By look-ups in all tables, which Gibbs does not make."""


def run(
    built: Grammar,
    tables: Tables,
    kernel: str,
    words: NDArray[np.uint32],
    source: NDArray[np.int64],
    temperature: float,
) -> Step:
    positions = np.array(built.structures, np.int32)[source]
    state, info = jax.device_get(compiled[kernel](words, positions, tables, temperature))
    target, proposal = (
        np.ravel_multi_index(at.T, built.sizes) for at in (state.position, info.proposal.position)
    )  # raises if outside
    return Step(source, target, proposal, state, info)


EXTREMES = np.array(
    [
        (a, b, c)
        for a in (0, 2**32 - 1)
        for b in (0, 2**16 - 1, 2**31, 2**32 - 1)
        for c in (0, 2**31, 2**32 - 1)
    ],
    np.uint32,
)
"""Words at the ends of their range, where a rounding or an off-by-one would leave the space."""


@cache
def steps_of(name: str, temperature: float, kernel: str) -> Step:
    seed = 100 + 10 * [*KERNELS].index(kernel) + 2 * TEMPERATURES.index(temperature) + [*GRAMMARS].index(name)
    source = np.repeat(starts_of(name), DRAWS)
    words = np.array(jax.random.bits(jax.random.key(seed), (len(source), WORDS[kernel]), jnp.uint32))
    return run(GRAMMARS[name], tables_of(name), kernel, words, source, temperature)


def tally(name: str, where: NDArray[np.int64]) -> NDArray[np.int64]:
    """Row per start: how often each structure was met."""
    count = len(GRAMMARS[name].structures)
    return np.stack([np.bincount(row, minlength=count) for row in where.reshape(STARTS, DRAWS)])


# ---- the reference itself


@rich
@tempered
def test_reference_matrices_keep_the_target(name: str, temperature: float):
    target = GRAMMARS[name].target(temperature)
    for kernel in KERNELS:
        matrix = matrix_of(name, temperature, kernel)
        flow = target[:, None] * matrix
        assert matrix.min() >= -1e-15, kernel
        np.testing.assert_allclose(matrix.sum(1), 1, atol=1e-12, err_msg=kernel)
        np.testing.assert_allclose(flow, flow.T, rtol=1e-9, atol=1e-300, err_msg=kernel)
        np.testing.assert_allclose(target @ matrix, target, atol=1e-12, err_msg=kernel)
        assert connected_components(matrix > 0, connection="strong")[0] == 1, kernel


def test_the_grammars_are_worth_testing_on():
    """Several flags at once, so that counting them once matters; joints with a pair table either way round,
    and without one."""
    raised = [
        sum(flags[a[v]] for v, flags in FLAGGED.unary_flags.items())
        + sum(f[a[i]][a[j]] for (i, j), f in FLAGGED.pair_flags.items())
        for a in FLAGGED.structures
    ]
    assert set(raised) >= {0, 1, 2, 3}
    ways = {
        "upright" if j in b.pairwise else "turned" if j[::-1] in b.pairwise else "none"
        for b in GRAMMARS.values()
        for j in b.joints
    }
    assert ways == {"upright", "turned", "none"}
    assert [gibbs.WORDS, informed.WORDS] == [3, 2]


# ---- the conditionals, in float64


@rich
@tempered
def test_conditionals_are_differences_of_the_enumeration(name: str, temperature: float):
    built, sizes = GRAMMARS[name], GRAMMARS[name].sizes
    exact = built.log_densities(temperature).reshape(sizes)
    positions, pairs = np.resize(np.array(built.structures, np.int32), (MANY, len(sizes))), list(built.joints)
    with jax.enable_x64(True):
        found = jax.device_get(
            conditionals(positions, tables_of(name), temperature, np.array(pairs, np.int32))
        )
    singles, joints = found
    for v, size in enumerate(sizes):
        assert singles.dtype == np.float64
        assert (singles[:, v, size:] < PADDING / 2).all()
        along = np.moveaxis(exact, v, -1)[tuple(np.delete(positions, v, axis=1).T)]
        np.testing.assert_allclose(singles[:, v, :size] - singles[:, v, :1], along - along[:, :1], atol=EXACT)
    for j, (t, e) in enumerate(pairs):
        table, real = joints[:, j], joints[:, j, : sizes[t], : sizes[e]]
        assert (table[:, sizes[t] :] < PADDING / 2).all()
        assert (table[:, :, sizes[e] :] < PADDING / 2).all()
        along = np.moveaxis(exact, (t, e), (-2, -1))[tuple(np.delete(positions, (t, e), axis=1).T)]
        np.testing.assert_allclose(real - real[:, :1, :1], along - along[:, :1, :1], atol=EXACT)


@jax.jit
def conditionals(
    positions: jax.Array, tables: Tables, temperature: float, pairs: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Every single and every joint conditional of every position."""

    def weighed(position: jax.Array, block: gibbs.Block, *own: jax.Array) -> jax.Array:
        outside = parts(tables, position)[1] - block.raised[own]
        return block.logdensity(outside, tables.penalty, temperature)

    def one(position: jax.Array, v: jax.Array) -> jax.Array:
        return weighed(position, gibbs.one_block(tables, position, v), position[v])

    def two(position: jax.Array, pair: jax.Array) -> jax.Array:
        t, e = pair[0], pair[1]
        return weighed(position, gibbs.pair_block(tables, position, t, e), position[t], position[e])

    every = jnp.arange(positions.shape[1])
    return (
        jax.vmap(lambda p: jax.vmap(lambda v: one(p, v))(every))(positions),
        jax.vmap(lambda p: jax.vmap(lambda pair: two(p, pair))(pairs))(positions),
    )


@rich
def test_neighbours_are_differences_of_the_enumeration(name: str):
    built, temperature = GRAMMARS[name], SEARCH_TEMPERATURE
    exact = built.log_densities(temperature)
    positions = np.resize(np.array(built.structures, np.int32), (MANY, len(built.sizes)))
    with jax.enable_x64(True):
        found = np.asarray(near(tables_of(name), positions, temperature))
    assert found.dtype == np.float64
    expected = np.full((len(exact), *found.shape[1:]), PADDING)
    for i, a in enumerate(built.structures):
        for v, size in enumerate(built.sizes):
            for option in set(range(size)) - {a[v]}:
                expected[i, v, option] = exact[built.index[with_options(a, {v: option})]] - exact[i]
    np.testing.assert_allclose(found[: len(expected)], expected, atol=EXACT)


near = jax.jit(jax.vmap(informed.neighbours, (None, 0, None)))


# ---- the inverse distribution function


draws = jax.jit(jax.vmap(gibbs.draw, (0, None)))


def drawn_probabilities(logdensity: NDArray[np.float32]) -> NDArray[np.float64]:
    """How many of the 2^32 words draw each entry: the draw grows with the word, so the first word past an
    entry is found by halving."""
    entries = logdensity.size
    spread = np.sort(np.random.default_rng(3).integers(0, 2**32, 4096, dtype=np.uint32))
    assert (np.diff(draws(spread, logdensity)) >= 0).all()
    low, high = (
        np.zeros(entries, np.int64),
        np.full(entries, 2**32, np.int64),
    )  # the first word that draws more than the entry
    for _ in range(33):
        middle = (low + high) // 2
        past = np.asarray(draws(np.minimum(middle, 2**32 - 1).astype(np.uint32), logdensity)) > np.arange(
            entries
        )
        past |= middle >= 2**32
        low, high = np.where(past | (low >= high), low, middle + 1), np.where(past, middle, high)
    assert (low == high).all()
    assert high[-1] == 2**32
    return np.diff(high, prepend=0) / 2**32


DENSITIES = {
    "one option": np.zeros(1),
    "one of many": np.array([PADDING, PADDING, 3.0, PADDING]),
    "equal": np.zeros(24),
    "rare ones first": np.append(np.full(40, -18.0), 0.0),
    "rare ones last": np.append(0.0, np.full(40, -18.0)),
    "below every word": np.array([0.0, -40.0, 1.0, PADDING]),
    "wide": np.random.default_rng(1).normal(0, 8, 120),
    "a pair": np.random.default_rng(2).normal(-30, 4, (24, 24)),
    "a padded pair": np.random.default_rng(2).normal(30, 4, (3, 5)),
}


@pytest.mark.parametrize("case", DENSITIES)
def test_draws_are_within_the_stated_bias(case: str, say: Callable[[str], None]):
    given = DENSITIES[case]
    room = (
        1 if given.size == 1 else 24 if given.ndim == 2 else 120
    )  # few shapes, so that few functions are compiled
    logdensity = np.pad(given, [(0, room - n) for n in given.shape], constant_values=PADDING).astype(
        np.float32
    )
    flat = logdensity.astype(np.float64).ravel()
    due = np.exp(flat - flat.max())
    due /= due.sum()
    found = drawn_probabilities(logdensity)
    assert found.sum() == 1
    assert (found[flat < PADDING / 2] == 0).all()
    error = np.abs(found - due)
    assert (error <= due * (2.0**-19 + flat.size * 2.0**-31) + 2.0**-30).all()
    say(f"{case}: off by {error.max():.1e} at most, {error.sum() / 2:.1e} in total variation")


# ---- one step, float32, at a batch


@rich
@tempered
@every_kernel
def test_one_step_frequencies(name: str, temperature: float, kernel: str, say: Callable[[str], None]):
    """From a dozen structures, the best and the worst among them: next structures against P, proposals
    against Q."""
    built, step, what = (
        GRAMMARS[name],
        steps_of(name, temperature, kernel),
        f"{name}, tau {temperature}, {kernel}",
    )
    found = agree(
        tally(name, step.target), matrix_of(name, temperature, kernel)[starts_of(name)], f"{what}, steps"
    )
    line = f"{what}: largest deviation {found.deviation:.2f} SE, Pearson {found.pearson:+.2f} SE"
    if kernel.startswith("informed"):
        reference = balanced(built, built.target(temperature), BALANCING[kernel.removeprefix("informed, ")])
        proposed = agree(
            tally(name, step.proposal), reference.proposal[starts_of(name)], f"{what}, proposals"
        )
        off = np.abs(step.info.acceptance_rate - reference.acceptance[step.source, step.proposal]).max()
        assert off < FLOAT32
        line += f"; proposals {proposed.deviation:.2f} SE, {proposed.pearson:+.2f} SE; {step.info.accepted.mean():.0%} accepted"
    say(line)


@rich
def test_gibbs_info_tells_the_block(name: str):
    built, blocks = GRAMMARS[name], blocks_of(GRAMMARS[name])
    for kernel in tier(FEW[:1], ["gibbs", "gibbs, three pairs in four"]):
        step = steps_of(name, SEARCH_TEMPERATURE, kernel)
        assert step.info.accepted.all()
        assert (step.info.acceptance_rate == 1).all()
        np.testing.assert_array_equal(step.proposal, step.target)
        structures = np.array(built.structures)
        changed = structures[step.source] != structures[step.target]
        for number, block in enumerate(blocks):
            mine = step.info.block == number
            assert not np.delete(changed[mine], block, axis=1).any()
            assert (step.info.energy_evaluations[mine] == np.prod([built.sizes[v] for v in block])).all()
        if name == "flagged":
            counts = np.bincount(step.info.block, minlength=len(blocks))[None]
            agree(
                counts,
                block_shares(built, None if kernel == "gibbs" else 0.75)[None],
                f"{name}, {kernel}, blocks",
            )


@rich
@tempered
@every_kernel
def test_a_step_ends_in_a_state_as_evaluated(name: str, temperature: float, kernel: str):
    step = steps_of(name, temperature, kernel)
    fresh = jax.device_get(evaluate(step.state.position, tables_of(name), temperature))
    for kept, again in zip(step.state[:4], fresh[:4], strict=True):
        np.testing.assert_allclose(
            kept, again, atol=FLOAT32 if np.issubdtype(kept.dtype, np.floating) else 0, rtol=0
        )


@pytest.mark.slow
def test_informed_acceptance_is_exact(say: Callable[[str], None]):
    """Float64, from every structure, also at the ends of the words' range: rate and verdict are the
    reference's."""
    built, kernel = IRREGULAR, "informed, sqrt"
    reference = balanced(built, built.target(SEARCH_TEMPERATURE), np.sqrt)
    count, per = len(built.structures), 100
    words = np.array(jax.random.bits(jax.random.key(61), (count * per, 2), jnp.uint32)).reshape(count, per, 2)
    words[:, : len(EXTREMES)] = EXTREMES[:, 1:]
    words, source = words.reshape(-1, 2), np.repeat(np.arange(count), per)
    with jax.enable_x64(True):
        step = run(built, tables_of("irregular"), kernel, words, source, SEARCH_TEMPERATURE)
    rate = reference.acceptance[source, step.proposal]
    assert step.info.acceptance_rate.dtype == np.float64
    assert (reference.proposal[source, step.proposal] > 0).all()
    np.testing.assert_allclose(step.info.acceptance_rate, rate, atol=EXACT)
    u = (words[:, 1] + 0.5) / 2**32
    clear = np.abs(u - rate) > EXACT
    np.testing.assert_array_equal(step.info.accepted[clear], (u < rate)[clear])
    np.testing.assert_array_equal(step.target, np.where(step.info.accepted, step.proposal, source))
    assert (step.info.energy_evaluations == 2 * (sum(built.sizes) - len(built.sizes))).all()
    assert (~step.info.accepted).mean() > 0.01
    say(
        f"{kernel}: rate off by {np.abs(step.info.acceptance_rate - rate).max():.1e}, {step.info.accepted.mean():.0%} accepted"
    )


def at_the_ends(kernel: str, built: Grammar, tables: Tables) -> Step:
    """Every structure (as many as fit) with every pair of words at the ends of their range; raises outside
    the space."""
    pairs = np.array([(a, b) for a in range(len(built.structures)) for b in range(len(EXTREMES))])
    source, words = np.resize(pairs, (STARTS * DRAWS, 2)).T  # the batch that is compiled already
    return run(built, tables, kernel, EXTREMES[words, -WORDS[kernel] :], source, SEARCH_TEMPERATURE)


@rich
@every_kernel
def test_words_at_the_ends_stay_inside(name: str, kernel: str):
    at_the_ends(kernel, GRAMMARS[name], tables_of(name))


# ---- the frequency test can fail


@tempered
def test_wrong_kernels_would_show(temperature: float, say: Callable[[str], None]):
    """Matrices with a mistake: the counts of the right kernels tell them apart."""
    for name, built in GRAMMARS.items():
        density, target = np.exp(built.log_densities(temperature)), built.target(temperature)
        twice = [
            sum(f[a[v]] for v, f in built.unary_flags.items())
            + sum(f[a[i]][a[j]] for (i, j), f in built.pair_flags.items())
            for a in built.structures
        ]
        more_than_once = np.exp(-built.penalty / temperature * np.maximum(0, np.array(twice) - 1))
        rows = starts_of(name)
        wrong = {
            "gibbs, three pairs in four": {
                "no prior": gibbs_matrix(built, np.exp(built.scores / temperature), 0.75),
                "no score": gibbs_matrix(built, np.exp(built.log_priors), 0.75),
            },
            "informed, sqrt": {
                "all accepted": balanced(built, target, np.sqrt).proposal,
                "Barker's function": balanced(built, target, BALANCING["barker"]).matrix(),
            },
        }
        if not tiers.fast:
            wrong["informed, barker"] = {
                "all accepted": balanced(built, target, BALANCING["barker"]).proposal
            }
        if name == "flagged":
            wrong[FEW[0]]["a penalty for every flag"] = gibbs_matrix(built, density * more_than_once, 0.75)
        for kernel, mutants in wrong.items():
            counts = tally(name, steps_of(name, temperature, kernel).target)
            for mutant, matrix in mutants.items():
                found = disagreement(counts, matrix[rows])
                say(f"{name}, tau {temperature}, {kernel}, {mutant}: p {found.p:.1e}")
                assert found.p < MUTANT_LEVEL, (name, kernel, mutant)


# ---- the chain


@pytest.mark.parametrize(
    "kernel", mostly_slow(["gibbs", "gibbs, three pairs in four", "informed, barker"], but=FEW)
)
def test_stationary_chains_stay_stationary(kernel: str, say: Callable[[str], None]):
    """24,576 chains from exact draws, 8 steps: the last structures are again exact draws."""
    chains, steps, target = STARTS * DRAWS, 8, IRREGULAR.target(SEARCH_TEMPERATURE)
    source = np.random.default_rng(71).choice(len(target), chains, p=target)
    position = np.array(IRREGULAR.structures, np.int32)[source]
    for key in jax.random.split(jax.random.key(73), steps):
        words = np.array(jax.random.bits(key, (chains, WORDS[kernel]), jnp.uint32))
        position = compiled[kernel](words, position, tables_of("irregular"), SEARCH_TEMPERATURE)[0].position
    last = np.ravel_multi_index(np.asarray(position).T, IRREGULAR.sizes)
    assert (last != source).mean() > 0.5, "the chains have to go somewhere for this to mean anything"
    found = agree(np.bincount(last, minlength=len(target))[None], target[None], f"long run, {kernel}")
    say(f"long run, {kernel}: largest deviation {found.deviation:.2f} SE, Pearson {found.pearson:+.2f} SE")


# ---- many chains, as the driver steps them: one kind of block a step for all of them


@cache
def driven(name: str) -> Any:
    """A step of many chains from positions: seed, number of the step, positions, temperature."""
    advance, tables = advance_of("gibbs", (("block_probability", None),)), tables_of(name)

    @jax.jit
    def step(seed: jax.Array, number: jax.Array, positions: jax.Array, temperature: float) -> Any:
        states = jax.vmap(gibbs.init, (0, None, None))(positions, tables, temperature)
        numbers = jnp.arange(len(positions), dtype=jnp.uint32)
        return advance((seed, jnp.uint32(9)), numbers, number, states, tables, temperature)

    return step


def test_chains_that_share_the_kind_of_block(say: Callable[[str], None]):
    """In a step all take a variable or all a pair, each its own; next structures against the matrix of the
    kind, and the kinds against their shares: together the matrix of the kernel."""
    name, built, temperature = "flagged", FLAGGED, 0.5
    source = np.repeat(starts_of(name), DRAWS)
    positions = np.array(built.structures, np.int32)[source]
    of_kind: dict[bool, Any] = {}
    for number in range(40):
        if len(of_kind) < 2:
            states, info = jax.device_get(
                driven(name)(np.uint32(5), np.int32(number), positions, temperature)
            )
            pairs = info.block >= len(built.sizes)
            assert pairs.all() or not pairs.any()
            of_kind[bool(pairs[0])] = states.position, info.block
    matrices = {kind: gibbs_matrix(built, built.target(temperature), float(kind)) for kind in (False, True)}
    whole = sum(
        share * matrices[kind] for kind, share in ((False, 6 / 9), (True, 3 / 9))
    )  # six variables, three pairs
    np.testing.assert_allclose(whole, gibbs_matrix(built, built.target(temperature)), atol=1e-15)
    for kind, matrix in matrices.items():
        position, block = of_kind[kind]
        tallied = tally(name, np.ravel_multi_index(position.T, built.sizes))
        found = agree(tallied, matrix[starts_of(name)], f"pairs: {kind}")
        say(f"pairs {kind}: largest deviation {found.deviation:.2f} SE, Pearson {found.pearson:+.2f} SE")
        wrong = disagreement(tallied, matrices[not kind][starts_of(name)])
        assert wrong.p < MUTANT_LEVEL
        assert len(np.unique(block)) == (3 if kind else 6), "which one is each chain's own"
    words = np.asarray(jax.vmap(word_of_step, (None, 0))(np.uint32(5), jnp.arange(4096)))
    BUDGET.spend()
    assert stats.binomtest(int((words >> 16 < round(2**16 / 3)).sum()), 4096, 1 / 3).pvalue > LEVEL


def test_chains_that_share_the_kind_do_not_vary_together(say: Callable[[str], None]):
    """From the target, the mean over the chains of a run varies from seed to seed as that of independent
    chains does, after each of three steps; chains that shared all words would show at once."""
    built, temperature, chains, seeds = FLAGGED, 0.5, 64, 400
    target = built.target(temperature)
    value = np.random.default_rng(3).normal(size=len(target))
    value = (value - target @ value) / np.sqrt(target @ value**2 - (target @ value) ** 2)
    start = np.random.default_rng(4).choice(len(target), size=(seeds, chains), p=target)
    at = np.array(built.structures, np.int32)[start]
    for number in range(3):
        at = np.stack(
            [
                driven("flagged")(np.uint32(seed), np.int32(number), at[seed], temperature)[0].position
                for seed in range(seeds)
            ]
        )
        means = value[np.ravel_multi_index(np.moveaxis(at, -1, 0), built.sizes)].mean(1)
        spread = chains * (means**2).sum()
        BUDGET.spend()
        say(f"step {number}: variance of the mean over that of independent chains {spread / seeds:.3f}")
        assert LEVEL < stats.chi2.cdf(spread, seeds) < 1 - LEVEL
    alike = value[np.repeat(start[:, :1], chains, 1)].mean(1)
    assert stats.chi2.sf(chains * (alike**2).sum(), seeds) < MUTANT_LEVEL


def test_spaces_share_the_kinds_and_draw_their_own():
    """One space gives the same chains alone and in company, and all of them take pairs in the same steps."""
    request: dict[str, Any] = {
        "chains": 8,
        "steps": 30,
        "temperature": 0.5,
        "seed": 3,
        "kernel": "gibbs",
    }
    spaces, names = [tables_of(name) for name in ("flagged", "blocked")], ["flagged", "blocked"]
    together = run_many(spaces, names=names, **request)
    alone = run_many(spaces[:1], names=names[:1], **request)[0]
    np.testing.assert_array_equal(together[0].positions, alone.positions)
    kinds = [
        (np.diff(found.positions, axis=1, prepend=found.starts[:, None]) != 0).sum(-1).max(0) > 1
        for found in together
    ]
    words = np.asarray(jax.vmap(word_of_step, (None, 0))(np.uint32(3), jnp.arange(30)))
    for several in kinds:
        assert several.any()
        assert not several[words >> 16 >= round(2**16 / 3)].any()
    assert (together[0].positions != together[1].positions).any()


# ---- spaces with little in them


def stepped(built: Grammar, kernel: Any, tables: Tables, count: int, begin: Any) -> Step:
    """One step of ``count`` chains at temperature 0.5; raises outside the space."""
    source = np.arange(count) % len(built.structures)
    words = np.array(jax.random.bits(jax.random.key(81), (count, gibbs.WORDS), jnp.uint32))
    states = jax.vmap(begin, (0, None, None))(np.array(built.structures, np.int32)[source], tables, 0.5)
    state, info = jax.device_get(jax.jit(jax.vmap(kernel, (0, 0, None, None)))(words, states, tables, 0.5))
    at = (np.ravel_multi_index(found.position.T, built.sizes) for found in (state, info.proposal))
    return Step(source, *at, state, info)


@pytest.mark.parametrize(
    "kernel", mostly_slow(["gibbs, pairs alone", "informed, barker"], but=["gibbs, pairs alone"])
)
def test_a_space_without_pairs_and_joints(kernel: str):
    """With nothing to take in pairs, even a kernel of pairs alone takes variables."""
    count, target = len(BARE.structures), BARE.target(0.5)
    right = {
        "gibbs, pairs alone": (gibbs.build_kernel(1.0), gibbs_matrix(BARE, target)),
        "informed, barker": (
            KERNELS["informed, barker"],
            balanced(BARE, target, BALANCING["barker"]).matrix(),
        ),
    }
    step = stepped(BARE, right[kernel][0], compile_tables(BARE), 4096 * count, begin_of(kernel))
    counts = np.bincount(step.source * count + step.target, minlength=count**2).reshape(count, count)
    agree(counts, right[kernel][1], f"bare, {kernel}")


@every_kernel
def test_one_option_everywhere_stays_put(kernel: str):
    step = at_the_ends(kernel, STILL, tables_of("still"))
    assert (step.state.position == 0).all()
    assert (step.info.proposal.position == 0).all()
    assert step.info.accepted.all()
    assert (step.info.acceptance_rate == 1).all()
    assert (step.info.energy_evaluations == (0 if kernel.startswith("informed") else 1)).all()


@every_kernel
def test_a_space_infeasible_everywhere_is_walked_through(kernel: str):
    words = np.array(jax.random.bits(jax.random.key(83), (STARTS * DRAWS, WORDS[kernel]), jnp.uint32))
    step = run(BLOCKED, tables_of("blocked"), kernel, words, np.zeros(len(words), np.int64), 0.5)
    assert not step.state.feasible.any()
    assert np.isfinite(step.state.logdensity).all()
    expected = {
        BLOCKED.index[a]
        for block in blocks_of(BLOCKED)
        for a in BLOCKED.structures
        if differ_inside(a, block)
    }
    if kernel.startswith("informed"):
        assert {0} < set(step.target) <= {0, *neighbours_of(BLOCKED, BLOCKED.structures[0])}
    else:
        assert set(step.target) == expected


def differ_inside(a: tuple[int, ...], block: tuple[int, ...]) -> bool:
    """Whether a structure differs from the first one inside the block alone."""
    return all(option == 0 for v, option in enumerate(a) if v not in block)


@every_kernel
def test_unusable_weights_do_not_leave_the_space(kernel: str):
    tables = tables_of("flagged")
    step = at_the_ends(kernel, FLAGGED, tables._replace(unary=np.full_like(tables.unary, np.nan)))
    assert np.isnan(step.state.logdensity).all()


def test_arguments_out_of_range_are_refused():
    for probability in (-0.1, 1.1, float("nan")):
        with pytest.raises(InputError, match="block_probability"):
            gibbs.build_kernel(probability)
    with pytest.raises(InputError, match="choose one of sqrt, barker, min"):
        informed.build_kernel("max")
