"""What the baselines share: their signature, their result, and the request that gives each of them the same context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from gnrs_ppl.context.load import Context
from gnrs_ppl.errors import InputError
from gnrs_ppl.llm.answers import RefinedRule, StructuredRule
from gnrs_ppl.llm.client import Answer, Request, T
from gnrs_ppl.llm.material import request
from gnrs_ppl.rule.types import Structure


class BaselineResult(NamedTuple):
    """What a method wrote.

    Attributes
    ----------
    text : str
        The rule; blank where the model gave no usable answer.
    structure : Structure or None
        What the method itself states beside its text, where that is a whole structure. It is not what HARD-OK is computed from.
    calls : tuple of Answer
        Every answer it took, in the order of asking.
    """

    text: str
    structure: Structure | None
    calls: tuple[Answer[Any], ...]


class Ask(Protocol):
    """Asks several things at a time; answers come in the order of the requests."""

    async def __call__(self, requests: Sequence[Request[T]]) -> list[Answer[T]]:
        """Answer the requests."""
        ...


class Baseline(Protocol):
    """A method that writes a rule for a context."""

    async def __call__(self, context: Context, ask: Ask, *, seed: int) -> BaselineResult:
        """Write it."""
        ...


def structured(prompt: str, context: Context, seed: int, values: Mapping[str, str] | None = None) -> Request[StructuredRule]:
    """Ask the generator for a structure and its text."""
    return request(prompt, "generator", context, StructuredRule, values, seed=seed)


def written(answer: Answer[StructuredRule]) -> BaselineResult:
    """A rule stated as data and as text."""
    rule = answer.parsed
    return BaselineResult(rule.clause, stated(rule), (answer,)) if rule else BaselineResult("", None, (answer,))


def stated(rule: StructuredRule | RefinedRule) -> Structure | None:
    """The structure of an answer that has one, None where a slot of it cannot be read."""
    try:
        return rule.structure.structure()
    except InputError:
        return None
