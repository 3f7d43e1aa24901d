"""Coupled rules: seeded spaces of many interacting rules, past any sweep (paper, Method: an And-Or Graph with
more slots).

A set of m coupled rules has V = 5 m variables in the order of ``SLOTS``, rule after rule. Per slot all
rules draw their pools from one shared vocabulary, whose words have parameter tuples, a topic and a side; a
trigger word has a channel, an evidence word an operator, the channels it records, and may be strict about
them. Every table is worth at most ``WORTH``, so that w . phi lies between 0 and ``WORTH`` times the number
of tables:

- a unary table per slot, uniform;
- two pair tables inside a rule (trigger and norm, norm and evidence), which depend on the topics;
- one flag table inside a rule: strict evidence that does not record the trigger's channel. Option 0 of a
  pool records every channel, so that some structure is always feasible. lambda is subtracted once, however
  many rules are flagged: where many are, no single edit changes the score by it, and local moves have no
  slope towards h (``strict=1`` makes such sets);
- coupling tables between the norms, and between the triggers, of two rules: ``WORTH * (1 + J * s * s' * o)
  / 2`` with J = +1 or -1, the sides s, s' = +1 or -1 of the two words, and an overlap o of their topics, 1
  unless couplings are graded.

A coupling is *satisfied* where its entry is above ``WORTH / 2``, that is where s * s' = J. Couplings run
around one ring of all rules and along random chords. The signs are random but for one, which makes their
product around the ring -1 while that of the sides is always +1: from three rules on, no structure satisfies
all couplings (a frustrated graph).

Like a real goal's tables, these have few distinct rows and columns. How hard a set is to prove: with
couplings not graded, CP-SAT proves the optimum of 32 rules of 64 options in 5 to 15 s on two cores; with
``grading=0.5`` its bound is 9 % above its best structure after a minute.

Examples
--------
>>> tables = coupled_rules(3, 4, seed=0)
>>> tables.sizes.shape, tables.unary.shape
((15,), (15, 4))
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnrs_ppl.errors import InputError
from gnrs_ppl.models.energy import Tables, contract
from gnrs_ppl.models.space import build_space
from gnrs_ppl.rule.types import SLOTS

WORTH = 1 / len(SLOTS)
"""Most that one table adds to s_search: the five slots of a rule add up to one."""
LONGEST_CANDIDATE = 4
"""Most parameter tuples of a candidate."""
OPERATORS, CHANNELS = 3, 4
RECORDED = 0.7
"""How often an evidence word records a channel."""
CAPABLE_FAVOUR = 9.0
"""How much likelier the trigger-evidence edit proposes evidence that records the trigger's channel."""
LARGEST_TABLES = 4 * 2**30
"""Bytes of float64 tables that are made; making them takes about three times as much for a moment."""
TRIGGER, NORM, EVIDENCE = (SLOTS.index(name) for name in ("trigger", "norm", "evidence"))


class _Vocabulary(NamedTuple):
    """Words of one slot, a candidate's side by side, and what they share with the other words of their
    candidate.
    """

    candidate: NDArray[np.int64]
    topic: NDArray[np.int64]
    side: NDArray[np.int64]
    operator: NDArray[np.int64]
    channel: NDArray[np.int64]
    records: NDArray[np.bool_]
    strict: NDArray[np.bool_]
    overlap: NDArray[np.float64]


def coupled_rules(
    rules: int,
    options: int,
    seed: int,
    *,
    density: float = 0.1,
    topics: int = 8,
    strict: float = 0.1,
    grading: float = 0.0,
) -> Tables:
    """The tables of a set of coupled rules (NumPy, float64), with swaps and joints of every rule so that all
    four edits act.

    Parameters
    ----------
    rules : int
        m, at least 1; the set has 5 m variables.
    options : int
        Options the tables have room for, at least 2; each pool has between half as many and as many.
    seed : int
        One seed gives one set.
    density : float
        Share of the pairs of rules, those of the ring apart, that are coupled; in expectation.
    topics : int
        Topics of the words of a slot; pair tables have at most twice as many distinct rows.
    strict : float
        Share of the evidence candidates that are flagged with triggers they do not record, about 0.3 of the
        pairs.
    grading : float
        How far the overlap of two topics may fall below 1 (uniformly between).

    Returns
    -------
    Tables
        Its penalty is twice the greatest w . phi that the tables could add up to (``hard_penalty``).

    Raises
    ------
    InputError
        For numbers out of range, and tables that would not fit (with the bytes).
    """
    for name, value, least in (
        ("rules", rules, 1),
        ("options", options, 2),
        ("topics", topics, 1),
        ("seed", seed, 0),
    ):
        if value < least:
            raise InputError(
                f"{value} is too small", f"give at least {least}", source="arguments", field=name
            )
    for name, share in (("density", density), ("strict", strict), ("grading", grading)):
        if not 0 <= share <= 1:
            raise InputError(
                f"{share} is not between 0 and 1", "give a number from 0 to 1", source="arguments", field=name
            )
    rng = np.random.default_rng(seed)
    couplings = [(NORM, *edge) for edge in _signed_graph(rng, rules, density)]
    couplings += [(TRIGGER, *edge) for edge in _signed_graph(rng, rules, density)]
    _check_bytes(rules, options, len(couplings))

    vocabularies = [_vocabulary(rng, 2 * options, topics, strict, grading) for _ in SLOTS]
    fits = {slots: WORTH * rng.random((topics, topics)) for slots in ((TRIGGER, NORM), (NORM, EVIDENCE))}
    candidates, unary, pairwise, pair_flags, swaps, joints = [], [], {}, {}, {}, {}
    pools = [[_pool(rng, options) for _ in SLOTS] for _ in range(rules)]
    for r, pool in enumerate(pools):
        first = r * len(SLOTS)
        for vocabulary, words in zip(vocabularies, pool, strict=True):
            candidates.append(np.unique(vocabulary.candidate[words], return_inverse=True)[1].tolist())
            unary.append(WORTH * rng.random((len(words), 1)))
        for (left, right), fit in fits.items():
            rows, columns = vocabularies[left].topic[pool[left]], vocabularies[right].topic[pool[right]]
            pairwise[first + left, first + right] = fit[rows][:, columns, None]
        policies = vocabularies[EVIDENCE]
        recorded = policies.records[pool[EVIDENCE]][:, vocabularies[TRIGGER].channel[pool[TRIGGER]]].T
        pair_flags[first + TRIGGER, first + EVIDENCE] = ~recorded & policies.strict[pool[EVIDENCE]]
        swaps[first + EVIDENCE] = policies.operator[pool[EVIDENCE]].tolist()
        weights = 1 + CAPABLE_FAVOUR * recorded
        joints[first + TRIGGER, first + EVIDENCE] = weights / weights.sum(axis=1, keepdims=True)
    for slot, left, right, sign in couplings:
        table = _coupling(vocabularies[slot], pools[left][slot], pools[right][slot], sign)
        pairwise[left * len(SLOTS) + slot, right * len(SLOTS) + slot] = table[..., None]

    # build_space wants features in [0, 1]: divide by what the tables could add up to, and give that as the
    # weight
    total = WORTH * (len(unary) + len(pairwise))
    space = build_space(
        candidates,
        [table / total for table in unary],
        {pair: table / total for pair, table in pairwise.items()},
        pair_flags=pair_flags,
        swaps=swaps,
        joints=joints,
        pad_options=options,
    )
    return contract(space, np.array([total]))


