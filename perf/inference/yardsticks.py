"""The Metropolis kernel beside numba, plain Python, and its random bits alone."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Iterator
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
import scalar

from gnrs_ppl.inference.moves import WORDS
from gnrs_ppl.inference.starts import draw_prior
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE as TAU
from gnrs_ppl.models.energy import Tables
from inference.common import GOALS, QUICK, Row, Size, goal_tables, observed, recorded, seconds_of


@lru_cache
def bits_alone(chains: int, steps: int) -> Callable[[jax.Array], jax.Array]:
    """Steps that are nothing but their random words."""

    def step(kept: jax.Array, key: jax.Array) -> tuple[jax.Array, None]:
        return kept ^ jax.random.bits(key, (WORDS, chains), jnp.uint32), None

    return jax.jit(lambda keys: jax.lax.scan(step, jnp.zeros((WORDS, chains), jnp.uint32), keys)[0])


def yardsticks(size: Size) -> Iterator[Row]:
    if scalar.numba:
        scalar.numba.set_num_threads(min(os.cpu_count() or 1, scalar.numba.config.NUMBA_NUM_THREADS))
        yield {
            "what": "numba, greatest error of its slot marginals",
            "value": max(map(scalar.marginals_off, scalar.SMALL_SPACES)),
        }
    else:
        yield {"what": "numba", "status": "not installed"}
    yield {"what": "words a step", "value": WORDS, "aim": 3, "met": WORDS <= 3}
    for goal in GOALS[-1:] if size is QUICK else GOALS:
        for row in compared(goal_tables()[goal], 3 * size.repeats):
            yield {"goal": goal} | row


def compared(tables: Tables, rounds: int) -> Iterator[Row]:
    """Timed in turn, so that a busy moment of the machine hits all alike; ratios are medians of the rounds'
    ratios."""
    steps, python_steps = 200, 2000
    given, keys = scalar.flat(tables), jax.random.split(jax.random.key(0), steps)
    works: dict[str, tuple[int, Callable[[], float]]] = {}

    def add(chains: int) -> None:
        starts, words = draw_prior(tables, chains, np.random.default_rng(0)), scalar.first_words(chains, 0)
        number = chains * steps
        works[f"metropolis, {chains} chains"] = (
            number,
            lambda: recorded(tables, "metropolis", chains, steps).wall,
        )
        works[f"metropolis, nothing recorded, {chains} chains"] = (
            number,
            lambda: observed(tables, "metropolis", chains, steps).wall,
        )
        works[f"bits alone, {chains} chains"] = (
            number,
            lambda: seconds_of(lambda: bits_alone(chains, steps)(keys)),
        )
        if scalar.numba:
            works[f"numba, {chains} chains"] = (
                number,
                lambda: seconds_of(lambda: scalar.walk_all(given, TAU, steps, words, starts)),
            )

    add(64)
    add(4096)
    works["plain Python, 1 chain"] = (
        python_steps,
        lambda: seconds_of(lambda: scalar.walk_in_python(tables, [0] * len(tables.sizes), python_steps)),
    )
    taken = [{what: work() for what, (_, work) in works.items()} for _ in range(rounds + 1)][1:]
    rates = {what: [number / each[what] for each in taken] for what, (number, _) in works.items()}
    for what, found in rates.items():
        yield {"what": what, "steps/s": statistics.median(found), "fastest": max(found)}
    for kernel in ("metropolis", "metropolis, nothing recorded"):
        ours = rates[f"{kernel}, 4096 chains"]
        for what, aim in (("numba", 1.5), ("bits alone", 0.8)):
            theirs = rates.get(f"{what}, 4096 chains")
            if theirs:
                ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
                row: Row = {
                    "what": f"{kernel} / {what}, 4096 chains",
                    "value": ratio,
                    "of the fastest": max(ours) / max(theirs),
                }
                yield row | {"aim": aim, "met": ratio >= aim}
