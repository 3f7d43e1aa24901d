"""The samplers by name, and what sets each apart: who has to know asks here, and nobody compares names.
Loads no JAX.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from gnrs_ppl.errors import InputError


class Kernel(NamedTuple):
    """Traits of a sampler; those of a kernel that nobody knows, as a file may name one, are the defaults.

    Attributes
    ----------
    settings : tuple of str
        What it takes besides chains, steps, temperature and seed.
    steps : bool
        Its chains go step by step from a start that their superchain shares; the others record no path.
    moves : bool
        Each step is one of the paper's moves, and the draws say which.
    blocks : bool
        A step may change several variables at once.
    exchanges : bool
        A chain is a ladder of replicas, and what it draws is the cold one.
    independent : bool
        Its draws owe nothing to one another: no start, nothing to mix.
    particles : bool
        A chain is a particle of one population and has one draw; steps are mutations.
    solves : bool
        It looks for the optimum: one structure and a bound, at no temperature, however many chains.
    """

    settings: tuple[str, ...] = ()
    steps: bool = False
    moves: bool = False
    blocks: bool = False
    exchanges: bool = False
    independent: bool = False
    particles: bool = False
    solves: bool = False


KERNELS: Final = {
    "metropolis": Kernel(("move_probabilities",), steps=True, moves=True),
    "gibbs": Kernel(("block_probability",), steps=True, blocks=True),
    "informed": Kernel(("balancing",), steps=True),
    "tempering": Kernel(("replicas", "hottest", "move_probabilities"), steps=True, exchanges=True),
    "smc": Kernel(("target_ess", "move_probabilities"), particles=True),
    "exact": Kernel(independent=True),
    "numpyro": Kernel(steps=True, blocks=True),
    "cpsat": Kernel(("seconds", "workers"), solves=True),
}
"""Every sampler that ``run_chains`` takes."""


def traits(kernel: str) -> Kernel:
    """Of the kernel of that name, known or not."""
    return KERNELS.get(kernel, Kernel())


def read_settings(given: Sequence[str]) -> dict[str, Any]:
    """``NAME=VALUE`` as a command takes them: a number, several with commas between them, or a name.

    Raises
    ------
    InputError
        Where there is no name or no value; which names and values a kernel takes, it says itself.
    """
    settings = {}
    for text in given:
        name, _, value = text.partition("=")
        if not name or not value:
            raise InputError(
                f"{text!r} is no setting",
                "write NAME=VALUE, such as replicas=8",
                source="arguments",
                field="--setting",
            )
        values = tuple(_number(part) for part in value.split(","))
        settings[name] = values if len(values) > 1 else values[0]
    return settings


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