def _signed_graph(rng: np.random.Generator, rules: int, density: float) -> list[tuple[int, int, int]]:
    """Edges (left, right, sign), left < right: a ring whose signs multiply to -1, and random chords."""
    order = rng.permutation(rules).tolist()
    ring = {
        (min(pair), max(pair))
        for pair in zip(order, order[1:] + order[:1], strict=True)
        if pair[0] != pair[1]
    }
    every = [(left, right) for left in range(rules) for right in range(left + 1, rules)]
    edges = [
        edge
        for edge, chance in zip(every, rng.random(len(every)), strict=True)
        if edge in ring or chance < density
    ]
    signs = dict(zip(edges, rng.choice([-1, 1], len(edges)).tolist(), strict=True))
    if ring:
        signs[max(ring)] *= -int(np.prod([signs[edge] for edge in sorted(ring)]))
    return [(left, right, sign) for (left, right), sign in signs.items()]


def _vocabulary(
    rng: np.random.Generator, words: int, topics: int, strict: float, grading: float
) -> _Vocabulary:
    """Random words; the first records every channel."""
    candidate = np.repeat(np.arange(words), rng.integers(1, LONGEST_CANDIDATE + 1, words))[:words]
    candidates = int(candidate[-1]) + 1
    records = rng.random((candidates, CHANNELS)) < RECORDED
    records[0] = True
    # As many candidates of each side, and of each topic, to within one or two: of few words all would often
    # be of one side.
    shuffled = rng.permutation(candidates)
    # Not the first, which records everything.
    strict_ones = rng.permutation(np.arange(1, candidates))[: math.ceil(strict * (candidates - 1))]
    overlap = np.triu(1 - grading * rng.random((topics, topics)), 1)
    return _Vocabulary(
        candidate=candidate,
        topic=(shuffled // 2 % topics)[candidate],
        side=(2 * (shuffled % 2) - 1)[candidate],
        operator=rng.integers(0, OPERATORS, words),
        channel=rng.integers(0, CHANNELS, candidates)[candidate],
        records=records[candidate],
        strict=np.isin(candidate, strict_ones),
        overlap=overlap + overlap.T + np.eye(topics),
    )


def _pool(rng: np.random.Generator, options: int) -> NDArray[np.int64]:
    """Words of a pool, the vocabulary's first among them, in the vocabulary's order."""
    size = int(rng.integers(-(-options // 2), options + 1))
    others = rng.choice(np.arange(1, 2 * options), size - 1, replace=False)
    return np.concatenate([[0], np.sort(others)])


def _coupling(
    vocabulary: _Vocabulary, left: NDArray[np.int64], right: NDArray[np.int64], sign: int
) -> NDArray[np.float64]:
    agreement = (
        np.outer(vocabulary.side[left], vocabulary.side[right])
        * vocabulary.overlap[vocabulary.topic[left]][:, vocabulary.topic[right]]
    )
    table: NDArray[np.float64] = WORTH * (1 + sign * agreement) / 2
    return table


def _check_bytes(rules: int, options: int, couplings: int) -> None:
    """A pair takes 9 bytes for each two options (value and flag), a joint entry 20."""
    needed = options**2 * (9 * (3 * rules + couplings) + 20 * rules)
    if needed > LARGEST_TABLES:
        problem = (
            f"{rules} rules of {options} options with {couplings} couplings need {needed} bytes, more "
            f"than the {LARGEST_TABLES} allowed"
        )
        raise InputError(
            problem, "ask for fewer options, or a lower density", source="arguments", field="options"
        )
