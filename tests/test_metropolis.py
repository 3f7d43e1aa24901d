"""The Metropolis kernel against transition matrices built from the definitions (transition.py, which shares
no code with it).

Tolerances, in one place. NumPy identities and the kernel in float64: EXACT. Logdensity differences and
acceptance rates in float32: FLOAT32, derived in float32_bound. Frequencies: BUDGET, for the whole file.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from budget import Budget
from numpy.typing import NDArray
from scipy import stats
from scipy.sparse.csgraph import connected_components
from tiers import mostly_slow, tier
from transition import EDITS, Grammar, Ways, acceptance, proposal_matrix, transition_matrix, ways

from gnrs_ppl.inference import samplers
from gnrs_ppl.inference.metropolis import Info, State, accept, build_kernel, init
from gnrs_ppl.inference.moves import MOVE_PROBABILITIES, MOVES, WORDS, Move, choose
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, Tables, contract, log_prior
from gnrs_ppl.models.space import alias_table, build_space

BUDGET = Budget(
    1e-4,
    {
        "test_one_step_frequencies": (4, 22),
        "test_a_space_without_swaps_and_joints_stays_put_on_those_edits": (1, 4),
        "test_stationary_chains_stay_stationary": (1, 14),
    },
)
LEVEL = BUDGET.level
MUTANT_LEVEL = 1e-30
"""A wrong kernel has to be this improbable before the tests are said to see it."""
EXACT = 1e-9
FLOAT32 = 1e-4

MIXTURE, UNEVEN = "mixture", "uneven mixture"
SHARES = {name: dict.fromkeys(EDITS, 0.0) | {name: 1.0} for name in EDITS} | {
    MIXTURE: dict(zip(EDITS, MOVE_PROBABILITIES, strict=True))
}
UNEVEN_PROBABILITIES = (0.2, 0.1, 0.2, 0.5)
"""A mixture that meets every way of every edit sooner than the default one."""
TRIGGER_EVIDENCE = "trigger-evidence edit"
WORD_RANGE = 2**32


def features(rng: np.random.Generator, *shape: int) -> NDArray[np.float64]:
    """Asymmetric and sharp: most entries near 0, a few near 1."""
    return rng.random((*shape, 4)) ** 6


def rows(rng: np.random.Generator, triggers: int, evidence: int) -> NDArray[np.float64]:
    """Uneven distributions in whole 32nds, at least three, which every table format keeps exactly."""
    counts = [
        3 + rng.multinomial(32 - 3 * evidence, rng.dirichlet(np.full(evidence, 0.5))) for _ in range(triggers)
    ]
    return np.array(counts) / 32


def grammar(seed: int, candidates: list[list[int]], pairs: list[tuple[int, int]], **rest: Any) -> Grammar:
    rng = np.random.default_rng(seed)
    sizes = [len(owners) for owners in candidates]
    unary = [features(rng, size) for size in sizes]
    pairwise = {(left, right): features(rng, sizes[left], sizes[right]) for left, right in pairs}
    # Scale each feature so that its greatest sum is one.
    greatest = sum(table.max(0) for table in unary) + sum(table.max((0, 1)) for table in pairwise.values())
    joints = {(t, e): rows(rng, sizes[t], sizes[e]) for t, e in rest.pop("joints", [])}
    return Grammar(
        candidates=candidates,
        unary=[table / greatest for table in unary],
        pairwise={pair: table / greatest for pair, table in pairwise.items()},
        weights=np.array([0.4, 0.3, 0.2, 0.1]),
        penalty=2.0,
        joints=joints,
        **{"unary_flags": {}, "pair_flags": {}, **rest},
    )


FIGURE = grammar(
    1,
    candidates=[[0, 0, 0], [0, 0, 1], [0, 1, 2], [0, 1, 1], [0, 1, 2]],
    pairs=[(0, 1), (1, 2), (1, 3), (3, 4)],
    unary_flags={4: [False, False, True]},
    pair_flags={(1, 2): [[False, True, False], [False, False, False], [False, False, True]]},
    swaps={2: [0, 0, 1]},
    joints=[(1, 2)],
)
"""The paper's figure: five slots of three options, 3^5 = 243 structures."""
IRREGULAR = grammar(
    2,
    candidates=[[0, 0, 0, 1], [0], [0, 0, 1, 2, 2, 2], [0, 1, 2], [0], [0, 1]],
    pairs=[(0, 2), (1, 5), (2, 3), (3, 5)],
    unary_flags={2: [False, False, False, False, True, False], 5: [False, False]},
    pair_flags={(0, 3): [[False, False, True], [False] * 3, [False, True, False], [False] * 3]},
    swaps={2: [0, 0, 0, 1, 0, 1], 5: [0, 0]},
    joints=[(0, 2), (3, 2), (5, 1)],
)
"""Six slots of 4, 1, 6, 3, 1 and 2 options, 144 structures: uneven groups, two swap entries, three joint
entries, two on one slot."""
BARE = grammar(3, candidates=[[0, 1], [0], [0, 0, 1]], pairs=[])
"""Three slots, no pairs, no swaps, no joints."""

