"""How much a test does: a little in the fast tier (``-m "not slow"``, ``make test``), everything elsewhere
(``make test-all``)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import pytest

Amount = TypeVar("Amount")

fast = False
"""Whether this run leaves out what is marked slow; conftest.py sets it before it imports a test."""


def tier(fast_amount: Amount, full_amount: Amount) -> Amount:
    """The amount of this run's tier."""
    return fast_amount if fast else full_amount


def mostly_slow(cases: Iterable[Any], but: Iterable[Any]) -> list[Any]:
    """The cases of a parametrised test, all marked slow but some."""
    kept = list(but)
    return [case if case in kept else _slow(case) for case in cases]


def _slow(case: Any) -> Any:
    values = case if isinstance(case, tuple) and type(case) is tuple else (case,)
    return pytest.param(*values, marks=pytest.mark.slow)


def few(cases: Iterable[Any], count: int) -> list[Any]:
    """The cases of a parametrised test, all marked slow but some that lie evenly among them, the first one
    included."""
    given = list(cases)
    return mostly_slow(given, [given[place * len(given) // count] for place in range(count)])