GRAMMARS = {"figure": FIGURE, "irregular": IRREGULAR, "bare": BARE}
PADDING: dict[str, dict[str, int]] = {
    "figure": {},
    "irregular": {"pad_options": 9, "pad_pairs": 7},
    "bare": {},
}
RICH = ["figure", "irregular"]
DRAWS = {"figure": 4096, "irregular": tier(2048, 8192)}
"""Draws from every structure in one batch: about a million chains, a quarter of that in the fast tier."""
ENOUGH = {"figure": 2048, "irregular": 5120}
"""Draws of the uneven mixture that meet every way of every edit: the rarest have probabilities 1/85 and
1/384."""
TEMPERATURES = [SEARCH_TEMPERATURE, 0.5]

SEEDS = {
    (name, temperature): 200 + i
    for i, (name, temperature) in enumerate(itertools.product(RICH, TEMPERATURES))
}
"""Key 101, tried before 203, gave one cell of the irregular grammar's replacements 138 draws of 227.6 due,
which no other of 120 keys repeats. The same words read without the kernel give 138 too: the words, not the
kernel, so the key was changed.
"""
rich = pytest.mark.parametrize("name", RICH)
sampled = pytest.mark.parametrize("name", mostly_slow(RICH, but=["irregular"]))
"""The irregular grammar has all that the figure has and more; each grammar takes a compilation of its own."""
tempered = pytest.mark.parametrize("temperature", TEMPERATURES)


@cache
def tables_of(name: str) -> Tables:
    return compile_tables(GRAMMARS[name], **PADDING[name])


def compile_tables(built: Grammar, **padding: int) -> Tables:
    space = build_space(
        built.candidates,
        built.unary,
        built.pairwise,
        {v: np.array(flags) for v, flags in built.unary_flags.items()},
        {pair: np.array(flags) for pair, flags in built.pair_flags.items()},
        built.swaps,
        built.joints,
        **padding,
    )
    return contract(space, built.weights, built.penalty)


@cache
def ways_of(name: str, edit: str) -> Ways:
    return ways(GRAMMARS[name], SHARES[edit] if edit == MIXTURE else {edit: 1.0})


@cache
def positions_of(name: str) -> NDArray[np.int32]:
    return np.array(GRAMMARS[name].structures, np.int32)


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    def say(line: str) -> None:
        with capsys.disabled():
            print(f"\n    {line}", end="")

    return say


# ---- frequencies


class Disagreement(NamedTuple):
    """Counts against a matrix: least p value, largest standardised deviation, standardised Pearson sum."""

    p: float
    deviation: float
    pearson: float


def disagreement(counts: NDArray[np.int64], matrix: NDArray[np.float64]) -> Disagreement:
    """Two tests of rows of multinomial counts; p is the smaller of their p values.

    Cells: exact binomial tails, times the number of cells (Bonferroni). Pearson: the sum over all rows, cells
    expected fewer than 10 times pooled per row, against the gamma distribution that has the sum's exact mean
    and variance.
    """
    totals = counts.sum(1, keepdims=True)
    possible = matrix > 0
    if counts[~possible].any():
        return Disagreement(0.0, np.inf, np.inf)
    observed, chance, trials = (
        counts[possible],
        np.minimum(matrix[possible], 1.0),
        np.broadcast_to(totals, counts.shape)[possible],
    )
    tails = 2 * np.minimum(
        stats.binom.cdf(observed, trials, chance), stats.binom.sf(observed - 1, trials, chance)
    )
    expected, spread = trials * chance, np.sqrt(trials * chance * (1 - chance))
    common = (expected >= 10) & (trials - expected >= 10)
    deviations = np.abs(observed - expected)[common] / spread[common]

    total = mean = variance = 0.0
    for row, expectations, trial in zip(counts, matrix * totals, totals[:, 0], strict=True):
        kept = expectations >= 10
        cells = np.append(row[kept], row[~kept].sum())
        due = np.append(expectations[kept], expectations[~kept].sum())
        if due[-1] < 10:  # too rare even together: join it to the least common cell
            least = due[:-1].argmin()
            cells[least], due[least] = cells[least] + cells[-1], due[least] + due[-1]
            cells, due = cells[:-1], due[:-1]
        k = len(due)
        total += ((cells - due) ** 2 / due).sum()
        mean += k - 1
        variance += 2 * (k - 1) + ((trial / due).sum() - k**2 - 2 * k + 2) / trial
    pearson_p = stats.gamma.sf(total, mean**2 / variance, scale=variance / mean) if variance > 1e-9 else 1.0
    pearson = (total - mean) / np.sqrt(variance) if variance > 1e-9 else 0.0
    return Disagreement(min(1.0, tails.min() * tails.size, pearson_p), deviations.max(initial=0.0), pearson)


def test_the_budget_covers_every_case(request: pytest.FixtureRequest):
    BUDGET.assert_covers(case for case in request.session.items if case.path == request.path)


def agree(counts: NDArray[np.int64], matrix: NDArray[np.float64], what: str) -> Disagreement:
    """Pass with chance 1 - 2 LEVEL if the counts were drawn from the matrix."""
    BUDGET.spend(2)  # cells and Pearson
    found = disagreement(counts, matrix)
    assert found.p > LEVEL, (what, found)
    return found


# ---- the kernel at a batch: all five mixtures on the same words, in one compiled function


class Step(NamedTuple):
    """One step of many chains; structures by index."""

    target: NDArray[np.int32]
    proposal: NDArray[np.int32]
    inside: NDArray[np.bool_]
    move: NDArray[np.int32]
    accepted: NDArray[np.bool_]
    rate: NDArray[np.floating[Any]]
    log_hastings: NDArray[np.floating[Any]]
    evaluations: NDArray[np.int32]


KERNELS = {edit: build_kernel(tuple(SHARES[edit].values())) for edit in SHARES} | {
    UNEVEN: build_kernel(UNEVEN_PROBABILITIES)
}
traces: list[None] = []


def mixture(words: jax.Array, state: State, tables: Tables, temperature: float) -> tuple[State, Info]:
    traces.append(None)
    return KERNELS[MIXTURE](words, state, tables, temperature)


evaluate = jax.jit(jax.vmap(init, (0, None, None)))
compiled = jax.jit(mixture)
batched = jax.vmap(compiled, (0, 0, None, None))


def index_of(tables: Tables, position: jax.Array) -> jax.Array:
    """Place of a structure in ``Grammar.structures``."""
    index = jnp.zeros((), jnp.int32)
    for v in range(position.shape[0]):
        index = index * jnp.asarray(tables.sizes)[v] + position[v]
    return index


def inside(tables: Tables, position: jax.Array) -> jax.Array:
    return ((position >= 0) & (position < jnp.asarray(tables.sizes))).all()


def step_of(tables: Tables, after: State, info: Info, log_hastings: jax.Array) -> Step:
    return Step(
        index_of(tables, after.position),
        index_of(tables, info.proposal.position),
        inside(tables, after.position) & inside(tables, info.proposal.position),
        info.move,
        info.accepted,
        info.acceptance_rate,
        log_hastings,
        info.energy_evaluations,
    )


def hastings(words: jax.Array, tables: Tables, position: jax.Array, move: Move) -> jax.Array:
    """Log q(reverse) - log q(forward) of what a move proposes."""
    proposed = move(words, tables, position)
    return proposed.log_ratio - (log_prior(tables, proposed.position) - log_prior(tables, position))


def steps_of(
    edits: list[str], words: jax.Array, positions: jax.Array, tables: Tables, temperature: float
) -> dict[str, Step]:
    def one(words: jax.Array, position: jax.Array) -> dict[str, Step]:
        state, steps = init(position, tables, temperature), {}
        # The kernel does not tell the Hastings term; the moves do, together with the ratio of p0.
        terms = jnp.stack([hastings(words, tables, position, move) for move in MOVES.values()])
        for edit in edits:
            after, info = KERNELS[edit](words, state, tables, temperature)
            steps[edit] = step_of(tables, after, info, terms[info.move])
        return steps

    return jax.vmap(one)(words, positions)


step_all = jax.jit(partial(steps_of, [*SHARES]))
"""Each edit alone and the mixture, on the same words."""
step_mixture = jax.jit(partial(steps_of, [MIXTURE]))
step_uneven = jax.jit(partial(steps_of, [UNEVEN]))

EXTREMES = np.array(list(itertools.product([0, 2**31, WORD_RANGE - 1], repeat=WORDS)), np.uint32)
"""Words at the ends of their range, where a rounding or an off-by-one would leave the space."""


def batch(
    name: str, seed: int, draws: int, extremes: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Chains c in structure c modulo n, so that neighbours differ; words from one call."""
    count = len(GRAMMARS[name].structures)
    words = np.array(jax.random.bits(jax.random.key(seed), (draws * count, WORDS), jnp.uint32))
    if extremes:
        words[: len(EXTREMES) * count] = np.repeat(EXTREMES, count, axis=0)
    return np.arange(len(words)) % count, words


def tally(source: NDArray[np.int64], target: NDArray[np.int32], count: int) -> NDArray[np.int64]:
    return np.bincount(source * count + target, minlength=count**2).reshape(count, count)


def chosen(step: Step, which: Any) -> Step:
    return Step(*(leaf[which] for leaf in step))


class Counts(NamedTuple):
    proposed: dict[str, NDArray[np.int64]]
    moved: dict[str, NDArray[np.int64]]
    moves: dict[str, NDArray[np.int64]]
    rate_error: dict[str, float]


@cache
def one_step(name: str, temperature: float) -> Counts:
    """Float32: what the kernels proposed and did from every structure, and how far their acceptance rates
    were off.

    In the figure each edit also runs alone; in the irregular grammar its draws are those of the mixture,
    which compiles in a third of the time.
    """
    count, some = len(GRAMMARS[name].structures), slice(2**17)
    source, words = batch(name, SEEDS[name, temperature], DRAWS[name])
    run = step_all if name == "figure" else step_mixture
    steps = jax.device_get(run(words, positions_of(name)[source], tables_of(name), temperature))
    assert all(step.inside.all() for step in steps.values())
    sources = dict.fromkeys(steps, source)
    for number, edit in enumerate(EDITS):
        drawn = steps[MIXTURE].move == number
        mixed = chosen(steps[MIXTURE], drawn)
        if edit in steps:  # a step of the mixture is a step of the edit that it drew
            alone = chosen(steps[edit], drawn)
            np.testing.assert_array_equal(mixed.proposal, alone.proposal)
            assert (
                mixed.accepted != alone.accepted
            ).mean() <= FLOAT32  # u may fall between two roundings of one rate
        else:
            steps[edit], sources[edit] = mixed, source[drawn]
    return Counts(
        {edit: tally(sources[edit], step.proposal, count) for edit, step in steps.items()},
        {edit: tally(sources[edit], step.target, count) for edit, step in steps.items()},
        {edit: np.bincount(step.move, minlength=len(MOVES))[None] for edit, step in steps.items()},
        {
            edit: terms_error(name, temperature, edit, sources[edit][some], chosen(steps[edit], some))[1]
            for edit in EDITS
        },
    )


@cache
def hastings_values(name: str, edit: str) -> NDArray[np.float64]:
    """(K, n, n): the different Hastings terms of the ways from i to j; NaN where there are fewer than K."""
    found, count = ways_of(name, edit), len(GRAMMARS[name].structures)
    values: dict[tuple[int, int], set[float]] = {}
    for i, j, term in zip(
        found.source.tolist(), found.target.tolist(), found.log_hastings.round(12).tolist(), strict=True
    ):
        values.setdefault((i, j), set()).add(term + 0.0)
    dense = np.full((max(map(len, values.values())), count, count), np.nan)
    for (i, j), terms in values.items():
        dense[: len(terms), i, j] = sorted(terms)
    return dense


def terms_error(
    name: str, temperature: float, edit: str, source: NDArray[np.int64], step: Step
) -> tuple[float, float, int, int]:
    """Largest errors of log_hastings and acceptance rate; ways that exist, and ways that were met."""
    assert not np.isnan(step.log_hastings).any()
    values, log_densities = hastings_values(name, edit), GRAMMARS[name].log_densities(temperature)
    offers = values[:, source, step.proposal]
    assert not np.isnan(offers).all(0).any(), "proposed a structure that the edit cannot reach"
    errors = np.where(np.isnan(offers), np.inf, np.abs(offers - step.log_hastings))
    which = errors.argmin(0)
    terms = np.take_along_axis(offers, which[None], 0)[0]
    rates = np.exp(np.minimum(0.0, log_densities[step.proposal] - log_densities[source] + terms))
    met = np.zeros(values.shape, bool)
    met[which, source, step.proposal] = True
    return (
        errors.min(0).max(),
        np.abs(rates - step.rate).max(),
        int((~np.isnan(values)).sum()),
        int(met.sum()),
    )


# ---- the reference itself


def test_the_edits_are_the_ones_defined():
    assert [*MOVES] == [*EDITS]
    assert WORDS == 3
    assert sum(MOVE_PROBABILITIES) == pytest.approx(1)
    assert len(MOVE_PROBABILITIES) == len(EDITS)
    assert (len(FIGURE.structures), len(IRREGULAR.structures), len(BARE.structures)) == (243, 144, 6)


@pytest.mark.parametrize("name", GRAMMARS)
@tempered
def test_reference_matrices_keep_the_target(name: str, temperature: float):
    built = GRAMMARS[name]
    target, log_densities = built.target(temperature), built.log_densities(temperature)
    for edit in SHARES:
        found = ways_of(name, edit)
        matrix = transition_matrix(found, log_densities)
        flow = target[:, None] * matrix
        assert matrix.min() >= 0, edit
        np.testing.assert_allclose(matrix.sum(1), 1, atol=1e-12, err_msg=edit)
        np.testing.assert_allclose(proposal_matrix(found, len(target)).sum(1), 1, atol=1e-12, err_msg=edit)
        np.testing.assert_allclose(flow, flow.T, atol=1e-8, err_msg=edit)
        np.testing.assert_allclose(
            flow, flow.T, rtol=1e-9, atol=0, err_msg=edit
        )  # also where the target is e^-25
        np.testing.assert_allclose(target @ matrix, target, atol=1e-8, err_msg=edit)
    assert connected_components(matrix > 0, connection="strong")[0] == 1, "the mixture reaches everything"


@rich
def test_targets_and_hastings_terms_are_worth_testing_on(name: str):
    """Peaked, asymmetric, with flagged structures; every edit goes somewhere; Hastings terms are not all
    zero."""
    built = GRAMMARS[name]
    assert built.target(SEARCH_TEMPERATURE).max() > 8 / len(built.structures)
    assert len(np.unique(built.scores.round(12))) == len(built.structures)
    assert 0 < sum(map(built.flagged, built.structures)) < len(built.structures)
    for edit in EDITS:
        found = ways_of(name, edit)
        assert (found.source != found.target).any(), edit
        assert found.probability.min() > 0
    asymmetric = [edit for edit in EDITS if np.ptp(ways_of(name, edit).log_hastings) > 0.5]
    swaps = (
        ["evidence-policy swap"] if name == "irregular" else []
    )  # in the figure every candidate has one option a group
    assert asymmetric == ["single-slot replacement", *swaps, TRIGGER_EVIDENCE]
    assert (np.abs(ways_of(name, TRIGGER_EVIDENCE).log_hastings) > 0.1).mean() > 0.5


# ---- exact: the kernel in float64


@sampled
@tempered
def test_densities_are_the_definitions(name: str, temperature: float, say: Callable[[str], None]):
    """Score, feasibility and logdensity of every structure in float64; logdensity differences in both
    precisions."""
    built, positions = GRAMMARS[name], positions_of(name)
    exact = built.log_densities(temperature)
    with jax.enable_x64(True):
        state = jax.device_get(evaluate(positions, tables_of(name), temperature))
    assert state.logdensity.dtype == np.float64
    np.testing.assert_array_equal(state.position, positions)
    np.testing.assert_array_equal(state.feasible, [not built.flagged(a) for a in built.structures])
    np.testing.assert_allclose(state.score, built.scores, atol=EXACT)
    np.testing.assert_allclose(state.logdensity, exact, atol=EXACT)
    with jax.enable_x64(False):
        rough = jax.device_get(evaluate(positions, tables_of(name), temperature))
    assert rough.logdensity.dtype == np.float32
    np.testing.assert_array_equal(rough.feasible, state.feasible)
    error = np.abs(
        np.subtract.outer(rough.logdensity, rough.logdensity) - np.subtract.outer(exact, exact)
    ).max()
    bound = float32_bound(built, temperature)
    assert error <= bound <= FLOAT32
    say(f"{name}, tau {temperature}: float32 logdensity differences off by {error:.1e}, bound {bound:.1e}")


def float32_bound(built: Grammar, temperature: float) -> float:
    """Bound to first order on the float32 error of a difference of logdensities; u is half a unit in the last
    place of 1.

    The features are not negative and w . phi <= 1, so each of the V + P look-ups and additions rounds by at
    most u, the flags in the last bits change the look-ups by 2 u together, and lambda, once, rounds by (1 + 2
    lambda) u. Dividing by tau magnifies that and rounds tau and the quotient. log p0 is V look-ups that
    together round by its size, and V additions. Last the sum, and the difference of two such sums.
    """
    u, variables = 2.0**-24, len(built.sizes)
    largest = max(1.0, built.penalty)
    score = (2 * (variables + len({*built.pairwise, *built.pair_flags})) + 3 + 2 * built.penalty) * u
    prior = np.abs(built.log_priors).max()
    total = largest / temperature + prior
    each = score / temperature + 2 * largest / temperature * u + (1 + variables) * prior * u + total * u
    return 2 * each + 2 * total * u


@sampled
@tempered
def test_acceptance_and_hastings_terms_are_exact(name: str, temperature: float, say: Callable[[str], None]):
    """Float64: a mixture meets every way of every edit; Hastings term, acceptance rate and verdict are the
    reference's."""
    sources, words = batch(name, seed=17, draws=ENOUGH[name], extremes=True)
    log_u = np.log((words[:, 2] + 0.5) / WORD_RANGE)
    log_densities = GRAMMARS[name].log_densities(temperature)
    with jax.enable_x64(True):
        steps = jax.device_get(step_uneven(words, positions_of(name)[sources], tables_of(name), temperature))[
            UNEVEN
        ]
    assert steps.log_hastings.dtype == steps.rate.dtype == np.float64
    assert steps.inside.all()
    assert (steps.evaluations == 1).all()
    log_ratios = log_densities[steps.proposal] - log_densities[sources] + steps.log_hastings
    np.testing.assert_array_equal(steps.accepted, log_u < np.minimum(0.0, log_ratios))
    np.testing.assert_array_equal(steps.target, np.where(steps.accepted, steps.proposal, sources))
    assert steps.accepted[steps.proposal == sources].all(), "a self-loop is always accepted"
    for number, edit in enumerate(EDITS):
        drawn = steps.move == number
        source, step = sources[drawn], chosen(steps, drawn)
        hastings_error, rate_error, existing, met = terms_error(name, temperature, edit, source, step)
        assert hastings_error < EXACT, edit
        assert rate_error < EXACT, edit
        assert met == existing, edit
        assert not step.accepted.all(), edit
        off = f"Hastings off by {hastings_error:.1e}, rate by {rate_error:.1e}"
        say(f"{name}, tau {temperature}, {edit}: {met} ways, {off}, {step.accepted.mean():.0%} accepted")


def test_every_word_of_a_choice_is_counted():
    """Whole numbers of words: each alternative of ``choose`` and each outcome of an alias table has its due,
    within one word."""
    rng = np.random.default_rng(29)
    words, counts = rng.integers(0, WORD_RANGE, 10_000), (2 ** rng.uniform(0, 32, 10_000)).astype(np.int64)
    words[:3], counts[:3] = WORD_RANGE - 1, [WORD_RANGE - 1, 2**16, 2**16 - 1]
    place, rest = jax.device_get(choose(words.astype(np.uint32), counts.astype(np.uint32)))
    products = [int(word) * int(count) for word, count in zip(words, counts, strict=True)]
    assert [product >> 32 for product in products] == place.tolist()
    assert [product % WORD_RANGE for product in products] == rest.tolist()
    for n, spread in itertools.product([1, 2, 3, 7, 24, 200], [0.05, 0.5, 50.0, None]):
        due = np.full(n, 1 / n) if spread is None else rng.dirichlet(np.full(n, spread))
        threshold, other = alias_table(due)
        drawn, begins = [0] * n, [-(-column * WORD_RANGE // n) for column in range(n + 1)]
        for column, (begin, end) in enumerate(itertools.pairwise(begins)):
            below = min(max(int(threshold[column]), begin), end) - begin
            drawn[column] += below
            drawn[other[column]] += end - begin - below
        assert sum(drawn) == WORD_RANGE
        assert min(drawn) >= 1, "nothing that has a probability is left out"
        raised = (due * WORD_RANGE < 1).sum()
        off = np.abs(np.array(drawn) - due * WORD_RANGE)
        assert off.max() <= 1.01 + raised
        assert (np.delete(off, due.argmax()) <= 1.01).all()


# ---- frequencies of one step, float32, a million chains in one batch


@sampled
@tempered
def test_one_step_frequencies(name: str, temperature: float, say: Callable[[str], None]):
    """From every structure, proposals against Q and next structures against P, for each edit alone and for
    the mixture."""
    log_densities = GRAMMARS[name].log_densities(temperature)
    counts = one_step(name, temperature)
    for edit in SHARES:
        found = ways_of(name, edit)
        what = f"{name}, tau {temperature}, {edit}"
        proposed = agree(
            counts.proposed[edit], proposal_matrix(found, len(log_densities)), f"{what}, proposals"
        )
        moved = agree(counts.moved[edit], transition_matrix(found, log_densities), f"{what}, steps")
        say(
            f"{what}: largest deviation {proposed.deviation:.2f} (Q) {moved.deviation:.2f} (P) SE, "
            f"Pearson {proposed.pearson:+.2f} {moved.pearson:+.2f} SE"
        )
        if edit != MIXTURE:
            assert counts.rate_error[edit] < FLOAT32
            assert np.flatnonzero(counts.moves[edit]) == [[*EDITS].index(edit)]
    agree(
        counts.moves[MIXTURE],
        np.array([MOVE_PROBABILITIES]),
        f"{name}, tau {temperature}, edits of the mixture",
    )


def test_a_space_without_swaps_and_joints_stays_put_on_those_edits(say: Callable[[str], None]):
    built, tables, count = BARE, tables_of("bare"), len(BARE.structures)
    words = np.array(jax.random.bits(jax.random.key(5), (2**14 * count, WORDS), jnp.uint32))
    words = np.concatenate([words, np.repeat(EXTREMES, count, axis=0)])
    source = np.arange(len(words)) % count

    @jax.jit
    def run(words: jax.Array, positions: jax.Array) -> tuple[jax.Array, Info]:
        states = jax.vmap(init, (0, None, None))(positions, tables, 0.5)
        after, info = jax.vmap(KERNELS[MIXTURE], (0, 0, None, None))(words, states, tables, 0.5)
        return jax.vmap(index_of, (None, 0))(tables, after.position), info

    target, info = jax.device_get(run(words, positions_of("bare")[source]))
    proposal = np.ravel_multi_index(info.proposal.position.T, built.sizes)  # raises outside the space
    stays = np.isin(info.move, [2, 3])
    np.testing.assert_array_equal(proposal[stays], source[stays])
    np.testing.assert_array_equal(info.acceptance_rate[stays], 1)
    assert info.accepted[proposal == source].all(), "also at the greatest acceptance word, in float32"
    assert (info.energy_evaluations == 1).all()
    random = slice(0, len(words) - len(EXTREMES) * count)
    found = ways_of("bare", MIXTURE)
    first = agree(
        tally(source[random], proposal[random], count), proposal_matrix(found, count), "bare, proposals"
    )
    second = agree(
        tally(source[random], target[random], count),
        transition_matrix(found, built.log_densities(0.5)),
        "bare, steps",
    )
    say(f"bare: largest deviation {first.deviation:.2f} (Q) {second.deviation:.2f} (P) SE")


# ---- the frequency test can fail


@tempered
def test_a_wrong_hastings_term_would_show(temperature: float):
    """The matrix with that mistake breaks stationarity, and the counts tell it from the right one."""
    target, log_densities = IRREGULAR.target(temperature), IRREGULAR.log_densities(temperature)
    for edit in ("single-slot replacement", "evidence-policy swap", TRIGGER_EVIDENCE):
        for factor in (0.0, -1.0):  # dropped, reversed
            found = ways_of("irregular", edit)
            wrong = transition_matrix(found._replace(log_hastings=factor * found.log_hastings), log_densities)
            assert np.abs(target @ wrong - target).max() > 1e-4, (edit, factor)
            assert disagreement(one_step("irregular", temperature).moved[edit], wrong).p < MUTANT_LEVEL, (
                edit,
                factor,
            )


def test_wrong_kernels_fail_the_frequency_test(say: Callable[[str], None]):
    """The trigger-evidence edit put together by hand: right as it is, wrong without Hastings or with a
    neighbour chain's row."""
    name, temperature = "figure", SEARCH_TEMPERATURE
    tables, count = tables_of(name), len(FIGURE.structures)
    evidence = int(tables.joints.variables[0, 1])
    source, words = batch(name, seed=23, draws=1024)

    @jax.jit
    def run(words: jax.Array, positions: jax.Array) -> dict[str, jax.Array]:
        def finish(candidates: State, log_hastings: jax.Array) -> jax.Array:
            accepted, _ = jax.vmap(accept)(
                words[:, 2], candidates.logdensity - states.logdensity + log_hastings
            )
            after = jnp.where(accepted[:, None], candidates.position, states.position)
            return jax.vmap(index_of, (None, 0))(tables, after)

        edit = MOVES[TRIGGER_EVIDENCE]
        wanted = jax.vmap(edit, (0, None, 0))(words, tables, positions).position
        log_hastings = jax.vmap(hastings, (0, None, 0, None))(words, tables, positions, edit)
        neighbours = wanted.at[:, evidence].set(jnp.roll(wanted[:, evidence], 1))
        states, candidates, strangers = (
            evaluate(places, tables, temperature) for places in (positions, wanted, neighbours)
        )
        return {
            "right": finish(candidates, log_hastings),
            "no Hastings term": finish(candidates, jnp.zeros_like(log_hastings)),
            "a neighbour's Hastings term": finish(candidates, jnp.roll(log_hastings, 1)),
            "a neighbour's row": finish(strangers, log_hastings),
        }

    matrix = transition_matrix(ways_of(name, TRIGGER_EVIDENCE), FIGURE.log_densities(temperature))
    for mutant, target in jax.device_get(run(words, positions_of(name)[source])).items():
        found = disagreement(tally(source, target, count), matrix)
        say(
            f"{mutant}: p {found.p:.1e}, largest deviation {found.deviation:.1f} SE, Pearson {found.pearson:+.1f} SE"
        )
        # The right one draws on no budget: it is the kernel of test_one_step_frequencies, held to the
        # mutants' level.
        assert (found.p < MUTANT_LEVEL) == (mutant != "right"), mutant


def test_the_pearson_test_sees_what_no_cell_shows():
    """Small departures everywhere: no cell stands out, the sum does."""
    rng = np.random.default_rng(0)
    matrix = rng.dirichlet(np.full(20, 5.0), size=200)
    tilted = matrix * (1 + 0.05 * rng.choice([-1, 1], matrix.shape))
    counts = rng.multinomial(4096, tilted / tilted.sum(1, keepdims=True))
    found = disagreement(counts, matrix)
    assert found.p < LEVEL
    assert found.deviation < 7
    assert disagreement(rng.multinomial(4096, matrix), matrix).p > LEVEL


# ---- the chain


def run_chains(
    key: jax.Array, positions: jax.Array, tables: Tables, temperature: float, steps: int
) -> tuple[State, State, jax.Array]:
    """Final states, the same evaluated afresh, and energy evaluations of each chain; words of all chains
    from one call per step."""
    kernel = jax.vmap(KERNELS[MIXTURE], (0, 0, None, None))

    def body(carry: tuple[State, jax.Array], key: jax.Array) -> tuple[tuple[State, jax.Array], None]:
        states, evaluations = carry
        states, info = kernel(
            jax.random.bits(key, (len(positions), WORDS), jnp.uint32), states, tables, temperature
        )
        return (states, evaluations + info.energy_evaluations), None

    start = (
        jax.vmap(init, (0, None, None))(positions, tables, temperature),
        jnp.zeros(len(positions), jnp.int32),
    )
    states, evaluations = jax.lax.scan(body, start, jax.random.split(key, steps))[0]
    return states, jax.vmap(init, (0, None, None))(states.position, tables, temperature), evaluations


def test_stationary_chains_stay_stationary(say: Callable[[str], None]):
    """2^15 chains from exact draws (2^13 in the fast tier), 40 steps: the last structures are again exact
    draws, jointly and slot by slot."""
    chains, steps, count = tier(2**13, 2**15), 40, len(IRREGULAR.structures)
    target = IRREGULAR.target(SEARCH_TEMPERATURE)
    start = np.random.default_rng(31).choice(count, chains, p=target)
    positions = positions_of("irregular")[start]
    run = jax.jit(run_chains, static_argnums=4)
    results = run(jax.random.key(37), positions, tables_of("irregular"), SEARCH_TEMPERATURE, steps)
    states, fresh, evaluations = jax.device_get(results)
    final = np.ravel_multi_index(states.position.T, IRREGULAR.sizes)
    joint = agree(np.bincount(final, minlength=count)[None], target[None], "long run, joint")
    say(f"long run, joint: largest deviation {joint.deviation:.2f} SE, Pearson {joint.pearson:+.2f} SE")
    moved = (states.position != positions).any(1).mean()
    assert moved > 0.5, "the chains have to go somewhere for this to mean anything"
    for v, size in enumerate(IRREGULAR.sizes):
        marginal = np.bincount(positions_of("irregular")[:, v], weights=target, minlength=size)
        found = agree(
            np.bincount(states.position[:, v], minlength=size)[None], marginal[None], f"long run, slot {v}"
        )
        say(f"long run, slot {v}: largest deviation {found.deviation:.2f} SE")
    # What a state carries along is the density of where it stands.
    np.testing.assert_array_equal(states.feasible, fresh.feasible)
    np.testing.assert_allclose(states.score, fresh.score, atol=FLOAT32 * SEARCH_TEMPERATURE)
    np.testing.assert_allclose(states.logdensity, fresh.logdensity, atol=FLOAT32)
    assert (evaluations == steps).all()


def same_shapes() -> Grammar:
    """Smaller than the figure and unlike it, for its compiled function."""
    return grammar(
        4,
        candidates=[[0, 1], [0], [0, 0], [0, 1, 1], [0, 1]],
        pairs=[(0, 2), (0, 3), (2, 4), (3, 4)],
        swaps={3: [0, 0, 1]},
        joints=[(3, 2)],
    )


def test_one_trace_serves_all_tables_of_a_shape():
    other = same_shapes()
    reachable = transition_matrix(ways(other, SHARES[MIXTURE]), other.log_densities(0.5)) > 0
    source = np.arange(243) % len(other.structures)
    runs = [
        (positions_of("figure"), tables_of("figure"), SEARCH_TEMPERATURE),
        (
            np.array(other.structures, np.int32)[source],
            compile_tables(other, pad_options=3, pad_pairs=4),
            0.5,
        ),
    ]
    words, counts = np.array(jax.random.bits(jax.random.key(53), (243, WORDS), jnp.uint32)), []
    for positions, tables, temperature in runs:
        state, _ = batched(words, evaluate(positions, tables, temperature), tables, temperature)
        counts.append(len(traces))
    assert counts[0] == counts[1] > 0
    target = np.ravel_multi_index(np.asarray(state.position).T, other.sizes)
    assert reachable[source, target].all()
    assert (target != source).any()


# ---- the interface


def equal(left: Any, right: Any) -> bool:
    return jax.tree.all(jax.tree.map(lambda a, b: bool((np.asarray(a) == np.asarray(b)).all()), left, right))


def assert_close(left: Any, right: Any):
    """Everything discrete is equal; floats are within the float32 bound, as a compiler may add in another
    order."""
    for a, b in zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, atol=FLOAT32 if jnp.issubdtype(a.dtype, jnp.floating) else 0, rtol=0)


def test_step_is_the_transition_and_keys_matter():
    tables = tables_of("figure")
    algorithm = samplers.metropolis(tables, SEARCH_TEMPERATURE)
    start = jax.jit(algorithm.init)(positions_of("figure")[57])
    everything = jax.device_get(evaluate(positions_of("figure"), tables, SEARCH_TEMPERATURE))
    assert_close(start, jax.tree.map(lambda leaf: leaf[57], everything))
    step = jax.jit(algorithm.step)
    keys = jax.random.split(jax.random.key(41), 64)
    results = [step(key, start) for key in keys]
    assert equal(step(keys[0], start), results[0]), "the same key repeats"
    assert len({(int(info.move), tuple(info.proposal.position.tolist())) for _, info in results}) > 10
    assert len({tuple(state.position.tolist()) for state, _ in results}) > 1
    words = np.array([jax.random.bits(key, (WORDS,), jnp.uint32) for key in keys])
    same = jax.tree.map(lambda leaf: np.broadcast_to(leaf, (243, *leaf.shape)), jax.device_get(start))
    transitions = jax.device_get(batched(np.resize(words, (243, WORDS)), same, tables, SEARCH_TEMPERATURE))
    for c, result in enumerate(results):
        assert_close(result, jax.tree.map(lambda leaf, c=c: leaf[c], transitions))


def test_plain_compiled_and_batched_steps_are_equal():
    tables, positions = tables_of("figure"), positions_of("figure")
    words = np.array(jax.random.bits(jax.random.key(43), (len(positions), WORDS), jnp.uint32))
    states = evaluate(positions, tables, SEARCH_TEMPERATURE)
    expected = jax.device_get(batched(words, states, tables, SEARCH_TEMPERATURE))
    assert equal(batched(words, states, tables, SEARCH_TEMPERATURE), expected), "the same words repeat"
    for c in range(0, len(positions), 31):
        state, row = jax.tree.map(lambda leaf, c=c: leaf[c], (states, expected))
        assert_close(compiled(words[c], state, tables, SEARCH_TEMPERATURE), row)
    assert_close(KERNELS[MIXTURE](words[c], state, tables, SEARCH_TEMPERATURE), row)  # plain: not compiled


def test_info_tells_the_proposal_also_when_it_is_rejected():
    tables, positions = tables_of("figure"), positions_of("figure")
    propose = jax.jit(
        lambda words: jnp.stack(
            [jax.vmap(move, (0, None, 0))(words, tables, positions).position for move in MOVES.values()]
        )
    )
    before = jax.device_get(evaluate(positions, tables, SEARCH_TEMPERATURE))
    rejections = 0
    for seed in range(47, 51):
        words = np.array(jax.random.bits(jax.random.key(seed), (len(positions), WORDS), jnp.uint32))
        after, info = jax.device_get(batched(words, before, tables, SEARCH_TEMPERATURE))
        rejected = ~info.accepted
        rejections += rejected.sum()
        proposals = np.take_along_axis(np.asarray(propose(words)), info.move[None, :, None], 0)[0]
        np.testing.assert_array_equal(info.proposal.position, proposals)
        assert (info.proposal.position[rejected] != positions[rejected]).any(1).all()
        fresh = jax.device_get(evaluate(info.proposal.position, tables, SEARCH_TEMPERATURE))
        for proposed, again, kept, old in zip(
            info.proposal[:4], fresh[:4], after[:4], before[:4], strict=True
        ):
            np.testing.assert_allclose(
                proposed, again, atol=FLOAT32 if np.issubdtype(proposed.dtype, np.floating) else 0, rtol=0
            )
            np.testing.assert_array_equal(kept[rejected], old[rejected])
            np.testing.assert_array_equal(kept[~rejected], proposed[~rejected])
        ratio = np.exp(np.minimum(0.0, info.proposal.logdensity - before.logdensity))
        assert (np.abs(ratio - info.acceptance_rate)[info.move == 1] < FLOAT32).all(), (
            "the parameter-only edit has no Hastings term"
        )
        assert (info.energy_evaluations == 1).all()
    assert rejections > 100


def test_the_trigger_evidence_acceptance_uses_its_hastings_term():
    """Acceptance with the term and without differ by more than rounding on most ways: what the mutants above
    rest on."""
    found = ways_of("figure", TRIGGER_EVIDENCE)
    log_densities = FIGURE.log_densities(SEARCH_TEMPERATURE)
    without = acceptance(found._replace(log_hastings=np.zeros_like(found.log_hastings)), log_densities)
    assert (np.abs(acceptance(found, log_densities) - without) > 0.01).mean() > 0.2
